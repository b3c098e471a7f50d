//! A session as a document: Markdown, JSON, or a page for a browser.

use serde_json::{Value, json};

use crate::agent::session::context::SessionContext;
use crate::agent::session::records::{ResultRecord, read_calls, read_results};
use crate::agent::session::transcript::{PersonRestore, SessionPart, in_order};
use crate::memory::{self, ChangesetRecord, Memory, MessagePart, NewMessage, StoredMessage, StoredRole};
use crate::proposal::{FileChange, Proposal, State};
use crate::protocol::ExportFormat;
use crate::text::time::utc;

/// Returns a proposal that writes a session's document to a new file in the workspace's root.
///
/// # Errors
/// When memory does not have the session, or no name is free.
pub fn proposal(context: &SessionContext, id: &str, format: ExportFormat) -> Result<Proposal, String> {
    let asked_for = id.to_string();
    let read = context.services.memory.ask_blocking(move |memory| document(memory, &asked_for, format));
    let text = read.map_err(|e| e.to_string())?;
    let start = id.get(..8).unwrap_or(id);
    let names = (1..100).map(|n| match n {
        1 => format!("session-{start}.{}", extension(format)),
        n => format!("session-{start}-{n}.{}", extension(format)),
    });
    let free = names.into_iter().find(|n| context.services.workspace.stamp(n).is_none());
    let Some(path) = free else { return Err("a hundred exports of this session are there already".into()) };
    let change = FileChange::new(path.clone(), State::Absent, State::file(text.into_bytes()), "export", &[]);
    Ok(Proposal { id: context.events.proposal(), title: format!("export to {path}"), files: vec![change] })
}

/// Returns a session's document.
///
/// # Errors
/// When memory does not have the session.
pub fn document(memory: &Memory, id: &str, format: ExportFormat) -> Result<String, memory::Error> {
    let (session, messages) = (memory.get(id)?, memory.load(id)?);
    let restores = memory.restores_of_session(id)?;
    let rows = in_order(&messages, restores.iter());
    Ok(match format {
        ExportFormat::Markdown => markdown(&session, &rows),
        ExportFormat::Json => as_json(&session, &messages, &restores),
        ExportFormat::Html => html(&session, &rows),
    })
}

/// Returns the ending of a file that holds it.
pub fn extension(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Markdown => "md",
        ExportFormat::Json => "json",
        ExportFormat::Html => "html",
    }
}

/// Returns the format of that word.
pub fn parse(word: &str) -> Option<ExportFormat> {
    [ExportFormat::Markdown, ExportFormat::Json, ExportFormat::Html].into_iter().find(|f| extension(*f) == word)
}

fn title(session: &memory::Session) -> &str {
    session.title.as_deref().unwrap_or("untitled")
}

/// Returns when a session began, in words.
fn began(session: &memory::Session) -> String {
    session.started.map_or("at an unknown time".into(), utc)
}

fn markdown(session: &memory::Session, rows: &[SessionPart<'_>]) -> String {
    let mut out = format!(
        "# {}\n\n- session {}\n- project {}\n- model {}\n- began {}\n",
        title(session),
        session.id,
        session.project,
        session.model,
        began(session)
    );
    for row in rows {
        let row = match row {
            SessionPart::Message(row) => row,
            SessionPart::Restored(restore) => {
                let words = PersonRestore::of(restore).words();
                out.push_str(&format!("\n## you, {}\n\n{words}\n", utc(restore.at)));
                continue;
            }
        };
        let m = &row.message;
        let text = m.content.as_deref().unwrap_or("");
        match m.role {
            StoredRole::User => {
                let who = speaker(m.meta.typed);
                out.push_str(&format!("\n## {who}, message {}, {}\n\n{}\n", row.id, utc(row.at), text.trim_end()));
            }
            StoredRole::Assistant => {
                let head = format!("\n## nebula, message {}, {}\n", row.id, utc(row.at));
                out.push_str(&head);
                if !text.trim().is_empty() {
                    out.push_str(&format!("\n{}\n", text.trim_end()));
                }
                for (name, arguments) in calls(m) {
                    out.push_str(&format!("\n### calls {name}\n\n{}\n", fenced(&arguments)));
                }
            }
            StoredRole::Tool => {
                out.push_str(&format!("\n### result of {}\n\n{}\n", called(m), fenced(text)));
            }
        }
    }
    out
}

/// The name of a call that is damaged in memory.
const DAMAGED: &str = "(damaged in memory, cannot be read)";

/// Returns the names and arguments of the calls of a message; where they cannot be read, one with all that is stored.
fn calls(m: &NewMessage) -> Vec<(String, String)> {
    let stored = m.tool_calls.as_deref();
    match read_calls(stored) {
        Some(calls) => calls.into_iter().map(|call| (call.name, call.arguments)).collect(),
        None => vec![(DAMAGED.into(), stored.unwrap_or_default().into())],
    }
}

/// Returns the names of the calls that a message answers.
fn called(m: &NewMessage) -> String {
    let results = read_results(m.tool_results.as_deref());
    let names = |results: Vec<ResultRecord>| results.into_iter().map(|r| r.name).collect::<Vec<_>>().join(", ");
    results.map_or(DAMAGED.into(), names)
}

/// Returns who says a user message: text that nobody typed is nebula's own.
fn speaker(typed: Option<usize>) -> &'static str {
    if typed == Some(0) { "nebula to the model" } else { "you" }
}

