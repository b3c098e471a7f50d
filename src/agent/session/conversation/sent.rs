//! The inputs of a session's requests, kept so that the next request begins like the last.

use std::collections::HashSet;
use std::sync::Arc;

use crate::context::prefix::RequestPrefix;
use crate::edit::Format;
use crate::provider::Message;
use crate::provider::models::Effort;

/// The requests that were made for a session.
#[derive(Default)]
pub struct SentRequests {
    /// Messages with attachments that are not sent, the text in place of these, and what is sent.
    pub plain: Vec<(Arc<Message>, String, Arc<Message>)>,
    /// Messages with attachments as a small model gets them.
    pub arranged: Vec<(Arc<Message>, Format, Arc<Message>)>,
    /// The inputs of the last request's beginning.
    pub prefix: Option<RequestPrefix>,
    /// The reason why it differed from the beginning of the request before, if it did.
    pub prefix_cause: Option<&'static str>,
    /// Tokens of the last request and the window they counted against, as memory has them.
    pub size: Option<(u64, u64)>,
    /// Tokens of the last request and its answer by part, as memory has them.
    pub parts: Option<Vec<u64>>,
    /// Tokens of the last request and its answer, as memory has them: by the server's count, or by nebula's where it gave
    /// none.
    pub counted: Option<u64>,
    /// The effort that a model was asked for and does not have, as the person was told.
    pub told_effort: Option<(String, Effort)>,
    /// The model whose answers a budget does not count, as the person was told.
    pub told_unpriced: Option<String>,
    /// The models whose edits by tool calls have been made.
    pub native_edits: HashSet<String>,
    /// The models of which a call that changes files lacked an argument.
    pub incomplete_edits: HashSet<String>,
}
