//! From edits to their results for the model: neighbours become one proposal, which is decided and executed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::background::labels;
use crate::agent::change::execute_proposal::{Approver, ProposalResult, RestoreParts, asks_person, execute_proposal};
use crate::agent::services::events::Events;
use crate::agent::session::call_preview;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::{Conversation, SessionFiles, UndecidedCall, UndecidedEdits};
use crate::agent::session::records::{ResultRecord, sha};
use crate::agent::turn::prompt_kind::{agrees, wants_no_change};
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::comment;
use crate::agent::turn::step::edit_records::{edit_record, is_told, known_files};
use crate::agent::turn::step::results::{Reported, is_open, own_hunks, verdict};
use crate::agent::turn::step::syntax;
use crate::agent::turn::step::unread_files::{self, ShownFile};
use crate::edit::{self, Current, Edit, EditResult, GroupRules, Op, TextRead, Wishes};
use crate::memory::ChangesetCause;
use crate::messages::agent as say;
use crate::proposal::{FileChange, MergedFile, Proposal, Rung, State};
use crate::protocol::{CallState, ItemId, Level, Notice, NoticeAction, Outcome};
use crate::provider::{Role, ToolCall};
use crate::text::time;
use crate::tools::FileVersion;
use crate::workspace::{Access, holds_secrets};

/// The entry for the proposal's test among the names of files that were told already; no file has such a name.
const TESTED: &str = "\0tested";

/// Neighbouring edits of one answer, each with its entry on the screen.
#[derive(Default)]
pub struct Edits(Vec<PendingEdits>);

struct PendingEdits {
    item: CallItem,
    /// The call it came by, and whether that was native; `None`: it was written in the text.
    call: Option<(ToolCall, bool)>,
    edits: Vec<Edit>,
    /// The person's questions before the decision, with the model's answers.
    exchanges: Vec<(String, String)>,
}

impl Edits {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the edits of one call, or one edit of the text.
    pub fn push(&mut self, item: CallItem, call: Option<(ToolCall, bool)>, edits: Vec<Edit>) {
        self.0.push(PendingEdits { item, call, edits, exchanges: Vec::new() });
    }
}

/// The results of a run of edits.
pub struct EditsResult {
    /// One result a call, or an edit of the text, in their order.
    pub results: Vec<CallOutcome>,
    /// Everything was placed, accepted and written: there is nothing the model must answer to.
    pub all_well: bool,
}

/// The result of one call, or of one edit of the text, for the model.
pub struct CallOutcome {
    /// Its entry on the screen.
    pub item: ItemId,
    /// The call; none for an edit of the text.
    pub call: Option<(ToolCall, bool)>,
    /// The record for memory.
    pub record: ResultRecord,
    /// The text for the model.
    pub text: String,
    /// True if an edit of a part of a file has no place in it, though the model knows the file as it is.
    pub misplaced: bool,
    /// True if all of it was made before, in this turn.
    pub stands: bool,
}

/// Places the edits, proposes what changes, and executes what is decided.
pub async fn edits(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    edits: Edits,
    stop: &CancellationToken,
) -> EditsResult {
    let mut pending = edits.0;
    let flat: Vec<Edit> = pending.iter().flat_map(|p| p.edits.iter().cloned()).collect();
    let placing = place(context, &session.files, (flat, Some(wishes(session))), stop);
    let Some(PlacedEdits { changes, results, merged, excused, shown }) = stop.run_until_cancelled(placing).await else {
        return interrupted(&context.events, pending).await;
    };
    note_told(context, &mut session.files, (&pending, &results), &shown);
    for (p, results) in each(&mut pending, &results) {
        show_placed(&context.events, p, results, &changes).await;
    }
    let outcome_of_proposal = if changes.is_empty() {
        None
    } else {
        let cause = cause(session, &pending);
        let id = context.events.proposal();
        let mut files = changes.clone();
        files.iter_mut().for_each(|file| file.by = call_preview::short_verbs(&session.tools, &file.by));
        let proposal = Arc::new(Proposal { id, title: cause.title.clone(), files });
        let asks = asks_person(&context.settings(), &context.services.archive, &proposal);
        if asks {
            for p in pending.iter_mut().filter(|p| !p.item.call.state.is_final()) {
                p.item.set(&context.events, CallState::Asking).await;
            }
        }
        let mut comments = context.approvals.comments(id);
        let executing =
            execute_proposal(context, Arc::clone(&proposal), RestoreParts::default(), Approver::Policy, cause, stop);
        let (outcome_of_proposal, exchanges) =
            comment::beside(context, session, &proposal, &mut comments, executing, stop).await;
        let outcome_of_proposal = ProposalResult { merged_before: merged, ..outcome_of_proposal };
        context.approvals.withdraw(id);
        note_decided(&mut pending, exchanges, &outcome_of_proposal, asks);
        note_undecided(&mut session.undecided, (&pending, &results), (&proposal, &outcome_of_proposal));
        after(context, session, &proposal, &outcome_of_proposal).await;
        Some((proposal, outcome_of_proposal))
    };
    let mut results_of_calls = Vec::new();
    let decided = outcome_of_proposal.as_ref().map(|(proposal, result)| (&**proposal, result));
    let mut reported = reported(session);
    if let Some((proposal, result)) = decided {
        reported.broken = syntax::broken(proposal, result).await;
        reported.changed.extend(proposal.files.iter().map(|file| file.path.clone()));
        reported.written.extend(result.written.iter().map(|(path, _)| path.clone()));
    }
    let mut all_well = reported.broken.is_empty();
    for (p, results) in each(&mut pending, &results) {
        let mut one = tell(&context.events, p, results, decided, &mut reported).await;
        one.record.known_files.extend(unread_files::known_files(&shown, results));
        one.misplaced = p.edits.iter().zip(results).any(|(edit, result)| is_misplaced(edit, result, &excused));
        all_well &= one.record.ok && !p.edits.iter().zip(results).any(|(edit, r)| reported.is_in_vain(edit, r));
        results_of_calls.push(one);
    }
    EditsResult { results: results_of_calls, all_well }
}

