//! `App`: all state of the screen, and [`App::update`]. It routes and holds no detail: panes, popups, input and
//! queue own theirs.

mod attention;
mod card;
mod command_table;
mod commands;
mod effects;
mod events;
mod focus;
mod keys;
mod load;
mod measure;
mod mentions;
mod mouse;
mod overlays;
mod state;

use std::path::PathBuf;

use load::Loaded;
pub use load::{key_faults, key_words};
pub use state::Focus;
pub(in crate::tui) use state::{Appearance, Arrangement, At, Attention, Edge, Keyboard, Owner, Session};
use state::{Guard, Queries, Turn, Work};

use super::glyphs::Glyphs;
use super::graph::GraphScreen;
use super::input::composer::Composer;
use super::input::question::Asking;
use super::input::{Editor, InputRows};
use super::layout::{self, Rects};
use super::look::Ctx;
pub use super::msg::{EditFor, Effect, Exit, LineFor, LineInput, Msg, PaneEffect};
use super::pane::Panes;
use super::pane::id::PaneId;
use super::past::Past;
use super::popup::Popup;
use super::popup::list::ListKind;
use super::popup::no_model::NoModel;
use super::popup::sessions::Sessions;
use super::review::Review;
use super::text::highlight::Highlighter;
use super::theme::{Depth, Theme};
use crate::config::screen_files::ScreenFiles;
use crate::protocol::{Query, SessionChoice};

/// The options at the start of the screen.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The theme by name; `None`: dark or light, as the terminal's background is.
    pub theme: Option<String>,
    /// The ASCII marks.
    pub ascii: bool,
    /// Take the mouse.
    pub mouse: bool,
    /// The call when something waits: `auto`, `bell`, `osc9` or `off`.
    pub notify: String,
    /// The person's `keys.toml` and `themes/`.
    pub files: ScreenFiles,
    /// The workspace's root, for files that are opened in the editor.
    pub root: PathBuf,
    /// The first screen.
    pub start: Start,
    /// A message to send as soon as a session is open.
    pub prompt: Option<String>,
    /// A message that stands in the input, to be sent or changed.
    pub draft: Option<String>,
    /// Seconds east of UTC, for times of day.
    pub zone: i32,
    /// Returns memory to the system; called when nothing has happened for a while.
    pub rest: Option<fn()>,
}

/// The first screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A new session, with the recent ones below its prompt.
    New,
    /// A new conversation where no model is configured: its choices stand in the prompt's place.
    WithoutModel,
    /// A session.
    Session(SessionChoice),
}

impl Default for Start {
    fn default() -> Self {
        Start::Session(SessionChoice::New)
    }
}

/// The screens that take the body.
#[derive(Debug)]
pub(super) enum Screen {
    /// The panes.
    Main,
    /// A prompt on top and the recent sessions below it: nothing was said yet.
    Start(Box<Sessions>),
    /// The sessions, over the one that is open.
    Sessions(Box<Sessions>),
    /// The changes that wait to be reviewed.
    Review(Box<Review>),
    /// The graph of definitions.
    Graph(Box<GraphScreen>),
    /// The timeline, or who wrote a file.
    Past(Box<Past>),
}

/// A line of text that something asked for; it stands in place of the input.
#[derive(Debug)]
pub(super) struct Line {
    pub owner: Owner,
    pub purpose: LineFor,
    pub prompt: String,
    pub editor: Editor,
    /// The text it began with.
    pub begun: String,
    /// The proposal or the question it is about. Where that waits no more, what was typed is kept.
    pub about: Option<Attention>,
}

impl Line {
    fn new(owner: Owner, purpose: LineFor, prompt: String, begun: String, about: Option<Attention>) -> Line {
        Line { owner, purpose, prompt, editor: Editor::with(&begun), begun, about }
    }
}

/// The word in place of a theme's name: dark or light, as the terminal's background is.
pub(super) const AUTO: &str = "auto";

/// The milliseconds from which on a turn calls the person when it ends.
const LONG_TURN: i64 = 20_000;

/// All state of the screen.
pub struct App {
    pub(super) panes: Panes,
    pub(super) screen: Screen,
    /// The first screen, while a pane is looked at before anything was said: Esc leads back to it.
    left_start: Option<Box<Sessions>>,
    /// The review queue as it was left, with what was decided in it and not carried out.
    left_review: Option<Box<Review>>,
    pub(super) no_model: NoModel,
    pub(super) popups: Vec<Popup>,
    pub(super) line: Option<Line>,
    pub(super) composer: Composer,
    pub(super) questions: Vec<Asking>,
    pub(super) session: Session,
    pub(super) layout: Arrangement,
    guard: Guard,
    pub(super) keyboard: Keyboard,
    pub(super) appearance: Appearance,
    queries: Queries,
    pub(super) say: Option<String>,
    /// Notices that came while there was no chat to show them in.
    early: Vec<crate::protocol::Notice>,
    pub(super) rects: Rects,
    size: (u16, u16),
    pub(super) now: i64,
    zone: i32,
    /// The terminal window has the keys.
    pub(super) focused: bool,
    mouse: bool,
}

