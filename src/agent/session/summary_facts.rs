//! The half of a summary that no model writes: what the person said, what was read and changed, what was refused, the
//! plan that stands and the command that fails, from the records of the session.

use std::collections::BTreeMap;

use crate::agent::session::records::{AnswerRecord, read_attached, read_results};
use crate::memory::{MessageState, StoredMessage, StoredRole};
use crate::text::number::plural;

/// The most bytes of the person's messages in a summary: about 20,000 tokens.
const SAID: usize = 80_000;
/// The bytes of the head and of the tail of a longer message that stay.
const ENDS: usize = 4_000;
/// The number of refusals listed, the newest.
const REFUSALS: usize = 12;

/// Returns the facts of a session, as Markdown; `most` is how large what the person said may be, in bytes.
pub fn facts(rows: &[StoredMessage], most: usize) -> String {
    // What the person said comes first, also where little fits.
    let plan = plan(rows).map(|plan| ends(plan, most / 4));
    let failing = failing(rows).map(|(command, output)| (command, ends(&output, most / 4)));
    let beside = plan.as_ref().map_or(0, String::len) + failing.as_ref().map_or(0, |(_, output)| output.len());
    let mut text = String::from("## What the person said, verbatim\n");
    for said in said(rows, most.saturating_sub(beside).min(SAID)) {
        text.push_str(&format!("\n> {}\n", said.replace('\n', "\n> ")));
    }
    let (read, changed, refused) = happened(rows);
    if !changed.is_empty() {
        text.push_str("\n## Files that were changed\n");
        for (path, changesets) in changed {
            text.push_str(&format!("- {path} ({})\n", changesets.join(", ")));
        }
    }
    if !read.is_empty() {
        text.push_str("\n## Files that were read (read them again before changing them)\n");
        read.keys().for_each(|path| text.push_str(&format!("- {path}\n")));
    }
    if !refused.is_empty() {
        text.push_str("\n## What was refused or failed, newest last\n");
        let from = refused.len().saturating_sub(REFUSALS);
        refused[from..].iter().for_each(|line| text.push_str(&format!("- {line}\n")));
    }
    if let Some(plan) = plan {
        text.push_str(&format!("\n## The plan that stands, verbatim\n\n> {}\n", plan.trim().replace('\n', "\n> ")));
    }
    if let Some((command, output)) = failing {
        let output = output.trim().replace('\n', "\n> ");
        text.push_str(&format!("\n## The command that failed last\n\n`{command}`\n\n> {output}\n"));
    }
    text
}

