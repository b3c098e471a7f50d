//! Sealing: the states that a command's keeper staged become one changeset.
//!
//! A staged state that equals what is there now is dropped. The others get a second name among the versions, or a copy
//! where the file is still in use under another name; then all is flushed, then the changeset is named, and only then
//! the staging folder is emptied. A crash before that leaves the staged states, which are sealed by whoever finds them.

mod named;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::Path;

use tokio_util::sync::CancellationToken;

use self::named::{NamedStates, name_version, open_staged};
use super::changeset::{self, ChangeKind, Changeset};
use super::restore::state_sha;
use super::shared::{KeptAtOnce, SealIds, kept_again};
use super::staging::{CommandStaging, Journal, JournalLine, SealKind, StagedKind};
use super::{Archive, Error, Id, Lock, NotUndone, RecordedFile, Sha, at, changeset_name, version};
use crate::disk::{self, Folder, Unflushed};
use crate::proposal::{Counts, State, count_changed, is_in_repository, large_folders, outermost_folder};
use crate::workspace::{PathReader, ReadError, Workspace, state_of};

/// The number of files above which no bytes are stored for merges.
const MANY: usize = 200;
/// The most bytes of a name that file systems take.
const LONGEST_NAME: usize = 255;

/// A path that a command changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandChange {
    /// The state before, as it was staged.
    pub entry: JournalLine,
    /// The place of that state in the journal.
    pub place: usize,
    /// The kind of change.
    pub kind: ChangeKind,
    /// SHA-256 of the state before, as [`state_sha`] gives it.
    pub before: Option<Sha>,
    /// The SHA-256 of the state after.
    pub after: Option<Sha>,
    /// The text after, while the changes are few: the common ground of later merges. Of git's index the bytes: it is the
    /// same where git notes other times in it.
    pub bytes: Option<Vec<u8>>,
    /// Lines added and removed.
    pub counts: Counts,
    /// The state after is one that someone else left there: what of it is the command's is not known.
    pub by_another: bool,
    /// The permission bits that it has now, where they are others.
    new_mode: Option<u32>,
    /// A set-user-ID or set-group-ID bit among them is new.
    adds_set_id: bool,
}

impl CommandChange {
    /// Creates one that another command's sealing has archived, from what is known of it.
    pub fn archived(
        (place, entry): (usize, JournalLine),
        (before, after): (Option<Sha>, Option<Sha>),
        counts: Counts,
    ) -> Self {
        let kind = match (entry.kind, after) {
            (StagedKind::Absent, _) => ChangeKind::Made,
            (_, None) => ChangeKind::Removed,
            (StagedKind::Folder, _) => ChangeKind::Mode,
            _ if before == after => ChangeKind::Mode,
            _ => ChangeKind::Changed,
        };
        let (bytes, by_another, new_mode, adds_set_id) = (None, false, None, false);
        CommandChange { entry, place, kind, before, after, bytes, counts, by_another, new_mode, adds_set_id }
    }
}

/// The changes of a command, and the paths that could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandChanges {
    /// The changes, in the order in which the states were staged.
    pub changes: Vec<CommandChange>,
    /// Paths whose state now cannot be read, each with why: they are archived all the same.
    pub unread: Vec<(String, String)>,
    /// The states that are as they were: their places in the journal, and their paths.
    pub unchanged: Vec<(usize, String)>,
}

impl CommandChanges {
    /// Adds the states around what a command did to a path.
    fn add(
        &mut self,
        (place, entry): (usize, &JournalLine),
        around: (State, State),
        by_another: bool,
        keep_bytes: bool,
    ) {
        let (before, after) = around;
        if before == after {
            return self.unchanged.push((place, entry.path.clone()));
        }
        if let Some(bit) = entry.lost_bit(&after) {
            let why = format!("its {bit} bit: an undo brings it back without");
            self.unread.push((entry.path.clone(), why));
        }
        self.changes.push(CommandChange {
            kind: ChangeKind::of(&before, &after),
            before: state_sha(&before),
            after: state_sha(&after),
            bytes: changeset::left_bytes(&entry.path, &after, keep_bytes),
            counts: count_changed(&before, &after),
            by_another,
            new_mode: after.mode().filter(|mode| changeset::sets_mode(&before, Some(*mode))),
            adds_set_id: changeset::adds_set_id(&before, after.mode()),
            entry: entry.clone(),
            place,
        });
    }

