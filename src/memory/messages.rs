//! Messages, one row each, as the model gets them.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::store::Safety;
use super::{Error, Memory, count, int, now_ms};

/// Who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The answer to one tool call.
    Tool,
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }

    /// A role no nebula writes is taken for the person's, so that nothing of a session is hidden.
    fn of(word: &str) -> Role {
        match word {
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::User,
        }
    }
}

/// Whether a message is all there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MessageState {
    /// It is.
    #[default]
    Complete,
    /// It was still arriving when this was kept; after a crash it ends here.
    Streaming,
    /// It was cut short by the person, a limit or a broken connection.
    Interrupted,
}

impl MessageState {
    fn word(self) -> &'static str {
        match self {
            MessageState::Complete => "complete",
            MessageState::Streaming => "streaming",
            MessageState::Interrupted => "interrupted",
        }
    }

    fn of(word: &str) -> MessageState {
        match word {
            "streaming" => MessageState::Streaming,
            "interrupted" => MessageState::Interrupted,
            _ => MessageState::Complete,
        }
    }
}

/// What is known of a message beside what the model gets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageMeta {
    /// Whether it is all there.
    pub state: MessageState,
    /// How many bytes of the content were typed; what follows is the *Reference* section. `None`: all.
    pub typed: Option<usize>,
    /// The user message that began the turn.
    pub turn: Option<i64>,
    /// What the model thought.
    pub thinking: Option<String>,
    /// The model that said it.
    pub model: Option<String>,
    /// The edit format in force.
    pub format: Option<String>,
    /// Tokens sent for it.
    pub input_tokens: Option<u64>,
    /// Tokens received.
    pub output_tokens: Option<u64>,
    /// Of the tokens sent, those the provider had kept from before.
    pub cached_tokens: Option<u64>,
    /// JSON: `[{path, lines, bytes}]`.
    pub attached: Option<String>,
    /// JSON of whoever wrote it.
    pub extra: Option<String>,
}

/// An image or a document sent with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Its path as mentioned.
    pub name: String,
    /// Media type: `image/png`.
    pub kind: String,
    /// All its bytes.
    pub bytes: Vec<u8>,
}

/// A message to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// Who says it.
    pub role: Role,
    /// What is said, with its *Reference* section.
    pub content: Option<String>,
    /// JSON: `[{id, name, arguments}]`.
    pub tool_calls: Option<String>,
    /// JSON: `[{id, name, ok, edits: [{path, format, rung}], changeset}]`.
    pub tool_results: Option<String>,
    /// What else is known of it.
    pub meta: MessageMeta,
    /// Images and documents.
    pub blobs: Vec<Blob>,
}

impl NewMessage {
    /// A message of nothing but text.
    pub fn text(role: Role, content: impl Into<String>) -> Self {
        NewMessage {
            role,
            content: Some(content.into()),
            tool_calls: None,
            tool_results: None,
            meta: MessageMeta::default(),
            blobs: Vec::new(),
        }
    }
}

/// A kept message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Ascends within a session.
    pub id: i64,
    /// When it was first kept.
    pub at: i64,
    /// What was kept.
    pub message: NewMessage,
}

const COLUMNS: &str = "m.id, coalesce(x.at_ms, unixepoch(m.timestamp) * 1000, 0), m.role, m.content, m.tool_calls,
    m.tool_results, x.state, x.typed, x.turn, x.thinking, x.model, x.format, x.input_tokens, x.output_tokens,
    x.cached_tokens, x.attached, x.extra";

