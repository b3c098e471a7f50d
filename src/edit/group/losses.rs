//! Definitions that a whole new text of a file lacks although nobody said that they should go.

use super::GroupRules;
use crate::edit::format::Format;
use crate::edit::place::{self, NewText, Splice};
use crate::proposal::{PlaceMatch, Rung};

/// Returns a whole new text of a file, in doubt where definitions are gone that nobody said should go.
pub(super) fn with_losses(new: NewText, staying: &str, whose: (&str, Format), rules: &GroupRules) -> NewText {
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

/// Returns how a whole new text of a file counts that lacks definitions which nobody said should go. Who writes it by a call of
/// its own means it.
fn loss(staying: &str, new: &str, (path, format): (&str, Format), rules: &GroupRules) -> Option<PlaceMatch> {
    let wishes = rules.wishes.as_ref().filter(|_| format != Format::TOOLS)?;
    let mut gone = place::gone(staying, new);
    gone.extend(place::values_gone(staying, new, path));
    let unsaid = wishes.unsaid(&gone, &place::definition_names(staying));
    let detail = format!("it leaves out {}, and nobody said so", unsaid.join(", "));
    (!unsaid.is_empty()).then_some(PlaceMatch { rung: Rung::Inexact, detail: Some(detail) })
}
