mod answers;

use super::*;
use crate::edit::Format;
use crate::edit::PatchHunk;
use crate::edit::SearchShape;
use crate::edit::stream::{self, End, Piece};
use crate::proposal::{HunkKind, MergeRung, Merger};
use std::collections::HashSet;
use std::sync::Arc;

fn replace(path: &str, search: &str, with: &str) -> Edit {
    let op = Op::Replace { search: search.into(), replace: with.into(), shape: SearchShape::Inline, all: false };
    Edit::new(path, op, Format::TOOLS, "replaceInFile")
}

fn run(edits: &[Edit], files: &[(&str, &str)], all_or_nothing: bool) -> EditOutcome {
    let mut lookup = |path: &str| {
        let state = files.iter().find(|(p, _)| *p == path).map_or(State::Absent, |(_, t)| State::file(t.as_bytes()));
        Ok(Current { path: path.to_string(), state, seen: true, read: None, instead: Vec::new(), withheld: None })
    };
    apply(edits, &mut lookup, &GroupRules { all_or_nothing, ..GroupRules::default() })
}

#[test]
fn edits_follow_each_other_in_one_text() {
    let edits = [replace("a", "one", "two"), replace("a", "two\n", "three\n"), replace("b", "x", "y")];
    let outcome = run(&edits, &[("a", "one\n"), ("b", "x")], false);
    assert!(outcome.ok(), "{}", outcome.text());
    let after: Vec<_> = outcome.changes.iter().map(|c| (c.path.as_str(), c.after.text().unwrap())).collect();
    assert_eq!(after, [("a", "three\n"), ("b", "y")]);
    assert_eq!(outcome.changes[0].by, "replaceInFile (2)");
}

#[test]
fn a_file_has_no_more_than_one_byte_order_mark() {
    let text = "one = 1\ntwo = 2\nthree = 3\n";
    let marked = format!("\u{feff}{text}");
    let wanted = marked.replace("one = 1", "one = 5");
    let new = wanted.as_str();
    let tools = |op| Edit::new("a", op, Format::TOOLS, "editFile");
    let edits = [
        tools(Op::Overwrite { content: new.into() }),
        whole("a", new),
        replace("a", "\u{feff}one = 1", "\u{feff}one = 5"),
        replace("a", "one = 1", "\u{feff}one = 5"),
    ];
    let after = |edits: &[Edit], before: &str| {
        let outcome = run(edits, &[("a", before)], false);
        outcome.changes.first().map(|change| change.after.text().unwrap_or_default().to_string())
    };
    for edit in edits {
        assert_eq!(after(std::slice::from_ref(&edit), &marked).as_deref(), Some(new), "{edit:?}");
    }
    // A file without one may get one, and a new one may have one.
    assert_eq!(after(&[tools(Op::Overwrite { content: new.into() })], text).as_deref(), Some(new));
    let made = run(&[tools(Op::Write { content: new.into() })], &[], false);
    assert_eq!(made.changes[0].after.text().unwrap_or_default(), new);
}

#[test]
fn a_file_with_a_failed_edit_is_left_out_whole() {
    let edits = [replace("a", "one", "two"), replace("a", "nine", "ten"), replace("b", "x", "y")];
    let files = [("a", "one\n"), ("b", "x")];
    let outcome = run(&edits, &files, false);
    assert_eq!(outcome.changes.len(), 1);
    assert_eq!(outcome.results[0].status, EditStatus::LeftOut);
    assert!(matches!(outcome.results[1].status, EditStatus::Failed(_)));
    assert!(outcome.results[2].ok());
    assert!(run(&edits, &files, true).changes.is_empty());
}

/// A small model that repeats the exchange it was shown makes no file of it.
#[test]
fn the_example_of_a_format_is_no_edit() {
    for format in [Format::WHOLE, Format::BLOCKS] {
        for text in format.example().expect("an example") {
            let pieces = stream::read(text, Some(format), Vec::new(), Default::default(), End::Ordinary);
            let edit = |piece| if let Piece::EditDone { edit, .. } = piece { Some(edit) } else { None };
            let edits: Vec<Edit> = pieces.into_iter().filter_map(edit).collect();
            assert!(!edits.is_empty(), "{text}");
            let outcome = run(&edits, &[], false);
            assert!(outcome.changes.is_empty(), "{text}");
            assert!(outcome.results.iter().all(|result| result.status == EditStatus::Example), "{:?}", outcome.results);
        }
    }
}

#[test]
fn a_file_as_short_as_a_part_of_an_example_is_written() {
    for text in ["print(\"hi\")\n", "def greet():\n    print(\"hi\")\n", "return \"bye\"\n"] {
        let op = Op::Write { content: text.into() };
        let outcome = run(&[Edit::new("hello.py", op, Format::TOOLS, "writeFile")], &[], false);
        assert_eq!(outcome.changes.len(), 1, "{text}");
    }
}

#[test]
fn a_shortened_example_of_a_format_is_no_edit() {
    let content = "def greet(name):\n    print(\"hi \" + name)\n";
    for (content, changes) in [(content.to_string(), 0), (format!("{content}\ngreet(\"me\")\n"), 1)] {
        let edit = Edit::new("hello.py", Op::Overwrite { content }, Format::WHOLE, "whole");
        assert_eq!(run(&[edit], &[], false).changes.len(), changes);
    }
    let edit = Edit::new("hello.py", Op::Overwrite { content: content.into() }, Format::WHOLE, "whole");
    let outcome = run(&[edit], &[("hello.py", "x = 1\n")], false);
    assert_ne!(outcome.results[0].status, EditStatus::Example, "a file of the project");
}

#[test]
fn a_path_that_may_be_the_end_of_a_name_is_a_guess_and_means_the_file_of_that_name() {
    let read = |text: &str| -> Vec<Edit> {
        let pieces = stream::read(text, Some(Format::WHOLE), Vec::new(), Default::default(), End::Ordinary);
        let edit = |piece| if let Piece::EditDone { edit, .. } = piece { Some(edit) } else { None };
        pieces.into_iter().filter_map(edit).collect()
    };
    let new = "New folder/m.py\n```python\nx = 2\ny = 2\n```\n";
    let there = run(&read(new), &[("New folder/m.py", "x = 1\ny = 2\n"), ("folder/m.py", "x = 1\ny = 2\n")], false);
    assert_eq!(there.changes[0].path, "New folder/m.py");
    assert_eq!(there.results[0].rung(), Some(Rung::Exact));
    let none = run(&read(new), &[], false);
    assert_eq!(none.changes[0].path, "folder/m.py");
    assert_eq!(none.results[0].rung(), Some(Rung::Inexact));
    for head in ["`New folder/m.py`", "File: New folder/m.py", "**New folder/m.py**"] {
        let made = run(&read(&new.replacen("New folder/m.py", head, 1)), &[], false);
        assert_eq!(made.changes[0].path, "New folder/m.py", "{head}");
        assert_eq!(made.results[0].rung(), Some(Rung::Exact), "{head}");
    }
}

#[test]
fn a_text_that_may_leave_lines_out_raises_a_question_first() {
    let old: String = (0..9).map(|n| format!("key{n} = {n}\n")).collect();
    let content = format!("{}# and so on\n", &old[..old.len() / 3 * 2]);
    let edit = Edit::new("a", Op::Overwrite { content: content.clone() }, Format::TOOLS, "editFile");
    let run = |questioned: HashSet<(String, String)>, unattended: bool| {
        let mut lookup = |path: &str| {
            let state = State::file(old.as_bytes());
            Ok(Current { path: path.to_string(), state, seen: true, read: None, instead: Vec::new(), withheld: None })
        };
        apply(
            std::slice::from_ref(&edit),
            &mut lookup,
            &GroupRules { questioned: Some(questioned), unattended, ..GroupRules::default() },
        )
    };
    let first = run(HashSet::new(), false);
    assert!(matches!(&first.results[0].status, EditStatus::Doubted(why) if why.contains("# and so on")));
    assert!(first.text().contains("send the same text again"), "{}", first.text());
    let asked = HashSet::from([("a".to_string(), content)]);
    assert_eq!(run(asked.clone(), false).results[0].rung(), Some(Rung::Inexact));
    // Where nobody is there to decide, it is refused again, and the model is not invited to that.
    for refused in [run(HashSet::new(), true), run(asked, true)] {
        assert!(matches!(&refused.results[0].status, EditStatus::Doubted(_)), "{}", refused.text());
        assert!(!refused.text().contains("again"), "{}", refused.text());
    }
}

#[test]
fn a_name_that_two_known_files_have_means_the_one_of_that_text() {
    let file = |path: &str, text: &str| KnownFile { path: path.into(), text: text.into() };
    let known = vec![file("src/a.py", "x = 1\ny = 2\nz = 3\n"), file("lib/a.py", "m = 1\nn = 2\no = 3\n")];
    let run = |known: Vec<KnownFile>| {
        let content = "x = 1\ny = 5\nz = 3\n".to_string();
        let edit = Edit::new("a.py", Op::Overwrite { content }, Format::WHOLE, "whole");
        let mut lookup = |path: &str| {
            let text = known.iter().find(|file| file.path == path).map(|file| file.text.clone());
            let state = text.map_or(State::Absent, |text| State::file(text.as_bytes()));
            Ok(Current { path: path.to_string(), state, seen: true, read: None, instead: Vec::new(), withheld: None })
        };
        apply(&[edit], &mut lookup, &GroupRules { known: known.clone(), ..GroupRules::default() })
    };
    assert_eq!(run(known.clone()).changes[0].path, "src/a.py");
    let mut alike = known;
    alike[1].text = (&*alike[0].text).into();
    let outcome = run(alike.clone());
    assert!(outcome.changes.is_empty() && outcome.text().contains("src/a.py or lib/a.py"), "{}", outcome.text());
    // Half of the other one is in the text, too: nothing of it is written.
    alike[1].text = "x = 1\ny = 2\nz = 3\nm = 1\nn = 2\no = 3\n".into();
    let outcome = run(alike.clone());
    assert!(outcome.changes.is_empty() && outcome.text().contains("src/a.py or lib/a.py"), "{}", outcome.text());
    // It has all of a short one, and more lines of a long one.
    let long: String = (0..20).map(|n| format!("v{n} = {n}\n")).collect();
    alike[0].text = "x = 1\n".into();
    alike[1].text = format!("x = 1\nz = 3\n{long}").into();
    let outcome = run(alike);
    assert!(outcome.changes.is_empty() && outcome.text().contains("src/a.py or lib/a.py"), "{}", outcome.text());
}

