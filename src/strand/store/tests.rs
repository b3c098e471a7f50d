//! Stores on disk: durability, the gate, exchange.

use super::{Policy, Store, Verified, pull, push};
use crate::strand::id::QName;
use crate::strand::issue::{Draft, Issuer, Refusal, Removal};

fn qname(text: &str) -> QName {
    QName::parse(text).unwrap()
}

fn add(name: &str, body: &str) -> Draft {
    Draft::Add { qname: qname(name), body: body.into(), doc: None, def: None }
}

fn remove(name: &str) -> Draft {
    Draft::Remove { qname: qname(name), how: Removal::Refuse }
}

fn me() -> Issuer {
    Issuer::new("user:me")
}

#[test]
fn a_torn_tail_is_ignored_then_put_aside() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    store.issue(&[add("slot.a", "Int = 1")], &me(), false).unwrap();
    let hash = store.state().state_hash();
    let log = store.inner("op-log.jsonl");
    let whole = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, format!("{whole}{{\"op\":\"add\"")).unwrap();
    let mut store = Store::open(dir.path()).unwrap();
    assert_eq!(store.state().state_hash(), hash);
    store.issue(&[add("slot.b", "Int = 2")], &me(), false).unwrap();
    assert_eq!(store.take_notices().len(), 1);
    let Verified { now, rebuilt, difference } = Store::open(dir.path()).unwrap().verify().unwrap();
    assert_eq!(difference, None);
    assert_eq!(now, rebuilt);
    std::fs::write(&log, std::fs::read_to_string(&log).unwrap().replacen("Int = 1", "Int = 7", 1)).unwrap();
    let mut store = Store::open_from_log(dir.path()).unwrap();
    assert_eq!(store.whole().unwrap_err().kind(), "corrupt");
    assert_eq!(store.issue(&[add("slot.c", "Int = 2")], &me(), false).unwrap_err().kind(), "corrupt");
    let done = Store::repair(dir.path()).unwrap();
    assert_eq!((done.retained, done.quarantined.len()), (1, 2));
    let store = Store::open(dir.path()).unwrap();
    assert!(store.state().named(&qname("slot.b")).is_some() && store.state().named(&qname("slot.a")).is_none());
    let aside = std::fs::read_to_string(store.inner("quarantine.jsonl")).unwrap();
    assert!(aside.contains("Int = 7") && aside.lines().count() == 2, "{aside}");
}

#[test]
fn a_closed_last_transaction_with_a_wrong_sum_is_reported_and_lost_ops_come_from_the_upstream() {
    let (_dir, mut master, _, mut b) = meeting(Policy::Strict);
    b.issue(&[Draft::Replace { qname: qname("slot.draft"), body: "Text = \"z\"".into(), doc: None }], &me(), false)
        .unwrap();
    push(&mut b, &mut master).unwrap();
    let (log, hash) = (b.inner("op-log.jsonl"), b.state().state_hash());
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text.replace("\\\"z\\\"", "\\\"Z\\\"")).unwrap();
    let damaged = Store::open_from_log(b.root()).unwrap();
    let reported = damaged.whole().unwrap_err().to_string();
    let line = text.lines().count();
    assert!(reported.contains(&format!("op-log.jsonl line {line}: the sum does not hold")), "{reported}");
    assert!(damaged.state().named(&qname("tile.NewForm")).is_some());
    let done = Store::repair(b.root()).unwrap();
    assert_eq!((done.quarantined.len(), done.fetched), (2, 1));
    assert_eq!(Store::open(b.root()).unwrap().state().state_hash(), hash);
}

