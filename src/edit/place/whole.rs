//! A whole new text for a file.

use super::dress::{shifted_back, undressed};
use super::entities::entities;
use super::guard::{
    Lost, PIECE, begin_alike, elided_definitions, end_alike, is_piece, keeps_all, lacking, lost, reaches_both_ends,
};
use super::left_out::{LeftOut, filled, is_said, left_out};
use super::part::{is_lone_part, is_standing_definition, same_definition};
use super::snippet::{bare_dots, passages};
use super::splice::sure;
use super::transcript;
use super::wrapped::unwrapped;
use crate::edit::locate::{lost_indentation, with_own_width, with_recipe_tabs, with_tabs};
use crate::edit::path::{is_prose, with_words};
use crate::edit::stream::paths::heads::headed;
use crate::edit::stream::paths::{holds_line, same_path};
use crate::edit::{Edit, Format, Op, bytes};
use crate::proposal::{PlaceMatch, Rung};

/// A whole new text, as it was understood.
#[derive(Debug)]
pub(in crate::edit) struct NewText {
    pub text: String,
    pub found: PlaceMatch,
    /// The reason why it may be a part of the file only: the model is asked first.
    pub doubt: Option<String>,
}

impl NewText {
    fn inexact(text: String, detail: impl Into<String>) -> Self {
        NewText { text, found: inexact(detail), doubt: None }
    }
}

fn inexact(detail: impl Into<String>) -> PlaceMatch {
    PlaceMatch { rung: Rung::Inexact, detail: Some(detail.into()) }
}

/// Returns the new text of an existing file: line endings and final newline follow the old one, of which all but what is
/// `staying` goes to another file. The error is for the model.
pub(in crate::edit) fn whole(
    (old, staying): (&str, &str),
    content: &str,
    edit: &Edit,
    path: &str,
) -> Result<NewText, String> {
    let is_block = edit.format == Format::WHOLE;
    let content = plain(content, edit, path);
    let content = if is_block { without_heading(&content, Some(old), path) } else { &content };
    let unwrapped = if is_block && !is_prose(path) { unwrapped(content, old, path)? } else { content.into() };
    let (content, numbered) = undressed(&unwrapped, Some(old), path);
    let (content, shift) = shifted_back(content, old, path);
    if let Some(why) = no_file(old, &content, is_block, path) {
        return Err(why.into());
    }
    let changed = transcript::diff(old, &content).or_else(|| transcript::conflict(old, &content, path));
    if let Some(changed) = changed {
        return changed.map(|(text, found)| NewText { text, found, doubt: None });
    }
    if is_block && let Some((text, line)) = filled(old, &content) {
        let found = inexact(format!("`{line}` filled with the lines of the file"));
        return Ok(NewText { found, ..whole((old, staying), &text, edit, path)? });
    }
    if is_block && let Some((text, names)) = elided_definitions(old, &content, path) {
        return Ok(NewText::inexact(text, taken_as(&names)));
    }
    let doubt = doubted(staying, &content, edit, path)?;
    let content = with_recipe_tabs(("", &content), old, path);
    let text = bytes::fit_whole(&with_own_width(&with_tabs(&content, old), old), old);
    let mut found = known(edit, edit.whole || (is_block && end_alike(old, &text)));
    if found.rung == Rung::Exact {
        found = match shift {
            Some(shift) => PlaceMatch { rung: Rung::Indentation, detail: shift.detail() },
            None if numbered => PlaceMatch { rung: Rung::TrailingSpace, detail: Some(NUMBERED.to_string()) },
            None => found,
        };
    }
    let is_lone = || is_block && is_lone_part(staying, &text);
    let lost = lost(staying, &text, is_block).or_else(|| is_lone().then(|| lacking(staying, &text)));
    // A call that overwrites a file says what it means. A block that may be a part of its file is one where it lacks what
    // stands at an end of it. One that changes nothing as a part may be the whole.
    let is_part =
        is_block && (lost.is_some() || !(edit.whole || begin_alike(staying, &text) && end_alike(staying, &text)));
    let is_standing = is_part && edit.whole && is_standing_definition(old, &text);
    if is_part
        && !is_standing
        && let Some((placed, names)) = placed_parts((old, &text), edit, path, (&lost, &doubt))
    {
        return match left_out(old, &placed) {
            Some(LeftOut::Surely(line) | LeftOut::Perhaps(line)) => Err(leaves_out(line)),
            None => Ok(NewText::inexact(placed, taken_as(&names))),
        };
    }
    let Some(lost) = lost else { return Ok(NewText { text, found, doubt }) };
    let why = part_meant(&lost);
    if is_block && !is_standing && is_piece(old, &text) {
        return Err(format!("{why} {PIECE}"));
    }
    Ok(NewText { text, found, doubt: Some(doubt.unwrap_or(why)) })
}

