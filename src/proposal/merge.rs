//! Three-way merge, for restores over someone else's change.
//!
//! What nebula wrote is the common ground; from it the archived state went one way (our change undone) and
//! someone else's bytes another. Where both touched the same lines, the archived lines are proposed and their hunk is
//! marked as a conflict: refusing the hunk keeps what is there now.

use similar::{MergeResolution, TextMerge};

use super::{PlaceMatch, Placed, Rung, State};

/// The detail of a hunk that was made of a conflict.
pub const CONFLICT: &str = "conflict: someone else changed these lines";

/// A merged text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The merged state; the mode of the file is unchanged.
    pub after: State,
    /// The places of conflicts in it, as [`Rung::Inexact`], so that no policy accepts them.
    pub conflicts: Vec<Placed>,
}

/// Merges the way from `wrote` to `archived` into `now`. `None` when one of the three is no UTF-8 text.
pub fn three_way(wrote: &[u8], archived: &State, now: &State) -> Option<Merged> {
    let wrote = std::str::from_utf8(wrote).ok()?;
    let merge = TextMerge::from_lines(wrote, archived.text()?, now.text()?);
    let mut text = String::new();
    let mut conflicts = Vec::new();
    for region in merge.regions() {
        let start = text.len();
        let ours = || region.ours_range().filter_map(|i| merge.ours_line(i));
        match region.resolution() {
            MergeResolution::Theirs => {
                region.theirs_range().filter_map(|i| merge.theirs_line(i)).for_each(|l| text += l)
            }
            _ => ours().for_each(|l| text += l),
        }
        if region.is_conflict() {
            let found = PlaceMatch { rung: Rung::Inexact, detail: Some(CONFLICT.into()) };
            conflicts.push(Placed { after: start..text.len(), found, edit: None });
        }
    }
    Some(Merged { after: State::file(text.into_bytes()), conflicts })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merge(wrote: &str, archived: &str, now: &str) -> (String, usize) {
        let state = |s: &str| State::file(s.as_bytes());
        let merged = three_way(wrote.as_bytes(), &state(archived), &state(now)).expect("texts");
        (merged.after.text().expect("text").to_string(), merged.conflicts.len())
    }

    #[test]
    fn changes_apart_are_joined() {
        let (text, conflicts) = merge("a\nB\nc\nd\ne\n", "a\nb\nc\nd\ne\n", "a\nB\nc\nd\ne\nmine\n");
        assert_eq!((text.as_str(), conflicts), ("a\nb\nc\nd\ne\nmine\n", 0));
    }

    #[test]
    fn changes_of_one_line_are_a_conflict_that_proposes_the_archived_one() {
        let (text, conflicts) = merge("a\nB\nc\n", "a\nb\nc\n", "a\nmine\nc\n");
        assert_eq!((text.as_str(), conflicts), ("a\nb\nc\n", 1));
    }

    #[test]
    fn bytes_that_are_no_text_are_not_merged() {
        assert_eq!(three_way(b"\xff", &State::file(&b"a"[..]), &State::file(&b"b"[..])), None);
        assert_eq!(three_way(b"a", &State::Absent, &State::file(&b"b"[..])), None);
    }

    proptest! {
        #[test]
        fn one_sided_changes_win(a in "([ab]?\r?\n?){0,12}", b in "([ab]?\r?\n?){0,12}") {
            prop_assert_eq!(merge(&a, &b, &a), (b.clone(), 0));
            prop_assert_eq!(merge(&a, &a, &b), (b.clone(), 0));
            prop_assert_eq!(merge(&a, &b, &b), (b.clone(), 0));
        }
    }
}