#[test]
fn a_new_file_of_a_name_that_two_known_files_have_raises_a_question() {
    let file = |path: &str, text: &str| KnownFile { path: path.into(), text: text.into() };
    let known = vec![file("src/a.py", "x = 1\n"), file("lib/a.py", "m = 1\n")];
    let content = "def new():\n    pass\n".to_string();
    let edit = Edit::new("a.py", Op::Overwrite { content: content.clone() }, Format::WHOLE, "whole");
    let run = |questioned: HashSet<(String, String)>| {
        let mut lookup = |path: &str| {
            let (path, state) = (path.to_string(), State::Absent);
            Ok(Current { path, state, seen: true, read: None, instead: Vec::new(), withheld: None })
        };
        let rules = GroupRules { questioned: Some(questioned), known: known.clone(), ..GroupRules::default() };
        apply(std::slice::from_ref(&edit), &mut lookup, &rules)
    };
    let asked = run(HashSet::new());
    assert!(
        matches!(&asked.results[0].status, EditStatus::Doubted(why) if why.starts_with("it may be src/a.py or lib/a.py. "))
    );
    let again = run(HashSet::from([("a.py".to_string(), content.clone())]));
    assert_eq!((again.changes[0].path.as_str(), again.results[0].rung()), ("a.py", Some(Rung::Inexact)));
}

#[test]
fn a_block_under_the_bare_name_of_a_file_means_that_file_or_raises_a_question() {
    const FILE: &str = "x = 1\ny = 2\nz = 3\n";
    let run = |content: &str, format, seen: bool, instead: &[&str], questioned: HashSet<(String, String)>| {
        let edit = Edit::new("cart.py", Op::Overwrite { content: content.into() }, format, "whole");
        assert_eq!(edit.is_within(), format == Format::WHOLE, "only then the other files are looked for");
        let mut lookup = |path: &str| {
            let state = if path.contains('/') { State::file(FILE.as_bytes()) } else { State::Absent };
            let instead = instead.iter().filter(|_| state.is_absent()).map(|file| file.to_string()).collect();
            Ok(Current { path: path.to_string(), state, seen, read: None, instead, withheld: None })
        };
        apply(&[edit], &mut lookup, &GroupRules { questioned: Some(questioned), ..GroupRules::default() })
    };
    let (version, other) = ("x = 1\ny = 5\nz = 3\n", "def new():\n    pass\n");
    let outcome = run(version, Format::WHOLE, true, &["src/cart.py"], HashSet::new());
    assert_eq!(outcome.changes[0].path, "src/cart.py");
    let unread = run(version, Format::WHOLE, false, &["src/cart.py"], HashSet::new());
    assert!(unread.changes.is_empty() && unread.text().starts_with("src/cart.py: it has not been read"), "{unread:?}");
    let question = run(other, Format::WHOLE, true, &["src/cart.py"], HashSet::new());
    assert!(question.changes.is_empty());
    assert!(
        matches!(&question.results[0].status, EditStatus::Doubted(why) if why.starts_with("it may be src/cart.py. "))
    );
    let again = HashSet::from([("cart.py".to_string(), other.to_string())]);
    let made = run(other, Format::WHOLE, true, &["src/cart.py"], again);
    assert_eq!((made.changes[0].path.as_str(), made.results[0].rung()), ("cart.py", Some(Rung::Inexact)));
    // Of several none is meant.
    for instead in [&["a/cart.py", "b/cart.py"][..], &[]] {
        let made = run(other, Format::WHOLE, true, instead, HashSet::new());
        assert_eq!((made.changes[0].path.as_str(), made.results[0].rung()), ("cart.py", Some(Rung::Exact)));
    }
}

#[test]
fn a_piece_of_a_file_is_refused_again() {
    let old = "class A {\n  add(x) {\n    return 1;\n  }\n}\n\nclass B {\n  add(x) {\n    return 2;\n  }\n}\n";
    let content = "  add(x) {\n    return 3;\n  }\n".to_string();
    let edit = Edit::new("a.ts", Op::Overwrite { content: content.clone() }, Format::WHOLE, "whole");
    for questioned in [None, Some(HashSet::new()), Some(HashSet::from([("a.ts".to_string(), content)]))] {
        let mut lookup = |path: &str| {
            let (path, state) = (path.to_string(), State::file(old.as_bytes()));
            Ok(Current { path, state, seen: true, read: None, instead: Vec::new(), withheld: None })
        };
        let rules = GroupRules { questioned, ..GroupRules::default() };
        let outcome = apply(std::slice::from_ref(&edit), &mut lookup, &rules);
        assert!(outcome.changes.is_empty());
        let refused = outcome.text();
        assert!(matches!(outcome.results[0].status, EditStatus::Failed(_)), "{refused}");
        assert!(refused.contains("is a part of the file meant? Nothing was written yet. "), "{refused}");
    }
}

#[test]
fn permissions_change_by_a_hunk_of_their_own_and_stay_in_a_move() {
    let patch = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n\
                 diff --git a/a.sh b/b.sh\nsimilarity index 100%\nrename from a.sh\nrename to b.sh\n\
                 diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+hi\n";
    let pieces =
        crate::edit::stream::read(patch, None, Vec::new(), Default::default(), crate::edit::stream::End::Ordinary);
    let edits: Vec<Edit> = pieces
        .into_iter()
        .filter_map(|p| match p {
            crate::edit::stream::Piece::EditDone { edit, .. } => Some(edit),
            _ => None,
        })
        .collect();
    let mut lookup = |path: &str| {
        let file = |mode| State::File { bytes: (*b"x\n").into(), mode: Some(mode) };
        let state = match path {
            "run.sh" => file(0o644),
            "a.sh" => file(0o755),
            _ => State::Absent,
        };
        Ok(Current { path: path.to_string(), state, seen: true, read: None, instead: Vec::new(), withheld: None })
    };
    let outcome = apply(&edits, &mut lookup, &GroupRules::default());
    assert!(outcome.ok(), "{}", outcome.text());
    let after: Vec<_> = outcome
        .changes
        .iter()
        .map(|c| match &c.after {
            State::File { mode, .. } => (c.path.as_str(), *mode, c.hunks[0].kind),
            _ => (c.path.as_str(), None, c.hunks[0].kind),
        })
        .collect();
    let executable = Some(0o755);
    assert_eq!(
        after,
        [
            ("run.sh", executable, HunkKind::Mode),
            ("a.sh", None, HunkKind::Move),
            ("b.sh", executable, HunkKind::Move),
            ("new.sh", executable, HunkKind::Create)
        ]
    );
}

#[test]
fn a_moved_file_keeps_how_its_edits_were_found() {
    let alike = replace("a", "a line that is quite long, and anther", "short");
    let to = Edit::new("a", Op::Move { to: "c".into() }, Format::TOOLS, "moveFile");
    let outcome = run(&[alike, to], &[("a", "a line that is quite long, and another\n")], false);
    assert_eq!(outcome.results[0].rung(), Some(Rung::Inexact));
    assert!(outcome.changes.iter().flat_map(|c| &c.hunks).all(|h| h.found.as_ref().unwrap().rung == Rung::Inexact));
}

#[test]
fn a_move_carries_the_edited_text() {
    let to = Edit::new("a", Op::Move { to: "c".into() }, Format::TOOLS, "moveFile");
    let outcome = run(&[replace("a", "one", "two"), to], &[("a", "one\n")], false);
    let after: Vec<_> = outcome.changes.iter().map(|c| (c.path.as_str(), c.after.text())).collect();
    assert_eq!(after, [("a", None), ("c", Some("two\n"))]);
}

/// Places edits in a file that is another one than the model read: its text after, and how it was merged.
fn merged(edits: &[Edit], read: &str, now: &str) -> Option<(String, MergeRung)> {
    merged_by(Merger::default(), edits, read, now)
}

fn merged_by(merger: Merger, edits: &[Edit], read: &str, now: &str) -> Option<(String, MergeRung)> {
    let mut lookup = |path: &str| {
        let (state, read) = (State::file(now.as_bytes()), Some(read.into()));
        Ok(Current { path: path.to_string(), state, seen: false, read, instead: Vec::new(), withheld: None })
    };
    let outcome = apply(edits, &mut lookup, &GroupRules { merger, ..GroupRules::default() });
    assert_eq!(outcome.ok(), outcome.changes.len() == 1, "{}", outcome.text());
    let change = outcome.changes.into_iter().next()?;
    assert_eq!(change.before.text(), Some(now));
    Some((change.after.text()?.to_string(), change.merged?))
}

