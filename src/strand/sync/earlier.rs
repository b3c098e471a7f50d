//! Recognises a file that holds an earlier text of its definition: it was not edited, so it is no change.

use std::collections::HashSet;

use crate::strand::graph::Node;
use crate::strand::id::{DefId, OpId};
use crate::strand::issue::current_text;
use crate::strand::lang::ast::Definition;
use crate::strand::lang::print;
use crate::strand::lang::resolve::each_body_ref;
use crate::strand::op::Op;
use crate::strand::state::State;

/// The number of newest ops on a definition that are looked at.
const LOOKED_AT: usize = 100;

/// Returns whether a definition once said what a file says: after one of its ops, as whoever issued it saw the
/// definition or as the ops follow each other in time. Names that were changed since count as what they are now.
pub(super) fn is_earlier_text(state: &State, def: DefId, file: &Definition) -> bool {
    let body = with_names_of_now(state, file);
    let graph = state.graph();
    let Some(lattice) = graph.lattice(def) else { return false };
    let mut ops: Vec<&Op> = lattice.ops.iter().filter_map(|id| graph.node(*id)).map(|node| &node.op).collect();
    ops.sort_by_key(|op| op.key());
    let said = |ids: &HashSet<OpId>| {
        let nodes = ids.iter().filter_map(|id| graph.node(*id)).map(known).collect();
        let mut then = State::new();
        then.restore(nodes);
        then.refresh();
        then.view(def).is_some_and(|view| view.doc == file.doc && current_text(state, view) == body)
    };
    let from = ops.len().saturating_sub(LOOKED_AT);
    (from..ops.len()).rev().any(|at| {
        let mut seen: HashSet<OpId> = graph.past_on(ops[at].id).into_iter().collect();
        seen.insert(ops[at].id);
        let in_time: HashSet<OpId> = ops[..=at].iter().map(|op| op.id).collect();
        said(&in_time) || seen != in_time && said(&seen)
    })
}

fn known(node: &Node) -> Node {
    Node::known(node.op.clone(), node.void.clone(), node.max_ts, node.anchored, None)
}

/// Returns the body of a file; where it names a definition by a name that it had, the name that it has.
fn with_names_of_now(state: &State, file: &Definition) -> String {
    let mut body = file.body.clone();
    each_body_ref(&mut body, &mut |reference| {
        if state.find_id(reference.layer, &reference.name).is_some() {
            return;
        }
        let holders = state.graph().holders(reference.layer, &reference.name).into_iter();
        let mut seen = holders.filter_map(|id| state.view(id)).filter(|view| view.visible());
        if let (Some(view), None) = (seen.next(), seen.next()) {
            reference.name.clone_from(&view.label);
        }
    });
    print::body(&body)
}
