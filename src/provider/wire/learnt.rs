//! The lessons of a server's refusals, for the rest of the session.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::arguments::is_fit;
use super::raw::RawObject;
use super::roles::Roles;
use crate::messages::{agent, provider as say};
use crate::provider::models::{Effort, Thinking};
use crate::provider::transport::numbers;
use crate::provider::{Body, Message, Origin, Request, Wire};

/// The facts learnt from refusals.
#[derive(Default)]
pub(in crate::provider) struct Learnt {
    /// The fields about thinking that models do not take.
    refused: HashMap<String, Vec<ThinkField>>,
    /// The efforts that models know, as a refusal of another one listed them.
    efforts: HashMap<String, Vec<Effort>>,
    /// The models that do not take the temperature they were sent.
    without_temperature: HashSet<String>,
    /// The most tokens of an answer, by model.
    pub most: HashMap<String, u32>,
    /// Answers whose seals were refused: their text and calls are sent without.
    unsealed: Vec<Arc<Message>>,
    /// The roles that models take messages in.
    roles: HashMap<String, Roles>,
}

/// A field of a request about how a model is to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::provider) enum ThinkField {
    /// The effort.
    Effort,
    /// That thoughts are to be shown.
    Thoughts,
    /// That thoughts are to come sealed.
    Seals,
}

/// A field that is given up where a refusal holds one of these words, in lower case.
pub(in crate::provider) type GivenUp = (ThinkField, &'static [&'static str]);

/// A request that was refused.
pub(in crate::provider) struct Refusal<'a> {
    /// The format that was used.
    pub wire: Wire,
    /// Scheme, host and port of the server.
    pub place: &'a str,
    /// Host and port as people write them.
    pub host: &'a str,
    /// The server's words.
    pub says: &'a str,
    /// The most tokens of an answer that were asked for.
    pub most: u32,
    /// Words of a refusal that is about what was sealed.
    pub seals: &'a [&'a str],
    /// The fields about thinking that are given up, in this order; the words of the first entry mean nothing else.
    pub thinks: &'a [GivenUp],
}

/// A fact learnt from a refusal.
pub(in crate::provider) enum Lesson {
    /// The next request will be another one.
    Quiet,
    /// The request is sent again, and the person is told this.
    Notice(String),
}

impl Lesson {
    /// Returns the lesson that earlier reasoning is left out from now on.
    pub fn reasoning_left_out(host: &str) -> Self {
        Lesson::Notice(say::reasoning_left_out(&host))
    }
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

    /// Returns whether a model takes a field about thinking, as far as it did not refuse that.
    pub fn accepts(&self, model: &str, field: ThinkField) -> bool {
        self.refused.get(model).is_none_or(|refused| !refused.contains(&field))
    }

    /// Returns how much the model of `request` is told to think: the next lower effort it knows, and none where it does not think
    /// or takes none.
    pub fn effort(&self, request: &Request) -> Option<Effort> {
        let thinks = request.facts.thinking != Some(Thinking::None) && self.accepts(&request.model, ThinkField::Effort);
        let efforts = self.efforts.get(&request.model).or(request.facts.efforts.as_ref());
        let efforts = efforts.map_or(&[][..], Vec::as_slice);
        request.effort.filter(|_| thinks).map(|effort| effort.within(efforts))
    }

    /// Returns the temperature that is sent with `request`: what it asks for, unless the model refused one.
    pub fn temperature(&self, request: &Request) -> Option<f64> {
        request.temperature.filter(|_| !self.without_temperature.contains(&request.model))
    }

    /// Returns the limit of output of a model: what is `known` of it, and what it refused.
    pub fn most(&self, request: &Request, known: u32) -> u32 {
        let learnt = self.most.get(&request.model).copied().unwrap_or(known);
        request.max_output.unwrap_or(learnt).min(learnt)
    }

    /// Returns the roles in which a model takes messages.
    pub(super) fn roles(&self, model: &str) -> Roles {
        self.roles.get(model).copied().unwrap_or_default()
    }

