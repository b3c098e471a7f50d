//! Blocks of code in an answer that no format reads.

use super::paths::heads::headed;
use super::paths::spaced::perhaps_named;
use super::paths::{is_file, is_path, same_path};
use super::pieces::KnownFile;
use crate::edit::format::Format;
use crate::edit::op::{Edit, Op};
use crate::edit::path::{bare, may_name};
use crate::edit::place::{begins_passage, passages, same_definition};

/// A block of code that is no edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::edit) struct UnreadBlock {
    /// The path near it.
    pub path: Option<String>,
    /// The path is right above it or in its opening line.
    pub titled: bool,
    /// The last line of prose above it.
    pub said: String,
    /// The words behind its opening fence.
    pub info: String,
    pub content: String,
}

impl UnreadBlock {
    /// Returns whether it shows commands or what they print.
    pub fn shows_output(&self) -> bool {
        shows_output(&self.info)
    }

    /// Returns the one path of a file that is not in play in the line above: one that the line heads, or in code or bold
    /// type before a colon.
    pub fn said_file(&self, known: &[KnownFile]) -> Option<String> {
        let path = headed(&self.said, known).or_else(|| self.marked_file(known))?;
        let is_known = |file: &KnownFile| same_path(&path, &file.path) || may_name(&path, &file.path);
        (!known.iter().any(is_known)).then_some(path)
    }

    fn marked_file(&self, known: &[KnownFile]) -> Option<String> {
        let said = self.said.trim_end().strip_suffix([':', '：'])?;
        let marked = said.split('`').skip(1).step_by(2).chain(said.split("**").skip(1).step_by(2));
        let mut paths: Vec<&str> = marked.filter(|word| is_path(word, known)).collect();
        paths.dedup();
        let [path] = paths.as_slice() else { return None };
        Some(path.to_string())
    }

    /// Returns whether the line above leads to it.
    fn is_led_to(&self) -> bool {
        self.said.trim_end().ends_with([':', '：'])
    }

    /// Returns whether the line above leads to it and it begins with a passage of a file of this path: it is no mere quotation.
    pub fn may_change(&self, path: &str) -> bool {
        self.is_led_to() && begins_passage(&self.content, path)
    }

    /// Returns the one file in play in which passages that it consists of have their places, where the line above leads to it
    /// and names no other file.
    fn passage_of<'k>(&self, known: &'k [KnownFile]) -> Option<&'k KnownFile> {
        let names_other = || self.said_file(known).or_else(|| self.mentioned_file(known)).is_some();
        if !self.is_led_to() || self.path.is_none() && names_other() {
            return None;
        }
        let is_named = |file: &&KnownFile| self.path.as_ref().is_none_or(|path| *path == file.path);
        let is_changed = |file: &&KnownFile| passages(&file.text, &self.content, &file.path).is_some();
        let mut files = known.iter().filter(is_named).filter(is_changed);
        files.next().filter(|_| files.next().is_none())
    }

    /// Returns the only path of a file in the line above, whatever else it says, of one that is not in play.
    pub fn mentioned_file(&self, known: &[KnownFile]) -> Option<String> {
        if let Some(name) = perhaps_named(&self.said, known) {
            return Some(name);
        }
        let mut files = self.said.split_whitespace().map(bare).filter(|word| is_path(word, known) && is_file(word));
        let path = files.next().filter(|_| files.next().is_none())?;
        let is_known = |file: &KnownFile| same_path(path, &file.path) || may_name(path, &file.path);
        (!known.iter().any(is_known)).then(|| path.to_string())
    }
}

/// Returns whether the first path in a sentence, or the first one of those in code or bold type, is of no file in play.
pub(in crate::edit) fn begins_with_other(said: &str, known: &[KnownFile]) -> bool {
    let mut marked = said.split('`').skip(1).step_by(2).chain(said.split("**").skip(1).step_by(2));
    // `Node.js` and others are no files.
    let is_product = |word: &str| word.starts_with(|c: char| c.is_uppercase()) && word.ends_with(".js");
    let unmarked = |word| bare(word).trim_end_matches([':', '：', ',', '.']);
    let mut plain = said.split_whitespace().map(unmarked).filter(|word| !is_product(word));
    let is_meant = |word: &&str| is_path(word, known) && is_file(word);
    let Some(path) = marked.find(is_meant).or_else(|| plain.find(is_meant)) else { return false };
    !known.iter().any(|file| same_path(path, &file.path) || may_name(path, &file.path))
}

/// Returns whether a text is a definition of a file and says something else than it.
pub(in crate::edit) fn changes_definition(file: &str, content: &str) -> bool {
    same_definition(file, content).is_some_and(|(new, _)| new != file)
}

/// Blocks of one answer that are compared with the files. One with more of them is no handful of edits.
pub(super) const MOST_COMPARED: usize = 64;

