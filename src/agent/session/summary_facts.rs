//! The half of a summary that no model writes: what the person said, what was read and changed, what was refused, from
//! the records of the session.

use std::collections::BTreeMap;

use crate::agent::session::records::{read_attached, read_results};
use crate::memory::{Message, Role};

/// The most bytes of the person's messages in a summary: about 20,000 tokens.
const SAID: usize = 80_000;
/// How much of the head and of the tail of a longer message stays, in bytes.
const ENDS: usize = 4_000;
/// How many refusals are listed, the newest.
const REFUSALS: usize = 12;

/// Returns the facts of a session, as Markdown; `most` is how large what the person said may be, in bytes.
pub fn facts(rows: &[Message], most: usize) -> String {
    let mut text = String::from("## What the person said, verbatim\n");
    for said in said(rows, most.min(SAID)) {
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
    text
}

/// Returns the messages of the person in their order: the newest that fit, each whole or with its head and tail.
fn said(rows: &[Message], most: usize) -> Vec<String> {
    let typed = |row: &Message| {
        let content = row.message.content.as_deref().unwrap_or_default();
        let typed = row.message.meta.typed.unwrap_or(content.len());
        content.get(..typed).unwrap_or(content).trim().to_string()
    };
    let persons = rows.iter().filter(|row| row.message.role == Role::User).map(typed);
    let all: Vec<String> = persons.filter(|text| !text.is_empty()).map(|text| ends(&text)).collect();
    let mut left = most;
    let newest = all.iter().rev().take_while(|text| {
        let fits = text.len() <= left;
        left = left.saturating_sub(text.len());
        fits
    });
    let from = all.len() - newest.count();
    let missing = (from > 0).then(|| format!("({from} earlier messages are left out)"));
    missing.into_iter().chain(all[from..].iter().cloned()).collect()
}

fn ends(text: &str) -> String {
    if text.len() <= 2 * ENDS {
        return text.to_string();
    }
    let (head, tail) = (text.floor_char_boundary(ENDS), text.ceil_char_boundary(text.len() - ENDS));
    format!("{}\n… {} bytes left out …\n{}", &text[..head], tail - head, &text[tail..])
}

type Happened = (BTreeMap<String, ()>, BTreeMap<String, Vec<String>>, Vec<String>);

/// Returns files read, files changed with their changesets, and refusals.
fn happened(rows: &[Message]) -> Happened {
    let (mut read, mut changed, mut refused): Happened = Default::default();
    for row in rows {
        for attached in row.message.meta.attached.as_deref().map(read_attached).unwrap_or_default() {
            read.insert(attached.path, ());
        }
        for result in read_results(row.message.tool_results.as_deref()) {
            read.extend(result.seen.iter().map(|seen| (seen.path.clone(), ())));
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
                refused.push(format!("{}{path}: {}", result.name, line.chars().take(300).collect::<String>()));
            }
        }
    }
    (read, changed, refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::NewMessage;

    fn row(role: Role, text: &str, results: Option<&str>) -> Message {
        let mut message = NewMessage::text(role, text);
        message.tool_results = results.map(Into::into);
        Message { id: 1, at: 0, message }
    }

    #[test]
    fn what_was_said_stands_verbatim_and_what_happened_by_file() {
        let mut asked = row(Role::User, "make it `quick`\n\n---\nReference", None);
        asked.message.meta.typed = Some(15);
        let mut hidden = row(Role::User, "go on", None);
        hidden.message.meta.typed = Some(0);
        let edit = r#"[{"id":"a","name":"replaceInFile","ok":true,"changeset":"01","edits":[{"path":"b.rs","format":"tools","rung":"exact"}]}]"#;
        let no =
            r#"[{"id":"b","name":"deleteFile","ok":false,"edits":[{"path":"c.rs","format":"tools","rung":null}]}]"#;
        let rows =
            [asked, hidden, row(Role::Tool, "done", Some(edit)), row(Role::Tool, "rejected: keep it\nmore", Some(no))];
        let text = facts(&rows, SAID);
        assert!(
            text.contains("> make it `quick`\n") && !text.contains("Reference") && !text.contains("go on"),
            "{text}"
        );
        assert!(text.contains("- b.rs (01)") && text.contains("- deleteFile c.rs: rejected: keep it\n"), "{text}");
    }

    #[test]
    fn the_newest_of_what_was_said_fits() {
        let rows: Vec<_> = (0..5).map(|n| row(Role::User, &format!("{n}{}", "x".repeat(99)), None)).collect();
        let said = said(&rows, 250);
        assert_eq!((said.len(), &said[0][..13], &said[2][..2]), (3, "(3 earlier me", "4x"));
        assert!(ends(&"é".repeat(10_000)).contains("bytes left out"));
    }
}
