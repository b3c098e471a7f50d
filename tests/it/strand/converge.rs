//! The laws of convergence over generated histories: several replicas, skewed clocks, duplicated,
//! reordered and withheld ops. `STRAND_CASES` sets how many histories are made.

use std::collections::{BTreeSet, HashSet};

use nebula::strand::id::{Layer, OpClock, OpId, QName};
use nebula::strand::integrity::{heal, new_danglings};
use nebula::strand::issue::{Draft, Issuer, Removal, issue};
use nebula::strand::lang::ast::To;
use nebula::strand::lang::parse::{parse_body, parse_definitions};
use nebula::strand::lang::print;
use nebula::strand::op::Op;
use nebula::strand::state::State;
use serde_json::json;

/// A small source of chance that gives the same numbers for the same seed.
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

const BODIES: [(&str, &[&str], &[&str]); 6] = [
    ("type", &["A", "B"], &["{ x: Int }", "{ x: Int, y: B }", "| P | Q(a: A)", "nominal Int", "Int where it > 0"]),
    ("slot", &["a", "b", "c"], &["Int = 0", "Int = 1", "A = b", "Text = \"x\""]),
    (
        "effect",
        &["e"],
        &["() -> Text err=Text needs=[net] do=http.get(\"/\")", "(t: Text) -> A needs=[] do=log.print(t)"],
    ),
    (
        "reducer",
        &["r", "s"],
        &["do= a := 1; b := a + 1", "on=T.go do= emit e() ok=s err=r", "in=(x: A) do= c := x when b > 0"],
    ),
    (
        "tile",
        &["T", "U"],
        &[
            "column { text(value=a); U() }",
            "row { button(label=\"x\", event=go, send=b) }",
            "input(bind=c, label=\"c\")",
        ],
    ),
    (
        "fn",
        &["f", "g"],
        &["(n: Int) -> Int = g(n)", "() -> A = 1", "(x: A) -> Bool = match x { P -> true; Q(y) -> false }"],
    ),
];

fn random_name(chance: &mut Chance) -> QName {
    let (layer, names, _) = chance.pick(&BODIES);
    QName::new(Layer::parse(layer).unwrap(), *chance.pick(names))
}

fn body_for(chance: &mut Chance, layer: Layer) -> String {
    let (_, _, bodies) = BODIES.iter().find(|(word, _, _)| *word == layer.word()).unwrap();
    (*chance.pick(bodies)).to_owned()
}

fn random_patch(chance: &mut Chance, layer: Layer) -> serde_json::Value {
    let patches = match layer {
        Layer::Type => vec![
            json!({"body:1": "replace 'Int' -> 'Text'"}),
            json!({"body:1": "insert z: Bool"}),
            json!({"body:1": "delete"}),
            json!({"where": "set it > 3"}),
            json!({"body:2": "set y: Text"}),
        ],
        Layer::Slot => vec![json!({"init": "set 7"}), json!({"type": "set Text"}), json!({"doc": "set a doc"})],
        Layer::Effect => vec![json!({"needs": "set [net, log]"}), json!({"err": "set Int"})],
        Layer::Reducer => vec![
            json!({"body:1": "insert c := 3"}),
            json!({"body:1": "delete"}),
            json!({"body:1.value": "set b + 5"}),
            json!({"body:1": "set emit e(\"x\") ok=r"}),
            json!({"body:2": "add guard=a > 1"}),
            json!({"on": "set U.go"}),
            json!({"body:0": "insert a := 9; b := 8"}),
        ],
        Layer::Tile => vec![
            json!({"body:1": "insert-child text(value=b)"}),
            json!({"body:2": "insert row { text(value=c); U() }"}),
            json!({"body:2": "delete"}),
            json!({"body:2": "set text(value=\"y\")"}),
            json!({"body:1": "set row"}),
            json!({"body:2": "add label=\"n\""}),
        ],
        Layer::Fn => vec![json!({"expr": "set 3"}), json!({"params": "set k: Int, l: A"})],
    };
    chance.pick(&patches).clone()
}

pub fn random_draft(chance: &mut Chance, state: &State) -> Draft {
    let visible: Vec<QName> = state.visible().map(|view| view.qname()).collect();
    let fresh = random_name(chance);
    if visible.is_empty() || chance.below(4) == 0 {
        let body = body_for(chance, fresh.layer);
        return Draft::Add { qname: fresh, body, doc: None, def: None };
    }
    let qname = chance.pick(&visible).clone();
    match chance.below(12) {
        0..=4 => Draft::Edit { patch: random_patch(chance, qname.layer), qname },
        5 | 6 => Draft::Replace { body: body_for(chance, qname.layer), qname, doc: None },
        7 | 8 => {
            let upper = matches!(qname.layer, Layer::Type | Layer::Tile);
            let pool: &[&str] = if upper { &["A", "B", "T", "U", "N"] } else { &["a", "b", "f", "g", "n", "r"] };
            Draft::Rename { to: (*chance.pick(pool)).to_owned(), qname }
        }
        9 => Draft::Remove { qname, how: *chance.pick(&[Removal::Refuse, Removal::Cascade, Removal::Force]) },
        10 => Draft::Link(qname, chance.pick(&visible).clone()),
        _ => Draft::Unlink(qname, chance.pick(&visible).clone()),
    }
}