    /// Takes out what was found of the states at these places, and what is said of their paths.
    fn forget(&mut self, places: &[usize], states: &[JournalLine]) {
        let paths: HashSet<&str> = places.iter().map(|place| states[*place].path.as_str()).collect();
        let places: HashSet<usize> = places.iter().copied().collect();
        self.changes.retain(|change| !places.contains(&change.place));
        self.unchanged.retain(|(place, _)| !places.contains(place));
        self.unread.retain(|(path, _)| !paths.contains(path.as_str()));
    }

    /// Takes what is the command's own for certain, by the places of the states, for that.
    fn keep_certain(&mut self, certain: &HashSet<usize>) {
        self.changes.iter_mut().for_each(|change| change.by_another &= !certain.contains(&change.place));
    }
}

/// The rest of what sealing needs to know.
#[derive(Debug, Default)]
pub struct SealOrder<'a> {
    /// The ids that were drawn for it; none: they are drawn now.
    pub ids: Option<SealIds>,
    /// The one who approved the command, in words.
    pub approved: Option<&'a str>,
    /// The effects that an undo does not bring back.
    pub not_undone: &'a [NotUndone],
    /// The keeper still adds to the staging folder, and its staged files may be written under other names.
    pub in_use: bool,
}

impl Archive {
    /// Compares the staged states that no changeset was made of yet with the present ones.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn compare(&self, workspace: &Workspace, staging: &CommandStaging) -> Result<CommandChanges, Error> {
        self.compare_among(workspace, staging, (&KeptAtOnce::default(), 0))
    }

    /// Compares the same where other commands kept states of the same paths, of which this one is `owner`: what it did to
    /// a path ends where another one kept it. Of another one than the last, only those paths are compared.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn compare_among(
        &self,
        workspace: &Workspace,
        staging: &CommandStaging,
        (shared, owner): (&KeptAtOnce, usize),
    ) -> Result<CommandChanges, Error> {
        let Journal { states, seals, left, at_end, .. } = staging.journal().map_err(at(staging.folder()))?;
        let keep_bytes = states.len() <= MANY;
        let mut others = self.changesets_since(&states)?;
        let sealed = self.sealed(&seals);
        let is_own = |id: &Id| seals.iter().any(|own| own.changeset == *id && own.kind == SealKind::Own);
        others.retain(|(id, _)| !is_own(id) && !staging.made().contains(id));
        let again = kept_again(&states);
        let staged = |entry| staged_state(staging.folder(), entry).map_err(at(staging.folder()));
        let mut all = CommandChanges::default();
        let (mut known_exactly, mut at_present) = (HashSet::new(), Vec::new());
        let mut reader = workspace.reader();
        let is_compared = |(place, entry): &(usize, &JournalLine)| {
            !sealed.contains(place) && (shared.is_last(owner) || shared.holds(&entry.path))
        };
        for (place, entry) in states.iter().enumerate().filter(is_compared) {
            let by_other = shared.next(owner, place, &entry.path);
            let next = by_other.map(|next| (next.folder.as_path(), &next.line));
            let next = next.or(again[place].map(|later| (staging.folder(), &states[later])));
            let is_earlier = |id| seals.iter().any(|s| s.kind == SealKind::Earlier && s.is_of(id, place));
            let met = self.before_others(&others, (entry, next.map(|(_, line)| line.kept)), is_earlier)?;
            let left = again[place].and_then(|later| left.get(&later)).filter(|_| by_other.is_none());
            let left = left.or_else(|| at_end.get(&entry.path).filter(|_| next.is_none()));
            let met = met.or_else(|| left.and_then(|left| staged_state(staging.folder(), &left.state()).ok()));
            if met.is_some() {
                known_exactly.insert(place);
            }
            let after = match (met, next) {
                (Some(state), _) => state,
                (None, Some((folder, line))) => staged_state(folder, line).map_err(at(folder))?,
                (None, None) => {
                    at_present.push(place);
                    present(&mut reader, &entry.path, &mut all)
                }
            };
            let is_anothers = |later: usize| !shared.is_among_several(owner, &states[later]);
            let by_another = by_other.is_none() && again[place].is_some_and(is_anothers);
            all.add((place, entry), (staged(entry)?, after), by_another, keep_bytes);
        }
        // What the command kept anew meanwhile ends what is archived here: it may have changed that since.
        let kept = if shared.is_last(owner) { self.kept_next(staging) } else { HashMap::new() };
        at_present.retain(|place| kept.contains_key(&states[*place].path));
        all.forget(&at_present, &states);
        for place in at_present {
            let (folder, line) = &kept[&states[place].path];
            let after = staged_state(folder, line).map_err(at(folder))?;
            all.add((place, &states[place]), (staged(&states[place])?, after), false, keep_bytes);
        }
        all.changes.sort_by_key(|change| change.place);
        all.keep_certain(&known_exactly);
        Ok(all)
    }

    /// Returns the changesets made since the first of these paths was kept, oldest first, each with its paths.
    fn changesets_since(&self, entries: &[JournalLine]) -> Result<Vec<(Id, Vec<String>)>, Error> {
        let Some(first) = entries.iter().filter(|entry| entry.kept != 0).map(|entry| entry.kept).min() else {
            return Ok(Vec::new());
        };
        let newer = self.list()?.into_iter().rev().filter(|id| id.at() > first);
        // What cannot be read is no ground for anything: the present state counts.
        Ok(newer.filter_map(|id| Some((id, self.paths(id).ok()?))).collect())
    }

    /// Returns what a command left at a path that another changeset has changed since the path was kept, and before
    /// `until` where it was kept again then: the state before that one. None: none has, and the present state is the
    /// command's. A version that no changeset names is no one's change: a sealing that was cut off leaves such versions
    /// of this very command.
    fn before_others(
        &self,
        others: &[(Id, Vec<String>)],
        (entry, until): (&JournalLine, Option<i64>),
        is_earlier: impl Fn(Id) -> bool,
    ) -> Result<Option<State>, Error> {
        let is_between = |at: i64| at > entry.kept && until.is_none_or(|until| at <= until);
        let names_it =
            |(id, paths): &&(Id, Vec<String>)| is_between(id.at()) && paths.contains(&entry.path) && !is_earlier(*id);
        let Some((changeset, _)) = others.iter().find(names_it).filter(|_| entry.kept != 0) else { return Ok(None) };
        let version = self.version_in(&entry.path, *changeset)?.filter(|version| version.id.at() > entry.kept);
        Ok(version.and_then(|version| self.state_of(&version).ok()))
    }

    /// Archives the states before these changes as one changeset, which also names what an undo does not bring back. When
    /// this returns they are on disk.
    ///
    /// # Errors
    /// Any error of the file system. The staged states stay as they are, and versions made so far are removed.
    pub fn seal(
        &self,
        lock: &mut Lock,
        staging: &mut CommandStaging,
        changes: &[CommandChange],
        mut sealing: SealOrder<'_>,
    ) -> Result<(Id, Vec<RecordedFile>), Error> {
        let archive = self.make_folder()?;
        let SealIds { versions, changeset } = match sealing.ids.take() {
            Some(ids) => ids,
            None => self.draw_ids(lock, changes.len())?,
        };
        let mut named = NamedStates::default();
        let sealed = self.seal_named(&archive, staging, changes, (versions, changeset), sealing, &mut named);
        if sealed.is_err() && archive.stat(changeset_name(changeset)).is_ok_and(|there| there.is_none()) {
            // The next try names them anew: what is kept twice would take the room that it needs.
            named.remove();
        }
        sealed.map(|()| (changeset, named.files))
    }

    /// Names the states and writes the changeset; what was named by then is in `named`.
    fn seal_named(
        &self,
        archive: &Folder,
        staging: &mut CommandStaging,
        changes: &[CommandChange],
        (versions, changeset): (Vec<Id>, Id),
        sealing: SealOrder<'_>,
        named: &mut NamedStates,
    ) -> Result<(), Error> {
        self.probe_step("seal: versions").map_err(at(&self.folder))?;
        self.name_states(archive, (staging.folder(), sealing.in_use), changes, versions, named)?;
        let paths_that = |is_so: fn(&&CommandChange) -> bool| {
            changes.iter().filter(is_so).map(|change| change.entry.path.clone()).collect()
        };
        let left = changes.iter().filter_map(|change| Some((change.entry.path.clone(), change.new_mode?)));
        let text = changeset::write(&Changeset {
            paths: named.files.iter().map(|file| file.path.clone()).collect(),
            approved: sealing.approved.map(str::to_string),
            not_undone: sealing.not_undone.to_vec(),
            modes: paths_that(|change| change.new_mode.is_some()),
            left_modes: left.collect(),
            set_ids: paths_that(|change| change.adds_set_id),
            ..Changeset::default()
        });
        // It is flushed with the states, and gets its name after them.
        let temp = disk::temp_name();
        let mut name = || {
            let written = archive.write_new(&temp, text.as_bytes(), Some(0o600))?;
            self.probe_step("seal: flush")?;
            self.flush_named(archive, changes, named, written)?;
            self.probe_step("seal: changeset")?;
            staging.seals(changeset, changes.iter().map(|change| change.place).collect())?;
            archive.rename_new(&temp, archive, changeset_name(changeset))?;
            archive.sync()
        };
        if let Err(error) = name() {
            // The first error is the one worth telling; a file that stays is swept at a later start.
            let _ = archive.remove_file(&temp);
            return Err(at(&self.folder)(error));
        }
        self.probe_step("seal: done").map_err(at(&self.folder))
    }

    /// Flushes the versions and their folders, and with them the changeset's file.
    fn flush_named(
        &self,
        archive: &Folder,
        changes: &[CommandChange],
        named: &NamedStates,
        changeset: File,
    ) -> io::Result<()> {
        if archive.sync_all_if_many(changes.len())? {
            return Ok(());
        }
        let mut unflushed = Unflushed::one_by_one();
        for (place, version) in &named.versions {
            if let Some(version) = open_to_flush(version, &changes[*place].entry)? {
                unflushed.add(version)?;
            }
        }
        unflushed.add(changeset)?;
        named.folders.iter().chain([&self.folder]).try_for_each(|folder| unflushed.add(File::open(folder)?))?;
        unflushed.flush()
    }

    /// Makes a version of each staged state. Nothing is flushed.
    fn name_states(
        &self,
        archive: &Folder,
        (staging, in_use): (&Path, bool),
        changes: &[CommandChange],
        ids: Vec<Id>,
        named: &mut NamedStates,
    ) -> Result<(), Error> {
        let wholes = made_folders(changes);
        for (place, (change, id)) in changes.iter().zip(ids).enumerate() {
            let entry = &change.entry;
            let absent = entry.kind == StagedKind::Absent;
            named.files.push(RecordedFile { path: entry.path.clone(), version: id, absent, sha256: change.before });
            if outermost_folder(&entry.path, &wholes).is_some() {
                continue;
            }
            let folder = self.file_folder(&entry.path);
            let fail = |source| Error::State { file: entry.path.clone(), folder: folder.clone(), source };
            let name = folder.file_name().unwrap_or_default();
            archive.make(name, 0o700).map_err(fail)?;
            // A link in its place would lead the version elsewhere.
            archive.enter(name).map_err(fail)?;
            let version = folder.join(version::name(id, &entry.path, &entry.shape()));
            name_version(archive, (staging, in_use), entry, &version).map_err(fail)?;
            named.versions.push((place, version));
            named.folders.insert(folder);
        }
        for folder in wholes {
            let inner = named.files.iter().filter(|file| file.path.starts_with(folder));
            let (first, rest): (Vec<_>, Vec<_>) = inner.partition(|file| file.path == folder);
            self.write_listing(first.into_iter().chain(rest).map(|file| (file, &State::Absent)))?;
        }
        Ok(())
    }
}

