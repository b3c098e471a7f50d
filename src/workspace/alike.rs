//! Finds the files that a wrong path may mean: models leave folders out, or add some in front, and compose characters that
//! a name has decomposed.

use std::fs;
use std::path::{Path, PathBuf};

use icu_normalizer::DecomposingNormalizerBorrowed;

use super::{Workspace, lexical};

/// The number of entries above which no file is looked for in a workspace.
const MOST: usize = 20_000;

impl Workspace {
    /// Returns the files that a normalised path where nothing is may mean: all that end with it, or that it ends with.
    /// None in a workspace too large to look at.
    pub fn meant_by(&self, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (count, entry) in self.walk("").build().flatten().enumerate() {
            if count == MOST {
                return Vec::new();
            }
            let file = entry.path().strip_prefix(&self.root).ok().and_then(|p| p.to_str());
            let is_file = entry.file_type().is_some_and(|t| t.is_file());
            found.extend(file.filter(|file| is_file && may_mean(path, file)).map(str::to_string));
        }
        found.sort();
        found
    }

    /// Returns the path of what is there in another spelling of a path where nothing is, as far as there is something: each
    /// name with its characters composed or decomposed, and all without the name of the root folder in front.
    pub(super) fn spelled_otherwise(&self, path: &str) -> Option<String> {
        let own = self.root.file_name();
        // Most paths can have no other spelling: nothing is looked at.
        if path.is_ascii() && !own.and_then(|own| own.to_str()).is_some_and(|own| path.contains(own)) {
            return None;
        }
        let absolute = lexical(&self.root, Path::new(path));
        let inside = absolute.strip_prefix(&self.root).ok().filter(|_| absolute.symlink_metadata().is_err())?;
        let spelled = self.as_on_disk(inside);
        let is_there = |path: &Path| self.root.join(path).symlink_metadata().is_ok();
        let found = match own.and_then(|own| spelled.strip_prefix(own).ok()) {
            Some(rest) if !is_there(&spelled) && !is_there(Path::new(own?)) && !rest.as_os_str().is_empty() => {
                Some(self.as_on_disk(rest)).filter(|rest| is_there(rest))
            }
            _ => None,
        };
        let found = found.or_else(|| (spelled != inside).then_some(spelled))?;
        found.into_os_string().into_string().ok()
    }

    /// Returns a path below the root with each name where nothing is in the spelling of the only one there that differs in the
    /// composition of its characters alone.
    fn as_on_disk(&self, inside: &Path) -> PathBuf {
        let mut spelled = PathBuf::new();
        for name in inside {
            let folder = self.root.join(&spelled);
            let other = name.to_str().filter(|name| !name.is_ascii() && folder.join(name).symlink_metadata().is_err());
            match other.and_then(|name| namesake(&folder, name)) {
                Some(other) => spelled.push(other),
                None => spelled.push(name),
            }
        }
        spelled
    }
}

/// Returns the only name in a folder that is another one but for the composition of its characters.
fn namesake(folder: &Path, name: &str) -> Option<String> {
    const PARTS: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizerBorrowed::new_nfd();
    let wanted = PARTS.normalize(name);
    let names = fs::read_dir(folder).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut alike = names.filter(|other| !other.is_ascii() && PARTS.normalize(other) == wanted);
    alike.next().filter(|_| alike.next().is_none())
}

/// Returns whether a path is that of the file but for folders in front of one of them.
pub fn may_mean(path: &str, file: &str) -> bool {
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|front| front.ends_with('/'));
    ends(file, path) || ends(path, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Access;

    #[test]
    fn a_path_means_what_is_there_in_another_spelling() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("shop");
        let decomposed = ["de\u{301}.py", "か\u{3099}/か\u{3099}.py"];
        for file in decomposed.into_iter().chain(["né.py", "src/a.py", "both\u{e9}", "bothe\u{301}"]) {
            fs::create_dir_all(root.join(file).parent().expect("a parent")).expect("made");
            fs::write(root.join(file), "x").expect("written");
        }
        let workspace = Workspace::open(&root).expect("a workspace");
        let meant = |path: &str| workspace.resolve(path, Access::File).expect("a path");
        for (path, file) in [
            ("dé.py", decomposed[0]),
            ("./dé.py", decomposed[0]),
            ("が/が.py", decomposed[1]),
            ("が/new.py", "か\u{3099}/new.py"),
            ("ne\u{301}.py", "né.py"),
            ("shop/src/a.py", "src/a.py"),
            ("shop/dé.py", decomposed[0]),
            ("shop/new.py", "shop/new.py"),
            ("bothé", "bothé"),
            ("né.py", "né.py"),
            ("new.py", "new.py"),
            ("né/new.py", "né/new.py"),
        ] {
            assert_eq!(meant(path), file, "{path}");
        }
        assert_eq!(meant(&root.join("dé.py").to_string_lossy()), decomposed[0]);
        assert_eq!(workspace.resolve("が", Access::Folder).expect("a folder"), "か\u{3099}");
        assert_eq!(workspace.resolve("dé.py", Access::Entry).expect("a name"), decomposed[0]);
        // A folder of that name is what is meant where there is one.
        fs::create_dir(root.join("shop")).expect("made");
        assert_eq!(meant("shop/src/a.py"), "shop/src/a.py");
    }

    #[test]
    fn folders_in_front_may_be_missing_or_too_many() {
        let folder = tempfile::tempdir().expect("a folder");
        for file in ["src/a.rs", "src/b/a.rs", "src/ba.rs"] {
            std::fs::create_dir_all(folder.path().join(file).parent().expect("a parent")).expect("made");
            std::fs::write(folder.path().join(file), "x").expect("written");
        }
        let workspace = Workspace::open(folder.path()).expect("a workspace");
        assert_eq!(workspace.meant_by("b/a.rs"), ["src/b/a.rs"]);
        assert_eq!(workspace.meant_by("a.rs"), ["src/a.rs", "src/b/a.rs"]);
        assert_eq!(workspace.meant_by("shop/src/ba.rs"), ["src/ba.rs"]);
        assert!(workspace.meant_by("c.rs").is_empty());
    }
}