impl Memory {
    /// Keeps a message at the end of a session and gives its id. The session's title, count, time and model follow.
    pub fn append(&self, session: &str, message: &NewMessage) -> Result<i64, Error> {
        let mut store = self.store();
        let message = &self::current(&store, message);
        let now = now_ms();
        store.write(Safety::Normal, Some(session), |tx| {
            tx.prepare_cached(
                "INSERT INTO messages(session_id, role, content, tool_calls, tool_results) VALUES(?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                session,
                message.role.word(),
                message.content,
                message.tool_calls,
                message.tool_results
            ])?;
            let id = tx.last_insert_rowid();
            insert_rest(tx, id, message, now)?;
            note(tx, session, message, now)?;
            Ok(id)
        })
    }

    /// Replaces a kept message, as when an answer that was arriving is complete.
    pub fn replace(&self, session: &str, id: i64, message: &NewMessage) -> Result<(), Error> {
        let mut store = self.store();
        let message = &self::current(&store, message);
        let (id, in_ram) = (store.id(id), store.spare.is_some());
        let now = now_ms();
        store.write(Safety::Normal, Some(session), |tx| {
            let at: Option<i64> = tx
                .prepare_cached("SELECT at_ms FROM message_meta WHERE message_id = ?1")?
                .query_row([id], |row| row.get(0))
                .optional()?;
            if at.is_none() && !exists(tx, id)? && !in_ram {
                return Err(Error::NoMessage(id));
            }
            unindex(tx, id)?;
            tx.execute("DELETE FROM message_blobs WHERE message_id = ?1", [id])?;
            tx.execute("DELETE FROM message_meta WHERE message_id = ?1", [id])?;
            tx.prepare_cached(
                "INSERT INTO messages(id, session_id, role, content, tool_calls, tool_results)
                 VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET role = excluded.role,
                   content = excluded.content, tool_calls = excluded.tool_calls, tool_results = excluded.tool_results",
            )?
            .execute(params![
                id,
                session,
                message.role.word(),
                message.content,
                message.tool_calls,
                message.tool_results
            ])?;
            insert_rest(tx, id, message, at.unwrap_or(now))?;
            tx.prepare_cached("UPDATE session_meta SET updated_ms = ?2 WHERE session_id = ?1")?
                .execute(params![session, now])?;
            note_model(tx, session, message.meta.model.as_deref())
        })
    }

    /// Keeps how far a streamed answer has come. Cheap enough for every second.
    pub fn checkpoint(&self, session: &str, id: i64, content: &str, thinking: Option<&str>) -> Result<(), Error> {
        let mut store = self.store();
        let id = store.id(id);
        store.write(Safety::Normal, Some(session), |tx| {
            let n =
                tx.prepare_cached("UPDATE messages SET content = ?2 WHERE id = ?1")?.execute(params![id, content])?;
            if n == 0 {
                return Err(Error::NoMessage(id));
            }
            tx.prepare_cached("UPDATE message_meta SET thinking = ?2 WHERE message_id = ?1")?
                .execute(params![id, thinking])?;
            Ok(())
        })
    }

    /// Keeps what came of the edits that an answer holds in its text.
    pub fn keep_results(&self, session: &str, id: i64, results: &str) -> Result<(), Error> {
        let mut store = self.store();
        let id = store.id(id);
        store.write(Safety::Normal, Some(session), |tx| {
            let n = tx
                .prepare_cached("UPDATE messages SET tool_results = ?2 WHERE id = ?1")?
                .execute(params![id, results])?;
            if n == 0 { Err(Error::NoMessage(id)) } else { Ok(()) }
        })
    }

    /// Keeps what whoever wrote a message knows of it beside, as JSON.
    pub fn keep_extra(&self, session: &str, id: i64, json: &str) -> Result<(), Error> {
        let mut store = self.store();
        let id = store.id(id);
        store.write(Safety::Normal, Some(session), |tx| {
            let n = tx
                .prepare_cached("UPDATE message_meta SET extra = ?2 WHERE message_id = ?1")?
                .execute(params![id, json])?;
            if n == 0 { Err(Error::NoMessage(id)) } else { Ok(()) }
        })
    }

    /// Forgets a message and all that follow it in the session, as when the last request is asked again.
    pub fn remove_from(&self, session: &str, id: i64) -> Result<(), Error> {
        let mut store = self.store();
        let id = store.id(id);
        store.write(Safety::Normal, Some(session), |tx| {
            let ids: Vec<i64> = tx
                .prepare("SELECT id FROM messages WHERE session_id = ?1 AND id >= ?2")?
                .query_map(params![session, id], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            for id in ids {
                delete(tx, id)?;
            }
            tx.execute(
                "UPDATE session_meta SET messages =
                   (SELECT count(*) FROM messages WHERE session_id = ?1 AND role <> 'tool') WHERE session_id = ?1",
                [session],
            )?;
            Ok(())
        })
    }

    /// All messages of a session in their order.
    pub fn load(&self, session: &str) -> Result<Vec<Message>, Error> {
        self.read(session, "m.session_id = ?1 ORDER BY m.id", i64::MAX)
    }

    /// The last messages of a session, at most `limit`, in their order.
    pub fn last(&self, session: &str, limit: usize) -> Result<Vec<Message>, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut found = self.read(session, "m.session_id = ?1 ORDER BY m.id DESC", limit)?;
        found.reverse();
        Ok(found)
    }

    /// What was typed in this project, newest first: the typed part of the messages, at most `limit`, neighbours that
    /// are equal only once.
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
            let content: Option<String> = row.get(0)?;
            Ok((content.unwrap_or_default(), row.get::<_, Option<i64>>(1)?))
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

    fn read(&self, session: &str, which: &str, limit: i64) -> Result<Vec<Message>, Error> {
        let mut store = self.store();
        store.fetch(session)?;
        let mut blobs = blobs(&store.conn, session)?;
        let sql = format!(
            "SELECT {COLUMNS} FROM messages m LEFT JOIN message_meta x ON x.message_id = m.id WHERE {which} LIMIT ?2"
        );
        let mut statement = store.conn.prepare_cached(&sql)?;
        let rows = statement.query_map(params![session, limit], |row| {
            let mut message = of_row(row)?;
            message.message.blobs = blobs.remove(&message.id).unwrap_or_default();
            Ok(message)
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The part of a user message that was typed.
pub(super) fn typed_part(content: &str, typed: Option<i64>) -> &str {
    let end = typed.and_then(|n| usize::try_from(n).ok()).unwrap_or(content.len());
    content.get(..end).unwrap_or(content)
}

/// Deletes one message and all that belongs to it.
pub(super) fn delete(tx: &Transaction<'_>, id: i64) -> Result<(), Error> {
    unindex(tx, id)?;
    tx.prepare_cached("DELETE FROM message_blobs WHERE message_id = ?1")?.execute([id])?;
    tx.prepare_cached("DELETE FROM message_meta WHERE message_id = ?1")?.execute([id])?;
    tx.prepare_cached("DELETE FROM messages WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// Copies the messages of a session up to `upto` into another; gives the id of the last one copied.
pub(super) fn copy(tx: &Transaction<'_>, from: &str, to: &str, upto: i64) -> Result<Option<i64>, Error> {
    let ids: Vec<i64> = tx
        .prepare("SELECT id FROM messages WHERE session_id = ?1 AND id <= ?2 ORDER BY id")?
        .query_map(params![from, upto], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut message = tx.prepare(
        "INSERT INTO messages(session_id, timestamp, role, content, tool_calls, tool_results)
         SELECT ?1, timestamp, role, content, tool_calls, tool_results FROM messages WHERE id = ?2",
    )?;
    let mut meta = tx.prepare(
        "INSERT INTO message_meta SELECT ?1, at_ms, state, typed, ?3, thinking, model, format, input_tokens,
           output_tokens, cached_tokens, attached, extra, 0 FROM message_meta WHERE message_id = ?2",
    )?;
    let mut blobs = tx.prepare(
        "INSERT INTO message_blobs SELECT ?1, n, name, kind, bytes FROM message_blobs WHERE message_id = ?2",
    )?;
    let mut turn_of = tx.prepare("SELECT turn FROM message_meta WHERE message_id = ?1")?;
    let mut copies: HashMap<i64, i64> = HashMap::new();
    for id in &ids {
        message.execute(params![to, id])?;
        let new = tx.last_insert_rowid();
        copies.insert(*id, new);
        let turn: Option<i64> = turn_of.query_row([id], |row| row.get(0)).optional()?.flatten();
        meta.execute(params![new, id, turn.and_then(|t| copies.get(&t).copied())])?;
        blobs.execute(params![new, id])?;
    }
    Ok(ids.last().copied())
}

/// The message with the ids it names as they are now.
fn current(store: &super::store::Store, message: &NewMessage) -> NewMessage {
    let mut message = message.clone();
    message.meta.turn = message.meta.turn.map(|t| store.id(t));
    message
}

fn exists(tx: &Transaction<'_>, id: i64) -> Result<bool, Error> {
    Ok(tx.query_row("SELECT EXISTS(SELECT 1 FROM messages WHERE id = ?1)", [id], |row| row.get(0))?)
}

fn insert_rest(tx: &Transaction<'_>, id: i64, message: &NewMessage, at: i64) -> Result<(), Error> {
    let meta = &message.meta;
    // Results of tools are texts of files: they are not what someone looks for among things said.
    let never_indexed = message.role == Role::Tool;
    tx.prepare_cached(
        "INSERT INTO message_meta(message_id, at_ms, state, typed, turn, thinking, model, format, input_tokens,
           output_tokens, cached_tokens, attached, extra, indexed)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?
    .execute(params![
        id,
        at,
        meta.state.word(),
        meta.typed.map(|n| int(n as u64)),
        meta.turn,
        meta.thinking,
        meta.model,
        meta.format,
        meta.input_tokens.map(int),
        meta.output_tokens.map(int),
        meta.cached_tokens.map(int),
        meta.attached,
        meta.extra,
        never_indexed,
    ])?;
    for (n, blob) in message.blobs.iter().enumerate() {
        tx.prepare_cached("INSERT INTO message_blobs(message_id, n, name, kind, bytes) VALUES(?1, ?2, ?3, ?4, ?5)")?
            .execute(params![id, int(n as u64), blob.name, blob.kind, blob.bytes])?;
    }
    Ok(())
}

/// What a new message says about its session.
fn note(tx: &Transaction<'_>, session: &str, message: &NewMessage, now: i64) -> Result<(), Error> {
    let title = (message.role == Role::User).then(|| title_of(message)).flatten();
    tx.prepare_cached(
        "UPDATE session_meta SET messages = messages + ?2, updated_ms = ?3, title = coalesce(title, ?4)
         WHERE session_id = ?1",
    )?
    .execute(params![session, i64::from(message.role != Role::Tool), now, title])?;
    note_model(tx, session, message.meta.model.as_deref())
}

/// The model a session used last.
fn note_model(tx: &Transaction<'_>, session: &str, model: Option<&str>) -> Result<(), Error> {
    if let Some(model) = model {
        tx.prepare_cached("UPDATE sessions SET model_used = ?2 WHERE id = ?1 AND model_used <> ?2")?
            .execute([session, model])?;
    }
    Ok(())
}

/// The first words of a message, for a session that has no title yet: its first line that is not empty, at most 80
/// characters.
fn title_of(message: &NewMessage) -> Option<String> {
    let content = message.content.as_deref()?;
    let typed = typed_part(content, message.meta.typed.map(|n| int(n as u64)));
    let line = typed.lines().map(str::trim).find(|l| !l.is_empty())?;
    let mut title: String = line.chars().filter(|c| !c.is_control()).take(80).collect();
    if line.chars().count() > 80 {
        title.push('…');
    }
    Some(title)
}

fn unindex(tx: &Transaction<'_>, id: i64) -> Result<(), Error> {
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

fn blobs(conn: &rusqlite::Connection, session: &str) -> Result<HashMap<i64, Vec<Blob>>, Error> {
    // The span of the session's ids comes first, so that a session without any costs nothing.
    let mut statement = conn.prepare_cached(
        "SELECT b.message_id, b.name, b.kind, b.bytes FROM message_blobs b JOIN messages m ON m.id = b.message_id
         WHERE b.message_id BETWEEN (SELECT min(id) FROM messages WHERE session_id = ?1)
           AND (SELECT max(id) FROM messages WHERE session_id = ?1) AND +m.session_id = ?1
         ORDER BY b.message_id, b.n",
    )?;
    let rows = statement.query_map([session], |row| {
        Ok((row.get::<_, i64>(0)?, Blob { name: row.get(1)?, kind: row.get(2)?, bytes: row.get(3)? }))
    })?;
    let mut found: HashMap<i64, Vec<Blob>> = HashMap::new();
    for row in rows {
        let (id, blob) = row?;
        found.entry(id).or_default().push(blob);
    }
    Ok(found)
}

fn of_row(row: &Row<'_>) -> rusqlite::Result<Message> {
    let state: Option<String> = row.get(6)?;
    let typed: Option<i64> = row.get(7)?;
    let number = |i: usize| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(i)?.map(count));
    Ok(Message {
        id: row.get(0)?,
        at: row.get(1)?,
        message: NewMessage {
            role: Role::of(row.get_ref(2)?.as_str().unwrap_or("user")),
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
            },
            blobs: Vec::new(),
        },
    })
}
