//! The law of focus: no key that a person meant as text ever decides anything.

use std::collections::VecDeque;
use std::sync::Arc;

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use nebula::proposal::{Proposal, ProposalId, RestorePreview, RestoreStatus};
use nebula::protocol::*;
use nebula::tui::app::{Effect, Focus, Msg, Start};
use proptest::prelude::*;

use crate::keys::list_changes;
use crate::scenes::*;

/// An event that arrives while the person types.
#[derive(Debug, Clone, Copy)]
enum Arrival {
    Proposal,
    Question {
        choices: bool,
    },
    Permission,
    /// A command that waits for its decision.
    Card,
    /// A call of a running command.
    Hold,
    CommitMessage,
    /// A message that could not be sent comes back.
    Returned,
}

fn arrive(stage: &mut Stage, arrival: Arrival, n: u64) {
    match arrival {
        Arrival::CommitMessage => stage.tell(EventBody::CommitMessage("Say hello".into())),
        Arrival::Returned => {
            let prompt = Prompt { text: "look at @none.rs".into() };
            stage.tell(EventBody::Returned(prompt, "there is no file none.rs".into()));
        }
        Arrival::Proposal => {
            let proposal = Proposal { id: ProposalId(100 + n), ..proposal() };
            stage.tell(EventBody::Proposal(ProposalEvent::Proposed(Arc::new(proposal), Vec::new())));
        }
        Arrival::Question { choices: false } => stage.tell(EventBody::Asked(question(n, "Which folder?", &[]))),
        Arrival::Question { .. } => {
            stage.tell(EventBody::Asked(question(n, "Delete the folder?", &["yes, delete it", "no"])))
        }
        Arrival::Permission => {
            stage.tell(EventBody::Asked(Question {
                permission: true,
                ..question(n, "Delete the folder?", &["yes", "no"])
            }));
        }
        Arrival::Card => {
            let card = CommandCard { text: "make all".into(), source: "make all".into(), ..CommandCard::default() };
            let asked = question(n, "Run this command?", &["run", "no"]);
            stage.tell(EventBody::Asked(Question { permission: true, card: Some(Arc::new(card)), ..asked }));
        }
        Arrival::Hold => {
            let (command, wants) = ("c7".to_string(), "make wants to change .envrc".to_string());
            let hold = HoldCard { command, wants, keys: vec!['y', 'a', 'x', 'n'], ..HoldCard::default() };
            let asked = question(n, "c7 is held", &["allow", "allow all", "stop", "refuse"]);
            stage.tell(EventBody::Asked(Question { permission: true, hold: Some(Arc::new(hold)), ..asked }));
        }
    }
}

fn question(n: u64, text: &str, choices: &[&str]) -> Question {
    let choices = choices.iter().map(|name| (name.to_string(), String::new())).collect();
    Question { id: QuestionId(100 + n), text: text.into(), choices, permission: false, card: None, hold: None }
}

/// Commands and effects that decide something, or act on a file.
fn decided(stage: &Stage) -> Vec<&Effect> {
    let decides = |effect: &&Effect| match effect {
        Effect::Send(command) => matches!(
            command,
            Command::Decide(..)
                | Command::Reply(..)
                | Command::Restore(_)
                | Command::Interrupt
                | Command::Set(_)
                | Command::Commit(_)
                | Command::DecideCommand(..)
                | Command::DecideConflict(..)
                | Command::KeepReviewed(_)
        ),
        Effect::Edit { .. } | Effect::OpenFile(_) | Effect::Quit(_) => true,
        _ => false,
    };
    stage.effects.iter().filter(decides).collect()
}

/// Everything that a person types who writes messages: letters, digits, signs, corrections, and Enter.
fn typed() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => "[a-zA-Z0-9 .,:;!\\-]",
        2 => Just("<backspace>".to_string()),
        2 => Just("<enter>".to_string()),
        1 => Just("<space>".to_string()),
    ]
}

/// People who type for a minute: more of them on demand, `NEBULA_TYPISTS=2000 cargo test --test it focus`.
fn typists() -> u32 {
    std::env::var("NEBULA_TYPISTS").ok().and_then(|n| n.parse().ok()).unwrap_or(24)
}

/// A person who types while things arrive and go.
struct Typist {
    stage: Stage,
    proposals: VecDeque<u64>,
    questions: VecDeque<(u64, Arrival)>,
    arrived: u64,
    /// The line that stands is for the review queue, which nothing takes away.
    reviews: bool,
}

impl Typist {
    fn arrive(&mut self, arrival: Arrival) {
        self.arrived += 1;
        arrive(&mut self.stage, arrival, self.arrived);
        match arrival {
            Arrival::Proposal => self.proposals.push_back(self.arrived),
            Arrival::CommitMessage | Arrival::Returned => {}
            question => self.questions.push_back((self.arrived, question)),
        }
    }

