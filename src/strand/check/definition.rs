//! Definitions: the rules of each layer.

use std::collections::BTreeMap;

use super::Checker;
use super::expr::Context;
use super::fault::Fault;
use super::types::Ty;
use crate::strand::id::{DefId, Layer};
use crate::strand::lang::ast::{
    Action, Binary, Body, Element, Expr, ExprKind, Field, Guard, Prim, Ref, Selector, Stmt, To, Type, TypeBody,
};
use crate::strand::lang::names::{PRIMS, builtin_type, element_args};
use crate::strand::lang::resolve::Place;

impl Checker<'_> {
    pub(super) fn body(&mut self, body: &Body) {
        match body {
            Body::Type(body) => self.type_body(body),
            Body::Slot { ty, init } => {
                self.ty(ty);
                let ty = self.types.lower(ty);
                self.context = Context::Pure;
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
                self.context = Context::Tile;
                self.place = Place::Header("params");
                self.params(params);
                self.place = Place::Unit(1);
                let mut unit = 0;
                self.element(root, &mut unit);
            }
            Body::Fn { params, returns, expr } => {
                self.context = Context::Fn;
                self.params(params);
                self.ty(returns);
                let ty = self.types.lower(returns);
                self.expect(expr, &ty);
            }
        }
    }

    /// A written type: every name known, every argument there, keys fit to be keys.
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
                        let shown = self.types.show(&key);
                        self.misfits(ty.args[0].head.node, format!("{shown} cannot be a key or a member of a set"));
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

    /// Named types, none of them twice.
    fn members(&mut self, fields: &[Field], what: &'static str) {
        for (index, field) in fields.iter().enumerate() {
            self.ty(&field.ty);
            if fields[..index].iter().any(|other| other.name == field.name) {
                self.report(field.ty.head.node, Fault::Duplicate { what, name: field.name.clone() });
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
                        self.report(field.ty.head.node, Fault::Duplicate { what: "field", name: field.name.clone() });
                    }
                }
            }
            TypeBody::Union(variants) => {
                for (index, variant) in variants.iter().enumerate() {
                    self.place = Place::Unit(index as u32 + 1);
                    self.members(&variant.fields, "field");
                    if variants[..index].iter().any(|other| other.name == variant.name) {
                        self.report(0, Fault::Duplicate { what: "variant", name: variant.name.clone() });
                    }
                }
            }
        }
    }

    /// A predicate: of the decidable shape, and well typed.
    fn predicate(&mut self, pred: &Expr) {
        self.context = Context::Pure;
        if is_predicate(pred) {
            self.expect(pred, &Ty::Bool);
            return;
        }
        // What is never allowed has a fault of its own; anything else is only out of shape.
        let depth = self.found.len();
        self.infer(pred, Some(&Ty::Bool));
        let own = |fault: &Fault| {
            matches!(fault, Fault::WriteOutside { .. } | Fault::Impure { .. } | Fault::Lambda | Fault::Null { .. })
        };
        let keep: Vec<_> = self.found.drain(depth..).filter(|found| own(&found.fault)).collect();
        if keep.is_empty() {
            self.report(pred.node, Fault::Predicate);
        }
        self.found.extend(keep);
    }

    fn effect(&mut self, needs: &[String], prim: &Prim) {
        self.context = Context::Pure;
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
        self.context = Context::Reducer;
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

    /// The payload of a selected event: none if the selector is wrong, else what is sent, if anything.
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
                        let shown = self.types.show(&found);
                        self.misfits(expr.node, format!("expected Option, found {shown}"))
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
        let body = effect.def().and_then(|id| self.types.state().view(id)).map(|view| &view.body);
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
            let input = match self.types.state().view(id).map(|view| &view.body) {
                Some(Body::Reducer { input: Some(input), .. }) => self.types.lower(&input.ty),
                _ => continue,
            };
            if !self.passes(&given, &input) {
                let (wanted, found) = (self.types.show(&input), self.types.show(&given));
                self.misfits(reducer.node, format!("reducer {} takes {wanted}, found {found}", reducer.name));
            }
        }
    }

    /// The events a tile raises, with the type each sends.
    pub(super) fn events_of(&self, tile: DefId) -> BTreeMap<String, Option<Ty>> {
        let Some(view) = self.types.state().view(tile) else { return BTreeMap::new() };
        let mut inner = Checker::new(self.types, view, self.granted);
        inner.body(&view.body);
        inner.events
    }

    fn element(&mut self, element: &Element, unit: &mut u32) {
        *unit += 1;
        self.place = Place::Unit(*unit);
        let depth = self.locals.len();
        match element.head.to {
            To::Builtin => self.builtin_element(element),
            To::Def(tile) => self.tile_element(element, tile),
            _ => {
                self.undefined(&element.head);
                for (name, value) in element.args.iter().filter(|(name, _)| !matches!(name.as_str(), "event" | "item"))
                {
                    let _ = name;
                    self.expect(value, &Ty::Err);
                }
            }
        }
        for child in &element.children {
            self.element(child, unit);
        }
        self.locals.truncate(depth);
    }

    fn tile_element(&mut self, element: &Element, tile: DefId) {
        let params: Vec<(String, Ty)> = match self.types.state().view(tile).map(|view| &view.body) {
            Some(Body::Tile { params, .. }) => {
                params.iter().map(|param| (param.name.clone(), self.types.lower(&param.ty))).collect()
            }
            _ => return,
        };
        let args: Vec<_> = element
            .args
            .iter()
            .map(|(name, value)| crate::strand::lang::ast::Arg { name: Some(name.clone()), value: value.clone() })
            .collect();
        self.fill_at(element.node, &element.head.name, &params, &args, true);
        if !element.children.is_empty() {
            self.misfits(element.node, format!("{} takes no children", element.head.name));
        }
    }

    fn builtin_element(&mut self, element: &Element) {
        let name = element.head.name.as_str();
        let table = element_args(name).unwrap_or(&[]);
        let arg = |wanted: &str| element.args.iter().find(|(arg, _)| arg == wanted).map(|(_, value)| value);
        for (given, value) in &element.args {
            if !table.iter().any(|known| known.trim_end_matches('*') == given) {
                self.misfits(value.node, format!("{name} takes no '{given}'"));
            }
        }
        for required in table.iter().filter_map(|known| known.strip_suffix('*')) {
            if arg(required).is_none() {
                self.misfits(element.node, format!("{name} needs '{required}'"));
            }
        }
        if name == "checkbox" && arg("bind").is_none() && arg("value").is_none() {
            self.misfits(element.node, "checkbox needs 'bind' or 'value'");
        }
        if !element.children.is_empty() && !matches!(name, "column" | "row" | "each" | "when") {
            self.misfits(element.node, format!("{name} takes no children"));
        }
        let mut sent = None;
        for (given, value) in &element.args {
            let wanted = match given.as_str() {
                "gap" => Ty::Int,
                "enabled" | "cond" => Ty::Bool,
                "value" if name == "checkbox" => Ty::Bool,
                "value" | "label" | "hint" | "icon" | "src" | "alt" | "to" => Ty::Text,
                "bind" => {
                    self.bind(value, if name == "checkbox" { Ty::Bool } else { Ty::Text });
                    continue;
                }
                "send" => {
                    sent = Some(self.infer(value, None));
                    continue;
                }
                "of" => {
                    self.each(element, value);
                    continue;
                }
                _ => continue,
            };
            self.expect(value, &wanted);
        }
        if let Some(event) = arg("event") {
            self.event(event, arg("send"), sent);
        }
        self.accessible(element);
    }

    fn bind(&mut self, value: &Expr, wanted: Ty) {
        let ExprKind::Name(slot) = &value.kind else {
            self.misfits(value.node, "bind needs the name of a slot");
            return;
        };
        match slot.to {
            To::Def(id) => {
                let found = self.slot_type(id);
                if found != Ty::Err && self.types.base(&found) != wanted {
                    let (wanted, found) = (self.types.show(&wanted), self.types.show(&found));
                    self.misfits(value.node, format!("expected a slot of {wanted}, found {found}"));
                }
            }
            _ => {
                self.undefined(slot);
            }
        }
    }

    fn each(&mut self, element: &Element, of: &Expr) {
        let found = self.infer(of, None);
        let item = match self.types.base(&found) {
            Ty::List(item) => (*item).clone(),
            Ty::Err => Ty::Err,
            _ => {
                let shown = self.types.show(&found);
                self.misfits(of.node, format!("expected List, found {shown}"))
            }
        };
        match element.args.iter().find(|(name, _)| name == "item").map(|(_, value)| &value.kind) {
            Some(ExprKind::Name(name)) => self.locals.push((name.name.clone(), item)),
            Some(_) => {
                self.misfits(element.node, "item needs a new name");
            }
            None => {}
        }
    }

    /// An event of this tile: a label, and the same payload wherever it is raised.
    fn event(&mut self, event: &Expr, send: Option<&Expr>, sent: Option<Ty>) {
        let ExprKind::Name(label) = &event.kind else {
            self.misfits(event.node, "event needs a bare name");
            return;
        };
        let Some(before) = self.events.get(&label.name).cloned() else {
            self.events.insert(label.name.clone(), sent);
            return;
        };
        let node = send.map_or(event.node, |send| send.node);
        match (before, sent) {
            (None, None) => {}
            (Some(before), Some(sent)) if self.types.equal(&before, &sent) => {}
            (before, sent) => {
                let show = |ty: Option<Ty>| ty.map_or_else(|| "nothing".to_owned(), |ty| self.types.show(&ty));
                let message =
                    format!("the event '{}' sends {} elsewhere, {} here", label.name, show(before), show(sent));
                self.misfits(node, message);
            }
        }
    }

    fn accessible(&mut self, element: &Element) {
        let name = element.head.name.as_str();
        let arg = |wanted: &str| element.args.iter().find(|(arg, _)| arg == wanted).map(|(_, value)| &value.kind);
        let missing = match name {
            "input" | "checkbox" | "button" | "link" => match arg("label") {
                None => Some("label"),
                Some(ExprKind::Text(text)) if text.is_empty() => Some("label"),
                Some(_) => None,
            },
            "image" if arg("alt").is_none() => Some("alt"),
            _ => None,
        };
        let Some(missing) = missing else { return };
        let named = |wanted: &str| match arg(wanted) {
            Some(ExprKind::Name(name)) => Some(name.name.clone()),
            _ => None,
        };
        let word = named("bind").or_else(|| named("event")).unwrap_or_else(|| self.name.clone());
        let mut letters = word.chars();
        let proposal = letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default();
        self.report(element.node, Fault::NoLabel { element: name.to_owned(), arg: missing, proposal });
    }

    pub(super) fn slot_type(&self, id: DefId) -> Ty {
        match self.types.state().view(id).map(|view| &view.body) {
            Some(Body::Slot { ty, .. }) => self.types.lower(ty),
            _ => Ty::Err,
        }
    }
}

