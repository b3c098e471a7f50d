//! Commands that run at once: what they kept of the same paths is archived together, so that each one's part stands where
//! it happened, whichever ends first. The keeper of one that still runs keeps its paths anew from there on.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{Stores, part};
use crate::archive::staging::{CommandStaging, SealKind};
use crate::archive::{
    self, CommandChange, CommandChanges, Id, KeptAtOnce, Lock, NotUndone, SealIds, SealOrder, StateKey,
};
use crate::memory;

/// The parts of one sealing, each a changeset.
pub(super) struct SealParts {
    shared: KeptAtOnce,
    /// The states of each other command that are as they were.
    unchanged: Vec<Vec<(usize, String)>>,
    parts: std::vec::IntoIter<(SealPart, SealIds)>,
    /// The changeset of the last owner's last part.
    last: Option<Id>,
}

impl SealParts {
    /// Compares what the other commands kept, puts it in order with the changes of the last owner, and draws all ids: no
    /// other keeper begins anew before that.
    pub fn new(
        lock: &mut Lock,
        shared: KeptAtOnce,
        changes: Vec<CommandChange>,
        stores: Stores<'_>,
    ) -> Result<Self, archive::Error> {
        let compare = |(owner, staging)| {
            // What cannot be read is left to its own sealing.
            stores.archive.compare_among(stores.workspace, staging, (&shared, owner)).unwrap_or_default()
        };
        let compared: Vec<CommandChanges> = shared.others.iter().enumerate().map(compare).collect();
        let (others, unchanged): (Vec<_>, Vec<_>) =
            compared.into_iter().map(|compared| (compared.changes, compared.unchanged)).unzip();
        let parts = in_parts(others.into_iter().chain([changes]).collect(), &shared.owners());
        let mut with_ids = |part: SealPart| {
            let ids = stores.archive.draw_ids(lock, part.changes.len())?;
            Ok((part, ids))
        };
        let parts = parts.into_iter().map(&mut with_ids).collect::<Result<Vec<_>, archive::Error>>()?;
        let last = parts.iter().rev().find(|(part, _)| shared.is_last(part.owner)).map(|(_, ids)| ids.changeset());
        Ok(SealParts { shared, unchanged, parts: parts.into_iter(), last })
    }

    /// Returns the next part.
    pub fn next(&mut self) -> Option<(SealPart, SealIds)> {
        self.parts.next()
    }

    /// Notes for each command what the changesets of the others are to its states, before any is made: those that come
    /// before its own hold older states of the same paths, and states that are as they were are no change of its own.
    pub fn note_others(&mut self, own: &mut CommandStaging) {
        let mut notes = self.notes_of_unchanged();
        let parts = self.parts.as_slice();
        for (at, (part, _)) in parts.iter().enumerate() {
            for (earlier, ids) in parts[..at].iter().filter(|(earlier, _)| earlier.owner != part.owner) {
                let paths: HashSet<&str> = earlier.changes.iter().map(|change| change.entry.path.as_str()).collect();
                let later = part.changes.iter().filter(|change| paths.contains(change.entry.path.as_str()));
                let places = later.map(|change| change.place).collect();
                notes.push((part.owner, ids.changeset(), places, SealKind::Earlier));
            }
        }
        for (owner, changeset, places, kind) in notes.into_iter().filter(|(_, _, places, _)| !places.is_empty()) {
            let staging = self.shared.others.get_mut(owner).unwrap_or(own);
            // Without the note its own sealing takes the states for what they seem.
            let _ = staging.note(changeset, places, kind);
        }
    }

    /// Returns what the last owner's changeset is to the other commands' states that are as they were.
    fn notes_of_unchanged(&mut self) -> Vec<(usize, Id, Vec<usize>, SealKind)> {
        let Some(id) = self.last else { return Vec::new() };
        let mut notes = Vec::new();
        for (owner, unchanged) in std::mem::take(&mut self.unchanged).into_iter().enumerate() {
            let is_before = |(place, path): &(usize, String)| self.shared.is_before_last(owner, *place, path);
            let (met, earlier): (Vec<_>, Vec<_>) = unchanged.into_iter().partition(is_before);
            for (states, kind) in [(met, SealKind::Met), (earlier, SealKind::Earlier)] {
                notes.push((owner, id, states.into_iter().map(|(place, _)| place).collect(), kind));
            }
        }
        notes
    }

