//! The parts that the commands of all sessions share: the workspace, what the configuration says, and what the machine
//! offers.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::class::Assessment;
use super::class::rules::Rule;
use super::env::Environment;
use super::message::GuardStart;
use super::places::{CopyLimits, PathClasses, PlaceSettings};
use super::probe::{self, Offered, Trial};
use super::sandbox::{Bounds, Grant, SandboxSettings, Surroundings, bounds};
use super::scan::Scan;
use super::view;
use crate::archive::Archive;
use crate::disk;
use crate::workspace::{Workspace, is_worktree_file, worktree_proof};

/// The keeper of the states before a command changes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeper {
    /// The guard: each call waits until the state before is kept.
    Guard,
    /// Looking before and after.
    Scan,
    /// Nothing: the person was told and agreed.
    None,
    /// Nothing needs to be kept: it runs in a view.
    View,
}

impl Keeper {
    /// Returns whether states are kept of what a command changes in the workspace itself.
    pub(super) fn keeps(self) -> bool {
        matches!(self, Keeper::Guard | Keeper::Scan)
    }

    /// Returns `guard`, `scan`, `none` or `view`.
    pub fn word(self) -> &'static str {
        match self {
            Keeper::Guard => "guard",
            Keeper::Scan => "scan",
            Keeper::None => "none",
            Keeper::View => "view",
        }
    }
}

/// The longest that a command may be given, in seconds, unless the configuration says otherwise.
const LONGEST: u64 = 3_600;
/// The default time limit of a command, in seconds.
const USUAL: u64 = 120;

/// The commands that run in a view first, so that what they change is proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PreviewWhen {
    /// Only the commands that the person chooses.
    #[default]
    Never,
    /// The commands that remove or overwrite something.
    Harm,
    /// All commands that write.
    Always,
}

/// The configuration of commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellSettings {
    /// The configuration of places.
    pub places: PlaceSettings,
    /// The configuration of the sandbox.
    pub sandbox: SandboxSettings,
    /// Rules by the words that a command begins with.
    pub rules: Vec<Rule>,
    /// The limits on copies of what is changed in place.
    pub limits: CopyLimits,
    /// The keeper, where it is not the best one that works.
    pub keeper: Option<Keeper>,
    /// Nebula's own folders in the workspace are mounted so that a command under the guard can only read them, too.
    pub strict: bool,
    /// The shell, where it is not found on the PATH.
    pub program: Option<PathBuf>,
    /// The default time limit of a command, in seconds.
    pub timeout: u64,
    /// The longest time limit, in seconds.
    pub max_timeout: u64,
    /// The commands that run in a view first.
    pub preview: PreviewWhen,
    /// The command that tests a proposal in a view; none: none does by itself.
    pub check: Option<String>,
}

impl Default for ShellSettings {
    fn default() -> Self {
        ShellSettings {
            places: PlaceSettings::default(),
            sandbox: SandboxSettings::default(),
            rules: Vec::new(),
            limits: CopyLimits::default(),
            keeper: None,
            strict: false,
            program: None,
            timeout: USUAL,
            max_timeout: LONGEST,
            preview: PreviewWhen::Never,
            check: None,
        }
    }
}

/// The parts that every session's commands share.
pub struct Shell {
    /// The workspace.
    pub workspace: Workspace,
    /// Its archive.
    pub archive: Archive,
    /// The configuration of commands.
    pub settings: ShellSettings,
    /// The environment of commands.
    pub environment: Environment,
    /// Nebula's own folder; none: logs are not kept.
    pub own: Option<PathBuf>,
    /// The path of this program, whose hidden name is the helper.
    pub program: PathBuf,
    /// The findings of the probe, once it ran.
    pub offered: Mutex<Option<Offered>>,
    /// Ports on this machine that the person let every command reach since the start.
    pub ports: Mutex<Vec<u16>>,
    /// The last look at the tree found that it can be scanned.
    pub can_scan: AtomicBool,
}

