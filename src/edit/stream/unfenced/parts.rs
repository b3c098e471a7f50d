//! Changes of a part of a file in no format: between marks (`<<<<<<< HEAD`), in tags of any name, as lines with signs under
//! their path, and texts that a shell hands over to a file.

use crate::edit::locate::SearchShape;
use crate::edit::op::Op;
use crate::edit::stream::block::is_within;
use crate::edit::stream::paths::{is_likely, path_line};
use crate::edit::stream::pieces::KnownFile;
use crate::edit::stream::starts::{is_divider, marks};
use crate::edit::stream::tags::attribute;
use crate::edit::{names, path};

/// The names of a field in such an object: those of a tool's parameter, and more.
pub(super) type Names = [&'static [&'static str]; 2];
pub(super) const PATHS: Names = [&["path"], names::PATH];
/// The names of a text that is there and of the one that takes its place.
pub(super) const SEARCHES: Names = [&["search", "original"], names::SEARCH];
pub(super) const REPLACEMENTS: Names = [&["replace"], names::REPLACE];
/// Lines of one answer that may begin such a file without being one, at most: each is looked for to the end.
pub(super) const MOST_TRIES: usize = 64;
/// Lines of a change that are looked through for its end, at most.
const MOST_LINES: usize = 2000;
/// Lines of a change that go, at most, where each has a sign.
const MOST_SIGNED: usize = 200;
/// Names of tags around what is there and what takes its place, beside those of parameters.
const OLD: [&str; 7] = ["old_code", "old_text", "old_content", "before", "from", "target", "find_text"];
const NEW: [&str; 7] = ["new_code", "new_text", "new_content", "after", "to", "updated", "replace_with"];

/// A change: the path of its file, what it does, and how many bytes it takes.
pub(super) struct Found {
    pub path: String,
    pub op: Op,
    pub length: usize,
}

/// Returns the change that begins with the first line of a text. `above`: the file in play whose path stands above it.
pub(super) fn part(text: &str, above: Option<&str>, known: &[KnownFile]) -> Option<Found> {
    match text.as_bytes().first()? {
        b'<' if text.starts_with("<<<<<") => marked(text, above, known),
        b'<' => tagged(text, known),
        b'-' => signed(text, above, known),
        _ => handed_over(text, known),
    }
}

/// Returns the file in play whose path is alone on a line.
pub(super) fn headed<'k>(line: &str, known: &'k [KnownFile]) -> Option<&'k str> {
    find(&path_line(line, known)?, known)
}

/// Returns whether a text holds such a change, which was not read: beside edits that were, only one that can hardly be a quotation.
pub(in crate::edit::stream) fn holds_part(text: &str, beside_edit: bool, known: &[KnownFile]) -> bool {
    let (mut at, mut above, mut tries) = (0, None, 0);
    for line in text.split_inclusive('\n') {
        let start = at + line.len() - line.trim_start().len();
        at += line.len();
        above = headed(line, known).or(above);
        let bare = line.trim();
        let begins = bare.starts_with('<') || !beside_edit && bare.starts_with('-') || hands_over(bare).is_some();
        if begins && tries < MOST_TRIES {
            tries += 1;
            if part(&text[start..], above, known).is_some() {
                return true;
            }
        }
        let adds = || {
            bare.contains(">>")
                && hands_over(&bare.replace(">>", ">")).and_then(|(path, _)| find(path, known)).is_some()
        };
        if adds() || !beside_edit && (is_call(bare, known) || is_said(bare, known)) {
            return true;
        }
    }
    false
}

/// Returns whether a line is a call of a tool that edits, with its arguments in their order: `replaceInFile("a.py", "x", "y")`.
fn is_call(line: &str, known: &[KnownFile]) -> bool {
    let Some((name, rest)) = line.trim_start_matches('`').split_once('(') else { return false };
    let is_tool = names::elements().iter().any(|(own, _)| own == name);
    let path = rest.trim_start().strip_prefix(['"', '\'']).and_then(|rest| rest.split(['"', '\'']).next());
    is_tool && path.is_some_and(|path| find(path, known).is_some())
}

/// Returns whether a sentence says of a line of a file what it is to be: ``In a.py, change `x = 1` to `x = 2`.``
fn is_said(line: &str, known: &[KnownFile]) -> bool {
    let parts: Vec<&str> = line.split('`').collect();
    let verbs = ["change", "replace", "update", "set", "modify"];
    let has_verb = || line.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| verbs.contains(&word));
    let two = |at: usize| {
        let (old, between, new) = (parts[at], parts[at + 1].trim(), parts[at + 2]);
        let is_line = |file: &KnownFile| file.text.lines().any(|own| own.trim() == old.trim());
        matches!(between, "to" | "with" | "by" | "into" | "→" | "->") && old != new && known.iter().any(is_line)
    };
    parts.len() >= 5 && has_verb() && (1..parts.len() - 2).step_by(2).any(two)
}

