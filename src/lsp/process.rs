//! A running server: its streams, each read and written by a thread of its own, and its end.

use std::io::{BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::choose::LanguageServer;
use super::fault::{LspFault, one_line, telling};
use super::{frames, stage};

/// Messages that wait to be looked at; a server that sends more is held up.
const WAITING: usize = 64;
/// The end of what a server says on standard error that is kept, in bytes.
const KEPT: usize = 4 << 10;
/// The longest wait for the last words of a server that ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The surroundings of a server.
pub struct ServerStart<'a> {
    /// The program that becomes the server, so that it ends with this process: this program itself. None: the server is
    /// started directly.
    pub stage: Option<&'a Path>,
    /// All variables of its environment.
    pub environment: &'a [(String, String)],
}

/// Something that came from a server.
enum Incoming {
    Message(Value),
    Garbage(String),
}

/// A running server. It is gone, with what it started in its process group, when this is dropped.
pub(super) struct Running {
    child: Child,
    outgoing: Sender<Vec<u8>>,
    incoming: Receiver<Incoming>,
    complaints: Receiver<String>,
}

impl Running {
    pub fn start(server: &LanguageServer, folder: &Path, start: &ServerStart<'_>) -> Result<Running, LspFault> {
        let mut command = match start.stage {
            Some(stage) => stage::command(stage, &server.program),
            None => Command::new(&server.program),
        };
        command.args(&server.arguments).current_dir(folder).process_group(0);
        command.env_clear().envs(start.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| LspFault::NotStarted(error.to_string()))?;
        let (outgoing, to_send) = channel::<Vec<u8>>();
        let (found, incoming) = sync_channel(WAITING);
        let (tell, complaints) = channel();
        // Each thread ends with its stream, which ends with the server.
        if let Some(mut stdin) = child.stdin.take() {
            thread::spawn(move || {
                for bytes in to_send {
                    if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut from = BufReader::new(stdout);
                loop {
                    let (incoming, last) = match frames::read(&mut from) {
                        Ok(Some(message)) => (Incoming::Message(message), false),
                        Ok(None) => return,
                        Err(why) => (Incoming::Garbage(why), true),
                    };
                    if found.send(incoming).is_err() || last {
                        return;
                    }
                }
            });
        }
        if let Some(stderr) = child.stderr.take() {
            thread::spawn(move || {
                // Nobody may be left to hear it.
                let _ = tell.send(last_of(stderr));
            });
        }
        Ok(Running { child, outgoing, incoming, complaints })
    }

    pub fn send(&self, message: &Value) {
        // A server that ended is found out by the next look for its answer.
        let _ = self.outgoing.send(frames::framed(message));
    }

    /// Waits for the next message. None: there was none until then.
    ///
    /// # Errors
    /// When the server ended, or sent what is no message.
    pub fn receive(&self, until: Instant) -> Result<Option<Value>, LspFault> {
        match self.incoming.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Incoming::Message(message)) => Ok(Some(message)),
            Ok(Incoming::Garbage(why)) => Err(LspFault::Garbage(one_line(&why))),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                let said = self.complaints.recv_timeout(LAST_WORDS).unwrap_or_default();
                Err(LspFault::Ended(one_line(telling(&said))))
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // The child was not waited for yet, so the number is still its own.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Reads a stream to its end. Returns the last of it.
fn last_of(mut stderr: ChildStderr) -> String {
    let (mut kept, mut some) = (Vec::new(), [0; 1024]);
    while let Ok(read @ 1..) = stderr.read(&mut some) {
        kept.extend_from_slice(&some[..read]);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }
    String::from_utf8_lossy(&kept).into_owned()
}
