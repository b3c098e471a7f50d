//! Reads a checkpoint as of the moment it was opened.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::types::{FromSql, Value};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Params, Row as SqlRow};

use super::schema::{self, SCHEMA, column, kind, open_database, path};
use super::spots::{self, Spot};
use super::{pack, sum, trust};
use crate::strand::hash::Hash;
use crate::strand::id::{DefId, Layer, OpId};
use crate::strand::lazy::{
    At, CheckpointDefinition, Head, IdMap, LazySource, Line, Mention, Name, Relation, StoredOp, StoredOps,
};
use crate::strand::op::Op;
use crate::strand::state::{Visibility, Watch};
use crate::strand::store::archive::base;
use crate::strand::store::position::{Chain, LogPosition};
use crate::strand::store::{Log, disk, log};

/// The most memory for pages of an open checkpoint, in KiB.
const CACHE: i64 = 32 << 10;

/// The most definitions that are kept for who asks next.
const MOST_MET: usize = 4096;

/// The columns of a row of edges.
const EDGE_COLUMNS: usize = 5;

/// An open checkpoint. Its answers stay those of the moment it was opened, whatever others write.
#[derive(Debug)]
pub struct Source {
    db: Connection,
    log: File,
    /// Its position in the log.
    pub offset: u64,
    /// The sum of the commit line at its position.
    pub sum: String,
    /// The chained sums of all commit lines up to there.
    pub chain: Chain,
    /// True if the log was looked through since its checkpoint was written, which a new note would save the next.
    pub is_restamped: bool,
    /// Ops withdrawn and not accepted again.
    pub withdrawn: Vec<OpId>,
    count: usize,
    /// The greatest identity of an op; none where there are no ops.
    greatest: OnceCell<Option<OpId>>,
    /// The places of ops in rows that were read, until the op is.
    pub(super) spots: RefCell<IdMap<Spot>>,
    /// Definitions whose rows were read for their ops: what else these say is wanted next, as a rule.
    met: RefCell<IdMap<CheckpointDefinition>>,
    contested: Vec<Name>,
    failure: RefCell<Option<String>>,
}

/// The result of opening a checkpoint.
pub enum Opened {
    /// No checkpoint exists.
    Absent,
    /// It cannot be used; why.
    Unfit(String),
    /// It can be read.
    Ready(Box<Source>),
}

fn meta<T: FromSql>(db: &Connection, key: &str) -> rusqlite::Result<Option<T>> {
    db.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
}

/// The position of a checkpoint.
pub struct Stands {
    /// The offset in the log.
    pub offset: u64,
    /// The sum of the commit line that ends there.
    pub sum: String,
    /// The chained sums of all commit lines up to there.
    chain: Chain,
    /// The time when the log was last written, if it ended there.
    log_time: i64,
}

impl Stands {
    /// Returns whether nobody wrote the log since.
    pub fn is_of(&self, log: &Log) -> bool {
        trust::log_stamp(log) == Some((self.offset, self.log_time))
    }
}

/// Returns where a checkpoint stands, if it is of this schema and says so in one piece.
pub fn stands_at(db: &Connection) -> rusqlite::Result<Option<Stands>> {
    if meta::<i64>(db, "schema")? != Some(SCHEMA) {
        return Ok(None);
    }
    let mut statement = db.prepare("SELECT key, value FROM meta")?;
    let pairs = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut pairs: BTreeMap<String, Value> = pairs.collect::<rusqlite::Result<_>>()?;
    let said = pairs.remove("sum");
    if said != Some(Value::Integer(sum::of_meta(pairs.iter().map(|(key, value)| (key.as_str(), value))))) {
        return Ok(None);
    }
    let number = |key: &str| match pairs.get(key) {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    };
    let (Some(Value::Text(sum)), Some(Value::Blob(chain))) = (pairs.get("log_sum"), pairs.get("log_chain")) else {
        return Ok(None);
    };
    let stands = || {
        let offset = u64::try_from(number("log_offset")?).ok()?;
        let chain = chain.as_slice().try_into().ok()?;
        Some(Stands { offset, sum: sum.clone(), chain, log_time: number("log_stamp")? })
    };
    Ok(stands())
}

