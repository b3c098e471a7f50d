//! Several sessions in one agent: their turns run side by side, and none disturbs another. Turns can be stopped at every
//! point, whatever the model does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, ready};
use nebula::agent::{self, AgentHandle, AgentParts};
use nebula::proposal::{Consent, Decision};
use nebula::protocol::{
    Addressed, CallState, Command, Event, EventBody, Item, ItemId, Level, Prompt, ProposalEvent, SessionChoice,
    SessionId, Setting, TurnEnd,
};
use nebula::provider::models::Model;
use nebula::provider::{Delta, Deltas, Error, Origin, Provider, Replay, Request, ToolSpec};
use nebula::tools::{
    Args, FileRead, OutputBlock, Progress, RunResult, Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, VerbForms,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::world::{World, call, say};

/// A model whose answers the test sends delta by delta, to each conversation its own: it is told by its first message.
#[derive(Default)]
struct Led {
    waiting: Mutex<HashMap<String, mpsc::UnboundedReceiver<Delta>>>,
    /// A request has come.
    asked: tokio::sync::Notify,
}

impl Led {
    /// The next answer to a conversation that begins with these words.
    fn answer(&self, first: &str) -> mpsc::UnboundedSender<Delta> {
        let (lead, deltas) = mpsc::unbounded_channel();
        self.waiting.lock().expect("unpoisoned").insert(first.into(), deltas);
        lead
    }
}

impl Provider for Led {
    fn name(&self) -> &str {
        "led"
    }

    fn place(&self) -> String {
        "the test".into()
    }

    fn origin(&self, model: &str) -> Origin {
        Replay::from_steps(Vec::new()).origin(model)
    }

    fn stream(&self, request: Request) -> Deltas {
        self.asked.notify_one();
        let first = request.messages[0].text().into_owned();
        // What the test does not answer waits until it is interrupted.
        let Some(deltas) = self.waiting.lock().expect("unpoisoned").remove(&first) else {
            return futures_util::stream::pending().boxed();
        };
        futures_util::stream::unfold(deltas, |mut deltas| async { Some((Ok(deltas.recv().await?), deltas)) }).boxed()
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>> {
        Box::pin(ready(Ok(vec![Model { name: "led".into(), ..Model::default() }])))
    }
}

struct Many {
    handle: AgentHandle,
}

impl Many {
    fn start(world: &World, model: Arc<Led>) -> Self {
        Many::start_with(world, model, Vec::new())
    }

    fn start_with(world: &World, model: Arc<Led>, tools: Vec<Arc<dyn Tool>>) -> Self {
        let parts =
            AgentParts { provider: Some(model), tools, ..world.parts(Arc::new(Replay::from_steps(Vec::new()))) };
        Many { handle: agent::spawn(parts) }
    }

    fn send(&self, session: Option<&SessionId>, command: Command) {
        self.handle.commands.send(Addressed { session: session.cloned(), command }).expect("the agent listens");
    }

    async fn next(&mut self) -> Event {
        let event = tokio::time::timeout(Duration::from_secs(60), self.handle.events.recv()).await;
        event.expect("an event within 60 s").expect("the agent lives")
    }

    /// Events until the wanted one; those of this session count alone.
    async fn until<T>(&mut self, session: &SessionId, mut wanted: impl FnMut(&EventBody) -> Option<T>) -> T {
        loop {
            let event = self.next().await;
            if event.session.as_ref() == Some(session)
                && let Some(found) = wanted(&event.body)
            {
                return found;
            }
        }
    }

    /// Opens a new session beside those that are open, and begins its turn.
    async fn begin(&mut self, words: &str) -> SessionId {
        self.send(None, Command::OpenBeside(SessionChoice::New));
        let id = loop {
            let event = self.next().await;
            if matches!(event.body, EventBody::Opened(_)) {
                break event.session.expect("the session that was opened");
            }
        };
        self.send(Some(&id), Command::Submit(Prompt { text: words.into() }));
        self.until(&id, |e| matches!(e, EventBody::TurnStarted(_)).then_some(())).await;
        id
    }

    async fn answer(&mut self, session: &SessionId) -> (ItemId, String) {
        self.until(session, |e| match e {
            EventBody::Added(id, Item::Answer { text }) => Some((*id, text.clone())),
            EventBody::Grew(id, text) => Some((*id, text.clone())),
            _ => None,
        })
        .await
    }

    async fn end(&mut self, session: &SessionId) -> TurnEnd {
        self.until(session, |e| if let EventBody::TurnEnded(_, end) = e { Some(end.clone()) } else { None }).await
    }

    async fn close(mut self) {
        // Whoever holds a wait for saving keeps memory, and with it the channel of events, open.
        self.handle.held_up.close();
        self.send(None, Command::Shutdown);
        while self.handle.events.recv().await.is_some() {}
        self.handle.done.await.expect("a clean end");
    }
}

fn text(text: &str) -> Delta {
    Delta::Text(text.into())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sessions_run_turns_at_the_same_time() {
    let world = World::new().file("b.rs", "fn b() {}\n");
    let model = Arc::new(Led::default());
    let (a_says, b_says) = (model.answer("alpha"), model.answer("beta"));
    let mut many = Many::start(&world, Arc::clone(&model));
    let a = many.begin("alpha").await;
    let b = many.begin("beta").await;
    assert_ne!(a, b);
    // Turn about: what one model says arrives while the other is in the middle of its answer.
    let mut items = Vec::new();
    for (says, session, words) in [
        (&a_says, &a, "One sentence.\n\n"),
        (&b_says, &b, "Una frase.\n\n"),
        (&a_says, &a, "Another one.\n\n"),
        (&b_says, &b, "Otra más.\n\n"),
    ] {
        says.send(text(words)).expect("it is read");
        let (id, said) = many.answer(session).await;
        assert!(words.starts_with(said.trim()), "{said}");
        items.push(id);
    }
    assert_eq!((items[0], items[1]), (items[2], items[3]));
    assert_ne!(items[0], items[1], "entries are named apart across sessions");
    // The second one asks for a change and waits for the person; the first is stopped meanwhile.
    let (name, arguments) = ("replaceInFile", json!({"path": "b.rs", "search": "fn b()", "replace": "fn c()"}));
    let on = model.answer("beta");
    for delta in call(name, arguments) {
        b_says.send(delta).expect("it is read");
    }
    drop(b_says);
    let proposal =
        many.until(&b, |e| {
            if let EventBody::Proposal(ProposalEvent::Proposed(p, _)) = e { Some(Arc::clone(p)) } else { None }
        })
        .await;
    many.send(Some(&a), Command::Interrupt);
    assert_eq!(many.end(&a).await, TurnEnd::Interrupted);
    // A decision for the other session settles nothing here.
    many.send(Some(&a), Command::Decide(proposal.id, Decision::refuse(&proposal)));
    many.send(Some(&b), Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    for delta in say("Done.") {
        on.send(delta).expect("it is read");
    }
    drop(on);
    assert_eq!(many.end(&b).await, TurnEnd::Done);
    assert_eq!(world.read("b.rs"), "fn c() {}\n");
    // Closed, the first one takes nothing more; the second goes on.
    many.send(Some(&a), Command::Close);
    many.send(Some(&a), Command::Submit(Prompt { text: "still there?".into() }));
    loop {
        if let EventBody::Returned(prompt, _) = many.next().await.body {
            assert_eq!(prompt.text, "still there?");
            break;
        }
    }
    let again = model.answer("beta");
    many.send(Some(&b), Command::Submit(Prompt { text: "and you?".into() }));
    say("Here.").into_iter().for_each(|delta| again.send(delta).expect("it is read"));
    drop(again);
    assert_eq!(many.end(&b).await, TurnEnd::Done);
    many.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_opened_in_place_of_another_closes_it_and_one_beside_does_not() {
    let world = World::new();
    let model = Arc::new(Led::default());
    let _a_says = model.answer("alpha");
    let mut many = Many::start(&world, Arc::clone(&model));
    let a = many.begin("alpha").await;
    many.send(Some(&a), Command::Open(SessionChoice::New));
    assert_eq!(many.end(&a).await, TurnEnd::Interrupted);
    let b = loop {
        let event = many.next().await;
        if matches!(event.body, EventBody::Opened(_)) {
            break event.session.expect("a session");
        }
    };
    // The first is free again: it opens beside the second, and not twice.
    for _ in 0..2 {
        many.send(None, Command::OpenBeside(SessionChoice::Resume(a.to_string())));
    }
    many.until(&a, |e| matches!(e, EventBody::Opened(_)).then_some(())).await;
    loop {
        if let EventBody::Added(_, Item::Notice(notice)) = many.next().await.body
            && notice.title.contains("open here already")
        {
            break;
        }
    }
    let says = model.answer("beta");
    many.send(Some(&b), Command::Submit(Prompt { text: "beta".into() }));
    say("Yes.").into_iter().for_each(|delta| says.send(delta).expect("it is read"));
    drop(says);
    assert_eq!(many.end(&b).await, TurnEnd::Done);
    many.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_without_an_answer_is_resumed_with_the_model_that_was_asked_and_its_end() {
    let world = World::new();
    let model = Arc::new(Led::default());
    let mut many = Many::start(&world, Arc::clone(&model));
    let mut opened = Vec::new();
    for _ in 0..2 {
        many.send(None, Command::OpenBeside(SessionChoice::New));
        opened.push(loop {
            let event = many.next().await;
            if matches!(event.body, EventBody::Opened(_)) {
                break event.session.expect("the session that was opened");
            }
        });
    }
    let [a, b] = opened.as_slice() else { panic!("{opened:?}") };
    // The first has asked nothing yet: it asks what is chosen meanwhile.
    many.send(Some(b), Command::Set(Setting::Model("led".into())));
    many.until(b, |e| match e {
        EventBody::Status(status) if status.model.as_deref() == Some("led") => Some(()),
        _ => None,
    })
    .await;
    many.send(Some(a), Command::Submit(Prompt { text: "alpha".into() }));
    model.asked.notified().await;
    many.send(Some(a), Command::Interrupt);
    assert_eq!(many.end(a).await, TurnEnd::Interrupted);
    many.send(Some(a), Command::Close);
    many.send(None, Command::OpenBeside(SessionChoice::Resume(a.to_string())));
    let status =
        many.until(a, |e| if let EventBody::Opened(info) = e { Some(info.status.clone()) } else { None }).await;
    assert_eq!(status.model.as_deref(), Some("led"));
    let items = many.until(a, |e| if let EventBody::Recalled(items) = e { Some(items.clone()) } else { None }).await;
    let [(_, Item::User { .. }), (_, Item::Notice(notice))] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!((notice.level, notice.title.as_str()), (Level::Broken, "interrupted"));
    many.close().await;
    let database = rusqlite::Connection::open(world.home().join(".nebula/memory.db")).expect("a database");
    let used =
        database.query_row("SELECT model_used FROM sessions WHERE id = ?1", [&**a], |row| row.get::<_, String>(0));
    assert_eq!(used.expect("the session"), "led");
}

/// An answer that calls so often.
fn calls(count: usize) -> impl Iterator<Item = Delta> {
    (0..count).map(|index| Delta::Call {
        index,
        id: Some(format!("c{index}")),
        name: Some("readFile".into()),
        arguments: json!({"path": format!("f{index}.rs")}).to_string(),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_very_many_calls_is_taken_up_to_a_cap() {
    let world = World::new();
    let model = Arc::new(Led::default());
    let says = model.answer("go");
    calls(20_000).for_each(|delta| says.send(delta).expect("it is read"));
    let began = Instant::now();
    let mut many = Many::start(&world, model);
    many.send(None, Command::OpenBeside(SessionChoice::New));
    many.send(None, Command::Submit(Prompt { text: "go".into() }));
    let (mut open_notice, mut entries) = (None, 0);
    while open_notice.is_none() {
        match many.next().await.body {
            EventBody::Added(_, Item::Call(_)) => entries += 1,
            EventBody::Added(_, Item::Notice(notice)) if notice.title.contains("calls") => {
                open_notice = Some(notice.title)
            }
            _ => {}
        }
    }
    assert_eq!(open_notice.as_deref(), Some("the answer makes more than 500 calls: the first 500 were taken"));
    assert_eq!(entries, 500);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    many.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_floods_is_interrupted_at_once() {
    let world = World::new();
    let model = Arc::new(Led::default());
    let says = model.answer("go");
    let mut many = Many::start(&world, model);
    let session = many.begin("go").await;
    // The model never pauses, whatever is read of it.
    let flood = std::thread::spawn(move || while says.send(text("word ")).is_ok() {});
    many.answer(&session).await;
    let pressed = Instant::now();
    many.send(Some(&session), Command::Interrupt);
    assert_eq!(many.end(&session).await, TurnEnd::Interrupted);
    assert!(pressed.elapsed() < Duration::from_secs(5), "{:?}", pressed.elapsed());
    flood.join().expect("it ends with its reader");
    many.close().await;
}

/// A tool that waits, on a thread of the blocking pool, until the test lets it go: as for a disk that does not answer.
struct Blocks(Arc<Mutex<std::sync::mpsc::Receiver<()>>>);

impl Tool for Blocks {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "weigh".into(), description: "Weighs.".into(), parameters: json!({"type": "object"}) }
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn verb(&self) -> VerbForms {
        VerbForms { done: "weighed".into(), one: "stone".into(), forms: None }
    }

    fn main(&self, _: &Value) -> String {
        String::new()
    }

    fn run(&self, _: ToolContext, _: Args, progress: Progress, _: CancellationToken) -> ToolFuture<'_> {
        let released = Arc::clone(&self.0);
        Box::pin(async move {
            let waiting = tokio::task::spawn_blocking(move || {
                progress.say("waiting");
                let _ = released.lock().expect("unpoisoned").recv();
            });
            waiting.await.map_err(|e| e.to_string())?;
            Ok(RunResult::Output(ToolOutput::default()))
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_and_the_agent_end_while_a_tool_blocks() {
    let world = World::new();
    let (release, released) = std::sync::mpsc::channel();
    let model = Arc::new(Led::default());
    let says = model.answer("read it");
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Blocks(Arc::new(Mutex::new(released))))];
    let mut many = Many::start_with(&world, model, tools);
    let session = many.begin("read it").await;
    call("weigh", json!({})).into_iter().for_each(|d| says.send(d).expect("it is read"));
    drop(says);
    let waits = |e: &EventBody| match e {
        EventBody::Changed(_, Item::Call(call)) if call.summary == "waiting" => Some(call.state),
        _ => None,
    };
    assert_eq!(many.until(&session, waits).await, CallState::Running);
    let pressed = Instant::now();
    many.send(Some(&session), Command::Interrupt);
    assert_eq!(many.end(&session).await, TurnEnd::Interrupted);
    many.close().await;
    // Nobody let the tool go by now.
    assert!(pressed.elapsed() < Duration::from_secs(5), "{:?}", pressed.elapsed());
    drop(release);
}

/// A tool that answers with an image of a file, and may fail with it.
struct Draws {
    fails: bool,
}

impl Tool for Draws {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "draw".into(),
            description: "Draws.".into(),
            parameters: json!({"type": "object", "properties": {"of": {"type": "string"}}}),
        }
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn verb(&self) -> VerbForms {
        VerbForms { done: "drew".into(), one: "picture".into(), forms: None }
    }

    fn main(&self, _: &Value) -> String {
        String::new()
    }

    fn run(&self, _: ToolContext, _: Args, _: Progress, _: CancellationToken) -> ToolFuture<'_> {
        let image = OutputBlock::Image { media_type: "image/png".into(), bytes: Arc::from(&b"png"[..]) };
        let output = ToolOutput {
            text: "drawn".into(),
            blocks: vec![image],
            is_error: self.fails,
            summary: "half a cat".into(),
            preview: vec!["ears".into()],
            read: Some(FileRead { path: "cat.txt".into(), bytes: Arc::from(&b"cat"[..]), title: None }),
        };
        Box::pin(async move { Ok(RunResult::Output(output)) })
    }
}

#[tokio::test]
async fn an_image_of_a_tool_goes_to_the_model() {
    for (written, fails) in [(false, false), (true, false), (false, true), (true, true)] {
        let text = r#"{"name": "draw", "arguments": {"of": "cat"}}"#;
        let call = if written { say(text) } else { call("draw", json!({"of": "cat"})) };
        let world = World::new();
        let model = Arc::new(Replay::from_steps(vec![call, say("Seen.")]));
        let parts = AgentParts { tools: vec![Arc::new(Draws { fails })], ..world.parts(Arc::clone(&model)) };
        let mut live = world.start_with(parts, Arc::clone(&model));
        live.submit("draw something");
        assert_eq!(live.end().await, TurnEnd::Done);
        let request = live.requests().pop().expect("a second request");
        let names: Vec<_> = request.messages.last().expect("a result").blobs().map(|b| b.name.clone()).collect();
        assert_eq!(names, ["draw.png"], "written as text: {written}, fails: {fails}");
        let ended = live.events.iter().rev().find_map(|e| match e {
            EventBody::Changed(_, Item::Call(call)) if call.state != CallState::Running => Some(call.clone()),
            _ => None,
        });
        let ended = ended.expect("a call");
        let state = if fails { CallState::Failed } else { CallState::Done };
        assert_eq!((ended.state, ended.summary.as_str(), ended.preview.len()), (state, "half a cat", 1));
        live.close().await;
        let file = rusqlite::Connection::open(world.home().join(".nebula/memory.db")).expect("a database");
        let sql = "SELECT tool_results FROM messages WHERE tool_results IS NOT NULL";
        let results: String = file.query_row(sql, [], |row| row.get(0)).expect("a result");
        assert!(results.contains(r#""seen":[{"path":"cat.txt""#), "it counts as read: {results}");
    }
}

/// The model in the status line of the session that is opened next.
async fn opened_with(many: &mut Many) -> Option<String> {
    loop {
        if let EventBody::Opened(info) = many.next().await.body {
            return info.status.model;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_session_keeps_the_model_that_is_on_the_screen() {
    let (world, model) = (World::new(), Arc::new(Led::default()));
    let mut many = Many::start(&world, model.clone());
    let answer = model.answer("hello");
    let id = many.begin("hello").await;
    drop(answer);
    many.end(&id).await;
    many.send(Some(&id), Command::Set(Setting::Model("other".into())));
    let _answer = model.answer("hello");
    many.send(Some(&id), Command::Submit(Prompt { text: "again".into() }));
    many.until(&id, |e| matches!(e, EventBody::TurnStarted(_)).then_some(())).await;
    many.close().await;
    // The resumed session has its model again, and `/new` replaces it as little as anything else does: what the status
    // line shows is what answers.
    let mut many = Many::start(&world, model);
    many.send(None, Command::Open(SessionChoice::Continue));
    assert_eq!(opened_with(&mut many).await.as_deref(), Some("other"));
    many.send(None, Command::Open(SessionChoice::New));
    assert_eq!(opened_with(&mut many).await.as_deref(), Some("other"));
    many.close().await;
}
