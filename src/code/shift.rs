//! Brings a text to the indentation and the line endings of the place it goes to.

use super::file::SourceFile;
use super::lang::{SourceLanguage, multiline_strings};

/// Returns a text with the indentation `to` in place of its own. Its own is that of its first line; where only the other
/// lines are indented, as they are when a definition is copied from its first letter on, it stays as it is. What stands
/// in strings is not moved.
pub fn indented(text: &str, to: &str, language: SourceLanguage) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let own = &first[..first.len() - first.trim_start_matches([' ', '\t']).len()];
    let text = &text[text.find(first).unwrap_or(0)..];
    let strings = SourceFile::of_text("", language, text.to_owned()).map(|file| multiline_strings(file.syntax()));
    let in_string = |at: usize| strings.iter().flatten().any(|string| string.start < at && at < string.end);
    if own == to || own.is_empty() && stands(text, to, language, in_string) {
        return text.strip_prefix(own).unwrap_or(text).to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        match line.strip_prefix(own) {
            _ if at > 0 && (in_string(at) || line.trim().is_empty()) => out.push_str(line),
            // The first line begins where the definition does.
            Some(rest) if at == 0 => out.push_str(rest),
            Some(rest) => out.extend([to, rest]),
            None => out.push_str(line),
        }
        at += line.len();
    }
    out
}

/// Returns whether the lines after the first are indented as those of a definition at this indentation are.
fn stands(text: &str, to: &str, language: SourceLanguage, in_string: impl Fn(usize) -> bool) -> bool {
    // A body of Python is deeper than what it belongs to, but after a decorator that stands there itself; a bracket that
    // ends a head of several lines is not.
    let strict = language == SourceLanguage::Python && !text.starts_with('@');
    let deeper = |line: &str| {
        let rest = line.strip_prefix(to);
        rest.is_some_and(|rest| !strict || rest.starts_with([' ', '\t', ')', ']', '}']))
    };
    let mut at = 0;
    let others = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line)
    });
    let others = others.filter(|(at, line)| *at > 0 && !line.trim().is_empty() && !in_string(*at));
    !to.is_empty() && others.map(|(_, line)| line).all(deeper)
}

/// Returns a text with the line endings of the definition it replaces; where that has one line, of the file.
pub fn with_endings(text: &str, replaced: &str, file: &str) -> String {
    let like = if replaced.contains('\n') { replaced } else { file };
    let (all, with_return) = (like.matches('\n').count(), like.matches("\r\n").count());
    match with_return {
        0 => text.replace("\r\n", "\n"),
        n if n == all => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        // Both kinds are there: none of them is the right one.
        _ => text.to_owned(),
    }
}
