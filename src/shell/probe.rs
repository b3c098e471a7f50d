//! The abilities of the machine that commands can use: tried, not read from versions, once since it was started and for
//! each build.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::env::{Environment, find_shell};
use super::message::{Exit, GuardStart, Start};
use super::output::Output;
use super::places::{CopyLimits, PathClasses, PlaceSettings};
use super::run::{CommandProgress, Launch, WaitingHelper, launch};
use super::sandbox::{self, Bounds, Grant, SandboxSettings, Surroundings, bounds};
use super::view::View;
use crate::archive::staging::CommandInfo;
use crate::archive::{Archive, ArchiveSettings};
use crate::disk;
use crate::text::quote;
use crate::workspace::Workspace;

/// Its time limit.
const PATIENCE: Duration = Duration::from_secs(10);
/// The probe's text: a file is made, renamed and removed, and the archive is accessed.
const TEXT: &str = "echo x > a && mv a b && rm b; rm -rf .shaft; exit 0";
/// The reason where this process cannot be looked at.
const NO_PROC: &str = "/proc is not mounted";
/// The file in nebula's own folder that keeps what was found.
const FILE: &str = "probe.json";
/// The most that is read of it.
const LARGEST: u64 = 64 << 10;

/// The inputs of the probe.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// The path of this program, whose hidden name is the helper.
    pub program: &'a Path,
    /// The environment of commands.
    pub environment: &'a Environment,
    /// The shell, where it is not found on the PATH.
    pub shell: Option<&'a Path>,
    /// Nebula's own folder.
    pub own: Option<&'a Path>,
}

/// The findings: what works here, and why the rest does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// The guard.
    pub guard: Result<(), String>,
    /// The sandbox: its version.
    pub sandbox: Result<String, String>,
    /// Views.
    pub view: Result<(), String>,
    /// Mounting folders so that a command can only read them.
    pub mount: Result<(), String>,
    /// It could not be tried: why. Nothing is known then, and nothing of it is stored.
    #[serde(skip)]
    pub untried: Option<String>,
    /// A view or a mount could not be tried: there is none until the next start, and nothing is stored.
    #[serde(skip)]
    pub is_view_untried: bool,
}

impl Offered {
    /// Returns a line for a person. `set`: the keeper that the configuration names; `unscanned`: why the tree cannot be
    /// scanned.
    pub fn words(&self, set: Option<&str>, unscanned: Option<&str>) -> String {
        if let Some(why) = &self.untried {
            return format!("guard and sandbox could not be tried ({why}): no command runs until they can be");
        }
        let scan = unscanned.map_or("scan keeps instead".into(), |why| format!("scan cannot keep instead: {why}"));
        let guard = match (&self.guard, set) {
            (Ok(()), Some("scan")) => format!("guard works, and by shell.keeper {scan}"),
            (Ok(()), _) => "guard works".into(),
            (Err(why), Some("guard")) => format!("guard no ({why}), and shell.keeper lets nothing keep instead"),
            (Err(why), _) => format!("guard no ({why}): {scan}"),
        };
        let sandbox = match &self.sandbox {
            Ok(version) => match lacks(version) {
                Some(lack) => format!("sandbox Landlock ABI {version} (without rules for {lack})"),
                None => format!("sandbox Landlock ABI {version}"),
            },
            Err(why) => format!("sandbox no ({why})"),
        };
        let view = match &self.view {
            Ok(()) => "view works".to_string(),
            Err(why) => format!("view no ({why})"),
        };
        format!("{guard} · {sandbox} · {view}")
    }
}

/// Returns what the kernel's rules of this version do not hold back.
fn lacks(version: &str) -> Option<&'static str> {
    match version.parse::<u32>().ok()? {
        ..3 => Some("truncating, TCP, devices, signals and abstract sockets"),
        3 => Some("TCP, devices, signals and abstract sockets"),
        4 => Some("devices, signals and abstract sockets"),
        5 => Some("signals and abstract sockets"),
        _ => None,
    }
}

#[derive(Serialize, Deserialize)]
struct Remembered {
    of: String,
    offered: Offered,
}

/// Returns what was found since the machine was started, or tries.
pub fn offered(trial: &Trial<'_>) -> Offered {
    let file = trial.own.map(|own| own.join(FILE));
    let read = |file: &PathBuf| {
        let bytes = disk::read_file(file, LARGEST, disk::Links::Refuse).ok()?;
        serde_json::from_slice::<Remembered>(&bytes).ok()
    };
    let own = mark(trial);
    if let Some(known) = file.as_ref().and_then(read).filter(|known| known.of == own) {
        return known.offered;
    }
    tried(trial)
}

/// Tries, and keeps what was found.
pub fn tried(trial: &Trial<'_>) -> Offered {
    let offered = attempt_all(trial);
    remember(trial, &offered);
    offered
}

