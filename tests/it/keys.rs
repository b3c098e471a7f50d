//! Every key that `?` lists in a context does something there, and every key that is not listed does nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use nebula::proposal::{Counts, FileChange, Proposal, ProposalId, State};
use nebula::protocol::*;
use nebula::tui::action::{Action, Context};
use nebula::tui::app::{Effect, Msg, Options, Start};
use nebula::tui::key_groups::GROUPS;
use nebula::tui::keys::{Chord, KeyMatch, Keys};
use nebula::tui::popup::help;
use nebula::tui::theme::Depth;

use crate::frames::{restoring, serve};
use crate::scenes::*;

type Scene = (&'static str, fn() -> Stage);

/// A screen of a usual size, in colours that no terminal limits.
fn stage(start: Start, scene: impl Fn(&mut Stage)) -> Stage {
    let options = Options { theme: Some("dark".into()), start, ..Options::default() };
    let mut stage = Stage::of_depth(140, 42, options, Depth::True);
    scene(&mut stage);
    stage.wait(3_000);
    stage
}

fn main_screen(scene: impl Fn(&mut Stage), keys: &str) -> Stage {
    stage(Start::default(), |stage| {
        scene(stage);
        stage.wait(3_000);
        stage.keys(keys);
    })
}

/// The form that connects a model, after these keys.
fn without_model_screen(keys: &str) -> Stage {
    let mut stage = stage(Start::WithoutModel, |stage| {
        choosing(stage);
        without_model(stage);
    });
    stage.keys("<down><enter>");
    stage.keys(keys);
    stage
}

fn said(stage: &mut Stage) {
    stage.tell(opened(status()));
    for n in 0..40 {
        let text = format!("message {n}");
        stage.item(Item::User { text, at: NOW, attached: Vec::new() });
        stage.item(Item::Answer { text: format!("A long answer number {n}.\n\n```rust\nfn f() {{}}\n```\n") });
        let mut call = call("readFile", "src/cart.rs", if n % 3 == 0 { CallState::Failed } else { CallState::Done });
        call.preview = (0..9).map(|n| PreviewLine { sign: ' ', text: format!("line {n}") }).collect();
        call.result = Some("line\n".repeat(90));
        stage.item(Item::Call(call));
    }
}

fn running(stage: &mut Stage) {
    said(stage);
    let mut call = call("runCommand", "cargo test", CallState::Running);
    call.preview = vec![PreviewLine { sign: '$', text: "cargo test".into() }];
    stage.item(Item::Call(call));
    let (id, text) = (Some("c7".to_string()), "cargo test".to_string());
    let (class, grant, keeper, decision) = ("project", "workspace", "guard", "allowed");
    let began = CommandBegan { id, text, class, grant, keeper, decision, by_person: false, entry: None };
    stage.tell(EventBody::Command(CommandEvent::Began(began)));
}

fn changed(stage: &mut Stage) {
    said(stage);
    stage.tell(archived(""));
    stage.answer(|q| *q == Query::SessionDiff, Listing::SessionDiff(Some(std::sync::Arc::new(proposal()))));
}

/// The states in which the keys of a context are tried.
fn scenes(context: Context) -> Vec<Scene> {
    match context {
        Context::Global | Context::Pane => Vec::new(),
        Context::Input => vec![
            ("idle", || main_screen(said, "")),
            ("a draft", || main_screen(said, "one two\u{20}three<left><left><ctrl-k><ctrl-_><home><right>")),
            ("a draft, redo", || main_screen(said, "one<enter>two<ctrl-_>")),
            ("scrolled up", || main_screen(said, "<pageup><pageup><pageup>")),
            ("a turn", || main_screen(working, "queued<enter>")),
            ("something deleted", || main_screen(said, "one two<ctrl-w>")),
            ("the first screen", || {
                stage(Start::New, |s| {
                    s.tell(opened(status()));
                    choosing(s)
                })
            }),
            ("two lines", || main_screen(said, "one<ctrl-j>two<home>")),
            ("a question, left", || main_screen(asking, "<esc>")),
        ],
        Context::Chat => vec![
            ("the end", || main_screen(said, "<f5>[[")),
            ("the beginning", || main_screen(said, "<f5>gg]")),
            ("a hit", || main_screen(said, "<f5>/answer<enter>")),
            ("a message", || main_screen(said, "<f5>[[[")),
            ("another", || main_screen(said, "<f5>[[")),
            ("a notice", || main_screen(failing, "<f5>[")),
            ("its neighbour", || main_screen(failing, "<f5>[[")),
        ],
        Context::Tools => vec![
            ("the end", || main_screen(said, "<f4>[[")),
            ("the beginning", || main_screen(said, "<f4>gg]")),
            ("a hit", || main_screen(said, "<f4>/src<enter>")),
            ("a call", || main_screen(said, "<f4>[<enter>/line<enter>")),
            ("a command under way", || main_screen(running, "<f4>")),
        ],
        Context::Diff => vec![
            ("a proposal", || main_screen(proposing, "]")),
            ("a decision", || main_screen(proposing, "y")),
            ("its end", || main_screen(proposing, "]]/price<enter>G")),
            ("a small screen", || {
                let mut stage = main_screen(proposing, "");
                stage.resize(100, 16);
                stage.keys("/price<enter>");
                stage
            }),
            ("its reason", || {
                main_screen(
                    |s| {
                        s.tell(opened(status()));
                        s.tell(EventBody::TurnStarted(TurnId(1)));
                        s.item(Item::Answer { text: "First.\n\nSecond.\n\nThird.\n\nFourth.\n\nFifth.".into() });
                        let proposal = std::sync::Arc::new(proposal());
                        s.tell(EventBody::Proposal(ProposalEvent::Proposed(proposal, Vec::new())));
                    },
                    "]",
                )
            }),
            ("the session", || main_screen(changed, "<f2>]")),
            ("the session, last hunk", || main_screen(changed, "<f2>]]]/price<enter>G")),
        ],
        Context::Archive => vec![
            ("changesets", || main_screen(browsing, "j")),
            ("the end", || main_screen(browsing, "Gk")),
            ("a file", || main_screen(comparing, "")),
            ("a file in time", || main_screen(comparing, "<left><left>p<right>")),
            ("a restore", || main_screen(restoring, "")),
            ("a restore, below", || main_screen(restoring, "jjj")),
            ("filtered", || main_screen(browsing, "/a<enter>")),
        ],
        Context::Line => vec![
            ("a search", || main_screen(said, "<f5>/one two<left><left>")),
            ("a comment", || main_screen(proposing, "cwhy so<left><left>")),
        ],
        Context::Completion => vec![
            ("files", || main_screen(mentioning, "<down>")),
            ("files, unscrolled", || {
                let mut stage = main_screen(mentioning, "");
                stage.resize(140, 16);
                stage
            }),
            ("files on a low screen", || {
                let mut stage = main_screen(mentioning, "");
                stage.resize(140, 16);
                stage.keys("<ctrl-d>");
                stage
            }),
        ],
        Context::List => vec![
            ("commands", || main_screen(said, "/o<left>")),
            ("more", || main_screen(said, "/<down><down><down><down><down>")),
        ],
        Context::Form => vec![
            ("the provider", || without_model_screen("")),
            ("a key", || without_model_screen("<tab>sk-one two<left><left>")),
            ("an address", || without_model_screen("<up><tab>http://a b<left><left>")),
        ],
        Context::Viewer => vec![
            ("help", || main_screen(said, "<f1>")),
            ("help, scrolled", || {
                let mut s = main_screen(said, "<f1>");
                s.resize(60, 16);
                s.keys("jjj");
                s
            }),
            ("the context window", context_window),
            ("a hit in a text", || {
                let mut s = context_window();
                s.keys("/1<enter>");
                s
            }),
        ],
        Context::Question => vec![
            ("choices", || main_screen(asking, "<down>")),
            ("a long text, in the middle", || main_screen(asking_at_length, "<f6><pagedown>")),
        ],
        Context::Card => vec![
            ("the card", || main_screen(card, "<f6>")),
            ("a rule", || main_screen(card, "<f6>t")),
            ("low, in the middle", || {
                let mut s = main_screen(card, "<f6>");
                s.resize(80, 24);
                s.keys("<down><down>");
                s
            }),
        ],
        Context::Sessions => vec![("the list", || {
            stage(Start::New, |s| {
                s.tell(opened(status()));
                choosing(s);
                s.keys("<down><down>")
            })
        })],
        Context::Review => vec![
            ("the list", reviewing),
            ("the diff", || {
                let mut s = reviewing();
                s.keys("n");
                s
            }),
        ],
        Context::Graph => vec![
            ("the conflict", graph_of_definitions),
            ("a definition", || {
                let mut s = graph_of_definitions();
                s.keys("<end>");
                answer_definition(&mut s);
                s
            }),
            ("its lines", || {
                let mut s = graph_of_definitions();
                s.keys("<down><down>");
                answer_definition(&mut s);
                s.keys("<enter>}<down>/total<enter>");
                s
            }),
            ("its end", || {
                let mut s = graph_of_definitions();
                s.keys("<down><down>");
                answer_definition(&mut s);
                s.keys("<enter><end>");
                s
            }),
        ],
        Context::Timeline => vec![
            ("the files", looking_back),
            ("the first moment", || {
                let mut s = looking_back();
                s.keys("<home>");
                answer_past(&mut s);
                s
            }),
            ("the second file", || {
                let mut s = looking_back();
                s.keys("<down>");
                s
            }),
            ("the diff", || {
                let mut s = looking_back();
                s.keys("<enter>");
                s
            }),
            ("the diff, below", || {
                let mut s = looking_back();
                s.keys("<enter><pagedown><pagedown>]]");
                s
            }),
        ],
        Context::Blame => vec![
            ("the lines", blaming),
            ("the end", || {
                let mut s = blaming();
                s.keys("<end>");
                s
            }),
            ("the diff, below", || {
                let mut s = blaming();
                s.keys("<down>o");
                let change = ReviewChange { change: two_files(), aside: Vec::new(), later: Vec::new() };
                s.answer(|query| matches!(query, Query::ReviewChange(..)), Listing::ReviewChange(change));
                s.keys("]]");
                s
            }),
            ("words", || {
                let mut s = blaming();
                s.keys("/line<enter>");
                s
            }),
            ("the diff", || {
                let mut s = blaming();
                s.keys("<down>o");
                let change = ReviewChange { change: two_files(), aside: Vec::new(), later: Vec::new() };
                s.answer(|query| matches!(query, Query::ReviewChange(..)), Listing::ReviewChange(change));
                s
            }),
        ],
        Context::NoModel => vec![
            ("tour", || {
                stage(Start::WithoutModel, |s| {
                    choosing(s);
                    without_model(s);
                    s.keys("<up>")
                })
            }),
            ("connect", || {
                stage(Start::WithoutModel, |s| {
                    choosing(s);
                    without_model(s);
                    s.keys("<down>")
                })
            }),
        ],
    }
}

/// The changes that wait to be reviewed, and what those of the turn changed.
fn reviewing() -> Stage {
    let mut stage = main_screen(said, "<f8>");
    list_changes(&mut stage);
    stage
}

/// Tells the review queue what is in it.
pub fn list_changes(stage: &mut Stage) {
    let entry = |id: &str, command, title: &str| ReviewRow {
        id: id.into(),
        title: title.into(),
        command,
        files: 1,
        counts: Some(Counts { added: 2, removed: 1 }),
    };
    let turn = |title: &str, entries| ReviewTurn { title: title.into(), at: 0, entries };
    let turns = vec![
        turn("round half to even", vec![entry("1", false, "src/money.rs")]),
        turn("load prices", vec![entry("2", false, "src/cart.rs"), entry("3", true, "cargo fmt")]),
    ];
    stage.answer(|query| *query == Query::Review, Listing::Review(turns));
    let change = two_files();
    let later = vec![("src/cart.rs".to_string(), 0)];
    let aside = vec![("target/".to_string(), "it can be rebuilt".to_string())];
    let change = ReviewChange { change, aside, later };
    stage.answer(|query| matches!(query, Query::ReviewChange(..)), Listing::ReviewChange(change));
}

/// Two files with two hunks each.
fn two_files() -> Arc<Proposal> {
    let text = |first: &str| {
        let lines: String =
            (0..40).map(|n| if n == 3 || n == 33 { format!("{first}\n") } else { format!("{n}\n") }).collect();
        State::file(lines.into_bytes())
    };
    let files = ["src/cart.rs", "src/price.rs"].map(|path| FileChange::new(path, text("old"), text("new"), "", &[]));
    Arc::new(Proposal { id: ProposalId(9), title: String::new(), files: files.into() })
}

/// A store of some definitions with a conflict.
fn graph_of_definitions() -> Stage {
    main_screen(
        |s| {
            said(s);
            graph(s);
        },
        "",
    )
}

/// The moments of two turns.
fn two_turns() -> Listing {
    let row = |id: &str, at, kind, turn, title: &str| MomentRow {
        id: id.into(),
        at,
        kind,
        turn: Some(("0198".into(), turn)),
        title: title.into(),
        cause: String::new(),
        files: 1,
    };
    Listing::Timeline(vec![
        row("01990000", NOW - 900_000, PastKind::Edit, 1, "round half to even"),
        row("01990001", NOW - 600_000, PastKind::Edit, 2, "load prices in one query"),
        row("01990002", NOW - 500_000, PastKind::Command, 2, "load prices in one query"),
    ])
}

/// The workspace before the newest of two turns.
fn looking_back() -> Stage {
    let mut stage = main_screen(said, "<f9>");
    stage.answer(|query| *query == Query::Timeline, two_turns());
    answer_past(&mut stage);
    stage
}

fn answer_past(stage: &mut Stage) {
    let files = vec![
        PastFile { version: Some("1".into()), outside: None, is_left: false, unsure: false },
        PastFile {
            version: Some("2".into()),
            outside: Some((NOW - 700_000, NOW - 600_000)),
            is_left: false,
            unsure: false,
        },
    ];
    let text = |first: &str| {
        let lines: String = (0..400).map(|n| format!("{}\n", if n % 20 == 3 { first } else { "same" })).collect();
        State::file(lines.into_bytes())
    };
    let changes = ["src/cart.rs", "src/price.rs"].map(|path| FileChange::new(path, text("old"), text("new"), "", &[]));
    let change = Arc::new(Proposal { id: ProposalId(9), title: String::new(), files: changes.into() });
    let change = PastChange { change, files, unreadable: Vec::new() };
    stage.answer(|query| matches!(query, Query::Past { .. }), Listing::Past(change));
}

/// The authors of a file of the open session.
fn blaming() -> Stage {
    let mut stage = main_screen(said, "/blame src/cart.rs<enter>");
    let cause = |kind, changeset: Option<&str>, prompt: &str| BlameCause {
        kind,
        unsure: false,
        at: Some(NOW - 600_000),
        changeset: changeset.map(str::to_string),
        turn: changeset.map(|_| ("0198".to_string(), 1)),
        prompt: prompt.into(),
        prompted_at: Some(NOW - 700_000),
        title: "cargo clippy --fix".into(),
    };
    let causes = vec![
        cause(PastKind::Before, None, ""),
        cause(PastKind::Edit, Some("01990001"), "message 3"),
        cause(PastKind::Command, Some("01990002"), "message 4"),
    ];
    let text: String = (0..60).map(|n| format!("line {n}\n")).collect();
    let lines = (0..60).map(|n| [1, 1, 0, 2, 0][n / 12]).collect();
    let file = BlamedFile {
        path: "src/cart.rs".into(),
        text: text.into(),
        causes,
        lines,
        commits: vec![Some("91bc004e load prices in one query".into())],
    };
    stage.answer(|query| matches!(query, Query::Blame(_)), Listing::Blame(file));
    stage
}

/// The list of changesets.
fn browsing(stage: &mut Stage) {
    said(stage);
    stage.keys("<f3>");
    serve(stage);
}

/// A file compared with the present one.
fn comparing(stage: &mut Stage) {
    stage.tell(opened(status()));
    stage.keys("<f3>z");
    serve(stage);
    stage.keys("j");
    serve(stage);
}

/// Every key of a usual keyboard, with what a terminal can tell of its modifiers.
fn keyboard() -> Vec<KeyEvent> {
    let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
    let mut keys: Vec<KeyEvent> = (' '..='~').map(|c| plain(KeyCode::Char(c))).collect();
    keys.extend(('a'..='z').map(|c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)));
    keys.extend(('a'..='z').map(|c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT)));
    keys.extend((1..=12).map(|n| plain(KeyCode::F(n))));
    let named = [
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::Insert,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
    ];
    for modifiers in [KeyModifiers::NONE, KeyModifiers::CONTROL, KeyModifiers::ALT, KeyModifiers::SHIFT] {
        keys.extend(named.iter().map(|code| KeyEvent::new(*code, modifiers)));
    }
    keys.push(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT));
    keys.extend(['_', '/'].map(|c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)));
    keys.extend(['_', '/'].map(|c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT)));
    keys
}

