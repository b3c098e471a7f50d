//! Answers that are no end: a pause of the server, a call that it could not read, thoughts without a word.

use nebula::protocol::{EventBody, Item, TurnEnd};
use nebula::provider::{Delta, EndReason, Role};
use serde_json::json;

use crate::support::world::{Live, World, say};

fn ends(text: &str, end: EndReason) -> Vec<Delta> {
    [Some(Delta::Text(text.into())).filter(|_| !text.is_empty()), Some(Delta::End(end))].into_iter().flatten().collect()
}

fn thoughts() -> Vec<Delta> {
    vec![Delta::Thinking("hm".into()), Delta::End(EndReason::Stop)]
}

fn last_said(live: &Live) -> (Role, String) {
    let requests = live.requests();
    let last = requests.last().and_then(|request| request.messages.last()).expect("a message");
    (last.role, last.text().into_owned())
}

async fn turn(steps: Vec<Vec<Delta>>) -> (Live, World, TurnEnd) {
    let world = World::new().model(steps);
    let mut live = world.start();
    live.submit("go");
    let end = live.end().await;
    (live, world, end)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_is_sent_back_as_it_came_once() {
    let (live, _world, end) = turn(vec![ends("So far", EndReason::Paused), say(" and on.")]).await;
    assert_eq!(end, TurnEnd::Done);
    assert_eq!(last_said(&live), (Role::Assistant, "So far".into()));
    live.close().await;
    let (live, _world, end) = turn(vec![ends("a", EndReason::Paused), ends("b", EndReason::Paused)]).await;
    assert!(
        matches!(&end, TurnEnd::Failed { message, resumable: true, cause, .. }
        if message == "the answer broke off: the server paused it again" && cause.kind == "answer"),
        "{end:?}"
    );
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_the_server_could_not_read_is_reported_to_the_model_once() {
    let (live, _world, end) = turn(vec![ends("", EndReason::Malformed), say("Done.")]).await;
    assert_eq!(end, TurnEnd::Done);
    assert_eq!(last_said(&live).1, "Your call could not be read. Make it again, with valid arguments.");
    live.close().await;
    let (live, _world, end) = turn(vec![ends("", EndReason::Malformed), ends("", EndReason::Malformed)]).await;
    assert!(matches!(end, TurnEnd::Failed { resumable: true, .. }), "{end:?}");
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_thoughts_alone_is_followed_up_once() {
    let (live, _world, end) = turn(vec![thoughts(), say("Here.")]).await;
    assert_eq!(end, TurnEnd::Done);
    assert!(last_said(&live).1.starts_with("Your answer was empty."));
    live.close().await;
    let (live, _world, end) = turn(vec![thoughts(), thoughts()]).await;
    assert!(matches!(&end, TurnEnd::Failed { message, .. } if message == "empty answer"), "{end:?}");
    live.close().await;
}

/// What a model lacks becomes the next lower effort it has, and that is said once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_effort_that_a_model_lacks_is_said_once() {
    let world = World::new().model([say("a"), say("b"), say("c")]);
    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    let config = json!({"effort": "max", "models": {"recording": {"thinking": "none"}}});
    std::fs::write(world.home().join(".nebula/config.json"), config.to_string()).expect("written");
    let mut live = world.start();
    for _ in 0..2 {
        live.submit("go");
        assert_eq!(live.end().await, TurnEnd::Done);
    }
    live.send(nebula::protocol::Command::Set(nebula::protocol::Setting::Model("o3".into())));
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let title = |event: &EventBody| match event {
        EventBody::Added(_, Item::Notice(notice)) if notice.title.contains("effort") => Some(notice.title.clone()),
        _ => None,
    };
    let notices: Vec<String> = live.events.iter().filter_map(title).collect();
    assert_eq!(notices, ["recording does not think: effort max is left out", "o3 has no effort max: high is used"]);
    live.close().await;
}
