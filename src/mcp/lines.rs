//! Messages as lines: one on each line of stdin and stdout. What is no message is answered here, as JSON-RPC says.
//!
//! Two threads read and write, so that neither end of a slow client stops the protocol's own.

use std::future::Future;
use std::io::{self, BufRead, Read, Write};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerResult};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::sync::CancellationToken;

use crate::text::size;

/// The longest message that is read, in bytes.
const MAX_MESSAGE: usize = 16 << 20;
/// Messages that wait in either direction.
const WAITING: usize = 64;

/// Codes of JSON-RPC.
const PARSE: i32 = -32700;
const INVALID: i32 = -32600;
const PARAMETERS: i32 = -32602;

/// The lines of a client.
pub(super) struct Lines {
    incoming: Receiver<ClientJsonRpcMessage>,
    outgoing: Sender<Option<Vec<u8>>>,
    /// An answer was sent that begins one of the eras.
    begun: bool,
    gone: CancellationToken,
}

/// The thread that writes.
pub(super) struct LineWriter {
    outgoing: Sender<Option<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl LineWriter {
    /// Waits until everything is written that was sent, but not for ever for a client that does not read.
    pub fn finish(self) {
        const LONGEST: Duration = Duration::from_secs(5);
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        thread::spawn(move || {
            // One that has failed already does not wait for more.
            let _ = self.outgoing.blocking_send(None);
            let _ = self.thread.join();
            drop(done);
        });
        let _ = is_done.recv_timeout(LONGEST);
    }
}

impl Lines {
    /// Reads and writes these. `gone` is cancelled once the input ends.
    pub fn over(
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
        gone: CancellationToken,
    ) -> (Lines, LineWriter) {
        let (messages, incoming) = channel(WAITING);
        let (outgoing, lines) = channel(WAITING);
        let answers = outgoing.clone();
        thread::spawn(move || read(input, &messages, &answers));
        let thread = thread::spawn(move || write(output, lines));
        let writer = LineWriter { outgoing: outgoing.clone(), thread };
        (Lines { incoming, outgoing, begun: false, gone }, writer)
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let begins = |result: &ServerResult| {
            // These are answered in either era, and before one.
            !matches!(result, ServerResult::EmptyResult(_) | ServerResult::DiscoverResult(_))
        };
        self.begun |= matches!(&message, JsonRpcMessage::Response(answer) if begins(&answer.result));
        let outgoing = self.outgoing.clone();
        async move {
            let line = serde_json::to_vec(&message).map_err(io::Error::other)?;
            outgoing.send(Some(line)).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.incoming.recv().await else {
                self.gone.cancel();
                return None;
            };
            // Before an era has begun there is nothing that a notification or an answer could be about.
            if self.begun || matches!(message, JsonRpcMessage::Request(_)) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.incoming.close();
        Ok(())
    }
}

/// Reads messages until the input ends, and answers what is none.
fn read(mut input: impl BufRead, messages: &Sender<ClientJsonRpcMessage>, answers: &Sender<Option<Vec<u8>>>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let whole = match read_line(&mut input, &mut line) {
            Ok(Some(whole)) => whole,
            Ok(None) | Err(_) => return,
        };
        let sent = match if whole { parse(&line) } else { Err(too_long()) } {
            Ok(None) => true,
            Ok(Some(message)) => messages.blocking_send(message).is_ok(),
            Err(fault) => answers.blocking_send(Some(fault.to_string().into_bytes())).is_ok(),
        };
        if !sent {
            return;
        }
    }
}

/// Reads a line; `None` at the end. Returns false for one that is too long, the rest of which is passed over.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    let limit = MAX_MESSAGE as u64 + 1;
    if input.by_ref().take(limit).read_until(b'\n', line)? == 0 {
        return Ok(None);
    }
    if line.len() <= MAX_MESSAGE || line.ends_with(b"\n") {
        return Ok(Some(true));
    }
    line.clear();
    input.skip_until(b'\n')?;
    Ok(Some(false))
}

