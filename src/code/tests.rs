//! What is found in a text, and what a change of one definition leaves alone.

use super::*;

fn read(path: &str, text: &str) -> SourceFile {
    SourceFile::read(path, text.as_bytes()).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Kind, name and lines of each definition.
fn listed(path: &str, text: &str) -> Vec<String> {
    let file = read(path, text);
    let line = |at: usize| {
        let ((first, last), id) = (file.lines(at), file.id(at));
        format!("{} {} {first}-{last}", file.nodes[at].kind.word(), id.split("::").last().unwrap_or_default())
    };
    (0..file.nodes.len()).map(line).collect()
}

const RUST: &str = "\
//! Of the file.
use std::fmt;

/// A cart.
#[derive(Debug)]
// Kept small.
pub struct Cart<T> {
    /// Its items.
    items: Vec<T>, // note
    pub total: u64,
}

impl<T> Cart<T> {
    const MOST: usize = 8;

    /// Adds.
    pub fn add(&mut self, item: T) {
        fn inner() {}
        self.items.push(item);
    }
}

impl fmt::Display for Cart<u8> {
    fn fmt(&self) {}
}

impl fmt::Binary for &Cart<u8> {
    fn fmt(&self) {}
}

#[cfg(test)]

mod tests {
    enum Fruit { Apple, Pear(u8) }
    trait Eaten { type By; fn eat(&self); }
}

macro_rules! twice { ($x:expr) => { $x + $x } }
static A: u8 = 1;
type B = u8;
";

#[test]
fn rust_is_listed() {
    let found = listed("a.rs", RUST);
    let want = [
        "struct Cart 4-11",
        "field Cart.items 8-9",
        "field Cart.total 10-10",
        "const Cart.MOST 14-14",
        "method Cart.add 16-20",
        "fn Cart.add.inner 18-18",
        "method Cart.fmt#1 24-24",
        "method Cart.fmt#2 28-28",
        "mod tests 31-36",
        "enum tests.Fruit 34-34",
        "field tests.Fruit.Apple 34-34",
        "field tests.Fruit.Pear 34-34",
        "trait tests.Eaten 35-35",
        "type tests.Eaten.By 35-35",
        "method tests.Eaten.eat 35-35",
        "macro twice 38-38",
        "const A 39-39",
        "type B 40-40",
    ];
    assert_eq!(found, want);
}

const PYTHON: &str = "\
import os
LIMIT: int = 8
a, b = 1, 2

@cached
@other(1)
def total(items):
    def inner():
        pass
    x = 1
    return sum(items)

class Cart(Base):
    \"\"\"A cart.\"\"\"
    size = 3

    @property
    def total(self):
        return 1

    @total.setter
    def total(self, to):
        pass

    async def load(self): ...

type Pair[T] = tuple[T, T]
";

#[test]
fn python_is_listed() {
    let want = [
        "var LIMIT 2-2",
        "var a 3-3",
        "var b 3-3",
        "fn total 5-11",
        "fn total.inner 8-9",
        "class Cart 13-25",
        "field Cart.size 15-15",
        "method Cart.total#1 17-19",
        "method Cart.total#2 21-23",
        "method Cart.load 25-25",
        "type Pair 27-27",
    ];
    assert_eq!(listed("a.py", PYTHON), want);
}

const TYPESCRIPT: &str = "\
import { x } from './x';
/** A cart. */
export default class Cart<T> extends Base {
  private items: T[] = [];
  /** Adds. */
  @logged()
  add(item: T): void { const f = () => 1; }
  get size() { return 1; }
  #hidden = 1;
}
export interface Shape { area(): number; name?: string; }
type Pair = [number, number];
export const total = (items: number[]) => {
  return items.length;
};
const one = 1, two = 2;
let three: number;
export enum Color { Red, Green = 'g' }
declare function outer(a: string): void;
namespace A.B { export const inside = 1; }
export function* gen() { const local = 1; }
abstract class Base { abstract run(): void; }
";

#[test]
fn typescript_is_listed() {
    let want = [
        "class Cart 2-10",
        "field Cart.items 4-4",
        "method Cart.add 5-7",
        "fn Cart.add.f 7-7",
        "method Cart.size 8-8",
        "field Cart.#hidden 9-9",
        "interface Shape 11-11",
        "method Shape.area 11-11",
        "field Shape.name 11-11",
        "type Pair 12-12",
        "fn total 13-15",
        "const one 16-16",
        "const two 16-16",
        "var three 17-17",
        "enum Color 18-18",
        "field Color.Red 18-18",
        "field Color.Green 18-18",
        "fn outer 19-19",
        "mod A.B 20-20",
        "const A.B.inside 20-20",
        "fn gen 21-21",
        "class Base 22-22",
        "method Base.run 22-22",
    ];
    assert_eq!(listed("a.ts", TYPESCRIPT), want);
    assert_eq!(listed("a.tsx", TYPESCRIPT), want);
    let component = listed("b.tsx", "export const App = () => <div className=\"a\">{total(1)}</div>;\n");
    assert_eq!(component, ["fn App 1-1"]);
}

const GO: &str = "\
package cart

import \"fmt\"

// Cart holds
// items.
type Cart[T any] struct {
\titems, more []T // note
\tBase
}

type (
\t// Shape has an area.
\tShape interface {
\t\tArea() float64
\t}
\tID = int
)

// far away

// Add adds.
func (c *Cart[T]) Add(item T) {
\tvar local = 1
}

func Total() int { return 1 }

const (
\tA, B = iota, 2
\tC
)

var x = 1
";

#[test]
fn go_is_listed() {
    let want = [
        "struct Cart 5-10",
        "field Cart.items 8-8",
        "field Cart.more 8-8",
        "interface Shape 13-16",
        "method Shape.Area 15-15",
        "type ID 17-17",
        "method Cart.Add 22-25",
        "fn Total 27-27",
        "const A 30-30",
        "const B 30-30",
        "const C 31-31",
        "var x 34-34",
    ];
    assert_eq!(listed("a.go", GO), want);
}

#[test]
fn signatures_leave_the_bodies_out() {
    let signatures = |path: &str, text: &str| -> Vec<String> {
        let file = read(path, text);
        (0..file.nodes.len()).map(|at| file.signature(at)).collect()
    };
    let rust = signatures("a.rs", RUST);
    assert!(rust.contains(&"pub fn add(&mut self, item: T)".to_owned()), "{rust:?}");
    assert!(rust.contains(&"pub struct Cart<T>".to_owned()), "{rust:?}");
    assert!(rust.contains(&"macro_rules! twice".to_owned()), "{rust:?}");
    let python = signatures("a.py", PYTHON);
    assert!(python.contains(&"@cached @other(1) def total(items):".to_owned()), "{python:?}");
    let typescript = signatures("a.ts", TYPESCRIPT);
    assert!(typescript.contains(&"export const total = (items: number[]) =>".to_owned()), "{typescript:?}");
    let go = signatures("a.go", GO);
    assert!(go.contains(&"type Cart[T any] struct".to_owned()), "{go:?}");
    assert!(go.contains(&"func (c *Cart[T]) Add(item T)".to_owned()), "{go:?}");
}

#[test]
fn a_hash_sees_every_byte_of_a_definition_and_none_beside_it() {
    let hash = |text: &str, at: usize| read("a.py", text).hash(at);
    let alone = hash("class A:\n    def f(self):\n        pass\n", 1);
    assert!(alone.starts_with("h:") && alone.len() == 66);
    assert_eq!(alone, hash("x = 1\n\nclass A:\n    y = 2\n    def f(self):\n        pass\n\n    z = 3 # f\n", 3));
    for other in [
        "class A:\n    def f(self):\n        # Not yet.\n        pass\n",
        "class A:\n    def f(self):  # x\n        pass\n",
        "class A:\n    def f(self):\n         pass\n",
        "class A:\n    @staticmethod\n    def f(self):\n        pass\n",
        "class A:\n    def f(self):\r\n        pass\n",
    ] {
        assert_ne!(alone, hash(other, 1), "{other}");
    }
}

#[test]
fn what_is_no_source_is_refused() {
    let fault = |path: &str, bytes: &[u8]| SourceFile::read(path, bytes).err().map(|fault| fault.to_string());
    assert_eq!(fault("a.txt", b""), Some("a.txt is no source file of Rust, Python, TypeScript or Go".into()));
    assert_eq!(fault("a.rs", b"fn \xff"), Some("a.rs is not UTF-8 from byte 3: its definitions are not read".into()));
    let large = vec![b' '; LARGEST + 1];
    assert_eq!(fault("a.rs", &large), Some("a.rs is larger than 2 MiB: its definitions are not read".into()));
    assert_eq!(fault("a.rs", &large[1..]), None);
    assert_eq!(fault("a.go", b""), None);
}

#[test]
fn what_is_intact_is_found_beside_errors() {
    let file = read("a.rs", "fn a() {}\nfn b( {\nfn c() {}\n");
    assert!(!file.errors.is_empty());
    assert!(file.nodes.iter().any(|node| node.name == "a" && !node.broken));
    // Depth overflows no stack.
    let deep = format!("fn a() {{ {}{} }}", "(".repeat(200_000), ")".repeat(200_000));
    let file = read("a.rs", &deep);
    assert_eq!(file.nodes.len(), 1);
    assert!(file.hash(0).starts_with("h:"));
}

fn at(file: &SourceFile, selector: &str) -> usize {
    let found = NodeSelector::parse(selector).unwrap_or_else(|fault| panic!("{fault}")).of(file);
    assert_eq!(found.len(), 1, "{selector} is {found:?}");
    found[0]
}

#[test]
fn selectors_mean_what_they_say() {
    let file = read("src/cart.rs", RUST);
    let ids = |selector: &str| -> Vec<String> {
        let found = NodeSelector::parse(selector).unwrap_or_else(|fault| panic!("{fault}")).of(&file);
        found.into_iter().map(|at| file.id(at).trim_start_matches("src/cart.rs::").to_owned()).collect()
    };
    assert_eq!(ids("method.add"), ["Cart.add"]);
    assert_eq!(ids("method.Cart.add"), ["Cart.add"]);
    assert_eq!(ids("method.art.add"), Vec::<String>::new());
    assert_eq!(ids("method.fmt"), ["Cart.fmt#1", "Cart.fmt#2"]);
    assert_eq!(ids("src/cart.rs::Cart.fmt#2"), ["Cart.fmt#2"]);
    assert_eq!(ids("src/*.rs::Cart.?o*"), ["Cart.total"]);
    assert_eq!(ids("**/cart.rs::Cart"), ["Cart"]);
    assert_eq!(ids("src::*"), ["Cart", "tests", "twice", "A", "B"]);
    assert_eq!(ids("src/cart.rs").len(), file.nodes.len());
    assert_eq!(ids("src/cart.rs:18"), ["Cart.add.inner"]);
    assert_eq!(ids("src/cart.rs:19"), ["Cart.add"]);
    assert_eq!(ids("src/cart.rs:1"), Vec::<String>::new());
    assert_eq!(ids("const.A, type.B"), ["A", "B"]);
    assert_eq!(ids("lib/cart.rs::Cart"), Vec::<String>::new());
    assert_eq!(ids("src/car"), Vec::<String>::new());
    for wrong in ["", "a.rs::", "a.rs:x", "a.rs:0", "fn.a,"] {
        assert!(NodeSelector::parse(wrong).is_err(), "{wrong}");
    }
    let square = NodeSelector::parse("app/[id]/*.ts").unwrap_or_else(|fault| panic!("{fault}"));
    assert!(square.may_be_in("app/[id]/page.ts") && !square.may_be_in("app/i/page.ts"));
    let named = NodeSelector::parse("fn.total").unwrap_or_else(|fault| panic!("{fault}"));
    assert!(named.may_name("a.rs", &|word| word == "total") && !named.may_name("a.rs", &|_| false));
}

/// Replaces one definition of a text.
fn replaced(path: &str, text: &str, selector: &str, by: &str) -> Result<String, CodeFault> {
    let file = read(path, text);
    replace(&file, at(&file, &format!("{path}{selector}")), by).map(|new| new.file.text)
}

#[test]
fn a_replacement_takes_the_place_of_one_definition() {
    let text = "mod a {\n    /// Old.\n    fn b() {\n        1\n    }\n\n    fn c() {}\n}\n";
    let want = "mod a {\n    /// New.\n    fn b() {\n        2\n    }\n\n    fn c() {}\n}\n";
    for by in [
        "/// New.\nfn b() {\n    2\n}\n",
        "    /// New.\n    fn b() {\n        2\n    }",
        "/// New.\n    fn b() {\n        2\n    }",
        "\n\n/// New.\r\nfn b() {\r\n    2\r\n}\r\n",
    ] {
        assert_eq!(replaced("a.rs", text, "::a.b", by).as_deref(), Ok(want), "{by:?}");
    }
    // Tabs, strings, other line endings.
    let by = "fn b() {\n    x(\"\n  as it is\n\");\n}";
    let kept = replaced("a.rs", &text.replace("    ", "\t"), "::a.b", by).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(kept.starts_with("mod a {\n\tfn b() {\n\t    x(\"\n  as it is\n\");\n\t}\n\n\tfn c"), "{kept}");
    let dos = text.replace('\n', "\r\n");
    assert_eq!(
        replaced("a.rs", &dos, "::a.b", "/// New.\nfn b() {\n    2\n}\n").as_deref(),
        Ok(want.replace('\n', "\r\n").as_str())
    );
    let python = "class A:\n    def f(self):\n        return 1\n\n    x = 1\n";
    let want = "class A:\n    def f(self):\n        \"\"\"Doc.\n\n        More.\"\"\"\n        return 2\n\n    x = 1\n";
    let by = "def f(self):\n    \"\"\"Doc.\n\n    More.\"\"\"\n    return 2\n";
    assert_eq!(replaced("a.py", python, "::A.f", by).as_deref(), Ok(want));
    let copied = "def f(self):\n        \"\"\"Doc.\n\n        More.\"\"\"\n        return 2\n";
    assert_eq!(replaced("a.py", python, "::A.f", copied).as_deref(), Ok(want));
    // The end of the file is as it was.
    assert_eq!(replaced("a.go", "package a\nvar x = 1", "::x", "var x = 2\n").as_deref(), Ok("package a\nvar x = 2"));
    // A comment of its own may go with it, and its name may change.
    let with_comment = replaced("a.rs", "fn a() {}\n", "::a", "// Why.\nfn b() {}").unwrap_or_default();
    assert_eq!(with_comment, "// Why.\nfn b() {}\n");
}

#[test]
fn a_replacement_that_is_more_or_less_than_one_definition_is_refused() {
    let text = "use x;\nfn a() {}\nstruct B;\nmod c { fn d() {} }\n";
    let refused = |selector: &str, by: &str| replaced("a.rs", text, selector, by).expect_err(by).to_string();
    for by in [
        "",
        "  \n",
        "fn a() {} fn e() {}",
        "struct A;",
        "fn a() {} use y;",
        "use y;\nfn a() {}",
        "a;",
        "impl X { fn a() {} }",
    ] {
        let fault = refused("::a", by);
        assert!(fault.starts_with("the text for a.rs::a must be one fn and nothing else, but it is"), "{by}: {fault}");
    }
    for by in ["fn a() {", "fn a() }", "fn a() {}\n}", "fn (", "fn a() {} \"", "fn a() {} /*"] {
        let fault = replaced("a.rs", text, "::a", by).expect_err(by);
        assert!(matches!(fault.kind(), "syntax" | "others" | "not-one"), "{by}: {fault}");
    }
    // It would reach beyond its place.
    assert!(replaced("a.rs", text, "::c.d", "fn d() {} } mod e {").is_err());
    assert!(replaced("a.rs", text, "::a", "fn a() {}\n/// Of the next.").is_err());
    // An error that was there stays, one more does not come.
    let broken = "fn a() {}\nfn b( {}\n";
    assert!(replaced("a.rs", broken, "::a", "fn a() { 1 }").is_ok());
    assert_eq!(replaced("a.rs", broken, "::a", "fn a() { ( }").expect_err("refused").kind(), "syntax");
    // Two names of one text.
    assert_eq!(replaced("a.py", "a, b = 1, 2\n", "::a", "a = 1").expect_err("refused").kind(), "others");
}

#[test]
fn a_replacement_that_has_the_name_of_another_definition_is_refused() {
    for (path, text, selector, by, other) in [
        ("a.py", "X = 1\nY = 2\n", "::X", "Y = 1", "a.py::Y"),
        ("a.py", "Y = 2\nX = 1\n", "::X", "Y = 1", "a.py::Y"),
        ("a.py", "class C:\n    a = 1\n    b = 2\n", "::C.a", "b: int", "a.py::C.b"),
        ("a.rs", "fn f() {}\nfn g() {}\n", "::f", "fn g() {}", "a.rs::g"),
        ("a.ts", "let q = 1\nlet r = 2\n", "::q", "let r = 1", "a.ts::r"),
        ("a.go", "package p\n\nfunc f() {}\nfunc g() {}\n", "::f", "func g() {}", "a.go::g"),
        // One of two of a name.
        ("a.py", "X = 1\nY = 2\nY = 3\n", "::X", "Y = 1", "a.py::Y#1"),
    ] {
        let fault = replaced(path, text, selector, by).expect_err(by).to_string();
        assert!(fault.ends_with(&format!("{other} would no longer be what it is")), "{by}: {fault}");
    }
    // A name of its own or of another place is free, and the name of each of several stays.
    assert!(replaced("a.py", "X = 1\nY = 2\n", "::X", "Z = 1").is_ok());
    assert!(replaced("a.py", "X = 1\n\nclass C:\n    Y = 2\n", "::X", "Y = 1").is_ok());
    assert_eq!(replaced("a.py", "X = 1\nX = 2\n", "::X#2", "X = 3").as_deref(), Ok("X = 1\nX = 3\n"));
}

#[test]
fn documentation_of_what_holds_a_definition_is_no_part_of_a_replacement() {
    let text = "fn a() {}\nfn b() {}\n";
    for by in ["fn a() {}\n//! Inner.", "//! Inner.\nfn a() {}", "fn a() {} /*! Inner. */", "fn a() {} //! Inner."] {
        let fault = replaced("a.rs", text, "::a", by).expect_err(by).to_string();
        assert!(fault.ends_with("but it is more than a definition"), "{by}: {fault}");
    }
    for by in ["fn a() {\n    //! Inner.\n}", "fn a() {} // Not //! inner.", "// Not //! inner.\nfn a() {}"] {
        assert!(replaced("a.rs", text, "::a", by).is_ok(), "{by}");
    }
}

#[test]
fn a_comment_between_two_variables_makes_neither_the_whole_declaration() {
    let text = "const a = 1, // A.\n  b = 2;\n";
    assert_eq!(replaced("a.ts", text, "::a", "a = 3").as_deref(), Ok("const a = 3, // A.\n  b = 2;\n"));
}

#[test]
fn a_removal_takes_whole_lines() {
    let removed = |path: &str, text: &str, selector: &str| {
        let file = read(path, text);
        remove(&file, at(&file, &format!("{path}{selector}"))).map(|new| new.text)
    };
    let text = "fn a() {}\n\n/// B.\nfn b() {}\n\nfn c() {}\n";
    assert_eq!(removed("a.rs", text, "::b").as_deref(), Ok("fn a() {}\n\nfn c() {}\n"));
    assert_eq!(removed("a.rs", text, "::a").as_deref(), Ok("/// B.\nfn b() {}\n\nfn c() {}\n"));
    assert_eq!(removed("a.rs", &text.replace('\n', "\r\n"), "::b").as_deref(), Ok("fn a() {}\r\n\r\nfn c() {}\r\n"));
    assert_eq!(removed("a.rs", "struct A { x: u8, y: u8 }", "::A.x").as_deref(), Ok("struct A { y: u8 }"));
    assert_eq!(
        removed("a.rs", "struct A {\n    x: u8,\n    y: u8,\n}\n", "::A.x").as_deref(),
        Ok("struct A {\n    y: u8,\n}\n")
    );
    assert_eq!(removed("a.rs", "fn a() {} fn b() {} // x\n", "::b").as_deref(), Ok("fn a() {} // x\n"));
    // What would be left is not Python.
    let alone =
        ["class A:\n    def f(self):\n        pass\n", "class A:\n    # Why.\n    def f(self):\n        pass\nx = 1\n"];
    for text in alone {
        assert_eq!(removed("a.py", text, "::A.f").expect_err("refused").kind(), "syntax", "{text}");
    }
    assert_eq!(removed("a.py", "a, b = 1, 2\n", "::a").expect_err("refused").kind(), "others");
}

#[test]
fn the_last_of_several_members_is_removed() {
    let removed = |text: &str, selector: &str| {
        let file = read("a.py", text);
        remove(&file, at(&file, &format!("a.py{selector}"))).map(|new| new.text).map_err(|fault| fault.to_string())
    };
    let class = "class A:\n    x = 1\n\n    def f(self):\n        def g():\n            pass\n        def h():\n            pass\n";
    assert_eq!(removed(class, "::A.f").as_deref(), Ok("class A:\n    x = 1\n"));
    assert_eq!(removed(class, "::A.f.h").as_deref(), Ok(&*class.replace("        def h():\n            pass\n", "")));
    let both = format!("{class}\n\nclass B:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n");
    assert_eq!(removed(&both, "::B.g").as_deref(), Ok(&*both.replace("\n    def g(self):\n        pass\n", "")));
    // Documentation is a statement.
    assert_eq!(removed("class A:\n    \"A.\"\n    x = 1\n", "::A.x").as_deref(), Ok("class A:\n    \"A.\"\n"));
}

#[test]
fn an_empty_block_of_python_is_an_error() {
    let file = read("a.py", "class A:\n    # Why.\n\ndef f(): pass\n");
    assert_eq!(file.errors.iter().map(|at| file.line(*at)).collect::<Vec<_>>(), [1]);
    let fault = replaced("a.py", "class A:\n    x = 1\n", "::A", "class A:\n").expect_err("refused");
    assert_eq!(fault.kind(), "syntax");
}

#[test]
fn an_indentation_that_python_does_not_take_is_an_error() {
    let errors = |text: &str| {
        let file = read("a.py", text);
        file.errors.iter().map(|at| file.line(*at)).collect::<Vec<_>>()
    };
    for (text, line) in [
        ("def f():\n    a = 1\n        b = 2\n", 3),
        ("def f():\n        a = 1\n    b = 2\n", 3),
        ("x = 1\n  y = 2\n", 2),
        ("def f():\n    a = 1\n\tb = 2\n", 3),
        ("if a:\n    b\n  else:\n    c\n", 3),
        ("class A:\n    @b\n      def f(self):\n        pass\n", 3),
    ] {
        assert!(errors(text).contains(&line), "{text}: {:?}", errors(text));
    }
    for text in [
        "def f():\n  # a\n    # b\n  a = 1; b = 2\n      # c\n  if a: b\n  else: c\n",
        "x = [\n  1,\n      2]\ny = \"\"\"\n  a\n\"\"\"; z = 1\n",
        "if a: b = 1; \\\n   c = 2\n",
        "try:\n\ta\nexcept E:\n\tb\nelse:\n\tc\nfinally:\n\td\n",
        "match a:\n    case 1:\n        b\n    case _:\n        c\n",
        "@a\n@b\nasync def f():\n    async with a:\n        pass\n    for b in c:\n        pass\n    else:\n        pass\n",
        "def f(a,\n      b): return (a +\n  b)\n\n\nclass A: x = 1\n",
    ] {
        assert_eq!(errors(text), [] as [usize; 0], "{text}");
    }
    let class = "class A:\n    def f(self):\n        return 1\n\n    x = 1\n";
    for body in ["def f(self):\n    a = 1\n      b = 2\n", "def f(self):\n        a = 1\n    b = 2\n"] {
        assert_eq!(replaced("a.py", class, "::A.f", body).expect_err("refused").kind(), "syntax", "{body}");
    }
}

#[test]
fn names_that_grow_with_each_level_end() {
    let long = "a".repeat(200);
    let deep = |name: &str, levels: usize| format!("{}{}", format!("mod {name}{{").repeat(levels), "}".repeat(levels));
    for (text, found) in [(deep("a", 290_000), 64), (deep(&long, 9_000), 2)] {
        let file = read("a.rs", &text);
        assert_eq!(file.nodes.len(), found);
        assert!(file.nodes.iter().all(|node| node.dotted.len() <= 512));
        assert!(file.hash(0).starts_with("h:"));
    }
    // What lies deeper is no definition of those around it, and what follows is found.
    let file = read("a.rs", &format!("mod {long}{{mod {long}{{mod {long}{{fn f(){{}}}}}}}}\nfn g() {{}}\n"));
    assert_eq!(file.nodes.iter().map(|node| node.name.len()).collect::<Vec<_>>(), [200, 200, 1]);
    let file = read("a.rs", &format!("impl {long}{long}{long} {{ fn f(){{}} }}\nfn g() {{}}\n"));
    assert_eq!(file.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["g"]);
}

/// Replaces each definition of a file by its own text; returns how many.
fn round(path: &str, bytes: &[u8]) -> usize {
    let Ok(file) = SourceFile::read(path, bytes) else { return 0 };
    let mut done = 0;
    for at in 0..file.nodes.len() {
        let range = &file.nodes[at].range;
        if file.nodes.iter().filter(|other| other.range == *range).count() > 1 {
            continue;
        }
        for text in [file.text_of(at), &file.text[range.clone()]] {
            let new = replace(&file, at, text).unwrap_or_else(|fault| panic!("{}: {fault}", file.id(at)));
            assert!(new.file.text == file.text, "{} is not as it was", file.id(at));
            assert_eq!(new.file.hash(new.at), file.hash(at), "{}", file.id(at));
        }
        done += 1;
    }
    done
}

#[test]
fn a_definition_replaced_by_itself_changes_no_byte() {
    for (path, text) in [("a.rs", RUST), ("a.py", PYTHON), ("a.ts", TYPESCRIPT), ("a.tsx", TYPESCRIPT), ("a.go", GO)] {
        let dos = text.replace('\n', "\r\n");
        for text in [text, &dos, text.trim_end(), &text.replace("    ", "\t"), &format!("\u{feff}{text}")] {
            assert!(round(path, text.as_bytes()) >= 8, "{path}");
        }
    }
}

/// Every source file below a folder.
fn sources(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => sources(&path, found),
            Ok(kind) if kind.is_file() && SourceLanguage::of_path(&path.to_string_lossy()).is_some() => {
                found.push(path)
            }
            _ => {}
        }
    }
}

