//! Reads what a command changed in a view, from the upper layer of its overlay: a proposal's changes, and what such a
//! proposal leaves out.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::met::{FileTime, MetStates, changed_at};
use crate::disk::{self, Links};
use crate::proposal::merge;
use crate::proposal::{FileChange, MergeRung, Merger, State};
use crate::shell::places::{PathClass, PathClasses};
use crate::text::clean::clean_line;
use crate::text::name;
use crate::text::number::thousands;
use crate::workspace::{Workspace, state_of};

/// The attribute of a folder of the upper layer that shows nothing of the one below.
const OPAQUE: &str = "user.overlay.opaque";
/// The short verb of what made the changes.
const BY: &str = "run";
/// The most paths of a proposal.
const MOST_PATHS: usize = 2_000;
/// The most bytes of its states, before and after.
const MOST_BYTES: u64 = 256 << 20;
/// The most paths outside the proposal that are named.
const MOST_LEFT_OUT: usize = 30;
/// The most folders that can be rebuilt that are named.
const MOST_DERIVED: usize = 10;
/// The most paths in one line.
const MOST_IN_LINE: usize = 3;
/// The room in bytes below which a layer is full.
const LEAST_ROOM: u64 = 64 << 10;
/// The repository, whose files are one unit.
const REPOSITORY: &str = ".git";
/// The reason why what was changed of nebula's own is left out.
const OWN: &str = "nebula's own: a command is refused to change it";
/// The parts of a repository that nothing needs to be said of: looking at the state alone writes the index, and objects that
/// nothing names are nothing.
const OF_NO_WEIGHT: &[&str] = &["index", "objects", "lfs"];

/// The changes that a command made in a view.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ViewChanges {
    /// The changes of files and folders.
    pub files: Vec<FileChange>,
    /// Folders that can be rebuilt: how many files were changed in each, and their bytes.
    pub derived: BTreeMap<String, (usize, u64)>,
    /// Paths that are not in the proposal, each with why: the first of them.
    pub left_out: Vec<(String, String)>,
    /// The number of those that are not named.
    pub more_left_out: usize,
    /// Files that changed on disk meanwhile, and are proposed as changes of what is there now or, where the two cannot be
    /// joined, of what the view met.
    pub met: Vec<String>,
    /// A file that changed on disk meanwhile and is left out, as it is not known what the view met: the rest is not the
    /// whole of the command.
    pub unknown: Option<String>,
    /// True where the layer has no room left: files in it may be cut short.
    pub is_full: bool,
    /// Folders outside the workspace that the command itself may write, and only reads in a view.
    pub read_only: Vec<PathBuf>,
}

impl ViewChanges {
    /// Returns a line for each thing that is not in the proposal, or not as the command alone would have it.
    pub fn notes(&self) -> Vec<String> {
        let full =
            self.is_full.then(|| "no room was left on the disk for the preview: what it wrote may be cut short".into());
        let named = self.met.iter().take(MOST_IN_LINE).map(|path| clean_line(path)).collect::<Vec<_>>().join(", ");
        let named = match self.met.len().saturating_sub(MOST_IN_LINE) {
            0 => named,
            more => format!("{named} (and {more} more)"),
        };
        let meanwhile = (!self.met.is_empty()).then(|| {
            format!(
                "changed on disk while the preview ran: {named}: what is taken is merged into what is there now, or \
                 nothing is written"
            )
        });
        let derived = self.derived.iter().take(MOST_DERIVED).map(|(folder, (files, bytes))| {
            let (files, bytes) = (thousands(*files), crate::text::size::words(*bytes));
            format!("derived: {} ({files} changed, {bytes}; left: the command itself makes it)", clean_line(folder))
        });
        let more_derived = self.derived.len().saturating_sub(MOST_DERIVED);
        let more_derived = (more_derived > 0).then(|| format!("derived: and {more_derived} more folders"));
        let left =
            |(path, why): &(String, String)| format!("not in the preview: {} ({})", clean_line(path), clean_line(why));
        let more = (self.more_left_out > 0).then(|| format!("and {} more are not in the preview", self.more_left_out));
        let first = full.into_iter().chain(meanwhile).chain(derived).chain(more_derived);
        first.chain(self.left_out.iter().map(left)).chain(more).collect()
    }

