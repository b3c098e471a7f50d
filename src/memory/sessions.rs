//! Sessions: one row each, which process has them open, and their totals.

use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::store::locks::{self, Hold};
use super::store::{Safety, Store};
use super::{Error, Memory, Trouble, count, int, lossy, now_ms};
use crate::text::id;

/// The initial values of a new session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewSession {
    /// The workspace's root.
    pub project: String,
    /// The model's name.
    pub model: String,
    /// `plan` or `agent`.
    pub mode: Option<String>,
    /// The provider's name.
    pub provider: Option<String>,
    /// The edit format's name.
    pub format: Option<String>,
}

/// The use of a stored session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionUse {
    /// Its process went away without closing it.
    Open,
    /// A process has it: this one, or another.
    InUse {
        /// True if this process has it open.
        mine: bool,
    },
    /// It was closed.
    Ended,
}

/// Tokens, dollars and lines of a session.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Totals {
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Dollars, where a price is known.
    pub cost: Option<f64>,
    /// True if a part of the cost is by the built-in table of prices.
    pub estimated: bool,
    /// A step has no price.
    pub unpriced: bool,
    /// Lines added by changesets that were applied.
    pub added: u64,
    /// Lines removed by them.
    pub removed: u64,
}

impl Totals {
    /// Adds tokens and dollars.
    pub fn add(&mut self, more: &Totals) {
        self.input += more.input;
        self.output += more.output;
        if let Some(cost) = more.cost {
            *self.cost.get_or_insert(0.0) += cost;
        }
        self.estimated |= more.estimated;
        self.unpriced |= more.unpriced;
    }
}

/// A stored session.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// UUIDv7.
    pub id: String,
    /// The workspace's root.
    pub project: String,
    /// The model used last.
    pub model: String,
    /// A title someone gave, or the first words of the first message; `None` without messages.
    pub title: Option<String>,
    /// The time when it began, where it can be read.
    pub started: Option<i64>,
    /// The time when it was closed, or its last word where its process went away.
    pub ended: Option<i64>,
    /// The time of the last message.
    pub updated: i64,
    /// Messages of the person and of the model.
    pub messages: u64,
    /// Its use.
    pub state: SessionUse,
    /// `plan` or `agent`.
    pub mode: Option<String>,
    /// The provider's name.
    pub provider: Option<String>,
    /// The edit format's name.
    pub format: Option<String>,
    /// The session this is a fork of.
    pub parent: Option<String>,
    /// Its totals.
    pub totals: Totals,
    /// JSON of the session's owner.
    pub extra: Option<String>,
}

/// A text that replaces the beginning of a conversation in what is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSummary {
    /// The text.
    pub text: String,
    /// The last message it replaces.
    pub upto: i64,
}

/// Returns a new session's id.
pub(super) fn new_id() -> String {
    id::now().to_string()
}

const COLUMNS: &str = "s.id, s.project_path, s.model_used, m.title, unixepoch(s.started_at) * 1000,
    unixepoch(s.ended_at) * 1000, m.updated_ms, m.messages, m.stopped, m.mode, m.provider, m.format, m.parent,
    m.input_tokens, m.output_tokens, m.cost, m.added, m.removed, m.extra, m.estimated, m.unpriced";

impl Memory {
    /// Begins a session and takes it. It is listed once it has a message.
    pub fn create(&self, new: &NewSession) -> Result<String, Error> {
        let id = new_id();
        self.create_as(&id, new)?;
        Ok(id)
    }

    /// Creates a session with an id that was made before.
    pub(super) fn create_as(&self, id: &str, new: &NewSession) -> Result<(), Error> {
        let mut store = self.store();
        store.take(self, id)?;
        let now = now_ms();
        store.write(Safety::Normal, None, |tx| insert(tx, id, new, now))?;
        if let Some(fallback) = &mut store.fallback {
            fallback.made(id);
        }
        Ok(())
    }

    /// Takes a stored session again: it counts as not ended until [`Memory::end`].
    pub fn reopen(&self, id: &str) -> Result<Session, Error> {
        let mut store = self.store();
        store.session(self, id)?;
        store.take(self, id)?;
        store.write(Safety::Normal, Some(id), |tx| {
            tx.execute("UPDATE sessions SET ended_at = NULL WHERE id = ?1", [id])?;
            tx.execute("UPDATE session_meta SET stopped = 0 WHERE session_id = ?1", [id])?;
            Ok(())
        })?;
        store.session(self, id)
    }

