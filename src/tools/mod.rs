//! What a model may do. One file a tool, and beside it what the model reads about it.
//!
//! Preparing a call writes nothing: it answers, asks, or says what should change. Neighbouring changes of one
//! response are joined into one proposal by the agent.

mod args;
mod ask;
pub mod drift;
mod edit;
mod list;
mod patch;
mod read;
mod remove;
mod rename;
mod replace;
mod search;
mod undo;
mod write;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub use args::Args;

use crate::edit::Edit;
use crate::proposal::State;
use crate::provider::ToolSpec;
use crate::workspace::{Access, PathError, Workspace};

/// A tool: its words for the model, and what a call of it comes to.
pub struct Tool {
    /// Its name in the model's API.
    pub name: &'static str,
    /// What the model reads about it.
    pub description: &'static str,
    /// Whether it may only read, may change files, or asks the person.
    pub kind: Kind,
    /// The argument that the screen shows beside the name.
    pub main: &'static str,
    /// JSON Schema of its arguments.
    pub parameters: fn() -> Value,
    /// Makes an answer or a proposal of a call; writes nothing. The error is for the model to read.
    pub prepare: fn(&Args, &Context<'_>) -> Result<Prepared, String>,
}

/// What a tool does to the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reads only; calls run side by side.
    Read,
    /// Changes files, after approval; not in plan mode.
    Write,
    /// Asks the person.
    Ask,
}

/// All tools, in the order in which the model is told of them.
pub const ALL: &[Tool] = &[
    list::TOOL,
    read::TOOL,
    search::TOOL,
    write::TOOL,
    edit::TOOL,
    replace::TOOL,
    patch::TOOL,
    remove::TOOL,
    rename::TOOL,
    undo::TOOL,
    ask::TOOL,
];

/// The tool of that name.
pub fn find(name: &str) -> Option<&'static Tool> {
    ALL.iter().find(|t| t.name == name)
}

/// What a model is told of the tools it may use: without `writes`, those that read or ask.
pub fn specs(writes: bool) -> Vec<ToolSpec> {
    ALL.iter()
        .filter(|t| writes || t.kind != Kind::Write)
        .map(|t| ToolSpec {
            name: t.name.into(),
            description: t.description.trim_end().into(),
            parameters: (t.parameters)(),
        })
        .collect()
}

/// What a tool may look at.
pub struct Context<'a> {
    /// The workspace, for reading.
    pub workspace: &'a Workspace,
    /// What this session has read or written, by normalised path.
    pub seen: &'a HashMap<String, Seen>,
    /// A path outside the workspace that the person has approved for reading.
    pub outside: Option<&'a Path>,
}

/// SHA-256 of a file's bytes.
pub type Sha = [u8; 32];

/// What a session knows of a file.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Of the bytes it read or wrote.
    pub sha: Sha,
    /// The text, where it is one of a bearable size.
    pub text: Option<Arc<str>>,
}

impl Seen {
    /// What changed since, for the model; `None`: nothing did, or the text is not known.
    pub fn drift(&self, now: &State) -> Option<String> {
        let read =
            self.text.as_ref().filter(|_| now.bytes().is_none_or(|b| self.sha != Sha::from(Sha256::digest(b))))?;
        drift::since_read(&State::file(read.as_bytes()), now)
    }
}

/// What a call comes to.
#[derive(Debug)]
pub enum Prepared {
    /// An answer for the model.
    Answer(Answer),
    /// Changes to be proposed.
    Edits(Vec<Edit>),
    /// Versions to be taken back.
    Undo {
        /// How many versions, from 1.
        count: usize,
        /// Normalised path; none: the newest changeset.
        path: Option<String>,
    },
    /// A question for the person.
    Question {
        /// The question.
        text: String,
        /// Short answers, each with what it means (may be empty).
        choices: Vec<(String, String)>,
    },
    /// A path outside the workspace that needs the person's approval before it is read.
    Outside(std::path::PathBuf),
}

/// An answer of a tool that reads.
#[derive(Debug, Default)]
pub struct Answer {
    /// What the model gets.
    pub text: String,
    /// The result in a word or two, for the screen.
    pub summary: String,
    /// First lines worth showing.
    pub preview: Vec<String>,
    /// A file that was read whole or in part, and its bytes.
    pub seen: Option<(String, Arc<[u8]>)>,
}

