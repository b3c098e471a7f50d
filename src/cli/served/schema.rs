//! The names, arguments and answers of the tools of the archive, as JSON Schema.

use serde_json::{Value, json};

use crate::mcp::ServedTool;
use crate::text::schema::{self, described, limit, list, nullable, object};

/// The tool that is offered with `--sessions` alone.
pub(super) const SEARCH: &str = "sessions_search";

fn text(words: &str) -> Value {
    described(schema::text(), words)
}

fn number(words: &str) -> Value {
    described(schema::number(0), words)
}

/// Returns a number that is counted from 1.
fn ordinal(words: &str) -> Value {
    described(schema::number(1), words)
}

fn flag(words: &str) -> Value {
    described(schema::flag(), words)
}

fn maybe(schema: Value, words: &str) -> Value {
    described(nullable(schema), words)
}

const VERSION: &str = "the version, by a unique beginning of its id";
const PATH: &str = "a file, relative to the workspace";

/// Returns all tools.
pub(super) fn all() -> Vec<ServedTool> {
    let mut tools = reading();
    tools.extend(changing());
    tools.push(searching());
    tools
}

fn reading() -> Vec<ServedTool> {
    vec![
        reads(
            "archive_list",
            "Lists changesets, newest first: what was archived together before something changed it.",
            object(
                json!({
                    "path": text("only those with this file"), "limit": limit(super::tools::CHANGESETS),
                    "before": text("only older ones than this changeset"),
                }),
                &[],
            ),
            object(json!({"changesets": list(changeset()), "more": more()}), &["changesets", "more"]),
        ),
        reads(
            "archive_versions",
            "Lists the archived versions of a file, newest first. Each is the file as it was before a change.",
            object(
                json!({
                    "path": text(PATH), "limit": limit(super::tools::VERSIONS),
                    "before": text("only older ones than this version"),
                }),
                &["path"],
            ),
            object(json!({"versions": list(version()), "more": more()}), &["versions", "more"]),
        ),
        reads(
            "archive_show",
            "Shows an archived version, whole or by lines. Bytes that are no text come in base64.",
            object(
                json!({
                    "version": text(VERSION), "startLine": ordinal("the first line, from 1"),
                    "endLine": ordinal("the last line"),
                }),
                &["version"],
            ),
            version_content(),
        ),
        reads(
            "archive_diff",
            "Compares a version with another, or with the file as it is now, as a unified diff that git apply takes.",
            object(json!({"from": text(VERSION), "to": text("another version; now if not given")}), &["from"]),
            diff(),
        ),
    ]
}

fn more() -> Value {
    flag("there are older ones: give the last id as before")
}

fn changeset() -> Value {
    let file = object(
        json!({
            "path": text(PATH),
            "version": maybe(schema::text(), "the state before; null: it is missing from the archive"),
            "absent": flag("there was no file before"),
            "added": maybe(schema::number(0), "lines that the change added; null: not counted"),
            "removed": maybe(schema::number(0), "lines that it removed"),
        }),
        &["path", "version", "absent", "added", "removed"],
    );
    object(
        json!({
            "id": text("its id"),
            "time": text("when, RFC 3339 in UTC"),
            "cause": maybe(schema::text(), "what made it; null: not known"),
            "files": list(file),
        }),
        &["id", "time", "cause", "files"],
    )
}

fn version() -> Value {
    object(
        json!({
            "id": text("its id"),
            "time": text("when it was archived, RFC 3339 in UTC"),
            "bytes": number("its size"),
            "absent": flag("there was no file"),
        }),
        &["id", "time", "bytes", "absent"],
    )
}

fn version_content() -> Value {
    object(
        json!({
            "path": text("the file"),
            "id": text("the version"),
            "kind": {"type": "string", "enum": ["file", "absent", "link", "folder"]},
            "text": text("the text; of a link its target"),
            "base64": text("the bytes, where they are no text"),
            "lines": number("how many lines the whole text has"),
        }),
        &["path", "id", "kind", "lines"],
    )
}

