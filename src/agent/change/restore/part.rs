//! The undo of a part of what the session changed: a state of a file, or what the call or turn did that made some lines.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::services::Services;
use crate::agent::session::context::SessionContext;
use crate::agent::session::records::{read_results, sha};
use crate::execute::Stores;
use crate::memory::{ChangesetRecord, Memory, Written};
use crate::messages::agent as say;
use crate::proposal::{FileChange, Proposal, REPOSITORY, State, is_in_repository, merge};
use crate::protocol::UNDO;
use crate::restore_plan::{RestoreScope, marking_foreign};

/// Returns the proposal that gives a file another state.
///
/// # Errors
/// For the repository, which is restored whole.
pub(super) fn to_state(context: &SessionContext, path: &str, now: State, then: State) -> Result<Proposal, String> {
    if is_of(path, REPOSITORY) {
        return Err(say::repository_by_call().into());
    }
    let title = format!("undo of a change of {path}");
    let files = vec![marking_foreign(FileChange::new(path, now, then, UNDO, &[]), context.services.stores())];
    Ok(Proposal { id: context.events.proposal(), title, files })
}

/// Returns whether a changed path is meant by `path`: the repository means all of its files.
fn is_of(changed: &str, path: &str) -> bool {
    changed == path || path == REPOSITORY && is_in_repository(changed)
}

/// Returns the changesets of this session that changed a file, newest first.
fn changesets_of(context: &SessionContext, path: &str) -> Result<(String, Vec<ChangesetRecord>), String> {
    let session = context.id().ok_or(say::no_session())?;
    let mut records = changesets_of_session(context, &session)?;
    records.retain(|record| record.id.is_some() && record.files.iter().any(|file| is_of(&file.path, path)));
    // Ids grow with time.
    records.sort_by(|a, b| b.id.cmp(&a.id));
    Ok((session, records))
}

/// Returns the changesets of a session, as memory has them.
pub(super) fn changesets_of_session(context: &SessionContext, session: &str) -> Result<Vec<ChangesetRecord>, String> {
    let session = session.to_string();
    let found = context.services.memory.ask_blocking(move |memory| memory.changesets_of_session(&session));
    found.map_err(|e| e.to_string())
}

/// Finds the newest changeset of this session that made some lines of a file, alone or with its turn.
pub(super) fn origin(
    context: &SessionContext,
    path: &str,
    lines: Option<Range<usize>>,
    whole_turn: bool,
) -> Result<RestoreScope, String> {
    let (session, made) = changesets_of(context, path)?;
    let newest = made.first().ok_or_else(|| say::not_in_session(&path))?;
    let by_lines = match lines {
        Some(lines) if path != REPOSITORY => made_lines(&context.services, path, lines, &made)?,
        _ => None,
    };
    let origin = by_lines.unwrap_or(newest);
    match origin.cause.turn.filter(|_| whole_turn) {
        Some(turn) => Ok(RestoreScope::Turn { session, turn }),
        None => Ok(RestoreScope::Changeset(origin.id.clone().unwrap_or_default())),
    }
}

/// Takes out of the files as they are what the calls did that changed a file in a changeset, or all that a turn did, and
/// leaves what came after it. None: what came after it changed the same lines, or it is no text, a folder or a part of the
/// repository; whole versions are restored then. The second: the changesets of which nothing is left then.
pub(super) fn without(
    context: &SessionContext,
    scope: &RestoreScope,
    path: &str,
    stop: &CancellationToken,
) -> Result<Option<(Proposal, Vec<String>)>, String> {
    let session = context.id().unwrap_or_default();
    let mut only = None;
    let records = match scope {
        RestoreScope::Turn { turn, .. } => {
            let turn = *turn;
            let of_turn = move |memory: &Memory| memory.changesets_of_turn(&session, turn);
            context.services.memory.ask_blocking(of_turn).map_err(|e| e.to_string())?
        }
        RestoreScope::Changeset(id) => {
            let mut all = changesets_of_session(context, &session)?;
            all.retain(|record| record.id.as_ref() == Some(id));
            only = files_of_calls(context, &session, id, path)?;
            all
        }
        _ => return Ok(None),
    };
    let mut made: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let is_meant = |path: &String| only.as_ref().is_none_or(|only: &BTreeSet<String>| only.contains(path));
    for file in records.iter().flat_map(|record| &record.files).filter(|file| is_meant(&file.path)) {
        made.entry(&file.path).or_default().extend(file.version.as_deref());
    }
    if made.keys().any(|path| path.ends_with('/') || is_of(path, REPOSITORY)) {
        return Ok(None);
    }
    let mut files = Vec::new();
    for (path, ids) in made {
        match file_without(&context.services, path, &ids, stop)? {
            Some(change) if change.before != change.after => {
                files.push(marking_foreign(change, context.services.stores()));
            }
            Some(_) => {}
            None => return Ok(None),
        }
    }
    let title = match (records.first().map(|record| record.cause.title.as_str()), scope) {
        (_, RestoreScope::Turn { .. }) => "undo of a turn".to_string(),
        (Some(title), _) => format!("undo of {title}"),
        (None, _) => "undo".to_string(),
    };
    let whole = records.iter().filter(|record| record.files.iter().all(|file| is_meant(&file.path)));
    let undone = whole.filter_map(|record| record.id.clone()).collect();
    Ok((!files.is_empty()).then(|| (Proposal { id: context.events.proposal(), title, files }, undone)))
}

