//! One file of a run of edits: its text as the edits change it, and where they stand in it.

use std::collections::HashSet;

use super::earlier::stands_since;
use super::given::{Current, GroupRules};
use super::losses::{whole_text_loss, with_losses};
use super::moved::{Gain, staying};
use super::refusals::{AS_UTF8, CHANGED, EXISTS, NO_TEXT, NOT_ALL, NOT_NEW, RAW, question, quoted, unread};
use crate::edit::bytes::{self, Encoding};
use crate::edit::outcome::EditStatus;
use crate::edit::path::may_name;
use crate::edit::place::{self, Done, NewText, TargetText};
use crate::edit::stream::KnownFile;
use crate::edit::stream::paths::namesakes::{near, several};
use crate::edit::{Edit, Format, Op, PatchHunk};
use crate::proposal::{PlaceMatch, Placed, Rung, State, merge};

/// The state of a file in the middle of a run.
pub(super) enum FileState {
    Gone,
    Text {
        encoding: Encoding,
        text: String,
    },
    /// A link, or what else has no text.
    Other(State),
}

pub(super) struct File {
    pub path: String,
    pub before: State,
    pub seen: bool,
    /// True if it is another one than the model read.
    pub is_changed: bool,
    /// Existing paths that may be meant, where the path does not exist.
    pub instead: Vec<String>,
    /// The reason why no edit but a deletion may touch it.
    pub withheld: Option<String>,
    pub now: FileState,
    /// Its permissions, where they are known or asked for.
    pub mode: Option<u32>,
    /// All changes of bytes since the run began: position, old length, new length.
    pub steps: Vec<place::Step>,
    pub placed: Vec<Placed>,
    pub by: Vec<String>,
    /// The other end of a move, by index.
    pub moved: Option<(usize, MoveEnd)>,
    /// True if an edit is the file as it was before those that change it.
    pub is_quoted: bool,
    /// The texts that other edits of the answer put into other files.
    pub gains: Vec<Gain>,
    /// The edits, by number, that put into other files what is taken out of it.
    pub needs: Vec<usize>,
    pub out: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MoveEnd {
    From,
    To,
}

/// The number of places of one edit above which only their span is recorded.
const MANY: usize = 256;

/// Returns what the model is told of an edit that has no place after those before it: its file stays as it is on disk,
/// so the help is about that. Nothing for a file that is made in the same run.
fn on_disk(before: &str, encoding: Encoding, edit: &Edit) -> Option<String> {
    if before.is_empty() {
        return None;
    }
    let target = TargetText { text: before, encoding, base: before, steps: &[] };
    let Ok(done) = place::edit(&target, edit) else { return place::edit(&target, edit).err() };
    let line =
        done.stages.first().and_then(|s| s.first()).map_or(1, |s| crate::edit::lines::number(before, s.range.start));
    Some(format!(
        "its place is at line {line} of the file as it is on disk, but an edit before it in the same answer changed \
         those lines, or made others like them. Send both as one change, or with more of the lines around."
    ))
}

/// Returns an edit that has its place in the text as it was `before`, joined with the edits before it, which changed lines
/// of that place; `None` where it has none there either. The error says, for the model, that both do not go together.
fn beside_steps((text, before, encoding): (&str, &str, Encoding), edit: &Edit) -> Result<Option<Done>, String> {
    let target = TargetText { text: before, encoding, base: before, steps: &[] };
    let Some(done) = place::edit(&target, edit).ok().filter(|done| done.found.rung != Rung::Inexact) else {
        return Ok(None);
    };
    let theirs = done.made(before);
    let states = [theirs.as_str(), text].map(|text| State::file(text.as_bytes()));
    let merged = merge::side_by_side(before.as_bytes(), &states[0], &states[1]);
    let Some(new) = merged.as_ref().and_then(State::text) else {
        return Err(on_disk(before, encoding, edit).unwrap_or_else(|| TWICE.to_string()));
    };
    let found = PlaceMatch { rung: Rung::Inexact, detail: Some(JOINED.to_string()) };
    Ok(Some(Done { stages: vec![vec![changed(text, new)]], found, stands: false }))
}

/// Returns the bytes in which two texts differ, as one change of the first.
fn changed(old: &str, new: &str) -> place::Splice {
    let shared = |(a, b): &(char, char)| a == b;
    let front: usize = old.chars().zip(new.chars()).take_while(shared).map(|(c, _)| c.len_utf8()).sum();
    let ends = old[front..].chars().rev().zip(new[front..].chars().rev());
    let back: usize = ends.take_while(shared).map(|(c, _)| c.len_utf8()).sum();
    place::Splice { range: front..old.len() - back, new: new[front..new.len() - back].to_string() }
}

/// The detail of a place whose lines an edit before it changed.
const JOINED: &str = "joined with an edit before it, which changed the same lines";
const TWICE: &str = "an edit before it in the same answer changed the same lines. Send both as one change.";

/// The most files that a path may mean for them to be named; of more, none is.
const MOST_MEANT: usize = 8;

impl File {
    pub fn new(current: Current) -> Self {
        let now = match &current.state {
            State::Absent => FileState::Gone,
            State::File { bytes, .. } => {
                let (encoding, text) = bytes::decode(bytes);
                FileState::Text { encoding, text: text.into_owned() }
            }
            other @ (State::Link { .. } | State::Large(_) | State::Folder { .. }) => FileState::Other(other.clone()),
        };
        File {
            path: current.path,
            mode: match &current.state {
                State::File { mode, .. } => *mode,
                _ => None,
            },
            is_changed: current.read.is_some() && current.state.bytes().is_some(),
            before: current.state,
            seen: current.seen,
            instead: current.instead,
            withheld: current.withheld,
            now,
            steps: Vec::new(),
            placed: Vec::new(),
            by: Vec::new(),
            moved: None,
            is_quoted: false,
            gains: Vec::new(),
            needs: Vec::new(),
            out: false,
        }
    }

