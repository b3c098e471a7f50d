//! Blocks of code in an answer that no format reads.

pub(super) mod answer;
pub(super) mod headed;
mod steps;

use std::ops::Range;

use super::paths::claims::{Claim, Prose, claim, presented, warns};
use super::paths::heads::headed;
use super::paths::labels::{is_other_way, is_past};
use super::paths::spaced::perhaps_named;
use super::paths::{is_likely, same_path};
use super::pieces::KnownFile;
use super::starts::language;
use crate::edit::format::Format;
use crate::edit::lines::Lines;
use crate::edit::locate::SearchShape;
use crate::edit::op::{Edit, Op};
use crate::edit::path::{bare, is_language, may_name};
use crate::edit::place::{begins_passage, definition_lines, elided_definitions, passages, same_definition};

/// A block of code that is no edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::edit) struct UnreadBlock {
    /// The path near it.
    pub path: Option<String>,
    /// The path is right above it or in its opening line.
    pub titled: bool,
    /// The last line of prose above it.
    pub said: String,
    /// The lines above that one.
    pub before: String,
    /// The words behind its opening fence.
    pub info: String,
    pub content: String,
}

impl UnreadBlock {
    /// Returns whether it shows commands or what they print.
    pub fn shows_output(&self) -> bool {
        shows_output(&self.info)
    }

    /// Returns whether it is a diff that names no file.
    pub fn is_diff(&self) -> bool {
        self.path.is_none()
            && matches!(language(&self.info).as_str(), "diff" | "patch")
            && !self.content.trim().is_empty()
    }

    /// Returns the path of a file that is not in play and that the line above heads or presents, or that the prose above says is
    /// made.
    pub fn said_file(&self, known: &[KnownFile]) -> Option<String> {
        // A line that may be a name with spaces is not divided.
        let is_made = |claim: &Claim| claim.is_made && perhaps_named(&self.said, known).is_none();
        let made = || self.claim(None, known).filter(is_made).map(|claim| claim.path);
        let language = language(&self.info);
        let presented = || presented(&self.said, known, |path| is_language(&language, path));
        let path = headed(&self.said, known).or_else(made).or_else(presented)?;
        let is_known = |file: &KnownFile| same_path(&path, &file.path) || may_name(&path, &file.path);
        (!known.iter().any(is_known)).then_some(path)
    }

    /// Returns the file that the prose above says it is for; `like`: the path of the one that it is like.
    fn claim(&self, like: Option<&str>, known: &[KnownFile]) -> Option<Claim> {
        claim(Prose { before: &self.before, said: &self.said }, like, known)
    }

    /// Returns whether it may be for a file in play: neither the path near it nor the prose above says that it is for another.
    fn may_be_for(&self, file: &KnownFile, known: &[KnownFile]) -> bool {
        self.path.as_ref().is_none_or(|path| *path == file.path)
            && self.claim(Some(&file.path), known).is_none_or(|claim| claim.is_of(&file.path))
    }

    /// Returns whether the line above leads to it.
    pub fn is_led_to(&self) -> bool {
        self.said.trim_end().ends_with([':', '：'])
    }

    /// Returns whether the line above leads to it and it begins with a passage of a file of this path: it is no mere quotation.
    pub fn may_change(&self, path: &str) -> bool {
        self.is_led_to() && begins_passage(&self.content, path)
    }

    /// Returns whether the line above says that it takes the place of the block before it.
    pub fn is_instead(&self) -> bool {
        let said = self.said.trim().trim_matches(['*', '#', '_', ' ', ':', '：', '.', '…']).to_lowercase();
        let words = || said.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let is_label = || words().all(|word| LABEL_WORDS.contains(&word) || NEW_WORDS.contains(&word));
        INSTEAD.contains(&said.as_str()) || self.is_headed() && is_label() && words().any(|w| NEW_WORDS.contains(&w))
    }

    /// Returns whether the line above leads to it or is a heading.
    fn is_headed(&self) -> bool {
        self.is_led_to() || self.said.trim_end().ends_with("**") || self.said.trim_start().starts_with('#')
    }

