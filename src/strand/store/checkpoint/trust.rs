//! Decides whether a checkpoint can be used without reading all of it: its file and its log are unchanged since it was
//! written.
//!
//! SQLite keeps the pages of its file without sums, so a flipped bit in one may hide a row. The write-ahead log has
//! sums of its own, and each row has one; for the rest, a file beside the checkpoint says how long it was and when it
//! was written last. Where that does not fit, everything is looked through once.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rusqlite::Connection;

use super::schema::path;
use super::sum;
use crate::strand::store::{Log, disk};

/// Returns the length of a file, and when it was written last.
fn written(path: &Path) -> Option<(u64, i64)> {
    let meta = std::fs::metadata(path).ok()?;
    let time = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((meta.len(), i64::try_from(time.as_nanos()).ok()?))
}

/// Returns the length of a log, and when it was written last.
pub fn log_stamp(log: &Log) -> Option<(u64, i64)> {
    written(log.path())
}

fn stamp_path(root: &Path) -> PathBuf {
    let mut name = path(root).into_os_string();
    name.push("-stamp");
    PathBuf::from(name)
}

/// Returns whether the checkpoint's file is as it was when it was stamped.
pub fn is_stamped(root: &Path) -> bool {
    let said = disk::read_text(&stamp_path(root)).ok();
    let is = written(&path(root)).map(|(length, time)| format!("{length} {time}\n"));
    said.is_some() && said == is
}

/// Records how the checkpoint's file is now. Without the note, the next to open it looks through all of it.
pub fn stamp(root: &Path) {
    if is_stamped(root) {
        return;
    }
    let Some((length, time)) = written(&path(root)) else { return };
    // A note that is lost costs the next a look.
    let _ = disk::replace_unflushed(&stamp_path(root), format!("{length} {time}\n").as_bytes());
}

/// Looks through a whole checkpoint. Says what is wrong with it, if something is.
pub fn look_through(db: &Connection) -> Result<(), String> {
    let describe = |error: rusqlite::Error| error.to_string();
    let verdict: String = db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(describe)?;
    if verdict != "ok" {
        return Err(verdict);
    }
    for table in ["ops", "defs", "edges", "diags"] {
        let mut statement = db.prepare(&format!("SELECT * FROM {table}")).map_err(describe)?;
        let mut rows = statement.query([]).map_err(describe)?;
        while let Some(row) = rows.next().map_err(describe)? {
            sum::holds(row).map_err(describe)?;
        }
    }
    Ok(())
}
