//! The one output: everything that a command prints goes through an [`Out`], which cleans it for the terminal. No other
//! file of the command line names standard output or standard error.

use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::sync::LazyLock;

use serde::Serialize;

use crate::text::clean::{clean, clean_json};

/// The output of a command. Text written to it is cleaned, in a pipe as at a terminal: a file of it may be shown on one
/// later.
pub struct Out<'a> {
    to: Box<dyn Write + 'a>,
    terminal: bool,
    /// That nobody reads on is no error.
    goes_on: bool,
}

impl<'a> Out<'a> {
    /// Prints to `to`, which is a `terminal` or not.
    pub fn new(to: impl Write + 'a, terminal: bool) -> Self {
        Out { to: Box::new(to), terminal, goes_on: false }
    }

    /// Makes it pass over the error that nobody reads on: what the command does counts all the same.
    pub fn go_on_unread(&mut self) {
        self.goes_on = true;
    }

    /// Returns the writer to standard output.
    pub fn stdout() -> Out<'static> {
        // Asked once: text that streams in is printed piece by piece.
        static TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());
        Out::new(io::stdout().lock(), *TERMINAL)
    }

    /// Returns the writer to standard error.
    pub fn stderr() -> Out<'static> {
        static TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stderr().is_terminal());
        Out::new(io::stderr().lock(), *TERMINAL)
    }

    /// Returns whether this is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Prints a value as a line of JSON, in which whatever would act on a terminal is escaped.
    ///
    /// # Errors
    /// When the output takes no more.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string(value)?;
        self.styled(format!("{}\n", clean_json(&text)).as_bytes())
    }

    /// Prints JSON that is written in parts: any number of whole values and what stands between them.
    ///
    /// # Errors
    /// When the output takes no more.
    pub fn json_part(&mut self, text: &str) -> io::Result<()> {
        self.styled(clean_json(text).as_bytes())
    }

    /// Prints a document, such as a file's content or a model's answer: cleaned at a terminal, byte for byte elsewhere.
    ///
    /// # Errors
    /// When the output takes no more.
    pub fn document(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.terminal {
            true => self.write_all(bytes),
            false => self.styled(bytes),
        }
    }

    /// Prints a document that is too large to be held in memory, a piece at a time.
    ///
    /// # Errors
    /// When it cannot be read, or the output takes no more.
    pub fn document_of(&mut self, mut from: impl Read) -> io::Result<()> {
        let mut piece = vec![0; 1 << 16];
        loop {
            match from.read(&mut piece)? {
                0 => return Ok(()),
                n => self.document(&piece[..n])?,
            }
        }
    }

    /// Prints text with nebula's own colours, and with what came from elsewhere cleaned already.
    ///
    /// # Errors
    /// When the output takes no more.
    pub fn styled(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.to.write_all(bytes);
        self.noted(written)
    }

    fn noted(&self, written: io::Result<()>) -> io::Result<()> {
        if self.goes_on { unless_unread(written) } else { written }
    }
}

/// Passes over the error that nobody reads on.
///
/// # Errors
/// Any other.
pub fn unless_unread(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|why| if why.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(why) })
}

impl Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.styled(clean(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.to.flush();
        self.noted(flushed)
    }
}

/// Prints a line of what was asked for.
///
/// # Errors
/// When standard output takes no more.
pub fn say(line: impl Display) -> io::Result<()> {
    writeln!(Out::stdout(), "{line}")
}

/// Prints a line of JSON that was asked for.
///
/// # Errors
/// When standard output takes no more.
pub fn say_json(value: &impl Serialize) -> io::Result<()> {
    Out::stdout().json(value)
}

/// Prints a line on standard error, beside what was asked for. Where nobody reads standard error there is nothing to be done.
pub fn aside(line: impl Display) {
    let _ = writeln!(Out::stderr(), "{line}");
}

/// Prints a line in nebula's own colours on standard error.
pub fn aside_styled(line: &str) {
    let _ = Out::stderr().styled(format!("{line}\n").as_bytes());
}

/// Prints a complaint in one line on standard error.
pub fn complain(what: impl Display) {
    aside(format_args!("nebula: {what}"));
}

/// Asks at the terminal, on standard error; an empty line at the end of input.
///
/// # Errors
/// When the terminal cannot be read.
pub fn read_line(question: &str) -> io::Result<String> {
    let mut err = Out::stderr();
    write!(err, "{question}")?;
    err.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

/// Returns whether a person sits at both ends.
pub fn at_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Returns whether what goes to standard output and to standard error meets in one place: a terminal, a pipe, a file.
pub fn together() -> bool {
    let place = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
    let (out, err) = (rustix::fs::fstat(io::stdout()), rustix::fs::fstat(io::stderr()));
    io::stdout().is_terminal() || out.map(place).is_ok_and(|out| err.map(place) == Ok(out))
}

/// Returns whether a terminal may be given colours.
pub fn coloured() -> bool {
    std::env::var_os("NO_COLOR").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(terminal: bool, print: impl Fn(&mut Out)) -> String {
        let mut bytes = Vec::new();
        print(&mut Out::new(&mut bytes, terminal));
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn text_is_cleaned_everywhere_and_a_document_at_a_terminal() {
        let text = "a\x1b[2J\u{202e}\n";
        for terminal in [false, true] {
            assert_eq!(written(terminal, |out| write!(out, "{text}").expect("written")), "a^[[2J⟨U+202E⟩\n");
        }
        assert_eq!(written(true, |out| out.document(text.as_bytes()).expect("written")), "a^[[2J⟨U+202E⟩\n");
        assert_eq!(written(false, |out| out.document(text.as_bytes()).expect("written")), text);
    }

    #[test]
    fn json_means_what_it_meant() {
        let value = serde_json::json!({"a\u{9b}": "\x1b\u{202e}\u{7f}"});
        let line = written(true, |out| out.json(&value).expect("written"));
        assert_eq!(line, "{\"a\\u009b\":\"\\u001b\\u202e\\u007f\"}\n");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).expect("JSON"), value);
    }
}
