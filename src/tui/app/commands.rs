//! The commands of the palette, and the effects of a choice.

use super::command_table::COMMANDS;
use super::{AUTO, App, At, EditFor, Effect, Owner, Screen};
use crate::messages::{Text, agent, app, commands as say};
use crate::protocol::{
    Approval, Command, ExportFormat, Mode, Prompt, Query, REVIEW_KEEP, REVIEW_RESTORE, RestoreRequest, Setting, TurnEnd,
};
use crate::text::time::Clock;
use crate::tui::action::Context;
use crate::tui::input::question::Asking;
use crate::tui::pane::id::PaneId;
use crate::tui::past::{Past, Timeline};
use crate::tui::popup::Popup;
use crate::tui::popup::finder::{Finder, FinderOutcome};
use crate::tui::popup::help::{help, with_choices};
use crate::tui::popup::list::{Entry, List, ListKind};
use crate::tui::popup::page::{Content, Page};
use crate::tui::popup::palette::palette;
use crate::tui::popup::sessions::Sessions;
use crate::tui::theme::{Depth, Themes};

/// The efforts with what they are for.
const EFFORTS: [(&str, Text); 7] = [
    ("auto", say::effort_auto),
    ("none", say::effort_none),
    ("low", say::effort_low),
    ("medium", say::effort_medium),
    ("high", say::effort_high),
    ("xhigh", say::effort_xhigh),
    ("max", say::effort_max),
];

const EXPORTS: [(&str, Text); 3] =
    [("md", say::export_markdown), ("json", say::export_json), ("html", say::export_html)];

fn entry(name: &str, detail: &str) -> Entry {
    Entry { name: name.into(), detail: detail.into(), ..Entry::default() }
}

impl App {
    /// Opens the palette with something typed already.
    pub(super) fn open_palette(&mut self, typed: &str) {
        let rows = COMMANDS.iter().map(|(c, _)| c);
        let list = palette(rows, &self.keyboard.keys, typed, self.session.status.model.as_deref());
        self.popups.push(Popup::List(list));
    }

    /// Opens the chooser of models.
    pub(super) fn open_models(&mut self) -> Vec<Effect> {
        let mut list = List::new(ListKind::Models, say::models(), Vec::new());
        list.waiting = true;
        self.popups.push(Popup::List(list));
        vec![self.ask(Owner::List, Query::Models)]
    }

    /// Opens what was typed before.
    pub(super) fn open_history(&mut self) {
        let entries = self.composer.history.entries().iter().map(|t| entry(t, "")).collect();
        self.popups.push(Popup::List(List::new(ListKind::History, say::typed_before(), entries)));
    }

    /// Opens the keys of what has the focus.
    pub(super) fn open_help(&mut self) {
        let context = self.context();
        let context = if context == Context::Completion { Context::Input } else { context };
        let session_diff = context == Context::Diff && self.panes.diff.is_session();
        let title = if session_diff { self.panes.diff.title() } else { context.title().to_string() };
        let page = help(&self.keyboard.keys, context, &title, session_diff);
        let choices = self.question().filter(|_| context == Context::Question).map(Asking::keys).unwrap_or_default();
        self.popups.push(Popup::Page(with_choices(page, choices)));
    }

    /// Asks whether to delete a session; `in_use`: another nebula has it open.
    pub(super) fn open_remove(&mut self, id: String, title: &str, in_use: bool) {
        let mut keep = entry(say::keep_it(), "");
        keep.long = if in_use { say::delete_in_use(&title) } else { say::delete_long(&title) };
        let mut remove = entry(say::delete_it(), "");
        remove.long = keep.long.clone();
        self.popups.push(Popup::List(List::new(ListKind::Remove(id), say::delete_session(), vec![keep, remove])));
    }

    /// Asks for a format to export a session to: the one with this id, or the open one.
    pub(super) fn open_export(&mut self, id: Option<String>) {
        let entries = EXPORTS.iter().map(|(n, d)| entry(n, d())).collect();
        self.popups.push(Popup::List(List::new(ListKind::Export(id), say::export_as(), entries)));
    }

