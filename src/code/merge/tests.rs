//! Merges of definitions, in both directions.

use proptest::prelude::*;

use super::*;

/// Lines that never merge, so that what is merged is merged by definitions.
fn merged(path: &str, base: &str, ours: &str, theirs: &str) -> Option<String> {
    let never = |_: &str, _: &str, _: &str| None;
    let one = merge(path, [base, ours, theirs].map(str::as_bytes), &never);
    let other = merge(path, [base, theirs, ours].map(str::as_bytes), &never);
    let lines = |text: &Option<String>| {
        let mut lines: Vec<String> = text.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
        lines.sort();
        text.as_ref().map(|_| lines)
    };
    assert_eq!(lines(&one), lines(&other), "which side is ours decides nothing but an order");
    one
}

#[test]
fn what_both_add_at_one_place_is_there_once_each() {
    let base = "fn a() {}\n";
    let text = merged("a.rs", base, "fn a() {}\n\nfn b() {}\n", "fn a() {}\n\n/// C.\nfn c() {}\n");
    assert_eq!(text.as_deref(), Some("fn a() {}\n\nfn b() {}\n\n/// C.\nfn c() {}\n"));
    let text = merged("a.rs", base, "fn b() {}\n\nfn a() {}\n", "fn c() {}\n\nfn a() {}\n");
    // What is in the file stays at its beginning.
    assert_eq!(text.as_deref(), Some("fn c() {}\n\nfn b() {}\n\nfn a() {}\n"));
    let base = "class A:\n    def a(self):\n        pass\n";
    let [ours, theirs] = ["b", "c"].map(|name| format!("{base}\n    def {name}(self):\n        pass\n"));
    let text = merged("a.py", base, &ours, &theirs).expect("merged");
    assert_eq!(text, format!("{ours}\n    def c(self):\n        pass\n"));
}

#[test]
fn members_that_both_add_at_one_place_are_there_once_each() {
    for (path, base, at, ours, theirs) in [
        ("a.rs", "struct A {\n    x: u8,\n}\n", "    x: u8,\n", "    y: u8,\n", "    z: u8,\n"),
        (
            "a.rs",
            "fn f() {}\n\nstruct A {\n    x: u8,\n}\n",
            "    x: u8,\n",
            "    y: u8,\n",
            "    /// Z.\n    z: u8,\n",
        ),
        ("a.rs", "enum A {\n    X,\n}\nfn f() {}\n", "    X,\n", "    Y,\n", "    Z(u8),\n"),
        ("a.rs", "fn g() {}\nimpl A {\n    fn a() {}\n}\n", "    fn a() {}\n", "    fn y() {}\n", "    fn z() {}\n"),
        ("a.ts", "f();\nclass A {\n  x = 1;\n}\n", "  x = 1;\n", "  y = 2;\n", "  z() {}\n"),
        ("a.ts", "var a = 1\ninterface A {\n  x: number;\n}\n", "  x: number;\n", "  y: number;\n", "  z: number;\n"),
        ("a.py", "a = 1\n\nclass A:\n    x = 1\n", "    x = 1\n", "    y = 2\n", "    z = 3\n"),
        ("a.go", "package p\n\ntype A struct {\n\tx int\n}\n", "\tx int\n", "\ty int\n", "\tz int\n"),
    ] {
        for (one, other) in
            [(format!("{at}{ours}"), format!("{at}{theirs}")), (format!("{ours}{at}"), format!("{theirs}{at}"))]
        {
            let [one, other] = [one, other].map(|lines| base.replace(at, &lines));
            let text = merged(path, base, &one, &other).unwrap_or_else(|| panic!("{path}: {one}{other}"));
            let mut want: Vec<&str> = one.lines().chain(theirs.lines()).collect();
            let mut lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
            want.retain(|line| !line.is_empty());
            want.sort_unstable();
            lines.sort_unstable();
            assert_eq!(lines, want, "{text}");
        }
    }
    let base = "struct A {\n    x: u8, // bytes\n}\n";
    let [ours, theirs] = ["y", "z"].map(|name| base.replace("}", &format!("    {name}: u8,\n}}")));
    let text = merged("a.rs", base, &ours, &theirs).expect("merged");
    assert_eq!(text, "struct A {\n    x: u8, // bytes\n    y: u8,\n    z: u8,\n}\n");
}

#[test]
fn neighbours_that_each_side_changed_are_joined() {
    let base = "fn a() { 1 }\nfn b() { 2 }\n";
    let text = merged("a.rs", base, "fn a() { 10 }\nfn b() { 2 }\n", "fn a() { 1 }\nfn b() { 20 }\n");
    assert_eq!(text.as_deref(), Some("fn a() { 10 }\nfn b() { 20 }\n"));
    let text = merged("a.rs", base, "fn b() { 2 }\n", "fn a() { 1 }\nfn b() { 20 }\n");
    assert_eq!(text.as_deref(), Some("fn b() { 20 }\n"), "one goes, the other changes");
    let text = merged("a.rs", base, "fn b() { 2 }\nfn a() { 1 }\n", "fn a() { 1 }\nfn b() { 20 }\n");
    assert_eq!(text.as_deref(), Some("fn b() { 20 }\nfn a() { 1 }\n"), "one side moved them");
}

#[test]
fn imports_are_sets() {
    let base = "use a;\n\nfn f() {}\n";
    let text = merged("a.rs", base, "use a;\nuse b;\n\nfn f() {}\n", "use c;\n\nfn f() { 1 }\n");
    assert_eq!(text.as_deref(), Some("use c;\nuse b;\n\nfn f() { 1 }\n"));
    for (path, [base, ours, theirs]) in [
        ("a.ts", ["import { a } from './a';", "import { b } from './b';", "import d, { c } from './c';"]),
        ("a.rs", ["use std::fs::{A};", "use std::fs::{B};", "use std::fs::{C, D};"]),
    ] {
        let [base, ours, theirs] = [vec![base], vec![base, ours], vec![base, theirs]].map(|lines| lines.join("\n"));
        let both = format!("{theirs}\n{}", ours.lines().last().expect("a line"));
        let file = |imports: &str| format!("{imports}\n\n{}\n", if path == "a.rs" { "fn f() {}" } else { "var f = 1" });
        assert_eq!(merged(path, &file(&base), &file(&ours), &file(&theirs)), Some(file(&both)), "{path}");
    }
}

