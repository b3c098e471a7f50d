//! The changes of a turn, and a report where it changed nothing although that was meant, or less than it says.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::agent::session::context::Settings;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::records::ResultRecord;
use crate::edit::stream::{self, End, KnownFile, Piece};
use crate::edit::{Edit, Format, Op};
use crate::messages::agent as say;
use crate::protocol::{Level, Mode, Notice, TurnEnd};
use crate::provider::{Message, Role};

/// The result of a step, for the turn.
#[derive(Default)]
pub struct StepNotes {
    /// An edit by a native call could not be read or placed.
    pub native_edit_failed: bool,
    /// An edit by a native call was placed.
    pub native_edit_placed: bool,
    /// Something was asked for that changes files.
    pub changes_requested: bool,
    /// Something of it was written.
    pub changed: bool,
    /// A proposal failed its test and went back to the model, which may ask for the same again.
    pub went_back: bool,
    /// Each other call and edit that was not done.
    pub refusals: Vec<RefusedCall>,
    /// Each command that failed and was refused something by its sandbox.
    pub blocked: Vec<RefusedCall>,
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
            self.refusals.push(RefusedCall { text: format!("{what}\n{for_model}"), kind });
        }
        for edit in record.edits.iter().filter(|edit| edit.ok == Some(true)) {
            let files = if edit.rung.is_some() { &mut self.written } else { &mut self.same };
            files.insert(edit.path.clone());
        }
    }

    /// Adds what the sandbox refused to a command that failed.
    pub fn add_blocked(&mut self, command: &str, blocked: &[String]) {
        let calls = blocked.iter().map(|line| format!("{command}\n{line}"));
        self.blocked.extend(calls.map(|text| RefusedCall { text, kind: RefusalKind::Blocked }));
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
    /// The reason why something in the newest answer that holds such was not read as an edit.
    unread: Option<&'static str>,
    /// The file that two edits left as it was, which ended the turn.
    unchanged: Option<String>,
}

impl Effect {
    /// Looks at the answer that has arrived, before what it asks for is done: how it is read depends on the files as they
    /// are then.
    pub fn look(&mut self, session: &Conversation, settings: &Settings) {
        let is_answer = |m: &&Arc<Message>| m.role == Role::Assistant && settings.mode == Mode::Agent;
        let answer = session.messages.last().filter(is_answer);
        self.unread = answer.and_then(|answer| unread(session, &answer.text(), settings.format)).or(self.unread);
    }

    /// Adds the notes of a step.
    pub fn add(&mut self, notes: &StepNotes) {
        self.changes_requested |= notes.changes_requested;
        self.changed |= notes.changed;
        self.step_changed = notes.changed;
    }

    /// Ends the turn because two edits left this file as it was.
    pub fn end_unchanged(&mut self, path: String) -> TurnEnd {
        self.unchanged = Some(path);
        TurnEnd::Done
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
        let unread = self.unread.filter(|_| !self.changed || settings.format != Format::TOOLS);
        let (level, title, why) = match (self.changed, unread) {
            (true, Some(why)) => (Level::Info, say::block_not_read(), why),
            (true, None) => return None,
            (false, _) if self.changes_requested => (Level::Warning, say::no_file_changed(), say::no_edit_applied()),
            (false, Some(why)) => (Level::Warning, say::no_file_changed(), why),
            (false, None) => return None,
        };
        Some(Notice::new(level, title, why))
    }
}

/// Returns why something in an answer was not read as an edit, if there is something that looks like one.
fn unread(session: &Conversation, text: &str, format: Format) -> Option<&'static str> {
    let known = session.files.known();
    if !text.contains(['`', '{', '<']) && (format == Format::TOOLS || !quotes_file(text, &known)) {
        return None;
    }
    let pieces = stream::read(text, Some(format), known.clone(), session.tools.calls(), End::Ordinary);
    let read = pieces.iter().any(|piece| matches!(piece, Piece::EditDone { .. } | Piece::Call { .. }));
    let prose = |piece| if let Piece::Prose(text) = piece { Some(text) } else { None };
    let is_text = |piece: &Piece| match piece {
        Piece::EditDone { edit: Edit { op: Op::Overwrite { content } | Op::Write { content }, .. }, .. } => {
            Some(content.trim_end().to_string())
        }
        _ => None,
    };
    let taken: Vec<String> = pieces.iter().filter_map(is_text).collect();
    let prose: String = pieces.into_iter().filter_map(prose).collect();
    // A block that is shown and turns out to be a file at its end was read.
    let prose = taken.iter().fold(prose, |prose, text| prose.replacen(text.as_str(), "", 1));
    let quotes =
        || !read && format != Format::TOOLS && (quotes_file(&prose, &known) || names_beside_code(&prose, &known));
    match (holds_code(&prose, &known), !read && holds_file(&prose, &known)) {
        (_, true) => Some(say::file_in_no_format()),
        (true, false) => Some(say::block_without_file()),
        (false, false) => quotes().then(say::file_in_no_format),
    }
}

/// Returns whether a text has two lines of a known file, in whatever dress.
fn quotes_file(text: &str, known: &[KnownFile]) -> bool {
    let tells = |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    let said: HashSet<&str> =
        text.lines().map(|line| line.trim_start_matches(['>', '+', '-', ' ', '\t']).trim_end()).collect();
    known.iter().any(|file| {
        let own: HashSet<&str> = file.text.lines().map(str::trim).filter(tells).collect();
        own.iter().filter(|line| said.contains(*line)).count() >= 2
    })
}

