//! Parts of an answer that look like edits and were not read as such, and the reasons.

use std::collections::HashSet;

use super::block::headed::part_head;
use super::block::{MOST_COMPARED, UnreadBlock, changes_definition, is_branch, is_within, shows_output};
use super::paths::claims::warns;
use super::paths::namesakes::meant_by;
use super::paths::spaced::perhaps_named;
use super::paths::{is_likely, path_line, same_path};
use super::pieces::{KnownFile, Piece};
use super::starts::{Fence, language};
use super::unfenced::parts::holds_part;
use crate::edit::path::{is_language, may_name};
use crate::edit::{Edit, Format, Op, names};

/// Something in an answer that looks like an edit and was not read as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadText {
    /// The reason.
    pub why: Unread,
    /// The answer holds an edit that was read, too.
    pub beside_edit: bool,
}

/// The reason why a part of an answer was not read as an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// A block that names no file.
    NoFile,
    /// A block that names no file, the only one in its answer, and may be the new text of this one, the only one in play.
    PerhapsOf(String),
    /// A block for a file that is not in play, or several, by their paths.
    OtherFile(String),
    /// A block for this file, or one of several, which is neither all of it nor a part with a certain place.
    NoPlace(String),
    /// A block for this file without a certain place, beside others of the answer that are read: one of its steps.
    Step(String),
    /// A block for this file whose text the file has.
    AsItIs(String),
    /// A block for a file that was read and whose text is not compared with blocks: the session knows of it.
    NotCompared {
        /// The file.
        path: String,
        /// It is no Unicode text; else it is too large or not UTF-8.
        is_raw: bool,
    },
    /// Nothing but the path of this file, perhaps with a fence that holds nothing.
    OnlyPath(String),
    /// The text of a file in a form that is not read.
    NoForm,
}

/// Blocks without a path of fewer lines than this are taken for quotations, unless a line that names a file leads to them,
/// or one that names none and they are of no file in play.
const LEAST: usize = 3;

/// Returns whether a text may hold something that looks like an edit.
pub(super) fn may_hold(text: &str, format: Format, known: &[KnownFile]) -> bool {
    let is_bare = || stands_unfenced(text, known) || holds_version(text, known) || holds_part(text, false, known);
    text.contains(['`', '~', '{', '<'])
        || only_path(text, known).is_some()
        || may_quote(text, format, known)
        || is_bare()
}

fn may_quote(text: &str, format: Format, known: &[KnownFile]) -> bool {
    format != Format::TOOLS && quotes_file(text, known)
}

/// Returns what in an answer looks like an edit and was not read as one, if anything, by its pieces and the blocks among
/// them that are no edits.
pub(super) fn unread_text(
    pieces: Vec<Piece>,
    blocks: &[UnreadBlock],
    (format, displays): (Format, bool),
    known: &[KnownFile],
) -> Option<UnreadText> {
    let beside_edit = pieces.iter().any(|piece| matches!(piece, Piece::EditDone { .. }));
    let is_read = beside_edit || pieces.iter().any(|piece| matches!(piece, Piece::Call { .. }));
    let prose = prose(pieces);
    let whys: Vec<Unread> =
        blocks.iter().take(MOST_COMPARED).filter_map(|block| why(block, (format, displays), known)).collect();
    let names = || format != Format::TOOLS && names_beside_code(&prose, known);
    let quotes = || !is_read && (may_quote(&prose, format, known) || names());
    let first = |is: fn(&Unread) -> bool| whys.iter().find(|why| is(why)).cloned();
    let why = other_files(&whys)
        .or_else(|| first(|why| matches!(why, Unread::NoPlace(_))))
        .or_else(|| (!is_read && holds_artifact(&prose)).then(|| perhaps_only(known)))
        .or_else(|| {
            let is_bare = || stands_unfenced(&prose, known) || !displays && holds_version(&prose, known);
            (!is_read && (holds_file(&prose, known) || is_bare())).then_some(Unread::NoForm)
        })
        .or_else(|| holds_part(&prose, is_read, known).then_some(Unread::NoForm))
        .or_else(|| perhaps_of(&whys, blocks, known).or_else(|| first(|why| *why == Unread::NoFile)))
        .or_else(|| (!is_read && blocks.iter().any(UnreadBlock::is_diff)).then_some(Unread::NoFile))
        .or_else(|| first(|why| matches!(why, Unread::AsItIs(_))).filter(|_| !is_read))
        .or_else(|| quotes().then_some(Unread::NoForm))?;
    Some(UnreadText { why, beside_edit })
}

