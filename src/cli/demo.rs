//! The tour: a recorded model on a copy of a small project in a temporary folder. Everything but the model's words
//! is real: tools, approvals, archive and memory.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use crate::agent::{self, AgentParts};
use crate::config::{Config, Flags, Paths, Variables};
use crate::disk;
use crate::protocol::Mode;
use crate::provider::{Delta, Recording, Replay, Request};
use crate::workspace::Workspace;

/// The first prompt of the tour; the person sends it.
pub const PROMPT: &str =
    "The cart asks the catalog once per line. Load all prices in one query, and keep @src/cart.rs readable.";

/// The project of the tour.
const FILES: [(&str, &str); 7] = [
    ("AGENTS.md", include_str!("../../assets/demo/AGENTS.md")),
    ("Cargo.toml", include_str!("../../assets/demo/Cargo.toml.txt")),
    ("README.md", include_str!("../../assets/demo/README.md")),
    ("src/lib.rs", include_str!("../../assets/demo/src/lib.rs")),
    ("src/cart.rs", include_str!("../../assets/demo/src/cart.rs")),
    ("src/catalog.rs", include_str!("../../assets/demo/src/catalog.rs")),
    ("src/money.rs", include_str!("../../assets/demo/src/money.rs")),
];

/// The keys that the recording names, as it writes each, with what they do.
const KEYS: [(&str, &str); 9] = [
    ("F1", "input.help"),
    ("F2", "input.focus-diff"),
    ("F3", "input.focus-archive"),
    ("F4", "input.focus-tools"),
    ("Left", "archive.back-in-time"),
    ("Right", "archive.on-in-time"),
    ("u", "archive.restore"),
    ("R", "archive.redo"),
    ("Ctrl-C", "input.cancel"),
];

/// A tour that is under way: its folder vanishes with it.
pub struct Tour {
    folder: TempDir,
}

impl Tour {
    /// Makes the project's copy.
    ///
    /// # Errors
    /// When the temporary folder cannot be written.
    pub fn begin() -> Result<Self> {
        let folder = disk::private_folder("nebula-tour-");
        let folder = folder.context("the tour needs a temporary folder: set TMPDIR to one that can be written")?;
        copy(&folder.path().join("shop")).context("the tour's project could not be copied")?;
        Ok(Tour { folder })
    }

    /// Returns what the tour's agent is made of: its own home too, so that nothing of it stays. `key` says how the key
    /// is written that is usually the one named, and does what the second name says.
    ///
    /// # Errors
    /// When the folder cannot be opened.
    pub fn parts(&self, key: impl Fn(&str, &str) -> String) -> Result<AgentParts> {
        let home = self.folder.path().join("home");
        fs::create_dir_all(&home).context("the tour's home could not be made")?;
        let workspace = Workspace::open(&self.folder.path().join("shop"))?;
        let config = Config::load(Paths::below(&home), Variables::capture(), Flags::default(), Some(workspace.root()));
        let archive = agent::open_archive(&config, &workspace)?;
        let mut recording = Recording::parse(include_str!("../../assets/demo.jsonl"), "the tour")?;
        name_keys(&mut recording, key);
        let undo = undo_step(&recording);
        let mut model = Replay::new(recording, "a recording");
        if let Some(undo) = undo {
            model = model.skipping(undo, removes_nothing);
        }
        let (provider, mode) = (Some(Arc::new(model) as _), Some(Mode::Agent));
        Ok(AgentParts {
            config,
            workspace,
            archive,
            provider,
            tools: Vec::new(),
            record: None,
            mode,
            expect_change: false,
            unattended: false,
        })
    }
}

/// Lets the recording name the keys that are in force. Each is a word of its own in it, `**F3**` or `` `u` ``.
fn name_keys(recording: &mut Recording, key: impl Fn(&str, &str) -> String) {
    for (_, delta) in recording.steps.iter_mut().flatten() {
        let Delta::Text(text) = delta else { continue };
        let word = text.trim();
        let bare = word.trim_matches(['`', '*']);
        let known = KEYS.iter().find(|(usual, _)| *usual == bare && word.len() > bare.len());
        if let Some((usual, action)) = known {
            *text = text.replace(usual, &key(usual, action));
        }
    }
}

/// Returns the step that undoes the command before it.
fn undo_step(recording: &Recording) -> Option<usize> {
    let undoes = |(_, delta): &(_, Delta)| matches!(delta, Delta::Call { name: Some(name), .. } if name == "undo");
    recording.steps.iter().position(|step| step.iter().any(undoes))
}

/// Returns whether the command before this request did not remove its file, as the person did not let it: then there is
/// nothing to undo.
fn removes_nothing(request: &Request) -> bool {
    let last = request.messages.iter().rev().find_map(|message| message.tool_result());
    last.is_none_or(|result| !result.text.contains("D README.md") || result.text.contains("nothing was changed"))
}

fn copy(root: &Path) -> io::Result<()> {
    fs::create_dir_all(root.join("src"))?;
    fs::create_dir_all(root.join(".nebula"))?;
    for (path, text) in FILES {
        fs::write(root.join(path), text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_the_keys_in_force() {
        let mut recording = Recording::parse(include_str!("../../assets/demo.jsonl"), "the tour").expect("a recording");
        let mut bindings = std::cell::RefCell::new(Vec::new());
        name_keys(&mut recording, |usual, action| {
            bindings.borrow_mut().push((usual.to_string(), action.to_string()));
            format!("K-{usual}")
        });
        bindings.get_mut().sort();
        bindings.get_mut().dedup();
        assert_eq!(bindings.get_mut().len(), KEYS.len());
        let text = |(_, delta): &(_, Delta)| if let Delta::Text(text) = delta { text.clone() } else { String::new() };
        let said: String = recording.steps.iter().flatten().map(text).collect();
        assert!(said.contains("- **K-F3** opens the archive: `K-Left` and `K-Right` go"), "{said}");
        assert!(
            said.contains("`K-u` brings one back") && !said.contains("**F") && !said.contains("`Ctrl-C`"),
            "{said}"
        );
    }

    #[test]
    fn every_edit_of_the_recording_fits_the_project() {
        let recording = Recording::parse(include_str!("../../assets/demo.jsonl"), "the tour").expect("a recording");
        let mut calls: Vec<crate::provider::ToolCall> = Vec::new();
        for step in recording.steps {
            let mut answer = crate::provider::Answer::default();
            step.iter().for_each(|(_, delta)| answer.push(delta));
            calls.extend(answer.calls);
        }
        let mut edits = 0;
        for call in calls.iter().filter(|c| c.name == "replaceInFile") {
            let arguments: serde_json::Value = serde_json::from_str(&call.arguments).expect("JSON");
            let (path, search) =
                (arguments["path"].as_str().expect("a path"), arguments["search"].as_str().expect("a text"));
            let (_, text) = FILES.iter().find(|(p, _)| *p == path).expect("a file of the project");
            let found = text.lines().filter(|l| l.trim() == search.lines().next().unwrap_or("").trim()).count();
            assert_eq!(found, 1, "{search}");
            edits += 1;
        }
        assert_eq!(edits, 4);
    }
}
