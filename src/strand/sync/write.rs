//! Writes the store's definitions into files, and saves texts of files that conflict beside them.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use super::{Clash, Projection, Record, SyncRun, paths};
use crate::strand::id::{new_id, now_ms};
use crate::strand::state::{State, View};
use crate::strand::store::{Conflict, Error, Store, disk};

impl SyncRun {
    /// Saves texts that found no place, and records what clashed.
    pub(super) fn put_aside(&mut self, store: &mut Store) -> Result<(), Error> {
        if self.clashes.is_empty() {
            return Ok(());
        }
        let known = store.conflicts()?;
        let (mut conflicts, mut messages) = (Vec::new(), Vec::new());
        for Clash { path, text, why } in &self.clashes {
            let mut words = why.clone();
            if let Some(text) = text {
                let aside = keep_beside(store.root(), path, text)?;
                messages.push(format!("{path}: {words}; the file's text is in {aside}"));
                words.push_str(&format!("; see {aside}"));
            }
            let edges = vec![(path.clone(), words)];
            // A sync that ended before its files were written is done again.
            if known.iter().any(|conflict| conflict.status == "open" && conflict.edges == edges) {
                continue;
            }
            conflicts.push(Conflict {
                id: new_id("cf_"),
                kind: "sync".to_owned(),
                policy: store.config().policy.word().to_owned(),
                at: now_ms(),
                edges,
                ops: Vec::new(),
                status: "open".to_owned(),
            });
        }
        messages.into_iter().for_each(|words| self.warn(words));
        store.record_conflicts(&conflicts)
    }

    /// Writes every file as the store has it, but for those held back.
    pub(super) fn write_files(
        &mut self,
        root: &Path,
        state: &State,
        recorded: &mut Projection,
        files: &BTreeMap<String, String>,
    ) -> Result<(), Error> {
        let wanted = paths(state);
        let stale: Vec<String> =
            recorded.iter().map(|(path, _)| path.clone()).filter(|path| !wanted.contains_key(path)).collect();
        for path in stale {
            let known = recorded.get(&path).is_some_and(|record| state.graph().lattice(record.def).is_some());
            if self.held.contains(&path) {
                continue;
            }
            // The log may be older than the file: then it does not decide.
            if !known {
                recorded.remove(&path);
                continue;
            }
            if self.delete(root, &path, files)? {
                recorded.remove(&path);
            }
        }
        for path in std::mem::take(&mut self.displaced) {
            self.delete(root, &path, files)?;
        }
        for (path, view) in wanted {
            let found = files.get(&path);
            let equal = found.is_some_and(|text| *text == view.text());
            if self.held.contains(&path) {
                continue;
            }
            if !equal {
                if !self.options.dry_run {
                    let seen = found.map(String::as_bytes);
                    let made = disk::create_below(root, Path::new(view.layer.folder()));
                    let written = made.and_then(|()| disk::replace_below(root, &path, seen, view.text().as_bytes()));
                    if !written.map_err(|error| Error::io("write", &root.join(&path), error))? {
                        self.changed_meanwhile(&path);
                        continue;
                    }
                }
                self.plan(format!("write {path}"));
                match found {
                    Some(_) => self.done.files.1 += 1,
                    None => self.done.files.0 += 1,
                }
            }
            recorded.set(path, Record::new(view.id, view.text(), view.text()));
        }
        Ok(())
    }

    /// Deletes a file if it is as it was read. Returns whether it is gone.
    fn delete(&mut self, root: &Path, path: &str, files: &BTreeMap<String, String>) -> Result<bool, Error> {
        let Some(text) = files.get(path) else { return Ok(true) };
        if !self.options.dry_run {
            let removed = disk::remove_below(root, path, text.as_bytes());
            if !removed.map_err(|error| Error::io("delete", &root.join(path), error))? {
                self.changed_meanwhile(path);
                return Ok(false);
            }
        }
        self.plan(format!("delete {path}"));
        self.done.files.2 += 1;
        Ok(true)
    }

    /// Tells of a file that someone wrote since it was read. It waits for the next sync.
    fn changed_meanwhile(&mut self, path: &str) {
        self.warn(format!("{path} changed meanwhile; sync again"));
    }

    /// Records what files say that went into the store, without writing any.
    pub(super) fn record_files(&mut self, state: &State, recorded: &mut Projection, files: &BTreeMap<String, String>) {
        for (path, view) in paths(state) {
            if let Some(text) = files.get(&path).filter(|_| !self.held.contains(&path)) {
                let aside = self.clashes.iter().any(|clash| clash.path == path);
                let known = recorded.get(&path).is_some_and(|record| record.is_text(text));
                if !aside && !known {
                    recorded.set(path, Record::new(view.id, text, view.text()));
                }
            }
        }
        let gone: Vec<String> = recorded
            .iter()
            .filter(|(path, record)| {
                !files.contains_key(*path) && !state.reading(record.def).is_some_and(View::visible)
            })
            .map(|(path, _)| path.clone())
            .collect();
        gone.iter().for_each(|path| recorded.remove(path));
    }
}

/// Saves a file's text that found no place beside it. Returns the path. What was put aside earlier stays.
fn keep_beside(root: &Path, path: &str, text: &str) -> Result<String, Error> {
    let mut aside = format!("{path}.conflict");
    let mut n = 2;
    loop {
        let failed = |verb, error| Error::io(verb, &root.join(&aside), error);
        match disk::read_below(root, &aside) {
            Ok(there) if there == text.as_bytes() => return Ok(aside),
            Ok(_) => {
                aside = format!("{path}.conflict{n}");
                n += 1;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                match disk::make_below(root, &aside, text.as_bytes()) {
                    Ok(()) => return Ok(aside),
                    // Another sync was faster.
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(failed("write", error)),
                }
            }
            Err(error) => return Err(failed("read", error)),
        }
    }
}
