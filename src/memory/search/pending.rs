//! Indexes messages for the search.

use rusqlite::{Transaction, params};

use super::tokens;
use crate::memory::messages::typed_part;
use crate::memory::{Error, lossy};

/// A conservative bound on what is indexed in one go; a search goes on until nothing is left.
const BATCH: usize = 500;

/// The most messages that wait for the index once a turn has ended; fewer are left until memory has nothing else to do,
/// or for the next search.
const MOST_LEFT: usize = 50;

/// Indexes a batch where too many messages are not indexed yet.
pub(in crate::memory) fn index_many(tx: &Transaction<'_>) -> Result<(), Error> {
    let left: i64 = tx
        .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM message_meta WHERE indexed = 0 LIMIT ?1)")?
        .query_row([MOST_LEFT as i64 + 1], |row| row.get(0))?;
    if left > MOST_LEFT as i64 { index(tx) } else { Ok(()) }
}

/// Indexes messages that are not yet, a batch at most.
pub(in crate::memory) fn index(tx: &Transaction<'_>) -> Result<(), Error> {
    let mut waiting = tx.prepare_cached(
        "SELECT x.message_id, m.role, m.content, x.typed FROM message_meta x JOIN messages m ON m.id = x.message_id
         WHERE x.indexed = 0 AND x.state <> 'streaming' LIMIT ?1",
    )?;
    let rows: Vec<(i64, String, Option<String>, Option<i64>)> = waiting
        .query_map([BATCH as i64], |row| {
            Ok((row.get(0)?, lossy(row, 1)?.unwrap_or_default(), lossy(row, 2)?, row.get(3).unwrap_or_default()))
        })?
        .collect::<Result<_, _>>()?;
    for (id, role, content, typed) in rows {
        let content = content.unwrap_or_default();
        let text = if role == "tool" { "" } else { typed_part(&content, typed) };
        if !text.is_empty() {
            tx.prepare_cached("INSERT INTO message_words(rowid, body) VALUES(?1, ?2)")?
                .execute(params![id, tokens::indexed(text)])?;
            tx.prepare_cached("INSERT INTO message_grams(rowid, body) VALUES(?1, ?2)")?.execute(params![id, text])?;
        }
        tx.prepare_cached("UPDATE message_meta SET indexed = 1 WHERE message_id = ?1")?.execute([id])?;
    }
    Ok(())
}
