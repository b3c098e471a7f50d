//! The table of sync, cell by cell.

use super::{Direction, Options, Synced, sync, sync_while};
use crate::strand::id::QName;
use crate::strand::issue::{Draft, Issuer, Removal};
use crate::strand::store::{Store, Verified};

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
        self.store.state().named(&qname(name)).map(|view| view.text().to_owned()).unwrap_or_default()
    }
}

fn qname(text: &str) -> QName {
    QName::parse(text).unwrap()
}

#[test]
fn without_changes_nothing_is_written() {
    let mut world = World::new();
    assert_eq!(world.sync().summary(), "+0 ~0 -0 files, 0 ops, 0 conflicts");
}

#[test]
fn what_a_killed_sync_left_is_removed() {
    let mut world = World::new();
    // No process has this number.
    for folder in ["slots", ".strand"] {
        world.write(&format!("{folder}/.nebula-tmp-999999999-0-1"), "half");
    }
    assert!(world.sync().is_clean());
    for folder in ["slots", ".strand"] {
        assert!(!world.store.root().join(folder).join(".nebula-tmp-999999999-0-1").exists());
    }
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
    assert_eq!((op.kind.word(), op.changes.len(), &*op.author), ("edit", 2, "strand:sync"));
    assert_eq!(world.read("tiles/T.strand"), world.text("tile.T"));
    assert!(world.text("tile.T").contains("row {\n      text(value=\"c\")"));
    assert_eq!(world.sync().summary(), "+0 ~0 -0 files, 0 ops, 0 conflicts");
}

