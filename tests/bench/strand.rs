//! The cost of Strand at size: applying ops in memory and into a store, checking after one edit, reading one definition
//! with the command. Prints one figure a line; `STRAND_SIZE` sets how many definitions there are (100,000). Times of
//! what runs in this process are those of its processor, so that a busy machine does not show.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nebula::strand::check::{Checks, all_capabilities};
use nebula::strand::id::{Layer, OpClock, QName, UnitId};
use nebula::strand::issue::{Draft, Issuer, issue};
use nebula::strand::op::{Change, Insert, Kind, Op};
use nebula::strand::state::{Changed, State};
use nebula::strand::store::Store;

fn main() {
    if let Some(file) = std::env::var_os("STRAND_INGEST") {
        return ingest(Path::new(&file));
    }
    many_ops();
    if std::env::var("STRAND_PART").is_ok_and(|part| part == "ingest") {
        return;
    }
    let size: usize = std::env::var("STRAND_SIZE").ok().and_then(|size| size.parse().ok()).unwrap_or(100_000);
    let ops = make(size);
    let per_second = |count: usize, time: Duration| count as f64 / time.as_secs_f64();

    let given: Vec<Vec<Op>> = ops.chunks(1_000).map(<[Op]>::to_vec).collect();
    let start = Work::begin();
    let mut state = State::new();
    for bundle in given {
        state.apply(bundle);
    }
    println!("apply in memory, bundles of 1,000: {:.0} ops/s", per_second(ops.len(), start.done()));

    let granted = all_capabilities();
    let start = Work::begin();
    let mut checks = Checks::full(&state, &granted);
    println!("full check: {:.2} s", start.done().as_secs_f64());
    state.take_touched();
    let mut times: Vec<Duration> = (0..50).map(|n| recheck(&mut state, &mut checks, n, size, &granted)).collect();
    times.sort();
    println!("one edit with its check, ten dependents: median {:.2} ms, worst {:.2} ms", ms(times[25]), ms(times[49]));

    let dir = tempfile::tempdir().expect("a folder");
    let root = dir.path().join("bench.strand");
    let mut store = Store::init(&root).expect("a store");
    let given: Vec<Vec<Op>> = ops.chunks(1_000).map(<[Op]>::to_vec).collect();
    let (start, clock) = (Work::begin(), Instant::now());
    for bundle in given {
        store.accept(bundle).expect("accepted");
    }
    let rate = per_second(ops.len(), start.done());
    println!(
        "into the store, bundles of 1,000: {rate:.0} ops/s, with the disk {:.0}",
        per_second(ops.len(), clock.elapsed())
    );
    store.checkpoint();
    drop(store);
    let start = Work::begin();
    Store::open(&root).expect("opened");
    println!("open after a clean close: {:.2} ms", ms(start.done()));
    let start = Work::begin();
    Store::open_from_log(&root).expect("opened");
    println!("open from the log alone: {:.2} s", start.done().as_secs_f64());
    let name = |n: usize| format!("fn.f{}", n * size / 40 + 1);
    command(&root, "view of one definition", 20, 0, |n| vec!["view".into(), name(n)]);
    command(&root, "view --refs", 20, 0, |n| vec!["view".into(), "--refs".into(), name(n)]);
    let patch = |n: usize| format!("{{\"params\": \"set n{n}: Int\", \"expr\": \"set n{n}\"}}");
    command(&root, "edit", 20, 0, |n| vec!["edit".into(), name(n), patch(n)]);
    command(&root, "refusal to remove what a tenth refers to", 5, 3, |_| vec!["remove".into(), "slot.s0".into()]);
    let bytes = |name: &str| std::fs::metadata(root.join(".strand").join(name)).map_or(0, |meta| meta.len());
    let log = bytes("op-log.jsonl") as f64 / ops.len() as f64;
    println!("log: {log:.0} bytes an op, checkpoint: {} MiB", bytes("store.crdt") >> 20);
    std::env::var_os("STRAND_KEEP").inspect(|_| println!("kept: {}", dir.keep().display()));
    push_at_once();
}

