//! A thought whose opening tag stands in the prompt: the template of the model wrote it, and the answer holds only the
//! closing one. All text before that was thought.
//!
//! A closing tag counts where it begins its line or ends it, outside of code, as long as no opening tag came.

/// The tags, and whether each closes.
const TAGS: [(&str, bool); 4] = [("<think>", false), ("</think>", true), ("<thinking>", false), ("</thinking>", true)];
/// The longest thought of this kind, in bytes: text behind it is passed on as it comes.
const LONGEST: usize = 1 << 20;

/// The text of an answer so far, watched for a closing tag.
#[derive(Debug, Default)]
pub(super) struct UnopenedThought {
    text: String,
    /// The bytes that were passed on.
    passed: usize,
    /// The bytes that were looked at.
    seen: usize,
    /// The beginning of the line that is looked at.
    line: usize,
    /// The end of the code that the line stands in.
    code: Option<CodeEnd>,
}

/// The end of a part of an answer in which a tag is text.
#[derive(Debug, Clone, Copy)]
enum CodeEnd {
    /// A line of this character, at least so many of it: a fence, or a block that replaces code.
    Marks(char, usize),
    /// A line that holds this: an edit or a call in no fence.
    Text(&'static str),
}

/// The result of more text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WatchedText {
    /// This much of the text can be passed on, and the next is watched too.
    Text(String),
    /// This much, and nothing more is watched.
    Over(String),
    /// A closing tag: the thought, how many bytes of it were passed on as text, and the text behind it.
    Closed { thought: String, passed: usize, rest: String },
}

/// A tag at some place, or what may become one.
enum FoundTag {
    Opening,
    Closing(usize),
    Unfinished,
    None,
}

impl UnopenedThought {
    /// Takes the next piece of text.
    pub(super) fn push(&mut self, more: &str) -> WatchedText {
        self.text.push_str(more);
        self.watch(false)
    }

    /// Ends the text.
    pub(super) fn finish(mut self) -> WatchedText {
        self.watch(true)
    }

    fn watch(&mut self, end: bool) -> WatchedText {
        while let Some(at) = self.text[self.seen..].find(['<', '\n']).map(|at| at + self.seen) {
            self.seen = at;
            if self.text[at..].starts_with('\n') {
                self.end_line(at);
                continue;
            }
            match tag(&self.text[at..]) {
                FoundTag::Opening => return WatchedText::Over(self.pass(self.text.len())),
                FoundTag::Closing(length) => match self.closes(at, length, end) {
                    Some(true) => return self.closed(at, length),
                    Some(false) => self.seen = at + length,
                    None => return WatchedText::Text(self.pass(at)),
                },
                FoundTag::Unfinished if !end => return WatchedText::Text(self.pass(at)),
                FoundTag::Unfinished | FoundTag::None => self.seen = at + 1,
            }
        }
        self.seen = self.text.len();
        let text = self.pass(self.text.len());
        if self.text.len() > LONGEST { WatchedText::Over(text) } else { WatchedText::Text(text) }
    }

    /// Returns the text up to `to` that was not passed on yet.
    fn pass(&mut self, to: usize) -> String {
        let text = self.text[self.passed..to].to_string();
        self.passed = to;
        text
    }

    fn closed(&mut self, at: usize, length: usize) -> WatchedText {
        let mut thought = std::mem::take(&mut self.text);
        let rest = thought.split_off(at + length);
        thought.truncate(at);
        WatchedText::Closed { thought, passed: self.passed, rest }
    }

    /// Returns whether the closing tag at `at` ends a thought; `None`: what follows it will tell.
    fn closes(&self, at: usize, length: usize, end: bool) -> Option<bool> {
        if self.code.is_some() {
            return Some(false);
        }
        let before = &self.text[self.line..at];
        if before.is_empty() {
            return Some(true);
        }
        // An unchanged line of a diff begins with a blank.
        if before.trim().is_empty() {
            return Some(false);
        }
        let behind = &self.text[at + length..];
        let rest = behind.split('\n').next().unwrap_or_default();
        // In quotes, in a list or in a diff it is text about tags.
        if !rest.trim().is_empty() || before.trim_end().ends_with(['`', '"', '\'', '+', '-']) {
            return Some(false);
        }
        (end || rest.len() < behind.len()).then_some(true)
    }

    /// Ends the line: it may begin or end code, in a fence or in a block that replaces some.
    fn end_line(&mut self, end: usize) {
        let line = self.text[self.line..end].trim();
        let run = |c: char| line.len() - line.trim_start_matches(c).len();
        let rest = |c: char| line.trim_start_matches(c);
        self.code = match self.code {
            Some(CodeEnd::Text(last)) if line.contains(last) => None,
            Some(CodeEnd::Marks('>', _)) if run('>') >= MARKS => None,
            Some(CodeEnd::Marks(fence, length)) if fence != '>' && run(fence) >= length && rest(fence).is_empty() => {
                None
            }
            Some(code) => Some(code),
            None if run('<') >= MARKS => Some(CodeEnd::Marks('>', MARKS)),
            None => ['`', '~']
                .into_iter()
                .find(|fence| run(*fence) >= 3 && !(*fence == '`' && rest('`').contains('`')))
                .map(|fence| CodeEnd::Marks(fence, run(fence)))
                .or_else(|| unfenced(line)),
        };
        (self.line, self.seen) = (end + 1, end + 1);
    }
}

/// Returns the end of the edit or call that a line begins, where it does not end it too.
fn unfenced(line: &str) -> Option<CodeEnd> {
    let (_, last) = BLOCKS.iter().find(|(first, last)| line.starts_with(first) && !line.contains(last))?;
    Some(CodeEnd::Text(last))
}

/// The beginnings and ends of edits and calls that stand in no fence.
const BLOCKS: [(&str, &str); 11] = [
    ("*** Begin Patch", "*** End Patch"),
    ("<replace_file", "</replace_file>"),
    ("<replace_in_file", "</replace_in_file>"),
    ("<replace_lines", "</replace_lines>"),
    ("<edit_file", "</edit_file>"),
    ("<write_file", "</write_file>"),
    ("<writeFile", "</writeFile>"),
    ("<replaceInFile", "</replaceInFile>"),
    ("<function=", "</function>"),
    ("<invoke ", "</invoke>"),
    ("<arg_value>", "</arg_value>"),
];
/// The marks at the ends of a block that replaces code.
const MARKS: usize = 7;

/// Returns the tag that a text begins with.
fn tag(text: &str) -> FoundTag {
    match TAGS.iter().find(|(tag, _)| text.starts_with(tag)) {
        Some((tag, true)) => FoundTag::Closing(tag.len()),
        Some((_, false)) => FoundTag::Opening,
        None if TAGS.iter().any(|(tag, _)| tag.starts_with(text)) => FoundTag::Unfinished,
        None => FoundTag::None,
    }
}