    /// Returns a line for each folder that the command itself may write: there it does other things than in a view.
    pub fn read_only_notes(&self) -> impl Iterator<Item = String> + '_ {
        self.read_only
            .iter()
            .map(|folder| format!("{} is read-only in a preview", clean_line(&folder.to_string_lossy())))
    }
}

/// The reason why what was changed is no proposal.
#[derive(Debug, thiserror::Error)]
pub enum TooMuch {
    /// It is too much to be held.
    #[error("the command changes too much for a preview: more than {0}")]
    More(String),
    /// It cannot be read.
    #[error("what the command changed in the preview cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// The state of things when a view began.
pub struct Beginning<'a> {
    /// The time, by the file system's clock.
    pub at: FileTime,
    /// The mode of its layer over the workspace.
    pub mode: u32,
    /// The files, as far as they are known.
    pub met: &'a MetStates,
}

/// Reads the upper layer of a view, and looks at the one over the repository of a linked worktree, where there is one.
pub fn read(
    (upper, linked): (&Path, Option<&Path>),
    workspace: &Workspace,
    places: &PathClasses,
    begun: &Beginning<'_>,
) -> Result<ViewChanges, TooMuch> {
    let read_only = workspace.folders().to_vec();
    let found = ViewChanges { is_full: is_full(upper), read_only, ..ViewChanges::default() };
    let mut reading = Reading { upper, workspace, places, begun, bytes: 0, repository: BTreeSet::new(), found };
    reading.changed_root(begun.mode)?;
    reading.folder(Path::new(""))?;
    if !reading.repository.is_empty() || linked.is_some_and(|linked| has_weight(linked, Path::new(""))) {
        let why = match reading.repository.contains(Path::new(REPOSITORY)) {
            true => "the repository is removed by the command itself alone",
            false => "the repository's own files: only the command itself changes them",
        };
        reading.leave_out(&Path::new(REPOSITORY).join(""), why);
    }
    Ok(reading.found)
}

struct Reading<'a> {
    upper: &'a Path,
    workspace: &'a Workspace,
    places: &'a PathClasses,
    begun: &'a Beginning<'a>,
    bytes: u64,
    /// Changed files of the repository that matter; its folder, where that is gone or was made anew.
    repository: BTreeSet<PathBuf>,
    found: ViewChanges,
}

