//! Reads messages.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, params};

use super::{
    MessageDamage, MessageMeta, MessageOrigin, MessagePart, MessageState, NewMessage, StoredBlob, StoredMessage,
    StoredRole,
};
use crate::memory::{Error, Memory, count, lossy};

const COLUMNS: &str = "m.id, coalesce(x.at_ms, unixepoch(m.timestamp) * 1000, 0), m.role, m.content, m.tool_calls,
    m.tool_results, x.state, x.typed, x.turn, x.thinking, x.model, x.format, x.input_tokens, x.output_tokens,
    x.cached_tokens, x.attached, x.extra,
    x.written_tokens, x.thinking_tokens, x.hour_tokens, x.cost_nanos";

impl Memory {
    /// Returns all messages of a session in their order.
    pub fn load(&self, session: &str) -> Result<Vec<StoredMessage>, Error> {
        self.read(session, "m.session_id = ?1 ORDER BY m.id", i64::MAX)
    }

    /// Returns all messages of a session in their order, and how many of them stand before the message `id`; `None`: all.
    pub fn load_before(&self, session: &str, id: Option<i64>) -> Result<(Vec<StoredMessage>, usize), Error> {
        let rows = self.load(session)?;
        let id = id.map(|id| self.store().id(id));
        let before = id.map_or(rows.len(), |id| rows.partition_point(|row| row.id < id));
        Ok((rows, before))
    }

