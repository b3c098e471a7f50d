//! Three-way merge: what was decided of one state of a file goes into the file as it is now, by lines, or else, in a
//! source file of a known language, by definitions, or else by the program that the person allows.
//!
//! Two ways lead from a common ground: ours, a decided change or a restore, and theirs, what someone else did to the
//! file meanwhile. Changes with an unchanged line between them are joined. Where both touched the same lines, or lines
//! side by side, or the place of a change is uncertain because the lines around it repeat, there is a conflict: a write
//! is then refused; of a restore that is planned our lines are proposed and their hunk is marked, so that refusing it keeps what is
//! there now.

use std::ops::Range;

use super::decision::keep;
use super::hunks::{changes, lines};
use super::{
    Choice, Decided, DecidedFile, FileChange, Hunk, MergeRung, MergedFile, Merger, PlaceMatch, Placed, Rung, State,
};

/// The detail of a hunk that was made of a conflict.
pub const CONFLICT: &str = "conflict: someone else changed these lines";

/// A merged text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The merged state; the mode of the file is unchanged.
    pub after: State,
    /// The way it was merged.
    pub rung: MergeRung,
    /// The places of conflicts in it, as [`Rung::Inexact`], so that no policy accepts them.
    pub conflicts: Vec<Placed>,
}

/// Merges the way from `base` to `ours` into `theirs`, three states of the file at `path`. `None` when one of the three is
/// no UTF-8 text, or both sides add a definition of one name at different places. Parses whole files, and waits for the
/// merger's program if it has one: for blocking code alone.
pub fn three_way(path: &str, base: &[u8], ours: &State, theirs: &State, merger: &Merger) -> Option<Merged> {
    let merged = by_lines(base, ours, theirs)?;
    let texts = [base, ours.bytes()?, theirs.bytes()?];
    let is_twice = merged.conflicts.is_empty() && has_twice(path, texts, &merged.after);
    if merged.conflicts.is_empty() && !is_twice {
        return Some(merged);
    }
    let joined = |after, rung| Merged { after: State::file(String::into_bytes(after)), rung, conflicts: Vec::new() };
    let by_definitions = by_definitions(path, texts).map(|after| joined(after, MergeRung::Definitions));
    let by_program = || merger.merged(path, texts).map(|after| joined(after, MergeRung::Mergiraf));
    by_definitions.or_else(by_program).or((!is_twice).then_some(merged))
}

/// Returns whether a merge without a conflict has a definition twice that no side had twice: each side added its own.
#[cfg(feature = "code")]
pub fn has_twice(path: &str, texts: [&[u8]; 3], merged: &State) -> bool {
    let [Ok(base), Ok(ours), Ok(theirs)] = texts.map(std::str::from_utf8) else { return false };
    merged.text().is_some_and(|merged| crate::code::has_twice(path, [base, ours, theirs], merged))
}

/// Knows of no definition.
#[cfg(not(feature = "code"))]
pub fn has_twice(_: &str, _: [&[u8]; 3], _: &State) -> bool {
    false
}

#[cfg(feature = "code")]
fn by_definitions(path: &str, texts: [&[u8]; 3]) -> Option<String> {
    crate::code::merge(path, texts, &|base, ours, theirs| {
        let merged = by_lines(base.as_bytes(), &State::file(ours.as_bytes()), &State::file(theirs.as_bytes()))?;
        merged.after.text().filter(|_| merged.conflicts.is_empty()).map(str::to_owned)
    })
}

#[cfg(not(feature = "code"))]
fn by_definitions(_: &str, _: [&[u8]; 3]) -> Option<String> {
    None
}

/// Returns whether the way from `base` to `ours` is in `theirs` already, which may differ in other lines. None: one of them
/// is no text.
pub(super) fn is_contained(base: &State, ours: &State, theirs: &State) -> Option<bool> {
    let merged = by_lines(base.bytes()?, ours, theirs)?;
    Some(merged.conflicts.is_empty() && merged.after.bytes() == theirs.bytes())
}

