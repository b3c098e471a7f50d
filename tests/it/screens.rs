//! Whole screens: keys and events in, the picture out, at several sizes and in several themes.

use std::collections::BTreeSet;
use std::sync::Arc;

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use nebula::config::screen_files::ScreenFiles;
use nebula::messages::{Language, with};
use nebula::proposal::{
    Counts, FileChange, ForeignChoice, Proposal, ProposalId, RestoreFate, RestorePreview, RestoreStatus, State,
};
use nebula::protocol::*;
use nebula::tui::app::{Effect, Focus, Msg, Options, Start};
use nebula::tui::theme::Depth;
use ratatui::buffer::Buffer;
use ratatui::style::Color;

use crate::scenes::*;

type Scene = fn(&mut Stage);

const SCENES: [(&str, Scene); 7] = [
    ("main", working),
    ("proposal", proposing),
    ("question", asking),
    ("command-card", card_open),
    ("mention", mentioning),
    ("without-model", without_model),
    ("errors", failing),
];

#[test]
fn a_session_of_the_first_screen_is_resumed() {
    let mut stage = Stage::start(140, 42, "dark", Start::New);
    stage.tell(opened(status()));
    choosing(&mut stage);
    stage.keys("<down><down><enter>");
    let resume = Command::Open(SessionChoice::Resume("s1".into()));
    assert_eq!(stage.sent(), [&Command::Open(SessionChoice::New), &resume]);
}

#[test]
fn typing_always_writes_into_the_prompt() {
    let mut stage = Stage::start(140, 42, "dark", Start::New);
    // Before anything is listed, and before the session is open.
    stage.keys("new fix");
    stage.tell(opened(status()));
    choosing(&mut stage);
    stage.keys("<down> the bug");
    assert!(stage.text().contains("› new fix the bug"), "{}", stage.text());
    stage.keys("<down>");
    stage.say(Msg::Paste(" now".into()));
    assert!(stage.text().contains("› new fix the bug now"), "{}", stage.text());
    stage.keys("<enter>");
    let prompt = Prompt { text: "new fix the bug now".into() };
    assert_eq!(stage.sent(), [&Command::Open(SessionChoice::New), &Command::Submit(prompt)]);
    assert!(!stage.text().contains(" recent ─"), "{}", stage.text());
}

#[test]
fn what_is_looked_at_before_the_session_is_open_stays_and_esc_leads_back() {
    for (key, title) in [("<f7>", "graph"), ("<f8>", "review"), ("<f9>", "timeline"), ("<f3>", "archive")] {
        let mut stage = Stage::start(140, 42, "dark", Start::New);
        stage.keys("a draft");
        stage.keys(key);
        stage.tell(opened(status()));
        let focus = stage.app.focus();
        assert!(!matches!(focus, Focus::Input | Focus::Sessions), "{key}: {focus:?}: {}", stage.text());
        assert!(stage.text().contains(title), "{key}: {}", stage.text());
        stage.keys("<esc>");
        let text = stage.text();
        assert!(text.contains("› a draft") && text.contains(" recent ─"), "{key}: {text}");
    }
    // A session that is resumed is not covered by the start.
    let resume = Start::Session(SessionChoice::Continue);
    let mut stage = Stage::start(140, 42, "dark", resume);
    stage.keys("<f9>");
    let resumed = SessionInfo { id: "s".into(), title: None, resumed: 3, status: status() };
    stage.tell(EventBody::Opened(resumed));
    assert_eq!(stage.app.focus(), Focus::Past);
    stage.keys("<esc>");
    assert_eq!(stage.app.focus(), Focus::Input);
    assert!(!stage.text().contains(" recent ─"), "{}", stage.text());
}

#[test]
fn the_ledger_tells_what_a_command_of_the_persons_changed_before_any_message() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    assert!(!stage.text().contains("changed nothing"), "{}", stage.text());
    stage.tell(archived("touch a"));
    stage.answer(|query| *query == Query::SessionDiff, Listing::SessionDiff(Some(Arc::new(proposal()))));
    assert!(stage.text().contains("changed 2 files"), "{}", stage.text());
}

#[test]
fn the_list_of_sessions_over_an_open_one() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("/sessions<enter>");
    choosing(&mut stage);
    // No letter is a command.
    stage.keys("dren");
    assert!(stage.text().contains("› dren") && !stage.text().contains("delete the session"), "{}", stage.text());
}

#[test]
fn every_size_draws() {
    for (name, scene) in SCENES {
        for width in [1, 20, 39, 40, 41, 59, 71, 72, 79, 99, 100, 119, 120, 141] {
            for height in [1, 5, 9, 10, 11, 12, 15, 16, 20, 24, 41] {
                // Below the least size keys do nothing, so the scene is made before.
                let mut stage = Stage::new(140, 42, "dark");
                scene(&mut stage);
                stage.resize(width, height);
                stage.draw();
                if width < 40 || height < 10 {
                    let notice: String = "nebula needs 40×10; this is".chars().take(usize::from(width)).collect();
                    assert!(stage.text().starts_with(notice.trim_end()), "{name} at {width}×{height}");
                }
            }
        }
    }
}

#[test]
fn exactly_one_line_has_the_focus() {
    for (name, scene) in SCENES {
        for width in [60, 140] {
            let mut stage = Stage::new(width, 40, "dark");
            scene(&mut stage);
            for step in 0..6 {
                let rows: BTreeSet<usize> =
                    stage.text().lines().enumerate().filter(|(_, l)| l.contains("━━")).map(|(y, _)| y).collect();
                // The line of tabs marks the open one with a heavy rule too.
                let tabs = usize::from(width < 120 && name != "without-model" && !stage.text().contains("proposal ━"));
                let tabs = if rows.contains(&1) { tabs } else { 0 };
                assert!(rows.len() <= 1 + tabs, "{name} at {width}, step {step}: {rows:?}");
                stage.keys("<tab>");
            }
        }
    }
}

#[test]
fn what_begins_with_an_exclamation_mark_is_a_command_of_the_persons() {
    let mut stage = Stage::new(100, 30, "dark");
    stage.keys("!ls -l<enter>!! make test<enter>!!<enter>!!!<enter>!<enter>");
    let own: Vec<&Command> = stage.sent().into_iter().filter(|sent| !matches!(sent, Command::Open(_))).collect();
    let told = |text: &str| Command::RunForModel(Some(text.into()));
    let message = Command::Submit(Prompt { text: "!".into() });
    assert_eq!(
        own,
        [&Command::Run("ls -l".into()), &told("make test"), &Command::RunForModel(None), &told("!"), &message]
    );
}