/// Writes lines until there are no more, or they are not taken.
fn write(mut output: impl Write, mut lines: Receiver<Option<Vec<u8>>>) {
    while let Some(Some(mut line)) = lines.blocking_recv() {
        line.push(b'\n');
        if output.write_all(&line).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}

/// Reads a message. Returns `None` for a line to which nothing is answered; the error is the answer to one that is no
/// message.
fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Value> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.is_empty() {
        return Ok(None);
    }
    let value: Value =
        serde_json::from_slice(line).map_err(|error| fault(PARSE, &format!("this is no JSON: {error}"), None))?;
    let Some(object) = value.as_object() else {
        return Err(fault(INVALID, "a message is one JSON object; batches are not answered", None));
    };
    let id = object.get("id").filter(|id| id.is_string() || id.is_i64()).cloned();
    let is_2 = object.get("jsonrpc").is_some_and(|version| version == "2.0");
    let method = object.get("method").and_then(Value::as_str).map(str::to_owned);
    // What answers nothing and asks nothing is not answered.
    let asks = object.contains_key("id") && !object.contains_key("result") && !object.contains_key("error");
    match (serde_json::from_value(value), method) {
        (Ok(message), _) => Ok(Some(message)),
        (Err(_), Some(method)) if asks && is_2 && id.is_some() => {
            Err(fault(PARAMETERS, &wrong_parameters(&method), id))
        }
        (Err(_), Some(_)) if is_2 && !asks => Ok(None),
        (Err(_), _) => Err(fault(INVALID, "this is no message of JSON-RPC 2.0", id)),
    }
}

/// Returns what is said of a request of a known method that cannot be read.
pub(super) fn wrong_parameters(method: &str) -> String {
    format!("the parameters of {method} are not as the protocol says")
}

/// Returns an error of the protocol.
fn fault(code: i32, message: &str, id: Option<Value>) -> Value {
    let mut fault = json!({"jsonrpc": "2.0", "error": {"code": code, "message": message}});
    if let Some(id) = id {
        fault["id"] = id;
    }
    fault
}

fn too_long() -> Value {
    fault(INVALID, &format!("a message has at most {}", size::words(MAX_MESSAGE as u64)), None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The code of the answer to a line that is no message; 0: nothing is answered; 1: it is a message.
    fn code(line: &str) -> i64 {
        match parse(line.as_bytes()) {
            Ok(None) => 0,
            Ok(Some(_)) => 1,
            Err(fault) => fault["error"]["code"].as_i64().expect("a code"),
        }
    }

    #[test]
    fn what_is_no_message_is_answered() {
        for (line, expected) in [
            ("", 0),
            (" \r", 0),
            ("{", -32700),
            ("nonsense", -32700),
            ("\u{0}", -32700),
            ("[]", -32600),
            ("7", -32600),
            ("{}", -32600),
            (r#"{"jsonrpc":"2.0"}"#, -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, 1),
            ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}", 1),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 1),
        ] {
            assert_eq!(code(line), expected, "{line}");
        }
        assert_eq!(code(&"[".repeat(100_000)), -32700);
        let fault = parse(br#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#).expect_err("a fault");
        assert_eq!(fault["id"], "x");
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let mut input = vec![b'x'; MAX_MESSAGE + 10];
        input.extend_from_slice(b"\nnext\nlast");
        let (mut input, mut line, mut found) = (input.as_slice(), Vec::new(), Vec::new());
        while let Some(whole) = read_line(&mut input, &mut line).expect("read") {
            found.push((whole, String::from_utf8(std::mem::take(&mut line)).expect("text")));
        }
        assert_eq!(found, [(false, String::new()), (true, "next\n".into()), (true, "last".into())]);
    }

    proptest! {
        #[test]
        fn no_line_stops_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn a_request_of_any_shape_is_a_message_or_is_answered(
            id in "null|true|-?[0-9]{1,25}|1e3|\"[a-z]{0,3}\"|\\[\\]|\\{\\}",
            method in "ping|tools/call|tools/list|initialize|resources/read|[a-z/]{0,12}",
            params in "null|7|\"x\"|\\[\\]|\\{\\}|\\{\"name\":(7|\"a\"|null|\\{\\})\\}|\\{\"_meta\":(1|\\{\\}|null)\\}",
        ) {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
            prop_assert!(code(&line) != 0, "{}", line);
        }
    }
}