    /// Learns from a refusal. `None`: no other request has a chance.
    pub fn learn(&mut self, request: &Request, refusal: &Refusal) -> Option<Lesson> {
        let says = refusal.says.to_lowercase();
        if let Some(roles) = self.roles(&request.model).after(&says) {
            self.roles.insert(request.model.clone(), roles);
            return Some(Lesson::Quiet);
        }
        const LIMITS: [&str; 5] = [
            "max_tokens",
            "max_output_tokens",
            "maxoutputtokens",
            "max_completion_tokens",
            "maximum tokens you requested",
        ];
        let names = |words: &[&str]| words.iter().any(|word| says.contains(word));
        if names(&LIMITS)
            && let Some(most) = limit(&says, refusal.most)
        {
            self.most.insert(request.model.clone(), most);
            return Some(Lesson::Quiet);
        }
        if says.contains("temperature") && self.temperature(request).is_some() {
            self.without_temperature.insert(request.model.clone());
            return Some(Lesson::Quiet);
        }
        if let Some(lesson) = self.learn_efforts(request, &says) {
            return Some(lesson);
        }
        let given_up = |(field, words): &GivenUp| names(words) && self.sends(request, *field);
        let found = refusal.thinks.iter().position(given_up);
        if found == Some(0) {
            return Some(self.give_up(request, refusal.thinks[0].0, refusal.host));
        }
        let here = |m: &&Arc<Message>| self.sends_seals(m, refusal.wire, refusal.place, &request.model);
        let sealed = || request.messages.iter().filter(here).filter(|m| m.seals().next().is_some()).cloned();
        // A word about thinking is about what was thought before where nothing else in the request speaks of it.
        let of_seals = names(refusal.seals)
            || found.is_none() && !refusal.seals.is_empty() && refusal.thinks.iter().any(|(_, words)| names(words));
        if of_seals && sealed().next().is_some() {
            let sealed: Vec<_> = sealed().collect();
            self.unsealed.extend(sealed);
            return Some(Lesson::reasoning_left_out(refusal.host));
        }
        if let Some(at) = found {
            return Some(self.give_up(request, refusal.thinks[at].0, refusal.host));
        }
        // Whatever the words: a server may refuse a name that it gave itself, and seals keep that.
        let unfit: Vec<_> = sealed().filter(|message| has_unfit_name(message)).collect();
        let is_refused = !unfit.is_empty();
        self.unsealed.extend(unfit);
        is_refused.then(|| Lesson::reasoning_left_out(refusal.host))
    }

    /// Learns which efforts a model has from a refusal that lists them, and so the next lower one to the one sent.
    fn learn_efforts(&mut self, request: &Request, says: &str) -> Option<Lesson> {
        let sent = self.effort(request)?;
        let offered = listed_efforts(says, sent);
        let lower = Some(sent.within(&offered)).filter(|lower| *lower != sent && *lower != Effort::None)?;
        self.efforts.insert(request.model.clone(), offered);
        Some(Lesson::Notice(agent::no_effort(&request.model, &sent.word(), &lower.word())))
    }

    /// Returns whether a request has this field, as far as it can be told from outside its format.
    fn sends(&self, request: &Request, field: ThinkField) -> bool {
        match field {
            ThinkField::Effort => self.effort(request).is_some(),
            field => self.accepts(&request.model, field),
        }
    }

    fn give_up(&mut self, request: &Request, field: ThinkField, host: &str) -> Lesson {
        let effort = self.effort(request).filter(|_| field != ThinkField::Seals);
        let refused = self.refused.entry(request.model.clone()).or_default();
        refused.push(field);
        // How much to think is part of the thoughts that are asked for.
        if field == ThinkField::Thoughts {
            refused.push(ThinkField::Effort);
        }
        let notice = |effort: Effort| Lesson::Notice(say::effort_left_out(&request.model, &host, &effort.word()));
        effort.map_or(Lesson::Quiet, notice)
    }
}