#[test]
fn messages_typed_meanwhile_are_queued_and_sent_one_by_one() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("one<enter>");
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    stage.keys("two<enter>three<enter>");
    let texts = |stage: &Stage| {
        let sent = stage.sent().into_iter().filter_map(|c| match c {
            Command::Submit(p) => Some(p.text.clone()),
            _ => None,
        });
        sent.collect::<Vec<_>>()
    };
    assert_eq!(texts(&stage), ["one"]);
    // Each comes back for editing, and returns to its place or is dropped.
    stage.keys("<up>!<enter><up><down><ctrl-x>");
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    assert_eq!(texts(&stage), ["one", "two!"]);
    stage.tell(EventBody::TurnStarted(TurnId(2)));
    stage.keys("four<enter>");
    stage.tell(EventBody::TurnEnded(TurnId(2), TurnEnd::Interrupted));
    assert_eq!(texts(&stage), ["one", "two!"]);
    for n in 0..60 {
        stage.item(Item::Answer { text: format!("answer {n}") });
    }
    stage.keys("<pageup>");
    assert!(!stage.text().contains("answer 59"));
    stage.keys("<enter>");
    assert_eq!(texts(&stage), ["one", "two!", "four"]);
    assert!(stage.text().contains("answer 59"), "what is sent is answered in sight");
}

#[test]
fn a_turn_that_is_done_without_a_change_says_so_in_the_input_line() {
    let says = |mode: Mode, step: u32, by: Option<&str>, end: TurnEnd| {
        let mut stage = Stage::new(140, 40, "dark");
        stage.tell(opened(Status { mode, ..status() }));
        stage.tell(EventBody::TurnStarted(TurnId(1)));
        if step > 0 {
            stage.tell(EventBody::Step(step));
        }
        if let Some(session) = by {
            let changeset = Changeset { session: Some(session.into()), ..made() };
            stage.tell(EventBody::Archived(changeset));
        }
        stage.tell(EventBody::TurnEnded(TurnId(1), end));
        stage.text().contains("ready · no file was changed")
    };
    assert!(says(Mode::Agent, 1, None, TurnEnd::Done));
    assert!(says(Mode::Agent, 2, Some("another"), TurnEnd::Done), "a change of another session");
    assert!(!says(Mode::Agent, 2, Some("0198"), TurnEnd::Done), "a change of its own");
    assert!(!says(Mode::Agent, 0, None, TurnEnd::Done), "a summary");
    assert!(!says(Mode::Plan, 1, None, TurnEnd::Done), "a plan");
    assert!(!says(Mode::Agent, 1, None, TurnEnd::Interrupted));
}

#[test]
fn what_the_person_changes_after_a_turn_ends_the_word_that_no_file_was_changed() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    stage.tell(EventBody::Step(1));
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    stage.tell(EventBody::Archived(Changeset { session: Some("another".into()), ..made() }));
    assert!(stage.text().contains("ready · no file was changed"), "{}", stage.text());
    // A command that the person typed.
    stage.tell(EventBody::Archived(Changeset { session: Some("0198".into()), ..made() }));
    assert!(!stage.text().contains("no file was changed"), "{}", stage.text());
}

#[test]
fn escape_leads_from_the_timeline_back_to_the_blame_that_it_was_opened_over() {
    let mut stage = Stage::new(140, 42, "dark");
    stage.tell(opened(status()));
    stage.keys("/blame a.rs<enter><f9><f9>");
    assert_eq!(stage.app.focus(), Focus::Past);
    stage.keys("<esc>");
    assert_eq!(stage.app.focus(), Focus::Past);
    stage.keys("<esc>");
    assert_eq!(stage.app.focus(), Focus::Input);
}

/// A queue with one turn of one entry, and what that changed.
fn reviewed(stage: &mut Stage, texts: [&str; 2]) {
    let entry = ReviewRow { id: "1".into(), title: "a.txt".into(), command: false, files: 1, counts: None };
    let turn = ReviewTurn { title: "round".into(), at: 0, entries: vec![entry] };
    stage.answer(|query| *query == Query::Review, Listing::Review(vec![turn]));
    let middle: String = (0..20).map(|n| format!("{n}\n")).collect();
    let state = |text: &str| State::file(format!("{text}\n{middle}{text}\n").into_bytes());
    let file = FileChange::new("a.txt", state(texts[0]), state(texts[1]), "", &[]);
    let change = Arc::new(Proposal { id: ProposalId(9), title: String::new(), files: vec![file] });
    let change = ReviewChange { change, aside: Vec::new(), later: Vec::new() };
    stage.answer(|query| matches!(query, Query::ReviewChange(..)), Listing::ReviewChange(change));
}

#[test]
fn what_is_decided_in_the_queue_stays_when_it_is_left_and_enter_is_named() {
    let mut stage = Stage::new(80, 24, "dark");
    stage.tell(opened(status()));
    stage.keys("<f8>");
    reviewed(&mut stage, ["a", "b"]);
    stage.keys("<enter>y");
    assert!(stage.text().contains("Enter next undecided"), "{}", stage.text());
    stage.keys("y");
    assert!(stage.text().contains("Enter run decisions"), "{}", stage.text());
    for away in ["<f5>", "<esc><esc>", "<f9>"] {
        stage.keys(away);
        assert!(!stage.text().contains("2 keep"), "{away}: {}", stage.text());
        stage.keys("<f8>");
        reviewed(&mut stage, ["a", "b"]);
        assert!(stage.text().contains("Enter"), "{away}: {}", stage.text());
        stage.keys("n");
        assert!(stage.text().contains("1 keep") && stage.text().contains("1 restore"), "{away}: {}", stage.text());
        stage.keys("u");
        assert!(stage.text().contains("2 keep"), "{away}: {}", stage.text());
    }
    stage.keys("<enter>");
    assert!(stage.sent().contains(&&Command::KeepReviewed(vec!["1".into()])), "{:?}", stage.sent());
}

/// A changeset of one file.
fn made() -> Changeset {
    let file = ChangesetFile { path: "src/cart.rs".into(), version: None, absent: false, counts: None };
    Changeset {
        id: "c1".into(),
        at: 0,
        cause: "go".into(),
        by: "edit".into(),
        session: None,
        merged: None,
        files: vec![file],
        definitions: Vec::new(),
    }
}

