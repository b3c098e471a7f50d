//! Reads the workspace's source files for the screen: their definitions by file, what one mentions and where it is
//! mentioned, and how it came to be.

use tokio_util::sync::CancellationToken;

use super::super::past::Causes;
use super::limits::{LINE, ROWS, clip, holds, limited};
use crate::agent::services::Services;
use crate::code::{self, CodeTarget, SourceFile, SourceLanguage};
use crate::definitions::{DefinitionFinder, FindNotes, FoundFile, SourceFiles};
use crate::messages::sources as say;
use crate::past::{DefinitionEdit, LineCause, PastError};
use crate::protocol::{DefinitionDetail, DefinitionRow, FaultRow, GraphLink, GraphLinks, GraphPage, OpRow};
use crate::text::definition::DefinitionChange;

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
    DefinitionFinder { workspace, folder: workspace.root().to_path_buf(), stop: stop.clone(), withholds_secrets: false }
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
    // A full page is no error: the visit ends with it.
    let _full = finder.read_each(&paths, &worth, |path, read| {
        if page.rows.len() >= limit {
            return Err(());
        }
        page.files_left -= 1;
        match read {
            Ok(Some(file)) => add_file(page, &file.source, filter, limit),
            Ok(None) => {}
            Err(_) if !holds(path, filter) => {}
            Err(why) => page.rows.push(fault_row(path, why.to_string())),
        }
        Ok(())
    });
    if stop.is_cancelled() {
        return Err(say::stopped().into());
    }
    page.trouble = page.trouble.take().or_else(|| notes.skipped.first().map(|(_, why)| why.clone()));
    Ok(())
}

fn add_file(page: &mut GraphPage, file: &SourceFile, filter: &str, limit: usize) {
    if let Some(error) = file.errors.first() {
        page.rows.push(fault_row(&file.path, say::syntax_error(&file.line(*error))));
    }
    page.total += file.nodes.len();
    for at in (0..file.nodes.len()).filter(|at| holds(&file.id(*at), filter)) {
        page.found += 1;
        if page.rows.len() < limit {
            page.rows.push(DefinitionRow {
                id: file.id(at),
                group: file.path.clone(),
                name: file.name(at),
                signature: file.signature(at).chars().take(LINE).collect(),
                errors: usize::from(file.nodes[at].broken),
                warnings: 0,
            });
        }
    }
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
    let uses = code::uses(&target, &sources).into_iter().map(|found| {
        let place = format!("{} {}", file.line(found.at.start), found.certainty.word());
        let id = found.used.file.id(found.used.at);
        GraphLink { name: id.clone(), id, place }
    });
    let uses = limited(uses.collect());
    let used_by = limited(used_by(&sources, &target));
    let (text, is_cut) = clip(file.text_of(at));
    let mut faults = faults(file, &sources.notes());
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
                _ => say::changed().into(),
            },
            summary: if cause.prompt.is_empty() { cause.title } else { cause.prompt },
        }
    };
    Ok((changes.iter().take(ROWS).map(row).collect(), older))
}
