//! Additions of models around the lines of a whole text, which the file does not have: numbers, the fence's language,
//! indentation.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{numbers, passage};
use crate::edit::locate::{Shift, indent};
use crate::edit::path::{is_language, is_prose};

/// Returns a whole text without tags and a fence around it, the language on its first line and the numbers of its lines;
/// and whether it had numbers.
pub(super) fn undressed<'c>(content: &'c str, old: Option<&str>, path: &str) -> (Cow<'c, str>, bool) {
    let first = |text: &str| text.lines().find(|l| !l.trim().is_empty()).map(|l| l.trim().to_string());
    let own = old.and_then(first);
    let is_own = |line: &str| own.as_deref() == Some(line.trim());
    let mut text = untagged(content, old, path);
    if !is_prose(path) {
        if let Some(line) = first(text).filter(|line| line.starts_with("```") && !is_own(line)) {
            let inner = passage::unfenced(text.trim_end());
            let below = || text.split_once(&line).and_then(|(_, rest)| rest.split_once('\n')).map(|(_, rest)| rest);
            text = inner.or_else(below).unwrap_or(text);
        }
        if let Some((line, rest)) = text.split_once('\n')
            && is_language(line.trim(), path)
            && !is_own(line)
        {
            text = rest;
        }
    }
    match unnumbered(text, old, path) {
        Some(bare) => (Cow::Owned(bare), true),
        None => (Cow::Borrowed(text), false),
    }
}

/// Tags that models put around the text of a file.
const AROUND: [&str; 7] = ["file", "content", "contents", "code", "text", "file_content", "document_content"];
/// Extensions of files that may have such tags themselves.
const MARKUP: [&str; 8] = ["html", "htm", "xml", "svg", "vue", "svelte", "xhtml", "md"];

/// Returns a whole text without the tags around it that are none of the file: the text before tells.
fn untagged<'c>(content: &'c str, old: Option<&str>, path: &str) -> &'c str {
    let is_markup = path.rsplit_once('.').is_some_and(|(_, ext)| MARKUP.contains(&ext.to_ascii_lowercase().as_str()));
    let mut text = content;
    while let Some((name, inner)) = inside_tag(text) {
        let tag = format!("<{name}");
        let mut lines = old.into_iter().flat_map(str::lines).map(str::trim_start).filter(|line| !line.is_empty());
        // Markup may have something above its outer element.
        let is_own = if is_markup {
            lines.any(|line| line.starts_with(&tag))
        } else {
            lines.next().is_some_and(|line| line.starts_with(&tag))
        };
        if is_own || is_markup && old.is_none_or(|old| old.trim().is_empty()) {
            break;
        }
        text = inner;
    }
    text
}

/// Returns the name of the tag whose lines stand around a text, and the text between them.
fn inside_tag(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.trim_start().split_once('\n')?;
    let tag = first.trim_end().strip_prefix('<')?.strip_suffix('>')?;
    let name = tag.split_whitespace().next().filter(|name| AROUND.contains(name))?;
    let inner = rest.trim_end().strip_suffix('>')?.strip_suffix(name)?.strip_suffix("</")?;
    let inner = inner.trim_end_matches([' ', '\t']);
    inner.ends_with('\n').then_some((name, inner))
}

/// Returns the text without its lines' numbers, where the file has none and more than the numbers changes. In a file that
/// is made they are part of it, unless some line shows that it is code.
fn unnumbered(text: &str, old: Option<&str>, path: &str) -> Option<String> {
    if text.lines().count() < 2 {
        return None;
    }
    let mut bare = numbers::without(text)?;
    if text.ends_with('\n') {
        bare.push('\n');
    }
    match old.filter(|old| !old.trim().is_empty()) {
        Some(old) => {
            let counted = old.lines().filter(|line| numbers::of(line).is_some()).count();
            (counted * 2 < old.lines().count() && bare.trim() != old.trim()).then_some(bare)
        }
        None => {
            let data = ["csv", "tsv", "txt", "dat", "log"];
            let is_data = path.rsplit_once('.').is_none_or(|(_, ext)| data.contains(&ext)) || is_prose(path);
            let is_code =
                bare.lines().any(|line| line.is_empty() || line.starts_with([' ', '\t']) || line.contains(": "));
            (!is_data && is_code && numbers::of(text.lines().next()?)?.0 == 1).then_some(bare)
        }
    }
}

