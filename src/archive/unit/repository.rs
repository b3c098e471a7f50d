//! The repository is one unit: a restore brings back all of its files or none.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use super::objects;
use crate::git;
use crate::proposal::{
    Counts, FileChange, ForeignChoice, REPOSITORY, RestoreFate, RestorePreview, RestoreStatus, is_in_repository,
};
use crate::text::number::plural;
use crate::workspace::{Workspace, worktree_folders};

fn is_in(path: &str) -> bool {
    path == REPOSITORY || is_in_repository(path)
}

/// The folders of the repository, as the archived paths of its parts begin.
struct GitFolders {
    /// The worktree's own.
    own: String,
    /// The one that all worktrees share; in most repositories it is the same.
    shared: String,
}

impl GitFolders {
    fn of(workspace: &Workspace) -> Self {
        let linked = workspace.outside().into_iter().find(|folder| folder.is_repository);
        let own = worktree_folders(workspace.root()).into_iter().next();
        let linked = linked
            .zip(own)
            .and_then(|(shared, own)| Some(GitFolders { own: shared.name_of(&own)?, shared: shared.name }));
        linked.unwrap_or_else(|| GitFolders { own: REPOSITORY.into(), shared: REPOSITORY.into() })
    }

    /// Returns how the repository calls a file: `HEAD`, `refs/heads/main`.
    fn part<'p>(&self, path: &'p str) -> &'p str {
        let below = |folder: &str| path.strip_prefix(folder)?.strip_prefix('/');
        below(&self.own).or_else(|| below(&self.shared)).unwrap_or(path)
    }

    /// Returns the path of what the repository calls by this name.
    fn path(&self, name: &str) -> String {
        let is_shared = name == "packed-refs" || name.starts_with("refs/");
        format!("{}/{name}", if is_shared { &self.shared } else { &self.own })
    }
}

/// Leaves the repository as it is where not all of its files can come back, or someone else changed any of them since: half of
/// it would be none, and nothing is chosen for one of its files alone.
pub(in crate::archive) fn all_or_none(
    workspace: &Workspace,
    previews: &mut [RestorePreview],
    files: &mut Vec<FileChange>,
) {
    let is_foreign =
        |preview: &RestorePreview| is_in(&preview.path) && matches!(preview.status, RestoreStatus::Foreign { .. });
    if !files.iter().any(|file| is_in(&file.path)) && !previews.iter().any(is_foreign) {
        return;
    }
    let git = GitFolders::of(workspace);
    let own = || previews.iter().filter(|preview| is_in(&preview.path));
    // Where a branch stands says more than a log or the last message.
    let names_commits = |preview: &&RestorePreview| is_ref(git.part(&preview.path));
    let reason = own().filter(names_commits).chain(own()).find_map(stays);
    let reason = reason.or_else(|| is_locked(workspace, &git, files));
    let reason = reason.or_else(|| missing_object(workspace, &git, files));
    let Some(why) = reason else { return };
    let dropped: HashSet<String> = files.extract_if(.., |file| is_in(&file.path)).map(|file| file.path).collect();
    let is_refused = |preview: &RestorePreview| {
        let refused = matches!(preview.status, RestoreStatus::Refused(_) | RestoreStatus::Foreign { .. });
        refused && is_in(&preview.path) || dropped.contains(&preview.path)
    };
    for preview in previews.iter_mut().filter(|preview| is_refused(preview)) {
        preview.status = RestoreStatus::Refused(format!("the repository stays: {why}"));
    }
}

/// The last word of a line of the repository where a restore of all of it was asked for, whoever changed it since.
const FORCED: &str = "over what changed outside nebula";

