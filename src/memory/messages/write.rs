//! Stores messages.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Transaction, params};

use super::delete::{BESIDE, delete, recount, unindex};
use super::{NewMessage, StoredRole, typed_part};
use crate::memory::store::{Safety, Store};
use crate::memory::{Error, Memory, int, now_ms};

impl Memory {
    /// Keeps a message at the end of a session and gives its id. The session's title, count, time and model follow.
    pub fn append(&self, session: &str, message: &NewMessage) -> Result<i64, Error> {
        let mut store = self.store();
        let message = &self::current(&store, message);
        let now = now_ms();
        store.write(Safety::Normal, Some(session), |tx| {
            tx.prepare_cached(
                "INSERT INTO messages(session_id, role, content, tool_calls, tool_results, timestamp)
                 VALUES(?1, ?2, ?3, ?4, ?5, datetime(?6 / 1000, 'unixepoch'))",
            )?
            .execute(params![
                session,
                message.role.word(),
                message.content,
                message.tool_calls,
                message.tool_results,
                now
            ])?;
            let id = tx.last_insert_rowid();
            insert_rest(tx, id, message, now)?;
            note(tx, session, message, now)?;
            Ok(id)
        })
    }

    /// Stores a message under its provisional id, which stands for its row from here on.
    pub(in crate::memory) fn append_as(&self, name: i64, session: &str, message: &NewMessage) -> Result<(), Error> {
        let id = self.append(session, message)?;
        self.store().renamed.insert(name, id);
        Ok(())
    }

    /// Replaces a stored message, as when an answer that was arriving is complete.
    pub fn replace(&self, session: &str, id: i64, message: &NewMessage) -> Result<(), Error> {
        let mut store = self.store();
        let message = &self::current(&store, message);
        let (id, in_ram) = (store.id(id), store.fallback.is_some());
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
            for table in BESIDE {
                tx.prepare_cached(&format!("DELETE FROM {table} WHERE message_id = ?1"))?.execute([id])?;
            }
            tx.prepare_cached(
                "INSERT INTO messages(id, session_id, role, content, tool_calls, tool_results, timestamp)
                 VALUES(?1, ?2, ?3, ?4, ?5, ?6, datetime(?7 / 1000, 'unixepoch')) ON CONFLICT DO UPDATE SET role = excluded.role,
                   content = excluded.content, tool_calls = excluded.tool_calls, tool_results = excluded.tool_results",
            )?
            .execute(params![
                id,
                session,
                message.role.word(),
                message.content,
                message.tool_calls,
                message.tool_results,
                now
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

    /// Stores the results of the edits that an answer holds in its text.
    pub fn keep_results(&self, session: &str, id: i64, results: &str) -> Result<(), Error> {
        self.update(session, id, "UPDATE messages SET tool_results = ?2 WHERE id = ?1", results)
    }

    /// Adds data of a message's author, a JSON object, to what is kept beside it.
    pub fn keep_extra(&self, session: &str, id: i64, json: &str) -> Result<(), Error> {
        self.update(
            session,
            id,
            "UPDATE message_meta SET extra = json_patch(coalesce(extra, '{}'), ?2) WHERE message_id = ?1",
            json,
        )
    }

    /// Adds a notice, a JSON object, to those that stand behind a message.
    pub fn add_notice(&self, session: &str, id: i64, json: &str) -> Result<(), Error> {
        self.update(
            session,
            id,
            "UPDATE message_meta SET extra = json_insert(json_insert(coalesce(nullif(extra, ''), '{}'),
               '$.notices', json('[]')), '$.notices[#]', json(?2)) WHERE message_id = ?1",
            json,
        )
    }

    /// Runs a statement that sets one column (`?2`) of one message (`?1`).
    fn update(&self, session: &str, id: i64, sql: &'static str, value: &str) -> Result<(), Error> {
        let mut store = self.store();
        let id = store.id(id);
        store.write(Safety::Normal, Some(session), |tx| match tx.prepare_cached(sql)?.execute(params![id, value])? {
            0 => Err(Error::NoMessage(id)),
            _ => Ok(()),
        })
    }

    /// Removes a message and all that follow it in the session, as when the last request is sent again.
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
            recount(tx, session)
        })
    }
}

