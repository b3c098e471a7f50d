//! The test of a proposal that waits: its command runs in a view of the workspace in which the proposal is applied. The
//! workspace is never touched.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, oneshot};

use crate::agent::services::lock;
use crate::agent::session::approval::ApprovalPolicy;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::first_words;
use crate::archive::staging::CommandInfo;
use crate::execute::{ApplyError, preview};
use crate::messages::agent as say;
use crate::proposal::{Choice, Consent, DecidedFile, Decision, Proposal};
use crate::protocol::{EventBody, Level, ProposalEvent, ProposalTest, TestState};
use crate::shell::{
    CommandProgress, CommandRequest, Exit, Grant, Keeper, ShellCommand, StartError, TestSummary, View, summarise_test,
};

/// The time limit of a test.
const LIMIT: Duration = Duration::from_secs(600);
/// The time that a test which is given up is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Characters of its text that name a test.
const NAMED: usize = 40;
/// Lines of failures that are shown and told.
const SHOWN: usize = 8;
/// The most proposals in a row that go back to the model because they failed; the next one waits for the person.
const MOST_BACK: u32 = 2;

/// A file of a project, and the command that tests such projects; of what makes targets only where it has that one.
const USUAL: &[(&str, &str)] = &[
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("package.json", "npm test"),
    ("GNUmakefile", MAKE),
    ("makefile", MAKE),
    ("Makefile", MAKE),
    ("justfile", JUST),
    ("Justfile", JUST),
    ("pyproject.toml", PYTEST),
    ("setup.py", PYTEST),
    ("pytest.ini", PYTEST),
    ("tox.ini", PYTEST),
    ("setup.cfg", PYTEST),
    ("pom.xml", "mvn -q test"),
    ("mix.exs", "mix test"),
];

const MAKE: &str = "make test";
const JUST: &str = "just test";
const PYTEST: &str = "python3 -m pytest -q";
/// Ends of lines that say that there is nothing to test with.
const NO_RUNNER: &[&str] = &["No module named pytest", "Missing script: \"test\"", "Error: no test specified"];
/// The exit codes of a shell for a program that is not there, or is none.
const NO_PROGRAM: &[i32] = &[126, 127];
/// The exit code of pytest where it finds no test.
const NO_TESTS: i32 = 5;
/// Characters of the line that says why nothing was tested.
const WHY: usize = 60;

/// Waits for the decision about a proposal and runs the tests that are requested meanwhile: at once where the configuration
/// names one. Returns the decision and the result of the last test, for the model; no decision: it failed before the
/// person began to decide it, and goes back to the model.
pub async fn until_decided(
    context: &Arc<SessionContext>,
    proposal: &Arc<Proposal>,
    mut waiting: oneshot::Receiver<Decision>,
    by_model: bool,
) -> (Option<Decision>, Option<String>) {
    let mut requests = context.approvals.tests(proposal.id);
    let by_itself = by_model && context.services.shell.settings.check.is_some();
    let mut tested: Option<Tested> = None;
    let mut due = by_itself.then(|| Decision::expected(proposal.choices(Choice::Accept)));
    loop {
        if let Some(expected) = due.take() {
            let running = TestRun::default();
            let over = tokio::select! {
                decided = &mut waiting => return with_report(context, proposal, decided.ok(), tested).await,
                over = test(context, proposal, &expected, &running) => over,
            };
            let over = over.unwrap_or_else(|why| Tested { files: Vec::new(), test: not_run(&why) });
            let test = over.test.clone();
            let failed = test.state == TestState::Failed;
            // In passing there is room for the first alone; the model gets all of them.
            let (line, first) = (test.line.clone(), test.failures.first().cloned().unwrap_or_default());
            tested = Some(over);
            context.events.send(EventBody::Proposal(ProposalEvent::Tested(proposal.id, test))).await;
            if !failed {
                context.policy.failed_tests.store(0, Ordering::Relaxed);
            } else if by_itself
                && !context.approvals.is_reviewed(proposal.id)
                && context.policy.failed_tests.fetch_add(1, Ordering::Relaxed) < MOST_BACK
            {
                // The proposal goes, and with it what is shown of its test.
                context.say(Level::Info, line, first).await;
                return with_report(context, proposal, None, tested).await;
            }
        }
        tokio::select! {
            decided = &mut waiting => {
                context.policy.failed_tests.store(0, Ordering::Relaxed);
                return with_report(context, proposal, decided.ok(), tested).await;
            }
            Some(expected) = requests.recv() => due = Some(expected),
        }
        // Of requests that came meanwhile the last one counts.
        while let Ok(expected) = requests.try_recv() {
            due = Some(expected);
        }
    }
}

