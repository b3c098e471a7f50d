//! Before and after → hunks; words changed inside a line.
//!
//! Lines end at `\n` and keep their endings, so that hunks put together again give every byte. Text is what holds no
//! NUL byte, or UTF-16 with a byte order mark; all else is one hunk.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, DiffableStr, capture_diff_slices};

use super::change::{ChangedLines, Counts, FileChange, Hunk, HunkKind, PlaceMatch, Placed, State};
use super::hidden::hidden;

/// Unchanged lines between two changes that still are one hunk.
const JOIN: usize = 3;
/// Lines on both sides together above which a stretch without a unique line in common is one change, so that a
/// hostile pair of files cannot hold up the program.
const MANY: usize = 20_000;
/// The length of a line in bytes above which changed words are not marked.
const LONG_LINE: usize = 4_096;

/// A stretch of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordSpan {
    /// Byte range in the line.
    pub range: Range<usize>,
    /// True if it differs from the other side.
    pub changed: bool,
}

/// Returns the lines of a text with their endings, or `None` for bytes that are no text.
pub fn lines(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    match Wide::of(bytes) {
        Some(wide) => Some(wide.lines(bytes)),
        None if bytes.contains(&0) => None,
        None => Some(bytes.split_inclusive(|b| *b == b'\n').collect()),
    }
}

/// Returns the text to show for bytes, line by line as [`lines`] cuts them: UTF-16 is decoded, bytes that are no UTF-8
/// are replaced by U+FFFD; `None` for bytes that are no text.
pub fn display_text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match Wide::of(bytes) {
        Some(wide) => Some(Cow::Owned(wide.decode(bytes))),
        None if bytes.contains(&0) => None,
        None => Some(String::from_utf8_lossy(bytes)),
    }
}

/// UTF-16 with a byte order mark.
#[derive(Clone, Copy)]
enum Wide {
    Little,
    Big,
}

impl Wide {
    fn of(bytes: &[u8]) -> Option<Self> {
        let wide = match bytes {
            [0xff, 0xfe, ..] => Wide::Little,
            [0xfe, 0xff, ..] => Wide::Big,
            _ => return None,
        };
        bytes.len().is_multiple_of(2).then_some(wide)
    }

    fn unit(self, pair: &[u8]) -> u16 {
        match self {
            Wide::Little => u16::from_le_bytes([pair[0], pair[1]]),
            Wide::Big => u16::from_be_bytes([pair[0], pair[1]]),
        }
    }

    fn lines(self, bytes: &[u8]) -> Vec<&[u8]> {
        let mut found = Vec::new();
        let mut start = 0;
        for (i, pair) in bytes.chunks_exact(2).enumerate() {
            if self.unit(pair) == u16::from(b'\n') {
                found.push(&bytes[start..2 * i + 2]);
                start = 2 * i + 2;
            }
        }
        if start < bytes.len() {
            found.push(&bytes[start..]);
        }
        found
    }

    fn decode(self, bytes: &[u8]) -> String {
        let units = bytes[2..].chunks_exact(2).map(|p| self.unit(p));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }
}

/// Returns whether two ranges of lines have a line in common; an empty one is a place between two lines.
pub fn lines_touch(a: &Range<usize>, b: &Range<usize>) -> bool {
    match a.is_empty() || b.is_empty() {
        true => a.start <= b.end && b.start <= a.end,
        false => a.start < b.end && b.start < a.end,
    }
}

