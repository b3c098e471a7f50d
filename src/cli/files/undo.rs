//! `undo` and `redo`: the list of what would happen to each file, then the diff, then the question.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};

use super::restore_words::{changed_words, line, not_undone_words};
use super::{ArchiveCommands, AskArgs, DONE, FAILED, NOT_APPROVED, UndoArgs};
use crate::archive::restore::{is_in_part, not_emptied};
use crate::archive::{Choices, Id, Restoration, RestoreError};
use crate::cli::diff;
use crate::execute::store::StoreRevert;
use crate::execute::{Applied, ApplyError, Restorer};
use crate::proposal::{
    Consent, Decided, Decision, FileChange, ForeignChoice, MergeRung, ProposalId, RestoreFate, RestorePreview,
    RestoreStatus, counted, unit_of, whole_folders,
};
use crate::restore_plan::{self, PlanError, RestorePlan, RestoreScope};
use crate::review::{self, RestoredPaths, RestoredRest};
use crate::text::clean::{clean, clean_line};
use crate::text::number::plural;
use crate::text::width::cells;

impl ArchiveCommands<'_> {
    pub(super) fn undo(&mut self, args: &UndoArgs) -> Result<u8> {
        let wanted = if args.turn {
            let session = self.session.clone().map(|id| self.memory.find(&self.project(), &id)).transpose()?;
            RestoreScope::LastTurn { session }
        } else if let Some(to) = &args.to {
            self.since_message(to)?
        } else {
            if args.words.is_empty() {
                self.tell_newest_command()?;
            }
            self.of_words(&args.words)?
        };
        self.restore(&wanted, &args.ask)
    }

    pub(super) fn redo(&mut self, ask: &AskArgs) -> Result<u8> {
        self.restore(&RestoreScope::Redo, ask)
    }

    pub(super) fn restore(&mut self, wanted: &RestoreScope, ask: &AskArgs) -> Result<u8> {
        let (code, undone, written) = self.restore_listed(wanted, ask)?;
        if !ask.hunk {
            self.record_restored(&undone, (code, &written), ask)?;
        }
        Ok(code)
    }

    /// Restores. The second: the changes that are undone as a whole.
    pub(super) fn restore_listed(
        &mut self,
        wanted: &RestoreScope,
        ask: &AskArgs,
    ) -> Result<(u8, Vec<Id>, RestoredPaths)> {
        let plan = restore_plan::plan(wanted, self.stores()).map_err(|error| match error {
            // Told apart by who runs the command: a damaged memory is looked at.
            PlanError::Memory(error) => anyhow::Error::from(error),
            other => other.into(),
        })?;
        // Named files say that their state now is known.
        let named = matches!(wanted, RestoreScope::Undo { files, .. } if !files.is_empty());
        let undone = review::undone_by(&plan.request, self.stores())?;
        let stays = |error: &anyhow::Error| {
            matches!(error.downcast_ref(), Some(RestoreError::StoreWithFiles(_)))
                || matches!(error.downcast_ref(), Some(ApplyError::InTheWay(_)))
        };
        let (code, written) = match self.run_plan(&plan, named, ask) {
            Err(error) if stays(&error) => {
                self.report(None, &[], &WrittenFiles::new(), ask.json)?;
                self.complain(&error.to_string())?;
                (NOT_APPROVED, RestoredPaths::new())
            }
            ended => ended?,
        };
        Ok((code, undone, written))
    }

    /// Records that whole changes were undone: they wait no more to be reviewed. Returns those of which something stays.
    pub(super) fn record_restored(
        &mut self,
        undone: &[Id],
        (code, written): (u8, &RestoredPaths),
        ask: &AskArgs,
    ) -> Result<Vec<RestoredRest>> {
        let is_asked = ask.yes || ask.force || code == DONE || !written.is_empty();
        if ask.dry_run || !is_asked {
            return Ok(Vec::new());
        }
        Ok(review::record_restored(undone, written, None, self.stores())?)
    }

    fn run_plan(&mut self, plan: &RestorePlan, named: bool, ask: &AskArgs) -> Result<(u8, RestoredPaths)> {
        let none = WrittenFiles::new();
        let scripted = ask.yes || ask.force;
        let others = match (ask.force || (ask.yes && named), scripted) {
            (true, _) => Some(ForeignChoice::RestoreVersion),
            (false, true) => Some(ForeignChoice::Keep),
            (false, false) => None,
        };
        // What is only looked at is shown as `--yes` would do it.
        let merge_clean = (ask.yes || ask.dry_run) && !ask.force && !named;
        let mut choices = Choices { others, merge_clean, ..Choices::default() };
        let mut restoration = plan.look(&choices, ProposalId(0), self.stores())?;
        let mut revert = plan.revert(&mut restoration, Restorer::Person, self.stores())?;
        if plan.kind == "redo" {
            self.complain(&format!("this is the {}", clean_line(&plan.title)))?;
        }
        restoration.warnings.iter().try_for_each(|warning| self.complain(warning))?;
        self.list(&restoration.previews, ask.json, !scripted && !ask.dry_run && self.can_ask)?;
        if ask.dry_run {
            let merged = if ask.json { Vec::new() } else { merged_files(&restoration) };
            self.show_diffs(&merged, &[], None)?;
            self.report(None, &restoration.previews, &none, ask.json)?;
            return Ok((DONE, RestoredPaths::new()));
        }
        if !scripted && self.can_ask && self.choose_foreign(&restoration.previews, &mut choices)? {
            restoration = plan.look(&choices, ProposalId(0), self.stores())?;
            revert = plan.revert(&mut restoration, Restorer::Person, self.stores())?;
        }
        if restoration.proposal.files.is_empty() && revert.is_none() {
            let there = restored_paths(plan, &restoration.previews, &mut WrittenFiles::new());
            return Ok((self.nothing_to_do(&restoration, named, ask)?, there));
        }
        // Conflicts are chosen one by one.
        let by_hunk = ask.hunk || !scripted && restoration.proposal.files.iter().any(FileChange::has_conflict);
        // A hunk is shown as it is asked for.
        let shown_later = by_hunk && self.can_ask;
        if !ask.json {
            let files = if shown_later { &[][..] } else { &restoration.proposal.files };
            self.show_diffs(files, &restoration.previews, revert.as_ref())?;
        }
        if !self.can_ask && (by_hunk || !scripted) {
            self.report(None, &restoration.previews, &none, ask.json)?;
            let instead = if by_hunk { "hunks cannot be chosen" } else { "this needs --yes" };
            self.complain(&format!("nothing was changed: without a terminal {instead}"))?;
            return Ok((NOT_APPROVED, RestoredPaths::new()));
        }
        let done = self.carry_out(plan, &restoration, (revert, by_hunk), ask)?;
        let Some((applied, mut paths)) = done else {
            self.report(None, &restoration.previews, &none, ask.json)?;
            self.complain("nothing was changed")?;
            return Ok((NOT_APPROVED, RestoredPaths::new()));
        };
        self.report(applied.changeset, &restoration.previews, &paths, ask.json)?;
        if !ask.json && !paths.is_empty() {
            writeln!(self.out, "{}", restored_words(&applied, &paths, &restoration.previews))?;
            self.out.flush()?;
        }
        let written = restored_paths(plan, &restoration.previews, &mut paths);
        Ok((self.left(&restoration.previews, &paths, (scripted, scripted || named))?, written))
    }

    /// Decides and restores: files, and definitions with them. Returns nothing where nothing was agreed to.
    fn carry_out(
        &mut self,
        plan: &RestorePlan,
        restoration: &Restoration,
        (revert, by_hunk): (Option<StoreRevert>, bool),
        ask: &AskArgs,
    ) -> Result<Option<(Applied, WrittenFiles)>> {
        let (decided, consent) = self.decide(restoration, (revert.as_ref(), by_hunk), ask)?;
        Ok(match (decided, consent.zip(revert)) {
            (decided, Some((consent, revert))) => {
                let applied = self.revert(&revert, decided.as_ref(), consent, (plan.kind, &plan.title))?;
                let mut paths = decided.map(|decided| written_files(&decided, &applied)).unwrap_or_default();
                paths.extend(revert.previews().into_iter().map(|preview| (preview.path, None)));
                Some((applied, paths))
            }
            (Some(decided), None) => {
                let applied = self.execute(&decided, plan.kind, &plan.title)?;
                let paths = written_files(&decided, &applied);
                Some((applied, paths))
            }
            (None, None) => None,
        })
    }

    /// Decides what is restored: the files, and who agrees that definitions are taken back.
    fn decide(
        &mut self,
        restoration: &Restoration,
        (revert, by_hunk): (Option<&StoreRevert>, bool),
        ask: &AskArgs,
    ) -> Result<(Option<Decided>, Option<Consent>)> {
        let proposal = &restoration.proposal;
        if by_hunk && !proposal.files.is_empty() {
            let decision = self.choose_hunks(proposal, &whole_folders(&restoration.previews))?;
            let decided = proposal.decide(&decision)?;
            let what = |revert: &StoreRevert| format!("undo {}?", counted_definitions(revert));
            let agrees = revert.map(|revert| self.agrees(&what(revert))).transpose()?.unwrap_or(false);
            return Ok((decided, agrees.then_some(Consent::Person)));
        }
        let files = (!proposal.files.is_empty()).then(|| counted(proposal.files.iter().map(|file| file.path.as_str())));
        let parts: Vec<String> = files.into_iter().chain(revert.map(counted_definitions)).collect();
        let consent = match (ask.force, ask.yes) {
            (true, _) => Some(Consent::Flag("--force")),
            (false, true) => Some(Consent::Flag("--yes")),
            (false, false) => self.agrees(&format!("restore {}?", parts.join(" and ")))?.then_some(Consent::Person),
        };
        let decided = consent.map(|consent| proposal.decide(&Decision::accept(proposal, consent))).transpose()?;
        Ok((decided.flatten(), consent))
    }

    /// Asks what happens to each file that was changed outside nebula; returns whether anything was chosen.
    fn choose_foreign(&mut self, previews: &[RestorePreview], choices: &mut Choices) -> Result<bool> {
        for preview in previews {
            let RestoreStatus::Foreign { conflicts, choice, is_later, .. } = &preview.status else { continue };
            // Where the merge with what nebula did later meets no conflict, nothing needs to be chosen.
            if *is_later && choice.is_some() {
                continue;
            }
            let changed = changed_words(*is_later);
            let merge = match conflicts {
                None => "",
                Some(0) => ", m merge (no conflict)",
                Some(1) => ", m merge (1 conflict)",
                Some(_) => ", m merge (with conflicts)",
            };
            let question = format!("{} was {changed}: k keep{merge}, r restore this version [k]", preview.path);
            let choice = match self.ask(&question)?.as_deref() {
                Some("m") if conflicts.is_some() => ForeignChoice::Merge,
                Some("r") => ForeignChoice::RestoreVersion,
                _ => ForeignChoice::Keep,
            };
            choices.each.insert(preview.path.clone(), choice);
        }
        Ok(!choices.each.is_empty())
    }

    fn show_diffs(
        &mut self,
        files: &[FileChange],
        previews: &[RestorePreview],
        revert: Option<&StoreRevert>,
    ) -> Result<()> {
        // The list has said what changes in the repository, and in folders that come or go as one.
        let wholes = whole_folders(previews);
        let goes = files.iter().filter(|file| file.after.is_absent()).map(|file| file.path.as_str()).collect();
        // A folder that holds something else stays.
        let stay = not_emptied(&goes, self.workspace);
        let is_shown =
            |file: &&FileChange| unit_of(&file.path, &wholes).is_none() && !stay.contains_key(file.path.as_str());
        for file in files.iter().filter(is_shown) {
            let diff = diff::for_person(file, self.out.is_terminal());
            self.out.styled(&diff)?;
        }
        if let Some(revert) = revert {
            writeln!(self.out, "in the Strand store {}:\n{}", clean_line(revert.store()), clean(&revert.marked()))?;
        }
        Ok(self.out.flush()?)
    }

    /// Says why nothing is to be done.
    fn nothing_to_do(&mut self, restoration: &Restoration, named: bool, ask: &AskArgs) -> Result<u8> {
        self.report(None, &restoration.previews, &WrittenFiles::new(), ask.json)?;
        let is_left = |f: &&RestorePreview| matches!(f.status, RestoreStatus::Foreign { .. });
        let is_missing =
            |f: &RestorePreview| matches!(f.status, RestoreStatus::NotArchived(_) | RestoreStatus::Refused(_));
        if restoration.previews.iter().any(|f| is_left(&f)) {
            let overwrites = named || ask.yes || ask.force;
            return self.left(&restoration.previews, &WrittenFiles::new(), (true, overwrites));
        }
        if restoration.previews.iter().any(is_missing) {
            self.complain("nothing could be restored: nothing was changed")?;
            return Ok(FAILED);
        }
        let deeper = restoration
            .changeset
            .is_some()
            .then_some("; `nebula history` lists older versions, `nebula undo COUNT FILE` restores one");
        self.complain(&format!("already at that version: nothing to restore{}", deeper.unwrap_or("")))?;
        Ok(DONE)
    }

    /// Lists the files that keep their changes from outside nebula. `tried`: no merge without a conflict is left to
    /// `--yes`.
    fn left(
        &mut self,
        previews: &[RestorePreview],
        applied: &WrittenFiles,
        (scripted, tried): (bool, bool),
    ) -> Result<u8> {
        let merges = |f: &RestorePreview| matches!(f.status, RestoreStatus::Foreign { conflicts: Some(0), .. });
        let stays = |f: &&RestorePreview| matches!(f.status, RestoreStatus::Foreign { .. }) && !f.is_among(applied);
        let (merged, kept): (Vec<_>, Vec<_>) = previews.iter().filter(stays).partition(|f| !tried && merges(f));
        let missing = |f: &&RestorePreview| {
            matches!(f.status, RestoreStatus::NotArchived(_) | RestoreStatus::Refused(_)) && !f.is_among(applied)
        };
        let missing: Vec<_> = previews.iter().filter(missing).map(|f| clean_line(&f.path)).collect();
        if !missing.is_empty() {
            self.complain(&format!("not restored: {} (the list above says why)", missing.join(", ")))?;
        }
        if merged.is_empty() && kept.is_empty() {
            return Ok(if missing.is_empty() { DONE } else { NOT_APPROVED });
        }
        for (files, way) in [(merged, "--yes merges them"), (kept, "--force restores them too")] {
            let is_later = |f: &&RestorePreview| matches!(f.status, RestoreStatus::Foreign { is_later: true, .. });
            let (later, foreign): (Vec<_>, Vec<_>) = files.into_iter().partition(is_later);
            for (files, changed) in [(foreign, changed_words(false)), (later, changed_words(true))] {
                let paths: Vec<_> = files.into_iter().map(|f| clean_line(&f.path)).collect();
                if !paths.is_empty() {
                    self.complain(&format!("{changed}, so kept: {} ({way})", paths.join(", ")))?;
                }
            }
        }
        Ok(if scripted || !missing.is_empty() { NOT_APPROVED } else { DONE })
    }

    /// Prints the list of previews, before anything is asked; with `--json` it stands beside the question.
    fn list(&mut self, previews: &[RestorePreview], json: bool, asks: bool) -> Result<()> {
        if json && !asks {
            return Ok(());
        }
        let (previews, not_undone): (Vec<_>, Vec<_>) = previews.iter().partition(|preview| preview.is_file());
        let width = previews.iter().map(|f| cells(&f.path)).max().unwrap_or(0);
        for preview in previews {
            let to = if json { &mut self.err } else { &mut self.out };
            writeln!(to, "{}", line(preview, width))?;
        }
        let to = if json { &mut self.err } else { &mut self.out };
        for (n, line) in not_undone.iter().filter_map(|preview| not_undone_words(preview)).enumerate() {
            if n == 0 {
                writeln!(to, "not undone:")?;
            }
            writeln!(to, "  {line}")?;
        }
        Ok(self.out.flush()?)
    }

    /// Prints what was done to each file, for programs.
    fn report(
        &mut self,
        changeset: Option<Id>,
        previews: &[RestorePreview],
        applied: &WrittenFiles,
        json: bool,
    ) -> Result<()> {
        if json {
            self.out.json(&outcome(changeset, previews, applied))?;
        }
        Ok(self.out.flush()?)
    }
}

