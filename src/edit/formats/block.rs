//! The contents of a fenced block near a path: the file's text, that of several files, or commands that are none.

use std::collections::HashSet;

use super::blocks::unmarked;
use crate::edit::format::Format;
use crate::edit::op::{Edit, Op};
use crate::edit::path::{is_prose, may_name};
use crate::edit::stream::context::ReaderContext;
use crate::edit::stream::paths;
use crate::edit::stream::paths::namesakes::of_path;
use crate::edit::stream::pieces::{EditId, EditPart, KnownFile};
use crate::edit::stream::starts::Fence;

/// A file of this many lines and no more may have none in common with its next text.
pub(super) const FEW: usize = 3;

/// The contents of a block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Held<'t> {
    /// The text of the file whose path stands near it.
    Text,
    /// The texts of files, each under its path.
    Files(Vec<(String, &'t str)>),
    /// Commands, which are no text of the file.
    Commands,
}

/// Returns what a block holds. A script of a shell is text all the same.
pub(super) fn held<'t>(path: &str, content: &'t str, fence: &Fence, ctx: &ReaderContext) -> Held<'t> {
    let text = ctx.known.iter().find(|k| paths::same_path(path, &k.path)).map(|k| &*k.text);
    let own = |line: &str| text.is_some_and(|text| text.lines().any(|own| own.trim() == line.trim()));
    let first = content.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let of_shell = |line: &str| line.starts_with("#!") && line.contains("sh");
    let is_script = is_script(path) || own(first) || text.and_then(|text| text.lines().next()).is_some_and(of_shell);
    if !is_script && !is_prose(path) {
        if let Some((named, body)) = handed_over(content) {
            let is_it = paths::same_path(named, path) || may_name(named, path);
            return Held::Files(vec![(if is_it { path } else { named }.to_string(), body)]);
        }
        let is_commands = is_shell(&fence.language()) && !keeps(content, text, path);
        if is_commands || begins_handing(first) {
            return Held::Commands;
        }
    }
    let may_repeat = !is_prose(path) && text.is_none_or(|text| !text.contains("```"));
    if may_repeat && let Some(inner) = inner_file(content, Some(path), &ctx.known) {
        return Held::Files(vec![(inner.path, inner.text)]);
    }
    let others = ctx.known.iter().any(|k| !paths::same_path(path, &k.path));
    others.then(|| several(path, content, ctx)).flatten().map_or(Held::Text, Held::Files)
}

/// A file in a block that repeats the instructions, or what was asked, above it.
#[derive(Debug)]
pub(super) struct InnerFile<'t> {
    pub path: String,
    pub text: &'t str,
    pub fence: Fence,
    /// False: the line that closed the block around it is its own.
    pub is_closed: bool,
}

/// Returns the file, in play or the block's `own`, in a block that repeats something first: under the file's path a fence of
/// its own opens, and nothing follows its end. A diff is no text of a file.
pub(super) fn inner_file<'t>(content: &'t str, own: Option<&str>, known: &[KnownFile]) -> Option<InnerFile<'t>> {
    let mut above: Option<String> = None;
    let mut open: Option<Fence> = None;
    let mut at = 0;
    for line in content.split_inclusive('\n') {
        at += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let fence = Fence::open(line.trim_end());
        if open.take_if(|open| open.closed_by(line.trim_end())).is_some() {
            above = None;
            continue;
        }
        match (above.take(), fence) {
            (Some(path), Some(fence)) if !content[at..].trim().is_empty() => {
                let (text, is_closed) = inner_text(&content[at..], &fence)?;
                return Some(InnerFile { path, text, fence, is_closed });
            }
            (_, Some(fence)) => open = open.or(Some(fence)),
            _ => {
                let is_it =
                    |path: &String| known.iter().map(|k| k.path.as_str()).chain(own).any(|p| paths::same_path(path, p));
                above = paths::path_line(line, known).filter(is_it);
            }
        }
    }
    None
}

