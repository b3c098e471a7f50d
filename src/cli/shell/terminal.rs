//! The person's terminal while a command of theirs runs in a pseudo-terminal: its keys go there as they are typed.

use std::io::{self, IsTerminal, Read};
use std::sync::Arc;

use anyhow::Result;
use tokio::signal::unix::{SignalKind, signal};

use crate::shell::Terminal;

/// The size of one read of what is typed, in bytes.
const PIECE: usize = 4 << 10;
/// The size of a terminal that does not tell its own, in columns and rows.
const USUAL: (u16, u16) = (80, 24);

/// The person's terminal, without echo and line editing until this is dropped.
pub struct PersonTerminal {
    commands: Arc<Terminal>,
}

impl PersonTerminal {
    /// Opens a pseudo-terminal of the same size; none where the command's input and output are no terminal.
    ///
    /// # Errors
    /// When the system has none to give.
    pub fn open() -> io::Result<Option<Self>> {
        let is_here = io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
        if !is_here || cfg!(not(target_os = "linux")) {
            return Ok(None);
        }
        Ok(Some(PersonTerminal { commands: Arc::new(Terminal::open(size())?) }))
    }

    /// Returns the terminal that the command gets.
    pub fn of_command(&self) -> Arc<Terminal> {
        Arc::clone(&self.commands)
    }

    /// Hands keys and sizes on from here on. Whatever reads keys ends with the program.
    ///
    /// # Errors
    /// When the terminal takes no other mode.
    pub fn begin(&self) -> Result<()> {
        crossterm::terminal::enable_raw_mode()?;
        let typed = Arc::clone(&self.commands);
        std::thread::spawn(move || {
            let (mut keys, mut piece) = (io::stdin().lock(), [0; PIECE]);
            while let Ok(read @ 1..) = keys.read(&mut piece) {
                if typed.write_all(&piece[..read]).is_err() {
                    break;
                }
            }
        });
        let (resized, mut changes) = (Arc::clone(&self.commands), signal(SignalKind::window_change())?);
        tokio::spawn(async move {
            while changes.recv().await.is_some() {
                // The next change sets it again.
                let _ = resized.resize(size());
            }
        });
        Ok(())
    }
}

impl Drop for PersonTerminal {
    fn drop(&mut self) {
        // A terminal that is gone needs no mode.
        let _ = crossterm::terminal::disable_raw_mode();
    }
}

fn size() -> (u16, u16) {
    crossterm::terminal::size().ok().filter(|size| size.0 > 0 && size.1 > 0).unwrap_or(USUAL)
}
