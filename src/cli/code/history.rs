//! `history`: the changes of one definition, newest first, followed through its names.

use std::io::Write;

use serde_json::{Value, json};

use super::failure::Failed;
use super::place::Place;
use crate::cli::files::ArchiveCommands;
use crate::past::{DefinitionEdit, PastError, cause, of_definition};
use crate::text::clean::clean_line;
use crate::text::definition::DefinitionChange;
use crate::text::time;

pub(super) fn history(place: &Place<'_>, files: &mut ArchiveCommands<'_>, selector: &str) -> Result<Value, Failed> {
    let (file, at) = place.finder.one(selector)?;
    let changes = of_definition(&file.source, at, files.stores(), &place.finder.stop)?;
    let mut ops: Vec<Value> = Vec::new();
    for change in &changes {
        let known = files.memory.changeset(&files.project(), &change.id.to_string());
        let record = files.memory.or_report(known);
        let (id, title, what) = (change.id, cause(record.as_ref()).unwrap_or_default().to_owned(), words(change));
        let (when, approved) = (time::utc_millis(id.at()), record.and_then(|record| record.cause.approved));
        ops.push(json!({
            "op-id": id.to_string(), "time": when, "change": what, "cause": title, "approved": approved,
            "unsure": change.unsure,
        }));
        if !place.json {
            let maybe = if change.unsure { " (perhaps outside nebula)" } else { "" };
            writeln!(files.out, "{}  {id}  {what}{maybe}  {}", time::local(id.at()), clean_line(&title))?;
        }
    }
    if !place.json && ops.is_empty() {
        files.complain("no change of it is archived: `nebula history FILE` lists those of its file")?;
    }
    files.out.flush()?;
    Ok(json!({"id": file.source.id(at), "ops": ops}))
}

/// Returns what a change did: `changed`, `renamed from total`, `renamed from total, changed`.
fn words(change: &DefinitionEdit) -> String {
    match (change.change, &change.renamed) {
        (DefinitionChange::New, _) => "added".into(),
        (DefinitionChange::Removed, _) => "removed".into(),
        (DefinitionChange::Renamed, Some(before)) => format!("renamed from {before}"),
        (DefinitionChange::RenamedAndChanged, Some(before)) => format!("renamed from {before}, changed"),
        _ => "changed".into(),
    }
}

impl From<PastError> for Failed {
    fn from(error: PastError) -> Failed {
        anyhow::Error::from(error).into()
    }
}