/// Cuts a change into hunks.
pub(super) fn cut(before: &State, after: &State, placed: &[Placed]) -> (Vec<Hunk>, Counts) {
    let whole = |kind, before, after| {
        let (found, edits) = made_by(placed, None);
        Hunk { kind, before: 0..before, after: 0..after, found, edits, hidden: 0, definitions: Vec::new() }
    };
    match (before, after) {
        (State::File { bytes: old, mode: old_mode }, State::File { bytes: new, mode: new_mode }) => {
            let (mut hunks, counts) = if old == new {
                (Vec::new(), Counts::default())
            } else if let (Some(old), Some(new)) = (lines(old), lines(new)) {
                by_lines(&old, &new, placed)
            } else {
                (vec![whole(HunkKind::Binary, 0, 0)], Counts::default())
            };
            if new_mode.is_some() && old_mode.is_some() && new_mode != old_mode {
                hunks.push(Hunk {
                    kind: HunkKind::Mode,
                    before: 0..0,
                    after: 0..0,
                    found: None,
                    edits: Vec::new(),
                    hidden: 0,
                    definitions: Vec::new(),
                });
            }
            (hunks, counts)
        }
        (old, new) if old == new => (Vec::new(), Counts::default()),
        (State::Folder { .. }, State::Folder { .. }) => (vec![whole(HunkKind::Mode, 0, 0)], Counts::default()),
        (State::Absent, new) => {
            let added = count_lines(new);
            (vec![whole(HunkKind::Create, 0, added)], Counts { added, removed: 0 })
        }
        (old, State::Absent) => {
            let removed = count_lines(old);
            (vec![whole(HunkKind::Delete, removed, 0)], Counts { added: 0, removed })
        }
        _ => (vec![whole(HunkKind::Binary, 0, 0)], Counts::default()),
    }
}

/// Counts, in each hunk, the characters of added lines that hide what the text says.
pub(super) fn count_hidden(hunks: &mut [Hunk], before: &State, after: &State) {
    let Some(new) = after.bytes().filter(|new| !new.is_ascii()) else { return };
    let old = before.bytes().and_then(|old| display_text(old)).unwrap_or_default();
    let Some(new) = display_text(new) else { return };
    // A mark of the byte order at the beginning is no text.
    let (old, new): (Vec<&str>, Vec<&str>) = (
        old.trim_start_matches('\u{feff}').split_inclusive('\n').collect(),
        new.trim_start_matches('\u{feff}').split_inclusive('\n').collect(),
    );
    for hunk in hunks {
        // The end of a move was there before, as a whole.
        let was = if hunk.kind == HunkKind::Move { Some(&old[..]) } else { old.get(hunk.before.clone()) };
        let was: HashSet<&&str> = was.unwrap_or_default().iter().collect();
        let added = new.get(hunk.after.clone()).unwrap_or_default().iter().filter(|line| !was.contains(line));
        hunk.hidden = added.map(|line| hidden(line).len()).sum();
    }
}

/// Counts lines added and removed between two states, as a proposal of that change would count them.
pub fn count_changed(before: &State, after: &State) -> Counts {
    cut(before, after, &[]).1
}

fn count_lines(state: &State) -> usize {
    state.bytes().and_then(|b| lines(b)).map_or(0, |l| l.len())
}

fn by_lines(old: &[&[u8]], new: &[&[u8]], placed: &[Placed]) -> (Vec<Hunk>, Counts) {
    let changed = changes(old, new);
    let removed = changed.iter().map(|(before, _)| before.len()).sum();
    let added = changed.iter().map(|(_, after)| after.len()).sum();
    let mut hunks = joined(changed.into_iter(), |last, next| next.0.start - last.before.end <= JOIN);
    EditPlaces::new(new, placed).name(&mut hunks);
    (hunks, Counts { added, removed })
}

/// Returns the hunks of some runs of changed lines; a run that `is_of` the hunk before it is a part of that.
fn joined(changed: impl Iterator<Item = ChangedLines>, is_of: impl Fn(&Hunk, &ChangedLines) -> bool) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for (before, after) in changed {
        match hunks.last_mut() {
            Some(last) if is_of(last, &(before.clone(), after.clone())) => {
                last.before.end = before.end;
                last.after.end = after.end;
            }
            _ => hunks.push(Hunk {
                kind: HunkKind::Lines,
                before,
                after,
                found: None,
                edits: Vec::new(),
                hidden: 0,
                definitions: Vec::new(),
            }),
        }
    }
    hunks
}

