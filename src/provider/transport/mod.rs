//! The parts that the wire formats share: HTTP, the key, retries, and answers that arrive as events.

mod async_stream;
mod event_stream;
mod halves;
mod http;
mod key_command;
mod lines;
mod named_window;
mod pace;
mod refusal;
mod retry;
mod sse;

pub(super) use async_stream::async_stream;
pub(super) use event_stream::{Framing, Out, Progress, Reader, Trouble, read};
pub(super) use http::{Auth, LARGEST, Server, is_loopback, never, read_limited};
pub(super) use named_window::{counted_long_prompt, counted_prompt};
pub(super) use refusal::{IN_TURNS, NO_SYSTEM, has_words, numbers, suggest};
pub(super) use retry::{Again, Attempt, Failure, retry};
pub(super) use sse::Event;
