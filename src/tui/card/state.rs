//! The choices on a card, and its keys.

use ratatui::layout::Rect;

use super::body::{self, CardRow};
use super::rule;
use crate::protocol::{CommandCard, CommandDecision};
use crate::tui::action::Action;

/// The choices made on a card.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CardState {
    /// Rows that are scrolled away.
    pub scroll: usize,
    /// The number of words of a rule, and whether it is kept for later sessions; none: no rule is being made.
    pub rule: Option<(usize, bool)>,
    /// The card's rows, and the width they were made for.
    laid: (usize, Vec<CardRow>),
    /// The number of them in sight.
    sight: usize,
    /// The words of the rule do not all have room.
    cut: bool,
}

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardOutcome {
    /// The card is as it was, or scrolled.
    Stay,
    /// The person decided this.
    Decide(CommandDecision),
    /// The person says why not.
    Reason,
    /// The person changes the text.
    Edit,
    /// The person decides later.
    Later,
}

impl CardState {
    /// Takes the sizes of the body and of the choices.
    pub fn measure(&mut self, card: &CommandCard, (width, height): (usize, usize), choices: Rect) {
        if self.laid.0 != width {
            self.laid = (width, body::rows(card, width));
        }
        self.sight = height;
        self.scroll = self.scroll.min(self.laid.1.len().saturating_sub(height));
        self.cut = self.rule.is_some_and(|(count, _)| !rule::fits(card, count, choices));
    }

    /// Returns the card's rows.
    pub fn rows(&self) -> &[CardRow] {
        &self.laid.1
    }

    /// Returns whether an action does something now.
    pub fn offers(&self, card: &CommandCard, action: Action) -> bool {
        let decides = self.rule.is_none();
        let (all, sight) = (self.laid.1.len(), self.sight);
        match action {
            Action::Left | Action::Right | Action::Toggle => !decides,
            Action::Up | Action::PageUp => self.scroll > 0,
            Action::Down | Action::PageDown => self.scroll + sight < all,
            // Nobody agrees to what is not all seen.
            Action::Answer => decides || !self.cut,
            Action::Later => true,
            Action::RunInView => decides && card.no_preview.is_none(),
            Action::WithNetwork => decides && card.may_network,
            Action::AlwaysRun => decides && !card.prefix.0.is_empty(),
            Action::AcceptSession => decides && card.may_review,
            Action::Accept | Action::Reject | Action::EditResult => decides,
            _ => false,
        }
    }

    /// Does an action.
    pub fn act(&mut self, card: &CommandCard, action: Action) -> CardOutcome {
        if !self.offers(card, action) {
            return CardOutcome::Stay;
        }
        if let Some(outcome) = self.act_on_rule(card, action) {
            return outcome;
        }
        let (all, sight) = (self.laid.1.len(), self.sight);
        match action {
            Action::Up => self.scroll -= 1,
            Action::Down => self.scroll += 1,
            Action::PageUp => self.scroll = self.scroll.saturating_sub(sight),
            Action::PageDown => self.scroll = (self.scroll + sight).min(all.saturating_sub(sight)),
            Action::Accept => return CardOutcome::Decide(CommandDecision::Run { network: false }),
            Action::RunInView => return CardOutcome::Decide(CommandDecision::Preview),
            Action::WithNetwork => return CardOutcome::Decide(CommandDecision::Run { network: true }),
            Action::AcceptSession => return CardOutcome::Decide(CommandDecision::Review),
            Action::Answer => return CardOutcome::Decide(CommandDecision::Refuse(String::new())),
            Action::AlwaysRun => self.rule = Some((card.prefix.1, true)),
            Action::Reject => return CardOutcome::Reason,
            Action::EditResult => return CardOutcome::Edit,
            Action::Later => return CardOutcome::Later,
            _ => {}
        }
        CardOutcome::Stay
    }

    /// Handles an action while a rule is being made; none: the action is another one.
    fn act_on_rule(&mut self, card: &CommandCard, action: Action) -> Option<CardOutcome> {
        let (count, keep) = self.rule.as_mut()?;
        match action {
            Action::Left => *count = count.saturating_sub(1).max(1),
            Action::Right => *count = (*count + 1).min(card.prefix.0.len()),
            Action::Toggle => *keep = !*keep,
            Action::Later => self.rule = None,
            Action::Answer => {
                let (prefix, keep) = (card.prefix.0.iter().take(*count).cloned().collect(), *keep);
                return Some(CardOutcome::Decide(CommandDecision::Always { prefix, keep }));
            }
            _ => return None,
        }
        Some(CardOutcome::Stay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> CommandCard {
        let words = ["cargo", "test", "--lib"].map(String::from).to_vec();
        CommandCard { prefix: (words, 2), may_network: true, ..CommandCard::default() }
    }

    #[test]
    fn enter_refuses_and_letters_decide() {
        let (mut state, card) = (CardState::default(), card());
        assert_eq!(state.act(&card, Action::Answer), CardOutcome::Decide(CommandDecision::Refuse(String::new())));
        assert_eq!(state.act(&card, Action::Accept), CardOutcome::Decide(CommandDecision::Run { network: false }));
        assert_eq!(state.act(&card, Action::WithNetwork), CardOutcome::Decide(CommandDecision::Run { network: true }));
        assert_eq!(state.act(&card, Action::AcceptSession), CardOutcome::Stay, "it is not offered");
    }

    #[test]
    fn a_rule_that_is_not_all_seen_is_not_made() {
        let (mut state, mut card) = (CardState::default(), card());
        card.prefix = (vec!["x".repeat(300), "y".into()], 1);
        state.act(&card, Action::AlwaysRun);
        state.measure(&card, (80, 10), Rect::new(0, 0, 80, 5));
        assert_eq!(state.act(&card, Action::Answer), CardOutcome::Stay);
        state.measure(&card, (80, 10), Rect::new(0, 0, 80, 10));
        assert!(matches!(state.act(&card, Action::Answer), CardOutcome::Decide(_)));
    }

    #[test]
    fn a_rule_is_shortened_and_lengthened_before_it_is_written() {
        let (mut state, card) = (CardState::default(), card());
        assert!(!state.offers(&card, Action::Left));
        state.act(&card, Action::AlwaysRun);
        assert!(!state.offers(&card, Action::Accept), "letters do not decide meanwhile");
        for action in [Action::Right, Action::Right, Action::Left, Action::Left, Action::Left, Action::Toggle] {
            assert_eq!(state.act(&card, action), CardOutcome::Stay);
        }
        let decided = CommandDecision::Always { prefix: vec!["cargo".into()], keep: false };
        assert_eq!(state.act(&card, Action::Answer), CardOutcome::Decide(decided));
        state.act(&card, Action::Later);
        assert_eq!(state.act(&card, Action::Later), CardOutcome::Later);
    }
}
