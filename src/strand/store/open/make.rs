//! Makes a store, with what Git is to know of its files.

use std::path::Path;

use crate::strand::id::new_id;
use crate::strand::issue::Refusal;
use crate::strand::store::{Error, Log, Store, atomic_write, disk, read_optional};

/// The attributes that Git has of the log: lines of two sides are joined, and their ends are never converted.
const ATTRIBUTES: &str = ".strand/*.jsonl merge=union -text";
/// The attributes that stores were made with before: a checkout could give the log the line ends of another system.
const OLD_ATTRIBUTES: &str = ".strand/*.jsonl merge=union";

impl Store {
    /// Makes a store in a folder that has none.
    pub fn init(root: &Path) -> Result<Store, Error> {
        Store::init_as(root, &new_id("st_"))
    }

    /// Makes a store of an identity.
    pub(in crate::strand::store) fn init_as(root: &Path, identity: &str) -> Result<Store, Error> {
        let inner = root.join(".strand");
        if inner.join("op-log.jsonl").exists() {
            return Err(Refusal::Exists(format!("a store in {}", root.display())).into());
        }
        for folder in ["rejected", "runtime"] {
            let path = inner.join(folder);
            disk::create_folder(&path).map_err(|error| Error::io("make", &path, error))?;
        }
        let ignored = [".strand/store.crdt*", ".strand/lock", ".strand/runtime/", ".strand/projection.json"];
        add_lines(&root.join(".gitignore"), &ignored)?;
        add_lines(&root.join(".gitattributes"), &[ATTRIBUTES])?;
        Log::new(inner.join("op-log.jsonl")).create(identity)?;
        Store::open(root)
    }
}

/// Updates the attributes of a store that was made with the old ones: that line alone. Returns whether it did.
pub fn update_attributes(root: &Path) -> bool {
    let path = root.join(".gitattributes");
    // A file that cannot be read or written is no reason to refuse an op: the next write tries again.
    let Ok(Some(text)) = read_optional(&path) else { return false };
    let updated = |line: &str| match line.trim_end_matches(['\r', '\n']) {
        OLD_ATTRIBUTES => line.replacen(OLD_ATTRIBUTES, ATTRIBUTES, 1),
        _ => line.to_owned(),
    };
    let lines: String = text.split_inclusive('\n').map(updated).collect();
    lines != text && atomic_write(&path, lines.as_bytes()).is_ok()
}

/// Adds the lines that a file lacks.
fn add_lines(path: &Path, lines: &[&str]) -> Result<(), Error> {
    let mut text = read_optional(path)?.unwrap_or_default();
    let lacking: Vec<&str> = lines.iter().copied().filter(|line| !text.lines().any(|there| there == *line)).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    lacking.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    atomic_write(path, text.as_bytes())
}
