//! The checkpoint: definitions, ops and edges in SQLite, so that a command reads what it touches and no more.
//!
//! It can be deleted at any time: the log is the truth. It may lag behind the log, whose tail is then replayed.

mod diagnostics;
mod pack;
mod schema;
mod source;
mod spots;
mod stand;
pub(super) mod sum;
mod trust;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{ErrorCode, OpenFlags, OptionalExtension, Transaction, params, params_from_iter};

use super::Log;
use super::position::{Chain, LogPosition};
use crate::strand::graph::{Graph, Node};
use crate::strand::id::{DefId, Layer, OpId};
use crate::strand::lazy::{IdSet, Line};
use crate::strand::op::Kind;
use crate::strand::state::{State, View, Visibility, Watch};
pub use diagnostics::{keep as keep_diagnostics, read as diagnostics};
use schema::{
    ABSORBED, DEAD, SCHEMA, VISIBLE, VOID, column, configure, kind, make_tables, open_database, path, put_row,
};
pub use source::{Opened, Source};
use spots::Spot;
#[cfg(test)]
pub(in crate::strand::store) use stand::MOST_HELD;
pub(in crate::strand::store) use stand::MOST_HELD_WRITING;

/// The greatest length of the write-ahead log, in bytes.
const LONG_WAL: u64 = 512 << 10;

/// The most memory for pages while a checkpoint is written, in KiB: with less, pages go out and come back.
const WRITER_CACHE: i64 = 16 << 10;

/// The position that a checkpoint is brought up to.
pub struct Progress<'p> {
    /// The state at `end`.
    pub state: &'p State,
    /// Definitions that changed since `from`.
    pub touched: &'p IdSet,
    /// Ops since `from`, with their places; all ops where `from` is none.
    pub placed: &'p BTreeMap<OpId, LogPosition>,
    /// The position the checkpoint must have for these changes to be all; none: it is made again.
    pub from: Option<u64>,
    /// The end of the log.
    pub end: u64,
    /// The sum of its last commit line.
    pub sum: &'p str,
    /// The chained sums of all its commit lines.
    pub chain: &'p Chain,
    /// Ops withdrawn and not accepted again.
    pub withdrawn: &'p HashSet<OpId>,
}

/// A definition as the checkpoint has it for a plain listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingRow {
    /// Its layer.
    pub layer: Layer,
    /// Its label.
    pub label: String,
    /// `h:` and its hash.
    pub hash: String,
    /// Its canonical text.
    pub text: String,
}

