//! Restores by the person, as the chat shows them and the model is told.

use crate::memory::ChangesetRecord;
use crate::proposal::{REPOSITORY, is_in_repository};
use crate::protocol::{Level, Notice};
use crate::text::clean::clean_line;
use crate::text::number::plural;

/// An undo, redo or restore by the person.
pub struct PersonRestore {
    title: String,
    paths: String,
}

impl PersonRestore {
    /// Creates it from its title, `undo of …`, and the files that were written. Of many the first are named: the model
    /// reads this, too.
    pub fn new(title: &str, mut paths: Vec<String>) -> Self {
        const NAMED: usize = 20;
        // What memory knows of ops of a store alone names no files.
        if paths.is_empty() {
            paths.push("definitions of a Strand store".into());
        }
        // The repository is restored as one, and not what a reader looks for.
        let has_repository = paths.extract_if(.., |path| is_in_repository(path)).count() > 0;
        paths.sort();
        paths.extend(has_repository.then(|| REPOSITORY.into()));
        let more = match paths.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {}", plural(more, "more file")),
        };
        paths.truncate(NAMED);
        let names: Vec<_> = paths.iter().map(|path| clean_line(path)).collect();
        PersonRestore { title: title.into(), paths: names.join(", ") + &more }
    }

    /// Creates it from what memory knows of it.
    pub fn of(record: &ChangesetRecord) -> Self {
        Self::new(&record.cause.title, record.files.iter().map(|file| file.path.clone()).collect())
    }

    /// Returns its entry in the chat.
    pub fn notice(&self) -> Notice {
        Notice::new(Level::Info, format!("restored {}", self.paths), self.title.clone())
    }

    /// Returns it in one sentence.
    pub fn words(&self) -> String {
        format!("restored {} ({})", self.paths, self.title)
    }

    /// Returns what the model is told of it.
    pub fn note(&self) -> String {
        let PersonRestore { title, paths } = self;
        format!("Meanwhile the person restored: {paths} ({title}). Read these files again before you edit them.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_restored_files_the_first_are_named() {
        let words = |count: usize| PersonRestore::new("undo of x", (10..10 + count).map(|n| n.to_string()).collect());
        let first = (10..30).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
        assert_eq!(words(20).words(), format!("restored {first} (undo of x)"));
        assert_eq!(words(21).notice().title, format!("restored {first} and 1 more file"));
        let odd = PersonRestore::new("undo of x", vec!["bad\0ff".into(), "d/in\nside".into()]);
        assert_eq!(odd.notice().title, "restored bad\\xff, d/in^Jside");
        let note = words(20_020).note();
        assert!(note.contains(" and 20,000 more files (undo of x)") && note.len() < 250, "{note}");
    }
}
