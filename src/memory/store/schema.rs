//! The schema and its migrations, counted by `PRAGMA user_version`.

use rusqlite::{Connection, TransactionBehavior};

use crate::memory::Error;

/// The migrations in their order; the n-th leads from version n-1 to n.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/001.sql"),
    include_str!("migrations/002.sql"),
    include_str!("migrations/003.sql"),
    include_str!("migrations/004.sql"),
    include_str!("migrations/005.sql"),
    include_str!("migrations/006.sql"),
    include_str!("migrations/007.sql"),
    include_str!("migrations/008.sql"),
    include_str!("migrations/009.sql"),
    include_str!("migrations/010.sql"),
    include_str!("migrations/011.sql"),
    include_str!("migrations/012.sql"),
    include_str!("migrations/013.sql"),
    include_str!("migrations/014.sql"),
];

/// The version of the schema of this program.
pub(in crate::memory) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Brings a database to [`VERSION`], all in one transaction. One made by a newer nebula is left as it is: an error.
pub(in crate::memory) fn migrate(conn: &mut Connection) -> Result<(), Error> {
    if version(conn)? == VERSION {
        return Ok(());
    }
    // Read again under the write lock: another process may have been quicker.
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let from = version(&tx)?;
    if from > VERSION {
        return Err(Error::Newer { found: from, known: VERSION });
    }
    for (n, sql) in MIGRATIONS.iter().enumerate() {
        if n as i64 >= from {
            tx.execute_batch(sql)?;
        }
    }
    tx.pragma_update(None, "user_version", VERSION)?;
    tx.commit()?;
    Ok(())
}

fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}