/// Returns the visible definitions of a store, straight from its checkpoint; `None` if there is none that stands where
/// the log ends. `exact` asks for one name only.
pub fn read(root: &Path, layer: Option<Layer>, exact: Option<&str>) -> Option<Vec<ListingRow>> {
    let log = Log::new(root.join(".strand/op-log.jsonl"));
    if !trust::is_stamped(root) {
        return None;
    }
    let db = open_database(&path(root), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    db.execute_batch("BEGIN").ok()?;
    let stands = source::stands_at(&db).ok()??;
    log.check_form().ok()?;
    if log.length().ok()? != stands.offset || !log.has_commit(stands.offset, &stands.sum).ok()? || !stands.is_of(&log) {
        return None;
    }
    let sql = match exact {
        Some(_) => "SELECT * FROM defs WHERE layer = ?1 AND name = ?2",
        None => "SELECT * FROM defs WHERE (?1 IS NULL OR layer = ?1) AND ?2 IS NULL",
    };
    let mut statement = db.prepare(sql).ok()?;
    let mut found = statement.query(params![layer.map(|layer| layer as i64), exact]).ok()?;
    let mut rows = Vec::new();
    while let Some(row) = found.next().ok()? {
        sum::holds(row).ok()?;
        if row.get::<_, i64>(column::STATE).ok()? != VISIBLE {
            continue;
        }
        let (label, name): (String, String) = (row.get(column::LABEL).ok()?, row.get(column::NAME).ok()?);
        if exact.is_some() && label != name {
            continue;
        }
        let layer = *Layer::ALL.get(usize::try_from(row.get::<_, i64>(column::LAYER).ok()?).ok()?)?;
        let hash: Vec<u8> = row.get(column::HASH).ok()?;
        let hash = format!("h:{}", blake3::Hash::from_bytes(hash.try_into().ok()?).to_hex());
        rows.push(ListingRow { layer, label, hash, text: row.get(column::TEXT).ok()? });
    }
    rows.sort_by(|a, b| (a.layer, &a.label).cmp(&(b.layer, &b.label)));
    Some(rows)
}

/// Removes a checkpoint that cannot be used.
pub fn remove(root: &Path) {
    for suffix in ["", "-wal", "-shm", "-stamp"] {
        let mut name = path(root).into_os_string();
        name.push(suffix);
        // It may not exist; if it cannot be removed, writing it anew fails.
        let _ = std::fs::remove_file(name);
    }
}

/// Brings the checkpoint to where the log ends. Says what went wrong, if something did: the log is
/// the truth, so nothing is lost by it.
pub fn write(root: &Path, log: &Log, progress: &Progress) -> Result<(), String> {
    let mut trusted = !path(root).exists() || trust::is_stamped(root);
    if progress.from.is_none() && !trusted {
        remove(root);
        trusted = true;
    }
    let first = attempt(root, log, progress);
    let describe = |error: rusqlite::Error| format!("the checkpoint could not be written: {error}");
    let done = match &first {
        // The present checkpoint is sound; another process or the disk is in the way.
        Err(rusqlite::Error::SqliteFailure(failure, _)) if !is_damage(failure.code) => first.map_err(describe),
        Err(_) => {
            remove(root);
            trusted = true;
            attempt(root, log, progress).map_err(describe)
        }
        Ok(()) => Ok(()),
    };
    if trusted && done.is_ok() {
        trust::stamp(root);
    }
    done
}

fn is_damage(code: ErrorCode) -> bool {
    !matches!(
        code,
        ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied
            | ErrorCode::SystemIoFailure
            | ErrorCode::OutOfMemory
    )
}

fn attempt(root: &Path, log: &Log, progress: &Progress) -> rusqlite::Result<()> {
    let mut db = open_database(&path(root), OpenFlags::default())?;
    configure(&db)?;
    schema::set_cache(&db, WRITER_CACHE)?;
    make_tables(&db).or_else(|_| {
        db.execute_batch("DROP TABLE IF EXISTS meta; DROP TABLE IF EXISTS defs; DROP TABLE IF EXISTS edges;")?;
        make_tables(&db)
    })?;
    // Another process may have written a newer one meanwhile, which then stays.
    let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let stood = source::stands_at(&tx)?.filter(|at| log.has_commit(at.offset, &at.sum).unwrap_or(false));
    let stood = stood.map(|at| at.offset);
    // A position in a replaced log is of no use.
    if !log.has_commit(progress.end, progress.sum).unwrap_or(false) {
        return Ok(());
    }
    let state = progress.state;
    match (progress.from, stood) {
        (_, Some(stood)) if stood > progress.end => return Ok(()),
        (Some(from), Some(stood)) if from <= stood => {
            diagnostics::forget(&tx, state, progress.touched)?;
            put(&tx, state, progress.touched, progress.placed)?;
        }
        // A state that loads from a checkpoint knows only its own changes.
        _ if !state.is_whole() => return Ok(()),
        _ => {
            tx.execute_batch("DELETE FROM defs; DELETE FROM ops; DELETE FROM edges; DELETE FROM diags;")?;
            let all: IdSet = state.graph().definitions().into_iter().collect();
            put(&tx, state, &all, progress.placed)?;
        }
    }
    let contested: Vec<Vec<u8>> = state.contested().map(|(layer, name)| pack::name(*layer, name)).collect();
    let log_stamp = trust::log_stamp(log).filter(|(length, _)| *length == progress.end);
    let meta: Vec<(&str, Value)> = vec![
        ("schema", SCHEMA.into()),
        ("log_offset", (progress.end as i64).into()),
        ("log_sum", progress.sum.to_owned().into()),
        ("log_chain", progress.chain.to_vec().into()),
        ("log_stamp", log_stamp.map_or(0, |(_, time)| time).into()),
        ("ops", (state.graph().len() as i64).into()),
        ("contested", contested.join(&b'\n').into()),
        ("withdrawn", pack::ids(progress.withdrawn.iter().copied()).into()),
    ];
    let mut set = tx.prepare("INSERT OR REPLACE INTO meta VALUES (?1, ?2)")?;
    for (key, value) in &meta {
        set.execute(params![key, value])?;
    }
    set.execute(params!["sum", sum::of_meta(meta.iter().map(|(key, value)| (*key, value)))])?;
    drop(set);
    tx.commit()?;
    Ok(())
}

/// Folds a write-ahead log that has grown into the database. An open reader prevents it from being emptied; then a
/// later writer does it.
pub fn fold(root: &Path) {
    let mut name = path(root).into_os_string();
    name.push("-wal");
    if std::fs::metadata(name).is_ok_and(|meta| meta.len() > LONG_WAL) {
        let trusted = trust::is_stamped(root);
        // The data is in one of the two files in any case: a failure costs the next reader a little time.
        let _ = open_database(&path(root), OpenFlags::default()).and_then(|db| {
            db.busy_timeout(std::time::Duration::ZERO)?;
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        });
        if trusted {
            trust::stamp(root);
        }
    }
}

fn put(tx: &Transaction, state: &State, touched: &IdSet, placed: &BTreeMap<OpId, LogPosition>) -> rusqlite::Result<()> {
    let graph = state.graph();
    let mut edges: BTreeMap<EdgeRow, Option<Vec<u8>>> = BTreeMap::new();
    let mut insert = tx.prepare("INSERT OR REPLACE INTO ops VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for (id, place) in placed {
        let Some(node) = graph.light(*id) else { continue };
        let op = id.to_bytes();
        let row = [
            ValueRef::Blob(&op),
            ValueRef::Integer(place.offset as i64),
            ValueRef::Integer(place.length.into()),
            ValueRef::Integer(place.sum),
            ValueRef::Integer(node.max_ts),
            ValueRef::Integer(node.anchored.into()),
            node.void.as_deref().map_or(ValueRef::Null, ValueRef::from),
        ];
        put_row(&mut insert, &row)?;
        edges.extend(held_names(graph, node).into_iter().map(|key| ((kind::HELD, key, node.op.target()), None)));
    }
    let mut ids: Vec<DefId> = touched.iter().copied().collect();
    ids.sort_unstable();
    put_definitions(tx, state, (&ids, placed), &mut edges)?;
    let mut add = tx.prepare("INSERT OR REPLACE INTO edges VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for ((kind, key, src), places) in edges {
        let (src, places) = (src.to_bytes(), places.as_deref().map_or(ValueRef::Null, ValueRef::Blob));
        put_row(&mut add, &[ValueRef::Integer(kind.into()), ValueRef::Blob(&key), ValueRef::Blob(&src), places])?;
    }
    Ok(())
}

/// Kind, what it is about, and whose it is.
type EdgeRow = (u8, Vec<u8>, DefId);

/// Returns the names a definition may hold no more once this op is there. What the only `add` says is its name until
/// another op names it.
fn held_names(graph: &Graph, node: &Node) -> Vec<Vec<u8>> {
    let name = match node.op.kind {
        _ if node.void.is_some() => None,
        Kind::Add if node.op.def.is_some() => Some(&*node.op.name),
        Kind::Rename => node.op.name_new(),
        _ => None,
    };
    let Some(name) = name else { return Vec::new() };
    let first = graph.light(node.op.target()).map(|add| &*add.op.name);
    first.into_iter().chain([name]).map(|name| pack::name(node.op.layer, name)).collect()
}

/// Writes the rows of definitions, takes out edges they have no more, and collects those that are new or changed.
fn put_definitions(
    tx: &Transaction,
    state: &State,
    (ids, placed): (&[DefId], &BTreeMap<OpId, LogPosition>),
    edges: &mut BTreeMap<EdgeRow, Option<Vec<u8>>>,
) -> rusqlite::Result<()> {
    let mut find = tx.prepare("SELECT * FROM defs WHERE def = ?1")?;
    let mut delete = tx.prepare("DELETE FROM defs WHERE def = ?1")?;
    let mut cut = tx.prepare("DELETE FROM edges WHERE kind = ?1 AND key = ?2 AND src = ?3")?;
    // A definition with the same name keeps its place in the indexes.
    let mut update = tx.prepare(
        "UPDATE defs SET state = ?5, claim = ?6, by_add = ?7, epoch = ?8, absorber = ?9, settled = ?10, hash = ?11,
            text = ?12, deps = ?13, watch = ?14, ops = ?15, heads = ?16, forked = ?17, hidden = ?18, roles = ?19,
            alone = ?20, sum = ?21
            WHERE def = ?1 AND layer = ?2 AND label IS ?3 AND name IS ?4",
    )?;
    let mut insert = tx.prepare(
        "INSERT OR REPLACE INTO defs
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
    )?;
    for id in ids {
        let key = id.to_bytes();
        let old = find.query_row([&key[..]], source::stored).optional()?;
        let is_there = old.is_some();
        let (old, spots) = old.unwrap_or_default();
        let row = state.held(*id);
        let none = Watch::default();
        let now = row.map_or(&none, View::watch);
        if old != *now {
            let (old, now) = (edges_of(*id, &old), edges_of(*id, now));
            for (kind, about, src) in old.keys().filter(|edge| !now.contains_key(*edge)) {
                cut.execute(params![kind, about, src.to_bytes()])?;
            }
            edges.extend(now.into_iter().filter(|(edge, places)| old.get(edge) != Some(places)));
        }
        let Some(lattice) = state.graph().lattice(*id) else {
            delete.execute([&key[..]])?;
            continue;
        };
        let (ops, heads) = (pack::ids(lattice.ops.iter().copied()), pack::ids(lattice.heads.iter().copied()));
        let mut cells = vec![Value::Null; column::ALONE + 1];
        cells[column::DEF] = key.to_vec().into();
        cells[column::LAYER] = (lattice.layer as i64).into();
        cells[column::STATE] = VOID.into();
        cells[column::OPS] = ops.into();
        cells[column::HEADS] = heads.into();
        cells[column::FORKED] = i64::from(lattice.forked).into();
        if let Some(row) = row {
            put_view(&mut cells, row);
            cells[column::ALONE] = i64::from(state.is_only_claimant(row)).into();
            cells[column::ROLES] = packed_line(state.graph(), row, (&spots, placed)).into();
        }
        cells.push(sum::of_row(cells.iter().map(ValueRef::from)).into());
        if !is_there || update.execute(params_from_iter(&cells))? == 0 {
            insert.execute(params_from_iter(&cells))?;
        }
    }
    Ok(())
}

/// Returns the packed line of a definition, if its ops are one, from the spots of its ops before and the places of new
/// ones.
fn packed_line(
    graph: &Graph,
    row: &View,
    (spots, placed): (&[(OpId, Spot)], &BTreeMap<OpId, LogPosition>),
) -> Option<Vec<u8>> {
    let line = graph.line_to_store(row.id).filter(|line| is_of(line, row))?;
    let spot = |op: OpId| match placed.get(&op) {
        Some(place) => Some(Spot { place: *place, max_ts: graph.light(op)?.max_ts }),
        None => spots.binary_search_by_key(&op, |(id, _)| *id).ok().map(|at| spots[at].1),
    };
    Some(pack::line(&line, &spots::pack(&graph.lattice(row.id)?.ops, &line.roles, spot)))
}

/// Returns whether a view is what a line of ops comes to: its other columns then say the rest of the line.
fn is_of(line: &Line, row: &View) -> bool {
    let by = (line.claim, line.claimed_by_add, line.epoch) == (row.claim, row.claimed_by_add, row.epoch);
    by && line.name == row.name && line.links == row.links
}

fn put_view(cells: &mut [Value], row: &View) {
    let (number, absorber) = number(row);
    let id = |id: OpId| Value::from(id.to_bytes().to_vec());
    cells[column::LAYER] = (row.layer as i64).into();
    cells[column::LABEL] = row.label.clone().into();
    cells[column::NAME] = row.name.clone().into();
    cells[column::STATE] = number.into();
    cells[column::CLAIM] = id(row.claim);
    cells[column::BY_ADD] = i64::from(row.claimed_by_add).into();
    cells[column::EPOCH] = id(row.epoch);
    cells[column::ABSORBER] = absorber.map_or(Value::Null, id);
    cells[column::SETTLED] = row.settled.map_or(Value::Null, id);
    cells[column::HASH] = row.hash.0.to_vec().into();
    cells[column::TEXT] = row.text().to_owned().into();
    cells[column::DEPS] = pack::ids(row.deps().iter().copied()).into();
    cells[column::WATCH] = pack::watch(row.watch()).into();
    cells[column::HIDDEN] = i64::from(!row.hidden.is_empty()).into();
}

fn number(row: &View) -> (i64, Option<DefId>) {
    match row.status {
        Visibility::Visible => (VISIBLE, None),
        Visibility::Absorbed(by) => (ABSORBED, Some(by)),
        Visibility::Dead => (DEAD, None),
    }
}

fn edges_of(src: DefId, watch: &Watch) -> BTreeMap<EdgeRow, Option<Vec<u8>>> {
    let about = |kind: u8, id: &DefId| (kind, id.to_bytes().to_vec(), src);
    let places = |id: &DefId| watch.places(*id).filter(|_| watch.live).map(pack::places);
    let mut out: BTreeMap<EdgeRow, Option<Vec<u8>>> =
        watch.defs.iter().map(|id| (about(kind::WATCHES, id), places(id))).collect();
    out.extend(watch.names.iter().map(|(layer, name)| ((kind::LATE, pack::name(*layer, name), src), None)));
    if watch.live {
        out.extend(watch.links.iter().map(|id| (about(kind::LINKS, id), None)));
    }
    out
}
