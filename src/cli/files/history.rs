//! `history`: changesets or one file's versions, newest first; `--check`.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use super::{ArchiveCommands, DONE, FAILED, HistoryArgs};
use crate::archive::{Id, Sha, StoreOps, parts_words};
use crate::memory::{ChangesetRecord, ChangesetState, ListedFile};
use crate::past::{cause, files_of};
use crate::proposal::{REPOSITORY, counted, is_in_repository, large_made, outermost_folder};
use crate::shell::output::record::{self, CommandRecord};
use crate::text::clean::clean_line;
use crate::text::number::plural;
use crate::text::{size, time};
use crate::workspace::Workspace;

/// Changesets whose lines are counted where memory did not keep them.
const COUNTED: usize = 1_000;
/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

/// A changeset in `--json`.
#[derive(Serialize)]
struct Row<'a> {
    id: String,
    time: String,
    #[serde(flatten)]
    cause: CauseRow<'a>,
    approved: Option<Cow<'a, str>>,
    merged: Option<&'a str>,
    files: Vec<FileRow<'a>>,
    /// The ops that it issued to Strand stores.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    strand: Vec<StoreOps>,
}

/// The cause of a changeset, in `--json`.
#[derive(Serialize)]
struct CauseRow<'a> {
    cause: Option<&'a str>,
    kind: Option<&'a str>,
    #[serde(flatten)]
    command: Option<CommandRow<'a>>,
    /// True if nothing was written, or everything was put back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
}

impl<'a> CauseRow<'a> {
    fn of(record: Option<&'a ChangesetRecord>, commands: &'a CommandsByChangeset) -> Self {
        let kind = record.map(|record| record.cause.kind.as_str());
        let command = record.filter(|record| record.cause.kind == "command").map(|record| {
            let known = record.id.as_ref().and_then(|id| commands.get(id));
            CommandRow {
                command: known.map_or(&record.cause.title, |known| &known.command),
                exit: known.and_then(|known| known.exit),
            }
        });
        let failed = record.is_some_and(|record| record.state == ChangesetState::Failed);
        CauseRow { cause: cause(record), kind, command, failed }
    }
}

/// The command that made a changeset, in `--json`.
#[derive(Serialize)]
struct CommandRow<'a> {
    /// Its text, of one whose log is gone in one line and cut off.
    command: &'a str,
    /// Its exit code; none: a signal ended it, or its log is gone.
    exit: Option<i32>,
}

/// The commands whose logs are still there, by the changeset of each.
type CommandsByChangeset = HashMap<String, CommandRecord>;

/// A file of it.
#[derive(Serialize)]
struct FileRow<'a> {
    path: &'a str,
    version: Option<&'a str>,
    absent: bool,
    added: Option<u64>,
    removed: Option<u64>,
}

