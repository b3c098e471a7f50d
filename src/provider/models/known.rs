//! The facts that hold for a model, field by field: the configuration, else its server, else the table, else what
//! errors taught. A window that a server does not take is none, whoever names it: where a refusal taught a smaller one,
//! that counts.

use super::cost::cost;
use super::{Facts, Thinking, by_name};
use crate::config::{ModelConfig, Price};
use crate::provider::Usage;

/// The sources of each kind of knowledge, in the order in which they count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    /// The person's configuration.
    pub configured: Facts,
    /// The server's own list.
    pub listed: Facts,
    /// The dated table.
    pub table: Facts,
    /// The facts learnt from refusals.
    pub learnt: Facts,
}

impl Known {
    /// Creates all that is known of a model of this name.
    pub fn new(model: &str, configured: &ModelConfig, listed: Facts, learnt: Facts) -> Self {
        Known { configured: of_config(configured), listed, table: by_name(model), learnt }
    }

    /// Returns the facts that hold.
    pub fn facts(&self) -> Facts {
        let all = [&self.listed, &self.table, &self.learnt].into_iter().cloned();
        let mut facts = all.fold(self.configured.clone(), Facts::or);
        facts.window = [self.learnt.window, facts.window].into_iter().flatten().min();
        facts
    }

    /// Returns what a request of these tokens costs, in dollars: by the configured price, else, where the server is not
    /// on this computer, by its list or the table. `None`: no price is known.
    pub fn cost(&self, local: bool, usage: &Usage) -> Option<f64> {
        self.price(local).map(|price| cost(&price, usage))
    }

    /// Returns the price of a million tokens: the configured one, else, where the server is not on this computer, that of
    /// its list or the table.
    pub fn price(&self, local: bool) -> Option<Price> {
        if local { self.configured.price.clone() } else { self.facts().price }
    }

    /// Returns what memory keeps of it: billionths of a dollar, 0 for a server on this computer.
    pub fn cost_nanos(&self, local: bool, usage: &Usage) -> Option<u64> {
        let cost = self.cost(local, usage).or(local.then_some(0.0));
        cost.map(|dollars| (dollars * 1e9).round() as u64)
    }

    /// Returns whether the price is that of the built-in table, and so may be out of date. A server on this computer has
    /// none of these.
    pub fn is_estimated(&self, local: bool) -> bool {
        !local && self.origins().contains(&("price", "table"))
    }

    /// Returns where each known field is from.
    pub fn origins(&self) -> Vec<(&'static str, &'static str)> {
        let sources =
            [("config", &self.configured), ("server", &self.listed), ("table", &self.table), ("learnt", &self.learnt)];
        let mut origins: Vec<(&'static str, &'static str)> = Vec::new();
        // As in `facts`: a smaller window that a refusal taught counts first.
        if self.learnt.window.is_some() && self.facts().window == self.learnt.window {
            let others = [&self.configured, &self.listed, &self.table].into_iter().find_map(|facts| facts.window);
            if others != self.learnt.window {
                origins.push(("contextWindow", "learnt"));
            }
        }
        for (source, facts) in sources {
            for field in facts.known() {
                if origins.iter().all(|(known, _)| *known != field) {
                    origins.push((field, source));
                }
            }
        }
        origins
    }
}

/// Returns the facts that the configuration gives of a model.
fn of_config(config: &ModelConfig) -> Facts {
    Facts {
        window: config.context_window,
        max_output: config.max_output,
        thinking: config.thinking.as_deref().and_then(Thinking::parse),
        images: config.images,
        pdfs: config.pdfs,
        price: config.price.clone(),
        cache_marks: config.cache_marks,
        ..Facts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_counts_first_and_a_smaller_window_that_a_refusal_taught_before_it() {
        let window = |n| Facts { window: Some(n), ..Facts::default() };
        let config = ModelConfig { context_window: Some(9_000), ..ModelConfig::default() };
        let known = Known::new("gpt-4o", &config, window(5_000), window(10_000));
        assert_eq!(known.facts().window, Some(9_000));
        assert!(known.origins().contains(&("contextWindow", "config")));
        let known = Known::new("gpt-4o", &config, window(5_000), window(4_000));
        assert_eq!(known.facts().window, Some(4_000));
        assert!(known.origins().contains(&("contextWindow", "learnt")));
        let known = Known::new("gpt-4o", &ModelConfig::default(), Facts::default(), window(4_000));
        assert_eq!(known.facts().window, Some(4_000));
        let known = Known::new("gpt-4o", &ModelConfig::default(), window(5_000), Facts::default());
        assert_eq!((known.facts().window, known.facts().max_output), (Some(5_000), Some(16_384)));
        assert!(known.origins().contains(&("contextWindow", "server")));
        assert!(known.origins().contains(&("maxOutput", "table")));
        let of_window = |known: &Known| known.origins().iter().find(|(field, _)| *field == "contextWindow").copied();
        for (listed, learnt, origin) in [(5_000, 4_000, "learnt"), (5_000, 6_000, "server"), (5_000, 5_000, "server")] {
            let known = Known::new("gpt-4o", &ModelConfig::default(), window(listed), window(learnt));
            assert_eq!(of_window(&known), Some(("contextWindow", origin)), "{listed} {learnt}");
        }
    }
}
