//! A decided proposal → archive → disk. The only writer of workspace files.
//!
//! Under the archive's lock every file is read again and compared with what the proposal knew; then all states before
//! are archived and flushed; then all states after are staged beside their targets and flushed; then each is renamed
//! into place. A crash at any instant leaves every file old or new, and every old state in the archive. A failure puts
//! back what was written.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use tokio_util::sync::CancellationToken;

use super::Stores;
use super::error::ApplyError;
use super::modes::with_modes_of_today;
use super::moved::{self, FolderMove};
use crate::archive::restore::{NOT_EMPTY, lies_in};
use crate::archive::{self, Archive, Before, Id, Lock, RecordedFile};
use crate::disk;
use crate::proposal::{Decided, DecidedFile, MergedFile, State, outermost_folder};
use crate::workspace::folders::{Folders, shut_above};
use crate::workspace::write::{self, Staged, Staging, Stop};
use crate::workspace::{Access, PathError, Read, ReadError, Workspace};

/// The result of writing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applied {
    /// The changeset that holds what was overwritten; `None`: every path is excluded from the archive, or there was
    /// nothing to write.
    pub changeset: Option<Id>,
    /// The archived states, for memory. Excluded files are left out.
    pub archived: Vec<RecordedFile>,
    /// Normalised paths of all files written, made or deleted.
    pub paths: Vec<String>,
    /// Folders that were made for them, outermost first.
    pub made: Vec<String>,
    /// Folders that went with the last file in them, innermost first.
    pub removed: Vec<String>,
    /// The attributes that replaced files could not keep (owner, access list, other names), a line for each file with
    /// its path.
    pub not_kept: Vec<String>,
    /// The file system cannot exchange files: see [`UNGUARDED`].
    pub unguarded: bool,
    /// The files that had changed since the proposal was made, and what they are now.
    pub merged: Vec<MergedFile>,
}

/// The notice for files replaced on a file system that cannot exchange two of them.
pub const UNGUARDED: &str = "this file system cannot exchange two files: if another program saves a file while nebula writes it, that save is lost";

/// Archives what a decided proposal overwrites, and writes it. All or nothing.
///
/// # Errors
/// When a file is not as the proposal knew it, a path may not be written, or the disk refuses.
pub fn apply(decided: &Decided, workspace: &Workspace, archive: &Archive) -> Result<Applied, ApplyError> {
    apply_locked(&mut archive.lock()?, decided, workspace, archive)
}

/// Does the same under a lock that is held already.
pub(super) fn apply_locked(
    lock: &mut Lock,
    decided: &Decided,
    workspace: &Workspace,
    archive: &Archive,
) -> Result<Applied, ApplyError> {
    let now = read_again(decided, workspace)?;
    let files = with_modes_of_today(decided.files(), &now);
    // They are archived too: where this process is killed, an undo sets them back.
    let shut = shut_above(workspace, files.iter().filter(|file| file.restores()).map(DecidedFile::path));
    let states = files.iter().zip(&now).map(|(file, now)| before(file, now));
    let opened = |(path, state)| Before { path, state, goes: false, mode: state.mode().map(|mode| mode | 0o700) };
    let states: Vec<_> = states.chain(shut.iter().map(|(path, state)| (path.as_str(), state)).map(opened)).collect();
    let all: Vec<_> = files.iter().zip(&now).collect();
    let mut moves = moved::plan(&all, workspace, archive);
    let folders = moves.iter().map(|planned| planned.folder).collect();
    let mut recorded = archive.record_folders(lock, &states, &folders, Some(decided.consent()))?;
    let wrote =
        move_folders(&mut moves, &mut recorded, (&mut *lock, &states), (workspace, archive)).and_then(|moved| {
            let rest: Vec<_> =
                all.iter().copied().filter(|(file, _)| outermost_folder(file.path(), &moved).is_none()).collect();
            write_all(&rest, &shut, workspace, archive)
        });
    let wrote = wrote.map_err(|failure| {
        let failure = put_back_folders(&mut moves, failure);
        for folder in moves.iter().filter(|one| one.goes() && !one.is_moved()).map(|one| one.folder) {
            // It is back, so its listing has no bytes of its own. What is not archived by itself now stays listed.
            let _ = archive.unlist(lock, &mut recorded, &states, folder);
        }
        failure
    });
    let failure = match wrote {
        Ok(written) => {
            return Ok(Applied {
                changeset: recorded.changeset,
                archived: recorded.files,
                paths: files.iter().map(|f| f.path().to_string()).collect(),
                made: written.made,
                not_kept: written.not_kept,
                unguarded: written.unguarded,
                merged: decided.merged().to_vec(),
                removed: write::remove_empty(workspace, files.iter().flat_map(DecidedFile::folders)),
            });
        }
        Err(failure) => failure,
    };
    let stayed: Vec<_> = states.iter().filter(|b| b.goes).map(|b| b.path.to_string()).collect();
    // After an interruption: a file that stays is not the archive's. What fails here is done at the next start.
    let _ = archive.stopped_by(&CancellationToken::new()).unshare(lock, &stayed);
    Err(error_of(failure, recorded, workspace)?)
}

