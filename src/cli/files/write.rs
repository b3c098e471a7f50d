//! Chooses hunks, and writes the decided changes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::Result;

use super::ArchiveCommands;
use crate::archive::restore::NOT_EMPTY;
#[cfg(all(feature = "strand", feature = "code"))]
use crate::execute::execute_exactly;
use crate::execute::store::{self, StoreRevert};
use crate::execute::{Applied, ApplyError, Executed, Stores, UNGUARDED, execute, sweep};
use crate::memory::ChangesetCause;
use crate::proposal::{Choice, Consent, Decided, Decision, FileChange, HunkKind, MergeRung, Proposal, unit_of};
use crate::text::clean::clean_line;

impl ArchiveCommands<'_> {
    /// Returns the stores that changes go to.
    pub(in crate::cli) fn stores(&self) -> Stores<'_> {
        Stores { workspace: self.workspace, archive: self.archive, memory: self.memory }
    }

    /// Writes the decided changes, merged into files that changed meanwhile. A file system error changes nothing.
    pub(in crate::cli) fn execute(&mut self, decided: &Decided, kind: &str, title: &str) -> Result<Applied> {
        let applied = execute_reported(decided, kind, title, self.stores())?;
        self.tell(decided, applied)
    }

    /// Takes ops back in a Strand store, and restores files with them.
    pub(super) fn revert(
        &mut self,
        revert: &StoreRevert,
        decided: Option<&Decided>,
        consent: Consent,
        (kind, title): (&str, &str),
    ) -> Result<Applied> {
        let applied = revert_reported(revert, decided, consent, (kind, title), self.stores())?;
        match decided {
            Some(decided) => self.tell(decided, applied),
            None => Ok(applied),
        }
    }

    /// Writes the decided changes to files that are as they were known; else nothing is written.
    #[cfg(all(feature = "strand", feature = "code"))]
    pub(in crate::cli) fn execute_exactly(&mut self, decided: &Decided, kind: &str, title: &str) -> Result<Applied> {
        let applied = reported(execute_exactly, decided, kind, title, self.stores())?;
        self.tell(decided, applied)
    }

    /// Tells what became of the files beside what was decided.
    fn tell(&mut self, decided: &Decided, applied: Applied) -> Result<Applied> {
        for file in &applied.not_kept {
            let words = if file.ends_with(NOT_EMPTY) { "stays" } else { "not kept" };
            writeln!(self.err, "{words}: {file}")?;
        }
        let merged = decided.files().iter().filter_map(|file| Some((file.path(), file.merged()?)));
        let merged: BTreeMap<&str, MergeRung> =
            merged.chain(applied.merged.iter().map(|file| (file.path.as_str(), file.rung))).collect();
        for (path, rung) in merged {
            writeln!(self.err, "{}: {}", clean_line(path), rung.said())?;
        }
        if applied.unguarded {
            self.complain(UNGUARDED)?;
        }
        Ok(applied)
    }

    /// Asks for each hunk.
    pub(super) fn choose_hunks(&mut self, proposal: &Proposal, wholes: &BTreeSet<&str>) -> Result<Decision> {
        let mut files = proposal.choices(Choice::Reject);
        let mut units = BTreeMap::new();
        for (i, file) in proposal.files.iter().enumerate() {
            if let Some(unit) = unit_of(&file.path, wholes) {
                let agreed = match units.get(unit) {
                    Some(agreed) => *agreed,
                    None => self.agrees(&format!("{unit}: as a whole?"))?,
                };
                units.insert(unit, agreed);
                let choice = if agreed { Choice::Accept } else { Choice::Reject };
                files[i].hunks.fill(choice);
                continue;
            }
            for h in 0..file.hunks.len() {
                let diff = super::super::diff::for_person(&only(file, h), self.out.is_terminal());
                self.out.styled(&diff)?;
                self.out.flush()?;
                let found = file.hunks[h].found.as_ref().and_then(|found| found.detail.as_deref());
                let detail = found.map_or(String::new(), |detail| format!(", {detail}"));
                let what = format!("{}: hunk {} of {}{detail}?", file.path, h + 1, file.hunks.len());
                if self.agrees(&what)? {
                    files[i].hunks[h] = Choice::Accept;
                }
            }
        }
        Ok(Decision::new(files, Consent::Person))
    }
}

/// Writes decided changes; what memory cannot store of them is reported.
///
/// # Errors
/// When nothing was written.
pub(in crate::cli) fn execute_reported(
    decided: &Decided,
    kind: &str,
    title: &str,
    stores: Stores<'_>,
) -> Result<Applied, ApplyError> {
    reported(execute, decided, kind, title, stores)
}

/// Takes ops back in a Strand store, and reports what memory could not record.
///
/// # Errors
/// When nothing was changed.
pub(in crate::cli) fn revert_reported(
    revert: &StoreRevert,
    decided: Option<&Decided>,
    consent: Consent,
    (kind, title): (&str, &str),
    stores: Stores<'_>,
) -> Result<Applied, ApplyError> {
    let cause = ChangesetCause { kind: kind.into(), title: title.into(), ..ChangesetCause::default() };
    let Executed { applied, unrecorded } = store::revert(revert, decided, (cause, consent), stores);
    unrecorded.iter().for_each(|error| stores.memory.report(error));
    applied
}

fn reported(
    execute: impl FnOnce(&Decided, ChangesetCause, Stores<'_>) -> Executed,
    decided: &Decided,
    kind: &str,
    title: &str,
    stores: Stores<'_>,
) -> Result<Applied, ApplyError> {
    // A file that cannot be swept now is swept at the next start.
    let _ = sweep(stores.archive);
    let cause = ChangesetCause { kind: kind.into(), title: title.into(), ..ChangesetCause::default() };
    let Executed { applied, unrecorded } = execute(decided, cause, stores);
    unrecorded.iter().for_each(|error| stores.memory.report(error));
    applied
}

/// Returns a change with one of its hunks alone, for showing it.
fn only(file: &FileChange, hunk: usize) -> FileChange {
    let mut one = file.clone();
    if one.hunks[hunk].kind == HunkKind::Lines {
        one.hunks = vec![one.hunks[hunk].clone()];
    }
    one
}
