//! Messages of every kind for both servers and both eras of the protocol: nothing ends a server, each line that it writes
//! is a message, and each request is answered once. `MCP_FUZZ` sets how many messages each server gets.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::converge::Chance;
use super::world::{TODO, World};

/// The values that go with each request in the era without a handshake.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "f", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The longest message that is read: what is longer has no id for whoever answers it.
const LONGEST: usize = 16 << 20;

/// A server, what it says, and the ids that wait for an answer.
struct Fuzzed {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    /// What it says on standard error.
    said: JoinHandle<String>,
    era: &'static str,
    /// Ids of requests, with the lines they came in.
    waiting: BTreeMap<String, String>,
    /// Ids that were used already, or cancelled: one answer at most.
    spent: BTreeSet<String>,
    next: u64,
}

impl Fuzzed {
    fn start(mut command: Command, era: &'static str) -> Fuzzed {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.split(b'\n') {
                let line = String::from_utf8(line.expect("read")).expect("UTF-8");
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let said = std::thread::spawn(move || {
            let mut said = String::new();
            stderr.read_to_string(&mut said).expect("read");
            said
        });
        let (waiting, spent) = (BTreeMap::new(), BTreeSet::new());
        let mut fuzzed = Fuzzed { child, stdin, lines, said, era, waiting, spent, next: 1_000_000 };
        match era {
            "stateless" => drop(fuzzed.ask("server/discover", json!({}))),
            version => {
                let client = json!({"name": "f", "version": "1"});
                let greeting = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
                fuzzed.ask("initialize", greeting);
                fuzzed.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
            }
        }
        fuzzed
    }

    fn write(&mut self, line: &[u8]) {
        self.stdin.write_all(line).and_then(|()| self.stdin.write_all(b"\n")).expect("the server reads");
    }

    /// Sends a line, and notes what must come of it.
    fn send(&mut self, line: &[u8]) {
        let parsed = serde_json::from_slice::<Value>(line.trim_ascii()).ok();
        let parsed = parsed.filter(|_| line.len() <= LONGEST && !line.contains(&b'\n'));
        if let Some(Value::Object(message)) = parsed {
            self.note(&message, line);
        }
        self.write(line);
    }

    fn note(&mut self, message: &Map<String, Value>, line: &[u8]) {
        if message.get("method").is_some_and(|method| method == "notifications/cancelled") {
            let id = message.get("params").map_or(String::new(), |params| params["requestId"].to_string());
            self.waiting.remove(&id);
            self.spent.insert(id);
        }
        let id = message.get("id").filter(|id| id.is_string() || id.is_i64());
        let is_request = message.get("jsonrpc").is_some_and(|version| version == "2.0")
            && message.get("method").is_some_and(Value::is_string)
            && !message.contains_key("result")
            && !message.contains_key("error");
        if let Some(id) = id.filter(|_| is_request).map(Value::to_string)
            && self.spent.insert(id.clone())
        {
            self.waiting.insert(id, String::from_utf8_lossy(&line[..line.len().min(400)]).into_owned());
        }
    }

    /// Sends a request of its own and reads until it and all before it are answered.
    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.next += 1;
        if self.era == "stateless" {
            params["_meta"] = meta();
        }
        let own = self.next.to_string();
        let line = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}).to_string();
        self.send(line.as_bytes());
        let mut answer = None;
        while !self.waiting.is_empty() {
            let line = self.lines.recv_timeout(Duration::from_secs(300));
            let line = line.unwrap_or_else(|_| panic!("{}: no answer to {:?}", self.era, self.waiting));
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            let id = message.get("id").map_or(String::new(), Value::to_string);
            if message.get("method").is_none() {
                self.waiting.remove(&id);
            }
            if id == own {
                answer = Some(message);
            }
        }
        answer.expect("answered")
    }

    /// Ends its input. It must have gone on to the end without a word of a panic.
    fn end(mut self) {
        drop(self.stdin);
        while self.lines.recv_timeout(Duration::from_secs(300)).is_ok() {}
        let (status, said) = (self.child.wait().unwrap(), self.said.join().unwrap());
        assert!(status.success() && !said.contains("panicked"), "{status}: {said}");
    }
}