/// Replicas that edit, and now and then hear of each other. Returns every op, and the replicas.
pub fn history(seed: u64) -> (Vec<Op>, Vec<State>) {
    let mut chance = Chance(seed);
    let count = 2 + chance.below(5);
    let mut replicas: Vec<State> = (0..count).map(|_| State::new()).collect();
    let issuers: Vec<Issuer> = (0..count)
        .map(|at| Issuer {
            // Clocks that disagree by up to an hour.
            clock: OpClock::fixed(1_700_000_000_000 + chance.below(3_600_000) as i64, seed ^ (at as u64) << 32),
            ..Issuer::new(format!("agent:a{at}"))
        })
        .collect();
    let mut all: Vec<Op> = Vec::new();
    for _ in 0..10 + chance.below(25) {
        let at = chance.below(count);
        if chance.below(3) == 0 && !all.is_empty() {
            let mut heard: Vec<Op> = all.iter().filter(|_| chance.below(4) > 0).cloned().collect();
            chance.shuffle(&mut heard);
            replicas[at].apply(heard);
            continue;
        }
        let draft = random_draft(&mut chance, &replicas[at]);
        if let Ok(ops) = issue(&mut replicas[at], &draft, &issuers[at]) {
            all.extend(ops);
        }
    }
    (all, replicas)
}

fn state_of(ops: &[Op]) -> State {
    let mut state = State::new();
    state.apply(ops.to_vec());
    state
}

fn check_history(seed: u64) {
    let (ops, mut replicas) = history(seed);
    let whole = state_of(&ops);
    let hash = whole.state_hash();
    let mut chance = Chance(!seed);
    let at = |law: &str| format!("{law}, history {seed}");

    // P1: any order, one by one; P12: what was admitted by then is what the state was then.
    let mut order = ops.clone();
    chance.shuffle(&mut order);
    let mut one_by_one = State::new();
    let stop = chance.below(order.len().max(1));
    let mut admitted: Vec<OpId> = Vec::new();
    for (index, op) in order.iter().enumerate() {
        admitted.extend(one_by_one.apply([op.clone()]).0.admitted);
        if index == stop {
            let log: Vec<Op> =
                admitted.iter().filter_map(|id| one_by_one.graph().node(*id)).map(|n| n.op.clone()).collect();
            assert_eq!(state_of(&log).state_hash(), one_by_one.state_hash(), "{}", at("P12 prefix"));
        }
    }
    assert_eq!(one_by_one.state_hash(), hash, "{}", at("P1 permutation"));

    // P2: repeating ops changes nothing.
    let mut twice = state_of(&ops);
    twice.apply(order.iter().take(order.len() / 2).cloned());
    assert_eq!(twice.state_hash(), hash, "{}", at("P2 duplication"));

    // P3: any split into deliveries.
    let mut pieces = State::new();
    for piece in order.chunks(1 + chance.below(7)) {
        pieces.apply(piece.to_vec());
    }
    assert_eq!(pieces.state_hash(), hash, "{}", at("P3 partition"));

    // P4: joining is commutative, associative and idempotent.
    let cut = (chance.below(order.len().max(1)), chance.below(order.len().max(1)));
    let (a, b, c) = (&order[..cut.0], &order[cut.0.min(cut.1)..cut.0.max(cut.1)], &order[cut.1..]);
    let join = |parts: &[&[Op]]| state_of(&parts.concat()).state_hash();
    assert_eq!(join(&[a, b]), join(&[b, a]), "{}", at("P4 commutes"));
    let mut left = state_of(&[a, b].concat());
    left.apply(c.to_vec());
    let mut right = state_of(&[b, c].concat());
    right.apply(a.to_vec());
    assert_eq!(left.state_hash(), right.state_hash(), "{}", at("P4 associates"));
    assert_eq!(join(&[a, a]), join(&[a]), "{}", at("P4 idempotent"));

    // P5: withholding an op and delivering it last.
    if !order.is_empty() {
        let mut rest = order.clone();
        let late = rest.remove(chance.below(rest.len()));
        let mut state = state_of(&rest);
        state.apply([late]);
        assert_eq!(state.state_hash(), hash, "{}", at("P5 pending"));
    }

    // P6: whoever heard everything, however it came to it, has the state of the ops alone.
    for replica in &mut replicas {
        replica.apply(ops.clone());
        assert_eq!(replica.state_hash(), hash, "{}", at("P6 rebuild"));
    }

    // P7: every body parses, and prints as itself.
    for view in whole.visible() {
        let parsed =
            parse_body(view.layer, &view.body_text()).unwrap_or_else(|e| panic!("{} {e:?} {}", at("P7"), view.text()));
        assert_eq!(print::body(&parsed), view.body_text(), "{}", at("P7 closure"));
        let found = parse_definitions(view.text()).unwrap().remove(0).result.unwrap();
        assert_eq!(print::definition(&found), view.text(), "{}", at("P7 closure"));
    }

    // P9: every op is there whole.
    for op in &ops {
        let node = whole.graph().node(op.id).unwrap_or_else(|| panic!("{} {}", at("P9"), op.id));
        assert_eq!(node.op, *op, "{}", at("P9 no loss"));
        assert_eq!(node.void, None, "{} {op:?}", at("an honest op is not void"));
    }
    check_rename(whole, seed);
    check_heals(&ops, &order, seed);
}