/// A million ops over a hundred thousand definitions, in bundles of 1,000, into an empty store: in a process of its own,
/// whose memory is told. `STRAND_OPS` sets another number of ops.
fn many_ops() {
    let count: usize = std::env::var("STRAND_OPS").ok().and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("ops.jsonl");
    let mut out = BufWriter::new(File::create(&file).expect("a file"));
    write_ops(count, &mut out).and_then(|()| out.flush()).expect("written");
    let ran = Command::new(std::env::current_exe().expect("a program")).env("STRAND_INGEST", &file).status();
    assert!(ran.expect("ran").success());
    let root = dir.path().join("many.strand");
    let bytes = |name: &str| std::fs::metadata(root.join(".strand").join(name)).map_or(0, |meta| meta.len());
    println!(
        "log: {:.0} bytes an op, checkpoint: {} MiB",
        bytes("op-log.jsonl") as f64 / count as f64,
        bytes("store.crdt") >> 20
    );
    let last = {
        let store = Store::open(&root).expect("opened");
        let def = store.state().find_id(Layer::Fn, "f100").expect("there");
        store.history(def).last().expect("an op").id.to_string()
    };
    let name = |n: usize| format!("fn.f{}", n * count / 400 + 1);
    command(&root, "view of one definition", 10, 0, |n| vec!["view".into(), name(n)]);
    command(&root, "view --at", 5, 0, |_| vec!["view".into(), "fn.f100".into(), "--at".into(), last.clone()]);
    let patch = |n: usize| format!("{{\"params\": \"set n{n}: Int\", \"expr\": \"set n{n}\"}}");
    command(&root, "edit", 20, 0, |n| vec!["edit".into(), name(n), patch(n)]);
    command(&root, "revert", 1, 0, |_| vec!["patch".into(), "revert".into(), last.clone()]);
    command(&root, "sync --dry-run", 1, 0, |_| vec!["sync".into(), "--dry-run".into()]);
    command(&root, "check", 1, 1, |_| vec!["check".into()]);
    served(&root, count);
    let empty = dir.path().join("empty.strand");
    Store::init(&empty).expect("a store");
    let mut server = Server::start(&empty);
    let start = Instant::now();
    let lines: Vec<String> = BufReader::new(File::open(&file).expect("a file")).lines().map_while(Result::ok).collect();
    for ops in lines.chunks(1_000) {
        let ops: Vec<serde_json::Value> = ops.iter().map(|op| serde_json::from_str(op).expect("an op")).collect();
        server.call("strand_patch_apply", serde_json::json!({"ops": ops}));
    }
    println!("a server that takes in {count} ops: {:.0} s, {}", start.elapsed().as_secs_f64(), server.memory());
}

/// A server on a store: edits with their diagnostics, and reading.
fn served(root: &Path, count: usize) {
    let mut server = Server::start(root);
    let name = |n: usize| format!("fn.f{}", n * count / 400 + 1);
    server.time("strand_view", 100, &|n| serde_json::json!({"selector": name(n % 20)}));
    server.time("strand_refs", 100, &|n| serde_json::json!({"qname": name(n % 20)}));
    let patch = |n: usize| serde_json::json!({"params": format!("set m{n}: Int"), "expr": format!("set m{n}")});
    server.time("strand_edit", 100, &|n| serde_json::json!({"qname": name(n % 20), "patch": patch(n)}));
    println!("a server on that store: {}", server.memory());
    server.time("strand_check", 2, &|_| serde_json::json!({"limit": 1}));
    println!("a server that checked it all: {}", server.memory());
}

/// `strand mcp serve` over pipes.
struct Server {
    child: std::process::Child,
    stdout: BufReader<std::process::ChildStdout>,
    next: u64,
}

