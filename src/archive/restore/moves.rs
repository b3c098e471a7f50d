//! Moves that are undone where the file changed at its new path since: it goes back with that change, or stays where it is.
//! One end alone is never undone: everything in the file would be there twice.

use super::goal::{Choices, Goal};
use super::known::LastWrittenLookup;
use crate::archive::Archive;
use crate::proposal::merge::{self, Merged};
use crate::proposal::{FileChange, ForeignChoice, RestoreFate, RestorePreview, RestoreStatus, State, count_changed};
use crate::workspace::Workspace;

impl Archive {
    /// Carries what changed at the new path of a move that is undone back to the old one, and leaves both ends where
    /// that meets a conflict or the new one is kept.
    pub(super) fn carry_moved(
        &self,
        goals: &[Goal],
        (workspace, written): (&Workspace, &dyn LastWrittenLookup),
        choices: &Choices,
        (previews, files): (&mut [RestorePreview], &mut Vec<FileChange>),
    ) {
        for (at, goal) in goals.iter().enumerate() {
            let RestoreStatus::Foreign { conflicts, choice, rung, is_later, .. } = &mut previews[at].status else {
                continue;
            };
            let (Some(moved), Ok(read)) =
                (self.moved(goal, *is_later, files, written), workspace.read_to_restore(&goal.path))
            else {
                continue;
            };
            if *choice == Some(ForeignChoice::RestoreVersion) {
                continue;
            }
            let (old, now) = (moved.end.after.clone(), read.state);
            let merged = merge::three_way(&moved.end.path, &moved.wrote, &old, &now, self.merger());
            (*conflicts, *rung) = (merged.as_ref().map(|one| one.conflicts.len()), merged.as_ref().map(|one| one.rung));
            let asked = Choices { merge_clean: choices.merge_clean || *is_later, ..choices.clone() };
            *choice = asked.of(&goal.path, *conflicts == Some(0));
            let (is_merged, is_foreign) = (*choice == Some(ForeignChoice::Merge), !*is_later);
            let from = moved.end.clone();
            files.retain(|file| file.path != from.path && file.path != goal.path);
            let Some(preview) = previews.iter_mut().find(|preview| preview.path == from.path) else { continue };
            let Some(merged) = merged.filter(|_| is_merged) else {
                preview.status = RestoreStatus::Refused(format!("it stays at {}, which was changed since", goal.path));
                continue;
            };
            let folders = written.written(&goal.path).map(|last| last.folders).unwrap_or_default();
            let ends = ends((&goal.path, now), from, merged, (folders, is_foreign));
            preview.status = RestoreStatus::Restore(RestoreFate::of(&State::Absent, &ends[1].after), ends[1].counts);
            files.extend(ends);
        }
    }

    /// Returns the move whose new end a file is; none: it is none, or what is undone of it is not the last that nebula did.
    fn moved<'f>(
        &self,
        goal: &Goal,
        is_later: bool,
        files: &'f [FileChange],
        written: &dyn LastWrittenLookup,
    ) -> Option<Moved<'f>> {
        let version = goal.version.as_ref().ok().filter(|version| version.absent)?;
        let since =
            self.versions(&goal.path).ok()?.into_iter().filter(|other| other.id >= version.id).collect::<Vec<_>>();
        let undone = since.iter().filter(|other| goal.own.last().is_none_or(|last| other.id < *last)).count();
        if !goal.own.is_empty() && undone != goal.own.len() {
            return None;
        }
        let bytes_of = |at: usize| self.show(since.get(at)?).ok()?.bytes().cloned();
        let last = || written.written(&goal.path)?.bytes;
        let wrote = if is_later { bytes_of(undone) } else { last() }?;
        // What the move itself left: a later edit of it may have changed much.
        let left = bytes_of(1).unwrap_or_else(|| wrote.clone());
        let comes_back =
            |file: &&FileChange| file.moved.is_none() && file.before.is_absent() && !file.path.ends_with('/');
        let alike = |is_alike: &dyn Fn(&State) -> bool| -> Option<&'f FileChange> {
            let found: Vec<_> = files.iter().filter(comes_back).filter(|file| is_alike(&file.after)).collect();
            let named = |file: &&&FileChange| name(&file.path) == name(&goal.path);
            let [one] = found.as_slice() else {
                let mut named = found.iter().filter(named);
                return named.next().copied().filter(|_| named.next().is_none());
            };
            Some(one)
        };
        let left = State::File { bytes: left, mode: None };
        let is_same = |old: &State| old.bytes().is_some_and(|bytes| !bytes.is_empty() && Some(bytes) == left.bytes());
        let is_like = |old: &State| {
            let lines = old.text().map_or(0, |text| text.lines().count());
            lines > 0 && count_changed(old, &left).removed * 2 <= lines
        };
        Some(Moved { end: alike(&is_same).or_else(|| alike(&is_like))?, wrote: wrote.to_vec() })
    }
}

/// A move that is undone.
struct Moved<'f> {
    /// The change that brings the old path back.
    end: &'f FileChange,
    /// The text that nebula left at the new path.
    wrote: Vec<u8>,
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns both ends of a move back, which are decided together.
fn ends(
    (to, now): (&str, State),
    from: FileChange,
    merged: Merged,
    (folders, foreign): (Vec<String>, bool),
) -> [FileChange; 2] {
    let after = merged.after.with_mode(from.after.mode());
    let [gone, back] = FileChange::moved(to, &from.path, now, after, "undo", &merged.conflicts);
    let of_undo =
        |change, folders| FileChange { restores: true, foreign, folders, merged: Some(merged.rung), ..change };
    [of_undo(gone, folders), of_undo(back, from.folders)]
}
