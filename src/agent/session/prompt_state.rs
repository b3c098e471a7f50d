//! The system prompt of a session. It is made once and kept, so that every request begins with the same bytes and the
//! provider need not read them anew; a resumed session sends the same ones. What changes meanwhile (git, files, rules
//! that come into play) is told in the conversation, where it stays.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agent::services::{Env, lock};
use crate::agent::session::Session;
use crate::agent::session::request;
use crate::context::live::{Limits, Live};
use crate::context::rules::{self, Active, ActiveRule, Rules};
use crate::context::templates::{self, Part};
use crate::edit::Format;
use crate::protocol::{Item, Level, Mode, RuleChip, RulePart, RulesView};
use crate::provider::{Message, Role};

/// What a session's prompt rests on.
#[derive(Default)]
pub struct Ground {
    /// What is true now and the workspace's rules, as looked at for the present message; none: to be looked at.
    now: Option<Arc<(Live, Rules)>>,
    /// What the system prompt says.
    base: Option<Facts>,
    /// What the model was told last, by the system prompt or after it.
    told: Facts,
    /// How many messages a summary stood for when the base was made: with another summary another prompt begins.
    covered: usize,
    /// How many files were in play when the rules were last looked at.
    in_play: usize,
    /// How many messages were gone through for results to leave out when the context window was full.
    pub left_out: usize,
    /// The system prompts made so far.
    made: Vec<(Setting, Arc<str>)>,
}

/// What a system prompt is made for, beside the facts.
type Setting = (Mode, Format, Option<String>);

/// What can change under a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Facts {
    live: Live,
    rules: Vec<ActiveRule>,
}

impl Ground {
    /// For the next message of the person: what is true now is looked at again.
    pub fn look_again(&mut self) {
        self.now = None;
    }

    /// As it was kept in memory; anything else begins anew.
    pub fn read(kept: Option<&str>) -> Self {
        let Some(kept) = kept.and_then(|text| serde_json::from_str::<Kept>(text).ok()) else { return Self::default() };
        let told = kept.told.map_or_else(|| kept.base.facts(), |told| told.facts());
        Ground {
            base: Some(kept.base.facts()),
            told,
            covered: kept.covered,
            left_out: kept.left_out,
            ..Self::default()
        }
    }

    /// As memory keeps it; none before the first request.
    pub fn kept(&self) -> Option<String> {
        let base = self.base.as_ref()?;
        let told = (self.told != *base).then(|| FactsRecord::of(&self.told));
        let kept = Kept { base: FactsRecord::of(base), told, covered: self.covered, left_out: self.left_out };
        // Records of strings and numbers always serialise.
        serde_json::to_string(&kept).ok()
    }
}

/// The system prompt for the next request. Where something has changed since the model was told last, that joins the
/// conversation first.
pub async fn system(env: &Arc<Env>, session: &mut Session) -> Arc<str> {
    let fresh = session.ground.now.is_none();
    if fresh {
        let env2 = Arc::clone(env);
        let looked = tokio::task::spawn_blocking(move || look(&env2));
        session.ground.now = looked.await.ok().map(Arc::new);
    }
    let covered = session.summary.as_ref().map_or(0, |(_, covered)| *covered);
    let anew = session.ground.base.is_none() || session.ground.covered != covered;
    if anew || fresh || session.in_play.len() != session.ground.in_play {
        update(env, session, anew, fresh).await;
        session.ground.covered = covered;
    }
    let now = env.live();
    let setting = (now.mode, now.format, lock(&env.config).language.clone());
    if let Some((_, text)) = session.ground.made.iter().find(|(made, _)| *made == setting) {
        return Arc::clone(text);
    }
    let parts = show(env, session).await;
    let base: Vec<Part> = parts.into_iter().filter(|p| p.reason != TOLD).collect();
    let text: Arc<str> = templates::joined(&base).into();
    session.ground.made.push((setting, Arc::clone(&text)));
    text
}

