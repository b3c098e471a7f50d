//! Unified diffs, byte for byte: coloured on a terminal, plain in a pipe, where `git apply` takes them.

use std::ffi::OsStr;
use std::ops::Range;

use super::out::coloured;
use crate::messages::count;
use crate::proposal::{FileChange, Hunk, HunkKind, State, changes, lines};
use crate::text::clean::clean;
use crate::text::name::name_of;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

const HEAD: &str = "\x1b[1m";
const PLACE: &str = "\x1b[36m";
const OLD: &str = "\x1b[31m";
const NEW: &str = "\x1b[32m";
const PLAIN: &str = "\x1b[0m";

/// Returns one file's change as a unified diff; nothing where nothing changes. For a `terminal` in colour, and with
/// what would act on it shown; otherwise byte for byte.
pub fn unified(change: &FileChange, terminal: bool) -> Vec<u8> {
    written(change, terminal, terminal)
}

/// Returns the same, formatted beside what was asked for, where no program reads it.
pub fn for_person(change: &FileChange, terminal: bool) -> Vec<u8> {
    written(change, true, terminal)
}

fn written(change: &FileChange, clean: bool, terminal: bool) -> Vec<u8> {
    let mut out = Diff { bytes: Vec::new(), clean, colour: terminal && coloured() };
    if change.before != change.after && !change.hunks.is_empty() {
        out.file(change);
    }
    out.bytes
}

struct Diff {
    bytes: Vec<u8>,
    clean: bool,
    colour: bool,
}

impl Diff {
    fn line(&mut self, paint: &str, text: &[u8]) {
        let cleaned;
        let text = if self.clean {
            cleaned = clean(&String::from_utf8_lossy(text)).replace('\n', "^J");
            cleaned.as_bytes()
        } else {
            text
        };
        if self.colour && !paint.is_empty() {
            self.bytes.extend_from_slice(paint.as_bytes());
            self.bytes.extend_from_slice(text);
            self.bytes.extend_from_slice(PLAIN.as_bytes());
        } else {
            self.bytes.extend_from_slice(text);
        }
        self.bytes.push(b'\n');
    }

    fn head(&mut self, text: &str) {
        self.line(HEAD, text.as_bytes());
    }

    /// Writes one line of a folder that is made, removed or gets another mode. `git` keeps no folders: it passes over
    /// lines between the files.
    fn folder(&mut self, change: &FileChange) {
        // One outside the workspace has its absolute path.
        let path = match change.path.strip_prefix('/') {
            Some(rest) => quoted("", rest),
            None if change.path == "./" => change.path.clone(),
            None => quoted(".", &change.path),
        };
        let mode = |state: &State| matches!(state, State::Folder { .. }).then(|| state.mode()).flatten();
        match (mode(&change.before), mode(&change.after)) {
            (None, None) => {}
            (None, Some(then)) => self.head(&format!("folder {path} made, mode {then:o}")),
            (Some(_), None) => self.head(&format!("folder {path} removed")),
            (Some(now), Some(then)) => self.head(&format!("folder {path} mode {now:o} → {then:o}")),
        }
    }

    fn file(&mut self, change: &FileChange) {
        self.folder(change);
        let (before, after) = (without_folder(&change.before), without_folder(&change.after));
        if before.is_absent() && after.is_absent() {
            return;
        }
        if self.clean && change.other_names > 0 {
            self.head(&count::hard_links(change.other_names));
        }
        let (a, b) = (quoted("a", &change.path), quoted("b", &change.path));
        self.head(&format!("diff --git {a} {b}"));
        match (before, after) {
            (State::Absent, after) => self.head(&format!("new file mode {}", mode(after, &State::Absent))),
            (before, State::Absent) => self.head(&format!("deleted file mode {}", mode(before, before))),
            (before, after) => {
                let (old, new) = (mode(before, before), mode(after, before));
                if old != new {
                    self.head(&format!("old mode {old}"));
                    self.head(&format!("new mode {new}"));
                }
            }
        }
        let (old, new) = (content(before), content(after));
        if old == new {
            return;
        }
        let (Some(old_lines), Some(new_lines)) = (text_lines(&old), text_lines(&new)) else {
            return self.line("", format!("Binary files {a} and {b} differ").as_bytes());
        };
        let name = |state: &State, name: String| if state.is_absent() { "/dev/null".into() } else { name };
        self.head(&format!("--- {}", name(before, a)));
        self.head(&format!("+++ {}", name(after, b)));
        for group in groups(change, &old_lines, &new_lines) {
            self.group(&group, &old_lines, &new_lines);
        }
    }

