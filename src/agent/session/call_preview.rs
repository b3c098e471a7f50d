//! The part of a call that the screen shows: its name and the lines an edit adds and removes.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::edit::{Edit, Format, Op};
use crate::proposal::{self, Counts, FileChange, State};
use crate::protocol::{Call, CallState, PreviewLine, Verb};
use crate::tools::{self, RUN_COMMAND, Tool, ToolSet};

/// The number of lines of the old file that are looked through for one of the new ones.
const AHEAD: usize = 400;

/// Returns a call of a tool of which nothing is known but its name.
pub fn of_tool(tools: &ToolSet, name: &str, state: CallState) -> Call {
    let verb = tools.verb(name).map(|v| display_verb(name, v));
    let blank = blank(name, state);
    Call { verb: verb.unwrap_or_else(|| blank.verb.clone()), ..blank }
}

/// Shows a command with another text than the one that the model gave it: the person changed that.
pub fn show_command(call: &mut Call, text: &str) {
    let mut arguments: Map<String, Value> = serde_json::from_str(&call.arguments).unwrap_or_default();
    let before = arguments.insert("command".into(), text.into());
    if before.as_ref().and_then(Value::as_str).is_none_or(|before| before == text) {
        return;
    }
    let arguments = Value::Object(arguments);
    let tool = tools::BUILTIN.iter().find(|tool| tool.name == RUN_COMMAND);
    call.main = tool.map_or(String::new(), |tool| tool.main(&arguments));
    call.arguments = arguments.to_string();
}

/// Returns an edit in a format, written in the text.
pub fn of_format(format: Format, state: CallState) -> Call {
    let [short, doing, done] = format.verb().map(str::to_string);
    Call::new(format.label_on_screen(), Verb { short, doing, done, one: "file".into() }, state)
}

/// Returns `edit (2), move` of `replaceInFile (2), moveFile`: what asked for a change, by the short verbs of tools and
/// formats.
pub fn short_verbs(tools: &ToolSet, by: &str) -> String {
    let short = |by: &str| {
        let (name, times) = by.find(" (").map_or((by, ""), |at| by.split_at(at));
        let of_tool = tools.verb(name).and_then(|verb| verb.forms).map(|(short, _)| short);
        let verb = of_tool.or_else(|| Format::parse(name).map(|format| format.verb()[0]));
        format!("{}{times}", verb.unwrap_or(name))
    };
    by.split(", ").map(short).collect::<Vec<_>>().join(", ")
}

/// Returns a verb as it is shown, with its other forms; where none are known the name stands for them.
fn display_verb(name: &str, verb: tools::VerbForms) -> Verb {
    let (short, doing) = match verb.forms {
        Some((short, doing)) => (short.to_string(), doing.to_string()),
        None => (name.to_string(), format!("running {name}")),
    };
    Verb { short, doing, done: verb.done.into_owned(), one: verb.one.into_owned() }
}

/// Returns a call of which nothing is known but its name.
pub fn blank(name: &str, state: CallState) -> Call {
    let verb = tools::VerbForms { done: name.to_string().into(), one: "time".into(), forms: None };
    Call::new(name, display_verb(name, verb), state)
}

/// Returns an edit as a small diff, as far as it can be told without its file.
pub fn preview(edit: &Edit) -> Vec<PreviewLine> {
    match &edit.op {
        Op::Replace { search: old, replace, .. } | Op::Lines { expect: old, replace, .. } => {
            let mut out = Vec::new();
            differing(old.lines(), replace.lines(), &mut out);
            out
        }
        Op::Definition { lines: [old, new], .. } => {
            let mut out = Vec::new();
            differing(old.lines(), new.lines(), &mut out);
            out
        }
        Op::Write { content } | Op::Overwrite { content } => {
            content.lines().map(|l| PreviewLine { sign: '+', text: l.to_string() }).collect()
        }
        Op::Hunks(hunks) | Op::DeleteText(hunks) => hunks
            .iter()
            .flat_map(|h| &h.body)
            .map(|l| match l.chars().next() {
                Some(sign @ ('+' | '-')) => PreviewLine { sign, text: l[1..].to_string() },
                _ => PreviewLine { sign: ' ', text: l.strip_prefix(' ').unwrap_or(l).to_string() },
            })
            .collect(),
        Op::Mode { mode } => vec![PreviewLine { sign: '+', text: format!("permissions {mode:o}") }],
        Op::Delete => Vec::new(),
        Op::Move { to } => vec![PreviewLine { sign: '+', text: to.clone() }],
    }
}

/// Returns the lines that go and come in these hunks of a file.
pub fn changed(change: &FileChange, hunks: &[usize]) -> Vec<PreviewLine> {
    let text = |state: &State| state.bytes().and_then(|b| proposal::display_text(b)).unwrap_or_default().into_owned();
    let (before, after) = (text(&change.before), text(&change.after));
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut out = Vec::new();
    for hunk in hunks.iter().filter_map(|at| change.hunks.get(*at)) {
        differing(part(&before, &hunk.before), part(&after, &hunk.after), &mut out);
    }
    out
}

