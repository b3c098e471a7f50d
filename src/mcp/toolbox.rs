//! The offer of a server: tools and resources, whatever implements them.

use serde_json::{Map, Value};

/// A tool as a client sees it.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub description: &'static str,
    /// The schema of its arguments, an object.
    pub input: Value,
    /// The schema of its answer, an object.
    pub output: Value,
    /// True if it changes nothing.
    pub read_only: bool,
    /// True if it may take something away.
    pub destructive: bool,
    /// True if calling it again changes nothing more.
    pub idempotent: bool,
}

/// The answer of a tool.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The tool succeeded.
    Done(Value),
    /// It refused, in a form its caller can act on.
    Refused(Value),
}

/// One page of the resources.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Address and name of each.
    pub resources: Vec<(String, String)>,
    /// The beginning of the next page; none: this is the last.
    pub next: Option<String>,
}

/// Tools and resources of one place. All calls are made by one thread, one after the other.
pub trait Toolbox {
    /// Returns what the server is called.
    fn name(&self) -> &'static str;
    /// Returns what an agent should know before it calls anything.
    fn instructions(&self) -> &'static str;
    /// Returns the tools.
    fn tools(&self) -> Vec<ToolSpec>;
    /// Calls a tool for a client of a name. Returns `None` where there is no such tool.
    fn call(&mut self, name: &str, arguments: Map<String, Value>, client: &str) -> Option<Answer>;
    /// Returns how the addresses of the resources are made: template, name.
    fn templates(&self) -> Vec<(&'static str, &'static str)>;
    /// Returns the resources from where a page ended.
    ///
    /// # Errors
    /// Why they cannot be told.
    fn resources(&mut self, cursor: Option<&str>) -> Result<Listing, String>;
    /// Returns the text of a resource. None: there is no such resource.
    fn read(&mut self, address: &str) -> Option<String>;
    /// Handles the end of the client.
    fn close(self: Box<Self>) {}
}
