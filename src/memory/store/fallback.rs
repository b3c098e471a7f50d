//! Memory in RAM, while the file cannot be written: the same schema, filled from the file as far as that can be read,
//! and carried back into it later.
//!
//! Ids made in RAM begin far above those of any file, so that the two never meet; carrying over gives them the ids
//! the file would have given.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, ToSql, Transaction, TransactionBehavior, params, params_from_iter};

use super::schema;
use crate::memory::messages::{self, BESIDE};
use crate::memory::{Error, Trouble};
use crate::text::time::now as now_ms;

/// The first id of a message made in RAM, less one.
const MESSAGES_FROM: i64 = 1 << 52;
/// The first number of a changeset made in RAM, less one.
const CHANGESETS_FROM: i64 = 1 << 53;

/// The state of memory while it lives in RAM.
pub(in crate::memory) struct InMemoryFallback {
    /// The reason why the file is not used.
    pub(in crate::memory) trouble: Trouble,
    /// The file can be read: it is attached as `disk`.
    pub(in crate::memory) reads_disk: bool,
    /// Sessions whose messages are here, fetched or new.
    fetched: HashSet<String>,
    /// Sessions that changed here.
    touched: HashSet<String>,
    /// Sessions that could not be read from the file: only the messages since are here.
    stubs: HashSet<String>,
    since_ms: i64,
}

impl InMemoryFallback {
    /// Opens a database in RAM that knows the file's sessions, if the file can be read.
    pub(in crate::memory) fn begin(path: &Path, trouble: Trouble) -> (Connection, InMemoryFallback) {
        let mut fallback = InMemoryFallback {
            trouble,
            reads_disk: false,
            fetched: HashSet::new(),
            touched: HashSet::new(),
            stubs: HashSet::new(),
            since_ms: now_ms(),
        };
        let conn = match empty() {
            Ok(conn) => conn,
            // An empty database in RAM fails to open only when there is no RAM left, as any allocation then would.
            Err(e) => panic!("no memory left for a database in RAM: {e}"),
        };
        if !matches!(trouble, Trouble::Corrupt | Trouble::Newer | Trouble::InTheWay) {
            fallback.reads_disk = attach(&conn, path).is_ok();
        }
        (conn, fallback)
    }

    /// Copies a session's messages from the file, the first time they are asked for.
    pub(in crate::memory) fn fetch(&mut self, conn: &Connection, session: &str) -> Result<(), Error> {
        if !self.reads_disk || !self.fetched.insert(session.to_string()) {
            return Ok(());
        }
        copy_from_disk(conn, "messages", "session_id = ?1", params![session])?;
        let of_session = "message_id IN (SELECT id FROM disk.messages WHERE session_id = ?1)";
        for table in BESIDE {
            copy_from_disk(conn, table, of_session, params![session])?;
        }
        Ok(())
    }

    /// Makes sure that a session's row is here before something of it changes.
    pub(in crate::memory) fn touch(&mut self, conn: &Connection, session: &str) -> Result<(), Error> {
        self.fetch(conn, session)?;
        self.touched.insert(session.to_string());
        let known: bool =
            conn.query_row("SELECT EXISTS(SELECT 1 FROM main.sessions WHERE id = ?1)", [session], |r| r.get(0))?;
        if !known && !self.reads_disk {
            conn.execute("INSERT INTO sessions(id, project_path, model_used) VALUES(?1, '', '')", [session])?;
            conn.execute("INSERT INTO session_meta(session_id) VALUES(?1)", [session])?;
            self.stubs.insert(session.to_string());
        }
        Ok(())
    }

    /// Notes that a session was made here: it is no stub.
    pub(in crate::memory) fn made(&mut self, session: &str) {
        self.fetched.insert(session.to_string());
        self.touched.insert(session.to_string());
    }

    /// Returns the sessions that changed here, in order.
    pub(in crate::memory) fn changed_sessions(&self) -> Vec<String> {
        let mut sessions: Vec<String> = self.touched.iter().cloned().collect();
        sessions.sort_unstable();
        sessions
    }

    /// Writes what changed here into the file, in one transaction. Gives the new ids of what was made here.
    pub(in crate::memory) fn carry_over(
        &self,
        ram: &Connection,
        file: &mut Connection,
    ) -> Result<HashMap<i64, i64>, Error> {
        let mut ids = HashMap::new();
        let tx = file.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for session in &self.touched {
            self.carry_session(ram, &tx, session, &mut ids)?;
        }
        let made = CHANGESETS_FROM;
        carry(ram, &tx, "changesets", "n > ?1", &made, &mut ids)?;
        carry(ram, &tx, "changeset_files", "n > ?1", &made, &mut ids)?;
        carry(ram, &tx, "changesets", "at_ms >= ?1 AND n <= 9007199254740992", &self.since_ms, &mut ids)?;
        carry(ram, &tx, "written", "at_ms >= ?1", &self.since_ms, &mut ids)?;
        carry(ram, &tx, "after_states", "at_ms >= ?1", &self.since_ms, &mut ids)?;
        carry(ram, &tx, "usage_beside", "at_ms >= ?1", &self.since_ms, &mut ids)?;
        tx.commit()?;
        Ok(ids)
    }

