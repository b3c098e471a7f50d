//! `history`: the changes of one definition that `strand code` made, newest first, followed through its names.

use std::io::Write;

use serde_json::{Value, json};

use super::failure::Failed;
use super::find::Place;
use super::write::called;
use crate::cli::files::{ArchiveCommands, DONE};
use crate::text::time;

pub(super) fn history(place: &Place<'_>, files: &mut ArchiveCommands<'_>, selector: &str) -> Result<u8, Failed> {
    let (file, at) = place.one(selector)?;
    let path = &file.source.path;
    let known = files.memory.changesets_of_path(&files.project(), path);
    let mut known = files.memory.or_report(known);
    known.sort_by_key(|record| std::cmp::Reverse(record.at));
    let mut name = called(&file.source, at);
    let mut ops: Vec<Value> = Vec::new();
    for record in known.iter().filter(|record| record.cause.kind == "code") {
        let Some(before) = earlier(&record.cause.title, &name) else { continue };
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

/// Returns what a definition was called before a change of this title, if the change was one of it.
fn earlier(title: &str, name: &str) -> Option<String> {
    let change = title.strip_prefix("code: ")?;
    let (_, names) = change.split_once(' ')?;
    match names.split_once(" by ").or_else(|| names.split_once(" to ")) {
        Some((old, new)) => (new == name).then(|| old.to_owned()),
        None => (names == name).then(|| names.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_followed_backwards() {
        let earlier = |title: &str| earlier(title, "fn.b");
        assert_eq!(earlier("code: replace fn.b").as_deref(), Some("fn.b"));
        assert_eq!(earlier("code: replace fn.a by fn.b").as_deref(), Some("fn.a"));
        assert_eq!(earlier("code: rename fn.a to fn.b").as_deref(), Some("fn.a"));
        for other in ["code: replace fn.a", "code: rename fn.b to fn.c", "replace fn.b", "undo of fn.b"] {
            assert_eq!(earlier(other), None, "{other}");
        }
    }
}