/// Returns `2 definitions in shop.strand-store`.
fn counted_definitions(revert: &StoreRevert) -> String {
    format!("{} in {}", plural(revert.definitions().len(), "definition"), clean_line(revert.store()))
}

/// Returns what was restored, or deleted where nothing stays of it, and where the way back is: of files the versions are
/// archived.
fn restored_words(applied: &Applied, written: &WrittenFiles, previews: &[RestorePreview]) -> String {
    use RestoreFate::{Deleted, FolderRemoved, WholeRemoved};
    let is_gone = |preview: &RestorePreview| {
        matches!(preview.status, RestoreStatus::Restore(Deleted | FolderRemoved | WholeRemoved(_), _))
    };
    // A definition is among what was written under the name of its store.
    let is_done =
        |preview: &&RestorePreview| matches!(preview.status, RestoreStatus::Restore(..)) || preview.is_among(written);
    let mut done = previews.iter().filter(is_done).peekable();
    let what = if done.peek().is_some() && done.all(is_gone) { "deleted" } else { "restored" };
    let files = (!applied.paths.is_empty()).then(|| counted(applied.paths.iter().map(String::as_str)));
    let archived = match applied.changeset {
        Some(id) if files.is_some() => format!("; the replaced versions are archived as {id}"),
        Some(id) => format!("; this change is {id}"),
        None => String::new(),
    };
    // They stand among what was written under the name of their store.
    let definitions = written.len().saturating_sub(applied.paths.len());
    let definitions = (definitions > 0).then(|| plural(definitions, "definition"));
    format!("{what} {}{archived}", files.into_iter().chain(definitions).collect::<Vec<_>>().join(" and "))
}

