//! The past of the workspace for the screen: its moments, what differs from one of them, and who wrote each line of a
//! file. For blocking code alone.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "code")]
use tokio_util::sync::CancellationToken;

use crate::agent::background::labels;
use crate::agent::services::Services;
use crate::archive::Id;
#[cfg(feature = "code")]
use crate::code::SourceFile;
use crate::git;
use crate::memory::{ChangesetRecord, ChangesetState};
use crate::messages::agent as say;
#[cfg(feature = "code")]
use crate::past::DefinitionEdit;
use crate::past::{self, LineCause, Moment, PastError};
use crate::proposal::{Proposal, ProposalId};
use crate::protocol::{BlameCause, BlamedFile, MomentRow, PastChange, PastFile, PastKind};
use crate::text::clean::clean_line;

/// The time that git has for the commits of a file.
const GIT_LIMIT: Duration = Duration::from_secs(1);

/// Characters of a title.
const TITLE: usize = 120;

/// Returns the moments of the workspace, oldest first: each changeset of the archive is one.
///
/// # Errors
/// When archive or memory cannot be read, in words.
pub fn moments(services: &Services) -> Result<Vec<MomentRow>, String> {
    let mut ids = services.archive.list().map_err(|error| error.to_string())?;
    ids.sort_unstable();
    let project = services.project();
    let known =
        services.memory.ask_blocking(move |memory| memory.listing(&project)).map_err(|error| error.to_string())?;
    let mut titles = TypedPrompts::new(services);
    let row = |id: Id| {
        let name = id.to_string();
        let record = known.find(&name);
        // What it wrote was put back.
        if record.is_some_and(|record| record.state == ChangesetState::Failed) {
            return None;
        }
        let turn = record.and_then(turn_of);
        let (prompt, _) = turn.as_ref().map(|(_, message)| titles.of(*message)).unwrap_or_default();
        let cause = record.map(|record| short(&record.cause.title)).unwrap_or_default();
        let title = if prompt.is_empty() { cause.clone() } else { prompt };
        let kind = record.map_or(PastKind::Edit, |record| kind_of(&record.cause.kind));
        let files = known.files(&name).len();
        Some(MomentRow { at: id.at(), kind, turn, title, cause, files, id: name })
    };
    Ok(ids.into_iter().filter_map(row).collect())
}

/// Returns the files that differ between the moments just before two changesets; none: now.
///
/// # Errors
/// When one is gone, or archive, memory or workspace cannot be read, in words.
pub fn between(services: &Services, then: Option<&str>, until: Option<&str>) -> Result<PastChange, String> {
    let stores = services.stores();
    let moment = |name: Option<&str>| match name {
        Some(name) => Moment::parse(name, stores),
        None => Moment::now(stores),
    };
    let found = moment(then).and_then(|then| past::differing(then, moment(until)?, stores));
    let found = found.map_err(|error: PastError| error.to_string())?;
    let unreadable = found.unreadable.into_iter().map(|(_, why)| why).collect();
    let (mut changes, mut files) = (Vec::new(), Vec::new());
    for file in found.files {
        let version = file.version.map(|version| version.to_string());
        files.push(PastFile { version, outside: file.outside, is_left: file.is_left, unsure: file.unsure });
        changes.push(file.change);
    }
    labels::label(&mut changes);
    let change = Proposal { id: ProposalId(u64::MAX), title: String::new(), files: changes };
    Ok(PastChange { change: Arc::new(change), files, unreadable })
}

/// Returns a file with the causes of its lines.
///
/// # Errors
/// When the file, archive or memory cannot be read, in words.
pub fn blame(services: &Services, given: &str) -> Result<BlamedFile, String> {
    if given.trim().is_empty() {
        return Err(say::blame_which().into());
    }
    let path = services.stores().archived_path(services.workspace.root(), given.trim());
    let path = path.map_err(|error| error.to_string())?;
    let found = past::blame(&path, services.stores()).map_err(|error| error.to_string())?;
    let (mut causes, mut places, mut prompts) = (Vec::new(), HashMap::new(), TypedPrompts::new(services));
    let (mut text, mut lines) = (String::new(), Vec::new());
    for line in found {
        text.push_str(&line.text);
        text.push('\n');
        lines.push(*places.entry(line.cause).or_insert_with(|| {
            causes.push(cause(services, line.cause, &mut prompts));
            causes.len() - 1
        }));
    }
    // Someone may have written to it since.
    let commits = Some(commits(services, &path)).filter(|commits| commits.len() <= lines.len()).unwrap_or_default();
    Ok(BlamedFile { path, text: text.into(), causes, lines, commits })
}