    /// The proposal and the question that wait first go by themselves, and every fourth time the turn with them.
    fn withdraw(&mut self, n: usize) {
        if let Some(id) = self.proposals.pop_front() {
            self.stage.tell(EventBody::Proposal(ProposalEvent::Settled(ProposalId(100 + id), Outcome::Withdrawn)));
        }
        if let Some((id, _)) = self.questions.pop_front() {
            self.stage.tell(EventBody::Answered(QuestionId(100 + id)));
        }
        if n % 4 == 3 {
            self.stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Interrupted));
            self.stage.tell(EventBody::TurnStarted(TurnId(1)));
            self.questions.retain(|(_, arrival)| matches!(arrival, Arrival::Hold));
        }
    }

    /// Begins a reason, for the proposal, the command or the changes that wait, where there is one to begin; or leaves
    /// that for the changes.
    fn reason(&mut self, about: usize) {
        if std::mem::take(&mut self.reviews) {
            return self.stage.keys("<esc><esc>");
        }
        let card = matches!(self.questions.front(), Some((_, Arrival::Card)));
        let keys = match about {
            _ if self.stage.app.focus() != Focus::Input => return,
            0 if !self.proposals.is_empty() => "<f2>r",
            1 if card => "<f6>n",
            2 => "<f8>",
            _ => return,
        };
        self.stage.wait(500);
        self.stage.keys(keys);
        self.reviews = about == 2;
        if self.reviews {
            list_changes(&mut self.stage);
            self.stage.keys("r");
        }
        assert_eq!(self.stage.app.focus(), Focus::Line, "{keys}: {}", self.stage.text());
    }

    /// Types a key of a message, or of a reason; the Enter that would give the reason is not pressed.
    fn type_key(&mut self, key: &str, pause: i64) {
        self.stage.wait(pause);
        if self.stage.app.focus() != Focus::Line || key != "<enter>" {
            // A message never begins with a sign that opens a list.
            self.stage.keys(key);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: typists(), ..ProptestConfig::default() })]

    #[test]
    fn whoever_types_for_a_minute_decides_nothing(
        keys in prop::collection::vec((typed(), 30i64..1500), 80..140),
        arrivals in prop::collection::vec((0usize..80, any::<bool>()), 48),
        reasons in prop::collection::vec((0usize..80, 0usize..3), 0..8),
        gone in prop::collection::vec(0usize..80, 0..16),
    ) {
        let mut stage = Stage::new(140, 40, "dark");
        reading(&mut stage);
        let arrival = |n: usize, choices: bool| match n {
            0..20 => Arrival::Proposal,
            20..24 => Arrival::CommitMessage,
            24..30 => Arrival::Question { choices },
            30..34 => Arrival::Permission,
            34..42 => Arrival::Card,
            42..46 => Arrival::Hold,
            _ => Arrival::Returned,
        };
        stage.keys("so");
        let mut typist = Typist { stage, proposals: VecDeque::new(), questions: VecDeque::new(), arrived: 0, reviews: false };
        for (step, (key, pause)) in keys.iter().enumerate() {
            for (n, (_, choices)) in arrivals.iter().enumerate().filter(|(_, (at, _))| *at == step) {
                typist.arrive(arrival(n, *choices));
            }
            gone.iter().enumerate().filter(|(_, at)| **at == step).for_each(|(n, _)| typist.withdraw(n));
            // From a reason the person is led back to the message by what goes.
            reasons.iter().filter(|(at, _)| *at == step).for_each(|(_, about)| typist.reason(*about));
            typist.type_key(key, *pause);
        }
        prop_assert_eq!(typist.arrived, 48);
        prop_assert!(decided(&typist.stage).is_empty(), "{:?}", decided(&typist.stage));
    }
}

#[test]
fn a_draft_keeps_the_keys_and_a_banner_tells_what_waits() {
    let mut stage = Stage::new(140, 42, "dark");
    reading(&mut stage);
    stage.keys("and don't");
    arrive(&mut stage, Arrival::Proposal, 1);
    stage.wait(60_000);
    let text = stage.text();
    assert!(text.contains("◉ proposal: 2 files +9 −7, 3 hunks · F2 review ━"), "{text}");
    assert!(text.contains("Esc interrupts") && text.contains("› and don't"), "{text}");
    assert!(!text.contains("reviewing"), "{text}");
    stage.dump("draft-banner");
    // F2 goes there, and Esc leads home with the draft as it was.
    stage.keys("<f2>");
    assert!(stage.text().contains("reviewing"), "{}", stage.text());
    stage.keys("<f2>");
    assert!(stage.text().contains("reviewing"), "a second press stays");
    stage.keys("<esc>!");
    assert!(stage.text().contains("› and don't!") && decided(&stage).is_empty(), "{}", stage.text());
}

/// Words behind it mean nothing: they stay in the input, during a turn too, and it is said.
#[test]
fn words_behind_a_command_that_takes_none_stay_in_the_input() {
    for is_busy in [false, true] {
        let mut stage = Stage::new(140, 40, "dark");
        reading(&mut stage);
        if !is_busy {
            stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
            stage.wait(1_000);
        }
        stage.keys("/compact keep the names<enter>");
        let screen = stage.text();
        assert!(screen.contains("› /compact keep the names") && screen.contains("no words but undo"), "{screen}");
        assert!(!stage.sent().iter().any(|command| matches!(command, Command::Compact)), "{:?}", stage.sent());
    }
}

/// Who decides later, or begins to write, is waited for.
#[test]
fn whoever_leaves_the_choices_of_a_question_is_waited_for() {
    for keys in ["<esc>", "<tab>", "<tab>my own words", "x", ""] {
        let mut stage = Stage::new(100, 40, "dark");
        reading(&mut stage);
        stage.tell(EventBody::Asked(question(1, "Is it to count?", &["use it", "drop it"])));
        stage.wait(10_000);
        stage.keys(keys);
        let later = stage.sent().iter().filter(|command| matches!(command, Command::Later(QuestionId(101)))).count();
        assert_eq!(later, usize::from(!keys.is_empty()), "{keys}: {:?}", stage.sent());
    }
}

/// What cannot be done during a turn is in the input again, and is done once the turn is over.
#[test]
fn a_command_that_has_to_wait_goes_back_into_the_input() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    let undone = |stage: &Stage| stage.sent().iter().any(|command| matches!(command, Command::UndoCompact));
    stage.keys("/compact undo<enter>");
    assert!(stage.text().contains("› /compact undo"), "{}", stage.text());
    assert!(!undone(&stage), "{:?}", stage.sent());
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    stage.wait(1_000);
    stage.keys("<enter>");
    assert!(undone(&stage) && !stage.text().contains("› /compact undo"), "{}", stage.text());
}

