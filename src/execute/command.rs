//! The end of a command: the states that its keeper staged become a changeset, which is recorded in memory.

use std::collections::HashSet;

use super::Stores;
use super::at_once::SealParts;
use super::part::{archive, archive_earlier, take_up};
use crate::archive::staging::{CommandInfo, CommandStaging};
use crate::archive::{self, CommandChanges, NotUndone, SealOrder};

pub use super::part::{SealedCommand, cause, recorded};

/// Archives what is staged and empties the staging folder: one changeset, which keeps what an undo of it does not bring
/// back, and one before it for each state of a path that someone else changed meanwhile. What other commands that still
/// run kept of the same paths is archived with it, in the order in which it was kept.
///
/// # Errors
/// When the archive refuses: the states then stay staged.
pub fn seal(
    staging: &mut CommandStaging,
    info: &CommandInfo,
    not_undone: &[NotUndone],
    stores: Stores<'_>,
) -> Result<SealedCommand, archive::Error> {
    let mut lock = stores.archive.lock()?;
    let mut shared = stores.archive.kept_at_once(Some(staging), &HashSet::new())?;
    if !shared.others.is_empty() {
        stores.archive.let_calls_wait(&mut lock, Some(staging));
        shared = stores.archive.kept_at_once(Some(staging), &HashSet::new())?;
    }
    let mut sealed = take_up((staging, info), stores)?;
    let own = shared.others.len();
    let CommandChanges { changes, unread, .. } =
        stores.archive.compare_among(stores.workspace, staging, (&shared, own))?;
    sealed.changes.unread = unread;
    let mut parts = SealParts::new(&mut lock, shared, changes, stores)?;
    parts.note_others(staging);
    let unread = sealed.changes.unread.iter().map(|(path, why)| NotUndone::new(path, why));
    let not_undone: Vec<NotUndone> = not_undone.iter().cloned().chain(unread).collect();
    while let Some((part, ids)) = parts.next() {
        if part.owner != own {
            sealed.unrecorded.extend(parts.seal_other(&mut lock, part, ids, stores));
            continue;
        }
        let sealing = SealOrder { ids: Some(ids), ..SealOrder::default() };
        if part.by_another {
            let of = (info, &mut sealed.unrecorded);
            sealed.earlier.push(archive_earlier(&mut lock, staging, &part.changes, sealing, of, stores)?);
            continue;
        }
        let sealing = SealOrder { approved: info.approved.as_deref(), not_undone: &not_undone, ..sealing };
        let (id, unrecorded) = archive(&mut lock, (staging, info), &part.changes, sealing, stores)?;
        sealed.unrecorded.extend(unrecorded);
        let part = SealedCommand {
            changeset: Some(id),
            changes: CommandChanges { changes: part.changes, ..CommandChanges::default() },
            ..SealedCommand::default()
        };
        sealed = SealedCommand::of_parts(vec![sealed, part]);
    }
    let emptied = staging.empty();
    emptied.map_err(|source| archive::Error::Io { path: staging.folder().to_path_buf(), source })?;
    Ok(sealed)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::archive::Archive;
    use crate::execute::testing::World;

    #[test]
    fn states_in_rounds_are_archived_once_wherever_a_sealing_is_cut_off() {
        const STEPS_OF_THREE: usize = 12;
        for cut in 0..=STEPS_OF_THREE {
            let w = World::with("now");
            let mut staging = w.stage(&CommandInfo::default(), &["first", "second", "third"]);
            let steps = AtomicUsize::new(0);
            let cuts = move |step: &str| {
                let n = step.starts_with("seal:").then(|| steps.fetch_add(1, Ordering::Relaxed));
                if n == Some(cut) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
            };
            let cutting = w.archive.clone().with_probe(Arc::new(cuts));
            let mut seal =
                |archive: &Archive| super::seal(&mut staging, &CommandInfo::default(), &[], w.stores_with(archive));
            assert_eq!(seal(&cutting).is_ok(), cut == STEPS_OF_THREE, "{cut}");
            seal(&w.archive).expect("sealed");
            let mut states: Vec<String> = Vec::new();
            for id in w.archive.list().expect("listed") {
                let version = w.archive.version_in("a", id).expect("read").expect("a version");
                states.push(w.archive.show(&version).expect("read").text().expect("text").to_string());
            }
            assert_eq!(states, ["third", "second", "first"], "cut at step {cut}");
            assert_eq!(seal(&w.archive).expect("sealed").changeset, None, "nothing is left");
        }
    }

    #[test]
    fn what_someone_else_saved_is_not_the_commands_to_take_back() {
        for (now, changeset) in [("second", false), ("third", true)] {
            let w = World::with(now);
            fs::set_permissions(w.workspace.full("a"), fs::Permissions::from_mode(0o600)).expect("set");
            let mut staging = w.stage(&CommandInfo::default(), &["first", "second"]);
            let info = CommandInfo { turn: Some(1), approved: Some("policy review".into()), ..CommandInfo::default() };
            let sealed = super::seal(&mut staging, &info, &[], w.stores()).expect("sealed");
            assert_eq!(sealed.changeset.is_some(), changeset, "{now}");
            let [earlier] = sealed.earlier[..] else { panic!("{:?}", sealed.earlier) };
            let record = w.memory.changeset(&w.stores().project(), &earlier.to_string()).expect("read").expect("known");
            assert_eq!((record.cause.turn, record.cause.approved, record.files[0].added), (None, None, None));
            assert_eq!(w.archive.approved(earlier).expect("read"), None);
            // What nobody of nebula's wrote is kept by an undo.
            assert_eq!(w.memory.written(&w.stores().project(), "a").expect("read").is_some(), changeset, "{now}");
        }
    }

    #[test]
    fn what_the_command_had_left_before_someone_else_changed_it_is_its_own_and_waits() {
        for (now, parts) in [("left by another", 1), ("more", 2)] {
            let w = World::with(now);
            fs::set_permissions(w.workspace.full("a"), fs::Permissions::from_mode(0o600)).expect("set");
            let info = CommandInfo { turn: Some(1), approved: Some("policy review".into()), ..CommandInfo::default() };
            let mut staging = w.stage(&info, &["first"]);
            let mut line = staging.journal().expect("read").states.remove(0);
            let [left, found] = ["left", "left by another"].map(|text| {
                let (file, name) = staging.new_name();
                fs::write(file, text).expect("written");
                name
            });
            staging.add_left("a", Some((left, 0o600))).expect("added");
            (line.staged, line.again, line.kept) = (Some(found), true, crate::text::time::now());
            staging.add(&line).expect("added");
            let sealed = super::seal(&mut staging, &info, &[], w.stores()).expect("sealed");
            let project = w.stores().project();
            let ids: Vec<String> = w.archive.list().expect("listed").iter().rev().map(ToString::to_string).collect();
            assert_eq!((ids.len(), sealed.earlier.len()), (parts, parts - 1), "{now}");
            let record = w.memory.changeset(&project, &ids[0]).expect("read").expect("known");
            assert_eq!((record.cause.turn, record.cause.approved.as_deref()), (Some(1), Some("policy review")));
            let [state] = &w.memory.changed_states(&project, &ids[0]).expect("read")[..] else { panic!("one file") };
            assert_eq!(state.after.as_deref(), Some(&crate::archive::sha256(b"left")[..]), "{now}");
        }
    }

    #[test]
    fn what_another_command_found_is_the_commands_own_where_it_wrote_no_more() {
        for (now, parts) in [("by another", 0), ("more", 1)] {
            let w = World::with(now);
            fs::set_permissions(w.workspace.full("a"), fs::Permissions::from_mode(0o600)).expect("set");
            let mut staging = w.stage(&CommandInfo::default(), &["before"]);
            let mut lock = w.archive.lock().expect("locked");
            let state = crate::proposal::State::file(&b"by the command"[..]);
            w.archive.record(&mut lock, &[("a", &state).into()], None).expect("archived");
            drop(lock);
            let (file, name) = staging.new_name();
            fs::write(file, "by another").expect("written");
            let mut line = staging.journal().expect("read").states.remove(0);
            (line.staged, line.again, line.kept) = (Some(name), true, crate::text::time::now() + 1_000);
            staging.add(&line).expect("added");
            let sealed = super::seal(&mut staging, &CommandInfo::default(), &[], w.stores()).expect("sealed");
            let left: Vec<_> = sealed.changes.changes.iter().map(|change| change.bytes.as_deref()).collect();
            let own = if parts == 0 { "by the command" } else { now };
            assert_eq!((left, sealed.earlier.len()), (vec![Some(own.as_bytes())], parts), "{now}");
        }
    }

    #[test]
    fn what_is_sealed_in_two_parts_is_no_one_elses_in_the_second() {
        let w = World::with("now");
        let info = CommandInfo::default();
        let mut old = w.stage(&info, &["first"]);
        let mut open = w.stage(&old.info_of_next().expect("read"), &["second"]);
        let left = |sealed: &SealedCommand| -> Vec<String> {
            let changes = sealed.changes.changes.iter();
            changes.map(|change| String::from_utf8_lossy(change.bytes.as_deref().expect("text")).into_owned()).collect()
        };
        let sealed = super::seal(&mut old, &info, &[], w.stores()).expect("sealed");
        assert_eq!(left(&sealed), ["second"], "what the command did since is of the next part");
        open.follows(old.made());
        let sealed = super::seal(&mut open, &info, &[], w.stores()).expect("sealed");
        assert_eq!(left(&sealed), ["now"]);
    }

    #[test]
    fn what_a_command_left_is_what_the_first_of_two_others_found() {
        let w = World::with("gone");
        let staging = w.stage(&CommandInfo::default(), &["before"]);
        for found in ["by the command", "before"] {
            let mut lock = w.archive.lock().expect("locked");
            let state = crate::proposal::State::file(found.as_bytes());
            w.archive.record(&mut lock, &[("a", &state).into()], None).expect("archived");
        }
        fs::write(w.workspace.full("a"), "by another").expect("written");
        let changes = w.archive.compare(&w.workspace, &staging).expect("compared").changes;
        let left: Vec<_> = changes.iter().map(|change| change.bytes.as_deref()).collect();
        assert_eq!(left, [Some(&b"by the command"[..])]);
    }
}