/// Returns what the results of edits begin with.
fn reported(session: &Conversation) -> Reported {
    let is_question = session.prompt_text().is_some_and(|prompt| wants_no_change(&prompt));
    Reported { changed: session.files.changed_in_turn(), is_question, ..Reported::default() }
}

/// Returns what was said of what the edits are to do: by the person in this turn, or before it where this turn only agrees to
/// that, and by the model in its last two answers.
fn wishes(session: &Conversation) -> Wishes {
    let answers = session.messages.iter().rev().filter(|message| message.role == Role::Assistant).take(2);
    let answers: Vec<String> = answers.map(|message| message.text().into_owned()).collect();
    let mut prompt = session.prompt_text().unwrap_or_default();
    if agrees(&prompt) {
        let users = session.messages.iter().rev().filter(|message| message.role == Role::User);
        let texts = users.map(|message| message.text().split("\n\n---\n").next().unwrap_or_default().to_string());
        prompt = { texts }.find(|text| !agrees(text)).unwrap_or(prompt);
    }
    let are_none = wants_no_change(&prompt);
    Wishes::new(prompt, answers.iter().map(String::as_str)).none(are_none)
}

/// Returns whether an edit names lines that are not in its file. What is refused for another reason, or asked about, says
/// nothing of how the model writes edits, and neither does an `excused` file.
fn is_misplaced(edit: &Edit, result: &EditResult, excused: &HashSet<String>) -> bool {
    let is_of_lines = matches!(edit.op, Op::Replace { .. } | Op::Lines { .. } | Op::Hunks(_));
    let is_failed = matches!(result.status, edit::EditStatus::Failed(_));
    is_of_lines && is_failed && !excused.contains(&result.path)
}

/// Returns the cause of the changeset that edits may become.
fn cause(session: &Conversation, pending: &[PendingEdits]) -> ChangesetCause {
    ChangesetCause {
        session: Some(session.id.clone()),
        turn: session.turn,
        tool_call: pending.iter().find_map(|p| p.call.as_ref()).map(|(c, _)| c.id.clone()),
        kind: "edit".into(),
        title: session.prompt_words().or_else(|| session.title.clone()).unwrap_or_default(),
        ..ChangesetCause::default()
    }
}

/// Keeps with the first call of a proposal what was asked about it, and what the person decided, and when.
fn note_decided(pending: &mut [PendingEdits], exchanges: Vec<(String, String)>, result: &ProposalResult, asked: bool) {
    let Some(first) = pending.iter_mut().find(|p| !p.item.call.state.is_final()) else { return };
    first.exchanges = exchanges;
    first.item.call.decided = result.decided_hunks().filter(|_| asked);
    first.item.call.answered = first.item.call.decided.map(|_| time::now());
}

/// Notes the edits that went back to the model, undecided, and that those of the same files before them are replaced.
fn note_undecided(
    undecided: &mut UndecidedEdits,
    (pending, results): (&[PendingEdits], &[EditResult]),
    (proposal, outcome_of_proposal): (&Proposal, &ProposalResult),
) {
    undecided.replace_by(proposal);
    let mut results = results.iter();
    for p in pending.iter().filter(|_| outcome_of_proposal.went_back()) {
        let placed = p.edits.iter().zip(results.by_ref()).filter(|(_, result)| is_open(result, proposal));
        let placed = placed.map(|(edit, result)| (edit.clone(), result.path.clone())).collect();
        undecided.push(UndecidedCall::new(&p.item.call, placed));
    }
}

