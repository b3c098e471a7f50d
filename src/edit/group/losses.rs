//! Definitions that a whole new text of a file lacks although nobody said that they should go.

use super::GroupRules;
use super::refusals::BROKEN;
use crate::edit::broken_line;
use crate::edit::format::Format;
use crate::edit::place::{self, NewText, Splice};
use crate::proposal::{PlaceMatch, Rung};

/// Returns a whole new text of a file, in doubt where it cannot be read any more, or definitions are gone that nobody said should
/// go. Of the first the model is asked.
pub(super) fn with_losses(new: NewText, staying: &str, whose: (&str, Format), rules: &GroupRules) -> NewText {
    if new.doubt.is_none() && new.found.rung != Rung::Inexact {
        let doubt = broken(staying, &new.text, whose);
        if doubt.is_some() {
            return NewText { doubt, ..new };
        }
    }
    match loss(staying, &new.text, whose, rules).filter(|_| new.found.rung != Rung::Inexact) {
        Some(found) => NewText { found, ..new },
        None => new,
    }
}

/// Returns how an edit counts that puts a whole new text in the place of all of the old one, where definitions are gone that
/// nobody said should go.
pub(super) fn whole_text_loss(
    text: &str,
    new: &str,
    stages: &[Vec<Splice>],
    whose: (&str, Format),
    rules: &GroupRules,
) -> Option<PlaceMatch> {
    let [splices] = stages else { return None };
    let [Splice { range, .. }] = splices.as_slice() else { return None };
    let is_all = text[..range.start].trim().is_empty() && text[range.end..].trim().is_empty();
    if is_all { loss(text, new, whose, rules) } else { None }
}

/// Returns how a whole new text of a file counts that cannot be read any more, or lacks definitions, or what they do, which
/// nobody said should go. Who leaves out definitions by a call of its own means it.
fn loss(staying: &str, new: &str, (path, format): (&str, Format), rules: &GroupRules) -> Option<PlaceMatch> {
    let inexact = |detail: String| Some(PlaceMatch { rung: Rung::Inexact, detail: Some(detail) });
    let is_text = format != Format::TOOLS;
    if let Some(why) = broken(staying, new, (path, format)) {
        return inexact(why);
    }
    if let Some(other) = other_file(path, staying, new).filter(|_| is_text) {
        return inexact(format!("it may hold the text of {other}, too"));
    }
    let wishes = rules.wishes.as_ref()?;
    let all = place::definition_names(staying);
    if is_text {
        let mut gone = place::gone(staying, new);
        gone.extend(place::values_gone(staying, new, path));
        let unsaid = wishes.unsaid(&gone, &all);
        if !unsaid.is_empty() {
            return inexact(format!("it leaves out {}, and nobody said so", unsaid.join(", ")));
        }
    }
    let emptied = place::emptied(staying, new);
    let unsaid = wishes.unsaid(&emptied, &all);
    if unsaid.is_empty() { None } else { inexact(format!("it empties {}, and nobody said so", unsaid.join(", "))) }
}

/// Returns why a new text of a file that could be read cannot be read any more. Code that comes by a call of its own is written,
/// and its mistakes are told.
fn broken(staying: &str, new: &str, (path, format): (&str, Format)) -> Option<String> {
    let of_code = || broken_code(path, staying, new).filter(|_| format != Format::TOOLS);
    let line = broken_line(path, staying, new).or_else(of_code)?;
    Some(format!("{BROKEN} from line {line} on"))
}

/// Returns the first line, from 1, at which a new text of a file of code does not parse any more.
#[cfg(feature = "code")]
fn broken_code(path: &str, old: &str, new: &str) -> Option<usize> {
    use crate::code::{self, SourceFile, SourceLanguage};

    SourceLanguage::of_path(path)?;
    let read = |text: &str| SourceFile::read(path, text.as_bytes()).ok();
    code::broken_line(&read(old)?, &read(new)?)
}

/// Returns nothing: this program reads no code.
#[cfg(not(feature = "code"))]
fn broken_code(_: &str, _: &str, _: &str) -> Option<usize> {
    None
}

/// Returns the path of another file of the same kind that stands alone in a comment of a new text: what is below may be its text.
fn other_file<'t>(path: &str, old: &str, new: &'t str) -> Option<&'t str> {
    const MARKS: [&str; 6] = ["#", "//", "--", "/*", "<!--", "=="];
    let (own, end) = (path.rsplit('/').next()?, path.rsplit_once('.')?.1);
    let alone = |line: &'t str| {
        let line = line.trim();
        let title = line.trim_matches(['#', '-', '=', '/', '*', '<', '>', '!', ' ']);
        let is_path = title.rsplit_once('.').is_some_and(|(name, its)| its == end && !name.is_empty());
        let is_named = is_path && !title.contains(char::is_whitespace) && title.rsplit('/').next() != Some(own);
        (is_named && MARKS.iter().any(|mark| line.starts_with(mark))).then_some(title)
    };
    // A comment above all of it names the file itself.
    let below = new.lines().skip_while(|line| line.trim().is_empty()).skip(1);
    below.filter_map(alone).find(|title| !old.contains(title))
}
