//! The repository's own folder, where `.git` is a file that names it. Such a file is material: any program may write one.

use std::path::{Path, PathBuf};

use crate::disk::{self, Links};

/// The largest file that names a folder.
const LARGEST: u64 = 4_096;

/// Returns the repository's own folder, to read in: `.git` itself, or the one that it names in a linked worktree.
pub fn git_folder(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_path_buf());
    }
    named(dot_git, Links::Follow)
}

/// Returns the folders of a linked worktree's repository that git writes when it works at `root`: its own, which names
/// this root in turn, and the one that all worktrees share. None where either side does not name the other.
pub fn worktree_folders(root: &Path) -> Vec<PathBuf> {
    let dot_git = root.join(".git");
    let own = named(&dot_git, Links::Refuse).and_then(|own| own.canonicalize().ok());
    let Some(own) = own.filter(|own| names_back(own, root)) else { return Vec::new() };
    let shared =
        own.parent().filter(|above| above.ends_with("worktrees")).and_then(Path::parent).map(Path::to_path_buf);
    shared.map_or_else(Vec::new, |shared| vec![own, shared])
}

/// Returns whether a worktree's own folder says that it is this root's.
fn names_back(own: &Path, root: &Path) -> bool {
    let text = disk::read_text(&own.join("gitdir"), LARGEST, Links::Refuse).unwrap_or_default();
    let named = own.join(text.trim());
    let above = named.parent().and_then(|above| above.canonicalize().ok());
    named.ends_with(".git") && above.zip(root.canonicalize().ok()).is_some_and(|(above, root)| above == root)
}

/// Returns the folder that a `.git` file names.
fn named(dot_git: &Path, links: Links) -> Option<PathBuf> {
    let text = disk::read_text(dot_git, LARGEST, links).ok()?;
    Some(dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn only_a_repository_that_names_the_root_in_turn_is_its_own() {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().canonicalize().expect("real");
        let (root, own) = (base.join("tree"), base.join("main/.git/worktrees/tree"));
        for folder in [&root, &own, &base.join("home"), &base.join("x/worktrees/y")] {
            fs::create_dir_all(folder).expect("made");
        }
        let workspace = Workspace::open(&root).expect("open");
        let below = |path: &str| {
            let path = format!("{}/{path}", base.display());
            workspace.in_outside(&path).map(|(shared, rest)| (shared.folder, rest.to_string()))
        };
        let point = |to: &Path| fs::write(root.join(".git"), format!("gitdir: {}\n", to.display())).expect("written");
        point(&own);
        fs::write(own.join("commondir"), base.join("home").display().to_string()).expect("written");
        assert!(worktree_folders(&root).is_empty());
        fs::write(own.join("gitdir"), format!("{}\n", root.join(".git").display())).expect("written");
        assert_eq!(worktree_folders(&root), [own.clone(), base.join("main/.git")]);
        assert_eq!(below("main/.git/./refs/heads/a"), Some((base.join("main/.git"), "refs/heads/a".into())));
        assert_eq!(below("main/.git/."), Some((base.join("main/.git"), String::new())));
        let head = format!("{}/main/.git/./worktrees/tree/HEAD", base.display());
        assert_eq!(workspace.resolve_archived(&head).ok().as_ref(), Some(&head));
        fs::write(&head, "ref: refs/heads/tree\n").expect("written");
        assert_eq!(workspace.read_archived(&head).expect("read").state.text(), Some("ref: refs/heads/tree\n"));
        let way = format!("{}/main/.git/./../../home", base.display());
        assert!(workspace.resolve_archived(&way).is_err());
        assert_eq!(["main/.git/a", "main/.github/./a", "main/./a", "tree/a"].map(below), [const { None }; 4]);
        fs::write(own.join("gitdir"), "../../../../tree/.git\n").expect("written");
        assert_eq!(worktree_folders(&root), [own.clone(), base.join("main/.git")]);
        fs::write(own.join("gitdir"), format!("{}\n", base.join("other/.git").display())).expect("written");
        assert!(worktree_folders(&root).is_empty() && below("main/.git/./refs/heads/a").is_none());
        assert!(workspace.resolve_archived(&head).is_err() && workspace.read_archived(&head).is_err());
        for other in ["home", "x/worktrees/y", "nowhere"] {
            point(&base.join(other));
            assert!(worktree_folders(&root).is_empty(), "{other}");
        }
        // It names the root, but stands beside no other worktree's.
        fs::write(base.join("home/gitdir"), format!("{}\n", root.join(".git").display())).expect("written");
        point(&base.join("home"));
        assert!(worktree_folders(&root).is_empty());
        fs::remove_file(root.join(".git")).expect("removed");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join(".git"), mode).expect("made");
        assert!(worktree_folders(&root).is_empty());
        assert_eq!(git_folder(&base.join("main/.git")), Some(base.join("main/.git")));
    }
}
