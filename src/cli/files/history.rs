//! `history`: changesets or one file's versions, newest first; `--check`.

use std::collections::HashMap;
use std::io::Write;

use anyhow::Result;
use chrono::{Local, SecondsFormat, TimeZone, Utc};
use serde::Serialize;
use serde_json::json;

use super::{DONE, Desk, FAILED, HistoryArgs, count};
use crate::archive::{Id, Sha, Version};
use crate::memory::{ChangesetFile, ChangesetRecord};

/// Changesets whose lines are counted where memory did not keep them.
const COUNTED: usize = 1_000;
/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

/// A changeset in `--json`.
#[derive(Serialize)]
struct Row<'a> {
    id: String,
    time: String,
    cause: Option<&'a str>,
    files: Vec<FileRow<'a>>,
}

/// A file of it.
#[derive(Serialize)]
struct FileRow<'a> {
    path: &'a str,
    version: Option<&'a str>,
    absent: bool,
    added: Option<u64>,
    removed: Option<u64>,
}

/// What memory knows of all changesets.
#[derive(Default)]
struct Known {
    records: HashMap<String, ChangesetRecord>,
    files: HashMap<String, Vec<ChangesetFile>>,
}

impl Desk<'_> {
    pub(super) fn history(&mut self, args: &HistoryArgs) -> Result<u8> {
        if args.check {
            return self.check(args.json);
        }
        match &args.file {
            Some(file) => self.versions_of(file, args.json),
            None => self.changesets(args.json),
        }
    }

    fn changesets(&mut self, json: bool) -> Result<u8> {
        let ids = self.archive.list()?;
        let mut known = self.known()?;
        let mut folders = HashMap::new();
        let mut out = Vec::with_capacity(BUFFER);
        if json {
            out.push(b'[');
        }
        for (n, id) in ids.iter().enumerate() {
            let name = id.to_string();
            let files = match known.files.remove(&name) {
                Some(files) => files,
                None => match self.read_files(*id, n < COUNTED, &mut folders) {
                    Ok(files) => files,
                    Err(error) => {
                        self.complain(&error.to_string())?;
                        continue;
                    }
                },
            };
            let record = known.records.get(&name);
            if json {
                let row = Row { id: name, time: utc(*id), cause: cause(record), files: rows(&files) };
                if out.len() > 1 || n > 0 {
                    out.extend_from_slice(b",\n");
                }
                serde_json::to_writer(&mut out, &row)?;
            } else {
                line(&mut out, *id, record, &files)?;
            }
            if out.len() >= BUFFER {
                self.out.write_all(&out)?;
                out.clear();
            }
        }
        if json {
            out.extend_from_slice(b"]\n");
        }
        self.out.write_all(&out)?;
        self.out.flush()?;
        if ids.is_empty() && !json {
            self.complain("the archive is empty")?;
        }
        self.tell_size(ids.len())?;
        Ok(DONE)
    }

    fn known(&mut self) -> Result<Known> {
        let project = self.project();
        let records = self.memory.changesets(&project);
        let records = self.remembered(records)?;
        let files = self.memory.changeset_files(&project);
        let files = self.remembered(files)?;
        let records = records.into_iter().filter_map(|r| Some((r.id.clone()?, r))).collect();
        Ok(Known { records, files })
    }

    /// The files of a changeset that memory does not know.
    fn read_files(
        &self,
        id: Id,
        counted: bool,
        folders: &mut HashMap<String, Vec<Version>>,
    ) -> Result<Vec<ChangesetFile>> {
        let mut files = Vec::new();
        for path in self.archive.paths(id)? {
            if !folders.contains_key(&path) {
                folders.insert(path.clone(), self.archive.versions(&path)?);
            }
            let version = folders[&path].iter().rev().find(|v| v.id < id);
            let counts = version.filter(|_| counted).and_then(|v| self.archive.counts(self.workspace, &path, v));
            files.push(ChangesetFile {
                version: version.map(|v| v.id.to_string()),
                absent: version.is_some_and(|v| v.absent),
                sha256: None,
                added: counts.map(|c| c.added as u64),
                removed: counts.map(|c| c.removed as u64),
                path,
            });
        }
        Ok(files)
    }

    fn versions_of(&mut self, file: &str, json: bool) -> Result<u8> {
        let path = self.path(&self.folder, file)?;
        let versions = self.archive.versions(&path)?;
        let known = self.known()?;
        let mut by_version = HashMap::new();
        for (changeset, files) in &known.files {
            for f in files.iter().filter(|f| f.path == path) {
                by_version.extend(f.version.as_deref().map(|v| (v, (changeset, f))));
            }
        }
        let mut rows = Vec::new();
        for (n, version) in versions.iter().rev().enumerate() {
            let id = version.id.to_string();
            let of = by_version.get(id.as_str());
            let counts = match of {
                Some((_, f)) if f.added.is_some() => f.added.zip(f.removed),
                _ if n < COUNTED => {
                    self.archive.counts(self.workspace, &path, version).map(|c| (c.added as u64, c.removed as u64))
                }
                _ => None,
            };
            let cause = of.and_then(|(changeset, _)| cause(known.records.get(*changeset)));
            if json {
                rows.push(json!({
                    "version": id, "time": utc(version.id), "size": version.size(), "absent": version.absent,
                    "added": counts.map(|c| c.0), "removed": counts.map(|c| c.1), "cause": cause,
                }));
            } else {
                let size = if version.absent { "absent".into() } else { format!("{} B", version.size()) };
                writeln!(
                    self.out,
                    "{}  {id}  {size:>10}  {:>12}  {}",
                    local(version.id),
                    plus_minus(counts),
                    cause.unwrap_or("")
                )?;
            }
        }
        if json {
            writeln!(self.out, "{}", serde_json::Value::from(rows))?;
        } else if versions.is_empty() {
            anyhow::bail!("{path} has no archived version");
        }
        self.out.flush()?;
        Ok(DONE)
    }

    fn check(&mut self, json: bool) -> Result<u8> {
        let known = self.known()?;
        let files = known.files.values().flatten();
        let shas: HashMap<Id, Sha> =
            files.filter_map(|f| Some((Id::parse(f.version.as_deref()?)?, f.sha256?))).collect();
        let damage = self.archive.check(&|id| shas.get(&id).copied())?;
        if json {
            let rows: Vec<_> =
                damage.iter().map(|d| json!({"file": d.file.to_string_lossy(), "what": d.what})).collect();
            writeln!(self.out, "{}", serde_json::Value::from(rows))?;
        } else if damage.is_empty() {
            writeln!(self.out, "the archive is sound: {}", count(self.archive.list()?.len(), "changeset"))?;
        } else {
            for d in &damage {
                writeln!(self.out, "{}: {}", d.file.display(), d.what)?;
            }
        }
        self.out.flush()?;
        Ok(if damage.is_empty() { DONE } else { FAILED })
    }
}

