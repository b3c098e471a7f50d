//! What a server's refusals taught, for the rest of the session.

use std::collections::HashMap;
use std::sync::Arc;

use crate::provider::models::Effort;
use crate::provider::transport::numbers;
use crate::provider::{Message, Origin, Request, Wire};

/// The facts learnt from refusals.
#[derive(Default)]
pub(in crate::provider) struct Learnt {
    /// Models that do not take how much to think.
    pub unthinking: Vec<String>,
    /// At most so many tokens of answer, by model.
    pub most: HashMap<String, u32>,
    /// Answers whose seals were refused: their text and calls are sent without.
    unsealed: Vec<Arc<Message>>,
}

/// A request that was refused.
pub(in crate::provider) struct Refusal<'a> {
    /// The format that was spoken.
    pub wire: Wire,
    /// Scheme, host and port of the server.
    pub place: &'a str,
    /// Host and port as people write them.
    pub host: &'a str,
    /// The server's words.
    pub says: &'a str,
    /// At most so many tokens of answer were asked for.
    pub most: u32,
    /// Words of a refusal that is about what was sealed.
    pub seals: &'a [&'a str],
    /// Words of a refusal that is about how much to think.
    pub thinks: &'a [&'a str],
}

/// A fact learnt from a refusal.
pub(in crate::provider) enum Lesson {
    /// The next request will be another one.
    Quiet,
    /// So, and the person is told.
    Notice(String),
}

impl Learnt {
    /// Returns whether the seals of a message go to the server at `place`: it came from there, and they were not
    /// refused.
    pub fn sends_seals(&self, message: &Arc<Message>, wire: Wire, place: &str, model: &str) -> bool {
        is_from(message.origin.as_deref(), wire, place, model)
            && !self.unsealed.iter().any(|refused| Arc::ptr_eq(refused, message))
    }

    /// Grows with each refusal of seals.
    pub fn unsealed(&self) -> usize {
        self.unsealed.len()
    }

    /// Returns whether a model takes how much it is to think, as far as it did not refuse that.
    pub fn thinks(&self, model: &str) -> bool {
        !self.unthinking.iter().any(|name| name == model)
    }

    /// Returns the limit of output of a model: what is `known` of it, and what it refused.
    pub fn most(&self, request: &Request, known: u32) -> u32 {
        let learnt = self.most.get(&request.model).copied().unwrap_or(known);
        request.max_output.unwrap_or(learnt).min(learnt)
    }

    /// Learns from a refusal. `None`: no other request has a chance.
    pub fn learn(&mut self, request: &Request, refusal: &Refusal) -> Option<Lesson> {
        const LIMITS: [&str; 4] = ["max_tokens", "max_output_tokens", "maxoutputtokens", "max_completion_tokens"];
        let says = refusal.says.to_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| says.contains(word));
        if names(&LIMITS)
            && let Some(most) = numbers(&says).filter(|n| (256..refusal.most).contains(n)).max()
        {
            self.most.insert(request.model.clone(), most);
            return Some(Lesson::Quiet);
        }
        let here = |m: &&Arc<Message>| self.sends_seals(m, refusal.wire, refusal.place, &request.model);
        let sealed: Vec<_> =
            request.messages.iter().filter(here).filter(|m| m.seals().next().is_some()).cloned().collect();
        if !sealed.is_empty() && names(refusal.seals) {
            self.unsealed.extend(sealed);
            let told = format!("earlier reasoning was not accepted by {} and is left out", refusal.host);
            return Some(Lesson::Notice(told));
        }
        if self.thinks(&request.model) && names(refusal.thinks) {
            self.unthinking.push(request.model.clone());
            let told = |effort: Effort| {
                Lesson::Notice(format!(
                    "{} at {} takes no effort: {} is left out",
                    request.model,
                    refusal.host,
                    effort.word()
                ))
            };
            return Some(request.effort.map_or(Lesson::Quiet, told));
        }
        None
    }
}

/// Returns whether an answer came from there.
pub(super) fn is_from(origin: Option<&Origin>, wire: Wire, place: &str, model: &str) -> bool {
    origin.is_some_and(|o| o.wire == wire && o.place == place && o.model == model)
}
