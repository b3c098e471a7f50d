//! Model servers on this computer: found on the ports where they usually listen.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::connect::connect;
use super::models::Model;
use super::{Error, ErrorKind, Provider, Wire};
use crate::config::Connection;
use crate::messages::provider as say;

/// The one that speaks a wire format of its own.
const OLLAMA: &str = "Ollama";

/// The usual ports, and who listens there.
pub const PORTS: [(u16, &str); 4] = [(11434, OLLAMA), (8080, "llama.cpp"), (1234, "LM Studio"), (8000, "vLLM")];

/// A server that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// The program that usually listens there.
    pub name: String,
    /// Its base URL.
    pub url: String,
    /// Its models that may write text, sorted.
    pub models: Vec<String>,
}

impl LocalServer {
    /// Returns how to reach it.
    pub fn connection(&self) -> Connection {
        connection(&self.url, &self.name)
    }
}

/// Returns, of the servers that are there, the one that has the `usual` model, else the first that has one, and the
/// model to begin with.
pub fn choose(servers: Vec<LocalServer>, usual: &str) -> Option<(LocalServer, String)> {
    let at = servers.iter().position(|server| named(&server.models, usual).is_some());
    let at = at.or_else(|| servers.iter().position(|server| !server.models.is_empty()))?;
    let server = servers.into_iter().nth(at)?;
    let model = begin_with(&server.models, usual)?.clone();
    Some((server, model))
}

/// Returns the first of the servers that runs models on demand and has none to write with.
pub fn without_model(servers: &[LocalServer]) -> Option<Error> {
    let empty = servers.iter().find(|server| server.name == OLLAMA && server.models.is_empty())?;
    let provider = connect(&empty.connection()).ok()?;
    lacks_models(&*provider, &empty.models)
}

/// Returns the error for a server that lists its models where none of them is among the `writers` of text; `None`: there
/// is one, or the server's format has models that no list needs to name.
pub fn lacks_models(provider: &dyn Provider, writers: &[String]) -> Option<Error> {
    let (message, hint) = match provider.origin("").wire {
        _ if !writers.is_empty() => return None,
        Wire::Ollama => (say::has_no_model(&OLLAMA, &provider.place()), say::pull_one()),
        Wire::Chat => (say::lists_no_model(&provider.place()), say::name_model()),
        _ => return None,
    };
    Some(Error::new(ErrorKind::NoModel, message, hint))
}

/// Returns whether a server runs models once they are pulled.
pub fn runs_on_demand(provider: &dyn Provider) -> bool {
    provider.origin("").wire == Wire::Ollama
}

/// Returns the names of those `models` that may write text, as the server says of them, else by their names. Where an Ollama
/// does not say it of the likeliest one in its list, it is asked about that one.
pub async fn writers(provider: &dyn Provider, mut models: Vec<Model>) -> Vec<String> {
    let writes = |model: &Model| model.facts.writes.unwrap_or_else(|| may_write(&model.name));
    let names = |models: &[Model]| models.iter().filter(|m| writes(m)).map(|m| m.name.clone()).collect::<Vec<_>>();
    let found = names(&models);
    let is_first = |model: &Model| likely(&found).is_none_or(|first| *first == model.name);
    let asked = models.iter().position(|model| is_first(model) && model.facts.writes.is_none());
    if let Some(at) = asked.filter(|_| runs_on_demand(provider)) {
        let facts = timeout(TO_LIST, provider.probe(&models[at].name)).await.unwrap_or_default();
        models[at].facts.writes = facts.writes;
    }
    names(&models)
}

/// Returns the `usual` one of models that write where it is on offer, else the likeliest.
pub fn begin_with<'m>(models: &'m [String], usual: &str) -> Option<&'m String> {
    named(models, usual).or_else(|| likely(models))
}

/// Returns the model of this name; Ollama lists `qwen3` as `qwen3:latest`.
fn named<'m>(models: &'m [String], name: &str) -> Option<&'m String> {
    models.iter().find(|model| model.strip_suffix(":latest").unwrap_or(model) == name || *model == name)
}

/// Returns the model to begin with where nobody chose: the first for code, else the first.
fn likely(models: &[String]) -> Option<&String> {
    let codes = |name: &&String| name.to_lowercase().contains("code");
    models.iter().find(codes).or_else(|| models.first())
}

/// Returns whether a model of this name may write text: others embed, rank or listen.
pub fn may_write(name: &str) -> bool {
    const NO_WRITERS: [&str; 8] = ["embed", "minilm", "bge-", "e5-", "gte-", "rerank", "whisper", "tts"];
    let name = name.to_lowercase();
    !NO_WRITERS.iter().any(|part| name.contains(part))
}

/// A port that nobody listens on refuses at once; one that says nothing is not waited for.
const TO_CONNECT: Duration = Duration::from_millis(150);
/// A server that is there lists its models from memory.
const TO_LIST: Duration = Duration::from_secs(1);