/// Notes the whole new texts of which the model is asked whether they are meant as a part: sent again, they are meant; and the
/// files that it is shown.
fn note_told(
    context: &SessionContext,
    files: &mut SessionFiles,
    (pending, results): (&[PendingEdits], &[EditResult]),
    shown: &[ShownFile],
) {
    for (edit, result) in pending.iter().flat_map(|p| &p.edits).zip(results) {
        if let (Op::Write { content } | Op::Overwrite { content }, edit::EditStatus::Doubted(_)) =
            (&edit.op, &result.status)
        {
            files.asked_whole.insert((result.path.clone(), content.clone()));
        }
    }
    unread_files::know(&context.services.watched, files, shown);
}

/// Creates the result of edits whose placing was interrupted by the person.
async fn interrupted(events: &Events, pending: Vec<PendingEdits>) -> EditsResult {
    let mut results = Vec::new();
    for mut p in pending {
        let text = "interrupted by the user".to_string();
        p.item.end(events, CallState::Interrupted, &text, &text).await;
        let (id, name) = p.call.as_ref().map_or(("", p.item.call.name.as_str()), |(c, _)| (&c.id, &c.name));
        let record = ResultRecord { display: Some(p.item.record()), ..ResultRecord::failed(id, name) };
        results.push(CallOutcome { item: p.item.id, call: p.call, record, text, misplaced: false, stands: false });
    }
    EditsResult { results, all_well: false }
}

/// Returns each call with the results of its edits.
fn each<'a>(
    pending: &'a mut [PendingEdits],
    results: &'a [EditResult],
) -> impl Iterator<Item = (&'a mut PendingEdits, &'a [EditResult])> {
    let mut from = 0;
    pending.iter_mut().map(move |p| {
        let part = &results[from..from + p.edits.len()];
        from += p.edits.len();
        (p, part)
    })
}

/// Edits in their places.
#[derive(Default)]
struct PlacedEdits {
    changes: Vec<FileChange>,
    results: Vec<EditResult>,
    /// The files that changed since they were read and into which the edits were merged.
    merged: Vec<MergedFile>,
    /// The files that changed since they were read, and those that the person was not asked about.
    excused: HashSet<String>,
    /// The files that were not read and are shown with the refusal.
    shown: Vec<ShownFile>,
}

/// Reads the files as they are and places the edits in them, on the blocking pool.
async fn place(
    context: &Arc<SessionContext>,
    files: &SessionFiles,
    (edits, wishes): (Vec<Edit>, Option<Wishes>),
    stop: &CancellationToken,
) -> PlacedEdits {
    let (context, workspace) = (Arc::clone(context), context.services.workspace.stopped_by(stop));
    let seen = files.versions.shared();
    let in_play = match files.in_play.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    };
    let (count, questioned, known) = (edits.len(), files.asked_whole.clone(), files.known().to_vec());
    let unattended = context.settings().unattended;
    let (past, shows) = (files.past.clone(), context.services.config.writes_text(&context.target().model));
    let placed = tokio::task::spawn_blocking(move || {
        // Deleting and moving mean a link itself; all else the file it leads to.
        let entries: Vec<&str> = edits.iter().filter(|e| e.is_of_entry()).filter_map(|e| e.path.as_deref()).collect();
        let mut excused = HashSet::new();
        let mut lookup = |given: &str| -> Result<Current, String> {
            let access = if entries.contains(&given) { Access::Entry } else { Access::File };
            let path = workspace.resolve(given, access).map_err(|e| e.to_string())?;
            let state = workspace.read(&path).map_err(|e| e.to_string())?.state;
            // A refusal would show the model what stands in it.
            let is_withheld = !state.is_absent() && holds_secrets(&path) && !seen.contains_key(&path);
            let withheld = is_withheld
                .then(|| format!("{path} may hold keys: read it with readFile first, which asks the person"));
            let version = seen.get(&path);
            let known = state.bytes().is_some_and(|b| version.is_some_and(|v| v.sha == sha(b)));
            if version.is_some() && !known || is_withheld {
                excused.insert(path.clone());
            }
            let read = version.filter(|_| !known).map(|version| TextRead(version.text.clone()));
            let within = state.is_absent() && edits.iter().any(|e| e.is_within() && e.path.as_deref() == Some(given));
            let instead = if within { workspace.meant_by(&path) } else { Vec::new() };
            Ok(Current { path, state, seen: known, read, instead, withheld })
        };
        let merger = context.services.archive.merger().clone();
        let questioned = Some(questioned);
        let rules = GroupRules { in_play, all_or_nothing: false, questioned, unattended, known, merger, past, wishes };
        let mut outcome = edit::apply(&edits, &mut lookup, &rules);
        labels::label(&mut outcome.changes);
        workspace.note_other_names(&mut outcome.changes);
        tell_drift(&context, &seen, &mut outcome.results);
        let merged = outcome.changes.iter().filter_map(|change| merged(change, &seen)).collect();
        let shown = match shows {
            true => unread_files::show(&workspace, &edits, &seen, &mut outcome.results),
            false => Vec::new(),
        };
        PlacedEdits { changes: outcome.changes, results: outcome.results, merged, excused, shown }
    });
    placed.await.unwrap_or_else(|_| unplaced(count))
}