    /// Closes a session and releases it. One without messages is removed.
    pub fn end(&self, id: &str) -> Result<(), Error> {
        let mut store = self.store();
        let now = now_ms();
        store.write(Safety::Normal, Some(id), |tx| {
            let sql = "UPDATE sessions SET ended_at = datetime(?2 / 1000, 'unixepoch') WHERE id = ?1";
            tx.execute(sql, params![id, now])?;
            let said: bool =
                tx.query_row("SELECT EXISTS(SELECT 1 FROM messages WHERE session_id = ?1)", [id], |r| r.get(0))?;
            if said { Ok(()) } else { delete(tx, id) }
        })?;
        store.holds.remove(id);
        store.unlocked.remove(id);
        Ok(())
    }

    /// Returns this project's sessions in which something was said, newest first.
    pub fn list(&self, project: &str) -> Result<Vec<Session>, Error> {
        let store = self.store();
        let sql = format!(
            "SELECT {COLUMNS} FROM sessions s JOIN session_meta m ON m.session_id = s.id
             WHERE s.project_path = ?1 AND m.messages > 0 ORDER BY m.updated_ms DESC, s.id DESC"
        );
        let mut statement = store.conn.prepare_cached(&sql)?;
        let rows = statement.query_map([project], |row| store.read_session(self, row))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns one session.
    pub fn get(&self, id: &str) -> Result<Session, Error> {
        self.store().session(self, id)
    }

    /// Returns the session of this project whose id begins so, in full.
    pub fn find(&self, project: &str, beginning: &str) -> Result<String, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT id FROM sessions WHERE project_path = ?1 AND substr(id, 1, length(?2)) = ?2 LIMIT 2",
        )?;
        let found: Vec<String> =
            statement.query_map([project, beginning], |row| row.get(0))?.collect::<Result<_, _>>()?;
        match found.as_slice() {
            [one] if !beginning.is_empty() => Ok(one.clone()),
            [] => Err(store.no_session(beginning)),
            _ => Err(Error::Ambiguous(beginning.to_string())),
        }
    }

    /// Gives a session a title.
    pub fn rename(&self, id: &str, title: &str) -> Result<(), Error> {
        self.set(id, "title", title)
    }

    /// Records that a session goes on in this mode (`plan`, `agent`).
    pub fn set_mode(&self, id: &str, mode: &str) -> Result<(), Error> {
        self.set(id, "mode", mode)
    }

    /// Records that a session goes on in this edit format.
    pub fn set_format(&self, id: &str, format: &str) -> Result<(), Error> {
        self.set(id, "format", format)
    }

    /// Records that a session goes on with this provider.
    pub fn set_provider(&self, id: &str, provider: &str) -> Result<(), Error> {
        self.set(id, "provider", provider)
    }

    /// Stores JSON of the session's owner.
    pub fn set_extra(&self, id: &str, json: &str) -> Result<(), Error> {
        self.set(id, "extra", json)
    }

    /// Stores what was typed in a session and not sent, as JSON of its owner.
    pub fn set_unsent(&self, id: &str, json: &str) -> Result<(), Error> {
        self.set(id, "unsent", json)
    }

    /// Returns what was typed in a session and not sent, if that was stored.
    pub fn unsent(&self, id: &str) -> Result<Option<String>, Error> {
        let sql = "SELECT unsent FROM session_meta WHERE session_id = ?1";
        Ok(self.store().conn.query_row(sql, [id], |row| lossy(row, 0)).optional()?.flatten())
    }

    /// Records that a session goes on with this model.
    pub fn set_model(&self, id: &str, model: &str) -> Result<(), Error> {
        self.store().write(Safety::Normal, Some(id), |tx| {
            one(tx.execute("UPDATE sessions SET model_used = ?2 WHERE id = ?1", [id, model])?, id)
        })
    }

    /// Deletes a session and its messages. One that another process has is left alone. Changesets it caused stay.
    pub fn delete(&self, id: &str) -> Result<(), Error> {
        let mut store = self.store();
        store.session(self, id)?;
        if !store.holds.contains_key(id) && locks::is_held(&self.options.locks, id) {
            return Err(Error::InUse(id.to_string()));
        }
        if let Some(trouble) = store.trouble() {
            return Err(Error::NotNow(trouble));
        }
        store.write(Safety::Normal, None, |tx| delete(tx, id))?;
        store.holds.remove(id);
        Ok(())
    }

    /// Creates a new session, taken, that begins with another's messages: all, or those up to and with one. The other
    /// may be in use.
    pub fn fork(&self, id: &str, upto: Option<i64>) -> Result<String, Error> {
        let new = new_id();
        let mut store = self.store();
        let of = store.session(self, id)?;
        store.take(self, &new)?;
        store.fetch(id)?;
        let upto = upto.map_or(i64::MAX, |n| store.id(n));
        let title = format!("fork of {}", of.title.as_deref().unwrap_or("a session"));
        let now = now_ms();
        store.write(Safety::Normal, None, |tx| {
            let begin = NewSession {
                project: of.project.clone(),
                model: of.model.clone(),
                mode: of.mode.clone(),
                provider: of.provider.clone(),
                format: of.format.clone(),
            };
            insert(tx, &new, &begin, now)?;
            let last = super::messages::copy(tx, id, &new, upto)?;
            tx.execute(
                "UPDATE session_meta SET title = ?2, parent = ?3, parent_message = ?4, extra = ?5,
                   messages = (SELECT count(*) FROM messages WHERE session_id = ?1 AND role <> 'tool')
                 WHERE session_id = ?1",
                params![new, title, id, last, of.extra],
            )?;
            Ok(())
        })?;
        if let Some(fallback) = &mut store.fallback {
            fallback.made(&new);
        }
        Ok(new)
    }

    /// Adds the tokens and dollars of a step to what a session amounts to.
    pub fn add_usage(&self, id: &str, step: &Totals) -> Result<(), Error> {
        self.store().write(Safety::Normal, Some(id), |tx| {
            let n = tx
                .prepare_cached(
                    "UPDATE session_meta SET input_tokens = input_tokens + ?2, output_tokens = output_tokens + ?3,
                       cost = CASE WHEN ?4 IS NULL THEN cost ELSE coalesce(cost, 0) + ?4 END,
                       estimated = max(estimated, ?5), unpriced = max(unpriced, ?6) WHERE session_id = ?1",
                )?
                .execute(params![id, int(step.input), int(step.output), step.cost, step.estimated, step.unpriced])?;
            one(n, id)
        })
    }

    /// Makes a turn's end safe against power loss.
    pub fn end_turn(&self, id: &str) -> Result<(), Error> {
        let mut store = self.store();
        let now = now_ms();
        store.write(Safety::Full, Some(id), |tx| {
            tx.execute("UPDATE session_meta SET updated_ms = ?2 WHERE session_id = ?1", params![id, now])?;
            super::search::pending::index_many(tx)
        })
    }

    /// Returns the text that stands for the beginning of the conversation, if someone asked for one.
    pub fn summary(&self, id: &str) -> Result<Option<ConversationSummary>, Error> {
        let found = self
            .store()
            .conn
            .query_row("SELECT summary, summary_upto FROM session_meta WHERE session_id = ?1", [id], |row| {
                Ok((lossy(row, 0)?, row.get::<_, Option<i64>>(1)?))
            })
            .optional()?;
        let (text, upto) = found.ok_or_else(|| Error::NoSession(id.to_string()))?;
        Ok(text.zip(upto).map(|(text, upto)| ConversationSummary { text, upto }))
    }

    /// Lets a text stand for the beginning of the conversation in what is sent; `None` removes it. No message is
    /// lost.
    pub fn set_summary(&self, id: &str, summary: Option<&ConversationSummary>) -> Result<(), Error> {
        let mut store = self.store();
        let (text, upto) = (summary.map(|s| s.text.as_str()), summary.map(|s| store.id(s.upto)));
        store.write(Safety::Normal, Some(id), |tx| {
            let sql = "UPDATE session_meta SET summary = ?2, summary_upto = ?3 WHERE session_id = ?1";
            one(tx.execute(sql, params![id, text, upto])?, id)
        })
    }

    /// Ends the sessions, of any project, whose processes have ended; they are still called open until they are
    /// resumed. Returns how many. For some time after the first frame: it writes.
    pub fn sweep(&self) -> Result<usize, Error> {
        let mut store = self.store();
        let gone: Vec<String> = {
            let mut statement = store.conn.prepare("SELECT id FROM sessions WHERE ended_at IS NULL")?;
            let all: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let held = |id: &String| store.holds.contains_key(id) || locks::is_held(&self.options.locks, id);
            all.into_iter().filter(|id| !held(id)).collect()
        };
        if gone.is_empty() || store.fallback.is_some() {
            return Ok(0);
        }
        store.write(Safety::Normal, None, |tx| {
            for id in &gone {
                close_gone(tx, id)?;
            }
            Ok(())
        })?;
        // Before this process looks at them again: while it is being removed, a lock looks held.
        gone.iter().for_each(|id| locks::sweep(&self.options.locks, id));
        drop(store);
        Ok(gone.len())
    }

    /// Returns whether a process, this one or another, has the session open.
    pub fn in_use(&self, id: &str) -> bool {
        locks::is_held(&self.options.locks, id)
    }

    fn set(&self, id: &str, column: &'static str, value: &str) -> Result<(), Error> {
        self.store().write(Safety::Normal, Some(id), |tx| {
            let sql = format!("UPDATE session_meta SET {column} = ?2 WHERE session_id = ?1");
            one(tx.execute(&sql, [id, value])?, id)
        })
    }
}

