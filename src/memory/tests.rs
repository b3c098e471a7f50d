use super::*;

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        World { dir: tempfile::tempdir().unwrap() }
    }

    fn options(&self) -> Options {
        Options { wait: Duration::ZERO, ..Options::in_folder(&self.dir.path().join("home")) }
    }

    fn open(&self) -> Memory {
        let (memory, notices) = Memory::open(self.options());
        assert_eq!(notices, []);
        memory
    }
}

fn session(memory: &Memory, project: &str) -> String {
    let new = NewSession { project: project.into(), model: "m1".into(), ..NewSession::default() };
    memory.create(&new).unwrap()
}

fn user(text: &str) -> NewMessage {
    NewMessage::text(StoredRole::User, text)
}

fn answer(text: &str) -> NewMessage {
    let mut m = NewMessage::text(StoredRole::Assistant, text);
    m.meta.model = Some("m2".into());
    m
}

#[test]
fn a_project_knows_its_archives_size_and_the_folders_made_in_it() {
    let w = World::new();
    let m = w.open();
    assert_eq!(m.archive_size("/p").unwrap(), None);
    m.set_archive_size("/p", 7).unwrap();
    m.set_archive_size("/p", 9).unwrap();
    assert_eq!(m.archive_size("/p").unwrap().unwrap().bytes, 9);
    m.folders_changed("/p", Some("c1"), &["a".into(), "a/b".into(), "c/d".into()], &[]).unwrap();
    assert_eq!(m.folders_made("/p", "a/b/x.rs").unwrap(), ["a/b", "a"]);
    assert_eq!(m.folders_made("/p", "c/d/x.rs").unwrap(), ["c/d"]);
    assert_eq!(m.folders_made("/p", "x.rs").unwrap(), Vec::<String>::new());
    assert_eq!(m.folders_made("/q", "a/x.rs").unwrap(), Vec::<String>::new());
    m.folders_changed("/p", Some("c2"), &["a".into()], &["c/d".into()]).unwrap();
    assert_eq!(m.folder_made_by("/p", "a").unwrap().as_deref(), Some("c1"), "it was made already");
    assert_eq!(m.folder_made_by("/p", "c/d").unwrap(), None);
    m.folders_changed("/p", None, &[], &["a".into()]).unwrap();
    assert_eq!(m.folders_made("/p", "a/b/x.rs").unwrap(), ["a/b"]);
}

#[test]
fn a_time_that_cannot_be_read_is_no_time() {
    let w = World::new();
    let m = w.open();
    let before = now_ms() / 1000 * 1000;
    let s = session(&m, "/p");
    let message = m.append(&s, &user("hello")).unwrap();
    m.rename(&s, "a title").unwrap();
    let started = m.get(&s).unwrap().started.unwrap();
    assert!((before..=now_ms()).contains(&started), "the program's clock, to the second");
    let conn = rusqlite::Connection::open(w.options().path).unwrap();
    let torn = "UPDATE sessions SET started_at = 'torn'; UPDATE messages SET timestamp = 'torn';
                DELETE FROM message_meta";
    conn.execute_batch(torn).unwrap();
    assert_eq!(m.get(&s).unwrap().started, None);
    assert_eq!(m.typed(message).unwrap(), Some(("hello".into(), None)));
    assert_eq!(m.search("/p", "title", 1).unwrap()[0].at, None);
}

#[test]
fn a_session_comes_back_as_it_was() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    let mut requested = user("do it @a.rs\n---\nReference\n");
    requested.meta.typed = Some(11);
    requested.meta.attached = Some("[]".into());
    requested.blobs = vec![StoredBlob { name: "a.png".into(), kind: "image/png".into(), bytes: vec![1, 2, 3] }];
    let turn = memory.append(&s, &requested).unwrap();
    let mut said = answer("done");
    said.tool_calls = Some("[{\"id\":\"c\"}]".into());
    said.meta.thinking = Some("hm".into());
    said.meta.turn = Some(turn);
    said.meta.input_tokens = Some(7);
    memory.append(&s, &said).unwrap();
    memory
        .append(&s, &NewMessage { tool_results: Some("[]".into()), ..NewMessage::text(StoredRole::Tool, "ok") })
        .unwrap();
    memory.end(&s).unwrap();
    drop(memory);

    let memory = w.open();
    let stored = memory.load(&s).unwrap();
    // The parts of all but an answer are stored though none were named.
    let part = |kind: &str, bytes| MessagePart { kind: kind.into(), bytes, seal: None, origin: None };
    requested.parts = vec![part("text", 26), part("image", 0)];
    assert_eq!(stored.iter().map(|m| &m.message).take(2).collect::<Vec<_>>(), [&requested, &said]);
    assert_eq!(stored[2].message.parts, [part("result", 2)]);
    let listed = memory.list("/p").unwrap();
    assert_eq!((listed[0].title.as_deref(), listed[0].messages), (Some("do it @a.rs"), 2));
    assert_eq!((listed[0].model.as_str(), listed[0].state), ("m2", SessionUse::Ended));
    assert!(memory.list("/other").unwrap().is_empty());
    assert_eq!(memory.inputs("/p", 10).unwrap(), ["do it @a.rs"]);
    assert_eq!(memory.last(&s, 1).unwrap()[0].message.role, StoredRole::Tool);
}