/// Returns the files of the calls that changed a file in a changeset, which holds all that one step changed; `None` where
/// no call is known, as of a command.
fn files_of_calls(
    context: &SessionContext,
    session: &str,
    changeset: &str,
    path: &str,
) -> Result<Option<BTreeSet<String>>, String> {
    let session = session.to_string();
    let rows = context.services.memory.ask_blocking(move |memory| memory.load(&session)).map_err(|e| e.to_string())?;
    let results = rows.iter().filter_map(|row| read_results(row.message.tool_results.as_deref())).flatten();
    let changes = results.filter_map(|result| result.change()).filter(|change| change.changeset == changeset);
    let of_path = changes.filter(|change| change.paths.iter().any(|changed| is_of(changed, path)));
    let files: BTreeSet<String> = of_path.flat_map(|change| change.paths).collect();
    Ok((!files.is_empty()).then_some(files))
}

/// Returns the change of a file as it is that takes out what made these versions of it old. What the person changed since
/// stays; `None` where that cannot be told apart: other versions lie between them, or nebula did not keep what it
/// wrote.
fn file_without(
    services: &Arc<Services>,
    path: &str,
    ids: &[&str],
    stop: &CancellationToken,
) -> Result<Option<FileChange>, String> {
    let services = &services;
    let (archive, workspace) = (services.archive.stopped_by(stop), services.workspace.stopped_by(stop));
    let versions = archive.versions(path).map_err(|e| e.to_string())?;
    let mine = |version: &crate::archive::Version| ids.contains(&version.id.to_string().as_str());
    let (Some(first), Some(last)) = (versions.iter().position(mine), versions.iter().rposition(mine)) else {
        return Ok(None);
    };
    if !versions[first..=last].iter().all(mine) {
        return Ok(None);
    }
    let now = workspace.read_whole(path).map_err(|e| e.to_string())?.state;
    let stores = Stores { workspace: &workspace, archive: &archive, ..services.stores() };
    let show = |at: usize| stores.show(path, &versions[at]).map_err(|e| e.to_string());
    let before = show(first)?;
    let wrote = match versions.get(last + 1) {
        Some(_) => show(last + 1)?,
        None => {
            let (project, path) = (services.project(), path.to_string());
            let written = services.memory.ask_blocking(move |memory| memory.written(&project, &path));
            match written.map_err(|e| e.to_string())? {
                Some(written) if written.is(now.bytes().map(|bytes| sha(bytes))) => now.clone(),
                Some(Written { bytes: Some(bytes), .. }) => State::File { bytes: bytes.into(), mode: None },
                _ => return Ok(None),
            }
        }
    };
    if wrote == now {
        return Ok(Some(FileChange::new(path, now, before, UNDO, &[])));
    }
    let merged = wrote.bytes().and_then(|wrote| merge::three_way(path, wrote, &before, &now, archive.merger()));
    let clean = merged.filter(|merged| merged.conflicts.is_empty());
    Ok(clean.map(|merged| FileChange::merged(path, now, merged, UNDO)))
}

/// Finds the newest of these changesets, newest first, whose change of the file touches `lines`: they are followed back
/// through the file's versions. None: none of them does.
fn made_lines<'a>(
    services: &Arc<Services>,
    path: &str,
    mut lines: Range<usize>,
    made: &'a [ChangesetRecord],
) -> Result<Option<&'a ChangesetRecord>, String> {
    let services = &services;
    let mut versions = services.archive.versions(path).map_err(|e| e.to_string())?;
    versions.reverse();
    let mut after = services.workspace.read(path).map_err(|e| e.to_string())?.state;
    for version in versions {
        let before = services.archive.show(&version).map_err(|e| e.to_string())?;
        let change = FileChange::new(path, before.clone(), after, "", &[]);
        if change.hunks.iter().any(|hunk| touches(&hunk.after, &lines)) {
            let id = version.id.to_string();
            let overwrote = |record: &&ChangesetRecord| {
                record.files.iter().any(|file| file.path == path && file.version.as_deref() == Some(&id))
            };
            if let Some(record) = made.iter().find(overwrote) {
                return Ok(Some(record));
            }
        }
        // Where the lines were before this change.
        let above = change.hunks.iter().filter(|hunk| hunk.after.end <= lines.start);
        let shift: isize = above.map(|hunk| hunk.before.len() as isize - hunk.after.len() as isize).sum();
        lines = lines.start.saturating_add_signed(shift)..lines.end.saturating_add_signed(shift);
        after = before;
    }
    Ok(None)
}

/// Returns whether two ranges of lines have a line in common; an empty one is a place between two lines.
fn touches(a: &Range<usize>, b: &Range<usize>) -> bool {
    match a.is_empty() || b.is_empty() {
        true => a.start <= b.end && b.start <= a.end,
        false => a.start < b.end && b.start < a.end,
    }
}
