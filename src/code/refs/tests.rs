//! Mentions in small projects with an answer key, and in texts of a few lines.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::rc::Rc;

use super::*;
use crate::code::NodeSelector;

/// A project in memory.
struct Project {
    texts: BTreeMap<String, String>,
    paths: BTreeSet<String>,
    read: RefCell<BTreeMap<String, Rc<SourceFile>>>,
}

impl Project {
    fn of(files: &[(&str, &str)]) -> Project {
        let texts: BTreeMap<String, String> =
            files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        let paths = texts.keys().filter(|path| SourceLanguage::of_path(path).is_some()).cloned().collect();
        Project { texts, paths, read: RefCell::default() }
    }

    fn in_folder(folder: &Path) -> Project {
        let (mut found, mut open) = (Vec::new(), vec![folder.to_path_buf()]);
        while let Some(next) = open.pop() {
            for entry in fs::read_dir(next).expect("a folder") {
                let path = entry.expect("an entry").path();
                match path.is_dir() {
                    true => open.push(path),
                    false => found.push(path),
                }
            }
        }
        let name = |path: &Path| path.strip_prefix(folder).expect("below").to_string_lossy().into_owned();
        let texts: Vec<(String, String)> =
            found.iter().map(|path| (name(path), fs::read_to_string(path).expect("text"))).collect();
        Project::of(&texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
    }

    fn target(&self, id: &str) -> CodeTarget {
        let file = self.source(id.split("::").next().unwrap_or_default()).expect("a file");
        let found = NodeSelector::parse(id).unwrap_or_else(|fault| panic!("{fault}")).of(&file);
        assert_eq!(found.len(), 1, "{id}");
        CodeTarget { file, at: found[0] }
    }

    /// The mentions of a definition: file, line and certainty.
    fn mentions(&self, id: &str) -> Vec<String> {
        let target = self.target(id);
        let finder = MentionFinder::new(&target, self);
        let mut found = Vec::new();
        for path in &self.paths {
            let file = self.source(path).expect("a source");
            let all = finder.of(&file);
            found.extend(all.iter().map(|one| format!("{path}:{} {}", file.line(one.at.start), one.certainty.word())));
        }
        found
    }
}

impl SourceTree for Project {
    fn paths(&self) -> &BTreeSet<String> {
        &self.paths
    }

    fn source(&self, path: &str) -> Option<Rc<SourceFile>> {
        if let Some(known) = self.read.borrow().get(path) {
            return Some(known.clone());
        }
        let read = SourceFile::read(path, self.texts.get(path)?.as_bytes()).ok().map(Rc::new)?;
        self.read.borrow_mut().insert(path.to_owned(), read.clone());
        Some(read)
    }