#[test]
fn an_import_whose_place_matters_keeps_it_or_is_no_merge() {
    let base = "\"\"\"Doc.\"\"\"\n\nimport os\n\n\ndef f():\n    pass\n";
    let with = |line: &str| base.replace("import os\n", line);
    let [future, json] = [with("from __future__ import annotations\nimport os\n"), with("import json\nimport os\n")];
    for (ours, theirs) in [(&future, &json), (&json, &future)] {
        let text = merged("a.py", base, ours, theirs).expect("merged");
        let at = |line: &str| text.find(line).expect("there");
        assert!(at("from __future__") < at("import json").min(at("import os")), "{text}");
        assert!(text.starts_with("\"\"\"Doc."), "{text}");
    }
    let base = "import { a } from './a';\n\nvar f = 1\n";
    let ours = format!("import './first';\n{base}");
    let theirs = base.replace("'./a';\n", "'./a';\nimport { b } from './b';\n");
    let never = |_: &str, _: &str, _: &str| None;
    assert_eq!(merge("a.ts", [base, &ours, &theirs].map(str::as_bytes), &never), None);
    // What is on disk stays where it is.
    let text = merge("a.ts", [base, &theirs, &ours].map(str::as_bytes), &never).expect("merged");
    assert!(text.starts_with("import './first';\n"), "{text}");
}

#[test]
fn imports_that_something_else_is_about_are_no_sets() {
    let base = "import os\nif TYPE_CHECKING:\n    from a import A\n\ndef f():\n    pass\n";
    let with = |name: &str, from: &str| {
        let ours = base.replace("import os\n", &format!("import os\nimport {name}\n"));
        ours.replace("    from a", &format!("    from {from} import {from}\n    from a"))
    };
    assert_eq!(merged("a.py", base, &with("sys", "c"), &with("re", "b")), None, "a block");
    let base = "#[cfg(unix)]\nuse a;\n\nfn f() {}\n";
    let theirs = base.replace("use a;", "use b;");
    let ours = base.replace("use a;", "use a;\nuse c;");
    assert_eq!(merged("a.rs", base, &ours, &theirs), None, "an attribute");
    let base = "use a;\n\nfn f() {}\n";
    let [ours, theirs] = ["b::X", "c::{Y, X}"].map(|path| base.replace("use a;", &format!("use a;\nuse {path};")));
    assert_eq!(merged("a.rs", base, &ours, &theirs), None, "two of one name");
    let base = "import (\n\t\"a\"\n)\n\nfunc f() {}\n";
    let base = format!("package p\n\n{base}");
    let [ours, theirs] = ["b", "c"].map(|name| base.replace("\"a\"", &format!("\"a\"\n\t\"{name}\"")));
    let both = base.replace("\"a\"", "\"a\"\n\t\"c\"\n\t\"b\"");
    assert_eq!(merged("a.go", &base, &ours, &theirs), Some(both));
}

#[test]
fn imports_below_what_is_about_the_file_are_sets() {
    let [python, rust, script] = [
        ("a.py", "import a\nimport b\n", "import ", "\n\ndef f():\n    pass\n"),
        ("a.rs", "use a;\nuse b;\n", "use ", "\nfn f() {}\n"),
        ("a.tsx", "import a from 'a';\nimport b from 'b';\n", "import ", "\nvar f = 1\n"),
    ];
    for ((path, imports, word, rest), header) in [
        (python, "\"\"\"Doc.\"\"\""),
        (python, "\"\"\"Doc.\n\nMore.\n\"\"\""),
        (python, "#!/usr/bin/env python3"),
        (python, "#!/usr/bin/env python3\n# Copyright"),
        (rust, "//! Of the crate."),
        (rust, "#![allow(dead_code)]"),
        (rust, "/* Copyright */"),
        (rust, "use c::{\n    d,\n};"),
        (script, "'use strict';"),
        (script, "// @ts-check"),
        (script, "#!/usr/bin/env node"),
        (script, "/**\n * @license MIT\n */"),
    ] {
        let base = format!("{header}\n{imports}{rest}");
        let import = |name: &str| match path {
            "a.tsx" => format!("import {name} from '{name}';"),
            "a.rs" => format!("use {name};"),
            _ => format!("import {name}"),
        };
        let [ours, theirs] =
            ["x", "y"].map(|name| base.replacen(&import("a"), &[import(name), import("a")].join("\n"), 1));
        let text = merged(path, &base, &ours, &theirs).unwrap_or_else(|| panic!("{header}"));
        let both = base.replacen(&import("a"), &[import("y"), import("x"), import("a")].join("\n"), 1);
        assert_eq!(text, both, "both at the beginning");
        let [first, last] = [("a", "x"), ("b", "y")].map(|(from, to)| base.replacen(&import(from), &import(to), 1));
        let text = merged(path, &base, &first, &last).unwrap_or_else(|| panic!("{header}"));
        assert!(text.starts_with(&format!("{header}\n{word}")), "{text}");
        assert!(
            [import("x"), import("y")].iter().all(|line| text.contains(line)) && !text.contains(&import("a")),
            "{text}"
        );
    }
    // What is for the line below stays over it.
    for (path, header, base) in [
        ("a.ts", "// @ts-ignore", "import a from 'a';\n\nvar f = 1\n"),
        ("a.ts", "// eslint-disable-next-line", "import a from 'a';\n\nvar f = 1\n"),
        ("a.rs", "/// Doc.", "use a;\n\nfn f() {}\n"),
        ("a.rs", "fn g() {}\n\n// Of a.", "use a;\n\nfn f() {}\n"),
    ] {
        let [ours, theirs] = ["x", "y"].map(|name| {
            let import = match path {
                "a.ts" => format!("import {name} from '{name}';"),
                "a.rs" => format!("use {name};"),
                _ => format!("import {name}"),
            };
            format!("{header}\n{import}\n{base}")
        });
        assert_eq!(merged(path, &format!("{header}\n{base}"), &ours, &theirs), None, "{header}");
    }
}