/// Puts one line in the place of those of the repository's files.
pub(in crate::archive) fn as_one(workspace: &Workspace, previews: &mut Vec<RestorePreview>, files: &[FileChange]) {
    let is_part = |preview: &RestorePreview| {
        is_in_repository(&preview.path) && !matches!(preview.status, RestoreStatus::NotUndone(_))
    };
    let Some(place) = previews.iter().position(is_part) else { return };
    let parts: Vec<RestorePreview> = previews.extract_if(.., |preview| is_part(preview)).collect();
    let reason = |preview: &RestorePreview| match &preview.status {
        RestoreStatus::Refused(_) | RestoreStatus::NotArchived(_) => Some(preview.status.clone()),
        _ => None,
    };
    let changed: Vec<&FileChange> = files.iter().filter(|file| is_in_repository(&file.path)).collect();
    let status = match parts.iter().find_map(reason) {
        Some(why) => why,
        None if changed.is_empty() => RestoreStatus::Equal,
        None => {
            let mut words = Differences { workspace, git: GitFolders::of(workspace), changed: &changed }.words();
            if parts.iter().any(|preview| matches!(preview.status, RestoreStatus::Foreign { .. })) {
                words = format!("{words}, {FORCED}");
            }
            RestoreStatus::Restore(RestoreFate::Repository(words), Counts::default())
        }
    };
    previews.insert(place, RestorePreview { path: REPOSITORY.into(), status });
}

/// The files of a repository that a restore changes.
struct Differences<'a> {
    workspace: &'a Workspace,
    git: GitFolders,
    changed: &'a [&'a FileChange],
}

impl Differences<'_> {
    /// Returns what changes: `HEAD main 91bc004 → 3f2a1c9, index, 2 refs`.
    fn words(&self) -> String {
        let (now, then) = (self.head(false), self.head(true));
        let mut words = Vec::new();
        if now != then {
            words.push(match (&now, &then) {
                ((Some(a), from), (Some(b), to)) if a == b => {
                    format!("HEAD {a} {} → {}", commit_words(from), commit_words(to))
                }
                _ => format!("HEAD {} → {}", named(&now), named(&then)),
            });
        }
        let of_head = [&now.0, &then.0].map(|branch| branch.as_ref().map(|name| format!("refs/heads/{name}")));
        let is_shown = |part: &str| now != then && (part == "HEAD" || of_head.iter().flatten().any(|own| own == part));
        let files = self.changed.iter().map(|file| self.git.part(&file.path)).filter(|part| !part.ends_with('/'));
        add_parts(&mut words, files.filter(|part| !is_shown(part)));
        words.join(", ")
    }

    /// Returns the branch that is checked out, none for a commit by itself, and the commit, shortened.
    fn head(&self, then: bool) -> (Option<String>, Option<String>) {
        let head = self.text("HEAD", then).unwrap_or_default();
        let Some(branch) = head.strip_prefix("ref: refs/heads/") else { return (None, short(&head)) };
        let reference = format!("refs/heads/{branch}");
        let packed = || {
            let all = self.text("packed-refs", then)?;
            let line = all.lines().find(|line| line.split_once(' ').is_some_and(|(_, name)| name == reference));
            line.and_then(short)
        };
        let commit = self.text(&reference, then).and_then(|commit| short(&commit)).or_else(packed);
        (Some(branch.to_string()), commit)
    }

    /// Returns a text of the repository as it is, or as it will be.
    fn text(&self, name: &str, then: bool) -> Option<String> {
        let path = self.git.path(name);
        let state = match self.changed.iter().find(|file| file.path == path) {
            Some(file) if then => file.after.clone(),
            Some(file) => file.before.clone(),
            None => self.workspace.read_to_restore(&path).ok()?.state,
        };
        state.text().map(|text| text.trim_end().to_string())
    }
}

/// Returns what changed in the repository with these of its files: `HEAD main 3f2a1c9 → 91bc004, index, 2 refs`.
pub fn words(workspace: &Workspace, changed: &[FileChange]) -> String {
    let changed: Vec<&FileChange> = changed.iter().collect();
    Differences { workspace, git: GitFolders::of(workspace), changed: &changed }.words()
}

/// Returns which parts of the repository these paths are, without a look at what they hold: `HEAD, index, 2 refs`.
pub fn parts_words<'p>(workspace: &Workspace, paths: impl Iterator<Item = &'p str>) -> String {
    let git = GitFolders::of(workspace);
    let parts: Vec<&str> = paths.map(|path| git.part(path)).filter(|part| !part.ends_with('/')).collect();
    let mut words: Vec<String> = parts.iter().filter(|part| **part == "HEAD").map(|part| (*part).to_string()).collect();
    add_parts(&mut words, parts.into_iter().filter(|part| *part != "HEAD"));
    words.join(", ")
}

