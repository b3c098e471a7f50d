use std::sync::Arc;

use super::*;
use crate::proposal::{FileChange, Proposal, ProposalId, State};
use crate::protocol::{BlameCause, BlamedFile, Command, MomentRow, PastChange, PastFile, RestoreRequest};
use crate::text::time::Clock;

fn moment(id: &str, at: i64, turn: i64, title: &str) -> MomentRow {
    let turn = Some(("s".to_string(), turn));
    MomentRow {
        id: id.into(),
        at,
        kind: PastKind::Edit,
        turn,
        title: title.into(),
        cause: format!("edit {id}"),
        files: 1,
    }
}

/// A timeline of three turns; the answer to what it asks for is taken in each time.
fn timeline() -> Timeline {
    let mut timeline = Timeline::opening_at(None);
    timeline.size = (140, 40);
    let moments = vec![
        moment("a1", 1_000, 1, "round half to even"),
        moment("b1", 60_000, 2, "sell gift cards"),
        moment("b2", 61_000, 2, "sell gift cards"),
        moment("c1", 120_000, 3, "load prices"),
        moment("c2", 121_000, 3, "load prices"),
    ];
    let asked = timeline.answer(&Query::Timeline, &Listing::Timeline(moments));
    // It opens at the beginning of the newest turn.
    assert_eq!(asked, [past(Some("c1"), None)]);
    timeline
}

fn past(then: Option<&str>, until: Option<&str>) -> PaneEffect {
    PaneEffect::Ask(Query::Past { then: then.map(str::to_string), until: until.map(str::to_string) })
}

fn differs(version: Option<&str>) -> Listing {
    let state = |text: &str| State::file(text.as_bytes().to_vec());
    let files = ["a.rs", "b.rs"].map(|path| FileChange::new(path, state("one\n"), state("two\n"), "", &[]));
    let change = Arc::new(Proposal { id: ProposalId(1), title: String::new(), files: files.into() });
    let file = PastFile { version: version.map(str::to_string), outside: None, is_left: false, unsure: false };
    Listing::Past(PastChange { change, files: vec![file.clone(), file], unreadable: Vec::new() })
}

fn stay(outcome: PastOutcome) -> Vec<PaneEffect> {
    match outcome {
        PastOutcome::Stay(effects) => effects,
        PastOutcome::Leave(effects) => panic!("it left: {effects:?}"),
    }
}

#[test]
fn a_moment_is_gone_to_by_changeset_by_turn_by_time_and_by_word() {
    let mut timeline = timeline();
    assert_eq!(stay(timeline.act(Action::OnInTime)), [past(Some("c2"), None)]);
    assert_eq!(stay(timeline.act(Action::OnInTime)), [past(None, None)]);
    assert!(!timeline.offers(Action::OnInTime) && !timeline.offers(Action::RestoreSince));
    assert_eq!(stay(timeline.act(Action::PreviousItem)), [past(Some("c1"), None)]);
    assert_eq!(stay(timeline.act(Action::PreviousItem)), [past(Some("b1"), None)]);
    assert_eq!(stay(timeline.act(Action::First)), [past(Some("a1"), None)]);
    assert_eq!(timeline.line(&LineFor::Search, LineInput::Taken("PRICES")), [past(Some("c2"), None)]);
    assert_eq!(timeline.line(&LineFor::Search, LineInput::Taken("gift")), [past(Some("b2"), None)]);
    assert_eq!(timeline.line(&LineFor::Search, LineInput::Taken("Edit A1")), [past(Some("a1"), None)], "by its cause");
    assert_eq!(timeline.line(&LineFor::Search, LineInput::Taken("gift")), [past(Some("b2"), None)]);
    let said = timeline.line(&LineFor::Search, LineInput::Taken("nowhere"));
    assert!(matches!(said.as_slice(), [PaneEffect::Say(_)]), "{said:?}");
    // Pinned, the other moment is compared instead of now; the earlier one comes first.
    stay(timeline.act(Action::Pin));
    assert_eq!(stay(timeline.act(Action::PreviousItem)), [past(Some("b1"), Some("b2"))]);
    assert_eq!(stay(timeline.act(Action::Last)), [past(Some("b2"), None)]);
}