fn by_lines(base: &[u8], ours: &State, theirs: &State) -> Option<Merged> {
    joined(base, ours, theirs, Region::meets)
}

/// Merges as by lines, but changes of lines side by side are no conflict, only those of the same lines and of lines
/// whose place is uncertain: the text that a change makes at its own place. None: a conflict, or one of them is no text.
pub fn side_by_side(base: &[u8], ours: &State, theirs: &State) -> Option<State> {
    joined(base, ours, theirs, Region::overlaps).filter(|merged| merged.conflicts.is_empty()).map(|merged| merged.after)
}

/// Returns whether all that leads from `base` to `ours` is in the text `now`, which may differ in other lines, and where lines
/// came may have more of them.
pub fn has_change(base: &str, ours: &str, now: &str) -> bool {
    let [Some(base), Some(ours), Some(now)] = [base, ours, now].map(|text| lines(text.as_bytes())) else {
        return false;
    };
    let sides = [Side::new(&base, &ours), Side::new(&base, &now)];
    let has_words =
        |run: &[&[u8]]| run.iter().any(|line| line.iter().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii()));
    regions(&sides, Region::overlaps).iter().all(|region| {
        let ([ours, now], [of_ours, of_now]) = (&sides, &region.changes);
        if of_ours.is_empty() || of_now.is_empty() {
            return of_ours.is_empty();
        }
        let there = now.replaced(&base, &region.base, of_now);
        let holds = |run: &[&[u8]]| there.windows(run.len().max(1)).any(|lines| lines == run);
        let is_in = |change: &Change| {
            let (gone, come) = (&base[change.before.clone()], &ours.lines[change.after.clone()]);
            (come.is_empty() || has_words(come) && holds(come)) && (gone.is_empty() || has_words(gone) && !holds(gone))
        };
        ours.replaced(&base, &region.base, of_ours) == there || ours.changes[of_ours.clone()].iter().all(is_in)
    })
}

/// Returns whether a stretch and a later one are one in the merge.
type Meets = fn(&Region, &Region) -> bool;

fn joined(base: &[u8], ours: &State, theirs: &State, meets: Meets) -> Option<Merged> {
    let text = |bytes| std::str::from_utf8(bytes).ok().and_then(|text: &str| lines(text.as_bytes()));
    let (base, ours, theirs) = (text(base)?, text(ours.bytes()?)?, text(theirs.bytes()?)?);
    let sides = [Side::new(&base, &ours), Side::new(&base, &theirs)];
    let mut merged = Vec::new();
    let mut conflicts = Vec::new();
    let mut at = 0;
    for region in regions(&sides, meets) {
        merged.extend(base[at..region.base.start].concat());
        let start = merged.len();
        let [of_ours, of_theirs] = &region.changes;
        let [ours, theirs] = &sides;
        let side = if of_ours.is_empty() { (theirs, of_theirs) } else { (ours, of_ours) };
        merged.extend(side.0.replaced(&base, &region.base, side.1).concat());
        if !of_ours.is_empty()
            && !of_theirs.is_empty()
            && ours.replaced(&base, &region.base, of_ours) != theirs.replaced(&base, &region.base, of_theirs)
        {
            let found = PlaceMatch { rung: Rung::Inexact, detail: Some(CONFLICT.into()) };
            conflicts.push(Placed { after: start..merged.len(), found, edit: None });
        }
        at = region.base.end;
    }
    merged.extend(base[at..].concat());
    Some(Merged { after: State::file(merged), rung: MergeRung::Lines, conflicts })
}

/// One side of a merge: its lines, and how they differ from the common ground.
struct Side<'a> {
    lines: &'a [&'a [u8]],
    changes: Vec<Change>,
}

/// A run of changed lines.
struct Change {
    before: Range<usize>,
    after: Range<usize>,
    /// The places where it may lie as well, first and last: beside equal lines its place is a choice of the comparison.
    /// Line n has the number 2n + 1, the place above it 2n.
    reach: (usize, usize),
}

