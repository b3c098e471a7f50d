//! Listings: each is made beside the loop, on the blocking pool, and carries the id of its question.

use std::sync::Arc;
use std::time::Duration;

use crate::agent::background::watch;
use crate::agent::services::{Env, lock};
use crate::agent::session::rag;
use crate::agent::session::transcript;
use crate::archive::{Archive, Id};
use crate::context::attach;
use crate::memory::{self, SessionState as Stored};
use crate::proposal::{Counts, State};
use crate::protocol::{
    Changeset, ChangesetFile, Event, Listing, Query, QueryId, SessionPreview, SessionRow, SessionState, VersionRow,
};

/// How many entries a preview of a session shows.
const PREVIEW: usize = 12;
/// The beginning of a file that is shown as a preview, in bytes.
const TEXT: usize = 64 << 10;
/// Files offered by a completion.
const FILES: usize = 100;
/// How long a completion waits for the walk over the workspace: at first, and to show more of what it finds.
const WALK: Duration = Duration::from_millis(10);
const WALK_AGAIN: Duration = Duration::from_millis(100);
/// How long it looks before it answers with what is found so far.
const FIND: Duration = Duration::from_millis(10);
/// Earlier inputs that are offered.
const INPUTS: usize = 500;

/// Answers a question without holding up the loop.
pub fn answer(env: Arc<Env>, id: QueryId, query: Query) {
    if let Query::Files(words) = &query {
        if !env.index_asked() {
            watch::walk(&env);
        }
        // `@rag` is being typed: while its words are, its index comes up to date.
        if words == "ra" {
            rag::refresh(&env);
        }
    }
    tokio::spawn(async move {
        let listing = match query {
            Query::Models => models(&env).await,
            query => {
                let env = Arc::clone(&env);
                let made = tokio::task::spawn_blocking(move || listing(&env, query)).await;
                made.unwrap_or_else(|_| Err("it failed in nebula itself".into())).unwrap_or_else(Listing::Failed)
            }
        };
        env.events.send(Event::Answer(id, listing)).await;
    });
}

async fn models(env: &Env) -> Listing {
    let provider = env.live().provider.clone();
    let present = env.live().model.clone();
    let mut names = match provider {
        // A server that does not say still serves the model in use.
        Some(provider) => provider.models().await.unwrap_or_default(),
        None => Vec::new(),
    };
    // Configured ones and the present one are on offer too, whatever the server lists.
    let configured: Vec<String> = lock(&env.config).models.keys().cloned().collect();
    for name in configured.into_iter().chain([present]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Listing::Models(names)
}

fn listing(env: &Env, query: Query) -> Result<Listing, String> {
    let say = |e: memory::Error| e.to_string();
    let project = env.project();
    Ok(match query {
        Query::Sessions(words) => {
            let found = if words.trim().is_empty() {
                env.memory.list(&project)
            } else {
                env.memory.list_matching(&project, &words)
            };
            Listing::Sessions(found.map_err(say)?.iter().map(row).collect())
        }
        Query::Preview(id) => Listing::Preview(preview(env, &id).map_err(say)?),
        Query::Archive { skip, limit, filter } => archive(env, skip, limit, &filter)?,
        Query::Versions(path) => versions(env, path)?,
        Query::Bytes(path, version) => {
            let state = bytes(env, &path, version.as_deref())?;
            Listing::Bytes(path, version, Arc::new(state))
        }
        Query::Files(words) => {
            let files = env.files();
            // The walk of a small project is over in a moment, that of a huge one is not waited for.
            files.wait(if env.asks_again(&words) { WALK_AGAIN } else { WALK });
            let found = files.find_within(&words, FILES, FIND);
            let hits = found.hits.into_iter().map(|h| (h.path, h.at)).collect();
            Listing::Files { hits, total: found.total, complete: found.complete }
        }
        Query::Text(path) => text(env, path)?,
        Query::Search(words) => {
            let hits = env.memory.search(&project, &words, 100).map_err(say)?;
            Listing::Search(hits.into_iter().map(|h| (h.session, h.title, h.snippet)).collect())
        }
        Query::Inputs => Listing::Inputs(env.memory.inputs(&project, INPUTS).map_err(say)?),
        Query::Prompts => Listing::Prompts(crate::agent::session::request::prompts(env)),
        Query::Rules => Listing::Rules(crate::agent::session::prompt_state::rules_now(env)),
        Query::Stats => {
            let rows = env.memory.stats(None).map_err(say)?;
            Listing::Table { title: "edits by model and format".into(), text: stats(&rows) }
        }
        Query::Config => Listing::Table { title: "configuration".into(), text: config(env) },
        Query::Models => Listing::Models(Vec::new()),
    })
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
        Stored::Open => SessionState::Open,
        Stored::InUse { .. } => SessionState::InUse,
        Stored::Ended => SessionState::Ended,
    }
}

