//! The rows of a diff, before anything is laid out: heads, folds, hunk lines and lines of code. Made once for a
//! proposal and again when a fold is opened; drawing looks only at the rows that are seen.

use std::ops::Range;

use super::align::{self, HunkPart};
use super::folds::{FileFolds, Folds};
use super::lines::{Ending, Lines, binary, binary_change, mode_change, text_id};
use crate::messages::{diff as say, records, verbs};
use crate::proposal::{
    Counts, FileChange, HunkDefinition, HunkKind, MergeRung, PlaceMatch, Proposal, REPOSITORY, Rung, part_of_repository,
};
use crate::tui::pane::paint::found_word;

/// The layout of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The texts before and after, beside each other.
    Side,
    /// Removed lines above the added ones.
    Unified,
}

/// A row before it is laid out. Numbers of lines count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// An empty row between files.
    Blank,
    /// A file's path and counts.
    Head,
    /// Something about a file or hunk in words: see [`FileView::note`].
    Note {
        /// The hunk it is about.
        hunk: usize,
    },
    /// Lines left out.
    Fold {
        /// First line before that is left out.
        from: usize,
        /// The number of lines.
        len: usize,
    },
    /// The line that heads a hunk.
    Hunk {
        /// The hunk's number in the file.
        hunk: usize,
    },
    /// The lines of a hunk that is shut.
    Shut {
        /// The hunk.
        hunk: usize,
    },
    /// A line that stays.
    Same {
        /// The hunk it belongs to; `None` inside an opened fold.
        hunk: Option<usize>,
        /// The line's number before the change.
        before: usize,
        /// The line's number after it.
        after: usize,
    },
    /// Something that was said about a hunk.
    Talk {
        /// The hunk.
        hunk: usize,
        /// The part of what was said about it.
        part: usize,
    },
    /// A changed line: the removed one, the added one, or both. Unified, one of the two is drawn.
    Pair {
        /// The hunk it belongs to.
        hunk: usize,
        /// Removed line.
        left: Option<usize>,
        /// Added line.
        right: Option<usize>,
        /// The side that is drawn.
        show: Show,
    },
}

/// The side of a pair that a row draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Both sides.
    Both,
    /// The removed line.
    Left,
    /// The added line.
    Right,
}

/// One hunk as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct HunkView {
    /// Its kind.
    pub kind: HunkKind,
    /// Changed lines before.
    pub before: Range<usize>,
    /// Changed lines after.
    pub after: Range<usize>,
    /// `exact`, `by indentation, 4 further right`; empty when no edit made it.
    pub found: String,
    /// The rung, without the details.
    pub rung: Option<Rung>,
    /// Characters in its added lines that hide what the text says.
    pub hidden: usize,
    /// The definitions that it touches, where they are known.
    pub definitions: Vec<HunkDefinition>,
    /// Questions of the person about it and answers of the model, in turns, and comments; the last question may be open.
    pub talk: Vec<Talk>,
    parts: Vec<HunkPart>,
    note: Option<String>,
}

/// A question about a hunk, its answer, or a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Talk {
    /// The kind of it.
    pub kind: TalkKind,
    /// The words.
    pub text: String,
}

/// The kinds of what is said about a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TalkKind {
    /// The person asked the model.
    Question,
    /// The model answered.
    Answer,
    /// The person's words that are sent with the decision.
    Comment,
}

/// One file as it is shown.
#[derive(Debug, Clone)]
pub struct FileView {
    /// Normalised path.
    pub path: String,
    /// The tool or format that asked for the change.
    pub by: String,
    /// Lines before.
    pub before: Lines,
    /// Lines after.
    pub after: Lines,
    /// Lines added and removed.
    pub counts: Counts,
    /// Its hunks.
    pub hunks: Vec<HunkView>,
    /// The usual ending of its lines: other endings are drawn.
    pub usual: Ending,
    /// The highlighter's numbers of the two texts.
    pub ids: (u64, u64),
    /// True if someone else changed it since: it is merged or not written.
    pub stale: bool,
    /// Its content acts later.
    pub later: bool,
    /// No policy approves all of its hunks.
    pub personal: bool,
    /// A merge: what someone else changed in it stays.
    pub merged: Option<MergeRung>,
    /// It is restored although it was changed outside nebula.
    pub foreign: bool,
    /// The line, from 1, with a syntax error that was not there before.
    pub broken: Option<usize>,
    /// The number of other names (hard links), which keep the old text.
    pub other_names: usize,
    /// It is shown with an earlier one.
    pub aside: bool,
}

/// Lines that stay, between two hunks or at an end of the file.
struct Gap {
    lines: Range<usize>,
    /// The line after that the first of them is.
    after: usize,
    /// The hunk before.
    prev: Option<usize>,
    /// True if a hunk follows.
    next: bool,
}

