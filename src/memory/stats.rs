//! Counts the results of edits, from what was stored with the tool results.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;

use super::{Error, Memory};

/// The results of the edits of one model in one format.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatsRow {
    /// The model; empty where it was not noted.
    pub model: String,
    /// The format the edits were written in.
    pub format: String,
    /// Edits requested.
    pub requested: u64,
    /// Edits that were applied, by the rung that found their place, most frequent first.
    pub applied: Vec<(String, u64)>,
    /// Edits whose place was found and that were then refused by the person or the policy.
    pub refused: u64,
    /// Edits that change nothing because their result is there already.
    pub unchanged: u64,
    /// Edits whose place was not found, or that could not be read.
    pub not_found: u64,
    /// Turns that changed no file and were asked once more.
    pub nudged: u64,
    /// Edits of a path whose last edit in the same session had not been placed.
    pub retried: u64,
}

/// One stored result.
#[derive(Deserialize)]
struct StoredResult {
    #[serde(default)]
    ok: bool,
    #[serde(default)]
    edits: Vec<StoredEdit>,
}

#[derive(Deserialize)]
struct StoredEdit {
    #[serde(default)]
    path: String,
    #[serde(default)]
    format: String,
    #[serde(default)]
    rung: Option<String>,
    /// True if this edit was applied, where one result holds edits with different outcomes.
    #[serde(default)]
    ok: Option<bool>,
}

impl Memory {
    /// Returns how edits fared by model and format, in this project or (`None`) everywhere; and how many messages hold
    /// results that cannot be read.
    pub fn stats(&self, project: Option<&str>) -> Result<(Vec<StatsRow>, u64), Error> {
        let store = self.store();
        let mut statement = store.conn.prepare(
            "SELECT m.session_id, coalesce(x.model, s.model_used), m.tool_results
             FROM messages m JOIN sessions s ON s.id = m.session_id LEFT JOIN message_meta x ON x.message_id = m.id
             WHERE m.tool_results IS NOT NULL AND coalesce(x.copied, 0) = 0 AND (?1 IS NULL OR s.project_path = ?1) ORDER BY m.session_id, m.id",
        )?;
        let mut rows = statement.query([project])?;
        let (mut tally, mut unreadable) = (Tally::default(), 0);
        while let Some(row) = rows.next()? {
            let (session, model): (String, String) = (row.get(0)?, row.get(1)?);
            let results: Option<Vec<StoredResult>> =
                row.get_ref(2)?.as_str().ok().and_then(|json| serde_json::from_str(json).ok());
            unreadable += u64::from(results.is_none());
            for result in results.unwrap_or_default() {
                for edit in &result.edits {
                    tally.add(&session, &model, edit, edit.ok.unwrap_or(result.ok));
                }
            }
        }
        drop(rows);
        drop(statement);
        let sql = "SELECT coalesce(x.model, s.model_used), coalesce(x.format, ''), count(*)
             FROM messages m JOIN sessions s ON s.id = m.session_id JOIN message_meta own ON own.message_id = m.id
             LEFT JOIN message_meta x ON x.message_id = (SELECT max(b.id) FROM messages b
               WHERE b.session_id = m.session_id AND b.id < m.id AND b.role = 'assistant')
             WHERE CASE WHEN json_valid(own.extra) THEN json_extract(own.extra, '$.nudge') END = 1 AND own.copied = 0 AND (?1 IS NULL OR s.project_path = ?1)
             GROUP BY 1, 2";
        let mut statement = store.conn.prepare(sql)?;
        let mut rows = statement.query([project])?;
        while let Some(row) = rows.next()? {
            let (row_of, n) = ((row.get(0)?, row.get(1)?), row.get::<_, i64>(2)?);
            tally.rows.entry(row_of).or_default().0.nudged = n.unsigned_abs();
        }
        Ok((tally.rows(), unreadable))
    }
}

#[derive(Default)]
struct Tally {
    rows: BTreeMap<(String, String), (StatsRow, BTreeMap<String, u64>)>,
    /// Session and path of edits that were not placed, until an edit of that path is.
    open: HashSet<(String, String)>,
}

impl Tally {
    fn add(&mut self, session: &str, model: &str, edit: &StoredEdit, ok: bool) {
        let (row, rungs) = self.rows.entry((model.to_string(), edit.format.clone())).or_default();
        row.requested += 1;
        let place = (session.to_string(), edit.path.clone());
        if self.open.remove(&place) {
            row.retried += 1;
        }
        match &edit.rung {
            Some(rung) if ok => *rungs.entry(rung.clone()).or_default() += 1,
            Some(_) => row.refused += 1,
            None if ok => row.unchanged += 1,
            None => {
                row.not_found += 1;
                self.open.insert(place);
            }
        }
    }

    fn rows(self) -> Vec<StatsRow> {
        let row = |((model, format), (row, rungs)): (_, (StatsRow, BTreeMap<String, u64>))| {
            let mut applied: Vec<(String, u64)> = rungs.into_iter().collect();
            applied.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
            StatsRow { model, format, applied, ..row }
        };
        self.rows.into_iter().map(row).collect()
    }
}
