//! What is asked: the message of the person with what it mentions, and the request with all that joins it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::agent::services::{Env, lock};
use crate::agent::session::Session;
use crate::agent::session::prompt_state;
use crate::agent::session::rag;
use crate::agent::session::records::hex;
use crate::context::attach::{Attachment, compose};
use crate::context::prompts;
use crate::context::request::Budget;
use crate::memory::{self, MessageMeta, NewMessage};
use crate::protocol::{Attached, Event, Item, Level, Mode, Prompt, PromptRow, TurnEnd};
use crate::provider::{Blob, Body, Message, Request, Role, Takes, Usage};
use crate::tools::Sha;

/// The context window of a model of which nothing is configured, in tokens.
const DEFAULT_WINDOW: u32 = 128_000;
/// That of the models nebula begins with.
const WIDE_WINDOW: u32 = 1_047_576;
/// What a tool's schema costs beside its description, in bytes.
const SCHEMA: usize = 300;

/// Keeps and shows a message of the person, with what it mentions attached. Files are read here, so that what is
/// sent is what was there when Enter was pressed.
///
/// # Errors
/// When something mentioned is missing or may not be read: nothing is sent.
pub async fn say(
    env: &Arc<Env>,
    session: &mut Session,
    prompt: &Prompt,
    stop: &CancellationToken,
) -> Result<(), String> {
    let (text, env2, stop2) = (expanded(env, &prompt.text)?, Arc::clone(env), stop.clone());
    let takes = takes(env);
    let composed = tokio::task::spawn_blocking(move || {
        let retrieve = |words: &str| rag::retrieve(&env2, words, &stop2);
        compose(&env2.workspace, &text, takes, &retrieve)
    });
    let composed = composed.await;
    let composed = composed.map_err(|_| "reading the mentioned files failed in nebula itself".to_string())?;
    let mut composed = composed.map_err(|refused| refused.problems.join("\n"))?;
    if stop.is_cancelled() {
        return Err("interrupted before anything was sent".into());
    }
    let room = Budget::of_window(u64::from(window(env))).room();
    let size = session.window.tokens(composed.text.len());
    if size > room {
        return Err(format!(
            "the message alone is larger than the model's context window (about {size} of {room} tokens): \
             mention parts of files (@path:1-200), or choose another model with Ctrl-O"
        ));
    }
    for note in std::mem::take(&mut *lock(&env.notes)) {
        composed.text.push_str(&format!("\n\n---\n{note}"));
    }
    let mut records = Vec::new();
    for attachment in &composed.attached {
        let sha = attachment.whole.as_ref().map(|bytes| session.know(&attachment.path, bytes));
        match sha {
            Some(sha) => env.knows(&attachment.path, sha),
            None => session.touch(&attachment.path),
        }
        records.push(AttachedRecord::new(attachment, sha));
    }
    let files: Vec<Attached> = records.iter().map(AttachedRecord::shown).collect();
    let mut record = NewMessage::text(memory::Role::User, composed.text.clone());
    record.meta = MessageMeta {
        typed: Some(composed.typed),
        attached: (!records.is_empty()).then(|| write_attached(&records)),
        ..MessageMeta::default()
    };
    record.blobs = composed
        .blobs
        .iter()
        .map(|b| memory::Blob { name: b.name.clone(), kind: b.mime.clone(), bytes: b.bytes.to_vec() })
        .collect();
    let row = env.kept(env.memory.append(&session.id, &record)).unwrap_or(0);
    session.turn = Some(row);
    let typed = composed.text[..composed.typed].to_string();
    session.push(Message::user(composed.text).with_blobs(composed.blobs), row);
    if session.title.is_none() {
        session.title = Some(crate::agent::first_words(&typed, 60));
    }
    session.ground.look_again();
    env.events.add(Item::User { text: typed, at: now(), attached: files }).await;
    Ok(())
}

/// What was typed, or, for `/prompt NAME arguments`, what that stands for.
fn expanded(env: &Env, typed: &str) -> Result<String, String> {
    let Some(rest) = typed.strip_prefix("/prompt ") else { return Ok(typed.to_string()) };
    let rest = rest.trim_start();
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let home = lock(&env.config).paths.folder().map(std::path::Path::to_path_buf);
    prompts::list(&env.workspace, home.as_deref()).expand(name, arguments).map_err(|e| e.to_string())
}

