//! `archive_save` and `archive_restore`: what an agent may have done, and what the person is asked.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::refusal::ToolRefusal;
use super::tools::{ArchiveTools, RestoreStep, WaitingRestore};
use crate::archive::{Choices, Id, Restoration};
use crate::cli::files::restore_words;
use crate::cli::files::undo::{self, WrittenFiles};
use crate::cli::files::write::{execute_reported, revert_reported};
use crate::execute::store::StoreRevert;
use crate::execute::{Restorer, UNGUARDED, archive_before};
use crate::mcp::{Client, ConsentQuestion};
use crate::proposal::{Consent, Decision, ForeignChoice, ProposalId, RestorePreview, RestoreStatus};
use crate::restore_plan::{self, RestorePlan, RestoreScope};
use crate::text::clean::clean_line;
use crate::text::number::plural;
use crate::text::size;
use crate::text::width::cells;
use crate::workspace::LARGEST_WHOLE;

/// The most files that are saved by one call.
const MAX_FILES: usize = 1_000;
/// The longest cause, in characters.
const MAX_CAUSE: usize = 200;
/// Restores that wait for the person at once: each holds the states of its files.
const MAX_WAITING: usize = 4;
/// Files that a question lists.
const LISTED: usize = 40;
/// Files that the commands of a refusal name.
const NAMED: usize = 20;
/// The most bytes that are saved by one call: all of them are held at once.
const MAX_SAVED: u64 = 256 << 20;

/// Arguments of `archive_save`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SaveArgs {
    paths: Vec<String>,
    cause: Option<String>,
}

/// Arguments of `archive_restore`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RestoreArgs {
    version: Option<String>,
    changeset: Option<String>,
    path: Option<String>,
    count: Option<usize>,
    #[serde(default)]
    apply: bool,
    #[serde(default)]
    force: bool,
}

impl ArchiveTools {
    pub(super) fn save(&self, args: &SaveArgs, client: &Client) -> Result<Value, ToolRefusal> {
        if args.paths.is_empty() || args.paths.len() > MAX_FILES {
            return Err(ToolRefusal::new("usage", format!("paths has 1 to {MAX_FILES} files")));
        }
        let paths = args.paths.iter().map(|path| self.path(path)).collect::<Result<BTreeSet<_>, _>>()?;
        let (excluded, paths): (Vec<_>, Vec<_>) =
            paths.into_iter().partition(|path| self.archive().excluded_by(path).is_some());
        let id = match &paths[..] {
            [] => None,
            paths => match self.saved_already(paths)? {
                Some(id) => Some(id),
                None => self.add(paths, args.cause.as_deref(), client)?,
            },
        };
        let mut files = Vec::new();
        for path in id.iter().flat_map(|_| &paths) {
            let version = id.map(|id| self.archive().version_in(path, id)).transpose()?.flatten();
            files.extend(version.map(|v| json!({"path": path, "version": v.id.to_string(), "absent": v.absent})));
        }
        Ok(json!({"changeset": id.map(|id| id.to_string()), "files": files, "excluded": excluded}))
    }

    /// Archives files as they are.
    fn add(&self, paths: &[String], cause: Option<&str>, client: &Client) -> Result<Option<Id>, ToolRefusal> {
        self.check_size(paths)?;
        let title = match cause.map(short).filter(|cause| !cause.is_empty()) {
            Some(cause) => cause,
            None => format!("saved for {}", called(client)),
        };
        let (recorded, unrecorded) = archive_before(paths, "mcp", &title, self.stores())?;
        unrecorded.iter().for_each(|error| self.stores().memory.report(error));
        Ok(recorded.changeset)
    }

    /// Refuses to hold too much at once. What is too large to be held in memory is copied, and does not count.
    fn check_size(&self, paths: &[String]) -> Result<(), ToolRefusal> {
        let root = self.stores().workspace.root();
        let size = |path: &String| root.join(path).symlink_metadata().map_or(0, |meta| meta.len());
        let held: u64 = paths.iter().map(size).filter(|size| *size <= LARGEST_WHOLE).sum();
        if held <= MAX_SAVED {
            return Ok(());
        }
        let (held, most) = (size::words(held), size::words(MAX_SAVED));
        let message =
            format!("these files have {held} together, at most {most} are saved at once: save fewer by one call");
        Err(ToolRefusal::new("too-large", message))
    }

