//! The terminal: raw mode as a guard that puts everything back, also after a panic.

mod answers;
pub mod editor;
mod frames;
mod typed;

use std::io::{self, Write};
use std::time::{Duration, Instant};

use base64::Engine;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::style::ResetColor;
use crossterm::terminal::{
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};

use super::app::App;
use super::theme::Depth;
use crate::messages::is_utf8;
use crate::text::clean::clean_line;
use answers::{ask, parse, read_until};
use frames::Frames;

pub use answers::{Answers, Late, Sorted};
pub use typed::Typed;

/// Clicks, drags and the wheel, with cells beyond 223: movement alone tells nothing and would wake the program.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l\x1b[?1000l";
/// Asks the terminal for the colour of its background.
const ASK_BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\";
/// The longest wait of the first frame for the terminal's answers.
const PATIENCE: Duration = Duration::from_millis(4);

/// The abilities of the terminal, as the environment tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Colours.
    pub depth: Depth,
    /// Marks beyond ASCII can be drawn.
    pub unicode: bool,
    /// It understands questions.
    pub answers: bool,
    /// The call when something waits.
    pub alert: Alert,
}

/// A call for the person while something waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alert {
    /// The bell.
    Bell,
    /// A notification, by OSC 9.
    Notification,
    /// Nothing.
    Nothing,
}

impl Abilities {
    /// Reads them from the environment, by `var`.
    pub fn of(var: impl Fn(&str) -> Option<String>) -> Abilities {
        let term = var("TERM").unwrap_or_default();
        let dumb = term == "dumb" || term.is_empty();
        let no_color = var("NO_COLOR").is_some_and(|v| !v.is_empty());
        let true_color = var("COLORTERM").is_some_and(|v| v == "truecolor" || v == "24bit") || term.contains("direct");
        let depth = match () {
            () if dumb || no_color => Depth::Mono,
            () if true_color => Depth::True,
            () if term.contains("256color") || term.contains("kitty") || term.contains("alacritty") => Depth::Cube,
            () => Depth::Sixteen,
        };
        let utf8 = is_utf8(&var);
        let program = var("TERM_PROGRAM").unwrap_or_default();
        let notifies = ["iTerm.app", "WezTerm", "ghostty"].contains(&program.as_str()) || term.contains("kitty");
        let alert = if notifies { Alert::Notification } else { Alert::Bell };
        Abilities { depth, unicode: utf8 && !dumb, answers: !dumb && term != "linux", alert }
    }

    /// Takes the word of the configuration for the call: `bell`, `osc9`, `off`; any other leaves it to the terminal.
    #[must_use]
    pub fn calling(self, word: &str) -> Self {
        let alert = match word {
            "bell" => Alert::Bell,
            "osc9" => Alert::Notification,
            "off" => Alert::Nothing,
            _ => self.alert,
        };
        Abilities { alert, ..self }
    }
}

/// The terminal in raw mode, on its alternate screen. Dropping it puts everything back.
pub struct TerminalScreen {
    frames: Frames,
    size: (u16, u16),
    mouse: bool,
    kitty: bool,
    alert: Alert,
    /// It understands questions; another would print them.
    understands: bool,
    /// The time when it was asked for its capabilities, until its answers are read.
    asked_at: Option<Instant>,
}

impl TerminalScreen {
    /// Takes the terminal and asks it what it is; [`TerminalScreen::answers`] reads what it says.
    ///
    /// # Errors
    /// When it is none.
    pub fn enter(abilities: Abilities, mouse: bool) -> io::Result<TerminalScreen> {
        enable_raw_mode()?;
        let size = crossterm::terminal::size().unwrap_or((80, 24));
        let frames = Frames::new(size.0, size.1);
        let (alert, understands) = (abilities.alert, abilities.answers);
        let mut screen = TerminalScreen { frames, size, mouse, kitty: false, alert, understands, asked_at: None };
        screen.take()?;
        if understands {
            ask()?;
            screen.asked_at = Some(Instant::now());
        }
        Ok(screen)
    }

