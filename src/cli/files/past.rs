//! `timeline`, `at`, `blame`: the workspace as it was, and who wrote what is in it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::json;

use super::super::diff;
use super::undo::{outcome, written_files};
use super::{ArchiveCommands, AskArgs, AtArgs, BlameArgs, DONE, FAILED, NOT_APPROVED, archived_path};
use crate::archive::Id;
use crate::git::{self, LineCommit};
use crate::memory::ChangesetState;
use crate::past::{self, BlamedLine, LineCause, Moment};
use crate::proposal::{
    Consent, Decision, FileChange, ForeignChoice, Proposal, ProposalId, RestorePreview, RestoreStatus, State, counted,
    is_in_repository, units,
};
use crate::protocol::UNDO;
use crate::restore_plan::{RestoreScope, marking_foreign};
use crate::text::clean::clean_line;
use crate::text::name::text_of;
use crate::text::number::plural;
use crate::text::time;
use crate::text::width::{cells, expanded, padded, shortened};
use crate::workspace::{Access, PathError};

/// The time that git has for the commits of a file.
const GIT_LIMIT: Duration = Duration::from_secs(30);

/// Cells of a cause beside a line.
const CAUSE: usize = 44;

/// The facts that memory has about a changeset, for a line.
#[derive(Debug, Clone, Default)]
struct ChangesetFacts {
    kind: String,
    title: String,
    prompt: Option<String>,
    session: Option<String>,
    turn: Option<i64>,
}

