//! Labels of blocks that are no edits: how the file was, how it should not be, or another way to write it.

use super::claims::{is_in, plain_words, sentence_ends, sentences};

/// Words for a text that is there already, or that is none to be written.
const PAST: &str = "original previous before old former comparison reference current existing earlier prior wrong incorrect \
    naive instead";
/// Words that may stand beside those in a label.
const BESIDE: &str = "the a an this that it is was were here here's heres for your our my of code file version content contents \
    text implementation function approach solution looked like used to be had read would have been note so";
/// Words for a text that is to be written after all.
const ANEW: &str =
    "updated new fixed corrected improved revised changed modified final rewritten refactored correct right";
/// Words for another way.
const WAYS: &str = "option way approach solution possibility alternative version variant";

/// Returns whether a line says that what is below it is how the file was, or is shown for comparison or as wrong.
pub(in crate::edit) fn is_past(said: &str) -> bool {
    let own = words(said);
    let starts = |text: &[&str]| own.iter().zip(text).filter(|(own, text)| own == *text).count() == text.len();
    if own.iter().any(|word| is_in(ANEW, word)) {
        return false;
    }
    let is_heading = sentence_ends(said) || said.trim_start().starts_with(['#', '*']);
    let is_label = own.iter().all(|word| is_in(PAST, word) || is_in(BESIDE, word) || word.contains('.'));
    if is_label && is_heading && own.iter().any(|word| is_in(PAST, word)) {
        return true;
    }
    let has = |list: &str| own.iter().any(|word| is_in(list, word));
    let is_of_this =
        own.iter().find(|word| !is_in("note the", word)).is_some_and(|word| is_in("this that following it", word));
    let is_wrong = || own.windows(2).any(|two| is_in("be is was", &two[0]) && is_in("wrong incorrect", &two[1]));
    let is_denied = has("not won't doesn't wouldn't") && has("work works") || is_wrong();
    starts(&["for", "comparison"]) || starts(&["for", "reference"]) || is_of_this && is_denied && sentence_ends(said)
}

/// Returns whether a line says that what is below it is another way to write what is above it.
pub(in crate::edit) fn is_other_way(said: &str) -> bool {
    let own = words(said);
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    match &own[..] {
        ["alternatively" | "or" | "alternative", ..] | ["an" | "the" | "one", "alternative", ..] => true,
        ["option", number, ..] => !is_in("1 a", number),
        ["another" | "other" | "second", way, ..] => is_in(WAYS, way),
        ["if", "you", "prefer" | "like" | "want", ..] => true,
        ["you", "could" | "can", "also" | "alternatively", ..] => true,
        _ => false,
    }
}

/// Returns the words of the last sentence of a line.
fn words(said: &str) -> Vec<String> {
    plain_words(sentences(said).pop().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_of_the_past_or_of_what_is_wrong_is_told() {
        for line in [
            "The previous version was:",
            "Original code:",
            "**Before:**",
            "### Original code",
            "For comparison:",
            "For comparison, a version that takes the absolute value:",
            "For reference, the original code was:",
            "Here's the original for reference:",
            "This would be wrong:",
            "Note: the following would not work:",
            "Instead of:",
            "It is done. The old `calc.py` was:",
        ] {
            assert!(is_past(line), "{line}");
        }
        for line in [
            "Wait, the previous version was wrong. Here is the corrected version:",
            "Here is the corrected version:",
            "The updated file:",
            "For reference, here is the updated file:",
            "This fixes the wrong sign:",
            "I kept the original code and added a check:",
            "Then:",
            "",
        ] {
            assert!(!is_past(line), "{line}");
        }
    }

    #[test]
    fn a_label_of_another_way_is_told() {
        for line in [
            "Alternatively, you can use the absolute value:",
            "Alternatively:",
            "Another option is to use abs():",
            "If you prefer, you can also use abs():",
            "Or, without an exception:",
            "You could also write it like this:",
            "**Option 2:**",
            "**Alternative solution:**",
        ] {
            assert!(is_other_way(line), "{line}");
        }
        for line in ["Option 1:", "Another change:", "You can run it:", "Wait, here is the corrected version:"] {
            assert!(!is_other_way(line), "{line}");
        }
    }
}