impl Source {
    /// Opens the checkpoint of a store, if its position is at a commit of the log.
    pub fn open(root: &Path, log: &Log) -> Opened {
        let path = path(root);
        if !path.exists() {
            return Opened::Absent;
        }
        let unfit = |why: &str| Opened::Unfit(why.to_owned());
        let stamped = trust::is_stamped(root);
        let (mut source, stands) = match Source::read(&path, log) {
            Ok(Some(found)) => found,
            Ok(None) => return unfit("it does not fit the log"),
            Err(error) => return unfit(&error.to_string()),
        };
        if !stamped {
            if let Err(why) = trust::look_through(&source.db) {
                return unfit(&why);
            }
            trust::stamp(root);
        }
        if !stands.is_of(log) {
            // The log was written: another process continued it, or its beginning was replaced.
            match log.chain_to(stands.offset) {
                Ok(Some(chain)) if chain == stands.chain => source.is_restamped = true,
                _ => return unfit("the log was changed before the place where it stands"),
            }
        }
        Opened::Ready(Box::new(source))
    }

    fn read(path: &Path, log: &Log) -> rusqlite::Result<Option<(Source, Stands)>> {
        let db = open_database(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        db.busy_timeout(std::time::Duration::from_secs(5))?;
        db.set_prepared_statement_cache_capacity(32);
        schema::set_cache(&db, CACHE)?;
        // Everything read from here on is of one state, whatever others write.
        db.execute_batch("BEGIN")?;
        let Some(stands) = stands_at(&db)? else { return Ok(None) };
        // One log, whatever takes its place meanwhile.
        let Ok(file) = disk::open(log.path()) else { return Ok(None) };
        if !log::ends_at(&file, stands.offset, &stands.sum).unwrap_or(false) {
            return Ok(None);
        }
        let count = meta::<i64>(&db, "ops")?.unwrap_or(0);
        let contested: Vec<u8> = meta(&db, "contested")?.unwrap_or_default();
        let withdrawn: Vec<u8> = meta(&db, "withdrawn")?.unwrap_or_default();
        let contested = contested.split(|byte| *byte == b'\n').filter_map(pack::read_name).collect();
        let source = Source {
            db,
            log: file,
            offset: stands.offset,
            sum: stands.sum.clone(),
            chain: stands.chain,
            is_restamped: false,
            withdrawn: pack::read_ids(&withdrawn),
            count: usize::try_from(count).unwrap_or(0),
            greatest: OnceCell::new(),
            spots: RefCell::default(),
            met: RefCell::default(),
            contested,
            failure: RefCell::default(),
        };
        Ok(Some((source, stands)))
    }

    /// Returns what went wrong while reading, if something did: then its answers do not count.
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    fn read_or_fail<T>(&self, result: rusqlite::Result<T>) -> Option<T> {
        result.map_err(|error| *self.failure.borrow_mut() = Some(error.to_string())).ok()
    }

    /// Returns what is read of rows, each of which ends with its sum.
    fn rows<T, P: Params>(&self, sql: &str, params: P, mut read: impl FnMut(&SqlRow) -> rusqlite::Result<T>) -> Vec<T> {
        let checked = |row: &SqlRow| sum::holds(row).and_then(|()| read(row));
        let found = self.db.prepare_cached(sql).and_then(|mut query| query.query_map(params, checked)?.collect());
        self.read_or_fail(found).unwrap_or_default()
    }

    /// Returns what is read of a row that ends with its sum.
    fn one<T, P: Params>(&self, sql: &str, params: P, read: impl FnOnce(&SqlRow) -> rusqlite::Result<T>) -> Option<T> {
        let checked = |row: &SqlRow| sum::holds(row).and_then(|()| read(row));
        let found = self.db.prepare_cached(sql).and_then(|mut query| query.query_row(params, checked).optional());
        self.read_or_fail(found).flatten()
    }

    fn sources(&self, kind: u8, key: &[u8]) -> Vec<DefId> {
        self.rows("SELECT * FROM edges WHERE kind = ?1 AND key = ?2", (kind, key), |row| Ok(id(row, 2)))
    }

    /// Returns whether an identity is greater than that of any op: those of most new ops are.
    fn is_beyond(&self, id: OpId) -> bool {
        let find = || self.one("SELECT * FROM ops ORDER BY op DESC LIMIT 1", [], |row| Ok(self::id(row, 0)));
        self.greatest.get_or_init(find).is_none_or(|greatest| id > greatest)
    }

    /// Keeps what a row says that was read for its ops, for those who ask next. Many are never asked for.
    fn keep_met(&self, definition: CheckpointDefinition) {
        let mut met = self.met.borrow_mut();
        if met.len() >= MOST_MET {
            met.clear();
        }
        met.insert(definition.head.id, definition);
    }

    /// Returns where an admitted op stands in the log.
    pub fn place_of(&self, id: OpId) -> Option<LogPosition> {
        self.one("SELECT * FROM ops WHERE op = ?1", [&id.to_bytes()[..]], place)
    }

    fn op_at(&self, place: LogPosition) -> Option<(Op, Option<At>)> {
        let mut line = vec![0; place.length as usize];
        let read = self.log.read_exact_at(&mut line, place.offset).map_err(|error| error.to_string());
        let read = read.and_then(|()| {
            let same = sum::of_bytes(&line) == place.sum;
            if same { Ok(()) } else { Err(format!("the log holds another line at byte {}", place.offset)) }
        });
        let op = read.and_then(|()| base::read_line(&line));
        op.map_err(|message| *self.failure.borrow_mut() = Some(message)).ok()
    }
}

/// Returns the identity in a column. One that is damaged is none that exists.
fn id(row: &SqlRow, column: usize) -> OpId {
    let bytes = row.get_ref(column).ok().and_then(|value| value.as_blob().ok());
    bytes.and_then(pack::one).unwrap_or(OpId::from_bytes([0; 16]))
}

fn blob<'r>(row: &'r SqlRow, column: usize) -> &'r [u8] {
    row.get_ref(column).ok().and_then(|value| value.as_blob().ok()).unwrap_or_default()
}

