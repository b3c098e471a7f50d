//! A question of the model: it stands above the input, so that the chat stays readable.

use crate::messages::{app as say, hints};
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
    /// The number of the choice whose digits were typed last; 0: the next digit begins one.
    number: usize,
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
        Asking { question, selected, text, card, is_answered: false, moved: false, number: 0 }
    }

    /// Notes that it is shown: its first choice is selected then, unless the input holds a draft.
    pub fn show(&mut self, has_draft: bool) {
        if !self.question.permission && !self.moved {
            self.selected = (!has_draft && !self.question.choices.is_empty()).then_some(0);
        }
    }

    /// Forgets what the person selected: an answer in their own words was begun since.
    pub fn forget_selection(&mut self) {
        (self.selected, self.moved, self.number) = (self.question.permission.then_some(0), false, 0);
    }

    /// Selects a choice.
    pub fn point(&mut self, index: usize) {
        (self.selected, self.moved, self.number) = (Some(index), true, 0);
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

    /// Returns the keys that select, each with what it does: those of a call that waits by the names of its choices.
    pub fn keys(&self) -> Vec<(String, String)> {
        let choices = self.choices();
        let keys = match (&self.question.hold, self.question.permission) {
            _ if choices.is_empty() || self.question.card.is_some() => return Vec::new(),
            (Some(_), _) => {
                let names = choices.into_iter().map(|(name, _)| name.to_string()).enumerate();
                return names.map(|(row, name)| (self.key(row), name)).collect();
            }
            (None, true) => "y n".to_string(),
            (None, false) => format!("1-{}", choices.len()),
        };
        vec![(keys, hints::select().to_string())]
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
        let count = self.choices().len();
        if let Some(digit) = key.to_digit(10).filter(|_| count > 0 && !self.question.permission) {
            return self.select_digit(digit as usize, count);
        }
        let row = (0..count).find(|i| self.key(*i).chars().eq([key]))?;
        self.point(row);
        Some(if self.question.hold.is_some() { self.choose(row) } else { QuestionOutcome::Stay })
    }

    /// Selects by the digits of a number: one that does not go on with it begins another.
    fn select_digit(&mut self, digit: usize, count: usize) -> Option<QuestionOutcome> {
        let numbers = [self.number * 10 + digit, digit];
        match numbers.into_iter().find(|number| (1..=count).contains(number)) {
            Some(number) => {
                self.point(number - 1);
                self.number = number;
            }
            // A zero that is part of no number is a slip where some have one.
            None if count < 10 => return None,
            None => {}
        }
        Some(QuestionOutcome::Stay)
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
    fn the_digits_of_a_number_select_together() {
        let choices = |n| (1..n).map(|n| (format!("choice {n}"), String::new())).collect();
        let typed = |count, keys: &str| {
            let mut asking = Asking::new(Question { choices: choices(count), ..question(false) });
            let taken = keys.chars().filter(|key| asking.select(*key).is_some()).count();
            (asking.selected.map(|row| row + 1), taken)
        };
        // With the row for something else there are twelve.
        for (keys, number) in [("12", 12), ("10", 10), ("13", 3), ("122", 2), ("0", 0), ("20", 2), ("1112", 12)] {
            assert_eq!(typed(12, keys), (Some(number).filter(|n| *n > 0), keys.len()), "{keys}");
        }
        assert_eq!((typed(120, "117"), typed(120, "1200")), ((Some(117), 3), (Some(120), 4)));
        // Of few, a digit that selects none begins an answer of the person's own.
        assert_eq!((typed(4, "0"), typed(4, "5"), typed(4, "12")), ((None, 0), (None, 0), (Some(2), 2)));
        // An arrow between them ends the number.
        let mut asking = Asking::new(Question { choices: choices(12), ..question(false) });
        asking.select('1');
        asking.act(Action::Down);
        asking.select('2');
        assert_eq!(asking.selected, Some(1));
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
