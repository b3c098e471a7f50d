//! The person's own prompts: `.nebula/prompts/*.md` of the workspace and `prompts/*.md` in nebula's own folder, called
//! as `/prompt NAME arguments`.
//!
//! A prompt's text may name its arguments: `$1` … `$9`, `$ARGUMENTS` for all of them as typed, or by the names that its
//! front matter gives (`arguments: file, focus` makes `$file` and `$focus`). A text that names none gets what was typed
//! after it. `$$` is a dollar sign.

use std::fs;
use std::path::{Path, PathBuf};

use super::front_matter;
use crate::disk::{self, Links};
use crate::workspace::Workspace;

/// The largest prompt that is read, in bytes.
const MAX_PROMPT: u64 = 256 << 10;
/// The folder of the workspace's prompts.
const FOLDER: &str = ".nebula/prompts";

/// A prompt of the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserPrompt {
    /// The file's name without `.md`.
    pub name: String,
    /// `description` of its front matter, else its first line.
    pub description: String,
    /// The names of its arguments, in order.
    pub arguments: Vec<String>,
    /// Its path.
    pub path: PathBuf,
    /// Its text without front matter.
    pub text: String,
}

/// The reason why a prompt cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptsError {
    /// No prompt has that name.
    #[error("there is no prompt {name}; put one at .nebula/prompts/{name}.md{}", known(.others))]
    Unknown {
        /// The requested name.
        name: String,
        /// The names there are.
        others: Vec<String>,
    },
    /// The prompt of that name is not used.
    #[error("prompt {name} is not used: {why}")]
    Refused {
        /// The requested name.
        name: String,
        /// The error in its file.
        why: String,
    },
    /// Arguments are missing.
    #[error("prompt {name} needs {}: /prompt {name} {}", words(.missing), .usage)]
    Missing {
        /// The prompt.
        name: String,
        /// The missing arguments.
        missing: Vec<String>,
        /// All arguments, as they are typed.
        usage: String,
    },
}

/// The person's prompts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompts {
    /// All prompts, by name.
    pub all: Vec<UserPrompt>,
    /// Names of files that are not used, each with what is wrong with it.
    pub refused: Vec<(String, String)>,
}