    /// Returns what the model is told where nothing is.
    pub fn absent(&self) -> String {
        let mean = match self.instead.len() {
            1..=MOST_MEANT => format!(" Did you mean {}?", self.instead.join(" or ")),
            _ => String::new(),
        };
        format!("there is no such file.{mean} Look at the folder with `list`, or make the file.")
    }

    pub fn is_gone(&self) -> bool {
        matches!(self.now, FileState::Gone)
    }

    /// Applies one edit other than a move. The error is for the model.
    pub fn change(&mut self, index: usize, edit: &Edit, rules: &GroupRules) -> Result<EditStatus, String> {
        if matches!(self.moved, Some((_, MoveEnd::From))) {
            return Err("it is moved away in the same go. Name its new path.".to_string());
        }
        let named = edit.path.is_none().then(|| edit.clone().of(&self.path));
        let edit = named.as_ref().unwrap_or(edit);
        let status = match &edit.op {
            Op::Delete if self.is_changed && !self.is_gone() => return Err(CHANGED.to_string()),
            Op::Delete => self.delete(rules)?,
            Op::DeleteText(hunks) => self.delete_text(hunks, rules)?,
            Op::Mode { mode } => self.set_mode(*mode)?,
            Op::Write { content } => self.make(content, (index, edit), rules)?,
            Op::Overwrite { content } => self.write(content, (index, edit), true, rules)?,
            _ => self.place(index, edit, rules)?,
        };
        if status != EditStatus::Made {
            self.by.push(edit.by.clone());
        }
        Ok(status)
    }

    fn delete(&mut self, rules: &GroupRules) -> Result<EditStatus, String> {
        if matches!(self.now, FileState::Gone) {
            let is_deleted = !self.before.is_absent() || rules.past.get(&self.path).is_some_and(|past| past.deleted);
            return if is_deleted { Ok(EditStatus::Made) } else { Err(self.absent()) };
        }
        if self.moved.is_some() {
            return Err("it is moved here in the same go. Delete it where it is now.".to_string());
        }
        self.now = FileState::Gone;
        self.placed.clear();
        Ok(EditStatus::Placed(PlaceMatch { rung: Rung::Exact, detail: None }))
    }

    /// Deletes the file if these hunks remove all of its text.
    fn delete_text(&mut self, hunks: &[PatchHunk], rules: &GroupRules) -> Result<EditStatus, String> {
        match &self.now {
            FileState::Text { encoding, text } if !place::removes_all(hunks, *encoding, text) => {
                Err(NOT_ALL.to_string())
            }
            _ => self.delete(rules),
        }
    }