fn layer(row: &SqlRow, column: usize) -> rusqlite::Result<Layer> {
    let number: i64 = row.get(column)?;
    let layer = usize::try_from(number).ok().and_then(|number| Layer::ALL.get(number));
    layer.copied().ok_or(rusqlite::Error::IntegralValueOutOfRange(column, number))
}

fn definition(row: &SqlRow) -> rusqlite::Result<Option<CheckpointDefinition>> {
    let state: i64 = row.get(column::STATE)?;
    let other = pack::one(blob(row, column::ABSORBER));
    let status = match (state, other) {
        (schema::VISIBLE, _) => Visibility::Visible,
        (schema::ABSORBED, Some(by)) => Visibility::Absorbed(by),
        (schema::DEAD, _) => Visibility::Dead,
        _ => return Ok(None),
    };
    let Ok(hash) = blob(row, column::HASH).try_into() else { return Ok(None) };
    let Some(watch) = pack::read_watch(blob(row, column::WATCH)) else { return Ok(None) };
    let head = Head {
        id: id(row, column::DEF),
        layer: layer(row, column::LAYER)?,
        label: row.get(column::LABEL)?,
        name: row.get(column::NAME)?,
        claim: id(row, column::CLAIM),
        claimed_by_add: row.get(column::BY_ADD)?,
        status,
        epoch: id(row, column::EPOCH),
        settled: pack::one(blob(row, column::SETTLED)),
        hash: Hash(hash),
    };
    let deps = pack::read_ids(blob(row, column::DEPS));
    let (forked, hidden, alone) = (row.get(column::FORKED)?, row.get(column::HIDDEN)?, row.get(column::ALONE)?);
    Ok(Some(CheckpointDefinition { head, text: row.get(column::TEXT)?, deps, watch, forked, hidden, alone }))
}

