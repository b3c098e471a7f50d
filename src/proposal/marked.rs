//! The change of a text as marked lines, for a question about it.

use similar::TextDiff;

/// The unchanged lines around a change.
const CONTEXT: usize = 3;

/// Returns what of a text changes, each line behind `-`, `+` or a blank, its parts below their places: `@@ -1 +1 @@`.
/// Nothing where nothing changes.
pub fn marked(before: &str, after: &str) -> String {
    let whole = |text: &str| match text.is_empty() || text.ends_with('\n') {
        true => text.to_string(),
        false => format!("{text}\n"),
    };
    let (before, after) = (whole(before), whole(after));
    TextDiff::from_lines(&before, &after).unified_diff().context_radius(CONTEXT).to_string()
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn a_text_that_is_new_is_shown_whole_and_one_that_stays_is_not_shown() {
        assert_eq!(marked("", "a\nb"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(marked("a\nb", "a\nc"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(marked("a", "a\n"), "");
    }
}
