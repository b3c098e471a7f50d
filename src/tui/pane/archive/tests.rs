use super::*;
use crate::proposal::{Decision, ForeignChoice, RestoreFate, RestorePreview, RestoreStatus};
use crate::protocol::{ChangesetFile, Command, RestoreRequest};
use crate::tui::action::Action;
use crate::tui::glyphs::Glyphs;
use crate::tui::pane::id::PaneId;
use crate::tui::pane::testing::{self, NOW, Screen, screen};
use crate::tui::theme::Theme;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// Midnight before [`NOW`].
const TODAY: i64 = NOW - (12 * 60 + 7) * MINUTE;

fn at(hour: i64, minute: i64, second: i64) -> i64 {
    TODAY + (hour * 60 + minute) * MINUTE + second * 1000
}

fn counts(added: usize, removed: usize) -> Counts {
    Counts { added, removed }
}

fn set(when: i64, cause: &str, by: &str, files: &[(&str, usize, usize)]) -> Changeset {
    let files = files.iter().map(|(path, a, r)| ChangesetFile {
        path: path.to_string(),
        version: Some(format!("{path}@{when}")),
        absent: false,
        counts: Some(counts(*a, *r)),
    });
    Changeset {
        id: format!("set-{when}"),
        at: when,
        cause: cause.into(),
        by: by.into(),
        session: None,
        merged: None,
        files: files.collect(),
        definitions: Vec::new(),
    }
}

fn shop() -> Vec<Changeset> {
    let three = |a, r| [("src/catalog.rs", a, r), ("src/cart.rs", 0, 0), ("src/money.rs", 0, 0)];
    vec![
        set(at(12, 4, 31), "load prices in one query", "edit", &[("src/catalog.rs", 7, 6), ("src/cart.rs", 3, 1)]),
        set(at(11, 58, 2), "undo of sell gift cards", "undo", &three(0, 31)),
        set(at(11, 57, 40), "sell gift cards", "edit", &three(31, 0)),
        set(at(11, 52, 19), "sell gift cards", "edit", &[("src/handlers/checkout.rs", 4, 2)]),
        set(at(11, 31, 7), "round half to even", "edit", &[("src/money.rs", 12, 3)]),
        set(at(10, 20, 44), "shi", "shi", &[("templates/cart.html", 0, 0)]),
        set(at(9, 12, 3), "merge equal lines", "edit", &[("src/cart.rs", 3, 1)]),
        set(at(17, 40, 12) - DAY, "add a cart", "edit", &[("src/cart.rs", 12, 0)]),
        set(at(17, 12, 55) - DAY, "", "other session", &[("src/a.rs", 8, 8), ("src/b.rs", 0, 0)]),
        set(at(16, 20, 31) - DAY, "prices table and its migration", "edit", &[("migrations/0004_prices.sql", 21, 0)]),
    ]
}

fn version(id: &str, when: i64, a: usize, r: usize) -> VersionRow {
    VersionRow {
        id: id.into(),
        at: when,
        absent: false,
        cause: "one query".into(),
        counts: Some(counts(a, r)),
        bytes: 1,
    }
}

fn cart_in_time() -> Listing {
    let rows = vec![
        version("v1", at(18, 20, 0) - 2 * DAY, 38, 0),
        version("v2", at(18, 22, 0) - 2 * DAY, 9, 4),
        version("v3", at(17, 40, 12) - DAY, 12, 0),
        version("v4", at(9, 12, 3), 3, 1),
        version(&format!("src/cart.rs@{}", at(12, 4, 31)), at(12, 4, 31), 3, 1),
    ];
    Listing::Versions { path: "src/cart.rs".into(), versions: rows, foreign: true, now: Some(counts(1, 0)) }
}

