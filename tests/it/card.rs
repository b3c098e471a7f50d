//! The card of a command that waits, as the person works with it.

use std::sync::Arc;

use nebula::protocol::*;
use nebula::tui::app::Effect;

use crate::scenes::*;

fn ask(stage: &mut Stage, id: u64, card: Option<CommandCard>) {
    let choices = vec![("run".into(), String::new()), ("no".into(), String::new())];
    let (text, card) = ("Run this command?".into(), card.map(Arc::new));
    stage.tell(EventBody::Asked(Question { id: QuestionId(id), text, choices, permission: true, card, hold: None }));
}

fn with_card(card: CommandCard) -> Stage {
    let mut stage = Stage::new(100, 40, "dark");
    stage.tell(opened(status()));
    ask(&mut stage, 1, Some(card));
    stage.wait(3_000);
    stage
}

fn decided(stage: &Stage) -> Vec<&CommandDecision> {
    let decision = |effect| match effect {
        &Effect::Send(Command::DecideCommand(_, ref decision)) => Some(decision),
        _ => None,
    };
    stage.effects.iter().filter_map(decision).collect()
}

#[test]
fn the_text_that_is_changed_is_the_text_that_would_run() {
    let source = "echo a\u{200b}b".to_string();
    let text = "echo a⟨U+200B⟩b".to_string();
    let mut stage = with_card(CommandCard { text, source: source.clone(), ..CommandCard::default() });
    stage.keys("e<enter>");
    assert_eq!(decided(&stage), [&CommandDecision::Edit(source)]);
}

/// A changed text is judged anew: until then no key is a message, and the new card stands there at once.
#[test]
fn the_card_of_a_changed_command_takes_the_place_of_the_one_before() {
    let card = |text: &str| CommandCard { text: text.into(), source: text.into(), ..CommandCard::default() };
    let mut stage = with_card(card("rm one"));
    stage.keys("e<backspace><backspace><backspace>two<enter>y<enter>");
    assert_eq!(decided(&stage), [&CommandDecision::Edit("rm two".into())]);
    ask(&mut stage, 1, Some(card("rm two")));
    assert!(stage.text().contains("$ rm two"), "{}", stage.text());
    stage.keys("y");
    assert_eq!(decided(&stage).len(), 1, "it was meant for the card before");
    stage.wait(500);
    stage.keys("y");
    assert_eq!(decided(&stage)[1..], [&CommandDecision::Run { network: false }]);
    stage.tell(EventBody::Answered(QuestionId(1)));
    assert!(!stage.text().contains("$ rm two"), "{}", stage.text());
    assert!(!stage.sent().iter().any(|command| matches!(command, Command::Submit(_))), "{:?}", stage.sent());
}

#[test]
fn an_emptied_text_changes_nothing() {
    let mut stage = with_card(CommandCard { text: "ls".into(), source: "ls".into(), ..CommandCard::default() });
    stage.keys("e<backspace><backspace><enter>");
    assert!(decided(&stage).is_empty());
    assert!(stage.text().contains("$ ls"), "the card still stands:\n{}", stage.text());
}

#[test]
fn the_key_for_all_commands_of_the_session_is_asked_twice() {
    let mut stage = with_card(CommandCard { text: "ls".into(), may_review: true, ..CommandCard::default() });
    stage.keys("A");
    assert!(
        decided(&stage).is_empty() && stage.text().contains("once more: in this session what can be undone"),
        "{}",
        stage.text()
    );
    stage.keys("A");
    assert_eq!(decided(&stage), [&CommandDecision::Review]);
}