impl Gap {
    /// Returns the numbers of lines that are shown as context of the hunk before, and of the hunk after.
    fn context(&self, context: usize) -> (usize, usize) {
        let tail = if self.prev.is_some() { context.min(self.lines.len()) } else { 0 };
        let lead = if self.next { context.min(self.lines.len() - tail) } else { 0 };
        (tail, lead)
    }
}

impl FileView {
    /// Creates a file of `proposal` for showing. `budget`: see [`align::BUDGET`].
    pub fn new(change: &FileChange, proposal: &Proposal, budget: &mut usize) -> Self {
        // The far end of a move shows what the move changes, not the whole text twice.
        let from = change.moved.as_ref().and_then(|path| proposal.files.iter().find(|f| &f.path == path));
        let moved_in = from.filter(|f| change.before.is_absent() && f.after.is_absent());
        let before = Lines::of(moved_in.map_or(&change.before, |f| &f.before));
        let after = Lines::of(&change.after);
        let usual = match before.len() {
            0 => after.usual_ending(),
            _ => before.usual_ending(),
        };
        let mut file = FileView {
            path: change.path.clone(),
            by: origins(&change.by),
            counts: change.counts,
            ids: (text_id(&change.path, &before), text_id(&change.path, &after)),
            hunks: Vec::new(),
            before,
            after,
            usual,
            stale: false,
            later: change.unit.is_none() && change.acts_later(),
            personal: change.unit.is_none() && change.hunks.iter().any(|hunk| change.needs_person(hunk).is_some()),
            merged: change.merged,
            foreign: change.foreign,
            broken: change.broken,
            other_names: change.other_names,
            aside: false,
        };
        for hunk in &change.hunks {
            let lines = hunk.kind == HunkKind::Lines;
            let mut view = HunkView {
                kind: hunk.kind,
                before: if lines { hunk.before.clone() } else { 0..0 },
                after: if lines { hunk.after.clone() } else { 0..0 },
                // Where nothing differed there is nothing to say.
                found: hunk.found.as_ref().filter(|f| f.rung != Rung::Exact).map(found).unwrap_or_default(),
                rung: hunk.found.as_ref().map(|f| f.rung).filter(|rung| *rung != Rung::Exact),
                hidden: hunk.hidden,
                definitions: hunk.definitions.clone(),
                talk: Vec::new(),
                parts: Vec::new(),
                note: hunk.found.as_ref().filter(|found| found.rung == Rung::Inexact).and_then(reason),
            };
            file.fill(&mut view, change, moved_in.map(|f| f.path.as_str()), budget);
            file.hunks.push(view);
        }
        file
    }

    /// Sets the lines and the words of a hunk.
    fn fill(&self, hunk: &mut HunkView, change: &FileChange, moved_in: Option<&str>, budget: &mut usize) {
        let whole = |hunk: &mut HunkView| {
            hunk.before = 0..self.before.len();
            hunk.after = 0..self.after.len();
        };
        match hunk.kind {
            HunkKind::Lines => {}
            HunkKind::Create | HunkKind::Delete => {
                whole(hunk);
                if hunk.before.is_empty() && hunk.after.is_empty() {
                    hunk.note = Some(say::empty().into());
                }
                if let Some(binary) = binary(change) {
                    (hunk.before, hunk.after) = (0..0, 0..0);
                    hunk.note = Some(binary);
                }
            }
            HunkKind::Move => match (moved_in, &change.moved) {
                (Some(from), _) => {
                    hunk.note = Some(say::moved_here(&from));
                    if self.before.bytes() != self.after.bytes() {
                        whole(hunk);
                    }
                }
                (None, to) => hunk.note = Some(say::moves_to(&to.as_deref().unwrap_or(say::another_path()))),
            },
            HunkKind::Binary => hunk.note = Some(binary_change(change)),
            HunkKind::Mode => hunk.note = Some(mode_change(change)),
        }
        if let Some(words) = &change.unit {
            let is_repository = change.path == REPOSITORY;
            let words = if is_repository { records::repository(words) } else { records::localized(words) };
            hunk.note = Some(words.into_owned());
        }
        hunk.parts = align::parts(&self.before, hunk.before.clone(), &self.after, hunk.after.clone(), budget);
    }

