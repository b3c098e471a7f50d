//! Serves a toolbox over stdin and stdout until stdin ends.
//!
//! The toolbox lives on a thread of its own: it may block on disks and locks, and need not be safe to share. The
//! protocol runs on another, so that a client is answered while a call takes its time.

use std::io::{self, BufReader, Write};
use std::sync::mpsc;

use rmcp::ServiceExt;
use tokio_util::sync::CancellationToken;

use super::handler::{Handler, Offer, Request};
use super::lines::Lines;
use super::toolbox::Toolbox;

/// Exit code where the protocol itself failed.
const BROKEN: u8 = 7;

/// Serves what `open` makes. Returns the exit code: that of `open` where it fails, which is told on stderr.
pub fn serve(open: impl FnOnce() -> Result<Box<dyn Toolbox>, (String, u8)> + Send + 'static) -> u8 {
    let (ready, opened) = mpsc::channel();
    let (sender, requests) = mpsc::channel();
    let worker = std::thread::spawn(move || work(open, &ready, &requests));
    let code = match opened.recv() {
        Ok(Ok(offer)) => converse(offer, sender),
        Ok(Err((message, code))) => {
            drop(sender);
            tell(&format!("Error: {message}"));
            code
        }
        Err(_) => BROKEN,
    };
    // The handler and its sender are gone, so the worker ends when it has closed its toolbox.
    if worker.join().is_err() { BROKEN } else { code }
}

/// Prints a line on stderr; a failure is ignored. Whoever does not read it is no concern.
fn tell(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Opens the toolbox and answers requests until there are no more.
fn work(
    open: impl FnOnce() -> Result<Box<dyn Toolbox>, (String, u8)>,
    ready: &mpsc::Sender<Result<Offer, (String, u8)>>,
    requests: &mpsc::Receiver<Request>,
) {
    let mut toolbox = match open() {
        Ok(toolbox) => toolbox,
        Err(failed) => {
            let _ = ready.send(Err(failed));
            return;
        }
    };
    let _ = ready.send(Ok(Offer::of(toolbox.as_ref())));
    for request in requests {
        match request {
            // Whoever cancelled a request does not wait for its answer: one that has not begun is not begun.
            Request::Call { reply, .. } | Request::Answered { reply, .. } if reply.is_closed() => {}
            Request::Resources { reply, .. } if reply.is_closed() => {}
            Request::Call { name, arguments, client, reply } => {
                let _ = reply.send(toolbox.call(&name, arguments, &client));
            }
            Request::Answered { ticket, yes, reply } => {
                let _ = reply.send(toolbox.answered(&ticket, yes));
            }
            Request::Resources { cursor, reply } => {
                let _ = reply.send(toolbox.resources(cursor.as_deref()));
            }
            Request::Read { address, reply } => {
                let _ = reply.send(toolbox.read(&address));
            }
        }
    }
    toolbox.close();
}

/// Serves the client until it disconnects.
fn converse(offer: Offer, toolbox: mpsc::Sender<Request>) -> u8 {
    // A thread of its own, so that it may be called from within a runtime.
    let talk = std::thread::spawn(move || {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                tell(&format!("Error: cannot start the server: {error}"));
                return BROKEN;
            }
        };
        let gone = CancellationToken::new();
        let (lines, writer) = Lines::over(BufReader::new(io::stdin()), io::stdout(), gone.clone());
        let handler = Handler::new(offer, toolbox, gone);
        let code = runtime.block_on(async {
            let served = match handler.serve(lines).await {
                Ok(served) => served,
                // A client that disconnects before its first message is ignored.
                Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return 0,
                Err(error) => {
                    tell(&format!("Error: the client did not begin as the protocol says: {error}"));
                    return 2;
                }
            };
            match served.waiting().await {
                Ok(_) => 0,
                Err(_) => BROKEN,
            }
        });
        drop(runtime);
        writer.finish();
        code
    });
    talk.join().unwrap_or(BROKEN)
}
