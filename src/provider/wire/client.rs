//! A server that is spoken to in one wire format.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::{RequestBuilder, Response, Url};
use tokio::time::timeout;
use tokio_util::bytes::Bytes;

use super::format::{Format, Page, Probe, RequestBasis};
use super::learnt::{Learnt, Lesson, Refusal};
use super::outline::outline;
use super::pairs::Paired;
use crate::config::Connection;
use crate::provider::models::{self, Facts, Model, Thinking};
use crate::provider::transport::{
    Again, Attempt, Failure, LARGEST, Out, Server, async_stream, counted_long_prompt, counted_prompt, never, read,
    read_limited, retry, suggest,
};
use crate::provider::{Delta, Deltas, Error, ErrorKind, Origin, Provider, Request, Wire};

/// A server that speaks the format `F`.
pub(in crate::provider) struct Client<F> {
    name: String,
    shared: Arc<Shared<F>>,
}

impl<F> Clone for Client<F> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), shared: Arc::clone(&self.shared) }
    }
}

struct Shared<F> {
    server: Server,
    state: Mutex<ClientState<F>>,
}

struct ClientState<F> {
    format: F,
    learnt: Learnt,
    /// The number of refusals from which something was learnt; a request may be older than the newest of them.
    lessons: usize,
    paired: Paired,
}

/// The time limit for a list of models.
const TO_LIST: Duration = Duration::from_secs(10);
/// The time limit for the names that are suggested in place of an unknown one.
const TO_SUGGEST: Duration = Duration::from_secs(3);
/// The time limit for the facts about one model.
const TO_PROBE: Duration = Duration::from_secs(2);
/// The most pages of a list of models that are asked for.
const PAGES: usize = 20;

impl<F: Format> Client<F> {
    /// Checks `connection`; asks nothing yet.
    pub fn new(connection: &Connection) -> Result<Self, Error> {
        let base_url = versioned(&connection.base_url, F::VERSION, F::VERSIONED);
        let connection = Connection { base_url, ..connection.clone() };
        let server = Server::new(&connection, F::WIRE, F::auth(&connection))?;
        let state = ClientState {
            format: F::new(&connection),
            learnt: Learnt::default(),
            lessons: 0,
            paired: Paired::default(),
        };
        Ok(Self { name: connection.provider, shared: Arc::new(Shared { server, state: Mutex::new(state) }) })
    }
}

impl<F: Format> Provider for Client<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn place(&self) -> String {
        self.shared.server.host.clone()
    }

    fn address(&self) -> String {
        self.shared.server.address()
    }

    fn local(&self) -> bool {
        self.shared.server.is_loopback()
    }

    fn origin(&self, model: &str) -> Origin {
        Origin { wire: F::WIRE, place: self.shared.server.place(), model: model.into() }
    }

    fn stream(&self, mut request: Request) -> Deltas {
        let shared = Arc::clone(&self.shared);
        let (skip_backoff, new_files) = (request.skip_backoff.clone(), request.new_files);
        if let Some(messages) = shared.state().paired.complete(&request.messages) {
            request.messages = messages;
        }
        // What is known elsewhere counts before the table.
        request.facts = std::mem::take(&mut request.facts).or(models::by_name(&request.model));
        let request = Arc::new(request);
        retry(skip_backoff, new_files, move || attempt(Arc::clone(&shared), Arc::clone(&request)))
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>> {
        let shared = Arc::clone(&self.shared);
        async move { shared.list().await.map_err(|failure| failure.error) }.boxed()
    }

    fn probe(&self, model: &str) -> BoxFuture<'static, Facts> {
        let (shared, model) = (Arc::clone(&self.shared), model.to_string());
        async move { shared.probe_all(&model, Facts::default()).await }.boxed()
    }

    fn describe(&self, model: &str) -> BoxFuture<'static, Facts> {
        let (shared, model) = (Arc::clone(&self.shared), model.to_string());
        async move { shared.describe(&model).await }.boxed()
    }
}

/// Adds the shape of its request to a failure, on a thread that may block: a request may hold megabytes.
async fn outlined(wire: Wire, address: Url, body: Bytes, mut failure: Failure) -> Failure {
    let error = failure.error.clone();
    let made = tokio::task::spawn_blocking(move || outline(wire, &address, &body, &error)).await;
    failure.error.outline = made.ok().map(Into::into);
    failure
}

/// Returns one request and its answer.
fn attempt<F: Format>(shared: Arc<Shared<F>>, request: Arc<Request>) -> Attempt {
    async_stream(move |out| async move {
        if let Err(failure) = shared.ask(&request, &out).await {
            let _ = out.send(Err(failure)).await;
        }
    })
}