/// On from where the last turn stopped: where that was in the middle of an answer, the model is told so.
pub async fn go_on(env: &Arc<Env>, session: &mut Session) {
    if session.messages.last().is_some_and(|m| m.role == Role::Assistant && !m.is_blank()) {
        let text = "Go on exactly from where your last answer stopped. Do not repeat what is there already.";
        hidden(env, session, text);
    }
}

/// The last request again: what came of it is taken back out of the conversation.
pub async fn ask_again(env: &Arc<Env>, session: &mut Session) {
    while session.messages.last().is_some_and(|m| m.role == Role::Assistant && !m.has_calls()) {
        session.messages.pop();
        if let Some(row) = session.rows.pop().filter(|r| *r != 0) {
            env.kept(env.memory.remove_from(&session.id, row));
        }
    }
}

/// A message that nobody typed.
pub fn hidden(env: &Env, session: &mut Session, text: &str) {
    let mut record = NewMessage::text(memory::Role::User, text);
    record.meta = MessageMeta { typed: Some(0), turn: session.turn, ..MessageMeta::default() };
    let row = env.kept(env.memory.append(&session.id, &record)).unwrap_or(0);
    session.push(Message::user(text), row);
}

/// The context window of the model in use, in tokens.
fn window(env: &Env) -> u32 {
    let model = env.live().model;
    let known = if model.starts_with("gpt-4.1") { WIDE_WINDOW } else { DEFAULT_WINDOW };
    lock(&env.config).model_config(&model).context_window.unwrap_or(known)
}

/// The next request: the whole conversation, as far as it fits, with the system prompt that holds now.
pub async fn build(env: &Arc<Env>, session: &mut Session) -> Result<Request, TurnEnd> {
    // A local server that is being looked for may be the model: the search takes a second at most.
    let _ = env.looking.subscribe().wait_for(|looking| !looking).await;
    let system = prompt_state::system(env, session).await;
    let live = env.live();
    let tools = session.tools(live.mode == Mode::Agent);
    let beside = system.len() + tools.iter().map(|t| t.description.len() + SCHEMA).sum::<usize>();
    let summary = session.summary.as_ref().map(|(text, covered)| (text.as_str(), *covered));
    let fitted = session.window.fit(&session.messages, summary, beside, Budget::of_window(u64::from(window(env))));
    if !fitted.newly_left_out.is_empty() {
        for left_out in &fitted.newly_left_out {
            if let Some(path) = &left_out.path {
                session.seen.remove(path);
            }
        }
        // A resumed session leaves out the same.
        session.ground.left_out = session.window.gone_through();
        if let Some(kept) = session.ground.kept() {
            env.kept(env.memory.set_extra(&session.id, &kept));
        }
        let title = format!("the context window is full: {} old results are left out", fitted.newly_left_out.len());
        env.events.notice(Level::Info, title, "They are sent as one line each; memory keeps them whole.").await;
    }
    if fitted.too_long {
        let message = "the conversation does not fit the model's context window".to_string();
        let hint = "/compact summarises it; /new begins another.".to_string();
        env.events.notice(Level::Error, &message, &hint).await;
        return Err(TurnEnd::Failed { message, hint, resumable: false });
    }
    Ok(Request {
        model: live.model,
        system,
        messages: takeable(session, fitted.messages, takes(env)),
        tools,
        max_output: None,
        hurry: env.hurry.clone(),
    })
}

/// The conversation as it would be sent, for a summary of it, and how many bytes fit beside a `system` prompt of so many.
pub fn to_summarise(env: &Env, session: &mut Session, system: usize) -> (Vec<Arc<Message>>, usize) {
    let budget = Budget::of_window(u64::from(window(env)));
    let summary = session.summary.as_ref().map(|(text, covered)| (text.as_str(), *covered));
    // Of the session's own window nothing is left out: the person may drop the summary.
    let fitted = session.window.clone().fit(&session.messages, summary, system, budget);
    let room = session.window.bytes(budget.room()).saturating_sub(system);
    (takeable(session, fitted.messages, takes(env)), room)
}

/// What the model in force takes beside text: the configuration's word counts, then what its name tells.
fn takes(env: &Env) -> Takes {
    let live = env.live();
    let known = live.provider.as_ref().map_or_else(|| Takes::by_name(&live.model), |p| p.takes(&live.model));
    let said = lock(&env.config).model_config(&live.model);
    Takes { images: said.images.unwrap_or(known.images), documents: said.pdfs.unwrap_or(known.documents) }
}

