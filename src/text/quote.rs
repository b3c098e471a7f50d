//! Words as a shell reads them back.

/// Returns a word, in quotes where it is not plain.
pub fn word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%^".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Returns words as one line.
pub fn line<'a>(words: impl IntoIterator<Item = &'a String>) -> String {
    words.into_iter().map(|each| word(each)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_words_apart() {
        let words = ["git", "-c", "a b", "", "it's"].map(String::from);
        assert_eq!(line(&words), r"git -c 'a b' '' 'it'\''s'");
    }
}
