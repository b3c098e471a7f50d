//! Syntax errors that a change brings into a file, told with its result: a compiler says so too, but later.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::agent::change::execute_proposal::ProposalResult;
use crate::agent::session::conversation::first_words;
use crate::edit;
use crate::proposal::Proposal;

/// The line of its first new syntax error, by file.
pub type BrokenFiles = BTreeMap<String, BrokenLine>;

/// A line that does not parse, and did before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenLine {
    /// Its number, from 1.
    pub number: usize,
    /// Its text.
    pub text: String,
}

impl BrokenLine {
    /// Returns the sentence for the model.
    pub fn for_model(&self, path: &str) -> String {
        let BrokenLine { number, text } = self;
        format!("{path}: line {number} has a syntax error that was not there before: `{text}`. Correct it.")
    }

    /// Returns the words for the screen, beside others.
    pub fn summary(&self, others: &str) -> String {
        let gap = if others.is_empty() { "" } else { ", " };
        format!("{others}{gap}syntax error in line {}", self.number)
    }
}

/// The bytes of a file.
type Bytes = Arc<[u8]>;
/// The longest text of a line that is told.
const LONGEST: usize = 120;

/// Returns the written files that do not parse as well as before. The texts are parsed on the blocking pool.
pub async fn broken(proposal: &Proposal, result: &ProposalResult) -> BrokenFiles {
    let of_file = |(path, bytes): &(String, Option<Bytes>)| {
        let file = proposal.files.iter().find(|file| file.path == *path)?;
        let before = if file.before.is_absent() { Bytes::default() } else { Bytes::clone(file.before.bytes()?) };
        is_read(path).then_some((path.clone(), before, bytes.clone()?))
    };
    let files: Vec<(String, Bytes, Bytes)> = result.written.iter().filter_map(of_file).collect();
    if files.is_empty() {
        return BrokenFiles::new();
    }
    let parsed = tokio::task::spawn_blocking(move || {
        let of_file = |(path, before, after): (String, Bytes, Bytes)| {
            let number = broken_line(&path, &before, &after)?;
            let text = String::from_utf8_lossy(&after);
            let text = first_words(text.lines().nth(number - 1).unwrap_or_default().trim(), LONGEST);
            Some((path, BrokenLine { number, text }))
        };
        files.into_iter().filter_map(of_file).collect()
    });
    parsed.await.unwrap_or_default()
}

/// Returns whether files of that name are parsed.
fn is_read(path: &str) -> bool {
    #[cfg(feature = "code")]
    if crate::code::SourceLanguage::of_path(path).is_some() {
        return true;
    }
    edit::is_data(path)
}

/// Returns the first line, from 1, of what does not parse any more in a file.
fn broken_line(path: &str, before: &Bytes, after: &Bytes) -> Option<usize> {
    #[cfg(feature = "code")]
    if crate::code::SourceLanguage::of_path(path).is_some() {
        let read = |bytes: &Bytes| crate::code::SourceFile::read(path, bytes).ok();
        return crate::code::broken_line(&read(before)?, &read(after)?);
    }
    let text = |bytes| std::str::from_utf8(bytes).ok();
    edit::broken_line(path, text(before)?, text(after)?)
}
