//! A store whose log was made smaller says and takes in what one says and takes in whose log is whole. `STRAND_CASES`
//! sets how many histories are made.

use std::collections::BTreeSet;
use std::path::Path;

use nebula::strand::id::OpId;
use nebula::strand::issue::{Issuer, issue};
use nebula::strand::op::Op;
use nebula::strand::store::{Before, Error, Policy, Store, Verified, pull, push};

use super::checkpoint::readings_of;
use super::converge::{Chance, history, random_draft};
use super::world::{TODO, World};

fn store(root: &Path, policy: Policy) -> Store {
    let mut store = Store::init(root).unwrap();
    let mut config = store.config().clone();
    config.policy = policy;
    store.set_config(config).unwrap();
    store
}

/// Makes the log smaller at an op or a time of its own, if there is something before it.
fn compact(store: &mut Store, chance: &mut Chance) -> bool {
    let ops = store.ops();
    if ops.is_empty() {
        return false;
    }
    let op = chance.pick(&ops);
    let before = if chance.below(2) == 0 { Before::Op(op.id) } else { Before::Time(op.ts) };
    let hash = store.state().state_hash();
    let text = std::fs::read(store.log().path()).unwrap();
    let done = match store.compact(before) {
        Ok(done) => done,
        Err(error) => {
            assert_eq!(error.exit(), 2, "{error}");
            assert_eq!(std::fs::read(store.log().path()).unwrap(), text);
            return false;
        }
    };
    assert_eq!((store.state().state_hash(), done.state_hash), (hash.clone(), hash));
    assert!(done.moved > 0);
    true
}

fn same(a: &Store, b: &Store, seed: u64) {
    let (a_readings, b_readings) = (readings_of(a), readings_of(b));
    for (a, b) in a_readings.iter().zip(&b_readings).skip(1).chain([(&a_readings[0], &b_readings[0])]) {
        assert_eq!(a, b, "history {seed}");
    }
    a.sound().unwrap();
}

/// Gives ops to both, and wants the same answer.
fn agree(a: &mut Store, b: &mut Store, ops: Vec<Op>, seed: u64) {
    let readings_of = a.accept(ops.clone()).unwrap();
    let expected = b.accept(ops).unwrap();
    assert_eq!((readings_of.accepted, readings_of.healed), (expected.accepted, expected.healed), "history {seed}");
}

fn check_history(seed: u64) {
    let dir = tempfile::tempdir().unwrap();
    let (small, whole) = (dir.path().join("small"), dir.path().join("whole"));
    let mut chance = Chance(seed ^ 0xC0DE);
    let policy = *chance.pick(&[Policy::Warn, Policy::Heal]);
    let (mut a, mut b) = (store(&small, policy), store(&whole, policy));
    let (mut ops, _) = history(seed);
    // Some come late, when what they are concurrent with is archived.
    chance.shuffle(&mut ops);
    let issuer = Issuer::new("user:me");
    while !ops.is_empty() {
        match chance.below(8) {
            0 | 1 => {
                compact(&mut a, &mut chance);
            }
            2 => a = Store::open(&small).unwrap(),
            3 => a = Store::open_from_log(&small).unwrap(),
            4 => {
                let draft = random_draft(&mut chance, a.state());
                // Both take it in by the same gate: one that issues does not heal.
                if let Ok((made, ())) = a.rehearse_write(|state| issue(state, &draft, &issuer), |_, _| ()) {
                    agree(&mut a, &mut b, made, seed);
                }
            }
            _ => {
                let heard: Vec<Op> = ops.drain(..ops.len().min(1 + chance.below(6))).collect();
                agree(&mut a, &mut b, heard, seed);
            }
        }
        if chance.below(6) == 0 {
            same(&a, &b, seed);
        }
    }
    same(&a, &b, seed);
    if compact(&mut a, &mut chance) {
        assert!(std::fs::read_to_string(a.log().path()).unwrap().lines().nth(1).unwrap().starts_with("{\"base\":{"));
    }
    drop(a);
    same(&Store::open(&small).unwrap(), &b, seed);
    // Without the checkpoint the base and the rest of the log say it.
    let _ = std::fs::remove_file(small.join(".strand/store.crdt"));
    let mut a = Store::open(&small).unwrap();
    same(&a, &b, seed);
    let Verified { now, rebuilt, difference } = a.verify().unwrap();
    assert_eq!(difference, None);
    assert_eq!(now, rebuilt);
    // Every op ever is there for who lacks it, and every moment of the past.
    let mut fresh = store(&dir.path().join("fresh"), policy);
    push(&mut a, &mut fresh).unwrap();
    assert_eq!(fresh.state().state_hash(), now);
    let ids = |store: &Store| -> Vec<OpId> { store.log().read_whole().unwrap().iter().map(|op| op.id).collect() };
    let (ours, theirs) = (ids(&a), ids(&b));
    assert_eq!(ours.iter().collect::<BTreeSet<_>>(), theirs.iter().collect::<BTreeSet<_>>());
    // The ops of one bundle of its own may stand in another order than in a store that was told of them.
    let common = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
    if let Some(id) = ours[..common].get(chance.below(common.max(1))) {
        assert_eq!(a.state_at(*id).unwrap().state_hash(), b.state_at(*id).unwrap().state_hash());
    }
}