/// A command that puts something into the input leaves it there.
#[test]
fn what_a_typed_command_puts_into_the_input_stays() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("/rag price of a line<enter>");
    assert!(stage.text().contains("@rag price of a line"), "{}", stage.text());
}

#[test]
fn a_draft_is_no_answer() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.keys("then run the tests");
    arrive(&mut stage, Arrival::Question { choices: true }, 1);
    stage.wait(10_000);
    assert!(stage.text().contains("? question · F6 answer"), "{}", stage.text());
    stage.keys("<enter>");
    assert!(decided(&stage).is_empty(), "{:?}", decided(&stage));
    assert!(stage.text().contains("then run the tests"), "it is queued: {}", stage.text());
    // Also a draft that was begun after the question came.
    stage.keys("so a draft<f6><enter>");
    assert!(decided(&stage).is_empty(), "nothing is selected beside a draft: {:?}", decided(&stage));
    stage.keys("<down><down><enter>");
    assert!(matches!(decided(&stage)[..], [Effect::Send(Command::Reply(_, Reply::Choice(1)))]));
}

#[test]
fn approving_all_edits_is_hinted_where_they_are_asked_about() {
    for (approval, is_hinted) in [(Approval::Ask, true), (Approval::Edits, false)] {
        let mut stage = Stage::new(220, 40, "dark");
        reading(&mut stage);
        stage.tell(EventBody::Status(Status { approval, ..status() }));
        arrive(&mut stage, Arrival::Proposal, 1);
        stage.wait(10_000);
        assert_eq!(stage.text().contains("A all edits"), is_hinted, "{}", stage.text());
    }
}

/// A turn, and a proposal that waits with it, are named before another session takes their place.
#[test]
fn another_session_ends_no_turn_unnamed() {
    let opens = |stage: &Stage| stage.sent().iter().filter(|command| matches!(command, Command::Open(_))).count();
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    let before = opens(&stage);
    stage.keys("/new<enter>");
    assert!(stage.text().contains("a turn is running; the same again ends it"), "{}", stage.text());
    assert_eq!(opens(&stage), before);
    stage.keys("/new<enter>");
    assert_eq!(opens(&stage), before + 1);
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    arrive(&mut stage, Arrival::Proposal, 1);
    stage.wait(10_000);
    stage.keys("<esc>/new<enter>");
    assert!(stage.text().contains("a proposal waits; the same again drops it"), "{}", stage.text());
    assert_eq!(opens(&stage), before);
    // Each turn is, also before it has begun.
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    for _ in 0..2 {
        stage.keys("go on<enter>/new<enter>");
        assert!(stage.text().contains("a turn is running; the same again ends it"), "{}", stage.text());
        assert_eq!(opens(&stage), before);
        stage.tell(EventBody::TurnStarted(TurnId(1)));
        stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    }
    // Without a turn nothing is asked.
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("/new<enter>");
    assert_eq!(opens(&stage), before + 1);
}

/// Whoever began to write an answer, and goes back to the choices, has selected none of them.
#[test]
fn an_answer_that_was_begun_takes_what_was_selected() {
    for back in ["<esc>", "<f6>"] {
        for selected in ["", "<down>"] {
            let mut stage = Stage::new(100, 40, "dark");
            reading(&mut stage);
            arrive(&mut stage, Arrival::Question { choices: true }, 1);
            stage.wait(10_000);
            stage.keys(&format!("{selected}<tab>both{back}<enter>"));
            assert!(decided(&stage).is_empty(), "{selected} {back}: {:?}", decided(&stage));
            assert!(stage.text().contains("both"), "{}", stage.text());
            stage.keys("<down><enter>");
            assert!(matches!(decided(&stage)[..], [Effect::Send(Command::Reply(_, Reply::Choice(0)))]));
        }
    }
    // A permission falls back to *no*.
    let mut stage = Stage::new(100, 40, "dark");
    reading(&mut stage);
    arrive(&mut stage, Arrival::Permission, 1);
    stage.wait(10_000);
    stage.keys("y<tab>only the first<esc><enter>");
    assert!(
        matches!(decided(&stage)[..], [Effect::Send(Command::Reply(_, Reply::Choice(1)))]),
        "{:?}",
        decided(&stage)
    );
}

#[test]
fn what_waits_takes_the_keys_once_typing_has_stopped() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.keys("x<backspace>");
    arrive(&mut stage, Arrival::Proposal, 1);
    stage.wait(1_500);
    assert!(!stage.text().contains("reviewing"), "{}", stage.text());
    assert_eq!(stage.app.wake(), Some(NOW + 2_000));
    stage.wait(500);
    assert!(stage.text().contains("reviewing"), "{}", stage.text());
    // Its keys work once none has come for 400 ms.
    stage.keys("a");
    stage.wait(399);
    stage.keys("a");
    assert!(decided(&stage).is_empty());
    stage.wait(400);
    stage.keys("a");
    assert!(matches!(decided(&stage)[..], [Effect::Send(Command::Decide(..))]));
}

#[test]
fn a_commit_message_waits_for_the_end_of_a_draft() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    stage.keys("and then");
    arrive(&mut stage, Arrival::CommitMessage, 1);
    stage.wait(10_000);
    stage.keys("<enter>");
    assert!(decided(&stage).is_empty(), "{:?}", decided(&stage));
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    stage.keys("x");
    arrive(&mut stage, Arrival::CommitMessage, 1);
    assert!(stage.text().contains("the commit message waits"), "{}", stage.text());
    stage.keys("<backspace>");
    stage.wait(2_000);
    assert!(stage.text().contains("Say hello"), "{}", stage.text());
    arrive(&mut stage, Arrival::Proposal, 2);
    stage.keys("<enter>");
    assert!(decided(&stage).is_empty(), "keys of who still types");
    stage.wait(400);
    stage.keys("<enter>");
    assert!(matches!(decided(&stage)[..], [Effect::Send(Command::Commit(_))]), "{:?}", decided(&stage));
}

