//! The imports between files: no circle of files, and in `agent/` no file that names what lives shorter than itself.
//!
//! Imports are read from the text: `use` trees and paths that begin with `crate::`, `super::`, `self::` or a child. A
//! name that a `mod.rs` hands on (`pub use`) counts as its file's own. Comments and `mod tests` are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::rules::without_tests;

/// Circles that still stand: each lies wholly within one group of files or folders. One that is gone leaves this list.
const STANDING: &[&[&str]] = &[];

/// The lives of the files of `agent/`, longest first; a file may name its own line and those above it. The
/// longest place that holds a file counts.
const LIVES: &[&[&str]] = &[
    // The process.
    &["services", "background"],
    // A session.
    &["session"],
    // A change on its way to the disk, a question of a front end.
    &["change", "query"],
    // A turn.
    &["turn"],
    // A step.
    &["turn/step"],
    // What starts them: a turn its steps, `begin` and an actor its turns, the supervisor its actors.
    &["turn/mod.rs"],
    &["begin.rs"],
    &["actor.rs"],
    &["supervisor.rs"],
    &["start.rs"],
    &["mod.rs"],
];

/// The types that a step sends and receives. A turn makes it, and so does the draft of a commit, which asks beside every turn: a
/// file that lives longer would have to be gone back to for it.
const OF_A_STEP: &[&str] = &["Request", "Delta", "Deltas", "Answer"];
const STEPS: &[&str] = &["agent/turn", "agent/query/commit.rs"];

/// The files that use memory on their own thread: those that carry a change out, and those that read archive and memory
/// together. Everything else of the agent asks memory's own thread.
const STORES: &[&str] = &[
    "agent/change",
    "agent/background/adopt.rs",
    "agent/background/maintenance.rs",
    "agent/background/moved.rs",
    "agent/query/past.rs",
    "agent/query/undone.rs",
    "agent/background/review.rs",
    "agent/turn/step/tool_run/store_change.rs",
];

type Names = Vec<String>;

/// The sources below `src` as a graph: each file with the files it names.
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut texts = BTreeMap::new();
    read(&root, &root, &mut texts);
    let modules: BTreeMap<Names, String> = texts.keys().map(|path| (module(path), path.clone())).collect();
    let mut handed_on = BTreeMap::new();
    let mut named = BTreeMap::new();
    for (path, text) in &texts {
        let own = module(path);
        let mut names = Vec::new();
        for (public, tree) in uses(text) {
            for found in leaves(&tree).iter().filter_map(|leaf| absolute(&own, leaf, &modules)) {
                match found.last().filter(|_| public) {
                    Some(last) => drop(handed_on.insert((own.clone(), last.clone()), found.clone())),
                    None => names.push(found),
                }
            }
        }
        names.extend(paths(&without_uses(text)).iter().filter_map(|path| absolute(&own, path, &modules)));
        named.insert(path.clone(), names);
    }
    let resolve = |names: &Names| {
        let mut names = names.clone();
        for _ in 0..8 {
            let at = (0..=names.len()).rev().find(|at| modules.contains_key(&names[..*at]))?;
            let (own, rest) = (names[..at].to_vec(), names[at..].to_vec());
            match rest.first().and_then(|first| handed_on.get(&(own.clone(), first.clone()))) {
                Some(target) => names = target.iter().chain(&rest[1..]).cloned().collect(),
                None => return modules.get(&own).cloned(),
            }
        }
        None
    };
    let files = named.into_iter().map(|(path, names)| {
        let targets = names.iter().filter_map(resolve).filter(|target| *target != path).collect();
        (path, targets)
    });
    files.collect()
}

fn read(root: &Path, dir: &Path, out: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read(root, &path, out);
            continue;
        }
        let name = path.strip_prefix(root).expect("below src").to_string_lossy().replace('\\', "/");
        let starts = ["main.rs", "lib.rs"].contains(&name.as_str()) || name.starts_with("bin/");
        let tests = name.contains("tests/") || name.ends_with("tests.rs");
        if name.ends_with(".rs") && !starts && !tests {
            let text = fs::read_to_string(&path).expect("a readable source");
            let text = without_tests(&text);
            let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
            out.insert(name, without_scopes(&code.collect::<Vec<_>>().join("\n")));
        }
    }
}

