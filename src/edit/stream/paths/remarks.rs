//! Remarks in wide brackets behind a path, which belong to no name.

use crate::edit::path::has_extension;

/// Returns a path without what stands in brackets behind it: `a.py（新規作成）`.
pub(super) fn without_remark(text: &str) -> &str {
    let Some((at, _)) = text.rmatch_indices(BRACKETS).next() else { return text };
    let (path, remark) = (text[..at].trim_end_matches(['*', '`', '"', ' ']), &text[at..]);
    let closing: &[char] = &['）', '】', '］', '〕'];
    let is_remark = has_extension(path) && !remark.trim_end_matches(closing).contains(closing);
    if is_remark && !goes_on(remark) { path } else { text }
}

/// Wide brackets around a remark.
const BRACKETS: [char; 4] = ['（', '【', '［', '〔'];

/// Returns whether a remark says that its block goes on with a file: it is no whole one.
fn goes_on(remark: &str) -> bool {
    remark.contains(['続', '续', '繼']) || remark.contains("つづき")
}

/// Returns whether a word is a path with a remark behind it, which belongs to no name.
pub(super) fn has_remark(word: &str) -> bool {
    word.rmatch_indices(BRACKETS)
        .next()
        .is_some_and(|(at, _)| has_extension(word[..at].trim_end()) && goes_on(&word[at..]))
}

#[cfg(test)]
mod tests {
    use super::super::{heads::headed, path_line};

    #[test]
    fn a_remark_is_no_part_of_a_name() {
        for line in [
            "### src/a.py（新規作成）",
            "src/a.py（新建）",
            "src/a.py【新規】",
            "**src/a.py**【新規作成】：",
            "src/a.py［新規］",
            "src/a.py (nuevo)",
            "`src/a.py` (nuevo archivo):",
            "### src/a.py (새 파일)",
            "src/a.py (新規作成)",
            "src/a.py (neue Datei)",
        ] {
            assert_eq!(path_line(line, &[]).as_deref(), Some("src/a.py"), "{line}");
        }
        // What goes on with a file is no whole one.
        for line in ["src/a.py（続き）", "### src/a.py【続き】", "src/a.py（续）:"] {
            assert_eq!((path_line(line, &[]), headed(line, &[])), (None, None), "{line}");
        }
        assert_eq!(path_line("資料（最終）.md", &[]).as_deref(), Some("資料（最終）.md"));
    }
}
