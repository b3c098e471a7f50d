//! The loop: what happened becomes a message, what is to be done outside is done, and the screen is drawn, at once
//! after a key, else at most once in 8 ms. With nothing to show it sleeps until something happens; after some seconds of
//! that it gives back memory that it does not need while it waits.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::Event as Input;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::app::{App, Options};
use super::msg::{EditFor, Effect, Exit, Msg};
use super::terminal::{Abilities, Late, Sorted, TerminalScreen, Typed, editor, restore_on_panic};
use super::text::highlight::{Highlighter, QUIET};
use crate::protocol::{Addressed, Command, CommandEvent, Event, EventBody};
use crate::text::{clean, time};

/// The time between two frames that no key asked for.
const FRAME: Duration = Duration::from_millis(8);

/// The time without an event after which memory is given back: the grammars are dropped by then.
const REST: Duration = QUIET.saturating_add(Duration::from_secs(1));

/// The reason why the screen could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No terminal exists, or it went away.
    #[error("the screen needs a terminal ({0}); without one use nebula chat, or nebula task PROMPT")]
    Terminal(#[from] io::Error),
}

/// The reason why the screen ended, and the session that a later run can resume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Its exit.
    pub exit: Exit,
    /// The session's id, if anything was said in it.
    pub session: Option<String>,
    /// The number of changes that waited to be reviewed, as far as the screen knew.
    pub unreviewed: usize,
    /// The words on what was typed in the session and not sent; none: nothing was.
    pub unsent: Option<&'static str>,
}

/// The channels to the agent.
pub type Handle = (mpsc::UnboundedSender<Addressed>, mpsc::Receiver<Event>);

/// Runs the screen until the person leaves or the agent is gone. The first frame waits for nothing the agent has to
/// do; it shows what was typed by then.
///
/// # Errors
/// When there is no terminal.
pub async fn run(handle: Handle, mut options: Options) -> Result<Left, Error> {
    let abilities = Abilities::of(|name| std::env::var(name).ok()).calling(&options.notify);
    let root = options.root.clone();
    restore_on_panic();
    let screen = TerminalScreen::enter(abilities, options.mouse)?;
    // The terminal answers while the rest is made ready.
    options.ascii |= !abilities.unicode;
    if options.ascii {
        clean::use_ascii();
    }
    let woken = Arc::new(Notify::new());
    let waker = woken.clone();
    let rest = options.rest;
    let colours = Highlighter::new(move || waker.notify_one());
    let (app, first) = App::new(options, abilities.depth, colours, time::now());
    let (commands, events) = handle;
    let (columns, rows) = screen.size();
    let mut front = Front {
        app,
        screen,
        commands,
        root,
        exit: None,
        late: Late::default(),
        dirty: true,
        held: Vec::new(),
        title: String::new(),
        rest,
        rested: false,
    };
    front.perform_now(first)?;
    let answers = front.screen.answers()?;
    let mut received = vec![Msg::Resize(columns, rows)];
    received.extend((answers.rule == Some(2)).then_some(Msg::Wide));
    received.extend(answers.background.map(Msg::Background));
    received.extend(answers.typed.into_iter().map(Msg::Key));
    let exit = front.run(events, woken, received).await?;
    let app = front.app;
    let session = app.resumable().map(str::to_string);
    Ok(Left { exit, session, unreviewed: app.unreviewed(), unsent: app.unsent() })
}

struct Front {
    app: App,
    screen: TerminalScreen,
    commands: mpsc::UnboundedSender<Addressed>,
    root: PathBuf,
    exit: Option<Exit>,
    late: Late,
    dirty: bool,
    /// Messages of the agent since the last frame: they are taken in with the next one, all at once.
    held: Vec<Msg>,
    /// The terminal's title, as it was set last.
    title: String,
    /// Gives memory back, and whether it did since the last frame.
    rest: Option<fn()>,
    rested: bool,
}

/// An effect that holds the loop up, because the terminal is somebody else's meanwhile.
enum Away {
    Edit(EditFor, Vec<u8>, String),
    Open(PathBuf),
    Suspend,
}

/// The end of a wait.
enum Woken {
    /// Something to take in, maybe nothing but the time.
    Messages {
        messages: Vec<Msg>,
        /// The next frame is drawn at once.
        urgent: bool,
    },
    /// The message waits for the next frame.
    Held,
}

/// The most events of the agent that are held until the next frame.
const HELD: usize = 4096;