    fn set_mode(&mut self, mode: u32) -> Result<EditStatus, String> {
        match &self.now {
            FileState::Gone => return Err(self.absent()),
            FileState::Other(_) => {
                return Err("it is a link, which has no permissions of its own, or too large to be edited.".to_string());
            }
            FileState::Text { .. } if self.mode == Some(mode) => {
                let is_new = self.before.mode() != Some(mode);
                return Ok(if is_new { EditStatus::Made } else { EditStatus::Same });
            }
            FileState::Text { .. } => self.mode = Some(mode),
        }
        Ok(EditStatus::Placed(PlaceMatch { rung: Rung::Exact, detail: None }))
    }

    /// Makes a new file; one that exists may be replaced only in a session, and not by `writeFile` of a patch.
    fn make(&mut self, content: &str, (index, edit): (usize, &Edit), rules: &GroupRules) -> Result<EditStatus, String> {
        if let FileState::Text { text, encoding } = &self.now
            && !text.is_empty()
        {
            let bare = bytes::unmarked(*encoding, content);
            let is_made = || {
                let made = place::made(bare, edit, &self.path);
                self.has_changed(rules) && made.text == *text
            };
            match edit.format {
                _ if self.seen && is_made() => return Ok(EditStatus::Made),
                // The whole text of the file, in the place of nothing.
                Format::BLOCKS if self.seen && !rules.all_or_nothing && place::keeps_all_of(text, bare, &self.path) => {
                }
                Format::BLOCKS => return Err(NOT_NEW.to_string()),
                Format::TOOLS => return Err(EXISTS.to_string()),
                _ if rules.all_or_nothing => return Err(EXISTS.to_string()),
                _ => {}
            }
        }
        self.write(content, (index, edit), false, rules)
    }

    fn write(
        &mut self,
        content: &str,
        (index, edit): (usize, &Edit),
        expected: bool,
        rules: &GroupRules,
    ) -> Result<EditStatus, String> {
        let (encoding, NewText { text, mut found, doubt }) = match &self.now {
            FileState::Other(_) => return Err(NO_TEXT.to_string()),
            FileState::Gone if expected && edit.format == Format::TOOLS => return Err(self.absent()),
            FileState::Gone => {
                let deleted = self.before.bytes().filter(|_| self.moved.is_none()).map(|bytes| bytes::decode(bytes).1);
                let doubt = match deleted {
                    Some(old) => place::replaced(&old, content),
                    None => self.meant_instead(edit, &rules.known).map(|files| format!("it may be {files}")),
                };
                (Encoding::Utf8 { bom: false }, NewText { doubt, ..place::made(content, edit, &self.path) })
            }
            FileState::Text { .. } if !self.seen => return Err(unread(expected)),
            FileState::Text { encoding: Encoding::Raw, .. } => return Err(RAW.to_string()),
            FileState::Text { encoding, text } => {
                let bare = bytes::unmarked(*encoding, content);
                let staying = staying(text, bare, &self.gains);
                let new = place::whole((text, &staying.text), bare, edit, &self.path)?;
                let new = with_losses(new, &staying.text, (&self.path, edit.format), rules);
                if new.text == *text {
                    return Ok(if self.has_changed(rules) { EditStatus::Made } else { EditStatus::Same });
                }
                if self.has_changed(rules) && self.is_standing(edit) {
                    return Ok(EditStatus::Made);
                }
                self.needs.extend(staying.gained_by);
                if edit.format == Format::WHOLE && self.is_as_before(&new.text) {
                    self.quote();
                    return Ok(EditStatus::Same);
                }
                (*encoding, new)
            }
        };
        found = self.without_dots(&text, found, place::leaves_out)?;
        if let Some(why) = doubt {
            let is_meant =
                |all: &HashSet<_>| !rules.unattended && all.contains(&(self.path.clone(), content.to_string()));
            if rules.questioned.as_ref().is_some_and(|all| !is_meant(all)) {
                let is_new = matches!(self.now, FileState::Gone) && self.before.is_absent();
                return Ok(EditStatus::Doubted(question(&why, is_new, rules.unattended)));
            }
            found = PlaceMatch { rung: Rung::Inexact, detail: Some(why) };
        }
        found = edit.name_doubt().or_else(|| rules.unwanted(edit.format)).unwrap_or(found);
        self.placed = vec![Placed { after: 0..text.len(), found: found.clone(), edit: Some(index) }];
        self.steps.push(place::Step::all());
        self.now = FileState::Text { encoding, text };
        self.seen = true;
        Ok(EditStatus::Placed(found))
    }

