//! The names of tools that models make up: the tool that is meant is found, and no server refuses a later request for them.

use std::sync::Arc;

use futures_util::StreamExt;
use nebula::protocol::{EventBody, Item, TurnEnd};
use nebula::provider::{Delta, EndReason, Message, Request, ToolCall};
use serde_json::json;

use super::connected;
use super::fake::{FakeServer, Plan};
use crate::support::world::{World, call, say};

/// A name that no server takes stands in the conversation, and each format's server goes on with it.
#[tokio::test]
async fn a_made_up_name_of_a_tool_leaves_no_conversation_stuck() {
    let server = FakeServer::start().await;
    server.plan(Plan { text: "so".into(), ..Plan::default() });
    let long = "x".repeat(90);
    let names = ["repo_browser.read_file", "read file", "lire_données", "価格", "", "1abc", "2_read", "-list", &long];
    let calls: Vec<ToolCall> = names
        .iter()
        .enumerate()
        .map(|(at, name)| ToolCall { id: format!("c{at}"), name: (*name).into(), arguments: "{}".into() })
        .collect();
    let results = calls.iter().map(|call| Message::tool(&call.id, "there is no such tool")).collect::<Vec<_>>();
    let messages = [Message::user("begin"), Message::assistant("", calls)].into_iter().chain(results);
    let messages: Vec<Arc<Message>> = messages.chain([Message::user("and now?")]).map(Arc::new).collect();
    for (wire, model) in [
        ("chat", "gpt-x"),
        ("responses", "gpt-5"),
        ("anthropic", "claude-sonnet-4-5"),
        ("gemini", "gemini-3-pro"),
        ("ollama", "qwen3:30b"),
    ] {
        let request = Request { model: model.into(), messages: messages.clone(), ..Request::default() };
        let got: Vec<_> = connected(wire, &server.url()).stream(request).collect().await;
        assert_eq!(server.wrong(), Vec::<String>::new(), "{wire}");
        assert!(matches!(got.last(), Some(Ok(Delta::End(EndReason::Stop)))), "{wire}: {got:?}");
    }
}

/// What stands before the name of a tool is left out of it, wherever the call goes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prefix_before_the_name_of_a_tool_is_left_out() {
    for name in ["functions.readFile", "default_api:readFile", "tools/files.readFile"] {
        let world =
            World::new().file("a.txt", "the first line\n").model([call(name, json!({"path": "a.txt"})), say("Read.")]);
        let mut live = world.start();
        live.submit("read it");
        assert_eq!(live.end().await, TurnEnd::Done, "{name}");
        let sent = live.requests().pop().expect("a request");
        let called: Vec<&str> = sent.messages.iter().flat_map(|m| m.calls()).map(|call| call.name.as_str()).collect();
        assert_eq!(called, ["readFile"], "{name}");
        let mut results = sent.messages.iter().filter(|message| message.answers().is_some());
        assert!(results.next_back().is_some_and(|message| message.text().contains("the first line")), "{name}");
        let shown = live
            .events
            .iter()
            .any(|event| matches!(event, EventBody::Changed(_, Item::Call(call)) if call.name == "readFile"));
        assert!(shown, "{name}");
        live.close().await;
    }
}
