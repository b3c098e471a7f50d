//! The parts of the last request and its answer, as memory stores them beside the answer.

use serde::{Deserialize, Serialize};

use super::{read_json, to_json};

/// Tokens by part.
#[derive(Default, Serialize, Deserialize)]
struct PartsRecord {
    #[serde(default)]
    parts: Vec<u64>,
}

/// Returns the tokens of a request by part as memory stores them.
pub fn write_parts(parts: Vec<u64>) -> String {
    to_json(&PartsRecord { parts })
}

/// Reads back what [`write_parts`] wrote; `None`: nothing was kept.
pub fn read_parts(extra: Option<&str>) -> Option<Vec<u64>> {
    Some(read_json::<PartsRecord>(extra)?.parts).filter(|parts| !parts.is_empty())
}