/// Returns the folders that were made with many files: nothing was there before.
fn made_folders(changes: &[CommandChange]) -> BTreeSet<&str> {
    let folders = changes.iter().filter(|change| change.kind == ChangeKind::Made && change.entry.path.ends_with('/'));
    let folders = folders.map(|change| change.entry.path.as_str());
    // Those elsewhere have names of several forms.
    let folders: BTreeSet<&str> = folders.filter(|path| !path.starts_with('/') && !is_in_repository(path)).collect();
    let large = large_folders(&folders, changes.iter().map(|change| change.entry.path.as_str()));
    let mut large: BTreeSet<&str> = large.into_keys().collect();
    for change in changes.iter().filter(|change| change.entry.kind != StagedKind::Absent) {
        if let Some(folder) = outermost_folder(&change.entry.path, &large) {
            large.remove(folder);
        }
    }
    large
}

/// Returns what is at a path now; what cannot be read is noted.
fn present(reader: &mut PathReader<'_>, path: &str, all: &mut CommandChanges) -> State {
    reader.read_archived(path).map(|read| read.state).unwrap_or_else(|error| {
        // Nothing can have a name that the kernel refuses.
        let is_refused =
            matches!(&error, ReadError::Io { source, .. } if source.kind() == io::ErrorKind::InvalidFilename);
        if !is_refused || path.split('/').all(|name| name.len() <= LONGEST_NAME) {
            all.unread.push((path.into(), error.to_string()));
        }
        State::Absent
    })
}