/// Returns the text inside a fence, where nothing follows it, and whether a line of its own closes it.
fn inner_text<'t>(text: &'t str, fence: &Fence) -> Option<(&'t str, bool)> {
    if matches!(fence.language().as_str(), "diff" | "patch") {
        return None;
    }
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if fence.closed_by(line.trim_end()) {
            return text[at + line.len()..].trim().is_empty().then_some((&text[..at], true));
        }
        at += line.len();
    }
    Some((text, false))
}

/// Returns the edit of the lines that the range behind a path names; `None` where the block holds the whole file all the
/// same. The error says why there is neither.
pub(super) fn lines(
    path: &str,
    (first, last): (usize, usize),
    content: &str,
    ctx: &ReaderContext,
) -> Result<Option<Edit>, &'static str> {
    let file = match of_path(path, &ctx.known)[..] {
        [] => return Ok(None),
        [file] => file,
        _ => return Err(SEVERAL),
    };
    let old: Vec<&str> = file.text.lines().collect();
    let fits = (1..=old.len()).contains(&first);
    if is_years((first, last)) && last > old.len() {
        return Ok(None);
    }
    // Where the lines do not fit, all of the file stands outside of them.
    let (before, last) = if fits { (first - 1, last.min(old.len())) } else { (0, 0) };
    let new: HashSet<&str> = content.lines().map(str::trim).collect();
    let outside = || old[..before].iter().chain(&old[last..]).map(|line| line.trim()).filter(|line| !line.is_empty());
    let kept = outside().filter(|line| new.contains(line)).count();
    if kept * 3 >= outside().count() * 2 {
        return Ok(None);
    }
    if !fits {
        return Err(NO_LINES);
    }
    let expect = old[first - 1..last].join("\n");
    let op = Op::Lines { start: first, end: last, expect, replace: content.trim_end_matches(['\r', '\n']).to_string() };
    let edit = Edit::new(&file.path, op, Format::WHOLE, Format::WHOLE.name());
    Ok(Some(Edit { whole: false, ..edit }))
}

/// Returns whether a range is one of years, as in `LICENSE.txt (2024-2025)`.
fn is_years((first, last): (usize, usize)) -> bool {
    (1900..2200).contains(&first) && (1900..2200).contains(&last)
}

pub(super) const COMMANDS: &str = "the block holds commands, not the file's text, so nothing of it was used. Write the \
                                   file's whole text under its path, or run the commands with a tool.";
const NO_LINES: &str = "the file has no lines of the numbers behind its path, so nothing of the block was used. Write the \
                        file's whole text under its path alone.";
const SEVERAL: &str = "its path may be that of several files, so nothing of the block was used. Write the path from the root \
                       of the workspace on.";

fn is_shell(language: &str) -> bool {
    const SHELLS: [&str; 15] = [
        "bash",
        "sh",
        "shell",
        "zsh",
        "fish",
        "console",
        "terminal",
        "shell-session",
        "shellsession",
        "powershell",
        "ps1",
        "pwsh",
        "cmd",
        "bat",
        "batch",
    ];
    SHELLS.contains(&language)
}

/// Returns whether a file is one of commands itself.
fn is_script(path: &str) -> bool {
    const SCRIPTS: [&str; 11] = ["sh", "bash", "zsh", "fish", "ksh", "ps1", "psm1", "bat", "cmd", "command", "bats"];
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.trim_start_matches('.').rsplit_once('.').map(|(_, extension)| extension);
    // Without an extension it may be one: `configure`, `.bashrc`, `pre-commit`.
    extension.is_none_or(|extension| SCRIPTS.contains(&extension))
        && !matches!(name, "Makefile" | "makefile" | "Dockerfile" | "LICENSE")
}

/// Returns whether a block of commands by its language may be the file's text: it has lines of it. A file that is made
/// may be one of settings, which are often marked so.
fn keeps(content: &str, text: Option<&str>, path: &str) -> bool {
    const SETTINGS: [&str; 9] = ["env", "conf", "cfg", "ini", "toml", "yaml", "yml", "properties", "service"];
    let solid: Vec<&str> = content.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => {
            solid.iter().filter(|line| text.lines().any(|own| own.trim() == **line)).count() * 3 >= solid.len()
        }
        None => {
            let settings = path.rsplit_once('.').is_none_or(|(_, extension)| SETTINGS.contains(&extension));
            settings && !solid.first().is_some_and(|line| line.starts_with("$ "))
        }
    }
}

