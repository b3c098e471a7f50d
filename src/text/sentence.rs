//! The sentences of a text.

/// Returns what happened; the sentences after it tell the model what to do, and stand in the result.
pub fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    let end = line.find(". ").map_or(line.len(), |end| end + 1);
    line[..end].trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn the_person_reads_what_happened_and_not_what_the_model_shall_do() {
        for (words, sentence) in [
            ("src/a.rs does not exist. Use listDirectory to see what does.", "src/a.rs does not exist"),
            (
                "the arguments could not be read: expected `}` at 3\nThey were:\n{",
                "the arguments could not be read: expected `}` at 3",
            ),
            ("Wrote v1.2 of a.rs.", "Wrote v1.2 of a.rs"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(words), sentence);
        }
    }
}