/// Writes what brings files back to the states that a changeset archived, all or nothing: what is overwritten was written
/// for it and is archived elsewhere, or left out of the archive. A folder that it brought back by renaming goes to where it was.
///
/// # Errors
/// As [`apply`].
pub(super) fn write_back(
    _lock: &mut Lock,
    changeset: Id,
    decided: &Decided,
    Stores { workspace, archive, .. }: Stores<'_>,
) -> Result<(), ApplyError> {
    let now = read_again(decided, workspace)?;
    let all: Vec<_> = decided.files().iter().zip(&now).collect();
    let shut = shut_above(workspace, decided.files().iter().map(DecidedFile::path));
    let mut moves = moved::plan(&all, workspace, archive);
    let wrote = moved::go_back(&mut moves, &all, changeset, (workspace, archive));
    let wrote = wrote.map_err(|(path, error)| Failure::disk(&path, error)).and_then(|moved| {
        let rest: Vec<_> = all.iter().copied().filter(|(f, _)| outermost_folder(f.path(), &moved).is_none()).collect();
        write_all(&rest, &shut, workspace, archive)
    });
    let Err(failure) = wrote else { return Ok(()) };
    let failure = put_back_folders(&mut moves, failure);
    let recorded = archive::Recorded { changeset: Some(changeset), files: Vec::new(), listed: Vec::new() };
    Err(error_of(failure, recorded, workspace)?)
}

/// Returns the error of a failure, with what was archived before it.
fn error_of(failure: Failure<'_>, recorded: archive::Recorded, workspace: &Workspace) -> Result<ApplyError, ReadError> {
    Ok(match failure {
        Failure::Changed { file, now } => {
            let found = read_of(workspace, file)?.state;
            let archived = recorded.changeset.map(|id| Box::new((id, recorded.files)));
            ApplyError::Conflict { path: file.path().into(), expected: now.state.clone(), found, archived }
        }
        Failure::Disk { path, source, gone } => {
            let (not_put_back, removed) = (gone.files, gone.special.into());
            let archive::Recorded { changeset, files: archived, .. } = recorded;
            ApplyError::Write { path, source, changeset, archived, not_put_back, removed }
        }
    })
}

/// Renames the folders that come or go as they are, and returns those; the others are archived and written file by file.
fn move_folders<'a>(
    moves: &mut [FolderMove<'a>],
    recorded: &mut archive::Recorded,
    (lock, states): (&mut archive::Lock, &[Before<'_>]),
    (workspace, archive): (&Workspace, &Archive),
) -> Result<BTreeSet<&'a str>, Failure<'a>> {
    let mut moved = BTreeSet::new();
    for one in moves {
        let listed = recorded.listed.iter().find(|(folder, _)| folder == one.folder).map(|(_, listed)| *listed);
        let Some(listed) = listed else { continue };
        if matches!(one.run(listed, workspace, archive), Ok(true)) {
            moved.insert(one.folder);
        } else if !one.is_moved() {
            let unlisted = archive.unlist(lock, recorded, states, one.folder);
            let io = |error: archive::Error| io::Error::other(error.to_string());
            unlisted.map_err(|error| Failure::disk(one.folder, io(error)))?;
        } else {
            let why = format!("it was changed meanwhile, and lies in .shaft/removed/{listed} now");
            return Err(Failure::disk(one.folder, io::Error::other(why)));
        }
    }
    Ok(moved)
}

/// Renames folders back after a failure, and adds those that stay where they are.
fn put_back_folders<'a>(moves: &mut [FolderMove<'a>], failure: Failure<'a>) -> Failure<'a> {
    let stay = moves.iter_mut().filter_map(|one| one.put_back().is_err().then(|| one.folder.to_string()));
    failure.and_gone(Gone { files: stay.collect(), ..Gone::default() })
}

/// Returns what is archived of a file before it is written or removed.
fn before<'a>(file: &'a DecidedFile, now: &'a Read) -> Before<'a> {
    Before { path: file.path(), state: &now.state, goes: file.after().is_absent(), mode: file.after().mode() }
}

/// Writes all files, and the folders around them. Where a file takes the place of a folder or the other way round, what
/// is in the way goes first.
fn write_all<'a>(
    all: &[(&'a DecidedFile, &'a Read)],
    shut: &BTreeMap<String, State>,
    workspace: &Workspace,
    archive: &Archive,
) -> Outcome<'a> {
    let states = all.iter().map(|(file, now)| (file.path(), &now.state, file.after()));
    let folders = Folders::new(workspace, states.chain(shut.iter().map(|(path, state)| (path.as_str(), state, state))));
    let files = all.iter().filter(|(file, _)| !file.path().ends_with('/'));
    let come: BTreeSet<&str> = all.iter().filter(|(_, now)| now.state.is_absent()).map(|(f, _)| f.path()).collect();
    let in_the_way = |file: &DecidedFile| {
        file.after().is_absent()
            && (folders.comes_or_goes(file.path())
                || folders.is_in_removed(file.path())
                    && file.path().match_indices('/').any(|(end, _)| come.contains(&file.path()[..end])))
    };
    let (first, rest): (Vec<_>, Vec<_>) = files.copied().partition(|(file, _)| in_the_way(file));
    let mut gone = Gone::default();
    let wrote = write_in_order(all, &folders, (first, rest), (workspace, archive), &mut gone);
    wrote.map_err(|failure| {
        // A file that cannot be put back is in the archive; the failure itself says more.
        let _ = folders.put_back();
        failure.and_gone(gone)
    })
}

