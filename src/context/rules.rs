//! Rules: texts that join the prompt when the files in play match. `AGENTS.md` at the root always, the nearest one above
//! each file in play, and `.nebula/rules/*.md` by the globs in their front matter.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use super::front::{self, Front};

/// The longest part of a rule that joins a prompt, in bytes.
const MAX_RULE: usize = 64 << 10;

/// A rule that applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveRule {
    /// Its file, relative to the workspace's root.
    pub path: String,
    /// Why it applies: `workspace`, `always`, `above src/a.rs`, `matches *.rs (src/a.rs)`.
    pub reason: String,
    /// Its text without front matter.
    pub text: Arc<str>,
    /// The size of that text in bytes.
    pub bytes: usize,
}

impl ActiveRule {
    /// A rule from a file, with why it applies and its text.
    pub fn new(path: &str, reason: &str, text: &str) -> Self {
        ActiveRule { path: path.into(), reason: reason.into(), text: text.into(), bytes: text.len() }
    }
}

/// The rules of a workspace, as they were read.
#[derive(Debug, Default)]
pub struct Rules {
    /// `AGENTS.md` of the root.
    root: Option<Arc<str>>,
    files: Vec<RuleFile>,
    /// What is wrong with a rule file, in one line each that begins with its path; such a rule does not apply.
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
    /// Reads the rules of a workspace.
    pub fn load(root: &Path) -> Rules {
        let mut rules = Rules { root: read(&root.join("AGENTS.md")).map(Arc::from), ..Rules::default() };
        let folder = root.join(".nebula").join("rules");
        let mut names: Vec<String> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|e| e.ok()?.file_name().into_string().ok())
            .filter(|n| n.ends_with(".md"))
            .collect();
        names.sort();
        for name in names {
            let path = format!(".nebula/rules/{name}");
            match read(&root.join(&path)).map(|text| parse(&path, &text)) {
                Some(Ok(rule)) => rules.files.push(rule),
                Some(Err(complaint)) => rules.complaints.push(complaint),
                None => rules.complaints.push(format!("{path}: cannot be read as text")),
            }
        }
        rules
    }

    /// The rules that apply to these files (normalised paths, in the order in which they came into play), each once.
    pub fn active(&self, root: &Path, in_play: &[String]) -> Vec<ActiveRule> {
        let mut active = Vec::new();
        if let Some(text) = &self.root {
            active.push(ActiveRule::new("AGENTS.md", "workspace", text));
        }
        for path in in_play {
            if let Some(rule) = nearest(root, path)
                && !active.iter().any(|a| a.path == rule.path)
            {
                active.push(rule);
            }
        }
        active.extend(self.files.iter().filter_map(|f| f.applied(in_play)));
        active
    }

    /// The rule files that wait for a file to match: each with its globs, as they were written.
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

/// What a model that was told the rules `before` must hear once these are the ones `now`: a part for each rule that is
/// new or reads otherwise, and a line for one whose file is `gone`.
pub fn news(before: &[ActiveRule], now: &[ActiveRule], gone: &dyn Fn(&str) -> bool) -> Vec<String> {
    let told = |rule: &&ActiveRule| before.iter().any(|b| b.path == rule.path && b.text == rule.text);
    let added = now.iter().filter(|rule| !told(rule)).map(|rule| {
        let how = if before.iter().any(|b| b.path == rule.path) { "have changed" } else { "apply from here on" };
        format!("Rules of this project that {how}, from {} ({}):\n\n{}", rule.path, rule.reason, rule.text.trim())
    });
    let left = before.iter().filter(|rule| !now.iter().any(|r| r.path == rule.path) && gone(&rule.path));
    added.chain(left.map(|rule| format!("The rules from {} do not apply any more.", rule.path))).collect()
}

/// The nearest `AGENTS.md` above a file, below the root.
fn nearest(root: &Path, path: &str) -> Option<ActiveRule> {
    let mut folder = Path::new(path).parent()?;
    while !folder.as_os_str().is_empty() && folder.is_relative() {
        if let Some(text) = read(&root.join(folder).join("AGENTS.md")) {
            let at = format!("{}/AGENTS.md", folder.display());
            return Some(ActiveRule::new(&at, &format!("above {path}"), &text));
        }
        folder = folder.parent()?;
    }
    None
}

/// A rule's text, cut where it is far too long; `None` where there is none.
fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    if text.len() <= MAX_RULE {
        return Some(text);
    }
    let cut = text.floor_char_boundary(MAX_RULE);
    Some(format!("{}\n\n(the rest, {} bytes, is left out)", &text[..cut], text.len() - cut))
}

fn parse(path: &str, text: &str) -> Result<RuleFile, String> {
    let Front { fields, body, broken } = front::split(text);
    if let Some(broken) = broken {
        return Err(format!("{path}: {broken}"));
    }
    let written = ["globs", "paths", "applyTo"].iter().flat_map(|key| front::list(&fields, key));
    let globs = written
        .map(|glob| match compile(&glob) {
            Ok(matcher) => Ok((glob, matcher)),
            Err(e) => Err(format!("{path}: the glob {glob} is broken: {}", e.kind())),
        })
        .collect::<Result<_, _>>()?;
    Ok(RuleFile { path: path.to_string(), text: body.into(), globs })
}

/// A glob as people write them: without a slash it means the name, anywhere; a folder means all below it.
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

    fn active(dir: &tempfile::TempDir, in_play: &[&str]) -> Vec<(String, String)> {
        let in_play: Vec<String> = in_play.iter().map(|s| s.to_string()).collect();
        let rules = Rules::load(dir.path()).active(dir.path(), &in_play);
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
            active(&dir, &["src/deep/x/a.rs", "src/b.rs", "web/x.tsx"]),
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
    fn a_bad_glob_is_told_and_the_rest_stands() {
        let dir = world(&[(".nebula/rules/a.md", "---\nglobs: \"a[\"\n---\nx"), (".nebula/rules/b.md", "fine")]);
        let rules = Rules::load(dir.path());
        assert_eq!(rules.complaints.len(), 1);
        assert!(rules.complaints[0].starts_with(".nebula/rules/a.md: "));
        assert_eq!(rules.active(dir.path(), &[]).len(), 1);
    }

    #[test]
    fn a_rule_whose_front_matter_is_broken_does_not_apply() {
        let dir = world(&[
            (".nebula/rules/open.md", "---\nglobs: \"*.py\"\nNever closed."),
            (".nebula/rules/wait.md", "---\nglobs: \"*.py\", docs/\n---\nx"),
        ]);
        let rules = Rules::load(dir.path());
        assert_eq!(
            rules.complaints,
            [".nebula/rules/open.md: its front matter never ends; close it with a line of `---`"]
        );
        assert_eq!(rules.active(dir.path(), &[]), []);
        assert_eq!(rules.waiting(&[]), pairs(&[(".nebula/rules/wait.md", "*.py, docs/")]));
        assert_eq!(rules.waiting(&["a.py".into()]), []);
    }

    #[test]
    fn a_huge_rule_is_cut() {
        let dir = world(&[("AGENTS.md", &"é".repeat(MAX_RULE))]);
        let rule = &Rules::load(dir.path()).active(dir.path(), &[])[0];
        assert!(rule.bytes < MAX_RULE + 100 && rule.text.ends_with("left out)"));
    }
}
