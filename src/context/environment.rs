//! The present state of the workspace and the machine, for the system prompt: platform, date, the files there are,
//! languages, git. Gathered at the first prompt, never at start-up, and bounded in entries and in time, so that a huge
//! tree costs no more than a large one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::disk::{self, Links};
use crate::git::Repository;
use crate::text::time;
use crate::workspace::{Ignores, Workspace, git_folder};

/// The limits on what is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Files and folders walked at most.
    pub entries: usize,
    /// Files up to which a project's tree is shown whole.
    pub whole: usize,
    /// Bytes of the tree at most: names of files give way to their number, and lower folders to upper ones.
    pub bytes: usize,
    /// Folders shown at most where the tree is not shown whole.
    pub folders: usize,
    /// The time limit for the walk, looked at every 256 entries.
    pub walk: Duration,
    /// The time limit for git.
    pub git: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Limits { entries: 20_000, whole: 400, bytes: 340, folders: 80, walk: ms(150), git: ms(300) }
    }
}

/// The present environment. Strings are empty where there is nothing to report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptEnvironment {
    /// `linux x86_64`.
    pub platform: String,
    /// Day, weekday and offset from UTC; no hours, so that a prompt stays the same for a day.
    pub date: String,
    /// The root's path, and where the person is in it.
    pub workspace: String,
    /// The contents of the tree: all files, or folders only.
    pub tree_title: String,
    /// Files by folder, one line a folder.
    pub tree: String,
    /// `Rust 41 files, Markdown 5`.
    pub languages: String,
    /// True if definitions are read of one of the languages.
    pub has_definitions: bool,
    /// `Cargo.toml, web/package.json`.
    pub build: String,
    /// Branch and state; `None`: no repository.
    pub git: Option<String>,
}

impl PromptEnvironment {
    /// Looks at a workspace. Files of patterns (`.gitignore`) that were not read become lines of `complaints`.
    pub fn gather(workspace: &Workspace, limits: Limits, complaints: &mut Vec<String>) -> PromptEnvironment {
        let root = workspace.root();
        let ignores = Arc::new(Ignores::new(root));
        // Git runs while the files are walked.
        let (files, git) = std::thread::scope(|scope| {
            let git = scope.spawn(|| git(root, limits.git));
            (walk(workspace, &ignores, limits), git.join().unwrap_or_default())
        });
        complaints.extend(ignores.complaints());
        let (tree_title, tree) = tree(&files, limits);
        PromptEnvironment {
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            date: time::date(),
            workspace: place(root),
            tree_title,
            tree,
            has_definitions: files.paths.iter().any(|path| DEFINITIONS.contains(&extension(path))),
            languages: languages(&files.paths),
            build: build_files(&files.paths),
            git,
        }
    }
}

/// Returns the root's path, and the folder in it that the program was started in, which the person's words go by.
fn place(root: &Path) -> String {
    let started = std::env::current_dir().ok();
    match started.as_deref().and_then(|folder| folder.strip_prefix(root).ok()).filter(|at| *at != Path::new("")) {
        Some(at) => format!("{}, all paths go from here; the person is in {}/", root.display(), at.display()),
        None => root.display().to_string(),
    }
}

/// The most changed folders that a model is informed of.
const CHANGED_FOLDERS: usize = 30;

impl PromptEnvironment {
    /// Takes from `before` what a small model is not told of: a model that is told of it is told of its changes later.
    pub fn keep_untold(&mut self, before: &PromptEnvironment) {
        (self.date, self.git) = (before.date.clone(), before.git.clone());
    }

