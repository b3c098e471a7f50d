//! A temporary workspace, a recorded model and the real agent: commands in, events out.

use std::path::Path;
use std::sync::Arc;

use nebula::agent::{self, AgentHandle, AgentParts};
use nebula::archive::{Archive, ArchiveSettings};
use nebula::config::{Config, Flags, Paths, Variables};
use nebula::proposal::{Choice, Consent, Decision, Proposal};
use nebula::protocol::{Command, EventBody, Mode, Prompt, ProposalEvent, Question, SessionChoice, TurnEnd};
use nebula::provider::{Delta, EndReason, Replay, Request};
use nebula::workspace::Workspace;

/// Everything a session needs, in a folder that vanishes with it.
pub struct World {
    dir: Arc<tempfile::TempDir>,
    steps: Vec<Vec<Delta>>,
    flags: Flags,
    mode: Option<Mode>,
    variables: Vec<(String, String)>,
    is_unattended: bool,
}

/// A running agent in a world.
pub struct Live {
    pub handle: AgentHandle,
    pub model: Arc<Replay>,
    /// Everything that was told so far.
    pub events: Vec<EventBody>,
    /// The world stays as long as its agent.
    _dir: Arc<tempfile::TempDir>,
}

/// The model says this and is done.
pub fn say(text: &str) -> Vec<Delta> {
    vec![Delta::Text(text.into()), Delta::End(EndReason::Stop)]
}

/// The model makes these calls.
pub fn calls(calls: &[(&str, serde_json::Value)]) -> Vec<Delta> {
    let mut deltas: Vec<Delta> = calls
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| Delta::Call {
            index,
            id: Some(format!("call-{index}")),
            name: Some((*name).into()),
            arguments: arguments.to_string(),
        })
        .collect();
    deltas.push(Delta::End(EndReason::Calls));
    deltas
}

/// The model makes one call.
pub fn call(name: &str, arguments: serde_json::Value) -> Vec<Delta> {
    calls(&[(name, arguments)])
}

impl World {
    pub fn new() -> Self {
        let dir = Arc::new(tempfile::tempdir().expect("a folder"));
        std::fs::create_dir_all(dir.path().join("home")).expect("made");
        std::fs::create_dir_all(dir.path().join("work/.git")).expect("made");
        World {
            dir,
            steps: Vec::new(),
            flags: Flags::default(),
            mode: None,
            variables: Vec::new(),
            is_unattended: false,
        }
    }

    pub fn file(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    /// The model's side: one list of deltas a step.
    pub fn model(mut self, steps: impl IntoIterator<Item = Vec<Delta>>) -> Self {
        self.steps = steps.into_iter().collect();
        self
    }

    pub fn approve(mut self, word: &str) -> Self {
        self.flags.approval = Some(word.into());
        self
    }

    pub fn format(mut self, name: &str) -> Self {
        self.flags.edit_format = Some(name.into());
        self
    }

    pub fn plan(mut self) -> Self {
        self.mode = Some(Mode::Plan);
        self
    }

    /// A variable of the environment; there are no others.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Nobody is there to answer.
    pub fn unattended(mut self) -> Self {
        self.is_unattended = true;
        self
    }

    pub fn max_steps(mut self, n: u32) -> Self {
        self.flags.max_steps = Some(n);
        self
    }

    pub fn root(&self) -> std::path::PathBuf {
        self.dir.path().join("work")
    }

    pub fn home(&self) -> std::path::PathBuf {
        self.dir.path().join("home")
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("inside")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).expect("a readable file")
    }

    pub fn has(&self, path: &str) -> bool {
        self.root().join(path).exists()
    }

    /// Returns what an agent here is made of.
    pub fn parts(&self, model: Arc<Replay>) -> AgentParts {
        let paths = Paths::below(&self.home());
        let config = Config::load(
            paths,
            self.variables.iter().cloned().collect::<Variables>(),
            self.flags.clone(),
            Some(&self.root()),
        );
        let workspace = Workspace::open(&self.root()).expect("a workspace").protect(Path::new("/nowhere"));
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("an archive");
        AgentParts {
            config,
            workspace,
            archive,
            provider: Some(model),
            tools: Vec::new(),
            record: None,
            mode: self.mode,
            expect_change: false,
            unattended: self.is_unattended,
        }
    }