/// P8: a rename to a free name, where every reference is bound, changes no hash.
fn check_rename(mut state: State, seed: u64) {
    let bound = |state: &State| {
        state
            .views()
            .filter(|view| view.live())
            .all(|view| view.edges.iter().all(|edge| edge.bound.is_some() && matches!(edge.to, To::Def(_))))
    };
    let target = state.visible().next().map(|view| view.qname());
    let Some(target) = target.filter(|_| bound(&state)) else { return };
    let absorbs = state.named(&target).is_some_and(|view| !state.absorbed_by(view.id).is_empty());
    if absorbs {
        return;
    }
    let hashes = |state: &State| -> BTreeSet<_> {
        state.views().filter(|view| view.live()).map(|view| (view.id, view.hash)).collect()
    };
    let before = hashes(&state);
    let to = if matches!(target.layer, Layer::Type | Layer::Tile) { "Fresh" } else { "fresh" };
    issue(&mut state, &Draft::Rename { qname: target, to: to.into() }, &Issuer::new("user:me")).unwrap();
    assert_eq!(hashes(&state), before, "P8 rename invariance, history {seed}");
}

/// P10: equal op sets heal to equal ops.
fn check_heals(ops: &[Op], order: &[Op], seed: u64) {
    let heals = |ops: &[Op]| -> Vec<Op> {
        let mut state = State::new();
        for op in ops {
            state.apply([op.clone()]);
        }
        let mut made = Vec::new();
        let mut fresh: BTreeSet<OpId> = ops.iter().map(|op| op.id).collect();
        for _ in 0..20 {
            let removed: BTreeSet<OpId> =
                new_danglings(&state, &fresh).into_iter().map(|found| found.removed).collect();
            let round: Vec<Op> = removed.into_iter().filter_map(|def| heal(&state, def)).collect();
            fresh = state.apply(round.clone()).0.admitted.into_iter().collect();
            made.extend(round);
            if fresh.is_empty() {
                break;
            }
        }
        let void = made.iter().filter_map(|op| state.graph().node(op.id)).find_map(|node| node.void.clone());
        assert_eq!(void, None, "a heal is not void, history {seed}");
        made
    };
    assert_eq!(heals(ops), heals(order), "P10 heal determinism, history {seed}");
}

#[test]
fn generated_histories_converge() {
    let cases = std::env::var("STRAND_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(150);
    for seed in 0..cases {
        check_history(seed);
    }
}

/// P11: concurrent edits of different registers both show.
#[test]
fn edits_of_different_registers_both_show() {
    let me = Issuer::new("user:me");
    let qname = QName::parse("effect.e").unwrap();
    let add = Draft::Add {
        qname: qname.clone(),
        body: "(t: Text) -> Text needs=[net] do=http.get(t)".into(),
        doc: None,
        def: None,
    };
    let mut base = State::new();
    let start = issue(&mut base, &add, &me).unwrap();
    let patches = [
        json!({"returns": "set Int"}),
        json!({"err": "set Bool"}),
        json!({"needs": "set [log]"}),
        json!({"do": "set log.print(t)"}),
        json!({"doc": "set what it does"}),
    ];
    let mut ids: HashSet<OpId> = HashSet::new();
    for patch in patches {
        let mut replica = state_of(&start);
        let ops = issue(&mut replica, &Draft::Edit { qname: qname.clone(), patch }, &me).unwrap();
        ids.extend(ops.iter().map(|op| op.id));
        base.apply(ops);
    }
    assert_eq!(ids.len(), 5);
    let text = "## what it does\neffect e = (t: Text) -> Int err=Bool needs=[log] do=log.print(t)\n";
    assert_eq!(base.named(&qname).unwrap().text(), text);
}