    /// Returns what has changed since it was looked at `before`, in lines for the model; empty: nothing that matters.
    pub fn changes(&self, before: &PromptEnvironment) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = |name: &str, before: &str, now: &str, none: &str| {
            if before != now {
                lines.push(format!("- {name}: {}", if now.is_empty() { none } else { now }));
            }
        };
        line("Date", &before.date, &self.date, "");
        line("Git", before.git.as_deref().unwrap_or(""), self.git.as_deref().unwrap_or(""), "not a repository");
        line("Build files", &before.build, &self.build, "none");
        lines.extend(self.changed_folders(before));
        lines
    }

    fn changed_folders(&self, before: &PromptEnvironment) -> Option<String> {
        if self.tree == before.tree {
            return None;
        }
        if self.tree_title != before.tree_title && !before.tree.is_empty() {
            return Some("- Files: many have come or gone; use `list` to see them".into());
        }
        let folder = |row: &str| row.split_once(": ").map_or(row, |(f, _)| f).to_string();
        let is_folder = |row: &&str| !row.starts_with(LEFT_OUT);
        let old: Vec<&str> = before.tree.lines().filter(is_folder).collect();
        let new: Vec<&str> = self.tree.lines().filter(is_folder).collect();
        // What is only left out is not gone.
        let is_whole = new.len() == self.tree.lines().count();
        let still: HashSet<String> = new.iter().map(|row| folder(row)).collect();
        let changed = new.iter().filter(|row| !old.contains(*row)).map(|row| format!("  {row}"));
        let left = old.iter().filter(|row| is_whole && !still.contains(&folder(row)));
        let mut rows: Vec<String> = changed.chain(left.map(|row| format!("  {}: gone", folder(row)))).collect();
        let more = rows.len().saturating_sub(CHANGED_FOLDERS);
        rows.truncate(CHANGED_FOLDERS);
        if more > 0 {
            rows.push(format!("  and {more} more folders"));
        }
        (!rows.is_empty()).then(|| format!("- Files, in the folders that have changed:\n{}", rows.join("\n")))
    }
}

/// The files of a workspace down to some depth.
#[derive(Debug, Default)]
struct FileTree {
    /// Relative to the root, sorted.
    paths: Vec<String>,
    /// Folders at the depth where the walk ended, which may hold more.
    unseen: Vec<String>,
    complete: bool,
}

/// Walks level by level, so that a tree too large to be walked whole shows its shape rather than its first corner.
fn walk(workspace: &Workspace, ignores: &Arc<Ignores>, limits: Limits) -> FileTree {
    let begun = Instant::now();
    let mut best = FileTree::default();
    for depth in [2, 3, 4, 6, 64] {
        let Some(files) = walk_to(workspace, ignores, depth, limits, begun) else { break };
        best = files;
        if best.unseen.is_empty() {
            best.complete = true;
            break;
        }
    }
    best
}

/// Returns the files down to a depth, or `None` where a limit was reached. The first level is always taken as far as it
/// goes.
fn walk_to(
    workspace: &Workspace,
    ignores: &Arc<Ignores>,
    depth: usize,
    limits: Limits,
    begun: Instant,
) -> Option<FileTree> {
    let mut files = FileTree::default();
    let mut walk = workspace.walk_with("", ignores);
    let walk = walk.max_depth(Some(depth)).sort_by_file_name(|a, b| a.cmp(b)).build();
    for (n, entry) in walk.flatten().enumerate() {
        // A small tree is read whole, however slow the disk is.
        if n > limits.entries || n % 256 == 255 && begun.elapsed() > limits.walk {
            return (depth <= 2).then_some(files);
        }
        let Ok(path) = entry.path().strip_prefix(workspace.root()) else { continue };
        let Some(path) = path.to_str() else { continue };
        let path = path.replace(std::path::MAIN_SEPARATOR, "/");
        if entry.file_type().is_some_and(|t| t.is_dir()) {
            if entry.depth() == depth {
                files.unseen.push(path);
            }
        } else if !path.is_empty() {
            files.paths.push(path);
        }
    }
    Some(files)
}

/// Returns one line a folder. A small project shows its files; a large one how many there are.
fn tree(files: &FileTree, limits: Limits) -> (String, String) {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in &files.paths {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        folders.entry(folder).or_default().push(name);
    }
    if files.complete && files.paths.len() <= limits.whole {
        let mut lines: Vec<String> =
            folders.iter().map(|(f, names)| format!("{}: {}", folder_label(f), names.join(" "))).collect();
        if shorten(&mut lines, &folders, limits.bytes) {
            return ("All files, by folder".into(), lines.join("\n"));
        }
    }
    shape(files, &folders, limits)
}

/// Puts the number of files in place of their names, the longest line first, until the lines take `most` bytes. Returns
/// whether they do.
fn shorten(lines: &mut [String], folders: &BTreeMap<&str, Vec<&str>>, most: usize) -> bool {
    let mut size = size_of(lines);
    let counted: Vec<String> = folders.iter().map(|(f, names)| count_line(f, names)).collect();
    let mut longest: Vec<usize> = (0..lines.len()).collect();
    longest.sort_by_key(|at| std::cmp::Reverse(lines[*at].len()));
    for at in longest {
        if size <= most {
            break;
        }
        if counted[at].len() < lines[at].len() {
            size -= lines[at].len() - counted[at].len();
            lines[at].clone_from(&counted[at]);
        }
    }
    size <= most
}