impl App {
    /// Creates the screen as it begins, with what to do first. Mistakes in the person's keys and themes are said.
    pub fn new(options: Options, depth: Depth, colours: Highlighter, now: i64) -> (App, Vec<Effect>) {
        let named = options.theme.as_deref().filter(|name| *name != AUTO);
        let Loaded { keys, themes, theme, notices } = load::read(&options.files, named, depth);
        let screen = match options.start {
            Start::New | Start::WithoutModel => Screen::Start(Box::default()),
            Start::Session(_) => Screen::Main,
        };
        let mut app = App {
            panes: Panes::default(),
            screen,
            popups: Vec::new(),
            line: None,
            composer: Composer::with(options.draft.as_deref()),
            questions: Vec::new(),
            session: Session {
                prompt: options.prompt,
                expects_none: options.start == Start::WithoutModel,
                ..Session::default()
            },
            no_model: NoModel::default(),
            left_start: None,
            left_review: None,
            layout: Arrangement::default(),
            guard: Guard::default(),
            keyboard: Keyboard {
                keys,
                chords: Vec::new(),
                quit_armed: false,
                drop_named: None,
                quit_named: Work::default(),
                leave_named: None,
            },
            appearance: Appearance {
                theme,
                themes,
                depth,
                auto_theme: named.is_none(),
                background: None,
                glyphs: if options.ascii { Glyphs::ASCII } else { Glyphs::UNICODE },
                colours,
            },
            queries: Queries::default(),
            say: None,
            early: Vec::new(),
            rects: Rects::default(),
            size: (0, 0),
            now,
            zone: options.zone,
            focused: true,
            mouse: options.mouse,
        };
        notices.into_iter().for_each(|n| app.panes.chat.keep(n));
        let effects = app.begin(options.start);
        (app, effects)
    }

    fn begin(&mut self, start: Start) -> Vec<Effect> {
        use crate::protocol::Command;
        match start {
            Start::New | Start::WithoutModel => {
                let sessions = self.ask(Owner::Sessions, Query::Sessions(String::new()));
                vec![Effect::Send(Command::Open(SessionChoice::New)), sessions]
            }
            Start::Session(choice) => vec![Effect::Send(Command::Open(choice))],
        }
    }

    /// Takes in what happened and says what is to be done outside.
    pub fn update(&mut self, msg: Msg) -> Vec<Effect> {
        self.update_all(std::iter::once(msg))
    }

    /// Takes many messages. Neighbouring events of the agent are measured once, after the last of them: a
    /// stream, and a long session that is opened, would else be laid out again for every piece.
    pub fn update_all(&mut self, messages: impl IntoIterator<Item = Msg>) -> Vec<Effect> {
        let (mut effects, mut had_event, mut ticked) = (Vec::new(), false, false);
        for msg in messages {
            let (event, tick) = (matches!(msg, Msg::Agent(_)), matches!(msg, Msg::Tick(_)));
            // Keys may rest on what the agent told just before.
            if had_event && !event && !tick {
                self.measure();
            }
            effects.extend(self.dispatch(msg));
            if event || tick {
                (had_event, ticked) = (had_event || event, ticked || tick);
            } else {
                self.measure();
                (had_event, ticked) = (false, false);
            }
        }
        if had_event || ticked {
            self.measure();
        }
        // A pane that just got room may want more than it asked for before.
        let wanted = self.panes.archive.wanted();
        effects.extend(self.route_effects(Owner::Pane(PaneId::Archive), wanted));
        effects.extend(self.keep_unsent(false));
        effects
    }

    fn dispatch(&mut self, msg: Msg) -> Vec<Effect> {
        let by_itself = matches!(msg, Msg::Agent(_));
        let mut effects = self.dispatch_one(msg);
        effects.extend(self.attend(by_itself));
        effects.extend(self.forget_graph());
        effects
    }

    fn dispatch_one(&mut self, msg: Msg) -> Vec<Effect> {
        match msg {
            Msg::Key(key) => self.key(&key),
            Msg::Paste(_) | Msg::Mouse(_) if self.rects.tiny => Vec::new(),
            Msg::Paste(text) => self.paste(&text),
            Msg::Mouse(event) => self.mouse(event),
            Msg::Resize(columns, rows) => {
                self.size = (columns, rows);
                // What waits is seen from now on.
                if self.rects.tiny {
                    self.guard_keys();
                }
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
                self.appearance.glyphs = Glyphs::ASCII;
                Vec::new()
            }
            Msg::Edited(purpose, result) => self.edited(purpose, result),
            Msg::Background(rgb) => {
                self.appearance.background = Some(rgb);
                if self.appearance.auto_theme {
                    self.apply_theme(AUTO);
                }
                Vec::new()
            }
        }
    }

