//! States that several commands kept of the same paths while they ran at once. They are archived together, in the order in
//! which they were kept, whichever of the commands ends first: the work of each on a path ends where the next one kept it.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::staging::{CommandInfo, CommandStaging, Journal, JournalLine, SealKind, SealedStates, has_maker};
use super::{Archive, Error, Id, Lock, at};

/// The time within which a call that went on has done its work, mostly.
const SETTLE: Duration = Duration::from_millis(3);

/// The states of the paths that more than one command kept.
#[derive(Debug)]
pub struct KeptAtOnce {
    /// The staging folders of the other commands.
    pub others: Vec<CommandStaging>,
    /// The staging folder of the last owner.
    own: Id,
    /// The states of each path, in the order in which they were kept.
    by_path: HashMap<String, Vec<KeptState>>,
    /// The command of each owner, by the name of its first staging folder.
    commands: Vec<String>,
    /// The commands that have kept each path and are not over, each with the time at which it did so.
    at_work: HashMap<String, Vec<(String, i64)>>,
}

/// A state among those of a path.
#[derive(Debug)]
pub struct KeptState {
    /// The line of the journal.
    pub line: JournalLine,
    /// The staging folder.
    pub folder: PathBuf,
    key: StateKey,
}

/// The order of the states of a path: when it was kept, the staging folder, whose that is, and its place in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateKey {
    kept: (i64, u32),
    folder: Id,
    owner: usize,
    place: usize,
}

impl StateKey {
    /// Creates the key of a state of a path whose `last` one is known: a clock that goes backwards changes nothing among
    /// those of one owner.
    pub fn behind(last: Option<&StateKey>, line: &JournalLine, folder: Id, (owner, place): (usize, usize)) -> Self {
        let kept = (line.kept, line.within);
        let kept = last.filter(|last| last.owner == owner).map_or(kept, |last| kept.max(last.kept));
        StateKey { kept, folder, owner, place }
    }

    /// Returns whether it is that of an owner's state at this place in its journal.
    pub fn is_of(&self, owner: usize, place: usize) -> bool {
        (self.owner, self.place) == (owner, place)
    }
}

impl Default for KeptAtOnce {
    fn default() -> Self {
        let (commands, at_work) = (Vec::new(), HashMap::new());
        KeptAtOnce { others: Vec::new(), own: Id::MIN, by_path: HashMap::new(), commands, at_work }
    }
}

impl KeptAtOnce {
    /// Returns the staging folders of the owners, the last one's at the end.
    pub fn owners(&self) -> Vec<Id> {
        self.others.iter().map(CommandStaging::id).chain([self.own]).collect()
    }

    /// Returns whether an owner is the last one, whose sealing it is.
    pub fn is_last(&self, owner: usize) -> bool {
        owner == self.others.len()
    }

    /// Returns whether states of a path are among them.
    pub fn holds(&self, path: &str) -> bool {
        self.by_path.contains_key(path)
    }

    /// Returns the state that another one kept of a path next after this one; none: the next one is this owner's own, or
    /// there is none.
    pub fn next(&self, owner: usize, place: usize, path: &str) -> Option<&KeptState> {
        let states = self.by_path.get(path)?;
        let at = states.iter().position(|state| state.key.is_of(owner, place))?;
        states.get(at + 1).filter(|next| next.key.owner != owner)
    }

    /// Returns whether the last owner kept a path after this state of another one.
    pub fn is_before_last(&self, owner: usize, place: usize, path: &str) -> bool {
        let states = self.by_path.get(path).map(Vec::as_slice).unwrap_or_default();
        let from = states.iter().skip_while(|state| !state.key.is_of(owner, place));
        from.into_iter().any(|state| self.is_last(state.key.owner))
    }

    /// Returns whether another command may have changed a path before an owner kept this state of it again: it had kept
    /// the path too, and was not over. What was not kept between the work of the two is the owner's.
    pub fn is_among_several(&self, owner: usize, again: &JournalLine) -> bool {
        let of = self.commands.get(owner);
        let at_work = self.at_work.get(&again.path).map(Vec::as_slice).unwrap_or_default();
        at_work.iter().any(|(command, kept)| Some(command) != of && *kept <= again.kept)
    }

    /// Notes the paths of these that a command has kept.
    fn add_at_work(&mut self, command: &str, states: &[JournalLine], paths: &HashSet<&str>) {
        for line in states.iter().filter(|line| paths.contains(line.path.as_str())) {
            self.at_work.entry(line.path.clone()).or_default().push((command.to_string(), line.kept));
        }
    }

