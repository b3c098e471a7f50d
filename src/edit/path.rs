//! Paths as models write them, with quotes, labels and line numbers around them.

use super::locate::folded_line;
use crate::proposal::Rung;

/// Words that models put before a path, as in `path: src/a.rs`, and the mark of the root in the list of files.
const LABELS: [&str; 5] = ["path:", "file:", "filename:", "filepath:", "./:"];

/// Returns a path without quotes, a label (`path:`) or the number of a line around it.
pub fn bare(name: &str) -> &str {
    let mut bare = name.trim();
    loop {
        let inner = bare.trim_matches(['`', '"', '\'', ' ']);
        let label = LABELS.iter().find_map(|label| {
            let (head, rest) = inner.split_at_checked(label.len())?;
            head.eq_ignore_ascii_case(label).then_some(rest)
        });
        let inner = without_line(label.unwrap_or(inner));
        if inner == bare || inner.is_empty() {
            return bare;
        }
        bare = inner;
    }
}

/// Returns whether a path where nothing is may be that of a file: but for case, composed characters and folders in front.
pub(in crate::edit) fn may_name(path: &str, file: &str) -> bool {
    let folded = |path: &str| folded_line(path, Rung::LookAlikes).to_lowercase();
    let (path, file) = (folded(path.strip_prefix("./").unwrap_or(path)), folded(file));
    file.strip_suffix(&path).is_some_and(|front| !path.is_empty() && (front.is_empty() || front.ends_with('/')))
}

/// Returns a path without the number of a line behind it: `a.py:12`, `a.py:12-20`.
pub(in crate::edit) fn without_line(path: &str) -> &str {
    let is_number = |text: &str| text.split('-').all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    match path.rsplit_once(':') {
        Some((before, number)) if !before.is_empty() && is_number(number) => before,
        _ => path,
    }
}
