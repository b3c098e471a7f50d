//! Findings: the results of merging that a person should look at. Derived from the ops, never stored.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Value, json};

use super::graph::Node;
use super::id::{DefId, OpId};
use super::issue::patch_of;
use super::lang::ast::To;
use super::op::{Change, Kind, Op};
use super::state::{State, View, Visibility};

/// One finding about a merge.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// `W0901` to `W0906`.
    pub code: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// The definition's qualified name, or the op's id.
    pub location: String,
    /// One sentence.
    pub message: String,
    /// Text that does not show, where there is some.
    pub lost: Option<String>,
    /// A draft op that issues it again.
    pub draft: Value,
    /// The op or definition it comes from: with the identity it tells one finding of a place from the next.
    pub cause: String,
}

impl Finding {
    /// Returns the finding in the shape of a diagnostic.
    pub fn to_json(&self) -> Value {
        json!({
            "code": self.code, "kind": self.kind, "location": self.location, "message": self.message,
            "suggestion": self.lost.as_ref().map(|lost| json!({"kind": "lost", "text": lost})),
            "auto-patch": self.draft, "severity": "warning", "id": self.id(),
        })
    }

    /// Returns its identity: code and place.
    pub fn id(&self) -> String {
        format!("{}@{}", self.code, self.location)
    }
}

/// Returns every finding of a state, by definition. With `all`, those too that say little by themselves.
pub fn findings(state: &State, all: bool) -> Vec<Finding> {
    let mut views: Vec<&View> = if all {
        state.views().filter(|view| view.live()).collect()
    } else {
        state.merged_ids().into_iter().filter_map(|id| state.view(id)).collect()
    };
    views.sort_by_key(|view| (view.layer, view.label.clone(), view.id));
    let mut out: Vec<Finding> = views.iter().flat_map(|view| of_view(state, view, all)).collect();
    let graph = state.graph();
    out.extend(graph.void_ids().into_iter().filter_map(|id| graph.node(id)).map(|node| Finding {
        code: "W0906",
        kind: "void-op",
        location: node.op.id.to_string(),
        message: format!("This op has no effect: {}", node.void.as_deref().unwrap_or_default()),
        lost: node.op.body.as_deref().map(str::to_owned),
        draft: Value::Null,
        cause: node.op.id.to_string(),
    }));
    out
}

fn of_view(state: &State, view: &View, all: bool) -> Vec<Finding> {
    let mut out = Vec::new();
    let finding = |code, kind, message, (lost, draft), cause| Finding {
        code,
        kind,
        location: view.qname().to_string(),
        message,
        lost,
        draft,
        cause,
    };
    if let Visibility::Absorbed(by) = view.status
        && let Some(winner) = state.view(by)
        && winner.hash != view.hash
        && !acknowledged(state, by, winner.claim, view.claim)
    {
        let message = format!("Added twice at once; {by} holds the name, the body of {} does not show", view.id);
        let draft = replacement(view, &view.body_text(), Some(&*view.doc).filter(|doc| !doc.is_empty()));
        out.push(finding("W0901", "add-add", message, (Some(view.body_text()), draft), view.hash.hex()));
    }
    if view.visible() && view.label != view.name {
        let message = format!("Another definition holds the name '{}'; rename this one", view.name);
        out.push(finding("W0905", "label-clash", message, (None, Value::Null), view.name.clone()));
    }
    for name in &view.hidden {
        let message =
            format!("'{name}' means the slot here, but written anew it would mean the binder of that name; rename one");
        out.push(finding("W0905", "label-clash", message, (None, Value::Null), name.to_string()));
    }
    out.extend(superseded(state, view).into_iter().map(|node| of_superseded(view, &node.op)));
    for (register, value, writer) in on_deleted(state, view) {
        let message = format!("'{register}' was written while its unit was deleted");
        out.push(finding("W0903", "edit-on-deleted", message, (Some(value), Value::Null), writer.to_string()));
    }
    for name in if all { stale(state, view) } else { Vec::new() } {
        let message =
            format!("This was written against '{name}' as it was before it changed; see whether it still fits");
        out.push(finding("W0904", "stale-dep", message, (None, Value::Null), name));
    }
    out
}

/// Returns a draft op that gives the definition under a view's name another text.
fn replacement(view: &View, body: &str, doc: Option<&str>) -> Value {
    let mut draft = json!({"op": "replace", "layer": view.layer.word(), "name": view.label, "body": body});
    if let Some(doc) = doc {
        draft["doc"] = doc.into();
    }
    draft
}

