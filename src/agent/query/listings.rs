//! Listings: each is made beside the loop, on the blocking pool, and carries the id of its question.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::background::{rag, review, watch};
use crate::agent::change::command::{seal_jobs, seal_to_look};
use crate::agent::change::restore;
use crate::agent::query::{graph, model_list, past, undone};
use crate::agent::services::changesets::{changesets, counts, written};
use crate::agent::services::{Services, lock};
use crate::agent::session::context::{SessionContext, cost_event};
use crate::agent::session::damage::SessionDamage;
use crate::agent::session::unanswered::EarlierCommands;
use crate::agent::session::{prompt_parts, transcript};
use crate::archive::Id;
use crate::archive::restore::state_sha;
use crate::config::ValueSource;
use crate::context::attach;
use crate::context::prompts::UserPrompt;
use crate::memory::{self, MessageState, SessionUse, UsageBy, UsageRow, UsageWords, usage_tables};
use crate::messages::{agent as say, verbs};
use crate::proposal::{Counts, State};
use crate::protocol::{
    Call, EventBody, Item, Listing, OnDisk, PromptRow, Query, QueryId, ReviewChange, SessionPreview, SessionRow,
    SessionState, VersionRow,
};
use crate::provider::models;
use crate::review::OUTSIDE;
use crate::text::clean::clean_line;
use crate::text::number::tokens;
use crate::workspace::{ReadError, holds_secrets};

/// The number of entries in a preview of a session.
const PREVIEW: usize = 12;
/// The beginning of a file that is shown as a preview, in bytes.
const TEXT: usize = 64 << 10;
/// Files offered by a completion.
const FILES: usize = 100;
/// The time a completion waits for the walk over the workspace, at first and to show more of what it finds.
const WALK: Duration = Duration::from_millis(10);
const WALK_AGAIN: Duration = Duration::from_millis(100);
/// The time it looks before it answers with what is found so far.
const FIND: Duration = Duration::from_millis(10);
/// Earlier inputs that are offered.
const INPUTS: usize = 500;

/// Answers a question without holding up the loop.
pub fn answer(context: Arc<SessionContext>, id: QueryId, query: Query) {
    if let Query::Files(words) = &query {
        if !context.services.watched.index.was_requested() {
            watch::walk(&context.services);
        }
        // `@rag` is being typed: while its words are, its index comes up to date.
        if words == "ra" {
            rag::refresh(&context.services);
        }
    }
    let stop = context.services.graph.begin(&query);
    tokio::spawn(async move {
        match query {
            Query::Review | Query::ReviewChange(..) | Query::SessionDiff => {
                seal_to_look(&context, context.commands.unsealed_jobs()).await;
            }
            // What a command that runs changed so far is its own, and no one else's.
            Query::Timeline | Query::Past { .. } => seal_to_look(&context, context.commands.unsealed()).await,
            Query::Blame(_) => seal_jobs(&context.services, &context.commands, &context.events).await,
            _ => {}
        }
        let listing = match query {
            Query::Models => model_list::models(&context.services, context.provider(), context.model()).await,
            query => {
                let context = Arc::clone(&context);
                let made = tokio::task::spawn_blocking(move || listing(&context, query, &stop)).await;
                made.unwrap_or_else(|_| Err(say::failed_itself().into())).unwrap_or_else(Listing::Failed)
            }
        };
        context.services.events.send(EventBody::Answer(id, listing)).await;
    });
}

