//! The tools of the workspace's Strand store: those that `strand mcp serve` offers, but for `strand_sync`, which writes
//! files. They issue ops to the store's own log, which loses nothing and which `strand patch revert` takes back op by op;
//! each call that would do so is asked about as an edit is.
//!
//! The store is opened for each call and closed after it, so that other programs may use it meanwhile.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Args, Progress, RunResult, Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, VerbForms};
use crate::provider::ToolSpec;
use crate::strand::cli::{Opening, ToolAnswer};

/// The client that ops are issued as.
const CLIENT: &str = "nebula";
/// The tool that writes files of the workspace beside the store: it is not offered.
const WRITES_FILES: &str = "strand_sync";

/// Returns the tools of the store that is a workspace's folder or the only one directly in it; none where there is none.
pub fn of_store(root: &Path) -> Vec<Arc<dyn Tool>> {
    // An author that is none is told by every command of Strand.
    let Ok(Some(opening)) = Opening::find(None, root) else { return Vec::new() };
    if !opening.root().starts_with(root) {
        return Vec::new();
    }
    let tools = opening.list().into_iter().filter(|tool| tool.name != WRITES_FILES);
    let of_store = |(name, description, parameters, is_reader)| {
        Arc::new(StoreTool { name, description, parameters, is_reader, opening: opening.clone() }) as Arc<dyn Tool>
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

    fn run(&self, context: ToolContext, args: Args, _: Progress, stop: CancellationToken) -> ToolFuture<'_> {
        let (name, opening) = (self.name, self.opening.clone());
        let root = opening.root().to_path_buf();
        if self.issues(&args) && context.approved.as_ref() != Some(&root) {
            let what = proposed(name, &args);
            return Box::pin(async move { Ok(RunResult::StoreChange(root, what)) });
        }
        Box::pin(async move {
            let ran = tokio::task::spawn_blocking(move || call(opening, name, args, &stop)).await;
            ran.unwrap_or_else(|_| Err(format!("{name} failed in nebula itself; try another way")))
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
fn proposed(name: &str, args: &Args) -> String {
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

/// Opens the store, calls one of its tools and closes it.
fn call(opening: Opening, name: &str, args: Args, stop: &CancellationToken) -> Result<RunResult, String> {
    let mut tools = opening.open().map_err(|(why, _)| why)?;
    let answer = tools.call(name, args.into_map(), CLIENT, stop);
    let notices = tools.take_notices();
    tools.close();
    let (value, is_error) = match answer {
        ToolAnswer::Done(value) => (value, false),
        ToolAnswer::Refused(value) => (value, true),
    };
    let op = value["op-id"].as_str().map(|id| format!("op {id}"));
    let summary = if is_error { "refused".into() } else { op.unwrap_or_default() };
    let notes: String = notices.iter().map(|notice| format!("\n({notice})")).collect();
    let text = format!("{value}{notes}");
    Ok(RunResult::Output(ToolOutput { text, is_error, summary, ..ToolOutput::default() }))
}
