//! Types expressions and finds the faults in them.

use std::rc::Rc;

use super::checker::{Checker, ExprContext};
use super::fault::Fault;
use super::types::{Shape, Ty};
use crate::strand::id::Layer;
use crate::strand::lang::ast::{Arg, Binary, Expr, ExprKind, Ref, To};
use crate::strand::lang::print;
use crate::strand::runtime::eval::Eval;

impl Checker<'_> {
    /// Checks an expression against the type it must have.
    pub(super) fn expect(&mut self, expr: &Expr, expected: &Ty) {
        match &expr.kind {
            ExprKind::If(condition, yes, no) => {
                self.expect(condition, &Ty::Bool);
                self.expect(yes, expected);
                self.expect(no, expected);
            }
            ExprKind::Match(subject, arms) => {
                self.matching(expr, subject, arms, Some(expected));
            }
            _ => {
                let found = self.infer(expr, Some(expected));
                self.assign(expr, &found, expected);
            }
        }
    }

    /// Reports a value of a type that may not stand where another is expected.
    fn assign(&mut self, expr: &Expr, found: &Ty, expected: &Ty) {
        if let Some(fault) = self.misfit(expr, found, expected) {
            self.report(expr.node, fault);
        }
    }

    fn misfit(&self, expr: &Expr, found: &Ty, expected: &Ty) -> Option<Fault> {
        let (from, to) = (self.types.plain(found), self.types.plain(expected));
        if from == Ty::Err || to == Ty::Err || self.types.equal(&from, &to) {
            return None;
        }
        if let Ty::Named(id) = from
            && let Shape::Refined(base, _) = self.types.shape(id)
            && self.misfit(expr, &base, &to).is_none()
        {
            return None;
        }
        let mismatch = || Fault::Mismatch { expected: expected.clone(), found: found.clone() };
        if let Ty::Named(id) = to
            && let Shape::Refined(base, predicate) = self.types.shape(id)
        {
            return match self.misfit(expr, &from, &base) {
                None if is_constant(expr) => match Eval::new(self.types, &|_| None).eval(expr) {
                    Ok(value) if Eval::holds(self.types, &predicate, &value) == Ok(true) => None,
                    Ok(_) => Some(Fault::Violation { value: print::expr(expr), ty: expected.clone() }),
                    Err(_) => Some(mismatch()),
                },
                None => Some(mismatch()),
                Some(fault) => Some(match fault {
                    Fault::NominalMix { .. } => Fault::NominalMix { expected: expected.clone(), found: found.clone() },
                    Fault::Violation { .. } => fault,
                    _ => mismatch(),
                }),
            };
        }
        let nominal = |ty: &Ty| matches!(ty, Ty::Named(id) if matches!(self.types.shape(*id), Shape::Nominal(..)));
        if (nominal(&self.types.base(&from)) || nominal(&to)) && self.types.same_representation(&from, &to) {
            return Some(Fault::NominalMix { expected: expected.clone(), found: found.clone() });
        }
        Some(mismatch())
    }

    /// Returns the type of an expression. `expected` helps where the expression alone does not say.
    pub(super) fn infer(&mut self, expr: &Expr, expected: Option<&Ty>) -> Ty {
        let hint = expected.map(|ty| self.types.base(ty));
        match &expr.kind {
            ExprKind::Int(digits) if digits.parse::<i64>().is_err() => {
                self.misfits(expr.node, format!("{digits} is too large for Int"))
            }
            ExprKind::Int(_) => Ty::Int,
            ExprKind::Float(_) => Ty::Float,
            ExprKind::Text(_) => Ty::Text,
            ExprKind::Bool(_) => Ty::Bool,
            ExprKind::None => match hint {
                Some(Ty::Option(inner)) => Ty::Option(inner),
                _ => self.cannot_infer(expr, expected),
            },
            ExprKind::Some(inner) => match hint {
                Some(Ty::Option(item)) => {
                    self.expect(inner, &item);
                    Ty::Option(item)
                }
                _ => Ty::Option(Rc::new(self.infer(inner, None))),
            },
            ExprKind::Null => {
                let option = matches!(hint, Some(Ty::Option(_)));
                self.error(expr.node, Fault::Null { option })
            }
            ExprKind::It => match self.it.clone() {
                Some(ty) => ty,
                None => self.error(expr.node, Fault::Predicate),
            },
            ExprKind::Name(name) => self.name(name),
            ExprKind::Call(callee, args) => self.call(expr, callee, args, expected),
            ExprKind::Make(head, variant, args) => self.construction(expr, head, variant.as_deref(), args.as_deref()),
            ExprKind::Emit(effect, args) => self.emit_value(expr, effect, args),
            ExprKind::Assign(slot, value) => {
                let fault = match self.context {
                    ExprContext::Fn => self.impure("writes", Layer::Slot, &slot.name),
                    _ => Fault::WriteOutside { slot: slot.name.clone() },
                };
                self.infer_quietly(value);
                self.error(expr.node, fault)
            }
            ExprKind::Lambda(..) | ExprKind::LambdaList(..) => self.error(expr.node, Fault::Lambda),
            ExprKind::Neg(inner) => self.negation(inner),
            ExprKind::Not(inner) => {
                self.expect(inner, &Ty::Bool);
                Ty::Bool
            }
            ExprKind::Binary(op, left, right) => self.binary(expr, *op, left, right, hint.as_ref()),
            ExprKind::Field(inner, name) => self.field(expr, inner, name),
            ExprKind::If(condition, yes, no) => {
                self.expect(condition, &Ty::Bool);
                let ty = self.infer(yes, expected);
                self.expect(no, &ty);
                ty
            }
            ExprKind::Match(subject, arms) => self.matching(expr, subject, arms, None),
            ExprKind::List(items) => self.list(expr, items, hint, expected),
            ExprKind::Map(pairs) => self.map(expr, pairs, hint, expected),
        }
    }

    /// Types an expression whose own fault has been reported, for the faults inside it.
    fn infer_quietly(&mut self, expr: &Expr) {
        let depth = self.found.len();
        self.infer(expr, None);
        self.found.truncate(depth);
    }

    fn cannot_infer(&mut self, expr: &Expr, expected: Option<&Ty>) -> Ty {
        let rendered = print::expr(expr);
        match expected {
            Some(Ty::Err) => Ty::Err,
            Some(ty) => {
                let expected = self.types.show(ty);
                self.misfits(expr.node, format!("expected {expected}, found {rendered}"))
            }
            None => self.misfits(expr.node, format!("cannot infer the type of {rendered}")),
        }
    }

    fn list(&mut self, expr: &Expr, items: &[Expr], hint: Option<Ty>, expected: Option<&Ty>) -> Ty {
        match (hint, items.first()) {
            (Some(Ty::List(item)), _) => {
                items.iter().for_each(|value| self.expect(value, &item));
                Ty::List(item)
            }
            (_, None) => self.cannot_infer(expr, expected),
            (_, Some(first)) => {
                let item = self.infer(first, None);
                items[1..].iter().for_each(|value| self.expect(value, &item));
                Ty::List(Rc::new(item))
            }
        }
    }

    fn map(&mut self, expr: &Expr, pairs: &[(Expr, Expr)], hint: Option<Ty>, expected: Option<&Ty>) -> Ty {
        let (key, value) = match (hint, pairs.first()) {
            (Some(Ty::Map(key, value)), _) => (key, value),
            (_, None) => return self.cannot_infer(expr, expected),
            (_, Some((key, value))) => (Rc::new(self.infer(key, None)), Rc::new(self.infer(value, None))),
        };
        for (k, v) in pairs {
            self.expect(k, &key);
            self.expect(v, &value);
        }
        Ty::Map(key, value)
    }

    fn name(&mut self, name: &Ref) -> Ty {
        match name.to {
            To::Local(_) => {
                let local = self.locals.iter().rev().find(|(local, _)| *local == name.name);
                local.map_or(Ty::Err, |(_, ty)| ty.clone())
            }
            To::Def(id) => {
                let ty = self.slot_type(id);
                match self.context {
                    ExprContext::Reducer | ExprContext::Tile => ty,
                    _ => {
                        let fault = self.impure("reads", Layer::Slot, &name.name);
                        self.error(name.node, fault)
                    }
                }
            }
            _ => self.undefined(name),
        }
    }

    fn emit_value(&mut self, expr: &Expr, effect: &Ref, args: &[Arg]) -> Ty {
        if effect.def().is_none() {
            self.undefined(effect);
            return Ty::Err;
        }
        args.iter().for_each(|arg| self.infer_quietly(&arg.value));
        let fault = match self.context {
            ExprContext::Reducer => Fault::DirectCall { effect: effect.name.clone(), statement: false },
            ExprContext::Tile => Fault::EmitInTile { tile: self.name.clone(), effect: effect.name.clone() },
            _ => self.impure("emits", Layer::Effect, &effect.name),
        };
        self.error(expr.node, fault)
    }

    fn negation(&mut self, inner: &Expr) -> Ty {
        if let ExprKind::Int(digits) = &inner.kind
            && format!("-{digits}").parse::<i64>().is_ok()
        {
            return Ty::Int;
        }
        let found = self.infer(inner, None);
        match self.types.base(&found) {
            ty @ (Ty::Int | Ty::Float | Ty::Err) => ty,
            _ => {
                let rendered = self.types.show(&found);
                self.misfits(inner.node, format!("expected Int or Float, found {rendered}"))
            }
        }
    }

    fn binary(&mut self, expr: &Expr, op: Binary, left: &Expr, right: &Expr, hint: Option<&Ty>) -> Ty {
        match op {
            Binary::And | Binary::Or => {
                self.expect(left, &Ty::Bool);
                self.expect(right, &Ty::Bool);
                Ty::Bool
            }
            Binary::Eq | Binary::Ne => {
                // A side that cannot speak for itself waits for the other.
                let (first, second) = if is_open(left) { (right, left) } else { (left, right) };
                let ty = self.infer(first, None);
                let ty = self.types.base(&ty);
                self.expect(second, &ty);
                Ty::Bool
            }
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => {
                self.operands(left, right, &[Ty::Int, Ty::Float, Ty::Text], false, None);
                Ty::Bool
            }
            Binary::In => self.membership(left, right),
            Binary::Add => self.operands(left, right, &[Ty::Int, Ty::Float, Ty::Text], true, hint),
            Binary::Rem => self.operands(left, right, &[Ty::Int], false, None),
            Binary::Sub | Binary::Mul | Binary::Div => {
                let _ = expr;
                self.operands(left, right, &[Ty::Int, Ty::Float], false, None)
            }
        }
    }

    /// Types two operands of one of some types, or two lists; returns the type they share.
    fn operands(&mut self, left: &Expr, right: &Expr, allowed: &[Ty], lists: bool, hint: Option<&Ty>) -> Ty {
        let hint = hint.filter(|hint| matches!(hint, Ty::List(_)));
        let (first, second) = if is_open(left) && hint.is_none() { (right, left) } else { (left, right) };
        let found = self.infer(first, hint);
        let ty = self.types.base(&found);
        if ty == Ty::Err {
            self.infer(second, None);
            return Ty::Err;
        }
        if allowed.contains(&ty) || (lists && matches!(ty, Ty::List(_))) {
            self.expect(second, &ty);
            return ty;
        }
        let mut words: Vec<String> = allowed.iter().map(|ty| self.types.show(ty)).collect();
        if lists {
            words.push("List".to_owned());
        }
        let (words, rendered) = (words.join(" or "), self.types.show(&found));
        self.infer_quietly(second);
        self.misfits(first.node, format!("expected {words}, found {rendered}"))
    }

    fn membership(&mut self, left: &Expr, right: &Expr) -> Ty {
        let found = self.infer(right, None);
        match self.types.base(&found) {
            Ty::List(item) | Ty::Set(item) | Ty::Map(item, _) => self.expect(left, &item),
            Ty::Err => {
                self.infer(left, None);
            }
            _ => {
                let rendered = self.types.show(&found);
                self.misfits(right.node, format!("expected List, Set or Map, found {rendered}"));
            }
        }
        Ty::Bool
    }

    /// Returns the fields of a record type, also behind aliases, refinements and nominal layers.
    pub(super) fn record_fields(&self, ty: &Ty) -> Option<Vec<(String, Ty)>> {
        match self.types.raw(ty) {
            Ty::Named(id) => match self.types.shape(id) {
                Shape::Record(fields) => Some(fields),
                _ => None,
            },
            _ => None,
        }
    }

    fn field(&mut self, expr: &Expr, inner: &Expr, name: &str) -> Ty {
        let found = self.infer(inner, None);
        if self.types.raw(&found) == Ty::Err {
            return Ty::Err;
        }
        let fields = self.record_fields(&found);
        let rendered = self.types.show(&found);
        match fields.map(|fields| fields.into_iter().find(|(field, _)| field == name)) {
            Some(Some((_, ty))) => ty,
            Some(None) => self.misfits(expr.node, format!("{rendered} has no field '{name}'")),
            None => self.misfits(expr.node, format!("expected a record with field '{name}', found {rendered}")),
        }
    }

    fn construction(&mut self, expr: &Expr, head: &Ref, variant: Option<&str>, args: Option<&[Arg]>) -> Ty {
        let id = match head.to {
            To::Def(id) => id,
            To::Builtin if head.name == "Unit" && variant.is_none() && args.is_none() => return Ty::Unit,
            To::Builtin => {
                let rendered = print::expr(expr);
                return self.misfits(expr.node, format!("{rendered} constructs no value"));
            }
            _ => {
                args.unwrap_or(&[]).iter().for_each(|arg| self.infer_quietly(&arg.value));
                return self.undefined(head);
            }
        };
        let ty = Ty::Named(id);
        let shape = match self.types.plain(&ty) {
            Ty::Named(id) => self.types.shape(id),
            other => Shape::Alias(other),
        };
        let given = args.unwrap_or(&[]);
        match (shape, variant) {
            (Shape::Unknown, _) => return Ty::Err,
            (Shape::Record(fields), None) if args.is_some() => self.fill(expr, &head.name, &fields, given, true),
            (Shape::Union(variants), Some(name)) => match variants.into_iter().find(|(variant, _)| variant == name) {
                Some((_, fields)) => self.fill(expr, name, &fields, given, false),
                None => {
                    let rendered = self.types.show(&ty);
                    return self.misfits(expr.node, format!("{rendered} has no variant '{name}'"));
                }
            },
            (Shape::Nominal(base, _) | Shape::Alias(base), None) if given.len() == 1 && given[0].name.is_none() => {
                self.expect(&given[0].value, &base);
            }
            (Shape::Refined(..), None) if given.len() == 1 && given[0].name.is_none() => {
                self.expect(&given[0].value, &ty);
            }
            _ => {
                let (rendered, text) = (self.types.show(&ty), print::expr(expr));
                return self.misfits(expr.node, format!("{text} does not construct a {rendered}"));
            }
        }
        ty
    }

    /// Checks given arguments against named parts; a record's must be named.
    pub(super) fn fill(&mut self, expr: &Expr, what: &str, wanted: &[(String, Ty)], given: &[Arg], named: bool) {
        self.fill_at(expr.node, what, wanted, given, named);
    }

    /// Reports a fault at a node that is no expression.
    pub(super) fn fill_at(&mut self, node: u32, what: &str, wanted: &[(String, Ty)], given: &[Arg], named: bool) {
        let mut filled = vec![false; wanted.len()];
        for (index, arg) in given.iter().enumerate() {
            let at = match &arg.name {
                Some(name) => wanted.iter().position(|(wanted, _)| wanted == name),
                None if named => None,
                None => Some(index).filter(|index| *index < wanted.len()),
            };
            match at {
                Some(at) if filled[at] => {
                    self.infer_quietly(&arg.value);
                    self.report(
                        arg.value.node,
                        Fault::Duplicate { what: "argument".into(), name: wanted[at].0.clone() },
                    );
                }
                Some(at) => {
                    filled[at] = true;
                    self.expect(&arg.value, &wanted[at].1);
                }
                None => {
                    self.infer_quietly(&arg.value);
                    let message = match &arg.name {
                        Some(name) => format!("{what} takes no '{name}'"),
                        None if named => format!("the fields of {what} need names"),
                        None => format!("{what} takes {} arguments, {} are given", wanted.len(), given.len()),
                    };
                    self.misfits(arg.value.node, message);
                    return;
                }
            }
        }
        let missing: Vec<&str> =
            wanted.iter().zip(&filled).filter(|(_, filled)| !**filled).map(|((name, _), _)| name.as_str()).collect();
        if !missing.is_empty() {
            self.misfits(node, format!("{what} needs '{}'", missing.join("', '")));
        }
    }

    pub(super) fn impure(&self, verb: &'static str, layer: Layer, name: &str) -> Fault {
        Fault::Impure { who: format!("{} {}", self.layer, self.name), verb: verb.into(), layer, name: name.to_owned() }
    }
}

/// Returns whether an expression says nothing of its type.
pub(super) fn is_open(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::None => true,
        ExprKind::List(items) => items.is_empty(),
        ExprKind::Map(pairs) => pairs.is_empty(),
        ExprKind::Call(callee, args) => callee.name == "set" && args.iter().all(|arg| is_open(&arg.value)),
        _ => false,
    }
}

/// Literals, their arithmetic, and constructions of constants.
fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::None => true,
        ExprKind::Some(inner) | ExprKind::Neg(inner) => is_constant(inner),
        ExprKind::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Rem, a, b) => {
            is_constant(a) && is_constant(b)
        }
        ExprKind::Make(_, _, args) => args.iter().flatten().all(|arg| is_constant(&arg.value)),
        ExprKind::List(items) => items.iter().all(is_constant),
        ExprKind::Map(pairs) => pairs.iter().all(|(key, value)| is_constant(key) && is_constant(value)),
        _ => false,
    }
}