/// Returns whether a text names a known file and holds a block of code that is none of commands.
fn names_beside_code(text: &str, known: &[KnownFile]) -> bool {
    let mut languages = text.lines().filter_map(|line| line.trim().strip_prefix("```")).step_by(2);
    known.iter().any(|file| text.contains(&file.path)) && languages.any(|info| !shows_output(info))
}

/// Returns whether a text holds a file in a form that no format has: a JSON object of a path and a content, or a tag
/// that is named as a known file.
fn holds_file(text: &str, known: &[KnownFile]) -> bool {
    let is_object = |line: &str| {
        let has = |keys: &[&str]| keys.iter().any(|key| line.contains(&format!("\"{key}\"")));
        line.starts_with('{') && has(&["path", "file", "filename", "file_path"]) && has(&["content", "text", "code"])
    };
    let is_tag = |line: &str| {
        let name = line.strip_prefix('<').and_then(|line| line.split_once('>')).map(|(name, _)| name);
        name.is_some_and(|name| known.iter().any(|file| file.path == name))
    };
    text.lines().map(str::trim_start).any(|line| is_object(line) || is_tag(line))
}

/// Languages of blocks that show commands or output, not files.
const NO_FILES: [&str; 11] =
    ["bash", "sh", "shell", "zsh", "console", "text", "txt", "output", "plaintext", "log", "mermaid"];

/// Returns whether a block shows commands or output, by the first word behind its fence.
fn shows_output(info: &str) -> bool {
    let language = info.split_whitespace().next().unwrap_or_default().to_lowercase();
    NO_FILES.contains(&language.as_str())
}

/// Returns whether a text holds a fenced block of code of three lines or more, or of any below the path of a file.
fn holds_code(text: &str, known: &[KnownFile]) -> bool {
    // The fence, the lines from which a block of it counts, and the lines so far.
    let mut open: Option<(&str, usize, usize)> = None;
    let mut is_path = false;
    for line in text.lines().map(str::trim) {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        open = match open {
            Some((fence, least, lines)) if line == fence => {
                if lines >= least {
                    return true;
                }
                None
            }
            Some((fence, least, lines)) => Some((fence, least, lines + 1)),
            None if ticks.len() >= 3 => {
                let least = if is_path {
                    1
                } else if shows_output(&line[ticks.len()..]) {
                    usize::MAX
                } else {
                    3
                };
                Some((ticks, least, 0))
            }
            None => None,
        };
        if !line.is_empty() {
            is_path = names_file(line, known);
        }
    }
    false
}

/// Returns whether a line is the path of a known file and nothing else, marks of a heading or of code aside.
fn names_file(line: &str, known: &[KnownFile]) -> bool {
    let name = line.trim_matches(['#', '*', '`', ':', ' ']);
    known.iter().any(|file| file.path == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_an_unknown_form_is_seen() {
        let known = [KnownFile { path: "src/a.py".into(), text: "".into() }];
        for text in ["So:\n  {\"path\": \"a.py\", \"content\": \"x = 1\"}", "<src/a.py>\nx = 1\n</src/a.py>"] {
            assert!(holds_file(text, &known), "{text}");
        }
        for text in ["{\"path\": \"a.py\"}", "if a <src/b.py> c", "<src/b.py>", "the `{` and \"path\", \"content\""] {
            assert!(!holds_file(text, &known), "{text}");
        }
    }

    #[test]
    fn lines_of_a_file_in_any_dress_are_seen() {
        let known = [KnownFile { path: "a.py".into(), text: "def one():\n    return 1\n\n)\n".into() }];
        for text in [
            "    def one():\n        return 1\n",
            "> def one():\n>     return 1\n",
            "- def one():\n+ def two():\n-   return 1",
        ] {
            assert!(quotes_file(text, &known), "{text}");
        }
        assert!(!quotes_file("It is `def one():`.\n)\n", &known));
        assert!(names_beside_code("In a.py replace\n```python\nreturn 1\n```\nwith it", &known));
        for text in [
            "Run a.py:\n```bash\npython a.py\n```",
            "Run a.py:\n```bash title=\"run\"\npython a.py\n```",
            "So:\n```python\nreturn 1\n```",
            "See a.py.",
        ] {
            assert!(!names_beside_code(text, &known), "{text}");
        }
    }

    #[test]
    fn code_is_distinguished_from_commands() {
        let known = [KnownFile { path: "app.toml".into(), text: "".into() }];
        let code = |text: &str| holds_code(text, &known);
        assert!(code("So:\n```python\na\nb\nc\n```\n"));
        assert!(!code("Run:\n```bash\na\nb\nc\n```\nand `x`, or\n```rust\none line\n```"));
        for above in ["app.toml", "**app.toml**", "### `app.toml`:", "app.toml\n"] {
            assert!(code(&format!("Done.\n\n{above}\n```\nkey = 7\n```")), "{above}");
        }
        assert!(!code("In app.toml write\n```\nkey = 7\n```\nother.toml\n```\nx\n```\napp.toml\n```\n```"));
    }
}
