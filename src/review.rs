//! The review queue: changes that nobody approved beforehand wait until the person keeps or restores them.
//!
//! The queue is not stored: a changeset says who approved it, in the archive and in memory, so an entry is there as soon as
//! its changeset is, whatever is killed afterwards. Memory stores the decisions alone.

mod chains;
mod change;
mod discarded;
mod restored;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

pub use change::{OUTSIDE, ReviewChanges, changes, left_by_undo, repository_words, undo, whole_folders};
pub use restored::{RestoredPaths, RestoredRest, folder_waits, is_undone_where_written, record_restored};

use self::chains::{EntryChains, is_as_before};
use self::discarded::DiscardedPaths;
use crate::archive::{self, Id, ModeChanges, RestoreError, RestoreTarget};
use crate::execute::Stores;
use crate::memory::{self, ChangesetListing, ChangesetRecord, ChangesetState, ReviewDecision, StatesAround};
use crate::proposal::Consent;
use crate::restore_plan::{self, RestoreScope};
use crate::text::clean::clean_line;
use crate::text::sentence::first_words;

/// The most characters of an entry's title in a reason.
const TITLE: usize = 40;

/// A change that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewEntry {
    /// Its changeset.
    pub id: Id,
    /// `edit`, `command`; empty where memory does not know it.
    pub kind: String,
    /// Its cause, in words.
    pub title: String,
    /// The session, and the message that began the turn.
    pub turn: Option<(String, i64)>,
    /// The one who let it happen, in words.
    pub approved: String,
    /// Its files.
    pub files: Vec<ReviewFile>,
}

/// A file of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewFile {
    /// Normalised path.
    pub path: String,
    /// Lines added and removed, where they were counted.
    pub lines: Option<(u64, u64)>,
}