    /// Returns whether the line above begins with a number: `2. Use it.`
    fn is_numbered(&self) -> bool {
        is_numbered(&self.said)
    }

    /// Returns the one file in play in which passages that it consists of have their places, where the line above leads to it,
    /// or heads or numbers it, and says of no other file that it is for it.
    fn passage_of<'k>(&self, known: &'k [KnownFile]) -> Option<&'k KnownFile> {
        let names_other = || self.said_file(known).or_else(|| perhaps_named(&self.said, known)).is_some();
        // In a label the colon is marked too: `**CSS:**`.
        let is_led_to = self.is_led_to() || self.said.trim_end().trim_end_matches(['*', '_']).ends_with([':', '：']);
        let is_step = || (self.is_headed() || self.is_numbered()) && !is_only_shown(&self.said);
        if !(is_led_to || is_step()) || self.path.is_none() && names_other() {
            return None;
        }
        let is_changed = |file: &&KnownFile| passages(&file.text, &self.content, &file.path).is_some();
        let may_be = |file: &&KnownFile| self.may_be_for(file, known) && self.is_branch_of(&file.text);
        let mut files = known.iter().filter(may_be).filter(is_changed);
        files.next().filter(|_| files.next().is_none())
    }

    /// Returns whether it is no lone branch of a statement, or is one of a definition that the line above names, if it names any.
    fn is_branch_of(&self, text: &str) -> bool {
        if !is_branch(&self.content) {
            return true;
        }
        let head = self.content.trim_start().lines().next().unwrap_or_default().trim_end();
        let lines = Lines::new(text);
        let is_named =
            |name: &str| self.said.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
        let mut named = definition_lines(&lines).into_iter().filter(|(name, _)| is_named(name)).peekable();
        let holds = |own: Range<usize>| own.into_iter().any(|at| lines.content(at).trim() == head);
        named.peek().is_none() || named.any(|(_, own)| holds(own))
    }

    /// Returns the only path of a file in the line above, whatever else it says, of one that is not in play.
    pub fn mentioned_file(&self, known: &[KnownFile]) -> Option<String> {
        if let Some(name) = perhaps_named(&self.said, known) {
            return Some(name);
        }
        let mut files = self.said.split_whitespace().map(bare).filter(|word| is_likely(word, known));
        let path = files.next().filter(|_| files.next().is_none())?;
        let is_known = |file: &KnownFile| same_path(path, &file.path) || may_name(path, &file.path);
        (!known.iter().any(is_known)).then(|| path.to_string())
    }
}

/// Returns whether the line above a block says that it is only shown: how something is used, how it was, or another way.
pub(super) fn is_only_shown(said: &str) -> bool {
    const SHOWN: [&str; 16] = [
        "usage",
        "example",
        "sample",
        "for example",
        "output",
        "result:",
        "test it",
        "try it",
        "run ",
        "now you can",
        "使い方",
        "使用例",
        "例:",
        "例：",
        "ejemplo",
        "uso:",
    ];
    let lower = said.to_lowercase();
    let label = lower.trim_start_matches(|c: char| !c.is_alphabetic());
    let is_shown = || SHOWN.iter().any(|word| label.starts_with(word)) || lower.contains("usage");
    is_shown() || warns(said) || is_past(said) || is_other_way(said)
}

/// Returns whether a text is a branch of a statement that begins above it: `else:`, `} catch (e) {`.
pub(super) fn is_branch(text: &str) -> bool {
    const BRANCHES: [&str; 9] = ["else", "elif", "elsif", "elseif", "except", "catch", "rescue", "finally", "ensure"];
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first = first.trim_start().trim_start_matches(['}', ' ']);
    let word = first.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    BRANCHES.contains(&word) && first.trim_end().ends_with([':', '{', ')', '}', ';']) || first.trim_end() == "else"
}

/// Returns whether a line begins with a number: `2. Use it.`
pub(in crate::edit) fn is_numbered(said: &str) -> bool {
    let said = said.trim_start_matches(['#', '*', ' ', '\t']);
    let behind = said.trim_start_matches(|c: char| c.is_ascii_digit());
    behind.len() < said.len() && behind.starts_with(['.', ')'])
}

