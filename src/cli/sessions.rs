//! `nebula sessions …`: this project's conversations, listed, shown, exported and searched.

use std::io::{self, Write};

use anyhow::{Result, bail};
use serde_json::json;

use super::args::SessionsCmd;
use super::context::Context;
use super::out::{self, Out};
use crate::agent::export;
use crate::memory::{self, Memory, SessionUse};
use crate::shell::output::record;
use crate::text::time;

/// Runs the command; the exit code.
///
/// # Errors
/// When there is no such session, or memory cannot be used.
pub fn run(context: &Context, what: SessionsCmd) -> Result<i32> {
    let memory = context.readable_memory()?;
    let project = context.project();
    match what {
        SessionsCmd::List(args) => {
            let sessions = memory.list(&project)?;
            if sessions.is_empty() && !args.json {
                out::complain("this project has no sessions yet");
            }
            list(&sessions, args.json)?;
        }
        SessionsCmd::Show { id, json } => show(&memory, &memory.find(&project, &id)?, json)?,
        SessionsCmd::Export { id, format } => {
            let id = memory.find(&project, &id)?;
            let Some(format) = export::parse(&format) else { bail!("unknown format {format}: use md, json or html") };
            let text = export::document(&memory, &id, format)?;
            Out::stdout().document(text.as_bytes())?;
        }
        SessionsCmd::Rename { id, title } => {
            let id = memory.find(&project, &id)?;
            memory.rename(&id, &title.join(" "))?;
            // Locked while it was written: what is only in RAM ends with this command.
            memory.writable()?;
        }
        SessionsCmd::Delete { id, yes } => return delete(context, &memory, &memory.find(&project, &id)?, yes),
        SessionsCmd::Search { words, json } => search(&memory, &project, &words.join(" "), json)?,
    }
    Ok(0)
}

fn list(sessions: &[memory::Session], as_json: bool) -> io::Result<()> {
    let mut out = Out::stdout();
    if as_json {
        let rows: Vec<_> = sessions.iter().map(record).collect();
        return out.json(&rows);
    }
    for s in sessions {
        let state = match s.state {
            SessionUse::Open => "not closed cleanly",
            SessionUse::InUse { .. } => "in use",
            SessionUse::Ended => "",
        };
        let title = s.title.as_deref().unwrap_or("");
        writeln!(out, "{}  {}  {:>5}  {:<7} {:<20} {title}", s.id, time::utc(s.updated), s.messages, state, s.model)?;
    }
    Ok(())
}

fn record(s: &memory::Session) -> serde_json::Value {
    json!({
        "id": s.id,
        "title": s.title,
        "started_at": s.started.map(time::utc),
        "ended_at": s.ended.map(time::utc),
        "messages": s.messages,
        "model": s.model,
    })
}

fn show(memory: &Memory, id: &str, as_json: bool) -> Result<()> {
    let format = if as_json { crate::protocol::ExportFormat::Json } else { crate::protocol::ExportFormat::Markdown };
    let text = export::document(memory, id, format)?;
    Out::stdout().document(text.as_bytes())?;
    Ok(())
}

fn delete(context: &Context, memory: &Memory, id: &str, yes: bool) -> Result<i32> {
    let session = memory.get(id)?;
    let title = session.title.as_deref().unwrap_or("untitled");
    if !yes {
        if !out::at_terminal() {
            out::complain("nothing was deleted: without a terminal this needs --yes");
            return Ok(3);
        }
        let answer = out::read_line(&format!("delete \"{title}\" with its {} messages? y/n: ", session.messages))?;
        if !answer.trim().eq_ignore_ascii_case("y") {
            out::complain("nothing was deleted");
            return Ok(3);
        }
    }
    memory.delete(id)?;
    if let Some(own) = context.config.paths.folder() {
        record::forget(&own.join("commands"), id)?;
    }
    Ok(0)
}

fn search(memory: &Memory, project: &str, words: &str, as_json: bool) -> Result<()> {
    let hits = memory.search(project, words, 100)?;
    let mut out = Out::stdout();
    if as_json {
        let rows: Vec<_> = hits
            .iter()
            .map(|h| json!({"session": h.session, "title": h.title, "message": h.message, "snippet": h.snippet}))
            .collect();
        out.json(&rows)?;
        return Ok(());
    }
    // A title is the first words of a message: one line shows both.
    let mut printed = std::collections::HashSet::new();
    for h in hits.iter().filter(|h| printed.insert((&h.session, &h.snippet))) {
        writeln!(out, "{}  {}\n    {}", h.session, h.title, h.snippet.replace('\n', " "))?;
    }
    if hits.is_empty() {
        out::complain(format_args!("no message of this project matches {words:?}"));
    }
    Ok(())
}