fn preview(env: &Env, id: &str) -> Result<SessionPreview, memory::Error> {
    let session = env.memory.get(id)?;
    let rows = env.memory.last(id, PREVIEW)?;
    let mut files: Vec<(String, Option<i64>)> = Vec::new();
    for changeset in env.memory.changesets_of_session(id)? {
        for file in changeset.files {
            if files.iter().all(|(p, _)| *p != file.path) {
                let changed = changed_since(env, &file.path)?;
                files.push((file.path, changed));
            }
        }
    }
    Ok(SessionPreview {
        id: id.to_string(),
        items: transcript::items(&rows),
        files,
        cost: session.totals.cost,
        counts: Counts { added: session.totals.added as usize, removed: session.totals.removed as usize },
        state: state(&session),
    })
}

/// When a file was changed by someone else after nebula last wrote it; none: it is as nebula left it.
fn changed_since(env: &Env, path: &str) -> Result<Option<i64>, memory::Error> {
    let Some(written) = env.memory.written(&env.project(), path)? else { return Ok(None) };
    let Ok(read) = env.workspace.read(path) else { return Ok(None) };
    let sha = read.state.bytes().map(|b| crate::archive::sha256(b));
    Ok(if written.is(sha) { None } else { Some(read.stamp.map_or(0, |s| s.modified())) })
}

/// A changeset with what memory knows of it.
pub fn changeset(env: &Env, archive: &Archive, id: Id, known: Option<&memory::ChangesetRecord>) -> Changeset {
    let files = match known {
        Some(record) => record
            .files
            .iter()
            .map(|f| ChangesetFile {
                path: f.path.clone(),
                version: f.version.clone().unwrap_or_default(),
                absent: f.absent,
                counts: counts(f.added, f.removed),
            })
            .collect(),
        None => unknown_files(archive, id),
    };
    let (cause, by) = match known {
        Some(record) => (record.cause.title.clone(), by(env, record)),
        None => (String::new(), String::new()),
    };
    Changeset { id: id.to_string(), at: id.at(), cause, by, files }
}

fn by(env: &Env, record: &memory::ChangesetRecord) -> String {
    match record.cause.kind.as_str() {
        // An earlier session's edit is the person's own past; only one that is open now is somebody beside them.
        "edit" if other_nebula(env, record) => "other session".into(),
        kind => kind.to_string(),
    }
}

fn other_nebula(env: &Env, record: &memory::ChangesetRecord) -> bool {
    let session = record.cause.session.as_ref().filter(|id| Some(*id) != env.open_session().as_ref());
    session.is_some_and(|id| env.memory.in_use(id))
}

fn counts(added: Option<u64>, removed: Option<u64>) -> Option<Counts> {
    Some(Counts { added: added? as usize, removed: removed? as usize })
}

fn unknown_files(archive: &Archive, id: Id) -> Vec<ChangesetFile> {
    let paths = archive.paths(id).unwrap_or_default();
    paths
        .into_iter()
        .map(|path| {
            let version = archive.version_in(&path, id).ok().flatten();
            ChangesetFile {
                version: version.as_ref().map(|v| v.id.to_string()).unwrap_or_default(),
                absent: version.is_some_and(|v| v.absent),
                path,
                counts: None,
            }
        })
        .collect()
}