/// Letters are text here.
fn takes_text(context: Context) -> bool {
    matches!(
        context,
        Context::Input
            | Context::Line
            | Context::Completion
            | Context::List
            | Context::Form
            | Context::Sessions
            | Context::Question
    )
}

/// A question whose text has more rows than the screen.
fn asking_at_length(stage: &mut Stage) {
    reading(stage);
    let text = (0..200).map(|n| format!("line {n}\n")).collect();
    let choices = vec![("one".to_string(), String::new()), ("two".to_string(), String::new())];
    stage.tell(EventBody::Asked(Question {
        id: QuestionId(1),
        text,
        choices,
        permission: false,
        card: None,
        hold: None,
    }));
}

/// The page of what the context window holds.
fn context_window() -> Stage {
    let mut stage = main_screen(said, "/context<enter>");
    let text = "| part | tokens |\n| --- | --- |\n| rules | 12 |\n| tools | 1 |\n".into();
    let table = Listing::Table { title: "context".into(), text };
    stage.answer(|query| *query == Query::Context, table);
    stage
}

#[test]
fn what_is_done_with_a_session_is_hinted_at_every_usual_width() {
    for width in [60, 80, 100, 120, 140] {
        let mut stage = stage(Start::New, |s| {
            s.tell(opened(status()));
            choosing(s);
            s.keys("<down><down>")
        });
        stage.resize(width, 36);
        let text = stage.text();
        let hints = text.lines().rfind(|line| line.contains("F1 keys")).unwrap_or_default();
        // Where few have room, the ways in and out.
        let mut words = vec!["Enter resume", "Esc back"];
        words.extend(["rename", "fork", "delete", "export"].iter().filter(|_| width >= 80));
        assert!(words.iter().all(|word| hints.contains(word)), "{width}: {hints}");
        assert!(width != 80 || hints.contains("Ctrl-T/F/X/S rename, fork, delete, export"), "{hints}");
    }
}