/// Three stores, each the upstream of the next: what a middle one withdraws is withdrawn below, and stays there.
#[test]
fn what_an_upstream_withdraws_is_preserved_with_its_dependants() {
    let (_dir, mut top, mut remover, _) = meeting(Policy::Strict);
    let root = |name: &str| top.root().with_file_name(name);
    let (middle_root, below_root) = (root("middle"), root("below"));
    let mut middle = top.snapshot(&middle_root).unwrap();
    let mut below = middle.snapshot(&below_root).unwrap();
    below.issue(&[add("tile.Form", "input(bind=draft, label=\"d\")")], &me(), false).unwrap();
    assert_eq!(push(&mut below, &mut middle).unwrap().exit(), 0);
    assert_eq!(push(&mut remover, &mut top).unwrap().exit(), 0);
    let patch = serde_json::json!({"body:1": "set input(bind=draft, label=\"mine\")"});
    below.issue(&[Draft::Edit { qname: qname("tile.Form"), patch }], &me(), false).unwrap();
    below.issue(&[add("tile.Page", "column { Form() }"), add("slot.own", "Int = 4")], &me().bundled(), false).unwrap();
    let at_middle = pull(&mut middle, &mut top, true).unwrap();
    assert_eq!((at_middle.withdrawn.len(), at_middle.exit(), at_middle.records.len()), (1, 4, 1));
    let at_below = pull(&mut below, &mut middle, true).unwrap();
    assert_eq!((at_below.withdrawn.len(), at_below.exit()), (4, 4));
    let records = below.conflicts().unwrap();
    assert_eq!((records.len(), records[0].kind.as_str(), records[0].ops.len()), (1, "withdrawn", 4));
    assert_eq!(below.state().state_hash(), middle.state().state_hash());
    assert_eq!(Store::open_from_log(below.root()).unwrap().state().state_hash(), middle.state().state_hash());
    // Once what they need is there again, all of it comes back.
    below.issue(&[add("slot.draft", "Text = \"new\"")], &me(), false).unwrap();
    let ops: Vec<_> = records[0].ops.iter().map(|op| crate::strand::op::Op::from_json(op).unwrap()).collect();
    below.transact(false, |state| crate::strand::issue::reissue(state, &ops, &me())).unwrap();
    let text = |name: &str| below.state().named(&qname(name)).map(|view| view.text().to_owned()).unwrap_or_default();
    assert!(
        text("tile.Form").contains("mine") && text("tile.Page").contains("Form()") && text("slot.own").contains('4')
    );
    assert_eq!(below.check().unwrap(), []);
    assert_eq!(push(&mut below, &mut middle).unwrap().exit(), 0);
    assert_eq!(push(&mut middle, &mut top).unwrap().exit(), 0);
}

/// Creates a master with a slot, and two snapshots of it: one removes the slot, one refers to it.
fn meeting(policy: Policy) -> (tempfile::TempDir, Store, Store, Store) {
    let dir = tempfile::tempdir().unwrap();
    let mut master = Store::init(&dir.path().join("m")).unwrap();
    let mut config = master.config().clone();
    config.policy = policy;
    master.set_config(config).unwrap();
    master.issue(&[add("slot.draft", "Text = \"x\"")], &me(), false).unwrap();
    let mut a = master.snapshot(&dir.path().join("a")).unwrap();
    let mut b = master.snapshot(&dir.path().join("b")).unwrap();
    a.issue(&[remove("slot.draft")], &me(), false).unwrap();
    b.issue(&[add("tile.NewForm", "input(bind=draft, label=\"d\")")], &me(), false).unwrap();
    (dir, master, a, b)
}

#[test]
fn a_pull_tells_what_was_absorbed_once() {
    let (_dir, mut master, mut a, mut b) = meeting(Policy::Warn);
    a.issue(&[add("slot.x", "Int = 1")], &me(), false).unwrap();
    b.issue(&[add("slot.x", "Int = 2")], &me(), false).unwrap();
    let id = |store: &Store| store.state().named(&qname("slot.x")).unwrap().id;
    let (winner, loser) = (id(&a).min(id(&b)), id(&a).max(id(&b)));
    push(&mut a, &mut master).unwrap();
    let pulled = pull(&mut b, &mut master, true).unwrap();
    assert_eq!(pulled.result.absorbed, [("slot.x".to_owned(), winner, loser)]);
    assert_eq!(pull(&mut b, &mut master, true).unwrap().result.absorbed, []);
}

#[test]
fn records_that_several_write_at_once_are_all_preserved() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.jsonl");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                for n in 0..25 {
                    super::disk::append_lines(path, &format!("{writer} {n}\n")).unwrap();
                }
            });
        }
    });
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: std::collections::BTreeSet<&str> = text.lines().collect();
    assert_eq!((lines.len(), text.lines().count()), (100, 100));
}

#[test]
fn strict_refuses_the_newcomer_and_pull_withdraws_it() {
    let (_dir, mut master, mut a, mut b) = meeting(Policy::Strict);
    assert_eq!(push(&mut a, &mut master).unwrap().exit(), 0);
    let result = push(&mut b, &mut master).unwrap();
    assert_eq!(result.exit(), 4);
    assert_eq!(result.rejected[0].edges, [("tile.NewForm:1".to_owned(), "slot.draft".to_owned())]);
    // Offered again, it is refused again under the record it has.
    let again = push(&mut b, &mut master).unwrap();
    assert_eq!((again.rejected, master.conflicts().unwrap().len()), (result.rejected, 1));
    let pulled = pull(&mut b, &mut master, true).unwrap();
    assert_eq!(pulled.withdrawn.len(), 1);
    assert_eq!(b.state().state_hash(), master.state().state_hash());
    assert_eq!(Store::open(b.root()).unwrap().state().state_hash(), master.state().state_hash());
    assert_eq!(b.conflicts().unwrap().len(), 1);
}