/// Returns the reason why a text may not be meant in the place of a file that was deleted before it.
pub(in crate::edit) fn replaced(old: &str, new: &str) -> Option<String> {
    lost(old, new, false).map(|lost| part_meant(&lost))
}

/// Returns the question about a text that leaves out so much.
fn part_meant(lost: &Lost) -> String {
    match lost {
        Lost::Definitions(lost, of) => {
            format!("it leaves out {lost} of the file's {of} definitions; is a part of the file meant?")
        }
        Lost::Lines(lost, of) => format!("it leaves out {lost} of the file's {of} lines; is a part of the file meant?"),
    }
}

/// Returns whether a text is all of a file by its lines, from the first to the last one, in the dress that models give them.
pub(in crate::edit) fn is_all_of(old: &str, content: &str, path: &str) -> bool {
    let content = unwrapped(content, old, path).unwrap_or(content.into());
    reaches_both_ends(old, &undressed(&content, Some(old), path).0) || keeps_all_of(old, &content, path)
}

/// Returns whether a text is surely all of a file although nothing says so: it keeps its lines and definitions, in the dress
/// that models give them.
pub(in crate::edit) fn keeps_all_of(old: &str, content: &str, path: &str) -> bool {
    keeps_all(old, &undressed(content, Some(old), path).0)
}

/// Returns the whole new text of a file that a search and replace has in both places, as small models do: nothing stands there
/// to be replaced.
pub(in crate::edit) fn whole_twice(old: &str, op: &Op, path: &str) -> Option<String> {
    let Op::Replace { search, replace, .. } = op else { return None };
    let is_twice = search.trim_end() == replace.trim_end() && !old.contains(search.trim_end());
    (is_twice && is_all_of(old, replace, path)).then(|| replace.clone())
}

/// Returns a file with a text in the place of the one definition, or the several passages, of it that the text is, and
/// their names. Where the one stays as it is, the lines around it may be meant to go.
fn placed_parts(
    (old, text): (&str, &str),
    edit: &Edit,
    path: &str,
    (lost, doubt): (&Option<Lost>, &Option<String>),
) -> Option<(String, String)> {
    let is_other = |placed: &str| placed != old || matches!(lost, Some(Lost::Definitions(..)));
    let one = same_definition(old, text).filter(|(placed, _)| is_other(placed));
    // A text that is a part of the file lacks the rest of it, in the place of which any comment seems to stand.
    let says_nothing = || match left_out(old, text) {
        Some(LeftOut::Surely(line) | LeftOut::Perhaps(line)) => !is_said(line),
        None => true,
    };
    let is_certain =
        |placed: &str| doubt.is_none() || edit.elsewhere.is_none() && says_nothing() && left_out(old, placed).is_none();
    one.or_else(|| passages(old, text, path).filter(|(placed, _)| placed != text && is_certain(placed)))
}

/// Returns the reason, for the model, why a text is none of the file.
fn no_file(old: &str, content: &str, is_block: bool, path: &str) -> Option<&'static str> {
    if is_block && !old.trim().is_empty() && (content.trim().is_empty() || is_path(content, path)) {
        return Some(EMPTY);
    }
    if shows_file(content, path) && !shows_file(old, path) {
        return Some(REPEATED);
    }
    if lost_indentation(content, old, path) {
        return Some(FLAT);
    }
    transcript::is_session(old, content, path).then_some(SESSION)
}

/// Returns the reason why a text may be a part of its file only. The error says that lines are left out of it.
fn doubted(old: &str, content: &str, edit: &Edit, path: &str) -> Result<Option<String>, String> {
    if let Some(line) = bare_dots(old, content, path) {
        return Err(leaves_out(line));
    }
    Ok(match left_out(old, content) {
        Some(LeftOut::Surely(line)) => {
            return Err(leaves_out(line));
        }
        Some(LeftOut::Perhaps(line)) => {
            Some(format!("lines of the file are gone where it reads `{line}`; is a part of the file meant?"))
        }
        None => edit.elsewhere.as_ref().map(|names| {
            format!("it leaves out {names}, which another block of the answer holds; is a part of the file meant?")
        }),
    })
}

/// Returns the reason, for the model, why a line that stands for others makes a text useless.
pub(in crate::edit) fn leaves_out(line: &str) -> String {
    format!(
        "the new text leaves lines out (`{line}`), so the whole file is not known. Write every line, or change only a part \
         of the file with a search and replace."
    )
}

fn taken_as(names: &str) -> String {
    format!("taken as the new text of {names} alone")
}

const NUMBERED: &str = "line numbers left out";
const EMPTY: &str =
    "the block holds no text for the file, so nothing of it was used. Write the file's whole text in it.";
const FLAT: &str = "all lines of the text begin at the margin, where those of the file do not, so nothing of it was used. Write the \
                    text with its indentation.";
const SESSION: &str =
    "the text shows what is typed into a shell, so nothing of it was used. Write the file's whole text.";

const REPEATED: &str = "the text shows the file in a fence under its path, so it is not certain what belongs to it, and nothing \
                     of it was used. Write the file's text alone.";

