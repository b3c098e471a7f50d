//! One turn, top to bottom: ask the model, do what it asks for, send it the results, until it is done.

mod compact;
mod effect;
mod end;
mod follow_up;
mod prompt_kind;
mod repetition;
mod request;
mod side_request;
mod step;

pub use compact::{run as compact, take_back as take_back_summary};
pub use step::command::own::{run_of_person, tell_output};

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::services::events::Events;
use crate::agent::services::target::RequestTarget;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::records::write_parts;
use crate::agent::session::usage::{self, BudgetLeft};
use crate::agent::session::window::{self, LengthRefusals};
use crate::agent::turn::compact::Fitting;
use crate::agent::turn::effect::{Effect, StepNotes};
use crate::agent::turn::end::{interrupted, limit_reached, refused_again, said_nothing};
use crate::agent::turn::follow_up::FollowUp;
use crate::agent::turn::prompt_kind::{is_undo, wants_no_change};
use crate::agent::turn::repetition::{RepeatableEdit, Repeated, Repeats, RepetitionKey};
use crate::agent::turn::request::{BuiltRequest, FileRefusals, Unbuilt};
use crate::agent::turn::step::act::{Act, Ended, Step};
use crate::agent::turn::step::broken_off::broken_off;
use crate::agent::turn::step::context::StepContext;
use crate::agent::turn::step::stream::stream;
use crate::agent::turn::step::tool_run::ToolRun;
use crate::config::TextUse;
use crate::messages::agent as say;
use crate::protocol::{Level, Notice, NoticeAction, TurnEnd};
use crate::provider::{Error, ErrorKind, Usage};

/// The continuation of the turn after a step.
enum Next {
    Step,
    End(TurnEnd),
}

/// A conversation that does not fit again after fewer steps than this will not fit at all.
const COMPACT_AGAIN: u32 = 3;

/// Runs a turn of a conversation whose last message the model is to answer. Returns how it ended.
pub async fn run(context: &Arc<SessionContext>, session: &mut Conversation, stop: &CancellationToken) -> TurnEnd {
    let mut files = FileRefusals::default();
    session.files.begin_turn();
    session.window.begin_turn();
    context.commands.expect(true);
    let end = steps(context, session, &mut files, stop).await;
    context.commands.expect(false);
    files.end_turn(session);
    end
}

/// Returns the most steps of a turn, where so many were made.
fn limit_at(context: &SessionContext, steps: u32) -> Option<u32> {
    let limit = context.services.config.read().max_steps;
    Some(limit).filter(|limit| *limit > 0 && *limit == steps)
}

/// Runs the steps of a turn. Returns how it ended.
async fn steps(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    files: &mut FileRefusals,
    stop: &CancellationToken,
) -> TurnEnd {
    let mut repeats = Repeats::of(&session.messages);
    let (mut effect, mut follow_up) = (Effect::default(), FollowUp::default());
    // The step that the last summary was made before, and what came of refusals for length.
    let (mut count, mut worked, mut summarised, mut refusals) = (0, false, None, LengthRefusals::default());
    loop {
        if let Some(limit) = limit_at(context, count) {
            return limit_reached(&context.events, session, limit).await;
        }
        count += 1;
        context.events.begin_step(count).await;
        let BuiltRequest { request, target, settings } =
            match stop.run_until_cancelled(request::build(context, session)).await {
                Some(Ok(built)) => built,
                Some(Err(Unbuilt::Stopped(end))) => return end,
                Some(Err(Unbuilt::TooLong)) => {
                    let again = summarised.is_some_and(|step| count - step < COMPACT_AGAIN);
                    match compact::by_itself(context, session, (again, &mut refusals), stop).await {
                        Fitting::Summarised => (summarised, count) = (Some(count), count - 1),
                        Fitting::AsItIs => count -= 1,
                        Fitting::Not(end) => return end,
                    }
                    continue;
                }
                None => return interrupted(&context.events, session, None, false).await,
            };
        let has_tools = !request.tools.is_empty();
        let budget = BudgetLeft::of(&context.services.config, session);
        let step = stream(StepContext::of(context, stop), session, request, (&target, budget), &settings).await;
        count_tokens(context, session, &step, &target).await;
        keep_parts(context, session, &step, &mut refusals);
        if let Ended::Broken(error) = &step.ended
            && step.row.is_none()
            && is_learnt(context, session, (error, has_tools), &target, (&mut refusals, files)).await
        {
            continue;
        }
        files.finish(&context.events, session, &target.place(), step.row.is_some() || step.silent).await;
        if step.unfinished().is_some_and(|why| follow_up.again(session, why)) {
            continue;
        }
        if step.silent && session.undecided.is_empty() {
            return said_nothing(&context.events, session, !worked).await;
        }
        effect.look(session, &settings, step.row.is_some());
        worked |= !step.acts.is_empty();
        match act(context, session, (step, &target), (&mut repeats, &mut effect), stop).await {
            // What changed a file got somewhere: it may be summarised anew.
            Next::Step if effect.take_step_changed() => summarised = None,
            Next::Step => {}
            Next::End(TurnEnd::Done) if effect.asks_again(session, &settings, &mut follow_up) => {}
            Next::End(end) => return say_effect(context, session, &effect, end).await,
        }
    }
}