#[test]
fn streamed_text_is_stored_as_it_grows() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    memory.append(&s, &user("go")).unwrap();
    let mut growing = answer("");
    growing.meta.state = MessageState::Streaming;
    let id = memory.append(&s, &growing).unwrap();
    memory.checkpoint(&s, id, "par", Some("t")).unwrap();
    assert_eq!(memory.load(&s).unwrap()[1].message.content.as_deref(), Some("par"));
    memory.replace(&s, id, &answer("part and whole")).unwrap();
    let stored = memory.load(&s).unwrap();
    assert_eq!(stored[1].message, answer("part and whole"));
    memory.remove_from(&s, id).unwrap();
    assert_eq!(memory.load(&s).unwrap().len(), 1);
    assert_eq!(memory.get(&s).unwrap().messages, 1);
    assert!(matches!(memory.replace(&s, 99, &answer("")), Err(Error::NoMessage(99))));
}

#[test]
fn a_session_has_one_holder() {
    let w = World::new();
    let (one, two) = (w.open(), w.open());
    let s = session(&one, "/p");
    one.append(&s, &user("hello")).unwrap();
    assert_eq!(two.get(&s).unwrap().state, SessionUse::InUse { mine: false });
    assert_eq!(one.get(&s).unwrap().state, SessionUse::InUse { mine: true });
    assert!(matches!(two.reopen(&s), Err(Error::InUse(_))));
    assert!(matches!(two.delete(&s), Err(Error::InUse(_))));
    let fork = two.fork(&s, None).unwrap();
    assert_eq!(two.get(&fork).unwrap().title.as_deref(), Some("fork of hello"));
    assert_eq!(two.load(&fork).unwrap().len(), 1);

    assert_eq!(two.sweep().unwrap(), 0);
    drop(one);
    assert_eq!(two.get(&s).unwrap().state, SessionUse::Open);
    assert_eq!(two.sweep().unwrap(), 1);
    let gone = two.get(&s).unwrap();
    assert!(gone.ended.is_some());
    assert_eq!(gone.state, SessionUse::Open);
    assert_eq!(two.reopen(&s).unwrap().ended, None);
    two.end(&s).unwrap();
    assert_eq!(two.get(&s).unwrap().state, SessionUse::Ended);
    two.delete(&s).unwrap();
    assert!(matches!(two.get(&s), Err(Error::NoSession(_))));
}

#[test]
fn a_session_without_words_is_forgotten() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    assert!(memory.list("/p").unwrap().is_empty());
    memory.end(&s).unwrap();
    assert!(memory.get(&s).is_err());
}

#[test]
fn ids_are_found_by_their_beginning() {
    let w = World::new();
    let memory = w.open();
    let (a, b) = (session(&memory, "/p"), session(&memory, "/p"));
    assert!(a < b);
    assert_eq!(memory.find("/p", &a).unwrap(), a);
    assert!(matches!(memory.find("/p", &a[..4]), Err(Error::Ambiguous(_))));
    assert!(matches!(memory.find("/other", &a), Err(Error::NoSession(_))));
}

#[test]
fn forks_take_messages_up_to_one() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    let one = memory.append(&s, &user("one")).unwrap();
    let mut two = answer("two");
    two.meta.turn = Some(one);
    let upto = memory.append(&s, &two).unwrap();
    memory.append(&s, &user("three")).unwrap();
    let fork = memory.fork(&s, Some(upto)).unwrap();
    let stored = memory.load(&fork).unwrap();
    assert_eq!(stored.len(), 2);
    assert_eq!(stored[1].message.meta.turn, Some(stored[0].id));
    assert_eq!(memory.load(&s).unwrap().len(), 3);
    assert_eq!(memory.get(&fork).unwrap().parent.as_deref(), Some(s.as_str()));
}

#[test]
fn words_are_found_wherever_they_are() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    let mut first = user("在庫の価格表を直す\n---\nReference\nhidden");
    first.meta.typed = Some("在庫の価格表を直す".len());
    memory.append(&s, &first).unwrap();
    memory.append(&s, &answer("I renamed parse_line to readLine.")).unwrap();
    memory.append(&s, &NewMessage::text(StoredRole::Tool, "tool text")).unwrap();
    let other = session(&memory, "/q");
    memory.append(&other, &user("readLine elsewhere")).unwrap();
    let find =
        |words: &str| memory.search("/p", words, 10).unwrap().into_iter().filter(|h| h.message.is_some()).count();
    for word in ["価格", "価", "表", "価格表", "renam", "adLin", "PARSE line", "在庫 直す"] {
        assert_eq!(find(word), 1, "{word}");
    }
    for word in ["hidden", "tool", "elsewhere", "価庫", "", "::"] {
        assert_eq!(find(word), 0, "{word}");
    }
    let hit = memory.search("/p", "価格", 10).unwrap().remove(0);
    assert_eq!((hit.message, &hit.snippet[hit.marks[0].clone()]), (None, "価格"));
    memory.rename(&s, "prices").unwrap();
    assert_eq!(memory.list_matching("/p", "pric").unwrap().len(), 1);
    assert_eq!(memory.list_matching("/p", "nothing").unwrap().len(), 0);
    memory.delete(&s).unwrap();
    assert_eq!(find("価格"), 0);
}

