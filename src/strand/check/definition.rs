//! The rules for the definitions of each layer.

use std::collections::BTreeMap;

use super::checker::{Checker, ExprContext};
use super::fault::Fault;
use super::types::Ty;
use crate::strand::id::{DefId, Layer};
use crate::strand::lang::ast::{Action, Body, Field, Guard, Prim, Ref, Selector, Stmt, To, Type, TypeBody};
use crate::strand::lang::names::{PRIMS, builtin_type};
use crate::strand::lang::place::Place;

impl Checker<'_> {
    pub(super) fn body(&mut self, body: &Body) {
        match body {
            Body::Type(body) => self.type_body(body),
            Body::Slot { ty, init } => {
                self.ty(ty);
                let ty = self.types.lower(ty);
                self.context = ExprContext::Pure;
                self.expect(init, &ty);
            }
            Body::Effect { params, returns, err, needs, prim } => {
                self.params(params);
                self.ty(returns);
                err.iter().for_each(|err| self.ty(err));
                self.effect(needs, prim);
            }
            Body::Reducer { on, input, stmts } => self.reducer(on.as_ref(), input.as_ref(), stmts),
            Body::Tile { params, root } => {
                self.context = ExprContext::Tile;
                self.place = Place::Header("params");
                self.params(params);
                self.place = Place::Unit(1);
                let mut unit = 0;
                self.element(root, &mut unit);
            }
            Body::Fn { params, returns, expr } => {
                self.context = ExprContext::Fn;
                self.params(params);
                self.ty(returns);
                let ty = self.types.lower(returns);
                self.expect(expr, &ty);
            }
        }
    }

    /// Checks a written type: every name known, every argument there, keys fit to be keys.
    fn ty(&mut self, ty: &Type) {
        ty.args.iter().for_each(|arg| self.ty(arg));
        match ty.head.to {
            To::Builtin => {
                let wants = builtin_type(&ty.head.name).unwrap_or(0);
                if wants != ty.args.len() {
                    let message = format!("{} takes {wants} types, {} are given", ty.head.name, ty.args.len());
                    self.misfits(ty.head.node, message);
                } else if matches!(ty.head.name.as_str(), "Map" | "Set") {
                    let key = self.types.lower(&ty.args[0]);
                    if !self.types.is_key(&key) {
                        let rendered = self.types.show(&key);
                        self.misfits(ty.args[0].head.node, format!("{rendered} cannot be a key or a member of a set"));
                    }
                }
            }
            To::Def(_) if !ty.args.is_empty() => {
                self.misfits(ty.head.node, format!("{} takes no types", ty.head.name));
            }
            To::Def(_) => {}
            _ => {
                self.undefined(&ty.head);
            }
        }
    }

    fn params(&mut self, fields: &[Field]) {
        self.members(fields, "parameter");
        for field in fields {
            self.locals.push((field.name.clone(), self.types.lower(&field.ty)));
        }
    }

    /// Checks that no two named types are the same.
    fn members(&mut self, fields: &[Field], what: &'static str) {
        for (index, field) in fields.iter().enumerate() {
            self.ty(&field.ty);
            if fields[..index].iter().any(|other| other.name == field.name) {
                self.report(field.ty.head.node, Fault::Duplicate { what: what.into(), name: field.name.clone() });
            }
        }
    }

    fn type_body(&mut self, body: &TypeBody) {
        match body {
            TypeBody::Plain { base, pred, .. } => {
                self.ty(base);
                if let Some(pred) = pred {
                    self.it = Some(self.types.base(&self.types.lower(base)));
                    self.predicate(pred);
                    self.it = None;
                }
            }
            TypeBody::Record(fields) => {
                for (index, field) in fields.iter().enumerate() {
                    self.place = Place::Unit(index as u32 + 1);
                    self.ty(&field.ty);
                    if fields[..index].iter().any(|other| other.name == field.name) {
                        self.report(
                            field.ty.head.node,
                            Fault::Duplicate { what: "field".into(), name: field.name.clone() },
                        );
                    }
                }
            }
            TypeBody::Union(variants) => {
                for (index, variant) in variants.iter().enumerate() {
                    self.place = Place::Unit(index as u32 + 1);
                    self.members(&variant.fields, "field");
                    if variants[..index].iter().any(|other| other.name == variant.name) {
                        self.report(0, Fault::Duplicate { what: "variant".into(), name: variant.name.clone() });
                    }
                }
            }
        }
    }

    fn effect(&mut self, needs: &[String], prim: &Prim) {
        self.context = ExprContext::Pure;
        match PRIMS.iter().find(|(name, _, _)| *name == prim.name) {
            None => {
                self.misfits(prim.node, format!("there is no primitive '{}'", prim.name));
            }
            Some((name, cap, params)) => {
                let of = |ty: &str| match ty {
                    "Text" => Ty::Text,
                    "Int" => Ty::Int,
                    _ => Ty::Err,
                };
                let wanted: Vec<(String, Ty)> = params.iter().map(|(name, ty)| ((*name).to_owned(), of(ty))).collect();
                self.fill_at(prim.node, name, &wanted, &prim.args, false);
                if !needs.iter().any(|need| need == cap) {
                    self.place = Place::Header("needs");
                    let (effect, prim) = (self.name.clone(), prim.name.clone());
                    self.report(0, Fault::NeedsCapability { effect, prim, cap: (*cap).to_owned() });
                }
            }
        }
        self.place = Place::Header("needs");
        for cap in needs {
            if !self.granted.contains(cap) {
                self.report(0, Fault::NotGranted { cap: cap.clone() });
            }
        }
    }

    fn reducer(&mut self, on: Option<&Selector>, input: Option<&Field>, stmts: &[Stmt]) {
        self.context = ExprContext::Reducer;
        let payload = on.and_then(|on| {
            self.place = Place::Header("on");
            self.selector(on)
        });
        if let Some(input) = input {
            self.place = Place::Header("in");
            self.params(std::slice::from_ref(input));
            let wanted = self.types.lower(&input.ty);
            match payload {
                Some(None) => {
                    self.misfits(input.ty.head.node, "the event sends nothing");
                }
                Some(Some(sent)) if !self.passes(&sent, &wanted) => {
                    self.report(input.ty.head.node, Fault::Mismatch { expected: sent, found: wanted });
                }
                _ => {}
            }
        }
        let mut writes: BTreeMap<DefId, u32> = BTreeMap::new();
        for (index, stmt) in stmts.iter().enumerate() {
            let unit = index as u32 + 1;
            self.place = Place::Unit(unit);
            self.stmt(stmt);
            if let Action::Write(Ref { to: To::Def(slot), name, .. }, _) = &stmt.action {
                match writes.get(slot) {
                    Some(first) => {
                        let (reducer, first) = (self.name.clone(), *first);
                        self.report(stmt.node, Fault::WrittenTwice { slot: name.clone(), reducer, first });
                    }
                    None => {
                        writes.insert(*slot, unit);
                    }
                }
            }
        }
    }

    /// Returns the payload of a selected event: none if the selector is wrong, else what is sent, if anything.
    fn selector(&mut self, on: &Selector) -> Option<Option<Ty>> {
        let bad = |tile| Fault::BadSelector { head: on.tile.name.clone(), event: on.event.clone(), tile };
        match on.tile.to {
            To::Def(tile) if on.tile.layer == Layer::Tile => {
                let events = self.events_of(tile);
                match events.get(&on.event) {
                    Some(sent) => Some(sent.clone()),
                    None => {
                        let names = events.into_keys().collect();
                        self.report(on.tile.node, bad(Some((on.tile.name.clone(), names))));
                        None
                    }
                }
            }
            To::Def(_) => {
                self.report(on.tile.node, bad(None));
                None
            }
            _ => {
                self.undefined(&on.tile);
                None
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let depth = self.locals.len();
        match &stmt.guard {
            Some(Guard::If(expr)) => self.expect(expr, &Ty::Bool),
            Some(Guard::Some(name, expr)) => {
                let found = self.infer(expr, None);
                let item = match self.types.base(&found) {
                    Ty::Option(item) => (*item).clone(),
                    Ty::Err => Ty::Err,
                    _ => {
                        let rendered = self.types.show(&found);
                        self.misfits(expr.node, format!("expected Option, found {rendered}"))
                    }
                };
                self.locals.push((name.clone(), item));
            }
            None => {}
        }
        match &stmt.action {
            Action::Write(target, value) => match target.to {
                To::Def(slot) => {
                    let ty = self.slot_type(slot);
                    self.expect(value, &ty);
                }
                _ => {
                    self.undefined(target);
                    self.expect(value, &Ty::Err);
                }
            },
            Action::Emit { effect, args, ok, err } => self.emit(stmt, effect, args, ok.as_ref(), err.as_ref()),
            Action::Call(callee, args) => match callee.to {
                To::Def(_) if callee.layer == Layer::Effect => {
                    self.report(stmt.node, Fault::DirectCall { effect: callee.name.clone(), statement: true });
                }
                To::Def(_) | To::Builtin => {
                    args.iter().for_each(|arg| {
                        self.infer(&arg.value, None);
                    });
                    self.misfits(stmt.node, format!("the value of {} goes nowhere", callee.name));
                }
                _ => {
                    self.undefined(callee);
                }
            },
        }
        self.locals.truncate(depth);
    }

    fn emit(
        &mut self,
        stmt: &Stmt,
        effect: &Ref,
        args: &[crate::strand::lang::ast::Arg],
        ok: Option<&Ref>,
        err: Option<&Ref>,
    ) {
        let body = effect.def().and_then(|id| self.types.state().reading(id)).map(|view| &view.body);
        let (mut returns, mut error) = (Ty::Err, Some(Ty::Err));
        match body {
            Some(Body::Effect { params, returns: gives, err, .. }) => {
                let wanted: Vec<_> = params.iter().map(|p| (p.name.clone(), self.types.lower(&p.ty))).collect();
                self.fill_at(stmt.node, &effect.name, &wanted, args, false);
                returns = self.types.lower(gives);
                error = err.as_ref().map(|err| self.types.lower(err));
            }
            _ => {
                self.undefined(effect);
            }
        }
        for (reducer, given, label) in [(ok, Some(returns), "ok"), (err, error, "err")] {
            let Some(reducer) = reducer else { continue };
            let Some(id) = reducer.def() else {
                self.undefined(reducer);
                continue;
            };
            let Some(given) = given else {
                self.misfits(reducer.node, format!("{} has no {label} type", effect.name));
                continue;
            };
            let input = match self.types.state().reading(id).map(|view| &view.body) {
                Some(Body::Reducer { input: Some(input), .. }) => self.types.lower(&input.ty),
                _ => continue,
            };
            if !self.passes(&given, &input) {
                let (wanted, found) = (self.types.show(&input), self.types.show(&given));
                self.misfits(reducer.node, format!("reducer {} takes {wanted}, found {found}", reducer.name));
            }
        }
    }

    pub(super) fn slot_type(&self, id: DefId) -> Ty {
        match self.types.state().reading(id).map(|view| &view.body) {
            Some(Body::Slot { ty, .. }) => self.types.lower(ty),
            _ => Ty::Err,
        }
    }
}
