//! The screen. How a key becomes a picture:
//!
//! 1. `run` waits for the first of: a key, an event of the agent, the time that `App::wake` asked for. Each becomes
//!    a [`app::Msg`].
//! 2. `App::update` finds who has the keys: the popup on top, else the line or question that asks, else the pane or
//!    the input. [`keys`] turns the chord into an [`action::Action`] of that context, and the owner does it: it
//!    changes its own state and returns [`app::Effect`]s.
//! 3. `run` does the effects that reach outside, then draws: at once after a key, else at most once in 8 ms.
//! 4. [`layout`] names the rectangles for the size and state, panes are measured for them, and `view` draws
//!    from `&App` alone: nothing is decided while drawing.
//!
//! Nothing here does I/O but `run` and `terminal`, and nothing waits for the agent.

pub mod action;
pub mod app;
mod card;
pub mod colour;
pub mod glyphs;
pub mod graph;
pub mod input;
pub mod key_groups;
pub mod keys;
pub mod layout;
mod list;
pub mod look;
pub mod msg;
pub mod pane;
pub mod past;
pub mod popup;
pub mod review;
mod run;
mod scrolled;
mod terminal;
pub mod text;
pub mod theme;
mod toml_place;
pub mod view;

pub use app::{Exit, Options, Start, key_faults, key_words};
pub use run::{Error, Handle, Left, run};