impl Front {
    async fn run(
        &mut self,
        mut events: mpsc::Receiver<Event>,
        woken: Arc<Notify>,
        mut received: Vec<Msg>,
    ) -> Result<Exit, Error> {
        // What the agent has told by now belongs to the first frame.
        gather(&mut received, &mut events);
        let mut away = self.update(received)?;
        self.draw()?;
        let mut drawn = Instant::now();
        let mut signals = Signals::new()?;
        watch_line();
        let mut input = Typed::new();
        loop {
            for effect in std::mem::take(&mut away) {
                // The stream reads the terminal on a thread of its own; an editor must not share its keys with it.
                drop(input);
                away.extend(self.away(effect, &mut events, &mut signals).await?);
                input = Typed::new();
                self.dirty = true;
            }
            if let Some(exit) = self.exit {
                return Ok(exit);
            }
            let woken = self.wait(&mut input, &mut signals, &mut events, &woken, drawn).await?;
            if let Some(exit) = self.exit {
                return Ok(exit);
            }
            let Woken::Messages { messages, urgent } = woken else { continue };
            away = self.update(messages)?;
            let due = urgent || drawn.elapsed() >= FRAME;
            if self.dirty && due && self.exit.is_none() && away.is_empty() {
                self.draw()?;
                drawn = Instant::now();
            }
        }
    }

    /// Waits for the next thing that concerns the screen.
    async fn wait(
        &mut self,
        input: &mut Typed,
        signals: &mut Signals,
        events: &mut mpsc::Receiver<Event>,
        woken: &Notify,
        drawn: Instant,
    ) -> Result<Woken, Error> {
        let sleep = until(self.next_draw(drawn));
        let rest = until((!self.rested).then(|| drawn + REST));
        tokio::select! {
            biased;
            key = input.next() => {
                // Keys may rest on what the agent told before.
                let mut messages = std::mem::take(&mut self.held);
                match key {
                    Some(Ok(event)) => messages.extend(self.sort(event)),
                    Some(Err(_)) | None => messages.push(Msg::Gone),
                }
                let keys = messages.len();
                // A burst of keys makes one frame.
                while messages.len() < keys + 64 {
                    let Some(Ok(event)) = input.ready().await else { break };
                    messages.extend(self.sort(event));
                }
                Ok(Woken::Messages { messages, urgent: true })
            }
            signal = signals.next() => {
                let messages = self.signal(signal)?;
                Ok(self.take_held(messages))
            }
            // The channel is emptied all the time, so that nobody who sends waits for a frame; what arrives before the
            // next one is due is taken in with it. But who has asked for something sees the answer at once.
            event = events.recv() => {
                match event {
                    Some(event) => join(&mut self.held, event),
                    None => self.held.push(Msg::Gone),
                }
                gather(&mut self.held, events);
                let answered = |m: &Msg| matches!(m, Msg::Agent(Event { body: EventBody::Answer(..), .. }));
                let urgent = self.app.awaits_answer() && self.held.iter().any(answered);
                let due = !self.dirty || drawn.elapsed() >= FRAME || self.held.len() >= HELD;
                match (urgent || due) && !self.held.is_empty() {
                    true => Ok(Woken::Messages { messages: std::mem::take(&mut self.held), urgent }),
                    false => Ok(Woken::Held),
                }
            }
            () = woken.notified() => { self.dirty = true; Ok(self.take_held(Vec::new())) }
            () = sleep => { self.dirty = true; Ok(self.take_held(Vec::new())) }
            () = rest => { self.give_back(); Ok(Woken::Held) }
        }
    }

    /// Returns what was held, with what follows it.
    fn take_held(&mut self, more: Vec<Msg>) -> Woken {
        let mut messages = std::mem::take(&mut self.held);
        messages.extend(more);
        Woken::Messages { messages, urgent: false }
    }

    /// Gives memory back on a thread of its own, for no key waits for that; without one to spare it stays.
    fn give_back(&mut self) {
        self.rested = true;
        if let Some(rest) = self.rest {
            let _ = std::thread::Builder::new().spawn(rest);
        }
    }

    fn draw(&mut self) -> Result<(), Error> {
        self.screen.draw(&self.app)?;
        self.dirty = false;
        self.rested = false;
        let title = self.app.title();
        if title != self.title {
            self.screen.set_title(&title)?;
            self.title = title;
        }
        Ok(())
    }