/// The places of edits in a text by its lines.
struct EditPlaces<'p> {
    placed: &'p [Placed],
    /// The byte at which each line ends, after one for the beginning.
    ends: Vec<usize>,
    /// The lowest way in which an edit was found.
    of_edits: Option<&'p PlaceMatch>,
}

impl<'p> EditPlaces<'p> {
    /// Reads the lines of the text after the edits; where nothing is placed they are not needed.
    fn new(new: &[&[u8]], placed: &'p [Placed]) -> Self {
        let mut ends = Vec::new();
        if !placed.is_empty() {
            ends.push(0);
            ends.extend(new.iter().scan(0, |at, line| {
                *at += line.len();
                Some(*at)
            }));
        }
        let of_edits = placed.iter().filter(|p| p.edit.is_some()).map(|p| &p.found).max_by_key(|found| found.rung);
        EditPlaces { placed, ends, of_edits }
    }

    /// Names the edits that have a part in each hunk, and the way they were found.
    fn name(&self, hunks: &mut [Hunk]) {
        if self.placed.is_empty() {
            return;
        }
        for hunk in hunks {
            let bytes = self.ends[hunk.after.start]..self.ends[hunk.after.end];
            (hunk.found, hunk.edits) = made_by(self.placed, Some(bytes));
            // Beside equal lines a hunk may be cut elsewhere than the edit stands that made it.
            hunk.found = hunk.found.take().or_else(|| self.of_edits.cloned());
        }
    }
}

/// Cuts the hunks of a change further, where `are_apart` says so of the lines so far and those of the next run of changed
/// lines. Lines that are unchanged lie between.
pub(super) fn cut_further(change: &mut FileChange, are_apart: impl Fn(&ChangedLines, &ChangedLines) -> bool) {
    let (Some(old), Some(new)) = (change.before.bytes(), change.after.bytes()) else { return };
    let (Some(old_lines), Some(new_lines)) = (lines(old), lines(new)) else { return };
    let is_of = |last: &Hunk, next: &ChangedLines| {
        next.0.start == last.before.end || !are_apart(&(last.before.clone(), last.after.clone()), next)
    };
    let places = EditPlaces::new(&new_lines, &change.placed);
    let mut hunks = Vec::new();
    for hunk in std::mem::take(&mut change.hunks) {
        if hunk.kind != HunkKind::Lines {
            hunks.push(hunk);
            continue;
        }
        let runs = changes(&old_lines[hunk.before.clone()], &new_lines[hunk.after.clone()]);
        let by = |range: Range<usize>, start: usize| range.start + start..range.end + start;
        let runs = runs.into_iter().map(|(b, a)| (by(b, hunk.before.start), by(a, hunk.after.start)));
        let mut parts = joined(runs, is_of);
        match parts.len() {
            0 | 1 => hunks.push(hunk),
            _ => {
                places.name(&mut parts);
                hunks.append(&mut parts);
            }
        }
    }
    change.hunks = hunks;
    let (before, after) = (change.before.clone(), change.after.clone());
    count_hidden(&mut change.hunks, &before, &after);
}

/// Returns the runs of changed lines, in order: which lines become which.
pub fn changes(old: &[&[u8]], new: &[&[u8]]) -> Vec<(Range<usize>, Range<usize>)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (mid_old, mid_new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    if mid_old.is_empty() && mid_new.is_empty() {
        return Vec::new();
    }
    let shift = |op: &DiffOp| {
        let (b, a) = (op.old_range(), op.new_range());
        (b.start + head..b.end + head, a.start + head..a.end + head)
    };
    let algorithm = if mid_old.len() + mid_new.len() > MANY { Algorithm::Patience } else { Algorithm::Myers };
    if algorithm == Algorithm::Patience && !share_rare_lines(mid_old, mid_new) {
        return vec![(head..old.len() - tail, head..new.len() - tail)];
    }
    let ops = capture_diff_slices(algorithm, mid_old, mid_new);
    ops.iter().filter(|op| op.tag() != DiffTag::Equal).map(shift).collect()
}

