//! A seeded mutator over the fixtures: whatever a text becomes, in every format and every chunking, the reader comes to
//! its end, never has to give a state up, and tells the same however the text was cut.
//!
//! A short run belongs to the suite. A long one: `NEBULA_FUZZ_ROUNDS=100000 cargo test --lib stream::tests::fuzz`, with
//! another `NEBULA_FUZZ_SEED` if wanted; `NEBULA_FUZZ_FIRST` begins at a later round, to repeat one that failed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::*;
use crate::edit::{Current, Edit, GroupRules, apply};
use crate::proposal::State as FileState;

/// A text of a fixture and the files it is about.
struct Sample {
    text: String,
    known: Vec<KnownFile>,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Returns the files in a folder that are text.
fn files(folder: &Path) -> Vec<KnownFile> {
    let texts = folders(folder).into_iter().filter(|p| p.is_file());
    let known = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).ok()?;
        Some(KnownFile { path: path.file_name()?.to_str()?.to_string(), text: text.into() })
    };
    texts.filter_map(known).collect()
}

fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for folder in folders(&fixtures().join("edits")) {
        let before = folder.join("before");
        let known = if before.is_dir() { files(&before) } else { Vec::new() };
        let text = std::fs::read_to_string(folder.join("edit")).unwrap_or_default();
        samples.push(Sample { text, known });
    }
    for folder in folders(&fixtures().join("model-replies")).into_iter().filter(|p| p.is_dir()) {
        let (replies, others): (Vec<_>, Vec<_>) = files(&folder).into_iter().partition(|k| k.path.starts_with("repl"));
        let known: Vec<KnownFile> = others.into_iter().filter(|k| k.path.ends_with(".py")).collect();
        for reply in replies {
            let texts = match reply.path.ends_with(".json") {
                true => serde_json::from_str::<Vec<String>>(&reply.text).unwrap(),
                false => vec![reply.text.to_string()],
            };
            samples.extend(texts.into_iter().map(|text| Sample { text, known: known.clone() }));
        }
    }
    samples
}

/// Numbers that follow from a seed (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    fn place(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        text.floor_char_boundary(at)
    }

    fn range(&mut self, text: &str) -> std::ops::Range<usize> {
        let (a, b) = (self.place(text), self.place(text));
        a.min(b)..a.max(b).min(text.floor_char_boundary(a.min(b) + 300))
    }
}

/// The pieces of which the formats are made.
const WORDS: [&str; 56] = [
    "```",
    "````",
    "~~~",
    "```diff\n",
    "\n",
    "\n\n",
    " ",
    "    ",
    "\t",
    "\r\n",
    "<",
    ">",
    "</",
    "<replace_file>",
    "</replace_file>",
    "<path>",
    "</path>",
    "<search>",
    "</search>",
    "<replace>",
    "</replace>",
    "<write_file path=\"a.rs\">",
    "<content>",
    "</content>",
    "<start>1</start>",
    "<end>",
    "<delete_file/>",
    "<tool_call>",
    "</tool_call>",
    "<function=readFile>",
    "<parameter=path>",
    "<invoke name=\"list\">",
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
    "*** Begin Patch",
    "*** Begin Patches",
    "*** End Patch",
    "*** Update File: a.rs",
    "*** Add File:",
    "*** End of File",
    "--- ",
    "+++ ",
    "@@ -1,2 +1,2 @@",
    "@@",
    "diff --git a/a b/a",
    "readFile(path=",
    "replaceInFile(",
    "\"\"\"",
    "'''",
    "{\"name\": \"readFile\", \"arguments\": {",
    "}}",
    "[TOOL_CALLS]",
    "[",
    "\\",
    "é本",
];

