//! Finds the definitions that a selector means: in the files it names, else in all that git would find.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::fault::FindFault;
use crate::code::{CodeFault, LARGEST, NodeSelector, SourceFile, SourceLanguage};
use crate::proposal::State;
use crate::text::time::now;
use crate::workspace::{Access, Read, ReadError, Stamp, Workspace, holds_secrets};

/// Files that are read at once, on all processors.
pub(super) const AT_ONCE: usize = 32;
/// The time in which names like one that nothing has are looked for.
const PATIENCE: Duration = Duration::from_millis(300);
/// Files without a definition that a sentence names.
const NAMED: usize = 3;

/// Finds definitions in the files of a workspace.
pub struct DefinitionFinder<'a> {
    /// The files.
    pub workspace: &'a Workspace,
    /// The folder that paths may also be relative to.
    pub folder: PathBuf,
    /// Ends it early: what was found until then is incomplete.
    pub stop: CancellationToken,
    /// The files that usually hold keys which it reads.
    pub secrets: SecretFiles,
}

/// The files that usually hold keys which a finder reads.
pub enum SecretFiles {
    /// All of them: the reader is the person.
    Shown,
    /// None but the one, by its full path, that the person was asked about.
    Withheld(Option<PathBuf>),
}

/// The reason why a visit of definitions ended early.
pub enum VisitEnd {
    /// The answer is full.
    Full,
    /// They cannot be found.
    Fault(FindFault),
}

impl From<FindFault> for VisitEnd {
    fn from(fault: FindFault) -> VisitEnd {
        VisitEnd::Fault(fault)
    }
}

/// A file as it was read, with its definitions.
pub struct FoundFile {
    /// The definitions.
    pub source: SourceFile,
    /// The state it was read from.
    pub state: State,
}

/// Findings beside the definitions.
#[derive(Debug, Clone, Default)]
pub struct FindNotes {
    /// Files with syntax errors, and the line of the first.
    pub errors: Vec<(String, usize)>,
    /// Source files that are not read and folders that are not listed, and why.
    pub skipped: Vec<(String, String)>,
    /// Source files without a definition, where all of them were asked for: those that are named, or all if nothing is
    /// found.
    pub without: Vec<String>,
}

impl FindNotes {
    /// Returns a sentence about the files without a definition; none: there is none.
    pub fn no_definitions(&self) -> Option<String> {
        let (more, named) = (self.without.len().saturating_sub(NAMED), self.without.iter().take(NAMED));
        let named = named.map(String::as_str).collect::<Vec<_>>().join(", ");
        match self.without.len() {
            0 => None,
            1 => Some(format!("{named} has no definitions")),
            _ if more > 0 => Some(format!("{named} and {more} more have no definitions")),
            _ => Some(format!("{named} have no definitions")),
        }
    }
}