impl<F: Format> Shared<F> {
    async fn ask(&self, request: &Request, out: &Out) -> Result<(), Failure> {
        let shaped = self.state().learnt.roles(&request.model).shaped(request);
        let request = shaped.as_ref().unwrap_or(request);
        let place = self.server.place();
        let thinks = request.facts.thinking.is_some_and(|thinking| thinking != Thinking::None);
        let (address, body, lessons, most) = {
            // The lock is held while what is new is written; nothing can panic under it.
            let ClientState { format, learnt, lessons, .. } = &mut *self.state();
            let most = F::most(request, learnt);
            let basis = RequestBasis { place: &place, host: &self.server.host, learnt, most };
            (format.address(&self.server, request), format.body(request, &basis), *lessons, most)
        };
        let sent = self.server.client().map_err(never)?.post(address.clone());
        let sent = sent.header(CONTENT_TYPE, "application/json").header(ACCEPT, "text/event-stream");
        let key = self.server.know_key().await?;
        let response = self.send(sent.body(body.clone()), self.server.patience(thinks)).await?;
        if response.status().is_success() {
            self.server.accepted(key.as_ref());
            let (reader, request_id) = (F::reader(request), self.server.request_id(response.headers()));
            let Err(mut failure) = read(&self.server, response, F::FRAMING, reader, &request.model, out).await else {
                return Ok(());
            };
            failure.error.request_id = failure.error.request_id.or(request_id);
            return Err(outlined(F::WIRE, address, body, failure).await);
        }
        let failure = self.server.refused(response, &request.model).await;
        let mut failure = outlined(F::WIRE, address, body, failure).await;
        if failure.error.kind == ErrorKind::NoModel
            && let Ok(Ok(offered)) = timeout(TO_SUGGEST, self.list()).await
        {
            suggest(&mut failure.error, &request.model, &offered);
        }
        if let (ErrorKind::ContextTooLong, Some(said)) = (failure.error.kind, &mut failure.error.said) {
            said.prompt = most.and_then(|most| counted_prompt(&said.words, most));
            said.long_prompt = counted_long_prompt(&said.words, most.unwrap_or_default());
        }
        // An item that was sealed, and that the server keeps no longer, is told of as one that is not found.
        let is_of_seal = || {
            let says = failure.error.hint.to_lowercase();
            failure.error.kind == ErrorKind::NotFound && F::SEALS.iter().any(|word| says.contains(word))
        };
        if failure.error.kind == ErrorKind::BadRequest || is_of_seal() {
            match self.learn(request, &place, &failure.error.hint, lessons) {
                Some(Lesson::Notice(reported)) => {
                    failure.again = Again::Now;
                    let _ = out.send(Ok(Delta::Notice(reported))).await;
                }
                Some(Lesson::Quiet) => failure.again = Again::Now,
                None => {}
            }
        } else if failure.error.status == Some(401) && self.server.renew_key(key).await? {
            failure.again = Again::Now;
        }
        Err(failure)
    }

    async fn send(&self, mut request: RequestBuilder, patience: Duration) -> Result<Response, Failure> {
        for (name, value) in F::headers() {
            request = request.header(*name, *value);
        }
        let sent = self.server.authorized(request).await?.send();
        let response = timeout(patience, sent).await.map_err(|_| self.server.silent())?;
        let response = response.map_err(|why| self.server.broken(&why))?;
        // Nobody asked for it; a proxy compresses so.
        let encoding = response.headers().get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
        match encoding.filter(|encoding| !matches!(*encoding, "" | "identity")) {
            Some(encoding) if response.status().is_success() => {
                Err(self.server.bad_answer(&format!("a compressed body (content-encoding: {encoding})")))
            }
            _ => Ok(response),
        }
    }

    /// Learns from a refusal, so that one more request has a chance; `known`: how many lessons the refused one was
    /// written after. Where another request has taught something since, the next one differs by that.
    fn learn(&self, request: &Request, place: &str, says: &str, known: usize) -> Option<Lesson> {
        let ClientState { format, learnt, lessons, .. } = &mut *self.state();
        if *lessons != known {
            return Some(Lesson::Quiet);
        }
        let (host, most) = (self.server.host.as_str(), F::most(request, learnt));
        let own = format.learn(request, &RequestBasis { place, host, learnt, most }, says);
        let lesson = own.or_else(|| {
            let (most, wire) = (most.unwrap_or(u32::MAX), F::WIRE);
            learnt.learn(request, &Refusal { wire, place, host, says, most, seals: F::SEALS, thinks: F::THINKS })
        });
        *lessons += usize::from(lesson.is_some());
        lesson
    }

    /// Returns the models on offer, page by page. A server that never ends its list is believed so far.
    async fn list(&self) -> Result<Vec<Model>, Failure> {
        let mut models: Vec<Model> = Vec::new();
        let mut page: Option<String> = None;
        for _ in 0..PAGES {
            let request = self.server.client().map_err(never)?.get(F::list(&self.server, page.as_deref()));
            let mut response = self.send(request, TO_LIST).await?;
            if !response.status().is_success() {
                return Err(self.server.refused(response, "").await);
            }
            let body = read_limited(&mut response, LARGEST).await.ok_or_else(|| self.server.closed())?;
            let no_list = |_| self.server.bad_answer("something that is no list of models");
            let Page { models: more, next } = F::page(&serde_json::from_slice(&body).map_err(no_list)?);
            models.extend(more);
            match next.filter(|next| page.as_ref() != Some(next)) {
                Some(next) => page = Some(next),
                None => break,
            }
        }
        models.sort_by(|a, b| a.name.cmp(&b.name));
        models.dedup_by(|a, b| a.name == b.name);
        Ok(models)
    }

