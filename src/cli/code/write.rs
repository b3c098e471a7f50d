//! `replace` and `remove`: the change of one definition as a proposal, asked for, archived and written like any other.

use std::io::{Read, Write};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::args::{AskCode, RemoveCode, ReplaceCode};
use super::failure::{Failed, REFUSED, USAGE};
use super::place::Place;
use super::read::{skipped_json, tell_notes};
use super::refs::unmentioned;
use crate::cli::diff::unified;
use crate::cli::files::ArchiveCommands;
use crate::code::{self, CodeTarget, LARGEST, SourceFile};
use crate::definitions::SourceFiles;
use crate::disk;
use crate::edit::unfenced;
use crate::proposal::{Consent, Decision, FileChange, Proposal, ProposalId, State};
use crate::text::number::plural;

pub(super) fn replace(place: &Place<'_>, files: &mut ArchiveCommands<'_>, args: &ReplaceCode) -> Result<Value, Failed> {
    let (file, at) = place.finder.one(&args.selector)?;
    file.source.expect(at, &args.expect_hash)?;
    let text = text(files, &args.file)?;
    // A model may send it as it shows code.
    let text = unfenced(&text).unwrap_or(&text);
    let new = code::replace(&file.source, at, text)?;
    let anew = || {
        let (file, at) = place.finder.one(&args.selector)?;
        file.source.expect(at, &args.expect_hash)?;
        Ok((file.state, code::replace(&file.source, at, text)?.file))
    };
    let mut answer = json!({"id": new.file.id(new.at), "path": file.source.path, "hash": new.file.hash(new.at)});
    answer["diagnostics"] = diagnostics(&new.file).into();
    let (old, now) = (file.source.called(at), new.file.called(new.at));
    let by = if old == now { String::new() } else { format!(" by {now}") };
    let title = format!("code: replace {old}{by}");
    let path = file.source.path;
    let change = FileChange::new(&path, file.state, State::file(new.file.text.into_bytes()), "code", &[]);
    let (changes, piped) = (vec![change], args.file == "-");
    carry_out(place, files, Change { changes, title, answer, piped, sources: None, anew: Some(&anew) }, &args.ask)
}

pub(super) fn remove(place: &Place<'_>, files: &mut ArchiveCommands<'_>, args: &RemoveCode) -> Result<Value, Failed> {
    let (file, at) = place.finder.one(&args.selector)?;
    if let Some(hash) = &args.expect_hash {
        file.source.expect(at, hash)?;
    }
    if !args.force && code::numbers_others(&file.source, at) {
        let why = format!("cannot remove {}: the constants after it would have other values", file.source.id(at));
        return Err(Failed::new("referenced", REFUSED, format!("{why}\nUse --force to remove it all the same")));
    }
    let (new, state, hash) = (code::remove(&file.source, at)?, file.state.clone(), file.source.hash(at));
    let (path, title) = (file.source.path.clone(), format!("code: remove {}", file.source.called(at)));
    let mut answer = json!({"id": file.source.id(at), "path": path});
    answer["diagnostics"] = diagnostics(&new).into();
    let sources = if args.force { None } else { Some(SourceFiles::new(&place.finder, file)?) };
    if let Some(sources) = &sources {
        let target = sources.target(&path, at)?;
        unmentioned(&target, sources)?;
        needed_by_no_trait(&target, sources)?;
        answer["skipped"] = skipped_json(&sources.notes());
        tell_notes(place, &sources.notes(), "mentions may be missing");
    }
    let change = FileChange::new(&path, state, State::file(new.text.into_bytes()), "code", &[]);
    let anew = || {
        let (file, at) = place.finder.one(&args.selector)?;
        file.source.expect(at, &hash)?;
        Ok((file.state, code::remove(&file.source, at)?))
    };
    // Mentions are looked for once: where they count, a change of the file is a refusal.
    let anew: Option<&Anew<'_>> = if args.force { Some(&anew) } else { None };
    let sources = sources.as_ref();
    let change = Change { changes: vec![change], title, answer, piped: false, sources, anew };
    carry_out(place, files, change, &args.ask)
}

/// Refuses to remove what a trait asks for that is defined elsewhere.
fn needed_by_no_trait(target: &CodeTarget, sources: &SourceFiles<'_>) -> Result<(), Failed> {
    let Some(name) = target.foreign_trait(sources) else { return Ok(()) };
    let id = target.file.id(target.at);
    let why = format!("cannot remove {id}: the trait {name}, which is not defined here, may ask for it");
    Err(Failed::new("referenced", REFUSED, format!("{why}\nUse --force to remove it all the same")))
}

/// The greatest number of times that a change is made anew of a file that others change at the same time.
const TRIES: usize = 30;

/// Reads a file again and changes the same definition in it, if that is still the one that was looked at.
type Anew<'a> = dyn Fn() -> Result<(State, SourceFile), Failed> + 'a;