#[test]
fn what_was_not_sent_is_kept_with_the_session_and_held_when_it_comes_back() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("one<enter>");
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    let kept = |stage: &Stage| {
        let kept = stage.sent().into_iter().filter_map(|c| match c {
            Command::KeepUnsent(_, unsent) => Some(unsent.clone()),
            _ => None,
        });
        kept.collect::<Vec<_>>()
    };
    assert_eq!(kept(&stage), []);
    stage.keys("two<enter>");
    assert_eq!(kept(&stage), [Unsent { queue: vec!["two".into()], draft: String::new() }]);
    stage.keys("a draft<ctrl-c><ctrl-c>");
    let unsent = Unsent { queue: vec!["two".into()], draft: "a draft".into() };
    assert_eq!(kept(&stage).last(), Some(&unsent));

    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.tell(EventBody::Unsent(unsent));
    let texts = |stage: &Stage| {
        let sent = stage.sent().into_iter().filter_map(|c| match c {
            Command::Submit(p) => Some(p.text.clone()),
            _ => None,
        });
        sent.collect::<Vec<_>>()
    };
    assert!(stage.text().contains("› a draft") && texts(&stage).is_empty(), "{}", stage.text());
    stage.keys("<enter>");
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    assert_eq!(texts(&stage), ["a draft"], "what came back goes only when the person says so");
    stage.keys("<enter>");
    assert_eq!(texts(&stage), ["a draft", "two"]);
}

#[test]
fn a_question_is_answered_by_just_writing() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    let asking_with = |n, choices| {
        EventBody::Asked(Question {
            id: QuestionId(n),
            text: "Which name?".into(),
            choices,
            permission: false,
            card: None,
            hold: None,
        })
    };
    let answers = |stage: &Stage| {
        let sent = stage.sent().into_iter().filter_map(|c| match c {
            Command::Reply(id, Reply::Text(text)) => Some((id.0, text.clone())),
            _ => None,
        });
        sent.collect::<Vec<_>>()
    };
    stage.keys("go<enter>");
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    // Without choices the input has the keys.
    stage.tell(asking_with(1, Vec::new()));
    stage.wait(2_000);
    stage.wait(400);
    assert!(stage.text().contains("Enter answers"), "{}", stage.text());
    stage.keys("jane<enter>");
    assert_eq!(answers(&stage), [(1, "jane".into())]);
    stage.tell(EventBody::Answered(QuestionId(1)));
    // With choices the first letter that is no key begins an answer.
    stage.tell(asking_with(2, vec![("a".into(), String::new()), ("b".into(), String::new())]));
    stage.wait(2_000);
    stage.wait(500);
    stage.keys("kim<enter>");
    assert_eq!(answers(&stage), [(1, "jane".into()), (2, "kim".into())]);
}

#[test]
fn a_restore_of_the_person_needs_no_pause_and_no_reason() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    let mut proposal = proposal();
    proposal.files.iter_mut().for_each(|file| file.by = UNDO.into());
    let proposal = Arc::new(proposal);
    let previews = proposal.files.iter().map(|f| RestorePreview {
        path: f.path.clone(),
        status: RestoreStatus::Restore(RestoreFate::Content, f.counts),
    });
    stage.keys("<f3>");
    stage.tell(EventBody::Proposal(ProposalEvent::Own(proposal.id)));
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(proposal.clone(), previews.collect())));
    assert!(stage.text().contains("waiting for you: a restore of 2 files"), "{}", stage.text());
    // No pause: the person asked for it, and the next key is meant.
    stage.keys("<enter>");
    // All of it is accepted beforehand.
    assert!(stage.text().contains("reviewing") && !stage.text().contains("? hunk"), "{}", stage.text());
    stage.keys("yr");
    let sent = stage.sent();
    let Some(Command::Decide(id, decision)) = sent.last() else { panic!("{sent:?}") };
    assert_eq!((*id, decision.reason.as_deref(), decision.count().accepted), (proposal.id, None, 0));
}

#[test]
fn what_is_typed_after_a_cancelled_restore_is_sent() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    let proposal = Arc::new(proposal());
    let preview = |file: &nebula::proposal::FileChange| RestorePreview {
        path: file.path.clone(),
        status: RestoreStatus::Restore(RestoreFate::Content, file.counts),
    };
    let previews = proposal.files.iter().map(preview).collect();
    stage.tell(EventBody::Proposal(ProposalEvent::Own(proposal.id)));
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(proposal.clone(), previews)));
    assert!(stage.text().contains("waiting for you: a restore of 2 files"), "{}", stage.text());
    stage.wait(500);
    stage.keys("<esc>");
    stage.wait(100);
    stage.tell(EventBody::Proposal(ProposalEvent::Settled(proposal.id, Outcome::Refused)));
    stage.wait(100);
    stage.keys("next<enter>");
    let sent = stage.sent();
    let submitted = sent.iter().any(|command| matches!(command, Command::Submit(prompt) if prompt.text == "next"));
    assert!(submitted, "{}", stage.text());
}

/// What has no room in the input line is whole in the chat, also where another tab is shown.
#[test]
fn a_notice_that_is_too_long_for_the_input_line_goes_whole_to_the_chat() {
    let mut stage = Stage::new(80, 30, "dark");
    stage.tell(opened(status()));
    let long = "nothing can be undone: the archive's folder 書庫/of/this/workspace cannot be read, and that is the end";
    let told =
        |stage: &Stage| stage.text().split_whitespace().collect::<Vec<_>>().join(" ").contains("that is the end");
    stage.tell(EventBody::Notice(Notice::new(Level::Warning, "a short one", "")));
    assert!(
        stage.text().lines().any(|row| row.starts_with(" ready") && row.contains("a short one")),
        "{}",
        stage.text()
    );
    stage.keys("<f4>");
    stage.tell(EventBody::Notice(Notice::new(Level::Warning, long, "")));
    assert!(!told(&stage), "{}", stage.text());
    stage.keys("<f5>");
    assert!(told(&stage), "{}", stage.text());
    // What went well has an entry of its own there.
    let entries = stage.text().matches("cannot be read").count();
    stage.tell(EventBody::Notice(Notice::new(Level::Info, long, "")));
    let rows = stage.text();
    let chat = rows.lines().take_while(|row| !row.contains("──── nothing can be undone")).collect::<String>();
    assert_eq!(chat.matches("cannot be read").count(), entries, "{rows}");
}

