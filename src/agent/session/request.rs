//! Composes what is sent: the person's message with what it mentions, and the request with everything that joins it.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::background::model_facts;
use crate::agent::services::{Services, lock};
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::{Conversation, first_words};
use crate::agent::session::rag;
use crate::agent::session::records::{AttachedRecord, blob_record, write_attached};
use crate::agent::session::settings;
use crate::agent::session::system_prompt;
use crate::context;
use crate::context::attach::{Attachment, Composed, compose};
use crate::context::prefix::RequestPrefix;
use crate::context::prompts;
use crate::context::request::Budget;
use crate::context::small_model;
use crate::edit::Format;
use crate::memory::{self, MessageMeta, NewMessage};
use crate::protocol::{
    Attached, Cause, EventBody, Item, Level, Mode, NoticeAction, Prompt, PromptRow, StepUsage, TurnEnd,
};
use crate::provider::models::{self, Effort};
use crate::provider::{Blob, Body, Capabilities, Error, Message, Request, Role, ToolSpec, Usage};
use crate::text::{number, time};

/// What a tool's schema costs beside its description, in bytes.
const SCHEMA: usize = 300;

/// Stores and shows a message of the person, with what it mentions attached. Files are read here, so that what is sent
/// is what was there when Enter was pressed.
///
/// # Errors
/// When something mentioned is missing or may not be read: nothing is sent.
pub async fn say(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    prompt: &Prompt,
    stop: &CancellationToken,
) -> Result<(), String> {
    // The room for attachments is known once a server on this computer has reported its window.
    wait_for_server(context, stop).await;
    let mut composed = composed(context, prompt, stop).await?;
    let room = Budget::of_window(u64::from(window(context))).room();
    let size = session.window.tokens(composed.text.len());
    if size > room {
        return Err(format!(
            "the message alone is larger than the model's context window (about {size} of {room} tokens): \
             mention parts of files (@path:1-200), or choose another model with Ctrl-O"
        ));
    }
    for note in context.take_notes() {
        composed.text.push_str(&format!("\n\n---\n{note}"));
    }
    let records = attached(context, session, &composed);
    let files: Vec<Attached> = records.iter().map(AttachedRecord::to_attached).collect();
    let row = context.services.memory.append(&session.id, record(&composed, &records));
    session.turn = Some(row);
    let typed = composed.text[..composed.typed].to_string();
    session.push(Message::user(composed.text).with_blobs(composed.blobs), row);
    if session.title.is_none() {
        session.title = Some(first_words(&typed, 60));
    }
    session.prompt.look_again();
    // What was typed is stored before anything of it is sent.
    stop.run_until_cancelled(context.services.flushed()).await;
    context.events.add(Item::User { text: typed, at: time::now(), attached: files }).await;
    Ok(())
}

/// Returns a message with what it mentions, read on a thread that may block.
async fn composed(
    context: &Arc<SessionContext>,
    prompt: &Prompt,
    stop: &CancellationToken,
) -> Result<Composed, String> {
    let (typed, context2, stop2) = (prompt.text.clone(), Arc::clone(context), stop.clone());
    let capabilities = capabilities(context);
    let composed = tokio::task::spawn_blocking(move || {
        let retrieve = |words: &str| rag::retrieve(&context2, words, &stop2);
        let text = expanded(&context2, &typed)?;
        let workspace = context2.services.workspace.stopped_by(&stop2);
        compose(&workspace, &text, capabilities, &retrieve).map_err(|refused| refused.problems.join("\n"))
    });
    let composed = stop.run_until_cancelled(composed).await.filter(|_| !stop.is_cancelled());
    let composed = composed.ok_or("interrupted before anything was sent")?;
    composed.map_err(|_| "reading the mentioned files failed in nebula itself".to_string())?
}

/// Records that the session knows what is attached; the records of it.
fn attached(context: &SessionContext, session: &mut Conversation, composed: &Composed) -> Vec<AttachedRecord> {
    let record = |attachment: &Attachment| {
        let sha = attachment.whole.as_ref().map(|bytes| session.know(&attachment.path, bytes));
        match sha {
            Some(sha) => context.services.knows(&attachment.path, sha),
            None => session.touch(&attachment.path),
        }
        AttachedRecord::new(attachment, sha)
    };
    composed.attached.iter().map(record).collect()
}