impl ArchiveCommands<'_> {
    /// Lists the moments there are, oldest first.
    pub(super) fn timeline(&mut self, as_json: bool) -> Result<u8> {
        let mut ids = self.archive.list()?;
        ids.sort_unstable();
        let known = self.memory.listing(&self.project());
        let known = self.memory.or_report(known);
        let mut rows = Vec::new();
        for id in ids {
            let name = id.to_string();
            let record = known.find(&name);
            if record.is_some_and(|record| record.state == ChangesetState::Failed) {
                continue;
            }
            let files = known.files(&name);
            let count = match files.len() {
                0 => match self.archive.paths(id) {
                    Ok(paths) => units(paths.iter().map(String::as_str)),
                    Err(error) => {
                        self.complain(&error.to_string())?;
                        continue;
                    }
                },
                _ => units(files.clone().map(|file| file.path)),
            };
            let mut lines = files.filter(|file| !is_in_repository(file.path)).map(|file| file.added.zip(file.removed));
            let sum = lines.try_fold((0, 0), |sum, lines| lines.map(|(a, r)| (sum.0 + a, sum.1 + r)));
            let cause = crate::past::cause(record).unwrap_or_default();
            let kind = record.map_or("", |record| record.cause.kind.as_str());
            if as_json {
                rows.push(json!({
                    "when": time::utc_millis(id.at()), "changeset": name, "kind": kind, "cause": cause, "files": count,
                    "session": record.and_then(|record| record.cause.session.as_deref()),
                    "turn": record.and_then(|record| record.cause.turn),
                    "added": sum.map(|sum| sum.0), "removed": sum.map(|sum| sum.1),
                }));
                continue;
            }
            let lines = sum.map_or(String::new(), |(added, removed)| format!("+{added} −{removed}"));
            let (when, files) = (time::local(id.at()), plural(count, "file"));
            writeln!(self.out, "{when}  {name}  {kind:<8} {files:>10}  {lines:>12}  {}", clean_line(cause))?;
        }
        if as_json {
            self.out.json(&rows)?;
        }
        self.out.flush()?;
        if !as_json {
            self.complain("`nebula at WHEN` shows the files of a moment: a changeset (just before it), 14:05, -2h")?;
        }
        Ok(DONE)
    }

    /// Shows what differs from a moment, or the bytes of one file then; `--restore` proposes to go back to it.
    pub(super) fn at(&mut self, args: &AtArgs) -> Result<u8> {
        let moment = Moment::parse(&args.when, self.stores())?;
        if let Some(to) = &args.to {
            return self.write_state(moment, to);
        }
        if let Some(file) = &args.path {
            if args.restore {
                return self.restore_file(&self.path(&self.folder, file)?, moment, args);
            }
            return self.print_state(&self.path_then(file)?, moment, &args.when);
        }
        if args.restore {
            let Some(next) = moment.next else { return self.restore_last(moment, args) };
            return self.restore(&RestoreScope::Since(next.to_string()), &args.ask);
        }
        let past::Differing { files, unreadable } =
            past::differing(moment, Moment::now(self.stores())?, self.stores())?;
        for (_, why) in &unreadable {
            self.complain(why)?;
        }
        if args.ask.json {
            let row = |file: &past::FileThen| {
                json!({
                    "path": file.change.path, "version": file.version.map(|version| version.to_string()),
                    "outside": file.outside.is_some(), "unsure": file.unsure,
                    "then": if file.change.before.is_absent() { "absent" } else { "there" },
                    "added": file.change.counts.added, "removed": file.change.counts.removed,
                })
            };
            self.out.json(&files.iter().map(row).collect::<Vec<_>>())?;
            self.out.flush()?;
            return Ok(DONE);
        }
        if let Some(next) = moment.next {
            writeln!(self.out, "just before changeset {next} ({})", time::local(next.at()))?;
        }
        let width = files.iter().map(|file| cells(&file.change.path)).max().unwrap_or(0);
        for file in &files {
            let change = &file.change;
            let then = match (&change.before, &change.after) {
                (State::Absent, _) => "absent then",
                (_, State::Absent) => "absent now",
                _ => "",
            };
            let mut words = vec![then.to_string()];
            words.extend(doubt(file.outside, file.is_left, file.unsure));
            words.retain(|words| !words.is_empty());
            let then = words.join(", ");
            let path = padded(&clean_line(&change.path), width);
            let line = format!("  {path}  +{} −{}  {then}", change.counts.added, change.counts.removed);
            writeln!(self.out, "{}", line.trim_end())?;
        }
        self.out.flush()?;
        self.complain(&differing_words(&files, moment.next.is_none()))?;
        Ok(DONE)
    }

    fn restore_file(&mut self, path: &str, moment: Moment, args: &AtArgs) -> Result<u8> {
        let then = past::state_at(path, moment, self.stores())?;
        let version = past::version_at(path, moment, self.stores())?;
        let is_left = then.is_left && !is_in_repository(path);
        if !is_left && version.is_none() {
            self.complain(&format!("{path} has no archived version since {}: nothing to restore", args.when))?;
            return Ok(DONE);
        }
        if let Some(words) = doubt(then.outside, then.is_left, then.unsure) {
            self.complain(&format!("{path}: {words}"))?;
        }
        let Some(version) = version.filter(|_| !is_left) else {
            let now = self.workspace.read_archived(path)?.state;
            return self.restore_left(vec![FileChange::new(path, now, then.state, UNDO, &[])], &args.ask);
        };
        let scope = RestoreScope::Version { path: path.into(), version: version.id.to_string() };
        self.restore(&scope, &args.ask)
    }

    /// Restores, for a moment since which nebula changed nothing, what it had left.
    fn restore_last(&mut self, moment: Moment, args: &AtArgs) -> Result<u8> {
        let found = past::differing(moment, Moment::now(self.stores())?, self.stores())?;
        let left = found.files.into_iter().filter(|file| file.is_left && !is_in_repository(&file.change.path));
        let back = |change: FileChange| FileChange::new(change.path, change.after, change.before, UNDO, &[]);
        let changes: Vec<FileChange> = left.map(|file| back(file.change)).collect();
        if changes.is_empty() {
            bail!("nothing was changed since {}", args.when);
        }
        self.restore_left(changes, &args.ask)
    }

    /// Restores what nebula had left of files, which no version holds, in place of what someone else made of them: the person
    /// is asked, unless `--force` says that nobody is.
    fn restore_left(&mut self, changes: Vec<FileChange>, ask: &AskArgs) -> Result<u8> {
        let changes = changes.into_iter().filter(|change| change.before != change.after);
        let files: Vec<FileChange> = changes.map(|change| marking_foreign(change, self.stores())).collect();
        let preview = |file: &FileChange| {
            let choice = Some(ForeignChoice::RestoreVersion);
            let status = RestoreStatus::Foreign {
                at: None,
                counts: file.counts,
                choice,
                conflicts: None,
                rung: None,
                is_later: false,
            };
            RestorePreview { path: file.path.clone(), status }
        };
        let previews: Vec<RestorePreview> = files.iter().map(preview).collect();
        let named = counted(files.iter().map(|file| file.path.as_str()));
        let proposal = Proposal { id: ProposalId(0), title: format!("undo of {named}"), files };
        for file in proposal.files.iter().filter(|_| !ask.json) {
            let diff = diff::for_person(file, self.out.is_terminal());
            self.out.styled(&diff)?;
        }
        self.out.flush()?;
        let decided = match proposal.files.is_empty() || ask.dry_run {
            true => None,
            false => proposal.decide(&self.decide_left(&proposal, &named, ask)?)?,
        };
        let applied = decided.as_ref().map(|decided| self.execute(decided, UNDO, &proposal.title)).transpose()?;
        let written = decided.as_ref().zip(applied.as_ref()).map(|(decided, applied)| written_files(decided, applied));
        if ask.json {
            let changeset = applied.as_ref().and_then(|applied| applied.changeset);
            self.out.json(&outcome(changeset, &previews, &written.unwrap_or_default()))?;
        } else if let Some(applied) = &applied {
            let archived = applied.changeset.map(|id| format!("; what it replaced is archived as {id}"));
            writeln!(self.out, "restored {named}{}", archived.unwrap_or_default())?;
        }
        self.out.flush()?;
        if proposal.files.is_empty() {
            self.complain("already in that state: nothing to restore")?;
        }
        Ok(if applied.is_some() || proposal.files.is_empty() || ask.dry_run { DONE } else { NOT_APPROVED })
    }

    /// Returns the decision about a restore of files that someone else changed.
    fn decide_left(&mut self, proposal: &Proposal, named: &str, ask: &AskArgs) -> Result<Decision> {
        let accepted = |consent| Decision::accept(proposal, consent);
        let why = match (ask.hunk, self.can_ask) {
            (true, true) => return self.choose_hunks(proposal, &BTreeSet::new()),
            (true, false) => "without a terminal hunks cannot be chosen",
            _ if ask.force => return Ok(accepted(Consent::Flag("--force"))),
            _ if ask.yes => "it was changed outside nebula: --force restores it all the same",
            (false, false) => "it was changed outside nebula, and without a terminal this needs --force",
            (false, true) if self.agrees(&format!("restore {named}, changed outside nebula since?"))? => {
                return Ok(accepted(Consent::Person));
            }
            (false, true) => "it stays as it is",
        };
        self.complain(&format!("nothing was changed: {why}"))?;
        Ok(Decision::refuse(proposal))
    }

    /// Returns a file as it is really written, or a folder: what it was then may be another.
    fn path_then(&self, file: &str) -> Result<String> {
        match archived_path(&self.folder, file, self.stores()) {
            Err(PathError::NotAFile { kind: "a folder", .. }) => {
                Ok(self.workspace.resolve_from(&self.folder, file, Access::Folder)?)
            }
            path => Ok(path?),
        }
    }

    fn print_state(&mut self, path: &str, moment: Moment, when: &str) -> Result<u8> {
        let then = past::state_at(path, moment, self.stores())?;
        if let Some(words) = doubt(then.outside, then.is_left, then.unsure) {
            self.complain(&format!("{path}: {words}"))?;
        }
        match &then.state {
            State::Absent if self.list_folder(path, moment)? => {}
            State::Absent => {
                self.complain(&format!("{path} was not there"))?;
                return Ok(FAILED);
            }
            State::File { bytes, .. } => self.out.document(bytes)?,
            State::Link { target } => writeln!(self.out, "link to {}", target.display())?,
            State::Folder { .. } => writeln!(self.out, "a folder")?,
            State::Large(_) => bail!("{path} is too large to print: `nebula at {when} {path} --restore` restores it"),
        }
        self.out.flush()?;
        Ok(DONE)
    }

    /// Lists the files of a path that was a folder at a moment. Returns whether it was one.
    fn list_folder(&mut self, path: &str, moment: Moment) -> Result<bool> {
        let folder = format!("{path}/");
        let was_there = matches!(past::state_at(&folder, moment, self.stores())?.state, State::Folder { .. });
        let past::Differing { files, .. } = past::differing(moment, Moment::now(self.stores())?, self.stores())?;
        let differing = files.iter().filter(|file| file.change.path.starts_with(&folder));
        let then: BTreeMap<&str, bool> =
            differing.map(|file| (file.change.path.as_str(), !file.change.before.is_absent())).collect();
        let now = self.workspace.walk(path).build().flatten();
        let now = now.filter(|entry| !entry.file_type().is_some_and(|kind| kind.is_dir()));
        let inside =
            |path: &Path| path.strip_prefix(self.workspace.root()).map(|path| text_of(path.as_os_str()).into());
        let now = now.filter_map(|entry| inside(entry.path()).ok());
        let stayed = now.filter(|path: &String| path.starts_with(&folder) && !then.contains_key(path.as_str()));
        let there = then.iter().filter(|(_, was_there)| **was_there).map(|(path, _)| (*path).to_string());
        let listed: BTreeSet<String> = there.chain(stayed).filter(|path| !path.ends_with('/')).collect();
        if !was_there && listed.is_empty() {
            return Ok(false);
        }
        for path in &listed {
            writeln!(self.out, "{}", clean_line(path))?;
        }
        self.complain(&format!("{path} was a folder: {}", plural(listed.len(), "file")))?;
        Ok(true)
    }

    /// Says of each line of a file who wrote it.
    pub(super) fn blame(&mut self, args: &BlameArgs) -> Result<u8> {
        let path = self.path(&self.folder, &args.file)?;
        let lines = past::blame(&path, self.stores())?;
        let (first, last) = range(args.lines.as_deref(), lines.len())?;
        if args.lines.is_some() && first > lines.len() {
            bail!("{} has {}: -L names none of them", clean_line(&path), plural(lines.len(), "line"));
        }
        let mut known = HashMap::new();
        for line in &lines {
            if let LineCause::Changeset { id, .. } = line.cause {
                known.entry(id).or_insert_with(|| self.author(id));
            }
        }
        let commits = if args.git { self.commits(&path)? } else { Vec::new() };
        // Someone may have written to the file since it was read.
        let is_changed = commits.len() > lines.len();
        if is_changed {
            self.complain("the file was changed meanwhile: the commits of its lines are left out")?;
        } else if args.git && commits.is_empty() && last > 0 {
            self.complain("no last commit has this file: git tells none of its lines")?;
        } else if args.git && commits.len() < last {
            self.complain(
                "git tells no commits of the last lines: its answer is too long, or the file was changed meanwhile",
            )?;
        }
        let commits = if is_changed { Vec::new() } else { commits };
        let commit = |n: usize| commits.get(n).and_then(Option::as_deref);
        let wanted = lines.iter().enumerate().skip(first - 1).take(last + 1 - first);
        if args.json {
            let rows: Vec<_> = wanted.map(|(n, line)| row(n + 1, line, &known, commit(n))).collect();
            self.out.json(&rows)?;
        } else {
            let mut before = None;
            for (n, line) in wanted {
                let of_git = commit(n).filter(|_| line.cause == LineCause::Before);
                let same = before == Some((line.cause, of_git));
                before = Some((line.cause, of_git));
                let cause = match of_git {
                    _ if same => String::new(),
                    Some(commit) => {
                        format!("· {} {} {}", commit.id, time::local(commit.at), clean_line(&commit.summary))
                    }
                    None => words(line.cause, &known),
                };
                let cause = padded(&shortened(&cause, CAUSE), CAUSE);
                writeln!(self.out, "{cause}  {:>5}  {}", n + 1, clean_line(&expanded(&line.text)))?;
            }
        }
        self.out.flush()?;
        Ok(DONE)
    }

    /// Returns the commit of each line of a file.
    fn commits(&self, path: &str) -> Result<Vec<Option<Arc<LineCommit>>>> {
        Ok(git::Repository::find(self.workspace.root())?.blame(&self.workspace.full(path), GIT_LIMIT)?)
    }

    /// Returns what memory knows of a changeset; what it cannot tell is left out, and reported.
    fn author(&self, id: Id) -> ChangesetFacts {
        let record = self.memory.changeset(&self.project(), &id.to_string());
        let Some(record) = self.memory.or_report(record) else { return ChangesetFacts::default() };
        let typed = record.cause.turn.and_then(|turn| self.memory.or_report(self.memory.typed(turn)));
        ChangesetFacts {
            kind: record.cause.kind,
            title: record.cause.title,
            prompt: typed.map(|(text, _)| text),
            session: record.cause.session,
            turn: record.cause.turn,
        }
    }
}

