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

/// Returns the first and the last line of the range behind a path: `a.py:8-43`, `a.py#L8-L43`, `a.py (lines 8-43)`.
pub(in crate::edit) fn line_range(text: &str) -> Option<(usize, usize)> {
    let lower = text.to_ascii_lowercase();
    [" to ", "-", "–", ":"].iter().find_map(|between| {
        lower.match_indices(between).find_map(|(at, _)| {
            let (before, after) = (lower[..at].trim_end(), lower[at + between.len()..].trim_start());
            let lead = before.trim_end_matches(|c: char| c.is_ascii_digit());
            let first = before[lead.len()..].parse().ok()?;
            let after = after.strip_prefix('l').unwrap_or(after);
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let last = after[..digits].parse().ok()?;
            let lead = lead.strip_suffix('l').unwrap_or(lead).trim_end();
            let named = lead.ends_with([':', '#', '(']) || lead.ends_with("lines") || lead.ends_with("line");
            // `8:43:a.py`, as some editors quote.
            let quoted = *between == ":" && lead.is_empty() && after[digits..].starts_with(':');
            let fits = if *between == ":" { quoted } else { named };
            (fits && first >= 1 && first <= last).then_some((first, last))
        })
    })
}

/// Returns whether a file is prose, in which fences and marks of all kinds are at home.
pub(in crate::edit) fn is_prose(path: &str) -> bool {
    const PROSE: [&str; 7] = ["md", "markdown", "mdx", "mdc", "rst", "txt", "adoc"];
    path.rsplit_once('.').is_some_and(|(_, ext)| PROSE.contains(&ext.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::line_range;

    #[test]
    fn a_range_of_lines_stands_behind_a_path() {
        for text in [
            "cart.py:8-43",
            "cart.py (lines 8-43)",
            "`cart.py` lines 8-43:",
            "### cart.py#L8-L43",
            "cart.py (8–43)",
            "cart.py, lines 8 to 43",
            "8:43:cart.py",
            "python cart.py:8-43",
        ] {
            assert_eq!(line_range(text), Some((8, 43)), "{text}");
        }
        for text in ["cart.py", "cart.py:8", "2024-01-02.md", "a-1-2.py", "cart.py (new)", "lines 43-8", "at 8:43"] {
            assert_eq!(line_range(text), None, "{text}");
        }
    }
}