/// Leaves the files of which a part was undone out of what was restored. Returns all that was written, and what was there already.
fn restored_paths(plan: &RestorePlan, previews: &[RestorePreview], paths: &mut WrittenFiles) -> RestoredPaths {
    let there = plan.already_there(previews).map(|path| (path.to_string(), true));
    let mut written: RestoredPaths = paths.keys().map(|path| (path.clone(), true)).chain(there).collect();
    for part in previews.iter().filter(|preview| is_in_part(preview)) {
        if paths.remove(&part.path).is_some() {
            written.insert(part.path.clone(), false);
        }
    }
    written
}

/// The files that were written, each with how it was joined with what someone else had changed.
pub(in crate::cli) type WrittenFiles = BTreeMap<String, Option<MergeRung>>;

/// Returns the files that a change wrote.
pub(in crate::cli) fn written_files(decided: &Decided, applied: &Applied) -> WrittenFiles {
    let rung = |path: &str| {
        let when_written = applied.merged.iter().find(|file| file.path == path).map(|file| file.rung);
        when_written.or_else(|| decided.files().iter().find(|file| file.path() == path)?.merged())
    };
    applied.paths.iter().map(|path| (path.clone(), rung(path))).collect()
}

/// Returns what became of each file, as an object.
pub(in crate::cli) fn outcome(changeset: Option<Id>, previews: &[RestorePreview], applied: &WrittenFiles) -> Value {
    let files: Vec<_> = previews
        .iter()
        .filter(|f| f.is_file())
        .map(|f| {
            let mut row = json!({"path": f.path, "fate": word(&f.status), "applied": f.is_among(applied)});
            let rung = match (&f.status, applied.get(&f.path)) {
                (_, Some(rung)) => *rung,
                (RestoreStatus::Foreign { choice: Some(ForeignChoice::Merge), rung, .. }, None) => *rung,
                _ => None,
            };
            if let Some(rung) = rung {
                row["merged"] = rung.word().into();
            }
            match &f.status {
                RestoreStatus::Restore(RestoreFate::Repository(words), _) => row["changes"] = words.clone().into(),
                RestoreStatus::Restore(RestoreFate::WholeMade(files) | RestoreFate::WholeRemoved(files), _) => {
                    row["files"] = (*files).into();
                }
                RestoreStatus::Restore(RestoreFate::Mode(_, mode) | RestoreFate::ContentAndMode(_, mode), _) => {
                    row["mode"] = format!("{mode:o}").into();
                }
                _ => {}
            }
            row
        })
        .collect();
    let not_undone = previews.iter().filter_map(|preview| match &preview.status {
        RestoreStatus::NotUndone(why) => Some(json!({"what": preview.path, "why": why})),
        _ => None,
    });
    let not_undone: Vec<_> = not_undone.collect();
    json!({"changeset": changeset.map(|id| id.to_string()), "files": files, "not_undone": not_undone})
}

