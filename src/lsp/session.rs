//! A conversation with a server: requests and their answers, what it asks meanwhile, and whether it is ready.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fault::{LspFault, one_line};
use super::process::Running;

/// The version of every text that is opened.
pub(super) const VERSION: i64 = 1;
/// The time without a message after which a server that tells of no work is taken to be ready.
const SETTLED: Duration = Duration::from_millis(300);
/// The time that a server has to end by itself.
const END: Duration = Duration::from_secs(2);
/// Errors that mean: ask again.
const ASK_AGAIN: [i64; 2] = [-32801, -32802];
const NO_SUCH_METHOD: i64 = -32601;

/// A conversation.
pub(super) struct Session {
    running: Running,
    requests: u64,
    /// The tokens of work in progress.
    working: HashSet<String>,
    /// The number of works that were begun.
    begun: usize,
    /// The last that it told of its state: whether it rests, and what is wrong.
    status: Option<(bool, Option<String>)>,
    folders: Value,
}

impl Session {
    /// Begins one; `folders` are those of the workspace, in the words of the protocol.
    pub fn new(running: Running, folders: Value) -> Session {
        Session { running, requests: 0, working: HashSet::new(), begun: 0, status: None, folders }
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.running.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and waits for its answer. None: the server asks to be asked again.
    ///
    /// # Errors
    /// When there is none until then, or it is an error; `what` says what it did not do.
    pub fn ask(
        &mut self,
        method: &str,
        params: Value,
        (what, patience): (&'static str, Duration),
    ) -> Result<Option<Value>, LspFault> {
        self.requests += 1;
        let (id, until) = (self.requests, Instant::now() + patience);
        self.running.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let Some(mut message) = self.running.receive(until)? else {
                return Err(LspFault::Late(what, patience.as_secs()));
            };
            if message.get("method").is_some() || message.get("id") != Some(&json!(id)) {
                self.hear(&message);
                if Instant::now() >= until {
                    return Err(LspFault::Late(what, patience.as_secs()));
                }
                continue;
            }
            let Some(error) = message.get("error").filter(|error| !error.is_null()) else {
                return Ok(Some(message["result"].take()));
            };
            if error["code"].as_i64().is_some_and(|code| ASK_AGAIN.contains(&code)) {
                return Ok(None);
            }
            return Err(LspFault::Refused(one_line(error["message"].as_str().unwrap_or("without a reason"))));
        }
    }

    /// Returns the number of works that the server told to have begun: what it answers before it knew of one may lack
    /// something.
    pub fn begun(&self) -> usize {
        self.begun
    }

    /// Waits until the server has no work left; `tells`: it says itself that it rests.
    ///
    /// # Errors
    /// When it is not ready until then, ended, or says that it cannot work.
    pub fn ready(&mut self, tells: bool, until: Instant, patience: Duration) -> Result<(), LspFault> {
        loop {
            let rests = self.working.is_empty() && (!tells || matches!(self.status, Some((true, _))));
            let now = Instant::now();
            if now >= until {
                return Err(LspFault::Late("become ready", patience.as_secs()));
            }
            let wait = if rests { until.min(now + SETTLED) } else { until };
            match self.running.receive(wait)? {
                Some(message) => self.hear(&message),
                None if rests => break,
                None => return Err(LspFault::Late("become ready", patience.as_secs())),
            }
        }
        match &self.status {
            Some((_, Some(wrong))) => Err(LspFault::Refused(wrong.clone())),
            _ => Ok(()),
        }
    }

    /// Takes note of what a server tells, and answers what it asks.
    fn hear(&mut self, message: &Value) {
        let (method, params) = (message["method"].as_str().unwrap_or_default(), &message["params"]);
        if let Some(id) = message.get("id").filter(|_| !method.is_empty()) {
            let answer = match method {
                // All at their defaults.
                "workspace/configuration" => {
                    let items = params["items"].as_array().map_or(0, Vec::len);
                    Ok(vec![Value::Null; items].into())
                }
                "workspace/workspaceFolders" => Ok(self.folders.clone()),
                "workspace/applyEdit" => Ok(json!({"applied": false, "failureReason": "nothing is written"})),
                "window/workDoneProgress/create"
                | "window/showMessageRequest"
                | "client/registerCapability"
                | "client/unregisterCapability" => Ok(Value::Null),
                _ => Err(json!({"code": NO_SUCH_METHOD, "message": "not offered"})),
            };
            let (key, value) = match answer {
                Ok(result) => ("result", result),
                Err(error) => ("error", error),
            };
            self.running.send(&json!({"jsonrpc": "2.0", "id": id, key: value}));
            return;
        }
        match (method, params["value"]["kind"].as_str()) {
            ("$/progress", Some("begin")) => {
                self.begun += 1;
                self.working.insert(params["token"].to_string());
            }
            ("$/progress", Some("end")) => drop(self.working.remove(&params["token"].to_string())),
            ("experimental/serverStatus", _) => {
                let wrong = (params["health"] == "error")
                    .then(|| one_line(params["message"].as_str().unwrap_or("it cannot work here")));
                self.status = Some((params["quiescent"] == true, wrong));
            }
            _ => {}
        }
    }

    /// Ends it as the protocol wants; a server that does not heed it is ended all the same.
    pub fn end(mut self) {
        let until = Instant::now() + END;
        if self.ask("shutdown", Value::Null, ("end", END)).is_ok() {
            self.notify("exit", Value::Null);
            while let Ok(Some(_)) = self.running.receive(until) {}
        }
    }
}
