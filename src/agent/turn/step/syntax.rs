//! Syntax errors that a change brings into a file, told with its result: a compiler says so too, but later.

use std::collections::BTreeMap;

use crate::agent::change::execute_proposal::ProposalResult;
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

/// Returns the written files that do not parse as well as before. The texts are parsed on the blocking pool.
#[cfg(feature = "code")]
pub async fn broken(proposal: &Proposal, result: &ProposalResult) -> BrokenFiles {
    use crate::agent::session::conversation::first_words;

    type Bytes = std::sync::Arc<[u8]>;
    let read = |path: &str, bytes: &Bytes| crate::code::SourceFile::read(path, bytes).ok();
    /// The longest text of a line that is told.
    const LONGEST: usize = 120;
    let of_file = |(path, bytes): &(String, Option<Bytes>)| {
        let file = proposal.files.iter().find(|file| file.path == *path)?;
        let before = if file.before.is_absent() { Bytes::default() } else { Bytes::clone(file.before.bytes()?) };
        crate::code::SourceLanguage::of_path(path)?;
        Some((path.clone(), before, bytes.clone()?))
    };
    let files: Vec<(String, Bytes, Bytes)> = result.written.iter().filter_map(of_file).collect();
    if files.is_empty() {
        return BrokenFiles::new();
    }
    let parsed = tokio::task::spawn_blocking(move || {
        let of_file = |(path, before, after): (String, Bytes, Bytes)| {
            let number = crate::code::broken_line(&read(&path, &before)?, &read(&path, &after)?)?;
            let text = String::from_utf8_lossy(&after);
            let text = first_words(text.lines().nth(number - 1).unwrap_or_default().trim(), LONGEST);
            Some((path, BrokenLine { number, text }))
        };
        files.into_iter().filter_map(of_file).collect()
    });
    parsed.await.unwrap_or_default()
}

/// Returns nothing: this program reads no definitions.
#[cfg(not(feature = "code"))]
pub async fn broken(_: &Proposal, _: &ProposalResult) -> BrokenFiles {
    BrokenFiles::new()
}