fn cause(record: Option<&ChangesetRecord>) -> Option<&str> {
    let cause = &record?.cause;
    Some(if cause.title.is_empty() { cause.kind.as_str() } else { cause.title.as_str() }).filter(|c| !c.is_empty())
}

fn rows(files: &[ChangesetFile]) -> Vec<FileRow<'_>> {
    files
        .iter()
        .map(|f| FileRow {
            path: &f.path,
            version: f.version.as_deref(),
            absent: f.absent,
            added: f.added,
            removed: f.removed,
        })
        .collect()
}

/// A changeset and its files, for people.
fn line(out: &mut Vec<u8>, id: Id, record: Option<&ChangesetRecord>, files: &[ChangesetFile]) -> Result<()> {
    let sum = |f: fn(&ChangesetFile) -> Option<u64>| files.iter().map(f).sum::<Option<u64>>();
    let counts = sum(|f| f.added).zip(sum(|f| f.removed));
    let size = count(files.len(), "file");
    let state = match record.map(|r| r.state) {
        Some(crate::memory::ChangesetState::Failed) => " (failed, put back)",
        _ => "",
    };
    let cause = cause(record).unwrap_or("");
    writeln!(out, "{}  {id}  {size:>10}  {:>12}  {cause}{state}", local(id), plus_minus(counts))?;
    const SHOWN: usize = 5;
    for file in files.iter().take(SHOWN) {
        let counts = plus_minus(file.added.zip(file.removed));
        let made = if file.absent { "  new" } else { "" };
        writeln!(out, "                       {}  {counts}{made}", file.path)?;
    }
    if files.len() > SHOWN {
        writeln!(out, "                       and {} more", files.len() - SHOWN)?;
    }
    Ok(())
}

fn plus_minus(counts: Option<(u64, u64)>) -> String {
    match counts {
        Some((added, removed)) => format!("+{added} −{removed}"),
        None => String::new(),
    }
}

/// When an id was made, for machines.
fn utc(id: Id) -> String {
    Utc.timestamp_millis_opt(id.at()).single().map_or(String::new(), |t| t.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// When an id was made, for people.
pub(super) fn local(id: Id) -> String {
    let time = Local.timestamp_millis_opt(id.at()).single();
    time.map_or(String::new(), |t| t.format("%Y-%m-%d %H:%M:%S").to_string())
}
