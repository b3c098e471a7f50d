//! `list` and `view`.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::args::ViewCode;
use super::failure::Failed;
use super::place::Place;
use crate::cli::out::{self, Out};
use crate::code::{CodeUses, SourceFile, uses};
use crate::definitions::{DefinitionFinder, FindFault, FindNotes, FoundFile, SourceFiles};

/// Files that a line about them names.
const NAMED: usize = 3;

pub(super) fn list(place: &Place<'_>, selector: &str) -> Result<Value, Failed> {
    let selector = place.finder.selector(selector)?;
    let (mut out, mut nodes, mut notes) = (Out::stdout(), Vec::new(), FindNotes::default());
    place.finder.each(&selector, &mut notes, |file: FoundFile, found| -> Result<(), Failed> {
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

pub(super) fn view(place: &Place<'_>, args: &ViewCode) -> Result<Value, Failed> {
    let mut shown = ShownCode { json: place.json, outline: args.outline, ..ShownCode::default() };
    let mut notes = FindNotes::default();
    each_shown(&place.finder, args, &mut notes, |source, at| -> Result<(), Failed> { Ok(shown.add(source, at)?) })?;
    let mut out = Out::stdout();
    shown.print(&mut out)?;
    end(place, out, shown.nodes, &notes)
}

/// Visits the definitions that a view shows, each once: what one mentions before itself, if that is asked for.
pub(super) fn each_shown<E: From<FindFault>>(
    finder: &DefinitionFinder<'_>,
    args: &ViewCode,
    notes: &mut FindNotes,
    mut show: impl FnMut(&SourceFile, usize) -> Result<(), E>,
) -> Result<(), E> {
    let selector = finder.selector(&args.selector).map_err(FindFault::from)?;
    let (mut ids, mut cut) = (HashSet::new(), Vec::new());
    let visited = finder.each(&selector, notes, |file: FoundFile, found| {
        if !args.with_deps {
            return found.into_iter().try_for_each(|at| show(&file.source, at));
        }
        let path = file.source.path.clone();
        let sources = SourceFiles::new(finder, file)?;
        for at in found {
            let target = sources.target(&path, at).map_err(FindFault::from)?;
            let CodeUses { found, is_cut } = uses(&target, &sources);
            cut.extend(is_cut.then(|| target.file.id(at)));
            let needed = found.into_iter().map(|needed| needed.used);
            for one in needed.chain([target.clone()]) {
                if ids.insert(one.file.id(one.at)) {
                    show(&one.file, one.at)?;
                }
            }
        }
        Ok(())
    });
    notes.skipped.extend(cut.into_iter().map(|id| (id.clone(), format!("{id} has more names than are followed"))));
    visited
}

/// The definitions that are shown.
#[derive(Default)]
struct ShownCode {
    json: bool,
    outline: bool,
    /// The lines of an outline that are not printed yet.
    lines: String,
    nodes: Vec<Value>,
    /// The file of the last one; none: it is the first.
    path: Option<String>,
}

impl ShownCode {
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

/// Ends an answer, and tells what it may lack.
fn end(place: &Place<'_>, mut out: Out<'_>, nodes: Vec<Value>, notes: &FindNotes) -> Result<Value, Failed> {
    out.flush()?;
    drop(out);
    tell_notes(place, notes, "definitions may be missing");
    Ok(with_notes(json!({"nodes": nodes}), notes))
}

/// Returns an answer for a program with what it may lack.
pub(super) fn with_notes(mut answer: Value, notes: &FindNotes) -> Value {
    answer["errors"] = notes.errors.iter().map(|(path, line)| json!({"path": path, "line": line})).collect();
    answer["skipped"] = skipped_json(notes);
    if !notes.without.is_empty() {
        answer["without_definitions"] = notes.without.clone().into();
    }
    answer
}

pub(super) fn skipped_json(notes: &FindNotes) -> Value {
    notes.skipped.iter().map(|(path, why)| json!({"path": path, "why": why})).collect()
}

/// Tells a person what an answer may lack; `so` is what syntax errors may have done to it. A program has it in the answer.
pub(super) fn tell_notes(place: &Place<'_>, notes: &FindNotes, so: &str) {
    if place.json {
        return;
    }
    notes.no_definitions().into_iter().for_each(|none| out::aside(format_args!("{none}")));
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