#[test]
fn an_import_comes_back_to_its_place() {
    for (path, lines, rest) in [
        ("a.py", ["import a\n", "import b\n", "import c\n", "import y\n"], "\n\ndef f():\n    pass\n"),
        ("a.rs", ["use a;\n", "use b;\n", "use c;\n", "use y;\n"], "\nfn f() {}\n"),
    ] {
        let [a, b, c, y] = lines;
        let of = |lines: &[&str]| format!("{}{rest}", lines.concat());
        let want = of(&[a, b, c, y]);
        assert_eq!(merged(path, &of(&[a, c]), &of(&[a, b, c]), &of(&[a, c, y])), Some(want.clone()));
        assert_eq!(merged(path, &of(&[b, c]), &of(&[a, b, c]), &of(&[b, c, y])), Some(want), "the first");
    }
}

#[test]
fn an_import_stays_behind_the_code_that_runs_before_it() {
    let rest = "\n\ndef f():\n    pass\n";
    for head in
        ["import sys\nsys.path.insert(0, 'lib')\n\n", "try:\n    import b\nexcept ImportError:\n    b = None\n\n"]
    {
        let of = |imports: &str| format!("{head}{imports}import old\n{rest}");
        let text = merged("a.py", &of(""), &of("import helper\n"), &of("import other\n")).expect("a merge");
        assert!(text.starts_with(head), "{text}");
        assert!(text.contains("import helper\n") && text.contains("import other\n"), "{text}");
    }
}

/// Merges an import of each side, before a function.
fn merged_import(path: &str, [base, ours, theirs]: [&str; 3]) -> Option<String> {
    let rest = match path {
        "a.py" => "\n\ndef f():\n    pass\n",
        "a.rs" => "\nfn f() {}\n",
        _ => "\nfunction f() {}\n",
    };
    let of = |import: &str| format!("{import}\n{rest}");
    let text = merged(path, &of(base), &of(ours), &of(theirs))?;
    Some(text.strip_suffix(rest).expect("the rest").trim_end().to_owned())
}

#[test]
fn the_names_of_one_import_are_a_set() {
    for (path, texts, want) in [
        ("a.py", ["from c import d", "from c import d, z", "from c import d, e"], "from c import d, e, z"),
        ("a.py", ["from c import d", "from c import d as q", "from c import d, e"], "from c import d as q, e"),
        (
            "a.py",
            ["from c import (\n    d,\n)", "from c import (\n    d,\n    e,\n)", "from c import (\n    d,\n    z,\n)"],
            "from c import (\n    d,\n    e,\n    z,\n)",
        ),
        (
            "a.py",
            ["from c import d", "from c import (\n    d,\n    e,\n)", "from c import d, z"],
            "from c import (\n    d,\n    e,\n    z,\n)",
        ),
        (
            "a.ts",
            ["import { d } from './c';", "import { a, d } from './c';", "import { d, type T } from './c';"],
            "import { a, d, type T } from './c';",
        ),
        (
            "a.tsx",
            [
                "import type {\n  d,\n} from './c'",
                "import type {\n  d,\n  e as f,\n} from './c'",
                "import type {\n  d,\n  g,\n} from './c'",
            ],
            "import type {\n  d,\n  e as f,\n  g,\n} from './c'",
        ),
        (
            "a.ts",
            ["import x, {d} from './c'", "import x, {d, e} from './c'", "import x, {f} from './c'"],
            "import x, {e, f} from './c'",
        ),
        (
            "a.tsx",
            ["import x from './c'", "import x, { d } from './c'", "import x, { e } from './c'"],
            "import x, { d, e } from './c'",
        ),
        ("a.rs", ["use c::{d};", "use c::{d, z};", "use c::{d, e};"], "use c::{d, e, z};"),
        ("a.rs", ["use c::d;", "use c::{d, z};", "use c::{a, d};"], "use c::{a, d, z};"),
        ("a.rs", ["pub use c::{d, e};", "pub use c::{e};", "pub use c::{d, e, f as g};"], "pub use c::{e, f as g};"),
        (
            "a.rs",
            ["use c::{d, g::{h}};", "use c::{d, g::{h, i}};", "use c::{d, e, g::{h}};"],
            "use c::{d, e, g::{h, i}};",
        ),
        (
            "a.rs",
            [
                "use c::{\n    d, e, f,\n    g,\n};",
                "use c::{\n    d, e, f,\n    g, z,\n};",
                "use c::{\n    d, e, ee, f,\n    g,\n};",
            ],
            "use c::{\n    d, e, ee, f,\n    g, z,\n};",
        ),
    ] {
        assert_eq!(merged_import(path, texts).as_deref(), Some(want), "{texts:?}");
    }
    // Beside definitions that each changed.
    let base = "from c import d\n\n\ndef f():\n    pass\n\n\ndef g():\n    pass\n";
    let ours = base.replace("import d", "import d, e").replacen("pass", "e()", 1);
    let theirs = base.replace("import d", "import d, z").replace("g():\n    pass", "g():\n    z()");
    let both = ours.replace("d, e", "d, e, z").replace("g():\n    pass", "g():\n    z()");
    assert_eq!(merged("a.py", base, &ours, &theirs), Some(both));
}

#[test]
fn an_import_of_go_that_both_made_a_list_is_one() {
    let single = "package p\n\nimport \"fmt\"\n\nfunc f() {}\n";
    let list = |names: &str| single.replace("\"fmt\"", &format!("(\n{names})"));
    let [ours, theirs] = ["\t\"fmt\"\n\t\"os\"\n", "\t\"fmt\"\n\t\"io\"\n"].map(list);
    assert_eq!(merged("a.go", single, &ours, &theirs), Some(list("\t\"fmt\"\n\t\"io\"\n\t\"os\"\n")));
    // One side alone made it a list.
    let beside = single.replace("\"fmt\"\n", "\"fmt\"\nimport \"io\"\n");
    assert_eq!(merged("a.go", single, &ours, &beside), None);
}

