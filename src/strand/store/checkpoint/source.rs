//! Reading a checkpoint: what a state asks for, as of the moment it was opened.

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::types::FromSql;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Params, Row as SqlRow};

use super::{Place, SCHEMA, kind, pack, path};
use crate::strand::cold::{At, Cold, ColdOp, ColdOps, Head, Mention, Name, Relation, Row};
use crate::strand::hash::Hash;
use crate::strand::id::{DefId, Layer, OpId};
use crate::strand::op::Op;
use crate::strand::state::Status;
use crate::strand::store::archive::base;
use crate::strand::store::{Log, log};

/// An open checkpoint. It goes on saying what it said when it was opened, whatever others write.
#[derive(Debug)]
pub struct Source {
    db: Connection,
    log: File,
    /// Where in the log it stands.
    pub offset: u64,
    /// The sum of the commit line it stands after.
    pub sum: String,
    /// Ops withdrawn and not accepted again.
    pub withdrawn: Vec<OpId>,
    count: usize,
    contested: Vec<Name>,
    failure: RefCell<Option<String>>,
}

/// What a checkpoint turned out to be.
pub enum Opened {
    /// There is none.
    Absent,
    /// It cannot be used; why.
    Unfit(String),
    /// It can be read.
    Ready(Box<Source>),
}

fn meta<T: FromSql>(db: &Connection, key: &str) -> rusqlite::Result<Option<T>> {
    db.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
}

/// Where a checkpoint stands, if it is of this schema.
pub fn stands_at(db: &Connection) -> rusqlite::Result<Option<(u64, String)>> {
    if meta::<i64>(db, "schema")? != Some(SCHEMA) {
        return Ok(None);
    }
    let (offset, sum) = (meta::<i64>(db, "log_offset")?, meta::<String>(db, "log_sum")?);
    Ok(offset.and_then(|offset| u64::try_from(offset).ok()).zip(sum))
}

impl Source {
    /// Opens the checkpoint of a store, if it stands at a commit of the log.
    pub fn open(root: &Path, log: &Log) -> Opened {
        let path = path(root);
        if !path.exists() {
            return Opened::Absent;
        }
        match Source::read(&path, log) {
            Ok(Some(source)) => Opened::Ready(Box::new(source)),
            Ok(None) => Opened::Unfit("it does not fit the log".to_owned()),
            Err(error) => Opened::Unfit(error.to_string()),
        }
    }

    fn read(path: &Path, log: &Log) -> rusqlite::Result<Option<Source>> {
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        db.busy_timeout(std::time::Duration::from_secs(5))?;
        db.set_prepared_statement_cache_capacity(32);
        // What is read from here on is one state, however far others come meanwhile.
        db.execute_batch("BEGIN")?;
        let Some((offset, sum)) = stands_at(&db)? else { return Ok(None) };
        // One log, whatever takes its place meanwhile.
        let Ok(file) = File::open(log.path()) else { return Ok(None) };
        if !log::ends_at(&file, offset, &sum).unwrap_or(false) {
            return Ok(None);
        }
        let count = meta::<i64>(&db, "ops")?.unwrap_or(0);
        let contested: Vec<u8> = meta(&db, "contested")?.unwrap_or_default();
        let withdrawn: Vec<u8> = meta(&db, "withdrawn")?.unwrap_or_default();
        let contested = contested.split(|byte| *byte == b'\n').filter_map(pack::read_name).collect();
        Ok(Some(Source {
            db,
            log: file,
            offset,
            sum,
            withdrawn: pack::read_ids(&withdrawn),
            count: usize::try_from(count).unwrap_or(0),
            contested,
            failure: RefCell::default(),
        }))
    }

    /// What went wrong while reading, if something did: then its answers do not count.
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    fn kept<T>(&self, result: rusqlite::Result<T>) -> Option<T> {
        result.map_err(|error| *self.failure.borrow_mut() = Some(error.to_string())).ok()
    }

    fn rows<T, P: Params>(&self, sql: &str, params: P, read: impl FnMut(&SqlRow) -> rusqlite::Result<T>) -> Vec<T> {
        let found = self.db.prepare_cached(sql).and_then(|mut query| query.query_map(params, read)?.collect());
        self.kept(found).unwrap_or_default()
    }

    fn one<T, P: Params>(&self, sql: &str, params: P, read: impl FnOnce(&SqlRow) -> rusqlite::Result<T>) -> Option<T> {
        let found = self.db.prepare_cached(sql).and_then(|mut query| query.query_row(params, read).optional());
        self.kept(found).flatten()
    }

    fn sources(&self, kind: u8, key: &[u8]) -> Vec<DefId> {
        self.rows("SELECT src FROM edges WHERE kind = ?1 AND key = ?2", (kind, key), |row| Ok(id(row, 0)))
    }

    fn op_at(&self, place: Place) -> Option<(Op, Option<At>)> {
        let mut line = vec![0; place.length as usize];
        let read = self.log.read_exact_at(&mut line, place.offset).map_err(|error| error.to_string());
        let value = read.and_then(|()| serde_json::from_slice(&line).map_err(|error| error.to_string()));
        let op = value.and_then(|value| base::read_op(&value));
        op.map_err(|message| *self.failure.borrow_mut() = Some(message)).ok()
    }
}

/// The identity in a column. One that is damaged is none that exists.
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

