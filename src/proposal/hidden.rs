//! Characters that make a text read differently from what it does: those that turn its direction or take no cell, and
//! letters of another script inside a Latin word. Hunks that add one are never approved by a policy.

use crate::text::clean::{is_hidden, joins_emoji};

/// Returns the characters of a text that hide what it says, by their byte positions, ascending.
pub fn hidden(text: &str) -> Vec<(usize, char)> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut found: Vec<(usize, char)> = text
        .char_indices()
        .filter(|(at, c)| is_hidden(*c) && !(*c == '\u{200d}' && joins_emoji(&text[..*at], &text[at + 3..])))
        .collect();
    let mut word = 0;
    for end in text.char_indices().filter(|(_, c)| !in_word(*c)).map(|(at, c)| (at, at + c.len_utf8())) {
        found.extend(look_alikes(text, word, end.0));
        word = end.1;
    }
    found.extend(look_alikes(text, word, text.len()));
    found.sort_unstable();
    found
}

/// Returns whether a character belongs to a word; a hidden one does.
fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_hidden(c)
}

/// Returns the letters of another script in the word at these bytes, if it holds Latin ones too.
fn look_alikes(text: &str, start: usize, end: usize) -> impl Iterator<Item = (usize, char)> + '_ {
    let word = &text[start..end];
    let mixed = !word.is_ascii() && word.contains(|c: char| c.is_ascii_alphabetic());
    let letters = if mixed { word } else { "" };
    letters.char_indices().filter(|(_, c)| looks_latin(*c)).map(move |(at, c)| (start + at, c))
}

/// Returns whether a letter can pass for a Latin one. Of the Greek letters, which stand beside Latin ones in formulas,
/// only those that look the same.
pub fn looks_latin(c: char) -> bool {
    matches!(c,
        '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' | '\u{2de0}'..='\u{2dff}' | '\u{a640}'..='\u{a69f}' // Cyrillic
        | '\u{531}'..='\u{587}' // Armenian
        | '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' // Cherokee
        | '\u{a4d0}'..='\u{a4fd}' // Lisu
        | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' // full width
        | '\u{1d400}'..='\u{1d7ff}' // mathematical
        | 'Α' | 'Β' | 'Ε' | 'Ζ' | 'Η' | 'Ι' | 'Κ' | 'Μ' | 'Ν' | 'Ο' | 'Ρ' | 'Τ' | 'Υ' | 'Χ' | 'ο' | 'ν')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chars(text: &str) -> String {
        hidden(text).into_iter().map(|(_, c)| c).collect()
    }

    #[test]
    fn what_hides_is_found_where_it_stands() {
        assert_eq!(hidden("if admin\u{202e} {\n}\u{200b}"), [(8, '\u{202e}'), (15, '\u{200b}')]);
        // The `о` of `scоpe` is Cyrillic.
        assert_eq!(hidden("let sc\u{43e}pe = 1"), [(6, '\u{43e}')]);
        assert_eq!(chars("p\u{200b}\u{430}y"), "\u{200b}\u{430}");
        assert_eq!(chars("ΑB x\u{ff21}"), "Α\u{ff21}");
    }

    #[test]
    fn ordinary_text_of_any_script_hides_nothing() {
        for text in [
            "plain",
            "日本語とEnglish",
            "привет, world",
            "API'шный",
            "Δx = λy + μm",
            "ελληνικά",
            "naïve café",
            "👩\u{200d}👩\u{200d}👧 family",
            "x²",
            "한국어abc",
        ] {
            assert_eq!(hidden(text), [], "{text}");
        }
    }
}