#[test]
fn esc_leads_from_blame_back_to_the_timeline_which_follows_every_changeset() {
    let mut stage = looking_back();
    let asked = |stage: &Stage| {
        let is_list = |effect: &&Effect| matches!(effect, Effect::Send(Command::Ask(_, Query::Timeline)));
        stage.effects.iter().filter(is_list).count()
    };
    let is_open = |stage: &Stage| stage.text().contains("2 files differ");
    stage.keys("<down>b");
    assert!(!is_open(&stage), "{}", stage.text());
    stage.keys("<esc>");
    assert!(is_open(&stage), "{}", stage.text());
    stage.answer(|query| *query == Query::Timeline, two_turns());
    let before = asked(&stage);
    // One question at a time, and one more for what came meanwhile.
    for _ in 0..3 {
        stage.tell(archived("a command of another terminal"));
    }
    assert_eq!(asked(&stage), before + 1);
    stage.answer(|query| *query == Query::Timeline, two_turns());
    assert_eq!(asked(&stage), before + 2);
    stage.keys("<esc>");
    assert!(!is_open(&stage), "{}", stage.text());
}

#[test]
fn words_are_found_in_a_page_of_text() {
    let mut stage = main_screen(said, "/usage<enter>");
    let rows: String =
        (1..=60).map(|n| format!("| row {n} | {} |\n", if n % 20 == 0 { "Twenty" } else { "-" })).collect();
    let table = Listing::Table { title: "usage".into(), text: format!("| a | b |\n| --- | --- |\n{rows}") };
    stage.answer(|query| *query == Query::Usage, table);
    assert!(stage.text().contains("/ search") && !stage.text().contains("row 60"), "{}", stage.text());
    stage.keys("/twenty");
    let text = stage.text();
    assert!(text.contains("1 of 3") && text.contains("▌ row 20"), "{text}");
    stage.keys("<enter>nn");
    let text = stage.text();
    assert!(text.contains("3 of 3") && text.contains("▌ row 60") && !text.contains("row 20 "), "{text}");
    stage.keys("nN");
    assert!(stage.text().contains("3 of 3"), "{}", stage.text());
    stage.keys("/nowhere");
    assert!(stage.text().contains("no match"), "{}", stage.text());
    stage.keys("<esc>");
    assert!(stage.text().contains("row 60") && !stage.text().contains("no match"), "{}", stage.text());
    stage.keys("<esc>");
    assert!(!stage.text().contains("row 60"), "{}", stage.text());
}

