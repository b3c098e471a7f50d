use super::*;
use crate::messages::Language;
use crate::protocol::{DefinitionDetail, DefinitionRow, FaultRow, GraphLink, GraphLinks, OpRow};
use crate::tui::msg::Effect;

fn row(layer: &str, name: &str) -> DefinitionRow {
    let (id, signature) = (format!("op_{name}"), "Int".into());
    DefinitionRow { id, group: layer.into(), name: name.into(), signature, errors: 0, warnings: 0 }
}

fn link(name: &str) -> GraphLink {
    GraphLink { id: format!("op_{name}"), name: format!("slot.{name}"), place: "1".into() }
}

fn conflict(id: &str, can_take: bool) -> ConflictRow {
    ConflictRow {
        id: id.into(),
        kind: "edit-superseded".into(),
        about: "slot.a".into(),
        message: "edit by user:b was made while the body was replaced; it does not show".into(),
        lost: "Int = 3".into(),
        definition: Some(link("a")),
        can_take,
    }
}

fn page(conflicts: Vec<ConflictRow>) -> GraphPage {
    let rows = vec![row("slot", "a"), row("slot", "b"), row("fn", "c")];
    GraphPage {
        place: "project.strand".into(),
        beside: Vec::new(),
        trouble: None,
        conflicts,
        faults: 0,
        found: rows.len(),
        total: rows.len(),
        files: 0,
        files_left: 0,
        rows,
    }
}

fn definition(name: &str, used_by: &[&str]) -> DefinitionDetail {
    let op = OpRow { at: 0, author: "user:a".into(), kind: "add".into(), summary: "Int = 1".into() };
    DefinitionDetail {
        id: format!("op_{name}"),
        name: format!("slot.{name}"),
        text: format!("slot {name} = Int = 1").into(),
        is_cut: false,
        is_file: false,
        faults: Vec::new(),
        uses: GraphLinks::default(),
        used_by: GraphLinks { rows: used_by.iter().map(|name| link(name)).collect(), more: 0 },
        history: vec![op],
        older: 0,
    }
}

fn asked(effects: &[PaneEffect]) -> Vec<&Query> {
    let queries = effects.iter().filter_map(|effect| match effect {
        PaneEffect::Ask(query) => Some(query),
        _ => None,
    });
    queries.collect()
}

fn act(graph: &mut GraphScreen, action: Action) -> Vec<PaneEffect> {
    assert!(graph.offers(action), "{action:?}");
    match graph.act(action) {
        GraphOutcome::Stay(effects) => effects,
        GraphOutcome::Leave => panic!("{action:?} closes it"),
    }
}

/// Answers the question for a definition.
fn tell(graph: &mut GraphScreen, found: DefinitionDetail) -> Vec<PaneEffect> {
    let query = Query::Definition(found.id.clone());
    graph.answer(&query, &Listing::Definition(Box::new(found)))
}

fn open(conflicts: Vec<ConflictRow>) -> GraphScreen {
    let mut graph = GraphScreen::default();
    graph.measure(140, 40);
    let query = graph.query();
    graph.answer(&query, &Listing::Graph(page(conflicts)));
    graph
}

#[test]
fn references_are_followed_and_each_is_gone_back_from() {
    let mut graph = open(Vec::new());
    tell(&mut graph, definition("a", &["b"]));
    act(&mut graph, Action::Open);
    act(&mut graph, Action::NextItem);
    act(&mut graph, Action::NextItem);
    assert!(!graph.offers(Action::Open), "a head leads nowhere");
    act(&mut graph, Action::Down);
    let effects = act(&mut graph, Action::Open);
    assert_eq!(asked(&effects), [&Query::Definition("op_b".into())]);
    tell(&mut graph, definition("b", &[]));
    assert_eq!((graph.at, graph.trail.len()), (1, 1), "the list follows");
    assert_eq!(asked(&act(&mut graph, Action::Left)), [&Query::Definition("op_a".into())]);
    tell(&mut graph, definition("a", &["b"]));
    act(&mut graph, Action::Left);
    assert!(!graph.in_detail);
    assert_eq!(graph.act(Action::Close), GraphOutcome::Leave);
}