/// A test that is run again has one result.
#[test]
fn the_failure_of_a_test_goes_from_the_input_line_with_its_next_result() {
    let mut stage = Stage::new(140, 42, "dark");
    stage.tell(opened(status()));
    let failure = "make test: exit 1 · 0.2 s";
    let tested = |line: &str| {
        let test = ProposalTest { state: TestState::Passed, line: line.into(), failures: Vec::new() };
        EventBody::Proposal(ProposalEvent::Tested(ProposalId(7), test))
    };
    stage.tell(EventBody::Notice(Notice::new(Level::Info, failure, "FAIL: a")));
    assert!(stage.text().contains(failure), "{}", stage.text());
    stage.tell(tested("make: passed · 0.2 s"));
    assert!(stage.text().contains(failure), "of another test: {}", stage.text());
    stage.tell(tested("make test: passed · 0.2 s"));
    assert!(!stage.text().contains(failure), "{}", stage.text());
}

/// While the model works, what it said last explains its own proposals alone.
#[test]
fn an_undo_of_the_person_during_a_turn_carries_no_words_of_the_model() {
    for own in [true, false] {
        let mut stage = Stage::new(140, 40, "dark");
        stage.tell(opened(status()));
        stage.tell(EventBody::TurnStarted(TurnId(1)));
        stage.tell(EventBody::Added(ItemId(1), Item::Answer { text: "Now the tests.".into() }));
        stage.keys("/undo<enter>");
        let proposal = Arc::new(proposal());
        if own {
            stage.tell(EventBody::Proposal(ProposalEvent::Own(proposal.id)));
        }
        stage.tell(EventBody::Proposal(ProposalEvent::Proposed(proposal.clone(), Vec::new())));
        // One that the person asked for has the keys at once.
        assert_eq!(stage.text().contains("reviewing"), own, "{}", stage.text());
        stage.keys("<f2>");
        assert_eq!(stage.text().contains("Now the tests."), !own, "{}", stage.text());
    }
}

#[test]
fn an_undo_on_the_first_screen_is_shown() {
    let mut stage = Stage::start(140, 42, "dark", Start::New);
    choosing(&mut stage);
    stage.tell(opened(status()));
    stage.keys("/undo<enter>");
    let proposal = Arc::new(proposal());
    stage.tell(EventBody::Proposal(ProposalEvent::Own(proposal.id)));
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(proposal.clone(), Vec::new())));
    assert!(stage.text().contains("reviewing"), "{}", stage.text());
}

#[test]
fn the_open_session_is_gone_back_to_and_not_deleted_from_the_list() {
    let mut stage = Stage::new(140, 40, "dark");
    let info = SessionInfo { id: "s1".into(), title: None, resumed: 2, status: status() };
    stage.tell(EventBody::Opened(info));
    stage.keys("/sessions<enter>");
    let row = SessionRow {
        id: "s1".into(),
        title: "this one".into(),
        state: SessionState::InUse,
        messages: 2,
        model: "m".into(),
        at: NOW,
    };
    stage.answer(|q| matches!(q, Query::Sessions(_)), Listing::Sessions(vec![row]));
    stage.keys("<ctrl-x>");
    assert!(stage.text().contains("this session is open"), "{}", stage.text());
    stage.keys("<enter>");
    assert!(!stage.text().contains("sessions of"), "{}", stage.text());
    let opened = stage.sent().into_iter().filter(|c| matches!(c, Command::Open(_) | Command::Sessions(_))).count();
    assert_eq!(opened, 1, "{:?}", stage.sent());
}

#[test]
fn the_wheel_deletes_no_session() {
    let mut stage = Stage::start(140, 42, "dark", Start::New);
    stage.tell(opened(status()));
    choosing(&mut stage);
    stage.keys("<down><ctrl-x>");
    let asked = stage.text();
    assert!(asked.contains("keep it") && asked.contains("delete it"), "{asked}");
    mouse(&mut stage, MouseEventKind::ScrollDown, (70, 15));
    assert_eq!(stage.text(), asked);
    stage.keys("<enter>");
    assert!(!stage.sent().iter().any(|command| matches!(command, Command::Sessions(_))), "{:?}", stage.sent());
}

#[test]
fn an_opened_call_is_closed_by_the_key_that_opened_it() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.keys("<f4>");
    assert!(stage.text().contains("Enter open"), "{}", stage.text());
    stage.keys("<enter>");
    let text = stage.text();
    assert!(text.contains("Enter close") && !text.contains("Enter open"), "{text}");
}

#[test]
fn what_changed_on_disk_is_shown_again_from_its_notice() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    let state = |text: &str| State::File { bytes: text.as_bytes().into(), mode: None };
    let notice = Notice {
        level: Level::Warning,
        title: "edit of a.rs refused".into(),
        detail: String::new(),
        actions: vec![NoticeAction::ShowChange("a.rs".into())],
        cause: Default::default(),
    };
    let first = Arc::new(proposal());
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(first.clone(), Vec::new())));
    let (expected, found) = (state("one\n"), state("another\n"));
    stage.tell(EventBody::Proposal(ProposalEvent::Settled(
        first.id,
        Outcome::Conflict { path: "a.rs".into(), expected, found },
    )));
    // Another proposal takes the pane and goes again.
    let second = Arc::new(Proposal { id: ProposalId(99), ..(*first).clone() });
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(second, Vec::new())));
    stage.tell(EventBody::Proposal(ProposalEvent::Settled(ProposalId(99), Outcome::Refused)));
    stage.item(Item::Notice(notice));
    stage.item(Item::Answer { text: "I read it again.".into() });
    stage.wait(400);
    stage.keys("<enter>");
    assert!(stage.text().contains("another") && stage.text().contains("a.rs"), "{}", stage.text());
}

#[test]
fn a_message_that_was_not_sent_comes_back() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("see @src/nope.rs <enter>");
    let prompt = nebula::protocol::Prompt { text: "see @src/nope.rs ".into() };
    stage.tell(EventBody::Returned(prompt, "src/nope.rs is not there".into()));
    let text = stage.text();
    assert!(text.contains("› see @src/nope.rs") && text.contains("src/nope.rs is not there"), "{text}");
    // Several reasons, or one too long for the line, are to be read whole.
    let prompt = nebula::protocol::Prompt { text: "see".into() };
    stage.tell(EventBody::Returned(prompt, "there is no file a.rs\nb.bin is binary".into()));
    let text = stage.text();
    assert!(text.contains("the message was not sent") && text.contains("b.bin is binary"), "{text}");
    // Nothing takes the keys of who mends it.
    stage.wait(5_000);
    stage.keys("!");
    let text = stage.text();
    assert!(text.contains("› see") && text.contains("see @src/nope.rs !"), "{text}");
}

