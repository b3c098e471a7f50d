//! The commit of each line of a file.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{Error, Repository};

/// Characters of a commit's name.
const SHORT: usize = 8;

/// The words of git for a file that is in no commit, or a repository that has none.
const NOT_COMMITTED: &[&str] = &["no such path", "no such ref: HEAD"];

/// A commit that a line came with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineCommit {
    /// The beginning of its name.
    pub id: String,
    /// The author of the line.
    pub author: String,
    /// The time, in unix milliseconds.
    pub at: i64,
    /// The first line of its message.
    pub summary: String,
}

impl Repository {
    /// Returns the commit of each line of the file at an absolute path, as it lies on disk; none: the line is in no
    /// commit yet. Of a long file the last lines may be missing, and all are of a file that no last commit has.
    ///
    /// # Errors
    /// When the file is outside the repository, or git fails, or takes longer.
    pub fn blame(&self, path: &Path, limit: Duration) -> Result<Vec<Option<Arc<LineCommit>>>, Error> {
        let outside = || Error::Failed(format!("{} lies outside the repository", path.display()));
        let path = self.inside(path).ok_or_else(outside)?;
        let told = self.read(&["blame", "--porcelain", "--no-textconv", "--no-ext-diff", "--", &path], limit);
        match told {
            Err(Error::Failed(why)) if NOT_COMMITTED.iter().any(|words| why.contains(words)) => Ok(Vec::new()),
            told => Ok(lines_of(&told?)),
        }
    }
}

/// Reads what `git blame --porcelain` prints: for each line a head with the commit's name, what is known of the commit
/// before its first line, and the line itself after a tab.
fn lines_of(told: &str) -> Vec<Option<Arc<LineCommit>>> {
    let mut known: HashMap<String, LineCommit> = HashMap::new();
    let mut done: HashMap<String, Arc<LineCommit>> = HashMap::new();
    let (mut lines, mut commit) = (Vec::new(), String::new());
    for row in told.lines() {
        if row.starts_with('\t') {
            let uncommitted = commit.bytes().all(|byte| byte == b'0');
            let found = known.get(&commit).filter(|_| !uncommitted);
            lines
                .push(found.map(|found| done.entry(commit.clone()).or_insert_with(|| Arc::new(found.clone())).clone()));
            continue;
        }
        let (key, value) = row.split_once(' ').unwrap_or((row, ""));
        if key.len() >= 40 && key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            commit = key.to_string();
            known
                .entry(commit.clone())
                .or_insert_with(|| LineCommit { id: key[..SHORT].into(), ..LineCommit::default() });
            continue;
        }
        let Some(facts) = known.get_mut(&commit) else { continue };
        match key {
            "author" => facts.author = value.to_string(),
            "author-time" => facts.at = value.parse().unwrap_or(0_i64).saturating_mul(1_000),
            "summary" => facts.summary = value.to_string(),
            _ => {}
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_the_commit_that_it_came_with() {
        let (one, none) = ("a".repeat(40), "0".repeat(40));
        let told = format!(
            "{one} 1 1 1\nauthor Mia\nauthor-time 100\nsummary Add a cart\nfilename f\n\tfirst\n{none} 2 2 1\n\
             author Not Committed Yet\nauthor-time 200\nsummary x\n\tauthor of lies\n{one} 3 3\n\tthird\n"
        );
        let lines = lines_of(&told);
        let commit =
            LineCommit { id: "aaaaaaaa".into(), author: "Mia".into(), at: 100_000, summary: "Add a cart".into() };
        let commit = Some(Arc::new(commit));
        assert_eq!(lines, [commit.clone(), None, commit]);
    }
}
