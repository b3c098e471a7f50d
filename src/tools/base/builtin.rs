//! A tool of nebula's own: a table of words and a function that runs on the blocking pool.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Args, Progress, RunResult, Tool, ToolAliases, ToolContext, ToolFuture, ToolKind, VerbForms};
use crate::edit::Edit;
use crate::provider::ToolSpec;

/// The input of a built-in tool's function besides the call's arguments.
pub struct Run {
    /// The context of the run.
    pub context: ToolContext,
    /// Takes how far it is.
    pub progress: Progress,
    /// Ends it early.
    pub stop: CancellationToken,
}

/// The argument of a call that the screen shows beside the verb, its first line.
#[derive(Clone, Copy)]
pub enum MainArgument {
    /// The name of one that is shown as it is: a path, a question.
    Plain(&'static str),
    /// The name of one that is shown in quotes: words to search for.
    Quoted(&'static str),
}

/// A tool of nebula's own.
#[derive(Clone, Copy)]
pub struct Builtin {
    /// Its name in the model's API.
    pub name: &'static str,
    /// The description for the model.
    pub description: &'static str,
    /// True if it only reads, may change files, or asks the person.
    pub kind: ToolKind,
    /// True if it works on definitions of source files.
    pub of_code: bool,
    /// True if small models are not offered it: another tool or the person does the same.
    pub optional: bool,
    /// The verb that the screen shows for it: as a command, while it runs, and afterwards.
    pub verb: [&'static str; 3],
    /// The noun for one of the verb's objects.
    pub object: &'static str,
    /// The argument that the screen shows beside the name.
    pub main: MainArgument,
    /// Other names for it and its parameters.
    pub aliases: ToolAliases,
    /// JSON Schema of its arguments.
    pub parameters: fn() -> Value,
    /// The edits it requests, seen from its arguments alone.
    pub edits: Option<fn(&Args) -> Result<Vec<Edit>, String>>,
    /// Runs it; writes nothing. The error is for the model to read.
    pub run: fn(&Args, &Run) -> Result<RunResult, String>,
}

impl Builtin {
    /// Creates a tool that changes the file of its `path`: what it does is told by its edits, `check` looks at the
    /// files first.
    pub const fn changing(
        name: &'static str,
        description: &'static str,
        verb: [&'static str; 3],
        parameters: fn() -> Value,
        edits: fn(&Args) -> Result<Vec<Edit>, String>,
        run: fn(&Args, &Run) -> Result<RunResult, String>,
    ) -> Builtin {
        let (kind, object, aliases) = (ToolKind::Write, "file", ToolAliases::NONE);
        let (main, edits) = (MainArgument::Plain("path"), Some(edits));
        Builtin {
            name,
            description,
            kind,
            of_code: false,
            optional: false,
            verb,
            object,
            main,
            aliases,
            parameters,
            edits,
            run,
        }
    }

    /// Creates a tool that reads definitions of source files, named by its `selector`.
    #[cfg(feature = "code")]
    pub const fn of_code(
        name: &'static str,
        description: &'static str,
        verb: [&'static str; 3],
        parameters: fn() -> Value,
        run: fn(&Args, &Run) -> Result<RunResult, String>,
    ) -> Builtin {
        let (kind, main, aliases) = (ToolKind::Read, MainArgument::Plain("selector"), ToolAliases::NONE);
        let object = "definition";
        Builtin {
            name,
            description,
            kind,
            of_code: true,
            optional: false,
            verb,
            object,
            main,
            aliases,
            parameters,
            edits: None,
            run,
        }
    }

    /// Returns the tool as one that small models are not offered.
    pub const fn optional(mut self) -> Builtin {
        self.optional = true;
        self
    }

    /// Returns the tool with other names for it.
    pub const fn named(mut self, aliases: ToolAliases) -> Builtin {
        self.aliases = aliases;
        self
    }
}

impl Tool for Builtin {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.into(),
            description: self.description.trim_end().into(),
            parameters: (self.parameters)(),
        }
    }

    fn kind(&self) -> ToolKind {
        self.kind
    }

    fn is_of_code(&self) -> bool {
        self.of_code
    }

    fn is_optional(&self) -> bool {
        self.optional
    }

    fn aliases(&self) -> ToolAliases {
        self.aliases
    }

    fn verb(&self) -> VerbForms {
        let [command, running, done] = self.verb;
        VerbForms { done: done.into(), one: self.object.into(), forms: Some((command, running)) }
    }

    fn main(&self, args: &Value) -> String {
        let (name, quote) = match self.main {
            MainArgument::Plain(name) => (name, ""),
            MainArgument::Quoted(name) => (name, "\""),
        };
        let Some(text) = args.get(name).and_then(Value::as_str) else { return String::new() };
        format!("{quote}{}{quote}", text.lines().next().unwrap_or(""))
    }

    fn edits(&self, args: &Args) -> Option<Result<Vec<Edit>, String>> {
        self.edits.map(|edits| edits(args))
    }

    fn run(&self, context: ToolContext, args: Args, progress: Progress, stop: CancellationToken) -> ToolFuture<'_> {
        let (name, run) = (self.name, self.run);
        Box::pin(async move {
            let call = Run { context, progress, stop };
            let ran = tokio::task::spawn_blocking(move || run(&args, &call)).await;
            ran.unwrap_or_else(|_| Err(format!("{name} failed in nebula itself; try another way")))
        })
    }
}

/// Creates the schema of arguments that are all strings and all needed: the name of each, and what the model reads
/// about it; nothing where that is empty.
pub fn texts(parameters: &[(&str, &str)]) -> Value {
    let text = |(name, about): &(&str, &str)| {
        let schema =
            if about.is_empty() { json!({"type": "string"}) } else { json!({"type": "string", "description": about}) };
        (name.to_string(), schema)
    };
    let properties: serde_json::Map<String, Value> = parameters.iter().map(text).collect();
    let required: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}
