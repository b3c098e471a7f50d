//! Messages as small models follow them best: attached files first, in the notation the model is to answer in, then the
//! task, and the format's reminder at the very end.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::attach::{self, HEAD};
use super::request::is_summary;
use crate::edit::{Format, UNCHANGED};
use crate::provider::{Body, Message, Role, ToolSpec};

/// Returns whether a message is the one of [`nudge`] in some format, word for word; notes may stand behind it.
pub fn is_nudge(text: &str) -> bool {
    let is_behind = |rest: &str| rest.is_empty() || rest.starts_with("\n\n---\n");
    let is_of = |format: &Format| text.strip_prefix(&nudge(format.name())).is_some_and(is_behind);
    text.starts_with(NUDGE) && Format::ALL.iter().any(is_of)
}

/// The end of the sentence about an edit that changes nothing, for a small model: it writes the same again where it may say
/// that no change is needed, and finds the change where it lists it first, as was measured with one of 1.5 billion parameters.
const LIST_FIRST: &str = ": the change is missing. Begin with \"I will:\" and a numbered list of the lines to add or change, then \
                          send the file with them.";

/// The beginning of a message that asks a model once more which changed no file.
const NUDGE: &str = "No file was changed.";

/// Returns what a model is asked that changed no file, in the words for its edit format.
pub fn nudge(format: &str) -> String {
    let how = Format::parse(format).and_then(Format::reminder).unwrap_or("Call the tools that change files.");
    format!("{NUDGE} Make the change the task asks for. {how}")
}

/// Returns what a model is told that writes calls as text: how it does, and the tools with the parameters they need.
pub fn calls(specs: &[ToolSpec]) -> String {
    let call = |spec: &ToolSpec| {
        let needed = spec.parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        format!("{} ({})", spec.name, needed.collect::<Vec<_>>().join(", "))
    };
    format!(
        "To see another file first, answer with one call alone: {{\"name\": \"readFile\", \"arguments\": {{\"path\": \
         \"src/main.py\"}}}}. Calls: {}.",
        specs.iter().map(call).collect::<Vec<_>>().join(", ")
    )
}

/// Returns the text of a file or of lines of it, in the notation that a small model is to answer in: `title` is a path, or
/// `Lines 4-9 of a.py:`.
pub fn passage(title: &str, text: &str) -> String {
    let (fence, language) = (attach::fence(text), attach::language(title.trim_end_matches(':')));
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{title}\n{fence}{language}\n{text}{end}{fence}")
}

/// Returns the exchange that shows a small model how it answers in a format: the same messages every time, so that what
/// was serialised of them is recognised.
fn example(format: Format) -> Option<[Arc<Message>; 2]> {
    static MADE: LazyLock<Vec<(Format, [Arc<Message>; 2])>> = LazyLock::new(|| {
        let made = |format: &Format| {
            let [ask, answer] = format.example()?;
            let answer = Message::assistant(answer.trim_end(), Vec::new());
            Some((*format, [Arc::new(Message::user(ask.trim_end())), Arc::new(answer)]))
        };
        Format::ALL.iter().filter_map(made).collect()
    });
    MADE.iter().find(|(of, _)| *of == format).map(|(_, messages)| messages.clone())
}

/// Returns the bytes of a format's example.
pub fn example_size(format: Format) -> usize {
    format.example().map_or(0, |messages| messages.iter().map(|text| text.len()).sum())
}

/// Arranges the messages of a request, the format's example before them; `expect_change`: the task asks for one, so that a
/// model which changed nothing is asked to list it. `arranged` holds each message of the user as it was sent, so that it is
/// sent the same every time; it is emptied when a summary takes their place.
pub fn arrange(
    messages: &mut Vec<Arc<Message>>,
    (format, expect_change): (Format, bool),
    arranged: &mut Vec<(Arc<Message>, Format, Arc<Message>)>,
) {
    for message in messages.iter_mut().filter(|m| m.role == Role::User) {
        if let Some((.., made)) = arranged.iter().find(|(of, by, _)| *by == format && Arc::ptr_eq(of, message)) {
            *message = Arc::clone(made);
            continue;
        }
        let mut made = Message::clone(message);
        let texts = made.parts.iter_mut().filter_map(|part| match &mut part.body {
            Body::Text(text) => Some(text),
            _ => None,
        });
        for text in texts {
            if let Some(first) = attachments_first(text) {
                *text = first;
            }
            if expect_change && text.contains(UNCHANGED) && format.reminder().is_some() {
                *text = list_first(text);
            }
        }
        // A nudge holds it already, and a summary asks for nothing.
        if let Some(reminder) = format.reminder().filter(|end| !made.text().ends_with(end) && !is_summary(&made)) {
            made = made.and_text(&format!("\n\n{reminder}"));
        }
        let made = Arc::new(made);
        arranged.push((Arc::clone(message), format, Arc::clone(&made)));
        *message = made;
    }
    messages.splice(0..0, example(format).into_iter().flatten());
}