/// Returns the prose of an answer, without what turned out to be a file at its end.
fn prose(pieces: Vec<Piece>) -> String {
    let file = |piece: &Piece| match piece {
        Piece::EditDone { edit: Edit { op: Op::Overwrite { content } | Op::Write { content }, .. }, .. } => {
            Some(content.trim_end().to_string())
        }
        _ => None,
    };
    let files: Vec<String> = pieces.iter().filter_map(file).collect();
    let said = |piece| if let Piece::Prose(text) = piece { Some(text) } else { None };
    let prose: String = pieces.into_iter().filter_map(said).collect();
    files.iter().fold(prose, |prose, text| prose.replacen(text.as_str(), "", 1))
}

/// Returns the reason of the blocks for files that are not in play, with the paths of all.
fn other_files(whys: &[Unread]) -> Option<Unread> {
    let mut paths: Vec<&str> = Vec::new();
    for why in whys {
        if let Unread::OtherFile(path) = why
            && !paths.contains(&path.as_str())
        {
            paths.push(path);
        }
    }
    (!paths.is_empty()).then(|| Unread::OtherFile(paths.join(", ")))
}

/// Returns the reason of a text that names no file: it may be that of the only one in play.
fn perhaps_only(known: &[KnownFile]) -> Unread {
    if let [file] = known { Unread::PerhapsOf(file.path.clone()) } else { Unread::NoFile }
}

/// Returns whether a text holds a document between the tags that chats put around one.
fn holds_artifact(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("<antArtifact ")) && text.contains("</antArtifact>")
}

/// Returns the reason of the only block of code, where it names no file and may be the new text of the only one in play: it has
/// two lines of it, and its language.
fn perhaps_of(whys: &[Unread], blocks: &[UnreadBlock], known: &[KnownFile]) -> Option<Unread> {
    let ([Unread::NoFile], [file]) = (whys, known) else { return None };
    let is_code = |block: &&UnreadBlock| block.content.lines().count() >= LEAST || is_branch(&block.content);
    let mut code = blocks.iter().filter(|block| !block.shows_output()).filter(is_code);
    let block = code.next().filter(|block| block.path.is_none() && code.next().is_none())?;
    let language = language(&block.info);
    let is_like = (language.is_empty() || is_language(&language, &file.path))
        && (quotes_file(&block.content, known) || is_branch(&block.content))
        && !is_within(&block.content, &file.text);
    (is_like && !block.is_diff() && !warns(&block.said)).then(|| Unread::PerhapsOf(file.path.clone()))
}

/// Returns the reason why a block was not read, if it looks like an edit. `displays`: the model makes its changes by calls.
fn why(block: &UnreadBlock, (format, displays): (Format, bool), known: &[KnownFile]) -> Option<Unread> {
    let is_part = part_head(&block.said, &block.info, known).is_some();
    if block.content.trim().is_empty() || !block.titled && !is_part && block.shows_output() {
        return None;
    }
    let is_long = block.content.lines().count() >= LEAST;
    let Some(path) = &block.path else {
        let is_change = || known.iter().any(|file| changes_definition(&file.text, &block.content));
        let is_new = || !displays && is_new(block, format, known);
        let is_code = || is_long || is_branch(&block.content) || is_change() || is_new();
        let mentioned = || match format {
            Format::TOOLS => perhaps_named(&block.said, known),
            _ => block.mentioned_file(known),
        };
        let said = block.said_file(known).or_else(mentioned);
        return said.map(Unread::OtherFile).or_else(|| is_code().then_some(Unread::NoFile));
    };
    let files = meant_by(path, known);
    if files.is_empty() {
        return Some(Unread::OtherFile(path.clone()));
    }
    let may_quote = format == Format::TOOLS;
    let is_all = |file: &KnownFile| block.content.trim_end() == file.text.trim_end();
    if let Some(file) = files.iter().find(|file| is_all(file) || is_within(&block.content, &file.text)) {
        return (block.titled && !is_part && (is_all(file) || !may_quote)).then(|| Unread::AsItIs(file.path.clone()));
    }
    let paths = || files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().join(", ");
    let may_change = || files.iter().any(|file| block.may_change(&file.path));
    (block.titled || is_part || is_long || !may_quote || may_change()).then(|| Unread::NoPlace(paths()))
}

