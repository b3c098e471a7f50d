//! The tools of a session: nebula's own and those of other sources, all alike.

use std::sync::Arc;

use serde_json::Value;

use super::{Args, OfferedTools, Tool, ToolKind, VerbForms};
use crate::edit::Edit;
use crate::edit::calls::{CallShape, CallTable};
use crate::provider::ToolSpec;

/// The tools of a session, in the order in which they are listed to the model.
#[derive(Clone)]
pub struct ToolSet {
    tools: Vec<(String, Arc<dyn Tool>)>,
    calls: Arc<CallTable>,
}

impl ToolSet {
    /// Creates the set of these tools. Of two with one name the first is taken.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let mut named: Vec<(String, Arc<dyn Tool>)> = Vec::with_capacity(tools.len());
        for tool in tools {
            let name = tool.spec().name;
            if !named.iter().any(|(other, _)| *other == name) {
                named.push((name, tool));
            }
        }
        let calls = Arc::new(CallTable::new(named.iter().map(|(_, tool)| shape(tool.as_ref())).collect()));
        ToolSet { tools: named, calls }
    }

    /// Creates the set of nebula's own tools.
    pub fn builtin() -> Self {
        ToolSet::new(crate::tools::BUILTIN.iter().map(|tool| Arc::new(*tool) as Arc<dyn Tool>).collect())
    }

    /// Returns the same tools and one more.
    pub fn with(&self, tool: Arc<dyn Tool>) -> Self {
        ToolSet::new(self.tools.iter().map(|(_, tool)| Arc::clone(tool)).chain([tool]).collect())
    }

    /// Returns the tool of that name; of one that models put a prefix before, as in `functions.readFile`, too.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.named(name).map(|(_, tool)| tool)
    }

    /// Returns the own name of the tool that is found by this one.
    pub fn own_name(&self, name: &str) -> Option<&str> {
        self.named(name).map(|(own, _)| own.as_str())
    }

    fn named(&self, name: &str) -> Option<&(String, Arc<dyn Tool>)> {
        let exactly = |name: &str| self.tools.iter().find(|(own, _)| own == name);
        exactly(name).or_else(|| exactly(name.rsplit(['.', ':', '/']).next()?))
    }

    /// Returns the names of all tools.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|(name, _)| name.as_str())
    }

    /// Returns what a model is told of the tools it is offered; `code`: those of definitions are among them, where edits
    /// are written as text too.
    pub fn specs(&self, offered: OfferedTools, code: bool) -> Vec<ToolSpec> {
        let tools = self.tools.iter().map(|(_, tool)| tool);
        let is_offered = |kind: ToolKind| match offered {
            OfferedTools::All | OfferedTools::Small => true,
            OfferedTools::Plan | OfferedTools::TextEdits => !kind.changes(),
            OfferedTools::Reading => matches!(kind, ToolKind::Read | ToolKind::Ask),
        };
        let is_offered = |tool: &&Arc<dyn Tool>| match tool.is_of_code() {
            true => code && (offered != OfferedTools::Plan || is_offered(tool.kind())),
            false => is_offered(tool.kind()) && (offered != OfferedTools::Small || !tool.is_optional()),
        };
        tools.filter(is_offered).map(|tool| tool.spec()).collect()
    }

    /// Returns how calls of these tools are read where a model writes them as text.
    pub fn calls(&self) -> Arc<CallTable> {
        Arc::clone(&self.calls)
    }

    /// Returns whether the tool of that name is of this kind.
    pub fn is(&self, name: &str, kind: ToolKind) -> bool {
        self.find(name).is_some_and(|tool| tool.kind() == kind)
    }

    /// Returns what the screen says that the tool of that name did.
    pub fn verb(&self, name: &str) -> Option<VerbForms> {
        self.find(name).map(|tool| tool.verb())
    }

    /// Returns the main argument of a call as the screen shows it.
    pub fn main(&self, name: &str, args: &Value) -> String {
        self.find(name).map_or_else(String::new, |tool| tool.main(args))
    }

    /// Returns the edits that a call asks for, seen from its arguments alone: `None` where the tool makes none, an
    /// error for the model where an argument is missing or wrong.
    pub fn edits(&self, name: &str, args: &Value) -> Option<Result<Vec<Edit>, String>> {
        let tool = self.find(name)?;
        match Args::new(args.clone()) {
            Ok(args) => tool.edits(&args),
            Err(why) => (tool.kind() == ToolKind::Write).then_some(Err(why)),
        }
    }

    /// Returns whether a call lacks an argument that its tool needs.
    pub fn is_incomplete(&self, name: &str, args: &Value) -> bool {
        let spec = self.find(name).map(|tool| tool.spec());
        let needed = spec.as_ref().and_then(|spec| spec.parameters.get("required")).and_then(Value::as_array);
        needed.into_iter().flatten().filter_map(Value::as_str).any(|needed| args.get(needed).is_none_or(Value::is_null))
    }
}

/// Returns how calls of a tool are read in a text.
fn shape(tool: &dyn Tool) -> CallShape {
    let (spec, aliases) = (tool.spec(), tool.aliases());
    let texts = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let others = |parameter: &str| {
        aliases.parameters.iter().find(|(own, _)| *own == parameter).map_or_else(Vec::new, |(_, others)| texts(others))
    };
    let required = spec.parameters.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let required = required.iter().filter_map(Value::as_str);
    CallShape {
        parameters: required.map(|name| (name.to_string(), others(name))).collect(),
        name: spec.name,
        aliases: texts(aliases.names),
        words: texts(aliases.words),
        commands: texts(aliases.commands),
        instead: aliases.instead.map(str::to_string),
        takes_patch: aliases.takes_patch,
    }
}
