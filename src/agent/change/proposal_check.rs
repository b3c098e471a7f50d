//! The test of a proposal that waits: its command runs in a view of the workspace in which the proposal is applied. The
//! workspace is never touched.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, oneshot};

use crate::agent::services::lock;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::first_words;
use crate::archive::staging::CommandInfo;
use crate::messages::agent as say;
use crate::proposal::{Consent, Decision, Proposal};
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

/// A file of a project, and the command that tests such projects.
const USUAL: &[(&str, &str)] = &[
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("package.json", "npm test"),
    ("pyproject.toml", "python -m pytest -q"),
    ("setup.py", "python -m pytest -q"),
    ("pytest.ini", "python -m pytest -q"),
    ("tox.ini", "python -m pytest -q"),
    ("setup.cfg", "python -m pytest -q"),
    ("pom.xml", "mvn -q test"),
    ("mix.exs", "mix test"),
];

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
    let mut tested = None;
    let mut due = by_itself;
    loop {
        if std::mem::take(&mut due) {
            let running = TestRun::default();
            let test = tokio::select! {
                decided = &mut waiting => return (decided.ok(), tested),
                test = test(context, proposal, &running) => test,
            };
            let failed = test.state == TestState::Failed;
            tested = model_report(&test);
            let (line, failures) = (test.line.clone(), test.failures.join("\n"));
            context.events.send(EventBody::Proposal(ProposalEvent::Tested(proposal.id, test))).await;
            if !failed {
                context.policy.failed_tests.store(0, Ordering::Relaxed);
            } else if by_itself
                && !context.approvals.is_reviewed(proposal.id)
                && context.policy.failed_tests.fetch_add(1, Ordering::Relaxed) < MOST_BACK
            {
                // The proposal goes, and with it what is shown of its test.
                context.say(Level::Info, line, failures).await;
                return (None, tested);
            }
        }
        tokio::select! {
            decided = &mut waiting => {
                context.policy.failed_tests.store(0, Ordering::Relaxed);
                return (decided.ok(), tested);
            }
            Some(()) = requests.recv() => due = true,
        }
        // Requests that came meanwhile are the same one.
        while requests.try_recv().is_ok() {}
    }
}

/// Returns what the model is told of a test; none: there is nothing to tell.
fn model_report(test: &ProposalTest) -> Option<String> {
    let line = &test.line;
    let lines = test.failures.join("\n");
    match test.state {
        TestState::Running | TestState::NotRun => None,
        TestState::Passed => Some(format!("Tested before the decision, applied in a view of the workspace: {line}")),
        TestState::Failed => Some(format!(
            "Tested before the decision, applied in a view of the workspace, and it failed: {line}\n{lines}"
        )),
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

/// Tests a proposal.
async fn test(context: &Arc<SessionContext>, proposal: &Arc<Proposal>, running: &TestRun) -> ProposalTest {
    let not_run =
        |why: &str| ProposalTest { state: TestState::NotRun, line: say::not_tested(&why), failures: Vec::new() };
    let services = Arc::clone(&context.services);
    let tested_proposal = Arc::clone(proposal);
    let prepared = tokio::task::spawn_blocking(move || {
        let shell = &services.shell;
        let text = shell.settings.check.clone().or_else(|| usual(services.workspace.root()));
        let text = text.ok_or_else(|| say::no_test().to_string())?;
        if let Some(why) = shell.no_view() {
            return Err(say::no_view(&why));
        }
        let view = View::create(&services.workspace, &services.archive).map_err(|error| error.to_string())?;
        for file in &tested_proposal.files {
            view.put(&file.path, &file.after).map_err(|error| format!("{}: {error}", file.path))?;
        }
        Ok((text, view))
    });
    let (text, view) = match prepared.await.unwrap_or_else(|error| Err(error.to_string())) {
        Ok(prepared) => prepared,
        Err(why) => return not_run(&why),
    };
    let state = TestState::Running;
    let test = ProposalTest { state, line: say::testing(&text), failures: Vec::new() };
    context.events.send(EventBody::Proposal(ProposalEvent::Tested(proposal.id, test))).await;
    let command = match begin(context, text.clone(), view, running).await {
        Ok(command) => command,
        Err(why) => return not_run(&why),
    };
    let in_time = wait(&command).await;
    let ended = Arc::clone(&command);
    let work = move || {
        // What fails in it fails the listing of this command alone.
        ended.keep_record(None);
        drop(ended.take_view());
    };
    let _ = tokio::task::spawn_blocking(work).await;
    *lock(&running.0) = TestProgress::Over;
    result(&text, &command, in_time)
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
    let request =
        CommandRequest { text, folder, grant, consent, view: Some(Arc::new(view)), holds: None, terminal: None };
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

fn result(text: &str, command: &ShellCommand, in_time: bool) -> ProposalTest {
    let output = command.running.output();
    let lines = output.last(usize::MAX);
    let progress = command.running.progress();
    let passed = in_time && matches!(progress.exit, Some((Exit::Code(0), _)));
    let TestSummary { passed: good, failed: bad, lines: failures } = summarise_test(&lines, SHOWN);
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

/// Returns the usual test of the project in a folder.
fn usual(root: &Path) -> Option<String> {
    USUAL.iter().find(|(file, _)| root.join(file).is_file()).map(|(_, command)| (*command).to_string())
}
