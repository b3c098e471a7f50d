//! `rename`: a definition and all its mentions, where the text alone tells every one of them, or a language server does.

use std::io::Write;

use serde_json::{Value, json};

use super::args::RenameCode;
use super::failure::{Failed, REFUSED, USAGE};
use super::place::Place;
use super::read::skipped_json;
use super::renamed::{RenamePlaces, Renamed, RenamedFile, free, is_name, is_renamable, visible};
use super::servers::Chosen;
use super::write::{Change, carry_out, diagnostics};
use crate::cli::files::ArchiveCommands;
use crate::code::{Certainty, CodeTarget, SourceFile, bound_in_module, is_counterpart, renamed};
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
    is_name(&args.new_name, &target)?;
    is_renamable(&target, &sources)?;
    let asked = args.server.then(|| place.servers.required(&path)).transpose()?;
    let Renamed { files: renamed, left, server } = found_out(place, files, (&target, &sources), args, asked)?;
    let (mut changes, mut changed, mut now) = (Vec::new(), Vec::new(), None);
    let mut errors: Vec<Value> = Vec::new();
    for RenamedFile { path, count, before, after, new } in renamed {
        changed.push(json!({"path": path, "count": count}));
        if let Some(new) = new {
            errors.extend(diagnostics(&new));
            if path == target.file.path {
                now = new.nodes.get(target.at).map(|_| (new.called(target.at), new.id(target.at)));
            }
        }
        changes.push(FileChange::new(&path, before, after, "code", &[]));
    }
    let (now, id) = now.ok_or_else(|| Failed::new("usage", USAGE, format!("{} is no name", args.new_name)))?;
    let mut answer = json!({"id": id, "changed": changed, "diagnostics": errors});
    if let Some(server) = &server {
        answer["server"] = server.as_str().into();
    }
    if server.is_some() || !left.is_empty() {
        answer["left"] = left.clone().into();
    }
    if !place.json && !left.is_empty() {
        let why = match &server {
            Some(server) => format!(", not found by {server}"),
            None => ", since what they mean is not looked up".to_owned(),
        };
        files.complain(&format!("left as they are{why}: {}", left.join(", ")))?;
    }
    let title = format!("code: rename {old} to {now}");
    carry_out(
        place,
        files,
        Change { changes, title, answer, piped: false, sources: Some(&sources), anew: None },
        &args.ask,
    )
}

