//! The tables of a checkpoint.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Statement, params_from_iter};

use super::sum;
use crate::strand::store::disk;

/// Opens a checkpoint's database, which must be a regular file where it is there, and in which nothing but tables
/// counts: a store may come with a clone.
pub fn open_database(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    disk::check_database(path).map_err(|error| {
        let code = rusqlite::ffi::Error { code: rusqlite::ErrorCode::CannotOpen, extended_code: 0 };
        rusqlite::Error::SqliteFailure(code, Some(error.to_string()))
    })?;
    let db = Connection::open_with_flags(path, flags)?;
    // A view in the place of a table could go on for ever, a trigger could change what is written.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(db)
}

/// Another shape of the tables means another number, and a rebuild.
pub const SCHEMA: i64 = 7;

/// States of a definition. Those up to 2 are live; one without a row of its own has the last.
pub const VISIBLE: i64 = 1;
pub const ABSORBED: i64 = 2;
pub const DEAD: i64 = 3;
pub const VOID: i64 = 4;

/// Kinds of edges, from the definition that has them to what they are about.
pub mod kind {
    /// With places where a live definition refers, and not only meets the other on the way.
    pub const WATCHES: u8 = 1;
    pub const LINKS: u8 = 2;
    pub const LATE: u8 = 3;
    /// A name given by an op that may not be the name of now.
    pub const HELD: u8 = 4;
}

/// Each row of ops, definitions and edges ends with a sum over the others of its columns.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS ops (
        op BLOB PRIMARY KEY, at INTEGER NOT NULL, length INTEGER NOT NULL, line INTEGER NOT NULL,
        max_ts INTEGER NOT NULL, anchored INTEGER NOT NULL, void TEXT, sum INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS defs (
        def BLOB PRIMARY KEY, layer INTEGER NOT NULL, label TEXT, name TEXT, state INTEGER NOT NULL, claim BLOB,
        by_add INTEGER, epoch BLOB, absorber BLOB, settled BLOB, hash BLOB, text TEXT, deps BLOB, watch BLOB,
        ops BLOB NOT NULL, heads BLOB NOT NULL, forked INTEGER NOT NULL, hidden INTEGER, roles BLOB,
        alone INTEGER, sum INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS void_ops ON ops (op) WHERE void IS NOT NULL;
    CREATE INDEX IF NOT EXISTS defs_by_name ON defs (layer, name) WHERE name IS NOT NULL;
    CREATE INDEX IF NOT EXISTS defs_by_label ON defs (layer, label) WHERE label <> name;
    CREATE TABLE IF NOT EXISTS edges (
        kind INTEGER NOT NULL, key BLOB NOT NULL, src BLOB NOT NULL, places BLOB, sum INTEGER NOT NULL,
        PRIMARY KEY (kind, key, src)
    ) WITHOUT ROWID;
";

/// The columns of a definition, with what is read of each.
pub mod column {
    pub const DEF: usize = 0;
    pub const LAYER: usize = 1;
    pub const LABEL: usize = 2;
    pub const NAME: usize = 3;
    pub const STATE: usize = 4;
    pub const CLAIM: usize = 5;
    pub const BY_ADD: usize = 6;
    pub const EPOCH: usize = 7;
    pub const ABSORBER: usize = 8;
    pub const SETTLED: usize = 9;
    pub const HASH: usize = 10;
    pub const TEXT: usize = 11;
    pub const DEPS: usize = 12;
    pub const WATCH: usize = 13;
    pub const OPS: usize = 14;
    pub const HEADS: usize = 15;
    pub const FORKED: usize = 16;
    pub const HIDDEN: usize = 17;
    /// The links, the role of each op, and the places of those that make the body, where the ops are a line.
    pub const ROLES: usize = 18;
    pub const ALONE: usize = 19;
}

/// One row for each checked definition; an empty text where it has no fault.
const DIAGNOSTICS: &str = "
    CREATE TABLE IF NOT EXISTS diags (def BLOB PRIMARY KEY, json TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS checked (granted TEXT PRIMARY KEY) WITHOUT ROWID;
";

/// Returns the file of a store's checkpoint.
pub fn path(root: &Path) -> PathBuf {
    root.join(".strand/store.crdt")
}

/// Sets the most memory for pages of a database, in KiB. It is used as far as pages are read.
pub fn set_cache(db: &Connection, kibibytes: i64) -> rusqlite::Result<()> {
    db.pragma_update(None, "cache_size", -kibibytes)
}

/// Settles how a checkpoint is written.
pub fn configure(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(std::time::Duration::from_secs(5))?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    // Folding the write-ahead log back costs flushes, reading a long one costs every reader: see `fold`.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(())
}

/// Makes the tables that are not there yet.
pub fn make_tables(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(TABLES).and_then(|()| db.execute_batch(DIAGNOSTICS))
}

/// Writes a row with its sum at the end.
pub fn put_row(insert: &mut Statement, row: &[ValueRef]) -> rusqlite::Result<()> {
    let sum = ValueRef::Integer(sum::of_row(row.iter().copied()));
    insert.execute(params_from_iter(row.iter().copied().chain([sum]).map(ToSqlOutput::Borrowed))).map(|_| ())
}
