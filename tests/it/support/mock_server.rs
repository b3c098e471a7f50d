//! A model server by script: it answers requests one after the other, byte for byte as told, and can cut a chunk
//! in mid-character, stall, or reset the connection.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use nebula::provider::Delta;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The next action of the server.
#[derive(Debug, Clone)]
pub enum Act {
    /// Sends these bytes, in one write.
    Send(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Says nothing more until the client goes away.
    Stall,
    /// Closes the connection in good order.
    Close,
    /// Resets the connection.
    Reset,
}

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// `POST /v1/chat/completions`
    pub line: String,
    /// Header lines, as they came.
    pub headers: String,
    /// The body.
    pub body: serde_json::Value,
    /// The number of the connection it came on, from 0.
    pub connection: usize,
}

/// A server on a free port of loopback; gone when dropped.
pub struct MockServer {
    port: u16,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    task: JoinHandle<()>,
}

impl MockServer {
    /// Answers the n-th request with the n-th script; requests beyond get a reset.
    pub async fn start(scripts: Vec<Vec<Act>>) -> Self {
        Self::start_with(scripts, None).await
    }

    /// Answers each request about the models with this list, and the n-th of the others with the n-th script.
    pub async fn listing(list: Vec<Act>, scripts: Vec<Vec<Act>>) -> Self {
        Self::start_with(scripts, Some(list)).await
    }

    async fn start_with(scripts: Vec<Vec<Act>>, list: Option<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let scripts = Arc::new(Mutex::new(scripts.into_iter()));
        let log = seen.clone();
        let task = tokio::spawn(async move {
            let mut served = tokio::task::JoinSet::new();
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                served.spawn(serve(stream, connection, (scripts.clone(), list.clone()), log.clone()));
            }
        });
        Self { port, seen, task }
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The base URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Scripts = Arc<Mutex<std::vec::IntoIter<Vec<Act>>>>;

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    (scripts, list): (Scripts, Option<Vec<Act>>),
    log: Arc<Mutex<Vec<ReceivedRequest>>>,
) {
    stream.set_nodelay(true).unwrap();
    while let Some(mut seen) = read_request(&mut stream).await {
        seen.connection = connection;
        let list = list.clone().filter(|_| seen.line.starts_with("GET "));
        log.lock().unwrap().push(seen);
        let script = list.or_else(|| scripts.lock().unwrap().next()).unwrap_or(vec![Act::Reset]);
        for act in script {
            match act {
                Act::Send(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
                Act::Pause(pause) => tokio::time::sleep(pause).await,
                Act::Stall => {
                    let _ = stream.read(&mut [0; 1]).await;
                    return;
                }
                Act::Close => return,
                Act::Reset => {
                    let _ = stream.set_zero_linger();
                    return;
                }
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let (line, headers) = text.split_once("\r\n").unwrap();
    let length = |line: &str| line.to_lowercase().strip_prefix("content-length:").map(|n| n.trim().parse().unwrap());
    let length: usize = headers.lines().find_map(length).unwrap_or(0);
    while bytes.len() < head + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[head + 4..]).unwrap_or_default();
    Some(ReceivedRequest { line: line.rsplit_once(' ')?.0.into(), headers: headers.into(), body, connection: 0 })
}

/// The head of an answer whose body goes on until the connection closes.
pub fn head(status: &str, headers: &str) -> Act {
    Act::Send(format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n").into_bytes())
}

/// A whole answer with a length, after which the connection can be used again.
pub fn answer(status: &str, headers: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    vec![Act::Send(format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes())]
}

/// A streamed answer in HTTP chunks of at most `size` bytes, each in a write of its own, after which the connection
/// can be used again.
pub fn chunked(body: &[u8], size: usize) -> Vec<Act> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut acts = vec![Act::Send(head.into())];
    acts.extend(body.chunks(size).map(chunk));
    acts.push(Act::Send(b"0\r\n\r\n".to_vec()));
    acts
}

/// Joins neighbouring deltas that only go on with each other: where one ends is up to the network.
pub fn neighbours_joined(deltas: impl IntoIterator<Item = Delta>) -> Vec<Delta> {
    let mut all: Vec<Delta> = Vec::new();
    for delta in deltas {
        match (all.last_mut(), &delta) {
            (Some(Delta::Text(text)), Delta::Text(more)) | (Some(Delta::Thinking(text)), Delta::Thinking(more)) => {
                text.push_str(more);
            }
            (
                Some(Delta::Call { index, arguments, .. }),
                Delta::Call { index: same, id: None, name: None, arguments: more },
            ) if index == same => arguments.push_str(more),
            _ => all.push(delta),
        }
    }
    all
}

/// One HTTP chunk.
pub fn chunk(bytes: &[u8]) -> Act {
    let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(b"\r\n");
    Act::Send(framed)
}

/// The events of a plain answer that says `text`.
pub fn saying(text: &str) -> String {
    let delta = serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    format!(
        "data: {delta}\n\ndata: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\ndata: [DONE]\n\n"
    )
}
