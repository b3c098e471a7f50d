//! A file that someone else changed between reading and writing: what was decided goes into it where the lines lie apart,
//! and else nothing is written.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nebula::archive::{Archive, ArchiveSettings, Choices, Id};
use nebula::execute::{Applied, ApplyError, Executed, Stores, execute, sweep};
use nebula::memory::{ChangesetCause, ChangesetState, Memory, Options};
use nebula::proposal::{
    Choice, Consent, Decided, Decision, FileChange, FileDecision, MergeRung, Proposal, ProposalId, RestorePreview,
    RestoreStatus, State,
};
use nebula::protocol::{CallState, Command as AgentCommand, EventBody, Outcome, ProposalEvent, TurnEnd};
use nebula::restore_plan::{RestoreScope, plan};
use nebula::workspace::Workspace;
use serde_json::{Value, json};

use crate::session::{calls_of, replace, results};
use crate::support::world::{self, calls, say};

/// Two functions, with what each returns.
fn functions(a: &str, b: &str) -> String {
    format!("fn a() {{\n    {a}\n}}\n\nfn b() {{\n    {b}\n}}\n")
}

struct World {
    dir: tempfile::TempDir,
    workspace: Workspace,
    archive: Archive,
    memory: Memory,
}

impl World {
    /// A workspace with two functions in `a.rs`.
    fn new() -> World {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("work")).expect("made");
        let workspace = Workspace::open(&dir.path().join("work")).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let (memory, _) = Memory::open(Options::in_folder(&dir.path().join("home/nebula")));
        let world = World { dir, workspace, archive, memory };
        world.outside(functions("1", "2"));
        world
    }

    fn full(&self, path: &str) -> PathBuf {
        self.workspace.root().join(path)
    }

    /// Writes as another program would.
    fn outside(&self, text: impl AsRef<[u8]>) {
        fs::write(self.full("a.rs"), text).expect("written");
    }

    fn now(&self, path: &str) -> State {
        self.workspace.read(path).expect("read").state
    }

    fn text(&self) -> String {
        fs::read_to_string(self.full("a.rs")).expect("a text")
    }

    /// Decides a change of `a.rs`, and of other files.
    fn decide(&self, after: &str, others: &[(&str, State)]) -> Decided {
        let change = |path: &str, after: State| FileChange::new(path, self.now(path), after, "test", &[]);
        let mut files = vec![change("a.rs", State::file(after.as_bytes()))];
        files.extend(others.iter().map(|(path, after)| change(path, after.clone())));
        let proposal = Proposal { id: ProposalId(1), title: "test".into(), files };
        proposal.decide(&Decision::accept(&proposal, Consent::Person)).expect("it fits").expect("accepted")
    }

    fn execute(&self, decided: &Decided) -> Result<Applied, ApplyError> {
        self.execute_in(decided, &self.archive)
    }

    fn execute_in(&self, decided: &Decided, archive: &Archive) -> Result<Applied, ApplyError> {
        let stores = Stores { workspace: &self.workspace, archive, memory: &self.memory };
        let cause = ChangesetCause { kind: "edit".into(), title: "test".into(), ..ChangesetCause::default() };
        let Executed { applied, unrecorded } = execute(decided, cause, stores);
        assert!(unrecorded.is_empty(), "{unrecorded:?}");
        applied
    }

    fn project(&self) -> String {
        self.workspace.root().to_string_lossy().into_owned()
    }

    /// All archived texts of `a.rs`.
    fn archived(&self) -> Vec<String> {
        let versions = self.archive.versions("a.rs").expect("listed");
        let shown = versions.iter().map(|version| self.archive.show(version).expect("shown"));
        shown.map(|state| state.text().expect("a text").to_string()).collect()
    }

    /// Checks that a refusal left nothing behind: `a.rs` as it is now, no version, no record.
    fn assert_untouched(&self, now: &State, case: &str) {
        assert_eq!(self.now("a.rs"), *now, "{case}");
        assert_eq!(self.archive.list().expect("listed"), Vec::<Id>::new(), "{case}");
        assert_eq!(self.memory.written(&self.project(), "a.rs").expect("asked"), None, "{case}");
        assert!(self.memory.changesets(&self.project()).expect("asked").is_empty(), "{case}");
    }

    /// Starts the program here.
    fn start(&self, args: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        let home = self.dir.path().join("home");
        command.args(args).current_dir(self.workspace.root()).env_clear();
        command.env("HOME", &home).env("NEBULA_HOME", home.join("nebula"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("started")
    }

    fn run(&self, args: &[&str]) -> Output {
        let output = self.start(args).wait_with_output().expect("waited for");
        assert!(output.status.success(), "{args:?}: {output:?}");
        output
    }

    /// Writes a recording in which the model replaces a text in `a.rs`, and returns its path.
    fn recording(&self, name: &str, search: &str, replace: &str) -> String {
        let arguments = json!({"path": "a.rs", "search": search, "replace": replace}).to_string();
        let call = json!({"index": 0, "id": "c0", "name": "replaceInFile", "arguments": arguments});
        let lines = [
            json!({"recording": 1}),
            json!({"step": 1}),
            json!({"ms": 0, "delta": {"call": call}}),
            json!({"ms": 0, "delta": {"end": "calls"}}),
            json!({"step": 2}),
            json!({"ms": 0, "delta": {"text": "Done."}}),
            json!({"ms": 0, "delta": {"end": "stop"}}),
        ];
        let path = self.dir.path().join(name);
        fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).expect("written");
        path.display().to_string()
    }
}