fn measure(archive: &mut Archive, width: u16, height: u16) {
    let theme = Theme::shipped("dark");
    archive.measure(
        width,
        height,
        &Look { theme: &theme, glyphs: &Glyphs::UNICODE, keys: crate::tui::pane::testing::keys(), now: NOW, zone: 0 },
    );
}

fn drawn(archive: &mut Archive, width: u16, height: u16) -> Screen {
    measure(archive, width, height);
    screen(width, height, "dark", true, |area, buf, ctx| archive.draw(area, buf, ctx))
}

/// The agent's side: answers what is asked for, until nothing is.
fn serve(archive: &mut Archive, effects: Vec<PaneEffect>) -> Vec<PaneEffect> {
    let mut rest = Vec::new();
    let mut open = effects;
    while let Some(effect) = open.pop() {
        let PaneEffect::Ask(query) = effect else {
            rest.push(effect);
            continue;
        };
        let listing = match &query {
            Query::Archive { skip, limit, filter } => {
                let all: Vec<_> = shop().into_iter().filter(|c| c.cause.contains(filter)).collect();
                let rows = all.into_iter().skip(*skip).take(*limit).collect();
                Listing::Archive { rows, found: 128, total: 128, files: 40 }
            }
            Query::Versions(path) if path == "src/cart.rs" => cart_in_time(),
            Query::Versions(path) => {
                Listing::Versions { path: path.clone(), versions: Vec::new(), foreign: false, now: None }
            }
            Query::Bytes(path, version) => {
                let text = if version.as_deref() == Some("v3") { testing::CART.0 } else { testing::CART.1 };
                Listing::Bytes(path.clone(), version.clone(), Arc::new(State::file(text.as_bytes())))
            }
            other => panic!("{other:?}"),
        };
        open.extend(archive.answer(&query, &listing, NOW));
    }
    rest
}

fn open(width: u16, height: u16) -> Archive {
    let mut archive = Archive::default();
    measure(&mut archive, width, height);
    let info = crate::protocol::SessionInfo {
        id: "s".into(),
        title: None,
        resumed: 0,
        status: crate::protocol::Status::default(),
    };
    let effects = archive.apply(&EventBody::Opened(info), NOW);
    assert_eq!(serve(&mut archive, effects), []);
    archive
}

fn act(archive: &mut Archive, actions: &[Action]) -> Vec<PaneEffect> {
    let mut rest = Vec::new();
    for action in actions {
        assert!(archive.offers(*action), "{action:?}");
        let effects = archive.act(*action, NOW);
        rest.extend(serve(archive, effects));
    }
    rest
}

fn previews() -> Vec<RestorePreview> {
    let preview = |path: &str, kind| RestorePreview { path: path.into(), status: kind };
    vec![
        preview("src/catalog.rs", RestoreStatus::Restore(RestoreFate::Content, counts(6, 7))),
        preview(
            "src/cart.rs",
            RestoreStatus::Foreign {
                at: Some(at(12, 6, 2)),
                counts: counts(1, 0),
                choice: None,
                conflicts: Some(0),
                rung: None,
                is_later: false,
            },
        ),
        preview("src/money.rs", RestoreStatus::Equal),
        preview(".env.local", RestoreStatus::NotArchived("archiveExclude: .env*".into())),
    ]
}

fn restore() -> Arc<Proposal> {
    let files = vec![FileChange::new("src/catalog.rs", State::file(*b"a\n"), State::file(*b"b\n"), "undo", &[])];
    Arc::new(Proposal { id: ProposalId(9), title: "restore everything to 12:04:31".into(), files })
}

#[test]
fn the_finished_frame() {
    let mut archive = open(140, 35);
    act(&mut archive, &[Action::Down, Action::BackInTime, Action::BackInTime, Action::Pin]);
    act(&mut archive, &[Action::OnInTime, Action::OnInTime]);
    let effects = archive.apply(&EventBody::Proposal(ProposalEvent::Proposed(restore(), previews())), NOW);
    assert_eq!((effects, archive.waiting().is_some()), (Vec::new(), true));
    let screen = drawn(&mut archive, 140, 35);
    screen.dump("05-archive");
    insta::assert_snapshot!(screen.text());
}