#[test]
fn a_moment_is_named_as_on_the_command_line() {
    let goes = |words: &str| {
        let mut timeline = Timeline::opening_at(None).looking_for(words, Clock { now: 3_600_000, zone: 0 });
        let moments = vec![
            moment("a1", 1_000, 1, "round"),
            moment("b1", 60_000, 4, "sell"),
            moment("b2", 61_000, 4, "sell"),
            moment("c1", 120_000, 9, "load"),
        ];
        timeline.answer(&Query::Timeline, &Listing::Timeline(moments))
    };
    for (words, then) in
        [("now", None), ("00:01:00", Some("b2")), ("-59m", Some("b2")), ("s:2", Some("b1")), ("s:9", Some("c1"))]
    {
        assert_eq!(goes(words), [past(then, None)], "{words}");
    }
    for (words, why) in [("-2h", "nothing is archived before 00:00:01"), ("s:10", "no such moment")] {
        let effects = goes(words);
        let says = |effect: &PaneEffect| matches!(effect, PaneEffect::Say(said) if said.starts_with(why));
        assert!(effects.iter().any(says), "{words}: {effects:?}");
    }
}

#[test]
fn changesets_of_others_come_into_an_open_timeline_and_what_is_looked_at_stays() {
    let mut timeline = timeline();
    let query = Query::Past { then: Some("c1".into()), until: None };
    timeline.answer(&query, &differs(Some("v1")));
    stay(timeline.act(Action::Down));
    assert_eq!(timeline.path(), Some("b.rs"));
    let listed =
        |ids: &[(&str, i64)]| Listing::Timeline(ids.iter().map(|(id, at)| moment(id, *at, *at, "a turn")).collect());
    // It is listed once more where changesets came meanwhile.
    timeline.list_again();
    let more = listed(&[("a1", 1_000), ("a2", 2_000), ("c1", 120_000), ("c2", 121_000), ("d1", 130_000)]);
    let asked = timeline.answer(&Query::Timeline, &more);
    assert_eq!(asked, [past(Some("c1"), None), PaneEffect::Ask(Query::Timeline)]);
    assert_eq!((timeline.moments.len(), timeline.at, timeline.pinned), (5, 2, None));
    timeline.answer(&query, &differs(Some("v1")));
    assert_eq!(timeline.path(), Some("b.rs"), "nothing differs otherwise");
    let Listing::Past(mut fewer) = differs(Some("v1")) else { panic!("no past") };
    let last = fewer.change.files[1].clone();
    fewer.change = Arc::new(Proposal { id: ProposalId(1), title: String::new(), files: vec![last] });
    fewer.files.truncate(1);
    timeline.answer(&query, &Listing::Past(fewer));
    assert_eq!((timeline.path(), timeline.file), (Some("b.rs"), 0));
    // Now stays now, and a pinned moment its changeset.
    stay(timeline.act(Action::Pin));
    stay(timeline.act(Action::Last));
    let asked = timeline.answer(&Query::Timeline, &listed(&[("c1", 120_000), ("d1", 130_000), ("e1", 140_000)]));
    assert_eq!(asked, [past(Some("c1"), None)]);
    assert_eq!((timeline.at, timeline.pinned), (3, Some(0)));
}

#[test]
fn all_or_one_file_is_restored_as_a_proposal_and_an_answer_that_is_late_is_not_shown() {
    let mut timeline = timeline();
    let query = |then: &str| Query::Past { then: Some(then.into()), until: None };
    timeline.answer(&query("a1"), &differs(Some("v0")));
    assert_eq!(timeline.path(), None);
    timeline.answer(&query("c1"), &differs(Some("v1")));
    stay(timeline.act(Action::Down));
    assert_eq!(timeline.path(), Some("b.rs"));
    let version = RestoreRequest::Version { path: "b.rs".into(), version: "v1".into() };
    assert_eq!(timeline.act(Action::Restore), PastOutcome::Leave(vec![PaneEffect::send(Command::Restore(version))]));
    // While another moment is read, the one still on the screen is not restored in its place.
    stay(timeline.act(Action::BackInTime));
    assert!(
        matches!(timeline.act(Action::Restore), PastOutcome::Stay(said) if matches!(said[..], [PaneEffect::Say(_)]))
    );
    stay(timeline.act(Action::OnInTime));
    timeline.answer(&query("c1"), &differs(Some("v1")));
    let since = RestoreRequest::Since("c1".into());
    assert_eq!(timeline.act(Action::RestoreSince), PastOutcome::Leave(vec![PaneEffect::send(Command::Restore(since))]));
    // From one past moment to another nothing is restored.
    stay(timeline.act(Action::Pin));
    stay(timeline.act(Action::BackInTime));
    assert!(
        matches!(timeline.act(Action::RestoreSince), PastOutcome::Stay(said) if matches!(said[..], [PaneEffect::Say(_)]))
    );
    // What no version holds cannot be restored, but what nebula had left.
    stay(timeline.act(Action::Pin));
    let Listing::Past(mut left) = differs(None) else { panic!("no past") };
    left.files[0].is_left = true;
    let change = left.change.files[0].clone();
    timeline.answer(&query("b2"), &Listing::Past(left));
    let (now, then) = (Box::new(change.after), Box::new(change.before));
    let request = RestoreRequest::State { path: "a.rs".into(), now, then };
    assert_eq!(timeline.act(Action::Restore), PastOutcome::Leave(vec![PaneEffect::send(Command::Restore(request))]));
    timeline.answer(&query("b2"), &differs(None));
    assert!(
        matches!(timeline.act(Action::Restore), PastOutcome::Stay(said) if matches!(said[..], [PaneEffect::Say(_)]))
    );
}

