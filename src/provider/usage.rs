//! The tokens of a request, read leniently: no number a server reports ever breaks an answer off.

use serde_json::Value;

/// Tokens of one request; 0 where a server does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Read by the model: the whole prompt.
    pub input: u64,
    /// Tokens of the input that were read from the provider's cache.
    pub cache_read: u64,
    /// Tokens of the input that were written to the provider's cache.
    pub cache_write: u64,
    /// Tokens of those written to the cache that are kept for an hour.
    pub cache_write_1h: u64,
    /// Written by the model.
    pub output: u64,
    /// Tokens of the output that were thinking.
    pub thinking: u64,
    /// Some of these were counted here, since the server did not report them.
    pub counted: bool,
}

impl Usage {
    /// Tokens of a request of which nothing more is known.
    pub fn new(input: u64, output: u64) -> Self {
        Usage { input, output, ..Usage::default() }
    }

    /// Returns what the server `reported` of a request of about `sent` tokens and an answer of about `written`, and these
    /// where it reported none.
    pub fn or_counted(reported: Option<Usage>, sent: u64, written: u64) -> Self {
        let mut usage = reported.unwrap_or_default();
        for (tokens, counted) in [(&mut usage.input, sent), (&mut usage.output, written)] {
            if *tokens == 0 && counted > 0 {
                (*tokens, usage.counted) = (counted, true);
            }
        }
        usage
    }

    /// Returns the same counts, with no part larger than the whole.
    pub(super) fn consistent(self) -> Self {
        let cache_read = self.cache_read.min(self.input);
        let cache_write = self.cache_write.min(self.input - cache_read);
        Usage {
            cache_read,
            cache_write,
            cache_write_1h: self.cache_write_1h.min(cache_write),
            thinking: self.thinking.min(self.output),
            ..self
        }
    }
}

/// The largest count that is believed: a larger one would spoil every sum it is in.
const MOST: u64 = 1_000_000_000;

/// Returns a count of tokens, however it is written: as a number, a float or a string. `None` for what is no count:
/// missing, null, negative, not a number, or larger than any request.
pub(super) fn count(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.as_u64().map_or_else(|| number.as_f64(), |n| Some(n as f64)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    // No count that is believed loses a digit as a float.
    number.filter(|n: &f64| (0.0..=MOST as f64).contains(n)).map(|n| n.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_however_they_are_written() {
        for (value, wanted) in [
            (json!(12), Some(12)),
            (json!(12.0), Some(12)),
            (json!(11.6), Some(12)),
            (json!("12"), Some(12)),
            (json!(" 12.0 "), Some(12)),
            (json!(u64::MAX), None),
            (json!(1e300), None),
            (json!("1e400"), None),
            (json!(-1), None),
            (json!(-0.5), None),
            (json!("many"), None),
            (json!(null), None),
            (json!([3]), None),
            (json!({"n": 3}), None),
            (json!(true), None),
        ] {
            assert_eq!(count(&value), wanted, "{value}");
        }
    }

    #[test]
    fn no_part_is_larger_than_the_whole() {
        let parts = Usage { cache_read: 8, cache_write: 8, cache_write_1h: 8, thinking: 9, ..Usage::new(10, 3) };
        assert_eq!(
            parts.consistent(),
            Usage { cache_read: 8, cache_write: 2, cache_write_1h: 2, thinking: 3, ..Usage::new(10, 3) }
        );
    }

    #[test]
    fn what_a_server_does_not_report_is_counted() {
        let counted = |input, output| Usage { counted: true, ..Usage::new(input, output) };
        assert_eq!(Usage::or_counted(None, 900, 40), counted(900, 40));
        assert_eq!(Usage::or_counted(Some(Usage::new(0, 7)), 900, 40), counted(900, 7));
        assert_eq!(Usage::or_counted(Some(Usage::new(500, 0)), 900, 40), counted(500, 40));
        assert_eq!(Usage::or_counted(Some(Usage::new(500, 0)), 900, 0), Usage::new(500, 0), "nothing was written");
        assert_eq!(Usage::or_counted(Some(Usage::new(500, 7)), 900, 40), Usage::new(500, 7));
    }
}
