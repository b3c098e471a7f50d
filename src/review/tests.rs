//! What is left of the work of entries, with what others did beside them.

mod moves;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::archive::Choices;
use crate::archive::restore::is_in_part;
use crate::execute::execute;
use crate::execute::testing::World;
use crate::memory::ChangesetCause;
use crate::proposal::{Decision, FileChange, ForeignChoice, Proposal, ProposalId, RestoreStatus, State};

/// The places in the file `a` that are changed, each a line of its own, and the lines from one to the next.
const PLACES: usize = 10;
const APART: usize = 6;

fn place(n: usize, word: &str) -> String {
    format!("\n{word} {n}\n")
}

fn world() -> World {
    let lines: Vec<String> = (0..PLACES * APART).map(|n| format!("line {n}\n")).collect();
    World::with(&lines.concat())
}

fn now(w: &World) -> String {
    fs::read_to_string(w.workspace.full("a")).expect("read")
}

/// Returns the file as it is with another word at a place.
fn with(w: &World, at: usize, word: &str) -> String {
    let line = at * APART + 3;
    let (before, after) = (place(line, "line"), place(line, word));
    assert!(now(w).contains(&before), "{at} is taken");
    now(w).replace(&before, &after)
}

/// Writes a proposal; returns its changeset.
fn write(w: &World, proposal: &Proposal, consent: Consent, kind: &str) -> Id {
    let decided = proposal.decide(&Decision::accept(proposal, consent)).expect("it fits").expect("accepted");
    let cause = ChangesetCause { kind: kind.into(), ..ChangesetCause::default() };
    execute(&decided, cause, w.stores()).applied.expect("written").changeset.expect("archived")
}

fn change(w: &World, text: String, consent: Consent) -> Id {
    let before = w.workspace.read("a").expect("read").state;
    let file = FileChange::new("a", before, State::file(text.into_bytes()), "test", &[]);
    write(w, &Proposal { id: ProposalId(1), title: String::new(), files: vec![file] }, consent, "edit")
}

fn entry(w: &World, at: usize) -> Id {
    change(w, with(w, at, "entry"), Consent::Policy("review"))
}

fn by_hand(w: &World, at: usize) {
    fs::write(w.workspace.full("a"), with(w, at, "hand")).expect("written");
}

/// Restores entries whole.
fn restore(w: &World, ids: &[Id]) {
    let undone = undo(ids, ProposalId(2), w.stores()).expect("planned");
    write(w, &undone.proposal, Consent::Person, "undo");
}

