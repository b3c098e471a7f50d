//! The input for a commit message by a model: the staged diff and the style of earlier messages. The person edits the
//! proposal; nothing here commits.

use std::path::Path;
use std::time::Duration;

use super::templates::{Templates, filled};
use crate::git::{self, Repository};

/// Bytes of diff that are sent; of a longer one, the list of files and its beginning.
const MAX_DIFF: usize = 120 << 10;
/// Files that are named with their counts.
const MOST_FILES: usize = 200;
/// Earlier messages that are shown.
const RECENT: usize = 8;
/// The time limit for each answer of git.
const LIMIT: Duration = Duration::from_secs(30);

/// The staged changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedChanges {
    /// The diff, as `git diff --cached` prints it.
    pub diff: String,
    /// Its files with their counts, as `--stat` prints them.
    pub stat: String,
    /// The first lines of the newest messages, newest first.
    pub recent: Vec<String>,
}

/// The reason why there is nothing to write a message for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// Git did not do it, or is not there.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// Nothing is staged.
    #[error("nothing is staged: choose what to commit with `git add`")]
    NothingStaged,
}

/// Returns what is staged in the repository that holds this folder.
///
/// # Errors
/// When there is no git, no repository, or nothing staged.
pub fn staged(root: &Path) -> Result<StagedChanges, CommitError> {
    let repository = Repository::find(root)?;
    let diff = repository.staged_diff(LIMIT)?;
    if diff.trim().is_empty() {
        return Err(CommitError::NothingStaged);
    }
    let stat = repository.staged_counts(MOST_FILES, LIMIT)?;
    // A repository without commits has no log: that is no error.
    let recent = repository.recent_subjects(RECENT, LIMIT).unwrap_or_default();
    Ok(StagedChanges { diff, stat, recent })
}

/// Returns the prompt that asks for a message. `language`: of the message; `None`: that of the recent ones.
pub fn prompt(templates: &Templates, staged: &StagedChanges, language: Option<&str>) -> String {
    let template = templates.get("commit.md").map(|t| t.text).unwrap_or_default();
    let recent = match staged.recent.as_slice() {
        [] => "There are no messages yet.".to_string(),
        all => format!("Recent messages, newest first:\n\n{}", all.join("\n")),
    };
    let language = language.unwrap_or("that of the recent messages, else English");
    filled(&template, &[("language", language), ("recent", &recent), ("diff", &diff_text(staged))])
}

/// Returns a model's answer as a message: without a fence or quotes around it, without white space at line ends.
pub fn tidied(answer: &str) -> String {
    let mut text = answer.trim();
    if let Some(rest) = text.strip_prefix("```") {
        let inner = rest.split_once('\n').map_or("", |(_, inner)| inner);
        text = inner.trim_end().strip_suffix("```").unwrap_or(inner).trim();
    }
    let quoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).filter(|t| !t.contains('"'));
    let lines: Vec<&str> = quoted.unwrap_or(text).lines().map(str::trim_end).collect();
    lines.join("\n").trim().to_string()
}

fn diff_text(staged: &StagedChanges) -> String {
    let stat = staged.stat.trim_end();
    if staged.diff.len() <= MAX_DIFF {
        return format!("The staged diff:\n\n{stat}\n\n{}", staged.diff.trim_end());
    }
    let cut = staged.diff.floor_char_boundary(MAX_DIFF);
    let cut = staged.diff[..cut].rfind('\n').unwrap_or(cut);
    format!("The staged diff, its beginning (the rest is left out):\n\n{stat}\n\n{}", &staged.diff[..cut])
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn prompts_hold_what_is_staged() {
        let staged = StagedChanges {
            diff: "diff --git a/a b/a\n+{{recent}}\n".into(),
            stat: " a | 1 +".into(),
            recent: vec!["Add b".into()],
        };
        let templates = Templates::default();
        let text = prompt(&templates, &staged, Some("日本語"));
        assert!(text.contains("Language: 日本語.") && text.contains("newest first:\n\nAdd b"));
        assert!(text.contains("+{{recent}}"), "the diff is no template");
        let long = StagedChanges { diff: "+line\n".repeat(40_000), ..staged };
        let text = prompt(&templates, &long, None);
        assert!(text.len() < MAX_DIFF + 3_000 && text.contains("the rest is left out") && text.contains(" a | 1 +"));
    }

    #[test]
    fn answers_become_messages() {
        for answer in ["Add a\n\nWhy.", "```text\nAdd a  \n\nWhy.\n```\n", "\"Add a\n\nWhy.\""] {
            assert_eq!(tidied(answer), "Add a\n\nWhy.");
        }
        assert_eq!(tidied("Say \"no\""), "Say \"no\"");
    }

    #[test]
    fn names_are_given_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("在庫.md"), "price\n").unwrap();
        for arguments in [&["init", "-q"][..], &["add", "."]] {
            let done = Command::new("git").args(arguments).current_dir(dir.path()).status();
            assert!(done.unwrap().success());
        }
        let staged = staged(dir.path()).unwrap();
        assert!(staged.stat.contains("在庫.md") && staged.diff.contains("+++ b/在庫.md"), "{staged:?}");
    }

    #[test]
    fn a_folder_without_a_repository_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(staged(dir.path()), Err(CommitError::Git(git::Error::NoRepository)));
    }
}
