//! The cost of a step.

use crate::config::Price;
use crate::provider::Usage;

/// Returns the cost of a request of these tokens, in dollars.
pub fn cost(price: &Price, usage: &Usage) -> f64 {
    let price = price.at(usage.input);
    let (read, write) = (price.cache_read.unwrap_or(price.input), price.cache_write.unwrap_or(price.input));
    let hour = price.cache_write_1h.unwrap_or(write);
    let plain = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
    let short = usage.cache_write.saturating_sub(usage.cache_write_1h);
    (plain as f64 * price.input
        + usage.cache_read as f64 * read
        + short as f64 * write
        + usage.cache_write_1h as f64 * hour
        + usage.output as f64 * price.output)
        / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_formula_to_a_millionth() {
        let price = Price::read(&json!({
            "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75, "cacheWrite1h": 6,
            "tiers": [{"above": 200_000, "input": 6, "output": 22.5}]
        }))
        .expect("a price");
        let usage =
            Usage { cache_read: 500, cache_write: 300, cache_write_1h: 100, thinking: 9, ..Usage::new(1_000, 40) };
        let wanted = (200.0 * 3.0 + 500.0 * 0.3 + 200.0 * 3.75 + 100.0 * 6.0 + 40.0 * 15.0) / 1e6;
        assert!((cost(&price, &usage) - wanted).abs() < 1e-9);
        // Above the tier its prices count for the whole step; a cache price it does not name is its input price.
        let large = Usage { input: 200_001, cache_read: 200_000, ..Usage::new(0, 10) };
        assert!((cost(&price, &large) - (200_001.0 * 6.0 + 10.0 * 22.5) / 1e6).abs() < 1e-9);
    }
}