    /// Takes over what was said about the hunks of `old`, an earlier view of the file: each to the same hunk, what was
    /// said about one that is gone to the hunk before it.
    pub fn take_talk(&mut self, old: &mut FileView) {
        for i in 0..old.hunks.len() {
            let talk = std::mem::take(&mut old.hunks[i].talk);
            let was = &old.hunks[i];
            let text = |file: &FileView, hunk: &HunkView| -> Vec<Vec<u8>> {
                hunk.after.clone().map(|line| file.after.whole(line).to_vec()).collect()
            };
            let same = |hunk: &HunkView| {
                (hunk.kind, &hunk.before) == (was.kind, &was.before) && text(self, hunk) == text(old, was)
            };
            let near = || self.hunks.iter().rposition(|hunk| hunk.before.start <= was.before.start);
            let here = self.hunks.iter().position(same).or_else(near).unwrap_or(0);
            if let Some(hunk) = self.hunks.get_mut(here) {
                hunk.talk.extend(talk);
            }
        }
    }

    /// Returns the lines that a hunk adds and removes.
    pub fn hunk_counts(&self, hunk: usize) -> Counts {
        let mut counts = Counts::default();
        for part in self.hunks.get(hunk).map_or(&[][..], |hunk| &hunk.parts) {
            if let HunkPart::Pair(left, right) = part {
                counts.removed += usize::from(left.is_some());
                counts.added += usize::from(right.is_some());
            }
        }
        counts
    }

    /// Returns what the note of a hunk says.
    pub fn note(&self, hunk: usize) -> Option<&str> {
        self.hunks.get(hunk)?.note.as_deref()
    }

    /// Returns lines that stay before hunk `slot` (one more than there are hunks: at the end).
    fn gap(&self, slot: usize) -> Gap {
        // Whole-file hunks and changes of mode have no place among the lines.
        let lines = |i: &usize| self.hunks[*i].kind == HunkKind::Lines;
        let prev = (0..slot.min(self.hunks.len())).rev().find(lines);
        let (from, after) = prev.map_or((0, 0), |i| (self.hunks[i].before.end, self.hunks[i].after.end));
        let next = slot < self.hunks.len() && lines(&slot);
        // The lines after the last hunk of lines follow it, whatever comes then.
        let ends = || prev.is_some_and(|i| i + 1 == slot) && !(slot..self.hunks.len()).any(|i| lines(&i));
        let end = match next {
            true => self.hunks[slot].before.start,
            false if ends() => self.before.len(),
            false => from,
        };
        Gap { lines: from..end.max(from), after, prev, next }
    }

    /// Adds the rows of the file with this many lines of context; `folds`: the state of its folds.
    pub fn rows(&self, layout: Layout, context: usize, folds: &FileFolds<'_>, heads: bool, out: &mut Vec<Row>) {
        for slot in 0..=self.hunks.len() {
            let gap = self.gap(slot);
            let (mut tail, mut lead) = gap.context(context);
            let prev_shut = gap.prev.is_some_and(|hunk| folds.is_shut(hunk));
            let next_shut = gap.next && folds.is_shut(slot);
            tail *= usize::from(!prev_shut);
            lead *= usize::from(!next_shut);
            let hidden = gap.lines.len() - tail - lead;
            let same = |hunk: Option<usize>, lines: Range<usize>, out: &mut Vec<Row>| {
                out.extend(lines.map(|i| Row::Same { hunk, before: i, after: gap.after + i - gap.lines.start }));
            };
            same(gap.prev, gap.lines.start..gap.lines.start + tail, out);
            // What was said of a hunk stands below all of its lines.
            if let Some(hunk) = slot.checked_sub(1) {
                out.extend((0..self.hunks[hunk].talk.len()).map(|part| Row::Talk { hunk, part }));
            }
            let inner = gap.lines.start + tail..gap.lines.end - lead;
            // A fold of one line would take as much room as the line.
            // Between shut hunks nothing is looked at.
            let is_aside = (prev_shut || gap.prev.is_none()) && (next_shut || !gap.next) && (prev_shut || next_shut);
            if folds.is_open(slot) || hidden == 1 && !is_aside {
                same(None, inner, out);
            } else if hidden > 1 && !is_aside {
                out.push(Row::Fold { from: inner.start, len: hidden });
            }
            if slot == self.hunks.len() {
                break;
            }
            if heads {
                out.push(Row::Hunk { hunk: slot });
            }
            // Words about a hunk are no lines of it.
            if self.hunks[slot].note.is_some() {
                out.push(Row::Note { hunk: slot });
            }
            if folds.is_shut(slot) {
                out.push(Row::Shut { hunk: slot });
                continue;
            }
            same(Some(slot), gap.lines.end - lead..gap.lines.end, out);
            self.changed(slot, layout, out);
        }
    }