/// Returns whether a text shows a file under its path instead of being it. Documents may well do that.
fn shows_file(text: &str, path: &str) -> bool {
    if is_prose(path) || !text.contains("```") {
        return false;
    }
    let solid: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    solid.windows(2).any(|lines| lines[1].trim_start().starts_with("```") && is_path(lines[0], path))
}

/// Returns whether a text is nothing but the file's path, as a comment or bare.
fn is_path(content: &str, path: &str) -> bool {
    let bare = content.trim().trim_matches(['#', '/', '-', ';', '<', '>', '!', '*', '`', '"', '\'', ' ']);
    let name =
        bare.split_once(':').map_or(bare, |(label, rest)| if rest.trim().is_empty() { label } else { rest }).trim();
    name == path || path.rsplit('/').next() == Some(name)
}

/// Returns the text of a file that is made.
pub(in crate::edit) fn made(content: &str, edit: &Edit, path: &str) -> NewText {
    let content = plain(content, edit, path);
    let text = match edit.format {
        Format::WHOLE => undressed(without_heading(&content, None, path), None, path).0.into_owned(),
        _ => content,
    };
    let text = with_recipe_tabs(("", &text), "", path).into_owned();
    NewText { text, found: known(edit, edit.whole), doubt: None }
}

/// Returns how sure it is that a text is all of the file.
fn known(edit: &Edit, is_whole: bool) -> PlaceMatch {
    let mut found = sure(is_whole);
    if !is_whole && edit.format == Format::WHOLE {
        found.detail = Some("it is not certain that this is the whole file".to_string());
    }
    found
}

/// Decodes entities in content, where they can be nothing else: no bare `<` or `>` stands beside them, and the file is
/// not markup itself.
fn plain(content: &str, edit: &Edit, path: &str) -> String {
    const MARKUP: [&str; 8] = ["html", "htm", "xml", "svg", "md", "vue", "xhtml", "svelte"];
    let markup = path.rsplit_once('.').is_some_and(|(_, ext)| MARKUP.contains(&ext.to_ascii_lowercase().as_str()));
    if edit.format != Format::XML || markup || content.contains(['<', '>']) {
        return content.to_string();
    }
    match entities(content) {
        Some(plain) if plain.contains(['<', '>']) => plain,
        _ => content.to_string(),
    }
}

/// Returns the text without a first line that is nothing but the path in a comment, unless the file has that line. A
/// file that is made may well begin with its path: only a line that says so (`# filepath: a.py`), that is no comment of its
/// language or that stands above the line for the shell is none of it.
fn without_heading<'c>(content: &'c str, old: Option<&str>, path: &str) -> &'c str {
    const LABELS: [&str; 18] = [
        "filepath",
        "file path",
        "filename",
        "file name",
        "file",
        "path",
        "datei",
        "dateiname",
        "dateipfad",
        "fichier",
        "archivo",
        "arquivo",
        "文件",
        "文件名",
        "ファイル",
        "ファイル名",
        "파일",
        "файл",
    ];
    let Some((first, rest)) = content.split_once('\n') else { return content };
    let bare = first.trim().trim_start_matches(['#', '/', '-', ';', '<', '!', '*', ' ']);
    let bare = bare.trim_end_matches(['-', '>', '*', '/', '#', ' ']);
    let label =
        bare.split_once([':', '：']).filter(|(label, _)| LABELS.contains(&label.trim().to_lowercase().as_str()));
    let name = label.map_or(bare, |(_, name)| name.trim());
    let is_path = same_path(name, path)
        || with_words(bare).is_none() && headed(bare, &[]).is_some_and(|own| same_path(&own, path));
    let said = match old {
        Some(old) => !holds_line(old, first),
        None => label.is_some() || rest.starts_with("#!") || !takes_comment(first.trim_start(), path),
    };
    if !(is_path && bare.len() < first.trim().len() && said) {
        return content;
    }
    // The blank lines that part it from the text go with it, unless the file begins with such lines itself.
    let is_own = old.is_some_and(|old| old.starts_with(['\n', '\r']));
    if is_own { rest } else { rest.trim_start_matches(['\n', '\r']) }
}

/// Returns whether a line that begins as a comment is one in a file of this path, as far as its ending tells.
fn takes_comment(line: &str, path: &str) -> bool {
    let begins = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "json" | "csv" | "tsv" => false,
        "html" | "htm" | "xml" | "svg" | "vue" => begins(&["<!--"]),
        "css" => begins(&["/*"]),
        "py" | "sh" | "bash" | "rb" | "yaml" | "yml" | "toml" => begins(&["#"]),
        "js" | "jsx" | "mjs" | "ts" | "tsx" | "rs" | "go" | "java" | "kt" | "c" | "h" | "cc" | "cpp" | "hpp" | "cs"
        | "swift" | "scala" => begins(&["//", "/*"]),
        _ => true,
    }
}
