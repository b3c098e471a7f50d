//! The checkpoint: the visible definitions in SQLite, so that reading one needs no replay.
//!
//! It can be deleted at any time. It counts only while it stands exactly where the log ends.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params};
use serde_json::Value;

use crate::strand::id::{DefId, Layer};
use crate::strand::state::{State, Status};

/// Another shape of the tables means another number, and a rebuild.
const SCHEMA: i64 = 1;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS defs (
        def_id TEXT PRIMARY KEY, layer INTEGER NOT NULL, label TEXT NOT NULL, name TEXT NOT NULL,
        state TEXT NOT NULL, hash TEXT NOT NULL, text TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS defs_by_label ON defs (layer, label) WHERE state = 'visible';
";

/// A definition as the checkpoint has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its layer.
    pub layer: Layer,
    /// Its label.
    pub label: String,
    /// `h:` and its hash.
    pub hash: String,
    /// Its canonical text.
    pub text: String,
}

fn path(root: &Path) -> PathBuf {
    root.join(".strand/store.crdt")
}

/// Where the log ends, by its length and the sum of its last commit line.
fn log_end(root: &Path) -> Option<(i64, String)> {
    let mut file = File::open(root.join(".strand/op-log.jsonl")).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(400))).ok()?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).ok()?;
    let last = tail.strip_suffix(b"\n")?.rsplit(|byte| *byte == b'\n').next()?;
    let commit: Value = serde_json::from_slice(last).ok()?;
    let sum = commit.get("sum").and_then(Value::as_str)?.to_owned();
    Some((i64::try_from(length).ok()?, sum))
}

fn stands_at(db: &Connection) -> Option<(i64, String)> {
    let get = |key: &str| {
        db.prepare_cached("SELECT value FROM meta WHERE key = ?1").ok().map(|found| (found, key.to_owned()))
    };
    let text = |key: &str| {
        get(key).and_then(|(mut found, key)| found.query_row([key], |row| row.get::<_, String>(0)).optional().ok()?)
    };
    if text("schema")? != SCHEMA.to_string() {
        return None;
    }
    Some((text("log_offset")?.parse().ok()?, text("log_sum")?))
}

/// The visible definitions of a store, straight from its checkpoint; `None` if there is none that
/// stands where the log ends. `exact` asks for one name only.
pub fn read(root: &Path, layer: Option<Layer>, exact: Option<&str>) -> Option<Vec<Row>> {
    let db = Connection::open_with_flags(path(root), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    if stands_at(&db)? != log_end(root)? {
        return None;
    }
    let sql = "SELECT layer, label, hash, text FROM defs
        WHERE state = 'visible' AND (?1 IS NULL OR layer = ?1) AND (?2 IS NULL OR label = ?2) ORDER BY layer, label";
    let sql = if exact.is_some() {
        sql.replace("(?1 IS NULL OR layer = ?1) AND (?2 IS NULL OR label = ?2)", "layer = ?1 AND label = ?2")
    } else {
        sql.to_owned()
    };
    let mut statement = db.prepare(&sql).ok()?;
    let number = layer.map(|layer| layer as i64);
    let rows = statement.query_map(params![number, exact], |row| {
        let layer: i64 = row.get(0)?;
        Ok((layer, row.get(1)?, row.get(2)?, row.get(3)?))
    });
    let rows = rows.ok()?.collect::<Result<Vec<(i64, String, String, String)>, _>>().ok()?;
    rows.into_iter()
        .map(|(layer, label, hash, text)| {
            Some(Row { layer: *Layer::ALL.get(usize::try_from(layer).ok()?)?, label, hash, text })
        })
        .collect()
}

/// Brings the checkpoint to where the log ends. `from` is where it stood when `touched` began to be
/// collected; if it stands elsewhere it is made anew. Says what went wrong, if something did: the
/// log is the truth, so nothing is lost by it.
pub fn write(root: &Path, state: &State, touched: &HashSet<DefId>, from: u64, end: u64) -> Result<(), String> {
    let attempt = || -> rusqlite::Result<()> {
        let mut db = Connection::open(path(root))?;
        db.busy_timeout(std::time::Duration::from_secs(5))?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "NORMAL")?;
        db.execute_batch(TABLES)?;
        // Another process may have come further meanwhile: whoever is behind leaves it be.
        let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let Some((length, sum)) = log_end(root) else { return Ok(()) };
        if u64::try_from(length) != Ok(end) {
            return Ok(());
        }
        let stood = stands_at(&tx);
        let continues = stood.is_some_and(|(offset, _)| u64::try_from(offset) == Ok(from));
        if continues {
            put(&tx, state, touched.iter().copied())?;
        } else {
            tx.execute("DELETE FROM defs", [])?;
            let all: BTreeSet<DefId> = state.views().map(|view| view.id).collect();
            put(&tx, state, all)?;
        }
        for (key, value) in [("schema", SCHEMA.to_string()), ("log_offset", length.to_string()), ("log_sum", sum)] {
            tx.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", params![key, value])?;
        }
        tx.commit()
    };
    let first = attempt();
    if first.is_ok() {
        return Ok(());
    }
    // A damaged checkpoint is made anew.
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path(root).into_os_string();
        name.push(suffix);
        // It may not be there; if it cannot be removed the second attempt tells.
        let _ = std::fs::remove_file(name);
    }
    attempt().map_err(|error| format!("the checkpoint could not be written: {error}"))
}

fn put(tx: &Transaction, state: &State, ids: impl IntoIterator<Item = DefId>) -> rusqlite::Result<()> {
    let mut delete = tx.prepare_cached("DELETE FROM defs WHERE def_id = ?1")?;
    let mut insert = tx.prepare_cached("INSERT OR REPLACE INTO defs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for id in ids {
        let Some(view) = state.view(id) else {
            delete.execute([id.to_string()])?;
            continue;
        };
        let status = match view.status {
            Status::Visible => "visible",
            Status::Absorbed(_) => "absorbed",
            Status::Dead => "dead",
        };
        let hash = view.hash.to_string();
        insert.execute(params![id.to_string(), view.layer as i64, view.label, view.name, status, hash, view.text])?;
    }
    Ok(())
}