    fn carry_session(
        &self,
        ram: &Connection,
        tx: &Transaction<'_>,
        session: &str,
        ids: &mut HashMap<i64, i64>,
    ) -> Result<(), Error> {
        let key = session.to_string();
        if !self.stubs.contains(session) {
            carry(ram, tx, "sessions", "id = ?1", &key, ids)?;
            drop_removed(ram, tx, session)?;
        }
        let of_session = "message_id IN (SELECT id FROM messages WHERE session_id = ?1)";
        carry(ram, tx, "messages", "session_id = ?1", &key, ids)?;
        for table in BESIDE {
            carry(ram, tx, table, of_session, &key, ids)?;
        }
        if !self.stubs.contains(session) {
            carry(ram, tx, "session_meta", "session_id = ?1", &key, ids)?;
        }
        messages::recount(tx, session)
    }
}

fn empty() -> Result<Connection, Error> {
    let mut conn = Connection::open_in_memory()?;
    schema::migrate(&mut conn)?;
    conn.execute("INSERT INTO sqlite_sequence(name, seq) VALUES('messages', ?1)", [MESSAGES_FROM])?;
    conn.execute("INSERT INTO sqlite_sequence(name, seq) VALUES('changesets', ?1)", [CHANGESETS_FROM])?;
    Ok(conn)
}

/// Attaches the file for reading and copies its lists; the messages follow when they are asked for.
fn attach(conn: &Connection, path: &Path) -> Result<(), Error> {
    let mut uri = String::from("file:");
    for b in path.to_string_lossy().bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b':' => uri.push(char::from(b)),
            _ => uri.push_str(&format!("%{b:02X}")),
        }
    }
    uri.push_str("?mode=ro");
    conn.execute("ATTACH ?1 AS disk", [&uri])?;
    let fill = || {
        conn.execute_batch("BEGIN")?;
        for table in ["sessions", "session_meta", "changesets", "changeset_files", "reviews", "usage_beside"] {
            copy_from_disk(conn, table, "true", params![])?;
        }
        Ok(conn.execute_batch("COMMIT")?)
    };
    fill().inspect_err(|_: &Error| {
        let _ = conn.execute_batch("ROLLBACK");
        let _ = conn.execute_batch("DETACH disk");
    })
}

/// Copies rows from the file. It may be one that could not be migrated yet: what it does not have stays empty.
fn copy_from_disk(conn: &Connection, table: &str, which: &str, values: &[&dyn ToSql]) -> Result<(), Error> {
    let sql =
        "SELECT m.name FROM pragma_table_info(?1, 'main') m JOIN pragma_table_info(?1, 'disk') d ON d.name = m.name";
    let mut common = conn.prepare_cached(sql)?;
    let common: Vec<String> = common.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
    if common.is_empty() {
        return Ok(());
    }
    let columns = common.join(", ");
    conn.execute(
        &format!("INSERT OR IGNORE INTO main.{table}({columns}) SELECT {columns} FROM disk.{table} WHERE {which}"),
        values,
    )?;
    Ok(())
}

/// Deletes from the file the messages of a session that were deleted in RAM.
fn drop_removed(ram: &Connection, tx: &Transaction<'_>, session: &str) -> Result<(), Error> {
    let mut here = ram.prepare("SELECT id FROM messages WHERE session_id = ?1")?;
    let here: HashSet<i64> = here.query_map([session], |r| r.get(0))?.collect::<Result<_, _>>()?;
    let mut there = tx.prepare("SELECT id FROM messages WHERE session_id = ?1")?;
    let there: Vec<i64> = there.query_map([session], |r| r.get(0))?.collect::<Result<_, _>>()?;
    for id in there.into_iter().filter(|id| !here.contains(id)) {
        messages::delete(tx, id)?;
    }
    Ok(())
}

/// Copies rows, giving ids made in RAM the ones the file gives, and everything that names them with them.
fn carry(
    ram: &Connection,
    file: &Transaction<'_>,
    table: &str,
    which: &str,
    key: &dyn ToSql,
    ids: &mut HashMap<i64, i64>,
) -> Result<(), Error> {
    let mut select = ram.prepare(&format!("SELECT * FROM main.{table} WHERE {which} ORDER BY 1"))?;
    let names: Vec<String> = select.column_names().map(str::to_string).collect();
    let marks = vec!["?"; names.len()].join(", ");
    let sets: Vec<String> = names.iter().map(|c| format!("{c} = excluded.{c}")).collect();
    let (columns, sets) = (names.join(", "), sets.join(", "));
    let sql = format!("INSERT INTO {table}({columns}) VALUES({marks}) ON CONFLICT DO UPDATE SET {sets}");
    let mut insert = file.prepare(&sql)?;
    let numbered = matches!(table, "messages" | "changesets");
    let mut rows = select.query(params![key])?;
    while let Some(row) = rows.next()? {
        let mut values: Vec<Value> = (0..names.len()).map(|i| row.get(i)).collect::<Result<_, _>>()?;
        let mut made_here = None;
        for (i, (name, value)) in names.iter().zip(&mut values).enumerate() {
            let Value::Integer(n) = *value else { continue };
            if n <= MESSAGES_FROM || !names_an_id(name) {
                continue;
            }
            match ids.get(&n) {
                Some(new) => *value = Value::Integer(*new),
                None if i == 0 && numbered => {
                    made_here = Some(n);
                    *value = Value::Null;
                }
                // It names something that is not carried over.
                None => *value = Value::Null,
            }
        }
        insert.execute(params_from_iter(values))?;
        if let Some(old) = made_here {
            ids.insert(old, file.last_insert_rowid());
        }
    }
    Ok(())
}

fn names_an_id(column: &str) -> bool {
    matches!(column, "id" | "n" | "message_id" | "turn" | "parent_message" | "summary_upto" | "pending")
}
