//! The sentences of a text.

/// Returns what happened; the sentences after it tell the model what to do, and stand in the result.
pub fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    // Dots in a row, and one in what is quoted as code, end nothing.
    let is_end = |at: &usize| !line[..*at].ends_with('.') && line[..*at].matches('`').count().is_multiple_of(2);
    let end = line.match_indices(". ").map(|(at, _)| at).find(is_end).map_or(line.len(), |end| end + 1);
    line[..end].trim_end_matches('.')
}

/// Returns the lines of a text as one line, `; ` between them.
pub fn in_one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Returns the beginning of a text in one line: at most this many characters, and `…` where it goes on.
pub fn first_words(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        None => line,
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::{first_sentence, in_one_line};

    #[test]
    fn the_lines_of_a_refusal_are_one() {
        let refusal = "cannot remove fn.f (referenced by 1 fn)\n  fn.g:1\n\nUse --cascade\n";
        assert_eq!(in_one_line(refusal), "cannot remove fn.f (referenced by 1 fn); fn.g:1; Use --cascade");
    }

    #[test]
    fn the_person_reads_what_happened_and_not_what_the_model_shall_do() {
        for (words, sentence) in [
            ("src/a.rs does not exist. Use listDirectory to see what does.", "src/a.rs does not exist"),
            (
                "the arguments could not be read: expected `}` at 3\nThey were:\n{",
                "the arguments could not be read: expected `}` at 3",
            ),
            ("Wrote v1.2 of a.rs.", "Wrote v1.2 of a.rs"),
            (
                "a.ts: it leaves lines out (`// ... existing code ...`), so. Write every line.",
                "a.ts: it leaves lines out (`// ... existing code ...`), so",
            ),
            ("It reads ... here. Look.", "It reads ... here"),
            ("`a. b` is code. Look.", "`a. b` is code"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(words), sentence);
        }
    }
}