#[test]
fn imports_in_a_block_of_python_are_sets() {
    let of = |names: &[&str]| {
        let lines: String = names.iter().map(|name| format!("    from {name} import {name}\n")).collect();
        format!("import os\n\nif TYPE_CHECKING:\n{lines}\n\ndef f():\n    pass\n")
    };
    assert_eq!(merged("a.py", &of(&["b"]), &of(&["b", "c"]), &of(&["b", "d"])), Some(of(&["b", "d", "c"])));
    // One took away what the other added behind.
    assert_eq!(merged("a.py", &of(&["b", "c"]), &of(&["b"]), &of(&["b", "c", "d"])), Some(of(&["b", "d"])));
    // The first of a block, and a line that two blocks have.
    assert_eq!(merged("a.py", &of(&["b"]), &of(&["c", "b"]), &of(&["d", "b"])), None);
    let twice = |names: &[&str]| of(names).replace("\n\n\ndef", "\nelse:\n    from b import b\n\n\ndef");
    assert_eq!(merged("a.py", &twice(&["b"]), &twice(&["b", "c"]), &twice(&["b", "d"])), None);
}

#[test]
fn names_come_to_a_default_import_and_go_again() {
    let of = |names: &str| format!("import React{names} from 'react';\n\nexport function f() {{}}\n");
    let [none, one, other, both] = ["", ", { a }", ", { b }", ", { a, b }"].map(of);
    assert_eq!(merged("a.ts", &one, &none, &both), Some(other.clone()));
    assert_eq!(merged("a.ts", &none, &one, &other), Some(both.clone()));
    // The name before them is another's now.
    assert_eq!(merged("a.ts", &one, &both.replace("React", "Preact"), &both.replace("{ a", "{ c, a")), None);
}

#[test]
fn what_a_file_of_typescript_hands_on_is_a_set() {
    let of = |lines: &[&str]| format!("export class K {{}}\n\n{}\n", lines.join("\n"));
    let [f, g, h] = ["export { f } from './f';", "export { g } from './g';", "export * from './h';"];
    assert_eq!(merged("a.ts", &of(&[f, g]), &of(&[f]), &of(&[f, g, h])), Some(of(&[f, h])));
    assert_eq!(merged("a.ts", &of(&[f]), &of(&[f, g]), &of(&[f, h])), Some(of(&[f, h, g])));
    // Two of one name.
    let other = "export { g } from './other';";
    assert_eq!(merged("a.ts", &of(&[f]), &of(&[f, g]), &of(&[f, other])), None);
}

#[test]
fn what_reads_and_what_writes_a_property_are_told_apart() {
    let script = |members: &[&str]| format!("class K {{\n{}}}\n", members.concat());
    let [read, write, other] = ["  get v() { return 1; }\n", "  set v(n) { }\n", "  get w() { return 1; }\n"];
    let all = script(&[read, write, other]);
    assert_eq!(merged("a.ts", &script(&[read, write]), &script(&[read]), &all), Some(script(&[read, other])));
    let python = |members: &[&str]| format!("class K:\n{}", members.join("\n"));
    let method = |above: &str, name: &str| format!("    @{above}\n    def {name}:\n        pass\n");
    let [read, write, other] = [("property", "v(self)"), ("v.setter", "v(self, n)"), ("property", "w(self)")]
        .map(|(above, name)| method(above, name));
    let all = python(&[&read, &write, &other]);
    let merged = merged("a.py", &python(&[&read, &write]), &python(&[&read]), &all);
    assert_eq!(merged, Some(python(&[&read, &other])));
}

#[test]
fn imports_behind_a_block_of_python_are_sets() {
    let base = "if X:\n    x = 1\nimport os\n\n\ndef f():\n    pass\n";
    let with = |name: &str| base.replace("import os", &format!("import {name}\nimport os"));
    let text = merged("a.py", base, &with("json"), &with("re")).expect("merged");
    let lines: Vec<&str> = text.lines().take(5).collect();
    assert_eq!(lines[..2], ["if X:", "    x = 1"], "{text}");
    assert!(["import json", "import re", "import os"].iter().all(|line| lines[2..].contains(line)), "{text}");
    // What goes with the line above it stays there.
    let base = "if X:\n    x = 1\n    # Of os.\nimport os\n\n\ndef f():\n    pass\n";
    let with = |name: &str| base.replace("import os", &format!("import {name}\nimport os"));
    assert_eq!(merged("a.py", base, &with("json"), &with("re")), None);
}

#[test]
fn methods_of_one_name_are_told_apart_by_their_traits() {
    let base = "struct X;\n";
    let with = |of: &str| format!("{base}\nimpl {of} for X {{\n    fn fmt(&self) {{}}\n}}\n");
    let text = merged("a.rs", base, &with("fmt::Display"), &with("fmt::Debug")).expect("merged");
    assert!(text.contains("impl fmt::Display for X") && text.contains("impl fmt::Debug for X"), "{text}");
    // One trait, written in two ways.
    assert_eq!(merged("a.rs", base, &with("fmt::Display"), &with("Display")), None);
    let of_both = format!("{}{}", with("Display"), with("Display").replace(base, ""));
    let texts = [base, &with("Display"), &with("std::fmt::Display")];
    assert!(has_twice("a.rs", texts, &of_both) && !has_twice("a.rs", texts, &with("Display")));
}

#[test]
fn names_of_an_import_that_are_not_clear_are_no_merge() {
    for (path, texts) in [
        // Two things of one name.
        ("a.py", ["from c import d", "from c import d, e", "from c import d, q as e"]),
        ("a.py", ["from c import d", "from c import d, e", "from c import d\nfrom q import e"]),
        ("a.ts", ["import { d } from './c'", "import { d, E } from './c'", "import { d, type E } from './c'"]),
        // Both gave it another name, or took it away and put in others.
        ("a.rs", ["use c::{d};", "use c::{d as x, e};", "use c::{d as y};"]),
        ("a.rs", ["use c::{d, g::{h}};", "use c::{d, g::{h, i}};", "use c::{d, g::{h, j}};"]),
        ("a.py", ["from c import d", "from c import *", "from c import d, e"]),
        // Comments between names.
        (
            "a.py",
            [
                "from c import (\n    d,  # D\n)",
                "from c import (\n    d,  # D\n    e,\n)",
                "from c import (\n    d,  # D\n    f,\n)",
            ],
        ),
        // The order, two ways.
        ("a.rs", ["use c::{a, b, d};", "use c::{b, a, d};", "use c::{a, d, b};"]),
        // Several imports of one module.
        ("a.rs", ["use c::{d};\nuse c::e;", "use c::{d, x};\nuse c::e;", "use c::{d, y};\nuse c::e;"]),
        // Another module.
        ("a.ts", ["import { d } from './c'", "import { d, e } from './c'", "import { d, f } from './q'"]),
    ] {
        assert_eq!(merged_import(path, texts), None, "{texts:?}");
    }
}

