//! A store that loads from its checkpoint says what one says that read its whole log. `STRAND_CASES` sets how many
//! histories are made.

use std::path::Path;

use nebula::strand::check::{Checks, render};
use nebula::strand::findings::findings;
use nebula::strand::graph::Summary;
use nebula::strand::id::{OpClock, QName};
use nebula::strand::issue::{Draft, Issuer, references};
use nebula::strand::state::State;
use nebula::strand::store::{Policy, Store};

use super::converge::{Chance, history, random_draft};

/// Everything a command may tell of a state.
pub fn readings_of(store: &Store) -> Vec<String> {
    let state: &State = store.state();
    let mut out = vec![state.state_hash(), format!("{} ops", state.graph().len())];
    // What is read from texts comes before what reads every op.
    let readings = state.readings().map(|view| {
        format!("{} {:?} {}", view.qname(), view.edges.iter().map(|e| (e.place, e.to)).collect::<Vec<_>>(), view.text())
    });
    out.extend(readings);
    let checks = Checks::full(state, &store.config().capabilities);
    out.extend(render(state, checks.all(state)).iter().map(|fault| fault.to_json().to_string()));
    out.extend(findings(state, false).iter().map(|finding| finding.to_json().to_string()));
    let mut ids: Vec<_> = state.views().map(|view| view.id).collect();
    ids.sort();
    for view in ids.iter().filter_map(|id| state.view(*id)) {
        let edges: Vec<_> = view
            .edges
            .iter()
            .map(|e| format!("{:?} {} {} {:?} {:?} {:?}", e.place, e.layer, e.name, e.bound, e.to, e.writer))
            .collect();
        out.push(format!(
            "{} {} {} {:?} {} {:?} {:?} {:?} {:?} {:?}\n{}{}",
            view.id,
            view.qname(),
            view.name,
            view.status,
            view.hash,
            view.units,
            view.links,
            view.deps(),
            view.claim,
            view.settled,
            view.text(),
            edges.join("\n")
        ));
        out.push(references(state, view.id).places().join(" "));
        let mut watchers: Vec<_> = state.watchers(view.id).collect();
        watchers.sort();
        out.push(format!("{watchers:?} {:?} {:?}", state.linked_to(view.id), state.absorbed_by(view.id)));
        out.extend(store.history(view.id).iter().map(|op| op.to_line()));
        let lattice = state.graph().lattice(view.id).unwrap();
        out.push(format!("{:?} {:?}", lattice.ops.len(), lattice.heads));
        out.push(format!("{:?}", state.graph().holders(view.layer, &view.name)));
    }
    out.extend(state.visible().map(|view| view.qname().to_string()));
    out.extend(findings(state, true).iter().map(|finding| finding.to_json().to_string()));
    out
}

fn compare(root: &Path, seed: u64) {
    let lazy = Store::open(root).unwrap();
    let whole = Store::open_from_log(root).unwrap();
    // The hash of the state comes last: what differs says more.
    let (lazy_told, whole_told) = (readings_of(&lazy), readings_of(&whole));
    for (a, b) in lazy_told.iter().zip(&whole_told).skip(1).chain([(&lazy_told[0], &whole_told[0])]) {
        assert_eq!(a, b, "history {seed}");
    }
    lazy.sound().unwrap();
}

/// Checks that the past of a definition is the same whether only the ops on it and its neighbours are read or all.
fn compare_past(store: &Store, chance: &mut Chance, seed: u64) {
    let ops = store.ops();
    for _ in 0..4.min(ops.len()) {
        let (op, other) = (chance.pick(&ops), chance.pick(&ops));
        let part = store.past_of(op.id, true, &[op.target(), other.target()]).unwrap();
        let whole = store.state_at(op.id).unwrap();
        for def in [op.target(), other.target()] {
            let readings_of = |state: &State| {
                let view = state.view(def)?;
                Some((view.qname(), view.status, view.text().to_owned(), view.hash, view.deps().to_vec()))
            };
            assert_eq!(readings_of(&part), readings_of(&whole), "{def} as of {}, history {seed}", op.id);
        }
    }
}

/// Checks that the findings of an earlier check count as long as nothing changed that it depends on.
fn compare_checks(store: &mut Store, seed: u64) {
    let checks = store.checks().unwrap();
    let state = store.state();
    let readings_of = |checks: &Checks| -> Vec<String> {
        render(state, checks.all(state)).iter().map(|fault| fault.to_json().to_string()).collect()
    };
    assert_eq!(readings_of(&checks), readings_of(&Checks::full(state, &store.config().capabilities)), "history {seed}");
}