    fn add(&mut self, owner: usize, (id, folder): (Id, &Path), states: Vec<(usize, JournalLine)>) {
        for (place, line) in states {
            let states = self.by_path.entry(line.path.clone()).or_default();
            let key = StateKey::behind(states.last().map(|last| &last.key), &line, id, (owner, place));
            states.push(KeptState { folder: folder.to_path_buf(), key, line });
        }
    }
}

/// The ids of the versions of a changeset, and its own, which is greater.
#[derive(Debug)]
pub struct SealIds {
    pub(super) versions: Vec<Id>,
    pub(super) changeset: Id,
}

impl SealIds {
    /// Returns the changeset's own.
    pub fn changeset(&self) -> Id {
        self.changeset
    }
}

impl CommandStaging {
    /// Returns what a further staging folder of the same command is described by.
    ///
    /// # Errors
    /// When its own description cannot be read.
    pub fn info_of_next(&self) -> io::Result<CommandInfo> {
        Ok(CommandInfo { first: self.first()?, ..self.info()? })
    }

    /// Returns the name of the command's first staging folder.
    fn first(&self) -> io::Result<String> {
        let first = self.info()?.first;
        Ok(if first.is_empty() { self.id().to_string() } else { first })
    }
}

impl Archive {
    /// Draws the ids of a changeset of so many states, greater than all before.
    ///
    /// # Errors
    /// When they cannot be noted.
    pub fn draw_ids(&self, lock: &mut Lock, count: usize) -> Result<SealIds, Error> {
        let ids = SealIds { versions: (0..count).map(|_| lock.next()).collect(), changeset: lock.next() };
        lock.save().map_err(at(&self.folder))?;
        Ok(ids)
    }

    /// Lets the calls of commands that still run wait from here on until the lock is let go, and those that went on before
    /// come to their end: what is read and written under the lock is changed by none of them meanwhile, and what they
    /// change after it is kept anew. `own`: a command that needs not to wait.
    pub fn let_calls_wait(&self, lock: &mut Lock, own: Option<&CommandStaging>) {
        let first = own.and_then(|own| own.first().ok());
        let is_other = |staging: &CommandStaging| first.is_none() || staging.first().ok() != first;
        let folders = self.staging_folders().unwrap_or_default();
        let mut others =
            folders.iter().filter_map(|folder| CommandStaging::open(folder).ok()).filter(is_other).peekable();
        if others.peek().is_none() {
            return;
        }
        // Without the note a command goes on, and what it does then counts as someone else's.
        let Ok(SealIds { changeset, .. }) = self.draw_ids(lock, 0) else { return };
        others.for_each(|mut other| drop(other.note(changeset, Vec::new(), SealKind::Awaited)));
        thread::sleep(SETTLE);
    }

    /// Returns the first state of each path that a command kept in its staging folders after this one.
    pub(super) fn kept_next(&self, staging: &CommandStaging) -> HashMap<String, (PathBuf, JournalLine)> {
        let mut next = HashMap::new();
        let Ok(first) = staging.first() else { return next };
        let mut folders = self.staging_folders().unwrap_or_default();
        folders.sort();
        for folder in folders {
            let Ok(later) = CommandStaging::open(&folder) else { continue };
            if later.id() <= staging.id() || later.first().ok().as_ref() != Some(&first) {
                continue;
            }
            for line in later.journal().unwrap_or_default().states {
                next.entry(line.path.clone()).or_insert_with(|| (folder.clone(), line));
            }
        }
        next
    }

