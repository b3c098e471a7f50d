//! Convergence through stores: trees of upstreams three levels high, real pushes, pulls, syncs and merges by Git, with
//! work that is withdrawn and issued again. `STRAND_CASES` sets how many histories are made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use nebula::strand::id::OpId;
use nebula::strand::issue::{Issuer, Removal, reissue};
use nebula::strand::op::Op;
use nebula::strand::store::{Policy, Store, pull, push};
use nebula::strand::sync::{Direction, Options, list, sync};

use super::converge::{Chance, random_draft};

/// The upstream of each store; the first has none.
const UPSTREAMS: [usize; 6] = [0, 0, 0, 1, 1, 2];

struct Tree {
    dir: tempfile::TempDir,
    /// Every op that some store ever accepted, with its text.
    written: BTreeMap<OpId, String>,
}

impl Tree {
    fn new(policy: Policy) -> Tree {
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree { dir, written: BTreeMap::new() };
        let mut top = Store::init(&tree.root(0)).unwrap();
        let mut config = top.config().clone();
        config.policy = policy;
        top.set_config(config).unwrap();
        drop(top);
        for (at, upstream) in UPSTREAMS.iter().enumerate().skip(1) {
            tree.open(*upstream).snapshot(&tree.root(at)).unwrap();
        }
        tree
    }

    fn root(&self, at: usize) -> PathBuf {
        self.dir.path().join(format!("s{at}"))
    }

    fn open(&self, at: usize) -> Store {
        Store::open(&self.root(at)).unwrap()
    }

    fn note(&mut self, store: &Store) {
        for op in store.ops() {
            self.written.entry(op.id).or_insert_with(|| op.to_line());
        }
    }

    fn issue(&mut self, chance: &mut Chance, at: usize) {
        let mut store = self.open(at);
        let issuer = Issuer::new(format!("agent:a{at}"));
        let drafts: Vec<_> = (0..1 + chance.below(2)).map(|_| random_draft(chance, store.state())).collect();
        // A refusal changes nothing.
        let _ = store.issue(&drafts, &if chance.below(2) == 0 { issuer.bundled() } else { issuer }, false);
        if chance.below(3) == 0 {
            store.checkpoint();
        }
        self.note(&store);
    }

    /// Pulls, and says whether anything was withdrawn.
    fn pull(&mut self, at: usize) -> bool {
        let (mut store, mut upstream) = (self.open(at), self.open(UPSTREAMS[at]));
        let had: BTreeSet<OpId> = store.ops().iter().map(|op| op.id).collect();
        let pulled = pull(&mut store, &mut upstream, true).unwrap();
        self.note(&store);
        let has: BTreeSet<OpId> = store.ops().iter().map(|op| op.id).collect();
        let gone: BTreeSet<OpId> = had.difference(&has).copied().collect();
        assert_eq!(gone, pulled.withdrawn.iter().copied().collect(), "what goes is told");
        let pulled_ops: BTreeSet<OpId> = pulled.records.iter().flat_map(|record| &record.ops).filter_map(id).collect();
        assert!(pulled_ops.is_superset(&gone), "what goes is kept");
        assert_eq!(pulled.exit() == 4, !gone.is_empty());
        !gone.is_empty()
    }

    fn push(&mut self, at: usize) -> bool {
        let (mut store, mut upstream) = (self.open(at), self.open(UPSTREAMS[at]));
        let result = push(&mut store, &mut upstream).unwrap();
        self.note(&upstream);
        result.exit() == 0
    }

    /// Changes files as a person does, and what `sync` makes of it.
    fn edit_files(&mut self, chance: &mut Chance, at: usize) {
        let mut store = self.open(at);
        let root = store.root().to_owned();
        let options = Options { direction: Direction::Both, removal: Removal::Refuse, dry_run: false };
        let issuer = Issuer::new("strand:sync");
        sync(&mut store, &options, &issuer).unwrap();
        let files = list(&root).unwrap();
        if !files.is_empty() {
            let path = root.join(chance.pick(&files));
            let text = std::fs::read_to_string(&path).unwrap();
            let edited = text.replacen('1', "2", 1).replacen("\"x\"", "\"y\"", 1);
            match chance.below(4) {
                0 => std::fs::remove_file(&path).unwrap(),
                _ => std::fs::write(&path, edited).unwrap(),
            }
        }
        sync(&mut store, &options, &issuer).unwrap();
        self.note(&store);
    }