impl Context<'_> {
    /// The normalised path of a file in the workspace, which need not exist yet.
    ///
    /// # Errors
    /// When the path may not be used; the text says why.
    pub fn inside(&self, path: &str) -> Result<String, String> {
        self.workspace.resolve(path, Access::File).map_err(|e| e.to_string())
    }

    /// As [`Context::inside`], for a link itself rather than what it leads to.
    ///
    /// # Errors
    /// As there.
    pub fn entry(&self, path: &str) -> Result<String, String> {
        self.workspace.resolve(path, Access::Entry).map_err(|e| e.to_string())
    }

    /// Where a read leads: into the workspace, or out of it where the person approved or must be asked.
    ///
    /// # Errors
    /// When the path may not be read at all.
    pub fn reading(&self, path: &str, access: Access) -> Result<Place, String> {
        match self.workspace.resolve(path, access) {
            Ok(path) => Ok(Place::Inside(path)),
            Err(PathError::Outside { real, .. }) if self.outside == Some(real.as_path()) => Ok(Place::Approved(real)),
            Err(PathError::Outside { real, .. }) => Ok(Place::Outside(real)),
            Err(e) => Err(e.to_string()),
        }
    }

    /// Whether something is at a normalised path.
    pub fn exists(&self, path: &str) -> bool {
        self.workspace.stamp(path).is_some()
    }

    /// Makes sure that a file is there, was read in this session, and has not changed since.
    ///
    /// # Errors
    /// When it was not; the text says to read it.
    pub fn must_be_read(&self, path: &str) -> Result<(), String> {
        let read = self.workspace.read(path).map_err(|e| e.to_string())?;
        let State::File { bytes, .. } = &read.state else {
            return Err(format!("{path} does not exist: writeFile makes new files"));
        };
        match self.seen.get(path) {
            None => Err(format!(
                "{path} was not read in this session: read it with readFile first, then hand over its complete new content"
            )),
            Some(seen) if seen.sha != Sha::from(Sha256::digest(bytes)) => {
                let changed = seen.drift(&read.state).map_or(String::new(), |d| format!(". {d}"));
                Err(format!(
                    "{path} changed on disk since it was read: read it again with readFile, then edit{changed}"
                ))
            }
            Some(_) => Ok(()),
        }
    }
}

/// Where a read leads.
#[derive(Debug)]
pub enum Place {
    /// Into the workspace: the normalised path.
    Inside(String),
    /// Out of it, and the person approved this path.
    Approved(std::path::PathBuf),
    /// Out of it, and nobody was asked yet.
    Outside(std::path::PathBuf),
}

impl Tool {
    /// A tool that changes the file of its `path`, given its name, what the model reads about it, its arguments and how a
    /// call is prepared.
    const fn changing(
        name: &'static str,
        description: &'static str,
        parameters: fn() -> Value,
        prepare: fn(&Args, &Context<'_>) -> Result<Prepared, String>,
    ) -> Tool {
        Tool { name, description, kind: Kind::Write, main: "path", parameters, prepare }
    }

    /// The main argument of a call as the screen shows it: a path, or words in quotes.
    pub fn main_of(&self, args: &Value) -> String {
        let Some(text) = args.get(self.main).and_then(Value::as_str) else { return String::new() };
        let line = text.lines().next().unwrap_or("");
        match self.main {
            "path" | "patch" => line.to_string(),
            "question" => line.to_string(),
            _ => format!("\"{line}\""),
        }
    }
}

/// The schema of arguments that are all strings and all needed: the name of each, and what the model reads about it.
fn texts(parameters: &[(&str, &str)]) -> Value {
    let text = |(name, about): &(&str, &str)| (name.to_string(), json!({"type": "string", "description": about}));
    let properties: serde_json::Map<String, Value> = parameters.iter().map(text).collect();
    let required: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_five_fixed_tools_have_exactly_their_parameters() {
        let fixed = [
            ("list", &["path"][..]),
            ("readFile", &["path"]),
            ("searchInDirectory", &["directory", "keyword"]),
            ("writeFile", &["path", "content"]),
            ("editFile", &["path", "new_content"]),
        ];
        for (name, required) in fixed {
            let schema = (find(name).expect(name).parameters)();
            assert_eq!(schema["required"], serde_json::json!(required), "{name}");
            for parameter in required {
                assert_eq!(schema["properties"][parameter]["type"], "string", "{name}.{parameter}");
            }
        }
        assert_eq!((find("list").expect("list").parameters)()["properties"]["recursive"]["type"], "boolean");
    }

    #[test]
    fn plan_mode_is_offered_no_tool_that_writes() {
        let names: Vec<_> = specs(false).into_iter().map(|s| s.name).collect();
        assert_eq!(names, ["list", "readFile", "searchInDirectory", "askUser"]);
    }
}
