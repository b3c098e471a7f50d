//! Finds and replaces token sequences in a text, whatever its spacing.

use crate::strand::issue::Refusal;
use crate::strand::lang::token::lex;

/// Returns a refusal of a patch that does not apply.
pub(super) fn failed(message: impl Into<String>) -> Refusal {
    Refusal::PatchFailed(message.into())
}

/// Replaces a token sequence in a text.
pub fn replace_tokens(text: &str, from: &str, to: &str, all: bool) -> Result<String, Refusal> {
    let places = find_tokens(text, from)?;
    match places.len() {
        0 => return Err(failed(format!("'{from}' does not occur in '{text}'"))),
        n if n > 1 && !all => return Err(Refusal::PatchAmbiguous(format!("'{from}' occurs {n} times in '{text}'"))),
        _ => {}
    }
    let (mut out, mut at) = (String::new(), 0);
    for (start, end) in places {
        out.push_str(&text[at..start]);
        out.push_str(to);
        at = end;
    }
    out.push_str(&text[at..]);
    Ok(out)
}

/// Returns where a token sequence stands in a text, without overlaps.
pub fn find_tokens(text: &str, from: &str) -> Result<Vec<(usize, usize)>, Refusal> {
    let fault = |part: &str| failed(format!("'{part}' is not a sequence of tokens"));
    let haystack = lex(text).map_err(|_| fault(text))?;
    let needle = lex(from).map_err(|_| fault(from))?;
    let needle = &needle[..needle.len() - 1];
    if needle.is_empty() {
        return Err(failed("there is nothing to look for"));
    }
    let (mut places, mut at) = (Vec::new(), 0);
    while at + needle.len() < haystack.len() {
        let window = &haystack[at..at + needle.len()];
        if window.iter().zip(needle).all(|(a, b)| a.tok == b.tok) {
            places.push((window[0].start, window[needle.len() - 1].end));
            at += needle.len();
        } else {
            at += 1;
        }
    }
    Ok(places)
}

/// Replaces plain text, as doc lines are.
pub(super) fn replace_plain(text: &str, from: &str, to: &str, all: bool) -> Result<String, Refusal> {
    match text.matches(from).count() {
        0 => Err(failed(format!("'{from}' does not occur in the doc"))),
        n if n > 1 && !all => Err(Refusal::PatchAmbiguous(format!("'{from}' occurs {n} times in the doc"))),
        _ => Ok(text.replace(from, to)),
    }
}