#[test]
fn a_replaced_message_is_found_by_its_new_words() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    let id = memory.append(&s, &answer("apples")).unwrap();
    assert_eq!(memory.search("/p", "apples", 9).unwrap().len(), 1);
    memory.replace(&s, id, &answer("pears")).unwrap();
    assert_eq!(memory.search("/p", "apples", 9).unwrap().len(), 0);
    assert_eq!(memory.search("/p", "pears", 9).unwrap().len(), 1);
}

fn will(path: &str, sha: u8) -> WriteIntent {
    let sha256 = Some([sha; 32]);
    WriteIntent { path: path.into(), sha256, replaces: None, bytes: Some(vec![sha]), added: Some(2), removed: Some(1) }
}

fn file(path: &str, version: &str) -> StoredFile {
    StoredFile { path: path.into(), version: Some(version.into()), ..StoredFile::default() }
}

#[test]
fn what_a_dead_write_replaced_stays_nebulas() {
    let w = World::new();
    let memory = w.open();
    let will = |sha: u8, replaces: u8| WriteIntent { replaces: Some([replaces; 32]), ..will("a", sha) };
    let is = |sha: u8| memory.written("/p", "a").unwrap().unwrap().is(Some([sha; 32]));
    let first = memory.write_intent("/p", &ChangesetCause::default(), &[will(1, 0)]).unwrap();
    memory.applied(first, "c1", &[file("a", "v1")]).unwrap();
    // Killed before it wrote, and so was the next one, which found the older state.
    memory.write_intent("/p", &ChangesetCause::default(), &[will(2, 1)]).unwrap();
    memory.write_intent("/p", &ChangesetCause::default(), &[will(3, 1)]).unwrap();
    assert!(is(1) && is(3) && !is(2));
    // Killed after it wrote.
    memory.write_intent("/p", &ChangesetCause::default(), &[will(4, 3)]).unwrap();
    assert!(is(3) && is(4) && !is(1));
}

#[test]
fn what_nebula_left_is_kept_once_someone_else_changed_it() {
    let w = World::new();
    let memory = w.open();
    let will = |sha: u8, replaces: u8| WriteIntent {
        replaces: Some([replaces; 32]),
        bytes: Some(vec![sha]),
        ..will("a", sha)
    };
    let left = |sha: u8| memory.bytes_left("/p", "a", &[sha; 32]).unwrap();
    let write = |id: &str, sha: u8, replaces: u8| {
        let n = memory.write_intent("/p", &ChangesetCause::default(), &[will(sha, replaces)]).unwrap();
        memory.applied(n, id, &[file("a", id)]).unwrap();
    };
    write("c1", 1, 0);
    assert_eq!(left(1), Some(vec![1]));
    write("c2", 2, 1);
    assert_eq!(left(1), None, "the archive holds it");
    write("c3", 3, 9);
    assert_eq!((left(2), left(3), left(9)), (Some(vec![2]), Some(vec![3]), None));
    memory.forget_changesets("/p", &["c1".into()]).unwrap();
    assert_eq!(left(2), Some(vec![2]));
    memory.forget_changesets("/p", &["c2".into()]).unwrap();
    assert_eq!(left(2), None);
}

#[test]
fn what_was_written_follows_the_outcome() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    let turn = memory.append(&s, &user("go")).unwrap();
    let cause = ChangesetCause {
        session: Some(s.clone()),
        message: Some(turn),
        turn: Some(turn),
        kind: "edit".into(),
        title: "go".into(),
        ..ChangesetCause::default()
    };
    let is = |sha: Option<u8>| memory.written("/p", "a").unwrap().unwrap().is(sha.map(|n| [n; 32]));

    assert_eq!(memory.written("/p", "a").unwrap(), None);
    let first = memory.write_intent("/p", &cause, &[will("a", 1)]).unwrap();
    assert!(is(Some(1)));
    memory.applied(first, "c1", &[file("a", "v1")]).unwrap();

    let second = memory.write_intent("/p", &cause, &[will("a", 2)]).unwrap();
    assert!(is(Some(1)) && is(Some(2)) && !is(None));
    assert_eq!(memory.pending("/p").unwrap().len(), 1);
    memory.failed(second, Some("c2"), &[file("a", "v2")]).unwrap();
    assert!(is(Some(1)) && !is(Some(2)));

    let third =
        memory.write_intent("/p", &cause, &[WriteIntent { sha256: None, bytes: None, ..will("a", 0) }]).unwrap();
    memory.withdrawn(third).unwrap();
    assert!(is(Some(1)) && !is(None));

    let listed = memory.changesets("/p").unwrap();
    let states: Vec<_> = listed.iter().map(|c| (c.id.as_deref(), c.state)).collect();
    assert_eq!(states, [(Some("c2"), ChangesetState::Failed), (Some("c1"), ChangesetState::Applied)]);
    let of_turn = memory.changesets_of_turn(&s, turn).unwrap();
    assert_eq!(of_turn.len(), 1);
    assert_eq!((of_turn[0].files[0].version.as_deref(), of_turn[0].files[0].added), (Some("v1"), Some(2)));
    assert_eq!(memory.changesets_since(&s, turn).unwrap(), of_turn);
    assert_eq!(memory.changeset("/p", "c1").unwrap().unwrap().cause, cause);
    let listing = memory.listing("/p").unwrap();
    let want = ListedFile { path: "a", version: Some("v1"), absent: false, added: Some(2), removed: Some(1) };
    assert_eq!(listing.files("c1").collect::<Vec<_>>(), [want]);
    assert_eq!((listing.files("c2").len(), listing.files("none").len()), (1, 0));
    assert_eq!(listing.find("c2").map(|r| r.state), Some(ChangesetState::Failed));
    let of_path = memory.changesets_of_path("/p", "a").unwrap();
    let ids: Vec<_> = of_path.iter().map(|c| (c.id.as_deref(), c.files[0].version.as_deref())).collect();
    assert_eq!(ids, [(Some("c2"), Some("v2")), (Some("c1"), Some("v1"))]);
    assert_eq!(memory.changesets_of_path("/other", "a").unwrap(), []);
    assert_eq!(memory.get(&s).unwrap().totals.added, 2);
    memory.forget_changesets("/p", &["c1".into()]).unwrap();
    assert_eq!(memory.changeset("/p", "c1").unwrap(), None);
}

