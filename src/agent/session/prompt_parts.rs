//! The parts of a session's system prompt, its rules among them: read from disk, composed, and stored for the rules view.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::services::config_files::ConfigFiles;
use crate::agent::services::{ServiceReport, Services};
use crate::agent::session::context::{SessionContext, Settings};
use crate::agent::session::conversation::Conversation;
use crate::agent::session::prompt_state::{Look, PromptFacts, PromptState};
use crate::context::environment::{Limits, PromptEnvironment};
use crate::context::rules::{Active, ActiveRule, Rules};
use crate::context::small_model;
use crate::context::templates::{self, PromptPart};
use crate::edit::Format;
use crate::protocol::{RuleChip, RulePart, RulesView};
use crate::tools::OfferedTools;

/// Returns the rules and the effective system prompt: those in force, outside a session what a first message would be
/// sent with.
pub fn rules_now(context: &SessionContext) -> RulesView {
    let made = context.rules.now();
    if !made.parts.is_empty() {
        return made;
    }
    let services = &context.services;
    let (live, rules) = look(services);
    let active = rules.active(&services.workspace, &[]);
    let view = rules_view(&rules, &active, &[]);
    let facts = PromptFacts { live, rules: active.rules };
    RulesView { parts: rule_parts(compose(services, &context.settings(), &facts, "")), ..view }
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

/// Returns the parts of a prompt as the rules view shows them.
pub fn rule_parts(parts: Vec<PromptPart>) -> Vec<RulePart> {
    parts.into_iter().map(|p| RulePart { origin: p.origin, reason: p.reason, text: p.text }).collect()
}

/// The reason of parts that stand in the conversation, after the system prompt.
pub const IN_CONVERSATION: &str = "changed since, told in the conversation";

/// Reads the environment and the rules as they are on disk.
fn look(services: &Services) -> (PromptEnvironment, Rules) {
    let workspace = &services.workspace;
    let mut complaints = Vec::new();
    let live = PromptEnvironment::gather(workspace, Limits::default(), &mut complaints);
    let mut rules = Rules::load(workspace);
    rules.complaints.extend(templates_of(services).complaints());
    rules.complaints.extend(services.prompts().refused.into_iter().map(|(_, why)| why));
    rules.complaints.append(&mut complaints);
    (live, rules)
}

/// Reads the environment and the rules for a message that was said since they were read, unless `stop` comes first.
pub async fn look_if_asked(services: &Arc<Services>, prompt: &mut PromptState, stop: &CancellationToken) {
    if !matches!(prompt.look, Look::Asked) {
        return;
    }
    let services = Arc::clone(services);
    let looked = stop.run_until_cancelled(tokio::task::spawn_blocking(move || look(&services))).await;
    if let Some(found) = looked.and_then(Result::ok) {
        prompt.look = Look::Read(Arc::new(found));
    }
}

/// Returns whether the model is offered the tools of definitions. Unless that is configured, it is where it makes its edits
/// by calls, is no small one and was told of files in a language whose definitions are read: nothing is looked for at a
/// turn.
pub fn offers_code(config: &ConfigFiles, settings: &Settings, session: &Conversation) -> bool {
    match config.read().code_ops.as_str() {
        "on" => true,
        "off" => false,
        _ => {
            let calls = settings.format == Format::TOOLS && !settings.text_calls;
            calls && !settings.small_model && session.prompt.last_sent.live.has_definitions
        }
    }
}

/// Returns the parts of the prompt in force, with what was told of them in the conversation since.
pub async fn parts_in_force(services: &Arc<Services>, settings: &Settings, session: &Conversation) -> Vec<PromptPart> {
    let (Some(base), last_sent) = (session.prompt.base.clone(), session.prompt.last_sent.clone()) else {
        return Vec::new();
    };
    let (services, settings) = (Arc::clone(services), settings.clone());
    let calls = match settings.text_calls {
        true => {
            let code = offers_code(&services.config, &settings, session);
            small_model::calls(&session.tool_specs(OfferedTools::Reading, code))
        }
        false => String::new(),
    };
    let made = tokio::task::spawn_blocking(move || {
        let mut parts = compose(&services, &settings, &base, &calls);
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
    made.await.unwrap_or_default()
}

/// Reads the rules again for a session that was opened again, for the status line and for the rules view.
pub async fn look_at_rules(context: Arc<SessionContext>, in_play: Vec<String>) {
    if let Some(view) = rules_on_disk(&context, in_play).await {
        context.set_rules(view);
    }
}

/// Reads the rules before a session is open, for the status line of the first screen.
pub async fn look_at_first_rules(context: Arc<SessionContext>) {
    if let Some(view) = rules_on_disk(&context, Vec::new()).await
        && context.status_data.show_rules(view.active)
    {
        context.services.report(ServiceReport::Status);
    }
}

async fn rules_on_disk(context: &SessionContext, in_play: Vec<String>) -> Option<RulesView> {
    let workspace = Arc::clone(&context.services.workspace);
    let looked = tokio::task::spawn_blocking(move || {
        let rules = Rules::load(&workspace);
        let active = rules.active(&workspace, &in_play);
        // A problem with a rule is reported with the next message.
        RulesView { complaints: Vec::new(), ..rules_view(&rules, &active, &in_play) }
    });
    looked.await.ok()
}

fn templates_of(services: &Services) -> templates::Templates {
    templates::Templates::new(&services.workspace, services.config.read().paths.folder())
}

/// Returns the parts of a system prompt with their origins; `calls` tells of tools that are called in text.
fn compose(services: &Services, now: &Settings, facts: &PromptFacts, calls: &str) -> Vec<PromptPart> {
    let language = services.config.read().language.clone();
    let templates = templates_of(services);
    let setting = templates::PromptInputs {
        mode: now.mode.word(),
        format: now.format.name(),
        small: now.small_model,
        calls,
        language: language.as_deref(),
        rules: &facts.rules,
        live: &facts.live,
    };
    templates::system(&templates, &setting)
}
