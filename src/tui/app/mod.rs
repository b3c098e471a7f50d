//! `App`: all state of the screen, and [`App::update`]. It routes and holds no detail: panes, popups, input and
//! queue own theirs.

mod commands;
mod events;
mod focus;
mod keys;
mod mentions;
mod mouse;
mod msg;
mod own;
mod owners;
mod settle;

use std::collections::HashMap;
use std::path::PathBuf;

use crossterm::event::KeyEvent;

pub use focus::Focus;
pub(in crate::tui) use focus::{At, Owner};
pub use msg::{EditFor, Effect, Exit, LineFor, Msg, Typed};
use own::Own;
pub use own::key_words;

use super::glyphs::Glyphs;
use super::input::complete::Completion;
use super::input::history::History;
use super::input::question::Asking;
use super::input::queue::Queue;
use super::input::{Editor, Rows};
use super::keys::{Chord, Keys};
use super::layout::{self, Rects, Wants};
use super::pane::{Ctx, PaneId, Panes};
use super::popup::Popup;
use super::popup::sessions::Sessions;
use super::popup::welcome::Welcome;
use super::text::highlight::Highlighter;
use super::theme::{Depth, Theme, Themes};
use crate::protocol::{Query, QueryId, SessionChoice, Status, TurnEnd, Wait};

/// How the screen begins.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The theme by name; `None`: dark or light, as the terminal's ground is.
    pub theme: Option<String>,
    /// The ASCII marks.
    pub ascii: bool,
    /// Take the mouse.
    pub mouse: bool,
    /// nebula's folder, for `keys.toml` and `themes/`.
    pub folder: Option<PathBuf>,
    /// The workspace's root, for files that are opened in the editor.
    pub root: PathBuf,
    /// What shows first.
    pub start: Start,
    /// A message to send as soon as a session is open.
    pub prompt: Option<String>,
    /// A message that stands in the input, to be sent or changed.
    pub draft: Option<String>,
    /// Seconds east of UTC, for times of day.
    pub zone: i32,
}

/// What shows first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The sessions of this project; a new one when there are none.
    Picker,
    /// The welcome of a program without a model.
    Welcome,
    /// A session.
    Session(SessionChoice),
}

impl Default for Start {
    fn default() -> Self {
        Start::Session(SessionChoice::New)
    }
}

/// What takes the body.
#[derive(Debug)]
pub(super) enum Screen {
    /// The panes.
    Main,
    /// The sessions; `true`: one is open behind them.
    Sessions(Box<Sessions>, bool),
    /// The welcome.
    Welcome(Welcome),
}

/// A file name in the input that could be a mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offer {
    /// Where it stands, in bytes.
    pub place: std::ops::Range<usize>,
    /// As it was typed.
    pub name: String,
    /// The file of that name, once one is found.
    pub path: Option<String>,
}

/// A line of text that something asked for; it stands in place of the input.
#[derive(Debug)]
pub(super) struct Line {
    pub owner: Owner,
    pub purpose: LineFor,
    pub prompt: String,
    pub editor: Editor,
}

/// The running turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    pub started: i64,
}

/// Keys are ignored after a proposal came until typing has paused for so long.
const PAUSE: i64 = 400;
/// A turn of so many milliseconds calls when it ends.
const LONG_TURN: i64 = 20_000;

