//! The files of a rename, and whether the new name is free in them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use serde_json::{Value, json};

use super::failure::{Failed, REFUSED};
use crate::code::{
    CodeFault, CodeTarget, MentionFinder, SourceFile, SourceLanguage, import_called, is_found_by_name, is_of_name,
    is_reserved, misfit, whole_places,
};
use crate::definitions::SourceFiles;
use crate::proposal::State;

/// The files of a rename as they would be.
pub(super) struct Renamed {
    /// The files.
    pub files: Vec<RenamedFile>,
    /// The places of the same name that stay as they are.
    pub left: Vec<String>,
    /// The language server that told it.
    pub server: Option<String>,
}

/// A file of a rename.
pub(super) struct RenamedFile {
    /// Its path.
    pub path: String,
    /// The number of places.
    pub count: usize,
    /// The state it was told from.
    pub before: State,
    /// The state it would have.
    pub after: State,
    /// Its definitions as they would be, if it is a source file.
    pub new: Option<SourceFile>,
}

/// The files of a change, each with the places of the name.
pub(super) type RenamePlaces = BTreeMap<String, (Rc<SourceFile>, Vec<Range<usize>>)>;

/// Refuses what is no name for a definition.
pub(super) fn is_name(name: &str, target: &CodeTarget) -> Result<(), Failed> {
    let language = target.file.language;
    let is_script = language.is_like(SourceLanguage::TypeScript);
    // What is private by its mark keeps it, and a word of Rust is a name behind its own.
    let raw = name.strip_prefix("r#").filter(|_| language == SourceLanguage::Rust);
    let word = match target.node().name.starts_with('#') {
        true => name.strip_prefix('#').unwrap_or_default(),
        false => raw.unwrap_or(name),
    };
    let is_word = !word.is_empty() && word.chars().all(|c| is_of_name(c) && (is_script || c != '$'));
    let is_raw = |word: &str| {
        !["_", "crate", "self", "super", "Self"].contains(&word) && is_reserved(language, word, target.is_member())
    };
    if !is_word || word.starts_with(|c: char| c.is_numeric()) || raw.is_some_and(|word| !is_raw(word)) {
        return Err(CodeFault::Usage(format!("'{name}' is no name")).into());
    }
    if is_reserved(language, name, target.is_member()) {
        return Err(CodeFault::Usage(format!("'{name}' is a word of the language, and no name")).into());
    }
    Ok(())
}

/// Refuses a definition that something finds by its name without mentioning it in the files.
pub(super) fn is_renamable(target: &CodeTarget, sources: &SourceFiles<'_>) -> Result<(), Failed> {
    let (file, node) = (&target.file, target.node());
    let refuse = |why: &str| {
        let why = format!("cannot rename {}: {why}", file.id(target.at));
        Err(Failed::new("unresolved", REFUSED, why))
    };
    if target.names_files() {
        return refuse("files are found by its name: move them by hand");
    }
    if is_found_by_name(file.language, &node.name, target.is_member()) {
        return refuse("the language or its library finds it by this name");
    }
    let head = file.text.get(node.range.start..node.name_at.start).unwrap_or_default();
    if file.language == SourceLanguage::Rust && head.contains("no_mangle") {
        return refuse("other programs are linked to it by this name (no_mangle)");
    }
    if target.is_linked() && !head.contains("link_name") {
        return refuse("it is linked by this name (extern); give it a #[link_name] first");
    }
    if let Some(name) = target.foreign_trait(sources) {
        return refuse(&format!("the trait {name}, which is not defined here, asks for this name"));
    }
    if let Some(name) = target.foreign_base(sources) {
        return refuse(&format!("the base {name}, whose members are not all defined here, may find it by this name"));
    }
    if let Some(why) = target.found_by_name(sources) {
        return refuse(&why);
    }
    Ok(())
}

/// Refuses a new name by which other files would not see the definition any more: one that is not exported in Go, one with
/// `_` before it in Python.
pub(super) fn visible(
    target: &CodeTarget,
    sources: &SourceFiles<'_>,
    name: &str,
    edits: &RenamePlaces,
) -> Result<(), Failed> {
    let (file, old) = (&target.file, &target.node().name);
    let blind = match file.language {
        SourceLanguage::Go if old.starts_with(char::is_uppercase) && !name.starts_with(char::is_uppercase) => {
            let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
            let package = |file: &SourceFile| {
                let clause = file.text.lines().find_map(|line| line.strip_prefix("package "));
                (folder(&file.path), clause.unwrap_or_default().trim().to_owned())
            };
            let own = package(file);
            edits
                .values()
                .find(|(other, _)| package(other) != own)
                .map(|(other, ranges)| (other.clone(), ranges[0].start))
        }
        SourceLanguage::Python if name.starts_with('_') && !old.starts_with('_') => {
            let (finder, mut found) = (MentionFinder::new(target, sources), None);
            let is_used = edits.keys().any(|path| *path != file.path);
            sources.each_with("import *", file.language, |other| {
                if is_used && found.is_none() && finder.has_glob(&other) {
                    let at = other.text.find("import *").unwrap_or_default();
                    found = Some((other, at));
                }
            });
            found
        }
        _ => None,
    };
    let Some((other, at)) = blind else { return Ok(()) };
    let place = format!("{}:{}", other.path, other.line(at));
    let why = format!("cannot rename {} to {name}: {place} would not see it by that name", file.id(target.at));
    Err(Failed::new("exists", REFUSED, why).with(json!({"place": place})))
}

/// Returns where a file has a name.
fn place_of(file: &SourceFile, name: &str) -> Option<String> {
    let at = whole_places(&file.text, name).next();
    at.map(|at| format!("{}:{}", file.path, file.line(at)))
}

/// Refuses a new name that is in use in a file that would change, or beside the definition.
pub(super) fn free(
    target: &CodeTarget,
    sources: &SourceFiles<'_>,
    name: &str,
    edits: &RenamePlaces,
) -> Result<(), Failed> {
    let mut used = None;
    for (file, ranges) in edits.values() {
        if let Some((at, why)) = ranges.iter().find_map(|at| Some((at, misfit(file, at, name)?))) {
            let place = format!("{}:{}", file.path, file.line(at.start));
            let why = format!("cannot rename {} to {name}: {place}: {why}", target.file.id(target.at));
            return Err(Failed::new("exists", REFUSED, why).with(json!({"place": place})));
        }
        used = used.or_else(|| place_of(file, name));
    }
    // A name that `*` brings from two modules means neither.
    let finder = MentionFinder::new(target, sources);
    sources.each_with(name, target.file.language, |file| {
        if used.is_none() && finder.has_glob(&file) {
            used = place_of(&file, name);
        }
    });
    // A package of Go is more than one file.
    let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    sources.each_with(name, target.file.language, |file| {
        let beside = folder(&file.path) == folder(&target.file.path) && file.path.ends_with(".go");
        let defines = file.nodes.iter().find(|node| node.name == name).map(|node| node.name_at.start);
        let taken = defines.or_else(|| import_called(&file, name)).filter(|_| beside);
        used = used.take().or_else(|| taken.map(|at| format!("{}:{}", file.path, file.line(at))));
    });
    match used {
        Some(place) => {
            let why = format!("cannot rename {} to {name}: {place} uses that name", target.file.id(target.at));
            let details: Value = json!({"place": place});
            Err(Failed::new("exists", REFUSED, why).with(details))
        }
        None => Ok(()),
    }
}