/// Whether an expression is of the decidable shape of predicates.
fn is_predicate(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(Binary::And | Binary::Or, a, b) => is_predicate(a) && is_predicate(b),
        ExprKind::Not(inner) => is_predicate(inner),
        ExprKind::Binary(Binary::In, term, list) => match &list.kind {
            ExprKind::List(items) => is_term(term) && !items.is_empty() && items.iter().all(is_literal),
            _ => false,
        },
        ExprKind::Binary(
            Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge,
            term,
            literal,
        ) => is_term(term) && is_literal(literal),
        ExprKind::Call(callee, args) if callee.name == "matches" => {
            args.len() == 2 && is_term(&args[0].value) && matches!(args[1].value.kind, ExprKind::Text(_))
        }
        _ => false,
    }
}

fn is_term(expr: &Expr) -> bool {
    fn path(expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::It => true,
            ExprKind::Field(inner, _) => path(inner),
            _ => false,
        }
    }
    match &expr.kind {
        ExprKind::Call(callee, args) => callee.name == "len" && args.len() == 1 && path(&args[0].value),
        _ => path(expr),
    }
}

fn is_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Text(_) | ExprKind::Bool(_) => true,
        ExprKind::Neg(inner) => matches!(inner.kind, ExprKind::Int(_) | ExprKind::Float(_)),
        _ => false,
    }
}
