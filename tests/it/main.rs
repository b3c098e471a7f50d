//! The one integration test binary.

mod attributes;
mod back;
mod card;
#[cfg(all(feature = "strand", feature = "code"))]
mod code;
mod command;
mod compact;
mod context;
#[cfg(feature = "code")]
mod definitions;
mod edits;
mod execute;
mod focus;
mod frames;
mod golden;
#[cfg(feature = "strand")]
mod graph;
mod hook;
mod hostile;
mod imports;
mod interaction;
mod japanese;
mod keys;
mod kills;
#[cfg(all(feature = "strand", feature = "code"))]
mod language_server;
mod large;
mod ledger;
mod live;
mod memory;
mod mentions;
mod merge;
mod mergiraf;
mod picture;
mod play;
mod pty;
mod replies;
mod resume;
mod rules;
mod scenes;
mod screens;
mod secrets;
#[cfg(feature = "mcp")]
mod served;
mod session;
mod sessions;
mod shell;
mod signals;
mod small_models;
mod small_sessions;
#[cfg(feature = "strand")]
mod strand;
mod streams;
mod support;
mod tls;
mod wires;
mod words;