/// The rules and the effective system prompt: those in force, outside a session what a first message would be sent with.
pub fn rules_now(env: &Env) -> RulesView {
    let made = lock(&env.rules).clone();
    if !made.parts.is_empty() {
        return made;
    }
    let (live, rules) = look(env);
    let active = rules.active(&env.workspace, &[]);
    let view = rules_view(&rules, &active, &[]);
    RulesView { parts: shown(compose(env, &Facts { live, rules: active.rules })), ..view }
}

/// All rules, without the prompt.
fn rules_view(rules: &Rules, active: &Active, in_play: &[String]) -> RulesView {
    let chip = |r: &ActiveRule| RuleChip { path: r.path.clone(), reason: r.reason.clone(), bytes: r.bytes };
    RulesView {
        active: active.rules.iter().map(chip).collect(),
        waiting: rules.waiting(in_play),
        complaints: rules.complaints.iter().chain(&active.complaints).cloned().collect(),
        parts: Vec::new(),
    }
}

fn shown(parts: Vec<Part>) -> Vec<RulePart> {
    parts.into_iter().map(|p| RulePart { origin: p.origin, reason: p.reason, text: p.text }).collect()
}

/// The reason of parts that are not in the system prompt itself.
const TOLD: &str = "changed since, told in the conversation";

fn look(env: &Env) -> (Live, Rules) {
    let live = Live::gather(env.workspace.root(), Limits::default());
    let mut rules = Rules::load(&env.workspace);
    rules.complaints.extend(templates_of(env).complaints());
    (live, rules)
}

/// Compares what is true with what the model was told, and tells it the rest.
async fn update(env: &Arc<Env>, session: &mut Session, anew: bool, fresh: bool) {
    let Some(now) = session.ground.now.clone() else { return };
    session.ground.in_play = session.in_play.len();
    let (env2, in_play) = (Arc::clone(env), session.in_play.clone());
    let found = Arc::clone(&now);
    let active = tokio::task::spawn_blocking(move || found.1.active(&env2.workspace, &in_play)).await;
    let Ok(active) = active else { return };
    tell_rules(env, session, rules_view(&now.1, &active, &session.in_play)).await;
    let facts = Facts { live: now.0.clone(), rules: active.rules };
    if anew {
        session.ground.left_out = session.window.gone_through();
        session.ground.told = facts.clone();
        session.ground.base = Some(facts);
        session.ground.made.clear();
    } else {
        let news = news(env, &session.ground.told, &facts);
        // A rule that is not in play any more has been told all the same.
        let kept = session.ground.told.rules.iter().filter(|old| !facts.rules.iter().any(|r| r.path == old.path));
        let kept: Vec<ActiveRule> = kept.filter(|r| env.workspace.root().join(&r.path).exists()).cloned().collect();
        session.ground.told = facts;
        session.ground.told.rules.extend(kept);
        match news {
            Some(news) => tell(env, session, &news, fresh),
            None => return,
        }
        show(env, session).await;
    }
    if let Some(kept) = session.ground.kept() {
        env.kept(env.memory.set_extra(&session.id, &kept));
    }
}

