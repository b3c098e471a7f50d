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

/// Returns the schema of a body, by which a model that never saw one can write it.
fn body() -> Value {
    let words = "the body alone, without 'layer Name ='. type: '{ id: Int, title: Text }', '| A | B(n: Int)', 'nominal \
        Int'. slot: 'Map(Int, Text) = {}'. fn: '(n: Int) -> Int = n + 1'. reducer: 'on=Form.submit in=(t: Text) do= items \
        := append(items, t); draft := \"\"'. tile: 'row { text(value=draft); input(bind=draft, label=\"New\", \
        event=submit) }'. effect: '(id: Int) -> Text needs=[net] do=http.get(\"/items\")'. A new line may stand for ;";
    described(text(), words)
}

/// Returns the schema of an edit's patch: its addresses and instructions.
fn patch() -> Value {
    json!({
        "type": "object", "minProperties": 1,
        "description": "{address: instruction or [instructions]}, such as {\"body:2\": \"replace 'usres' -> 'users'\"}. \
            Addresses: body:N, the unit that strand_view with units numbers N (before the patch, for every entry); \
            body:N.NAME, one argument of an element or one part of a statement; or a header by its name: on, in, params, \
            returns, err, needs, do, type, init, where, base, expr, doc. Instructions: replace 'a' -> 'b' (a stands there \
            once), replace-all 'a' -> 'b', set TEXT, insert TEXT (a new unit after N; body:0 is before the first), \
            insert-child TEXT (the last below an element), delete, add NAME=EXPR, unset NAME. What holds quotes is \
            easier as an object: {\"replace\": [\"a\", \"b\"]}, {\"set\": \"TEXT\"}",
    })
}

fn draft() -> Value {
    described(
        any_object(),
        "a draft, such as {\"op\": \"add\", \"layer\": \"slot\", \"name\": \"n\", \"body\": \"Int = 0\"}; replace has \
         body too, edit patch, rename name-new, remove nothing more, link and unlink to (layer.Name); or an op as \
         strand_history tells it",
    )
}

fn said(words: &str) -> Value {
    described(text(), words)
}

fn choice(words: &str) -> Value {
    described(flag(), words)
}

fn expected() -> Value {
    described(
        text(),
        "the hash that strand_view showed: if the definition has another one by now, the edit is refused as stale",
    )
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
        "diagnostics": brought(),
    });
    object(properties, &["op-id", "qname", "hash", "diagnostics"])
}

/// Returns the faults that a write brought.
fn brought() -> Value {
    described(list(diagnostic()), "faults that this edit brought, here and in what depends on it")
}

/// Returns what became of offered ops.
fn accepted() -> Value {
    let properties = json!({
        "accepted": list(text()), "duplicate": list(text()), "pending": list(any_object()),
        "rejected": list(any_object()), "absorbed": list(any_object()), "healed": list(text()),
        "warnings": list(text()), "state-hash": text(), "diagnostics": brought(),
    });
    let told = ["accepted", "duplicate", "pending", "rejected", "absorbed", "healed", "warnings", "state-hash"];
    object(properties, &[&told[..], &["diagnostics"]].concat())
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
    let selector =
        "layer.Name, such as slot.todos; with * and ?, such as slot.* or *; a def-id; or several with commas";
    vec![
        reads(
            "strand_view",
            "Shows definitions as text with their hashes.",
            object(
                paged(json!({
                    "selector": said(selector), "with_deps": choice("what they need comes first"),
                    "units": choice("with the numbers of their units, which strand_edit addresses"),
                    "at": said("an op-id: as the definitions were after that op"),
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
            "Tells what is wrong in the whole store, or in a part of it.",
            object(
                paged(json!({
                    "scope": said("one kind of rule (types, refs, effects, a11y), or a selector such as tile.*; all if left out"),
                })),
                &[],
            ),
            pages("errors", diagnostic(), json!({"clean": choice("there is no error; warnings may be left")})),
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
            object(json!({"episode_id": said("ep_…, or latest")}), &["episode_id"]),
            recorded(),
        ),
    ]
}

fn editing() -> Vec<Tool> {
    let name = described(text(), "the new name, with or without the layer");
    vec![
        writes(
            "strand_add",
            "Adds a definition. Names in it that are not there yet are told as diagnostics, not refused.",
            object(
                json!({"layer": layer(), "name": said("types and tiles begin with a capital, all others do not"), "body": body()}),
                &["layer", "name", "body"],
            ),
            written(),
        ),
        writes(
            "strand_replace",
            "Replaces the body of a definition.",
            object(json!({"qname": qname(), "body": body(), "expect_hash": expected()}), &["qname", "body"]),
            written(),
        ),
        writes(
            "strand_edit",
            "Edits parts of a definition and leaves the rest to others who edit it at the same time. Call strand_view \
             with units first: a patch addresses the units by those numbers.",
            object(json!({"qname": qname(), "patch": patch(), "expect_hash": expected()}), &["qname", "patch"]),
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
                "Removes a definition. Refused while others refer to it, unless cascade or force, of which one is given \
                 at most.",
                object(
                    json!({
                        "qname": qname(), "cascade": choice("remove all that refer to it too"),
                        "force": choice("leave what refers to it dangling"), "expect_hash": expected(),
                    }),
                    &["qname"],
                ),
                object(
                    json!({
                        "op-id": nullable(text()), "op-ids": list(text()), "removed": list(text()),
                        "diagnostics": brought(),
                    }),
                    &["op-id", "op-ids", "removed", "diagnostics"],
                ),
            )
        },
        writes(
            "strand_fix",
            "Tells the ops that fix a fault, by its code or its id; with apply they are issued.",
            object(
                json!({"error_code": described(text(), "a code such as E0103, or the id of one fault"), "apply": choice("issue them; false if not given")}),
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
            "Applies several ops, drafts (such as the auto-patch of a diagnostic) all or none; sealed ops as the policy of \
             the store says. All are of one kind.",
            object(json!({"ops": list(draft())}), &["ops"]),
            accepted(),
        ),
        writes(
            "strand_conflicts",
            "Tells what merging left to decide; with reissue the ops of one are issued again on the present state.",
            object(
                json!({"id": said("one of them; all if left out"), "reissue": choice("issue the ops of that one again")}),
                &[],
            ),
            object(
                json!({"conflicts": list(any_object()), "op-ids": list(text()), "diagnostics": brought()}),
                &["conflicts"],
            ),
        ),
        writes(
            "strand_run",
            "Runs reducers on the values of the slots and records it as an episode. Nothing outside is reached: effects \
             are answered by what is given.",
            object(
                json!({
                    "event": said("Tile.event, reducer.name, or slot.name=JSON to set a slot"),
                    "payload": described(any_value(), "what the event sends"),
                    "effects": described(any_object(), "the answers of emitted effects by name, in order: {\"signup\": \
                        [{\"err\": \"offline\"}, {\"ok\": true}]}"),
                }),
                &["event"],
            ),
            recorded(),
        ),
        writes(
            "strand_sync",
            "Brings the store and its text files in line, both ways: edited files become ops, ops become files.",
            object(json!({"dry_run": choice("tell the plan alone")}), &[]),
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
