//! Model servers on this computer: found on the ports where they usually listen.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::connect::connect;
use crate::config::Connection;

/// The usual ports, and who listens there.
pub const PORTS: [(u16, &str); 4] = [(11434, "Ollama"), (8080, "llama.cpp"), (1234, "LM Studio"), (8000, "vLLM")];

/// A server with at least one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// The program that usually listens on its port.
    pub name: String,
    /// Its port on loopback.
    pub port: u16,
    /// Its models, sorted.
    pub models: Vec<String>,
}

impl LocalServer {
    /// Returns how to reach it.
    pub fn connection(&self) -> Connection {
        connection(self.port, &self.name)
    }
}

/// Returns, of the servers that are there, the one that has the `usual` model, else the first, and the model to begin
/// with.
pub fn choose(servers: Vec<LocalServer>, usual: &str) -> Option<(LocalServer, String)> {
    let at = servers.iter().position(|server| named(&server.models, usual).is_some()).unwrap_or(0);
    let server = servers.into_iter().nth(at)?;
    let model = begin_with(&server.models, usual)?.clone();
    Some((server, model))
}

/// Returns the `usual` model where it is on offer, else the likeliest.
pub fn begin_with<'m>(models: &'m [String], usual: &str) -> Option<&'m String> {
    named(models, usual).or_else(|| likely(models))
}

/// Returns the model of this name; Ollama lists `qwen3` as `qwen3:latest`.
fn named<'m>(models: &'m [String], name: &str) -> Option<&'m String> {
    models.iter().find(|model| model.strip_suffix(":latest").unwrap_or(model) == name || *model == name)
}

/// Returns the model to begin with where nobody chose: the first for code, else the first that writes text.
fn likely(models: &[String]) -> Option<&String> {
    const NO_WRITERS: [&str; 8] = ["embed", "minilm", "bge-", "e5-", "gte-", "rerank", "whisper", "tts"];
    let writes = |name: &&String| !NO_WRITERS.iter().any(|part| name.to_lowercase().contains(part));
    let codes = |name: &&String| name.to_lowercase().contains("code");
    models.iter().filter(writes).find(codes).or_else(|| models.iter().find(writes)).or_else(|| models.first())
}

/// A port that nobody listens on refuses at once; one that says nothing is not waited for.
const TO_CONNECT: Duration = Duration::from_millis(150);
/// A server that is there lists its models from memory.
const TO_LIST: Duration = Duration::from_secs(1);

/// Looks on the usual ports, all at once. With nobody there it takes a millisecond, at most 150.
pub async fn find() -> Vec<LocalServer> {
    find_on(&PORTS).await
}

/// Looks on these ports of loopback.
pub async fn find_on(ports: &[(u16, &str)]) -> Vec<LocalServer> {
    join_all(ports.iter().map(|(port, name)| probe(*port, name))).await.into_iter().flatten().collect()
}

async fn probe(port: u16, name: &str) -> Option<LocalServer> {
    timeout(TO_CONNECT, TcpStream::connect((Ipv4Addr::LOCALHOST, port))).await.ok()?.ok()?;
    let provider = connect(&connection(port, name)).ok()?;
    let models = timeout(TO_LIST, provider.models()).await.ok()?.ok()?;
    let models: Vec<String> = models.into_iter().map(|model| model.name).collect();
    (!models.is_empty()).then(|| LocalServer { name: name.into(), port, models })
}

fn connection(port: u16, name: &str) -> Connection {
    let (provider, path) = if name == "Ollama" { ("ollama", "") } else { ("openai", "/v1") };
    Connection {
        provider: provider.into(),
        base_url: format!("http://127.0.0.1:{port}{path}"),
        custom_url: true,
        wire: if path.is_empty() { "ollama" } else { "chat" }.into(),
        ..Connection::default()
    }
}

#[cfg(test)]
mod tests {
    use super::{LocalServer, choose, likely};

    #[test]
    fn a_model_that_writes_code_goes_first_and_one_that_embeds_last() {
        let pick = |names: &[&str]| likely(&names.iter().map(|n| n.to_string()).collect::<Vec<_>>()).cloned();
        assert_eq!(pick(&["all-minilm:latest", "llama3.2", "qwen2.5-coder:7b"]).as_deref(), Some("qwen2.5-coder:7b"));
        assert_eq!(pick(&["bge-m3", "llama3.2"]).as_deref(), Some("llama3.2"));
        assert_eq!(pick(&["nomic-embed-text"]).as_deref(), Some("nomic-embed-text"));
        assert_eq!(pick(&[]), None);
    }

    #[test]
    fn the_server_that_has_the_usual_model_answers_with_it() {
        let pick = |usual: &str| {
            let server = |port, models: &[&str]| {
                let models = models.iter().map(|n| n.to_string()).collect();
                LocalServer { name: String::new(), port, models }
            };
            choose(vec![server(1, &["llama3.2", "a-coder"]), server(2, &["qwen3:latest", "b-coder"])], usual)
                .map(|(server, model)| (server.port, model))
        };
        assert_eq!(pick("llama3.2"), Some((1, "llama3.2".into())));
        assert_eq!(pick("qwen3"), Some((2, "qwen3:latest".into())));
        assert_eq!(pick("gpt-4.1-nano"), Some((1, "a-coder".into())));
        assert!(choose(Vec::new(), "qwen3").is_none());
    }
}
