//! A rename through a language server: its edit is checked against the files and becomes a proposal like any other.

mod joined;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use self::joined::joined;
use super::failure::{Failed, REFUSED};
use super::place::Place;
use super::renamed::{Renamed, RenamedFile, free};
use super::servers::Chosen;
use crate::code::{Certainty, CodeTarget, SourceFile, SourceLanguage, SourceTree, names_field, respelled};
use crate::definitions::{FoundMention, SourceFiles};
use crate::lsp::{self, FileEdits, LspFault, OpenText, RenameQuestion, ServerStart};
use crate::proposal::State;
use crate::shell::Grant;
use crate::workspace::Access;

/// Files that a server is shown; the others it reads itself.
const SHOWN: usize = 200;
/// EditPlaces that a refusal lists.
const LISTED: usize = 20;

impl Chosen<'_> {
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.server.name
    }

    /// Asks it for the rename of a definition. Nothing is written.
    ///
    /// # Errors
    /// When it gives no edit that renames the definition and nothing else.
    pub fn rename(
        &self,
        place: &Place<'_>,
        (target, sources, found): (&CodeTarget, &SourceFiles<'_>, &[FoundMention]),
        new_name: &str,
    ) -> Result<Renamed, Failed> {
        let edits = self.ask(target, found, new_name).map_err(|fault| self.failed(&fault))?;
        let (mut files, mut places) = (Vec::new(), BTreeMap::new());
        for edits in &edits {
            let path = self.path(edits, place, sources)?;
            let file = self.file(edits, (&path, new_name), place, sources)?;
            let before = file.before.text().unwrap_or_default();
            places.insert(path, edits.places(before).map_err(|fault| self.failed(&fault))?);
            files.push(file);
        }
        self.whole(target, found, &places)?;
        let of_source = |(path, ranges): (&String, &Vec<Range<usize>>)| {
            Some((path.clone(), (sources.source(path)?, ranges.clone())))
        };
        free(target, sources, new_name, &places.iter().filter_map(of_source).collect())?;
        let own = files.iter().find(|file| file.path == target.file.path).and_then(|file| file.new.as_ref());
        if own.and_then(|new| new.nodes.get(target.at)).is_none_or(|node| node.name != new_name) {
            let why = format!("{} gave an edit that does not rename {}", self.name(), target.file.id(target.at));
            return Err(Failed::new("server", REFUSED, why));
        }
        let mut left: Vec<String> = found.iter().filter(|one| !is_in(one, &places)).map(FoundMention::place).collect();
        let alike = alike(target, sources, &places);
        if let Some((other, union)) = joined(target, &alike, sources) {
            let (name, id) = (self.name(), target.file.id(target.at));
            let why =
                format!("{name} would rename {id} and leave {other}, which the union in {union} makes one with it");
            return Err(Failed::new("incomplete", REFUSED, why).with(serde_json::json!({"places": [other]})));
        }
        left.extend(
            alike.iter().map(|(file, at)| format!("{}:{}", file.path, file.line(file.nodes[*at].name_at.start))),
        );
        Ok(Renamed { files, left, server: Some(self.name().to_owned()) })
    }

    fn failed(&self, fault: &LspFault) -> Failed {
        let kind = if matches!(fault, LspFault::Late(..)) { "late" } else { "server" };
        let more = match fault {
            LspFault::Late(..) => "; --wait gives it more time",
            _ => "",
        };
        Failed::new(kind, REFUSED, format!("{} {fault}{more}: nothing was changed", self.name()))
    }

    fn ask(&self, target: &CodeTarget, found: &[FoundMention], new_name: &str) -> Result<Vec<FileEdits>, LspFault> {
        let context = self.context;
        // Keys stay out of it, as they do of commands.
        let archive = context.archive().map_err(|error| LspFault::NotStarted(error.to_string()))?;
        let shell = crate::agent::shell(&context.config, &context.workspace, &archive);
        let environment = shell.environment.of(&self.server.name, &BTreeMap::new(), Grant::Workspace, None, false);
        let mut seen = BTreeSet::from([target.file.path.clone()]);
        let mut open: Vec<Rc<SourceFile>> = vec![target.file.clone()];
        open.extend(found.iter().map(|one| &one.file).filter(|file| seen.insert(file.path.clone())).cloned());
        open.truncate(SHOWN);
        let open: Vec<OpenText<'_>> = open.iter().map(|file| OpenText { path: &file.path, text: &file.text }).collect();
        let start = ServerStart { stage: Some(&context.config.program), environment: &environment };
        let question = RenameQuestion {
            root: context.workspace.root(),
            open: &open,
            at: target.node().name_at.start,
            new_name,
            patience: Duration::from_secs(self.patience),
        };
        lsp::rename(&self.server, &start, &question)
    }

    /// Returns the path of a file of the edit, below the workspace's root.
    fn path(&self, edits: &FileEdits, place: &Place<'_>, sources: &SourceFiles<'_>) -> Result<String, Failed> {
        let shown = edits.path.display();
        let refused = |why: &str| {
            let why = format!("{} would change {shown}, {why}: nothing was changed", self.name());
            Failed::new("server", REFUSED, why)
        };
        let workspace = place.finder.workspace;
        let below = edits.path.strip_prefix(workspace.root()).ok().and_then(Path::to_str);
        let below = below.ok_or_else(|| refused("which is outside the workspace"))?;
        let path =
            workspace.resolve(below, Access::File).map_err(|error| refused(&format!("which cannot be: {error}")))?;
        if place.finder.withholds(&path) {
            return Err(refused("which usually holds keys"));
        }
        // What git would not find is made by a program, and made again.
        let listed = match SourceLanguage::of_path(&path) {
            Some(_) => sources.paths().contains(&path),
            None => workspace.walk("").build().flatten().any(|entry| entry.path() == edits.path),
        };
        match listed && path == below {
            true => Ok(path),
            false => Err(refused("which is ignored, or reached through a link")),
        }
    }

    fn file(
        &self,
        edits: &FileEdits,
        (path, new_name): (&str, &str),
        place: &Place<'_>,
        sources: &SourceFiles<'_>,
    ) -> Result<RenamedFile, Failed> {
        let source = SourceLanguage::of_path(path).and_then(|_| sources.source(path));
        let before = match sources.state(path) {
            Some(state) => state,
            None => place.finder.workspace.read_whole(path).map_err(anyhow::Error::from)?.state,
        };
        let Some(text) = before.text() else {
            let why = format!("{} would change {path}, which is no text: nothing was changed", self.name());
            return Err(Failed::new("server", REFUSED, why));
        };
        if let Some(source) = &source {
            let mut puts = edits.spans(text).map_err(|fault| self.failed(&fault))?.into_iter();
            // Of `{ total }` the one word is two names: with a new word alone, both would be others.
            if let Some((place, _)) = puts.find(|(place, put)| *put == new_name && names_field(source, place)) {
                let line = source.line(place.start);
                let why = format!("{} would rename a field and a variable as one at {path}:{line}", self.name());
                return Err(Failed::new("server", REFUSED, format!("{why}: nothing was changed")));
            }
        }
        let text = edits.applied(text).map_err(|fault| self.failed(&fault))?;
        let new = source.map(|source| respelled(&source, &text)).transpose()?;
        Ok(RenamedFile {
            path: path.to_owned(),
            count: edits.count(),
            before,
            after: State::file(text.into_bytes()),
            new,
        })
    }

    /// Refuses an edit that leaves a mention as it is of which more than its name tells that it is one: a server knows
    /// nothing of code that is left out of the build for this machine, or of a project that it has not loaded.
    fn whole(&self, target: &CodeTarget, found: &[FoundMention], places: &EditPlaces) -> Result<(), Failed> {
        let left = found.iter().filter(|one| one.mention.certainty > Certainty::Name && !is_in(one, places));
        let left: Vec<String> = left.map(FoundMention::place).collect();
        if left.is_empty() {
            return Ok(());
        }
        let mut why = format!("{} would not rename every mention of {}:", self.name(), target.file.id(target.at));
        left.iter().take(LISTED).for_each(|place| why.push_str(&format!(" {place}")));
        if left.len() > LISTED {
            why.push_str(&format!(" and {} more", left.len() - LISTED));
        }
        Err(Failed::new("incomplete", REFUSED, why).with(serde_json::json!({"places": left})))
    }
}