fn mutated(text: &str, other: &str, numbers: &mut Numbers) -> String {
    let mut text = text.to_string();
    for _ in 0..1 + numbers.below(4) {
        let at = numbers.place(&text);
        match numbers.below(8) {
            0 | 1 => text.insert_str(at, WORDS[numbers.below(WORDS.len())]),
            2 => text.replace_range(numbers.range(&text), ""),
            3 => {
                let range = numbers.range(&text);
                let copy = text[range].to_string();
                text.insert_str(at, &copy);
            }
            4 => {
                let range = numbers.range(other);
                text.insert_str(at, &other[range]);
            }
            5 => {
                let lead = ["  ", "    ", "\t", "- ", "> ", "1. "][numbers.below(6)];
                let range = numbers.range(&text);
                let indented = text[range.clone()].replace('\n', &format!("\n{lead}"));
                text.replace_range(range, &indented);
            }
            6 => text.truncate(at),
            _ => {
                let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
                text.replace_range(at..end, WORDS[numbers.below(WORDS.len())]);
            }
        }
    }
    text
}

/// The result of an answer, without what depends on how early something was recognised.
#[derive(Debug, Default, PartialEq)]
struct Read {
    prose: String,
    reported: Vec<String>,
    growth: BTreeMap<(usize, String), String>,
}

fn read(pieces: Vec<Piece>) -> (Read, Vec<Edit>) {
    let (mut read, mut edits, mut begun) = (Read::default(), Vec::new(), Vec::new());
    for piece in pieces {
        match piece {
            Piece::Prose(text) => read.prose.push_str(&text),
            Piece::EditGrew { id, part, text } => {
                let nth = begun.iter().position(|b| *b == id).unwrap_or(usize::MAX);
                read.growth.entry((nth, format!("{part:?}"))).or_default().push_str(&text)
            }
            // A call that arrives whole is told without a number, so edits are counted by themselves.
            Piece::EditStarted { id, .. } => begun.push(id),
            Piece::CallStarted { .. } | Piece::CallGrew { .. } => {}
            Piece::EditDone { edit, .. } => {
                read.reported.push(format!("{edit:?}"));
                edits.push(edit);
            }
            Piece::EditDropped { why, .. } | Piece::BrokenCall { why, .. } => read.reported.push(why),
            Piece::Call { name, arguments, .. } => {
                read.reported.push(format!("{name} {arguments}"));
                edits.extend(edits_of(&name, &arguments));
            }
        }
    }
    (read, edits)
}

/// Places the edits, which must come to an end too.
fn place(edits: &[Edit], known: &[KnownFile]) {
    let mut lookup = |path: &str| {
        let found = known.iter().find(|k| k.path == path);
        let state = found.map_or(FileState::Absent, |k| FileState::file(k.text.as_bytes()));
        Ok(Current { path: path.to_string(), state, seen: true, read: None, instead: Vec::new(), withheld: None })
    };
    apply(edits, &mut lookup, &GroupRules::default());
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(usual)
}

#[test]
fn mutated_fixtures_are_read_alike_however_they_are_cut() {
    let (rounds, seed) = (setting("NEBULA_FUZZ_ROUNDS", 300), setting("NEBULA_FUZZ_SEED", 1));
    let first = setting("NEBULA_FUZZ_FIRST", 0);
    let samples = samples();
    assert!(samples.len() > 200, "only {} fixtures", samples.len());
    for round in first..first + rounds {
        let mut numbers = Numbers((seed.wrapping_mul(1_000_003) + round).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let sample = &samples[numbers.below(samples.len())];
        let other = &samples[numbers.below(samples.len())];
        let text = mutated(&sample.text, &other.text, &mut numbers);
        let expected = [None].into_iter().chain(Format::ALL.map(Some)).nth(numbers.below(7)).flatten();
        let end = if numbers.below(4) == 0 { End::Cut } else { End::Ordinary };
        let label = || format!("round {round} of seed {seed}, {expected:?}, {end:?}:\n{text}\n");
        let (whole, given_up) = pieces(&text, usize::MAX, expected, &sample.known, end);
        let (whole, edits) = read(whole);
        assert_eq!(given_up, 0, "{}", label());
        for size in [1, 2 + numbers.below(6), 8 + numbers.below(120)] {
            let (cut, given_up) = pieces(&text, size, expected, &sample.known, end);
            assert_eq!(given_up, 0, "{}by {size}", label());
            assert_eq!(read(cut).0, whole, "{}by {size}", label());
        }
        place(&edits, &sample.known);
    }
}
