//! Reads the workspace's source files for the screen: their definitions by file, what one mentions and where it is
//! mentioned, and how it came to be.

use std::convert::Infallible;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::super::past::Causes;
use super::limits::{LINE, ROWS, clip, holds, limited};
use crate::agent::background::graph_reads::FileOutline;
use crate::agent::services::Services;
use crate::code::{self, CodeTarget, CodeUses, SourceFile, SourceLanguage};
use crate::definitions::{DefinitionFinder, FindNotes, FoundFile, SecretFiles, SourceFiles};
use crate::messages::sources as say;
use crate::past::{DefinitionEdit, LineCause, PastError};
use crate::protocol::{DefinitionDetail, DefinitionRow, FaultRow, GraphLink, GraphLinks, GraphPage, OpRow};
use crate::text::definition::DefinitionChange;
use crate::workspace::Stamp;

/// Files that are looked at together, before the page is looked at again.
const AT_ONCE: usize = 64;
/// Files that are not read which are named beside references.
const NAMED: usize = 3;

/// Returns whether this is the identity of something in a source file.
pub fn has(id: &str) -> bool {
    SourceLanguage::of_path(parts(id).0).is_some()
}

/// Returns the path in an identity, and the name in that file; none: the file itself.
fn parts(id: &str) -> (&str, Option<&str>) {
    id.split_once("::").map_or((id, None), |(path, name)| (path, Some(name)))
}

fn finder<'a>(services: &'a Services, stop: &CancellationToken) -> DefinitionFinder<'a> {
    let workspace = &*services.workspace;
    DefinitionFinder {
        workspace,
        folder: workspace.root().to_path_buf(),
        stop: stop.clone(),
        secrets: SecretFiles::Shown,
    }
}

/// Adds the definitions of source files to a page, by file, until it holds `limit` rows. A file that is not read whole
/// has a row of its own, which says why.
///
/// # Errors
/// When it was stopped, or the workspace cannot be walked, in words.
pub fn add(
    page: &mut GraphPage,
    services: &Services,
    stop: &CancellationToken,
    filter: &str,
    limit: usize,
) -> Result<(), String> {
    let (finder, mut notes) = (finder(services, stop), FindNotes::default());
    let all = code::NodeSelector::parse("**").map_err(|fault| fault.to_string())?;
    let paths: Vec<String> = finder.paths(&all, &mut notes).map_err(|fault| fault.to_string())?.into_iter().collect();
    (page.files, page.files_left) = (paths.len(), paths.len());
    let worth = |path: &str, bytes: &[u8]| may_hold(path, bytes, filter);
    'full: for some in paths.chunks(AT_ONCE) {
        let outlines = outlines(services, &finder, some, &worth);
        for outline in outlines {
            if page.rows.len() >= limit || stop.is_cancelled() {
                break 'full;
            }
            page.files_left -= 1;
            outline.iter().for_each(|outline| add_file(page, outline, filter, limit));
        }
    }
    if stop.is_cancelled() {
        return Err(say::stopped().into());
    }
    page.trouble = page.trouble.take().or_else(|| notes.skipped.first().map(|(_, why)| why.clone()));
    Ok(())
}

/// Returns the outlines of some files, in their order; none: a file is not worth it. Those that are known from before are
/// not read again.
fn outlines(
    services: &Services,
    finder: &DefinitionFinder<'_>,
    paths: &[String],
    worth: &(impl Fn(&str, &[u8]) -> bool + Sync),
) -> Vec<Option<Arc<FileOutline>>> {
    let stamps = finder.stamps(paths);
    let known = |(path, stamp): (&String, &Option<Stamp>)| services.graph.outline(path, (*stamp)?);
    let mut outlines: Vec<Option<Arc<FileOutline>>> = paths.iter().zip(&stamps).map(known).collect();
    let unknown: Vec<usize> = (0..paths.len()).filter(|at| outlines[*at].is_none()).collect();
    let asked: Vec<String> = unknown.iter().map(|at| paths[*at].clone()).collect();
    let mut next = unknown.into_iter();
    let read = finder.read_each(&asked, worth, |path, read| {
        let outline = match read {
            Ok(Some(file)) => Some(outline(&file.source)),
            Ok(None) => None,
            Err(why) => Some(FileOutline { fault: Some(fault_row(path, why.to_string())), definitions: Vec::new() }),
        };
        if let (Some(at), Some(outline)) = (next.next(), outline.map(Arc::new)) {
            if let Some(stamp) = stamps[at] {
                services.graph.keep(path, stamp, Arc::clone(&outline), &finder.stop);
            }
            outlines[at] = Some(outline);
        }
        Ok::<(), Infallible>(())
    });
    read.unwrap_or_else(|never| match never {});
    outlines
}