/// Returns a fence longer than any inside.
fn fenced(text: &str) -> String {
    let longest = text.lines().map(|l| l.trim_start().chars().take_while(|c| *c == '`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

fn as_json(session: &memory::Session, messages: &[StoredMessage], restores: &[ChangesetRecord]) -> String {
    // What is no JSON stays the text that it is.
    let parsed = |text: &Option<String>| {
        text.as_deref().map(|text| serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.into()))
    };
    // As the provider wrote them, byte for byte: a string, whose JSON is not read here.
    let part = |part: &MessagePart| {
        let origin = part.origin.as_ref().map(|o| json!({"wire": o.wire, "place": o.place, "model": o.model}));
        json!({"kind": part.kind, "bytes": part.bytes, "seal": part.seal, "origin": origin})
    };
    let rows: Vec<_> = messages
        .iter()
        .map(|row| {
            let m = &row.message;
            json!({
                "id": row.id,
                "timestamp": utc(row.at),
                "role": match m.role { StoredRole::User => "user", StoredRole::Assistant => "assistant", StoredRole::Tool => "tool" },
                "content": m.content,
                "tool_calls": parsed(&m.tool_calls),
                "tool_results": parsed(&m.tool_results),
                "thinking": m.meta.thinking,
                "parts": m.parts.iter().map(part).collect::<Vec<_>>(),
            })
        })
        .collect();
    let restored = |record: &ChangesetRecord| {
        let paths: Vec<_> = record.files.iter().map(|file| &file.path).collect();
        json!({"changeset": record.id, "timestamp": utc(record.at), "cause": record.cause.title, "files": paths})
    };
    let restores: Vec<_> = restores.iter().map(restored).collect();
    let document = json!({
        "id": session.id,
        "title": session.title,
        "project": session.project,
        "model": session.model,
        "started_at": session.started.map(utc),
        "ended_at": session.ended.map(utc),
        "messages": rows,
        "restores": restores,
    });
    format!("{document:#}\n")
}

fn html(session: &memory::Session, rows: &[SessionPart<'_>]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>{STYLE}</style></head>\n<body><h1>{0}</h1>\n<p class=\"dim\">{1} · {2} · {3}</p>\n",
        escape(title(session)),
        escape(&session.project),
        escape(&session.model),
        began(session)
    );
    for row in rows {
        let row = match row {
            SessionPart::Message(row) => row,
            SessionPart::Restored(restore) => {
                let (when, words) = (utc(restore.at), escape(&PersonRestore::of(restore).words()));
                out.push_str(&format!(
                    "<section><h2 class=\"you\">you <time>{when}</time></h2><pre>{words}</pre></section>\n"
                ));
                continue;
            }
        };
        let m = &row.message;
        let text = escape(m.content.as_deref().unwrap_or("").trim_end());
        let when = utc(row.at);
        match m.role {
            StoredRole::User => out.push_str(&format!(
                "<section><h2 class=\"you\">{} <time>{when}</time></h2><pre>{text}</pre></section>\n",
                speaker(m.meta.typed)
            )),
            StoredRole::Assistant => {
                out.push_str(&format!("<section><h2>nebula <time>{when}</time></h2><pre>{text}</pre>"));
                for (name, arguments) in calls(m) {
                    let (name, arguments) = (escape(&name), escape(&arguments));
                    out.push_str(&format!("<details><summary>{name}</summary><pre>{arguments}</pre></details>"));
                }
                out.push_str("</section>\n");
            }
            StoredRole::Tool => {
                let names = escape(&called(m));
                out.push_str(&format!("<details><summary>result of {names}</summary><pre>{text}</pre></details>\n"));
            }
        }
    }
    out.push_str("</body></html>\n");
    out
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#22262d}\
h2{font-size:1rem;color:#5a43c4}h2.you{color:#0061ad}time,.dim,summary{color:#545c68;font-weight:normal}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:14px/1.5 ui-monospace,monospace}details{margin-left:1rem}\
@media(prefers-color-scheme:dark){body{background:#16181d;color:#d8dae0}h2{color:#bbabff}h2.you{color:#74c5ff}\
time,.dim,summary{color:#a6adba}}";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_messages_stays_text() {
        assert_eq!(escape("<b>&\"</b>"), "&lt;b&gt;&amp;&quot;&lt;/b&gt;");
        assert_eq!(fenced("a\n```\nb"), "````\na\n```\nb\n````");
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn damaged_calls_are_exported_as_they_are_stored() {
        let dir = tempfile::tempdir().expect("a folder");
        let (memory, _) = memory::Memory::open(memory::Options::in_folder(dir.path()));
        let id = memory.create(&memory::NewSession::default()).expect("made");
        let mut answer = NewMessage::text(StoredRole::Assistant, "text");
        answer.tool_calls = Some("[torn".into());
        let mut result = NewMessage::text(StoredRole::Tool, "done");
        result.tool_results = Some("[torn too".into());
        for message in [answer, result] {
            memory.append(&id, &message).expect("stored");
        }
        for format in [ExportFormat::Markdown, ExportFormat::Html] {
            let text = document(&memory, &id, format).expect("read");
            assert!(text.contains("[torn") && text.matches(DAMAGED).count() == 2, "{text}");
        }
        let text = document(&memory, &id, ExportFormat::Json).expect("read");
        assert!(text.contains("\"[torn\"") && text.contains("\"[torn too\""), "{text}");
    }
}
