//! The context while one definition is checked, and the faults found so far.

use std::collections::{BTreeMap, BTreeSet};

use super::fault::{Fault, LocatedFault};
use super::types::{Ty, Types};
use crate::strand::id::{DefId, Layer};
use crate::strand::lang::ast::{Ref, To};
use crate::strand::lang::place::{Place, Places};
use crate::strand::state::View;

/// The position of an expression, which decides what it may read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExprContext {
    /// A predicate, slot init or effect argument.
    Pure,
    /// The body of a fn.
    Fn,
    /// A reducer.
    Reducer,
    /// A tile.
    Tile,
}

/// Checks one definition.
pub struct Checker<'s> {
    pub(super) types: &'s Types<'s>,
    pub(super) granted: &'s BTreeSet<String>,
    pub(super) def: DefId,
    pub(super) layer: Layer,
    pub(super) name: String,
    pub(super) places: &'s Places,
    pub(super) place: Place,
    pub(super) context: ExprContext,
    /// Binders in scope, innermost last.
    pub(super) locals: Vec<(String, Ty)>,
    /// The type of `it`, within a predicate.
    pub(super) it: Option<Ty>,
    /// Events raised so far, with what each sends.
    pub(super) events: BTreeMap<String, Option<Ty>>,
    pub(super) found: Vec<LocatedFault>,
}

impl<'s> Checker<'s> {
    pub(super) fn new(types: &'s Types<'s>, view: &'s View, granted: &'s BTreeSet<String>) -> Checker<'s> {
        Checker {
            types,
            granted,
            def: view.id,
            layer: view.layer,
            name: view.label.clone(),
            places: &view.places,
            place: Place::Unit(1),
            context: ExprContext::Pure,
            locals: Vec::new(),
            it: None,
            events: BTreeMap::new(),
            found: Vec::new(),
        }
    }

    /// Records a fault at a node; one is enough for each node.
    pub(super) fn report(&mut self, node: u32, fault: Fault) {
        if node != 0 && self.found.iter().any(|found| found.node == node) {
            return;
        }
        let place = self.places.get(node).unwrap_or(self.place);
        self.found.push(LocatedFault { def: self.def, place, node, fault });
    }

    pub(super) fn error(&mut self, node: u32, fault: Fault) -> Ty {
        self.report(node, fault);
        Ty::Err
    }

    pub(super) fn misfits(&mut self, node: u32, message: impl Into<String>) -> Ty {
        self.error(node, Fault::Misfit(message.into()))
    }

    /// Returns the fault of a name that leads nowhere.
    pub(super) fn undefined(&mut self, name: &Ref) -> Ty {
        let fault = match name.to {
            To::Dangling(def) => Fault::Dangling { layer: name.layer, name: name.name.clone(), def },
            To::Missing => {
                let scoped = name.layer == Layer::Slot;
                let locals =
                    if scoped { self.locals.iter().map(|(name, _)| name.clone()).collect() } else { Vec::new() };
                Fault::Undefined { layer: name.layer, name: name.name.clone(), locals }
            }
            _ => return Ty::Err,
        };
        self.error(name.node, fault)
    }
}
