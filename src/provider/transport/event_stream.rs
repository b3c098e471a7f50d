//! Reading an answer as it arrives, whatever its format: patience, limits, and answers that are no stream.

use std::borrow::Cow;
use std::time::Duration;

use reqwest::Response;
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio::time::error::Elapsed;
use tokio::time::timeout;
use tokio_util::bytes::Bytes;

use super::halves::Halves;
use super::http::{LARGEST, NEXT_BYTE, Server, read_limited};
use super::lines;
use super::pace::{Pace, soon};
use super::retry::Failure;
use super::sse::{self, Event, TooLong};
use crate::provider::Delta;

/// After the reason for the end, so long for the tokens that are still to be told.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// After the answer, so long for the end of the body, which lets the connection be used again.
const LAST_BYTES: Duration = Duration::from_millis(20);

/// The most bytes of an answer that are handed on together.
const LARGEST_BATCH: usize = 64 << 10;

/// The channel for the deltas of one request.
pub(in crate::provider) type Out = Sender<Result<Delta, Failure>>;

/// The content of an event other than deltas.
#[derive(Debug, PartialEq)]
pub(in crate::provider) enum Trouble {
    /// The server reports an error.
    Reported(Value),
    /// It cannot be read; why.
    Unreadable(String),
}

/// The progress of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::provider) enum Progress {
    /// The stream goes on.
    Open,
    /// The server has said why it ended; counts may follow.
    Ended,
    /// Nothing follows.
    Done,
}

/// The framing of events.
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

    /// Returns why an answer of which nothing could be read is none; `None`: something was read, or nothing came.
    fn unread(&self) -> Option<String> {
        None
    }

    /// Returns how far it has come.
    fn progress(&self) -> Progress;

    /// Appends the deltas that remain once it has ended.
    fn finish(&mut self, out: &mut Vec<Delta>);
}

enum Parser {
    Events(sse::SseParser),
    Lines(lines::LineParser),
}

impl Parser {
    fn new(framing: Framing) -> Self {
        match framing {
            Framing::Events => Parser::Events(sse::SseParser::default()),
            Framing::Lines => Parser::Lines(lines::LineParser::default()),
        }
    }

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
    response: Response,
    framing: Framing,
    mut reader: Box<dyn Reader>,
    model: &str,
    out: &Out,
) -> Result<(), Failure> {
    let mut body =
        AnswerBody { server, response, out, pace: Pace::default(), deltas: Vec::new(), total: 0, handed_on: 0 };
    let taken = take_in(&mut body, framing, &mut *reader).await;
    let unread = reader.unread().map(|why| StreamEnd::By(Trouble::Unreadable(why)));
    let taken = taken.and_then(|()| unread.map_or(Ok(()), Err));
    let ended = reader.progress() >= Progress::Ended;
    if taken.is_ok() && ended {
        reader.finish(&mut body.deltas);
    }
    body.hand_on().await;
    match taken {
        Ok(()) if ended => Ok(()),
        Ok(()) => Err(server.closed()),
        Err(StreamEnd::Failed(failure)) => Err(failure),
        Err(StreamEnd::By(trouble)) => Err(failure(server, trouble, model)),
    }
}

/// The reason why an answer is read no further.
enum StreamEnd {
    By(Trouble),
    Failed(Failure),
}

impl From<Failure> for StreamEnd {
    fn from(failure: Failure) -> Self {
        StreamEnd::Failed(failure)
    }
}

impl From<Trouble> for StreamEnd {
    fn from(trouble: Trouble) -> Self {
        StreamEnd::By(trouble)
    }
}