/// Returns the line of a folder that says how many files are in it, and of which kinds.
fn count_line(folder: &str, names: &[&str]) -> String {
    let mut kinds: HashMap<&str, usize> = HashMap::new();
    for name in names {
        *kinds.entry(name.rsplit_once('.').map_or("", |(_, kind)| kind)).or_default() += 1;
    }
    format!("{}: {}", folder_label(folder), counted(names.len(), &kinds))
}

/// Formats as `12 files (py, md)`, the most frequent kinds first.
fn counted(count: usize, kinds: &HashMap<&str, usize>) -> String {
    let mut kinds: Vec<_> = kinds.iter().filter(|(kind, _)| !kind.is_empty()).collect();
    kinds.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let kinds: Vec<&str> = kinds.iter().take(3).map(|(kind, _)| **kind).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    format!("{count} {}{kinds}", if count == 1 { "file" } else { "files" })
}

/// Returns folders down to the depth that still fits, each with how many files are in it and below. Where that says
/// hardly anything, the next depth is taken as far as it fits.
fn shape(files: &FileTree, folders: &BTreeMap<&str, Vec<&str>>, limits: Limits) -> (String, String) {
    let mut lines = rows(files, folders, 1, limits.bytes);
    for depth in 2..=6 {
        let next = rows(files, folders, depth, limits.bytes);
        let fit = fitting(&next, limits);
        let is_cut = fit < next.len();
        if next == lines || next.len() > limits.folders || is_cut && fit.min(FEW) <= lines.len() {
            break;
        }
        lines = next;
        if is_cut {
            break;
        }
    }
    let fit = fitting(&lines, limits);
    if fit < lines.len() {
        let more = lines.len() - fit;
        lines.truncate(fit);
        lines.push(format!("{LEFT_OUT}{more} more folders"));
    }
    let title = if files.complete { "Folders, with the files in and below them" } else { "Its upper folders" };
    (format!("{title} (use `list` to see more)"), lines.join("\n"))
}

/// Fewer folders than this say hardly anything of a project.
const FEW: usize = 4;
/// The beginning of the line that says how many folders are left out.
const LEFT_OUT: &str = "… and ";
/// The room for that line, in bytes.
const REST: usize = 30;

/// Returns one line for each folder down to `depth`; the names of files at the root take half of `most` bytes at most.
fn rows(files: &FileTree, folders: &BTreeMap<&str, Vec<&str>>, depth: usize, most: usize) -> Vec<String> {
    let at = |folder: &str| folder.split('/').take(depth).collect::<Vec<_>>().join("/");
    let mut below: BTreeMap<String, (usize, HashMap<&str, usize>)> = BTreeMap::new();
    for (folder, names) in folders {
        let row = below.entry(at(folder)).or_default();
        row.0 += names.len();
        for name in names {
            *row.1.entry(name.rsplit_once('.').map_or("", |(_, e)| e)).or_default() += 1;
        }
    }
    let unseen: HashSet<String> = files.unseen.iter().map(|folder| at(folder)).collect();
    let line = |(folder, (count, kinds)): (&String, &(usize, HashMap<&str, usize>))| {
        if folder.is_empty() {
            let names = folders.get("").map_or(&[][..], Vec::as_slice);
            return format!("./: {}", first_of(names, " ", most / 2));
        }
        let more = if unseen.contains(folder) { "more than " } else { "" };
        format!("{}: {more}{}", folder_label(folder), counted(*count, kinds))
    };
    below.iter().map(line).collect()
}

fn size_of(lines: &[String]) -> usize {
    lines.iter().map(|line| line.len() + 1).sum()
}

/// Returns how many of the lines the limits allow, with room for what says how many are left out.
fn fitting(lines: &[String], limits: Limits) -> usize {
    if lines.len() <= limits.folders && size_of(lines) <= limits.bytes {
        return lines.len();
    }
    let most = limits.bytes.saturating_sub(REST);
    (0..=lines.len().min(limits.folders)).rev().find(|n| size_of(&lines[..*n]) <= most).unwrap_or(0)
}

