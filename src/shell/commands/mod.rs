//! The commands of one session: the state each starts with and leaves to the next, and the jobs that still run.

mod bounds;
mod command;
mod configs;
mod earlier;
mod helpers;
mod next_helper;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::class::disk::{find_excluded, find_private, look};
use super::class::{Around, Assessment, assess};
use super::env::find_shell;
use super::host::{Keeper, Shell};
use super::message::{HoldSettings, MadeConfig, ShellState, Start, Stopped};
use super::output::Output;
use super::output::record::{self, CommandRecord};
use super::probe::no_temporary;
use super::request::{CommandRequest, StartError, begun, check_text};
use super::run::{CommandProgress, Launch, OutputReader, RunningCommand, WaitingHelper, launch};
use super::sandbox::Grant;
use super::sandbox::private;
use super::scan::Scan;
use crate::archive::staging::{CommandInfo, CommandStaging};
use crate::disk;
use crate::text::time;
use crate::workspace::{Access, RootFolder, freshen_proof};

pub use command::ShellCommand;

use command::{CommandStates, NextNotes};
use next_helper::NextHelper;

/// The most commands that run in the background.
pub const MOST_JOBS: usize = 8;

/// The commands of one session.
pub struct Commands {
    shell: Arc<Shell>,
    session: String,
    state: Mutex<CommandsState>,
    /// The folder for temporary files of the session's commands, made for the first, or why there is none.
    temporary: OnceLock<Result<tempfile::TempDir, String>>,
    since: u64,
    next_helper: NextHelper,
}

#[derive(Default)]
struct CommandsState {
    /// The number of the last command.
    last: usize,
    folder: PathBuf,
    /// The folder in which the next command begins as far as the model knows.
    known: PathBuf,
    /// The variables that those before it set, or, none, unset.
    left: BTreeMap<String, Option<String>>,
    all: Vec<Arc<ShellCommand>>,
    /// The news for the model of the commands that an earlier nebula ran.
    news: Vec<String>,
}

impl CommandsState {
    /// Returns the folder in which the next command of the model begins, or the next one of the person.
    fn next_of(&self, model: bool) -> &PathBuf {
        if model { &self.known } else { &self.folder }
    }

    /// Returns the names of the variables that commands set.
    fn set_names(&self) -> Vec<String> {
        self.left.iter().filter(|(_, value)| value.is_some()).map(|(name, _)| name.clone()).collect()
    }
}

impl std::fmt::Debug for Commands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Commands").field("session", &self.session).finish_non_exhaustive()
    }
}

impl Commands {
    /// Creates the commands of a session that has run none yet. `session` names its folder of logs.
    pub fn new(shell: Arc<Shell>, session: &str) -> Self {
        let root = shell.workspace.root();
        let state = CommandsState { folder: root.into(), known: root.into(), ..CommandsState::default() };
        let since = u64::try_from(time::now()).unwrap_or_default().saturating_mul(1_000_000);
        Commands {
            shell,
            session: session.into(),
            state: Mutex::new(state),
            temporary: OnceLock::new(),
            since,
            next_helper: NextHelper::default(),
        }
    }

    /// Returns what all sessions share.
    pub fn shell(&self) -> &Shell {
        &self.shell
    }

    /// Returns where a command would run, and the variable that its programs are found by.
    fn around(&self, folder: Option<&str>) -> (Around, String) {
        let root = self.shell.workspace.root().to_path_buf();
        let folder = self.folder_of(folder).unwrap_or_else(|_| root.clone());
        let left = self.state().left.get("PATH").cloned().flatten();
        let path = left.or_else(|| self.shell.environment.all().get("PATH").cloned());
        let outside = self.shell.workspace.outside().into_iter().filter(|outside| !outside.is_repository);
        let kept = outside.map(|outside| outside.folder).collect();
        (Around { root, folder, kept }, path.unwrap_or_default())
    }