/// Returns the edits of blocks that no path stands above, in an answer in which nothing is read: one that is a definition
/// or other passages of a file in play, or that a sentence names a new file for. Where calls are asked for, only parts of the
/// one file in play. None where a file comes twice, or where there are more than [`MOST_COMPARED`].
pub(super) fn loose(blocks: &[UnreadBlock], format: Format, known: &[KnownFile]) -> Vec<Edit> {
    let of_calls = format == Format::TOOLS;
    if blocks.len() > MOST_COMPARED || of_calls && known.len() != 1 {
        return Vec::new();
    }
    let is_of_known = |edit: &Edit| known.iter().any(|file| edit.path.as_deref() == Some(&file.path));
    let edits = blocks.iter().filter_map(|block| edit(block, known));
    let edits: Vec<Edit> = edits.filter(|edit| !of_calls || is_of_known(edit)).collect();
    let paths: Vec<_> = edits.iter().map(|edit| &edit.path).collect();
    let is_twice = paths.iter().enumerate().any(|(at, path)| paths[..at].contains(path));
    if is_twice { Vec::new() } else { edits }
}

/// Returns the edit that a block is, which nothing says for certain.
fn edit(block: &UnreadBlock, known: &[KnownFile]) -> Option<Edit> {
    if block.titled || block.shows_output() || block.content.trim().is_empty() {
        return None;
    }
    let is_named = |file: &&KnownFile| block.path.as_ref().is_none_or(|path| *path == file.path);
    let mut changed = known.iter().filter(is_named).filter(|file| changes_definition(&file.text, &block.content));
    let path = match (changed.next(), changed.next(), &block.path) {
        (Some(file), None, _) => file.path.clone(),
        (None, ..) => match block.passage_of(known) {
            Some(file) => file.path.clone(),
            None => block.said_file(known).filter(|_| block.path.is_none())?,
        },
        _ => return None,
    };
    let mut content = block.content.clone();
    if !content.ends_with('\n') {
        content.push('\n');
    }
    let edit = Edit::new(path, Op::Overwrite { content }, Format::WHOLE, Format::WHOLE.name());
    Some(Edit { whole: false, ..edit })
}

/// Languages of blocks that show commands or output, not files.
const NO_FILES: [&str; 11] =
    ["bash", "sh", "shell", "zsh", "console", "text", "txt", "output", "plaintext", "log", "mermaid"];

/// Returns whether a block shows commands or output, by the first word behind its fence.
pub(super) fn shows_output(info: &str) -> bool {
    let language = info.split_whitespace().next().unwrap_or_default().to_lowercase();
    NO_FILES.contains(&language.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::stream::pieces::edits_of_files;
    use crate::edit::stream::{EditId, Piece};

    #[test]
    fn a_block_without_a_path_is_offered_where_it_can_mean_one_file() {
        let file = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n";
        let known = [KnownFile { path: "a.py".into(), text: file.into() }];
        let paths = |text: &str, format: Format| {
            let calls = crate::tools::ToolSet::builtin().calls();
            let pieces = crate::edit::stream::edits_in_no_format(text, Some(format), &known, calls);
            let path = |piece| match piece {
                Piece::EditDone { edit: Edit { path: Some(path), whole: false, .. }, .. } => Some(path),
                _ => None,
            };
            pieces.into_iter().filter_map(path).collect::<Vec<_>>()
        };
        let part = "Change it so:\n```python\ndef one():\n    return 11\n```\n";
        let new = "Create `t/new.py` with the following content:\n\n```python\nx = 1\n```\n";
        for format in Format::ALL {
            let is_text = format != Format::TOOLS;
            assert_eq!(paths(part, format), ["a.py"], "{}", format.name());
            assert_eq!(paths(new, format), Vec::from_iter(is_text.then_some("t/new.py")), "{}", format.name());
        }
        let several = [&known[..], &[KnownFile { path: "b.py".into(), text: "x = 1\n".into() }]].concat();
        let calls = || crate::tools::ToolSet::builtin().calls();
        let offered = |format| crate::edit::stream::edits_in_no_format(part, Some(format), &several, calls()).len();
        assert_eq!((offered(Format::TOOLS), offered(Format::WHOLE)), (0, 2), "more files than one are in play");
        let many = format!("{}{part}", "So:\n```python\nprint(1)\n```\n".repeat(MOST_COMPARED));
        assert_eq!(paths(&many, Format::WHOLE), Vec::<String>::new());
        for text in [
            "It is\n```python\ndef one():\n    return 1\n```\n",
            "Use it:\n```python\nprint(one())\n```\n",
            "Create `new.py`:\n```bash\ntouch new.py\n```\n",
            "See `new.py` for that.\n```python\nx = 1\n```\n",
            "`b.py` and `c.py`:\n```python\nx = 1\n```\n",
            "Either:\n```python\ndef one():\n    return 11\n```\nor:\n```python\ndef one():\n    return 12\n```\n",
        ] {
            assert_eq!(paths(text, Format::WHOLE), Vec::<String>::new(), "{text}");
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

    #[test]
    fn the_ids_of_such_edits_are_their_own() {
        let edits = [1, 2].map(|n| Edit::new(format!("{n}.py"), Op::Delete, Format::WHOLE, "whole")).to_vec();
        let id = |piece: &Piece| if let Piece::EditDone { id, .. } = piece { Some(*id) } else { None };
        let ids: Vec<EditId> = edits_of_files(edits).iter().filter_map(id).collect();
        assert!(ids.len() == 2 && ids[0] != ids[1]);
    }
}
