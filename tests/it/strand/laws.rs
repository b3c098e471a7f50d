//! The laws of the op set through stores on disk: gate, log, checkpoint and waiting ops included. `STRAND_CASES` sets how
//! many histories are made. And the refusals of referential integrity, word by word.

use std::collections::BTreeSet;
use std::path::Path;

use nebula::strand::id::{OpId, QName};
use nebula::strand::issue::{Draft, Issuer, Removal};
use nebula::strand::lang::parse::parse_definitions;
use nebula::strand::lang::print;
use nebula::strand::op::Op;
use nebula::strand::state::State;
use nebula::strand::store::{Policy, Store, push};
use serde_json::json;

use super::converge::{Chance, history};
use super::world::World;

/// Stores in one folder, opened anew for each step as by commands.
struct Stores(tempfile::TempDir);

impl Stores {
    fn new() -> Stores {
        Stores(tempfile::tempdir().unwrap())
    }

    /// A new store that takes everything, or heals.
    fn init(&self, name: &str, policy: Policy) {
        let mut store = Store::init(&self.path(name)).unwrap();
        let mut config = store.config().clone();
        config.policy = policy;
        store.set_config(config).unwrap();
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn open(&self, name: &str) -> Store {
        Store::open(&self.path(name)).unwrap()
    }

    /// Lets a store accept ops in pieces, opened anew for each, with a checkpoint now and then.
    fn accept(&self, chance: &mut Chance, name: &str, ops: &[Op], piece: usize) {
        for piece in ops.chunks(piece.max(1)) {
            let mut store = self.open(name);
            store.accept(piece.to_vec()).unwrap();
            if chance.below(3) == 0 {
                store.checkpoint();
            }
        }
    }

    /// The hash of a store's state, which its log alone gives too.
    fn hash(&self, name: &str) -> String {
        let hash = self.open(name).state().state_hash();
        assert_eq!(Store::open_from_log(&self.path(name)).unwrap().state().state_hash(), hash, "P6 rebuild, {name}");
        hash
    }
}

fn log_bytes(root: &Path) -> Vec<u8> {
    std::fs::read(root.join(".strand/op-log.jsonl")).unwrap()
}

fn check(seed: u64) {
    let (ops, _) = history(seed);
    if ops.is_empty() {
        return;
    }
    let mut whole = State::new();
    whole.apply(ops.clone());
    let (hash, stores, mut chance) = (whole.state_hash(), Stores::new(), Chance(!seed));
    let at = |law: &str| format!("{law}, history {seed}");
    let mut order = ops.clone();
    chance.shuffle(&mut order);
    for name in ["one", "pieces", "late", "left", "right"] {
        stores.init(name, Policy::Warn);
    }
    // P1: any order, one by one. P12: what the log had by then is what the store shows as of then.
    stores.accept(&mut chance, "one", &order, 1);
    assert_eq!(stores.hash("one"), hash, "{}", at("P1 permutation"));
    let store = stores.open("one");
    let log = store.log().read_whole().unwrap();
    let moment = chance.below(log.len());
    let mut then = State::new();
    then.apply(log[..=moment].to_vec());
    let shown = store.state_at(log[moment].id).unwrap().state_hash();
    assert_eq!(shown, then.state_hash(), "{}", at("P12 prefix"));
    // P9: every op is there whole.
    let texts = |ops: &[Op]| ops.iter().map(Op::to_line).collect::<BTreeSet<_>>();
    assert_eq!(texts(&log), texts(&ops), "{}", at("P9 no loss"));
    // P7: every body parses, and prints as itself.
    for view in store.state().visible() {
        let found = parse_definitions(view.text()).unwrap().remove(0).result.unwrap();
        assert_eq!(print::definition(&found), view.text(), "{}", at("P7 closure"));
    }
    drop(store);
    // P2: repeating ops changes nothing, not a byte of the log.
    let before = log_bytes(&stores.path("one"));
    let again = stores.open("one").accept(order.clone()).unwrap();
    assert_eq!((again.duplicate.len(), again.accepted.len()), (ops.len(), 0), "{}", at("P2 duplication"));
    assert_eq!(log_bytes(&stores.path("one")), before, "{}", at("P2 duplication"));
    // P3: any split into deliveries.
    let piece = 1 + chance.below(7);
    stores.accept(&mut chance, "pieces", &order, piece);
    assert_eq!(stores.hash("pieces"), hash, "{}", at("P3 partition"));
    // P4: two stores that each have a part, one into the other and back.
    let cut = chance.below(order.len());
    stores.accept(&mut chance, "left", &order[..cut], 5);
    stores.accept(&mut chance, "right", &order[cut / 2..], 5);
    // What waits here may wait for what waits there.
    for _ in 0..order.len() {
        let lacks = |name: &str| stores.open(name).state().graph().len() < ops.len();
        if !lacks("left") && !lacks("right") {
            break;
        }
        push(&mut stores.open("left"), &mut stores.open("right")).unwrap();
        push(&mut stores.open("right"), &mut stores.open("left")).unwrap();
    }
    assert_eq!((stores.hash("left"), stores.hash("right")), (hash.clone(), hash.clone()), "{}", at("P4 merge"));
    // P5: an op that is withheld and comes last.
    let mut rest = order.clone();
    let late = rest.remove(chance.below(rest.len()));
    stores.accept(&mut chance, "late", &rest, 4);
    stores.accept(&mut chance, "late", &[late], 1);
    assert_eq!(stores.hash("late"), hash, "{}", at("P5 pending"));
    assert_eq!(stores.open("late").state().graph().pending().count(), 0, "{}", at("P5 pending"));
}

#[test]
fn the_laws_hold_through_stores() {
    let cases = std::env::var("STRAND_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(6);
    (0..cases).for_each(check);
}

/// P8: a rename changes no hash, in the rows of the checkpoint neither. P10: two stores that heal the same ops, in
/// whatever order, make the same ops. P11: edits of different registers in two clones both show.
#[test]
fn renames_heals_and_concurrent_edits_come_out_the_same_in_every_store() {
    let (stores, me) = (Stores::new(), Issuer::new("user:me"));
    let qname = |name: &str| QName::parse(name).unwrap();
    let add = |name: &str, body: &str| Draft::Add { qname: qname(name), body: body.into(), doc: None, def: None };
    stores.init("base", Policy::Heal);
    let mut base = stores.open("base");
    let drafts = [add("slot.n", "Int = 3"), add("slot.d", "Text = \"x\""), add("reducer.r", "do= n := n + 1")];
    base.issue(&drafts, &me, false).unwrap();
    base.checkpoint();
    let hashes = |store: &Store| store.state().visible().map(|view| (view.id, view.hash)).collect::<BTreeSet<_>>();
    let before = hashes(&base);
    base.issue(&[Draft::Rename { qname: qname("slot.n"), to: "m".into() }], &me, false).unwrap();
    base.checkpoint();
    drop(base);
    assert_eq!(hashes(&stores.open("base")), before, "P8 rename invariance");
    assert!(stores.open("base").state().named(&qname("reducer.r")).unwrap().text().contains("m := m + 1"));
    // Two clones: one removes what the other begins to use, and each edits a part of its own.
    let start = stores.open("base").ops();
    let clone = |name: &str, drafts: &[Draft]| -> Vec<Op> {
        let mut store = stores.open("base").snapshot(&stores.path(name)).unwrap();
        store.issue(drafts, &Issuer::new(format!("agent:{name}")), false).unwrap().ops
    };
    let edit = |patch| Draft::Edit { qname: qname("slot.m"), patch };
    let remove = Draft::Remove { qname: qname("slot.d"), how: Removal::Refuse };
    let one = clone("a", &[remove, edit(json!({"init": "set 7"}))]);
    let two = clone("b", &[add("tile.T", "text(value=d)"), edit(json!({"doc": "set a doc"}))]);
    let healed = |name: &str, parts: [&[Op]; 2]| -> (BTreeSet<OpId>, String) {
        stores.init(name, Policy::Heal);
        let mut store = stores.open(name);
        store.accept(start.clone()).unwrap();
        let made = parts.iter().flat_map(|ops| store.accept(ops.to_vec()).unwrap().healed).collect();
        drop(store);
        (made, stores.hash(name))
    };
    let (made, hash) = healed("ab", [&one, &two]);
    assert_eq!(made.len(), 1, "the slot is healed");
    assert_eq!(healed("ba", [&two, &one]), (made, hash), "P10 heal determinism");
    let text = stores.open("ab").state().named(&qname("slot.m")).unwrap().text().to_owned();
    assert_eq!(text, "## a doc\nslot m = Int = 7\n", "P11 both edits show");
}

/// The example of the specification, letter by letter, and what it says beside it.
#[test]
fn a_removal_is_refused_in_the_words_of_the_specification() {
    let world = World::new();
    world.load(
        "slot draft = Text = \"\"\n\
         tile NewForm = input(bind=draft, label=\"n\")\n\
         tile Compose = column { text(value=\"a\"); text(value=\"b\"); input(bind=draft, label=\"c\") }\n\
         tile SearchBox = input(bind=draft, label=\"s\")\n\
         slot sent = Int = 0\n\
         reducer submitNew = do= sent := sent + 1; draft := \"\"\n\
         reducer clearDraft = do= draft := \"\"\n",
    );
    let refused = world.err(3, &["remove", "slot.draft"]);
    assert_eq!(
        refused,
        "Error: cannot remove slot.draft (referenced by 3 tiles, 2 reducers)\n  tile.NewForm:1\n  tile.Compose:4\n  \
         tile.SearchBox:1\n  reducer.submitNew:2\n  reducer.clearDraft:1\n\
         Use --cascade to remove all dependents, or --force to leave dangling\n"
    );
    // A header is a place, and a link is one; one of each layer is in the singular, in the order of the layers.
    world.out(0, &["add", "reducer", "sends", "on=NewForm.go do="]);
    world.out(0, &["link", "reducer.clearDraft", "tile.NewForm"]);
    world.out(0, &["add", "tile", "App", "column { NewForm() }"]);
    let refused = world.err(3, &["remove", "tile.NewForm"]);
    assert_eq!(
        refused,
        "Error: cannot remove tile.NewForm (referenced by 2 reducers, 1 tile)\n  reducer.clearDraft:link\n  \
         reducer.sends:on\n  tile.App:2\nUse --cascade to remove all dependents, or --force to leave dangling\n"
    );
    // More than twenty are counted.
    for n in 0..23 {
        world.out(0, &["add", "reducer", &format!("r{n}"), "do= sent := 1"]);
    }
    let refused = world.err(3, &["remove", "slot.sent"]);
    assert!(refused.starts_with("Error: cannot remove slot.sent (referenced by 24 reducers)\n"), "{refused}");
    assert_eq!(refused.lines().count(), 1 + 20 + 1 + 1, "{refused}");
    assert!(refused.contains("\n  ... and 4 more\nUse --cascade"), "{refused}");
    // What refers to itself alone is not held.
    world.out(0, &["add", "tile", "Self", "column { Self() }"]);
    world.out(0, &["remove", "tile.Self"]);
    let forced = world.err(0, &["remove", "slot.draft", "--force"]);
    assert_eq!(forced, "Warning: 5 references to slot.draft are now dangling\n");
}