    /// Returns the states that other commands kept of these paths, or of those of `own`, and that no changeset was made of
    /// yet, with those of `own`. What cannot be read is left to its own sealing.
    ///
    /// # Errors
    /// When the journal of `own` cannot be read.
    pub fn kept_at_once(&self, own: Option<&CommandStaging>, paths: &HashSet<&str>) -> Result<KeptAtOnce, Error> {
        let journal = own.map(|own| own.journal().map_err(at(own.folder()))).transpose()?.unwrap_or_default();
        let mine = self.unsealed(&journal);
        let wanted: HashSet<&str> =
            mine.iter().map(|(_, line)| line.path.as_str()).chain(paths.iter().copied()).collect();
        let mut shared = KeptAtOnce { own: own.map_or(Id::MIN, CommandStaging::id), ..KeptAtOnce::default() };
        // What it kept in other staging folders is sealed with its own, in their order.
        let first = own.and_then(|own| own.first().ok());
        let folders = if wanted.is_empty() { Vec::new() } else { self.staging_folders().unwrap_or_default() };
        for folder in folders {
            let Ok(staging) = CommandStaging::open(&folder) else { continue };
            if own.is_some_and(|own| own.id() == staging.id()) || first.is_some() && staging.first().ok() == first {
                continue;
            }
            let (journal, command) = (staging.journal().unwrap_or_default(), staging.first().unwrap_or_default());
            shared.add_at_work(&command, &journal.states, &wanted);
            let mut states = self.unsealed(&journal);
            states.retain(|(_, line)| wanted.contains(line.path.as_str()));
            if !states.is_empty() {
                shared.add(shared.others.len(), (staging.id(), &folder), states);
                shared.others.push(staging);
                shared.commands.push(command);
            }
        }
        if let Some(own) = own {
            let owner = shared.others.len();
            shared.commands.extend(first);
            if let Some(command) = shared.commands.get(owner).cloned() {
                shared.add_at_work(&command, &journal.states, &wanted);
            }
            let mine = mine.iter().filter(|(_, line)| shared.holds(&line.path)).cloned().collect();
            shared.add(owner, (own.id(), own.folder()), mine);
        }
        shared.by_path.values_mut().for_each(|states| states.sort_by_key(|state| state.key));
        Ok(shared)
    }

    /// Returns those of some paths that a command may be changing, or has changed and will archive: it kept them and they
    /// are not archived yet, or it is compared as a whole at its end.
    pub fn in_work<'p>(&self, paths: &HashSet<&'p str>) -> HashSet<&'p str> {
        let mut in_work = HashSet::new();
        let folders = if paths.is_empty() { Vec::new() } else { self.staging_folders().unwrap_or_default() };
        for staging in folders.iter().filter(|folder| has_maker(folder)).filter_map(|f| CommandStaging::open(f).ok()) {
            let journal = staging.journal().unwrap_or_default();
            if journal.ended.is_none() && staging.info().is_ok_and(|info| info.keeper == "scan") {
                return paths.clone();
            }
            let unsealed = self.unsealed(&journal);
            in_work.extend(unsealed.iter().filter_map(|(_, line)| paths.get(line.path.as_str()).copied()));
        }
        in_work
    }

    /// Returns the states that no changeset was made of yet, each with its place in the journal.
    fn unsealed(&self, journal: &Journal) -> Vec<(usize, JournalLine)> {
        let sealed = self.sealed(&journal.seals);
        let states = journal.states.iter().cloned().enumerate();
        states.filter(|(place, _)| !sealed.contains(place)).collect()
    }

    /// Returns the places of the states that changesets were made of.
    pub(super) fn sealed(&self, seals: &[SealedStates]) -> HashSet<usize> {
        let is_made = |sealed: &&SealedStates| sealed.kind != SealKind::Earlier && self.paths(sealed.changeset).is_ok();
        seals.iter().filter(is_made).flat_map(|sealed| &sealed.states).copied().collect()
    }

    /// Returns the changesets that were made of these states by another one's sealing, oldest first, each with its states
    /// and their places in the journal.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn sealed_elsewhere(&self, staging: &CommandStaging) -> Result<Vec<(Id, Vec<(usize, JournalLine)>)>, Error> {
        let Journal { states, seals, .. } = staging.journal().map_err(at(staging.folder()))?;
        let is_made = |id: Id| !staging.made().contains(&id) && self.paths(id).is_ok();
        let made = seals.into_iter().filter(|sealed| sealed.kind == SealKind::Own && is_made(sealed.changeset));
        let state = |place: usize| Some((place, states.get(place)?.clone()));
        Ok(made.map(|sealed| (sealed.changeset, sealed.states.into_iter().filter_map(state).collect())).collect())
    }
}

/// Returns, for each state, the place of the next one of its path: what stood there then ends what is known of it.
pub(super) fn kept_again(states: &[JournalLine]) -> Vec<Option<usize>> {
    let mut next = HashMap::new();
    let mut again = vec![None; states.len()];
    for (place, state) in states.iter().enumerate().rev() {
        again[place] = next.get(state.path.as_str()).copied();
        if state.again {
            next.insert(state.path.as_str(), place);
        }
    }
    again
}