    /// Returns how a new text of it counts, `found` so: in doubt where a line of dots in it may stand for lines that are left out.
    /// The error is for the model, where no such file can have that line.
    fn without_dots(
        &self,
        new: &str,
        found: PlaceMatch,
        refusal: impl Fn(&str) -> String,
    ) -> Result<PlaceMatch, String> {
        let old = if let FileState::Text { text, .. } = &self.now { text } else { "" };
        match place::written_dots(old, new, &self.path) {
            Some((line, true)) => Err(refusal(line)),
            Some((line, false)) if found.rung != Rung::Inexact => Ok(place::stands_for_more(line)),
            _ => Ok(found),
        }
    }

    /// Returns whether edits of this run, or of the present turn, have changed it.
    fn has_changed(&self, rules: &GroupRules) -> bool {
        !self.steps.is_empty() || rules.past.get(&self.path).is_some_and(|past| past.in_turn)
    }

    /// Returns whether an edit is a block with nothing but one of its definitions as it is, beside edits that change the file.
    pub fn is_standing(&self, edit: &Edit) -> bool {
        let FileState::Text { text, .. } = &self.now else { return false };
        edit.whole_block().is_some_and(|content| place::is_standing_definition(text, content))
    }

    /// Returns whether a text is that of the file before edits of this run changed it.
    fn is_as_before(&self, text: &str) -> bool {
        !self.steps.is_empty() && self.before.bytes().is_some_and(|before| bytes::decode(before).1 == text)
    }

    /// Leaves what is placed to a person: whether it is meant is not certain.
    pub(super) fn quote(&mut self) {
        self.is_quoted = true;
        self.placed.iter_mut().for_each(|placed| placed.found = quoted());
    }

    /// Returns the only file of this name in another folder, which a block with a whole new file may mean, or the several
    /// ones that the model knows.
    fn meant_instead(&self, edit: &Edit, known: &[KnownFile]) -> Option<String> {
        edit.whole_block()?;
        match self.instead.as_slice() {
            [file] if may_name(&self.path, file) => Some(file.clone()),
            _ => several(&self.path, known).or_else(|| {
                let is_bare = !self.path.rsplit('/').next()?.contains('.');
                near(&self.path, known).filter(|_| is_bare).map(|file| file.path.clone())
            }),
        }
    }

    fn place(&mut self, index: usize, edit: &Edit, rules: &GroupRules) -> Result<EditStatus, String> {
        let (encoding, text) = match &self.now {
            FileState::Text { encoding, text } => (*encoding, text.as_str()),
            FileState::Other(_) => return Err(NO_TEXT.to_string()),
            FileState::Gone => match place::fresh(&edit.op) {
                Some(content) => return self.write(&content, (index, edit), false, rules),
                None => return Err(self.absent()),
            },
        };
        if encoding != Encoding::Raw
            && let Some(content) = place::whole_twice(text, &edit.op, &self.path)
        {
            let block = Edit { format: Format::WHOLE, ..edit.clone() };
            return self.write(&content, (index, &block), true, rules);
        }
        let before = self.before.bytes().map(|b| bytes::decode(b).1).unwrap_or_default();
        let target = TargetText { text, encoding, base: &before, steps: &self.steps };
        let done = place::edit(&target, edit);
        if self.is_made(edit, (text, &before, encoding), &done, rules) {
            return Ok(EditStatus::Made);
        }
        let mut done = done.map_err(|why| match self.steps.is_empty() {
            true => why,
            false => on_disk(&before, encoding, edit).unwrap_or(why),
        })?;
        if done.found.rung == Rung::Inexact && !self.steps.is_empty() {
            done = beside_steps((text, &before, encoding), edit)?.unwrap_or(done);
        }
        done.unmark(text, encoding);
        if !edit.whole {
            done.found = place::sure(false);
            if edit.format == Format::WHOLE {
                done.found.detail = match edit.op {
                    Op::Lines { .. } => Some("by the line numbers that stand at its path".to_string()),
                    Op::Hunks(_) => Some("new lines, put where the answer says or uses them".to_string()),
                    _ => Some("a block in the place of the one before it".to_string()),
                };
            }
        }
        if let Some(doubt) = edit.name_doubt().or_else(|| rules.unwanted(edit.format)) {
            done.found = doubt;
        }
        if encoding == Encoding::Raw && done.stages.iter().flatten().any(|splice| !splice.new.is_ascii()) {
            done.found = PlaceMatch { rung: Rung::Inexact, detail: Some(AS_UTF8.to_string()) };
        }
        let new = done.made(text);
        if new == text {
            return Ok(EditStatus::Same);
        }
        let Done { stages, found, .. } = done;
        let found = match whole_text_loss(text, &new, &stages, (&self.path, edit.format), rules) {
            Some(loss) if found.rung != Rung::Inexact => loss,
            _ => found,
        };
        let found = self.without_dots(&new, found, |_| place::DOTS.to_string())?;
        stages.iter().for_each(|splices| self.record(splices, &found, index));
        self.now = FileState::Text { encoding, text: new };
        Ok(EditStatus::Placed(found))
    }

