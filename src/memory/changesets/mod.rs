//! The causes of the archive's changesets. The archive itself stands alone and never learns them.
//!
//! An intent is recorded ([`Memory::write_intent`]) before the archive and the disk are touched; its changeset's id and
//! outcome join it after ([`Memory::applied`], [`Memory::failed`], [`Memory::withdrawn`]).

mod listing;
mod written;

use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::store::Safety;
use super::{Error, Memory, count, int, now_ms};

pub use listing::{ChangesetListing, LeftState, ListedFile, StatesAround};
pub use written::{MAX_KEPT, Sha256, WriteIntent, Written};

/// Names the intent of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PendingId(i64);

/// The cause of a changeset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangesetCause {
    /// The session; `None`: the command line.
    pub session: Option<String>,
    /// The message that caused it.
    pub message: Option<i64>,
    /// The user message that began the turn.
    pub turn: Option<i64>,
    /// The tool call's id.
    pub tool_call: Option<String>,
    /// Its kind: `edit`, `undo`, `redo`, `patch`, `shi`, `hook`, `mcp`, `strand`.
    pub kind: String,
    /// The title: the words of the prompt, or `undo of …`.
    pub title: String,
    /// The one who approved it, in words; `None`: nothing was changed, or it is not known.
    pub approved: Option<String>,
    /// The way it was joined with what someone else had changed, in a word; `None`: nobody had.
    pub merged: Option<String>,
}

impl ChangesetCause {
    /// Creates the cause of what a session does at the person's word, not at the model's.
    pub fn of_session(session: Option<String>, kind: &str, title: &str) -> Self {
        Self { session, kind: kind.into(), title: title.into(), ..Self::default() }
    }
}

/// The state of a changeset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesetState {
    /// It is intended; its process died before recording the outcome, or is still writing.
    Pending,
    /// Archived and written.
    Applied,
    /// Archived; writing failed and was put back.
    Failed,
}

impl ChangesetState {
    fn word(self) -> &'static str {
        match self {
            ChangesetState::Pending => "pending",
            ChangesetState::Applied => "applied",
            ChangesetState::Failed => "failed",
        }
    }

    fn of(word: &str) -> Self {
        match word {
            "applied" => ChangesetState::Applied,
            "failed" => ChangesetState::Failed,
            _ => ChangesetState::Pending,
        }
    }
}

/// A file of a changeset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredFile {
    /// Normalised path.
    pub path: String,
    /// The archive's id of the state before; `None` while unknown.
    pub version: Option<String>,
    /// True if there was no file before.
    pub absent: bool,
    /// The SHA-256 of the state before, where it was taken.
    pub sha256: Option<Sha256>,
    /// Lines the change added, where they were counted.
    pub added: Option<u64>,
    /// Lines it removed.
    pub removed: Option<u64>,
}

/// A changeset as memory knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesetRecord {
    /// Names it towards [`Memory::applied`] and its like.
    pub pending: PendingId,
    /// The archive's id; `None` for one that never got so far, or whose process died before saying.
    pub id: Option<String>,
    /// Its cause.
    pub cause: ChangesetCause,
    /// Its state.
    pub state: ChangesetState,
    /// The time when the intent was recorded.
    pub at: i64,
    /// Lines added, if all files were counted.
    pub added: Option<u64>,
    /// Lines removed.
    pub removed: Option<u64>,
    /// Its files by path.
    pub files: Vec<StoredFile>,
}

impl ChangesetRecord {
    /// Returns its row.
    pub(in crate::memory) fn number(&self) -> i64 {
        self.pending.0
    }
}

pub(in crate::memory) const COLUMNS: &str =
    "n, id, session_id, message_id, turn, tool_call, kind, title, state, at_ms, added, removed, approved, merged";