#[test]
fn a_forks_turns_are_its_parents() {
    let world = World::new();
    let memory = world.open();
    let id = session(&memory, "/p");
    let change = |session: &str, turn: i64, id: &str| {
        let cause = ChangesetCause { session: Some(session.into()), turn: Some(turn), ..ChangesetCause::default() };
        let pending = memory.write_intent("/p", &cause, &[will("a.rs", 1)]).unwrap();
        memory.applied(pending, id, &[file("a.rs", "v")]).unwrap();
    };
    let ids = |found: Result<Vec<ChangesetRecord>, Error>| -> Vec<String> {
        found.unwrap().into_iter().filter_map(|r| r.id).collect()
    };
    let first = memory.append(&id, &user("one")).unwrap();
    change(&id, first, "c1");
    memory.append(&id, &answer("done")).unwrap();
    let second = memory.append(&id, &user("two")).unwrap();
    change(&id, second, "c2");
    let fork = memory.fork(&id, None).unwrap();
    // What the parent does later is not the fork's.
    let third = memory.append(&id, &user("three")).unwrap();
    change(&id, third, "c3");
    let copies: Vec<i64> = memory.load(&fork).unwrap().iter().map(|m| m.id).collect();
    let own = memory.append(&fork, &user("mine")).unwrap();
    change(&fork, own, "c4");
    assert_eq!(ids(memory.changesets_of_turn(&fork, copies[2])), ["c2"]);
    assert_eq!(ids(memory.changesets_of_turn(&fork, own)), ["c4"]);
    assert_eq!(ids(memory.changesets_since(&fork, copies[0])), ["c1", "c2", "c4"]);
    assert_eq!(ids(memory.changesets_since(&fork, copies[2])), ["c2", "c4"]);
    assert_eq!(ids(memory.changesets_since(&id, second)), ["c2", "c3"]);
    // A fork of the fork, taken before its second turn.
    let again = memory.fork(&fork, Some(copies[1])).unwrap();
    let oldest = memory.load(&again).unwrap()[0].id;
    assert_eq!(ids(memory.changesets_since(&again, oldest)), ["c1"]);
    assert_eq!(ids(memory.changesets_of_turn(&again, oldest)), ["c1"]);
}

#[test]
fn long_bytes_are_not_stored() {
    let w = World::new();
    let memory = w.open();
    let long = WriteIntent { bytes: Some(vec![0; MAX_KEPT + 1]), ..will("a", 1) };
    memory.write_intent("/p", &ChangesetCause::default(), &[long]).unwrap();
    assert_eq!(memory.written("/p", "a").unwrap().unwrap().bytes, None);
}

#[test]
fn edits_are_counted_by_model_and_format() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    let stored = |json: &str| {
        let mut m = NewMessage { tool_results: Some(json.into()), ..NewMessage::text(StoredRole::Tool, "") };
        m.meta.model = Some("m2".into());
        memory.append(&s, &m).unwrap();
    };
    stored(r#"[{"id":"1","name":"replaceInFile","ok":false,"edits":[{"path":"a","format":"tools","rung":null}]}]"#);
    stored(r#"[{"id":"2","name":"replaceInFile","ok":true,"edits":[{"path":"a","format":"tools","rung":"exact"}]}]"#);
    stored(r#"[{"id":"3","name":"replaceInFile","ok":false,"edits":[{"path":"b","format":"tools","rung":"exact"}]}]"#);
    stored(r#"[{"id":"4","name":"readFile","ok":true}]"#);
    // Of one answer: one written, one refused, one that changes nothing.
    stored(
        r#"[{"id":"","name":"xml","ok":false,"edits":[{"path":"c","format":"xml","rung":"by indentation","ok":true},
            {"path":"c","format":"xml","rung":"exact","ok":false}]},
            {"id":"","name":"xml","ok":true,"edits":[{"path":"c","format":"xml","rung":null}]}]"#,
    );
    stored("torn [");
    let row = StatsRow {
        model: "m2".into(),
        format: "tools".into(),
        requested: 3,
        applied: vec![("exact".into(), 1)],
        unchanged: 0,
        refused: 1,
        not_found: 1,
        retried: 1,
        nudged: 0,
    };
    let mixed = StatsRow {
        format: "xml".into(),
        applied: vec![("by indentation".into(), 1)],
        unchanged: 1,
        not_found: 0,
        retried: 0,
        ..row.clone()
    };
    assert_eq!(memory.stats(Some("/p")).unwrap(), (vec![row, mixed], 1));
    assert_eq!(memory.stats(None).unwrap().0.len(), 2);
    assert_eq!(memory.stats(Some("/q")).unwrap(), (vec![], 0));
}

