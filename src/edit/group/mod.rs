//! A run of edits on evolving texts: one text a file, one change a file, one result an edit.

use std::collections::BTreeMap;

use super::bytes::{self, Encoding};
use super::outcome::{EditResult, Fate, Outcome};
use super::place::{self, Done, Ground};
use super::{Edit, Format, Op, PatchHunk};
use crate::proposal::{FileChange, Found, Placed, Rung, State};

#[cfg(test)]
mod tests;

/// A file as it is before a run of edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Current {
    /// Its normalised path.
    pub path: String,
    /// What is there.
    pub state: State,
    /// Whether the model knows its present text; only then may it be replaced as a whole.
    pub seen: bool,
    /// Where nothing is: the files the path may mean. An edit of a part of a file goes to the only one.
    pub instead: Vec<String>,
}

/// Finds out what a path (as a model wrote it) is now. The error is for the model and says why the path may not be used.
pub type Lookup<'a> = dyn FnMut(&str) -> Result<Current, String> + 'a;

/// What holds for a run of edits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    /// The one file in play, for edits that name none.
    pub in_play: Option<String>,
    /// `nebula patch`: one failure leaves out everything, not just its file, and a file that is to be new must be new.
    pub all_or_nothing: bool,
}

/// Places a run of edits, each in the text that those before it left. A file in which one edit could not be
/// placed is left out whole; the others go ahead (unless the rules say all or nothing).
pub fn apply(edits: &[Edit], lookup: &mut Lookup<'_>, rules: &Rules) -> Outcome {
    let mut group = Group { files: Vec::new(), by_path: BTreeMap::new(), lookup };
    let mut results: Vec<EditResult> = Vec::with_capacity(edits.len());
    let mut homes: Vec<Vec<usize>> = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        let mut home = Vec::new();
        let name = edit.path.clone().or_else(|| rules.in_play.clone());
        let (path, fate) = match name {
            None => (String::from("(no path)"), Fate::Failed(NO_PATH.to_string())),
            Some(name) => match group.open_for(&name, edit) {
                Err(why) => (name, Fate::Failed(why)),
                Ok(file) => {
                    home.push(file);
                    let fate = match &edit.op {
                        _ if group.files[file].is_gone() && is_example(&name, &edit.op) => Ok(Fate::Example),
                        Op::Move { to } => group.relocate(file, to, edit, &mut home),
                        _ => group.files[file].change(index, edit, rules),
                    };
                    (group.files[file].path.clone(), fate.unwrap_or_else(Fate::Failed))
                }
            },
        };
        results.push(EditResult { index, path, format: edit.format, fate });
        homes.push(home);
    }
    group.leave_out(&mut results, &homes, rules.all_or_nothing);
    Outcome { changes: group.changes(), results }
}

/// Whether an edit repeats one of the examples in the instructions (`assets/prompts/format-*.md`), as small models do.
fn is_example(path: &str, op: &Op) -> bool {
    match op {
        Op::Replace { search, .. } => path == "hello.py" && search.trim() == "def greet():\n    print(\"hi\")",
        Op::Write { content } => path == "notes/todo.md" && content.trim() == "- first",
        Op::Hunks(hunks) => path == "hello.py" && hunks.iter().any(|h| h.above == ["class Greeter:"]),
        Op::Delete | Op::DeleteText(_) => path == "old.py",
        Op::Move { to } => path == "a.py" && to == "b.py",
        Op::Lines { expect, .. } => path == "hello.py" && expect.trim() == "def greet():\n    print(\"hi\")",
        Op::Overwrite { .. } | Op::Mode { .. } => false,
    }
}

const NO_PATH: &str = "the edit names no file. Write the file's path before it and send it again.";

struct Group<'l, 'a> {
    files: Vec<File>,
    by_path: BTreeMap<String, usize>,
    lookup: &'l mut Lookup<'a>,
}

/// What a file is at the moment, in the middle of a run.
enum Now {
    Gone,
    Text {
        encoding: Encoding,
        text: String,
    },
    /// A link, or what else has no text.
    Other(State),
}

struct File {
    path: String,
    before: State,
    seen: bool,
    /// What its path may mean, where nothing is.
    instead: Vec<String>,
    now: Now,
    /// Its permissions, where they are known or asked for.
    mode: Option<u32>,
    /// Every change of bytes since the run began: at, old length, new length.
    steps: Vec<place::Step>,
    placed: Vec<Placed>,
    by: Vec<String>,
    /// The other end of a move, by index: where this file went, or came from.
    moved: Option<(usize, End)>,
    out: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    From,
    To,
}

