//! Every state that is about to be overwritten, as plain files that `ls` and `cat` can read. Stands alone: what only
//! memory knows (who caused a changeset, what nebula last wrote) is handed in.
//!
//! ```text
//! .shaft/lock, .shaft/archives/<changeset>.txt, .shaft/archives/<SHA-256 of the path>/<version>.<extension>
//! ```
//!
//! The versions of a folder that is made or removed with many files lie together: see `unit::listing`.

mod changeset;
mod folder;
mod id;
mod lock;
mod mode;
mod path;
mod prune;
mod recent;
mod record;
pub mod restore;
mod seal;
mod shared;
pub mod staging;
mod unit;
mod version;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use globset::{GlobBuilder, GlobMatcher};
use tokio_util::sync::CancellationToken;

pub use changeset::{ChangeKind, NotUndone, StoreOps};
pub use id::Id;
pub use lock::Lock;
pub use mode::ModeChanges;
pub use path::{Sha, calculate_path_sha256, sha256};
pub use prune::{Damage, Keep, Prune};
pub use record::{Before, Recorded, RecordedFile};
pub use restore::{Choices, LastWritten, LastWrittenLookup, NothingKnown, Restoration, RestoreError, RestoreTarget};
pub use seal::{CommandChange, CommandChanges, SealOrder};
pub use shared::{KeptAtOnce, SealIds, StateKey};
pub use unit::repository::{parts_words, words as repository_words};
pub use version::{Version, version_before};

use self::unit::listed::Listing;
use crate::disk::{self, Folder};
use crate::proposal::{Counts, Merger, State, count_changed};
use crate::workspace::{OutsideFolder, Workspace, lexical};

/// The archive's folder unless configured otherwise, relative to the root.
const FOLDER: &str = ".shaft";
/// The versions and changesets in it.
const ARCHIVES: &str = "archives";

/// The largest changeset file that is read, in bytes.
const MAX_CHANGESET: u64 = 256 << 20;

/// Called at each step of recording and applying, with the step's name: a test's way to make any step fail or stop.
pub type Probe = Arc<dyn Fn(&str) -> io::Result<()> + Send + Sync>;

/// The archive's part of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArchiveSettings {
    /// `archiveDir`: absolute, or relative to the root; `None`: `.shaft/archives`.
    pub folder: Option<PathBuf>,
    /// `archiveExclude`: globs of paths that are not archived.
    pub exclude: Vec<String>,
}

/// The archive of one workspace. Opening one makes nothing on disk; the first record does.
#[derive(Clone)]
pub struct Archive {
    root: PathBuf,
    /// Folders outside the root whose files are archived.
    outside: Vec<OutsideFolder>,
    /// `.shaft`: the lock, and `.gitignore`.
    home: PathBuf,
    /// The versions and changesets.
    folder: PathBuf,
    exclude: Vec<(String, GlobMatcher)>,
    probe: Option<Probe>,
    /// Ends the wait for the lock and the copying of large files early.
    stop: CancellationToken,
    /// Versions that need not be looked up again.
    recent: Arc<Mutex<recent::Recent>>,
    /// The listings that were read; `None`: one that is none.
    listings: Arc<Mutex<HashMap<Id, Option<Arc<Listing>>>>>,
    /// The newest changeset was looked for once, so that the lock can be believed.
    listed: Arc<AtomicBool>,
    /// Joins what is restored or written with what someone else changed.
    merger: Merger,
}

/// The reason why the archive cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something else lies where a folder should.
    #[error("{} is no folder: move it away, then nebula can archive there", .0.display())]
    NotAFolder(PathBuf),
    /// A glob of `archiveExclude` is broken.
    #[error("archiveExclude: {0}")]
    Glob(String),
    /// The lock was held too long.
    #[error("another nebula has held {} for {seconds} s: wait for it or end it, then try again", path.display())]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// The time it was waited for, in seconds.
        seconds: u64,
    },
    /// A changeset file cannot be read for what it is.
    #[error("changeset {id} is damaged: {why}; `nebula history --check` lists all damage")]
    Damaged {
        /// Its id.
        id: Id,
        /// The problem with it.
        why: String,
    },
    /// A version is not what was archived.
    #[error("version {id} of {path} is damaged: `nebula history --check` lists all damage")]
    DamagedVersion {
        /// Normalised path of the file.
        path: String,
        /// The version.
        id: Id,
    },
    /// No changeset or version of that name.
    #[error("no {what} begins with {given}: `nebula history` lists them")]
    Unknown {
        /// `changeset` or `version`.
        what: &'static str,
        /// The name as given.
        given: String,
    },
    /// More than one name begins like this.
    #[error("{count} {what}s begin with {given}: give more of the name")]
    Ambiguous {
        /// `changeset` or `version`.
        what: &'static str,
        /// The name as given.
        given: String,
        /// The number of them.
        count: usize,
    },
    /// The disk refused a state of a file.
    #[error("{file} into {}: {}", folder.display(), disk::words(source))]
    State {
        /// Normalised path of the file.
        file: String,
        /// The folder its version was to lie in.
        folder: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The disk refused.
    #[error("{}", disk::words_at(path, source))]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
}

