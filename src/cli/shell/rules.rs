//! `nebula rules check`: what would become of a command of the model.

use std::sync::Arc;

use anyhow::Result;
use serde_json::{Value, json};

use super::super::Context;
use super::super::args::RulesCmd;
use super::super::out::{self, Out};
use crate::agent::{command_rules, shell_policy};
use crate::protocol::Approval;
use crate::shell::class::rules::{AskReason, CommandVerdict, Enforced, Judgement, Rule, judge};
use crate::shell::class::{Assessment, Class, ClassifiedCommand};
use crate::shell::{Commands, Keeper, Shell, check_text};

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
    let (mut found, _) = Commands::new(Arc::clone(&shell), "check").assess(&text, context.folder.to_str(), *network);
    let (guard, sandbox) = (shell.keeper_of(&mut found) == Keeper::Guard, shell.has_sandbox());
    let enforced = Enforced { guard, sandbox, off: shell.settings.sandbox.off };
    let judged = judge(&found, &rules, shell_policy(approval), enforced);
    let runs = matches!(judged.verdict, CommandVerdict::Policy | CommandVerdict::Rule);
    match as_json {
        true => Out::stdout().json(&as_value(&found, &judged, approval))?,
        false => say_words(&found, &judged, approval, &shell)?,
    }
    Ok(if runs { 0 } else { ASKS })
}

fn decision_word(judged: &Judgement) -> &'static str {
    match &judged.verdict {
        CommandVerdict::Policy => "policy",
        CommandVerdict::Rule => "rule",
        CommandVerdict::Ask => "ask",
        CommandVerdict::Refuse(_) => "refused",
    }
}

fn as_value(found: &Assessment, judged: &Judgement, approval: Approval) -> Value {
    let part = |(part, rule): (&ClassifiedCommand, &Option<Rule>)| json!({"text": part.text, "class": part.class.word(), "why": part.reason.words(), "rule": rule.as_ref().map(rule_words)});
    let parts: Vec<_> = found.parts.iter().zip(&judged.rules).map(part).collect();
    let excluded =
        found.excluded.iter().map(|(path, glob)| json!({"path": path, "why": format!("archiveExclude: {glob}")}));
    let unknown = found.unknown.as_ref().map(|unknown| unknown.words());
    json!({
        "class": found.class.word(), "grant": judged.grant.word(), "decision": decision_word(judged),
        "approval": approval.word(), "understood": unknown.is_none(), "why": unknown, "parts": parts,
        "asks": judged.why_it_asks(found, approval.word()), "acts_later": found.acts_later,
        "not_archived": excluded.collect::<Vec<_>>(),
    })
}

fn say_words(found: &Assessment, judged: &Judgement, approval: Approval, shell: &Shell) -> Result<()> {
    let unknown = found.unknown.as_ref().map(|unknown| unknown.words());
    let why = unknown.map_or_else(|| found.reason().words().to_string(), |why| format!("not understood: {why}"));
    out::say(format_args!("class     {}  {why}", found.class.word()))?;
    for (part, rule) in found.parts.iter().zip(&judged.rules) {
        let text = crate::text::clean::clean_line(&part.text);
        let rule = rule.as_ref().map_or_else(String::new, |rule| format!(" · rule: {}", rule_words(rule)));
        out::say(format_args!("  {:<7} {text}  ({}{rule})", part.class.word(), part.reason.words()))?;
    }
    let bounds = if shell.has_sandbox() { judged.grant.word() } else { "no sandbox" };
    out::say(format_args!("grant     {bounds}"))?;
    let says_all = shell.keeper() == Keeper::Scan && found.class != Class::Read;
    for line in shell.excluded(found).into_iter().filter(|_| says_all || !found.excluded.is_empty()) {
        out::say(format_args!("keeper    {line}"))?;
    }
    let hint = match judged.asks {
        Some(AskReason::Policy) if found.class == Class::Final => "; no policy and no rule lets it run unasked".into(),
        Some(AskReason::Policy) | None => String::new(),
        Some(_) => judged.why_it_asks(found, approval.word()).map_or_else(String::new, |why| format!("; {why}")),
    };
    out::say(format_args!("decision  {}  (approval: {}{hint})", decision_word(judged), approval.word()))?;
    Ok(())
}

fn rule_words(rule: &Rule) -> String {
    format!("{} {}", rule.decision.word(), rule.words())
}