/// Returns for each line of a file `91bc004 load prices in one query`; nothing where git cannot tell.
fn commits(services: &Services, path: &str) -> Vec<Option<Arc<str>>> {
    let found = git::Repository::find(services.workspace.root())
        .and_then(|repository| repository.blame(&services.workspace.full(path), GIT_LIMIT));
    let mut words: HashMap<String, Arc<str>> = HashMap::new();
    let mut word = |commit: Arc<git::LineCommit>| {
        let text = || format!("{} {}", commit.id, short(&commit.summary)).into();
        words.entry(commit.id.clone()).or_insert_with(text).clone()
    };
    found.unwrap_or_default().into_iter().map(|commit| commit.map(&mut word)).collect()
}

/// Tells what made states of files, in words.
#[cfg(feature = "code")]
pub(super) struct Causes<'a> {
    services: &'a Services,
    prompts: TypedPrompts<'a>,
}

#[cfg(feature = "code")]
impl<'a> Causes<'a> {
    pub(super) fn new(services: &'a Services) -> Self {
        Causes { services, prompts: TypedPrompts::new(services) }
    }

    /// Returns the changes of a definition, newest first; when stopped, those found so far.
    pub(super) fn changes(
        &self,
        file: &SourceFile,
        at: usize,
        stop: &CancellationToken,
    ) -> Result<Vec<DefinitionEdit>, PastError> {
        past::of_definition(file, at, self.services.stores(), stop)
    }

    pub(super) fn of(&mut self, by: LineCause) -> BlameCause {
        cause(self.services, by, &mut self.prompts)
    }
}

fn cause(services: &Services, cause: LineCause, prompts: &mut TypedPrompts<'_>) -> BlameCause {
    let unknown = BlameCause {
        kind: PastKind::Before,
        unsure: false,
        at: None,
        changeset: None,
        turn: None,
        prompt: String::new(),
        prompted_at: None,
        title: String::new(),
    };
    match cause {
        LineCause::Before => unknown,
        LineCause::Outside(next) => BlameCause { kind: PastKind::Outside, at: next.map(Id::at), ..unknown },
        LineCause::Changeset { id, unsure } => {
            let (at, changeset) = (Some(id.at()), Some(id.to_string()));
            let (project, name) = (services.project(), id.to_string());
            let record = services.memory.ask_blocking(move |memory| memory.changeset(&project, &name));
            let Some(record) = services.record_error(record).flatten() else {
                return BlameCause { kind: PastKind::Edit, unsure, at, changeset, ..unknown };
            };
            let turn = turn_of(&record);
            let (prompt, prompted_at) = turn.as_ref().map(|(_, message)| prompts.of(*message)).unwrap_or_default();
            let (kind, title) = (kind_of(&record.cause.kind), short(&record.cause.title));
            BlameCause { kind, unsure, at, changeset, turn, prompt, prompted_at, title }
        }
    }
}

fn turn_of(record: &ChangesetRecord) -> Option<(String, i64)> {
    record.cause.session.clone().zip(record.cause.turn)
}

fn kind_of(kind: &str) -> PastKind {
    match kind {
        "command" => PastKind::Command,
        "undo" | "redo" => PastKind::Restore,
        _ => PastKind::Edit,
    }
}

/// Returns the first line of a text, without what acts on a terminal.
fn short(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    clean_line(line).chars().take(TITLE).collect()
}

/// The words of the person and their times by message; each is read once.
struct TypedPrompts<'a> {
    services: &'a Services,
    known: HashMap<i64, (String, Option<i64>)>,
}

impl<'a> TypedPrompts<'a> {
    fn new(services: &'a Services) -> Self {
        TypedPrompts { services, known: HashMap::new() }
    }

    fn of(&mut self, message: i64) -> (String, Option<i64>) {
        let typed = || self.services.memory.ask_blocking(move |memory| memory.typed(message));
        let read = || self.services.record_error(typed()).flatten().map(|(text, at)| (short(&text), at));
        self.known.entry(message).or_insert_with(|| read().unwrap_or_default()).clone()
    }
}