#[test]
fn one_definition_is_asked_for_at_a_time_and_the_last_one_wanted_is_shown() {
    let mut graph = open(Vec::new());
    assert!(asked(&act(&mut graph, Action::Down)).is_empty());
    assert!(asked(&act(&mut graph, Action::Down)).is_empty());
    let effects = tell(&mut graph, definition("a", &[]));
    assert_eq!(asked(&effects), [&Query::Definition("op_c".into())]);
    assert!(graph.detail.is_none(), "what is no longer under the keys is not shown");
    tell(&mut graph, definition("c", &[]));
    assert!(graph.detail.is_some());
}

#[test]
fn a_conflict_is_decided_by_enter_alone_after_the_question() {
    let mut graph = open(vec![conflict("W0902@slot.a", true)]);
    for (action, choice) in [(Action::KeepConflict, ConflictChoice::Keep), (Action::TakeConflict, ConflictChoice::Take)]
    {
        let asks = act(&mut graph, action);
        assert!(matches!(asks[..], [PaneEffect::Say(_)]), "{asks:?}");
        let sent = act(&mut graph, Action::Open);
        let wanted = Command::DecideConflict(Box::new(conflict("W0902@slot.a", true)), choice);
        assert_eq!(sent, [PaneEffect::Run(Effect::Send(wanted))]);
        act(&mut graph, action);
        assert!(graph.cancel() && !graph.cancel());
        assert_eq!(act(&mut graph, Action::Open), [], "it opens the conflict");
        act(&mut graph, Action::Left);
    }
}

#[test]
fn what_a_filter_leaves_under_the_bar_is_what_is_decided() {
    let conflicts = ["W0902@slot.a", "W0902@slot.b", "W0902@slot.c"].map(|id| conflict(id, true)).to_vec();
    let mut graph = open(conflicts.clone());
    act(&mut graph, Action::Down);
    act(&mut graph, Action::Down);
    graph.line(&LineFor::Filter, LineInput::Taken("slot"));
    let query = graph.query();
    graph.answer(&query, &Listing::Graph(page(conflicts)));
    let bar = graph.entry(graph.at).expect("an entry is under the bar");
    act(&mut graph, Action::KeepConflict);
    let sent = act(&mut graph, Action::Open);
    let [PaneEffect::Run(Effect::Send(Command::DecideConflict(row, _)))] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(Target::Conflict(row.id.clone()), bar);
}

#[test]
fn a_conflict_that_changes_under_the_question_is_not_decided() {
    let mut graph = open(vec![conflict("W0902@slot.a", true)]);
    act(&mut graph, Action::TakeConflict);
    graph.refresh();
    let changed = ConflictRow { lost: "Int = 9".into(), ..conflict("W0902@slot.a", true) };
    let query = graph.query();
    graph.answer(&query, &Listing::Graph(page(vec![changed])));
    assert_eq!(act(&mut graph, Action::Open), [], "it opens the conflict");
}

#[test]
fn a_definition_that_was_asked_for_before_a_change_is_asked_for_again() {
    let mut graph = open(vec![conflict("cf_1", true)]);
    let effects = act(&mut graph, Action::Down);
    assert_eq!(asked(&effects), [&Query::Definition("op_a".into())]);
    graph.refresh();
    let effects = tell(&mut graph, definition("a", &[]));
    assert_eq!(asked(&effects), [&Query::Definition("op_a".into())], "what came was read before the change");
    tell(&mut graph, definition("a", &[]));
    assert!(graph.detail.is_some());
}

#[test]
fn what_holds_no_op_is_only_kept() {
    let mut graph = open(vec![conflict("cf_1", false)]);
    assert!(graph.offers(Action::KeepConflict) && !graph.offers(Action::TakeConflict));
    act(&mut graph, Action::Down);
    assert!(!graph.offers(Action::KeepConflict), "a definition is no conflict");
}

