//! Deletes a message with its rows in the other tables.

use rusqlite::{OptionalExtension, Transaction};

use crate::memory::Error;

/// The tables that hold more of a message, by its id.
pub(in crate::memory) const BESIDE: [&str; 3] = ["message_meta", "message_blobs", "message_parts"];

/// Counts the messages of a session anew.
pub(in crate::memory) fn recount(tx: &Transaction<'_>, session: &str) -> Result<(), Error> {
    tx.execute(
        "UPDATE session_meta SET messages =
           (SELECT count(*) FROM messages WHERE session_id = ?1 AND role <> 'tool') WHERE session_id = ?1",
        [session],
    )?;
    Ok(())
}

/// Deletes one message and all that belongs to it.
pub(in crate::memory) fn delete(tx: &Transaction<'_>, id: i64) -> Result<(), Error> {
    unindex(tx, id)?;
    for table in BESIDE {
        tx.prepare_cached(&format!("DELETE FROM {table} WHERE message_id = ?1"))?.execute([id])?;
    }
    tx.prepare_cached("DELETE FROM messages WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// Takes a message out of the search index.
pub(super) fn unindex(tx: &Transaction<'_>, id: i64) -> Result<(), Error> {
    let indexed: Option<bool> = tx
        .prepare_cached("SELECT indexed FROM message_meta WHERE message_id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    if indexed == Some(true) {
        tx.prepare_cached("DELETE FROM message_words WHERE rowid = ?1")?.execute([id])?;
        tx.prepare_cached("DELETE FROM message_grams WHERE rowid = ?1")?.execute([id])?;
    }
    Ok(())
}