/// The bytes of each file that an edit takes the place of.
type EditPlaces = BTreeMap<String, Vec<Range<usize>>>;

/// Returns the methods or fields of the same name that an edit leaves as they are: what is checked at run time alone,
/// as an interface of Go may be, ties them together, and no server tells.
fn alike(target: &CodeTarget, sources: &SourceFiles<'_>, places: &EditPlaces) -> Vec<(Rc<SourceFile>, usize)> {
    let mut left = Vec::new();
    if !target.is_member() {
        return left;
    }
    sources.each_with(&target.node().name, target.file.language, |file| {
        let is_left = |at: &Range<usize>| !places.get(&file.path).is_some_and(|places| places.contains(at));
        let is_same = |at: &usize| {
            let node = &file.nodes[*at];
            node.name == target.node().name && is_left(&node.name_at)
        };
        left.extend((0..file.nodes.len()).filter(is_same).map(|at| (Rc::clone(&file), at)));
    });
    left
}

/// Returns whether an edit is about a mention.
fn is_in(one: &FoundMention, places: &EditPlaces) -> bool {
    let at = &one.mention.at;
    let meets = |place: &Range<usize>| place.start <= at.end && at.start <= place.end;
    places.get(&one.file.path).is_some_and(|places| places.iter().any(meets))
}
