//! `nebula rules check`: what would become of a command of the model.

use std::sync::Arc;

use anyhow::Result;
use serde_json::json;

use super::super::Context;
use super::super::args::RulesCmd;
use super::super::out::{self, Out};
use crate::agent::{command_rules, shell_policy};
use crate::protocol::Approval;
use crate::shell::class::rules::{CommandVerdict, Enforced, Rule, judge};
use crate::shell::class::{Class, assess, disk};
use crate::shell::{Commands, Keeper, check_text};

/// It asks, or is refused.
const ASKS: i32 = 3;
/// The text is no command.
const INVALID: i32 = 1;

/// Prints the class of a text, its parts, the rule that meets each, the grant and the decision. Exit code 0: it runs;
/// 3: it asks or is refused. Nothing is run.
///
/// # Errors
/// When the archive or the output cannot be used.
pub fn check(context: &Context, what: &RulesCmd) -> Result<i32> {
    let RulesCmd::Check { approve, network, json: as_json, text } = what;
    let text = super::text(text);
    if let Err(why) = check_text(&text) {
        out::complain(why);
        return Ok(INVALID);
    }
    let (rules, wrong) = command_rules(&context.config);
    wrong.iter().for_each(out::complain);
    let word = approve.as_deref().unwrap_or(&context.config.approval);
    let approval = Approval::parse(word).unwrap_or_default();
    let shell = Arc::new(crate::agent::shell(&context.config, &context.workspace, &context.archive()?));
    let (around, path) = Commands::new(Arc::clone(&shell), "check").around(context.folder.to_str());
    let mut found = assess(&text, &around, *network);
    disk::look(&mut found, &around, &path);
    let (guard, sandbox) = (shell.keeper() == Keeper::Guard, shell.has_sandbox());
    let enforced = Enforced { guard, sandbox, off: shell.settings.sandbox.off };
    let judged = judge(&found, &rules, shell_policy(approval), enforced);
    let (decision, runs) = match &judged.verdict {
        CommandVerdict::Policy => ("policy", true),
        CommandVerdict::Rule => ("rule", true),
        CommandVerdict::Ask => ("ask", false),
        CommandVerdict::Refuse(_) => ("refused", false),
    };
    let unknown = found.unknown.as_ref().map(|unknown| unknown.words());
    let parts = || found.parts.iter().zip(&judged.rules);
    if *as_json {
        let part = |(part, rule): (&crate::shell::class::ClassifiedCommand, &Option<Rule>)| json!({"text": part.text, "class": part.class.word(), "why": part.reason.words(), "rule": rule.as_ref().map(rule_words)});
        let parts: Vec<_> = parts().map(part).collect();
        Out::stdout().json(&json!({
            "class": found.class.word(), "grant": judged.grant.word(), "decision": decision, "approval": approval.word(),
            "understood": unknown.is_none(), "why": unknown, "parts": parts,
        }))?;
        return Ok(if runs { 0 } else { ASKS });
    }
    let why = unknown.map_or_else(|| found.reason().words().to_string(), |why| format!("not understood: {why}"));
    out::say(format_args!("class     {}  {why}", found.class.word()))?;
    for (part, rule) in parts() {
        let text = crate::text::clean::clean_line(&part.text);
        let rule = rule.as_ref().map_or_else(String::new, |rule| format!(" · rule: {}", rule_words(rule)));
        out::say(format_args!("  {:<7} {text}  ({}{rule})", part.class.word(), part.reason.words()))?;
    }
    let bounds = if sandbox { judged.grant.word() } else { "no sandbox" };
    out::say(format_args!("grant     {bounds}"))?;
    out::say(format_args!("decision  {decision}  (approval: {}{})", approval.word(), hint(found.class, runs)))?;
    Ok(if runs { 0 } else { ASKS })
}

fn rule_words(rule: &Rule) -> String {
    format!("{} {}", rule.decision.word(), rule.words())
}

fn hint(class: Class, runs: bool) -> &'static str {
    match class {
        Class::Final if !runs => "; no policy and no rule lets it run unasked",
        _ => "",
    }
}
