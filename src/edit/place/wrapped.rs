//! A wrapper around the whole text of a file, in the words of a call or a script: `content: |`, `content = """`,
//! `f.write('''`.

use std::borrow::Cow;

use crate::edit::locate::indent;
use crate::edit::names;
use crate::edit::stream::paths::namesakes::may_be_version;

/// The quotes around a text of several lines.
const QUOTES: [&str; 3] = ["\"\"\"", "'''", "`"];
/// The beginnings of sentences that present a text.
const PRESENTS: [&str; 12] = [
    "here is",
    "here's",
    "here are",
    "below is",
    "the updated",
    "this is",
    "hier ist",
    "voici",
    "aquí está",
    "以下是",
    "以下は",
    "下面是",
];

/// Returns the text that a wrapper holds, where the file does not begin so itself and has lines of that text. The error: there
/// is a wrapper, but what it holds is not certain.
pub(super) fn unwrapped<'c>(content: &'c str, old: &str, path: &str) -> Result<Cow<'c, str>, &'static str> {
    let Some((above, rest)) = opening(content, old) else { return Ok(content.into()) };
    let is_of_file = |text: &str| !old.trim().is_empty() && may_be_version(text, old);
    let bare = above.trim();
    if is_presenting(bare) {
        let is_apart = rest.lines().next().is_some_and(|next| next.trim().is_empty()) && is_of_file(rest);
        return Ok(if is_apart { rest.trim_start_matches(['\r', '\n']) } else { content }.into());
    }
    if let Some((start, quote)) = opens_quote(above) {
        let from = content.len() - rest.len() - above.len() + start;
        return Ok(quoted(&content[from..], quote).filter(|text| is_of_file(text)).unwrap_or(content).into());
    }
    // A file of such lines itself has its own.
    let is_yaml = path.ends_with(".yml") || path.ends_with(".yaml");
    match shifted(rest, indent(above)) {
        Some(text) if is_of_file(&text) => Ok(text.into()),
        None if !is_yaml && is_of_file(rest) => Err(WRAPPED),
        _ => Ok(content.into()),
    }
}

/// Returns the line of a wrapper below which the text begins, and what is below it.
fn opening<'c>(content: &'c str, old: &str) -> Option<(&'c str, &'c str)> {
    let mut at = 0;
    for line in content.split_inclusive('\n') {
        let bare = line.trim();
        at += line.len();
        if bare.is_empty() {
            continue;
        }
        if old.lines().any(|own| own.trim() == bare) {
            return None;
        }
        if is_presenting(bare) || opens_scalar(bare) || opens_quote(line).is_some() {
            return Some((line, &content[at..]));
        }
        if !leads(bare) {
            return None;
        }
    }
    None
}

/// Returns whether a line is a sentence that presents what is below it.
fn is_presenting(line: &str) -> bool {
    let lower = line.to_lowercase();
    line.ends_with([':', '：']) && PRESENTS.iter().any(|begin| lower.starts_with(begin))
}

/// Returns whether a word is a name of the file's text.
fn names_text(name: &str) -> bool {
    let name = name.trim().trim_matches(['"', '\'', '-', ' ']);
    names::CONTENT.contains(&name) || matches!(name, "code" | "new_text" | "body")
}

/// Returns whether a line begins a text of several lines, as YAML has it: `content: |`.
fn opens_scalar(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, mark)| names_text(name) && matches!(mark.trim(), "|" | "|-" | "|+" | ">"))
}

/// Returns where the text begins in a line that opens quotes around it, and the quotes: `content = """`, `f.write('''`.
fn opens_quote(line: &str) -> Option<(usize, &'static str)> {
    QUOTES.into_iter().find_map(|quote| {
        let (before, _) = line.split_once(quote)?;
        let front = before.trim_end_matches(['r', 'f', '\\', ' ']);
        let is_named = front.strip_suffix('=').is_some_and(names_text);
        let is_written = [".write(", ".write_text(", "writeFileSync("].iter().any(|call| before.contains(call));
        (is_named || is_written).then_some((before.len() + quote.len(), quote))
    })
}

/// Returns whether a line of a wrapper may stand above the one that begins the text: the path, a table, an opened file.
fn leads(line: &str) -> bool {
    let is_field = |mark: char| {
        line.split_once(mark).is_some_and(|(name, _): (&str, &str)| {
            let name = name.trim().trim_matches(['"', '\'', '-', ' ']);
            name == "path"
                || names::PATH.contains(&name)
                || matches!(name, "tool" | "name" | "action" | "files" | "edits")
        })
    };
    is_field(':')
        || is_field('=')
        || line.starts_with("[[")
        || line.starts_with("with open(")
        || matches!(line, "---" | "[file]" | "[files]" | "import os" | "from pathlib import Path" | "import pathlib")
}

