//! The tools `code_*` of `mcp serve --code`: the commands of `strand code` with named arguments. Files that usually hold
//! keys are not read, and a change that no flag approves is left to the person.

use std::io;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::args::{AskCode, RefsCode, RemoveCode, RenameCode, ReplaceCode, ViewCode};
use super::failure::{Failed, REFUSED, USAGE};
use super::place::Place;
use super::read::{each_shown, node_json, with_notes};
use super::servers::Servers;
use super::{history, refs, rename, schema, write};
use crate::cli::context::Context;
use crate::cli::files::ArchiveCommands;
use crate::cli::out::Out;
use crate::code::SourceFile;
use crate::definitions::{DefinitionFinder, FindNotes, SecretFiles, VisitEnd};
use crate::mcp::{Client, Contents, ResourcePage, ServedAnswer, ServedTool, Toolbox};
use crate::text::schema::PageLimit;

/// The text that a page of definitions holds before it ends, in bytes.
const PAGE: usize = 256 << 10;
/// The flag that approves the changes.
const FLAG: &str = "--code";
/// The seconds that a language server has until it is ready.
const PATIENCE: u64 = 120;

const INSTRUCTIONS: &str = "code_* work on definitions of source files in Rust, Python, TypeScript and Go, named by \
selectors: path::Container.name, path:LINE, a path, kind.name (fn.main, class.Foo*). code_view with outline shows the \
signatures of a file, without it texts and hashes. code_replace replaces one definition and needs the hash that \
code_view showed. Ask code_refs before a signature changes, and run the project's tests after a rename: no types are \
inferred. What is replaced is archived first; the person undoes it with nebula undo. A refusal says what to do.";

/// The source files of a workspace as they are served.
pub struct CodeTools {
    context: Context,
    read_only: bool,
}

impl CodeTools {
    /// Serves the source files of a workspace; `read_only`: the tools that change nothing alone.
    pub fn new(context: Context, read_only: bool) -> CodeTools {
        CodeTools { context, read_only }
    }

    /// Returns the answer of a tool; `told` gets what it told beside.
    fn answer(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        stop: CancellationToken,
        told: &mut Vec<u8>,
    ) -> Result<Value, Failed> {
        let (workspace, folder) = (&self.context.workspace, self.context.workspace.root().to_path_buf());
        let finder = DefinitionFinder { workspace, folder, stop, secrets: SecretFiles::Withheld(None) };
        let servers = Servers { context: Some(&self.context), unasked: true, patience: PATIENCE };
        let place = Place { finder, json: true, flag: FLAG, servers };
        match name {
            "code_view" => view(&place, read(arguments)?),
            "code_refs" => {
                let ServedRefs { selector, min_certainty, limit, cursor } = read(arguments)?;
                let answer = refs::refs(&place, &RefsCode { selector, min_certainty })?;
                let key = |one: &Value| format!("{}:{}:{}", words(&one["path"]), one["line"], one["column"]);
                page_of(answer, "refs", key, limit, cursor.as_deref())
            }
            "code_history" => {
                let ServedHistory { selector, limit, cursor } = read(arguments)?;
                let answer =
                    self.commands(&mut io::empty(), told, |files| history::history(&place, files, &selector))?;
                page_of(answer, "ops", |one| words(&one["op-id"]).to_owned(), limit, cursor.as_deref())
            }
            "code_replace" => {
                let ServedReplace { selector, text, expect_hash, dry_run } = read(arguments)?;
                let args = ReplaceCode { selector, file: "-".into(), expect_hash, ask: asking(dry_run) };
                self.commands(&mut text.as_bytes(), told, |files| write::replace(&place, files, &args))
            }
            "code_rename" => {
                let ServedRename { selector, new_name, expect_hash, dry_run } = read(arguments)?;
                let (server, wait, ask) = (false, PATIENCE, asking(dry_run));
                let args = RenameCode { selector, new_name, expect_hash, server, wait, ask };
                self.commands(&mut io::empty(), told, |files| rename::rename(&place, files, &args))
            }
            _ => {
                let ServedRemove { selector, expect_hash, force, dry_run } = read(arguments)?;
                let args = RemoveCode { selector, expect_hash, force, ask: asking(dry_run) };
                self.commands(&mut io::empty(), told, |files| write::remove(&place, files, &args))
            }
        }
    }

    /// Runs a command on the archive.
    fn commands(
        &self,
        mut input: &mut dyn io::BufRead,
        told: &mut Vec<u8>,
        run: impl FnOnce(&mut ArchiveCommands<'_>) -> Result<Value, Failed>,
    ) -> Result<Value, Failed> {
        let (archive, memory) = (self.context.archive()?, self.context.memory());
        run(&mut ArchiveCommands {
            workspace: &self.context.workspace,
            archive: &archive,
            memory: &memory,
            folder: self.context.workspace.root().to_path_buf(),
            commands: self.context.config.paths.own("commands"),
            max_size: self.context.config.archive_max_size,
            format: None,
            session: None,
            can_ask: false,
            input: &mut input,
            out: Out::new(io::sink(), false),
            err: Out::new(told, false),
        })
    }
}

impl Toolbox for CodeTools {
    fn name(&self) -> &'static str {
        "code"
    }

    fn instructions(&self) -> String {
        INSTRUCTIONS.into()
    }

    fn tools(&self) -> Vec<ServedTool> {
        schema::all().into_iter().filter(|tool| !self.read_only || tool.read_only).collect()
    }