    /// Two branches of one store, each with work of its own, merged line by line as Git does.
    fn branch(&mut self, chance: &mut Chance, at: usize) {
        let log = |root: &Path| root.join(".strand/op-log.jsonl");
        let (root, other) = (self.root(at), self.dir.path().join("branch"));
        let base = self.dir.path().join("base.jsonl");
        std::fs::copy(log(&root), &base).unwrap();
        let branched = self.open(at).snapshot(&other).unwrap();
        drop(branched);
        std::fs::copy(&base, log(&other)).unwrap();
        let _ = std::fs::remove_file(other.join(".strand/store.crdt"));
        for (root, author) in [(&root, "agent:ours"), (&other, "agent:theirs")] {
            let mut store = Store::open(root).unwrap();
            for _ in 0..2 {
                let draft = random_draft(chance, store.state());
                let _ = store.issue(&[draft], &Issuer::new(author), false);
            }
            store.checkpoint();
            self.note(&store);
        }
        let (ours, theirs) = (log(&root), log(&other));
        let mut git = Command::new("git");
        let merged = git.args(["merge-file", "-p", "--union"]).args([&ours, &base, &theirs]).output().unwrap();
        std::fs::write(&ours, merged.stdout).unwrap();
        let both: BTreeSet<OpId> = Store::open_from_log(&other).unwrap().ops().iter().map(|op| op.id).collect();
        let store = self.open(at);
        store.whole().unwrap();
        let has: BTreeSet<OpId> = store.ops().iter().map(|op| op.id).collect();
        assert!(has.is_superset(&both), "a merge loses nothing");
        std::fs::remove_dir_all(other).unwrap();
    }

    fn issue_again(&mut self, chance: &mut Chance, at: usize) {
        let mut store = self.open(at);
        let open: Vec<_> = store.conflicts().unwrap().into_iter().filter(|record| !record.ops.is_empty()).collect();
        if open.is_empty() {
            return;
        }
        let ops: Vec<Op> = chance.pick(&open).ops.iter().map(|op| Op::from_json(op).unwrap()).collect();
        let issuer = Issuer::new(format!("agent:a{at}")).bundled();
        let _ = store.transact(false, |state| reissue(state, &ops, &issuer));
        self.note(&store);
    }

    fn hash(&self, at: usize) -> String {
        self.open(at).state().state_hash()
    }

    /// Everyone pulls and pushes until nothing moves any more: then all are equal, and nothing anyone wrote is lost.
    fn exchange(&mut self, seed: u64) {
        for round in 0.. {
            let before: Vec<String> = (0..UPSTREAMS.len()).map(|at| self.hash(at)).collect();
            for at in (1..UPSTREAMS.len()).rev() {
                self.pull(at);
                if self.push(at) {
                    assert_eq!(self.hash(at), self.hash(UPSTREAMS[at]), "after pull and push, history {seed}");
                }
            }
            for at in 1..UPSTREAMS.len() {
                self.pull(at);
            }
            let after: Vec<String> = (0..UPSTREAMS.len()).map(|at| self.hash(at)).collect();
            if before == after {
                assert_eq!(after.iter().collect::<BTreeSet<_>>().len(), 1, "history {seed}");
                break;
            }
            assert!(round < 8, "history {seed} does not exchange");
        }
        let mut known: BTreeSet<OpId> = BTreeSet::new();
        for at in 0..UPSTREAMS.len() {
            let store = self.open(at);
            let from_log = Store::open_from_log(&self.root(at)).unwrap();
            assert_eq!(store.state().state_hash(), from_log.state().state_hash(), "history {seed}");
            assert_eq!(store.state().graph().pending().count(), 0, "history {seed}");
            known.extend(store.ops().iter().map(|op| op.id));
            known.extend(store.conflicts().unwrap().iter().flat_map(|record| &record.ops).filter_map(id));
        }
        let lost: Vec<&String> = self.written.iter().filter(|(id, _)| !known.contains(id)).map(|(_, op)| op).collect();
        assert!(lost.is_empty(), "history {seed} lost {lost:?}");
    }
}

fn id(op: &serde_json::Value) -> Option<OpId> {
    OpId::parse(op.get("op-id")?.as_str()?)
}

fn check_tree(seed: u64) {
    let mut chance = Chance(seed ^ 0x7EE5);
    let policy = *chance.pick(&[Policy::Strict, Policy::Strict, Policy::Heal, Policy::Warn]);
    let mut tree = Tree::new(policy);
    for _ in 0..40 {
        let at = chance.below(UPSTREAMS.len());
        match chance.below(12) {
            0..=5 => tree.issue(&mut chance, at),
            6 if at > 0 => {
                tree.pull(at);
            }
            7 if at > 0 => {
                tree.push(at);
            }
            8 if at > 0 => {
                tree.pull(at);
                if tree.push(at) {
                    assert_eq!(tree.hash(at), tree.hash(UPSTREAMS[at]), "history {seed}");
                }
            }
            9 => tree.edit_files(&mut chance, at),
            10 => tree.branch(&mut chance, at),
            _ => tree.issue_again(&mut chance, at),
        }
    }
    tree.exchange(seed);
}

#[test]
fn stores_of_a_tree_come_to_one_state_and_lose_nothing() {
    let cases = std::env::var("STRAND_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(3);
    (0..cases).for_each(check_tree);
}