    /// Asks whether to commit with a message.
    pub(super) fn open_commit(&mut self, message: String) {
        let said = |name: &str, detail: &str| Entry { long: message.clone(), ..entry(name, detail) };
        let entries = vec![
            said(say::commit_it(), say::commit_it_detail()),
            said(say::commit_edit(), say::commit_edit_detail()),
            said(say::commit_cancel(), say::commit_cancel_detail()),
        ];
        self.popups.push(Popup::List(List::new(ListKind::Commit(message), say::commit_message(), entries)));
    }

    /// Opens the list of prompts with something typed already.
    pub(super) fn open_prompts(&mut self, typed: &str) -> Vec<Effect> {
        let mut list = List::new(ListKind::Prompts, say::prompts(), Vec::new());
        list.waiting = true;
        list.editor.set(typed);
        self.popups.push(Popup::List(list));
        vec![self.ask(Owner::List, Query::Prompts)]
    }

    /// Opens the sessions over the session that is open.
    pub(super) fn open_sessions(&mut self) -> Vec<Effect> {
        let sessions = Sessions::default();
        let query = sessions.ask();
        self.show_screen(Screen::Sessions(Box::new(sessions)));
        vec![self.ask(Owner::Sessions, query)]
    }

    /// Opens the changes that wait to be reviewed.
    pub(super) fn open_review(&mut self) -> Vec<Effect> {
        if !matches!(self.screen, Screen::Review(_)) {
            let review = self.left_review.take().unwrap_or_default();
            self.open_screen(Screen::Review(review));
        }
        vec![self.ask(Owner::Review, Query::Review)]
    }

    /// Shows a screen in place of another, which is returned; the review queue stays as it was left.
    pub(super) fn show_screen(&mut self, screen: Screen) -> Screen {
        match std::mem::replace(&mut self.screen, screen) {
            Screen::Review(review) => {
                self.left_review = Some(review);
                Screen::Main
            }
            left => left,
        }
    }

    /// Opens the timeline at a changeset; none: at the beginning of the newest turn.
    pub(super) fn open_timeline(&mut self, changeset: Option<String>) -> Vec<Effect> {
        self.open_timeline_over(Timeline::opening_at(changeset))
    }

    /// Opens a timeline that leads back to the authors of a file, where they are looked at.
    fn open_timeline_over(&mut self, timeline: Timeline) -> Vec<Effect> {
        let below = match std::mem::replace(&mut self.screen, Screen::Main) {
            Screen::Past(past) => past.into_blame(),
            other => {
                self.screen = other;
                None
            }
        };
        self.open_past(Past::Timeline(timeline.over(below)))
    }

    /// Opens the timeline at a time, or at the newest changeset with these words.
    pub(super) fn open_timeline_at(&mut self, words: &str) -> Vec<Effect> {
        let clock = Clock { now: self.now, zone: self.zone };
        self.open_timeline_over(Timeline::opening_at(None).looking_for(words, clock))
    }

    /// Asks again for the changes that wait to be reviewed, where they are looked at.
    pub(super) fn review_changed(&mut self) -> Vec<Effect> {
        match self.screen {
            Screen::Review(_) => vec![self.ask(Owner::Review, Query::Review)],
            _ => Vec::new(),
        }
    }

    /// Runs a command typed whole into the input; `None`: it is no command.
    pub(super) fn typed_command(&mut self, text: &str) -> Option<Vec<Effect>> {
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let known = COMMANDS.iter().any(|(c, _)| c.name == name) && !text.contains('\n');
        known.then(|| {
            // Before it runs: it may put something there.
            self.composer.input.clear();
            self.run_command(name, rest.trim())
        })
    }

    /// Runs a command by its name.
    fn run_command(&mut self, name: &str, rest: &str) -> Vec<Effect> {
        COMMANDS.iter().find(|(c, _)| c.name == name).map_or_else(Vec::new, |(_, run)| run(self, rest))
    }

