//! The tools that see and change definitions of source files rather than text.

mod outline;
mod refs;
mod replace;
mod view;

use std::borrow::Cow;

use super::base::Run;
use crate::code::NodeSelector;
use crate::definitions::{DefinitionFinder, FindNotes, SecretFiles, VisitEnd};
use crate::tools::RunResult;

pub use outline::TOOL as OUTLINE;
pub use refs::TOOL as REFS;
pub use replace::TOOL as REPLACE;
pub use view::TOOL as VIEW;

/// The largest answer, in bytes.
const CAP: usize = 64 << 10;
/// The most bytes of a line of code.
const LINE: usize = 400;
/// Files that a remark names.
const NAMED: usize = 3;

/// The forms of a selector, for the model.
const SELECTOR: &str = "Id, name, path:LINE, path or kind.name (class.Foo*).";

/// Returns a finder of definitions in the workspace of a run.
fn finder(run: &Run) -> DefinitionFinder<'_> {
    let workspace = &*run.context.workspace;
    DefinitionFinder {
        workspace,
        folder: workspace.root().to_path_buf(),
        stop: run.stop.clone(),
        secrets: SecretFiles::Withheld(run.context.approved.clone()),
    }
}

/// Returns what asks the person first: a selector names a file that usually holds keys.
fn secrets(finder: &DefinitionFinder<'_>, selector: &NodeSelector) -> Option<RunResult> {
    let full = |path: &String| finder.workspace.full(path);
    let named = selector.named_paths()?;
    let path = named.iter().find(|path| finder.withholds(path) && full(path).is_file()).map(full)?;
    Some(RunResult::outside(path))
}

/// Returns a text, cut to so many bytes, with `…` where something is missing.
fn clip(text: &str, most: usize) -> Cow<'_, str> {
    match text.len() > most {
        true => format!("{}…", &text[..text.floor_char_boundary(most)]).into(),
        false => text.into(),
    }
}

/// The definitions that an answer has room for, and what it may lack.
#[derive(Default)]
struct DefinitionList {
    text: String,
    shown: usize,
}

impl DefinitionList {
    /// Returns the text of an answer with what it may lack, and its summary.
    fn end(mut self, run: &Run, visited: Result<(), VisitEnd>, notes: &FindNotes) -> Result<(String, String), String> {
        if run.stop.is_cancelled() {
            return Err("stopped".into());
        }
        match visited {
            Ok(()) => {}
            Err(VisitEnd::Fault(fault)) => return Err(fault.to_string()),
            Err(VisitEnd::Full) => {
                let shown = self.shown;
                self.text.push_str(&format!("(the first {shown} definitions; name a file or a definition for more)\n"));
            }
        }
        let none = notes.no_definitions().map(|none| format!("{none}; readFile shows the text\n"));
        self.text.push_str(&none.unwrap_or_default());
        let errors: Vec<String> = notes.errors.iter().map(|(path, line)| format!("{path}:{line}")).collect();
        self.remark(&errors, "syntax errors, so definitions may be missing");
        let skipped: Vec<String> = notes.skipped.iter().map(|(_, why)| why.clone()).collect();
        self.remark(&skipped, "not read");
        let summary = crate::text::number::plural(self.shown, "definition");
        Ok((self.text, summary))
    }

    fn remark(&mut self, files: &[String], what: &str) {
        if files.is_empty() {
            return;
        }
        let more = files.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let named = files.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        self.text.push_str(&format!("({what}: {named}{more})\n"));
    }
}