/// The text with `pub(in PATH)` as `pub`: who may see a name is not what its file names.
fn without_scopes(text: &str) -> String {
    let mut parts = text.split("pub(in ");
    let mut code = parts.next().unwrap_or_default().to_string();
    for part in parts {
        code.extend(["pub", part.split_once(')').map_or("", |(_, rest)| rest)]);
    }
    code
}

/// The module that a file is: `a/b.rs` and `a/b/mod.rs` are `a::b`.
fn module(path: &str) -> Names {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').map(str::to_string).collect()
}

/// The `use` trees of a text, and whether they are handed on.
pub fn uses(text: &str) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = text[line..at].trim();
        if before.is_empty() || before == "pub" || (before.starts_with("pub(") && before.ends_with(')')) {
            let tree = text[at + 4..].split(';').next().unwrap_or_default();
            found.push((!before.is_empty(), tree.to_string()));
        }
    }
    found
}

/// The text without its `use` trees.
pub fn without_uses(text: &str) -> String {
    let mut text = text.to_string();
    for (_, tree) in uses(&text.clone()) {
        text = text.replacen(&format!("use {tree};"), "", 1);
    }
    text
}

/// The paths at the ends of a `use` tree.
pub fn leaves(tree: &str) -> Vec<Names> {
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![path.split("::").map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect()];
    };
    let before: Names =
        tree[..open].split("::").map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect();
    let inside = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let (mut depth, mut part, mut parts) = (0, String::new(), Vec::new());
    for c in inside.chars() {
        match c {
            ',' if depth == 0 => parts.push(std::mem::take(&mut part)),
            c => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                part.push(c);
            }
        }
    }
    parts.push(part);
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| leaves(part)).map(|leaf| before.iter().cloned().chain(leaf).collect()).collect()
}

/// Paths in the code itself.
fn paths(text: &str) -> Vec<Names> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (at, _) in text.match_indices("::") {
        let start = text[..at].rfind(|c| !word(c)).map_or(0, |end| end + 1);
        if start == at || text[..start].ends_with("::") {
            continue;
        }
        let end = text[at..].find(|c| !word(c) && c != ':').map_or(text.len(), |end| at + end);
        found.push(text[start..end].split("::").map(str::to_string).filter(|name| !name.is_empty()).collect());
    }
    found
}

/// A path from the crate's root; none: it leads out of the crate.
fn absolute(own: &Names, path: &Names, modules: &BTreeMap<Names, String>) -> Option<Names> {
    let first = path.first()?;
    let (base, rest): (&[String], &[String]) = match first.as_str() {
        "crate" => (&[], &path[1..]),
        "self" => (own, &path[1..]),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            (&own[..own.len().checked_sub(up)?], &path[up..])
        }
        _ => {
            let child: Names = own.iter().chain([first]).cloned().collect();
            modules.contains_key(&child).then_some(())?;
            (own, path)
        }
    };
    Some(base.iter().chain(rest).cloned().collect())
}

/// The groups of files that can be reached from each other.
fn circles(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let reached = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(file) = open.pop() {
            for next in graph.get(file).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|file| (file, reached(file))).collect();
    let mut found: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (file, there) in &reach {
        if there.contains(*file) {
            let back = |other: &&String| reach.get(*other).is_some_and(|from| from.contains(*file));
            found.insert(there.iter().filter(back).cloned().collect());
        }
    }
    found.into_iter().collect()
}

/// Returns whether a file is a place, or lies in it.
pub fn is_in(file: &str, place: &str) -> bool {
    file == place || file.strip_prefix(place).is_some_and(|rest| rest.starts_with('/'))
}

