//! The screens whose pictures are kept.

use std::sync::Arc;
use std::time::Duration;

use nebula::proposal::{Counts, FileChange, Proposal, ProposalId, RestorePreview, RestoreStatus, State};
use nebula::protocol::*;
use nebula::tui::app::{Msg, Start};

use crate::frames::{japanese, restoring, serve};
use crate::scenes::*;

/// A screen: how it begins, and what happens there.
pub struct Scene {
    pub name: &'static str,
    pub start: Start,
    pub run: fn(&mut Stage),
}

const fn main(name: &'static str, run: fn(&mut Stage)) -> Scene {
    Scene { name, start: Start::Session(SessionChoice::New), run }
}

const fn first(name: &'static str, run: fn(&mut Stage)) -> Scene {
    Scene { name, start: Start::New, run }
}

const fn without(name: &'static str, run: fn(&mut Stage)) -> Scene {
    Scene { name, start: Start::WithoutModel, run }
}

pub const SCENES: &[Scene] = &[
    first("start", starting),
    first("start-list", |stage| {
        starting(stage);
        stage.keys("<down>");
    }),
    first("start-search", |stage| {
        starting(stage);
        stage.keys("<down><ctrl-r>gift");
        let row = session("s2", "sell gift cards", SessionState::Ended);
        stage.answer(|q| *q == Query::Sessions("gift".into()), Listing::Sessions(vec![row]));
    }),
    without("without-model", |stage| {
        choosing(stage);
        without_model(stage);
    }),
    without("connect", |stage| connecting(stage, "<down><enter>")),
    without("connect-key", |stage| {
        connecting(stage, "<down><enter><enter>");
        stage.say(Msg::Paste("sk-a-secret-of-some-length".into()));
    }),
    without("connect-model", |stage| {
        connecting(stage, "<down><enter><enter>");
        stage.say(Msg::Paste("sk-a-secret-of-some-length".into()));
        stage.keys("<enter><enter>");
        let models = ["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"].map(String::from).into();
        let id = stage.sent().into_iter().rev().find_map(|command| match command {
            Command::Connect(form) => Some(form.id),
            _ => None,
        });
        stage.tell(EventBody::Connectable(
            id.expect("the key is checked"),
            models,
            "gpt-4.1-mini".into(),
            std::time::Duration::from_millis(400),
        ));
    }),
    main("main", working),
    main("main-tools", |stage| {
        working(stage);
        stage.keys("<f4>[");
    }),
    main("draft-banner", |stage| {
        reading(stage);
        stage.keys("also rename the cart");
        stage.tell(EventBody::Proposal(ProposalEvent::Proposed(Arc::new(proposal()), Vec::new())));
        stage.wait(1_000);
    }),
    main("proposal", proposing),
    main("review", reviewing),
    main("review-reason", |stage| {
        reviewing(stage);
        stage.keys("nnn<enter>five lines are enough");
    }),
    main("graph", |stage| {
        stage.tell(opened(status()));
        graph(stage);
        stage.keys("<end><up>");
        answer_definition(stage);
    }),
    main("graph-definition", |stage| {
        stage.tell(opened(status()));
        graph(stage);
        stage.keys("<end><up>");
        answer_definition(stage);
        stage.keys("<enter>}<down>");
    }),
    main("graph-conflict", |stage| {
        stage.tell(opened(status()));
        graph(stage);
        stage.keys("<enter>");
    }),
    main("graph-code", |stage| {
        stage.tell(opened(status()));
        graph_of_code(stage);
        stage.keys("<down><down>");
        answer_code(stage);
    }),
    main("graph-none", |stage| {
        stage.tell(opened(status()));
        stage.keys("<f7>");
        let why = "no Strand store in this folder or one around it: `strand init` makes one";
        stage.answer(|query| matches!(query, Query::Graph { .. }), Listing::Failed(why.into()));
    }),
    main("question", asking),
    main("permission", permitting),
    main("questions", asking_two),
    main("command-card", card_open),
    main("command-held", held),
    main("mention", mentioning),
    main("errors", failing),
    main("archive", restoring),
    main("archive-list", |stage| {
        browsing(stage);
        stage.keys("z");
        serve(stage);
    }),
    main("archive-filter", |stage| {
        browsing(stage);
        stage.keys("/money");
        let rows = vec![changeset("round half to even", "edit", "src/money.rs")];
        let listing = Listing::Archive { rows, found: 2, total: 128, files: 14 };
        stage.answer(|q| matches!(q, Query::Archive { filter, .. } if filter == "money"), listing);
    }),
    main("sessions", |stage| {
        stage.tell(opened(status()));
        stage.keys("/sessions<enter>");
        choosing(stage);
    }),
    main("loop", looping),
    main("loop-search", |stage| {
        looping(stage);
        stage.keys("<f4>/money");
    }),
    main("chat-search", |stage| {
        working(stage);
        stage.keys("<f5>/price<enter>");
    }),
    main("opened-call", |stage| {
        stage.tell(opened(status()));
        let mut read = call("readFile", "src/cart.rs", CallState::Done);
        (read.summary, read.arguments) = ("3 lines".into(), "{\"path\": \"src/cart.rs\"}".into());
        read.result = Some(
            "1 impl Cart {\n2     pub fn total(&self, catalog: &Catalog, in_currency: Currency) -> Money {\n3 }\n"
                .into(),
        );
        stage.item(Item::Call(read));
        stage.keys("<f4>[<enter>");
    }),
    main("session-diff", |stage| {
        changed(stage);
        stage.keys("<f2>]");
    }),
    main("palette", |stage| {
        working(stage);
        stage.keys("/m");
    }),
    main("models", modelling),
    main("themes", |stage| {
        working(stage);
        stage.keys("/theme<enter>");
    }),
    main("help", |stage| {
        working(stage);
        stage.keys("<f1>");
    }),
    main("help-diff", |stage| {
        proposing(stage);
        stage.keys("?");
    }),
    main("help-search", |stage| {
        proposing(stage);
        stage.keys("?/hunk");
    }),
    main("japanese", japanese),
    main("usage", using),
];

