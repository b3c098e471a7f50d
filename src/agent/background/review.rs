//! The review queue on the screen: what waits, and what the person decides about it. For blocking code alone.

use crate::agent::services::Services;
use crate::memory::ReviewDecision;
use crate::messages::agent as say;
use crate::review;
use crate::text::clean::clean_line;
use crate::text::time;

/// Cells of an id that tell changes apart.
const ID: usize = 13;

/// Returns the changes that wait, as a table.
///
/// # Errors
/// When archive or memory cannot be read, in words.
pub fn table(services: &Services) -> Result<String, String> {
    let open = review::open(services.stores()).map_err(|error| error.to_string())?;
    if open.is_empty() {
        return Ok(say::review_nothing().into());
    }
    let mut text = String::from(say::review_head());
    for entry in &open {
        let id = entry.id.to_string();
        let files: Vec<String> = entry.files.iter().map(|file| format!("`{}`", clean_line(&file.path))).collect();
        let lines = entry.files.iter().map(|file| file.lines).try_fold((0, 0), |sum, lines| {
            let (added, removed) = lines?;
            Some((sum.0 + added, sum.1 + removed))
        });
        let lines = lines.map_or(String::new(), |(added, removed)| format!("+{added} −{removed}"));
        let title = clean_line(&entry.title).replace('|', "\\|");
        let (id, time) = (id.get(..ID).unwrap_or(&id), time::local(entry.id.at()));
        text.push_str(&format!("| {id} | {time} | {title} | {} | {lines} |\n", files.join(", ")));
    }
    text.push_str(say::review_how());
    Ok(text)
}

/// Returns the ids of the changes that are named: `all`, or beginnings of ids.
///
/// # Errors
/// When one is not there, or the queue cannot be read, in words.
pub fn chosen(services: &Services, names: &[String]) -> Result<Vec<String>, String> {
    let open = review::open(services.stores()).map_err(|error| error.to_string())?;
    Ok(review::named(&open, names)?.iter().map(|entry| entry.id.to_string()).collect())
}

/// Records a decision about changes.
///
/// # Errors
/// When it cannot be kept, in words.
pub fn decide(services: &Services, ids: &[String], decision: ReviewDecision) -> Result<(), String> {
    let stores = services.stores();
    stores.memory.review(&stores.project(), ids, decision).map_err(|error| error.to_string())
}
