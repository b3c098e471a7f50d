//! The choices on a card, and its keys.

use ratatui::layout::Rect;

use super::body::{self, CardRow, CardRows, SplitRows};
use super::rule;
use crate::protocol::{CommandCard, CommandDecision};
use crate::tui::action::Action;
use crate::tui::scrolled::Scrolled;

/// The choices made on a card.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CardState {
    /// The rows in sight of those that scroll.
    scrolled: Scrolled,
    /// The number of words of a rule, and whether it is kept for later sessions; none: no rule is being made.
    pub rule: Option<(usize, bool)>,
    /// The card's rows, and the width they were made for.
    laid: (usize, CardRows),
    /// The rows that scroll, and the rows that stay below them.
    split: (Vec<CardRow>, Vec<CardRow>),
    /// The words of the rule do not all have room.
    cut: bool,
    /// The key that lets what can be undone run was the last one: a second time it does so.
    armed: bool,
}

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardOutcome {
    /// The card is as it was, or scrolled.
    Stay,
    /// The person decided this.
    Decide(CommandDecision),
    /// The person is asked for the key once more.
    Again,
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
        self.split = self.laid.1.split(height);
        let (all, needed) = (self.split.0.len(), self.laid.1.needed(&self.split.0));
        self.scrolled.measure_needed(all, needed, height - self.split.1.len());
        self.cut = self.rule.is_some_and(|(count, _)| !rule::fits(card, count, choices));
    }

    /// Returns the card's rows, and how far they are scrolled.
    pub fn rows(&self) -> SplitRows<'_> {
        (&self.split.0, &self.split.1, self.scrolled)
    }

    /// Returns whether all that has to be seen was in sight: only then a key runs the command.
    pub fn is_read(&self) -> bool {
        self.scrolled.is_read()
    }

    /// Returns whether an action does something now.
    pub fn offers(&self, card: &CommandCard, action: Action) -> bool {
        let decides = self.rule.is_none();
        match action {
            Action::Left | Action::Right | Action::Toggle => !decides,
            Action::Up | Action::PageUp | Action::Down | Action::PageDown => self.scrolled.offers(action),
            // Nobody agrees to what is not all seen.
            Action::Answer => decides || !self.cut,
            Action::Later => true,
            // One key shows the next rows.
            Action::RunInView | Action::WithNetwork | Action::AlwaysRun | Action::AcceptSession if !self.is_read() => {
                false
            }
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
        let armed = std::mem::take(&mut self.armed);
        if !self.offers(card, action) {
            return CardOutcome::Stay;
        }
        if let Some(outcome) = self.act_on_rule(card, action) {
            return outcome;
        }
        match action {
            Action::Up | Action::Down | Action::PageUp | Action::PageDown => self.scrolled.act(action),
            // Nobody agrees to what is not all seen: the next rows come first.
            Action::Accept if !self.is_read() => self.scrolled.act(Action::PageDown),
            Action::Accept => return CardOutcome::Decide(CommandDecision::Run { network: false }),
            Action::RunInView => return CardOutcome::Decide(CommandDecision::Preview),
            Action::WithNetwork => return CardOutcome::Decide(CommandDecision::Run { network: true }),
            // As with edits, what holds for the whole session is asked twice.
            Action::AcceptSession if !armed => {
                self.armed = true;
                return CardOutcome::Again;
            }
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
    fn what_holds_for_the_whole_session_is_asked_twice() {
        let (mut state, card) = (CardState::default(), CommandCard { may_review: true, ..card() });
        assert_eq!(state.act(&card, Action::AcceptSession), CardOutcome::Again);
        assert_eq!(state.act(&card, Action::Down), CardOutcome::Stay);
        assert_eq!(state.act(&card, Action::AcceptSession), CardOutcome::Again, "another key came between");
        assert_eq!(state.act(&card, Action::AcceptSession), CardOutcome::Decide(CommandDecision::Review));
    }

    #[test]
    fn a_command_that_is_not_all_seen_is_not_agreed_to() {
        let (mut state, mut card) = (CardState::default(), card());
        card.text = (0..12).map(|n| format!("echo {n}\n")).collect::<String>() + "rm -rf src";
        (card.class_why, card.grant) = ("the worst part decides".into(), "the workspace".into());
        state.measure(&card, (80, 8), Rect::new(0, 0, 80, 5));
        let stays = state.rows().1;
        assert!(matches!(stays, [CardRow::Class(..), CardRow::Words(..)]), "{stays:?}");
        let others = [Action::WithNetwork, Action::AlwaysRun];
        while !state.is_read() {
            assert!(others.iter().all(|action| !state.offers(&card, *action)), "one key shows the next rows");
            let top = state.rows().2.top;
            assert_eq!(state.act(&card, Action::AlwaysRun), CardOutcome::Stay);
            assert_eq!((state.rows().2.top, state.rule), (top, None));
            assert_eq!(state.act(&card, Action::Accept), CardOutcome::Stay);
        }
        assert!(others.iter().all(|action| state.offers(&card, *action)));
        state.act(&card, Action::PageUp);
        let run = CardOutcome::Decide(CommandDecision::Run { network: false });
        assert_eq!(state.act(&card, Action::Accept), run, "what was seen is seen");
        // Refusing needs no reading.
        let mut state = CardState::default();
        state.measure(&card, (40, 3), Rect::new(0, 0, 40, 4));
        assert!(state.rows().1.is_empty(), "too few rows for any to stay");
        assert!(matches!(state.act(&card, Action::Answer), CardOutcome::Decide(CommandDecision::Refuse(_))));
        assert_eq!(state.act(&card, Action::Reject), CardOutcome::Reason);
    }

    #[test]
    fn what_stands_below_every_command_needs_no_page() {
        let (mut state, mut card) = (CardState::default(), card());
        card.text = (0..5).map(|n| format!("echo {n}\n")).collect();
        (card.class_why, card.grant) = ("the worst part decides".into(), "the workspace".into());
        (card.keeper, card.not_kept, card.has_usual_bounds) = ("guard".into(), "what is built again".into(), true);
        state.measure(&card, (80, 9), Rect::new(0, 0, 80, 5));
        assert!(state.rows().2.below() > 0 && state.is_read());
        let run = CardOutcome::Decide(CommandDecision::Run { network: false });
        assert_eq!(state.act(&card, Action::Accept), run);
        let mut state = CardState::default();
        card.has_usual_bounds = false;
        state.measure(&card, (80, 9), Rect::new(0, 0, 80, 5));
        assert_eq!((state.is_read(), state.act(&card, Action::Accept)), (false, CardOutcome::Stay));
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