/// Tells a rename: by the text, or by a language server where one was asked for, or is configured and needed.
fn found_out(
    place: &Place<'_>,
    files: &mut ArchiveCommands<'_>,
    (target, sources): (&CodeTarget, &SourceFiles<'_>),
    args: &RenameCode,
    asked: Option<Chosen<'_>>,
) -> Result<Renamed, Failed> {
    let mut found = sources.mentions(target);
    found.retain(|one| !one.mention.is_alias);
    let server = match asked {
        Some(server) => server,
        None => match (resolved(target, sources, &found), place.servers.configured(&target.file.path)) {
            (Ok(places), _) => {
                all_read(target, sources)?;
                free(target, sources, &args.new_name, &places)?;
                visible(target, sources, &args.new_name, &places)?;
                return Ok(Renamed { left: sources.unread(target), ..by_text(&places, sources, &args.new_name)? });
            }
            (Err(_), Some(server)) => server,
            (Err(unresolved), None) => return Err(unresolved.and(&place.servers.advice(&target.file.path))),
        },
    };
    all_read(target, sources)?;
    if !place.json {
        files.complain(&format!("asking {}", server.name()))?;
        files.err.flush()?;
    }
    server.rename(place, (target, sources, &found), &args.new_name)
}

/// Returns the files with the name written anew in its places.
fn by_text(places: &RenamePlaces, sources: &SourceFiles<'_>, name: &str) -> Result<Renamed, Failed> {
    let mut files = Vec::new();
    for (path, (file, ranges)) in places {
        let new = renamed(file, ranges, name)?;
        let before = sources.state(path).ok_or_else(|| Failed::new("io", 7, format!("{path} cannot be read again")))?;
        let after = State::file(new.text.clone().into_bytes());
        files.push(RenamedFile { path: path.clone(), count: ranges.len(), before, after, new: Some(new) });
    }
    Ok(Renamed { files, left: Vec::new(), server: None })
}

/// Returns the places of a definition's name; refuses if one of them may mean something else.
fn resolved(target: &CodeTarget, sources: &SourceFiles<'_>, found: &[FoundMention]) -> Result<RenamePlaces, Failed> {
    let mut unsure: Vec<String> =
        found.iter().filter(|one| one.mention.certainty == Certainty::Name).map(|one| one.place()).collect();
    let unresolved = unsure.len();
    if target.is_member() {
        // A trait, an interface or a base class may tie them together.
        sources.each_with(&target.node().name, target.file.language, |file| {
            let alike = file.nodes.iter().filter(|node| node.name == target.node().name && !target.is(&file, node));
            unsure.extend(alike.map(|node| format!("{}:{}", file.path, file.line(node.name_at.start))));
        });
    } else {
        // Signatures of one function, or one definition for each case: another name would part them.
        let (file, dotted) = (&target.file, &target.node().dotted);
        let alike = file.nodes.iter().filter(|node| node.dotted == *dotted && !target.is(file, node));
        unsure.extend(alike.map(|node| format!("{}:{}", file.path, file.line(node.name_at.start))));
        sources.each_with(&target.node().name, file.language, |other| {
            unsure.extend(beside_stub(target, found, &other));
            let added = target.additions(sources, &other).into_iter();
            unsure.extend(added.map(|at| format!("{}:{}", other.path, other.line(at))));
        });
    }
    // A decorator such as `@dataclass` makes field names part of what a program reads.
    if let Some(decorator) = target.field_decorator() {
        let why =
            format!("cannot rename {}: @{decorator} makes its name one that programs read", target.file.id(target.at));
        return Err(Failed::new("unresolved", REFUSED, why));
    }
    if !unsure.is_empty() {
        let (id, all) = (target.file.id(target.at), found.len());
        let why = match unresolved {
            0 => format!("cannot rename {id}: {} of its name may belong to it", plural(unsure.len(), "definition")),
            some => format!("cannot rename {id}: {some} of {all} mentions cannot be resolved without types"),
        };
        let failed = Failed::new("unresolved", REFUSED, why).and(&listed(found, &unsure[unresolved..]));
        return Err(failed.with(json!({"places": unsure})));
    }
    let mut edits = RenamePlaces::new();
    let own = target.node().name_at.clone();
    edits.insert(target.file.path.clone(), (target.file.clone(), vec![own]));
    for one in found {
        let (_, ranges) = edits.entry(one.file.path.clone()).or_insert_with(|| (one.file.clone(), Vec::new()));
        ranges.push(one.mention.at.clone());
    }
    Ok(edits)
}

/// Returns where a file of Python binds the definition's name apart from it, though it is the stub of a module that binds
/// the definition by it, or the module of such a stub.
fn beside_stub(target: &CodeTarget, found: &[FoundMention], other: &SourceFile) -> Vec<String> {
    let name = &target.node().name;
    let mentions = found.iter().map(|one| (&one.file, one.mention.at.start));
    let mentions = std::iter::once((&target.file, target.node().name_at.start)).chain(mentions);
    // A file has one counterpart at most.
    let there: Vec<_> = mentions.filter(|(file, _)| is_counterpart(&file.path, &other.path)).collect();
    let Some((counterpart, _)) = there.first() else { return Vec::new() };
    let bound = bound_in_module(counterpart, name);
    if !there.iter().any(|(_, at)| bound.contains(at)) {
        return Vec::new();
    }
    let is_mention = |at: &usize| found.iter().any(|one| one.file.path == other.path && one.mention.at.start == *at);
    let apart = bound_in_module(other, name).into_iter().filter(|at| !is_mention(at));
    apart.map(|at| format!("{}:{}", other.path, other.line(at))).collect()
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