#[test]
fn a_smaller_log_and_late_ops_come_to_what_the_whole_log_comes_to() {
    let cases = std::env::var("STRAND_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(10);
    (0..cases).for_each(check_history);
}

#[test]
fn another_process_sees_that_the_log_was_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let mut one = store(dir.path(), Policy::Warn);
    let me = Issuer::new("user:me");
    let mut chance = Chance(7);
    for _ in 0..30 {
        let draft = random_draft(&mut chance, one.state());
        let _ = one.issue(&[draft], &me, false);
    }
    one.checkpoint();
    let mut from_log = Store::open_from_log(dir.path()).unwrap();
    let mut lazy = Store::open(dir.path()).unwrap();
    let last = one.ops().last().unwrap().id;
    one.compact(Before::Op(last)).unwrap();
    // What was read of the old log stays readable, what is written goes into the new one.
    same(&lazy, &one, 7);
    for other in [&mut from_log, &mut lazy] {
        let draft = nebula::strand::issue::Draft::Add {
            qname: nebula::strand::id::QName::parse(&format!("slot.n{}", one.ops().len())).unwrap(),
            body: "Int = 1".into(),
            doc: None,
            def: None,
        };
        other.issue(&[draft], &me, false).unwrap();
        other.checkpoint();
        one.catch_up().unwrap();
        assert_eq!(other.state().state_hash(), one.state().state_hash());
    }
    same(&Store::open(dir.path()).unwrap(), &Store::open_from_log(dir.path()).unwrap(), 7);
}

#[test]
fn what_a_pull_may_withdraw_stays_in_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let me = Issuer::new("user:me");
    let mut master = store(&dir.path().join("m"), Policy::Warn);
    let add = |name: &str| nebula::strand::issue::Draft::Add {
        qname: nebula::strand::id::QName::parse(name).unwrap(),
        body: "Int = 1".into(),
        doc: None,
        def: None,
    };
    master.issue(&[add("slot.a")], &me, false).unwrap();
    let mut work = master.snapshot(&dir.path().join("w")).unwrap();
    let own = work.issue(&[add("slot.b")], &me, false).unwrap().ops[0].id;
    work.issue(&[add("slot.c")], &me, false).unwrap();
    assert_eq!(work.compact(Before::Time(i64::MAX)).unwrap().moved, 1);
    let refused = work.compact(Before::Time(i64::MAX)).unwrap_err();
    assert!(refused.to_string().contains(&format!("{own} is not in")), "{refused}");
    push(&mut work, &mut master).unwrap();
    assert_eq!(work.compact(Before::Time(i64::MAX)).unwrap().moved, 2);
    assert!(pull(&mut work, &mut master, true).unwrap().withdrawn.is_empty());
    // A store that lacks what is archived here cannot ask for it back.
    let mut other = store(&dir.path().join("o"), Policy::Warn);
    let refused = pull(&mut work, &mut other, true).unwrap_err();
    assert_eq!(refused.exit(), 2, "{refused}");
    push(&mut work, &mut other).unwrap();
    pull(&mut work, &mut other, true).unwrap();
    assert_eq!(work.state().state_hash(), other.state().state_hash());
}

