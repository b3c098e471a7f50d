//! Databases made by earlier versions must open, migrate, and give back what they held; and two processes must be able
//! to share one.

use std::fs;
use std::path::Path;
use std::time::Duration;

use nebula::memory::{DatabaseNotice, Memory, NewMessage, NewSession, Options, SessionUse, StoredRole};

/// Memory that is waited for longer than any disk of a busy machine takes: nothing here is about patience.
fn options(dir: &Path) -> Options {
    Options { wait: Duration::from_secs(60), ..Options::in_folder(dir) }
}

fn open(dir: &Path) -> Memory {
    let (memory, notices) = Memory::open(options(dir));
    assert_eq!(notices, []);
    memory
}

/// Makes a database from a fixture: SQL as `sqlite3 .dump` prints it.
fn restore(dir: &Path, sql: &str) {
    let conn = rusqlite::Connection::open(dir.join("memory.db")).expect("a database");
    conn.execute_batch(sql).expect("a fixture that runs");
}

#[test]
fn every_fixture_migrates() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/databases");
    let mut names: Vec<_> = fs::read_dir(folder).expect("fixtures").map(|e| e.expect("an entry").path()).collect();
    names.sort();
    assert!(!names.is_empty());
    for path in names {
        let dir = tempfile::tempdir().expect("a folder");
        restore(dir.path(), &fs::read_to_string(&path).expect("a fixture"));
        let memory = open(dir.path());
        let sessions = memory.list("/home/me/shop").expect("listed");
        let titles: Vec<_> = sessions.iter().map(|s| s.title.as_deref().unwrap_or("-")).collect();
        assert_eq!(titles, ["Good. Now the same for the wish list.", "在庫の単位テストを書く"], "{}", path.display());
        assert_eq!(sessions[0].state, SessionUse::Open, "{}", path.display());
        assert_eq!(sessions[1].state, SessionUse::Ended);
        let messages = memory.load(&sessions[0].id).expect("loaded");
        let roles: Vec<StoredRole> = messages.iter().map(|m| m.message.role).collect();
        assert_eq!(
            roles,
            [StoredRole::User, StoredRole::Assistant, StoredRole::Tool, StoredRole::Assistant],
            "{}",
            path.display()
        );
        assert!(messages[1].message.tool_calls.as_deref().is_some_and(|c| c.contains("readFile")));
        let texts: Vec<&str> = messages.iter().filter_map(|m| m.message.content.as_deref()).collect();
        let said = ["Good. Now the same for the wish list.", "", "pub struct Wish;", "It has no prices of its own."];
        assert_eq!(texts, said, "{}", path.display());
        let kinds = |at: usize| messages[at].message.parts.iter().map(|part| part.kind.as_str()).collect::<Vec<_>>();
        let question = if messages[0].message.blobs.is_empty() { vec!["text"] } else { vec!["text", "image"] };
        let call = if messages[1].message.meta.thinking.is_none() { vec!["call"] } else { vec!["thinking", "call"] };
        assert_eq!([kinds(0), kinds(1), kinds(2), kinds(3)], [question, call, vec!["result"], vec!["text"]]);
        assert_eq!(messages[2].message.parts[0].bytes, "pub struct Wish;".len());
        let found = memory.search("/home/me/shop", "単位", 9).expect("searched");
        assert_eq!(found.len(), 3, "a title, a question and an answer: {found:?}");
        memory.reopen(&sessions[0].id).expect("taken");
        memory.append(&sessions[0].id, &NewMessage::text(StoredRole::User, "go on")).expect("kept");
    }
}

#[test]
fn two_nebulas_share_one_memory() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str| {
        let memory = open(dir.path());
        let new = NewSession { project: "/p".into(), model: name.into(), ..NewSession::default() };
        let id = memory.create(&new).expect("made");
        for i in 0..200 {
            memory.append(&id, &NewMessage::text(StoredRole::User, format!("{name} {i}"))).expect("kept");
        }
        memory.end_turn(&id).expect("ended");
        assert_eq!(memory.banner(), None);
        memory.end(&id).expect("closed");
        id
    };
    let (a, b) = std::thread::scope(|s| {
        let (a, b) = (s.spawn(|| write("one")), s.spawn(|| write("two")));
        (a.join().expect("wrote"), b.join().expect("wrote"))
    });
    let memory = open(dir.path());
    assert_eq!(memory.list("/p").expect("listed").len(), 2);
    for (id, name) in [(a, "one"), (b, "two")] {
        let texts: Vec<_> = memory.load(&id).expect("loaded").into_iter().filter_map(|m| m.message.content).collect();
        assert_eq!(texts, (0..200).map(|i| format!("{name} {i}")).collect::<Vec<_>>());
    }
}

#[test]
fn a_torn_database_never_stops_the_program() {
    let dir = tempfile::tempdir().expect("a folder");
    let memory = open(dir.path());
    let new = NewSession { project: "/p".into(), model: "m".into(), ..NewSession::default() };
    let id = memory.create(&new).expect("made");
    for i in 0..300 {
        memory.append(&id, &NewMessage::text(StoredRole::User, format!("{i} {}", "x".repeat(500)))).expect("kept");
    }
    memory.end(&id).expect("closed");
    drop(memory);
    let path = dir.path().join("memory.db");
    let whole = fs::read(&path).expect("a file");
    for at in [40, 100, 4096, whole.len() / 3, whole.len() / 2, whole.len() - 5000] {
        let mut torn = whole.clone();
        let end = (at + 3000).min(torn.len());
        torn[at..end].fill(0xa5);
        fs::write(&path, &torn).expect("written");
        let _ = fs::remove_file(dir.path().join("memory.db-wal"));
        let (memory, notices) = Memory::open(options(dir.path()));
        let moved = notices.iter().any(|n| matches!(n, DatabaseNotice::MovedAside { .. }));
        // Where damage shows only later, the session goes on in RAM, and trying again moves the file aside.
        let _ = memory.list("/p").and_then(|all| all.first().map_or(Ok(vec![]), |s| memory.load(&s.id)));
        let id = memory.create(&new).expect("made");
        for _ in 0..20 {
            memory.append(&id, &NewMessage::text(StoredRole::User, "still here")).expect("kept");
        }
        if memory.banner().is_some() {
            memory.reconnect().expect("a new database");
        }
        assert_eq!(memory.load(&id).expect("loaded").len(), 20, "at {at}, moved {moved}");
        memory.end(&id).expect("closed");
        drop(memory);
    }
}
