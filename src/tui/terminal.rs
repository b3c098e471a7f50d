//! The terminal: raw mode as a guard that puts everything back, also after a panic; questions to it that never
//! hold up the first frame; and answers that come late, taken out of the stream of keys.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use base64::Engine;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste, EnableFocusChange,
    EnableMouseCapture, KeyCode, KeyEvent, KeyModifiers, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::style::ResetColor;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{TerminalOptions, Viewport};

use super::app::App;
use super::colour::Rgb;
use super::theme::Depth;

/// How long after the question the first frame may wait for answers.
const PATIENCE: Duration = Duration::from_millis(5);

/// What the environment tells of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Colours; `None`: none are wanted or there are too few, so the plain theme is worn.
    pub depth: Option<Depth>,
    /// Marks beyond ASCII can be drawn.
    pub unicode: bool,
    /// It understands questions.
    pub answers: bool,
    /// It shows notifications.
    pub notifies: bool,
}

impl Abilities {
    /// From the environment, read by `var`.
    pub fn of(var: impl Fn(&str) -> Option<String>) -> Abilities {
        let term = var("TERM").unwrap_or_default();
        let dumb = term == "dumb" || term.is_empty();
        let no_color = var("NO_COLOR").is_some_and(|v| !v.is_empty());
        let true_color = var("COLORTERM").is_some_and(|v| v == "truecolor" || v == "24bit") || term.contains("direct");
        let depth = match () {
            () if dumb || no_color => None,
            () if true_color => Some(Depth::True),
            () if term.contains("256color") || term.contains("kitty") || term.contains("alacritty") => {
                Some(Depth::Cube)
            }
            () => None,
        };
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|n| var(n).filter(|v| !v.is_empty()));
        let utf8 = locale.is_none_or(|l| {
            let l = l.to_lowercase();
            l.contains("utf-8") || l.contains("utf8")
        });
        let program = var("TERM_PROGRAM").unwrap_or_default();
        let notifies = ["iTerm.app", "WezTerm", "ghostty"].contains(&program.as_str()) || term.contains("kitty");
        Abilities { depth, unicode: utf8 && !dumb, answers: !dumb && term != "linux", notifies }
    }
}

/// What the terminal answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    /// The colour of its ground.
    pub ground: Option<Rgb>,
    /// Cells that a rule takes.
    pub rule: Option<u16>,
    /// It speaks the kitty keyboard protocol.
    pub kitty: bool,
    /// What was typed meanwhile.
    pub typed: Vec<KeyEvent>,
}

/// The terminal in raw mode, on its alternate screen. Dropping it puts everything back.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<io::BufWriter<io::Stdout>>>,
    size: (u16, u16),
    mouse: bool,
    kitty: bool,
    notifies: bool,
    /// When it was asked what it is, until its answers are read.
    asked: Option<Instant>,
}

impl Screen {
    /// Takes the terminal and asks it what it is; [`Screen::answers`] reads what it says.
    ///
    /// # Errors
    /// When it is none.
    pub fn enter(abilities: Abilities, mouse: bool) -> io::Result<Screen> {
        enable_raw_mode()?;
        let size = crossterm::terminal::size().unwrap_or((80, 24));
        let options = TerminalOptions { viewport: Viewport::Fixed(Rect::new(0, 0, size.0, size.1)) };
        let backend = CrosstermBackend::new(io::BufWriter::with_capacity(64 * 1024, io::stdout()));
        let terminal = Terminal::with_options(backend, options).inspect_err(|_| {
            let _ = disable_raw_mode();
        })?;
        let notifies = abilities.notifies;
        let mut screen = Screen { terminal, size, mouse, kitty: false, notifies, asked: None };
        screen.take()?;
        if abilities.answers {
            ask()?;
            screen.asked = Some(Instant::now());
        }
        Ok(screen)
    }