/// Returns the results of edits whose placing failed in nebula itself.
fn unplaced(count: usize) -> PlacedEdits {
    let failed = |index| EditResult {
        index,
        path: String::new(),
        format: edit::Format::TOOLS,
        status: edit::EditStatus::Failed("placing the edit failed in nebula itself; try another way".into()),
    };
    PlacedEdits { results: (0..count).map(failed).collect(), ..PlacedEdits::default() }
}

/// Returns what others had changed in a file into which edits were merged: what was read of it, and what it was then.
fn merged(change: &FileChange, seen: &HashMap<String, FileVersion>) -> Option<MergedFile> {
    let (path, read) = (change.path.clone(), seen.get(&change.path)?.text.as_ref()?);
    let alone = State::file(read.as_bytes());
    Some(MergedFile { path, rung: change.merged?, alone, after: change.before.clone() })
}

/// Adds to the result of an edit without a place what others changed in its file since it was read, once a file.
fn tell_drift(context: &SessionContext, seen: &HashMap<String, FileVersion>, results: &mut [EditResult]) {
    let mut told_paths = HashSet::new();
    for result in results {
        let (edit::EditStatus::Failed(why) | edit::EditStatus::Doubted(why), Some(seen)) =
            (&mut result.status, seen.get(&result.path))
        else {
            continue;
        };
        let now = context.services.workspace.read(&result.path).ok();
        if let Some(drift) =
            now.and_then(|now| seen.drift(&now.state)).filter(|_| told_paths.insert(result.path.clone()))
        {
            why.push_str(&format!("\nThe file changed on disk after you read it. {drift}"));
        }
    }
}

/// Shows the effect of an edit while it waits, or that it could not be placed.
async fn show_placed(events: &Events, p: &mut PendingEdits, results: &[EditResult], changes: &[FileChange]) {
    if let (Some(edit), Some(result)) = (p.edits.first(), results.first()) {
        p.item.call.main = edit.place(&result.path);
    }
    if let Some(failed) = results.iter().find(|r| !r.ok()) {
        let why = failed.text();
        let text = results.iter().map(EditResult::text).collect::<Vec<_>>().join("\n");
        return p.item.end(events, CallState::Failed, &why, &text).await;
    }
    let change = results.first().and_then(|r| changes.iter().find(|c| c.path == r.path));
    p.item.call.rung = results.iter().filter_map(EditResult::rung).max();
    p.item.call.preview = match (&p.edits[..], change) {
        ([Edit { op: Op::Write { .. } | Op::Overwrite { .. }, .. }], Some(change)) if !change.before.is_absent() => {
            call_preview::changed(change, &own_hunks(change, results))
        }
        (edits, _) => edits.iter().flat_map(call_preview::preview).collect(),
    };
    if results.iter().all(|result| matches!(result.status, edit::EditStatus::Same | edit::EditStatus::Made)) {
        // Nothing of it is new.
        (p.item.call.preview, p.item.call.counts) = (Vec::new(), None);
        return p.item.set(events, CallState::Waiting).await;
    }
    // Of several edits of one file each shows its own lines; of one, what really changes.
    let alone = results.iter().all(|r| changes.iter().all(|c| c.path != r.path || c.by == p.item.call.name));
    p.item.call.counts = match change {
        Some(change) if alone => Some(change.counts),
        _ => Some(call_preview::signs(&p.item.call.preview)),
    };
    p.item.set(events, CallState::Waiting).await;
}