#[test]
fn without_its_archive_a_store_still_stands_and_says_what_it_misses() {
    let dir = tempfile::tempdir().unwrap();
    let me = Issuer::new("user:me");
    let mut one = store(dir.path(), Policy::Warn);
    let qname = nebula::strand::id::QName::parse("slot.a").unwrap();
    let add = nebula::strand::issue::Draft::Add { qname: qname.clone(), body: "Int = 1".into(), doc: None, def: None };
    one.issue(&[add], &me, false).unwrap();
    for n in 2..4 {
        let patch = serde_json::json!({"init": format!("set {n}")});
        let edit = nebula::strand::issue::Draft::Edit { qname: qname.clone(), patch };
        one.issue(&[edit], &me, false).unwrap();
    }
    let done = one.compact(Before::Time(i64::MAX)).unwrap();
    drop(one);
    std::fs::rename(&done.archive, dir.path().join("elsewhere")).unwrap();
    for opened in [Store::open(dir.path()), Store::open_from_log(dir.path())] {
        let store = opened.unwrap();
        assert_eq!((store.state().state_hash(), store.ops().len()), (done.state_hash.clone(), 2));
        // One of its three ops is nowhere but there.
        let readings_of = store.sound().unwrap_err();
        assert!(
            matches!(&readings_of, Error::Archive(_)) && readings_of.to_string().contains("op-log-1.jsonl.zst"),
            "{readings_of}"
        );
    }
    // What cannot be read is not left out either, where others would wait for it.
    let mut fresh = store(&dir.path().join("fresh"), Policy::Warn);
    assert!(push(&mut Store::open(dir.path()).unwrap(), &mut fresh).is_err());
    assert!(Store::open(dir.path()).unwrap().snapshot(&dir.path().join("copy")).is_err());
    assert_eq!((fresh.ops().len(), fresh.state().graph().pending().count()), (0, 0));
    std::fs::rename(dir.path().join("elsewhere"), &done.archive).unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.ops().len(), 3);
    store.sound().unwrap();
}

#[test]
fn the_command_moves_what_it_is_given_and_refuses_what_it_cannot_read() {
    let world = World::new();
    let refused = |args: &[&str], code: i32| world.err(code, &[&["store", "compact"], args].concat());
    assert!(refused(&["--before", "2030-01-01"], 2).contains("there is nothing to move"));
    world.load(TODO);
    world.out(0, &["edit", "slot.draft", "{\"init\": \"set \\\"x\\\"\"}"]);
    let log = world.path().join("project.strand/.strand/op-log.jsonl");
    let text = std::fs::read(&log).unwrap();
    assert!(refused(&["--before", "yesterday"], 2).contains("'yesterday' is no op-id and no date"));
    assert!(refused(&["--before", "op_01JC0000000000000000000001"], 6).contains("there is no op"));
    assert!(refused(&["--before", "2001-01-01"], 2).contains("nothing in the log is older than that"));
    assert!(refused(&[], 2).contains("--before"));
    assert_eq!(std::fs::read(&log).unwrap(), text);
    let hash = world.out(0, &["state-hash"]);
    let history = world.out(0, &["view", "slot.draft", "--history"]);
    let ops = world.out(0, &["op", "log"]);
    let last = ops.lines().last().unwrap().split(' ').next().unwrap();
    let done: serde_json::Value =
        serde_json::from_str(&world.out(0, &["store", "compact", "--before", last, "--json"])).unwrap();
    assert_eq!((done["left"].as_u64(), done["state_hash"].as_str()), (Some(1), Some(hash.trim())));
    let readings_of = world.out(0, &["store", "compact", "--before", "2999-01-01T00:00:00+02:00"]);
    assert!(readings_of.starts_with("moved 1 op to ") && readings_of.contains("op-log-2.jsonl.zst"), "{readings_of}");
    assert_eq!(world.out(0, &["state-hash"]), hash);
    assert_eq!(world.out(0, &["view", "slot.draft", "--history"]), history);
    assert_eq!(world.out(0, &["op", "log"]), ops);
    assert!(world.out(0, &["store", "verify"]).starts_with("ok "));
    assert!(world.out(0, &["view", "slot.draft", "--at", last]).contains("slot draft"));
    world.out(0, &["patch", "revert", last]);
    let repaired = world.out(0, &["store", "repair"]);
    assert!(repaired.starts_with(&format!("kept {} ops", ops.lines().count() + 1)), "{repaired}");
    assert_eq!(world.out(0, &["op", "log"]).lines().count(), ops.lines().count() + 1);
}
