//! The names, arguments and answers of the tools `code_*`, as JSON Schema.

use serde_json::{Value, json};

use crate::code::Certainty;
use crate::mcp::ServedTool;
use crate::text::schema::{self, described, limit, list, nullable, object};

/// Entries of a page unless another number is asked for.
pub(super) const LIMIT: usize = 200;
const SELECTOR: &str = "path::Container.name, path:LINE, a path, kind.name (fn.main, class.Foo*); several with commas";
const ONE: &str = "a selector that means one definition, such as the id that code_view shows";
const HASH: &str = "the hash that code_view showed; 12 digits will do";

fn text(words: &str) -> Value {
    described(schema::text(), words)
}

fn number(words: &str) -> Value {
    described(schema::number(1), words)
}

fn flag(words: &str) -> Value {
    described(schema::flag(), words)
}

/// Returns all tools.
pub(super) fn all() -> Vec<ServedTool> {
    vec![view(), refs(), history(), replace(), rename(), remove()]
}

fn cursor() -> Value {
    text("next_cursor of the page before")
}

/// Returns an object whose properties are also what it may lack.
fn with_notes(mut properties: Value, required: &[&str]) -> Value {
    properties["errors"] = described(
        list(object(json!({"path": text("the file"), "line": number("the line")}), &["path", "line"])),
        "syntax errors: definitions and mentions near them may be missing",
    );
    properties["skipped"] = skipped();
    object(properties, &[required, &["errors", "skipped"]].concat())
}

fn skipped() -> Value {
    described(
        list(object(json!({"path": text("the file or folder"), "why": text("why")}), &["path", "why"])),
        "what is not read",
    )
}

fn diagnostics() -> Value {
    let one = object(
        json!({"path": text("the file"), "line": number("the line"), "message": text("what is wrong")}),
        &["path", "line", "message"],
    );
    described(list(one), "syntax errors that were there before")
}

/// Returns the properties of the answer of every change.
fn change(mut properties: Value, required: &[&str]) -> Value {
    properties["op-id"] =
        described(nullable(schema::text()), "the changeset that holds the replaced states; null: nothing was written");
    properties["id"] = text("the definition");
    properties["diff"] = text("the change as a unified diff");
    properties["diagnostics"] = diagnostics();
    object(properties, &[required, &["op-id", "id", "diff", "diagnostics"]].concat())
}

fn dry_run() -> Value {
    flag("answer with what would change, and change nothing")
}

fn view() -> ServedTool {
    let lines = json!({
        "type": "array", "items": schema::number(1), "minItems": 2, "maxItems": 2,
        "description": "the first and the last line",
    });
    let node = object(
        json!({
            "id": text("its id, a selector"), "path": text("its file"), "kind": text("fn, method, class, …"),
            "lines": lines, "hash": text("BLAKE3 of its bytes"), "text": text("its text, or its signature"),
        }),
        &["id", "path", "kind", "lines", "hash", "text"],
    );
    reads(
        "code_view",
        "Shows definitions of source files in Rust, Python, TypeScript and Go, each with its hash. With outline the \
         text is the signature alone.",
        object(
            json!({
                "selector": text(SELECTOR), "with_deps": flag("first what each mentions, where that can be told"),
                "outline": flag("signatures alone"), "limit": limit(LIMIT), "cursor": cursor(),
            }),
            &["selector"],
        ),
        with_notes(
            json!({
                "nodes": list(node), "next_cursor": cursor(),
                "without_definitions": described(list(schema::text()), "files that are there and have no definition"),
                "without_definitions_left": number("how many of them are left to the next page"),
            }),
            &["nodes"],
        ),
    )
}