#[test]
fn a_commit_message_is_shown_before_anything_was_said() {
    let mut stage = Stage::start(140, 40, "dark", Start::New);
    stage.tell(opened(status()));
    stage.keys("/commit<enter>");
    assert!(stage.text().contains("writing a commit message"), "{}", stage.text());
    stage.keys("x");
    arrive(&mut stage, Arrival::CommitMessage, 1);
    assert!(stage.text().contains("the commit message waits"), "{}", stage.text());
    stage.keys("<backspace>");
    stage.wait(2_000);
    assert!(stage.text().contains("Say hello"), "{}", stage.text());
    stage.wait(400);
    stage.keys("<enter>");
    assert!(matches!(decided(&stage)[..], [Effect::Send(Command::Commit(_))]), "{:?}", decided(&stage));
}

#[test]
fn a_commit_message_opens_at_once_where_nothing_was_typed_since() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("/commit<enter>");
    stage.wait(500);
    arrive(&mut stage, Arrival::CommitMessage, 1);
    assert!(stage.text().contains("Say hello"), "{}", stage.text());
    stage.keys("<esc>");
    stage.wait(500);
    stage.keys("/commit<enter>");
    stage.wait(500);
    stage.keys("x<backspace>");
    arrive(&mut stage, Arrival::CommitMessage, 2);
    assert!(stage.text().contains("the commit message opens when you pause"), "{}", stage.text());
}

#[test]
fn a_commit_message_that_git_gives_back_hides_no_other() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("/commit<enter>");
    stage.tell(EventBody::CommitMessage("Refused by a hook".into()));
    stage.wait(3_000);
    assert!(stage.text().contains("Refused by a hook"), "{}", stage.text());
    stage.wait(400);
    stage.keys("<esc>");
    assert!(stage.text().contains("writing a commit message"), "{}", stage.text());
    stage.keys("x");
    stage.tell(EventBody::CommitMessage("The one asked for".into()));
    stage.tell(EventBody::CommitEnded);
    stage.tell(EventBody::CommitMessage("Refused once more".into()));
    stage.keys("<backspace>");
    stage.wait(3_000);
    assert!(stage.text().contains("The one asked for"), "{}", stage.text());
    stage.wait(400);
    stage.keys("<esc>");
    stage.wait(3_000);
    assert!(stage.text().contains("Refused once more"), "{}", stage.text());
    stage.wait(400);
    stage.keys("<esc>");
    assert!(stage.text().contains("ready") && stage.app.wake().is_none(), "{}", stage.text());
}

#[test]
fn enter_for_a_draft_sends_no_message_that_came_back() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("fix it");
    arrive(&mut stage, Arrival::Returned, 1);
    stage.keys("<enter>");
    assert!(!stage.sent().iter().any(|command| matches!(command, Command::Submit(_))), "{:?}", stage.sent());
    stage.wait(400);
    stage.keys("<enter>");
    let both = Command::Submit(Prompt { text: "look at @none.rs\nfix it".into() });
    assert_eq!(stage.sent().last(), Some(&&both));
}

#[test]
fn a_conflict_is_decided_by_enter_right_after_its_question_alone() {
    let asking = || {
        let mut stage = Stage::new(140, 40, "dark");
        stage.tell(opened(status()));
        graph(&mut stage);
        stage.keys("K");
        assert!(stage.text().contains("any other key no"), "{}", stage.text());
        stage
    };
    let keys = ["<ctrl-c>", "<ctrl-z>", "g", "x", "<f1>", "<f6>", "<f12>", "<right>", "<down>", "<esc>", "K", "<tab>"];
    for no in keys {
        let mut stage = asking();
        let (before, sent) = (stage.text(), stage.effects.len());
        stage.keys(no);
        assert!(!stage.text().contains("any other key no"), "{no}: {}", stage.text());
        let rest = |text: &str| text.lines().take(36).map(str::to_string).collect::<Vec<_>>();
        assert_eq!((rest(&stage.text()), stage.effects.len()), (rest(&before), sent), "{no} is a no and nothing else");
        stage.keys("<enter>");
        assert!(decided(&stage).is_empty(), "{no}: {:?}", decided(&stage));
    }
    let pointer = |kind, column, row| Msg::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
    let press = MouseEventKind::Down(MouseButton::Left);
    for no in [pointer(press, 3, 39), pointer(MouseEventKind::ScrollDown, 3, 39), Msg::Paste("yes".into())] {
        let mut stage = asking();
        stage.say(no.clone());
        stage.keys("<enter>");
        assert!(decided(&stage).is_empty(), "{no:?}: {:?}", decided(&stage));
    }
    let mut stage = asking();
    stage.keys("<enter>");
    assert!(matches!(decided(&stage)[..], [Effect::Send(Command::DecideConflict(..))]), "{:?}", decided(&stage));
}

#[test]
fn the_wheel_over_a_question_scrolls_the_chat_and_selects_nothing() {
    let no = Effect::Send(Command::Reply(QuestionId(101), Reply::Choice(1)));
    let first = Effect::Send(Command::Reply(QuestionId(101), Reply::Choice(0)));
    for (arrival, answer) in [(Arrival::Permission, no), (Arrival::Question { choices: true }, first)] {
        let mut stage = Stage::new(100, 24, "dark");
        reading(&mut stage);
        arrive(&mut stage, arrival, 1);
        stage.wait(3_000);
        let before = stage.text();
        let row = before.lines().position(|line| line.contains("Delete the folder?")).expect("the question");
        let wheel = |stage: &mut Stage, kind| {
            let event = MouseEvent { kind, column: 10, row: row as u16 + 1, modifiers: KeyModifiers::NONE };
            stage.say(Msg::Mouse(event));
        };
        (0..3).for_each(|_| wheel(&mut stage, MouseEventKind::ScrollUp));
        let text = stage.text();
        let from = |text: &str| text.lines().skip(row).take(3).map(str::to_string).collect::<Vec<_>>();
        assert_eq!(from(&text), from(&before), "{text}");
        assert_ne!(text, before, "the chat scrolls");
        (0..4).for_each(|_| wheel(&mut stage, MouseEventKind::ScrollDown));
        stage.keys("<enter>");
        assert_eq!(decided(&stage), [&answer], "{arrival:?}");
    }
}

