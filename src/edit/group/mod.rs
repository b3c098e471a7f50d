//! A run of edits on evolving texts: one text for each file, one change for each file, one result for each edit.

mod earlier;
mod file;
mod given;
mod going;
mod going_words;
mod joined;
mod losses;
mod moved;
mod refusals;
mod wishes;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use earlier::PastChanges;
pub use given::{Current, GroupRules, Lookup, TextRead};
pub use refusals::NO_FILE;
pub use wishes::Wishes;

use self::earlier::is_same;
use self::file::{File, FileState, MoveEnd};
use self::moved::Gain;
use self::refusals::{CHANGED, quoted};
use super::bytes::{Encoding, decode};
use super::format::Format;
use super::op::{Edit, Op};
use super::outcome::{EditOutcome, EditResult, EditStatus};
use super::path::bare;
use super::place::{self, TargetText};
use super::stream::KnownFile;
use super::stream::paths::namesakes::{in_sandbox, is_version, meant_by, near, several, version_of};
use crate::proposal::{FileChange, PlaceMatch, Placed, Rung, State};

#[cfg(test)]
mod tests;

/// Places a run of edits, each in the text that those before it left; one that is among those before it is made once. A file in which one edit could not be
/// placed is left out whole; the others go ahead (unless the rules say all or nothing). Where a file changed since the
/// model read it, an edit goes to the place that it has in the text that was read: what stands elsewhere in the file as
/// it is now may only look the same.
pub fn apply(edits: &[Edit], lookup: &mut Lookup<'_>, rules: &GroupRules) -> EditOutcome {
    joined::apply(edits, lookup, rules, placed)
}

fn placed(edits: &[Edit], lookup: &mut Lookup<'_>, rules: &GroupRules) -> EditOutcome {
    let is_leaving = |edit: &&Edit| matches!(edit.op, Op::Delete | Op::DeleteText(_) | Op::Move { .. });
    let leaving = edits.iter().filter(is_leaving).filter_map(|edit| edit.path.clone()).collect();
    let mut group = Group { files: Vec::new(), by_path: BTreeMap::new(), leaving, lookup };
    let mut results: Vec<EditResult> = Vec::with_capacity(edits.len());
    let mut homes: Vec<Vec<usize>> = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        let edit = &group.under_longer_name(edit);
        let mut home = Vec::new();
        let name = name_of(edit, rules);
        let (path, status) = match name {
            None => (String::from("(no path)"), EditStatus::Failed(NO_PATH.to_string())),
            Some(name) => match group.open_for(&name, edit, &rules.known) {
                Err(why) => (name, EditStatus::Failed(why)),
                Ok(file) => {
                    home.push(file);
                    let before = edits.iter().zip(&results).zip(&homes);
                    let same =
                        before.filter(|((one, _), home)| home.first() == Some(&file) && is_same(&one.op, &edit.op));
                    let again = same.map(|((_, result), _)| result).find_map(EditResult::again);
                    let status = match &edit.op {
                        _ if let Some(status) = again => Ok(status),
                        op if *op != Op::Delete
                            && let Some(why) = &group.files[file].withheld =>
                        {
                            Err(why.clone())
                        }
                        _ if group.files[file].is_gone()
                            && !rules.past.contains_key(&group.files[file].path)
                            && is_example(&name, edit) =>
                        {
                            Ok(EditStatus::Example)
                        }
                        Op::Move { to } => group.relocate((file, to), edit, &mut home, rules),
                        _ => {
                            group.files[file].gains = group.gains(index, edits, rules);
                            group.files[file].change(index, edit, rules)
                        }
                    };
                    (group.files[file].path.clone(), status.unwrap_or_else(EditStatus::Failed))
                }
            },
        };
        results.push(EditResult { index, path, format: edit.format, status });
        homes.push(home);
    }
    group.let_stand(edits, &mut results, &homes);
    group.leave_out(&mut results, &homes, rules.all_or_nothing);
    EditOutcome { changes: group.changes(), results }
}

