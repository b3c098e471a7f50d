//! `$EDITOR` on the terminal that the screen left: on a file of the workspace, or on a text in a private folder that is
//! removed afterwards. What the agent tells meanwhile is kept.

use std::io;
use std::path::Path;
use std::process::Stdio;

use tokio::sync::mpsc;

use crate::disk::EditorFile;
use crate::messages::app as say;
use crate::protocol::Event;

/// Opens a text in the editor and reads what it left.
///
/// # Errors
/// Why there is nothing, for the person.
pub async fn edit(
    text: &[u8],
    name: &str,
    events: &mut mpsc::Receiver<Event>,
    on_event: &mut impl FnMut(Event),
) -> Result<Vec<u8>, String> {
    let lost = |e: io::Error| say::not_handed(&e);
    let file = EditorFile::new(name, text).map_err(lost)?;
    open(file.path(), events, on_event).await?;
    file.read().map_err(|e| say::not_read_back(&e))
}

/// Runs the editor on a file until it closes.
///
/// # Errors
/// Why it did not, for the person.
pub async fn open(
    path: &Path,
    events: &mut mpsc::Receiver<Event>,
    on_event: &mut impl FnMut(Event),
) -> Result<(), String> {
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|n| std::env::var(n).ok().filter(|v| !v.trim().is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".into());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let mut command = tokio::process::Command::new(program);
    command.args(words).arg(path).stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let mut child = command.spawn().map_err(|e| say::not_started(&program, &e))?;
    loop {
        tokio::select! {
            status = child.wait() => {
                return match status {
                    Ok(status) if status.success() => Ok(()),
                    Ok(status) => Err(say::editor_failed(&program, &status)),
                    Err(e) => Err(format!("{program}: {e}")),
                };
            }
            Some(event) = events.recv() => on_event(event),
        }
    }
}