impl Group<'_, '_> {
    /// The file that an edit means by this name: where nothing is, the only one that ends so, if the edit finds its place
    /// there.
    fn open_for(&mut self, name: &str, edit: &Edit) -> Result<usize, String> {
        let current = self.current(name)?;
        let gone = current.state.is_absent() && !self.by_path.contains_key(&current.path);
        if gone
            && edit.is_within()
            && !is_example(name, &edit.op)
            && let [instead] = current.instead.as_slice()
        {
            return self.open(instead);
        }
        self.open_as(current)
    }

    /// The file of that name, by its index; read at its first mention.
    fn open(&mut self, name: &str) -> Result<usize, String> {
        let current = self.current(name)?;
        self.open_as(current)
    }

    fn open_as(&mut self, current: Current) -> Result<usize, String> {
        if let Some(index) = self.by_path.get(&current.path) {
            return Ok(*index);
        }
        let index = self.files.len();
        self.by_path.insert(current.path.clone(), index);
        self.files.push(File::new(current));
        Ok(index)
    }

    /// What a path is now. `src\\a.rs` means `src/a.rs` and `@src/a.rs` too, unless there is a file of just that name.
    fn current(&mut self, name: &str) -> Result<Current, String> {
        let slashed = name.replace('\\', "/");
        let meant = slashed.strip_prefix('@').map_or(slashed.as_str(), |rest| rest.strip_prefix('/').unwrap_or(rest));
        let current = (self.lookup)(name);
        let there = current.as_ref().is_ok_and(|c| !c.state.is_absent());
        if there || (meant == name && current.is_ok()) {
            return current;
        }
        // A path from the workspace's root on, as in `@/src/a.rs`.
        if current.is_err()
            && let Some(inner) = slashed.strip_prefix('/')
            && let Ok(other) = (self.lookup)(inner)
            && !other.state.is_absent()
        {
            return Ok(other);
        }
        match (self.lookup)(meant) {
            Ok(other) if !other.state.is_absent() || slashed != name => Ok(other),
            _ => current,
        }
    }

    fn relocate(&mut self, from: usize, to: &str, edit: &Edit, home: &mut Vec<usize>) -> Result<Fate, String> {
        let target = self.open(to)?;
        home.push(target);
        if from == target {
            return Err("a file cannot be moved to its own path. Name another one.".to_string());
        }
        if !matches!(self.files[target].now, Now::Gone) {
            return Err(format!(
                "{} exists already. Choose another path, or delete it first.",
                self.files[target].path
            ));
        }
        if matches!(self.files[from].now, Now::Gone) {
            return Err(self.files[from].absent());
        }
        if self.files[from].moved.is_some() || self.files[target].moved.is_some() {
            return Err("it is moved twice in one go. Move it once, to its last place.".to_string());
        }
        self.files[target].now = std::mem::replace(&mut self.files[from].now, Now::Gone);
        self.files[target].seen = self.files[from].seen;
        self.files[target].mode = self.files[from].mode;
        self.files[target].placed = std::mem::take(&mut self.files[from].placed);
        self.files[target].by.push(edit.by.clone());
        self.files[from].by.push(edit.by.clone());
        self.files[from].moved = Some((target, End::From));
        self.files[target].moved = Some((from, End::To));
        Ok(Fate::Landed(Found { rung: Rung::Exact, detail: None }))
    }

    /// Marks what must not happen because something else failed.
    fn leave_out(&mut self, results: &mut [EditResult], homes: &[Vec<usize>], all: bool) {
        let failed = |r: &EditResult| matches!(r.fate, Fate::Failed(_));
        let any = results.iter().any(failed);
        for (result, home) in results.iter().zip(homes) {
            if failed(result) {
                home.iter().for_each(|i| self.files[*i].out = true);
            }
        }
        // The two ends of a move fall together.
        for index in 0..self.files.len() {
            if let Some((other, _)) = self.files[index].moved {
                let out = self.files[index].out || self.files[other].out;
                (self.files[index].out, self.files[other].out) = (out, out);
            }
        }
        if all && any {
            self.files.iter_mut().for_each(|f| f.out = true);
        }
        for (result, home) in results.iter_mut().zip(homes) {
            if result.ok() && home.iter().any(|i| self.files[*i].out) {
                result.fate = Fate::LeftOut;
            }
        }
    }

    fn changes(self) -> Vec<FileChange> {
        let ends: Vec<(State, State, Vec<Placed>)> = self.files.iter().map(File::ends).collect();
        let mut changes = Vec::new();
        for (index, file) in self.files.iter().enumerate().filter(|(_, f)| !f.out) {
            let (before, after, placed) = &ends[index];
            match file.moved {
                Some((other, End::From)) => changes.extend(FileChange::moved(
                    &file.path,
                    &self.files[other].path,
                    before.clone(),
                    ends[other].1.clone(),
                    &file.asked_by(),
                    &ends[other].2,
                )),
                Some((_, End::To)) => {}
                None if before == after => {}
                None => {
                    changes.push(FileChange::new(&file.path, before.clone(), after.clone(), file.asked_by(), placed));
                }
            }
        }
        changes
    }
}