    fn changed(&self, hunk: usize, layout: Layout, out: &mut Vec<Row>) {
        let parts = &self.hunks[hunk].parts;
        let mut i = 0;
        while i < parts.len() {
            if let HunkPart::Same { before, after, len } = parts[i] {
                out.extend((0..len).map(|k| Row::Same { hunk: Some(hunk), before: before + k, after: after + k }));
                i += 1;
                continue;
            }
            let run = parts[i..].iter().take_while(|p| matches!(p, HunkPart::Pair(..))).count();
            let pairs = parts[i..i + run].iter().filter_map(|p| match p {
                HunkPart::Pair(l, r) => Some((*l, *r)),
                HunkPart::Same { .. } => None,
            });
            let row = |show: Show| move |(left, right)| Row::Pair { hunk, left, right, show };
            match layout {
                Layout::Side => out.extend(pairs.map(row(Show::Both))),
                Layout::Unified => {
                    out.extend(pairs.clone().filter(|p| p.0.is_some()).map(row(Show::Left)));
                    out.extend(pairs.filter(|p| p.1.is_some()).map(row(Show::Right)));
                }
            }
            i += run;
        }
    }

    /// Returns the lines before that hunk `hunk` is shown with, counted from 1: `24-28`.
    pub fn visible_lines(&self, hunk: usize, context: usize) -> Range<usize> {
        let Some(h) = self.hunks.get(hunk) else { return 0..0 };
        if h.kind != HunkKind::Lines {
            return if h.after.is_empty() { h.before.clone() } else { h.after.clone() };
        }
        let (_, lead) = self.gap(hunk).context(context);
        // A hunk of other kind between two of lines has no gap of its own.
        let next = (hunk + 1..=self.hunks.len()).map(|s| self.gap(s)).find(|g| g.next || !g.lines.is_empty());
        let tail = next.map_or(0, |g| g.context(context).0);
        h.before.start - lead..h.before.end + tail
    }
}

/// Returns the rows of all files, with the file each belongs to.
pub fn all(files: &[FileView], layout: Layout, context: usize, folds: &Folds, heads: Heads) -> Vec<(u32, Row)> {
    let (mut out, mut rows) = (Vec::new(), Vec::new());
    for (f, file) in files.iter().enumerate().filter(|(_, file)| !file.aside) {
        if heads == Heads::All {
            rows.extend((f > 0).then_some(Row::Blank));
            rows.push(Row::Head);
        }
        file.rows(layout, context, &folds.of(f), heads == Heads::All, &mut rows);
        out.extend(rows.drain(..).map(|r| (f as u32, r)));
    }
    out
}

/// The heading rows of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heads {
    /// Heads of files and of hunks.
    All,
    /// None: two states of one file below a line that names them.
    None,
}

/// Shows all files of the repository that a proposal restores in the place of the first of them.
pub fn gather(files: &mut [FileView], proposal: &Proposal) {
    let is_part = |at: &usize| proposal.files[*at].restores_repository();
    let parts: Vec<usize> = (0..files.len()).filter(is_part).collect();
    let Some((first, others)) = parts.split_first() else { return };
    for other in others {
        (files[*other].aside, files[*other].counts) = (true, Counts::default());
        files[*other].hunks.clear();
    }
    let names = || {
        let names = parts.iter().filter_map(|at| part_of_repository(&proposal.files[*at].path));
        names.collect::<Vec<_>>().join(", ")
    };
    let unit = proposal.files[*first].unit.as_deref();
    let words = unit.map_or_else(names, |words| records::repository(words).into_owned());
    let whole = FileChange {
        by: proposal.files[*first].by.clone(),
        foreign: parts.iter().any(|at| proposal.files[*at].foreign),
        ..FileChange::of_repository(words)
    };
    let stale = parts.iter().any(|at| files[*at].stale);
    let mut whole = FileView { stale, ..FileView::new(&whole, proposal, &mut 0) };
    whole.take_talk(&mut files[*first]);
    files[*first] = whole;
}

/// Returns `edit (2), move` in the language of the screen: the verbs of what asked for a change.
fn origins(by: &str) -> String {
    let one = |by: &str| {
        let (verb, times) = by.find(" (").map_or((by, ""), |at| by.split_at(at));
        format!("{}{times}", verbs::localized(verb))
    };
    by.split(", ").map(one).collect::<Vec<_>>().join(", ")
}

fn found(found: &PlaceMatch) -> String {
    // Why it is inexact stands on a row of its own.
    let reason = reason(found).filter(|_| found.rung != Rung::Inexact);
    [found_word(found.rung).to_string()].into_iter().chain(reason).collect::<Vec<_>>().join(", ")
}

/// Returns why the place of an edit counts as it does; none: nothing is known but how it was found.
fn reason(found: &PlaceMatch) -> Option<String> {
    let parts = found.detail.as_ref()?.split(", ").map(records::localized);
    Some(parts.collect::<Vec<_>>().join(", "))
}