/// Has the next proposal wait for the person even where it fails its test.
pub fn let_person_decide(policy: &ApprovalPolicy) {
    policy.failed_tests.store(MOST_BACK, Ordering::Relaxed);
}

/// A test that is over, and the files as it ran on them.
struct Tested {
    files: Vec<DecidedFile>,
    test: ProposalTest,
}

/// Returns a decision and what the model is told of the last test.
async fn with_report(
    context: &Arc<SessionContext>,
    proposal: &Proposal,
    decision: Option<Decision>,
    tested: Option<Tested>,
) -> (Option<Decision>, Option<String>) {
    let Some(tested) = tested else { return (decision, None) };
    // A file of it may have changed on disk since.
    let written = match &decision {
        Some(decision) => written_now(context, proposal, decision).await.unwrap_or_default(),
        None => Vec::new(),
    };
    (decision, model_report(&tested, &written))
}

/// Returns what the model is told of a test, where these files are written then; none: there is nothing to tell.
fn model_report(Tested { files, test }: &Tested, written: &[DecidedFile]) -> Option<String> {
    let as_decided = written.is_empty() || written == files;
    let line = &test.line;
    let lines = test.failures.join("\n");
    let applied = match as_decided {
        true => "applied in a view of the workspace",
        false => {
            "applied in a view of the workspace in another form than was then decided (what is written was not tested)"
        }
    };
    match test.state {
        TestState::Running | TestState::NotRun => None,
        TestState::Passed => Some(format!("Tested before the decision, {applied}: {line}")),
        TestState::Failed => Some(format!("Tested before the decision, {applied}, and it failed: {line}\n{lines}")),
    }
}

/// A test under way: its command is ended where the test is given up.
#[derive(Default)]
struct TestRun(Arc<Mutex<TestProgress>>);

#[derive(Default)]
enum TestProgress {
    #[default]
    Starting,
    Running(Arc<ShellCommand>),
    Over,
}

impl Drop for TestRun {
    fn drop(&mut self) {
        if let TestProgress::Running(command) = std::mem::replace(&mut *lock(&self.0), TestProgress::Over) {
            std::thread::spawn(move || give_up(&command));
        }
    }
}

/// Ends a command; its view goes once nothing writes into it any more.
fn give_up(command: &ShellCommand) {
    command.running.stop();
    command.running.wait(Some(Instant::now() + PATIENCE), CommandProgress::is_over);
    command.keep_record(None);
    drop(command.take_view());
}

/// Returns the files that a decision about a proposal would write now, or why it would write none.
async fn written_now(
    context: &SessionContext,
    proposal: &Proposal,
    decision: &Decision,
) -> Result<Vec<DecidedFile>, String> {
    // What is decided in the name of the test goes into its view alone.
    let as_decided = Decision::new(decision.files().to_vec(), Consent::Policy("test"));
    let decided = proposal.decide(&as_decided).map_err(|error| error.to_string())?;
    let decided = decided.ok_or_else(|| say::tests_nothing().to_string())?;
    let services = Arc::clone(&context.services);
    let looked = tokio::task::spawn_blocking(move || preview(&decided, services.stores()));
    looked.await.map_err(|error| error.to_string())?.map_err(|error| match error {
        ApplyError::Conflict { path, .. } => say::changed_meanwhile(&path),
        error => error.to_string(),
    })
}