#[test]
fn the_banner_counts_all_open_questions() {
    let mut stage = Stage::new(100, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("a draft");
    let harm = || Some(CommandCard { class: CommandClass::Harm, ..CommandCard::default() });
    ask(&mut stage, 1, harm());
    assert!(stage.text().contains("1 command, harm"), "{}", stage.text());
    ask(&mut stage, 2, harm());
    assert!(stage.text().contains("2 commands"), "{}", stage.text());
    ask(&mut stage, 3, None);
    assert!(stage.text().contains("3 questions"), "{}", stage.text());
}

/// The key that approves all edits asks once more: what it asks is read whole beside what waits, on a narrow screen too.
#[test]
fn what_a_second_press_does_is_read_whole() {
    let mut stage = Stage::new(80, 24, "dark");
    proposing(&mut stage);
    stage.keys("A");
    let text = stage.text();
    assert!(
        text.contains("◉ waiting for you: 1 of 3 undecided")
            && text.contains(" A again to approve all further edits in this session"),
        "{text}"
    );
}

#[test]
fn an_answer_about_a_hunk_keeps_its_words() {
    let mut stage = Stage::new(140, 60, "dark");
    proposing(&mut stage);
    let about = nebula::protocol::Comment { file: 1, hunk: 0, text: "why?".into() };
    let answer = "Call it as `f(**kwargs)`, or 2**n.\n- **never** as `f()`\n2. with `a`";
    stage.tell(EventBody::Proposal(ProposalEvent::CommentAnswer(proposal().id, about, answer.into())));
    let screen = stage.text();
    for words in ["Call it as f(**kwargs), or 2**n.", "- never as f()", "2. with a"] {
        assert!(screen.contains(words), "{screen}");
    }
}

/// A command of which a part has no room says so, and is agreed to once its last row was in sight.
#[test]
fn what_has_no_room_is_told_and_read_before_it_is_agreed_to() {
    for (width, height) in [(80, 24), (40, 10)] {
        let text = (0..12).map(|n| format!("echo line {n}\n")).collect::<String>() + "rm -rf src";
        let mut stage = Stage::new(width, height, "dark");
        stage.tell(opened(status()));
        let why = "the worst part decides".to_string();
        ask(
            &mut stage,
            1,
            Some(CommandCard { text, class_why: why, grant: "the workspace".into(), ..CommandCard::default() }),
        );
        stage.wait(3_000);
        let screen = stage.text();
        assert!(screen.contains(" more rows   PgDn") && !screen.contains("rm -rf src"), "{screen}");
        assert!(screen.contains("the worst part decides") && screen.contains("the workspace"), "{screen}");
        let (mut was_seen, mut presses) = (false, 0);
        while decided(&stage).is_empty() {
            was_seen |= stage.text().contains("rm -rf src");
            stage.keys("y");
            presses += 1;
            assert!(presses < 30, "{}", stage.text());
        }
        assert!(was_seen && presses > 1, "{presses}");
        assert_eq!(decided(&stage), [&CommandDecision::Run { network: false }]);
    }
}

/// A long text gives way to the choices: the one that Enter takes is in sight at every size.
#[test]
fn the_choice_that_enter_takes_is_in_sight_below_a_long_text() {
    for (width, height) in [(40, 10), (40, 12), (60, 16), (80, 24), (140, 40)] {
        for permission in [true, false] {
            let mut stage = Stage::new(width, height, "dark");
            stage.tell(opened(status()));
            let text = format!("Read {}the-end outside the workspace?", "long/".repeat(500));
            let choices = ["first thing", "last thing"].map(|name| (name.to_string(), String::new())).into();
            stage.tell(EventBody::Asked(Question {
                id: QuestionId(1),
                text,
                choices,
                permission,
                card: None,
                hold: None,
            }));
            stage.wait(3_000);
            let screen = stage.text();
            let default = if permission { "n   last thing" } else { "1   first thing" };
            assert!(screen.contains(default), "{screen}");
            // In the largest all of it has room.
            assert_eq!(screen.contains(" more rows   PgDn"), height < 40, "{screen}");
            for _ in 0..90 {
                stage.keys("<pagedown>");
            }
            assert!(stage.text().contains("the workspace?") && stage.text().contains(default), "{}", stage.text());
        }
    }
}

#[test]
fn the_person_is_called_once_for_questions_that_wait_together() {
    let mut stage = Stage::new(80, 24, "dark");
    stage.tell(opened(status()));
    ask(&mut stage, 1, None);
    ask(&mut stage, 2, None);
    assert_eq!(stage.effects.iter().filter(|effect| matches!(effect, Effect::Bell(_))).count(), 1);
}

#[test]
fn the_key_of_a_proposal_names_that_of_a_command_that_waits() {
    for (width, height) in [(80, 24), (140, 40)] {
        let mut stage = Stage::new(width, height, "dark");
        stage.tell(opened(status()));
        stage.keys("<f2>");
        assert!(stage.text().contains("nothing is proposed, and this session"), "{}", stage.text());
        ask(&mut stage, 1, Some(CommandCard { text: "rm -r build".into(), ..CommandCard::default() }));
        stage.keys("<esc><f2>");
        let text = stage.text();
        assert!(text.contains("nothing is proposed; F6 shows what waits for your answer"), "{text}");
    }
}

/// The banner keeps its key in the narrowest terminal, and the tab says that nothing is proposed any more.
#[test]
fn a_proposal_is_named_with_its_key_and_only_while_it_waits() {
    let mut stage = Stage::new(40, 12, "dark");
    stage.tell(opened(status()));
    stage.keys("a draft");
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(Arc::new(proposal()), Vec::new())));
    assert!(stage.text().contains("◉ proposal: 2 files · F2 review"), "{}", stage.text());
    let mut stage = Stage::new(80, 24, "dark");
    proposing(&mut stage);
    let tabs = |stage: &Stage| stage.text().lines().find(|row| row.contains("tools")).map(str::to_string);
    stage.tell(EventBody::Proposal(ProposalEvent::Settled(proposal().id, Outcome::Refused)));
    let tabs = tabs(&stage).expect("the tabs");
    assert!(!tabs.contains("proposal") && tabs.contains("diff"), "{tabs}");
}

#[test]
fn on_a_small_screen_the_rows_that_the_keys_leave_are_the_cards() {
    let mut stage = Stage::new(44, 16, "dark");
    stage.tell(opened(status()));
    let text: String = (0..30).map(|n| format!("echo {n}\n")).collect();
    let prefix = (vec!["echo".to_string()], 1);
    let (may_network, may_review) = (true, true);
    ask(&mut stage, 1, Some(CommandCard { text, prefix, may_network, may_review, ..CommandCard::default() }));
    stage.wait(3_000);
    let lines = stage.text();
    assert!(lines.matches("echo ").count() >= 4 && lines.contains("more rows"), "{lines}");
    assert!(["n ", "e ", "Esc "].iter().all(|key| lines.contains(key)), "{lines}");
}
