//! Knowledge of which words files may hold, kept while their stamps stay: a file that was read and cannot hold a word is
//! not read again for it. A word that a file holds is never denied.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::stamp::Stamp;

/// Bytes of a word that are looked at together; of a shorter word nothing is known.
const RUN: usize = 3;
/// The bits that note the runs of a file, before they are folded.
const BITS: usize = 1 << 16;
/// The least bits that are left of them.
const LEAST_BITS: usize = 512;
/// The bytes that a generation of files takes at most: the larger a file, the fewer fit.
const KEPT: usize = 24 << 20;
/// The bytes that a file takes beside its bits and its path.
const OVERHEAD: usize = 128;

/// The words that files may hold, by path and stamp. What was not asked for since as much was added is forgotten.
#[derive(Debug, Default)]
pub struct WordIndex {
    kept: Mutex<Generations>,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<String, FileWords>,
    /// The bytes that the young ones take.
    bytes: usize,
    old: HashMap<String, FileWords>,
}

/// The runs of bytes that a file holds, and perhaps a few more.
#[derive(Debug)]
struct FileWords {
    stamp: Stamp,
    bits: Box<[u64]>,
}

impl WordIndex {
    /// Returns whether nothing is known yet.
    pub fn is_empty(&self) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.young.is_empty() && kept.old.is_empty()
    }

    /// Returns whether a file that has this stamp may hold one of some words: it may if nothing is known of it.
    pub fn may_hold(&self, path: &str, stamp: &Stamp, words: &[&str]) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.get(path).filter(|file| file.stamp == *stamp);
        known.is_none_or(|file| words.iter().any(|word| file.may_hold(word)))
    }

    /// Notes the bytes that a file had at a stamp, unless it was changed so lately that another change could leave it the
    /// same stamp. `begun`: when the read of them began.
    pub fn keep(&self, path: &str, stamp: Stamp, bytes: &[u8], begun: i64) {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !stamp.is_settled(begun) || kept().get(path).is_some_and(|known| known.stamp == stamp) {
            return;
        }
        let file = FileWords::of(stamp, bytes);
        kept().put(path.to_owned(), file);
    }
}

impl Generations {
    fn get(&mut self, path: &str) -> Option<&FileWords> {
        if let Some((path, file)) = self.old.remove_entry(path) {
            self.put(path, file);
        }
        self.young.get(path)
    }

    fn put(&mut self, path: String, file: FileWords) {
        let size = |file: &FileWords| size_of_val(&*file.bits) + path.len() + OVERHEAD;
        let new = size(&file);
        let known = self.young.get(&path).map_or(0, size);
        if self.bytes - known + new > KEPT {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        self.old.remove(&path);
        self.bytes = self.bytes - self.young.get(&path).map_or(0, size) + new;
        self.young.insert(path, file);
    }
}

impl FileWords {
    fn of(stamp: Stamp, bytes: &[u8]) -> FileWords {
        let mut bits = vec![0_u64; BITS / 64];
        for place in places(bytes) {
            bits[place / 64] |= 1 << (place % 64);
        }
        // Half as many bits do while few of them are set.
        let set = |bits: &[u64]| bits.iter().map(|part| part.count_ones() as usize).sum::<usize>();
        while bits.len() * 64 > LEAST_BITS && set(&bits) * 8 <= bits.len() * 64 {
            let upper = bits.split_off(bits.len() / 2);
            bits.iter_mut().zip(upper).for_each(|(bit, other)| *bit |= other);
        }
        FileWords { stamp, bits: bits.into() }
    }

    fn may_hold(&self, word: &str) -> bool {
        let of_file = self.bits.len() * 64 - 1;
        places(word.as_bytes()).map(|place| place & of_file).all(|place| self.bits[place / 64] >> (place % 64) & 1 == 1)
    }
}

/// Returns the places that stand for the runs of some bytes.
fn places(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.windows(RUN).map(|run| {
        let run = run.iter().fold(0, |run, byte| run << 8 | u64::from(*byte));
        usize::try_from(run.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40).unwrap_or(0) & (BITS - 1)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::text::time::now;
    use crate::workspace::Workspace;

    fn later() -> i64 {
        now() + 60_000
    }

    /// The stamps of a file before and after it grew.
    fn two_stamps() -> [Stamp; 2] {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        ["a", "aa"].map(|text| {
            fs::write(dir.path().join("f"), text).expect("written");
            workspace.stamp("f").expect("a stamp")
        })
    }

    #[test]
    fn a_word_that_a_file_holds_is_never_denied_and_most_others_are() {
        let (index, [stamp, _]) = (WordIndex::default(), two_stamps());
        for count in [1, 40, 4_000] {
            let words: Vec<String> = (0..count).map(|n| format!("name_{:x}", n * 7_919)).collect();
            let path = count.to_string();
            index.keep(&path, stamp, words.join(" = ").as_bytes(), later());
            assert!(words.iter().all(|word| index.may_hold(&path, &stamp, &[word])), "{count}");
            let denied = (0..100).filter(|n| !index.may_hold(&path, &stamp, &[&format!("otherWord{n}")])).count();
            assert_eq!(denied, 100, "{count}");
            assert!(index.may_hold(&path, &stamp, &["otherWord", &words[0]]));
            assert!(index.may_hold(&path, &stamp, &["zz"]), "too short to tell");
        }
    }

    #[test]
    fn nothing_is_known_of_a_file_that_changed_since_or_only_just() {
        let (index, [stamp, other]) = (WordIndex::default(), two_stamps());
        index.keep("f", stamp, b"fn a() {}", now());
        assert!(index.is_empty() && index.may_hold("f", &stamp, &["total"]));
        index.keep("f", stamp, b"fn a() {}", later());
        assert!(!index.may_hold("f", &stamp, &["total"]));
        assert!(index.may_hold("f", &other, &["total"]) && index.may_hold("g", &stamp, &["total"]));
        // What is known at a stamp is not taken from the bytes again.
        index.keep("f", stamp, b"fn total() {}", later());
        assert!(!index.may_hold("f", &stamp, &["total"]));
        index.keep("f", other, b"fn total() {}", later());
        assert!(index.may_hold("f", &other, &["total"]) && !index.may_hold("f", &other, &["nowhere"]));
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_is_asked_for_stays() {
        let (mut kept, [stamp, _]) = (Generations::default(), two_stamps());
        let each = BITS / 8 + OVERHEAD + 8;
        for n in 0..3 * KEPT / each {
            kept.put(format!("{n:08}"), FileWords { stamp, bits: vec![0; BITS / 64].into() });
            assert!(kept.get("00000000").is_some(), "{n}");
            assert!(kept.bytes <= KEPT && kept.bytes == kept.young.len() * each);
        }
        assert!(kept.young.len() + kept.old.len() <= 2 * KEPT / each);
        assert!(kept.get("00000001").is_none());
    }
}
