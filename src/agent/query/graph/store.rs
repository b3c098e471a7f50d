//! Reads a Strand store for the screen: what `strand list`, `view`, `refs`, `history` and `conflicts` read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::limits::{LINE, ROWS, clip, holds, limited};
use crate::messages::strand as say;
use crate::protocol::{
    ConflictChoice, ConflictRow, DefinitionDetail, DefinitionRow, FaultRow, GraphLink, GraphPage, OpRow,
};
use crate::strand::check::Checks;
use crate::strand::check::render;
use crate::strand::cli::{issuer, store_of, unknown_store};
use crate::strand::conflicts::{self, Conflicts};
use crate::strand::findings::Finding;
use crate::strand::id::{DefId, Layer, OpId, QName};
use crate::strand::issue::references;
use crate::strand::lang::ast::To;
use crate::strand::store::Conflict;
use crate::strand::store::Error;
use crate::strand::store::Store;

/// Returns the folder of the store in a workspace: the one that commands there work on, else the first of several. One in
/// a folder around it is no part of it.
pub fn find(root: &Path) -> Option<PathBuf> {
    store_of(root).or_else(|| Store::below(root).into_iter().next())
}

/// Returns what the environment names as the store, where that is none of a workspace's, in words.
pub fn unknown(root: &Path) -> Option<String> {
    unknown_store(root).map(|named| say::unknown_store(&named.display()))
}

/// Returns the names of the stores directly in a workspace beside the one that is shown.
pub fn beside(root: &Path, shown: &Path) -> Vec<String> {
    let others = Store::below(root).into_iter().filter(|store| shown != root && store != shown);
    others.filter_map(|store| Some(store.file_name()?.to_string_lossy().into_owned())).collect()
}

fn open(root: &Path) -> Result<Store, String> {
    Store::open(root).map_err(words)
}

fn words(error: Error) -> String {
    error.to_string()
}

/// Returns the first `limit` definitions whose names hold all words of a filter, and the conflicts that do.
///
/// # Errors
/// When the store cannot be read.
pub fn page(root: &Path, filter: &str, limit: usize) -> Result<GraphPage, String> {
    let store = open(root)?;
    let state = store.state();
    let (mut ids, mut found, mut total) = (Vec::new(), 0, 0);
    for layer in Layer::ALL {
        for label in state.labels(layer) {
            total += 1;
            if !holds(&format!("{layer}.{label}"), filter) {
                continue;
            }
            found += 1;
            if ids.len() < limit {
                ids.extend(state.find_id(layer, &label));
            }
        }
    }
    let which: BTreeSet<DefId> = ids.iter().copied().collect();
    let checks = Checks::of_some(state, &store.config().capabilities, &which);
    let row = |id: DefId| {
        let view = state.reading(id)?;
        let warnings = checks.of(id).iter().filter(|found| found.fault.is_warning()).count();
        Some(DefinitionRow {
            id: id.to_string(),
            group: view.layer.to_string(),
            name: view.label.clone(),
            signature: signature(&view.body_text()),
            errors: checks.of(id).len() - warnings,
            warnings,
        })
    };
    let rows = ids.into_iter().filter_map(row).collect();
    let mut conflicts = conflict_rows(&store)?;
    conflicts.retain(|conflict| holds(&conflict.about, filter) || holds(&conflict.id, filter));
    conflicts.truncate(limit);
    // What was read from a damaged checkpoint does not count; what precedes damage in the log does.
    store.sound().map_err(words)?;
    let trouble = store.whole().err().map(words);
    let place = root.display().to_string();
    let beside = Vec::new();
    Ok(GraphPage { place, beside, trouble, conflicts, rows, faults: 0, found, total, files: 0, files_left: 0 })
}

/// Returns a definition's parameters and type: the first line of its body, up to what it is made of.
fn signature(body: &str) -> String {
    let first = body.lines().next().unwrap_or_default();
    first.split_once(" =").map_or(first, |(head, _)| head).chars().take(LINE).collect()
}

fn conflict_rows(store: &Store) -> Result<Vec<ConflictRow>, String> {
    let Conflicts { recorded, merged } = conflicts::list(store, false).map_err(words)?;
    let recorded = recorded.iter().map(|conflict| recorded_row(store, conflict));
    Ok(recorded.chain(merged.iter().map(|finding| finding_row(store, finding))).collect())
}

fn recorded_row(store: &Store, conflict: &Conflict) -> ConflictRow {
    let ops = conflicts::ops_of(conflict);
    let lines = ops.iter().map(|op| {
        let said = op.body.as_deref().map_or_else(|| op.summary(), str::to_owned);
        let head = format!("{} {}.{} {}", op.kind.word(), op.layer, op.name, op.author);
        if said.trim().is_empty() { head } else { format!("{head}: {said}") }
    });
    let lost = lines.collect::<Vec<_>>().join("\n");
    ConflictRow {
        id: conflict.id.clone(),
        kind: format!("{} {}", conflict.kind, conflict.status),
        about: conflicts::about(conflict),
        message: String::new(),
        lost: clip(&lost).0.to_owned(),
        definition: ops.iter().find_map(|op| link(store, op.target())),
        can_take: !ops.is_empty(),
    }
}

