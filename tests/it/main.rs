//! The one integration test binary.

mod back;
mod command;
mod compact;
mod context;
mod edits;
mod focus;
mod frames;
mod hook;
mod hostile;
mod imports;
mod interaction;
mod kills;
mod large;
mod live;
mod memory;
mod mentions;
mod picture;
mod play;
mod pty;
mod replies;
mod road;
mod rules;
mod scenes;
mod screens;
mod session;
mod sessions;
mod shell;
mod signals;
mod small_models;
#[cfg(feature = "strand")]
mod strand;
mod streams;
mod support;
mod tls;
mod wires;
mod words;
