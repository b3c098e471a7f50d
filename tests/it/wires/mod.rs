//! The wire formats beside Chat Completions: recorded streams in any chunking, and conversations that wander over all of them
//! against servers that check each request by their format's rules.

mod anthropic;
mod fake;
mod follow_up;
mod left_out;
mod names;
mod prefix;
mod refusals;
mod rules;
mod sessions;
mod shown;
mod task;
mod wander;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use nebula::config::{Connection, Secret};
use nebula::provider::{Delta, Message, Provider, Recording, Request, connect};

use crate::support::mock_server::{MockServer, chunked, neighbours_joined};

fn connected(wire: &str, url: &str) -> Arc<dyn Provider> {
    connect(&Connection {
        provider: wire.into(),
        base_url: url.into(),
        custom_url: true,
        key: Some(Secret::new("sk-very-secret")),
        wire: wire.into(),
        ..Connection::default()
    })
    .expect("connected")
}

fn folder(wire: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams").join(wire)
}

/// Each recorded stream means the same deltas however it is cut: `NAME.sse` is what the server sends, `NAME.jsonl` what it
/// means. `UPDATE_FIXTURES=1` writes the latter again.
async fn in_every_chunking(wire: &str, least: usize) {
    let files = std::fs::read_dir(folder(wire)).expect("fixtures").map(|entry| entry.expect("an entry").path());
    let streams = files.filter(|path| path.extension().is_some_and(|e| e == "sse" || e == "lines"));
    let streams: BTreeSet<PathBuf> = streams.collect();
    assert!(streams.len() >= least, "{wire}: {streams:?}");
    for path in streams {
        let name = path.display();
        let body = std::fs::read(&path).expect("a stream");
        let server = MockServer::start([usize::MAX, 7, 1].map(|size| chunked(&body, size)).to_vec()).await;
        let provider = connected(wire, &server.url().replace("/v1", ""));
        for chunking in ["whole", "by 7 bytes", "by bytes"] {
            let messages = vec![Arc::new(Message::user("hi"))];
            let request = Request { model: "m".into(), messages, ..Request::default() };
            let got: Vec<_> = provider.stream(request).collect().await;
            let broken = got.last().is_some_and(Result::is_err);
            let deltas: Vec<_> = got.into_iter().filter_map(Result::ok).collect();
            assert_eq!(broken, !matches!(deltas.last(), Some(Delta::End(_))), "{name} {chunking}");
            let timed = neighbours_joined(deltas).into_iter().map(|delta| (Duration::ZERO, delta)).collect();
            let got = Recording { model: "m".into(), provider: wire.into(), steps: vec![timed] }.text();
            let expected = path.with_extension("jsonl");
            if std::env::var_os("UPDATE_FIXTURES").is_some() {
                std::fs::write(&expected, &got).expect("written");
            }
            assert_eq!(got, std::fs::read_to_string(&expected).expect("a fixture"), "{name} {chunking}");
        }
    }
}

#[tokio::test]
async fn every_stream_of_anthropic_is_read() {
    in_every_chunking("anthropic", 11).await;
}

#[tokio::test]
async fn every_stream_of_responses_is_read() {
    in_every_chunking("responses", 8).await;
}

#[tokio::test]
async fn every_stream_of_gemini_is_read() {
    in_every_chunking("gemini", 13).await;
}

#[tokio::test]
async fn every_stream_of_ollama_is_read() {
    in_every_chunking("ollama", 6).await;
}