fn archive(env: &Env, skip: usize, limit: usize, filter: &str) -> Result<Listing, String> {
    let archive = &env.archive;
    let ids = archive.list().map_err(|e| e.to_string())?;
    let total = ids.len();
    let project = env.project();
    let words = filter.to_lowercase();
    let row = |id: &Id| {
        // What memory cannot tell the archive does.
        let known = env.memory.changeset(&project, &id.to_string()).ok().flatten();
        changeset(env, archive, *id, known.as_ref())
    };
    let rows: Vec<Changeset> = if words.is_empty() {
        ids.iter().skip(skip).take(limit).map(row).collect()
    } else {
        let known = env.memory.listing(&project).map_err(|e| e.to_string())?;
        ids.iter().filter(|id| fits(archive, **id, &known, &words)).skip(skip).take(limit).map(row).collect()
    };
    let files = archive.file_count().map_err(|e| e.to_string())?;
    lock(&env.seen).archive = Some((total, files));
    Ok(Listing::Archive { rows, total, files })
}

/// Whether the cause or a path of a changeset holds these words, in lower case.
fn fits(archive: &Archive, id: Id, known: &memory::Listing, words: &str) -> bool {
    let (name, holds) = (id.to_string(), |text: &str| text.to_lowercase().contains(words));
    let files = known.files(&name);
    known.find(&name).is_some_and(|r| holds(&r.cause.title))
        || files.clone().any(|f| holds(f.path))
        || files.len() == 0 && archive.paths(id).unwrap_or_default().iter().any(|p| holds(p))
}

fn versions(env: &Env, path: String) -> Result<Listing, String> {
    let found = env.archive.versions(&path).map_err(|e| e.to_string())?;
    let causes = env.memory.changesets_of_path(&env.project(), &path).unwrap_or_default();
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
    let foreign = changed_since(env, &path).ok().flatten().is_some();
    let now = match (found.last(), env.workspace.read(&path)) {
        (Some(newest), Ok(read)) => {
            let archived = env.archive.show(newest).map_err(|e| e.to_string())?;
            Some(crate::proposal::count_changed(&archived, &read.state))
        }
        _ => None,
    };
    Ok(Listing::Versions { path, versions: rows, foreign, now })
}

fn bytes(env: &Env, path: &str, version: Option<&str>) -> Result<State, String> {
    match version {
        None => env.workspace.read(path).map(|r| r.state).map_err(|e| e.to_string()),
        Some(id) => {
            let version = env.archive.find_version(Some(path), id).map_err(|e| e.to_string())?;
            env.archive.show(&version).map_err(|e| e.to_string())
        }
    }
}

fn text(env: &Env, path: String) -> Result<Listing, String> {
    if path.ends_with('/') {
        let names = attach::names(&env.workspace, &path)?;
        return Ok(Listing::Text { path, text: Some(names.join("\n")), lines: names.len(), bytes: 0 });
    }
    let read = env.workspace.read(&path).map_err(|e| e.to_string())?;
    let State::File { bytes, .. } = read.state else { return Err(format!("{path} is not there")) };
    let start = &bytes[..bytes.len().min(TEXT)];
    let text = crate::proposal::shown(start).map(std::borrow::Cow::into_owned);
    let lines = bytes.iter().filter(|b| **b == b'\n').count() + usize::from(bytes.last().is_some_and(|b| *b != b'\n'));
    Ok(Listing::Text { path, text, lines, bytes: bytes.len() as u64 })
}

fn stats(rows: &[memory::StatsRow]) -> String {
    if rows.is_empty() {
        return "no edit was asked for yet".into();
    }
    let mut text =
        "| model | format | asked | landed | unchanged | missed | refused | retried |\n|---|---|--:|---|--:|--:|--:|--:|\n"
            .to_string();
    for r in rows {
        let landed: Vec<_> = r.landed.iter().map(|(rung, n)| format!("{rung} {n}")).collect();
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            r.model,
            r.format,
            r.asked,
            landed.join(", "),
            r.unchanged,
            r.missed,
            r.refused,
            r.retried
        ));
    }
    text
}

fn config(env: &Env) -> String {
    let mut text = "| key | value | from |\n|---|---|---|\n".to_string();
    for (key, value, origin) in lock(&env.config).listing() {
        let value = value.unwrap_or_else(|| "-".into()).replace('|', "\\|");
        text.push_str(&format!("| {key} | {value} | {} |\n", origin.word()));
    }
    text
}