/// Reads `A,B`, from 1.
fn range(text: Option<&str>, lines: usize) -> Result<(usize, usize)> {
    let Some(text) = text else { return Ok((1, lines.max(1))) };
    let (first, last) = text.split_once(',').unwrap_or((text, text));
    match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) if first >= 1 && first <= last => Ok((first, last.min(lines.max(first)))),
        _ => bail!("-L wants A,B, as 10,20, not {text}"),
    }
}

/// Returns in words what is not certain about the state of a file at a moment; none: it is certain.
fn doubt(outside: Option<(i64, i64)>, is_left: bool, unsure: bool) -> Option<String> {
    let left = if is_left { "as nebula left it, " } else { "" };
    let changed = outside.map(|between| format!("{left}{}", outside_words(between)));
    changed.or_else(|| unsure.then(|| "perhaps changed outside nebula before the next change".to_string()))
}

/// Returns between which times someone changed a file outside nebula.
fn outside_words((from, to): (i64, i64)) -> String {
    format!("changed outside nebula between {} and {}", time::local(from), time::local(to))
}

/// Returns how many files differ from a moment, and which of them a restore changes. `is_last`: nebula changed nothing
/// since, so that a restore goes back to what it had left.
fn differing_words(files: &[past::FileThen], is_last: bool) -> String {
    // A folder that nebula made goes with the files for which it was made.
    let is_outside =
        |file: &&past::FileThen| file.version.is_none() && (file.outside.is_some() || !file.change.before.is_absent());
    let outside = files.iter().filter(|file| is_outside(file) && !(is_last && file.is_left)).count();
    let counted = format!("{} from then to now; nothing was changed", plural(files.len(), "file"));
    match (files.len() - outside, outside) {
        (0, 0) => "no archived file differs from now; changes made outside nebula are not all archived".to_string(),
        (_, 0) => format!("{counted} (`--restore` proposes to go back)"),
        (0, _) => format!("{counted}: all outside nebula, which `--restore` leaves as they are unless one is named"),
        (some, n) => format!(
            "{counted} (`--restore` proposes to go back in {some}; the others were changed outside nebula only: it \
             leaves these {n} as they are unless one is named)"
        ),
    }
}