/// Returns the first names that fit into `most` bytes, and how many more there are.
fn first_of(names: &[&str], separator: &str, most: usize) -> String {
    let (mut text, mut fit) = (String::new(), 0);
    for name in names {
        let between = if fit == 0 { "" } else { separator };
        if text.len() + between.len() + name.len() > most {
            break;
        }
        text.extend([between, name]);
        fit += 1;
    }
    match (fit, names.len() - fit) {
        (_, 0) => text,
        (0, more) => format!("{more} with long names"),
        (_, more) => format!("{text} and {more} more"),
    }
}

fn folder_label(folder: &str) -> String {
    if folder.is_empty() { "./".into() } else { format!("{folder}/") }
}

/// Languages by the extension of their files.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("Rust", &["rs"]),
    ("Python", &["py", "pyi"]),
    ("TypeScript", &["ts", "tsx", "mts", "cts"]),
    ("JavaScript", &["js", "jsx", "mjs", "cjs"]),
    ("Go", &["go"]),
    ("Java", &["java"]),
    ("Kotlin", &["kt", "kts"]),
    ("C", &["c", "h"]),
    ("C++", &["cc", "cpp", "cxx", "hpp", "hh"]),
    ("C#", &["cs"]),
    ("Swift", &["swift"]),
    ("Ruby", &["rb"]),
    ("PHP", &["php"]),
    ("Scala", &["scala"]),
    ("Haskell", &["hs"]),
    ("OCaml", &["ml", "mli"]),
    ("Elixir", &["ex", "exs"]),
    ("Lua", &["lua"]),
    ("Zig", &["zig"]),
    ("Dart", &["dart"]),
    ("Shell", &["sh", "bash", "zsh", "fish"]),
    ("SQL", &["sql"]),
    ("HTML", &["html", "htm"]),
    ("CSS", &["css", "scss", "less"]),
    ("Vue", &["vue"]),
    ("Svelte", &["svelte"]),
    ("Markdown", &["md", "mdx"]),
];

/// Extensions of files whose definitions are read.
const DEFINITIONS: &[&str] = &["rs", "py", "pyi", "ts", "tsx", "mts", "cts", "go"];

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn languages(paths: &[String]) -> String {
    let by_extension: HashMap<&str, &str> =
        LANGUAGES.iter().flat_map(|(name, all)| all.iter().map(move |e| (*e, *name))).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for path in paths {
        if let Some(name) = by_extension.get(extension(path)) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let counts =
        counts.iter().take(5).map(|(name, n)| format!("{name} ({n} {})", if *n == 1 { "file" } else { "files" }));
    counts.collect::<Vec<_>>().join(", ")
}

/// Files that say how a project is built, run and tested.
const BUILD_FILES: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "pnpm-workspace.yaml",
    "deno.json",
    "tsconfig.json",
    "pyproject.toml",
    "setup.py",
    "requirements.txt",
    "go.mod",
    "go.work",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Makefile",
    "makefile",
    "CMakeLists.txt",
    "meson.build",
    "justfile",
    "Justfile",
    "Taskfile.yml",
    "Gemfile",
    "composer.json",
    "mix.exs",
    "build.zig",
    "Package.swift",
    "pubspec.yaml",
    "stack.yaml",
    "dune-project",
    "flake.nix",
    "Dockerfile",
    "docker-compose.yml",
    "compose.yaml",
    "BUILD.bazel",
    "WORKSPACE",
];

/// The longest list of them, in bytes.
const LONGEST_BUILD: usize = 70;

fn build_files(paths: &[String]) -> String {
    let near = paths.iter().filter(|p| p.matches('/').count() <= 2);
    let mut found: Vec<&str> =
        near.filter(|p| BUILD_FILES.contains(&p.rsplit('/').next().unwrap_or(p))).map(String::as_str).collect();
    found.sort_by_key(|p| (p.matches('/').count(), *p));
    first_of(&found, ", ", LONGEST_BUILD)
}

/// The largest file of git's own that is read, in bytes.
const MAX_GIT_FILE: u64 = 64 << 10;