/// Returns whether a text is a definition of a file and says something else than it.
pub(in crate::edit) fn changes_definition(file: &str, content: &str) -> bool {
    same_definition(file, content).is_some_and(|(new, _)| new != file)
}

/// Blocks of one answer that are compared with the files. One with more of them is no handful of edits.
pub(super) const MOST_COMPARED: usize = 64;

/// Words of which a label has one above a block that takes the place of the one before it.
const NEW_WORDS: [&str; 8] = ["after", "new", "replace", "replacement", "modified", "updated", "revised", "changed"];
/// Words beside those.
const LABEL_WORDS: [&str; 11] =
    ["code", "version", "line", "lines", "text", "function", "the", "with", "this", "it", "is"];

/// Lines above such a block.
const INSTEAD: [&str; 22] = [
    "after",
    "to",
    "with",
    "by",
    "por",
    "into",
    "new",
    "becomes",
    "with this",
    "to this",
    "replace with",
    "replace it with",
    "replace that with",
    "change to",
    "change it to",
    "should be",
    "変更後",
    "修正後",
    "後",
    "を",
    "改为",
    "替换为",
];

/// Returns the edit that puts a block in the place of the one before it, which is a part of one file in play, and what is
/// replaced.
fn replaced(old: &UnreadBlock, new: &UnreadBlock, known: &[KnownFile]) -> Option<(Edit, Option<String>)> {
    let is_plain = |block: &UnreadBlock| !block.titled && !block.shows_output() && !block.content.trim().is_empty();
    if !is_plain(old) || !is_plain(new) || !new.is_instead() || old.content == new.content {
        return None;
    }
    let has = |file: &&KnownFile| old.may_be_for(file, known) && is_within(&old.content, &file.text);
    let mut files = known.iter().filter(has);
    let file = files.next().filter(|_| files.next().is_none())?;
    let (search, replace) = (old.content.clone(), new.content.clone());
    let op = Op::Replace { search: search.clone(), replace, shape: SearchShape::Lines, all: false };
    let edit = Edit::new(&file.path, op, Format::WHOLE, Format::WHOLE.name());
    Some((Edit { whole: false, ..edit }, Some(search)))
}

/// Returns whether a text has the lines of a part, one after another.
pub(in crate::edit) fn is_within(part: &str, text: &str) -> bool {
    let solid = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    format!("\n{}", solid(text)).contains(&format!("\n{}", solid(part)))
}

/// Returns the edit that a block is, which nothing says for certain, and the name of the definition that it is.
fn edit(block: &UnreadBlock, known: &[KnownFile]) -> Option<(Edit, Option<String>)> {
    if block.titled || block.shows_output() || block.content.trim().is_empty() || warns(&block.said) {
        return None;
    }
    let new = |file: &KnownFile| {
        let own = same_definition(&file.text, &block.content);
        own.or_else(|| elided_definitions(&file.text, &block.content, &file.path)).filter(|(new, _)| *new != *file.text)
    };
    let files = known.iter().filter(|file| block.may_be_for(file, known));
    let mut changed = files.filter_map(|file| Some((file, new(file)?.1)));
    let (path, name) = match (changed.next(), changed.next(), &block.path) {
        (Some((file, name)), None, _) => (file.path.clone(), Some(name)),
        (None, ..) => match block.passage_of(known) {
            Some(file) => (file.path.clone(), passages(&file.text, &block.content, &file.path).map(|(_, names)| names)),
            None => (block.said_file(known).filter(|_| block.path.is_none())?, None),
        },
        _ => return None,
    };
    Some((overwritten(block, &path), name))
}

/// Returns the edit of a block that is a file or a part of one, which nothing says for certain.
fn overwritten(block: &UnreadBlock, path: &str) -> Edit {
    let mut content = block.content.clone();
    if !content.ends_with('\n') {
        content.push('\n');
    }
    let edit = Edit::new(path, Op::Overwrite { content }, Format::WHOLE, Format::WHOLE.name());
    Edit { whole: false, ..edit }
}

