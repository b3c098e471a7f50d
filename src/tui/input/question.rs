//! A question of the model: it stands above the input, so that the chat stays readable.

use crate::messages::app as say;
use crate::protocol::{Command, Question, Reply};
use crate::tui::action::Action;
use crate::tui::card::CardState;
use crate::tui::scrolled::Scrolled;

/// The open question, and which choice is selected.
#[derive(Debug, Clone)]
pub struct Asking {
    /// The question.
    pub question: Question,
    /// The selected row; one more than there are choices: something else. `None`: nothing yet.
    pub selected: Option<usize>,
    /// The rows of its text in sight.
    pub text: Scrolled,
    /// The choices on the card of a question about a command.
    pub card: CardState,
    /// The person answered it; it stands until the agent has the answer.
    pub is_answered: bool,
    /// The person moved the selection.
    moved: bool,
}

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum QuestionOutcome {
    /// The selection moved, or nothing happened.
    Stay,
    /// The person gave this answer.
    Answer(Command),
    /// The person wants to write.
    Write,
    /// The person answers later.
    Later,
}

impl Asking {
    /// Returns a question that just came. A permission has *no* as its default; else nothing is selected before it is
    /// shown.
    pub fn new(question: Question) -> Asking {
        let selected = question.permission.then_some(0);
        let (text, card) = (Scrolled::default(), CardState::default());
        Asking { question, selected, text, card, is_answered: false, moved: false }
    }

    /// Notes that it is shown: its first choice is selected then, unless the input holds a draft.
    pub fn show(&mut self, has_draft: bool) {
        if !self.question.permission && !self.moved {
            self.selected = (!has_draft && !self.question.choices.is_empty()).then_some(0);
        }
    }

    /// Selects a choice.
    pub fn point(&mut self, index: usize) {
        (self.selected, self.moved) = (Some(index), true);
    }

    /// Returns the key that selects a row: `n` and `y` for a permission, else its number.
    pub fn key(&self, row: usize) -> String {
        if let Some(hold) = &self.question.hold {
            let key = self.choice_in(row).and_then(|choice| hold.keys.get(choice));
            return key.map(char::to_string).unwrap_or_default();
        }
        match (self.question.permission, row) {
            (true, 0) => "n".into(),
            (true, 1) => "y".into(),
            _ => (row + 1).to_string(),
        }
    }

    /// Returns the choice in a row. The default of a permission, its last choice, stands first.
    fn choice_in(&self, row: usize) -> Option<usize> {
        match self.question.permission {
            true if row == 0 => self.question.choices.len().checked_sub(1),
            true => Some(row - 1).filter(|choice| choice + 1 < self.question.choices.len()),
            false => Some(row).filter(|row| *row < self.question.choices.len()),
        }
    }

    /// Returns the rows to choose from: the choices, and something else.
    pub fn choices(&self) -> Vec<(&str, &str)> {
        let mut all: Vec<(&str, &str)> = self.question.choices.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        if self.question.permission {
            let default = usize::from(!all.is_empty());
            all.rotate_right(default);
        } else if !all.is_empty() {
            all.push((say::something_else(), say::write_below()));
        }
        all
    }

    /// Returns whether it may be answered in the person's own words: a call that waits goes on or fails, and reads none.
    pub fn takes_words(&self) -> bool {
        self.question.hold.is_none()
    }

    /// Returns the answer in the person's own words.
    pub fn answer(&self, text: String) -> Command {
        self.question.answer(self.question.typed(&text))
    }

    /// Does an action.
    pub fn act(&mut self, action: Action) -> QuestionOutcome {
        let count = self.choices().len();
        match action {
            Action::Up => self.point(self.selected.map_or(count.saturating_sub(1), |i| i.saturating_sub(1))),
            Action::Down => self.point(self.selected.map_or(0, |i| (i + 1).min(count.saturating_sub(1)))),
            Action::Answer => return self.selected.map_or(QuestionOutcome::Stay, |i| self.choose(i)),
            Action::PageUp | Action::PageDown => self.text.act(action),
            Action::FocusInput if self.takes_words() => return QuestionOutcome::Write,
            Action::Later => return QuestionOutcome::Later,
            _ => {}
        }
        QuestionOutcome::Stay
    }

    /// Handles a key that selects a choice, with which Enter answers; none: it is no such key. The key of a call that
    /// waits answers at once.
    pub fn select(&mut self, key: char) -> Option<QuestionOutcome> {
        let row = (0..self.choices().len()).find(|i| self.key(*i).chars().eq([key]))?;
        self.point(row);
        Some(if self.question.hold.is_some() { self.choose(row) } else { QuestionOutcome::Stay })
    }