/// More places of one edit are kept as one.
const MANY: usize = 256;

/// What the model is told of an edit that has no place after those before it: its file stays as it is on disk, so the
/// help is about that. Nothing for a file that is made in the same run.
fn on_disk(before: &str, encoding: Encoding, edit: &Edit) -> Option<String> {
    if before.is_empty() {
        return None;
    }
    let ground = Ground { text: before, encoding, base: before, steps: &[] };
    let Ok(done) = place::edit(&ground, edit) else { return place::edit(&ground, edit).err() };
    let line = done.stages.first().and_then(|s| s.first()).map_or(1, |s| super::lines::number(before, s.range.start));
    Some(format!(
        "its place is at line {line} of the file as it is on disk, but an edit before it in the same answer changed \
         those lines, or made others like them. Send both as one change, or with more of the lines around."
    ))
}

/// Of more files than this that a path may mean none is named.
const MOST_MEANT: usize = 8;

impl File {
    fn new(current: Current) -> Self {
        let now = match &current.state {
            State::Absent => Now::Gone,
            State::File { bytes, .. } => {
                let (encoding, text) = bytes::decode(bytes);
                Now::Text { encoding, text: text.into_owned() }
            }
            link @ State::Link { .. } => Now::Other(link.clone()),
        };
        File {
            path: current.path,
            mode: match &current.state {
                State::File { mode, .. } => *mode,
                _ => None,
            },
            before: current.state,
            seen: current.seen,
            instead: current.instead,
            now,
            steps: Vec::new(),
            placed: Vec::new(),
            by: Vec::new(),
            moved: None,
            out: false,
        }
    }

    /// What the model is told where nothing is.
    fn absent(&self) -> String {
        let mean = match self.instead.len() {
            1..=MOST_MEANT => format!(" Did you mean {}?", self.instead.join(" or ")),
            _ => String::new(),
        };
        format!("there is no such file.{mean} Look at the folder with `list`, or make the file.")
    }

    fn is_gone(&self) -> bool {
        matches!(self.now, Now::Gone)
    }

    /// One edit other than a move. The error is for the model.
    fn change(&mut self, index: usize, edit: &Edit, rules: &Rules) -> Result<Fate, String> {
        if matches!(self.moved, Some((_, End::From))) {
            return Err("it is moved away in the same go. Name its new path.".to_string());
        }
        let fate = match &edit.op {
            Op::Delete => self.delete()?,
            Op::DeleteText(hunks) => self.delete_text(hunks)?,
            Op::Mode { mode } => self.set_mode(*mode)?,
            Op::Write { content } => self.make(content, (index, edit), rules)?,
            Op::Overwrite { content } => self.write(content, (index, edit), true)?,
            _ => self.place(index, edit)?,
        };
        self.by.push(edit.by.clone());
        Ok(fate)
    }

    fn delete(&mut self) -> Result<Fate, String> {
        if matches!(self.now, Now::Gone) {
            return Err(self.absent());
        }
        if self.moved.is_some() {
            return Err("it is moved here in the same go. Delete it where it is now.".to_string());
        }
        self.now = Now::Gone;
        self.placed.clear();
        Ok(Fate::Landed(Found { rung: Rung::Exact, detail: None }))
    }

    /// Deletes the file if these hunks remove all of its text.
    fn delete_text(&mut self, hunks: &[PatchHunk]) -> Result<Fate, String> {
        match &self.now {
            Now::Text { encoding, text } if !place::removes_all(hunks, *encoding, text) => Err(NOT_ALL.to_string()),
            _ => self.delete(),
        }
    }

    fn set_mode(&mut self, mode: u32) -> Result<Fate, String> {
        match &self.now {
            Now::Gone => return Err(self.absent()),
            Now::Other(_) => return Err("it is a link, which has no permissions of its own.".to_string()),
            Now::Text { .. } if self.mode == Some(mode) => return Ok(Fate::Same),
            Now::Text { .. } => self.mode = Some(mode),
        }
        Ok(Fate::Landed(Found { rung: Rung::Exact, detail: None }))
    }

    /// A new file; one that exists may be replaced only in a session, and not by `writeFile`.
    fn make(&mut self, content: &str, (index, edit): (usize, &Edit), rules: &Rules) -> Result<Fate, String> {
        if matches!(&self.now, Now::Text { text, .. } if !text.is_empty()) {
            match edit.format {
                Format::Blocks => return Err(NOT_NEW.to_string()),
                Format::Tools => return Err(EXISTS.to_string()),
                _ if rules.all_or_nothing => return Err(EXISTS.to_string()),
                _ => {}
            }
        }
        self.write(content, (index, edit), false)
    }