/// Returns `$ 2026-11-22 12:03 cargo fmt`: who wrote a line.
fn words(cause: LineCause, known: &HashMap<Id, ChangesetFacts>) -> String {
    match cause {
        LineCause::Before => "· before nebula".into(),
        LineCause::Outside(Some(next)) => format!("! outside nebula, before {}", time::local(next.at())),
        LineCause::Outside(None) => "! outside nebula".into(),
        LineCause::Changeset { id, unsure } => {
            let known = known.get(&id).cloned().unwrap_or_default();
            let command = known.kind == "command";
            let sign = if command { '$' } else { '•' };
            let prompt = known.prompt.filter(|_| !command).unwrap_or(known.title);
            let (at, mark) = (time::local(id.at()), if unsure { "~" } else { "" });
            format!("{sign}{mark} {at} {}", clean_line(prompt.lines().next().unwrap_or_default()))
        }
    }
}

fn row(
    n: usize,
    line: &BlamedLine,
    known: &HashMap<Id, ChangesetFacts>,
    commit: Option<&LineCommit>,
) -> serde_json::Value {
    let (cause, id, unsure) = match line.cause {
        LineCause::Before => ("before", None, false),
        LineCause::Outside(next) => ("outside", next, false),
        LineCause::Changeset { id, unsure } => match known.get(&id) {
            Some(known) if known.kind == "command" => ("command", Some(id), unsure),
            _ => ("edit", Some(id), unsure),
        },
    };
    let own = id.filter(|_| matches!(line.cause, LineCause::Changeset { .. }));
    let of = own.and_then(|id| known.get(&id));
    json!({
        "line": n, "cause": cause, "changeset": own.map(|id| id.to_string()), "unsure": unsure,
        "session": of.and_then(|known| known.session.as_deref()), "message": of.and_then(|known| known.turn),
        "prompt": of.and_then(|known| known.prompt.as_deref()),
        "command": of.filter(|known| known.kind == "command").map(|known| known.title.as_str()),
        "time": own.map(|id| time::utc_millis(id.at())), "before": id.filter(|_| own.is_none()).map(|id| id.to_string()),
        "commit": commit.map(|commit| json!({
            "id": commit.id, "author": commit.author, "time": time::utc_millis(commit.at), "summary": commit.summary,
        })),
    })
}