    /// Returns what a text would do where a command runs, and where that is. For blocking code alone: it looks at the disk.
    pub fn assess(&self, text: &str, folder: Option<&str>, network: bool) -> (Assessment, Around) {
        let (around, path) = self.around(folder);
        let mut found = assess(text, &around, network);
        // The guard makes the connections that the sandbox lets through.
        let is_guarded = self.shell.has_sandbox() && self.shell.keeper() == Keeper::Guard;
        if is_guarded {
            found.stay_on_this_machine();
        }
        look(&mut found, &around, &path);
        if is_guarded {
            configs::leave_to_guard(&mut found, || self.made_configs(), &around.root);
        }
        if !self.shell.settings.sandbox.off && !self.shell.has_sandbox() {
            let home = self.shell.environment.all().get("HOME").map(Path::new);
            let private = private(&self.shell.settings.sandbox, self.shell.own.as_deref(), home);
            find_private(&mut found, home, &private);
        }
        if !self.shell.archive.settings().exclude.is_empty() {
            find_excluded(&mut found, &around, &self.shell.places());
        }
        (found, around)
    }

    /// Starts a command. One that runs in a view has no other keeper.
    ///
    /// # Errors
    /// When it cannot be started, or its states not be kept: then nothing was run.
    pub fn begin(
        &self,
        request: &CommandRequest,
        keeper: Keeper,
        info: CommandInfo,
        passes: Option<OutputReader>,
    ) -> Result<Arc<ShellCommand>, StartError> {
        let folder = self.check(request)?;
        let input = request.input && request.terminal.is_none();
        let helper = self.helper(request, input).map_err(StartError::Helper)?;
        let from = self.state().next_of(info.call.is_some()).clone();
        let (id, left) = self.reserve();
        let (keeper, bounds) = (request.view.as_ref().map_or(keeper, |_| Keeper::View), self.bounds_of(request)?);
        let given =
            self.shell.environment.of(&id, &left, request.grant, self.temporary().ok(), request.terminal.is_some());
        let (shell, arguments) = self.find_shell()?;
        let info = self.info_of(request, &folder, keeper, info);
        let (root, (staging, scan)) = (RootFolder::at(self.shell.workspace.root()), self.keep(keeper, &info)?);
        let log = self.logs().map(|logs| logs.join(format!("{id}.log")));
        let grant = bounds.as_ref().map(|bounds| bounds.grant);
        let record = Mutex::new(self.record(&id, &info, grant));
        let start = Start {
            shell,
            arguments,
            text: request.text.clone(),
            folder,
            variables: given.clone(),
            staging: staging.as_ref().map(|staging| staging.folder().to_path_buf()),
            guard: (keeper == Keeper::Guard).then(|| self.shell.guard_start(self.guard_bounds(request.grant))),
            only_read: self.shell.only_read(keeper, scan.as_ref()),
            bounds,
            view: request.view.as_ref().map(|view| view.start()),
            holds: request.holds.clone().map(|holds| HoldSettings { configs: self.made_configs(), ..holds }),
            terminal: request.terminal.is_some(),
            input,
        };
        let output = Output::new(log.as_deref(), self.shell.environment.secrets().to_vec());
        let running = launch(Launch { helper, start, output, passes }).map_err(StartError::Helper).and_then(begun);
        let (running, staging) = self.kept_if_running(running, staging, request.view.is_some())?;
        let command = Arc::new(ShellCommand {
            states: CommandStates::new(root, staging, scan),
            left_taken: AtomicBool::default(),
            reported: AtomicBool::default(),
            answered: AtomicBool::default(),
            stopped: Mutex::default(),
            view: Mutex::new(request.view.clone()),
            id,
            info,
            keeper,
            grant,
            record,
            running,
            log,
            given,
            from,
        });
        command.keep_record(None);
        self.state().all.push(Arc::clone(&command));
        Ok(command)
    }