#[test]
fn an_edit_that_fits_what_was_read_alone_is_merged_into_what_is_there() {
    let read = "a\nb\nc\nd\ne\n";
    let whole = |content: &str| [Edit::new("f", Op::Overwrite { content: content.into() }, Format::TOOLS, "editFile")];
    let both = Some(("A\nb\nc\nd\nE\n".to_string(), MergeRung::Lines));
    assert_eq!(merged(&whole("A\nb\nc\nd\ne\n"), read, "a\nb\nc\nd\nE\n"), both);
    // A search text whose last line is another one by now.
    assert_eq!(merged(&[replace("f", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n")], read, "a\nb\nc\nd\nE\n"), both);
    assert_eq!(merged(&whole("A\nb\nc\nd\ne\n"), read, "x\nb\nc\nd\ne\n"), None, "both changed the line");
    assert_eq!(merged(&whole("a\nb\nc\nd\ne\n"), read, "a\nb\nc\nd\nE\n"), None, "nothing of it was changed");
    assert_eq!(merged(&whole("A\nb\n... rest\n"), read, "a\nb\nc\nd\nE\n"), None, "lines are left out");
}

#[test]
fn a_whole_text_that_someone_else_wrote_meanwhile_is_made_already() {
    let whole = [Edit::new("f", Op::Overwrite { content: "A\nb\nc\nd\ne\n".into() }, Format::TOOLS, "editFile")];
    // Theirs alone, and with more of theirs beside it.
    for now in ["A\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n"] {
        let mut lookup = |path: &str| {
            let (state, read) = (State::file(now.as_bytes()), Some("a\nb\nc\nd\ne\n".into()));
            Ok(Current { path: path.to_string(), state, seen: false, read, instead: Vec::new(), withheld: None })
        };
        let outcome = apply(&whole, &mut lookup, &GroupRules::default());
        assert!(made(&outcome) == [true] && outcome.changes.is_empty(), "{now}: {}", outcome.text());
        assert!(outcome.text().contains("already done"), "{}", outcome.text());
    }
}

#[cfg(feature = "code")]
#[test]
fn a_whole_text_is_merged_by_definitions() {
    let read = "fn a() {}\n";
    let whole = Op::Overwrite { content: "fn a() {}\nfn b() {}\n".into() };
    let edits = [Edit::new("f.rs", whole, Format::TOOLS, "editFile")];
    let both = ("fn a() {}\nfn b() {}\nfn c() {}\n".to_string(), MergeRung::Definitions);
    assert_eq!(merged(&edits, read, "fn a() {}\nfn c() {}\n"), Some(both));
}

#[test]
fn a_whole_text_is_merged_by_a_program_whose_result_is_sound() {
    let whole = Op::Overwrite { content: "{a: 1, b: 2}\n".into() };
    let edits = [Edit::new("f", whole, Format::TOOLS, "editFile")];
    let by = |joined: &'static str| {
        let program = move |path: &str, texts: [&str; 3]| {
            assert_eq!((path, texts), ("f", ["{a: 1}\n", "{a: 1, b: 2}\n", "{c: 3, a: 1}\n"]));
            Some(joined.to_owned())
        };
        merged_by(Merger::by_program(Arc::new(program)), &edits, "{a: 1}\n", "{c: 3, a: 1}\n")
    };
    let both = "{c: 3, a: 1, b: 2}\n";
    assert_eq!(by(both), Some((both.to_owned(), MergeRung::Mergiraf)));
    assert_eq!(by("{c: 3, a: 1}\n"), None);
}

#[test]
fn one_file_that_cannot_be_merged_leaves_the_others_to_be() {
    let mut lookup = |path: &str| {
        let now = if path == "a" { "1\n2\n3x\n" } else { "1x\n2\n3\n" };
        let (state, read) = (State::file(now.as_bytes()), Some("1\n2\n3\n".into()));
        Ok(Current { path: path.to_string(), state, seen: false, read, instead: Vec::new(), withheld: None })
    };
    let edit = |path| {
        let content = "one\n2\n3\n".into();
        Edit::new(path, Op::Overwrite { content }, Format::TOOLS, "editFile")
    };
    let outcome = apply(&[edit("a"), edit("b")], &mut lookup, &GroupRules::default());
    let after: Vec<_> = outcome.changes.iter().map(|c| (c.path.as_str(), c.after.text())).collect();
    assert_eq!(after, [("a", Some("one\n2\n3x\n"))]);
    assert!(matches!(outcome.results[1].status, EditStatus::Failed(_)), "{}", outcome.text());
}

/// Places edits in a file that is another one than the model read: its text after.
fn placed_since(edits: &[Edit], read: &str, now: &str) -> Result<String, String> {
    let mut lookup = |path: &str| {
        let (state, read) = (State::file(now.as_bytes()), Some(read.into()));
        Ok(Current { path: path.to_string(), state, seen: false, read, instead: Vec::new(), withheld: None })
    };
    let outcome = apply(edits, &mut lookup, &GroupRules::default());
    match outcome.changes.first() {
        Some(change) => Ok(change.after.text().unwrap_or_default().to_string()),
        None => Err(outcome.text()),
    }
}

#[test]
fn an_edit_of_a_file_that_changed_goes_to_the_place_that_was_read() {
    let read = "def a():\n    return 0\n\n\ndef b():\n    return 1\n";
    let hunk = |body: &str| {
        let body = body.lines().map(str::to_string).collect();
        Edit::new("f", Op::Hunks(vec![PatchHunk { body, ..PatchHunk::default() }]), Format::TOOLS, "applyPatch")
    };
    // The same text stands in another function by now.
    let moved = "def a():\n    return compute()\n\n\ndef b():\n    return 1\n\n\ndef c():\n    return 0\n";
    for edit in [replace("f", "    return 0", "    return 5"), hunk("-    return 0\n+    return 5")] {
        let refused = placed_since(&[edit], read, moved).expect_err("refused");
        assert!(refused.contains("changed since it was read"), "{refused}");
    }
    // It begins like the text that was read.
    assert!(
        placed_since(&[replace("f", "return 1", "return 10")], read, &read.replace("return 1", "return 1000")).is_err()
    );
    // What was ambiguous when it was read is not certain because one place of it is gone.
    let twice = "a = 0\nb = 0\n";
    assert!(placed_since(&[replace("f", "= 0", "= 5")], twice, "a = 1\nb = 0\n").is_err());
    // The place is the same though the lines beside it and above are others.
    let beside = read.replace("def a():", "def first():");
    let after = placed_since(&[replace("f", "    return 0", "    return 5")], read, &beside);
    assert_eq!(after, Ok(beside.replace("return 0", "return 5")));
    // The model names what only the present file has.
    let present = read.replace("return 1", "return compute(1)");
    let known = replace("f", "return compute(1)", "return compute(2)");
    let both = [replace("f", "return 0", "return 5"), known.clone()];
    assert_eq!(placed_since(&[known], read, &present), Ok(present.replace("compute(1)", "compute(2)")));
    let after = present.replace("compute(1)", "compute(2)").replace("return 0", "return 5");
    assert_eq!(placed_since(&both, read, &present), Ok(after));
}

#[test]
fn a_part_that_is_placed_in_the_file_as_it_is_counts_as_merged() {
    let lines = |text: &str| Some((text.to_string(), MergeRung::Lines));
    let one = [replace("f", "a", "A")];
    assert_eq!(merged(&one, "a\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n"), lines("A\nb\nc\nd\nE\n"));
    // It names what only the present file has.
    let (read, now) = ("def a():\n    return 1\n", "def a():\n    return compute(1)\n");
    let present = [replace("f", "return compute(1)", "return compute(2)")];
    assert_eq!(merged(&present, read, now), lines(&now.replace("(1)", "(2)")));
}

#[test]
fn a_file_that_changed_since_it_was_read_is_neither_deleted_nor_moved() {
    let to = Op::Move { to: "g".into() };
    for op in [Op::Delete, to] {
        let edits = [Edit::new("f", op, Format::TOOLS, "deleteFile")];
        for (read, is_changed) in [(Some("old\n".into()), true), (Some(TextRead(None)), true), (None, false)] {
            let mut lookup = |path: &str| {
                let state = if path == "f" { State::file(*b"new\n") } else { State::Absent };
                let (path, read) = (path.to_string(), read.clone().filter(|_| path == "f"));
                Ok(Current { path, state, seen: false, read, instead: Vec::new(), withheld: None })
            };
            let outcome = apply(&edits, &mut lookup, &GroupRules::default());
            assert_eq!(outcome.text().contains("changed since it was read"), is_changed, "{}", outcome.text());
            assert_eq!(outcome.changes.is_empty(), is_changed);
        }
    }
}

const SHOP: &str = "pub fn total(prices: &[i64]) -> i64 {\n    let mut sum = 0;\n    for price in prices {\n        sum += price;\n    }\n    sum\n}\n\npub fn refunds(prices: &[i64]) -> i64 {\n    let mut sum = 0;\n    for price in prices {\n        sum -= price;\n    }\n    sum\n}\n";

/// Two definitions that are alike are told apart by their names, and a line that the model remembers wrongly but does not
/// change stays the file's.
#[test]
fn a_search_text_that_names_a_definition_means_no_other() {
    let guard = "    if prices.is_empty() {\n        return 0;\n    }\n";
    let (head, wrong) = ("pub fn refunds(prices: &[i64]) -> i64 {\n", SHOP.split_once('\n').expect("a body").1);
    let body = wrong.split_once("}\n\n").expect("an end").0;
    let wanted = SHOP.replace(head, &format!("{head}{guard}"));
    let end = "        sum -= price;\n    }\n";
    let without_sum = &SHOP[SHOP.find(head).expect("there") + head.len()..SHOP.find(end).expect("there") + end.len()];
    for body in [body, without_sum] {
        let edit = replace("shop.rs", &format!("{head}{body}}}"), &format!("{head}{guard}{body}}}"));
        let outcome = run(&[edit], &[("shop.rs", SHOP)], false);
        assert!(outcome.ok(), "{}", outcome.text());
        assert_eq!(outcome.changes[0].after.text(), Some(wanted.as_str()));
        assert_eq!(outcome.results[0].rung(), Some(Rung::Inexact), "no policy writes it");
    }
    // Where the changed line itself is another one, the replacement counts.
    let fee = "export function with_tax(price: number): number {\n  return price + price / 5;\n}\n\nexport function with_fee(price: number): number {\n  return price + 5;\n}\n";
    let head = "export function with_fee(price: number): number {\n";
    let search = format!("{head}  return price + price / 5;\n}}");
    let edit = replace("shop.ts", &search, &format!("{head}  return price + 7;\n}}"));
    let outcome = run(&[edit], &[("shop.ts", fee)], false);
    assert!(outcome.ok(), "{}", outcome.text());
    assert_eq!(outcome.changes[0].after.text(), Some(fee.replace("price + 5", "price + 7").as_str()));
    // Of two of that name neither is meant for sure.
    let twice = format!("{fee}\n{}", fee.split_once("\n\n").expect("two").1);
    let edit = replace("shop.ts", &search, &format!("{head}  return price + 7;\n}}"));
    assert!(!run(&[edit], &[("shop.ts", &twice)], false).ok());
}

/// Two edits that search the same lines of the file are joined for a person to decide, or refused together.
#[test]
fn edits_that_overlap_are_joined_or_refused() {
    let block = |replace: &str| {
        let (search, replace) = ("a = 1\nb = 2".to_string(), replace.to_string());
        Edit::new(
            "m.py",
            Op::Replace { search, replace, shape: SearchShape::Lines, all: false },
            Format::BLOCKS,
            "blocks",
        )
    };
    let files = [("m.py", "a = 1\nb = 2\nc = 3\n")];
    let outcome = run(&[block("a = 10\nb = 2"), block("a = 1\nb = 20")], &files, false);
    assert!(outcome.ok(), "{}", outcome.text());
    assert_eq!(outcome.changes[0].after.text(), Some("a = 10\nb = 20\nc = 3\n"));
    assert_eq!(outcome.results[1].rung(), Some(Rung::Inexact), "no policy writes it");
    assert!(outcome.text().contains("changed the same lines"), "{}", outcome.text());
    // Both change the same line.
    let outcome = run(&[block("a = 10\nb = 2"), block("a = 11\nb = 2")], &files, false);
    assert!(!outcome.ok() && outcome.changes.is_empty(), "{}", outcome.text());
    assert!(outcome.text().contains("Send both as one change"), "{}", outcome.text());
}

/// Hunks of one file, as a diff in a text has them.
fn diff(path: &str, header: Option<[(usize, usize); 2]>, body: &str) -> Edit {
    let body = body.lines().map(str::to_string).collect();
    Edit::new(path, Op::Hunks(vec![PatchHunk { header, body, ..PatchHunk::default() }]), Format::PATCH, "patch")
}

fn block(path: &str, search: &str, with: &str) -> Edit {
    let op = Op::Replace { search: search.into(), replace: with.into(), shape: SearchShape::Lines, all: false };
    Edit::new(path, op, Format::BLOCKS, "blocks")
}

fn whole(path: &str, content: &str) -> Edit {
    Edit::new(path, Op::Overwrite { content: content.into() }, Format::WHOLE, "whole")
}

fn made(outcome: &EditOutcome) -> Vec<bool> {
    outcome.results.iter().map(|result| result.status == EditStatus::Made).collect()
}

const CALC: &str = "import os\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n";

/// Lists changes, each in every form, with the text they make.
fn forms() -> Vec<(String, Vec<Edit>)> {
    let sys = CALC.replace("import os\n", "import os\nimport sys\n");
    let h = CALC.replace("def g", "def h():\n    return 3\n\n\ndef g");
    let (twenty, gone) = (CALC.replace("return 2", "return 20"), CALC.replace("def f():\n    return 1\n\n\n", ""));
    vec![
        (
            sys.clone(),
            vec![
                replace("a.py", "import os\n", "import os\nimport sys\n"),
                block("a.py", "import os", "import os\nimport sys"),
                diff("a.py", None, " import os\n+import sys\n \n \n def f():"),
                diff("a.py", Some([(1, 3), (1, 4)]), " import os\n+import sys\n \n "),
                whole("a.py", &sys),
            ],
        ),
        (
            h.clone(),
            vec![
                replace("a.py", "def g():", "def h():\n    return 3\n\n\ndef g():"),
                block("a.py", "def g():", "def h():\n    return 3\n\n\ndef g():"),
                diff("a.py", None, "+def h():\n+    return 3\n+\n+\n def g():\n     return 2"),
                whole("a.py", &h),
            ],
        ),
        (
            twenty.clone(),
            vec![
                replace("a.py", "return 2", "return 20"),
                block("a.py", "    return 2", "    return 20"),
                diff("a.py", None, " def g():\n-    return 2\n+    return 20"),
                diff("a.py", None, "-    return 2\n+    return 20"),
                whole("a.py", &twenty),
            ],
        ),
        (
            gone.clone(),
            vec![
                replace("a.py", "def f():\n    return 1\n\n\n", ""),
                diff("a.py", None, " import os\n \n \n-def f():\n-    return 1\n-\n-\n def g():"),
            ],
        ),
    ]
}

#[test]
fn a_change_in_two_forms_is_made_once() {
    for (after, forms) in forms() {
        for (one, other) in forms.iter().flat_map(|one| forms.iter().map(move |other| (one, other))) {
            let outcome = run(&[one.clone(), other.clone()], &[("a.py", CALC)], false);
            assert_eq!(made(&outcome), [false, true], "{one:?}\n{other:?}\n{}", outcome.text());
            assert_eq!(outcome.changes[0].after.text(), Some(after.as_str()), "{one:?}\n{other:?}");
        }
    }
}

/// An answer that reports what an earlier one changed.
#[test]
fn a_change_that_stands_is_not_made_again() {
    let past = PastChanges { texts: vec![CALC.into()], in_turn: true, ..PastChanges::default() };
    for (after, forms) in forms() {
        let mut lookup = |path: &str| {
            let (path, state) = (path.to_string(), State::file(after.as_bytes()));
            Ok(Current { path, state, seen: true, read: None, instead: Vec::new(), withheld: None })
        };
        let past = [("a.py".to_string(), past.clone())].into_iter().collect();
        let rules = GroupRules { past, ..GroupRules::default() };
        for form in forms {
            let outcome = apply(std::slice::from_ref(&form), &mut lookup, &rules);
            assert!(made(&outcome) == [true] && outcome.changes.is_empty(), "{form:?}\n{}", outcome.text());
        }
    }
    // What only adds stands without a past.
    let after = forms().swap_remove(0).0;
    let outcome = run(&[block("a.py", "import os", "import os\nimport sys")], &[("a.py", &after)], false);
    assert!(made(&outcome) == [true] && outcome.text().contains("already done"), "{}", outcome.text());
}

#[test]
fn what_was_taken_back_or_added_between_does_not_stand() {
    let apply_to = |now: &str, edit: Edit| {
        let mut lookup = |path: &str| {
            let (path, state) = (path.to_string(), State::file(now.as_bytes()));
            Ok(Current { path, state, seen: true, read: None, instead: Vec::new(), withheld: None })
        };
        let texts = vec![CALC.into(), now.replace("return 1", "return 7").into()];
        let past = PastChanges { texts, in_turn: true, ..PastChanges::default() };
        let rules = GroupRules { past: [("a.py".to_string(), past)].into_iter().collect(), ..GroupRules::default() };
        apply(&[edit], &mut lookup, &rules).changes.first().and_then(|change| change.after.text().map(str::to_string))
    };
    let twenty = CALC.replace("return 2", "return 20");
    assert_eq!(apply_to(CALC, replace("a.py", "    return 2", "    return 20")), Some(twenty));
    let between = CALC.replace("import os\n", "import os\nimport re\nimport sys\n");
    assert_eq!(apply_to(&between, replace("a.py", "import os\n", "import os\nimport sys\n")), None);
}

#[test]
fn files_are_made_deleted_and_moved_once() {
    let (new, delete) = (
        Edit::new("n.py", Op::Write { content: "x = 1\n".into() }, Format::TOOLS, "writeFile"),
        Edit::new("a.py", Op::Delete, Format::TOOLS, "deleteFile"),
    );
    let to = Edit::new("a.py", Op::Move { to: "c.py".into() }, Format::TOOLS, "moveFile");
    for edit in [&new, &delete, &to] {
        let once = run(std::slice::from_ref(edit), &[("a.py", CALC)], false);
        let twice = run(&[edit.clone(), edit.clone()], &[("a.py", CALC)], false);
        assert_eq!((made(&twice), &twice.changes), (vec![false, true], &once.changes), "{edit:?}");
    }
    // In answers one after the other.
    let past = |deleted: bool, moved: Option<&str>| {
        let past = PastChanges { deleted, moved: moved.map(Into::into), in_turn: true, ..PastChanges::default() };
        GroupRules { past: [("a.py".to_string(), past)].into_iter().collect(), ..GroupRules::default() }
    };
    let again = |edit: &Edit, rules: &GroupRules| {
        let mut lookup = |path: &str| {
            let state = if path == "c.py" { State::file(CALC.as_bytes()) } else { State::Absent };
            Ok(Current { path: path.into(), state, seen: true, read: None, instead: Vec::new(), withheld: None })
        };
        made(&apply(std::slice::from_ref(edit), &mut lookup, rules)) == [true]
    };
    assert!(again(&delete, &past(true, None)) && !again(&delete, &GroupRules::default()));
    assert!(again(&to, &past(false, Some("c.py"))) && !again(&to, &past(false, Some("d.py"))));
}

/// Edits that are alike and are none of them the same.
#[test]
fn edits_that_differ_are_all_made() {
    let twice = "def a():\n    x = 1\n\n\ndef b():\n    x = 1\n";
    let with = |name: &str| block("m.py", &format!("def {name}():\n    x = 1"), &format!("def {name}():\n    x = 2"));
    let outcome = run(&[with("a"), with("b")], &[("m.py", twice)], false);
    assert_eq!(outcome.changes[0].after.text(), Some(twice.replace('1', "2").as_str()), "{}", outcome.text());
    let at = |old, new| diff("m.py", Some([(old, 1), (new, 2)]), "     x = 1\n+    y = 1");
    let outcome = run(&[at(2, 2), at(6, 7)], &[("m.py", twice)], false);
    assert!(outcome.ok(), "{}", outcome.text());
    assert_eq!(outcome.changes[0].after.text(), Some(twice.replace("x = 1", "x = 1\n    y = 1").as_str()));
    // All places, and an equal line by another search text.
    let all = Op::Replace { search: "x = 1".into(), replace: "x = 10".into(), shape: SearchShape::Literal, all: true };
    let outcome = run(&[Edit::new("m.py", all, Format::TOOLS, "replaceInFile")], &[("m.py", twice)], false);
    assert_eq!(outcome.changes[0].after.text(), Some(twice.replace("x = 1", "x = 10").as_str()));
    let more = replace("a", "tick()\nend()", "tick()\ntick()\nend()");
    let outcome = run(&[replace("a", "end()", "tick()\nend()"), more], &[("a", "begin()\nend()\n")], false);
    assert_eq!(outcome.changes[0].after.text(), Some("begin()\ntick()\ntick()\nend()\n"), "{}", outcome.text());
}

#[test]
fn the_file_as_it_was_behind_its_change_leaves_that_to_a_person() {
    let new = CALC.replace("return 2", "return 20");
    let outcome = run(&[whole("a.py", &new), whole("a.py", CALC)], &[("a.py", CALC)], false);
    assert_eq!(outcome.changes[0].after.text(), Some(new.as_str()));
    assert_eq!((outcome.results[0].rung(), &outcome.results[1].status), (Some(Rung::Inexact), &EditStatus::Same));
    let change = &outcome.changes[0];
    assert!(change.hunks.iter().all(|hunk| change.needs_person(hunk).is_some()), "{:?}", change.hunks);
    // So does what comes behind it, here or where the file is moved.
    let newer = || whole("a.py", &CALC.replace("return 2", "return 200"));
    let to = || Edit::new("a.py", Op::Move { to: "b.py".into() }, Format::TOOLS, "moveFile");
    let behind = |path: &str| block(path, "    return 1", "    return 10");
    for last in [vec![newer()], vec![behind("a.py")], vec![newer(), behind("a.py")], vec![to(), behind("b.py")]] {
        let edits = [vec![whole("a.py", &new), whole("a.py", CALC)], last].concat();
        let outcome = run(&edits, &[("a.py", CALC)], false);
        assert_eq!(outcome.results[edits.len() - 1].rung(), Some(Rung::Inexact), "{}", outcome.text());
        for change in &outcome.changes {
            assert!(change.hunks.iter().all(|hunk| change.needs_person(hunk).is_some()), "{:?}", change.hunks);
        }
    }
    // In front of it, it is only quoted.
    let outcome = run(&[whole("a.py", CALC), whole("a.py", &new)], &[("a.py", CALC)], false);
    assert_eq!(outcome.results[1].rung(), Some(Rung::Exact));
}

#[test]
fn a_bracket_at_the_end_of_a_file_that_ends_in_one_is_added() {
    let at_end = |line: &str| {
        let hunk = PatchHunk { at_end: true, body: vec![format!("+{line}")], ..PatchHunk::default() };
        Edit::new("a.rs", Op::Hunks(vec![hunk]), Format::PATCH, "patch")
    };
    let text = "fn f() {\n    if x() {\n        y();\n}\n";
    let outcome = run(&[at_end("}")], &[("a.rs", text)], false);
    assert_eq!(outcome.changes[0].after.text(), Some(format!("{text}}}\n").as_str()), "{}", outcome.text());
    // A line with words that stands there is there already.
    let outcome = run(&[at_end("mod a;")], &[("a.rs", "mod a;\n")], false);
    assert!(made(&outcome) == [true] && outcome.changes.is_empty(), "{}", outcome.text());
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn line() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec!["a", "b", "c", "ab", "x = 1", "x = 10", "}", "", "  a", "end"])
    }

    fn edits() -> impl Strategy<Value = Vec<Edit>> {
        let text = || prop::collection::vec(line(), 1..4).prop_map(|lines| lines.join("\n"));
        let path = || prop::sample::select(vec!["a.py", "b.py", "./a.py"]);
        let format = prop::sample::select(vec![Format::TOOLS, Format::BLOCKS, Format::WHOLE]);
        let edit = (0..9_u8, path(), text(), text(), any::<bool>(), format).prop_map(
            |(kind, path, search, new, all, format)| {
                let shape = if all { SearchShape::Lines } else { SearchShape::Literal };
                let op = match kind {
                    0..4 => Op::Replace { search, replace: new, shape, all },
                    4 => Op::Hunks(vec![PatchHunk {
                        body: search
                            .lines()
                            .map(|l| format!(" {l}"))
                            .chain(new.lines().map(|l| format!("+{l}")))
                            .collect(),
                        ..PatchHunk::default()
                    }]),
                    5 => Op::Overwrite { content: new },
                    6 => Op::Write { content: new },
                    7 => Op::Delete,
                    _ => Op::Move { to: "c.py".into() },
                };
                Edit::new(path, op, format, "test")
            },
        );
        prop::collection::vec(edit, 1..5)
    }

    proptest! {
        /// An answer that says everything twice comes to the same as one that says it once.
        #[test]
        fn said_twice_is_done_once(edits in edits(), file in prop::collection::vec(line(), 1..8)) {
            let file = file.join("\n") + "\n";
            let run = |edits: &[Edit]| {
                let mut lookup = |path: &str| {
                    let path = path.strip_prefix("./").unwrap_or(path).to_string();
                    let state = if path == "a.py" { State::file(file.as_bytes()) } else { State::Absent };
                    Ok(Current { path, state, seen: true, read: None, instead: Vec::new(), withheld: None })
                };
                let outcome = apply(edits, &mut lookup, &GroupRules::default());
                let after = outcome.changes.into_iter().map(|change| (change.path, change.after));
                after.collect::<BTreeMap<_, _>>()
            };
            let twice = [edits.as_slice(), &edits].concat();
            prop_assert_eq!(run(&twice), run(&edits));
        }
    }
}

/// Places edits where the model was asked about these texts before.
fn asked(edits: &[Edit], files: &[(&str, &str)], questioned: &[(&str, &str)]) -> EditOutcome {
    let mut lookup = |path: &str| {
        let state = files.iter().find(|(p, _)| *p == path).map_or(State::Absent, |(_, t)| State::file(t.as_bytes()));
        Ok(Current { path: path.to_string(), state, seen: true, read: None, instead: Vec::new(), withheld: None })
    };
    let questioned = questioned.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
    apply(edits, &mut lookup, &GroupRules { questioned: Some(questioned), ..GroupRules::default() })
}

const A: &str = "def a():\n    return 1\n";
const B: &str = "def b():\n    return 2\n";

#[test]
fn the_only_definition_that_is_left_of_a_file_may_be_all_of_it() {
    let both = format!("{A}\n\n{B}");
    let files = [("ab.py", both.as_str())];
    let first = asked(&[whole("ab.py", A)], &files, &[]);
    let is_asked =
        |status: &EditStatus| matches!(status, EditStatus::Doubted(why) if why.contains("1 of the file's 2"));
    assert!(is_asked(&first.results[0].status), "{}", first.text());
    let again = asked(&[whole("ab.py", A)], &files, &[("ab.py", A)]);
    assert_eq!((again.results[0].rung(), again.changes[0].after.text()), (Some(Rung::Inexact), Some(A)));
    // Beside an edit of the file it is only quoted.
    let change = || block("ab.py", "    return 2", "    return 20");
    for (edits, at) in [(vec![whole("ab.py", A), change()], 0), (vec![change(), whole("ab.py", A)], 1)] {
        let outcome = asked(&edits, &files, &[]);
        assert!(outcome.ok(), "{}", outcome.text());
        assert_eq!(outcome.changes[0].after.text(), Some(both.replace("2\n", "20\n").as_str()), "{at}");
    }
    // A method is a part of its class.
    let class = "class A:\n    def a(self):\n        return 1\n\n    def b(self):\n        return 2\n";
    let part = asked(&[whole("a.py", "    def a(self):\n        return 1\n")], &[("a.py", class)], &[]);
    assert!(part.changes.is_empty() && !matches!(part.results[0].status, EditStatus::Doubted(_)), "{}", part.text());
}

#[test]
fn what_another_file_of_the_answer_gains_is_not_lost() {
    let both = format!("{A}\n\n{B}");
    let (left, moved) = (whole("ab.py", A), whole("b.py", B));
    for edits in [[left.clone(), moved.clone()], [moved.clone(), left.clone()]] {
        let outcome = asked(&edits, &[("ab.py", &both)], &[]);
        let rungs: Vec<_> = outcome.results.iter().map(EditResult::rung).collect();
        assert_eq!(rungs, [Some(Rung::Exact); 2], "{}", outcome.text());
    }
    // The other has it already, or does not get it.
    let outcome =
        asked(&[left.clone(), whole("b.py", &format!("import os\n\n\n{B}"))], &[("ab.py", &both), ("b.py", B)], &[]);
    assert!(matches!(outcome.results[0].status, EditStatus::Doubted(_)), "{}", outcome.text());
    let refused = block("c.py", "no such line", B);
    let outcome = asked(&[left, refused], &[("ab.py", &both), ("c.py", "x = 1\n")], &[]);
    assert!(outcome.changes.is_empty(), "{}", outcome.text());
    // A style sheet out of a page.
    let style = "body {\n  margin: 0;\n}\n\nh1 {\n  color: red;\n  margin: 1em;\n}\n";
    let head = "<html>\n<head>\n<title>T</title>\n";
    let tail = "</head>\n<body>\n<h1>T</h1>\n</body>\n</html>\n";
    let page = format!("{head}<style>\n{style}</style>\n{tail}");
    let new = format!("{head}<link rel=\"stylesheet\" href=\"style.css\">\n{tail}");
    let outcome = asked(&[whole("i.html", &new), whole("style.css", style)], &[("i.html", &page)], &[]);
    assert_eq!(outcome.results[0].rung(), Some(Rung::Exact), "{}", outcome.text());
}

#[test]
fn a_path_in_a_comment_is_no_line_of_a_file_that_cannot_have_it() {
    let after = |path: &str, old: Option<&str>, content: &str| {
        let files: Vec<(&str, &str)> = old.map(|old| (path, old)).into_iter().collect();
        let outcome = run(&[whole(path, content)], &files, false);
        outcome.changes.first().and_then(|change| change.after.text().map(str::to_string)).unwrap_or_default()
    };
    let json = "{\n  \"a\": 1\n}\n";
    for line in ["// package.json", "// filename: package.json", "// Updated package.json"] {
        assert_eq!(after("package.json", None, &format!("{line}\n{json}")), json, "{line}");
        assert_eq!(after("package.json", Some("{\n  \"a\": 0\n}\n"), &format!("{line}\n{json}")), json, "{line}");
    }
    let script = "#!/bin/bash\necho hi\n";
    assert_eq!(after("run.sh", None, &format!("# run.sh\n{script}")), script);
    for line in ["# calc.py:", "# filename: calc.py", "# Updated calc.py", "# calc.py (updated)"] {
        assert_eq!(after("calc.py", Some("x = 1\n"), &format!("{line}\nx = 2\n")), "x = 2\n", "{line}");
    }
    // The file has it, or says more.
    let own = "# calc.py\nx = 2\n";
    assert_eq!(after("calc.py", Some("import os\n# calc.py\nx = 1\n"), own), own);
    assert_eq!(after("calc.py", None, own), own);
    let said = "# calc.py - a calculator\nx = 2\n";
    assert_eq!(after("calc.py", Some("x = 1\n"), said), said);
}

#[test]
fn an_edit_without_a_path_is_of_the_file_in_which_its_text_stands() {
    let files = [("a.py", A), ("b.py", B)];
    let known = files.map(|(path, text)| KnownFile { path: path.into(), text: text.into() });
    let place = |edit: Edit| {
        let mut lookup = |path: &str| {
            let text =
                files.iter().find(|(own, _)| *own == path).map_or(State::Absent, |(_, t)| State::file(t.as_bytes()));
            Ok(Current { path: path.into(), state: text, seen: true, read: None, instead: Vec::new(), withheld: None })
        };
        let rules = GroupRules { known: known.to_vec(), ..GroupRules::default() };
        let outcome = apply(&[Edit { path: None, ..edit }], &mut lookup, &rules);
        outcome.results[0].rung().map(|_| outcome.results[0].path.clone())
    };
    assert_eq!(place(block("", "    return 2", "    return 20")).as_deref(), Some("b.py"));
    assert_eq!(place(diff("", None, "-    return 1\n+    return 10")).as_deref(), Some("a.py"));
    assert_eq!(place(block("", "    return 3", "    return 30")), None);
    assert_eq!(place(block("", "def", "async def")), None);
}

#[test]
fn blank_lines_that_an_edit_leaves_out_stay() {
    let file = "import os\n\nRATE = 0.2\n\n\ndef f():\n    pass\n";
    let wanted = file.replace("0.2", "0.25");
    let search = block("a.py", "import os\nRATE = 0.2\ndef f():", "import os\nRATE = 0.25\ndef f():");
    for edit in [search, diff("a.py", None, " import os\n-RATE = 0.2\n+RATE = 0.25\n def f():")] {
        let outcome = run(&[edit], &[("a.py", file)], false);
        assert_eq!(
            outcome.changes.first().and_then(|change| change.after.text()),
            Some(wanted.as_str()),
            "{}",
            outcome.text()
        );
        assert_eq!(outcome.results[0].rung(), Some(Rung::TrailingSpace));
    }
}

/// Returns the paths of the files that an answer changes beside files in play, and their texts.
fn changed(text: &str, files: &[(&str, &str)], format: Format) -> Vec<(String, String)> {
    let known: Vec<_> =
        files.iter().map(|(path, text)| KnownFile { path: path.to_string(), text: (*text).into() }).collect();
    let calls = crate::tools::ToolSet::builtin().calls();
    let pieces = stream::read(text, Some(format), known.clone(), calls, End::Ordinary);
    let edit = |piece| if let Piece::EditDone { edit, .. } = piece { Some(edit) } else { None };
    let edits: Vec<Edit> = pieces.into_iter().filter_map(edit).collect();
    let mut lookup = |path: &str| {
        if path.starts_with('/') {
            return Err("it lies outside".to_string());
        }
        let state = files.iter().find(|(p, _)| *p == path).map_or(State::Absent, |(_, t)| State::file(t.as_bytes()));
        Ok(Current { path: path.to_string(), state, seen: true, read: None, instead: Vec::new(), withheld: None })
    };
    let outcome = apply(&edits, &mut lookup, &GroupRules { known, ..GroupRules::default() });
    let change = |change: &FileChange| (change.path.clone(), change.after.text().unwrap_or_default().to_string());
    outcome.changes.iter().map(change).collect()
}

#[test]
fn a_new_version_under_nearly_the_path_of_a_file_is_its() {
    let readme = "# Demo\n\nA small tool.\n\n## Use\n\nRun it.\n";
    let new = readme.replace("small", "tiny");
    let text = format!("Updated README:\n\n```markdown\n{new}```\n");
    assert_eq!(changed(&text, &[("README.md", readme)], Format::WHOLE), [("README.md".to_string(), new)]);
    let conf = "a: 1\nb: 2\nc: 3\n";
    let new = conf.replace('2', "7");
    let text = format!("c.yaml\n```yaml\n{new}```\n");
    assert_eq!(changed(&text, &[("c.yml", conf)], Format::WHOLE), [("c.yml".to_string(), new.clone())]);
    let renamed = changed(
        &format!("*** Begin Patch\n*** Delete File: c.yml\n*** End Patch\n\n{text}"),
        &[("c.yml", conf)],
        Format::WHOLE,
    );
    assert!(renamed.iter().any(|(path, text)| path == "c.yaml" && *text == new), "{renamed:?}");
    let text = format!("/workspace/c.yml\n```yaml\n{new}```\n");
    assert_eq!(changed(&text, &[("c.yml", conf)], Format::WHOLE), [("c.yml".to_string(), new.clone())]);
    assert_eq!(changed(&text.replace("workspace", "etc"), &[("c.yml", conf)], Format::WHOLE), []);
    let other = changed("c.yaml\n```yaml\nx: 1\ny: 2\n```\n", &[("c.yml", conf)], Format::WHOLE);
    assert_eq!(other, [("c.yaml".to_string(), "x: 1\ny: 2\n".to_string())]);
}

#[test]
fn a_whole_text_is_read_without_what_is_none_of_it() {
    let file = "def a():\n    return 1\n\n\ndef total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n";
    let new = file.replace("return 1", "return 11");
    let shifted: String =
        new.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("  {line}\n") }).collect();
    for text in [
        format!("```python\n# t.py\n\n{new}```\n"),
        format!("t.py\n```python\n# 文件：t.py\n{new}```\n"),
        format!("t.py\n```python\n# ファイル: t.py\n\n{new}```\n"),
        format!("t.py\n```python\n# Datei: t.py\n{new}```\n"),
        format!("t.py\n```python\n# Fichier : t.py\n{new}```\n"),
        format!("```yaml\npath: t.py\ncontent: |\n{shifted}```\n"),
        format!("```python\nwith open('t.py', 'w') as f:\n    f.write('''{new}''')\n```\n"),
        format!("```toml\n[[files]]\npath = \"t.py\"\ncontent = \"\"\"\n{new}\"\"\"\n```\n"),
        format!("```python\nHere is the updated code:\n\n{new}```\n"),
        format!("t.py\n<<<<<<< SEARCH\n=======\n{new}>>>>>>> REPLACE\n"),
        "```diff\n-     return 1\n+     return 11\n```\n".to_string(),
    ] {
        assert_eq!(changed(&text, &[("t.py", file)], Format::WHOLE), [("t.py".to_string(), new.clone())], "{text}");
    }
    let part = "t.py\n<<<<<<< SEARCH\n=======\ndef a():\n    return 11\n>>>>>>> REPLACE\n";
    assert_eq!(changed(part, &[("t.py", file)], Format::BLOCKS), [], "a part is none");
}