/// Returns whether a line begins to hand a text over to a file: `cat > a.py <<'EOF'`.
fn begins_handing(line: &str) -> bool {
    let line = line.trim().trim_start_matches("$ ").trim_start_matches("sudo ");
    let named = ["cat ", "tee "].iter().any(|command| line.starts_with(command)) && line.contains("<<");
    named || matches!(line, "@'" | "@\"")
}

/// Returns the path and the text that a lone command hands over to a file.
fn handed_over(content: &str) -> Option<(&str, &str)> {
    let said = |line: &str| line.trim().is_empty() || line.trim_start().starts_with("# ");
    let skipped: usize = content.split_inclusive('\n').take_while(|line| said(line)).map(str::len).sum();
    let (line, rest) = content[skipped..].split_once('\n')?;
    if !begins_handing(line) {
        return None;
    }
    let is_here_string = line.trim().starts_with('@');
    let end = if is_here_string { line.trim().chars().rev().collect() } else { delimiter(line)?.to_string() };
    let mut at = 0;
    for last in rest.split_inclusive('\n') {
        let is_end = if is_here_string { last.starts_with(&end) } else { last.trim() == end };
        if is_end {
            let path = target(if is_here_string { last } else { line })?;
            return rest[at + last.len()..].trim().is_empty().then_some((path, &rest[..at]));
        }
        at += last.len();
    }
    None
}

/// Returns the word that ends the text: `EOF` of `<<-'EOF'`.
fn delimiter(line: &str) -> Option<&str> {
    let word = line.split_once("<<")?.1.trim_start_matches('-').split_whitespace().next()?;
    let word = word.split('>').next()?.trim_matches(['\'', '"', '\\']);
    (!word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')).then_some(word)
}

/// Returns the file that a command writes to, unless it adds to it.
fn target(line: &str) -> Option<&str> {
    let rest = if let Some((_, rest)) = line.split_once('>') {
        if rest.starts_with('>') {
            return None;
        }
        rest.trim_start_matches('|')
    } else {
        ["tee ", "Set-Content ", "Out-File "].iter().find_map(|command| Some(line.split_once(command)?.1))?
    };
    let rest = ["-Path ", "-FilePath ", "-LiteralPath "]
        .iter()
        .fold(rest.trim_start(), |rest, flag| rest.strip_prefix(flag).unwrap_or(rest));
    let path = rest.trim_start().split(|c: char| c.is_whitespace() || c == '<').next()?.trim_matches(['\'', '"']);
    (!path.is_empty() && !path.starts_with('-')).then_some(path)
}

/// Returns the texts of several files in one block: the path of each but the first stands on a line of its own above its
/// text, which is much like the file.
fn several<'t>(path: &str, content: &'t str, ctx: &ReaderContext) -> Option<Vec<(String, &'t str)>> {
    let mut files: Vec<(String, usize)> = vec![(path.to_string(), 0)];
    let mut ends = Vec::new();
    let mut at = 0;
    for line in content.split_inclusive('\n') {
        let title = line.trim().trim_matches(['#', '-', '=', '/', '*', '<', '>', '!', ' ']);
        let titled = paths::path_line(title, &ctx.known)
            .and_then(|title| ctx.known.iter().find(|k| paths::same_path(&title, &k.path)))
            .filter(|k| !files.iter().any(|(path, _)| paths::same_path(path, &k.path)));
        let known = ctx.known.iter().find(|k| paths::same_path(path, &k.path));
        if let Some(file) = titled
            && !known.is_some_and(|k| k.text.lines().any(|own| own.trim() == line.trim()))
            && is_like(&content[at + line.len()..], &file.text)
        {
            ends.push(at);
            files.push((file.path.clone(), at + line.len()));
        }
        at += line.len();
    }
    if ends.is_empty() {
        return None;
    }
    ends.push(content.len());
    let text = |from: usize, to: usize| content[from..to].trim_end_matches(['\n', '\r']);
    let texts = files.into_iter().zip(ends).map(|((path, from), to)| (path, text(from, to)));
    // What stands above the first of them may be nothing.
    Some(texts.filter(|(_, text)| !text.trim().is_empty()).collect())
}

