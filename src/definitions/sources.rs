//! All source files of a workspace, and the mentions of a definition in them.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::fault::FindFault;
use super::find::{DefinitionFinder, FindNotes, FoundFile, holds};
use crate::code::{
    CodeFault, CodeMention, CodeTarget, LARGEST, MentionFinder, NodeSelector, SourceFile, SourceLanguage, SourceTree,
    whole_places,
};
use crate::proposal::State;
use crate::text::time::now;
use crate::workspace::Stamp;

/// All source files of the workspace, each read once.
pub struct SourceFiles<'a> {
    finder: &'a DefinitionFinder<'a>,
    paths: BTreeSet<String>,
    /// Their stamps before any was read, but for the one that was known.
    stamps: HashMap<String, Option<Stamp>>,
    /// Each that was asked for, or why it is not read.
    read: RefCell<HashMap<String, Result<Rc<SourceFile>, String>>>,
    states: RefCell<HashMap<String, State>>,
    notes: RefCell<FindNotes>,
}

impl<'a> SourceFiles<'a> {
    /// Finds them; `known` is one that was read already.
    ///
    /// # Errors
    /// When the workspace cannot be walked.
    pub fn new(finder: &'a DefinitionFinder<'a>, known: FoundFile) -> Result<SourceFiles<'a>, FindFault> {
        let mut notes = FindNotes::default();
        let mut paths = finder.paths(&NodeSelector::parse("**")?, &mut notes)?;
        let stamps = paths.iter().cloned().zip(finder.stamps(&paths)).collect();
        let FoundFile { source, state } = known;
        paths.insert(source.path.clone());
        let states = RefCell::new(HashMap::from([(source.path.clone(), state)]));
        let read = RefCell::new(HashMap::from([(source.path.clone(), Ok(Rc::new(source)))]));
        Ok(SourceFiles { finder, paths, stamps, read, states, notes: RefCell::new(notes) })
    }

    /// Returns what the mentions that were asked for may lack: files that hold the name and are not read, folders that
    /// are not listed, syntax errors in files that mention it.
    pub fn notes(&self) -> FindNotes {
        self.notes.borrow().clone()
    }

    /// Returns a file that is another one than it was when these were found, or is there no more, or only since.
    ///
    /// # Errors
    /// When the workspace cannot be walked.
    pub fn changed(&self) -> Result<Option<String>, FindFault> {
        let now = self.finder.paths(&NodeSelector::parse("**")?, &mut FindNotes::default())?;
        let gone = self.stamps.keys().find(|path| !now.contains(*path)).cloned();
        let mut stamps = now.iter().zip(self.finder.stamps(&now));
        let other = stamps.find(|(path, stamp)| self.stamps.get(*path) != Some(stamp)).map(|(path, _)| path.clone());
        Ok(gone.or(other))
    }

    /// Returns the state that a file was read from.
    pub fn state(&self, path: &str) -> Option<State> {
        self.states.borrow().get(path).cloned()
    }

    /// Visits the files of a language that hold a name, in the order of their paths.
    pub fn each_with(&self, name: &str, language: SourceLanguage, see: impl FnMut(Rc<SourceFile>)) {
        self.each_with_any(&[name], language, see);
    }

    /// Visits the files of a language that hold one of some words, in the order of their paths.
    fn each_with_any(&self, words: &[&str], language: SourceLanguage, mut see: impl FnMut(Rc<SourceFile>)) {
        let like = |path: &&String| SourceLanguage::of_path(path).is_some_and(|own| own.is_like(language));
        let is_likely = |path: &&String| self.is_likely(path, words);
        let paths = self.paths.iter().filter(like).filter(is_likely);
        for path in paths.take_while(|_| !self.finder.stop.is_cancelled()) {
            match self.take(path, |bytes| holds_any(bytes, words)) {
                Ok(Some(file)) => see(file),
                Ok(None) => {}
                Err(why) if self.may_hold(path, words) => self.skip(path, why),
                Err(_) => {}
            }
        }
    }

    /// Returns whether a file may hold one of some words, by what is known of it without reading it.
    fn is_likely(&self, path: &str, words: &[&str]) -> bool {
        let stamp = self.stamps.get(path).copied().flatten();
        stamp.is_none_or(|stamp| self.finder.workspace.words().may_hold(path, &stamp, words))
    }

    /// Returns a definition of a file.
    ///
    /// # Errors
    /// When the file cannot be read any more.
    pub fn target(&self, path: &str, at: usize) -> Result<CodeTarget, CodeFault> {
        let why = || CodeFault::Unreadable { path: path.to_owned(), why: "cannot be read again".to_owned() };
        Ok(CodeTarget { file: self.source(path).ok_or_else(why)?, at })
    }

    /// Returns whether a file that is not read holds one of some words; if its bytes cannot be told, it may.
    fn may_hold(&self, path: &str, words: &[&str]) -> bool {
        let read = self.finder.workspace.read_whole(path).ok();
        let bytes = read.as_ref().and_then(|read| read.state.bytes());
        bytes.is_none_or(|bytes| holds_any(bytes, words))
    }

    fn skip(&self, path: &str, why: String) {
        let skipped = &mut self.notes.borrow_mut().skipped;
        if skipped.iter().all(|(known, _)| known != path) {
            skipped.push((path.to_owned(), why));
        }
    }

    /// Returns the mentions of a definition in all files.
    pub fn mentions(&self, target: &CodeTarget) -> Vec<FoundMention> {
        let (finder, mut found) = (MentionFinder::new(target, self), Vec::new());
        self.each_with_any(&finder.words(), target.file.language, |file| {
            let all = finder.of(&file);
            if let Some(error) = file.errors.first().filter(|_| !all.is_empty()) {
                self.notes.borrow_mut().errors.push((file.path.clone(), file.line(*error)));
            }
            found.extend(all.into_iter().map(|mention| FoundMention { file: file.clone(), mention }));
        });
        found
    }

    /// Returns the places of a definition's name that may mean it, though they are in no source file that is understood:
    /// in JavaScript and what holds it.
    pub fn unread(&self, target: &CodeTarget) -> Vec<String> {
        let (name, mut found) = (&target.node().name, Vec::new());
        if !target.file.language.is_like(SourceLanguage::TypeScript) {
            return found;
        }
        let of_script = |path: &String| path.rsplit_once('.').is_some_and(|(_, end)| SCRIPTS.contains(&end));
        let is_read = |path: &String| of_script(path) && !self.finder.withholds(path);
        let mut paths: Vec<String> = self.finder.files().filter(is_read).collect();
        paths.sort();
        for path in paths {
            let Some(text) = self.text(&path).filter(|text| text.contains(name)) else { continue };
            let lines = text.lines().enumerate().filter(|(_, line)| whole_places(line, name).next().is_some());
            found.extend(lines.map(|(n, _)| format!("{path}:{}", n + 1)));
        }
        found
    }

    /// Returns a file that is worth it, by its bytes, or why it is not read.
    fn take(&self, path: &str, worth: impl FnOnce(&[u8]) -> bool) -> Result<Option<Rc<SourceFile>>, String> {
        if let Some(read) = self.read.borrow().get(path) {
            return read.clone().map(Some);
        }
        let read = match self.finder.read_file(path, worth) {
            // Passed over for now: another may ask for it.
            Ok(None) => return Ok(None),
            Ok(Some(FoundFile { source, state })) => {
                self.states.borrow_mut().insert(path.to_owned(), state);
                Ok(Rc::new(source))
            }
            Err(fault) => Err(fault.to_string()),
        };
        self.read.borrow_mut().insert(path.to_owned(), read.clone());
        read.map(Some)
    }

    /// Returns the text of a file. Only those among these files are asked for by their words again.
    fn text_by(&self, path: &str, clock: impl FnOnce() -> i64) -> Option<String> {
        if let Some(Ok(file)) = self.read.borrow().get(path) {
            return Some(file.text.clone());
        }
        let workspace = self.finder.workspace;
        workspace.stamp(path).filter(|stamp| stamp.size() <= LARGEST as u64)?;
        let read = match self.paths.contains(path) {
            true => self.finder.read_noted(path, clock),
            false => workspace.read_whole(path),
        };
        read.ok()?.state.text().map(str::to_owned)
    }
}