const WORDS: [&str; 22] = [
    "",
    "*",
    "slot.draft",
    "slot.*",
    "reducer.add",
    "tile.App",
    "fn.none",
    "type.Todo",
    "a.txt",
    "src.rs",
    "../x",
    "/etc/passwd",
    "src.rs::total",
    "E0103",
    "latest",
    "set 1",
    "replace 'a' -> 'b'",
    "Int = 1",
    "\u{0}\u{202e}",
    "é\u{1F600}",
    "now",
    "0",
];

/// Any value, at most so deep.
fn any(chance: &mut Chance, depth: usize) -> Value {
    match chance.below(if depth == 0 { 6 } else { 8 }) {
        0 => Value::Null,
        1 => json!(chance.below(2) == 0),
        2 => json!(*chance.pick(&[0, 1, -1, 200, i64::MAX, i64::MIN])),
        3 => json!(*chance.pick(&[0.5, -1e300, 1e-300])),
        4 | 5 => json!(chance.pick(&WORDS)),
        6 => (0..chance.below(4)).map(|_| any(chance, depth - 1)).collect(),
        _ => {
            let keys = ["op", "layer", "name", "body", "body:1", "on", "x"];
            let entry = |chance: &mut Chance| (chance.pick(&keys).to_string(), any(chance, depth - 1));
            Value::Object((0..chance.below(5)).map(|_| entry(chance)).collect())
        }
    }
}

/// Arguments for a tool: most of them of the type that it wants.
fn arguments(chance: &mut Chance, tool: &Value) -> Value {
    let mut given = Map::new();
    for (name, schema) in tool["inputSchema"]["properties"].as_object().into_iter().flatten() {
        let required = tool["inputSchema"]["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        if chance.below(10) < if required { 1 } else { 6 } {
            continue;
        }
        let value = match (chance.below(8), schema["type"].as_str()) {
            (0, _) => any(chance, 3),
            (_, Some("string")) => match schema["enum"].as_array() {
                Some(words) => chance.pick(words).clone(),
                None => json!(chance.pick(&WORDS)),
            },
            (_, Some("boolean")) => json!(chance.below(2) == 0),
            (_, Some("integer" | "number")) => json!(chance.below(5)),
            (_, Some("array")) => (0..chance.below(3)).map(|_| any(chance, 2)).collect(),
            _ => any(chance, 3),
        };
        given.insert(name.clone(), value);
    }
    if chance.below(12) == 0 {
        given.insert(chance.pick(&WORDS).to_string(), any(chance, 1));
    }
    Value::Object(given)
}

const METHODS: [&str; 11] = [
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "ping",
    "prompts/list",
    "logging/setLevel",
    "nothing/there",
    "",
];

