//! `@rag`: brings the index up to date with the present files, and finds passages for words. Only on request; the model
//! never calls it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use ignore::WalkBuilder;

use super::decode::decoded;
use crate::disk::{self, Links};
use crate::memory::rag::{Found, IndexedFile, Rag, Source, SourceId};
use crate::memory::{self};
use crate::workspace::{Ignores, Workspace, holds_secrets, is_text};

/// Files larger than this are not indexed, in bytes: they are data more often than text.
const MAX_FILE: u64 = 1 << 20;
/// Files indexed in one transaction.
const BATCH: usize = 200;
/// Bytes of text indexed in one transaction, about.
const BATCH_BYTES: usize = 4 << 20;
/// Passages found by default.
const PASSAGES: usize = 8;
/// The number of files up to which all are checked before each answer; of more only those that the index names.
const FEW: usize = 1_000;

/// A passage to be attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Relative to the workspace's root where it lies below it, else absolute.
    pub path: String,
    /// Its lines, from 1, both included.
    pub lines: (usize, usize),
    /// The text of the lines.
    pub text: String,
}

/// The progress of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexProgress {
    /// Files indexed so far.
    pub done: usize,
    /// Files that are new or changed; 0 while they are still looked for.
    pub changed: usize,
    /// Files that were removed.
    pub gone: usize,
    /// The update was stopped before its end: what is done stays done, the next one goes on from there.
    pub stopped: bool,
}

/// Called again and again as an update goes on, for each file; `false` stops it.
pub type ProgressCallback<'a> = &'a dyn Fn(IndexProgress) -> bool;

/// Brings the index of the workspace's own text files, and of everything added to it, up to date.
///
/// # Errors
/// When the index cannot be written.
pub fn update(rag: &Rag, workspace: &Workspace, watch: ProgressCallback<'_>) -> Result<IndexProgress, memory::Error> {
    let project = project(workspace);
    rag.add(&project, &project)?;
    let mut sum = IndexProgress::default();
    for source in rag.sources(&project)? {
        let one = update_source(rag, workspace, &source, watch)?;
        sum = IndexProgress {
            done: sum.done + one.done,
            changed: sum.changed + one.changed,
            gone: sum.gone + one.gone,
            stopped: one.stopped,
        };
        if one.stopped {
            break;
        }
    }
    Ok(sum)
}

/// Adds a file or folder, wherever it lies, and indexes it.
///
/// # Errors
/// When it is not there, or the index cannot be written.
pub fn add(
    rag: &Rag,
    workspace: &Workspace,
    path: &Path,
    watch: ProgressCallback<'_>,
) -> Result<IndexProgress, memory::Error> {
    let full = fs::canonicalize(path).map_err(|source| memory::Error::File { path: path.to_path_buf(), source })?;
    let project = project(workspace);
    let name = full.to_string_lossy().into_owned();
    rag.add(&project, &name)?;
    match rag.sources(&project)?.into_iter().find(|s| s.path == name) {
        Some(source) => update_source(rag, workspace, &source, watch),
        None => Ok(IndexProgress::default()),
    }
}

/// Forgets something that was added; `false` where it was not.
///
/// # Errors
/// When the index cannot be written.
pub fn remove(rag: &Rag, workspace: &Workspace, path: &Path) -> Result<bool, memory::Error> {
    rag.remove(&project(workspace), &named(path))
}

/// Returns a source's path as the index names it; one that is gone from the disk is named as it is written.
pub fn named(path: &Path) -> String {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()).to_string_lossy().into_owned()
}

/// Returns what is indexed for a workspace.
///
/// # Errors
/// When the index cannot be read.
pub fn sources(rag: &Rag, workspace: &Workspace) -> Result<Vec<Source>, memory::Error> {
    rag.sources(&project(workspace))
}

/// The passages for some words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetrievalResult {
    /// All files were looked at.
    Fresh(Vec<Passage>),
    /// The index answered as it is; only the files it named were checked. It is then brought up to date in the
    /// background.
    AtOnce(Vec<Passage>),
    /// It was stopped while the index was brought up to date, so far.
    Stopped(IndexProgress),
}

/// Returns the passages that fit the words best. Of few files all are looked at first, and so are they when nothing is
/// indexed yet or the index finds nothing; else the index answers as it is. What is found is always the text that is
/// there now.
///
/// # Errors
/// When the index can neither be read nor written.
pub fn ask(
    rag: &Rag,
    workspace: &Workspace,
    words: &str,
    watch: ProgressCallback<'_>,
) -> Result<RetrievalResult, memory::Error> {
    if rag.known(&project(workspace), FEW)?.is_some_and(|files| files > FEW) {
        let found = find(rag, workspace, words, PASSAGES)?;
        if !found.is_empty() {
            return Ok(RetrievalResult::AtOnce(found));
        }
    }
    let progress = update(rag, workspace, watch)?;
    if progress.stopped {
        return Ok(RetrievalResult::Stopped(progress));
    }
    find(rag, workspace, words, PASSAGES).map(RetrievalResult::Fresh)
}