/// Returns what is kept of a message.
fn record(composed: &Composed, attached: &[AttachedRecord]) -> NewMessage {
    let mut record = NewMessage::text(memory::Role::User, composed.text.clone());
    record.meta = MessageMeta {
        typed: Some(composed.typed),
        attached: (!attached.is_empty()).then(|| write_attached(attached)),
        ..MessageMeta::default()
    };
    record.blobs = composed.blobs.iter().map(blob_record).collect();
    record
}

/// Waits for a local server that is being looked for: the search takes two seconds at most.
async fn wait_for_server(context: &SessionContext, stop: &CancellationToken) {
    let mut looking = context.services.looking.subscribe();
    let _ = stop.run_until_cancelled(looking.wait_for(|looking| !looking)).await;
}

/// Returns what was typed, or, for `/prompt NAME arguments`, what that stands for.
fn expanded(context: &SessionContext, typed: &str) -> Result<String, String> {
    let Some(rest) = typed.strip_prefix("/prompt ") else { return Ok(typed.to_string()) };
    let rest = rest.trim_start();
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let home = lock(&context.services.config).paths.folder().map(std::path::Path::to_path_buf);
    let known = prompts::list(&context.services.workspace, home.as_deref());
    known.expand(name, arguments).map_err(|e| e.to_string())
}

/// Continues where the last turn stopped: where that was in the middle of an answer, the model is told so.
pub async fn go_on(context: &Arc<SessionContext>, session: &mut Conversation) {
    session.granted = session.totals;
    if session.messages.last().is_some_and(|m| m.role == Role::Assistant && !m.is_blank()) {
        let text = "Go on exactly from where your last answer stopped. Do not repeat what is there already.";
        session.add_hidden(context, text);
    }
}

/// Sends the last request again; the result is taken back out of the conversation.
pub async fn ask_again(context: &Arc<SessionContext>, session: &mut Conversation) {
    while session.messages.last().is_some_and(|m| m.role == Role::Assistant && !m.has_calls()) {
        session.messages.pop();
        if let Some(row) = session.rows.pop() {
            let id = session.id.clone();
            context.services.memory.post(move |memory| memory.remove_from(&id, row));
        }
    }
}

/// Returns the context window of the model in use, for people.
pub fn window_words(context: &SessionContext) -> String {
    number::thousands(window(context) as usize)
}

/// Returns how large the facts of a summary may be, in bytes: half of what system prompt and tools leave of the window.
pub fn facts_room(context: &SessionContext, session: &Conversation) -> usize {
    let room = Budget::of_window(u64::from(window(context))).room();
    session.window.bytes(room.saturating_sub(context.fixed_tokens()) / 2)
}

/// Returns the context window of the model in use, in tokens.
fn window(context: &SessionContext) -> u32 {
    model_facts::window(&model_facts::facts(&context.services, &context.model()))
}

/// Why there is no next request.
pub enum Unbuilt {
    /// The conversation does not fit, also without old results.
    TooLong,
    /// The turn ends.
    Stopped(TurnEnd),
}

/// Returns the end of a turn whose session has used up its budget; going on after it grants as much again.
async fn over_budget(context: &SessionContext, session: &mut Conversation) -> Option<TurnEnd> {
    let (dollars, tokens) = {
        let config = lock(&context.services.config);
        (config.budget, config.budget_tokens)
    };
    let (granted, spent) = (session.granted, session.totals);
    let cost = spent.cost.unwrap_or(0.0);
    let title = match (dollars, tokens) {
        (Some(budget), _) if cost - granted.cost.unwrap_or(0.0) >= budget => {
            format!("the budget of ${budget:.2} is used up (${cost:.2})")
        }
        (None, Some(budget)) if spent.input + spent.output - granted.input - granted.output >= budget => {
            let used = number::thousands((spent.input + spent.output) as usize);
            format!("the budget of {} tokens is used up ({used})", number::thousands(budget as usize))
        }
        _ => return None,
    };
    let detail = "Going on grants as much again.";
    context.events.failed(Level::Warning, (&title, detail), vec![NoticeAction::Continue], Cause::of("budget")).await;
    Some(TurnEnd::Asking(title))
}