/// What to tell the model, in words; none: nothing has changed.
fn news(env: &Env, told: &Facts, now: &Facts) -> Option<String> {
    let gone = |path: &str| !env.workspace.root().join(path).exists();
    let mut parts = rules::news(&told.rules, &now.rules, &gone);
    let changes = now.live.changes(&told.live);
    if !changes.is_empty() {
        parts.push(format!("What is true now has changed:\n\n{}", changes.join("\n")));
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Joins the message of the person that is about to be sent, or follows what came of the model's calls.
fn tell(env: &Env, session: &mut Session, news: &str, fresh: bool) {
    let last = session.messages.last().zip(session.rows.last());
    let Some((message, row)) = last.filter(|(m, _)| fresh && m.role == Role::User) else {
        return request::hidden(env, session, news);
    };
    let (message, row) = (Message::clone(message).and_text(&format!("\n\n---\n{news}")), *row);
    env.kept(env.memory.checkpoint(&session.id, row, &message.text(), None));
    if let Some(last) = session.messages.last_mut() {
        *last = Arc::new(message);
    }
}

/// Notes the parts of the prompt in force for whoever asks, and gives them.
async fn show(env: &Arc<Env>, session: &Session) -> Vec<Part> {
    let (Some(base), told) = (session.ground.base.clone(), session.ground.told.clone()) else { return Vec::new() };
    let env2 = Arc::clone(env);
    let made = tokio::task::spawn_blocking(move || {
        let mut parts = compose(&env2, &base);
        let later = told.rules.iter().filter(|r| !base.rules.iter().any(|b| b.path == r.path && b.text == r.text));
        parts.extend(later.map(|r| Part { origin: r.path.clone(), reason: TOLD.into(), text: r.text.to_string() }));
        let changes = told.live.changes(&base.live).join("\n");
        if !changes.is_empty() {
            parts.push(Part { origin: "what is true now".into(), reason: TOLD.into(), text: changes });
        }
        parts
    });
    let parts = made.await.unwrap_or_default();
    lock(&env.rules).parts = shown(parts.clone());
    parts
}

/// For a session that was opened again: the rules as they are, for the status line and whoever asks.
pub async fn look_at_rules(env: Arc<Env>, in_play: Vec<String>) {
    let env2 = Arc::clone(&env);
    let looked = tokio::task::spawn_blocking(move || {
        let rules = Rules::load(&env2.workspace);
        let active = rules.active(&env2.workspace, &in_play);
        // What is wrong with a rule is told with the next message.
        RulesView { complaints: Vec::new(), ..rules_view(&rules, &active, &in_play) }
    });
    if let Ok(view) = looked.await {
        keep_rules(&env, view).await;
    }
}

/// Keeps the rules for whoever asks; what was kept before.
async fn keep_rules(env: &Env, view: RulesView) -> RulesView {
    let active = view.active.clone();
    let before = {
        let mut rules = lock(&env.rules);
        let parts = std::mem::take(&mut rules.parts);
        std::mem::replace(&mut *rules, RulesView { parts, ..view })
    };
    let changed = {
        let mut seen = lock(&env.seen);
        let changed = seen.rules != active;
        seen.rules = active;
        changed
    };
    if changed {
        env.tell_status().await;
    }
    before
}

/// Keeps the rules, and says in the chat what is new about them: with the newest message, so that a resumed session says
/// it too.
async fn tell_rules(env: &Env, session: &Session, view: RulesView) {
    let before = keep_rules(env, view.clone()).await;
    let joined = |r: &&RuleChip| !before.active.iter().any(|b| b.path == r.path);
    let joined: Vec<RuleChip> = view.active.iter().filter(joined).cloned().collect();
    if !joined.is_empty() {
        if let Some(row) = session.rows.last().filter(|row| **row != 0) {
            env.kept(env.memory.keep_extra(&session.id, *row, &JoinedRecord::write(&joined)));
        }
        env.events.add(Item::Rules(joined)).await;
    }
    let new: Vec<String> = view.complaints.into_iter().filter(|c| !before.complaints.contains(c)).collect();
    if !new.is_empty() {
        let title =
            if new.len() == 1 { "a rule or template is not used" } else { "some rules or templates are not used" };
        env.events.notice(Level::Warning, title, new.join("\n")).await;
    }
}

fn templates_of(env: &Env) -> templates::Templates {
    templates::Templates::new(&env.workspace, lock(&env.config).paths.folder())
}

/// The parts of a system prompt with their origins.
fn compose(env: &Env, facts: &Facts) -> Vec<Part> {
    let config = lock(&env.config).clone();
    let templates = templates_of(env);
    let now = env.live();
    let setting = templates::Setting {
        mode: now.mode.word(),
        format: now.format.name(),
        language: config.language.as_deref(),
        rules: &facts.rules,
        live: &facts.live,
    };
    templates::system(&templates, &setting)
}

/// A ground as memory keeps it beside the session.
#[derive(Serialize, Deserialize)]
struct Kept {
    base: FactsRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<FactsRecord>,
    #[serde(default)]
    covered: usize,
    #[serde(default)]
    left_out: usize,
}

#[derive(Serialize, Deserialize)]
struct FactsRecord {
    platform: String,
    date: String,
    workspace: String,
    tree_title: String,
    tree: String,
    languages: String,
    build: String,
    git: Option<String>,
    rules: Vec<RuleRecord>,
}

#[derive(Serialize, Deserialize)]
struct RuleRecord {
    path: String,
    reason: String,
    text: String,
}

/// The rules that joined with a message, as memory keeps them beside it.
#[derive(Serialize, Deserialize)]
struct JoinedRecord {
    rules: Vec<ChipRecord>,
}

#[derive(Serialize, Deserialize)]
struct ChipRecord {
    path: String,
    reason: String,
    bytes: usize,
}

impl JoinedRecord {
    fn write(chips: &[RuleChip]) -> String {
        let chip = |c: &RuleChip| ChipRecord { path: c.path.clone(), reason: c.reason.clone(), bytes: c.bytes };
        // A record of strings and numbers always serialises.
        serde_json::to_string(&JoinedRecord { rules: chips.iter().map(chip).collect() }).unwrap_or_default()
    }
}

/// The rules that joined with a stored message, from what was kept beside it.
pub fn joined(extra: Option<&str>) -> Vec<RuleChip> {
    let record = extra.and_then(|json| serde_json::from_str::<JoinedRecord>(json).ok());
    let chip = |c: ChipRecord| RuleChip { path: c.path, reason: c.reason, bytes: c.bytes };
    record.map_or(Vec::new(), |r| r.rules.into_iter().map(chip).collect())
}

impl FactsRecord {
    fn of(facts: &Facts) -> Self {
        let Live { platform, date, workspace, tree_title, tree, languages, build, git } = facts.live.clone();
        let rule =
            |r: &ActiveRule| RuleRecord { path: r.path.clone(), reason: r.reason.clone(), text: r.text.to_string() };
        let rules = facts.rules.iter().map(rule).collect();
        FactsRecord { platform, date, workspace, tree_title, tree, languages, build, git, rules }
    }

    fn facts(&self) -> Facts {
        let live = Live {
            platform: self.platform.clone(),
            date: self.date.clone(),
            workspace: self.workspace.clone(),
            tree_title: self.tree_title.clone(),
            tree: self.tree.clone(),
            languages: self.languages.clone(),
            build: self.build.clone(),
            git: self.git.clone(),
        };
        let rules = self.rules.iter().map(|r| ActiveRule::new(&r.path, &r.reason, &r.text)).collect();
        Facts { live, rules }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ground_survives_being_kept() {
        let base = Facts {
            live: Live { git: Some("branch main; clean".into()), tree: "./: a".into(), ..Live::default() },
            rules: vec![ActiveRule::new("AGENTS.md", "workspace", "Be kind.")],
        };
        let mut ground =
            Ground { base: Some(base.clone()), told: base.clone(), covered: 3, left_out: 2, ..Ground::default() };
        let read = Ground::read(ground.kept().as_deref());
        assert_eq!((read.base.as_ref(), &read.told), (Some(&base), &base));
        assert_eq!((read.covered, read.left_out), (3, 2));
        ground.told.live.git = Some("branch main; 1 changed (a)".into());
        let read = Ground::read(ground.kept().as_deref());
        assert_eq!((read.base.as_ref(), &read.told), (Some(&base), &ground.told));
        assert!(Ground::read(Some("{}")).base.is_none());
        assert!(Ground::read(None).base.is_none());
    }
}
