use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::rows::{FileView, Row, Show};
use super::*;
use crate::proposal::Choice;
use crate::proposal::{Consent, Decision, HunkDefinition, MergeRung, MergedFile, Rung};
use crate::protocol::{Command, RestoreRequest, UNDO};
use crate::text::definition::DefinitionChange;
use crate::tui::msg::{EditFor, Effect};
use crate::tui::pane::testing::{self, Screen, change, proposal, screen, shop};
use crate::tui::theme::Theme;

fn pane(width: u16, height: u16, proposal: Proposal) -> Diff {
    let mut diff = Diff::default();
    measure(&mut diff, width, height);
    let effects = diff.apply(&EventBody::Proposal(ProposalEvent::Proposed(Arc::new(proposal), Vec::new())), 0);
    assert_eq!(effects, []);
    diff
}

fn measure(diff: &mut Diff, width: u16, height: u16) {
    let theme = Theme::shipped("dark");
    diff.measure(
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
}

fn drawn(diff: &Diff, theme: &str) -> Screen {
    screen(diff.size.0, diff.size.1, theme, true, |area, buf, ctx| diff.draw(area, buf, ctx))
}

fn act(diff: &mut Diff, actions: &[Action]) -> Vec<PaneEffect> {
    actions.iter().flat_map(|a| diff.act(*a, 0)).collect()
}

/// Returns whether the agent is told that the person decides, and nothing more happens.
fn is_begun(effects: &[PaneEffect]) -> bool {
    matches!(effects, [PaneEffect::Run(Effect::Send(Command::Reviewing(ProposalId(7))))])
}

fn decision(effects: &[PaneEffect]) -> &Decision {
    match effects {
        [PaneEffect::Run(Effect::Send(Command::Decide(ProposalId(7), decision)))] => decision,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_finished_frame_side_by_side() {
    let mut diff = pane(140, 35, shop());
    act(&mut diff, &[Action::Reject, Action::Accept]);
    for theme in ["dark", "light", "contrast", "plain"] {
        drawn(&diff, theme).dump(&format!("03-{theme}"));
    }
    insta::assert_snapshot!(drawn(&diff, "dark").text());
}

#[test]
fn the_finished_frame_unified() {
    let mut diff = pane(80, 25, shop());
    act(&mut diff, &[Action::Reject, Action::Accept]);
    drawn(&diff, "dark").dump("04");
    insta::assert_snapshot!(drawn(&diff, "dark").text());
}

#[test]
fn a_file_that_changed_on_disk_meanwhile_is_marked() {
    let mut diff = pane(140, 35, shop());
    let marked = |diff: &Diff| drawn(diff, "dark").text().lines().filter(|l| l.contains("! changed on disk")).count();
    assert_eq!(marked(&diff), 0);
    let path = shop().files[0].path.clone();
    diff.apply(&EventBody::Drifted(vec!["README.md".into(), path]), 0);
    assert_eq!(marked(&diff), 1);
    measure(&mut diff, 80, 25);
    assert_eq!(marked(&diff), 1);
}

#[test]
fn decisions_go_out_per_hunk_with_the_reason() {
    let mut diff = pane(140, 35, shop());
    assert!(is_begun(&act(&mut diff, &[Action::Reject, Action::Accept])));
    assert_eq!(diff.undecided(), Some((1, 3)));
    // One hunk is undecided: Enter goes there.
    act(&mut diff, &[Action::PreviousFile, Action::Write]);
    assert_eq!(diff.undecided(), Some((1, 3)));
    act(&mut diff, &[Action::Accept]);
    let effects = act(&mut diff, &[Action::Write]);
    assert!(matches!(&effects[..], [PaneEffect::Line { purpose: LineFor::Reason, .. }]), "{effects:?}");
    assert!(diff.line(LineFor::Reason, LineInput::Left, 0).is_empty() && diff.is_waiting());
    act(&mut diff, &[Action::Write]);
    let effects = diff.line(LineFor::Reason, LineInput::Taken(" too many connections "), 0);
    let said = decision(&effects);
    assert_eq!(said.files()[0].hunks, [Choice::Reject, Choice::Accept]);
    assert_eq!(said.files()[1].hunks, [Choice::Accept]);
    assert_eq!(said.reason.as_deref(), Some("too many connections"));
    assert!(!diff.is_waiting() && !diff.offers(Action::Accept));
}

#[test]
fn all_at_once() {
    let mut diff = pane(140, 35, shop());
    let effects = act(&mut diff, &[Action::AcceptAll]);
    assert_eq!(decision(&effects), &Decision::accept(&shop(), Consent::Person));
    let mut diff = pane(140, 35, shop());
    let effects = act(&mut diff, &[Action::AcceptSession, Action::AcceptSession]);
    assert!(decision(&effects[1..]).for_session);
    // What was refused stays refused, and Enter asks for its reason first.
    let mut diff = pane(140, 35, shop());
    assert!(is_begun(&act(&mut diff, &[Action::Reject, Action::AcceptAll])));
    assert!(diff.lacks_reason() && diff.offers(Action::UndoDecision));
    assert!(matches!(act(&mut diff, &[Action::Write])[..], [PaneEffect::Line { .. }]));
    let mut diff = pane(140, 35, shop());
    act(&mut diff, &[Action::Accept, Action::RejectAll]);
    let effects = diff.line(LineFor::Reason, LineInput::Taken(""), 0);
    assert_eq!(decision(&effects), &Decision::new(shop().choices(Choice::Reject), Consent::Person));
}

#[test]
fn space_turns_over_and_esc_leaves_it_pending() {
    let mut diff = pane(140, 35, shop());
    act(&mut diff, &[Action::Toggle]);
    assert_eq!(diff.page.as_ref().map(|p| p.choices.standing(0, 0)), Some(Standing::Accepted));
    act(&mut diff, &[Action::Toggle]);
    assert_eq!(diff.page.as_ref().map(|p| p.choices.standing(0, 0)), Some(Standing::Rejected));
    let effects = act(&mut diff, &[Action::Later]);
    assert!(
        matches!(&effects[..], [PaneEffect::FocusInput, PaneEffect::Say(words)] if words.contains("2 of 3 undecided"))
    );
    assert!(diff.is_waiting());
}

#[test]
fn the_two_ends_of_a_move_are_decided_together() {
    let [from, to] = FileChange::moved("a.rs", "b.rs", State::file(*b"one\n"), State::file(*b"two\n"), "move", &[]);
    let mut diff = pane(140, 35, proposal(vec![from, to]));
    insta::assert_snapshot!(drawn(&diff, "dark").text());
    act(&mut diff, &[Action::Reject]);
    assert_eq!(diff.undecided(), Some((0, 2)));
    act(&mut diff, &[Action::AcceptAll]);
    let effects = diff.line(LineFor::Reason, LineInput::Taken(""), 0);
    assert_eq!(decision(&effects).count().rejected, 2);
}

#[test]
fn the_result_can_be_edited_and_the_edit_dropped() {
    let mut diff = pane(140, 35, shop());
    let effects = act(&mut diff, &[Action::EditResult]);
    let Some(PaneEffect::Run(Effect::Edit { purpose: EditFor::Result(id, file), text, name })) = effects.last() else {
        panic!("{effects:?}")
    };
    assert_eq!((&**text, name.as_str()), (testing::CATALOG.1.as_bytes(), "src/catalog.rs"));
    let mine = testing::CATALOG.1.replace("max_connections(20)", "max_connections(10)");
    diff.edited(*id, *file, Ok(mine.clone().into_bytes()));
    assert!(drawn(&diff, "dark").text().contains("max_connections(10)"));
    // The hunk that the editor left alone stays undecided.
    assert_eq!(diff.undecided(), Some((2, 3)));
    assert!(drawn(&diff, "dark").text().contains("edited"));
    let effects = act(&mut diff, &[Action::AcceptAll]);
    assert_eq!(decision(&effects).files()[0].edited.as_deref(), Some(mine.as_bytes()));

    let mut diff = pane(140, 35, shop());
    diff.edited(ProposalId(7), 0, Ok(mine.into_bytes()));
    act(&mut diff, &[Action::PreviousHunk, Action::Reject]);
    // The file as it was: nothing of the change is wanted.
    diff.edited(ProposalId(7), 1, Ok(testing::CART.0.as_bytes().to_vec()));
    assert_eq!(diff.undecided(), Some((1, 3)));
    act(&mut diff, &[Action::AcceptAll]);
    act(&mut diff, &[Action::Write]);
    let effects = diff.line(LineFor::Reason, LineInput::Taken(""), 0);
    let said = decision(&effects);
    assert_eq!((said.files()[0].edited.as_deref(), said.count().accepted), (None, 1));
    // Late, or for another proposal.
    assert!(matches!(&diff.edited(ProposalId(1), 0, Ok(Vec::new()))[..], [PaneEffect::Say(_)]));
}

#[test]
fn later_proposals_wait_and_conflicts_show_what_changed() {
    let mut diff = pane(140, 35, shop());
    let second = Proposal { id: ProposalId(8), ..shop() };
    assert!(diff.apply(&EventBody::Proposal(ProposalEvent::Proposed(Arc::new(second), Vec::new())), 0).is_empty());
    act(&mut diff, &[Action::AcceptAll]);
    let outcome = Outcome::Applied { hunks: Default::default(), changeset: None, merged: Vec::new() };
    diff.apply(&EventBody::Proposal(ProposalEvent::Settled(ProposalId(7), outcome)), 0);
    assert_eq!(diff.waiting().map(|w| w.id), Some(ProposalId(8)));
    assert_eq!(diff.pending(), Some(ProposalId(8)));
    let conflict = Outcome::Conflict {
        path: "src/cart.rs".into(),
        expected: State::file(*b"one\ntwo\n"),
        found: State::file(*b"one\nthree\n"),
    };
    diff.apply(&EventBody::Proposal(ProposalEvent::Settled(ProposalId(8), conflict)), 0);
    let text = drawn(&diff, "dark").text();
    assert!(text.contains("three") && !text.contains("undecided"), "{text}");
    assert!(!diff.offers(Action::Accept) && diff.offers(Action::Down));
}

#[test]
fn a_merge_is_named_where_the_outcome_is() {
    let merged = vec![MergedFile {
        path: "src/cart.rs".into(),
        rung: MergeRung::Lines,
        alone: State::Absent,
        after: State::Absent,
    }];
    for (rejected, words) in [(0, "written, merged: lines"), (2, "1 of 3 hunks written, merged: lines")] {
        let mut diff = pane(140, 35, shop());
        let hunks = HunkCount { accepted: 1, rejected };
        let outcome = Outcome::Applied { hunks, changeset: None, merged: merged.clone() };
        diff.apply(&EventBody::Proposal(ProposalEvent::Settled(ProposalId(7), outcome)), 0);
        let Stage::Settled(settled) = diff.page.as_ref().expect("a page").stage else { panic!("settled") };
        assert_eq!(settled.words(), words);
    }
    // What was there already was not written.
    let there: Vec<_> = merged.iter().map(|file| MergedFile { rung: MergeRung::There, ..file.clone() }).collect();
    for (changeset, words) in [(None, "already there, nothing was written"), (Some("c".to_string()), "written")] {
        let mut diff = pane(140, 35, shop());
        let hunks = HunkCount { accepted: 3, rejected: 0 };
        let outcome = Outcome::Applied { hunks, changeset, merged: there.clone() };
        diff.apply(&EventBody::Proposal(ProposalEvent::Settled(ProposalId(7), outcome)), 0);
        let Stage::Settled(settled) = diff.page.as_ref().expect("a page").stage else { panic!("settled") };
        assert_eq!(settled.words(), words);
    }
    // One that was planned, as an undo over someone else's change.
    let mut planned = shop();
    planned.files.iter_mut().flat_map(|file| &mut file.hunks).for_each(|hunk| hunk.found = None);
    planned.files.iter_mut().for_each(|file| file.merged = Some(MergeRung::Lines));
    let text = drawn(&pane(140, 35, planned), "dark").text();
    assert!(text.contains("merged: lines"), "{text}");
}

#[test]
fn endings_modes_bytes_and_new_files_are_all_seen() {
    let file = |bytes: &[u8], mode| State::File { bytes: bytes.into(), mode: Some(mode) };
    let new = |path: &str, a, b| FileChange::new(path, a, b, "x", &[]);
    let files = vec![
        new("crlf.txt", State::file(*b"a\nb\n"), State::file(*b"a\r\nb\n")),
        new("end.txt", State::file(*b"a\n"), State::file(*b"a")),
        new("mode.sh", file(b"a\n", 0o644), file(b"b\n", 0o755)),
        new("logo.png", State::file(*b"\x89P\0a"), State::file(*b"\x89P\0bc")),
        new("new.txt", State::Absent, State::file("zero\u{200b}width\u{1b}\n".as_bytes())),
        new("empty", State::Absent, State::file(*b"")),
        new("gone.txt", State::file(*b"latin \xe9\n"), State::Absent),
        new("link", State::Absent, State::Link { target: "/etc/passwd".into() }),
    ];
    let mut diff = pane(100, 60, proposal(files));
    insta::assert_snapshot!(drawn(&diff, "plain").text());
    act(&mut diff, &[Action::Layout]);
    insta::assert_snapshot!("and_unified", drawn(&diff, "plain").text());
}

#[test]
fn japanese_lines_keep_their_columns() {
    let before = "/// 一つの商品の価格を返す。\npub fn price(id: u64) -> 円 {}\n";
    let after = "/// 複数の商品の価格を、一回の問い合わせで読む。見つからない商品は誤りとする。\npub fn price(ids: &[u64]) -> 円 {}\n";
    for width in [60, 100] {
        let diff = pane(width, 16, proposal(vec![change("価格.rs", before, after, "x", Rung::Exact, None)]));
        insta::assert_snapshot!(format!("japanese_{width}"), drawn(&diff, "dark").text());
    }
}

#[test]
fn folds_open_and_unchanged_lines_wrap() {
    let mut diff = pane(80, 25, shop());
    let closed = diff.page.as_ref().map_or(0, |p| p.view.total());
    act(&mut diff, &[Action::Fold]);
    let open = diff.page.as_ref().map_or(0, |p| p.view.total());
    assert!(open > closed + 10);
    act(&mut diff, &[Action::Fold]);
    assert_eq!(diff.page.as_ref().map_or(0, |p| p.view.total()), closed);
    act(&mut diff, &[Action::WrapLines]);
    assert!(diff.page.as_ref().map_or(0, |p| p.view.total()) > closed);
}

#[test]
fn searching_goes_round() {
    let mut diff = pane(80, 12, shop());
    assert!(matches!(act(&mut diff, &[Action::Search])[..], [PaneEffect::Line { purpose: LineFor::Search, .. }]));
    diff.line(LineFor::Search, LineInput::Now("unpriced"), 0);
    assert!(drawn(&diff, "dark").text().contains("Unpriced"));
    let effects = diff.line(LineFor::Search, LineInput::Taken("nowhere"), 0);
    assert!(matches!(&effects[..], [PaneEffect::Say(words)] if words.contains("nowhere")));
}

#[test]
fn a_hunk_is_copied_as_a_unified_diff() {
    let mut diff = pane(140, 35, shop());
    let effects = act(&mut diff, &[Action::Copy]);
    let PaneEffect::Run(Effect::Copy(text)) = &effects[0] else { panic!("{effects:?}") };
    assert_eq!(
        text,
        "--- a/src/catalog.rs\n+++ b/src/catalog.rs\n@@ -14,7 +14,7 @@\n impl Catalog {\n     pub async fn open(url: &str) \
         -> sqlx::Result<Self> {\n         let pool = PgPoolOptions::new()\n-            .max_connections(5)\n+            \
         .max_connections(20)\n             .connect(url)\n             .await?;\n         Ok(Self { pool })\n"
    );
}

#[test]
fn what_came_while_hidden_begins_at_its_beginning() {
    let mut diff = pane(0, 0, shop());
    measure(&mut diff, 80, 16);
    assert_eq!(diff.page.as_ref().map(|p| p.view.top()), Some(0));
}

#[test]
fn another_size_keeps_the_hunk_in_focus_in_view() {
    for (width, height) in [60, 80, 140].into_iter().flat_map(|w| (10..36).step_by(3).map(move |h| (w, h))) {
        for hunks in 0..3 {
            let mut diff = pane(140, 35, shop());
            act(&mut diff, &vec![Action::NextHunk; hunks]);
            act(&mut diff, &[Action::Down, Action::Up]);
            measure(&mut diff, width, height);
            let view = &diff.page.as_ref().expect("a page").view;
            let (seen, extent) = view.place_of_focus().expect("a focus");
            let whole = seen.start <= extent.start && extent.end <= seen.end;
            let reads = extent.len() >= seen.len() && extent.start < seen.end && seen.start < extent.end;
            assert!(whole || reads, "hunk {hunks} at {width}x{height}: {extent:?} of {seen:?}");
        }
    }
}

#[test]
fn scrolling_takes_the_focus_along() {
    let mut diff = pane(80, 16, shop());
    act(&mut diff, &[Action::Last]);
    assert_eq!(diff.page.as_ref().and_then(|p| p.view.focus()), Some((1, 0)));
    act(&mut diff, &[Action::First]);
    assert_eq!(diff.page.as_ref().and_then(|p| p.view.focus()), Some((0, 0)));
}

#[test]
fn thousands_of_files_and_lines_are_quick() {
    let file = |i: usize| {
        let before: String = (0..20).map(|k| format!("line {k} of file {i}\n")).collect();
        let after: String = (0..20).map(|k| format!("line {k} of the file {i}\n")).collect();
        change(&format!("src/f{i}.rs"), &before, &after, "applyPatch", Rung::Exact, None)
    };
    let proposal = proposal((0..1_000).map(file).collect());
    let begun = std::time::Instant::now();
    let mut diff = pane(140, 35, proposal);
    let made = begun.elapsed();
    act(&mut diff, &[Action::Last]);
    let begun = std::time::Instant::now();
    assert!(drawn(&diff, "dark").text().contains("src/f999.rs"));
    let drew = begun.elapsed();
    // Far from what a debug build needs, so that no slow machine fails it.
    assert!(made.as_secs() < 20 && drew.as_secs() < 5, "made in {made:?}, drew in {drew:?}");
    assert!(diff.page.as_ref().is_some_and(|p| p.view.total() > 20_000));
    println!("made in {made:?}, drew in {drew:?}");
}

#[test]
fn one_line_of_megabytes_is_shown_to_its_end() {
    let before = format!("{}\n", "ab ".repeat(100_000));
    let after = format!("{}Q\n", "価x".repeat(500_000));
    let mut diff = pane(100, 20, proposal(vec![change("min.js", &before, &after, "x", Rung::Exact, None)]));
    act(&mut diff, &[Action::Last]);
    let text = drawn(&diff, "dark").text();
    assert!(text.contains('Q'), "{text}");
    act(&mut diff, &[Action::HalfUp]);
    drawn(&diff, "dark");
}

#[test]
fn every_size_is_drawn() {
    for (width, height) in [(0, 0), (1, 1), (3, 2), (12, 4), (40, 5), (41, 12), (220, 57)] {
        let mut diff = pane(width, height, shop());
        drawn(&diff, "dark");
        act(&mut diff, &[Action::Layout, Action::Down, Action::NextHunk, Action::Last]);
        drawn(&diff, "dark");
    }
}

/// The numbers of changed lines in the rows of a file, in order of the rows.
fn changed_rows(file: &FileView, layout: Layout, context: usize, open: bool) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let mut rows = Vec::new();
    let mut folds = folds::Folds::default();
    folds.open.extend((0..=file.hunks.len()).filter(|_| open).map(|slot| (0, slot)));
    file.rows(layout, context, &folds.of(0), true, &mut rows);
    let (mut left, mut right, mut same) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        match row {
            Row::Pair { left: l, right: r, show, .. } => {
                left.extend(l.filter(|_| show != Show::Right));
                right.extend(r.filter(|_| show != Show::Left));
            }
            Row::Same { before, after, .. } => {
                assert_eq!(file.before.whole(before), file.after.whole(after));
                same.push(before);
            }
            Row::Fold { from, len } => same.extend(from..from + len),
            _ => {}
        }
    }
    (left, right, same)
}

fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[ab]{0,3}\n",
        "[ab]{0,3}\r\n",
        Just("fn total(&self) {\n".to_string()),
        Just("fn total(&self, cart) {\n".to_string()),
        Just("\t価格\u{200b}\n".to_string()),
    ];
    (prop::collection::vec(line, 0..24), "[ab]{0,2}").prop_map(|(lines, end)| lines.concat() + &end)
}