    /// Returns the newest changeset if it holds exactly these files as they are now: saving them again adds nothing.
    fn saved_already(&self, paths: &[String]) -> Result<Option<Id>, ToolRefusal> {
        let Some(newest) = self.archive().list()?.first().copied() else { return Ok(None) };
        // One that cannot be read holds nothing for certain.
        let Ok(mut held) = self.archive().paths(newest) else { return Ok(None) };
        held.sort_unstable();
        if held != paths {
            return Ok(None);
        }
        for path in paths {
            let version = self.archive().version_in(path, newest)?;
            let state = version.map(|version| self.archive().show(&version)).transpose().ok().flatten();
            if state != Some(self.stores().workspace.read(path)?.state) {
                return Ok(None);
            }
        }
        Ok(Some(newest))
    }

    pub(super) fn restore(&mut self, args: &RestoreArgs, client: &Client) -> Result<RestoreStep, ToolRefusal> {
        self.reconcile()?;
        let scope = self.scope(args)?;
        let plan = restore_plan::plan(&scope, self.stores())?;
        let foreign = if args.force { ForeignChoice::RestoreVersion } else { ForeignChoice::Keep };
        let choices = Choices { others: Some(foreign), merge_clean: !args.force, ..Choices::default() };
        let mut restoration = plan.look(&choices, ProposalId(0), self.stores())?;
        let revert = plan.revert(&mut restoration, Restorer::Agent, self.stores())?;
        let (left, has_nothing) = (left(&restoration), restoration.proposal.files.is_empty() && revert.is_none());
        if args.apply && has_nothing && !left.is_empty() {
            let message = format!("nothing was restored: {}", left.join("; "));
            return Err(ToolRefusal::new(if has_foreign(&restoration) { "foreign" } else { "not-found" }, message));
        }
        if !args.apply || has_nothing {
            return Ok(RestoreStep::Done(outcome(None, &restoration, &WrittenFiles::new(), Vec::new())));
        }
        let takes_foreign = restoration.previews.iter().any(overwrites_foreign);
        let personal = takes_foreign || restoration.proposal.needs_person().is_some();
        if self.allow_restore && !personal {
            let consent = Consent::Flag("--allow-restore");
            return self.write((&plan, &restoration, revert.as_ref()), consent).map(RestoreStep::Done);
        }
        if !client.can_ask {
            return Err(ToolRefusal::new("consent", self.unasked(&scope, &restoration, takes_foreign, personal)?));
        }
        let question = ConsentQuestion {
            ticket: Uuid::new_v4().to_string(),
            text: question(&restoration, revert.as_ref(), &called(client), &self.stores().project()),
            yes: "Restore these files",
        };
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push(WaitingRestore { ticket: question.ticket.clone(), plan, restoration, revert });
        Ok(RestoreStep::Ask(question))
    }

    /// Goes on with a restore that the person has decided.
    pub(super) fn decided(&self, waiting: WaitingRestore, yes: bool) -> Result<Value, ToolRefusal> {
        match yes {
            true => self.write((&waiting.plan, &waiting.restoration, waiting.revert.as_ref()), Consent::Person),
            false => Err(ToolRefusal::new("refused", "the person did not agree: nothing was changed")),
        }
    }

    /// Returns which states are wanted.
    fn scope(&self, args: &RestoreArgs) -> Result<RestoreScope, ToolRefusal> {
        match (&args.version, &args.changeset, &args.path, args.count) {
            (Some(version), None, None, None) => {
                let version = self.version(version)?;
                Ok(RestoreScope::Version { path: self.path_of(&version)?, version: version.id.to_string() })
            }
            (None, Some(changeset), None, None) => Ok(RestoreScope::Changeset(changeset.clone())),
            (None, None, Some(path), count) => {
                Ok(RestoreScope::Undo { count: count.unwrap_or(1), files: vec![self.path(path)?] })
            }
            _ => Err(ToolRefusal::new("usage", "give one of version, changeset, or path with count")),
        }
    }