    /// Returns a theme by its name, or as the terminal's ground is.
    fn themed(&self, name: &str) -> Option<Theme> {
        let name = match self.appearance.background {
            _ if name != AUTO => name,
            Some(rgb) if super::colour::luminance(rgb) >= 0.5 => "light",
            _ => "dark",
        };
        self.appearance.themes.get(name, self.appearance.depth).ok()
    }

    /// Puts on a theme; an unknown name changes nothing.
    fn apply_theme(&mut self, name: &str) {
        if let Some(theme) = self.themed(name) {
            self.appearance.theme = theme;
        }
    }

    /// Shows what the theme selected in the list looks like.
    fn sample_theme(&mut self) {
        let Some(Popup::List(list)) = self.popups.last() else { return };
        let sample = list.selected().and_then(|entry| self.themed(&entry.name));
        if let Some(Popup::List(list)) = self.popups.last_mut()
            && matches!(list.kind, ListKind::Themes)
        {
            list.sample = sample;
        }
    }

    /// Returns whether something was asked of the agent and not answered yet.
    pub fn awaits_answer(&self) -> bool {
        self.queries.pending.values().any(|(owner, _)| *owner != Owner::Changed)
    }

    /// Notices that stay, where there is no chat.
    pub(super) fn notices(&self) -> impl Iterator<Item = &crate::protocol::Notice> {
        self.panes.chat.standing().iter().chain(&self.early)
    }

    /// Returns the terminal's title: the workspace, with a mark while something waits for the person or nebula works.
    pub fn title(&self) -> String {
        let name = Some(self.session.status.workspace.as_str()).filter(|name| !name.is_empty()).unwrap_or("nebula");
        let glyphs = &self.appearance.glyphs;
        match self.attention() {
            Some(_) => format!("{} {name}", glyphs.asking),
            None if self.is_running() => format!("{} {name}", glyphs.spin(1)),
            None => name.to_string(),
        }
    }

    /// Returns the open session, if anything was said in it: what a later run can resume.
    pub fn resumable(&self) -> Option<&str> {
        self.session.id.as_deref().filter(|_| self.panes.chat.has_messages())
    }

    /// Returns the words on what was typed in the session and not sent; none: nothing was, or nothing can be resumed.
    pub fn unsent(&self) -> Option<&'static str> {
        self.resumable()?;
        let is_empty = self.composer.queue.is_empty() && self.composer.input.is_empty();
        (!is_empty).then(crate::messages::app::unsent_kept)
    }

    /// Returns the number of changes that wait to be reviewed.
    pub fn unreviewed(&self) -> usize {
        self.session.status.unreviewed
    }

    /// Returns the phase of all spinners.
    pub(super) fn tick(&self) -> u64 {
        u64::try_from(self.now / if self.focused { 125 } else { 1000 }).unwrap_or(0)
    }

    /// Returns when the screen next changes by itself, in unix milliseconds; `None`: not before something happens.
    pub fn wake(&self) -> Option<i64> {
        if self.session.retry.is_some() {
            return Some((self.now / 1000 + 1) * 1000);
        }
        let step = if self.focused { 125 } else { 1000 };
        let next = (self.is_running() && !self.is_held_up()).then(|| (self.now / step + 1) * step);
        next.into_iter().chain(self.takes_keys_at()).min()
    }

    /// Returns what drawing may know.
    pub(super) fn ctx(&self, focus: bool) -> Ctx<'_> {
        Ctx {
            theme: &self.appearance.theme,
            glyphs: &self.appearance.glyphs,
            keys: &self.keyboard.keys,
            focus,
            zoomed: self.is_full() || self.size.0 < layout::WIDE,
            now: self.now,
            zone: self.zone,
            tick: self.tick(),
            colours: &self.appearance.colours,
        }
    }

    /// Returns whether the chosen pane has the whole body.
    fn is_full(&self) -> bool {
        let waits = self.panes.diff.waiting().is_some();
        let previews = self.layout.pane == PaneId::Archive && self.panes.archive.waiting().is_some();
        self.layout.zoom || previews || (self.layout.pane == PaneId::Diff && (self.size.0 >= layout::WIDE || waits))
    }

    /// Returns the text that stands in the input's place.
    pub(super) fn editor(&self) -> &Editor {
        self.line.as_ref().map_or(&self.composer.input, |l| &l.editor)
    }

    /// Returns the rows of the input as they are drawn.
    pub(super) fn input_rows(&self) -> InputRows {
        self.editor().rows(self.input_width())
    }

    /// Cells of a row of the input.
    pub(super) fn input_width(&self) -> usize {
        let width = match self.screen {
            Screen::Start(_) => layout::start_width(self.size.0),
            _ => self.size.0,
        };
        usize::from(width.saturating_sub(4)).max(2)
    }
}