    /// Summarises the conversation, or sends it whole again; other words stay in the input. During a turn, which also waits for its questions, the
    /// command goes back into the input.
    pub(super) fn compact(&mut self, rest: &str) -> Vec<Effect> {
        let (typed, why, command) = match rest {
            words if !["", "undo"].contains(&words) => {
                self.composer.input.set(&format!("/compact {words}"));
                self.say = Some(agent::compact_words().into());
                return Vec::new();
            }
            "undo" => (format!("/compact {rest}"), agent::compact_undo_later(), Command::UndoCompact),
            _ => ("/compact".to_string(), agent::compact_later(), Command::Compact),
        };
        if !self.is_busy() {
            return vec![Effect::Send(command)];
        }
        if self.composer.input.is_empty() {
            self.composer.input.set(&typed);
        }
        self.say = Some(why.into());
        Vec::new()
    }

    /// Drafts a commit message, one at a time, or shows the one that waits.
    pub(super) fn draft_commit(&mut self) -> Vec<Effect> {
        if let Some(message) = self.session.commit.written.pop_front() {
            self.open_commit(message);
            return Vec::new();
        }
        self.session.commit.asked = Some(self.now);
        match std::mem::replace(&mut self.session.commit.is_writing, true) {
            true => Vec::new(),
            false => vec![Effect::Send(Command::DraftCommit)],
        }
    }

    /// Shows what waits to be reviewed, or decides about what is named.
    pub(super) fn review(&mut self, rest: &str) -> Vec<Effect> {
        let names = |rest: &str| rest.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        match rest.split_once(char::is_whitespace) {
            Some((verb, ids)) if verb == REVIEW_KEEP => vec![Effect::Send(Command::KeepReviewed(names(ids)))],
            Some((verb, ids)) if verb == REVIEW_RESTORE => {
                self.send(Command::Restore(RestoreRequest::Review { names: names(ids), reason: String::new() }))
            }
            _ => self.open_review(),
        }
    }

    /// Sends a message, or queues it while nebula works.
    pub(super) fn submit(&mut self, text: String) -> Vec<Effect> {
        if self.is_busy() {
            self.composer.queue.push(text);
            return Vec::new();
        }
        self.panes.chat.follow_end();
        self.send(Command::Submit(Prompt { text }))
    }

    pub(super) fn choose_format(&mut self) -> Vec<Effect> {
        let entries = say::FORMATS.iter().map(|(n, d)| entry(n, d())).collect();
        let mut list = List::new(ListKind::Formats, say::format(), entries);
        list.select(&self.session.status.format);
        self.popups.push(Popup::List(list));
        Vec::new()
    }

    pub(super) fn choose_effort(&mut self) -> Vec<Effect> {
        let entries = EFFORTS.iter().map(|(n, d)| entry(n, d())).collect();
        self.popups.push(Popup::List(List::new(ListKind::Efforts, say::effort(), entries)));
        Vec::new()
    }

    pub(super) fn open_finder(&mut self, words: &str) -> Vec<Effect> {
        let mut finder = Finder::default();
        let asked = finder.paste(words);
        self.popups.push(Popup::Finder(finder));
        match asked {
            FinderOutcome::Ask(queries) => self.ask_all(Owner::Finder, queries),
            FinderOutcome::Close | FinderOutcome::Took => Vec::new(),
        }
    }

    /// Puts `@rag` with its words into the input.
    pub(super) fn mention_retrieval(&mut self, words: &str) -> Vec<Effect> {
        self.layout.at = At::Input;
        let at = self.composer.input.caret();
        self.composer.input.replace(at..at, &format!("@rag {words}"));
        Vec::new()
    }

    /// Exports the session in the format called `name`; asks for one where there is none of that name.
    pub(super) fn export(&mut self, name: &str) -> Vec<Effect> {
        match ExportFormat::named(name) {
            Some(format) => vec![Effect::Send(Command::Export(format))],
            None => {
                self.open_export(None);
                Vec::new()
            }
        }
    }

