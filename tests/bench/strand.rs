//! What Strand costs at size: applying ops in memory and into a store, checking after one edit,
//! reading one definition with the command. Prints one figure a line; `STRAND_SIZE` sets how many
//! definitions there are (100,000).

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use nebula::strand::check::{Checks, all_capabilities};
use nebula::strand::id::{Clock, QName};
use nebula::strand::issue::{Draft, Issuer, issue};
use nebula::strand::op::Op;
use nebula::strand::state::{Changed, State};
use nebula::strand::store::Store;

fn main() {
    let size: usize = std::env::var("STRAND_SIZE").ok().and_then(|size| size.parse().ok()).unwrap_or(100_000);
    let ops = make(size);
    let per_second = |count: usize, time: Duration| count as f64 / time.as_secs_f64();

    let start = Instant::now();
    let mut state = State::new();
    for bundle in ops.chunks(1_000) {
        state.offer(bundle.to_vec());
    }
    println!("admit in memory: {:.0} ops/s", per_second(ops.len(), start.elapsed()));
    state.refresh();
    println!("admit and resolve in memory: {:.0} ops/s", per_second(ops.len(), start.elapsed()));

    let granted = all_capabilities();
    let start = Instant::now();
    let mut checks = Checks::full(&state, &granted);
    println!("full check: {:.2} s", start.elapsed().as_secs_f64());
    let mut times: Vec<Duration> = (0..50).map(|n| recheck(&mut state, &mut checks, n, size, &granted)).collect();
    times.sort();
    println!("check after one edit: median {:.2} ms, worst {:.2} ms", ms(times[25]), ms(times[49]));

    let dir = tempfile::tempdir().expect("a folder");
    let root = dir.path().join("bench.strand");
    let mut store = Store::init(&root).expect("a store");
    let start = Instant::now();
    for bundle in ops.chunks(1_000) {
        store.accept(bundle.to_vec()).expect("accepted");
    }
    println!("into the store, bundles of 1,000: {:.0} ops/s", per_second(ops.len(), start.elapsed()));
    store.checkpoint();
    drop(store);
    let start = Instant::now();
    Store::open(&root).expect("opened");
    println!("open from the log alone: {:.2} s", start.elapsed().as_secs_f64());
    let mut times: Vec<Duration> = (0..20)
        .map(|n| {
            let name = format!("slot.s{}", n * size / 40);
            let start = Instant::now();
            let out =
                Command::new(env!("CARGO_BIN_EXE_strand")).arg("--store").arg(&root).args(["view", &name]).output();
            assert!(out.expect("ran").status.success());
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("strand view of one definition: median {:.2} ms", ms(times[10]));
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Slots and fns in turn; each fn refers to the one before.
fn make(size: usize) -> Vec<Op> {
    let issuer = Issuer { clock: Clock::fixed(1_700_000_000_000, 1), ..Issuer::new("user:bench") };
    let mut state = State::new();
    let mut ops = Vec::with_capacity(size);
    for n in 0..size {
        let (name, body) = match n % 2 {
            0 => (format!("slot.s{}", n / 2), "Int = 0".to_owned()),
            _ if n % 20 == 1 => (format!("fn.f{}", n / 2), "(n: Int) -> Int = n + 1".to_owned()),
            _ => (format!("fn.f{}", n / 2), format!("(n: Int) -> Int = f{}(n) + 1", n / 2 - 1)),
        };
        let qname = QName::parse(&name).expect("a name");
        ops.extend(issue(&mut state, &Draft::Add { qname, body, doc: None, def: None }, &issuer).expect("issued"));
    }
    ops
}

fn recheck(state: &mut State, checks: &mut Checks, n: usize, size: usize, granted: &BTreeSet<String>) -> Duration {
    let qname = QName::parse(&format!("fn.f{}", (n * size / 110) / 10 * 10)).expect("a name");
    let draft = Draft::Replace { qname, body: format!("(n: Int) -> Int = n + {n}"), doc: None };
    let ops = issue(state, &draft, &Issuer::new("user:bench")).expect("issued");
    let start = Instant::now();
    let definitions = ops.iter().map(Op::target).chain(state.take_touched()).collect();
    checks.update(state, granted, &Changed { definitions, rehashed: 0 });
    start.elapsed()
}
