//! The undo of a part of what the session changed: a state of a file, or what the call or turn did that made some lines.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::services::Services;
use crate::agent::session::call_preview;
use crate::agent::session::context::SessionContext;
use crate::agent::session::records::{read_results, sha};
use crate::execute::Stores;
use crate::memory::{ChangesetRecord, Memory, Written};
use crate::messages::agent as say;
use crate::proposal::{FileChange, Proposal, REPOSITORY, State, is_in_repository, lines_touch, merge};
use crate::protocol::{CallChange, UNDO};
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

/// Finds the newest changeset of this session that made some lines of a file, alone or with its turn. The second: the lines
/// in the text that it left; none: it is not known to have made them.
pub(super) fn origin(
    context: &SessionContext,
    path: &str,
    lines: Option<Range<usize>>,
    whole_turn: bool,
) -> Result<(RestoreScope, Option<Range<usize>>), String> {
    let (session, made) = changesets_of(context, path)?;
    let newest = made.first().ok_or_else(|| say::not_in_session(&path))?;
    let by_lines = match lines {
        Some(lines) if path != REPOSITORY => made_lines(&context.services, path, lines, &made)?,
        _ => None,
    };
    let (origin, lines) = by_lines.map_or((newest, None), |(origin, lines)| (origin, Some(lines)));
    let scope = match origin.cause.turn.filter(|_| whole_turn) {
        Some(turn) => RestoreScope::Turn { session, turn },
        None => RestoreScope::Changeset(origin.id.clone().unwrap_or_default()),
    };
    Ok((scope, lines))
}

/// Takes out of the files as they are what the calls did that made some lines of a file in a changeset, or all that a turn
/// did, and leaves what came after it. None: what came after it changed the same lines, or it is no text, a folder or a part
/// of the repository; whole versions are restored then. The second: the changesets of which nothing is left then.
pub(super) fn without(
    context: &SessionContext,
    scope: &RestoreScope,
    (path, lines): (&str, Option<Range<usize>>),
    stop: &CancellationToken,
) -> Result<Option<(Proposal, Vec<String>)>, String> {
    let session = context.id().unwrap_or_default();
    let mut calls = None;
    let records = match scope {
        RestoreScope::Turn { turn, .. } => {
            let turn = *turn;
            let of_turn = move |memory: &Memory| memory.changesets_of_turn(&session, turn);
            context.services.memory.ask_blocking(of_turn).map_err(|e| e.to_string())?
        }
        RestoreScope::Changeset(id) => {
            let mut all = changesets_of_session(context, &session)?;
            all.retain(|record| record.id.as_ref() == Some(id));
            calls = calls_of(context, &session, id, (path, lines))?;
            all
        }
        _ => return Ok(None),
    };
    let mut made: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let is_meant = |path: &String| calls.as_ref().is_none_or(|calls| calls.files.contains_key(path));
    let part_of = |path: &str| calls.as_ref().and_then(|calls| calls.files.get(path)?.as_deref());
    for file in records.iter().flat_map(|record| &record.files).filter(|file| is_meant(&file.path)) {
        made.entry(&file.path).or_default().extend(file.version.as_deref());
    }
    if made.keys().any(|path| path.ends_with('/') || is_of(path, REPOSITORY)) {
        return Ok(None);
    }
    let mut files = Vec::new();
    for (path, ids) in made {
        match file_without(&context.services, path, (&ids, part_of(path)), stop)? {
            Some(change) if change.before != change.after => {
                files.push(marking_foreign(change, context.services.stores()));
            }
            Some(_) => {}
            None => return Ok(None),
        }
    }
    let title = match (records.first().map(|record| record.cause.title.as_str()), scope) {
        (_, RestoreScope::Turn { .. }) => "undo of a turn".to_string(),
        (Some(title), _) => {
            format!("undo of {}", calls.as_ref().and_then(|calls| calls.title.as_deref()).unwrap_or(title))
        }
        (None, _) => "undo".to_string(),
    };
    let is_whole = |path: &String| is_meant(path) && part_of(path).is_none();
    let whole = records.iter().filter(|record| record.files.iter().all(|file| is_whole(&file.path)));
    let undone = whole.filter_map(|record| record.id.clone()).collect();
    Ok((!files.is_empty()).then(|| (Proposal { id: context.events.proposal(), title, files }, undone)))
}

/// Calls of one changeset, which holds all that one step changed.
struct MeantCalls {
    /// The files they changed, each with the lines that they made, in its text as it was written; none: all of its change.
    files: BTreeMap<String, Option<Vec<Range<usize>>>>,
    /// The title of an undo of one call alone, after `undo of`.
    title: Option<String>,
}

