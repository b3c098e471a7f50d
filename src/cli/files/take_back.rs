//! `undo` and `redo`: the list of what would happen to each file, then the diff, then the question.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use chrono::{Local, TimeZone};
use serde_json::json;

use super::{AskArgs, DONE, Desk, FAILED, NOT_APPROVED, UndoArgs, count};
use crate::agent::announce::Remembered;
use crate::archive::{Choices, Id, Request, Restoration};
use crate::cli::diff::unified;
use crate::memory::{ChangesetRecord, ChangesetState};
use crate::proposal::merge::CONFLICT;
use crate::proposal::{Choice, Counts, Decision, Fate, FateKind, FileChange, ForeignChoice, ProposalId};

/// What is to be taken back.
struct Plan {
    request: Request,
    /// `undo` or `redo`, for memory.
    kind: &'static str,
    title: String,
    /// The files were named, which says that their state now is known.
    named: bool,
}

impl Desk<'_> {
    pub(super) fn undo(&mut self, args: &UndoArgs) -> Result<u8> {
        let plan = if args.turn {
            self.of_turn()?
        } else if let Some(to) = &args.to {
            self.since_message(to)?
        } else {
            self.of_words(&args.words)?
        };
        self.take_back(&plan, &args.ask)
    }

    pub(super) fn redo(&mut self, ask: &AskArgs) -> Result<u8> {
        let Some(newest) = self.newest()? else {
            bail!("the archive is empty: there is nothing to redo");
        };
        let record = self.memory.changeset(&self.project(), &newest.to_string())?;
        let title = match record {
            None => {
                bail!("memory does not know what made the newest changeset: use `nebula undo`, which takes it back")
            }
            Some(r) if r.cause.kind != "undo" => {
                bail!("the newest changeset was not made by an undo: there is nothing to redo")
            }
            Some(r) => format!("redo of {}", r.cause.title.trim_start_matches("undo of ")),
        };
        let request = Request::Undo { count: 1, files: Vec::new() };
        self.take_back(&Plan { request, kind: "redo", title, named: false }, ask)
    }

    /// `[COUNT] [FILE…]`. A file whose name is a number is written `./2`.
    fn of_words(&mut self, words: &[String]) -> Result<Plan> {
        let (first, files) = match words.split_first() {
            Some((first, rest)) if first.bytes().all(|b| b.is_ascii_digit()) && !first.is_empty() => {
                (Some(first), rest)
            }
            _ => (None, words),
        };
        let versions = match first.map(|n| n.parse()) {
            None => 1,
            Some(Ok(n)) => n,
            Some(Err(_)) => usize::MAX,
        };
        let mut files = self.paths(files)?;
        let mut seen = BTreeSet::new();
        files.retain(|path| seen.insert(path.clone()));
        let title = if files.is_empty() {
            format!("undo of {}", self.newest_title()?.unwrap_or_else(|| "the newest changeset".into()))
        } else {
            format!("undo of {}", files.join(", "))
        };
        let named = !files.is_empty();
        Ok(Plan { request: Request::Undo { count: versions, files }, kind: "undo", title, named })
    }

    /// The newest changeset that changed something.
    fn newest(&self) -> Result<Option<Id>> {
        Ok(self.archive.newest_written(&Remembered { memory: self.memory, project: &self.project() })?)
    }

    fn newest_title(&mut self) -> Result<Option<String>> {
        let Some(newest) = self.newest()? else { return Ok(None) };
        let found = self.memory.changeset(&self.project(), &newest.to_string());
        let record = self.remembered(found)?;
        Ok(record.map(|r| r.cause.title).filter(|t| !t.is_empty()))
    }

    fn of_turn(&mut self) -> Result<Plan> {
        let of = self.session.clone().map(|id| self.memory.find(&self.project(), &id)).transpose()?;
        let all = self.memory.changesets(&self.project())?;
        let wanted = |session: &Option<String>| session.is_some() && (of.is_none() || *session == of);
        let newest = all
            .into_iter()
            .find(|c| c.cause.turn.is_some() && c.state == ChangesetState::Applied && wanted(&c.cause.session));
        let Some((record, session, turn)) = newest.and_then(|r| Some((r.clone(), r.cause.session?, r.cause.turn?)))
        else {
            let place = if of.is_some() { "in that session" } else { "here" };
            bail!("memory knows of no turn {place} that changed files: `nebula undo` takes back the newest changeset");
        };
        let ids = ids(&self.memory.changesets_of_turn(&session, turn)?);
        let title = format!("undo of the turn {}", record.cause.title);
        Ok(Plan { request: Request::Changesets(ids), kind: "undo", title, named: false })
    }

    fn since_message(&mut self, to: &str) -> Result<Plan> {
        let parts = to.rsplit_once(':').and_then(|(s, m)| Some((s, m.parse::<i64>().ok()?)));
        let Some((session, message)) = parts else {
            bail!("--to wants SESSION:MESSAGE, as `nebula sessions show` writes them, not {to}");
        };
        let session = self.memory.find(&self.project(), session)?;
        let ids = ids(&self.memory.changesets_since(&session, message)?);
        if ids.is_empty() {
            bail!(
                "memory knows of no change since message {message} of that session: `nebula undo` takes back the newest changeset"
            );
        }
        let title = format!("undo of everything since message {message}");
        Ok(Plan { request: Request::Changesets(ids), kind: "undo", title, named: false })
    }

    fn take_back(&mut self, plan: &Plan, ask: &AskArgs) -> Result<u8> {
        let scripted = ask.yes || ask.force;
        let others = match (ask.force || (ask.yes && plan.named), scripted) {
            (true, _) => Some(ForeignChoice::TakeOld),
            (false, true) => Some(ForeignChoice::Leave),
            (false, false) => None,
        };
        let mut choices = Choices { others, ..Choices::default() };
        let mut restoration = self.restoration(plan, &choices)?;
        for warning in restoration.warnings.clone() {
            self.complain(&warning)?;
        }
        self.list(&restoration.fates, ask.json, !scripted && !ask.dry_run && self.can_ask)?;
        if ask.dry_run {
            self.report(None, &restoration.fates, &BTreeSet::new(), ask.json)?;
            return Ok(DONE);
        }
        if !scripted && self.can_ask && self.choose_foreign(&restoration.fates, &mut choices)? {
            restoration = self.restoration(plan, &choices)?;
        }
        if restoration.proposal.files.is_empty() {
            return self.nothing_to_do(&restoration, ask);
        }
        // Conflicts are chosen one by one.
        let by_hunk = ask.hunk || !scripted && restoration.proposal.files.iter().any(has_conflict);
        // A hunk is shown as it is asked for.
        let shown_later = by_hunk && self.can_ask;
        if !(ask.json || shown_later) {
            self.show_diffs(&restoration)?;
        }
        if !self.can_ask && (by_hunk || !scripted) {
            self.report(None, &restoration.fates, &BTreeSet::new(), ask.json)?;
            let instead = if by_hunk { "hunks cannot be chosen" } else { "this needs --yes" };
            self.complain(&format!("nothing was changed: without a terminal {instead}"))?;
            return Ok(NOT_APPROVED);
        }
        let decision = match by_hunk {
            true => self.choose_hunks(&restoration.proposal)?,
            false => self.decision(&restoration, scripted)?,
        };
        let decided = self.decide(&restoration.proposal, &decision)?;
        if decided.files().is_empty() {
            self.report(None, &restoration.fates, &BTreeSet::new(), ask.json)?;
            self.complain("nothing was changed")?;
            return Ok(NOT_APPROVED);
        }
        let applied = self.write(&decided, plan.kind, &plan.title)?;
        let paths = applied.paths.iter().cloned().collect();
        self.report(applied.changeset, &restoration.fates, &paths, ask.json)?;
        self.left(&restoration.fates, &paths, scripted)
    }

    fn restoration(&self, plan: &Plan, choices: &Choices) -> Result<Restoration> {
        let project = self.project();
        let written = Remembered { memory: self.memory, project: &project };
        Ok(self.archive.restore(self.workspace, &plan.request, &written, choices, ProposalId(0), &plan.title)?)
    }

    fn decision(&mut self, restoration: &Restoration, scripted: bool) -> Result<Decision> {
        let what = format!("restore {}?", count(restoration.proposal.files.len(), "file"));
        let choice = if scripted || self.agrees(&what)? { Choice::Accept } else { Choice::Reject };
        Ok(Decision::all(&restoration.proposal, choice))
    }

    /// Asks what becomes of each file that someone else changed; whether anything was chosen.
    fn choose_foreign(&mut self, fates: &[Fate], choices: &mut Choices) -> Result<bool> {
        for fate in fates {
            let FateKind::Foreign { conflicts, .. } = &fate.kind else { continue };
            let merge = match conflicts {
                None => "",
                Some(0) => ", m merge (no conflict)",
                Some(1) => ", m merge (1 conflict)",
                Some(_) => ", m merge (with conflicts)",
            };
            let question =
                format!("{} was changed by someone else: l leave it{merge}, t take the old state [l]", fate.path);
            let choice = match self.ask(&question)?.as_deref() {
                Some("m") if conflicts.is_some() => ForeignChoice::Merge,
                Some("t") => ForeignChoice::TakeOld,
                _ => ForeignChoice::Leave,
            };
            choices.each.insert(fate.path.clone(), choice);
        }
        Ok(!choices.each.is_empty())
    }

    fn show_diffs(&mut self, restoration: &Restoration) -> Result<()> {
        for file in &restoration.proposal.files {
            self.out.write_all(&unified(file, self.terminal))?;
        }
        Ok(self.out.flush()?)
    }

    /// Says why nothing is to be done.
    fn nothing_to_do(&mut self, restoration: &Restoration, ask: &AskArgs) -> Result<u8> {
        self.report(None, &restoration.fates, &BTreeSet::new(), ask.json)?;
        let is_left = |f: &&Fate| matches!(f.kind, FateKind::Foreign { .. });
        let is_missing = |f: &Fate| matches!(f.kind, FateKind::NotArchived(_));
        if restoration.fates.iter().any(|f| is_left(&f)) {
            return self.left(&restoration.fates, &BTreeSet::new(), true);
        }
        if restoration.fates.iter().any(is_missing) {
            self.complain("nothing could be restored: nothing was changed")?;
            return Ok(FAILED);
        }
        let deeper = restoration
            .changeset
            .is_some()
            .then_some("; `nebula history` shows what was before, `nebula undo COUNT FILE` goes there");
        self.complain(&format!("all is as it was then: nothing to restore{}", deeper.unwrap_or("")))?;
        Ok(DONE)
    }

    /// Names the files of someone else that stay.
    fn left(&mut self, fates: &[Fate], applied: &BTreeSet<String>, scripted: bool) -> Result<u8> {
        let stays = |f: &&Fate| matches!(f.kind, FateKind::Foreign { .. }) && !applied.contains(&f.path);
        let left: Vec<_> = fates.iter().filter(stays).map(|f| f.path.clone()).collect();
        if left.is_empty() {
            return Ok(DONE);
        }
        self.complain(&format!(
            "changed by someone else, so left as they are: {} (--force takes the old state)",
            left.join(", ")
        ))?;
        Ok(if scripted { NOT_APPROVED } else { DONE })
    }

    /// The list of fates, before anything is asked; with `--json` it stands beside the question.
    fn list(&mut self, fates: &[Fate], json: bool, asks: bool) -> Result<()> {
        if json && !asks {
            return Ok(());
        }
        let width = fates.iter().map(|f| f.path.chars().count()).max().unwrap_or(0);
        for fate in fates {
            let (glyph, words, detail) = in_words(&fate.kind);
            let line = format!("{glyph} {:width$}  {words:27}  {detail}", self.shown(&fate.path));
            let to = if json { &mut *self.err } else { &mut *self.out };
            writeln!(to, "{}", line.trim_end())?;
        }
        Ok(self.out.flush()?)
    }

    /// What was done.
    fn report(&mut self, changeset: Option<Id>, fates: &[Fate], applied: &BTreeSet<String>, json: bool) -> Result<()> {
        if json {
            let files: Vec<_> = fates
                .iter()
                .map(|f| json!({"path": f.path, "fate": word(&f.kind), "applied": applied.contains(&f.path)}))
                .collect();
            writeln!(self.out, "{}", json!({"changeset": changeset.map(|id| id.to_string()), "files": files}))?;
        } else if !applied.is_empty() {
            let archived = changeset.map_or(String::new(), |id| format!("; what was there is archived as {id}"));
            writeln!(self.out, "restored {}{archived}", count(applied.len(), "file"))?;
        }
        Ok(self.out.flush()?)
    }
}