    fn group(&mut self, group: &[(Range<usize>, Range<usize>)], before: &[&[u8]], after: &[&[u8]]) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let lead = first.0.start.min(CONTEXT);
        let trail = (before.len() - last.0.end).min(CONTEXT);
        let old = first.0.start - lead..last.0.end + trail;
        let new = first.1.start - lead..last.1.end + trail;
        self.line(PLACE, format!("@@ -{} +{} @@", place(&old), place(&new)).as_bytes());
        let mut at = old.start;
        for (b, a) in group {
            self.body("", b' ', &before[at..b.start]);
            self.body(OLD, b'-', &before[b.clone()]);
            self.body(NEW, b'+', &after[a.clone()]);
            at = b.end;
        }
        self.body("", b' ', &before[at..old.end]);
    }

    fn body(&mut self, paint: &str, sign: u8, lines: &[&[u8]]) {
        for line in lines {
            let text = line.strip_suffix(b"\n");
            let mut signed = vec![sign];
            signed.extend_from_slice(text.unwrap_or(line));
            self.line(paint, &signed);
            if text.is_none() {
                self.line("", b"\\ No newline at end of file");
            }
        }
    }
}

/// Formats a range of lines as unified diffs do: `LINE,COUNT`.
fn place(range: &Range<usize>) -> String {
    let first = if range.is_empty() { range.start } else { range.start + 1 };
    if range.len() == 1 { format!("{first}") } else { format!("{first},{}", range.len()) }
}

/// Returns the changed runs of lines, those whose contexts touch in one group. Lines that stay are no part of a run, though
/// a hunk, which is decided as a whole, may span some.
fn groups(change: &FileChange, before: &[&[u8]], after: &[&[u8]]) -> Vec<Vec<(Range<usize>, Range<usize>)>> {
    let mut groups: Vec<Vec<(Range<usize>, Range<usize>)>> = Vec::new();
    let by_lines = change.hunks.iter().filter(|hunk| hunk.kind == HunkKind::Lines);
    let of_hunk = |hunk: &Hunk| {
        let (b, a) = (hunk.before.start, hunk.after.start);
        let runs = changes(&before[hunk.before.clone()], &after[hunk.after.clone()]).into_iter();
        runs.map(move |(old, new)| (old.start + b..old.end + b, new.start + a..new.end + a))
    };
    let mut runs: Vec<_> = by_lines.flat_map(of_hunk).collect();
    if runs.is_empty() {
        runs.push((0..before.len(), 0..after.len()));
    }
    for run in runs {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|l| run.0.start - l.0.end <= 2 * CONTEXT) => group.push(run),
            _ => groups.push(vec![run]),
        }
    }
    groups
}

/// Returns a state as `git` sees it: a folder is nothing.
fn without_folder(state: &State) -> &State {
    if matches!(state, State::Folder { .. }) { &State::Absent } else { state }
}

/// Returns a state's bytes; a link's are its text.
fn content(state: &State) -> Vec<u8> {
    match state {
        State::Absent | State::Folder { .. } => Vec::new(),
        State::File { bytes, .. } => bytes.to_vec(),
        State::Link { target } => target.to_string_lossy().into_owned().into_bytes(),
        // With a NUL, so that it is recognised as binary.
        State::Large(file) => [&b"\0"[..], &file.sha256].concat(),
    }
}

/// Splits lines as `git` does. UTF-16 is binary to it.
fn text_lines(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    if bytes.contains(&0) { None } else { lines(bytes) }
}

/// Returns the mode as `git` writes it; `before` says it where a state keeps what it finds.
fn mode(state: &State, before: &State) -> &'static str {
    let bits = State::mode;
    match state {
        State::Link { .. } => "120000",
        _ if bits(state).or(bits(before)).unwrap_or(0) & 0o100 != 0 => "100755",
        _ => "100644",
    }
}

