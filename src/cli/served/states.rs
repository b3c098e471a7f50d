//! `archive_show` and `archive_diff`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::refusal::ToolRefusal;
use super::tools::ArchiveTools;
use crate::archive::Version;
use crate::cli::diff::unified;
use crate::mcp::Contents;
use crate::proposal::{FileChange, State, count_changed};
use crate::text::size;
use crate::workspace::holds_secrets;

/// The most bytes of a state or a diff in one answer.
const MAX_BYTES: usize = 1 << 20;

/// The most bytes of a state that is compared: no other call is answered meanwhile.
const MAX_COMPARED: usize = 8 << 20;

/// Arguments of `archive_show`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ShowArgs {
    version: String,
    start_line: Option<usize>,
    end_line: Option<usize>,
}

/// Arguments of `archive_diff`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffArgs {
    from: String,
    to: Option<String>,
}

impl ArchiveTools {
    /// Returns the version of a name.
    pub(super) fn version(&self, name: &str) -> Result<Version, ToolRefusal> {
        self.archive().find_version(None, name).map_err(|unknown| match self.archive().find_changeset(name) {
            Ok(id) => {
                let message = format!("{id} is a changeset: archive_list names the versions in it");
                ToolRefusal::new("not-found", message)
            }
            Err(_) => unknown.into(),
        })
    }

    /// Returns the file of a version.
    ///
    /// # Errors
    /// When no changeset names it.
    pub(super) fn path_of(&self, version: &Version) -> Result<String, ToolRefusal> {
        self.archive().path_of(version)?.ok_or_else(|| {
            let message = format!("the file of version {} is unknown: no changeset contains it", version.id);
            ToolRefusal::new("not-found", message)
        })
    }

    /// Returns the file of a version whose text a model may have.
    fn open_path(&self, version: &Version) -> Result<String, ToolRefusal> {
        let path = self.path_of(version)?;
        match holds_secrets(&path) {
            true => {
                let message = format!("{path} usually holds keys, so it is not shown: `nebula show {}`", version.id);
                Err(ToolRefusal::new("consent", message))
            }
            false => Ok(path),
        }
    }

    pub(super) fn show(&self, args: &ShowArgs) -> Result<Value, ToolRefusal> {
        let version = self.version(&args.version)?;
        let path = self.open_path(&version)?;
        let state = self.archive().show(&version)?;
        let (kind, bytes) = match &state {
            State::Absent => ("absent", None),
            State::Folder { .. } => ("folder", None),
            State::Link { target } => ("link", Some(target.to_string_lossy().into_owned().into_bytes())),
            State::File { bytes, .. } => ("file", Some(bytes.to_vec())),
            State::Large(file) => {
                let message =
                    format!("this version has {}: `nebula show {}` prints it", size::words(file.size), version.id);
                return Err(ToolRefusal::new("too-large", message));
            }
        };
        let mut answer = Map::new();
        answer.insert("path".into(), path.into());
        answer.insert("id".into(), version.id.to_string().into());
        answer.insert("kind".into(), kind.into());
        let lines = match bytes.map(String::from_utf8) {
            None => 0,
            Some(Ok(text)) => {
                let count = text.lines().count();
                answer.insert("text".into(), part(&text, args)?.into());
                count
            }
            Some(Err(bytes)) => {
                let bytes = bytes.into_bytes();
                let message = "these are bytes, no lines: give neither startLine nor endLine";
                if args.start_line.is_some() || args.end_line.is_some() {
                    return Err(ToolRefusal::new("usage", message));
                }
                within(bytes.len(), &format!("`nebula show {}` prints it", version.id))?;
                answer.insert("base64".into(), STANDARD.encode(bytes).into());
                0
            }
        };
        answer.insert("lines".into(), lines.into());
        Ok(answer.into())
    }