#[test]
fn a_result_is_chosen_from_the_window_and_left_out() {
    let mut stage = context_window();
    assert!(stage.text().contains("x leave a result out"), "{}", stage.text());
    stage.keys("x");
    let result = |index, name: &str| WindowResult { index, name: name.into(), tokens: 1_200 };
    let results = vec![result(14, "readFile src/cart.rs: 118 lines"), result(3, "readFile a.rs: 20 lines")];
    stage.answer(|query| *query == Query::Results, Listing::Results(results));
    assert!(stage.text().contains("14 readFile src/cart.rs: 118 lines"), "{}", stage.text());
    stage.keys("<down><enter>");
    assert!(matches!(stage.sent()[..], [.., Command::LeaveOut(3)]), "{:?}", stage.sent());
    stage.keys("x<esc>");
    assert!(stage.text().contains("x leave a result out"), "the page stays below: {}", stage.text());
}

/// Returns what a key can change: the picture with its cursor, and what was sent.
fn seen(stage: &Stage) -> (String, usize) {
    (stage.text(), stage.effects.len())
}

/// Returns whether a key is neither listed in a context, nor the beginning of a sequence, nor text where text is typed.
fn is_unlisted(keys: &Keys, context: Context, event: &KeyEvent) -> bool {
    let Some(chord) = Chord::of(event) else { return false };
    match keys.find(context, &[chord]) {
        KeyMatch::Action(action) => !help::listed(context).contains(&action),
        KeyMatch::Begun => false,
        KeyMatch::Nothing => chord.letter().is_none() || !takes_text(context),
    }
}