/// Reads the new text.
fn text(files: &mut ArchiveCommands<'_>, file: &str) -> Result<String, Failed> {
    let mut bytes = Vec::new();
    if file == "-" {
        let most = LARGEST as u64 + 1;
        files.input.take(most).read_to_end(&mut bytes).context("cannot read standard input")?;
    } else {
        let path = files.folder.join(file);
        bytes = disk::read_named(&path, LARGEST as u64).with_context(|| format!("cannot read {}", path.display()))?;
    }
    if bytes.len() > LARGEST {
        return Err(Failed::new("usage", USAGE, format!("the text is larger than {} MiB", LARGEST >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| Failed::new("usage", USAGE, "the text is not UTF-8: nothing was changed"))
}

/// A change that was found possible.
pub(super) struct Change<'a> {
    /// The files.
    pub changes: Vec<FileChange>,
    /// The cause of the changeset.
    pub title: String,
    /// The answer, but for the diff and the changeset.
    pub answer: Value,
    /// True if standard input held the text, so that nobody can be asked.
    pub piped: bool,
    /// The files that it was told from, which must not be others when it is written.
    pub sources: Option<&'a SourceFiles<'a>>,
    /// The way to make it of its file as that is by then, where others write to the file; none: it is refused then.
    pub anew: Option<&'a Anew<'a>>,
}

/// Asks, archives and writes.
pub(super) fn carry_out(
    place: &Place<'_>,
    files: &mut ArchiveCommands<'_>,
    change: Change<'_>,
    ask: &AskCode,
) -> Result<Value, Failed> {
    let Change { mut changes, title, mut answer, piped, sources, anew } = change;
    changes.retain(|change| change.before.bytes() != change.after.bytes());
    let diff: Vec<u8> = changes.iter().flat_map(|change| unified(change, false)).collect();
    answer["diff"] = String::from_utf8_lossy(&diff).into();
    answer["op-id"] = Value::Null;
    if !place.json {
        for change in &changes {
            let shown = unified(change, files.out.is_terminal());
            files.out.styled(&shown)?;
        }
        files.out.flush()?;
    }
    if changes.is_empty() {
        files.complain("the files have this text already: nothing to change")?;
    } else if !ask.dry_run {
        let mut proposal = Proposal { id: ProposalId(0), title, files: changes };
        let consent = files.consent_to(&proposal, ask.yes.then_some(place.flag), !piped)?;
        let consent = consent.ok_or_else(|| Failed::new("consent", REFUSED, "not approved: nothing was changed"))?;
        if let Some(path) = sources.map(SourceFiles::changed).transpose()?.flatten() {
            let why = format!("{path} changed on disk meanwhile: nothing was written; run it again");
            return Err(Failed::new("stale", REFUSED, why));
        }
        answer["op-id"] = written_at_last(place, files, (&mut proposal, anew), consent)?.into();
        if let (false, Some(hash)) = (place.json, answer["hash"].as_str()) {
            writeln!(files.err, "its hash now: {hash}")?;
        }
    }
    files.out.flush()?;
    Ok(answer)
}

/// Writes a proposal that is approved. Others may change its file meanwhile: as long as the definition is still the same,
/// the change is made anew. Returns the changeset.
fn written_at_last(
    place: &Place<'_>,
    files: &mut ArchiveCommands<'_>,
    (proposal, anew): (&mut Proposal, Option<&Anew<'_>>),
    consent: Consent,
) -> Result<Option<String>, Failed> {
    for _ in 0..TRIES {
        match (written(place, files, proposal, consent), anew) {
            (Err(failed), Some(anew)) if failed.is_stale() => {
                let (state, file) = anew()?;
                let after = State::file(file.text.into_bytes());
                proposal.files = vec![FileChange::new(&file.path, state, after, "code", &[])];
            }
            (result, _) => return result,
        }
    }
    written(place, files, proposal, consent)
}

/// Writes a proposal that is approved. Returns the changeset.
fn written(
    place: &Place<'_>,
    files: &mut ArchiveCommands<'_>,
    proposal: &Proposal,
    consent: Consent,
) -> Result<Option<String>, Failed> {
    let decided = proposal.decide(&Decision::accept(proposal, consent)).map_err(anyhow::Error::from)?;
    let Some(decided) = decided else { return Ok(None) };
    let applied = files.execute_exactly(&decided, "code", &proposal.title)?;
    let id = applied.changeset.map(|id| id.to_string());
    if !place.json {
        let archived = id.as_ref().map_or(String::new(), |id| format!("; the replaced versions are archived as {id}"));
        writeln!(files.err, "changed {}{archived}", plural(applied.paths.len(), "file"))?;
    }
    Ok(id)
}

/// Returns the syntax errors of a file for a program: those that were there before.
pub(super) fn diagnostics(file: &SourceFile) -> Vec<Value> {
    let one = |at: &usize| json!({"path": file.path, "line": file.line(*at), "message": "syntax error"});
    file.errors.iter().map(one).collect()
}
