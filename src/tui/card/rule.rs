//! The words of a rule that is being made on a card.

use ratatui::layout::Rect;

use crate::messages::card as say;
use crate::protocol::CommandCard;
use crate::text::quote;
use crate::tui::text::wrap;

/// Rows below the words: the rule's scope, and its keys.
pub const BELOW: u16 = 2;

/// Returns a label, the first `count` words that a rule may have, and the words that are left out.
pub fn words(card: &CommandCard, count: usize) -> (String, String, String) {
    let (words, rest) = card.prefix.0.split_at(count.min(card.prefix.0.len()));
    (format!("{}  ", say::always()), quote::line(words), quote::line(rest))
}

/// Returns whether all words of a rule have room in the area of the choices, below their line.
pub fn fits(card: &CommandCard, count: usize, choices: Rect) -> bool {
    let (label, words, _) = words(card, count);
    let rows = wrap::breaks(&format!("{label}{words}"), usize::from(choices.width.saturating_sub(2))).len();
    rows <= usize::from(choices.height.saturating_sub(2 + BELOW)).max(1)
}
