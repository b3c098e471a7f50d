//! The program may end at any write, flush or rename: what was accepted stays, what was not never shows.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Before, Config, Policy, Store, Verified, fault, pull, push};
use crate::strand::id::{OpId, QName};
use crate::strand::issue::{Draft, Issuer, Removal};
use crate::strand::op::Op;

fn qname(text: &str) -> QName {
    QName::parse(text).unwrap()
}

fn add(name: &str, body: &str) -> Draft {
    Draft::Add { qname: qname(name), body: body.into(), doc: None, def: None }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn known(store: &Store) -> BTreeSet<OpId> {
    store.ops().iter().map(|op| op.id).chain(store.state().graph().pending().map(|op| op.id)).collect()
}

/// Does something to copies of a store, ending the program at each step in turn, and looks at what is left. `work`
/// returns the ops it was told are accepted or wait.
fn at_every_step(before: &Path, work: impl Fn(&Path) -> Result<Vec<OpId>, super::Error>) {
    let had = known(&Store::open(before).unwrap());
    for torn in [false, true] {
        for steps in 1.. {
            let dir = tempfile::tempdir().unwrap();
            copy(before, dir.path());
            fault::after(steps, torn);
            let reported = work(dir.path());
            if !fault::clear() {
                assert!(reported.is_ok() && steps > 1, "{reported:?}");
                break;
            }
            // Reading changes nothing; writing puts aside what is torn.
            let seen = known(&Store::open(dir.path()).unwrap());
            assert!(seen.is_superset(&had), "something accepted was lost at step {steps}");
            let reported: BTreeSet<OpId> = reported.into_iter().flatten().collect();
            assert!(seen.is_superset(&reported), "something told to be accepted was lost at step {steps}");
            let mut store = Store::open(dir.path()).unwrap();
            store.issue(&[add("slot.afterwards", "Int = 1")], &Issuer::new("user:me"), false).unwrap();
            store.checkpoint();
            let Verified { now, rebuilt, difference } = Store::open(dir.path()).unwrap().verify().unwrap();
            assert_eq!(difference, None);
            assert_eq!(now, rebuilt, "at step {steps}");
            assert!(known(&Store::open_from_log(dir.path()).unwrap()).is_superset(&seen));
        }
    }
}

/// Creates a store with a slot, a tile that refers to it, and a checkpoint a little behind.
fn store(dir: &Path) -> Store {
    let mut store = Store::init(dir).unwrap();
    let me = Issuer::new("user:me");
    store.issue(&[add("slot.draft", "Text = \"x\"")], &me, false).unwrap();
    store.checkpoint();
    store.issue(&[add("tile.Form", "input(bind=draft, label=\"d\")")], &me, false).unwrap();
    store
}

#[test]
fn issuing_and_settings_survive_any_end() {
    let dir = tempfile::tempdir().unwrap();
    drop(store(dir.path()));
    at_every_step(dir.path(), |root| {
        let mut store = Store::open(root)?;
        let first =
            store.issue(&[add("slot.a", "Int = 1"), add("slot.b", "Int = a")], &Issuer::new("user:me"), false)?;
        store.checkpoint();
        store.set_config(Config { policy: Policy::Warn, ..store.config().clone() })?;
        let rename = Draft::Rename { qname: qname("slot.a"), to: "c".into() };
        // What the first write was told to have done must be there whatever becomes of the second.
        let second = store.issue(&[rename], &Issuer::new("user:me"), false);
        let second = second.map(|written| written.ops).unwrap_or_default();
        Ok(first.ops.iter().chain(&second).map(|op| op.id).collect())
    });
}

#[test]
fn a_torn_end_is_put_aside_whatever_happens() {
    let dir = tempfile::tempdir().unwrap();
    drop(store(dir.path()));
    let log = dir.path().join(".strand/op-log.jsonl");
    let mut text = std::fs::read(&log).unwrap();
    text.extend_from_slice(b"{\"op\":\"add\",\"layer\"");
    std::fs::write(&log, text).unwrap();
    at_every_step(dir.path(), |root| {
        let written = Store::open(root)?.issue(&[add("slot.a", "Int = 1")], &Issuer::new("user:me"), false)?;
        Ok(written.ops.iter().map(|op| op.id).collect())
    });
}

#[test]
fn waiting_ops_survive_any_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut other = store(&dir.path().join("other"));
    let replace = Draft::Replace { qname: qname("slot.draft"), body: "Text = \"y\"".into(), doc: None };
    other.issue(&[replace], &Issuer::new("user:me"), false).unwrap();
    let ops = other.ops();
    let (first, rest): (Vec<Op>, Vec<Op>) = (vec![ops[0].clone()], ops[1..].to_vec());
    let root = dir.path().join("empty");
    drop(Store::init(&root).unwrap());
    let offered: Vec<OpId> = rest.iter().map(|op| op.id).collect();
    at_every_step(&root, |root| Store::open(root)?.accept(rest.clone()).map(|_| offered.clone()));
    Store::open(&root).unwrap().accept(rest.clone()).unwrap();
    assert_eq!(Store::open(&root).unwrap().state().graph().pending().count(), 2);
    at_every_step(&root, |root| Store::open(root)?.accept(first.clone()).map(|_| offered.clone()));
}