    /// Returns the configurations of repositories that the commands so far have made, as they left them.
    fn made_configs(&self) -> Vec<MadeConfig> {
        self.all().iter().flat_map(|command| command.running.progress().summary.configs.clone()).collect()
    }

    /// Returns what is noted of a command beside what is known of its caller.
    fn info_of(&self, request: &CommandRequest, folder: &Path, keeper: Keeper, info: CommandInfo) -> CommandInfo {
        CommandInfo {
            // Files and memory see no secret, in the command's own text neither.
            command: self.shell.environment.masked(&request.text),
            cwd: folder.to_path_buf(),
            keeper: keeper.word().into(),
            approved: Some(request.consent.to_string()),
            ..info
        }
    }

    /// Returns the id of the next command, which no other gets, and the variables that it begins with.
    fn reserve(&self) -> (String, BTreeMap<String, Option<String>>) {
        let mut state = self.state();
        let logs = self.logs();
        state.last = record::reserve(logs.as_deref(), state.last);
        (format!("c{}", state.last), state.left.clone())
    }

    /// Returns a command that runs, with its staging folder; that of one that did not start goes.
    fn kept_if_running(
        &self,
        running: Result<RunningCommand, StartError>,
        staging: Option<CommandStaging>,
        in_view: bool,
    ) -> Result<(RunningCommand, Option<CommandStaging>), StartError> {
        match running {
            Ok(running) => Ok((running, staging)),
            Err(error) => {
                staging.into_iter().for_each(discard);
                match &error {
                    StartError::NoView(why) if in_view => self.shell.set_no_view(why),
                    StartError::NoView(why) => self.shell.set_no_mount(why),
                    StartError::NoGuard(_) | StartError::NoSandbox(_) => self.shell.forget_offered(),
                    _ => {}
                }
                Err(error)
            }
        }
    }

    /// Returns the shell and its arguments. It is not looked for on the PATH that the last command left, which may hold
    /// nothing.
    fn find_shell(&self) -> Result<(PathBuf, Vec<String>), StartError> {
        let own: Vec<(String, String)> = self.shell.environment.all().clone().into_iter().collect();
        find_shell(&own, self.shell.settings.program.as_deref()).map_err(StartError::Refused)
    }

    /// Checks a request. Returns the folder that the command runs in.
    fn check(&self, request: &CommandRequest) -> Result<PathBuf, StartError> {
        check_text(&request.text).map_err(StartError::Refused)?;
        if self.jobs().len() >= MOST_JOBS {
            let why = format!("{MOST_JOBS} commands run already: end one with stopCommand, or wait for it");
            return Err(StartError::Refused(why));
        }
        self.folder_of(request.folder.as_deref())
    }

    fn keep(&self, keeper: Keeper, info: &CommandInfo) -> Result<(Option<CommandStaging>, Option<Scan>), StartError> {
        if !keeper.keeps() {
            return Ok((None, None));
        }
        freshen_proof(self.shell.workspace.root());
        let staging = self.shell.archive.stage(info)?;
        if keeper == Keeper::Guard {
            return Ok((Some(staging), None));
        }
        match Scan::before(&self.shell.places(), &self.shell.archive, &staging) {
            Ok(scan) => Ok((Some(staging), Some(scan))),
            Err(error) => {
                discard(staging);
                self.shell.can_scan.store(false, Ordering::Relaxed);
                Err(error.into())
            }
        }
    }

    /// Returns the folder for temporary files.
    ///
    /// # Errors
    /// Why it could not be made.
    fn temporary(&self) -> Result<&Path, &String> {
        let make = || disk::private_folder("nebula-").map_err(|error| no_temporary(&error));
        self.temporary.get_or_init(make).as_ref().map(tempfile::TempDir::path)
    }

