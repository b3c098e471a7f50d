//! A summary in place of the conversation: it fits when the conversation does not, counts only once it was accepted, and
//! can be stopped at any moment.

use std::io::Write;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream;
use nebula::agent::AgentParts;
use nebula::memory::{Memory, Options, UsageBy};
use nebula::protocol::{
    Command, EventBody, Item, Listing, Query, QueryId, Reply, SessionChoice, Setting, TurnEnd, WindowResult,
};
use nebula::provider::models::Model;
use nebula::provider::{Delta, Deltas, EndReason, Error, ErrorKind, Message, Origin, Provider, Replay, Request, Wire};
use serde_json::json;

use crate::support::world::{Live, World, call, say};

/// A model of a window of this many bytes that nobody told of. It answers with how many messages it got.
struct Narrow {
    bytes: usize,
    seen: Mutex<Vec<Request>>,
}

impl Provider for Narrow {
    fn name(&self) -> &str {
        "openai"
    }

    fn place(&self) -> String {
        "narrow".into()
    }

    fn origin(&self, model: &str) -> Origin {
        Origin { wire: Wire::Chat, place: "http://narrow".into(), model: model.into() }
    }

    fn stream(&self, request: Request) -> Deltas {
        let tools: usize = request.tools.iter().map(|t| t.description.len() + t.parameters.to_string().len()).sum();
        let size = tools + request.messages.iter().map(|m| m.text().len()).sum::<usize>();
        let answer = format!("{} messages", request.messages.len());
        self.seen.lock().expect("not poisoned").push(request);
        if size > self.bytes {
            return stream::iter([Err(Error::new(ErrorKind::ContextTooLong, "too long", ""))]).boxed();
        }
        stream::iter([Ok(Delta::Text(answer)), Ok(Delta::End(EndReason::Stop))]).boxed()
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

fn configure(world: &World, settings: &serde_json::Value) {
    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    std::fs::write(world.home().join(".nebula/config.json"), settings.to_string()).expect("written");
}

fn size(request: &Request) -> usize {
    request.messages.iter().map(|m| m.text().len() + m.calls().map(|c| c.arguments.len()).sum::<usize>()).sum()
}

/// Returns a text of about this many bytes that does not repeat itself.
fn numbers(bytes: usize) -> String {
    (0..bytes / 6).map(|n| format!("{n:06}")).collect()
}

/// The end of the turn; every summary that is made on the way counts.
async fn end_with_summaries(live: &mut Live) -> TurnEnd {
    loop {
        match live.next().await {
            EventBody::Asked(question) => live.send(Command::Reply(question.id, Reply::Choice(0))),
            EventBody::TurnEnded(_, end) => return end,
            _ => {}
        }
    }
}

async fn compacted(live: &mut Live, reply: &str) {
    live.send(Command::Compact);
    let question = live.question().await;
    live.send(Command::Reply(question.id, question.typed(reply)));
    assert_eq!(live.end().await, TurnEnd::Done);
}

fn opened(live: &Live) -> String {
    let id = live.events.iter().rev().find_map(|e| match e {
        EventBody::Opened(info) => Some(info.id.clone()),
        _ => None,
    });
    id.expect("a session")
}

fn texts(request: &Request) -> Vec<String> {
    request.messages.iter().map(|m: &Arc<Message>| m.text().into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_is_made_of_what_fits_and_stands_for_it() {
    let long = "a line of some length\n".repeat(1500);
    let huge = call("readFile", json!({"path": numbers(400_000)}));
    let steps = (0..4).map(|i| call("readFile", json!({"path": format!("f{i}.txt")})));
    let rest = [huge, say("In short."), say("Dropped."), say("Next."), say("On."), say("And on.")];
    let mut world = World::new().model(steps.chain(rest));
    for i in 0..4 {
        world = world.file(&format!("f{i}.txt"), &long);
    }
    configure(&world, &json!({"compact": "off", "models": {"recording": {"contextWindow": 40_000}}}));
    let mut live = world.start();
    live.submit("read them all");
    assert!(matches!(live.end().await, TurnEnd::Failed { .. }), "what it called is larger than the window");

    compacted(&mut live, "drop it").await;
    let summarised = live.requests().pop().expect("a request");
    assert!(size(&summarised) < 4 * 40_000, "{}", size(&summarised));
    assert_eq!(summarised.messages[0].text(), "read them all");
    compacted(&mut live, "use it").await;
    live.submit("go on");
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = texts(&live.requests().pop().expect("a request"));
    assert!(sent[0].ends_with("\n\nDropped.") && sent[1..] == ["go on"], "{sent:?}");

    // A summary of what came after one holds that one.
    live.send(Command::Compact);
    let question = live.question().await;
    live.send(Command::Interrupt);
    assert_eq!(live.end().await, TurnEnd::Interrupted);
    live.send(Command::Reply(question.id, Reply::Choice(0)));
    let again = texts(&live.requests().pop().expect("a request"));
    assert_eq!(again[..3], [sent[0].as_str(), "go on", "Next."]);

    let id = opened(&live);
    live.close().await;
    let world = world.model([say("Back.")]);
    let mut live = world.start();
    live.open(SessionChoice::Resume(id));
    live.submit("still there?");
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = texts(&live.requests().pop().expect("a request"));
    assert_eq!(sent, [again[0].as_str(), "go on", "Next.", "still there?"]);
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_nobody_configured_is_found() {
    let world = World::new();
    configure(&world, &json!({"compact": "off"}));
    let model = Arc::new(Narrow { bytes: 18_000, seen: Mutex::default() });
    let unasked = Arc::new(Replay::from_steps(Vec::new()));
    let parts = AgentParts { provider: Some(model.clone()), ..world.parts(unasked.clone()) };
    let mut live = world.start_with(parts, unasked);
    for i in 0..10 {
        live.submit(&format!("{i} {}", "word ".repeat(400)));
        live.end().await;
    }
    compacted(&mut live, "use it").await;
    let is_answer =
        |e: &EventBody| matches!(e, EventBody::Added(_, Item::Commentary { text }) if text.contains("did not fit"));
    assert!(live.events.iter().any(is_answer));
    live.submit("go on");
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = texts(&model.seen.lock().expect("not poisoned").pop().expect("a request"));
    assert!(sent[0].contains(" messages") && sent[1..] == ["go on"], "{sent:?}");
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_that_does_not_fit_is_summarised_by_itself_and_nothing_is_deleted() {
    let long = "a line of some length\n".repeat(1500);
    let huge = call("readFile", json!({"path": numbers(400_000)}));
    let steps = (0..2).map(|i| call("readFile", json!({"path": format!("f{i}.txt")})));
    let mut world = World::new().model(steps.chain([huge, say("In short."), say("All read."), say("Yes.")]));
    for i in 0..2 {
        world = world.file(&format!("f{i}.txt"), &long);
    }
    configure(&world, &json!({"models": {"recording": {"contextWindow": 40_000}}}));
    let mut live = world.start();
    live.submit("read them all, `verbatim`");
    let question = live.question().await;
    assert!(
        question.text.contains("It is used in 10 s, unless you answer or, on the screen, decide later."),
        "{}",
        question.text
    );
    live.send(Command::Reply(question.id, Reply::Choice(0)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = texts(&live.requests().pop().expect("a request"));
    assert_eq!(sent.len(), 2, "{sent:?}");
    // The facts are memory's, the rest is the model's.
    let facts = ["> read them all, `verbatim`", "- f0.txt", "- f1.txt", "In short."];
    assert!(facts.iter().all(|fact| sent[0].contains(fact)), "{}", sent[0]);
    assert!(sent[1].starts_with("Go on with the task"), "{}", sent[1]);
    live.submit("is it there?");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(texts(&live.requests().pop().expect("a request")).len(), 4);
    // All messages are sent again, and are too many again; the recording has no answer left.
    live.send(Command::UndoCompact);
    live.submit("and now?");
    live.end().await;
    let undone = live.requests().pop().expect("a request");
    assert!(undone.messages[0].text().starts_with("read them all"), "{}", undone.messages[0].text());
    live.close().await;
}

/// The passes that only make a summary are no steps of the turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_fills_the_window_again_after_two_steps_ends_the_turn() {
    let long = "a line of some length\n".repeat(1500);
    let huge = |n: u32| call("readFile", json!({"path": format!("{n}{}", numbers(400_000))}));
    let read = || call("readFile", json!({"path": "f.txt"}));
    let steps = [read(), huge(1), say("In short."), read(), huge(2), say("Again."), say("Done.")];
    let world = World::new().model(steps).file("f.txt", &long);
    configure(&world, &json!({"compact": "auto", "models": {"recording": {"contextWindow": 40_000}}}));
    let mut live = world.start();
    live.submit("read it");
    let end = end_with_summaries(&mut live).await;
    let TurnEnd::Failed { message, hint, .. } = end else { panic!("{end:?}") };
    assert!(message.starts_with("this task does not fit"), "{message}");
    assert!(hint.len() < 500, "{} bytes", hint.len());
    assert_eq!(live.requests().len(), 5);
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_for_length_teaches_the_window_and_the_session_goes_on() {
    let world = World::new();
    let model = Arc::new(Narrow { bytes: 18_000, seen: Mutex::default() });
    let unasked = Arc::new(Replay::from_steps(Vec::new()));
    let parts = AgentParts { provider: Some(model.clone()), ..world.parts(unasked.clone()) };
    let mut live = world.start_with(parts, unasked);
    for i in 0..10 {
        live.submit(&format!("{i} {}", "word ".repeat(400)));
        assert_eq!(end_with_summaries(&mut live).await, TurnEnd::Done, "message {i}");
    }
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_stops_the_turn_before_the_next_request_and_going_on_grants_as_much_again() {
    let is_answer = |mut step: Vec<Delta>| {
        step.insert(0, Delta::Usage(nebula::provider::Usage::new(1_000_000, 1)));
        step
    };
    let steps = (0..3).map(|_| is_answer(call("list", json!({"path": "."})))).chain([is_answer(say("Done."))]);
    let world = World::new().model(steps);
    let price = json!({"input": 1.5, "output": 2});
    configure(&world, &json!({"budget": 2.0, "models": {"recording": {"price": price}}}));
    let mut live = world.start();
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Asking("the budget of $2.00 is used up ($3.00)".into()));
    live.send(Command::Continue(nebula::protocol::Continuation::Resume));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(live.requests().len(), 4);
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_in_dollars_that_counts_nothing_is_named_and_one_in_tokens_holds_beside_it() {
    let is_answer = |mut step: Vec<Delta>| {
        step.insert(0, Delta::Usage(nebula::provider::Usage::new(1_000_000, 1)));
        step
    };
    let steps = (0..3).map(|_| is_answer(call("list", json!({"path": "."})))).chain([is_answer(say("Done."))]);
    let world = World::new().model(steps);
    configure(&world, &json!({"budget": 2.0, "budgetTokens": 1_500_000}));
    let mut live = world.start();
    live.submit("go");
    let TurnEnd::Asking(why) = live.end().await else { panic!("{:?}", live.events) };
    assert!(why.contains("tokens is used up"), "{why}");
    assert_eq!(live.requests().len(), 2);
    let is_unpriced = |event: &&EventBody| match event {
        EventBody::Added(_, Item::Notice(notice)) => notice.title.contains("has no known price: the budget of $2.00"),
        _ => false,
    };
    assert_eq!(live.events.iter().filter(is_unpriced).count(), 1, "{:?}", live.events);
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_that_is_dropped_ends_the_turn_with_a_question_and_no_interruption() {
    let long = "a line of some length\n".repeat(1500);
    let huge = call("readFile", json!({"path": numbers(400_000)}));
    let steps = (0..2).map(|i| call("readFile", json!({"path": format!("f{i}.txt")})));
    let mut world = World::new().model(steps.chain([huge, say("In short."), say("Again."), say("Done.")]));
    for i in 0..2 {
        world = world.file(&format!("f{i}.txt"), &long);
    }
    configure(&world, &json!({"compact": "ask", "models": {"recording": {"contextWindow": 40_000}}}));
    let mut live = world.start();
    live.submit("read them all");
    let question = live.question().await;
    assert!(!question.text.contains("by itself"), "{}", question.text);
    live.send(Command::Reply(question.id, Reply::Choice(1)));
    let end = live.end().await;
    assert!(matches!(&end, TurnEnd::Asking(why) if why.starts_with("the summary was dropped")), "{end:?}");
    // Going on asks once more, and one that counts lets the turn go on.
    live.send(Command::Continue(nebula::protocol::Continuation::Resume));
    assert_eq!(end_with_summaries(&mut live).await, TurnEnd::Done);
    live.close().await;
}

async fn window_results(live: &mut Live) -> Vec<WindowResult> {
    live.send(Command::Ask(QueryId(1), Query::Results));
    live.until(|event| match event {
        EventBody::Answer(_, Listing::Results(results)) => Some(results.clone()),
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_is_left_out_of_the_window_and_stays_out_in_a_resumed_session() {
    let long = "a line of some length\n".repeat(40);
    let steps = (0..2).map(|i| call("readFile", json!({"path": format!("f{i}.txt")})));
    let answers = steps.chain([say("Both read."), say("Yes.")]);
    let world = World::new().file("f0.txt", &long).file("f1.txt", &long).model(answers);
    let mut live = world.start();
    live.submit("read both");
    assert_eq!(live.end().await, TurnEnd::Done);
    let results = window_results(&mut live).await;
    assert_eq!(results.len(), 2, "{results:?}");
    let first = results.iter().find(|result| result.name.contains("f0.txt")).expect("the first");
    assert!(first.tokens > 200 && first.name.ends_with("40 lines"), "{first:?}");
    for _ in 0..2 {
        // The second time it is there no more, and nothing happens.
        live.send(Command::LeaveOut(first.index));
    }
    let is_short = |request: &Request| {
        let results: Vec<String> =
            request.messages.iter().filter(|m| m.answers().is_some()).map(|m| m.text().to_string()).collect();
        (results[0].clone(), results[1].len() > 800)
    };
    live.submit("and now?");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(is_short(&live.requests().pop().expect("a request")), (format!("{}, left out", first.name), true));
    let left = window_results(&mut live).await;
    assert_eq!(left.len(), 1, "{left:?}");
    let id = opened(&live);
    live.close().await;
    let mut again = world.model([say("Still.")]).start();
    again.open(SessionChoice::Resume(id));
    again.submit("still?");
    assert_eq!(again.end().await, TurnEnd::Done);
    assert_eq!(is_short(&again.requests().pop().expect("a request")), (format!("{}, left out", first.name), true));
    again.close().await;
}

/// A resumed session shows the summary where it stands, until it is undone; both are entries of the chat.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_is_shown_where_it_stands_until_it_is_undone() {
    let world = World::new().model([say("One."), say("In short."), say("Two.")]);
    let mut live = world.start();
    live.submit("first");
    assert_eq!(live.end().await, TurnEnd::Done);
    compacted(&mut live, "use it").await;
    live.submit("second");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    let shown = |items: &[Item]| -> Vec<String> {
        let text = |item: &Item| match item {
            Item::User { text, .. } => text.clone(),
            Item::Answer { text } | Item::Commentary { text } => text.lines().last().unwrap_or_default().to_string(),
            Item::Notice(notice) => notice.title.clone(),
            _ => String::new(),
        };
        items.iter().map(text).collect()
    };
    let stands = "the summary replaces the conversation so far";
    for wanted in
        [vec!["first", "One.", "In short.", stands, "second", "Two."], vec!["first", "One.", "second", "Two."]]
    {
        let mut again = world.start();
        again.open(SessionChoice::Continue);
        let items = again.until(|e| if let EventBody::Recalled(items) = e { Some(items.clone()) } else { None }).await;
        assert_eq!(shown(&items.into_iter().map(|(_, item)| item).collect::<Vec<_>>()), wanted);
        again.send(Command::UndoCompact);
        if wanted.contains(&stands) {
            let undone =
                |e: &EventBody| matches!(e, EventBody::Added(_, Item::Notice(n)) if n.title.starts_with("the whole"));
            again.until(|e| undone(e).then_some(())).await;
        }
        again.close().await;
    }
}

/// Memory that cannot be read is named, and the summary is not offered as if it held what was said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_without_its_facts_says_so() {
    let world = World::new().model([say("One."), say("In short.")]);
    let mut live = world.start();
    live.submit("the first");
    assert_eq!(live.end().await, TurnEnd::Done);
    let other = rusqlite::Connection::open(world.home().join(".nebula/memory.db")).expect("a database");
    other.execute_batch("ALTER TABLE message_parts RENAME TO gone").expect("damaged");
    compacted(&mut live, "drop it").await;
    let notices = format!("{:?}", live.events);
    assert!(notices.contains("is missing from the summary"), "{notices}");
    let banner = |event: &EventBody| match event {
        EventBody::Status(status) => status.banner.clone(),
        _ => None,
    };
    let banner = match live.events.iter().find_map(banner) {
        Some(banner) => banner,
        None => live.until(banner).await,
    };
    assert!(banner.contains("message_parts"), "{banner}");
    other.execute_batch("ALTER TABLE gone RENAME TO message_parts").expect("whole again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_uses_up_the_budget_is_cut_and_its_tokens_count() {
    let long = (0..200).map(|i| Delta::Text(format!("Line {i} of an answer that goes on for very long.\n")));
    let answer: Vec<Delta> = long.chain([Delta::End(nebula::provider::EndReason::Stop)]).collect();
    let price = json!({"input": 0, "output": 1_000});
    for (budget, cut) in [(0.5, true), (50.0, false)] {
        let world = World::new().model([answer.clone(), say("Done.")]);
        configure(&world, &json!({"budget": budget, "models": {"recording": {"price": price}}}));
        let mut live = world.start();
        live.submit("go");
        let end = live.end().await;
        match end {
            TurnEnd::Asking(why) if cut => {
                assert!(why.starts_with("the budget of $0.50 is used up (≈$0."), "{why}");
            }
            end => assert!(!cut && end == TurnEnd::Done, "{budget}: {end:?}"),
        }
        if cut {
            // Going on grants as much again, and the model is told that its answer stopped.
            live.send(Command::Continue(nebula::protocol::Continuation::Resume));
            assert_eq!(live.end().await, TurnEnd::Done);
            let last = live.requests().pop().expect("a request");
            let texts: Vec<_> = last.messages.iter().map(|message| message.text()).collect();
            assert!(texts[1].contains("Line 0 ") && !texts[1].contains("Line 199 "), "{texts:?}");
        }
        live.close().await;
    }
}

/// The tokens of steps that the server says nothing of are counted by their bytes: the budget holds, and each step is in
/// what `nebula usage` adds up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_holds_where_the_server_reports_no_usage() {
    let steps = (0..9).map(|n| call("readFile", json!({"path": format!("f{n}.txt")})));
    let mut world = World::new().model(steps.chain([say("Done.")]));
    for n in 0..9 {
        world = world.file(&format!("f{n}.txt"), &format!("text {n}\n"));
    }
    let price = json!({"input": 1_000, "output": 2_000});
    configure(&world, &json!({"budget": 8.0, "models": {"recording": {"price": price}}}));
    let mut live = world.start();
    live.submit("go");
    let TurnEnd::Asking(why) = live.end().await else { panic!("{:?}", live.events) };
    assert!(why.starts_with("the budget of $8.00 is used up (≈$"), "{why}");
    let asked = live.requests().len();
    assert!((2..10).contains(&asked), "{asked}");
    let usages = live.events.iter().filter_map(|event| match event {
        EventBody::Usage(usage) => Some(usage.clone()),
        _ => None,
    });
    let usages: Vec<_> = usages.collect();
    assert_eq!(usages.len(), asked);
    assert!(usages.iter().all(|usage| usage.estimated && usage.input > 100 && usage.output > 0), "{usages:?}");
    let id = opened(&live);
    live.close().await;
    let (memory, _) = Memory::open(Options::in_folder(&world.home().join(".nebula")));
    let rows = memory.usage(None, Some(&id), UsageBy::Session).expect("read");
    drop(memory);
    assert_eq!((rows[0].steps, rows[0].unpriced, rows[0].estimated), (asked as u64, 0, asked as u64));
    assert_eq!(rows[0].input, usages.iter().map(|usage| usage.input).sum::<u64>());
    // It stays used up in the next run.
    let mut again = world.start();
    again.open(SessionChoice::Resume(id));
    again.submit("and now?");
    assert!(matches!(again.end().await, TurnEnd::Asking(_)));
    assert!(again.requests().is_empty());
    again.close().await;
}

/// `nebula task` with `compact: "ask"`: nobody can be asked, so the summary counts; it is told, and is no answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_that_nobody_can_be_asked_about_counts_and_is_told() {
    let long = "a line of some length\n".repeat(1500);
    let huge = call("readFile", json!({"path": numbers(400_000)}));
    let steps = (0..2).map(|i| call("readFile", json!({"path": format!("f{i}.txt")})));
    let mut world = World::new().model(steps.chain([huge, say("In short."), say("Done.")]));
    for i in 0..2 {
        world = world.file(&format!("f{i}.txt"), &long);
    }
    configure(&world, &json!({"compact": "ask", "models": {"recording": {"contextWindow": 40_000}}}));
    let mut live = world.start();
    live.submit("read them all");
    let question = live.question().await;
    live.send(Command::Reply(question.id, Reply::Nobody));
    assert_eq!(live.end().await, TurnEnd::Done);
    let told = live.events.iter().find_map(|event| match event {
        EventBody::Compacted { before, after } => Some((*before, *after)),
        _ => None,
    });
    assert!(told.is_some_and(|(before, after)| before > 2 * after && after > 0), "{told:?}");
    let answers: Vec<&str> = live
        .events
        .iter()
        .filter_map(|event| match event {
            EventBody::Added(_, Item::Answer { text }) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(answers, ["Done."]);
    live.close().await;
}

/// Returns the text of a file of 50,000 bytes.
fn lines_of(name: &str) -> String {
    (0..2_000).map(|n| format!("{name:>10} line {n:>8}\n")).collect()
}

/// A window that two of the files fill, and the third does not fit in.
fn narrow() -> serde_json::Value {
    json!({"models": {"recording": {"contextWindow": 40_000}}})
}

/// A session whose third message begins a summary, with the question for it.
async fn filled(steps: &[&str]) -> (World, Live, nebula::protocol::Question) {
    filled_by(steps.iter().map(|text| say(text))).await
}

async fn filled_by(steps: impl IntoIterator<Item = Vec<Delta>>) -> (World, Live, nebula::protocol::Question) {
    let mut world = World::new().model(steps);
    for name in ["n1", "n2", "n3"] {
        world = world.file(&format!("{name}.txt"), &lines_of(name));
    }
    configure(&world, &narrow());
    let mut live = world.start();
    for message in ["first @n1.txt", "second @n2.txt"] {
        live.submit(message);
        assert_eq!(live.end().await, TurnEnd::Done, "{message}");
    }
    live.submit("third @n3.txt");
    let question = live.question().await;
    (world, live, question)
}

/// What the model has not answered stays whole behind the summary, also in a resumed session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_newest_message_stays_whole_behind_a_summary_that_is_made_by_itself() {
    let (world, mut live, question) = filled(&["One.", "Two.", "In short.", "Three."]).await;
    live.send(Command::Reply(question.id, Reply::Choice(0)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let requests = live.requests();
    assert_eq!(requests.len(), 4);
    assert!(texts(&requests[2]).iter().all(|text| !text.contains("third")), "it is not summarised");
    let sent = texts(&requests[3]);
    assert_eq!(sent.len(), 2, "{:?}", sent.iter().map(|text| text.len()).collect::<Vec<_>>());
    assert!(sent[0].contains("> second @n2.txt") && sent[0].ends_with("In short."), "{}", sent[0]);
    assert!(!sent[0].contains("n3"), "{}", sent[0]);
    assert!(sent[1].starts_with("third @n3.txt") && sent[1].contains(&lines_of("n3")));
    let id = opened(&live);
    live.close().await;
    let mut again = world.model([say("Back.")]).start();
    again.open(SessionChoice::Resume(id));
    again.submit("still there?");
    assert_eq!(again.end().await, TurnEnd::Done);
    let resumed = texts(&again.requests().pop().expect("a request"));
    assert_eq!(resumed, [sent[0].as_str(), &sent[1], "Three.", "still there?"]);
    again.close().await;
}

/// What a server's filter left of a summary stands for nothing: the facts do, and the person is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_that_is_held_back_is_made_of_the_facts() {
    let held_back = || vec![Delta::Text("I".into()), Delta::End(EndReason::Filter)];
    let (_world, mut live, question) =
        filled_by([say("One."), say("Two."), held_back(), held_back(), say("Three.")]).await;
    live.send(Command::Reply(question.id, Reply::Choice(0)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = texts(&live.requests().pop().expect("a request"));
    assert!(sent[0].contains("> first @n1.txt") && !sent[0].ends_with("\nI"), "{}", sent[0]);
    let why = "the conversation could not be summarised: the server held back the rest (its content filter)";
    let is_told = |event: &EventBody| matches!(event, EventBody::Added(_, Item::Notice(notice)) if notice.title == why);
    assert!(live.events.iter().any(is_told), "{:?}", live.events);
    live.close().await;
}

/// A model that calls a tool in place of a summary, and then says nothing, does not keep the session from going on: the
/// facts stand for the conversation, and the newest message is sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_that_the_model_does_not_write_is_made_of_the_facts() {
    let call = call("readFile", json!({"path": "n1.txt"}));
    let (_world, mut live, question) = filled_by([say("One."), say("Two."), call, say(""), say("Three.")]).await;
    live.send(Command::Reply(question.id, Reply::Choice(0)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let requests = live.requests();
    assert_eq!(requests.len(), 5);
    assert!(!requests[2].tools.is_empty() && requests[3].tools.is_empty(), "the second try has no tools");
    assert_eq!(texts(&requests[2]), texts(&requests[3]));
    let sent = texts(&requests[4]);
    assert!(sent[0].contains("> first @n1.txt") && sent[0].contains("- n2.txt"), "{}", sent[0]);
    assert!(sent[1].starts_with("third @n3.txt"), "{}", sent[1]);
    let notices = live.events.iter().filter_map(|event| match event {
        EventBody::Added(_, Item::Notice(notice)) => Some(notice.title.clone()),
        _ => None,
    });
    let why = "the conversation could not be summarised: the model gave no summary";
    assert_eq!(notices.filter(|title| title == why).count(), 1);
    live.close().await;
}

/// The second try counts where the model writes then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_calls_in_place_of_a_summary_is_asked_once_more() {
    let call = call("readFile", json!({"path": "n1.txt"}));
    let (_world, mut live, question) =
        filled_by([say("One."), say("Two."), call, say("In short."), say("Three.")]).await;
    live.send(Command::Reply(question.id, Reply::Choice(0)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = texts(&live.requests().pop().expect("a request"));
    assert!(sent[0].ends_with("In short.") && sent[1].starts_with("third @n3.txt"), "{}", sent[0]);
    live.close().await;
}

/// A server that refuses the request for a summary with tools and without takes the one in which the facts stand.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_that_the_server_refuses_is_made_of_the_facts() {
    let world = World::new();
    let model = Arc::new(Refusing::default());
    let unasked = Arc::new(Replay::from_steps(Vec::new()));
    let parts = AgentParts { provider: Some(model.clone()), ..world.parts(unasked.clone()) };
    let mut live = world.start_with(parts, unasked);
    live.submit("the first");
    assert_eq!(live.end().await, TurnEnd::Done);
    compacted(&mut live, "use it").await;
    live.submit("the second");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    let seen = model.0.lock().expect("not poisoned");
    let tools: Vec<bool> = seen.iter().map(|request| request.tools.is_empty()).collect();
    assert_eq!(tools, [false, false, true, false]);
    let sent = texts(&seen[3]);
    assert!(sent[0].contains("> the first") && sent[1] == "the second", "{sent:?}");
}

/// A model whose summaries break off, this many times.
struct BreaksOff(Mutex<(usize, Vec<Request>)>);

impl Provider for BreaksOff {
    fn name(&self) -> &str {
        "openai"
    }

    fn place(&self) -> String {
        "breaking".into()
    }

    fn origin(&self, model: &str) -> Origin {
        Origin { wire: Wire::Chat, place: "http://breaking".into(), model: model.into() }
    }

    fn stream(&self, request: Request) -> Deltas {
        let mut state = self.0.lock().expect("not poisoned");
        let is_summary = request.messages.last().is_some_and(|m| m.text().contains("Summarise this conversation now"));
        state.1.push(request);
        let end = match is_summary && state.0 > 0 {
            true => {
                state.0 -= 1;
                Err(Error::new(ErrorKind::Broken { after_first_token: true }, "the connection was closed", ""))
            }
            false => Ok(Delta::End(EndReason::Stop)),
        };
        stream::iter([Ok(Delta::Text("In short.".into())), end]).boxed()
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// A summary that breaks off is asked for once more; where that breaks off too the facts stand alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_that_breaks_off_keeps_no_session_from_going_on() {
    for (times, ends, is_silent) in [(1, "In short.", false), (2, "", true)] {
        let world = World::new();
        let model = Arc::new(BreaksOff(Mutex::new((times, Vec::new()))));
        let unasked = Arc::new(Replay::from_steps(Vec::new()));
        let parts = AgentParts { provider: Some(model.clone()), ..world.parts(unasked.clone()) };
        let mut live = world.start_with(parts, unasked);
        live.submit("the first");
        assert_eq!(live.end().await, TurnEnd::Done);
        compacted(&mut live, "use it").await;
        live.submit("the second");
        assert_eq!(live.end().await, TurnEnd::Done);
        let notices = live.events.iter().filter_map(|event| match event {
            EventBody::Added(_, Item::Notice(notice)) => Some(notice.title.as_str()),
            _ => None,
        });
        let why = "the conversation could not be summarised: the connection was closed";
        assert_eq!(notices.filter(|title| *title == why).count(), usize::from(is_silent), "{times}");
        live.close().await;
        let seen = &model.0.lock().expect("not poisoned").1;
        assert_eq!(seen.len(), 4, "{times}");
        let sent = texts(&seen[3]);
        assert!(sent[0].contains("> the first") && sent[0].trim_end().ends_with(ends), "{sent:?}");
        assert_eq!((sent[0].contains("In short."), sent[1].as_str()), (!is_silent, "the second"), "{sent:?}");
    }
}

/// Returns what the window holds and its size, by the next status line in which that is so.
async fn context_shown(live: &mut Live, holds: impl Fn((u64, u64)) -> bool) -> (u64, u64) {
    loop {
        if let EventBody::Status(status) = live.next().await
            && let Some(context) = status.context.filter(|context| holds(*context))
        {
            return context;
        }
    }
}

/// The gauge counts against the window of the model that is asked next, and shows what a summary leaves, at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_gauge_is_true_after_a_change_of_model_and_of_what_is_sent() {
    let world = World::new().model([say("One."), say("In short.")]).file("n.txt", &lines_of("n"));
    configure(&world, &json!({"models": {"recording": {"contextWindow": 90_000}, "small": {"contextWindow": 8_000}}}));
    let mut live = world.start();
    live.submit("look at @n.txt");
    assert_eq!(live.end().await, TurnEnd::Done);
    // The status line that follows a setting shows what is so then.
    let again = || Command::Set(Setting::Model("recording".into()));
    live.send(again());
    let (full, _) = context_shown(&mut live, |(tokens, window)| tokens > 1_000 && window == 90_000).await;
    compacted(&mut live, "use it").await;
    live.send(again());
    let (short, _) = context_shown(&mut live, |(tokens, _)| tokens < full / 2).await;
    live.send(Command::UndoCompact);
    let (whole, _) = context_shown(&mut live, |(tokens, _)| tokens > short * 2).await;
    assert!(whole.abs_diff(full) < full / 5, "{full} {whole}");
    for (model, size) in [("small", 8_000), ("of-nobody", 128_000), ("recording", 90_000)] {
        live.send(Command::Set(Setting::Model(model.into())));
        assert_eq!(context_shown(&mut live, |(_, window)| window == size).await, (whole, size));
    }
    live.close().await;
}

/// A model whose server refuses requests for summaries.
#[derive(Default)]
struct Refusing(Mutex<Vec<Request>>);

impl Provider for Refusing {
    fn name(&self) -> &str {
        "openai"
    }

    fn place(&self) -> String {
        "refusing".into()
    }

    fn origin(&self, model: &str) -> Origin {
        Origin { wire: Wire::Chat, place: "http://refusing".into(), model: model.into() }
    }

    fn stream(&self, request: Request) -> Deltas {
        let summarises = request.messages.last().is_some_and(|message| message.text().contains("Summarise this"));
        self.0.lock().expect("not poisoned").push(request);
        match summarises {
            true => stream::iter([Err(Error::new(ErrorKind::BadRequest, "refused", ""))]).boxed(),
            false => stream::iter([Ok(Delta::Text("Yes.".into())), Ok(Delta::End(EndReason::Stop))]).boxed(),
        }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// A message that fits no window is not summarised in place of being sent, also where the window is learnt from its refusal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_alone_is_too_large_ends_the_turn() {
    let world = World::new();
    let model = Arc::new(Narrow { bytes: 18_000, seen: Mutex::default() });
    let unasked = Arc::new(Replay::from_steps(Vec::new()));
    let parts = AgentParts { provider: Some(model.clone()), ..world.parts(unasked.clone()) };
    let mut live = world.start_with(parts, unasked);
    live.submit(&numbers(40_000));
    let end = live.end().await;
    let TurnEnd::Failed { message, .. } = end else { panic!("{end:?}") };
    assert!(message.starts_with("the message alone is larger than the model's context window"), "{message}");
    assert!(!message.contains("are left"), "no window is named that nobody knows: {message}");
    assert_eq!(model.seen.lock().expect("not poisoned").len(), 1);
    // The session goes on without it.
    live.submit("and this?");
    assert_eq!(end_with_summaries(&mut live).await, TurnEnd::Done);
    let sent = texts(&model.seen.lock().expect("not poisoned").pop().expect("a request"));
    assert!(sent.last().is_some_and(|text| text.starts_with("and this?")), "{sent:?}");
    live.close().await;
}

/// A server that refuses even the shortest request is asked once more, and its words end the turn; what was guessed of its
/// window from that keeps no later message from it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_for_length_that_names_no_window_is_answered_once_and_keeps_nothing_back() {
    let world = World::new();
    let model = Arc::new(Narrow { bytes: 0, seen: Mutex::default() });
    let unasked = Arc::new(Replay::from_steps(Vec::new()));
    let parts = AgentParts { provider: Some(model.clone()), ..world.parts(unasked.clone()) };
    let mut live = world.start_with(parts, unasked);
    for (text, requests) in [("hi".to_string(), 2), ("word ".repeat(300), 4)] {
        live.submit(&text);
        let TurnEnd::Failed { message, .. } = live.end().await else { panic!("it fails") };
        assert_eq!((&*message, model.seen.lock().expect("not poisoned").len()), ("too long", requests));
    }
    live.close().await;
}

/// Words that are no choice decide nothing: they go back to the queue, and the question stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_while_a_summary_waits_is_the_next_message() {
    let (_world, mut live, question) = filled(&["One.", "Two.", "In short.", "Three.", "Four."]).await;
    live.send(Command::Reply(question.id, question.typed("and what is left?")));
    let returned = live
        .until(|event| match event {
            EventBody::Returned(prompt, _) => Some(prompt.text.clone()),
            _ => None,
        })
        .await;
    assert_eq!(returned, "and what is left?");
    let again = live.question().await;
    assert!(again.id != question.id && again.text.contains("Send this summary"), "{}", again.text);
    live.send(Command::Reply(again.id, again.typed("y")));
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = texts(&live.requests().pop().expect("a request"));
    assert!(sent.len() == 2 && sent[1].starts_with("third"), "{:?}", sent.len());
    live.submit(&returned);
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(texts(&live.requests().pop().expect("a request")).last().map(String::as_str), Some("and what is left?"));
    live.close().await;
}

/// In line mode, too, a session goes on past a budget that is used up, once the person says so.
#[test]
fn line_mode_goes_on_past_a_used_up_budget() {
    let world = World::new();
    configure(&world, &json!({"budget": 2.0, "models": {"recording": {"price": {"input": 3.0, "output": 3.0}}}}));
    let step = |(at, text): (usize, &str)| {
        let lines = [
            json!({"step": at + 1}),
            json!({"ms": 0, "delta": {"usage": {"input": 1_000_000, "output": 1}}}),
            json!({"ms": 0, "delta": {"text": text}}),
            json!({"ms": 0, "delta": {"end": "stop"}}),
        ];
        lines.map(|line| format!("{line}\n")).concat()
    };
    let steps: String = ["One.", "Two.", "Three."].into_iter().enumerate().map(step).collect();
    std::fs::write(world.home().join("recording.jsonl"), format!("{{\"recording\":1}}\n{steps}")).expect("written");
    let mut child = crate::interaction::line_mode(&world.root(), &world.home(), "../home/recording.jsonl");
    child.stdin.take().expect("a pipe").write_all(b"first\nsecond\nanything\ngo on\n").expect("written");
    let output = child.wait_with_output().expect("it ends");
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(out.matches("Say go on to grant as much again").count(), 2, "{out}");
    assert!(out.contains("One.") && out.contains("Two.") && !out.contains("Three."), "{out}");
}

/// In line mode such words are sent once the turn is over; at the end of input the summary counts.
#[test]
fn line_mode_sends_what_is_said_while_a_summary_waits() {
    let world = World::new();
    ["n1", "n2", "n3"].iter().for_each(|name| world.write(&format!("{name}.txt"), &lines_of(name)));
    configure(&world, &narrow());
    let step = |(at, text): (usize, &str)| {
        let lines = [
            json!({"step": at + 1}),
            json!({"ms": 0, "delta": {"text": text}}),
            json!({"ms": 0, "delta": {"end": "stop"}}),
        ];
        lines.map(|line| format!("{line}\n")).concat()
    };
    let steps: String = ["One.", "Two.", "In short.", "Three.", "Four."].into_iter().enumerate().map(step).collect();
    std::fs::write(world.home().join("recording.jsonl"), format!("{{\"recording\":1}}\n{steps}")).expect("written");
    let mut child = crate::interaction::line_mode(&world.root(), &world.home(), "../home/recording.jsonl");
    let input = "first @n1.txt\nsecond @n2.txt\nthird @n3.txt\nand what is left?\n";
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    let out = String::from_utf8_lossy(&output.stdout);
    let (summary, third, fourth) = (out.find("In short."), out.find("Three."), out.find("Four."));
    assert!(summary.is_some() && summary < third && third < fourth, "{out}");
    assert!(out.contains("the message goes into the queue") && !out.contains("was dropped"), "{out}");
}