/// Tests what a decision about a proposal would write; the error says why it cannot be tested.
async fn test(
    context: &Arc<SessionContext>,
    proposal: &Proposal,
    expected: &Decision,
    running: &TestRun,
) -> Result<Tested, String> {
    let services = Arc::clone(&context.services);
    let named = tokio::task::spawn_blocking(move || {
        let shell = &services.shell;
        let text = shell.settings.check.clone().or_else(|| usual(services.workspace.root()));
        let text = text.ok_or_else(|| say::no_test().to_string())?;
        shell.no_view().map_or(Ok(text), |why| Err(say::no_view(&why)))
    });
    let text = named.await.map_err(|error| error.to_string())??;
    // Told before its files are read: what changes afterwards is told after it.
    let state = TestState::Running;
    let begun = ProposalTest { state, line: say::testing(&text), failures: Vec::new() };
    context.events.send(EventBody::Proposal(ProposalEvent::Tested(proposal.id, begun))).await;
    let files = written_now(context, proposal, expected).await?;
    let (services, tested) = (Arc::clone(&context.services), files.clone());
    let view = tokio::task::spawn_blocking(move || {
        let view = View::create(&services.workspace, &services.archive).map_err(|error| error.to_string())?;
        for file in &tested {
            view.put(file.path(), file.after()).map_err(|error| format!("{}: {error}", file.path()))?;
            // A file that changed since it was proposed may change once more.
            services.watched.knows_state(file.path(), file.before());
        }
        Ok::<_, String>(view)
    });
    let view = view.await.map_err(|error| error.to_string())??;
    let command = begin(context, text.clone(), view, running).await?;
    let in_time = wait(&command).await;
    let ended = Arc::clone(&command);
    let work = move || {
        // What fails in it fails the listing of this command alone.
        ended.keep_record(None);
        drop(ended.take_view());
    };
    let _ = tokio::task::spawn_blocking(work).await;
    *lock(&running.0) = TestProgress::Over;
    let is_usual = context.services.shell.settings.check.is_none();
    Ok(Tested { files, test: result(&text, is_usual, &command, in_time) })
}

fn not_run(why: &str) -> ProposalTest {
    ProposalTest { state: TestState::NotRun, line: say::not_tested(&why), failures: Vec::new() }
}