impl DefinitionFinder<'_> {
    /// Returns a selector whose paths are those of the workspace.
    ///
    /// # Errors
    /// When it cannot be meant.
    pub fn selector(&self, text: &str) -> Result<NodeSelector, CodeFault> {
        // `mod.rs` is no module called `rs` where there is such a file.
        let is_file = |text: &str| {
            SourceLanguage::of_path(text).is_some()
                && self.workspace.resolve(text, Access::File).is_ok_and(|path| self.workspace.full(&path).is_file())
        };
        if let Some(whole) = self.whole(text, &is_file) {
            return Ok(whole);
        }
        let selector = NodeSelector::parse_among(text, &is_file)?;
        let selector = match self.workspace.resolve_from(&self.folder, ".", Access::Folder) {
            Ok(folder) if !["", "."].contains(&folder.as_str()) => {
                selector.below(&folder, |is_meant| self.has_file(is_meant))?
            }
            _ => selector,
        };
        let selector = selector.with_paths(|path| {
            let full = self.workspace.full(path);
            let there = |access| self.workspace.resolve_from(&self.folder, path, access).ok();
            match full.symlink_metadata() {
                Ok(_) if Path::new(path).is_relative() => None,
                _ => there(Access::File)
                    .filter(|path| self.workspace.full(path).exists())
                    .or_else(|| there(Access::Folder).filter(|path| self.workspace.full(path).is_dir())),
            }
        });
        let is_path = |text: &str| match text.contains(['*', '?']) {
            true => NodeSelector::parse(text).is_ok_and(|of| self.has_file(&|path| of.may_be_in(path))),
            false => SourceLanguage::of_path(text).is_some() || self.workspace.full(text).exists(),
        };
        Ok(selector.with_names(is_path))
    }

    /// Returns the selector of a text that is the id of a definition or the path of a file as it stands, though its
    /// characters have a meaning in selectors: `a,b.rs::f`, `a:3.ts`.
    fn whole(&self, text: &str, is_file: &dyn Fn(&str) -> bool) -> Option<NodeSelector> {
        let colons = text.matches("::").count();
        if text.contains([':', ',']) && is_file(text) {
            return Some(NodeSelector::of_file(text));
        }
        if !text.contains(',') && colons < 2 {
            return None;
        }
        let mut parted = text.match_indices("::").map(|(at, colons)| (&text[..at], &text[at + colons.len()..]));
        let (path, name) = parted.find(|(path, name)| {
            let read = is_file(path).then(|| self.read_file(path, |_| true).ok().flatten()).flatten();
            read.is_some_and(|file| (0..file.source.nodes.len()).any(|at| file.source.name(at) == *name))
        })?;
        Some(NodeSelector::of_id(path, name))
    }

    /// Returns the paths of all files that git would find, until it is stopped.
    pub fn files(&self) -> impl Iterator<Item = String> {
        let entries = self.workspace.walk("").build().flatten().take_while(|_| !self.stop.is_cancelled());
        let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        files.map(|entry| self.workspace.below_root(entry.path()))
    }

    /// Returns whether there is a source file of such a path.
    fn has_file(&self, is_meant: &dyn Fn(&str) -> bool) -> bool {
        self.files().any(|path| SourceLanguage::of_path(&path).is_some() && is_meant(&path))
    }

    /// Visits each file in which a selector means definitions, in the order of their paths; `notes` gets what was found
    /// beside them until a visit fails. Of files without a definition none is visited, and they are noted.
    ///
    /// # Errors
    /// When nothing is called so, or a file that it names cannot be read; those of `see`.
    pub fn each<E: From<FindFault>>(
        &self,
        selector: &NodeSelector,
        notes: &mut FindNotes,
        mut see: impl FnMut(FoundFile, Vec<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut found, mut without) = (false, Vec::new());
        let paths: Vec<String> = self.paths(selector, notes)?.into_iter().collect();
        let worth = |path: &str, bytes: &[u8]| selector.may_name(path, &|word| holds(bytes, word));
        self.read_each(&self.likely(selector, &paths), &worth, |path, read| {
            let Some(file) = noted(path, read, selector, notes)? else { return Ok::<(), E>(()) };
            let at = selector.of(&file.source);
            notes.errors.extend(file.source.errors.first().map(|error| (path.to_owned(), file.source.line(*error))));
            if !at.is_empty() {
                found = true;
                see(file, at)?;
            } else if selector.is_of_all_in(path) {
                without.push(path.to_owned());
            }
            Ok(())
        })?;
        let named = selector.named_paths().unwrap_or_default();
        without.retain(|path| !found || named.contains(path));
        notes.without = without;
        // A name that nothing has is said, whatever else is asked for.
        let is_without = !notes.without.is_empty() && selector.name().is_none();
        // A file that it names would be among the paths: what it names are folders.
        let is_of_files = selector.is_of_any_file() || !named.is_empty();
        match found || is_without || self.stop.is_cancelled() {
            true => Ok(()),
            false if paths.is_empty() && notes.skipped.is_empty() && is_of_files => {
                Err(FindFault::from(CodeFault::NoFiles(named)).into())
            }
            false => Err(self.not_found(selector, &paths, notes).into()),
        }
    }

    /// Returns those of some files in which a selector may mean a definition, by what is known of their words.
    fn likely(&self, selector: &NodeSelector, paths: &[String]) -> Vec<String> {
        let words = self.workspace.words();
        if words.is_empty() {
            return paths.to_vec();
        }
        let is_likely = |(path, stamp): &(&String, Option<Stamp>)| {
            let may_hold = |word: &str| stamp.is_none_or(|stamp| words.may_hold(path, &stamp, &[word]));
            self.withholds(path) || selector.may_name(path, &may_hold)
        };
        paths.iter().zip(self.stamps(paths)).filter(is_likely).map(|(path, _)| path.clone()).collect()
    }

    /// Returns the stamps of files as they are now, in their order; none: nothing is there.
    pub fn stamps<'p>(&self, paths: impl IntoIterator<Item = &'p String>) -> Vec<Option<Stamp>> {
        let mut reader = self.workspace.reader();
        paths.into_iter().map(|path| reader.stamp(path)).collect()
    }

    /// Returns the one definition that a selector means.
    ///
    /// # Errors
    /// When it means none, or several.
    pub fn one(&self, text: &str) -> Result<(FoundFile, usize), FindFault> {
        let selector = self.selector(text)?;
        let (mut ids, mut only, mut notes) = (Vec::new(), None, FindNotes::default());
        self.each(&selector, &mut notes, |file, at| {
            ids.extend(at.iter().map(|at| file.source.id(*at)));
            only = at.first().map(|at| (file, *at));
            Ok::<(), FindFault>(())
        })?;
        match (only, ids.as_slice(), notes.no_definitions()) {
            (Some(one), [_], _) => Ok(one),
            (None, _, Some(why)) => Err(CodeFault::NoDefinitions(why).into()),
            _ => Err(CodeFault::Ambiguous { selector: text.to_owned(), candidates: ids }.into()),
        }
    }

    /// Returns the source files that a selector may mean.
    ///
    /// # Errors
    /// When a folder that it names may not be read.
    pub fn paths(&self, selector: &NodeSelector, notes: &mut FindNotes) -> Result<BTreeSet<String>, FindFault> {
        let mut paths = BTreeSet::new();
        let Some(named) = selector.named_paths() else {
            self.walk("", selector, &mut paths, notes);
            return Ok(paths);
        };
        for path in named {
            match self.workspace.full(&path).is_dir() {
                true => {
                    let folder = self.workspace.resolve(&path, Access::Folder)?;
                    self.walk(&folder, selector, &mut paths, notes);
                }
                false => drop(paths.insert(path)),
            }
        }
        Ok(paths)
    }

    fn walk(&self, folder: &str, selector: &NodeSelector, paths: &mut BTreeSet<String>, notes: &mut FindNotes) {
        for entry in self.workspace.walk(folder).build() {
            if self.stop.is_cancelled() {
                return;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    notes.skipped.extend(self.workspace.not_listed(&error));
                    continue;
                }
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let shown = self.workspace.below_root(entry.path());
            if SourceLanguage::of_path(&shown).is_none() || !selector.may_be_in(&shown) {
                continue;
            }
            match entry.path().to_str() {
                Some(_) => drop(paths.insert(shown)),
                None => notes.skipped.push((shown.clone(), format!("{shown} has a name that is not UTF-8"))),
            }
        }
    }

    /// Reads files, many at once, and visits each in their order until one visit fails, or it is stopped. None: a file is
    /// not worth it, by its bytes.
    ///
    /// # Errors
    /// Those of `see`.
    pub fn read_each<E>(
        &self,
        paths: &[String],
        worth: &(impl Fn(&str, &[u8]) -> bool + Sync),
        mut see: impl FnMut(&str, Result<Option<FoundFile>, FindFault>) -> Result<(), E>,
    ) -> Result<(), E> {
        for some in paths.chunks(AT_ONCE) {
            if self.stop.is_cancelled() {
                return Ok(());
            }
            for (path, read) in some.iter().zip(self.read_all(some, worth)) {
                see(path, read)?;
            }
        }
        Ok(())
    }

    /// Reads files, in their order.
    fn read_all(
        &self,
        paths: &[String],
        worth: &(impl Fn(&str, &[u8]) -> bool + Sync),
    ) -> Vec<Result<Option<FoundFile>, FindFault>> {
        let read = |path: &String| self.read_file(path, |bytes| worth(path, bytes));
        if let [only] = paths {
            return vec![read(only)];
        }
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            let parts: Vec<_> = paths
                .chunks(paths.len().div_ceil(threads))
                .map(|part| scope.spawn(move || part.iter().map(read).collect::<Vec<_>>()))
                .collect();
            let join = |part: thread::ScopedJoinHandle<'_, _>| part.join().unwrap_or_else(|panic| resume_unwind(panic));
            parts.into_iter().flat_map(join).collect()
        })
    }

    /// Returns whether a file usually holds keys and is not read for that.
    pub fn withholds(&self, path: &str) -> bool {
        let SecretFiles::Withheld(allowed) = &self.secrets else { return false };
        holds_secrets(path) && allowed.as_ref() != Some(&self.workspace.full(path))
    }

    /// Reads a file that is worth it, by its bytes.
    ///
    /// # Errors
    /// When it cannot be read, or its definitions are not.
    pub fn read_file(&self, path: &str, worth: impl FnOnce(&[u8]) -> bool) -> Result<Option<FoundFile>, FindFault> {
        let path = self.workspace.resolve(path, Access::File)?;
        if self.withholds(&path) {
            let why = "usually holds keys: its definitions are not shown".to_owned();
            return Err(CodeFault::Unreadable { path, why }.into());
        }
        let too_large = |size: u64| CodeFault::Unreadable {
            path: path.clone(),
            why: format!("has {size} bytes: definitions are read from files up to {} MiB", LARGEST >> 20),
        };
        match self.workspace.stamp(&path).map(|stamp| stamp.size()) {
            Some(size) if size > LARGEST as u64 => return Err(too_large(size).into()),
            _ => {}
        }
        let state = match self.read_noted(&path, now) {
            Ok(read) => read.state,
            Err(ReadError::TooLarge { size, .. }) => return Err(too_large(size).into()),
            Err(error) => return Err(error.into()),
        };
        let Some(bytes) = state.bytes() else { return Ok(None) };
        if !worth(bytes) {
            return Ok(None);
        }
        let source = SourceFile::read(&path, bytes)?;
        Ok(Some(FoundFile { source, state }))
    }

    /// Reads a file as [`Workspace::read_whole`] does, and notes the words that it may hold.
    ///
    /// # Errors
    /// As there.
    pub(super) fn read_noted(&self, path: &str, clock: impl FnOnce() -> i64) -> Result<Read, ReadError> {
        // One that is changed while it is read was not changed long before.
        let begun = clock();
        let read = self.workspace.read_whole(path)?;
        if let (Some(stamp), Some(bytes)) = (read.stamp, read.state.bytes()) {
            self.workspace.words().keep(path, stamp, bytes, begun);
        }
        Ok(read)
    }

    /// Says that nothing was found in the files that were looked at, and what may have been meant.
    fn not_found(&self, selector: &NodeSelector, paths: &[String], notes: &FindNotes) -> FindFault {
        let near = selector.name().map(|name| self.nearest_ids(name, paths, Instant::now() + PATIENCE));
        let fault = CodeFault::NotFound { selector: selector.text().to_owned(), near: near.unwrap_or_default() };
        match notes.skipped.first().cloned() {
            Some((path, why)) => FindFault::Unread { fault, path, why },
            None => fault.into(),
        }
    }
}

