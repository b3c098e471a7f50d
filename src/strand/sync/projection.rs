//! What was last written into files, and which files there are.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::strand::id::{DefId, Layer, OpId};
use crate::strand::state::{State, View};
use crate::strand::store::{Error, Store, atomic_write};

/// What is known of one file.
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
    /// A record of a file's text and the store's.
    pub fn new(def: DefId, file: &str, text: &str) -> Record {
        Record { def, file: sum(file), text: text.to_owned() }
    }

    /// Whether a file still says what it said.
    pub fn is_text(&self, text: &str) -> bool {
        self.file == sum(text)
    }
}

fn sum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Records by path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection(BTreeMap<String, Record>);

impl Projection {
    /// Reads the records of a store.
    pub fn read(store: &Store) -> Result<Projection, Error> {
        let path = store.inner("projection.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Projection::default()),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        let bad = |message: &str| Error::BadFile { path: path.clone(), message: message.to_owned() };
        let values: Map<String, Value> = serde_json::from_str(&text).map_err(|error| bad(&error.to_string()))?;
        let record = |value: &Value| {
            let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
            Some(Record { def: OpId::parse(&text("def")?)?, file: text("file")?, text: text("text")? })
        };
        let records = values.iter().map(|(path, value)| record(value).map(|record| (path.clone(), record)));
        records.collect::<Option<_>>().map(Projection).ok_or_else(|| bad("a record is not whole"))
    }

    /// Writes the records of a store.
    pub fn write(&self, store: &Store) -> Result<(), Error> {
        let record = |record: &Record| json!({"def": record.def, "file": record.file, "text": record.text});
        let values: Map<String, Value> = self.0.iter().map(|(path, found)| (path.clone(), record(found))).collect();
        atomic_write(&store.inner("projection.json"), format!("{:#}\n", Value::Object(values)).as_bytes())
    }

    /// The record of a path.
    pub fn get(&self, path: &str) -> Option<&Record> {
        self.0.get(path)
    }

    /// Every record by path.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Record)> {
        self.0.iter()
    }

    /// Records a path.
    pub fn set(&mut self, path: String, record: Record) {
        self.0.insert(path, record);
    }

    /// Forgets a path.
    pub fn remove(&mut self, path: &str) {
        self.0.remove(path);
    }
}

/// The file of every visible definition, by path. Where names differ only in case, the path of a later one carries the
/// end of its identity, for file systems that do not tell them apart.
pub fn paths(state: &State) -> BTreeMap<String, &View> {
    let name = |view: &View| (view.layer, view.label.to_lowercase());
    let mut first: HashMap<(Layer, String), DefId> = HashMap::new();
    for view in state.visible() {
        first.entry(name(view)).and_modify(|id| *id = view.id.min(*id)).or_insert(view.id);
    }
    let path = |view: &View| {
        let tail = match first.get(&name(view)) {
            Some(id) if *id < view.id => format!("~{}", view.id.tail(6)),
            _ => String::new(),
        };
        format!("{}/{}{tail}.strand", view.layer.folder(), view.label)
    };
    state.visible().map(|view| (path(view), view)).collect()
}

/// The paths of a projection's files.
///
/// # Errors
/// When a folder cannot be listed.
pub fn list(root: &Path) -> Result<Vec<String>, Error> {
    let mut paths = Vec::new();
    for layer in Layer::ALL {
        let folder = root.join(layer.folder());
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::io("list", &folder, error)),
        };
        for entry in entries {
            let path = entry.map_err(|error| Error::io("list", &folder, error))?.path();
            if path.extension().is_none_or(|extension| extension != "strand") || !path.is_file() {
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            paths.push(format!("{}/{name}", layer.folder()));
        }
    }
    Ok(paths)
}

/// Every file of a projection with its text, by path; none for a file that is not UTF-8.
///
/// # Errors
/// When a file cannot be read.
pub fn scan(root: &Path) -> Result<BTreeMap<String, Option<String>>, Error> {
    let mut files = BTreeMap::new();
    for path in list(root)? {
        let full = root.join(&path);
        let bytes = std::fs::read(&full).map_err(|error| Error::io("read", &full, error))?;
        files.insert(path, String::from_utf8(bytes).ok());
    }
    Ok(files)
}