#[test]
fn a_paste_between_two_ctrl_c_is_not_thrown_away() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("draft<ctrl-c>");
    stage.say(Msg::Paste("pasted".into()));
    stage.keys("<ctrl-c>");
    assert!(!stage.effects.iter().any(|e| matches!(e, Effect::Quit(_))), "{:?}", stage.effects);
    stage.keys("<ctrl-c>");
    assert!(stage.effects.iter().any(|e| matches!(e, Effect::Quit(_))));
}

#[test]
fn a_plan_is_handed_over_with_one_key() {
    let mut stage = Stage::new(140, 40, "dark");
    let mut plan = status();
    plan.mode = Mode::Plan;
    stage.tell(opened(plan));
    let mut ask = |question: &str, answer: &str| {
        stage.keys(question);
        stage.keys("<enter>");
        stage.tell(EventBody::TurnStarted(TurnId(1)));
        stage.item(Item::Answer { text: answer.into() });
        stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
        stage.text()
    };
    assert!(!ask("why", "Because of the loop.").contains("runs the plan"));
    assert!(ask("plan it", "## Plan: one query\n\n1. `a.rs`").contains("Enter runs the plan"));
    stage.keys("x");
    assert!(!stage.text().contains("runs the plan"), "what is written is sent");
    stage.keys("<backspace><enter>");
    let prompt = nebula::protocol::Prompt { text: "Run the plan.".into() };
    assert!(stage.sent().ends_with(&[&Command::Set(Setting::Mode(Mode::Agent)), &Command::Submit(prompt)]));
}

#[test]
fn ctrl_c_clears_and_quits() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Interrupted));
    stage.keys("draft<ctrl-c>");
    assert!(!stage.text().contains("draft"));
    stage.keys("<ctrl-c>");
    assert!(stage.effects.iter().any(|e| matches!(e, Effect::Quit(_))));
}

#[test]
fn commands_do_what_they_say() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("/undo 2 src/a.rs<enter>/redo<enter>/plan<enter>/model gpt-5<enter>/theme light<enter>");
    let undo = RestoreRequest::Undo { count: 2, files: vec!["src/a.rs".into()] };
    let want = [
        Command::Open(SessionChoice::New),
        Command::Restore(undo),
        Command::Restore(RestoreRequest::Redo),
        Command::Set(Setting::Mode(nebula::protocol::Mode::Plan)),
        Command::Set(Setting::Model("gpt-5".into())),
        Command::Set(Setting::Theme("light".into())),
    ];
    assert_eq!(stage.sent(), want.iter().collect::<Vec<_>>());
}

#[test]
fn a_theme_is_shown_in_a_frame_and_esc_leaves_the_old_one() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    let before = stage.draw().0;
    stage.keys("/theme<enter>light");
    let tried = stage.draw().0;
    let grounds = |buffer: &Buffer| buffer.content.iter().filter(|cell| cell.bg == Color::Rgb(255, 255, 255)).count();
    assert!(grounds(&before) == 0 && grounds(&tried) > 100, "the frame has the ground that the theme is made for");
    assert!(stage.text().contains("Prices are loaded in one query."), "{}", stage.text());
    stage.keys("<esc>");
    assert_eq!(stage.draw().0, before);
}

#[test]
fn without_colours_no_theme_brings_any() {
    let mut stage = Stage::of_depth(140, 40, Options::default(), Depth::Mono);
    stage.tell(opened(status()));
    stage.say(Msg::Background((255, 255, 255)));
    let coloured = |stage: &Stage| {
        let none = |c: Color| matches!(c, Color::Reset);
        stage.draw().0.content.iter().any(|c| !none(c.fg) || !none(c.bg))
    };
    stage.keys("/theme<enter><down>");
    assert!(!coloured(&stage));
    assert!(stage.text().contains("for dark terminals; without colours here"), "{}", stage.text());
    stage.keys("<esc>/theme dark<enter>");
    assert!(!coloured(&stage));
    assert!(stage.text().contains("dark is kept for later"), "{}", stage.text());
    assert!(stage.sent().contains(&&Command::Set(Setting::Theme("dark".into()))));
}

#[test]
fn a_theme_with_a_mistake_says_where_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("themes")).expect("a folder");
    std::fs::write(folder.path().join("themes/mine.toml"), "inherits = \"dark\"\n[roles]\ntext = \"red\"\n")
        .expect("written");
    let options = Options {
        files: ScreenFiles::read(folder.path()),
        start: Start::Session(SessionChoice::New),
        ..Options::default()
    };
    // Wide enough for the folder of any machine's temporary files.
    let mut stage = Stage::with(300, 40, options);
    stage.tell(opened(status()));
    stage.keys("/theme<enter>mine");
    let text = stage.text();
    assert!(text.contains("has a mistake") && text.contains("mine.toml:3:1"), "{text}");
    stage.keys("<enter>");
    let text = stage.text();
    assert!(text.contains("mine.toml:3:1: text is red") && text.contains("fix it and start nebula again"), "{text}");
    assert!(!stage.sent().iter().any(|c| matches!(c, Command::Set(_))));
}

#[test]
fn an_open_list_of_files_is_requested_again_when_files_come() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    let files = |names: &[&str]| {
        let hits = names.iter().map(|n| (n.to_string(), vec![])).collect();
        Listing::Files { hits, total: names.len(), complete: true }
    };
    stage.keys("see @ca");
    stage.answer(|q| matches!(q, Query::Files(_)), files(&["src/cart.rs", "src/cash.rs"]));
    stage.keys("<down>");
    stage.effects.clear();
    stage.tell(EventBody::FilesChanged);
    stage.answer(|q| *q == Query::Files("ca".into()), files(&["ca", "src/cart.rs", "src/cash.rs"]));
    stage.keys("<tab>");
    assert!(stage.text().contains("see @src/cash.rs"), "{}", stage.text());
    stage.effects.clear();
    stage.tell(EventBody::FilesChanged);
    assert!(stage.sent().is_empty());
}

#[test]
fn an_open_review_is_requested_again_when_another_program_decides() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.effects.clear();
    stage.tell(EventBody::ReviewChanged);
    assert!(stage.sent().is_empty());
    stage.keys("<f8>");
    crate::keys::list_changes(&mut stage);
    stage.effects.clear();
    stage.tell(EventBody::ReviewChanged);
    stage.answer(|query| *query == Query::Review, Listing::Review(Vec::new()));
    assert!(stage.text().contains("nothing waits to be reviewed"), "{}", stage.text());
}