/// Returns whether some bytes hold a word.
pub(super) fn holds(bytes: &[u8], word: &str) -> bool {
    memchr::memmem::find(bytes, word.as_bytes()).is_some()
}

/// Returns a file that was read; notes one that was not, unless the selector names it.
fn noted(
    path: &str,
    read: Result<Option<FoundFile>, FindFault>,
    selector: &NodeSelector,
    notes: &mut FindNotes,
) -> Result<Option<FoundFile>, FindFault> {
    let named = selector.named_paths().is_some_and(|named| named.iter().any(|named| named == path));
    match read {
        Err(failed) if !named => {
            notes.skipped.push((path.to_owned(), failed.to_string()));
            Ok(None)
        }
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::definitions::SourceFiles;

    #[test]
    fn an_unchanged_file_without_the_name_is_passed_over_and_a_changed_one_is_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let write = |path: &str, text: &str| fs::write(dir.path().join(path), text).expect("written");
        write("a.py", "def total():\n    pass\n");
        write("b.py", "from a import total\n\n\ndef other():\n    total()\n");
        let later = now() + 60_000;
        let (folder, stop) = (workspace.root().to_path_buf(), CancellationToken::new());
        let finder = DefinitionFinder { workspace: &workspace, folder, stop, secrets: SecretFiles::Shown };
        let places = || {
            let (file, at) = finder.one("fn.total").expect("one");
            let sources = SourceFiles::new(&finder, file).expect("walked");
            let target = sources.target("a.py", at).expect("there");
            sources.mentions(&target).iter().map(|one| one.place()).collect::<Vec<_>>()
        };
        assert_eq!(places(), ["b.py:1", "b.py:5"]);
        // What is known of a file with this stamp counts, whatever it holds: nothing yet, once it is written again.
        write("b.py", "from a import total\n\n\ndef other():\n    total()\n");
        let stamp = workspace.stamp("b.py").expect("a stamp");
        workspace.words().keep("b.py", stamp, b"nothing of it", later);
        assert_eq!(places(), Vec::<String>::new());
        assert!(finder.one("fn.other").is_err() && finder.one("b.py::other").is_err());
        write("b.py", "from a import total\n\n\ndef other():\n    return total()\n");
        assert_eq!(places(), ["b.py:1", "b.py:5"]);
        assert!(finder.one("fn.other").is_ok() && finder.one("b.py::other").is_ok());
    }

    #[test]
    fn the_time_by_which_a_file_was_changed_just_now_is_taken_before_it_is_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let write = |text: &str| fs::write(dir.path().join("a.py"), text).expect("written");
        write("def total():\n    pass\n");
        let (folder, stop) = (workspace.root().to_path_buf(), CancellationToken::new());
        let finder = DefinitionFinder { workspace: &workspace, folder, stop, secrets: SecretFiles::Shown };
        let clock = || {
            write("def changed():\n    pass\n");
            now() + 60_000
        };
        let read = finder.read_noted("a.py", clock).expect("read");
        assert_eq!(read.state.text(), Some("def changed():\n    pass\n"));
        let stamp = read.stamp.expect("a stamp");
        assert!(!workspace.words().may_hold("a.py", &stamp, &["total"]));
        assert!(workspace.words().may_hold("a.py", &stamp, &["changed"]));
    }
}