/// Brings the index up to date where there is one already; `watch` stops it.
///
/// # Errors
/// When the index cannot be written.
pub fn refresh(rag: &Rag, workspace: &Workspace, watch: ProgressCallback<'_>) -> Result<(), memory::Error> {
    if rag.known(&project(workspace), FEW)?.is_some() {
        update(rag, workspace, watch)?;
    }
    Ok(())
}

/// Returns the passages that fit the words best by the index, best first, at most `limit`; neighbouring ones of a file
/// are joined. The files are read now: of one that changed since it was indexed, the passages are those of today, and
/// one that is gone has none.
///
/// # Errors
/// When the index cannot be read.
pub fn find(rag: &Rag, workspace: &Workspace, words: &str, limit: usize) -> Result<Vec<Passage>, memory::Error> {
    // Twice as many as are wanted, since some fall together.
    let found = rag.search(&project(workspace), words, limit * 2)?;
    let (found, texts) = todays(found, words, limit)?;
    let mut joined: Vec<Found> = Vec::new();
    for found in found {
        // A file may be part of two sources: the workspace, and a folder of it that was added.
        let file = full_path(&found.source, &found.path);
        let beside = |f: &&mut Found| {
            let near = f.lines.0 <= found.lines.1 + 1 && found.lines.0 <= f.lines.1 + 1;
            near && full_path(&f.source, &f.path) == file
        };
        match joined.iter_mut().find(beside) {
            Some(f) => f.lines = (f.lines.0.min(found.lines.0), f.lines.1.max(found.lines.1)),
            None => joined.push(found),
        }
    }
    Ok(joined.iter().filter_map(|f| passage(workspace, f, &texts)).take(limit).collect())
}

/// The texts of files by their full path; none: there is no such text any more.
type Texts = HashMap<PathBuf, Option<String>>;

/// Returns what was found, as the files are now, and their texts.
fn todays(found: Vec<Found>, words: &str, limit: usize) -> Result<(Vec<Found>, Texts), memory::Error> {
    let mut texts = Texts::new();
    let mut changed: Vec<(&Found, IndexedFile)> = Vec::new();
    for hit in &found {
        let full = full_path(&hit.source, &hit.path);
        if texts.contains_key(&full) {
            continue;
        }
        // The stamp first: a text that changes in between is at worst taken for a changed one the next time.
        let now = fs::symlink_metadata(&full).ok().filter(fs::Metadata::is_file).and_then(|m| stamp(&m, &hit.path));
        let text = now.as_ref().map(|_| text_of(&full)).filter(|t| !t.is_empty());
        if let Some(now) = now.filter(|now| (now.mtime_ns, now.size) != (hit.mtime_ns, hit.size)) {
            changed.push((hit, now));
        }
        texts.insert(full, text);
    }
    if changed.is_empty() {
        return Ok((found, texts));
    }
    // The changed ones in an index of their own: the same words find what is in them today.
    let scratch = Rag::scratch()?;
    for (hit, now) in &changed {
        let text = texts.get(&full_path(&hit.source, &hit.path)).and_then(Option::as_deref).unwrap_or_default();
        scratch.put(scratch.add("", &hit.source)?, &[(now, text)])?;
    }
    let mut anew = scratch.search("", words, limit * 2)?;
    let same = |a: &Found, b: &Found| a.source == b.source && a.path == b.path;
    let mut out = Vec::with_capacity(found.len());
    for hit in &found {
        if changed.iter().any(|(c, _)| same(c, hit)) {
            // At the place of its first passage.
            out.extend(anew.extract_if(.., |f| same(f, hit)));
        } else {
            out.push(hit.clone());
        }
    }
    Ok((out, texts))
}

fn passage(workspace: &Workspace, found: &Found, texts: &Texts) -> Option<Passage> {
    let full = full_path(&found.source, &found.path);
    let text = texts.get(&full)?.as_deref()?;
    let (from, to) = found.lines;
    let lines: Vec<&str> = text.lines().skip(from - 1).take(to + 1 - from).collect();
    if lines.is_empty() {
        return None;
    }
    let path = full.strip_prefix(workspace.root()).unwrap_or(&full);
    let lines_read = (from, from + lines.len() - 1);
    Some(Passage { path: path.to_string_lossy().into_owned(), lines: lines_read, text: lines.join("\n") })
}