    /// What the terminal answered, and what was typed meanwhile. Waits for it at most until some milliseconds after
    /// the question, so whatever the start has to do is done between the two.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn answers(&mut self) -> io::Result<Answers> {
        let mut answers = Answers::default();
        let Some(asked) = self.asked.take() else { return Ok(answers) };
        parse(&read_until(asked + PATIENCE)?, &mut answers);
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
        if self.mouse {
            queue!(out, EnableMouseCapture)?;
        }
        if self.kitty {
            queue!(out, PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES))?;
        }
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
        self.redraw()
    }

    /// Forgets what is on it; the next frame is drawn whole.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn redraw(&mut self) -> io::Result<()> {
        // Not `clear`, which asks the terminal where its cursor is: one that does not answer would end the program.
        self.terminal.resize(Rect::new(0, 0, self.size.0, self.size.1))
    }

    /// Its size in cells.
    pub fn size(&self) -> (u16, u16) {
        self.size
    }

    /// It has another size now.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn resize(&mut self, columns: u16, rows: u16) -> io::Result<()> {
        if self.size != (columns, rows) {
            self.size = (columns, rows);
            self.terminal.resize(Rect::new(0, 0, columns, rows))?;
        }
        Ok(())
    }

    /// Draws one frame inside a synchronized update.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, app: &App) -> io::Result<()> {
        if self.size.0 == 0 || self.size.1 == 0 {
            return Ok(());
        }
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| super::view::draw(app, frame))?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }

    /// Takes the mouse, or lets it go.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse = on;
        if on { execute!(io::stdout(), EnableMouseCapture) } else { execute!(io::stdout(), DisableMouseCapture) }
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

    /// Calls for attention: a notification where the terminal shows them, else a bell.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn call(&mut self, words: &str) -> io::Result<()> {
        let mut out = io::stdout();
        if self.notifies {
            let words: String = words.chars().filter(|c| !c.is_control()).collect();
            write!(out, "\x1b]9;{words}\x1b\\")?;
        } else {
            out.write_all(b"\x07")?;
        }
        out.flush()
    }
}

impl Drop for Screen {
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
        DisableMouseCapture,
        DisableFocusChange,
        DisableBracketedPaste,
        ResetColor,
        LeaveAlternateScreen,
        cursor::Show
    );
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

/// Asks for the ground's colour, the width of a rule and the keyboard protocol.
fn ask() -> io::Result<()> {
    let mut out = io::stdout();
    // The last question is one that every terminal answers, so that its answer ends the waiting.
    out.write_all(b"\x1b[1;1H\xe2\x94\x80\x1b[6n\x1b[1;1H \x1b]11;?\x1b\\\x1b[?u\x1b[c")?;
    out.flush()
}

/// Reads what has arrived by then, or until the answer that every terminal gives.
#[cfg(unix)]
fn read_until(until: Instant) -> io::Result<Vec<u8>> {
    use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
    let stdin = io::stdin();
    let old = tcgetattr(&stdin)?;
    let mut polling = old.clone();
    // Reads return at once, with nothing if there is nothing.
    polling.special_codes[SpecialCodeIndex::VMIN] = 0;
    polling.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(&stdin, OptionalActions::Now, &polling)?;
    let mut bytes = Vec::new();
    // Past std's buffer, which would keep bytes from whoever reads next.
    let mut tty = std::fs::File::from(rustix::io::dup(&stdin)?);
    let result = loop {
        let mut part = [0; 512];
        match tty.read(&mut part) {
            Ok(0) => {}
            Ok(n) => bytes.extend_from_slice(&part[..n]),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock || e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => break Err(e),
        }
        if Instant::now() >= until || attributes_end(&bytes) {
            break Ok(());
        }
        std::thread::sleep(Duration::from_micros(300));
    };
    tcsetattr(&stdin, OptionalActions::Now, &old)?;
    result.map(|()| bytes)
}

#[cfg(not(unix))]
fn read_until(_until: Instant) -> io::Result<Vec<u8>> {
    Ok(Vec::new())
}

/// Whether the answer to the last question is there: `CSI ? … c`.
fn attributes_end(bytes: &[u8]) -> bool {
    let Some(at) = bytes.windows(3).rposition(|w| w == b"\x1b[?") else { return false };
    bytes[at + 3..].iter().find(|b| b.is_ascii_alphabetic()) == Some(&b'c')
}

