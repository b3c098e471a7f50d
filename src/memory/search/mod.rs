//! Searching what was said. The index follows the messages when memory has nothing else to do, and before each search, so
//! that keeping a message costs nothing extra.

pub(in crate::memory) mod pending;
pub(in crate::memory) mod tokens;

use std::ops::Range;

use rusqlite::{ToSql, params_from_iter};

use super::messages::typed_part;
use super::store::Safety;
use super::{Error, Memory, Session, StoredRole, lossy};

/// A message, or a title, in which all words were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// The session.
    pub session: String,
    /// Its title; empty while it has none.
    pub title: String,
    /// The message; `None`: the words are in the title.
    pub message: Option<i64>,
    /// The time of the message, or of the session's beginning, in unix milliseconds, where it is known.
    pub at: Option<i64>,
    /// The author of the message.
    pub role: StoredRole,
    /// The words with some text around them, on one line.
    pub snippet: String,
    /// The ranges of the words in the snippet, in bytes.
    pub marks: Vec<Range<usize>>,
}

impl Memory {
    /// Returns titles and messages of this project's sessions that hold all words, the titles first, each newest first, at
    /// most `limit`. Words are found from their beginning, and anywhere when they have three characters or more; Chinese, Japanese and
    /// Korean text anywhere.
    pub fn search(&self, project: &str, words: &str, limit: usize) -> Result<Vec<SearchHit>, Error> {
        let terms = tokens::terms(words);
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let needles: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let mut hits = titles(&self.list(project)?, &needles);
        self.index()?;

        let mut sql = String::from(
            "SELECT m.id, m.session_id, m.role, m.content, x.typed, coalesce(sm.title, ''),
               coalesce(x.at_ms, unixepoch(m.timestamp) * 1000)
             FROM messages m JOIN sessions s ON s.id = m.session_id JOIN message_meta x ON x.message_id = m.id
             JOIN session_meta sm ON sm.session_id = s.id WHERE s.project_path = ?",
        );
        let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(project.to_string())];
        for term in terms {
            let mut either = Vec::new();
            if let Some(q) = term.words {
                either.push("SELECT rowid FROM message_words WHERE message_words MATCH ?");
                values.push(Box::new(q));
            }
            if let Some(q) = term.grams {
                either.push("SELECT rowid FROM message_grams WHERE message_grams MATCH ?");
                values.push(Box::new(q));
            }
            sql.push_str(&format!(" AND m.id IN ({})", either.join(" UNION ")));
        }
        sql.push_str(" ORDER BY m.id DESC LIMIT ?");
        values.push(Box::new(i64::try_from(limit).unwrap_or(i64::MAX)));

        let store = self.store();
        let mut statement = store.conn.prepare(&sql)?;
        let rows = statement.query_map(params_from_iter(values), |row| {
            let content = lossy(row, 3)?.unwrap_or_default();
            let (snippet, marks) = snippet(typed_part(&content, row.get(4).unwrap_or_default()), &needles);
            let role = if row.get_ref(2)?.as_str() == Ok("user") { StoredRole::User } else { StoredRole::Assistant };
            Ok(SearchHit {
                session: row.get(1)?,
                title: lossy(row, 5)?.unwrap_or_default(),
                message: Some(row.get(0)?),
                at: row.get(6)?,
                role,
                snippet,
                marks,
            })
        })?;
        let messages = rows.collect::<Result<Vec<SearchHit>, _>>()?;
        // Titles leave room for messages.
        let found = messages.len();
        hits.truncate((limit / 2).max(limit.saturating_sub(found)));
        hits.extend(messages);
        hits.truncate(limit);
        Ok(hits)
    }

    /// Returns this project's sessions whose title or messages hold all words, newest first; all when there are no
    /// words.
    pub fn list_matching(&self, project: &str, words: &str) -> Result<Vec<Session>, Error> {
        let mut sessions = self.list(project)?;
        if !tokens::terms(words).is_empty() {
            let hits = self.search(project, words, 10_000)?;
            sessions.retain(|s| hits.iter().any(|h| h.session == s.id));
        }
        Ok(sessions)
    }

    /// Brings the index up to date with every message that is complete.
    pub(super) fn index(&self) -> Result<(), Error> {
        loop {
            let mut store = self.store();
            let left: bool = store.conn.query_row(
                "SELECT EXISTS(SELECT 1 FROM message_meta WHERE indexed = 0 AND state <> 'streaming')",
                [],
                |row| row.get(0),
            )?;
            if !left {
                return Ok(());
            }
            store.write(Safety::Normal, None, pending::index)?;
        }
    }
}

fn titles(sessions: &[Session], needles: &[String]) -> Vec<SearchHit> {
    let held = |title: &str| {
        let title = title.to_lowercase();
        needles.iter().all(|n| title.contains(n))
    };
    let hit = |s: &Session, title: &str| {
        let (snippet, marks) = snippet(title, needles);
        SearchHit {
            session: s.id.clone(),
            title: title.to_string(),
            message: None,
            at: s.started,
            role: StoredRole::User,
            snippet,
            marks,
        }
    };
    sessions.iter().filter_map(|s| s.title.as_deref().filter(|t| held(t)).map(|t| hit(s, t))).collect()
}

/// Returns about 100 characters around the first word found, on one line, and where the words are in it.
fn snippet(text: &str, needles: &[String]) -> (String, Vec<Range<usize>>) {
    let first = occurrences(text, needles).first().map_or(0, |r| r.start);
    let from = text[..first].char_indices().rev().nth(29).map_or(0, |(i, _)| i);
    let to = text[first..].char_indices().nth(70).map_or(text.len(), |(i, _)| first + i);
    let mut line = String::new();
    if from > 0 {
        line.push('…');
    }
    line.extend(text[from..to].chars().map(|c| if c.is_control() { ' ' } else { c }));
    if to < text.len() {
        line.push('…');
    }
    let marks = occurrences(&line, needles);
    (line, marks)
}

/// Returns where words begin and end, in order, without overlaps. Case is ignored where it does not change a text's
/// length.
fn occurrences(text: &str, needles: &[String]) -> Vec<Range<usize>> {
    let lower = text.to_lowercase();
    let text = if lower.len() == text.len() { lower.as_str() } else { text };
    let mut found: Vec<Range<usize>> = needles
        .iter()
        .flat_map(|n| text.match_indices(n.as_str()).map(|(i, s)| i..i + s.len()))
        .filter(|r| text.is_char_boundary(r.start) && text.is_char_boundary(r.end))
        .collect();
    found.sort_by_key(|r| r.start);
    let mut end = 0;
    found.retain(|r| {
        let keep = r.start >= end;
        if keep {
            end = r.end;
        }
        keep
    });
    found
}
