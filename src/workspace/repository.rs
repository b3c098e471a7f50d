//! The repository's own folder, where `.git` is a file that names it. Such a file is material: any program may write one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::disk::{self, Links};

/// The largest file that names a folder.
const LARGEST: u64 = 4_096;
/// The name of the file by which a repository names a worktree of it.
const WORKTREE: &str = "gitdir";
/// The age from which git would soon write it anew.
const FRESH: Duration = Duration::from_secs(12 * 3_600);
/// The largest configuration of a repository that is read.
const LARGEST_CONFIG: u64 = 1 << 20;

/// Returns the repository's own folder, to read in: `.git` itself, or the one that it names in a linked worktree.
pub fn git_folder(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_path_buf());
    }
    named(dot_git, Links::Follow)
}

/// Returns the folders of the repository elsewhere that git writes when it works at `root`: its own, which names this
/// root in turn, and the one that all its worktrees share, which a submodule's own is. None where either side does not
/// name the other.
pub fn worktree_folders(root: &Path) -> Vec<PathBuf> {
    let dot_git = root.join(".git");
    let Some(own) = named(&dot_git, Links::Refuse).and_then(|own| own.canonicalize().ok()) else { return Vec::new() };
    if own.components().any(|part| part.as_os_str() == "modules") && works_at(&own, root) {
        return vec![own.clone(), own];
    }
    let shared = own.parent().filter(|above| above.ends_with("worktrees")).and_then(Path::parent);
    match shared.filter(|_| names_back(&own, root)).map(Path::to_path_buf) {
        Some(shared) => vec![own, shared],
        None => Vec::new(),
    }
}

/// Returns whether a repository elsewhere says itself that a root is one of its worktrees, or the one that a submodule's own
/// works at. What lies at the root may be gone.
pub fn has_worktree(repository: &Path, root: &Path) -> bool {
    if !repository.canonicalize().is_ok_and(|real| real == repository) {
        return false;
    }
    if repository.components().any(|part| part.as_os_str() == "modules") {
        return works_at(repository, root) || is_submodule(repository, root);
    }
    let mut all = std::fs::read_dir(repository.join("worktrees")).into_iter().flatten().flatten();
    all.any(|own| names_back(&own.path(), root))
}

/// Returns whether the repository that holds a submodule's own names a root below it as one of its submodules.
fn is_submodule(own: &Path, root: &Path) -> bool {
    let Some(above) = own.ancestors().find(|above| above.ends_with(".git")).and_then(Path::parent) else {
        return false;
    };
    let Ok(inside) = root.strip_prefix(above) else { return false };
    let text = disk::read_text(&above.join(".gitmodules"), LARGEST_CONFIG, Links::Refuse).unwrap_or_default();
    let mut is_own = false;
    text.lines().map(str::trim).any(|line| {
        if let Some(name) = line.strip_prefix("[submodule \"").and_then(|rest| rest.strip_suffix("\"]")) {
            is_own = own == above.join(".git/modules").join(name);
        }
        let named = line.split_once('=').filter(|(key, _)| is_own && key.trim() == "path");
        named.is_some_and(|(_, path)| Path::new(path.trim().trim_matches('"')) == inside)
    })
}

/// Returns the file by which a repository elsewhere says that a root is its worktree; none: it is none.
pub fn worktree_proof(root: &Path) -> Option<PathBuf> {
    let folders = worktree_folders(root);
    let [own, shared] = &folders[..] else { return None };
    Some(own.join(if own == shared { "config" } else { WORKTREE }))
}

/// Returns whether a file is one by which a repository says that a folder is its worktree. Git writes it anew after a day, the
/// same as it was; no one else changes it but to move the worktree.
pub fn is_worktree_file(proof: &Path) -> bool {
    proof.ends_with(WORKTREE)
}

/// Lets git find such a file no older than it has to be, where a root has one: a command cannot write it.
pub fn freshen_proof(root: &Path) {
    if let Some(proof) = worktree_proof(root).filter(|proof| is_worktree_file(proof)) {
        // Who may not set it cannot lose it by a command either.
        let _ = disk::freshen(&proof, FRESH);
    }
}

/// Returns the folder of a repository that holds a path below `root`, which may be the root itself and have any name, and
/// the rest of the path; none: there is no such folder, or a worktree in it holds the path.
pub fn repository_above(root: &Path, inside: &Path) -> Option<(PathBuf, PathBuf)> {
    let holds = |folder: &Path| {
        folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
    };
    let above: Vec<&Path> = inside.ancestors().skip(1).collect();
    let mut above = above.into_iter().rev();
    let folder = above.find(|folder| holds(&root.join(folder)))?;
    if above.any(|below| root.join(below).join(".git").is_file()) {
        return None;
    }
    Some((root.join(folder), inside.strip_prefix(folder).ok()?.to_path_buf()))
}