/// Returns a whole text without the indentation that all of its lines have, where most lines of the file stand in it so, and
/// how far it was shifted. Documents may have all of their text indented.
pub(super) fn shifted_back<'c>(content: Cow<'c, str>, old: &str, path: &str) -> (Cow<'c, str>, Option<Shift>) {
    let is_solid = |line: &&str| !line.trim().is_empty();
    let leads = content.lines().filter(is_solid).map(indent);
    let shared = leads.min_by_key(|lead| lead.len()).unwrap_or_default().to_string();
    let is_shifted = !shared.is_empty() && content.lines().filter(is_solid).all(|line| line.starts_with(&shared));
    let own: Vec<&str> = old.lines().filter(is_solid).map(str::trim_end).collect();
    if is_prose(path) || !is_shifted || own.iter().all(|line| line.starts_with([' ', '\t'])) {
        return (content, None);
    }
    let shift = Shift::Remove(shared);
    let text: String = content.split_inclusive('\n').map(|line| shift.apply(line)).collect();
    let there: HashSet<&str> = text.lines().map(str::trim_end).collect();
    let kept = own.iter().filter(|line| there.contains(*line)).count();
    if kept * 2 > own.len() { (Cow::Owned(text), Some(shift)) } else { (content, None) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(content: &str, old: Option<&str>, path: &str) -> String {
        undressed(content, old, path).0.into_owned()
    }

    #[test]
    fn tags_around_a_text_are_none_of_it() {
        let (text, old) = ("x = 2\ny = 3\n", Some("x = 1\ny = 3\n"));
        for dressed in [
            "<content>\nx = 2\ny = 3\n</content>\n",
            "<file path=\"a.py\">\n<content>\nx = 2\ny = 3\n</content>\n</file>",
            "<code>\n```python\nx = 2\ny = 3\n```\n</code>\n",
        ] {
            assert_eq!(bare(dressed, old, "a.py").trim_end(), text.trim_end(), "{dressed}");
            assert_eq!(bare(dressed, None, "a.py").trim_end(), text.trim_end(), "{dressed}");
        }
        let xml = "<content>\n<a/>\n</content>\n";
        assert_eq!(bare(xml, Some("<content>\n<b/>\n</content>\n"), "a.xml"), xml);
        assert_eq!(bare(xml, None, "a.xml"), xml);
        assert_eq!(bare(xml, Some("<?xml version=\"1.0\"?>\n<content>\n<b/>\n</content>\n"), "a.xml"), xml);
        assert_eq!(bare("<content>\nx = 2\n", old, "a.py"), "<content>\nx = 2\n");
    }

    #[test]
    fn a_text_is_read_without_what_is_around_its_lines() {
        let new = "name: demo\nport: 9\n\ndebug: no\n";
        let old = Some("name: demo\nport: 8\n\ndebug: no\n");
        for dressed in [
            "1: name: demo\n2: port: 9\n3: \n4: debug: no\n",
            "   1 | name: demo\n   2 | port: 9\n   3 |\n   4 | debug: no\n",
            "1\tname: demo\n2\tport: 9\n3\t\n4\tdebug: no\n",
            "```yaml\nname: demo\nport: 9\n\ndebug: no\n```\n",
            "yaml\nname: demo\nport: 9\n\ndebug: no\n",
        ] {
            assert_eq!(bare(dressed, old, "conf.yaml").trim_end(), new.trim_end(), "{dressed}");
            assert_eq!(bare(dressed, None, "conf.yaml").trim_end(), new.trim_end(), "{dressed}");
        }
    }

    #[test]
    fn what_a_file_has_itself_stays() {
        for (content, old, path) in [
            ("1\tAnn\n2\tBob\n3\tCleo\n", Some("1\tAnn\n2\tBob\n"), "names.tsv"),
            ("1\tAnn\n2\tBob\n", None, "names.tsv"),
            ("1: Ann\n2: Bob\n", None, "names.txt"),
            // To number the lines is the change.
            ("1: a\n2: b\n", Some("a\nb\n"), "list.py"),
            ("```sh\nls\n```\n", None, "README.md"),
            ("python\n", None, "words.txt"),
            ("1: a\n3: b\n", Some("a\nc\n"), "map.yaml"),
        ] {
            assert_eq!(bare(content, old, path), content, "{path}");
        }
    }
}