    /// Shows the next rows of what is to be permitted, where not all was seen: nobody agrees to that. Returns whether it
    /// did.
    pub fn reads_on(&mut self) -> bool {
        let reads = self.question.permission && !self.text.is_read();
        if reads {
            self.text.act(Action::PageDown);
        }
        reads
    }

    fn choose(&mut self, row: usize) -> QuestionOutcome {
        let is_default = self.question.permission && row == 0;
        if !is_default && self.reads_on() {
            return QuestionOutcome::Stay;
        }
        match self.choice_in(row) {
            Some(index) => QuestionOutcome::Answer(self.question.answer(Reply::Choice(index))),
            None => QuestionOutcome::Write,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{HoldCard, QuestionId};

    fn question(permission: bool) -> Question {
        let choices = vec![("a".into(), String::new()), ("b".into(), "why".into())];
        Question { id: QuestionId(3), text: "Which?".into(), choices, permission, card: None, hold: None }
    }

    #[test]
    fn a_digit_selects_and_enter_confirms() {
        let mut asking = Asking::new(question(false));
        asking.show(false);
        assert_eq!(asking.selected, Some(0));
        // A draft that was begun after the question came.
        asking.show(true);
        assert_eq!(
            asking.act(Action::Answer),
            QuestionOutcome::Stay,
            "nothing is selected while the input has a draft"
        );
        assert!(asking.select('2').is_some() && asking.select('4').is_none());
        assert_eq!(
            asking.act(Action::Answer),
            QuestionOutcome::Answer(Command::Reply(QuestionId(3), Reply::Choice(1)))
        );
        assert_eq!(asking.select('3'), Some(QuestionOutcome::Stay));
        assert_eq!(asking.act(Action::Answer), QuestionOutcome::Write);
        asking.act(Action::Up);
        asking.act(Action::Up);
        assert_eq!(
            asking.act(Action::Answer),
            QuestionOutcome::Answer(Command::Reply(QuestionId(3), Reply::Choice(0)))
        );
        assert_eq!(asking.act(Action::Later), QuestionOutcome::Later);
        asking.show(true);
        assert_eq!(asking.selected, Some(0), "what the person selected stays");
    }

    #[test]
    fn no_is_the_default_of_a_permission() {
        let mut asking = Asking::new(question(true));
        assert_eq!(asking.choices().iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(
            asking.act(Action::Answer),
            QuestionOutcome::Answer(Command::Reply(QuestionId(3), Reply::Choice(1)))
        );
        assert!(asking.select('y').is_some() && asking.select('1').is_none());
        assert_eq!(
            asking.act(Action::Answer),
            QuestionOutcome::Answer(Command::Reply(QuestionId(3), Reply::Choice(0)))
        );
    }

    #[test]
    fn a_permission_that_is_not_all_seen_is_not_given() {
        let mut asking = Asking::new(question(true));
        asking.text.measure(5, 3);
        asking.select('y');
        assert_eq!(asking.act(Action::Answer), QuestionOutcome::Stay);
        assert_eq!(asking.text.below(), 0);
        assert!(matches!(asking.act(Action::Answer), QuestionOutcome::Answer(_)));
        let mut asking = Asking::new(question(true));
        asking.text.measure(5, 3);
        assert!(matches!(asking.act(Action::Answer), QuestionOutcome::Answer(_)), "no needs no reading");
        let mut asking = Asking::new(question(false));
        asking.text.measure(5, 3);
        asking.show(false);
        assert!(matches!(asking.act(Action::Answer), QuestionOutcome::Answer(_)), "an answer permits nothing");
    }

    #[test]
    fn the_key_of_a_call_that_waits_answers_at_once() {
        let choices = ["allow", "allow all", "stop", "refuse"].map(|name| (name.to_string(), String::new())).into();
        let hold = HoldCard { keys: vec!['y', 'a', 'x', 'n'], ..HoldCard::default() };
        let mut asking = Asking::new(Question { choices, hold: Some(hold.into()), ..question(true) });
        assert_eq!((0..4).map(|row| asking.key(row)).collect::<String>(), "nyax");
        let answer = |choice| QuestionOutcome::Answer(Command::Reply(QuestionId(3), Reply::Choice(choice)));
        assert_eq!(asking.act(Action::Answer), answer(3), "refusing is the default");
        for (key, choice) in [('y', 0), ('a', 1), ('x', 2), ('n', 3)] {
            assert_eq!(asking.select(key), Some(answer(choice)));
        }
        assert_eq!(asking.select('g'), None);
        assert_eq!(asking.act(Action::FocusInput), QuestionOutcome::Stay, "its words would reach nobody");
    }
}
