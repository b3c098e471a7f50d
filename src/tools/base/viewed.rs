//! The definitions of a store as the model knows them: what it viewed last, and what its own calls made of that.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use crate::strand::cli::{ToolAnswer, TouchedDefinition};

/// The calls that put what they say in the place of all that a definition is.
const OVERWRITE: [&str; 3] = ["strand_replace", "strand_remove", "strand_patch_apply"];

/// The texts of definitions that the model knows, by qualified name.
#[derive(Debug, Default)]
pub struct ViewedDefinitions(Mutex<HashMap<String, Vec<String>>>);

impl ViewedDefinitions {
    /// Keeps the definitions of an answer of `strand_view`.
    pub fn view(&self, answer: &ToolAnswer) {
        let ToolAnswer::Done(answer) = answer else { return };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for definition in answer["definitions"].as_array().into_iter().flatten() {
            if let (Some(name), Some(text)) = (definition["qname"].as_str(), definition["text"].as_str()) {
                known.insert(name.to_string(), vec![text.trim_end().to_string()]);
            }
        }
    }

    /// Returns the refusal of a call that would overwrite a definition which is another one than the model knows. It says
    /// what it is now, which the model knows from then on. `expected`: the definition of which the call says the hash: that is the store's to refuse.
    pub fn refuse(&self, call: &str, expected: Option<&str>, touched: &[TouchedDefinition]) -> Option<ToolAnswer> {
        if !OVERWRITE.contains(&call) {
            return None;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::new();
        let before = touched.iter().filter_map(|touched| touched.before.as_ref());
        for (name, now) in before.filter(|(name, _)| Some(name.as_str()) != expected) {
            let now = now.trim_end().to_string();
            if let Some(texts) = known.get_mut(name).filter(|texts| !texts.contains(&now)) {
                changed.push(json!({"qname": name, "text": now}));
                *texts = vec![now];
            }
        }
        let first = changed.first()?["qname"].as_str()?;
        let message = format!(
            "{first} was changed by someone else since it was viewed. Nothing was done. Send this again if it is still \
             meant, now that you see what is there."
        );
        let error = json!({"kind": "stale", "message": message, "details": {"now": changed}});
        Some(ToolAnswer::Refused(json!({"error": error})))
    }

    /// Keeps what a call that was made did to definitions. One that is edited in parts, and is another one than the model knows, is so
    /// still.
    pub fn made(&self, touched: &[TouchedDefinition]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for touched in touched {
            let Some((name, text)) = &touched.after else { continue };
            if let Some((old, _)) = touched.before.as_ref().filter(|(old, _)| old != name) {
                // The texts that refer to it are others now.
                let label = old.split_once('.').map_or(old.as_str(), |(_, label)| label);
                known.retain(|_, texts| !texts.iter().any(|text| text.contains(label)));
            }
            let is_known = |texts: &Vec<String>| match &touched.before {
                Some((_, before)) => texts.iter().any(|text| text == before.trim_end()),
                None => true,
            };
            let texts = known.entry(name.clone()).or_default();
            if texts.is_empty() {
                // An undo brings it back.
                texts.extend(touched.before.as_ref().map(|(_, text)| text.trim_end().to_string()));
            }
            if is_known(texts) {
                texts.push(text.trim_end().to_string());
            }
        }
    }
}