#[test]
fn the_strip_shows_as_many_turns_as_there_is_room_for_and_always_the_moment() {
    let mut timeline = timeline();
    let (turns, before, after) = timeline.strip();
    assert_eq!((turns.len(), before, after), (4, 0, 0));
    for width in [20, 40, 60, 80, 200] {
        timeline.size.0 = width;
        for at in 0..=timeline.moments.len() {
            timeline.at = at;
            let (turns, before, after) = timeline.strip();
            assert!(turns.iter().any(|turn| turn.moments.contains(&at)), "{at} at {width}: {turns:?}");
            let seen: usize = turns.iter().map(|turn| turn.moments.len()).sum();
            assert_eq!(before + seen + after, timeline.moments.len() + 1, "{at} at {width}");
            let turn = turns.iter().find(|turn| turn.moments.contains(&at)).expect("there");
            let mark = turn.x + (at - turn.moments.start) * 4;
            assert_eq!(timeline.moment_at(mark as u16), Some(at));
        }
    }
    // Of a long turn those around the moment are seen.
    timeline.moments = (0..1_000).map(|n| moment(&n.to_string(), n, 1, "one turn")).collect();
    (timeline.at, timeline.size.0) = (500, 80);
    let (turns, before, after) = timeline.strip();
    assert!(turns[0].moments.contains(&500) && before > 400 && after > 400);
}

fn blamed() -> Blame {
    let cause = |kind, id: &str, prompt: &str| BlameCause {
        kind,
        unsure: false,
        at: Some(1_000),
        changeset: Some(id.into()).filter(|_| kind != PastKind::Before),
        turn: Some(("s".to_string(), 1)).filter(|_| kind == PastKind::Edit),
        prompt: prompt.into(),
        prompted_at: Some(900),
        title: String::new(),
    };
    let causes =
        vec![cause(PastKind::Before, "", ""), cause(PastKind::Edit, "c1", "load"), cause(PastKind::Command, "c2", "")];
    let (path, text) = ("a.rs".to_string(), "fn a() {}\nfn b() {}\nfn c() {}\nfn d() {}\n".into());
    let mut blame = Blame::at("a.rs", 0);
    blame.measure(100, 30);
    let file = BlamedFile { path, text, causes, lines: vec![0, 1, 1, 2], commits: Vec::new() };
    assert_eq!(blame.answer(&Query::Blame("a.rs".into()), &Listing::Blame(file)), []);
    blame
}

#[test]
fn runs_of_lines_lead_to_their_turn_and_their_diff() {
    let mut blame = blamed();
    assert!(!blame.offers(Action::Open) && !blame.offers(Action::ShowChange), "nobody wrote it");
    stay(blame.act(Action::NextItem));
    assert_eq!((blame.at, blame.run(blame.at)), (1, 1..3));
    let turn = PaneEffect::Turn { session: "s".into(), at: Some(900) };
    assert_eq!(stay(blame.act(Action::Open)), [turn]);
    stay(blame.act(Action::NextItem));
    assert_eq!(blame.at, 3);
    let asked = stay(blame.act(Action::ShowChange));
    assert!(matches!(&asked[..], [PaneEffect::Ask(Query::ReviewChange(ids, _))] if ids == &["c2"]), "{asked:?}");
    stay(blame.act(Action::Close));
    stay(blame.act(Action::PreviousItem));
    assert_eq!(blame.at, 1);
    blame.line(&LineFor::Search, LineInput::Now("fn D"));
    assert_eq!(blame.at, 3);
    assert_eq!(blame.act(Action::Close), PastOutcome::Leave(Vec::new()));
}