/// Returns whether a worktree's own folder says that it is this root's.
fn names_back(own: &Path, root: &Path) -> bool {
    let text = disk::read_text(&own.join(WORKTREE), LARGEST, Links::Refuse).unwrap_or_default();
    let named = own.join(text.trim());
    let above = named.parent().and_then(|above| above.canonicalize().ok());
    named.ends_with(".git") && above.zip(root.canonicalize().ok()).is_some_and(|(above, root)| above == root)
}

/// Returns whether a submodule's own folder says in its `config` that it works at this root.
fn works_at(own: &Path, root: &Path) -> bool {
    let text = disk::read_text(&own.join("config"), LARGEST_CONFIG, Links::Refuse).unwrap_or_default();
    let mut is_core = false;
    let mut named = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_core = line.eq_ignore_ascii_case("[core]");
        } else if let Some((key, value)) = line.split_once('=')
            && is_core
            && key.trim().eq_ignore_ascii_case("worktree")
        {
            named = Some(own.join(value.trim().trim_matches('"')));
        }
    }
    named.and_then(|named| named.canonicalize().ok()).zip(root.canonicalize().ok()).is_some_and(|(a, b)| a == b)
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
        let proof = || worktree_proof(&root);
        assert_eq!(proof(), None);
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
        assert_eq!(proof(), Some(own.join("gitdir")));
        // The repository alone says it where a command removed the file at the root.
        fs::remove_file(root.join(".git")).expect("removed");
        assert_eq!((worktree_folders(&root), proof()), (Vec::new(), None));
        assert_eq!(below("main/.git/./HEAD"), Some((base.join("main/.git"), "HEAD".into())));
        assert_eq!(["home/./HEAD", "main/../main/.git/./HEAD"].map(below), [const { None }; 2]);
        point(&own);
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

    #[test]
    fn the_repository_of_a_submodule_is_its_own_where_it_names_the_root() {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().canonicalize().expect("real");
        let (root, own) = (base.join("libs/sub"), base.join(".git/modules/libs/sub"));
        for folder in [&root, &own, &base.join("other")] {
            fs::create_dir_all(folder).expect("made");
        }
        fs::write(root.join(".git"), "gitdir: ../../.git/modules/libs/sub\n").expect("written");
        assert!(worktree_folders(&root).is_empty());
        let config = |text: &str| fs::write(own.join("config"), text).expect("written");
        config("[core]\n\tbare = false\n\tworktree = ../../../../libs/sub\n[remote \"a\"]\n\turl = x\n");
        assert_eq!(worktree_folders(&root), [own.clone(), own.clone()]);
        assert_eq!(worktree_proof(&root), Some(own.join("config")));
        let head = format!("{}/./HEAD", own.display());
        let workspace = Workspace::open(&root).expect("open");
        assert_eq!(workspace.resolve_archived(&head).ok().as_ref(), Some(&head));
        for other in ["[core]\n\tworktree = ../../../../other\n", "[x]\n\tworktree = ../../../../libs/sub\n"] {
            config(other);
            assert!(worktree_folders(&root).is_empty(), "{other}");
        }
    }

    #[test]
    fn the_repository_that_holds_a_path_is_found_by_what_is_in_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path();
        let above = |path: &str| repository_above(root, Path::new(path)).map(|(_, rest)| rest.display().to_string());
        for folder in ["vendor/x/objects", "vendor/x/refs"] {
            fs::create_dir_all(root.join(folder)).expect("made");
        }
        assert_eq!(above("vendor/x/config"), None);
        fs::write(root.join("vendor/x/HEAD"), "ref: refs/heads/main\n").expect("written");
        assert_eq!(above("vendor/x/config").as_deref(), Some("config"));
        assert_eq!(above("vendor/x/hooks/a").as_deref(), Some("hooks/a"));
        assert_eq!((above("vendor/x"), above("vendor/y/config")), (None, None));
        for folder in ["objects", "refs"] {
            fs::create_dir_all(root.join(folder)).expect("made");
        }
        fs::write(root.join("HEAD"), "").expect("written");
        assert_eq!(above("config").as_deref(), Some("config"));
        fs::create_dir(root.join("main")).expect("made");
        assert_eq!(above("main/a").as_deref(), Some("main/a"));
        fs::write(root.join("main/.git"), "gitdir: ../worktrees/main\n").expect("written");
        assert_eq!(above("main/a"), None);
    }
}