/// Returns branch and state of the repository that holds the root.
fn git(root: &Path, limit: Duration) -> Option<String> {
    let folder = root.ancestors().find_map(|a| git_folder(&a.join(".git")))?;
    let head = disk::read_text(&folder.join("HEAD"), MAX_GIT_FILE, Links::Follow).ok()?;
    let head = head.trim();
    let branch = match head.strip_prefix("ref: refs/heads/") {
        Some(name) => format!("branch {name}"),
        None => format!("no branch, at {}", head.get(..12).unwrap_or(head)),
    };
    let under_way = [
        ("MERGE_HEAD", "a merge is under way"),
        ("rebase-merge", "a rebase is under way"),
        ("rebase-apply", "a rebase is under way"),
        ("CHERRY_PICK_HEAD", "a cherry-pick is under way"),
        ("BISECT_LOG", "a bisect is under way"),
    ];
    let under_way = under_way.iter().find(|(file, _)| folder.join(file).exists()).map(|(_, words)| *words);
    // Differences from the last commit, as far as git reports them in time.
    let status = Repository::find(root).and_then(|repository| repository.status(limit)).ok();
    let parts = [Some(branch), under_way.map(str::to_string), status.map(|status| summary(&status))];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

/// The longest list of changed files, in bytes.
const LONGEST_STATUS: usize = 40;

/// Formats as `clean`, or `2 staged, 1 changed, 3 untracked (src/a.rs, src/b.rs and 4 more)`.
fn summary(porcelain: &str) -> String {
    let lines: Vec<&str> = porcelain.lines().filter(|l| l.len() > 3).collect();
    if lines.is_empty() {
        return "clean".into();
    }
    let count = |f: &dyn Fn(&[u8]) -> bool| lines.iter().filter(|l| f(l.as_bytes())).count();
    let conflict = |b: &[u8]| b[0] == b'U' || b[1] == b'U' || &b[..2] == b"AA" || &b[..2] == b"DD";
    let counts = [
        (count(&conflict), "in conflict"),
        (count(&|b| b[0] != b' ' && b[0] != b'?' && !conflict(b)), "staged"),
        (count(&|b| b[1] != b' ' && b[1] != b'?' && !conflict(b)), "changed"),
        (count(&|b| b[0] == b'?'), "untracked"),
    ];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}"));
    let names: Vec<&str> = lines.iter().filter_map(|l| l.get(3..)).collect();
    format!("{} ({})", counts.collect::<Vec<_>>().join(", "), first_of(&names, ", ", LONGEST_STATUS))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn world(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for path in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        dir
    }

    fn gather(root: &Path, limits: Limits) -> PromptEnvironment {
        PromptEnvironment::gather(&Workspace::open(root).unwrap(), limits, &mut Vec::new())
    }

    #[test]
    fn a_small_project_is_shown_whole() {
        let dir = world(&["Cargo.toml", "src/main.rs", "src/lib.rs", "target/x", ".shaft/archives/y"]);
        fs::write(dir.path().join(".gitignore"), "target\n").unwrap();
        let live = gather(dir.path(), Limits::default());
        assert_eq!(live.tree, "./: .gitignore Cargo.toml\nsrc/: lib.rs main.rs");
        assert_eq!((live.languages.as_str(), live.build.as_str()), ("Rust (2 files)", "Cargo.toml"));
        assert_eq!(gather(tempfile::tempdir().unwrap().path(), Limits::default()).tree, "");
    }

    #[test]
    fn long_lists_of_files_give_way_to_their_number() {
        let names: Vec<String> = (0..62).map(|i| format!("src/m{}/name_of_{i}.py", i % 5)).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.push("README.md");
        let dir = world(&names);
        let most = Limits::default().bytes;
        let live = gather(dir.path(), Limits::default());
        assert_eq!((live.tree_title.as_str(), live.tree.lines().count()), ("All files, by folder", 6));
        assert!(live.tree.len() <= most && live.tree.len() > most / 2, "{}", live.tree);
        assert!(live.tree.contains("./: README.md\n"), "{}", live.tree);
        assert!(live.tree.contains("/: 13 files (py)") && live.tree.contains(" name_of_"), "{}", live.tree);
        // Where the numbers alone are too long, upper folders are shown.
        let shape = gather(dir.path(), Limits { bytes: 60, ..Limits::default() });
        assert!(shape.tree_title.starts_with("Folders"), "{}", shape.tree);
        assert!(shape.tree.len() <= 60, "{}", shape.tree);
    }

    #[test]
    fn many_folders_with_long_names_are_cut_and_counted() {
        let names: Vec<String> =
            (0..60).map(|i| format!("packages/service-component-number-{i:02}/src/internal/handlers/f.py")).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.extend(["README.md", "pyproject.toml"]);
        let dir = world(&names);
        // On a busy machine the walk may take longer.
        let live = gather(dir.path(), Limits { walk: Duration::from_secs(60), ..Limits::default() });
        assert!(live.tree.len() <= Limits::default().bytes, "{}", live.tree);
        let folders = live.tree.lines().filter(|line| line.starts_with("packages/service-")).count();
        assert!(folders >= 5, "{}", live.tree);
        assert!(live.tree.ends_with(&format!("\n… and {} more folders", 60 - folders)), "{}", live.tree);
        let long: Vec<String> = (0..40).map(|i| format!("{i:02}{}.py", "long_name".repeat(9))).collect();
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        assert_eq!(first_of(&long, " ", 200), format!("{} {} and 38 more", long[0], long[1]));
        assert_eq!(first_of(&long, " ", 20), "40 with long names");
        let changed: String = long.iter().map(|name| format!(" M {name}\n")).collect();
        assert_eq!(summary(&changed), format!("40 changed ({})", first_of(&long, ", ", LONGEST_STATUS)));
    }

    #[test]
    fn only_what_has_changed_is_reported() {
        let before = PromptEnvironment {
            date: "Monday".into(),
            tree_title: "All".into(),
            tree: "./: a\nsrc/: b c\nold/: x".into(),
            languages: "Rust (2 files)".into(),
            git: Some("branch main; clean".into()),
            ..PromptEnvironment::default()
        };
        assert_eq!(before.changes(&before), Vec::<String>::new());
        let now = PromptEnvironment {
            tree: "./: a\nsrc/: b c d\nnew/: y".into(),
            languages: "Rust (3 files)".into(),
            git: Some("branch main; 1 untracked (new/)".into()),
            ..before.clone()
        };
        assert_eq!(
            now.changes(&before),
            [
                "- Git: branch main; 1 untracked (new/)",
                "- Files, in the folders that have changed:\n  src/: b c d\n  new/: y\n  old/: gone"
            ]
        );
        let large =
            PromptEnvironment { tree_title: "Folders".into(), tree: "src/: 900 files".into(), ..before.clone() };
        assert!(large.changes(&before)[0].contains("use `list`"));
        // Of a list that is cut nothing is called gone.
        let cut = PromptEnvironment { tree: "./: a\nnew/: y\n… and 2 more folders".into(), ..before.clone() };
        assert_eq!(cut.changes(&before), ["- Files, in the folders that have changed:\n  new/: y"]);
        let further = PromptEnvironment { tree: cut.tree.replace('2', "3"), ..cut.clone() };
        assert_eq!(further.changes(&cut), Vec::<String>::new());
        let gone = PromptEnvironment { git: None, ..before.clone() };
        assert_eq!(gone.changes(&before), ["- Git: not a repository"]);
    }

    #[test]
    fn a_large_project_shows_its_shape() {
        let names: Vec<String> = (0..90).map(|i| format!("src/m{}/deep/f{i}.rs", i % 9)).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.push("README.md");
        let dir = world(&names);
        let live = gather(dir.path(), Limits { whole: 20, folders: 12, ..Limits::default() });
        assert_eq!(live.tree.lines().count(), 10);
        assert!(live.tree.contains("src/m3/deep/: 10 files (rs)"), "{}", live.tree);
        let few = gather(dir.path(), Limits { whole: 20, folders: 5, ..Limits::default() });
        assert_eq!(few.tree, "./: README.md\nsrc/: 90 files (rs)");
        let cut = gather(dir.path(), Limits { whole: 20, entries: 30, ..Limits::default() });
        assert!(cut.tree_title.starts_with("Its upper folders"), "{}", cut.tree);
    }

    #[test]
    fn git_is_described_in_words() {
        let dir = world(&[".git/HEAD", "sub/a"]);
        fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(dir.path().join(".git/MERGE_HEAD"), "").unwrap();
        let described = git(&dir.path().join("sub"), Duration::ZERO).unwrap();
        assert!(described.starts_with("branch main; a merge is under way"), "{described}");
        assert_eq!(summary(""), "clean");
        assert_eq!(summary("M  a\n M b\n?? c\nUU d\n"), "1 in conflict, 1 staged, 1 changed, 1 untracked (a, b, c, d)");
        assert_eq!(git(tempfile::tempdir().unwrap().path(), Duration::ZERO), None);
    }
}