/// A run of `nebula task`, whose output is read as it comes.
struct Task {
    child: Child,
    out: BufReader<Box<dyn Read>>,
    told: String,
}

impl Task {
    fn of(mut child: Child, out: Box<dyn Read>) -> Task {
        child.stdin.take();
        Task { child, out: BufReader::new(out), told: String::new() }
    }

    /// Reads lines up to one with these words.
    fn until(&mut self, words: &str) {
        let from = self.told.len();
        while !self.told[from..].contains(words) {
            assert!(self.out.read_line(&mut self.told).expect("read") > 0, "no {words} in:\n{}", self.told);
        }
    }

    /// Reads the rest, and waits for a good end.
    fn end(mut self) -> String {
        self.out.read_to_string(&mut self.told).expect("read");
        let status = self.child.wait().expect("waited for");
        assert!(status.success(), "{status}: {}", self.told);
        self.told
    }
}

#[test]
fn two_tasks_that_edit_one_file_at_the_same_time_both_land() {
    let w = World::new();
    let recordings = [w.recording("one.jsonl", "    1", "    one"), w.recording("two.jsonl", "    2", "    two")];
    // While the archive is locked both place their edits in the same text, and wait.
    let lock = w.archive.lock().expect("locked");
    let mut tasks = recordings.map(|recording| {
        let mut child = w.start(&["task", "go", "--approve", "edits", "--json", "--replay", &recording]);
        let out = child.stdout.take().expect("piped");
        Task::of(child, Box::new(out))
    });
    tasks.iter_mut().for_each(|task| task.until("\"decision\""));
    drop(lock);
    let told = tasks.map(Task::end);
    assert_eq!(w.text(), functions("one", "two"));
    let merges: Vec<Value> = told
        .iter()
        .flat_map(|told| told.lines())
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter(|line| line["type"] == "merged")
        .collect();
    assert_eq!(merges, [json!({"type": "merged", "path": "a.rs", "how": "lines"})]);
    let told = told.iter().find(|told| told.contains("\"merged\"")).expect("the second");
    assert!(told.contains("Your edit was merged into it (by lines)"), "{told}");

    let history = String::from_utf8(w.run(&["history"]).stdout).expect("text");
    assert_eq!(history.matches("(merged: lines)").count(), 1, "{history}");
    let rows: Value = serde_json::from_slice(&w.run(&["history", "--json"]).stdout).expect("JSON");
    assert_eq!((&rows[0]["merged"], &rows[1]["merged"]), (&json!("lines"), &Value::Null));
    assert_eq!(rows[0]["files"][0]["added"], 1, "its own lines alone are counted");
    // Each is undone by itself.
    w.run(&["undo", "--yes"]);
    assert!([functions("one", "2"), functions("1", "two")].contains(&w.text()), "{}", w.text());
    w.run(&["undo", "3", "--yes"]);
    assert_eq!(w.text(), functions("1", "2"));
}

