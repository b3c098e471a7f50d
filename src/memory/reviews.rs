//! The person's decisions about changes that nobody approved beforehand.

use std::collections::BTreeMap;

use rusqlite::params;

use super::store::Safety;
use super::{Error, Memory, now_ms};

/// A decision about a change that was made without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewDecision {
    /// The change stays.
    Keep,
    /// The change was undone, or nothing of it is left to be decided about.
    Restore,
    /// The files that the last restore of it wrote are undone. Of its other files nothing is decided.
    RestoreWritten,
    /// Nothing was left of the change: someone discarded it outside nebula.
    Discard,
}

impl ReviewDecision {
    fn word(self) -> &'static str {
        match self {
            ReviewDecision::Keep => "keep",
            ReviewDecision::Restore => "restore",
            ReviewDecision::RestoreWritten => "restore written",
            ReviewDecision::Discard => "discard",
        }
    }

    fn named(word: &str) -> Self {
        match word {
            "restore" => ReviewDecision::Restore,
            "restore written" => ReviewDecision::RestoreWritten,
            "discard" => ReviewDecision::Discard,
            _ => ReviewDecision::Keep,
        }
    }
}

impl Memory {
    /// Records what was decided about changesets and why, safe against power loss when this returns.
    pub fn review(
        &self,
        project: &str,
        changesets: &[String],
        decision: ReviewDecision,
        reason: Option<&str>,
    ) -> Result<(), Error> {
        let mut store = self.store();
        let now = now_ms();
        store.write(Safety::Full, None, |tx| {
            for id in changesets {
                tx.prepare_cached(
                    "INSERT OR REPLACE INTO reviews(project_path, changeset, decision, reason, at_ms)
                     VALUES(?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![project, id, decision.word(), reason, now])?;
            }
            Ok(())
        })
    }

    /// Returns how many changesets of a project were decided about, and when the last one was, in unix milliseconds.
    ///
    /// # Errors
    /// When memory cannot be read.
    pub fn last_reviewed(&self, project: &str) -> Result<(i64, i64), Error> {
        let store = self.store();
        let mut statement = store
            .conn
            .prepare_cached("SELECT count(*), coalesce(max(at_ms), 0) FROM reviews WHERE project_path = ?1")?;
        Ok(statement.query_row([project], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// Returns the changesets of a project that were decided about, each with the decision and when it was made, in unix
    /// milliseconds.
    pub fn reviewed(&self, project: &str) -> Result<BTreeMap<String, (ReviewDecision, i64)>, Error> {
        let store = self.store();
        let mut statement =
            store.conn.prepare_cached("SELECT changeset, decision, at_ms FROM reviews WHERE project_path = ?1")?;
        let rows = statement.query_map([project], |row| {
            Ok((row.get(0)?, (ReviewDecision::named(row.get_ref(1)?.as_str()?), row.get(2)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