#[test]
fn nothing_wakes_an_idle_screen() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    assert_eq!(stage.app.wake(), None);
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    let wake = stage.app.wake().expect("a spinner");
    assert!(wake - NOW <= 125);
    stage.say(Msg::Focus(false));
    assert_eq!(stage.app.wake().expect("a slow spinner") % 1000, 0);
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    assert_eq!(stage.app.wake(), None);
}

#[test]
fn a_decision_gives_the_focus_back() {
    let mut stage = Stage::new(140, 40, "dark");
    proposing(&mut stage);
    assert!(stage.text().contains("proposal ━"));
    stage.keys("y<enter>");
    // A hunk was rejected, so the reason is asked for first.
    stage.keys("keep five<enter>");
    stage.wait(400);
    stage.keys("<enter>");
    let text = stage.text();
    assert!(text.contains(" chat ─") && text.contains("working"), "{text}");
    let decided = stage.sent().into_iter().any(
        |c| matches!(c, Command::Decide(_, d) if d.reason.as_deref() == Some("keep five") && d.count().accepted == 2),
    );
    assert!(decided, "{:?}", stage.sent());
}

#[test]
fn a_proposal_can_wait() {
    let mut stage = Stage::new(140, 40, "dark");
    proposing(&mut stage);
    stage.keys("<esc>");
    assert!(stage.text().contains("proposal: 2 files +9 −7, 3 hunks · F2 review") && stage.text().contains(" chat ─"));
    stage.keys("<f2>y");
    assert!(
        stage.text().contains("0 undecided") || stage.text().contains("3 hunks ready to write"),
        "{}",
        stage.text()
    );
}

#[test]
fn a_pane_opened_from_the_first_screen_leads_back_to_it() {
    for without in [false, true] {
        let mut stage = Stage::start(140, 40, "dark", Start::New);
        choosing(&mut stage);
        if without {
            without_model(&mut stage)
        } else {
            stage.tell(opened(status()))
        }
        stage.keys("<f3>");
        assert!(stage.text().contains(" archive ━"), "{}", stage.text());
        stage.keys("<esc><esc>");
        assert!(stage.text().contains(" recent ─"), "{}", stage.text());
    }
}

#[test]
fn without_a_model_only_arrows_and_enter_choose() {
    let mut stage = Stage::start(140, 42, "dark", Start::WithoutModel);
    assert!(stage.text().contains("◉ no model"), "nothing flashes before it:\n{}", stage.text());
    choosing(&mut stage);
    without_model(&mut stage);
    stage.keys("<up>");
    let before = stage.text();
    stage.keys("tcbqryna1 ");
    assert_eq!(stage.text(), before, "no letter does anything");
    stage.keys("fix the tests<enter>");
    assert_eq!(stage.text(), before, "Enter after words chooses nothing");
    stage.keys("<down><enter>");
    stage.keys("<enter>");
    stage.say(Msg::Paste("sk-secret".into()));
    stage.keys("<enter><enter>");
    let Some(Command::Connect(ConnectForm { id, .. })) = stage.sent().pop() else { panic!("the key is checked") };
    let id = *id;
    stage.tell(EventBody::Connectable(
        id,
        vec!["gpt-4.1".into(), "gpt-4.1-mini".into()],
        "gpt-4.1-mini".into(),
        std::time::Duration::from_millis(400),
    ));
    stage.keys("<up><enter>");
    let sent = stage.sent();
    let [_, Command::Connect(check), Command::Connect(form)] = sent[..] else { panic!("checked, then connected") };
    assert!(check.model.is_none() && form.model.as_deref() == Some("gpt-4.1"));
    let form = form.id;
    // Once it is connected the prompt stands there.
    stage.tell(EventBody::Status(status()));
    stage.tell(EventBody::Connected(form));
    assert!(stage.text().contains("› ask for a change"), "{}", stage.text());
    // The recent sessions are one Down below the choices too.
    let mut stage = Stage::start(140, 42, "dark", Start::WithoutModel);
    choosing(&mut stage);
    without_model(&mut stage);
    stage.keys("<down><down><enter>");
    assert!(matches!(stage.sent()[..], [_, Command::Open(SessionChoice::Resume(_))]));
}

/// A local server that is found while a key is typed connects, and the rest of the key still goes into the form.
#[test]
fn a_server_that_is_found_takes_no_key_from_the_form() {
    let mut stage = Stage::start(100, 30, "dark", Start::WithoutModel);
    choosing(&mut stage);
    without_model(&mut stage);
    stage.keys("<down><enter><enter>sk-se");
    stage.tell(EventBody::Status(status()));
    stage.say(Msg::Paste("cret".into()));
    let text = stage.text();
    assert!(text.contains("9 characters") && !text.contains("cret"), "{text}");
    stage.keys("<esc><esc>");
    let text = stage.text();
    assert!(text.contains("› ask for a change") && !text.contains("characters"), "{text}");
}

/// The form opens over a model that is connected; it closes when what it sent is connected, and not before.
#[test]
fn another_model_is_connected_from_the_palette() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("/connect<enter>");
    assert!(stage.text().contains("Anthropic"), "{}", stage.text());
    stage.keys("<down><enter>");
    stage.say(Msg::Paste("sk-secret".into()));
    assert!(!stage.text().contains("sk-secret"), "{}", stage.text());
    stage.keys("<enter><enter>");
    let sent = |stage: &Stage| match stage.sent().pop() {
        Some(Command::Connect(form)) => form.clone(),
        _ => panic!("the form is sent"),
    };
    let check = sent(&stage);
    assert_eq!((check.provider.as_str(), check.keep, check.model), ("anthropic", false, None));
    let models = vec!["claude-a".to_string(), "claude-b".into()];
    stage.tell(EventBody::Connectable(check.id, models, "claude-a".into(), std::time::Duration::from_millis(4)));
    // What is told of the model that is connected closes nothing.
    stage.tell(EventBody::Status(status()));
    stage.keys("<down><enter>");
    let form = sent(&stage);
    assert_eq!(form.model.as_deref(), Some("claude-b"));
    stage.tell(EventBody::Status(status()));
    stage.tell(EventBody::Connected(check.id));
    assert!(stage.text().contains("claude-b"), "the form is open:\n{}", stage.text());
    stage.tell(EventBody::Connected(form.id));
    assert!(!stage.text().contains("claude-b"), "{}", stage.text());
}

