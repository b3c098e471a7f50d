//! The worlds that answer requests: given answers first, then the primitives, or a recording.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::{Value as Json, json};

use super::episode::EpisodeStep;
use super::run::World;
use crate::strand::id::now_ms;
use crate::strand::state::View;

/// Answers from a file, then from the primitives. `http.*` is never performed.
pub struct Primitives {
    /// Answers by effect, used up in order.
    pub given: HashMap<String, VecDeque<Json>>,
    /// The contents of `storage.*`.
    pub storage: BTreeMap<String, Json>,
    /// The state of the random numbers.
    pub seed: u64,
    /// Printed lines.
    pub printed: Vec<String>,
}

impl World for Primitives {
    fn answer(&mut self, effect: &View, prim: &str, args: &[Json]) -> Option<Json> {
        if let Some(answer) = self.given.get_mut(&effect.label).and_then(VecDeque::pop_front) {
            return Some(answer);
        }
        let text = |at: usize| args.get(at).and_then(Json::as_str).unwrap_or_default().to_owned();
        Some(match prim {
            "log.print" => {
                self.printed.push(text(0));
                json!({"ok": null})
            }
            "clock.now" => json!({"ok": now_ms()}),
            "random.int" => {
                let int = |at: usize| match args.get(at) {
                    Some(Json::String(digits)) => digits.parse::<i64>().unwrap_or(0),
                    Some(number) => number.as_i64().unwrap_or(0),
                    None => 0,
                };
                let (lo, hi) = (int(0), int(1));
                if lo > hi {
                    return Some(json!({"err": "the range is empty"}));
                }
                let width = hi.wrapping_sub(lo) as u64;
                let drawn = if width == u64::MAX { self.next() } else { self.next() % (width + 1) };
                let value = lo.wrapping_add(drawn as i64);
                json!({"ok": if value.unsigned_abs() > 1 << 53 { json!(value.to_string()) } else { json!(value) }})
            }
            "storage.read" => match self.storage.get(&text(0)) {
                Some(value) => json!({"ok": value}),
                None => json!({"err": format!("no value under '{}'", text(0))}),
            },
            "storage.write" => {
                self.storage.insert(text(0), args.get(1).cloned().unwrap_or_default());
                json!({"ok": null})
            }
            _ => return None,
        })
    }
}

impl Primitives {
    /// Returns the next random number: a step of SplitMix64.
    fn next(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Answers as they were recorded, in order.
pub struct Recorded(VecDeque<Json>);

impl Recorded {
    /// Returns the answers of recorded steps.
    pub fn new(steps: &[EpisodeStep]) -> Recorded {
        Recorded(
            steps.iter().filter_map(|step| step.get("answers")).filter_map(Json::as_array).flatten().cloned().collect(),
        )
    }
}

impl World for Recorded {
    fn answer(&mut self, _: &View, _: &str, _: &[Json]) -> Option<Json> {
        self.0.pop_front().filter(|answer| !answer.is_null())
    }
}

/// Notes every answer another world gives.
pub struct Noting<'w> {
    /// The world that answers.
    pub world: &'w mut dyn World,
    /// The answers so far; null where there was none.
    pub answers: Vec<Json>,
}

impl World for Noting<'_> {
    fn answer(&mut self, effect: &View, prim: &str, args: &[Json]) -> Option<Json> {
        let answer = self.world.answer(effect, prim, args);
        self.answers.push(answer.clone().unwrap_or_default());
        answer
    }
}