/// Returns what the references of a definition depended on, and the places of the ops that made it, by identity.
pub fn stored(row: &SqlRow) -> rusqlite::Result<(Watch, Vec<(OpId, Spot)>)> {
    sum::holds(row)?;
    let ops = pack::read_ids(blob(row, column::OPS));
    let watch = pack::read_watch(blob(row, column::WATCH)).unwrap_or_default();
    let mut spots = spots::read(&ops, blob(row, column::ROLES));
    spots.sort_unstable_by_key(|(id, _)| *id);
    Ok((watch, spots))
}

/// Returns what the ops of a definition come to, if they are a line.
fn line(row: &SqlRow, ops: usize) -> rusqlite::Result<Option<Line>> {
    let Some(packed) = pack::read_line(blob(row, column::ROLES)).filter(|packed| packed.roles.len() == ops) else {
        return Ok(None);
    };
    let (links, roles) = (packed.links, packed.roles);
    let (name, claimed_by_add) = (row.get(column::NAME)?, row.get(column::BY_ADD)?);
    let (claim, epoch) = (id(row, column::CLAIM), id(row, column::EPOCH));
    Ok(Some(Line { name, claim, claimed_by_add, epoch, links, roles }))
}

/// Returns definitions by a number of their state.
fn if_visible(row: &SqlRow, most: i64) -> rusqlite::Result<Option<(String, DefId)>> {
    if row.get::<_, i64>(column::STATE)? > most {
        return Ok(None);
    }
    Ok(Some((row.get(column::LABEL)?, id(row, column::DEF))))
}

impl LazySource for Source {
    fn op_count(&self) -> usize {
        self.count
    }

    fn has_op(&self, id: OpId) -> bool {
        !self.is_beyond(id) && self.one("SELECT * FROM ops WHERE op = ?1", [&id.to_bytes()[..]], |_| Ok(())).is_some()
    }

    fn op(&self, id: OpId) -> Option<StoredOp> {
        let spot = self.spots.borrow_mut().remove(&id);
        if let Some(Spot { place, max_ts }) = spot {
            let (op, archived) = self.op_at(place)?;
            return Some(StoredOp { op, void: None, max_ts, anchored: true, archived });
        }
        if self.is_beyond(id) {
            return None;
        }
        let (place, max_ts, anchored, void) =
            self.one("SELECT * FROM ops WHERE op = ?1", [&id.to_bytes()[..]], |row| {
                Ok((place(row)?, row.get(4)?, row.get(5)?, row.get(6)?))
            })?;
        let (op, archived) = self.op_at(place)?;
        Some(StoredOp { op, void, max_ts, anchored, archived })
    }

    fn op_ids(&self) -> Vec<OpId> {
        self.rows("SELECT * FROM ops ORDER BY op", [], |row| Ok(id(row, 0)))
    }

    fn row(&self, of: DefId) -> Option<CheckpointDefinition> {
        if let Some(met) = self.met.borrow_mut().remove(&of) {
            return Some(met);
        }
        let sql = "SELECT * FROM defs WHERE def = ?1 AND label IS NOT NULL";
        self.one(sql, [&of.to_bytes()[..]], definition).flatten()
    }

    fn ops_on(&self, of: DefId) -> Option<StoredOps> {
        self.one("SELECT * FROM defs WHERE def = ?1", [&of.to_bytes()[..]], |row| {
            let (ops, heads) = (pack::read_ids(blob(row, column::OPS)), pack::read_ids(blob(row, column::HEADS)));
            let (layer, line) = (layer(row, column::LAYER)?, line(row, ops.len())?);
            self.spots.borrow_mut().extend(spots::read(&ops, blob(row, column::ROLES)));
            if let Some(definition) = definition(row)? {
                self.keep_met(definition);
            }
            Ok(StoredOps { layer, ops, heads, forked: row.get(column::FORKED)?, line })
        })
    }

    fn row_ids(&self) -> Vec<DefId> {
        self.rows("SELECT * FROM defs WHERE label IS NOT NULL", [], |row| Ok(id(row, column::DEF)))
    }

    fn all_rows(&self) -> Vec<CheckpointDefinition> {
        let found = self.rows("SELECT * FROM defs WHERE label IS NOT NULL", [], definition);
        found.into_iter().flatten().collect()
    }

