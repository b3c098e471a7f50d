//! The time that a change takes from edit to record: archive and apply of a large changeset against writing the same
//! bytes twice, one edit against the same disk work, history over a large archive, completion over a million paths, and
//! cutting hunks.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use nebula::archive::{Archive, ArchiveSettings, Id, calculate_path_sha256};
use nebula::cli::files::{ArchiveCommands, FilesCmd, HistoryArgs};
use nebula::cli::out::Out;
use nebula::execute::apply::apply;
use nebula::memory::{ChangesetCause, Memory, Options, StoredFile};
use nebula::proposal::{Consent, Decided, Decision, FileChange, Proposal, ProposalId, State};
use nebula::workspace::Workspace;
use nebula::workspace::find::Files;

fn main() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let only = std::env::args().nth(1).filter(|a| !a.starts_with('-'));
    let parts: [(&str, fn(&Path)); 5] =
        [("changeset", changeset), ("edit", edit), ("history", history), ("completion", completion), ("hunks", hunks)];
    for (name, part) in parts {
        if only.as_ref().is_none_or(|o| o == name) {
            let folder = dir.path().join(name);
            fs::create_dir_all(&folder).expect("made");
            part(&folder);
        }
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    millis(times[times.len() / 2])
}

fn world(folder: &Path) -> (Workspace, Archive) {
    let workspace = Workspace::open(folder).expect("open");
    let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
    (workspace, archive)
}

fn decided(workspace: &Workspace, paths: &[String], text: &str) -> Decided {
    let change = |p: &String| {
        let before = workspace.read(p).expect("read").state;
        FileChange::new(p, before, State::file(text.as_bytes()), "bench", &[])
    };
    let proposal = Proposal { id: ProposalId(1), title: "bench".into(), files: paths.iter().map(change).collect() };
    proposal.decide(&Decision::accept(&proposal, Consent::Person)).expect("decided").expect("accepted")
}

/// Writes and flushes files one after another, then their folder.
fn write_plainly(folder: &Path, count: usize, bytes: &[u8]) {
    fs::create_dir_all(folder).expect("made");
    for i in 0..count {
        let mut file = File::create(folder.join(i.to_string())).expect("made");
        file.write_all(bytes).expect("written");
        file.sync_all().expect("flushed");
    }
    File::open(folder).expect("open").sync_all().expect("flushed");
}

fn changeset(folder: &Path) {
    const FILES: usize = 1_000;
    let text = "a line of forty-one bytes, all in all....\n".repeat(200);
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for round in 0..3 {
        let root = folder.join(format!("w{round}"));
        let paths: Vec<_> = (0..FILES).map(|i| format!("src/{}/{i}.rs", i % 20)).collect();
        for path in &paths {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("inside")).expect("made");
            fs::write(path, &text).expect("written");
        }
        let (workspace, archive) = world(&root);
        let decided = decided(&workspace, &paths, &text.replace("forty", "FORTY"));
        rustix::fs::sync();
        let start = Instant::now();
        apply(&decided, &workspace, &archive).expect("applied");
        ours.push(start.elapsed());
        rustix::fs::sync();
        let start = Instant::now();
        write_plainly(&folder.join(format!("p{round}/first")), FILES, text.as_bytes());
        write_plainly(&folder.join(format!("p{round}/second")), FILES, text.as_bytes());
        plain.push(start.elapsed());
    }
    let (ours, plain) = (median(ours), median(plain));
    println!(
        "changeset of 1,000 files of {} bytes, archive + apply: {ours:.0} ms, twice plainly with fsync: {plain:.0} ms, \
         ratio {:.2} (reach 1.50)",
        text.len(),
        ours / plain
    );
}

fn edit(folder: &Path) {
    const ROUNDS: usize = 60;
    let root = folder.join("w");
    fs::create_dir_all(&root).expect("made");
    fs::write(root.join("a.rs"), "start\n").expect("written");
    let (workspace, archive) = world(&root);
    let paths = ["a.rs".to_string()];
    let (mut ours, mut disk) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let decided = decided(&workspace, &paths, &format!("{}{round}\n", "some text\n".repeat(100)));
        let start = Instant::now();
        apply(&decided, &workspace, &archive).expect("applied");
        ours.push(start.elapsed());
        // The same flushes without the rest: version, its folder, changeset, its folder, file, its folder.
        let start = Instant::now();
        for i in 0..3 {
            write_plainly(&folder.join(format!("plain{i}")), 1, b"some text\n");
        }
        disk.push(start.elapsed());
    }
    let (ours, disk) = (median(ours), median(disk));
    println!(
        "one edit, archive + apply: {ours:.2} ms, the same flushes alone: {disk:.2} ms (reach 3.5 ms beyond the disk)"
    );
}