/// Deletes what was found: a command was started as it says, and that failed.
pub fn forget(trial: &Trial<'_>) {
    // What stays is found wrong again.
    trial.own.into_iter().for_each(|own| drop(fs::remove_file(own.join(FILE))));
}

/// Stores what was found out; what could not be tried in passing is no finding.
fn remember(trial: &Trial<'_>, offered: &Offered) {
    if offered.untried.is_some() || offered.is_view_untried {
        return;
    }
    let known = Remembered { of: mark(trial), offered: offered.clone() };
    if let (Some(own), Ok(text)) = (&trial.own, serde_json::to_vec(&known)) {
        // Without it the next start tries again.
        let _ = disk::replace_private(&own.join(FILE), &text);
    }
}

/// Returns the key of the findings: this start of the machine, this build, this person, the filters that are on already, and
/// whether they leave the kernel's rules: another filter of their number may not.
fn mark(trial: &Trial<'_>) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let filters = status.lines().find(|line| line.starts_with("Seccomp_filters:")).unwrap_or_default();
    let build = fs::metadata(trial.program).map(|meta| (meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ino()));
    let person = rustix::process::geteuid().as_raw();
    let yama = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let has_rules = sandbox::has_rules();
    format!("{} {person} {filters} {} {has_rules} {build:?}", boot.trim(), yama.trim())
}

fn attempt_all(trial: &Trial<'_>) -> Offered {
    let offered = match attempt(trial, true, true) {
        Ok(version) => Ok((Ok(()), Ok(version))),
        Err(Missing::Sandbox(why)) => known(attempt(trial, true, false)).map(|guard| (guard.map(drop), Err(why))),
        Err(Missing::Guard(why) | Missing::View(why)) => {
            known(attempt(trial, false, true)).map(|sandbox| (Err(why), sandbox))
        }
        Err(Missing::Trial(why)) => Err(why),
    };
    match offered {
        Ok((guard, sandbox)) => {
            // A view without a sandbox would leave all outside it open.
            let view = sandbox.is_ok().then(|| attempt_view(trial));
            let view = view.unwrap_or_else(|| Err(Missing::View("there is no sandbox".into())));
            // Where a view works, so do its mounts.
            let mount = if view.is_ok() || sandbox.is_err() { view.clone() } else { attempt_mount(trial) };
            let is_view_untried = [&view, &mount].iter().any(|tried| matches!(tried, Err(Missing::Trial(_))));
            let [view, mount] = [view, mount].map(|tried| tried.map_err(Missing::words));
            Offered { guard, sandbox, view, mount, untried: None, is_view_untried }
        }
        Err(why) => {
            let why = if Path::new("/proc/self").exists() { why } else { NO_PROC.into() };
            let [guard, view, mount] = [(); 3].map(|()| Err(why.clone()));
            Offered { guard, sandbox: Err(why.clone()), view, mount, untried: Some(why), is_view_untried: true }
        }
    }
}

/// Changes a file in a view of a folder of its own.
fn attempt_view(trial: &Trial<'_>) -> Result<(), Missing> {
    let place = Place::create()?;
    fs::write(place.workspace.root().join("c"), "old").map_err(|e| untried(&e))?;
    let view = View::create(&place.workspace, &place.archive).map_err(|e| untried(&e))?;
    let mut start = start(trial, place.workspace.root(), place.bounds(trial), "echo new > c; echo x > a")?;
    start.bounds.iter_mut().for_each(Bounds::keep_to_view);
    start.view = Some(view.start());
    run_in_mounts(trial, start)?;
    let places = PathClasses::new(&place.workspace, &place.archive, &PlaceSettings::default());
    let changes = view.changes(&place.workspace, &places).map_err(|e| untried(&e))?;
    let is_old = fs::read_to_string(place.workspace.root().join("c")).is_ok_and(|text| text == "old");
    let paths: Vec<&str> = changes.files.iter().map(|file| file.path.as_str()).collect();
    match is_old && paths == ["a", "c"] {
        true => Ok(()),
        false => Err(Missing::View("what was changed in it cannot be told".into())),
    }
}

/// Changes a file in a folder that is mounted to be only read.
fn attempt_mount(trial: &Trial<'_>) -> Result<(), Missing> {
    let place = Place::create()?;
    let folder = place.workspace.root().join("a");
    fs::create_dir(&folder).map_err(|e| untried(&e))?;
    let mut start = start(trial, place.workspace.root(), place.bounds(trial), "echo x > a/b; exit 0")?;
    start.only_read = vec![folder.clone()];
    run_in_mounts(trial, start)?;
    match folder.join("b").exists() {
        true => Err(Missing::View("what is mounted to be only read can be changed".into())),
        false => Ok(()),
    }
}

