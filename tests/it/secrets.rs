//! Files that usually hold keys: they lead no list, and a model gets their text only after a question.

use nebula::proposal::{Choice, Consent, Decision};
use nebula::protocol::{CallState, Command, EventBody, Item, Listing, Query, QueryId, Reply, TurnEnd};
use serde_json::json;

use crate::support::world::{Live, World, call, calls, say};

fn world() -> World {
    World::new()
        .file(".env", "KEY=secret-one\n")
        .file("src/.env.local", "KEY=secret-two\n")
        .file("a.txt", "KEY of all\n")
}

/// Everything that was sent to the model.
fn sent(live: &Live) -> String {
    live.requests().iter().map(|request| format!("{:?}", request.messages)).collect()
}

#[tokio::test]
async fn a_model_reads_it_once_the_person_agrees() {
    for (answer, state) in [("no", CallState::Refused), ("yes", CallState::Done)] {
        let world = world().model([call("readFile", json!({"path": "src/.env.local"})), say("done")]);
        let mut live = world.start();
        live.submit("go");
        let question = live.question().await;
        assert!(question.permission && question.text.contains("src/.env.local"), "{}", question.text);
        live.send(Command::Reply(question.id, Reply::Choice(usize::from(answer == "no"))));
        let end = live.until(|event| match event {
            EventBody::Changed(_, Item::Call(call)) if call.state.is_final() => Some((call.state, call.reason.clone())),
            _ => None,
        });
        let (ended, reason) = end.await;
        assert_eq!(ended, state);
        assert_eq!(reason.is_some_and(|why| why.contains("you rejected this")), answer == "no");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!(sent(&live).contains("secret-two"), answer != "no");
        live.close().await;
    }
}

#[tokio::test]
async fn a_mention_of_it_is_sent_once_the_person_agrees() {
    let world = world().model([say("done")]);
    let mut live = world.start();
    live.submit("look at @.env");
    let question = live.question().await;
    assert!(question.permission && live.requests().is_empty(), "nothing is sent before the answer");
    assert!(question.text.contains("“look at @.env”"), "{}", question.text);
    live.send(Command::Reply(question.id, Reply::Choice(1)));
    let why = live.until(|event| match event {
        EventBody::Returned(_, why) => Some(why.clone()),
        _ => None,
    });
    assert!(why.await.starts_with(".env may hold keys and was not sent"));
    live.submit("look at @.env");
    let question = live.question().await;
    live.send(Command::Reply(question.id, Reply::Choice(0)));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(sent(&live).contains("secret-one"));
    live.close().await;
}

#[tokio::test]
async fn a_search_shows_nothing_of_it_and_it_leads_no_list() {
    let world = world().model([call("searchInDirectory", json!({"directory": ".", "keyword": "KEY"})), say("done")]);
    let mut live = world.start();
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent_text = sent(&live);
    assert!(
        sent_text.contains("KEY of all") && sent_text.contains("readFile, which asks") && !sent_text.contains("secret"),
        "{sent_text}"
    );
    for words in ["", "env"] {
        // The first answers may come before the walk of the workspace ends.
        let hits = loop {
            live.send(Command::Ask(QueryId(7), Query::Files(words.into())));
            let listed = live.until(|event| match event {
                EventBody::Answer(QueryId(7), Listing::Files { hits, complete, .. }) => Some((hits.clone(), *complete)),
                _ => None,
            });
            if let (hits, true) = listed.await {
                break hits;
            }
        };
        let hits: Vec<String> = hits.into_iter().map(|(path, _)| path).collect();
        let first_secret = hits.iter().position(|path| path.contains(".env"));
        assert_eq!(first_secret, Some(hits.len() - 2), "{words}: {hits:?}");
    }
    live.close().await;
}

#[tokio::test]
async fn an_edit_without_a_place_shows_nothing_of_it() {
    let edit = |path: &str| ("replaceInFile", json!({"path": path, "search": "not there", "replace": "x"}));
    let removal = ("deleteFile", json!({"path": ".env"}));
    let moves = |to: &str| ("moveFile", json!({"path": ".env", "to": to}));
    for edits in [
        vec![edit(".env")],
        vec![edit(".env"), removal.clone()],
        vec![edit(".env"), moves("b.txt")],
        vec![moves("b.txt"), edit("b.txt")],
        // However the file is named.
        vec![edit("@.env")],
        vec![edit("file: .env")],
        vec![edit("`.env`"), removal.clone()],
        vec![edit(".env.local")],
    ] {
        let world = world().approve("edits").model([calls(&edits), say("done")]);
        let mut live = world.start();
        live.submit("go");
        assert_eq!(live.end().await, TurnEnd::Done);
        let sent = sent(&live);
        assert!(!sent.contains("secret-") && sent.contains("read it with readFile first"), "{sent}");
        live.close().await;
    }
}

