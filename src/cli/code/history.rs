//! `history`: the changes of one definition that `strand code` made, newest first, followed through its names.

use std::io::Write;

use serde_json::{Value, json};

use super::failure::Failed;
use super::place::Place;
use crate::cli::files::{ArchiveCommands, DONE};
use crate::code;
use crate::text::time;

pub(super) fn history(place: &Place<'_>, files: &mut ArchiveCommands<'_>, selector: &str) -> Result<u8, Failed> {
    let (file, at) = place.finder.one(selector)?;
    let path = &file.source.path;
    let known = files.memory.changesets_of_path(&files.project(), path);
    let mut known = files.memory.or_report(known);
    known.sort_by_key(|record| std::cmp::Reverse(record.at));
    let mut name = file.source.called(at);
    let mut ops: Vec<Value> = Vec::new();
    for record in known.iter().filter(|record| record.cause.kind == "code") {
        let Some(before) = code::earlier(&record.cause.title, &name) else { continue };
        name = before;
        let (when, title) = (time::utc_millis(record.at), &record.cause.title);
        ops.push(json!({"op-id": record.id, "time": when, "cause": title, "approved": record.cause.approved}));
        if !place.json {
            let id = record.id.as_deref().unwrap_or("-");
            writeln!(files.out, "{}  {id}  {title}", time::local(record.at))?;
        }
    }
    if place.json {
        files.out.json(&json!({"id": file.source.id(at), "ops": ops}))?;
    } else if ops.is_empty() {
        files.complain("no change of it by `strand code` is known: `nebula history FILE` lists those of its file")?;
    }
    files.out.flush()?;
    Ok(DONE)
}