/// Returns all prompts by name. One of the workspace replaces one of the same name in nebula's own folder.
pub fn list(workspace: &Workspace, home: Option<&Path>) -> Prompts {
    let mut found = Prompts::default();
    let folder_of_workspace = workspace.names_own(FOLDER);
    if let Err(why) = &folder_of_workspace {
        found.refused.push((String::new(), why.clone()));
    }
    for name in folder_of_workspace.unwrap_or_default() {
        let path = format!("{FOLDER}/{name}");
        found.add(workspace.full(&path), || workspace.read_own(&path, MAX_PROMPT));
    }
    let folder = home.map(|h| h.join("prompts"));
    for entry in folder.and_then(|f| fs::read_dir(f).ok()).into_iter().flatten().flatten() {
        let path = entry.path();
        let display = path.display().to_string();
        let text =
            || disk::read_text(&path, MAX_PROMPT, Links::Follow).map(Some).map_err(|e| format!("{display}: {e}"));
        found.add(path.clone(), text);
    }
    found.all.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

impl Prompts {
    /// Adds a prompt unless there is one of its name.
    fn add(&mut self, path: PathBuf, text: impl FnOnce() -> Result<Option<String>, String>) {
        let Some(name) = path.file_name().and_then(|n| n.to_str()?.strip_suffix(".md")).map(str::to_string) else {
            return;
        };
        if self.all.iter().any(|p| p.name == name) || self.refused.iter().any(|(n, _)| *n == name) {
            return;
        }
        match text() {
            Ok(Some(text)) => self.all.push(parse(name, path, &text)),
            Ok(None) => {}
            Err(why) => self.refused.push((name, why)),
        }
    }

    /// Returns the message that `/prompt NAME ARGUMENTS` stands for.
    ///
    /// # Errors
    /// When there is no such prompt, its file is refused, or it names arguments that were not given.
    pub fn expand(&self, name: &str, arguments: &str) -> Result<String, PromptsError> {
        if let Some(prompt) = self.all.iter().find(|p| p.name == name) {
            return prompt.expand(arguments);
        }
        // A folder that is refused has no name of its own: all that it holds is.
        let refused = |wanted: &str| self.refused.iter().find(|(n, _)| n == wanted);
        let refused = refused(name).or_else(|| refused(""));
        Err(match refused {
            Some((_, why)) => PromptsError::Refused { name: name.to_string(), why: why.clone() },
            None => PromptsError::Unknown {
                name: name.to_string(),
                others: self.all.iter().map(|p| p.name.clone()).collect(),
            },
        })
    }
}

impl UserPrompt {
    /// Returns its text with these arguments, as typed: parts in quotes count as one.
    ///
    /// # Errors
    /// When it names arguments that were not given.
    pub fn expand(&self, arguments: &str) -> Result<String, PromptsError> {
        let given = split(arguments);
        let mut out = String::new();
        let (mut missing, mut named) = (Vec::new(), false);
        let mut rest = self.text.as_str();
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let length = match self.argument(after) {
                Some((name, Which::All)) => {
                    named = true;
                    out.push_str(arguments.trim());
                    name.len()
                }
                Some((name, Which::Nth(n))) => {
                    named = true;
                    match given.get(n) {
                        Some(value) => out.push_str(value),
                        None => missing.push(self.arguments.get(n).cloned().unwrap_or(format!("argument {}", n + 1))),
                    }
                    name.len()
                }
                None if after.starts_with('$') => {
                    out.push('$');
                    1
                }
                None => {
                    out.push('$');
                    0
                }
            };
            rest = &after[length..];
        }
        out.push_str(rest);
        missing.dedup();
        if !missing.is_empty() {
            return Err(PromptsError::Missing { name: self.name.clone(), missing, usage: self.usage() });
        }
        if !named && !arguments.trim().is_empty() {
            out = format!("{}\n\n{}", out.trim_end(), arguments.trim());
        }
        Ok(out.trim().to_string())
    }

    /// Returns the argument named at the beginning of a text, the longest name that fits.
    fn argument<'a>(&self, text: &'a str) -> Option<(&'a str, Which)> {
        let length = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        let word = &text[..length];
        if word == "ARGUMENTS" {
            return Some((word, Which::All));
        }
        if let Some(n) = self.arguments.iter().position(|a| a == word) {
            return Some((word, Which::Nth(n)));
        }
        let digit = text.chars().next()?.to_digit(10)?;
        let n = usize::try_from(digit).ok()?.checked_sub(1)?;
        Some((&text[..1], Which::Nth(n)))
    }

    /// Returns its arguments as they are typed: `FILE FOCUS`; empty where it names none.
    pub fn usage(&self) -> String {
        if self.arguments.is_empty() {
            let has_arguments =
                self.text.contains("$ARGUMENTS") || ('1'..='9').any(|n| self.text.contains(&format!("${n}")));
            return if has_arguments { "ARGUMENTS…".into() } else { String::new() };
        }
        self.arguments.iter().map(|a| a.to_uppercase()).collect::<Vec<_>>().join(" ")
    }
}

enum Which {
    All,
    Nth(usize),
}

fn parse(name: String, path: PathBuf, whole: &str) -> UserPrompt {
    let front = front_matter::split(whole);
    let named = front_matter::list(&front.fields, "arguments");
    // A name has no spaces: `file, focus` and `file focus` are the same, and so is `$file`.
    let arguments: Vec<String> = named
        .iter()
        .flat_map(|names| names.split_whitespace())
        .map(|name| name.trim_matches(['$', '<', '>']).to_string())
        .collect();
    let first = front.body.lines().map(|l| l.trim().trim_start_matches('#').trim()).find(|l| !l.is_empty());
    let description = front_matter::one(&front.fields, "description").or(first).unwrap_or_default().to_string();
    UserPrompt { name, description, arguments, path, text: front.body.to_string() }
}

/// Splits a text into words, with parts in double quotes as one.
fn split(arguments: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut quoted, mut begun) = (false, false);
    for c in arguments.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                begun = true;
            }
            c if c.is_whitespace() && !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            c => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

fn known(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(" (there are: {})", names.join(", ")) }
}

