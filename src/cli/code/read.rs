//! `list` and `view`.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::args::ViewCode;
use super::failure::Failed;
use super::place::Place;
use crate::cli::files::DONE;
use crate::cli::out::{self, Out};
use crate::code::{SourceFile, uses};
use crate::definitions::{FindNotes, FoundFile, SourceFiles};

/// Files that a line about them names.
const NAMED: usize = 3;

pub(super) fn list(place: &Place<'_>, selector: &str) -> Result<u8, Failed> {
    let selector = place.finder.selector(selector)?;
    let (mut out, mut nodes) = (Out::stdout(), Vec::new());
    let notes = place.finder.each(&selector, |file: FoundFile, found| -> Result<(), Failed> {
        for at in found {
            if place.json {
                nodes.push(node_json(&file.source, at));
                continue;
            }
            let ((first, last), node) = (file.source.lines(at), &file.source.nodes[at]);
            writeln!(out, "{}  {}  {first}-{last}", file.source.id(at), node.kind.word())?;
        }
        Ok(())
    })?;
    end(place, out, nodes, &notes)
}

pub(super) fn view(place: &Place<'_>, args: &ViewCode) -> Result<u8, Failed> {
    let selector = place.finder.selector(&args.selector)?;
    let mut shown = ShownCode { json: place.json, outline: args.outline, ..ShownCode::default() };
    let notes = place.finder.each(&selector, |file: FoundFile, found| -> Result<(), Failed> {
        if !args.with_deps {
            return Ok(found.into_iter().try_for_each(|at| shown.add(&file.source, at))?);
        }
        let path = file.source.path.clone();
        let sources = SourceFiles::new(&place.finder, file)?;
        for at in found {
            let target = sources.target(&path, at)?;
            for needed in uses(&target, &sources) {
                shown.add_once(&needed.used.file, needed.used.at)?;
            }
            shown.add_once(&target.file, at)?;
        }
        Ok(())
    })?;
    let mut out = Out::stdout();
    shown.print(&mut out)?;
    end(place, out, shown.nodes, &notes)
}

/// The definitions that are shown.
#[derive(Default)]
struct ShownCode {
    json: bool,
    outline: bool,
    /// The lines of an outline that are not printed yet.
    lines: String,
    nodes: Vec<Value>,
    /// The ids of those that are shown once.
    ids: HashSet<String>,
    /// The file of the last one; none: it is the first.
    path: Option<String>,
}

impl ShownCode {
    /// Shows a definition that may be needed by several.
    fn add_once(&mut self, source: &SourceFile, at: usize) -> io::Result<()> {
        if self.ids.insert(source.id(at)) { self.add(source, at) } else { Ok(()) }
    }

    fn add(&mut self, source: &SourceFile, at: usize) -> io::Result<()> {
        let signature = self.outline.then(|| source.signature(at));
        let is_first = self.path.is_none();
        let is_new = self.path.as_deref() != Some(&source.path);
        if is_new {
            self.path = Some(source.path.clone());
        }
        let (line, last) = source.lines(at);
        let mut out = Out::stdout();
        match (self.json, signature) {
            (true, signature) => {
                let mut node = node_json(source, at);
                node["text"] = signature.map_or_else(|| source.text_of(at).into(), Value::from);
                self.nodes.push(node);
            }
            (false, Some(signature)) => {
                if is_new {
                    self.print(&mut out)?;
                    self.lines.push_str(&format!("{}{}\n", if is_first { "" } else { "\n" }, source.path));
                }
                let indent = "  ".repeat(source.depth(at));
                self.lines.push_str(&format!("{line:>6}  {indent}{signature}\n"));
            }
            (false, None) => {
                let parted = if is_first { "" } else { "\n" };
                let (id, kind, hash) = (source.id(at), source.nodes[at].kind.word(), source.hash(at));
                writeln!(out, "{parted}{id}  {kind}  {line}-{last}  {hash}")?;
                out.document(source.text_of(at).as_bytes())?;
                out.document(b"\n")?;
            }
        }
        Ok(())
    }

    /// Prints the lines that are not printed yet, at once.
    fn print(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        out.write_all(std::mem::take(&mut self.lines).as_bytes())
    }
}

/// Returns a definition for a program, without its text.
pub(super) fn node_json(file: &SourceFile, at: usize) -> Value {
    let ((first, last), node) = (file.lines(at), &file.nodes[at]);
    json!({
        "id": file.id(at), "path": file.path, "kind": node.kind.word(), "lines": [first, last], "hash": file.hash(at),
    })
}

/// Ends an answer: prints it if it is JSON, and tells what it may lack.
fn end(place: &Place<'_>, mut out: Out<'_>, nodes: Vec<Value>, notes: &FindNotes) -> Result<u8, Failed> {
    if place.json {
        out.json(&with_notes(json!({"nodes": nodes}), notes))?;
    }
    out.flush()?;
    drop(out);
    tell_notes(notes, "definitions may be missing");
    Ok(DONE)
}

/// Returns an answer for a program with what it may lack.
pub(super) fn with_notes(mut answer: Value, notes: &FindNotes) -> Value {
    answer["errors"] = notes.errors.iter().map(|(path, line)| json!({"path": path, "line": line})).collect();
    answer["skipped"] = skipped_json(notes);
    answer
}

pub(super) fn skipped_json(notes: &FindNotes) -> Value {
    notes.skipped.iter().map(|(path, why)| json!({"path": path, "why": why})).collect()
}

/// Tells what an answer may lack; `so` is what syntax errors may have done to it.
pub(super) fn tell_notes(notes: &FindNotes, so: &str) {
    let errors: Vec<String> = notes.errors.iter().map(|(path, line)| format!("{path}:{line}")).collect();
    tell(&errors, &format!("syntax errors, so {so}"));
    let skipped: Vec<String> = notes.skipped.iter().map(|(_, why)| why.clone()).collect();
    tell(&skipped, "not read");
}

/// Tells on standard error what is the case with files, by the first of them.
fn tell(files: &[String], what: &str) {
    if files.is_empty() {
        return;
    }
    let more = files.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let named = files.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    out::aside(format_args!("{what}: {named}{more}"));
}
