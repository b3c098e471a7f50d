//! Files in which a later change waits to be decided about. With its restore a part of what is undone would come back, or it
//! would be decided with what is undone: such files stay until that one is restored, but for the lines of which no later
//! change made anything else.

use std::collections::BTreeSet;

use super::goal::{Choices, Goal, state_sha};
use super::later::LATER_STAY;
use crate::archive::Archive;
use crate::proposal::merge;
use crate::proposal::{FileChange, ForeignChoice, RestorePreview, RestoreStatus, State};

impl Archive {
    /// Leaves those files, or their lines that a later change made others of, out of a restore that is prepared, and says so in
    /// their previews.
    pub(super) fn leave_waiting(
        &self,
        goals: &[Goal],
        choices: &Choices,
        (previews, files): (&mut [RestorePreview], &mut Vec<FileChange>),
    ) {
        let mut stay: BTreeSet<String> = BTreeSet::new();
        for goal in goals.iter().filter(|goal| choices.waiting.contains(&goal.path)) {
            let Some(file) = files.iter_mut().find(|file| file.path == goal.path) else { continue };
            let Some(preview) = previews.iter_mut().find(|preview| preview.path == goal.path) else { continue };
            let RestoreStatus::Foreign { choice, is_later: true, .. } = &mut preview.status else { continue };
            if *choice != Some(ForeignChoice::Merge) || self.takes_all(goal, file) {
                continue;
            }
            match file.without_conflicts().filter(|_| file.has_conflict()) {
                Some(part) => {
                    let folders = std::mem::take(&mut file.folders);
                    *file = FileChange { folders, restores: file.restores, foreign: file.foreign, ..part };
                    preview.status = RestoreStatus::Refused(LATER_STAY.into());
                }
                None => {
                    *choice = Some(ForeignChoice::Keep);
                    stay.insert(goal.path.clone());
                }
            }
        }
        files.retain(|file| !stay.contains(&file.path));
    }

    /// Returns whether all that is undone of a file was in it: where it can be done again.
    fn takes_all(&self, goal: &Goal, file: &FileChange) -> bool {
        self.done_again(goal, file).is_some_and(|again| state_sha(&again) == state_sha(&file.before))
    }

    /// Returns a file with what is undone of it done again; none: that cannot be told.
    fn done_again(&self, goal: &Goal, file: &FileChange) -> Option<State> {
        let (old, last) = (self.show(goal.version.as_ref().ok()?).ok()?, goal.own.last()?);
        let versions = self.versions(&goal.path).ok()?;
        let left = self.show(versions.iter().find(|version| version.id > *last)?).ok()?;
        if state_sha(&file.after) == state_sha(&old) {
            return Some(left);
        }
        let merged = merge::three_way(&goal.path, old.bytes()?, &left, &file.after, self.merger())?;
        merged.conflicts.is_empty().then_some(merged.after)
    }
}
