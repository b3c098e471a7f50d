//! The judgement of a command of the model: its class, the rules that meet it, and the policy.

use std::sync::Arc;

use crate::agent::session::approval::shell_policy;
use crate::agent::session::context::SessionContext;
use crate::messages::agent as say;
use crate::proposal::Consent;
use crate::protocol::Mode;
use crate::shell::class::disk::{self, Met};
use crate::shell::class::rules::{
    AskReason, CommandVerdict, Enforced, Judgement, Rule, RuleDecision, judge, prints_keys,
};
use crate::shell::class::{Around, Assessment, Class};
use crate::shell::{Grant, HoldSettings, Keeper, PreviewWhen};
use crate::tools::CommandCall;

/// A command as it was judged.
#[derive(Debug, Clone)]
pub struct JudgedCommand {
    /// Its class and its parts.
    pub found: Assessment,
    /// The verdict.
    pub judgement: Judgement,
    /// The surroundings it would run in.
    pub around: Around,
    /// The files that each of its parts would meet.
    pub met: Vec<Met>,
    /// The keeper of the states before.
    pub keeper: Keeper,
    /// It would run in a sandbox.
    pub has_sandbox: bool,
    /// The guard alone would refuse what it writes outside the workspace.
    pub is_held_by_guard: bool,
    /// The reason why the policy asks about it though guard and sandbox would hold it elsewhere; none: that is not so.
    pub unguarded: Option<String>,
    /// The reason why no command runs in a view here; none: one may, or this one would run in none anyway.
    pub no_view: Option<String>,
    /// The reason why it has no preview though it was to have one: it is never run unasked then.
    pub lacks_preview: Option<String>,
    /// True if nothing but the keeper keeps it from nebula's own folders, though more should.
    pub is_own_unprotected: bool,
    /// The globs of `archiveExclude`.
    pub leaves_out: Vec<String>,
}

impl JudgedCommand {
    /// Returns whether all that it overwrites is kept by the guard, in a sandbox.
    pub fn is_guarded(&self) -> bool {
        self.keeper == Keeper::Guard && self.has_sandbox
    }

    /// Returns what it may do as it runs in no sandbox; none: it runs in one.
    pub fn no_sandbox(&self) -> Option<&'static str> {
        let words = if self.is_held_by_guard { say::no_sandbox_but_guard() } else { say::no_sandbox() };
        (!self.has_sandbox).then_some(words)
    }

    /// Returns what its calls wait for once `consent` lets it run: the person has seen what its text names.
    pub fn holds(&self, consent: Consent) -> HoldSettings {
        if consent != Consent::Person {
            return HoldSettings { later: true, ..HoldSettings::default() };
        }
        let words = self.found.parts.iter().flat_map(|part| part.words.iter().flatten());
        let sockets = words.filter(|word| word.contains('/')).cloned().collect();
        let excluded = self.found.excluded.iter().map(|(path, _)| path.clone()).collect();
        HoldSettings { later: true, files: self.found.acts_later.clone(), sockets, excluded, ..HoldSettings::default() }
    }

    /// Returns why it is refused in plan mode, for the model; none: it only reads, or may run in a view.
    pub fn refusal_of_plan(&self, call: &CommandCall) -> Option<String> {
        let class = self.found.class.word();
        let why = match self.found.class {
            Class::Read => return None,
            Class::Reach | Class::Final => {
                format!("plan mode runs nothing that reaches further than the workspace; this one is {class}")
            }
            _ if call.background => "plan mode runs nothing in the background".into(),
            _ if self.asks_by_rule() => "plan mode asks nothing, and a rule asks about this command".into(),
            // In a view nobody is asked.
            _ if self.prints_keys() => "plan mode runs reading commands only where keys may be printed".into(),
            _ => format!("plan mode runs reading commands only here ({}); this one is {class}", self.no_view.as_ref()?),
        };
        Some(format!("{why}: {}. Name it in the plan", self.found.reason().words()))
    }

    /// Notes why it has no preview though it was to have one: the configuration wants one and there is no view, or `failed`,
    /// the reason why one could not begin.
    pub fn with_lacking_preview(mut self, when: PreviewWhen, call: &CommandCall, failed: Option<&str>) -> Self {
        let wanted = || self.no_view.clone().filter(|_| self.is_to_be_previewed(when, call));
        self.lacks_preview = failed.map(str::to_string).or_else(wanted);
        self
    }

    /// Returns whether it runs in a view by the configuration, so that what it changes is proposed.
    pub fn is_previewed(&self, when: PreviewWhen, call: &CommandCall) -> bool {
        self.lacks_preview.is_none() && self.is_to_be_previewed(when, call)
    }

    /// Returns whether the configuration wants a preview of it.
    fn is_to_be_previewed(&self, when: PreviewWhen, call: &CommandCall) -> bool {
        let class = match when {
            PreviewWhen::Never => false,
            PreviewWhen::Harm => self.found.class == Class::Harm,
            PreviewWhen::Always => matches!(self.found.class, Class::Work | Class::Harm),
        };
        class
            && !call.background
            && !self.prints_keys()
            && !self.asks_by_rule()
            && self.judgement.grant != Grant::Online
    }

    fn prints_keys(&self) -> bool {
        prints_keys(&self.found, &self.judgement.rules)
    }

    /// Returns whether a rule of the person asks about a part of it.
    fn asks_by_rule(&self) -> bool {
        self.judgement.rules.iter().flatten().any(|rule| rule.decision == RuleDecision::Ask)
    }

    /// Returns why it is not run where the policy or a rule asks and nobody is there, for the model.
    pub fn unanswered(&self, context: &SessionContext) -> String {
        if let Some(why) = &self.lacks_preview {
            return format!("nobody is there to allow this command: no preview of it can be had: {why}");
        }
        let why = self.judgement.why_it_asks(&self.found, context.settings().approval.word());
        format!("nobody is there to allow this command: {}", why.unwrap_or_default())
    }

    /// Returns why it is refused, for the model; none: it is not.
    pub fn refusal(&self) -> Option<String> {
        let CommandVerdict::Refuse(rule) = &self.judgement.verdict else { return None };
        let class = self.found.class.word();
        Some(match rule {
            Some(Rule { why: Some(why), .. }) => format!("a rule refuses this command: {why}"),
            Some(rule) => format!("a rule refuses commands that begin with `{}`", rule.words()),
            None => format!(
                "the approval policy none runs commands that only read; this one is {class}: {}",
                self.found.reason().words()
            ),
        })
    }
}