fn listing(context: &SessionContext, query: Query, stop: &CancellationToken) -> Result<Listing, String> {
    let say = |e: memory::Error| e.to_string();
    let services = &*context.services;
    let project = services.project();
    Ok(match query {
        Query::Sessions(words) => {
            let found = services.memory.ask_blocking(move |memory| match words.trim().is_empty() {
                true => memory.list(&project),
                false => memory.list_matching(&project, &words),
            });
            Listing::Sessions(found.map_err(say)?.iter().map(row).collect())
        }
        Query::Preview(id) => Listing::Preview(preview(services, &id).map_err(say)?),
        Query::Archive { skip, limit, filter } => archive(services, skip, limit, &filter)?,
        Query::Versions(path) => versions(services, path)?,
        Query::Bytes(path, version) => {
            let state = bytes(services, &path, version.as_deref())?;
            Listing::Bytes(path, version, Arc::new(state))
        }
        Query::Files(words) => files(services, &words),
        Query::Text(path) => text(services, path)?,
        Query::Search(words) => {
            let hits = services.memory.ask_blocking(move |memory| memory.search(&project, &words, 100)).map_err(say)?;
            Listing::Search(hits.into_iter().map(|h| (h.session, h.title, h.snippet)).collect())
        }
        Query::Inputs => {
            let inputs = services.memory.ask_blocking(move |memory| memory.inputs(&project, INPUTS));
            Listing::Inputs(inputs.map_err(say)?)
        }
        Query::Prompts => Listing::Prompts(prompts(services)),
        Query::SessionDiff => Listing::SessionDiff(restore::session_diff(context)?.map(Arc::new)),
        Query::Rules => Listing::Rules(prompt_parts::rules_now(context)),
        Query::Stats => stats_table(services).map_err(say)?,
        Query::Usage => Listing::Table { title: say::usage_title().into(), text: usage(context).map_err(say)? },
        Query::Review => Listing::Review(review::turns(services)?),
        Query::ReviewChange(ids, scope) => {
            Listing::ReviewChange(beside_commands(context, review::change(services, &ids, scope)?))
        }
        Query::Timeline => Listing::Timeline(past::moments(services)?),
        Query::Past { then, until } => Listing::Past(past::between(services, then.as_deref(), until.as_deref())?),
        Query::Blame(path) => Listing::Blame(past::blame(services, &path)?),
        Query::Graph { filter, limit } => Listing::Graph(graph::page(services, stop, &filter, limit)?),
        Query::Definition(id) => Listing::Definition(Box::new(graph::definition(services, stop, &id)?)),
        Query::Context => {
            context.show_window();
            Listing::Table { title: say::context_title().into(), text: context.status_data.context_table() }
        }
        Query::Environment => Listing::Table { title: say::environment_title().into(), text: environment(context) },
        Query::Config => Listing::Table { title: say::configuration_title().into(), text: config(services) },
        // The conversation is the actor's, which answers this itself.
        Query::Results => Listing::Results(Vec::new()),
        Query::Models => Listing::Models(Vec::new()),
    })
}

/// Returns the paths that entries changed: what the session's running commands may be changing is called no one else's.
fn beside_commands(context: &SessionContext, mut found: ReviewChange) -> ReviewChange {
    const PERHAPS: &str = "changed since, perhaps by a command that still runs";
    if !context.commands.unsealed().is_empty() {
        found.aside.iter_mut().filter(|(_, why)| why == OUTSIDE).for_each(|(_, why)| *why = PERHAPS.into());
    }
    found
}

/// Returns the files that fit some words, as far as the walk over the workspace has come.
fn files(services: &Services, words: &str) -> Listing {
    let (index, files) = (&services.watched.index, services.watched.index.files());
    // The walk of a small project takes a moment; that of a huge one is not waited for.
    files.wait(if index.asks_again(words) { WALK_AGAIN } else { WALK });
    let found = files.find_within(words, FILES, FIND);
    let mut hits: Vec<_> = found.hits.into_iter().map(|h| (h.path, h.at)).collect();
    // A file with keys never leads: Enter takes the first.
    hits.sort_by_key(|(path, _)| holds_secrets(path));
    Listing::Files { hits, total: found.total, complete: found.complete }
}

