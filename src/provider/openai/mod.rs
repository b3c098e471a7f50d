//! Chat Completions: OpenAI's first wire format, which nearly every other server speaks too.

mod reader;
mod reasoning;
mod request;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use tokio::time::timeout;

use self::reader::{Reader, Trouble};
use self::request::{Cache, Dialect, SentReasoning, carries_reasoning};
use super::async_stream::{Sender, async_stream};
use super::http::{FIRST_BYTE, LARGEST, NEXT_BYTE, Server, read_limited};
use super::retry::{Again, Attempt, Failure, retry};
use super::{Delta, Deltas, Error, Kind, Origin, Provider, Request, Wire, sse};
use crate::config::Connection;

/// A server that speaks Chat Completions.
pub struct OpenAi {
    name: String,
    shared: Arc<Shared>,
}

struct Shared {
    server: Server,
    cache: Mutex<Cache>,
    /// The server has refused `stream_options` once.
    no_usage: AtomicBool,
    /// What the server's refusals taught about the reasoning of earlier answers.
    reasoning: Mutex<SentReasoning>,
}

/// After the reason for the end, so long for the tokens that are still to be told.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// After `[DONE]`, so long for the end of the body, which lets the connection be used again.
const LAST_BYTES: Duration = Duration::from_millis(20);

impl OpenAi {
    /// Checks `connection`; asks nothing yet.
    pub fn new(connection: &Connection) -> Result<Self, Error> {
        let shared = Shared {
            server: Server::new(connection)?,
            cache: Mutex::default(),
            no_usage: AtomicBool::new(false),
            reasoning: Mutex::default(),
        };
        Ok(Self { name: connection.provider.clone(), shared: Arc::new(shared) })
    }
}

impl Provider for OpenAi {
    fn name(&self) -> &str {
        &self.name
    }

    fn place(&self) -> String {
        self.shared.server.host.clone()
    }

    fn origin(&self, model: &str) -> Origin {
        Origin { wire: Wire::Chat, place: self.shared.server.place(), model: model.into() }
    }

    fn stream(&self, request: Request) -> Deltas {
        let shared = Arc::clone(&self.shared);
        let skip_backoff = request.skip_backoff.clone();
        let request = Arc::new(request);
        retry(skip_backoff, move || attempt(Arc::clone(&shared), Arc::clone(&request)))
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, Error>> {
        let shared = Arc::clone(&self.shared);
        async move { models(&shared.server).await.map_err(|failure| failure.error) }.boxed()
    }
}

/// One request and its answer.
fn attempt(shared: Arc<Shared>, request: Arc<Request>) -> Attempt {
    async_stream(move |out| async move {
        if let Err(failure) = shared.ask(&request, &out).await {
            let _ = out.send(Err(failure)).await;
        }
    })
}

/// Where the deltas of one request go.
type Out = Sender<Result<Delta, Failure>>;

impl Shared {
    async fn ask(&self, request: &Request, out: &Out) -> Result<(), Failure> {
        let client = self.server.client().map_err(never)?;
        let dialect = Dialect {
            usage: !self.no_usage.load(Ordering::Relaxed),
            completion_tokens: self.server.host == "api.openai.com",
            reasoning: *self.reasoning.lock().unwrap_or_else(PoisonError::into_inner),
        };
        let place = self.server.place();
        // The lock is held while what is new is written; nothing can panic under it.
        let body = self.cache.lock().unwrap_or_else(PoisonError::into_inner).body(request, dialect, &place);
        let sent = client
            .post(self.server.url("chat/completions"))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream")
            .body(body)
            .send();
        let response = timeout(FIRST_BYTE, sent).await.map_err(|_| self.server.silent())?;
        let response = response.map_err(|why| self.server.broken(&why))?;
        if !response.status().is_success() {
            let failure = self.server.refused(response, &request.model).await;
            return Err(self.learn(failure, dialect, request));
        }
        self.read(response, request, out).await
    }

    /// A server that does not know a field, or misses one, is asked again as it wants it.
    fn learn(&self, mut failure: Failure, dialect: Dialect, request: &Request) -> Failure {
        let names = |what: &str| failure.error.hint.contains(what);
        if dialect.usage && names("stream_options") {
            self.no_usage.store(true, Ordering::Relaxed);
            failure.again = Again::Now;
        } else if failure.error.kind == Kind::BadRequest
            && dialect.reasoning == SentReasoning::AsItCame
            && names("reasoning")
        {
            let carried = carries_reasoning(request, dialect, &self.server.place());
            let learnt = if carried { SentReasoning::Nowhere } else { SentReasoning::Everywhere };
            *self.reasoning.lock().unwrap_or_else(PoisonError::into_inner) = learnt;
            failure.again = Again::Now;
        }
        failure
    }