impl Memory {
    /// Records the intent of a write; it is safe against power loss when this returns. From here on the new states count as nebula's, as
    /// do those before until the outcome is recorded.
    pub fn write_intent(
        &self,
        project: &str,
        cause: &ChangesetCause,
        files: &[WriteIntent],
    ) -> Result<PendingId, Error> {
        let mut store = self.store();
        let (message, turn) =
            (cause.message.and_then(|m| store.stored_id(m)), cause.turn.and_then(|t| store.stored_id(t)));
        let now = now_ms();
        let sum = |f: fn(&WriteIntent) -> Option<u64>| files.iter().map(f).sum::<Option<u64>>().map(int);
        let (added, removed) = (sum(|f| f.added), sum(|f| f.removed));
        store.write(Safety::Full, cause.session.as_deref(), |tx| {
            tx.prepare_cached(
                "INSERT INTO changesets(project_path, session_id, message_id, turn, tool_call, kind, title, state,
                   at_ms, added, removed, approved, merged)
                 VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, 'pending', ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute(params![
                project,
                cause.session,
                message,
                turn,
                cause.tool_call,
                cause.kind,
                cause.title,
                now,
                added,
                removed,
                cause.approved,
                cause.merged
            ])?;
            let n = tx.last_insert_rowid();
            for file in files {
                let after: &[u8] = file.sha256.as_ref().map_or(&[], |sha256| &sha256[..]);
                tx.prepare_cached(
                    "INSERT INTO changeset_files(n, path, added, removed, after_sha256) VALUES(?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![n, file.path, file.added.map(int), file.removed.map(int), after])?;
                written::begin(tx, project, file, n, now)?;
            }
            Ok(PendingId(n))
        })
    }

    /// Records that the change was archived as `id` and written. `files` are the archive's versions; the counts of the
    /// intent stay.
    pub fn applied(&self, pending: PendingId, id: &str, files: &[StoredFile]) -> Result<(), Error> {
        self.finish_pending(pending, |tx, n| {
            finish(tx, n, Some(id), ChangesetState::Applied, files)?;
            tx.prepare_cached(
                "UPDATE session_meta SET added = added + coalesce((SELECT added FROM changesets WHERE n = ?1), 0),
                   removed = removed + coalesce((SELECT removed FROM changesets WHERE n = ?1), 0)
                 WHERE session_id = (SELECT session_id FROM changesets WHERE n = ?1)",
            )?
            .execute([n])?;
            written::confirm(tx, n)
        })
    }

    /// Records that the change was written and, as the configuration wants, not archived.
    pub fn applied_unarchived(&self, pending: PendingId) -> Result<(), Error> {
        self.finish_pending(pending, |tx, n| {
            written::confirm(tx, n)?;
            tx.execute("DELETE FROM changeset_files WHERE n = ?1", [n])?;
            tx.execute("DELETE FROM changesets WHERE n = ?1", [n])?;
            Ok(())
        })
    }

    /// Records that writing failed after the change was archived as `id` (if it came so far), and what had been written
    /// was put back.
    pub fn failed(&self, pending: PendingId, id: Option<&str>, files: &[StoredFile]) -> Result<(), Error> {
        self.finish_pending(pending, |tx, n| {
            finish(tx, n, id, ChangesetState::Failed, files)?;
            written::revert(tx, n)
        })
    }

    /// Records that nothing was archived or written because a file was not as it had been read. Forgets the
    /// intent.
    pub fn withdrawn(&self, pending: PendingId) -> Result<(), Error> {
        self.finish_pending(pending, |tx, n| {
            written::revert(tx, n)?;
            tx.execute("DELETE FROM changeset_files WHERE n = ?1", [n])?;
            tx.execute("DELETE FROM changesets WHERE n = ?1", [n])?;
            Ok(())
        })
    }

    /// Records a changeset that was made without an intent, as `shi` does: nothing was written.
    pub fn archived(&self, project: &str, cause: &ChangesetCause, id: &str, files: &[StoredFile]) -> Result<(), Error> {
        let mut store = self.store();
        let (message, turn) =
            (cause.message.and_then(|m| store.stored_id(m)), cause.turn.and_then(|t| store.stored_id(t)));
        let now = now_ms();
        store.write(Safety::Normal, cause.session.as_deref(), |tx| {
            tx.execute(
                "INSERT INTO changesets(project_path, session_id, message_id, turn, tool_call, kind, title, state,
                   at_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, 'pending', ?8)",
                params![project, cause.session, message, turn, cause.tool_call, cause.kind, cause.title, now],
            )?;
            finish(tx, tx.last_insert_rowid(), Some(id), ChangesetState::Applied, files)
        })
    }