fn outline(file: &SourceFile) -> FileOutline {
    let row = |at: usize| DefinitionRow {
        id: file.id(at),
        group: file.path.clone(),
        name: file.name(at),
        signature: file.signature(at).chars().take(LINE).collect(),
        errors: usize::from(file.nodes[at].broken),
        warnings: 0,
    };
    let error = file.errors.first();
    let fault = error.map(|error| fault_row(&file.path, say::syntax_error(&file.line(*error))));
    FileOutline { fault, definitions: (0..file.nodes.len()).map(row).collect() }
}

/// Adds a file: the definitions that the filter leaves, and before them why others may be missing.
fn add_file(page: &mut GraphPage, file: &FileOutline, filter: &str, limit: usize) {
    page.total += file.definitions.len();
    let left: Vec<&DefinitionRow> = file.definitions.iter().filter(|row| holds(&row.id, filter)).collect();
    if let Some(fault) = file.fault.as_ref().filter(|fault| !left.is_empty() || holds(&fault.group, filter)) {
        page.faults += 1;
        page.rows.push(fault.clone());
    }
    page.found += left.len();
    let room = limit.saturating_sub(page.rows.len());
    page.rows.extend(left.into_iter().take(room).cloned());
}

/// Returns the row of a file that is not read whole.
fn fault_row(path: &str, why: String) -> DefinitionRow {
    let (id, group) = (path.to_owned(), path.to_owned());
    DefinitionRow { id, group, name: why, signature: String::new(), errors: 1, warnings: 0 }
}

/// Returns whether a file may define something whose path and name hold these words.
fn may_hold(path: &str, bytes: &[u8], words: &str) -> bool {
    // Only a word that is part of one name, or of the path, can be looked for in the bytes.
    let is_plain = |word: &&str| {
        word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && !word.bytes().all(|b| b.is_ascii_digit())
    };
    let mut plain = words.split_whitespace().filter(is_plain).map(str::to_ascii_lowercase).peekable();
    if plain.peek().is_none() {
        return true;
    }
    let (path, text) = (path.to_lowercase(), bytes.to_ascii_lowercase());
    plain.all(|word| path.contains(&word) || memchr::memmem::find(&text, word.as_bytes()).is_some())
}

/// Returns a definition, or a file, with what is around it.
///
/// # Errors
/// When it is gone or cannot be read, or it was stopped, in words.
pub fn definition(services: &Services, stop: &CancellationToken, id: &str) -> Result<DefinitionDetail, String> {
    let (finder, (path, name)) = (finder(services, stop), parts(id));
    let read = finder.read_file(path, |_| true).map_err(|fault| fault.to_string())?;
    let file = read.ok_or_else(|| say::gone().to_owned())?;
    let at = match name {
        None => return Ok(of_file(&file.source)),
        Some(name) => (0..file.source.nodes.len()).find(|at| file.source.name(*at) == name),
    };
    let at = at.ok_or_else(|| say::gone().to_owned())?;
    let found = of_definition(services, &finder, file, at)?;
    if stop.is_cancelled() { Err(say::stopped().into()) } else { Ok(found) }
}

