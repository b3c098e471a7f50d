//! Rules: texts that join the prompt when the files in play match. `AGENTS.md` at the root always, the nearest one
//! above each file in play, and `.nebula/rules/*.md` by the globs in their front matter.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use super::front_matter::{self, FrontMatter};
use crate::workspace::Workspace;

/// The longest part of a rule that joins a prompt, in bytes.
const MAX_RULE: usize = 64 << 10;
/// The largest rule file that is read, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// A rule that applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveRule {
    /// Its file, relative to the workspace's root.
    pub path: String,
    /// The reason why it applies: `workspace`, `always`, `above src/a.rs`, `matches *.rs (src/a.rs)`.
    pub reason: String,
    /// Its text without front matter.
    pub text: Arc<str>,
    /// The size of that text in bytes.
    pub bytes: usize,
}

impl ActiveRule {
    /// Creates a rule from a file, with why it applies and its text.
    pub fn new(path: &str, reason: &str, text: &str) -> Self {
        ActiveRule { path: path.into(), reason: reason.into(), text: text.into(), bytes: text.len() }
    }
}

/// The rules that apply to some files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Active {
    /// Each once.
    pub rules: Vec<ActiveRule>,
    /// Errors in an `AGENTS.md` above one of the files, in one line each.
    pub complaints: Vec<String>,
}

/// The rules of a workspace, as they were read.
#[derive(Debug, Default)]
pub struct Rules {
    /// `AGENTS.md` of the root.
    root: Option<Arc<str>>,
    files: Vec<RuleFile>,
    /// Errors in rule files, in one line each that begins with the path; such a rule does not apply.
    pub complaints: Vec<String>,
}

#[derive(Debug)]
struct RuleFile {
    path: String,
    text: Arc<str>,
    /// Each glob as it was written; none: the rule applies always.
    globs: Vec<(String, GlobMatcher)>,
}

impl Rules {
    /// Reads the rules of a workspace. A file that leads out of it, or is no regular file, becomes a complaint.
    pub fn load(workspace: &Workspace) -> Rules {
        let mut rules = Rules::default();
        rules.root = read_rule(workspace, "AGENTS.md", &mut rules.complaints).map(Arc::from);
        let names = workspace.names_own(".nebula/rules").unwrap_or_else(|why| {
            rules.complaints.push(why);
            Vec::new()
        });
        for name in names.iter().filter(|n| n.ends_with(".md")) {
            let path = format!(".nebula/rules/{name}");
            match read_rule(workspace, &path, &mut rules.complaints).map(|text| parse(&path, &text)) {
                Some(Ok(rule)) => rules.files.push(rule),
                Some(Err(complaint)) => rules.complaints.push(complaint),
                None => {}
            }
        }
        rules
    }

    /// Returns the rules that apply to these files (normalised paths, in the order in which they came into play), each
    /// once.
    pub fn active(&self, workspace: &Workspace, in_play: &[String]) -> Active {
        let mut active = Active::default();
        if let Some(text) = &self.root {
            active.rules.push(ActiveRule::new("AGENTS.md", "workspace", text));
        }
        // Files of one folder have the same rule above them.
        let (mut last, mut seen) = ("", HashSet::from([""]));
        for path in in_play {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            if folder == last || !seen.insert(folder) {
                continue;
            }
            last = folder;
            if let Some(rule) = nearest(workspace, path, &mut active.complaints)
                && !active.rules.iter().any(|a| a.path == rule.path)
            {
                active.rules.push(rule);
            }
        }
        active.complaints.sort();
        active.complaints.dedup();
        active.rules.extend(self.files.iter().filter_map(|f| f.applied(in_play)));
        active
    }

    /// Returns the rule files that wait for a file to match: each with its globs, as they were written.
    pub fn waiting(&self, in_play: &[String]) -> Vec<(String, String)> {
        let waiting = self.files.iter().filter(|f| f.applied(in_play).is_none());
        waiting
            .map(|f| (f.path.clone(), f.globs.iter().map(|(glob, _)| glob.as_str()).collect::<Vec<_>>().join(", ")))
            .collect()
    }
}

impl RuleFile {
    fn applied(&self, in_play: &[String]) -> Option<ActiveRule> {
        let rule = |reason: &str| ActiveRule::new(&self.path, reason, &self.text);
        if self.globs.is_empty() {
            return Some(rule("always"));
        }
        let matched = in_play.iter().find_map(|p| Some((p, self.globs.iter().find(|(_, g)| g.is_match(p))?)));
        matched.map(|(path, (glob, _))| rule(&format!("matches {glob} ({path})")))
    }
}