/// Returns whether enough lines occur once on each side for the stretches between them to stay small.
fn share_rare_lines(old: &[&[u8]], new: &[&[u8]]) -> bool {
    let mut seen: std::collections::HashMap<&[u8], [u32; 2]> = std::collections::HashMap::new();
    for (side, lines) in [old, new].into_iter().enumerate() {
        for line in lines {
            seen.entry(line).or_default()[side] += 1;
        }
    }
    let rare = seen.values().filter(|n| **n == [1, 1]).count();
    rare * 4 >= old.len().min(new.len())
}

/// Returns the edits that touch `range` of the after-bytes (`None`: all of it), and the lowest rung of them. What was
/// only taken out has an empty range and touches what it borders on.
fn made_by(placed: &[Placed], range: Option<Range<usize>>) -> (Option<PlaceMatch>, Vec<usize>) {
    let touches = |p: &&Placed| {
        range.as_ref().is_none_or(|r| {
            let borders = p.after.start <= r.end && p.after.end >= r.start;
            borders && (p.after.is_empty() || r.is_empty() || (p.after.start < r.end && p.after.end > r.start))
        })
    };
    let found = placed.iter().filter(touches).map(|p| &p.found).max_by_key(|f| f.rung).cloned();
    let mut edits: Vec<usize> = placed.iter().filter(touches).filter_map(|p| p.edit).collect();
    edits.sort_unstable();
    edits.dedup();
    (found, edits)
}

