//! A session that is resumed shows what it showed, and gives back what was not sent.

use nebula::proposal::{Choice, Consent, Decision};
use nebula::protocol::{
    Command, EventBody, Item, Level, Listing, Notice, NoticeAction, Query, QueryId, RestoreRequest, SessionChoice,
    TurnEnd, Unsent,
};
use nebula::provider::{Delta, EndReason};
use serde_json::json;

use crate::support::world::{Live, World, call, calls, say};

/// What the person said and the notices from then on, as the chat shows them.
fn said(events: &[EventBody]) -> Vec<Item> {
    let items = events.iter().filter_map(|event| match event {
        // Without its time, which memory takes itself.
        EventBody::Added(_, Item::User { text, .. }) => Some(Item::Commentary { text: text.clone() }),
        // What programs are told of a failure is not kept, nor what is offered about a file as it was then.
        EventBody::Added(_, Item::Notice(notice)) => {
            let mut notice = Notice { cause: Default::default(), ..notice.clone() };
            notice.actions.retain(|action| !matches!(action, NoticeAction::ShowChange(_) | NoticeAction::OpenFile(_)));
            Some(Item::Notice(notice))
        }
        _ => None,
    });
    items.skip_while(|item| !matches!(item, Item::Commentary { .. })).collect()
}

fn session_of(events: &[EventBody]) -> String {
    let opened = events.iter().find_map(|event| match event {
        EventBody::Opened(info) => Some(info.id.clone()),
        _ => None,
    });
    opened.expect("an open session")
}

/// Resumes a session, and returns the agent once its entries have come.
async fn resumed(world: &World, session: String) -> Live {
    let mut live = world.start();
    live.open(SessionChoice::Resume(session));
    live.until(|event| matches!(event, EventBody::Recalled(_)).then_some(())).await;
    live
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ends_of_turns_that_failed_are_there_after_a_resume() {
    let cut = vec![Delta::Text("Half an".into()), Delta::End(EndReason::Length)];
    let world = World::new().model([vec![Delta::End(EndReason::Stop)], cut]);
    let mut live = world.start();
    // An empty answer, one that broke off, and a request that is refused: nothing is recorded any more.
    for words in ["first", "second", "third"] {
        live.submit(words);
        assert!(matches!(live.end().await, TurnEnd::Failed { .. }), "{words}");
    }
    // The same message is refused a second time.
    live.send(Command::Continue(nebula::protocol::Continuation::Retry));
    assert!(matches!(live.end().await, TurnEnd::Failed { .. }));
    let (shown, session) = (said(&live.events), session_of(&live.events));
    let levels: Vec<Level> = shown
        .iter()
        .filter_map(|item| if let Item::Notice(notice) = item { Some(notice.level) } else { None })
        .collect();
    assert_eq!(levels.len(), 4, "{shown:?}");
    assert_eq!(levels[..2], [Level::Warning, Level::Broken], "{shown:?}");
    live.close().await;

    let live = resumed(&world, session).await;
    assert_eq!(said(&live.events), shown);
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_turn_said_on_its_way_is_there_after_a_resume() {
    let change = json!({"path": "a.txt", "search": "one", "replace": "two"});
    let world = World::new().file("a.txt", "one\n").model([call("replaceInFile", change), say("Well.")]);
    let mut live = world.start();
    live.submit("count");
    let proposal = live.proposal().await;
    world.write("a.txt", "ONE\n");
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let (shown, session) = (said(&live.events), session_of(&live.events));
    let refused = |item: &Item| matches!(item, Item::Notice(notice) if notice.title.contains("a.txt"));
    assert!(shown.iter().any(refused), "{shown:?}");
    live.close().await;

    let live = resumed(&world, session).await;
    assert_eq!(said(&live.events), shown);
    live.close().await;
}

async fn context(live: &mut Live) -> String {
    live.send(Command::Ask(QueryId(7), Query::Context));
    live.until(|event| match event {
        EventBody::Answer(QueryId(7), Listing::Table { text, .. }) => Some(text.clone()),
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_parts_of_the_context_are_those_of_before() {
    let world =
        World::new().file("a.rs", "fn a() {}\n").model([call("readFile", json!({"path": "a.rs"})), say("Short.")]);
    let mut live = world.start();
    live.submit("look at a.rs");
    assert_eq!(live.end().await, TurnEnd::Done);
    let (shown, session) = (context(&mut live).await, session_of(&live.events));
    assert!(shown.contains("| system prompt |") && !shown.contains("| system prompt | 0 |"), "{shown}");
    live.close().await;

    let mut live = resumed(&world, session).await;
    assert_eq!(context(&mut live).await, shown);
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_queued_and_typed_comes_back_once_the_session_does() {
    let world = World::new().model([say("Hello.")]);
    let mut live = world.start();
    live.submit("hi");
    assert_eq!(live.end().await, TurnEnd::Done);
    let session = session_of(&live.events);
    let unsent = Unsent { queue: vec!["one".into(), "two".into()], draft: "thr".into() };
    live.send(Command::KeepUnsent(session.clone(), unsent.clone()));
    live.close().await;

    let again = |event: &EventBody| if let EventBody::Unsent(unsent) = event { Some(unsent.clone()) } else { None };
    let mut live = resumed(&world, session.clone()).await;
    assert_eq!(live.until(again).await, unsent);
    // Nothing of it was sent by itself; what is sent or dropped does not come back.
    assert!(live.requests().is_empty());
    live.send(Command::KeepUnsent(session.clone(), Unsent::default()));
    live.close().await;
    let live = resumed(&world, session).await;
    assert!(!live.close().await.iter().any(|event| matches!(event, EventBody::Unsent(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_of_what_another_session_made_says_so() {
    let edit = ("replaceInFile", json!({"path": "a.rs", "search": "fn a()", "replace": "fn b()"}));
    let world = World::new().file("a.rs", "fn a() {}\n").model([calls(&[edit]), say("Done.")]);
    let mut live = world.start();
    live.submit("rename a");
    live.decide(Choice::Accept).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    live.send(Command::Restore(RestoreRequest::Undo { count: 1, files: Vec::new() }));
    assert_eq!(live.proposal().await.title, "undo of rename a");
    live.open(SessionChoice::New);
    live.until(|event| matches!(event, EventBody::Opened(_)).then_some(())).await;
    live.send(Command::Restore(RestoreRequest::Undo { count: 1, files: Vec::new() }));
    assert_eq!(live.proposal().await.title, "undo of rename a (made in another session)");
    live.close().await;
}
