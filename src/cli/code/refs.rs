//! `refs`: the places where a definition is mentioned, each with its certainty.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::rc::Rc;

use serde_json::{Value, json};

use super::args::RefsCode;
use super::failure::{Failed, REFUSED};
use super::find::{FoundFile, Place};
use crate::cli::files::DONE;
use crate::cli::out::Out;
use crate::code::{Certainty, CodeMention, CodeTarget, NodeSelector, SourceFile, SourceLanguage, SourceTree, mentions};
use crate::proposal::State;

/// The largest file that names a package.
const MANIFEST: usize = 1 << 20;
/// Places that a refusal lists.
const LISTED: usize = 20;

/// All source files of the workspace, each read once.
pub(super) struct Sources<'a> {
    place: &'a Place<'a>,
    paths: BTreeSet<String>,
    read: RefCell<HashMap<String, Option<Rc<SourceFile>>>>,
    states: RefCell<HashMap<String, State>>,
}

impl<'a> Sources<'a> {
    /// Finds them; `known` is one that was read already.
    pub(super) fn new(place: &'a Place<'a>, known: FoundFile) -> Result<Sources<'a>, Failed> {
        let mut paths = place.paths(&NodeSelector::parse("**")?)?;
        let FoundFile { source, state } = known;
        paths.insert(source.path.clone());
        let states = RefCell::new(HashMap::from([(source.path.clone(), state)]));
        let read = RefCell::new(HashMap::from([(source.path.clone(), Some(Rc::new(source)))]));
        Ok(Sources { place, paths, read, states })
    }

    /// Returns the state that a file was read from.
    pub(super) fn state(&self, path: &str) -> Option<State> {
        self.states.borrow().get(path).cloned()
    }

    /// Visits the files of a language that hold a name, in the order of their paths.
    pub(super) fn each_with(&self, name: &str, language: SourceLanguage, mut see: impl FnMut(Rc<SourceFile>)) {
        let like = |path: &&String| SourceLanguage::of_path(path).is_some_and(|own| own.is_like(language));
        for path in self.paths.iter().filter(like) {
            let holds = |bytes: &[u8]| memchr::memmem::find(bytes, name.as_bytes()).is_some();
            if let Some(file) = self.take(path, holds) {
                see(file);
            }
        }
    }

    fn take(&self, path: &str, worth: impl FnOnce(&[u8]) -> bool) -> Option<Rc<SourceFile>> {
        if let Some(read) = self.read.borrow().get(path) {
            return read.clone();
        }
        let found = self.place.read_file(path, worth);
        let read = match found {
            // Passed over for now: another may ask for it.
            Ok(None) => return None,
            Ok(Some(FoundFile { source, state })) => {
                self.states.borrow_mut().insert(path.to_owned(), state);
                Some(Rc::new(source))
            }
            Err(_) => None,
        };
        self.read.borrow_mut().insert(path.to_owned(), read.clone());
        read
    }
}

impl SourceTree for Sources<'_> {
    fn paths(&self) -> &BTreeSet<String> {
        &self.paths
    }

    fn source(&self, path: &str) -> Option<Rc<SourceFile>> {
        self.take(path, |_| true)
    }

    fn text(&self, path: &str) -> Option<String> {
        let stamp = self.place.workspace.stamp(path).filter(|stamp| stamp.size() <= MANIFEST as u64);
        let read = stamp.and_then(|_| self.place.workspace.read_whole(path).ok())?;
        read.state.text().map(str::to_owned)
    }
}

/// A mention with its file.
pub(super) struct Mentioned {
    pub file: Rc<SourceFile>,
    pub mention: CodeMention,
}

impl Mentioned {
    /// Returns the number of its line, from 1.
    fn line(&self) -> usize {
        self.file.line(self.mention.at.start)
    }