fn part<'a>(lines: &'a [&'a str], range: &Range<usize>) -> impl Iterator<Item = &'a str> {
    lines.iter().skip(range.start).take(range.len()).copied()
}

/// Appends the lines removed and added where `after` takes the place of `before`; unchanged lines are left out.
fn differing<'a>(
    before: impl Iterator<Item = &'a str>,
    after: impl Iterator<Item = &'a str>,
    out: &mut Vec<PreviewLine>,
) {
    let mut before = ReplacedFile::new(before.map(str::to_string).collect());
    for line in after {
        before.follow(line, out);
    }
    before.end(out);
}

/// Returns lines added and removed in a preview.
pub fn signs(preview: &[PreviewLine]) -> Counts {
    let count = |sign| preview.iter().filter(|l| l.sign == sign).count();
    Counts { added: count('+'), removed: count('-') }
}

/// The file that a growing text will replace, and how far the text has followed it.
pub struct ReplacedFile {
    lines: Vec<String>,
    /// The line that is expected next.
    pub at: usize,
    /// New lines since the last one that the file has too.
    new: usize,
}

impl ReplacedFile {
    /// Creates a text of these lines.
    pub fn new(lines: Vec<String>) -> Self {
        ReplacedFile { lines, at: 0, new: 0 }
    }

    /// Returns the line at an index.
    pub fn line(&self, at: usize) -> Option<&str> {
        self.lines.get(at).map(String::as_str)
    }

    /// Takes the next line of the new text, which is the next line of the file, or one further down (those between are
    /// removed), or new. A diff of an unfinished text can only guess; the diff of the proposal is computed again.
    /// Returns how many lines were removed before it, or `None` for a new line.
    pub fn follow(&mut self, new: &str, out: &mut Vec<PreviewLine>) -> Option<usize> {
        let new = new.trim_end_matches('\r');
        // A line with a bracket alone occurs everywhere: it is looked for only where new lines have replaced old ones.
        let says = new.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
        let reach = if says { AHEAD } else { 1 + self.new };
        let rest = self.lines.get(self.at..).unwrap_or_default();
        let Some(gone) = rest.iter().take(reach).position(|l| l == new) else {
            out.push(PreviewLine { sign: '+', text: new.to_string() });
            self.new += 1;
            return None;
        };
        self.take_out(gone, out);
        self.at += 1;
        self.new = 0;
        Some(gone)
    }

    /// Ends the comparison once the new text is whole: lines it has not reached are removed.
    pub fn end(mut self, out: &mut Vec<PreviewLine>) {
        self.take_out(self.lines.len() - self.at, out);
    }

    /// Marks the next `count` lines as removed; they stand before the new ones in their place.
    fn take_out(&mut self, count: usize, out: &mut Vec<PreviewLine>) {
        let place = out.len() - self.new;
        let gone = self.lines[self.at..self.at + count].iter();
        out.splice(place..place, gone.map(|l| PreviewLine { sign: '-', text: l.clone() }));
        self.at += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_of_a_change_is_named_by_its_verbs() {
        let by = short_verbs(&ToolSet::builtin(), "replaceInFile (2), writeFile, moveFile, whole, xml, mine");
        assert_eq!(by, "edit (2), write, move, write, edit, mine");
    }
    use crate::edit::{Format, SearchShape};

    #[test]
    fn lines_that_an_edit_only_quotes_are_no_change() {
        let op = Op::Replace {
            search: "mod a;\nmod c;\nuse x;\n".into(),
            replace: "mod a;\nmod b;\nmod c;\nuse y;\n".into(),
            all: false,
            shape: SearchShape::Lines,
        };
        let edit = Edit::new("a.rs", op, Format::TOOLS, "replaceInFile");
        let previewed: String = preview(&edit).iter().map(|l| format!("{}{}\n", l.sign, l.text)).collect();
        assert_eq!(previewed, "+mod b;\n-use x;\n+use y;\n");
    }

    fn followed(before: &str, after: &str) -> String {
        let (mut file, mut out) = (ReplacedFile::new(before.lines().map(str::to_string).collect()), Vec::new());
        for line in after.lines() {
            file.follow(line, &mut out);
        }
        file.end(&mut out);
        out.iter().map(|l| format!("{}{}\n", l.sign, l.text)).collect()
    }

    #[test]
    fn a_growing_file_shows_only_what_differs_from_the_one_on_disk() {
        let before = "use a;\n\nfn one() {\n    1\n}\n\nfn two() {\n    2\n}\n";
        assert_eq!(followed(before, before), "");
        assert_eq!(followed(before, "use a;\n\nfn two() {\n    2\n}\n"), "-fn one() {\n-    1\n-}\n-\n");
        let more = "use a;\nuse b;\n\nfn one() {\n    1\n}\n\nfn two() {\n    3\n}\n";
        assert_eq!(followed(before, more), "+use b;\n-    2\n+    3\n");
    }
}