    /// Writes what was decided, as every change is written: through `execute`.
    fn write(
        &self,
        (plan, restoration, revert): (&RestorePlan, &Restoration, Option<&StoreRevert>),
        consent: Consent,
    ) -> Result<Value, ToolRefusal> {
        let decided = restoration.proposal.decide(&Decision::accept(&restoration.proposal, consent));
        let decided = decided.map_err(|error| ToolRefusal::new("stale", error.to_string()))?;
        let applied = match (revert, &decided) {
            (Some(revert), decided) => {
                let cause = (plan.kind, plan.title.as_str());
                revert_reported(revert, decided.as_ref(), consent, cause, self.stores())?
            }
            (None, Some(decided)) => execute_reported(decided, plan.kind, &plan.title, self.stores())?,
            (None, None) => return Ok(outcome(None, restoration, &WrittenFiles::new(), Vec::new())),
        };
        let mut notes: Vec<String> = applied.not_kept.iter().map(|file| format!("not kept: {file}")).collect();
        notes.extend(applied.unguarded.then(|| UNGUARDED.to_owned()));
        let mut written = decided.map(|decided| undo::written_files(&decided, &applied)).unwrap_or_default();
        let definitions = revert.into_iter().flat_map(StoreRevert::previews);
        written.extend(definitions.map(|preview| (preview.path, None)));
        Ok(outcome(applied.changeset, restoration, &written, notes))
    }

    /// Returns why nothing was restored, with what the person may run.
    fn unasked(
        &self,
        scope: &RestoreScope,
        restoration: &Restoration,
        foreign: bool,
        personal: bool,
    ) -> Result<String, ToolRefusal> {
        let force = if foreign { " --force" } else { "" };
        let newest = self.archive().list()?.first().copied();
        let command = match scope {
            RestoreScope::Changeset(id) if newest.is_some() && newest == self.archive().find_changeset(id).ok() => {
                format!("`nebula undo{force}`")
            }
            _ => {
                let files = &restoration.proposal.files;
                let mut by_count: BTreeMap<usize, String> = BTreeMap::new();
                for file in files.iter().take(NAMED) {
                    let named = by_count.entry(self.versions_back(scope, &file.path)).or_default();
                    *named += &format!(" {}", in_shell(&file.path));
                }
                let each = by_count.iter().map(|(count, files)| format!("`nebula undo {count}{files}{force}`"));
                let more = match files.len().saturating_sub(NAMED) {
                    0 => String::new(),
                    more => format!(", and so on for {} more", plural(more, "file")),
                };
                format!("{}{more}", each.collect::<Vec<_>>().join(", "))
            }
        };
        let flag = if personal { "" } else { ", or serve with --allow-restore" };
        Ok(format!("a restore needs the person: run {command}{flag}; nothing was changed"))
    }

    /// Returns the number of versions that a file is taken back.
    fn versions_back(&self, scope: &RestoreScope, path: &str) -> usize {
        let versions = self.archive().versions(path).unwrap_or_default();
        match scope {
            RestoreScope::Undo { count, .. } => *count,
            RestoreScope::Version { version, .. } => {
                versions.iter().rev().take_while(|v| v.id.to_string() != *version).count() + 1
            }
            RestoreScope::Changeset(id) => {
                let id = self.archive().find_changeset(id).ok();
                versions.iter().rev().take_while(|v| id.is_some_and(|id| v.id > id)).count() + 1
            }
            _ => 1,
        }
    }
}

/// Returns what a restore does, or did.
fn outcome(id: Option<Id>, restoration: &Restoration, applied: &WrittenFiles, notes: Vec<String>) -> Value {
    let mut answer = undo::outcome(id, &restoration.previews, applied);
    let left = left(restoration);
    answer["complete"] = left.is_empty().into();
    answer["notes"] =
        left.into_iter().chain(restoration.warnings.iter().cloned()).chain(notes).collect::<Vec<_>>().into();
    answer
}

/// Returns whether a file stays because someone else changed it.
fn stays_foreign(preview: &RestorePreview) -> bool {
    matches!(&preview.status, RestoreStatus::Foreign { choice: None | Some(ForeignChoice::Keep), .. })
}

/// Returns whether a file that someone else changed is overwritten.
fn overwrites_foreign(preview: &RestorePreview) -> bool {
    matches!(preview.status, RestoreStatus::Foreign { choice: Some(ForeignChoice::RestoreVersion), .. })
}

fn has_foreign(restoration: &Restoration) -> bool {
    restoration.previews.iter().any(stays_foreign)
}

