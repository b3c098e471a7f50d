//! Files in play of one name, in different folders.

use std::collections::HashSet;
use std::sync::Arc;

use super::{KnownFile, same_path};
use crate::edit::path::{bare, may_name};

/// Returns the files in play that a path may mean: of that path, or else all of that name.
pub(in crate::edit) fn meant_by<'k>(path: &str, known: &'k [KnownFile]) -> Vec<&'k KnownFile> {
    let files = of_path(path, known);
    if files.is_empty() { each_once(known.iter().filter(|file| may_name(path, &file.path))) } else { files }
}

/// Returns the files in play of a path. A full path may be that of several (`/work/src/a.py` of `src/a.py` and of `a.py`): it
/// is for the workspace to say which.
pub(in crate::edit) fn of_path<'k>(path: &str, known: &'k [KnownFile]) -> Vec<&'k KnownFile> {
    match known.iter().find(|file| file.path == path) {
        Some(file) => vec![file],
        None => each_once(known.iter().filter(|file| same_path(path, &file.path))),
    }
}

/// Returns the only file in play of nearly this path, in the same folder: without its extension (`README`), with another one of
/// its kind, or with other marks between the words (`my-calc.py`).
pub(in crate::edit) fn near<'k>(path: &str, known: &'k [KnownFile]) -> Option<&'k KnownFile> {
    let parted = |path: &str| {
        let path = path.strip_prefix("./").unwrap_or(path).to_string();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let (stem, kind) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).unwrap_or((name, ""));
        let kind = KINDS.iter().find(|kinds| kinds.contains(&kind)).map_or(kind, |kinds| kinds[0]);
        (folder.to_string(), stem.replace('-', "_").to_lowercase(), kind.to_lowercase())
    };
    let (folder, stem, kind) = parted(path);
    let is_near = |file: &&KnownFile| {
        let (own_folder, own_stem, own_kind) = parted(&file.path);
        own_folder == folder && own_stem == stem && (kind.is_empty() || own_kind == kind)
    };
    let mut files = known.iter().filter(is_near);
    files.next().filter(|_| files.next().is_none())
}

/// Extensions of one kind.
const KINDS: [&[&str]; 5] =
    [&["yml", "yaml"], &["htm", "html"], &["md", "markdown"], &["jpg", "jpeg"], &["cc", "cpp", "cxx"]];

/// Returns the path of the file in play that a full path means in the sandbox which the model thinks it is in: `/workspace/a.py`.
pub(in crate::edit) fn in_sandbox<'k>(path: &str, known: &'k [KnownFile]) -> Option<&'k str> {
    const FRONTS: [&str; 14] = [
        "workspace",
        "workspaces",
        "app",
        "project",
        "projects",
        "repo",
        "code",
        "src",
        "testbed",
        "work",
        "home/user",
        "home/ubuntu",
        "mnt/data",
        "path/to",
    ];
    let path = bare(path);
    let rest = FRONTS.iter().find_map(|front| path.strip_prefix('/')?.strip_prefix(front)?.strip_prefix('/'))?;
    // The name of the project may stand between them.
    let below = rest.split_once('/').map(|(_, below)| below);
    let find = |path: &str| known.iter().find(|file| file.path == path).map(|file| file.path.as_str());
    find(rest).or_else(|| find(below?))
}

/// Returns whether a path begins at the root of the computer.
pub(in crate::edit) fn is_full(path: &str) -> bool {
    path.starts_with('/')
}

/// Returns files without those that are among them before, under another name perhaps.
fn each_once<'k>(all: impl Iterator<Item = &'k KnownFile>) -> Vec<&'k KnownFile> {
    let mut files: Vec<&KnownFile> = Vec::new();
    for file in all {
        if !files.iter().any(|other| other.path == file.path || Arc::ptr_eq(&other.text, &file.text)) {
            files.push(file);
        }
    }
    files
}

/// Returns the paths of the files in play that a path may mean, in words, where there are several.
pub(in crate::edit) fn several(path: &str, known: &[KnownFile]) -> Option<String> {
    let paths: Vec<&str> = meant_by(path, known).into_iter().map(|file| file.path.as_str()).collect();
    (paths.len() > 1).then(|| paths.join(" or "))
}

/// Returns the one of several files of which a text is clearly a new version: it has most lines of it, few of any other, and
/// more than of any other, of which it may be a part.
pub(in crate::edit) fn version_of<'k>(content: &str, files: &[&'k KnownFile]) -> Option<&'k KnownFile> {
    let lines = trimmed(content);
    let file = files.iter().find(|file| is_share(&lines, &file.text, MOST))?;
    let held = |of: &KnownFile| lines.intersection(&trimmed(&of.text)).filter(|line| !line.is_empty()).count();
    let own = held(file);
    let is_like = |other: &KnownFile| is_share(&lines, &other.text, FEW) || held(other) >= own;
    (!files.iter().any(|other| other.path != file.path && is_like(other))).then_some(*file)
}

/// Returns whether most lines of a file are in a whole text.
pub(in crate::edit) fn is_version(content: &str, file: &str) -> bool {
    is_share(&trimmed(content), file, MOST)
}