/// All state of the screen.
pub struct App {
    pub(super) panes: Panes,
    pub(super) screen: Screen,
    pub(super) popups: Vec<Popup>,
    pub(super) line: Option<Line>,
    pub(super) input: Editor,
    pub(super) history: History,
    pub(super) queue: Queue,
    pub(super) completion: Option<Completion>,
    /// The `@` whose completion was closed, so that it stays closed.
    closed_at: Option<usize>,
    /// Where the caret was left behind the space that a completion put.
    spaced: Option<usize>,
    /// The file name before the caret, to be mentioned with a key.
    pub(super) offer: Option<Offer>,
    pub(super) questions: Vec<Asking>,
    pub(super) at: At,
    pub(super) pane: PaneId,
    pub(super) zoom: bool,
    right: Option<u16>,
    /// Rows of the archive below the tools, where the person changed them.
    low: Option<u16>,
    /// Where the focus was when a proposal took it, and whether that pane was zoomed.
    before_proposal: Option<(At, PaneId, bool)>,
    /// The proposal that waited when the last message had been taken in.
    waited: Option<crate::proposal::ProposalId>,
    /// The archive was opened from the welcome, which comes back after it.
    from_welcome: bool,
    /// A proposal just came; typing must pause before its keys work.
    guarded: bool,
    /// The person was writing when it came: what is typed goes on into the input.
    writing: bool,
    pub(super) status: Status,
    pub(super) session: Option<String>,
    pub(super) turn: Option<Turn>,
    /// A message was sent and its turn has not begun.
    starting: bool,
    /// A commit message is being written.
    pub(super) drafting: bool,
    pub(super) ended: Option<TurnEnd>,
    pub(super) retry: Option<Wait>,
    pub(super) say: Option<String>,
    /// What the agent found wrong while there was no chat to tell it in.
    early: Vec<crate::protocol::Notice>,
    quit_armed: bool,
    pub(super) keys: Keys,
    /// Keys typed before it is known whether there are sessions to choose from; `None` from then on.
    held: Option<Vec<KeyEvent>>,
    chords: Vec<Chord>,
    pub(super) theme: Theme,
    themes: Themes,
    depth: Depth,
    auto_theme: bool,
    pub(super) glyphs: Glyphs,
    pub(super) colours: Highlighter,
    size: (u16, u16),
    pub(super) now: i64,
    zone: i32,
    last_key: i64,
    pub(super) focused: bool,
    mouse: bool,
    dragging: Option<mouse::Edge>,
    asked: HashMap<QueryId, (Owner, Query)>,
    next_query: u64,
    prompt: Option<String>,
    pub(super) rects: Rects,
}

impl App {
    /// The screen as it begins, with what to do first. Mistakes in the person's keys and themes are said.
    pub fn new(options: Options, depth: Depth, colours: Highlighter, now: i64) -> (App, Vec<Effect>) {
        let Own { keys, themes, theme, notices } =
            own::read(options.folder.as_deref(), options.theme.as_deref(), depth);
        let screen = match options.start {
            Start::Picker => Screen::Sessions(Box::default(), false),
            Start::Welcome => Screen::Welcome(Welcome::default()),
            Start::Session(_) => Screen::Main,
        };
        let held = matches!(screen, Screen::Sessions(..)).then(Vec::new);
        let mut app = App {
            panes: Panes::default(),
            screen,
            popups: Vec::new(),
            line: None,
            input: options.draft.as_deref().map(Editor::with).unwrap_or_default(),
            history: History::default(),
            queue: Queue::default(),
            completion: None,
            closed_at: None,
            spaced: None,
            offer: None,
            questions: Vec::new(),
            at: At::Input,
            pane: PaneId::Chat,
            zoom: false,
            right: None,
            low: None,
            before_proposal: None,
            waited: None,
            from_welcome: false,
            guarded: false,
            writing: false,
            status: Status::default(),
            session: None,
            turn: None,
            starting: false,
            drafting: false,
            ended: None,
            retry: None,
            say: None,
            early: Vec::new(),
            quit_armed: false,
            keys,
            chords: Vec::new(),
            held,
            theme,
            themes,
            depth,
            auto_theme: options.theme.is_none(),
            glyphs: if options.ascii { Glyphs::ASCII } else { Glyphs::UNICODE },
            colours,
            size: (0, 0),
            now,
            zone: options.zone,
            last_key: 0,
            focused: true,
            mouse: options.mouse,
            dragging: None,
            asked: HashMap::new(),
            next_query: 0,
            prompt: options.prompt,
            rects: Rects::default(),
        };
        notices.into_iter().for_each(|n| app.panes.chat.keep(n));
        let effects = app.begin(options.start);
        (app, effects)
    }

