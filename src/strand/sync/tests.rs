//! The table of sync, cell by cell.

use super::{Direction, Options, Synced, sync};
use crate::strand::id::QName;
use crate::strand::issue::{Draft, Issuer, Removal};
use crate::strand::store::Store;

struct World {
    _dir: tempfile::TempDir,
    store: Store,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::init(&dir.path().join("p.strand")).unwrap();
        let add = |name: &str, body: &str| Draft::Add { qname: qname(name), body: body.into(), doc: None, def: None };
        let drafts = [
            add("slot.n", "Int = 0"),
            add("reducer.r", "do= n := 1"),
            add("tile.T", "column { text(value=\"a\"); text(value=\"b\") }"),
        ];
        store.issue(&drafts, &Issuer::new("user:me"), false).unwrap();
        let mut world = World { _dir: dir, store };
        assert_eq!(world.sync().summary(), "+3 ~0 -0 files, 0 ops, 0 conflicts");
        world
    }

    fn sync(&mut self) -> Synced {
        let options = Options { direction: Direction::Both, removal: Removal::Refuse, dry_run: false };
        sync(&mut self.store, &options, &Issuer::new("strand:sync")).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.store.root().join(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.store.root().join(path)).unwrap_or_default()
    }

    fn replace(&mut self, name: &str, body: &str) {
        let draft = Draft::Replace { qname: qname(name), body: body.into(), doc: None };
        self.store.issue(&[draft], &Issuer::new("user:me"), false).unwrap();
    }

    fn text(&self, name: &str) -> String {
        self.store.state().named(&qname(name)).map(|view| view.text.clone()).unwrap_or_default()
    }
}

fn qname(text: &str) -> QName {
    QName::parse(text).unwrap()
}

#[test]
fn nothing_changed_nothing_done() {
    let mut world = World::new();
    assert_eq!(world.sync().summary(), "+0 ~0 -0 files, 0 ops, 0 conflicts");
}

#[test]
fn a_changed_store_writes_the_file() {
    let mut world = World::new();
    world.replace("slot.n", "Int = 7");
    assert_eq!(world.sync().summary(), "+0 ~1 -0 files, 0 ops, 0 conflicts");
    assert_eq!(world.read("slots/n.strand"), "slot n = Int = 7\n");
}

#[test]
fn a_changed_file_becomes_the_smallest_edit() {
    let mut world = World::new();
    world.write(
        "tiles/T.strand",
        "tile T = column { text(value=\"a\"); row { text(value=\"c\") }; text(value=\"b\") }\n",
    );
    assert_eq!(world.sync().summary(), "+0 ~1 -0 files, 1 ops, 0 conflicts");
    let op = world.store.ops().pop().unwrap();
    assert_eq!((op.kind.word(), op.changes.len(), op.author.as_str()), ("edit", 2, "strand:sync"));
    assert_eq!(world.read("tiles/T.strand"), world.text("tile.T"));
    assert!(world.text("tile.T").contains("row {\n      text(value=\"c\")"));
    assert_eq!(world.sync().summary(), "+0 ~0 -0 files, 0 ops, 0 conflicts");
}

#[test]
fn both_changed_apart_are_both_kept() {
    let mut world = World::new();
    world.write("tiles/T.strand", "tile T = column { text(value=\"A\"); text(value=\"b\") }\n");
    world.replace("tile.T", "column { text(value=\"a\"); text(value=\"B\") }");
    assert_eq!(world.sync().conflicts, 0);
    assert!(world.text("tile.T").contains("\"A\"") && world.text("tile.T").contains("\"B\""));
}

#[test]
fn both_changed_at_one_place_keeps_the_store_and_the_file_aside() {
    let mut world = World::new();
    world.write("slots/n.strand", "slot n = Int = 5\n");
    world.replace("slot.n", "Int = 6");
    let done = world.sync();
    assert_eq!((done.conflicts, done.is_clean()), (1, false));
    assert_eq!(world.read("slots/n.strand"), "slot n = Int = 6\n");
    assert_eq!(world.read("slots/n.strand.conflict"), "slot n = Int = 5\n");
    assert_eq!(world.store.conflicts().unwrap()[0].kind, "sync");
    assert!(world.sync().is_clean());
}

#[test]
fn new_renamed_and_deleted_files() {
    let mut world = World::new();
    world.write("slots/m.strand", "## a doc line\nslot m = Int=1\n");
    std::fs::rename(world.store.root().join("tiles/T.strand"), world.store.root().join("tiles/U.strand")).unwrap();
    let text = world.read("tiles/U.strand").replace("tile T", "tile U");
    world.write("tiles/U.strand", &text);
    let id = world.store.state().named(&qname("tile.T")).unwrap().id;
    world.sync();
    assert_eq!(world.read("slots/m.strand"), "## a doc line\nslot m = Int = 1\n");
    assert_eq!(world.store.state().named(&qname("tile.U")).unwrap().id, id);
    std::fs::remove_file(world.store.root().join("slots/m.strand")).unwrap();
    assert_eq!(world.sync().ops, 1);
    assert_eq!(world.text("slot.m"), "");
    std::fs::remove_file(world.store.root().join("slots/n.strand")).unwrap();
    let done = world.sync();
    assert_eq!((done.ops, done.errors), (0, 1));
    assert_eq!(world.read("slots/n.strand"), "slot n = Int = 0\n");
}

#[test]
fn a_file_that_does_not_parse_changes_nothing() {
    let mut world = World::new();
    world.write("slots/n.strand", "slot n = Int = \n");
    world.write("reducers/r.strand", "reducer r = do= n := 2\n");
    let done = world.sync();
    assert_eq!((done.errors, done.ops), (1, 1));
    assert!(done.messages[0].words().starts_with("E0001 at slots/n.strand:1:15:"), "{:?}", done.messages);
    assert_eq!(world.read("slots/n.strand"), "slot n = Int = \n");
    assert_eq!(world.text("slot.n"), "slot n = Int = 0\n");
}