impl Error {
    /// Returns whether the work was stopped.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Error::State { source, .. } | Error::Io { source, .. } if disk::is_stopped(source))
    }
}

/// Says where the disk refused.
fn at(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    move |source| Error::Io { path: path.to_path_buf(), source }
}

impl Archive {
    /// Returns the archive of a workspace.
    ///
    /// # Errors
    /// When something that is no folder lies in its place, or a glob is broken.
    pub fn open(workspace: &Workspace, settings: &ArchiveSettings) -> Result<Self, Error> {
        let root = workspace.root().to_path_buf();
        let home = root.join(FOLDER);
        let folder = match &settings.folder {
            Some(folder) => lexical(&root, folder),
            None => home.join(ARCHIVES),
        };
        let glob = |text: &String| {
            // As in .gitignore, a glob without a slash speaks of names in any folder.
            let anywhere = if text.contains('/') { text.trim_start_matches('/').into() } else { format!("**/{text}") };
            let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
            glob.map(|g| (text.clone(), g.compile_matcher())).map_err(|e| Error::Glob(e.to_string()))
        };
        let exclude = settings.exclude.iter().map(glob).collect::<Result<_, _>>()?;
        let archive = Archive {
            root,
            outside: workspace.outside(),
            home,
            folder,
            exclude,
            probe: None,
            stop: CancellationToken::new(),
            recent: Arc::default(),
            listings: Arc::default(),
            listed: Arc::default(),
            merger: Merger::default(),
        };
        for (path, opened) in [(&archive.home, archive.open_home()), (&archive.folder, archive.open_folder())] {
            match opened {
                // A folder that may not be read is reported once something is asked of it.
                Err(Error::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotADirectory && !disk::is_linked_folder(&source) =>
                {
                    return Err(Error::NotAFolder(path.clone()));
                }
                Err(Error::Io { path, source }) if disk::is_linked_folder(&source) => {
                    return Err(Error::Io { path, source });
                }
                _ => {}
            }
        }
        Ok(archive)
    }

    /// Returns the same archive with a probe that is called at each step.
    #[must_use]
    pub fn with_probe(mut self, probe: Probe) -> Self {
        self.probe = Some(probe);
        self
    }

    /// Returns the same archive, which waits for its lock and copies large files no further once `stop` is cancelled.
    #[must_use]
    pub fn stopped_by(&self, stop: &CancellationToken) -> Self {
        Archive { stop: stop.clone(), ..self.clone() }
    }

    /// Returns the same archive, whose states are joined by `merger` with what someone else changed.
    pub fn merging_by(self, merger: Merger) -> Self {
        Archive { merger, ..self }
    }

    /// Returns what joins two versions of a file here.
    pub fn merger(&self) -> &Merger {
        &self.merger
    }

    /// Returns the settings it was opened with.
    pub fn settings(&self) -> ArchiveSettings {
        let exclude = self.exclude.iter().map(|(text, _)| text.clone()).collect();
        ArchiveSettings { folder: Some(self.folder.clone()), exclude }
    }

    /// Calls the probe of a test, if there is one, at this step.
    ///
    /// # Errors
    /// Those of the probe.
    pub fn probe_step(&self, step: &str) -> io::Result<()> {
        self.probe.as_ref().map_or(Ok(()), |probe| probe(step))
    }

    /// Returns the folder that holds versions and changesets.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns how many files have versions. Reads names only.
    ///
    /// # Errors
    /// When the archive is there and cannot be read.
    pub fn file_count(&self) -> Result<usize, Error> {
        let mut folders: HashSet<PathBuf> = self.folders()?.into_iter().collect();
        for listing in self.listings()? {
            folders.extend(listing.versions().map(|(path, _)| self.file_folder(path)));
        }
        Ok(folders.len())
    }

    /// Returns the glob of `archiveExclude` that a normalised path matches: such a file is not archived, and a change
    /// to it always asks.
    pub fn excluded_by(&self, path: &str) -> Option<&str> {
        self.exclude.iter().find(|(_, glob)| glob.is_match(path)).map(|(text, _)| text.as_str())
    }

    /// Returns all changesets, newest first. Reads names only.
    ///
    /// # Errors
    /// When the folder cannot be read; one that is not there has none.
    pub fn list(&self) -> Result<Vec<Id>, Error> {
        let mut ids = self.names(|name| Id::parse(name.strip_suffix(".txt")?))?;
        ids.sort_unstable_by(|a, b| b.cmp(a));
        Ok(ids)
    }

    /// Returns whether one of these changesets may be in the archive that a folder has where this one's workspace has its own.
    pub fn may_be_in(&self, root: &Path, changesets: &[String]) -> bool {
        let Ok(own) = self.folder.strip_prefix(&self.root) else { return true };
        let is_absence =
            |error: io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        let folder = root.join(own);
        changesets.iter().any(|id| !folder.join(changeset_name(id)).symlink_metadata().is_err_and(is_absence))
    }

    /// Returns the paths of a changeset.
    ///
    /// # Errors
    /// When it is not there, cannot be read, or is damaged.
    pub fn paths(&self, changeset: Id) -> Result<Vec<String>, Error> {
        Ok(self.read_changeset(changeset)?.paths)
    }

    /// Returns who approved the change of a changeset, in words; `None` where the changeset does not say.
    ///
    /// # Errors
    /// When it is not there, cannot be read, or is damaged.
    pub fn approved(&self, changeset: Id) -> Result<Option<String>, Error> {
        Ok(self.read_changeset(changeset)?.approved)
    }

    /// Returns the effects of a changeset's command that an undo does not bring back.
    ///
    /// # Errors
    /// When it is not there, cannot be read, or is damaged.
    pub fn not_undone(&self, changeset: Id) -> Result<Vec<NotUndone>, Error> {
        Ok(self.read_changeset(changeset)?.not_undone)
    }

    fn read_changeset(&self, changeset: Id) -> Result<changeset::Changeset, Error> {
        let file = self.changeset_file(changeset);
        let bytes = self.changeset_bytes(changeset).map_err(at(&file))?;
        changeset::read(&bytes).map_err(|why| Error::Damaged { id: changeset, why })
    }

    /// Returns the bytes of a changeset file.
    fn changeset_bytes(&self, changeset: Id) -> io::Result<Vec<u8>> {
        let folder = self.open_folder().map_err(io::Error::other)?.ok_or(io::ErrorKind::NotFound)?;
        disk::read_open(&folder.open_file(changeset_name(changeset))?, MAX_CHANGESET)
    }

    /// Returns the versions of a file (normalised path), oldest first.
    ///
    /// # Errors
    /// When its folder cannot be read; one that is not there has none.
    pub fn versions(&self, path: &str) -> Result<Vec<Version>, Error> {
        self.versions_of(path, self.open_folder()?.as_ref(), &self.listings()?)
    }

    /// Returns the versions of a file, oldest first. `open`: the folder of the folders of versions.
    fn versions_of(&self, path: &str, open: Option<&Folder>, listings: &[Arc<Listing>]) -> Result<Vec<Version>, Error> {
        let mut versions = match open {
            Some(open) => Self::versions_below(open, &self.file_folder(path))?,
            None => Vec::new(),
        };
        Self::add_listed(path, &mut versions, listings);
        Ok(versions)
    }

    /// Returns the versions in one of the folders of versions, oldest first.
    fn versions_in(&self, folder: &Path) -> Result<Vec<Version>, Error> {
        self.open_folder()?.map_or(Ok(Vec::new()), |open| Self::versions_below(&open, folder))
    }

    /// Returns the version of a path that belongs to a changeset: its newest one older than the changeset.
    ///
    /// # Errors
    /// As [`Archive::versions`].
    pub fn version_in(&self, path: &str, changeset: Id) -> Result<Option<Version>, Error> {
        Ok(version_before(&self.versions(path)?, changeset).cloned())
    }

    /// Returns the state that a version holds.
    ///
    /// # Errors
    /// When it is gone or cannot be read.
    pub fn show(&self, version: &Version) -> Result<State, Error> {
        self.state_of(version).map_err(at(&version.file))
    }

    fn state_of(&self, version: &Version) -> io::Result<State> {
        if version.absent {
            return Ok(State::Absent);
        }
        if let Some(listed) = version.listed {
            return self.listed_state(listed.listing, version);
        }
        version.state_in(&self.folder_of(version)?, &self.stop)
    }

    /// Returns the changeset whose name begins so.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find_changeset(&self, beginning: &str) -> Result<Id, Error> {
        only(self.list()?, "changeset", beginning, |id| id.to_string())
    }

