//! Who wrote each line of a file, as a page for the screen. For blocking code alone.

use std::collections::HashMap;

use crate::agent::services::Services;
use crate::archive::Id;
use crate::messages::agent as say;
use crate::past::{self, LineCause};
use crate::text::clean::clean_line;
use crate::text::time;
use crate::text::width::{padded, shortened};
use crate::workspace::Access;

/// Cells of a cause beside a line.
const CAUSE: usize = 44;
/// The most lines of a page.
const MOST: usize = 5_000;

/// Returns the lines of a file, each run of them with its cause, as a block of Markdown.
///
/// # Errors
/// When the file, archive or memory cannot be read, in words.
pub fn page(services: &Services, given: &str) -> Result<String, String> {
    if given.trim().is_empty() {
        return Err(say::blame_which().into());
    }
    let path = services.workspace.resolve(given.trim(), Access::File).map_err(|error| error.to_string())?;
    let lines = past::blame(&path, services.stores()).map_err(|error| error.to_string())?;
    let mut known: HashMap<Id, String> = HashMap::new();
    // A fence that no line of the file ends.
    let longest = lines.iter().map(|line| line.text.chars().filter(|c| *c == '`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let mut text = format!("{fence}\n");
    let mut before = None;
    for (n, line) in lines.iter().enumerate().take(MOST) {
        let words = match line.cause {
            cause if before == Some(cause) => "│".to_string(),
            LineCause::Before => format!("· {}", say::blame_before()),
            LineCause::Outside(_) => format!("! {}", say::blame_outside()),
            LineCause::Changeset { id, unsure } => {
                let words = known.entry(id).or_insert_with(|| author(services, id)).clone();
                if unsure { format!("~ {words}") } else { words }
            }
        };
        before = Some(line.cause);
        let words = padded(&shortened(&words, CAUSE), CAUSE);
        text.push_str(&format!("{words}  {:>5}  {}\n", n + 1, clean_line(&line.text)));
    }
    text.push_str(&fence);
    if lines.len() > MOST {
        text.push_str(&format!("\n\n{}\n", say::blame_more(&(lines.len() - MOST), &path)));
    }
    Ok(text)
}

/// Returns the time of a changeset and what asked for it.
fn author(services: &Services, id: Id) -> String {
    let project = services.project();
    let known = services.memory.ask_blocking(move |memory| {
        let record = memory.changeset(&project, &id.to_string())?;
        let turn = record.as_ref().and_then(|record| record.cause.turn);
        Ok((record, turn.and_then(|turn| memory.typed(turn).ok().flatten())))
    });
    let Ok((Some(record), typed)) = known else { return format!("• {}", time::local(id.at())) };
    let (mark, title) = match record.cause.kind.as_str() {
        "command" => ("$", record.cause.title),
        "undo" | "redo" => ("↶", record.cause.title),
        _ => ("•", typed.unwrap_or(record.cause.title)),
    };
    format!("{mark} {}  {}", time::local(id.at()), clean_line(title.trim()))
}
