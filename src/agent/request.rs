//! What is asked: the message of the person with what it mentions, and the request with all that joins it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::env::{Env, lock};
use super::rag;
use super::session::Session;
use crate::context::attach::{Takes, compose};
use crate::context::request::Budget;
use crate::context::{live, prompts, rules, templates};
use crate::memory::{self, MessageMeta, NewMessage};
use crate::protocol::{Attached, Event, Item, Level, Mode, Prompt, RuleChip, TurnEnd};
use crate::provider::{Message, Request, Role, Usage};

/// The context window of a model of which nothing is configured, in tokens.
const DEFAULT_WINDOW: u32 = 128_000;
/// What a tool's schema costs beside its description, in bytes.
const SCHEMA: usize = 300;

/// Keeps and shows a message of the person, with what it mentions attached. Files are read here, so that what is
/// sent is what was there when Enter was pressed.
///
/// # Errors
/// When something mentioned is missing or may not be read: nothing is sent.
pub async fn say(env: &Arc<Env>, session: &mut Session, prompt: &Prompt) -> Result<(), String> {
    let (text, env2) = (expanded(env, &prompt.text)?, Arc::clone(env));
    let takes = Takes { images: true, documents: true };
    let composed = tokio::task::spawn_blocking(move || {
        let retrieve = |words: &str| rag::retrieve(&env2, words);
        compose(&env2.workspace, &text, takes, &retrieve)
    });
    let composed = composed.await;
    let composed = composed.map_err(|_| "reading the mentioned files failed in nebula itself".to_string())?;
    let mut composed = composed.map_err(|refused| refused.problems.join("; "))?;
    for note in std::mem::take(&mut *lock(&env.notes)) {
        composed.text.push_str(&format!("\n\n---\n{note}"));
    }
    let files: Vec<Attached> =
        composed.attached.iter().map(|a| Attached { path: a.path.clone(), lines: a.lines, bytes: a.bytes }).collect();
    for attachment in &composed.attached {
        match &attachment.whole {
            Some(bytes) => env.knows(&attachment.path, session.know(&attachment.path, bytes)),
            None => session.touch(&attachment.path),
        }
    }
    let mut record = NewMessage::text(memory::Role::User, composed.text.clone());
    record.meta = MessageMeta {
        typed: Some(composed.typed),
        attached: (!files.is_empty()).then(|| write_attached(&files)),
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
    let mut message = Message::user(composed.text);
    message.blobs = composed.blobs;
    session.push(message, row);
    if session.title.is_none() {
        session.title = Some(super::first_words(&typed, 60));
    }
    session.live = None;
    env.events.add(Item::User { text: typed, at: now(), attached: files }).await;
    Ok(())
}

/// What was typed, or, for `/prompt NAME arguments`, what that stands for.
fn expanded(env: &Env, typed: &str) -> Result<String, String> {
    let Some(rest) = typed.strip_prefix("/prompt ") else { return Ok(typed.to_string()) };
    let rest = rest.trim_start();
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let home = lock(&env.config).paths.folder().map(std::path::Path::to_path_buf);
    let known = prompts::list(env.workspace.root(), home.as_deref());
    prompts::expand(&known, name, arguments).map_err(|e| e.to_string())
}

/// On from where the last turn stopped: where that was in the middle of an answer, the model is told so.
pub async fn go_on(env: &Arc<Env>, session: &mut Session) {
    if session.messages.last().is_some_and(|m| m.role == Role::Assistant) {
        let text = "Go on exactly from where your last answer stopped. Do not repeat what is there already.";
        hidden(env, session, text);
    }
}

/// The last request again: what came of it is taken back out of the conversation.
pub async fn ask_again(env: &Arc<Env>, session: &mut Session) {
    while session.messages.last().is_some_and(|m| m.role == Role::Assistant && m.calls.is_empty()) {
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

/// The next request: the whole conversation, as far as it fits, with the system prompt that holds now.
pub async fn build(env: &Arc<Env>, session: &mut Session) -> Result<Request, TurnEnd> {
    let system = system(env, session).await;
    let live = env.live();
    let tools = session.tools(live.mode == Mode::Agent);
    let window = lock(&env.config).model_config(&live.model).context_window.unwrap_or(DEFAULT_WINDOW);
    let beside = system.len() + tools.iter().map(|t| t.description.len() + SCHEMA).sum::<usize>();
    let summary = session.summary.as_ref().map(|(text, covered)| (text.as_str(), *covered));
    let fitted = session.window.fit(&session.messages, summary, beside, Budget::of_window(u64::from(window)));
    if !fitted.newly_left_out.is_empty() {
        for left_out in &fitted.newly_left_out {
            if let Some(path) = &left_out.path {
                session.seen.remove(path);
            }
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
        messages: fitted.messages,
        tools,
        max_output: None,
        hurry: env.hurry.clone(),
    })
}

/// The system prompt, made anew only when something in it changed.
async fn system(env: &Arc<Env>, session: &mut Session) -> Arc<str> {
    if session.live.is_none() {
        let env2 = Arc::clone(env);
        let gathered = tokio::task::spawn_blocking(move || {
            let root = env2.workspace.root();
            (live::Live::gather(root, live::Limits::default()), rules::Rules::load(root))
        });
        session.live = gathered.await.ok().map(Arc::new);
        session.system = None;
    }
    let key = (env.live().mode, env.live().format, session.in_play.len());
    if let Some((known, text)) = &session.system
        && *known == key
    {
        return Arc::clone(text);
    }
    let Some(gathered) = session.live.clone() else { return Arc::from("") };
    let (env2, in_play) = (Arc::clone(env), session.in_play.clone());
    let made = tokio::task::spawn_blocking(move || parts(&env2, &gathered.0, &gathered.1, &in_play)).await;
    let Ok((parts, chips)) = made else { return Arc::from("") };
    let text: Arc<str> = templates::joined(&parts).into();
    let changed = {
        let mut seen = lock(&env.seen);
        let changed = seen.rules != chips;
        seen.rules = chips;
        changed
    };
    if changed {
        env.tell_status().await;
    }
    *lock(&env.prompt) = parts;
    session.system = Some((key, Arc::clone(&text)));
    text
}

/// The parts of the system prompt with their origins, and the rules in it.
pub fn parts(
    env: &Env,
    live: &live::Live,
    rules: &rules::Rules,
    in_play: &[String],
) -> (Vec<templates::Part>, Vec<RuleChip>) {
    let root = env.workspace.root();
    let active = rules.active(root, in_play);
    let config = lock(&env.config).clone();
    let templates = templates::Templates::new(root, config.paths.folder());
    let now = env.live();
    let setting = templates::Setting {
        mode: now.mode.word(),
        format: now.format.name(),
        language: config.language.as_deref(),
        rules: &active,
        live,
    };
    let chips =
        active.iter().map(|r| RuleChip { path: r.path.clone(), reason: r.reason.clone(), bytes: r.bytes }).collect();
    (templates::system(&templates, &setting), chips)
}

/// Adds the tokens of a step to the session's.
pub async fn count_usage(env: &Arc<Env>, session: &mut Session, usage: Option<Usage>) {
    let Some(usage) = usage else { return };
    let model = env.live().model.clone();
    let price = lock(&env.config).model_config(&model).price;
    let cost = price.map(|p| p.of(usage.input, usage.output));
    session.window.counted(usage.input);
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
    lines: Option<usize>,
    bytes: usize,
}

fn write_attached(files: &[Attached]) -> String {
    let records: Vec<_> =
        files.iter().map(|f| AttachedRecord { path: f.path.clone(), lines: f.lines, bytes: f.bytes }).collect();
    // Records of strings and numbers always serialise.
    serde_json::to_string(&records).unwrap_or_default()
}

/// Reads what was attached to a message, as it was kept.
pub fn read_attached(text: &str) -> Vec<Attached> {
    let records: Vec<AttachedRecord> = serde_json::from_str(text).unwrap_or_default();
    records.into_iter().map(|r| Attached { path: r.path, lines: r.lines, bytes: r.bytes }).collect()
}

/// Unix milliseconds.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}

/// The effective system prompt outside a turn: what a first message would be sent with.
pub fn prompt_now(env: &Env) -> Vec<templates::Part> {
    let root = env.workspace.root();
    let (live, rules) = (live::Live::gather(root, live::Limits::default()), rules::Rules::load(root));
    parts(env, &live, &rules, &[]).0
}

/// The person's prompts: name and first line.
pub fn prompts(env: &Env) -> Vec<(String, String)> {
    let home = lock(&env.config).paths.folder().map(std::path::Path::to_path_buf);
    let found = prompts::list(env.workspace.root(), home.as_deref());
    found.into_iter().map(|p| (p.name, p.description)).collect()
}