    /// Adds what another program left of a file (`None`: nothing) which a hook had archived as `version` before, with the
    /// lines that it changed.
    pub fn changed_by_another(
        &self,
        project: &str,
        (path, version): (&str, &str),
        left: Option<Sha256>,
        (added, removed): (u64, u64),
    ) -> Result<(), Error> {
        let left: &[u8] = left.as_ref().map_or(&[], |sha256| &sha256[..]);
        self.store().write(Safety::Normal, None, |tx| {
            tx.execute(
                "UPDATE changeset_files SET added = ?4, removed = ?5, after_sha256 = ?6
                 WHERE path = ?2 AND version = ?3 AND n IN
                   (SELECT n FROM changesets WHERE project_path = ?1 AND kind = 'hook')",
                params![project, path, version, int(added), int(removed), left],
            )?;
            Ok(())
        })
    }

    /// Completes the cause of a changeset that another process recorded for a command of this one: what it did not know.
    pub fn complete_cause(&self, project: &str, id: &str, cause: &ChangesetCause) -> Result<(), Error> {
        let mut store = self.store();
        let (message, turn) =
            (cause.message.and_then(|m| store.stored_id(m)), cause.turn.and_then(|t| store.stored_id(t)));
        let Some(session) = &cause.session else { return Ok(()) };
        store.write(Safety::Normal, Some(session), |tx| {
            tx.execute(
                "UPDATE changesets SET message_id = coalesce(message_id, ?4), turn = coalesce(turn, ?5),
                   tool_call = coalesce(tool_call, ?6), approved = coalesce(approved, ?7)
                 WHERE project_path = ?1 AND id = ?2 AND session_id = ?3",
                params![project, id, session, message, turn, cause.tool_call, cause.approved],
            )?;
            Ok(())
        })
    }

    /// Returns what nebula last wrote to a path (or that it deleted it); `None`: it never touched it.
    pub fn written(&self, project: &str, path: &str) -> Result<Option<Written>, Error> {
        written::last(&self.store(), project, path)
    }

    /// Returns the bytes of a state that a changeset left at a path, by its hash; `None`: they were not kept.
    pub fn bytes_left(&self, project: &str, path: &str, sha256: &Sha256) -> Result<Option<Vec<u8>>, Error> {
        written::bytes_left(&self.store(), project, path, sha256)
    }

    /// Returns the changesets of a project without their files, newest first, by the archive's id.
    pub fn changesets(&self, project: &str) -> Result<Vec<ChangesetRecord>, Error> {
        self.select("project_path = ?1 AND id IS NOT NULL ORDER BY id DESC", &[&project])
    }

    /// Returns one changeset with its files.
    pub fn changeset(&self, project: &str, id: &str) -> Result<Option<ChangesetRecord>, Error> {
        let found = self.select("project_path = ?1 AND id = ?2", &[&project, &id])?;
        found.into_iter().next().map(|c| self.with_files(c)).transpose()
    }

    /// Returns the changesets of a turn that were applied, with their files, oldest first. A turn that a fork has from
    /// its parent is the parent's.
    pub fn changesets_of_turn(&self, session: &str, turn: i64) -> Result<Vec<ChangesetRecord>, Error> {
        let turn = self.store().id(turn);
        let which = "session_id = ?1 AND turn = ?2 AND state = 'applied' AND id IS NOT NULL ORDER BY id";
        let mut found = self.select(which, &[&session, &turn])?;
        let (mut session, mut turn) = (session.to_string(), turn);
        while found.is_empty()
            && let Some(origin) = self.origin(&session, turn)?
        {
            (session, turn) = (origin.session, origin.message);
            found = self.select(which, &[&session, &turn])?;
        }
        self.all_with_files(found)
    }