#[test]
fn a_task_says_in_words_that_it_merged() {
    let w = World::new();
    let recording = w.recording("one.jsonl", "    1", "    one");
    let lock = w.archive.lock().expect("locked");
    let mut child = w.start(&["task", "go", "--approve", "edits", "--replay", &recording]);
    let err = child.stderr.take().expect("piped");
    let mut task = Task::of(child, Box::new(err));
    task.until("+    one");
    w.outside(functions("1", "mine"));
    drop(lock);
    let told = task.end();
    assert!(told.contains("replaceInFile a.rs  +1 −1  merged: lines"), "{told}");
    assert_eq!(w.text(), functions("one", "mine"));
}

#[test]
fn the_archive_and_memory_have_the_true_states() {
    let w = World::new();
    let decided = w.decide(&functions("one", "2"), &[("new.rs", State::file(*b"new\n"))]);
    let theirs = functions("1", "mine");
    w.outside(&theirs);
    fs::set_permissions(w.full("a.rs"), fs::Permissions::from_mode(0o644)).expect("set");
    let applied = w.execute(&decided).expect("merged");
    let both = functions("one", "mine");
    assert_eq!((w.text(), w.archived()), (both.clone(), vec![theirs.clone()]));
    let [merged] = &applied.merged[..] else { panic!("{:?}", applied.merged) };
    assert_eq!((merged.path.as_str(), merged.rung), ("a.rs", MergeRung::Lines));
    assert_eq!((merged.alone.text(), merged.after.text()), (Some(&*functions("one", "2")), Some(&*both)));
    let written = w.memory.written(&w.project(), "a.rs").expect("asked").expect("known");
    assert_eq!((written.bytes.as_deref(), written.before), (Some(both.as_bytes()), None));
    let records = w.memory.changesets(&w.project()).expect("asked");
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!(
        (records[0].cause.merged.as_deref(), records[0].added, records[0].removed),
        (Some("lines"), Some(2), Some(1))
    );
    // An undo gives back what was there, with the other's change.
    w.run(&["undo", "--yes"]);
    assert_eq!((w.text(), w.now("new.rs")), (theirs, State::Absent));
    assert_eq!(w.archive.check(&|_| None).expect("checked"), []);
}

/// Changes that are no clean merge: nothing at all is written, and everything stays as the other left it.
#[test]
fn what_does_not_merge_cleanly_is_refused() {
    type Act = fn(&World);
    let cases: [(&str, Act); 11] = [
        ("the same line", |w| w.outside(functions("uno", "2"))),
        ("the line beside it", |w| w.outside(functions("1", "2").replacen("() {", "() { //", 1))),
        ("emptied", |w| w.outside("")),
        ("other line ends", |w| w.outside(functions("1", "2").replace('\n', "\r\n"))),
        ("no text any more", |w| w.outside(functions("1", "\0"))),
        ("no UTF-8 any more", |w| w.outside([functions("1", "2").as_bytes(), b"\xff\n"].concat())),
        ("UTF-16", |w| w.outside([&[0xff, 0xfe][..], b"a\0\n\0"].concat())),
        ("removed", |w| fs::remove_file(w.full("a.rs")).expect("removed")),
        ("a folder", |w| {
            fs::remove_file(w.full("a.rs")).expect("removed");
            fs::create_dir(w.full("a.rs")).expect("made");
        }),
        ("a link", |w| {
            fs::write(w.full("b.rs"), functions("1", "mine")).expect("written");
            fs::remove_file(w.full("a.rs")).expect("removed");
            symlink("b.rs", w.full("a.rs")).expect("linked");
        }),
        ("another mode", |w| {
            w.outside(functions("1", "mine"));
            fs::set_permissions(w.full("a.rs"), fs::Permissions::from_mode(0o755)).expect("set");
        }),
    ];
    for (case, act) in cases {
        let w = World::new();
        fs::set_permissions(w.full("a.rs"), fs::Permissions::from_mode(0o644)).expect("set");
        let decided = w.decide(&functions("one", "2"), &[("other", State::file(*b"x\n"))]);
        act(&w);
        let now = w.workspace.read("a.rs").map(|read| read.state);
        let refused = w.execute(&decided).expect_err(case);
        match now {
            Ok(now) => {
                match refused {
                    ApplyError::Conflict { expected, .. } => assert_eq!(expected.text(), Some(&*functions("1", "2"))),
                    other => assert_eq!(case, "a link", "{other}"),
                }
                w.assert_untouched(&now, case);
            }
            Err(_) => assert_eq!(case, "a folder"),
        }
        assert_eq!(w.now("other"), State::Absent, "{case}");
    }
}

