//! The entries of git's index, without the times and sizes of files that `git status` refreshes in it.
//!
//! The format is that of `gitformat-index`, versions 2 to 4, with objects of 20 bytes.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// The bytes that an index begins with.
const SIGNATURE: &[u8] = b"DIRC";
/// The bytes before the first entry: signature, version, number of entries.
const HEAD: usize = 12;
/// The bytes of an entry before its object: times, numbers and size of the file.
const STAT: usize = 40;
/// The places of the time of the last change, in seconds and the rest of it, of the mode and of the size among them.
const SECONDS: usize = 8;
const NANOSECONDS: usize = 12;
const SIZE: usize = 36;
const MODE: std::ops::Range<usize> = 24..28;
const OBJECT: usize = 20;
/// A second pair of bytes of flags follows.
const EXTENDED: u16 = 0x4000;
/// The length of the name, which is in the name as well.
const LENGTH: u16 = 0x0fff;

/// The bytes of the checksum at the end.
const CHECKSUM: usize = 20;
/// The longest name in bytes: git can check out none that is longer.
const LONGEST: usize = 4_096;
/// The most bytes of all names together: in version 4 each may repeat the one before.
const MOST: usize = 64 << 20;

/// A file as it was put there.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'i> {
    name: Vec<u8>,
    mode: &'i [u8],
    object: &'i [u8],
    flags: (u16, u16),
}

/// Returns whether these bytes begin as those of an index.
pub fn is_index(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// Returns whether two indexes hold the same files, each with the same mode, object, stage and flags.
pub fn same_entries(one: &[u8], other: &[u8]) -> bool {
    entries(one).zip(entries(other)).is_some_and(|(one, other)| one == other)
}

/// A file as git last saw it on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedFile {
    /// Its path in the repository.
    pub path: String,
    seconds: u32,
    nanoseconds: u32,
    size: u32,
}

impl TrackedFile {
    /// Returns whether the file there may be another than git saw.
    pub fn may_differ(&self, about: &Metadata) -> bool {
        let seconds = about.mtime() as u32 != self.seconds;
        // Where git keeps no more than seconds, the rest is 0.
        let rest = self.nanoseconds != 0 && about.mtime_nsec() as u32 != self.nanoseconds;
        seconds || rest || about.len() as u32 != self.size
    }
}

/// Returns the files of an index; `None`: it is no index, or one of another kind.
pub fn files(index: &[u8]) -> Option<Vec<TrackedFile>> {
    let file = |(stat, entry): (&[u8], Entry<'_>)| {
        let number = |at: usize| Some(u32::from_be_bytes(stat.get(at..at + 4)?.try_into().ok()?));
        let path = String::from_utf8_lossy(&entry.name).into_owned();
        Some(TrackedFile { path, seconds: number(SECONDS)?, nanoseconds: number(NANOSECONDS)?, size: number(SIZE)? })
    };
    entries_with_stat(index)?.into_iter().map(file).collect()
}

/// Reads the entries; `None`: it is no index, or one of another kind.
fn entries(index: &[u8]) -> Option<Vec<Entry<'_>>> {
    Some(entries_with_stat(index)?.into_iter().map(|(_, entry)| entry).collect())
}

/// Reads the entries, each with the bytes before its object.
fn entries_with_stat(index: &[u8]) -> Option<Vec<(&[u8], Entry<'_>)>> {
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let short = |at: usize| Some(u16::from_be_bytes(index.get(at..at + 2)?.try_into().ok()?));
    let version = number(4).filter(|version| is_index(index) && (2..=4).contains(version))?;
    let mut found: Vec<(&[u8], Entry<'_>)> = Vec::new();
    let (mut at, mut named) = (HEAD, 0);
    for _ in 0..number(8)? {
        let begin = at;
        let (stat, object) = (index.get(at..at + STAT)?, index.get(at + STAT..at + STAT + OBJECT)?);
        at += STAT + OBJECT;
        let flags = short(at)?;
        at += 2;
        let more = if flags & EXTENDED == 0 { 0 } else { short(at)? };
        at += if flags & EXTENDED == 0 { 0 } else { 2 };
        let mut name = Vec::new();
        if version == 4 {
            let (dropped, bytes) = offset(index.get(at..)?)?;
            at += bytes;
            let before = found.last().map_or(&[][..], |(_, entry)| &entry.name);
            name.extend_from_slice(before.get(..before.len().checked_sub(dropped)?)?);
        }
        let rest = index.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&rest[..end]);
        at += end + 1;
        named += name.len();
        if name.len() > LONGEST || named > MOST {
            return None;
        }
        if version < 4 {
            // At least one NUL, up to a multiple of eight.
            at = begin + (at - begin).next_multiple_of(8);
        }
        found.push((stat, Entry { name, mode: &stat[MODE], object, flags: (flags & !LENGTH, more) }));
    }
    // What git must understand begins with a small letter, such as `link` to an index that holds the other entries.
    while at + CHECKSUM < index.len() {
        let is_optional = index.get(at)?.is_ascii_uppercase();
        at = at.checked_add(8)?.checked_add(usize::try_from(number(at + 4)?).ok()?)?;
        if !is_optional {
            return None;
        }
    }
    (at + CHECKSUM == index.len()).then_some(found)
}

