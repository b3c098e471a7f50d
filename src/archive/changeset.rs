//! The changeset file: the normalised paths of files archived together, one a line, then the ops of a Strand store, what
//! an undo does not bring back, and last who approved the change.
//!
//! Of ops no state before is archived: the store's own log keeps it, and an undo issues their reverts there. A changeset of
//! ops alone has no paths; a nebula that does not know such a line says that the changeset names no file.

use serde::{Deserialize, Serialize};

use crate::git::index;
use crate::proposal::{State, is_in_any_repository};

/// Begins the lines that are no paths: a normalised path never begins so.
const NOTE: &str = "// ";
const APPROVED: &str = "// approved by: ";
const NOT_UNDONE: &str = "// not undone: ";
const STRAND: &str = "// strand: ";
const MODE: &str = "// mode: ";
const SET_ID: &str = "// set-id: ";
const LEFT_MODE: &str = "// left mode: ";
/// The set-user-ID and set-group-ID bits of a file, which no version holds.
pub(super) const SET_ID_BITS: u32 = 0o6000;

/// The contents of a changeset file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Changeset {
    /// Normalised paths.
    pub paths: Vec<String>,
    /// The one who approved the change, in words; `None` where nothing was changed (`shi`), and in files older than
    /// this field.
    pub approved: Option<String>,
    /// Further effects of the change, which an undo does not bring back.
    pub not_undone: Vec<NotUndone>,
    /// The ops of Strand stores.
    pub ops: Vec<StoreOps>,
    /// The paths whose permission bits it changed: of them alone an undo brings the bits back.
    pub modes: Vec<String>,
    /// The files to which it gave a bit of [`SET_ID_BITS`]: an undo leaves them none, not even one that they had before.
    pub set_ids: Vec<String>,
    /// The permission bits that it left at paths of which it changed them; files older than this field have none.
    pub left_modes: Vec<(String, u32)>,
}

/// The ops that a changeset issued to one Strand store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StoreOps {
    /// The folder of the store, from the workspace's root; `.` is the root itself.
    pub store: String,
    /// The names of the definitions they touch.
    pub definitions: Vec<String>,
    /// Their ids, oldest first. Where the process was killed at the wrong moment the store has none of them.
    pub ops: Vec<String>,
}

/// An effect of a command that an undo of its changeset does not bring back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotUndone {
    /// A path, or what else it is on.
    pub what: String,
    /// The reason, and what it is.
    pub why: String,
}

impl NotUndone {
    /// Creates one.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        NotUndone { what: what.into(), why: why.into() }
    }
}

/// The kind of change a command made to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was made.
    Made,
    /// It was changed.
    Changed,
    /// It was removed.
    Removed,
    /// Only its mode was changed.
    Mode,
}

impl ChangeKind {
    /// Returns the kind of the way from one state to another.
    pub(super) fn of(before: &State, after: &State) -> Self {
        match (before, after) {
            (State::Absent, _) => ChangeKind::Made,
            (_, State::Absent) => ChangeKind::Removed,
            (State::Folder { .. }, State::Folder { .. }) => ChangeKind::Mode,
            (State::File { bytes: a, .. }, State::File { bytes: b, .. }) if a == b => ChangeKind::Mode,
            _ => ChangeKind::Changed,
        }
    }
}

/// Returns the bytes after that are kept of a change; none: a hash has to do.
pub(super) fn left_bytes(path: &str, after: &State, keep_text: bool) -> Option<Vec<u8>> {
    let is_index = || is_in_any_repository(path) && after.bytes().is_some_and(|bytes| index::is_index(bytes));
    let is_kept = keep_text && after.text().is_some() || is_index();
    after.bytes().filter(|_| is_kept).map(|bytes| bytes.to_vec())
}

/// Returns whether a change from one state to another is also one of its permission bits, of those that a version holds.
pub(super) fn sets_mode(before: &State, after_mode: Option<u32>) -> bool {
    let bits = if matches!(before, State::Folder { .. }) { 0o7777 } else { !SET_ID_BITS & 0o7777 };
    before.mode().zip(after_mode).is_some_and(|(before, after)| (before ^ after) & bits != 0)
        || adds_set_id(before, after_mode)
}

/// Returns whether a change gives a file a bit of [`SET_ID_BITS`].
pub(super) fn adds_set_id(before: &State, after_mode: Option<u32>) -> bool {
    let is_folder = matches!(before, State::Folder { .. });
    !is_folder && before.mode().zip(after_mode).is_some_and(|(before, after)| after & !before & SET_ID_BITS != 0)
}

/// Returns the text of a changeset file. A path is written as it is, or, where it holds a control character or begins
/// with `"` or `//`, as a JSON string.
pub(super) fn write(changeset: &Changeset) -> String {
    let mut text = String::new();
    for path in &changeset.paths {
        if path.starts_with('"') || path.starts_with("//") || path.chars().any(char::is_control) {
            text += &serde_json::Value::from(path.as_str()).to_string();
        } else {
            text += path;
        }
        text.push('\n');
    }
    for ops in &changeset.ops {
        text += STRAND;
        text += &serde_json::json!(ops).to_string();
        text.push('\n');
    }
    for NotUndone { what, why } in &changeset.not_undone {
        text += NOT_UNDONE;
        text += &serde_json::json!([what, why]).to_string();
        text.push('\n');
    }
    for (note, paths) in [(MODE, &changeset.modes), (SET_ID, &changeset.set_ids)] {
        for path in paths {
            text += note;
            text += &serde_json::Value::from(path.as_str()).to_string();
            text.push('\n');
        }
    }
    for left in &changeset.left_modes {
        text += LEFT_MODE;
        text += &serde_json::json!(left).to_string();
        text.push('\n');
    }
    if let Some(approved) = &changeset.approved {
        text += APPROVED;
        text.extend(approved.chars().filter(|c| !c.is_control()));
        text.push('\n');
    }
    text
}