/// Languages of blocks that show commands or output, not files.
const NO_FILES: [&str; 11] =
    ["bash", "sh", "shell", "zsh", "console", "text", "txt", "output", "plaintext", "log", "mermaid"];

/// Returns whether a block shows commands or output, by the language behind its fence.
pub(super) fn shows_output(info: &str) -> bool {
    NO_FILES.contains(&language(info).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::stream::EditId;
    use crate::edit::stream::pieces::{Piece, edits_of_files};

    #[test]
    fn a_block_without_a_path_is_offered_where_it_can_mean_one_file() {
        let file = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n";
        let known = [KnownFile { path: "a.py".into(), text: file.into() }];
        let calls = || crate::tools::ToolSet::builtin().calls();
        let edits = |pieces: Vec<Piece>| {
            let path = |piece| match piece {
                Piece::EditDone { edit: Edit { path: Some(path), whole, .. }, .. } => Some((path, whole)),
                _ => None,
            };
            pieces.into_iter().filter_map(path).collect::<Vec<_>>()
        };
        let paths =
            |text: &str, format| edits(crate::edit::stream::edits_in_no_format(text, Some(format), &known, calls()));
        let read = |text: &str, format| {
            let parser = crate::edit::stream::Parser::new(Some(format), known.to_vec(), calls());
            edits(crate::edit::stream::parsed(text, parser).0)
        };
        let of = |path: &str, is_whole| (path.to_string(), is_whole);
        let part = "Change it so:\n```python\ndef one():\n    return 11\n```\n";
        let new = "Create `t/new.py` with the following content:\n\n```python\nx = 1\n```\n";
        for format in Format::ALL {
            let is_text = format != Format::TOOLS;
            assert_eq!(paths(part, format), [of("a.py", false)], "{}", format.name());
            assert_eq!(read(new, format), Vec::from_iter(is_text.then(|| of("t/new.py", true))), "{}", format.name());
        }
        let several = [&known[..], &[KnownFile { path: "b.py".into(), text: "x = 1\n".into() }]].concat();
        let offered = |format| crate::edit::stream::edits_in_no_format(part, Some(format), &several, calls()).len();
        assert_eq!((offered(Format::TOOLS), offered(Format::WHOLE)), (0, 2), "more files than one are in play");
        let many = format!("{}{part}", "So:\n```python\nprint(1)\n```\n".repeat(MOST_COMPARED));
        assert!(paths(&many, Format::WHOLE).is_empty());
        for text in [
            "It is\n```python\ndef one():\n    return 1\n```\n",
            "You should not change a.py like this:\n```python\ndef one():\n    return 11\n```\n",
            "A wrong version of a.py would be:\n```python\nimport os\n\n\ndef one():\n    return 11\n\n\ndef two():\n    return 2\n```\n",
            "Use it:\n```python\nprint(one())\n```\n",
            "Create `new.py`:\n```bash\ntouch new.py\n```\n",
            "See `new.py` for that.\n```python\nx = 1\n```\n",
            "`b.py` and `c.py`:\n```python\nx = 1\n```\n",
            "Either:\n```python\ndef one():\n    return 11\n```\nor:\n```python\ndef one():\n    return 12\n```\n",
        ] {
            assert!(paths(text, Format::WHOLE).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_line_that_a_sentence_leads_to_is_offered_in_its_place() {
        let file = "TAX = 0.2\n\n\ndef one():\n    c = TAX\n    return c\n\n\ndef two():\n    return 2\n";
        let known = [KnownFile { path: "shop.py".into(), text: file.into() }];
        let offered = |text: &str, format: Format, known: &[KnownFile]| {
            let calls = crate::tools::ToolSet::builtin().calls();
            let pieces = crate::edit::stream::edits_in_no_format(text, Some(format), known, calls);
            let path = |piece| if let Piece::EditDone { edit, .. } = piece { edit.path } else { None };
            pieces.into_iter().filter_map(path).collect::<Vec<_>>()
        };
        for head in ["To set the tax to 19 %, update `shop.py` as follows:", "In shop.py:", "Replace the line with:"] {
            for format in Format::ALL {
                let text = format!("{head}\n\n```python\nTAX = 0.19\n```\n");
                assert_eq!(offered(&text, format, &known), ["shop.py"], "{} {head}", format.name());
            }
        }
        for text in [
            "`shop.py` has this line.\n```python\nTAX = 0.19\n```\n",
            "`shop.py` has it as:\n```python\nTAX = 0.2\n```\n",
            "Use `shop.py` so:\n```python\nc = one()\n```\n",
            "Write `other.py`, which is new:\n```python\nTAX = 0.19\n```\n",
            "Run `shop.py`:\n```sh\nTAX = 0.19\n```\n",
        ] {
            assert!(!offered(text, Format::TOOLS, &known).contains(&"shop.py".to_string()), "{text}");
        }
        let two = [&known[..], &[KnownFile { path: "b.py".into(), text: "TAX = 1\n".into() }]].concat();
        assert!(offered("So:\n```python\nTAX = 0.19\n```\n", Format::WHOLE, &two).is_empty(), "two files have it");
    }

    /// Returns path and operation of what is offered of an answer beside one file.
    fn offered(text: &str, format: Format, file: &str) -> Vec<(String, Op)> {
        let known = [KnownFile { path: "s.py".into(), text: file.into() }];
        let calls = crate::tools::ToolSet::builtin().calls();
        let pieces = crate::edit::stream::edits_in_no_format(text, Some(format), &known, calls);
        let edit = |piece| match piece {
            Piece::EditDone { edit: Edit { path: Some(path), op, whole: false, .. }, .. } => Some((path, op)),
            _ => None,
        };
        pieces.into_iter().filter_map(edit).collect()
    }

    #[test]
    fn a_block_in_the_place_of_the_one_before_it_is_offered() {
        let file = "def add(a, b):\n    return a + b\n\n\ndef div(a, b):\n    return a / b\n";
        let two = |first: &str, then: &str, old: &str| {
            format!("{first}\n```python\n{old}\n```\n\n{then}\n```python\n    return a // b\n```\nDone.\n")
        };
        for (first, then) in [
            ("Before:", "After:"),
            ("In `s.py`, change", "to"),
            ("Replace", "with:"),
            ("変更前：", "**変更後**："),
            ("SEARCH:", "REPLACE:"),
            ("Old code:", "New code:"),
            ("**Original:**", "**Modified:**"),
            ("Current code:", "Updated code:"),
        ] {
            for format in Format::ALL {
                let all = offered(&two(first, then, "    return a / b"), format, file);
                let [(path, Op::Replace { search, replace, .. })] = all.as_slice() else {
                    panic!("{} {then}: {all:?}", format.name());
                };
                assert_eq!((path.as_str(), search.trim(), replace.trim()), ("s.py", "return a / b", "return a // b"));
            }
        }
        for text in [two("Before:", "After:", "    return a % b"), two("It has", "It says", "    return a / b")] {
            assert_eq!(offered(&text, Format::WHOLE, file), [], "{text}");
        }
    }

    #[test]
    fn several_definitions_of_one_file_are_offered_together() {
        let file =
            "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef three():\n    return 3\n";
        let (one, two) = ("def one():\n    return 11\n", "def two():\n    return 22\n");
        let apart = format!("First:\n```python\n{one}```\nThen:\n```python\n{two}```\n");
        let together = format!("So:\n```python\n{one}\n\n{two}```\n");
        for format in Format::ALL {
            for (text, count) in [(&apart, 2), (&together, 1)] {
                let paths: Vec<String> = offered(text, format, file).into_iter().map(|(path, _)| path).collect();
                assert_eq!(paths, vec!["s.py"; count], "{} {text}", format.name());
            }
        }
    }

    #[test]
    fn a_step_gives_a_table_its_new_value() {
        let table = |rows: &str| format!("UNITS = {{\n{rows}}}\n");
        let file = format!(
            "{}\n\ndef show(u):\n    return UNITS[u]\n\n\ndef other(u):\n    v = show(u)\n    return v\n",
            table("    \"c\": 1,\n    \"f\": 2,\n    \"k\": 3,\n")
        );
        let use_it = "def show(u):\n    return UNITS.get(u)\n";
        for (rows, head) in [
            ("    \"c\": 1,\n", "1. **Drop the others**"),
            ("    \"c\": 1,\n    \"f\": 2,\n    \"k\": 3,\n    \"r\": 4,\n", "### 1. The table"),
        ] {
            let text = format!("{head}\n\n```python\n{}```\n\n2. Use it:\n\n```python\n{use_it}```\n", table(rows));
            for format in Format::ALL {
                assert_eq!(offered(&text, format, &file).len(), 2, "{} {text}", format.name());
            }
        }
        let alone = format!("1. **The table**\n\n```python\n{}```\n", table("    \"c\": 1,\n"));
        assert_eq!(offered(&alone, Format::WHOLE, &file).len(), 1);
        for head in ["### Usage", "### Original code", "**Example**", "It has"] {
            let text = alone.replace("1. **The table**", head);
            assert_eq!(offered(&text, Format::WHOLE, &file), [], "{text}");
        }
    }

    #[test]
    fn a_constant_of_a_step_comes_before_the_new_function_that_uses_it() {
        let file = "def show(u):\n    return u\n\n\ndef other(u):\n    v = show(u)\n    return v\n";
        let text = "1. Add a helper:\n```python\ndef rate(u):\n    return RATE * u\n```\n2. Add a constant:\n```python\nRATE = 3\n```\n3. Use it:\n```python\ndef show(u):\n    return rate(u)\n```\n";
        let edits = offered(text, Format::WHOLE, file);
        let [(_, Op::Hunks(first)), (_, Op::Hunks(_)), _] = edits.as_slice() else { panic!("{edits:?}") };
        assert_eq!(first[0].body[0], "+RATE = 3");
    }

    #[test]
    fn a_numbered_part_of_a_small_file_is_not_all_of_it() {
        let file = "var config =\n{\n    host: \"a\",\n    port: 1\n};\n\nmodule.exports = {\n    config,\n};\n";
        let part = "var config =\n{\n    host: \"a\",\n    port: 2,\n    debug: true\n};\n";
        let known = [KnownFile { path: "a.js".into(), text: file.into() }];
        let whole = |head: &str, content: &str| {
            let text = format!("{head}\n\n```js\n{content}```\n");
            let calls = crate::tools::ToolSet::builtin().calls();
            let parser = crate::edit::stream::Parser::new(Some(Format::WHOLE), known.to_vec(), calls);
            let is_whole = |piece| if let Piece::EditDone { edit, .. } = piece { Some(edit.whole) } else { None };
            crate::edit::stream::parsed(&text, parser).0.into_iter().find_map(is_whole)
        };
        assert_eq!(whole("1. The port:", part), Some(false));
        assert_eq!(whole("1. All of it:", &file.replace("port: 1", "port: 2")), Some(true));
    }

    #[test]
    fn a_branch_alone_is_one_of_the_definition_that_is_named() {
        let file =
            "def run(x):\n    if x:\n        a()\n    else:\n        b()\n\n\ndef other(x):\n    if x:\n        c()\n";
        let text = |head: &str| format!("{head}\n```python\n    else:\n        d()\n```\n");
        for (head, count) in [("In `run`:", 1), ("Change the branch:", 1), ("In `other`, add a branch:", 0)] {
            assert_eq!(offered(&text(head), Format::WHOLE, file).len(), count, "{head}");
        }
    }

    #[test]
    fn the_ids_of_such_edits_are_their_own() {
        let edits = [1, 2].map(|n| Edit::new(format!("{n}.py"), Op::Delete, Format::WHOLE, "whole")).to_vec();
        let id = |piece: &Piece| if let Piece::EditDone { id, .. } = piece { Some(*id) } else { None };
        let ids: Vec<EditId> = edits_of_files(edits).iter().filter_map(id).collect();
        assert!(ids.len() == 2 && ids[0] != ids[1]);
    }
}