/// Runs a command in mounts of its own to its end.
fn run_in_mounts(trial: &Trial<'_>, start: Start) -> Result<(), Missing> {
    let progress = run(trial, start)?;
    match (progress.no_view, progress.failed) {
        (Some(why), _) => Err(Missing::View(why)),
        (None, Some(why)) => Err(Missing::Trial(why)),
        (None, None) => Ok(()),
    }
}

/// The reason why something does not work here.
#[derive(Clone)]
enum Missing {
    Guard(String),
    Sandbox(String),
    View(String),
    /// It could not be tried: next time it may be.
    Trial(String),
}

/// Returns the findings of a trial; an error where it found out nothing.
fn known(tried: Result<String, Missing>) -> Result<Result<String, String>, String> {
    match tried {
        Ok(version) => Ok(Ok(version)),
        Err(Missing::Guard(why) | Missing::Sandbox(why) | Missing::View(why)) => Ok(Err(why)),
        Err(Missing::Trial(why)) => Err(why),
    }
}

impl Missing {
    fn words(self) -> String {
        match self {
            Missing::Guard(why) | Missing::Sandbox(why) | Missing::View(why) | Missing::Trial(why) => why,
        }
    }
}

/// A workspace of its own, for one trial.
struct Place {
    workspace: Workspace,
    archive: Archive,
    _folder: tempfile::TempDir,
}

fn untried(error: &dyn std::fmt::Display) -> Missing {
    Missing::Trial(error.to_string())
}

/// Returns the words for a folder for temporary files that cannot be made.
pub fn no_temporary(error: &std::io::Error) -> String {
    let folder = std::env::temp_dir();
    let words = disk::words(error);
    // It names a folder that is not there, too.
    let cause = words.split(" at path ").next().unwrap_or_default();
    format!("no folder for temporary files can be made in {} (TMPDIR): {cause}", folder.display())
}

impl Place {
    fn create() -> Result<Place, Missing> {
        let folder = tempfile::tempdir().map_err(|e| Missing::Trial(no_temporary(&e)))?;
        let workspace = Workspace::open(folder.path()).map_err(|e| untried(&e))?;
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).map_err(|e| untried(&e))?;
        Ok(Place { workspace, archive, _folder: folder })
    }

    /// Returns the paths of a command's sandbox here.
    fn bounds(&self, trial: &Trial<'_>) -> Bounds {
        let root = self.workspace.root();
        let (own, variables) = (trial.own, trial.environment.all());
        let around = Surroundings { root, folders: &[], temporary: root, since: 0, own, variables };
        bounds(Grant::Workspace, &SandboxSettings::default(), &around)
    }
}

/// Reads a file as a command in this sandbox does.
///
/// # Errors
/// Why it cannot be read.
pub fn read(trial: &Trial<'_>, bounds: Bounds, path: &Path) -> Result<(), String> {
    let folder = bounds.temporary.clone();
    let text = format!(": < {}", quote::line(&[path.to_string_lossy().into_owned()]));
    let progress = start(trial, &folder, bounds, &text).and_then(|start| run(trial, start)).map_err(Missing::words)?;
    match (progress.no_sandbox.or(progress.no_guard).or(progress.failed), progress.exit) {
        (Some(why), _) => Err(why),
        (None, Some((Exit::Code(0), _))) => Ok(()),
        (None, _) => Err(format!("{} cannot be read by commands, though nebula can read it", path.display())),
    }
}

/// Returns the start of a command in a sandbox that has no keeper yet.
fn start(trial: &Trial<'_>, folder: &Path, bounds: Bounds, text: &str) -> Result<Start, Missing> {
    let variables = trial.environment.of("probe", &BTreeMap::new(), bounds.grant, Some(folder), false);
    let (shell, arguments) = find_shell(&variables, trial.shell).map_err(|e| untried(&e))?;
    Ok(Start {
        shell,
        arguments,
        text: text.into(),
        folder: folder.to_path_buf(),
        variables,
        staging: None,
        guard: None,
        bounds: Some(bounds),
        view: None,
        only_read: Vec::new(),
        holds: None,
        terminal: false,
        input: false,
    })
}

/// Runs a command to its end.
fn run(trial: &Trial<'_>, start: Start) -> Result<CommandProgress, Missing> {
    let output = Output::new(None, Vec::new());
    let helper = WaitingHelper::start(trial.program, None, false);
    let launch = helper.and_then(|helper| launch(Launch { helper, start, output, passes: None }));
    let running = launch.map_err(|e| untried(&e))?;
    if !running.wait(Some(Instant::now() + PATIENCE), CommandProgress::is_over) {
        running.stop();
        return Err(Missing::Trial(format!("it did not end within {} s", PATIENCE.as_secs())));
    }
    let progress = running.progress().clone();
    match &progress.exit {
        // It says nothing of what works here.
        Some((Exit::Signal(signal), _)) if *signal == Signal::KILL.as_raw() => {
            Err(Missing::Trial("its shell was killed".into()))
        }
        _ => Ok(progress),
    }
}

