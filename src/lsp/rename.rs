//! A rename as a server would do it.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::choose::LanguageServer;
use super::edits::{self, Encoding, FileEdits};
use super::fault::LspFault;
use super::process::{Running, ServerStart};
use super::session::{Session, VERSION};
use super::uri;

/// Times that a server is asked for the rename.
const ASKS: usize = 5;

/// A text as it was read.
pub struct OpenText<'a> {
    /// Its path below the workspace's root.
    pub path: &'a str,
    /// The text.
    pub text: &'a str,
}

/// The question for a rename.
pub struct RenameQuestion<'a> {
    /// The workspace's root.
    pub root: &'a Path,
    /// The files that the server is shown as they were read; the first holds the definition.
    pub open: &'a [OpenText<'a>],
    /// The first byte of the definition's name in its file.
    pub at: usize,
    /// The new name.
    pub new_name: &'a str,
    /// The time until the server is ready, and again until it has told the rename.
    pub patience: Duration,
}

/// Starts a server, asks it for a rename, and ends it. Nothing is written.
///
/// # Errors
/// When it gives no edit that could be applied to files.
pub fn rename(
    server: &LanguageServer,
    start: &ServerStart<'_>,
    question: &RenameQuestion<'_>,
) -> Result<Vec<FileEdits>, LspFault> {
    let folder = server.root_of(question.root, question.open.first().map_or("", |file| file.path));
    let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let folders = json!([{"uri": uri::of_path(&folder), "name": name}]);
    let mut session = Session::new(Running::start(server, &folder, start)?, folders.clone());
    let until = Instant::now() + question.patience;
    let edit = edits_of(&mut session, server, (&folder, folders), question, until);
    // One that says nothing more is not asked to end.
    if !matches!(edit, Err(LspFault::Late(..) | LspFault::Ended(_) | LspFault::Garbage(_))) {
        session.end();
    }
    edit
}

fn edits_of(
    session: &mut Session,
    server: &LanguageServer,
    (folder, folders): (&Path, Value),
    question: &RenameQuestion<'_>,
    until: Instant,
) -> Result<Vec<FileEdits>, LspFault> {
    let params = initialize(server, folder, folders);
    let offers = session.ask("initialize", params, ("start up", question.patience))?.unwrap_or_default();
    let offers = &offers["capabilities"];
    if matches!(offers["renameProvider"], Value::Null | Value::Bool(false)) {
        return Err(LspFault::Unable);
    }
    let encoding = match offers["positionEncoding"].as_str() {
        Some("utf-8") => Encoding::Utf8,
        None | Some("utf-16") => Encoding::Utf16,
        Some(other) => return Err(LspFault::Garbage(format!("columns in {other:?} were not offered"))),
    };
    session.notify("initialized", json!({}));
    for file in question.open {
        let document = json!({
            "uri": uri::of_path(&question.root.join(file.path)), "languageId": language(file.path),
            "version": VERSION, "text": file.text,
        });
        session.notify("textDocument/didOpen", json!({"textDocument": document}));
    }
    let Some(file) = question.open.first() else { return Err(LspFault::Nothing) };
    let before = &file.text[..question.at];
    let (line, start) = (before.matches('\n').count(), before.rfind('\n').map_or(0, |end| end + 1));
    let params = json!({
        "textDocument": {"uri": uri::of_path(&question.root.join(file.path))},
        "position": {"line": line, "character": encoding.column(&file.text[start..], question.at - start)},
        "newName": question.new_name,
    });
    match answer(session, server, params, question.patience, until)? {
        Value::Null => Err(LspFault::Nothing),
        edit => edits::read(edit, encoding),
    }
}

/// Returns the answer to a rename from a server that has loaded its project.
fn answer(
    session: &mut Session,
    server: &LanguageServer,
    params: Value,
    patience: Duration,
    mut until: Instant,
) -> Result<Value, LspFault> {
    const WHAT: &str = "answer the rename";
    let mut last = None;
    for _ in 0..ASKS {
        session.ready(server.tells_rest, until, patience)?;
        let begun = session.begun();
        // None: its view of the files changed meanwhile.
        let Some(edit) = session.ask("textDocument/rename", params.clone(), (WHAT, patience))? else { continue };
        // One that began to work before it answered may have been loading; some tell of each question as work.
        if session.begun() == begun || last.as_ref() == Some(&edit) {
            return Ok(edit);
        }
        (last, until) = (Some(edit), Instant::now() + patience);
    }
    last.ok_or(LspFault::Late(WHAT, patience.as_secs()))
}

/// Returns what a server is told at first. It may ask nothing of us but what is answered.
fn initialize(server: &LanguageServer, folder: &Path, folders: Value) -> Value {
    json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "nebula", "version": env!("CARGO_PKG_VERSION")},
        "rootPath": folder.to_string_lossy(),
        "rootUri": uri::of_path(folder),
        "workspaceFolders": folders,
        "initializationOptions": server.options(),
        "capabilities": {
            "general": {"positionEncodings": ["utf-8", "utf-16"]},
            "window": {"workDoneProgress": true},
            "workspace": {
                "workspaceEdit": {"documentChanges": true},
                "configuration": true,
                "workspaceFolders": true,
            },
            "textDocument": {"synchronization": {}, "rename": {}},
            "experimental": {"serverStatusNotification": true},
        },
    })
}

/// Returns the name of a file's language, told from the ending of its name.
fn language(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "rs" => "rust",
        "py" | "pyi" => "python",
        "tsx" => "typescriptreact",
        "go" => "go",
        _ => "typescript",
    }
}
