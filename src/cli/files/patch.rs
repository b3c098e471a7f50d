//! `patch`: an edit in any format, all of it or nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};

use super::{ArchiveCommands, DONE, FAILED, NOT_APPROVED, PatchArgs};
use crate::cli::diff::unified;
use crate::disk;
use crate::edit::stream::{End, KnownFile, Parser, Piece};
use crate::edit::{self, Current, Edit, EditResult, Format, GroupRules};
use crate::proposal::{Consent, Decision, Proposal, ProposalId};
use crate::text::number::plural;
use crate::tools::ToolSet;
use crate::workspace::{Access, normalise};

/// The largest patch that is read, in bytes.
const LARGEST_PATCH: u64 = 64 << 20;
/// A workspace with more files is not searched for the file that a block without a path means.
const MOST_IN_PLAY: usize = 300;
/// The size, in bytes, above which a file is not read.
const LARGEST_IN_PLAY: u64 = 256 << 10;
/// The most words of a text that are examined for paths.
const MOST_WORDS: usize = 10_000;

impl ArchiveCommands<'_> {
    pub(super) fn patch(&mut self, args: &PatchArgs) -> Result<u8> {
        let text = self.patch_text(&args.file)?;
        let named = self.named(&text);
        // As in a session with one file, an edit without a path means the one file the text speaks of.
        let in_play = Some(&named).filter(|n| n.len() == 1).map(|n| n[0].path.clone());
        let edits = self.edits(&text, named)?;
        let Some(proposal) = self.proposal(&edits, in_play)? else { return Ok(FAILED) };
        if proposal.files.is_empty() {
            self.complain("the files already have these changes: nothing to change")?;
            return Ok(DONE);
        }
        for file in &proposal.files {
            let diff = unified(file, self.out.is_terminal());
            self.out.styled(&diff)?;
        }
        self.out.flush()?;
        if args.dry_run {
            return Ok(DONE);
        }
        let Some(consent) = self.consent_to(&proposal, args.yes.then_some("--yes"), args.file != "-")? else {
            return Ok(NOT_APPROVED);
        };
        let Some(decided) = proposal.decide(&Decision::accept(&proposal, consent))? else { return Ok(DONE) };
        let applied = self.execute(&decided, "patch", "patch")?;
        let archived =
            applied.changeset.map_or(String::new(), |id| format!("; the replaced versions are archived as {id}"));
        writeln!(self.err, "changed {}{archived}", plural(applied.paths.len(), "file"))?;
        Ok(DONE)
    }

    fn patch_text(&mut self, file: &str) -> Result<String> {
        let mut bytes = Vec::new();
        if file == "-" {
            self.input.read_to_end(&mut bytes).context("cannot read standard input")?;
        } else {
            let path = self.folder.join(file);
            let read = disk::read_named(&path, LARGEST_PATCH);
            bytes = read.with_context(|| format!("cannot read {}", path.display()))?;
        }
        String::from_utf8(bytes).ok().context("the patch is not UTF-8: nothing was changed")
    }

    /// Returns the edits in a text. Anything that breaks off spoils the whole.
    fn edits(&self, text: &str, named: Vec<KnownFile>) -> Result<Vec<Edit>> {
        let mut edits = self.edits_among(text, named)?;
        if edits.is_empty() && text.contains("```") {
            // A whole file in a fence without a path is the one it resembles.
            edits = self.edits_among(text, self.in_play(text))?;
        }
        if edits.is_empty() {
            bail!("no edit found: expected a diff, SEARCH/REPLACE blocks, tags, or a whole file under its path");
        }
        Ok(edits)
    }

    /// Returns the text files that the text names: in a session they would be known. Any word that may be a path, and
    /// whatever stands above a block or a fence.
    fn named(&self, text: &str) -> Vec<KnownFile> {
        let parts = |c: char| c.is_whitespace() || "`\"'()[]<>*,:。、，：「」【】（）".contains(c);
        let words = text.split(parts).map(|word| word.trim_start_matches('@').trim_end_matches(['.', '!', '?']));
        let likely = words.filter(|word| word.contains(['.', '/']) && word.len() < 300);
        let opens = |line: &str| ["<<<<<", "```", "~~~"].iter().any(|mark| line.trim_start().starts_with(mark));
        let above = text.lines().zip(text.lines().skip(1)).filter(|(_, next)| opens(next)).map(|(line, _)| line.trim());
        let names: BTreeSet<&str> = likely.take(MOST_WORDS).chain(above).collect();
        let paths = names.into_iter().filter_map(|name| self.workspace.resolve(name, Access::File).ok());
        let paths: BTreeSet<String> = paths.collect();
        paths.into_iter().filter_map(|path| self.known(path)).take(MOST_IN_PLAY).collect()
    }

    /// Returns a text file that is not too large.
    fn known(&self, path: String) -> Option<KnownFile> {
        let size = fs::metadata(self.workspace.root().join(&path)).ok().filter(|m| m.is_file())?.len();
        let read = (size <= LARGEST_IN_PLAY).then(|| self.workspace.read(&path).ok()).flatten()?;
        let text = Arc::from(read.state.text()?);
        Some(KnownFile { path, text })
    }

    /// Returns the text files of a small workspace, but for the patch itself.
    fn in_play(&self, patch: &str) -> Vec<KnownFile> {
        let mut known = Vec::new();
        for entry in self.workspace.walk("").build().flatten() {
            if known.len() == MOST_IN_PLAY {
                return Vec::new();
            }
            let path = normalise(self.workspace.root(), entry.path());
            known.extend(self.known(path).filter(|file| *file.text != *patch));
        }
        known
    }

    fn edits_among(&self, text: &str, known: Vec<KnownFile>) -> Result<Vec<Edit>> {
        let expected = match self.format.as_deref() {
            Some("auto") => None,
            Some(name) => Some(Format::parse(name).with_context(|| format!("there is no edit format {name}"))?),
            None => None,
        };
        let tools = ToolSet::builtin();
        let mut parser = Parser::document(expected, known, tools.calls());
        let mut pieces = parser.push(text);
        pieces.extend(parser.finish(End::Ordinary));
        let mut edits = Vec::new();
        for piece in pieces {
            match piece {
                Piece::EditDone { edit, .. } => edits.push(edit),
                Piece::EditDropped { why, .. } | Piece::BrokenCall { why, .. } => bail!("{why}"),
                Piece::Call { name, arguments, .. } => match tools.edits(&name, &arguments) {
                    Some(Ok(questioned)) => edits.extend(questioned),
                    Some(Err(why)) => bail!("{name}: {why}"),
                    None => {}
                },
                Piece::Prose(_)
                | Piece::EditStarted { .. }
                | Piece::EditGrew { .. }
                | Piece::CallStarted { .. }
                | Piece::CallGrew { .. } => {}
            }
        }
        Ok(edits)
    }

    /// Places the edits; reports what could not be placed, and what is there instead.
    fn proposal(&mut self, edits: &[Edit], in_play: Option<String>) -> Result<Option<Proposal>> {
        let entries: Vec<&str> = edits.iter().filter(|e| e.is_of_entry()).filter_map(|e| e.path.as_deref()).collect();
        let mut lookup = |given: &str| -> Result<Current, String> {
            // Deleting and moving mean a link itself; all else the file it leads to.
            let access = if entries.contains(&given) { Access::Entry } else { Access::File };
            let path = self.workspace.resolve(given, access).map_err(|e| e.to_string())?;
            let state = self.workspace.read(&path).map_err(|e| e.to_string())?.state;
            let within = state.is_absent() && edits.iter().any(|e| e.is_within() && e.path.as_deref() == Some(given));
            let instead = if within { self.workspace.meant_by(&path) } else { Vec::new() };
            Ok(Current { path, state, seen: true, read: None, instead, withheld: None })
        };
        let rules = GroupRules { in_play, all_or_nothing: true, ..GroupRules::default() };
        let outcome = edit::apply(edits, &mut lookup, &rules);
        let failed: Vec<&EditResult> = outcome
            .results
            .iter()
            .filter(|r| matches!(r.status, edit::EditStatus::Failed(_) | edit::EditStatus::Doubted(_)))
            .collect();
        if let Some(first) = failed.first() {
            self.complain(&format!(
                "nothing was changed: {} could not be placed in {}",
                plural(failed.len(), "edit"),
                first.path
            ))?;
            for result in failed {
                writeln!(self.err, "{}", result.text())?;
            }
            return Ok(None);
        }
        let title = "patch".to_string();
        let mut files = outcome.changes;
        self.workspace.note_other_names(&mut files);
        Ok(Some(Proposal { id: ProposalId(0), title, files }))
    }

    /// Asks, or lets a flag answer for what it may: not for what needs a person, and not for what no
    /// archive would bring back. Where standard input held the change, there is no one left to ask.
    pub(in crate::cli) fn consent_to(
        &mut self,
        proposal: &Proposal,
        flag: Option<&'static str>,
        someone_left: bool,
    ) -> Result<Option<Consent>> {
        let mut needs_person = proposal.needs_person().map(|why| why.to_string());
        for file in &proposal.files {
            if let Some(glob) = self.archive.excluded_by(&file.path) {
                let what = format!("{} is not archived (archiveExclude: {glob})", file.path);
                self.complain(&what)?;
                needs_person = Some(what);
            }
        }
        if let (None, Some(flag)) = (&needs_person, flag) {
            return Ok(Some(Consent::Flag(flag)));
        }
        let can_ask = self.can_ask && someone_left;
        match needs_person {
            Some(why) if !can_ask => {
                self.complain(&format!("nothing was changed: {why}, which only a person at a terminal can approve"))?;
                return Ok(None);
            }
            None if !can_ask => {
                self.complain("nothing was changed: without a terminal to ask at this needs --yes")?;
                return Ok(None);
            }
            _ => {}
        }
        let why = proposal.needs_person().map_or(String::new(), |why| format!(" ({why})"));
        let what = format!("change {}{why}?", plural(proposal.files.len(), "file"));
        let yes = self.agrees(&what)?;
        if !yes {
            self.complain("nothing was changed")?;
        }
        Ok(yes.then_some(Consent::Person))
    }
}
