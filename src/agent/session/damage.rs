//! The records of a stored session that cannot be read, and the one notice of them when the session is opened.

use std::fmt::Display;

use crate::agent::session::prompt_state::joined;
use crate::agent::session::records::{
    AnswerRecord, ResultRecord, attached_records, parse_sha, read_calls, read_results, spans, wire_of,
};
use crate::memory::{StoredMessage, StoredRole};
use crate::messages::agent as say;
use crate::protocol::{Level, Notice};

/// The numbers of the messages whose records cannot be read, by what is lost with them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SessionDamage {
    /// Calls or their results.
    calls: Vec<i64>,
    /// Images and documents.
    blobs: Vec<i64>,
    /// The order of the parts, or the provider's own form of them.
    parts: Vec<i64>,
    /// The record of files that were attached or read.
    files: Vec<i64>,
    /// The facts shown beside a message: times, sizes, rules.
    beside: Vec<i64>,
    /// The session's own record: the system prompt as it was sent, and which results are left out.
    prompt: bool,
}

impl SessionDamage {
    /// Finds what of these messages cannot be read; `prompt`: nor the session's own record.
    pub fn of(rows: &[StoredMessage], prompt: bool) -> Self {
        let mut damage = SessionDamage { prompt, ..SessionDamage::default() };
        for row in rows {
            let m = &row.message;
            let results = read_results(m.tool_results.as_deref());
            let attached = attached_records(m.meta.attached.as_deref());
            let files = attached.is_none_or(|records| records.iter().any(|record| !record.is_readable()))
                || results.as_ref().is_some_and(|results| results.iter().any(names_no_version));
            let beside = match m.role {
                StoredRole::Assistant => AnswerRecord::read(m.meta.extra.as_deref()).is_none(),
                StoredRole::User | StoredRole::Tool => joined(m.meta.extra.as_deref()).is_none(),
            };
            let unknown_wire = m.parts.iter().any(|part| part.origin.as_ref().is_some_and(|o| wire_of(o).is_none()));
            for (is_lost, ids) in [
                (results.is_none() || read_calls(m.tool_calls.as_deref()).is_none(), &mut damage.calls),
                (row.damage.blobs > 0, &mut damage.blobs),
                (row.damage.parts || unknown_wire || spans(m).is_none(), &mut damage.parts),
                (files, &mut damage.files),
                (beside, &mut damage.beside),
            ] {
                if is_lost {
                    ids.push(row.id);
                }
            }
        }
        damage
    }

    /// Returns the notice that names what is lost and what to do; none where everything can be read.
    pub fn notice(&self) -> Option<Notice> {
        if *self == SessionDamage::default() {
            return None;
        }
        let by_message = [
            (&self.calls, say::lost_calls as fn(&dyn Display) -> String),
            (&self.blobs, say::lost_blobs as _),
            (&self.parts, say::lost_parts as _),
            (&self.files, say::lost_files as _),
            (&self.beside, say::lost_beside as _),
        ];
        let lost = by_message.into_iter().filter(|(ids, _)| !ids.is_empty()).map(|(ids, line)| line(&numbers(ids)));
        let prompt = self.prompt.then(|| say::lost_prompt().to_string());
        let lines: Vec<String> = lost.chain(prompt).collect();
        Some(Notice::new(Level::Warning, say::damaged_session(), lines.join("\n")))
    }
}

/// Returns whether the version of a file that a result made known cannot be read.
fn names_no_version(result: &ResultRecord) -> bool {
    result.known_files.iter().any(|file| parse_sha(&file.sha256).is_none())
}

/// The most numbers of messages in one line of the notice.
const NUMBERS: usize = 8;

fn numbers(ids: &[i64]) -> String {
    let mut words: Vec<String> = ids.iter().take(NUMBERS).map(i64::to_string).collect();
    if ids.len() > NUMBERS {
        words.push("…".into());
    }
    words.join(", ")
}