/// The files and special files that were removed before a failure and are not put back.
#[derive(Default)]
struct Gone {
    /// Files; the archive holds them.
    files: Vec<String>,
    /// Pipes, sockets and devices, each in a line; nothing holds them.
    special: Vec<String>,
}

type DecidedFiles<'a> = Vec<(&'a DecidedFile, &'a Read)>;

fn write_in_order<'a>(
    all: &[(&'a DecidedFile, &'a Read)],
    folders: &Folders<'_>,
    (first, rest): (DecidedFiles<'a>, DecidedFiles<'a>),
    (workspace, archive): (&Workspace, &Archive),
    gone: &mut Gone,
) -> Outcome<'a> {
    let disk = |path: &str, source| Failure::Disk { path: path.into(), source, gone: Gone::default() };
    folders.open_up().map_err(|e| disk("its folder", e))?;
    clear_special(all, workspace, &mut gone.special).map_err(|(path, e)| disk(path, e))?;
    let mut written = WriteReport { made: Vec::new(), not_kept: gone.special.clone(), unguarded: false };
    if !first.is_empty() {
        written.add(Writing { workspace, archive, files: first.clone() }.run()?);
        gone.files = first.iter().map(|(file, _)| file.path().to_string()).collect();
        folders.remove();
    }
    // An empty folder where a file comes back holds nothing that would have gone first.
    let takes_place = |(file, now): &(&DecidedFile, &Read)| {
        now.state.is_absent() && !file.after().is_absent() && folders.comes_or_goes(file.path())
    };
    if rest.iter().any(takes_place) {
        folders.remove();
    }
    folders.make().map_err(|e| disk("its folder", e))?;
    written.add(Writing { workspace, archive, files: rest }.run()?);
    written.not_kept.extend(folders.remove().into_iter().map(|path| format!("{path}: {NOT_EMPTY}")));
    if let Err(error) = folders.set_modes() {
        written.not_kept.push(format!("a folder's mode: {}", disk::words(&error)));
    }
    Ok(written)
}