impl Store {
    /// Takes the lock of a session for this process.
    fn take(&mut self, memory: &Memory, id: &str) -> Result<(), Error> {
        if self.holds.contains_key(id) {
            return Ok(());
        }
        match Hold::take(&memory.options.locks, id) {
            Ok(Some(hold)) => {
                self.holds.insert(id.to_string(), hold);
                Ok(())
            }
            Ok(None) => Err(Error::InUse(id.to_string())),
            // A session that cannot be locked could be taken by another nebula too: until the lock works, what is said
            // stays here.
            Err(e) => {
                self.unlocked.insert(id.to_string());
                if self.fallback.is_none() {
                    self.go_on_in_ram(e.trouble().unwrap_or(Trouble::Io));
                }
                Ok(())
            }
        }
    }

    fn session(&self, memory: &Memory, id: &str) -> Result<Session, Error> {
        let sql =
            format!("SELECT {COLUMNS} FROM sessions s JOIN session_meta m ON m.session_id = s.id WHERE s.id = ?1");
        let found = self.conn.prepare_cached(&sql)?.query_row([id], |row| self.read_session(memory, row)).optional()?;
        found.ok_or_else(|| self.no_session(id))
    }

    fn read_session(&self, memory: &Memory, row: &Row<'_>) -> rusqlite::Result<Session> {
        let id: String = row.get(0)?;
        let ended: Option<i64> = row.get(5)?;
        let stopped: bool = row.get(8)?;
        let state = match ended {
            _ if self.holds.contains_key(&id) => SessionUse::InUse { mine: true },
            None if locks::is_held(&memory.options.locks, &id) => SessionUse::InUse { mine: false },
            Some(_) if !stopped => SessionUse::Ended,
            _ => SessionUse::Open,
        };
        Ok(Session {
            id,
            project: row.get(1)?,
            model: lossy(row, 2)?.unwrap_or_default(),
            title: lossy(row, 3)?,
            started: row.get(4)?,
            ended,
            updated: row.get(6)?,
            messages: count(row.get(7)?),
            state,
            mode: lossy(row, 9)?,
            provider: lossy(row, 10)?,
            format: lossy(row, 11)?,
            parent: lossy(row, 12)?,
            totals: Totals {
                input: count(row.get(13)?),
                output: count(row.get(14)?),
                cost: row.get(15)?,
                added: count(row.get(16)?),
                removed: count(row.get(17)?),
                estimated: row.get(19)?,
                unpriced: row.get(20)?,
            },
            extra: lossy(row, 18)?,
        })
    }
}