    fn text(&self, path: &str) -> Option<String> {
        self.texts.get(path).cloned()
    }
}

/// The identifiers of a file that its answer key speaks of, each with what it means.
fn answers(file: &SourceFile, names: &BTreeSet<String>, faults: &mut Vec<String>) -> BTreeMap<usize, String> {
    let mut found = BTreeMap::new();
    let mut leaves: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for leaf in names.iter().flat_map(|name| binding::leaves(file, name).nodes) {
        leaves.entry(file.line(leaf.start_byte())).or_default().push(leaf.start_byte());
    }
    for (n, line) in file.text.lines().enumerate() {
        let key = line.split_once("//= ").or_else(|| line.split_once("#= ")).map_or("", |(_, key)| key);
        let key: Vec<&str> = key.split_whitespace().collect();
        let mut there = leaves.remove(&(n + 1)).unwrap_or_default();
        there.sort_unstable();
        if there.len() != key.len() {
            faults.push(format!("{}:{} has {} mentions, not {}: {line}", file.path, n + 1, there.len(), key.len()));
        }
        found.extend(there.into_iter().zip(key.into_iter().map(str::to_owned)));
    }
    found
}

/// The definitions that a key asks for at least.
const DEFINITIONS: usize = 30;

/// Mentions that were reported and right, of each certainty, and all true ones.
#[derive(Default)]
struct Score {
    reported: BTreeMap<Certainty, (usize, usize)>,
    all: usize,
    faults: Vec<String>,
}

impl Score {
    fn row(&self, language: &str) -> String {
        let of = |certainty: Certainty| match self.reported.get(&certainty) {
            Some((all, right)) => format!("{right} of {all}"),
            None => "none".to_owned(),
        };
        let resolved: usize =
            self.reported.iter().filter(|(own, _)| **own > Certainty::Name).map(|(_, (_, n))| n).sum();
        let found: usize = self.reported.values().map(|(_, right)| right).sum();
        let [local, import, scoped, name] =
            [Certainty::Local, Certainty::Import, Certainty::Scoped, Certainty::Name].map(of);
        let share = |n: usize| format!("{}%", n * 100 / self.all);
        format!("| {language} | {local} | {import} | {scoped} | {name} | {} | {} |", share(resolved), share(found))
    }
}

fn score(language: &str) -> Score {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code").join(language);
    let project = Project::in_folder(&folder);
    let key = fs::read_to_string(folder.join("key.txt")).expect("a key");
    let targets: Vec<CodeTarget> = key.lines().map(|id| project.target(id)).collect();
    assert!(targets.len() >= DEFINITIONS, "{language}: {} definitions", targets.len());
    let names: BTreeSet<String> = targets.iter().map(|target| target.node().name.clone()).collect();
    let mut score = Score::default();
    for path in &project.paths {
        let file = project.source(path).expect("a source");
        let answers = answers(&file, &names, &mut score.faults);
        for target in &targets {
            let id = target.file.id(target.at);
            score.all += answers.values().filter(|own| **own == id).count();
            let mut found = MentionFinder::new(target, &project).of(&file);
            // The key speaks of the name alone.
            found.retain(|one| !one.is_alias);
            for one in &found {
                let right = answers.get(&one.at.start) == Some(&id);
                let (reported, sure) = score.reported.entry(one.certainty).or_default();
                *reported += 1;
                *sure += usize::from(right);
                if !right && one.certainty > Certainty::Name {
                    let line = file.line(one.at.start);
                    score.faults.push(format!("{path}:{line} is no {id}: {}", one.certainty.word()));
                }
            }
            let missed =
                answers.iter().filter(|(at, own)| **own == id && !found.iter().any(|one| one.at.start == **at));
            score.faults.extend(missed.map(|(at, _)| format!("{path}:{} is a {id}", file.line(*at))));
        }
    }
    score
}

#[test]
fn mentions_are_those_of_the_answer_keys() {
    let (mut faults, mut rows) = (Vec::new(), Vec::new());
    for language in ["rust", "python", "typescript", "go"] {
        let score = score(language);
        rows.push(score.row(language));
        faults.extend(score.faults);
    }
    assert!(faults.is_empty(), "{}\n{}", faults.join("\n"), rows.join("\n"));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/guide/code.md");
    let page = fs::read_to_string(page).expect("the page");
    let missing: Vec<&String> = rows.iter().filter(|row| !page.contains(*row)).collect();
    assert!(missing.is_empty(), "the page has other figures:\n{}", rows.join("\n"));
}

/// What a definition uses is what mentions it: the two ways say the same of each identifier, but for modules.
#[test]
fn uses_are_mentions_the_other_way() {
    for language in ["rust", "python", "typescript", "go"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code").join(language);
        let project = Project::in_folder(&folder);
        let files: Vec<Rc<SourceFile>> = project.paths.iter().filter_map(|path| project.source(path)).collect();
        let all = || files.iter().flat_map(|file| (0..file.nodes.len()).map(move |at| (file, at)));
        // Of each definition the mentions that more than the name tells.
        let mut told: BTreeSet<(String, String, usize, Certainty)> = BTreeSet::new();
        for (file, at) in all() {
            let target = CodeTarget { file: file.clone(), at };
            if target.node().kind == NodeKind::Mod {
                continue;
            }
            let finder = MentionFinder::new(&target, &project);
            for other in &files {
                let found = finder.of(other).into_iter();
                let found = found.filter(|one| one.certainty > Certainty::Name && !one.is_alias);
                told.extend(found.map(|one| (file.id(at), other.path.clone(), one.at.start, one.certainty)));
            }
        }
        let (mut seen, mut faults) = (0, Vec::new());
        for (file, at) in all() {
            let node = &file.nodes[at];
            let outside = |id: &String| {
                let inside = |other: usize| file.id(other) == *id && node.range.contains(&file.nodes[other].own.start);
                !(0..file.nodes.len()).any(inside)
            };
            // The first mention of each in the bytes of this one.
            let mut wanted: BTreeMap<&String, (usize, Certainty)> = BTreeMap::new();
            for (id, path, start, certainty) in told.iter().filter(|(id, ..)| outside(id)) {
                if *path == file.path && node.range.contains(start) {
                    wanted.entry(id).or_insert((*start, *certainty));
                }
            }
            let mut found = uses(&CodeTarget { file: file.clone(), at }, &project).found;
            // A mention by another name is none, and one that may be of a pattern is told by its name alone.
            found.retain(|one| {
                let (used, leaves) = (one.used.node(), binding::leaves_within(file, &one.at));
                let is_loose = |role| matches!(role, Role::Shorthand { is_read: false });
                let is_key = leaves.iter().any(|leaf| is_loose(roles::role(*leaf, file.syntax())));
                used.kind != NodeKind::Mod && used.name == file.text[one.at.clone()] && !is_key
            });
            seen += found.len();
            let found: BTreeMap<String, (usize, Certainty)> =
                found.iter().map(|one| (one.used.file.id(one.used.at), (one.at.start, one.certainty))).collect();
            let found: BTreeMap<&String, (usize, Certainty)> = found.iter().map(|(id, place)| (id, *place)).collect();
            if found != wanted {
                faults.push(format!("{language}: {}: {found:?} is not {wanted:?}", file.id(at)));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert!(seen > 10, "{language}: {seen}");
    }
}

#[test]
fn circles_of_imports_end() {
    let rust = Project::of(&[
        ("src/lib.rs", "pub mod a;\npub mod b;\npub use a::*;\nfn f() { g(); x(); }\n"),
        ("src/a.rs", "pub use crate::b::*;\npub use crate::b::x;\n"),
        ("src/b.rs", "pub use crate::a::*;\npub use crate::a::x;\npub fn g() {}\n"),
        ("src/c.rs", "fn x() {}\n"),
    ]);
    assert_eq!(rust.mentions("src/b.rs::g"), ["src/lib.rs:4 import"]);
    assert!(rust.mentions("src/c.rs::x").iter().all(|one| one.ends_with(" name")));
    let python = Project::of(&[
        ("a.py", "from b import *\nfrom b import x\n"),
        ("b.py", "from a import *\nfrom a import x\nx()\n"),
        ("c.py", "def x(): pass\n"),
    ]);
    assert!(python.mentions("c.py::x").iter().all(|one| one.ends_with(" name")));
    let typescript = Project::of(&[
        ("a.ts", "export * from './b';\nexport { x } from './b';\n"),
        ("b.ts", "export * from './a';\nexport { x } from './a';\n"),
        ("c.ts", "export function x() {}\n"),
        ("d.ts", "import { x } from './a';\nx();\n"),
    ]);
    assert!(typescript.mentions("c.ts::x").iter().all(|one| one.ends_with(" name")));
}

#[test]
fn what_cannot_be_told_is_a_name() {
    let python = Project::of(&[
        ("lib/deep/a.py", "def f(): pass\ndef g(): pass\ndef g(): pass\n"),
        ("b.py", "from deep.a import f\nf()\nx.f()\nfrom other import f as h\n"),
        ("c.py", "from lib.deep.a import g\ng()\n"),
    ]);
    assert_eq!(python.mentions("lib/deep/a.py::f"), ["b.py:1 name", "b.py:2 name"]);
    assert_eq!(python.mentions("lib/deep/a.py::g#1"), ["c.py:1 name", "c.py:2 name"]);
    // A module of a list that names itself is no variable.
    let listed = Project::of(&[
        ("src/lib.rs", "mod a;\nuse crate::a::{self, g};\nfn h(a: u8) { a::f(a); g(); }\n"),
        ("src/a.rs", "pub fn f(n: u8) {}\npub fn g() {}\n"),
    ]);
    assert_eq!(listed.mentions("src/a.rs::f"), ["src/lib.rs:3 import"]);
    assert_eq!(listed.mentions("src/a.rs::g"), ["src/lib.rs:2 import", "src/lib.rs:3 import"]);
    // A trait's method may be any type's.
    let rust = Project::of(&[("src/lib.rs", "trait T { fn f(&self); }\nfn g(t: &dyn T) { t.f(); }\n")]);
    assert_eq!(rust.mentions("src/lib.rs::T.f"), ["src/lib.rs:2 name"]);
}

#[test]
fn a_module_of_rust_is_mentioned_by_its_paths() {
    let project = Project::of(&[
        (
            "src/lib.rs",
            "pub mod a;\npub mod b {\n    pub fn f() { self::g(); }\n    pub fn g() {}\n}\nfn h() { crate::b::f(); self::b::g(); a::x(); }\n",
        ),
        (
            "src/a.rs",
            "use crate::b;\nuse crate::b::{self as c, f};\npub fn x() { b::f(); super::b::g(); f(); c::g(); }\n",
        ),
        (
            "src/z.rs",
            "use crate::a::x;\nuse super::a;\nmod b { pub fn f() {} }\nfn y() { a::x(); crate::a::x(); b::f(); }\n",
        ),
    ]);
    let b = [
        "src/a.rs:1 import",
        "src/a.rs:2 import",
        "src/a.rs:3 import",
        "src/a.rs:3 import",
        "src/lib.rs:6 local",
        "src/lib.rs:6 local",
    ];
    assert_eq!(project.mentions("src/lib.rs::b"), b);
    let a = ["src/lib.rs:6 local", "src/z.rs:1 import", "src/z.rs:2 import", "src/z.rs:4 import", "src/z.rs:4 import"];
    assert_eq!(project.mentions("src/lib.rs::a"), a);
    assert_eq!(project.mentions("src/z.rs::b"), ["src/z.rs:4 local"]);
    // Its file is not the one of its name.
    let moved = Project::of(&[
        ("src/lib.rs", "#[path = \"other.rs\"]\nmod a;\nfn f() { a::x(); }\n"),
        ("src/a.rs", "pub fn x() {}\n"),
        ("src/other.rs", "pub fn x() {}\n"),
    ]);
    assert_eq!(moved.mentions("src/a.rs::x"), ["src/lib.rs:3 name"]);
    assert_eq!(moved.mentions("src/other.rs::x"), ["src/lib.rs:3 name"]);
}

#[test]
fn attributes_and_bodies_of_macros_may_mean_what_they_name() {
    let project = Project::of(&[(
        "src/lib.rs",
        "fn size() {}\nconst LIMIT: u8 = 1;\n#[arg(size = 1, value_parser = size, default_value_t = LIMIT)]\nstruct A;\n\
         #[cfg(size)]\n#[allow(size)]\nstruct B;\n\
         macro_rules! m {\n    (size $x:expr) => { size(); $($x.size; m!($x);)* };\n}\n",
    )]);
    assert_eq!(project.mentions("src/lib.rs::size"), ["src/lib.rs:3 name", "src/lib.rs:9 name", "src/lib.rs:9 name"]);
    assert_eq!(project.mentions("src/lib.rs::LIMIT"), ["src/lib.rs:3 name"]);
    assert_eq!(project.mentions("src/lib.rs::m"), ["src/lib.rs:9 local"]);
}

#[test]
fn tokens_of_a_macro_may_bind_a_function_s_name() {
    let project = Project::of(&[(
        "src/lib.rs",
        "fn total() {}\nconst MOST: u8 = 1;\nfn a() {\n    select! { total = receive() => total() }\n    assert!(total() < MOST);\n\
         \x20   vec![crate::total, total()];\n    each!(total, total());\n}\n",
    )]);
    let found = [
        "src/lib.rs:4 name",
        "src/lib.rs:4 name",
        "src/lib.rs:5 local",
        "src/lib.rs:6 local",
        "src/lib.rs:6 local",
        "src/lib.rs:7 name",
        "src/lib.rs:7 name",
    ];
    assert_eq!(project.mentions("src/lib.rs::total"), found);
    // A constant is what a pattern of its name means.
    assert_eq!(project.mentions("src/lib.rs::MOST"), ["src/lib.rs:5 local"]);
}

#[test]
fn a_path_among_the_tokens_of_a_macro_is_read_from_its_beginning() {
    let project = Project::of(&[
        ("src/lib.rs", "mod a;\nfn f() { assert_eq!(crate::a::b::g(), a::b::g()); }\nmod b { fn g() {} }\n"),
        ("src/a.rs", "pub mod b {\n    pub fn g() { panic!(\"{}\", super::h::<u8>()) }\n}\npub fn h() {}\n"),
    ]);
    assert_eq!(project.mentions("src/a.rs::b.g"), ["src/lib.rs:2 import", "src/lib.rs:2 import"]);
    assert_eq!(project.mentions("src/a.rs::b"), ["src/lib.rs:2 import", "src/lib.rs:2 import"]);
    assert_eq!(project.mentions("src/lib.rs::b.g"), Vec::<String>::new());
    assert_eq!(project.mentions("src/a.rs::h"), ["src/a.rs:2 local"]);
}

#[test]
fn a_module_of_typescript_may_be_a_value() {
    let a = ("src/a.ts", "export function f() {}\n");
    let plain =
        ("src/b.ts", "import * as a from './a';\nimport './side';\nconst { f } = other;\nx.f(); ({ f: 1 }); a.f();\n");
    assert_eq!(Project::of(&[a, plain]).mentions("src/a.ts::f"), ["src/b.ts:4 import"]);
    let every = ["src/b.ts:3 name", "src/b.ts:4 name", "src/b.ts:4 name", "src/b.ts:4 import"];
    let index = ("src/index.ts", "export * from './a';\n");
    for text in [
        "const m = await import('./a');\n",
        "const { g: h } = await import( './index.js' );\n",
        "const m = require(\"@/src/a\");\n",
        "vi.mock('./a', () => ({}));\n",
        "import * as a from './a';\nrun(a);\n",
        "import * as a from './index';\nexport { a };\n",
        "export * as all from './a';\n",
    ] {
        let project = Project::of(&[a, plain, index, ("src/c.ts", text)]);
        assert_eq!(project.mentions("src/a.ts::f"), every, "{text}");
    }
    for text in [
        "const m = await import('./b');\n",
        "import { g } from './a';\nrun('a');\n// * as a\n",
        "import * as a from './a';\na.f;\n",
    ] {
        let found = Project::of(&[a, plain, index, ("src/c.ts", text)]).mentions("src/a.ts::f");
        assert!(found.iter().all(|one| one.ends_with(" import")), "{text}: {found:?}");
    }
}

#[test]
fn what_scripts_of_typescript_define_is_known_everywhere() {
    let project = Project::of(&[
        ("globals.d.ts", "declare const VERSION: string;\ndeclare namespace App { function f(): void; }\n"),
        ("more.d.ts", "export {};\ndeclare global {\n  function later(): void;\n}\n"),
        ("b.ts", "import { later as VERSION } from 'x';\nVERSION;\nlater();\n"),
        (
            "c.ts",
            "export const x = VERSION;\nApp.f();\nfunction y(VERSION: string) { return VERSION; }\nwindow.VERSION;\n",
        ),
        ("d.ts", "export function VERSION() {}\nVERSION();\n"),
    ]);
    assert_eq!(project.mentions("globals.d.ts::VERSION"), ["c.ts:1 name", "c.ts:4 name"]);
    assert_eq!(project.mentions("globals.d.ts::App.f"), ["c.ts:2 name"]);
    assert_eq!(project.mentions("more.d.ts::later"), ["b.ts:3 name"]);
}

#[test]
fn a_type_of_go_that_is_embedded_names_a_field() {
    let cart = ("cart/cart.go", "package cart\n\ntype Cart struct{}\n\nfunc (c Cart) Total() {}\n");
    let uses = ("cart/b.go", "package cart\n\nfunc f(a A) {\n\ta.Cart.Total()\n\t_ = A{Cart: Cart{}}\n}\n");
    for embedded in ["Cart", "*Cart", "Cart[int]"] {
        let a = format!("package cart\n\ntype A struct {{\n\t{embedded}\n}}\n");
        let found = Project::of(&[cart, uses, ("cart/a.go", &a)]).mentions("cart/cart.go::Cart");
        let want = [
            "cart/a.go:4 scoped",
            "cart/b.go:4 name",
            "cart/b.go:5 name",
            "cart/b.go:5 scoped",
            "cart/cart.go:5 local",
        ];
        assert_eq!(found, want, "{embedded}");
    }
    let named = ("cart/a.go", "package cart\n\ntype A struct {\n\tCart Cart\n}\n");
    let found = Project::of(&[cart, uses, named]).mentions("cart/cart.go::Cart");
    assert_eq!(found, ["cart/a.go:4 scoped", "cart/b.go:5 scoped", "cart/cart.go:5 local"]);
}

#[test]
fn many_globs_and_many_mentions_end() {
    let names: Vec<String> = (0..40).map(|n| format!("m{n}")).collect();
    let all = |line: &dyn Fn(&String) -> String| names.iter().map(line).collect::<String>();
    let mut rust = vec![(
        "src/lib.rs".to_owned(),
        all(&|name| format!("pub mod {name};\npub use {name}::*;\n")) + "fn f() { g(); }\n",
    )];
    rust.extend(names.iter().map(|name| (format!("src/{name}.rs"), "use super::*;\nfn f() { g(); }\n".to_owned())));
    rust.push(("src/other.rs".to_owned(), "fn g() {}\n".to_owned()));
    let mut python: Vec<(String, String)> =
        vec![("all.py".to_owned(), all(&|name| format!("from {name} import *\n")) + "g()\n")];
    python.extend(names.iter().map(|name| (format!("{name}.py"), "from all import *\ng()\n".to_owned())));
    python.push(("other.py".to_owned(), "def g(): pass\n".to_owned()));
    let mut script = vec![("all.ts".to_owned(), all(&|name| format!("export * from './{name}';\n")))];
    script.extend(
        names
            .iter()
            .map(|name| (format!("{name}.ts"), "export * from './all';\nimport { g } from './all';\n".to_owned())),
    );
    script.push(("other.ts".to_owned(), "export function g() {}\n".to_owned()));
    for (files, id) in [(rust, "src/other.rs::g"), (python, "other.py::g"), (script, "other.ts::g")] {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let found = Project::of(&files).mentions(id);
        assert!(found.iter().all(|one| one.ends_with(" name")), "{found:?}");
    }
    // Each name is looked up once in a file, however often it stands there.
    let many = format!("fn g() {{}}\nfn f() {{\n{}}}\n", "    let g = g();\n".repeat(400));
    let project = Project::of(&[("src/lib.rs", &many)]);
    assert_eq!(project.mentions("src/lib.rs::g"), ["src/lib.rs:3 local"]);
}

#[test]
fn identifiers_that_are_too_deep_or_too_many_are_names() {
    let deep = format!("fn f() {{ g(); {}g(){} }}\n", "(".repeat(100_000), ")".repeat(100_000));
    let many = format!("fn f() {{ {} }}\n", "g();".repeat(4_001));
    for (text, count) in [(deep, 2), (many, 4_001)] {
        let here = Project::of(&[("src/lib.rs", &format!("fn g() {{}}\n{text}"))]);
        assert_eq!(here.mentions("src/lib.rs::g"), vec!["src/lib.rs:2 name"; count]);
        let there =
            Project::of(&[("src/lib.rs", "mod a;\npub fn g() {}\n"), ("src/a.rs", &format!("use super::g;\n{text}"))]);
        assert_eq!(there.mentions("src/lib.rs::g").len(), count + 1);
        // A path that begins with it.
        let head = format!("mod g {{ pub fn x() {{}} }}\nmod b {{ {text} fn y() {{ g::x(); }} }}\n");
        assert_eq!(Project::of(&[("src/lib.rs", &head)]).mentions("src/lib.rs::g.x"), ["src/lib.rs:3 name"]);
    }
}

#[test]
fn a_constant_of_rust_is_what_a_pattern_of_its_name_means() {
    let project = Project::of(&[
        (
            "src/lib.rs",
            "mod mode;\nmod other;\npub const LIMIT: u8 = 1;\nstruct Unit;\nfn total() {}\n\
             fn f(x: u8) -> u8 {\n    match x { LIMIT => LIMIT, n @ LIMIT | n => n, total if total > 1 => total, _ => 0 }\n}\n\
             fn g(Unit: Unit) { let Unit = Unit; if let LIMIT = 1 {} }\n",
        ),
        ("src/mode.rs", "pub enum Mode { Fast, Slow }\n"),
        (
            "src/other.rs",
            "use super::LIMIT;\nuse crate::mode::Mode;\nfn f(x: u8, m: Mode) {\n    use Mode::*;\n    match x { LIMIT => 1, _ => 2 };\n\
             \x20   match m { Fast => 1, Slow => 2 }\n}\nfn g(m: Mode) { use Mode::Slow; match m { Slow => 1, Fast => Fast } }\n",
        ),
        ("src/lost.rs", "use crate::nowhere::*;\nfn f(x: u8) { match x { LIMIT => 1, total => total } }\n"),
    ]);
    let limit = [
        "src/lib.rs:7 local",
        "src/lib.rs:7 local",
        "src/lib.rs:7 local",
        "src/lib.rs:9 local",
        "src/lost.rs:2 name",
        "src/other.rs:1 import",
        "src/other.rs:5 import",
    ];
    assert_eq!(sorted(project.mentions("src/lib.rs::LIMIT")), limit);
    assert_eq!(project.mentions("src/lib.rs::Unit"), vec!["src/lib.rs:9 local"; 4]);
    assert_eq!(project.mentions("src/lib.rs::total"), Vec::<String>::new());
    // In the last function nothing brings it.
    assert_eq!(project.mentions("src/mode.rs::Mode.Fast"), ["src/other.rs:6 import"]);
    let slow = ["src/other.rs:6 import", "src/other.rs:8 import", "src/other.rs:8 import"];
    assert_eq!(project.mentions("src/mode.rs::Mode.Slow"), slow);
}

#[test]
fn a_default_export_is_mentioned_by_any_name() {
    let uses = "import draw from './a';\nimport { default as paint } from './a';\ndraw(); paint();\nfunction f(draw: any) { draw(); }\n";
    for a in [
        "export default function render() {}\n",
        "function render() {}\nexport default render;\n",
        "function render() {}\nexport { render as default };\n",
    ] {
        let project = Project::of(&[
            ("src/a.ts", a),
            ("src/b.ts", uses),
            ("src/c.ts", "export { default } from './a';\nexport { default as x } from './d';\n"),
            ("src/d.ts", "export default function other() {}\nimport React from 'react';\n"),
        ]);
        let found = project.mentions("src/a.ts::render");
        let found: Vec<&String> = found.iter().filter(|one| !one.starts_with("src/a.ts")).collect();
        let want =
            ["src/b.ts:1 import", "src/b.ts:2 import", "src/b.ts:3 import", "src/b.ts:3 import", "src/c.ts:1 import"];
        assert_eq!(found, want, "{a}");
    }
}

#[test]
fn keys_of_go_are_values_where_the_type_numbers_them() {
    let project = Project::of(&[(
        "a/a.go",
        "package a\n\nconst Red = 1\n\ntype Point struct{ Red int }\ntype Names [3]string\ntype Points []Point\n\n\
         var a = [...]string{Red: \"r\"}\nvar b = Names{Red: \"r\"}\nvar c = [][]int{{Red: 1}}\nvar d = Point{Red: 1}\n\
         var e = []*Point{{Red: 1}}\nvar g = Points{{Red: 1}}\nvar h = map[int]Point{Red: {Red: 1}}\n",
    )]);
    let red = ["a/a.go:9 local", "a/a.go:10 local", "a/a.go:11 local", "a/a.go:14 name", "a/a.go:15 local"];
    assert_eq!(project.mentions("a/a.go::Red"), red);
    let field = project.mentions("a/a.go::Point.Red");
    let sure: Vec<&String> = field.iter().filter(|one| one.ends_with(" local")).collect();
    assert_eq!(sure, ["a/a.go:12 local", "a/a.go:13 local", "a/a.go:15 local"]);
}

#[test]
fn uses_by_the_name_that_an_import_gives_are_mentions() {
    let rust = Project::of(&[
        (
            "src/lib.rs",
            "mod a;\nuse a::{Point as P, Mode::Fast as Quick};\nfn f() { P {}; P::new(); match m { Quick => 1 } }\n",
        ),
        ("src/a.rs", "pub struct Point {}\npub enum Mode { Fast }\n"),
    ]);
    assert_eq!(rust.mentions("src/a.rs::Point"), ["src/lib.rs:2 import", "src/lib.rs:3 import", "src/lib.rs:3 import"]);
    assert_eq!(rust.mentions("src/a.rs::Mode.Fast"), ["src/lib.rs:2 import", "src/lib.rs:3 import"]);
    let python =
        Project::of(&[("a.py", "class Shape: pass\n"), ("b.py", "from a import Shape as Sh\nSh()\ndef f(Sh): Sh()\n")]);
    assert_eq!(python.mentions("a.py::Shape"), ["b.py:1 import", "b.py:2 import"]);
    let script = Project::of(&[
        ("a.ts", "export function total() {}\n"),
        ("b.ts", "import { total as sum } from './a';\nsum();\nfunction f(sum) { sum(); x.sum(); }\n"),
    ]);
    assert_eq!(script.mentions("a.ts::total"), ["b.ts:1 import", "b.ts:2 import"]);
    let target = script.target("a.ts::total");
    let found = MentionFinder::new(&target, &script).of(&script.source("b.ts").expect("a source"));
    assert_eq!(found.iter().map(|one| one.is_alias).collect::<Vec<bool>>(), [false, true]);
}

#[test]
fn a_class_of_python_and_a_comprehension_read_what_is_around_them() {
    let project = Project::of(&[(
        "a.py",
        "LIMIT = 3\ndef helper(): pass\nclass K:\n    helper = helper\n    own = 1\n    other = own\n    def f(self, n=LIMIT):\n        LIMIT = n\n        return helper()\n\
         class J:\n    for LIMIT in range(2): pass\n    a = LIMIT\n    b = [LIMIT for _ in range(LIMIT)]\n\
         def g():\n    return [LIMIT for LIMIT in range(LIMIT)]\ndef h(a=lambda LIMIT: LIMIT): return LIMIT\n",
    )]);
    assert_eq!(project.mentions("a.py::helper"), ["a.py:4 name", "a.py:9 local"]);
    assert_eq!(project.mentions("a.py::K.helper"), ["a.py:4 name", "a.py:9 name"].map(str::to_owned)[..1]);
    assert_eq!(project.mentions("a.py::K.own"), ["a.py:6 local"]);
    let limit = ["a.py:7 local", "a.py:12 name", "a.py:13 local", "a.py:13 name", "a.py:15 local", "a.py:16 local"];
    assert_eq!(project.mentions("a.py::LIMIT"), limit);
}

#[test]
fn a_value_of_typescript_hides_no_type() {
    let project = Project::of(&[(
        "a.ts",
        "export interface Foo {}\nexport const bar = 1;\nfunction sh(Foo: number) {\n  const x: Foo = Foo;\n  return x;\n}\n\
         function t<bar, Foo>(x: Foo) { return bar; }\n",
    )]);
    assert_eq!(project.mentions("a.ts::Foo"), ["a.ts:4 local"]);
    assert_eq!(project.mentions("a.ts::bar"), ["a.ts:7 local"]);
}

/// In the order of their words.
fn sorted(mut found: Vec<String>) -> Vec<String> {
    found.sort();
    found
}

#[test]
fn what_is_declared_of_other_languages_is_seen_around_it() {
    let project = Project::of(&[
        ("src/lib.rs", "mod a;\nextern \"C\" {\n    fn abs(n: i32) -> i32;\n}\nfn f() { unsafe { abs(1); } }\n"),
        ("src/a.rs", "use crate::abs;\n"),
    ]);
    assert_eq!(project.mentions("src/lib.rs::abs"), ["src/a.rs:1 import", "src/lib.rs:5 local"]);
    assert!(project.target("src/lib.rs::abs").is_linked() && !project.target("src/lib.rs::f").is_linked());
}

#[test]
fn members_of_a_foreign_trait_are_told() {
    let project = Project::of(&[(
        "src/lib.rs",
        "trait Own { fn own(&self); }\nstruct C;\nimpl Own for C { fn own(&self) {} }\n\
         impl Iterator for C { type Item = u8; fn next(&mut self) -> Option<u8> { fn inner() {} None } }\n\
         impl C { fn plain(&self) {} }\n",
    )]);
    let of = |id: &str| project.target(id).foreign_trait(&project).map(str::to_owned);
    for (id, foreign) in [
        ("src/lib.rs::C.own", None),
        ("src/lib.rs::C.next", Some("Iterator")),
        ("src/lib.rs::C.Item", Some("Iterator")),
        ("src/lib.rs::C.next.inner", None),
        ("src/lib.rs::C.plain", None),
    ] {
        assert_eq!(of(id).as_deref(), foreign, "{id}");
    }
}

#[test]
fn names_in_format_strings_are_mentions() {
    let text = "const MAX: u8 = 1;\nfn f(w: u8) {\n    println!(\"{MAX} {w:>MAX$} {{MAX}}\");\n    \
                write!(o, \"{MAX:?}\");\n    let a = \"{MAX}\";\n    html!(\"{MAX}\");\n    \
                println!(\"MAX {0:MAX} {}\", w);\n    { let MAX = 2; print!(\"{MAX}\"); }\n}\n";
    let project = Project::of(&[("src/lib.rs", text)]);
    let all = ["src/lib.rs:3 local", "src/lib.rs:3 local", "src/lib.rs:4 local", "src/lib.rs:6 name"];
    let mut found = project.mentions("src/lib.rs::MAX");
    // The pattern of `let` and what it hides are those of a constant, which cannot be told.
    found.retain(|one| !one.starts_with("src/lib.rs:8"));
    assert_eq!(found, all);
}

#[test]
fn members_of_namespaces_are_names_at_least() {
    let project = Project::of(&[
        (
            "a.ts",
            "export namespace A {\n  export namespace B { export const cc = 1; }\n  export const one = 1;\n}\n\
             A.B.cc;\nexport namespace A { const two = one; }\nexport function f() {}\n\
             export namespace f { export const extra = 1; }\nf.extra;\n",
        ),
        ("b.ts", "import * as u from './a';\nu.A.one;\nu.f.extra;\n"),
        ("v.d.ts", "declare module 'virt' {\n  export function made(): void;\n}\n"),
        ("c.ts", "import { made } from 'virt';\nmade();\n"),
        ("e.ts", "export enum E {\n  X = 1,\n  Y = X << 1,\n}\n"),
    ]);
    assert_eq!(project.mentions("a.ts::A.B.cc"), ["a.ts:5 name"]);
    assert_eq!(project.mentions("a.ts::A.one"), ["a.ts:6 name", "b.ts:2 name"]);
    assert_eq!(project.mentions("a.ts::f.extra"), ["a.ts:9 name", "b.ts:3 name"]);
    assert_eq!(project.mentions("v.d.ts::virt.made"), ["c.ts:1 name", "c.ts:2 name"]);
    assert_eq!(project.mentions("e.ts::E.X"), ["e.ts:3 name"]);
}

/// The mentions of a definition in some files.
fn mentions_in(files: &[(&str, &str)], id: &str) -> Vec<String> {
    Project::of(files).mentions(id)
}

#[test]
fn a_name_that_one_scope_binds_twice_is_none_of_both_for_certain() {
    let fallback =
        "try:\n    from _fastmod import total\nexcept ImportError:\n    def total(): return 1\nprint(total())\n";
    let user = ("user.py", "from main import total\ntotal()\n");
    let found = mentions_in(&[("main.py", fallback), user], "main.py::total");
    assert_eq!(found, ["main.py:5 name", "user.py:1 name", "user.py:2 name"]);
    let project = Project::of(&[("main.py", fallback)]);
    let target = project.target("main.py::total");
    let possible = MentionFinder::new(&target, &project).of(&target.file);
    assert!(possible.iter().all(|one| one.is_possible) && !possible.is_empty());
    let chosen = "import sys\nif sys.x:\n    from a import total\nelse:\n    from b import total\ntotal()\n";
    let (a, b) = (("a.py", "def total(): pass\n"), ("b.py", "def total(): pass\n"));
    let found = mentions_in(&[a, b, ("main.py", chosen)], "a.py::total");
    assert_eq!(found, ["main.py:3 import", "main.py:6 name"]);
    let later = ("main.py", "from a import total\ntotal()\ndef total(): pass\ntotal()\n");
    assert_eq!(mentions_in(&[a, later], "a.py::total"), ["main.py:1 import", "main.py:2 name", "main.py:4 name"]);
    // What is bound twice to the same is told.
    let same = "from a import total\ndef f():\n    n = 1\n    n = 2\nfrom a import total\ntotal()\n";
    assert_eq!(mentions_in(&[a, ("main.py", same)], "a.py::total")[2], "main.py:6 import");
    let rust = "#[cfg(unix)] mod u { pub fn total() {} }\n#[cfg(not(unix))] mod w { pub fn total() {} }\n\
                #[cfg(unix)] use u::total;\n#[cfg(not(unix))] use w::total;\nfn f() { total(); }\n";
    let lib = [("src/lib.rs", rust), ("src/x.rs", "use crate::total;\n")];
    assert_eq!(
        mentions_in(&lib, "src/lib.rs::w.total"),
        ["src/lib.rs:4 local", "src/lib.rs:5 name", "src/x.rs:1 name"]
    );
}

#[test]
fn a_type_of_rust_and_a_function_beside_a_module_are_told_from_imports_of_their_names() {
    let text = "use thiserror::Error;\nuse crate::config;\npub enum Error {}\nfn config() -> config::A { config() }\n\
                fn f() -> Error {}\n";
    let project = Project::of(&[
        ("src/lib.rs", "pub mod config;\nmod a;\nuse a::Error;\n"),
        ("src/config.rs", "pub struct A;\n"),
        ("src/a.rs", text),
    ]);
    assert_eq!(project.mentions("src/a.rs::Error"), ["src/a.rs:5 local", "src/lib.rs:3 import"]);
    assert_eq!(project.mentions("src/a.rs::config"), ["src/a.rs:4 local"]);
    assert_eq!(project.mentions("src/config.rs::A"), ["src/a.rs:4 import"]);
}

#[test]
fn packages_of_one_repository_are_found_by_their_names() {
    let main = ("packages/app/main.ts", "import { total } from '@org/lib';\ntotal();\n");
    let total = ("packages/lib/src/total.ts", "export function total() {}\n");
    let index = ("packages/lib/src/index.ts", "export * from './total';\n");
    for (manifest, word) in [
        (r#"{"name":"@org/lib","types":"src/index.ts"}"#, "import"),
        (r#"{"name":"@org/lib","main":"./src/index.js"}"#, "import"),
        (r#"{"name":"@org/lib","main":"dist/index.js"}"#, "name"),
        (r#"{"name":"@org/lib","main":"src/index.ts","exports":{}}"#, "name"),
    ] {
        let files = [main, total, index, ("packages/lib/package.json", manifest)];
        let want = [format!("packages/app/main.ts:1 {word}"), format!("packages/app/main.ts:2 {word}")];
        assert_eq!(mentions_in(&files, "packages/lib/src/total.ts::total"), want, "{manifest}");
    }
    // Two of one name: either may be meant.
    let manifest = r#"{"name":"@org/lib","types":"src/index.ts"}"#;
    let copy = [("packages/copy/package.json", manifest), ("packages/copy/src/index.ts", "export const other = 1;\n")];
    let files = [main, total, index, ("packages/lib/package.json", manifest), copy[0], copy[1]];
    let want = ["packages/app/main.ts:1 name", "packages/app/main.ts:2 name"];
    assert_eq!(mentions_in(&files, "packages/lib/src/total.ts::total"), want);
    let settings = ("tsconfig.json", "{ // Short names.\n \"paths\": { \"@org/*\": [\"packages/*/src/total\"] } }");
    assert_eq!(mentions_in(&[main, total, settings], "packages/lib/src/total.ts::total").len(), 2);
    assert_eq!(mentions_in(&[main, total], "packages/lib/src/total.ts::total").len(), 0);
}

#[test]
fn modules_of_go_are_found_by_their_names() {
    let a = ("a/a.go", "package a\n\nfunc Total() int { return 1 }\n");
    let within = ("b/b.go", "package b\n\nimport \"ex.com/m/a\"\n\nvar X = a.Total()\n");
    for module in ["module ex.com/m // ours\n", "module (\n\tex.com/m\n)\n", "module \"ex.com/m\"\n"] {
        assert_eq!(mentions_in(&[a, within, ("go.mod", module)], "a/a.go::Total"), ["b/b.go:5 import"], "{module}");
    }
    assert_eq!(mentions_in(&[a, within], "a/a.go::Total"), ["b/b.go:5 name"]);
    let b = ("b/b.go", "package b\n\nimport \"ex.com/a\"\n\nvar X = a.Total()\n");
    let own = ("a/go.mod", "module ex.com/a\n");
    let plain = ("b/go.mod", "module ex.com/b\n\nrequire ex.com/a v0.0.0\n");
    let replaced = ("b/go.mod", "module ex.com/b\n\nreplace ex.com/a v0.0.0 => ../a\n");
    let listed = ("b/go.mod", "module ex.com/b\nreplace (\n\tex.com/a => ../a\n)\n");
    let work = ("go.work", "go 1.22\nuse ./a\nuse ./b\n");
    for (files, word) in [
        (vec![a, b, own, plain], "name"),
        (vec![a, b, own, plain, work], "import"),
        (vec![a, b, own, replaced], "import"),
        (vec![a, b, own, listed], "import"),
    ] {
        assert_eq!(mentions_in(&files, "a/a.go::Total"), [format!("b/b.go:5 {word}")], "{files:?}");
    }
    let nested = [
        ("go.mod", "module ex.com/m\nreplace ex.com/m/sub => ./s\n"),
        ("main.go", "package m\n\nimport \"ex.com/m/sub\"\n\nvar X = sub.Total()\n"),
        ("s/s.go", "package sub\n\nfunc Total() int { return 1 }\n"),
    ];
    assert_eq!(mentions_in(&nested, "s/s.go::Total"), ["main.go:5 import"]);
}

#[test]
fn libraries_of_rust_are_found_by_the_names_that_manifests_give() {
    let lib = ("src/lib.rs", "pub fn total() {}\n");
    let main = ("src/main.rs", "fn main() { foo::total(); }\n");
    for manifest in [
        "[package]\nname = \"foo\" # ours\n",
        "[package]\nname = 'foo-rs'\n[lib]\nname = \"foo\"\n",
        "[package]\nname = \"other\"\n[dev-dependencies]\nfoo = { path = \".\", package = \"other\" }\n",
    ] {
        let files = [lib, main, ("Cargo.toml", manifest)];
        assert_eq!(mentions_in(&files, "src/lib.rs::total"), ["src/main.rs:1 import"], "{manifest}");
    }
    // A name that one manifest gives is not one of the crates beside it.
    let (own, used) = ("[package]\nname = \"lib-b\"\n", "fn main() { foo::total(); }\n");
    let alias = "dependencies]\nfoo = { package = \"lib-b\" }\n";
    for (path, table, found) in [("a/Cargo.toml", "[", &["a"][..]), ("Cargo.toml", "[workspace.", &["a", "c"][..])] {
        let (manifest, lib) = (format!("{table}{alias}"), ("b/src/lib.rs", "pub fn total() {}\n"));
        let mains = [("a/src/main.rs", used), ("c/src/main.rs", used)];
        let files = [lib, mains[0], mains[1], ("b/Cargo.toml", own), (path, manifest.as_str())];
        let want: Vec<String> = found.iter().map(|name| format!("{name}/src/main.rs:1 import")).collect();
        assert_eq!(mentions_in(&files, "b/src/lib.rs::total"), want, "{path}");
    }
    let own = ("src/lib.rs", "extern crate self as me;\npub mod a { pub fn total() {} }\nfn f() { me::a::total(); }\n");
    assert_eq!(mentions_in(&[own], "src/lib.rs::a.total"), ["src/lib.rs:3 local"]);
    let included =
        [("src/lib.rs", "include!(\"inc.rs\");\nfn y() { total(); }\n"), ("src/inc.rs", "fn total() { y(); }\n")];
    assert_eq!(mentions_in(&included, "src/inc.rs::total"), ["src/lib.rs:2 name"]);
    assert_eq!(mentions_in(&included, "src/lib.rs::y"), ["src/inc.rs:1 name"]);
    let raw = [("src/lib.rs", "fn total() {}\nfn f() { r#total(); }\n")];
    assert_eq!(mentions_in(&raw, "src/lib.rs::total"), ["src/lib.rs:2 name"]);
}

#[test]
fn bases_that_are_defined_elsewhere_are_told() {
    let python = Project::of(&[
        ("base.py", "import abc\nclass Own(abc.ABC): pass\nclass Deep(Own, Generic[T]): pass\n"),
        (
            "a.py",
            "import threading, base\nfrom base import Deep\nclass W(threading.Thread):\n    def run(self): pass\n    def _own(self): pass\n\
             class E(Exception):\n    def why(self): pass\n    def add_note(self): pass\n\
             class P(Deep, base.Own):\n    def run(self): pass\nclass Q(W):\n    red = 1\n\
             @dataclass\nclass D:\n    red: int = 1\n    def run(self): pass\n",
        ),
    ]);
    for (id, base) in [
        ("W.run", Some("threading.Thread")),
        ("W._own", None),
        ("E.why", None),
        ("E.add_note", Some("Exception")),
        ("P.run", None),
        ("Q.red", Some("threading.Thread")),
        ("D.red", None),
    ] {
        assert_eq!(python.target(&format!("a.py::{id}")).foreign_base(&python).as_deref(), base, "{id}");
    }
    assert_eq!(python.target("a.py::D.red").field_decorator(), Some("dataclass"));
    assert_eq!(python.target("a.py::D.run").field_decorator(), None);
    let python = Project::of(&[
        ("base.py", "import abc\nclass Own(abc.ABC): pass\n"),
        (
            "a.py",
            "import abc, ctypes\nfrom base import *\nclass R(Own): pass\nclass S(R, Own):\n    def run(self): pass\n\
             class C(ctypes.Structure):\n    _fields_ = []\n    _own = 1\n\
             class M(metaclass=abc.ABCMeta):\n    def run(self): pass\n\
             class N(metaclass=Registry, key=1):\n    def run(self): pass\n\
             class O(Own, key=Other):\n    def run(self): pass\n",
        ),
    ]);
    for (id, base) in [
        // Its bases lead to one class twice.
        ("S.run", None),
        ("C._fields_", Some("ctypes.Structure")),
        ("C._own", None),
        ("M.run", None),
        ("N.run", Some("Registry")),
        ("O.run", None),
    ] {
        assert_eq!(python.target(&format!("a.py::{id}")).foreign_base(&python).as_deref(), base, "{id}");
    }
}

#[test]
fn bases_of_typescript_that_are_defined_elsewhere_are_told() {
    let script = Project::of(&[(
        "a.ts",
        "import { OnInit, View } from '@x/core';\ninterface Own { a(): void }\nclass A implements OnInit, Own { ngOnInit() {} private b() {} #c() {} }\n\
         class B<T> implements Own { a() {} }\nclass C extends B<string> { a() {} }\nclass D extends View<B<string>> { a() {} }\n\
         class E extends Error { a() {} message = '' }\n",
    )]);
    for (id, base) in [
        ("A.ngOnInit", Some("OnInit")),
        ("A.b", None),
        ("A.#c", None),
        ("B.a", None),
        ("C.a", None),
        ("D.a", Some("View")),
        ("E.a", None),
        ("E.message", Some("Error")),
    ] {
        assert_eq!(script.target(&format!("a.ts::{id}")).foreign_base(&script).as_deref(), base, "{id}");
    }
}

#[test]
fn aliases_of_typescript_are_followed_to_what_they_are_made_of() {
    let script = Project::of(&[
        (
            "u.ts",
            "import { View } from '@x/core';\nexport type In = { path: string };\nexport type Two = In & (Plain | { b: number });\n\
             interface Plain { c: number }\nexport type Foreign = In & View<In>;\nexport type Keys = { [K in 'a' | 'b']: number };\n\
             export type Part = Partial<In>;\nexport type Loop = In & Loop;\n",
        ),
        (
            "t.ts",
            "import { Foreign, In, Keys, Loop, Part, Two } from './u';\nclass A implements In { path = 'a'; own = 1 }\n\
             class B implements Two { own = 1 }\nclass C implements Foreign { own = 1 }\nclass D implements Keys { own = 1 }\n\
             class E implements Part { own = 1 }\nclass F implements Loop { own = 1 }\n",
        ),
    ]);
    for (id, base) in [
        ("A.own", None),
        ("A.path", None),
        ("B.own", None),
        ("C.own", Some("View")),
        ("D.own", Some("Keys")),
        ("E.own", Some("Partial")),
        ("F.own", Some("Loop")),
    ] {
        assert_eq!(script.target(&format!("t.ts::{id}")).foreign_base(&script).as_deref(), base, "{id}");
    }
}

#[test]
fn what_names_no_definition_of_typescript_is_no_mention() {
    let tags = "export function label(p: {}) {}\nexport const v = <div><label a={label({})}>x</label><label/></div>;\n";
    assert_eq!(mentions_in(&[("a.tsx", tags)], "a.tsx::label"), ["a.tsx:2 local"]);
    let infer = "export interface Item {}\nfunction f<T>(x: T): T extends Array<infer Item> ? Item : Item {}\nlet h: Item;\n\
                 type U<T> = T extends Promise<infer V extends Item> ? V : never;\n";
    let found = mentions_in(&[("a.ts", infer)], "a.ts::Item");
    assert_eq!(found, ["a.ts:2 local", "a.ts:3 local", "a.ts:4 local"]);
    let mapped = "export type Key = 'a';\nexport interface G { m: { [Key in 'x']?: Key } }\nlet h: Key;\n\
                  type M = { [K in Key]: K };\n";
    assert_eq!(mentions_in(&[("a.ts", mapped)], "a.ts::Key"), ["a.ts:3 local", "a.ts:4 local"]);
    let heads = "let cur = 0;\nfor (cur of [1]) { cur; }\nfor (cur in {}) {}\nfor (const cur of [1]) { cur; }\n";
    let found = mentions_in(&[("a.ts", heads)], "a.ts::cur");
    assert_eq!(found, ["a.ts:2 local", "a.ts:2 local", "a.ts:3 local"]);
    let tuple =
        "export function total() {}\ntype P = [total: number, b?: string];\ntype Q = [a: number, total?: string];\n";
    assert_eq!(mentions_in(&[("a.ts", tuple)], "a.ts::total"), Vec::<String>::new());
    let value = "interface Response {}\nfunction f(x: Response) { return x ? new Response('x') : Response.error(); }\nexport { Response };\n";
    assert_eq!(mentions_in(&[("a.ts", value)], "a.ts::Response"), ["a.ts:2 local", "a.ts:3 local"]);
    let folders = [
        ("a.ts", "export function total() {}\n"),
        ("a/index.ts", "export function total() {}\n"),
        ("b.ts", "import { total } from './a/';\n"),
        ("c.ts", "import { total } from './a';\n"),
        ("a/d.ts", "import { total } from '.';\n"),
    ];
    assert_eq!(mentions_in(&folders, "a/index.ts::total"), ["a/d.ts:1 import", "b.ts:1 import"]);
}

#[test]
fn names_that_python_binds_in_patterns_and_parameters_of_types_are_not_the_module_s() {
    let text = "def total(): pass\ndef f(x):\n    match x:\n        case A(total=3): return 1\ndef g(x):\n    match x:\n        case [a, *total]: return total\n\
                def h(x):\n    match x:\n        case {\"k\": v, **total}: return total\ndef i():\n    with x as (a, total): return total\n\
                def j():\n    with x as (total): return total\ndef k(): return total(list[total])\n";
    assert_eq!(mentions_in(&[("a.py", text)], "a.py::total"), ["a.py:15 local", "a.py:15 local"]);
    let types = "T = TypeVar(\"T\")\ndef f[T](x: T) -> T: return x\nclass B[*T](C[T]):\n    def g(self, x: T): return x\n\
                 type X[T: int] = list[T]\ndef h(x: list[T]) -> T: return x\ndef i[U: T](x: U): return x\n";
    let found = ["a.py:1 local", "a.py:6 local", "a.py:6 local", "a.py:7 local"];
    assert_eq!(mentions_in(&[("a.py", types)], "a.py::T"), found);
    let global = "def total(): pass\ndef outer():\n    total = 5\n    def inner():\n        global total\n        return total()\n    return total\n";
    assert_eq!(mentions_in(&[("a.py", global)], "a.py::total"), ["a.py:5 local", "a.py:6 local"]);
}

#[test]
fn a_module_of_python_may_be_a_value() {
    let a = ("pkg/sub/a.py", "def total(): pass\n");
    let uses = ("uses.py", "import pkg.sub.a\npkg.sub.a.total()\nx.total(total=1)\n");
    assert_eq!(mentions_in(&[a, uses], "pkg/sub/a.py::total"), ["uses.py:2 import"]);
    for text in [
        "from pkg.sub import a\nm = a\n",
        "from pkg.sub import (\n    a,\n)\nm = a\n",
        "import pkg.sub.a\nm = pkg.sub.a\n",
        "import pkg.sub.a as b\ndef g(b=b): pass\n",
        "import importlib\nm = importlib.import_module(\"pkg.sub.a\")\n",
        "class A:\n    from pkg.sub import a\n",
        "import pkg\np = pkg\n",
        "import pkg.sub\ns = pkg.sub\n",
    ] {
        let found = mentions_in(&[a, uses, ("held.py", text)], "pkg/sub/a.py::total");
        assert_eq!(found, ["uses.py:2 import", "uses.py:3 name"], "{text}");
    }
    // One that hands it on.
    for text in ["from pkg.sub.a import total\n", "from pkg.sub.a import *\n"] {
        let found = mentions_in(&[a, uses, ("b.py", text), ("held.py", "import b\nm = b\n")], "pkg/sub/a.py::total");
        assert_eq!(found.last().map(String::as_str), Some("uses.py:3 name"), "{text}");
    }
}

#[test]
fn what_is_found_by_its_name_without_a_mention_is_told() {
    let project = Project::of(&[
        ("conftest.py", "@pytest.fixture(scope=\"x\")\ndef client(): pass\n@other\ndef plain(): pass\n"),
        (
            "a.go",
            "package m\n\n//go:linkname now time.now\nfunc now() int\n\n//export Out\nfunc Out() {}\n\nfunc Total() {}\n\n\
             type Cart struct{}\n\nfunc (c Cart) Sum() {}\n\nfunc TestIt() {}\n",
        ),
        (
            "a_test.go",
            "package m\n\nfunc TestTotal() {}\nfunc Testify() {}\nfunc ExampleTotal_deep() {}\nfunc ExampleCart_Sum() {}\n",
        ),
    ]);
    for (id, is_found) in [
        ("conftest.py::client", true),
        ("conftest.py::plain", false),
        ("a.go::now", true),
        ("a.go::Out", true),
        ("a.go::Total", true),
        ("a.go::Cart", true),
        ("a.go::Cart.Sum", true),
        ("a.go::TestIt", false),
        ("a_test.go::TestTotal", true),
        ("a_test.go::Testify", false),
    ] {
        assert_eq!(project.target(id).found_by_name(&project).is_some(), is_found, "{id}");
    }
}

#[test]
fn an_import_of_go_is_told_by_the_end_of_its_path() {
    let text =
        "package a // strings\n\nimport (\n\t\"strings\"\n\t\"github.com/x/go-yaml/v3\"\n\tfmt \"x.io/log\"\n)\n";
    let project = Project::of(&[("a.go", text)]);
    let file = project.source("a.go").expect("there");
    for (name, line) in [("strings", Some(4)), ("yaml", Some(5)), ("github", None), ("fmt", Some(6)), ("log", None)] {
        assert_eq!(import_called(&file, name).map(|at| file.line(at)), line, "{name}");
    }
}

#[test]
fn other_files_add_to_interfaces_of_typescript() {
    let project = Project::of(&[
        ("b.ts", "export interface Opt {}\n"),
        ("a.ts", "import './b';\ndeclare module './b' { interface Opt { extra: number } }\n"),
        ("c.ts", "export {};\ndeclare module './d' { interface Opt {} }\ninterface Opt {}\n"),
        ("d.ts", "export interface Opt {}\n"),
        ("g.d.ts", "interface Global {}\n"),
        ("h.ts", "export {};\ndeclare global { interface Global { x: number } }\n"),
    ]);
    let added =
        |id: &str, path: &str| project.target(id).additions(&project, &project.source(path).expect("there")).len();
    assert_eq!([added("b.ts::Opt", "a.ts"), added("b.ts::Opt", "c.ts"), added("b.ts::Opt", "d.ts")], [1, 0, 0]);
    assert_eq!([added("g.d.ts::Global", "h.ts"), added("g.d.ts::Global", "a.ts")], [1, 0]);
}

#[test]
fn a_package_of_python_is_no_place_for_absolute_imports() {
    let queue = ("app/queue.py", "import queue\nclass Queue: pass\nqueue.Queue()\n");
    let jobs = (
        "app/jobs.py",
        "import queue\nfrom queue import Queue\nqueue.Queue()\nQueue()\nfrom .queue import Queue as Q\n",
    );
    let main = ("main.py", "from app.queue import Queue\n");
    let package = ("app/__init__.py", "");
    let project = Project::of(&[package, queue, jobs, main]);
    let found = ["app/jobs.py:2 name", "app/jobs.py:3 name", "app/jobs.py:4 name", "app/jobs.py:5 import"];
    let found: Vec<&str> = found.into_iter().chain(["main.py:1 import"]).collect();
    assert_eq!(project.mentions("app/queue.py::Queue"), found);
    // A program that is run from the package would find it.
    let target = project.target("app/queue.py::Queue");
    let possible = MentionFinder::new(&target, &project).of(&project.source("app/jobs.py").expect("a source"));
    assert_eq!(possible.iter().map(|one| one.is_possible).collect::<Vec<bool>>(), [true, true, true, false]);
    // Of the package itself it is the library's, too.
    let dump = ("lib/json/__init__.py", "import json as _json\ndef dump(): _json.dump()\n");
    let provider = ("lib/json/provider.py", "import json\njson.dump()\n");
    let files = [("lib/__init__.py", ""), dump, provider, ("main.py", "from lib import json\njson.dump()\n")];
    assert_eq!(mentions_in(&files, "lib/json/__init__.py::dump"), ["lib/json/provider.py:2 name", "main.py:2 import"]);
    // From the folder above the outermost package it is found.
    let (root, inner) = (("utils.py", "def helper(): pass\n"), ("pkg/utils.py", "def helper(): pass\n"));
    let a = ("pkg/sub/a.py", "from utils import helper\nhelper()\n");
    let files = [root, inner, a, ("pkg/__init__.py", ""), ("pkg/sub/__init__.py", "")];
    assert_eq!(mentions_in(&files, "utils.py::helper"), ["pkg/sub/a.py:1 import", "pkg/sub/a.py:2 import"]);
    assert_eq!(mentions_in(&files, "pkg/utils.py::helper"), Vec::<String>::new());
    // So it is with a package that is the workspace.
    let own = [("__init__.py", ""), root, ("sub/__init__.py", ""), ("sub/a.py", "from utils import helper\n")];
    assert_eq!(mentions_in(&own, "utils.py::helper"), ["sub/a.py:1 name"]);
}

#[test]
fn absolute_imports_of_python_are_found_from_folders_that_are_no_packages() {
    let text = "def helper(): pass\n";
    let uses = |module: &str| format!("from {module} import helper\nhelper()\n");
    for (home, user, module, packages) in [
        // A `src` layout, from the package and from tests beside it.
        ("src/pkg/a.py", "src/pkg/b.py", "pkg.a", &["src/pkg"][..]),
        ("src/pkg/a.py", "tests/test_a.py", "pkg.a", &["src/pkg"]),
        ("src/pkg/a.py", "tests/test_a.py", "pkg.a", &["src/pkg", "tests"]),
        ("pkg/a.py", "tests/unit/test_a.py", "pkg.a", &["pkg", "tests", "tests/unit"]),
        ("pkg/a.py", "pkg/tests/test_a.py", "pkg.a", &["pkg", "pkg/tests"]),
        ("tests/help.py", "tests/test_a.py", "tests.help", &["tests"]),
        ("tests/help.py", "tests/test_a.py", "help", &[]),
        // Packages without a file of their own.
        ("space/pkg/a.py", "space/pkg/b.py", "space.pkg.a", &[]),
        ("space/pkg/a.py", "space/pkg/b.py", "space.pkg.a", &["space/pkg"]),
        // Programs that are run from their folder, also with packages beside them.
        ("tools/a.py", "tools/b.py", "a", &[]),
        ("tools/pkg/a.py", "tools/b.py", "pkg.a", &["tools/pkg"]),
        ("one/app/a.py", "one/app/sub/b.py", "app.a", &["one/app", "one/app/sub"]),
        ("a.py", "b.py", "a", &[]),
    ] {
        let (used, made) = (uses(module), packages.iter().map(|folder| format!("{folder}/__init__.py")));
        let made: Vec<String> = made.collect();
        let files = [(home, text), (user, used.as_str())].into_iter();
        let files: Vec<(&str, &str)> = files.chain(made.iter().map(|path| (path.as_str(), ""))).collect();
        let want = [format!("{user}:1 import"), format!("{user}:2 import")];
        assert_eq!(mentions_in(&files, &format!("{home}::helper")), want, "{user}: {module}, {packages:?}");
    }
    // A folder of tests that is called like the package is not what they import.
    let files = [
        ("pkg/__init__.py", "def helper(): pass\n"),
        ("tests/pkg/test_a.py", ""),
        ("tests/test_b.py", "from pkg import helper\n"),
    ];
    assert_eq!(mentions_in(&files, "pkg/__init__.py::helper"), ["tests/test_b.py:1 import"]);
    // Nor does a file that is no package hold what lies in the folder above.
    let files = [("a.py", ""), ("b.py", "def helper(): pass\n"), ("c.py", "from a import b\nb.helper()\n")];
    assert_eq!(mentions_in(&files, "b.py::helper"), ["c.py:2 name"]);
}

#[test]
fn uses_by_a_name_that_another_file_hands_on_are_mentions() {
    let rust = Project::of(&[
        (
            "src/lib.rs",
            "pub mod money;\npub mod user;\npub use money::{sum as total};\npub use self::total as grand;\nuse money::sum as own;\n\
             fn f() { crate::total(); own(); }\n",
        ),
        ("src/money.rs", "pub fn sum() {}\n"),
        (
            "src/user.rs",
            "use crate::total;\nuse crate::grand as g;\npub fn f() { total(); crate::total(); g(); }\nfn h(total: u8, own: u8) { total; own; x.total(); }\n",
        ),
        ("src/other.rs", "fn total() {}\nfn f() { total(); grand(); }\n"),
    ]);
    let found = rust.mentions("src/money.rs::sum");
    let count = |place: &str| found.iter().filter(|one| *one == place).count();
    let want = [
        ("src/lib.rs:3 import", 1),
        ("src/lib.rs:4 import", 1),
        ("src/lib.rs:5 import", 1),
        ("src/lib.rs:6 import", 2),
        ("src/user.rs:1 import", 1),
        ("src/user.rs:2 import", 1),
        ("src/user.rs:3 import", 3),
    ];
    assert!(want.iter().all(|(place, n)| count(place) == *n) && found.len() == 10, "{found:?}");
    let python = Project::of(&[
        ("pkg/__init__.py", "from .money import add as plus\ndef f():\n    from .money import add as inner\n"),
        ("pkg/money.py", "def add(): pass\n"),
        ("main.py", "from pkg import plus\nimport pkg\nplus(pkg.plus(), x.plus())\ndef inner(plus): plus()\n"),
    ]);
    let found = ["main.py:1 import", "main.py:3 import", "main.py:3 import"].into_iter();
    let found: Vec<&str> = found.chain(["pkg/__init__.py:1 import", "pkg/__init__.py:3 import"]).collect();
    assert_eq!(python.mentions("pkg/money.py::add"), found);
    let script = Project::of(&[
        ("index.ts", "export { mul as times, default as paint } from './m';\n"),
        (
            "m.ts",
            "export function mul() {}\nexport default function draw() {}\nfunction one() {}\nexport { one as two };\n",
        ),
        (
            "u.ts",
            "import { times, paint } from './index';\nimport * as x from './index';\ntimes(x.times());\npaint();\n",
        ),
        ("v.ts", "import { times } from 'other';\nimport { two } from './m';\ntimes(two(y.times()));\n"),
    ]);
    let times = ["index.ts:1 import", "u.ts:1 import", "u.ts:3 import", "u.ts:3 import"];
    assert_eq!(script.mentions("m.ts::mul"), times);
    assert_eq!(script.mentions("m.ts::draw"), ["index.ts:1 import", "u.ts:1 import", "u.ts:4 import"]);
    assert_eq!(script.mentions("m.ts::one"), ["m.ts:4 local", "v.ts:2 import", "v.ts:3 import"]);
    // A rename leaves them, and the files that hold them are read.
    let target = script.target("m.ts::mul");
    let finder = MentionFinder::new(&target, &script);
    assert_eq!(finder.words(), ["mul", "times"]);
    assert!(finder.of(&script.source("u.ts").expect("a source")).iter().all(|one| one.is_alias));
    // Two exports of a file that trade their names.
    let traded = [
        ("a.ts", "export { x as y, y as x } from './b';\n"),
        ("b.ts", "export function x() {}\nexport function y() {}\n"),
        ("c.ts", "import { x } from './a';\nx();\n"),
    ];
    assert_eq!(mentions_in(&traded, "b.ts::y"), ["a.ts:1 import", "c.ts:1 import", "c.ts:2 import"]);
    assert_eq!(mentions_in(&traded, "b.ts::x"), ["a.ts:1 import"]);
}

#[test]
fn a_function_of_rust_that_is_given_types_is_mentioned() {
    let text = "fn size<T>() -> usize { 1 }\nstruct Bag<T>(T);\nimpl<T> Bag<T> { fn make<U>() {} }\n\
                fn f() {\n    println!(\"{}\", size::<u8>());\n    let n = size::<u16>() + size::<u8>();\n    let f = size::<u32>;\n\
                \x20   Bag::<u8>::make::<u8>();\n    assert!(Bag::<u8>(1));\n}\nmod made { pub fn g() { made::<u8>(); self::made::<u8>(); } pub fn made<T>() {} }\n\
                fn h() { made::g(); made::made::<u8>(); }\n";
    let project = Project::of(&[("src/lib.rs", text)]);
    let size = ["src/lib.rs:5 local", "src/lib.rs:6 local", "src/lib.rs:6 local", "src/lib.rs:7 local"];
    assert_eq!(project.mentions("src/lib.rs::size"), size);
    assert_eq!(project.mentions("src/lib.rs::Bag.make"), ["src/lib.rs:8 local"]);
    assert_eq!(project.mentions("src/lib.rs::Bag"), ["src/lib.rs:3 local", "src/lib.rs:8 local", "src/lib.rs:9 local"]);
    let made = ["src/lib.rs:11 local", "src/lib.rs:11 local", "src/lib.rs:12 local"];
    assert_eq!(project.mentions("src/lib.rs::made.made"), made);
    assert_eq!(project.mentions("src/lib.rs::made"), ["src/lib.rs:12 local", "src/lib.rs:12 local"]);
}

/// The lines of a file that may mean a definition, though only its name says so.
fn possible(project: &Project, id: &str, path: &str) -> Vec<usize> {
    let (target, file) = (project.target(id), project.source(path).expect("a source"));
    let found = MentionFinder::new(&target, project).of(&file).into_iter();
    found.filter(|one| one.is_possible).map(|one| file.line(one.at.start)).collect()
}

#[test]
fn a_name_alone_in_the_call_of_a_macro_may_be_what_the_macro_makes_of_it() {
    let text = "struct Cart { goods: u32 }\nenum Kind { Small }\nstruct Small;\n\
                sum_of!(Cart: goods, fee);\n\
                fn shown(c: &Cart) { show!(c, goods); call!(c, grand); mk!(Kind, Small); }\n\
                impl Cart { fn grand(&self) -> u32 { self.goods } }\n\
                fn f(goods: u32) {\n    assert_eq!(goods, vec![goods].len());\n    println!(\"{}\", show!(c, goods));\n\
                \x20   vec![Cart { goods }, Cart { goods: 1 }];\n    ensure!(Small::new(), small(), total());\n}\nfn small() {}\n";
    let other = ("src/other.rs", "fn total() {}\nfn g() { run!(total) }\n");
    let project = Project::of(&[("src/lib.rs", text), other, ("src/far.rs", "fn g() { run!(total, Cart: 1) }\n")]);
    let goods = [
        "src/lib.rs:4 name",
        "src/lib.rs:5 name",
        "src/lib.rs:6 local",
        "src/lib.rs:9 name",
        "src/lib.rs:10 name",
        "src/lib.rs:10 name",
    ];
    assert_eq!(project.mentions("src/lib.rs::Cart.goods"), goods);
    assert_eq!(project.mentions("src/lib.rs::Cart.grand"), ["src/lib.rs:5 name"]);
    assert_eq!(project.mentions("src/lib.rs::Kind.Small"), ["src/lib.rs:5 name"]);
    // A structure and a variant have the name.
    assert_eq!(project.mentions("src/lib.rs::Small"), ["src/lib.rs:5 name", "src/lib.rs:11 local"]);
    let cart = project.mentions("src/lib.rs::Cart");
    assert_eq!(cart[..3], ["src/far.rs:1 name", "src/lib.rs:4 name", "src/lib.rs:5 local"]);
    assert_eq!(project.mentions("src/lib.rs::small"), ["src/lib.rs:11 local"]);
    // What nothing else explains holds a removal.
    let total = ["src/far.rs:1 name", "src/lib.rs:11 name", "src/other.rs:2 name"];
    assert_eq!(project.mentions("src/other.rs::total"), total);
    assert_eq!(possible(&project, "src/lib.rs::Kind.Small", "src/lib.rs"), Vec::<usize>::new());
    assert_eq!(possible(&project, "src/lib.rs::Cart.grand", "src/lib.rs"), [5]);
    assert_eq!(possible(&project, "src/lib.rs::Cart", "src/lib.rs"), [4]);
    assert_eq!(possible(&project, "src/other.rs::total", "src/far.rs"), [1]);
}

#[test]
fn a_name_that_two_globs_bring_is_none_of_both_for_certain() {
    let lib = "mod swar { pub fn find() {} pub fn only() {} fn own() {} }\nmod fast { pub fn find() {} pub fn own() {} }\n\
               #[cfg(not(unix))]\nuse swar::*;\n#[cfg(unix)]\nuse fast::*;\n\
               fn f() { find(); only(); swar::find(); }\n";
    let project = Project::of(&[("src/lib.rs", lib), ("src/x.rs", "fn g() { crate::find(); }\n")]);
    let swar = ["src/lib.rs:7 name", "src/lib.rs:7 local", "src/x.rs:1 name"];
    assert_eq!(project.mentions("src/lib.rs::swar.find"), swar);
    assert_eq!(project.mentions("src/lib.rs::fast.find"), ["src/lib.rs:7 name", "src/x.rs:1 name"]);
    assert_eq!(project.mentions("src/lib.rs::swar.only"), ["src/lib.rs:7 local"]);
    assert_eq!(possible(&project, "src/lib.rs::fast.find", "src/lib.rs"), [7]);
    // So it is with a definition or an import under a condition.
    for own in ["#[cfg(a)]\nfn find() {}\n", "#[cfg(a)]\nuse slow::find;\n"] {
        let lib = format!(
            "mod slow {{ pub fn find() {{}} }}\nmod fast {{ pub fn find() {{}} }}\n{own}\
             #[cfg(not(a))]\nuse fast::*;\nfn f() {{ find(); }}\n"
        );
        let project = Project::of(&[("src/lib.rs", &lib), ("src/x.rs", "fn g() { crate::find(); }\n")]);
        assert_eq!(project.mentions("src/lib.rs::fast.find"), ["src/lib.rs:7 name", "src/x.rs:1 name"], "{own}");
        let always = Project::of(&[("src/lib.rs", &lib.replace("#[cfg(a)]\n", "\n"))]);
        assert_eq!(always.mentions("src/lib.rs::fast.find"), Vec::<String>::new(), "{own}");
    }
    // What is private is brought nowhere else, and a module is told from a function.
    let project = Project::of(&[
        ("src/lib.rs", "pub mod a;\npub mod b;\nmod c;\n#[cfg(x)]\nmod own;\npub use a::*;\n"),
        ("src/a.rs", "fn help() {}\npub fn own() {}\n"),
        ("src/b.rs", "pub fn help() {}\n"),
        ("src/c.rs", "use crate::a::*;\nuse crate::b::*;\nfn f() { help(); crate::own::x(); crate::own(); }\n"),
        ("src/own.rs", "pub fn x() {}\n"),
    ]);
    assert_eq!(project.mentions("src/b.rs::help"), ["src/c.rs:3 import"]);
    assert_eq!(project.mentions("src/own.rs::x"), ["src/c.rs:3 import"]);
    assert_eq!(project.mentions("src/lib.rs::own"), ["src/c.rs:3 import"]);
    assert_eq!(project.mentions("src/a.rs::own"), ["src/c.rs:3 import"]);
    // Two files of TypeScript that hand on one name.
    let script = Project::of(&[
        ("a.ts", "export function f() {}\n"),
        ("b.ts", "export function f() {}\n"),
        ("index.ts", "export * from './a';\nexport * from './b';\n"),
        ("c.ts", "import { f } from './index';\n"),
    ]);
    assert_eq!(script.mentions("a.ts::f"), ["c.ts:1 name"]);
    assert_eq!(script.mentions("b.ts::f"), ["c.ts:1 name"]);
}

#[test]
fn a_stub_of_python_and_its_source_are_one_module() {
    let project = Project::of(&[
        ("pkg/__init__.py", "from ._make import A\n"),
        ("pkg/__init__.pyi", "class A: ...\nclass Only: ...\n"),
        ("pkg/_make.py", "class A: pass\n"),
        ("pkg/filters.pyi", "from . import A, Only\nfrom ._make import A as B\ndef f(a: A) -> A: ...\n"),
        ("pkg/filters.py", "from . import A\n"),
        ("use.py", "import pkg\nfrom pkg import A\nA(pkg.A, x.A)\n"),
        ("stubs/__init__.pyi", "class C: ...\n"),
        ("stubs/a.pyi", "from . import C\n"),
    ]);
    let stub = [
        "pkg/filters.py:1 name",
        "pkg/filters.pyi:1 import",
        "pkg/filters.pyi:3 import",
        "pkg/filters.pyi:3 import",
        "use.py:2 name",
        "use.py:3 name",
        "use.py:3 name",
    ];
    assert_eq!(project.mentions("pkg/__init__.pyi::A"), stub);
    let source = [
        "pkg/__init__.py:1 import",
        "pkg/filters.py:1 import",
        "pkg/filters.pyi:1 name",
        "pkg/filters.pyi:2 import",
        "pkg/filters.pyi:3 name",
        "pkg/filters.pyi:3 name",
        "use.py:2 import",
        "use.py:3 import",
        "use.py:3 import",
    ];
    assert_eq!(project.mentions("pkg/_make.py::A"), source);
    assert_eq!(possible(&project, "pkg/_make.py::A", "pkg/filters.pyi"), [1, 3, 3]);
    assert_eq!(project.mentions("pkg/__init__.pyi::Only"), ["pkg/filters.pyi:1 import"]);
    assert_eq!(project.mentions("stubs/__init__.pyi::C"), ["stubs/a.pyi:1 import"]);
    let bound = |path: &str| bound_in_module(&project.source(path).expect("a source"), "A").len();
    assert_eq!(["pkg/__init__.py", "pkg/__init__.pyi", "use.py", "stubs/a.pyi"].map(bound), [1, 1, 1, 0]);
}

#[test]
fn texts_of_python_that_are_code_are_mentions() {
    let a = "import typing as t\nfrom typing import Literal, TypeVar\nclass Node:\n    def next(self, n: \"list[Node]\") -> \"Node\": pass\n\
             __all__ = [\"Node\", \"late\"]\nT = TypeVar(\"T\", bound=\"Node\")\nAny = t.Union[str, \"Node\"]\n\
             x = t.cast(\"Node | None\", x)\nclass Row(namedtuple(\"Row\", \"Node\")): pass\n";
    let none = "def f(a: Literal[\"Node\"], b: \"Literal['Node']\" = \"Node\"):\n    \"\"\"Node\"\"\"\n    log(\"Node\", d[\"Node\"], f\"Node\")\n\
                def g(Node, b: \"other.Node\"): pass\nU = make(\"Node\")\n";
    let b = "import a\nfrom a import Node\n__all__ = (\"Node\",)\n__all__ += [\"Node\"]\n__all__.extend([\"Node\"])\n\
             def f(x: \"a.Node\", y: Box[\"Node\"]): pass\nx: t.Annotated[int, \"Node\"]\nB = Box[\"Node\"]\n";
    let project =
        Project::of(&[("a.py", a), ("none.py", &format!("from a import Node\nimport other\n{none}")), ("b.py", b)]);
    let found = project.mentions("a.py::Node");
    let of = |path: &str| -> Vec<String> {
        found.iter().filter_map(|one| one.strip_prefix(path)).map(str::to_owned).collect()
    };
    assert_eq!(of("a.py:"), ["4 local", "4 local", "5 local", "6 local", "7 local", "8 local"]);
    assert_eq!(of("none.py:"), ["1 import"]);
    assert_eq!(
        of("b.py:"),
        ["2 import", "3 import", "4 import", "5 import", "6 import", "6 import", "7 name", "8 name"]
    );
    assert_eq!(project.mentions("a.py::T"), ["a.py:6 local"]);
    assert_eq!(project.mentions("a.py::Row"), ["a.py:9 local"]);
    // What a list names and nothing binds there may be found in another way.
    let lazy = [
        ("p/__init__.py", "__all__ = [\"late\", \"os\"]\nimport os\n"),
        ("p/b.py", "def late(): pass\ndef os(): pass\n"),
    ];
    assert_eq!(mentions_in(&lazy, "p/b.py::late"), ["p/__init__.py:1 name"]);
    assert_eq!(mentions_in(&lazy, "p/b.py::os"), Vec::<String>::new());
}

#[test]
fn what_a_function_of_python_deletes_or_is_given_is_its_own() {
    let text = "total = 1\nclass Shape:\n    total = 5\n    def both(self, total): return [total for total in total]\n    own = 1\n    del own\n\
                def f():\n    del total\n    return total\ndef g():\n    del (a, total), b\n    return total\ndef h():\n    global total\n    del total\n\
                def i():\n    del total.x, total[0]\n";
    let project = Project::of(&[("a.py", text)]);
    let total = ["a.py:14 local", "a.py:15 local", "a.py:17 local", "a.py:17 local"];
    assert_eq!(project.mentions("a.py::total"), total);
    assert_eq!(project.mentions("a.py::Shape.total"), Vec::<String>::new());
    assert_eq!(project.mentions("a.py::Shape.own"), ["a.py:6 local"]);
}

#[test]
fn a_field_and_what_it_is_given_under_one_name_read_what_the_scope_gives() {
    for path in ["a.ts", "a.tsx"] {
        let project = Project::of(&[
            (
                path,
                "const save = () => 2;\nlet total = 0;\nexport const api = { save, total };\n\
                 function f(x: any) {\n  const { save } = x;\n  return { save };\n}\n\
                 function g(x: any, { save, total = 1 }: any) { return { save, total }; }\n\
                 function h(x: any) {\n  ({ total } = x);\n  ({ total = 3 } = x);\n  [{ a: { total } }] = x;\n}\n\
                 function i({ a = save, b = { save } }: any) { return { save: 1, total: a.save, [total]: save }; }\n\
                 class K { save = save; m() { return { ...this, save }; } }\n",
            ),
            ("u.ts", "import { api } from './a';\nexport const use = (save: number) => ({ save, b: api.save });\n"),
        ]);
        let at = |lines: &[usize]| -> Vec<String> { lines.iter().map(|line| format!("{path}:{line} local")).collect() };
        assert_eq!(project.mentions(&format!("{path}::save")), at(&[3, 14, 14, 14, 15, 15]));
        assert_eq!(project.mentions(&format!("{path}::total")), at(&[3, 10, 11, 12, 14]));
        // The field itself is told by its name alone.
        let of_field = project.mentions(&format!("{path}::K.save"));
        assert!(!of_field.is_empty() && of_field.iter().all(|one| one.ends_with(" name")), "{of_field:?}");
    }
    let imported = Project::of(&[
        ("a.ts", "export function load() {}\nexport interface Part {}\n"),
        (
            "b.ts",
            "import { load } from './a';\nimport { load as get } from './a';\nexport const api = { load, get };\nexport { load };\n",
        ),
        ("d.tsx", "import { load } from './a';\nexport const D = () => <b {...{ load }} />;\n"),
        ("c.ts", "import { Part } from './a';\nexport const f = (Part: number) => ({ Part });\n"),
    ]);
    let found = [
        "b.ts:1 import",
        "b.ts:2 import",
        "b.ts:3 import",
        "b.ts:3 import",
        "b.ts:4 import",
        "d.tsx:1 import",
        "d.tsx:2 import",
    ];
    assert_eq!(imported.mentions("a.ts::load"), found);
    assert_eq!(imported.mentions("a.ts::Part"), ["c.ts:1 import"]);
}

#[test]
fn a_field_of_a_literal_of_rust_reads_what_the_scope_gives() {
    let rust = Project::of(&[(
        "src/lib.rs",
        "struct C { size: fn() -> u8 }\nfn size() -> u8 { 1 }\nfn a() -> C { C { size } }\n\
         fn b(size: fn() -> u8) -> C { C { size } }\nfn c(c: C) -> u8 { let C { size } = c; size() }\n\
         fn d() { vec![C { size }]; }\n",
    )]);
    assert_eq!(rust.mentions("src/lib.rs::size"), ["src/lib.rs:3 local", "src/lib.rs:6 name"]);
    let of_field = rust.mentions("src/lib.rs::C.size");
    assert_eq!(of_field, [3, 4, 5, 6].map(|line| format!("src/lib.rs:{line} name")));
}

#[test]
fn the_names_of_arguments_and_of_keys_are_no_mentions_of_what_they_are_given() {
    let python =
        Project::of(&[("a.py", "def save(): pass\ndef f(x): pass\nf(save=1)\nf(save=save)\ndict(save=save)\n")]);
    assert_eq!(python.mentions("a.py::save"), ["a.py:4 local", "a.py:5 local"]);
    let go = Project::of(&[(
        "a.go",
        "package p\n\ntype T struct{ size func() }\n\nfunc size() {}\n\nvar t = T{size: size}\n",
    )]);
    assert_eq!(go.mentions("a.go::size"), ["a.go:7 local"]);
}