    pub(super) fn open_themes(&mut self) -> Vec<Effect> {
        let row = |name: &&str| match self.appearance.themes.get(name, self.appearance.depth) {
            Ok(_) if self.appearance.depth == Depth::Mono && *name != "plain" => {
                entry(name, &say::theme_uncoloured(&Themes::about(name)))
            }
            Ok(_) => entry(name, Themes::about(name)),
            Err(why) => {
                let long = say::theme_fix(&why);
                Entry { long, ..entry(name, say::theme_mistake()) }
            }
        };
        let mut entries = vec![entry(AUTO, say::theme_auto())];
        entries.extend(self.appearance.themes.names().iter().map(row));
        let before = match self.appearance.auto_theme {
            true => AUTO.to_string(),
            false => self.appearance.theme.name.clone(),
        };
        let mut list = List::new(ListKind::Themes, say::themes(), entries);
        list.select(&before);
        self.popups.push(Popup::List(list));
        self.sample_theme();
        // Asked now, the terminal has told before anything is chosen.
        vec![Effect::AskBackground]
    }

    pub(super) fn take_theme(&mut self, name: &str) -> Vec<Effect> {
        if name == AUTO {
            self.appearance.auto_theme = true;
            self.apply_theme(AUTO);
            return vec![
                Effect::AskBackground,
                Effect::Send(Command::Set(Setting::Theme(AUTO.into()))),
                Effect::Redraw,
            ];
        }
        match self.appearance.themes.get(name, self.appearance.depth) {
            Ok(theme) => {
                self.appearance.theme = theme;
                self.appearance.auto_theme = false;
                if self.appearance.depth == Depth::Mono && name != "plain" {
                    self.say = Some(say::theme_kept(&name));
                }
                vec![Effect::Send(Command::Set(Setting::Theme(name.into()))), Effect::Redraw]
            }
            Err(e) => {
                self.say = Some(say::theme_fix_it(&e));
                Vec::new()
            }
        }
    }

    pub(super) fn set_mouse(&mut self, on: bool) -> Vec<Effect> {
        self.mouse = on;
        self.say = Some(if on { say::mouse_on() } else { say::mouse_off() }.into());
        vec![Effect::Mouse(on), Effect::Send(Command::Set(Setting::Mouse(on)))]
    }

    /// Opens the contents of the context window, from where results can be left out of it.
    pub(super) fn open_context(&mut self) -> Vec<Effect> {
        let effects = self.open_page(say::page_context(), Query::Context);
        if let Some(Popup::Page(page)) = self.popups.last_mut() {
            page.leaves_out = true;
        }
        effects
    }

    /// Opens the list of results that can be left out of the context window.
    pub(super) fn open_results(&mut self) -> Vec<Effect> {
        let mut list = List::new(ListKind::Results, say::results(), Vec::new());
        list.waiting = true;
        self.popups.push(Popup::List(list));
        vec![self.ask(Owner::List, Query::Results)]
    }

    pub(super) fn open_page(&mut self, title: &str, query: Query) -> Vec<Effect> {
        self.popups.push(Popup::Page(Page::new(title.into(), String::new(), Content::Waiting)));
        vec![self.ask(Owner::Page, query)]
    }

    /// Runs `/undo [count] [file…]`, `/undo turn`.
    pub(super) fn undo(&mut self, rest: &str) -> Vec<Effect> {
        vec![Effect::Send(Command::Restore(RestoreRequest::undo(rest)))]
    }

    /// Returns whether a turn in plan mode is done.
    fn planned(&self) -> bool {
        self.session.status.mode == Mode::Plan && self.session.ended == Some(TurnEnd::Done) && !self.is_busy()
    }

    /// Returns whether a plan stands at the end of the chat: Enter in an empty input hands it over.
    pub(in crate::tui) fn offers_plan(&self) -> bool {
        self.planned() && self.composer.input.is_empty() && self.panes.chat.ends_in_plan()
    }