#[test]
fn the_small_form() {
    let mut archive = open(56, 10);
    let screen = drawn(&mut archive, 56, 10);
    screen.dump("02-archive");
    insta::assert_snapshot!(screen.text());
}

#[test]
fn room_for_the_comparison_is_used_at_once() {
    let mut archive = open(56, 10);
    assert!(archive.wanted().is_empty());
    measure(&mut archive, 140, 35);
    let wanted = archive.wanted();
    assert_eq!(wanted, [PaneEffect::Ask(Query::Versions("src/catalog.rs".into()))]);
    assert!(serve(&mut archive, wanted).is_empty() && archive.wanted().is_empty());
}

#[test]
fn one_column_has_both_halves() {
    let mut archive = open(60, 20);
    act(&mut archive, &[Action::Down]);
    insta::assert_snapshot!(drawn(&mut archive, 60, 20).text());
}

#[test]
fn restores_go_out_as_requests() {
    let mut archive = open(140, 35);
    act(&mut archive, &[Action::Down]);
    let sent = |r| vec![PaneEffect::send(Command::Restore(r))];
    let version = format!("src/cart.rs@{}", at(12, 4, 31));
    assert_eq!(
        act(&mut archive, &[Action::Restore]),
        sent(RestoreRequest::Version { path: "src/cart.rs".into(), version })
    );
    assert_eq!(
        act(&mut archive, &[Action::RestoreChangeset]),
        sent(RestoreRequest::Changeset(format!("set-{}", at(12, 4, 31))))
    );
    assert_eq!(act(&mut archive, &[Action::Redo]), sent(RestoreRequest::Redo));
    act(&mut archive, &[Action::OnInTime]);
    assert!(!archive.offers(Action::Restore), "now is no version");
}

/// Where every file stays as it is, nothing is left to look at: the key that goes on ends the restore.
#[test]
fn a_restore_of_nothing_is_ended_by_the_key_that_goes_on() {
    let mut archive = open(140, 35);
    let nothing = Arc::new(Proposal { files: Vec::new(), ..(*restore()).clone() });
    let kept = RestoreStatus::Foreign {
        at: None,
        counts: counts(1, 0),
        choice: Some(ForeignChoice::Keep),
        conflicts: None,
        rung: None,
        is_later: false,
    };
    let previews = vec![RestorePreview { path: "src/cart.rs".into(), status: kept }];
    archive.apply(&EventBody::Proposal(ProposalEvent::Proposed(Arc::clone(&nothing), previews)), NOW);
    assert!(drawn(&mut archive, 140, 35).text().contains("Enter ends it, everything stays as it is"));
    let refused = Decision::refuse(&nothing);
    assert_eq!(archive.act(Action::Open, NOW)[0], PaneEffect::send(Command::Decide(ProposalId(9), refused)));
}