/// Returns the change between three marks, of which the first one says anything: what is there, and what comes.
fn marked(text: &str, above: Option<&str>, known: &[KnownFile]) -> Option<Found> {
    let is_mark = |line: &str, mark: u8| (5..=9).contains(&marks(line.trim_end(), [mark, mark]));
    let (mut old, mut new): (Vec<&str>, Option<Vec<&str>>) = (Vec::new(), None);
    let (mut length, mut is_base) = (0, false);
    for (at, raw) in text.split_inclusive('\n').take(MOST_LINES).enumerate() {
        let line = raw.trim_end_matches(['\r', '\n']);
        length += raw.len();
        match &mut new {
            _ if at == 0 => {}
            _ if is_mark(line, b'<') => return None,
            None if is_divider(line) => new = Some(Vec::new()),
            None if is_mark(line, b'|') => is_base = true,
            None if is_base => {}
            None => old.push(line),
            Some(new) if is_mark(line, b'>') => {
                let path = file_of(&old.join("\n"), above, known)?;
                // The conflict may be the file's own.
                let first = text.lines().next()?;
                let is_own = known.iter().any(|file| file.path == path && file.text.lines().any(|own| own == first));
                return (!is_own).then(|| Found { path, op: replaced(&old.join("\n"), &new.join("\n")), length });
            }
            Some(new) => new.push(line),
        }
    }
    None
}

/// Returns the file in play that has these lines: the one whose path stands above, or the only one.
fn file_of(old: &str, above: Option<&str>, known: &[KnownFile]) -> Option<String> {
    let has = |file: &&KnownFile| !old.trim().is_empty() && is_within(old, &file.text);
    if let Some(file) = known.iter().find(|file| Some(&*file.path) == above).filter(has) {
        return Some(file.path.clone());
    }
    let mut files = known.iter().filter(has);
    files.next().filter(|_| files.next().is_none()).map(|file| file.path.clone())
}

fn replaced(search: &str, replace: &str) -> Op {
    Op::Replace { search: search.to_string(), replace: replace.to_string(), shape: SearchShape::Lines, all: false }
}

/// Returns the change in tags: of a path, of what is there and of what comes, perhaps with another tag around them.
fn tagged(text: &str, known: &[KnownFile]) -> Option<Found> {
    let paths = PATHS.concat();
    let olds = [&SEARCHES.concat()[..], &OLD].concat();
    let news = [&REPLACEMENTS.concat()[..], &NEW].concat();
    let is_field = |name: &str| [&paths, &olds, &news].iter().any(|names| names.contains(&name));
    let (name, attributes, inside) = opened(text)?;
    let outer = (!is_field(name) || !attributes.trim().is_empty()).then(|| format!("</{name}>"));
    let mut path = paths.iter().find_map(|name| attribute(attributes, name));
    let (mut old, mut new) = (None, None);
    let mut at = if outer.is_some() { inside } else { 0 };
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let here = &text[at..];
        if let Some(close) = outer.as_ref().filter(|close| here.starts_with(close.as_str())) {
            at += close.len();
            break;
        }
        let Some((field, _, inner)) = opened(here).filter(|(field, ..)| is_field(field) || outer.is_some()) else {
            break;
        };
        let close = format!("</{field}>");
        let length = here[inner..].find(&close)?;
        let value = &here[inner..inner + length];
        match field {
            _ if paths.contains(&field) => path = Some(value.trim().to_string()),
            _ if olds.contains(&field) => old = Some(bare_lines(value)),
            _ if news.contains(&field) => new = Some(bare_lines(value)),
            _ => {}
        }
        at += inner + length + close.len();
    }
    let (old, new) = old.filter(|old| !old.trim().is_empty()).zip(new)?;
    let path = find(&path?, known)?.to_string();
    Some(Found { path, op: replaced(old, new), length: at })
}

/// Returns name, attributes and length of the opening tag that a text begins with.
fn opened(text: &str) -> Option<(&str, &str, usize)> {
    let inside = text.strip_prefix('<')?;
    let length = inside.bytes().take(300).position(|b| b == b'>')?;
    let tag = &inside[..length];
    let end = tag.find(char::is_whitespace).unwrap_or(length);
    let is_name =
        !tag[..end].is_empty() && tag[..end].bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    is_name.then_some((&tag[..end], &tag[end..], length + 2))
}