/// Adds which parts of the repository these are, each kind once.
fn add_parts<'p>(words: &mut Vec<String>, parts: impl Iterator<Item = &'p str>) {
    let (mut refs, mut objects, mut others) = (0, 0, 0);
    let (mut index, mut config) = (false, false);
    for part in parts {
        match part {
            "index" => index = true,
            "config" => config = true,
            part if is_ref(part) => refs += 1,
            part if part.starts_with("objects/") => objects += 1,
            _ => others += 1,
        }
    }
    words.extend([(index, "index"), (config, "config")].into_iter().filter(|part| part.0).map(|part| part.1.into()));
    words.extend([(refs, "ref"), (objects, "object")].iter().filter(|part| part.0 > 0).map(|(n, of)| plural(*n, of)));
    if others > 0 || words.is_empty() {
        words.push(plural(others, if words.is_empty() { "file" } else { "more file" }));
    }
}

fn commit_words(commit: &Option<String>) -> &str {
    commit.as_deref().unwrap_or("no commit")
}

fn named((branch, commit): &(Option<String>, Option<String>)) -> String {
    match (branch, commit) {
        (Some(branch), Some(commit)) => format!("{branch} {commit}"),
        (Some(branch), None) => branch.clone(),
        (None, Some(commit)) => commit.clone(),
        (None, None) => "none".into(),
    }
}

/// Returns the beginning of an object's name, as people read it.
fn short(text: &str) -> Option<String> {
    objects_in(text.lines().next()?).first().map(|object| object[..7].to_string())
}

/// Returns why a file does not come back as it was; `None` if it does.
pub(super) fn stays(preview: &RestorePreview) -> Option<String> {
    let path = &preview.path;
    match &preview.status {
        RestoreStatus::Restore(..) | RestoreStatus::Equal | RestoreStatus::NotUndone(_) => None,
        RestoreStatus::Foreign { choice: Some(ForeignChoice::RestoreVersion), .. } => None,
        RestoreStatus::Foreign { choice: Some(ForeignChoice::Merge), .. } => {
            Some(format!("{path} can only be kept or taken as a whole"))
        }
        RestoreStatus::Foreign { is_later: true, .. } => Some(format!("{path} was changed again later")),
        RestoreStatus::Foreign { .. } => Some(format!("{path} was changed by someone else")),
        RestoreStatus::Refused(why) => Some(why.clone()),
        RestoreStatus::NotArchived(why) => Some(format!("{path}: {why}")),
    }
}

/// Returns why git may be at work in the repository. A lock that the restore itself removes is one that a command left.
fn is_locked(workspace: &Workspace, git: &GitFolders, files: &[FileChange]) -> Option<String> {
    let lock = git.path("index.lock");
    let goes = files.iter().any(|file| file.path == lock && file.after.is_absent());
    (!goes && workspace.root().join(&lock).exists())
        .then(|| format!("{lock} exists: wait for git to end, or delete it if none is running"))
}

/// Returns why restored refs would name missing objects; `None` if none does.
fn missing_object(workspace: &Workspace, git: &GitFolders, files: &[FileChange]) -> Option<String> {
    let restored: HashSet<&str> =
        files.iter().filter(|file| !file.after.is_absent()).map(|file| file.path.as_str()).collect();
    let objects = format!("{}/objects/", git.shared);
    let comes_back =
        |object: &String| restored.contains(format!("{objects}{}/{}", &object[..2], &object[2..]).as_str());
    let refs = files.iter().filter(|file| is_in(&file.path) && is_ref(git.part(&file.path)));
    let refs = refs.filter_map(|file| file.after.text());
    let named: BTreeSet<String> = refs.flat_map(objects_in).filter(|object| !comes_back(object)).collect();
    if named.is_empty()
        || restored.iter().any(|path| path.strip_prefix(&objects).is_some_and(|rest| rest.starts_with("pack/")))
    {
        return None;
    }
    let named: Vec<String> = named.into_iter().collect();
    // Git answers for no repository whose refs are gone; it may have others than those of the files.
    let named = objects::not_in(&workspace.root().join(&git.shared).join("objects"), &named);
    if named.is_empty() {
        return None;
    }
    match git::Repository::find(workspace.root()).and_then(|found| found.missing(&named, LIMIT)) {
        Ok(missing) => missing.first().map(|object| format!("its object {object} is gone")),
        // What it says of a repository without refs tells nothing.
        Err(_) => named.first().map(|object| format!("its object {object} is gone")),
    }
}