/// Says what a turn that is done leaves to be known of its changes. Returns how it ended.
async fn say_effect(context: &SessionContext, session: &Conversation, effect: &Effect, end: TurnEnd) -> TurnEnd {
    if let Some(mut notice) = effect.notice(&context.settings()).filter(|_| end == TurnEnd::Done) {
        if !effect.has_changed() && session.prompt_text().is_some_and(|prompt| is_undo(&prompt)) {
            notice.detail = format!("{} {}", notice.detail, say::undo_by());
        }
        session.say(&context.events, notice).await;
    }
    end
}

/// Counts the tokens of a step, as its server reported them or by their bytes, and shows what the window holds since.
async fn count_tokens(context: &SessionContext, session: &mut Conversation, step: &Step, target: &RequestTarget) {
    if step.usage.is_none() && step.row.is_none() && !step.silent {
        // Nothing of an answer came.
        return context.tell_status().await;
    }
    let sent = session.sent.size.map_or(0, |(tokens, _)| tokens);
    let answer = session.messages.last().filter(|_| step.row.is_some());
    let written = answer.map_or(0, |answer| session.window.tokens(usage::written(answer)));
    let mut usage = Usage::or_counted(step.usage, sent, written);
    if usage.counted {
        let counted = target.cost(&usage).beside(session.turn, &target.model, &usage);
        let (row, project) = (step.row, context.services.project());
        session.post(move |memory, id| match row {
            Some(row) => memory.count_usage(id, row, &counted),
            None => memory.add_usage_beside(&project, Some(id), &counted),
        });
    }
    usage.counted |= step.counted;
    if !usage.counted {
        session.window.counted(usage.input);
        context.status_data.show_counted(usage.input, usage.output);
    }
    usage::tell_unpriced(&context.services.config, &context.events, session, target, &usage).await;
    usage::add((&context.events, &context.status_data), session, target, usage).await;
}

/// Stores what the window holds by part beside the answer, so that a resumed session shows it too, and for the next run
/// what was refused before that answer.
fn keep_parts(context: &SessionContext, session: &Conversation, step: &Step, refusals: &mut LengthRefusals) {
    if step.row.is_some() || step.silent {
        refusals.answered(&context.services.config);
    }
    let Some((row, parts)) = step.row.zip(context.status_data.context_tokens()) else { return };
    let stored = write_parts(parts);
    session.post(move |memory, id| memory.keep_extra(id, row, &stored));
}

/// Returns whether a refusal taught something, so that the model is asked once more: a smaller window, once a turn, files
/// that are not taken, or that it takes no tools, which is told once.
async fn is_learnt(
    context: &SessionContext,
    session: &mut Conversation,
    (error, has_tools): (&Error, bool),
    target: &RequestTarget,
    (refusals, files): (&mut LengthRefusals, &mut FileRefusals),
) -> bool {
    let (config, status) = (&context.services.config, &context.status_data);
    if request::may_be_about_files(session, target, error) && files.learn(session, target, error) {
        return true;
    }
    match error.kind {
        ErrorKind::ContextTooLong => {
            let before = target.window();
            let again = refusals.learn(config, status, session, target, error);
            if let Some(title) = window::contradiction(config, target, before, error) {
                session.say(&context.events, Notice::new(Level::Warning, title, say::set_window())).await;
            }
            again || files.learn(session, target, error)
        }
        ErrorKind::NoTools if has_tools => {
            let learnt = request::learn_no_tools(config, session, target).await;
            if let Some(Some((title, detail))) = &learnt {
                session.say(&context.events, Notice::new(Level::Info, title, detail)).await;
            }
            learnt.is_some()
        }
        _ => false,
    }
}