/// Returns what a model that was told the rules `before` must be told once these are the ones `now`: a part for each rule
/// that is new or reads otherwise, and a line for one whose file is `gone`.
pub fn news(before: &[ActiveRule], now: &[ActiveRule], gone: &dyn Fn(&str) -> bool) -> Vec<String> {
    let unchanged = |rule: &&ActiveRule| before.iter().any(|b| b.path == rule.path && b.text == rule.text);
    let added = now.iter().filter(|rule| !unchanged(rule)).map(|rule| {
        let how = if before.iter().any(|b| b.path == rule.path) { "have changed" } else { "apply from here on" };
        format!("Rules of this project that {how}, from {} ({}):\n\n{}", rule.path, rule.reason, rule.text.trim())
    });
    let left = before.iter().filter(|rule| !now.iter().any(|r| r.path == rule.path) && gone(&rule.path));
    added.chain(left.map(|rule| format!("The rules from {} do not apply any more.", rule.path))).collect()
}

/// Returns the nearest `AGENTS.md` above a file, below the root. One that is refused is passed over.
fn nearest(workspace: &Workspace, path: &str, complaints: &mut Vec<String>) -> Option<ActiveRule> {
    let mut folder = Path::new(path).parent()?;
    while !folder.as_os_str().is_empty() && folder.is_relative() {
        let at = format!("{}/AGENTS.md", folder.display());
        if let Some(text) = read_rule(workspace, &at, complaints) {
            return Some(ActiveRule::new(&at, &format!("above {path}"), &text));
        }
        folder = folder.parent()?;
    }
    None
}

/// Returns a rule's text, cut where it is far too long; `None` where there is none, or where it is refused.
fn read_rule(workspace: &Workspace, path: &str, complaints: &mut Vec<String>) -> Option<String> {
    let text = workspace.read_own(path, MAX_FILE).unwrap_or_else(|why| {
        complaints.push(why);
        None
    })?;
    if text.len() <= MAX_RULE {
        return Some(text);
    }
    let cut = text.floor_char_boundary(MAX_RULE);
    Some(format!("{}\n\n(the rest, {} bytes, is left out)", &text[..cut], text.len() - cut))
}

fn parse(path: &str, text: &str) -> Result<RuleFile, String> {
    let FrontMatter { fields, body, broken } = front_matter::split(text);
    if let Some(broken) = broken {
        return Err(format!("{path}: {broken}"));
    }
    let written = ["globs", "paths", "applyTo"].iter().flat_map(|key| front_matter::list(&fields, key));
    let globs = written
        .map(|glob| match compile(&glob) {
            Ok(matcher) => Ok((glob, matcher)),
            Err(e) => Err(format!("{path}: the glob {glob} is broken: {}", e.kind())),
        })
        .collect::<Result<_, _>>()?;
    Ok(RuleFile { path: path.to_string(), text: body.into(), globs })
}