/// The first screen, with its sessions.
fn starting(stage: &mut Stage) {
    stage.tell(opened(status()));
    choosing(stage);
}

fn session(id: &str, title: &str, state: SessionState) -> SessionRow {
    SessionRow {
        id: id.into(),
        title: title.into(),
        state,
        messages: 38,
        model: "gpt-4.1-mini".into(),
        at: NOW - 7_800_000,
    }
}

fn connecting(stage: &mut Stage, keys: &str) {
    choosing(stage);
    without_model(stage);
    stage.keys(keys);
}

fn browsing(stage: &mut Stage) {
    reading(stage);
    archive(stage);
    stage.keys("<f3>");
}

fn changeset(cause: &str, by: &str, path: &str) -> Changeset {
    let counts = Some(Counts { added: 12, removed: 3 });
    let file = ChangesetFile { path: path.into(), version: Some("v".into()), absent: false, counts };
    Changeset {
        definitions: Vec::new(),
        id: format!("c-{path}"),
        at: clock(0, 11, 31, 7),
        cause: cause.into(),
        by: by.into(),
        session: None,
        merged: None,
        files: vec![file],
    }
}

/// Frame 22: the reason above, a hunk asked about, a file that acts later with a hidden character.
fn reviewing(stage: &mut Stage) {
    stage.tell(opened(status()));
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    stage.item(Item::User { text: "Load all prices in one query.".into(), at: NOW - 9_000, attached: vec![] });
    stage.item(Item::Answer {
        text: "The cart now asks for all its prices at once. Nothing else called `price_of`, so `prices` takes its place. \
               `tests/queries.rs` counts queries behind a feature, so CI has to switch that on."
            .into(),
    });
    let mut proposal = proposal();
    let (before, after) = ("jobs:\n  - run: cargo test\n", "jobs:\n  - run: cargo test --features count\u{202e}\n");
    let ci = FileChange::new(
        ".github/workflows/ci.yml",
        State::file(before.as_bytes()),
        State::file(after.as_bytes()),
        "edit",
        &[],
    );
    proposal.files.push(ci);
    let id = proposal.id;
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(Arc::new(proposal), Vec::new())));
    stage.wait(1_000);
    stage.keys("ny]");
    let about = Comment { file: 1, hunk: 0, text: "Can a cart hold a product that is no longer sold?".into() };
    let answer = "Yes: `Catalog::remove` leaves old carts alone. With this hunk the total is the error `Unpriced`.";
    stage.tell(EventBody::Proposal(ProposalEvent::CommentAnswer(id, about, answer.into())));
}

/// Frame 23: two questions of one answer, the second of which waits below the first.
fn asking_two(stage: &mut Stage) {
    reading(stage);
    archive(stage);
    let choice = |short: &str, meaning: &str| (short.to_string(), meaning.to_string());
    stage.item(Item::Call(call("askUser", "which currency", CallState::Asking)));
    stage.tell(EventBody::Asked(Question {
        id: QuestionId(1),
        text: "Which currency should the total of a mixed cart have?".into(),
        choices: vec![
            choice("the customer's own", "From the account, as checkout does today."),
            choice("the first line's", "Simple and stable, but two carts with the same lines can differ."),
            choice("none: refuse mixed carts", "Adding a second currency is an error with a message beside the line."),
        ],
        permission: false,
        card: None,
        hold: None,
    }));
    ask_to_read(stage, 2, "../prices/rates.json");
    stage.wait(2_000);
    stage.wait(1_000);
}

