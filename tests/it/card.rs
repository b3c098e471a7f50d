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

#[test]
fn an_emptied_text_changes_nothing() {
    let mut stage = with_card(CommandCard { text: "ls".into(), source: "ls".into(), ..CommandCard::default() });
    stage.keys("e<backspace><backspace><enter>");
    assert!(decided(&stage).is_empty());
    assert!(stage.text().contains("$ ls"), "the card still stands:\n{}", stage.text());
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