#[test]
fn a_changed_store_is_read_again_and_the_keys_stay_where_they_are() {
    let mut graph = open(vec![conflict("cf_1", true)]);
    act(&mut graph, Action::Down);
    act(&mut graph, Action::Down);
    tell(&mut graph, definition("a", &[]));
    tell(&mut graph, definition("b", &[]));
    let effects = graph.refresh();
    assert_eq!(asked(&effects), [&graph.query(), &Query::Definition("op_b".into())]);
    assert!(graph.refresh().is_empty(), "one question of a kind at a time");
    let query = graph.query();
    let effects = graph.answer(&query, &Listing::Graph(page(Vec::new())));
    assert_eq!(asked(&effects), [&query], "it changed again meanwhile");
    assert_eq!(graph.entry(graph.at), Some(Target::Definition("op_b".into())));
}

#[test]
fn the_next_of_many_are_asked_for_at_the_end() {
    let mut graph = GraphScreen::default();
    graph.measure(140, 40);
    let query = graph.query();
    graph.answer(&query, &Listing::Graph(GraphPage { found: 900, total: 900, ..page(Vec::new()) }));
    let effects = act(&mut graph, Action::Last);
    assert_eq!(asked(&effects), [&Query::Graph { filter: String::new(), limit: 2 * ROWS }]);
}