    /// Runs `/agent`, which after a plan hands the plan over.
    pub(super) fn agent_mode(&mut self) -> Vec<Effect> {
        let planned = self.planned();
        let mut effects = vec![Effect::Send(Command::Set(Setting::Mode(Mode::Agent)))];
        if planned {
            effects.extend(self.submit(app::run_the_plan().into()));
        }
        effects
    }

    /// Runs Shift-Tab: from asking to approving edits, to running what can be undone, to planning, and back to asking.
    pub(super) fn toggle_mode(&mut self) -> Vec<Effect> {
        let status = &self.session.status;
        let (mode, approval, words) = match (status.mode, status.approval) {
            (Mode::Agent, Approval::Ask) => (Mode::Agent, Approval::Edits, say::edits_approved()),
            (Mode::Agent, Approval::Edits) => (Mode::Agent, Approval::Review, say::review_approved()),
            (Mode::Agent, Approval::Review) => (Mode::Plan, Approval::Ask, say::plan_mode()),
            _ => (Mode::Agent, Approval::Ask, say::asks_before_edits()),
        };
        self.say = Some(words.into());
        let mut effects = Vec::new();
        if mode != status.mode {
            effects.push(Effect::Send(Command::Set(Setting::Mode(mode))));
        }
        if approval != status.approval {
            effects.push(Effect::Send(Command::Set(Setting::Approval(approval))));
        }
        effects
    }

    /// Does what was chosen from a list.
    pub(super) fn took(&mut self, kind: ListKind, name: &str, rest: &str) -> Vec<Effect> {
        match kind {
            ListKind::Commands => self.run_command(name, rest),
            ListKind::Models => vec![Effect::Send(Command::Set(Setting::Model(name.into())))],
            ListKind::Themes => self.take_theme(name),
            ListKind::Formats => vec![Effect::Send(Command::Set(Setting::Format(name.into())))],
            ListKind::Efforts => vec![Effect::Send(Command::Set(Setting::Effort(name.into())))],
            ListKind::Prompts => self.submit(format!("/prompt {name} {rest}").trim_end().to_string()),
            ListKind::History => {
                self.composer.input.set(name);
                self.layout.at = At::Input;
                Vec::new()
            }
            ListKind::Export(id) => {
                let format = ExportFormat::named(name).unwrap_or(ExportFormat::Markdown);
                match id {
                    Some(id) => vec![Sessions::export(&id, format)],
                    None => vec![Effect::Send(Command::Export(format))],
                }
            }
            ListKind::Remove(id) if name == say::delete_it() => vec![Sessions::delete(&id)],
            ListKind::Commit(message) if name == say::commit_it() => vec![Effect::Send(Command::Commit(message))],
            ListKind::Commit(message) if name == say::commit_edit() => {
                let text = message.into_bytes();
                vec![Effect::Edit { purpose: EditFor::Commit, text, name: "COMMIT_EDITMSG".into() }]
            }
            // The rows begin with the place of their result.
            ListKind::Results => {
                let index = name.split(' ').next().and_then(|index| index.parse().ok());
                index.map(|index| Effect::Send(Command::LeaveOut(index))).into_iter().collect()
            }
            ListKind::Remove(_) | ListKind::Commit(_) => Vec::new(),
        }
    }

    /// Takes what the editor left.
    pub(super) fn edited(&mut self, purpose: EditFor, result: Result<Vec<u8>, String>) -> Vec<Effect> {
        if let EditFor::Result(id, file) = purpose {
            let effects = self.panes.diff.edited(id, file, result);
            return self.route_effects(Owner::Pane(PaneId::Diff), effects);
        }
        let bytes = match result {
            Ok(bytes) => bytes,
            Err(why) => {
                self.say = Some(why);
                return Vec::new();
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        if purpose == EditFor::Commit && text.trim().is_empty() {
            self.say = Some(say::commit_empty().into());
        } else if purpose == EditFor::Commit {
            self.open_commit(text.trim().to_string());
        } else {
            self.composer.input.set(text.trim_end_matches('\n'));
            self.layout.at = At::Input;
        }
        Vec::new()
    }
}