/// Starts the command of a test.
async fn begin(
    context: &Arc<SessionContext>,
    text: String,
    view: View,
    running: &TestRun,
) -> Result<Arc<ShellCommand>, String> {
    let (commands, progress) = (Arc::clone(&context.commands), Arc::clone(&running.0));
    let folder = Some(".".to_string());
    let (grant, consent) = (Grant::Workspace, Consent::Policy("test"));
    let request = CommandRequest {
        text,
        folder,
        grant,
        consent,
        view: Some(Arc::new(view)),
        holds: None,
        terminal: None,
        input: false,
    };
    let info = CommandInfo { session: context.id(), ..CommandInfo::default() };
    let begun = tokio::task::spawn_blocking(move || {
        let command = commands.begin(&request, Keeper::View, info, None)?;
        // The model started no such command: its end is told as the result of the test, or not at all.
        command.mark_reported();
        let mut progress = lock(&progress);
        let is_given_up = matches!(*progress, TestProgress::Over);
        if !is_given_up {
            *progress = TestProgress::Running(Arc::clone(&command));
        }
        drop(progress);
        if is_given_up {
            give_up(&command);
        }
        Ok::<_, StartError>(command)
    });
    begun.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

/// Waits until nothing of the command runs. Returns false if it took too long and was ended.
async fn wait(command: &Arc<ShellCommand>) -> bool {
    let changed = Arc::new(Notify::new());
    let tell = Arc::clone(&changed);
    command.running.on_change(move || tell.notify_one());
    let deadline = tokio::time::Instant::now() + LIMIT;
    let mut in_time = true;
    while !command.running.progress().is_answerable() {
        tokio::select! {
            () = changed.notified() => {}
            () = tokio::time::sleep_until(deadline), if in_time => {
                in_time = false;
                command.running.stop();
            }
        }
    }
    in_time
}

fn result(text: &str, is_usual: bool, command: &ShellCommand, in_time: bool) -> ProposalTest {
    let output = command.running.output();
    let lines = output.last(usize::MAX);
    let progress = command.running.progress();
    let passed = in_time && matches!(progress.exit, Some((Exit::Code(0), _)));
    if in_time
        && let Some((Exit::Code(code), _)) = progress.exit
        && let Some(said) = unstarted(text, is_usual, code, &lines)
    {
        return not_run(&say::no_runner(&said));
    }
    let TestSummary { passed: good, failed: bad, lines: mut failures } = summarise_test(&lines, SHOWN);
    // What the sandbox refused may be why it failed.
    failures.splice(0..0, progress.summary.connection_words(!passed));
    failures.truncate(SHOWN);
    let how = match (&progress.exit, passed) {
        _ if !in_time => say::test_too_long(&LIMIT.as_secs()),
        (_, true) if good > 0 => say::tests_passed(good),
        (_, true) => say::test_passed().to_string(),
        (_, false) if bad > 0 => say::tests_failed(bad),
        (Some((Exit::Code(code), _)), false) => format!("exit {code}"),
        (_, false) => progress.failed.clone().unwrap_or_else(|| say::test_failed().into()),
    };
    let took = progress.took.map_or(String::new(), |took| format!(" · {:.1} s", took.as_secs_f64()));
    ProposalTest {
        state: if passed { TestState::Passed } else { TestState::Failed },
        // A long command leaves room for its result.
        line: format!("{}: {how}{took}", first_words(text, NAMED)),
        failures: if passed { Vec::new() } else { failures },
    }
}

/// Returns the line that says that a test has not begun, as what runs it is not there; none: it ran. Of a test that the
/// configuration names only its own program counts: what it calls may be missing through the proposal.
fn unstarted(text: &str, is_usual: bool, code: i32, lines: &[String]) -> Option<String> {
    let mut said = lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty()).rev();
    let no_runner = said.clone().find(|line| code != 0 && NO_RUNNER.iter().any(|end| line.ends_with(end)));
    let is_absent = NO_PROGRAM.contains(&code) || text == MAKE && said.clone().any(|line| line.ends_with("Error 127"));
    let is_empty = is_usual && text == PYTEST && code == NO_TESTS;
    // make says of what failed only that it did.
    let last = said.find(|line| !line.starts_with("make")).filter(|_| is_absent || is_empty);
    let program = text.split_whitespace().next().unwrap_or_default();
    let last = last.filter(|line| is_usual || line.rsplit(": ").nth(1) == Some(program));
    // What comes before is the place: `/usr/bin/bash: line 1: python3: command not found`.
    let short = |line: &str| {
        let mut parts: Vec<&str> = line.rsplitn(3, ": ").take(2).collect();
        parts.reverse();
        first_words(&parts.join(": "), WHY)
    };
    no_runner.or(last).map(short)
}

/// Returns the usual test of the project in a folder.
fn usual(root: &Path) -> Option<String> {
    let tests = |file: &str, command: &str| {
        let path = root.join(file);
        let has_target = || std::fs::read_to_string(&path).is_ok_and(|text| text.lines().any(is_test_target));
        path.is_file() && (![MAKE, JUST].contains(&command) || has_target())
    };
    USUAL.iter().find(|(file, command)| tests(file, command)).map(|(_, command)| (*command).to_string())
}