/// Returns the rung of the only result, or what the model is told.
fn found(edit: Edit, path: &str, old: &str) -> Result<Rung, String> {
    let outcome = run(&[edit], &[(path, old)], false);
    outcome.results[0].rung().ok_or_else(|| outcome.text())
}

#[test]
fn a_replacement_that_leaves_lines_out_is_no_certain_one() {
    let js = "function run(a) {\n  const b = a + 1;\n  return b;\n}\n\nfunction stop(a) {\n  return a;\n}\n";
    let run_js = "function run(a) {\n  const b = a + 1;\n  return b;\n}";
    let py = "def total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n";
    let css = "body {\n  margin: 0;\n  padding: 0;\n}\n\nh1 {\n  color: navy;\n}\n";
    for (path, old, search, new) in [
        ("a.js", js, run_js, "function run(a) { ... }"),
        ("a.js", js, run_js, "function run(a) { /* unchanged */ }"),
        ("a.py", py, py.trim_end(), "def total(items): ..."),
        ("a.css", css, "body {\n  margin: 0;\n  padding: 0;\n}", "body { ... }"),
    ] {
        for edit in [block(path, search, new), replace(path, search, new)] {
            assert!(found(edit, path, old).is_err_and(|why| why.contains("stands for others")), "{new}");
        }
        let body: Vec<String> = search.lines().map(|line| format!("-{line}")).chain([format!("+{new}")]).collect();
        assert!(found(diff(path, None, &body.join("\n")), path, old).is_err(), "{new}");
    }
    let guarded = "def total(items):\n    if not items:\n        return 0\n    # existing loop";
    for new in
        [guarded, "def total(items):\n    # loop as before\n    return result", "def total(items):\n    # 原有循环"]
    {
        for edit in [block("a.py", py.trim_end(), new), replace("a.py", py.trim_end(), new)] {
            assert_eq!(found(edit, "a.py", py), Ok(Rung::Inexact), "{new}");
        }
        let body: Vec<String> =
            py.lines().map(|line| format!("-{line}")).chain(new.lines().map(|line| format!("+{line}"))).collect();
        assert_eq!(found(diff("a.py", None, &body.join("\n")), "a.py", py), Ok(Rung::Inexact), "{new}");
    }
}

