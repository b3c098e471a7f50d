//! Questions to the terminal that never hold up the first frame, and answers that come late, taken out of the
//! stream of keys.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::tui::colour::Rgb;

/// The answers of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    /// The colour of its background.
    pub background: Option<Rgb>,
    /// Cells that a rule takes.
    pub rule: Option<u16>,
    /// It speaks the kitty keyboard protocol.
    pub kitty: bool,
    /// The keys that were typed meanwhile.
    pub typed: Vec<KeyEvent>,
}

/// Asks for the background's colour, the width of a rule and the keyboard protocol.
pub(super) fn ask() -> io::Result<()> {
    let mut out = io::stdout();
    // The last question is one that every terminal answers, so that its answer ends the waiting.
    out.write_all(b"\x1b[1;1H\xe2\x94\x80\x1b[6n\x1b[1;1H \x1b]11;?\x1b\\\x1b[?u\x1b[c")?;
    out.flush()
}

/// Reads what has arrived by then, or until the answer that every terminal gives.
#[cfg(unix)]
pub(super) fn read_until(until: Instant) -> io::Result<Vec<u8>> {
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
pub(super) fn read_until(_until: Instant) -> io::Result<Vec<u8>> {
    Ok(Vec::new())
}

/// Returns whether the answer to the last question is there: `CSI ? … c`.
fn attributes_end(bytes: &[u8]) -> bool {
    let Some(at) = bytes.windows(3).rposition(|w| w == b"\x1b[?") else { return false };
    bytes[at + 3..].iter().find(|b| b.is_ascii_alphabetic()) == Some(&b'c')
}

/// Takes the answers apart; what is none was typed.
pub(super) fn parse(bytes: &[u8], answers: &mut Answers) {
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        if let Some(body) = rest.strip_prefix(b"\x1b]") {
            let end = body.iter().position(|b| *b == 7 || *b == 0x1b).unwrap_or(body.len());
            answers.background = background(&body[..end]).or(answers.background);
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

/// Returns the key behind `CSI parameters last`, of those that lead through a list.
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

/// Returns a key of plain bytes, and how many it takes.
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

/// Returns the colour in `11;rgb:1616/1818/1d1d` (also with an alpha, and with 1 to 4 digits a part).
fn background(body: &[u8]) -> Option<Rgb> {
    let text = std::str::from_utf8(body).ok()?.strip_prefix("11;")?;
    let parts = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let mut parts = parts.split('/').map(|p| {
        let value = u32::from_str_radix(p, 16).ok().filter(|_| (1..=4).contains(&p.len()))?;
        let most = 16u32.pow(p.len() as u32) - 1;
        Some((value * 255 / most) as u8)
    });
    Some((parts.next()??, parts.next()??, parts.next()??))
}

/// Takes a late answer about the background out of the keys, however it is cut: it arrives as `Alt-]`, `1`, `1`, `;` …
/// and ends in `Ctrl-G` or `Alt-\`.
#[derive(Debug, Default)]
pub struct Late {
    held: VecDeque<KeyEvent>,
    text: String,
}

/// The meaning of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sorted {
    /// Keys, in order; maybe none yet.
    Keys(Vec<KeyEvent>),
    /// The background's colour, if it could be read.
    Background(Option<Rgb>),
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
            return Sorted::Background(background(std::mem::take(&mut self.text).as_bytes()));
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

    #[test]
    fn answers_are_read_and_keys_typed_meanwhile_preserved() {
        let mut a = Answers::default();
        parse(b"\x1b[1;2R\x1b]11;rgb:1616/1818/1d1d\x1b\\hi\xc3\xa9\x1b[?1u\r\x1b[?62;22c", &mut a);
        assert_eq!((a.background, a.rule, a.kitty), (Some((0x16, 0x18, 0x1d)), Some(1), true));
        let codes: Vec<KeyCode> = a.typed.iter().map(|k| k.code).collect();
        assert_eq!(codes, [KeyCode::Char('h'), KeyCode::Char('i'), KeyCode::Char('é'), KeyCode::Enter]);
        assert!(attributes_end(b"\x1b[?1u\x1b[?62;22c") && !attributes_end(b"\x1b[?1u"));
        let mut a = Answers::default();
        parse(b"\x1b[B\x1b[?1u\x1b[6~\x1b[H", &mut a);
        let codes: Vec<KeyCode> = a.typed.iter().map(|k| k.code).collect();
        assert_eq!(codes, [KeyCode::Down, KeyCode::PageDown, KeyCode::Home]);
    }

    #[test]
    fn incomplete_answers_are_ignored() {
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
        assert_eq!(late.sort(bel), Sorted::Background(Some((255, 255, 255))));
        // A person's Alt-] and what follows stay keys.
        assert_eq!(late.sort(alt(']')), Sorted::Keys(vec![]));
        assert_eq!(late.sort(plain('x')), Sorted::Keys(vec![alt(']'), plain('x')]));
        assert_eq!(late.sort(plain('y')), Sorted::Keys(vec![plain('y')]));
    }
}