/// Returns whether a line leads to a block of which no file in play has the lines: where edits are written as text it is
/// one, and where calls are asked for one that begins with a passage, or takes the place of the block before it.
fn is_new(block: &UnreadBlock, format: Format, known: &[KnownFile]) -> bool {
    let is_edit = |file: &KnownFile| match format {
        Format::TOOLS => block.may_change(&file.path) || block.is_instead(),
        _ => block.is_led_to(),
    };
    known.iter().any(is_edit) && !known.iter().any(|file| is_within(&block.content, &file.text))
}

/// Returns whether a text has two lines of a known file, in whatever dress.
fn quotes_file(text: &str, known: &[KnownFile]) -> bool {
    let tells = |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    let said: HashSet<&str> =
        text.lines().map(|line| line.trim_start_matches(['>', '+', '-', ' ', '\t']).trim_end()).collect();
    known.iter().any(|file| {
        let own: HashSet<&str> = file.text.lines().map(str::trim).filter(tells).collect();
        own.iter().filter(|line| said.contains(*line)).count() >= 2
    })
}

/// Returns the path of a file in play that an answer holds and nothing else, or of any file with a fence around nothing; of a
/// fence alone, that of the only file in play. The path of another file alone may be what was asked for.
pub(super) fn only_path(text: &str, known: &[KnownFile]) -> Option<String> {
    const LONGEST: usize = 600;
    let mut paths: Vec<String> = Vec::new();
    let mut is_fenced = false;
    for line in text.lines().filter(|line| !line.trim().is_empty() && text.len() <= LONGEST) {
        let fence = Fence::open(line);
        is_fenced |= fence.is_some();
        match (path_line(line, known).filter(|path| is_likely(path, known)), fence) {
            (Some(path), _) if !paths.contains(&path) => paths.push(path),
            (Some(_), _) => {}
            (None, Some(fence)) => paths.extend(fence.path(known)),
            (None, None) => return None,
        }
    }
    match (paths.as_slice(), known) {
        ([path], _) => {
            Some(path.clone()).filter(|path| is_fenced || known.iter().any(|file| same_path(path, &file.path)))
        }
        ([], [file]) if is_fenced => Some(file.path.clone()),
        _ => None,
    }
}

/// Returns whether most lines of a known file, and others, follow its path without a fence around them.
fn stands_unfenced(text: &str, known: &[KnownFile]) -> bool {
    let mut rest = text;
    while let Some((line, below)) = rest.split_once('\n') {
        rest = below;
        let Some(path) = path_line(line, known) else { continue };
        let Some(file) = known.iter().find(|file| same_path(&path, &file.path)) else { continue };
        let is_fenced = below.trim_start().starts_with(['`', '~', '<', '*', '-', '@']);
        let there: HashSet<&str> = below.lines().map(str::trim).collect();
        let own: Vec<&str> = file.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let kept = own.iter().filter(|line| there.contains(**line)).count();
        return !is_fenced && kept > 1 && kept * 10 >= own.len() * 6 && !is_within(&file.text, below);
    }
    false
}

/// Returns whether most lines of a known file, and others between them, stand in a text outside of fences, in whatever dress.
fn holds_version(text: &str, known: &[KnownFile]) -> bool {
    let (mut there, mut is_fenced) = (Vec::new(), false);
    for line in text.lines().map(|line| line.trim_start_matches(['>', ' ', '\t']).trim_end()) {
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        is_fenced ^= is_fence;
        if !is_fenced && !is_fence && !line.is_empty() {
            there.push(line);
        }
    }
    let lines: HashSet<&str> = there.iter().copied().collect();
    let bare = there.join("\n");
    known.iter().any(|file| {
        let own: Vec<&str> = file.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let kept = own.iter().filter(|line| lines.contains(**line)).count();
        kept >= LEAST && kept * 10 >= own.len() * 6 && !is_within(&file.text, &bare)
    })
}