    /// Returns the changesets of a session that were applied from a message on, with their files, oldest first; of a
    /// fork also those that its parent made between that message and the fork.
    pub fn changesets_since(&self, session: &str, message: i64) -> Result<Vec<ChangesetRecord>, Error> {
        let mut from = Origin { session: session.to_string(), message: self.store().id(message), upto: i64::MAX };
        let which = "session_id = ?1 AND coalesce(message_id, turn) BETWEEN ?2 AND ?3 AND state = 'applied'
                       AND id IS NOT NULL ORDER BY id";
        let mut found = self.select(which, &[&from.session, &from.message, &from.upto])?;
        while let Some(mut origin) = self.origin(&from.session, from.message)? {
            // A fork of a fork may have less of it than the first one.
            if from.upto != i64::MAX
                && let Some(last) = self.origin(&from.session, from.upto)?
            {
                origin.upto = origin.upto.min(last.message);
            }
            from = origin;
            found.extend(self.select(which, &[&from.session, &from.message, &from.upto])?);
        }
        found.sort_by(|a, b| a.id.cmp(&b.id));
        self.all_with_files(found)
    }

    /// Returns where a message of a fork was copied from; `None`: it was said in the session itself. A fork's messages
    /// are its parent's, one by one, up to the last that was copied.
    fn origin(&self, session: &str, message: i64) -> Result<Option<Origin>, Error> {
        let mut store = self.store();
        let sql = "SELECT parent, parent_message FROM session_meta
                   WHERE session_id = ?1 AND parent IS NOT NULL AND parent_message IS NOT NULL";
        let fork = store.conn.query_row(sql, [session], |r| Ok((r.get::<_, String>(0)?, r.get::<_, i64>(1)?)));
        let Some((parent, upto)) = fork.optional()? else { return Ok(None) };
        store.fetch(&parent)?;
        let sql = "SELECT id FROM messages WHERE session_id = ?1 AND id <= ?2 ORDER BY id LIMIT 1
                   OFFSET (SELECT count(*) FROM messages WHERE session_id = ?3 AND id < ?4)";
        let found = store.conn.query_row(sql, params![parent, upto, session, message], |r| r.get(0));
        Ok(found.optional()?.map(|message| Origin { session: parent, message, upto }))
    }

    /// Returns the changesets of a session that were applied, with their files, oldest first.
    pub fn changesets_of_session(&self, session: &str) -> Result<Vec<ChangesetRecord>, Error> {
        let which = "session_id = ?1 AND state = 'applied' AND id IS NOT NULL ORDER BY id";
        self.all_with_files(self.select(which, &[&session])?)
    }

    /// Returns what a person undid or redid of a session's files, in it or beside it, oldest first; what the model undid
    /// is a call.
    pub fn restores_of_session(&self, session: &str) -> Result<Vec<ChangesetRecord>, Error> {
        let which = "kind IN ('undo', 'redo') AND state = 'applied' AND id IS NOT NULL
             AND turn IS NULL AND tool_call IS NULL AND (session_id = ?1 OR EXISTS (
               SELECT 1 FROM changesets made JOIN changeset_files ours ON ours.n = made.n
                 JOIN changeset_files restored ON restored.path = ours.path
               WHERE made.session_id = ?1 AND made.n < changesets.n
                 AND made.project_path = changesets.project_path AND restored.n = changesets.n))
             ORDER BY id";
        self.all_with_files(self.select(which, &[&session])?)
    }

    /// Returns what was undone or redone in a project since a changeset, by whomever, oldest first.
    pub fn restores_since(&self, project: &str, changeset: &str) -> Result<Vec<ChangesetRecord>, Error> {
        let which = "project_path = ?1 AND kind IN ('undo', 'redo') AND state = 'applied' AND id > ?2 ORDER BY id";
        self.all_with_files(self.select(which, &[&project, &changeset])?)
    }

    /// Returns intents without an outcome, with their files, oldest first: under way, or their process died.
    /// The process that finds the changeset in the archive records the outcome.
    pub fn pending(&self, project: &str) -> Result<Vec<ChangesetRecord>, Error> {
        self.all_with_files(self.select("project_path = ?1 AND state = 'pending' ORDER BY n", &[&project])?)
    }