#[test]
fn a_waiting_op_that_is_admitted_while_others_wait_on_survives_any_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut other = store(&dir.path().join("other"));
    let me = Issuer::new("user:me");
    let replace = |name: &str, body: &str| Draft::Replace { qname: qname(name), body: body.into(), doc: None };
    other.issue(&[add("slot.late", "Int = 0")], &me, false).unwrap();
    other.issue(&[replace("slot.draft", "Text = \"y\"")], &me, false).unwrap();
    other.issue(&[replace("slot.late", "Int = 1")], &me, false).unwrap();
    let parent = |op: &&Op| op.kind.word() == "add" && *op.name == *"draft";
    let (first, waiting): (Vec<Op>, Vec<Op>) = {
        let ops = other.ops();
        (
            ops.iter().filter(parent).cloned().collect(),
            ops.into_iter().filter(|op| op.kind.word() == "replace").collect(),
        )
    };
    let root = dir.path().join("empty");
    Store::init(&root).unwrap().accept(waiting.clone()).unwrap();
    let offered: Vec<OpId> = waiting.iter().map(|op| op.id).collect();
    at_every_step(&root, |root| Store::open(root)?.accept(first.clone()).map(|_| offered.clone()));
    // One waits on, and the file says so.
    let mut whole = Store::open(&root).unwrap();
    assert_eq!(whole.accept(first).unwrap().accepted.len(), 2);
    assert_eq!(std::fs::read_to_string(whole.inner("pending.jsonl")).unwrap().lines().count(), 1);
}

#[test]
fn an_exchange_that_fails_leaves_the_store_as_the_disk_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let master = store(&dir.path().join("m"));
    let mut a = master.snapshot(&dir.path().join("a")).unwrap();
    let b = master.snapshot(&dir.path().join("b")).unwrap();
    let me = Issuer::new("user:me");
    let form = Draft::Remove { qname: qname("tile.Form"), how: Removal::Refuse };
    a.issue(&[form, Draft::Remove { qname: qname("slot.draft"), how: Removal::Refuse }], &me, false).unwrap();
    drop((master, b));
    let mut b = Store::open(&dir.path().join("b")).unwrap();
    b.issue(&[add("tile.New", "input(bind=draft, label=\"d\")")], &me, false).unwrap();
    for steps in 1.. {
        let copied = tempfile::tempdir().unwrap();
        copy(b.root(), copied.path());
        let mut store = Store::open(copied.path()).unwrap();
        fault::after(steps, false);
        let reported = pull(&mut store, &mut a, true);
        if !fault::clear() {
            assert_eq!(reported.unwrap().withdrawn.len(), 1);
            break;
        }
        let stands = Store::open(copied.path()).unwrap();
        assert_eq!(store.state().state_hash(), stands.state().state_hash(), "at step {steps}");
        assert_eq!(known(&store), known(&stands), "at step {steps}");
    }
}

#[test]
fn pushing_and_pulling_survive_any_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut master = store(&dir.path().join("m"));
    let mut a = master.snapshot(&dir.path().join("a")).unwrap();
    let mut b = master.snapshot(&dir.path().join("b")).unwrap();
    let me = Issuer::new("user:me");
    let form = Draft::Remove { qname: qname("tile.Form"), how: Removal::Refuse };
    a.issue(&[form, Draft::Remove { qname: qname("slot.draft"), how: Removal::Refuse }], &me, false).unwrap();
    b.issue(&[add("tile.New", "input(bind=draft, label=\"d\")")], &me, false).unwrap();
    at_every_step(&dir.path().join("m"), |root| {
        let mut from = Store::open(&dir.path().join("a"))?;
        push(&mut from, &mut Store::open(root)?).map(|result| result.accepted)
    });
    push(&mut a, &mut master).unwrap();
    // A pull withdraws what does not fit: then it is kept whole in a conflict.
    let lost = known(&b).difference(&known(&master)).copied().collect::<Vec<_>>();
    for torn in [false, true] {
        for steps in 1.. {
            let copied = tempfile::tempdir().unwrap();
            copy(b.root(), copied.path());
            fault::after(steps, torn);
            let reported =
                Store::open(copied.path()).and_then(|mut b| pull(&mut b, &mut Store::open(master.root())?, true));
            if !fault::clear() {
                assert_eq!(reported.unwrap().withdrawn, lost);
                break;
            }
            let mut b = Store::open(copied.path()).unwrap();
            let retained: Vec<String> =
                b.conflicts().unwrap().iter().flat_map(|c| c.ops.iter().map(|op| op.to_string())).collect();
            let there = known(&b);
            for id in &lost {
                assert!(
                    there.contains(id) || retained.iter().any(|op| op.contains(&id.to_string())),
                    "lost at step {steps}"
                );
            }
            pull(&mut b, &mut Store::open(master.root()).unwrap(), true).unwrap();
            assert_eq!(Store::open(copied.path()).unwrap().state().state_hash(), master.state().state_hash());
        }
    }
}

