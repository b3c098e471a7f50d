//! `rename`: a definition and all its mentions, where the text alone tells every one of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use serde_json::{Value, json};

use super::args::RenameCode;
use super::failure::{Failed, REFUSED, USAGE};
use super::place::Place;
use super::read::skipped_json;
use super::write::{Change, carry_out, diagnostics};
use crate::cli::files::ArchiveCommands;
use crate::code::{Certainty, CodeFault, CodeTarget, SourceFile, renamed};
use crate::definitions::{FoundMention, SourceFiles};
use crate::proposal::{FileChange, State};
use crate::text::number::plural;

pub(super) fn rename(place: &Place<'_>, files: &mut ArchiveCommands<'_>, args: &RenameCode) -> Result<Value, Failed> {
    let (file, at) = place.finder.one(&args.selector)?;
    if let Some(hash) = &args.expect_hash {
        file.source.expect(at, hash)?;
    }
    let path = file.source.path.clone();
    let old = file.source.called(at);
    let sources = SourceFiles::new(&place.finder, file)?;
    let target = sources.target(&path, at)?;
    let edits = resolved(&target, &sources)?;
    all_read(&target, &sources)?;
    free(&target, &sources, &args.new_name, &edits)?;
    let (mut changes, mut changed, mut now) = (Vec::new(), Vec::new(), None);
    let mut errors: Vec<Value> = Vec::new();
    for (path, (file, ranges)) in &edits {
        let new = renamed(file, ranges, &args.new_name)?;
        errors.extend(diagnostics(&new));
        changed.push(json!({"path": path, "count": ranges.len()}));
        if *path == target.file.path {
            now = new.nodes.get(target.at).map(|_| (new.called(target.at), new.id(target.at)));
        }
        let before = sources.state(path).ok_or_else(|| Failed::new("io", 7, format!("{path} cannot be read again")))?;
        changes.push(FileChange::new(path, before, State::file(new.text.into_bytes()), "code", &[]));
    }
    let (now, id) = now.ok_or_else(|| Failed::new("usage", USAGE, format!("{} is no name", args.new_name)))?;
    let answer = json!({"id": id, "changed": changed, "diagnostics": errors});
    let title = format!("code: rename {old} to {now}");
    carry_out(place, files, Change { changes, title, answer, piped: false, sources: Some(&sources) }, &args.ask)
}

/// The files of a change, each with the places of the name.
type RenamePlaces = BTreeMap<String, (Rc<SourceFile>, Vec<Range<usize>>)>;

/// Returns the places of a definition's name; refuses if one of them may mean something else.
fn resolved(target: &CodeTarget, sources: &SourceFiles<'_>) -> Result<RenamePlaces, Failed> {
    if target.names_files() {
        let why =
            format!("cannot rename {}: files are found by its name: move them by hand", target.file.id(target.at));
        return Err(Failed::new("unresolved", REFUSED, why));
    }
    let found = sources.mentions(target);
    let mut unsure: Vec<String> =
        found.iter().filter(|one| one.mention.certainty == Certainty::Name).map(|one| one.place()).collect();
    let unresolved = unsure.len();
    if target.is_member() {
        // A trait, an interface or a base class may tie them together.
        sources.each_with(&target.node().name, target.file.language, |file| {
            let alike = file.nodes.iter().filter(|node| node.name == target.node().name && !target.is(&file, node));
            unsure.extend(alike.map(|node| format!("{}:{}", file.path, file.line(node.name_at.start))));
        });
    }
    if !unsure.is_empty() {
        let (id, all) = (target.file.id(target.at), found.len());
        let why = match unresolved {
            0 => format!("cannot rename {id}: {} of its name may belong to it", plural(unsure.len(), "definition")),
            some => format!("cannot rename {id}: {some} of {all} mentions cannot be resolved without types"),
        };
        let failed = Failed::new("unresolved", REFUSED, why).and(&listed(&found, &unsure[unresolved..]));
        return Err(failed.with(json!({"places": unsure})));
    }
    let mut edits = RenamePlaces::new();
    let own = target.node().name_at.clone();
    edits.insert(target.file.path.clone(), (target.file.clone(), vec![own]));
    for one in found {
        let (_, ranges) = edits.entry(one.file.path.clone()).or_insert_with(|| (one.file.clone(), Vec::new()));
        ranges.push(one.mention.at);
    }
    Ok(edits)
}

/// Returns the lines of a refusal: all mentions, each with its certainty, and the definitions that may be the same.
fn listed(found: &[FoundMention], alike: &[String]) -> String {
    let mentions = found.iter().map(|one| format!("\n  {}  {}", one.place(), one.mention.certainty.word()));
    mentions.chain(alike.iter().map(|place| format!("\n  {place}  defines the name too"))).collect()
}

/// Refuses if a file that may mention the definition is not read.
fn all_read(target: &CodeTarget, sources: &SourceFiles<'_>) -> Result<(), Failed> {
    let notes = sources.notes();
    let Some((_, why)) = notes.skipped.first() else { return Ok(()) };
    let more = match notes.skipped.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let why = format!("cannot rename {}: what is not read may mention it: {why}{more}", target.file.id(target.at));
    Err(Failed::new("unread", REFUSED, why).with(json!({"skipped": skipped_json(&notes)})))
}

/// Refuses a new name that is in use in a file that would change, or beside the definition.
fn free(target: &CodeTarget, sources: &SourceFiles<'_>, name: &str, edits: &RenamePlaces) -> Result<(), Failed> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    if name.is_empty() || !name.chars().all(word) || name.starts_with(|c: char| c.is_numeric()) {
        return Err(CodeFault::Usage(format!("'{name}' is no name")).into());
    }
    let mut used = None;
    for (file, _) in edits.values() {
        let at = file.text.match_indices(name).map(|(at, _)| at).find(|at| {
            let (before, after) = (file.text[..*at].chars().next_back(), file.text[at + name.len()..].chars().next());
            !before.is_some_and(word) && !after.is_some_and(word)
        });
        used = used.or_else(|| at.map(|at| format!("{}:{}", file.path, file.line(at))));
    }
    // A package of Go is more than one file.
    let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    sources.each_with(name, target.file.language, |file| {
        let beside = folder(&file.path) == folder(&target.file.path) && file.path.ends_with(".go");
        let defines = file.nodes.iter().find(|node| beside && node.name == name);
        used = used.take().or_else(|| defines.map(|node| format!("{}:{}", file.path, file.line(node.name_at.start))));
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