#[test]
fn an_import_that_would_come_to_stand_elsewhere_is_no_merge() {
    let list = "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc f() {}\n";
    let single = list.replace("(\n\t\"fmt\"\n\t\"os\"\n)", "\"fmt\"");
    let more = list.replace("\t\"os\"\n", "\t\"os\"\n\t\"io\"\n");
    let both = list.replace("os", "io");
    assert_eq!(merged("a.go", list, &single, &more), Some(both), "in a list of Go, which stays");
    // A way of merging by lines that leaves it there.
    let lines = |_: &str, _: &str, _: &str| Some("package p\n\nimport \"fmt\"\n\t\"io\"\n\n".to_owned());
    assert_eq!(merge("a.go", [list, &single, &more].map(str::as_bytes), &lines), None);
    assert!(!has_definitions_of_both("a.go", [list, &single, &more], &single.replace("fmt\"\n", "fmt\"\n\"io\"\n")));
    for (path, base, ours, theirs) in [
        ("a.py", "\"\"\"\nimport a\n\"\"\"\nx\n", "import a", "import a\nimport b"),
        ("a.py", "import a\nfrom b import (c,\n    d)\nx\n", "import a", "import a\nimport e"),
    ] {
        let end = format!("{base}def f():\n    pass\n");
        let [ours, theirs] = [ours, theirs].map(|line| end.replacen("import a", line, 1));
        let ours = ours.replacen("import a\n", "import a\nimport z\n", 1);
        let text = merged(path, &end, &ours, &theirs);
        assert!(text.is_none(), "{text:?}");
    }
}

#[test]
fn text_of_the_head_that_one_side_removed_does_not_come_back() {
    let base = "import a\nregister(1)\ndef f():\n    pass\n";
    let ours = base.replace("register", "def x():\n    pass\nregister");
    assert_eq!(merged("a.py", base, &ours, &base.replace("register(1)\n", "")), None);
    let theirs = base.replace("    pass", "    return");
    let both = ours.replace("f():\n    pass", "f():\n    return");
    assert_eq!(merged("a.py", base, &ours, &theirs), Some(both), "nothing of it was touched");
}

#[test]
fn one_definition_that_both_changed_is_no_merge() {
    let base = "fn a() { 1 }\n";
    assert_eq!(merged("a.rs", base, "fn a() { 2 }\n", "fn a() { 3 }\n"), None);
    assert_eq!(merged("a.rs", base, "", "fn a() { 3 }\n"), None, "one removed it");
    let [ours, theirs] = ["2", "3"].map(|n| format!("{base}\nfn b() {{ {n} }}\n"));
    assert_eq!(merged("a.rs", base, &ours, &theirs), None, "both made one of that name");
    assert_eq!(merged("a.rs", base, &ours, &ours).as_ref(), Some(&ours), "the same one");
    assert_eq!(merged("a.rs", base, "// x\nfn a() { 1 }\n", "// y\nfn a() { 1 }\n"), None);
}

#[test]
fn what_stands_between_definitions_comes_neither_twice_nor_goes() {
    let base = "def a():\n    pass\n\nregister(a)\n";
    let [ours, theirs] = ["b", "c"].map(|name| format!("{base}\n\ndef {name}():\n    pass\n"));
    let both = format!("{ours}\n\ndef c():\n    pass\n");
    assert_eq!(merged("a.py", base, &ours, &theirs), Some(both), "once, before both");
    let base = "class B:\n    def b(self):\n        pass\n";
    let [ours, theirs] =
        ["x", "y"].map(|name| base.replace("B:\n", &format!("B:\n    def {name}(self):\n        pass\n\n")));
    let text = merged("a.py", base, &ours, &theirs).expect("merged");
    assert_eq!(["class B", "def x", "def y", "def b"].map(|word| text.matches(word).count()), [1; 4], "{text}");
    let base = "def a():\n    pass\nregister(a)\ndef b():\n    pass\ndef c():\n    pass\n";
    let ours = base.replace("def b():\n    pass\n", "");
    let theirs = base.replace("register(a)", "register(a, 1)");
    assert_eq!(merged("a.py", base, &ours, &theirs), None);
    let base = "impl X {\n    fn a() {}\n}\nimpl D for X {\n    fn f() {}\n}\n";
    let ours = base.replace("    fn f", "    fn bar() {}\n    fn f");
    let theirs = base.replace("a() {}\n", "a() {}\n    fn foo() {}\n");
    let both = ours.replace("a() {}\n", "a() {}\n    fn foo() {}\n");
    assert_eq!(merged("a.rs", base, &ours, &theirs), Some(both), "each in its own block");
}

#[test]
fn one_thing_that_both_named_anew_or_took_away_is_no_merge() {
    let base = "fn a() {}\nfn z() {}\n";
    assert_eq!(merged("a.rs", base, "fn x() {}\nfn z() {}\n", "fn y() {}\nfn z() {}\n"), None);
    assert_eq!(merged("a.rs", base, "fn x() {}\nfn z() {}\n", "fn z() {}\n"), None);
    let base = "use f::{a, d};\n\nfn z() {}\n";
    let [ours, theirs] = ["b", "c"].map(|name| base.replace("{a", &format!("{{{name}")));
    assert_eq!(merged("a.rs", base, &ours, &theirs), None);
    let [unix, windows] = ["unix", "windows"].map(|name| format!("#[cfg({name})]\nfn f() {{}}\n"));
    assert_eq!(merged("a.rs", &format!("{unix}{windows}"), &unix, &windows), None);
}

#[test]
fn what_is_no_source_or_would_not_be_is_no_merge() {
    assert_eq!(merged("a.txt", "a\n", "b\n", "a\nc\n"), None);
    assert_eq!(merged("a.rs", "fn a() {}\n", "fn a() {}\nfn b( {}\n", "fn a() {}\nfn c() {}\n"), None);
    let base = "impl A {\n    fn a() {}\n    fn b() {}\n}\n";
    let head_gone = "fn a() {}\nfn b() {}\n";
    let text = merged("a.rs", base, head_gone, "impl A {\n    fn c() {}\n    fn a() {}\n    fn b() {}\n}\n");
    assert_eq!(text, None, "{text:?}");
}