/// Returns the newest whole answer that was given in plan mode.
fn plan(rows: &[StoredMessage]) -> Option<&str> {
    let is_plan = |row: &&StoredMessage| {
        row.message.role == StoredRole::Assistant
            && row.message.meta.state == MessageState::Complete
            && AnswerRecord::read(row.message.meta.extra.as_deref()).is_some_and(|answer| answer.plan)
    };
    let text = rows.iter().rfind(is_plan)?.message.content.as_deref()?;
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Returns the command that failed last, if it did not succeed since, and what the model was told of it. One that was
/// refused or could not be started did not fail.
fn failing(rows: &[StoredMessage]) -> Option<(String, String)> {
    let mut failing: Option<(String, String)> = None;
    for row in rows {
        for result in
            read_results(row.message.tool_results.as_deref()).unwrap_or_default().into_iter().filter(|result| result.ok)
        {
            let Some(command) = result.command else { continue };
            match result.display.is_some_and(|display| display.is_failure()) {
                false => drop(failing.take_if(|(failed, _)| *failed == command)),
                true => {
                    let output = result.for_model.or(row.message.content.clone()).unwrap_or_default();
                    failing = Some((command, output));
                }
            }
        }
    }
    failing
}

/// Returns the messages of the person in their order, each whole or with its head and tail: the newest always, then the
/// first, which is the task, then those between as far as they fit, newest first.
fn said(rows: &[StoredMessage], most: usize) -> Vec<String> {
    let typed = |row: &StoredMessage| {
        let content = row.message.content.as_deref().unwrap_or_default();
        let typed = row.message.meta.typed.unwrap_or(content.len());
        content.get(..typed).unwrap_or(content).trim().to_string()
    };
    let persons = rows.iter().filter(|row| row.message.role == StoredRole::User).map(typed);
    let mut all: Vec<String> = persons.filter(|text| !text.is_empty()).collect();
    let Some(newest) = all.pop() else { return Vec::new() };
    // Where both do not fit whole, each has half of the room.
    let both = newest.len() + all.first().map_or(0, String::len);
    let each = if both <= most { most } else { most / (1 + all.len().min(1)) };
    let newest = ends(&newest, each);
    let first = (!all.is_empty()).then(|| ends(&all.remove(0), each));
    let mut left = most.saturating_sub(newest.len() + first.as_ref().map_or(0, String::len));
    let mut between: Vec<String> = Vec::new();
    for text in all.iter().rev().map(|text| ends(text, most)) {
        match left.checked_sub(text.len()) {
            Some(less) => left = less,
            None => break,
        }
        between.insert(0, text);
    }
    let missing = all.len() - between.len();
    let missing = (missing > 0).then(|| format!("({} left out)", plural(missing, "message")));
    first.into_iter().chain(missing).chain(between).chain([newest]).collect()
}

/// Returns a text whole, or its head and tail of at most about `most` bytes.
fn ends(text: &str, most: usize) -> String {
    let each = ENDS.min(most / 2);
    if text.len() <= 2 * each {
        return text.to_string();
    }
    let (head, tail) = (text.floor_char_boundary(each), text.ceil_char_boundary(text.len() - each));
    format!("{}\n… {} bytes left out …\n{}", &text[..head], tail - head, &text[tail..])
}

type Happened = (BTreeMap<String, ()>, BTreeMap<String, Vec<String>>, Vec<String>);

/// Returns files read, files changed with their changesets, and refusals.
fn happened(rows: &[StoredMessage]) -> Happened {
    let (mut read, mut changed, mut refused): Happened = Default::default();
    for row in rows {
        for attached in read_attached(row.message.meta.attached.as_deref()) {
            read.insert(attached.path, ());
        }
        for result in read_results(row.message.tool_results.as_deref()).unwrap_or_default() {
            read.extend(result.known_files.iter().map(|known| (known.path.clone(), ())));
            for edit in &result.edits {
                if let Some(changeset) = result.changeset.as_ref().filter(|_| edit.ok.unwrap_or(result.ok)) {
                    let changesets: &mut Vec<String> = changed.entry(edit.path.clone()).or_default();
                    if !changesets.contains(changeset) {
                        changesets.push(changeset.clone());
                    }
                }
            }
            if !result.ok {
                let text_for_model = result.for_model.as_deref().or(row.message.content.as_deref()).unwrap_or_default();
                let path = result.edits.first().map(|edit| format!(" {}", edit.path)).unwrap_or_default();
                let line = text_for_model.lines().next().unwrap_or_default();
                let line = format!("{}{path}: {}", result.name, line.chars().take(300).collect::<String>());
                // What was refused again and again stands there once.
                refused.retain(|earlier| *earlier != line);
                refused.push(line);
            }
        }
    }
    (read, changed, refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::NewMessage;

    fn row(role: StoredRole, text: &str, results: Option<&str>) -> StoredMessage {
        let mut message = NewMessage::text(role, text);
        message.tool_results = results.map(Into::into);
        StoredMessage { id: 1, at: 0, message, damage: Default::default() }
    }

    #[test]
    fn what_was_said_stands_verbatim_and_what_happened_by_file() {
        let mut prompt = row(StoredRole::User, "make it `quick`\n\n---\nReference", None);
        prompt.message.meta.typed = Some(15);
        let mut hidden = row(StoredRole::User, "go on", None);
        hidden.message.meta.typed = Some(0);
        let edit = r#"[{"id":"a","name":"replaceInFile","ok":true,"changeset":"01","edits":[{"path":"b.rs","format":"tools","rung":"exact"}]}]"#;
        let no =
            r#"[{"id":"b","name":"deleteFile","ok":false,"edits":[{"path":"c.rs","format":"tools","rung":null}]}]"#;
        let rows = [
            prompt,
            hidden,
            row(StoredRole::Tool, "done", Some(edit)),
            row(StoredRole::Tool, "rejected: keep it\nmore", Some(no)),
        ];
        let text = facts(&rows, SAID);
        assert!(
            text.contains("> make it `quick`\n") && !text.contains("Reference") && !text.contains("go on"),
            "{text}"
        );
        assert!(text.contains("- b.rs (01)") && text.contains("- deleteFile c.rs: rejected: keep it\n"), "{text}");
    }

    #[test]
    fn the_plan_that_stands_and_the_command_that_fails_are_preserved() {
        let ran = |command: &str, ok: bool, output: &str| {
            let display = if ok { "" } else { r#","shown":{"reason":"exit 1"}"# };
            let record = format!(r#"[{{"id":"","name":"runCommand","ok":true,"command":"{command}"{display}}}]"#);
            row(StoredRole::Tool, output, Some(&record))
        };
        // What was refused did not fail.
        let refused = r#"[{"id":"r","name":"runCommand","ok":false,"shown":{"state":"refused","reason":"no"}}]"#;
        let plan = |text: &str| {
            let mut row = row(StoredRole::Assistant, text, None);
            row.message.meta.extra = AnswerRecord { plan: true, ..AnswerRecord::default() }.write();
            row
        };
        let mut rows = vec![row(StoredRole::User, "go", None), plan("1. an old one"), plan("1. first\n2. second")];
        let mut cut_off = plan("3. half a pl");
        cut_off.message.meta.state = MessageState::Interrupted;
        rows.push(cut_off);
        rows.extend([
            ran("make", false, "make: broken"),
            ran("cargo test", false, "1 failed"),
            row(StoredRole::Tool, "refused", Some(refused)),
            row(StoredRole::Tool, "refused", Some(refused)),
        ]);
        let text = facts(&rows, SAID);
        assert_eq!(text.matches("- runCommand: refused\n").count(), 1, "{text}");
        assert!(text.contains("> 1. first\n> 2. second\n") && !text.contains("an old one"), "{text}");
        assert!(text.contains("`cargo test`\n\n> 1 failed\n") && !text.contains("> make: broken"), "{text}");
        assert!(!text.contains("half a pl"), "{text}");
        rows.extend([ran("cargo test", true, "ok")]);
        assert!(!facts(&rows, SAID).contains("failed last"));
        // In a small window the person's words keep half of the room.
        let long: Vec<_> = [row(StoredRole::User, &"w".repeat(400), None), plan(&"p".repeat(9_000))].into();
        let text = facts(&long, 1_000);
        assert!(text.contains(&"w".repeat(400)) && text.len() < 1_000, "{}", text.len());
    }

    #[test]
    fn the_newest_of_what_was_said_fits() {
        let rows: Vec<_> = (0..5).map(|n| row(StoredRole::User, &format!("{n}{}", "x".repeat(99)), None)).collect();
        let heads =
            |most| said(&rows, most).iter().map(|text| text.chars().take(11).collect()).collect::<Vec<String>>();
        assert_eq!(heads(10_000), ["0xxxxxxxxxx", "1xxxxxxxxxx", "2xxxxxxxxxx", "3xxxxxxxxxx", "4xxxxxxxxxx"]);
        assert_eq!(heads(350), ["0xxxxxxxxxx", "(2 messages", "3xxxxxxxxxx", "4xxxxxxxxxx"]);
        // The task and the newest message stay, cut, however little fits.
        assert_eq!(heads(60), ["0xxxxxxxxxx", "(3 messages", "4xxxxxxxxxx"]);
        assert!(said(&rows, 60).iter().all(|text| text.len() < 80), "{:?}", said(&rows, 60));
        assert!(ends(&"é".repeat(10_000), SAID).contains("bytes left out"));
    }
}