fn words(list: &[String]) -> String {
    list.join(" and ")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    fn prompt(text: &str, arguments: &[&str]) -> UserPrompt {
        UserPrompt {
            name: "p".into(),
            description: String::new(),
            arguments: arguments.iter().map(|s| s.to_string()).collect(),
            path: PathBuf::new(),
            text: text.into(),
        }
    }

    #[test]
    fn arguments_take_their_places() {
        let ok = |p: UserPrompt, typed: &str| p.expand(typed).unwrap();
        assert_eq!(ok(prompt("Look at $1 for $2.", &[]), "a.rs \"slow code\""), "Look at a.rs for slow code.");
        assert_eq!(ok(prompt("$file costs $$5: $ARGUMENTS", &["file"]), "a b"), "a costs $5: a b");
        assert_eq!(ok(prompt("Review.\n", &[]), "only a.rs"), "Review.\n\nonly a.rs");
        assert_eq!(ok(prompt("$HOME stays, $ too", &[]), ""), "$HOME stays, $ too");
        let missing = prompt("$file $focus", &["file", "focus"]).expand("a").unwrap_err();
        assert_eq!(missing.to_string(), "prompt p needs focus: /prompt p FILE FOCUS");
    }

    #[test]
    fn prompts_are_listed_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let (root, home) = (dir.path().join("w"), dir.path().join("h"));
        fs::create_dir_all(root.join(".nebula/prompts")).unwrap();
        fs::create_dir_all(home.join("prompts")).unwrap();
        fs::write(root.join(".nebula/prompts/review.md"), "# Review it\n").unwrap();
        fs::write(home.join("prompts/review.md"), "other").unwrap();
        fs::write(
            home.join("prompts/explain.md"),
            "---\ndescription: Says how\narguments: [file]\n---\nExplain $file.",
        )
        .unwrap();
        fs::write(home.join("prompts/fix.md"), "---\narguments: $file focus\n---\nFix $file for $focus.").unwrap();
        let prompts = list(&Workspace::open(&root).unwrap(), Some(&home));
        let display: Vec<_> = prompts.all.iter().map(|p| (p.name.as_str(), p.description.as_str())).collect();
        assert_eq!(display, [("explain", "Says how"), ("fix", "Fix $file for $focus."), ("review", "Review it")]);
        assert_eq!(prompts.expand("fix", "a.rs speed").unwrap(), "Fix a.rs for speed.");
        assert_eq!(prompts.expand("explain", "a.rs").unwrap(), "Explain a.rs.");
        let unknown = prompts.expand("x", "").unwrap_err().to_string();
        assert_eq!(unknown, "there is no prompt x; put one at .nebula/prompts/x.md (there are: explain, fix, review)");
    }

    #[test]
    fn what_is_no_file_of_the_workspace_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("w");
        fs::create_dir_all(root.join(".nebula/prompts")).unwrap();
        fs::write(dir.path().join("leak.md"), "the secret").unwrap();
        symlink("../../../leak.md", root.join(".nebula/prompts/leak.md")).unwrap();
        mkfifoat(CWD, root.join(".nebula/prompts/pipe.md"), Mode::RUSR).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let prompts = list(&workspace, None);
        assert_eq!(prompts.all, []);
        let said = |prompts: &Prompts, name: &str| prompts.expand(name, "").unwrap_err().to_string();
        let leak = said(&prompts, "leak");
        assert!(leak.starts_with("prompt leak is not used: .nebula/prompts/leak.md lies outside"), "{leak}");
        assert!(said(&prompts, "pipe").contains("is a pipe"));
        fs::remove_dir_all(root.join(".nebula/prompts")).unwrap();
        symlink("../..", root.join(".nebula/prompts")).unwrap();
        assert!(said(&list(&workspace, None), "leak").contains(".nebula/prompts lies outside the workspace"));
        // A prompt of one's own is refused for what is wrong with it, not for the folder of the workspace.
        let home = dir.path().join("home");
        fs::create_dir_all(home.join("prompts")).unwrap();
        mkfifoat(CWD, home.join("prompts/own.md"), Mode::RUSR).unwrap();
        assert!(said(&list(&workspace, Some(&home)), "own").ends_with("own.md: it is a pipe, not a regular file"));
    }
}