/// Returns the texts between which the file's change is shown, and the number of its hunks.
fn difference(w: &World, ids: &[Id], single: bool) -> (String, String, usize) {
    let ReviewChanges { files, aside, later } = changes(ids, single, w.stores()).expect("compared");
    assert!(aside.is_empty() && later.iter().all(|(_, conflicts)| *conflicts == 0), "{aside:?} {later:?}");
    let [file] = &files[..] else { panic!("{files:?}") };
    let text = |state: &State| state.text().expect("text").to_string();
    (text(&file.before), text(&file.after), file.hunks.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Whatever the person, other changes and restores did between the entries: what is left of them is theirs alone, and
    /// restoring all of it is their undo.
    #[test]
    fn what_is_left_of_entries_is_their_work_alone(steps in prop::collection::vec((0..4u8, any::<Index>()), 1..PLACES)) {
        let w = world();
        let mut entries: Vec<(Id, usize)> = Vec::new();
        for (at, (kind, index)) in steps.into_iter().enumerate() {
            match kind {
                0 => by_hand(&w, at),
                1 => drop(change(&w, with(&w, at, "own"), Consent::Person)),
                2 if !entries.is_empty() => {
                    let (id, _) = entries.remove(index.index(entries.len()));
                    restore(&w, &[id]);
                }
                _ => entries.push((entry(&w, at), at)),
            }
        }
        let ids: Vec<Id> = entries.iter().map(|(id, _)| *id).collect();
        if !ids.is_empty() {
            let theirs = now(&w).replace("entry", "line");
            prop_assert_eq!(difference(&w, &ids, false), (theirs.clone(), now(&w), ids.len()));
            for (id, at) in &entries {
                let (before, after, hunks) = difference(&w, &[*id], true);
                let own = before.replace(&place(at * APART + 3, "line"), &place(at * APART + 3, "entry"));
                prop_assert_eq!((after, hunks), (own, 1));
            }
            restore(&w, &ids);
            prop_assert_eq!(now(&w), theirs);
            prop_assert_eq!(changes(&ids, false, w.stores()).expect("compared"), ReviewChanges::default());
        }
    }
}

/// Brings files to these texts, or removes them, by a policy; returns the entry.
fn entry_of(w: &World, files: &[(&str, Option<&str>)]) -> Id {
    write_to(w, files, Consent::Policy("review"))
}

fn write_to(w: &World, files: &[(&str, Option<&str>)], consent: Consent) -> Id {
    let change = |(path, text): &(&str, Option<&str>)| {
        let before = w.workspace.read(path).expect("read").state;
        let after = text.map_or(State::Absent, |text| State::file(text.as_bytes()));
        FileChange::new(*path, before, after, "test", &[])
    };
    let files = files.iter().map(change).collect();
    write(w, &Proposal { id: ProposalId(1), title: String::new(), files }, consent, "edit")
}

fn waiting(w: &World) -> Vec<Id> {
    open(w.stores()).expect("read").entries.iter().map(|entry| entry.id).collect()
}

fn text_at(w: &World, path: &str) -> Option<String> {
    fs::read_to_string(w.workspace.full(path)).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Restoring all that waits is undoing all entries, and then nothing waits, whatever was discarded by hand between them,
    /// and whether that was looked at.
    #[test]
    fn restoring_what_waits_is_undoing_all(
        steps in prop::collection::vec((0..3usize, 0..3usize, 0..3usize, 0..6usize), 1..8),
    ) {
        let w = World::with("one\n");
        const PATHS: [&str; 3] = ["a", "b", "c"];
        const TEXTS: [Option<&str>; 3] = [None, Some("one\n"), Some("two\n")];
        for (path, other, text, discard) in steps {
            if discard < 2 {
                discard_all(&w, &PATHS);
                prop_assert_eq!(waiting(&w), []);
            }
            if discard == 0 {
                record_discarded(&open(w.stores()).expect("read"), w.stores());
            }
            let mut files = vec![(PATHS[path], TEXTS[text])];
            // A move, where it is of another path.
            if other != path {
                files = vec![(PATHS[path], None), (PATHS[other], TEXTS[text])];
            }
            files.retain(|(path, text)| text_at(&w, path).as_deref() != *text);
            if !files.is_empty() {
                entry_of(&w, &files);
            }
        }
        let ids = waiting(&w);
        if !ids.is_empty() {
            restore(&w, &ids);
        }
        prop_assert_eq!(PATHS.map(|path| text_at(&w, path)), [Some("one\n".to_string()), None, None]);
        prop_assert_eq!(waiting(&w), []);
    }
}

/// Brings all files to what they were in the beginning, without nebula.
fn discard_all(w: &World, paths: &[&str]) {
    for path in paths {
        drop(fs::remove_file(w.workspace.full(path)));
    }
    fs::write(w.workspace.full("a"), "one\n").expect("written");
}

/// Gives the file `a` a mode by a policy; returns the entry.
fn chmod(w: &World, mode: u32) -> Id {
    let before = w.workspace.read("a").expect("read").state;
    let file = FileChange::new("a", before.clone(), before.with_mode(Some(mode)), "test", &[]);
    write(
        w,
        &Proposal { id: ProposalId(1), title: String::new(), files: vec![file] },
        Consent::Policy("review"),
        "edit",
    )
}

fn mode(w: &World) -> Option<u32> {
    w.workspace.read("a").expect("read").state.mode()
}

fn set_mode(w: &World, mode: u32) {
    fs::set_permissions(w.workspace.full("a"), fs::Permissions::from_mode(mode)).expect("set");
}

#[test]
fn the_restore_of_an_edit_leaves_the_permissions_that_another_restore_brought_back() {
    for edit_first in [false, true] {
        let w = World::with("one\n");
        set_mode(&w, 0o644);
        let made = chmod(&w, 0o777);
        let edited = entry_of(&w, &[("a", Some("two\n"))]);
        set_mode(&w, 0o777);
        let order = if edit_first { [edited, made] } else { [made, edited] };
        assert!(restore_reviewed(&w, order[0]));
        if !edit_first {
            let left = changes(&[edited], false, w.stores()).expect("compared");
            let [file] = &left.files[..] else { panic!("{left:?}") };
            assert_eq!(file.hunks.len(), 1, "the permissions are the person's own restore: {file:?}");
        }
        assert!(restore_reviewed(&w, order[1]));
        assert_eq!((now(&w).as_str(), mode(&w), waiting(&w)), ("one\n", Some(0o644), vec![]), "{edit_first}");
    }
}

#[test]
fn permissions_that_were_set_twice_come_back_in_whichever_order() {
    for newest_first in [false, true] {
        let w = World::with("one\n");
        set_mode(&w, 0o644);
        let mut both = [chmod(&w, 0o777), chmod(&w, 0o700)];
        if newest_first {
            both.reverse();
        }
        for id in both.into_iter().filter(|id| waiting(&w).contains(id)).collect::<Vec<_>>() {
            restore_reviewed(&w, id);
        }
        assert_eq!(mode(&w), Some(0o644), "{newest_first}");
    }
}

/// Gives the folder `n` a mode by a policy; returns the entry.
fn chmod_folder(w: &World, mode: u32) -> Id {
    let before = State::Folder { mode: folder_mode(w) };
    let change = FileChange { restores: true, ..FileChange::new("n/", before, State::Folder { mode }, "test", &[]) };
    let proposal = Proposal { id: ProposalId(1), title: String::new(), files: vec![change] };
    write(w, &proposal, Consent::Policy("review"), "command")
}

fn folder_mode(w: &World) -> u32 {
    fs::metadata(w.workspace.full("n")).expect("there").permissions().mode() & 0o777
}

fn with_folder() -> World {
    let w = World::with("one\n");
    fs::create_dir(w.workspace.full("n")).expect("made");
    fs::set_permissions(w.workspace.full("n"), fs::Permissions::from_mode(0o755)).expect("set");
    w
}

#[test]
fn the_mode_of_a_folder_that_was_set_twice_comes_back_in_whichever_order() {
    for newest_first in [false, true] {
        let w = with_folder();
        let mut both = [chmod_folder(&w, 0o700), chmod_folder(&w, 0o500)];
        if newest_first {
            both.reverse();
        }
        for id in both {
            assert_eq!(restore_whole(&w, id), [], "{newest_first}");
        }
        assert_eq!((folder_mode(&w), waiting(&w)), (0o755, vec![]), "{newest_first}");
    }
}

#[test]
fn a_mode_that_someone_else_set_stays_and_is_named() {
    let outside = "changed outside nebula".to_string();
    let w = with_folder();
    set_mode(&w, 0o644);
    let both = [chmod(&w, 0o700), chmod_folder(&w, 0o700)];
    set_mode(&w, 0o750);
    fs::set_permissions(w.workspace.full("n"), fs::Permissions::from_mode(0o750)).expect("set");
    for (id, path) in both.into_iter().zip(["a", "n/"]) {
        let stays = restore_whole(&w, id);
        assert_eq!(stays.iter().map(|rest| &rest.paths[..]).collect::<Vec<_>>(), [[(path.into(), outside.clone())]]);
    }
    assert_eq!((mode(&w), folder_mode(&w), waiting(&w)), (Some(0o750), 0o750, both.to_vec()));
    // The bytes come back without it.
    let w = World::with("one\n");
    set_mode(&w, 0o644);
    let before = w.workspace.read("a").expect("read").state;
    let after = State::file(&b"two\n"[..]).with_mode(Some(0o700));
    let files = vec![FileChange::new("a", before, after, "test", &[])];
    let proposal = Proposal { id: ProposalId(1), title: String::new(), files };
    let id = write(&w, &proposal, Consent::Policy("review"), "command");
    set_mode(&w, 0o750);
    let undone = undo(&[id], ProposalId(2), w.stores()).expect("planned");
    assert!(undone.previews.iter().all(is_in_part), "{undone:?}");
    restore_whole(&w, id);
    assert_eq!((now(&w).as_str(), mode(&w)), ("one\n", Some(0o750)));
}

#[test]
fn the_lines_that_nobody_changed_since_are_restored_alone() {
    let w = world();
    let begun = now(&w);
    let text = with(&w, 1, "entry").replace(&place(33, "line"), &place(33, "entry"));
    let id = change(&w, text, Consent::Policy("review"));
    fs::write(w.workspace.full("a"), now(&w).replace("entry 9", "mine")).expect("written");
    for _ in 0..2 {
        let stays = restore_whole(&w, id);
        let [(path, why)] = &stays[0].paths[..] else { panic!("{stays:?}") };
        assert!(path == "a" && why.contains("choose its hunks"), "{stays:?}");
        assert_eq!((now(&w), waiting(&w)), (begun.replace("line 9\n", "mine\n"), vec![id]));
    }
}

#[test]
fn the_lines_that_no_later_entry_changed_are_shown_and_restored_alone() {
    for by_hunk in [false, true] {
        let w = world();
        let begun = now(&w);
        let text = with(&w, 1, "entry").replace(&place(33, "line"), &place(33, "entry"));
        let first = change(&w, text, Consent::Policy("review"));
        let later = change(&w, now(&w).replace("entry 9", "later 9"), Consent::Policy("review"));
        let ReviewChanges { files, aside, .. } = changes(&[first], false, w.stores()).expect("compared");
        let why = "the same lines were changed again later: those stay".to_string();
        assert_eq!((files[0].hunks.len(), aside), (1, vec![("a".to_string(), why)]), "{files:?}");
        if by_hunk {
            restore(&w, &[first]);
        } else {
            let stays = restore_whole(&w, first);
            let [(path, why)] = &stays[0].paths[..] else { panic!("{stays:?}") };
            assert!(path == "a" && why.contains(&format!("restore {later} (")), "{stays:?}");
        }
        assert_eq!((now(&w), waiting(&w)), (begun.replace("line 9\n", "later 9\n"), vec![first, later]), "{by_hunk}");
        // Nothing of it is left that could be restored before the later one.
        assert_eq!(changes(&[first], false, w.stores()).expect("compared").files, [], "{by_hunk}");
        assert_eq!((restore_whole(&w, later), restore_whole(&w, first)), (vec![], vec![]), "{by_hunk}");
        assert_eq!((now(&w), waiting(&w)), (begun, vec![]), "{by_hunk}");
    }
}

#[test]
fn what_was_discarded_beside_what_someone_else_did_between_waits_no_more() {
    let w = world();
    let begun = now(&w);
    entry(&w, 1);
    by_hand(&w, 3);
    entry(&w, 5);
    fs::write(w.workspace.full("a"), &begun).expect("written");
    assert_eq!(waiting(&w), []);
    // What took away what someone else did has still to be looked at.
    fs::write(w.workspace.full("a"), begun.replace("line 50\n", "mine\n")).expect("written");
    let removes = change(&w, begun.clone(), Consent::Policy("review"));
    assert!(waiting(&w).contains(&removes), "{:?}", waiting(&w));
}

#[test]
fn what_was_discarded_does_not_wait_again_when_its_files_change_anew() {
    let w = World::with("one\n");
    let [edited, made] = [entry_of(&w, &[("a", Some("two\n"))]), entry_of(&w, &[("b", Some("x\n"))])];
    assert_eq!(waiting(&w), [edited, made]);
    discard_all(&w, &["b"]);
    let new = entry_of(&w, &[("a", Some("three\n")), ("b", Some("y\n"))]);
    assert_eq!(waiting(&w), [new]);
    restore(&w, &[new]);
    assert_eq!((now(&w).as_str(), text_at(&w, "b"), waiting(&w)), ("one\n", None, vec![]));
}

#[test]
fn what_was_seen_to_be_discarded_does_not_wait_when_someone_else_changes_its_files() {
    let w = World::with("one\n");
    entry_of(&w, &[("a", Some("two\n"))]);
    entry_of(&w, &[("a", Some("three\n"))]);
    discard_all(&w, &[]);
    record_discarded(&open(w.stores()).expect("read"), w.stores());
    fs::write(w.workspace.full("a"), "one\nmine\n").expect("written");
    assert_eq!(waiting(&w), []);
}

#[test]
fn what_comes_back_as_it_was_after_it_was_put_aside_waits_again() {
    let w = World::with("one\n");
    let both = ["two\n", "three\n"].map(|text| entry_of(&w, &[("a", Some(text))]));
    discard_all(&w, &[]);
    record_discarded(&open(w.stores()).expect("read"), w.stores());
    assert_eq!(waiting(&w), []);
    fs::write(w.workspace.full("a"), "three\n").expect("written");
    assert_eq!(waiting(&w), both);
    let third = entry_of(&w, &[("a", Some("four\n"))]);
    assert_eq!(waiting(&w), [both[0], both[1], third]);
}

/// Creates a world with two entries, of which someone took the first out before the second was made. Returns the text with
/// the first alone, too.
fn with_one_put_aside(is_seen: bool) -> (World, [Id; 2], String) {
    let w = world();
    let old = now(&w);
    let first = entry(&w, 1);
    let put_aside = now(&w);
    fs::write(w.workspace.full("a"), &old).expect("written");
    let second = entry(&w, 5);
    assert_eq!(waiting(&w), [second]);
    if is_seen {
        record_discarded(&open(w.stores()).expect("read"), w.stores());
    }
    (w, [first, second], put_aside)
}

#[test]
fn what_comes_back_beside_a_later_change_waits_again() {
    let old = now(&world());
    for (is_seen, all) in [(false, false), (false, true), (true, false), (true, true)] {
        let (w, [first, second], _) = with_one_put_aside(is_seen);
        let without = now(&w);
        fs::write(w.workspace.full("a"), with(&w, 1, "entry")).expect("written");
        assert_eq!(waiting(&w), [first, second], "{is_seen}");
        assert_eq!(difference(&w, &[first], false), (without.clone(), now(&w), 1));
        if all {
            restore(&w, &[first, second]);
        } else {
            assert_eq!(restore_whole(&w, first), []);
            assert_eq!((now(&w), waiting(&w)), (without, vec![second]));
            restore(&w, &[second]);
        }
        assert_eq!((now(&w), waiting(&w)), (old.clone(), vec![]));
    }
}

#[test]
fn what_comes_back_without_a_later_change_waits_again() {
    let old = now(&world());
    let (w, [first, second], put_aside) = with_one_put_aside(true);
    fs::write(w.workspace.full("a"), put_aside).expect("written");
    assert_eq!(waiting(&w), [first, second]);
    assert_eq!(restore_whole(&w, first), []);
    assert_eq!((now(&w), waiting(&w)), (old, vec![]));
}

#[test]
fn what_was_discarded_waits_wherever_it_stands_again() {
    for count in [1, 2] {
        let w = world();
        let old = now(&w);
        let entries: Vec<Id> = [1, 5][..count].iter().map(|at| entry(&w, *at)).collect();
        let put_aside = now(&w);
        fs::write(w.workspace.full("a"), &old).expect("written");
        let queue = open(w.stores()).expect("read");
        record_discarded(&queue, w.stores());
        assert_eq!((queue.entries.len(), queue.discarded_paths.len()), (0, count));
        // Lines of a person's own alone bring nothing back.
        by_hand(&w, 8);
        assert_eq!(waiting(&w), []);
        fs::write(w.workspace.full("a"), put_aside).expect("written");
        by_hand(&w, 8);
        assert_eq!(waiting(&w), entries);
        restore(&w, &entries);
        let without = old.replace(&place(8 * APART + 3, "line"), &place(8 * APART + 3, "hand"));
        assert_eq!(now(&w), without);
    }
}

#[test]
fn what_a_later_change_did_anew_is_its_own() {
    let (w, [_, second], _) = with_one_put_aside(true);
    let third = entry(&w, 1);
    assert_eq!(waiting(&w), [second, third]);
    by_hand(&w, 8);
    assert_eq!(waiting(&w), [second, third]);
}

#[test]
fn a_move_that_comes_back_after_the_old_file_was_changed_is_undone_whole() {
    let text = with_words("a", "z");
    let w = World::with(&text);
    let moved = entry_of(&w, &[("a", None), ("b", Some(&text))]);
    let swap = |from: &str, to: &str| {
        fs::remove_file(w.workspace.full(from)).expect("removed");
        fs::write(w.workspace.full(to), &text).expect("written");
    };
    swap("b", "a");
    entry_of(&w, &[("a", Some(&with_words("A", "z")))]);
    assert!(!waiting(&w).contains(&moved));
    swap("a", "b");
    assert!(waiting(&w).contains(&moved));
    restore_whole(&w, moved);
    assert_eq!((text_at(&w, "a"), text_at(&w, "b"), waiting(&w)), (Some(text.clone()), None, vec![]));
}

#[test]
fn what_nebula_brought_back_itself_is_not_discarded() {
    let w = World::with("one\n");
    let both = ["two\n", "one\n"].map(|text| entry_of(&w, &[("a", Some(text))]));
    let queue = open(w.stores()).expect("read");
    assert_eq!((queue.entries.len(), queue.discarded.len()), (0, 0));
    let third = entry_of(&w, &[("a", Some("three\n"))]);
    assert_eq!(waiting(&w), [both[0], both[1], third]);
}

#[test]
fn nothing_is_left_to_restore_of_lines_that_were_removed_by_hand() {
    let w = world();
    let id = entry(&w, 1);
    fs::write(w.workspace.full("a"), now(&w).replace("entry", "line").replace("line 50\n", "mine\n")).expect("written");
    let undone = undo(&[id], ProposalId(2), w.stores()).expect("planned");
    assert!(undone.previews.iter().all(|preview| preview.status == RestoreStatus::Equal), "{undone:?}");
}

/// Restores an entry and records that; `false`: nothing of it was left, and it waits on.
fn restore_reviewed(w: &World, id: Id) -> bool {
    let undone = undo(&[id], ProposalId(2), w.stores()).expect("planned");
    let is_left = !undone.proposal.files.is_empty();
    if is_left {
        write(w, &undone.proposal, Consent::Person, "undo");
        let reviewed = w.memory.review(&w.stores().project(), &[id.to_string()], ReviewDecision::Restore, None);
        reviewed.expect("recorded");
    }
    is_left
}

/// Brings files to these texts, or removes them, but those that are so already.
fn step(w: &World, mut files: Vec<(&str, Option<&str>)>) {
    files.retain(|(path, text)| text_at(w, path).as_deref() != *text);
    if !files.is_empty() {
        entry_of(w, &files);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A file that is moved to and fro, and changed between: restored one by one, the newest first, nothing waits in the
    /// end, and all is as it was.
    #[test]
    fn entries_restored_one_by_one_come_to_an_end(steps in prop::collection::vec(0..4usize, 1..8)) {
        let w = World::with("one\n");
        let mut rounds = 2 * steps.len();
        for text in steps {
            let (own, other) = if text_at(&w, "a").is_some() { ("a", "b") } else { ("b", "a") };
            let now = text_at(&w, own).expect("one of them is there");
            match ["one\n", "two\n"].get(text) {
                Some(text) => step(&w, vec![(own, Some(text))]),
                None => step(&w, vec![(own, None), (other, Some(&now))]),
            }
        }
        while let Some(last) = waiting(&w).last() {
            prop_assert!(rounds > 0, "{:?} still wait", waiting(&w));
            rounds -= 1;
            prop_assert!(restore_reviewed(&w, *last), "nothing is left of {last}");
        }
        prop_assert_eq!(["a", "b"].map(|path| text_at(&w, path)), [Some("one\n".to_string()), None]);
    }
}

/// Restores an entry of those that wait as a script does; returns what stays of it.
fn restore_whole(w: &World, id: Id) -> Vec<RestoredRest> {
    let waiting = open(w.stores()).expect("read").entries;
    let plan = restore_plan::plan(&scope(&[id], &waiting), w.stores()).expect("planned");
    let choices = Choices { others: Some(ForeignChoice::Keep), merge_clean: true, ..Choices::default() };
    let looked = plan.look(&choices, ProposalId(2), w.stores()).expect("looked");
    if !looked.proposal.files.is_empty() {
        write(w, &looked.proposal, Consent::Flag("--yes"), "undo");
    }
    let is_part = |path: &str| looked.previews.iter().any(|one| one.path == path && is_in_part(one));
    let files = looked.proposal.files.iter();
    let written = files.map(|file| (file.path.clone(), !is_part(&file.path))).collect();
    record_restored(&[id], &written, None, w.stores()).expect("recorded")
}

/// Restores the oldest entry, again and again, until nothing waits or something stays, and then the newest. Returns whether
/// it came to an end.
fn restore_oldest_first(w: &World, mut rounds: usize) -> bool {
    let mut stays = false;
    loop {
        let waiting = waiting(w);
        let next = if stays { waiting.last() } else { waiting.first() };
        let Some(next) = next else { return true };
        if rounds == 0 {
            return false;
        }
        rounds -= 1;
        stays |= !restore_whole(w, *next).is_empty();
    }
}

/// A text with two places, each with one of two words.
fn with_words(first: &str, last: &str) -> String {
    let between: String = (1..8).map(|n| format!("line {n}\n")).collect();
    format!("{first}\n{between}{last}\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Two turns that changed, made, moved and removed files: restored one by one, the oldest first, either nothing of them
    /// is left or something waits; what stays is said, and goes once the newest is restored first.
    #[test]
    fn entries_restored_oldest_first_leave_nothing_behind(
        turns in prop::collection::vec(prop::collection::vec((0..3usize, 0..3usize, 0..5usize), 1..4), 2),
    ) {
        let [old, first, last, both] =
            [("a", "z"), ("A", "z"), ("a", "Z"), ("A", "Z")].map(|(first, last)| with_words(first, last));
        let w = World::with(&old);
        const PATHS: [&str; 3] = ["a", "b", "c"];
        for steps in turns {
            let mut files: Vec<(&str, Option<String>)> = Vec::new();
            for (path, other, text) in steps {
                let own = text_at(&w, PATHS[path]);
                let text = match text {
                    // It is moved.
                    4 => own,
                    n => [None, Some(&first), Some(&last), Some(&both)][n].cloned(),
                };
                files.retain(|(path_of, _)| ![PATHS[path], PATHS[other]].contains(path_of));
                if other != path {
                    files.push((PATHS[path], None));
                }
                files.push((PATHS[other], text));
            }
            step(&w, files.iter().map(|(path, text)| (*path, text.as_deref())).collect());
        }
        prop_assert!(restore_oldest_first(&w, 6), "{:?} still wait", waiting(&w));
        prop_assert_eq!(PATHS.map(|path| text_at(&w, path)), [Some(old), None, None]);
    }
}

#[test]
fn a_restore_decides_about_the_files_that_it_wrote_alone() {
    let w = World::with("one\n");
    let made = entry_of(&w, &[("a", Some("two\n")), ("new", Some("x\n"))]);
    let moved = entry_of(&w, &[("new", None), ("newer", Some("x\n"))]);
    let stays = restore_whole(&w, made);
    let [RestoredRest { id, paths }] = &stays[..] else { panic!("{stays:?}") };
    let [(path, why)] = &paths[..] else { panic!("{paths:?}") };
    assert_eq!((*id, path.as_str(), now(&w).as_str()), (made, "new", "one\n"));
    assert!(why.starts_with(&format!("restore {moved} (")) && why.ends_with(") first"), "{why}");
    assert_eq!(waiting(&w), [made, moved]);
    // What was restored is none of its work any more, whatever becomes of it.
    fs::write(w.workspace.full("a"), "mine\n").expect("written");
    assert_eq!(restore_whole(&w, moved), []);
    assert_eq!((waiting(&w), text_at(&w, "new")), (vec![made], Some("x\n".into())));
    assert_eq!(restore_whole(&w, made), []);
    assert_eq!((waiting(&w), text_at(&w, "new"), now(&w).as_str()), (vec![], None, "mine\n"));
}

#[test]
fn the_lines_of_a_later_entry_are_not_carried_along_with_a_move() {
    let lines = with_words("a", "z");
    for is_kept in [false, true] {
        let w = World::with(&lines);
        let moved = entry_of(&w, &[("a", None), ("b", Some(&lines))]);
        let added = format!("{lines}more\n");
        let later = entry_of(&w, &[("b", Some(&added))]);
        if is_kept {
            let kept = w.memory.review(&w.stores().project(), &[later.to_string()], ReviewDecision::Keep, None);
            kept.expect("recorded");
        }
        let stays = restore_whole(&w, moved);
        let why = format!("it was moved to b, which {later} changed since: undo that first");
        assert!(stays[0].paths.contains(&("a".into(), why)), "{stays:?}");
        let both = if is_kept { vec![moved] } else { vec![moved, later] };
        assert_eq!((text_at(&w, "a"), text_at(&w, "b"), waiting(&w)), (None, Some(added), both));
        if is_kept {
            continue;
        }
        let left = changes(&[moved], false, w.stores()).expect("compared");
        assert!(left.files.is_empty() && left.aside.len() == 2, "{left:?}");
        assert!(restore_oldest_first(&w, 4));
        assert_eq!((text_at(&w, "a"), text_at(&w, "b"), waiting(&w)), (Some(lines.clone()), None, vec![]));
    }
}

#[test]
fn what_a_later_entry_took_back_in_part_waits_for_its_restore() {
    let w = World::with(&with_words("a", "z"));
    let both = entry_of(&w, &[("a", Some(&with_words("A", "Z")))]);
    let later = entry_of(&w, &[("a", Some(&with_words("a", "Z")))]);
    assert_eq!(restore_whole(&w, both)[0].paths.len(), 1, "the word that is back would come with the other restore");
    assert_eq!((now(&w), waiting(&w)), (with_words("a", "Z"), vec![both, later]));
    assert_eq!((restore_whole(&w, later), restore_whole(&w, both)), (vec![], vec![]));
    assert_eq!((now(&w), waiting(&w)), (with_words("a", "z"), vec![]));
    // What it did beside that is no part of it.
    let first = entry_of(&w, &[("a", Some(&with_words("A", "z")))]);
    entry_of(&w, &[("a", Some(&with_words("A", "Z")))]);
    assert_eq!((restore_whole(&w, first), now(&w)), (vec![], with_words("a", "Z")));
}

#[test]
fn nothing_waits_of_an_entry_of_which_nothing_is_left_but_what_others_wrote() {
    let w = world();
    let id = entry(&w, 1);
    fs::write(w.workspace.full("a"), now(&w).replace("entry", "line").replace("line 50\n", "mine\n")).expect("written");
    assert_eq!(waiting(&w), [id]);
    assert_eq!((restore_whole(&w, id), waiting(&w)), (vec![], vec![]));
}

#[test]
fn what_stays_of_a_kept_change_when_it_is_undone_does_not_wait_again() {
    let w = World::with("one\n");
    let kept = entry_of(&w, &[("a", Some("two\n")), ("b", Some("x\n"))]);
    w.memory.review(&w.stores().project(), &[kept.to_string()], ReviewDecision::Keep, None).expect("kept");
    fs::write(w.workspace.full("b"), "mine\n").expect("written");
    assert_eq!((restore_whole(&w, kept), waiting(&w)), (vec![], vec![]));
    assert_eq!((now(&w).as_str(), text_at(&w, "b")), ("one\n", Some("mine\n".into())));
}

#[test]
fn the_mode_of_a_folder_waits_for_the_restore_of_what_removed_it() {
    let w = World::with("one\n");
    let at = |path: &str| w.workspace.full(path);
    fs::create_dir(at("n")).expect("made");
    fs::set_permissions(at("n"), fs::Permissions::from_mode(0o755)).expect("set");
    fs::write(at("n/f"), "x\n").expect("written");
    let mode = || fs::metadata(at("n")).ok().map(|found| found.permissions().mode() & 0o777);
    let of = |files: Vec<FileChange>| {
        write(&w, &Proposal { id: ProposalId(1), title: String::new(), files }, Consent::Policy("review"), "command")
    };
    let folder = |mode| State::Folder { mode };
    let of_folder = |after| {
        let change = FileChange::new("n/", State::Folder { mode: mode().expect("there") }, after, "test", &[]);
        FileChange { restores: true, ..change }
    };
    let set = of(vec![of_folder(folder(0o700))]);
    let file = FileChange::new("n/f", w.workspace.read("n/f").expect("read").state, State::Absent, "test", &[]);
    let removed = of(vec![file, of_folder(State::Absent)]);
    assert_eq!(mode(), None);
    let stays = restore_whole(&w, set);
    assert!(stays[0].paths[0].1.starts_with(&format!("restore {removed} (")), "{stays:?}");
    assert_eq!((mode(), waiting(&w)), (None, vec![set, removed]));
    assert_eq!((restore_whole(&w, removed), mode()), (vec![], Some(0o700)));
    assert_eq!((restore_whole(&w, set), mode(), waiting(&w)), (vec![], Some(0o755), vec![]));
}

#[test]
fn a_restore_that_leads_to_a_state_from_before_another_one_undoes_none() {
    let w = World::with("one\n");
    entry_of(&w, &[("a", None), ("b", Some("one\n"))]);
    entry_of(&w, &[("b", Some("two\n"))]);
    entry_of(&w, &[("b", None), ("a", Some("two\n"))]);
    let there = entry_of(&w, &[("a", None), ("b", Some("two\n"))]);
    let back = entry_of(&w, &[("b", None), ("a", Some("two\n"))]);
    for id in [back, there] {
        assert!(restore_reviewed(&w, id));
        assert!(!waiting(&w).contains(&back), "{:?}", waiting(&w));
    }
}

#[test]
fn the_undo_of_a_restore_lets_its_entry_wait_again() {
    let w = World::with("one\n");
    let entry = entry_of(&w, &[("a", Some("two\n"))]);
    assert!(restore_reviewed(&w, entry));
    assert_eq!(waiting(&w), []);
    let restored = w.archive.list().expect("listed")[0];
    assert!(restore_reviewed(&w, restored));
    assert_eq!(waiting(&w), [entry]);
}

#[test]
fn a_change_that_could_not_be_written_neither_waits_nor_is_between_others() {
    let w = World::with("one\n");
    let first = entry_of(&w, &[("a", Some("two\n"))]);
    let fails = |step: &str| match step {
        "apply: rename" => Err(std::io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    };
    let archive = w.archive.clone().with_probe(std::sync::Arc::new(fails));
    let file = FileChange::new("a", State::file(&b"two\n"[..]), State::file(&b"none\n"[..]), "test", &[]);
    let proposal = Proposal { id: ProposalId(1), title: String::new(), files: vec![file] };
    let decision = Decision::accept(&proposal, Consent::Policy("review"));
    let decided = proposal.decide(&decision).expect("it fits").expect("accepted");
    execute(&decided, ChangesetCause::default(), w.stores_with(&archive)).applied.expect_err("there is no room");
    assert_eq!((w.archive.list().expect("listed").len(), waiting(&w)), (2, vec![first]));
    let second = entry_of(&w, &[("a", Some("three\n"))]);
    assert_eq!(waiting(&w), [first, second]);
    restore(&w, &[first, second]);
    assert_eq!((now(&w).as_str(), waiting(&w)), ("one\n", vec![]));
}

#[test]
fn what_entries_made_and_took_back_waits_no_more() {
    let w = World::with("one\n");
    let made = entry_of(&w, &[("new", Some("x\n"))]);
    assert_eq!(waiting(&w), [made]);
    entry_of(&w, &[("new", None)]);
    assert_eq!(waiting(&w), []);
    entry_of(&w, &[("a", Some("two\n"))]);
    entry_of(&w, &[("a", Some("one\n"))]);
    assert_eq!(waiting(&w), []);
}

#[test]
fn entries_that_come_to_nothing_together_wait_together() {
    let w = World::with("one\n");
    let both = [entry_of(&w, &[("new", Some("x\n"))]), entry_of(&w, &[("new", None), ("a", Some("two\n"))])];
    assert_eq!(waiting(&w), both, "the last of them did something else, too");
    restore(&w, &both);
    assert_eq!((text_at(&w, "new"), now(&w).as_str(), waiting(&w)), (None, "one\n", vec![]));
    // There and back beside a change that waits.
    let first = entry_of(&w, &[("a", Some("two\n"))]);
    entry_of(&w, &[("a", Some("three\n"))]);
    entry_of(&w, &[("a", Some("two\n"))]);
    assert_eq!(waiting(&w), [first]);
    // The same change anew is none that is gone.
    let w = World::with("one\n");
    let all = ["two\n", "one\n", "two\n"].map(|text| entry_of(&w, &[("a", Some(text))]));
    assert_eq!(waiting(&w), all);
}

#[test]
fn what_entries_took_away_of_others_waits() {
    let by_hand = |w: &World| fs::write(w.workspace.full("new"), "x\nmine\n").expect("written");
    let approved = |w: &World| {
        write_to(w, &[("new", Some("x\nmine\n"))], Consent::Person);
    };
    for other in [&by_hand as &dyn Fn(&World), &approved] {
        let w = World::with("one\n");
        let made = entry_of(&w, &[("new", Some("x\n"))]);
        other(&w);
        let removed = entry_of(&w, &[("new", None)]);
        assert_eq!(waiting(&w), [made, removed]);
    }
    // What was kept is nobody's to be restored.
    let w = World::with("one\n");
    let made = entry_of(&w, &[("new", Some("x\n"))]);
    w.memory.review(&w.stores().project(), &[made.to_string()], ReviewDecision::Keep, None).expect("kept");
    let removed = entry_of(&w, &[("new", None)]);
    assert_eq!(waiting(&w), [removed]);
}

#[test]
fn a_file_that_was_moved_and_removed_comes_back_once_in_whichever_order() {
    for moved_first in [true, false] {
        let w = World::with("one\n");
        let moved = entry_of(&w, &[("a", None), ("m", Some("one\n"))]);
        let removed = entry_of(&w, &[("m", None)]);
        assert_eq!(waiting(&w), [moved, removed]);
        if !moved_first {
            restore(&w, &[removed]);
            assert_eq!((waiting(&w), text_at(&w, "m")), (vec![moved], Some("one\n".into())));
        }
        restore(&w, &[moved]);
        assert_eq!((now(&w).as_str(), text_at(&w, "m"), waiting(&w)), ("one\n", None, vec![]), "{moved_first}");
    }
}

#[test]
fn what_someone_did_between_two_entries_is_none_of_their_work() {
    let w = world();
    let first = entry(&w, 1);
    by_hand(&w, 3);
    let second = entry(&w, 5);
    let theirs = now(&w).replace("entry", "line");
    assert_eq!(difference(&w, &[first, second], false), (theirs.clone(), now(&w), 2));
    assert_eq!(difference(&w, &[first], true).2, 1, "the hand is not the first entry's");
    restore(&w, &[first, second]);
    assert_eq!(now(&w), theirs);
}

#[test]
fn a_conflict_is_marked_and_what_cannot_be_merged_has_no_hunk() {
    let w = world();
    let first = entry(&w, 1);
    fs::write(w.workspace.full("a"), now(&w).replace("entry", "mine")).expect("written");
    let found = changes(&[first], false, w.stores()).expect("compared");
    assert_eq!(found.later, [("a".to_string(), 1)]);
    let hunk = &found.files[0].hunks[0];
    let detail = hunk.found.as_ref().and_then(|found| found.detail.as_deref());
    assert_eq!(detail, Some(crate::proposal::merge::CONFLICT));
    fs::write(w.workspace.full("a"), b"\0\xff").expect("written");
    let found = changes(&[first], false, w.stores()).expect("compared");
    assert_eq!((found.files.len(), found.aside), (0, vec![("a".to_string(), "changed outside nebula".to_string())]));
    let undone = undo(&[first], ProposalId(2), w.stores()).expect("planned");
    assert!(matches!(undone.previews[0].status, RestoreStatus::Foreign { .. }), "{undone:?}");
}