#[test]
fn the_keys_of_a_question_are_in_its_hints_and_its_help() {
    for (arrival, keys) in [(Arrival::Permission, "y n"), (Arrival::Question { choices: true }, "1-3")] {
        let mut stage = Stage::new(140, 40, "dark");
        reading(&mut stage);
        arrive(&mut stage, arrival, 1);
        stage.wait(3_000);
        assert!(stage.text().contains(&format!("{keys} select")), "{}", stage.text());
        stage.keys("<f1>");
        let words = format!("{keys} select");
        let row = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ").contains(&words);
        let text = stage.text();
        assert!(text.contains("answer later") && text.lines().take(39).any(row), "{text}");
    }
}

#[test]
fn a_question_is_shown_before_it_has_the_keys() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.keys("<f9>");
    arrive(&mut stage, Arrival::Permission, 1);
    stage.wait(10_000);
    assert!(stage.text().contains("F6 answer") && !stage.text().contains("Delete the folder?"), "{}", stage.text());
    stage.keys("<f6>");
    assert!(stage.text().contains("Delete the folder?"), "{}", stage.text());
}

#[test]
fn a_reason_for_a_proposal_that_is_gone_becomes_a_draft() {
    // A proposal that waits, and its reason line; with a draft the person went there themselves.
    let reasoning = |draft: &str| {
        let mut stage = Stage::new(140, 40, "dark");
        reading(&mut stage);
        stage.keys(draft);
        arrive(&mut stage, Arrival::Proposal, 1);
        stage.wait(3_000);
        stage.keys(if draft.is_empty() { "r" } else { "<f2>r" });
        stage
    };
    let submits = |stage: &Stage| stage.effects.iter().any(|e| matches!(e, Effect::Send(Command::Submit(_))));
    for (draft, reason, after) in [
        ("", "it breaks", "› it breaks the build"),
        ("and then", "it breaks", "it breaks the build"),
        ("", "", "›  the build"),
    ] {
        let mut stage = reasoning(draft);
        stage.keys(reason);
        stage.wait(500);
        stage.tell(EventBody::Proposal(ProposalEvent::Settled(ProposalId(101), Outcome::Withdrawn)));
        stage.keys("<enter> the build<enter>");
        let text = stage.text();
        assert!(text.contains(after) && text.contains(draft), "{text}");
        assert!(!submits(&stage) && !text.contains("queued"), "{draft}, {reason}: {text}");
    }
    // A large paste is one character of the line.
    let mut stage = reasoning("");
    let pasted = "it breaks ".repeat(150);
    stage.say(Msg::Paste(pasted.clone()));
    stage.tell(EventBody::Proposal(ProposalEvent::Settled(ProposalId(101), Outcome::Withdrawn)));
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    stage.wait(1_000);
    stage.keys("<enter>");
    let sent = stage.sent();
    let Some(Command::Submit(prompt)) = sent.last() else { panic!("{sent:?}") };
    assert_eq!(prompt.text, pasted);
}

#[test]
fn words_for_a_command_that_is_gone_become_a_draft() {
    for keys in ["n", "e"] {
        let mut stage = Stage::new(140, 40, "dark");
        reading(&mut stage);
        arrive(&mut stage, Arrival::Card, 1);
        stage.wait(3_000);
        stage.keys(keys);
        // Another command, and a proposal, take nothing from the line.
        arrive(&mut stage, Arrival::Card, 2);
        arrive(&mut stage, Arrival::Proposal, 3);
        stage.keys("not so");
        assert!(stage.text().contains("not so"), "{}", stage.text());
        stage.wait(3_000);
        stage.tell(EventBody::Answered(QuestionId(101)));
        stage.keys(" fast<enter>");
        assert!(stage.text().contains("not so fast"), "{}", stage.text());
        assert!(decided(&stage).is_empty() && !stage.text().contains("queued"), "{}", stage.text());
    }
    // A text that was not changed is no words of the person's.
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    arrive(&mut stage, Arrival::Card, 1);
    stage.wait(3_000);
    stage.keys("e");
    assert!(stage.text().contains("› make all"), "{}", stage.text());
    stage.tell(EventBody::Answered(QuestionId(101)));
    assert!(!stage.text().contains("› make all"), "{}", stage.text());
}

#[test]
fn a_reason_in_the_review_queue_stays_when_a_proposal_arrives() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.keys("<f8>");
    list_changes(&mut stage);
    stage.keys("rnot ");
    arrive(&mut stage, Arrival::Proposal, 1);
    stage.wait(3_000);
    stage.keys("yet a");
    assert!(stage.text().contains("› not yet a") && decided(&stage).is_empty(), "{}", stage.text());
}

#[test]
fn a_call_that_is_held_waits_beyond_the_turn() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    arrive(&mut stage, Arrival::Hold, 1);
    arrive(&mut stage, Arrival::Permission, 2);
    stage.wait(3_000);
    assert!(stage.text().contains("make wants to change .envrc"), "{}", stage.text());
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    assert!(stage.text().contains("make wants to change .envrc"), "{}", stage.text());
    stage.keys("n");
    assert_eq!(decided(&stage), [&Effect::Send(Command::Reply(QuestionId(101), Reply::Choice(3)))]);
    stage.tell(EventBody::Answered(QuestionId(101)));
    assert!(!stage.text().contains("Delete the folder?") && !stage.text().contains("F6"), "{}", stage.text());
}