/// Returns whether an edit repeats one of the examples in the instructions (`assets/prompts/format-*.md` and
/// `example-*.md`), as small models do.
fn is_example(path: &str, edit: &Edit) -> bool {
    let examples = || [Format::WHOLE, Format::BLOCKS].into_iter().filter_map(Format::example).flatten();
    let is_part = |text: &str| !text.is_empty() && examples().any(|example| example.contains(text));
    // A file that the person wants may be as short as a part of an example.
    let is_whole = |text: &str| {
        let fenced = format!("```python\n{}\n```", text.trim());
        path == "hello.py" && examples().any(|example| example.contains(&fenced))
    };
    // One that is shortened has no line of its own.
    let is_shortened = |text: &str| {
        let own: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let is_line = |line: &&str| examples().any(|example| example.lines().any(|own| own == *line));
        path == "hello.py" && edit.format != Format::TOOLS && own.len() >= 2 && own.iter().all(is_line)
    };
    match &edit.op {
        Op::Replace { search, .. } => path == "hello.py" && is_part(search.trim()),
        Op::Overwrite { content, .. } => is_whole(content) || is_shortened(content),
        Op::Write { content } => {
            is_whole(content) || is_shortened(content) || path == "notes/todo.md" && content.trim() == "- first"
        }
        Op::Hunks(hunks) => path == "hello.py" && hunks.iter().any(|h| h.above == ["class Greeter:"]),
        Op::Delete | Op::DeleteText(_) => path == "old.py",
        Op::Move { to } => path == "a.py" && to == "b.py",
        Op::Lines { expect, .. } => path == "hello.py" && expect.trim() == "def greet():\n    print(\"hi\")",
        Op::Mode { .. } | Op::Definition { .. } => false,
    }
}

/// Returns the known file of which a whole text, written under a path where nothing is, is a new version. The error says
/// that it may be one of several: of files of one name only that one is meant of which alone the text has much.
fn meant_whole<'k>(path: &str, edit: &Edit, known: &'k [KnownFile]) -> Result<Option<&'k str>, String> {
    let (Op::Write { content } | Op::Overwrite { content }) = &edit.op else { return Ok(None) };
    if edit.format == Format::TOOLS {
        return Ok(None);
    }
    let mut named = meant_by(path, known);
    if named.is_empty() {
        named.extend(near(path, known));
    }
    let version = version_of(content, &named).map(|file| file.path.as_str());
    match several(path, known).filter(|_| named.iter().any(|file| is_version(content, &file.text))) {
        Some(files) if version.is_none() => {
            Err(format!("it may be {files}. Name the one that is meant, with its folder."))
        }
        _ => Ok(version),
    }
}

/// Returns the path of an edit's file: the one it names, the one in play, or the only known one in which it has its place.
fn name_of(edit: &Edit, rules: &GroupRules) -> Option<String> {
    let in_play = || rules.in_play.clone().or_else(|| placed_in(edit, &rules.known));
    edit.path.clone().or_else(in_play)
}

/// Returns the only known file in which an edit that names none has its place.
fn placed_in(edit: &Edit, known: &[KnownFile]) -> Option<String> {
    let is_in = |file: &&KnownFile| {
        let (text, encoding) = (&*file.text, Encoding::Utf8 { bom: false });
        let target = TargetText { text, encoding, base: text, steps: &[] };
        place::edit(&target, edit).is_ok_and(|done| done.found.rung != Rung::Inexact)
    };
    let mut files = known.iter().filter(|_| edit.is_of_part()).filter(is_in);
    files.next().filter(|_| files.next().is_none()).map(|file| file.path.clone())
}

const NO_PATH: &str = "the edit names no file. Write the file's path before it and send it again.";

/// In an answer of more edits none is looked through for what another one moves.
const MOST_BESIDE: usize = 64;

struct Group<'l, 'a> {
    files: Vec<File>,
    by_path: BTreeMap<String, usize>,
    /// The paths of files that are deleted or moved.
    leaving: Vec<String>,
    lookup: &'l mut Lookup<'a>,
}

