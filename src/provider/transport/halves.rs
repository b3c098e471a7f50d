//! Characters that a server has cut in two: half of a surrogate pair at the end of one event, the other half at the
//! beginning of a text of the next. JSON readers refuse either.

use std::borrow::Cow;

/// The half that waits for the other one.
#[derive(Debug, Default)]
pub(super) struct Halves {
    /// Its four digits.
    first: Option<String>,
}

impl Halves {
    /// Returns the JSON of an event with whole characters: a half at the end of a text waits for the next event, in which
    /// it stands before the other one, or is dropped where that does not come; any other half alone is U+FFFD.
    pub fn join<'e>(&mut self, json: &'e str) -> Cow<'e, str> {
        if self.first.is_none() && !has_half(json) {
            return Cow::Borrowed(json);
        }
        let waiting = self.first.take();
        let mut out = String::with_capacity(json.len() + 12);
        // Where the other half may stand: at the beginning of a text.
        let (mut rest, mut inside) = (json, false);
        while let Some(at) = rest.find(['"', '\\']) {
            let escape = &rest[at..];
            let begins = at == 0 && inside && out.ends_with('"');
            out.push_str(&rest[..at]);
            let length = match half(escape) {
                Some(Half::First) if half(&escape[6..]) == Some(Half::Last) => {
                    out.push_str(&escape[..12]);
                    12
                }
                Some(Half::First) if escape[6..].starts_with('"') => {
                    self.first = Some(escape[2..6].to_string());
                    6
                }
                Some(Half::Last) if begins && let Some(first) = &waiting => {
                    out.push_str(&format!("\\u{first}{}", &escape[..6]));
                    6
                }
                Some(_) => {
                    out.push_str(LONE);
                    6
                }
                None if escape.starts_with('"') => {
                    inside = !inside;
                    out.push('"');
                    1
                }
                None => {
                    let length = 1 + escape[1..].chars().next().map_or(0, char::len_utf8);
                    out.push_str(&escape[..length]);
                    length
                }
            };
            rest = &escape[length..];
        }
        out.push_str(rest);
        Cow::Owned(out)
    }
}

/// The replacement of a half alone.
const LONE: &str = "\\ufffd";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    First,
    Last,
}

/// Returns which half of a pair an escape is that a text begins with.
fn half(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(Half::First),
        0xDC00..=0xDFFF => Some(Half::Last),
        _ => None,
    }
}

/// Returns whether a text may have such a half.
fn has_half(json: &str) -> bool {
    memchr::memmem::find_iter(json.as_bytes(), b"\\u").any(|at| half(&json[at..]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(events: &[&str]) -> Vec<String> {
        let mut halves = Halves::default();
        let read = |event: &&str| {
            let json = halves.join(event).into_owned();
            let value: serde_json::Value = serde_json::from_str(&json).unwrap_or_else(|why| panic!("{why}: {json}"));
            value["t"].as_str().expect("a text").to_string()
        };
        events.iter().map(read).collect()
    }

    #[test]
    fn the_halves_of_a_character_come_together() {
        assert_eq!(texts(&[r#"{"t":"a \ud83d"}"#, r#"{"t":"\ude00 b"}"#]), ["a ", "😀 b"]);
        assert_eq!(texts(&[r#"{"t":"\uD83D\uDE00"}"#]), ["😀"]);
        assert_eq!(texts(&[r#"{"t":"\ud83d x"}"#, r#"{"t":"x \ude00"}"#]), ["\u{fffd} x", "x \u{fffd}"]);
        assert_eq!(texts(&[r#"{"t":"a \ud83d"}"#, r#"{"t":"b"}"#]), ["a ", "b"]);
        // Text that only looks so, and arguments, which are escaped twice.
        assert_eq!(texts(&[r#"{"t":"\\ud83d"}"#, r#"{"t":"\"\\ude00"}"#]), ["\\ud83d", "\"\\ude00"]);
        assert_eq!(texts(&[r#"{"n":"\ud83d","t":"é\\"}"#]), ["é\\"]);
    }

    proptest! {
        /// However a text is cut between the units of UTF-16, the events together hold it.
        #[test]
        fn a_text_that_is_cut_anywhere_is_whole_again(text in "[a😀é\"\\\\𝄞 ]{0,12}", cuts in prop::collection::vec(0..24_usize, 0..4)) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(units.len())).collect();
            cuts.extend([0, units.len()]);
            cuts.sort_unstable();
            let event = |cut: &[usize]| {
                let escaped: String = units[cut[0]..cut[1]].iter().map(|unit| format!("\\u{unit:04x}")).collect();
                format!("{{\"t\":\"{escaped}\"}}")
            };
            let events: Vec<String> = cuts.windows(2).filter(|cut| cut[0] < cut[1]).map(event).collect();
            let events: Vec<&str> = events.iter().map(String::as_str).collect();
            prop_assert_eq!(texts(&events).concat(), text);
        }
    }
}