impl Shell {
    /// Creates a shell that runs nothing: for what is left of commands.
    pub fn for_archive(workspace: &Workspace, archive: &Archive) -> Self {
        Shell {
            workspace: workspace.clone(),
            archive: archive.clone(),
            settings: ShellSettings::default(),
            environment: Environment::default(),
            own: None,
            program: PathBuf::new(),
            offered: Mutex::default(),
            ports: Mutex::default(),
            can_scan: AtomicBool::default(),
        }
    }

    /// Returns what paths are.
    pub fn places(&self) -> PathClasses {
        PathClasses::new(&self.workspace, &self.archive, &self.settings.places)
    }

    /// Lets every command that starts from now on reach a port on this machine.
    pub fn allow_port(&self, port: u16) {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner).push(port);
    }

    /// Returns the configuration of the sandbox, with the ports that were allowed since.
    pub(super) fn sandbox_settings(&self) -> SandboxSettings {
        let mut settings = self.settings.sandbox.clone();
        settings.ports.extend(self.ports.lock().unwrap_or_else(PoisonError::into_inner).iter());
        settings
    }

    /// Returns the folder of logs.
    pub fn logs(&self) -> Option<PathBuf> {
        self.own.as_ref().map(|own| own.join("commands"))
    }

    /// Returns what the machine offers. The first time since it was started it is tried.
    pub fn offered(&self) -> Offered {
        let mut known = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_with(|| probe::offered(&self.trial())).clone()
    }

    /// Returns why it is not known whether commands run in a sandbox here. The next question tries again.
    pub(super) fn unknown_sandbox(&self) -> Option<String> {
        let why = self.offered().untried.filter(|_| !self.settings.sandbox.off)?;
        *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Some(why)
    }

    /// Tries what the machine offers now; views as this workspace has them.
    pub fn try_anew(&self) -> Offered {
        let tried = probe::tried(&self.trial());
        *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = Some(tried.clone());
        let view = tried.view.and_then(|()| self.no_view().map_or(Ok(()), Err));
        Offered { view, ..tried }
    }

    /// Deletes what is known of the machine, as starting a command showed that it is not so: the next question tries.
    pub(super) fn forget_offered(&self) {
        probe::forget(&self.trial());
        *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Reads a file of the workspace, and one of the home folder, as a command does. Returns why that fails.
    pub fn cannot_read(&self) -> Option<String> {
        if !self.has_sandbox() {
            return None;
        }
        let temporary = disk::private_folder("nebula-").ok()?;
        let around = Surroundings {
            root: self.workspace.root(),
            folders: self.workspace.folders(),
            temporary: temporary.path(),
            since: 0,
            own: self.own.as_deref(),
            variables: self.environment.all(),
        };
        let bounds = bounds(Grant::Read, &self.settings.sandbox, &around);
        let home = around.variables.get("HOME").map(PathBuf::from);
        let files = [Some(self.workspace.root().to_path_buf()), home].into_iter().flatten();
        let files = files.filter_map(|folder| first_file(&folder, &bounds.private));
        let mut failed = files.filter_map(|file| probe::read(&self.trial(), bounds.clone(), &file).err());
        failed.next()
    }

    fn trial(&self) -> Trial<'_> {
        Trial {
            program: &self.program,
            environment: &self.environment,
            shell: self.settings.program.as_deref(),
            own: self.own.as_deref(),
        }
    }

    /// Returns what keeps the states of commands here.
    pub fn keeper(&self) -> Keeper {
        match (self.settings.keeper, self.offered().guard) {
            (Some(keeper), _) => keeper,
            (None, Ok(())) => Keeper::Guard,
            (None, Err(_)) => Keeper::Scan,
        }
    }

    /// Returns what keeps the states of a command here; where nothing does, its assessment gets the reason. For blocking
    /// code alone: it may look at the whole tree.
    pub fn keeper_of(&self, found: &mut Assessment) -> Keeper {
        let keeper = self.keeper();
        found.unkept = if keeper == Keeper::Scan { self.cannot_scan() } else { None };
        if found.unkept.is_some() { Keeper::None } else { keeper }
    }

    /// Returns why the tree is too large to be scanned; none: it is not, or was not when it was last looked at.
    pub fn cannot_scan(&self) -> Option<String> {
        if self.can_scan.load(Ordering::Relaxed) {
            return None;
        }
        let why = Scan::refusal(&self.places(), &self.archive);
        self.can_scan.store(why.is_none(), Ordering::Relaxed);
        why.map(|why| why.to_string())
    }

    /// Returns whether commands run in a sandbox here.
    pub fn has_sandbox(&self) -> bool {
        !self.settings.sandbox.off && self.offered().sandbox.is_ok()
    }

    /// Returns why no command runs unasked here under `review`; none: guard and sandbox hold what can be undone.
    pub fn no_review(&self) -> Option<String> {
        let offered = self.offered();
        match (self.settings.keeper, offered.guard, offered.sandbox) {
            (Some(Keeper::Scan), ..) => Some("shell.keeper is scan".into()),
            _ if self.settings.sandbox.off => Some("shell.sandbox is off".into()),
            (None, Err(why), _) => Some(format!("there is no guard here: {why}")),
            (.., Err(why)) => Some(format!("there is no sandbox here: {why}")),
            _ => None,
        }
    }

    /// Returns why no command runs in a view here; none: one may.
    pub fn no_view(&self) -> Option<String> {
        let offered = self.offered();
        match (offered.sandbox, offered.view) {
            _ if self.settings.sandbox.off => Some("shell.sandbox is off".into()),
            (Err(why), _) => Some(format!("there is no sandbox here: {why}")),
            // The probe looks at a folder of its own, not at this workspace.
            (Ok(_), Ok(())) => {
                let refusal = view::refusal(self.workspace.root(), self.archive.home());
                refusal.or_else(|| view::refusal_within(&self.places()))
            }
            (Ok(_), Err(why)) => Some(why),
        }
    }

    /// Returns whether nebula's own folders in the workspace are mounted so that commands only read them; the error is
    /// why they are not though they should be. The guard refuses each change of them, so there it is only done where the
    /// configuration says so.
    pub fn mounts_own(&self, keeper: Keeper) -> Result<bool, String> {
        let wanted = match keeper {
            Keeper::Scan => true,
            Keeper::Guard => self.settings.strict,
            Keeper::None | Keeper::View => false,
        };
        match (self.has_sandbox(), self.offered().mount) {
            _ if !wanted => Ok(false),
            (true, mount) => mount.map(|()| true),
            (false, _) => Err("commands run in no sandbox".into()),
        }
    }

    /// Returns whether no command runs here as long as it cannot be tried whether there is a sandbox.
    fn runs_nothing(&self) -> bool {
        !self.settings.sandbox.off && self.offered().untried.is_some()
    }

    /// Returns what a person is to know of nebula's own folders before a command runs, if anything.
    pub fn own_unprotected(&self, keeper: Keeper) -> Option<String> {
        let why = self.mounts_own(keeper).err().filter(|_| !self.runs_nothing())?;
        Some(match keeper {
            Keeper::Guard => format!(
                "shell.strict: .shaft and .nebula cannot be mounted to be only read ({why}); the guard alone refuses changes of them"
            ),
            _ => format!(
                "nothing keeps a command from .shaft and .nebula here ({why}): where it removes them, nothing that it changed can be undone"
            ),
        })
    }

    /// Returns what a person is to know, before a command runs, of the files that the configuration leaves out of the
    /// archive: those that its text names, and that there are others.
    pub fn excluded(&self, found: &Assessment) -> Vec<String> {
        let globs = self.archive.settings().exclude.join(", ");
        let named = (!found.excluded.is_empty())
            .then(|| format!("not archived: {}: what is overwritten there cannot be undone", found.excluded_words()));
        let all = (!globs.is_empty())
            .then(|| format!("archiveExclude leaves out {globs}: what the command overwrites of it cannot be undone"));
        named.into_iter().chain(all).collect()
    }

    /// Returns what a person is to know of all else before a command runs in no sandbox.
    pub fn outside_unprotected(&self, keeper: Keeper) -> Option<String> {
        let why = match (self.settings.sandbox.off, self.offered().sandbox) {
            (true, _) => "shell.sandbox is off".into(),
            (false, Err(_)) if self.runs_nothing() => return None,
            (false, Err(why)) => format!("there is no sandbox here: {why}"),
            (false, Ok(_)) => return None,
        };
        Some(match keeper {
            Keeper::Guard if !self.settings.sandbox.off => format!(
                "{why}; the guard alone refuses writes outside the workspace, and nothing keeps a command from private files and the network"
            ),
            _ => format!("{why}; what a command overwrites outside the workspace is not archived and cannot be undone"),
        })
    }

    /// Returns what a person is to know before a command that only reads runs in no sandbox.
    pub fn private_unprotected(&self) -> Option<String> {
        let why = self.offered().sandbox.err().filter(|_| !self.settings.sandbox.off && !self.runs_nothing())?;
        Some(format!("there is no sandbox here: {why}; nothing keeps a command from private files and the network"))
    }

    /// Returns nebula's own folders in the workspace that a command may only read, as [`Shell::mounts_own`] says, and in
    /// the folders outside that it may write the archive and what is private. Of other workspaces within, the archives.
    pub(super) fn only_read(&self, keeper: Keeper, scan: Option<&Scan>) -> Vec<PathBuf> {
        if self.mounts_own(keeper) != Ok(true) {
            return Vec::new();
        }
        let root = self.workspace.root();
        let mut own = vec![root.join(".nebula"), self.archive.home().to_path_buf()];
        let is_written = |path: &Path| self.workspace.folders().iter().any(|folder| path.starts_with(folder));
        let archive = self.archive.folder();
        if !archive.starts_with(self.archive.home()) && (archive.starts_with(root) || is_written(archive)) {
            own.push(archive.to_path_buf());
        }
        let private = self.workspace.private().iter().filter(|path| is_written(path) && !path.starts_with(root));
        own.extend(private.cloned());
        own.extend(scan.into_iter().flat_map(|scan| scan.archives_within(root)));
        // A link in such a place leads to what is none of nebula's own.
        own.retain(|folder| std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir()));
        // The guard refuses its changes.
        let proof = worktree_proof(root).filter(|proof| keeper == Keeper::Scan && is_worktree_file(proof));
        own.extend(proof);
        own
    }

    /// Remembers for this process that no view can be had of this workspace, as mounting one showed.
    pub(super) fn set_no_view(&self, why: &str) {
        if let Some(offered) = &mut *self.offered.lock().unwrap_or_else(PoisonError::into_inner) {
            offered.view = Err(why.into());
        }
    }

    /// Remembers for this process that nothing can be mounted to be only read, as mounting it showed.
    pub(super) fn set_no_mount(&self, why: &str) {
        if let Some(offered) = &mut *self.offered.lock().unwrap_or_else(PoisonError::into_inner) {
            offered.mount = Err(why.into());
        }
    }

    /// Returns what the guard of a helper works with. `bounds`: those that it alone knows of.
    pub(super) fn guard_start(&self, bounds: Option<Bounds>) -> GuardStart {
        let settings = self.archive.settings();
        GuardStart {
            root: self.workspace.root().to_path_buf(),
            archive: self.archive.folder().to_path_buf(),
            protected: self.workspace.protected().to_vec(),
            exclude: settings.exclude,
            folders: self.workspace.folders().to_vec(),
            private: self.workspace.private().to_vec(),
            places: self.settings.places.clone(),
            limits: self.settings.limits,
            bounds,
        }
    }
}

/// Entries that are looked at for a file.
const LOOKED_AT: usize = 500;

/// Returns a file in a folder or below that is not private and that nebula can read, among its first entries.
fn first_file(folder: &Path, private: &[PathBuf]) -> Option<PathBuf> {
    let mut folders = VecDeque::from([folder.canonicalize().ok()?]);
    let mut left = LOOKED_AT;
    while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().take(left) {
            left -= 1;
            let (path, kind) = (entry.path(), entry.file_type().ok());
            match kind {
                _ if private.contains(&path) || path.to_str().is_none() => {}
                Some(kind) if kind.is_dir() => folders.push_back(path),
                Some(kind) if kind.is_file() && std::fs::File::open(&path).is_ok() => return Some(path),
                _ => {}
            }
        }
    }
    None
}
