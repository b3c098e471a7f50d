//! Edits end to end: from what a model wrote to the bytes of the files.
//!
//! A case of the corpus is a folder of `fixtures/edits`: `before/` and `after/` hold the files, `edit` what the model
//! wrote, `case` says how it is read (`format: xml`, `end: cut`, `rungs: exact, inexact`), and each line of
//! `miss` must stand in what the model is told. Each is read in many chunkings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nebula::edit::stream::{End, Known, Parser, Piece};
use nebula::edit::{self, Current, Edit, Fate, Format, Outcome, Rules, calls};
use nebula::proposal::State;

/// Files by path.
type Files = BTreeMap<String, Vec<u8>>;

/// What an answer comes to.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    prose: String,
    edits: Vec<Edit>,
    /// What could not be used, and why.
    broken: Vec<String>,
    /// The growth of each edit, joined by part.
    growth: BTreeMap<usize, BTreeMap<String, String>>,
}

fn known(files: &Files) -> Vec<Known> {
    let text = |bytes: &[u8]| Arc::from(edit::bytes::decode(bytes).1.as_ref());
    files.iter().map(|(path, bytes)| Known { path: path.clone(), text: text(bytes) }).collect()
}

/// Reads an answer that arrives in these pieces.
fn answer<'t>(chunks: impl Iterator<Item = &'t str>, expected: Option<Format>, files: &Files, end: End) -> Answer {
    let mut parser = Parser::new(expected, known(files));
    let mut pieces: Vec<Piece> = chunks.flat_map(|chunk| parser.push(chunk)).collect();
    pieces.extend(parser.finish(end));
    let mut answer = Answer::default();
    for piece in pieces {
        match piece {
            Piece::Prose(text) => answer.prose.push_str(&text),
            Piece::EditDone { edit, .. } => answer.edits.push(edit),
            Piece::EditDropped { why, .. } | Piece::BrokenCall { why, .. } => answer.broken.push(why),
            Piece::Call { name, arguments } => match calls::edits(&name, &arguments) {
                Some(Ok(edits)) => answer.edits.extend(edits),
                Some(Err(why)) => answer.broken.push(why),
                None => answer.prose.push_str(&format!("[{name} {arguments}]")),
            },
            Piece::EditStarted { .. } => {}
            Piece::EditGrew { id, part, text } => {
                answer.growth.entry(id.0).or_default().entry(format!("{part:?}")).or_default().push_str(&text);
            }
        }
    }
    answer
}

/// The same in pieces of so many characters.
fn answer_by(text: &str, size: usize, expected: Option<Format>, files: &Files, end: End) -> Answer {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(size).chain([text.len()]).collect();
    answer(starts.windows(2).map(|w| &text[w[0]..w[1]]), expected, files, end)
}

/// Reads an answer whole and in many chunkings, which must make no difference.
fn answer_any(name: &str, text: &str, expected: Option<Format>, files: &Files, end: End) -> Answer {
    let whole = answer([text].into_iter(), expected, files, end);
    for size in [1, 2, 3, 5, 17, 64] {
        assert_eq!(answer_by(text, size, expected, files, end), whole, "{name} in pieces of {size}");
    }
    whole
}

fn place(edits: &[Edit], files: &Files) -> Outcome {
    let mut lookup = |path: &str| {
        let path = path.strip_prefix("./").unwrap_or(path).to_string();
        let state = files.get(&path).map_or(State::Absent, |bytes| State::file(bytes.as_slice()));
        Ok(Current { path, state, seen: true })
    };
    let in_play = (files.len() == 1).then(|| files.keys().next().cloned()).flatten();
    edit::apply(edits, &mut lookup, &Rules { in_play, all_or_nothing: false })
}

/// The files after the changes.
fn after(outcome: &Outcome, files: &Files) -> Files {
    let mut after = files.clone();
    for change in &outcome.changes {
        match change.after.bytes() {
            Some(bytes) => after.insert(change.path.clone(), bytes.to_vec()),
            None => after.remove(&change.path),
        };
    }
    after
}

/// What the model is told of all that did not land.
fn told(answer: &Answer, outcome: &Outcome) -> String {
    let failed = outcome.results.iter().filter(|r| !matches!(r.fate, Fate::Landed(_))).map(|r| r.text());
    answer.broken.iter().cloned().chain(failed).collect::<Vec<_>>().join("\n")
}

fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().filter(|p| p.is_dir()).collect()
}

fn files(root: &Path) -> Files {
    let mut files = Files::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(folder) = todo.pop().filter(|f| f.is_dir()) {
        for path in std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()) {
            if path.is_dir() {
                todo.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

fn text_of(files: &Files) -> BTreeMap<&str, String> {
    files.iter().map(|(path, bytes)| (path.as_str(), format!("{:?}", String::from_utf8_lossy(bytes)))).collect()
}

fn check_case(folder: &Path) {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let case = read("case");
    let said = |key: &str| case.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(": "));
    let expected = said("format").map(|name| Format::parse(name).unwrap());
    let end = if said("end") == Some("cut") { End::Cut } else { End::Ordinary };
    let before = files(&folder.join("before"));
    let wanted = if folder.join("after").exists() { files(&folder.join("after")) } else { before.clone() };

    let answer = answer_any(name, &read("edit"), expected, &before, end);
    let outcome = place(&answer.edits, &before);
    let told = told(&answer, &outcome);
    assert_eq!(text_of(&after(&outcome, &before)), text_of(&wanted), "{name}: files\n{told}");
    for line in read("miss").lines() {
        assert!(told.contains(line), "{name}: told\n{told}\nwithout\n{line}");
    }
    if read("miss").is_empty() {
        assert_eq!(told, "", "{name}");
    }
    if let Some(rungs) = said("rungs") {
        let landed: Vec<&str> = outcome.results.iter().map(|r| r.rung().map_or("none", |r| r.word())).collect();
        assert_eq!(landed.join(", "), rungs, "{name}: {:?}", outcome.results);
    }
    if let Some(prose) = said("prose") {
        let lines: Vec<&str> = answer.prose.lines().filter(|l| !l.is_empty()).collect();
        assert_eq!(lines.join("|"), prose, "{name}");
    }
    if let Some(format) = said("written") {
        assert!(answer.edits.iter().all(|e| e.format.name() == format), "{name}: {:?}", answer.edits);
    }
}

#[test]
fn every_case_of_the_corpus_lands_or_is_refused_as_it_should() {
    let folders = folders(&fixtures("edits"));
    let failed = folders.iter().filter(|folder| std::panic::catch_unwind(|| check_case(folder)).is_err()).count();
    assert_eq!(failed, 0, "of {} cases", folders.len());
    assert!(folders.len() >= 1, "only {} cases", folders.len());
}

/// The replies of a real model: what each must come to is stored beside it, as bytes (`after`) or as the whole text the
/// model is told (`told`).
#[test]
fn real_replies_land_or_are_refused_with_help() {
    for folder in folders(&fixtures("model-replies")) {
        let before: Files = files(&folder)
            .into_iter()
            .filter(|(p, _)| p.ends_with(".py") && p != "check.py" && !p.contains('/'))
            .collect();
        let path = before.keys().next().unwrap().clone();
        for (name, reply) in replies(&folder) {
            let label = format!("{} {name}", folder.display());
            let answer = answer_any(&label, &reply, None, &before, End::Ordinary);
            let outcome = place(&answer.edits, &before);
            let stored = |kind: &str| std::fs::read(folder.join("expected").join(&name).join(kind)).ok();
            let now = after(&outcome, &before).remove(&path);
            let wanted = stored("after").unwrap_or_else(|| before[&path].clone());
            assert_eq!(now.map(|b| String::from_utf8(b).unwrap()), Some(String::from_utf8(wanted).unwrap()), "{label}");
            let wanted = String::from_utf8(stored("told").unwrap_or_default()).unwrap();
            assert_eq!(told(&answer, &outcome), wanted, "{label}");
        }
    }
}

/// All replies of a task by name.
fn replies(folder: &Path) -> Vec<(String, String)> {
    let mut replies = Vec::new();
    for (name, bytes) in files(folder) {
        let text = String::from_utf8(bytes).unwrap();
        if name.starts_with("reply.") {
            replies.push((name, text));
        } else if name.starts_with("replies.") {
            let list: Vec<String> = serde_json::from_str(&text).unwrap();
            replies.extend(list.into_iter().enumerate().map(|(i, text)| (format!("{name}.{i}"), text)));
        }
    }
    replies
}