/// Returns the words that changed between two lines: each side's stretches, which cover it whole. `None` when the lines
/// have too little in common for that to help, or are very long.
pub fn changed_words(before: &str, after: &str) -> Option<(Vec<WordSpan>, Vec<WordSpan>)> {
    if before.len().max(after.len()) > LONG_LINE {
        return None;
    }
    let (old, new) = (before.tokenize_unicode_words(), after.tokenize_unicode_words());
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let solid = |words: &[&str]| words.iter().map(|w| w.trim().len()).sum::<usize>();
    let same: usize = ops.iter().filter(|o| o.tag() == DiffTag::Equal).map(|o| solid(&old[o.old_range()])).sum();
    let most = solid(&old).max(solid(&new));
    if most == 0 || same * 4 < most {
        return None;
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for op in &ops {
        let changed = op.tag() != DiffTag::Equal;
        grow(&mut left, &old[op.old_range()], changed);
        grow(&mut right, &new[op.new_range()], changed);
    }
    Some((left, right))
}

/// Adds words to a side, to its last stretch if that is of the same kind.
fn grow(side: &mut Vec<WordSpan>, words: &[&str], changed: bool) {
    let length: usize = words.iter().map(|w| w.len()).sum();
    let start = side.last().map_or(0, |w| w.range.end);
    match side.last_mut() {
        _ if length == 0 => {}
        Some(last) if last.changed == changed => last.range.end += length,
        _ => side.push(WordSpan { range: start..start + length, changed }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::decision::keep;
    use super::super::{Choice, Consent, Decision, FileDecision, Proposal, ProposalId, Rung};
    use super::*;

    fn change(before: &str, after: &str) -> FileChange {
        FileChange::new("a", State::file(before.as_bytes()), State::file(after.as_bytes()), "test", &[])
    }

    fn decided(change: &FileChange, choices: &[Choice]) -> Vec<u8> {
        keep(change, choices).expect("two files").to_vec()
    }

    #[test]
    fn changes_up_to_three_lines_apart_are_one_hunk() {
        let near = change("1\na\nb\nc\n2\n", "x\na\nb\nc\ny\n");
        assert_eq!(near.hunks.len(), 1);
        assert_eq!((near.hunks[0].before.clone(), near.hunks[0].after.clone()), (0..5, 0..5));
        assert_eq!(near.counts, Counts { added: 2, removed: 2 });
        let far = change("1\na\nb\nc\nd\n2\n", "x\na\nb\nc\nd\ny\n");
        assert_eq!(far.hunks.len(), 2);
        assert_eq!(decided(&far, &[Choice::Reject, Choice::Accept]), b"1\na\nb\nc\nd\ny\n");
        assert_eq!(decided(&far, &[Choice::Accept, Choice::Reject]), b"x\na\nb\nc\nd\n2\n");
    }

    #[test]
    fn files_made_deleted_binary_and_mode_are_one_hunk_each() {
        let kinds = |b, a| FileChange::new("a", b, a, "t", &[]).hunks.iter().map(|h| h.kind).collect::<Vec<_>>();
        let file = |b: &[u8], mode| State::File { bytes: b.into(), mode: Some(mode) };
        assert_eq!(kinds(State::Absent, State::file(&b""[..])), [HunkKind::Create]);
        assert_eq!(kinds(State::file(&b"a\nb"[..]), State::Absent), [HunkKind::Delete]);
        assert_eq!(kinds(file(b"a\0", 0o644), file(b"b\0", 0o644)), [HunkKind::Binary]);
        assert_eq!(kinds(file(b"a", 0o644), file(b"a", 0o755)), [HunkKind::Mode]);
        assert_eq!(kinds(file(b"a", 0o644), file(b"b", 0o755)), [HunkKind::Lines, HunkKind::Mode]);
        assert_eq!(kinds(file(b"a", 0o644), State::file(&b"a"[..])), []);
    }

    #[test]
    fn a_mode_can_be_refused_alone() {
        let file = |b: &[u8], mode| State::File { bytes: b.into(), mode: Some(mode) };
        let change = FileChange::new("a", file(b"a\n", 0o644), file(b"b\n", 0o755), "t", &[]);
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files: vec![change] };
        let after = |hunks: [Choice; 2]| {
            let files = vec![FileDecision { hunks: hunks.into(), edited: None }];
            let decided = proposal.decide(&Decision::new(files, Consent::Person)).expect("it fits");
            decided.expect("accepted").files()[0].after().clone()
        };
        assert_eq!(after([Choice::Accept, Choice::Reject]), file(b"b\n", 0o644));
        assert_eq!(after([Choice::Reject, Choice::Accept]), file(b"a\n", 0o755));
    }

    #[test]
    fn utf16_is_cut_at_its_own_line_ends() {
        let wide = |s: &str| {
            let mut b = vec![0xff, 0xfe];
            b.extend(s.encode_utf16().flat_map(u16::to_le_bytes));
            b
        };
        let (old, new) = (wide("a\nb\nਊ\n"), wide("a\nc\nਊ\n"));
        let change = FileChange::new("a", State::file(old), State::file(new.clone()), "t", &[]);
        assert_eq!(change.hunks[0].before, 1..2);
        assert_eq!(display_text(&new).expect("text"), "a\nc\nਊ\n");
    }

    #[test]
    fn a_hunk_carries_its_edits_and_the_lowest_rung_of_them() {
        let found = |rung| PlaceMatch { rung, detail: None };
        let placed = [
            Placed { after: 0..1, found: found(Rung::Exact), edit: Some(0) },
            Placed { after: 2..3, found: found(Rung::Indentation), edit: Some(2) },
            Placed { after: 20..21, found: found(Rung::Inexact), edit: Some(1) },
        ];
        let c = FileChange::new(
            "a",
            State::file(&b"1\n2\na\na\na\na\na\na\na\na\n3\n"[..]),
            State::file(&b"x\ny\na\na\na\na\na\na\na\na\nz\n"[..]),
            "t",
            &placed,
        );
        let rungs: Vec<_> = c.hunks.iter().map(|h| h.found.as_ref().map(|f| f.rung)).collect();
        assert_eq!(rungs, [Some(Rung::Indentation), Some(Rung::Inexact)]);
        let edits: Vec<_> = c.hunks.iter().map(|h| h.edits.clone()).collect();
        assert_eq!(edits, [vec![0, 2], vec![1]]);
    }

    #[test]
    fn words_that_changed_are_distinguished() {
        let (old, new) = changed_words("let total = price;", "let total = price * n;").expect("alike");
        let changed = |side: &[WordSpan], line: &str| -> Vec<String> {
            side.iter().filter(|w| w.changed).map(|w| line[w.range.clone()].to_string()).collect()
        };
        assert_eq!(changed(&old, "let total = price;"), Vec::<String>::new());
        assert_eq!(changed(&new, "let total = price * n;"), [" * n"]);
        assert_eq!(changed_words("alpha beta", "gamma delta"), None);
        assert!(changed_words("価格を計算する", "価格を表示する").is_some());
    }

    #[test]
    fn hidden_characters_are_counted_in_the_lines_that_are_added() {
        let before = "\u{feff}a\u{200b}\nb\n1\n2\n3\n4\nc\n";
        let after = "\u{feff}a\u{200b}\nB\u{202e}\u{202c}\n1\n2\n3\n4\nC\n";
        let hidden = |c: &FileChange| c.hunks.iter().map(|h| h.hidden).collect::<Vec<_>>();
        assert_eq!(hidden(&change(before, after)), [2, 0]);
        let state = |text: &str| State::file(text.as_bytes());
        assert_eq!(hidden(&FileChange::new("a", State::Absent, state(after), "t", &[])), [3]);
        let [from, to] = FileChange::moved("a", "b", state(before), state(after), "t", &[]);
        assert_eq!((hidden(&from), hidden(&to)), (vec![0], vec![2]));
        let wide: Vec<u8> = "\u{feff}x\u{200b}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(hidden(&FileChange::new("a", State::Absent, State::file(wide), "t", &[])), [1]);
    }

    #[test]
    fn hostile_pairs_are_cut_quickly() {
        let side = |n: usize| {
            (0..60_000_usize).map(|i| if (i * i / n).is_multiple_of(2) { "a\n" } else { "b\n" }).collect::<String>()
        };
        let hunks = change(&side(7), &side(11)).hunks;
        assert!(!hunks.is_empty());
    }

    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec(prop_oneof!["[ab]{0,2}", "[ab]{0,2}\n", "[ab]\r\n"], 0..30).prop_map(|v| v.concat())
    }

    proptest! {
        #[test]
        fn all_taken_is_after_and_none_is_before(before in text(), after in text()) {
            let c = change(&before, &after);
            let of = |choice| decided(&c, &vec![choice; c.hunks.len()]);
            prop_assert_eq!(of(Choice::Accept), after.as_bytes());
            prop_assert_eq!(of(Choice::Reject), before.as_bytes());
            prop_assert_eq!(before != after, !c.hunks.is_empty());
        }

        #[test]
        fn what_is_accepted_is_put_in_and_all_else_is_before(before in text(), after in text(), bits in any::<u32>()) {
            let c = change(&before, &after);
            let choices: Vec<_> = (0..c.hunks.len())
                .map(|i| if bits >> (i % 32) & 1 == 1 { Choice::Accept } else { Choice::Reject })
                .collect();
            let (mut wanted, new): (Vec<&str>, Vec<&str>) =
                (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
            // From the end, so that the numbers before it stay.
            for (hunk, _) in c.hunks.iter().zip(&choices).rev().filter(|(_, choice)| **choice == Choice::Accept) {
                wanted.splice(hunk.before.clone(), new[hunk.after.clone()].iter().copied());
            }
            prop_assert_eq!(String::from_utf8(decided(&c, &choices)).expect("lines of two texts"), wanted.concat());
        }

        #[test]
        fn words_cover_their_line(before in "[a-c ]{0,12}", after in "[a-c ]{0,12}") {
            if let Some((old, new)) = changed_words(&before, &after) {
                prop_assert_eq!(old.last().map_or(0, |w| w.range.end), before.len());
                prop_assert_eq!(new.last().map_or(0, |w| w.range.end), after.len());
            }
        }
    }
}
