//! Edits end to end: from what a model wrote to the bytes of the files.
//!
//! A case of the corpus is a folder of `fixtures/edits`: `before/` and `after/` hold the files, `edit` what the model
//! wrote, `case` says how it is read (`format: xml`, `end: cut`, `rungs: exact, inexact`), and each line of
//! `miss` must stand in what the model is told. Each is read in many chunkings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use nebula::edit::stream::{End, KnownFile, Parser, Piece};
use nebula::edit::{self, Current, Edit, EditOutcome, EditStatus, Format, GroupRules};
use nebula::proposal::State;
use nebula::tools::ToolSet;
use nebula::workspace::may_mean;

/// Files by path.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The outcome of reading an answer.
#[derive(Debug, Default, PartialEq)]
pub struct Answer {
    pub prose: String,
    pub edits: Vec<Edit>,
    /// The parts that could not be used, and why.
    pub broken: Vec<String>,
    /// The growth of each edit, joined by part.
    pub growth: BTreeMap<usize, BTreeMap<String, String>>,
}

fn tools() -> &'static ToolSet {
    static TOOLS: LazyLock<ToolSet> = LazyLock::new(ToolSet::builtin);
    &TOOLS
}

fn known(files: &Files) -> Vec<KnownFile> {
    let text = |bytes: &[u8]| Arc::from(edit::bytes::decode(bytes).1.as_ref());
    files.iter().map(|(path, bytes)| KnownFile { path: path.clone(), text: text(bytes) }).collect()
}