    /// Starts the agent with tools beside its own.
    #[cfg(feature = "strand")]
    pub fn start_with_tools(&self, tools: Vec<Arc<dyn nebula::tools::Tool>>) -> Live {
        let model = Arc::new(Replay::from_steps(self.steps.clone()));
        self.start_with(AgentParts { tools, ..self.parts(model.clone()) }, model)
    }

    /// Starts the agent.
    pub fn start(&self) -> Live {
        let model = Arc::new(Replay::from_steps(self.steps.clone()));
        self.start_with(self.parts(model.clone()), model)
    }

    /// Starts an agent of these parts; `model` is what is asked for the requests it got.
    pub fn start_with(&self, parts: AgentParts, model: Arc<Replay>) -> Live {
        Live { handle: agent::spawn(parts), model, events: Vec::new(), _dir: Arc::clone(&self.dir) }
    }
}

impl Live {
    pub fn send(&self, command: Command) {
        self.handle.commands.send(command.into()).expect("the agent listens");
    }

    pub fn submit(&self, text: &str) {
        self.send(Command::Submit(Prompt { text: text.into() }));
    }

    pub fn open(&self, choice: SessionChoice) {
        self.send(Command::Open(choice));
    }

    /// The next event; a test that waits for nothing fails instead of hanging.
    pub async fn next(&mut self) -> EventBody {
        let wait = tokio::time::timeout(std::time::Duration::from_secs(60), self.handle.events.recv());
        let event = wait.await.expect("an event within 60 s").expect("the agent lives").body;
        match &event {
            EventBody::Recalled(items) => {
                self.events.extend(items.iter().map(|(id, item)| EventBody::Added(*id, item.clone())))
            }
            event => self.events.push(event.clone()),
        }
        event
    }

    /// Events until this one, itself included.
    pub async fn until<T>(&mut self, mut wanted: impl FnMut(&EventBody) -> Option<T>) -> T {
        loop {
            let event = self.next().await;
            if let Some(found) = wanted(&event) {
                return found;
            }
        }
    }

    /// The next proposal that waits.
    pub async fn proposal(&mut self) -> Arc<Proposal> {
        self.until(|e| match e {
            EventBody::Proposal(ProposalEvent::Proposed(proposal, _)) => Some(proposal.clone()),
            _ => None,
        })
        .await
    }

    /// The next question to the person.
    pub async fn question(&mut self) -> Question {
        self.until(|e| match e {
            EventBody::Asked(question) => Some(question.clone()),
            _ => None,
        })
        .await
    }

    /// Accepts or refuses all of the next proposal.
    pub async fn decide(&mut self, choice: Choice) -> Arc<Proposal> {
        let proposal = self.proposal().await;
        self.send(Command::Decide(proposal.id, Decision::new(proposal.choices(choice), Consent::Person)));
        proposal
    }

    /// The end of the turn.
    pub async fn end(&mut self) -> TurnEnd {
        self.until(|e| match e {
            EventBody::TurnEnded(_, end) => Some(end.clone()),
            _ => None,
        })
        .await
    }

    /// Begins the end of the agent. A wait for saving is not taken up: whoever holds it keeps memory, and with it the
    /// channel of events, open.
    fn leave(&mut self) {
        self.handle.held_up.close();
        self.send(Command::Shutdown);
    }

    /// Leaves, and returns the number of changes that wait to be reviewed then.
    pub async fn close_and_count(mut self) -> usize {
        self.leave();
        while self.handle.events.recv().await.is_some() {}
        self.handle.done.await.expect("a clean end").unreviewed
    }

    /// The requests the model got.
    pub fn requests(&self) -> Vec<Request> {
        self.model.requests()
    }

    /// Shuts the agent down.
    pub async fn close(mut self) -> Vec<EventBody> {
        self.leave();
        while let Some(event) = self.handle.events.recv().await {
            self.events.push(event.body);
        }
        self.handle.done.await.expect("a clean end");
        self.events
    }
}