#[test]
#[ignore = "takes minutes: every definition of this program, or of all below the folder CORPUS"]
fn a_corpus_replaced_by_itself_changes_no_byte() {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folder = std::env::var_os("CORPUS").map_or(own, Into::into);
    let mut files = Vec::new();
    sources(&folder, &mut files);
    let (mut definitions, mut faults) = (0, Vec::new());
    for path in &files {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let Ok(file) = SourceFile::read(&path.to_string_lossy(), &bytes) else { continue };
        for at in 0..file.nodes.len() {
            if file.nodes.iter().filter(|other| other.range == file.nodes[at].range).count() > 1 {
                continue;
            }
            definitions += 1;
            match replace(&file, at, file.text_of(at)) {
                Ok(new) if new.file.text == file.text && new.file.hash(new.at) == file.hash(at) => {}
                Ok(_) => faults.push(format!("{} is not as it was", file.id(at))),
                Err(fault) => faults.push(fault.to_string()),
            }
        }
    }
    println!("{} files, {definitions} definitions, {} faults", files.len(), faults.len());
    assert!(definitions > 0, "nothing was found in {}", folder.display());
    assert!(faults.is_empty(), "{}", faults.iter().take(20).cloned().collect::<Vec<_>>().join("\n"));
}

/// Returns another body for a function, and what it takes the place of; none: it has no body of its own.
fn marked(file: &SourceFile, at: usize) -> Option<(std::ops::Range<usize>, &'static str)> {
    let node = &file.nodes[at];
    if !matches!(node.kind, NodeKind::Fn | NodeKind::Method) || node.shared || node.broken {
        return None;
    }
    let body = node.body?..node.own.end;
    let new = match file.language {
        SourceLanguage::Rust => "{ todo!(\"marked\") }",
        SourceLanguage::Go => "{ panic(\"marked\") }",
        SourceLanguage::TypeScript | SourceLanguage::Tsx => "{ throw \"marked\"; }",
        SourceLanguage::Python => return Some((body, "raise Marked")),
    };
    let text = &file.text[body.clone()];
    (text.starts_with('{') && text.ends_with('}')).then_some((body, new))
}