#[test]
fn a_search_for_all_of_a_file_with_a_part_of_it_in_its_place_is_a_guess() {
    let py = "import os\n\n\ndef a():\n    return 1\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n";
    let new = "def a():\n    return 11\n";
    let body: Vec<String> =
        py.lines().map(|line| format!("-{line}")).chain(new.lines().map(|line| format!("+{line}"))).collect();
    for edit in [
        block("a.py", py.trim_end(), new.trim_end()),
        replace("a.py", py, new),
        block("a.py", "import os\n...\n    return 3", new.trim_end()),
        diff("a.py", None, &body.join("\n")),
    ] {
        assert_eq!(found(edit.clone(), "a.py", py), Ok(Rung::Inexact), "{edit:?}");
    }
    let certain = py.replace("1", "11");
    assert_eq!(found(block("a.py", py.trim_end(), certain.trim_end()), "a.py", py), Ok(Rung::Exact));
    assert_eq!(found(block("a.py", "def b():\n    return 2", ""), "a.py", py), Ok(Rung::Exact));
    // Deleted and made anew.
    let delete = Edit::new("a.py", Op::Delete, Format::PATCH, "patch");
    let add = Edit::new("a.py", Op::Write { content: new.into() }, Format::PATCH, "patch");
    let outcome = run(&[delete.clone(), add], &[("a.py", py)], false);
    assert_eq!(outcome.results[1].rung(), Some(Rung::Inexact), "{}", outcome.text());
    let add = Edit::new("a.py", Op::Write { content: certain }, Format::PATCH, "patch");
    assert!(run(&[delete, add], &[("a.py", py)], false).results[1].rung() == Some(Rung::Exact));
}

