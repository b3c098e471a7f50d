//! Edits whose effect stands in a text already: what would come is there, around the place that was searched for.

use std::ops::Range;

use memchr::memmem;

use super::splice::{Done, Splice};
use crate::edit::locate::{SearchShape, fits};

/// The number of occurrences of a new text that are looked at around its place.
const TRIES: usize = 16;

/// Returns an edit without its splices where the new text of each stands around its place already.
pub(super) fn without_standing(text: &str, done: Done) -> Done {
    let [splices] = done.stages.as_slice() else { return done };
    match !splices.is_empty() && splices.iter().all(|splice| is_there(text, splice)) {
        true => Done { stages: Vec::new(), stands: true, ..done },
        false => done,
    }
}

/// Returns whether a new text that adds something stands at its place already: what it would replace is a part of it
/// there. Of white space alone it may be wanted once more.
pub(super) fn is_there(text: &str, Splice { range, new }: &Splice) -> bool {
    if solid(new) <= solid(&text[range.clone()]) {
        return false;
    }
    let (mut from, to) = (range.end.saturating_sub(new.len()), text.len().min(range.start + new.len()));
    let finder = memmem::Finder::new(new.as_bytes());
    for _ in 0..TRIES {
        let Some(at) = text.as_bytes().get(from..to).and_then(|around| finder.find(around)) else { return false };
        let there = from + at..from + at + new.len();
        from = there.start + 1;
        if has_its_edges(text, &there, range) {
            return true;
        }
    }
    false
}

/// Returns whether a text ends at words, and at lines where the place within it does.
fn has_its_edges(text: &str, there: &Range<usize>, place: &Range<usize>) -> bool {
    let begins = |at: usize| at == 0 || text[..at].ends_with(['\n', '\r']);
    let ends = |at: usize| at == text.len() || text[at..].starts_with(['\n', '\r']);
    fits(text, there, SearchShape::Inline)
        && (!begins(place.start) || begins(there.start))
        && (!ends(place.end) || begins(place.end) || ends(there.end) || begins(there.end))
}

/// Returns the number of bytes that are no white space.
fn solid(text: &str) -> usize {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_made(text: &str, search: &str, new: &str) -> bool {
        let start = text.find(search).expect("there");
        is_there(text, &Splice { range: start..start + search.len(), new: new.into() })
    }

    #[test]
    fn what_stands_around_its_place_is_not_added_again() {
        for (text, search, new) in [
            ("import os\nimport sys\n", "import os\n", "import os\nimport sys\n"),
            ("import os\nimport sys\n", "import os", "import os\nimport sys"),
            ("def h():\n    pass\n\n\ndef g():\n", "def g():", "def h():\n    pass\n\n\ndef g():"),
            ("x = 10\n", "x = 1", "x = 10"),
            ("a\nb\nc\n", "b", "a\nb\nc"),
            ("é(é)\n", "é", "é(é)"),
        ] {
            assert!(is_made(text, search, new), "{new:?} in {text:?}");
        }
        for (text, search, new) in [
            // Another word, another line.
            ("x = 100\n", "x = 1", "x = 10"),
            ("import os\nimport system\n", "import os", "import os\nimport sys"),
            ("import os\nimport sys as s\n", "import os", "import os\nimport sys"),
            // At another place.
            ("import os\n\n\nimport os2\nimport sys\n", "import os", "import os\nimport sys"),
            ("a\nb\n", "a\nb\n", "a\na\nb\n"),
            // Blank lines, and what takes something away.
            ("a\n\nb\n", "b", "\nb"),
            ("a\nb\n", "a\nb\n", "a\n"),
        ] {
            assert!(!is_made(text, search, new), "{new:?} in {text:?}");
        }
    }
}