#[test]
fn heal_and_warn_accept_both() {
    let (_dir, mut master, mut a, mut b) = meeting(Policy::Heal);
    push(&mut a, &mut master).unwrap();
    let result = push(&mut b, &mut master).unwrap();
    assert_eq!((result.exit(), result.healed.len()), (0, 1));
    assert_eq!(master.state().named(&qname("slot.draft")).unwrap().text(), "slot draft = Text = \"\"\n");
    assert_eq!(master.check().unwrap(), []);
    pull(&mut a, &mut master, true).unwrap();
    pull(&mut b, &mut master, true).unwrap();
    assert_eq!(a.state().state_hash(), b.state().state_hash());
    let (_dir, mut master, mut a, mut b) = meeting(Policy::Warn);
    push(&mut a, &mut master).unwrap();
    assert_eq!(push(&mut b, &mut master).unwrap().warnings.len(), 1);
    assert_eq!(master.check().unwrap()[0].code, "E0501");
}

#[test]
fn both_sides_of_one_transaction_are_rolled_back() {
    let (_dir, mut master, a, b) = meeting(Policy::Strict);
    let before = master.state().state_hash();
    let mut ops = a.ops();
    ops.extend(b.ops());
    let result = master.accept(ops).unwrap();
    assert_eq!((result.rejected.len(), result.accepted.len()), (2, 0));
    assert_eq!(master.state().state_hash(), before);
}

#[test]
fn files_are_writable_for_those_whom_the_mask_of_the_process_allows() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let mode = |name: &str| std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777;
    std::fs::write(dir.path().join("like-this"), "").unwrap();
    let store = Store::init(dir.path()).unwrap();
    super::disk::make_below(dir.path(), "made", b"text").unwrap();
    assert!(super::disk::replace_below(dir.path(), "replaced", None, b"text").unwrap());
    super::atomic_write(&store.inner("config.json"), b"{}").unwrap();
    for name in [".gitignore", "made", "replaced", ".strand/config.json", ".strand/op-log.jsonl"] {
        assert_eq!(mode(name), mode("like-this"), "{name}");
    }
    // One that is there keeps its own.
    let path = dir.path().join("made");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(super::disk::replace_below(dir.path(), "made", Some(b"text"), b"other").unwrap());
    assert_eq!((mode("made"), std::fs::read(&path).unwrap()), (0o640, b"other".to_vec()));
}

#[test]
fn what_the_checkpoint_has_is_dropped_from_memory_where_much_is_held() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut store, mut other) = (Store::init(dir.path()).unwrap(), Store::init(other.path()).unwrap());
    // One that waits for its parent is still there in the end.
    let ops = [add("slot.w", "Int = 1"), add("slot.v", "Int = 2")];
    other.issue(&ops[..1], &me(), false).unwrap();
    let parent = other.ops();
    let replace = Draft::Replace { qname: QName::parse("slot.w").unwrap(), body: "Int = 3".into(), doc: None };
    other.issue(&[replace], &me(), false).unwrap();
    assert_eq!(store.accept(other.ops().split_off(1)).unwrap().pending.len(), 1);
    for round in 0..4 {
        let names = 0..40;
        let drafts: Vec<Draft> = names.map(|n| add(&format!("slot.s{round}x{n}"), "Int = 0")).collect();
        store.issue(&drafts, &me(), false).unwrap();
        let user = |n: usize| add(&format!("reducer.r{round}x{n}"), &format!("do= s0x{n} := {round}"));
        store.issue(&(0..10).map(user).collect::<Vec<_>>(), &me(), false).unwrap();
        assert_eq!(store.check().unwrap(), []);
        assert!(store.state().weight() > super::checkpoint::MOST_HELD);
        store.relieve();
        assert_eq!(store.state().weight(), 0);
        let hash = Store::open_from_log(dir.path()).unwrap().state().state_hash();
        assert_eq!(store.state().state_hash(), hash);
    }
    assert_eq!(store.accept(parent).unwrap().accepted.len(), 2);
    assert_eq!(store.state().named(&QName::parse("slot.w").unwrap()).unwrap().text(), "slot w = Int = 3\n");
    assert_eq!(store.verify().unwrap().difference, None);
}