fn refs() -> ServedTool {
    let words: Vec<&str> = Certainty::ALL.iter().map(|certainty| certainty.word()).collect();
    let certainty = json!({
        "type": "string", "enum": words,
        "description": "local: scopes lead there; import: an import does; scoped: the only one of the name in the \
            package; name: the same name, no more",
    });
    let one = object(
        json!({
            "path": text("the file"), "line": number("the line"), "column": number("the character in the line"),
            "in": described(nullable(schema::text()), "the definition around it"), "certainty": certainty,
            "text": text("the line"),
        }),
        &["path", "line", "column", "in", "certainty", "text"],
    );
    let counts = words.iter().map(|word| ((*word).to_owned(), schema::number(0))).collect::<serde_json::Map<_, _>>();
    reads(
        "code_refs",
        "Lists where a definition is mentioned, each place with its certainty. No types are inferred, no macro is \
         expanded, no build configuration, dynamic dispatch, string, template or other language is looked at; imports \
         of imports are followed 8 times. Mentions may be missing, and those of certainty name may be another's.",
        object(
            json!({
                "selector": text(ONE), "min_certainty": certainty_at_least(&words), "limit": limit(LIMIT),
                "cursor": cursor(),
            }),
            &["selector"],
        ),
        with_notes(
            json!({"refs": list(one), "counts": object(counts.into(), &words), "next_cursor": cursor()}),
            &["refs", "counts"],
        ),
    )
}

fn certainty_at_least(words: &[&str]) -> Value {
    json!({"type": "string", "enum": words, "description": "only mentions as certain as this"})
}

fn history() -> ServedTool {
    let op = object(
        json!({
            "op-id": text("the changeset"), "time": text("when, RFC 3339 in UTC"),
            "change": text("added, changed, removed, 'renamed from NAME' or 'renamed from NAME, changed'"), "cause": text("what made it"),
            "approved": described(nullable(schema::text()), "who approved it; null: not known"),
            "unsure": flag("a change outside nebula may be taken for this one"),
        }),
        &["op-id", "time", "change", "cause", "approved", "unsure"],
    );
    reads(
        "code_history",
        "Lists the archived changes of one definition, newest first, followed through its names.",
        object(json!({"selector": text(ONE), "limit": limit(LIMIT), "cursor": cursor()}), &["selector"]),
        object(json!({"id": text("the definition"), "ops": list(op), "next_cursor": cursor()}), &["id", "ops"]),
    )
}

fn replace() -> ServedTool {
    writes(
        "code_replace",
        "Replaces one definition by a text that is one definition of the same kind; nothing outside it changes by a \
         byte. It is indented as the place is. The replaced text is archived. Refused if the definition has changed \
         since it was viewed, or the file would not parse.",
        object(
            json!({
                "selector": text(ONE), "text": text("the whole new definition"), "expect_hash": text(HASH),
                "dry_run": dry_run(),
            }),
            &["selector", "text", "expect_hash"],
        ),
        change(json!({"path": text("the file"), "hash": text("its hash now")}), &["path", "hash"]),
        false,
    )
}

fn rename() -> ServedTool {
    let changed =
        list(object(json!({"path": text("the file"), "count": number("how many places")}), &["path", "count"]));
    writes(
        "code_rename",
        "Renames one definition and all its mentions, or nothing: refused if one mention cannot be told without types, \
         with the places. Strings and comments stay: run the project's build and tests afterwards.",
        object(
            json!({
                "selector": text(ONE), "new_name": text("the new name"), "expect_hash": text(HASH),
                "dry_run": dry_run(),
            }),
            &["selector", "new_name"],
        ),
        change(
            json!({
                "changed": changed,
                "server": text("the language server that told the mentions, where the person has configured one"),
                "left": described(list(text("path:line")), "places of the name that are left as they are"),
            }),
            &["changed"],
        ),
        false,
    )
}

fn remove() -> ServedTool {
    writes(
        "code_remove",
        "Removes one definition; refused while others refer to it, with the places. Mentions of certainty name do not \
         hold it. The removed text is archived.",
        object(
            json!({
                "selector": text(ONE), "expect_hash": text(HASH), "force": flag("though others refer to it"),
                "dry_run": dry_run(),
            }),
            &["selector"],
        ),
        change(json!({"path": text("the file"), "skipped": skipped()}), &["path"]),
        true,
    )
}

fn reads(name: &'static str, description: &'static str, input: Value, output: Value) -> ServedTool {
    ServedTool { name, description, input, output, read_only: true, destructive: false, idempotent: true }
}

fn writes(name: &'static str, description: &'static str, input: Value, output: Value, destructive: bool) -> ServedTool {
    ServedTool { name, description, input, output, read_only: false, destructive, idempotent: false }
}