    /// Answers a signal, with what the screen is told of it.
    fn signal(&mut self, signal: Signal) -> Result<Vec<Msg>, Error> {
        match signal {
            Signal::Continued => {
                self.screen.again()?;
                self.dirty = true;
                Ok(Vec::new())
            }
            // Also told by the terminal's own stream, but one that comes together with a key can get lost there;
            // and a size that is the old one again may have cut what was drawn.
            Signal::Resized => {
                let (columns, rows) = crossterm::terminal::size()?;
                self.screen.resize(columns, rows);
                self.screen.redraw();
                Ok(vec![Msg::Resize(columns, rows)])
            }
            Signal::End(number) => {
                let kept = self.app.keep_unsent(true);
                self.perform_now(kept.into_iter().collect())?;
                self.commands.send(Command::Shutdown.into()).ok();
                self.exit = Some(Exit::Signal(number));
                Ok(Vec::new())
            }
        }
    }

    /// Returns when the next frame is due without anything happening.
    fn next_draw(&self, drawn: Instant) -> Option<Instant> {
        if self.dirty {
            return Some(drawn + FRAME);
        }
        let wake = self.app.wake()?;
        let wait = u64::try_from(wake - time::now()).unwrap_or(0);
        Some((Instant::now() + Duration::from_millis(wait)).max(drawn + FRAME))
    }

    /// Updates with all messages, and does what can be done at once.
    fn update(&mut self, messages: Vec<Msg>) -> Result<Vec<Away>, Error> {
        self.dirty |= !messages.is_empty();
        for message in &messages {
            if let Msg::Resize(columns, rows) = message {
                self.screen.resize(*columns, *rows);
            }
        }
        let effects = self.app.update_all(std::iter::once(Msg::Tick(time::now())).chain(messages));
        self.perform_now(effects)
    }

    /// Turns what the terminal sent into messages.
    fn sort(&mut self, event: Input) -> Vec<Msg> {
        match event {
            Input::Key(key) => match self.late.sort(key) {
                Sorted::Keys(keys) => keys.into_iter().map(Msg::Key).collect(),
                Sorted::Background(rgb) => rgb.map(Msg::Background).into_iter().collect(),
            },
            Input::Paste(text) => vec![Msg::Paste(text)],
            Input::Mouse(mouse) => vec![Msg::Mouse(mouse)],
            Input::Resize(columns, rows) => vec![Msg::Resize(columns, rows)],
            Input::FocusGained => vec![Msg::Focus(true)],
            Input::FocusLost => vec![Msg::Focus(false)],
        }
    }

    /// Does what takes no time, and returns what needs the terminal.
    fn perform_now(&mut self, effects: Vec<Effect>) -> Result<Vec<Away>, Error> {
        let mut away = Vec::new();
        for effect in effects {
            match effect {
                // A closed channel is noticed by its other half.
                Effect::Send(command) => drop(self.commands.send(command.into())),
                Effect::Copy(text) => self.screen.copy(&text)?,
                Effect::Bell(words) => self.screen.call(&words)?,
                Effect::Mouse(on) => self.screen.set_mouse(on)?,
                Effect::AskBackground => self.screen.ask_background()?,
                Effect::Redraw => self.screen.redraw(),
                Effect::Quit(exit) => self.exit = Some(exit),
                Effect::Edit { purpose, text, name } => away.push(Away::Edit(purpose, text, name)),
                Effect::OpenFile(path) => away.push(Away::Open(self.root.join(path))),
                Effect::Suspend => away.push(Away::Suspend),
            }
        }
        Ok(away)
    }

    /// Gives the terminal away and takes it back. The agent is listened to meanwhile.
    async fn away(
        &mut self,
        what: Away,
        events: &mut mpsc::Receiver<Event>,
        signals: &mut Signals,
    ) -> Result<Vec<Away>, Error> {
        self.screen.leave();
        let mut messages = Vec::new();
        match what {
            Away::Suspend => signals.suspend().await,
            Away::Open(path) => {
                let mut received = |event| messages.push(Msg::Agent(event));
                if let Err(why) = editor::open(&path, events, &mut received).await {
                    messages.push(Msg::Edited(EditFor::Input, Err(why)));
                }
            }
            Away::Edit(purpose, text, name) => {
                let mut received = |event| messages.push(Msg::Agent(event));
                let result = editor::edit(&text, &name, events, &mut received).await;
                messages.push(Msg::Edited(purpose, result));
            }
        }
        self.screen.again()?;
        let (columns, rows) = crossterm::terminal::size()?;
        messages.push(Msg::Resize(columns, rows));
        self.update(messages)
    }
}

