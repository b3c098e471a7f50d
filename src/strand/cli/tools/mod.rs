//! The tools that `mcp serve` offers: each is a command with named arguments, and its answer one JSON object.

mod answer;
mod arguments;
mod calls;
mod change;
mod schema;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::args::LOCK_TIMEOUT;
use super::out::{Writer, error_json};
use super::session::{Session, author, named, open_at};
use crate::strand::id::QName;
use crate::strand::issue::{Issuer, Refusal};
use crate::strand::op::author_is_valid;
use crate::strand::store::{Error, Store};
pub use answer::ToolAnswer;
pub use change::{Reverted, ToolCall};
pub use schema::Tool;

/// One page of the visible definitions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Their qualified names, in layer order then by name.
    pub names: Vec<String>,
    /// The beginning of the next page; none: this is the last.
    pub next: Option<String>,
}

/// The parameters for opening the tools of a store, wherever they are to run.
#[derive(Clone, Debug)]
pub struct Opening {
    root: PathBuf,
    author: Option<String>,
    read_only: bool,
    lock_timeout: u64,
}

impl Opening {
    /// Returns the tools of a store. Without an author, ops are issued as the client that asks for them.
    ///
    /// # Errors
    /// When the author is none.
    pub fn new(root: PathBuf, author: Option<String>, read_only: bool, lock_timeout: u64) -> Result<Opening, Error> {
        if let Some(author) = author.as_deref().filter(|author| !author_is_valid(author)) {
            return Err(Refusal::Usage(format!("'{author}' is not an author: use agent:<id> or user:<id>")).into());
        }
        Ok(Opening { root, author, read_only, lock_timeout })
    }

    /// Returns the tools of the store that is given, else of the one that the environment names, or of the one around or
    /// in a folder. Returns `None` where there is none. The author is the environment's, as for every command.
    ///
    /// # Errors
    /// When the author is none.
    pub fn find(given: Option<PathBuf>, folder: &Path) -> Result<Option<Opening>, Error> {
        let Some(root) = named(given).or_else(|| Store::find(folder)) else { return Ok(None) };
        Opening::new(root, author(None), false, LOCK_TIMEOUT).map(Some)
    }

    /// Returns the folder of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns what each tool is called, takes and answers.
    pub fn list(&self) -> Vec<Tool> {
        listed(self.read_only)
    }

    /// Opens them.
    ///
    /// # Errors
    /// When the store cannot be opened: the message and the exit code.
    pub fn open(self) -> Result<Tools, (String, u8)> {
        let mut store = open_at(&self.root).map_err(|error| (error.to_string(), error.exit()))?;
        store.set_timeout(Duration::from_secs(self.lock_timeout));
        let session = Session { store, issuer: Issuer::new("agent:client"), author_given: true };
        Ok(Tools { session, author: self.author, read_only: self.read_only, damage: None })
    }
}

/// The tools of an open store.
pub struct Tools {
    session: Session,
    author: Option<String>,
    read_only: bool,
    /// The damage of the log that an answer was read before.
    damage: Option<String>,
}

/// Returns all tools, or those that change nothing.
fn listed(read_only: bool) -> Vec<Tool> {
    schema::all().into_iter().filter(|tool| !read_only || tool.read_only).collect()
}

/// Returns `agent:` and the characters of a client's name that may stand there.
fn agent(client: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = client.trim().chars().map(fits).take(64).collect();
    format!("agent:{}", if name.is_empty() { "client" } else { &name })
}

impl Tools {
    /// Returns what each tool is called, takes and answers.
    pub fn list(&self) -> Vec<Tool> {
        listed(self.read_only)
    }

    /// Returns whether there is a tool of this name.
    pub fn has(&self, name: &str) -> bool {
        self.list().iter().any(|tool| tool.name == name)
    }

    /// Calls a tool for a client. Each call sees the present store, with the writes of others. Once `stop` is cancelled,
    /// reading ends, and a write that has not begun.
    pub fn call(
        &mut self,
        name: &str,
        arguments: Map<String, Value>,
        client: &str,
        stop: &CancellationToken,
    ) -> ToolAnswer {
        let author = self.author.clone().unwrap_or_else(|| agent(client));
        self.session.issuer = Issuer::new(author);
        let out = Writer::capturing();
        self.session.store.stop_with(stop.clone());
        let mut done = self.session.store.catch_up().and_then(|_| {
            let mut call = calls::Call { session: &mut self.session, out };
            call.run(name, &Value::Object(arguments))
        });
        self.session.store.expect_hash(None);
        // Results from a checkpoint that proved to be damaged do not count.
        if let Err(error) = self.session.store.sound() {
            done = Err(error);
        }
        // What precedes damage in the log is read, and told to be that; nothing is written.
        if let Err(damage) = self.session.store.whole() {
            let is_read = listed(true).iter().any(|tool| tool.name == name);
            if is_read && matches!(done, Ok(ToolAnswer::Done(_))) {
                self.damage = Some(damage.to_string());
            } else {
                done = Err(damage);
            }
        }
        self.session.store.relieve();
        match done {
            Ok(answer) => answer,
            Err(error) => {
                let mut value = error_json(&error);
                if let Some(value) = value.as_object_mut() {
                    value.remove("code");
                }
                ToolAnswer::Refused(json!({"error": value}))
            }
        }
    }

    /// Returns what the store had to tell since it was last asked.
    pub fn take_notices(&mut self) -> Vec<String> {
        self.damage.take().into_iter().chain(self.session.store.take_notices()).collect()
    }

    /// Returns visible definitions, from where a page ended.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn definitions(&mut self, cursor: Option<&str>) -> Result<Page, String> {
        self.session.store.catch_up().map_err(|error| error.to_string())?;
        let names = calls::names(self.session.store.state(), None);
        let (names, next) = calls::PageOf { limit: None, cursor }.of_names(names).map_err(|error| error.to_string())?;
        Ok(Page { names, next })
    }

    /// Returns the text of a visible definition.
    pub fn text(&mut self, qname: &str) -> Option<String> {
        self.session.store.catch_up().ok()?;
        let view = self.session.store.state().named(&QName::parse(qname)?)?;
        Some(view.text().to_owned())
    }

    /// Brings the store's checkpoint up to date, for the next program that opens it.
    pub fn close(mut self) {
        self.session.store.checkpoint();
    }
}

#[cfg(test)]
mod tests {
    use super::agent;

    #[test]
    fn a_client_is_an_author_whatever_it_is_called() {
        for (client, author) in
            [("claude-code", "agent:claude-code"), ("My Editor 2", "agent:My-Editor-2"), ("", "agent:client")]
        {
            assert_eq!(agent(client), author);
            assert!(crate::strand::op::author_is_valid(author));
        }
        assert!(crate::strand::op::author_is_valid(&agent(&"é".repeat(100))));
    }
}