fn of_definition(
    services: &Services,
    finder: &DefinitionFinder<'_>,
    file: FoundFile,
    at: usize,
) -> Result<DefinitionDetail, String> {
    let path = file.source.path.clone();
    let sources = SourceFiles::new(finder, file).map_err(|fault| fault.to_string())?;
    let target = sources.target(&path, at).map_err(|fault| fault.to_string())?;
    let file = &target.file;
    let CodeUses { found, is_cut: uses_cut } = code::uses(&target, &sources);
    let uses = found.into_iter().map(|found| {
        let place = format!("{} {}", file.line(found.at.start), found.certainty.word());
        let id = found.used.file.id(found.used.at);
        GraphLink { name: id.clone(), id, place }
    });
    let uses = limited(uses.collect());
    let used_by = limited(used_by(&sources, &target));
    let (text, is_cut) = clip(file.text_of(at));
    let mut faults = faults(file, &sources.notes());
    if uses_cut {
        faults.push(FaultRow { code: String::new(), message: say::uses_cut().into(), is_warning: true });
    }
    let (history, older) = history(services, &finder.stop, file, at).unwrap_or_else(|error| {
        faults.push(FaultRow { code: String::new(), message: error.to_string(), is_warning: true });
        (Vec::new(), 0)
    });
    Ok(DefinitionDetail {
        id: file.id(at),
        name: file.id(at),
        text: text.into(),
        is_cut,
        is_file: false,
        faults,
        uses,
        used_by,
        history,
        older,
    })
}

/// Returns the places that mention a definition, the most certain first.
fn used_by(sources: &SourceFiles<'_>, target: &CodeTarget) -> Vec<GraphLink> {
    let own = &target.node().range;
    let is_own = |path: &str, at: usize| path == target.file.path && own.contains(&at);
    let mut found = sources.mentions(target);
    found.retain(|one| !is_own(&one.file.path, one.mention.at.start));
    found.sort_by_key(|one| std::cmp::Reverse(one.mention.certainty));
    let link = |one: &crate::definitions::FoundMention| {
        let id = one.within().unwrap_or_else(|| one.file.path.clone());
        GraphLink { name: id.clone(), id, place: format!("{} {}", one.line(), one.mention.certainty.word()) }
    };
    found.iter().map(link).collect()
}

/// Returns what a file's definitions and the references to them may lack.
fn faults(file: &SourceFile, notes: &FindNotes) -> Vec<FaultRow> {
    let fault = |message: String, is_warning| FaultRow { code: String::new(), message, is_warning };
    let own = file.errors.first().map(|error| fault(say::syntax_error(&file.line(*error)), false));
    let others = notes.errors.iter().filter(|(path, _)| *path != file.path);
    let others = others.map(|(path, line)| format!("{path}: {}", say::syntax_error(line)));
    let unread = notes.skipped.iter().map(|(_, why)| say::not_read(why)).chain(others);
    own.into_iter().chain(unread.take(NAMED).map(|words| fault(words, true))).collect()
}

/// Returns a file: its definitions in outline.
fn of_file(file: &SourceFile) -> DefinitionDetail {
    let line = |at: usize| format!("{}{}\n", "  ".repeat(file.depth(at)), file.signature(at));
    let outline: String = (0..file.nodes.len()).map(line).collect();
    let (text, is_cut) = clip(&outline);
    DefinitionDetail {
        id: file.path.clone(),
        name: file.path.clone(),
        text: text.into(),
        is_cut,
        is_file: true,
        faults: faults(file, &FindNotes::default()),
        uses: GraphLinks::default(),
        used_by: GraphLinks::default(),
        history: Vec::new(),
        older: 0,
    }
}

/// Returns the changes of a definition that are archived, newest first, and the number of those that are left out.
///
/// # Errors
/// When archive or memory cannot be read.
fn history(
    services: &Services,
    stop: &CancellationToken,
    file: &SourceFile,
    at: usize,
) -> Result<(Vec<OpRow>, usize), PastError> {
    let mut causes = Causes::new(services);
    let changes = causes.changes(file, at, stop)?;
    let older = changes.len().saturating_sub(ROWS);
    let row = |change: &DefinitionEdit| {
        let cause = causes.of(LineCause::Changeset { id: change.id, unsure: change.unsure });
        OpRow {
            at: change.id.at(),
            author: if change.unsure { say::unsure() } else { say::by_nebula() }.into(),
            kind: match (change.change, &change.renamed) {
                (DefinitionChange::New, _) => say::added().into(),
                (DefinitionChange::Removed, _) => say::removed().into(),
                (DefinitionChange::Renamed, Some(before)) => say::renamed_from(before),
                (DefinitionChange::RenamedAndChanged, Some(before)) => say::renamed_and_changed_from(before),
                _ => say::changed().into(),
            },
            summary: if cause.prompt.is_empty() { cause.title } else { cause.prompt },
        }
    };
    Ok((changes.iter().take(ROWS).map(row).collect(), older))
}