/// Learns the window from a refusal of a request for its length: the one that the server names, else one that takes
/// three quarters of the messages that were sent, beside system prompt and tools. Returns whether the next request will
/// be shorter.
pub fn learn_window(context: &SessionContext, session: &Conversation, error: &Error) -> bool {
    let sent = session.window.sent();
    let fixed = context.fixed_tokens().min(sent);
    // An eighth of a window is kept for the answer.
    let guess = u32::try_from((fixed + (sent - fixed) / 4 * 3) * 8 / 7).unwrap_or(u32::MAX);
    let learnt = error.limit.filter(|limit| u64::from(*limit) < sent.max(u64::from(window(context)))).unwrap_or(guess);
    if learnt < 256 || learnt >= window(context) {
        return false;
    }
    model_facts::learn_window(&context.services, &context.model(), learnt);
    true
}

/// Returns what the model may call in the present mode. A model that is asked for edits as text is not offered tools for them.
pub fn offered(context: &SessionContext, session: &Conversation) -> Arc<[ToolSpec]> {
    let settings = context.settings();
    session.tool_specs(settings.mode == Mode::Agent && settings.format == Format::Tools)
}

/// Notes why the request that goes out now does not begin with the bytes of the last one, if it does not.
fn note_prefix(context: &SessionContext, session: &mut Conversation, model: &str, tools: &Arc<[ToolSpec]>) {
    let settings = context.settings();
    let place = context.services.connection().provider.map(|provider| provider.origin(model).place).unwrap_or_default();
    let prefix = RequestPrefix {
        mode: settings.mode.word(),
        model: (model.to_string(), place),
        format: (settings.format.name(), settings.small_model),
        summarised: session.summary.as_ref().map(|(_, covered)| *covered),
        left_out: session.prompt.left_out,
        tools: Arc::clone(tools),
        messages: session.messages.clone(),
    };
    session.prefix_cause = session.prefix.as_ref().and_then(|before| prefix.cause(before));
    session.prefix = Some(prefix);
}

/// Returns the next request: the whole conversation, as far as it fits, with the system prompt that holds now.
pub async fn build(context: &Arc<SessionContext>, session: &mut Conversation) -> Result<Request, Unbuilt> {
    if let Some(end) = over_budget(context, session).await {
        return Err(Unbuilt::Stopped(end));
    }
    wait_for_server(context, &CancellationToken::new()).await;
    settings::choose_for_model(context, session, u64::from(window(context))).await;
    let system = system_prompt::system(context, session).await;
    let (settings, model) = (context.settings(), context.keep_model());
    settings::tell_effort(context, session, &model).await;
    let tools = offered(context, session);
    let beside = system.len() + tools.iter().map(|t| t.description.len() + SCHEMA).sum::<usize>();
    let summary = session.summary.as_ref().map(|(text, covered)| (text.as_str(), *covered));
    let fitted = session.window.fit(&session.messages, summary, beside, Budget::of_window(u64::from(window(context))));
    let parts = parts(session, system.len(), beside - system.len(), &fitted.messages);
    context.show_context(parts, u64::from(window(context)));
    if !fitted.newly_left_out.is_empty() {
        for left_out in &fitted.newly_left_out {
            if let Some(path) = &left_out.path {
                session.seen.remove(path);
            }
        }
        // A resumed session leaves out the same.
        session.prompt.left_out = session.window.gone_through();
        if let Some(stored) = session.prompt.to_record() {
            let id = session.id.clone();
            context.services.memory.post(move |memory| memory.set_extra(&id, &stored));
        }
        let title = format!("the context window is full: {} old results are left out", fitted.newly_left_out.len());
        context.events.notice(Level::Info, title, "They are sent as one line each; memory keeps them whole.").await;
    }
    if fitted.too_long {
        return Err(Unbuilt::TooLong);
    }
    let mut messages = takeable(session, fitted.messages, capabilities(context));
    if settings.small_model {
        small_model::arrange(&mut messages, settings.format, &mut session.arranged);
    }
    note_prefix(context, session, &model, &tools);
    Ok(Request {
        model,
        system,
        messages,
        tools,
        skip_backoff: context.skip_backoff.clone(),
        ..base(context, session, fitted.estimate)
    })
}

