//! The changes of a turn, and a report where it changed nothing although that was meant, or less than it says.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::agent::session::context::Settings;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::records::ResultRecord;
use crate::agent::turn::follow_up::FollowUp;
use crate::agent::turn::prompt_kind::{may_want_name, wants_empty_file, wants_no_change};
use crate::edit::stream::{Unread, UnreadText, unread};
use crate::edit::{Format, NO_FILE};
use crate::messages::agent as say;
use crate::protocol::{ItemId, Level, Mode, Notice, TurnEnd};
use crate::provider::{Message, Role};
use crate::text::sentence::first_sentence;

/// The result of a step, for the turn.
#[derive(Default)]
pub struct StepNotes {
    /// An edit by a native call could not be read or placed.
    pub native_edit_failed: bool,
    /// A native call that changes files lacked an argument.
    pub native_edit_incomplete: bool,
    /// An edit by a native call was placed.
    pub native_edit_placed: bool,
    /// Something was asked for that changes files.
    pub changes_requested: bool,
    /// Something of it was written.
    pub changed: bool,
    /// A job changed something since its call was answered.
    pub job_changed: bool,
    /// A proposal failed its test and went back to the model, which may ask for the same again.
    pub went_back: bool,
    /// Each other call and edit that was not done.
    pub refusals: Vec<RefusedCall>,
    /// Each command that failed and was refused something by its sandbox.
    pub blocked: Vec<RefusedCall>,
    /// The entries of calls and edits that were made before, in this turn.
    pub made: Vec<ItemId>,
    /// Files of edits that were written.
    written: BTreeSet<String>,
    /// Files of edits whose new text is the present one.
    same: BTreeSet<String>,
}

/// A call or an edit that was not done.
#[derive(Debug, Clone)]
pub struct RefusedCall {
    /// The call or edit, and the text that the model was told.
    pub text: String,
    /// The reason, for the person.
    pub why: String,
    /// The kind of the refusal, which tells what would help.
    pub kind: RefusalKind,
}

/// The kinds of refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// The place of an edit was not found.
    Unplaced,
    /// The sandbox of a command did not allow something.
    Blocked,
    /// Another one.
    Other,
}

impl StepNotes {
    /// Adds the result of a call or an edit; `what` names it as it was asked for.
    pub fn add(&mut self, what: &str, record: &ResultRecord, for_model: &str) {
        self.changes_requested |= record.requests_changes();
        self.changed |= record.has_changed();
        self.went_back |= record.went_back;
        if !record.ok && !record.went_back {
            let is_unplaced = record.edits.iter().any(|edit| edit.rung.is_none() && edit.ok != Some(true));
            let kind = if is_unplaced { RefusalKind::Unplaced } else { RefusalKind::Other };
            let why = record.reason().unwrap_or_else(|| first_sentence(for_model)).to_string();
            self.refusals.push(RefusedCall { text: format!("{what}\n{for_model}"), why, kind });
        }
        for edit in record.edits.iter().filter(|edit| edit.ok == Some(true)) {
            let files = if edit.rung.is_some() { &mut self.written } else { &mut self.same };
            files.insert(edit.path.clone());
        }
    }

    /// Adds what the sandbox refused to a command that failed.
    pub fn add_blocked(&mut self, command: &str, blocked: &[String]) {
        let call = |line: &String| RefusedCall {
            text: format!("{command}\n{line}"),
            why: first_sentence(line).to_string(),
            kind: RefusalKind::Blocked,
        };
        self.blocked.extend(blocked.iter().map(call));
    }

    /// Returns the files that edits left as they were.
    pub fn unchanged(&self) -> BTreeSet<String> {
        self.same.difference(&self.written).cloned().collect()
    }
}

/// Records whether a turn was to change files, and whether it did.
#[derive(Default)]
pub struct Effect {
    changes_requested: bool,
    changed: bool,
    /// The step added last changed a file.
    step_changed: bool,
    /// Something in the newest answer that holds such, which was not read as an edit.
    unread: Option<UnreadText>,
    /// The one of them because of which the model was asked once more.
    asked: Option<UnreadText>,
    /// The reason why an edit of the step added last found no place, or one before it that no later step has made up for.
    unplaced: Option<String>,
    /// The file that two edits left as it was, which ended the turn.
    unchanged: Option<String>,
    /// Files of edits that were written.
    written: BTreeSet<String>,
}

impl Effect {
    /// Looks at the answer, if one has arrived, before what it asks for is done: how it is read depends on the files as
    /// they are then.
    pub fn look(&mut self, session: &Conversation, settings: &Settings, has_arrived: bool) {
        let is_answer = |m: &&Arc<Message>| has_arrived && m.role == Role::Assistant && settings.mode == Mode::Agent;
        let answer = session.messages.last().filter(is_answer);
        let (known, calls) = (session.files.known_by_name(), session.tools.calls());
        let mut found =
            answer.and_then(|answer| unread(&answer.text(), (settings.format, settings.displays), known, calls));
        if let Some(UnreadText { why, .. }) = &mut found
            && let Unread::OtherFile(paths) = &*why
            && let Some(true_why) = session.files.none_compared(paths)
        {
            *why = true_why;
        }
        // As text, an answer makes a file without text; among calls nothing does.
        let is_made = |prompt: &str| settings.format != Format::TOOLS && wants_empty_file(prompt);
        let may_do = |prompt: String| wants_no_change(&prompt) || may_want_name(&prompt) || is_made(&prompt);
        let is_answered = || self.changed || session.prompt_text().is_some_and(may_do);
        if found.as_ref().is_some_and(|found| matches!(found.why, Unread::OnlyPath(_))) && is_answered() {
            found = None;
        }
        self.unread = found.or(self.unread.take());
    }