impl Reading<'_> {
    /// Takes in another mode of the workspace's own folder than the one that the layer began with.
    fn changed_root(&mut self, begun: u32) -> Result<(), TooMuch> {
        let mode = fs::metadata(self.upper)?.mode() & 0o7777;
        if mode == begun {
            return Ok(());
        }
        self.add_folder(Path::new(""), State::Folder { mode })?;
        // Whatever the command made of it, the layer is read.
        Ok(fs::set_permissions(self.upper, fs::Permissions::from_mode(mode | 0o700))?)
    }

    /// Reads what is in a folder of the upper layer.
    fn folder(&mut self, inside: &Path) -> Result<(), TooMuch> {
        for name in names(&self.upper.join(inside))? {
            let inside = inside.join(name);
            match self.entry(&inside) {
                // One path that cannot be read leaves the others.
                Err(TooMuch::Io(error)) => self.leave_out(&inside, &error.to_string()),
                other => other?,
            }
        }
        Ok(())
    }

    /// Reads one entry of the upper layer.
    fn entry(&mut self, inside: &Path) -> Result<(), TooMuch> {
        let meta = fs::symlink_metadata(self.upper.join(inside))?;
        if self.passes(inside, meta.is_dir(), &meta) {
            return Ok(());
        }
        match meta.file_type() {
            kind if kind.is_char_device() && meta.rdev() == 0 => self.removed(inside),
            kind if kind.is_dir() => self.changed_folder(inside, &meta),
            kind if kind.is_file() => self.changed_file(inside),
            kind if kind.is_symlink() => {
                let target = fs::read_link(self.upper.join(inside))?;
                self.add(inside, State::Link { target })
            }
            _ => {
                self.leave_out(inside, "special file");
                Ok(())
            }
        }
    }

    /// Returns whether a path is in no proposal; then it is noted where that matters.
    fn passes(&mut self, inside: &Path, is_folder: bool, meta: &Metadata) -> bool {
        if inside == Path::new(REPOSITORY) && (is_folder || self.lower(inside).is_some_and(|meta| meta.is_dir())) {
            if !is_folder || is_opaque(&self.upper.join(inside)) {
                self.repository.insert(inside.to_path_buf());
            }
            self.look_at_repository(inside);
            return true;
        }
        match self.places.of(&self.workspace.root().join(inside), is_folder) {
            PathClass::Refused => {
                self.leave_out(inside, OWN);
                true
            }
            PathClass::Outside => true,
            PathClass::Derived(folder) => {
                let (files, bytes) = self.count(inside, meta);
                let derived = self.found.derived.entry(folder).or_default();
                (derived.0, derived.1) = (derived.0 + files, derived.1 + bytes);
                true
            }
            PathClass::Excluded(_) | PathClass::Kept => false,
        }
    }

    /// Notes the repository's files that say something.
    fn look_at_repository(&mut self, inside: &Path) {
        let of_no_weight = |name: &Path| is_of_no_weight(name.strip_prefix(REPOSITORY).unwrap_or(name));
        let entries = names(&self.upper.join(inside)).unwrap_or_default();
        for inside in entries.into_iter().map(|name| inside.join(name)).filter(|inside| !of_no_weight(inside)) {
            match fs::symlink_metadata(self.upper.join(&inside)) {
                Ok(meta) if meta.is_dir() => self.look_at_repository(&inside),
                _ => drop(self.repository.insert(inside)),
            }
        }
    }

    /// Counts the files at and below a path of the upper layer.
    fn count(&self, inside: &Path, meta: &Metadata) -> (usize, u64) {
        if !meta.is_dir() {
            return (1, if meta.is_file() { meta.len() } else { 0 });
        }
        let below = names(&self.upper.join(inside)).unwrap_or_default().into_iter().map(|name| inside.join(name));
        below.fold((0, 0), |(files, bytes), inside| {
            let meta = fs::symlink_metadata(self.upper.join(&inside)).ok();
            let (more, size) = meta.map_or((0, 0), |meta| self.count(&inside, &meta));
            (files + more, bytes + size)
        })
    }

    fn lower(&self, inside: &Path) -> Option<Metadata> {
        fs::symlink_metadata(self.workspace.root().join(inside)).ok()
    }

    /// Takes in a folder that was made, got another mode, or holds changes.
    fn changed_folder(&mut self, inside: &Path, meta: &Metadata) -> Result<(), TooMuch> {
        let below = self.lower(inside);
        if self.is_moved_repository(inside) {
            self.leave_out(&inside.join(""), "the repository, moved: the command moves it");
            return Ok(());
        }
        if below.as_ref().is_some_and(|meta| !meta.is_dir()) {
            self.add(inside, State::Absent)?;
        }
        self.add_folder(inside, State::Folder { mode: meta.mode() & 0o7777 })?;
        let full = self.upper.join(inside);
        if below.is_some_and(|meta| meta.is_dir()) && is_opaque(&full) {
            let stays: BTreeSet<OsString> = names(&full)?.into_iter().collect();
            for name in names(&self.workspace.root().join(inside))?.into_iter().filter(|name| !stays.contains(name)) {
                self.removed(&inside.join(name))?;
            }
        }
        self.folder(inside)
    }

    /// Returns whether a folder is a repository, and the one of the workspace is gone from its place.
    fn is_moved_repository(&self, inside: &Path) -> bool {
        let full = self.upper.join(inside);
        let is_gone = || {
            let hidden = fs::symlink_metadata(self.upper.join(REPOSITORY)).is_ok_and(|meta| !meta.is_dir());
            hidden && self.lower(Path::new(REPOSITORY)).is_some_and(|meta| meta.is_dir())
        };
        full.join("HEAD").is_file() && full.join("objects").is_dir() && full.join("refs").is_dir() && is_gone()
    }

    /// Takes in that a path of the workspace is gone, with all that is in it.
    fn removed(&mut self, inside: &Path) -> Result<(), TooMuch> {
        let Some(meta) = self.lower(inside) else { return Ok(()) };
        let full = self.workspace.root().join(inside);
        match self.places.of(&full, meta.is_dir()) {
            PathClass::Refused => {
                self.leave_out(inside, OWN);
                return Ok(());
            }
            PathClass::Outside => return Ok(()),
            PathClass::Derived(folder) => {
                self.leave_out(Path::new(&folder), "it can be rebuilt: its removal is left");
                return Ok(());
            }
            PathClass::Excluded(_) | PathClass::Kept => {}
        }
        if inside == Path::new(REPOSITORY) && meta.is_dir() {
            self.repository.insert(inside.to_path_buf());
            return Ok(());
        }
        if !meta.is_dir() {
            return self.add(inside, State::Absent);
        }
        for name in names(&full)? {
            self.removed(&inside.join(name))?;
        }
        self.add_folder(inside, State::Absent)
    }

    fn changed_file(&mut self, inside: &Path) -> Result<(), TooMuch> {
        let full = self.upper.join(inside);
        let file = disk::open_file(&full, Links::Refuse)?;
        let (state, _) = state_of(file, &full, &CancellationToken::new())?;
        if self.lower(inside).is_some_and(|meta| meta.is_dir()) {
            self.removed(inside)?;
        }
        self.add(inside, state)
    }

    fn add(&mut self, inside: &Path, after: State) -> Result<(), TooMuch> {
        let path = name::text_of(inside.as_os_str());
        // Reading a file that its mode keeps its owner from changes what is known about it.
        let below = self.lower(inside);
        let present = match self.workspace.read_archived(&path) {
            Ok(read) => read.state,
            Err(error) => {
                self.leave_out(inside, &error.to_string());
                return Ok(());
            }
        };
        if present == after {
            return Ok(());
        }
        let Some(before) = self.before(inside, below.as_ref(), &present) else {
            self.leave_out(inside, "it changed on disk while the preview ran");
            self.found.unknown.get_or_insert_with(|| path.into_owned());
            return Ok(());
        };
        if before == after {
            return Ok(());
        }
        let (mut before, mut after) = (before, after);
        if before != present {
            // What someone else changed is no change of the command's.
            if let Some(merged) = merged_into(&path, (&before, &after), &present) {
                if merged == present {
                    return Ok(());
                }
                (before, after) = (present, merged);
            }
            self.found.met.push(path.to_string());
        }
        self.push(FileChange::new(path.into_owned(), before, after, BY, &[]))
    }

    /// Returns the state of a path as the view met it, which is the present one unless that, found as `below`, changed
    /// meanwhile; none: it did, and what it was is not known.
    fn before(&self, inside: &Path, below: Option<&Metadata>, present: &State) -> Option<State> {
        let met = self.begun.met.state(inside);
        match below {
            Some(meta) if changed_at(meta) > self.begun.at => met,
            Some(_) => Some(present.clone()),
            None => met.or_else(|| Some(present.clone())),
        }
    }

    fn add_folder(&mut self, inside: &Path, after: State) -> Result<(), TooMuch> {
        let name = name::text_of(inside.as_os_str());
        let path = format!("{}/", if name.is_empty() { "." } else { &name });
        let Ok(before) = self.workspace.read_archived(&path) else { return Ok(()) };
        match before.state == after {
            true => Ok(()),
            // No other proposal may be of a folder than one that brings a state about as it was.
            false => self.push(FileChange { restores: true, ..FileChange::new(path, before.state, after, BY, &[]) }),
        }
    }

    fn push(&mut self, change: FileChange) -> Result<(), TooMuch> {
        let size = |state: &State| state.bytes().map_or(0, |bytes| bytes.len() as u64);
        self.bytes += size(&change.before) + size(&change.after);
        if self.found.files.len() >= MOST_PATHS {
            return Err(TooMuch::More(format!("{} paths", thousands(MOST_PATHS))));
        }
        if self.bytes > MOST_BYTES {
            return Err(TooMuch::More(crate::text::size::words(MOST_BYTES)));
        }
        self.found.files.push(change);
        Ok(())
    }

    fn leave_out(&mut self, inside: &Path, why: &str) {
        match self.found.left_out.len() < MOST_LEFT_OUT {
            true => self.found.left_out.push((inside.display().to_string(), why.to_string())),
            false => self.found.more_left_out += 1,
        }
    }
}