/// Returns whether a line of a Makefile or a justfile begins the target `test`.
fn is_test_target(line: &str) -> bool {
    let Some((head, rest)) = line.split_once(':') else { return false };
    let is_assignment = rest.trim_start_matches(':').starts_with('=');
    !is_assignment && !head.starts_with(char::is_whitespace) && head.split_whitespace().next() == Some("test")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::{Choice, FileChange, ProposalId, State};

    #[test]
    fn the_usual_test_of_a_project_is_its_target_before_pytest() {
        let folder = tempfile::tempdir().expect("a folder");
        let test_of = |files: &[(&str, &str)]| {
            for file in std::fs::read_dir(folder.path()).expect("read").flatten() {
                std::fs::remove_file(file.path()).expect("removed");
            }
            for (name, text) in files {
                std::fs::write(folder.path().join(name), text).expect("written");
            }
            usual(folder.path())
        };
        let python = ("pyproject.toml", "");
        assert_eq!(test_of(&[python]).as_deref(), Some("python3 -m pytest -q"));
        for text in ["all:\n\ttrue\ntest:\n\tpython3 -m unittest\n", "test : build\n\ttrue\n", "test::\n\ttrue\n"] {
            assert_eq!(test_of(&[python, ("Makefile", text)]).as_deref(), Some("make test"), "{text}");
        }
        for text in ["tests:\n", "test := 1\n", "test ::= 1\n", "\ttest: x\n", "build: test\n", ""] {
            assert_eq!(test_of(&[python, ("Makefile", text)]).as_deref(), Some("python3 -m pytest -q"), "{text}");
        }
        assert_eq!(test_of(&[python, ("justfile", "test *args:\n  true\n")]).as_deref(), Some("just test"));
        assert_eq!(test_of(&[("Cargo.toml", ""), ("Makefile", "test:\n")]).as_deref(), Some("cargo test"));
        assert_eq!(test_of(&[("Makefile", "all:\n")]), None);
    }

    #[test]
    fn a_test_that_cannot_begin_has_not_failed() {
        let of = |text, is_usual, code, printed: &str| {
            let lines: Vec<String> = printed.lines().map(str::to_string).collect();
            unstarted(text, is_usual, code, &lines)
        };
        let absent = "/usr/bin/bash: line 1: python3: command not found\n";
        assert_eq!(of(PYTEST, true, 127, absent).as_deref(), Some("python3: command not found"));
        let no_pytest = "/usr/bin/python3: No module named pytest\n";
        assert_eq!(of(PYTEST, true, 1, no_pytest).as_deref(), Some("/usr/bin/python3: No module named pytest"));
        assert!(of("python -m pytest", false, 1, no_pytest).is_some());
        assert!(of(PYTEST, true, 5, "\nno tests ran in 0.01s\n").is_some());
        assert!(of("npm test", true, 1, "npm error Missing script: \"test\"\nnpm error\n").is_some());
        let of_make = "python3 -m unittest\n/bin/sh: 1: python3: not found\nmake: *** [Makefile:2: test] Error 127\n";
        assert_eq!(of(MAKE, true, 2, of_make).as_deref(), Some("python3: not found"));
        // The configuration's own test: a program that it calls may be missing through the proposal.
        assert!(of("cargo tset", false, 127, "bash: line 1: cargo: command not found\n").is_some());
        assert_eq!(of("sh check.sh", false, 127, "check.sh: 3: lint: not found\n"), None);
        // What ran and failed.
        assert_eq!(
            of(PYTEST, true, 1, "E   ModuleNotFoundError: No module named 'pytest_x'\n1 failed in 0.1s\n"),
            None
        );
        assert_eq!(of(MAKE, true, 2, "FAILED\nmake: *** [Makefile:2: test] Error 1\n"), None);
        assert_eq!(of("cargo test", true, 101, "test a ... FAILED\n"), None);
        assert_eq!(of(PYTEST, true, 0, "3 passed in 0.1s\n"), None);
    }

    #[test]
    fn the_model_is_told_where_something_else_was_tested() {
        let state = |text: &str| State::file(text.as_bytes());
        let before: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let after = before.replace("line 3\n", "LINE 3\n").replace("line 17\n", "LINE 17\n");
        let files = vec![FileChange::new("a", state(&before), state(&after), "edit", &[])];
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files };
        let written = |decision: &Decision| proposal.decided_files(decision).unwrap_or_default();
        let report = |decision: Decision| {
            let files = written(&Decision::accept(&proposal, Consent::Person));
            let line = "make test: 1 failed".to_string();
            let test = ProposalTest { state: TestState::Failed, line, failures: Vec::new() };
            model_report(&Tested { files, test }, &written(&decision)).expect("a report")
        };
        let mut half = proposal.choices(Choice::Accept);
        assert_eq!(half[0].hunks.len(), 2);
        half[0].hunks[0] = Choice::Reject;
        let other = "what is written was not tested";
        assert!(report(Decision::new(half, Consent::Person)).contains(other));
        assert!(!report(Decision::accept(&proposal, Consent::Person)).contains(other));
        // Nothing is written then.
        assert!(!report(Decision::refuse(&proposal)).contains(other));
    }
}