#[test]
fn what_a_fork_copied_and_what_a_person_wrote_are_not_counted() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    memory.append(&s, &user("change it")).unwrap();
    let mut answer = NewMessage::text(StoredRole::Assistant, "It is done.");
    (answer.meta.model, answer.meta.format) = (Some("m2".into()), Some("xml".into()));
    answer.tool_results =
        Some(r#"[{"id":"","name":"xml","ok":true,"edits":[{"path":"c","format":"xml","rung":"exact"}]}]"#.into());
    memory.append(&s, &answer).unwrap();
    let mut nudge = user("Reworded since: nothing was changed.");
    nudge.meta.extra = Some(super::NUDGE_MARK.into());
    let id = memory.append(&s, &nudge).unwrap();
    // What is kept beside it later leaves the mark.
    memory.keep_extra(&s, id, r#"{"rules":[]}"#).unwrap();
    memory.append(&s, &user("No file was changed. Why?")).unwrap();
    memory.fork(&s, None).unwrap();
    let (rows, unreadable) = memory.stats(Some("/p")).unwrap();
    let counts: Vec<_> = rows.iter().map(|row| (row.requested, row.nudged)).collect();
    assert_eq!((counts, unreadable), (vec![(1, 1)], 0));
}

#[test]
fn damage_found_on_the_way_is_moved_aside_by_the_next_start() {
    let w = World::new();
    let m = w.open();
    let id = session(&m, "/p");
    for n in 0..400 {
        m.append(&id, &user(&format!("{n} {}", "words ".repeat(40)))).unwrap();
    }
    drop(m);
    let path = w.options().path;
    let mut bytes = std::fs::read(&path).unwrap();
    // The first and the last pages of messages are read when it is opened, those in the middle are not.
    let words = b"200 words words";
    let middle = bytes.windows(words.len()).position(|w| w == words).unwrap();
    let page = middle - middle % 4096;
    bytes[page..page + 4096].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let (m, _) = Memory::open(w.options());
    let error = m.load(&id).unwrap_err();
    assert_eq!(error.trouble(), Some(Trouble::Corrupt));
    m.suspect(&error);
    drop(m);
    let (m, notices) = Memory::open(w.options());
    assert!(matches!(notices.as_slice(), [DatabaseNotice::MovedAside { .. }]), "{notices:?}");
    assert!(m.list("/p").unwrap().is_empty() && m.banner().is_none());
    drop(m);
    w.open();
}

#[test]
fn a_damaged_file_is_moved_aside() {
    let w = World::new();
    std::fs::create_dir_all(w.options().path.parent().unwrap()).unwrap();
    std::fs::write(w.options().path, "this is no database, but long enough to be looked at".repeat(90)).unwrap();
    let (memory, notices) = Memory::open(w.options());
    let [DatabaseNotice::MovedAside { to }] = notices.as_slice() else { panic!("{notices:?}") };
    assert!(to.exists() && memory.banner().is_none());
    let s = session(&memory, "/p");
    memory.append(&s, &user("hello")).unwrap();
}

#[test]
fn a_locked_file_sends_memory_into_ram_and_back() {
    let w = World::new();
    let memory = w.open();
    let heard = std::sync::Arc::new(Mutex::new(Vec::new()));
    let sink = heard.clone();
    memory.listen(Box::new(move |n| sink.lock().unwrap().push(n)));
    let s = session(&memory, "/p");
    let first = memory.append(&s, &user("one")).unwrap();

    let blocker = rusqlite::Connection::open(w.options().path).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let second = memory.append(&s, &answer("two")).unwrap();
    assert_eq!(memory.banner(), Some(Trouble::Locked));
    assert_eq!(heard.lock().unwrap().last(), Some(&DatabaseNotice::InMemoryOnly { trouble: Trouble::Locked }));
    assert_eq!(memory.load(&s).unwrap().len(), 2);
    assert_eq!(memory.list("/p").unwrap()[0].messages, 2);
    memory.replace(&s, first, &user("one, corrected")).unwrap();
    let other = session(&memory, "/p");
    memory.append(&other, &user("new here")).unwrap();
    let cause = ChangesetCause {
        session: Some(s.clone()),
        message: Some(second),
        turn: Some(first),
        ..ChangesetCause::default()
    };
    let write = memory.write_intent("/p", &cause, &[will("a", 1)]).unwrap();
    assert!(matches!(memory.delete(&s), Err(Error::NotNow(_))));
    assert!(memory.reconnect().is_err());

    blocker.execute_batch("ROLLBACK").unwrap();
    assert_eq!(memory.reconnect().unwrap(), []);
    assert_eq!(memory.banner(), None);
    memory.applied(write, "c1", &[file("a", "v1")]).unwrap();
    memory.replace(&s, second, &answer("two, corrected")).unwrap();
    drop(memory);
    let memory = w.open();
    let texts: Vec<_> = memory.load(&s).unwrap().into_iter().filter_map(|m| m.message.content).collect();
    assert_eq!(texts, ["one, corrected", "two, corrected"]);
    assert_eq!(memory.load(&other).unwrap().len(), 1);
    let ids: Vec<i64> = memory.load(&s).unwrap().iter().map(|m| m.id).collect();
    assert!(ids.iter().all(|id| *id < 100), "{ids:?}");
    let stored = memory.changeset("/p", "c1").unwrap().unwrap();
    assert_eq!((stored.cause.message, stored.files.len()), (Some(ids[1]), 1));
    assert!(memory.written("/p", "a").unwrap().unwrap().is(Some([1; 32])));
}

#[test]
fn a_newer_database_is_left_alone() {
    let w = World::new();
    drop(w.open());
    rusqlite::Connection::open(w.options().path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let (memory, notices) = Memory::open(w.options());
    assert_eq!(notices, [DatabaseNotice::InMemoryOnly { trouble: Trouble::Newer }]);
    session(&memory, "/p");
}

#[test]
fn a_home_that_is_a_file_keeps_memory_in_ram() {
    let w = World::new();
    std::fs::write(w.dir.path().join("home"), "").unwrap();
    let (memory, notices) = Memory::open(w.options());
    assert_eq!(notices.len(), 1);
    let s = session(&memory, "/p");
    memory.append(&s, &user("still works")).unwrap();
    assert_eq!(memory.load(&s).unwrap().len(), 1);
    assert!(memory.reconnect().is_err());
}

#[test]
fn a_session_that_cannot_be_locked_stays_in_ram_until_it_can() {
    let home = World::new();
    let locks = home.options().locks;
    std::fs::create_dir_all(locks.parent().unwrap()).unwrap();
    std::fs::write(&locks, "not a folder").unwrap();
    let memory = home.open();
    let id = session(&memory, "/p");
    assert_eq!(memory.banner(), Some(Trouble::InTheWay));
    memory.append(&id, &user("hello")).unwrap();
    let copy = memory.fork(&id, None).unwrap();
    assert!(memory.reconnect().is_err());
    std::fs::remove_file(&locks).unwrap();
    memory.reconnect().unwrap();
    assert_eq!(memory.banner(), None);
    let other = home.open();
    for id in [&id, &copy] {
        assert_eq!(other.get(id).unwrap().state, SessionUse::InUse { mine: false });
        assert_eq!(other.load(id).unwrap().len(), 1);
    }
}

#[test]
fn a_summary_stands_for_the_beginning() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    let upto = memory.append(&s, &user("long story")).unwrap();
    let summary = ConversationSummary { text: "short".into(), upto };
    memory.set_summary(&s, Some(&summary)).unwrap();
    assert_eq!(memory.summary(&s).unwrap(), Some(summary));
    memory.set_summary(&s, None).unwrap();
    assert_eq!(memory.summary(&s).unwrap(), None);
}

fn sealed(kind: &str, bytes: usize, seal: Option<&str>) -> MessagePart {
    let origin = MessageOrigin { wire: "chat".into(), place: "https://a.example".into(), model: "m2".into() };
    MessagePart { kind: kind.into(), bytes, seal: seal.map(Into::into), origin: Some(origin) }
}

#[test]
fn the_parts_of_an_answer_come_back_as_they_were() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    let requested = memory.append(&s, &user("go")).unwrap();
    let mut arriving = answer("");
    arriving.meta.state = MessageState::Streaming;
    let id = memory.append(&s, &arriving).unwrap();
    memory.checkpoint(&s, id, "価", Some("hm")).unwrap();
    assert_eq!(memory.load(&s).unwrap()[1].message.parts, []);
    let mut whole = answer("価格");
    whole.meta.thinking = Some("hm, so".into());
    whole.meta.written_tokens = Some(7);
    whole.meta.thinking_tokens = Some(3);
    whole.parts = vec![
        sealed("thinking", 6, Some("{\"a\":  1}")),
        sealed("text", 3, None),
        sealed("other", 0, Some("{}")),
        sealed("text", 3, None),
    ];
    memory.replace(&s, id, &whole).unwrap();
    assert_eq!(memory.load(&s).unwrap()[1].message, whole);
    let fork = memory.fork(&s, None).unwrap();
    assert_eq!(memory.load(&fork).unwrap()[1].message, whole);
    memory.remove_from(&s, requested).unwrap();
    memory.end(&s).unwrap();
    memory.end(&fork).unwrap();
    memory.delete(&fork).unwrap();
    let left: i64 = memory.store().conn.query_row("SELECT count(*) FROM message_parts", [], |r| r.get(0)).unwrap();
    assert_eq!(left, 0, "parts go with their message");
}