    /// Returns a version as a resource; `None`: there is none, or it is too large.
    pub(super) fn version_contents(&self, id: &str) -> Option<Contents> {
        let version = self.version(id).ok()?;
        self.open_path(&version).ok()?;
        match self.archive().show(&version).ok()? {
            State::Absent | State::Folder { .. } => Some(Contents::Text(String::new(), "text/plain")),
            State::Link { target } => Some(Contents::Text(target.to_string_lossy().into_owned(), "text/plain")),
            State::File { bytes, .. } if bytes.len() <= MAX_BYTES => match std::str::from_utf8(&bytes) {
                Ok(text) => Some(Contents::Text(text.into(), "text/plain")),
                Err(_) => Some(Contents::Base64(STANDARD.encode(&bytes))),
            },
            State::File { .. } | State::Large(_) => None,
        }
    }

    pub(super) fn diff(&self, args: &DiffArgs) -> Result<Value, ToolRefusal> {
        let from = self.version(&args.from)?;
        let path = self.open_path(&from)?;
        let before = self.archive().show(&from)?;
        let after = match args.to.as_deref() {
            None | Some("now") => self.stores().workspace.read(&path)?.state,
            Some(version) => {
                let version = self.version(version)?;
                self.open_path(&version)?;
                self.archive().show(&version)?
            }
        };
        for state in [&before, &after] {
            within_of(state.bytes().map_or(0, |bytes| bytes.len()), MAX_COMPARED, &from)?;
        }
        let counts = count_changed(&before, &after);
        let diff = unified(&FileChange::new(&path, before, after, "diff", &[]), false);
        within_of(diff.len(), MAX_BYTES, &from)?;
        let mut answer = json!({"path": path, "added": counts.added, "removed": counts.removed});
        match String::from_utf8(diff) {
            Ok(diff) => answer["diff"] = diff.into(),
            Err(diff) => answer["base64"] = STANDARD.encode(diff.into_bytes()).into(),
        }
        Ok(answer)
    }
}

/// Returns the wanted lines of a text, with their ends.
fn part<'t>(text: &'t str, args: &ShowArgs) -> Result<&'t str, ToolRefusal> {
    let (first, last) = (args.start_line.unwrap_or(1), args.end_line.unwrap_or(usize::MAX));
    if first == 0 || last < first {
        return Err(ToolRefusal::new("usage", "startLine is 1 or more, and endLine not before it"));
    }
    let mut ends = text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    });
    let from = if first == 1 { 0 } else { ends.nth(first - 2).unwrap_or(text.len()) };
    let to = ends.nth(last - first).unwrap_or(text.len());
    let part = &text[from..to.max(from)];
    within(part.len(), "ask for fewer lines with startLine and endLine")?;
    Ok(part)
}

/// Refuses a comparison that is too long.
fn within_of(bytes: usize, most: usize, from: &Version) -> Result<(), ToolRefusal> {
    let instead = format!("`nebula diff {}` prints the difference", from.id);
    within(if bytes <= most { 0 } else { bytes }, &instead)
}

/// Refuses what is too long for an answer.
fn within(bytes: usize, instead: &str) -> Result<(), ToolRefusal> {
    match bytes <= MAX_BYTES {
        true => Ok(()),
        false => Err(ToolRefusal::new("too-large", format!("this has {}: {instead}", size::words(bytes as u64)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_where_they_end() {
        let lines = |start_line, end_line| {
            let args = ShowArgs { version: String::new(), start_line, end_line };
            part("a\nb\nc", &args).map_err(|refusal| refusal.kind)
        };
        assert_eq!(lines(None, None), Ok("a\nb\nc"));
        assert_eq!(lines(Some(2), None), Ok("b\nc"));
        assert_eq!(lines(Some(2), Some(2)), Ok("b\n"));
        assert_eq!(lines(None, Some(2)), Ok("a\nb\n"));
        assert_eq!(lines(Some(3), Some(9)), Ok("c"));
        assert_eq!(lines(Some(4), None), Ok(""));
        assert_eq!(lines(Some(9), Some(usize::MAX)), Ok(""));
        assert_eq!(lines(Some(0), None), Err("usage"));
        assert_eq!(lines(Some(3), Some(2)), Err("usage"));
    }
}
