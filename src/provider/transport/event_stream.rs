//! Reading an answer as it arrives, whatever its format: patience, limits, and answers that are no stream.

use std::time::Duration;

use reqwest::Response;
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

use super::http::{LARGEST, NEXT_BYTE, Server, read_limited};
use super::lines;
use super::retry::Failure;
use super::sse::{self, Event, TooLong};
use crate::provider::Delta;

/// After the reason for the end, so long for the tokens that are still to be told.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// After the answer, so long for the end of the body, which lets the connection be used again.
const LAST_BYTES: Duration = Duration::from_millis(20);

/// Where the deltas of one request go.
pub(in crate::provider) type Out = Sender<Result<Delta, Failure>>;

/// The content of an event other than deltas.
#[derive(Debug, PartialEq)]
pub(in crate::provider) enum Trouble {
    /// The server reports an error.
    Reported(Value),
    /// It cannot be read; why.
    Unreadable(String),
}

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::provider) enum Progress {
    /// More is to come.
    Open,
    /// The server has said why it ended; counts may follow.
    Ended,
    /// Nothing follows.
    Done,
}

/// How events are set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::provider) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON object a line.
    Lines,
}

/// One answer in one format.
pub(in crate::provider) trait Reader: Send {
    /// Takes an event in and appends what it says to `out`.
    fn take(&mut self, event: &Event, out: &mut Vec<Delta>) -> Result<(), Trouble>;

    /// Takes an answer in that came whole.
    fn take_whole(&mut self, json: &str, out: &mut Vec<Delta>) -> Result<(), Trouble>;

    /// How far it has come.
    fn progress(&self) -> Progress;

    /// Returns the deltas that remain once it has ended.
    fn finish(&mut self, out: &mut Vec<Delta>);
}

enum Parser {
    Events(sse::SseParser),
    Lines(lines::LineParser),
}

impl Parser {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<(), TooLong> {
        match self {
            Parser::Events(parser) => parser.feed(bytes, out),
            Parser::Lines(parser) => parser.feed(bytes, out),
        }
    }

    fn finish(self) -> Option<Event> {
        match self {
            Parser::Events(parser) => parser.finish(),
            Parser::Lines(parser) => parser.finish(),
        }
    }
}

/// Reads `response` to its end.
pub(in crate::provider) async fn read(
    server: &Server,
    mut response: Response,
    framing: Framing,
    mut reader: Box<dyn Reader>,
    model: &str,
    out: &Out,
) -> Result<(), Failure> {
    let mut parser = match framing {
        Framing::Events => Parser::Events(sse::SseParser::default()),
        Framing::Lines => Parser::Lines(lines::LineParser::default()),
    };
    let (mut events, mut deltas) = (Vec::new(), Vec::new());
    let (mut total, mut begun, mut patience) = (0, false, server.patience(false).max(NEXT_BYTE));
    while reader.progress() < Progress::Done {
        let chunk = match timeout(patience, response.chunk()).await {
            Ok(Ok(Some(chunk))) => chunk,
            Ok(Ok(None)) => break,
            // Whatever happens after the server has said why it ended takes nothing from the answer.
            Ok(Err(_)) | Err(_) if reader.progress() >= Progress::Ended => break,
            Ok(Err(why)) => return Err(server.broken(&why)),
            Err(_) => return Err(server.silent()),
        };
        total += chunk.len();
        if total > LARGEST {
            return Err(server.bad_answer("more than any model writes"));
        }
        if !begun && let Some(first) = chunk.iter().find(|byte| !byte.is_ascii_whitespace()) {
            begun = true;
            match first {
                b'{' | b'[' if framing == Framing::Events => {
                    let mut body = chunk.to_vec();
                    body.extend(read_limited(response, LARGEST).await.ok_or_else(|| server.closed())?);
                    let taken = reader.take_whole(&String::from_utf8_lossy(&body), &mut deltas);
                    return end(server, reader, taken, deltas, model, out).await;
                }
                b'<' => return Err(server.bad_answer("a web page")),
                _ => {}
            }
        }
        parser.feed(&chunk, &mut events).map_err(|_| server.bad_answer("a line without an end"))?;
        for event in events.drain(..) {
            let taken = reader.take(&event, &mut deltas);
            send(out, &mut deltas).await;
            taken.map_err(|trouble| failure(server, trouble, model))?;
            if reader.progress() == Progress::Done {
                break;
            }
        }
        patience = if reader.progress() == Progress::Open { NEXT_BYTE } else { LAST_WORDS };
    }
    if reader.progress() == Progress::Done {
        let _ = timeout(LAST_BYTES, async { while let Ok(Some(_)) = response.chunk().await {} }).await;
    } else if let Some(last) = parser.finish() {
        // Only a whole event counts here; a torn one shows in the missing end.
        let _ = reader.take(&last, &mut deltas);
    }
    end(server, reader, Ok(()), deltas, model, out).await
}

async fn end(
    server: &Server,
    mut reader: Box<dyn Reader>,
    taken: Result<(), Trouble>,
    mut deltas: Vec<Delta>,
    model: &str,
    out: &Out,
) -> Result<(), Failure> {
    let ended = reader.progress() >= Progress::Ended;
    if taken.is_ok() && ended {
        reader.finish(&mut deltas);
    }
    send(out, &mut deltas).await;
    taken.map_err(|trouble| failure(server, trouble, model))?;
    if ended { Ok(()) } else { Err(server.closed()) }
}

fn failure(server: &Server, trouble: Trouble, model: &str) -> Failure {
    match trouble {
        Trouble::Reported(error) => server.complaint(&error, model),
        Trouble::Unreadable(why) => server.bad_answer(&format!("an event that cannot be read ({why})")),
    }
}

/// Hands `deltas` on. When nobody receives any more, the work is dropped with the stream: nothing to do here.
async fn send(out: &Out, deltas: &mut Vec<Delta>) {
    for delta in deltas.drain(..) {
        let _ = out.send(Ok(delta)).await;
    }
}