#[test]
fn parts_survive_a_time_in_ram() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    let mut stored = answer("one");
    stored.parts = vec![sealed("text", 3, Some("1"))];
    memory.append(&s, &stored).unwrap();
    let other = rusqlite::Connection::open(w.options().path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut new = answer("two");
    new.parts = vec![sealed("text", 3, Some("2"))];
    memory.append(&s, &new).unwrap();
    assert_eq!(memory.banner(), Some(Trouble::Locked));
    let parts = |memory: &Memory| -> Vec<_> { memory.load(&s).unwrap().into_iter().map(|m| m.message.parts).collect() };
    assert_eq!(parts(&memory), [stored.parts.clone(), new.parts.clone()]);
    other.execute_batch("ROLLBACK").unwrap();
    memory.reconnect().unwrap();
    assert_eq!(memory.banner(), None);
    assert_eq!(parts(&memory), [stored.parts, new.parts]);
}

#[test]
fn what_an_older_nebula_stored_can_be_read_while_it_cannot_be_migrated() {
    let w = World::new();
    drop(w.open());
    let other = rusqlite::Connection::open(w.options().path).unwrap();
    other
        .execute_batch(
            "ALTER TABLE changeset_files DROP COLUMN after_sha256; ALTER TABLE folders DROP COLUMN changeset; DROP TABLE usage_beside; DROP TABLE reviews; DROP TABLE after_states; DROP TABLE message_parts; ALTER TABLE message_meta DROP COLUMN written_tokens;
             ALTER TABLE message_meta DROP COLUMN thinking_tokens; ALTER TABLE changesets DROP COLUMN approved; ALTER TABLE changesets DROP COLUMN merged;
             ALTER TABLE message_meta DROP COLUMN cost_nanos; ALTER TABLE message_meta DROP COLUMN hour_tokens;
             ALTER TABLE message_meta DROP COLUMN copied; ALTER TABLE session_meta DROP COLUMN estimated; ALTER TABLE session_meta DROP COLUMN unpriced;
             ALTER TABLE session_meta DROP COLUMN unsent;
             PRAGMA user_version = 2;
             INSERT INTO sessions(id, project_path, model_used) VALUES('s', '/p', 'm');
             INSERT INTO session_meta(session_id, messages) VALUES('s', 1);
             INSERT INTO messages(id, session_id, role, content) VALUES(1, 's', 'user', 'hello');
             INSERT INTO message_meta(message_id, at_ms, state) VALUES(1, 5, 'complete');
             BEGIN IMMEDIATE;",
        )
        .unwrap();
    let (memory, notices) = Memory::open(w.options());
    assert_eq!(notices, [DatabaseNotice::InMemoryOnly { trouble: Trouble::Locked }]);
    assert_eq!(memory.list("/p").unwrap().len(), 1);
    assert_eq!(memory.load("s").unwrap()[0].message.content.as_deref(), Some("hello"));
    other.execute_batch("ROLLBACK").unwrap();
    memory.reconnect().unwrap();
    assert_eq!(memory.load("s").unwrap()[0].message.content.as_deref(), Some("hello"));
}