    /// Archives a part of another command, with the errors of memory. Where that fails its own sealing tries again.
    pub fn seal_other(
        &mut self,
        lock: &mut Lock,
        sealed: SealPart,
        ids: SealIds,
        stores: Stores<'_>,
    ) -> Vec<memory::Error> {
        let staging = &mut self.shared.others[sealed.owner];
        let Ok(info) = staging.info().map(|info| part::recorded(info, stores.memory)) else { return Vec::new() };
        let mut unrecorded = Vec::new();
        let sealing = SealOrder { ids: Some(ids), in_use: true, ..SealOrder::default() };
        if sealed.by_another {
            let of = (&info, &mut unrecorded);
            let _ = part::archive_earlier(lock, staging, &sealed.changes, sealing, of, stores);
            return unrecorded;
        }
        let not_undone = [NotUndone::new("derived folders", "what it changed there is not known")];
        let sealing = SealOrder { approved: info.approved.as_deref(), not_undone: &not_undone, ..sealing };
        let done = part::archive(lock, (staging, &info), &sealed.changes, sealing, stores);
        done.map(|(_, unrecorded)| unrecorded).unwrap_or_default()
    }
}

/// The states of commands that still run which a change is about to meet as they are.
pub(super) struct MetStates {
    shared: KeptAtOnce,
    unchanged: Vec<Vec<(usize, String)>>,
}

impl MetStates {
    /// Notes the changeset that met them.
    pub fn note(mut self, changeset: Id) {
        for (staging, unchanged) in self.shared.others.iter_mut().zip(self.unchanged) {
            let states: Vec<usize> = unchanged.into_iter().map(|(place, _)| place).collect();
            if !states.is_empty() {
                // Without the note its own sealing takes the states for what they seem.
                let _ = staging.note(changeset, states, SealKind::Met);
            }
        }
    }
}

/// Archives what commands that still run, and whose calls wait, did to paths that are about to be changed by nebula itself.
///
/// # Errors
/// When no id can be drawn.
pub(super) fn seal_before(
    lock: &mut Lock,
    paths: &HashSet<&str>,
    stores: Stores<'_>,
) -> Result<(MetStates, Vec<memory::Error>), archive::Error> {
    let shared = stores.archive.kept_at_once(None, paths)?;
    let mut unrecorded = Vec::new();
    if shared.others.is_empty() {
        return Ok((MetStates { shared, unchanged: Vec::new() }, unrecorded));
    }
    let mut parts = SealParts::new(lock, shared, Vec::new(), stores)?;
    while let Some((part, ids)) = parts.next() {
        unrecorded.extend(parts.seal_other(lock, part, ids, stores));
    }
    let SealParts { shared, unchanged, .. } = parts;
    Ok((MetStates { shared, unchanged }, unrecorded))
}

/// A changeset's share of the changes: a changeset holds one state of a path.
#[derive(Debug)]
pub(super) struct SealPart {
    /// The owner of the changes.
    pub owner: usize,
    /// The states after are ones that someone else left.
    pub by_another: bool,
    /// The changes.
    pub changes: Vec<CommandChange>,
}