    /// Returns whether the effect of an edit stands: in the present text around the place that it has there, or since an
    /// earlier text.
    fn is_made(
        &self,
        edit: &Edit,
        (text, before, encoding): (&str, &str, Encoding),
        done: &Result<Done, String>,
        rules: &GroupRules,
    ) -> bool {
        if done.as_ref().is_ok_and(|done| done.stands && done.stages.is_empty()) {
            return true;
        }
        let past = rules.past.get(&self.path).into_iter().flat_map(|past| past.texts.iter().rev());
        let earlier = Some(before).filter(|_| !self.steps.is_empty()).into_iter().chain(past.map(|text| &**text));
        let sure = done.as_ref().ok().filter(|done| done.found.rung != Rung::Inexact && done.made(text) != text);
        stands_since(earlier, text, (edit, encoding), sure)
    }

    /// Keeps in mind where one stage of an edit changed the text.
    fn record(&mut self, splices: &[place::Splice], found: &PlaceMatch, index: usize) {
        let placed = |after| Placed { after, found: found.clone(), edit: Some(index) };
        for splice in splices.iter().rev() {
            let step = place::Step::of(splice);
            self.placed.iter_mut().for_each(|p| p.after = step.carried(p.after.clone()));
            self.steps.push(step);
        }
        let mut grown = 0_isize;
        let mut places: Vec<Placed> = Vec::with_capacity(splices.len());
        for splice in splices {
            let start = splice.range.start.saturating_add_signed(grown);
            places.push(placed(start..start + splice.new.len()));
            grown += splice.new.len() as isize - splice.range.len() as isize;
        }
        match (places.first(), places.last()) {
            // Of very many places only the span is recorded: each would have to be carried through all later edits.
            (Some(first), Some(last)) if places.len() > MANY => {
                self.placed.push(placed(first.after.start..last.after.end));
            }
            _ => self.placed.extend(places),
        }
    }

    /// Returns the state before, the state after, and where in the after-bytes the edits stand.
    pub fn ends(&self) -> (State, State, Vec<Placed>) {
        match &self.now {
            FileState::Gone => (self.before.clone(), State::Absent, Vec::new()),
            FileState::Other(state) => (self.before.clone(), state.clone(), Vec::new()),
            FileState::Text { encoding, text } => {
                let at = |offset| bytes::offset(*encoding, text, offset);
                let placed =
                    self.placed.iter().map(|p| Placed { after: at(p.after.start)..at(p.after.end), ..p.clone() });
                let after = State::File { bytes: bytes::encode(*encoding, text).into(), mode: self.mode };
                (self.before.clone(), after, placed.collect())
            }
        }
    }

    /// Formats as `replaceInFile (2), writeFile`.
    pub fn origins(&self) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for by in &self.by {
            match counts.iter_mut().find(|(name, _)| name == by) {
                Some((_, n)) => *n += 1,
                None => counts.push((by, 1)),
            }
        }
        let words = counts.iter().map(|(name, n)| if *n == 1 { name.to_string() } else { format!("{name} ({n})") });
        words.collect::<Vec<_>>().join(", ")
    }
}
