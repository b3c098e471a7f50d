//! Mentions in small projects with an answer key, and in texts of a few lines.

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
}

impl Project {
    fn of(files: &[(&str, &str)]) -> Project {
        let texts: BTreeMap<String, String> =
            files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        let paths = texts.keys().filter(|path| SourceLanguage::of_path(path).is_some()).cloned().collect();
        Project { texts, paths }
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
        let mut found = Vec::new();
        for path in &self.paths {
            let file = self.source(path).expect("a source");
            let all = mentions(&target, &file, self);
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
        SourceFile::read(path, self.texts.get(path)?.as_bytes()).ok().map(Rc::new)
    }

    fn text(&self, path: &str) -> Option<String> {
        self.texts.get(path).cloned()
    }
}

/// The identifiers of a file that its answer key speaks of, each with what it means.
fn answers(file: &SourceFile, names: &BTreeSet<String>, faults: &mut Vec<String>) -> BTreeMap<usize, String> {
    let mut found = BTreeMap::new();
    let mut leaves: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for leaf in names.iter().flat_map(|name| binding::leaves(file, name)) {
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
    let names: BTreeSet<String> = targets.iter().map(|target| target.node().name.clone()).collect();
    let mut score = Score::default();
    for path in &project.paths {
        let file = project.source(path).expect("a source");
        let answers = answers(&file, &names, &mut score.faults);
        for target in &targets {
            let id = target.file.id(target.at);
            score.all += answers.values().filter(|own| **own == id).count();
            let found = mentions(target, &file, &project);
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
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("README.md");
    let missing: Vec<&String> = rows.iter().filter(|row| !readme.contains(*row)).collect();
    assert!(missing.is_empty(), "the README has other figures:\n{}", rows.join("\n"));
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