#[test]
fn keys_that_are_not_listed_do_nothing() {
    let keys = Keys::default();
    let mut wrong = Vec::new();
    for (context, name) in Context::ALL.iter().copied() {
        for (scene, make) in scenes(context) {
            let mut stage = make();
            assert_eq!(stage.app.context(), context, "{name}, {scene}:\n{}", stage.text());
            let before = seen(&stage);
            let unlisted: Vec<KeyEvent> =
                keyboard().into_iter().filter(|key| is_unlisted(&keys, context, key)).collect();
            // A screen is drawn for every few keys; where it differs, for each of them.
            // Neighbours may undo each other, so the few are taken from all over the keyboard.
            let parts = unlisted.len().div_ceil(8);
            for part in 0..parts {
                let few: Vec<&KeyEvent> = unlisted.iter().skip(part).step_by(parts).collect();
                few.iter().for_each(|event| stage.say(Msg::Key(**event)));
                if seen(&stage) == before {
                    continue;
                }
                for event in few {
                    stage = make();
                    stage.say(Msg::Key(*event));
                    if seen(&stage) != before {
                        wrong.push(format!("{name}, {scene}: {event:?}"));
                    }
                }
                stage = make();
            }
        }
    }
    assert!(wrong.is_empty(), "keys that are not listed and do something:\n{}", wrong.join("\n"));
}

