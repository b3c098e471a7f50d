//! The offer of a server: tools and resources, whatever implements them.

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// A tool as a client sees it.
#[derive(Clone, Debug)]
pub struct ServedTool {
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

/// The program that calls tools.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Its name; empty where it gives none.
    pub name: String,
    /// True if it can ask the person who uses it.
    pub can_ask: bool,
    /// Cancelled once it does not want the answer any more: what only reads then ends, what writes goes on to its end.
    pub stop: CancellationToken,
}

/// The answer of a tool.
#[derive(Clone, Debug)]
pub enum ServedAnswer {
    /// The tool succeeded.
    Done(Value),
    /// The tool succeeded, and its caller is to know something besides.
    Noted(Value, Vec<String>),
    /// The tool refused, and says why in a form its caller can act on.
    Refused(Value),
    /// The tool waits for the person's yes. Only a client that can ask gets this.
    Ask(ConsentQuestion),
}

/// A question to the person, with yes or no for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentQuestion {
    /// The name under which the toolbox keeps what it is about.
    pub ticket: String,
    /// The question, with all that its answer rests on.
    pub text: String,
    /// The effect of a yes, in a few words.
    pub yes: &'static str,
}

/// A resource in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its address.
    pub address: String,
    /// Its name.
    pub name: String,
    /// The media type.
    pub media: &'static str,
}

/// One page of the resources.
#[derive(Clone, Debug, Default)]
pub struct ResourcePage {
    /// The resources.
    pub resources: Vec<Entry>,
    /// The beginning of the next page; none: this is the last.
    pub next: Option<String>,
}

/// The contents of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Text of a media type.
    Text(String, &'static str),
    /// Bytes that are no text, in base64.
    Base64(String),
}

/// Tools and resources of one place. All calls are made by one thread, one after the other.
pub trait Toolbox {
    /// Returns what the server is called.
    fn name(&self) -> &'static str;
    /// Returns what an agent should know before it calls anything.
    fn instructions(&self) -> String;
    /// Returns the tools.
    fn tools(&self) -> Vec<ServedTool>;
    /// Calls a tool for a client. Returns `None` where there is no such tool.
    fn call(&mut self, name: &str, arguments: Map<String, Value>, client: &Client) -> Option<ServedAnswer>;
    /// Goes on with what a question was about. Returns `None` where there is no such ticket.
    fn answered(&mut self, ticket: &str, yes: bool) -> Option<ServedAnswer> {
        let _ = (ticket, yes);
        None
    }
    /// Returns how the addresses of the resources are made: template, name.
    fn templates(&self) -> Vec<(&'static str, &'static str)>;
    /// Returns the resources from where a page ended.
    ///
    /// # Errors
    /// Why they cannot be told.
    fn resources(&mut self, cursor: Option<&str>) -> Result<ResourcePage, String>;
    /// Returns what a resource holds. None: there is no such resource.
    fn read(&mut self, address: &str) -> Option<Contents>;
    /// Handles the end of the client.
    fn close(self: Box<Self>) {}
}