#[test]
fn two_whole_files_under_each_others_path_are_a_guess() {
    let code = "def a():\n    return 1\n\n\ndef b():\n    return 2\n";
    let tests = "from c import a, b\n\n\ndef test_a():\n    assert a() == 1\n\n\ndef test_b():\n    assert b() == 2\n";
    let edits = [whole("c.py", tests), whole("t.py", code)];
    let outcome = asked(&edits, &[("c.py", code), ("t.py", tests)], &[]);
    let is_asked = |result: &EditResult| matches!(result.status, EditStatus::Doubted(_));
    assert!(outcome.results.iter().all(is_asked), "{}", outcome.text());
}

#[test]
fn an_elision_inside_of_a_line_of_a_whole_file_is_filled_or_refused() {
    let js = "function run(a) {\n  return a;\n}\n\nfunction stop(a) {\n  log(a);\n  return a;\n}\n";
    let new = "function run(a) {\n  return a + 1;\n}\n\nfunction stop(a) { ... }\n";
    let outcome = run(&[whole("a.js", new)], &[("a.js", js)], false);
    assert_eq!(outcome.results[0].rung(), Some(Rung::Inexact), "{}", outcome.text());
    let wanted = js.replacen("return a;", "return a + 1;", 1);
    assert_eq!(outcome.changes[0].after.text(), Some(wanted.as_str()));
    let call = Edit::new("a.js", Op::Overwrite { content: new.into() }, Format::TOOLS, "editFile");
    assert!(found(call, "a.js", js).is_err_and(|why| why.contains("leaves lines out (`function stop(a) { ... }`)")));
    // Only a part is known of what a comment stands for.
    let part = "def total(items):\n    # existing loop\n    return result\n";
    let py = "import os\n\n\ndef total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n\n\ndef b():\n    pass\n";
    assert!(found(whole("a.py", part), "a.py", py).is_err_and(|why| why.contains("leaves lines out")));
}