    /// Returns its place, as a refusal names it.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.file.path, self.line())
    }

    fn json(&self) -> Value {
        json!({
            "path": self.file.path, "line": self.line(), "column": self.column(), "in": self.within(),
            "certainty": self.mention.certainty.word(), "text": self.text(),
        })
    }

    /// Returns the number of its first character in the line, from 1.
    fn column(&self) -> usize {
        let before = &self.file.text[..self.mention.at.start];
        before.rsplit('\n').next().unwrap_or_default().chars().count() + 1
    }

    /// Returns the id of the innermost definition around it.
    fn within(&self) -> Option<String> {
        let holds = |at: &usize| self.file.nodes[*at].range.contains(&self.mention.at.start);
        (0..self.file.nodes.len()).rev().find(holds).map(|at| self.file.id(at))
    }

    /// Returns its line.
    fn text(&self) -> &str {
        self.file.text.lines().nth(self.line() - 1).unwrap_or_default().trim()
    }
}

/// Returns the mentions of a definition in all files, but for those within itself.
pub(super) fn all_mentions(target: &CodeTarget, sources: &Sources<'_>) -> Vec<Mentioned> {
    let mut found = Vec::new();
    sources.each_with(&target.node().name, target.file.language, |file| {
        let all = mentions(target, &file, sources);
        found.extend(all.into_iter().map(|mention| Mentioned { file: file.clone(), mention }));
    });
    found
}

pub(super) fn refs(place: &Place<'_>, args: &RefsCode) -> Result<u8, Failed> {
    let (file, at) = place.one(&args.selector)?;
    let path = file.source.path.clone();
    let sources = Sources::new(place, file)?;
    let target = target(&sources, &path, at)?;
    let least = args.min_certainty.as_deref().and_then(Certainty::named).unwrap_or(Certainty::Name);
    let found = all_mentions(&target, &sources);
    let mut counts: BTreeMap<&str, usize> = Certainty::ALL.iter().map(|certainty| (certainty.word(), 0)).collect();

    found.iter().for_each(|one| *counts.entry(one.mention.certainty.word()).or_default() += 1);
    let shown = found.iter().filter(|one| one.mention.certainty >= least);
    let mut out = Out::stdout();
    if place.json {
        let shown: Vec<Value> = shown.map(Mentioned::json).collect();
        out.json(&json!({"refs": shown, "counts": counts}))?;
    } else {
        for one in shown {
            let (place, certainty) = (format!("{}:{}", one.place(), one.column()), one.mention.certainty.word());
            writeln!(out, "{place}  {certainty}  {}", one.text())?;
        }
    }
    out.flush()?;
    Ok(DONE)
}

/// Returns a definition of a file that was read.
pub(super) fn target(sources: &Sources<'_>, path: &str, at: usize) -> Result<CodeTarget, Failed> {
    let file = sources.source(path).ok_or_else(|| Failed::new("io", 7, format!("{path} cannot be read again")))?;
    Ok(CodeTarget { file, at })
}

/// Refuses to remove what is mentioned outside itself, unless nothing but the name says so.
pub(super) fn unmentioned(target: &CodeTarget, sources: &Sources<'_>) -> Result<(), Failed> {
    let own = &target.node().range;
    let mut places: Vec<String> = Vec::new();
    for one in all_mentions(target, sources) {
        let inside = one.file.path == target.file.path && own.contains(&one.mention.at.start);
        if !inside && one.mention.certainty > Certainty::Name {
            places.push(one.place());
        }
    }
    if places.is_empty() {
        return Ok(());
    }
    let mut text = format!("cannot remove {} (referenced by {})\n", target.file.id(target.at), counted(places.len()));
    places.iter().take(LISTED).for_each(|place| text.push_str(&format!("  {place}\n")));
    if places.len() > LISTED {
        text.push_str(&format!("  ... and {} more\n", places.len() - LISTED));
    }
    text.push_str("Use --force to leave them dangling");
    Err(Failed::new("referenced", REFUSED, text).with(json!({"referenced_by": places})))
}

fn counted(places: usize) -> String {
    crate::text::number::plural(places, "place")
}