#[test]
fn quit_names_a_running_turn_first() {
    let mut stage = Stage::new(140, 40, "dark");
    working(&mut stage);
    stage.keys("/quit<enter>");
    assert!(decided(&stage).is_empty() && stage.text().contains("a turn is running"), "{}", stage.text());
    stage.keys("/quit<enter>");
    assert!(matches!(decided(&stage)[..], [Effect::Quit(_)]), "{:?}", decided(&stage));
}

#[test]
fn quitting_names_all_that_ends_and_asks_once() {
    let quits = |stage: &Stage| stage.effects.iter().any(|e| matches!(e, Effect::Quit(_)));
    let mut stage = Stage::new(140, 40, "dark");
    working(&mut stage);
    stage.tell(EventBody::Status(Status { jobs: 2, ..status() }));
    stage.keys("/quit<enter>");
    let text = stage.text();
    assert!(text.contains("a turn is running; /quit again ends it and quits"), "{text}");
    assert!(text.contains("2 jobs end with nebula") && !quits(&stage), "{text}");
    stage.keys("/quit<enter>");
    assert!(quits(&stage), "{}", stage.text());
    // So does a session that is not saved, once anything was said.
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    let in_ram = Some("memory is locked by another program".to_string());
    stage.tell(EventBody::Status(Status { in_ram: in_ram.clone(), ..status() }));
    stage.keys("<ctrl-c>");
    assert!(stage.text().contains("Ctrl-C again quits") && !stage.text().contains("not saved"), "{}", stage.text());
    stage.keys("hi<enter>");
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    let words = "not saved: memory is locked by another program; ";
    for key in ["/quit<enter>", "<ctrl-c>"] {
        stage.keys(key);
        assert!(stage.text().contains(words) && !quits(&stage), "{}", stage.text());
    }
    stage.keys("<ctrl-c>");
    assert!(quits(&stage), "{}", stage.text());
    // That a turn was named says nothing of what comes after it.
    let mut stage = Stage::new(140, 40, "dark");
    working(&mut stage);
    stage.keys("/quit<enter>");
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    stage.keys("/commit<enter>/quit<enter>");
    let text = stage.text();
    assert!(text.contains("a commit message is being written; /quit again ends that") && !quits(&stage), "{text}");
    stage.keys("<ctrl-c>");
    let text = stage.text();
    assert!(text.contains("a commit message is being written; Ctrl-C again ends that"), "{text}");
    // Nor that a message was.
    stage.tell(EventBody::CommitEnded);
    stage.keys("/commit<enter>/quit<enter>");
    assert!(stage.text().contains("/quit again ends that") && !quits(&stage), "{}", stage.text());
    stage.keys("/quit<enter>");
    assert!(quits(&stage), "{}", stage.text());
}

#[test]
fn keys_for_what_leaves_by_itself_do_nothing_elsewhere() {
    let acts = |stage: &Stage| {
        let command = |command: &&Command| matches!(command, Command::Submit(_) | Command::Interrupt);
        stage.sent().into_iter().filter(command).count()
    };
    // A proposal whose test fails goes back to the model.
    let withdrawn = EventBody::Proposal(ProposalEvent::Settled(ProposalId(101), Outcome::Withdrawn));
    let answered = EventBody::Answered(QuestionId(101));
    for (arrival, keys, gone) in [
        (Arrival::Proposal, "<f2>", &withdrawn),
        (Arrival::Question { choices: true }, "<f6>", &answered),
        (Arrival::Permission, "<f6>", &answered),
        (Arrival::Card, "<f6>", &answered),
        (Arrival::Hold, "<f6>", &answered),
    ] {
        for key in ["<enter>", "<esc>"] {
            let mut stage = Stage::new(140, 40, "dark");
            reading(&mut stage);
            let before = acts(&stage);
            stage.keys("and then");
            arrive(&mut stage, arrival, 1);
            stage.wait(3_000);
            stage.keys(keys);
            stage.wait(3_000);
            stage.tell(gone.clone());
            stage.wait(30);
            stage.keys(key);
            assert!(
                stage.text().contains("› and then") && acts(&stage) == before,
                "{arrival:?} {key}: {}",
                stage.text()
            );
            stage.wait(400);
            stage.keys(key);
            assert!(!stage.text().contains("› and then") || acts(&stage) > before, "{arrival:?} {key} works again");
        }
    }
    // After what the person decided there is nothing to wait for.
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    arrive(&mut stage, Arrival::Permission, 1);
    stage.wait(3_000);
    stage.keys("y<enter>");
    stage.tell(answered);
    stage.keys("next<enter>");
    assert!(!stage.text().contains("› next"), "{}", stage.text());
}

#[test]
fn a_call_of_a_job_does_not_hold_up_the_turn() {
    let mut stage = Stage::new(140, 40, "dark");
    working(&mut stage);
    let began = |id: &str| CommandBegan {
        id: Some(id.into()),
        text: "make serve".into(),
        class: "work",
        grant: "workspace",
        keeper: "guard",
        decision: "allowed",
        by_person: false,
        entry: None,
    };
    stage.tell(EventBody::Command(CommandEvent::Began(began("c7"))));
    stage.keys("x");
    arrive(&mut stage, Arrival::Hold, 1);
    assert_eq!(stage.app.wake(), None, "what it is a part of stands still");
    stage.tell(EventBody::Command(CommandEvent::Ended(CommandEnd {
        id: "c7".into(),
        running: true,
        ..CommandEnd::default()
    })));
    assert!(stage.app.wake().is_some(), "the turn goes on");
    stage.keys("<f6>");
    let text = stage.text();
    assert!(text.contains("make wants to change .envrc") && !text.contains("waiting for you"), "{text}");
    // Nor does that of a command of the person's.
    let mut stage = Stage::new(140, 40, "dark");
    working(&mut stage);
    stage.tell(EventBody::Command(CommandEvent::Began(CommandBegan { by_person: true, ..began("c7") })));
    stage.keys("x");
    arrive(&mut stage, Arrival::Hold, 1);
    assert!(stage.app.wake().is_some(), "the turn goes on");
}

