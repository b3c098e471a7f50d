//! `nebula shi --hook`: keeps the history of whatever agent the person runs.
//!
//! As a hook of another agent's tools it reads what that is about to do, or has done, and archives the files it names.
//! It prints nothing and always ends with 0: the other agent must not stop because of it. What failed is a line of
//! `logs/hook.log`.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::args::Global;
use super::context::Context;
use crate::config::{Paths, Variables};
use crate::execute::{Stores, archive_before, written_by_another};
use crate::memory::Memory;
use crate::text::{size, time};
use crate::workspace::Access;

/// A longer message is not read.
const MAX_MESSAGE: u64 = 64 << 20;
/// The most files that are archived for one call.
const MAX_FILES: usize = 1_000;
/// The length, in bytes, at which the log is begun again.
const MAX_LOG: u64 = 1 << 20;

/// Reads the message of a hook on stdin and archives what it names; with `after`, the files count as nebula's from now
/// on, as they stand.
pub fn run(after: bool, global: Global) {
    if let Err(error) = read_message().and_then(|message| keep(&message, after, global)) {
        // A log that cannot be written is ignored: there is no one to report it to.
        let _ = log(&format!("{error:#}"));
    }
}

fn read_message() -> Result<Value> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_MESSAGE + 1).read_to_end(&mut bytes).context("stdin cannot be read")?;
    if bytes.len() as u64 > MAX_MESSAGE {
        bail!("the hook's message is longer than {}", size::words(MAX_MESSAGE));
    }
    serde_json::from_slice(&bytes).context("the hook's message is no JSON")
}

fn keep(message: &Value, after: bool, global: Global) -> Result<()> {
    let names = named(&message["tool_input"]);
    if names.is_empty() {
        return Ok(());
    }
    if names.len() > MAX_FILES {
        bail!("it names {} files; at most {MAX_FILES} are archived for one call", names.len());
    }
    // The workspace is the one around the folder that the other agent works in, as if the person were there.
    if let Some(folder) = message["cwd"].as_str() {
        std::env::set_current_dir(folder).with_context(|| format!("{folder} cannot be entered"))?;
    }
    let context = Context::for_one(global, None)?;
    let base = std::env::current_dir().context("the folder is gone")?;
    // Files outside of the workspace are not archived.
    let inside = |name: &String| context.workspace.resolve_from(&base, name, Access::File).ok();
    let paths: Vec<String> = names.iter().filter_map(inside).collect::<BTreeSet<_>>().into_iter().collect();
    if paths.is_empty() {
        return Ok(());
    }
    let archive = context.archive()?;
    let (memory, _) = Memory::open_telling(context.memory_options(), Box::new(|_| {}));
    let stores = Stores { workspace: &context.workspace, archive: &archive, memory: &memory };
    let tool = message["tool_name"].as_str().unwrap_or("tool");
    let tool: String = tool.chars().filter(|c| !c.is_control()).take(80).collect();
    let title = format!("hook: {tool}");
    if after {
        written_by_another(&paths, &title, stores)?;
    } else {
        let (_, unrecorded) = archive_before(&paths, "hook", &title, stores)?;
        unrecorded.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// Returns the files that a tool's arguments name: by the keys that agents use, and in the headers of a patch.
fn named(input: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let edits = input["edits"].as_array().into_iter().flatten();
    for object in std::iter::once(input).chain(edits) {
        for key in ["file_path", "path", "notebook_path"] {
            names.extend(object[key].as_str().map(str::to_owned));
        }
    }
    let texts = input.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str());
    texts.chain(input.as_str()).for_each(|text| names.extend(in_patch(text)));
    names.retain(|name| !name.is_empty());
    names
}

/// Returns the files of a patch, by its headers.
fn in_patch(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut before: Option<&str> = None;
    for line in text.lines() {
        for head in ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "] {
            names.extend(line.strip_prefix(head).map(|name| name.trim().to_owned()));
        }
        if let Some(new) = line.strip_prefix("+++ ") {
            // Only a pair of these is a header: such a line alone may be code.
            names.extend(before.into_iter().chain([new]).filter_map(side).filter(|_| before.is_some()));
        }
        before = line.strip_prefix("--- ");
    }
    names
}

/// Returns the file of one side of a unified diff.
fn side(header: &str) -> Option<String> {
    let name = header.split('\t').next().unwrap_or_default().trim();
    let name = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
    (name != "/dev/null").then(|| name.to_owned())
}

/// Appends a line to the log of hooks.
fn log(message: &str) -> std::io::Result<()> {
    let paths = Paths::of_process(&Variables::capture());
    let Some(folder) = paths.folder().map(|folder| folder.join("logs")) else { return Ok(()) };
    fs::create_dir_all(&folder)?;
    let path = folder.join("hook.log");
    let is_long = fs::symlink_metadata(&path).is_ok_and(|meta| meta.len() > MAX_LOG);
    if is_long {
        fs::remove_file(&path)?;
    }
    let line = crate::text::clean::clean(message).replace('\n', " ");
    let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
    writeln!(file, "{} {line}", time::utc(time::now()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::named;

    #[test]
    fn every_way_to_name_a_file_is_known() {
        let all = |input| named(&input).into_iter().collect::<Vec<_>>();
        assert_eq!(all(json!({"file_path": "a"})), ["a"]);
        assert_eq!(all(json!({"path": "b", "content": "--- a line of text"})), ["b"]);
        assert_eq!(all(json!({"notebook_path": "n.ipynb"})), ["n.ipynb"]);
        assert_eq!(all(json!({"edits": [{"file_path": "x"}, {"file_path": "y"}]})), ["x", "y"]);
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n*** Add File: c\n*** End Patch";
        assert_eq!(all(json!({"input": patch})), ["c", "src/a.rs", "src/b.rs"]);
        let diff = "diff --git a/k b/k\n--- a/k\n+++ b/k\t2026\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ b/new\n";
        assert_eq!(all(json!({"patch": diff})), ["k", "new"]);
        assert_eq!(all(json!({"command": "ls"})), Vec::<String>::new());
        assert_eq!(all(json!("nothing")), Vec::<String>::new());
    }
}