/// Looks on the usual ports, all at once, and for the Ollama that `OLLAMA_HOST` names where `ollama` has its URL. With
/// nobody there it takes a millisecond, at most 150.
pub async fn find(ollama: Option<&str>) -> Vec<LocalServer> {
    find_on(&PORTS, ollama).await
}

/// Looks on these ports of loopback, and for an Ollama at this URL.
pub async fn find_on(ports: &[(u16, &str)], ollama: Option<&str>) -> Vec<LocalServer> {
    let own = ollama.map(|url| (url.to_string(), OLLAMA));
    let usual = ports.iter().filter(|(_, name)| *name != OLLAMA || ollama.is_none());
    let usual = usual.map(|(port, name)| (usual_url(*port, name), *name));
    join_all(own.into_iter().chain(usual).map(|(url, name)| probe(url, name))).await.into_iter().flatten().collect()
}

async fn probe(url: String, name: &str) -> Option<LocalServer> {
    let address = reqwest::Url::parse(&url).ok()?;
    let (host, port) = (address.host_str()?.trim_matches(['[', ']']), address.port_or_known_default()?);
    timeout(TO_CONNECT, TcpStream::connect((host, port))).await.ok()?.ok()?;
    let provider = connect(&connection(&url, name)).ok()?;
    let models = timeout(TO_LIST, provider.models()).await.ok()?.ok()?;
    let models = writers(&*provider, models).await;
    // Of any other program a page without models shows nothing.
    (!models.is_empty() || name == OLLAMA).then(|| LocalServer { name: name.into(), url, models })
}

/// Returns the base URL of a server on a port of loopback.
fn usual_url(port: u16, name: &str) -> String {
    let path = if name == OLLAMA { "" } else { "/v1" };
    format!("http://127.0.0.1:{port}{path}")
}

fn connection(url: &str, name: &str) -> Connection {
    let (provider, wire) = if name == OLLAMA { ("ollama", "ollama") } else { ("openai", "chat") };
    Connection {
        provider: provider.into(),
        base_url: url.into(),
        custom_url: true,
        wire: wire.into(),
        ..Connection::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::models::Facts;

    #[tokio::test]
    async fn a_model_that_writes_code_goes_first_and_one_that_only_embeds_is_none() {
        let provider = connect(&connection("http://127.0.0.1:9/v1", "vLLM")).expect("a provider");
        let pick = async |models: &[(&str, Option<bool>)]| {
            let model = |(name, writes): &(&str, Option<bool>)| {
                let facts = Facts { writes: *writes, ..Facts::default() };
                Model { name: name.to_string(), facts }
            };
            begin_with(&writers(&*provider, models.iter().map(model).collect()).await, "usual").cloned()
        };
        let by_name = pick(&[("all-minilm:latest", None), ("llama3.2", None), ("qwen2.5-coder:7b", None)]).await;
        assert_eq!(by_name.as_deref(), Some("qwen2.5-coder:7b"));
        assert_eq!(pick(&[("bge-m3", None), ("llama3.2", None)]).await.as_deref(), Some("llama3.2"));
        assert_eq!(pick(&[("nomic-embed-text", None)]).await, None);
        assert_eq!(pick(&[]).await, None);
        let of_server = pick(&[("my-embedded-coder:7b", Some(true)), ("paraphrase-code", Some(false))]).await;
        assert_eq!(of_server.as_deref(), Some("my-embedded-coder:7b"));
    }

    #[test]
    fn the_server_that_has_the_usual_model_answers_with_it() {
        let pick = |usual: &str| {
            let server = |url: &str, models: &[&str]| {
                let models = models.iter().map(|n| n.to_string()).collect();
                LocalServer { name: String::new(), url: url.into(), models }
            };
            choose(vec![server("1", &["llama3.2", "a-coder"]), server("2", &["qwen3:latest", "b-coder"])], usual)
                .map(|(server, model)| (server.url, model))
        };
        assert_eq!(pick("llama3.2"), Some(("1".into(), "llama3.2".into())));
        assert_eq!(pick("qwen3"), Some(("2".into(), "qwen3:latest".into())));
        assert_eq!(pick("gpt-4.1-nano"), Some(("1".into(), "a-coder".into())));
        assert!(choose(Vec::new(), "qwen3").is_none());
    }

    #[test]
    fn an_ollama_without_a_model_is_passed_over_and_named() {
        let server = |name: &str, port: u16, models: &[&str]| {
            let models = models.iter().map(|n| n.to_string()).collect();
            LocalServer { name: name.into(), url: format!("http://127.0.0.1:{port}"), models }
        };
        let empty = server("Ollama", 18_345, &[]);
        let other = server("vLLM", 8_000, &["m"]);
        let chosen = choose(vec![empty.clone(), other.clone()], "gpt-4.1-nano");
        assert_eq!(chosen, Some((other.clone(), "m".into())));
        assert_eq!(choose(vec![empty.clone()], "gpt-4.1-nano"), None);
        let error = without_model(&[other.clone(), empty]).expect("an error");
        assert!(error.message.contains("127.0.0.1:18345") && error.hint.contains("ollama pull"), "{error:?}");
        assert_eq!(without_model(&[other]), None);
    }
}