/// Runs a command in a folder of its own; the version of its sandbox.
fn attempt(trial: &Trial<'_>, guarded: bool, bounded: bool) -> Result<String, Missing> {
    let place = Place::create()?;
    let staging = place.archive.stage(&CommandInfo::default()).map_err(|e| untried(&e))?;
    let guard = GuardStart {
        root: place.workspace.root().to_path_buf(),
        archive: place.archive.folder().to_path_buf(),
        protected: Vec::new(),
        exclude: Vec::new(),
        folders: Vec::new(),
        private: Vec::new(),
        places: PlaceSettings::default(),
        limits: CopyLimits::default(),
        bounds: None,
    };
    let mut start = start(trial, place.workspace.root(), place.bounds(trial), TEXT)?;
    start.staging = Some(staging.folder().to_path_buf());
    start.guard = guarded.then_some(guard);
    start.bounds = start.bounds.filter(|_| bounded);
    let progress = run(trial, start)?;
    if let Some(why) = progress.no_sandbox {
        return Err(Missing::Sandbox(why));
    }
    if let Some(why) = progress.no_guard {
        return Err(Missing::Guard(why));
    }
    if let Some(why) = progress.failed {
        return Err(Missing::Trial(why));
    }
    let saved = staging.journal().unwrap_or_default().states;
    match !guarded || ["a", "b"].iter().all(|path| saved.iter().any(|saved| saved.path == *path)) {
        true => Ok(progress.sandbox.unwrap_or_default()),
        false => Err(Missing::Guard("the paths of calls cannot be read".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_fails_in_passing_is_not_remembered() {
        let own = tempfile::tempdir().expect("a folder");
        let environment = Environment::new([("PATH".to_string(), String::new())], &[], &[]);
        let program = std::env::current_exe().expect("a program");
        let trial = Trial { program: &program, environment: &environment, shell: None, own: Some(own.path()) };
        let found = offered(&trial);
        assert_eq!(found.untried.as_deref(), Some("no bash and no sh on the PATH"));
        assert!(found.guard.is_err() && found.sandbox.is_err() && found.words(None, None).contains("no command runs"));
        let stored = || fs::read_dir(own.path()).expect("a folder").count();
        assert_eq!(stored(), 0);
        // A view alone that could not be tried is not remembered either; what was found out is.
        let (guard, view, mount) = (Ok(()), Err("it did not end within 10 s".to_string()), Ok(()));
        let mut found = Offered { guard, sandbox: Ok("7".into()), view, mount, untried: None, is_view_untried: true };
        remember(&trial, &found);
        assert_eq!(stored(), 0);
        found.is_view_untried = false;
        remember(&trial, &found);
        assert_eq!(offered(&trial), found);
        forget(&trial);
        assert!(stored() == 0 && offered(&trial) != found);
    }

    #[test]
    fn what_an_older_kernel_does_not_hold_back_is_said() {
        let words = |version: &str| {
            let view = Err("user namespaces are not permitted".into());
            let (guard, sandbox, mount) = (Ok(()), Ok(version.into()), Ok(()));
            Offered { guard, sandbox, view, mount, untried: None, is_view_untried: false }.words(None, None)
        };
        let view = "view no (user namespaces are not permitted)";
        assert_eq!(words("7"), format!("guard works · sandbox Landlock ABI 7 · {view}"));
        assert!(words("5").contains("ABI 5 (without rules for signals and abstract sockets)"));
    }

    #[test]
    fn the_keeper_that_would_be_used_is_named() {
        let of = |guard: Result<(), String>, set, unscanned| {
            let (view, mount) = (Ok(()), Ok(()));
            let found = Offered { guard, sandbox: Ok("7".into()), view, mount, untried: None, is_view_untried: false };
            found.words(set, unscanned).split(" · ").next().unwrap_or_default().to_string()
        };
        let busy = || Err("busy".to_string());
        assert_eq!(of(Ok(()), Some("guard"), None), "guard works");
        assert_eq!(of(Ok(()), Some("scan"), None), "guard works, and by shell.keeper scan keeps instead");
        let large = Some("this tree is too large");
        assert_eq!(
            of(Ok(()), Some("scan"), large),
            "guard works, and by shell.keeper scan cannot keep instead: this tree is too large"
        );
        assert_eq!(of(busy(), None, None), "guard no (busy): scan keeps instead");
        assert_eq!(of(busy(), None, large), "guard no (busy): scan cannot keep instead: this tree is too large");
        let only = "guard no (busy), and shell.keeper lets nothing keep instead";
        assert_eq!(of(busy(), Some("guard"), None), only);
    }
}