/// Returns whether a text names a known file and holds a block of code that is none of commands.
fn names_beside_code(text: &str, known: &[KnownFile]) -> bool {
    let mut languages = text.lines().filter_map(|line| line.trim().strip_prefix("```")).step_by(2);
    known.iter().any(|file| text.contains(&file.path)) && languages.any(|info| !shows_output(info))
}

/// Returns whether a text holds a file in a form that no format has: a JSON object of a path and a text, a tag that is
/// named as a known file, or a block in a quotation.
fn holds_file(text: &str, known: &[KnownFile]) -> bool {
    let is_object = |line: &str| {
        let has = |keys: &[&str]| keys.iter().any(|key| line.contains(&format!("\"{key}\":")));
        let is_text = has(names::CONTENT) || has(&["code", "replace"]) || has(names::REPLACE);
        (line.starts_with('{') || line.contains("{\"")) && (has(&["path"]) || has(names::PATH)) && is_text
    };
    let is_tag = |line: &str| {
        let name = line.strip_prefix('<').and_then(|line| line.split_once('>')).map(|(name, _)| name);
        name.is_some_and(|name| known.iter().any(|file| may_name(name, &file.path)))
    };
    let is_quoted =
        |line: &str| line.starts_with('>') && line.trim_start_matches(['>', ' ']).starts_with("<<<<<<< SEARCH");
    text.lines().map(str::trim_start).any(|line| is_object(line) || is_tag(line) || is_quoted(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n";

    fn why(text: &str, format: Format) -> Option<Unread> {
        let known = [("calc.py", FILE), ("app.toml", "name = 1\nlast = 2\nmore = 3\nkey = 4\n")];
        let known = known.map(|(path, text)| KnownFile { path: path.into(), text: text.into() });
        let calls = crate::tools::ToolSet::builtin().calls();
        crate::edit::stream::unread(text, (format, false), known.to_vec(), calls).map(|unread| unread.why)
    }

    #[test]
    fn a_step_beside_those_that_are_read_is_told() {
        let one = "2. Return more:\n\n```python\ndef one():\n    return 11\n```\n";
        for format in Format::ALL {
            for step in [
                "1. Call it in `calc.py`:\n\n```python\nprint(one())\n```\n\n",
                "### 1. Add a loop\n\n```python\nfor x in y:\n    z(x)\n```\n\n",
            ] {
                assert_eq!(why(&format!("{step}{one}"), format), Some(Unread::Step("calc.py".into())), "{step}");
            }
            for other in [
                "Usage:\n\n```python\nprint(one())\n```\n\n",
                "1. Run it:\n\n```bash\npython calc.py\n```\n\n",
                "1. It has:\n\n```python\ndef two():\n    return 2\n```\n\n",
            ] {
                assert_eq!(why(&format!("{other}{one}"), format), None, "{other}");
            }
        }
    }

    #[test]
    fn an_answer_of_a_path_alone_is_told() {
        let only = || Some(Unread::OnlyPath("calc.py".into()));
        for text in ["calc.py", "`calc.py`\n", "calc.py\n```python\n```\n", "```calc.py\n```\n"] {
            assert_eq!(why(text, Format::WHOLE), only(), "{text}");
        }
        let other = |path: &str| Some(Unread::OnlyPath(path.into()));
        assert_eq!(why("tests/test_x.py\n```\n```\n", Format::TOOLS), other("tests/test_x.py"));
        for text in
            ["tests/test_x.py\n", "It is in calc.py", "calc.py\napp.toml\n", "Done.", "```\n```\n", "math.floor"]
        {
            assert!(!matches!(why(text, Format::WHOLE), Some(Unread::OnlyPath(_))), "{text}");
        }
    }

    #[test]
    fn a_branch_alone_and_a_document_in_tags_are_told() {
        let known = [KnownFile { path: "calc.py".into(), text: FILE.into() }];
        let why = |text: &str, format| {
            let calls = crate::tools::ToolSet::builtin().calls();
            crate::edit::stream::unread(text, (format, false), known.to_vec(), calls).map(|unread| unread.why)
        };
        let perhaps = || Some(Unread::PerhapsOf("calc.py".into()));
        for text in [
            "Change the branch.\n```python\nelse:\n    return 2\n```\n",
            "Change it:\n```python\nelif x:\n    return 2\n```\n",
            "So:\n```\n} catch (e) {\n  throw e;\n}\n```\n",
            "<antArtifact identifier=\"a\" title=\"Sums\">\ndef one():\n    return 11\n</antArtifact>\n",
        ] {
            assert_eq!(why(text, Format::WHOLE), perhaps(), "{text}");
        }
        assert_eq!(why("It prints\n```\nelse what\n```\n", Format::WHOLE), None);
    }

    #[test]
    fn a_part_below_a_path_and_words_is_told_where_it_has_no_place() {
        let known = [("calc.py", FILE), ("run.sh", "echo a\necho b\n")]
            .map(|(path, text)| KnownFile { path: path.into(), text: text.into() });
        let why = |text: &str, format| {
            let calls = crate::tools::ToolSet::builtin().calls();
            crate::edit::stream::unread(text, (format, false), known.to_vec(), calls).map(|unread| unread.why)
        };
        for format in [Format::TOOLS, Format::WHOLE] {
            let branch = why("calc.py: the else branch\n```\n    else:\n        z()\n```\n", format);
            assert_eq!(branch, Some(Unread::NoPlace("calc.py".into())), "{}", format.name());
            let line = why("run.sh: add this line\n```bash\necho c\n```\n", format);
            assert_eq!(line, Some(Unread::NoPlace("run.sh".into())), "{}", format.name());
        }
        for text in ["calc.py: prints\n```\n3\n```\n", "calc.py: run it\n```bash\npython calc.py\n```\n"] {
            assert_eq!(why(text, Format::TOOLS), None, "{text}");
        }
    }

    #[test]
    fn a_numbered_step_beside_an_edit_of_a_format_is_told() {
        let whole = FILE.replace("return 1", "return LIMIT");
        let whole = format!("### 2. Use it\n\ncalc.py\n```python\n{whole}```\n");
        let step = "### 1. Add a constant\n\n```python\nLIMIT = 3\n```\n\n";
        let told = why(&format!("{step}{whole}"), Format::WHOLE);
        assert_eq!(told, Some(Unread::Step("calc.py".into())));
        for other in ["Usage:\n\n```python\nx = one()\n```\n\n", "### 1. Example\n\n```python\nx = one()\n```\n\n"] {
            assert!(!matches!(why(&format!("{other}{whole}"), Format::WHOLE), Some(Unread::Step(_))), "{other}");
        }
    }

    #[test]
    fn the_reason_names_the_file_that_the_answer_names() {
        let calc = || "calc.py".to_string();
        let other = |path: &str| Some(Unread::OtherFile(path.into()));
        for (text, wanted) in [
            ("So:\n```python\na\nb\nc\n```\n".to_string(), Some(Unread::NoFile)),
            ("So:\n```\ndef one():\n    return 11\n```\n".into(), Some(Unread::NoFile)),
            (format!("calc.py\n```python\n{FILE}```\n"), Some(Unread::AsItIs(calc()))),
            ("So:\n```diff\n-x = 1\n+x = 2\n```\n".into(), Some(Unread::NoFile)),
            ("calc.py\n```python\nprint(1)\n```\n".into(), Some(Unread::NoPlace(calc()))),
            ("my new mod.py\n```python\nx = 1\n```\n".into(), other("my new mod.py")),
            ("`My Project/b.py`\n```python\nx = 1\n```\n".into(), other("My Project/b.py")),
            ("tests/t.py\n```python\nx = 1\n```\n".into(), other("tests/t.py")),
            ("**`t.py`**\n```python\nx = 1\n```\nand\n\nu.py\n```\ny\n```\n".into(), other("t.py, u.py")),
            ("```python title=\"t.py\"\nx = 1\n```\n".into(), other("t.py")),
            ("Create `t/a.py` with this content:\n\n```python\nx = 1\n```\n".into(), other("t/a.py")),
            ("Dockerfile\n```dockerfile\nFROM x\n```\n".into(), other("Dockerfile")),
            ("Run:\n```bash\na\nb\nc\n```\nand `x`, or\n```rust\none line\n```".into(), None),
            ("calc.py\n```python\ndef two():\n    return 2\n```\n".into(), None),
            ("In app.toml write\n```\nkey = 7\n```\n".into(), None),
            ("Update `app.toml` so:\n\n```\nother = 7\n```\n".into(), Some(Unread::NoPlace("app.toml".into()))),
            ("In calc.py:\n```python\ndef new():\n    return 3\n```\n".into(), Some(Unread::NoPlace(calc()))),
            ("Use `calc.py` so:\n```python\nprint(one())\n```\n".into(), None),
            ("`calc.py` says:\n```python\ndef two():\n    return 2\n```\n".into(), None),
            ("It is fine.".into(), None),
        ] {
            assert_eq!(why(&text, Format::TOOLS), wanted, "{text}");
        }
        for above in ["app.toml", "**app.toml**", "### `app.toml`:", "app.toml\n"] {
            let text = format!("Done.\n\n{above}\n```\nother = 7\n```");
            assert_eq!(why(&text, Format::TOOLS), Some(Unread::NoPlace("app.toml".into())), "{above}");
        }
        let quoted = "> calc.py\n> <<<<<<< SEARCH\n> return 1\n> =======\n> return 3\n> >>>>>>> REPLACE\n";
        assert_eq!(why(&format!("{quoted}`x`"), Format::BLOCKS), Some(Unread::NoForm));
    }

    #[test]
    fn a_lone_block_that_is_like_the_one_file_in_play_may_be_its_new_text() {
        let file = "import csv\nimport sys\n\ndef main():\n    path = sys.argv[1]\n    total = 0\n    with open(path) as f:\n        for row in csv.reader(f):\n            total += int(row[1])\n    print(total)\n\nmain()\n";
        let new = "import csv\nfrom sys import argv\n\ndef main():\n    if len(argv) != 2:\n        print(\"Usage: python csv_total.py <path-to-csv>\")\n        return\n\n    try:\n        with open(argv[1], 'r') as file:\n            reader = csv.reader(file)\n            total = 0\n            for i, row in enumerate(reader):\n                if i == 0:\n                    continue\n                try:\n                    amount = int(row[0])\n                    total += amount\n                except ValueError:\n                    continue\n            print(total)\n    except FileNotFoundError:\n        print(\"File not found.\")\n\nif __name__ == \"__main__\":\n    main()\n";
        let why = |text: &str, known: &[(&str, &str)]| {
            let known = known.iter().map(|(path, text)| KnownFile { path: (*path).into(), text: (*text).into() });
            let calls = crate::tools::ToolSet::builtin().calls();
            let unread = crate::edit::stream::unread(text, (Format::WHOLE, false), known.collect::<Vec<_>>(), calls);
            unread.map(|unread| unread.why)
        };
        let perhaps = Some(Unread::PerhapsOf("csv_total.py".into()));
        for text in [
            format!("```python\n{new}```\n"),
            format!("So:\n\n```\n{new}```\nRun it:\n```bash\npython csv_total.py\n```\n"),
        ] {
            assert_eq!(why(&text, &[("csv_total.py", file)]), perhaps, "{text}");
            // Of two files it is not known which one is meant.
            assert_eq!(why(&text, &[("csv_total.py", file), ("b.py", "x = 1\n")]), Some(Unread::NoFile), "{text}");
        }
        for text in [
            "It is used so:\n```python\nimport csv_total\ncsv_total.main()\nexit(0)\n```\n".to_string(),
            format!("Do not write it like this:\n```python\n{new}```\n"),
            format!("In JavaScript:\n```js\n{new}```\n"),
            format!("Either\n```python\n{new}```\nor\n```python\n{new}# more\n```\n"),
        ] {
            assert_ne!(why(&text, &[("csv_total.py", file)]), perhaps, "{text}");
        }
    }

    #[test]
    fn files_of_one_name_are_named_without_words_of_a_language() {
        let known = ["x/a.py", "y/a.py"].map(|path| KnownFile { path: path.into(), text: FILE.into() });
        let calls = crate::tools::ToolSet::builtin().calls();
        let text = "a.py\n```python\nprint(1)\n```\n";
        let unread = crate::edit::stream::unread(text, (Format::TOOLS, false), known.to_vec(), calls);
        assert_eq!(unread.map(|unread| unread.why), Some(Unread::NoPlace("x/a.py, y/a.py".into())));
    }

    #[test]
    fn a_file_below_its_path_without_a_fence_is_named() {
        let changed = FILE.replace("return 1", "return 11");
        for format in [Format::TOOLS, Format::WHOLE] {
            assert_eq!(why(&format!("So:\n\ncalc.py\n\n{changed}"), format), Some(Unread::NoForm), "{}", format.name());
        }
        assert_eq!(why(&format!("calc.py\n\n{FILE}"), Format::TOOLS), None, "it is as it was");
        assert_eq!(why("calc.py\nis fine.\n", Format::TOOLS), None);
    }

    #[test]
    fn a_block_below_a_line_that_is_no_heading_is_named() {
        for said in ["cat > pkg/new.py", "See pkg/new.py", "the one of pkg/new.py, as it could be"] {
            let wanted = Some(Unread::OtherFile("pkg/new.py".into()));
            assert_eq!(why(&format!("{said}\n```python\nx = 1\n```\n"), Format::WHOLE), wanted, "{said}");
        }
        assert_eq!(why("python pkg/new.py\n```bash\nx\n```\n", Format::WHOLE), None);
    }

    #[test]
    fn what_is_read_is_not_unread() {
        let changed = FILE.replace("return 1", "return 11");
        for format in Format::ALL {
            assert_eq!(why(&format!("calc.py\n```python\n{changed}```\n"), format), None, "{}", format.name());
            assert_eq!(why("calc.py\n```python\ndef one():\n    return 3\n```\n", format), None, "{}", format.name());
            let new = why("t/new.py\n```python\nx = 1\n```\n", format);
            assert_eq!(new.is_some(), format == Format::TOOLS, "{}", format.name());
        }
    }

    #[test]
    fn a_file_in_an_unknown_form_is_found() {
        let known = [KnownFile { path: "src/a.py".into(), text: "".into() }];
        for text in ["So:\n  {\"path\": \"a.py\", \"content\": \"x = 1\"}", "<src/a.py>\nx = 1\n</src/a.py>"] {
            assert!(holds_file(text, &known), "{text}");
        }
        for text in ["{\"path\": \"a.py\"}", "if a <src/b.py> c", "<src/b.py>", "the `{` and \"path\", \"content\""] {
            assert!(!holds_file(text, &known), "{text}");
        }
    }

    #[test]
    fn a_file_in_any_dress_but_a_fence_is_named() {
        let changed = FILE.replace("return 1", "return 11");
        let quoted: String = changed.lines().map(|line| format!("> {line}\n")).collect();
        for text in [
            changed.clone(),
            quoted,
            format!("<pre><code>\n{changed}</code></pre>\n"),
            format!("<boltAction type=\"file\" filePath=\"calc.py\">\n{changed}</boltAction>\n"),
            format!("<document>\n<source>calc.py</source>\n{changed}</document>\n"),
        ] {
            for format in [Format::TOOLS, Format::WHOLE, Format::BLOCKS] {
                let is_read = format != Format::BLOCKS && text.starts_with("<document");
                assert!(is_read || why(&text, format).is_some(), "{} {text}", format.name());
            }
        }
        for text in [FILE.to_string(), format!("It is so:\n\n{FILE}\nThat is all.\n")] {
            assert_eq!(why(&text, Format::TOOLS), None, "{text}");
        }
        let pair = "Before:\n```python\n    return 7\n```\nAfter:\n```python\n    return 8\n```\n";
        assert_eq!(why(pair, Format::TOOLS), Some(Unread::NoFile));
        let call = "`replaceInFile({\"path\": \"calc.py\", \"search\": \"return 1\", \"replace\": \"return 3\"})`";
        assert_eq!(why(call, Format::TOOLS), Some(Unread::NoForm));
    }

    #[test]
    fn lines_of_a_file_in_any_dress_are_found() {
        let known = [KnownFile { path: "a.py".into(), text: "def one():\n    return 1\n\n)\n".into() }];
        for text in [
            "    def one():\n        return 1\n",
            "> def one():\n>     return 1\n",
            "- def one():\n+ def two():\n-   return 1",
        ] {
            assert!(quotes_file(text, &known), "{text}");
        }
        assert!(!quotes_file("It is `def one():`.\n)\n", &known));
        assert!(names_beside_code("In a.py replace\n```python\nreturn 1\n```\nwith it", &known));
        for text in [
            "Run a.py:\n```bash\npython a.py\n```",
            "Run a.py:\n```bash title=\"run\"\npython a.py\n```",
            "So:\n```python\nreturn 1\n```",
            "See a.py.",
        ] {
            assert!(!names_beside_code(text, &known), "{text}");
        }
    }
}
