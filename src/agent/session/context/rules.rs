//! The rules of a session and the system prompt that was sent last, for the rules view.

use std::sync::Mutex;

use crate::agent::services::lock;
use crate::protocol::{RulePart, RulesView};

/// The rules and the prompt in force.
#[derive(Default)]
pub struct SessionRules(Mutex<RulesView>);

impl SessionRules {
    /// Returns the rules and the prompt now.
    pub fn now(&self) -> RulesView {
        lock(&self.0).clone()
    }

    /// Stores the rules. Returns those stored before.
    pub fn set(&self, view: RulesView) -> RulesView {
        let mut rules = lock(&self.0);
        let parts = std::mem::take(&mut rules.parts);
        std::mem::replace(&mut *rules, RulesView { parts, ..view })
    }

    /// Stores the parts of the prompt in force.
    pub fn set_parts(&self, parts: Vec<RulePart>) {
        lock(&self.0).parts = parts;
    }
}