fn ids(records: &[ChangesetRecord]) -> Vec<Id> {
    records.iter().filter_map(|r| Id::parse(r.id.as_deref()?)).collect()
}

/// Whether a merge met lines that both changed.
fn has_conflict(file: &FileChange) -> bool {
    file.hunks.iter().filter_map(|h| h.found.as_ref()?.detail.as_deref()).any(|detail| detail == CONFLICT)
}

/// The word for a fate in `--json`.
fn word(kind: &FateKind) -> &'static str {
    match kind {
        FateKind::Restore(_) => "restore",
        FateKind::Equal => "equal",
        FateKind::Foreign { .. } => "foreign",
        FateKind::NotArchived(_) => "missing",
    }
}

/// Glyph, words and detail of a fate.
fn in_words(kind: &FateKind) -> (char, &'static str, String) {
    match kind {
        FateKind::Restore(counts) => ('✓', "will restore", plus_minus(*counts)),
        FateKind::Equal => ('=', "already equal", String::new()),
        FateKind::Foreign { at, counts, .. } => {
            let at = at.and_then(|ms| Local.timestamp_millis_opt(ms).single());
            let at = at.map_or("deleted".into(), |t| format!("at {}", t.format("%Y-%m-%d %H:%M:%S")));
            let detail = [plus_minus(*counts), at].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
            ('!', "changed since by someone else", detail.join("  "))
        }
        FateKind::NotArchived(why) => ('⊘', "not archived", why.clone()),
    }
}

/// `+3 −1`; nothing for no lines.
fn plus_minus(counts: Counts) -> String {
    match (counts.added, counts.removed) {
        (0, 0) => String::new(),
        (added, removed) => format!("+{added} −{removed}"),
    }
}