/// Does what a step asks for.
async fn act(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    (step, target): (Step, &RequestTarget),
    (repeats, effect): (&mut Repeats, &mut Effect),
    stop: &CancellationToken,
) -> Next {
    let (cut, arrived) = (cut_off(context, session, &step).await, step.row.is_some());
    let wrote_text = step.acts.iter().any(Act::is_text);
    let mut work = ToolRun::new(context, session, stop, step.acts);
    let (mut asked_again, mut written) = (None, Vec::<RepeatableEdit>::new());
    while let Some(act) = work.ahead.pop_front() {
        let halted = stop.is_cancelled() || matches!(step.ended, Ended::Interrupted);
        if let Some((key, path)) = act.repetition_key(&work.session.tools).filter(|_| !halted) {
            let is_done = path.is_some() && repeats.is_done(&key, &work.session.files);
            // Twice in one answer an edit is made once.
            if !written.iter().any(|edit| edit.key == key) && repeats.comes_again(&key) {
                asked_again = Some(AskedAgain::of(&act, &key, is_done || repeats.was_made(&key)));
            }
            if let Some(path) = path {
                if is_done {
                    work.already_done(act).await;
                    continue;
                }
                written.push(RepeatableEdit { key, path, item: act.item() });
            }
        }
        work.act(act, halted).await;
    }
    work.flush().await;
    work.propose_undecided(&step.ended).await;
    work.end_jobs().await;
    if matches!(step.ended, Ended::TooManyCalls) {
        work.too_many().await;
    }
    work.keep_records(step.row);
    work.say_texts();
    let (go_on, notes) = (work.go_on, std::mem::take(&mut work.notes));
    learn_format(context, work.session, target, (wrote_text, &notes)).await;
    effect.add(&notes);
    let again = repeats.note(notes, written, &work.session.files);
    if stop.is_cancelled() {
        let row = step.row.filter(|_| matches!(step.ended, Ended::Interrupted));
        return Next::End(interrupted(&context.events, session, row, arrived).await);
    }
    match (cut, again) {
        (Some(end), _) => return Next::End(end),
        (None, Some(Repeated::Refusal(refusal))) => {
            return Next::End(refused_again(&context.events, session, &refusal).await);
        }
        (None, Some(Repeated::Unchanged(path))) => return Next::End(effect.end_unchanged(path)),
        (None, None) => {}
    }
    match asked_again.filter(|_| go_on) {
        Some(again) => Next::End(again.end(&context.events, session).await),
        None if go_on => Next::Step,
        None => Next::End(TurnEnd::Done),
    }
}

/// A call or edit that was asked for again and again.
enum AskedAgain {
    /// Its effect stands since the first time.
    Done,
    /// It has no effect that stands: the person is asked, in these words.
    Asking(String),
}

impl AskedAgain {
    fn of(act: &Act, key: &RepetitionKey, is_done: bool) -> Self {
        match act {
            _ if is_done => AskedAgain::Done,
            Act::Edit(..) => AskedAgain::Asking(say::same_edit(&key.0)),
            _ => AskedAgain::Asking(say::same_call(&key.0)),
        }
    }

    /// Says why the turn ends, and returns its end.
    async fn end(self, events: &Events, session: &Conversation) -> TurnEnd {
        match self {
            AskedAgain::Done => {
                session.say(events, Notice::new(Level::Info, say::same_done(), say::ask_for_rest())).await;
                TurnEnd::Done
            }
            AskedAgain::Asking(title) => {
                let actions = vec![NoticeAction::Continue];
                let notice = Notice { actions, ..Notice::new(Level::Warning, &title, say::nothing_lost()) };
                session.say(events, notice).await;
                TurnEnd::Asking(title)
            }
        }
    }
}

/// Records that the model is best asked for edits as text, where this step shows it, and says so.
async fn learn_format(
    context: &SessionContext,
    session: &mut Conversation,
    target: &RequestTarget,
    (wrote_text, notes): (bool, &StepNotes),
) {
    if notes.native_edit_placed {
        session.sent.native_edits.insert(target.model.clone());
    }
    // One alone may be a slip.
    let is_second = notes.native_edit_incomplete && !session.sent.incomplete_edits.insert(target.model.clone());
    // Where no change is asked for, code in an answer may only show something.
    let is_asked = || !session.prompt_text().is_some_and(|prompt| wants_no_change(&prompt));
    let how = match (wrote_text && is_asked(), notes.native_edit_failed || is_second) {
        (true, _) => TextUse::Calls,
        (false, true) => TextUse::Edits,
        (false, false) => return,
    };
    let learnt = request::learn_format(&context.settings(), &context.services.config, session, target, how).await;
    if let Some((title, detail)) = learnt {
        session.say(&context.events, Notice::new(Level::Info, title, detail)).await;
    }
}

/// Returns the end of a turn whose answer broke off. Where a pause or a call that cannot be read came with other calls,
/// these are answered and the turn goes on.
async fn cut_off(context: &SessionContext, session: &Conversation, step: &Step) -> Option<TurnEnd> {
    let (config, events) = (&context.services.config, &context.events);
    match &step.ended {
        Ended::OverBudget => usage::over_budget(config, events, session).await,
        Ended::Whole | Ended::TooManyCalls => None,
        Ended::Paused | Ended::Malformed if !step.acts.is_empty() => None,
        ended => Some(broken_off(config, events, session, (ended, step.row)).await),
    }
}
