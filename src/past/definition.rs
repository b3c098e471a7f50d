//! The changes of one definition of a source file, from the states of its file: what was really written, by whatever it
//! was asked for.

use std::ops::Range;

use tokio_util::sync::CancellationToken;

use super::blame::{FileHistory, LineCause, MOVES, moved_from};
use super::error::PastError;
use crate::archive::Id;
use crate::archive::restore::state_sha;
use crate::code::{CodeNode, SourceFile, earlier, is_called, is_respelled};
use crate::execute::Stores;
use crate::proposal::{State, changes};
use crate::text::definition::DefinitionChange;

/// A change of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionEdit {
    /// The changeset.
    pub id: Id,
    /// The part of its id that names the definition in its file, after the change; before it, if that removed it.
    pub name: String,
    /// The name before, where that is another.
    pub renamed: Option<String>,
    /// The kind of change.
    pub change: DefinitionChange,
    /// Someone else changed the file before the next changeset, and what nebula had written was not kept: it may be
    /// theirs.
    pub unsure: bool,
}

/// Returns the changes of a definition that changesets made, newest first, followed through its names and through moves
/// of its file; when stopped, those found so far.
///
/// # Errors
/// When archive or memory cannot be read.
pub fn of_definition(
    file: &SourceFile,
    at: usize,
    stores: Stores<'_>,
    stop: &CancellationToken,
) -> Result<Vec<DefinitionEdit>, PastError> {
    let now = State::file(file.text.as_bytes());
    let versions = stores.archive.versions(&file.path)?;
    let history = FileHistory::new(&file.path, versions, now, stores)?;
    let mut trail = Trail { node: file.nodes[at].clone(), name: file.name(at), there: true, found: Vec::new() };
    trail.follow(&history, stores, MOVES, stop)?;
    Ok(trail.found)
}

/// A definition on its way back through the versions of its file.
struct Trail {
    /// The definition in the version that was reached, or in the oldest later one that has it.
    node: CodeNode,
    name: String,
    /// It is in the version that was reached.
    there: bool,
    found: Vec<DefinitionEdit>,
}

impl Trail {
    /// Goes through a history, `moves` moves of the file at most.
    fn follow(
        &mut self,
        history: &FileHistory<'_>,
        stores: Stores<'_>,
        moves: usize,
        stop: &CancellationToken,
    ) -> Result<(), PastError> {
        let mut state = history.state(history.versions.len())?;
        let Some(mut file) = read(history.path, &state) else { return Ok(()) };
        for (at, version) in history.versions.iter().enumerate().rev() {
            if stop.is_cancelled() {
                return Ok(());
            }
            let mut cause = history.cause_after(version);
            // What nebula left is not what the next change met: someone wrote in between.
            if let (LineCause::Changeset { unsure, .. }, Some(sha)) = (&mut cause.by, cause.sha)
                && sha != state_sha(&state)
            {
                let left = history.left_text(sha)?;
                match left.and_then(|text| SourceFile::read(history.path, text.as_bytes()).ok()) {
                    Some(left) => {
                        self.step(&left, &file, None);
                        file = left;
                    }
                    None => *unsure = true,
                }
            }
            let before = history.state(at)?;
            // What cannot be read says nothing; the next one that can be read does.
            let Some(older) = read(history.path, &before) else { continue };
            let by = match cause.by {
                LineCause::Changeset { id, unsure } => Some((id, unsure)),
                _ => None,
            };
            if let (Some((id, _)), State::Absent, true) = (by, &before, moves > 0)
                && let Some(from) = moved_from(history.path, id, (&file.text, cause.sha), stores)?
                && let Some(origin) = FileHistory::before(&from.path, from.before, stores)?
                && let Some(then) = read(&from.path, &origin.state(origin.versions.len())?)
            {
                self.step(&then, &file, by);
                return self.follow(&origin, stores, moves - 1, stop);
            }
            self.step(&older, &file, by);
            (state, file) = (before, older);
        }
        Ok(())
    }

    /// Goes one version back; notes what changed between the two, if a changeset did it.
    fn step(&mut self, before: &SourceFile, after: &SourceFile, by: Option<(Id, bool)>) {
        let position = |file: &SourceFile| file.nodes.iter().position(|node| is_called(node, &self.node));
        let now = position(after).filter(|_| self.there);
        let then = match now {
            Some(now) => earlier(before, after, now, || changed_lines(before, after)).map(|link| link.other),
            None => position(before),
        };
        let change = match (then, now) {
            (None, None) => None,
            (None, Some(_)) => Some(DefinitionChange::New),
            (Some(_), None) => Some(DefinitionChange::Removed),
            (Some(then), Some(now)) => effect((before, then), (after, now)),
        };
        let name = self.name.clone();
        if let Some(then) = then {
            (self.node, self.name) = (before.nodes[then].clone(), before.name(then));
        }
        self.there = then.is_some();
        let is_renamed = matches!(change, Some(DefinitionChange::Renamed | DefinitionChange::RenamedAndChanged));
        let renamed = Some(self.name.clone()).filter(|_| is_renamed);
        if let (Some(change), Some((id, unsure))) = (change, by) {
            self.found.push(DefinitionEdit { id, name, renamed, change, unsure });
        }
    }
}

/// Returns what became of a definition between two versions of its file; none: nothing.
fn effect((before, then): (&SourceFile, usize), (after, now): (&SourceFile, usize)) -> Option<DefinitionChange> {
    let (old, new) = (&before.nodes[then], &after.nodes[now]);
    let (old_text, new_text) = (&before.text[old.range.clone()], &after.text[new.range.clone()]);
    if old.dotted == new.dotted {
        return (old_text != new_text).then_some(DefinitionChange::Changed);
    }
    Some(match is_respelled(old_text, new_text, &old.name, &new.name) {
        true => DefinitionChange::Renamed,
        false => DefinitionChange::RenamedAndChanged,
    })
}

/// Returns the lines that differ between two versions of a file.
fn changed_lines(before: &SourceFile, after: &SourceFile) -> Vec<(Range<usize>, Range<usize>)> {
    let [before, after] =
        [before, after].map(|file| file.text.split_inclusive('\n').map(str::as_bytes).collect::<Vec<_>>());
    changes(&before, &after)
}

/// Reads the definitions of a state; of nothing there are none.
fn read(path: &str, state: &State) -> Option<SourceFile> {
    SourceFile::read(path, state.bytes().map_or(&[], |bytes| &bytes[..])).ok()
}