/// Returns what a request holds, in tokens, by part.
fn parts(session: &Conversation, system: usize, tools: usize, messages: &[Arc<Message>]) -> Vec<(&'static str, u64)> {
    let of = |role: Role| -> usize {
        let own: Vec<Arc<Message>> = messages.iter().filter(|m| m.role == role).cloned().collect();
        context::request::size(&own)
    };
    let tokens = |bytes: usize| session.window.tokens(bytes);
    vec![
        ("system prompt and rules", tokens(system)),
        ("tools", tokens(tools)),
        ("your messages and attached files", tokens(of(Role::User))),
        ("the model's answers", tokens(of(Role::Assistant))),
        ("results of tools", tokens(of(Role::Tool))),
    ]
}

/// Returns a request with what holds for every one of the session's: what is known of the model, how much it is to
/// think, and how long its answer may be where its window is known. `estimate` is the size of the request in tokens.
pub fn base(context: &SessionContext, session: &Conversation, estimate: u64) -> Request {
    let model = context.model();
    let facts = model_facts::facts(&context.services, &model);
    let effort = lock(&context.services.config).effort_for(&model).and_then(Effort::parse);
    let answer = |window: u32| Budget::of_window(u64::from(window)).answer;
    // Where the window is nearly full the answer may be as long as what is left, less what the estimate may be off.
    let room = facts.window.map(|window| (u64::from(window).saturating_sub(estimate) / 10 * 9).max(answer(window)));
    let most = facts.max_output.map(u64::from).or_else(|| facts.window.map(answer));
    let max_output = most.map(|most| u32::try_from(most.min(room.unwrap_or(most))).unwrap_or(u32::MAX));
    Request { model, effort, facts, max_output, conversation: session.id.as_str().into(), ..Request::default() }
}

/// Returns the conversation with `more` behind it, for a question beside it: nothing of it is kept.
pub async fn beside(context: &Arc<SessionContext>, session: &mut Conversation, more: Vec<Message>) -> Request {
    let system = system_prompt::system(context, session).await;
    let (mut messages, _) = to_summarise(context, session, system.len());
    messages.extend(more.into_iter().map(Arc::new));
    let estimate = session.window.tokens(system.len() + context::request::size(&messages));
    let (model, skip_backoff) = (context.keep_model(), context.skip_backoff.clone());
    // Some servers refuse calls in a conversation without tools.
    let tools = offered(context, session);
    Request { model, system, messages, tools, skip_backoff, ..base(context, session, estimate) }
}

/// Returns the conversation as it would be sent, for a summary of it, and how many bytes fit beside a `system` prompt
/// of so many.
pub fn to_summarise(context: &SessionContext, session: &mut Conversation, system: usize) -> (Vec<Arc<Message>>, usize) {
    let budget = Budget::of_window(u64::from(window(context)));
    let summary = session.summary.as_ref().map(|(text, covered)| (text.as_str(), *covered));
    // Of the session's own window nothing is left out: the person may drop the summary.
    let fitted = session.window.clone().fit(&session.messages, summary, system, budget);
    let room = session.window.bytes(budget.room()).saturating_sub(system);
    (takeable(session, fitted.messages, capabilities(context)), room)
}

/// Returns what the model in force takes beside text: the configuration's word counts, then what its name tells.
fn capabilities(context: &SessionContext) -> Capabilities {
    let (provider, model) = (context.services.connection().provider, context.model());
    let known = provider.map_or_else(|| Capabilities::by_name(&model), |p| p.capabilities(&model));
    let said = model_facts::facts(&context.services, &model);
    Capabilities { images: said.images.unwrap_or(known.images), documents: said.pdfs.unwrap_or(known.documents) }
}