/// Reads a changeset file; the error is what is wrong with it. Notes of a kind not known here are passed over.
pub(super) fn read(bytes: &[u8]) -> Result<Changeset, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_string())?;
    let mut changeset = Changeset::default();
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if line.starts_with(NOTE) {
            let approved = line.strip_prefix(APPROVED).map(str::to_string);
            changeset.approved = changeset.approved.or(approved);
            let not_undone = line.strip_prefix(NOT_UNDONE).and_then(|pair| serde_json::from_str(pair).ok());
            changeset.not_undone.extend(not_undone.map(|(what, why): (String, String)| NotUndone { what, why }));
            if let Some(ops) = line.strip_prefix(STRAND) {
                let ops = serde_json::from_str(ops).map_err(|_| format!("its line {line} names no ops"))?;
                changeset.ops.push(ops);
            }
            let path_of = |note: &str| serde_json::from_str::<String>(line.strip_prefix(note)?).ok();
            changeset.modes.extend(path_of(MODE));
            changeset.set_ids.extend(path_of(SET_ID));
            changeset.left_modes.extend(line.strip_prefix(LEFT_MODE).and_then(|left| serde_json::from_str(left).ok()));
        } else if line.starts_with('"') {
            let path = serde_json::from_str(line).map_err(|_| format!("its line {line} is no JSON string"))?;
            changeset.paths.push(path);
        } else if line.is_empty() {
            return Err("it has an empty line".to_string());
        } else {
            changeset.paths.push(line.to_string());
        }
    }
    match changeset.paths.is_empty() && changeset.ops.is_empty() {
        true => Err("it names no file".to_string()),
        false => Ok(changeset),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of_paths(paths: &[&str]) -> Changeset {
        Changeset { paths: paths.iter().map(|path| path.to_string()).collect(), ..Changeset::default() }
    }

    #[test]
    fn ordinary_paths_are_plain_lines() {
        assert_eq!(write(&of_paths(&["src/main.py", "a b", "日本.md"])), "src/main.py\na b\n日本.md\n");
        assert_eq!(write(&of_paths(&["\"q", "a\nb"])), "\"\\\"q\"\n\"a\\nb\"\n");
        assert!(read(b"").is_err());
        assert!(read(b"a\n\nb\n").is_err());
        assert!(read(b"\"a\n").is_err());
        assert!(read(b"\xff\n").is_err());
    }

    #[test]
    fn who_approved_stands_on_the_last_line() {
        let approved = Changeset { approved: Some("flag --yes".into()), ..of_paths(&["a"]) };
        assert_eq!(write(&approved), "a\n// approved by: flag --yes\n");
        let of = |text: &str| read(text.as_bytes()).map(|c| (c.paths.join(" "), c.approved));
        assert_eq!(of("a\n"), Ok(("a".into(), None)));
        assert_eq!(of("a\n// later: something else\nb\n"), Ok(("a b".into(), None)));
        assert!(read(b"// approved by: person\n").is_err());
    }

    #[test]
    fn ops_of_a_store_need_no_path() {
        let text = "// strand: {\"store\":\"shop.strand-store\",\"definitions\":[\"fn.f\"],\"ops\":[\"op_1\"]}\n";
        let read_back = read(text.as_bytes()).expect("read");
        assert_eq!(read_back.ops[0].ops, ["op_1"]);
        assert_eq!(write(&read_back), text);
        assert!(read(b"a\n// strand: {}\n").is_err());
    }

    proptest! {
        #[test]
        fn a_changeset_is_read_as_it_was_written(
            paths in proptest::collection::vec("\\PC{1,8}|[a\"\n\r\t/ \u{85}]{1,8}", 1..6),
            approved in proptest::option::of("\\PC{0,12}"),
            not_undone in proptest::collection::vec(("\\PC{0,8}|[\"\n]{1,3}", "\\PC{0,8}"), 0..3),
            names in proptest::collection::vec("\\PC{0,8}|[\"\n]{1,3}", 0..3),
        ) {
            let not_undone: Vec<_> = not_undone.into_iter().map(|(what, why)| NotUndone { what, why }).collect();
            let ops = names.iter().map(|n| StoreOps { store: n.clone(), definitions: names.clone(), ops: names.clone() });
            let (modes, set_ids) = (names.clone(), names.iter().rev().cloned().collect());
            let left_modes = names.iter().map(|name| (name.clone(), 0o640)).collect();
            let ops = ops.collect();
            let changeset = Changeset { paths, approved, not_undone, ops, modes, set_ids, left_modes };
            prop_assert_eq!(read(write(&changeset).as_bytes()), Ok(changeset));
        }
    }
}