#[test]
fn both_changed_apart_are_both_preserved() {
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

/// Returns what a person is told, in words.
fn words(done: &Synced) -> String {
    done.messages.iter().map(super::Message::words).collect::<Vec<_>>().join("\n")
}

impl World {
    fn with(&mut self, options: Options) -> Synced {
        sync(&mut self.store, &options, &Issuer::new("strand:sync")).unwrap()
    }

    fn delete(&self, path: &str) {
        std::fs::remove_file(self.store.root().join(path)).unwrap();
    }

    fn exists(&self, path: &str) -> bool {
        self.store.root().join(path).exists()
    }

    fn has(&self, name: &str) -> bool {
        self.store.state().named(&qname(name)).is_some()
    }
}

const BOTH: Options = Options { direction: Direction::Both, removal: Removal::Refuse, dry_run: false };

#[test]
fn a_deleted_file_removes_a_definition_that_is_referred_to_only_on_request() {
    for removal in [Removal::Refuse, Removal::Cascade, Removal::Force] {
        let mut world = World::new();
        world.delete("slots/n.strand");
        let done = world.with(Options { removal, ..BOTH });
        let stands = (world.has("slot.n"), world.has("reducer.r"), world.exists("slots/n.strand"));
        match removal {
            Removal::Refuse => {
                assert!(words(&done).starts_with("cannot remove slot.n (referenced by 1 reducer)\n  reducer.r:1\n"));
                assert_eq!((stands, done.is_clean(), done.plan.len()), ((true, true, true), false, 1));
            }
            Removal::Cascade => {
                assert_eq!((stands, done.ops), ((false, false, false), 2));
                assert!(!world.exists("reducers/r.strand"));
            }
            Removal::Force => assert_eq!((stands, done.ops), ((false, true, false), 1)),
        }
        assert!(world.sync().is_idle());
    }
}

#[test]
fn files_deleted_together_go_together() {
    let mut world = World::new();
    world.delete("slots/n.strand");
    world.delete("reducers/r.strand");
    let done = world.sync();
    assert_eq!((done.ops, done.errors, world.has("slot.n"), world.has("reducer.r")), (2, 0, false, false));
    assert!(world.sync().is_idle());
}

#[test]
fn a_deleted_file_whose_definition_changed_comes_back() {
    let mut world = World::new();
    world.delete("slots/n.strand");
    world.replace("slot.n", "Int = 9");
    let done = world.sync();
    assert_eq!((done.conflicts, done.ops), (1, 0));
    assert_eq!(world.read("slots/n.strand"), "slot n = Int = 9\n");
    let conflicts = world.store.conflicts().unwrap();
    assert_eq!((conflicts[0].kind.as_str(), conflicts[0].edges[0].0.as_str()), ("sync", "slots/n.strand"));
    assert!(world.sync().is_idle());
}

#[test]
fn a_removed_definition_takes_its_file_and_an_edited_one_is_put_aside() {
    let mut world = World::new();
    let remove = |name: &str| Draft::Remove { qname: qname(name), how: Removal::Refuse };
    world.store.issue(&[remove("reducer.r"), remove("tile.T")], &Issuer::new("user:me"), false).unwrap();
    world.write("reducers/r.strand", "reducer r = do= n := 5\n");
    let done = world.sync();
    assert_eq!((done.files, done.conflicts, done.ops), ((0, 0, 2), 1, 0));
    assert!(!world.exists("tiles/T.strand") && !world.exists("reducers/r.strand"));
    assert_eq!(world.read("reducers/r.strand.conflict"), "reducer r = do= n := 5\n");
    assert!(world.sync().is_idle());
}

#[test]
fn a_new_file_under_a_name_of_the_store_is_put_aside_unless_it_says_the_same() {
    let mut world = World::new();
    let add = |name: &str| Draft::Add { qname: qname(name), body: "Int = 1".into(), doc: None, def: None };
    world.store.issue(&[add("slot.a"), add("slot.b")], &Issuer::new("user:me"), false).unwrap();
    world.write("slots/a.strand", "slot a = Int=1\n");
    world.write("slots/b.strand", "slot b = Int = 2\n");
    let done = world.sync();
    assert_eq!((done.conflicts, done.ops), (1, 0));
    assert_eq!(world.read("slots/a.strand"), "slot a = Int = 1\n");
    assert_eq!(world.read("slots/b.strand"), "slot b = Int = 1\n");
    assert_eq!(world.read("slots/b.strand.conflict"), "slot b = Int = 2\n");
    // Another text put aside does not take the place of the first.
    world.write("slots/b.strand", "slot b = Int = 3\n");
    world.replace("slot.b", "Int = 4");
    assert_eq!(world.sync().conflicts, 1);
    assert_eq!(world.read("slots/b.strand.conflict"), "slot b = Int = 2\n");
    assert_eq!(world.read("slots/b.strand.conflict2"), "slot b = Int = 3\n");
}

#[test]
fn a_plan_tells_what_is_done_and_does_nothing() {
    let prepare = || {
        let mut world = World::new();
        world.write("slots/m.strand", "slot m = Int=1\n");
        world.write("reducers/r.strand", "reducer r = do= n := 2\n");
        world.delete("tiles/T.strand");
        world.replace("slot.n", "Int = 7");
        world
    };
    let mut planned = prepare();
    let plan = planned.with(Options { dry_run: true, ..BOTH });
    assert_eq!((planned.read("slots/m.strand"), planned.has("tile.T")), ("slot m = Int=1\n".to_owned(), true));
    assert_eq!(planned.read("slots/n.strand"), "slot n = Int = 0\n");
    let done = prepare().sync();
    assert_eq!(plan, done);
    assert_eq!(
        done.plan,
        [
            "add slot.m",
            "edit reducer.r",
            "remove tile.T",
            "write reducers/r.strand",
            "write slots/m.strand",
            "write slots/n.strand"
        ]
    );
}

#[test]
fn one_direction_leaves_the_other_side_alone() {
    let mut world = World::new();
    world.write("slots/n.strand", "slot n = Int=5\n");
    world.replace("tile.T", "text(value=\"x\")");
    let only = |direction| Options { direction, ..BOTH };
    let done = world.with(only(Direction::ToFiles));
    assert_eq!((done.files, done.ops), ((0, 1, 0), 0));
    assert_eq!(world.read("slots/n.strand"), "slot n = Int=5\n");
    world.replace("tile.T", "text(value=\"y\")");
    let done = world.with(only(Direction::ToStore));
    assert_eq!((done.files, done.ops), ((0, 0, 0), 1));
    assert_eq!(world.read("slots/n.strand"), "slot n = Int=5\n");
    assert!(world.read("tiles/T.strand").contains("\"x\""));
    assert_eq!(world.sync().summary(), "+0 ~2 -0 files, 0 ops, 0 conflicts");
}

#[test]
fn a_sync_cut_short_after_its_ops_is_taken_up_again() {
    let mut world = World::new();
    world.write("slots/n.strand", "slot n = Int=5\n");
    // As after a crash between the store and the files.
    world.replace("slot.n", "Int = 5");
    let done = world.sync();
    assert_eq!((done.ops, done.conflicts, done.files), (0, 0, (0, 1, 0)));
    assert!(world.sync().is_idle());
}

#[test]
fn a_file_that_was_moved_without_its_name_takes_nothing_away() {
    let mut world = World::new();
    for text in ["slot n = Int = 0\n", "slot n = Int = (\n"] {
        std::fs::remove_file(world.store.root().join("slots/n.strand")).unwrap();
        world.write("slots/m.strand", text);
        let done = world.sync();
        assert_eq!((done.errors, done.ops, world.has("slot.n")), (1, 0, true), "{}", words(&done));
        assert_eq!(
            (world.read("slots/n.strand"), world.read("slots/m.strand")),
            (world.text("slot.n"), text.to_owned())
        );
    }
    // With the name in the text it is a rename.
    std::fs::remove_file(world.store.root().join("slots/n.strand")).unwrap();
    world.write("slots/m.strand", "slot m = Int = 0\n");
    let done = world.sync();
    assert_eq!((done.errors, done.ops, world.has("slot.m"), world.has("slot.n")), (0, 1, true, false));
}

#[test]
fn files_that_hold_no_text_or_another_definition_are_refused_alone() {
    let mut world = World::new();
    std::fs::write(world.store.root().join("slots/n.strand"), b"slot n = Text = \"\xff\"\n").unwrap();
    world.write("slots/m.strand", "slot other = Int = 1\n");
    world.write("slots/two.strand", "slot two = Int = 1\nslot three = Int = 1\n");
    world.write("slots/Upper.strand", "slot Upper = Int = 1\n");
    world.write("slots/fine.strand", "slot fine = Int = 1\n");
    let done = world.sync();
    assert_eq!((done.errors, done.ops, world.has("slot.fine"), world.has("slot.n")), (4, 1, true, true));
    let words = words(&done);
    for part in [
        "E0001 at slots/n.strand:1:1: this file is not UTF-8",
        "E0001 at slots/m.strand:1:1: the file of slot.other is slots/other.strand",
        "E0001 at slots/two.strand:1:1: a file holds one definition, this one holds 2",
        "E0003 at slots/Upper.strand",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert_eq!(world.read("slots/m.strand"), "slot other = Int = 1\n");
}

#[test]
fn a_definition_of_another_owner_is_refused_alone() {
    let mut world = World::new();
    let lock = crate::strand::store::Lock { owner: "agent-1".into(), pattern: "slot.n*".into(), since: 0 };
    world
        .store
        .change_locks(|locks| {
            locks.push(lock);
            Ok(())
        })
        .unwrap();
    world.write("slots/n.strand", "slot n = Int = 5\n");
    world.write("reducers/r.strand", "reducer r = do= n := 2\n");
    let done = world.sync();
    assert_eq!((done.errors, done.ops), (1, 1));
    assert_eq!(words(&done), "slot.n is owned by agent-1 (pattern slot.n*)");
    assert_eq!(
        (world.read("slots/n.strand"), world.text("slot.n")),
        ("slot n = Int = 5\n".into(), "slot n = Int = 0\n".into())
    );
}

#[test]
fn new_files_are_added_after_what_they_name() {
    let mut world = World::new();
    std::fs::create_dir_all(world.store.root().join("fns")).unwrap();
    std::fs::create_dir_all(world.store.root().join("types")).unwrap();
    world.write("fns/a.strand", "fn a = (t: Todo) -> Int = b(t)\n");
    world.write("fns/b.strand", "fn b = (t: Todo) -> Int = t.id\n");
    world.write("types/Todo.strand", "type Todo = { id: Int }\n");
    assert_eq!(world.sync().ops, 3);
    let rename = Draft::Rename { qname: qname("type.Todo"), to: "Task".into() };
    // References are bound: a rename needs no other op.
    assert_eq!(world.store.issue(&[rename], &Issuer::new("user:me"), false).unwrap().ops.len(), 1);
    assert_eq!(world.sync().files, (1, 2, 1));
    assert_eq!(world.read("fns/a.strand"), "fn a = (t: Task) -> Int = b(t)\n");
}

#[test]
fn a_file_renamed_along_with_its_mentions_is_one_rename() {
    let mut world = World::new();
    world.delete("slots/n.strand");
    world.write("slots/m.strand", "slot m = Int = 0\n");
    world.write("reducers/r.strand", "reducer r =\n  do=\n    m := 1\n");
    let id = world.store.state().named(&qname("slot.n")).unwrap().id;
    let done = world.sync();
    assert_eq!((done.ops, done.errors, done.plan[0].as_str()), (1, 0, "rename slot.n m"));
    assert_eq!(world.store.state().named(&qname("slot.m")).unwrap().id, id);
    assert!(world.sync().is_idle());
}

#[test]
fn names_that_differ_only_in_case_have_files_of_their_own() {
    let mut world = World::new();
    let add = |name: &str| Draft::Add { qname: qname(name), body: "Int = 1".into(), doc: None, def: None };
    world.store.issue(&[add("slot.nextId"), add("slot.nextID")], &Issuer::new("user:me"), false).unwrap();
    world.sync();
    let id = world.store.state().named(&qname("slot.nextID")).unwrap().id;
    let path = format!("slots/nextID~{}.strand", id.tail(6));
    assert_eq!(world.read("slots/nextId.strand"), "slot nextId = Int = 1\n");
    world.write(&path, "slot nextID = Int = 2\n");
    assert_eq!(world.sync().ops, 1);
    assert_eq!(world.text("slot.nextID"), "slot nextID = Int = 2\n");
}

#[test]
fn the_doc_lines_of_a_renamed_file_are_preserved() {
    let mut world = World::new();
    world.delete("slots/n.strand");
    world.write("slots/m.strand", "## counts\nslot m = Int = 0\n");
    let done = world.sync();
    assert_eq!((done.ops, done.errors, done.conflicts), (2, 0, 0));
    assert_eq!(done.plan[..2], ["rename slot.n m", "edit slot.m"]);
    assert_eq!((world.text("slot.m"), world.has("slot.n")), ("## counts\nslot m = Int = 0\n".to_owned(), false));
    assert_eq!(world.read("slots/m.strand"), world.text("slot.m"));
    // Where the store has other doc lines by now, the file's are put aside.
    let doc = Draft::Replace { qname: qname("slot.m"), body: "Int = 0".into(), doc: Some("sums".into()) };
    world.store.issue(&[doc], &Issuer::new("user:me"), false).unwrap();
    world.delete("slots/m.strand");
    world.write("slots/k.strand", "## numbers\nslot k = Int = 0\n");
    let done = world.sync();
    assert_eq!((done.ops, done.conflicts), (1, 1));
    assert_eq!(world.read("slots/k.strand"), "## sums\nslot k = Int = 0\n");
    assert_eq!(world.read("slots/k.strand.conflict"), "## numbers\nslot k = Int = 0\n");
    assert!(world.sync().is_idle());
}

#[test]
fn a_rename_that_is_refused_makes_no_second_definition() {
    let lock = |world: &World| {
        let lock = crate::strand::store::Lock { owner: "agent-1".into(), pattern: "slot.n".into(), since: 0 };
        let change = |locks: &mut Vec<_>| {
            locks.push(lock);
            Ok(())
        };
        Store::open(world.store.root()).unwrap().change_locks(change).unwrap();
    };
    for (is_locked, why) in [(true, "slot.n is owned by agent-1"), (false, "cannot rename to m: reducer.q:1 reads it")]
    {
        let mut world = World::new();
        let body = "in=(m: Int) do= n := n + m".to_owned();
        let draft = Draft::Add { qname: qname("reducer.q"), body, doc: None, def: None };
        world.store.issue(&[draft], &Issuer::new("user:me"), false).unwrap();
        world.sync();
        if is_locked {
            lock(&world);
        }
        world.delete("slots/n.strand");
        world.write("slots/m.strand", "slot m = Int = 0\n");
        for _ in 0..2 {
            let done = world.sync();
            assert_eq!((done.ops, done.errors, done.files), (0, 1, (0, 0, 0)), "{}", words(&done));
            assert!(words(&done).contains(why), "{}", words(&done));
            assert_eq!((world.has("slot.n"), world.has("slot.m")), (true, false));
        }
        world.delete("slots/m.strand");
        world.write("slots/n.strand", "slot n = Int = 0\n");
        assert!(world.sync().is_idle());
    }
}

impl World {
    /// Syncs while another process writes to the store between the look at the files and the write.
    fn sync_while(&mut self, other: &[Draft]) -> Synced {
        let root = self.store.root().to_owned();
        let write = || drop(Store::open(&root).unwrap().issue(other, &Issuer::new("user:other"), false).unwrap());
        sync_while(&mut self.store, &BOTH, &Issuer::new("strand:sync"), write).unwrap()
    }
}

#[test]
fn what_another_process_writes_during_a_sync_is_preserved() {
    let replace = |name: &str, body: &str| Draft::Replace { qname: qname(name), body: body.into(), doc: None };
    let mut world = World::new();
    world.write("slots/n.strand", "slot n = Int = 5\n");
    let done = world.sync_while(&[replace("slot.n", "Int = 6")]);
    assert_eq!((done.ops, done.conflicts), (0, 1));
    assert_eq!(
        (world.text("slot.n"), world.read("slots/n.strand")),
        ("slot n = Int = 6\n".into(), world.text("slot.n"))
    );
    assert_eq!(world.read("slots/n.strand.conflict"), "slot n = Int = 5\n");
    assert!(world.sync().is_idle());
    // Changes of other parts are merged.
    world.write("tiles/T.strand", "tile T = column { text(value=\"A\"); text(value=\"b\") }\n");
    let done = world.sync_while(&[replace("tile.T", "column { text(value=\"a\"); text(value=\"B\") }")]);
    assert_eq!((done.ops, done.conflicts), (1, 0));
    assert!(world.text("tile.T").contains("\"A\"") && world.text("tile.T").contains("\"B\""));
    // The same change is no change.
    world.write("slots/n.strand", "slot n = Int = 8\n");
    let done = world.sync_while(&[replace("slot.n", "Int = 8")]);
    assert_eq!((done.ops, done.conflicts), (0, 0));
    // What changed is not removed.
    world.delete("tiles/T.strand");
    let done = world.sync_while(&[replace("tile.T", "text(value=\"new\")")]);
    assert_eq!((done.ops, done.conflicts), (0, 1));
    assert!(words(&done).contains("tiles/T.strand was deleted, but its definition changed; the file is restored"));
    assert!(world.read("tiles/T.strand").contains("\"new\""));
    // What was removed keeps its file's text beside it.
    world.write("reducers/r.strand", "reducer r = do= n := 5\n");
    let done = world.sync_while(&[Draft::Remove { qname: qname("reducer.r"), how: Removal::Refuse }]);
    assert_eq!((done.ops, done.conflicts, world.has("reducer.r")), (0, 1, false));
    assert_eq!(world.read("reducers/r.strand.conflict"), "reducer r =\n  do=\n    n := 5\n");
    assert!(!world.exists("reducers/r.strand") && world.sync().is_idle());
}

/// A file renamed along with its name, and another process that does something to its definition before the sync or
/// during it.
fn renamed_against(other: Draft, is_during: bool) -> (World, Synced) {
    let mut world = World::new();
    let text = world.read("tiles/T.strand").replace("tile T", "tile U");
    world.delete("tiles/T.strand");
    world.write("tiles/U.strand", &text);
    let done = match is_during {
        true => world.sync_while(&[other]),
        false => {
            world.store.issue(&[other], &Issuer::new("user:other"), false).unwrap();
            world.sync()
        }
    };
    (world, done)
}

#[test]
fn a_renamed_file_whose_definition_was_removed_is_added_and_told() {
    for is_during in [true, false] {
        let remove = Draft::Remove { qname: qname("tile.T"), how: Removal::Refuse };
        let (mut world, done) = renamed_against(remove, is_during);
        assert_eq!((done.ops, done.conflicts, done.errors), (1, 0, 0), "{}", words(&done));
        let said = "tiles/U.strand has the body of tile.T, which was removed; it is added as a new definition";
        assert!(words(&done).contains(said), "{}", words(&done));
        assert!(world.has("tile.U") && !world.has("tile.T"));
        assert!(world.sync().is_idle());
    }
}

#[test]
fn a_file_and_its_definition_that_were_renamed_apart_are_a_conflict() {
    let rename = |to: &str| Draft::Rename { qname: qname("tile.T"), to: to.into() };
    for is_during in [true, false] {
        let (mut world, done) = renamed_against(rename("V"), is_during);
        assert_eq!((done.ops, done.conflicts), (0, 1), "{}", words(&done));
        assert!(words(&done).contains("file and store renamed it; it is tile.V now"), "{}", words(&done));
        assert!(world.has("tile.V") && !world.has("tile.U"));
        assert_eq!(world.read("tiles/V.strand"), world.text("tile.V"));
        assert!(!world.exists("tiles/U.strand") && world.read("tiles/U.strand.conflict").starts_with("tile U ="));
        assert!(world.sync().is_idle());
        // The same name on both sides is none.
        let (mut world, done) = renamed_against(rename("U"), is_during);
        assert_eq!((done.ops, done.conflicts, done.errors), (0, 0, 0), "{}", words(&done));
        assert!(world.has("tile.U") && world.sync().is_idle());
    }
}

#[test]
fn a_sync_does_not_take_its_own_renames_for_changes_of_others() {
    let mut world = World::new();
    world.delete("slots/n.strand");
    world.delete("reducers/r.strand");
    world.write("slots/m.strand", "slot m = Int = 0\n");
    let done = world.sync();
    assert_eq!((done.ops, done.conflicts, done.errors), (2, 0, 0), "{}", words(&done));
    assert!(world.has("slot.m") && !world.has("reducer.r"));
}

#[test]
fn a_change_below_what_the_other_side_deleted_is_a_conflict() {
    let row = "column { row { text(value=\"a\") }; text(value=\"b\") }";
    let (edited, deleted) = (row.replace("\"a\"", "\"A\""), "column { text(value=\"b\") }".to_owned());
    for (in_file, in_store) in [(&edited, &deleted), (&deleted, &edited)] {
        let mut world = World::new();
        world.replace("tile.T", row);
        world.sync();
        world.write("tiles/T.strand", &format!("tile T = {in_file}\n"));
        world.replace("tile.T", in_store);
        assert_eq!(world.sync().conflicts, 1);
        assert_eq!(world.text("tile.T").contains("\"A\""), in_store == &edited);
        assert_eq!(world.read("tiles/T.strand.conflict").contains("\"A\""), in_file == &edited);
    }
}

#[test]
fn a_conflict_is_recorded_once_and_also_after_a_sync_that_was_cut_short() {
    let mut world = World::new();
    world.write("slots/n.strand", "slot n = Int = 5\n");
    // As after a sync that ended before its record was written.
    world.write("slots/n.strand.conflict", "slot n = Int = 5\n");
    world.delete("tiles/T.strand");
    world.replace("slot.n", "Int = 6");
    world.replace("tile.T", "text(value=\"x\")");
    for _ in 0..2 {
        let done = world.with(Options { direction: Direction::ToStore, ..BOTH });
        assert_eq!((done.conflicts, world.store.conflicts().unwrap().len()), (2, 2));
        assert!(words(&done).contains("; a sync to files restores the file"), "{}", words(&done));
    }
    assert!(!world.exists("slots/n.strand.conflict2"));
}

#[test]
fn a_text_put_aside_that_cannot_be_read_is_not_replaced() {
    let mut world = World::new();
    let aside = world.store.root().join("slots/n.strand.conflict");
    std::os::unix::fs::symlink("elsewhere", &aside).unwrap();
    world.write("slots/n.strand", "slot n = Int = 5\n");
    world.replace("slot.n", "Int = 6");
    let error = sync(&mut world.store, &BOTH, &Issuer::new("strand:sync")).unwrap_err().to_string();
    assert!(error.contains("slots/n.strand.conflict"), "{error}");
    assert!(aside.is_symlink());
    assert_eq!(world.read("slots/n.strand"), "slot n = Int = 5\n");
    std::fs::remove_file(&aside).unwrap();
    assert_eq!(world.sync().conflicts, 1);
    assert_eq!(world.read("slots/n.strand.conflict"), "slot n = Int = 5\n");
}

/// A store in a folder of Git's, with branches as a person makes them.
struct Repository {
    dir: tempfile::TempDir,
}

impl Repository {
    fn new() -> Repository {
        let repository = Repository { dir: tempfile::tempdir().unwrap() };
        let mut store = Store::init(repository.dir.path()).unwrap();
        for (name, value) in [("base", 0), ("both", 1)] {
            let qname = qname(&format!("slot.{name}"));
            let draft = Draft::Add { qname, body: format!("Int = {value}"), doc: None, def: None };
            store.issue(&[draft], &Issuer::new("user:me"), false).unwrap();
        }
        drop(store);
        repository.sync();
        repository.git(&["init", "-q", "-b", "main"]);
        repository.commit();
        repository
    }

    fn git(&self, args: &[&str]) {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=me", "-c", "user.email=me@example.org", "-c", "core.hooksPath=/dev/null"]);
        let done = git.args(args).current_dir(self.dir.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(done.status.success(), "{args:?} {}", String::from_utf8_lossy(&done.stderr));
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "Change"]);
    }

    fn store(&self) -> Store {
        Store::open(self.dir.path()).unwrap()
    }

    fn sync(&self) -> Synced {
        let options = Options { direction: Direction::Both, removal: Removal::Refuse, dry_run: false };
        let mut store = self.store();
        let done = sync(&mut store, &options, &Issuer::new("strand:sync")).unwrap();
        store.checkpoint();
        done
    }

    /// Writes files, syncs and commits.
    fn change(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = self.dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        assert!(self.sync().is_clean());
        self.commit();
    }

    fn files(&self) -> Vec<String> {
        let mut files = super::list(self.dir.path()).unwrap();
        files.sort();
        files
    }

    fn text(&self, name: &str) -> String {
        self.store().state().named(&qname(name)).map(|view| view.text().to_owned()).unwrap_or_default()
    }
}

#[test]
fn branches_that_git_merges_keep_what_both_added() {
    let repository = Repository::new();
    repository.git(&["branch", "other"]);
    repository.change(&[("slots/a.strand", "slot a = Int = 1\n"), ("slots/both.strand", "slot both = Int = 2\n")]);
    repository.git(&["checkout", "-q", "other"]);
    assert!(repository.sync().is_idle());
    repository.change(&[("slots/b.strand", "slot b = Int = 1\n"), ("types/T.strand", "type T = { x: Int }\n")]);
    // Back and forth: nothing is taken for an edit.
    for branch in ["main", "other", "main"] {
        repository.git(&["checkout", "-q", branch]);
        let done = repository.sync();
        assert!(done.is_idle(), "{branch}: {done:?}");
    }
    repository.git(&["merge", "-q", "other", "-m", "Merge"]);
    let done = repository.sync();
    assert!(done.is_clean() && done.ops == 0 && done.files == (0, 0, 0), "{done:?}");
    assert_eq!(
        repository.files(),
        ["slots/a.strand", "slots/b.strand", "slots/base.strand", "slots/both.strand", "types/T.strand"]
    );
    assert_eq!(repository.text("slot.both"), "slot both = Int = 2\n");
    assert_eq!(repository.store().state().visible().count(), 5);
    let Verified { now, rebuilt, difference } = repository.store().verify().unwrap();
    assert_eq!(difference, None);
    assert_eq!(now, rebuilt);
    // It can go on from there.
    repository.change(&[("slots/c.strand", "slot c = Int = 1\n")]);
    assert_eq!(repository.store().state().visible().count(), 6);
}

#[test]
fn an_older_log_deletes_no_file_and_loses_no_definition() {
    let repository = Repository::new();
    let log = repository.store().inner("op-log.jsonl");
    let older = std::fs::read(&log).unwrap();
    repository.change(&[("slots/a.strand", "slot a = Int = 1\n"), ("slots/both.strand", "slot both = Int = 2\n")]);
    let newer = std::fs::read(&log).unwrap();
    std::fs::write(&log, older).unwrap();
    let done = repository.sync();
    assert_eq!((done.files, done.conflicts, done.errors), ((0, 0, 0), 0, 0), "{done:?}");
    assert_eq!(repository.text("slot.a"), "slot a = Int = 1\n");
    assert_eq!(repository.text("slot.both"), "slot both = Int = 2\n");
    // And the newer one again.
    std::fs::write(&log, newer).unwrap();
    assert!(repository.sync().is_idle());
    assert_eq!(repository.files(), ["slots/a.strand", "slots/base.strand", "slots/both.strand"]);
}

#[test]
fn a_clone_that_was_edited_before_its_first_sync_is_an_edit_and_an_older_file_is_none() {
    let repository = Repository::new();
    repository.change(&[("slots/both.strand", "slot both = Int = 2\n")]);
    std::fs::remove_file(repository.store().inner("projection.json")).unwrap();
    std::fs::write(repository.dir.path().join("slots/base.strand"), "slot base = Int = 7\n").unwrap();
    std::fs::write(repository.dir.path().join("slots/both.strand"), "slot both = Int = 1\n").unwrap();
    let done = repository.sync();
    assert_eq!((done.ops, done.conflicts), (1, 0), "{done:?}");
    assert_eq!(repository.text("slot.base"), "slot base = Int = 7\n");
    let both = std::fs::read_to_string(repository.dir.path().join("slots/both.strand")).unwrap();
    assert_eq!(both, "slot both = Int = 2\n");
}

#[test]
fn conflict_markers_in_the_log_are_reported_and_nothing_is_written() {
    let repository = Repository::new();
    let log = repository.store().inner("op-log.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let number = text.lines().count() + 1;
    std::fs::write(&log, format!("{text}<<<<<<< main\n")).unwrap();
    let mut store = repository.store();
    let reported = store.whole().unwrap_err().to_string();
    assert!(reported.contains(&format!("line {number}: it is a conflict marker of Git")), "{reported}");
    let draft = Draft::Replace { qname: qname("slot.base"), body: "Int = 5".into(), doc: None };
    assert_eq!(store.issue(&[draft], &Issuer::new("user:me"), false).unwrap_err().kind(), "corrupt");
}

/// After a clone or a change of branches nothing is recorded of the files.
fn forget(world: &World) {
    std::fs::remove_file(world.store.inner("projection.json")).unwrap();
}

#[test]
fn the_file_of_an_old_name_is_no_new_definition_in_a_clone() {
    let rename = |world: &mut World| {
        let draft = Draft::Rename { qname: qname("slot.n"), to: "alpha".into() };
        world.store.issue(&[draft], &Issuer::new("user:me"), false).unwrap();
    };
    let mut world = World::new();
    forget(&world);
    rename(&mut world);
    let done = world.sync();
    assert!(done.is_clean() && done.ops == 0, "{done:?}");
    assert_eq!((world.read("slots/n.strand"), world.text("slot.n")), (String::new(), String::new()));
    assert_eq!(world.read("slots/alpha.strand"), "slot alpha = Int = 0\n");
    // Its name may be that of another by now.
    let mut world = World::new();
    forget(&world);
    rename(&mut world);
    let add = Draft::Add { qname: qname("slot.n"), body: "Int = 7".into(), doc: None, def: None };
    world.store.issue(&[add], &Issuer::new("user:me"), false).unwrap();
    assert!(world.sync().is_clean());
    assert_eq!(
        (world.read("slots/n.strand"), world.text("slot.n")),
        ("slot n = Int = 7\n".into(), "slot n = Int = 7\n".into())
    );
    // A sync that only writes files removes it too, and one that was edited is a definition.
    let mut world = World::new();
    forget(&world);
    rename(&mut world);
    let options = Options { direction: Direction::ToFiles, removal: Removal::Refuse, dry_run: false };
    sync(&mut world.store, &options, &Issuer::new("strand:sync")).unwrap();
    assert_eq!(world.read("slots/n.strand"), "");
    let mut world = World::new();
    forget(&world);
    rename(&mut world);
    world.write("slots/n.strand", "slot n = Int = 3\n");
    assert!(world.sync().is_clean());
    assert_eq!(world.text("slot.n"), "slot n = Int = 3\n");
}

#[test]
fn one_entry_that_is_no_file_stops_nothing_else() {
    let mut world = World::new();
    world.replace("slot.n", "Int = 7");
    std::fs::create_dir(world.store.root().join("slots/dir.strand")).unwrap();
    std::os::unix::fs::symlink("n.strand", world.store.root().join("slots/ln.strand")).unwrap();
    let done = world.sync();
    assert_eq!((done.errors, world.read("slots/n.strand").as_str()), (2, "slot n = Int = 7\n"));
    let words: Vec<String> = done.messages.iter().map(super::Message::words).collect();
    assert_eq!(words[0], "E0001 at slots/dir.strand:1:1: this is a folder, not a regular file");
    assert_eq!(words[1], "E0001 at slots/ln.strand:1:1: this is a link, not a regular file");
}
