//! Positions in the log, and the chained sums before them.

use super::checkpoint::sum;

/// The place of an op in the log, in bytes, without its newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// The offset of its line.
    pub offset: u64,
    /// Its length.
    pub length: u32,
    /// The sum of its bytes.
    pub sum: i64,
}

impl LogPosition {
    /// Returns where a line stands that begins at an offset.
    pub fn of(offset: u64, line: &[u8]) -> LogPosition {
        LogPosition { offset, length: line.len() as u32, sum: sum::of_bytes(line) }
    }
}

/// The chained sums of the commit lines of a log.
pub type Chain = [u8; 32];

/// Takes the next commit line into a chain.
pub fn fold_chain(chain: &mut Chain, sum: &str) {
    *chain = *blake3::Hasher::new().update(chain).update(sum.as_bytes()).finalize().as_bytes();
}
