//! A client of an MCP server: one process over pipes, message by message.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A running server, and a client that speaks with it.
pub struct Client {
    server: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
    /// The values that go with each request in the era without a handshake.
    meta: Option<Value>,
    /// The answer to the person's forms, and the forms that were shown.
    answer: Option<Value>,
    pub forms: Vec<Value>,
}

impl Client {
    /// Starts a server, and says nothing yet.
    pub fn start(command: &mut Command) -> Client {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let (stdin, stdout) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        Client { server, stdin, stdout, next: 0, meta: None, answer: None, forms: Vec::new() }
    }

    /// One whose person answers every form like this; without a handshake yet.
    pub fn with_person(mut self, answer: Value) -> Client {
        self.answer = Some(answer);
        self
    }

    fn capabilities(&self) -> Value {
        if self.answer.is_some() { json!({"elicitation": {}}) } else { json!({}) }
    }

    /// Begins the era with a handshake; gives the server's answer.
    pub fn greet(&mut self, version: &str, name: &str) -> Value {
        let params = json!({
            "protocolVersion": version, "capabilities": self.capabilities(),
            "clientInfo": {"name": name, "version": "1"},
        });
        let result = self.ask("initialize", params)["result"].clone();
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        result
    }

    /// One that shook hands.
    pub fn greeted(mut self, name: &str) -> Client {
        self.greet("2025-11-25", name);
        self
    }

    /// One whose requests stand alone.
    pub fn stateless(mut self, name: &str) -> Client {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": self.capabilities(),
        }));
        self
    }

    pub fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes());
    }

    pub fn send_bytes(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// The server's next message; answers the forms that come before it.
    pub fn receive(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if message["method"] != "elicitation/create" {
                return message;
            }
            self.forms.push(message["params"].clone());
            let answer = self.answer.clone().unwrap();
            self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}).to_string());
        }
    }

    pub fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Calls a tool. Its structured content, and whether it refused.
    pub fn call(&mut self, tool: &str, arguments: Value) -> (Value, bool) {
        let mut params = json!({"name": tool, "arguments": arguments});
        let mut answer = self.ask("tools/call", params.clone());
        if answer["result"]["resultType"] == "input_required" {
            // The person is asked by the client, which then sends the request again.
            let asked = &answer["result"]["inputRequests"]["consent"];
            assert_eq!(asked["method"], "elicitation/create", "{answer}");
            self.forms.push(asked["params"].clone());
            params["inputResponses"] = json!({"consent": self.answer.clone().unwrap()});
            params["requestState"] = answer["result"]["requestState"].clone();
            answer = self.ask("tools/call", params);
        }
        let result = &answer["result"];
        let refused = result["isError"] == true;
        // The same stands in a block of text; of a refusal nothing else, which the schema of the result would not allow.
        let text = result["content"][0]["text"].as_str();
        let text: Value = serde_json::from_str(text.unwrap_or_else(|| panic!("{answer}"))).unwrap();
        match refused {
            true => assert!(result.get("structuredContent").is_none() && text["error"]["kind"].is_string(), "{answer}"),
            false => assert!(text.is_object() && text == result["structuredContent"], "{answer}"),
        }
        (text, refused)
    }

    #[track_caller]
    pub fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let (content, refused) = self.call(tool, arguments);
        assert!(!refused, "{tool}: {content}");
        content
    }

    /// The error of a call that is refused.
    #[track_caller]
    pub fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let (content, refused) = self.call(tool, arguments);
        assert!(refused, "{tool}: {content}");
        content["error"].clone()
    }

    /// Kills the server where it is.
    pub fn kill(mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Ends stdin. The server's exit code and what it said on stderr.
    pub fn end(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let out = self.server.wait_with_output().unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    }
}

/// Calls whose arguments and answers are checked against the schemas of their tools.
pub struct CheckedCalls {
    /// The tools as the server lists them.
    pub tools: Vec<Value>,
    /// The names of the tools that were called.
    pub called: BTreeSet<String>,
}

impl CheckedCalls {
    /// Lists the tools, whose schemas must be portable.
    pub fn of(client: &mut Client) -> CheckedCalls {
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone();
        for tool in &tools {
            for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
                let kind = (&schema["type"], &schema["additionalProperties"]);
                assert_eq!(kind, (&json!("object"), &json!(false)), "{tool}");
                assert!(is_portable(schema), "{tool}");
            }
        }
        CheckedCalls { tools, called: BTreeSet::new() }
    }

    /// The names of all tools, in order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[track_caller]
    pub fn call(&mut self, client: &mut Client, name: &str, arguments: Value) -> Value {
        let tool = self.tools.iter().find(|tool| tool["name"] == name).unwrap();
        fits(&arguments, &tool["inputSchema"]).unwrap();
        let answer = client.done(name, arguments);
        fits(&answer, &tool["outputSchema"]).unwrap();
        self.called.insert(name.to_owned());
        answer
    }
}

/// Returns whether every part of a schema names one type alone: not every client reads a list of them.
pub fn is_portable(schema: &Value) -> bool {
    match schema {
        Value::Object(parts) => !parts.get("type").is_some_and(Value::is_array) && parts.values().all(is_portable),
        Value::Array(parts) => parts.iter().all(is_portable),
        _ => true,
    }
}

/// Returns whether a value is what a schema says, as far as these schemas go.
pub fn fits(value: &Value, schema: &Value) -> Result<(), String> {
    if let Some(any) = schema["anyOf"].as_array() {
        return if any.iter().any(|one| fits(value, one).is_ok()) {
            Ok(())
        } else {
            Err(format!("{value} in {schema}"))
        };
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let is = |kind: &&str| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => value.is_null(),
    };
    if !kinds.iter().any(is) {
        return Err(format!("{value} is not {kinds:?}"));
    }
    if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        return Err(format!("{value} is none of {}", schema["enum"]));
    }
    for item in value.as_array().into_iter().flatten() {
        fits(item, &schema["items"])?;
    }
    if let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object()) {
        for (key, value) in object {
            fits(value, properties.get(key).ok_or(format!("{key} is not in {schema}"))?)?;
        }
        let missing =
            schema["required"].as_array().into_iter().flatten().find(|key| value.get(key.as_str().unwrap()).is_none());
        missing.map_or(Ok(()), |key| Err(format!("{key} is missing in {value}")))?;
    }
    Ok(())
}