fn diff() -> Value {
    object(
        json!({
            "path": text("the file"),
            "diff": text("the diff; empty where nothing differs"),
            "base64": text("the diff, where it is no text"),
            "added": number("lines added"), "removed": number("lines removed"),
        }),
        &["path", "added", "removed"],
    )
}

fn changing() -> Vec<ServedTool> {
    vec![
        ServedTool {
            name: "archive_save",
            description: "Archives files as they are now. Call it before you edit or create them: then the person can \
                undo the edit with nebula undo. Changes no file.",
            input: object(
                json!({
                    "paths": list(text(PATH)),
                    "cause": text("what you are about to do, in a few words"),
                }),
                &["paths"],
            ),
            output: object(
                json!({
                    "changeset": maybe(schema::text(), "null: every file is excluded from the archive"),
                    "files": list(saved()),
                    "excluded": list(text("a file that is excluded from the archive, so not saved")),
                }),
                &["changeset", "files", "excluded"],
            ),
            read_only: false,
            destructive: false,
            idempotent: true,
        },
        ServedTool {
            name: "archive_restore",
            description: "Tells what restoring would do with each file: of one version, of a changeset (the states \
                before it), or of a path some versions back. With apply it restores: the person is asked first. The \
                replaced states are archived, so a restore can be undone.",
            input: object(
                json!({
                    "version": text(VERSION),
                    "changeset": text("the changeset, by a unique beginning of its id"),
                    "path": text("a file, with count"),
                    "count": ordinal("versions back; 1 is the newest"),
                    "apply": flag("restore; false if not given"),
                    "force": flag("restore files too that were changed outside nebula; the person is asked"),
                }),
                &[],
            ),
            output: object(
                json!({
                    "files": list(restored_file()),
                    "changeset": maybe(schema::text(), "the changeset that holds the replaced states; null: nothing was written"),
                    "not_undone": list(object(json!({"what": text("what"), "why": text("why")}), &["what", "why"])),
                    "complete": flag("no file stays as it is that another state was asked for; false: notes say which, and what to do"),
                    "notes": list(text("what else to know")),
                }),
                &["files", "changeset", "complete", "not_undone", "notes"],
            ),
            read_only: false,
            destructive: true,
            idempotent: false,
        },
    ]
}

fn saved() -> Value {
    object(
        json!({"path": text(PATH), "version": text("its version"), "absent": flag("there is no file")}),
        &["path", "version", "absent"],
    )
}

fn restored_file() -> Value {
    object(
        json!({
            "path": text(PATH),
            "fate": {
                "type": "string",
                "enum": [
                    "restore", "delete", "mode", "folder made", "folder removed", "repository", "equal", "foreign", "missing",
                    "refused"
                ],
                "description": "restore: it is restored; equal: it is so already; foreign: it was changed outside \
                    nebula; missing, refused: it cannot be",
            },
            "applied": flag("it was written"),
            "merged": {
                "type": "string",
                "enum": ["lines", "definitions", "mergiraf"],
                "description": "it is, or would be, joined with what someone else has changed, so",
            },
        }),
        &["path", "fate", "applied"],
    )
}

fn searching() -> ServedTool {
    let hit = object(
        json!({
            "session": text("the session"), "title": text("its title"),
            "at": text("when it was said, RFC 3339 in UTC"), "text": text("the words with some text around them"),
        }),
        &["session", "title", "at", "text"],
    );
    reads(
        SEARCH,
        "Searches what was said in this project's conversations with nebula, titles first, each newest first. All words must occur.",
        object(json!({"words": text("the words"), "limit": limit(super::tools::HITS)}), &["words"]),
        object(json!({"hits": list(hit)}), &["hits"]),
    )
}

fn reads(name: &'static str, description: &'static str, input: Value, output: Value) -> ServedTool {
    ServedTool { name, description, input, output, read_only: true, destructive: false, idempotent: true }
}