impl SourceTree for SourceFiles<'_> {
    fn paths(&self) -> &BTreeSet<String> {
        &self.paths
    }

    fn source(&self, path: &str) -> Option<Rc<SourceFile>> {
        self.take(path, |_| true).ok().flatten()
    }

    fn text(&self, path: &str) -> Option<String> {
        self.text_by(path, now)
    }

    fn text_with(&self, path: &str, words: &[&str]) -> Option<String> {
        let is_likely = self.read.borrow().contains_key(path) || self.is_likely(path, words);
        let text = if is_likely { self.text(path) } else { None };
        text.filter(|text| holds_any(text.as_bytes(), words))
    }
}

fn holds_any(bytes: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| holds(bytes, word))
}

/// Endings of the files that hold JavaScript, which may import from TypeScript.
const SCRIPTS: &[&str] = &["js", "jsx", "mjs", "cjs", "vue", "svelte"];

/// A mention with its file.
pub struct FoundMention {
    /// The file.
    pub file: Rc<SourceFile>,
    /// Its place in the text.
    pub mention: CodeMention,
}

impl FoundMention {
    /// Returns the number of its line, from 1.
    pub fn line(&self) -> usize {
        self.file.line(self.mention.at.start)
    }

    /// Returns its place, as a refusal names it.
    pub fn place(&self) -> String {
        format!("{}:{}", self.file.path, self.line())
    }

    /// Returns the number of its first character in the line, from 1.
    pub fn column(&self) -> usize {
        let before = &self.file.text[..self.mention.at.start];
        before.rsplit('\n').next().unwrap_or_default().chars().count() + 1
    }

    /// Returns the id of the innermost definition around it.
    pub fn within(&self) -> Option<String> {
        self.file.holder(self.mention.at.start).map(|at| self.file.id(at))
    }

    /// Returns its line.
    pub fn text(&self) -> &str {
        self.file.line_text(self.mention.at.start).trim()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::definitions::SecretFiles;
    use crate::workspace::Workspace;

    #[test]
    fn the_words_of_source_files_are_noted_and_those_of_no_other_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        for (path, text) in [
            ("a.ts", "export const total = 1;\n"),
            ("b.ts", "import { total } from './a';\n"),
            ("page.js", "import { total } from './a';\n"),
            ("package.json", "{}\n"),
        ] {
            fs::write(dir.path().join(path), text).expect("written");
        }
        let (folder, stop) = (workspace.root().to_path_buf(), CancellationToken::new());
        let finder = DefinitionFinder { workspace: &workspace, folder, stop, secrets: SecretFiles::Shown };
        let (file, _) = finder.one("a.ts::total").expect("one");
        let sources = SourceFiles::new(&finder, file).expect("walked");
        let is_noted = |path: &str| {
            assert!(sources.text_by(path, || now() + 60_000).is_some(), "{path}");
            let stamp = workspace.stamp(path).expect("a stamp");
            !workspace.words().may_hold(path, &stamp, &["nowhere"])
        };
        assert_eq!(["b.ts", "page.js", "package.json"].map(is_noted), [true, false, false]);
    }
}