#[test]
fn the_input_names_the_folder_in_which_a_command_of_the_persons_would_run() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.tell(EventBody::Status(Status { next_folder: Some("src".into()), ..status() }));
    let named = "runs in src · /env clear";
    stage.keys("ls");
    assert!(!stage.text().contains(named), "{}", stage.text());
    stage.keys("<home>!");
    assert!(stage.text().contains(named), "{}", stage.text());
    stage.tell(EventBody::Status(status()));
    assert!(!stage.text().contains("runs in"), "{}", stage.text());
}

/// A command of the person's own is no turn: it is stopped by its id, and the draft is safe.
#[test]
fn esc_at_an_empty_input_stops_the_persons_own_command() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    stage.keys("!sleep 1000<enter>");
    stage.tell(EventBody::Command(CommandEvent::Began(CommandBegan {
        id: Some("c7".into()),
        text: "sleep 1000".into(),
        class: "work",
        grant: "workspace",
        keeper: "guard",
        decision: "allowed",
        by_person: true,
        entry: None,
    })));
    let text = stage.text();
    assert!(text.contains("running sleep 1000") && text.contains("Esc stop") && !text.contains("ready"), "{text}");
    assert!(stage.app.title().ends_with(" shop") && stage.app.wake().is_some(), "{}", stage.app.title());
    let stops = |stage: &Stage| stage.sent().into_iter().filter(|c| matches!(c, Command::StopCommand(_))).count();
    stage.keys("x<esc>");
    assert_eq!(stops(&stage), 0, "a draft");
    stage.keys("<backspace><esc>");
    assert_eq!(stage.sent().last(), Some(&&Command::StopCommand("c7".into())));
    stage.keys("<f4>x");
    assert_eq!(stops(&stage), 2);
    let end = CommandEnd { id: "c7".into(), ..CommandEnd::default() };
    stage.tell(EventBody::Command(CommandEvent::Ended(end)));
    stage.keys("x<esc><esc>");
    assert_eq!((stops(&stage), stage.app.title()), (2, "shop".into()), "{}", stage.text());
}

#[test]
fn what_waits_is_counted_once() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    arrive(&mut stage, Arrival::Proposal, 1);
    assert!(stage.text().contains("waiting 1"), "{}", stage.text());
    let restore = Arc::new(Proposal { id: ProposalId(900), ..proposal() });
    let previews = ["src/cart.rs", "src/catalog.rs"];
    let previews = previews.map(|path| RestorePreview { path: path.into(), status: RestoreStatus::Equal }).into();
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(restore, previews)));
    assert!(stage.text().contains("waiting 2"), "{}", stage.text());
}

#[test]
fn a_key_is_hinted_only_where_it_does_something() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    let hints = stage.text();
    assert!(hints.contains("/ command   ! run"), "{hints}");
    stage.keys("a draft");
    let text = stage.text();
    assert!(!text.contains("/ command") && !text.contains("! run") && text.contains("Ctrl-G in $EDITOR"), "{text}");
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(EventBody::Status(Status { context: Some((0, 128_000)), cost: None, ..status() }));
    let text = stage.text();
    assert!(text.contains("128k free · 2 rules") && text.contains("! run") && !text.contains("F2"), "{text}");
}

#[test]
fn esc_leads_home_and_then_interrupts() {
    let mut stage = Stage::new(140, 40, "dark");
    working(&mut stage);
    stage.keys("<f4>z<esc><esc>");
    assert!(decided(&stage).is_empty(), "unzoomed, then home");
    stage.keys("<esc>");
    assert_eq!(decided(&stage), [&Effect::Send(Command::Interrupt)]);
}

#[test]
fn q_never_quits() {
    for scene in [working, proposing, asking, without_model] as [fn(&mut Stage); 4] {
        let mut stage = Stage::new(140, 40, "dark");
        scene(&mut stage);
        for pane in ["", "<f2>", "<f3>", "<f4>", "<f5>", "<f6>"] {
            stage.keys(pane);
            stage.wait(1_000);
            stage.keys("q");
        }
        assert!(!stage.effects.iter().any(|e| matches!(e, Effect::Quit(_))), "{:?}", stage.effects);
    }
}

#[test]
fn ctrl_c_names_the_turn_that_runs() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.keys("draft<ctrl-c>");
    assert!(stage.text().contains("a turn is running; Ctrl-C again ends it and quits"), "{}", stage.text());
    assert!(stage.text().contains("› draft") && decided(&stage).is_empty(), "{}", stage.text());
    stage.keys("<ctrl-c>");
    assert!(stage.effects.iter().any(|e| matches!(e, Effect::Quit(_))));
}