    /// Returns what the list says of a model, and, where that is not its window, what the server answers when it is
    /// asked. One that cannot be asked says nothing.
    async fn describe(&self, model: &str) -> Facts {
        let listed = self.list().await.unwrap_or_default();
        let same = |m: &Model| m.name == model || m.name.strip_suffix(":latest") == Some(model);
        self.probe_all(model, listed.into_iter().find(same).map(|m| m.facts).unwrap_or_default()).await
    }

    /// Asks for more than `facts` about a model, until its window is known.
    async fn probe_all(&self, model: &str, mut facts: Facts) -> Facts {
        for probe in F::probes(&self.server, model) {
            if facts.window.is_some() {
                break;
            }
            if let Some(reported) = self.probe(&probe).await {
                facts = facts.or((probe.read)(&reported));
            }
        }
        facts
    }

    async fn probe(&self, probe: &Probe) -> Option<serde_json::Value> {
        let client = self.server.client().ok()?;
        let request = match &probe.body {
            Some(body) => {
                client.post(probe.url.clone()).header(CONTENT_TYPE, "application/json").body(body.to_string())
            }
            None => client.get(probe.url.clone()),
        };
        let mut response = self.send(request, TO_PROBE).await.ok().filter(|response| response.status().is_success())?;
        serde_json::from_slice(&read_limited(&mut response, LARGEST).await?).ok()
    }

    /// Takes the lock; nothing panics while it is held.
    fn state(&self) -> MutexGuard<'_, ClientState<F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The versions that an address ends in, of whichever format.
const VERSIONS: [&str; 2] = ["/v1beta", "/v1"];

/// Paths of requests: a person copies them with the address.
const REQUESTS: [&str; 5] = ["/chat/completions", "/responses", "/messages", "/api/chat", "/completions"];

/// Returns the address under which the paths of a format stand, with or without a version at its end: for formats that
/// put the version in every path it is taken off, for others it is added where the address names nothing but a host.
fn versioned(base: &str, version: &str, in_paths: bool) -> String {
    let plain = base.trim_end_matches('/');
    let plain = REQUESTS.iter().find_map(|path| plain.strip_suffix(path)).unwrap_or(plain);
    if in_paths {
        let bare = [version].iter().chain(&VERSIONS).find_map(|version| plain.strip_suffix(version));
        return bare.unwrap_or(plain).to_string();
    }
    let bare = plain.split_once("://").is_some_and(|(_, rest)| !rest.contains(['/', '?']));
    if bare { format!("{plain}{version}") } else { plain.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::chat::Chat;
    use super::*;
    use crate::provider::models::{Effort, Facts};

    #[tokio::test]
    async fn a_refusal_of_what_was_learnt_meanwhile_is_answered_by_another_request() {
        let connection = Connection {
            provider: "openai".into(),
            base_url: "http://127.0.0.1:9".into(),
            custom_url: true,
            wire: "chat".into(),
            ..Connection::default()
        };
        let client = Client::<Chat>::new(&connection).expect("a client");
        let facts = Facts { thinking: Some(Thinking::Effort), ..Facts::default() };
        let request = Request { model: "m".into(), effort: Some(Effort::High), facts, ..Request::default() };
        let learn = |known| client.shared.learn(&request, "", "unknown field reasoning_effort", known);
        assert!(learn(0).is_some(), "the first of two requests that were sent side by side");
        assert!(matches!(learn(0), Some(Lesson::Quiet)), "the second, which was written before");
        assert!(learn(1).is_none(), "what the newest request did not hold teaches nothing");
    }

    #[test]
    fn addresses_with_and_without_their_version() {
        for (base, version, in_paths, wanted) in [
            ("https://api.anthropic.com", "/v1", true, "https://api.anthropic.com"),
            ("https://api.anthropic.com/v1/", "/v1", true, "https://api.anthropic.com"),
            ("https://g.example", "/v1beta", true, "https://g.example"),
            ("https://g.example/v1beta/", "/v1beta", true, "https://g.example"),
            ("https://g.example/v1", "/v1beta", true, "https://g.example"),
            ("http://127.0.0.1:11434/v1", "/api", true, "http://127.0.0.1:11434"),
            ("http://127.0.0.1:8080", "/v1", false, "http://127.0.0.1:8080/v1"),
            ("http://127.0.0.1:8080/v1", "/v1", false, "http://127.0.0.1:8080/v1"),
            ("https://openrouter.ai/api/v1", "/v1", false, "https://openrouter.ai/api/v1"),
            ("https://openrouter.ai/api/v1/chat/completions", "/v1", false, "https://openrouter.ai/api/v1"),
            ("https://api.anthropic.com/v1/messages/", "/v1", true, "https://api.anthropic.com"),
            ("http://127.0.0.1:11434/api/chat", "/api", true, "http://127.0.0.1:11434"),
        ] {
            assert_eq!(versioned(base, version, in_paths), wanted);
        }
    }
}