    fn begin(&mut self, start: Start) -> Vec<Effect> {
        use crate::protocol::Command;
        match start {
            Start::Picker => vec![self.ask(Owner::Sessions, Query::Sessions(String::new()))],
            Start::Welcome => vec![Effect::Send(Command::Open(SessionChoice::New))],
            Start::Session(choice) => vec![Effect::Send(Command::Open(choice))],
        }
    }

    /// Takes in what happened and says what is to be done outside.
    pub fn update(&mut self, msg: Msg) -> Vec<Effect> {
        self.take_in(std::iter::once(msg))
    }

    /// The same for many messages. Neighbouring events of the agent are measured once, after the last of them: a
    /// stream, and a long session that is opened, would else be laid out again for every piece.
    pub fn take_in(&mut self, messages: impl IntoIterator<Item = Msg>) -> Vec<Effect> {
        let (mut effects, mut told, mut ticked) = (Vec::new(), false, false);
        for msg in messages {
            let (event, tick) = (matches!(msg, Msg::Agent(_)), matches!(msg, Msg::Tick(_)));
            // Keys may rest on what the agent told just before.
            if told && !event && !tick {
                self.measure();
            }
            effects.extend(self.dispatch(msg));
            if event || tick {
                (told, ticked) = (told || event, ticked || tick);
            } else {
                self.measure();
                (told, ticked) = (false, false);
            }
        }
        if told || ticked {
            self.measure();
        }
        // A pane that just got room may want more than it asked for before.
        let wanted = self.panes.archive.wanted();
        effects.extend(self.settle(Owner::Pane(PaneId::Archive), wanted));
        effects
    }

    fn dispatch(&mut self, msg: Msg) -> Vec<Effect> {
        let before = (self.at, self.pane);
        let mut effects = self.dispatch_one(msg);
        let waits = self.panes.waiting();
        if waits != self.waited {
            self.waited = waits;
            effects.extend(self.proposal_changed(waits.is_some(), before));
        }
        effects
    }

    fn dispatch_one(&mut self, msg: Msg) -> Vec<Effect> {
        match msg {
            Msg::Key(key) => self.key_or_hold(key),
            Msg::Paste(text) => self.paste(&text),
            Msg::Mouse(event) => self.mouse(event),
            Msg::Resize(columns, rows) => {
                self.size = (columns, rows);
                Vec::new()
            }
            Msg::Focus(focused) => {
                self.focused = focused;
                Vec::new()
            }
            Msg::Agent(event) => self.event(event),
            Msg::Gone => vec![Effect::Quit(Exit::Lost)],
            Msg::Tick(now) => {
                self.now = self.now.max(now);
                Vec::new()
            }
            Msg::Wide => {
                self.glyphs = Glyphs::ASCII;
                Vec::new()
            }
            Msg::Edited(purpose, result) => self.edited(purpose, result),
            Msg::Ground(rgb) => {
                if self.auto_theme {
                    let name = if super::colour::luminance(rgb) < 0.5 { "dark" } else { "light" };
                    self.wear(name);
                }
                Vec::new()
            }
        }
    }

    /// Puts on a theme; an unknown name changes nothing.
    fn wear(&mut self, name: &str) {
        if let Ok(theme) = self.themes.get(name, self.depth) {
            self.theme = theme;
        }
    }

