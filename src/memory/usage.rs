//! Sums the usage of answers: tokens and dollars by session, day, model or turn.

use rusqlite::params;

use super::store::Safety;
use super::{Error, Memory, count, int};
use crate::text::number::tokens;
use crate::text::time::now as now_ms;
use crate::text::width::{cells, padded};

/// The unit that one row sums up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageBy {
    /// A session.
    Session,
    /// A day, in UTC.
    Day,
    /// A model.
    Model,
    /// A message of the person and all steps that it led to.
    Turn,
}

/// Tokens and dollars of several steps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsageRow {
    /// The session's id, the day, the model, or the id of the message that began the turn; 0 for requests of no turn.
    pub key: String,
    /// Answers.
    pub steps: u64,
    /// Tokens sent.
    pub input: u64,
    /// Tokens of those sent that were read from the provider's cache.
    pub cache_read: u64,
    /// Tokens of those sent that were written to the provider's cache.
    pub cache_write: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens of those received that were thinking.
    pub thinking: u64,
    /// Billionths of a dollar, of the steps whose price is known.
    pub cost_nanos: u64,
    /// Steps without a price.
    pub unpriced: u64,
    /// Steps that read less than half of what the step before read from the cache, although their requests began with
    /// the same bytes and came while the cache keeps: five minutes, or an hour.
    pub missed: u64,
    /// Steps whose cost is by the built-in table of prices, or by tokens that the server did not report.
    pub estimated: u64,
}

/// The tokens of a request beside the conversation: a summary, a question about a hunk, a commit message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageBeside {
    /// The turn it belongs to.
    pub turn: Option<i64>,
    /// The model that answered.
    pub model: String,
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens of those sent that were read from the provider's cache.
    pub cache_read: u64,
    /// Tokens of those sent that were written to the provider's cache.
    pub cache_write: u64,
    /// Tokens of those received that were thinking.
    pub thinking: u64,
    /// The cost in billionths of a dollar; `None`: no price is known.
    pub cost_nanos: Option<u64>,
    /// The price is that of the built-in table, or some of the tokens were counted here.
    pub estimated: bool,
}

impl UsageRow {
    /// Adds the counts of another row.
    pub fn add(&mut self, other: &UsageRow) {
        self.steps += other.steps;
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.output += other.output;
        self.thinking += other.thinking;
        self.cost_nanos += other.cost_nanos;
        self.unpriced += other.unpriced;
        self.missed += other.missed;
        self.estimated += other.estimated;
    }
}

impl Memory {
    /// Stores what a request beside the conversation took.
    ///
    /// # Errors
    /// When memory cannot be written.
    pub fn add_usage_beside(&self, project: &str, session: Option<&str>, usage: &UsageBeside) -> Result<(), Error> {
        let (key, now) = (uuid::Uuid::new_v4().to_string(), now_ms());
        let mut store = self.store();
        let turn = usage.turn.and_then(|turn| store.stored_id(turn));
        store.write(Safety::Normal, session, |tx| {
            tx.prepare_cached(
                "INSERT OR IGNORE INTO usage_beside VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            )?
            .execute(params![
                key,
                project,
                session,
                turn,
                now,
                usage.model,
                int(usage.input),
                int(usage.output),
                int(usage.cache_read),
                int(usage.cache_write),
                int(usage.thinking),
                usage.cost_nanos.map(int),
                usage.estimated
            ])?;
            Ok(())
        })
    }

    /// Stores the tokens of a stored answer that were counted here, since its server did not report them.
    ///
    /// # Errors
    /// When memory cannot be written.
    pub fn count_usage(&self, session: &str, answer: i64, usage: &UsageBeside) -> Result<(), Error> {
        let mut store = self.store();
        let id = store.id(answer);
        store.write(Safety::Normal, Some(session), |tx| {
            tx.prepare_cached(
                "UPDATE message_meta SET input_tokens = ?2, output_tokens = ?3, cost_nanos = ?4,
                   extra = json_set(iif(json_valid(extra), extra, '{}'), '$.estimated', json('true'))
                 WHERE message_id = ?1",
            )?
            .execute(params![id, int(usage.input), int(usage.output), usage.cost_nanos.map(int)])?;
            Ok(())
        })
    }

    /// Returns what answers took, in this project or (`None`) everywhere, of one session or of all; in the order of
    /// time.
    pub fn usage(&self, project: Option<&str>, session: Option<&str>, by: UsageBy) -> Result<Vec<UsageRow>, Error> {
        let key = match by {
            UsageBy::Session => "session",
            UsageBy::Day => "date(at / 1000, 'unixepoch', 'localtime')",
            UsageBy::Model => "model",
            UsageBy::Turn => "turn",
        };
        let store = self.store();
        let mut statement = store.conn.prepare(&format!(
            "WITH answers AS (
               SELECT m.id, m.session_id AS session, x.at_ms AS at, coalesce(x.model, '') AS model,
                 coalesce(x.turn, 0) AS turn, coalesce(x.input_tokens, 0) AS input,
                 x.cached_tokens AS cached, coalesce(x.written_tokens, 0) AS written,
                 coalesce(x.output_tokens, 0) AS output, coalesce(x.thinking_tokens, 0) AS thinking, x.cost_nanos AS cost,
                 CASE WHEN json_valid(x.extra) THEN json_extract(x.extra, '$.estimated') END IS NOT NULL AS estimated,
                 CASE WHEN json_valid(x.extra) THEN json_extract(x.extra, '$.new_prefix') END IS NOT NULL AS moved,
                 lag(x.hour_tokens) OVER (PARTITION BY m.session_id, x.model ORDER BY m.id) AS for_hour,
                 lag(x.cached_tokens) OVER (PARTITION BY m.session_id, x.model ORDER BY m.id) AS before,
                 lag(x.at_ms) OVER (PARTITION BY m.session_id, x.model ORDER BY m.id) AS earlier
               FROM messages m JOIN message_meta x ON x.message_id = m.id JOIN sessions s ON s.id = m.session_id
               WHERE m.role = 'assistant' AND x.copied = 0 AND (x.input_tokens > 0 OR x.output_tokens > 0)
                 AND (?1 IS NULL OR s.project_path = ?1) AND (?2 IS NULL OR m.session_id = ?2)),
             steps AS (
               SELECT session, at, model, turn, input, cached, written, output, thinking, cost, estimated,
                 before > 0 AND cached * 2 < before AND NOT moved
                   AND at - earlier < iif(for_hour > 0, 3600000, 300000) AS missed
               FROM answers
               UNION ALL
               SELECT coalesce(session_id, ''), at_ms, model, coalesce(turn, 0), input_tokens, cached_tokens,
                 written_tokens, output_tokens, thinking_tokens, cost_nanos, estimated, 0
               FROM usage_beside
               WHERE (?1 IS NULL OR project_path = ?1) AND (?2 IS NULL OR session_id = ?2))
             SELECT {key}, count(*), sum(input), sum(cached), sum(written), sum(output), sum(thinking),
               coalesce(sum(cost), 0), sum(cost IS NULL),
               sum(missed), sum(estimated AND cost > 0)
             FROM steps GROUP BY 1 ORDER BY min(at)"
        ))?;
        let mut rows = statement.query(params![project, session])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let number = |at: usize| row.get::<_, Option<i64>>(at).map(|n| n.map_or(0, count));
            found.push(UsageRow {
                key: match row.get_ref(0)? {
                    rusqlite::types::ValueRef::Integer(n) => n.to_string(),
                    text => text.as_str().unwrap_or_default().to_string(),
                },
                steps: number(1)?,
                input: number(2)?,
                cache_read: number(3)?,
                cache_write: number(4)?,
                output: number(5)?,
                thinking: number(6)?,
                cost_nanos: number(7)?,
                unpriced: number(8)?,
                missed: number(9)?,
                estimated: number(10)?,
            });
        }
        Ok(found)
    }
}