#[test]
fn keys_that_are_listed_do_something() {
    let keys = Keys::default();
    let mut idle: BTreeSet<String> = BTreeSet::new();
    for (context, name) in Context::ALL.iter().copied().filter(|(context, _)| !scenes(*context).is_empty()) {
        let means = |event: &KeyEvent| match keys.find(context, &[Chord::of(event)?]) {
            KeyMatch::Action(action) => Some(action),
            _ => None,
        };
        let listed = help::listed(context);
        // Where a list of files is open under the input, most of the input's keys are proved with the input.
        let own = |action: &Action| context != Context::Completion || ours(context, *action);
        let mut left: BTreeSet<Action> = keyboard().iter().filter_map(means).collect();
        left.retain(|action| listed.contains(action) && own(action) && !rests(context, *action));
        for (_, make) in scenes(context) {
            let mut stage = make();
            let mut before = seen(&stage);
            for event in keyboard() {
                let Some(action) = means(&event).filter(|action| left.contains(action)) else { continue };
                stage.say(Msg::Key(event));
                if seen(&stage) != before {
                    left.remove(&action);
                    stage = make();
                    before = seen(&stage);
                }
            }
        }
        idle.extend(left.iter().map(|action| format!("{name}: {}", action.name())));
    }
    assert!(idle.is_empty(), "keys that are listed and do nothing:\n{}", Vec::from_iter(idle).join("\n"));
}