fn check_history(seed: u64) {
    let dir = tempfile::tempdir().unwrap();
    let mut chance = Chance(seed ^ 0x5EED);
    let mut store = Store::init(dir.path()).unwrap();
    let mut config = store.config().clone();
    config.policy = *chance.pick(&[Policy::Warn, Policy::Heal, Policy::Strict]);
    store.set_config(config).unwrap();
    let (mut ops, _) = history(seed);
    let issuer = Issuer::new("user:me");
    let mut checking = Chance(seed);
    while !ops.is_empty() {
        match chance.below(6) {
            0 => {
                let draft = random_draft(&mut chance, store.state());
                // A refusal changes nothing, which is compared too.
                let _ = store.issue(&[draft], &issuer, chance.below(2) == 0);
            }
            1 => store.checkpoint(),
            2 | 3 => store = Store::open(dir.path()).unwrap(),
            _ => {
                let heard: Vec<_> = ops.drain(..ops.len().min(1 + chance.below(5))).collect();
                store.accept(heard).unwrap();
            }
        }
        if checking.below(3) == 0 {
            compare_checks(&mut store, seed);
        }
        if chance.below(4) == 0 {
            compare(dir.path(), seed);
        }
    }
    store.checkpoint();
    compare(dir.path(), seed);
    compare_past(&Store::open(dir.path()).unwrap(), &mut chance, seed);
    let hash = store.state().state_hash();
    std::fs::remove_file(store.inner("store.crdt")).unwrap();
    assert_eq!(Store::open(dir.path()).unwrap().state().state_hash(), hash, "without a checkpoint, history {seed}");
}