/// Reads a number as packs write offsets: seven bits a byte, each further byte counting from one. Returns it and its
/// length in bytes.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        value |= usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value = (value + 1) << 7;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    fn git(folder: &Path, words: &[&str]) -> Vec<u8> {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words).current_dir(folder);
        let done = command.env("HOME", folder).output().expect("git runs");
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        fs::read(folder.join(".git/index")).unwrap_or_default()
    }

    #[test]
    fn what_git_notes_of_files_is_no_difference_and_each_entry_is() {
        for version in ["2", "3", "4"] {
            let folder = tempfile::tempdir().expect("a folder");
            let here = folder.path();
            git(here, &["init", "-q"]);
            fs::create_dir(here.join("src")).expect("made");
            for (name, text) in [("a.txt", "a"), ("a.rs", "b"), ("src/long-name.txt", "c"), ("src/long-names.txt", "d")]
            {
                fs::write(here.join(name), text).expect("written");
            }
            git(here, &["add", "."]);
            git(here, &["commit", "-qm", "first"]);
            let first = git(here, &["update-index", "--index-version", version]);
            assert_eq!(entries(&first).expect("read").len(), 4, "version {version}");
            let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
            fs::File::options().write(true).open(here.join("a.txt")).and_then(|f| f.set_modified(later)).expect("set");
            let looked = git(here, &["status"]);
            assert_ne!(first, looked);
            assert!(same_entries(&first, &looked), "version {version}");
            let about = fs::metadata(here.join("a.txt")).expect("there");
            let of = |index: &[u8]| files(index).expect("read").into_iter().find(|file| file.path == "a.txt");
            assert!(of(&first).is_some_and(|file| file.may_differ(&about)), "version {version}");
            assert!(of(&looked).is_some_and(|file| !file.may_differ(&about)), "version {version}");
            fs::write(here.join("src/long-names.txt"), "other").expect("written");
            assert!(!same_entries(&first, &git(here, &["add", "."])));
            git(here, &["checkout", "-q", "HEAD", "."]);
            assert!(!same_entries(&first, &git(here, &["update-index", "--chmod=+x", "a.rs"])));
            assert!(!same_entries(&first, &git(here, &["rm", "-q", "--cached", "-f", "a.rs"])));
        }
    }

    #[test]
    fn what_is_no_index_equals_nothing() {
        for bytes in [&b""[..], b"DIRC", b"DIRC\0\0\0\x02\0\0\0\x01", b"DIRC\0\0\0\x09\0\0\0\0", b"text"] {
            assert!(!same_entries(bytes, bytes), "{bytes:?}");
        }
        let with = |more: &[u8]| [b"DIRC\0\0\0\x02\0\0\0\0", more, &[0; 20]].concat();
        assert!(same_entries(&with(b""), &with(b"TREE\0\0\0\x02ab")));
        // Entries of another file, and an extension that ends behind the file.
        for bytes in [with(b"link\0\0\0\x02ab"), with(b"TREE\0\0\0\xffab"), with(b"TREE\xff\xff\xff\xff")] {
            assert!(!same_entries(&bytes, &bytes), "{bytes:?}");
        }
        // Of version 4 each name may repeat the one before it.
        let mut many = b"DIRC\0\0\0\x04\0\x10\0\0".to_vec();
        let entry = |name: &[u8]| [&[0; 62][..], &[0], name, &[0]].concat();
        many.extend(entry(&[b'a'; 4_000]));
        (0..(1 << 20)).for_each(|_| many.extend(entry(b"")));
        assert!(entries(&many).is_none());
    }
}