/// Returns lines without the indentation that all of them have, which is more than that of the line above.
fn shifted(text: &str, above: &str) -> Option<String> {
    let solid = || text.lines().filter(|line| !line.trim().is_empty());
    let shared = solid().map(indent).min_by_key(|lead| lead.len())?;
    let is_inside = shared.len() > above.len() && solid().all(|line| line.starts_with(shared));
    is_inside.then(|| {
        text.split_inclusive('\n')
            .map(|line| line.strip_prefix(shared).unwrap_or(line.trim_start_matches([' ', '\t'])))
            .collect()
    })
}

/// Returns the text up to the quotes that close it, behind which nothing but the end of the wrapper stands.
fn quoted<'t>(text: &'t str, quote: &str) -> Option<&'t str> {
    let (inner, behind) = text.rsplit_once(quote)?;
    let is_end =
        behind.trim().chars().all(|c| matches!(c, ')' | ';' | ',' | '}' | ']' | '.')) || behind.trim() == ".lstrip())";
    let inner = inner.strip_prefix('\\').unwrap_or(inner);
    let inner = inner.strip_prefix("\r\n").or_else(|| inner.strip_prefix('\n')).unwrap_or(inner);
    (is_end && !inner.contains(quote) && !inner.trim().is_empty()).then_some(inner)
}

const WRAPPED: &str = "the text stands in a wrapper that is none of the file, so nothing of it was used. Write the file's text alone in \
                       the block.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapper_around_a_text_is_none_of_it() {
        let (old, new) = ("def a():\n    return 1\n", "def a():\n    return 2\n");
        for wrapped in [
            "path: a.py\ncontent: |\n  def a():\n      return 2\n",
            "content: |\n    def a():\n        return 2\n",
            "[[files]]\npath = \"a.py\"\ncontent = \"\"\"\ndef a():\n    return 2\n\"\"\"\n",
            "with open('a.py', 'w') as f:\n    f.write('''def a():\n    return 2\n''')\n",
            "Path('a.py').write_text(\"\"\"\\\ndef a():\n    return 2\n\"\"\")\n",
            "Here is the updated code:\n\ndef a():\n    return 2\n",
            new,
        ] {
            assert_eq!(unwrapped(wrapped, old, "a.py").as_deref(), Ok(new), "{wrapped}");
        }
        assert_eq!(unwrapped("content: |\ndef a():\n    return 2\n", old, "a.py"), Err(WRAPPED));
    }

    #[test]
    fn what_a_file_holds_itself_is_no_wrapper() {
        for (old, new) in [
            ("content: |\n  a\nmore: 1\n", "content: |\n  b\nmore: 1\n"),
            ("path: x\ncontent: |\n  a\n", "path: y\ncontent: |\n  b\n"),
            ("with open('x') as f:\n    f.write('a')\n", "with open('x') as f:\n    f.write('b')\n"),
            ("text = \"\"\"\na\n\"\"\"\nb = 1\n", "text = \"\"\"\nc\n\"\"\"\nb = 1\n"),
            ("x = 1\n", "import os\n\nx = 2\n"),
            ("run()\n", "with open('x', 'w') as f:\n    f.write('''a\nb\n''')\n"),
            ("x = 1\ny = 2\n", "text = \"\"\"\nc\n\"\"\"\nx = 1\ny = 2\n"),
            ("# A\n\nThe text.\n", "# A\n\nHere is the text:\n\nMore.\n"),
            // The text below such a line is of the file, too.
            ("path: x\ncontent: |\n  a\n  b\n  c\n", "path: x\ncontent: |\n  a\n  b\n  d\n"),
            ("name: x\nsize: 1\nkind: y\n", "content: |\n  A text.\nname: x\nsize: 1\nkind: z\n"),
            ("one\ntwo\nthree\n", "Here is the list:\none\ntwo\nfour\n"),
            ("x = 1\ny = 2\n", "text = \"\"\"\nx = 1\ny = 2\n\"\"\"\nrun(text)\n"),
            ("x = 1\ny = 2\n", "query = \"\"\"\nx = 1\ny = 2\n\"\"\"\n"),
        ] {
            assert_eq!(
                unwrapped(new, old, if old.contains(": ") { "a.yml" } else { "a.py" }).as_deref(),
                Ok(new),
                "{new}"
            );
        }
    }
}