#[test]
fn a_checkpoint_with_a_view_in_the_place_of_a_table_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    store.issue(&[add("slot.a", "Int = 1")], &me(), false).unwrap();
    store.checkpoint();
    let path = store.inner("store.crdt");
    drop(store);
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("ALTER TABLE defs RENAME TO real; CREATE VIEW defs AS SELECT * FROM real").unwrap();
    drop(db);
    let mut store = Store::open(dir.path()).unwrap();
    let told = store.take_notices();
    assert!(told.len() == 1 && told[0].contains("view"), "{told:?}");
    assert!(store.state().named(&qname("slot.a")).is_some());
    store.checkpoint();
    assert_eq!(Store::open(dir.path()).unwrap().take_notices(), Vec::<String>::new());
}

#[test]
fn the_checkpoint_stands_where_the_log_ends_or_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    let rows = |name: &str| super::read_checkpoint(dir.path(), Some(crate::strand::id::Layer::Slot), Some(name));
    store.issue(&[add("slot.a", "Int = 1")], &me(), false).unwrap();
    assert_eq!(rows("a"), None);
    store.checkpoint();
    assert_eq!(rows("a").unwrap()[0].text, "slot a = Int = 1\n");
    store.issue(&[add("slot.b", "Int = 2")], &me(), false).unwrap();
    assert_eq!(rows("a"), None);
    store.checkpoint();
    assert_eq!((rows("a").unwrap().len(), rows("b").unwrap().len()), (1, 1));
    store.issue(&[remove("slot.a")], &me(), false).unwrap();
    store.checkpoint();
    assert_eq!(rows("a").unwrap(), []);
    std::fs::write(store.inner("store.crdt"), "damaged").unwrap();
    std::fs::remove_file(store.inner("store.crdt-wal")).unwrap();
    assert_eq!(rows("b"), None);
    let mut store = Store::open(dir.path()).unwrap();
    assert_eq!(store.take_notices().len(), 1);
    store.checkpoint();
    assert_eq!(store.take_notices(), Vec::<String>::new());
    store.issue(&[add("slot.c", "Int = 3")], &me(), false).unwrap();
    store.checkpoint();
    assert_eq!(rows("c").unwrap().len(), 1);
}

#[test]
fn ops_wait_on_disk_for_their_parents() {
    let dir = tempfile::tempdir().unwrap();
    let mut a = Store::init(&dir.path().join("a")).unwrap();
    a.issue(&[add("slot.n", "Int = 1")], &me(), false).unwrap();
    let replace = Draft::Replace { qname: qname("slot.n"), body: "Int = 2".into(), doc: None };
    a.issue(&[replace], &me(), false).unwrap();
    let ops = a.ops();
    let mut b = Store::init(&dir.path().join("b")).unwrap();
    let result = b.accept(vec![ops[1].clone()]).unwrap();
    assert_eq!(result.pending, [(ops[1].id, vec![ops[0].id])]);
    let mut b = Store::open(b.root()).unwrap();
    assert_eq!(b.state().graph().pending().count(), 1);
    let result = b.accept(vec![ops[0].clone(), ops[0].clone()]).unwrap();
    assert_eq!((result.accepted.len(), result.pending.len()), (2, 0));
    assert_eq!(b.state().state_hash(), a.state().state_hash());
    assert_eq!(Store::open(b.root()).unwrap().state().state_hash(), a.state().state_hash());
    let mut forged = ops[0].clone();
    forged.body = Some("Int = 9".into());
    let result = b.accept(vec![forged]).unwrap();
    assert_eq!((result.exit(), result.rejected[0].reason), (2, "op-id-collision"));
}

#[test]
fn a_withdrawn_bundle_can_be_issued_again() {
    let (_dir, mut master, mut a, mut b) = meeting(Policy::Strict);
    push(&mut a, &mut master).unwrap();
    pull(&mut b, &mut master, true).unwrap();
    let conflict = b.conflicts().unwrap().remove(0);
    assert_eq!((conflict.kind.as_str(), conflict.status.as_str()), ("dangling", "open"));
    b.issue(&[add("slot.draft", "Text = \"y\"")], &me(), false).unwrap();
    let ops: Vec<_> = conflict.ops.iter().map(|op| crate::strand::op::Op::from_json(op).unwrap()).collect();
    b.transact(false, |state| crate::strand::issue::reissue(state, &ops, &me())).unwrap();
    assert_eq!(b.check().unwrap(), []);
    assert_eq!(push(&mut b, &mut master).unwrap().exit(), 0);
    assert_eq!(b.state().state_hash(), master.state().state_hash());
}