/// Returns the lines in a tag, without those breaks around them and a fence that are the tag's.
fn bare_lines(value: &str) -> &str {
    let value = value.strip_prefix("\r\n").or_else(|| value.strip_prefix('\n')).unwrap_or(value);
    without_fence(value.trim_end_matches([' ', '\t'])).trim_end_matches(['\r', '\n'])
}

/// Returns the change of lines with signs, right under the path of the file that has those which go.
fn signed(text: &str, above: Option<&str>, known: &[KnownFile]) -> Option<Found> {
    let file = known.iter().find(|file| Some(&*file.path) == above)?;
    let of =
        |line: &str, sign: &str| line.starts_with(sign) && !line.starts_with(&sign.repeat(3)) && line.trim().len() > 1;
    let gone: Vec<&str> = text.split_inclusive('\n').take(MOST_SIGNED).take_while(|line| of(line, "-")).collect();
    let behind = &text[gone.iter().map(|line| line.len()).sum::<usize>()..];
    let come: Vec<&str> = behind.split_inclusive('\n').take_while(|line| of(line, "+")).collect();
    if gone.is_empty() || come.is_empty() {
        return None;
    }
    let without = |lines: &[&str], from: usize| -> Option<Vec<String>> {
        lines.iter().map(|line| Some(line.trim_end().get(from..)?.to_string())).collect()
    };
    let is_there = |lines: &[String]| lines.iter().all(|line| file.text.lines().any(|own| own.trim_end() == line));
    let is_apart = gone.iter().chain(&come).all(|line| line[1..].starts_with(' '));
    let from = [1, 2]
        .into_iter()
        .filter(|from| *from == 1 || is_apart)
        .find(|from| without(&gone, *from).is_some_and(|lines| is_there(&lines)))?;
    let (old, new) = (without(&gone, from)?.join("\n"), without(&come, from)?.join("\n"));
    let length = gone.iter().chain(&come).map(|line| line.len()).sum();
    Some(Found { path: file.path.clone(), op: replaced(&old, &new), length })
}

/// Returns the path and the closing word of a line in which a shell hands a text over to a file: `cat > a.py <<'EOF'`.
fn hands_over(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start_matches("$ ");
    let rest = rest.strip_prefix("cat ").or_else(|| rest.strip_prefix("tee "))?;
    let (before, behind) = rest.split_once("<<")?;
    let mut words = behind.trim_start_matches('-').split_whitespace();
    let end = words.next()?.trim_matches(['\'', '"', '\\']);
    let target = if before.trim().is_empty() { behind.split_once('>')?.1 } else { before };
    let path = target.trim().trim_start_matches('>').trim().trim_matches(['\'', '"']);
    let is_word = !end.is_empty() && end.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_path =
        !path.is_empty() && !path.contains(char::is_whitespace) && !path.starts_with(['>', '-', '/', '~', '$']);
    (is_word && is_path && !target.contains(">>")).then_some((path, end))
}

/// Returns the text that a shell hands over to a file.
fn handed_over(text: &str, known: &[KnownFile]) -> Option<Found> {
    let (line, rest) = text.split_once('\n')?;
    let (path, end) = hands_over(line.trim())?;
    let mut length = 0;
    for last in rest.split_inclusive('\n').take(MOST_LINES) {
        if last.trim() == end {
            let path = find(path, known).or(is_likely(path, known).then_some(path))?.to_string();
            let op = Op::Overwrite { content: rest[..length].to_string() };
            let is_text = !rest[..length].trim().is_empty();
            return is_text.then_some(Found { path, op, length: line.len() + 1 + length + last.len() });
        }
        length += last.len();
    }
    None
}

/// Returns the text between the fences around all of it, or all of it where there are none.
pub(super) fn without_fence(text: &str) -> &str {
    let inside = || {
        let body = text.trim_end().strip_suffix("```")?;
        let (open, body) = text[..body.len()].split_once('\n')?;
        // Fences within it are its own.
        let is_one = !body.lines().any(|line| line.trim_start().starts_with("```"));
        (is_one && open.trim_start().starts_with("```")).then_some(body)
    };
    inside().unwrap_or(text)
}

/// Returns the known file of this path, or the only one of this name.
pub(super) fn find<'k>(name: &str, known: &'k [KnownFile]) -> Option<&'k str> {
    let name = path::bare(name);
    let name = name.strip_prefix("./").unwrap_or(name);
    let is_it = |file: &&KnownFile| file.path == name;
    let ends_so = |file: &&KnownFile| file.path.strip_suffix(name).is_some_and(|folder| folder.ends_with('/'));
    let mut alike = known.iter().filter(ends_so);
    let found = known.iter().find(is_it).or_else(|| alike.next().filter(|_| alike.next().is_none()))?;
    Some(&found.path)
}
