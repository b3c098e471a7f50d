//! The signals that end a task. A task of their own receives them, even while printing waits for a reader or a
//! terminal.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::exit::TaskExit;

/// The time the turn may take to end after the first signal.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time everything may take to end after a further one.
const LESS: Duration = Duration::from_secs(1);

/// Receives SIGINT, SIGTERM and SIGHUP from now on: calls `interrupt` at each and passes it on. A program that has not
/// ended a while after that is ended here: each file is old or new at any moment, and what was overwritten is archived.
///
/// # Errors
/// When the system hands out no signals.
pub fn listen(interrupt: impl Fn() + Send + 'static) -> io::Result<mpsc::UnboundedReceiver<TaskExit>> {
    let mut by_person = signal(SignalKind::interrupt())?;
    let (mut ask_to_end, mut hang_up) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    let (tell, signals) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut ending: Option<(TaskExit, Instant)> = None;
        loop {
            let end = ending.map(|(_, at)| at);
            let by = tokio::select! {
                _ = by_person.recv() => TaskExit::Interrupted,
                _ = ask_to_end.recv() => TaskExit::Ended,
                _ = hang_up.recv() => TaskExit::HungUp,
                Some(()) = at(end) => break,
            };
            // The signal is known before the turn that it interrupts ends. The receiver is dropped when the program ends
            // already.
            let _ = tell.send(by);
            interrupt();
            ending = Some(match ending {
                None => (by, Instant::now() + PATIENCE),
                Some((first, at)) => (first, at.min(Instant::now() + LESS)),
            });
        }
        if let Some((first, _)) = ending {
            std::process::exit(first as i32);
        }
    });
    Ok(signals)
}

/// Waits until then; none: there is nothing to wait for.
async fn at(end: Option<Instant>) -> Option<()> {
    sleep_until(end?).await;
    Some(())
}
