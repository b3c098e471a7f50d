//! Histories of moves, removals and edits with a person's lines between them, restored in each order.

use std::collections::BTreeMap;
use std::fs;

use super::*;
use crate::archive::Sha;
use crate::archive::restore::{LastWritten, LastWrittenLookup, is_in_part, state_sha};

/// The paths that a file may have.
const PATHS: [&str; 5] = ["a", "b", "c", "d", "n"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Move,
    Remove,
    Edit,
    Create,
    /// A person adds a line, or makes a file with one.
    Own,
}

const STEPS: [Step; 5] = [Step::Move, Step::Remove, Step::Edit, Step::Create, Step::Own];

fn lines_of(word: &str) -> String {
    (1..10).map(|n| format!("{word} {n}\n")).collect()
}

/// Returns the files that are there, by their paths.
fn files_of(w: &World) -> BTreeMap<&'static str, String> {
    PATHS.iter().filter_map(|path| Some((*path, text_at(w, path)?))).collect()
}

/// Returns the lines that a person wrote, each as often as it is there.
fn own_lines(w: &World) -> Vec<String> {
    let mut lines: Vec<String> = files_of(w)
        .values()
        .flat_map(|text| text.lines().filter(|line| line.starts_with("mine")).map(str::to_string))
        .collect();
    lines.sort_unstable();
    lines
}

