//! The price of a model.

use serde_json::Value;

/// Dollars a million tokens.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Price {
    /// Read.
    pub input: f64,
    /// Written.
    pub output: f64,
    /// Read from the provider's cache; `None`: as `input`.
    pub cache_read: Option<f64>,
    /// Written to the provider's cache; `None`: as `input`.
    pub cache_write: Option<f64>,
    /// Written to the provider's cache for an hour; `None`: as `cache_write`.
    pub cache_write_1h: Option<f64>,
    /// Prices of requests above this many tokens of input, each in place of all of these.
    pub tiers: Vec<(u64, Price)>,
}

impl Price {
    /// Returns the prices of a request of this many tokens of input.
    pub fn at(&self, input: u64) -> &Price {
        let above = self.tiers.iter().filter(|(above, _)| input > *above);
        above.max_by_key(|(above, _)| *above).map_or(self, |(_, price)| price)
    }

    /// Reads a price; `None` where an amount is missing, negative or no number.
    pub fn read(value: &Value) -> Option<Price> {
        let amount = |name: &str| value.get(name)?.as_f64().filter(|a| a.is_finite() && *a >= 0.0);
        let tiers = value.get("tiers").and_then(Value::as_array).into_iter().flatten();
        Some(Price {
            input: amount("input")?,
            output: amount("output")?,
            cache_read: amount("cacheRead"),
            cache_write: amount("cacheWrite"),
            cache_write_1h: amount("cacheWrite1h"),
            tiers: tiers.filter_map(|tier| Some((tier.get("above")?.as_u64()?, Price::read(tier)?))).collect(),
        })
    }
}
