//! The files that usually hold keys among those that git tracks, of which it prints lines though it ignores them now.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::flat;
use super::forms;
use crate::git::index;
use crate::workspace::{git_folder, holds_secrets};

/// Returns the files that usually hold keys which the repository of a folder tracks, as far as operands of git name them;
/// none: its index cannot be read. `changed`: only those that are not as git last saw them. `takes_all`: without an operand
/// that names files, those outside the folder count too.
pub fn key_files(folder: &Path, operands: &[&str], changed: bool, takes_all: bool) -> Option<Vec<PathBuf>> {
    let repository = |above: &Path| Some((above.to_path_buf(), git_folder(&above.join(".git"))?));
    let Some((root, own)) = folder.ancestors().find_map(repository) else { return Some(Vec::new()) };
    let index = match fs::read(own.join("index")) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Some(Vec::new()),
        index => index.ok()?,
    };
    let may_differ = |file: &index::TrackedFile| {
        root.join(&file.path).symlink_metadata().map_or(true, |about| file.may_differ(&about))
    };
    let keys = index::files(&index)?.into_iter().filter(|file| holds_secrets(&file.path));
    let keys = keys.filter(|file| !changed || may_differ(file)).map(|file| root.join(file.path));
    Some(keys.filter(|path| is_named(path, folder, operands, takes_all)).collect())
}