#[test]
#[ignore = "takes minutes: 250 functions of all below the folder CORPUS, chosen by a seed"]
fn functions_of_a_corpus_get_another_body_and_nothing_else_changes() {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folder = std::env::var_os("CORPUS").map_or(own, Into::into);
    let mut files = Vec::new();
    sources(&folder, &mut files);
    files.sort();
    let mut seed = 14_u64;
    let mut any = |most: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % most.max(1) as u64) as usize
    };
    let (mut edits, mut refused, mut tries) = (0, Vec::new(), 0);
    while edits < 250 && tries < 50_000 {
        tries += 1;
        let path = &files[any(files.len())];
        let Ok(file) = SourceFile::read(&path.to_string_lossy(), &std::fs::read(path).unwrap_or_default()) else {
            continue;
        };
        if file.nodes.is_empty() {
            continue;
        }
        let at = any(file.nodes.len());
        let Some((body, new)) = marked(&file, at) else { continue };
        let node = &file.nodes[at];
        let text = [&file.text[node.range.start..body.start], new, &file.text[body.end..node.range.end]].concat();
        let want = [&file.text[..body.start], new, &file.text[body.end..]].concat();
        edits += 1;
        match replace(&file, at, &text) {
            Ok(spliced) => {
                assert_eq!(spliced.file.text, want, "{}", file.id(at));
                assert_eq!(spliced.file.nodes[spliced.at].dotted, node.dotted);
            }
            Err(fault) => refused.push(fault.to_string()),
        }
    }
    println!("{} files, {edits} edits, {} refused", files.len(), refused.len());
    refused.iter().for_each(|fault| println!("  {fault}"));
    assert!(edits > 0, "no function was found in {}", folder.display());
}