    fn write(&mut self, content: &str, (index, edit): (usize, &Edit), expected: bool) -> Result<Fate, String> {
        let mut found = place::sure(edit.whole);
        if edit.format == Format::Whole && !edit.whole {
            found.detail = Some("it is not certain that this is the whole file".to_string());
        }
        let (encoding, text) = match &self.now {
            Now::Other(_) => return Err(NO_TEXT.to_string()),
            Now::Gone if expected && edit.format == Format::Tools => return Err(self.absent()),
            Now::Gone => (Encoding::Utf8 { bom: false }, place::made(content, edit, &self.path)),
            Now::Text { .. } if !self.seen => return Err(unread(expected)),
            Now::Text { encoding: Encoding::Raw, .. } => return Err(RAW.to_string()),
            Now::Text { encoding, text } => {
                let new = place::whole(text, content, edit, &self.path)?;
                if new == *text {
                    return Ok(Fate::Same);
                }
                (*encoding, new)
            }
        };
        self.placed = vec![Placed { after: 0..text.len(), found: found.clone(), edit: Some(index) }];
        self.steps.push(place::Step::all());
        self.now = Now::Text { encoding, text };
        self.seen = true;
        Ok(Fate::Landed(found))
    }

    fn place(&mut self, index: usize, edit: &Edit) -> Result<Fate, String> {
        let (encoding, text) = match &self.now {
            Now::Text { encoding, text } => (*encoding, text.as_str()),
            Now::Other(_) => return Err(NO_TEXT.to_string()),
            Now::Gone => match place::fresh(&edit.op) {
                Some(content) => return self.write(&content, (index, edit), false),
                None => return Err(self.absent()),
            },
        };
        let before = self.before.bytes().map(|b| bytes::decode(b).1).unwrap_or_default();
        let ground = Ground { text, encoding, base: &before, steps: &self.steps };
        let Done { stages, mut found } = place::edit(&ground, edit).map_err(|why| match self.steps.is_empty() {
            true => why,
            false => on_disk(&before, encoding, edit).unwrap_or(why),
        })?;
        if !edit.whole {
            found = place::sure(false);
        }
        let mut new = text.to_string();
        for splices in &stages {
            new = place::spliced(&new, splices);
        }
        if new == text {
            return Ok(Fate::Same);
        }
        stages.iter().for_each(|splices| self.record(splices, &found, index));
        self.now = Now::Text { encoding, text: new };
        Ok(Fate::Landed(found))
    }

    /// Keeps in mind where one stage of an edit changed the text.
    fn record(&mut self, splices: &[place::Splice], found: &Found, index: usize) {
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
            // Of very many places only the span is kept: each would have to be carried through all that follow.
            (Some(first), Some(last)) if places.len() > MANY => {
                self.placed.push(placed(first.after.start..last.after.end));
            }
            _ => self.placed.extend(places),
        }
    }

    /// Before, after, and where in the after-bytes the edits stand.
    fn ends(&self) -> (State, State, Vec<Placed>) {
        match &self.now {
            Now::Gone => (self.before.clone(), State::Absent, Vec::new()),
            Now::Other(state) => (self.before.clone(), state.clone(), Vec::new()),
            Now::Text { encoding, text } => {
                let at = |offset| bytes::offset(*encoding, text, offset);
                let placed =
                    self.placed.iter().map(|p| Placed { after: at(p.after.start)..at(p.after.end), ..p.clone() });
                let after = State::File { bytes: bytes::encode(*encoding, text).into(), mode: self.mode };
                (self.before.clone(), after, placed.collect())
            }
        }
    }

    /// `replaceInFile (2), writeFile`.
    fn asked_by(&self) -> String {
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

const NOT_ALL: &str = "the patch deletes it, but the lines that the patch removes are not those the file holds now. Read it \
                       again, then delete it as it is.";
const NO_TEXT: &str = "it is a link, not a text. Name the file it points to.";
const EXISTS: &str = "it exists already. Change a part of it with a search and replace, or overwrite it as a whole.";
const NOT_NEW: &str = "an empty SEARCH makes a new file, but this one exists. Put the lines to change under SEARCH.";
const RAW: &str = "it is not text that can be rewritten; only a search and replace of exact bytes is allowed in it.";

fn unread(expected: bool) -> String {
    if expected {
        "it has not been read as it is now. Read it with `readFile`, then send the whole new text again.".to_string()
    } else {
        "it exists already, and has not been read. Read it, then change a part of it with a search and replace."
            .to_string()
    }
}