/// The words of a table of usage, in the language of who reads it.
pub struct UsageWords {
    /// The columns, from steps to missed.
    pub columns: [&'static str; 7],
    /// The head, of tokens in and out and the share that was cached.
    pub head: fn(&str, &str, u64) -> String,
    /// The note on prices, of the date of the built-in ones.
    pub prices: fn(&str) -> String,
}

impl UsageWords {
    /// The words that commands print.
    pub const ENGLISH: UsageWords = UsageWords {
        columns: ["steps", "in", "cached", "out", "thought", "cost", "missed"],
        head: |input, output, cached| format!("{input} in · {output} out · {cached}% cached"),
        prices: |as_of| {
            format!(
                "Prices that neither the configuration nor the server's list names are those of {as_of}; a sum with + holds \
                 steps without a price."
            )
        },
    };
}

/// Returns tables of the same usage, one below the other, each with its rows and what they sum up to: the head before
/// the first, and behind the last the date of the built-in prices, `as_of`, where there is a price.
pub fn usage_tables(tables: &[(Vec<UsageRow>, UsageRow)], as_of: &str, words: &UsageWords) -> String {
    let Some((_, total)) = tables.first() else { return String::new() };
    let head = (words.head)(&tokens(total.input), &tokens(total.output), cached(total));
    let note = (total.cost_nanos > 0).then(|| format!("{}\n", (words.prices)(as_of)));
    let tables = tables.iter().map(|(rows, total)| table(rows, total, words));
    [head + "\n"].into_iter().chain(tables).chain(note).collect::<Vec<_>>().join("\n")
}

/// Returns a line for each row and one for all; each column is as wide as its longest value.
fn table(rows: &[UsageRow], total: &UsageRow, words: &UsageWords) -> String {
    let keys = rows.iter().chain([total]).map(|row| cells(&row.key)).max().unwrap_or(0);
    let all = rows.iter().chain([total]).map(|row| (row.key.as_str(), values(row)));
    let lines: Vec<(&str, [String; 7])> = [("", words.columns.map(String::from))].into_iter().chain(all).collect();
    let widest = |at: usize| lines.iter().map(|(_, values)| cells(&values[at])).max().unwrap_or(0);
    let widths = std::array::from_fn::<usize, 7, _>(widest);
    let line = |(key, values): &(&str, [String; 7])| {
        let columns = values.iter().zip(widths).map(|(value, width)| format!(" {}", right(value, width)));
        columns.fold(padded(key, keys), |line, value| line + &value) + "\n"
    };
    lines.iter().map(line).collect()
}

/// Returns what stands in the columns of a row.
fn values(row: &UsageRow) -> [String; 7] {
    [
        row.steps.to_string(),
        tokens(row.input),
        format!("{}%", cached(row)),
        tokens(row.output),
        tokens(row.thinking),
        dollars(row),
        row.missed.to_string(),
    ]
}

/// Pads to the right end of this many cells.
fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(cells(text))))
}

fn cached(row: &UsageRow) -> u64 {
    (row.cache_read * 100).checked_div(row.input).unwrap_or(0)
}

fn dollars(row: &UsageRow) -> String {
    match (row.cost_nanos, row.unpriced) {
        (0, 0) => String::new(),
        (0, _) => "?".into(),
        (nanos, unpriced) => {
            let (about, more) = (if row.estimated > 0 { "≈" } else { "" }, if unpriced > 0 { "+" } else { "" });
            format!("{about}${:.4}{more}", nanos as f64 / 1e9)
        }
    }
}