/// A call that may read a file outside the workspace once the person allows it.
fn ask_to_read(stage: &mut Stage, id: u64, path: &str) {
    stage.item(Item::Call(call("readFile", path, CallState::Asking)));
    stage.tell(EventBody::Asked(Question {
        id: QuestionId(id),
        text: format!("Read {path} outside the workspace?"),
        choices: vec![
            ("yes".into(), "this file, once; 96 KiB".into()),
            ("no".into(), "default; the model is told and continues without it".into()),
        ],
        permission: true,
        card: None,
        hold: None,
    }));
}

/// Frame 26: a call of a running command waits.
fn held(stage: &mut Stage) {
    reading(stage);
    let mut run = call("runCommand", "python3 tools/bump.py 0.4.0", CallState::Asking);
    run.summary = "3 lines".into();
    stage.item(Item::Call(run));
    let choice = |short: &str, meaning: &str| (short.to_string(), meaning.to_string());
    let row = |label: &str, words: &str| (label.to_string(), words.to_string());
    let hold = HoldCard {
        command: "c7".into(),
        wants: "python3 wants to change .github/workflows/ci.yml".into(),
        acts_later: true,
        rows: vec![
            row("process", "48213 python3 tools/bump.py 0.4.0"),
            row("call", "openat · write, truncate"),
            row("path", ".github/workflows/ci.yml · 1.4 kB, kept before the call goes on"),
        ],
        note: "the time limit stands still at 21 of 120 s".into(),
        keys: vec!['y', 'a', 'x', 'n'],
    };
    stage.tell(EventBody::Asked(Question {
        id: QuestionId(1),
        text: "c7 is held".into(),
        choices: vec![
            choice("allow", "changes of this path"),
            choice("allow all", "every such call in the rest of this command"),
            choice("stop the command", "what it changed so far becomes one changeset"),
            choice("refuse the call", "default; python3 gets an error and goes on or fails by itself"),
        ],
        permission: true,
        card: None,
        hold: Some(hold.into()),
    }));
    stage.wait(2_000);
    stage.keys("<f6>");
}

/// Frame 23: a permission, whose default is no.
fn permitting(stage: &mut Stage) {
    reading(stage);
    archive(stage);
    ask_to_read(stage, 1, "../prices/live.csv");
    stage.wait(2_000);
    stage.wait(1_000);
}

/// Frame 24: a loop of 300 steps.
fn looping(stage: &mut Stage) {
    let mut status = status();
    status.context = Some((105_000, 128_000));
    stage.tell(opened(status));
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    let text = "Replace `f64` prices by `Money` everywhere, and keep every test green.".into();
    stage.item(Item::User { text, at: NOW - 900_000, attached: vec![] });
    stage.tell(EventBody::Step(300));
    let mut items = Vec::new();
    for step in 1..=300 {
        if step % 50 == 1 {
            let text = format!("Part {} is next: every caller of it still mixes the two.", step / 50 + 1);
            items.push(Item::Answer { text });
        }
        let (name, main, summary) = match step % 4 {
            0 => ("replaceInFile", format!("src/part{step}/money.rs"), ""),
            1 => ("searchInDirectory", format!("\"round{step}(\""), "3 files"),
            _ => ("readFile", format!("src/part{step}/money.rs"), "88 lines"),
        };
        let state = if step % 90 == 3 { CallState::Failed } else { CallState::Done };
        let mut entry = call(name, &main, state);
        (entry.summary, entry.step, entry.took) = (summary.into(), step, Some(Duration::from_millis(7)));
        entry.counts = (name == "replaceInFile").then_some(Counts { added: 6, removed: 4 });
        items.push(Item::Call(entry));
    }
    let items = items.into_iter().enumerate().map(|(n, item)| (ItemId(10_000 + n as u64), item));
    stage.tell(EventBody::Recalled(items.collect()));
    let (id, text) = (Some("c3".to_string()), "cargo watch -x check".to_string());
    let (class, grant, keeper, decision) = ("project", "workspace", "guard", "allowed");
    let began = CommandBegan { id, text, class, grant, keeper, decision, by_person: false, entry: None };
    stage.tell(EventBody::Command(CommandEvent::Began(began)));
    let end = CommandEnd { id: "c3".into(), running: true, ..CommandEnd::default() };
    stage.tell(EventBody::Command(CommandEvent::Ended(end)));
    stage.item(Item::Call(call("readFile", "src/cart.rs", CallState::Running)));
    archive(stage);
    stage.wait(14_000);
}

/// A session that changed two files.
fn changed(stage: &mut Stage) {
    reading(stage);
    stage.tell(EventBody::Archived(changeset("load prices in one query", "edit", "src/cart.rs")));
    stage.answer(|q| *q == Query::SessionDiff, Listing::SessionDiff(Some(Arc::new(proposal()))));
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
}