    fn call(&mut self, name: &str, arguments: Map<String, Value>, client: &Client) -> Option<ServedAnswer> {
        let tool = self.tools().into_iter().find(|tool| tool.name == name)?;
        // A search cut short is no ground for a change: one that was begun goes on to its end.
        let stop = if tool.read_only { client.stop.clone() } else { CancellationToken::new() };
        let mut told = Vec::new();
        Some(match self.answer(name, arguments, stop, &mut told) {
            Ok(answer) => ServedAnswer::Done(answer),
            Err(failed) => ServedAnswer::Refused(json!({"error": refusal(&failed, &told)})),
        })
    }

    fn templates(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn resources(&mut self, _: Option<&str>) -> Result<ResourcePage, String> {
        Ok(ResourcePage::default())
    }

    fn read(&mut self, _: &str) -> Option<Contents> {
        None
    }
}

/// Returns a refusal with what a model can do about it.
fn refusal(failed: &Failed, told: &[u8]) -> Value {
    let mut error = failed.value();
    let more = match words(&error["kind"]) {
        // The reason why nobody approved it.
        "consent" => String::from_utf8_lossy(told).trim().replace('\n', "; "),
        "referenced" => "details name the places; force removes it all the same".into(),
        "not-one" | "syntax" => "nothing was changed".into(),
        _ => return error,
    };
    error["message"] = format!("{}: {more}", words(&error["message"])).into();
    error
}

fn words(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Reads arguments.
fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Failed> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| Failed::new("usage", USAGE, error.to_string()))
}

fn asking(dry_run: bool) -> AskCode {
    AskCode { dry_run, yes: true }
}

/// Refuses a cursor whose entry is there no more.
fn gone(cursor: &str) -> Failed {
    let why = format!("{cursor} is there no more, so what follows it cannot be told: ask again without cursor");
    Failed::new("stale", REFUSED, why)
}

/// Returns an answer with one page of its list: what follows the entry that the cursor names.
fn page_of(
    mut answer: Value,
    list: &str,
    key: impl Fn(&Value) -> String,
    limit: Option<PageLimit>,
    cursor: Option<&str>,
) -> Result<Value, Failed> {
    let limit = PageLimit::or(limit, schema::LIMIT);
    let Some(entries) = answer[list].as_array_mut() else { return Ok(answer) };
    if let Some(cursor) = cursor {
        let last = entries.iter().rposition(|one| key(one) == cursor).ok_or_else(|| gone(cursor))?;
        entries.drain(..=last);
    }
    let next = (entries.len() > limit).then(|| {
        entries.truncate(limit);
        entries.last().map(&key)
    });
    if let Some(next) = next {
        answer["next_cursor"] = next.into();
    }
    Ok(answer)
}

fn view(place: &Place<'_>, args: ServedView) -> Result<Value, Failed> {
    let ServedView { selector, with_deps, outline, limit, cursor } = args;
    let limit = PageLimit::or(limit, schema::LIMIT);
    let (mut nodes, mut bytes, mut notes) = (Vec::new(), 0, FindNotes::default());
    let mut before = cursor.as_deref();
    let show = |source: &SourceFile, at: usize| {
        if let Some(cursor) = before {
            before = (source.id(at) != cursor).then_some(cursor);
            return Ok(());
        }
        if nodes.len() >= limit || bytes >= PAGE {
            return Err(VisitEnd::Full);
        }
        let text = if outline { source.signature(at) } else { source.text_of(at).to_owned() };
        bytes += text.len();
        let mut node = node_json(source, at);
        node["text"] = text.into();
        nodes.push(node);
        Ok(())
    };
    let visited = each_shown(&place.finder, &ViewCode { selector, outline, with_deps }, &mut notes, show);
    // Files without a definition follow the definitions.
    let of_file = before.and_then(|cursor| notes.without.iter().position(|path| path == cursor));
    match (before, of_file) {
        (_, Some(last)) => drop(notes.without.drain(..=last)),
        (Some(cursor), None) => return Err(gone(cursor)),
        (None, None) => {}
    }
    let is_full = match visited {
        Ok(()) => false,
        Err(VisitEnd::Full) => true,
        Err(VisitEnd::Fault(fault)) => return Err(fault.into()),
    };
    let (all, last) = (notes.without.len(), nodes.last().map(|node| node["id"].clone()));
    notes.without.truncate(limit.saturating_sub(nodes.len()));
    let left = all - notes.without.len();
    let mut answer = with_notes(json!({"nodes": nodes}), &notes);
    if left > 0 {
        answer["without_definitions_left"] = left.into();
    }
    if is_full || left > 0 {
        answer["next_cursor"] =
            notes.without.last().map_or_else(|| last.unwrap_or_default(), |path| path.clone().into());
    }
    Ok(answer)
}

/// Arguments of `code_view`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServedView {
    selector: String,
    #[serde(default)]
    with_deps: bool,
    #[serde(default)]
    outline: bool,
    limit: Option<PageLimit>,
    cursor: Option<String>,
}

/// Arguments of `code_refs`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServedRefs {
    selector: String,
    min_certainty: Option<String>,
    limit: Option<PageLimit>,
    cursor: Option<String>,
}

/// Arguments of `code_history`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServedHistory {
    selector: String,
    limit: Option<PageLimit>,
    cursor: Option<String>,
}

/// Arguments of `code_replace`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServedReplace {
    selector: String,
    text: String,
    expect_hash: String,
    #[serde(default)]
    dry_run: bool,
}

/// Arguments of `code_rename`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServedRename {
    selector: String,
    new_name: String,
    expect_hash: Option<String>,
    #[serde(default)]
    dry_run: bool,
}

/// Arguments of `code_remove`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServedRemove {
    selector: String,
    expect_hash: Option<String>,
    #[serde(default)]
    force: bool,
    #[serde(default)]
    dry_run: bool,
}