#[test]
fn usage_is_added_up_by_session_model_and_turn_and_a_fork_counts_once() {
    let w = World::new();
    let memory = w.open();
    let s = session(&memory, "/p");
    let turn = memory.append(&s, &user("go")).unwrap();
    let step = |model: &str, input: u64, cached: u64, cost: Option<u64>| {
        let mut message = answer("x");
        message.meta.model = Some(model.into());
        message.meta.turn = Some(turn);
        (message.meta.input_tokens, message.meta.output_tokens) = (Some(input), Some(10));
        (message.meta.cached_tokens, message.meta.cost_nanos) = (Some(cached), cost);
        memory.append(&s, &message).unwrap()
    };
    step("a", 1_000, 0, Some(1_500_000));
    step("a", 2_000, 900, Some(500_000));
    // The cache was missed though the step before was a moment ago.
    let last = step("a", 3_000, 100, Some(0));
    step("b", 5, 0, None);
    memory.fork(&s, Some(last)).unwrap();
    let rows = memory.usage(Some("/p"), None, UsageBy::Model).unwrap();
    let table_rows: Vec<_> =
        rows.iter().map(|r| (r.key.as_str(), r.steps, r.input, r.cache_read, r.cost_nanos)).collect();
    assert_eq!(table_rows, [("a", 3, 6_000, 1_000, 2_000_000), ("b", 1, 5, 0, 0)]);
    assert_eq!((rows[0].missed, rows[0].unpriced, rows[1].unpriced), (1, 0, 1));
    let by = |by| memory.usage(Some("/p"), Some(&s), by).unwrap();
    assert_eq!((by(UsageBy::Turn).len(), by(UsageBy::Session)[0].steps), (1, 4));
    assert_eq!(by(UsageBy::Turn)[0].key, turn.to_string());
    assert_eq!(memory.usage(Some("/other"), None, UsageBy::Day).unwrap(), []);
    // A request beside the conversation counts as well, and a cache missed for a known reason is not missed.
    let summary = UsageBeside {
        model: "a".into(),
        input: 100,
        output: 7,
        cost_nanos: Some(1),
        estimated: true,
        ..UsageBeside::default()
    };
    memory.add_usage_beside("/p", Some(&s), &summary).unwrap();
    let counted = by(UsageBy::Session);
    assert_eq!((counted[0].steps, counted[0].input, counted[0].estimated), (5, 6_105, 1));
    let mut moved = answer("y");
    (moved.meta.model, moved.meta.input_tokens, moved.meta.cached_tokens) = (Some("a".into()), Some(9), Some(0));
    moved.meta.extra = Some("{\"new_prefix\":true}".into());
    memory.append(&s, &moved).unwrap();
    assert_eq!(by(UsageBy::Session)[0].missed, 1);
    // One damaged record hides no usage.
    let mut torn = answer("z");
    (torn.meta.output_tokens, torn.meta.extra) = (Some(3), Some("torn {".into()));
    memory.append(&s, &torn).unwrap();
    assert_eq!(by(UsageBy::Session)[0].steps, 7);
    let mut total = UsageRow::default();
    rows.iter().for_each(|row| total.add(row));
    let table = usage_tables(&[(rows, total)], "2026-01-01", &UsageWords::ENGLISH);
    assert!(table.starts_with("6.0k in · 40 out · 16% cached\n") && table.contains(" $0.0020+"), "{table}");
}