/// Returns what the session took by turn and by model.
fn usage(context: &SessionContext) -> Result<String, memory::Error> {
    let Some(id) = context.id() else { return Ok(say::nothing_asked().into()) };
    let by_turn_and_model = move |memory: &memory::Memory| {
        Ok([
            (UsageBy::Turn, memory.usage(None, Some(&id), UsageBy::Turn)?),
            (UsageBy::Model, memory.usage(None, Some(&id), UsageBy::Model)?),
        ])
    };
    let rows_by = context.services.memory.ask_blocking(by_turn_and_model)?;
    let words = UsageWords {
        columns: [
            say::steps_column(),
            say::in_column(),
            say::cached_column(),
            say::out_column(),
            say::thought_column(),
            say::cost_column(),
            say::missed_column(),
        ],
        head: |input, output, cached| say::usage_head(&input, &output, &cached),
        prices: |as_of| say::usage_prices(&as_of),
    };
    let with_total = |(by, mut rows): (UsageBy, Vec<UsageRow>)| {
        let mut total = UsageRow { key: say::total().into(), ..UsageRow::default() };
        rows.iter().for_each(|row| total.add(row));
        if by == UsageBy::Turn {
            let (beside, turns): (Vec<_>, Vec<_>) = rows.iter_mut().partition(|row| row.key == "0");
            turns.into_iter().enumerate().for_each(|(at, row)| row.key = say::turn_number(&(at + 1)));
            beside.into_iter().for_each(|row| row.key = say::of_no_turn().into());
        }
        (rows, total)
    };
    let mut text = format!("```\n{}```\n\n", usage_tables(&rows_by.map(with_total), models::as_of(), &words));
    let (parts, rules) = (context.status_data.fixed(), context.status_data.rules());
    let rules = rules.into_iter().map(|rule| (rule.path, Some(rule.bytes as u64 / 4)));
    let parts = parts.into_iter().filter(|(part, _)| *part != say::rules_part());
    let fixed: Vec<(String, Option<u64>)> =
        parts.map(|(part, tokens)| (part.to_string(), tokens)).chain(rules).collect();
    if !fixed.is_empty() {
        text.push_str(say::fixed_tokens());
        let size = |size: &Option<u64>| size.map_or_else(|| say::not_known_yet().to_string(), tokens);
        fixed.iter().for_each(|(part, known)| text.push_str(&format!("| {part} | {} |\n", size(known))));
    }
    Ok(text)
}

fn stats_table(services: &Services) -> Result<Listing, memory::Error> {
    let (rows, unreadable) = services.memory.ask_blocking(|memory| memory.stats(None))?;
    let mut text = stats(&rows);
    if unreadable > 0 {
        text.push_str(&format!("\n{}.\n", say::unread_results(&unreadable)));
    }
    Ok(Listing::Table { title: say::edits_title().into(), text })
}

fn row(s: &memory::Session) -> SessionRow {
    SessionRow {
        id: s.id.clone(),
        title: s.title.clone().unwrap_or_default(),
        state: state(s),
        messages: usize::try_from(s.messages).unwrap_or(usize::MAX),
        model: s.model.clone(),
        at: s.updated,
    }
}

fn state(s: &memory::Session) -> SessionState {
    match s.state {
        SessionUse::Open => SessionState::Open,
        SessionUse::InUse { mine: true } => SessionState::Here,
        SessionUse::InUse { mine: false } => SessionState::InUse,
        SessionUse::Ended => SessionState::Ended,
    }
}

fn preview(services: &Services, id: &str) -> Result<SessionPreview, memory::Error> {
    let asked_for = id.to_string();
    let (session, rows, changesets, restores) = services.memory.ask_blocking(move |memory| {
        let id = &asked_for;
        Ok((
            memory.get(id)?,
            memory.last(id, PREVIEW)?,
            memory.changesets_of_session(id)?,
            memory.restores_of_session(id)?,
        ))
    })?;
    let mut files: Vec<(String, OnDisk)> = Vec::new();
    let mut own: HashSet<String> = changesets.iter().filter_map(|record| record.id.clone()).collect();
    for changeset in changesets {
        for file in changeset.files {
            if files.iter().all(|(p, _)| *p != file.path) {
                let on_disk = on_disk(services, &file.path)?;
                files.push((file.path, on_disk));
            }
        }
    }
    let mut items = transcript::items(&rows, (&restores, &EarlierCommands::default()), &services.tools(), None);
    let is_arriving = rows.last().is_some_and(|row| row.message.meta.state == MessageState::Streaming);
    if is_arriving && matches!(session.state, SessionUse::InUse { .. }) {
        // Another nebula writes this answer right now: it did not break off.
        items.pop_if(|item| matches!(item, Item::Notice(_)));
    }
    if !restores.is_empty() {
        own.extend(undone::changesets_of(&items));
        let undone = undone::undone(services, &own);
        items.iter_mut().for_each(|item| {
            if let Item::Call(Call { change: Some(change), .. }) = item {
                change.take_undone(&undone);
            }
        });
    }
    items.extend(SessionDamage::of(&rows, false).notice().map(Item::Notice));
    Ok(SessionPreview {
        id: id.to_string(),
        items,
        files,
        cost: cost_event(&session.totals),
        counts: Counts { added: session.totals.added as usize, removed: session.totals.removed as usize },
        state: state(&session),
    })
}