fn history(folder: &Path) {
    const FILES: usize = 10_000;
    const CHANGESETS: usize = 10_000;
    const EACH: usize = 10;
    let root = folder.join("w");
    fs::create_dir_all(&root).expect("made");
    let (workspace, archive) = world(&root);
    drop(archive.lock().expect("locked"));
    let (memory, _) = Memory::open(Options::in_folder(&folder.join("home")));
    let project = workspace.root().to_string_lossy().to_string();
    let mut last = Id::MIN;
    let mut next = || {
        last = Id::after(last);
        last
    };
    for n in 0..CHANGESETS {
        let mut files = Vec::new();
        for f in 0..EACH {
            let path = format!("src/module{}/file{}.rs", (n * EACH + f) % 100, (n * EACH + f) % FILES);
            let dir = archive.folder().join(calculate_path_sha256(workspace.root(), Path::new(&path)));
            if n * EACH < FILES {
                fs::create_dir_all(&dir).expect("made");
            }
            let version = next();
            fs::write(dir.join(format!("{version}.rs")), format!("{n}\n")).expect("written");
            let version = Some(version.to_string());
            files.push(StoredFile { path, version, absent: false, sha256: None, added: Some(1), removed: Some(1) });
        }
        let id = next();
        let paths: String = files.iter().map(|f| format!("{}\n", f.path)).collect();
        fs::write(archive.folder().join(format!("{id}.txt")), paths).expect("written");
        let cause = ChangesetCause { kind: "edit".into(), title: format!("change {n}"), ..ChangesetCause::default() };
        memory.archived(&project, &cause, &id.to_string(), &files).expect("noted");
    }
    for json in [false, true] {
        let mut times = Vec::new();
        for _ in 0..5 {
            let (memory, _) = Memory::open(Options::in_folder(&folder.join("home")));
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let mut commands = ArchiveCommands {
                workspace: &workspace,
                archive: &archive,
                memory: &memory,
                folder: root.clone(),
                commands: None,
                max_size: 0,
                format: None,
                session: None,
                can_ask: false,
                input: &mut &b""[..],
                out: Out::new(&mut out, false),
                err: Out::new(&mut err, false),
            };
            let start = Instant::now();
            commands.run(&FilesCmd::History(HistoryArgs { json, ..HistoryArgs::default() })).expect("listed");
            times.push(start.elapsed());
            drop(commands);
            black_box(out.len());
        }
        let what = if json { "history --json" } else { "history" };
        println!("{what} over 100,000 versions of 10,000 files: {:.0} ms (reach 100)", median(times));
    }
    let start = Instant::now();
    let size = archive.size().expect("sized");
    println!("size of that archive: {:.0} ms ({size} bytes)", millis(start.elapsed()));
}

fn completion(_folder: &Path) {
    const PATHS: usize = 1_000_000;
    let words =
        ["src", "core", "main", "parser", "index", "render", "widget", "config", "utils", "test", "model", "view"];
    let extensions = ["rs", "ts", "py", "go", "md", "json"];
    let path = |i: usize| {
        let word = |n: usize| words[(i / n + i % 7) % words.len()];
        let (a, b, c, d) = (word(1), word(12), word(144), word(1728));
        format!("packages/{a}{}/{b}/{c}/{d}_{i}.{}", i % 997, extensions[i % extensions.len()])
    };
    let files = Files::new();
    let all: Vec<_> = (0..PATHS).map(path).collect();
    files.add(&all);
    files.finish();
    // As the program asks: the first answer comes in time, and asked again the search goes on.
    for query in
        ["", "m", "ma", "main", "parser.rs", "pkgmain", "widget 4242", "zq", "render_99999.md", "srcviewmodelmainzz"]
    {
        let (mut first, mut all) = (Vec::new(), Vec::new());
        let mut found = 0;
        for _ in 0..5 {
            let start = Instant::now();
            black_box(files.find_within(query, 100, Duration::from_millis(10)).hits.len());
            first.push(start.elapsed());
            found = files.find(query, 100).hits.len();
            all.push(start.elapsed());
        }
        let (first, all) = (median(first), median(all));
        println!("completion of {query:?} over 1,000,000 paths: {first:.1} ms, all {found} after {all:.1} (reach 30)");
    }
}

fn hunks(_folder: &Path) {
    let before: String = (0..20_000).map(|i| format!("let value_{i} = compute({});\n", i * 7 % 1000)).collect();
    let after = before.replace("compute(7)", "compute(8)").replace("value_1999 ", "other ");
    let start = Instant::now();
    let change = FileChange::new("a", State::file(before.as_bytes()), State::file(after.as_bytes()), "bench", &[]);
    println!("hunks of a 20,000-line file: {:.1} ms ({} hunks)", millis(start.elapsed()), change.hunks.len());
}