/// What nebula writes is merged into what someone else wrote, and undone over what someone else writes then.
#[cfg(feature = "code")]
#[test]
fn definitions_that_two_put_at_one_place_both_land_and_one_is_undone_without_the_other() {
    let (class, more) = ("impl K {\n    fn m() {}\n}\n", "impl K {\n    fn m() {}\n\n    fn n() {}\n}\n");
    for (ours, theirs, both) in [
        // Behind a class, and a member of it.
        ("@\nfn x() {}\n", "@\nfn y() {}\n", "@\nfn x() {}\n\nfn y() {}\n"),
        (more, "@\nfn y() {}\n", "+\nfn y() {}\n"),
        // The first import, and the first definition.
        ("use a::x;\n\n@", "use a::y;\n\n@", "use a::y;\nuse a::x;\n\n@"),
        ("fn x() {}\n\n@", "fn y() {}\n\n@", "fn y() {}\n\nfn x() {}\n\n@"),
    ] {
        for ends in ["\n", "\r\n"] {
            let [base, ours, theirs, both] =
                ["@", ours, theirs, both].map(|text| text.replace('@', class).replace('+', more).replace('\n', ends));
            let w = World::new();
            w.outside(&base);
            let decided = w.decide(&ours, &[]);
            w.outside(&theirs);
            assert_eq!(w.execute(&decided).expect("merged").merged.len(), 1);
            assert_eq!(w.text(), both);
            w.run(&["undo", "--yes"]);
            assert_eq!(w.text(), theirs);

            let w = World::new();
            w.outside(&base);
            w.execute(&w.decide(&ours, &[])).expect("written");
            w.outside(&both);
            w.run(&["undo", "--yes"]);
            assert_eq!(w.text(), theirs, "over what came later");
        }
    }
}