/// Returns the calls that made some lines of a file in a changeset, or all that changed it where that is not known; `None`
/// where no call is known, as of a command.
fn calls_of(
    context: &SessionContext,
    session: &str,
    changeset: &str,
    (path, lines): (&str, Option<Range<usize>>),
) -> Result<Option<MeantCalls>, String> {
    let session = session.to_string();
    let rows = context.services.memory.ask_blocking(move |memory| memory.load(&session)).map_err(|e| e.to_string())?;
    let results = rows.iter().filter_map(|row| read_results(row.message.tool_results.as_deref())).flatten();
    let of_changeset = results.filter_map(|result| Some((result.name.clone(), result.change()?)));
    let all: Vec<(String, CallChange)> = of_changeset.filter(|(_, change)| change.changeset == changeset).collect();
    let has_made = |change: &CallChange| {
        let own = change.lines.get(path).into_iter().flatten();
        lines.as_ref().is_some_and(|lines| own.clone().any(|own| lines_touch(own, lines)))
    };
    let has_changed = |change: &CallChange| change.paths.iter().any(|changed| is_of(changed, path));
    let is_known = all.iter().any(|(_, change)| has_made(change));
    let is_meant = |change: &CallChange| if is_known { has_made(change) } else { has_changed(change) };
    let (meant, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, change)| is_meant(change));
    let mut files: BTreeMap<String, Option<Vec<Range<usize>>>> = BTreeMap::new();
    for changed in meant.iter().flat_map(|(_, change)| &change.paths) {
        let is_shared = others.iter().any(|(_, change)| change.paths.contains(changed));
        let of_call = |(_, change): &(String, CallChange)| {
            change.paths.contains(changed).then(|| change.lines.get(changed).cloned())
        };
        // Of one that does not know its lines all goes.
        let own: Option<Vec<_>> = meant.iter().filter_map(of_call).collect();
        files.insert(changed.clone(), own.filter(|_| is_shared).map(|own| own.concat()));
    }
    let title = match &meant[..] {
        [(name, _)] => Some(format!("{} {path}", call_preview::short_verbs(&context.services.tools(), name))),
        _ => None,
    };
    Ok((!files.is_empty()).then_some(MeantCalls { files, title }))
}

/// Returns the change of a file as it is that takes out what made these versions of it old, or a part of that: the runs at
/// these lines. What the person changed since stays; `None` where that cannot be told apart: other versions lie between
/// them, or nebula did not keep what it wrote.
fn file_without(
    services: &Arc<Services>,
    path: &str,
    (ids, part): (&[&str], Option<&[Range<usize>]>),
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
        // Someone else may have changed it before the next version was made.
        Some(_) => stores.left_by(path, versions[last].id, show(last + 1)?).map_err(|e| e.to_string())?,
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
    let before = match part {
        Some(lines) => {
            FileChange::new(path, before.clone(), wrote.clone(), "", &[]).without_lines(lines).unwrap_or(before)
        }
        None => before,
    };
    if wrote == now {
        return Ok(Some(FileChange::new(path, now, before, UNDO, &[])));
    }
    let merged = wrote.bytes().and_then(|wrote| merge::three_way(path, wrote, &before, &now, archive.merger()));
    let clean = merged.filter(|merged| merged.conflicts.is_empty());
    Ok(clean.map(|merged| FileChange::merged(path, now, merged, UNDO)))
}

/// Finds the newest of these changesets, newest first, whose change of the file touches `lines`: they are followed back
/// through the file's versions. The second: where they are in the text that it left. None: none of them does.
fn made_lines<'a>(
    services: &Arc<Services>,
    path: &str,
    mut lines: Range<usize>,
    made: &'a [ChangesetRecord],
) -> Result<Option<(&'a ChangesetRecord, Range<usize>)>, String> {
    let services = &services;
    let mut versions = services.archive.versions(path).map_err(|e| e.to_string())?;
    versions.reverse();
    let mut after = services.workspace.read(path).map_err(|e| e.to_string())?.state;
    for version in versions {
        let before = services.archive.show(&version).map_err(|e| e.to_string())?;
        let change = FileChange::new(path, before.clone(), after, "", &[]);
        if change.hunks.iter().any(|hunk| lines_touch(&hunk.after, &lines)) {
            let id = version.id.to_string();
            let overwrote = |record: &&ChangesetRecord| {
                record.files.iter().any(|file| file.path == path && file.version.as_deref() == Some(&id))
            };
            if let Some(record) = made.iter().find(overwrote) {
                return Ok(Some((record, lines)));
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