/// Returns the files that stay as they are though another state was asked for, each with what to do about it.
fn left(restoration: &Restoration) -> Vec<String> {
    let why = |preview: &RestorePreview| match &preview.status {
        RestoreStatus::Foreign { is_later, .. } if stays_foreign(preview) => Some(format!(
            "{} was {} and stays as it is; with force it is overwritten, once the person says yes",
            preview.path,
            restore_words::changed_words(*is_later)
        )),
        RestoreStatus::NotArchived(why) | RestoreStatus::Refused(why) => {
            Some(format!("{} cannot be restored: {why}", preview.path))
        }
        _ => None,
    };
    let mut lines: Vec<String> = restoration.previews.iter().filter_map(why).collect();
    let more = lines.len().saturating_sub(LISTED);
    lines.truncate(LISTED);
    lines.extend((more > 0).then(|| format!("{} more stay as they are", plural(more, "file"))));
    lines
}

/// Returns a path as one word of a shell that is no option; what would act on a terminal is shown.
fn in_shell(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./@+,=%".contains(c);
    let here = if path.starts_with('-') { "./" } else { "" };
    match path.chars().all(is_plain) {
        true => format!("{here}{path}"),
        false => format!("'{here}{}'", clean_line(&path.replace('\'', "'\\''"))),
    }
}

/// Returns the question to the person: who asks, why it is for the person, and what becomes of each file.
fn question(restoration: &Restoration, revert: Option<&StoreRevert>, who: &str, project: &str) -> String {
    let definitions = revert.into_iter().flat_map(StoreRevert::previews).map(|preview| preview.path);
    let files = restoration.proposal.files.iter().map(|file| file.path.clone());
    let written: BTreeMap<String, ()> = files.chain(definitions).map(|path| (path, ())).collect();
    let is_written = |preview: &RestorePreview| preview.is_among(&written);
    let is_foreign = |preview: &RestorePreview| matches!(preview.status, RestoreStatus::Foreign { .. });
    let mut files: Vec<&RestorePreview> = restoration.previews.iter().filter(|preview| preview.is_file()).collect();
    // What would overwrite someone else's work is read first, and what is left as it is last.
    files.sort_by_key(|preview| (!is_written(preview), !is_foreign(preview)));
    let of_store = revert.map_or(0, |revert| revert.previews().len());
    let counts = [(written.len() - of_store, "file"), (of_store, "definition")];
    let counted = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| plural(*count, what));
    let what = counted.collect::<Vec<_>>().join(" and ");
    let mut text = format!("{who} wants to restore {what} in {}:\n", clean_line(project));
    let width = files.iter().take(LISTED).map(|file| cells(&file.path)).max().unwrap_or(0);
    for file in files.iter().take(LISTED) {
        text.push_str(&restore_words::line(file, width));
        text.push('\n');
    }
    let unlisted = files.len().saturating_sub(LISTED);
    let more = files.iter().skip(LISTED).filter(|preview| is_written(preview)).count();
    for (more, what) in [(more, "restored too"), (unlisted - more, "left as they are")] {
        if more > 0 {
            text.push_str(&format!("and {more} more, {what}\n"));
        }
    }
    let overwritten = files.iter().filter(|preview| is_written(preview) && overwrites_foreign(preview)).count();
    let foreign = (overwritten > 1)
        .then(|| format!("careful: {overwritten} files were changed outside nebula and would be overwritten"));
    let careful = restoration.proposal.needs_person().map(|why| format!("careful: {why}"));
    let left = restoration
        .previews
        .iter()
        .filter_map(restore_words::not_undone_words)
        .map(|line| format!("not undone: {line}"));
    for line in foreign.into_iter().chain(careful).chain(left.take(LISTED)).chain(restoration.warnings.iter().cloned())
    {
        text.push_str(&clean_line(&line));
        text.push('\n');
    }
    text.push_str("The states that are replaced are archived first: nebula undo brings them back.");
    text
}

/// Returns the client's name, for people.
fn called(client: &Client) -> String {
    Some(short(&client.name)).filter(|name| !name.is_empty()).unwrap_or_else(|| "an agent".into())
}

/// Returns a text on one line; what could act on a terminal, or hide, is shown.
fn short(text: &str) -> String {
    clean_line(&text.trim().chars().take(MAX_CAUSE).collect::<String>()).into_owned()
}