#[test]
fn merging_tells_what_it_hid_until_someone_saw_it() {
    use crate::strand::findings::findings;
    let dir = tempfile::tempdir().unwrap();
    let mut master = Store::init(&dir.path().join("m")).unwrap();
    master.issue(&[add("fn.f", "() -> Int = 1")], &me(), false).unwrap();
    let mut a = master.snapshot(&dir.path().join("a")).unwrap();
    let mut b = master.snapshot(&dir.path().join("b")).unwrap();
    let replace = Draft::Replace { qname: qname("fn.f"), body: "() -> Int = 2".into(), doc: None };
    let patch = serde_json::json!({"expr": "set 3"});
    a.issue(&[Draft::Edit { qname: qname("fn.f"), patch }, add("slot.n", "Int = 1")], &me(), false).unwrap();
    b.issue(&[replace, add("slot.n", "Int = 2")], &me(), false).unwrap();
    push(&mut a, &mut master).unwrap();
    push(&mut b, &mut master).unwrap();
    let codes =
        |store: &Store| -> Vec<&str> { findings(store.state(), false).iter().map(|finding| finding.code).collect() };
    assert_eq!(codes(&master), ["W0901", "W0902"]);
    let again = |name: &str, body: &str| Draft::Replace { qname: qname(name), body: body.into(), doc: None };
    master.issue(&[again("slot.n", "Int = 3"), again("fn.f", "() -> Int = 4")], &me(), false).unwrap();
    assert_eq!(codes(&master), Vec::<&str>::new());
}

/// A writer that dies after any byte leaves a store with exactly what was committed.
#[test]
fn a_log_cut_anywhere_opens_with_what_was_committed() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    let mut ends = vec![(store.offset, store.state().state_hash())];
    for n in 0..3 {
        store.issue(&[add(&format!("slot.s{n}"), "Int = 1")], &me(), false).unwrap();
        ends.push((store.offset, store.state().state_hash()));
    }
    let log = std::fs::read(store.inner("op-log.jsonl")).unwrap();
    // Every byte of the last transaction, and some of those before.
    for cut in (ends[0].0 as usize..ends[2].0 as usize).step_by(7).chain(ends[2].0 as usize..=log.len()) {
        std::fs::write(store.inner("op-log.jsonl"), &log[..cut]).unwrap();
        let expected = ends.iter().rev().find(|(end, _)| *end as usize <= cut).unwrap();
        let mut opened = Store::open(dir.path()).unwrap();
        assert_eq!(opened.state().state_hash(), expected.1, "cut at {cut}");
        if cut % 5 == 0 {
            opened.issue(&[add("slot.after", "Int = 2")], &me(), false).unwrap();
            let Verified { now, rebuilt, difference } = Store::open(dir.path()).unwrap().verify().unwrap();
            assert_eq!(difference, None);
            assert_eq!(now, rebuilt);
        }
    }
}

#[test]
fn a_rehearsal_leaves_the_state_as_it_was_and_loads_only_what_it_touches() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    store.issue(&[add("slot.a", "Int = 1"), add("slot.b", "Int = a")], &me(), false).unwrap();
    store.checkpoint();
    let mut store = Store::open(dir.path()).unwrap();
    let hash = store.state().state_hash();
    let cascade = Draft::Remove { qname: qname("slot.a"), how: Removal::Cascade };
    let work = |state: &mut crate::strand::state::State| crate::strand::issue::issue(state, &cascade, &me());
    let (ops, left) = store.rehearse_write(work, |state, _| state.visible().count()).unwrap();
    assert_eq!((ops.len(), left), (2, 0));
    assert!(!store.state().is_whole());
    assert_eq!((store.state().state_hash(), store.ops().len()), (hash, 2));
    assert_eq!(Store::open(dir.path()).unwrap().ops().len(), 2);
}

/// Ops that another brings while their bundle's last one waits for a parent it has not brought.
#[test]
fn a_logged_op_whose_bundle_mate_waits_stays_admitted_from_log_and_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let mut other = Store::init(&dir.path().join("other")).unwrap();
    let first = other.issue(&[add("slot.a", "Int = 1")], &me(), false).unwrap().ops;
    let pair = [add("slot.b", "Int = 2"), Draft::Replace { qname: qname("slot.a"), body: "Int = 3".into(), doc: None }];
    let pair = other.issue(&pair, &me().bundled(), false).unwrap().ops;
    let root = dir.path().join("here");
    let mut store = Store::init(&root).unwrap();
    // The first half is logged before it is known that a second half belongs to it.
    store.state.apply([pair[0].clone()]);
    store.commit(&[pair[0].clone()], &[]).unwrap();
    store.accept(vec![pair[1].clone()]).unwrap();
    for _ in 0..2 {
        let store = Store::open(&root).unwrap();
        assert!(store.state().graph().has(pair[0].id) && !store.state().graph().has(pair[1].id));
        assert_eq!(store.state().graph().pending().count(), 1);
        let mut store = Store::open_from_log(&root).unwrap();
        assert!(store.state().named(&qname("slot.b")).is_some());
        assert_eq!(store.verify().unwrap().now, store.verify().unwrap().rebuilt);
        store.checkpoint();
    }
    let mut store = Store::open(&root).unwrap();
    store.accept(first).unwrap();
    assert_eq!(store.state().state_hash(), other.state().state_hash());
}

