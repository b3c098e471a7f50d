//! The names, arguments and answers of the tools, as JSON Schema.

use serde_json::{Value, json};

use crate::text::schema::{described, flag, limit, list, nullable, object, text};

/// One tool as a client sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub description: &'static str,
    /// The schema of its arguments.
    pub input: Value,
    /// The schema of its answer.
    pub output: Value,
    /// True if it changes nothing.
    pub read_only: bool,
    /// True if it may take something away.
    pub destructive: bool,
}

/// Returns the schema of anything that has a shape of its own, such as an op.
fn any_object() -> Value {
    json!({"type": "object"})
}

fn layer() -> Value {
    json!({"type": "string", "enum": ["type", "slot", "effect", "reducer", "tile", "fn"]})
}

fn qname() -> Value {
    json!({
        "type": "string",
        "pattern": "^(type|slot|effect|reducer|tile|fn)\\.[A-Za-z_].*$",
        "description": "layer.Name, such as slot.todos",
    })
}

fn expected() -> Value {
    described(text(), "the hash that the definition must still have; else the edit is refused as stale")
}

/// Adds where a page begins and how long it is.
fn paged(mut properties: Value) -> Value {
    properties["limit"] = limit(200);
    properties["cursor"] = described(text(), "next_cursor of the page before");
    properties
}

/// Returns an answer with a list that may go on.
fn pages(name: &str, items: Value, more: Value) -> Value {
    let mut properties = json!({name: list(items), "next_cursor": text()});
    let mut required = vec![name];
    for (key, schema) in more.as_object().into_iter().flatten() {
        properties[key] = schema.clone();
        required.push(key);
    }
    object(properties, &required)
}

/// Returns what a check says about one place.
fn diagnostic() -> Value {
    let properties = json!({
        "code": text(), "kind": text(), "location": text(), "message": text(),
        "suggestion": nullable(any_object()),
        "auto-patch": nullable(described(any_object(), "a draft op for strand_patch_apply that fixes it")),
        "severity": {"type": "string", "enum": ["error", "warning"]}, "id": text(),
    });
    object(properties, &["code", "kind", "location", "message", "suggestion", "auto-patch", "severity", "id"])
}

/// Returns what an edit answers.
fn written() -> Value {
    let properties = json!({
        "op-id": nullable(text()), "qname": nullable(text()), "hash": nullable(text()),
        "diagnostics": described(list(diagnostic()), "faults that this edit brought, here and in what depends on it"),
    });
    object(properties, &["op-id", "qname", "hash", "diagnostics"])
}

/// Returns what became of offered ops.
fn accepted() -> Value {
    let properties = json!({
        "accepted": list(text()), "duplicate": list(text()), "pending": list(any_object()),
        "rejected": list(any_object()), "absorbed": list(any_object()), "healed": list(text()),
        "warnings": list(text()), "state-hash": text(),
    });
    let required = ["accepted", "duplicate", "pending", "rejected", "absorbed", "healed", "warnings", "state-hash"];
    object(properties, &required)
}

fn recorded() -> Value {
    let properties = json!({"episode": text(), "status": text(), "graph": any_value(), "steps": list(any_object())});
    object(properties, &["episode", "status", "graph", "steps"])
}

fn any_value() -> Value {
    // One type a branch: not every client reads a list of types.
    let kinds = ["object", "array", "string", "number", "boolean", "null"];
    json!({"anyOf": kinds.map(|kind| json!({"type": kind}))})
}

/// Returns a tool that changes nothing.
fn reads(name: &'static str, description: &'static str, input: Value, output: Value) -> Tool {
    Tool { name, description, input, output, read_only: true, destructive: false }
}

/// Returns a tool that issues ops.
fn writes(name: &'static str, description: &'static str, input: Value, output: Value) -> Tool {
    Tool { name, description, input, output, read_only: false, destructive: false }
}

/// Returns every tool.
pub fn all() -> Vec<Tool> {
    [reading(), asking(), editing(), fixing(), exchanging()].concat()
}

fn reading() -> Vec<Tool> {
    let definition = object(
        json!({"qname": text(), "def": text(), "hash": text(), "text": text(), "units": list(any_object())}),
        &["qname", "def", "hash", "text"],
    );
    let selector = "layer.Name with * and ?, a def-id, or several with commas";
    vec![
        reads(
            "strand_view",
            "Shows definitions as text with their hashes. with_deps: what they need comes first. units: with the \
             numbers that strand_edit addresses. at: as of an op of this store.",
            object(
                paged(json!({
                    "selector": described(text(), selector), "with_deps": flag(), "units": flag(), "at": text(),
                })),
                &["selector"],
            ),
            pages("definitions", definition, json!({})),
        ),
        reads(
            "strand_list",
            "Lists the names of the definitions, of one layer or of all.",
            object(paged(json!({"layer": layer()})), &[]),
            pages("names", text(), json!({})),
        ),
        reads(
            "strand_check",
            "Tells what is wrong: with everything, with one kind of rule (types, refs, effects, a11y), or with what a \
             selector names. clean: there is no error; warnings may be left.",
            object(paged(json!({"scope": text()})), &[]),
            pages("errors", diagnostic(), json!({"clean": flag()})),
        ),
    ]
}

