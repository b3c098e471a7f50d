//! Links to files that usually hold keys, whatever their own names say.

use std::fs::{self, DirEntry, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::super::disk::pattern::expand;
use super::super::{Around, Assessment, Class, ClassifiedCommand, Reason, TouchedPath, tables};
use crate::workspace::holds_secrets;

/// The most bytes of a word that may be a path.
const LONGEST: usize = 4_096;
/// Programs that print no byte of the files that they are given.
const NAME_READERS: &str =
    "[ basename cd dirname echo ln ls mv popd printf pushd readlink realpath rm stat test unlink";

/// Notes the parts of a text that name such a link, as if they named the file: a word, the value in one, or what is opened.
pub fn look_named(found: &mut Assessment, around: &Around, until: Instant) {
    found.secrets |= found.opened.iter().flatten().any(|path| leads_to_keys(Path::new(path)));
    for part in &mut found.parts {
        let folder = part.folder.clone().unwrap_or_else(|| around.folder.clone());
        let is_named = |word: &String| places(word).any(|place| leads_to_keys(&folder.join(place)));
        let name = part.words.first().and_then(Option::as_deref).map(tables::base).unwrap_or_default();
        if name.is_empty() || tables::named(NAME_READERS, name) {
            continue;
        }
        if part.words.iter().skip(1).flatten().take_while(|_| Instant::now() < until).any(is_named) {
            found.secrets = true;
            part.reason = if part.class == Class::Read { Reason::Secrets } else { part.reason };
        }
    }
}

/// Returns the first such link among the files that the patterns of a part stand for.
pub fn first_of_patterns(part: &ClassifiedCommand, folder: &Path, until: Instant) -> Option<PathBuf> {
    let paths = part.patterns.iter().skip(1).flatten().flat_map(|pattern| {
        let touched = TouchedPath { folder: folder.to_path_buf(), pattern: pattern.clone(), with_content: false };
        expand(&touched, until).collect::<Vec<_>>()
    });
    let mut links = paths.filter(|path| path.is_symlink());
    links.find(|path| leads_to_keys(path))
}

/// Returns the paths that a word may give: itself, and what stands behind the sign of a value.
fn places(word: &str) -> impl Iterator<Item = &str> {
    let value = word.split_once('=').map(|(_, value)| value);
    std::iter::once(word).chain(value).filter(|place| (1..LONGEST).contains(&place.len()))
}

/// Returns whether a path that is named otherwise leads to such a file.
fn leads_to_keys(path: &Path) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    let Some(meta) = fs::metadata(&real).ok().filter(Metadata::is_file) else { return false };
    let is_named = real.file_name() != path.file_name() && holds_secrets(&real.to_string_lossy());
    is_named || meta.nlink() > 1 && is_beside_keys(&real, &meta)
}

/// Returns whether a file has the name of such a file, too, in its own folder or in one above it.
fn is_beside_keys(real: &Path, meta: &Metadata) -> bool {
    let is_it = |entry: &DirEntry| {
        let same = |other: Metadata| (other.dev(), other.ino()) == (meta.dev(), meta.ino());
        holds_secrets(&entry.file_name().to_string_lossy()) && entry.metadata().is_ok_and(same)
    };
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| is_it(&entry));
    real.ancestors().skip(1).any(entries)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::super::super::{SearchedKeys, assess, disk};
    use super::*;

    #[test]
    fn a_link_to_a_file_of_keys_is_one_by_whatever_name() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path();
        fs::create_dir(root.join("src")).expect("a folder");
        fs::write(root.join(".env"), "KEY=1\n").expect("written");
        fs::write(root.join("a.py"), "a\n").expect("written");
        symlink(".env", root.join("envlink")).expect("linked");
        symlink("../envlink", root.join("src/dotenv")).expect("linked");
        symlink("a.py", root.join("b.py")).expect("linked");
        fs::hard_link(root.join(".env"), root.join("src/hard")).expect("linked");
        fs::hard_link(root.join("a.py"), root.join("src/c.py")).expect("linked");
        let of = |text: &str| {
            let around = Around { root: root.into(), folder: root.into(), ..Around::default() };
            let mut found = assess(text, &around, false);
            disk::look(&mut found, &around, "/usr/bin");
            found
        };
        for text in [
            "cat envlink",
            "head -1 src/dotenv",
            "cd src && cat dotenv",
            "grep KEY envlink",
            "cat src/hard",
            "ls; tr a b < envlink",
            "cd src; sort < dotenv",
            "awk -f envlink",
            "grep --file=envlink a.py",
            "cp envlink a",
            "python3 tool.py envlink",
        ] {
            assert!(of(text).secrets, "{text}");
        }
        for text in ["cat *", "grep KEY *", "head -1 src/*", "cat e*k", "cat {envlink,a.py}"] {
            let found = of(text);
            assert!(matches!(found.searched, Some(SearchedKeys::Found(_))) && !found.secrets, "{text}: {found:?}");
        }
        for text in [
            "cat a.py b.py",
            "ls -l envlink",
            "rm envlink",
            "cat *.py src/c.py",
            "ls *",
            "readlink envlink",
            "cat none",
        ] {
            let found = of(text);
            assert_eq!((found.searched, found.secrets), (None, false), "{text}");
        }
    }
}
