//! `list` and `view`.

use std::io::Write;

use serde_json::{Value, json};

use super::args::ViewCode;
use super::failure::Failed;
use super::place::Place;
use crate::cli::files::DONE;
use crate::cli::out::{self, Out};
use crate::code::SourceFile;
use crate::definitions::{FindNotes, FoundFile};

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
    let (mut out, mut nodes, mut first_file) = (Out::stdout(), Vec::new(), true);
    let notes = place.finder.each(&selector, |file: FoundFile, found| -> Result<(), Failed> {
        let source = &file.source;
        if args.outline && !place.json {
            writeln!(out, "{}{}", if first_file { "" } else { "\n" }, source.path)?;
        }
        for (n, at) in found.into_iter().enumerate() {
            let signature = args.outline.then(|| source.signature(at));
            match (place.json, signature) {
                (true, signature) => {
                    let mut node = node_json(source, at);
                    node["text"] = signature.map_or_else(|| source.text_of(at).into(), Value::from);
                    nodes.push(node);
                }
                (false, Some(signature)) => {
                    let (indent, (line, _)) = ("  ".repeat(source.depth(at)), source.lines(at));
                    writeln!(out, "{line:>6}  {indent}{signature}")?;
                }
                (false, None) => {
                    let (parted, (first, last)) = (if first_file && n == 0 { "" } else { "\n" }, source.lines(at));
                    let (id, kind, hash) = (source.id(at), source.nodes[at].kind.word(), source.hash(at));
                    writeln!(out, "{parted}{id}  {kind}  {first}-{last}  {hash}")?;
                    out.document(source.text_of(at).as_bytes())?;
                    out.document(b"\n")?;
                }
            }
        }
        first_file = false;
        Ok(())
    })?;
    end(place, out, nodes, &notes)
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