impl ArchiveCommands<'_> {
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
        let (project, archive) = (self.project(), self.archive);
        // The names are read while memory reads its rows: each takes the disk and the processor about as long.
        let (ids, known) = std::thread::scope(|scope| {
            let ids = scope.spawn(|| archive.list());
            let known = self.memory.listing(&project);
            (ids.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), known)
        });
        let (ids, known) = (ids?, self.memory.or_report(known));
        let commands = if json { self.commands_by_changeset() } else { HashMap::new() };
        let mut folders = HashMap::new();
        let mut out = Vec::with_capacity(BUFFER);
        if json {
            out.push(b'[');
        }
        let mut has_row = false;
        for (n, id) in ids.iter().enumerate() {
            let name = id.to_string();
            let (record, files) = (known.find(&name), known.files(&name));
            let read = match files.len() {
                0 => match files_of(*id, (n < COUNTED).then_some(self.workspace), &mut folders, self.archive) {
                    Ok(read) => read,
                    Err(error) => {
                        self.complain(&error.to_string())?;
                        continue;
                    }
                },
                _ => Vec::new(),
            };
            let ops = self.ops(*id, record, files.len() == 0);
            let files = files.chain(read.iter().map(ListedFile::from));
            if json {
                out.extend_from_slice(if std::mem::replace(&mut has_row, true) { b",\n" } else { b"" });
                let (time, files) = (time::utc_millis(id.at()), files.map(row).collect());
                let (cause, approved) = (CauseRow::of(record, &commands), self.approved(*id, record)?);
                let row = Row { id: name, time, cause, approved, merged: merged(record), files, strand: ops };
                serde_json::to_writer(&mut out, &row)?;
            } else {
                let definitions: Vec<&str> = ops.iter().flat_map(|ops| &ops.definitions).map(String::as_str).collect();
                line(&mut out, (*id, &name), record, files, (&definitions, self.workspace))?;
            }
            if out.len() >= BUFFER {
                self.give(&out, json)?;
                out.clear();
            }
        }
        if json {
            out.extend_from_slice(b"]\n");
        }
        self.give(&out, json)?;
        self.out.flush()?;
        if ids.is_empty() && !json {
            self.complain("the archive is empty")?;
        }
        self.tell_size(ids.len())?;
        Ok(DONE)
    }

    /// Returns the ops of a changeset: only one without files in memory, or one that restores, can name some.
    fn ops(&self, id: Id, record: Option<&ChangesetRecord>, is_bare: bool) -> Vec<StoreOps> {
        match is_bare || record.is_some_and(|record| ["undo", "redo"].contains(&record.cause.kind.as_str())) {
            true => self.archive.store_ops(id).unwrap_or_default(),
            false => Vec::new(),
        }
    }

    fn commands_by_changeset(&self) -> CommandsByChangeset {
        let Some(logs) = &self.commands else { return HashMap::new() };
        let commands = record::list(logs, self.workspace.root()).into_iter();
        commands.filter_map(|(command, _)| Some((command.changeset.clone()?, command))).collect()
    }

    /// Returns who approved a changeset: as memory knows it, else as the archive does.
    fn approved<'r>(&mut self, id: Id, record: Option<&'r ChangesetRecord>) -> Result<Option<Cow<'r, str>>> {
        if let Some(record) = record {
            return Ok(record.cause.approved.as_deref().map(Cow::Borrowed));
        }
        match self.archive.approved(id) {
            Ok(approved) => Ok(approved.map(Cow::Owned)),
            Err(error) => self.complain(&error.to_string()).map(|()| None),
        }
    }

    /// Hands lines or a part of the JSON on.
    fn give(&mut self, lines: &[u8], json: bool) -> Result<()> {
        match json {
            true => self.out.json_part(&String::from_utf8_lossy(lines))?,
            false => self.out.write_all(lines)?,
        }
        Ok(())
    }

    fn versions_of(&mut self, file: &str, json: bool) -> Result<u8> {
        let path = self.path(&self.folder, file)?;
        let versions = self.archive.versions(&path)?;
        let known = self.memory.changesets_of_path(&self.project(), &path);
        let known = self.memory.or_report(known);
        let files = known.iter().flat_map(|c| c.files.iter().map(move |f| (c, f)));
        let by_version: HashMap<_, _> = files.filter_map(|(c, f)| Some((f.version.as_deref()?, (c, f)))).collect();
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
            let cause = of.and_then(|(changeset, _)| cause(Some(changeset)));
            let approved = of.and_then(|(changeset, _)| changeset.cause.approved.as_deref());
            let merged = of.and_then(|(changeset, _)| merged(Some(changeset)));
            let kind = of.map(|(changeset, _)| changeset.cause.kind.as_str());
            if json {
                rows.push(json!({
                    "version": id, "time": time::utc_millis(version.id.at()), "size": version.size(), "absent": version.absent,
                    "added": counts.map(|c| c.0), "removed": counts.map(|c| c.1), "cause": cause, "kind": kind, "approved": approved, "merged": merged,
                }));
            } else {
                let size = if version.absent { "absent".into() } else { size::words(version.size()) };
                writeln!(
                    self.out,
                    "{}  {id}  {size:>10}  {:>12}  {}",
                    time::local(version.id.at()),
                    plus_minus(counts),
                    cause.unwrap_or("").to_string() + &merged_words(merged)
                )?;
            }
        }
        if json {
            self.out.json(&rows)?;
        } else if versions.is_empty() {
            anyhow::bail!("{path} has no archived version");
        }
        self.out.flush()?;
        Ok(DONE)
    }

    fn check(&mut self, json: bool) -> Result<u8> {
        let shas = self.memory.version_hashes(&self.project());
        let shas = self.memory.or_report(shas);
        let shas: HashMap<Id, Sha> = shas.iter().filter_map(|(v, sha)| Some((Id::parse(v)?, *sha))).collect();
        let damage = self.archive.check(&|id| shas.get(&id).copied())?;
        if json {
            let rows: Vec<_> =
                damage.iter().map(|d| json!({"file": d.file.to_string_lossy(), "what": d.what})).collect();
            self.out.json(&rows)?;
        } else if damage.is_empty() {
            writeln!(self.out, "the archive is intact: {}", plural(self.archive.list()?.len(), "changeset"))?;
        } else {
            for d in &damage {
                writeln!(self.out, "{}: {}", d.file.display(), d.what)?;
            }
        }
        self.out.flush()?;
        Ok(if damage.is_empty() { DONE } else { FAILED })
    }
}