#[test]
fn a_slot_renamed_at_once_to_what_a_binder_is_called_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let mut a = Store::init(&dir.path().join("a")).unwrap();
    a.issue(&[add("slot.old", "Int = 1"), add("reducer.r", "in=(n: Int) do=old := n")], &me(), false).unwrap();
    let mut b = a.snapshot(&dir.path().join("b")).unwrap();
    let patch = serde_json::json!({"body:1": "set old := old + n"});
    b.issue(&[Draft::Edit { qname: qname("reducer.r"), patch }], &me(), false).unwrap();
    let rename = |to: &str| Draft::Rename { qname: qname("slot.old"), to: to.into() };
    a.issue(&[rename("n")], &me(), false).unwrap();
    let reported = |store: &Store| -> Vec<String> {
        crate::strand::findings::findings(store.state(), true)
            .into_iter()
            .map(|found| found.id() + " " + &found.message)
            .collect()
    };
    assert_eq!(reported(&a), Vec::<String>::new());
    push(&mut b, &mut a).unwrap();
    let [line] = reported(&a).try_into().unwrap();
    assert!(line.starts_with("W0905@reducer.r 'n' means the slot here"), "{line}");
    a.issue(&[Draft::Rename { qname: qname("slot.n"), to: "sum".into() }], &me(), false).unwrap();
    assert_eq!(reported(&a), Vec::<String>::new());
}

#[test]
fn no_time_an_op_names_makes_a_definition_uneditable() {
    let dir = tempfile::tempdir().unwrap();
    let mut a = Store::init(&dir.path().join("a")).unwrap();
    let first = a.issue(&[add("slot.a", "Int = 1")], &me(), false).unwrap().ops.remove(0);
    let mut late = a.ops().remove(0);
    (late.id, late.def) = (crate::strand::id::new_op_id(), Some(first.id));
    (late.kind, late.parents, late.ts) = (crate::strand::op::Kind::Replace, [first.id].into_iter().collect(), i64::MAX);
    // The gate keeps it out, and what is in a log all the same has no effect.
    let result = a.accept(vec![late.clone()]).unwrap();
    assert_eq!((result.exit(), result.rejected[0].reason, a.conflicts().unwrap().len()), (2, "clock", 0));
    a.state.apply([late.clone()]);
    a.commit(&[late.clone()], &[]).unwrap();
    assert!(a.state().graph().node(late.id).unwrap().void.is_some());
    let replace = Draft::Replace { qname: qname("slot.a"), body: "Int = 2".into(), doc: None };
    a.issue(&[replace], &me(), false).unwrap();
    assert_eq!(a.state().named(&qname("slot.a")).unwrap().text(), "slot a = Int = 2\n");
    assert_eq!(Store::open_from_log(a.root()).unwrap().state().state_hash(), a.state().state_hash());
}

#[test]
fn only_what_healing_makes_passes_a_lock() {
    let (_dir, mut master, mut a, mut b) = meeting(Policy::Heal);
    let lock = |owner: &str| super::Lock { owner: owner.into(), pattern: "slot.*".into(), since: 0 };
    push(&mut a, &mut master).unwrap();
    push(&mut b, &mut master).unwrap();
    let healed = master.ops().into_iter().find(|op| &*op.author == "strand:heal").unwrap();
    // To a third store, with the remove it heals, though the slots belong to someone else there by then.
    let third_root = master.root().with_file_name("third");
    let mut third = Store::init(&third_root).unwrap();
    third.change_config(|config| config.set("conflict-policy", "warn").map_err(|m| Refusal::Usage(m).into())).unwrap();
    let rest: Vec<_> = master.ops().into_iter().filter(|op| op.id != healed.id).collect();
    third.accept(rest).unwrap();
    third
        .change_locks(|locks| {
            locks.push(lock("other"));
            Ok(())
        })
        .unwrap();
    for change in [
        |op: &mut crate::strand::op::Op| op.body = Some("Text = \"mine\"".into()),
        |op: &mut crate::strand::op::Op| op.id = crate::strand::id::new_op_id(),
    ] {
        let mut forged = healed.clone();
        change(&mut forged);
        forged.ts += 1;
        assert_eq!(third.accept(vec![forged]).unwrap().rejected[0].reason, "locked");
    }
    let mut edit = healed.clone();
    edit.kind = crate::strand::op::Kind::Replace;
    edit.id = crate::strand::id::new_op_id();
    assert_eq!(third.accept(vec![edit]).unwrap().rejected[0].reason, "locked");
    assert_eq!(third.accept(vec![healed]).unwrap().rejected, []);
}

