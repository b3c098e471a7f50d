//! Finds the files that a wrong path may mean: models leave folders out, or add some in front.

use super::Workspace;

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
}

/// Returns whether a path is that of the file but for folders in front of one of them.
pub fn may_mean(path: &str, file: &str) -> bool {
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|front| front.ends_with('/'));
    ends(file, path) || ends(path, file)
}

#[cfg(test)]
mod tests {
    use super::*;

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
