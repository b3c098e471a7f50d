//! Summarises the conversation so far: by `/compact`, where the summary counts only once the person accepts it, and
//! automatically where what is to be sent does not fit: that one leaves what the person said since the last answer
//! whole behind it. The person's messages and the changes of files come from memory, the rest is the model's prose; a
//! model that writes none is no obstacle, since the facts stand alone then. Nothing is deleted, and `/compact undo`
//! sends the whole conversation again.
//!
//! `/compact` goes on like a turn: it can be stopped, a pause between tries is shown, and messages wait until it is
//! over. What is summarised is what would be sent, so that it helps when the context window is full, and where that is
//! still too much, the newest of it.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::services::events::Events;
use crate::agent::services::last_request;
use crate::agent::session::context::{SessionContext, StatusData};
use crate::agent::session::conversation::{Conversation, first_words};
use crate::agent::session::records::attached_files;
use crate::agent::session::window::{self, LengthRefusals};
use crate::agent::session::{summary_facts, usage};
use crate::agent::turn::end::{failed, failure};
use crate::agent::turn::request;
use crate::agent::turn::side_request::listen;
use crate::context::request::{newest, size};
use crate::context::templates::Templates;
use crate::memory;
use crate::messages::agent as say;
use crate::protocol::{Cause, EventBody, Item, Level, Notice, NoticeAction, Prompt, Question, Reply, TurnEnd};
use crate::provider::models::Thinking;
use crate::provider::{EndReason, Error, ErrorKind, Message, Request, Role};
use crate::text::number;

/// The smallest request for a summary, in bytes: where a server refuses it, no smaller one is sent.
const SMALLEST: usize = 4_000;
/// The most tokens of a summary's prose.
const PROSE: u32 = 2_000;
/// The mark behind prose of which the end is missing.
const CUT: &str = "\n… cut";
/// The time an automatic summary waits for the person.
const GRACE: Duration = Duration::from_secs(10);

/// A summary.
struct NewSummary {
    /// The model's prose; behind the facts once these are added.
    text: String,
    /// The reason why there is no prose, if there is none.
    silence: Option<String>,
    /// The number of the oldest messages that it stands for.
    covered: usize,
    /// The number of these that did not fit and are not in it.
    left_out: usize,
    /// The files that are attached whole to the messages behind these.
    attached: Vec<String>,
}

/// Asks the model for a summary and puts it to the person.
pub async fn run(context: &Arc<SessionContext>, session: &mut Conversation, stop: &CancellationToken) -> TurnEnd {
    context.say(Level::Info, say::summarising_now(), "").await;
    let summary = made(context, session, None, stop).await;
    if stop.is_cancelled() {
        session.say(&context.events, Notice::new(Level::Broken, say::interrupted(), say::nothing_changed())).await;
        return TurnEnd::Interrupted;
    }
    match summary {
        Ok(summary) => {
            offer(context, session, summary, (None, false), stop).await;
            if stop.is_cancelled() { TurnEnd::Interrupted } else { TurnEnd::Done }
        }
        Err(error) => {
            last_request::keep(&context.services.config, &error).await;
            let Error { kind, message, hint, status, request_id, .. } = error;
            let cause = Cause { kind: kind.word(), status, request_id };
            let notice = failure(Level::Error, (&message, &hint), Vec::new(), cause);
            failed(&context.events, session, None, notice, false).await
        }
    }
}

/// The result of making a conversation fit.
pub enum Fitting {
    /// A summary replaces it.
    Summarised,
    /// It is built once more as it is: it does not fit a window that was only guessed and cannot be made shorter, or the
    /// answer has made room for it.
    AsItIs,
    /// It does not fit, which ends the turn.
    Not(TurnEnd),
}

