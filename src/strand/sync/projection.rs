//! The record of the files written last, and the present files.

use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::strand::id::{DefId, Layer, OpId};
use crate::strand::lang::parse::parse_definitions;
use crate::strand::lang::print;
use crate::strand::state::{State, View};
use crate::strand::store::{Error, Store, atomic_write, disk, read_optional};

/// The record of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The definition it shows.
    pub def: DefId,
    /// The hash of the file as it was when file and store were last in line.
    file: String,
    /// The canonical text of then.
    pub text: String,
}

impl Record {
    /// Returns a record of a file's text and the store's.
    pub fn new(def: DefId, file: &str, text: &str) -> Record {
        Record { def, file: sum(file), text: text.to_owned() }
    }

    /// Returns whether the definition it shows had this body.
    pub(super) fn is_of(&self, layer: Layer, body: &str) -> bool {
        let found = parse_definitions(&self.text).unwrap_or_default();
        found
            .into_iter()
            .any(|found| found.layer == layer && found.result.is_ok_and(|one| print::body(&one.body) == body))
    }

    /// Returns whether a file still says what it said.
    pub fn is_text(&self, text: &str) -> bool {
        self.file == sum(text)
    }
}

fn sum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Records by path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection {
    records: BTreeMap<String, Record>,
    /// The position of the log: the offset after a commit line, and its sum.
    log: Option<(u64, String)>,
}

/// The key under which the records say where the log stood. It is no path of a file.
const LOG: &str = "log";

impl Projection {
    /// Reads the records of a store. They are a hint: where they cannot be read, or were made with another log than the
    /// one that is there now, there are none. Git moves the log when it changes branches.
    ///
    /// # Errors
    /// When the file is there and the disk does not give it.
    pub fn read(store: &Store) -> Result<Projection, Error> {
        let text = read_optional(&store.inner("projection.json"))?.unwrap_or_default();
        let projection = Projection::parse(&text).unwrap_or_default();
        let fits = match &projection.log {
            Some((offset, sum)) => store.log().has_commit(*offset, sum)?,
            None => true,
        };
        Ok(if fits { projection } else { Projection::default() })
    }

    fn parse(text: &str) -> Option<Projection> {
        let mut values: Map<String, Value> = serde_json::from_str(text).ok()?;
        let log = values.remove(LOG);
        let log = log.and_then(|log| Some((log.get("offset")?.as_u64()?, log.get("sum")?.as_str()?.to_owned())));
        let record = |value: &Value| {
            let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
            Some(Record { def: OpId::parse(&text("def")?)?, file: text("file")?, text: text("text")? })
        };
        let records = values.iter().map(|(path, value)| Some((path.clone(), record(value)?)));
        Some(Projection { records: records.collect::<Option<_>>()?, log })
    }

    /// Writes the records of a store, and the position of its log.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn write(&self, store: &Store) -> Result<(), Error> {
        let record = |record: &Record| json!({"def": record.def, "file": record.file, "text": record.text});
        let mut values: Map<String, Value> =
            self.records.iter().map(|(path, found)| (path.clone(), record(found))).collect();
        let (offset, sum) = store.position();
        values.insert(LOG.to_owned(), json!({"offset": offset, "sum": sum}));
        atomic_write(&store.inner("projection.json"), format!("{:#}\n", Value::Object(values)).as_bytes())
    }

    /// Returns whether it is empty: no sync was made here with this log.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.log.is_none()
    }

    /// Returns whether it records the same files and was made where the log stands now.
    pub fn is_current(&self, before: &Projection, store: &Store) -> bool {
        let (offset, sum) = store.position();
        self.records == before.records && before.log == Some((offset, sum.to_owned()))
    }

    /// Returns the record of a path.
    pub fn get(&self, path: &str) -> Option<&Record> {
        self.records.get(path)
    }

    /// Returns every record by path.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Record)> {
        self.records.iter()
    }

    /// Records a path.
    pub fn set(&mut self, path: String, record: Record) {
        self.records.insert(path, record);
    }

    /// Forgets a path.
    pub fn remove(&mut self, path: &str) {
        self.records.remove(path);
    }
}

/// Returns the file of every visible definition, by path. Where names differ only in case, the path of a later one
/// carries the end of its identity, for file systems that do not tell them apart.
pub fn paths(state: &State) -> BTreeMap<String, &View> {
    let name = |view: &View| (view.layer, view.label.to_lowercase());
    let mut first: HashMap<(Layer, String), DefId> = HashMap::new();
    for view in state.readings() {
        first.entry(name(view)).and_modify(|id| *id = view.id.min(*id)).or_insert(view.id);
    }
    let path = |view: &View| {
        let tail = match first.get(&name(view)) {
            Some(id) if *id < view.id => format!("~{}", view.id.tail(6)),
            _ => String::new(),
        };
        format!("{}/{}{tail}.strand", view.layer.folder(), view.label)
    };
    state.readings().map(|view| (path(view), view)).collect()
}

/// Returns the paths of a projection's files.
///
/// # Errors
/// When a folder cannot be listed.
pub fn list(root: &Path) -> Result<Vec<String>, Error> {
    Ok(entries(root)?.into_iter().filter(|(_, fault)| fault.is_none()).map(|(path, _)| path).collect())
}

/// Returns what is called like a definition's file, each with what is wrong with it.
fn entries(root: &Path) -> Result<Vec<(String, Option<String>)>, Error> {
    let mut entries = Vec::new();
    for layer in Layer::ALL {
        let folder = layer.folder();
        let found = disk::definitions(root, folder).map_err(|error| Error::io("list", &root.join(folder), error))?;
        entries.extend(found.files.into_iter().map(|name| (format!("{folder}/{name}"), None)));
        let others = found.others.into_iter();
        entries.extend(
            others
                .map(|(name, kind)| (format!("{folder}/{name}"), Some(format!("this is {kind}, not a regular file")))),
        );
    }
    Ok(entries)
}

/// Returns every file of a projection with its text, by path, or what is wrong with it.
///
/// # Errors
/// When a folder cannot be listed.
pub fn scan(root: &Path) -> Result<BTreeMap<String, Result<String, String>>, Error> {
    let mut files = BTreeMap::new();
    for (path, fault) in entries(root)? {
        let text = match fault {
            Some(fault) => Err(fault),
            None => match disk::read_below(root, &path) {
                Ok(bytes) => String::from_utf8(bytes).map_err(|_| "this file is not UTF-8".to_owned()),
                // It was deleted since it was listed.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => Err(format!("this file cannot be read: {error}")),
            },
        };
        files.insert(path, text);
    }
    Ok(files)
}