#[test]
fn a_store_begun_can_be_begun_again() {
    for steps in 1.. {
        let dir = tempfile::tempdir().unwrap();
        fault::after(steps, true);
        let made = Store::init(dir.path()).is_ok();
        if !fault::clear() {
            assert!(made);
            break;
        }
        let log = dir.path().join(".strand/op-log.jsonl");
        let whole = |store: Store| store.whole().map(|()| store);
        let usable = Store::init(dir.path()).or_else(|_| Store::open(dir.path())).and_then(whole);
        let usable = usable.or_else(|_| {
            // A header cut short is told as what it is, and cut off.
            assert!(log.exists());
            Store::repair(dir.path()).and_then(|_| Store::open(dir.path()))
        });
        usable.unwrap().issue(&[add("slot.a", "Int = 1")], &Issuer::new("user:me"), false).unwrap();
    }
}

#[test]
fn repairing_survives_any_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut ops = known(&store(dir.path()));
    // The commit line of the first transaction is lost, and its op with it.
    ops.pop_first();
    let log = dir.path().join(".strand/op-log.jsonl");
    let text = std::fs::read_to_string(&log).unwrap().replacen("{\"commit\"", "{\"broken\"", 1);
    std::fs::write(&log, text).unwrap();
    for steps in 1.. {
        let copied = tempfile::tempdir().unwrap();
        copy(dir.path(), copied.path());
        fault::after(steps, true);
        let done = Store::repair(copied.path()).is_ok();
        if !fault::clear() {
            assert!(done);
            break;
        }
        Store::repair(copied.path()).unwrap();
        assert_eq!(known(&Store::open(copied.path()).unwrap()), ops, "at step {steps}");
    }
}

#[test]
fn compacting_survives_any_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = store(dir.path());
    let me = Issuer::new("user:me");
    let replace = |body: &str| Draft::Replace { qname: qname("slot.draft"), body: body.into(), doc: None };
    first.issue(&[replace("Text = \"y\"")], &me, false).unwrap();
    first.issue(&[replace("Text = \"z\"")], &me, false).unwrap();
    let (ids, hash) = (known(&first), first.state().state_hash());
    drop(first);
    let last = *ids.last().unwrap();
    // The first archive, then a second one beside it.
    for before in [Before::Op(last), Before::Time(i64::MAX)] {
        at_every_step(dir.path(), |root| {
            let done = Store::open(root)?.compact(before);
            let opened = Store::open_from_log(root)?;
            assert_eq!((known(&opened), opened.state().state_hash()), (ids.clone(), hash.clone()));
            done.map(|_| ids.iter().copied().collect())
        });
        Store::open(dir.path()).unwrap().compact(before).unwrap();
        assert_eq!(known(&Store::open(dir.path()).unwrap()), ids);
    }
}

#[test]
fn an_append_that_fails_leaves_the_store_as_the_disk_has_it() {
    for torn in [false, true] {
        for steps in 1.. {
            let dir = tempfile::tempdir().unwrap();
            let mut store = store(dir.path());
            let (hash, length) = (store.state().state_hash(), store.log().length().unwrap());
            fault::after(steps, torn);
            let reported = store.issue(&[add("slot.a", "Int = 1")], &Issuer::new("user:me"), false);
            if !fault::clear() {
                assert!(reported.is_ok() && steps > 1);
                break;
            }
            // Only the disk failed: the program goes on, and knows what of it stands.
            let stands = Store::open(dir.path()).unwrap().state().state_hash();
            assert_eq!(store.state().state_hash(), stands, "at step {steps}");
            assert!(reported.is_err() && (stands == hash || store.log().length().unwrap() > length));
            store.issue(&[add("slot.b", "Int = 2")], &Issuer::new("user:me"), false).unwrap();
            let Verified { now, rebuilt, difference } = Store::open(dir.path()).unwrap().verify().unwrap();
            assert_eq!(difference, None);
            assert_eq!((now, store.state().state_hash()), (rebuilt.clone(), rebuilt));
        }
    }
}