/// Returns a path under `a/` or `b/`, quoted where `git` quotes.
fn quoted(side: &str, path: &str) -> String {
    if !path.chars().any(|c| c.is_control() || c == '"' || c == '\\') {
        return format!("{side}/{path}");
    }
    let mut text = format!("\"{side}/");
    for byte in name_of(OsStr::new(path)).as_encoded_bytes().iter().copied() {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            0x20..0x7f => text.push(char::from(byte)),
            other => text.push_str(&format!("\\{other:03o}")),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> String {
        let change = FileChange::new("a b", State::file(before.as_bytes()), State::file(after.as_bytes()), "", &[]);
        String::from_utf8(unified(&change, false)).expect("text")
    }

    #[test]
    fn a_diff_is_as_git_writes_it() {
        assert_eq!(
            diff("1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\n4\nfive\n6\n7"),
            "diff --git a/a b b/a b\n--- a/a b\n+++ b/a b\n@@ -2,6 +2,6 @@\n 2\n 3\n 4\n-5\n+five\n 6\n-7\n+7\n\
             \\ No newline at end of file\n"
        );
        assert_eq!(diff("a\n", "a\n"), "");
        // Changes that are near enough to be one hunk are still two to git.
        let two = diff("1\n2\nx\n3\n4\n", "1b\n2\nx\n3b\n4\n");
        assert!(two.ends_with("@@ -1,5 +1,5 @@\n-1\n+1b\n 2\n x\n-3\n+3b\n 4\n"), "{two}");
    }

    #[test]
    fn files_made_deleted_and_turned_executable_say_so() {
        let file = |b: &[u8], mode| State::File { bytes: b.into(), mode };
        let text = |b, a| String::from_utf8(unified(&FileChange::new("f", b, a, "", &[]), false)).expect("text");
        assert_eq!(
            text(State::Absent, file(b"x\n", None)),
            "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"
        );
        assert_eq!(text(file(b"", Some(0o755)), State::Absent), "diff --git a/f b/f\ndeleted file mode 100755\n");
        assert_eq!(
            text(file(b"x", Some(0o644)), file(b"x", Some(0o755))),
            "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"
        );
        assert!(text(file(b"\0", None), file(b"\x01\0", None)).ends_with("Binary files a/f and b/f differ\n"));
    }

    #[test]
    fn a_folder_is_one_line_that_git_passes_over() {
        let folder = |mode| State::Folder { mode };
        let text = |b, a| String::from_utf8(unified(&FileChange::new("f/", b, a, "", &[]), false)).expect("text");
        assert_eq!(text(State::Absent, folder(0o755)), "folder ./f/ made, mode 755\n");
        let outside = FileChange::new("/out/n/", folder(0o755), State::Absent, "", &[]);
        assert_eq!(for_person(&outside, false), b"folder /out/n/ removed\n");
        assert_eq!(text(folder(0o755), folder(0o700)), "folder ./f/ mode 755 → 700\n");
        assert_eq!(text(folder(0o755), State::Absent), "folder ./f/ removed\n");
        let named = FileChange::new("x\ndiff --git/", State::Absent, folder(0o755), "", &[]);
        assert_eq!(unified(&named, false).iter().filter(|byte| **byte == b'\n').count(), 1, "a name is no line");
    }

    #[test]
    fn a_terminal_is_shown_what_would_hide_a_change() {
        let change = FileChange::new("f", State::Absent, State::file(&b"ok\x1b[1A\x1b[2K\r\n"[..]), "", &[]);
        let text = String::from_utf8(unified(&change, true)).expect("text");
        assert!(text.contains("+ok^[[1A^[[2K^M"), "{text:?}");
        assert!(String::from_utf8(unified(&change, false)).expect("text").contains("+ok\x1b[1A\x1b[2K\r\n"));
    }

    #[test]
    fn names_with_special_characters_are_quoted() {
        assert_eq!(quoted("a", "日本.md"), "a/日本.md");
        assert_eq!(quoted("a", "x\"\n"), "\"a/x\\\"\\n\"");
        assert_eq!(quoted("a", "bad\0ff"), "\"a/bad\\377\"");
    }
}
