use std::time::Duration;

use super::*;
use crate::proposal::Counts;
use crate::protocol::{CallChange, CommandBegan, CommandEnd, CommandEvent, PreviewLine, Undone, UndoneChange};
use crate::tui::pane::testing::{self, NOW, Screen, screen};
use crate::tui::theme::Theme;

fn call(name: &str, main: &str, state: CallState, summary: &str, ms: u64) -> Call {
    let took = state.is_final().then_some(Duration::from_millis(ms));
    Call { main: main.into(), summary: summary.into(), took, ..testing::call(name, state) }
}

fn line(sign: char, text: &str) -> PreviewLine {
    PreviewLine { sign, text: text.into() }
}

fn add(tools: &mut Tools, calls: Vec<Call>, at: i64) {
    for c in calls {
        let id = ItemId(tools.calls.len() as u64);
        tools.apply(&EventBody::Added(id, Item::Call(c)), at);
    }
}

fn drawn(tools: &mut Tools, width: u16, height: u16) -> Screen {
    let theme = Theme::shipped("dark");
    tools.measure(
        width,
        height,
        &Look {
            theme: &theme,
            glyphs: &crate::tui::glyphs::Glyphs::UNICODE,
            keys: crate::tui::pane::testing::keys(),
            now: 0,
            zone: 0,
        },
    );
    screen(width, height, "dark", false, |area, buf, ctx| tools.draw(area, buf, ctx))
}

