//! The cost of edits: finding an exact text in 10 MB beside a plain search for it, the whole ladder to a refusal in
//! 20,000 lines, and reading each format as it streams.
//!
//! Aims: exact within twice the plain search; a refusal within 50 ms; 50 MB/s of streamed text.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nebula::edit::locate::{Search, SearchShape, locate};
use nebula::edit::stream::{End, Parser};
use nebula::edit::{Format, Op};
use nebula::proposal::Rung;
use nebula::tools::ToolSet;

/// A program of this many lines, each its own.
fn program(lines: usize) -> String {
    (0..lines).map(|i| format!("{}let value_{i} = compute({}, \"row {i}\");\n", "    ".repeat(i % 4), i * 7)).collect()
}

fn search(text: &str, shape: SearchShape) -> Search<'_> {
    Search { text, shape, all: false, down_to: Rung::Inexact }
}

fn exact(c: &mut Criterion) {
    let text = program(220_000);
    let needle: String = text.lines().skip(200_000).take(6).collect::<Vec<_>>().join("\n");
    let mut group = c.benchmark_group(format!("exact in {} MB", text.len() / 1_000_000));
    group.throughput(Throughput::Bytes(text.len() as u64));
    // To know that a place is the only one, the whole text must be read: so must the search beside it.
    group.bench_function("plain search, all places", |b| {
        b.iter(|| memchr::memmem::find_iter(black_box(text.as_bytes()), needle.as_bytes()).count())
    });
    group.bench_function("std's search, all places", |b| b.iter(|| black_box(&text).matches(&needle).count()));
    for shape in [SearchShape::Lines, SearchShape::Inline] {
        group.bench_function(format!("locate {shape:?}"), |b| {
            b.iter(|| locate(black_box(&text), &search(&needle, shape)))
        });
    }
    group.finish();
}

fn refusal(c: &mut Criterion) {
    let text = program(20_000);
    let mut group = c.benchmark_group("refusal in 20,000 lines");
    let alike: String =
        text.lines().skip(9_000).take(12).map(|l| l.replace("compute", "calculate_all") + " // note\n").collect();
    let strange = "class Reader:\n    def __init__(self, path):\n        self.path = path\n".repeat(4);
    let long: String = text.lines().skip(9_000).take(600).map(|l| l.replace("compute(", "other(x, ") + "\n").collect();
    let dots = format!("{}...\n{}", alike, strange);
    for (name, needle) in [("alike", &alike), ("strange", &strange), ("600 lines", &long), ("elided", &dots)] {
        for shape in [SearchShape::Lines, SearchShape::Inline] {
            let needle = needle.trim_end_matches('\n');
            group.bench_function(format!("{name}, {shape:?}"), |b| {
                b.iter(|| locate(black_box(&text), &search(needle, shape)).map_err(|m| m.text(&text, shape)))
            });
        }
    }
    let same = "x = 1;\n".repeat(20_000);
    group.bench_function("20,000 lines alike", |b| {
        b.iter(|| locate(black_box(&same), &search("x = 1;\ny = 22;", SearchShape::Lines)))
    });
    group.finish();
}

fn streams(c: &mut Criterion) {
    let code = program(20_000);
    let prose =
        "Some words about the change, with `code` and a <tag> in them.\n\n- a list\n- of things\n".repeat(12_000);
    let texts = [
        ("prose", prose.clone()),
        (
            "xml",
            format!(
                "<replace_file>\n<path>a.rs</path>\n<search>\n{code}</search>\n<replace>\n{code}</replace>\n</replace_file>\n"
            ),
        ),
        ("blocks", format!("a.rs\n<<<<<<< SEARCH\n{code}=======\n{code}>>>>>>> REPLACE\n")),
        ("whole", format!("a.rs\n```rust\n{code}```\n")),
        (
            "patch",
            format!(
                "*** Begin Patch\n*** Update File: a.rs\n@@\n{}*** End Patch\n",
                code.replace("\n", "\n-").trim_end_matches('-')
            ),
        ),
        (
            "call",
            format!(
                "{{\"name\": \"writeFile\", \"arguments\": {{\"path\": \"a\", \"content\": {}}}}}\n",
                serde_json::Value::from(code.as_str())
            ),
        ),
    ];
    let mut group = c.benchmark_group("stream");
    for (name, text) in &texts {
        group.throughput(Throughput::Bytes(text.len() as u64));
        for size in [16, 1 << 20] {
            let starts: Vec<usize> =
                (0..text.len()).step_by(size).filter(|i| text.is_char_boundary(*i)).chain([text.len()]).collect();
            group.bench_function(format!("{name} in pieces of {size}"), |b| {
                b.iter(|| {
                    let mut parser = Parser::new(Some(Format::XML), Vec::new(), Default::default());
                    let mut pieces = 0;
                    for w in starts.windows(2) {
                        pieces += parser.push(black_box(&text[w[0]..w[1]])).len();
                    }
                    pieces + parser.finish(End::Ordinary).len()
                })
            });
        }
    }
    group.finish();
    // That what is measured is understood.
    let call = serde_json::json!({"path": "a", "content": "b"});
    assert!(
        matches!(ToolSet::builtin().edits("writeFile", &call), Some(Ok(edits)) if matches!(edits[0].op, Op::Write { .. }))
    );
}

criterion_group! {
    name = edit;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = exact, refusal, streams
}
criterion_main!(edit);
