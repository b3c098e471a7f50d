//! `nebula usage`: tokens and dollars used by answers.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};

use super::super::args::{UsageArgs, UsageKey};
use super::super::context::Context;
use super::super::out::{self, Out};
use crate::memory::{UsageBy, UsageRow, UsageWords, usage_tables};
use crate::provider::models;

/// Shows what the answers of this project took.
///
/// # Errors
/// When memory cannot be read.
pub fn run(context: &Context, args: &UsageArgs) -> Result<i32> {
    let by = match args.by {
        UsageKey::Session => UsageBy::Session,
        UsageKey::Day => UsageBy::Day,
        UsageKey::Model => UsageBy::Model,
    };
    let memory = context.readable_memory()?;
    let rows = memory.usage(Some(&context.project()), None, by)?;
    let mut total = UsageRow { key: "total".into(), ..UsageRow::default() };
    rows.iter().for_each(|row| total.add(row));
    if args.json {
        let by: Vec<Value> = rows.iter().map(record).collect();
        let mut total = record(&total);
        total.as_object_mut().map(|fields| fields.remove("key"));
        out::say_json(&json!({"total": total, "by": by}))?;
        return Ok(0);
    }
    if rows.is_empty() {
        out::complain("no model has answered in this project yet");
        return Ok(0);
    }
    write!(Out::stdout(), "{}", usage_tables(&[(rows, total)], models::as_of(), &UsageWords::ENGLISH))?;
    Ok(0)
}

fn record(row: &UsageRow) -> Value {
    json!({
        "key": row.key, "steps": row.steps, "input": row.input, "cacheRead": row.cache_read,
        "cacheWrite": row.cache_write, "output": row.output, "thinking": row.thinking,
        "cost": row.cost_nanos as f64 / 1e9, "unpriced": row.unpriced, "estimated": row.estimated, "cacheMissed": row.missed,
    })
}