/// The undo of a move carries what someone else changed at the new path back to the old one, or leaves both ends.
#[test]
fn a_moved_file_goes_back_with_what_changed_at_its_new_path_or_stays() {
    for (edited, theirs, back) in [
        (None, functions("1", "mine"), Some(functions("1", "mine"))),
        (Some(functions("one", "2")), functions("one", "mine"), Some(functions("1", "mine"))),
        (Some(functions("one", "2")), functions("uno", "2"), None),
    ] {
        let w = World::new();
        let files = FileChange::moved("a.rs", "pkg/n.rs", w.now("a.rs"), w.now("a.rs"), "moveFile", &[]).into();
        let proposal = Proposal { id: ProposalId(1), title: "moveFile".into(), files };
        let decision = Decision::accept(&proposal, Consent::Person);
        w.execute(&proposal.decide(&decision).expect("it fits").expect("accepted")).expect("moved");
        let changed = edited.is_some();
        if let Some(edited) = edited {
            let change = FileChange::new("pkg/n.rs", w.now("pkg/n.rs"), State::file(edited.as_bytes()), "test", &[]);
            let proposal = Proposal { id: ProposalId(2), title: "edit".into(), files: vec![change] };
            let decision = Decision::accept(&proposal, Consent::Person);
            w.execute(&proposal.decide(&decision).expect("it fits").expect("accepted")).expect("edited");
        }
        fs::write(w.full("pkg/n.rs"), &theirs).expect("written");
        let first = w.archive.list().expect("listed").into_iter().min().expect("a changeset").to_string();
        let stores = Stores { workspace: &w.workspace, archive: &w.archive, memory: &w.memory };
        let clean = Choices { merge_clean: true, ..Choices::default() };
        let plan = plan(&RestoreScope::Since(first), stores).expect("planned");
        let found = plan.look(&clean, ProposalId(3), stores).expect("looked");
        let Some(back) = back else {
            assert_eq!(found.proposal.files, [], "{changed}");
            let why = "it stays at pkg/n.rs, which was changed since";
            let is_said =
                |file: &RestorePreview| file.path == "a.rs" && file.status == RestoreStatus::Refused(why.into());
            assert!(found.previews.iter().any(is_said), "{:?}", found.previews);
            continue;
        };
        let half = [Choice::Accept, Choice::Reject].map(|choice| FileDecision { hunks: vec![choice], edited: None });
        assert!(found.proposal.decide(&Decision::new(half.into(), Consent::Person)).is_err(), "both ends or none");
        let decision = Decision::accept(&found.proposal, Consent::Person);
        w.execute(&found.proposal.decide(&decision).expect("it fits").expect("accepted")).expect("undone");
        assert_eq!((w.text(), w.now("pkg/n.rs")), (back, State::Absent));
        w.run(&["undo", "--yes"]);
        assert_eq!((w.now("a.rs"), w.now("pkg/n.rs").text()), (State::Absent, Some(theirs.as_str())), "again");
    }
}

#[test]
fn lines_put_in_at_the_same_place_by_both_are_refused() {
    let w = World::new();
    let with = |line: &str| functions(&format!("1\n    {line}"), "2");
    let decided = w.decide(&with("ours();"), &[]);
    w.outside(with("theirs();"));
    assert!(matches!(w.execute(&decided), Err(ApplyError::Conflict { .. })));
    w.assert_untouched(&State::File { bytes: with("theirs();").into_bytes().into(), mode: w.now("a.rs").mode() }, "");
}

#[test]
fn the_same_edit_by_both_is_there_once_and_nothing_is_written() {
    let w = World::new();
    let after = functions("one", "2");
    let decided = w.decide(&after, &[]);
    w.outside(&after);
    let now = w.now("a.rs");
    let applied = w.execute(&decided).expect("it is there");
    assert_eq!((applied.changeset, applied.paths.len(), applied.merged.len()), (None, 0, 1));
    w.assert_untouched(&now, "the same edit");
    // With another file, that one is written.
    let w = World::new();
    let decided = w.decide(&after, &[("other", State::file(*b"x\n"))]);
    w.outside(&after);
    assert_eq!(w.execute(&decided).expect("the other is written").paths, ["other"]);
    assert!(w.archived().is_empty());
}

#[test]
fn a_file_that_may_not_be_written_is_not_merged_into() {
    let w = World::new();
    fs::set_permissions(w.full("a.rs"), fs::Permissions::from_mode(0o444)).expect("set");
    let decided = w.decide(&functions("one", "2"), &[]);
    fs::set_permissions(w.full("a.rs"), fs::Permissions::from_mode(0o644)).expect("set");
    w.outside(functions("1", "mine"));
    fs::set_permissions(w.full("a.rs"), fs::Permissions::from_mode(0o444)).expect("set");
    let now = w.now("a.rs");
    assert!(matches!(w.execute(&decided), Err(ApplyError::ReadOnly(_))));
    w.assert_untouched(&now, "read-only");
}

/// An archive whose probe acts at each step, by its number.
fn probed(w: &World, act: impl Fn(usize) -> io::Result<()> + Send + Sync + 'static) -> Archive {
    let reached = AtomicUsize::new(0);
    w.archive.clone().with_probe(Arc::new(move |_| act(reached.fetch_add(1, Ordering::Relaxed))))
}

