//! The tools of the workspace's Strand store: those that `strand mcp serve` offers, but for `strand_sync`, which writes
//! files. A call that would issue ops is only tried here: what it changes is shown and asked about as an edit is, and the
//! ops are issued, as a changeset, by `execute`.
//!
//! The store is opened for each call and closed after it, so that other programs may use it meanwhile. What the model
//! viewed of it is kept in mind: nothing is overwritten that someone else changed since.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::base::ViewedDefinitions;
use super::{Args, Progress, RunResult, StoreChange, Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, VerbForms};
use crate::proposal::marked;
use crate::provider::ToolSpec;
use crate::strand::cli::{Opening, ToolAnswer, ToolCall, TouchedDefinition, store_of};

/// The client that ops are issued as.
const CLIENT: &str = "nebula";
/// The tool that writes files of the workspace beside the store: it is not offered.
const WRITES_FILES: &str = "strand_sync";
/// The tool that answers the texts of definitions.
const VIEWS: &str = "strand_view";
/// The tool that runs a program of the store.
const RUNS: &str = "strand_run";

/// Returns the tools of the store that is a workspace's folder or the only one directly in it, or the one in it that the
/// environment names; none where there is none, or where several are and none is named.
pub fn of_store(root: &Path) -> Vec<Arc<dyn Tool>> {
    // An author that is none is told by every command of Strand.
    let Some(Ok(Some(opening))) = store_of(root).map(|store| Opening::find(Some(store), root)) else {
        return Vec::new();
    };
    let viewed = Arc::new(ViewedDefinitions::default());
    let tools = opening.list().into_iter().filter(|tool| tool.name != WRITES_FILES);
    let of_store = |(name, description, parameters, is_reader)| {
        let (opening, viewed) = (opening.clone(), Arc::clone(&viewed));
        Arc::new(StoreTool { name, description, parameters, is_reader, opening, viewed }) as Arc<dyn Tool>
    };
    tools.map(|tool| of_store((tool.name, tool.description, tool.input, tool.read_only))).collect()
}

/// One tool of a store.
struct StoreTool {
    name: &'static str,
    description: &'static str,
    /// The schema of its arguments.
    parameters: Value,
    /// It never issues an op.
    is_reader: bool,
    opening: Opening,
    /// The definitions that the model knows, of all tools of the store.
    viewed: Arc<ViewedDefinitions>,
}

impl Tool for StoreTool {
    fn spec(&self) -> ToolSpec {
        let (name, description) = (self.name.to_string(), self.description.to_string());
        ToolSpec { name, description, parameters: self.parameters.clone() }
    }

    fn kind(&self) -> ToolKind {
        if self.is_reader { ToolKind::Read } else { ToolKind::Store }
    }

    fn verb(&self) -> VerbForms {
        VerbForms { done: self.name.into(), one: "definition".into(), forms: None }
    }

    fn main(&self, args: &Value) -> String {
        let named = ["qname", "name", "selector", "error_code", "event", "id"];
        let named = named.iter().find_map(|key| args.get(key)?.as_str());
        named.unwrap_or_default().lines().next().unwrap_or_default().to_string()
    }

    fn run(&self, _: ToolContext, args: Args, _: Progress, stop: CancellationToken) -> ToolFuture<'_> {
        let (issues, opening, viewed) = (self.issues(&args), self.opening.clone(), Arc::clone(&self.viewed));
        let call = ToolCall { name: self.name, arguments: args.clone().into_map(), client: CLIENT };
        Box::pin(async move {
            let name = call.name;
            let ran = tokio::task::spawn_blocking(move || match issues {
                true => tried(opening, call, &args, (viewed, &stop)),
                false => read(opening, call, (&viewed, &stop)),
            });
            ran.await.unwrap_or_else(|_| Err(format!("{name} failed in nebula itself; try another way")))
        })
    }
}

