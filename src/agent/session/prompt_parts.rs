//! The parts of a session's system prompt, its rules among them: read from disk, composed, and stored for the rules view.

use std::sync::Arc;

use crate::agent::services::lock;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::prompt_state::PromptFacts;
use crate::context::environment::{Limits, PromptEnvironment};
use crate::context::rules::{Active, ActiveRule, Rules};
use crate::context::small_model;
use crate::context::templates::{self, PromptPart};
use crate::protocol::{RuleChip, RulePart, RulesView};
use crate::tools::OfferedTools;

/// Returns the rules and the effective system prompt: those in force, outside a session what a first message would be
/// sent with.
pub fn rules_now(context: &SessionContext) -> RulesView {
    let made = lock(&context.rules).clone();
    if !made.parts.is_empty() {
        return made;
    }
    let (live, rules) = look(context);
    let active = rules.active(&context.services.workspace, &[]);
    let view = rules_view(&rules, &active, &[]);
    let facts = PromptFacts { live, rules: active.rules };
    RulesView { parts: rule_parts(compose(context, &facts, "")), ..view }
}

/// Returns all rules, without the prompt.
pub fn rules_view(rules: &Rules, active: &Active, in_play: &[String]) -> RulesView {
    let chip = |r: &ActiveRule| RuleChip { path: r.path.clone(), reason: r.reason.clone(), bytes: r.bytes };
    RulesView {
        active: active.rules.iter().map(chip).collect(),
        waiting: rules.waiting(in_play),
        complaints: rules.complaints.iter().chain(&active.complaints).cloned().collect(),
        parts: Vec::new(),
    }
}

fn rule_parts(parts: Vec<PromptPart>) -> Vec<RulePart> {
    parts.into_iter().map(|p| RulePart { origin: p.origin, reason: p.reason, text: p.text }).collect()
}

/// The reason of parts that stand in the conversation, after the system prompt.
pub const IN_CONVERSATION: &str = "changed since, told in the conversation";

/// Reads the environment and the rules as they are on disk.
pub fn look(context: &SessionContext) -> (PromptEnvironment, Rules) {
    let workspace = &context.services.workspace;
    let mut complaints = Vec::new();
    let live = PromptEnvironment::gather(workspace, Limits::default(), &mut complaints);
    let mut rules = Rules::load(workspace);
    rules.complaints.extend(templates_of(context).complaints());
    rules.complaints.extend(context.services.prompts().refused.into_iter().map(|(_, why)| why));
    rules.complaints.append(&mut complaints);
    (live, rules)
}

/// Stores the parts of the prompt in force for the rules view. Returns them.
pub async fn record_parts(context: &Arc<SessionContext>, session: &Conversation) -> Vec<PromptPart> {
    let (Some(base), last_sent) = (session.prompt.base.clone(), session.prompt.last_sent.clone()) else {
        return Vec::new();
    };
    let context2 = Arc::clone(context);
    let calls = match context.settings().text_calls {
        true => small_model::calls(&session.tool_specs(OfferedTools::Reading)),
        false => String::new(),
    };
    let made = tokio::task::spawn_blocking(move || {
        let mut parts = compose(&context2, &base, &calls);
        let later = last_sent.rules.iter().filter(|r| !base.rules.iter().any(|b| b.path == r.path && b.text == r.text));
        parts.extend(later.map(|r| PromptPart {
            origin: r.path.clone(),
            reason: IN_CONVERSATION.into(),
            text: r.text.to_string(),
        }));
        let changes = last_sent.live.changes(&base.live).join("\n");
        if !changes.is_empty() {
            parts.push(PromptPart { origin: "what is true now".into(), reason: IN_CONVERSATION.into(), text: changes });
        }
        parts
    });
    let parts = made.await.unwrap_or_default();
    lock(&context.rules).parts = rule_parts(parts.clone());
    parts
}

/// Reads the rules anew for a session that was opened again, for the status line and for the rules view.
pub async fn look_at_rules(context: Arc<SessionContext>, in_play: Vec<String>) {
    let context2 = Arc::clone(&context);
    let looked = tokio::task::spawn_blocking(move || {
        let rules = Rules::load(&context2.services.workspace);
        let active = rules.active(&context2.services.workspace, &in_play);
        // A problem with a rule is reported with the next message.
        RulesView { complaints: Vec::new(), ..rules_view(&rules, &active, &in_play) }
    });
    if let Ok(view) = looked.await {
        store_rules(&context, view).await;
    }
}

/// Stores the rules for the rules view. Returns those stored before.
pub async fn store_rules(context: &SessionContext, view: RulesView) -> RulesView {
    let active = view.active.clone();
    let before = {
        let mut rules = lock(&context.rules);
        let parts = std::mem::take(&mut rules.parts);
        std::mem::replace(&mut *rules, RulesView { parts, ..view })
    };
    if context.status_data.show_rules(active) {
        context.tell_status().await;
    }
    before
}

fn templates_of(context: &SessionContext) -> templates::Templates {
    templates::Templates::new(&context.services.workspace, context.services.config.read().paths.folder())
}

/// Returns the parts of a system prompt with their origins; `calls` tells of tools that are called in text.
fn compose(context: &SessionContext, facts: &PromptFacts, calls: &str) -> Vec<PromptPart> {
    let config = context.services.config.read().clone();
    let templates = templates_of(context);
    let now = context.settings();
    let setting = templates::PromptInputs {
        mode: now.mode.word(),
        format: now.format.name(),
        small: now.small_model,
        calls,
        language: config.language.as_deref(),
        rules: &facts.rules,
        live: &facts.live,
    };
    templates::system(&templates, &setting)
}