/// Removes what is no file in the place of those that a restore brings back, and adds a line for each. The error names
/// the path.
fn clear_special<'a>(
    all: &[(&'a DecidedFile, &Read)],
    workspace: &Workspace,
    removed: &mut Vec<String>,
) -> Result<(), (&'a str, io::Error)> {
    let comes =
        |(file, now): &&(&DecidedFile, &Read)| file.restores() && now.state.is_absent() && !file.after().is_absent();
    for (file, _) in all.iter().filter(comes) {
        let kind = write::remove_special(workspace, file.path()).map_err(|e| (file.path(), e))?;
        removed.extend(kind.map(|kind| format!("{}: {kind} in its place was removed", file.path())));
    }
    Ok(())
}

/// Returns whether files of this workspace can be exchanged in one step.
///
/// # Errors
/// When its root cannot be written.
pub fn can_exchange(workspace: &Workspace) -> io::Result<bool> {
    write::can_exchange(workspace)
}

/// Reads every file again and compares it with what the proposal knew.
///
/// # Errors
/// When one is another, cannot be read, or may not be written.
pub(super) fn read_again(decided: &Decided, workspace: &Workspace) -> Result<Vec<Read>, ApplyError> {
    let mut now = Vec::new();
    let comes_back = |file: &&DecidedFile| file.restores() && matches!(file.after(), State::Folder { .. });
    let folders: BTreeSet<String> = decided.files().iter().filter(comes_back).map(|f| f.path().to_string()).collect();
    for file in decided.files() {
        let read = match file.restores() {
            true => {
                let real = match workspace.resolve_archived(file.path()) {
                    // A file or a link in the way is removed first.
                    Ok(_) | Err(PathError::BelowAFile { .. } | PathError::Outside { .. })
                        if lies_in(file.path(), &folders) =>
                    {
                        file.path().into()
                    }
                    real => real?,
                };
                at_its_path(file, &real, read_of(workspace, file)?)?
            }
            false => present(file, workspace)?,
        };
        // A changed mode is no conflict: an edit keeps whatever mode it finds.
        if !file.before().is_same_but_for_mode(&read.state) {
            return Err(changed(file, read.state));
        }
        if !file.restores() && is_read_only(file.before(), &read.state, file.after()) {
            return Err(ApplyError::ReadOnly(file.path().into()));
        }
        now.push(read);
    }
    Ok(now)
}

/// Reads a file that is to be edited, as it is now.
///
/// # Errors
/// When it may not be read, or its path means another file now.
pub(super) fn present(file: &DecidedFile, workspace: &Workspace) -> Result<Read, ApplyError> {
    let real = workspace.resolve_normalised(file.path(), Access::Entry)?;
    at_its_path(file, &real, workspace.read(&real)?)
}

/// Refuses what was read where a folder of the path has become a link: it means another file now.
fn at_its_path(file: &DecidedFile, real: &str, read: Read) -> Result<Read, ApplyError> {
    if real == file.path() { Ok(read) } else { Err(changed(file, read.state)) }
}

fn changed(file: &DecidedFile, found: State) -> ApplyError {
    ApplyError::Conflict { path: file.path().into(), expected: file.before().clone(), found, archived: None }
}

fn read_of(workspace: &Workspace, file: &DecidedFile) -> Result<Read, ReadError> {
    if file.restores() { workspace.read_to_restore(file.path()) } else { workspace.read(file.path()) }
}

/// Returns whether a file must not be written because its mode says so: it became read-only since the proposal was
/// made, or was so all along and the change is to its text alone. Taking back a file that was made read-only is fine.
fn is_read_only(before: &State, now: &State, after: &State) -> bool {
    let locked = |state: &State| state.mode().is_some_and(|mode| mode & 0o222 == 0);
    let keeps_mode = match (now, after) {
        (State::File { mode: old, .. }, State::File { mode: new, .. }) => new.is_none() || new == old,
        _ => false,
    };
    locked(now) && (keeps_mode || !locked(before))
}

/// Returns what a file could not keep, or will not have again once an undo brings it back, in a line.
fn not_kept(file: &DecidedFile, lost: &[String]) -> String {
    let (path, lost) = (file.path(), lost.join(", "));
    match file.after().is_absent() {
        true => format!("{path} is deleted; an undo brings it back without {lost}"),
        false => format!("{path}: {lost}"),
    }
}

/// The reason why writing stopped. Everything is put back by then, as far as it goes.
enum Failure<'a> {
    /// This file was touched since it was read again.
    Changed { file: &'a DecidedFile, now: &'a Read },
    /// A call of the file system failed.
    Disk { path: String, source: io::Error, gone: Gone },
}

impl Failure<'_> {
    fn disk(path: &str, source: io::Error) -> Self {
        Failure::Disk { path: path.into(), source, gone: Gone::default() }
    }

    /// Returns the failure, with what was removed before and is not put back.
    fn and_gone(self, before: Gone) -> Self {
        if before.files.is_empty() && before.special.is_empty() {
            return self;
        }
        let (path, source, mut gone) = match self {
            Failure::Changed { file, .. } => {
                (file.path().to_string(), io::Error::other("it changed on disk meanwhile"), Gone::default())
            }
            Failure::Disk { path, source, gone } => (path, source, gone),
        };
        gone.files.extend(before.files);
        gone.special.extend(before.special);
        Failure::Disk { path, source, gone }
    }
}