/// Returns where a text begins on the screen.
fn find(stage: &Stage, text: &str) -> (u16, u16) {
    let screen = stage.text();
    let found = screen.lines().enumerate().find_map(|(y, line)| Some((line.find(text).map(|at| &line[..at])?, y)));
    let (before, y) = found.unwrap_or_else(|| panic!("{text:?} is not there:\n{screen}"));
    (unicode_width::UnicodeWidthStr::width(before) as u16, y as u16)
}

fn mouse(stage: &mut Stage, kind: MouseEventKind, (column, row): (u16, u16)) {
    stage.say(Msg::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
}

fn click(stage: &mut Stage, text: &str) {
    let at = find(stage, text);
    mouse(stage, MouseEventKind::Down(MouseButton::Left), at);
    mouse(stage, MouseEventKind::Up(MouseButton::Left), at);
}

#[test]
fn the_mouse_chooses_in_popups_and_leaves_them() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("/");
    click(&mut stage, "/plan");
    assert!(stage.text().contains("read only, and end in a plan"), "{}", stage.text());
    click(&mut stage, "/plan");
    assert!(stage.sent().contains(&&Command::Set(Setting::Mode(Mode::Plan))), "{:?}", stage.sent());
    stage.keys("<f1>");
    assert!(stage.text().contains("keys of the input"));
    mouse(&mut stage, MouseEventKind::Down(MouseButton::Left), (0, 3));
    assert!(!stage.text().contains("keys of the input"));
    // The wheel shows other themes in their frame, as the keys do; the screen keeps its own until one is taken.
    let colours = |stage: &Stage| -> BTreeSet<String> {
        stage.draw().0.content.iter().map(|cell| format!("{:?}", (cell.fg, cell.bg))).collect()
    };
    let before = colours(&stage);
    stage.keys("/theme<enter>");
    let dark = colours(&stage);
    mouse(&mut stage, MouseEventKind::ScrollDown, (70, 15));
    assert_ne!(colours(&stage), dark);
    stage.keys("<esc>");
    assert_eq!(colours(&stage), before);
    // Under `@` a click selects, and a second one inserts.
    stage.keys("see @ca");
    let hits = vec![("src/cart.rs".to_string(), vec![]), ("src/cash.rs".to_string(), vec![])];
    stage.answer(|q| matches!(q, Query::Files(_)), Listing::Files { hits, total: 2, complete: true });
    click(&mut stage, "src/cash.rs");
    click(&mut stage, "src/cash.rs");
    assert!(stage.text().contains("› see @src/cash.rs"), "{}", stage.text());
}

#[test]
fn the_wheel_scrolls_the_list_that_is_under_it_and_a_click_selects() {
    let mut stage = Stage::start(140, 20, "dark", Start::New);
    stage.tell(opened(status()));
    let row = |n: usize| SessionRow {
        id: format!("s{n}"),
        title: format!("session number {n}."),
        state: SessionState::Ended,
        messages: 2,
        model: "m".into(),
        at: NOW,
    };
    let rows = (0..40).map(row).collect();
    stage.answer(|q| matches!(q, Query::Sessions(_)), Listing::Sessions(rows));
    assert!(stage.text().contains("session number 0."));
    mouse(&mut stage, MouseEventKind::ScrollDown, (10, 12));
    assert!(
        !stage.text().contains("session number 0.") && stage.text().contains("session number 3."),
        "{}",
        stage.text()
    );
    // The preview beside it is another place, and so is the line of hints.
    let scrolled = stage.text();
    for at in [(120, 12), (10, 19)] {
        mouse(&mut stage, MouseEventKind::ScrollDown, at);
        assert_eq!(stage.text(), scrolled, "{at:?}");
    }
    click(&mut stage, "session number 4.");
    assert!(stage.text().contains("▌  session number 4."), "{}", stage.text());
    stage.answer(|q| matches!(q, Query::Preview(id) if id == "s4"), Listing::Failed(String::new()));
    click(&mut stage, "session number 4.");
    assert!(stage.sent().contains(&&Command::Open(SessionChoice::Resume("s4".into()))), "{:?}", stage.sent());
}

#[test]
fn the_mouse_stays_on_a_question() {
    let asked = |stage: &mut Stage, text: &str, card: Option<CommandCard>| {
        let choices = ["first thing", "last thing"].map(|name| (name.to_string(), String::new())).into();
        let (permission, card) = (card.is_some(), card.map(Arc::new));
        let question = Question { id: QuestionId(1), text: text.into(), choices, permission, card, hold: None };
        stage.tell(EventBody::Asked(question));
        stage.wait(3_000);
    };
    let mut stage = Stage::new(140, 24, "dark");
    reading(&mut stage);
    let text: String = (0..40).map(|n| format!("echo line {n}.\n")).collect();
    asked(&mut stage, "", Some(CommandCard { text: text.clone(), ..CommandCard::default() }));
    mouse(&mut stage, MouseEventKind::ScrollDown, (20, 6));
    assert!(!stage.text().contains("line 0.") && stage.text().contains("line 1."), "{}", stage.text());
    click(&mut stage, "line 2.");
    assert!(stage.text().contains("line 2.") && stage.text().contains("deciding"), "it stays:\n{}", stage.text());
    // The words of a question scroll, and what is typed after a click into the input answers it.
    let mut stage = Stage::new(140, 24, "dark");
    reading(&mut stage);
    asked(&mut stage, &text, None);
    let at = find(&stage, "line 3.");
    mouse(&mut stage, MouseEventKind::ScrollDown, at);
    assert!(!stage.text().contains("line 0.") && stage.text().contains("line 1."), "{}", stage.text());
    click(&mut stage, "last thing");
    click(&mut stage, "› Tab to answer");
    stage.keys("neither<enter>");
    let answer = Command::Reply(QuestionId(1), Reply::Text("neither".into()));
    assert!(stage.sent().contains(&&answer), "{:?}", stage.sent());
}

#[test]
fn the_mouse_chooses_on_the_first_screen() {
    for (width, height) in [(140, 40), (60, 24), (40, 10)] {
        let mut stage = Stage::new(width, height, "dark");
        without_model(&mut stage);
        click(&mut stage, "▸ connect");
        assert!(stage.text().contains("▌▸ connect"), "{}", stage.text());
        click(&mut stage, "▸ connect");
        assert!(stage.text().contains("step 1 of 4"), "{}", stage.text());
        stage.keys("<esc>");
        click(&mut stage, "▸ tour");
        assert!(stage.text().contains("▌▸ tour"), "{}", stage.text());
    }
}