/// Summarises a conversation that does not fit, as the configuration says: at once, after a question, or not at all.
/// `again`: it was summarised a few steps ago.
pub async fn by_itself(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    (again, refusals): (bool, &mut LengthRefusals),
    stop: &CancellationToken,
) -> Fitting {
    let mode = context.services.config.read().compact.clone();
    let (events, target, fixed) = (&context.events, context.target(), context.status_data.fixed_tokens());
    let room = session.window.room(target.budget()).saturating_sub(fixed);
    let unanswered = unanswered(session, room);
    let tokens = unanswered.map_or(0, |from| session.window.tokens(size(&session.messages[from..])));
    let before = session.summary.as_ref().map_or(0, |(_, covered)| *covered);
    // Where nothing stands before what must stay, no summary makes it shorter.
    let is_shortest = unanswered.is_some_and(|from| from <= before);
    if (is_shortest || tokens > room)
        && let Some(refusal) = refusals.forget_guess()
    {
        return refused_whole(events, session, tokens, &refusal).await;
    }
    let fits_beside_less = tokens <= target.budget().most_room().saturating_sub(fixed);
    if (is_shortest || tokens > room) && fits_beside_less && session.window.shorten_answer() {
        return Fitting::AsItIs;
    }
    if room > 0 && tokens > room {
        let [tokens, room, window] = [tokens, room, u64::from(target.window())].map(number::large);
        return does_not_fit(events, session, say::message_too_large(&tokens, &room, &window), "").await;
    }
    if again || is_shortest {
        let window = number::large(u64::from(target.window()));
        let message = say::task_does_not_fit(&target.model, &window);
        return does_not_fit(events, session, message, &largest(&context.status_data, session)).await;
    }
    if mode == "off" {
        let message = say::does_not_fit().to_string();
        return does_not_fit(events, session, message, say::compact_is_off()).await;
    }
    session.say(events, Notice::new(Level::Info, say::summarising(), "")).await;
    let summary = made(context, session, unanswered, stop).await;
    if stop.is_cancelled() {
        return stopped(events, session).await;
    }
    let summary = match summary {
        Ok(summary) => summary,
        Err(error) => return not_summarised(events, session, error).await,
    };
    let grace = (mode != "ask").then_some(GRACE);
    let counts = offer(context, session, summary, (grace, true), stop).await;
    if stop.is_cancelled() {
        return stopped(events, session).await;
    }
    if !counts {
        return Fitting::Not(dropped(events, session).await);
    }
    if unanswered.is_none() {
        session.add_hidden("Go on with the task from where the summary leaves it.");
    }
    Fitting::Summarised
}

/// Returns where the messages begin that the model has not answered: all since its last answer where these take no more
/// than half of the `room`, else the newest of the person. `None`: it has begun to answer that one.
fn unanswered(session: &Conversation, room: u64) -> Option<usize> {
    let newest = session.rows.iter().rposition(|row| Some(*row) == session.turn)?;
    let answered = session.messages.iter().rposition(|message| message.role != Role::User).map_or(0, |at| at + 1);
    let summarised = session.summary.as_ref().map_or(0, |(_, covered)| *covered);
    let fits = |from: &usize| session.window.tokens(size(&session.messages[*from..])) <= room / 2;
    let all = Some(answered).filter(|from| *from > summarised && fits(from));
    (answered <= newest).then(|| all.unwrap_or(newest))
}

/// Ends a turn that was stopped while its conversation was summarised.
async fn stopped(events: &Events, session: &Conversation) -> Fitting {
    session.say(events, Notice::new(Level::Broken, say::interrupted(), say::nothing_changed())).await;
    Fitting::Not(TurnEnd::Interrupted)
}

/// Ends a turn whose conversation does not fit and whose summary the person dropped.
async fn dropped(events: &Events, session: &Conversation) -> TurnEnd {
    let title = say::summary_dropped().to_string();
    let detail = say::compact_or_new();
    let actions = vec![NoticeAction::Continue, NoticeAction::ChooseModel];
    session.say(events, failure(Level::Warning, (&title, detail), actions, Cause::of("context"))).await;
    TurnEnd::Asking(title)
}

async fn does_not_fit(events: &Events, session: &Conversation, message: String, hint: &str) -> Fitting {
    let notice = failure(Level::Error, (&message, hint), Vec::new(), Cause::of("context"));
    Fitting::Not(failed(events, session, None, notice, false).await)
}