/// The time limit for git to look for objects.
const LIMIT: Duration = Duration::from_secs(10);

/// Returns whether a file of the repository says where a branch stands.
fn is_ref(part: &str) -> bool {
    part == "HEAD" || part == "packed-refs" || part.starts_with("refs/")
}

/// Returns the objects that a text names, each by a word of 40 or 64 hexadecimal digits.
fn objects_in(text: &str) -> Vec<String> {
    let is_object = |word: &&str| [40, 64].contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit());
    text.split(|c: char| c.is_whitespace() || c == '^').filter(is_object).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::proposal::{Counts, State};

    /// Returns a change of a file of the repository; `None`: it is removed.
    fn change(path: &str, after: Option<&str>) -> FileChange {
        let after = after.map_or(State::Absent, |text| State::File { bytes: text.as_bytes().into(), mode: None });
        FileChange::new(path, State::File { bytes: (*b"now").into(), mode: None }, after, "undo", &[])
    }

    /// Returns the words for each preview after all or none of the repository was chosen.
    fn words(root: &std::path::Path, statuses: &[(&str, RestoreStatus)], files: &[FileChange]) -> (Vec<String>, usize) {
        let workspace = Workspace::open(root).expect("open");
        let preview =
            |(path, status): &(&str, RestoreStatus)| RestorePreview { path: path.to_string(), status: status.clone() };
        let (mut previews, mut files) = (statuses.iter().map(preview).collect::<Vec<_>>(), files.to_vec());
        all_or_none(&workspace, &mut previews, &mut files);
        let word = |preview: RestorePreview| match preview.status {
            RestoreStatus::Refused(why) => why,
            RestoreStatus::Restore(..) => "restore".into(),
            other => format!("{other:?}"),
        };
        (previews.into_iter().map(word).collect(), files.len())
    }

    #[test]
    fn the_repository_comes_back_as_a_whole_or_says_why_not() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join(".git")).expect("made");
        let restore = || RestoreStatus::Restore(RestoreFate::Content, Counts::default());
        let take = RestoreStatus::Foreign {
            at: None,
            counts: Counts::default(),
            choice: Some(ForeignChoice::RestoreVersion),
            conflicts: None,
            rung: None,
            is_later: false,
        };
        let config = change(".git/config", Some("then"));
        let lost = RestoreStatus::NotArchived("its version is gone".into());
        let why = "the repository stays: .git/HEAD: its version is gone";
        let all = [("a.txt", restore()), (".git/config", take), (".git/HEAD", lost)];
        let (outcomes, left) = words(dir.path(), &all, &[change("a.txt", Some("1")), config.clone()]);
        assert_eq!((outcomes[0].as_str(), outcomes[1].as_str(), left), ("restore", why, 1));

        // What someone else changed in it is not chosen for by itself; the branch is the reason that is named.
        let foreign = |choice| RestoreStatus::Foreign {
            at: None,
            counts: Counts::default(),
            choice,
            conflicts: Some(1),
            rung: None,
            is_later: false,
        };
        let why = "the repository stays: .git/refs/heads/main was changed by someone else";
        for choice in [None, Some(ForeignChoice::Keep), Some(ForeignChoice::Merge)] {
            let all = [(".git/COMMIT_EDITMSG", foreign(choice)), (".git/refs/heads/main", foreign(None))];
            let (outcomes, left) = words(dir.path(), &all, &[]);
            assert_eq!((outcomes, left), (vec![why.to_string(); 2], 0), "{choice:?}");
        }

        // A lock that the command itself left is removed with what it did; any other one may be in use.
        std::fs::write(dir.path().join(".git/index.lock"), "").expect("written");
        let both = [(".git/config", restore()), (".git/index.lock", restore())];
        let (outcomes, left) = words(dir.path(), &both, &[config.clone(), change(".git/index.lock", None)]);
        assert_eq!((outcomes, left), (vec!["restore".to_string(); 2], 2));
        let (outcomes, left) = words(dir.path(), &both[..1], &[config]);
        assert!(outcomes[0].contains("delete it if none is running") && left == 0, "{outcomes:?}");
    }

    #[test]
    fn the_repository_is_one_line_that_says_what_changes() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        std::fs::create_dir_all(dir.path().join(".git/refs/heads")).expect("made");
        std::fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
        let file = |path: &str, before: &str, after: &str| {
            let state = |text: &str| match text {
                "" => State::Absent,
                text => State::File { bytes: text.as_bytes().into(), mode: None },
            };
            FileChange::new(path, state(before), state(after), "undo", &[])
        };
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let line = |files: &[FileChange]| {
            let of = |file: &FileChange| RestorePreview {
                path: file.path.clone(),
                status: RestoreStatus::Restore(RestoreFate::Content, Counts::default()),
            };
            let mut previews: Vec<_> = files.iter().map(of).collect();
            as_one(&workspace, &mut previews, files);
            let words = |preview: &RestorePreview| match &preview.status {
                RestoreStatus::Restore(RestoreFate::Repository(words), _) => format!("{}: {words}", preview.path),
                _ => preview.path.clone(),
            };
            previews.iter().map(words).collect::<Vec<_>>()
        };
        let commit = [
            file("a.txt", "1", "2"),
            file(".git/index", "x", "y"),
            file(".git/refs/heads/main", &a, &b),
            file(".git/refs/heads/one", &a, ""),
            file(".git/refs/tags/two", "", &b),
            file(".git/logs/HEAD", "x", "y"),
        ];
        let expected = ".git: HEAD main aaaaaaa → bbbbbbb, index, 2 refs, 1 more file";
        assert_eq!(line(&commit), ["a.txt", expected]);
        let packed = format!("# pack-refs\n{b} refs/heads/other\n");
        let switch = [
            file(".git/HEAD", "ref: refs/heads/main\n", "ref: refs/heads/other\n"),
            file(".git/packed-refs", "", &packed),
        ];
        assert_eq!(line(&switch), [".git: HEAD main → other bbbbbbb, 1 ref"]);
        let detached = [file(".git/HEAD", &a, "ref: refs/heads/main\n")];
        assert_eq!(line(&detached), [".git: HEAD aaaaaaa → main"]);
        assert_eq!(line(&[file(".git/description", "a", "b")]), [".git: 1 file"]);
        assert_eq!(line(&[file(".github/a", "a", "b")]), [".github/a"]);
        // One that is restored whatever changed since says so, and is one line, too.
        let status = RestoreStatus::Foreign {
            at: None,
            counts: Counts::default(),
            choice: Some(ForeignChoice::RestoreVersion),
            conflicts: None,
            rung: None,
            is_later: false,
        };
        let mut forced = vec![RestorePreview { path: ".git/HEAD".into(), status }];
        as_one(&workspace, &mut forced, &detached);
        let words = format!("HEAD aaaaaaa → main, {FORCED}");
        let status = RestoreStatus::Restore(RestoreFate::Repository(words), Counts::default());
        assert_eq!(forced, [RestorePreview { path: REPOSITORY.into(), status }]);
    }

    #[test]
    fn an_object_that_the_restore_removes_does_not_come_back() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join(".git")).expect("made");
        let object = "ab".repeat(20);
        let file = format!(".git/objects/ab/{}", "ab".repeat(19));
        let refers = change(".git/refs/heads/main", Some(&format!("{object}\n")));
        let workspace = Workspace::open(dir.path()).expect("open");
        let git = GitFolders::of(&workspace);
        assert_eq!(missing_object(&workspace, &git, &[refers.clone(), change(&file, Some("x"))]), None);
        assert!(missing_object(&workspace, &git, &[refers, change(&file, None)]).is_some());
    }

    #[test]
    fn objects_are_read_out_of_refs() {
        let (a, b) = ("a".repeat(40), "0123456789abcdef".repeat(4));
        assert_eq!(objects_in(&format!("{a}\n")), [a.as_str()]);
        assert_eq!(objects_in(&format!("# pack-refs\n{a} refs/heads/main\n^{b}\n")), [a.as_str(), b.as_str()]);
        assert!(objects_in("ref: refs/heads/main\n").is_empty());
        assert!(is_ref("refs/heads/x") && !is_ref("logs/HEAD"));
    }
}