/// Returns whether a file was changed by someone else after nebula last wrote it.
fn on_disk(services: &Services, path: &str) -> Result<OnDisk, memory::Error> {
    let Some(written) = written(services, path)? else { return Ok(OnDisk::AsLeft) };
    let Ok(read) = services.workspace.read(path) else { return Ok(OnDisk::AsLeft) };
    Ok(match written.is(state_sha(&read.state)) {
        true => OnDisk::AsLeft,
        false => OnDisk::Changed { at: read.stamp.map(|stamp| stamp.modified()) },
    })
}

fn archive(services: &Services, skip: usize, limit: usize, filter: &str) -> Result<Listing, String> {
    let archive = &services.archive;
    let ids = archive.list().map_err(|e| e.to_string())?;
    let total = ids.len();
    let words = filter.to_lowercase();
    let found: Vec<Id> = if words.is_empty() {
        ids
    } else {
        let project = services.project();
        let known = services.memory.ask_blocking(move |memory| memory.listing(&project)).map_err(|e| e.to_string())?;
        ids.into_iter().filter(|id| fits(services, *id, &known, &words)).collect()
    };
    let page: Vec<Id> = found.iter().skip(skip).take(limit).copied().collect();
    let rows = changesets(services, &page);
    let files = archive.file_count().map_err(|e| e.to_string())?;
    *lock(&services.counts.archive) = Some((total, files));
    Ok(Listing::Archive { rows, found: found.len(), total, files })
}

/// Returns whether the cause or a path of a changeset holds these words, in lower case.
fn fits(services: &Services, id: Id, known: &memory::ChangesetListing, words: &str) -> bool {
    let (name, holds) = (id.to_string(), |text: &str| text.to_lowercase().contains(words));
    let files = known.files(&name);
    known.find(&name).is_some_and(|r| holds(&r.cause.title))
        || files.clone().any(|f| holds(f.path))
        || files.len() == 0
            && services.record_error(services.archive.paths(id)).unwrap_or_default().iter().any(|p| holds(p))
}

fn versions(services: &Services, path: String) -> Result<Listing, String> {
    let found = services.archive.versions(&path).map_err(|e| e.to_string())?;
    // Without their causes the versions can still be restored.
    let causes = services.record_error({
        let (project, path) = (services.project(), path.clone());
        services.memory.ask_blocking(move |memory| memory.changesets_of_path(&project, &path))
    });
    let causes = causes.unwrap_or_default();
    let rows = found.iter().map(|v| {
        let id = v.id.to_string();
        let of = causes.iter().find(|c| c.files.iter().any(|f| f.version.as_deref() == Some(&id)));
        let file = of.and_then(|c| c.files.iter().find(|f| f.version.as_deref() == Some(&id)));
        VersionRow {
            at: v.id.at(),
            absent: v.absent,
            cause: of.map(|c| c.cause.title.clone()).unwrap_or_default(),
            counts: file.and_then(|f| counts(f.added, f.removed)),
            bytes: v.size(),
            id,
        }
    });
    let rows: Vec<_> = rows.collect();
    let on_disk = services.record_error(on_disk(services, &path));
    let foreign = matches!(on_disk, Some(OnDisk::Changed { .. }));
    let now = match (found.last(), services.workspace.read_whole(&path)) {
        (Some(newest), Ok(read)) => {
            let archived = services.archive.show(newest).map_err(|e| e.to_string())?;
            Some(crate::proposal::count_changed(&archived, &read.state))
        }
        _ => None,
    };
    Ok(Listing::Versions { path, versions: rows, foreign, now })
}

