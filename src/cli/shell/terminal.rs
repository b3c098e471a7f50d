//! The person's terminal while a command of theirs runs in a pseudo-terminal: its keys go there as they are typed.

use std::io::{self, Read};
use std::sync::Arc;

use anyhow::Result;
use tokio::signal::unix::{SignalKind, signal};

use super::super::out::{self, Out};
use crate::shell::{RawMode, Terminal, has_keys, person_size};

/// The size of one read of what is typed, in bytes.
const PIECE: usize = 4 << 10;

/// Waits for Ctrl-C, for a signal that tells the program to end, or for its terminal to go away. None of them ends it by
/// itself then: the command is stopped, what it changed is archived, and the terminal is given back.
pub async fn told_to_end() {
    async fn on(kind: SignalKind) {
        match signal(kind) {
            Ok(mut signals) => drop(signals.recv().await),
            Err(_) => std::future::pending().await,
        }
    }
    tokio::select! {
        () = on(SignalKind::interrupt()) => {}
        () = on(SignalKind::terminate()) => {}
        () = on(SignalKind::hangup()) => {}
    }
}

/// Opens a pseudo-terminal of the size of the person's; none where input and output are no terminal, or its keys go to
/// another program.
///
/// # Errors
/// When the system has none to give.
pub fn open() -> io::Result<Option<Arc<Terminal>>> {
    let is_here = out::at_terminal() && Out::stdout().is_terminal() && has_keys();
    let open = || Terminal::open(person_size()).map(Arc::new);
    (is_here && cfg!(target_os = "linux")).then(open).transpose()
}

/// Hands keys and sizes on to a command's terminal from here on, until the mode is dropped; whatever reads keys ends with
/// the program.
///
/// # Errors
/// When the person's terminal takes no other mode.
pub fn follow(terminal: &Arc<Terminal>) -> Result<RawMode> {
    let mode = RawMode::begin()?;
    let typed = Arc::clone(terminal);
    std::thread::spawn(move || {
        let (mut keys, mut piece) = (io::stdin().lock(), [0; PIECE]);
        while let Ok(read @ 1..) = keys.read(&mut piece) {
            if typed.write_all(&piece[..read]).is_err() {
                break;
            }
        }
    });
    let (resized, mut changes) = (Arc::clone(terminal), signal(SignalKind::window_change())?);
    tokio::spawn(async move {
        while changes.recv().await.is_some() {
            // The next change sets it again.
            let _ = resized.resize(person_size());
        }
    });
    Ok(mode)
}