/// Returns whether a context has a line of its own for an action.
fn ours(context: Context, action: Action) -> bool {
    GROUPS.iter().any(|group| group.context == context && group.actions.contains(&action))
}

/// Returns whether there is nothing to see of an action by design: the pane whose key it is has the keys already.
fn rests(context: Context, action: Action) -> bool {
    matches!(
        (context, action),
        (Context::Chat, Action::FocusChat)
            | (Context::Tools, Action::FocusTools)
            | (Context::Archive, Action::FocusArchive)
            | (Context::Diff, Action::FocusDiff)
            | (Context::Question | Context::Card, Action::FocusQuestion)
    )
}

/// The rows of the guide's table of keys, each with the context that its keys are looked up in.
const GUIDE_ROWS: &[(&str, Context)] = &[
    ("anywhere", Context::Pane),
    ("input", Context::Input),
    ("proposal", Context::Diff),
    ("connect", Context::Form),
    ("changed in this session", Context::Diff),
    ("question", Context::Question),
    ("command", Context::Card),
    ("chat", Context::Chat),
    ("tools", Context::Tools),
    ("archive", Context::Archive),
    ("graph", Context::Graph),
    ("timeline", Context::Timeline),
    ("blame", Context::Blame),
    ("sessions", Context::Sessions),
    ("page", Context::Viewer),
];

/// The keys that a part of a row begins with, as `keys.toml` writes them; letters that are typed are none.
fn keys_of(part: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in part.split_whitespace() {
        let word = word.trim_matches([',', '`', ':']);
        let alternatives: Vec<&str> = if word.len() > 1 { word.split('/').collect() } else { vec![word] };
        let named = ["Tab", "Esc", "Enter", "Space", "Up", "Down", "Left", "Right"];
        let is_key = |key: &&str| {
            let last = key.rsplit('-').next().unwrap_or_default();
            let modified = ["Ctrl-", "Alt-", "Shift-"].iter().any(|modifier| key.starts_with(modifier));
            let function = key.strip_prefix('F').is_some_and(|n| n.parse::<u8>().is_ok());
            key.chars().count() == 1 || function || named.contains(&last) || modified
        };
        match word {
            "or" if !found.is_empty() => {}
            // Any digit selects; what begins a mention or a command is text.
            "1-9" | "@" => {}
            "/" if part.contains("`/` command") => {}
            _ if alternatives.iter().all(is_key) => {
                let chord = |key: &&str| if key.chars().count() == 1 { key.to_string() } else { key.to_lowercase() };
                found.extend(alternatives.iter().map(chord));
            }
            _ => break,
        }
    }
    found
}

/// The guide's keys, by row.
fn guide_keys() -> BTreeMap<&'static str, Vec<String>> {
    let table = include_str!("../../assets/guide/keys.md");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let rows = rows.filter(|(name, _)| *name != "where");
    rows.map(|(name, cell)| (name, cell.split(" · ").flat_map(|part| part.split(", ")).flat_map(keys_of).collect()))
        .collect()
}

#[test]
fn the_keys_of_the_guide_are_those_of_the_table() {
    let bound: toml::Table = include_str!("../../assets/keys.toml").parse().expect("keys.toml");
    let action = |context: Context, key: &str| {
        let around = std::iter::once(&context).chain(context.outer());
        let name = around.filter_map(|context| bound.get(context.name())?.get(key)?.as_str()).next()?;
        Action::named(name)
    };
    let (guide, mut found) = (guide_keys(), 0);
    assert_eq!(guide.len(), GUIDE_ROWS.len(), "a row has no context: {:?}", guide.keys());
    let mut listed: BTreeMap<Context, BTreeSet<Action>> = BTreeMap::new();
    for (row, context) in GUIDE_ROWS {
        for key in &guide[row] {
            let action = action(*context, key).unwrap_or_else(|| panic!("the guide, {row}: {key} does nothing there"));
            listed.entry(*context).or_default().insert(action);
            found += 1;
        }
    }
    assert!(found > 90, "only {found} keys were found");
    // Where the person decides, no key is left out.
    for context in [Context::Diff, Context::Card] {
        for group in GROUPS.iter().filter(|group| group.context == context && !group.hint().is_empty()) {
            let left = group.actions.iter().find(|action| !listed[&context].contains(action));
            assert_eq!(left, None, "the guide leaves out a key of {}", context.name());
        }
    }
}
