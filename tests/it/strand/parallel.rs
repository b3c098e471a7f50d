//! Many processes on one master.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use nebula::strand::id::{OpId, QName};
use nebula::strand::issue::{Draft, Issuer, Removal};
use nebula::strand::store::{Store, Verified};
use serde_json::Value;

use super::converge::Chance;

const AGENTS: usize = 8;

fn add(name: &str, body: &str) -> Draft {
    Draft::Add { qname: QName::parse(name).unwrap(), body: body.into(), doc: None, def: None }
}

/// One thing an agent does: to what is its own, to what everyone has, or to what another may be removing.
fn draft(chance: &mut Chance, agent: usize, n: usize, slots: usize) -> Draft {
    let qname = |name: String| QName::parse(&name).unwrap();
    match chance.below(10) {
        0 | 1 => Draft::Replace { qname: qname("slot.shared".into()), body: format!("Int = {agent}{n}"), doc: None },
        // The same names from everyone: added twice, on purpose.
        2 => add(&format!("slot.common{n}"), &format!("Int = {agent}")),
        3 => {
            let name = format!("slot.meet{}", chance.below(slots));
            Draft::Remove { qname: qname(name), how: Removal::Cascade }
        }
        4 | 5 => add(&format!("fn.f{agent}x{n}"), &format!("() -> Int = g{}()", chance.below(slots))),
        6 => {
            let at = chance.below(slots);
            add(&format!("reducer.r{agent}x{n}"), &format!("do= meet{at} := shared"))
        }
        7 => Draft::Rename { qname: qname(format!("fn.g{}", chance.below(slots))), to: format!("h{agent}x{n}") },
        _ => add(&format!("slot.own{agent}x{n}"), "Int = 1"),
    }
}

fn run(root: &Path, args: &[&str]) -> (i32, Value) {
    let out = Command::new(env!("CARGO_BIN_EXE_strand"))
        .arg("--store")
        .arg(root)
        .args(["--quiet", "--json", "--lock-timeout", "60"])
        .args(args)
        .output()
        .unwrap();
    (out.status.code().unwrap_or(-1), serde_json::from_slice(&out.stdout).unwrap_or(Value::Null))
}

/// Pushes, and pulls when it was refused, until a push goes through. Each refusal comes of what another has pushed since,
/// and each pushes once.
fn deliver(root: &Path) {
    for _ in 0..AGENTS {
        match run(root, &["op", "push"]) {
            (0, _) => return,
            (4, _) => {}
            (code, printed) => panic!("push ended with {code}: {printed}"),
        }
        let (code, printed) = run(root, &["op", "pull"]);
        assert!(code == 0 || code == 4, "pull ended with {code}: {printed}");
    }
    panic!("a push is refused though nobody else pushed");
}

/// `STRAND_OPS` sets how many ops there are in all.
#[test]
fn eight_processes_push_and_nothing_is_lost() {
    let total: usize = std::env::var("STRAND_OPS").ok().and_then(|ops| ops.parse().ok()).unwrap_or(240);
    let slots = 4 + total / 100;
    let dir = tempfile::tempdir().unwrap();
    let mut master = Store::init(&dir.path().join("master")).unwrap();
    let mut first = vec![add("slot.shared", "Int = 0")];
    first.extend((0..slots).map(|n| add(&format!("slot.meet{n}"), "Int = 0")));
    first.extend((0..slots).map(|n| add(&format!("fn.g{n}"), "() -> Int = 1")));
    master.issue(&first, &Issuer::new("user:me"), false).unwrap();
    let mut issued: BTreeMap<OpId, usize> = BTreeMap::new();
    let folder = |agent: usize| dir.path().join(format!("a{agent}"));
    for agent in 0..AGENTS {
        let mut chance = Chance(agent as u64);
        let mut store = master.snapshot(&folder(agent)).unwrap();
        let issuer = Issuer::new(format!("agent:a{agent}"));
        let (mut count, mut n) = (0, 0);
        while count < total / AGENTS {
            // What is refused, since it is gone here already, is no op.
            let written = store.issue(&[draft(&mut chance, agent, n, slots)], &issuer, false);
            let ops = written.map(|written| written.ops).unwrap_or_default();
            issued.extend(ops.iter().map(|op| (op.id, agent)));
            (count, n) = (count + ops.len(), n + 1);
        }
    }
    let start = Instant::now();
    std::thread::scope(|scope| {
        for agent in 0..AGENTS {
            let root = folder(agent);
            scope.spawn(move || deliver(&root));
        }
    });
    let took = start.elapsed();
    master.catch_up().unwrap();
    let got: BTreeSet<OpId> = master.ops().iter().map(|op| op.id).collect();
    let mut withdrawn = 0;
    for agent in 0..AGENTS {
        // Before anything else: what is not in the master is kept whole in a conflict of its author's.
        let stored: BTreeSet<OpId> = Store::open(&folder(agent))
            .unwrap()
            .conflicts()
            .unwrap()
            .iter()
            .flat_map(|conflict| conflict.ops.iter())
            .filter_map(|op| op["op-id"].as_str().and_then(OpId::parse))
            .collect();
        for id in issued.iter().filter(|(id, by)| **by == agent && !got.contains(id)).map(|(id, _)| id) {
            assert!(stored.contains(id), "{id} of agent {agent} is lost");
            withdrawn += 1;
        }
    }
    let mine = issued.keys().filter(|id| got.contains(id)).count();
    assert_eq!(mine + withdrawn, issued.len());
    for agent in 0..AGENTS {
        let (code, _) = run(&folder(agent), &["op", "pull"]);
        assert_eq!(code, 0);
        let store = Store::open(&folder(agent)).unwrap();
        assert_eq!(store.state().state_hash(), master.state().state_hash());
    }
    let Verified { now, rebuilt, difference } = master.verify().unwrap();
    assert_eq!(difference, None);
    assert_eq!(now, rebuilt);
    println!("{} ops by {AGENTS} agents, {withdrawn} withdrawn, pushed in {:.1} s", issued.len(), took.as_secs_f64());
}

/// Waits until a process has opened the file of a store's lock: then it stands in line for it.
#[cfg(target_os = "linux")]
fn until_in_line(child: &std::process::Child, root: &Path) {
    let lock = root.canonicalize().unwrap().join(".strand/lock");
    let open = || {
        let files = std::fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|path| path == lock)
    };
    while !open() {
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_writer_waits_for_another_and_goes_on_from_what_that_one_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    let start = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strand"));
        command.arg("--store").arg(dir.path()).args(["--lock-timeout", "3600"]).args(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let held = store.lock().unwrap();
    let before = store.log().length().unwrap();
    let mut waiting = [start(&["add", "slot", "n", "Int = 1"]), start(&["lock", "agent-2", "slot.b*"])];
    for child in &mut waiting {
        until_in_line(child, dir.path());
        assert_eq!(child.try_wait().unwrap(), None, "it did not wait");
    }
    assert_eq!(store.log().length().unwrap(), before);
    // What is changed meanwhile by whoever holds the lock stays.
    let locks = r#"[{"owner":"agent-1","pattern":"slot.a*","since":1}]"#;
    std::fs::write(store.inner("locks.json"), locks).unwrap();
    drop(held);
    for child in waiting {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    store.catch_up().unwrap();
    assert!(store.state().named(&QName::parse("slot.n").unwrap()).is_some());
    let owners: Vec<String> = store.locks().unwrap().into_iter().map(|lock| lock.owner).collect();
    assert_eq!(owners, ["agent-1", "agent-2"]);
}
