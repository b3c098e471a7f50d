//! A look for objects in the files of a repository, without git: it answers for none whose `HEAD` or refs are gone.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::disk::{self, Links};

/// The first bytes of a pack's index of version 2, as `gitformat-pack` describes it.
const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// The bytes before the names: those, and for each first byte the number of names up to it.
const HEAD: u64 = 8 + 256 * 4;
/// The stores of other repositories that are looked at, at most, and the most bytes of their list.
const MOST_STORES: usize = 16;
const MAX_BORROWED: u64 = 64 << 10;

/// Returns those of these objects, named by hexadecimal digits, that are not found in a folder `objects`, in its packs, or
/// in the stores that it borrows from. What cannot be read holds none.
pub(super) fn not_in(folder: &Path, objects: &[String]) -> Vec<String> {
    let mut missing: Vec<String> = objects.to_vec();
    let mut stores = vec![folder.to_path_buf()];
    let mut at = 0;
    while at < stores.len() && !missing.is_empty() {
        let store = stores[at].clone();
        at += 1;
        missing.retain(|object| !is_loose(&store, object));
        for index in indices(&store).iter().filter_map(|path| PackIndex::open(path).ok()) {
            missing.retain(|object| !index.names(object).unwrap_or_default());
        }
        let borrowed = disk::read_file(&store.join("info/alternates"), MAX_BORROWED, Links::Follow).unwrap_or_default();
        let borrowed = String::from_utf8_lossy(&borrowed).into_owned();
        let borrowed = borrowed.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        stores.extend(borrowed.map(|line| store.join(line)));
        stores.truncate(MOST_STORES);
    }
    missing
}

fn is_loose(store: &Path, object: &str) -> bool {
    object.split_at_checked(2).is_some_and(|(first, rest)| store.join(first).join(rest).is_file())
}

/// Returns the indices of the packs of a store.
fn indices(store: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(store.join("pack")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "idx")).collect()
}

/// The index of a pack.
struct PackIndex {
    file: File,
    head: [u8; HEAD as usize],
}

impl PackIndex {
    /// Opens the index of a pack, which lies beside it.
    fn open(path: &Path) -> io::Result<PackIndex> {
        let (file, mut head) = (disk::open_file(path, Links::Follow)?, [0; HEAD as usize]);
        file.read_exact_at(&mut head, 0)?;
        let is_known = head[..8] == MAGIC && path.with_extension("pack").is_file();
        if is_known { Ok(PackIndex { file, head }) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    /// Returns the number of names up to those that begin with this byte.
    fn up_to(&self, first: usize) -> u64 {
        let at = 8 + first * 4;
        u64::from(u32::from_be_bytes([self.head[at], self.head[at + 1], self.head[at + 2], self.head[at + 3]]))
    }

    /// Returns whether it names an object.
    fn names(&self, object: &str) -> io::Result<bool> {
        let Some(name) = bytes_of(object) else { return Ok(false) };
        let first = usize::from(name[0]);
        let (mut low, mut high) = (first.checked_sub(1).map_or(0, |before| self.up_to(before)), self.up_to(first));
        let mut other = vec![0; name.len()];
        while low < high {
            let middle = low.midpoint(high);
            self.file.read_exact_at(&mut other, HEAD + middle * name.len() as u64)?;
            match other.cmp(&name) {
                std::cmp::Ordering::Equal => return Ok(true),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(false)
    }
}

/// Returns the bytes that hexadecimal digits stand for; none: they stand for none.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok());
    pairs.collect::<Option<Vec<u8>>>().filter(|bytes| !bytes.is_empty())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn objects_are_found_loose_packed_and_borrowed_though_the_refs_are_gone() {
        let dir = tempfile::tempdir().expect("a folder");
        let git = |folder: &Path, words: &[&str]| {
            let mut command = Command::new("git");
            command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words).current_dir(folder);
            let done = command.env("HOME", dir.path()).output().expect("git runs");
            assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
            String::from_utf8_lossy(&done.stdout).trim().to_string()
        };
        let one = dir.path().join("one");
        fs::create_dir(&one).expect("made");
        git(&one, &["init", "-q"]);
        let commit = |text: &str| {
            fs::write(one.join("a"), text).expect("written");
            git(&one, &["add", "."]);
            git(&one, &["commit", "-qm", text]);
            git(&one, &["rev-parse", "HEAD"])
        };
        let packed: Vec<String> = (0..40).map(|n| commit(&n.to_string())).collect();
        git(&one, &["repack", "-adq"]);
        let all = [packed, vec![commit("loose")]].concat();
        git(dir.path(), &["clone", "-q", "--shared", "one", "two"]);
        fs::remove_dir_all(one.join(".git/refs")).expect("removed");
        let absent = ["00", "7f", "ff"].map(|first| first.to_string() + &"0".repeat(38));
        for repository in [&one, &dir.path().join("two")] {
            let objects = repository.join(".git/objects");
            assert_eq!(not_in(&objects, &all), Vec::<String>::new());
            assert_eq!(not_in(&objects, &[&all[..2], &absent[..]].concat()), absent);
        }
        // A pipe in a hostile repository is not waited for.
        let pack = one.join(".git/objects/pack/pack-0");
        for name in ["../info/alternates", "pack-0.idx"] {
            let made = Command::new("mkfifo").arg(one.join(".git/objects/pack").join(name)).status().expect("ran");
            assert!(made.success(), "{name}");
        }
        fs::write(pack.with_extension("pack"), "").expect("written");
        assert_eq!(not_in(&one.join(".git/objects"), &[&all[..2], &absent[..]].concat()), absent);
        for odd in ["", "zz", "a", "日本"] {
            assert_eq!(not_in(&one.join(".git/objects"), &[odd.to_string()]), [odd]);
        }
    }
}