/// Carries out a history; returns the number of a person's lines. None: a step has no file that it could be of.
fn carry_out(w: &World, history: &[Step]) -> Option<usize> {
    let (mut current, mut own) = (Some("a"), 0);
    for (n, step) in history.iter().enumerate() {
        let there = files_of(w);
        let free = |paths: &[&'static str]| paths.iter().copied().find(|path| !there.contains_key(path));
        let text = current.and_then(|path| there.get(path)).cloned();
        match step {
            Step::Move => {
                let (from, to, text) = (current?, free(&PATHS[1..4])?, text?);
                entry_of(w, &[(from, None), (to, Some(&text))]);
                current = Some(to);
            }
            Step::Remove => {
                entry_of(w, &[(current?, None)]);
                current = None;
            }
            Step::Edit => {
                let text = text?;
                let mut lines: Vec<&str> = text.lines().collect();
                let (edited, at) = (format!("edit {n}"), if n % 2 == 0 { 0 } else { lines.len() - 1 });
                lines[at] = &edited;
                entry_of(w, &[(current?, Some(&(lines.join("\n") + "\n")))]);
            }
            Step::Create => {
                let path = free(&["a", "n"])?;
                entry_of(w, &[(path, Some(&lines_of(&format!("new{n}"))))]);
                current = Some(path);
            }
            Step::Own => {
                let (path, text) = match (current, text) {
                    (Some(path), Some(text)) => (path, text),
                    _ => (free(&["a"])?, lines_of(&format!("own{n}"))),
                };
                let mut lines: Vec<&str> = text.lines().collect();
                let line = format!("mine {n}");
                lines.insert(5, &line);
                fs::write(w.workspace.full(path), lines.join("\n") + "\n").expect("written");
                (current, own) = (Some(path), own + 1);
            }
        }
    }
    Some(own)
}

/// Restores entries as a script does; returns whether something was written, and those of which something stays.
fn restore_these(w: &World, ids: &[Id]) -> (bool, Vec<Id>) {
    let waiting = open(w.stores()).expect("read").entries;
    let plan = restore_plan::plan(&scope(ids, &waiting), w.stores()).expect("planned");
    let choices = Choices { others: Some(ForeignChoice::Keep), merge_clean: true, ..Choices::default() };
    let found = plan.look(&choices, ProposalId(2), w.stores()).expect("looked");
    if !found.proposal.files.is_empty() {
        write(w, &found.proposal, Consent::Flag("--yes"), "undo");
    }
    let is_part = |path: &str| found.previews.iter().any(|preview| preview.path == path && is_in_part(preview));
    let written = found.proposal.files.iter().map(|file| (file.path.clone(), !is_part(&file.path))).collect();
    let rests = record_restored(ids, &written, None, w.stores()).expect("recorded");
    (!found.proposal.files.is_empty(), rests.into_iter().map(|rest| rest.id).collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    All,
    Oldest,
    Newest,
}

/// Restores what waits, in an order, until nothing does or nothing more can be restored. No line of a person's goes with
/// it, and no file is there twice.
fn restore_in(w: &World, order: Order, history: &[Step]) {
    let (mut order_now, mut stays) = (order, Vec::new());
    for _ in 0..12 {
        let waiting = waiting(w);
        let left: Vec<Id> = waiting.iter().copied().filter(|id| !stays.contains(id)).collect();
        let ids = match order_now {
            Order::All => waiting.clone(),
            Order::Oldest => left.first().copied().into_iter().collect(),
            Order::Newest => left.last().copied().into_iter().collect(),
        };
        if ids.is_empty() {
            return;
        }
        let before = own_lines(w);
        let (is_written, rests) = restore_these(w, &ids);
        let now = own_lines(w);
        assert!(before.iter().all(|line| now.contains(line)), "{history:?} {order:?}: {before:?} {now:?}");
        assert!(now.windows(2).all(|two| two[0] != two[1]), "{history:?} {order:?}: {:?}", files_of(w));
        let copies = files_of(w).values().filter(|text| text.contains("line 4\n")).count();
        assert!(copies <= 1, "{history:?} {order:?}: {:?}", files_of(w));
        match order_now {
            Order::All if !is_written => return,
            Order::All => {}
            // What stays is named; it goes once the newest is restored first.
            Order::Oldest if !rests.is_empty() => order_now = Order::Newest,
            Order::Oldest => {}
            Order::Newest => {
                if is_written {
                    stays.clear();
                }
                stays.extend(rests);
            }
        }
    }
}

fn check(history: &[Step], order: Order) {
    let w = World::with(&lines_of("line"));
    let Some(own) = carry_out(&w, history) else { return };
    restore_in(&w, order, history);
    let files = files_of(&w);
    let is_whole = waiting(&w).is_empty();
    if own == 0 {
        let expected = BTreeMap::from([("a", lines_of("line"))]);
        // Where a path was taken anew, the order may matter: what stays is named.
        assert!(
            files == expected && is_whole || order == Order::Oldest && !is_whole,
            "{history:?} {order:?}: {files:?}"
        );
        return;
    }
    if is_whole {
        assert_eq!(own_lines(&w).len(), own, "{history:?} {order:?}: {files:?}");
        let is_own = |line: &str| line.starts_with("mine") || line.starts_with("own");
        let stripped = |text: &String| -> String {
            text.lines().filter(|line| !is_own(line)).map(|line| format!("{line}\n")).collect()
        };
        let rest: BTreeMap<_, _> =
            files.iter().map(|(path, text)| (*path, stripped(text))).filter(|(_, text)| !text.is_empty()).collect();
        assert_eq!(rest, BTreeMap::from([("a", lines_of("line"))]), "{history:?} {order:?}: {files:?}");
    }
}

#[test]
fn no_line_of_a_person_is_lost_and_nothing_is_there_twice_however_entries_are_restored() {
    let mut histories: Vec<Vec<Step>> = Vec::new();
    for first in STEPS {
        for second in STEPS {
            histories.push(vec![first, second]);
            histories.extend(STEPS.map(|third| vec![first, second, third]));
        }
    }
    for history in &histories {
        for order in [Order::All, Order::Oldest, Order::Newest] {
            check(history, order);
        }
    }
}

/// Restores all that waits in one go; returns whether something stays.
fn all_stays(w: &World) -> bool {
    let ids = waiting(w);
    !restore_these(w, &ids).1.is_empty()
}

#[test]
fn a_persons_line_at_the_new_path_goes_back_with_the_move() {
    let text = lines_of("line");
    let mine = text.replace("line 5\n", "line 5\nmine 1\n");
    // Another move, a removal or an edit after it.
    for later in
        [vec![("b", None), ("c", Some(mine.clone()))], vec![("b", None)], vec![("b", Some(format!("C\n{mine}")))]]
    {
        let w = World::with(&text);
        entry_of(&w, &[("a", None), ("b", Some(&text))]);
        fs::write(w.workspace.full("b"), &mine).expect("written");
        let later: Vec<(&str, Option<&str>)> = later.iter().map(|(path, text)| (*path, text.as_deref())).collect();
        entry_of(&w, &later);
        if all_stays(&w) {
            assert_eq!(files_of(&w), BTreeMap::from([("b", mine.clone())]), "as the person left it");
            assert_eq!((waiting(&w).len(), all_stays(&w)), (1, false));
        }
        assert_eq!((files_of(&w), waiting(&w)), (BTreeMap::from([("a", mine.clone())]), vec![]), "{later:?}");
    }
}

#[test]
fn the_ends_of_moves_in_a_row_are_undone_from_the_newest_on() {
    let text = lines_of("line");
    let w = World::with(&text);
    let first = entry_of(&w, &[("a", None), ("b", Some(&text))]);
    let second = entry_of(&w, &[("b", None), ("c", Some(&text))]);
    let stays = restore_whole(&w, first);
    let why = format!("it was moved to b, which {second} changed since: undo that first");
    assert!(stays[0].paths.contains(&("a".into(), why)), "{stays:?}");
    assert_eq!(files_of(&w), BTreeMap::from([("c", text.clone())]));
    assert_eq!((restore_whole(&w, second), restore_whole(&w, first)), (vec![], vec![]));
    assert_eq!((files_of(&w), waiting(&w)), (BTreeMap::from([("a", text)]), vec![]));
}

#[test]
fn the_new_path_of_a_move_stays_where_something_else_is_at_the_old_one() {
    let (text, other) = (lines_of("line"), lines_of("other"));
    for is_foreign in [false, true] {
        let w = World::with(&text);
        let moved = entry_of(&w, &[("a", None), ("b", Some(&text))]);
        match is_foreign {
            true => fs::write(w.workspace.full("a"), &other).expect("written"),
            false => drop(entry_of(&w, &[("a", Some(&other))])),
        }
        let stays = restore_whole(&w, moved);
        let is_named =
            |(path, why): &(String, String)| path == "b" && why.starts_with("it was moved here from a, which stays");
        assert!(stays[0].paths.iter().any(is_named), "{stays:?}");
        assert_eq!(files_of(&w), BTreeMap::from([("a", other.clone()), ("b", text.clone())]));
    }
}

#[test]
fn both_ends_of_a_move_stay_where_a_folder_is_in_the_place_of_the_old_one() {
    let text = lines_of("line");
    let w = World::with(&text);
    let moved = entry_of(&w, &[("a", None), ("b", Some(&text))]);
    // Most of it is rewritten, too.
    let mine: String = lines_of("mine").lines().take(7).chain(text.lines().skip(7)).map(|l| format!("{l}\n")).collect();
    fs::write(w.workspace.full("b"), &mine).expect("written");
    fs::create_dir(w.workspace.full("a")).expect("made");
    fs::write(w.workspace.full("a/other"), "x\n").expect("written");
    let stays = restore_whole(&w, moved);
    let why = "it was moved here from a, which stays".to_string();
    assert!(stays[0].paths.contains(&("b".into(), why)), "{stays:?}");
    assert_eq!((files_of(&w), waiting(&w)), (BTreeMap::from([("b", mine.clone())]), vec![moved]));
    fs::remove_dir_all(w.workspace.full("a")).expect("removed");
    assert_eq!(restore_whole(&w, moved), []);
    assert_eq!((files_of(&w), waiting(&w)), (BTreeMap::from([("a", mine)]), vec![]));
}

/// Knows which states nebula wrote, and none of their bytes.
struct StatesAlone(BTreeMap<&'static str, Option<Sha>>);

impl LastWrittenLookup for StatesAlone {
    fn written(&self, path: &str) -> Option<LastWritten> {
        Some(LastWritten { states: vec![*self.0.get(path)?], ..LastWritten::default() })
    }
}

#[test]
fn both_ends_of_a_move_stay_where_the_new_one_was_changed_and_no_bytes_of_it_are_kept() {
    let text = lines_of("line");
    let w = World::with(&text);
    let moved = entry_of(&w, &[("a", None), ("b", Some(&text))]);
    fs::write(w.workspace.full("b"), format!("{text}mine\n")).expect("written");
    let written = StatesAlone(BTreeMap::from([("a", None), ("b", state_sha(&State::file(text.as_bytes())))]));
    let (asked, choices) =
        (RestoreTarget::Changesets(vec![moved]), Choices { others: Some(ForeignChoice::Keep), ..Choices::default() });
    let found = w.archive.restore(&w.workspace, &asked, &written, &choices, ProposalId(2), "undo").expect("looked");
    assert!(found.proposal.files.is_empty(), "{found:?}");
}

#[test]
fn a_new_path_that_the_person_keeps_stays_with_all_that_came_after_their_change() {
    let text = lines_of("line");
    let mine = text.replace("line 5\n", "line 5\nmine 1\n");
    let w = World::with(&text);
    entry_of(&w, &[("a", None), ("b", Some(&text))]);
    fs::write(w.workspace.full("b"), &mine).expect("written");
    entry_of(&w, &[("b", Some(&format!("C\n{mine}")))]);
    let entries = open(w.stores()).expect("read").entries;
    let plan = restore_plan::plan(&scope(&waiting(&w), &entries), w.stores()).expect("planned");
    let look = |choices: Choices| plan.look(&choices, ProposalId(2), w.stores()).expect("looked");
    assert_eq!(look(Choices::default()).proposal.files.len(), 2, "unless something else is chosen, it goes back");
    let each = [("b".to_string(), ForeignChoice::Keep)].into();
    let kept = look(Choices { each, ..Choices::default() });
    assert!(kept.proposal.files.is_empty(), "{kept:?}");
}

#[test]
fn an_entry_of_which_a_part_was_undone_waits_on_with_the_rest() {
    let (text, new) = (lines_of("line"), lines_of("new"));
    let mine = new.replace("new 5\n", "new 5\nmine 1\n");
    let w = World::with(&text);
    let first = entry_of(&w, &[("a", Some(&text.replace("line 1\n", "edit\n"))), ("b", Some(&new))]);
    fs::write(w.workspace.full("b"), &mine).expect("written");
    let second = entry_of(&w, &[("b", Some(&format!("{mine}more\n"))), ("c", Some("c\n"))]);
    assert_eq!(restore_these(&w, &[first, second]), (true, vec![first]));
    assert_eq!((files_of(&w), waiting(&w)), (BTreeMap::from([("a", text), ("b", mine)]), vec![first]));
    let written = RestoredPaths::from([("a", true), ("b", false), ("c", true)].map(|(path, all)| (path.into(), all)));
    let is_undone = |id| is_undone_where_written(id, &written, w.stores()).expect("read");
    assert_eq!((is_undone(first), is_undone(second)), (false, true));
}

#[test]
fn what_a_person_wrote_to_a_file_that_was_made_and_removed_comes_back() {
    let (text, new) = (lines_of("line"), lines_of("new"));
    let mine = new.replace("new 5\n", "new 5\nmine 1\n");
    let w = World::with(&text);
    let made = entry_of(&w, &[("n", Some(&new))]);
    fs::write(w.workspace.full("n"), &mine).expect("written");
    entry_of(&w, &[("n", None)]);
    assert!(all_stays(&w));
    assert_eq!((text_at(&w, "n"), waiting(&w)), (Some(mine), vec![made]));
    // Another file at the path of one that was removed, and removed, too.
    let w = World::with(&text);
    let removed = entry_of(&w, &[("a", None)]);
    fs::write(w.workspace.full("a"), "mine 1\n").expect("written");
    entry_of(&w, &[("a", None)]);
    assert!(all_stays(&w));
    assert_eq!((text_at(&w, "a"), waiting(&w)), (Some("mine 1\n".into()), vec![removed]));
}

#[test]
fn what_entries_took_back_of_each_other_is_decided_where_another_file_stays() {
    let w = World::with("one\n");
    let first = entry_of(&w, &[("a", Some("two\n")), ("b", Some("x\n"))]);
    let second = entry_of(&w, &[("a", Some("one\n"))]);
    fs::write(w.workspace.full("b"), "mine\n").expect("written");
    assert_eq!(waiting(&w), [first, second]);
    assert_eq!(restore_these(&w, &[first, second]), (false, vec![first]));
    assert_eq!(waiting(&w), [first]);
}

#[test]
fn files_that_changed_places_are_undone_together() {
    let (text, other) = (lines_of("line"), lines_of("other"));
    let w = World::with(&text);
    fs::write(w.workspace.full("b"), &other).expect("written");
    let places = entry_of(&w, &[("a", Some(&other)), ("b", Some(&text))]);
    let longer = format!("{other}more\n");
    let later = entry_of(&w, &[("a", Some(&longer))]);
    assert_eq!(restore_these(&w, &[places]), (false, vec![places]));
    assert_eq!(files_of(&w), BTreeMap::from([("a", longer), ("b", text.clone())]));
    assert_eq!((restore_whole(&w, later), restore_whole(&w, places)), (vec![], vec![]));
    assert_eq!((files_of(&w), waiting(&w)), (BTreeMap::from([("a", text), ("b", other)]), vec![]));
}

#[test]
fn nothing_waits_after_all_was_brought_back_to_the_beginning() {
    let text = lines_of("line");
    let w = World::with(&text);
    let moved = entry_of(&w, &[("a", None), ("b", Some(&text))]);
    fs::write(w.workspace.full("b"), format!("{text}mine\n")).expect("written");
    entry_of(&w, &[("b", None)]);
    let plan = restore_plan::plan(&RestoreScope::Since(moved.to_string()), w.stores()).expect("planned");
    let found = plan.look(&Choices::default(), ProposalId(2), w.stores()).expect("looked");
    let ids = undone_by(&plan.request, w.stores()).expect("listed");
    write(&w, &found.proposal, Consent::Flag("--yes"), "undo");
    let written = found.proposal.files.iter().map(|file| file.path.as_str()).chain(plan.already_there(&found.previews));
    let written = written.map(|path| (path.to_string(), true)).collect();
    assert_eq!(record_restored(&ids, &written, None, w.stores()).expect("recorded"), []);
    assert_eq!((files_of(&w), waiting(&w)), (BTreeMap::from([("a", text)]), vec![]));
}