/// The reason why the queue cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// Memory cannot be read.
    #[error(transparent)]
    Memory(#[from] memory::Error),
    /// Nothing can be restored.
    #[error(transparent)]
    Restore(#[from] RestoreError),
}

/// The changes that wait.
#[derive(Debug, Default)]
pub struct ReviewQueue {
    /// The entries, oldest first.
    pub entries: Vec<ReviewEntry>,
    /// The errors of changesets that cannot be read: they may wait, too.
    pub unreadable: Vec<archive::Error>,
    /// Entries that wait no more, as someone discarded them outside nebula.
    pub discarded: Vec<Id>,
    /// The paths of all such entries: they wait again where their work is brought back.
    pub discarded_paths: Vec<String>,
}

impl ReviewQueue {
    /// Leaves out entries that were discarded, of these with their paths.
    fn leave_out(&mut self, discarded: Vec<Id>, of: &[(Id, Vec<&str>)]) {
        let paths = of.iter().filter(|(id, _)| discarded.contains(id)).flat_map(|(_, paths)| paths);
        self.discarded_paths.extend(paths.map(|path| path.to_string()));
        self.discarded = discarded;
    }
}

/// Returns the changes that wait. One whose files are all back to their states before waits no more, nor does one that was
/// discarded or undone, whatever changed its files afterwards, until that undo is undone. Those that brought a file back to
/// what it was before the first of them leave together.
///
/// # Errors
/// When archive or memory cannot be read.
pub fn open(stores: Stores<'_>) -> Result<ReviewQueue, ReviewError> {
    let project = stores.project();
    let (known, reviewed) = (stores.memory.listing(&project)?, stores.memory.reviewed(&project)?);
    let (restores, ids) = restores_and_ids(&project, stores)?;
    let decisive = DecisiveRestores::find(&reviewed, &known, &restores);
    let mut queue = ReviewQueue::default();
    let modes = ModeChanges::new(stores.archive);
    let mut chains = EntryChains::new(stores, &modes);
    let mut discarded: Option<DiscardedPaths> = None;
    for id in ids.iter().rev().copied() {
        let name = id.to_string();
        let record = known.find(&name);
        // What it was to change was put back: nothing of it waits.
        if record.is_some_and(|record| record.state == ChangesetState::Failed) {
            continue;
        }
        let Some(approved) = unasked((id, record), &mut queue.unreadable, stores) else { continue };
        let decision = reviewed.get(&name);
        if decision.is_some_and(|(decision, _)| *decision == ReviewDecision::Keep) {
            continue;
        }
        let files = files_of(id, &known, &mut queue.unreadable, stores);
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let discarded = match &mut discarded {
            Some(found) => found,
            none => none.insert(DiscardedPaths::since(id, stores)?),
        };
        let is_decided = decision.is_some_and(|(decision, at)| {
            *decision != ReviewDecision::Discard || !discarded.came_back((&name, &paths), *at, stores)
        });
        if is_decided && decision.is_some_and(|(decision, _)| *decision == ReviewDecision::Discard) {
            queue.discarded_paths.extend(paths.iter().map(|path| path.to_string()));
        }
        let restored = is_decided.then(|| decisive.of.get(name.as_str()).copied());
        let since = restored_since(&name, restored.flatten(), (&restores, &decisive), stores)?;
        // Where the restore was undone, it waits again.
        let again = |by: &str| {
            let looked = (stores, &modes);
            since.values().any(|back| !back) || is_undone(by, &paths, (&restores, &decisive), looked)
        };
        // Of what its restore did not write nothing is decided.
        let is_whole = decision.is_some_and(|(decision, _)| *decision != ReviewDecision::RestoreWritten);
        let is_gone = is_whole && restored.is_some_and(|by| !by.is_some_and(again));
        let is_back = |path: &str| since.get(path) == Some(&true) || discarded.is_over(&name, path, (stores, &modes));
        chains.add(id, &paths, |path| is_gone || is_back(path))?;
        let cause = record.map(|record| record.cause.clone()).unwrap_or_default();
        let turn = cause.session.zip(cause.turn);
        queue.entries.push(ReviewEntry { id, kind: cause.kind, title: cause.title, turn, approved, files });
    }
    let (entries, waits) = (std::mem::take(&mut queue.entries), chains.waits());
    let (waiting, gone): (Vec<_>, Vec<_>) = entries.into_iter().zip(waits).partition(|(_, waits)| *waits);
    queue.entries = waiting.into_iter().map(|(entry, _)| entry).collect();
    if let Some(discarded) = discarded {
        let undecided = gone.iter().filter(|(entry, _)| !reviewed.contains_key(&entry.id.to_string()));
        let with_paths = undecided.map(|(entry, _)| (entry.id, entry.files.iter().map(|file| &*file.path).collect()));
        let undecided: Vec<(Id, Vec<&str>)> = with_paths.collect();
        queue.leave_out(discarded.gone(&undecided, (stores, &modes)), &undecided);
    }
    Ok(queue)
}

/// Returns the states around what was undone or redone, and what is archived, newest first. What is newer than all of that was
/// done before the project was put back to an earlier state.
fn restores_and_ids(project: &str, stores: Stores<'_>) -> Result<(Vec<StatesAround>, Vec<Id>), ReviewError> {
    let mut restores = stores.memory.restored_states(project)?;
    let ids = stores.archive.list()?;
    let newest = ids.first().map(Id::to_string).unwrap_or_default();
    restores.retain(|restore| restore.changeset <= newest);
    Ok((restores, ids))
}

/// Records the entries that were discarded, so that they wait no more when their files change again. A memory that cannot be
/// written is looked at anew the next time.
pub fn record_discarded(queue: &ReviewQueue, stores: Stores<'_>) {
    let names: Vec<String> = queue.discarded.iter().map(Id::to_string).collect();
    if !names.is_empty() {
        let _ = stores.memory.review(&stores.project(), &names, ReviewDecision::Discard, None);
    }
}

/// Returns who let a changeset happen, where nobody was asked.
fn unasked(
    (id, record): (Id, Option<&ChangesetRecord>),
    unreadable: &mut Vec<archive::Error>,
    stores: Stores<'_>,
) -> Option<String> {
    let approved = match record {
        Some(record) => record.cause.approved.clone(),
        // Its process died before memory knew.
        None => stores.archive.approved(id).map_err(|error| unreadable.push(error)).ok().flatten(),
    };
    approved.filter(|who| Consent::is_unasked(who))
}

/// Returns the files of a changeset, as memory knows them, else the archive.
fn files_of(
    id: Id,
    known: &ChangesetListing,
    unreadable: &mut Vec<archive::Error>,
    stores: Stores<'_>,
) -> Vec<ReviewFile> {
    let mut files: Vec<ReviewFile> = known
        .files(&id.to_string())
        .map(|file| ReviewFile { path: file.path.into(), lines: file.added.zip(file.removed) })
        .collect();
    if files.is_empty() {
        match stores.archive.paths(id) {
            Ok(paths) => files.extend(paths.into_iter().map(|path| ReviewFile { path, lines: None })),
            Err(error) => unreadable.push(error),
        }
    }
    files
}

/// The restores by which decisions to restore were carried out.
struct DecisiveRestores<'a> {
    /// Each by the name of what was decided; none where nothing of it was left.
    of: HashMap<&'a str, &'a str>,
    /// The ones of entries that undid no other restore, whatever states they have led to.
    of_entries: HashSet<&'a str>,
}