    /// Returns what is known of a command before it starts, for `nebula commands`.
    fn record(&self, id: &str, info: &CommandInfo, grant: Option<Grant>) -> CommandRecord {
        CommandRecord {
            session: self.session.clone(),
            id: id.into(),
            project: self.shell.workspace.root().to_path_buf(),
            call: info.call.clone(),
            command: info.command.clone(),
            cwd: info.cwd.clone(),
            keeper: info.keeper.clone(),
            grant: grant.map(|grant| grant.word().into()),
            started: time::now(),
            ..CommandRecord::default()
        }
    }

    fn folder_of(&self, given: Option<&str>) -> Result<PathBuf, StartError> {
        let refused = |why: String| Err(StartError::Refused(why));
        let workspace = &self.shell.workspace;
        let Some(given) = given else {
            let folder = self.state().folder.clone();
            let there = folder.is_dir() && folder.starts_with(workspace.root());
            return Ok(if there { folder } else { workspace.root().to_path_buf() });
        };
        match workspace.resolve(given, Access::Folder) {
            Ok(inside) => Ok(workspace.full(&inside)),
            Err(crate::workspace::PathError::Outside { .. }) => refused("cwd must lie in the workspace".into()),
            Err(_) => refused(format!("cwd: {given} is no folder")),
        }
    }

    /// Returns the command of that id.
    pub fn find(&self, id: &str) -> Option<Arc<ShellCommand>> {
        self.state().all.iter().find(|command| command.id == id).cloned()
    }

    /// Returns all commands so far, oldest first.
    pub fn all(&self) -> Vec<Arc<ShellCommand>> {
        self.state().all.clone()
    }

    /// Returns those that still run.
    pub fn jobs(&self) -> Vec<Arc<ShellCommand>> {
        self.state().all.iter().filter(|command| !command.running.progress().is_over()).cloned().collect()
    }

    /// Returns those whose states are staged still: what runs, and what was not sealed for some reason.
    pub fn unsealed(&self) -> Vec<Arc<ShellCommand>> {
        self.state().all.iter().filter(|command| command.states.are_unsealed()).cloned().collect()
    }

    /// Returns those among them whose call is answered. The changes of the others are to be one changeset at their end, where
    /// nobody asks whose they are before.
    pub fn unsealed_jobs(&self) -> Vec<Arc<ShellCommand>> {
        let mut jobs = self.unsealed();
        jobs.retain(|command| command.is_answered());
        jobs
    }

    /// Jobs that ended and were not reported yet.
    pub fn ended_untold(&self) -> Vec<Arc<ShellCommand>> {
        let over = |command: &&Arc<ShellCommand>| {
            command.running.progress().is_over() && !command.reported.swap(true, Ordering::Relaxed)
        };
        let ended: Vec<_> = self.state().all.iter().filter(over).cloned().collect();
        ended.iter().for_each(|command| command.keep_record(None));
        ended
    }

    /// Takes up what a command left to the next one: notes for the model where that is something to know.
    pub fn take_up(&self, command: &ShellCommand, left: Option<&ShellState>) -> NextNotes {
        let Some(left) = left.filter(|_| !command.left_taken.swap(true, Ordering::Relaxed)) else {
            return NextNotes::default();
        };
        let root = self.shell.workspace.root();
        let variables = self.shell.environment.left(&command.given, &left.variables, left.lists_all);
        let dropped = variables.note();
        let mut state = self.state();
        state.left.extend(variables.changed);
        let real = left.folder.canonicalize().unwrap_or_else(|_| left.folder.clone());
        let inside = real.starts_with(root) && real.is_dir();
        let folder = if inside { real.clone() } else { root.to_path_buf() };
        let of_model = command.info.call.is_some();
        // Where it stayed in its folder, another one may have gone elsewhere meanwhile: that holds.
        let has_moved = folder != command.from;
        if has_moved && (!of_model || state.folder == command.from) {
            state.folder.clone_from(&folder);
        }
        if has_moved && of_model {
            state.known = folder;
        }
        command.note_left(state.next_of(of_model).clone(), state.set_names());
        let moved = match inside {
            true if !has_moved => None,
            true => Some(self.now_in(&real)),
            false if left.folder.is_dir() => {
                Some("cwd is the workspace's root again: it had left the workspace".into())
            }
            false => Some("cwd is the workspace's root again: the folder it was in was removed or renamed".into()),
        };
        NextNotes { moved, dropped }
    }

