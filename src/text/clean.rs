//! The cleaner of untrusted text: what comes from a configuration, a rule, a server, a file name, the archive or an error passes it
//! before it reaches a terminal.
//!
//! Control characters are shown as the key that types them (`^[` for an escape), so that none acts on the terminal.
//! A byte of a name that is no UTF-8 is shown as `\xe9`. Characters that turn the direction of text or take no cell are
//! shown by their number (`⟨U+202E⟩`).

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::name;

/// Returns `text` as a terminal may be given it. Line breaks and tabs stay.
pub fn clean(text: &str) -> Cow<'_, str> {
    cleaned(text, |c| c == '\n' || c == '\t', mark)
}

/// Returns `text` as a terminal may be given it inside a line: line breaks and tabs are shown too.
pub fn clean_line(text: &str) -> Cow<'_, str> {
    cleaned(text, |_| false, mark)
}

/// Returns JSON as a terminal may be given it: the same value, with what would act or hide written as `\u202e`.
pub fn clean_json(json: &str) -> Cow<'_, str> {
    // Outside of its strings JSON holds no such character but line breaks and tabs, and inside it escapes those.
    cleaned(json, |c| c == '\n' || c == '\t', escape)
}

/// Returns whether a character takes no cell, or turns the direction of the text around it, and so can hide what a text
/// says.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns whether a zero-width joiner between these two texts makes one emoji of several, and so hides nothing.
pub fn joins_emoji(before: &str, after: &str) -> bool {
    // Before the joiner an emoji may carry the mark that requests its picture.
    let before = before.strip_suffix('\u{fe0f}').unwrap_or(before).chars().next_back();
    let emoji = |c: char| matches!(c as u32, 0x2190..=0x21ff | 0x2600..=0x27bf | 0x2b00..=0x2bff | 0x1f000..=0x1faff);
    before.is_some_and(emoji) && after.chars().next().is_some_and(emoji)
}

/// Returns how a control or hidden character is shown.
pub fn mark(c: char) -> String {
    match u8::try_from(c) {
        // The caret names the key that types it.
        Ok(byte @ (..0x20 | 0x7f)) => format!("^{}", char::from(byte ^ 0x40)),
        _ => numbered(c),
    }
}

/// True where a terminal is given ASCII alone.
static ASCII: AtomicBool = AtomicBool::new(false);

/// Writes the numbers of characters in ASCII from now on.
pub fn use_ascii() {
    ASCII.store(true, Ordering::Relaxed);
}

/// Returns the number of a character, as it is shown in its place.
pub fn numbered(c: char) -> String {
    numbered_in(c, ASCII.load(Ordering::Relaxed))
}

fn numbered_in(c: char, ascii: bool) -> String {
    let (open, close) = if ascii { ('<', '>') } else { ('⟨', '⟩') };
    format!("{open}U+{:04X}{close}", u32::from(c))
}

fn escape(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Returns whether a text begins with what stands for a byte in a name that is no UTF-8.
pub fn stands_for_byte(text: &str) -> bool {
    text.starts_with('\0') && text.as_bytes().get(1..3).and_then(name::byte_of).is_some()
}

/// Returns whether a character selects how the one before it is drawn.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn cleaned(text: &str, stays: impl Fn(char) -> bool, mark: impl Fn(char) -> String) -> Cow<'_, str> {
    let unseen = |c: char| (c.is_control() && !stays(c)) || is_hidden(c) || is_selector(c);
    let Some(first) = text.find(unseen) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for (at, c) in text[first..].char_indices().map(|(at, c)| (first + at, c)) {
        let before = &text[..at];
        let ordinary = match c {
            '\u{200d}' => joins_emoji(before, &text[at + c.len_utf8()..]),
            // One selector belongs to what it follows; a run of them carries something else.
            _ if is_selector(c) => {
                before.chars().next_back().is_some_and(|b| !b.is_ascii_alphabetic() && !b.is_whitespace() && !unseen(b))
            }
            _ => !unseen(c),
        };
        match c {
            _ if ordinary => out.push(c),
            '\0' if stands_for_byte(&text[at..]) => out.push_str("\\x"),
            _ => out.push_str(&mark(c)),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_number_of_a_character_is_ascii_where_the_terminal_is() {
        assert_eq!([true, false].map(|ascii| numbered_in('\u{202e}', ascii)), ["<U+202E>", "⟨U+202E⟩"]);
    }

    #[test]
    fn a_byte_of_a_name_is_shown_by_its_number() {
        assert_eq!(clean_line("docs/caf\0e9\n"), "docs/caf\\xe9^J");
        assert_eq!([clean("\0"), clean("\0e"), clean("\x0041"), clean("\0é")], ["^@", "^@e", "^@41", "^@é"]);
    }

    #[test]
    fn what_would_act_on_a_terminal_is_shown() {
        assert!(matches!(clean("a\tb\n日本 e\u{301} \u{a0}"), Cow::Borrowed(_)));
        assert_eq!(clean("\x1b[2J\r\x7f\u{9b}x\u{202e}y"), "^[[2J^M^?⟨U+009B⟩x⟨U+202E⟩y");
        assert_eq!(clean("a\u{200b}b\u{feff}\u{e0041}"), "a⟨U+200B⟩b⟨U+FEFF⟩⟨U+E0041⟩");
        assert_eq!(clean_line("a\tb\nc"), "a^Ib^Jc");
    }

    #[test]
    fn an_emoji_of_several_stays_one() {
        for emoji in
            ["👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}\u{200d}🔥", "👍🏽\u{200d}♀", "1\u{fe0f}\u{20e3}", "葛\u{e0100}"]
        {
            assert_eq!(clean(emoji), emoji);
        }
        assert_eq!(clean("a\u{200d}👧\u{200d}"), "a⟨U+200D⟩👧⟨U+200D⟩");
        assert_eq!(clean("👧\u{e0101}\u{e0102}a\u{fe0f}"), "👧\u{e0101}⟨U+E0102⟩a⟨U+FE0F⟩");
    }

    fn acts(c: char) -> bool {
        c.is_control() || (is_hidden(c) && c != '\u{200d}')
    }

    proptest! {
        #[test]
        fn no_control_character_is_left(text in "[\\x00-\\x{ff}\\x{2000}-\\x{2070}\\x{1f469}\\x{fe0f}\\x{e0001}]{0,40}") {
            let cleaned = clean_line(&text);
            prop_assert!(!cleaned.contains(acts));
            prop_assert_eq!(clean_line(&cleaned), cleaned.as_ref());
        }

        #[test]
        fn json_stays_the_same_value(text in "[\\x00-\\x{ff}\\x{2000}-\\x{2070}\\x{1f469}\\x{e0001}]{0,40}") {
            let json = serde_json::to_string(&text).expect("JSON");
            let clean = clean_json(&json);
            prop_assert!(!clean.contains(acts));
            prop_assert_eq!(serde_json::from_str::<String>(&clean).expect("JSON"), text);
        }
    }
}
