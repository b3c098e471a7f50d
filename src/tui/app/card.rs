//! The card of a command that waits: its keys, and the lines in which a reason or another text is written.

use super::{App, At, Attention, Effect, Line, LineFor, LineInput, Owner, Screen};
use crate::messages::card as say;
use crate::protocol::{Command, CommandCard, CommandDecision};
use crate::tui::action::Action;
use crate::tui::card::{CardOutcome, CardState};
use crate::tui::view::question::text_rows;

impl App {
    /// Returns the card that stands on the screen, and what has been chosen on it.
    pub(in crate::tui) fn card(&self) -> Option<(&CommandCard, &CardState)> {
        let asking = self.open_question()?;
        Some((asking.question.card.as_deref()?, &asking.card))
    }

    /// Tells the question that is open, or its card, its size. One that is not on the screen is not seen.
    pub(super) fn measure_question(&mut self) {
        if self.open_question().is_none() || !matches!(self.screen, Screen::Main) {
            return;
        }
        let (width, height) = (self.rects.body.width, self.rects.body.height.saturating_sub(1));
        let area = self.rects.question;
        let Some(asking) = self.questions.first_mut() else { return };
        match &asking.question.card {
            Some(card) => asking.card.measure(card, (usize::from(width), usize::from(height)), area),
            None => {
                let (all, room) = text_rows(asking, area);
                asking.text.measure(all, room);
            }
        }
    }

    /// Does an action on the card; none: no card is open.
    pub(super) fn act_card(&mut self, action: Action) -> Option<Vec<Effect>> {
        let asking = self.questions.first_mut()?;
        let card = asking.question.card.clone()?;
        let id = asking.question.id;
        if !asking.card.offers(&card, action) {
            let own = matches!(action, Action::Left | Action::Right | Action::Toggle | Action::Up | Action::Down);
            let paging = matches!(action, Action::PageUp | Action::PageDown);
            let decides = matches!(action, Action::Accept | Action::Reject | Action::EditResult);
            let chooses =
                matches!(action, Action::RunInView | Action::WithNetwork | Action::AlwaysRun | Action::AcceptSession);
            return Some(if own || paging || decides || chooses { Vec::new() } else { self.act_global(action) });
        }
        // What was decided is carried out, or judged anew: the next card comes in this place.
        if asking.is_answered && action != Action::Later {
            return Some(Vec::new());
        }
        Some(match asking.card.act(&card, action) {
            CardOutcome::Stay => Vec::new(),
            CardOutcome::Again => {
                self.say = Some(say::review_again().into());
                Vec::new()
            }
            CardOutcome::Decide(decision) => self.reply(Command::DecideCommand(id, decision)),
            CardOutcome::Reason => self.ask_line(LineFor::Reason, say::why_refused(), ""),
            CardOutcome::Edit => self.ask_line(LineFor::Text, say::change_text(), &card.source),
            CardOutcome::Later => {
                self.layout.at = At::Input;
                Vec::new()
            }
        })
    }

    fn ask_line(&mut self, purpose: LineFor, prompt: &str, text: &str) -> Vec<Effect> {
        let about = self.questions.first().map(|asking| Attention::Question(asking.question.id));
        self.line = Some(Line::new(Owner::Card, purpose, prompt.into(), text.into(), about));
        Vec::new()
    }

    /// Takes a line that the card asked for.
    pub(super) fn card_line(&mut self, purpose: &LineFor, typed: LineInput<'_>) -> Vec<Effect> {
        let Some(id) = self.card().and(self.questions.first()).map(|asking| asking.question.id) else {
            return Vec::new();
        };
        match (purpose, typed) {
            (LineFor::Reason, LineInput::Taken(reason)) => {
                self.reply(Command::DecideCommand(id, CommandDecision::Refuse(reason.trim().into())))
            }
            (LineFor::Text, LineInput::Taken(text)) if !text.trim().is_empty() => {
                self.say = Some(say::judged_again().into());
                self.reply(Command::DecideCommand(id, CommandDecision::Edit(text.into())))
            }
            _ => Vec::new(),
        }
    }
}