    /// Forgets changesets that were pruned from the archive.
    pub fn forget_changesets(&self, project: &str, ids: &[String]) -> Result<(), Error> {
        self.store().write(Safety::Normal, None, |tx| {
            for id in ids {
                let which = "SELECT n FROM changesets WHERE project_path = ?1 AND id = ?2";
                tx.execute(&format!("DELETE FROM changeset_files WHERE n IN ({which})"), [project, id])?;
                tx.execute("DELETE FROM changesets WHERE project_path = ?1 AND id = ?2", [project, id])?;
            }
            written::forget_left(tx, project)
        })
    }

    fn finish_pending(
        &self,
        pending: PendingId,
        f: impl Fn(&Transaction<'_>, i64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut store = self.store();
        let n = store.id(pending.0);
        store.write(Safety::Normal, None, |tx| f(tx, n))
    }

    fn select(&self, which: &str, values: &[&dyn rusqlite::ToSql]) -> Result<Vec<ChangesetRecord>, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(&format!("SELECT {COLUMNS} FROM changesets WHERE {which}"))?;
        let rows = statement.query_map(values, of_row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn all_with_files(&self, records: Vec<ChangesetRecord>) -> Result<Vec<ChangesetRecord>, Error> {
        records.into_iter().map(|r| self.with_files(r)).collect()
    }

    fn with_files(&self, mut record: ChangesetRecord) -> Result<ChangesetRecord, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT path, version, absent, sha256, added, removed FROM changeset_files WHERE n = ?1 ORDER BY path",
        )?;
        record.files = statement.query_map([record.pending.0], |row| file_of_row(row, 0))?.collect::<Result<_, _>>()?;
        Ok(record)
    }
}

/// A message of the session that another is a fork of.
struct Origin {
    session: String,
    message: i64,
    /// The last message that the fork has.
    upto: i64,
}

fn finish(
    tx: &Transaction<'_>,
    n: i64,
    id: Option<&str>,
    state: ChangesetState,
    files: &[StoredFile],
) -> Result<(), Error> {
    let known = tx.prepare_cached("UPDATE changesets SET id = ?2, state = ?3 WHERE n = ?1")?.execute(params![
        n,
        id,
        state.word()
    ])?;
    if known == 0 {
        // The row stayed in a file that cannot be read any more; there is nothing to record.
        return Ok(());
    }
    for file in files {
        tx.prepare_cached(
            "INSERT INTO changeset_files(n, path, version, absent, sha256, added, removed)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET version = excluded.version,
               absent = excluded.absent, sha256 = excluded.sha256, added = coalesce(excluded.added, added),
               removed = coalesce(excluded.removed, removed)",
        )?
        .execute(params![
            n,
            file.path,
            file.version,
            file.absent,
            file.sha256,
            file.added.map(int),
            file.removed.map(int)
        ])?;
    }
    Ok(())
}

pub(in crate::memory) fn of_row(row: &Row<'_>) -> rusqlite::Result<ChangesetRecord> {
    Ok(ChangesetRecord {
        pending: PendingId(row.get(0)?),
        id: row.get(1)?,
        cause: ChangesetCause {
            session: row.get(2)?,
            message: row.get(3)?,
            turn: row.get(4)?,
            tool_call: row.get(5)?,
            kind: row.get(6)?,
            title: row.get(7)?,
            approved: row.get(12)?,
            merged: row.get(13)?,
        },
        state: ChangesetState::of(row.get_ref(8)?.as_str().unwrap_or("")),
        at: row.get(9)?,
        added: row.get::<_, Option<i64>>(10)?.map(count),
        removed: row.get::<_, Option<i64>>(11)?.map(count),
        files: Vec::new(),
    })
}

pub(in crate::memory) fn file_of_row(row: &Row<'_>, from: usize) -> rusqlite::Result<StoredFile> {
    Ok(StoredFile {
        path: row.get(from)?,
        version: row.get(from + 1)?,
        absent: row.get(from + 2)?,
        sha256: row.get(from + 3)?,
        added: row.get::<_, Option<i64>>(from + 4)?.map(count),
        removed: row.get::<_, Option<i64>>(from + 5)?.map(count),
    })
}