    /// Returns what the terminal answered, and what was typed meanwhile. Waits for it at most until some milliseconds
    /// after the question, so whatever the start has to do is done between the two.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn answers(&mut self) -> io::Result<Answers> {
        let mut answers = Answers::default();
        let Some(asked_at) = self.asked_at.take() else { return Ok(answers) };
        parse(&read_until(asked_at + PATIENCE)?, &mut answers);
        if answers.kitty {
            self.kitty = true;
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
            execute!(io::stdout(), PushKeyboardEnhancementFlags(flags))?;
        }
        Ok(answers)
    }

    fn take(&mut self) -> io::Result<()> {
        let mut out = io::stdout();
        queue!(out, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange, cursor::Hide)?;
        // The title that was is kept by the terminal, and put back by `restore`.
        out.write_all(b"\x1b[22;2t")?;
        if self.mouse {
            out.write_all(MOUSE_ON)?;
        }
        if self.kitty {
            queue!(out, PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES))?;
        }
        out.flush()
    }

    /// Names the terminal's window or tab.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        let mut out = io::stdout();
        write!(out, "\x1b]2;{}\x1b\\", clean_line(title))?;
        out.flush()
    }

    /// Puts the terminal back as it was, for an editor or a pause.
    pub fn leave(&mut self) {
        restore(self.kitty);
    }

    /// Takes it again; the next frame is drawn whole.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn again(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        self.take()?;
        self.redraw();
        Ok(())
    }

    /// Forgets what is on it; the next frame is drawn whole.
    pub fn redraw(&mut self) {
        self.frames.forget();
    }

    /// Returns its size in cells.
    pub fn size(&self) -> (u16, u16) {
        self.size
    }

    /// Takes its new size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        if self.size != (columns, rows) {
            self.size = (columns, rows);
            self.frames.resize(columns, rows);
        }
    }

    /// Draws one frame inside a synchronized update, by one write; a frame that is shown already takes none.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, app: &App) -> io::Result<()> {
        if self.size.0 == 0 || self.size.1 == 0 {
            return Ok(());
        }
        let bytes = self.frames.draw(|buf| super::view::paint_screen(app, buf));
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Takes the mouse, or lets it go.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse = on;
        let mut out = io::stdout();
        out.write_all(if on { MOUSE_ON } else { MOUSE_OFF })?;
        out.flush()
    }

    /// Asks for the colour of the background, where the terminal understands that; the answer comes with the keys.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn ask_background(&mut self) -> io::Result<()> {
        if !self.understands {
            return Ok(());
        }
        let mut out = io::stdout();
        out.write_all(ASK_BACKGROUND)?;
        out.flush()
    }

    /// Copies through the terminal (OSC 52), which works over ssh too.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        let coded = base64::engine::general_purpose::STANDARD.encode(text);
        let mut out = io::stdout();
        write!(out, "\x1b]52;c;{coded}\x07")?;
        out.flush()
    }

    /// Calls the person, as the configuration says.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn call(&mut self, words: &str) -> io::Result<()> {
        let mut out = io::stdout();
        match self.alert {
            Alert::Notification => write!(out, "\x1b]9;{}\x1b\\", clean_line(words))?,
            Alert::Bell => out.write_all(b"\x07")?,
            Alert::Nothing => {}
        }
        out.flush()
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        restore(self.kitty);
    }
}

/// Leaves every mode we may have entered.
fn restore(kitty: bool) {
    let mut out = io::stdout();
    // A terminal that is gone cannot be put back; nothing is left to do then.
    if kitty {
        let _ = queue!(out, PopKeyboardEnhancementFlags);
    }
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableFocusChange,
        DisableBracketedPaste,
        ResetColor,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = out.write_all(MOUSE_OFF).and_then(|()| out.write_all(b"\x1b[23;2t")).and_then(|()| out.flush());
    let _ = disable_raw_mode();
}

/// Puts the terminal back before a panic of this thread is told. Panics of others become errors of what they did,
/// and must not be written over the screen.
pub fn restore_on_panic() {
    let own = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == own {
            restore(true);
            before(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn abilities(vars: &[(&str, &str)]) -> Abilities {
        Abilities::of(|n| vars.iter().find(|(k, _)| *k == n).map(|(_, v)| v.to_string()))
    }

    #[test]
    fn the_environment_is_obeyed() {
        let a = abilities(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("LANG", "en_US.UTF-8")]);
        assert_eq!((a.depth, a.unicode, a.answers), (Depth::True, true, true));
        assert_eq!(abilities(&[("TERM", "xterm-256color")]).depth, Depth::Cube);
        let none = abilities(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")]);
        assert_eq!(none.depth, Depth::Mono);
        assert_eq!(abilities(&[("TERM", "xterm")]).depth, Depth::Sixteen);
        let dumb = abilities(&[("TERM", "dumb"), ("LANG", "C")]);
        assert_eq!((dumb.depth, dumb.unicode, dumb.answers), (Depth::Mono, false, false));
    }

    #[test]
    fn the_configuration_says_what_calls_the_person() {
        let (plain, kitty) = (abilities(&[("TERM", "xterm")]), abilities(&[("TERM", "xterm-kitty")]));
        assert_eq!((plain.calling("auto").alert, kitty.calling("auto").alert), (Alert::Bell, Alert::Notification));
        for (word, alert) in [("bell", Alert::Bell), ("osc9", Alert::Notification), ("off", Alert::Nothing)] {
            assert_eq!((plain.calling(word).alert, kitty.calling(word).alert), (alert, alert));
        }
    }
}