/// Returns how a changeset was joined with what someone else had changed, in a word.
fn merged(record: Option<&ChangesetRecord>) -> Option<&str> {
    record?.cause.merged.as_deref()
}

fn merged_words(merged: Option<&str>) -> String {
    merged.map_or(String::new(), |how| format!(" (merged: {how})"))
}

fn row(file: ListedFile<'_>) -> FileRow<'_> {
    let ListedFile { path, version, absent, added, removed } = file;
    FileRow { path, version, absent, added, removed }
}

/// Prints a changeset and its files, for people.
fn line<'a>(
    out: &mut Vec<u8>,
    (id, name): (Id, &str),
    record: Option<&ChangesetRecord>,
    files: impl Iterator<Item = ListedFile<'a>> + Clone,
    (definitions, workspace): (&[&str], &Workspace),
) -> Result<()> {
    let own = files.clone().filter(|file| !is_in_repository(file.path));
    let large = large_made(own.clone().map(|file| (file.path, file.absent)));
    let folders: BTreeSet<&str> = large.keys().copied().collect();
    let is_one = |path: &str| outermost_folder(path, &folders).is_none_or(|folder| folder == path);
    let (mut number, mut sum) = (0_usize, Some((0, 0)));
    for file in own.clone() {
        number += usize::from(is_one(file.path));
        sum = sum.zip(file.added.zip(file.removed)).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
    }
    let state = match record.map(|r| r.state) {
        Some(ChangesetState::Failed) => " (failed: no file is changed by it)",
        _ => "",
    };
    let of_definitions = (!definitions.is_empty()).then(|| plural(definitions.len(), "definition"));
    let few = files.clone().map(|file| file.path).filter(|path| outermost_folder(path, &folders).is_none());
    let of_files = (few.clone().next().is_some() || definitions.is_empty() && large.is_empty()).then(|| counted(few));
    let of_large = large.values().map(|count| format!("a folder with {}", plural(*count, "file")));
    let size = of_files.into_iter().chain(of_large).chain(of_definitions).collect::<Vec<_>>().join(", ");
    let cause = cause(record).unwrap_or("");
    let mut of_repository = files.clone().map(|file| file.path).filter(|path| is_in_repository(path)).peekable();
    let repository = of_repository.peek().is_some().then(|| parts_words(workspace, of_repository));
    let merged = merged_words(merged(record));
    writeln!(out, "{}  {name}  {size:>10}  {:>12}  {cause}{state}{merged}", time::local(id.at()), plus_minus(sum))?;
    const SHOWN: usize = 5;
    if let Some(words) = repository {
        writeln!(out, "                       {REPOSITORY}: {words}")?;
    }
    for file in own.filter(|file| is_one(file.path)).take(SHOWN) {
        let lines = match large.get(file.path) {
            Some(count) => format!("with {}", plural(*count, "file")),
            None => plus_minus(file.added.zip(file.removed)),
        };
        out.extend_from_slice(b"                       ");
        out.extend_from_slice(clean_line(file.path).as_bytes());
        out.extend_from_slice(b"  ");
        out.extend_from_slice(lines.as_bytes());
        out.extend_from_slice(if file.absent { b"  new\n" } else { b"\n" });
    }
    if number > SHOWN {
        writeln!(out, "                       and {} more", number - SHOWN)?;
    }
    for name in definitions.iter().take(SHOWN) {
        writeln!(out, "                       {}", clean_line(name))?;
    }
    if definitions.len() > SHOWN {
        writeln!(out, "                       and {} more", definitions.len() - SHOWN)?;
    }
    Ok(())
}

fn plus_minus(counts: Option<(u64, u64)>) -> String {
    match counts {
        // Of a state that was only kept, nothing changed.
        None | Some((0, 0)) => String::new(),
        Some((added, removed)) => format!("+{added} −{removed}"),
    }
}