/// A language with two functions of which the second can be added, a class with methods of which more can be, and what
/// parts functions.
struct Kit {
    path: &'static str,
    head: &'static str,
    import: fn(&str) -> String,
    function: fn(&str, u8) -> String,
    method: fn(&str, u8) -> String,
    class: fn(&str, &str) -> String,
    /// Empty lines between functions.
    apart: &'static str,
}

const KITS: [Kit; 4] = [
    Kit {
        path: "a.py",
        head: "",
        import: |name| format!("import {name}\n"),
        function: |name, value| format!("def {name}():\n    return {value}\n"),
        method: |name, value| format!("    def {name}(self):\n        return {value}\n"),
        class: |name, methods| format!("class {name}:\n{methods}"),
        apart: "\n\n",
    },
    Kit {
        path: "a.rs",
        head: "",
        import: |name| format!("use a::{name};\n"),
        function: |name, value| format!("pub fn {name}() -> u8 {{\n    {value}\n}}\n"),
        method: |name, value| format!("    pub fn {name}(&self) -> u8 {{\n        {value}\n    }}\n"),
        class: |name, methods| format!("impl {name} {{\n{methods}}}\n"),
        apart: "\n",
    },
    Kit {
        path: "a.ts",
        head: "",
        import: |name| format!("import {{ {name} }} from './{name}';\n"),
        function: |name, value| format!("export function {name}() {{\n  return {value};\n}}\n"),
        method: |name, value| format!("  {name}() {{\n    return {value};\n  }}\n"),
        class: |name, methods| format!("export class {name} {{\n{methods}}}\n"),
        apart: "\n",
    },
    Kit {
        path: "a.go",
        head: "package p\n",
        import: |name| format!("import \"{name}\"\n"),
        function: |name, value| format!("func {name}() int {{\n\treturn {value}\n}}\n"),
        // They stand in no class.
        method: |_, _| String::new(),
        class: |_, _| String::new(),
        apart: "\n",
    },
];

impl Kit {
    fn imports(&self, names: &str) -> String {
        names.chars().map(|name| (self.import)(&name.to_string())).collect()
    }

    /// A class of one letter with methods of others.
    fn class_of(&self, name: &str, methods: &str) -> String {
        let methods: Vec<String> = methods.chars().map(|name| (self.method)(&name.to_string(), 1)).collect();
        (self.class)(name, &methods.join("\n"))
    }

    /// A file of imports and functions of one letter each; a class is given as its text.
    fn file(&self, imports: &str, parts: &[&str]) -> String {
        let functions = parts.iter().map(|part| match *part {
            name if name.len() == 1 => (self.function)(name, 1),
            text => text.to_owned(),
        });
        let mut groups: Vec<String> = functions.collect();
        let imports = self.imports(imports);
        let head = [self.head, &imports].into_iter().filter(|part| !part.is_empty());
        let head = head.collect::<Vec<_>>().join("\n");
        groups.splice(0..0, (!head.is_empty()).then_some(head));
        groups.join(self.apart)
    }

    /// Merges what was undone or done by one side into what the other left, with lines that never merge and with line ends
    /// of both kinds.
    fn assert_merged(&self, [base, ours, theirs]: [&str; 3], want: &str, case: &str) {
        let never = |_: &str, _: &str, _: &str| None;
        for ends in ["\n", "\r\n"] {
            let of = |text: &str| text.replace('\n', ends);
            let texts = [base, ours, theirs].map(of);
            let text = merge(self.path, texts.each_ref().map(|text| text.as_bytes()), &never);
            assert_eq!(text, Some(of(want)), "{} {case}, {ends:?}", self.path);
        }
    }

    fn assert_functions(&self, [base, ours, theirs]: [&str; 3], want: &str) {
        let case = format!("{base}: {ours} {theirs}");
        let [base, ours, theirs, want] = [base, ours, theirs, want].map(|names| {
            let names: Vec<String> = names.chars().map(String::from).collect();
            self.file("", &names.iter().map(String::as_str).collect::<Vec<_>>())
        });
        self.assert_merged([&base, &ours, &theirs], &want, &case);
    }
}

#[test]
fn a_first_import_is_taken_back_or_added_beside_another() {
    for kit in &KITS {
        let of = |imports: &str, parts: &[&str]| kit.file(imports, parts);
        let changed = (kit.function)("a", 2);
        for (base, ours, theirs, want) in
            [("x", "", "xy", "y"), ("", "x", "y", "yx"), ("zx", "z", "zxy", "zy"), ("x", "y", "xz", "zy")]
        {
            let texts = [base, ours, theirs].map(|imports| of(imports, &["a", "b"]));
            kit.assert_merged(texts.each_ref().map(String::as_str), &of(want, &["a", "b"]), "imports");
            // With a definition that one side changed too.
            let theirs = of(theirs, &[&changed, "b"]);
            let want = of(want, &[&changed, "b"]);
            kit.assert_merged([&texts[0], &texts[1], &theirs], &want, "imports and a function");
        }
        let first = [of("", &["a"]), of("x", &["a"]), of("", &["y", "a"])];
        kit.assert_merged(first.each_ref().map(String::as_str), &of("x", &["y", "a"]), "an import and a function");
        let [base, import, function] = first;
        kit.assert_merged([&base, &function, &import], &of("x", &["y", "a"]), "a function and an import");
    }
}

