//! The place from which a text does not parse any more.

use super::SourceFile;

/// Returns the line, from 1, of the first syntax error that a file has now and had not before; none: it parses as well as
/// before. The grammars read what is common: where one is behind its language, what it calls an error may be none.
pub fn broken_line(before: &SourceFile, after: &SourceFile) -> Option<usize> {
    if after.errors.len() <= before.errors.len() {
        return None;
    }
    // What stands before the first change was there before, but for an error that spans what follows it.
    let same = before.text.bytes().zip(after.text.bytes()).take_while(|(before, after)| before == after).count();
    let from = after.text[..after.text.floor_char_boundary(same)].rfind('\n').map_or(0, |end| end + 1);
    let at = after.errors.iter().copied().filter(|at| *at >= from).min().unwrap_or(from);
    Some(after.line(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_that_was_not_there_counts() {
        let good = b"fn a() {}\n\nfn b() -> u8 {\n    1\n}\n";
        let of_file = |path: &str, before: &[u8], after: &[u8]| {
            let [before, after] = [before, after].map(|text| SourceFile::read(path, text).expect("read"));
            broken_line(&before, &after)
        };
        let line = |before: &[u8], after: &[u8]| of_file("x.rs", before, after);
        assert_eq!(line(good, b"fn a() {}\n\nfn 40() -> u8 {\n    1\n}\n"), Some(3));
        assert_eq!(line(good, b"fn a() {}\n\nfn b() -> u8 {\n    1 +\n}\n").map(|line| line >= 3), Some(true));
        assert_eq!(line(good, b"fn a() {}\n"), None);
        assert_eq!(line(b"fn 40() {}\n", b"fn 41() {}\n"), None);
        assert_eq!(line(b"", b"fn a() {\n"), Some(1));
        assert!(of_file("x.py", b"def a():\n    return 1\n", b"def a():\nreturn 1\n").is_some());
    }
}