fn modelling(stage: &mut Stage) {
    working(stage);
    stage.keys("<ctrl-o>");
    let models = [("gpt-4.1-mini", 0.4, 1.6), ("gpt-4.1-nano", 0.1, 0.4), ("ollama:qwen3-coder:30b", 0.0, 0.0)];
    let models = models.map(|(name, input, output)| ModelRow {
        name: name.into(),
        window: Some(if output > 0.0 { 1_047_576 } else { 32_768 }),
        price: (output > 0.0).then_some((input, output)),
        images: output > 0.0,
        ..ModelRow::default()
    });
    stage.answer(|q| *q == Query::Models, Listing::Models(models.into()));
}

fn using(stage: &mut Stage) {
    working(stage);
    stage.keys("/context<enter>");
    let text = "| part | tokens | of the window |\n|---|--:|--:|\n| system prompt and rules | 2.1k | 1% |\n| tools | 1.9k | 1% |\n\
                | **together** | **18k of 128k** | **14%** |\n";
    stage.answer(|q| *q == Query::Context, Listing::Table { title: "context".into(), text: text.into() });
}

/// A name as long as names are.
pub const LONG: &str = "a_rather_long_name_of_a_file.rs";
const LONG_PATH: &str = "src/handlers/checkout/a_rather_long_name_of_a_file.rs";

type Run = fn(&mut Stage);

/// The screens in which names are listed, and the columns from which on.
pub const LONG_NAMES: &[(&str, u16, Run)] = &[
    ("a call", 80, |stage| {
        stage.tell(opened(status()));
        let mut read = call("readFile", LONG_PATH, CallState::Done);
        (read.summary, read.took) = ("1,204 lines".into(), Some(Duration::from_millis(1204)));
        stage.item(Item::Call(read));
        stage.keys("<f4>");
    }),
    ("the archive", 80, |stage| {
        long_archive(stage);
        stage.keys("<f3>");
    }),
    ("the archive, zoomed", 80, |stage| {
        long_archive(stage);
        stage.keys("<f3>z");
    }),
    ("a list under @", 80, |stage| {
        stage.tell(opened(status()));
        stage.keys("see @long");
        let hits = vec![(LONG_PATH.to_string(), vec![])];
        stage.answer(|q| matches!(q, Query::Files(_)), Listing::Files { hits, total: 1204, complete: true });
    }),
    ("a proposal", 80, |stage| {
        stage.tell(opened(status()));
        let state = |text: &str| State::file(text.as_bytes());
        let file = FileChange::new(LONG_PATH, state("one\n"), state("two\n"), "edit", &[]);
        let other = FileChange::new("src/a.rs", state("one\n"), state("two\n"), "edit", &[]);
        let proposal = Proposal { id: ProposalId(3), title: "replaceInFile".into(), files: vec![file, other] };
        stage.tell(EventBody::Proposal(ProposalEvent::Proposed(Arc::new(proposal), Vec::new())));
        stage.wait(1_000);
    }),
    ("a restore", 80, |stage| {
        stage.tell(opened(status()));
        stage.keys("<f3>z");
        let at = Some(clock(0, 12, 6, 2));
        let counts = Counts { added: 1204, removed: 310 };
        let status =
            RestoreStatus::Foreign { at, counts, choice: None, conflicts: Some(0), rung: None, is_later: false };
        let previews = vec![RestorePreview { path: LONG_PATH.into(), status }];
        stage.tell(EventBody::Proposal(ProposalEvent::Proposed(Arc::new(proposal()), previews)));
        stage.wait(1_000);
    }),
    ("the preview of a session", 120, |stage| {
        stage.tell(opened(status()));
        stage.keys("/sessions<enter>");
        let rows = vec![session("s0", "long", SessionState::Ended)];
        stage.answer(|q| matches!(q, Query::Sessions(_)), Listing::Sessions(rows));
        let preview = SessionPreview {
            id: "s0".into(),
            items: vec![],
            files: vec![(LONG_PATH.into(), OnDisk::Changed { at: Some(NOW - 60_000) })],
            cost: Some(nebula::protocol::Cost { dollars: 0.11, estimated: true, partial: false }),
            counts: Counts::default(),
            state: SessionState::Open,
        };
        stage.answer(|q| matches!(q, Query::Preview(_)), Listing::Preview(preview));
    }),
];

fn long_archive(stage: &mut Stage) {
    stage.tell(opened(status()));
    let mut row = changeset("undo of sell gift cards", "undo", LONG_PATH);
    row.files[0].counts = Some(Counts { added: 1204, removed: 310 });
    let rows = vec![changeset("a", "edit", "a.rs"), row];
    stage.answer(|q| matches!(q, Query::Archive { .. }), Listing::Archive { rows, found: 2, total: 2, files: 1 });
}