/// Waits until then; without a time, for ever.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Adds what the agent has told already.
fn gather(all: &mut Vec<Msg>, events: &mut mpsc::Receiver<Event>) {
    while all.len() < HELD
        && let Ok(event) = events.try_recv()
    {
        join(all, event);
    }
}

/// Adds an event; text that grows what grew last becomes one with it. What the screen does not show is left out.
fn join(all: &mut Vec<Msg>, event: Event) {
    match (all.last_mut(), event) {
        (_, Event { body: EventBody::Command(CommandEvent::Held(_)), .. }) => {}
        (
            Some(Msg::Agent(Event { body: EventBody::Grew(id, text), .. })),
            Event { body: EventBody::Grew(other, more), .. },
        ) if *id == other => text.push_str(&more),
        (_, event) => all.push(Msg::Agent(event)),
    }
}

enum Signal {
    Continued,
    Resized,
    End(i32),
}

/// The signals that concern the terminal.
#[cfg(unix)]
struct Signals {
    term: tokio::signal::unix::Signal,
    hup: tokio::signal::unix::Signal,
    int: tokio::signal::unix::Signal,
    quit: tokio::signal::unix::Signal,
    winch: tokio::signal::unix::Signal,
    cont: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
            int: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            winch: signal(SignalKind::window_change())?,
            cont: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    async fn next(&mut self) -> Signal {
        use rustix::process::Signal as S;
        tokio::select! {
            _ = self.term.recv() => Signal::End(S::TERM.as_raw()),
            _ = self.hup.recv() => Signal::End(S::HUP.as_raw()),
            _ = self.int.recv() => Signal::End(S::INT.as_raw()),
            _ = self.quit.recv() => Signal::End(S::QUIT.as_raw()),
            _ = self.cont.recv() => Signal::Continued,
            _ = self.winch.recv() => Signal::Resized,
        }
    }

    /// Stops this process until the shell continues it; with it whatever the shell started together with it, as the
    /// terminal's own Ctrl-Z would: under `cargo run` the shell waits for cargo.
    async fn suspend(&mut self) {
        let stopped = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
        // Where stopping is not possible (no shell above) nothing will continue us either.
        if stopped.is_ok() {
            let _ = tokio::time::timeout(Duration::from_millis(300), self.cont.recv()).await;
        }
    }
}

/// The longest time that the loop may take to end once the terminal is gone.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(2);

/// Watches the line to the terminal. Where it is cut, only the leader of the session is sent a signal; this sends it to
/// us too. Whoever reads keys at that moment may read the end of the line again and again, so after a while the process
/// ends whatever its loop does: all that counts is on disk already.
#[cfg(unix)]
fn watch_line() {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Signal, getpid, kill_process};
    std::thread::spawn(|| {
        let stdin = io::stdin();
        // Nothing is asked for, so typing wakes nobody; that the other end is gone is always told.
        let mut line = [PollFd::new(&stdin, PollFlags::empty())];
        while poll(&mut line, None) == Err(rustix::io::Errno::INTR) {}
        if line[0].revents().contains(PollFlags::HUP) {
            let _ = kill_process(getpid(), Signal::HUP);
            std::thread::sleep(GRACE);
            std::process::exit(128 + Signal::HUP.as_raw());
        }
    });
}

#[cfg(not(unix))]
fn watch_line() {}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Signals> {
        Ok(Signals)
    }

    async fn next(&mut self) -> Signal {
        let _ = tokio::signal::ctrl_c().await;
        Signal::End(2)
    }

    async fn suspend(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ItemId;

    #[test]
    fn only_neighbours_of_one_item_become_one() {
        let received = |body| Event { session: None, body };
        let grew = |id, text: &str| received(EventBody::Grew(ItemId(id), text.to_string()));
        let retrying = || received(EventBody::Retrying(None));
        let mut all = Vec::new();
        for event in [grew(1, "a"), grew(1, "b"), grew(2, "c"), grew(1, "d"), retrying(), grew(1, "e")] {
            join(&mut all, event);
        }
        let want = [grew(1, "ab"), grew(2, "c"), grew(1, "d"), retrying(), grew(1, "e")];
        assert_eq!(all, want.map(Msg::Agent));
    }

    #[test]
    fn what_a_command_prints_reaches_the_screen() {
        let (id, text, begun) = ("c1".to_string(), "one\n".to_string(), String::new());
        let body = EventBody::Command(CommandEvent::Printed { id, missed: 0, text, begun });
        let event = Event { session: None, body };
        let mut all = Vec::new();
        join(&mut all, event.clone());
        assert_eq!(all, [Msg::Agent(event)]);
    }
}
