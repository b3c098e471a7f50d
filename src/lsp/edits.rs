//! The edit of a server as plain places and texts, and how it is applied to a text.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::fault::LspFault;
use super::session::VERSION;
use super::uri;

/// The unit that columns are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
}

impl Encoding {
    /// Returns the column of a byte in a line.
    pub fn column(self, line: &str, byte: usize) -> usize {
        match self {
            Encoding::Utf8 => byte,
            Encoding::Utf16 => line[..byte].encode_utf16().count(),
        }
    }

    /// Returns the byte of a column in a line. None: it is not in the line, or within a character.
    fn byte(self, line: &str, column: usize) -> Option<usize> {
        match self {
            Encoding::Utf8 => line.is_char_boundary(column).then_some(column),
            Encoding::Utf16 => {
                let mut units = 0;
                for (at, c) in line.char_indices() {
                    if units >= column {
                        return (units == column).then_some(at);
                    }
                    units += c.len_utf16();
                }
                (units == column).then_some(line.len())
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Position {
    line: usize,
    character: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextEdit {
    range: Range,
    new_text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorkspaceEdit {
    changes: Option<BTreeMap<String, Vec<TextEdit>>>,
    document_changes: Option<Vec<Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DocumentEdit {
    text_document: Document,
    edits: Vec<TextEdit>,
}

#[derive(Deserialize)]
struct Document {
    uri: String,
    version: Option<i64>,
}

/// The edits of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdits {
    /// The file, absolute and plain. Whether it may be changed is for the caller to say.
    pub path: PathBuf,
    encoding: Encoding,
    edits: Vec<TextEdit>,
}

impl FileEdits {
    /// Returns the number of places.
    pub fn count(&self) -> usize {
        self.edits.len()
    }

    /// Returns the bytes that each edit takes the place of, in order.
    ///
    /// # Errors
    /// When a place is not in the text, two overlap, or lines cannot be counted as the server does.
    pub fn places(&self, text: &str) -> Result<Vec<std::ops::Range<usize>>, LspFault> {
        Ok(self.spans(text)?.into_iter().map(|(place, _)| place).collect())
    }

    /// Returns the text with the edits.
    ///
    /// # Errors
    /// As [`FileEdits::places`].
    pub fn applied(&self, text: &str) -> Result<String, LspFault> {
        let (mut new, mut at) = (String::with_capacity(text.len()), 0);
        for (place, put) in self.spans(text)? {
            new.push_str(&text[at..place.start]);
            new.push_str(put);
            at = place.end;
        }
        new.push_str(&text[at..]);
        Ok(new)
    }

    /// Returns the bytes that each edit takes the place of, in order, and what it puts there.
    ///
    /// # Errors
    /// As [`FileEdits::places`].
    pub fn spans(&self, text: &str) -> Result<Vec<(std::ops::Range<usize>, &str)>, LspFault> {
        let fault = |why: String| LspFault::Edit(format!("{}: {why}", self.path.display()));
        // The protocol ends a line there, most servers do not.
        if text.replace("\r\n", "").contains('\r') {
            return Err(fault("it has carriage returns without a line feed".to_owned()));
        }
        let lines: Vec<(usize, &str)> = text.split('\n').scan(0, with_start).collect();
        let byte = |at: &Position| {
            let (start, line) = lines.get(at.line)?;
            let line = line.strip_suffix('\r').unwrap_or(line);
            Some(start + self.encoding.byte(line, at.character)?)
        };
        let mut spans = Vec::new();
        for edit in &self.edits {
            let (start, end) = (&edit.range.start, &edit.range.end);
            match (byte(start), byte(end)) {
                (Some(start), Some(end)) if start <= end => spans.push((start..end, edit.new_text.as_str())),
                _ => {
                    let (line, column) = (start.line.saturating_add(1), start.character.saturating_add(1));
                    return Err(fault(format!("{line}:{column} is no place in it")));
                }
            }
        }
        spans.sort_by_key(|(place, _)| (place.start, place.end));
        match spans.windows(2).find(|two| two[0].0.end > two[1].0.start || two[0].0 == two[1].0) {
            Some(two) => {
                let line = text[..two[1].0.start].matches('\n').count() + 1;
                Err(fault(format!("two edits overlap in line {line}")))
            }
            None => Ok(spans),
        }
    }
}

fn with_start<'t>(next: &mut usize, line: &'t str) -> Option<(usize, &'t str)> {
    let start = *next;
    *next += line.len() + 1;
    Some((start, line))
}

/// Reads an edit of several files.
///
/// # Errors
/// When it is none, would make, move or remove files, or is of other versions than were opened.
pub(super) fn read(value: Value, encoding: Encoding) -> Result<Vec<FileEdits>, LspFault> {
    let fault = |why: String| LspFault::Edit(why);
    let edit: WorkspaceEdit = serde_json::from_value(value).map_err(|error| fault(error.to_string()))?;
    let mut all: BTreeMap<PathBuf, Vec<TextEdit>> = BTreeMap::new();
    let mut add = |uri: &str, edits: Vec<TextEdit>| {
        let path = uri::to_path(uri).ok_or_else(|| fault(format!("{uri:?} is no file here")))?;
        all.entry(path).or_default().extend(edits);
        Ok(())
    };
    for change in edit.document_changes.iter().flatten() {
        if let Some(kind) = change.get("kind") {
            return Err(fault(format!("it would {} a file", kind.as_str().unwrap_or("change"))));
        }
        let of: DocumentEdit = serde_json::from_value(change.clone()).map_err(|error| fault(error.to_string()))?;
        if of.text_document.version.is_some_and(|version| version != VERSION) {
            return Err(fault(format!("{} is of another version", of.text_document.uri)));
        }
        add(&of.text_document.uri, of.edits)?;
    }
    if edit.document_changes.is_none() {
        edit.changes.into_iter().flatten().try_for_each(|(uri, edits)| add(&uri, edits))?;
    }
    let all = all.into_iter().filter(|(_, edits)| !edits.is_empty());
    Ok(all.map(|(path, edits)| FileEdits { path, encoding, edits }).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edit(lines: &[(usize, usize, usize, usize, &str)], encoding: Encoding) -> FileEdits {
        let edits: Vec<Value> = lines
            .iter()
            .map(|(line, from, to_line, to, new)| {
                json!({"newText": new, "range": {
                    "start": {"line": line, "character": from}, "end": {"line": to_line, "character": to}}})
            })
            .collect();
        read(json!({"changes": {"file:///a": edits}}), encoding).expect("an edit").remove(0)
    }

    #[test]
    fn columns_are_counted_as_the_server_does() {
        let text = "é𝄞x\r\nbé\n";
        let wide = edit(&[(0, 3, 0, 4, "y"), (1, 0, 1, 1, "c")], Encoding::Utf16);
        assert_eq!(wide.applied(text), Ok("é𝄞y\r\ncé\n".to_owned()));
        let bytes = edit(&[(1, 0, 1, 1, "c"), (0, 6, 0, 7, "y")], Encoding::Utf8);
        assert_eq!(bytes.applied(text), Ok("é𝄞y\r\ncé\n".to_owned()));
        assert_eq!(bytes.places(text), Ok(vec![6..7, 9..10]));
        assert_eq!(Encoding::Utf16.column("é𝄞x", 6), 3);
        // The end of the file is a place.
        assert_eq!(edit(&[(2, 0, 2, 0, "z")], Encoding::Utf16).applied(text), Ok("é𝄞x\r\nbé\nz".to_owned()));
    }

    #[test]
    fn a_place_that_is_not_in_the_text_is_refused() {
        let text = "é𝄞x\r\nb\n";
        let wrong = [
            (0, 2, 0, 3, Encoding::Utf16),
            (0, 1, 0, 2, Encoding::Utf8),
            (0, 0, 0, 5, Encoding::Utf16),
            (0, 7, 0, 8, Encoding::Utf8),
            (3, 0, 3, 0, Encoding::Utf16),
            (1, 1, 1, 0, Encoding::Utf16),
            (1, 0, 0, 0, Encoding::Utf16),
            (usize::MAX, usize::MAX, usize::MAX, usize::MAX, Encoding::Utf8),
        ];
        for (line, from, to_line, to, encoding) in wrong {
            let applied = edit(&[(line, from, to_line, to, "y")], encoding).applied(text);
            assert!(matches!(applied, Err(LspFault::Edit(_))), "{line}:{from} {applied:?}");
        }
        for two in [[(1, 0, 1, 1, "c"), (1, 0, 1, 1, "c")], [(0, 0, 0, 2, "c"), (0, 1, 0, 3, "d")]] {
            assert!(edit(&two, Encoding::Utf16).applied("abcd\ne\n").is_err());
        }
        let beside = edit(&[(0, 0, 0, 1, "c"), (0, 1, 0, 2, "d")], Encoding::Utf16);
        assert_eq!(beside.applied("ab"), Ok("cd".to_owned()));
        assert!(edit(&[(0, 0, 0, 1, "c")], Encoding::Utf16).applied("a\rb\n").is_err());
    }

    #[test]
    fn edits_of_files_as_such_are_refused() {
        let one = json!({"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "newText": "b"});
        let of = |version: Value| json!({"textDocument": {"uri": "file:///a", "version": version}, "edits": [one]});
        for version in [Value::Null, json!(VERSION)] {
            let read = read(json!({"documentChanges": [of(version)]}), Encoding::Utf16).expect("an edit");
            assert_eq!((read.len(), read[0].count()), (1, 1));
        }
        for wrong in [
            json!({"documentChanges": [of(json!(2))]}),
            json!({"documentChanges": [of(Value::Null), {"kind": "rename", "oldUri": "file:///a", "newUri": "file:///b"}]}),
            json!({"documentChanges": [{"kind": "delete", "uri": "file:///a"}]}),
            json!({"changes": {"http://a": [one]}}),
            json!({"changes": {"file:///a/../b": [one]}}),
            json!({"changes": {"file:///a": [{"newText": "b"}]}}),
            json!({"changes": {"file:///a": [{"newText": "b", "range": {"start": {"line": -1, "character": 0}, "end": {"line": 0, "character": 0}}}]}}),
            json!([1]),
        ] {
            assert!(matches!(read(wrong.clone(), Encoding::Utf8), Err(LspFault::Edit(_))), "{wrong}");
        }
        assert_eq!(read(json!({}), Encoding::Utf8), Ok(Vec::new()));
    }
}