#[test]
fn functions_of_both_at_the_edges_of_a_file_land_whoever_was_first() {
    for kit in &KITS {
        // The first definition, in front of it and behind it; one that was added is taken back.
        kit.assert_functions(["xa", "a", "xya"], "ya");
        kit.assert_functions(["xa", "a", "yxa"], "ya");
        kit.assert_functions(["a", "xa", "ya"], "yxa");
        kit.assert_functions(["b", "ab", "yb"], "yab");
        kit.assert_functions(["b", "acb", "yzb"], "yzacb");
        // The last.
        kit.assert_functions(["ax", "a", "axy"], "ay");
        kit.assert_functions(["ax", "a", "ayx"], "ay");
        kit.assert_functions(["a", "ab", "ay"], "aby");
        kit.assert_functions(["a", "abc", "ayz"], "abcyz");
        // Between others.
        kit.assert_functions(["axb", "ab", "axyb"], "ayb");
        kit.assert_functions(["axzb", "ab", "axyzb"], "ayb");
        kit.assert_functions(["ab", "acb", "ayb"], "acyb");
        // With imports before them.
        let of = |parts: &[&str]| kit.file("i", parts);
        let texts = [of(&["x", "a"]), of(&["a"]), of(&["x", "y", "a"])];
        kit.assert_merged(texts.each_ref().map(String::as_str), &of(&["y", "a"]), "behind imports");
        let changed = (kit.function)("a", 2);
        let texts = [of(&["x", &changed]), of(&["a"]), of(&["y", "x", &changed])];
        kit.assert_merged(texts.each_ref().map(String::as_str), &of(&["y", "a"]), "with a change");
    }
}

#[test]
fn a_member_and_a_function_behind_its_class_land_whoever_was_first() {
    for kit in KITS.iter().filter(|kit| !(kit.class)("K", "").is_empty()) {
        let class = |methods: &str| kit.class_of("K", methods);
        let of = |parts: &[&str]| kit.file("", parts);
        let both = |base: &str, one: &str, other: &str, want: &str, case: &str| {
            kit.assert_merged([base, one, other], want, case);
            kit.assert_merged([base, other, one], want, case);
        };
        let [m, mn, nm] = ["m", "mn", "nm"].map(class);
        both(&of(&[&m]), &of(&[&mn]), &of(&[&m, "y"]), &of(&[&mn, "y"]), "the last member");
        both(&of(&["a", &m]), &of(&["a", &mn]), &of(&["a", &m, "y"]), &of(&["a", &mn, "y"]), "behind a function");
        both(&of(&[&m, "b"]), &of(&[&mn, "b"]), &of(&[&m, "y", "b"]), &of(&[&mn, "y", "b"]), "before a function");
        both(&of(&[&m]), &of(&[&nm]), &of(&["y", &m]), &of(&["y", &nm]), "the first member");
        both(&of(&[&mn]), &of(&[&m]), &of(&[&mn, "y"]), &of(&[&m, "y"]), "a member that goes");
        let merged = |texts: [&str; 3], want: &str, case: &str| kit.assert_merged(texts, want, case);
        merged([&of(&[&m, "x"]), &of(&[&m]), &of(&[&m, "x", "y"])], &of(&[&m, "y"]), "behind a class");
        merged([&of(&[&m]), &of(&[&m, "x"]), &of(&[&m, "y"])], &of(&[&m, "x", "y"]), "both behind a class");
        // Members of both.
        for (base, ours, theirs, want) in [
            ("xm", "m", "xym", "ym"),
            ("xm", "m", "yxm", "ym"),
            ("mx", "m", "mxy", "my"),
            ("mx", "m", "myx", "my"),
            ("m", "mx", "my", "mxy"),
            ("m", "xm", "ym", "yxm"),
            ("mn", "mxn", "myn", "mxyn"),
        ] {
            let texts = [base, ours, theirs].map(|methods| of(&[&class(methods)]));
            merged(texts.each_ref().map(String::as_str), &of(&[&class(want)]), "members");
            let texts = [base, ours, theirs].map(|methods| of(&["a", &class(methods), "b"]));
            merged(texts.each_ref().map(String::as_str), &of(&["a", &class(want), "b"]), "members between functions");
        }
        // Classes of both.
        let other = |name: &str| kit.class_of(name, "pq");
        let texts = [of(&[&m]), of(&[&m, &other("P")]), of(&[&m, &other("Q")])];
        merged(texts.each_ref().map(String::as_str), &of(&[&m, &other("P"), &other("Q")]), "classes");
    }
}

#[test]
fn new_functions_come_with_the_comments_before_them() {
    let base = "fn a() {}\n";
    let [ours, theirs] = ["b", "c"].map(|name| format!("{base}\n// About {name}.\nfn {name}() {{}}\n"));
    let both = format!("{ours}\n// About c.\nfn c() {{}}\n");
    assert_eq!(merged("a.rs", base, &ours, &theirs), Some(both));
    let [unix, windows] = ["unix", "windows"].map(|name| format!("#[cfg({name})]\nimpl K {{\n    fn f() {{}}\n}}\n"));
    let base = format!("{unix}\n{windows}");
    let ours = base.replacen("    fn f() {}\n", "    fn f() {}\n    fn x() {}\n", 1);
    let at = base.rfind("}\n").expect("there");
    let theirs = format!("{}    fn y() {{}}\n{}", &base[..at], &base[at..]);
    let both = format!("{}\n{}", ours.split("\n#").next().expect("one"), &theirs[unix.len() + 1..]);
    assert_eq!(merged("a.rs", &base, &ours, &theirs), Some(both), "each in its own block");
}