/// Returns whether an answer holds a sealed call under a name that not every server takes back.
fn has_unfit_name(message: &Message) -> bool {
    let calls = message.parts.iter().filter(|part| matches!(part.body, Body::Call(_)));
    calls.filter_map(|part| sealed_name(part.seal.as_deref()?)).any(|name| !is_fit(&name))
}

/// Returns the name of a call in its seal.
fn sealed_name(seal: &str) -> Option<String> {
    let call = RawObject::parse(seal)?;
    call.raw("functionCall").map_or_else(|| call.text("name"), |inner| RawObject::parse(inner)?.text("name"))
}

/// Returns whether an answer came from there.
pub(super) fn is_from(origin: Option<&Origin>, wire: Wire, place: &str, model: &str) -> bool {
    origin.is_some_and(|o| o.wire == wire && o.place == place && o.model == model)
}

/// Returns the efforts that a refusal of the `sent` one lists as those that there are.
fn listed_efforts(says: &str, sent: Effort) -> Vec<Effort> {
    const LISTS: [&str; 4] = ["supported values", "one of", "must be", "should be"];
    let Some(at) = LISTS.iter().filter_map(|words| says.find(words)).min() else { return Vec::new() };
    let words = says[at..].split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(Effort::parse).filter(|effort| *effort != sent).collect()
}

/// Returns the largest limit that a refusal names below what was `sent`. A number that its range excludes is one too
/// many.
fn limit(says: &str, sent: u32) -> Option<u32> {
    let is_excluded = |n: u32| {
        let number = n.to_string();
        says.match_indices(&number).any(|(at, _)| {
            let (before, after) = (says[..at].trim_end(), says[at + number.len()..].trim_start());
            after.starts_with("(exclusive)") || ["<", "less than", "below"].iter().any(|word| before.ends_with(word))
        })
    };
    let named = numbers(says).filter(|n| (256..=sent).contains(n));
    named.map(|n| if is_excluded(n) { n - 1 } else { n }).filter(|n| *n < sent).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::models::Facts;

    #[test]
    fn a_refused_effort_becomes_the_next_lower_one_that_the_refusal_lists() {
        let facts = Facts { thinking: Some(Thinking::Effort), ..Facts::default() };
        for (sent, says, then) in [
            (Effort::High, "'high' is not supported with the 'm' model. Supported values are: 'medium'.", "medium"),
            (Effort::XHigh, "Supported values are: 'minimal', 'low', 'medium', and 'high'.", "high"),
            (Effort::None, "Supported values are: 'minimal', 'low', 'medium', and 'high'.", "low"),
            (Effort::Max, "invalid think value: \"max\" (must be \"high\", \"medium\", \"low\", true)", "high"),
            (Effort::High, "`reasoning_effort` must be one of `none` or `default`", ""),
            (Effort::High, "Unsupported parameter: 'reasoning_effort'", ""),
        ] {
            let mut learnt = Learnt::default();
            let request = Request { model: "m".into(), effort: Some(sent), facts: facts.clone(), ..Request::default() };
            let lesson = learnt.learn_efforts(&request, &says.to_lowercase());
            let now = if lesson.is_some() { learnt.effort(&request).map_or("none", Effort::word) } else { "" };
            assert_eq!(now, then, "{says}");
        }
    }

    #[test]
    fn a_limit_is_read_with_what_its_range_excludes() {
        for (says, most) in [
            ("max_tokens: 64000 > 8192, which is the maximum", Some(8192)),
            ("64000 given; supported range is from 1 (inclusive) to 8193 (exclusive)", Some(8192)),
            ("max_tokens must be less than 4097", Some(4096)),
            ("max_tokens must be less than or equal to 4096", Some(4096)),
            ("max_tokens must be <= 4096", Some(4096)),
            (
                "the maximum tokens you requested exceeds the model limit of 4096. try again with a maximum tokens \
                 value that is lower than 4096.",
                Some(4096),
            ),
            ("max_tokens is too large: 64000", None),
        ] {
            assert_eq!(limit(says, 64_000), most, "{says}");
        }
    }
}