/// Ends a turn whose conversation does not fit and of which the model could not be asked for a summary.
async fn not_summarised(events: &Events, session: &Conversation, error: Error) -> Fitting {
    let resumable = error.resumable();
    let Error { kind, message, hint, status, request_id, .. } = error;
    let retry = resumable.then_some(NoticeAction::Retry);
    let actions = retry.into_iter().chain([NoticeAction::ChooseModel]).collect();
    let cause = Cause { kind: kind.word(), status, request_id };
    let notice = failure(Level::Error, (&say::not_summarised(&message), &hint), actions, cause);
    Fitting::Not(failed(events, session, None, notice, resumable).await)
}

/// Answers a refusal for length, which names no window, of what cannot be made shorter: a newest message of these tokens
/// that is most of a large request is too large, and anything else is sent once more.
async fn refused_whole(events: &Events, session: &Conversation, tokens: u64, refusal: &Error) -> Fitting {
    if tokens <= (session.window.sent() / 2).max(session.window.tokens(SMALLEST)) {
        return Fitting::AsItIs;
    }
    let message = say::refused_message_too_large(&number::large(tokens));
    let cause = Cause { kind: refusal.kind.word(), status: refusal.status, request_id: refusal.request_id.clone() };
    let notice = failure(Level::Error, (&message, &refusal.hint), Vec::new(), cause);
    Fitting::Not(failed(events, session, None, notice, false).await)
}

/// Returns the three largest things that would be sent, for the person.
fn largest(status: &StatusData, session: &Conversation) -> String {
    let from = session.summary.as_ref().map_or(0, |(_, covered)| *covered);
    let name = |message: &Message| match message.role {
        Role::User => say::message_of_yours(),
        Role::Assistant => say::an_answer(),
        Role::Tool => say::a_short_result(),
    };
    let tokens = |text: &str| session.window.tokens(text.len());
    let results = session.window_results();
    let others = session.messages.iter().enumerate().skip(from);
    let others = others.filter(|(index, _)| results.iter().all(|result| result.index != *index));
    let mut sizes: Vec<(u64, String)> = others.map(|(_, m)| (tokens(&m.text()), name(m).to_string())).collect();
    sizes.extend(results.iter().map(|result| (result.tokens, result.name.clone())));
    sizes.extend(session.summary.iter().map(|(text, _)| (tokens(text), say::the_summary().to_string())));
    sizes.extend(status.fixed_parts().into_iter().map(|(name, tokens)| (tokens, name.to_string())));
    sizes.sort_by_key(|(tokens, _)| std::cmp::Reverse(*tokens));
    let largest: Vec<String> = sizes
        .iter()
        .take(3)
        .map(|(tokens, name)| say::part_of(&first_words(name, 80), &number::large(*tokens)))
        .collect();
    say::largest_parts(&largest.join(", "))
}

/// Returns a summary of the messages before `end`, of all where that is `None`: the facts and the model's prose.
async fn made(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    end: Option<usize>,
    stop: &CancellationToken,
) -> Result<NewSummary, Error> {
    let prose = summarise(context, session, end, stop).await?;
    if stop.is_cancelled() { Ok(prose) } else { with_facts(context, session, prose).await }
}

/// Adds the facts from memory in front of what the model wrote. The person is told where one of both is missing.
async fn with_facts(
    context: &SessionContext,
    session: &Conversation,
    summary: NewSummary,
) -> Result<NewSummary, Error> {
    let first_kept = session.rows.get(summary.covered).copied();
    let rows = context.services.record_error(session.stored_before(first_kept).await);
    let (prose, kept) = (&summary.text, size(&session.messages[summary.covered..]));
    let room = window::half_room(&context.status_data, session, &context.target());
    // What stays whole takes of the room of both halves.
    let room = room.saturating_sub(kept / 2);
    // A model that does not keep to its limit is cut.
    let most = session.window.bytes(u64::from(PROSE));
    let most = prose.floor_char_boundary(if kept > 0 { most.min(room) } else { most });
    let (prose, cut) = (&prose[..most], if most < prose.len() { CUT } else { "" });
    let Some((rows, before)) = rows else {
        if let Some(why) = summary.silence {
            return Err(Error::new(ErrorKind::BadAnswer, why, say::nothing_changed()));
        }
        session.say(&context.events, Notice::new(Level::Warning, say::no_facts(), say::no_facts_long())).await;
        return Ok(NewSummary { text: format!("{prose}{cut}"), ..summary });
    };
    if let Some(why) = &summary.silence {
        session.say(&context.events, Notice::new(Level::Warning, say::not_summarised(why), say::facts_alone())).await;
    }
    let (before, behind) = rows.split_at(before);
    let text = format!("{}\n{prose}{cut}", summary_facts::facts(before, room));
    let attached = behind.iter().flat_map(|row| attached_files(row.message.meta.attached.as_deref()));
    let attached = attached.filter_map(|(path, whole)| whole.map(|_| path)).collect();
    Ok(NewSummary { text, attached, ..summary })
}

