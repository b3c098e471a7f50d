//! What nebula and the helper of a command tell each other: one JSON value a line, over the helper's standard input.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a helper is started for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The shell's program.
    pub shell: PathBuf,
    /// Its arguments; the text comes after them.
    pub arguments: Vec<String>,
    /// What it runs.
    pub text: String,
    /// Where it runs.
    pub folder: PathBuf,
    /// Its whole environment.
    pub variables: Vec<(String, String)>,
    /// Where states before go; none: nothing is kept.
    pub staging: Option<PathBuf>,
}

/// What nebula asks of a running helper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// End every process of the command.
    Stop,
}

/// How the shell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// What a helper tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HelperReport {
    /// The shell runs.
    Started(u32),
    /// The shell could not be started.
    NotStarted(String),
    /// The shell is over; what it left, where it told: its folder and exported variables.
    Exited(Exit, Option<ShellState>),
    /// So many of the command's processes still run, a little after the shell's end.
    StillRun(usize),
    /// No process of the command is left.
    Ended,
    /// Something to tell the person and the model.
    Notice(String),
}

/// What a shell leaves to the next one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ShellState {
    /// Its folder.
    pub folder: PathBuf,
    /// Its exported variables.
    pub variables: Vec<(String, String)>,
}

/// Writes one value as a line.
///
/// # Errors
/// When the other end is gone.
pub fn send(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads the next value; none at the end.
///
/// # Errors
/// When the line is none that is known here.
pub fn receive<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    match from.read_until(b'\n', &mut line)? {
        0 => Ok(None),
        _ => Ok(Some(serde_json::from_slice(&line)?)),
    }
}
