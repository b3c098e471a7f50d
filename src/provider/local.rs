//! Model servers on this computer: found on the ports where they usually listen.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{OpenAi, Provider};
use crate::config::Connection;

/// The usual ports, and who listens there.
pub const PORTS: [(u16, &str); 4] = [(11434, "Ollama"), (8080, "llama.cpp"), (1234, "LM Studio"), (8000, "vLLM")];

/// A server with at least one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Who usually listens on its port.
    pub name: String,
    /// Its port on loopback.
    pub port: u16,
    /// Its models, sorted.
    pub models: Vec<String>,
}

impl LocalServer {
    /// How to reach it.
    pub fn connection(&self) -> Connection {
        connection(self.port)
    }
}

/// The model to begin with where nobody chose: the first for code, else the first that writes text.
pub fn likely(models: &[String]) -> Option<&String> {
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
    let provider = OpenAi::new(&connection(port)).ok()?;
    let models = timeout(TO_LIST, provider.models()).await.ok()?.ok()?;
    (!models.is_empty()).then(|| LocalServer { name: name.into(), port, models })
}

fn connection(port: u16) -> Connection {
    Connection {
        provider: "openai".into(),
        base_url: format!("http://127.0.0.1:{port}/v1"),
        custom_url: true,
        key_variable: None,
        key: None,
        headers: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::likely;

    #[test]
    fn a_model_that_writes_code_goes_first_and_one_that_embeds_last() {
        let pick = |names: &[&str]| likely(&names.iter().map(|n| n.to_string()).collect::<Vec<_>>()).cloned();
        assert_eq!(pick(&["all-minilm:latest", "llama3.2", "qwen2.5-coder:7b"]).as_deref(), Some("qwen2.5-coder:7b"));
        assert_eq!(pick(&["bge-m3", "llama3.2"]).as_deref(), Some("llama3.2"));
        assert_eq!(pick(&["nomic-embed-text"]).as_deref(), Some("nomic-embed-text"));
        assert_eq!(pick(&[]), None);
    }
}