#[test]
fn previews_come_before_the_proposal() {
    let mut archive = open(140, 35);
    archive.apply(&EventBody::Proposal(ProposalEvent::Proposed(restore(), previews())), NOW);
    assert!(!archive.offers(Action::Open) && archive.offers(Action::Merge));
    let choice =
        RestoreRequest::Foreign { proposal: ProposalId(9), path: "src/cart.rs".into(), choice: ForeignChoice::Merge };
    assert_eq!(archive.act(Action::Merge, NOW), [PaneEffect::send(Command::Restore(choice))]);
    let mut chosen = previews();
    chosen[1].status = RestoreStatus::Foreign {
        at: None,
        counts: counts(1, 0),
        choice: Some(ForeignChoice::Merge),
        conflicts: Some(0),
        rung: None,
        is_later: false,
    };
    archive
        .apply(&EventBody::Proposal(ProposalEvent::Settled(ProposalId(9), crate::protocol::Outcome::Withdrawn)), NOW);
    archive.apply(&EventBody::Proposal(ProposalEvent::Proposed(restore(), chosen)), NOW);
    assert!(archive.offers(Action::Open) && !archive.offers(Action::Merge));
    assert!(drawn(&mut archive, 140, 35).text().contains("Enter previews"));
    // What was chosen may be chosen once more.
    assert!(archive.offers(Action::Up));
    archive.act(Action::Up, NOW);
    assert!(archive.offers(Action::Open) && archive.offers(Action::RestoreVersion) && !archive.offers(Action::Up));
    assert!(drawn(&mut archive, 140, 35).text().contains("restore this version"));
    let again = RestoreRequest::Foreign {
        proposal: ProposalId(9),
        path: "src/cart.rs".into(),
        choice: ForeignChoice::RestoreVersion,
    };
    assert_eq!(archive.act(Action::RestoreVersion, NOW), [PaneEffect::send(Command::Restore(again))]);
    assert_eq!(archive.act(Action::Open, NOW), [PaneEffect::Focus(PaneId::Diff)]);
    let refused = Decision::refuse(&restore());
    assert_eq!(archive.act(Action::Escape, NOW)[0], PaneEffect::send(Command::Decide(ProposalId(9), refused)));
}

#[test]
fn pages_and_filters_are_requested_as_needed() {
    let mut archive = Archive::default();
    measure(&mut archive, 140, 35);
    let page = |skip: usize, n: usize| {
        let rows = (skip..skip + n).map(|i| set(NOW - i as i64 * MINUTE * 90, "c", "edit", &[("a.rs", 1, 0)]));
        Listing::Archive { rows: rows.collect(), found: 150, total: 150, files: 1 }
    };
    let query = |skip| Query::Archive { skip, limit: PAGE, filter: String::new() };
    archive.more();
    archive.answer(&query(0), &page(0, 100), NOW);
    assert!(!act_raw(&mut archive, Action::Down).contains(&PaneEffect::Ask(query(100))));
    assert!(act_raw(&mut archive, Action::Last).contains(&PaneEffect::Ask(query(100))));
    assert!(drawn(&mut archive, 140, 35).text().contains("⋯ 50 older"));
    archive.answer(&query(100), &page(100, 50), NOW);
    assert_eq!(archive.rows.len(), 150);
    act_raw(&mut archive, Action::Last);
    assert!(!drawn(&mut archive, 140, 35).text().contains("older"));
    let effects = archive.line(LineFor::Filter, LineInput::Now("cart"), NOW);
    assert_eq!(effects, [PaneEffect::Ask(Query::Archive { skip: 0, limit: PAGE, filter: "cart".into() })]);
    // An answer to what was asked before is dropped.
    archive.answer(&query(100), &page(100, 50), NOW);
    assert!(archive.rows.is_empty());
}

fn act_raw(archive: &mut Archive, action: Action) -> Vec<PaneEffect> {
    archive.act(action, NOW)
}

#[test]
fn a_new_changeset_appears_at_once_and_the_selection_stays() {
    let mut archive = open(140, 35);
    act(&mut archive, &[Action::HalfDown]);
    let before = archive.rows[archive.selected].id.clone();
    let new = set(NOW, "tenfold prices", "edit", &[("src/cart.rs", 1, 1)]);
    archive.apply(&EventBody::Archived(new.clone()), NOW);
    archive.apply(&EventBody::Archived(new), NOW);
    assert_eq!((archive.rows.len(), archive.total), (11, 129));
    assert!(drawn(&mut archive, 140, 35).text().contains("tenfold prices"));
    assert_eq!(archive.rows[archive.selected].id, before);
    assert!(!archive.times.contains_key("src/cart.rs"), "its versions are asked for again");
}

