//! Stores the results of checks by definition, as long as none of its dependencies changed.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};

use super::schema::{configure, open_database, path, put_row};
use super::{pack, source, sum, trust};
use crate::strand::check::{Checks, LocatedFault};
use crate::strand::id::DefId;
use crate::strand::lazy::{IdMap, IdSet};
use crate::strand::state::State;

/// Returns the capabilities as they were granted, in one text.
fn words(granted: &BTreeSet<String>) -> String {
    granted.iter().map(String::as_str).collect::<Vec<_>>().join(",")
}

/// Returns what was found of a store whose last commit has a sum, with these capabilities. Empty if anything is wrong
/// with it: then everything is checked again.
pub fn read(root: &Path, at: &str, granted: &BTreeSet<String>) -> IdMap<Vec<LocatedFault>> {
    let read = || -> rusqlite::Result<Option<IdMap<Vec<LocatedFault>>>> {
        let db = open_database(&path(root), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        db.busy_timeout(Duration::from_secs(5))?;
        db.execute_batch("BEGIN")?;
        let stands = source::stands_at(&db)?.is_some_and(|stands| stands.sum == at);
        if !stands || !is_granted(&db, granted)? {
            return Ok(None);
        }
        let mut statement = db.prepare("SELECT * FROM diags")?;
        let mut rows = statement.query([])?;
        let mut by_definition = IdMap::default();
        while let Some(row) = rows.next()? {
            sum::holds(row)?;
            let (Some(def), json) = (pack::one(row.get_ref(0)?.as_blob()?), row.get_ref(1)?.as_str()?) else {
                return Ok(None);
            };
            let found = if json.is_empty() { Ok(Vec::new()) } else { serde_json::from_str(json) };
            let Ok(found) = found else { return Ok(None) };
            by_definition.insert(def, found);
        }
        Ok(Some(by_definition))
    };
    if !trust::is_stamped(root) {
        return IdMap::default();
    }
    read().ok().flatten().unwrap_or_default()
}

fn is_granted(db: &Connection, granted: &BTreeSet<String>) -> rusqlite::Result<bool> {
    let there: Option<String> = db.query_row("SELECT granted FROM checked", [], |row| row.get(0)).optional()?;
    Ok(there == Some(words(granted)))
}

/// Stores diagnostics, if the checkpoint is still at the commit of that sum. A failure costs the next process a check.
pub fn keep<'f>(
    root: &Path,
    at: &str,
    granted: &BTreeSet<String>,
    found: impl Iterator<Item = (DefId, &'f [LocatedFault])>,
) {
    let trusted = trust::is_stamped(root);
    let write = || -> rusqlite::Result<()> {
        let mut db = open_database(&path(root), OpenFlags::default())?;
        configure(&db)?;
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if source::stands_at(&tx)?.is_none_or(|stands| stands.sum != at) {
            return Ok(());
        }
        if !is_granted(&tx, granted)? {
            tx.execute_batch("DELETE FROM diags; DELETE FROM checked;")?;
            tx.execute("INSERT INTO checked VALUES (?1)", [words(granted)])?;
        }
        let mut insert = tx.prepare("INSERT OR REPLACE INTO diags VALUES (?1, ?2, ?3)")?;
        for (def, found) in found {
            let json = if found.is_empty() { Ok(String::new()) } else { serde_json::to_string(found) };
            let Ok(json) = json else { continue };
            put_row(&mut insert, &[ValueRef::Blob(&def.to_bytes()), ValueRef::from(json.as_str())])?;
        }
        drop(insert);
        tx.commit()
    };
    if write().is_ok() && trusted {
        trust::stamp(root);
    }
}

/// Forgets what was found of definitions that changed, and of those that it may be another for now.
pub fn forget(tx: &Transaction, state: &State, touched: &IdSet) -> rusqlite::Result<()> {
    let any: bool = tx.query_row("SELECT EXISTS (SELECT 1 FROM diags)", [], |row| row.get(0))?;
    if !any {
        return Ok(());
    }
    let mut delete = tx.prepare("DELETE FROM diags WHERE def = ?1")?;
    for id in Checks::affected(state, touched) {
        delete.execute(params![id.to_bytes()])?;
    }
    Ok(())
}