fn update_source(
    rag: &Rag,
    workspace: &Workspace,
    source: &Source,
    watch: ProgressCallback<'_>,
) -> Result<IndexProgress, memory::Error> {
    let own = Path::new(&source.path) == workspace.root();
    let walk = if own { workspace.walk("") } else { walk_of(Path::new(&source.path)) };
    let Some(files) = list(Path::new(&source.path), &walk, watch) else {
        return Ok(IndexProgress { stopped: true, ..IndexProgress::default() });
    };
    let plan = rag.plan(source.id, &files)?;
    rag.forget(source.id, &plan.gone)?;
    let mut progress = IndexProgress { changed: plan.read.len(), gone: plan.gone.len(), ..IndexProgress::default() };
    let mut batch = Batch { rag, source: source.id, files: Vec::new(), bytes: 0 };
    for i in plan.read {
        if !watch(progress) {
            batch.write()?;
            return Ok(IndexProgress { stopped: true, ..progress });
        }
        let file = &files[i];
        batch.push(file, text_of(&full_path(&source.path, &file.path)))?;
        progress.done += 1;
    }
    batch.write()?;
    rag.updated(source.id)?;
    watch(progress);
    Ok(progress)
}

struct Batch<'a> {
    rag: &'a Rag,
    source: SourceId,
    files: Vec<(&'a IndexedFile, String)>,
    bytes: usize,
}

impl<'a> Batch<'a> {
    fn push(&mut self, file: &'a IndexedFile, text: String) -> Result<(), memory::Error> {
        self.bytes += text.len();
        self.files.push((file, text));
        if self.files.len() >= BATCH || self.bytes >= BATCH_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), memory::Error> {
        let files: Vec<(&IndexedFile, &str)> = self.files.iter().map(|(f, t)| (*f, t.as_str())).collect();
        self.rag.put(self.source, &files)?;
        self.files.clear();
        self.bytes = 0;
        Ok(())
    }
}

fn walk_of(path: &Path) -> WalkBuilder {
    Arc::new(Ignores::new(path)).walk(path, |e| e.file_name().as_encoded_bytes().starts_with(b"."))
}

/// Returns the files of a source that may be texts; `None`: it was stopped.
fn list(source: &Path, walk: &WalkBuilder, watch: ProgressCallback<'_>) -> Option<Vec<IndexedFile>> {
    let mut files = Vec::new();
    for entry in walk.build().flatten() {
        // Passages are sent without a question.
        if entry.file_name().to_str().is_some_and(holds_secrets) {
            continue;
        }
        if !watch(IndexProgress::default()) {
            return None;
        }
        files.extend(entry.file_type().filter(|t| t.is_file()).and_then(|_| indexed_file(source, &entry)));
    }
    Some(files)
}

/// Returns a file as the index knows it; `None` for one that is too large or not there any more.
fn indexed_file(source: &Path, entry: &ignore::DirEntry) -> Option<IndexedFile> {
    let path = entry.path().strip_prefix(source).ok()?.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
    stamp(&entry.metadata().ok()?, &path)
}

/// Returns what the index keeps of a file of this path; `None` for one that is too large.
fn stamp(meta: &fs::Metadata, path: &str) -> Option<IndexedFile> {
    if meta.len() > MAX_FILE {
        return None;
    }
    let since = meta.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mtime_ns = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
    Some(IndexedFile { path: path.to_string(), mtime_ns, size: meta.len() })
}

/// Returns a file's text, or nothing for one that is none or vanished meanwhile.
fn text_of(path: &Path) -> String {
    match disk::read_file(path, MAX_FILE, Links::Follow) {
        Ok(bytes) if is_text(&bytes) => decoded(&bytes),
        _ => String::new(),
    }
}

fn full_path(source: &str, path: &str) -> PathBuf {
    if path.is_empty() { PathBuf::from(source) } else { Path::new(source).join(path) }
}