/// Returns whether a text has at least a third of a file's lines, or, of a file of few, gives what one of them gives.
fn is_like(text: &str, file: &str) -> bool {
    let lines: HashSet<&str> = text.lines().map(str::trim).collect();
    let own = || file.lines().map(str::trim).filter(|line| !line.is_empty());
    let kept = own().filter(|line| lines.contains(line)).count();
    let given = |line: &str| line.split_once(['=', '(']).map(|(name, _)| name.trim().to_string());
    let is_given =
        |line: &str| given(line).is_some_and(|name| lines.iter().any(|other| given(other).as_ref() == Some(&name)));
    kept > 0 && kept * 3 >= own().count() || own().count() <= FEW && own().any(is_given)
}

/// The marks that models and their servers leave at the end of an answer, no part of it.
const END_MARKS: [&str; 6] = ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|end|>", "</s>"];

/// Returns the text in a fence before the last line of an answer that ended by itself, where that line closes the fence
/// in a way of its own: with the language again, at the end of a line of code, or with a mark of the model's behind it.
pub(super) fn closed_at_end<'t>(content: &'t str, fence: &Fence) -> Option<&'t str> {
    let mut text = content.trim_end();
    while let Some(rest) = END_MARKS.iter().find_map(|mark| text.strip_suffix(mark)) {
        text = rest.trim_end();
    }
    let marked = text.len() < content.trim_end().len();
    let start = text.rfind('\n').map_or(0, |at| at + 1);
    let last = &text[start..];
    if Fence::open(last).is_some_and(|f| fence.like(&f) && !f.info.contains(char::is_whitespace)) {
        return Some(&text[..start]);
    }
    let glued = last.trim_end_matches(fence.mark);
    let count = last.len() - glued.len();
    if count >= fence.length && !glued.trim().is_empty() && !glued.contains(fence.mark) {
        return Some(&text[..start + glued.len()]);
    }
    marked.then_some(text)
}

/// Returns a text without the marks of a model's end on lines of their own below it.
fn without_end_marks(content: &str) -> &str {
    let mut text = content;
    while let Some((above, last)) = text.trim_end().rsplit_once('\n')
        && END_MARKS.contains(&last.trim())
    {
        text = &text[..above.len() + 1];
    }
    text
}

/// Returns the edit that gives a file this text.
fn whole(path: &str, content: &str, complete: bool) -> Edit {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut content = content.to_string();
    if (!complete || !content.is_empty()) && !content.ends_with('\n') {
        content.push('\n');
    }
    let edit = Edit::new(path, Op::Overwrite { content }, Format::WHOLE, Format::WHOLE.name());
    Edit { whole: complete, ..edit }
}

/// Adds the edits of a block under a path at once.
pub(super) fn emit(named: &BlockPath, content: &str, fence: &Fence, complete: bool, ctx: &mut ReaderContext) {
    let id = ctx.start(Format::WHOLE);
    ctx.grew(id, EditPart::Path, named.path);
    ctx.grew(id, EditPart::New, content);
    add(id, named, content, fence, complete, ctx);
}

/// A path that stands near a block, and the lines it names.
pub(super) struct BlockPath<'a> {
    pub path: &'a str,
    pub range: Option<(usize, usize)>,
}