/// A request with an id, most often of a tool.
fn request(chance: &mut Chance, tools: &[Value], id: Value, era: &str) -> Value {
    let method = if chance.below(3) > 0 { "tools/call" } else { *chance.pick(&METHODS) };
    let mut params = match method {
        "tools/call" => {
            let tool = chance.pick(tools);
            json!({"name": tool["name"], "arguments": arguments(chance, tool)})
        }
        "resources/read" => json!({"uri": format!("strand:///{}", chance.pick(&WORDS))}),
        _ => json!({}),
    };
    if era == "stateless" && chance.below(12) > 0 {
        params["_meta"] = meta();
    }
    if chance.below(15) == 0 {
        params = any(chance, 3);
    }
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The next line: a message, one that is nearly one, or none.
fn line(chance: &mut Chance, tools: &[Value], n: usize, era: &str) -> Vec<u8> {
    let id = json!(n);
    match chance.below(24) {
        0 => json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": n.saturating_sub(chance.below(4))}}),
        1 => json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": any(chance, 2)}),
        2 => json!({"jsonrpc": "2.0", "method": chance.pick(&["notifications/initialized", "notifications/x", "x"]), "params": any(chance, 2)}),
        3 => json!({"jsonrpc": "2.0", "id": any(chance, 1), "result": any(chance, 2)}),
        4 => json!({"jsonrpc": "2.0", "id": any(chance, 1), "error": any(chance, 2)}),
        5 => {
            let id = any(chance, 1);
            request(chance, tools, id, era)
        }
        6 => json!([request(chance, tools, json!(format!("b{n}")), era), any(chance, 1)]),
        7 => {
            // The id of one that may still be under way.
            let id = json!(n.saturating_sub(1 + chance.below(3)));
            request(chance, tools, id, era)
        }
        8 => json!({"jsonrpc": any(chance, 0), "id": id, "method": any(chance, 1), "params": any(chance, 2)}),
        9 => {
            let whole = request(chance, tools, id, era).to_string().into_bytes();
            return whole[..chance.below(whole.len())].to_vec();
        }
        10 => {
            let mut whole = request(chance, tools, id, era).to_string().into_bytes();
            let at = chance.below(whole.len());
            whole[at] ^= 1 << chance.below(8);
            return whole;
        }
        11 => {
            let depth = 1 << chance.below(15);
            return [b"[".repeat(depth), b"]".repeat(depth)].concat();
        }
        12 if chance.below(20) == 0 => {
            let text = "x".repeat(1 << (18 + chance.below(7)));
            json!({"jsonrpc": "2.0", "id": format!("long{n}"), "method": text})
        }
        13 => any(chance, 4),
        _ => request(chance, tools, id, era),
    }
    .to_string()
    .into_bytes()
}

fn fuzz(what: &str, mut command: impl FnMut() -> Command, seed: u64) {
    let count = std::env::var("MCP_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(250);
    for era in ["2025-06-18", "2025-11-25", "stateless"] {
        let mut chance = Chance(seed);
        let mut server = Fuzzed::start(command(), era);
        let tools = server.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone();
        for n in 0..count {
            let line = line(&mut chance, &tools, n, era);
            server.send(&line);
            if n % 20 == 19 {
                let answer = server.ask("tools/list", json!({}));
                assert_eq!(
                    answer["result"]["tools"].as_array().map(Vec::len),
                    Some(tools.len()),
                    "{what} {era}: {answer}"
                );
            }
        }
        server.end();
    }
}

/// The number that the messages come from; `MCP_SEED` sets another.
fn seed() -> u64 {
    std::env::var("MCP_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7)
}

/// A store, files around it and a home.
fn world() -> World {
    let world = World::new();
    world.load(TODO);
    std::fs::create_dir_all(world.path().join(".git")).unwrap();
    for (name, text) in [("a.txt", "one\n"), ("src.rs", "fn total() -> u32 { 1 }\n"), (".env", "KEY=1\n")] {
        std::fs::write(world.path().join(name), text).unwrap();
    }
    world
}

#[test]
fn no_message_ends_the_server_of_a_store() {
    let world = world();
    let serve = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strand"));
        command.args(["mcp", "serve", "--code"]).current_dir(world.path()).env_clear().env("HOME", world.path());
        command
    };
    fuzz("strand", serve, seed());
    assert_eq!(world.out(0, &["store", "verify"]).split(' ').next(), Some("ok"));
}

#[test]
fn no_message_ends_the_server_of_an_archive() {
    let world = world();
    let serve = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command.args(["mcp", "serve", "--sessions", "--code", "--allow-restore"]);
        command.current_dir(world.path()).env_clear().env("HOME", world.path().join(".git"));
        command
    };
    fuzz("nebula", serve, seed());
    assert_eq!(world.out(0, &["store", "verify"]).split(' ').next(), Some("ok"));
    assert_eq!(std::fs::read_to_string(world.path().join(".env")).unwrap(), "KEY=1\n");
}