proptest! {
    #[test]
    fn every_changed_line_is_in_one_row(a in text(), b in text(), context in 0usize..4, open: bool) {
        prop_assume!(a != b);
        let change = FileChange::new("a.rs", State::file(a.as_bytes()), State::file(b.as_bytes()), "x", &[]);
        let proposal = proposal(vec![change.clone()]);
        let file = FileView::new(&change, &proposal, &mut 1_000_000);
        for layout in [Layout::Side, Layout::Unified] {
            let (left, right, same) = changed_rows(&file, layout, context, open);
            // In order, each once, and with the lines that stay the whole of both sides.
            prop_assert!(left.is_sorted() && right.is_sorted() && same.is_sorted());
            let mut before: Vec<usize> = left.iter().chain(&same).copied().collect();
            before.sort_unstable();
            prop_assert_eq!(before, (0..file.before.len()).collect::<Vec<_>>());
            prop_assert_eq!(right.len() + same.len(), file.after.len());
            prop_assert_eq!(right.len(), change.counts.added);
            prop_assert_eq!(left.len(), change.counts.removed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn every_changed_character_is_reached_by_scrolling(
        words in prop::collection::vec("[a-z]{1,12}", 1..40),
        width in 40u16..140,
        height in 7u16..20,
        at in 0usize..40,
    ) {
        // Each word has a number, so that what is on the screen names what it is.
        let line: String = words.iter().enumerate().map(|(i, w)| format!("{w}{i:03} ")).collect();
        let lines: Vec<String> = (0..40).map(|i| format!("line{i}\n")).collect();
        let mut after = lines.clone();
        after[at] = format!("{line}\n");
        let change = change("a.txt", &lines.concat(), &after.concat(), "x", Rung::Exact, None);
        let mut diff = pane(width, height, proposal(vec![change]));
        act(&mut diff, &[Action::First]);
        let mut seen: BTreeMap<usize, bool> = BTreeMap::new();
        loop {
            let text = screen(width, height, "plain", true, |area, buf, ctx| diff.draw(area, buf, ctx)).text();
            for (i, _) in words.iter().enumerate() {
                let found = text.contains(&format!("{}{i:03}", words[i]));
                *seen.entry(i).or_default() |= found;
            }
            let top = diff.page.as_ref().map(|p| p.view.top());
            act(&mut diff, &[Action::HalfDown]);
            if diff.page.as_ref().map(|p| p.view.top()) == top {
                break;
            }
        }
        prop_assert!(seen.values().all(|s| *s), "{seen:?}");
    }
}

#[test]
fn a_restore_that_was_left_gives_the_last_diff_back() {
    let mut diff = pane(140, 35, shop());
    diff.apply(&EventBody::Proposal(ProposalEvent::Settled(ProposalId(7), Outcome::Refused)), 0);
    let previews = vec![RestorePreview { path: "src/cart.rs".into(), status: crate::proposal::RestoreStatus::Equal }];
    let restore = Proposal { id: ProposalId(8), ..shop() };
    diff.apply(&EventBody::Proposal(ProposalEvent::Proposed(Arc::new(restore), previews)), 0);
    diff.apply(&EventBody::Proposal(ProposalEvent::Settled(ProposalId(8), Outcome::Withdrawn)), 0);
    let page = diff.page.as_ref().expect("the last diff");
    assert_eq!(
        (page.proposal.id, page.stage),
        (ProposalId(7), Stage::Settled(Settled::Part(HunkCount { accepted: 0, rejected: 3 })))
    );
}

#[test]
fn the_files_of_a_restore_come_first() {
    let mut diff = Diff::default();
    measure(&mut diff, 100, 20);
    let previews = vec![RestorePreview { path: "src/cart.rs".into(), status: crate::proposal::RestoreStatus::Equal }];
    assert!(diff.apply(&EventBody::Proposal(ProposalEvent::Proposed(Arc::new(shop()), previews)), 0).is_empty());
    assert!(diff.waiting().is_none() && !diff.offers(Action::Accept) && diff.mark().is_none());
    assert!(act(&mut diff, &[Action::AcceptAll]).is_empty());
    diff.release();
    assert!(diff.waiting().is_some() && diff.offers(Action::Accept));
}

#[test]
fn decisions_are_undone_one_by_one() {
    let mut diff = pane(140, 35, shop());
    act(&mut diff, &[Action::Accept, Action::Reject, Action::UndoDecision]);
    assert_eq!(diff.undecided(), Some((2, 3)));
    // The next key decides the hunk that is open again.
    let focus = |diff: &Diff| diff.page.as_ref().and_then(|page| page.view.focus());
    let at = focus(&diff);
    act(&mut diff, &[Action::Reject, Action::UndoDecision]);
    assert_eq!(focus(&diff), at);
    // Leaving the reason line undoes the decision that led to it.
    assert!(matches!(act(&mut diff, &[Action::RejectAll])[..], [PaneEffect::Line { .. }]));
    diff.line(LineFor::Reason, LineInput::Left, 0);
    assert_eq!(diff.undecided(), Some((2, 3)));
    act(&mut diff, &[Action::UndoDecision]);
    assert_eq!(diff.undecided(), Some((3, 3)));
    assert!(!diff.offers(Action::UndoDecision));
}

#[test]
fn the_only_hunk_is_written_by_its_key() {
    let one = proposal(vec![change("a.rs", "one\n", "two\n", "replaceInFile", Rung::Exact, None)]);
    let mut diff = pane(140, 35, one);
    let effects = act(&mut diff, &[Action::Accept]);
    assert_eq!(decision(&effects).count().accepted, 1);
}

#[test]
fn approving_further_edits_decides_nothing_that_no_policy_approves() {
    let ordinary = change("a.rs", "one\n", "two\n", "replaceInFile", Rung::Exact, None);
    let later = change("sub/CLAUDE.md", "one\n", "two\n", "replaceInFile", Rung::Exact, None);
    let hidden = change("b.rs", "one\n", "p\u{430}ypal\n", "replaceInFile", Rung::Exact, None);
    let guessed = change("c.rs", "one\n", "two\n", "replaceInFile", Rung::Inexact, None);
    let [from, to] = FileChange::moved("x", ".envrc", State::file(*b"1\n"), State::file(*b"2\n"), "move", &[]);
    let mut diff = pane(140, 35, proposal(vec![ordinary, later, hidden, guessed, from, to]));
    let effects = act(&mut diff, &[Action::AcceptSession, Action::AcceptSession]);
    let [PaneEffect::Say(_), PaneEffect::Say(words)] = &effects[..] else { panic!("{effects:?}") };
    assert!(words.contains("5 hunks left to you"), "{words}");
    assert_eq!(diff.undecided(), Some((5, 6)));
    let effects = act(&mut diff, &[Action::UndoDecision, Action::AcceptAll]);
    assert!(!decision(&effects).for_session, "that is undone too");
    let mut diff = pane(140, 35, proposal(vec![change("b.rs", "1\n", "\u{202e}2\n", "write", Rung::Exact, None)]));
    assert_eq!(act(&mut diff, &[Action::AcceptSession, Action::AcceptSession]).len(), 2);
    assert_eq!(diff.undecided(), Some((1, 1)));
    assert!(decision(&act(&mut diff, &[Action::Accept])).for_session);
}

#[test]
fn all_further_edits_are_approved_on_the_second_press() {
    let mut diff = pane(140, 35, shop());
    assert!(
        matches!(&act(&mut diff, &[Action::AcceptSession])[..], [PaneEffect::Say(words)] if words.contains("again"))
    );
    // Another key in between begins anew.
    assert!(matches!(&act(&mut diff, &[Action::Down, Action::AcceptSession])[..], [PaneEffect::Say(_)]));
    assert!(decision(&act(&mut diff, &[Action::AcceptSession])).for_session);
}

/// Returns what an action in the session's diff asks to be restored.
fn restored(diff: &mut Diff, actions: &[Action]) -> RestoreRequest {
    match act(diff, actions).pop() {
        Some(PaneEffect::Run(Effect::Send(Command::Restore(request)))) => request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_part_of_what_the_session_changed_is_undone() {
    let mut diff = Diff::default();
    measure(&mut diff, 140, 35);
    diff.take_session(Some(Some(Arc::new(shop()))));
    assert!(diff.show_session());
    let files = shop().files;
    let state = |request| match request {
        RestoreRequest::State { path, then, .. } => (path, *then),
        other => panic!("{other:?}"),
    };
    // The hunk in focus, which the screen marks.
    assert!(drawn(&diff, "dark").text().contains("▌hunk 1 of 3"), "{}", drawn(&diff, "dark").text());
    let (path, then) = state(restored(&mut diff, &[Action::UndoDecision]));
    assert!(path == files[0].path && then != files[0].before && then != files[0].after);
    // The head of its file: all of it.
    let (path, then) = state(restored(&mut diff, &[Action::PreviousFile, Action::UndoDecision]));
    assert_eq!((path, &then), (files[0].path.clone(), &files[0].before));
    assert!(drawn(&diff, "dark").text().contains(&format!("▌{}", files[0].path)), "{}", drawn(&diff, "dark").text());
    // The call that made the hunk, and its turn.
    let lines = files[0].hunks[1].after.clone();
    let request = restored(&mut diff, &[Action::NextHunk, Action::UndoCall]);
    assert_eq!(
        request,
        RestoreRequest::Origin { path: files[0].path.clone(), lines: Some(lines.clone()), turn: false }
    );
    let request = restored(&mut diff, &[Action::UndoTurn]);
    assert_eq!(request, RestoreRequest::Origin { path: files[0].path.clone(), lines: Some(lines), turn: true });
    // None of them writes at once: what they ask for comes as a proposal, accepted but for Enter.
    let file = FileChange::new("a.rs", State::file(*b"two\n"), State::file(*b"one\n"), UNDO, &[]);
    diff.apply(&EventBody::Proposal(ProposalEvent::Proposed(Arc::new(proposal(vec![file])), Vec::new())), 0);
    assert_eq!(diff.undecided(), Some((0, 1)));
}

#[test]
fn an_undo_in_a_file_changed_outside_nebula_is_left_to_the_person() {
    let state = |text: &str| State::file(text.as_bytes());
    let own = FileChange::new("a.rs", state("two\n"), state("one\n"), UNDO, &[]);
    let foreign = FileChange { foreign: true, ..FileChange::new("b.rs", state("mine\n"), state("one\n"), UNDO, &[]) };
    let diff = pane(140, 35, proposal(vec![own, foreign]));
    assert_eq!(diff.undecided(), Some((1, 2)));
    let text = drawn(&diff, "dark").text();
    let row = text.lines().find(|row| row.contains("b.rs")).expect("its row");
    assert!(row.contains("! changed outside nebula"), "{text}");
}

#[test]
fn a_long_reason_is_unfolded_page_by_page() {
    let mut diff = pane(100, 40, shop());
    let why: Vec<String> = (1..=50).map(|n| format!("Reason number {n} of many.")).collect();
    diff.explain(&why.join("\n"));
    let read = |diff: &mut Diff| {
        measure(diff, 100, 40);
        let text = drawn(diff, "dark").text();
        (1..=50).filter(|n| text.contains(&format!("Reason number {n} of"))).collect::<Vec<usize>>()
    };
    assert_eq!(read(&mut diff), [48, 49, 50], "the last sentences");
    assert!(drawn(&diff, "dark").text().contains("47 more lines"));
    let mut seen = Vec::new();
    let mut presses = 0;
    loop {
        act(&mut diff, &[Action::Fold]);
        presses += 1;
        match &read(&mut diff)[..] {
            [48, 49, 50] if presses > 1 => break,
            lines => {
                assert!(lines.len() <= 20, "half of the pane is left to the diff: {lines:?}");
                seen.extend(lines.to_vec());
            }
        }
        assert!(presses < 20, "it folds again");
    }
    seen.dedup();
    assert!((1..=50).all(|n| seen.contains(&n)), "{seen:?}");
}

#[test]
fn kept_comments_stand_under_their_hunks_and_are_sent_with_the_decision() {
    let mut diff = pane(140, 35, shop());
    diff.explain("One query in place of many.");
    let line_of = |effects: Vec<PaneEffect>| match effects.into_iter().next() {
        Some(PaneEffect::Line { purpose, text, .. }) => (purpose, text),
        other => panic!("{other:?}"),
    };
    diff.line(LineFor::Note, LineInput::Taken("name it"), 0);
    assert_eq!(line_of(act(&mut diff, &[Action::Comment])), (LineFor::Comment, "name it".into()));
    diff.line(LineFor::Note, LineInput::Taken(" name it prices_of "), 0);
    act(&mut diff, &[Action::NextHunk]);
    assert_eq!(line_of(act(&mut diff, &[Action::Comment])), (LineFor::Comment, String::new()));
    diff.line(LineFor::Note, LineInput::Taken("why 20?"), 0);
    measure(&mut diff, 140, 60);
    let text = drawn(&diff, "dark").text();
    assert!(text.contains("you     name it prices_of   sent with the decision"), "{text}");
    assert!(text.contains("you     why 20?   sent with the decision"), "{text}");
    // A comment is the reason of its own hunk, not of another one.
    act(&mut diff, &[Action::AcceptDefinition, Action::PreviousHunk, Action::PreviousHunk, Action::Reject]);
    act(&mut diff, &[Action::Accept, Action::Accept, Action::Accept]);
    assert!(!diff.lacks_reason());
    act(&mut diff, &[Action::Reject]);
    assert_eq!(line_of(act(&mut diff, &[Action::Write])), (LineFor::Reason, String::new()));
    let effects = diff.line(LineFor::Reason, LineInput::Taken("too long"), 0);
    let sent = decision(&effects);
    let comments: Vec<_> = sent.comments.iter().map(|c| (c.file, c.hunk, c.text.as_str())).collect();
    assert_eq!(comments, [(0, 0, "name it prices_of"), (0, 1, "why 20?")]);
    assert!(sent.comments[0].place.starts_with("src/catalog.rs:"), "{:?}", sent.comments);
    assert_eq!(sent.reason.as_deref(), Some("too long"));
}

#[test]
fn the_file_that_is_scrolled_into_stands_on_the_themes_ground() {
    let mut diff = pane(80, 16, shop());
    act(&mut diff, &[Action::Down, Action::Down, Action::Down]);
    let theme = Theme::shipped("contrast");
    let screen = drawn(&diff, "contrast");
    let rows: Vec<String> = screen.text().lines().map(String::from).collect();
    let row = rows.iter().rposition(|row| row.contains("src/catalog.rs")).expect("its name");
    let cell = &screen.buf[(40, row as u16)];
    assert_eq!((cell.symbol(), Some(cell.bg)), (" ", theme.background()), "{}", screen.text());
}

#[test]
fn an_answer_comes_into_sight_or_is_announced() {
    let mut diff = pane(80, 16, shop());
    diff.explain("One query in place of many.");
    measure(&mut diff, 80, 16);
    diff.line(LineFor::Comment, LineInput::Taken("why a map?"), 0);
    let mut answer = |hunk| {
        let comment = crate::protocol::Comment { file: 0, hunk, text: "why a map?".into() };
        let words = "it is looked up by id. ".repeat(12) + "So it is";
        let effects = diff.apply(&EventBody::Proposal(ProposalEvent::CommentAnswer(ProposalId(7), comment, words)), 0);
        (effects, drawn(&diff, "dark").text())
    };
    let (effects, text) = answer(0);
    assert!(effects.is_empty() && text.contains("So it is"), "{text}");
    let (effects, _) = answer(1);
    assert!(matches!(&effects[..], [PaneEffect::Say(words)] if words.contains("hunk 2")), "{effects:?}");
}

#[test]
fn words_behind_c_decide_nothing_where_nobody_is_asked() {
    let mut diff = pane(140, 35, shop());
    assert!(diff.offers(Action::Comment) && !diff.asks_model());
    let effects = act(&mut diff, &[Action::Comment]);
    assert!(matches!(&effects[..], [PaneEffect::Line { purpose: LineFor::Comment, .. }]), "{effects:?}");
    let said = diff.line(LineFor::Comment, LineInput::Taken("no"), 0);
    assert!(matches!(&said[..], [PaneEffect::Say(words)] if words.contains("no model is asked")), "{said:?}");
}

#[test]
fn a_question_is_about_a_hunk_of_the_model() {
    let mut diff = pane(140, 35, shop());
    diff.explain("One query in place of many.");
    let question_of = |effects: Vec<PaneEffect>| match &effects[..] {
        [PaneEffect::Run(Effect::Send(Command::Comment(_, comment)))] => Some((comment.file, comment.hunk)),
        _ => None,
    };
    assert!(diff.offers(Action::Comment));
    let about = question_of(diff.line(LineFor::Comment, LineInput::Taken("why a map?"), 0));
    assert_eq!(about, Some((0, 0)));
    // The person adds a hunk above: the others are still what the model proposed.
    let mine = format!("// mine\n{}", testing::CATALOG.1);
    diff.edited(ProposalId(7), 0, Ok(mine.into_bytes()));
    let page = diff.page.as_mut().expect("a page");
    page.view.set_focus((0, 0));
    // What the person wrote goes with the question: the words typed never act as keys.
    assert!(diff.offers(Action::Comment));
    let asked = diff.line(LineFor::Comment, LineInput::Taken("is mine right?"), 0);
    let [PaneEffect::Run(Effect::Send(Command::Comment(_, comment)))] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((comment.file, comment.hunk), (0, 0));
    assert!(comment.text.starts_with("is mine right?\n") && comment.text.contains("// mine"), "{}", comment.text);
    act(&mut diff, &[Action::NextHunk, Action::NextHunk]);
    let about = question_of(diff.line(LineFor::Comment, LineInput::Taken("why twenty?"), 0));
    assert_eq!(about, Some((0, 1)));
    let comment = crate::protocol::Comment { file: 0, hunk: 0, text: "why a map?".into() };
    diff.apply(
        &EventBody::Proposal(ProposalEvent::CommentAnswer(ProposalId(7), comment, "it is looked up by id".into())),
        0,
    );
    let talk = |h: usize| -> Vec<String> {
        let hunk = &diff.page.as_ref().expect("a page").view.files[0].hunks[h];
        hunk.talk.iter().map(|talk| talk.text.clone()).collect()
    };
    assert_eq!(talk(1), ["why a map?", "it is looked up by id"]);
    assert_eq!(talk(2), ["why twenty?"]);
}

#[test]
fn permissions_are_undone_without_the_lines() {
    let state = |text: &str, mode| State::File { bytes: Arc::from(text.as_bytes()), mode: Some(mode) };
    let change = FileChange::new("run.sh", state("one\n", 0o644), state("two\n", 0o755), "write", &[]);
    let mode = change.hunks.iter().position(|h| h.kind == crate::proposal::HunkKind::Mode).expect("a hunk of the mode");
    let lines = 1 - mode;
    assert_eq!(choices::without(&change, mode), state("two\n", 0o644));
    assert_eq!(choices::without(&change, lines), state("one\n", 0o755));
}

#[test]
fn permissions_stand_below_all_lines_of_the_text() {
    for changed in [58, 20] {
        let text = |word: &str| -> String {
            (1..=60).map(|n| if n == changed { format!("{word}\n") } else { format!("{n}\n") }).collect()
        };
        let state = |word: &str, mode| State::File { bytes: Arc::from(text(word).as_bytes()), mode: Some(mode) };
        let change = FileChange::new("run.sh", state("old", 0o644), state("new", 0o755), "write", &[]);
        let file = FileView::new(&change, &proposal(vec![change.clone()]), &mut 1_000_000);
        let mut rows = Vec::new();
        file.rows(Layout::Side, 3, &folds::Folds::default().of(0), true, &mut rows);
        let at = rows.iter().position(|row| *row == Row::Hunk { hunk: 1 }).expect("its head");
        assert_eq!(rows[at + 1..], [Row::Note { hunk: 1 }], "{changed}");
        assert_eq!(file.visible_lines(0, 3), changed - 4..(changed + 3).min(60));
    }
}

#[test]
fn every_origin_of_a_change_is_named_by_its_verb() {
    let by = "edit (2), write, move";
    let named = || pane(140, 35, proposal(vec![change("a.rs", "one\n", "two\n", by, Rung::Exact, None)]));
    assert_eq!(named().page.expect("a page").view.files[0].by, by);
    let japanese = crate::messages::with(crate::messages::Language::Japanese, named);
    assert_eq!(japanese.page.expect("a page").view.files[0].by, "編集 (2), 書き込み, 移動");
}

#[test]
fn a_search_hides_no_undecided_hunks() {
    let mut diff = pane(140, 35, shop());
    diff.line(LineFor::Search, LineInput::Now("price"), 0);
    let note = testing::note(&Theme::shipped("dark"), |ctx| diff.note(100, ctx));
    assert!(note.starts_with("1 of ") && note.contains('3'), "{note}");
}

#[test]
fn the_agent_is_told_once_that_the_person_decides() {
    let mut diff = pane(100, 30, shop());
    assert!(is_begun(&act(&mut diff, &[Action::Accept])));
    assert!(act(&mut diff, &[Action::Reject]).is_empty());
}

#[test]
fn the_test_of_a_proposal_stands_above_its_files() {
    use crate::protocol::{ProposalTest, TestState};
    let mut diff = pane(100, 30, shop());
    let before = drawn(&diff, "dark").text();
    let effects = act(&mut diff, &[Action::Test]);
    assert!(matches!(&effects[..], [PaneEffect::Run(Effect::Send(Command::Test(ProposalId(7), _)))]), "{effects:?}");
    let mut tell = |state, line: &str, failures: &[&str]| {
        let failures = failures.iter().map(|line| line.to_string()).collect();
        let test = ProposalTest { state, line: line.into(), failures };
        diff.apply(&EventBody::Proposal(ProposalEvent::Tested(ProposalId(7), test)), 0);
        measure(&mut diff, 100, 30);
        (drawn(&diff, "dark").text(), diff.offers(Action::Test))
    };
    let (text, again) = tell(TestState::Running, "testing: cargo test", &[]);
    assert!(text.lines().next().is_some_and(|row| row.contains("testing: cargo test")) && !again, "{text}");
    let (text, again) = tell(TestState::Passed, "cargo test: 212 passed", &[]);
    assert!(text.lines().next().is_some_and(|row| row.contains("checked ✓ cargo test: 212 passed")) && again, "{text}");
    let rows: Vec<String> = (0..20).map(|n| format!("test t{n} ... FAILED")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let (text, _) = tell(TestState::Failed, "cargo test: 20 failed", &rows);
    assert_eq!(text.lines().filter(|row| row.contains("FAILED")).count(), 8, "{text}");
    // What was there is only further down.
    let first = before.lines().next().expect("a row").trim_end();
    assert_eq!(text.lines().nth(9).map(str::trim_end), Some(first));
}

#[test]
fn what_a_preview_leaves_out_stands_above_the_files_of_its_own_proposal() {
    let mut diff = Diff::default();
    let lines: Vec<String> = (0..12).map(|n| format!("not in the preview: path{n}")).collect();
    diff.apply(&EventBody::Proposal(ProposalEvent::LeftOut(ProposalId(7), lines)), 0);
    let other = Proposal { id: ProposalId(8), ..shop() };
    for proposal in [shop(), other] {
        diff.apply(&EventBody::Proposal(ProposalEvent::Proposed(Arc::new(proposal), Vec::new())), 0);
    }
    measure(&mut diff, 100, 30);
    let text = drawn(&diff, "dark").text();
    assert_eq!(text.lines().filter(|row| row.contains("not in the preview: path")).count(), 7, "{text}");
    assert!(text.lines().nth(7).is_some_and(|row| row.contains("5 more lines")), "{text}");
    diff.apply(&EventBody::Proposal(ProposalEvent::Settled(ProposalId(7), Outcome::Refused)), 0);
    measure(&mut diff, 100, 30);
    assert!(!drawn(&diff, "dark").text().contains("not in the preview"));
}

#[test]
fn a_test_runs_on_what_would_be_written_and_its_result_is_of_that_alone() {
    use crate::protocol::{ProposalTest, TestState};
    let shop = shop();
    let mut diff = pane(100, 30, shop.clone());
    let tell = |diff: &mut Diff| {
        let test = ProposalTest { state: TestState::Passed, line: "cargo test: 3 passed".into(), failures: Vec::new() };
        diff.apply(&EventBody::Proposal(ProposalEvent::Tested(ProposalId(7), test)), 0);
        measure(diff, 100, 30);
    };
    let head = |diff: &Diff| drawn(diff, "dark").text().lines().next().unwrap_or_default().to_string();
    let sent = |effects: &[PaneEffect]| match effects {
        [PaneEffect::Run(Effect::Send(Command::Test(_, decision)))] => decision.clone(),
        other => panic!("{other:?}"),
    };
    // One that ran by itself was of all of it.
    tell(&mut diff);
    assert!(head(&diff).contains("checked ✓"), "{}", head(&diff));
    let everything = sent(&act(&mut diff, &[Action::Test]));
    assert_eq!(everything, Decision::expected(shop.choices(Choice::Accept)));
    // What is accepted was in it.
    act(&mut diff, &[Action::Accept]);
    assert!(head(&diff).contains("checked ✓"), "{}", head(&diff));
    act(&mut diff, &[Action::Reject]);
    assert!(head(&diff).contains("checked before the last decision"), "{}", head(&diff));
    let part = sent(&act(&mut diff, &[Action::Test]));
    assert_eq!(part.count().rejected, 1);
    tell(&mut diff);
    assert!(head(&diff).contains("checked ✓"), "{}", head(&diff));
    act(&mut diff, &[Action::UndoDecision]);
    assert!(head(&diff).contains("checked before the last decision"), "{}", head(&diff));
}

#[test]
fn a_test_is_of_the_files_as_they_were_when_it_began() {
    use crate::protocol::{ProposalTest, TestState};
    let shop = shop();
    let mut diff = pane(100, 30, shop.clone());
    let tell = |diff: &mut Diff, state| {
        let test = ProposalTest { state, line: "cargo test: 3 passed".into(), failures: Vec::new() };
        diff.apply(&EventBody::Proposal(ProposalEvent::Tested(ProposalId(7), test)), 0);
        measure(diff, 100, 30);
        drawn(diff, "dark").text().lines().next().unwrap_or_default().to_string()
    };
    let drift = |diff: &mut Diff, path: &str| drop(diff.apply(&EventBody::Drifted(vec![path.into()]), 0));
    tell(&mut diff, TestState::Running);
    assert!(tell(&mut diff, TestState::Passed).contains("checked ✓"));
    drift(&mut diff, "README.md");
    assert!(drawn(&diff, "dark").text().contains("checked ✓"), "another file");
    drift(&mut diff, &shop.files[0].path);
    assert!(drawn(&diff, "dark").text().contains("checked before a file changed on disk ✓"));
    tell(&mut diff, TestState::Running);
    drift(&mut diff, &shop.files[0].path);
    assert!(tell(&mut diff, TestState::Passed).contains("checked before a file changed on disk ✓"));
    tell(&mut diff, TestState::Running);
    assert!(tell(&mut diff, TestState::Passed).contains("checked ✓"));
}

/// A file with two definitions, the first of them changed in two places.
fn labelled() -> Proposal {
    let before: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let mut after = before.clone();
    for n in [3, 12, 30] {
        after = after.replace(&format!("line {n}\n"), &format!("LINE {n}\nmore\n"));
    }
    let mut file = change("src/cart.rs", &before, &after, "edit", Rung::Exact, None);
    let names = [
        ("fn total", DefinitionChange::Changed),
        ("fn total", DefinitionChange::Changed),
        ("fn sum", DefinitionChange::Renamed),
    ];
    for (hunk, (name, change)) in file.hunks.iter_mut().zip(names) {
        hunk.definitions.push(HunkDefinition { name: name.into(), change });
    }
    file.hunks[2].definitions.push(HunkDefinition { name: "fn new".into(), change: DefinitionChange::New });
    proposal(vec![file])
}

#[test]
fn of_many_definitions_those_that_have_room_are_named_and_what_goes_comes_first() {
    let mut many = labelled();
    let named = |n: usize| HunkDefinition { name: format!("fn f{n}"), change: DefinitionChange::Changed };
    let gone = HunkDefinition { name: "fn gone".into(), change: DefinitionChange::Removed };
    many.files[0].hunks[0].definitions = (1..20_000).map(named).chain([gone]).collect();
    let text = drawn(&pane(140, 35, many), "dark").text();
    let row = text.lines().find(|row| row.contains("fn gone")).expect("its head");
    let place = |words: &str| row.find(words).unwrap_or(usize::MAX);
    assert!(place("fn gone") < place("fn f1 ") && place("fn f1 ") < usize::MAX, "{row}");
    let named = 1 + row.matches("fn f").count();
    let more = crate::text::number::thousands(20_000 - named);
    assert!(row.contains(&format!("and {more} more")), "{row}");
}

#[test]
fn in_little_room_the_first_of_several_definitions_is_named_and_the_others_are_counted() {
    let mut several = labelled();
    let named = |name: &str, change| HunkDefinition { name: name.into(), change };
    several.files[0].hunks[0].definitions = vec![
        named("method Cart.clear", DefinitionChange::New),
        named("class Cart", DefinitionChange::Changed),
        named("method Cart.drop", DefinitionChange::Renamed),
    ];
    let row = |width, several: &Proposal| {
        let text = drawn(&pane(width, 30, several.clone()), "dark").text();
        text.lines().find(|row| row.contains(" 1 of 3")).expect("its head").to_string()
    };
    let narrow = row(60, &several);
    assert!(narrow.contains("method ") && narrow.contains(" +2") && !narrow.contains("class Cart"), "{narrow}");
    assert!(row(140, &several).contains("class Cart · changed"));
    // One that is cut is named too.
    several.files[0].hunks[0].definitions = vec![named(&format!("fn {}", "long_".repeat(20)), DefinitionChange::New)];
    assert!(row(60, &several).contains("fn long_long"), "{}", row(60, &several));
}

#[test]
fn both_halves_of_a_moved_definition_are_accepted_where_one_shares_its_hunk() {
    let mut moved = labelled();
    let named = |name: &str, change| HunkDefinition { name: name.into(), change };
    let total = named("fn total", DefinitionChange::Moved);
    moved.files[0].hunks[0].definitions = vec![total.clone()];
    moved.files[0].hunks[1].definitions = vec![named("fn keep", DefinitionChange::Changed)];
    moved.files[0].hunks[2].definitions = vec![total.clone(), named("const old", DefinitionChange::Removed)];
    let decided = |moved: &Proposal, way: &[Action]| {
        let mut diff = pane(140, 35, moved.clone());
        act(&mut diff, way);
        let page = diff.page.as_ref().expect("a page");
        [0, 1, 2].map(|h| page.choices.standing(0, h))
    };
    let (yes, open) = (Standing::Accepted, Standing::Undecided);
    assert_eq!(decided(&moved, &[Action::AcceptDefinition]), [yes, open, yes]);
    // What comes with it is said, where the hunk in focus does not name it.
    let said = |way: &[Action]| {
        let effects = act(&mut pane(140, 35, moved.clone()), way);
        let said = effects.into_iter().filter_map(|effect| match effect {
            PaneEffect::Say(words) => Some(words),
            _ => None,
        });
        said.collect::<Vec<_>>()
    };
    assert_eq!(said(&[Action::AcceptDefinition]), ["also accepted: const old (removed)"]);
    assert_eq!(said(&[Action::NextHunk, Action::NextHunk, Action::AcceptDefinition]), Vec::<String>::new());
    assert_eq!(decided(&moved, &[Action::NextHunk, Action::NextHunk, Action::AcceptDefinition]), [yes, open, yes]);
    // What moves out of a hunk that is accepted arrives, too.
    moved.files[0].hunks[0].definitions.push(named("fn keep", DefinitionChange::Changed));
    assert_eq!(decided(&moved, &[Action::NextHunk, Action::AcceptDefinition]), [yes; 3]);
    // What is renamed, comes or goes is taken whole, too; what is only changed is not.
    for (change, end) in [
        (DefinitionChange::Renamed, yes),
        (DefinitionChange::New, yes),
        (DefinitionChange::Removed, yes),
        (DefinitionChange::Changed, open),
    ] {
        moved.files[0].hunks[0].definitions[0].change = change;
        moved.files[0].hunks[2].definitions[0].change = change;
        assert_eq!(decided(&moved, &[Action::NextHunk, Action::AcceptDefinition]), [yes, yes, end], "{change:?}");
    }
}

#[test]
fn all_hunks_of_a_definition_are_accepted_at_once() {
    let mut diff = pane(140, 35, labelled());
    act(&mut diff, &[Action::NextHunk, Action::AcceptDefinition]);
    let standings = |diff: &Diff| {
        let page = diff.page.as_ref().expect("a page");
        [0, 1, 2].map(|h| page.choices.standing(0, h))
    };
    assert_eq!(standings(&diff), [Standing::Accepted, Standing::Accepted, Standing::Undecided]);
    assert_eq!(diff.page.as_ref().and_then(|page| page.view.focus()), Some((0, 2)));
    act(&mut diff, &[Action::UndoDecision]);
    assert_eq!(standings(&diff), [Standing::Undecided; 3]);
    // What was rejected stays so, and that is said.
    let mut diff = pane(140, 35, labelled());
    let effects = act(&mut diff, &[Action::Reject, Action::AcceptDefinition]);
    assert_eq!(standings(&diff), [Standing::Rejected, Standing::Accepted, Standing::Undecided]);
    assert!(effects.iter().any(|effect| matches!(effect, PaneEffect::Say(words) if words == "left rejected: 1 hunk")));
    // Where no definition is known, the hunk alone.
    let mut diff = pane(140, 35, shop());
    act(&mut diff, &[Action::AcceptDefinition]);
    assert_eq!(diff.undecided(), Some((2, 3)));
}

#[test]
fn the_heads_alone_say_what_happens_to_each_definition() {
    let mut diff = pane(100, 30, labelled());
    let whole = drawn(&diff, "dark").text();
    act(&mut diff, &[Action::FoldAll]);
    insta::assert_snapshot!(drawn(&diff, "dark").text());
    // The one in focus is opened with all of its definition.
    act(&mut diff, &[Action::Fold]);
    let text = drawn(&diff, "dark").text();
    assert!(text.contains("LINE 3") && text.contains("LINE 12") && !text.contains("LINE 30"), "{text}");
    // A search looks into all.
    act(&mut diff, &[Action::FoldAll, Action::FoldAll]);
    assert!(!drawn(&diff, "dark").text().contains("LINE"));
    diff.line(LineFor::Search, LineInput::Now("line 30"), 0);
    assert!(drawn(&diff, "dark").text().contains("LINE 30"));
    diff.line(LineFor::Search, LineInput::Now(""), 0);
    act(&mut diff, &[Action::PreviousHunk, Action::PreviousHunk]);
    assert_eq!(drawn(&diff, "dark").text(), whole);
}

#[test]
fn the_heads_alone_leave_out_the_lines_of_whole_files_too() {
    let text = |word: &str| State::file((1..=30).map(|n| format!("{word} {n}\n")).collect::<String>().as_bytes());
    let mut files = vec![
        FileChange::new("new.txt", State::Absent, text("fresh"), "write", &[]),
        FileChange::new("old.txt", text("stale"), State::Absent, "delete", &[]),
        FileChange::new("empty.txt", State::Absent, State::file(*b""), "write", &[]),
    ];
    files.extend(FileChange::moved("from.txt", "to.txt", text("before"), text("after"), "move", &[]));
    let mut diff = pane(100, 60, proposal(files));
    act(&mut diff, &[Action::FoldAll]);
    let heads = drawn(&diff, "dark").text();
    for lines in ["fresh 1", "stale 1", "before 1", "after 1"] {
        assert!(!heads.contains(lines), "{lines}: {heads}");
    }
    // What is no line stays: a move without its other end would say nothing.
    for words in ["+30", "from.txt", "empty"] {
        assert!(heads.contains(words), "{words}: {heads}");
    }
    // One is opened by itself.
    act(&mut diff, &[Action::Fold]);
    let text = drawn(&diff, "dark").text();
    assert!(text.contains("fresh 1") && !text.contains("stale 1"), "{text}");
}

#[test]
fn the_files_of_a_repository_that_is_restored_are_decided_together() {
    let restored = |path: &str| {
        let [now, then] = ["now\n", "then\n"].map(|text| State::file(text.as_bytes()));
        FileChange { restores: true, ..FileChange::new(path, now, then, UNDO, &[]) }
    };
    let proposal = proposal(vec![restored("a"), restored(".git/HEAD"), restored(".git/index")]);
    let mut choices = choices::Choices::of(&proposal);
    choices.set(1, 0, Choice::Accept);
    let (said, open) = choices.count();
    assert_eq!((said.accepted, said.rejected, open), (1, 0, 1), "it is one hunk");
    choices.refuse(2, &proposal.files[2]);
    choices.set(0, 0, Choice::Accept);
    let decided = proposal.decide(&choices.decision(&proposal)).expect("whole").expect("accepted");
    assert_eq!(decided.files().iter().map(|file| file.path()).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn words_above_the_diff_are_cut_between_words() {
    let mut diff = pane(80, 40, shop());
    diff.explain(&"The cart asks for all its prices at once and nothing else called it. ".repeat(8));
    measure(&mut diff, 80, 40);
    let text = drawn(&diff, "dark").text();
    let row = text.lines().find(|row| row.contains("more lines")).expect("the last row");
    let (words, _) = row.split_once("  ⋯").expect("its note");
    let words = words.trim().trim_start_matches("nebula").trim();
    let last = words.strip_suffix(" …").and_then(|cut| cut.split(' ').next_back()).expect("a cut");
    assert!(
        "The cart asks for all its prices at once and nothing else called it.".split(' ').any(|w| w == last),
        "{row}"
    );
}

#[test]
fn the_mark_of_what_acts_later_is_whole_beside_a_long_path() {
    let long = "migrations/2026/20261127110000_create_prices_table_and_index.sql";
    for width in [80, 120] {
        let files =
            [long, ".github/workflows/ci.yml"].map(|path| change(path, "a\n", "b\n", "edit", Rung::Exact, None));
        let diff = pane(width, 22, proposal(files.into()));
        let text = drawn(&diff, "dark").text();
        let row = text.lines().find(|row| row.contains("ci.yml")).expect("its row");
        assert!(row.contains("◈ acts later") && !row.contains('…'), "{text}");
    }
}

#[test]
fn the_row_of_what_no_policy_approves_says_so() {
    let hidden = change("b.rs", "one\n", "p\u{430}ypal\n", "edit", Rung::Exact, None);
    let guessed = change("c.rs", "one\n", "two\n", "edit", Rung::Inexact, None);
    let ordinary = change("a.rs", "one\n", "two\n", "edit", Rung::Exact, None);
    let diff = pane(140, 30, proposal(vec![ordinary, hidden, guessed]));
    let text = drawn(&diff, "dark").text();
    let row = |name: &str| text.lines().find(|row| row.contains(name)).expect("its row").to_string();
    assert!(row("b.rs").contains("1 hidden character") && row("b.rs").contains("never approved by policy"), "{text}");
    assert!(row("c.rs").contains("never approved by policy") && !row("a.rs").contains("never"), "{text}");
}

#[test]
fn the_repository_is_one_row_and_one_hunk() {
    let restored = |path: &str, unit: Option<&str>| {
        let [now, then] = ["now\n", "then\n"].map(|text| State::file(text.as_bytes()));
        let unit = unit.map(str::to_string);
        FileChange { restores: true, unit, ..FileChange::new(path, now, then, UNDO, &[]) }
    };
    let words = "HEAD main 91bc004 → 3f2a1c9, index";
    let files = vec![restored(".git/HEAD", Some(words)), restored(".git/index", None), restored("a.rs", None)];
    let mut diff = pane(120, 30, proposal(files));
    assert_eq!((diff.undecided(), diff.size_of_waiting().map(|size| size.0)), (Some((0, 2)), Some(2)));
    let text = drawn(&diff, "dark").text();
    assert!(text.contains(words) && text.contains("hunk 1 of 2") && !text.contains(".git/"), "{text}");
    assert!(!text.contains("acts later"), "it was asked for: {text}");
    // The row of the file below it is clicked, and what is decided of the one hunk is decided of all files.
    diff.click(1, 1, 0);
    assert_eq!(diff.page.as_ref().and_then(|page| page.view.focus()), Some((2, 0)));
    act(&mut diff, &[Action::PreviousHunk, Action::Reject]);
    let page = diff.page.as_ref().expect("a page");
    let decided = page.proposal.decide(&page.choices.decision(&page.proposal)).expect("whole").expect("accepted");
    assert_eq!(decided.files().iter().map(|file| file.path()).collect::<Vec<_>>(), ["a.rs"]);
    assert!(page.result().is_some(), "the file below can be edited");
    act(&mut diff, &[Action::PreviousHunk]);
    assert!(diff.page.as_ref().is_some_and(|page| page.result().is_none()), "the repository cannot");
    // Changed outside nebula in a part, it is undecided as a whole.
    let foreign = FileChange { foreign: true, ..restored(".git/index", None) };
    let diff = pane(120, 30, proposal(vec![restored(".git/HEAD", Some(words)), foreign]));
    assert_eq!(diff.undecided(), Some((1, 1)));
}

#[test]
fn the_repository_in_the_sessions_diff_is_undone_by_its_call() {
    let words = "HEAD main 3f2a1c9 → 91bc004, index";
    let mut diff = Diff::default();
    measure(&mut diff, 120, 30);
    diff.take_session(Some(Some(Arc::new(proposal(vec![FileChange::of_repository(words.into())])))));
    assert!(diff.show_session());
    let text = drawn(&diff, "dark").text();
    assert!(text.contains(words) && text.contains(".git") && !text.contains("acts later"), "{text}");
    let asked = act(&mut diff, &[Action::UndoCall]);
    let asks = |effect: &PaneEffect| {
        let PaneEffect::Run(Effect::Send(Command::Restore(request))) = effect else { return false };
        matches!(request, RestoreRequest::Origin { path, turn: false, .. } if path == ".git")
    };
    assert!(asked.iter().any(asks), "{asked:?}");
}