/// Returns a result with what a small model is asked about an edit that changes nothing. Text in a fence, which is a file's,
/// stays as it is.
fn list_first(text: &str) -> String {
    let (results, rest) = text.split_at(text.find("```").unwrap_or(text.len()));
    let line = |line: &str| match line.find(UNCHANGED) {
        Some(at) => format!("{}{LIST_FIRST}", &line[..at + UNCHANGED.len()]),
        None => line.to_string(),
    };
    results.split('\n').map(line).collect::<Vec<_>>().join("\n") + rest
}

/// Returns a message of the person with what is attached in front of the task, each file as its path and a fence;
/// `None` where nothing is attached.
fn attachments_first(text: &str) -> Option<String> {
    let (task, rest) = text.split_once(HEAD)?;
    let mut files = String::new();
    let mut notes = String::new();
    let mut fence: Option<&str> = None;
    for line in rest.split_inclusive('\n') {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            None => match line.trim_end().split_once(" title=\"").filter(|_| ticks.len() >= 3) {
                Some((opener, title)) => {
                    let path = title.strip_suffix('"').unwrap_or(title).replace("\\\"", "\"");
                    files.push_str(&format!("{}\n{opener}\n", named(&path)));
                    fence = Some(ticks);
                }
                None => notes.push_str(line),
            },
            Some(open) => {
                files.push_str(line);
                if ticks == open && line.trim_end() == open {
                    files.push('\n');
                    fence = None;
                }
            }
        }
    }
    let notes = notes.trim();
    let after = if notes.is_empty() { String::new() } else { format!("\n\n{notes}") };
    (!files.is_empty()).then(|| format!("{}\n\n{}{after}", files.trim_end(), task.trim()))
}

/// Returns the title of an attachment: a range of lines in words, so that it is not taken for a part of the path.
fn named(title: &str) -> String {
    let range =
        |lines: &&str| lines.split('-').all(|line| !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()));
    match title.rsplit_once(':') {
        Some((path, lines)) if range(&lines) => format!("Lines {lines} of {path}:"),
        _ => title.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_are_told_of_in_a_line_each() {
        let parameters = json!({"type": "object", "properties": {"path": {}, "startLine": {}}, "required": ["path"]});
        let spec = ToolSpec { name: "readFile".into(), description: "Reads a file.".into(), parameters };
        assert!(calls(&[spec]).ends_with("Calls: readFile (path)."));
    }

    #[test]
    fn files_come_first_in_the_notation_of_the_answer() {
        let sent = format!(
            "Rename a to b in @a.py{HEAD}\n```python title=\"a.py\"\na = 1\n```\n\n````markdown title=\"b.md\"\n```\nx\n```\n````\n\n\n---\nWhat \
             is true now has changed."
        );
        assert_eq!(
            attachments_first(&sent).unwrap(),
            "a.py\n```python\na = 1\n```\n\nb.md\n````markdown\n```\nx\n```\n````\n\nRename a to b in @a.py\n\n---\nWhat is true now \
             has changed."
        );
        assert_eq!(attachments_first("no file"), None);
        let part = format!("Look{HEAD}\n```python title=\"a.py:4-9\"\na = 1\n```\n");
        assert_eq!(attachments_first(&part).unwrap(), "Lines 4-9 of a.py:\n```python\na = 1\n```\n\nLook");
    }

    #[test]
    fn a_small_model_that_changed_nothing_lists_the_change_first() {
        let sent = format!("a.py: {UNCHANGED}. Send it again.\nThe task: x");
        let asked = |format, expect_change| {
            let mut messages = vec![Arc::new(Message::user(&sent))];
            arrange(&mut messages, (format, expect_change), &mut Vec::new());
            messages.last().unwrap().text().into_owned()
        };
        let text = asked(Format::WHOLE, true);
        assert!(text.starts_with(&format!("a.py: {UNCHANGED}{LIST_FIRST}\nThe task: x")), "{text}");
        assert_eq!(asked(Format::TOOLS, true), sent);
        // Of a question that was answered with the file as it is, no change is missing.
        assert!(asked(Format::WHOLE, false).starts_with(&sent));
        let file = format!("a.txt\n```\na.py: {UNCHANGED}. Send it again.\n```\n");
        assert_eq!(list_first(&file), file);
    }

    #[test]
    fn a_summary_asks_for_nothing() {
        let texts = ["Summary of this conversation so far, in place of its messages:\n\nA file was made.", "Go on."];
        let mut messages = texts.map(|text| Arc::new(Message::user(text))).to_vec();
        arrange(&mut messages, (Format::WHOLE, false), &mut Vec::new());
        let [.., summary, task] = &messages[..] else { panic!("{messages:?}") };
        assert_eq!(summary.text(), texts[0]);
        assert!(task.text().ends_with(Format::WHOLE.reminder().expect("one")));
    }

    #[test]
    fn what_was_read_has_the_notation_of_the_answer() {
        assert_eq!(passage("a.py", "a = 1"), "a.py\n```python\na = 1\n```");
        assert_eq!(passage("Lines 1-2 of b.md:", "```\nx\n"), "Lines 1-2 of b.md:\n````markdown\n```\nx\n````");
    }
}