/// Returns the changes of each owner in the order in which they are archived, the older states of each path first. Those of
/// the last owner are as few parts as can be.
fn in_parts(mut left: Vec<Vec<CommandChange>>, owners: &[Id]) -> Vec<SealPart> {
    let mut waiting: HashMap<String, VecDeque<StateKey>> = HashMap::new();
    for (owner, changes) in left.iter().enumerate() {
        for change in changes {
            let keys = waiting.entry(change.entry.path.clone()).or_default();
            let key = StateKey::behind(keys.back(), &change.entry, owners[owner], (owner, change.place));
            keys.push_back(key);
        }
    }
    waiting.values_mut().for_each(|keys| keys.make_contiguous().sort_unstable());
    let count = left.len();
    let mut parts = Vec::new();
    let next = |left: &mut Vec<Vec<CommandChange>>, waiting: &mut HashMap<String, VecDeque<StateKey>>| {
        let order = [true, false].into_iter().flat_map(|by_another| (0..count).map(move |owner| (owner, by_another)));
        order.into_iter().find_map(|(owner, by_another)| take_first(&mut left[owner], (owner, by_another), waiting))
    };
    while let Some(part) = next(&mut left, &mut waiting) {
        parts.push(part);
    }
    parts
}

/// Takes the changes of an owner before which no other state of their paths waits.
fn take_first(
    left: &mut Vec<CommandChange>,
    (owner, by_another): (usize, bool),
    waiting: &mut HashMap<String, VecDeque<StateKey>>,
) -> Option<SealPart> {
    let is_first = |change: &CommandChange| {
        let first = waiting.get(&change.entry.path).and_then(|keys| keys.front());
        change.by_another == by_another && first.is_some_and(|first| first.is_of(owner, change.place))
    };
    let (changes, rest): (Vec<_>, Vec<_>) = std::mem::take(left).into_iter().partition(is_first);
    *left = rest;
    for change in &changes {
        waiting.get_mut(&change.entry.path).and_then(VecDeque::pop_front);
    }
    (!changes.is_empty()).then_some(SealPart { owner, by_another, changes })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::archive::restore::state_sha;
    use crate::archive::staging::{CommandInfo, JournalLine, StagedKind};
    use crate::execute::command::seal;
    use crate::execute::execute;
    use crate::execute::testing::World;
    use crate::memory::{ChangesetCause, NewMessage, NewSession, StoredRole};
    use crate::proposal::{Consent, Decision, FileChange, Proposal, ProposalId, State};

    /// Keeps a state of the file `a`, so many milliseconds after a second ago.
    fn keep(staging: &mut CommandStaging, state: &str, after: i64) {
        let (file, name) = staging.new_name();
        fs::write(file, state).expect("written");
        let (path, kind, inode) = ("a".into(), StagedKind::File, JournalLine::COPY);
        let kept = crate::text::time::now() - 1_000 + after;
        let line = JournalLine { path, kind, mode: 0o600, staged: Some(name), inode, kept, again: false, within: 0 };
        staging.add(&line).expect("added");
    }

    /// Returns the states of `a` that the archive holds, oldest first, each with what its changeset is called.
    fn states(w: &World) -> Vec<(String, String)> {
        let mut ids = w.archive.list().expect("listed");
        ids.sort();
        let one = |id: Id| {
            let version = w.archive.version_in("a", id).expect("read").expect("a version");
            let state = w.archive.show(&version).expect("read").text().expect("text").to_string();
            let record = w.memory.changeset(&w.stores().project(), &id.to_string()).expect("read").expect("known");
            (state, record.cause.title)
        };
        ids.into_iter().map(one).collect()
    }

    /// Returns a command of a turn of a session of its own.
    fn of_turn(w: &World, command: &str) -> CommandInfo {
        let session = NewSession { project: w.stores().project(), model: "m".into(), ..NewSession::default() };
        let session = w.memory.create(&session).expect("made");
        let turn = w.memory.append(&session, &NewMessage::text(StoredRole::User, "prompt")).expect("stored");
        let approved = Some("policy review".into());
        CommandInfo { session: Some(session), turn: Some(turn), approved, ..named(command) }
    }

    #[test]
    fn all_that_commands_at_work_on_one_file_did_is_of_their_turns_whoever_archives_it() {
        let w = World::with("four");
        fs::set_permissions(w.workspace.full("a"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("set");
        let infos = ["A", "B"].map(|name| of_turn(&w, name));
        // The other's process had not stored its message when it noted that.
        let unstored = CommandInfo { turn: Some((1 << 60) + 7), message: Some((1 << 60) + 8), ..infos[1].clone() };
        let mut first = w.archive.stage(&infos[0]).expect("staged");
        let mut other = w.archive.stage(&unstored).expect("staged");
        keep(&mut first, "none", 0);
        keep(&mut other, "one", 10);
        // The other one's second change was not seen by its own keeper.
        for (state, after) in [("two", 400), ("three", 800)] {
            let (file, name) = first.new_name();
            fs::write(file, state).expect("written");
            let mut line = first.journal().expect("read").states.remove(0);
            (line.staged, line.again, line.kept) = (Some(name), true, line.kept + after);
            first.add(&line).expect("added");
        }
        let cause = |id: Id| {
            let record = w.memory.changeset(&w.stores().project(), &id.to_string()).expect("read").expect("known");
            (record.cause, record.files[0].added)
        };
        let sealed = seal(&mut first, &infos[0], &[], w.stores()).expect("sealed");
        assert_eq!((sealed.changeset.is_some(), sealed.earlier.len()), (true, 2));
        let expected = [("none", "A"), ("one", "B"), ("two", "A"), ("three", "A")];
        assert_eq!(states(&w), expected.map(|(state, by)| (state.to_string(), by.to_string())));
        let mut ids = w.archive.list().expect("listed");
        ids.sort();
        let [a, b] = &infos;
        for (n, (id, of)) in ids.iter().zip([a, b, a, a]).enumerate() {
            let (cause, added) = cause(*id);
            let turn = of.turn.filter(|_| n != 1);
            assert_eq!((cause.session, cause.turn, cause.message), (of.session.clone(), turn, None), "{n}");
            assert_eq!((cause.approved, added), (of.approved.clone(), Some(1)), "{n}");
        }
        // Its own process knows the turn, and the result names what is archived already.
        let sealed = seal(&mut other, b, &[], w.stores()).expect("sealed");
        let files: Vec<_> = sealed.changes.changes.iter().map(|c| (c.entry.path.as_str(), c.counts.added)).collect();
        assert_eq!((sealed.changeset, sealed.earlier.len(), files), (Some(ids[1]), 0, vec![("a", 1)]));
        assert_eq!(cause(ids[1]).0.turn, b.turn);
        assert_eq!(states(&w).len(), expected.len());
    }

    fn named(command: &str) -> CommandInfo {
        CommandInfo { command: command.into(), ..CommandInfo::default() }
    }

    #[test]
    fn which_of_two_commands_kept_a_path_first_in_one_millisecond_is_known() {
        let w = World::with("two");
        fs::set_permissions(w.workspace.full("a"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("set");
        let mut commands = ["A", "B"].map(|name| (w.archive.stage(&named(name)).expect("staged"), named(name)));
        let kept = crate::text::time::now() - 1_000;
        for (at, (state, within)) in [("one", 900), ("none", 100)].into_iter().enumerate() {
            let staging = &mut commands[at].0;
            let (file, name) = staging.new_name();
            fs::write(file, state).expect("written");
            let (path, kind, inode) = ("a".into(), StagedKind::File, JournalLine::COPY);
            let line = JournalLine { path, kind, mode: 0o600, staged: Some(name), inode, kept, again: false, within };
            staging.add(&line).expect("added");
        }
        let [(ending, info), _] = &mut commands;
        seal(ending, info, &[], w.stores()).expect("sealed");
        assert_eq!(states(&w), [("none", "B"), ("one", "A")].map(|(state, by)| (state.to_string(), by.to_string())));
    }

    #[test]
    fn what_two_commands_kept_of_a_path_stands_in_the_order_of_keeping_whichever_ends_first() {
        for first_ends_first in [false, true] {
            let w = World::with("two");
            fs::set_permissions(w.workspace.full("a"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
                .expect("set");
            let mut commands = ["A", "B"].map(|name| (w.archive.stage(&named(name)).expect("staged"), named(name)));
            keep(&mut commands[0].0, "none", 0);
            keep(&mut commands[1].0, "one", 10);
            if !first_ends_first {
                commands.reverse();
            }
            let [(ending, info), (going_on, other)] = &mut commands;
            let sealed = seal(ending, info, &[], w.stores()).expect("sealed");
            assert_eq!((sealed.changeset.is_some(), sealed.earlier.len()), (true, 0));
            let expected = [("none", "A"), ("one", "B")].map(|(state, by)| (state.to_string(), by.to_string()));
            assert_eq!(states(&w), expected, "the first ends first: {first_ends_first}");
            let now = state_sha(&State::file(&b"two"[..]));
            assert!(w.memory.written(&w.stores().project(), "a").expect("read").expect("known").is(now));
            assert_eq!(going_on.sealed_by_another(&w.archive).expect("read"), ["a"], "its keeper begins anew");
            assert_eq!(going_on.sealed_by_another(&w.archive).expect("read"), [""; 0], "once");
            let mut line = going_on.journal().expect("read").states.remove(0);
            let (file, name) = going_on.new_name();
            fs::write(file, "two").expect("written");
            (line.staged, line.again, line.kept) = (Some(name), true, 0);
            going_on.add(&line).expect("added");
            fs::write(w.workspace.full("a"), "three").expect("written");
            let sealed = seal(going_on, other, &[], w.stores()).expect("sealed");
            assert_eq!((sealed.changeset.is_some(), sealed.earlier.len()), (true, 1));
            let last = ("two".to_string(), other.command.clone());
            assert_eq!(states(&w), [&expected[..], &[last]].concat());
        }
    }

    #[test]
    fn a_command_that_has_not_changed_what_it_kept_is_given_nothing_of_the_others() {
        for kept_first in [true, false] {
            let w = World::with("two");
            fs::set_permissions(w.workspace.full("a"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
                .expect("set");
            let mut idle = w.archive.stage(&named("idle")).expect("staged");
            let mut busy = w.archive.stage(&named("busy")).expect("staged");
            keep(&mut idle, if kept_first { "one" } else { "two" }, if kept_first { 0 } else { 20 });
            keep(&mut busy, "one", 10);
            seal(&mut busy, &named("busy"), &[], w.stores()).expect("sealed");
            assert_eq!(states(&w), [("one".to_string(), "busy".to_string())]);
            let anew = idle.sealed_by_another(&w.archive).expect("read");
            assert_eq!(anew.len(), usize::from(kept_first), "what it kept is not what is there");
            let sealed = seal(&mut idle, &named("idle"), &[], w.stores()).expect("sealed");
            assert_eq!((sealed.changeset, sealed.earlier), (None, Vec::new()), "kept first: {kept_first}");
        }
    }

    #[test]
    fn a_keeper_begins_anew_for_a_changeset_that_is_made_and_for_no_other() {
        let w = World::with("two");
        fs::set_permissions(w.workspace.full("a"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("set");
        let mut idle = w.archive.stage(&named("idle")).expect("staged");
        let mut busy = w.archive.stage(&named("busy")).expect("staged");
        keep(&mut idle, "one", 0);
        keep(&mut busy, "one", 10);
        // The sealing fails once it is announced.
        let fails = |step: &str| match step {
            "seal: versions" => Err(std::io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        };
        let failing = w.archive.clone().with_probe(Arc::new(fails));
        seal(&mut busy, &named("busy"), &[], w.stores_with(&failing)).expect_err("it fails");
        assert_eq!(idle.sealed_by_another(&w.archive).expect("read"), [""; 0]);
        // That one never comes: whoever holds the lock is not waited for again.
        let mut other = CommandStaging::open(idle.folder()).expect("opened");
        other.note(crate::archive::Id::MIN, Vec::new(), SealKind::Earlier).expect("noted");
        let (held, begun) = (w.archive.lock().expect("locked"), std::time::Instant::now());
        assert_eq!(idle.sealed_by_another(&w.archive).expect("read"), [""; 0]);
        assert!(begun.elapsed() < std::time::Duration::from_secs(10), "it waits");
        drop((held, other));
        // Between the announcement and the changeset it is waited for.
        let (archive, keeper) = (w.archive.clone(), Mutex::new(Some(idle)));
        let (looking, looks) = std::sync::mpsc::channel();
        let look = move |step: &str| {
            let first = (step == "seal: versions").then(|| keeper.lock().expect("whole").take());
            if let Some(mut keeper) = first.flatten() {
                let archive = archive.clone();
                let look = std::thread::spawn(move || keeper.sealed_by_another(&archive));
                looking.send(look).expect("waited for");
            }
            Ok(())
        };
        let looked_at = w.archive.clone().with_probe(Arc::new(look));
        seal(&mut busy, &named("busy"), &[], w.stores_with(&looked_at)).expect("sealed");
        let look = looks.recv().expect("a look");
        assert_eq!(look.join().expect("whole").expect("read"), ["a"]);
    }

    #[test]
    fn a_command_waits_until_nebulas_own_change_is_written() {
        let w = World::with("two");
        let mut staging = w.archive.stage(&named("A")).expect("staged");
        keep(&mut staging, "one", 0);
        let file = FileChange::new("a", State::file(&b"two"[..]), State::file(&b"three"[..]), "test", &[]);
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files: vec![file] };
        let decision = Decision::accept(&proposal, Consent::Person);
        let decided = proposal.decide(&decision).expect("it fits").expect("accepted");
        let (archive, keeper) = (w.archive.clone(), Mutex::new(Some(staging)));
        let (looking, looks) = std::sync::mpsc::channel();
        // What the command kept is read by then, and nothing is made of it yet.
        let look = move |step: &str| {
            let first = (step == "seal: versions").then(|| keeper.lock().expect("whole").take());
            if let Some(mut keeper) = first.flatten() {
                let archive = archive.clone();
                let look = move || keeper.sealed_by_another(&archive).map(|paths| (paths, archive.list()));
                looking.send(std::thread::spawn(look)).expect("waited for");
            }
            Ok(())
        };
        let looked_at = w.archive.clone().with_probe(Arc::new(look));
        execute(&decided, ChangesetCause::default(), w.stores_with(&looked_at)).applied.expect("written");
        let (paths, made) = looks.recv().expect("a look").join().expect("whole").expect("read");
        assert_eq!((paths, made.expect("listed").len()), (vec!["a".to_string()], 2), "it looks once all is written");
        assert_eq!(states(&w), [("one", "A"), ("two", "")].map(|(state, by)| (state.to_string(), by.to_string())));
    }

    #[test]
    fn what_a_command_did_stands_before_a_change_of_nebulas_own() {
        let w = World::with("one");
        let mut staging = w.archive.stage(&named("A")).expect("staged");
        keep(&mut staging, "none", 0);
        let mut lock = w.archive.lock().expect("locked");
        let (met, unrecorded) = seal_before(&mut lock, &["a"].into(), w.stores()).expect("sealed");
        assert!(unrecorded.is_empty());
        let state = State::file(&b"one"[..]);
        let edit =
            w.archive.record(&mut lock, &[("a", &state).into()], None).expect("archived").changeset.expect("one");
        drop(lock);
        met.note(edit);
        let version = |id| w.archive.version_in("a", id).expect("read").expect("a version");
        let ids = w.archive.list().expect("listed");
        let texts: Vec<_> = ids.iter().rev().map(|id| w.archive.show(&version(*id)).expect("read")).collect();
        let texts: Vec<_> = texts.iter().map(|state| state.text().expect("text")).collect();
        assert_eq!(texts, ["none", "one"]);
        fs::write(w.workspace.full("a"), "two").expect("written");
        let sealed = seal(&mut staging, &named("A"), &[], w.stores()).expect("sealed");
        assert_eq!((sealed.changeset, sealed.earlier.len()), (Some(ids[1]), 0), "the rest is the edit's");
    }
}
