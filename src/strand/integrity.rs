//! Referential integrity where ops of several authors meet: finds new danglings and handles them.

use std::collections::BTreeSet;

use super::id::{DefId, Layer, OpId, QName};
use super::issue::{depends, heads};
use super::lang::ast::{Body, Element, Expr, ExprKind, Prim, Ref, To};
use super::lang::parse::parse_body;
use super::lang::place::Place;
use super::lang::print;
use super::op::{HEALER, Kind, Op};
use super::state::State;

/// Returns the name and the stub body that bring a removed definition back: its interface kept, its content the
/// default.
pub fn stub(state: &State, def: DefId) -> Option<(QName, String)> {
    use super::check::types::{Ty, Types};
    let view = state.view(def)?;
    let types = Types::new(state);
    let mut body = view.body.clone();
    state.resolve_body(&mut body);
    let expr = |text: &str| match super::lang::parse::parse_register(super::lang::parse::Category::Expr, text) {
        Ok(super::lang::unit::Reg::Expr(expr)) => Some(expr),
        _ => None,
    };
    let default = |ty: &Ty| types.default_text(ty).and_then(|text| expr(&text));
    match &mut body {
        Body::Type(_) => {}
        Body::Slot { ty, init } => {
            if let Some(value) = default(&types.lower(ty)) {
                *init = value;
            }
        }
        Body::Effect { needs, prim, .. } => {
            *needs = vec!["log".to_owned()];
            let text = Expr::new(ExprKind::Text("healed".to_owned()));
            let args = vec![super::lang::ast::Arg { name: None, value: text }];
            *prim = Prim { name: "log.print".to_owned(), args, node: 0 };
        }
        Body::Reducer { stmts, .. } => stmts.clear(),
        Body::Tile { root, .. } => *root = stub_tile(state, &types, def),
        Body::Fn { returns, expr, .. } => {
            if let Some(value) = default(&types.lower(returns)) {
                *expr = value;
            }
        }
    }
    Some((QName::new(view.layer, view.name.clone()), print::body(&body)))
}

/// Returns an empty column, with a button for each event some reducer selects.
fn stub_tile(state: &State, types: &super::check::types::Types, def: DefId) -> Element {
    let element = |name: &str| Element {
        head: Ref { to: To::Builtin, ..Ref::new(super::id::Layer::Tile, name) },
        args: Vec::new(),
        children: Vec::new(),
        unit: None,
        node: 0,
    };
    let mut root = element("column");
    let mut events: std::collections::BTreeMap<String, Option<String>> = std::collections::BTreeMap::new();
    for view in state.visible() {
        let Body::Reducer { on: Some(on), input, .. } = &view.body else { continue };
        if on.tile.to == To::Dangling(def) || on.tile.to == To::Def(def) {
            let sent = input.as_ref().and_then(|input| types.default_text(&types.lower(&input.ty)));
            events.insert(on.event.clone(), sent);
        }
    }
    for (event, sent) in events {
        let mut button = element("button");
        button.args.push(("label".to_owned(), Expr::new(ExprKind::Text("healed".to_owned()))));
        button.args.push(("event".to_owned(), Expr::new(ExprKind::Name(Ref::new(super::id::Layer::Slot, event)))));
        let sent =
            sent.and_then(|text| match super::lang::parse::parse_register(super::lang::parse::Category::Expr, &text) {
                Ok(super::lang::unit::Reg::Expr(expr)) => Some(expr),
                _ => None,
            });
        if let Some(sent) = sent {
            button.args.push(("send".to_owned(), sent));
        }
        root.children.push(button);
    }
    root
}

/// A reference that leads nowhere since two concurrent edits met.
#[derive(Clone, Debug, PartialEq)]
pub struct Dangling {
    /// The definition that refers.
    pub from: DefId,
    /// The place where it does.
    pub place: Place,
    /// The op that wrote the reference.
    pub writer: OpId,
    /// The definition that was removed.
    pub removed: DefId,
    /// The removes.
    pub heads: Vec<OpId>,
}

impl Dangling {
    /// Returns the referring place and what it refers to, as records have them.
    pub fn edge(&self, state: &State) -> (String, String) {
        let name = |id: DefId| state.view(id).map_or_else(|| id.to_string(), |view| view.qname().to_string());
        (format!("{}:{}", name(self.from), self.place), name(self.removed))
    }
}