#[test]
fn look_alikes_of_the_search_text_do_not_come_into_the_file() {
    let after = |path: &str, old: &str, search: &str, new: &str| {
        let outcome = run(&[block(path, search, new)], &[(path, old)], false);
        outcome.changes.first().and_then(|change| change.after.text().map(str::to_string)).unwrap_or_default()
    };
    for (path, old, search, new, wanted) in [
        ("a.py", "a = \"x\"\nb = 2\n", "a = “x”", "a = “y”", "a = \"y\"\nb = 2\n"),
        (
            "a.js",
            "const a = 'x';\nf();\n",
            "const a = ‘x’;",
            "const a = ‘y’;\nconst b = ‘z’;",
            "const a = 'y';\nconst b = 'z';\nf();\n",
        ),
        ("a.py", "a = 1\nb = 2\n", "a\u{a0}= 1", "a\u{a0}= 3", "a = 3\nb = 2\n"),
        ("a.py", "x = f(*a)\nb = a - 1\n", "b = a – 1", "b = a – 2", "x = f(*a)\nb = a - 2\n"),
        // What the file has so stays so, and the signs may be the change.
        ("a.md", "Say “x” and \"y\".\n", "Say “x” and “y”.", "Say “z” and “y”.", "Say “z” and “y”.\n"),
    ] {
        assert_eq!(after(path, old, search, new), wanted, "{new}");
    }
    assert_eq!(after("a.md", "Say \"x\".\nb\n", "Say \"x\".", "Say “x”."), "Say “x”.\nb\n");
    assert_eq!(after("a.md", "- Say \"x\".\nb\n", "– Say “x”.", "- Say “x”."), "- Say “x”.\nb\n");
}

#[test]
fn the_lines_that_stay_of_a_hunk_are_the_files_own() {
    let py = "def a():\n    return 1\n\n\ndef total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n";
    let js = "function total(items) {\n  let result = 0;\n\n  for (const item of items) {\n    result += item;\n  }\n  return result;\n}\n";
    for (path, old, body, wanted) in [
        (
            "a.py",
            py,
            " def total(values):\n+    assert items\n     result = 0\n     for item in items:",
            py.replace("(items):\n", "(items):\n    assert items\n"),
        ),
        (
            "a.py",
            py,
            " def total(items):\n     result = 1\n     for item in items:\n-        result += item\n+        result += 2 * item\n     return result",
            py.replace("+= item", "+= 2 * item"),
        ),
        (
            "a.js",
            js,
            " function total(item) {\n   let result = 0;\n \n   for (const item of items) {\n-    result += item;\n+    result += 2 * item;\n   }\n   return result;",
            js.replace("+= item", "+= 2 * item"),
        ),
    ] {
        let outcome = run(&[diff(path, None, body)], &[(path, old)], false);
        assert_eq!(outcome.results[0].rung(), Some(Rung::Inexact), "{}", outcome.text());
        assert_eq!(outcome.changes[0].after.text(), Some(wanted.as_str()));
    }
}

#[test]
fn another_width_of_indentation_is_fitted_to_the_file() {
    let js = "const cfg = {\n  port: 1,\n};\n\nfunction run() {\n  return cfg.port;\n}\n";
    let (search, new) = (
        "function run() {\n    return cfg.port;\n}",
        "function run() {\n    if (!cfg) {\n        return 0;\n    }\n    return cfg.port;\n}",
    );
    let wanted = js.replace("  return cfg", "  if (!cfg) {\n    return 0;\n  }\n  return cfg");
    let hunk = " function run() {\n+    if (!cfg) {\n+        return 0;\n+    }\n     return cfg.port;\n }";
    let py = "def a(x):\n    if x:\n        return 1\n    return 2\n";
    let narrow = "def a(x):\n  if x:\n    return 1\n  return 2";
    for (path, old, edit, wanted) in [
        ("a.js", js, block("a.js", search, new), wanted.clone()),
        ("a.js", js, diff("a.js", None, hunk), wanted),
        (
            "a.py",
            py,
            block("a.py", narrow, &narrow.replace("return 1", "while x:\n      x -= 1\n    return 1")),
            py.replace("return 1", "while x:\n            x -= 1\n        return 1"),
        ),
    ] {
        let outcome = run(&[edit], &[(path, old)], false);
        assert_eq!(outcome.results[0].rung(), Some(Rung::Indentation), "{}", outcome.text());
        assert_eq!(outcome.changes[0].after.text(), Some(wanted.as_str()));
    }
    // A whole file in tabs, and one that lost its indentation.
    let tabs = py.replace("    ", "\t").replace("return 2", "return 3");
    let outcome = run(&[whole("a.py", &tabs)], &[("a.py", py)], false);
    assert_eq!(outcome.changes[0].after.text(), Some(py.replace("return 2", "return 3").as_str()));
    let flat = py.replace("    ", "").replace("return 2", "return 3");
    assert!(found(whole("a.py", &flat), "a.py", py).is_err_and(|why| why.contains("margin")));
}