#[test]
fn the_last_definition_goes_with_the_empty_lines_above_it() {
    let without = |path: &str, text: &str, selector: &str| {
        let file = read(path, text);
        remove(&file, at(&file, selector)).unwrap_or_else(|fault| panic!("{fault}")).text
    };
    assert_eq!(without("a.py", "a = 1\n\n\ndef f():\n    pass\n", "fn.f"), "a = 1\n");
    assert_eq!(without("a.rs", "fn a() {}\r\n\r\nfn f() {}\r\n", "fn.f"), "fn a() {}\r\n");
    assert_eq!(without("a.rs", "fn a() {}\n\nfn f() {}", "fn.f"), "fn a() {}\n");
    assert_eq!(without("a.rs", "\n\nfn f() {}\n", "fn.f"), "");
    let shop = "mod a {\n    fn a() {}\n\n    fn f() {}\n}\n";
    assert_eq!(without("a.rs", shop, "fn.f"), "mod a {\n    fn a() {}\n}\n");
}

#[test]
fn a_mark_of_the_file_does_not_come_in_with_a_definition() {
    let marked = "\u{feff}fn a() {}\nfn b() {}\n";
    let by = "\u{feff}fn a() { 1; }\n";
    assert_eq!(replaced("a.rs", marked, "::a", by), Ok("\u{feff}fn a() { 1; }\nfn b() {}\n".into()));
}