/// Returns the messages as this model takes them: an attachment of an earlier message that it does not take, as after a
/// change of the model, is named instead.
fn takeable(session: &mut Conversation, messages: Vec<Arc<Message>>, capabilities: Capabilities) -> Vec<Arc<Message>> {
    let taken = |b: &Blob| if b.mime.starts_with("image/") { capabilities.images } else { capabilities.documents };
    let all = |m: &Arc<Message>| m.blobs().all(taken);
    if messages.iter().all(all) {
        return messages;
    }
    let mut plain = |m: Arc<Message>| {
        if all(&m) {
            return m;
        }
        // The same message every time: what was serialised before is recognised by identity.
        let made = session.plain.iter().find(|(of, by, _)| Arc::ptr_eq(of, &m) && *by == capabilities);
        if let Some((_, _, made)) = made {
            return Arc::clone(made);
        }
        let left: Vec<&str> = m.blobs().filter(|b| !taken(b)).map(|b| b.name.as_str()).collect();
        let note = format!("\n\n---\nNot sent, since you do not take such files: {}.", left.join(", "));
        let mut made = (*m).clone();
        made.parts.retain(|part| !matches!(&part.body, Body::Blob(blob) if !taken(blob)));
        let made = Arc::new(made.and_text(&note));
        session.plain.push((m, capabilities, Arc::clone(&made)));
        made
    };
    messages.into_iter().map(&mut plain).collect()
}

/// Returns what a step cost, in dollars: by the configured price, else by the server's list or the table. A server on
/// this computer costs nothing, and a model without a price nothing that is known.
pub fn cost_of(context: &SessionContext, model: &str, usage: &Usage) -> Option<f64> {
    let known = model_facts::known(&context.services, model);
    let local = context.services.connection().provider.is_some_and(|provider| provider.local());
    let price = if local { known.configured.price } else { known.facts().price };
    price.map(|price| models::cost(&price, usage))
}

/// Returns what memory keeps of it: billionths of a dollar, 0 for a server on this computer.
pub fn cost_nanos(context: &SessionContext, model: &str, usage: &Usage) -> Option<u64> {
    let local = || context.services.connection().provider.is_some_and(|provider| provider.local());
    let cost = cost_of(context, model, usage).or_else(|| local().then_some(0.0));
    cost.map(|dollars| (dollars * 1e9).round() as u64)
}

/// Adds the tokens of a step to the session's.
pub async fn add_usage(context: &Arc<SessionContext>, session: &mut Conversation, usage: Option<Usage>) {
    let Some(usage) = usage else { return };
    let model = context.model();
    let cost = cost_of(context, &model, &usage);
    session.totals.input += usage.input;
    session.totals.output += usage.output;
    if let Some(cost) = cost {
        *session.totals.cost.get_or_insert(0.0) += cost;
    }
    let id = session.id.clone();
    context.services.memory.post(move |memory| memory.add_usage(&id, usage.input, usage.output, cost));
    context.show_totals(&session.totals);
    let Usage { input, output, cache_read, cache_write, thinking, .. } = usage;
    let prefix = session.prefix_cause.take();
    let usage = StepUsage { input, output, cache_read, cache_write, thinking, cost, prefix };
    context.events.send(EventBody::Usage(usage)).await;
    context.tell_status().await;
}

/// Returns the person's prompts.
pub fn prompts(services: &Services) -> Vec<PromptRow> {
    let home = lock(&services.config).paths.folder().map(std::path::Path::to_path_buf);
    let root = services.workspace.root();
    let row = |p: prompts::UserPrompt| PromptRow {
        usage: p.usage(),
        path: p.path.strip_prefix(root).unwrap_or(&p.path).display().to_string(),
        name: p.name,
        description: p.description,
    };
    prompts::list(&services.workspace, home.as_deref()).all.into_iter().map(row).collect()
}