impl<'a> DecisiveRestores<'a> {
    /// Finds them, as the last restore of a file before each decision was recorded.
    fn find(
        reviewed: &'a BTreeMap<String, (ReviewDecision, i64)>,
        known: &ChangesetListing,
        restores: &'a [StatesAround],
    ) -> Self {
        let is_restore = |decision| matches!(decision, ReviewDecision::Restore | ReviewDecision::RestoreWritten);
        let decided = reviewed.iter().filter(|(_, (decision, _))| is_restore(*decision));
        let by = decided.filter_map(|(name, (_, at))| {
            let paths: HashSet<&str> = known.files(name).map(|file| file.path).collect();
            let in_time =
                |restore: &str| restore > name.as_str() && Id::parse(restore).is_some_and(|id| id.at() <= *at);
            let by = restores.iter().rfind(|restore| paths.contains(&*restore.path) && in_time(&restore.changeset))?;
            Some((name.as_str(), by.changeset.as_str()))
        });
        let of: HashMap<&str, &str> = by.collect();
        let restores: HashSet<&str> = restores.iter().map(|restore| restore.changeset.as_str()).collect();
        let (undoing, of_entries): (Vec<_>, Vec<_>) = of.iter().partition(|(name, _)| restores.contains(**name));
        let mut of_entries: HashSet<&str> = of_entries.into_iter().map(|(_, by)| *by).collect();
        for (_, by) in undoing {
            of_entries.remove(by);
        }
        DecisiveRestores { of, of_entries }
    }

    /// Returns whether a restore may be the undo of another one.
    fn may_undo(&self, restore: &StatesAround) -> bool {
        !self.of_entries.contains(restore.changeset.as_str())
    }
}

/// Returns the paths of an entry that a restore has brought back since, each with whether it stayed so: false where that
/// restore was undone. `by`: the restore that was recorded for the entry; what it wrote counts as brought back.
fn restored_since<'a>(
    entry: &str,
    by: Option<&str>,
    (restores, decisive): (&'a [StatesAround], &DecisiveRestores<'_>),
    stores: Stores<'_>,
) -> Result<HashMap<&'a str, bool>, memory::Error> {
    let mut since = HashMap::new();
    let restores = restores.iter().filter(|restore| restore.changeset.as_str() > entry);
    let mut restores = restores.peekable();
    if restores.peek().is_none() {
        return Ok(since);
    }
    let own = stores.memory.changed_states(&stores.project(), entry)?;
    let own: HashMap<&str, &StatesAround> = own.iter().map(|state| (state.path.as_str(), state)).collect();
    // By path and the state that it met: the restore that met it last, and whether that brought the entry's file back.
    let mut met: HashMap<(&str, &[u8]), bool> = HashMap::new();
    for restore in restores {
        let path = restore.path.as_str();
        let Some(own) = own.get(path) else { continue };
        // What was restored of another entry says nothing of this one, though it may lead to a state from before it.
        if by != Some(restore.changeset.as_str()) && !decisive.may_undo(restore) {
            met.extend(restore.before.as_deref().map(|before| ((path, before), false)));
            continue;
        }
        // A change of the mode alone has the same bytes before and after it: its undo is not seen by them.
        let is_back = restore.after.is_some() && restore.after == own.before && own.before != own.after;
        let stays = since.get(path) == Some(&true);
        // It undoes the restore that met last what it leaves: that of another change says nothing of the entry.
        let undoes = restore.after.as_deref().and_then(|after| met.get(&(path, after))) == Some(&true);
        let undoes = undoes && stays && !is_back && by != Some(restore.changeset.as_str());
        let brings_back = !stays && (is_back || by == Some(restore.changeset.as_str()));
        if brings_back || undoes {
            since.insert(path, brings_back);
        }
        if let Some(before) = &restore.before {
            met.insert((path, before), brings_back);
        }
    }
    Ok(since)
}