    /// Adds the notes of a step.
    pub fn add(&mut self, notes: &StepNotes) {
        self.changes_requested |= notes.changes_requested;
        self.changed |= notes.changed || notes.job_changed;
        self.step_changed = notes.changed;
        self.written.extend(notes.written.iter().cloned());
        if notes.changed {
            self.asked = None;
        }
        let unplaced = notes.refusals.iter().find(|refused| refused.kind == RefusalKind::Unplaced);
        let before = self.unplaced.take().filter(|_| !notes.changed);
        self.unplaced = unplaced.map(|refused| refused.text.clone()).or(before);
    }

    /// Ends the turn because two edits left this file as it was.
    pub fn end_unchanged(&mut self, path: String) -> TurnEnd {
        self.unchanged = Some(path);
        TurnEnd::Done
    }

    /// Returns whether the model is asked once more, in a turn that would end without a change, because a block of its answer
    /// has no place in its file, or where the answer is nothing but a path, or where edits are written as text because one
    /// that names no file may be that of the only one in play; and in one that changed something because of a step of the same answer without a place, or of a block for
    /// a file that was left as it is.
    pub fn asks_again(&mut self, session: &mut Conversation, settings: &Settings, follow_up: &mut FollowUp) -> bool {
        let is_idle = !self.changed && !self.changes_requested && self.unchanged.is_none();
        let is_calm = self.unchanged.is_none() && session.undecided.is_empty();
        let is_asked = match &self.unread {
            Some(UnreadText { why: Unread::Step(path), .. }) if self.changed && is_calm => {
                follow_up.again_beside(session, path, settings.format)
            }
            Some(UnreadText { why: Unread::NoPlace(path), beside_edit: true })
                if self.changed && is_calm && settings.format != Format::TOOLS && !self.written.contains(path) =>
            {
                follow_up.again_beside(session, path, settings.format)
            }
            Some(UnreadText { why: Unread::NoPlace(path), .. }) if is_idle && session.undecided.is_empty() => {
                follow_up.again_for(session, path, settings.format)
            }
            Some(UnreadText { why: Unread::OnlyPath(path), .. }) if is_idle && session.undecided.is_empty() => {
                follow_up.again_without_text(session, path, settings.format)
            }
            Some(UnreadText { why: Unread::PerhapsOf(path), .. })
                if is_idle && session.undecided.is_empty() && settings.format != Format::TOOLS =>
            {
                follow_up.again_without_path(session, path, settings.format)
            }
            _ => false,
        };
        if is_asked {
            self.asked = self.unread.take();
        }
        is_asked
    }

    /// Returns whether the turn changed a file.
    pub fn has_changed(&self) -> bool {
        self.changed
    }

    /// Returns whether the step added last changed a file.
    pub fn take_step_changed(&mut self) -> bool {
        std::mem::take(&mut self.step_changed)
    }

    /// Returns the notice that no file was changed, where an edit failed or the answer holds code that was not read as
    /// one; and of code that was not read beside edits that were, where edits are written as text.
    pub fn notice(&self, settings: &Settings) -> Option<Notice> {
        if settings.mode == Mode::Plan {
            return None;
        }
        if let Some(path) = &self.unchanged {
            let title = if self.changed { say::no_further() } else { say::no_file_changed() };
            return Some(Notice::new(Level::Warning, title, say::written_unchanged(path)));
        }
        let is_told = |unread: &&UnreadText| !self.changed || settings.format != Format::TOOLS || unread.beside_edit;
        let unread = self.unread.as_ref().or(self.asked.as_ref()).filter(is_told).map(|unread| sentence(&unread.why));
        let (level, title, why) = match (self.changed, unread) {
            (true, Some(why)) => (Level::Info, say::block_not_read(), why),
            (true, None) => {
                let why = self.unplaced.as_ref()?;
                let is_missing = why.contains(NO_FILE);
                let why = if is_missing { say::edit_without_file() } else { say::edit_without_place() };
                (Level::Info, say::edit_not_applied(), why.to_string())
            }
            (false, _) if self.changes_requested => {
                (Level::Warning, say::no_file_changed(), say::no_edit_applied().to_string())
            }
            (false, Some(why)) => (Level::Warning, say::no_file_changed(), why),
            (false, None) => return None,
        };
        Some(Notice::new(level, title, why))
    }
}

/// Returns the reason why something was not read as an edit, in a sentence.
fn sentence(why: &Unread) -> String {
    match why {
        Unread::NoFile | Unread::PerhapsOf(_) => say::block_without_file().to_string(),
        Unread::OtherFile(paths) => say::block_of_other_file(paths),
        Unread::NoPlace(path) | Unread::Step(path) => say::block_without_place(path),
        Unread::OnlyPath(path) => say::only_a_path(path),
        Unread::AsItIs(path) => say::block_as_it_is(path),
        Unread::NotCompared { path, is_raw: true } => say::block_for_raw_file(path),
        Unread::NotCompared { path, .. } => say::block_for_uncompared_file(path),
        Unread::NoForm => say::file_in_no_format().to_string(),
    }
}