/// Takes the body in as it arrives.
async fn take_in(body: &mut AnswerBody<'_>, framing: Framing, reader: &mut dyn Reader) -> Result<(), StreamEnd> {
    let server = body.server;
    let (mut parser, mut events, mut begun) = (Parser::new(framing), Vec::<Event>::new(), false);
    let mut halves = Halves::default();
    let mut patience = server.patience(false).max(NEXT_BYTE);
    while reader.progress() < Progress::Done {
        let chunk = match body.next(patience).await {
            Ok(Ok(Some(chunk))) => chunk,
            Ok(Ok(None)) => break,
            // Whatever happens after the server has said why it ended takes nothing from the answer.
            Ok(Err(_)) | Err(_) if reader.progress() >= Progress::Ended => break,
            Ok(Err(why)) => return Err(server.broken(&why).into()),
            Err(_) => return Err(server.silent().into()),
        };
        body.total += chunk.len();
        if body.total > LARGEST {
            return Err(server.bad_answer("more than any model writes").into());
        }
        if !begun && let Some(first) = chunk.iter().find(|byte| !byte.is_ascii_whitespace()) {
            begun = true;
            match first {
                b'{' | b'[' if framing == Framing::Events => {
                    let whole = body.rest(&chunk).await?;
                    return Ok(reader.take_whole(&halves.join(&String::from_utf8_lossy(&whole)), &mut body.deltas)?);
                }
                b'<' => return Err(server.bad_answer("a web page").into()),
                _ => {}
            }
        }
        parser.feed(&chunk, &mut events).map_err(|_| server.bad_answer("a line without an end"))?;
        for mut event in events.drain(..) {
            if let Cow::Owned(whole) = halves.join(&event.data) {
                event.data = whole;
            }
            reader.take(&event, &mut body.deltas)?;
            if reader.progress() == Progress::Done {
                break;
            }
        }
        patience = if reader.progress() == Progress::Open { NEXT_BYTE } else { LAST_WORDS };
    }
    if reader.progress() == Progress::Done {
        body.hand_on().await;
        let _ = timeout(LAST_BYTES, async { while let Ok(Some(_)) = body.response.chunk().await {} }).await;
    } else if let Some(last) = parser.finish() {
        // Only a whole event counts here; a torn one shows in the missing end.
        let _ = reader.take(&last, &mut body.deltas);
    }
    Ok(())
}

/// The body of an answer, and the deltas of it that are not handed on yet: those of all that is there at once are
/// handed on together.
struct AnswerBody<'a> {
    server: &'a Server,
    response: Response,
    out: &'a Out,
    pace: Pace,
    deltas: Vec<Delta>,
    /// Bytes so far, and those whose deltas are handed on.
    total: usize,
    handed_on: usize,
}

impl AnswerBody<'_> {
    /// Waits for the next bytes.
    async fn next(&mut self, patience: Duration) -> Result<reqwest::Result<Option<Bytes>>, Elapsed> {
        if self.total - self.handed_on < LARGEST_BATCH {
            if let Some(next) = soon(self.response.chunk()).await {
                return Ok(next);
            }
            self.hand_on().await;
            self.pace.rest().await;
        } else {
            self.hand_on().await;
        }
        timeout(patience, self.response.chunk()).await
    }

    /// Returns the whole body, which begins with `first`.
    async fn rest(&mut self, first: &[u8]) -> Result<Vec<u8>, Failure> {
        let mut whole = first.to_vec();
        whole.extend(read_limited(&mut self.response, LARGEST).await.ok_or_else(|| self.server.closed())?);
        Ok(whole)
    }

    /// Hands the deltas on, joined where they only go on with each other. When nobody receives any more, the work is
    /// dropped with the stream: nothing to do here.
    async fn hand_on(&mut self) {
        self.handed_on = self.total;
        let mut deltas = self.deltas.drain(..);
        let Some(mut delta) = deltas.next() else { return };
        for next in deltas {
            if let Err(next) = delta.join(next) {
                let _ = self.out.send(Ok(std::mem::replace(&mut delta, next))).await;
            }
        }
        let _ = self.out.send(Ok(delta)).await;
    }
}

fn failure(server: &Server, trouble: Trouble, model: &str) -> Failure {
    match trouble {
        Trouble::Reported(error) => server.complaint(&error, model),
        Trouble::Unreadable(why) => server.bad_answer(&format!("an event that cannot be read ({why})")),
    }
}