/// Returns a glob as people write them: without a slash it means the name, anywhere; a folder means all below it.
fn compile(written: &str) -> Result<GlobMatcher, globset::Error> {
    let glob = written.trim_start_matches("./").trim_start_matches('/');
    let glob = match glob.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None if glob.contains('/') => glob.to_string(),
        None => format!("**/{glob}"),
    };
    Ok(GlobBuilder::new(&glob).literal_separator(true).build()?.compile_matcher())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    fn world(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn open(dir: &tempfile::TempDir) -> Workspace {
        Workspace::open(dir.path()).unwrap()
    }

    fn active(dir: &tempfile::TempDir, in_play: &[&str]) -> Vec<(String, String)> {
        let in_play: Vec<String> = in_play.iter().map(|s| s.to_string()).collect();
        let open = open(dir);
        let rules = Rules::load(&open).active(&open, &in_play).rules;
        rules.into_iter().map(|r| (r.path, r.reason)).collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    }

    #[test]
    fn rules_join_by_the_files_in_play() {
        let dir = world(&[
            ("AGENTS.md", "root"),
            ("src/AGENTS.md", "src"),
            ("src/deep/AGENTS.md", "deep"),
            (".nebula/rules/always.md", "no front matter"),
            (".nebula/rules/rust.md", "---\nglobs: \"*.rs\"\n---\nrust"),
            (".nebula/rules/docs.md", "---\npaths:\n  - docs/\n  - README.md\n---\ndocs"),
            (".nebula/rules/web.md", "---\ndescription: x\napplyTo: 'web/**/*.{ts,tsx}, *.css'\n---\nweb"),
        ]);
        assert_eq!(active(&dir, &[]), pairs(&[("AGENTS.md", "workspace"), (".nebula/rules/always.md", "always")]));
        assert_eq!(
            active(&dir, &["src/deep/x/a.rs", "src/b.rs", "src/deep/x/c.rs", "src/d.rs", "web/x.tsx"]),
            pairs(&[
                ("AGENTS.md", "workspace"),
                ("src/deep/AGENTS.md", "above src/deep/x/a.rs"),
                ("src/AGENTS.md", "above src/b.rs"),
                (".nebula/rules/always.md", "always"),
                (".nebula/rules/rust.md", "matches *.rs (src/deep/x/a.rs)"),
                (".nebula/rules/web.md", "matches web/**/*.{ts,tsx} (web/x.tsx)"),
            ])
        );
        assert_eq!(active(&dir, &["docs/a/b.txt"]).last().unwrap().1, "matches docs/ (docs/a/b.txt)");
    }

    #[test]
    fn a_bad_glob_is_reported_and_the_rest_stands() {
        let dir = world(&[(".nebula/rules/a.md", "---\nglobs: \"a[\"\n---\nx"), (".nebula/rules/b.md", "fine")]);
        let rules = Rules::load(&open(&dir));
        assert_eq!(rules.complaints.len(), 1);
        assert!(rules.complaints[0].starts_with(".nebula/rules/a.md: "));
        assert_eq!(rules.active(&open(&dir), &[]).rules.len(), 1);
    }

    #[test]
    fn a_rule_whose_front_matter_is_broken_does_not_apply() {
        let dir = world(&[
            (".nebula/rules/open.md", "---\nglobs: \"*.py\"\nNever closed."),
            (".nebula/rules/wait.md", "---\nglobs: \"*.py\", docs/\n---\nx"),
        ]);
        let rules = Rules::load(&open(&dir));
        assert_eq!(
            rules.complaints,
            [".nebula/rules/open.md: its front matter never ends; close it with a line of `---`"]
        );
        assert_eq!(rules.active(&open(&dir), &[]).rules, []);
        assert_eq!(rules.waiting(&[]), pairs(&[(".nebula/rules/wait.md", "*.py, docs/")]));
        assert_eq!(rules.waiting(&["a.py".into()]), []);
    }

    #[test]
    fn a_huge_rule_is_cut() {
        let dir = world(&[("AGENTS.md", &"é".repeat(MAX_RULE))]);
        let rule = &Rules::load(&open(&dir)).active(&open(&dir), &[]).rules[0];
        assert!(rule.bytes < MAX_RULE + 100 && rule.text.ends_with("left out)"));
    }

    #[test]
    fn what_is_no_file_of_the_workspace_is_named_and_not_read() {
        let dir = world(&[("secret.md", "the secret"), ("w/src/a.rs", ""), ("w/.nebula/rules/fine.md", "fine")]);
        let at = |name: &str| dir.path().join("w").join(name);
        symlink("../secret.md", at("AGENTS.md")).unwrap();
        symlink("../../../secret.md", at(".nebula/rules/leak.md")).unwrap();
        symlink("/dev/zero", at(".nebula/rules/zero.md")).unwrap();
        mkfifoat(CWD, at("src/AGENTS.md"), Mode::RUSR).unwrap();
        mkfifoat(CWD, at(".nebula/rules/pipe.md"), Mode::RUSR).unwrap();
        let workspace = Workspace::open(&dir.path().join("w")).unwrap();
        let rules = Rules::load(&workspace);
        let active = rules.active(&workspace, &["src/a.rs".into()]);
        assert_eq!(active.rules, [ActiveRule::new(".nebula/rules/fine.md", "always", "fine")]);
        let said: Vec<&str> = rules.complaints.iter().chain(&active.complaints).map(String::as_str).collect();
        let begin = |text: &str, with: &str| text.starts_with(with);
        assert_eq!(said.len(), 5, "{said:?}");
        assert!(begin(said[0], "AGENTS.md lies outside the workspace"), "{said:?}");
        assert!(begin(said[1], ".nebula/rules/leak.md lies outside the workspace"), "{said:?}");
        assert!(begin(said[2], ".nebula/rules/pipe.md is a pipe"), "{said:?}");
        assert!(begin(said[3], ".nebula/rules/zero.md lies outside the workspace"), "{said:?}");
        assert!(begin(said[4], "src/AGENTS.md is a pipe"), "{said:?}");

        fs::remove_dir_all(at(".nebula/rules")).unwrap();
        symlink("../..", at(".nebula/rules")).unwrap();
        let complaints = Rules::load(&workspace).complaints;
        assert!(begin(&complaints[1], ".nebula/rules lies outside the workspace"), "{complaints:?}");
    }
}