/// Returns the finding of an edit or a body that lost to a view's body.
fn of_superseded(view: &View, op: &Op) -> Finding {
    let patch = patch_of(op);
    let lost = op.body.as_deref().map(str::to_owned).or_else(|| patch.as_ref().map(Value::to_string));
    let draft = match (&op.body, patch) {
        (Some(body), _) => replacement(view, body, op.doc()),
        (None, Some(patch)) => {
            json!({"op": "edit", "layer": view.layer.word(), "name": view.label, "patch": patch})
        }
        (None, None) => Value::Null,
    };
    Finding {
        code: "W0902",
        kind: "edit-superseded",
        location: view.qname().to_string(),
        message: format!("{} by {} was made while the body was replaced; it does not show", op.kind.word(), op.author),
        lost,
        draft,
        cause: op.id.to_string(),
    }
}

/// Returns the edits and bodies, among those that `own` names, that do not show any more since ops were taken in.
pub fn newly_superseded(state: &State, taken: &HashSet<OpId>, own: impl Fn(OpId) -> bool) -> Vec<Finding> {
    let ops = taken.iter().filter_map(|id| state.graph().node(*id)).map(|node| &node.op);
    // A definition that came whole has nothing to lose.
    let defs: BTreeSet<DefId> = ops.filter_map(|op| op.def).collect();
    let forked = |def: &DefId| state.graph().lattice(*def).is_some_and(|lattice| lattice.forked);
    let mut out = Vec::new();
    for view in defs.into_iter().filter(forked).filter_map(|def| state.view(def)) {
        let lost = superseded(state, view).into_iter().map(|node| &node.op);
        let is_new = |op: &&Op| taken.contains(&op.id) || taken.contains(&view.epoch);
        out.extend(lost.filter(|op| own(op.id)).filter(is_new).map(|op| of_superseded(view, op)));
    }
    out
}

fn concurrent(state: &State, a: OpId, b: OpId) -> bool {
    a != b && !state.graph().is_ancestor(a, b) && !state.graph().is_ancestor(b, a)
}

/// Returns whether some op on a definition has both ops among its ancestors.
fn acknowledged(state: &State, def: DefId, a: OpId, b: OpId) -> bool {
    let heads = state.graph().lattice(def).map(|lattice| &lattice.heads);
    let below = |old: OpId, head: OpId| old == head || state.graph().is_ancestor(old, head);
    heads.into_iter().flatten().any(|head| below(a, *head) && below(b, *head) && *head != a && *head != b)
}

/// Bodies and edits that lost to the present body without knowing it; bodies come first.
fn superseded<'s>(state: &'s State, view: &View) -> Vec<&'s Node> {
    let Some(summary) = state.graph().summary(view.id) else { return Vec::new() };
    let lost = summary
        .inactive
        .into_iter()
        .filter(|id| concurrent(state, *id, view.epoch) && !acknowledged(state, view.id, *id, view.epoch));
    let mut lost: Vec<&Node> = lost.filter_map(|id| state.graph().node(id)).collect();
    lost.sort_by_key(|node| node.op.kind == Kind::Edit);
    lost
}

/// Registers written concurrently with the deletion of their unit, with the lost text and the op that wrote it.
fn on_deleted(state: &State, view: &View) -> Vec<(String, String, OpId)> {
    let Some(summary) = state.graph().summary(view.id) else { return Vec::new() };
    let nodes: Vec<_> = summary.edits.iter().filter_map(|id| state.graph().node(*id)).collect();
    let mut out = Vec::new();
    for deleter in &nodes {
        for change in &deleter.op.changes {
            let Change::Delete(unit) = change else { continue };
            for writer in nodes.iter().filter(|node| concurrent(state, node.op.id, deleter.op.id)) {
                if acknowledged(state, view.id, writer.op.id, deleter.op.id) {
                    continue;
                }
                for change in &writer.op.changes {
                    match change {
                        Change::Set { unit: Some(u), register, value: Some(value) } if u == unit => {
                            out.push((register.to_string(), value.to_string(), writer.op.id));
                        }
                        Change::Insert(insert) if insert.parent == Some(*unit) => {
                            let text: Vec<String> =
                                insert.regs.iter().map(|(name, value)| format!("{name}={value}")).collect();
                            out.push(("insert".to_owned(), text.join(" "), writer.op.id));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    out
}

/// Returns names of what changed concurrently with the op that refers to it. That says little by itself: an op names
/// the heads of its own definition, so a change made long after cannot be told from one made at the same time.
fn stale(state: &State, view: &View) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for edge in &view.edges {
        let (To::Def(target), Some(writer)) = (edge.to, edge.writer) else { continue };
        let (Some(other), Some(node)) = (state.view(target), state.graph().node(writer)) else { continue };
        let seen = node.op.depends.iter().find(|dep| dep.def == Some(target)).map(|dep| dep.hash.as_str());
        if seen.is_none_or(|seen| seen == other.hash.hex()) || out.contains(&edge.name) {
            continue;
        }
        let heads = state.graph().lattice(target).map(|lattice| lattice.heads.clone()).unwrap_or_default();
        if heads.iter().any(|head| concurrent(state, *head, writer)) {
            out.push(edge.name.clone());
        }
    }
    out
}