/// Returns the model's summary of the messages before `end`; `None`: of all. One that writes nothing, as one that calls a
/// tool instead, or whose server refuses the request or holds back the answer, is asked once more without tools; one whose
/// answer breaks off is asked the same once more.
async fn summarise(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    end: Option<usize>,
    stop: &CancellationToken,
) -> Result<NewSummary, Error> {
    let services = Arc::clone(&context.services);
    let instructions = tokio::task::spawn_blocking(move || {
        let templates = Templates::new(&services.workspace, services.config.read().paths.folder());
        templates.get("summarise.md").map(|t| t.text).unwrap_or_default()
    });
    let instructions = stop.run_until_cancelled(instructions).await.and_then(Result::ok).unwrap_or_default();
    // The same prompt and tools as in the steps before: what a provider has cached of them counts, rules are known, and
    // no server meets calls without their tools.
    let system = request::system_prompt::system(context, session).await;
    let (target, settings) = (context.keep_target(), context.settings());
    let (mut tools, mut asked) = (request::offered(&context.services.config, &settings, session), 0);
    let (summaries, covered) = (usize::from(session.summary.is_some()), end.unwrap_or(session.messages.len()));
    let (mut messages, room) = request::to_summarise(session, covered, &target, system.len());
    let now = format!("{instructions}\n\nSummarise this conversation now, as said above. Call no tools.");
    messages.push(Arc::new(Message::user(now)));
    let (mut room, mut broke_off) = (size(&messages).min(room), false);
    loop {
        let (newest, left_out) = newest(&messages, summaries, room);
        let (system, skip_backoff) = (Arc::clone(&system), context.skip_backoff.clone());
        let summary = |text, silence| NewSummary { text, silence, covered, left_out, attached: Vec::new() };
        let estimate = session.window.tokens(system.len() + size(&newest));
        let base = request::base(&context.services.config, session, &target, estimate);
        // What a model thinks counts as its answer too; of one that is unknown it may think.
        let thinks = base.facts.thinking != Some(Thinking::None);
        let max_output = if thinks { base.max_output } else { Some(base.max_output.unwrap_or(PROSE).min(PROSE)) };
        let request = Request { system, tools: Arc::clone(&tools), messages: newest, skip_backoff, max_output, ..base };
        let sent = request::size_of(&request);
        match listen(&context.events, request, &target, stop).await {
            Ok(answer) => {
                let (display, project) = ((&context.events, &context.status_data), context.services.project());
                usage::add_beside(display, project, session, &target, (sent, answer.used())).await;
                asked += 1;
                let is_withheld = answer.end == Some(EndReason::Filter);
                if !answer.text.trim().is_empty() && !is_withheld || stop.is_cancelled() {
                    let cut = if answer.end == Some(EndReason::Length) { CUT } else { "" };
                    return Ok(summary(answer.text + cut, None));
                }
                if asked > 1 {
                    let why = if is_withheld { say::held_back() } else { say::no_summary_given() };
                    return Ok(summary(String::new(), Some(why.into())));
                }
                tools = Arc::default();
            }
            // Its window is smaller than is known here.
            Err(error) if error.kind == ErrorKind::ContextTooLong && room > SMALLEST => room /= 2,
            Err(error) if is_refusal(error.kind) && !tools.is_empty() => tools = Arc::default(),
            Err(error) if breaks_off(error.kind) && !broke_off => broke_off = true,
            // It would be refused, or break off, again and again.
            Err(error) if fails_again(error.kind) => return Ok(summary(String::new(), Some(error.message))),
            Err(error) => return Err(error),
        }
    }
}

/// Returns whether a server that fails so takes another request, and not this one.
fn is_refusal(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NoTools | ErrorKind::BadRequest)
}