    fn void_ids(&self) -> Vec<OpId> {
        self.rows("SELECT * FROM ops WHERE void IS NOT NULL", [], |row| Ok(id(row, 0)))
    }

    fn labelled(&self, layer: Layer, label: &str) -> Option<DefId> {
        let by_name = "SELECT * FROM defs WHERE layer = ?1 AND name = ?2";
        let by_label = "SELECT * FROM defs WHERE layer = ?1 AND label = ?2 AND label <> name";
        let find = |sql: &str| {
            let found = self.rows(sql, (layer as i64, label), |row| if_visible(row, schema::VISIBLE));
            found.into_iter().flatten().find(|(there, _)| there == label).map(|(_, id)| id)
        };
        find(by_name).or_else(|| find(by_label))
    }

    fn labels(&self, layer: Layer) -> Vec<(String, DefId)> {
        let found =
            self.rows("SELECT * FROM defs WHERE layer = ?1", [layer as i64], |row| if_visible(row, schema::VISIBLE));
        found.into_iter().flatten().collect()
    }

    fn claimants(&self, name: &Name) -> Vec<DefId> {
        let sql = "SELECT * FROM defs WHERE layer = ?1 AND name = ?2";
        let found = self.rows(sql, (name.0 as i64, &name.1), |row| if_visible(row, schema::ABSORBED));
        found.into_iter().flatten().map(|(_, id)| id).collect()
    }

    fn holders(&self, name: &Name) -> Vec<DefId> {
        let sql = "SELECT * FROM defs WHERE layer = ?1 AND name = ?2";
        let mut now: Vec<DefId> = self.rows(sql, (name.0 as i64, &name.1), |row| Ok(id(row, column::DEF)));
        now.extend(self.sources(kind::HELD, &pack::name(name.0, &name.1)));
        now.sort_unstable();
        now.dedup();
        now
    }

    fn mentions(&self, of: DefId) -> Vec<Mention> {
        // Each edge with the row of the definition that has it, in the order of both tables.
        let sql = "SELECT edges.*, defs.* FROM edges CROSS JOIN defs ON def = src
            WHERE kind = ?1 AND key = ?2 AND places IS NOT NULL AND label IS NOT NULL";
        let mention = |row: &SqlRow| {
            sum::holds_in(row, 0..EDGE_COLUMNS)?;
            sum::holds_in(row, EDGE_COLUMNS..row.as_ref().column_count())?;
            let (layer, label) = (layer(row, EDGE_COLUMNS + column::LAYER)?, row.get(EDGE_COLUMNS + column::LABEL)?);
            Ok(Mention { id: id(row, 2), layer, label, places: pack::read_places(blob(row, 3)) })
        };
        let key = of.to_bytes();
        let found = self.db.prepare_cached(sql);
        let found = found.and_then(|mut query| query.query_map((kind::WATCHES, &key[..]), mention)?.collect());
        self.read_or_fail(found).unwrap_or_default()
    }

    fn late(&self, name: &Name) -> Vec<DefId> {
        self.sources(kind::LATE, &pack::name(name.0, &name.1))
    }

    fn related(&self, relation: Relation, to: DefId) -> Vec<DefId> {
        match relation {
            Relation::Watches => self.sources(kind::WATCHES, &to.to_bytes()),
            Relation::Links => self.sources(kind::LINKS, &to.to_bytes()),
            Relation::Refers => {
                let sql = "SELECT * FROM edges WHERE kind = ?1 AND key = ?2 AND places IS NOT NULL";
                self.rows(sql, (kind::WATCHES, &to.to_bytes()[..]), |row| Ok(id(row, 2)))
            }
        }
    }

    fn contested(&self) -> Vec<Name> {
        self.contested.clone()
    }
}

/// Returns where the op of a row stands.
fn place(row: &SqlRow) -> rusqlite::Result<LogPosition> {
    Ok(LogPosition { offset: row.get::<_, i64>(1)? as u64, length: row.get(2)?, sum: row.get(3)? })
}