#[test]
fn every_size_is_drawn() {
    let mut archive = open(140, 35);
    act(&mut archive, &[Action::Down]);
    for (width, height) in [(0, 0), (1, 1), (12, 3), (40, 7), (40, 20), (99, 30), (100, 9), (220, 57)] {
        archive.restore = None;
        drawn(&mut archive, width, height);
        archive.apply(&EventBody::Proposal(ProposalEvent::Proposed(restore(), previews())), NOW);
        drawn(&mut archive, width, height);
    }
    archive.restore = None;
    act(&mut archive, &[Action::Open, Action::Down]);
    assert!(drawn(&mut archive, 140, 35).text().contains("src/cart.rs"));
    act(&mut archive, &[Action::Escape]);
}

#[test]
fn a_long_name_is_whole_beside_the_comparison() {
    let name = "20261127110000_create_prices_table_and_index.sql";
    let mut archive = open(100, 30);
    let long = format!("migrations/2026/{name}");
    let changeset = set(at(12, 6, 0), "go on", "edit", &[("a.rs", 1, 1), (&long, 1, 0)]);
    let told = archive.apply(&EventBody::Archived(changeset), NOW);
    serve(&mut archive, told);
    let text = drawn(&mut archive, 100, 30).text();
    assert!(text.contains(name), "{text}");
}

#[test]
fn the_repository_is_one_row_behind_the_files() {
    let mut archive = open(140, 40);
    let files = [(".git/HEAD", 1, 1), (".git/index", 0, 0), ("README.md", 1, 0)];
    let told = set(at(12, 6, 0), "git commit -qam more", "command", &files);
    let effects = archive.apply(&EventBody::Archived(told), NOW);
    serve(&mut archive, effects);
    let text = drawn(&mut archive, 140, 40).text();
    assert!(text.contains("README.md") && text.contains(".git") && !text.contains(".git/"), "{text}");
    // It has no versions of its own to ask for, or to restore.
    let effects = archive.act(Action::Down, NOW);
    assert_eq!((archive.path(), effects), (Some(".git"), Vec::new()));
    assert!(!archive.offers(Action::Restore) && archive.offers(Action::RestoreChangeset));
}

#[test]
fn the_heading_of_a_restore_says_that_it_is_one_however_long_its_name_is() {
    use crate::messages::{Language, with};
    let command = "mv 資料/がぎぐ.txt 資料/移動した.txt; chmod 700 資料; git commit -qam '日本語の長い説明'";
    for (language, maker, begins, holds, note) in [
        (Language::English, "", "undo of mv 資料", "…", "1 file, nothing is written yet"),
        (Language::English, "(made in another session)", "undo of mv 資料", "… (made in another session)", "1 file"),
        (Language::Japanese, "", "「mv 資料", "…」を元に戻す", "1ファイル、まだ何も書き込んでいません"),
        (
            Language::Japanese,
            "（別のセッションの変更）",
            "「mv 資料",
            "…」を元に戻す （別のセッションの変更）",
            "1ファイル",
        ),
    ] {
        with(language, || {
            let title = format!("undo of {command} {maker}").trim_end().to_string();
            let files = vec![FileChange::new("a", State::file(*b"a\n"), State::file(*b"b\n"), "undo", &[])];
            let restore = Arc::new(Proposal { id: ProposalId(9), title, files });
            let status = RestoreStatus::Restore(RestoreFate::Content, counts(1, 1));
            let previews = vec![RestorePreview { path: "a".into(), status }];
            let mut archive = open(80, 24);
            archive.apply(&EventBody::Proposal(ProposalEvent::Proposed(restore, previews)), NOW);
            let text = drawn(&mut archive, 80, 24).text();
            let heading = text.lines().find(|line| line.contains(begins)).unwrap_or_default();
            assert!(heading.contains(holds), "{language:?} {maker}: {text}");
            assert!(heading.contains(note), "{text}");
        });
    }
}