#[test]
fn a_table_of_usage_fits_a_terminal_of_80_columns() {
    let (input, cost_nanos) = (1_234_567, 1_501_900_000);
    let row = || UsageRow { key: "claude-sonnet-4-5".into(), input, cost_nanos, ..UsageRow::default() };
    let table = usage_tables(&[(vec![row()], row())], "2026-01-01", &UsageWords::ENGLISH);
    let rows = table.lines().filter(|line| line.starts_with("claude")).collect::<Vec<_>>();
    assert!(rows.len() == 2 && rows.iter().all(|line| line.chars().count() <= 70), "{table}");
}

#[test]
fn one_damaged_message_hides_no_other() {
    let world = World::new();
    let memory = world.open();
    let id = session(&memory, "/p");
    let rows = ["one", "two", "three"].map(|text| memory.append(&id, &answer(text)).unwrap());
    let store = memory.store();
    store.conn.execute("UPDATE messages SET content = CAST(x'ff' AS TEXT) WHERE id = ?1", [rows[1]]).unwrap();
    drop(store);
    let read = memory.load(&id).unwrap();
    let texts: Vec<&str> = read.iter().map(|m| m.message.content.as_deref().unwrap_or_default()).collect();
    assert_eq!(
        (texts[0], texts[2], read[1].id, read[1].message.role),
        ("one", "three", rows[1], StoredRole::Assistant)
    );
    assert!(texts[1].contains("damaged in memory"), "{}", texts[1]);
    assert_eq!(memory.last(&id, 2).unwrap().len(), 2);
}

#[test]
fn a_damaged_image_or_part_hides_no_message_and_is_reported() {
    let world = World::new();
    let memory = world.open();
    let id = session(&memory, "/p");
    let image = |name: &str| StoredBlob { name: name.into(), kind: "image/png".into(), bytes: vec![1, 2] };
    let mut requested = NewMessage::text(StoredRole::User, "look");
    requested.blobs = vec![image("a.png"), image("b.png")];
    let question = memory.append(&id, &requested).unwrap();
    let mut said = answer("seen");
    let part = |kind: &str, bytes| MessagePart { kind: kind.into(), bytes, seal: Some("{}".into()), origin: None };
    said.parts = vec![part("thinking", 0), part("text", 4)];
    let reply = memory.append(&id, &said).unwrap();
    let store = memory.store();
    let damage = |sql: &str, id: i64| assert_eq!(store.conn.execute(sql, [id]).unwrap(), 1);
    damage("UPDATE message_blobs SET name = CAST(x'ff' AS TEXT) WHERE message_id = ?1 AND n = 0", question);
    damage("UPDATE message_parts SET kind = CAST(x'ff' AS TEXT) WHERE message_id = ?1 AND n = 0", reply);
    drop(store);
    let read = memory.load(&id).unwrap();
    let [look, seen] = read.as_slice() else { panic!("{read:?}") };
    assert_eq!(look.damage, MessageDamage { blobs: 1, parts: false });
    assert_eq!(look.message.blobs, [image("b.png")]);
    let (text, typed) = (look.message.content.as_deref().unwrap(), look.message.meta.typed);
    assert!(text.starts_with("look\n") && text.contains("1 of the images"), "{text}");
    assert_eq!(typed, Some(4));
    assert_eq!(seen.damage, MessageDamage { blobs: 0, parts: true });
    assert_eq!((seen.message.content.as_deref(), seen.message.parts.len()), (Some("seen"), 0));
}

#[test]
fn text_that_is_no_utf8_hides_no_session_input_or_hit() {
    let world = World::new();
    let memory = world.open();
    let id = session(&memory, "/p");
    memory.append(&id, &NewMessage::text(StoredRole::User, "first")).unwrap();
    let second = memory.append(&id, &NewMessage::text(StoredRole::User, "second")).unwrap();
    let store = memory.store();
    let broken = "UPDATE messages SET content = CAST(x'7365636f6e6420ff' AS TEXT) WHERE id = ?1";
    store.conn.execute(broken, [second]).unwrap();
    store.conn.execute("UPDATE session_meta SET title = CAST(x'74ff' AS TEXT)", []).unwrap();
    drop(store);
    assert_eq!(memory.inputs("/p", 9).unwrap(), ["second \u{fffd}", "first"]);
    assert_eq!(memory.list("/p").unwrap()[0].title.as_deref(), Some("t\u{fffd}"));
    assert_eq!(memory.search("/p", "second", 9).unwrap().len(), 1);
}

#[test]
fn a_damaged_role_stops_no_index() {
    let world = World::new();
    let memory = world.open();
    let id = session(&memory, "/p");
    let rows: Vec<i64> = ["first words", "second words"].map(|text| memory.append(&id, &user(text)).unwrap()).to_vec();
    let store = memory.store();
    store.conn.execute("UPDATE messages SET role = CAST(x'ff' AS TEXT) WHERE id = ?1", [rows[0]]).unwrap();
    drop(store);
    let found = memory.search("/p", "second", 9).unwrap();
    assert_eq!(found.iter().filter_map(|hit| hit.message).collect::<Vec<_>>(), [rows[1]]);
}