/// Returns the changesets that a restore, which is not carried out yet, undoes as a whole; one of single files or versions
/// undoes none.
///
/// # Errors
/// When the archive cannot be read.
pub fn undone_by(target: &RestoreTarget, stores: Stores<'_>) -> Result<Vec<Id>, archive::Error> {
    Ok(match target {
        RestoreTarget::Changesets(ids) => ids.clone(),
        RestoreTarget::Since(first) => stores.archive.list()?.into_iter().filter(|id| id >= first).collect(),
        RestoreTarget::Undo { count: 1, files } if files.is_empty() => {
            restore_plan::newest(stores)?.into_iter().collect()
        }
        RestoreTarget::Undo { .. } | RestoreTarget::Version { .. } => Vec::new(),
    })
}

/// Returns whether a restore that changed no bytes of these files, but modes or folders, was undone: a later one was of a
/// file that is again as it was before. What changed bytes is followed by them.
fn is_undone(
    by: &str,
    paths: &[&str],
    (restores, decisive): (&[StatesAround], &DecisiveRestores<'_>),
    looked: (Stores<'_>, &ModeChanges<'_>),
) -> bool {
    let Some(id) = Id::parse(by) else { return false };
    let paths: HashSet<&str> = paths.iter().copied().collect();
    let is_of_bytes = |restore: &StatesAround| {
        let (before, after) = (&restore.before, &restore.after);
        before.is_some() && after.is_some() && before != after
    };
    let mut restores = restores.iter().filter(|restore| paths.contains(restore.path.as_str()));
    let is_clear = restores.clone().any(|restore| restore.changeset == by && is_of_bytes(restore));
    let may_undo = |restore: &StatesAround| restore.changeset.as_str() > by && decisive.may_undo(restore);
    !is_clear && restores.any(|restore| may_undo(restore) && is_as_before(&restore.path, id, looked))
}

/// Returns the entries that are named: `all`, or ids by a unique beginning.
///
/// # Errors
/// The name that is of no entry, or of several.
pub fn named<'a>(open: &'a [ReviewEntry], names: &[String]) -> Result<Vec<&'a ReviewEntry>, String> {
    let mut found: Vec<&ReviewEntry> = Vec::new();
    for name in names {
        if name == "all" {
            return Ok(open.iter().collect());
        }
        let mut met = open.iter().filter(|entry| entry.id.to_string().starts_with(name.as_str()));
        match (met.next(), met.next()) {
            (Some(entry), None) => found.push(entry),
            (None, _) => return Err(format!("no change that waits begins with {name}: `nebula review` lists them")),
            (Some(_), Some(_)) => return Err(format!("several changes begin with {name}: write more of the id")),
        }
    }
    found.sort_by_key(|entry| entry.id);
    found.dedup_by_key(|entry| entry.id);
    Ok(found)
}

/// Returns the scope of the restore of some of the entries that wait.
pub fn scope(ids: &[Id], waiting: &[ReviewEntry]) -> RestoreScope {
    let waiting = later_paths(ids, waiting).into_keys().map(String::from).collect();
    RestoreScope::Reviewed { ids: ids.iter().map(Id::to_string).collect(), waiting }
}

/// Returns the paths that entries after the first of these changed, without these, each with the newest of them.
pub fn later_paths<'e>(ids: &[Id], waiting: &'e [ReviewEntry]) -> BTreeMap<&'e str, &'e ReviewEntry> {
    let own: BTreeSet<&Id> = ids.iter().collect();
    let later = waiting.iter().filter(|entry| own.first().is_some_and(|first| **first < entry.id));
    let others = later.filter(|entry| !own.contains(&entry.id));
    others.flat_map(|entry| entry.files.iter().map(move |file| (file.path.as_str(), entry))).collect()
}

/// Returns that an entry has to be restored before another one can be.
pub fn before_it(entry: &ReviewEntry) -> String {
    format!("restore {} ({}) first", entry.id, clean_line(&first_words(&entry.title, TITLE)))
}

#[cfg(test)]
mod tests;