/// A file of a list of names: functions of one letter; with a class in it that holds the rest.
fn listed(kit: &Kit, names: &[(char, u8)], members: &[(char, u8)]) -> String {
    let of = |make: fn(&str, u8) -> String, name: &(char, u8)| make(&name.0.to_string(), name.1);
    let mut parts: Vec<String> = names.iter().map(|name| of(kit.function, name)).collect();
    let members: Vec<String> = members.iter().map(|name| of(kit.method, name)).collect();
    let class = (kit.class)("K", &members.join("\n"));
    parts.splice(0..0, (!class.is_empty() && !members.is_empty()).then_some(class));
    kit.file("", &parts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The edits of one side: what it takes out or changes of some names, and what it puts in at places between all.
fn edited(names: &[(char, u8)], own: bool, edits: &[u8], new: &[(u8, char)]) -> Vec<(char, u8)> {
    let mut out: Vec<(char, u8)> = Vec::new();
    for place in 0..=names.len() {
        out.extend(
            new.iter().filter(|(at, _)| usize::from(*at) % (names.len() + 1) == place).map(|(_, name)| (*name, 1)),
        );
        let Some((name, value)) = names.get(place).copied() else { continue };
        // Each side edits every other one.
        let edit = if (place % 2 == 0) == own { edits.get(place / 2).copied().unwrap_or(0) } else { 0 };
        match edit {
            1 => out.push((name, value + 7)),
            2 => {}
            _ => out.push((name, value)),
        }
    }
    out
}

proptest! {
    /// Each line that one side took out or put in is missing or there in the result, which is merged always.
    #[test]
    fn edits_of_different_definitions_are_joined_and_no_line_is_lost(
        which in 0..KITS.len(),
        count in 2..6_usize,
        edits in proptest::collection::vec(0..3_u8, 8),
        new in proptest::collection::vec(any::<u8>(), 0..3),
        other_new in proptest::collection::vec(any::<u8>(), 0..3),
        inside in any::<bool>(),
    ) {
        let kit = &KITS[which];
        let names: Vec<(char, u8)> = ('a'..).zip(1..).take(count).collect();
        let [new, other_new] = [(new, 'p'), (other_new, 'u')].map(|(at, from)| at.into_iter().zip(from..).collect::<Vec<_>>());
        let sides = [
            names.clone(),
            edited(&names, true, &edits[..4], &new),
            edited(&names, false, &edits[4..], &other_new),
        ];
        let is_class = inside && !(kit.class)("K", "").is_empty();
        let fixed = [('m', 1)];
        let texts = sides.each_ref().map(|names| match is_class {
            true => listed(kit, &fixed, names),
            false => listed(kit, names, &fixed),
        });
        let has = |side: &[(char, u8)], name: char| side.iter().any(|(other, _)| *other == name);
        let stays = |name: char| sides[1..].iter().all(|side| has(side, name)) || !has(&names, name);
        prop_assume!(sides[1..].iter().flatten().any(|(name, _)| stays(*name)));
        prop_assume!(sides.iter().all(|names| !names.is_empty()));
        let never = |_: &str, _: &str, _: &str| None;
        let merged = merge(kit.path, texts.each_ref().map(|text| text.as_bytes()), &never);
        let Some(merged) = merged else { return Err(TestCaseError::fail(format!("{texts:?}"))) };
        let mut sum: HashMap<&str, i32> = HashMap::new();
        for (text, sign) in [(&texts[1], 1), (&texts[2], 1), (&texts[0], -1), (&merged, -1)] {
            let solid = text.lines().filter(|line| !line.trim().is_empty());
            solid.for_each(|line| *sum.entry(line).or_default() += sign);
        }
        prop_assert!(sum.values().all(|n| *n == 0), "{sum:?} {texts:?} {merged}");
        let function = (kit.function)("", 1);
        let begins = function.split("()").next().unwrap_or_default();
        let mut above = String::new();
        for line in merged.split_inclusive('\n') {
            let is_parted = above.is_empty() || above.ends_with(&format!("\n{}", kit.apart)) && !above.ends_with(&format!("\n\n{}", kit.apart));
            prop_assert!(!line.starts_with(begins) || is_parted, "{texts:?} {merged}");
            above.push_str(line);
        }
    }
}

/// An import of some names of one module, on one line or over several.
fn names_import(which: usize, names: &[char], is_column: bool) -> String {
    let (path, indent) = (KITS[which].path, if KITS[which].path == "a.ts" { "  " } else { "    " });
    let all: Vec<String> = names.iter().map(char::to_string).collect();
    let inner = match is_column {
        true => format!("\n{}\n", all.iter().map(|name| format!("{indent}{name},")).collect::<Vec<_>>().join("\n")),
        false => all.join(", "),
    };
    match path {
        "a.py" if is_column => format!("from c import ({inner})\n"),
        "a.py" => format!("from c import {inner}\n"),
        "a.rs" => format!("use c::{{{inner}}};\n"),
        _ => format!("import {{{inner}}} from './c';\n"),
    }
}

proptest! {
    /// Each name that one side took out or put in is missing or there in the result, once, whichever side is which.
    #[test]
    fn names_of_one_import_are_joined_and_none_is_lost(
        which in 0..3_usize,
        count in 1..5_usize,
        gone in proptest::collection::vec(0..3_u8, 4),
        new in proptest::collection::vec((any::<u8>(), 0..3_u8), 0..4),
        is_column in any::<bool>(),
        is_sorted in any::<bool>(),
    ) {
        let base: Vec<char> = ('f'..).take(count).collect();
        let side = |own: u8| {
            let mut names: Vec<char> =
                base.iter().zip(&gone).filter(|(_, gone)| **gone != own).map(|(name, _)| *name).collect();
            for ((at, who), name) in new.iter().zip('p'..) {
                // Of one side, or of both.
                if *who == own || *who == 0 {
                    names.insert(usize::from(*at) % (names.len() + 1), name);
                }
            }
            if is_sorted {
                names.sort_unstable();
            }
            names
        };
        let sides = [side(1), side(2)];
        prop_assume!(sides.iter().all(|names| !names.is_empty()));
        let mut want: Vec<char> = base.iter().filter(|name| sides.iter().all(|side| side.contains(name))).copied().collect();
        want.extend(sides.iter().flatten().filter(|name| !base.contains(name)));
        want.sort_unstable();
        want.dedup();
        prop_assume!(!want.is_empty());
        let kit = &KITS[which];
        let file = |names: &[char]| format!("{}{}{}", names_import(which, names, is_column), kit.apart, (kit.function)("a", 1));
        let [base, ours, theirs] = [&base, &sides[0], &sides[1]].map(|names| file(names));
        let text = merged(kit.path, &base, &ours, &theirs);
        let Some(text) = text else { return Err(TestCaseError::fail(format!("{base} {ours} {theirs}"))) };
        let import = text.strip_suffix(&format!("{}{}", kit.apart, (kit.function)("a", 1)));
        let Some(import) = import else { return Err(TestCaseError::fail(text)) };
        let words = import.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() == 1 && *word != "c");
        let mut found: Vec<char> = words.flat_map(str::chars).collect();
        if is_sorted {
            prop_assert!(found.is_sorted(), "{import}");
        }
        found.sort_unstable();
        prop_assert_eq!(&found, &want, "{}", import);
        prop_assert_eq!(import.lines().count() > 1, is_column, "{}", import);
    }
}
