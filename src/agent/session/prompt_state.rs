//! The inputs of a session's system prompt, as values and as memory stores them.
//!
//! The prompt is made once and kept, so that every request begins with the same bytes and the provider need not read
//! them again; a resumed session sends the same ones.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agent::session::records::read_json;
use crate::context::environment::PromptEnvironment;
use crate::context::rules::{ActiveRule, Rules};
use crate::edit::Format;
use crate::protocol::{Mode, RuleChip};

/// The inputs of a session's system prompt.
#[derive(Default)]
pub struct PromptState {
    /// The environment and the workspace's rules for the present message.
    pub look: Look,
    /// The facts in the system prompt.
    pub base: Option<PromptFacts>,
    /// The facts that the model received last, by the system prompt or after it.
    pub last_sent: PromptFacts,
    /// The number of messages a summary stood for when the base was made: with another summary another prompt begins.
    pub covered: usize,
    /// The number of files in play when the rules were last looked at.
    pub in_play: usize,
    /// The number of messages gone through for results to leave out when the context window was full.
    pub left_out: usize,
    /// The places of the results that the person left out.
    pub chosen: Vec<usize>,
    /// The pictures and documents that servers refused, in the order of the refusals.
    pub refused: Vec<RefusedFiles>,
    /// The system prompts made so far.
    pub made: Vec<(PromptSetting, Arc<str>)>,
}

/// The pictures and documents of one message that a server refused for a model; they are not sent there any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedFiles {
    /// The place of the message in the conversation.
    pub message: usize,
    /// The name and the size in bytes of each.
    pub files: Vec<(String, usize)>,
    /// The address of the server.
    pub place: String,
    /// The model that was asked for.
    pub model: String,
    /// The reason in the server's words.
    pub why: String,
    /// They are left out for the present turn alone, and so not stored.
    #[serde(skip)]
    pub for_turn: bool,
}

/// The environment and the rules of a workspace, on their way to the model.
#[derive(Default)]
pub enum Look {
    /// They are to be read.
    #[default]
    Asked,
    /// They were read, and not yet compared with what the model received.
    Read(Arc<(PromptEnvironment, Rules)>),
    /// They were compared: the model received what is new.
    Compared(Arc<(PromptEnvironment, Rules)>),
}

/// The settings of a system prompt, beside the facts: mode, format, whether it is the short one and whether it tells of
/// the tools, language.
pub type PromptSetting = (Mode, Format, (bool, bool), Option<String>);

/// The facts that can change during a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptFacts {
    /// The machine and the workspace.
    pub live: PromptEnvironment,
    /// The active rules.
    pub rules: Vec<ActiveRule>,
}

impl PromptState {
    /// Marks the facts as out of date, so that the next message of the person reads them again.
    pub fn look_again(&mut self) {
        self.look = Look::Asked;
    }

    /// Reads the state as memory stored it, if it did; `None`: it cannot be read.
    pub fn read(record: Option<&str>) -> Option<Self> {
        let Some(record) = read_json::<Option<PromptRecord>>(record)? else { return Some(Self::default()) };
        let last_sent = record.last_sent.map_or_else(|| record.base.facts(), |last_sent| last_sent.facts());
        Some(PromptState {
            base: Some(record.base.facts()),
            last_sent,
            covered: record.covered,
            left_out: record.left_out,
            chosen: record.chosen,
            refused: record.refused,
            ..Self::default()
        })
    }

    /// Returns the state as memory stores it; `None` before the first request.
    pub fn to_record(&self) -> Option<String> {
        let base = self.base.as_ref()?;
        let last_sent = (self.last_sent != *base).then(|| FactsRecord::of(&self.last_sent));
        let (covered, left_out) = (self.covered, self.left_out);
        let refused = self.refused.iter().filter(|refused| !refused.for_turn).cloned().collect();
        let chosen = self.chosen.clone();
        let record = PromptRecord { base: FactsRecord::of(base), last_sent, covered, left_out, chosen, refused };
        // Records of strings and numbers always serialise.
        serde_json::to_string(&record).ok()
    }
}

/// The prompt state as memory stores it beside the session.
#[derive(Serialize, Deserialize)]
struct PromptRecord {
    base: FactsRecord,
    #[serde(default, rename = "told", skip_serializing_if = "Option::is_none")]
    last_sent: Option<FactsRecord>,
    #[serde(default)]
    covered: usize,
    #[serde(default)]
    left_out: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    chosen: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refused: Vec<RefusedFiles>,
}