/// Takes the answers apart; what is none was typed.
fn parse(bytes: &[u8], answers: &mut Answers) {
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        if let Some(body) = rest.strip_prefix(b"\x1b]") {
            let end = body.iter().position(|b| *b == 7 || *b == 0x1b).unwrap_or(body.len());
            answers.ground = ground(&body[..end]).or(answers.ground);
            let skip = if body[end..].starts_with(b"\x1b\\") { end + 2 } else { (end + 1).min(body.len()) };
            rest = &body[skip..];
        } else if let Some(body) = rest.strip_prefix(b"\x1b[") {
            let end = body.iter().position(|b| (0x40..=0x7e).contains(b)).unwrap_or(body.len());
            match body.get(end) {
                Some(b'R') => {
                    let column = body[..end].split(|b| *b == b';').nth(1);
                    let column = column.and_then(|c| std::str::from_utf8(c).ok()?.parse::<u16>().ok());
                    answers.rule = column.map(|c| c.saturating_sub(1));
                }
                Some(b'u') if body.starts_with(b"?") => answers.kitty = true,
                Some(last) => answers.typed.extend(arrow(&body[..end], *last)),
                None => {}
            }
            rest = &body[(end + 1).min(body.len())..];
        } else {
            let (key, used) = typed(*first, rest);
            answers.typed.extend(key);
            rest = if used > 1 { &rest[used..] } else { tail };
        }
    }
}

/// The key behind `CSI parameters last`, of those that lead through a list.
fn arrow(parameters: &[u8], last: u8) -> Option<KeyEvent> {
    let code = match (parameters, last) {
        (b"", b'A') => KeyCode::Up,
        (b"", b'B') => KeyCode::Down,
        (b"", b'C') => KeyCode::Right,
        (b"", b'D') => KeyCode::Left,
        (b"", b'H') | (b"1" | b"7", b'~') => KeyCode::Home,
        (b"", b'F') | (b"4" | b"8", b'~') => KeyCode::End,
        (b"3", b'~') => KeyCode::Delete,
        (b"5", b'~') => KeyCode::PageUp,
        (b"6", b'~') => KeyCode::PageDown,
        _ => return None,
    };
    Some(KeyEvent::new(code, KeyModifiers::NONE))
}

/// A key of plain bytes, and how many it takes.
fn typed(first: u8, rest: &[u8]) -> (Option<KeyEvent>, usize) {
    let key = |code| Some(KeyEvent::new(code, KeyModifiers::NONE));
    match first {
        // A terminal that was not ours yet made line feeds of Enter.
        b'\r' | b'\n' => (key(KeyCode::Enter), 1),
        b'\t' => (key(KeyCode::Tab), 1),
        0x7f => (key(KeyCode::Backspace), 1),
        0x1b => (key(KeyCode::Esc), 1),
        1..=26 => (Some(KeyEvent::new(KeyCode::Char((first + 0x60) as char), KeyModifiers::CONTROL)), 1),
        0..0x20 => (None, 1),
        _ => {
            let length = match first {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
            let text = rest.get(..length).and_then(|b| std::str::from_utf8(b).ok());
            (text.and_then(|t| t.chars().next()).and_then(|c| key(KeyCode::Char(c))), length.min(rest.len()))
        }
    }
}

/// The colour in `11;rgb:1616/1818/1d1d` (also with an alpha, and with 1 to 4 digits a part).
fn ground(body: &[u8]) -> Option<Rgb> {
    let text = std::str::from_utf8(body).ok()?.strip_prefix("11;")?;
    let parts = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let mut parts = parts.split('/').map(|p| {
        let value = u32::from_str_radix(p, 16).ok().filter(|_| (1..=4).contains(&p.len()))?;
        let most = 16u32.pow(p.len() as u32) - 1;
        Some((value * 255 / most) as u8)
    });
    Some((parts.next()??, parts.next()??, parts.next()??))
}

/// Takes a late answer about the ground out of the keys, however it is cut: it arrives as `Alt-]`, `1`, `1`, `;` …
/// and ends in `Ctrl-G` or `Alt-\`.
#[derive(Debug, Default)]
pub struct Late {
    held: VecDeque<KeyEvent>,
    text: String,
}

/// What a key turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sorted {
    /// Keys, in order; maybe none yet.
    Keys(Vec<KeyEvent>),
    /// The ground's colour, if it could be read.
    Ground(Option<Rgb>),
}

