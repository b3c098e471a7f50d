//! Calls: of fns, of built-in functions, and of effects that should have been emitted.

use std::rc::Rc;

use super::checker::Checker;
use super::expr::is_open;
use super::fault::Fault;
use super::types::{Shape, Ty};
use crate::strand::id::{DefId, Layer};
use crate::strand::lang::ast::{Arg, Body, Expr, ExprKind, Ref, To};
use crate::strand::lang::print;

impl Checker<'_> {
    pub(super) fn call(&mut self, expr: &Expr, callee: &Ref, args: &[Arg], expected: Option<&Ty>) -> Ty {
        match callee.to {
            To::Builtin => self.builtin(expr, &callee.name, args, expected),
            To::Def(_) if callee.layer == Layer::Effect => {
                args.iter().for_each(|arg| {
                    self.infer(&arg.value, None);
                });
                self.error(expr.node, Fault::DirectCall { effect: callee.name.clone(), statement: false })
            }
            To::Def(id) => {
                let Some((params, returns)) = self.signature(id) else { return Ty::Err };
                self.fill(expr, &callee.name, &params, args, false);
                returns
            }
            _ => {
                let ty = self.undefined(callee);
                for arg in args.iter().filter(|arg| !is_open(&arg.value)) {
                    self.infer(&arg.value, None);
                }
                ty
            }
        }
    }

    /// Returns the parameters and the result of a fn.
    pub(super) fn signature(&self, id: DefId) -> Option<(Vec<(String, Ty)>, Ty)> {
        match &self.types.state().reading(id)?.body {
            Body::Fn { params, returns, .. } => {
                let params = params.iter().map(|param| (param.name.clone(), self.types.lower(&param.ty))).collect();
                Some((params, self.types.lower(returns)))
            }
            _ => None,
        }
    }

    fn builtin(&mut self, expr: &Expr, name: &str, args: &[Arg], expected: Option<&Ty>) -> Ty {
        if name != "with"
            && let Some(arg) = args.iter().find(|arg| arg.name.is_some())
        {
            return self.misfits(arg.value.node, format!("{name} takes no named arguments"));
        }
        let counts = match name {
            "len" | "text" | "float" | "floor" | "upper" | "lower" | "trim" | "abs" | "keys" | "values" | "first"
            | "sum" | "set" | "is_some" | "raw" => 1..=1,
            "put" => 3..=3,
            "update" => 3..=usize::MAX,
            "map" | "filter" | "count" => 2..=usize::MAX,
            "with" => 1..=usize::MAX,
            _ => 2..=2,
        };
        if !counts.contains(&args.len()) {
            let wants = if *counts.end() == usize::MAX {
                format!("at least {}", counts.start())
            } else {
                counts.start().to_string()
            };
            return self.misfits(expr.node, format!("{name} takes {wants} arguments, {} are given", args.len()));
        }
        let values: Vec<&Expr> = args.iter().map(|arg| &arg.value).collect();
        match name {
            "with" => self.with(args),
            "refine" => self.refine(expr, &values),
            "map" | "filter" | "count" | "sort_by" | "update" => self.with_fn(expr, name, &values),
            "text" | "len" | "float" | "floor" | "upper" | "lower" | "trim" | "contains" | "starts_with"
            | "matches" | "abs" | "min" | "max" | "sum" | "raw" => self.plain_builtin(name, &values),
            _ => self.container(name, &values, expected),
        }
    }

    fn plain_builtin(&mut self, name: &str, args: &[&Expr]) -> Ty {
        match name {
            "float" => {
                self.expect(args[0], &Ty::Int);
                Ty::Float
            }
            "floor" => {
                self.expect(args[0], &Ty::Float);
                Ty::Int
            }
            "upper" | "lower" | "trim" => {
                self.expect(args[0], &Ty::Text);
                Ty::Text
            }
            "contains" | "starts_with" => {
                args.iter().for_each(|arg| self.expect(arg, &Ty::Text));
                Ty::Bool
            }
            "matches" => {
                self.expect(args[0], &Ty::Text);
                match &args[1].kind {
                    ExprKind::Text(pattern) if regex::Regex::new(pattern).is_ok() => Ty::Bool,
                    ExprKind::Text(_) => self.misfits(args[1].node, "invalid regex"),
                    _ => self.misfits(args[1].node, "matches needs its pattern as a text literal"),
                }
            }
            "sum" => {
                self.expect(args[0], &Ty::List(Rc::new(Ty::Int)));
                Ty::Int
            }
            _ => self.builtin_by_type(name, args),
        }
    }

    /// Types functions whose result follows from the type of what they are given.
    fn builtin_by_type(&mut self, name: &str, args: &[&Expr]) -> Ty {
        match name {
            "raw" => {
                let found = self.infer(args[0], None);
                match self.types.base(&found) {
                    Ty::Named(id) => match self.types.shape(id) {
                        Shape::Nominal(base, _) => base,
                        _ => self.not_a(args[0], "a nominal type", &found),
                    },
                    Ty::Err => Ty::Err,
                    _ => self.not_a(args[0], "a nominal type", &found),
                }
            }
            "text" => {
                let found = self.infer(args[0], None);
                match self.types.raw(&found) {
                    Ty::Int | Ty::Float | Ty::Bool | Ty::Text | Ty::Err => Ty::Text,
                    _ => self.not_a(args[0], "Int, Float, Bool or Text", &found),
                }
            }
            "len" => {
                let found = self.infer(args[0], None);
                match self.types.base(&found) {
                    Ty::Text | Ty::List(_) | Ty::Set(_) | Ty::Map(..) | Ty::Err => Ty::Int,
                    _ => self.not_a(args[0], "Text, List, Set or Map", &found),
                }
            }
            _ => {
                let found = self.infer(args[0], None);
                let ty = self.types.base(&found);
                if !matches!(ty, Ty::Int | Ty::Float | Ty::Err) {
                    return self.not_a(args[0], "Int or Float", &found);
                }
                args[1..].iter().for_each(|arg| self.expect(arg, &ty));
                ty
            }
        }
    }

    fn not_a(&mut self, expr: &Expr, wanted: &str, found: &Ty) -> Ty {
        let rendered = self.types.show(found);
        self.misfits(expr.node, format!("expected {wanted}, found {rendered}"))
    }

    /// Types functions of lists, sets, maps and options.
    fn container(&mut self, name: &str, args: &[&Expr], expected: Option<&Ty>) -> Ty {
        if name == "set" {
            let item = match expected.map(|ty| self.types.base(ty)) {
                Some(Ty::Set(item)) => item,
                _ => match self.infer(args[0], None) {
                    Ty::List(item) => item,
                    Ty::Err => return Ty::Err,
                    found => return self.not_a(args[0], "List", &found),
                },
            };
            self.expect(args[0], &Ty::List(item.clone()));
            return Ty::Set(item);
        }
        // An empty container takes its type from what is expected of the whole.
        let hint = expected.filter(|_| matches!(name, "put" | "del" | "append" | "add" | "drop"));
        let found = self.infer(args[0], hint);
        let ty = self.types.base(&found);
        let rest = &args[1..];
        match (name, &ty) {
            (_, Ty::Err) => {
                for arg in rest.iter().filter(|arg| !is_open(arg)) {
                    self.infer(arg, None);
                }
                return Ty::Err;
            }
            ("keys", Ty::Map(key, _)) => return Ty::List(key.clone()),
            ("values", Ty::Map(_, value)) => return Ty::List(value.clone()),
            ("has", Ty::Map(key, _)) => self.expect(rest[0], key),
            ("get", Ty::Map(key, value)) => {
                self.expect(rest[0], key);
                return Ty::Option(value.clone());
            }
            ("put", Ty::Map(key, value)) => {
                self.expect(rest[0], key);
                self.expect(rest[1], value);
            }
            ("del", Ty::Map(key, _)) => self.expect(rest[0], key),
            ("append", Ty::List(item)) | ("add" | "drop", Ty::Set(item)) => self.expect(rest[0], item),
            ("first", Ty::List(item)) => return Ty::Option(item.clone()),
            ("at", Ty::List(item)) => {
                self.expect(rest[0], &Ty::Int);
                return Ty::Option(item.clone());
            }
            ("or_else", Ty::Option(item)) => {
                self.expect(rest[0], item);
                return (**item).clone();
            }
            ("is_some", Ty::Option(_)) => {}
            _ => {
                let wanted = match name {
                    "append" | "first" | "at" => "List",
                    "add" | "drop" => "Set",
                    "or_else" | "is_some" => "Option",
                    _ => "Map",
                };
                return self.not_a(args[0], wanted, &found);
            }
        }
        if matches!(name, "has" | "is_some") { Ty::Bool } else { ty }
    }

    fn with(&mut self, args: &[Arg]) -> Ty {
        let found = self.infer(&args[0].value, None);
        if self.types.raw(&found) == Ty::Err {
            return Ty::Err;
        }
        let Some(fields) = self.record_fields(&found) else {
            return self.not_a(&args[0].value, "a record", &found);
        };
        let mut seen: Vec<&str> = Vec::new();
        for arg in &args[1..] {
            let name = arg.name.as_deref().unwrap_or("");
            match fields.iter().find(|(field, _)| field == name) {
                Some(_) if seen.contains(&name) => {
                    self.report(arg.value.node, Fault::Duplicate { what: "argument".into(), name: name.to_owned() });
                }
                Some((_, ty)) => self.expect(&arg.value, ty),
                None => {
                    let rendered = self.types.show(&found);
                    self.misfits(arg.value.node, format!("{rendered} has no field '{name}'"));
                }
            }
            seen.push(name);
        }
        found
    }

    fn refine(&mut self, expr: &Expr, args: &[&Expr]) -> Ty {
        let ExprKind::Make(head, None, None) = &args[0].kind else {
            return self.misfits(args[0].node, format!("refine needs a type, found {}", print::expr(args[0])));
        };
        let To::Def(id) = head.to else {
            if head.to != To::Builtin {
                return self.undefined(head);
            }
            return self.misfits(args[0].node, format!("{} has no predicate", head.name));
        };
        let ty = Ty::Named(id);
        let shape = match self.types.plain(&ty) {
            Ty::Named(id) => self.types.shape(id),
            other => Shape::Alias(other),
        };
        match shape {
            Shape::Refined(base, _) | Shape::Nominal(base, Some(_)) => {
                self.expect(args[1], &base);
                Ty::Option(Rc::new(ty))
            }
            Shape::Unknown => Ty::Err,
            _ => {
                let _ = expr;
                let rendered = self.types.show(&ty);
                self.misfits(args[0].node, format!("{rendered} has no predicate"))
            }
        }
    }

    /// Types built-ins that take the name of a fn, and arguments to pass on.
    fn with_fn(&mut self, expr: &Expr, name: &str, args: &[&Expr]) -> Ty {
        let found = self.infer(args[0], None);
        let ty = self.types.base(&found);
        let (item, at) = match (&ty, name) {
            (Ty::Map(key, value), "update") => {
                self.expect(args[1], key);
                (value.clone(), 2)
            }
            (Ty::List(item), "map" | "filter" | "count" | "sort_by") => (item.clone(), 1),
            (Ty::Err, _) => (Rc::new(Ty::Err), if name == "update" { 2 } else { 1 }),
            (_, "update") => return self.not_a(args[0], "Map", &found),
            _ => return self.not_a(args[0], "List", &found),
        };
        let ExprKind::Name(function) = &args[at].kind else {
            self.infer(args[at], None);
            let reported = matches!(args[at].kind, ExprKind::Lambda(..) | ExprKind::LambdaList(..));
            return if reported {
                Ty::Err
            } else {
                self.misfits(args[at].node, format!("{name} needs the name of a fn"))
            };
        };
        let To::Def(id) = function.to else {
            return self.undefined(function);
        };
        let Some((params, returns)) = self.signature(id) else { return Ty::Err };
        if params.len() != args.len() - at {
            let (wants, given) = (params.len(), args.len() - at);
            return self.misfits(expr.node, format!("{} takes {wants} arguments, {given} are given", function.name));
        }
        // The element is passed first; it has no expression of its own to be fixed.
        if !self.passes(&item, &params[0].1) {
            let (wanted, has) = (self.types.show(&params[0].1), self.types.show(&item));
            return self.misfits(args[at].node, format!("{} takes {wanted}, the elements are {has}", function.name));
        }
        for (arg, (_, ty)) in args[at + 1..].iter().zip(&params[1..]) {
            self.expect(arg, ty);
        }
        match name {
            "map" => Ty::List(Rc::new(returns)),
            "filter" | "count" if self.types.base(&returns) != Ty::Bool && returns != Ty::Err => {
                self.not_a(args[at], "a fn that gives Bool", &returns)
            }
            "count" => Ty::Int,
            "sort_by" if !matches!(self.types.base(&returns), Ty::Int | Ty::Text | Ty::Err) => {
                self.not_a(args[at], "a fn that gives Int or Text", &returns)
            }
            "update" if !self.passes(&returns, &item) => {
                let (wanted, has) = (self.types.show(&item), self.types.show(&returns));
                self.misfits(args[at].node, format!("{} gives {has}, the values are {wanted}", function.name))
            }
            _ => ty,
        }
    }

    /// Returns whether any value of one type is a value of another.
    pub(super) fn passes(&self, from: &Ty, to: &Ty) -> bool {
        let (from, to) = (self.types.plain(from), self.types.plain(to));
        if from == Ty::Err || to == Ty::Err || self.types.equal(&from, &to) {
            return true;
        }
        match from {
            Ty::Named(id) => match self.types.shape(id) {
                Shape::Refined(base, _) => self.passes(&base, &to),
                _ => false,
            },
            _ => false,
        }
    }
}