/// Runs the work in a thread with little stack: whatever may nest or follow without end must fit it.
fn on_little_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn inserts_within_inserts_nest_no_deeper_than_a_text_may() {
    use crate::strand::id::UnitId;
    use crate::strand::op::{Change, Insert, Kind};
    on_little_stack(|| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::init(dir.path()).unwrap();
        let first = store.issue(&[add("tile.T", "column { }")], &me(), false).unwrap().ops.remove(0);
        let nested = |levels: u32, store: &mut Store| {
            let mut op = store.ops().remove(0);
            (op.kind, op.id, op.def, op.base) =
                (Kind::Edit, crate::strand::id::new_op_id(), Some(first.id), Some(first.id));
            (op.body, op.parents, op.ts) = (None, [first.id].into_iter().collect(), op.ts + 1);
            let unit = |n: u32| if n == 0 { UnitId { op: first.id, n: 1 } } else { UnitId { op: op.id, n } };
            let regs = || [("elem".to_owned(), "column".to_owned())].into();
            op.changes = (1..=levels)
                .map(|n| Insert { id: unit(n), after: None, parent: Some(unit(n - 1)), regs: regs() })
                .map(|insert| Change::Insert(Box::new(insert)))
                .collect();
            let id = op.id;
            store.accept(vec![op]).unwrap();
            store.state().graph().node(id).unwrap().void.clone()
        };
        assert!(nested(16_000, &mut store).unwrap().contains("deeper than 96"));
        assert_eq!(nested(96, &mut store), None);
        let text = store.state().named(&qname("tile.T")).unwrap().text().to_owned();
        assert_eq!(text.matches("column").count(), 97);
        let body = text.split_once('=').unwrap().1;
        assert!(crate::strand::lang::parse::parse_body(crate::strand::id::Layer::Tile, body).is_ok());
        store.check().unwrap();
        assert_eq!(Store::open_from_log(dir.path()).unwrap().state().state_hash(), store.state().state_hash());
    });
}

#[test]
fn long_chains_of_definitions_are_no_deep_recursion() {
    on_little_stack(|| {
        const LINKS: usize = 3_000;
        let mut drafts = Vec::new();
        let name = |layer: &str, n: usize| format!("{layer}{n}");
        for n in 0..LINKS {
            let next = |layer: &str, end: &str| if n == 0 { end.to_owned() } else { name(layer, n - 1) };
            drafts.push(add(&format!("type.{}", name("T", n)), &next("T", "Int")));
            let call = if n == 0 { "1".to_owned() } else { format!("{}()", name("f", n - 1)) };
            drafts.push(add(&format!("fn.{}", name("f", n)), &format!("() -> Int = {call}")));
            let child = if n == 0 { "text(value=\"x\")".to_owned() } else { format!("{}()", name("U", n - 1)) };
            drafts.push(add(&format!("tile.{}", name("U", n)), &format!("column {{ {child} }}")));
        }
        let last = LINKS - 1;
        drafts.push(add("slot.s", &format!("T{last} = f{last}()")));
        drafts.push(add("reducer.r", &format!("do= s := f{last}()")));
        let mut state = crate::strand::state::State::new();
        crate::strand::issue::issue_all(&mut state, &drafts, &me()).unwrap();
        let caps = crate::strand::check::all_capabilities();
        crate::strand::check::Checks::full(&state, &caps);
        // A cycle through all of them.
        let close = add("fn.g", &format!("() -> Int = f{last}()"));
        crate::strand::issue::issue_all(&mut state, &[close], &me()).unwrap();
        let turn = Draft::Replace { qname: qname("fn.f0"), body: "() -> Int = g()".into(), doc: None };
        crate::strand::issue::issue_all(&mut state, &[turn], &me()).unwrap();
        crate::strand::check::Checks::full(&state, &caps);
    });
}