/// Fails if an update met no row.
fn one(changed: usize, id: &str) -> Result<(), Error> {
    if changed == 0 { Err(Error::NoSession(id.to_string())) } else { Ok(()) }
}

fn insert(tx: &Transaction<'_>, id: &str, new: &NewSession, now: i64) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO sessions(id, project_path, model_used, started_at)
         VALUES(?1, ?2, ?3, datetime(?4 / 1000, 'unixepoch'))",
        params![id, new.project, new.model, now],
    )?;
    tx.execute(
        "INSERT INTO session_meta(session_id, mode, provider, format, updated_ms) VALUES(?1, ?2, ?3, ?4, ?5)",
        params![id, new.mode, new.provider, new.format, now],
    )?;
    Ok(())
}

fn delete(tx: &Transaction<'_>, id: &str) -> Result<(), Error> {
    let messages: Vec<i64> = tx
        .prepare("SELECT id FROM messages WHERE session_id = ?1")?
        .query_map([id], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for message in messages {
        super::messages::delete(tx, message)?;
    }
    tx.execute("DELETE FROM session_meta WHERE session_id = ?1", [id])?;
    tx.execute("DELETE FROM sessions WHERE id = ?1", [id])?;
    Ok(())
}

/// Ends a session whose process has ended at its last message, or removes it if it has none.
fn close_gone(tx: &Transaction<'_>, id: &str) -> Result<(), Error> {
    let said: bool = tx.query_row("SELECT EXISTS(SELECT 1 FROM messages WHERE session_id = ?1)", [id], |r| r.get(0))?;
    if !said {
        return delete(tx, id);
    }
    tx.execute(
        "UPDATE sessions SET ended_at =
           (SELECT datetime(updated_ms / 1000, 'unixepoch') FROM session_meta WHERE session_id = ?1) WHERE id = ?1",
        [id],
    )?;
    tx.execute("UPDATE session_meta SET stopped = 1 WHERE session_id = ?1", [id])?;
    Ok(())
}