    /// Returns the version whose name begins so, among those of `path`, or of all files.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find_version(&self, path: Option<&str>, beginning: &str) -> Result<Version, Error> {
        let versions = match path {
            Some(path) => self.versions(path)?,
            None => {
                let own = self.folders()?;
                let listings = self.listings()?;
                let listed = listings.iter().flat_map(|listing| listing.versions().map(|(_, version)| version));
                own.iter().filter_map(|f| self.versions_in(f).ok()).flatten().chain(listed).collect()
            }
        };
        only(versions, "version", beginning, |v| v.id.to_string())
    }

    /// Returns the normalised path that a version is of, from the changesets that name the file: the one that names this
    /// version is the first one newer than it. One that was cut off has none. `None`: no changeset names the file.
    ///
    /// # Errors
    /// When the changesets cannot be listed.
    pub fn path_of(&self, version: &Version) -> Result<Option<String>, Error> {
        if let Some(listed) = version.listed {
            return self.path_of_listed(listed.listing, version.id);
        }
        let folder = version.file.parent();
        let mut older = self.list()?;
        let newer: Vec<Id> = older.drain(..older.partition_point(|id| *id > version.id)).collect();
        for id in newer.into_iter().rev().chain(older) {
            let found = self.paths(id).unwrap_or_default().into_iter().find(|p| Some(&*self.file_folder(p)) == folder);
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Returns lines that the change after a version added and removed: against the next version, or the file as it is
    /// now. `None` when one of the two cannot be read.
    pub fn counts(&self, workspace: &Workspace, path: &str, version: &Version) -> Option<Counts> {
        let next = self.versions(path).ok()?.into_iter().find(|v| v.id > version.id);
        let after = match next {
            Some(next) => self.state_of(&next).ok()?,
            None => workspace.read(path).ok()?.state,
        };
        Some(count_changed(&self.state_of(version).ok()?, &after))
    }

    fn changeset_file(&self, id: Id) -> PathBuf {
        self.folder.join(changeset_name(id))
    }

    fn file_folder(&self, path: &str) -> PathBuf {
        self.folder.join(calculate_path_sha256(&self.root, Path::new(path)))
    }

    /// Returns the folders of versions.
    fn folders(&self) -> Result<Vec<PathBuf>, Error> {
        self.names(|name| is_folder_name(name).then(|| self.folder.join(name)))
    }

    /// Returns what `pick` finds among the names in the archive's folder.
    fn names<T>(&self, pick: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Error> {
        let Some(folder) = self.open_folder()? else { return Ok(Vec::new()) };
        let names = folder.names().map_err(at(&self.folder))?;
        Ok(names.iter().filter_map(|name| pick(name.to_str()?)).collect())
    }
}

/// Returns the name of a changeset's file.
fn changeset_name(id: impl std::fmt::Display) -> String {
    format!("{id}.txt")
}

/// Returns whether a name is that of a folder of versions.
fn is_folder_name(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Returns the only one whose name begins so.
fn only<T>(all: Vec<T>, what: &'static str, beginning: &str, name: impl Fn(&T) -> String) -> Result<T, Error> {
    let mut fit: Vec<T> = all.into_iter().filter(|x| !beginning.is_empty() && name(x).starts_with(beginning)).collect();
    match (fit.pop(), fit.len()) {
        (Some(one), 0) => Ok(one),
        (Some(_), more) => Err(Error::Ambiguous { what, given: beginning.into(), count: more + 1 }),
        (None, _) => Err(Error::Unknown { what, given: beginning.into() }),
    }
}

#[cfg(test)]
mod tests;