/// Returns the present state of a file with what a command changed of it in a view; none: the two cannot be joined by lines.
fn merged_into(path: &str, (before, after): (&State, &State), present: &State) -> Option<State> {
    let merged = merge::three_way(path, before.bytes()?, after, present, &Merger::default())?;
    let mode = if after.mode() == before.mode() { present.mode() } else { after.mode() };
    let is_plain = merged.rung == MergeRung::Lines && merged.conflicts.is_empty();
    is_plain.then(|| merged.after.with_mode(mode))
}

/// Returns whether a path below a repository is of a part that nothing needs to be said of.
fn is_of_no_weight(inside: &Path) -> bool {
    let mut parts = inside.iter();
    let mut first = parts.next();
    if first.is_some_and(|first| first == "worktrees") {
        // The same parts of a linked worktree, below its name.
        first = parts.nth(1);
    }
    first.is_some_and(|first| OF_NO_WEIGHT.iter().any(|known| first == *known))
}

/// Returns whether a layer over a repository holds, at or below a path, something that says more than how things stand.
fn has_weight(upper: &Path, inside: &Path) -> bool {
    let entries = names(&upper.join(inside)).unwrap_or_default();
    let mut entries = entries.into_iter().map(|name| inside.join(name)).filter(|inside| !is_of_no_weight(inside));
    entries.any(|inside| match fs::symlink_metadata(upper.join(&inside)) {
        Ok(meta) if meta.is_dir() => has_weight(upper, &inside),
        _ => true,
    })
}

/// Returns whether a layer has no room left for this user.
fn is_full(upper: &Path) -> bool {
    rustix::fs::statvfs(upper).is_ok_and(|room| {
        let blocks = if rustix::process::geteuid().is_root() { room.f_bfree } else { room.f_bavail };
        let no_room = room.f_blocks > 0 && blocks.saturating_mul(room.f_frsize) < LEAST_ROOM;
        no_room || room.f_files > 0 && room.f_ffree == 0
    })
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names: Vec<OsString> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<_>>()?;
    names.sort();
    Ok(names)
}

#[cfg(target_os = "linux")]
fn is_opaque(folder: &Path) -> bool {
    let mut value = [0; 4];
    rustix::fs::lgetxattr(folder, OPAQUE, &mut value[..]).is_ok_and(|length| value[..length] == *b"y")
}

#[cfg(not(target_os = "linux"))]
fn is_opaque(_folder: &Path) -> bool {
    false
}