/// A diff takes out what has a `-`, and nothing that it leaves out of its context.
#[test]
fn a_line_that_a_diff_leaves_out_of_its_context_stays() {
    let page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"utf-8\">\n  <title>Shop</title>\n  <link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>\n</body>\n</html>\n";
    let body = " <!DOCTYPE html>\n <html lang=\"en\">\n-  <meta charset=\"utf-8\">\n-  <title>Shop</title>\n+  <meta charset=\"utf-8\">\n+  <title>Deutsch</title>\n   <link rel=\"stylesheet\" href=\"style.css\">\n </head>\n <body>";
    for header in [Some([(1, 7), (1, 7)]), None] {
        let outcome = run(&[diff("index.html", header, body)], &[("index.html", page)], false);
        let wanted = page.replace("Shop", "Deutsch");
        assert_eq!(outcome.changes[0].after.text(), Some(wanted.as_str()), "{}", outcome.text());
        assert_eq!(outcome.results[0].rung(), Some(Rung::Inexact), "no policy writes it");
    }
}

#[test]
fn a_hunk_of_new_lines_goes_into_a_file_of_blank_ones() {
    for (old, wanted) in [("", "one\ntwo\n"), ("\n", "one\ntwo\n\n"), ("\n  \n", "one\ntwo\n\n  \n")] {
        let outcome = run(&[diff("a.txt", Some([(0, 0), (1, 9)]), "+one\n+two")], &[("a.txt", old)], false);
        assert_eq!(outcome.changes[0].after.text(), Some(wanted), "{}", outcome.text());
    }
}

/// A line without its `+` comes where its place is certain; a hunk without any mark that has a line otherwise has no place.
#[test]
fn a_line_of_a_hunk_without_its_mark_is_not_passed_over() {
    let main = "package main\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n\t\"os\"\n)\n\ntype Config struct {\n\tPort string\n\tName string\n}\n\nfunc main() {\n\tcfg := load()\n\thttp.HandleFunc(\"/\", hello)\n\thttp.HandleFunc(\"/health\", health)\n\tfmt.Println(\"listening on\", cfg.Port)\n\thttp.ListenAndServe(\":\"+cfg.Port, nil)\n}\n";
    let hunk = |header, body: &str| PatchHunk {
        header: Some(header),
        body: body.lines().map(str::to_string).collect(),
        ..PatchHunk::default()
    };
    let line = "\thttp.HandleFunc(\"/version\", version)\n";
    let (above, below) = main.split_at(main.find("\tfmt.Println").expect("there"));
    let first = hunk(
        [(1, 10), (1, 11)],
        " package main\n\n import (\n\t\"fmt\"\n+\t\"net/http\"\n\t\"os\"\n)\n\ntype Config struct {\n\tPort string\n\tName string",
    );
    let second = hunk([(9, 12), (10, 13)], &format!("{}{line}{below}", &above[above.find("type").expect("there")..]));
    let edit = Edit::new("main.go", Op::Hunks(vec![first.clone(), second]), Format::PATCH, "patch");
    let outcome = run(&[edit], &[("main.go", main)], false);
    assert_eq!(outcome.changes[0].after.text(), Some(format!("{above}{line}{below}").as_str()), "{}", outcome.text());
    let other =
        hunk([(9, 12), (10, 12)], &main[main.find("type").expect("there")..].replace("listening on", "listens at"));
    let edit = Edit::new("main.go", Op::Hunks(vec![first, other]), Format::PATCH, "patch");
    let outcome = run(&[edit], &[("main.go", main)], false);
    assert!(outcome.changes.is_empty() && outcome.text().contains("hunk 2 of 2"), "{}", outcome.text());
}

#[test]
fn a_whole_file_that_leaves_out_a_definition_that_nobody_named_is_a_guess() {
    let names = ["circle", "square", "rectangle", "cube"];
    let file: String = names.map(|name| format!("def {name}(a):\n    return {name}_of(a)\n\n\n")).concat();
    let content =
        file.replace("def rectangle(a):\n    return rectangle_of(a)\n\n\n", "").replace("square_of", "power_of");
    let run = |prompt: &str, format: Format, content: &str| {
        let mut lookup = |path: &str| {
            let state = State::file(file.as_bytes());
            Ok(Current { path: path.to_string(), state, seen: true, read: None, instead: Vec::new(), withheld: None })
        };
        let op = match format {
            Format::BLOCKS => {
                Op::Replace { search: file.clone(), replace: content.into(), shape: SearchShape::Lines, all: false }
            }
            _ => Op::Overwrite { content: content.into() },
        };
        let edit = Edit::new("s.py", op, format, format.name());
        let wishes = Some(Wishes::new(prompt.to_string(), std::iter::empty()));
        apply(&[edit], &mut lookup, &GroupRules { wishes, ..GroupRules::default() })
    };
    for format in [Format::WHOLE, Format::BLOCKS] {
        let outcome = run("make square faster", format, &content);
        assert_eq!(outcome.results[0].rung(), Some(Rung::Inexact), "{}", outcome.text());
        assert!(outcome.text().contains("it leaves out rectangle"), "{}", outcome.text());
    }
    for outcome in [
        run("remove rectangle", Format::WHOLE, &content),
        // Who writes a whole file by a call of its own means it.
        run("make square faster", Format::TOOLS, &content),
        run("remove rectangle", Format::BLOCKS, &content),
        run("make square faster", Format::WHOLE, &file.replace("square_of", "power_of")),
    ] {
        assert_eq!(outcome.results[0].rung(), Some(Rung::Exact), "{}", outcome.text());
    }
}

#[test]
fn dots_are_never_written_as_keys() {
    let file = "{\n  \"name\": \"a\",\n  \"deps\": {\n    \"x\": \"1\"\n  }\n}\n";
    let whole = |content: &str| Edit::new("a.json", Op::Overwrite { content: content.into() }, Format::WHOLE, "whole");
    let new = run(&[whole("{\n  \"a\": { ... }\n}\n")], &[], false);
    assert!(
        matches!(&new.results[0].status, EditStatus::Failed(why) if why.contains("`\"a\": { ... }`")),
        "{}",
        new.text()
    );
    let filled = run(&[whole("{\n  \"name\": \"b\",\n  \"deps\": {\n    ...\n  }\n}\n")], &[("a.json", file)], false);
    assert_eq!(filled.changes[0].after.text(), Some(&*file.replace("\"a\"", "\"b\"")));
    assert_eq!(filled.results[0].rung(), Some(Rung::Inexact));
    let unclear = run(&[whole("{\n  \"other\": {\n    ...\n  },\n  \"name\": \"a\"\n}\n")], &[("a.json", file)], false);
    assert!(unclear.changes.is_empty() && unclear.text().contains("leaves lines out"), "{}", unclear.text());
}

#[test]
fn no_road_of_an_edit_writes_dots_for_certain() {
    let json = "{\n  \"version\": \"1.0.0\",\n  \"files\": []\n}\n";
    let replace = |path: &str, search: &str, replace: &str, format: Format| {
        let op = Op::Replace { search: search.into(), replace: replace.into(), shape: SearchShape::Lines, all: false };
        Edit::new(path, op, format, format.name())
    };
    let version = "  \"version\": \"1.0.0\",\n";
    let scripts = "  \"version\": \"2.0.0\",\n  \"scripts\": { ... },\n";
    let hunk =
        |body: &[&str]| PatchHunk { body: body.iter().map(ToString::to_string).collect(), ..PatchHunk::default() };
    let write =
        |path: &str, content: &str| Edit::new(path, Op::Write { content: content.into() }, Format::TOOLS, "writeFile");
    for edit in [
        replace("a.json", version, scripts, Format::BLOCKS),
        replace("a.json", version, scripts, Format::TOOLS),
        Edit::new(
            "a.json",
            Op::Hunks(vec![hunk(&[" {", "+  ...", "   \"version\": \"1.0.0\","])]),
            Format::PATCH,
            "patch",
        ),
        write("ci.yml", "on: push\njobs:\n  ...\n"),
        write("package.json", "{\n  \"a\": 1,\n  // ...\n}\n"),
    ] {
        let outcome = run(&[edit], &[("a.json", json)], false);
        assert!(outcome.changes.is_empty(), "{}", outcome.text());
    }
    for edit in [
        write("new.js", "const a = 1;\n// ... existing code ...\n"),
        Edit::new("a.py", Op::Hunks(vec![hunk(&[" x = 1", "+...", "+y = 2"])]), Format::PATCH, "patch"),
        Edit::new("a.py", Op::Overwrite { content: "x = 1\nz = 3\n...\n".into() }, Format::WHOLE, "whole"),
    ] {
        let outcome = run(&[edit], &[("a.py", "x = 1\nz = 3\n")], false);
        assert!(matches!(outcome.results[0].rung(), Some(Rung::Inexact) | None), "{}", outcome.text());
    }
    let stub = write("new.py", "class A(Protocol):\n    def f(self) -> int:\n        ...\n");
    assert_eq!(run(&[stub], &[], false).results[0].rung(), Some(Rung::Exact));
}
