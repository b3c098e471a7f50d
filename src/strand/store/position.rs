//! Places in the log, and what everything before one comes to.

use super::checkpoint::sum;

/// Where an op stands in the log, in bytes, without its newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// Where its line begins.
    pub offset: u64,
    /// How long it is.
    pub length: u32,
    /// What its bytes come to.
    pub sum: i64,
}

impl LogPosition {
    /// Returns where a line stands that begins at an offset.
    pub fn of(offset: u64, line: &[u8]) -> LogPosition {
        LogPosition { offset, length: line.len() as u32, sum: sum::of_bytes(line) }
    }
}

/// What the sums of the commit lines of a log come to, one after the other.
pub type Chain = [u8; 32];

/// Takes the next commit line into a chain.
pub fn fold_chain(chain: &mut Chain, sum: &str) {
    *chain = *blake3::Hasher::new().update(chain).update(sum.as_bytes()).finalize().as_bytes();
}
