//! A question of the model: it stands above the input, so that the chat stays readable.

use crate::protocol::{Command, Question};
use crate::tui::action::Action;

/// The open question, and which choice is selected.
#[derive(Debug, Clone)]
pub struct Asking {
    /// The question.
    pub question: Question,
    /// The selected choice; one more than there are: something else.
    pub selected: usize,
    /// The person wants to answer later; the keys go elsewhere.
    pub later: bool,
}

/// What became of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// The selection moved, or nothing happened.
    Stay,
    /// This answer.
    Answer(Command),
    /// The person wants to write.
    Write,
    /// Not now.
    Later,
}

impl Asking {
    /// A question that just came.
    pub fn new(question: Question) -> Asking {
        Asking { question, selected: 0, later: false }
    }

    /// Rows to choose from: the choices, and something else.
    pub fn choices(&self) -> Vec<(&str, &str)> {
        let mut all: Vec<(&str, &str)> = self.question.choices.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        if !all.is_empty() {
            all.push(("something else", "write it below"));
        }
        all
    }

    /// The answer in the person's own words.
    pub fn answer(&self, text: String) -> Command {
        Command::Reply(self.question.id, text)
    }

    /// Does an action.
    pub fn act(&mut self, action: Action) -> Said {
        let count = self.choices().len();
        match action {
            Action::Up => self.selected = self.selected.saturating_sub(1),
            Action::Down => self.selected = (self.selected + 1).min(count.saturating_sub(1)),
            Action::Answer => return self.choose(self.selected),
            Action::FocusInput => return Said::Write,
            Action::Later => {
                self.later = true;
                return Said::Later;
            }
            _ => {}
        }
        Said::Stay
    }

    /// A digit chooses at once.
    pub fn digit(&mut self, digit: char) -> Option<Said> {
        let n = digit.to_digit(10)? as usize;
        (1..=self.choices().len()).contains(&n).then(|| self.choose(n - 1))
    }

    fn choose(&mut self, index: usize) -> Said {
        self.selected = index;
        match self.question.choices.get(index) {
            Some((answer, _)) => Said::Answer(self.answer(answer.clone())),
            None => Said::Write,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::QuestionId;

    #[test]
    fn chooses_by_digit_and_by_selection() {
        let question = Question {
            id: QuestionId(3),
            text: "Which?".into(),
            choices: vec![("a".into(), String::new()), ("b".into(), "why".into())],
        };
        let mut asking = Asking::new(question);
        assert_eq!(asking.digit('2'), Some(Said::Answer(Command::Reply(QuestionId(3), "b".into()))));
        assert_eq!(asking.digit('3'), Some(Said::Write));
        assert_eq!(asking.digit('4'), None);
        asking.act(Action::Up);
        asking.act(Action::Up);
        assert_eq!(asking.act(Action::Answer), Said::Answer(Command::Reply(QuestionId(3), "a".into())));
        assert_eq!(asking.act(Action::Later), Said::Later);
    }
}
