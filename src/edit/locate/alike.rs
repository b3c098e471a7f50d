//! The similarity of two lines.

/// Lines longer than this (in bytes) are compared by their ends alone.
const LONG: usize = 512;

/// A line prepared to be compared with many others: for each byte the positions where it occurs, as bits.
pub(in crate::edit) struct Pattern<'a> {
    line: &'a str,
    /// `blocks` words for each of the 256 bytes.
    bits: Vec<u64>,
    blocks: usize,
}

impl<'a> Pattern<'a> {
    pub fn new(line: &'a str) -> Self {
        let blocks = line.len().min(LONG).div_ceil(64).max(1);
        let mut bits = vec![0; 256 * blocks];
        for (i, b) in line.bytes().take(LONG).enumerate() {
            bits[b as usize * blocks + i / 64] |= 1 << (i % 64);
        }
        Pattern { line, bits, blocks }
    }

    /// Returns twice the longest common subsequence over both lengths, from 0 to 1; 0 without a closer look where it
    /// must be below `least`.
    pub fn ratio(&self, other: &str, least: f32) -> f32 {
        let (a, b) = (self.line.len(), other.len());
        if self.line == other {
            return 1.0;
        }
        let sum = (a + b) as f32;
        if (2 * a.min(b)) as f32 / sum < least {
            return 0.0;
        }
        let common = if a.max(b) > LONG { self.ends(other) } else { self.subsequence(other) };
        2.0 * common as f32 / sum
    }

    /// Returns the length of the longest common subsequence, all rows of 64 columns of the table at once.
    fn subsequence(&self, other: &str) -> usize {
        if self.blocks == 1 {
            let mut row = u64::MAX;
            for b in other.bytes() {
                let hits = row & self.bits[b as usize];
                row = row.wrapping_add(hits) | (row - hits);
            }
            let used = if self.line.len() == 64 { u64::MAX } else { (1 << self.line.len()) - 1 };
            return (!row & used).count_ones() as usize;
        }
        let mut rows = vec![u64::MAX; self.blocks];
        for b in other.bytes() {
            let masks = &self.bits[b as usize * self.blocks..][..self.blocks];
            let mut carry = false;
            for (row, mask) in rows.iter_mut().zip(masks) {
                let hits = *row & mask;
                let (sum, over) = row.overflowing_add(hits);
                let (sum, more) = sum.overflowing_add(u64::from(carry));
                carry = over || more;
                *row = sum | (*row - hits);
            }
        }
        let last = self.line.len() - 64 * (self.blocks - 1);
        let tail = if last == 64 { u64::MAX } else { (1 << last) - 1 };
        let whole: u32 = rows[..self.blocks - 1].iter().map(|r| r.count_zeros()).sum();
        (whole + (!rows[self.blocks - 1] & tail).count_ones()) as usize
    }

    fn ends(&self, other: &str) -> usize {
        let (a, b) = (self.line.as_bytes(), other.as_bytes());
        let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        let back = a[front..].iter().rev().zip(b[front..].iter().rev()).take_while(|(x, y)| x == y).count();
        front + back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(a: &[u8], b: &[u8]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (j, y) in b.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if x == y { corner + 1 } else { above.max(row[j]) };
                corner = above;
            }
        }
        row[b.len()]
    }

    proptest::proptest! {
        #[test]
        fn the_subsequence_is_the_longest(a in "[abc ]{0,200}", b in "[abc ]{0,200}") {
            proptest::prop_assert_eq!(Pattern::new(&a).subsequence(&b), slow(a.as_bytes(), b.as_bytes()));
        }
    }
}