/// Returns the danglings around some new ops that nobody intended: each written concurrently with every removal of what
/// it refers to.
pub fn new_danglings(state: &State, fresh: &BTreeSet<OpId>) -> Vec<Dangling> {
    let mut near: BTreeSet<DefId> = BTreeSet::new();
    for node in fresh.iter().filter_map(|id| state.graph().node(*id)) {
        let target = node.op.target();
        near.insert(target);
        near.extend(state.watchers(target));
        if let Some(view) = state.view(target) {
            near.extend(state.late_watchers(view.layer, &view.name));
        }
    }
    let mut out = Vec::new();
    for view in near.iter().filter_map(|id| state.view(*id)).filter(|view| view.live()) {
        for edge in &view.edges {
            let removed = match edge.to {
                To::Dangling(removed) => removed,
                To::Missing => match last_holder(state, edge.layer, &edge.name) {
                    Some(removed) => removed,
                    None => continue,
                },
                _ => continue,
            };
            let (Some(writer), Some(lattice)) = (edge.writer, state.graph().lattice(removed)) else { continue };
            let ordered = |head: &OpId| {
                *head == writer || state.graph().is_ancestor(*head, writer) || state.graph().is_ancestor(writer, *head)
            };
            if lattice.heads.iter().any(ordered) {
                continue;
            }
            let heads = lattice.heads.iter().copied().collect();
            out.push(Dangling { from: view.id, place: edge.place, writer, removed, heads });
        }
    }
    out
}

/// Returns the dead definition that held a name last.
fn last_holder(state: &State, layer: Layer, name: &str) -> Option<DefId> {
    let holders = state.graph().holders(layer, name).into_iter().filter_map(|def| state.view(def));
    holders.filter(|view| !view.live() && view.name == name).map(|view| view.id).max()
}

/// Returns the op that brings a removed definition back as a stub. Equal states make equal ops.
pub fn heal(state: &State, def: DefId) -> Option<Op> {
    let (qname, text) = stub(state, def)?;
    let mut body = parse_body(qname.layer, &text).ok()?;
    let (depends, follow) = depends(state, &mut body, state.view(def));
    let mut parents = heads(state, follow);
    parents.extend(heads(state, Some(def)));
    parents.extend(heads(state, state.graph().holders(qname.layer, &qname.name)));
    let above = parents.iter().filter_map(|id| state.graph().node(*id)).map(|node| node.max_ts).max()?;
    let mut op = Op {
        body: Some(print::body(&body).into()),
        parents: parents.into_iter().collect(),
        depends,
        def: Some(def),
        ..Op::new(Kind::Add, (qname.layer, &qname.name), HEALER, above.saturating_add(1), def)
    };
    op.set_rare(|rare| rare.cause = Some("heal".to_owned()));
    op.id = heal_id(&op);
    Some(op)
}

/// Returns the id of a heal op: what it says, and nothing else, makes it.
fn heal_id(op: &Op) -> OpId {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"heal\0");
    hasher.update(op.json_without_id().to_string().as_bytes());
    let random = hasher.finalize().as_bytes()[..10].iter().fold(0u128, |all, byte| all << 8 | u128::from(*byte));
    OpId::from_parts(op.ts, random)
}

/// Returns whether an op is what [`heal`] makes, whoever sends it: its id is made from its content, and it follows nothing
/// but removes of the definition it brings back. `find` tells kind and target of an op that is known or comes with it.
pub fn is_heal(op: &Op, find: impl Fn(OpId) -> Option<(Kind, DefId)>) -> bool {
    let Some(def) = op.def else { return false };
    let made = &*op.author == HEALER && op.kind == Kind::Add && op.cause() == Some("heal") && op.bundle.is_none();
    if !made || op.id != heal_id(op) {
        return false;
    }
    let parents: Option<Vec<(Kind, DefId)>> = op.parents.iter().map(|id| find(*id)).collect();
    let Some(parents) = parents else { return false };
    let mut own = parents.iter().filter(|(_, target)| *target == def).peekable();
    own.peek().is_some() && own.all(|(kind, _)| *kind == Kind::Remove)
}
