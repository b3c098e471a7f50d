//! The system prompt of the next request. What changes after it was made (git, files, rules that come into play) is
//! added to the conversation, where it stays.

use std::path::Path;
use std::sync::Arc;

use crate::agent::services::events::Events;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::prompt_parts::{IN_CONVERSATION, parts_in_force, rule_parts, rules_view};
use crate::agent::session::prompt_state::{JoinedRecord, Look, PromptFacts};
use crate::context::rules::{self, ActiveRule};
use crate::context::templates::{self, PromptPart};
use crate::protocol::{Item, Level, RuleChip, RulesView};
use crate::provider::{Message, Role};

/// Returns the system prompt for the next request. Where something has changed since the model was told last, that
/// joins the conversation first.
pub async fn system(context: &Arc<SessionContext>, session: &mut Conversation) -> Arc<str> {
    let fresh = matches!(session.prompt.look, Look::Read(_));
    let covered = session.summary.as_ref().map_or(0, |(_, covered)| *covered);
    let anew = session.prompt.base.is_none() || session.prompt.covered != covered;
    if anew || fresh || session.files.in_play.len() != session.prompt.in_play {
        update(context, session, anew, fresh).await;
        session.prompt.covered = covered;
    }
    // Meanwhile the person may run commands of their own.
    if let Some(moved) = context.commands.take_moved() {
        session.add_hidden(&moved);
    }
    present(context, session).await
}

/// Returns the system prompt as it is: nothing joins the conversation, which may have calls that wait for results.
pub async fn present(context: &Arc<SessionContext>, session: &mut Conversation) -> Arc<str> {
    let now = context.settings();
    let small = (now.small_model, now.text_calls);
    let setting = (now.mode, now.format, small, context.services.config.read().language.clone());
    if let Some((_, text)) = session.prompt.made.iter().find(|(made, _)| *made == setting) {
        return Arc::clone(text);
    }
    let parts = parts_in_force(&context.services, &now, session).await;
    context.rules.set_parts(rule_parts(parts.clone()));
    let base: Vec<PromptPart> = parts.into_iter().filter(|p| p.reason != IN_CONVERSATION).collect();
    let text: Arc<str> = templates::joined(&base).into();
    session.prompt.made.push((setting, Arc::clone(&text)));
    text
}

/// Compares the present facts with what the model received, and adds the differences to the conversation.
async fn update(context: &Arc<SessionContext>, session: &mut Conversation, anew: bool, fresh: bool) {
    let (Look::Read(now) | Look::Compared(now)) = &session.prompt.look else { return };
    let now = Arc::clone(now);
    let (workspace, in_play) = (Arc::clone(&context.services.workspace), Arc::clone(&session.files.in_play));
    let (found, root) = (Arc::clone(&now), workspace.root().to_path_buf());
    let active = tokio::task::spawn_blocking(move || found.1.active(&workspace, &in_play)).await;
    let Ok(active) = active else { return };
    let view = rules_view(&now.1, &active, &session.files.in_play);
    let before = context.set_rules(view.clone());
    tell_rules(&context.events, session, &before, view).await;
    let mut live = now.0.clone();
    if context.settings().small_model && !anew {
        live.keep_untold(&session.prompt.last_sent.live);
    }
    let facts = PromptFacts { live, rules: active.rules };
    // A turn that is stopped at an await above compares again.
    session.prompt.look = Look::Compared(now);
    session.prompt.in_play = session.files.in_play.len();
    if anew {
        session.note_left_out();
        session.prompt.last_sent = facts.clone();
        session.prompt.base = Some(facts);
        session.prompt.made.clear();
    } else {
        let news = news(&root, &session.prompt.last_sent, &facts);
        // A rule that is not in play any more stays in the conversation all the same.
        let idle = session.prompt.last_sent.rules.iter().filter(|old| !facts.rules.iter().any(|r| r.path == old.path));
        let idle: Vec<ActiveRule> = idle.filter(|r| root.join(&r.path).exists()).cloned().collect();
        session.prompt.last_sent = facts;
        session.prompt.last_sent.rules.extend(idle);
        match news {
            Some(news) => tell(session, &news, fresh),
            None => return,
        }
        let parts = parts_in_force(&context.services, &context.settings(), session).await;
        context.rules.set_parts(rule_parts(parts));
    }
    session.store_prompt();
}

/// Returns what to tell the model, in words; none: nothing has changed.
fn news(root: &Path, last_sent: &PromptFacts, now: &PromptFacts) -> Option<String> {
    let gone = |path: &str| !root.join(path).exists();
    let mut parts = rules::news(&last_sent.rules, &now.rules, &gone);
    let changes = now.live.changes(&last_sent.live);
    if !changes.is_empty() {
        parts.push(format!("What is true now has changed:\n\n{}", changes.join("\n")));
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Adds what changed to the message of the person that is about to be sent, or behind the results of the model's calls.
fn tell(session: &mut Conversation, news: &str, fresh: bool) {
    let last = session.messages.last().zip(session.rows.last());
    let Some((message, row)) = last.filter(|(m, _)| fresh && m.role == Role::User) else {
        return session.add_hidden(news);
    };
    let (message, row) = (Message::clone(message).and_text(&format!("\n\n---\n{news}")), *row);
    let text = message.text().into_owned();
    session.post(move |memory, id| memory.checkpoint(id, row, &text, None));
    if let Some(last) = session.messages.last_mut() {
        *last = Arc::new(message);
    }
}

/// Says in the chat what is new about the rules, and stores it with the newest message, so that a resumed session says
/// it too.
async fn tell_rules(events: &Events, session: &Conversation, before: &RulesView, view: RulesView) {
    let joined = |r: &&RuleChip| !before.active.iter().any(|b| b.path == r.path);
    let joined: Vec<RuleChip> = view.active.iter().filter(joined).cloned().collect();
    if !joined.is_empty() {
        if let Some(row) = session.rows.last().copied() {
            let stored = JoinedRecord::write(&joined);
            session.post(move |memory, id| memory.keep_extra(id, row, &stored));
        }
        events.add(Item::Rules(joined)).await;
    }
    let new: Vec<String> = view.complaints.into_iter().filter(|c| !before.complaints.contains(c)).collect();
    if !new.is_empty() {
        let title = if new.len() == 1 {
            "a file of this project is not used"
        } else {
            "some files of this project are not used"
        };
        events.notice(Level::Warning, title, new.join("\n")).await;
    }
}