/// The messages as this model takes them: an attachment of an earlier message that it does not take, as after a change
/// of the model, is named instead.
fn takeable(session: &mut Session, messages: Vec<Arc<Message>>, takes: Takes) -> Vec<Arc<Message>> {
    let taken = |b: &Blob| if b.mime.starts_with("image/") { takes.images } else { takes.documents };
    let all = |m: &Arc<Message>| m.blobs().all(taken);
    if messages.iter().all(all) {
        return messages;
    }
    let mut plain = |m: Arc<Message>| {
        if all(&m) {
            return m;
        }
        // The same message every time: what was serialised before is told by identity.
        let made = session.plain.iter().find(|(of, by, _)| Arc::ptr_eq(of, &m) && *by == takes);
        if let Some((_, _, made)) = made {
            return Arc::clone(made);
        }
        let left: Vec<&str> = m.blobs().filter(|b| !taken(b)).map(|b| b.name.as_str()).collect();
        let note = format!("\n\n---\nNot sent, since you do not take such files: {}.", left.join(", "));
        let mut made = (*m).clone();
        made.parts.retain(|part| !matches!(&part.body, Body::Blob(blob) if !taken(blob)));
        let made = Arc::new(made.and_text(&note));
        session.plain.push((m, takes, Arc::clone(&made)));
        made
    };
    messages.into_iter().map(&mut plain).collect()
}

/// Adds the tokens of a step to the session's.
pub async fn add_usage(env: &Arc<Env>, session: &mut Session, usage: Option<Usage>) {
    let Some(usage) = usage else { return };
    let model = env.live().model.clone();
    let price = lock(&env.config).model_config(&model).price;
    let cost = price.map(|p| p.of(usage.input, usage.output));
    session.totals.input += usage.input;
    session.totals.output += usage.output;
    if let Some(cost) = cost {
        *session.totals.cost.get_or_insert(0.0) += cost;
    }
    env.kept(env.memory.add_usage(&session.id, usage.input, usage.output, cost));
    {
        let mut seen = lock(&env.seen);
        seen.tokens = session.totals.input + session.totals.output;
        seen.cost = session.totals.cost;
    }
    env.events.send(Event::Usage(usage.input, usage.output)).await;
    env.tell_status().await;
}

/// One attached file, as memory keeps it.
#[derive(Serialize, Deserialize)]
struct AttachedRecord {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<(usize, usize)>,
    lines: Option<usize>,
    bytes: usize,
    /// Of all its bytes, where all were attached: it counts as read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl AttachedRecord {
    fn new(a: &Attachment, sha: Option<Sha>) -> Self {
        let sha256 = sha.map(|sha| hex(&sha));
        AttachedRecord { path: a.path.clone(), range: a.range, lines: a.lines, bytes: a.bytes, sha256 }
    }

    fn shown(&self) -> Attached {
        Attached { path: self.path.clone(), range: self.range, lines: self.lines, bytes: self.bytes }
    }
}

fn write_attached(records: &[AttachedRecord]) -> String {
    // Records of strings and numbers always serialise.
    serde_json::to_string(records).unwrap_or_default()
}

fn attached_records(text: &str) -> Vec<AttachedRecord> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Reads what was attached to a message, as it was kept.
pub fn read_attached(text: &str) -> Vec<Attached> {
    attached_records(text).iter().map(AttachedRecord::shown).collect()
}

/// The files that were attached to a message, with the SHA-256 in hex of those that were attached whole.
pub fn attached_files(text: &str) -> Vec<(String, Option<String>)> {
    attached_records(text).into_iter().map(|r| (r.path, r.sha256)).collect()
}

/// Unix milliseconds.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}

/// The person's prompts.
pub fn prompts(env: &Env) -> Vec<PromptRow> {
    let home = lock(&env.config).paths.folder().map(std::path::Path::to_path_buf);
    let root = env.workspace.root();
    let row = |p: prompts::UserPrompt| PromptRow {
        usage: p.usage(),
        path: p.path.strip_prefix(root).unwrap_or(&p.path).display().to_string(),
        name: p.name,
        description: p.description,
    };
    prompts::list(&env.workspace, home.as_deref()).all.into_iter().map(row).collect()
}
