//! The names of files, and the numbers of lines, in the headers of unified diffs, as `diff` and `git` write them.

use crate::edit::stream::paths::slashed;

/// Returns the name in a `---` or `+++` line; `None` for `/dev/null`.
pub(super) fn file_name(text: &str) -> Option<String> {
    let name = match text.strip_prefix('"') {
        Some(quoted) => unquoted(quoted),
        None => slashed(without_note(text.split('\t').next().unwrap_or(text).trim())).into_owned(),
    };
    (name != "/dev/null").then_some(name)
}

/// Returns a name without what some write behind it: a time, or which of the two versions it is.
fn without_note(name: &str) -> &str {
    const NOTES: [&str; 10] = [
        " (original)",
        " (modified)",
        " (updated)",
        " (before)",
        " (after)",
        " (old)",
        " (new)",
        " (new file)",
        " (deleted)",
        " (current)",
    ];
    let note = NOTES.iter().find_map(|note| name.strip_suffix(note));
    let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
    let time = name.match_indices(' ').find_map(|(at, _)| {
        let date: String = name[at + 1..].chars().take(13).map(digits).collect();
        date.starts_with("0000-00-00 00").then_some(&name[..at])
    });
    note.or(time).unwrap_or(name).trim_end()
}

/// Returns whether a name is only that of a side of a diff, which no file is called: `--- original`, `+++ b/modified`.
pub(super) fn is_side(name: &str) -> bool {
    const SIDES: [&str; 10] = ["original", "modified", "old", "new", "before", "after", "current", "updated", "a", "b"];
    let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
    SIDES.iter().any(|side| bare.eq_ignore_ascii_case(side))
}

/// Returns whether `--- old` and `+++ new` are the header of a file, and not a line `-- old` that gives way to `++
/// new`.
pub(super) fn names_a_file(old: &str, new: &str) -> bool {
    let name = |line: &str| file_name(line.get(4..).unwrap_or_default().trim_end());
    let (old, new) = (name(old), name(new));
    let git = |name: &Option<String>| name.as_ref().is_none_or(|n| n.starts_with("a/"));
    git(&old) || (old == new && old.is_some_and(|n| !n.contains(' ') && n.contains(['.', '/'])))
}

/// Returns a name without the folder that stands for a side of the diff.
pub(super) fn bare(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_string()
}

/// Returns the two names of a `diff --git` line.
pub(super) fn git_names(text: &str) -> (String, String) {
    if let Some(quoted) = text.strip_prefix('"') {
        let old = unquoted(quoted);
        let new = text.rsplit_once(" \"").map_or_else(|| old.clone(), |(_, new)| unquoted(new));
        return (bare(&old, "a/"), bare(&new, "b/"));
    }
    // Of names with spaces both halves are alike, unless the file was renamed; then the `rename` lines say the names.
    let (old, new) = text.split_once(" b/").map_or((text, text), |(old, new)| (old, new));
    (bare(old, "a/"), bare(new.trim_end(), "b/"))
}

/// Returns a name in the quotes that git writes: backslash escapes, bytes in octal.
fn unquoted(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes().peekable());
    while let Some(b) = rest.next() {
        match b {
            b'"' => break,
            b'\\' => match rest.next() {
                Some(b'n') => bytes.push(b'\n'),
                Some(b't') => bytes.push(b'\t'),
                Some(d @ b'0'..=b'3') => {
                    let mut value = u32::from(d - b'0');
                    while let Some(d) = rest.next_if(|d| (b'0'..=b'7').contains(d) && value < 0o40) {
                        value = value * 8 + u32::from(d - b'0');
                    }
                    bytes.push(value as u8);
                }
                Some(c) => bytes.push(c),
                None => {}
            },
            b => bytes.push(b),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Parses `@@ -1,2 +3,4 @@`.
pub(super) fn ranges(line: &str) -> Option<[(usize, usize); 2]> {
    let mut parts = line.strip_prefix("@@")?.split_whitespace();
    let mut range = |sign: char| -> Option<(usize, usize)> {
        let part = parts.next()?.strip_prefix(sign)?.trim_end_matches('@');
        let (start, count) = part.split_once(',').unwrap_or((part, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    Some([range('-')?, range('+')?])
}