/// Returns whether a good part of a file's lines is in a text, or the file has none.
pub(in crate::edit) fn may_be_version(content: &str, file: &str) -> bool {
    file.trim().is_empty() || is_share(&trimmed(content), file, FEW)
}

/// Returns whether nearly all lines of a file are in a text.
pub(in crate::edit) fn has_nearly_all(content: &str, file: &str) -> bool {
    is_share(&trimmed(content), file, NEARLY_ALL)
}

/// The shares of a file's lines, in tenths, from which a text has nearly all of it, is a version of it, and may be one.
const NEARLY_ALL: usize = 9;
const MOST: usize = 6;
const FEW: usize = 3;

/// Returns the lines of a text, without space around them.
fn trimmed(text: &str) -> HashSet<&str> {
    text.lines().map(str::trim).collect()
}

/// Returns whether so many tenths of the lines of a file are among these.
fn is_share(lines: &HashSet<&str>, file: &str, tenths: usize) -> bool {
    let own: Vec<&str> = file.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let stay = own.iter().filter(|line| lines.contains(**line)).count();
    stay * 10 >= own.len() * tenths && stay > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_several_files_unless_the_text_is_that_of_one() {
        let file = |path: &str, text: &str| KnownFile { path: path.into(), text: text.into() };
        let known = [file("x/a.py", "a = 1\nb = 2\nc = 3\n"), file("y/a.py", "m = 1\nn = 2\n")];
        assert_eq!(meant_by("./x/a.py", &known), [&known[0]]);
        let both = meant_by("a.py", &known);
        assert_eq!(several("a.py", &known).as_deref(), Some("x/a.py or y/a.py"));
        let path = |content: &str| version_of(content, &both).map(|file| file.path.as_str());
        assert_eq!(path("a = 1\nb = 7\nc = 3\n"), Some("x/a.py"));
        assert_eq!(path("m = 1\nn = 2\no = 3\n"), Some("y/a.py"));
        assert_eq!(path("a = 1\nb = 2\nm = 1\n"), None, "it has half of the other one");
        assert_eq!(path("print(1)\n"), None);
        let linked = [known[0].clone(), KnownFile { path: "link/a.py".into(), ..known[0].clone() }];
        assert_eq!(several("a.py", &linked), None, "they are one");
    }

    #[test]
    fn a_path_that_is_nearly_that_of_one_file_is_its() {
        let file = |path: &str| KnownFile { path: path.into(), text: path.into() };
        let known = ["README.md", "c.yml", "src/my_calc.py", "Dockerfile.prod", "n.py", "n.js"].map(file);
        let near = |path: &str| super::near(path, &known).map(|file| file.path.as_str());
        assert_eq!(near("README"), Some("README.md"));
        assert_eq!(near("c.yaml"), Some("c.yml"));
        assert_eq!(near("src/my-calc.py"), Some("src/my_calc.py"));
        assert_eq!(near("Dockerfile"), Some("Dockerfile.prod"));
        for path in ["n", "docs/README", "my-calc.py", "c.json", "README.txt"] {
            assert_eq!(near(path), None, "{path}");
        }
        assert_eq!(in_sandbox("/workspace/README.md", &known), Some("README.md"));
        assert_eq!(in_sandbox("/home/user/demo/src/my_calc.py", &known), Some("src/my_calc.py"));
        for path in ["/etc/README.md", "README.md", "/workspace/other.md", "/app/x/y/n.py"] {
            assert_eq!(in_sandbox(path, &known), None, "{path}");
        }
    }

    #[test]
    fn a_part_of_one_file_is_no_version_of_another_that_it_has_all_lines_of() {
        let long: String = (0..49).map(|n| format!("v{n} = {n}\n")).collect();
        let file = |path: &str, text: &str| KnownFile { path: path.into(), text: text.into() };
        let known = [file("x/a.py", "import os\n"), file("y/a.py", &format!("import os\n{long}"))];
        let both = meant_by("a.py", &known);
        let part: String = known[1].text.split_inclusive('\n').take(12).collect();
        assert_eq!(version_of(&part, &both), None);
        assert_eq!(version_of("import os\nimport re\n", &both), None, "it has as much of the other one");
        assert_eq!(version_of(&known[1].text, &both), None, "it has all of both");
        assert_eq!(version_of(&long, &both), Some(&known[1]));
    }

    #[test]
    fn a_full_path_may_be_that_of_several_files() {
        let known = ["lib/a.py", "a.py", "/etc/a.py"];
        let known = known.map(|path| KnownFile { path: path.into(), text: path.into() });
        assert_eq!(meant_by("/work/lib/a.py", &known), [&known[0], &known[1]]);
        assert_eq!(meant_by("/work/a.py", &known), [&known[1]]);
        assert_eq!(meant_by("a.py", &known), [&known[1]]);
        assert_eq!(meant_by("/etc/a.py", &known), [&known[2]]);
        let again = [known[0].clone(), KnownFile { text: "x".into(), ..known[0].clone() }];
        assert_eq!(of_path("./lib/a.py", &again), [&again[0]], "it is known twice");
    }
}