impl StoreTool {
    /// Returns whether a call may issue ops or record something.
    fn issues(&self, args: &Args) -> bool {
        let asked_for = |flag: &str| args.value(flag).is_some_and(|value| *value != Value::Bool(false));
        match self.name {
            "strand_fix" => asked_for("apply"),
            "strand_conflicts" => asked_for("reissue"),
            _ => !self.is_reader,
        }
    }
}

/// Returns what a call would do, for the person: the tool, and each of its arguments; of several ops each by itself.
fn arguments(name: &str, args: &Args) -> String {
    let mut text = name.to_string();
    for (key, value) in args.clone().into_map() {
        let value = match &value {
            Value::String(value) if value.contains('\n') => format!("\n{value}"),
            Value::String(value) => format!(" {value}"),
            Value::Array(ops) => ops.iter().map(|op| format!("\n  {op}")).collect(),
            value => format!(" {value}"),
        };
        text.push_str(&format!("\n{key}:{value}"));
    }
    text
}

/// Tries a call that may change the store. What the store refuses, or what would overwrite a definition that is another
/// one than was viewed, is answered at once.
fn tried(
    opening: Opening,
    call: ToolCall,
    args: &Args,
    (viewed, stop): (Arc<ViewedDefinitions>, &CancellationToken),
) -> Result<RunResult, String> {
    // An episode is recorded and issues no op.
    if call.name == RUNS {
        let what = arguments(call.name, args);
        return Ok(RunResult::StoreChange(Box::new(StoreChange { opening, call, touched: Vec::new(), viewed, what })));
    }
    let tools = opening.clone().open().map_err(|(why, _)| why)?;
    let (answer, touched) = tools.rehearse(&call, stop);
    if let ToolAnswer::Refused(_) = answer {
        return Ok(RunResult::Output(answered(answer, &[])));
    }
    if let Some(refusal) = viewed.refuse(call.name, expected(&call.arguments), &touched) {
        return Ok(RunResult::Output(answered(refusal, &[])));
    }
    let what = match touched.is_empty() {
        true => arguments(call.name, args),
        false => format!("{}\n\n{}", call.name, TouchedDefinition::marked(&touched, marked)),
    };
    Ok(RunResult::StoreChange(Box::new(StoreChange { opening, call, touched, viewed, what })))
}

/// Returns the definition of which a call says the hash that it expects.
fn expected(arguments: &Map<String, Value>) -> Option<&str> {
    arguments.get("expect_hash").filter(|hash| hash.is_string()).and_then(|_| arguments.get("qname")?.as_str())
}

/// Opens the store, calls one of its tools that only read, and closes it.
fn read(
    opening: Opening,
    call: ToolCall,
    (viewed, stop): (&ViewedDefinitions, &CancellationToken),
) -> Result<RunResult, String> {
    let mut tools = opening.open().map_err(|(why, _)| why)?;
    // A view of the past is none of what is there.
    let is_present = call.name == VIEWS && !call.arguments.contains_key("at");
    let answer = tools.call(call.name, call.arguments, call.client, stop);
    if is_present {
        viewed.view(&answer);
    }
    let notices = tools.take_notices();
    tools.close();
    Ok(RunResult::Output(answered(answer, &notices)))
}

/// Returns the answer of a store's tool with what the store had to tell, for the model.
pub fn answered(answer: ToolAnswer, notices: &[String]) -> ToolOutput {
    let (value, is_error) = match answer {
        ToolAnswer::Done(value) => (value, false),
        ToolAnswer::Refused(value) => (value, true),
    };
    let op = value["op-id"].as_str().map(|id| format!("op {id}"));
    let summary = if is_error { "refused".into() } else { op.unwrap_or_default() };
    let notes: String = notices.iter().map(|notice| format!("\n({notice})")).collect();
    ToolOutput { text: format!("{value}{notes}"), is_error, summary, ..ToolOutput::default() }
}
