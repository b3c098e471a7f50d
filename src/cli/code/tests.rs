//! What another program does to the files while a change is asked for.

use std::fs;
use std::io::{self, BufReader, Read};
use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::*;
use crate::archive::{Archive, ArchiveSettings};
use crate::definitions::{DefinitionFinder, SecretFiles};
use crate::memory::{Memory, Options};
use crate::workspace::Workspace;

const TEXT: &str = "fn helper() {}\n\n\n\n\n\n\n\nfn other() {}\n";

/// The person, or a program that pipes: while it answers, files change.
struct Meanwhile<F: FnMut()> {
    change: F,
    answer: io::Cursor<Vec<u8>>,
}

impl<F: FnMut()> Read for Meanwhile<F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (self.change)();
        self.answer.read(into)
    }
}

/// Runs a command with an answer; `meanwhile` is done in the workspace before it is read.
fn run(words: &[&str], answer: &str, meanwhile: impl Fn(&Path)) -> (Result<Value, Failed>, String) {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("w")).expect("made");
    let workspace = Workspace::open(&dir.path().join("w")).expect("open");
    let root = workspace.root().to_path_buf();
    fs::write(root.join("a.rs"), TEXT).expect("written");
    let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
    let (memory, _) = Memory::open(Options::in_folder(&dir.path().join("home")));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let answer = io::Cursor::new(answer.as_bytes().to_vec());
    let mut input = BufReader::new(Meanwhile { change: || meanwhile(&root), answer });
    let mut files = ArchiveCommands {
        workspace: &workspace,
        archive: &archive,
        memory: &memory,
        folder: root.clone(),
        commands: None,
        max_size: 1 << 31,
        format: None,
        session: None,
        can_ask: true,
        input: &mut input,
        out: Out::new(&mut out, false),
        err: Out::new(&mut err, false),
    };
    let stop = CancellationToken::new();
    let finder = DefinitionFinder { workspace: &workspace, folder: root.clone(), stop, secrets: SecretFiles::Shown };
    let servers = Servers { context: None, unasked: false, patience: 0 };
    let place = Place { finder, json: false, flag: "--yes", servers };
    let words = ["strand code"].iter().chain(words);
    let ran = match CodeArgs::try_parse_from(words.clone()).expect("a command").command {
        CodeCommand::Rename(args) => rename::rename(&place, &mut files, &args),
        CodeCommand::Remove(args) => write::remove(&place, &mut files, &args),
        CodeCommand::Replace(args) => write::replace(&place, &mut files, &args),
        _ => panic!("{words:?} changes nothing"),
    };
    drop(files);
    (ran, fs::read_to_string(root.join("a.rs")).expect("there"))
}

#[test]
fn what_was_told_of_other_files_is_not_written() {
    let call = |root: &Path| {
        fs::write(root.join("a.rs"), TEXT.replace("other() {}", "other() { helper() }")).expect("written")
    };
    let new = |root: &Path| fs::write(root.join("b.rs"), "fn third() { helper() }\n").expect("written");
    let hash = crate::code::SourceFile::read("a.rs", TEXT.as_bytes()).expect("a source").hash(0);
    let refused = |words: &[&str], answer: &str, meanwhile: &dyn Fn(&Path), text: &str| {
        let (ran, now) = run(words, answer, meanwhile);
        assert!(ran.as_ref().is_err_and(|failed| failed.to_string().contains("meanwhile")), "{words:?}: {ran:?}");
        assert_eq!(now, text, "{words:?}");
    };
    let changed = TEXT.replace("other() {}", "other() { helper() }");
    for words in [&["rename", "fn.helper", "aid"][..], &["remove", "fn.helper"]] {
        refused(words, "y\n", &call, &changed);
        refused(words, "y\n", &new, TEXT);
        let (ran, now) = run(words, "y\n", |_| {});
        assert!(ran.is_ok() && !now.contains("helper"), "{ran:?} {now}");
    }
    let words = ["replace", "fn.helper", "--expect-hash", &hash, "--yes"];
    // Another definition of the file is not what the text was for.
    let (ran, now) = run(&words, "fn helper() { 1; }", call);
    assert_eq!((ran.is_ok(), now), (true, changed.replace("helper() {}", "helper() { 1; }")));
    let own = |root: &Path| {
        fs::write(root.join("a.rs"), TEXT.replace("helper() {}", "helper() { 2; }")).expect("written");
    };
    let (ran, now) = run(&words, "fn helper() { 1; }", own);
    assert!(ran.is_err_and(|failed| failed.to_string().contains("has changed since it was viewed")));
    assert_eq!(now, TEXT.replace("helper() {}", "helper() { 2; }"));
    for text in ["fn helper() { 1; }", "```rust\nfn helper() { 1; }\n```"] {
        assert_eq!(run(&words, text, |_| {}).1, TEXT.replace("helper() {}", "helper() { 1; }"), "{text}");
    }
}