fn bytes(services: &Services, path: &str, version: Option<&str>) -> Result<State, String> {
    match version {
        // A path that the archive has may be that of a folder.
        None => services.workspace.read_archived(path).map(|r| r.state).map_err(|e| e.to_string()),
        Some(id) => {
            let version = services.archive.find_version(Some(path), id).map_err(|e| e.to_string())?;
            services.archive.show(&version).map_err(|e| e.to_string())
        }
    }
}

fn text(services: &Services, path: String) -> Result<Listing, String> {
    if path.ends_with('/') {
        let names = attach::names(&services.workspace, &path)?;
        return Ok(Listing::Text { path, text: Some(names.join("\n")), lines: names.len(), bytes: 0 });
    }
    let read = match services.workspace.read_whole(&path) {
        Err(ReadError::TooLarge { size, .. }) => return Ok(Listing::Text { path, text: None, lines: 0, bytes: size }),
        read => read.map_err(|e| e.to_string())?,
    };
    let State::File { bytes, .. } = read.state else { return Err(format!("{path} is not there")) };
    let start = &bytes[..bytes.len().min(TEXT)];
    let text = crate::proposal::display_text(start).map(std::borrow::Cow::into_owned);
    let lines = bytes.iter().filter(|b| **b == b'\n').count() + usize::from(bytes.last().is_some_and(|b| *b != b'\n'));
    Ok(Listing::Text { path, text, lines, bytes: bytes.len() as u64 })
}

/// Returns the person's prompts.
fn prompts(services: &Services) -> Vec<PromptRow> {
    let root = services.workspace.root();
    let row = |p: UserPrompt| PromptRow {
        usage: p.usage(),
        path: p.path.strip_prefix(root).unwrap_or(&p.path).display().to_string(),
        name: p.name,
        description: p.description,
    };
    services.prompts().all.into_iter().map(row).collect()
}

fn stats(rows: &[memory::StatsRow]) -> String {
    if rows.is_empty() {
        return say::no_edit_yet().into();
    }
    let mut text = say::edits_head().to_string();
    for r in rows {
        let applied: Vec<_> = r.applied.iter().map(|(rung, n)| format!("{} {n}", verbs::found(rung))).collect();
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            r.model,
            r.format,
            r.requested,
            applied.join(", "),
            r.unchanged,
            r.not_found,
            r.refused,
            r.retried
        ));
    }
    text
}

/// Returns what the next command begins with, as a table.
fn environment(context: &SessionContext) -> String {
    let (folder, variables) = context.commands.left();
    let root = context.services.workspace.root();
    let inside = folder.strip_prefix(root).map(|inside| inside.display().to_string()).unwrap_or_default();
    let mut text = match inside.is_empty() {
        true => say::environment_head_of_root().to_string(),
        false => say::environment_head(&clean_line(&inside)),
    };
    for (name, value) in variables {
        let value =
            value.map_or_else(|| say::environment_unset().into(), |value| clean_line(&value).replace('|', "\\|"));
        text.push_str(&format!("| {} | {value} |\n", clean_line(&name)));
    }
    text
}

fn config(services: &Services) -> String {
    let mut text = say::key_value_from().to_string();
    for (key, value, origin) in services.config.read().listing() {
        let value = value.unwrap_or_else(|| "-".into()).replace('|', "\\|");
        text.push_str(&format!("| {key} | {value} | {} |\n", source_name(origin)));
    }
    text
}

/// Returns the name of a value's source, for the person.
fn source_name(source: ValueSource) -> &'static str {
    match source {
        ValueSource::Default => say::from_default(),
        ValueSource::User => say::from_user(),
        ValueSource::Workspace => say::from_workspace(),
        ValueSource::Environment => say::from_environment(),
        ValueSource::Flag => say::from_flag(),
    }
}