impl<'a> Side<'a> {
    fn new(base: &[&[u8]], lines: &'a [&'a [u8]]) -> Self {
        let found = changes(base, lines);
        let reached = |(i, (before, after)): (usize, &(Range<usize>, Range<usize>))| {
            let least = i.checked_sub(1).map_or(0, |above| found[above].0.end);
            let most = found.get(i + 1).map_or(base.len(), |(below, _)| below.start);
            // Lines that come or go without others in their place can be taken further up or down, as long as the line
            // that enters is the one that leaves.
            let moved = match (before.is_empty(), after.is_empty()) {
                (true, false) => &lines[after.clone()],
                (false, true) => &base[before.clone()],
                _ => &[],
            };
            let below = base[before.end..most].iter().zip(moved.iter().cycle());
            let down = below.take_while(|(enters, leaves)| enters == leaves).count();
            let above = base[least..before.start].iter().rev().zip(moved.iter().rev().cycle());
            let up = above.take_while(|(enters, leaves)| enters == leaves).count();
            let inserts = usize::from(before.is_empty());
            let reach = (2 * (before.start - up) + 1 - inserts, 2 * (before.end + down) + inserts - 1);
            Change { before: before.clone(), after: after.clone(), reach }
        };
        let changes = found.iter().enumerate().map(reached).collect();
        Side { lines, changes }
    }

    /// Returns a stretch of the common ground with these changes made.
    fn replaced(&self, base: &[&'a [u8]], stretch: &Range<usize>, changes: &Range<usize>) -> Vec<&'a [u8]> {
        let mut replaced = Vec::new();
        let mut at = stretch.start;
        for change in &self.changes[changes.clone()] {
            replaced.extend(&base[at..change.before.start]);
            replaced.extend(&self.lines[change.after.clone()]);
            at = change.before.end;
        }
        replaced.extend(&base[at..stretch.end]);
        replaced
    }
}

/// A stretch of the common ground that one side changed, or both did.
struct Region {
    base: Range<usize>,
    /// The changes of each side in it, by index.
    changes: [Range<usize>; 2],
    /// The places where they may lie, first and last.
    reach: (usize, usize),
}

impl Region {
    /// Returns whether a later one lies beside it without an unchanged line between, or may lie in it.
    fn meets(&self, later: &Region) -> bool {
        later.base.start <= self.base.end || later.reach.0 <= self.reach.1
    }

    /// Returns whether a later one has a line of it, or may lie in it.
    fn overlaps(&self, later: &Region) -> bool {
        later.base.start < self.base.end || later.reach.0 <= self.reach.1
    }

    fn join(&mut self, later: &Region) {
        self.base.end = self.base.end.max(later.base.end);
        self.base.start = self.base.start.min(later.base.start);
        self.reach = (self.reach.0.min(later.reach.0), self.reach.1.max(later.reach.1));
        for (changes, later) in self.changes.iter_mut().zip(&later.changes) {
            changes.end = later.end;
        }
    }
}

/// Returns the changed stretches in their order. Changes that meet are in one.
fn regions(sides: &[Side<'_>; 2], meets: Meets) -> Vec<Region> {
    let mut regions: Vec<Region> = Vec::new();
    let mut next = [0, 0];
    loop {
        let start = |side: usize| sides[side].changes.get(next[side]).map(|change| change.before.start);
        let side = match (start(0), start(1)) {
            (Some(ours), Some(theirs)) => usize::from(theirs < ours),
            (Some(_), None) => 0,
            (None, Some(_)) => 1,
            (None, None) => return regions,
        };
        let change = &sides[side].changes[next[side]];
        let mut changes = next.map(|n| n..n);
        next[side] += 1;
        changes[side].end = next[side];
        let mut region = Region { base: change.before.clone(), changes, reach: change.reach };
        while let Some(mut above) = regions.pop_if(|above| meets(above, &region)) {
            above.join(&region);
            region = above;
        }
        regions.push(region);
    }
}

/// Returns whether a hunk is one of lines that someone else changed.
fn is_conflict(hunk: &Hunk) -> bool {
    hunk.found.as_ref().and_then(|found| found.detail.as_deref()) == Some(CONFLICT)
}

impl FileChange {
    /// Creates a change that was joined with what someone else had changed, from the present state of a file.
    pub fn merged(path: impl Into<String>, now: State, merged: Merged, by: impl Into<String>) -> Self {
        let change = FileChange::new(path, now, merged.after, by, &merged.conflicts);
        FileChange { merged: Some(merged.rung), ..change }
    }

    /// Returns whether a hunk of it is one of lines that someone else changed.
    pub fn has_conflict(&self) -> bool {
        self.hunks.iter().any(is_conflict)
    }

    /// Returns the change without its hunks of lines that someone else changed; none: it has no others.
    pub fn without_conflicts(&self) -> Option<FileChange> {
        let choice = |hunk| if is_conflict(hunk) { Choice::Reject } else { Choice::Accept };
        let bytes = keep(self, &self.hunks.iter().map(choice).collect::<Vec<_>>())?;
        let after = State::file(bytes).with_mode(self.after.mode());
        let rest = FileChange::new(&self.path, self.before.clone(), after, &self.by, &[]);
        (!rest.hunks.is_empty()).then_some(FileChange { merged: self.merged, ..rest })
    }
}

impl Decided {
    /// Returns the same decision for files that someone else changed since the proposal was made: the accepted hunks go
    /// into each file as `now` gives it, and everything else in it stays. What is there already is not written again.
    /// `None` where that cannot be told: a conflict, a file that is made, deleted, moved, no UTF-8 text or of another mode.
    pub fn merged_into(&self, now: impl Fn(&DecidedFile) -> Option<State>, merger: &Merger) -> Option<Decided> {
        let mut merged = Decided { files: Vec::new(), merged: Vec::new(), consent: self.consent };
        for file in &self.files {
            let now = now(file)?;
            if file.before.is_same_but_for_mode(&now) {
                merged.files.push(file.clone());
                continue;
            }
            let Merged { after, rung, .. } = merged_file(file, &now, merger)?;
            let (path, alone) = (file.path.clone(), file.after.clone());
            let is_there = after.bytes() == now.bytes();
            let told = if is_there { MergeRung::There } else { rung };
            merged.merged.push(MergedFile { path, rung: told, alone, after: after.clone() });
            if !is_there {
                merged.files.push(DecidedFile { before: now, after, merged: Some(rung), ..file.clone() });
            }
        }
        Some(merged)
    }
}

fn merged_file(file: &DecidedFile, now: &State, merger: &Merger) -> Option<Merged> {
    let same_mode = |state: &State| state.mode().is_none() || state.mode() == now.mode();
    let is_text_alone = same_mode(&file.before) && same_mode(&file.after);
    let before = file.before.bytes().filter(|_| is_text_alone)?;
    let merged = three_way(&file.path, before, &file.after, now, merger)?;
    merged.conflicts.is_empty().then_some(merged)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::{Choice, Consent, Decision, FileDecision, Proposal, ProposalId};
    use super::*;

    fn state(text: &str) -> State {
        State::file(text.as_bytes())
    }

    fn merge(base: &str, ours: &str, theirs: &str) -> (String, usize) {
        let merged = three_way("a", base.as_bytes(), &state(ours), &state(theirs), &Merger::default()).expect("texts");
        (merged.after.text().expect("text").to_string(), merged.conflicts.len())
    }

    /// Decides the change of one file, and merges it into the file as it is now: its states before and after.
    fn merged_into(before: State, after: State, now: State) -> Option<Vec<(State, State)>> {
        decide(before, after).merged_into(|_| Some(now.clone()), &Merger::default()).map(states)
    }

    fn decide(before: State, after: State) -> Decided {
        let files = vec![FileChange::new("a", before, after, "test", &[])];
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files };
        proposal.decide(&Decision::accept(&proposal, Consent::Person)).expect("it fits").expect("accepted")
    }

    fn states(decided: Decided) -> Vec<(State, State)> {
        decided.files.into_iter().map(|file| (file.before, file.after)).collect()
    }

    #[test]
    fn changes_apart_are_joined() {
        let (text, conflicts) = merge("a\nB\nc\nd\ne\n", "a\nb\nc\nd\ne\n", "a\nB\nc\nd\ne\nmine\n");
        assert_eq!((text.as_str(), conflicts), ("a\nb\nc\nd\ne\nmine\n", 0));
        assert_eq!(merge("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n"), ("A\nb\nC\n".into(), 0));
    }

    #[cfg(feature = "code")]
    #[test]
    fn a_definition_that_both_add_at_different_places_is_no_merge() {
        let base = "fn a() {}\n\nfn b() {}\n\nfn c() {}\n";
        let add = |before: &str, new: &str| base.replace(before, &format!("fn {new}\n\n{before}"));
        let merged = |path: &str, ours: &str, theirs: &str| {
            let [ours, theirs] = [ours, theirs].map(state);
            three_way(path, base.as_bytes(), &ours, &theirs, &Merger::default())
        };
        let (ours, theirs) = (add("fn a", "n() { 1 }"), add("fn c", "n() { 2 }"));
        assert!(merged("a.rs", &ours, &theirs).is_none());
        assert!(merged("a.txt", &ours, &theirs).is_some(), "no source");
        let is_clean = |merged: Option<Merged>| merged.is_some_and(|merged| merged.conflicts.is_empty());
        assert!(is_clean(merged("a.rs", &ours, &add("fn c", "m() { 2 }"))));
        let text = merged("a.rs", &ours, &add("fn c", "n() { 1 }")).and_then(|one| Some(one.after.text()?.to_owned()));
        assert_eq!(text.map(|text| text.matches("fn n()").count()), Some(1), "the same in both is there once");
        // One type has a method of one name of each trait.
        let with = |of: &str| format!("impl {of} for X {{\n    fn fmt(&self) {{}}\n}}\n\n");
        let [ours, theirs] = [with("fmt::Display") + base, base.replace("fn c", &(with("fmt::Debug") + "fn c"))];
        assert!(merged("a.rs", &ours, &theirs).is_some_and(|merged| merged.conflicts.is_empty()));
    }

    #[test]
    fn a_change_is_found_among_others() {
        let base = "a\nb\nc\n";
        for (ours, now) in [
            ("a\nB\nc\n", "a\nB\nc\n"),
            ("a\nB\nc\n", "a\nB\nC\n"),
            ("a\nc\n", "a\nc\nd\n"),
            ("a\nnew\nb\nc\n", "a\nold\nnew\nb\nc\n"),
            ("a\nnew\nb\nc\n", "a\nnew\nold\nb\nc\n"),
            ("new\na\nb\nc\n", "new\na\nc\n"),
        ] {
            assert!(has_change(base, ours, now), "{ours:?} in {now:?}");
        }
        for (ours, now) in [
            ("a\nB\nc\n", base),
            ("a\nB\nc\n", "a\nB2\nc\n"),
            ("a\nc\n", "a\nb\nc\nd\n"),
            ("a\nnew\nb\nc\n", "a\nb\nnew\nc\n"),
            ("a\n}\nb\nc\n", "a\nold\n}\nb\nc\n"),
            ("A\nb\nC\n", "A\nb\nc\n"),
        ] {
            assert!(!has_change(base, ours, now), "{ours:?} in {now:?}");
        }
    }

    #[test]
    fn changes_of_one_line_are_a_conflict_that_proposes_ours() {
        let (text, conflicts) = merge("a\nB\nc\n", "a\nb\nc\n", "a\nmine\nc\n");
        assert_eq!((text.as_str(), conflicts), ("a\nb\nc\n", 1));
    }

    #[test]
    fn changes_side_by_side_are_a_conflict() {
        for (ours, theirs) in [
            ("A\nb\nc\n", "a\nB\nc\n"),
            ("a\nours\nb\nc\n", "a\ntheirs\nb\nc\n"),
            ("a\nb\nc\nours\n", "a\nb\nC\n"),
            ("a\nb\nC\n", "a\nb\nc\ntheirs\n"),
            ("b\nc\n", "a\nB\nc\n"),
            ("a\nB\nc\n", "a\nb\nc"),
            ("a\nB\nc\n", "a\r\nb\r\nc\r\n"),
            ("a\nB\nc\n", ""),
        ] {
            assert_eq!(merge("a\nb\nc\n", ours, theirs).1, 1, "{ours:?} {theirs:?}");
            assert_eq!(merge("a\nb\nc\n", theirs, ours).1, 1, "{theirs:?} {ours:?}");
        }
    }

    #[test]
    fn a_change_that_may_lie_beside_another_is_a_conflict() {
        // Which of the three went cannot be told: it may be ours.
        assert_eq!(merge("x\n}\n}\n}\ny\n", "x\n}\nz\n}\ny\n", "x\n}\n}\ny\n").1, 1);
        // Above or below ours.
        assert_eq!(merge("x\n}\n}\ny\n", "x\n}\n}\nz\ny\n", "x\n}\n}\n}\ny\n").1, 1);
        assert_eq!(merge("x\n}\n}\n}\ny\n", "X\n}\n}\n}\ny\n", "x\n}\n}\ny\n"), ("X\n}\n}\ny\n".into(), 0));
        // A function more between others like it.
        let two = "fn a() {\n  1\n}\n\nfn b() {\n  2\n}\n";
        let three = "fn a() {\n  1\n}\n\nfn n() {\n  0\n}\n\nfn b() {\n  2\n}\n";
        let (text, conflicts) = merge(two, &two.replace("  1", "  one").replace("  2", "  two"), three);
        assert_eq!((text, conflicts), (three.replace("  1", "  one").replace("  2", "  two"), 0));
    }

    #[test]
    fn changes_of_lines_side_by_side_are_kept_apart_where_their_places_are_certain() {
        let apart = |base: &str, ours, theirs| side_by_side(base.as_bytes(), &state(ours), &state(theirs));
        assert_eq!(apart("a\nb\n", "A\nb\n", "a\nB\n"), Some(state("A\nB\n")));
        assert_eq!(apart("a\nb\n", "a\nours\nb\n", "a\nB\n"), Some(state("a\nours\nB\n")));
        assert_eq!(apart("a\nb\n", "a\nours\nb\n", "a\ntheirs\nb\n"), None, "both at one place");
        assert_eq!(apart("a\nb\n", "A\nb\n", "x\nb\n"), None, "both the same line");
        assert_eq!(apart("x\n}\n}\ny\n", "x\n}\n}!\ny\n", "x\n}\n}\n}\ny\n"), None, "an uncertain place");
    }

    #[test]
    fn the_same_change_by_both_is_made_once() {
        assert_eq!(merge("a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n"), ("a\nB\nc\n".into(), 0));
        let both = ("a\nB\nc\nd\ne\n", "a\nB\nc\nd\nE\n");
        assert_eq!(merge("a\nb\nc\nd\ne\n", both.0, both.1), ("a\nB\nc\nd\nE\n".into(), 0));
        assert_eq!(merged_into(state("a\n"), state("b\n"), state("b\n")), Some(Vec::new()));
        let there = decide(state("a\n"), state("b\n")).merged_into(|_| Some(state("b\n")), &Merger::default());
        let rungs: Vec<MergeRung> = there.expect("merged").merged().iter().map(|file| file.rung).collect();
        assert_eq!(rungs, [MergeRung::There]);
    }

    #[test]
    fn bytes_that_are_no_text_are_not_merged() {
        let three = |base: &[u8], ours: &[u8], theirs: &[u8]| {
            three_way("a", base, &State::file(ours), &State::file(theirs), &Merger::default()).is_some()
        };
        assert!(three(b"a\nb\nc\n", b"a\nb\nC\n", b"A\nb\nc\n"));
        assert!(!three(b"\xff\nb\nc\n", b"\xff\nb\nC\n", b"A\nb\nc\n"));
        assert!(!three(b"a\nb\nc\n", b"a\nb\n\0\n", b"A\nb\nc\n"));
        assert_eq!(three_way("a", b"a", &State::Absent, &state("b"), &Merger::default()), None);
    }

    #[cfg(feature = "code")]
    #[test]
    fn functions_that_two_add_at_one_place_are_joined_in_source_alone() {
        let [base, ours, theirs] = ["", "fn b() {}\n", "fn c() {}\n"].map(|more| format!("fn a() {{}}\n{more}"));
        let none = Merger::default();
        let merged = |path| three_way(path, base.as_bytes(), &state(&ours), &state(&theirs), &none).expect("texts");
        let joined = merged("a.rs");
        assert_eq!((joined.rung, joined.conflicts.len()), (MergeRung::Definitions, 0));
        assert_eq!(joined.after, state("fn a() {}\nfn b() {}\nfn c() {}\n"));
        assert_eq!((merged("a.txt").rung, merged("a.txt").conflicts.len()), (MergeRung::Lines, 1));
    }

    #[test]
    fn only_text_is_merged_into_a_file_that_changed() {
        let (base, ours, theirs) = ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n");
        let of_mode = |text: &str, mode| State::File { bytes: text.as_bytes().into(), mode: Some(mode) };
        let after = |before, after, now| merged_into(before, after, now).map(|files| files[0].1.clone());
        assert_eq!(after(of_mode(base, 0o644), state(ours), of_mode(theirs, 0o644)), Some(state("A\nb\nC\n")));
        // The mode of the file is another one, or is to be.
        assert_eq!(after(of_mode(base, 0o644), state(ours), of_mode(theirs, 0o755)), None);
        assert_eq!(after(of_mode(base, 0o644), of_mode(ours, 0o755), of_mode(theirs, 0o644)), None);
        // It is gone, was made, is deleted, or became a link.
        assert_eq!(after(state(base), state(ours), State::Absent), None);
        assert_eq!(after(State::Absent, state(ours), state(theirs)), None);
        assert_eq!(after(state(base), State::Absent, state(theirs)), None);
        assert_eq!(after(state(base), state(ours), State::Link { target: "b".into() }), None);
        // What is as it was known stays as it was decided.
        assert_eq!(after(of_mode(base, 0o644), state(ours), of_mode(base, 0o600)), Some(state(ours)));
        let mut restore = decide(state(base), state(ours));
        restore.files[0].restores = true;
        let restored = restore.merged_into(|_| Some(state(theirs)), &Merger::default()).expect("merged");
        assert!(restored.files[0].restores);
        assert_eq!(states(restored), [(state(theirs), state("A\nb\nC\n"))]);
    }

    #[test]
    fn a_program_joins_what_was_decided_with_a_change_of_the_same_line() {
        let (decided, now) = (decide(state("[a]\n"), state("[a, b]\n")), state("[c, a]\n"));
        let merged_by = |joined: &'static str| {
            let merger = Merger::by_program(Arc::new(move |_: &str, _: [&str; 3]| Some(joined.to_owned())));
            decided.merged_into(|_| Some(now.clone()), &merger)
        };
        let merged = merged_by("[c, a, b]\n").expect("merged");
        assert_eq!(merged.merge_rung(), Some(MergeRung::Mergiraf));
        assert_eq!(states(merged), [(now.clone(), state("[c, a, b]\n"))]);
        assert_eq!(merged_by("[c, a]\n"), None);
    }

    #[test]
    fn nothing_refused_comes_in() {
        let numbers = |from: usize| (from..40).map(|n| format!("{n}\n")).collect::<String>();
        let base = numbers(0);
        let ours = base.replace("\n5\n", "\nfive\n").replace("\n15\n", "\nfifteen\n").replace("\n25\n", "\n");
        let theirs = base.replace("\n35\n", "\nthirty-five\n");
        let files = vec![FileChange::new("a", state(&base), state(&ours), "test", &[])];
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files };
        let hunks = vec![Choice::Reject, Choice::Accept, Choice::Reject];
        let decision = Decision::new(vec![FileDecision { hunks, edited: None }], Consent::Person);
        let decided = proposal.decide(&decision).expect("it fits").expect("accepted");
        let merged = decided.merged_into(|_| Some(state(&theirs)), &Merger::default()).expect("merged");
        let (alone, after) = (base.replace("\n15\n", "\nfifteen\n"), theirs.replace("\n15\n", "\nfifteen\n"));
        assert_eq!(merged.consent(), Consent::Person);
        let told = MergedFile { path: "a".into(), rung: MergeRung::Lines, alone: state(&alone), after: state(&after) };
        assert_eq!(merged.merged(), [told]);
        assert_eq!(states(merged), [(state(&theirs), state(&after))]);
    }

    fn few() -> impl Strategy<Value = String> {
        proptest::collection::vec("[abc]{0,2}\r?\n?", 0..14).prop_map(|lines| lines.concat())
    }

    /// Counts each line of a text.
    fn counted(text: &str, sign: i32, sum: &mut std::collections::BTreeMap<String, i32>) {
        text.split_inclusive('\n').for_each(|line| *sum.entry(line.to_string()).or_default() += sign);
    }

    proptest! {
        #[test]
        fn one_sided_changes_win(a in few(), b in few()) {
            prop_assert_eq!(merge(&a, &b, &a), (b.clone(), 0));
            prop_assert_eq!(merge(&a, &a, &b), (b.clone(), 0));
            prop_assert_eq!(merge(&a, &b, &b), (b.clone(), 0));
        }

        #[test]
        fn a_clean_merge_is_the_same_either_way(base in few(), ours in few(), theirs in few()) {
            let (one, other) = (merge(&base, &ours, &theirs), merge(&base, &theirs, &ours));
            prop_assert_eq!(one.1, other.1);
            if one.1 == 0 {
                prop_assert_eq!(one.0, other.0);
            }
        }

        /// Edits of one text in two sets of places: what is decided is put into the other's text by their numbers.
        #[test]
        fn what_was_decided_is_put_into_the_file_as_it_is(
            edits in proptest::collection::btree_map(0..60_usize, (any::<bool>(), 0..3_usize), 1..12),
        ) {
            let text = |wanted: &[bool]| -> String {
                (0..60).map(|n| match edits.get(&n) {
                    Some((ours, kind)) if wanted.contains(ours) => match kind {
                        0 => String::new(),
                        1 => format!("{ours} {n}\n"),
                        _ => format!("{n}\nafter {n}\n"),
                    },
                    _ => format!("{n}\n"),
                }).collect()
            };
            // An edit touches its line, an insertion the place below it.
            let mut pairs = edits.iter().zip(edits.iter().skip(1));
            let apart = pairs.all(|((a, (x, _)), (b, (y, kind)))| x == y || b - a > 1 || *kind == 2);
            let (result, conflicts) = merge(&text(&[]), &text(&[true]), &text(&[false]));
            prop_assert_eq!(conflicts == 0, apart);
            if apart {
                prop_assert_eq!(result, text(&[true, false]));
            }
        }

        /// However the lines repeat: each that one side took out or put in is missing or there in the result.
        #[test]
        fn a_clean_merge_holds_the_changes_of_both(base in few(), ours in few(), theirs in few()) {
            let (result, conflicts) = merge(&base, &ours, &theirs);
            let same = ours == base || theirs == base || {
                let (base, ours, theirs) = (base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
                let all = (lines(base).expect("text"), lines(ours).expect("text"), lines(theirs).expect("text"));
                let sides = [Side::new(&all.0, &all.1), Side::new(&all.0, &all.2)];
                regions(&sides, Region::meets).iter().all(|region| region.changes.iter().any(|changes| changes.is_empty()))
            };
            if conflicts == 0 && same {
                let mut sum = Default::default();
                for (text, sign) in [(&ours, 1), (&theirs, 1), (&base, -1), (&result, -1)] {
                    counted(text, sign, &mut sum);
                }
                prop_assert!(sum.values().all(|n| *n == 0), "{sum:?}");
            }
        }
    }
}