/// A decided edit of a file that someone else changed since.
fn changed_since(w: &World) -> Decided {
    let decided = w.decide(&functions("one", "2"), &[("other", State::file(*b"x\n"))]);
    w.outside(functions("1", "mine"));
    decided
}

fn steps() -> usize {
    let w = World::new();
    let reached = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&reached);
    let archive = probed(&w, move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    w.execute_in(&changed_since(&w), &archive).expect("merged");
    reached.load(Ordering::Relaxed)
}

#[test]
fn a_crash_at_any_step_of_a_merge_leaves_the_file_as_the_other_left_it_or_merged() {
    let (theirs, both) = (functions("1", "mine"), functions("one", "mine"));
    let steps = steps();
    assert!(steps > 5, "{steps}");
    for at in 0..steps {
        let w = World::new();
        let decided = changed_since(&w);
        // Unwinding puts nothing back, as if the process ended here.
        let archive =
            probed(&w, move |step| if step == at { std::panic::resume_unwind(Box::new("a crash")) } else { Ok(()) });
        let crashed = catch_unwind(AssertUnwindSafe(|| drop(w.execute_in(&decided, &archive))));
        assert!(crashed.is_err(), "step {at}");
        let now = w.text();
        assert!(now == theirs || now == both, "step {at}: {now}");
        assert!(now == theirs || w.archived().contains(&theirs), "step {at}: theirs is lost");
        sweep(&w.archive).expect("swept");
        assert_eq!(w.archive.check(&|_| None).expect("checked"), [], "step {at}");
        // Either is nebula's own until it is known how it ended, and what was killed can be done again.
        let written = w.memory.written(&w.project(), "a.rs").expect("asked").expect("intended");
        assert_eq!(written.bytes.as_deref(), Some(both.as_bytes()), "step {at}");
        if w.now("other").is_absent() {
            w.execute(&decided).expect("again");
        }
        assert_eq!((w.text(), w.now("other").text()), (both.clone(), Some("x\n")), "step {at}");
    }
}

#[test]
fn a_failure_at_any_step_of_a_merge_puts_everything_back() {
    for at in 0..steps() {
        let w = World::new();
        let decided = changed_since(&w);
        let archive = probed(&w, move |step| if step == at { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) });
        assert!(w.execute_in(&decided, &archive).is_err(), "step {at}");
        assert_eq!((w.text(), w.now("other")), (functions("1", "mine"), State::Absent), "step {at}");
    }
}

#[test]
fn a_file_that_changes_again_while_it_is_merged_is_merged_again() {
    for at in 0..steps() {
        let w = World::new();
        let decided = changed_since(&w);
        let path = w.full("a.rs");
        let archive = probed(&w, move |step| match step == at {
            true => fs::write(&path, functions("1", "mine again")),
            false => Ok(()),
        });
        let applied = w.execute_in(&decided, &archive).expect("merged");
        let now = w.text();
        // Past the exchange they have written over ours, knowing nothing of it.
        let over = now == functions("1", "mine again");
        assert!(now == functions("one", "mine again") || over, "step {at}: {now}");
        assert!(!over || w.archived().contains(&functions("1", "mine")), "step {at}");
        assert_eq!(applied.merged.len(), 1, "step {at}");
        assert_eq!(w.now("other").text(), Some("x\n"), "step {at}");
    }
}

#[test]
fn a_file_that_never_stops_changing_is_refused_after_a_few_tries() {
    let w = World::new();
    let decided = changed_since(&w);
    let path = w.full("a.rs");
    let archive = probed(&w, move |step| fs::write(&path, functions("1", &format!("mine {step}"))));
    match w.execute_in(&decided, &archive) {
        Err(ApplyError::Conflict { expected, .. }) => assert_eq!(expected.text(), Some(&*functions("1", "2"))),
        other => panic!("{other:?}"),
    }
    assert!(w.text().contains("    1\n") && w.text().contains("mine "), "{}", w.text());
    assert_eq!(w.now("other"), State::Absent);
    let known = w.memory.changesets(&w.project()).expect("asked");
    assert!(known.iter().all(|changeset| changeset.state == ChangesetState::Failed), "{known:?}");
}