#[test]
fn stores_beside_the_one_that_is_shown_are_named() {
    let mut graph = GraphScreen::default();
    graph.measure(200, 30);
    let beside = vec!["shop.strand".to_owned(), "old.strand".to_owned()];
    let drawn = |graph: &mut GraphScreen, page: GraphPage| {
        let query = graph.query();
        graph.answer(&query, &Listing::Graph(page));
        crate::tui::pane::testing::screen(200, 30, "dark", true, |area, buf, ctx| graph.draw(area, buf, true, ctx))
            .text()
    };
    let shown = drawn(&mut graph, GraphPage { beside: beside.clone(), ..page(Vec::new()) });
    for words in ["project.strand, one of several", "also: STRAND_STORE=shop.strand", "STRAND_STORE=old.strand nebula"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(graph.at, 0, "they are no entries");
    let empty = GraphPage { beside, rows: Vec::new(), found: 0, total: 0, ..page(Vec::new()) };
    assert!(drawn(&mut graph, empty).contains("shop.strand"));
    assert!(!drawn(&mut graph, page(Vec::new())).contains("also"));
}

/// A page of this many definitions of many more, as far as a question asks for them.
fn first_of(limit: usize, all: usize) -> GraphPage {
    let rows: Vec<_> = (0..limit.min(all)).map(|n| row("fn", &format!("f{n}"))).collect();
    GraphPage { rows, found: all, total: all, ..page(Vec::new()) }
}

/// Answers the question for the list in a store of `all` definitions.
fn tell_list(graph: &mut GraphScreen, all: usize) -> Vec<PaneEffect> {
    let query = graph.query();
    let Query::Graph { limit, .. } = query else { panic!("{query:?}") };
    graph.answer(&query, &Listing::Graph(first_of(limit, all)))
}

#[test]
fn the_key_for_the_end_reads_the_list_until_its_end_and_stands_there() {
    let all = 5 * ROWS;
    let mut graph = GraphScreen::default();
    graph.measure(140, 40);
    tell_list(&mut graph, all);
    tell(&mut graph, definition("f0", &[]));
    let mut effects = act(&mut graph, Action::Last);
    for times in [2, 4, 8] {
        assert_eq!(asked(&effects), [&Query::Graph { filter: String::new(), limit: times * ROWS }]);
        effects = tell_list(&mut graph, all);
        assert_eq!(graph.at, (times * ROWS).min(all) - 1);
    }
    assert_eq!(asked(&effects), [&Query::Definition(format!("op_f{}", all - 1))], "what stands at the end is shown");
    tell(&mut graph, definition(&format!("f{}", all - 1), &[]));
    // Another key ends it, and so does a list that does not grow.
    for key in [Some(Action::First), None] {
        let mut graph = GraphScreen::default();
        graph.measure(140, 40);
        tell_list(&mut graph, all);
        act(&mut graph, Action::Last);
        let query = graph.query();
        let effects = match key {
            Some(key) => {
                act(&mut graph, key);
                graph.answer(&query, &Listing::Graph(first_of(2 * ROWS, all)))
            }
            None => graph.answer(&query, &Listing::Graph(first_of(ROWS, all))),
        };
        assert!(!asked(&effects).iter().any(|asked| matches!(asked, Query::Graph { .. })), "{effects:?}");
        assert_eq!(graph.at, if key.is_some() { 0 } else { ROWS - 1 });
    }
}

#[test]
fn the_wheel_moves_in_what_is_under_the_pointer() {
    let mut graph = open(Vec::new());
    tell(&mut graph, definition("a", &["b"]));
    graph.wheel(100, Action::Down);
    assert_eq!((graph.at, graph.detail.as_ref().map(|detail| detail.at)), (0, Some(1)));
    graph.wheel(3, Action::Down);
    assert_eq!(graph.at, 1);
}

#[test]
fn while_a_decision_waits_enter_alone_is_offered() {
    let mut graph = open(vec![conflict("cf_1", true)]);
    let said = act(&mut graph, Action::TakeConflict);
    assert!(
        matches!(&said[..], [PaneEffect::Say(words)] if words.starts_with("Enter yes, any other key no")),
        "{said:?}"
    );
    assert!(graph.is_confirming() && graph.offers(Action::Open));
    assert!(!graph.offers(Action::KeepConflict) && !graph.offers(Action::Close) && !graph.offers(Action::Search));
}

#[test]
fn the_head_counts_the_rows_that_are_marked() {
    let mut graph = GraphScreen::default();
    graph.measure(140, 40);
    let mut found = page(Vec::new());
    found.rows[0].errors = 1;
    found.rows[1].warnings = 1;
    found.rows[2].errors = 2;
    graph.answer(&graph.query(), &Listing::Graph(found));
    let drawn =
        crate::tui::pane::testing::screen(140, 40, "dark", true, |area, buf, ctx| graph.draw(area, buf, true, ctx));
    assert!(drawn.text().contains("3 definitions · ✗ 2 ━"), "{}", drawn.text());
}

#[test]
fn what_a_store_says_is_in_the_language_of_the_screen() {
    let lines = |shown: detail::DetailItem| {
        let detail = crate::messages::with(Language::Japanese, || detail::Detail::new(shown, 200));
        format!("{:?}", detail.lines)
    };
    let shown = lines(detail::DetailItem::Conflict(conflict("W0902@slot.a", true)));
    assert!(shown.contains("user:bの編集（edit）は") && !shown.contains("was made while"), "{shown}");
    let message = "Reference to undefined slot 'cuont'".into();
    let fault = FaultRow { code: "E0103".into(), message, is_warning: false };
    let found = DefinitionDetail { faults: vec![fault], ..definition("a", &[]) };
    let shown = lines(detail::DetailItem::Definition(found));
    assert!(shown.contains("E0103 未定義のslot 'cuont' を参照しています"), "{shown}");
}

#[test]
fn the_kind_and_the_state_of_a_conflict_are_in_the_language_of_the_screen() {
    let told = |words: &str, language| crate::messages::with(language, || draw::kind(words));
    for words in ["dangling open", "edit-superseded", "a-later-kind open"] {
        assert_eq!(told(words, Language::English), words);
    }
    assert_eq!(told("dangling open", Language::Japanese), "参照切れ 未解決");
    assert_eq!(told("a-later-kind resolved", Language::Japanese), "a-later-kind 解決済み");
}