fn definition(of: DefId, row: &SqlRow) -> rusqlite::Result<Option<Row>> {
    let state: i64 = row.get(3)?;
    let other = pack::one(blob(row, 7));
    let status = match (state, other) {
        (super::VISIBLE, _) => Status::Visible,
        (super::ABSORBED, Some(by)) => Status::Absorbed(by),
        (super::DEAD, _) => Status::Dead,
        _ => return Ok(None),
    };
    let Ok(hash) = blob(row, 8).try_into() else { return Ok(None) };
    let Some(watch) = pack::read_watch(blob(row, 11)) else { return Ok(None) };
    let head = Head {
        id: of,
        layer: layer(row, 0)?,
        label: row.get(1)?,
        name: row.get(2)?,
        claim: id(row, 4),
        claimed_by_add: row.get(5)?,
        status,
        epoch: id(row, 6),
        settled: pack::one(blob(row, 12)),
        hash: Hash(hash),
    };
    Ok(Some(Row { head, text: row.get(9)?, deps: pack::read_ids(blob(row, 10)), watch }))
}

impl Cold for Source {
    fn op_count(&self) -> usize {
        self.count
    }

    fn has_op(&self, id: OpId) -> bool {
        self.one("SELECT 1 FROM ops WHERE op = ?1", [&id.to_bytes()[..]], |_| Ok(())).is_some()
    }

    fn op(&self, id: OpId) -> Option<ColdOp> {
        let sql = "SELECT at, length, max_ts, anchored, void FROM ops WHERE op = ?1";
        let (place, max_ts, anchored, void) = self.one(sql, [&id.to_bytes()[..]], |row| {
            let place = Place { offset: row.get::<_, i64>(0)? as u64, length: row.get(1)? };
            Ok((place, row.get(2)?, row.get(3)?, row.get(4)?))
        })?;
        let (op, archived) = self.op_at(place)?;
        Some(ColdOp { op, void, max_ts, anchored, archived })
    }

    fn op_ids(&self) -> Vec<OpId> {
        self.rows("SELECT op FROM ops ORDER BY op", [], |row| Ok(id(row, 0)))
    }

    fn row(&self, of: DefId) -> Option<Row> {
        let sql = "SELECT layer, label, name, state, claim, by_add, epoch, absorber, hash, text, deps, watch, settled
            FROM defs WHERE def = ?1 AND label IS NOT NULL";
        self.one(sql, [&of.to_bytes()[..]], |row| definition(of, row)).flatten()
    }

    fn ops_on(&self, of: DefId) -> Option<ColdOps> {
        self.one("SELECT layer, ops, heads FROM defs WHERE def = ?1", [&of.to_bytes()[..]], |row| {
            let (ops, heads) = (pack::read_ids(blob(row, 1)), pack::read_ids(blob(row, 2)));
            Ok(ColdOps { layer: layer(row, 0)?, ops, heads })
        })
    }

    fn row_ids(&self) -> Vec<DefId> {
        self.rows("SELECT def FROM defs WHERE label IS NOT NULL", [], |row| Ok(id(row, 0)))
    }

    fn labelled(&self, layer: Layer, label: &str) -> Option<DefId> {
        let own = "SELECT def FROM defs WHERE layer = ?1 AND name = ?2 AND state = 1 AND label = name";
        let given = "SELECT def FROM defs WHERE layer = ?1 AND label = ?2 AND state = 1 AND label <> name";
        let find = |sql: &str| self.one(sql, (layer as i64, label), |row| Ok(id(row, 0)));
        find(own).or_else(|| find(given))
    }

    fn labels(&self, layer: Layer) -> Vec<(String, DefId)> {
        let sql = "SELECT label, def FROM defs WHERE layer = ?1 AND state = 1";
        self.rows(sql, [layer as i64], |row| Ok((row.get(0)?, id(row, 1))))
    }

    fn claimants(&self, name: &Name) -> Vec<DefId> {
        let sql = "SELECT def FROM defs WHERE layer = ?1 AND name = ?2 AND state <= 2";
        self.rows(sql, (name.0 as i64, &name.1), |row| Ok(id(row, 0)))
    }

    fn holders(&self, name: &Name) -> Vec<DefId> {
        let sql = "SELECT def FROM defs WHERE layer = ?1 AND name = ?2";
        let mut now: Vec<DefId> = self.rows(sql, (name.0 as i64, &name.1), |row| Ok(id(row, 0)));
        now.extend(self.sources(kind::HELD, &pack::name(name.0, &name.1)));
        now.sort_unstable();
        now.dedup();
        now
    }

    fn mentions(&self, of: DefId) -> Vec<Mention> {
        let sql = "SELECT edges.src, defs.layer, defs.label, edges.places FROM edges JOIN defs ON defs.def = edges.src
            WHERE edges.kind = ?1 AND edges.key = ?2 AND edges.places IS NOT NULL AND defs.label IS NOT NULL";
        self.rows(sql, (kind::WATCHES, &of.to_bytes()[..]), |row| {
            let places = pack::read_places(blob(row, 3));
            Ok(Mention { id: id(row, 0), layer: layer(row, 1)?, label: row.get(2)?, places })
        })
    }

    fn late(&self, name: &Name) -> Vec<DefId> {
        self.sources(kind::LATE, &pack::name(name.0, &name.1))
    }

    fn related(&self, relation: Relation, to: DefId) -> Vec<DefId> {
        match relation {
            Relation::Watches => self.sources(kind::WATCHES, &to.to_bytes()),
            Relation::Links => self.sources(kind::LINKS, &to.to_bytes()),
            Relation::Refers => {
                let sql = "SELECT src FROM edges WHERE kind = ?1 AND key = ?2 AND places IS NOT NULL";
                self.rows(sql, (kind::WATCHES, &to.to_bytes()[..]), |row| Ok(id(row, 0)))
            }
        }
    }

    fn contested(&self) -> Vec<Name> {
        self.contested.clone()
    }
}