#[test]
fn a_conflict_that_a_crash_cut_within_a_character_hides_none_of_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::init(dir.path()).unwrap();
    let conflict = |id: &str| super::Conflict {
        id: id.to_owned(),
        kind: "clash".to_owned(),
        policy: "ask".to_owned(),
        at: 1,
        edges: Vec::new(),
        ops: Vec::new(),
        status: "open".to_owned(),
    };
    store.record_conflicts(&[conflict("one")]).unwrap();
    let path = dir.path().join(".strand/conflicts.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"conflict\": \"\xe3\x81");
    std::fs::write(&path, bytes).unwrap();
    store.record_conflicts(&[conflict("two")]).unwrap();
    let ids: Vec<String> = store.conflicts().unwrap().into_iter().map(|conflict| conflict.id).collect();
    assert_eq!(ids, ["one", "two"]);
}

/// Git with `core.autocrlf` gives a log the line ends of another system.
#[test]
fn a_log_with_other_line_ends_is_read_and_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    store.issue(&[add("slot.a", "Int = 1"), add("slot.b", "Int = 2")], &me(), false).unwrap();
    let (log, hash) = (store.inner("op-log.jsonl"), store.state().state_hash());
    drop(store);
    let text = std::fs::read_to_string(&log).unwrap();
    let converted = text.replace('\n', "\r\n");
    std::fs::write(&log, &converted).unwrap();
    std::fs::remove_file(dir.path().join(".strand/store.crdt")).ok();
    let done = Store::repair(dir.path()).unwrap();
    assert_eq!((done.retained, done.quarantined.len(), std::fs::read_to_string(&log).unwrap()), (2, 0, text.clone()));
    std::fs::write(&log, &converted).unwrap();
    let mut store = Store::open_from_log(dir.path()).unwrap();
    assert_eq!((store.whole().is_ok(), store.state().state_hash()), (true, hash));
    store.issue(&[add("slot.c", "Int = 3")], &me(), false).unwrap();
    assert!(std::fs::read_to_string(&log).unwrap().starts_with(&text));
}

#[test]
fn the_attributes_of_an_older_store_are_updated_by_the_next_write() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    let attributes = dir.path().join(".gitattributes");
    let current = ".strand/*.jsonl merge=union -text\n";
    assert_eq!(std::fs::read_to_string(&attributes).unwrap(), current);
    std::fs::write(&attributes, "*.md text\n.strand/*.jsonl merge=union\n").unwrap();
    store.issue(&[add("slot.a", "Int = 1")], &me(), false).unwrap();
    assert_eq!(std::fs::read_to_string(&attributes).unwrap(), format!("*.md text\n{current}"));
}

#[test]
fn only_a_write_updates_the_attributes_and_only_their_line() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    let attributes = dir.path().join(".gitattributes");
    let old = "# mine\r\n.strand/*.jsonl merge=union\r\n*.md text";
    std::fs::write(&attributes, old).unwrap();
    store.begin_rehearsal();
    store.issue(&[add("slot.a", "Int = 1")], &me(), false).unwrap();
    store.end_rehearsal();
    assert_eq!(std::fs::read_to_string(&attributes).unwrap(), old);
    store.take_notices();
    store.issue(&[add("slot.a", "Int = 1")], &me(), false).unwrap();
    let new = "# mine\r\n.strand/*.jsonl merge=union -text\r\n*.md text";
    assert_eq!(std::fs::read_to_string(&attributes).unwrap(), new);
    assert_eq!(store.take_notices().len(), 1);
}

#[test]
fn a_log_with_other_line_ends_is_read_where_it_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    store.issue(&[add("slot.a", "Int = 1"), add("slot.b", "Int = 2")], &me(), false).unwrap();
    let (log, hash, lock) = (store.inner("op-log.jsonl"), store.state().state_hash(), store.inner("lock"));
    drop(store);
    let converted = std::fs::read_to_string(&log).unwrap().replace('\n', "\r\n");
    std::fs::write(&log, &converted).unwrap();
    std::fs::remove_file(dir.path().join(".strand/store.crdt")).ok();
    std::fs::remove_file(&lock).unwrap();
    // As on a file system that is only read.
    std::fs::create_dir(&lock).unwrap();
    let mut store = Store::open(dir.path()).unwrap();
    store.catch_up().unwrap();
    assert_eq!((store.whole().is_ok(), store.state().state_hash()), (true, hash.clone()));
    assert!(store.issue(&[add("slot.c", "Int = 3")], &me(), false).is_err());
    assert_eq!(std::fs::read_to_string(&log).unwrap(), converted);
    std::fs::remove_dir(&lock).unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.state().state_hash(), hash);
    assert!(!std::fs::read_to_string(&log).unwrap().contains('\r'));
}
