//! One command of a session, and the sealing of what it changed.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::archive::NotUndone;
use crate::archive::staging::{CommandInfo, CommandStaging};
use crate::disk;
use crate::shell::host::{Keeper, Shell};
use crate::shell::message::{Exit, Stopped};
use crate::shell::output::record::CommandRecord;
use crate::shell::run::RunningCommand;
use crate::shell::sandbox::Grant;
use crate::shell::scan::Scan;
use crate::shell::view::View;
use crate::workspace::RootFolder;

/// One command.
#[derive(Debug)]
pub struct ShellCommand {
    /// `c1`, `c2`, ….
    pub id: String,
    /// Its origin, under which its changes are recorded.
    pub info: CommandInfo,
    /// The keeper of its states.
    pub keeper: Keeper,
    /// The grants of its sandbox; none: it runs in none.
    pub grant: Option<Grant>,
    /// It runs, or has run.
    pub running: RunningCommand,
    /// The path of its log.
    pub log: Option<PathBuf>,
    pub(super) given: Vec<(String, String)>,
    /// The folder in which its next one would have begun, had it not run.
    pub(super) from: PathBuf,
    pub(super) record: Mutex<CommandRecord>,
    pub(super) states: CommandStates,
    /// True if the state it left was taken up already.
    pub(super) left_taken: AtomicBool,
    /// The reason why it is over, where not by itself.
    pub(super) stopped: Mutex<Option<Stopped>>,
    /// True if its end was reported to the model.
    pub(super) reported: AtomicBool,
    /// True if its call is answered: it runs on as a job, or is over.
    pub(super) answered: AtomicBool,
    /// The view that it ran in, until what it changed there was read.
    pub(super) view: Mutex<Option<Arc<View>>>,
}

/// The states that a command staged.
#[derive(Debug)]
pub(super) struct CommandStates {
    /// Held while it is sealed, which takes seconds: what async code asks for lies beside it.
    staged: Mutex<StagedStates>,
    /// True while a state of it is staged.
    unsealed: AtomicBool,
    /// The reason told last why its changes are not archived yet.
    failure: Mutex<Option<String>>,
    /// Paths that a scan did not archive, each with why.
    left_out: Vec<(String, String)>,
    /// The changes that were archived since its call was answered and that the model was not told, a line each.
    later: Mutex<Vec<String>>,
    /// The folder that the workspace's root was when it began.
    root: RootFolder,
}

#[derive(Debug, Default)]
struct StagedStates {
    staging: Option<CommandStaging>,
    /// The earlier staging folders that could not be sealed yet.
    older: Vec<CommandStaging>,
    /// The later staging folders that the guard was told of and has not taken up in time.
    late: Vec<CommandStaging>,
    scan: Option<Scan>,
}

impl StagedStates {
    fn holds_states(&self) -> bool {
        self.staging.is_some() || !self.older.is_empty()
    }
}

/// The notes on what the next command begins with.
#[derive(Debug, Default)]
pub struct NextNotes {
    /// It begins in another folder.
    pub moved: Option<String>,
    /// Variables that it does not get.
    pub dropped: Option<String>,
}

impl CommandStates {
    /// Creates those of a command that begins in the workspace of this root: its staging folder, and what was there before
    /// where that is looked at.
    pub(super) fn new(root: RootFolder, staging: Option<CommandStaging>, scan: Option<Scan>) -> Self {
        CommandStates {
            unsealed: AtomicBool::new(staging.is_some()),
            left_out: scan.as_ref().map(|scan| scan.left_out.clone()).unwrap_or_default(),
            staged: Mutex::new(StagedStates { staging, scan, ..StagedStates::default() }),
            failure: Mutex::default(),
            later: Mutex::default(),
            root,
        }
    }

    /// Returns whether any is staged still. Waits for nothing.
    pub(super) fn are_unsealed(&self) -> bool {
        self.unsealed.load(Ordering::Relaxed)
    }
}