/// Judges a command. None where it could not be looked at.
pub async fn judge_command(context: &Arc<SessionContext>, call: &CommandCall) -> Option<JudgedCommand> {
    let (shell, commands) = (Arc::clone(&context.services.shell), Arc::clone(&context.commands));
    let (policy, judging) = (shell_policy(context.settings().approval), Arc::clone(context));
    let (text, folder, network) = (call.text.clone(), call.folder.clone(), call.network);
    let judged = tokio::task::spawn_blocking(move || {
        // A rule that the person wrote meanwhile holds for the next command.
        if let Some(rules) = judging.services.read_command_rules() {
            judging.policy.configure_rules(rules);
        }
        let rules = judging.policy.command_rules();
        let (mut found, around) = commands.assess(&text, folder.as_deref(), network);
        let (keeper, has_sandbox) = (shell.keeper_of(&mut found), shell.has_sandbox());
        let met = disk::count(&found, &around);
        let off = shell.settings.sandbox.off;
        let enforced = Enforced { guard: keeper == Keeper::Guard, sandbox: has_sandbox, off };
        let judgement = judge(&found, &rules, policy, enforced);
        let is_unguarded = judgement.asks == Some(AskReason::Unguarded);
        let unguarded = is_unguarded.then(|| shell.no_review()).flatten();
        // Found by a look at the whole workspace.
        let no_view = may_need_view(&judgement, &judging).then(|| shell.no_view()).flatten();
        let is_own_unprotected = shell.mounts_own(keeper).is_err();
        JudgedCommand {
            found,
            judgement,
            around,
            met,
            keeper,
            has_sandbox,
            is_held_by_guard: keeper == Keeper::Guard && !has_sandbox && !off,
            unguarded,
            no_view,
            lacks_preview: None,
            is_own_unprotected,
            leaves_out: shell.archive.settings().exclude,
        }
    });
    judged.await.ok()
}

/// Returns whether a command with this judgement may come to run in a view: by the mode, the configuration, or the person.
fn may_need_view(judgement: &Judgement, context: &SessionContext) -> bool {
    let is_wanted = context.services.shell.settings.preview != PreviewWhen::Never;
    is_wanted || judgement.verdict == CommandVerdict::Ask || context.settings().mode == Mode::Plan
}

/// Lets commands that begin with these words run from now on; `keep`: also in later sessions.
///
/// # Errors
/// Why there can be no such rule, or why it is not kept.
pub async fn allow(
    context: &Arc<SessionContext>,
    found: &Assessment,
    prefix: Vec<String>,
    keep: bool,
) -> Result<(), String> {
    // A rule for a part that reaches out is of no use without the network.
    let begins = |words: &[Option<String>]| {
        words.len() >= prefix.len() && words.iter().zip(&prefix).all(|(word, own)| word.as_ref() == Some(own))
    };
    let network = found.parts.iter().any(|part| part.class == Class::Reach && begins(&part.words));
    let rule = Rule { prefix, decision: RuleDecision::Allow, network, why: None };
    rule.check()?;
    if !keep {
        context.policy.add_command_rule(rule);
        return Ok(());
    }
    // The next judgement reads it from the configuration, so that it ends when it is taken out there.
    let services = Arc::clone(&context.services);
    let saved = tokio::task::spawn_blocking(move || services.keep_command_rule(&rule));
    saved.await.map_err(|error| error.to_string())?
}
