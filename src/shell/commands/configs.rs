//! The configurations of repositories that a text names, and that the guard judges by what is written into them.

use std::path::Path;

use crate::shell::class::Assessment;
use crate::shell::message::MadeConfig;

/// The path of a configuration from the folder of its repository.
const CONFIG: &str = ".git/config";

/// Leaves those to the guard that are not there yet, or that commands of the session made: nobody is asked about them before
/// the start. It holds each write that makes something run.
pub(super) fn leave_to_guard(found: &mut Assessment, made: impl FnOnce() -> Vec<MadeConfig>, root: &Path) {
    let folder_of = |path: &str| {
        let folder = path.strip_suffix(CONFIG).filter(|folder| folder.is_empty() || folder.ends_with('/'));
        // The place of one that is named so is not known.
        folder.filter(|folder| !folder.starts_with('…')).map(|folder| root.join(folder))
    };
    if !found.acts_later.iter().any(|path| folder_of(path).is_some()) {
        return;
    }
    let made = made();
    let is_left = |folder: &Path| {
        let above = folder.ancestors().take_while(|above| above.starts_with(root));
        let repository = above.filter(|_| folder.is_dir()).find(|above| above.join(".git").symlink_metadata().is_ok());
        repository.is_none_or(|repository| made.iter().any(|made| made.path == repository.join(CONFIG)))
    };
    found.acts_later.retain(|path| !folder_of(path).is_some_and(|folder| is_left(&folder)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_the_person_has_is_asked_about() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path();
        for folder in [".git", "sub", "own/.git", "own/deep"] {
            std::fs::create_dir_all(root.join(folder)).expect("made");
        }
        let left = |path: &str, root: &Path| {
            let mut found = Assessment { acts_later: vec![path.into(), "AGENTS.md".into()], ..Assessment::default() };
            let made = MadeConfig { path: root.join("own/.git/config"), text: String::new() };
            leave_to_guard(&mut found, || vec![made], root);
            assert_eq!(found.acts_later.last().map(String::as_str), Some("AGENTS.md"));
            found.acts_later.len() == 1
        };
        for path in [".git/config", "sub/.git/config", "…/.git/config", "x.git/config", ".git/hooks/pre-commit"] {
            assert!(!left(path, root), "{path}");
        }
        for path in ["own/.git/config", "own/deep/.git/config", "new/.git/config"] {
            assert!(left(path, root), "{path}");
        }
        assert!(left(".git/config", &root.join("own/deep")), "no repository is there");
    }
}