fn project(workspace: &Workspace) -> String {
    workspace.root().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_indexed_found_and_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (root, notes) = (dir.path().join("w"), dir.path().join("notes.md"));
        fs::create_dir_all(root.join("docs")).unwrap();
        fs::write(root.join("docs/rounding.md"), "Prices round half to even.\n").unwrap();
        fs::write(root.join("在庫.md"), "在庫の単位テストを書く\n").unwrap();
        fs::write(root.join("bin"), [0, 1, 2]).unwrap();
        fs::write(root.join(".gitignore"), "out\n").unwrap();
        fs::write(root.join("out"), "Prices everywhere").unwrap();
        fs::write(&notes, "The wish list asks once.\n").unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let rag = Rag::open(&dir.path().join("rag.db")).unwrap();
        let go = |_: IndexProgress| true;

        let all = IndexProgress { done: 4, changed: 4, ..IndexProgress::default() };
        assert_eq!(update(&rag, &workspace, &go).unwrap(), all);
        assert_eq!(update(&rag, &workspace, &go).unwrap(), IndexProgress::default());
        let found = |words: &str| find(&rag, &workspace, words, PASSAGES).unwrap();
        let passage =
            Passage { path: "docs/rounding.md".into(), lines: (1, 1), text: "Prices round half to even.".into() };
        assert_eq!(found("how are prices rounded"), [passage]);
        assert_eq!(found("単位テスト")[0].path, "在庫.md");

        add(&rag, &workspace, &notes, &go).unwrap();
        let outside = found("wish list");
        assert!(Path::new(&outside[0].path).is_absolute() && outside[0].path.ends_with("notes.md"));
        assert_eq!(sources(&rag, &workspace).unwrap().len(), 2);
        assert!(add(&rag, &workspace, &dir.path().join("none"), &go).is_err());

        add(&rag, &workspace, &root.join("docs"), &go).unwrap();
        assert_eq!(found("how are prices rounded").len(), 1, "a file of two sources is found once");

        fs::remove_file(root.join("docs/rounding.md")).unwrap();
        assert_eq!(update(&rag, &workspace, &go).unwrap().gone, 2);
        assert!(found("prices").is_empty());
        assert!(remove(&rag, &workspace, &notes).unwrap());
        assert!(!remove(&rag, &workspace, &notes).unwrap());
    }

    #[test]
    fn of_many_files_the_index_answers_at_once_with_todays_text() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for i in 0..=FEW {
            fs::write(root.join(format!("f{i}.md")), format!("filler{i}\n")).unwrap();
        }
        fs::write(root.join("gone.md"), "Prices round half to even.\n").unwrap();
        fs::write(root.join("moved.md"), "Prices round half to even.\n").unwrap();
        fs::write(root.join("other.md"), "Prices round half to even.\n").unwrap();
        let workspace = Workspace::open(root).unwrap();
        let home = tempfile::tempdir().unwrap();
        let rag = Rag::open(&home.path().join("rag.db")).unwrap();
        let go = |_: IndexProgress| true;
        let whole = ask(&rag, &workspace, "rounded prices", &go).unwrap();
        assert!(matches!(&whole, RetrievalResult::Fresh(found) if found.len() == 3), "{whole:?}");

        fs::remove_file(root.join("gone.md")).unwrap();
        fs::write(root.join("moved.md"), format!("{}Prices round to odd.\n", "x\n".repeat(60))).unwrap();
        fs::write(root.join("other.md"), "Nothing of that kind any more.\n").unwrap();
        fs::write(root.join("new.md"), "Prices round up.\n").unwrap();
        let RetrievalResult::AtOnce(found) =
            ask(&rag, &workspace, "rounded prices", &|_| panic!("no file is looked for")).unwrap()
        else {
            panic!("it looked at every file");
        };
        let [only] = &found[..] else { panic!("{found:?}") };
        assert!(only.path == "moved.md" && only.lines == (51, 61) && only.text.ends_with("to odd."), "{only:?}");

        // What the index does not know is looked for among all files.
        fs::write(root.join("more.md"), "A zebra.\n").unwrap();
        let found = ask(&rag, &workspace, "zebra", &go).unwrap();
        assert!(matches!(&found, RetrievalResult::Fresh(found) if found[0].path == "more.md"), "{found:?}");
        assert!(
            matches!(ask(&rag, &workspace, "rounded prices", &go).unwrap(), RetrievalResult::AtOnce(found) if found.len() == 2)
        );
    }

    #[test]
    fn an_update_that_is_stopped_goes_on_later() {
        let dir = tempfile::tempdir().unwrap();
        for i in 0..10 {
            fs::write(dir.path().join(format!("f{i}.md")), "Prices round half to even.\n").unwrap();
        }
        let workspace = Workspace::open(dir.path()).unwrap();
        let home = tempfile::tempdir().unwrap();
        let rag = Rag::open(&home.path().join("rag.db")).unwrap();
        let stopped = update(&rag, &workspace, &|p| p.done < 4).unwrap();
        assert_eq!((stopped.done, stopped.changed, stopped.stopped), (4, 10, true));
        assert!(update(&rag, &workspace, &|_| false).unwrap().stopped, "also while files are looked for");
        assert_eq!(sources(&rag, &workspace).unwrap()[0].files, 4);
        let rest = update(&rag, &workspace, &|_| true).unwrap();
        assert_eq!((rest.done, rest.changed, rest.stopped), (6, 6, false));
    }
}