/// Reads an answer that arrives in these pieces.
fn answer<'t>(chunks: impl Iterator<Item = &'t str>, expected: Option<Format>, files: &Files, end: End) -> Answer {
    let mut parser = Parser::new(expected, known(files), tools().calls());
    let mut pieces: Vec<Piece> = chunks.flat_map(|chunk| parser.push(chunk)).collect();
    pieces.extend(parser.finish(end));
    let mut answer = Answer::default();
    for piece in pieces {
        match piece {
            Piece::Prose(text) => answer.prose.push_str(&text),
            Piece::EditDone { edit, .. } => answer.edits.push(edit),
            Piece::EditDropped { why, .. } | Piece::BrokenCall { why, .. } => answer.broken.push(why),
            Piece::CallStarted { .. } => {}
            Piece::CallGrew { id, text } => {
                answer.growth.entry(id.0).or_default().entry("Call".into()).or_default().push_str(&text);
            }
            Piece::Call { name, arguments, .. } => match tools().edits(&name, &arguments) {
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

/// Reads an answer in pieces of this many characters.
fn answer_by(text: &str, size: usize, expected: Option<Format>, files: &Files, end: End) -> Answer {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(size).chain([text.len()]).collect();
    answer(starts.windows(2).map(|w| &text[w[0]..w[1]]), expected, files, end)
}

/// Reads an answer whole and in many chunkings, which must make no difference.
pub fn answer_any(name: &str, text: &str, expected: Option<Format>, files: &Files, end: End) -> Answer {
    let whole = answer([text].into_iter(), expected, files, end);
    for size in [1, 2, 3, 5, 17, 64] {
        assert_eq!(answer_by(text, size, expected, files, end), whole, "{name} in pieces of {size}");
    }
    whole
}

pub fn place(edits: &[Edit], files: &Files) -> EditOutcome {
    let mut lookup = |path: &str| {
        let path = path.strip_prefix("./").unwrap_or(path).to_string();
        let state = files.get(&path).map_or(State::Absent, |bytes| State::file(bytes.as_slice()));
        let meant = files.keys().filter(|file| state.is_absent() && may_mean(&path, file));
        let instead = meant.cloned().collect();
        Ok(Current { path, state, seen: true, read: None, instead, withheld: None })
    };
    let in_play = (files.len() == 1).then(|| files.keys().next().cloned()).flatten();
    edit::apply(
        edits,
        &mut lookup,
        &GroupRules { in_play, all_or_nothing: false, questioned: None, ..GroupRules::default() },
    )
}

/// The files after the changes.
pub fn after(outcome: &EditOutcome, files: &Files) -> Files {
    let mut after = files.clone();
    for change in &outcome.changes {
        match change.after.bytes() {
            Some(bytes) => after.insert(change.path.clone(), bytes.to_vec()),
            None => after.remove(&change.path),
        };
    }
    after
}

/// Returns what the model is told of all edits that were not placed.
pub fn failures(answer: &Answer, outcome: &EditOutcome) -> String {
    let failed = outcome.results.iter().filter(|r| !matches!(r.status, EditStatus::Placed(_))).map(|r| r.text());
    answer.broken.iter().cloned().chain(failed).collect::<Vec<_>>().join("\n")
}

pub fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

pub fn folders(root: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().filter(|p| p.is_dir()).collect()
}

pub fn files(root: &Path) -> Files {
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

/// Every line that the model is shown with a number is that line of a file on disk: copied from there, it is found.
pub fn check_numbers(name: &str, failures: &str, files: &Files) {
    let texts: Vec<String> = files.values().map(|bytes| edit::bytes::decode(bytes).1.into_owned()).collect();
    for line in failures.lines() {
        let Some((number, line_text)) = line.split_once(": ") else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        let line_text = line_text.strip_suffix(" [cut]").unwrap_or(line_text);
        let same = |text: &String| {
            let mut lines = text.split(['\n', '\r']);
            let by_return = !text.contains('\n');
            let line = if by_return { lines.nth(number - 1) } else { text.lines().nth(number - 1) };
            line.is_some_and(|l| l.starts_with(line_text))
        };
        assert!(texts.iter().any(same), "{name}: told {line:?}, which is not so on disk");
    }
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
    let failures = failures(&answer, &outcome);
    assert_eq!(text_of(&after(&outcome, &before)), text_of(&wanted), "{name}: files\n{failures}");
    let twice = place(&[answer.edits.as_slice(), &answer.edits].concat(), &before);
    assert_eq!(text_of(&after(&twice, &before)), text_of(&wanted), "{name}: said twice\n{}", twice.text());
    for line in read("miss").lines() {
        assert!(failures.contains(line), "{name}: told\n{failures}\nwithout\n{line}");
    }
    if read("miss").is_empty() {
        assert_eq!(failures, "", "{name}");
    }
    check_numbers(name, &failures, &before);
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
    assert!(folders.len() >= 150, "only {} cases", folders.len());
}

/// A change of whole lines, written in a format. `first` is the number of the first line, from 1.
fn written(format: &str, path: &str, first: usize, old: &[&str], new: &[&str], text: &str) -> String {
    let (gone, come) = (old.join("\n"), new.join("\n"));
    let json = |text: &str| serde_json::to_string(text).unwrap();
    match format {
        "xml" => format!(
            "<replace_file><path>{path}</path><search>\n{gone}\n</search><replace>\n{come}\n</replace></replace_file>"
        ),
        "blocks" => format!("{path}\n<<<<<<< SEARCH\n{gone}\n=======\n{come}\n>>>>>>> REPLACE\n"),
        "tools" => format!(
            "{{\"name\": \"replaceInFile\", \"arguments\": {{\"path\": \"{path}\", \"search\": {}, \"replace\": {}}}}}",
            json(&gone),
            json(&come)
        ),
        "whole" => format!("{path}\n````\n{}\n````\n", text.replace(&gone, &come).trim_end_matches('\n')),
        "envelope" | "unified" => {
            let lines = |mark: char, lines: &[&str]| lines.iter().map(|l| format!("{mark}{l}\n")).collect::<String>();
            let body = lines('-', old) + &lines('+', new);
            match format {
                "envelope" => format!("*** Begin Patch\n*** Update File: {path}\n@@\n{body}*** End Patch\n"),
                _ => {
                    let (old, new) = (old.len(), new.len());
                    format!("--- a/{path}\n+++ b/{path}\n@@ -{first},{old} +{first},{new} @@\n{body}")
                }
            }
        }
        _ => format!(
            "<replace_lines><path>{path}</path><start>{first}</start><end>{}</end><expect>\n{gone}\n</expect>\
             <replace>\n{come}\n</replace></replace_lines>",
            first + old.len() - 1
        ),
    }
}

const WRITTEN: [&str; 7] = ["xml", "blocks", "tools", "whole", "envelope", "unified", "lines"];

fn change(text: &str, before: &[u8]) -> Vec<u8> {
    let files = Files::from([("src/a.rs".to_string(), before.to_vec())]);
    let answer = answer_any("property", text, None, &files, End::Ordinary);
    let outcome = place(&answer.edits, &files);
    assert_eq!((failures(&answer, &outcome).as_str(), answer.edits.len()), ("", 1), "{text}");
    after(&outcome, &files).remove("src/a.rs").unwrap()
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    /// Lines by which models leave out the rest of a file.
    const MARKS: [&str; 35] = [
        "# ... (remaining settings unchanged)",
        "# [...]",
        "# .. ..",
        "# --- snip ---",
        "# (omitted for brevity)",
        "# ...",
        "# … rest of the file",
        "# rest of the code remains the same",
        "# (rest of file unchanged)",
        "# [rest of the code]",
        "# Rest of your code here",
        "# ... your existing settings here",
        "# existing code here",
        "# The rest of the settings stay the same",
        "# remaining code unchanged",
        "# --- unchanged ---",
        "# and so on",
        "# etc.",
        "# same as before",
        "# other settings...",
        "# more settings ...",
        "# continue with the other settings",
        "# (other settings remain unchanged)",
        "# Keep the rest as is",
        "# ...other settings",
        "# ... 12 more lines ...",
        "# <rest of file>",
        "# TODO: keep existing settings",
        "[rest of file unchanged]",
        "<rest of the file>",
        "... (truncated)",
        "...rest of file...",
        "// ... rest of code",
        "/* rest of the code */",
        "...",
    ];

    /// Lines of ordinary files that have something of such a mark.
    const ORDINARY: [&str; 8] = [
        "    ...",
        "...",
        "    ...rest,",
        "# the rest of the headers",
        "# other settings",
        "// everything else is the same as in the parent",
        "[existing]",
        "<Rest />",
    ];

    /// Lines of which no two are alike, so that every passage is unique.
    fn lines() -> impl Strategy<Value = Vec<String>> {
        let line = "[ \t]{0,6}[a-z(){}=;,.\"'<>&本語é]{0,20}";
        prop::collection::vec(line, 2..25)
            .prop_map(|lines| lines.iter().enumerate().map(|(i, line)| format!("{}#{i}.", line.trim_end())).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        /// Any passage of any file lands exactly in every format, and the same edit the other way round undoes it.
        #[test]
        fn a_unique_passage_lands_in_every_format(
            lines in lines(), at in any::<prop::sample::Index>(), count in 1..5_usize, ended: bool, crlf: bool,
            new in prop::collection::vec("[ ]{0,4}[a-z本]{1,12}!", 1..4),
        ) {
            let ending = if crlf { "\r\n" } else { "\n" };
            let start = at.index(lines.len());
            let end = (start + count).min(lines.len());
            let text = lines.join("\n") + if ended { "\n" } else { "" };
            let mut changed: Vec<&str> = lines.iter().map(String::as_str).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let old: Vec<&str> = changed.splice(start..end, new.iter().copied()).collect();
            let text_after = changed.join("\n") + if ended { "\n" } else { "" };
            let bytes = |t: &str| t.replace('\n', ending).into_bytes();
            // A text of one line has no line ending for the way back to follow.
            prop_assume!(!crlf || text_after.contains('\n'));
            prop_assume!(text_after.matches(&new.join("\n")).count() == 1);
            let begins = |text: &str, with: char| text.lines().filter(|line| line.starts_with(with)).count();
            let has_tabs = begins(&text, '\t') > begins(&text, ' ');
            // A whole text that is indented with spaces alone gets the tabs of its file.
            let gets_tabs = has_tabs && begins(&text_after, '\t') == 0 && begins(&text_after, ' ') > 0;
            for format in WRITTEN.into_iter().filter(|format| *format != "whole" || !gets_tabs) {
                let there = written(format, "src/a.rs", start + 1, &old, &new, &text);
                let now = change(&there, &bytes(&text));
                prop_assert_eq!(String::from_utf8(now.clone()).unwrap(), String::from_utf8(bytes(&text_after)).unwrap(), "{}", there);
                let back = written(format, "src/a.rs", start + 1, &new, &old, &text_after);
                prop_assert_eq!(change(&back, &now), bytes(&text), "{}", back);
            }
        }

        /// Whatever rung finds the place, no byte before or after it changes.
        #[test]
        fn nothing_outside_the_place_changes(
            lines in lines(), at in any::<prop::sample::Index>(), count in 1..5_usize, endings in prop::collection::vec(any::<bool>(), 25),
            shift in 0..6_usize, trailing: bool,
        ) {
            let start = at.index(lines.len());
            let end = (start + count).min(lines.len());
            let ended: Vec<String> =
                lines.iter().zip(&endings).map(|(l, crlf)| format!("{l}{}", if *crlf { "\r\n" } else { "\n" })).collect();
            let model: Vec<String> = lines[start..end].iter().map(|l| {
                format!("{}{l}{}", " ".repeat(shift), if trailing { "  " } else { "" })
            }).collect();
            let model: Vec<&str> = model.iter().map(String::as_str).collect();
            let new: Vec<String> = model.iter().map(|l| l.replace('#', "@")).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            for format in ["xml", "blocks", "envelope", "lines"] {
                let edit = written(format, "src/a.rs", start + 1, &model, &new, "");
                let now = String::from_utf8(change(&edit, ended.concat().as_bytes())).unwrap();
                let (head, mut tail) = (ended[..start].concat(), ended[end..].concat());
                // The ending of the last line stands outside of the place too; a patch names whole lines.
                let ending = if ended[end - 1].ends_with("\r\n") && format != "envelope" { "\r\n" } else { "\n" };
                tail.insert_str(0, ending);
                prop_assert!(now.starts_with(&head) && now.ends_with(&tail), "{}\n{:?}", edit, now);
                prop_assert!(!now[head.len()..now.len() - tail.len()].contains('#'));
            }
        }

        /// A whole text that stops before its file does, with a line that says so, never lands as it is.
        #[test]
        fn a_text_that_leaves_lines_out_is_no_file(
            lines in lines(), at in any::<prop::sample::Index>(), mark in prop::sample::select(MARKS.to_vec()), change: bool,
        ) {
            let at = 1 + at.index(lines.len() - 1);
            let mut kept = lines[..at].to_vec();
            if change {
                kept[0] = "changed!".to_string();
            }
            let text = lines.join("\n") + "\n";
            let files = Files::from([("src/a.rs".to_string(), text.clone().into_bytes())]);
            let block = format!("src/a.rs\n````\n{}\n{mark}\n````\n", kept.join("\n"));
            let answer = answer_any("left out", &block, Some(Format::WHOLE), &files, End::Ordinary);
            let outcome = place(&answer.edits, &files);
            let exact = outcome.results.iter().any(|r| r.rung().is_some_and(|rung| rung < nebula::proposal::Rung::Inexact));
            // Of one line that is replaced by dots it may be meant.
            prop_assert!(!exact || lines.len() - at < 2, "{}", block);
        }

        /// A text to which lines are added lands as it is, whatever they say, for nothing is missing.
        #[test]
        fn lines_that_only_look_so_are_written(
            lines in lines(), at in any::<prop::sample::Index>(), new in prop::sample::select(ORDINARY.to_vec()),
        ) {
            let mut changed = lines.clone();
            changed.insert(at.index(lines.len() + 1), new.to_string());
            let files = Files::from([("src/a.rs".to_string(), (lines.join("\n") + "\n").into_bytes())]);
            let block = format!("src/a.rs\n````\n{}\n````\n", changed.join("\n"));
            let answer = answer_any("added", &block, Some(Format::WHOLE), &files, End::Ordinary);
            let outcome = place(&answer.edits, &files);
            prop_assert_eq!(failures(&answer, &outcome), "");
            let after = after(&outcome, &files).remove("src/a.rs").unwrap();
            prop_assert_eq!(String::from_utf8(after).unwrap(), changed.join("\n") + "\n");
        }

        /// Fragments of every format in any order: how the text is cut makes no difference, and nothing panics.
        #[test]
        fn chunks_make_no_difference(parts in prop::collection::vec(prop::sample::select(FRAGMENTS.to_vec()), 1..14), cut: bool, mode in 0..7_usize) {
            let text = parts.concat();
            let files = Files::from([("a.rs".to_string(), b"fn a() {}\nfn b() {}\n".to_vec())]);
            let end = if cut { End::Cut } else { End::Ordinary };
            let expected = Format::ALL.get(mode).copied();
            let answer = answer_any("fragments", &text, expected, &files, end);
            place(&answer.edits, &files);
        }

        /// Text of any kind: likewise.
        #[test]
        fn any_text_is_read(text in "(\\PC|\n|[`<>=*@+-]{1,4}| ){0,120}") {
            let files = Files::from([("a.rs".to_string(), b"fn a() {}\n".to_vec())]);
            let answer = answer_any("text", &text, None, &files, End::Ordinary);
            place(&answer.edits, &files);
        }
    }

    const FRAGMENTS: [&str; 66] = [
        "hello ",
        "=====\n",
        "-----\n",
        "a.rs",
        "\n",
        "\n\n",
        "```",
        "```rust",
        "```\n",
        "````md\n",
        "~~~\n",
        "<replace_file>",
        "</replace_file>",
        "<path>a.rs</path>",
        "<path>",
        "<search>",
        "</search>",
        "<replace>",
        "</replace>",
        "\nfn a() {}\n",
        "fn a() {}",
        "fn c() {}",
        "<write_file>",
        "<content>",
        "</content>",
        "</write_file>",
        "<replace_lines>",
        "<start>1</start>",
        "<end>1</end>",
        "<expect>",
        "</expect>",
        "</replace_lines>",
        "<<<<<<< SEARCH\n",
        "=======\n",
        ">>>>>>> REPLACE\n",
        "<<<<<",
        "*** Begin Patch\n",
        "*** Update File: a.rs\n",
        "*** Add File: b.rs\n",
        "*** End Patch\n",
        "@@\n",
        "@@ -1,2 +1,2 @@\n",
        "--- a/a.rs\n",
        "+++ b/a.rs\n",
        "-fn a() {}\n",
        "+fn c() {}\n",
        " fn b() {}\n",
        "diff --git a/a.rs b/a.rs\n",
        "{\"name\": \"replaceInFile\", ",
        "\"arguments\": {\"path\": \"a.rs\", ",
        "\"search\": \"fn a() {}\", ",
        "\"replace\": \"\"\"fn c() {}\"\"\"}}",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\"\"\"",
        "<tool_call>",
        "</tool_call>",
        "  ",
        "\t",
        "# ",
        "path: ",
        "<",
        "&lt;",
    ];
}
