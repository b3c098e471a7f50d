//! `review`: the changes that nobody approved beforehand, kept or restored.

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::json;

use super::{ArchiveCommands, AskArgs, DONE, FAILED, NOT_APPROVED, ReviewArgs};
use crate::archive::Id;
use crate::memory::ReviewDecision;
use crate::proposal::{REPOSITORY, is_in_repository, outermost_folder};
use crate::restore_plan::RestoreScope;
use crate::review::{self, ReviewEntry, ReviewFile, ReviewQueue};
use crate::text::clean::clean_line;
use crate::text::number::plural;
use crate::text::time;

impl ArchiveCommands<'_> {
    pub(super) fn review(&mut self, args: &ReviewArgs) -> Result<u8> {
        let queue = review::open(self.stores())?;
        review::record_discarded(&queue, self.stores());
        let ReviewQueue { entries: open, unreadable, .. } = queue;
        for error in unreadable {
            self.complain(&error.to_string())?;
        }
        let names = if args.keep.is_empty() { &args.restore } else { &args.keep };
        let chosen = match review::named(&open, names) {
            Ok(chosen) => chosen,
            Err(why) => bail!(why),
        };
        let chosen: Vec<Id> = chosen.iter().map(|entry| entry.id).collect();
        let ids: Vec<String> = chosen.iter().map(Id::to_string).collect();
        if args.keep.is_empty() && args.restore.is_empty() {
            return self.list_open(&open, args.ask.json);
        }
        if ids.is_empty() {
            self.complain("nothing waits to be reviewed")?;
            return Ok(DONE);
        }
        if !args.keep.is_empty() {
            self.stores().decide(&ids, ReviewDecision::Keep, None)?;
            if args.ask.json {
                self.out.json(&json!({"kept": ids}))?;
            } else {
                writeln!(self.out, "kept {}; nothing was written", plural(ids.len(), "change"))?;
            }
            self.out.flush()?;
            return Ok(DONE);
        }
        self.restore_reviewed(&review::scope(&chosen, &open), &args.ask)
    }

    /// Restores entries, and says what stays of them.
    fn restore_reviewed(&mut self, wanted: &RestoreScope, ask: &AskArgs) -> Result<u8> {
        let (code, undone, written) = self.restore_listed(wanted, ask)?;
        if ask.hunk {
            // What was not chosen is kept.
            let mut chosen = Vec::new();
            for id in undone.iter().filter(|_| code == DONE) {
                if self.archive.paths(*id)?.iter().any(|path| written.contains_key(path)) {
                    chosen.push(id.to_string());
                }
            }
            self.stores().decide(&chosen, ReviewDecision::Restore, None)?;
            return Ok(code);
        }
        let rests = self.record_restored(&undone, (code, &written), ask)?;
        for rest in &rests {
            self.complain(&format!("{} still waits: {}", rest.id, clean_line(&rest.lines().join(", "))))?;
        }
        Ok(if rests.is_empty() { code } else { NOT_APPROVED })
    }

    /// Lists what waits; the code says whether anything does.
    fn list_open(&mut self, open: &[ReviewEntry], as_json: bool) -> Result<u8> {
        let code = if open.is_empty() { DONE } else { FAILED };
        if as_json {
            let rows: Vec<_> = open.iter().map(|entry| self.row(entry)).collect();
            self.out.json(&rows)?;
            self.out.flush()?;
            return Ok(code);
        }
        let mut turn = None;
        for (n, entry) in open.iter().enumerate() {
            if n == 0 || turn != entry.turn {
                let session = entry.turn.as_ref().map_or("no turn", |(session, _)| session.get(..8).unwrap_or(session));
                writeln!(self.out, "{}{}  {session}", if n == 0 { "" } else { "\n" }, time::local(entry.id.at()))?;
            }
            turn.clone_from(&entry.turn);
            let sign = if entry.kind == "command" { '$' } else { '•' };
            writeln!(self.out, "  {}  {sign} {}", entry.id, clean_line(&entry.title))?;
            let wholes = review::whole_folders(entry, self.stores());
            let names = wholes.keys().map(String::as_str).collect();
            for file in own_files(entry) {
                let lines = match (wholes.get(&file.path), outermost_folder(&file.path, &names), file.lines) {
                    (Some(count), ..) => format!("  with {}", plural(*count, "file")),
                    (None, Some(_), _) => continue,
                    (.., Some((added, removed))) => format!("  +{added} −{removed}"),
                    (.., None) => String::new(),
                };
                writeln!(self.out, "      {}{lines}", clean_line(&file.path))?;
            }
            if let Some(words) = review::repository_words(entry, self.stores()) {
                writeln!(self.out, "      {REPOSITORY}: {words}")?;
            }
        }
        self.out.flush()?;
        match open.len() {
            0 => self.complain("nothing waits to be reviewed")?,
            n => self.complain(&format!(
                "{} not reviewed: `nebula review --keep all`, or `--restore ID…` (`--hunk` chooses hunks)",
                plural(n, "change")
            ))?,
        }
        Ok(code)
    }

    fn row(&self, entry: &ReviewEntry) -> serde_json::Value {
        let file = |file: &ReviewFile| json!({"path": file.path, "added": file.lines.map(|l| l.0), "removed": file.lines.map(|l| l.1)});
        let repository = review::repository_words(entry, self.stores())
            .map(|words| json!({"path": REPOSITORY, "added": null, "removed": null, "changed": words}));
        json!({
            "id": entry.id.to_string(), "time": time::utc_millis(entry.id.at()), "kind": entry.kind, "cause": entry.title,
            "session": entry.turn.as_ref().map(|turn| &turn.0), "turn": entry.turn.as_ref().map(|turn| turn.1),
            "approved": entry.approved, "files": own_files(entry).map(file).chain(repository).collect::<Vec<_>>(),
        })
    }
}

/// Returns the files of an entry but those of the repository, which are one unit.
fn own_files(entry: &ReviewEntry) -> impl Iterator<Item = &ReviewFile> {
    entry.files.iter().filter(|file| !is_in_repository(&file.path))
}