#[test]
fn below_the_least_size_no_key_decides() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.resize(20, 5);
    arrive(&mut stage, Arrival::Proposal, 1);
    stage.wait(10_000);
    for key in ["y", "a", "<enter>", "A", "A", "r", "x"] {
        stage.keys(key);
        stage.wait(1_000);
    }
    stage.say(Msg::Paste("yes".into()));
    assert!(stage.text().contains("nebula needs 40×10") && decided(&stage).is_empty(), "{:?}", decided(&stage));
    // What was typed blindly went nowhere, and a key that comes too late decides nothing.
    stage.resize(140, 40);
    let text = stage.text();
    assert!(text.contains("reviewing") && text.contains("3 hunks undecided") && !text.contains("yes"), "{text}");
    stage.keys("a");
    assert!(decided(&stage).is_empty(), "{:?}", decided(&stage));
    stage.wait(400);
    stage.keys("a");
    assert!(matches!(decided(&stage)[..], [Effect::Send(Command::Decide(..))]), "{:?}", decided(&stage));
    // Esc puts the proposal off, and drops nothing.
    let mut stage = Stage::new(20, 5, "dark");
    reading(&mut stage);
    arrive(&mut stage, Arrival::Proposal, 1);
    stage.wait(3_000);
    stage.keys("<esc><esc><esc>");
    stage.resize(140, 40);
    assert!(decided(&stage).is_empty() && stage.text().contains("F2 review"), "{}", stage.text());
    let mut stage = Stage::new(20, 5, "dark");
    reading(&mut stage);
    stage.keys("<ctrl-c><ctrl-c>");
    assert!(matches!(decided(&stage)[..], [Effect::Quit(_)]), "{:?}", decided(&stage));
}

#[test]
fn a_reason_is_asked_for_by_enter_alone_and_its_enter_writes() {
    let reviewing = |keys: &str| {
        let mut stage = Stage::new(140, 40, "dark");
        reading(&mut stage);
        arrive(&mut stage, Arrival::Proposal, 1);
        stage.wait(3_000);
        stage.keys(keys);
        stage
    };
    for keys in ["na", "nyy", "nAA"] {
        let mut stage = reviewing(keys);
        assert!(stage.text().contains("Enter asks why it was rejected"), "{keys}: {}", stage.text());
        stage.keys("u");
        assert!(stage.text().contains("undecided"), "{keys}: {}", stage.text());
        assert!(decided(&stage).is_empty(), "{keys}: {:?}", decided(&stage));
    }
    let mut stage = reviewing("na<enter>");
    assert_eq!(stage.app.focus(), Focus::Line);
    stage.keys("too slow");
    assert!(decided(&stage).is_empty(), "{:?}", decided(&stage));
    stage.keys("<enter><enter>");
    let all = decided(&stage);
    let [Effect::Send(Command::Decide(_, decision))] = all[..] else { panic!("{all:?}") };
    assert_eq!((decision.reason.as_deref(), decision.count().rejected), (Some("too slow"), 1));
    // Of what is rejected whole nothing is written.
    let mut stage = reviewing("rno<enter>");
    assert!(matches!(decided(&stage)[..], [Effect::Send(Command::Decide(..))]), "{:?}", decided(&stage));
    stage.keys("<enter>");
    // A key that shows something else leads away, with what was typed as a draft.
    for key in ["<f3>", "<f4>", "<f5>", "<f8>", "<f9>"] {
        let mut stage = reviewing("na<enter>");
        stage.keys(&format!("and the tests{key}"));
        assert_ne!(stage.app.focus(), Focus::Line, "{key}");
        stage.keys("<f5>");
        stage.wait(3_000);
        assert!(stage.text().contains("› and the tests") && decided(&stage).is_empty(), "{key}: {}", stage.text());
    }
}

#[test]
fn what_decides_a_proposal_is_hinted_at_eighty_columns() {
    let mut stage = Stage::new(80, 24, "dark");
    reading(&mut stage);
    arrive(&mut stage, Arrival::Proposal, 1);
    stage.wait(3_000);
    for keys in ["", "y"] {
        stage.keys(keys);
        let text = stage.text();
        let hints = text.lines().find(|line| line.contains("? keys")).expect("the hints");
        for hint in ["y accept", "n reject", "c comment", "] [ hunk", "a all", "r none", "? keys"] {
            assert!(hints.contains(hint), "{hint}: {hints}");
        }
        assert!(text.contains("› Esc to write to nebula"), "{text}");
    }
}

#[test]
fn where_nothing_is_shown_letters_are_typed() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    stage.keys("<f2>");
    assert!(stage.text().contains("nothing is proposed"), "{}", stage.text());
    stage.keys("SLOW");
    assert!(stage.text().contains("› SLOW"), "{}", stage.text());
}

#[test]
fn esc_tells_that_a_proposal_goes_with_the_turn() {
    let mut stage = Stage::new(140, 40, "dark");
    reading(&mut stage);
    stage.keys("yy");
    arrive(&mut stage, Arrival::Proposal, 1);
    for key in ["<esc>", "x<esc>"] {
        stage.keys(key);
        assert!(stage.text().contains("Esc again interrupts and drops the proposal"), "{}", stage.text());
        assert!(decided(&stage).is_empty(), "{:?}", decided(&stage));
    }
    stage.keys("<esc>");
    assert_eq!(decided(&stage), [&Effect::Send(Command::Interrupt)]);
}

#[test]
fn a_letter_in_an_empty_diff_begins_a_message() {
    let mut stage = Stage::new(80, 30, "dark");
    reading(&mut stage);
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    stage.keys("<f2>");
    for _ in 0..4 {
        if matches!(stage.app.focus(), Focus::Pane(_)) && stage.text().contains("nothing is proposed") {
            break;
        }
        stage.keys("<tab>");
    }
    assert!(matches!(stage.app.focus(), Focus::Pane(_)), "{}", stage.text());
    stage.keys("yes, slow");
    assert!(stage.text().contains("› yes, slow"), "{}", stage.text());
}

#[test]
fn what_says_that_letters_decide_is_the_last_to_give_way() {
    let mut stage = Stage::new(40, 12, "dark");
    reading(&mut stage);
    stage.wait(10_000);
    arrive(&mut stage, Arrival::Proposal, 1);
    stage.wait(10_000);
    let text = stage.text();
    let status = text.lines().next().unwrap_or_default();
    assert!(status.contains("reviewing") && status.contains("…"), "{text}");
}