impl Late {
    /// Sorts a key.
    pub fn sort(&mut self, key: KeyEvent) -> Sorted {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        if self.held.is_empty() {
            if alt && key.code == KeyCode::Char(']') {
                self.held.push_back(key);
                return Sorted::Keys(Vec::new());
            }
            return Sorted::Keys(vec![key]);
        }
        let ends = (alt && key.code == KeyCode::Char('\\'))
            || (key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('g'));
        if ends && self.text.starts_with("11;") {
            self.held.clear();
            return Sorted::Ground(ground(std::mem::take(&mut self.text).as_bytes()));
        }
        self.held.push_back(key);
        if let KeyCode::Char(c) = key.code {
            self.text.push(c);
        }
        let expected = "11;rgb";
        let fits = self.text.len() < 40
            && (self.text.starts_with(expected) || expected.starts_with(self.text.as_str()))
            && matches!(key.code, KeyCode::Char(_))
            && !alt;
        if fits {
            return Sorted::Keys(Vec::new());
        }
        self.text.clear();
        Sorted::Keys(self.held.drain(..).collect())
    }
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
        assert_eq!((a.depth, a.unicode, a.answers), (Some(Depth::True), true, true));
        assert_eq!(abilities(&[("TERM", "xterm-256color")]).depth, Some(Depth::Cube));
        let none = abilities(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")]);
        assert_eq!(none.depth, None);
        assert_eq!(abilities(&[("TERM", "xterm")]).depth, None);
        let dumb = abilities(&[("TERM", "dumb"), ("LANG", "C")]);
        assert_eq!((dumb.depth, dumb.unicode, dumb.answers), (None, false, false));
    }

    #[test]
    fn answers_are_read_and_keys_typed_meanwhile_kept() {
        let mut a = Answers::default();
        parse(b"\x1b[1;2R\x1b]11;rgb:1616/1818/1d1d\x1b\\hi\xc3\xa9\x1b[?1u\r\x1b[?62;22c", &mut a);
        assert_eq!((a.ground, a.rule, a.kitty), (Some((0x16, 0x18, 0x1d)), Some(1), true));
        let codes: Vec<KeyCode> = a.typed.iter().map(|k| k.code).collect();
        assert_eq!(codes, [KeyCode::Char('h'), KeyCode::Char('i'), KeyCode::Char('é'), KeyCode::Enter]);
        assert!(attributes_end(b"\x1b[?1u\x1b[?62;22c") && !attributes_end(b"\x1b[?1u"));
        let mut a = Answers::default();
        parse(b"\x1b[B\x1b[?1u\x1b[6~\x1b[H", &mut a);
        let codes: Vec<KeyCode> = a.typed.iter().map(|k| k.code).collect();
        assert_eq!(codes, [KeyCode::Down, KeyCode::PageDown, KeyCode::Home]);
    }

    #[test]
    fn torn_answers_do_no_harm() {
        for bytes in [&b"\x1b]11;rgb:16"[..], b"\x1b[", b"\x1b", b"\xff\xfe", b"\x1b]11;rgb:zz/1/1\x07x", b"\xe4"] {
            parse(bytes, &mut Answers::default());
        }
    }

    #[test]
    fn a_late_answer_is_taken_out_of_the_keys() {
        let mut late = Late::default();
        let plain = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        let alt = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT);
        assert_eq!(late.sort(plain('a')), Sorted::Keys(vec![plain('a')]));
        assert_eq!(late.sort(alt(']')), Sorted::Keys(vec![]));
        for c in "11;rgb:ffff/ffff/ffff".chars() {
            assert_eq!(late.sort(plain(c)), Sorted::Keys(vec![]));
        }
        let bel = KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL);
        assert_eq!(late.sort(bel), Sorted::Ground(Some((255, 255, 255))));
        // A person's Alt-] and what follows stay keys.
        assert_eq!(late.sort(alt(']')), Sorted::Keys(vec![]));
        assert_eq!(late.sort(plain('x')), Sorted::Keys(vec![alt(']'), plain('x')]));
        assert_eq!(late.sort(plain('y')), Sorted::Keys(vec![plain('y')]));
    }
}