fn finding_row(store: &Store, finding: &Finding) -> ConflictRow {
    let named = QName::parse(&finding.location).and_then(|qname| store.state().find_id(qname.layer, &qname.name));
    ConflictRow {
        id: finding.id(),
        kind: finding.kind.to_owned(),
        about: finding.location.clone(),
        message: finding.message.clone(),
        lost: clip(finding.lost.as_deref().unwrap_or_default()).0.to_owned(),
        definition: named.and_then(|id| link(store, id)),
        can_take: !finding.draft.is_null(),
    }
}

/// Returns a reference to a definition that can be seen.
fn link(store: &Store, id: DefId) -> Option<GraphLink> {
    let view = store.state().reading(id).filter(|view| view.visible())?;
    Some(GraphLink { id: id.to_string(), name: view.qname().to_string(), place: String::new() })
}

/// Returns a definition with what is around it.
///
/// # Errors
/// When it is gone, or the store cannot be read.
pub fn definition(root: &Path, id: &str) -> Result<DefinitionDetail, String> {
    let store = open(root)?;
    let state = store.state();
    let visible = OpId::parse(id).and_then(|id| state.reading(id)).filter(|view| view.visible());
    let view = visible.ok_or_else(|| say::definition_gone().to_string())?;
    let checks = Checks::of_some(state, &store.config().capabilities, &BTreeSet::from([view.id]));
    let faults = render(state, checks.of(view.id)).into_iter();
    let mut history = store.history(view.id);
    history.reverse();
    let older = history.len().saturating_sub(ROWS);
    let history = history.iter().take(ROWS).map(|op| OpRow {
        at: op.ts,
        author: op.author.to_string(),
        kind: op.kind.word().to_owned(),
        summary: op.summary().chars().take(LINE).collect(),
    });
    let (text, is_cut) = clip(view.text());
    let detail = DefinitionDetail {
        id: view.id.to_string(),
        name: view.qname().to_string(),
        text: text.into(),
        is_cut,
        is_file: false,
        faults: faults
            .map(|fault| FaultRow { code: fault.code.to_owned(), message: fault.message, is_warning: fault.warning })
            .collect(),
        uses: limited(uses(&store, view.id)),
        used_by: limited(used_by(&store, view.id)),
        history: history.collect(),
        older,
    };
    store.sound().map_err(words)?;
    Ok(detail)
}

/// Returns what a definition refers to, each once, by the place that mentions it first; last what it is linked to.
fn uses(store: &Store, id: DefId) -> Vec<GraphLink> {
    let Some(view) = store.state().reading(id) else { return Vec::new() };
    let mut seen = BTreeSet::from([id]);
    let referred = view.edges.iter().filter_map(|edge| match edge.to {
        To::Def(to) => Some((to, edge.place.to_string())),
        _ => None,
    });
    let linked = view.links.iter().map(|id| (*id, "link".to_owned()));
    let each = referred.chain(linked).filter(|(id, _)| seen.insert(*id));
    each.filter_map(|(id, place)| Some(GraphLink { place, ..link(store, id)? })).collect()
}

/// Returns the places that refer to a definition.
fn used_by(store: &Store, id: DefId) -> Vec<GraphLink> {
    let places = references(store.state(), id).places().into_iter();
    let row = |place: String| {
        let (name, unit) = place.rsplit_once(':')?;
        let qname = QName::parse(name)?;
        let id = store.state().find_id(qname.layer, &qname.name)?;
        Some(GraphLink { id: id.to_string(), name: name.to_owned(), place: unit.to_owned() })
    };
    places.filter_map(row).collect()
}

/// Decides a conflict as `strand conflicts` does, as the author that it would have. Returns what was done.
///
/// # Errors
/// When the conflict is gone or no longer the one that was shown, holds nothing to issue, the ops are refused, or the
/// store is damaged; nothing is written then.
pub fn decide(root: &Path, shown: &ConflictRow, choice: ConflictChoice) -> Result<String, String> {
    let mut store = open(root)?;
    let id = &shown.id;
    match conflict_rows(&store)?.iter().find(|row| row.id == *id) {
        Some(row) if row == shown => {}
        Some(_) => return Err(say::conflict_changed(id)),
        // Decided meanwhile.
        None => return Err(words(Error::NotFound(format!("there is no conflict {id}")))),
    }
    let (issuer, _) = issuer(None, &store).map_err(words)?;
    let known = conflicts::list(&store, false).map_err(words)?;
    // Of all that was read so far.
    store.sound().map_err(words)?;
    let done = match choice {
        ConflictChoice::Keep => conflicts::keep(&store, &known, id).map(|()| say::conflict_kept(id)),
        ConflictChoice::Take => conflicts::take(&mut store, &known, id, &issuer).map(|taken| {
            let (ops, faults) = (taken.written.ops.len(), taken.written.new_faults.len());
            match taken.unmarked {
                Some(error) => say::conflict_unmarked(ops, id, &words(error)),
                None if faults == 0 => say::conflict_taken(ops, id),
                None => say::conflict_taken_faults(ops, id, &faults),
            }
        }),
    };
    let done = done.map_err(words)?;
    store.checkpoint();
    Ok(done)
}
