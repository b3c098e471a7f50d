//! Requests to models: the values of a request and of its streamed answer, and the [`Provider`] that turns one into the
//! other. One folder a wire format; a consumer never sees JSON.
//!
//! What a provider promises:
//! - Every piece of a call carries the `index` of its call. The first piece of a call also carries its name and
//!   an id, made up where the server gave none. [`Answer`] joins the pieces.
//! - A whole answer ends in [`Delta::End`]; a stream that stops without it has ended in an [`Error`].
//! - Trouble before the first token is tried again, with a [`Delta::Retrying`] before each pause; trouble after
//!   it is an error of kind [`ErrorKind::Broken`], and what arrived before stands.
//! - What a provider sealed goes back to the same origin byte for byte, or not at all.
//! - Dropping the stream drops the request.
//! - Keys are in no error, no `Debug` output and no recording.
//!
//! Not here: what joins a prompt (`context`), running tools (`agent`), repairing the meaning of arguments.

mod answer;
mod connect;
mod contract;
mod delta;
mod described;
pub mod embedded;
mod error;
mod local;
mod message;
pub mod models;
mod replay;
mod request;
mod transport;
mod usage;
mod wire;
mod wire_name;

pub use answer::Answer;
pub use connect::{connect, is_local};
pub use contract::Provider;
pub use delta::{Backoff, Delta, Deltas, EndReason};
pub use described::described;
pub use error::{Error, ErrorKind, ServerWords};
pub use local::{
    LocalServer, PORTS, begin_with, choose, find, find_on, lacks_models, may_write, runs_on_demand, without_model,
    writers,
};
pub use message::{Blob, Body, Message, Origin, Part, PartKind, Role, Runs, Span, ToolCall, ToolResult};
pub use models::Capabilities;
pub use replay::{Recorder, Recording, Replay};
pub use request::{Request, SkipBackoff, ToolSpec};
pub use usage::Usage;
pub use wire_name::Wire;