/// Returns whether an answer that fails so had begun.
fn breaks_off(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Broken { after_first_token: true } | ErrorKind::BadAnswer)
}

/// Returns whether the same request may fail so whenever it is sent.
fn fails_again(kind: ErrorKind) -> bool {
    is_refusal(kind) || breaks_off(kind) || kind == ErrorKind::ContextTooLong
}

/// Shows the summary and waits for what the person says of it, for `grace` at most; `alone`: it counts where nobody can
/// answer. Returns whether it counts.
async fn offer(
    context: &SessionContext,
    session: &mut Conversation,
    mut summary: NewSummary,
    (grace, alone): (Option<Duration>, bool),
    stop: &CancellationToken,
) -> bool {
    let events = &context.events;
    if summary.left_out > 0 {
        summary.text.push_str(&format!("\n\n*{}*", say::oldest_not_in_summary(&summary.left_out)));
    }
    show(events, &summary.text).await;
    let counts = match decision(context, grace, stop).await {
        Some(Reply::Nobody) => alone,
        None => grace.is_some(),
        Some(reply) => reply == Reply::Choice(0),
    };
    if stop.is_cancelled() || !counts {
        return false;
    }
    let before = session.sent.size.map_or(0, |(tokens, _)| tokens);
    let bytes = summary.text.len() + size(&session.messages[summary.covered..]);
    let after = context.status_data.fixed_tokens() + session.window.tokens(bytes);
    count(session, summary);
    window::show_next(&context.status_data, session, &context.target());
    events.refresh_status();
    events.send(EventBody::Compacted { before, after }).await;
    events.notice(Level::Info, say::summary_stands(), say::compact_undo()).await;
    true
}

/// Asks whether the summary is to count, and returns the answer; none where there was none in time. Other words are no
/// answer but the next message: they go back to the front end, where the queue lives, and the time begins anew.
async fn decision(context: &SessionContext, grace: Option<Duration>, stop: &CancellationToken) -> Option<Reply> {
    let events = &context.events;
    loop {
        let text = match grace {
            Some(grace) => format!("{} {}", say::send_summary(), say::counts_in(&grace.as_secs())),
            None => say::send_summary().to_string(),
        };
        let choices = vec![
            (say::use_it().to_string(), say::in_place().to_string()),
            (say::drop_it().to_string(), say::nothing_changes().to_string()),
        ];
        let question = Question { id: events.question(), text, choices, permission: false, card: None, hold: None };
        match context.approvals.question(question, grace, stop).await {
            Some(Reply::Text(words)) => match words.trim().to_lowercase().as_str() {
                "y" | "yes" => return Some(Reply::Choice(0)),
                "" | "n" | "no" => return Some(Reply::Choice(1)),
                _ => events.send(EventBody::Returned(Prompt { text: words }, say::queued().into())).await,
            },
            reply => return reply,
        }
    }
}

/// Shows a summary in the chat. It is no answer of the model to the person.
async fn show(events: &Events, text: &str) {
    events.add(Item::Commentary { text: say::summary_of_conversation(&text) }).await;
}

/// Sends the whole conversation again, in place of its summary. Returns whether there was one.
pub fn take_back(context: &SessionContext, session: &mut Conversation) -> bool {
    if session.summary.take().is_none() {
        return false;
    }
    session.window.reset();
    session.sent.arranged.clear();
    session.note_left_out();
    session.store_prompt();
    session.post(|memory, id| memory.set_summary(id, None));
    window::show_next(&context.status_data, session, &context.target());
    context.events.refresh_status();
    true
}

/// Sends the summary in place of what it stands for from here on.
fn count(session: &mut Conversation, summary: NewSummary) {
    let NewSummary { text, covered, attached, .. } = summary;
    let Some(upto) = covered.checked_sub(1).and_then(|last| session.rows.get(last)).copied() else { return };
    let stored = memory::ConversationSummary { text: text.clone(), upto };
    session.post(move |memory, id| memory.set_summary(id, Some(&stored)));
    session.summary = Some((text, covered));
    session.window.reset();
    session.sent.arranged.clear();
    // Files that were read are unknown again: their texts are not in what is sent.
    session.files.versions.retain(|path| attached.iter().any(|kept| kept == path));
}