/// Returns the files of a restore that are to be merged with what someone else changed.
fn merged_files(restoration: &Restoration) -> Vec<FileChange> {
    let is_merged =
        |f: &&RestorePreview| matches!(f.status, RestoreStatus::Foreign { choice: Some(ForeignChoice::Merge), .. });
    let merged: BTreeSet<&str> = restoration.previews.iter().filter(is_merged).map(|f| f.path.as_str()).collect();
    restoration.proposal.files.iter().filter(|file| merged.contains(file.path.as_str())).cloned().collect()
}

/// Returns the word for a preview in `--json`.
fn word(status: &RestoreStatus) -> &'static str {
    match status {
        RestoreStatus::Restore(fate, _) => match fate {
            RestoreFate::Content | RestoreFate::ContentAndMode(..) | RestoreFate::Made => "restore",
            RestoreFate::Deleted => "delete",
            RestoreFate::Mode(..) => "mode",
            RestoreFate::FolderMade | RestoreFate::WholeMade(_) => "folder made",
            RestoreFate::FolderRemoved | RestoreFate::WholeRemoved(_) => "folder removed",
            RestoreFate::Repository(_) => "repository",
        },
        RestoreStatus::Equal => "equal",
        RestoreStatus::Foreign { is_later: false, .. } => "foreign",
        RestoreStatus::Foreign { is_later: true, .. } => "later",
        RestoreStatus::NotArchived(_) => "missing",
        RestoreStatus::Refused(_) => "refused",
        RestoreStatus::NotUndone(_) => "not undone",
    }
}