#[derive(Serialize, Deserialize)]
struct FactsRecord {
    platform: String,
    date: String,
    workspace: String,
    tree_title: String,
    tree: String,
    languages: String,
    #[serde(default)]
    has_definitions: bool,
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

/// The rules that joined with a message, as memory stores them beside it; none where another record is there.
#[derive(Default, Serialize, Deserialize)]
pub struct JoinedRecord {
    #[serde(default)]
    rules: Vec<ChipRecord>,
}

#[derive(Serialize, Deserialize)]
struct ChipRecord {
    path: String,
    reason: String,
    bytes: usize,
}

impl JoinedRecord {
    /// Returns the record as memory stores it.
    pub fn write(chips: &[RuleChip]) -> String {
        let chip = |c: &RuleChip| ChipRecord { path: c.path.clone(), reason: c.reason.clone(), bytes: c.bytes };
        // A record of strings and numbers always serialises.
        serde_json::to_string(&JoinedRecord { rules: chips.iter().map(chip).collect() }).unwrap_or_default()
    }
}

/// Returns the rules that joined with a stored message, from what was kept beside it; `None`: it cannot be read.
pub fn joined(extra: Option<&str>) -> Option<Vec<RuleChip>> {
    let chip = |c: ChipRecord| RuleChip { path: c.path, reason: c.reason, bytes: c.bytes };
    Some(read_json::<JoinedRecord>(extra)?.rules.into_iter().map(chip).collect())
}

impl FactsRecord {
    fn of(facts: &PromptFacts) -> Self {
        let PromptEnvironment { platform, date, workspace, tree_title, tree, languages, has_definitions, build, git } =
            facts.live.clone();
        let rule =
            |r: &ActiveRule| RuleRecord { path: r.path.clone(), reason: r.reason.clone(), text: r.text.to_string() };
        let rules = facts.rules.iter().map(rule).collect();
        FactsRecord { platform, date, workspace, tree_title, tree, languages, has_definitions, build, git, rules }
    }

    fn facts(&self) -> PromptFacts {
        let live = PromptEnvironment {
            platform: self.platform.clone(),
            date: self.date.clone(),
            workspace: self.workspace.clone(),
            tree_title: self.tree_title.clone(),
            tree: self.tree.clone(),
            languages: self.languages.clone(),
            has_definitions: self.has_definitions,
            build: self.build.clone(),
            git: self.git.clone(),
        };
        let rules = self.rules.iter().map(|r| ActiveRule::new(&r.path, &r.reason, &r.text)).collect();
        PromptFacts { live, rules }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_state_survives_being_stored() {
        let base = PromptFacts {
            live: PromptEnvironment {
                git: Some("branch main; clean".into()),
                tree: "./: a".into(),
                ..PromptEnvironment::default()
            },
            rules: vec![ActiveRule::new("AGENTS.md", "workspace", "Be kind.")],
        };
        let mut state = PromptState {
            base: Some(base.clone()),
            last_sent: base.clone(),
            covered: 3,
            left_out: 2,
            refused: vec![RefusedFiles {
                message: 0,
                files: vec![("i.png".into(), 70)],
                place: "http://h".into(),
                model: "m".into(),
                why: "too large".into(),
                for_turn: false,
            }],
            ..PromptState::default()
        };
        let read = PromptState::read(state.to_record().as_deref()).expect("readable");
        assert_eq!(read.refused, state.refused);
        let for_turn = RefusedFiles { for_turn: true, ..state.refused[0].clone() };
        let of_turn = PromptState { base: Some(base.clone()), refused: vec![for_turn], ..PromptState::default() };
        assert_eq!(PromptState::read(of_turn.to_record().as_deref()).expect("readable").refused, []);
        assert_eq!((read.base.as_ref(), &read.last_sent), (Some(&base), &base));
        assert_eq!((read.covered, read.left_out), (3, 2));
        state.last_sent.live.git = Some("branch main; 1 changed (a)".into());
        let read = PromptState::read(state.to_record().as_deref()).expect("readable");
        assert_eq!((read.base.as_ref(), &read.last_sent), (Some(&base), &state.last_sent));
        assert!(PromptState::read(Some("{}")).is_none());
        assert!(PromptState::read(None).is_some_and(|read| read.base.is_none()));
    }
}