impl ShellCommand {
    /// Writes down how far it is, for `nebula commands`. `changeset`: that of its changes, where there is one.
    pub fn keep_record(&self, changeset: Option<String>) {
        let Some(log) = &self.log else { return };
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = self.running.progress().clone();
        record.took = progress.took.and_then(|took| u64::try_from(took.as_millis()).ok());
        let is_over = progress.is_over();
        match progress.exit {
            Some((Exit::Code(code), _)) => record.exit = Some(code),
            Some((Exit::Signal(signal), _)) => record.signal = Some(signal),
            None => {}
        }
        record.failed = progress.failed;
        record.stopped = self.note_stopped(None).map(Stopped::words);
        record.changeset = changeset.or(record.changeset.take());
        record.untold = self.info.call.is_some() && !(is_over && self.reported.load(Ordering::Relaxed));
        // Without it the command is not listed: nothing else hangs on it.
        let _ = record.write(log);
    }

    /// Notes changes that were archived since its call was answered, a line each.
    pub fn note_later(&self, lines: Vec<String>) {
        self.states.later.lock().unwrap_or_else(PoisonError::into_inner).extend(lines);
    }

    /// Returns whether it changed something since its call was answered that the model was not told.
    pub fn has_later(&self) -> bool {
        !self.states.later.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Takes the changes since its call was answered, for the model.
    pub fn take_later(&self) -> Vec<String> {
        std::mem::take(&mut *self.states.later.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the view that it ran in, so that it goes when its changes were read.
    pub fn take_view(&self) -> Option<Arc<View>> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Brings its staging folder up to date and hands it to `seal`, which archives what is in it; then the folder goes,
    /// or, while something of the command still runs, begins again. Folders that could not be sealed before come first.
    ///
    /// # Errors
    /// When the states cannot be gathered, or `seal` fails: they stay in the staging folder.
    pub fn seal(
        &self,
        shell: &Shell,
        seal: impl Fn(&mut CommandStaging, &[NotUndone]) -> Result<(), String>,
    ) -> Result<(), String> {
        // What is behind the lock is replaced in one step each time.
        let mut staged = self.states.staged.lock().unwrap_or_else(PoisonError::into_inner);
        let sealed = self.seal_staged(&mut staged, shell, seal);
        if sealed.is_err() && self.running.progress().is_over() {
            self.note_ended(&mut staged);
        }
        self.states.unsealed.store(staged.holds_states(), Ordering::Relaxed);
        sealed
    }

    /// Notes in what stays staged that the command has ended: another process may archive it.
    fn note_ended(&self, staged: &mut StagedStates) {
        let mut not_undone = self.running.progress().summary.not_undone(self.grant, &self.states.left_out);
        if staged.scan.is_some() {
            not_undone.push(NotUndone::new("derived folders", "what it changed there is not known"));
        }
        let StagedStates { staging, older, late, .. } = staged;
        // Where even the note finds no room, it is taken for one that was cut off.
        let all = older.iter_mut().chain(late).chain(staging);
        all.for_each(|staging| drop(staging.note_ended(&not_undone)));
    }

    fn seal_staged(
        &self,
        staged: &mut StagedStates,
        shell: &Shell,
        seal: impl Fn(&mut CommandStaging, &[NotUndone]) -> Result<(), String>,
    ) -> Result<(), String> {
        if staged.holds_states() && !self.states.root.is_in_place() {
            return Err("the workspace is gone".into());
        }
        if staged.staging.as_ref().is_some_and(is_gone) {
            return Err("the folder that held the states before it is gone, and they with it".into());
        }
        if let Some(why) = staged.staging.as_ref().and_then(|open| open.folder().symlink_metadata().err()) {
            return Err(format!(
                "{}; `chmod u+rwx` lets nebula in again",
                disk::words_at(shell.workspace.root(), &why)
            ));
        }
        let not_undone = || self.running.progress().summary.not_undone(self.grant, &self.states.left_out);
        let seal = |staging: &mut CommandStaging| seal(staging, &not_undone());
        let StagedStates { staging, scan, older, late } = staged;
        seal_all(older, late.iter_mut().chain(staging.as_mut()).collect(), &seal)?;
        let Some(open) = staging else { return Ok(()) };
        if let Some(scan) = scan.as_ref() {
            let added = scan.after(&shell.places(), open).map_err(|error| error.to_string())?;
            self.running.note_looked(added, scan.derived_gone(shell.workspace.root()));
        }
        if self.running.progress().is_over() {
            older.extend(staging.take());
            older.append(late);
            return seal_all(older, Vec::new(), &seal);
        }
        let info = open.info_of_next().map_err(|error| error.to_string())?;
        let next = shell.archive.stage(&info).map_err(|error| error.to_string())?;
        if self.keeper == Keeper::Guard && !self.running.switch(next.folder()) {
            // It may be taken up yet: what is kept from then on is in it.
            late.push(next);
            // Ended meanwhile, or hung: the next sealing tells.
            return if self.running.progress().is_over() { Ok(()) } else { Err("its helper does not answer".into()) };
        }
        if scan.is_some() {
            // From here on the states before are the present ones.
            *scan = Scan::before(&shell.places(), &shell.archive, &next).ok();
        }
        older.push(std::mem::replace(open, next));
        older.append(late);
        seal_all(older, vec![open], &seal)
    }

    /// Returns whether the folder of its states is gone, so that they cannot be archived any more. A workspace that was moved
    /// took them along.
    pub fn has_lost_states(&self) -> bool {
        let staged = self.states.staged.lock().unwrap_or_else(PoisonError::into_inner);
        self.states.root.is_in_place() && staged.staging.as_ref().is_some_and(is_gone)
    }

    /// Returns its text.
    pub fn text(&self) -> &str {
        &self.info.command
    }

    /// Paths that were not archived, each with why.
    pub fn left_out(&self) -> &[(String, String)] {
        &self.states.left_out
    }

    /// Notes the failure of a sealing, or that it had none. Returns whether it is another one than the one before.
    pub fn note_failure(&self, failure: Option<&String>) -> bool {
        let mut before = self.states.failure.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = failure.is_some() && before.as_ref() != failure;
        *before = failure.cloned();
        is_new
    }

    /// Returns why its changes are not archived yet.
    pub fn archive_error(&self) -> Option<String> {
        self.states.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes why it is over, where not by itself. Returns what is known of that, also from an earlier time.
    pub fn note_stopped(&self, stopped: Option<Stopped>) -> Option<Stopped> {
        let mut known = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        *known = stopped.or(*known);
        *known
    }

    /// Notes what the next command begins with.
    pub(super) fn note_left(&self, folder: PathBuf, variables: Vec<String>) {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        (record.next_folder, record.variables) = (Some(folder), variables);
    }

    /// Marks its end, or its running on, as reported to the model.
    pub fn mark_reported(&self) {
        self.reported.store(true, Ordering::Relaxed);
    }

    /// Marks its call as answered.
    pub fn mark_answered(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// Returns whether its call is answered.
    pub fn is_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Returns how its shell ended, if it did.
    pub fn exit(&self) -> Option<Exit> {
        self.running.progress().exit.as_ref().map(|(exit, _)| *exit)
    }
}

/// Returns whether the folder of states is gone. One that may not be reached now may be later.
fn is_gone(open: &CommandStaging) -> bool {
    match open.folder().symlink_metadata() {
        Ok(there) => !there.is_dir(),
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

/// Seals folders that nothing is added to any more, oldest first; `later` come after them.
fn seal_all(
    older: &mut Vec<CommandStaging>,
    mut later: Vec<&mut CommandStaging>,
    seal: &impl Fn(&mut CommandStaging) -> Result<(), String>,
) -> Result<(), String> {
    while let Some(old) = older.first_mut() {
        seal(old)?;
        let old = older.remove(0);
        older.iter_mut().chain(later.iter_mut().map(|next| &mut **next)).for_each(|next| next.follows(old.made()));
        // All of it is archived: what stays of the folder is removed later.
        let _ = old.remove();
    }
    Ok(())
}