#[test]
fn a_checkpoint_and_the_tail_say_what_the_log_says() {
    let cases = std::env::var("STRAND_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(25);
    // One that was found to differ once, and as many others.
    for seed in [1297].into_iter().chain(0..cases) {
        check_history(seed);
    }
}

/// Checks that what a store makes of its ops, from what its checkpoint says of the earlier ones, is what all of them make.
fn compare_summaries(lazy: &Store, seed: u64) {
    let whole = Store::open_from_log(lazy.root()).unwrap();
    let mut ids: Vec<_> = whole.state().views().map(|view| view.id).collect();
    ids.sort();
    for id in ids {
        let [part, all] = [lazy, &whole].map(|store| store.state().graph().summary(id));
        // Which edits make the body may be known to one only: the bodies themselves are compared.
        let [part, all] = [part, all].map(|found| found.map(|found| Summary { counting: Vec::new(), ..found }));
        assert_eq!(part, all, "{id}, history {seed}");
        let [part, all] = [lazy, &whole].map(|store| {
            let view = store.state().view(id).unwrap();
            let writers: Vec<_> =
                view.edges.iter().map(|edge| (edge.place, edge.writer, edge.bound, edge.to)).collect();
            (view.text().to_owned(), view.hash, view.units.clone(), view.status, view.doc.clone(), writers)
        });
        assert_eq!(part, all, "{id}, history {seed}");
    }
    assert_eq!(lazy.state().state_hash(), whole.state().state_hash(), "history {seed}");
}

/// Long lines of ops on few definitions, and now and then ops of another that knew only the earlier ones.
fn check_lines(seed: u64) {
    let (dir, other_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut chance = Chance(seed ^ 0x11AE);
    let mut store = Store::init(dir.path()).unwrap();
    let mut other = Store::init(other_dir.path()).unwrap();
    let me = Issuer { clock: OpClock::fixed(1_700_000_000_000, seed), ..Issuer::new("user:me") };
    let them = Issuer { clock: OpClock::fixed(1_700_000_000_500, !seed), ..Issuer::new("user:them") };
    for _ in 0..60 {
        let draft = random_draft(&mut chance, store.state());
        // Most adds and all removes would cut the lines short.
        let is_kept = match draft {
            Draft::Add { .. } => store.state().graph().len() <= 12,
            Draft::Remove { .. } | Draft::Unlink(..) => chance.below(6) == 0,
            _ => true,
        };
        if is_kept {
            let _ = store.issue(&[draft], &me, true);
        }
        match chance.below(12) {
            0 => {
                store.checkpoint();
                store = Store::open(dir.path()).unwrap();
            }
            1 => {
                store.checkpoint();
                store = Store::open(dir.path()).unwrap();
                compare_summaries(&store, seed);
            }
            2 => drop(other.accept(store.ops()).unwrap()),
            3 if seed.is_multiple_of(3) => {
                let draft = random_draft(&mut chance, other.state());
                let _ = other.issue(&[draft], &them, true);
                store.accept(other.ops()).unwrap();
            }
            _ => {}
        }
    }
    compare_summaries(&store, seed);
    compare(dir.path(), seed);
}

#[test]
fn a_line_of_ops_goes_on_from_what_the_checkpoint_says_of_it() {
    let cases = std::env::var("STRAND_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    (0..cases).for_each(check_lines);
}

#[test]
fn ops_that_others_cover_are_not_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    let (me, qname) = (Issuer::new("user:me"), QName::parse("slot.a").unwrap());
    store
        .issue(&[Draft::Add { qname: qname.clone(), body: "Int = 0".into(), doc: None, def: None }], &me, false)
        .unwrap();
    for n in 1..20 {
        let patch = serde_json::json!({"init": format!("set {n}")});
        store.issue(&[Draft::Edit { qname: qname.clone(), patch }], &me, false).unwrap();
        store.checkpoint();
        store = Store::open(dir.path()).unwrap();
    }
    let view = store.state().named(&qname).unwrap();
    assert_eq!(view.text(), "slot a = Int = 19\n");
    let held = store.state().graph().held();
    assert_eq!(store.state().graph().summary(view.id).unwrap().edits.len(), 19);
    assert!(held <= 2, "{held}");
}

#[test]
fn a_check_goes_on_from_the_last_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    let issuer = Issuer::new("user:me");
    let qname = |name: &str| QName::parse(name).unwrap();
    let add = |name: String, body: &str| Draft::Add { qname: qname(&name), body: body.into(), doc: None, def: None };
    let mut drafts: Vec<Draft> = (0..30).map(|n| add(format!("slot.s{n}"), "Int = 0")).collect();
    drafts.push(add("fn.f".to_owned(), "() -> Int = 1"));
    drafts.push(add("fn.g".to_owned(), "() -> Text = f()"));
    store.issue(&drafts, &issuer, false).unwrap();
    let stats = |store: &mut Store| {
        let checks = store.checks().unwrap();
        (checks.stats.checked, checks.stats.reused, checks.found().count())
    };
    assert_eq!(stats(&mut store), (32, 0, 1));
    let mut store = Store::open(dir.path()).unwrap();
    assert_eq!(stats(&mut store), (0, 32, 1));
    let replace = Draft::Replace { qname: qname("fn.f"), body: "() -> Text = \"\"".into(), doc: None };
    store.issue(&[replace], &issuer, false).unwrap();
    assert_eq!(stats(&mut store), (2, 30, 0));
    let mut config = store.config().clone();
    config.capabilities.clear();
    store.set_config(config).unwrap();
    assert_eq!(stats(&mut store), (32, 0, 0));
}

/// A store whose checkpoint is folded into one file, and what it says.
fn folded() -> (tempfile::TempDir, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::init(dir.path()).unwrap();
    let (ops, _) = history(7);
    store.accept(ops).unwrap();
    store.checkpoint();
    drop(store);
    let db = rusqlite::Connection::open(dir.path().join(".strand/store.crdt")).unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(db);
    let store = Store::open(dir.path()).unwrap();
    assert!(!store.state().is_whole());
    let said = readings_of(&store);
    drop(store);
    (dir, said)
}

/// Returns whether the store says what it said, or says that it cannot. `quiet` leaves the file's time as it was, as a disk
/// does that gives back another bit than it was given.
fn flip(dir: &Path, said: &[String], at: usize, quiet: bool) -> bool {
    let path = dir.join(".strand/store.crdt");
    let whole = std::fs::read(&path).unwrap();
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    let mut bytes = whole.clone();
    let at = at % (bytes.len() * 8);
    bytes[at / 8] ^= 1 << (at % 8);
    let write = |bytes: &[u8], same_time: bool| {
        std::fs::write(&path, bytes).unwrap();
        if same_time {
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        }
    };
    write(&bytes, quiet);
    let store = Store::open(dir).unwrap();
    let right = readings_of(&store) == said || store.sound().is_err();
    drop(store);
    write(&whole, true);
    right
}

/// `STRAND_FLIPS` sets how many bits are flipped.
#[test]
fn a_flipped_bit_of_the_checkpoint_is_found() {
    let flips = std::env::var("STRAND_FLIPS").ok().and_then(|flips| flips.parse().ok()).unwrap_or(40);
    let (dir, said) = folded();
    let mut chance = Chance(11);
    for _ in 0..flips {
        let at = chance.below(usize::MAX >> 1);
        assert!(flip(dir.path(), &said, at, false), "bit {at}");
    }
    // What stands in a row is found by the sum of the row, though the file's time says nothing.
    let bytes = std::fs::read(dir.path().join(".strand/store.crdt")).unwrap();
    let rows: Vec<usize> = (0..bytes.len() - 4).filter(|at| &bytes[*at..at + 4] == b" = (").collect();
    for _ in 0..flips / 4 {
        let at = chance.pick(&rows) * 8 + chance.below(32);
        assert!(flip(dir.path(), &said, at, true), "bit {at}");
    }
}

#[test]
fn a_line_altered_before_the_checkpoint_is_found() {
    let (dir, said) = folded();
    let log = dir.path().join(".strand/op-log.jsonl");
    let whole = std::fs::read(&log).unwrap();
    let mut chance = Chance(3);
    for _ in 0..20 {
        let mut bytes = whole.clone();
        let at = chance.below(bytes.len());
        bytes[at] ^= 1 << chance.below(7);
        std::fs::write(&log, &bytes).unwrap();
        let store = Store::open(dir.path()).unwrap();
        assert!(store.whole().is_err() || readings_of(&store) == said, "byte {at}");
    }
}