/// Ends the edit `id`, which a block began, with what the block holds; more files than one are edits of their own.
pub(super) fn add(
    id: EditId,
    named: &BlockPath,
    content: &str,
    fence: &Fence,
    complete: bool,
    ctx: &mut ReaderContext,
) {
    let path = named.path;
    let content = without_end_marks(content);
    match named.range.map_or(Ok(None), |range| lines(path, range, content, ctx)) {
        Ok(Some(edit)) => return ctx.done(id, edit),
        Ok(None) => {}
        Err(why) => return ctx.dropped(id, why.to_string()),
    }
    if let Some(edit) = unmarked(Some(path), content, ctx) {
        return ctx.done(id, edit);
    }
    match held(path, content, fence, ctx) {
        Held::Text => ctx.done_whole(id, whole(path, content, complete)),
        Held::Commands => ctx.dropped(id, COMMANDS.to_string()),
        Held::Files(files) => {
            for (at, (path, text)) in files.iter().enumerate() {
                let id = if at == 0 { id } else { ctx.start(Format::WHOLE) };
                ctx.done(id, whole(path, text, complete));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_a_file_does_not_have_are_no_range_of_it() {
        let read = |text: &str, range, content: &str| {
            let known = vec![KnownFile { path: "a.txt".into(), text: text.into() }];
            let ctx = ReaderContext::new(None, known, Default::default(), false);
            lines("a.txt", range, content, &ctx).map(|edit| edit.is_some())
        };
        let text = "one\ntwo\nthree\n";
        for (text, range, content, found) in [
            (text, (2, 2), "2\n", Ok(true)),
            (text, (1, 9), text, Ok(false)),
            (text, (8, 9), "8\n", Err(NO_LINES)),
            (text, (8, 9), "one\ntwo\n3\n", Ok(false)),
            ("", (1, 9), "one\n", Ok(false)),
            // Years, as in the name of a licence.
            (text, (2024, 2025), "1\n", Ok(false)),
        ] {
            assert_eq!(read(text, range, content), found, "{range:?} {content}");
        }
        let known = ["lib/a.txt", "a.txt"].map(|path| KnownFile { path: path.into(), text: text.into() });
        let ctx = ReaderContext::new(None, known.to_vec(), Default::default(), false);
        assert_eq!(lines("/work/lib/a.txt", (2, 2), "2\n", &ctx), Err(SEVERAL));
        let numbered: String = (0..2030).map(|n| format!("{n}\n")).collect();
        assert_eq!(read(&numbered, (2024, 2025), "x\n"), Ok(true));
    }

    #[test]
    fn a_short_file_in_the_block_of_another_one_is_known_by_what_it_gives() {
        let known = [("a.py", "x = 1\n"), ("b.py", "y = 1\n")];
        let known = known.map(|(path, text)| KnownFile { path: path.into(), text: text.into() }).to_vec();
        let ctx = ReaderContext::new(None, known, Default::default(), false);
        let files = several("a.py", "x = 2\n\n# b.py\ny = 2\n", &ctx);
        assert_eq!(files, Some(vec![("a.py".into(), "x = 2"), ("b.py".into(), "y = 2")]));
        assert_eq!(several("a.py", "x = 2\n\n# b.py\nz = 2\n", &ctx), None);
    }

    #[test]
    fn a_text_that_is_handed_over_to_a_file_is_found() {
        for block in [
            "cat > conf.yaml <<'EOF'\na: 1\nEOF\n",
            "# write it\n$ cat <<EOF > conf.yaml\na: 1\nEOF\n",
            "cat <<EOF >conf.yaml\na: 1\nEOF",
            "sudo tee conf.yaml <<-\"EOF\"\na: 1\nEOF\n",
            "@'\na: 1\n'@ | Set-Content -Path conf.yaml\n",
        ] {
            assert_eq!(handed_over(block), Some(("conf.yaml", "a: 1\n")), "{block}");
        }
        for block in [
            "cat a.py\n",
            "cat >> a.py <<EOF\nx\nEOF\n",
            "cat > a.py <<EOF\nx\nEOF\npython a.py\n",
            "cat > a.py <<EOF\nx\n",
        ] {
            assert_eq!(handed_over(block), None, "{block}");
        }
        assert!(is_script("run.sh") && is_script(".bashrc") && is_script("configure"));
        assert!(!is_script("a.py") && !is_script("Makefile"));
    }
}
