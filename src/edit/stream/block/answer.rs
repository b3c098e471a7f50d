//! The edits that blocks of one answer are together.

use std::collections::HashSet;

use super::steps::{is_step, said, step};
use super::{MOST_COMPARED, UnreadBlock, edit, is_only_shown, replaced};
use crate::edit::format::Format;
use crate::edit::op::Edit;
use crate::edit::path::is_language;
use crate::edit::place::{begins_passage, definition_names};
use crate::edit::stream::pieces::{KnownFile, Piece};
use crate::edit::stream::starts::language;

/// Returns the edits of blocks that no path stands above, in an answer in which nothing is read: one that is a definition
/// or other passages of a file in play, or that a sentence names a new file for, or two of which the second takes the place
/// of the first; and beside those new lines that they use. Where calls are asked for, only parts of files in play. None
/// where a file comes twice, but for parts of other names, or where there are more than [`MOST_COMPARED`].
pub(in crate::edit) fn loose(blocks: &[UnreadBlock], format: Format, known: &[KnownFile]) -> Vec<Edit> {
    read_loose(blocks, format, known).0
}

/// Returns the file in play that some blocks of an answer change ([`loose`]) and others, which are steps of it too, do not.
pub(in crate::edit) fn left(blocks: &[UnreadBlock], format: Format, known: &[KnownFile]) -> Option<String> {
    let (edits, left) = read_loose(blocks, format, known);
    let path = edits.iter().find_map(|edit| edit.path.as_deref())?;
    let file = known.iter().find(|file| file.path == path)?;
    left.into_iter().any(|block| is_step(block, file)).then(|| path.to_string())
}

/// Returns the one file that edits of an answer are of, where a block beside them is another of its numbered steps.
pub(in crate::edit) fn left_beside(blocks: &[UnreadBlock], pieces: &[Piece], known: &[KnownFile]) -> Option<String> {
    let path = |piece: &'_ Piece| if let Piece::EditDone { edit, .. } = piece { edit.path.clone() } else { None };
    let paths: HashSet<String> = pieces.iter().filter_map(path).collect();
    let file = known.iter().find(|file| paths.len() == 1 && paths.contains(&file.path))?;
    let is_left = |block: &UnreadBlock| {
        let is_it = !block.titled && block.is_numbered() && block.may_be_for(file, known);
        is_it && is_step(block, file) && begins_passage(&block.content, &file.path)
    };
    blocks.iter().take(MOST_COMPARED).any(is_left).then(|| file.path.clone())
}

/// Returns the edits of blocks, and the blocks that are none.
fn read_loose<'b>(blocks: &'b [UnreadBlock], format: Format, known: &[KnownFile]) -> (Vec<Edit>, Vec<&'b UnreadBlock>) {
    if blocks.len() > MOST_COMPARED {
        return Default::default();
    }
    let of_calls = format == Format::TOOLS;
    let is_of_known = |edit: &Edit| known.iter().any(|file| edit.path.as_deref() == Some(&file.path));
    let (mut edits, mut texts, mut left, mut at) = (Vec::new(), Vec::new(), Vec::new(), 0);
    while let Some(block) = blocks.get(at) {
        let next = blocks.get(at + 1);
        let pair = next.and_then(|new| replaced(block, new, known));
        let text = if pair.is_some() { &blocks[at + 1].content } else { &block.content };
        at += if pair.is_some() { 2 } else { 1 };
        let own = || if of_calls { edit(block, only_of_calls(block, known)?) } else { edit(block, known) };
        match pair.or_else(own).filter(|(edit, _)| !of_calls || is_of_known(edit)) {
            Some(edit) => {
                edits.push(edit);
                texts.push(text.as_str());
            }
            None => left.push(block),
        }
    }
    let mut steps = steps_beside(&mut left, (&edits, &texts), of_calls, known);
    // What is used comes first.
    steps.append(&mut edits);
    let edits = steps;
    let is_same = |(one, name): &Loose, (other, before): &Loose| {
        one.path == other.path && (name.is_none() || before.is_none() || name == before)
    };
    let is_twice = edits.iter().enumerate().any(|(at, edit)| edits[..at].iter().any(|before| is_same(edit, before)));
    if is_twice { Default::default() } else { (edits.into_iter().map(|(edit, _)| edit).collect(), left) }
}

/// The edit that blocks are, and what tells it from others of its file.
type Loose = (Edit, Option<String>);

/// Takes those of the blocks that are `left` which are steps beside edits with these texts, all of one file, or which the line
/// above puts at an end; returns their edits.
fn steps_beside(
    left: &mut Vec<&UnreadBlock>,
    (edits, texts): (&[Loose], &[&str]),
    of_calls: bool,
    known: &[KnownFile],
) -> Vec<Loose> {
    let paths: HashSet<&str> = edits.iter().filter_map(|(edit, _)| edit.path.as_deref()).collect();
    let one = paths.iter().next().filter(|_| paths.len() == 1).copied();
    let of_edits = known.iter().find(|file| one == Some(&file.path));
    // A step may use another one.
    let others =
        left.iter().filter(|block| !block.shows_output() && !is_only_shown(&block.said)).map(|block| &*block.content);
    let all: Vec<&str> = texts.iter().copied().chain(others).collect();
    let (mut steps, mut constants) = (Vec::new(), Vec::new());
    left.retain(|block| {
        let files = if of_calls { only_of_calls(block, known) } else { Some(known) };
        let mut files = files.into_iter().flatten().filter(|file| block.may_be_for(file, known));
        let of_edits = of_edits.filter(|file| block.may_be_for(file, known));
        let file = of_edits.or_else(|| files.next().filter(|_| files.next().is_none()));
        let found = file.filter(|file| !block.titled && is_step(block, file)).and_then(|file| {
            let used = if texts.is_empty() { None } else { step(block, &all, file) };
            used.or_else(|| Some((said(block, file)?, Some(block.content.clone()))))
        });
        let is_left = found.is_none();
        if definition_names(&block.content).is_empty() { &mut constants } else { &mut steps }.extend(found);
        is_left
    });
    constants.append(&mut steps);
    constants
}

/// Returns the files in play that a block may be for where calls are asked for: the only one, or the only one of its language
/// where the line above leads to it.
fn only_of_calls<'k>(block: &UnreadBlock, known: &'k [KnownFile]) -> Option<&'k [KnownFile]> {
    if known.len() == 1 {
        return Some(known);
    }
    let language = language(&block.info);
    let is_of = |file: &KnownFile| !language.is_empty() && is_language(&language, &file.path);
    let at = known.iter().position(is_of).filter(|_| block.is_headed())?;
    (known.iter().filter(|file| is_of(file)).count() == 1).then(|| &known[at..=at])
}