#[test]
fn no_files_name_each_other_in_a_circle() {
    let circles = circles(&graph());
    let within = |circle: &BTreeSet<String>, group: &[&str]| {
        circle.iter().all(|file| group.iter().any(|place| is_in(file, place)))
    };
    let new: Vec<_> = circles.iter().filter(|circle| !STANDING.iter().any(|group| within(circle, group))).collect();
    assert!(new.is_empty(), "these files name each other in a circle: {new:#?}");
    let gone: Vec<_> = STANDING.iter().filter(|group| !circles.iter().any(|circle| within(circle, group))).collect();
    assert!(gone.is_empty(), "no circle is left in {gone:?}: take it from the list");
}

#[test]
fn the_agent_names_only_what_lives_as_long() {
    let (mut broken, files) = (Vec::new(), graph());
    for place in LIVES.iter().copied().flatten() {
        let there = files.keys().filter_map(|file| file.strip_prefix("agent/")).any(|file| is_in(file, place));
        assert!(there, "agent/{place} is not there");
    }
    let life = |file: &str| {
        let inside = file.strip_prefix("agent/")?;
        let places = LIVES.iter().enumerate().flat_map(|(at, line)| line.iter().map(move |place| (place, at)));
        let holding = places.filter(|(place, _)| is_in(inside, place));
        holding.max_by_key(|(place, _)| place.len()).map(|(_, at)| at)
    };
    for (file, names) in files {
        if !file.starts_with("agent/") {
            continue;
        }
        let Some(own) = life(&file) else {
            broken.push(format!("{file} is not in the table"));
            continue;
        };
        let shorter = names.iter().filter(|name| life(name).is_some_and(|other| other > own));
        broken.extend(shorter.map(|name| format!("{file} names {name}")));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn what_a_step_sends_is_made_in_a_turn() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut texts = BTreeMap::new();
    read(&root, &root, &mut texts);
    let (mut broken, mut made) = (Vec::new(), BTreeSet::<&str>::new());
    for (file, text) in texts.iter().filter(|(file, _)| file.starts_with("agent/")) {
        let named: Vec<Names> = uses(text).iter().flat_map(|(_, tree)| leaves(tree)).collect();
        let named = named.iter().filter(|path| path.starts_with(&["crate".into(), "provider".into()]));
        let of_a_step: Vec<_> = named.filter_map(|p| p.last()).filter(|n| OF_A_STEP.contains(&n.as_str())).collect();
        match STEPS.iter().find(|place| is_in(file, place)) {
            Some(place) => made.extend(of_a_step.first().map(|_| place)),
            None => broken.extend(of_a_step.iter().map(|name| format!("{file} names provider::{name}"))),
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert_eq!(made.len(), STEPS.len(), "only {made:?} name what is sent");
}

#[test]
fn only_what_carries_changes_out_uses_memory_beside_its_thread() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut texts = BTreeMap::new();
    read(&root, &root, &mut texts);
    let uses = |text: &str, call: &str| text.split_whitespace().collect::<String>().contains(call);
    let agent = || texts.iter().filter(|(file, _)| file.starts_with("agent/"));
    let direct: Vec<_> = agent().filter(|(_, text)| uses(text, "memory.sync()")).map(|(file, _)| file).collect();
    assert_eq!(direct, ["agent/services/mod.rs"], "ask memory's thread, or take `Services::stores`");
    let stores = agent().filter(|(_, text)| [".stores()", ".with_stores("].iter().any(|call| uses(text, call)));
    let stores: Vec<_> = stores.map(|(file, _)| file).collect();
    let broken: Vec<_> = stores.iter().filter(|f| !STORES.iter().any(|p| is_in(f, p))).collect();
    assert!(broken.is_empty(), "{broken:?} use the stores: ask memory's thread");
    let idle: Vec<_> = STORES.iter().filter(|p| !stores.iter().any(|f| is_in(f, p))).collect();
    assert!(idle.is_empty(), "{idle:?} use no stores any more: take them off the list");
}

#[test]
fn a_circle_is_found_through_what_a_module_hands_on() {
    assert_eq!(leaves("crate::a::{self, b::{C, D as E}, f}").len(), 4);
    let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")];
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in edges {
        graph.entry(from.into()).or_default().insert(to.into());
    }
    let found = circles(&graph);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].iter().cloned().collect::<String>(), "abc");
}