#[tokio::test]
async fn the_questions_of_one_answer_wait_together_and_are_answered_in_any_order() {
    let asks = ("askUser", json!({"question": "Which one?", "choices": ["a", "b"]}));
    let reads = |path: &str| ("readFile", json!({"path": path}));
    let step = [asks.clone(), reads(".env"), reads("a.txt"), reads("src/.env.local"), asks];
    let world = world().model([calls(&step), say("done"), calls(&step)]);
    let mut live = world.start();
    live.submit("go");
    let mut open = Vec::new();
    while open.len() < 4 {
        open.push(live.question().await);
    }
    let permissions = open.iter().filter(|question| question.permission).count();
    assert_eq!((permissions, open[0].permission), (2, false));
    // What is read behind a question is read after the reply.
    std::fs::write(world.root().join("a.txt"), "KEY of later\n").expect("written");
    for question in open.into_iter().rev() {
        let reply = match question.text.as_str() {
            "Which one?" => 1,
            text => usize::from(!text.contains("local")),
        };
        live.send(Command::Reply(question.id, Reply::Choice(reply)));
    }
    assert_eq!(live.end().await, TurnEnd::Done);
    let results: Vec<String> = live.requests()[1].messages.iter().rev().take(5).map(|m| format!("{m:?}")).collect();
    for (result, words) in results.iter().rev().zip(["b", "did not allow", "KEY of later", "secret-two", "b"]) {
        assert!(result.contains(words), "{words}: {results:?}");
    }
    // A stop withdraws those that are open; what the person said before it is kept.
    live.submit("again");
    let mut open = Vec::new();
    while open.len() < 4 {
        open.push(live.question().await);
    }
    open.sort_by_key(|question| question.id);
    live.send(Command::Reply(open[3].id, Reply::Text("the larger one".into())));
    live.until(|event| matches!(event, EventBody::Answered(id) if *id == open[3].id).then_some(())).await;
    live.send(Command::Interrupt);
    let mut said = Vec::new();
    let end = live.until(|event| match event {
        EventBody::Changed(_, Item::Call(call)) => {
            said.extend(call.exchange.clone());
            None
        }
        EventBody::TurnEnded(_, end) => Some(end.clone()),
        _ => None,
    });
    assert_eq!(end.await, TurnEnd::Interrupted);
    assert!(said.iter().any(|(_, reply)| reply == "the larger one"), "{said:?}");
    live.close().await;
}

#[tokio::test]
async fn a_removal_that_meets_another_version_shows_nothing_of_it() {
    let world = world().model([call("deleteFile", json!({"path": ".env"})), say("done")]);
    let mut live = world.start();
    live.submit("go");
    let proposal = live.proposal().await;
    world.write(".env", "KEY=secret-three\n");
    let accepted = Decision::new(proposal.choices(Choice::Accept), Consent::Person);
    live.send(Command::Decide(proposal.id, accepted));
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = sent(&live);
    assert!(!sent.contains("secret-") && sent.contains(".env changed on disk"), "{sent}");
    assert_eq!(world.read(".env"), "KEY=secret-three\n");
    live.close().await;
}

#[tokio::test]
async fn an_undo_of_it_is_no_reading_of_it() {
    let edit = json!({"path": ".env", "search": "not there", "replace": "x"});
    let steps = [
        call("deleteFile", json!({"path": ".env"})),
        call("undo", json!({"path": ".env"})),
        call("replaceInFile", edit),
        say("done"),
    ];
    let world = world().model(steps);
    let mut live = world.start();
    live.submit("go");
    live.decide(Choice::Accept).await;
    live.decide(Choice::Accept).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read(".env"), "KEY=secret-one\n");
    let sent = sent(&live);
    assert!(!sent.contains("secret-") && sent.contains("read it with readFile first"), "{sent}");
    live.close().await;
}