impl Group<'_, '_> {
    /// Returns the file that an edit means by this name: where nothing is, the only one that ends so, if the edit finds
    /// its place there or is a whole text with most lines of it, or the only `known` one of that name with such a text.
    fn open_for(&mut self, name: &str, edit: &Edit, known: &[KnownFile]) -> Result<usize, String> {
        let current = match self.current(name) {
            Err(why) => return self.open(in_sandbox(name, known).ok_or(why)?),
            Ok(current) => current,
        };
        let gone = current.state.is_absent() && !self.by_path.contains_key(&current.path);
        if gone
            && let Some(file) = meant_whole(&current.path, edit, known)?
            && !self.leaving.iter().any(|path| bare(path) == file)
        {
            return self.open(file);
        }
        if gone
            && !is_example(name, edit)
            && let [instead] = current.instead.as_slice()
            && (edit.is_of_part() || self.is_version_of(instead, edit))
        {
            return self.open(instead);
        }
        self.open_as(current)
    }

    /// Returns an edit under the name of which its path may be the end, where there is such a file.
    fn under_longer_name<'e>(&mut self, edit: &'e Edit) -> Cow<'e, Edit> {
        let Some(longer) = &edit.longer else { return Cow::Borrowed(edit) };
        let is_there = (self.lookup)(&longer.path)
            .is_ok_and(|there| !there.state.is_absent() || self.by_path.contains_key(&there.path));
        if is_there { Cow::Owned(edit.clone().of(&longer.path)) } else { Cow::Borrowed(edit) }
    }

    /// Returns whether an edit is a block with a new version of a file.
    fn is_version_of(&mut self, path: &str, edit: &Edit) -> bool {
        let Some(content) = edit.whole_block() else { return false };
        let there = self.current(path).ok().filter(|there| there.withheld.is_none());
        there.and_then(|there| Some(is_version(content, &decode(there.state.bytes()?).1))).unwrap_or(false)
    }

    /// Returns the file of that name, by its index; read at its first mention.
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

    /// Returns what a path is now, without the quotes, labels and line numbers that models put around it. `src\\a.rs`
    /// means `src/a.rs` and
    /// `@src/a.rs` too, unless there is a file of just that name.
    fn current(&mut self, name: &str) -> Result<Current, String> {
        let slashed = bare(name).replace('\\', "/");
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

    fn relocate(
        &mut self,
        (from, to): (usize, &str),
        edit: &Edit,
        home: &mut Vec<usize>,
        rules: &GroupRules,
    ) -> Result<EditStatus, String> {
        let target = self.open(to)?;
        home.push(target);
        if from == target {
            return Err("a file cannot be moved to its own path. Name another one.".to_string());
        }
        if self.is_moved(from, target, rules) {
            return Ok(EditStatus::Made);
        }
        if !matches!(self.files[target].now, FileState::Gone) {
            return Err(format!(
                "{} exists already. Choose another path, or delete it first.",
                self.files[target].path
            ));
        }
        if matches!(self.files[from].now, FileState::Gone) {
            return Err(self.files[from].absent());
        }
        if self.files[from].is_changed {
            return Err(CHANGED.to_string());
        }
        if self.files[from].moved.is_some() || self.files[target].moved.is_some() {
            return Err("it is moved twice in one go. Move it once, to its last place.".to_string());
        }
        self.files[target].now = std::mem::replace(&mut self.files[from].now, FileState::Gone);
        self.files[target].seen = self.files[from].seen;
        self.files[target].mode = self.files[from].mode;
        self.files[target].is_quoted = self.files[from].is_quoted;
        self.files[target].placed = std::mem::take(&mut self.files[from].placed);
        self.files[target].by.push(edit.by.clone());
        self.files[from].by.push(edit.by.clone());
        self.files[from].moved = Some((target, MoveEnd::From));
        self.files[target].moved = Some((from, MoveEnd::To));
        Ok(EditStatus::Placed(PlaceMatch { rung: Rung::Exact, detail: None }))
    }

    /// Returns whether a file is moved there already, in this run or before.
    fn is_moved(&self, from: usize, target: usize, rules: &GroupRules) -> bool {
        let (file, end) = (&self.files[from], &self.files[target]);
        let past = || rules.past.get(&file.path).and_then(|past| past.moved.as_ref());
        file.moved == Some((target, MoveEnd::From))
            || file.is_gone() && !end.is_gone() && past().is_some_and(|to| *to == end.path)
    }

    /// Returns what the edits beside a block with a whole file put into other files.
    fn gains(&mut self, index: usize, edits: &[Edit], rules: &GroupRules) -> Vec<Gain> {
        if edits.len() == 1 || edits.len() > MOST_BESIDE || edits[index].whole_block().is_none() {
            return Vec::new();
        }
        let own = name_of(&edits[index], rules).and_then(|name| self.current(&name).ok());
        let others = edits.iter().enumerate().filter(|(at, _)| *at != index);
        let gains = others.filter_map(|(at, edit)| {
            let there = self.current(&name_of(edit, rules)?).ok().filter(|there| there.withheld.is_none())?;
            let is_other = own.as_ref().is_some_and(|own| own.path != there.path);
            is_other.then(|| Gain::of(at, edit, &decode(there.state.bytes().map_or(&[], |bytes| bytes)).1))?
        });
        gains.collect()
    }

    /// Lets a block be a quotation that is nothing but a definition of its file, where another edit changes the file.
    fn let_stand(&self, edits: &[Edit], results: &mut [EditResult], homes: &[Vec<usize>]) {
        for ((edit, result), home) in edits.iter().zip(results).zip(homes) {
            let file = home.first().map(|file| &self.files[*file]);
            let is_beside = || file.is_some_and(|file| !file.steps.is_empty() && file.is_standing(edit));
            if matches!(result.status, EditStatus::Doubted(_)) && is_beside() {
                result.status = EditStatus::Same;
            }
        }
    }

    /// Marks what must not happen because something else failed, and what is not certain.
    fn leave_out(&mut self, results: &mut [EditResult], homes: &[Vec<usize>], all: bool) {
        let failed = |r: &EditResult| matches!(r.status, EditStatus::Failed(_) | EditStatus::Doubted(_));
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
        // What is taken out of a file stays in it where it does not come into the other.
        let is_out = |files: &[File], at: usize| failed(&results[at]) || homes[at].iter().any(|file| files[*file].out);
        while let Some(index) = (0..self.files.len()).find(|index| {
            let file = &self.files[*index];
            !file.out && file.needs.iter().any(|at| is_out(&self.files, *at))
        }) {
            self.files[index].out = true;
        }
        if all && any {
            self.files.iter_mut().for_each(|f| f.out = true);
        }
        // What was placed behind the quote, too.
        self.files.iter_mut().filter(|file| file.is_quoted).for_each(File::quote);
        for (result, home) in results.iter_mut().zip(homes) {
            if let EditStatus::Placed(found) = &mut result.status
                && home.iter().any(|i| self.files[*i].is_quoted)
            {
                *found = quoted();
            }
            if result.ok() && home.iter().any(|i| self.files[*i].out) {
                result.status = EditStatus::LeftOut;
            }
        }
    }

    fn changes(self) -> Vec<FileChange> {
        let ends: Vec<(State, State, Vec<Placed>)> = self.files.iter().map(File::ends).collect();
        let mut changes = Vec::new();
        for (index, file) in self.files.iter().enumerate().filter(|(_, f)| !f.out) {
            let (before, after, placed) = &ends[index];
            match file.moved {
                Some((other, MoveEnd::From)) => changes.extend(FileChange::moved(
                    &file.path,
                    &self.files[other].path,
                    before.clone(),
                    ends[other].1.clone(),
                    &file.origins(),
                    &ends[other].2,
                )),
                Some((_, MoveEnd::To)) => {}
                None if before == after => {}
                None => {
                    changes.push(FileChange::new(&file.path, before.clone(), after.clone(), file.origins(), placed));
                }
            }
        }
        changes
    }
}
