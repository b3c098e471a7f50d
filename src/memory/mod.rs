//! Memory: sessions, their messages, who caused which changeset, and what nebula last wrote to each path. The only
//! place, beside Strand, that names SQL.
//!
//! [`Memory`] is one SQLite connection behind a std mutex. Its methods block: on the disk and, at most
//! [`Options::wait`], on another writer. The command line calls them; the agent has them called on a thread of their
//! own, through a [`MemoryHandle`]. Records are this module's own: whoever uses them converts.
//!
//! - Every method that changes something commits before it returns: with `synchronous=NORMAL` (safe against the
//!   process being killed), and with `FULL` (safe against power loss) in [`Memory::write_intent`] and [`Memory::end_turn`].
//! - When the file cannot be written (locked for longer than the wait, read-only, full, damaged), memory goes on in
//!   RAM and says so ([`Memory::banner`]); [`Memory::reconnect`] carries what was kept there back into the file.
//! - Ids of sessions are UUIDv7; ids of messages ascend within a session. Times are unix milliseconds.
//!
//! Not its duty: to know what a message means, to read a workspace, to draw.

mod changesets;
mod document;
mod error;
mod files;
mod handle;
mod messages;
mod moved;
mod notice;
mod options;
mod projects;
pub mod rag;
mod reviews;
mod search;
mod sessions;
mod stats;
mod store;
mod usage;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use changesets::{
    ChangesetCause, ChangesetListing, ChangesetRecord, ChangesetState, LeftState, ListedFile, MAX_KEPT, PendingId,
    Sha256, StatesAround, StoredFile, WriteIntent, Written,
};
pub use error::{Error, Trouble};
pub use handle::MemoryHandle;
pub use messages::{
    MessageDamage, MessageMeta, MessageOrigin, MessagePart, MessageState, NUDGE_MARK, NewMessage, StoredBlob,
    StoredMessage, StoredRole,
};
pub use moved::former_path;
pub use notice::{DatabaseNotice, Listener};
pub use options::Options;
pub use projects::StoredArchiveSize;
pub use reviews::ReviewDecision;
pub use search::SearchHit;
pub use sessions::{ConversationSummary, NewSession, Session, SessionUse, Totals};
pub use stats::StatsRow;
pub use usage::{UsageBeside, UsageBy, UsageRow, UsageWords, usage_tables};

use store::Store;

use crate::text::time::now as now_ms;

/// The time the end of the program waits for another writer.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// The memory of all sessions.
pub struct Memory {
    options: Options,
    store: Mutex<Store>,
    /// The reason why memory lives in RAM; beside the store, so that reading it waits for no write.
    banner: Arc<Mutex<Option<Trouble>>>,
}

impl Memory {
    /// Opens the database, making or migrating it as needed. Never fails: where the file cannot be used, memory lives
    /// in RAM, and a notice says why. A damaged file is moved aside under a name that the notice gives.
    pub fn open(options: Options) -> (Memory, Vec<DatabaseNotice>) {
        Self::opened(options, None)
    }

    /// Opens memory with a listener to notify meanwhile: a locked database is waited for here.
    pub fn open_telling(options: Options, listener: Listener) -> (Memory, Vec<DatabaseNotice>) {
        Self::opened(options, Some(listener))
    }

    fn opened(options: Options, listener: Option<Listener>) -> (Memory, Vec<DatabaseNotice>) {
        let (store, notices) = Store::open(&options, listener);
        let banner = Arc::clone(&store.banner);
        (Memory { options, store: Mutex::new(store), banner }, notices)
    }

    /// Sets the listener that is told of waiting for a locked database, and of going on in RAM.
    pub fn listen(&self, listener: Listener) {
        self.store().listener = Some(listener);
    }

    /// Returns why memory lives in RAM at present; `None` while the file is written.
    pub fn banner(&self) -> Option<Trouble> {
        *self.banner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that what is stored can be read: from the file, or from a copy of it.
    ///
    /// # Errors
    /// Why not, with the path and what to do.
    pub fn readable(&self) -> Result<(), Error> {
        self.store().readable()
    }

    /// Checks that what is stored now is permanent.
    ///
    /// # Errors
    /// Why not, with the path and what to do.
    pub fn writable(&self) -> Result<(), Error> {
        self.store().writable()
    }

    /// Handles an error of a read or write: where it says that the file is damaged, the next start reads all of it, and
    /// moves it aside if that is so.
    pub fn suspect(&self, error: &Error) {
        if error.trouble() == Some(Trouble::Corrupt) {
            self.suspect_damage();
        }
    }

    fn suspect_damage(&self) {
        store::suspect(&self.options.path);
    }

    /// Tries the file again and carries over what was stored in RAM. Ids given out meanwhile stay valid.
    pub fn reconnect(&self) -> Result<Vec<DatabaseNotice>, Error> {
        self.store().reconnect(&self.options)
    }

    /// Tries the file again without waiting for it; notifies the listener when that worked.
    fn retry_now(&self) {
        let mut store = self.store();
        let tried = store.reconnect(&Options { wait: Duration::ZERO, ..self.options.clone() });
        if let (Ok(notices), Some(listener)) = (tried, &store.listener) {
            notices.into_iter().chain([DatabaseNotice::Back]).for_each(listener);
        }
    }

    /// Returns what was read. Where that failed, the listener is notified of why, and the caller goes on with nothing.
    pub fn or_report<T: Default>(&self, read: Result<T, Error>) -> T {
        read.unwrap_or_else(|error| {
            self.report(&error);
            T::default()
        })
    }

    /// Notifies the listener of an error that stops nothing.
    pub fn report(&self, error: &Error) {
        self.suspect(error);
        if let Some(listener) = &self.store().listener {
            listener(DatabaseNotice::Failed { error: error.to_string() });
        }
    }

    /// Returns the sessions that changed in RAM and are not in the file.
    pub fn unsaved_sessions(&self) -> Vec<String> {
        self.store().fallback.as_ref().map(store::InMemoryFallback::changed_sessions).unwrap_or_default()
    }

    /// Tries once more before the program ends, without keeping anyone waiting for long.
    pub fn reconnect_now(&self) -> Result<Vec<DatabaseNotice>, Error> {
        self.store().reconnect(&Options { wait: LAST_WAIT, ..self.options.clone() })
    }

    /// Returns the lock on the store. A panic elsewhere while it was held left no transaction open: it was rolled back.
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a count as SQLite keeps it.
fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Returns a text for a person to read; none for NULL. Bytes that are no UTF-8 show as U+FFFD, so that a damaged row
/// hides no other.
fn lossy(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    use rusqlite::types::ValueRef;
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(n) => Some(n.to_string()),
    })
}

/// Returns a count as SQLite kept it.
fn count(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}