#[test]
fn only_the_accepted_hunks_go_into_the_file_as_it_is() {
    let w = World::new();
    let lines = |at: &[(usize, &str)]| -> String {
        let word = |n: usize| at.iter().find(|(of, _)| *of == n).map(|(_, word)| (*word).to_string());
        (0..40).map(|n| word(n).unwrap_or(n.to_string()) + "\n").collect()
    };
    w.outside(lines(&[]));
    let after = State::file(lines(&[(5, "five"), (15, "fifteen"), (25, "twenty-five")]).into_bytes());
    let change = FileChange::new("a.rs", w.now("a.rs"), after, "test", &[]);
    let proposal = Proposal { id: ProposalId(1), title: "test".into(), files: vec![change] };
    let hunks = vec![Choice::Reject, Choice::Accept, Choice::Reject];
    let decision = Decision::new(vec![FileDecision { hunks, edited: None }], Consent::Person);
    let decided = proposal.decide(&decision).expect("it fits").expect("accepted");
    // Where a hunk was refused, the other may have changed the same line.
    w.outside(lines(&[(5, "cinq"), (35, "trente-cinq")]));
    w.execute(&decided).expect("merged");
    assert_eq!(w.text(), lines(&[(5, "cinq"), (15, "fifteen"), (35, "trente-cinq")]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_someone_else_wrote_meanwhile_is_said_to_be_there_already() {
    let world = world::World::new()
        .file("a.rs", &functions("1", "2"))
        .model([calls(&[replace("a.rs", "    1", "    one")]), say("Done.")]);
    let mut live = world.start();
    live.submit("count");
    let proposal = live.proposal().await;
    world.write("a.rs", &functions("one", "2"));
    live.until(|e| matches!(e, EventBody::Drifted(paths) if *paths == ["a.rs"]).then_some(())).await;
    live.send(AgentCommand::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    let (merged, changeset) = live
        .until(|e| match e {
            EventBody::Proposal(ProposalEvent::Settled(_, Outcome::Applied { merged, changeset, .. })) => {
                Some((merged.clone(), changeset.clone()))
            }
            EventBody::Proposal(ProposalEvent::Settled(_, other)) => panic!("{other:?}"),
            _ => None,
        })
        .await;
    assert_eq!((merged[0].rung, changeset), (MergeRung::There, None));
    assert_eq!(live.end().await, TurnEnd::Done);
    let told = &results(&live)[0];
    assert!(told.starts_with("a.rs: already there; nothing was written") && !told.contains("+1"), "{told}");
    let all = calls_of(&live.events);
    let call = all.values().next().expect("a call");
    assert_eq!((call.state, call.summary.as_str(), call.counts), (CallState::Done, "already there", None));
    assert!(call.change.is_none());
}

/// A file that someone else changed since the model read it is neither deleted nor moved: it is read again first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_changed_since_it_was_read_is_read_again_before_it_is_deleted_or_moved() {
    let removal = ("deleteFile", json!({"path": "a.rs"}));
    let moves = ("moveFile", json!({"path": "a.rs", "to": "c.rs"}));
    for (remove, is_moved) in [(removal, false), (moves, true)] {
        let read = || calls(&[("readFile", json!({"path": "a.rs"}))]);
        let world = world::World::new().file("a.rs", &functions("1", "2")).approve("all").model([
            read(),
            say("Read."),
            calls(std::slice::from_ref(&remove)),
            read(),
            calls(&[remove]),
            say("Done."),
        ]);
        let mut live = world.start();
        live.submit("look");
        assert_eq!(live.end().await, TurnEnd::Done);
        world.write("a.rs", &functions("1", "mine"));
        live.submit("remove it");
        assert_eq!(live.end().await, TurnEnd::Done);
        let told = results(&live);
        assert!(told[1].contains("it changed since it was read") && told[1].contains("+    mine"), "{told:?}");
        let states: Vec<_> = calls_of(&live.events).into_values().map(|call| call.state).collect();
        assert_eq!(states, [CallState::Done, CallState::Failed, CallState::Done, CallState::Done]);
        assert_eq!((world.has("a.rs"), world.has("c.rs")), (false, is_moved));
        live.close().await;
    }
}

/// An edit of a part that is placed in a file which changed since the model read it tells how they go together, and what
/// others changed, on the card, to the model and in the history.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_that_is_placed_in_a_file_that_changed_since_it_was_read_is_said_to_be_merged() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-    1\n+    one\n*** End Patch";
    let edits = [replace("a.rs", "    1", "    one"), ("applyPatch", json!({"patch": patch}))];
    for edit in edits {
        let world = world::World::new().file("a.rs", &functions("1", "2")).approve("edits").model([
            calls(&[("readFile", json!({"path": "a.rs"}))]),
            say("Read."),
            calls(&[edit]),
            say("Done."),
        ]);
        let mut live = world.start();
        live.submit("look");
        assert_eq!(live.end().await, TurnEnd::Done);
        world.write("a.rs", &functions("1", "mine"));
        live.submit("count");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!(world.read("a.rs"), functions("one", "mine"));
        let told = &results(&live)[1];
        assert!(told.contains("a.rs: written (+1 −1)\na.rs changed on disk after it was read."), "{told}");
        assert!(told.ends_with("(- without it, + as it is now):\n@@ line 6 @@\n-    2\n+    mine"), "{told}");
        let all = calls_of(&live.events);
        let call = all.values().next_back().expect("a call");
        assert_eq!((call.state, call.summary.as_str()), (CallState::Done, "merged: lines"));
        let folder = world.home().join(".nebula");
        live.close().await;
        let (memory, _) = Memory::open(Options::in_folder(&folder));
        let project = fs::canonicalize(world.root()).expect("a folder").to_string_lossy().into_owned();
        let made = memory.changesets(&project).expect("listed");
        assert_eq!(made.iter().map(|made| made.cause.merged.as_deref()).collect::<Vec<_>>(), [Some("lines")]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proposal_that_waits_while_its_file_changes_apart_is_merged_on_approval() {
    let world = world::World::new().file("a.rs", &functions("1", "2")).model([
        calls(&[replace("a.rs", "    1", "    one")]),
        calls(&[("editFile", json!({"path": "a.rs", "new_content": functions("one", "two")}))]),
        say("Done."),
    ]);
    let mut live = world.start();
    live.submit("count");
    let proposal = live.proposal().await;
    world.write("a.rs", &functions("1", "mine"));
    live.until(|e| matches!(e, EventBody::Drifted(paths) if *paths == ["a.rs"]).then_some(())).await;
    live.send(AgentCommand::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    let merged = live
        .until(|e| match e {
            EventBody::Proposal(ProposalEvent::Settled(_, Outcome::Applied { merged, .. })) => Some(merged.clone()),
            EventBody::Proposal(ProposalEvent::Settled(_, other)) => panic!("{other:?}"),
            _ => None,
        })
        .await;
    assert_eq!((merged.len(), merged[0].path.as_str()), (1, "a.rs"));
    assert_eq!(world.read("a.rs"), functions("one", "mine"));
    // It was told what others changed, so the next edit of the whole file counts as one of what it knows.
    live.decide(Choice::Accept).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.rs"), functions("one", "two"));
    let told = &results(&live)[0];
    assert!(told.contains("a.rs: written (+1 −1)"), "{told}");
    assert!(told.ends_with("(- without it, + as it is now):\n@@ line 6 @@\n-    2\n+    mine"), "{told}");
    let all = calls_of(&live.events);
    let call = all.values().next().expect("a call");
    assert_eq!((call.state, call.summary.as_str(), call.is_partial()), (CallState::Done, "merged: lines", false));
}
