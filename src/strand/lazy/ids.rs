//! Maps and sets of identities.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::strand::id::OpId;

/// Hashes identities, which are well spread already.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

/// Builds [`IdHasher`]s.
pub type Ids = BuildHasherDefault<IdHasher>;

/// Values by identity.
pub type IdMap<V> = HashMap<OpId, V, Ids>;

/// Identities.
pub type IdSet = HashSet<OpId, Ids>;

impl Hasher for IdHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        // The length distinguishes texts that differ only in zeros at the end.
        let last = rest.iter().fold(bytes.len() as u64, |all, byte| all << 8 | u64::from(*byte));
        self.write_u64(last);
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    #[inline]
    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        let mixed = u128::from(self.0.rotate_left(23) ^ value ^ 0xA076_1D64_78BD_642F) * 0x9E37_79B9_7F4A_7C15_u128;
        self.0 = (mixed >> 64) as u64 ^ mixed as u64;
    }

    #[inline]
    fn write_u128(&mut self, value: u128) {
        self.write_u64((value >> 64) as u64 ^ (value as u64).rotate_left(25));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