/// Copies the messages of a session up to `upto` into another; gives the id of the last one copied.
pub(in crate::memory) fn copy(tx: &Transaction<'_>, from: &str, to: &str, upto: i64) -> Result<Option<i64>, Error> {
    let ids: Vec<i64> = tx
        .prepare("SELECT id FROM messages WHERE session_id = ?1 AND id <= ?2 ORDER BY id")?
        .query_map(params![from, upto], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut message = tx.prepare(
        "INSERT INTO messages(session_id, timestamp, role, content, tool_calls, tool_results)
         SELECT ?1, timestamp, role, content, tool_calls, tool_results FROM messages WHERE id = ?2",
    )?;
    let mut meta = tx.prepare(
        "INSERT INTO message_meta(message_id, at_ms, state, typed, turn, thinking, model, format, input_tokens,
           output_tokens, cached_tokens, written_tokens, thinking_tokens, hour_tokens, cost_nanos, attached, extra,
           indexed, copied)
         SELECT ?1, at_ms, state, typed, ?3, thinking, model, format, input_tokens,
           output_tokens, cached_tokens, written_tokens, thinking_tokens, hour_tokens, cost_nanos, attached, extra, 0, 1
         FROM message_meta WHERE message_id = ?2",
    )?;
    let mut blobs = tx.prepare(
        "INSERT INTO message_blobs SELECT ?1, n, name, kind, bytes FROM message_blobs WHERE message_id = ?2",
    )?;
    let mut parts = tx.prepare(
        "INSERT INTO message_parts(message_id, n, kind, bytes, seal, wire, place, model)
         SELECT ?1, n, kind, bytes, seal, wire, place, model FROM message_parts WHERE message_id = ?2",
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
        parts.execute(params![new, id])?;
    }
    Ok(ids.last().copied())
}

/// Returns the message with the ids it names as they are now.
fn current(store: &Store, message: &NewMessage) -> NewMessage {
    let mut message = message.clone();
    message.meta.turn = message.meta.turn.and_then(|t| store.stored_id(t));
    message
}

fn exists(tx: &Transaction<'_>, id: i64) -> Result<bool, Error> {
    Ok(tx.query_row("SELECT EXISTS(SELECT 1 FROM messages WHERE id = ?1)", [id], |row| row.get(0))?)
}

fn insert_rest(tx: &Transaction<'_>, id: i64, message: &NewMessage, at: i64) -> Result<(), Error> {
    let meta = &message.meta;
    // Results of tools are texts of files, not words of the conversation.
    let never_indexed = message.role == StoredRole::Tool;
    tx.prepare_cached(
        "INSERT INTO message_meta(message_id, at_ms, state, typed, turn, thinking, model, format, input_tokens,
           output_tokens, cached_tokens, written_tokens, thinking_tokens, hour_tokens, cost_nanos, attached, extra, indexed)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
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
        meta.written_tokens.map(int),
        meta.thinking_tokens.map(int),
        meta.hour_tokens.map(int),
        meta.cost_nanos.map(int),
        meta.attached,
        meta.extra,
        never_indexed,
    ])?;
    for (n, blob) in message.blobs.iter().enumerate() {
        tx.prepare_cached("INSERT INTO message_blobs(message_id, n, name, kind, bytes) VALUES(?1, ?2, ?3, ?4, ?5)")?
            .execute(params![id, int(n as u64), blob.name, blob.kind, blob.bytes])?;
    }
    let usual = if message.parts.is_empty() { message.usual_parts() } else { Vec::new() };
    for (n, part) in message.parts.iter().chain(&usual).enumerate() {
        let origin = part.origin.as_ref();
        tx.prepare_cached(
            "INSERT INTO message_parts(message_id, n, kind, bytes, seal, wire, place, model)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            id,
            int(n as u64),
            part.kind,
            int(part.bytes as u64),
            part.seal,
            origin.map(|o| &o.wire),
            origin.map(|o| &o.place),
            origin.map(|o| &o.model),
        ])?;
    }
    Ok(())
}

/// Updates the session with what a new message says about it.
fn note(tx: &Transaction<'_>, session: &str, message: &NewMessage, now: i64) -> Result<(), Error> {
    let title = (message.role == StoredRole::User).then(|| title_of(message)).flatten();
    tx.prepare_cached(
        "UPDATE session_meta SET messages = messages + ?2, updated_ms = ?3, title = coalesce(title, ?4)
         WHERE session_id = ?1",
    )?
    .execute(params![session, i64::from(message.role != StoredRole::Tool), now, title])?;
    note_model(tx, session, message.meta.model.as_deref())
}

/// Records the model a session used last.
fn note_model(tx: &Transaction<'_>, session: &str, model: Option<&str>) -> Result<(), Error> {
    if let Some(model) = model {
        tx.prepare_cached("UPDATE sessions SET model_used = ?2 WHERE id = ?1 AND model_used <> ?2")?
            .execute([session, model])?;
    }
    Ok(())
}

/// Returns the first words of a message, for a session that has no title yet: its first line that is not empty, at most
/// 80 characters.
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
