//! Files that a model which writes its edits as text replaces without having read them. It cannot be expected to ask for
//! one: the refusal shows it the file.

use std::collections::HashMap;

use crate::agent::services::watched::WatchedFiles;
use crate::agent::session::conversation::SessionFiles;
use crate::agent::session::records::{KnownFileRecord, hex, sha};
use crate::context::attach::short_text;
use crate::context::small_model::passage;
use crate::edit::{Edit, EditResult, EditStatus, Op};
use crate::text::sentence::first_sentence;
use crate::tools::FileVersion;
use crate::workspace::{Access, Workspace, holds_secrets};

/// The longest text that a refusal shows, in bytes.
const LONGEST: usize = 16 << 10;

/// A file that a refusal shows.
pub struct ShownFile {
    /// The number of the edit that was refused.
    index: usize,
    path: String,
    bytes: Vec<u8>,
}

/// Adds its text, as it is now, to the refusal of a new text for a whole file that was not read, once a file: of a short
/// one that holds no secrets. Returns what is shown.
pub fn show(
    workspace: &Workspace,
    edits: &[Edit],
    seen: &HashMap<String, FileVersion>,
    results: &mut [EditResult],
) -> Vec<ShownFile> {
    let mut shown: Vec<ShownFile> = Vec::new();
    for (edit, result) in edits.iter().zip(results) {
        let (Op::Overwrite { .. }, EditStatus::Failed(why)) = (&edit.op, &mut result.status) else { continue };
        // What is refused for its place is not shown.
        let is_free = || workspace.resolve(&result.path, Access::File).is_ok_and(|path| path == result.path);
        if shown.iter().any(|file| file.path == result.path) || holds_secrets(&result.path) || !is_free() {
            continue;
        }
        let Some(bytes) = short_text(workspace, &result.path).filter(|bytes| bytes.len() <= LONGEST) else { continue };
        let is_known = seen.get(&result.path).is_some_and(|version| version.sha == sha(&bytes));
        let Some(text) = std::str::from_utf8(&bytes).ok().filter(|_| !is_known) else { continue };
        let text = passage(&result.path, text);
        *why = format!("{}. It is below: send its whole new text, with the change.\n\n{text}", first_sentence(why));
        shown.push(ShownFile { index: result.index, path: result.path.clone(), bytes });
    }
    shown
}

/// Records that the session knows what is shown.
pub fn know(watched: &WatchedFiles, files: &mut SessionFiles, shown: &[ShownFile]) {
    for file in shown {
        watched.knows(&file.path, files.know(&file.path, &file.bytes));
    }
}

/// Returns the files that are shown with these results, as memory keeps them.
pub fn known_files<'f>(
    shown: &'f [ShownFile],
    results: &'f [EditResult],
) -> impl Iterator<Item = KnownFileRecord> + 'f {
    let own = shown.iter().filter(|file| results.iter().any(|result| result.index == file.index));
    own.map(|file| KnownFileRecord { path: file.path.clone(), sha256: hex(&sha(&file.bytes)) })
}