#[test]
fn the_mouse_chooses_what_is_restored_and_moves_the_edges() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    let proposal = Arc::new(proposal());
    let path = proposal.files[0].path.clone();
    let kind = RestoreStatus::Foreign {
        at: None,
        counts: Counts::default(),
        choice: None,
        conflicts: Some(0),
        rung: None,
        is_later: false,
    };
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(
        proposal.clone(),
        vec![RestorePreview { path: path.clone(), status: kind }],
    )));
    stage.wait(400);
    click(&mut stage, "restore this version");
    let wanted = RestoreRequest::Foreign { proposal: proposal.id, path, choice: ForeignChoice::RestoreVersion };
    assert!(stage.sent().contains(&&Command::Restore(wanted)), "{:?}", stage.sent());
    stage.tell(EventBody::Proposal(ProposalEvent::Settled(proposal.id, Outcome::Withdrawn)));
    // Where nothing is left to choose, a click goes on to what would be written.
    let again = Arc::new(Proposal { id: ProposalId(77), ..(*proposal).clone() });
    let preview = RestorePreview {
        path: again.files[0].path.clone(),
        status: RestoreStatus::Restore(RestoreFate::Content, Counts::default()),
    };
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(again, vec![preview])));
    stage.wait(400);
    click(&mut stage, "previews");
    assert!(stage.text().contains("hunks undecided"), "{}", stage.text());
    stage.tell(EventBody::Proposal(ProposalEvent::Settled(ProposalId(77), Outcome::Withdrawn)));
    let (x, y) = find(&stage, "archive ──");
    mouse(&mut stage, MouseEventKind::Down(MouseButton::Left), (x, y));
    mouse(&mut stage, MouseEventKind::Drag(MouseButton::Left), (x, y - 6));
    mouse(&mut stage, MouseEventKind::Up(MouseButton::Left), (x, y - 6));
    assert_eq!(find(&stage, "archive ━━").1, y - 6);
    stage.wait(400);
    stage.keys("--");
    assert_eq!(find(&stage, "archive ━━").1, y - 2);
}

#[test]
fn no_tab_is_cut_in_the_narrowest_terminal() {
    for scene in [working as Scene, asking] {
        let mut stage = Stage::new(40, 10, "dark");
        scene(&mut stage);
        let text = stage.text();
        let tabs = text.lines().find(|l| l.contains("tools")).expect("the line of tabs");
        assert!(tabs.contains("chat") && tabs.contains("archive"), "{text}");
    }
}

#[test]
fn a_passing_note_leaves_the_banner_whole() {
    let of_language = |language, [waits, again, banner, note]: [&str; 4]| {
        with(language, || {
            let mut stage = Stage::new(80, 24, "dark");
            proposing(&mut stage);
            stage.keys("A");
            let text = stage.text();
            assert!(text.contains(waits) && text.contains(again), "{text}");
            stage.keys("<esc>");
            let text = stage.text();
            assert!(text.contains(banner) && !text.contains(note), "{text}");
        });
    };
    let again = "A again to approve all further edits in this session";
    of_language(Language::English, ["1 of 3 undecided ──", again, "3 hunks · F2 review ━", "shows it"]);
    let again = "もう一度Aを押すと、このセッションの今後の編集をすべて承認します";
    of_language(Language::Japanese, ["3件中1件が未決定 ──", again, "F2 レビュー ━", "F2で表示"]);
}

#[test]
fn what_fills_the_body_says_how_to_leave_it() {
    for key in ["<f7>", "<f8>", "<f9>"] {
        let mut stage = Stage::new(80, 24, "dark");
        reading(&mut stage);
        stage.keys(key);
        let text = stage.text();
        assert!(text.contains("› Esc to write to nebula"), "{key}: {text}");
    }
    let mut stage = Stage::new(80, 24, "dark");
    reading(&mut stage);
    stage.keys("/sessions<enter>");
    assert!(stage.text().contains("Esc back"), "{}", stage.text());
}

#[test]
fn the_question_about_a_conflict_names_its_keys_in_a_narrow_terminal() {
    let mut stage = Stage::new(80, 24, "dark");
    stage.tell(opened(status()));
    graph(&mut stage);
    stage.keys("<home>T");
    let text = stage.text();
    assert!(text.contains("Enter yes, any other key no: issue again"), "{text}");
    assert!(!text.contains("Enter open"), "{text}");
}

#[test]
fn the_next_hit_has_the_plain_key_where_nothing_is_decided() {
    let mut stage = Stage::new(140, 42, "dark");
    stage.tell(opened(status()));
    stage.tell(archived("touch a"));
    stage.answer(|query| *query == Query::SessionDiff, Listing::SessionDiff(Some(Arc::new(proposal()))));
    stage.keys("<f2>/pri<enter>");
    let text = stage.text();
    assert!(text.contains("n N next, previous match") && !text.contains("Ctrl-N"), "{text}");
    let mut stage = Stage::new(140, 42, "dark");
    proposing(&mut stage);
    stage.keys("/pri<enter>");
    let text = stage.text();
    assert!(text.contains("Ctrl-N N next, previous match"), "{text}");
}

#[test]
fn a_line_of_an_earlier_session_leads_to_its_turn() {
    let mut stage = Stage::new(140, 42, "dark");
    stage.tell(opened(status()));
    stage.keys("/blame a.rs<enter>");
    let cause = BlameCause {
        kind: PastKind::Edit,
        unsure: false,
        at: Some(NOW - 600_000),
        changeset: Some("01990001".into()),
        turn: Some(("earlier".into(), 1)),
        prompt: "write it".into(),
        prompted_at: Some(NOW - 700_000),
        title: String::new(),
    };
    let (path, text) = ("a.rs".to_string(), "fn a() {}\n".into());
    let file = BlamedFile { path, text, causes: vec![cause], lines: vec![0], commits: Vec::new() };
    stage.answer(|query| matches!(query, Query::Blame(_)), Listing::Blame(file));
    stage.keys("<enter>");
    let resumed = Command::Open(SessionChoice::Resume("earlier".into()));
    assert!(stage.sent().contains(&&resumed), "{:?}", stage.sent());
    let info = SessionInfo { id: "earlier".into(), title: None, resumed: 2, status: status() };
    stage.tell(EventBody::Opened(info));
    let said = |text: &str, at| Item::User { text: text.into(), at, attached: Vec::new() };
    let items = [said("write it", NOW - 700_000), said("and more", NOW - 60_000)];
    stage.tell(EventBody::Recalled((100..).map(ItemId).zip(items).collect()));
    assert!(matches!(stage.app.focus(), Focus::Pane(_)), "{:?}", stage.app.focus());
    assert!(stage.text().contains("write it"), "{}", stage.text());
}