fn main_frame() -> Tools {
    let mut tools = Tools::default();
    let mut search = call("searchInDirectory", "\"price_of\"", CallState::Done, "2 files", 11);
    search.preview = vec![
        line(' ', "src/cart.rs:27:            let price = catalog.price_of("),
        line(' ', "src/handlers/product.rs:41:    catalog.price_of(id).await?"),
    ];
    add(
        &mut tools,
        vec![
            call("readFile", "src/cart.rs", CallState::Done, "38 lines", 2),
            call("readFile", "src/catalog.rs", CallState::Done, "50 lines", 2),
            search,
        ],
        NOW,
    );
    tools.apply(&EventBody::Added(ItemId(90), Item::Answer { text: "Only two places".into() }), NOW);
    let mut replace = call("replaceInFile", "src/catalog.rs", CallState::Waiting, "", 0);
    replace.counts = Some(Counts { added: 7, removed: 6 });
    replace.preview = vec![
        line('-', "/// The price of one product."),
        line('-', "pub async fn price_of(&self, id: ProductId) -> sqlx::Result<Money> {"),
        line('+', "/// The prices of several products, in one query."),
        line('+', "pub async fn prices(&self, ids: &[ProductId]) -> sqlx::Result<Prices> {"),
        line('+', "    sqlx::query_as(PRICES_BY_IDS)"),
    ];
    let mut writing = call("replaceInFile", "src/cart.rs", CallState::Streaming, "", 0);
    writing.arguments = r#"{"path": "src/cart.rs", "search": "let mut total = Money::ZERO;\nfor", "#.into();
    add(
        &mut tools,
        vec![call("searchInDirectory", "\"total(\"", CallState::Running, "", 0), replace, writing],
        NOW - 400,
    );
    tools.apply(&EventBody::Grew(ItemId(5), r#""replace": "let ids: Vec<_> = self.lines.iter()"#.into()), NOW);
    tools
}

#[test]
fn the_finished_frame() {
    let mut tools = main_frame();
    let screen = drawn(&mut tools, 56, 24);
    screen.dump("02-tools");
    insta::assert_snapshot!(screen.text());
    let theme = Theme::shipped("dark");
    let note = super::super::testing::note(&theme, |ctx| tools.note(50, ctx));
    assert_eq!(note, "3 done · 1 running · 2 waiting");
    assert_eq!(super::super::testing::note(&theme, |ctx| tools.note(24, ctx)), "1 running · 2 waiting");
}

#[test]
fn a_file_that_someone_else_changed_is_marked_until_it_is_read_again() {
    let mut tools = Tools::default();
    let read = |n| call("readFile", "src/cart.rs", CallState::Done, n, 2);
    add(&mut tools, vec![read("38 lines"), call("readFile", "src/a.rs", CallState::Done, "1 line", 2)], NOW);
    let marks = |tools: &mut Tools| drawn(tools, 60, 12).text().matches("! changed outside nebula").count();
    assert_eq!(marks(&mut tools), 0);
    tools.apply(&EventBody::Drifted(vec!["src/cart.rs".into()]), NOW);
    assert_eq!(marks(&mut tools), 1);
    let id = ItemId(9);
    tools.apply(&EventBody::Added(id, Item::Call(call("readFile", "src/cart.rs", CallState::Running, "", 0))), NOW);
    assert_eq!(marks(&mut tools), 1);
    tools.apply(&EventBody::Changed(id, Item::Call(read("39 lines"))), NOW);
    assert_eq!(marks(&mut tools), 0);
}

#[test]
fn a_long_reason_says_that_it_goes_on() {
    let mut failed = call("readFile", "a.rs", CallState::Failed, "", 1);
    failed.reason = Some("words that say why ".repeat(30));
    let mut tools = Tools::default();
    add(&mut tools, vec![failed], NOW);
    let visible = drawn(&mut tools, 60, 8).text();
    assert_eq!(visible.lines().filter(|l| l.trim_end().ends_with('…')).count(), 1, "{visible}");
}

#[test]
fn look_alike_letters_are_marked() {
    let mut edit = call("replaceInFile", "a.rs", CallState::Done, "", 1);
    edit.preview = vec![line('+', "let p\u{430}ypal = \"\u{202e}\";")];
    edit.arguments = r#"{"replace":"let pаypal = 2"}"#.into();
    let mut tools = Tools::default();
    add(&mut tools, vec![edit], NOW);
    assert!(drawn(&mut tools, 60, 8).text().contains("let p⟨U+0430⟩ypal = \"⟨U+202E⟩\";"));
    tools.act(Action::Open, NOW);
    let opened = drawn(&mut tools, 60, 8).text();
    assert!(opened.contains("let p⟨U+0430⟩ypal = 2"), "{opened}");
}

#[test]
fn a_reason_leaves_out_what_its_colon_announces() {
    assert_eq!(super::detail_of("a.rs: not there. It reads now:"), "a.rs: not there.");
    assert_eq!(super::detail_of("it fits 3 places, at lines 1, 2, 3:"), "it fits 3 places, at lines 1, 2, 3");
    assert_eq!(super::detail_of("a.rs is a folder."), "a.rs is a folder.");
}

#[test]
fn reasons_are_never_folded() {
    let mut tools = Tools::default();
    let with = |mut c: Call, reason: &str| {
        c.reason = Some(reason.into());
        c
    };
    add(
        &mut tools,
        vec![
            call("readFile", "src/cart.rs", CallState::Done, "38 lines", 2),
            with(
                call("replaceInFile", "src/cart.rs", CallState::Refused, "", 4),
                "changed on disk at 12:06:02, one line",
            ),
            with(
                call("searchInDirectory", "\"[price\" regex", CallState::Failed, "", 1),
                "not a regular expression: [ is never closed",
            ),
            with(
                call("readFile", "../prices/live.csv", CallState::Refused, "", 0),
                "outside the workspace; you rejected this",
            ),
            call("list", "src", CallState::Interrupted, "", 0),
            call("askUser", "which currency", CallState::Asking, "", 0),
        ],
        NOW,
    );
    tools.act(Action::FoldAll, NOW);
    tools.act(Action::First, NOW);
    insta::assert_snapshot!(drawn(&mut tools, 56, 10).text());
    assert_eq!(tools.mark(), Some(Mark::Waiting));
}

#[test]
fn japanese_and_narrow_panes_are_cut_by_cells() {
    let mut tools = Tools::default();
    let mut search = call("searchInDirectory", "\"価格\"", CallState::Done, "4 files", 11);
    search.preview = vec![line(' ', "src/cart.rs:24:/// 価格の合計を返す")];
    let mut replace = call("replaceInFile", "docs/設計/価格の決め方.md", CallState::Waiting, "", 0);
    replace.counts = Some(Counts { added: 3, removed: 2 });
    replace.preview = vec![line('+', "/// 複数の商品の価格を、一回の問い合わせで読む。")];
    add(&mut tools, vec![search, replace], NOW);
    let screen = drawn(&mut tools, 48, 8);
    screen.dump("12-tools");
    insta::assert_snapshot!(screen.text());
    for width in [1, 2, 7, 19, 40, 79] {
        drawn(&mut tools, width, 5);
    }
}

#[test]
fn a_thousand_calls_scroll() {
    let mut tools = Tools::default();
    add(
        &mut tools,
        (0..1_500).map(|i| call("readFile", &format!("src/f{i}.rs"), CallState::Done, "3 lines", 1)).collect(),
        NOW,
    );
    let theme = Theme::shipped("dark");
    assert!(drawn(&mut tools, 56, 10).text().contains("src/f1499.rs") && tools.follow);
    tools.act(Action::HalfUp, NOW);
    tools.apply(&EventBody::Added(ItemId(9_999), Item::Call(call("list", "src", CallState::Done, "", 1))), NOW);
    assert!(!drawn(&mut tools, 56, 10).text().contains("list"));
    assert_eq!(super::super::testing::note(&theme, |ctx| tools.note(50, ctx)), "6 lines below");
    tools.act(Action::Last, NOW);
    assert!(drawn(&mut tools, 56, 10).text().contains("list"));
    tools.act(Action::First, NOW);
    assert!(drawn(&mut tools, 56, 10).text().contains("src/f0.rs"));
}

#[test]
fn enter_shows_the_whole_result() {
    let mut tools = Tools::default();
    let mut read = call("readFile", "src/cart.rs", CallState::Done, "38 lines", 2);
    read.arguments = r#"{"path": "src/cart.rs"}"#.into();
    read.result = Some((1..40).map(|i| format!("{i}: line\n")).collect());
    add(&mut tools, vec![read], NOW);
    drawn(&mut tools, 40, 8);
    assert!(!tools.offers(Action::Escape));
    tools.act(Action::Open, NOW);
    assert!(tools.offers(Action::Escape) && tools.is_viewing());
    insta::assert_snapshot!(drawn(&mut tools, 40, 8).text());
    tools.line(LineFor::Search, LineInput::Taken("30:"), NOW);
    let again = tools.act(Action::Search, NOW);
    assert!(matches!(&again[..], [PaneEffect::Line { text, .. }] if text.is_empty()), "it begins empty: {again:?}");
    assert!(drawn(&mut tools, 40, 8).text().contains("30: line"));
    let effects = tools.act(Action::Copy, NOW);
    assert!(matches!(&effects[0], PaneEffect::Run(Effect::Copy(t)) if t.contains("39: line")));
    tools.act(Action::Escape, NOW);
    assert!(!tools.is_viewing());
}

#[test]
fn a_new_session_clears_and_durations_are_short() {
    let words = [0, 11, 99, 400, 9_940, 14_000, 125_000, 7_300_000]
        .map(|ms| crate::messages::times::duration(Duration::from_millis(ms)));
    assert_eq!(words, ["0 ms", "11 ms", "99 ms", "0.4 s", "9.9 s", "14 s", "2 min", "2 h"]);
}

#[test]
fn what_is_left_out_is_never_selected() {
    let mut tools = Tools::default();
    let states = [CallState::Done, CallState::Failed, CallState::Done, CallState::Failed, CallState::Done];
    let named = |(i, state): (usize, CallState)| call("readFile", &format!("src/{i}.rs"), state, "", 2);
    add(&mut tools, states.into_iter().enumerate().map(named).collect(), NOW);
    drawn(&mut tools, 80, 20);
    tools.act(Action::FailedOnly, NOW);
    assert_eq!(tools.chosen(), Some(3), "the last that shows");
    tools.act(Action::First, NOW);
    assert_eq!(tools.selected, Some(1));
    tools.act(Action::Last, NOW);
    assert_eq!(tools.selected, Some(3));
}

#[test]
fn the_file_under_way_keeps_its_name() {
    let mut tools = Tools::default();
    let path = "services/warehouse/handlers/product_prices.rs";
    add(&mut tools, vec![call("readFile", path, CallState::Running, "", 0)], NOW);
    assert_eq!(tools.now(80, "…").as_deref(), Some(&*format!("reading {path}")));
    assert_eq!(tools.now(40, "…").as_deref(), Some("reading …/handlers/product_prices.rs"));
}

#[test]
fn earlier_steps_of_a_long_session_fold_into_one_row() {
    let mut tools = Tools::default();
    let steps = |n: u32, name: &str, state| Call { step: n, ..call(name, &format!("src/f{n}.rs"), state, "1 line", 1) };
    let mut calls: Vec<Call> = (1..=40).map(|n| steps(n, "readFile", CallState::Done)).collect();
    calls[3].state = CallState::Failed;
    calls.push(steps(41, "replaceInFile", CallState::Running));
    add(&mut tools, calls, NOW);
    let text = drawn(&mut tools, 70, 30).text();
    assert!(text.starts_with(" ⋯ 12 earlier steps: read 11, 1 failed\n ✓ read   src/f13.rs"), "{text}");
    // A resumed session counts its steps anew.
    let mut resumed = Tools::default();
    let numbers = (1..=40).chain(1..=20);
    add(&mut resumed, numbers.map(|n| steps(n, "readFile", CallState::Done)).collect(), NOW);
    let text = drawn(&mut resumed, 70, 30).text();
    assert!(text.starts_with(" ⋯ 31 earlier steps"), "{text}");
    // A search looks at all, and Escape folds again.
    tools.line(LineFor::Search, LineInput::Now("src/f4.rs"), NOW);
    assert_eq!(tools.search_hits().as_deref(), Some("1 of 1"));
    let text = drawn(&mut tools, 70, 30).text();
    let rows: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert!(rows[0].starts_with(" / src/f4.rs   1 of 1 ") && rows[0].ends_with(" f failed only"), "{text}");
    assert!(rows[1].starts_with('─') && rows[2..].iter().any(|row| row.contains("src/f4.rs")), "{text}");
    // In a low pane it stands on the pane line alone.
    assert!(!drawn(&mut tools, 70, 11).text().contains("1 of 1"));
    tools.line(LineFor::Search, LineInput::Left, NOW);
    tools.act(Action::Last, NOW);
    assert!(drawn(&mut tools, 70, 30).text().starts_with(" ⋯ 12 earlier"));
    // Going up beyond the first row opens them; the rows that are seen stay.
    tools.act(Action::First, NOW);
    let text = drawn(&mut tools, 70, 30).text();
    assert!(text.contains("src/f1.rs") && !text.contains("earlier"), "{text}");
    tools.act(Action::Last, NOW);
    assert!(drawn(&mut tools, 70, 30).text().starts_with(" ⋯ 12 earlier"));
    for _ in 0..30 {
        tools.act(Action::Up, NOW);
    }
    let text = drawn(&mut tools, 70, 30).text();
    assert!(text.contains("src/f12.rs") && !text.contains("earlier"), "{text}");
}

fn began(id: &str, text: &str) -> EventBody {
    EventBody::Command(CommandEvent::Began(CommandBegan {
        id: Some(id.into()),
        text: text.into(),
        class: "project",
        grant: "workspace",
        keeper: "guard",
        decision: "allowed",
        by_person: false,
        entry: None,
    }))
}

fn ended(id: &str, running: bool) -> EventBody {
    EventBody::Command(CommandEvent::Ended(CommandEnd { id: id.into(), running, ..CommandEnd::default() }))
}

fn rows(tools: &mut Tools, height: u16) -> Vec<String> {
    drawn(tools, 60, height).text().lines().map(str::to_string).collect()
}

#[test]
fn a_job_has_a_row_on_top_until_it_ends() {
    let mut tools = main_frame();
    let before = rows(&mut tools, 30);
    tools.apply(&began("c3", "cargo watch -x check"), NOW);
    assert_eq!(rows(&mut tools, 30), before, "its call is its row while that waits");
    tools.apply(&ended("c3", true), NOW);
    let after = rows(&mut tools, 30);
    assert!(
        after[0].contains("run") && after[0].contains("cargo watch -x check") && after[0].contains("job c3"),
        "{after:?}"
    );
    assert_eq!(after[1], before[0], "the calls stand below it");
    tools.click(5, 0, NOW);
    assert_eq!(tools.selected, None, "a job is no call");
    tools.click(5, 1, NOW);
    assert_eq!(tools.selected, Some(0));
    tools.apply(&ended("c3", false), NOW);
    tools.selected = None;
    assert_eq!(rows(&mut tools, 30), before);
}

#[test]
fn jobs_leave_the_rows_of_a_low_pane_to_the_calls() {
    let mut tools = main_frame();
    for id in ["c1", "c2", "c3", "c4", "c5"] {
        tools.apply(&began(id, id), NOW);
        tools.apply(&ended(id, true), NOW);
    }
    let jobs = |rows: Vec<String>| rows.iter().filter(|row| row.contains("job c")).count();
    assert_eq!(jobs(rows(&mut tools, 20)), 3);
    assert_eq!(jobs(rows(&mut tools, 5)), 1);
    assert_eq!(jobs(rows(&mut tools, 3)), 0);
    assert_eq!(jobs(rows(&mut tools, 0)), 0);
}

#[test]
fn a_call_that_was_undone_says_so() {
    let mut tools = Tools::default();
    let mut edit = call("editFile", "src/cart.rs", CallState::Done, "", 2);
    edit.counts = Some(Counts { added: 7, removed: 6 });
    edit.change = Some(CallChange::new("one", vec!["src/cart.rs".into()]));
    add(&mut tools, vec![edit], NOW);
    let undone = |tools: &mut Tools, path: &str, hunks| {
        let (undone, lines) = (Undone { hunks, of: 2 }, Vec::new());
        let change = UndoneChange { changeset: "one".into(), path: path.into(), undone, lines };
        tools.apply(&EventBody::Undone(vec![change]), NOW);
        drawn(tools, 60, 4).text()
    };
    let text = undone(&mut tools, "src/other.rs", 2);
    assert!(text.contains("✓ edit") && text.contains("+7"), "{text}");
    let text = undone(&mut tools, "src/cart.rs", 1);
    assert!(text.contains("✓ edit") && text.contains("1 of 2 hunks undone"), "{text}");
    let text = undone(&mut tools, "src/cart.rs", 2);
    assert!(text.contains("↶ edit") && text.contains("undone") && !text.contains("+7"), "{text}");
    tools.apply(&EventBody::Undone(Vec::new()), NOW);
    assert!(drawn(&mut tools, 60, 4).text().contains("✓ edit"));
}

#[test]
fn a_running_command_shows_its_newest_output() {
    let mut tools = Tools::default();
    let mut run = call("runCommand", "cargo test", CallState::Running, "40 lines", 0);
    run.preview = vec![line('$', "cargo test")];
    run.preview.extend((29..=40).map(|n| line(' ', &format!("output {n}"))));
    run.printed = 40;
    add(&mut tools, vec![run.clone()], NOW);
    let text = drawn(&mut tools, 60, 12).text();
    assert!(text.contains("$ cargo test") && text.contains("output 40") && text.contains("output 33"), "{text}");
    assert!(text.contains("⋯ 32 lines before") && !text.contains("output 32"), "{text}");
    // Once it is over a few lines are enough; their number is as true.
    run.state = CallState::Done;
    tools.apply(&EventBody::Changed(ItemId(0), Item::Call(run)), NOW);
    let text = drawn(&mut tools, 60, 12).text();
    assert!(text.contains("⋯ 37 lines before") && text.contains("output 38") && text.contains("output 40"), "{text}");
}

#[test]
fn the_end_of_what_the_person_ran_is_shown() {
    let mut tools = Tools::default();
    let mut own = call("runCommand", "seq 40", CallState::Done, "exit 0", 2);
    own.preview = (29..=40).map(|n| line(' ', &format!("output {n}"))).collect();
    (own.printed, own.is_typed) = (40, true);
    add(&mut tools, vec![own], NOW);
    let text = drawn(&mut tools, 60, 12).text();
    assert!(text.contains("⋯ 36 lines before") && text.contains("output 37") && text.contains("output 40"), "{text}");
    assert!(!text.contains("output 36"), "{text}");
}

fn began_in(entry: u64, id: &str, text: &str) -> EventBody {
    let EventBody::Command(CommandEvent::Began(command)) = began(id, text) else { unreachable!() };
    EventBody::Command(CommandEvent::Began(CommandBegan { entry: Some(ItemId(entry)), ..command }))
}

fn printed(id: &str, lines: std::ops::RangeInclusive<usize>, begun: &str) -> EventBody {
    let text = lines.map(|n| format!("output {n}\n")).collect();
    EventBody::Command(CommandEvent::Printed { id: id.into(), missed: 0, text, begun: begun.into() })
}

/// A command that runs, with 300 lines of output.
fn running_frame() -> Tools {
    let mut tools = Tools::default();
    let mut run = call("runCommand", "make", CallState::Running, "", 0);
    run.arguments = r#"{"command": "make"}"#.into();
    run.preview = vec![line('$', "make")];
    add(&mut tools, vec![run], NOW);
    tools.apply(&began_in(0, "c1", "make"), NOW);
    tools.apply(&printed("c1", 1..=299, "output 300"), NOW);
    tools
}

/// The rows of a pane of 40 cells, without their scroll thumb.
fn seen(tools: &mut Tools, height: u16) -> Vec<String> {
    let text = drawn(tools, 40, height).text();
    text.lines().map(|row| row.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_string()).collect()
}

#[test]
fn a_running_command_has_the_rows_of_its_pane_and_a_true_count() {
    let mut tools = running_frame();
    let text = drawn(&mut tools, 60, 40).text();
    assert!(text.contains("⋯ 264 lines before") && text.contains("output 265"), "{text}");
    assert!(text.contains("output 300") && !text.contains("output 264"), "{text}");
    assert_eq!(text.lines().filter(|row| !row.trim().is_empty()).count(), 39, "{text}");
    tools.apply(&printed("c1", 300..=301, ""), NOW);
    let text = drawn(&mut tools, 60, 12).text();
    assert!(text.contains("⋯ 293 lines before") && text.contains("output 301"), "{text}");
    // Calls before it keep some rows.
    let mut tools = Tools::default();
    add(&mut tools, (0..9).map(|n| call("readFile", &format!("f{n}.rs"), CallState::Done, "", 1)).collect(), NOW);
    let mut run = call("runCommand", "make", CallState::Running, "", 0);
    run.preview = vec![line('$', "make")];
    add(&mut tools, vec![run], NOW);
    tools.apply(&began_in(9, "c1", "make"), NOW);
    tools.apply(&printed("c1", 1..=300, ""), NOW);
    let text = drawn(&mut tools, 60, 30).text();
    assert!(text.contains("f8.rs") && text.contains("⋯ 283 lines before"), "{text}");
}

#[test]
fn a_running_command_that_is_opened_is_followed_until_one_scrolls_back() {
    let mut tools = running_frame();
    drawn(&mut tools, 40, 10);
    tools.act(Action::Open, NOW);
    let shows = seen(&mut tools, 10);
    assert!(shows[1] == "output 292" && shows[9] == "output 300", "{shows:?}");
    tools.apply(&printed("c1", 300..=302, "at"), NOW);
    assert_eq!(seen(&mut tools, 10)[8..], ["output 302", "at"]);
    // What is read stays, whatever is printed, and says how much is below.
    tools.act(Action::PageUp, NOW);
    let before = seen(&mut tools, 10);
    assert_eq!(before[9], "output 295");
    tools.apply(&printed("c1", 303..=400, ""), NOW);
    assert_eq!(seen(&mut tools, 10)[1..], before[1..]);
    let theme = Theme::shipped("dark");
    assert!(super::super::testing::note(&theme, |ctx| tools.note(50, ctx)).ends_with(" lines below"));
    // The command ends: its result stands above, and the same lines stay in view.
    let mut over = tools.calls[0].call.clone();
    (over.state, over.result) = (CallState::Done, Some("exit 0\nthe whole\nresult".into()));
    tools.apply(&ended("c1", false), NOW);
    tools.apply(&EventBody::Changed(ItemId(0), Item::Call(over)), NOW);
    assert_eq!(seen(&mut tools, 10)[1..], before[1..]);
    tools.act(Action::Last, NOW);
    assert_eq!(seen(&mut tools, 10)[9], "output 400");
    tools.act(Action::First, NOW);
    assert!(drawn(&mut tools, 40, 12).text().contains("the whole"));
}

#[test]
fn a_call_that_was_opened_before_its_command_began_is_followed_too() {
    let mut tools = Tools::default();
    let mut run = call("runCommand", "make", CallState::Waiting, "", 0);
    run.arguments = r#"{"command": "make"}"#.into();
    add(&mut tools, vec![run], NOW);
    drawn(&mut tools, 40, 10);
    tools.act(Action::Open, NOW);
    tools.apply(&began_in(0, "c1", "make"), NOW);
    tools.apply(&printed("c1", 1..=2, "half"), NOW);
    assert_eq!(seen(&mut tools, 10)[3..7], ["", "output", "output 1", "output 2"]);
    assert_eq!(seen(&mut tools, 10)[7], "half");
}

#[test]
fn the_end_key_follows_again_and_2000_lines_are_held() {
    let mut tools = running_frame();
    drawn(&mut tools, 40, 10);
    tools.act(Action::Open, NOW);
    tools.act(Action::Up, NOW);
    tools.apply(&printed("c1", 300..=2_345, ""), NOW);
    assert_eq!(seen(&mut tools, 10)[1], "output 346", "the oldest that is held");
    tools.act(Action::Last, NOW);
    tools.apply(&printed("c1", 2_346..=2_350, ""), NOW);
    assert_eq!(seen(&mut tools, 10)[9], "output 2350");
    tools.act(Action::First, NOW);
    assert_eq!(seen(&mut tools, 10)[4..6], ["output  350 lines before", "output 351"]);
}

#[test]
fn a_job_is_opened_by_its_row_and_by_its_call_and_after_its_end() {
    let mut tools = running_frame();
    let mut over = tools.calls[0].call.clone();
    (over.state, over.result) = (CallState::Done, Some("still running as c1".into()));
    tools.apply(&ended("c1", true), NOW);
    tools.apply(&EventBody::Changed(ItemId(0), Item::Call(over)), NOW);
    add(&mut tools, vec![call("readFile", "a.rs", CallState::Done, "1 line", 1)], NOW);
    tools.apply(&printed("c1", 300..=500, ""), NOW);
    let opened = |tools: &mut Tools| {
        tools.act(Action::Open, NOW);
        let rows = seen(tools, 10);
        tools.act(Action::Escape, NOW);
        rows
    };
    drawn(&mut tools, 40, 20);
    // The job stands above the first call.
    tools.act(Action::First, NOW);
    assert_eq!(tools.selected, Some(0));
    tools.act(Action::Up, NOW);
    assert_eq!((tools.selected, tools.jobs.selected_entry()), (None, Some(ItemId(0))));
    assert_eq!(opened(&mut tools)[9], "output 500");
    tools.act(Action::Down, NOW);
    assert_eq!((tools.selected, tools.jobs.selected_entry()), (Some(0), None));
    assert_eq!(opened(&mut tools)[9], "output 500");
    drawn(&mut tools, 40, 20);
    tools.click(5, 0, NOW);
    assert_eq!(tools.jobs.selected_entry(), Some(ItemId(0)));
    let last = |tools: &mut Tools, end: CommandEnd| {
        tools.apply(&EventBody::Command(CommandEvent::Ended(CommandEnd { id: "c1".into(), ..end })), NOW);
        drawn(tools, 60, 20).text()
    };
    let stop = tools.act(Action::StopCommand, NOW);
    assert!(format!("{stop:?}").contains("c1"), "{stop:?}");
    // What it prints while it is open is followed; the call has no part in it.
    tools.act(Action::Open, NOW);
    tools.apply(&printed("c1", 501..=600, ""), NOW);
    assert_eq!(seen(&mut tools, 10)[9], "output 600");
    tools.act(Action::Escape, NOW);
    let text = last(&mut tools, CommandEnd { exit: Some(7), ..CommandEnd::default() });
    assert!(text.contains("c1 ended: exit 7"), "{text}");
    assert!(tools.calls[0].call.is_unsuccessful());
    assert_eq!(tools.jobs.selected_entry(), None);
    tools.act(Action::First, NOW);
    assert_eq!(opened(&mut tools)[9], "output 600");
}

#[test]
fn an_answer_in_wide_characters_leaves_its_verb_and_a_long_name_is_whole() {
    let mut tools = Tools::default();
    let name = format!("src/{}.rs", "a_very_long_name_of_a_file_".repeat(2));
    add(
        &mut tools,
        vec![
            call("askUser", "which currency", CallState::Done, &"円建てにします".repeat(6), 2),
            call("readFile", &name, CallState::Done, "3 lines", 2),
        ],
        NOW,
    );
    let text = drawn(&mut tools, 48, 12).text();
    let row = text.lines().find(|row| row.contains("円建て")).expect("its row");
    assert!(row.starts_with(" ✓ ask ") && row.contains('…'), "{text}");
    let joined: String = text.lines().map(str::trim).collect();
    assert!(joined.contains(&name) && text.contains("3 lines"), "{text}");
}

#[test]
fn a_long_name_leaves_the_numbers_of_its_row() {
    for name in ["src/とても長い名前のファイル_その一.py", "src/a_rather_long_name_of_a_handler.py"] {
        let mut tools = Tools::default();
        let mut written = call("writeFile", name, CallState::Done, "", 3);
        written.counts = Some(Counts { added: 1, removed: 0 });
        add(&mut tools, vec![written, call("readFile", "src/cart.rs", CallState::Done, "38 lines", 2)], NOW);
        for width in [47, 55] {
            let text = drawn(&mut tools, width, 12).text();
            let rows: Vec<&str> = text.lines().collect();
            assert!(rows[0].contains("+1") && rows[0].ends_with("3 ms"), "{text}");
            let joined: String = rows.iter().map(|row| row.trim()).collect();
            assert!(joined.contains(name), "{text}");
            assert!(rows.iter().any(|row| row.contains("src/cart.rs") && row.contains("38 lines")), "{text}");
        }
    }
}

#[test]
fn a_call_without_a_path_takes_one_row() {
    let mut tools = Tools::default();
    let summary = "12 of 1,204 answers, a text of 38 lines";
    let calls = vec![
        call("askUser", "which currency", CallState::Done, summary, 2),
        call("readFile", "src/cart.rs", CallState::Done, "38 lines", 2),
    ];
    add(&mut tools, calls, NOW);
    let text = drawn(&mut tools, 44, 12).text();
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].contains("ask") && rows[1].contains("cart.rs"), "{text}");
}