fn asking() -> Vec<Tool> {
    vec![
        reads(
            "strand_refs",
            "Tells who refers to a definition, unit by unit. Ask before a signature changes.",
            object(json!({"qname": qname()}), &["qname"]),
            object(
                json!({"refs": list(object(
                    json!({
                        "from": text(), "unit": text(), "text": text(),
                        "kind": {"type": "string", "enum": ["ref", "link"]},
                    }),
                    &["from", "unit", "kind", "text"],
                ))}),
                &["refs"],
            ),
        ),
        reads(
            "strand_history",
            "Tells every op on a definition, oldest first.",
            object(paged(json!({"qname": qname()})), &["qname"]),
            pages("ops", any_object(), json!({})),
        ),
        reads(
            "strand_episode",
            "Tells a recorded run step by step; 'latest' is the last one.",
            object(json!({"episode_id": text()}), &["episode_id"]),
            recorded(),
        ),
    ]
}

fn editing() -> Vec<Tool> {
    let body = "the body alone, without 'layer name ='";
    let name = described(text(), "the new name, with or without the layer");
    vec![
        writes(
            "strand_add",
            "Adds a definition. Names in it that are not there yet are told as diagnostics, not refused.",
            object(
                json!({"layer": layer(), "name": text(), "body": described(text(), body)}),
                &["layer", "name", "body"],
            ),
            written(),
        ),
        writes(
            "strand_replace",
            "Replaces the body of a definition.",
            object(
                json!({"qname": qname(), "body": described(text(), body), "expect_hash": expected()}),
                &["qname", "body"],
            ),
            written(),
        ),
        writes(
            "strand_edit",
            "Edits parts of a definition: {address: instruction or [instructions]}. Addresses are body:N (a unit as \
             strand_view with units numbers it), body:N.part, or a header such as on, in, params, type, init. \
             Instructions are replace 'a' -> 'b', set TEXT, insert TEXT, insert-child TEXT, delete, add NAME=EXPR, \
             unset NAME.",
            object(
                json!({
                    "qname": qname(), "patch": {"type": "object", "minProperties": 1}, "expect_hash": expected(),
                }),
                &["qname", "patch"],
            ),
            written(),
        ),
        writes(
            "strand_rename",
            "Renames a definition. No reference breaks and no hash changes.",
            object(json!({"qname": qname(), "new_name": name, "expect_hash": expected()}), &["qname", "new_name"]),
            written(),
        ),
    ]
}

fn fixing() -> Vec<Tool> {
    vec![
        Tool {
            destructive: true,
            ..writes(
                "strand_remove",
                "Removes a definition. Refused while others refer to it, unless cascade (they go too) or force (they \
                 are left dangling).",
                object(
                    json!({"qname": qname(), "cascade": flag(), "force": flag(), "expect_hash": expected()}),
                    &["qname"],
                ),
                object(
                    json!({"op-id": nullable(text()), "op-ids": list(text()), "removed": list(text())}),
                    &["op-id", "op-ids", "removed"],
                ),
            )
        },
        writes(
            "strand_fix",
            "Tells the ops that fix a fault, by its code or its id; with apply they are issued.",
            object(
                json!({"error_code": described(text(), "a code such as E0103, or the id of one fault"), "apply": flag()}),
                &["error_code"],
            ),
            object(
                json!({"patches": list(any_object()), "applied": list(text()), "left": {"type": "integer"}}),
                &["patches", "applied", "left"],
            ),
        ),
    ]
}

fn exchanging() -> Vec<Tool> {
    vec![
        writes(
            "strand_patch_apply",
            "Applies draft ops (such as the auto-patch of a diagnostic) or sealed ops, all of one kind.",
            object(json!({"ops": list(any_object())}), &["ops"]),
            accepted(),
        ),
        writes(
            "strand_conflicts",
            "Tells what merging left to decide; with reissue the ops of one are issued again on the present state.",
            object(json!({"id": text(), "reissue": flag()}), &[]),
            object(json!({"conflicts": list(any_object()), "op-ids": list(text())}), &["conflicts"]),
        ),
        writes(
            "strand_run",
            "Runs Tile.event, reducer.name or slot.name=json and records it as an episode. effects answers emitted \
             effects by name: {\"signup\": [{\"err\": \"offline\"}, {\"ok\": true}]}.",
            object(json!({"event": text(), "payload": any_value(), "effects": any_object()}), &["event"]),
            recorded(),
        ),
        writes(
            "strand_sync",
            "Brings the store and its text files in line, both ways; with dry_run only the plan is told.",
            object(json!({"dry_run": flag()}), &[]),
            object(
                json!({
                    "plan": list(text()), "created": {"type": "integer"}, "updated": {"type": "integer"},
                    "deleted": {"type": "integer"}, "ops": {"type": "integer"}, "conflicts": {"type": "integer"},
                    "errors": {"type": "integer"},
                }),
                &["plan", "created", "updated", "deleted", "ops", "conflicts", "errors"],
            ),
        ),
    ]
}