#[test]
fn a_new_name_leaves_the_field_that_has_it_too() {
    let of = |path: &str, text: &str, old: &str, new: &str| {
        let file = SourceFile::read(path, text.as_bytes()).expect("a source");
        let places: Vec<_> = whole_places(text, old).map(|at| at..at + old.len()).collect();
        renamed(&file, &places, new).expect("it parses").text
    };
    for path in ["a.ts", "a.tsx"] {
        for (text, want) in [
            (
                "const save = 1;\nconst api = { load, save };\n",
                "const store = 1;\nconst api = { load, save: store };\n",
            ),
            ("let save; ({ save } = x);\n", "let store; ({ save: store } = x);\n"),
            ("let save; ({ a: { save = 2 } } = x);\n", "let store; ({ a: { save: store = 2 } } = x);\n"),
            ("const { save, ...rest } = x;\n", "const { save: store, ...rest } = x;\n"),
            ("function f({ save = 1 }) { return save; }\n", "function f({ save: store = 1 }) { return store; }\n"),
            ("const save = 1;\nexport { save };\n", "const store = 1;\nexport { store };\n"),
        ] {
            assert_eq!(of(path, text, "save", "store"), want, "{path}");
        }
    }
    let rust = "fn f(size: u8) -> C {\n    C { size, ..C::new() }\n}\nfn g(c: C) -> u8 {\n    let C { size } = c;\n    size\n}\n";
    let want = "fn f(extent: u8) -> C {\n    C { size: extent, ..C::new() }\n}\nfn g(c: C) -> u8 {\n    let C { size: extent } = c;\n    extent\n}\n";
    assert_eq!(of("a.rs", rust, "size", "extent"), want);
}