/// Opens a version to be flushed; none: a link, or a file of another owner that may not be read.
fn open_to_flush(version: &Path, entry: &JournalLine) -> io::Result<Option<File>> {
    match open_staged(version) {
        _ if entry.kind == StagedKind::Link => Ok(None),
        Err(refused) if refused.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        opened => opened.map(Some),
    }
}

/// Returns the state that was kept.
fn staged_state(folder: &Path, entry: &JournalLine) -> io::Result<State> {
    let staged = entry.staged.as_ref().map(|name| folder.join(name)).ok_or(io::ErrorKind::NotFound);
    Ok(match entry.kind {
        StagedKind::Absent => State::Absent,
        StagedKind::Folder => State::Folder { mode: entry.mode & 0o7777 },
        StagedKind::Link => State::Link { target: fs::read_link(staged?)? },
        StagedKind::File => {
            let staged = staged?;
            match state_of(open_staged(&staged)?, &staged, &CancellationToken::new())?.0 {
                State::File { bytes, .. } => State::File { bytes, mode: Some(entry.mode & 0o7777) },
                State::Large(mut large) => {
                    large.mode = Some(entry.mode & 0o7777);
                    State::Large(large)
                }
                other => other,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    #[test]
    fn a_bit_is_lost_that_is_gone_or_goes_with_one_that_was_added() {
        let lost = |before: u32, after: u32| {
            let (path, kind) = ("a".to_string(), StagedKind::File);
            let entry =
                JournalLine { path, kind, mode: before, staged: None, inode: (0, 0), kept: 0, again: false, within: 0 };
            entry.lost_bit(&State::file(&b"x"[..]).with_mode(Some(after)))
        };
        let (user, group) = (Some("set-user-ID"), Some("set-group-ID"));
        assert_eq!([lost(0o4755, 0o755), lost(0o4755, 0o6755), lost(0o4755, 0o2755)], [user; 3]);
        assert_eq!([lost(0o6755, 0o4755), lost(0o2755, 0o6755)], [group; 2]);
        assert_eq!([lost(0o4755, 0o4711), lost(0o755, 0o4755), lost(0o6755, 0o6711)], [None; 3]);
    }

    #[test]
    fn a_staged_file_with_another_name_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let (file, staged) = (dir.path().join("file"), dir.path().join("0001"));
        fs::write(&file, "kept").unwrap();
        fs::hard_link(&file, &staged).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o200)).unwrap();
        let mode = || fs::metadata(&file).unwrap().mode() & 0o7777;
        let entry = JournalLine {
            path: "file".into(),
            kind: StagedKind::File,
            mode: 0o200,
            staged: Some("0001".into()),
            inode: (0, 0),
            kept: 0,
            again: false,
            within: 0,
        };
        let state = staged_state(dir.path(), &entry).unwrap();
        assert_eq!((state.bytes().map(|bytes| &bytes[..]), mode()), (Some(&b"kept"[..]), 0o200));
        assert_eq!(state.mode(), Some(0o200));
    }

    #[test]
    fn of_a_name_that_the_kernel_refuses_nothing_is_left_to_be_archived() {
        use crate::archive::{ArchiveSettings, staging::CommandInfo};
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).unwrap();
        let mut staging = archive.stage(&CommandInfo::default()).unwrap();
        let (path, kind, kept) = ("x".repeat(LONGEST_NAME + 1), StagedKind::Absent, crate::text::time::now());
        let inode = JournalLine::COPY;
        staging.add(&JournalLine { path, kind, mode: 0, staged: None, inode, kept, again: false, within: 0 }).unwrap();
        let found = archive.compare(&workspace, &staging).unwrap();
        assert_eq!((found.changes.len(), found.unread.len(), found.unchanged.len()), (0, 0, 1), "{found:?}");
    }

    #[test]
    fn a_sealing_that_was_cut_off_is_done_again_whole_and_then_not_twice() {
        use crate::archive::{ArchiveSettings, staging::CommandInfo};
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "after").unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).unwrap();
        let mut staging = archive.stage(&CommandInfo::default()).unwrap();
        let (staged, name) = staging.new_name();
        fs::write(staged, "before").unwrap();
        let kept = crate::text::time::now() - 1_000;
        let (kind, staged, inode) = (StagedKind::File, Some(name), JournalLine::COPY);
        staging
            .add(&JournalLine { path: "a".into(), kind, mode: 0o600, staged, inode, kept, again: false, within: 0 })
            .unwrap();
        let mut seal = |archive: &Archive| {
            let mut lock = archive.lock().unwrap();
            let changes = archive.compare(&workspace, &staging).unwrap().changes;
            (changes.len(), archive.seal(&mut lock, &mut staging, &changes, SealOrder::default()))
        };
        for step in ["seal: flush", "seal: changeset"] {
            let full = move |at: &str| if at == step { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) };
            let (changes, sealed) = seal(&archive.clone().with_probe(std::sync::Arc::new(full)));
            assert_eq!((changes, sealed.is_err()), (1, true), "{step}");
            // The room that the next try needs is not taken by this one.
            assert!(!archive.file_folder("a").exists(), "{step}");
        }
        let (changes, sealed) = seal(&archive);
        let (changeset, files) = sealed.unwrap();
        assert_eq!((changes, files.len()), (1, 1));
        let version = archive.version_in("a", changeset).unwrap().unwrap();
        assert_eq!(archive.show(&version).unwrap().text(), Some("before"));
        // Cut off before the staging folder was emptied: the changeset has all of it.
        assert_eq!(archive.compare(&workspace, &staging).unwrap().changes, []);
    }
}