impl Server {
    fn start(root: &Path) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strand"));
        command.args(["mcp", "serve", "--store"]).arg(root).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        Server { child, stdout, next: 0 }
    }

    fn call(&mut self, tool: &str, arguments: serde_json::Value) {
        self.next += 1;
        let meta = serde_json::json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = serde_json::json!({"name": tool, "arguments": arguments, "_meta": meta});
        let message = serde_json::json!({"jsonrpc": "2.0", "id": self.next, "method": "tools/call", "params": params});
        writeln!(self.child.stdin.as_mut().expect("piped"), "{message}").expect("written");
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("read");
        let answer: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert!(answer["result"]["isError"] != true && answer.get("error").is_none(), "{tool}: {answer}");
    }

    /// Prints the times of calls of a tool.
    fn time(&mut self, tool: &str, rounds: usize, arguments: &dyn Fn(usize) -> serde_json::Value) {
        let mut times: Vec<Duration> = (0..rounds)
            .map(|n| {
                let start = Instant::now();
                self.call(tool, arguments(n));
                start.elapsed()
            })
            .collect();
        times.sort();
        let (median, most) = (ms(times[rounds / 2]), ms(times[rounds * 99 / 100]));
        println!("served {tool}: median {median:.1} ms, 99 of 100 {most:.1} ms");
    }

    /// Returns what it holds now, and at most held.
    fn memory(&self) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        format!("{} MiB, at most {} MiB", mebibytes(&status, "VmRSS:"), mebibytes(&status, "VmHWM:"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Accepts the ops of a file, and tells how long the processor took and how much memory.
fn ingest(file: &Path) {
    let mut store = Store::init(&file.with_file_name("many.strand")).expect("a store");
    let lines = BufReader::new(File::open(file).expect("a file")).lines();
    let (mut bundle, mut count, mut taken) = (Vec::with_capacity(1_000), 0, Duration::ZERO);
    let accept = |store: &mut Store, bundle: &mut Vec<Op>| {
        let work = Work::begin();
        let result = store.accept(std::mem::take(bundle)).expect("accepted");
        assert!(result.rejected.is_empty() && result.pending.is_empty(), "{result:?}");
        work.done()
    };
    for line in lines {
        bundle.push(Op::from_line(line.expect("a line").as_bytes()).expect("an op"));
        count += 1;
        if bundle.len() == 1_000 {
            taken += accept(&mut store, &mut bundle);
        }
    }
    taken += accept(&mut store, &mut bundle);
    let work = Work::begin();
    store.checkpoint();
    taken += work.done();
    let rate = f64::from(count) / taken.as_secs_f64();
    println!(
        "{count} ops into a store, bundles of 1,000: {rate:.0} ops/s of the processor, at most {} MiB",
        peak_memory()
    );
}

/// The most memory this process ever held, in MiB.
fn peak_memory() -> usize {
    mebibytes(&std::fs::read_to_string("/proc/self/status").unwrap_or_default(), "VmHWM:")
}

/// A line of the status of a process, in MiB.
fn mebibytes(status: &str, name: &str) -> usize {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or(0) >> 10
}

/// Ops on a tenth as many definitions: slots, fns that call the one before in chains of ten, reducers. Nine of ten edit a
/// register, insert a statement or replace a body.
fn write_ops(count: usize, out: &mut impl Write) -> std::io::Result<()> {
    let adds = make(count / 10);
    let first = adds.last().map_or(0, |op| op.ts) + 1;
    let mut heads: Vec<_> = adds.iter().map(|op| (op.id, op.id)).collect();
    for op in &adds {
        writeln!(out, "{}", op.to_line())?;
    }
    let clock = OpClock::fixed(first, 2);
    for n in 0..count - adds.len() {
        let at = n.wrapping_mul(7_919) % adds.len();
        let add = &adds[at];
        let (head, base) = &mut heads[at];
        let (id, layer) = (clock.op_id(), add.layer);
        let set = |register: &str, value: String| Change::Set {
            unit: None,
            register: register.into(),
            value: Some(value.into()),
        };
        let insert = || {
            let regs =
                [("kind", "write"), ("target", "s0"), ("value", "2")].map(|(name, text)| (name.into(), text.into()));
            let id = UnitId { op: id, n: 1 };
            Change::Insert(Box::new(Insert { id, after: None, parent: None, regs: regs.into() }))
        };
        let replaces = n % 10 == 3;
        let changes = match layer {
            _ if replaces => Vec::new(),
            Layer::Slot => vec![set("init", n.to_string())],
            Layer::Fn => vec![set("expr", format!("n + {n}"))],
            _ if n % 3 == 0 => vec![insert()],
            _ => vec![Change::Set {
                unit: Some(UnitId { op: *base, n: 1 }),
                register: "value".into(),
                value: Some(n.to_string().into()),
            }],
        };
        let depends = if matches!(layer, Layer::Reducer) { add.depends.clone() } else { Vec::new() };
        let depends = if replaces { add.depends.clone() } else { depends };
        let op = Op {
            kind: if replaces { Kind::Replace } else { Kind::Edit },
            body: replaces.then(|| add.body.clone()).flatten(),
            base: (!replaces).then_some(*base),
            id,
            ts: clock.now(),
            parents: [*head].into_iter().collect(),
            def: Some(add.id),
            bundle: Some(format!("bnd_{:026}", n / 1_000).into()),
            changes,
            depends,
            ..add.clone()
        };
        *head = id;
        if replaces {
            *base = id;
        }
        writeln!(out, "{}", op.to_line())?;
    }
    Ok(())
}

/// Runs the command so often, and tells how long the whole process takes and what of that is work.
fn command(root: &Path, what: &str, rounds: usize, code: i32, args: impl Fn(usize) -> Vec<String>) {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|n| {
            let start = Instant::now();
            let out = Command::new(env!("CARGO_BIN_EXE_strand")).arg("--store").arg(root).args(args(n)).output();
            let out = out.expect("ran");
            assert_eq!(out.status.code(), Some(code), "{}", String::from_utf8_lossy(&out.stderr));
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("strand {what}: median {:.1} ms, worst {:.1} ms", ms(times[rounds / 2]), ms(times[rounds - 1]));
}

/// Eight agents with 1,000 ops each, a tenth of them on what all have, push to one store at the same moment.
fn push_at_once() {
    const AGENTS: usize = 8;
    let dir = tempfile::tempdir().expect("a folder");
    let qname = |name: String| QName::parse(&name).expect("a name");
    let add = |name: String| Draft::Add { qname: qname(name), body: "Int = 0".into(), doc: None, def: None };
    let mut master = Store::init(&dir.path().join("master")).expect("a store");
    let shared: Vec<Draft> = (0..100).map(|n| add(format!("slot.shared{n}"))).collect();
    master.issue(&shared, &Issuer::new("user:bench"), false).expect("issued");
    let folder = |agent: usize| dir.path().join(format!("a{agent}"));
    for agent in 0..AGENTS {
        let mut store = master.snapshot(&folder(agent)).expect("a snapshot");
        let mut drafts: Vec<Draft> = (0..900).map(|n| add(format!("slot.own{agent}x{n}"))).collect();
        let replace =
            |n| Draft::Replace { qname: qname(format!("slot.shared{n}")), body: format!("Int = {agent}"), doc: None };
        drafts.extend((0..100).map(replace));
        store.issue(&drafts, &Issuer::new(format!("agent:a{agent}")), false).expect("issued");
    }
    let start = Instant::now();
    std::thread::scope(|scope| {
        for agent in 0..AGENTS {
            let root = folder(agent);
            scope.spawn(move || {
                let out =
                    Command::new(env!("CARGO_BIN_EXE_strand")).arg("--store").arg(root).args(["op", "push"]).output();
                assert!(out.expect("ran").status.success());
            });
        }
    });
    let took = start.elapsed();
    master.catch_up().expect("read");
    assert_eq!(master.ops().len(), 100 + AGENTS * 1_000);
    println!("8 agents push 1,000 ops each at once: {:.2} s", took.as_secs_f64());
}

/// Time of the processor spent by this thread.
struct Work(Duration);

impl Work {
    fn begin() -> Work {
        Work(Work::spent())
    }

    fn done(&self) -> Duration {
        Work::spent() - self.0
    }

    fn spent() -> Duration {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        Duration::from_nanos(stat.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0))
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Slots, fns that refer to the one before, and reducers that all write one slot: a tenth of all.
fn make(size: usize) -> Vec<Op> {
    let issuer = Issuer { clock: OpClock::fixed(1_700_000_000_000, 1), ..Issuer::new("user:bench") };
    let mut state = State::new();
    let mut ops = Vec::with_capacity(size);
    for n in 0..size {
        let (name, body) = match n % 2 {
            0 if n % 10 == 4 => (format!("reducer.r{n}"), "do= s0 := 1".to_owned()),
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
    // Shorter than what the processor's time is counted in.
    let start = Instant::now();
    let ops = issue(state, &draft, &Issuer::new("user:bench")).expect("issued");
    let definitions = ops.iter().map(Op::target).chain(state.take_touched()).collect();
    checks.update(state, granted, &Changed { definitions, rehashed: 0 });
    start.elapsed()
}