/// Records what the session and the chat learn from the result of a proposal.
async fn after(
    context: &SessionContext,
    session: &mut Conversation,
    proposal: &Proposal,
    outcome_of_proposal: &ProposalResult,
) {
    let files = &mut session.files;
    match &outcome_of_proposal.outcome {
        Outcome::Applied { .. } => {
            for (path, bytes) in &outcome_of_proposal.written {
                if let Some(change) = proposal.files.iter().find(|change| change.path == *path) {
                    files.note_change(change);
                }
                match bytes {
                    Some(bytes) => {
                        context.services.watched.knows(path, files.know(path, bytes));
                        if !is_told(path, outcome_of_proposal) {
                            files.versions.remove(path);
                        }
                    }
                    None => {
                        files.versions.remove(path);
                    }
                }
            }
        }
        Outcome::Conflict { path, found, .. } => {
            files.versions.remove(path);
            let (title, detail) = conflict_words(path, found);
            let actions = vec![NoticeAction::ShowChange(path.clone()), NoticeAction::OpenFile(path.clone())];
            session.say(&context.events, Notice { actions, ..Notice::new(Level::Warning, title, detail) }).await;
        }
        Outcome::Failed(why) => {
            session.say(&context.events, Notice::new(Level::Error, why.clone(), say::refused_gone())).await;
        }
        Outcome::Refused | Outcome::Withdrawn => {}
    }
    for file in &proposal.files {
        session.files.touch(&file.path);
    }
}

fn conflict_words(path: &str, found: &crate::proposal::State) -> (String, String) {
    let title = if found.is_absent() { say::edit_refused_gone(&path) } else { say::edit_refused_newer(&path) };
    (title, say::changed_since_read().into())
}

/// Ends the entry of one call and makes its result for the model.
async fn tell(
    events: &Events,
    p: &mut PendingEdits,
    results: &[EditResult],
    outcome_of_proposal: Option<(&Proposal, &ProposalResult)>,
    reported: &mut Reported,
) -> CallOutcome {
    let call = p.call.take();
    let (id, name) = call.as_ref().map_or(("", p.item.call.name.as_str()), |(c, _)| (&c.id, &c.name));
    let mut record = ResultRecord::failed(id, name);
    let counted = p.edits.iter().zip(results).filter(|(_, r)| !reported.stands(r));
    record.edits = counted.map(|(edit, r)| edit_record(edit, r, outcome_of_proposal)).collect();
    let mut text = reported.placed(&p.edits, results, call.is_none());
    if !p.item.call.state.is_final() {
        let verdict = verdict(results, outcome_of_proposal, &mut reported.said);
        record.ok = verdict.state == CallState::Done && verdict.reason.is_none();
        if let Some((_, outcome_of_proposal)) = outcome_of_proposal {
            // Without an edit of its own it would stand for all of the changeset.
            let stands = results.iter().all(|r| reported.stands(r));
            record.changeset = outcome_of_proposal.changeset.clone().filter(|_| !verdict.is_there && !stands);
            record.went_back = outcome_of_proposal.went_back();
            record.known_files = known_files(results, outcome_of_proposal);
        }
        if let Some(line) = verdict.for_model {
            // Where the place was not found byte for byte, the model should know; else what was decided says enough.
            let exact = results.iter().all(|r| r.rung() == Some(Rung::Exact));
            text = if exact { line } else { format!("{text}\n{line}") };
        }
        if let Some(tested) = outcome_of_proposal
            .and_then(|(_, result)| result.tested.as_ref())
            .filter(|_| reported.said.insert(TESTED.into()))
        {
            text.push_str(&format!("\n{tested}"));
        }
        let broken = results.iter().find_map(|result| reported.broken.remove_entry(&result.path));
        if let Some((path, line)) = &broken {
            text.push_str(&format!("\n{}", line.for_model(path)));
        }
        for (questioned, answer) in &p.exchanges {
            let answered =
                if answer.is_empty() { "You gave no answer.".into() } else { format!("You answered: {answer}") };
            text.push_str(&format!("\nBefore deciding the person asked: {questioned}\n{answered}"));
        }
        p.item.call.comments = std::mem::take(&mut p.exchanges);
        p.item.call.summary =
            broken.map_or_else(|| verdict.summary.clone(), |(_, line)| line.summary(&verdict.summary));
        if verdict.is_there {
            (p.item.call.preview, p.item.call.counts) = (Vec::new(), None);
        }
        p.item.call.hunks = verdict.hunks;
        p.item.call.reason = verdict.reason;
        p.item.call.result = Some(text.clone());
        p.item.call.change = record.change();
        p.item.set(events, verdict.state).await;
    }
    record.display = Some(p.item.record());
    let stands = record.ok && results.iter().all(|r| reported.stands(r));
    CallOutcome { item: p.item.id, call, record, text, misplaced: false, stands }
}