    /// Whether something was asked of the agent and not answered yet.
    pub fn awaits_answer(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Notices that stay, where there is no chat.
    pub(super) fn notices(&self) -> impl Iterator<Item = &crate::protocol::Notice> {
        self.panes.chat.kept().iter().chain(&self.early)
    }

    /// The phase of all spinners.
    pub(super) fn tick(&self) -> u64 {
        u64::try_from(self.now / if self.focused { 125 } else { 1000 }).unwrap_or(0)
    }

    /// When the screen next changes by itself, in unix milliseconds; `None`: not before something happens.
    pub fn wake(&self) -> Option<i64> {
        if self.retry.is_some() {
            return Some((self.now / 1000 + 1) * 1000);
        }
        let step = if self.focused { 125 } else { 1000 };
        // While the person is asked the turn stands still.
        let waits = self.panes.waiting().is_some() || !self.questions.is_empty();
        (self.is_busy() && !waits).then(|| (self.now / step + 1) * step)
    }

    /// What drawing may know.
    pub(super) fn ctx(&self, focus: bool) -> Ctx<'_> {
        Ctx {
            theme: &self.theme,
            glyphs: &self.glyphs,
            keys: &self.keys,
            focus,
            zoomed: self.is_full() || self.size.0 < layout::WIDE,
            now: self.now,
            zone: self.zone,
            tick: self.tick(),
            colours: &self.colours,
        }
    }

    /// The chosen pane has the whole body.
    fn is_full(&self) -> bool {
        let waits = self.panes.diff.waiting().is_some();
        let fates = self.pane == PaneId::Archive && self.panes.archive.waiting().is_some();
        self.zoom || fates || (self.pane == PaneId::Diff && (self.size.0 >= layout::WIDE || waits))
    }

    /// The text that stands in the input's place.
    pub(super) fn editor(&self) -> &Editor {
        self.line.as_ref().map_or(&self.input, |l| &l.editor)
    }

    /// The rows of the input as they are drawn.
    pub(super) fn input_rows(&self) -> Rows {
        self.editor().rows(usize::from(self.size.0.saturating_sub(4)).max(2))
    }

    /// Names the rectangles, and tells panes and popups their sizes. Ends every update.
    fn measure(&mut self) {
        let width = usize::from(self.size.0.saturating_sub(4)).max(2);
        self.input.measure(width);
        if let Some(line) = &mut self.line {
            line.editor.measure(width);
        }
        let main = matches!(self.screen, Screen::Main);
        if main {
            self.early.clear();
        }
        let rows = if self.editor().is_empty() { 1 } else { self.input_rows().rows.len() };
        let wants = Wants {
            pane: self.pane,
            full: self.is_full(),
            right: self.right,
            low: self.low,
            input: u16::try_from(rows).unwrap_or(u16::MAX),
            question: if main { self.question().map_or(0, |q| question_rows(q, self.size.0)) } else { 0 },
            queue: if main { self.queue.rows(self.size.1 / 4) } else { 0 },
            // In the chat they stand in its text.
            notices: if main { 0 } else { super::view::notice_rows(self, self.size.0) },
        };
        self.rects = layout::rects(self.size.0, self.size.1, &wants);
        let look = super::pane::Look { theme: &self.theme, glyphs: &self.glyphs, keys: &self.keys };
        if main {
            for place in &self.rects.panes {
                self.panes.measure(place.id, place.body.width, place.body.height, &look);
            }
        }
        let body = self.rects.body;
        if let Screen::Sessions(sessions, _) = &mut self.screen {
            let (_, preview) = super::view::sessions_areas(body);
            let preview = preview.map(|p| (p.width, p.height.saturating_sub(1)));
            sessions.measure(body.height.saturating_sub(1), preview, &look);
        }
        if let Some(mut popup) = self.popups.pop() {
            let full = ratatui::layout::Rect { height: self.rects.bar.bottom().saturating_sub(body.y), ..body };
            popup.measure(self.rects.all, full, &self.ctx(true));
            self.popups.push(popup);
        }
    }
}

/// Rows of a question with its line and the empty row below.
fn question_rows(asking: &Asking, width: u16) -> u16 {
    let text = super::view::question_text(asking, usize::from(width.saturating_sub(2))).len();
    u16::try_from(1 + text + asking.choices().len() + 1).unwrap_or(u16::MAX)
}