    /// Returns the folder in which the model's next command begins, where the person went to another one and the model does not
    /// know it yet; none: it is the one of all.
    pub fn model_folder(&self) -> Option<String> {
        let state = self.state();
        let known = state.known.strip_prefix(self.shell.workspace.root()).ok()?;
        let is_apart = state.known != state.folder && state.known.is_dir();
        let named = if known.as_os_str().is_empty() { "." } else { known.to_str()? };
        is_apart.then(|| named.to_string())
    }

    /// Takes the note for the model that the next command begins in another folder than it knows of: a command of the
    /// person's own went there, they let commands begin in the root again, or the folder is gone.
    pub fn take_moved(&self) -> Option<String> {
        let mut state = self.state();
        if state.known == state.folder {
            return None;
        }
        state.known = state.folder.clone();
        let now = self.now_in(&state.folder);
        Some(format!("Your next command does not begin where your last one ended: {now}"))
    }

    fn now_in(&self, folder: &Path) -> String {
        let named = self.below_root(folder).unwrap_or_else(|| "the workspace's root".into());
        format!("cwd is now {named}")
    }

    /// Returns the folder and the variables that the next command begins with, as those before it left them; secrets are
    /// masked.
    pub fn left(&self) -> (PathBuf, BTreeMap<String, Option<String>>) {
        let state = self.state();
        let masked = |value: &String| self.shell.environment.masked(value);
        let masked = |(name, value): (&String, &Option<String>)| (name.clone(), value.as_ref().map(masked));
        (state.folder.clone(), state.left.iter().map(masked).collect())
    }

    /// Returns the folder below the workspace's root in which the next command begins; none: the root.
    pub fn next_folder(&self) -> Option<String> {
        self.below_root(&self.state().folder)
    }

    /// Returns the folder below the workspace's root in which a command began; none: the root.
    pub fn began_in(&self, command: &ShellCommand) -> Option<String> {
        self.below_root(&command.info.cwd)
    }

    fn below_root(&self, folder: &Path) -> Option<String> {
        let below = folder.strip_prefix(self.shell.workspace.root()).ok()?;
        Some(below.display().to_string()).filter(|below| !below.is_empty())
    }

    /// Lets the next command begin in the workspace's root, without the variables that were left.
    pub fn clear_left(&self) {
        let mut state = self.state();
        (state.folder, state.left) = (self.shell.workspace.root().to_path_buf(), BTreeMap::new());
    }

    /// Ends every command that runs, and waits until none is left.
    pub fn end_all(&self) {
        let jobs = self.jobs().into_iter().map(|job| (job.exit().is_some(), job)).collect::<Vec<_>>();
        jobs.iter().for_each(|(_, job)| job.running.stop());
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(5);
        for (has_ended, job) in jobs {
            job.running.wait(Some(patience), CommandProgress::is_over);
            job.note_stopped((!has_ended && job.note_stopped(None).is_none()).then_some(Stopped::Nebula));
            job.keep_record(None);
        }
    }

    /// Returns the session's folder of logs.
    fn logs(&self) -> Option<PathBuf> {
        Some(self.shell.logs()?.join(&self.session))
    }

    fn state(&self) -> MutexGuard<'_, CommandsState> {
        // Each change of it is whole by itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the staging folder of a command that did not start. Where something was kept in it after all, the next start
/// seals it.
fn discard(staging: CommandStaging) {
    if staging.journal().is_ok_and(|journal| journal.states.is_empty()) {
        let _ = staging.remove();
    }
}
