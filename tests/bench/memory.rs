//! The cost of memory: opening it and listing a project's sessions, keeping a message, loading a long session, looking
//! for words; and a query of the retrieval index over a hundred thousand files.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use nebula::memory::rag::{IndexedFile, Rag};
use nebula::memory::{Memory, NewMessage, NewSession, Options, StoredRole};

const PROJECT: &str = "/project";

fn open(dir: &std::path::Path) -> Memory {
    Memory::open(Options::in_folder(dir)).0
}

fn session(memory: &Memory) -> String {
    let new = NewSession { project: PROJECT.into(), model: "m".into(), ..NewSession::default() };
    memory.create(&new).expect("a session")
}

/// 200 sessions of four messages, and one of 10,000.
fn filled(dir: &std::path::Path) -> String {
    let memory = open(dir);
    for i in 0..200 {
        let id = session(&memory);
        for n in 0..4 {
            let text = format!("message {n} of session {i}: look at the prices of the catalogue\n").repeat(20);
            memory.append(&id, &NewMessage::text(StoredRole::User, text)).expect("kept");
        }
        memory.end(&id).expect("ended");
    }
    let long = session(&memory);
    for n in 0..10_000 {
        let role = if n % 2 == 0 { StoredRole::User } else { StoredRole::Assistant };
        memory.append(&long, &NewMessage::text(role, format!("{n} 在庫の価格表 {}", "x ".repeat(250)))).expect("kept");
    }
    memory.end_turn(&long).expect("ended");
    memory.end(&long).expect("ended");
    long
}

fn memory(c: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a folder");
    let long = filled(dir.path());
    let mut group = c.benchmark_group("memory");
    group.sample_size(20).measurement_time(Duration::from_secs(3));
    group.bench_function("open and list 200 sessions", |b| {
        b.iter(|| {
            let memory = open(dir.path());
            black_box(memory.list(PROJECT).expect("listed").len())
        });
    });
    let memory = open(dir.path());
    group.bench_function("load 10,000 messages", |b| b.iter(|| black_box(memory.load(&long).expect("loaded").len())));
    group.bench_function("search 10,000 messages", |b| {
        memory.search(PROJECT, "価格", 50).expect("indexed");
        b.iter(|| black_box(memory.search(PROJECT, "価格 9000", 50).expect("searched").len()));
    });
    let id = session(&memory);
    let message = NewMessage::text(StoredRole::Tool, "line of a file\n".repeat(70));
    group.bench_function("append 1 KiB", |b| b.iter(|| memory.append(&id, &message).expect("kept")));
    group.finish();
}

fn rag(c: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a folder");
    let rag = Rag::open(&dir.path().join("rag.db")).expect("an index");
    let source = rag.add(PROJECT, PROJECT).expect("a source");
    let words = ["price", "cart", "total", "catalog", "order", "customer", "在庫", "価格表", "round", "cents"];
    let mut state = 7u64;
    let mut random = move |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let files: Vec<(IndexedFile, String)> = (0..100_000)
        .map(|i| {
            let seen = IndexedFile { path: format!("src/m{}/f{i}.rs", i % 97), mtime_ns: 1, size: 1 };
            let mut text: String = (0..30).map(|_| format!("word{} ", random(40_000))).collect();
            text.push_str(words[random(words.len() as u64) as usize]);
            (seen, text)
        })
        .collect();
    for chunk in files.chunks(500) {
        let batch: Vec<(&IndexedFile, &str)> = chunk.iter().map(|(s, t)| (s, t.as_str())).collect();
        rag.put(source, &batch).expect("indexed");
    }
    let mut group = c.benchmark_group("rag of 100,000 files");
    group.sample_size(20).measurement_time(Duration::from_secs(3));
    for query in ["word123 word4567", "how is the total of a cart rounded", "在庫 価格", "ord1234"] {
        group.bench_function(query, |b| b.iter(|| black_box(rag.search(PROJECT, query, 8).expect("found").len())));
    }
    let seen: Vec<IndexedFile> = files.into_iter().map(|(s, _)| s).collect();
    group.bench_function("plan", |b| {
        b.iter_batched(|| (), |()| rag.plan(source, &seen).expect("planned"), BatchSize::PerIteration)
    });
    group.finish();
}

criterion_group!(benches, memory, rag);
criterion_main!(benches);