/// The result of writing the files.
struct WriteReport {
    /// Folders that were made on the way.
    made: Vec<String>,
    not_kept: Vec<String>,
    unguarded: bool,
}

impl WriteReport {
    fn add(&mut self, more: WriteReport) {
        self.made.extend(more.made);
        self.not_kept.extend(more.not_kept);
        self.unguarded |= more.unguarded;
    }
}

type Outcome<'a> = Result<WriteReport, Failure<'a>>;

/// The writing half: stage all, flush all, rename all.
struct Writing<'a, 'w> {
    workspace: &'w Workspace,
    archive: &'w Archive,
    files: Vec<(&'a DecidedFile, &'a Read)>,
}

impl<'a> Writing<'a, '_> {
    fn run(&self) -> Outcome<'a> {
        let mut staged = Vec::new();
        if let Err((file, source)) = self.stage(&mut staged) {
            staged.iter().for_each(Staged::discard);
            return Err(Failure::Disk { path: self.path(file), source, gone: Gone::default() });
        }
        let failed = match self.commit(&mut staged) {
            Ok(()) => {
                staged.iter().for_each(Staged::finish);
                let lost = staged.iter().zip(&self.files).filter(|(s, _)| !s.lost().is_empty());
                let not_kept = lost.map(|(s, (file, _))| not_kept(file, s.lost())).collect();
                let unguarded = staged.iter().any(Staged::was_unguarded);
                return Ok(WriteReport { made: staged.iter().flat_map(Staged::made).collect(), not_kept, unguarded });
            }
            Err(failed) => failed,
        };
        let not_put_back = self.put_back(&mut staged);
        staged.iter().for_each(Staged::discard);
        Err(match failed {
            (file, None) if not_put_back.is_empty() => {
                Failure::Changed { file: self.files[file].0, now: self.files[file].1 }
            }
            (file, source) => {
                let source = source.unwrap_or_else(|| io::Error::other("it changed on disk meanwhile"));
                Failure::Disk { path: self.path(file), source, gone: Gone { files: not_put_back, ..Gone::default() } }
            }
        })
    }

    fn path(&self, file: usize) -> String {
        self.files.get(file).map_or_else(String::new, |(file, _)| file.path().to_string())
    }

    /// Writes all states after into temporary files, and flushes them. The error names the file's number.
    fn stage(&self, staged: &mut Vec<Staged>) -> Result<(), (usize, io::Error)> {
        let mut unflushed = disk::Unflushed::new(self.files.len());
        let mut staging = Staging::new(self.workspace).map_err(|e| (0, e))?;
        for (i, (file, now)) in self.files.iter().enumerate() {
            let fail = |e| (i, e);
            self.archive.probe_step("apply: stage").map_err(fail)?;
            let (one, temp) = staging.stage(file.path(), &now.state, file.after()).map_err(fail)?;
            staged.push(one);
            if let Some(temp) = temp {
                unflushed.add(temp).map_err(fail)?;
            }
        }
        self.archive.probe_step("apply: flush").map_err(|e| (0, e))?;
        unflushed.flush().map_err(|e| (0, e))
    }

    /// Renames all into place, deletions last, so that the end of a move appears before its beginning goes; then
    /// flushes the folders. An error without a source: someone else wrote the file.
    fn commit(&self, staged: &mut [Staged]) -> Result<(), (usize, Option<io::Error>)> {
        let (last, first): (Vec<_>, Vec<_>) = (0..staged.len()).partition(|i| self.files[*i].0.after().is_absent());
        for i in first.into_iter().chain(last) {
            self.archive.probe_step("apply: rename").map_err(|e| (i, Some(e)))?;
            staged[i].commit(self.files[i].1).map_err(|stop| match stop {
                Stop::Changed => (i, None),
                Stop::Disk(source) => (i, Some(source)),
            })?;
        }
        self.archive.probe_step("apply: flush folders").map_err(|e| (0, Some(e)))?;
        write::sync_folders(staged).map_err(|e| (0, Some(e)))?;
        self.archive.probe_step("apply: done").map_err(|e| (0, Some(e)))
    }

    /// Puts back what was written, newest first; the paths where that failed, or where someone else has written since.
    fn put_back(&self, staged: &mut [Staged]) -> Vec<String> {
        let all = staged.iter_mut().zip(&self.files).rev();
        all.filter_map(|(staged, (file, now))| {
            let failed = staged.undo(&now.state, file.after()).is_err();
            failed.then(|| file.path().to_string())
        })
        .collect()
    }
}