#[test]
fn a_tab_reaches_to_a_stop_of_the_line() {
    let mut blame = Blame::at("Makefile", 0);
    blame.measure(100, 30);
    let text = "ab:\tc\n\tmake\tx\n".into();
    let before = BlameCause {
        kind: PastKind::Before,
        unsure: false,
        at: None,
        changeset: None,
        turn: None,
        prompt: String::new(),
        prompted_at: None,
        title: String::new(),
    };
    let path = "Makefile".to_string();
    let file = BlamedFile { path, text, causes: vec![before], lines: vec![0, 0], commits: Vec::new() };
    blame.answer(&Query::Blame("Makefile".into()), &Listing::Blame(file));
    let drawn = crate::tui::pane::testing::screen(100, 30, "dark", true, |area, buf, ctx| {
        blame.draw(area, buf, true, ctx);
    });
    let text = drawn.text();
    assert!(text.contains("1  ab: c") && text.contains("2      make    x") && !text.contains("^I"), "{text}");
}

#[test]
fn a_name_is_whole_and_what_is_unsure_is_said_in_fewer_words() {
    let name = "20261127110000_create_prices_table_and_index.sql";
    let drawn = |width: u16, path: &str, outside: Option<(i64, i64)>| {
        let mut timeline = timeline();
        timeline.size = (width, 24);
        let state = |text: &str| State::file(text.as_bytes().to_vec());
        let file = FileChange::new(path, state("one\n"), state("two\n"), "", &[]);
        let change = Arc::new(Proposal { id: ProposalId(1), title: String::new(), files: vec![file] });
        let about = PastFile { version: None, outside, is_left: false, unsure: outside.is_none() };
        let past = PastChange { change, files: vec![about], unreadable: Vec::new() };
        let query = Query::Past { then: Some("c1".into()), until: None };
        timeline.answer(&query, &Listing::Past(past));
        let drawn = crate::tui::pane::testing::screen(width, 24, "dark", true, |area, buf, ctx| {
            timeline.draw(area, buf, true, ctx);
        });
        let text = drawn.text();
        let row = text.lines().skip(8).find(|row| row.contains(".sql") && !row.contains("+1 −1"));
        row.unwrap_or(&text).to_string()
    };
    let long = format!("migrations/2026/{name}");
    for width in [80, 100] {
        let row = drawn(width, &long, None);
        assert!(row.contains(name) && row.contains("perhaps changed since"), "{row}");
    }
    let long = "資料/とても長い名前のファイルでも確かさは読める長さにする説明書の第二版.sql";
    let row = drawn(80, long, Some((0, 60_000)));
    assert!(row.contains("changed outside") && !row.trim_end().ends_with('…'), "{row}");
    let row = drawn(80, "db/prices.sql", None);
    assert!(row.contains("as archived   perhaps changed since"), "{row}");
    let row = drawn(140, "db/prices.sql", None);
    assert!(row.contains("before the next change"), "{row}");
    let row = drawn(80, "db/prices.sql", Some((0, 60_000)));
    assert!(row.contains("changed outside") && !row.contains('…'), "{row}");
}

#[test]
fn the_title_of_a_restore_is_told_in_the_language_of_the_person() {
    let mut timeline = timeline();
    let restore = MomentRow { kind: PastKind::Restore, turn: None, ..moment("d1", 130_000, 1, "undo of load prices") };
    let moments = vec![moment("c1", 120_000, 3, "undo of load prices"), restore];
    timeline.answer(&Query::Timeline, &Listing::Timeline(moments));
    let text = crate::messages::with(crate::messages::Language::Japanese, || {
        crate::tui::pane::testing::screen(140, 20, "dark", true, |area, buf, ctx| timeline.draw(area, buf, true, ctx))
            .text()
    });
    assert!(text.contains("「load prices」を元に戻…") && text.contains("undo of load prices"), "{text}");
}