    /// Returns the last messages of a session, at most `limit`, in their order.
    pub fn last(&self, session: &str, limit: usize) -> Result<Vec<StoredMessage>, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut found = self.read(session, "m.session_id = ?1 ORDER BY m.id DESC", limit)?;
        found.reverse();
        Ok(found)
    }

    /// Returns what was typed in this project, newest first: the typed part of the messages, at most `limit`,
    /// neighbours that are equal only once.
    pub fn inputs(&self, project: &str, limit: usize) -> Result<Vec<String>, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT m.content, x.typed FROM messages m LEFT JOIN message_meta x ON x.message_id = m.id
             WHERE m.id IN (SELECT u.id FROM sessions s JOIN messages u ON u.session_id = s.id AND u.role = 'user'
                            WHERE s.project_path = ?1 ORDER BY u.id DESC LIMIT ?2)
             ORDER BY m.id DESC",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![project, limit], |row| {
            Ok((lossy(row, 0)?.unwrap_or_default(), row.get::<_, Option<i64>>(1).unwrap_or_default()))
        })?;
        let mut out: Vec<String> = Vec::new();
        for row in rows {
            let (content, typed) = row?;
            let text = typed_part(&content, typed);
            if !text.trim().is_empty() && out.last().is_none_or(|last| last != text) {
                out.push(text.to_string());
            }
        }
        Ok(out)
    }

    /// Returns the id by which other processes know a message, where it is stored in the file.
    pub fn id_of(&self, message: i64) -> i64 {
        self.store().id(message)
    }

    /// Returns whether a session holds a message of this id, as the database itself counts them.
    pub fn has_message(&self, session: &str, id: i64) -> Result<bool, Error> {
        let mut store = self.store();
        store.fetch(session)?;
        let sql = "SELECT EXISTS(SELECT 1 FROM messages WHERE id = ?1 AND session_id = ?2)";
        Ok(store.conn.prepare_cached(sql)?.query_row(params![id, session], |row| row.get(0))?)
    }

    /// Returns what the person typed in a message and when, in unix milliseconds, where that is known, by its number;
    /// none: there is no such message.
    pub fn typed(&self, message: i64) -> Result<Option<(String, Option<i64>)>, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT m.content, x.typed, coalesce(x.at_ms, unixepoch(m.timestamp) * 1000)
             FROM messages m LEFT JOIN message_meta x ON x.message_id = m.id WHERE m.id = ?1",
        )?;
        let row = |row: &Row<'_>| {
            Ok((lossy(row, 0)?.unwrap_or_default(), row.get(1).unwrap_or_default(), row.get(2).unwrap_or_default()))
        };
        let found: Option<(String, Option<i64>, Option<i64>)> = statement.query_row([message], row).optional()?;
        Ok(found.map(|(content, typed, at)| (typed_part(&content, typed).to_string(), at)))
    }

    fn read(&self, session: &str, which: &str, limit: i64) -> Result<Vec<StoredMessage>, Error> {
        let mut store = self.store();
        store.fetch(session)?;
        let mut blobs = blobs(&store.conn, session)?;
        let mut parts = parts(&store.conn, session)?;
        let sql = format!(
            "SELECT {COLUMNS} FROM messages m LEFT JOIN message_meta x ON x.message_id = m.id WHERE {which} LIMIT ?2"
        );
        let mut statement = store.conn.prepare_cached(&sql)?;
        let rows = statement.query_map(params![session, limit], |row| {
            let mut message = of_row(row).or_else(|why| unreadable(row, &why))?;
            message.add_blobs(blobs.remove(&message.id).unwrap_or_default());
            message.add_parts(parts.remove(&message.id).unwrap_or_default());
            Ok(message)
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Returns the part of a user message that was typed.
pub(in crate::memory) fn typed_part(content: &str, typed: Option<i64>) -> &str {
    let end = typed.and_then(|n| usize::try_from(n).ok()).unwrap_or(content.len());
    content.get(..end).unwrap_or(content)
}

impl StoredMessage {
    /// Adds images and documents. The text says how many cannot be read, so that whoever reads it knows.
    fn add_blobs(&mut self, blobs: Vec<Option<StoredBlob>>) {
        self.damage.blobs = blobs.iter().filter(|blob| blob.is_none()).count();
        self.message.blobs = blobs.into_iter().flatten().collect();
        if self.damage.blobs > 0 {
            let content = self.message.content.get_or_insert_default();
            self.message.meta.typed.get_or_insert(content.len());
            content.push_str(&format!(
                "\n\n({} of the images and documents of this message are damaged in memory and left out)",
                self.damage.blobs
            ));
        }
    }

    /// Adds the parts of a message. Where one cannot be read, the others do not fit the message, which has the usual
    /// ones then.
    fn add_parts(&mut self, parts: Vec<Option<MessagePart>>) {
        let parts: Option<Vec<MessagePart>> = parts.into_iter().collect();
        self.damage.parts = parts.is_none();
        self.message.parts = parts.unwrap_or_default();
    }
}

/// Returns the images and documents of a session by message; none stands for one that cannot be read.
fn blobs(conn: &rusqlite::Connection, session: &str) -> Result<HashMap<i64, Vec<Option<StoredBlob>>>, Error> {
    // The span of the session's ids comes first, so that a session without any costs nothing.
    let mut statement = conn.prepare_cached(
        "SELECT b.message_id, b.name, b.kind, b.bytes FROM message_blobs b JOIN messages m ON m.id = b.message_id
         WHERE b.message_id BETWEEN (SELECT min(id) FROM messages WHERE session_id = ?1)
           AND (SELECT max(id) FROM messages WHERE session_id = ?1) AND +m.session_id = ?1
         ORDER BY b.message_id, b.n",
    )?;
    let rows = statement.query_map([session], |row| {
        let blob = || Ok::<_, rusqlite::Error>(StoredBlob { name: row.get(1)?, kind: row.get(2)?, bytes: row.get(3)? });
        Ok((row.get::<_, i64>(0)?, blob().ok()))
    })?;
    let mut found: HashMap<i64, Vec<Option<StoredBlob>>> = HashMap::new();
    for row in rows {
        let (id, blob) = row?;
        found.entry(id).or_default().push(blob);
    }
    Ok(found)
}

/// Returns the parts of the messages of a session, by message; none stands for one that cannot be read.
fn parts(conn: &rusqlite::Connection, session: &str) -> Result<HashMap<i64, Vec<Option<MessagePart>>>, Error> {
    let mut statement = conn.prepare_cached(
        "SELECT p.message_id, p.kind, p.bytes, p.seal, p.wire, p.place, p.model
         FROM messages m CROSS JOIN message_parts p ON p.message_id = m.id
         WHERE m.session_id = ?1 ORDER BY p.message_id, p.n",
    )?;
    let part = |row: &Row<'_>| {
        let (wire, place, model): (Option<String>, _, _) = (row.get(4)?, row.get(5)?, row.get(6)?);
        let origin = match (wire, place, model) {
            (Some(wire), Some(place), Some(model)) => Some(MessageOrigin { wire, place, model }),
            _ => None,
        };
        let bytes = usize::try_from(count(row.get(2)?)).unwrap_or(usize::MAX);
        Ok::<_, rusqlite::Error>(MessagePart { kind: row.get(1)?, bytes, seal: row.get(3)?, origin })
    };
    let rows = statement.query_map([session], |row| Ok((row.get::<_, i64>(0)?, part(row).ok())))?;
    let mut found: HashMap<i64, Vec<Option<MessagePart>>> = HashMap::new();
    for row in rows {
        let (id, part) = row?;
        found.entry(id).or_default().push(part);
    }
    Ok(found)
}

/// Returns what stands for a message that cannot be read, so that the others can be. Its role counts, where that can be
/// read.
///
/// # Errors
/// When the row has no id.
fn unreadable(row: &Row<'_>, why: &rusqlite::Error) -> rusqlite::Result<StoredMessage> {
    let role = StoredRole::of(row.get_ref(2)?.as_str().unwrap_or("user"));
    let text = format!("(this message is damaged in memory and cannot be read: {why})");
    let (id, at) = (row.get(0)?, row.get(1).unwrap_or_default());
    Ok(StoredMessage { id, at, message: NewMessage::text(role, text), damage: MessageDamage::default() })
}

fn of_row(row: &Row<'_>) -> rusqlite::Result<StoredMessage> {
    let state: Option<String> = row.get(6)?;
    let typed: Option<i64> = row.get(7)?;
    let number = |i: usize| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(i)?.map(count));
    Ok(StoredMessage {
        id: row.get(0)?,
        at: row.get(1)?,
        message: NewMessage {
            role: StoredRole::of(row.get_ref(2)?.as_str().unwrap_or("user")),
            content: row.get(3)?,
            tool_calls: row.get(4)?,
            tool_results: row.get(5)?,
            meta: MessageMeta {
                state: state.as_deref().map_or(MessageState::Complete, MessageState::of),
                typed: typed.and_then(|n| usize::try_from(n).ok()),
                turn: row.get(8)?,
                thinking: row.get(9)?,
                model: row.get(10)?,
                format: row.get(11)?,
                input_tokens: number(12)?,
                output_tokens: number(13)?,
                cached_tokens: number(14)?,
                attached: row.get(15)?,
                extra: row.get(16)?,
                written_tokens: number(17)?,
                thinking_tokens: number(18)?,
                hour_tokens: number(19)?,
                cost_nanos: number(20)?,
            },
            blobs: Vec::new(),
            parts: Vec::new(),
        },
        damage: MessageDamage::default(),
    })
}