    /// Reads an answer: a stream of events, or a whole one.
    async fn read(&self, mut response: Response, request: &Request, out: &Out) -> Result<(), Failure> {
        let mut reader = Reader::new(request.messages.len());
        let mut parser = sse::Parser::default();
        let (mut events, mut deltas) = (Vec::new(), Vec::new());
        let (mut total, mut begun, mut patience) = (0, false, FIRST_BYTE);
        let done = 'answer: loop {
            let chunk = match timeout(patience, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break false,
                // Whatever happens after the server has said why it ended takes nothing from the answer.
                Ok(Err(_)) | Err(_) if reader.ended() => break true,
                Ok(Err(why)) => return Err(self.server.broken(&why)),
                Err(_) => return Err(self.server.silent()),
            };
            total += chunk.len();
            if total > LARGEST {
                return Err(self.server.bad_answer("more than any model writes"));
            }
            if !begun && let Some(first) = chunk.iter().find(|byte| !byte.is_ascii_whitespace()) {
                begun = true;
                match first {
                    b'{' | b'[' => return self.read_whole(chunk.to_vec(), response, reader, request, out).await,
                    b'<' => return Err(self.server.bad_answer("a web page")),
                    _ => {}
                }
            }
            parser.feed(&chunk, &mut events).map_err(|_| self.server.bad_answer("a line without an end"))?;
            for event in events.drain(..) {
                if event.data.trim() == "[DONE]" {
                    break 'answer true;
                }
                let taken = self.take(&mut reader, &event, &mut deltas, request);
                send(out, &mut deltas).await;
                taken?;
            }
            patience = if reader.ended() { LAST_WORDS } else { NEXT_BYTE };
        };
        if !done && let Some(last) = parser.finish().filter(|event| event.data.trim() != "[DONE]") {
            // Only a whole chunk counts here; a torn one shows in the missing reason for the end.
            let _ = reader.take(&last.data, &mut deltas);
        }
        send(out, &mut deltas).await;
        if !done && !reader.ended() {
            return Err(self.server.closed());
        }
        if done {
            let _ = timeout(LAST_BYTES, async { while let Ok(Some(_)) = response.chunk().await {} }).await;
        }
        reader.finish(&mut deltas);
        send(out, &mut deltas).await;
        Ok(())
    }

    fn take(
        &self,
        reader: &mut Reader,
        event: &sse::Event,
        deltas: &mut Vec<Delta>,
        request: &Request,
    ) -> Result<(), Failure> {
        // Some servers send events of their own names, such as `ping`, beside the answer.
        let ours = matches!(event.name.as_str(), "" | "message" | "error" | "completion" | "chunk");
        match reader.take(&event.data, deltas) {
            Ok(()) => Ok(()),
            Err(Trouble::Told(error)) => Err(self.server.complaint(&error, &request.model)),
            Err(_) if event.name == "error" => {
                let told = serde_json::from_str(&event.data).unwrap_or_else(|_| event.data.as_str().into());
                Err(self.server.complaint(&told, &request.model))
            }
            Err(Trouble::NotOurs(_)) if !ours || event.data.trim().is_empty() => Ok(()),
            Err(Trouble::NotOurs(why)) => Err(self.server.bad_answer(&format!("a chunk that cannot be read ({why})"))),
        }
    }

    /// A server that does not stream answers with one object.
    async fn read_whole(
        &self,
        mut body: Vec<u8>,
        response: Response,
        mut reader: Reader,
        request: &Request,
        out: &Out,
    ) -> Result<(), Failure> {
        body.extend(read_limited(response, LARGEST).await.ok_or_else(|| self.server.closed())?);
        let event = sse::Event { name: String::new(), data: String::from_utf8_lossy(&body).into_owned() };
        let mut deltas = Vec::new();
        self.take(&mut reader, &event, &mut deltas, request)?;
        reader.finish(&mut deltas);
        send(out, &mut deltas).await;
        Ok(())
    }
}

/// Hands `deltas` on. When nobody receives any more, the work is dropped with the stream: nothing to do here.
async fn send(out: &Out, deltas: &mut Vec<Delta>) {
    for delta in deltas.drain(..) {
        let _ = out.send(Ok(delta)).await;
    }
}

fn never(error: Error) -> Failure {
    Failure { error, again: Again::Never }
}

/// Asks a server for its models.
async fn models(server: &Server) -> Result<Vec<String>, Failure> {
    let patience = Duration::from_secs(10);
    let sent = server.client().map_err(never)?.get(server.url("models")).send();
    let response = timeout(patience, sent).await.map_err(|_| server.silent())?;
    let response = response.map_err(|why| server.broken(&why))?;
    if !response.status().is_success() {
        return Err(server.refused(response, "").await);
    }
    let body = read_limited(response, LARGEST).await.ok_or_else(|| server.closed())?;
    let list: serde_json::Value =
        serde_json::from_slice(&body).map_err(|_| server.bad_answer("something that is no list of models"))?;
    let entries = list.get("data").or_else(|| list.get("models")).unwrap_or(&list).as_array().into_iter().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.get("id").or_else(|| entry.get("name")).unwrap_or(entry).as_str())
        .map(|name| name.strip_prefix("models/").unwrap_or(name).to_string())
        .collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}