/// Returns whether operands name a file: paths above it and forms of its path, but for those that leave it out.
fn is_named(path: &Path, folder: &Path, operands: &[&str], takes_all: bool) -> bool {
    let inside = path.strip_prefix(folder).ok();
    // Of what is wanted the shell may have made the name of a folder.
    let fits = |form: &str, is_wanted: bool| {
        let form = forms::matcher(form, is_wanted, false);
        let parts = inside.iter().flat_map(|inside| inside.ancestors().take(if is_wanted { usize::MAX } else { 1 }));
        form.is_some_and(|form| parts.into_iter().any(|part| form.is_match(part)))
    };
    let left_out = |text: &str| text.strip_prefix(":!").or_else(|| text.strip_prefix(":^")).map(str::to_string);
    let is_left_out = |form: String| fits(&form, false) || path.starts_with(folder.join(form));
    if operands.iter().filter_map(|text| left_out(text)).any(is_left_out) {
        return false;
    }
    // What has a meaning of its own, becomes several words or leads out of the folder may name any file.
    let is_form = |text: &str| text.contains(['*', '?', '[', '\\']);
    let is_open = |text: &str| text.starts_with(':') || text.contains('{') || is_form(text) && text.contains("..");
    let names = |text: &&&str| is_open(text) || is_form(text) || folder.join(text).exists();
    let mut named = operands.iter().filter(|text| left_out(text).is_none()).filter(names).peekable();
    if named.peek().is_none() {
        return takes_all || inside.is_some();
    }
    named.any(|text| is_open(text) || fits(text, true) || path.starts_with(flat(&folder.join(text))))
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::super::super::{Around, SearchedKeys, assess};
    use super::super::look_below;
    use super::*;

    fn git(folder: &Path, words: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words).current_dir(folder);
        let done = command.env("HOME", folder).output().expect("git runs");
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn a_file_of_keys_that_git_tracks_is_met_where_git_may_print_lines_of_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path();
        git(root, &["init", "-q"]);
        for path in [".env", "sub/.env", "a.py", "other/b.py"] {
            fs::create_dir_all(root.join(path).parent().expect("a folder")).expect("made");
            fs::write(root.join(path), "KEY=1\n").expect("written");
        }
        fs::write(root.join(".gitignore"), ".env\n").expect("written");
        let of = |text: &str| {
            let around = Around { root: root.into(), folder: root.into(), ..Around::default() };
            let mut found = assess(text, &around, false);
            look_below(&mut found, &around, Instant::now() + Duration::from_secs(60));
            found.searched
        };
        let meets = |text: &str| matches!(of(text), Some(SearchedKeys::Found(_)));
        git(root, &["add", "."]);
        for text in ["git grep KEY", "git grep nothing HEAD", "git ls-files | xargs cat", "git diff"] {
            assert_eq!(of(text), None, "it is not tracked: {text}");
        }
        git(root, &["add", "-f", "."]);
        git(root, &["commit", "-qm", "first"]);
        for text in [
            "git grep KEY",
            "git grep --untracked KEY",
            "git grep -n KEY -- sub",
            "git grep KEY '*'",
            "git grep KEY -- su?",
            "git grep KEY -- {sub,x}",
            "git grep KEY -- ':(top)*nv'",
            "git grep KEY -- a.py ':/'",
            "git grep nothing HEAD",
            "git grep nothing \"$x\" -- sub",
            "git grep --cached nothing",
            "cd sub && git grep KEY",
            "git ls-files | xargs cat",
            "git ls-files '*v' | xargs grep KEY",
            "git ls-files -x '*.pyc' | xargs cat",
        ] {
            assert!(meets(text), "{text}: {:?}", of(text));
        }
        for text in [
            "git grep nothing",
            "git grep KEY -- '*.py'",
            "git grep KEY -- *.py",
            "git grep KEY a.py",
            "git grep KEY -- ':!*.env'",
            "cd other && git grep KEY",
            "git ls-files '*.py' | xargs cat",
            "git diff",
            "git diff sub",
            "git diff '*'",
            "git diff -U5",
            "git diff -S HEAD",
            "git diff -- HEAD~1",
            "git diff HEAD~1 -- a.py",
            "git diff HEAD a.py",
            "git diff feat..main -- other",
            "git diff sub -- a.py",
            "git diff --cached a.py",
            "git diff HEAD~1 -- ':!*.env'",
            "git diff --stat HEAD~1",
            "cd other && git diff --relative HEAD~1",
            "git log",
            "git log --stat -n 3",
            "git reflog",
            "git stash list",
            "git log -p -- a.py",
            "git log -p -n 3 -S KEY -- a.py other",
            "git log -p -- ':!*.env'",
            "git show --stat",
            "git show -s HEAD",
            "git show HEAD -- a.py",
            "git show HEAD:a.py",
            "git show HEAD:a.py HEAD~1:other/b.py",
            "git stash show",
            "git diff-tree HEAD",
            "git diff-index -p HEAD -- a.py",
            "git format-patch --stdout -1 -- a.py",
            "git range-diff -s main~2..main other~2..other",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        for text in [
            "git log -p",
            "git log --patch -n 3",
            "git log -u -- sub",
            "cd other && git log -p",
            "git show",
            "git show HEAD~1",
            "git show HEAD HEAD:a.py",
            "git show --stat -p",
            "git whatchanged -p",
            "git stash show -p",
            "git stash show --patch stash@{1}",
            "git diff-tree -p HEAD~1 HEAD",
            "git diff-index -p HEAD",
            "git diff-files -p",
            "git format-patch --stdout -1",
            "git log --full-diff -p -- a.py",
            "git show --full-diff HEAD -- a.py",
            "git reflog -p",
            "git log --word-diff -p",
            "git stash list -p",
            "git fast-export --all",
            "git range-diff main~2..main other~2..other",
            "git log -p other --",
            "git diff HEAD",
            "git diff HEAD~1",
            "git diff feat main",
            "git diff feat..main",
            "git diff main...HEAD",
            "git diff -S KEY HEAD~1",
            "git diff -G KEY HEAD~1",
            "git diff -U5 HEAD~1",
            "git diff --stat -p HEAD~1",
            "git diff HEAD~1 -- .",
            "git diff HEAD~1 sub",
            "git diff other --",
            "git diff HEAD~1:sub HEAD:sub",
            "git diff 'HEAD^{/a*}'",
            "git diff :/first",
            "git diff $x",
            "git diff --cached",
            "git diff --staged",
            "git diff --cached -- sub",
            "cd other && git diff HEAD~1",
            "git grep nothing :/first",
        ] {
            assert!(meets(text), "{text}: {:?}", of(text));
        }
        fs::write(root.join("sub/.env"), "KEY=1\nmore\n").expect("written");
        for text in [
            "git diff",
            "git diff HEAD -- sub",
            "cd other && git diff",
            "git diff -Sset",
            "git diff -S a.py",
            "git diff -G 'a..b'",
            "git diff -I --cached",
            "git diff -- '*..x' 'c*' sub",
            "git diff --check",
            "git diff --stat -p",
            "git diff '*'",
        ] {
            assert_eq!(of(text), Some(SearchedKeys::Found("sub/.env".into())), "{text}");
        }
        for text in [
            "git diff --stat",
            "git diff --name-only",
            "git diff --cached -- a.py",
            "git diff main...HEAD -- a.py",
            "git diff -- a.py",
            "git diff --no-index a.py other/b.py",
            "git diff -- ':!sub'",
            "cd other && git diff --relative",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        fs::write(root.join(".git/index"), "DIRC").expect("written");
        assert_eq!((of("git grep KEY"), of("git diff")), (Some(SearchedKeys::Unseen), Some(SearchedKeys::Unseen)));
    }
}
