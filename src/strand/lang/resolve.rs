//! Names to what they mean: walks a body with its binders in scope, numbers every node, and asks
//! an environment about each name that is not local.

use super::ast::{
    Action, Arg, Body, Element, Expr, ExprKind, Field, Guard, Pattern, Prim, Ref, Selector, Stmt, To, Type, TypeBody,
};
use super::names::{builtin_type, element_args, is_builtin_fn};
use super::place::{Place, Places};
use super::unit::Reg;
use crate::strand::id::Layer;

/// Looks names up for [`resolve`].
pub trait Env {
    /// Resolves a name, looked up in these layers in order. Sets `to` and `layer`, and `name` to the current name of
    /// what was found.
    fn lookup(&mut self, reference: &mut Ref, layers: &[Layer], place: Place);
}

/// Resolves every name of a body and numbers its nodes from 1.
pub fn resolve(body: &mut Body, env: &mut dyn Env) -> Resolved {
    let mut walk = Walk::new(env);
    walk.body(body);
    Resolved { places: walk.places, hidden: walk.hidden }
}

/// The result of resolving a body.
pub struct Resolved {
    /// The place of each node.
    pub places: Places,
    /// The places where a slot is read under a name that a binder in scope has as well: as text, the name means the
    /// binder there.
    pub hidden: Vec<(Place, String)>,
}

/// Returns the places where a slot is read under a name that a binder in scope has as well. `called` gives the name
/// that a slot is called by, where it is another than it was.
pub fn hidden(body: &Body, called: &dyn Fn(&Ref) -> Option<String>) -> Vec<(Place, String)> {
    struct Called<'c>(&'c dyn Fn(&Ref) -> Option<String>);
    impl Env for Called<'_> {
        fn lookup(&mut self, reference: &mut Ref, _: &[Layer], _: Place) {
            if let Some(name) = (self.0)(reference) {
                reference.name = name;
            }
        }
    }
    resolve(&mut body.clone(), &mut Called(called)).hidden
}

const SELECTOR_LAYERS: [Layer; 6] = [Layer::Tile, Layer::Type, Layer::Slot, Layer::Effect, Layer::Reducer, Layer::Fn];

struct Walk<'e> {
    env: &'e mut dyn Env,
    /// Binders in scope, innermost last.
    locals: Vec<(String, u32)>,
    binders: u32,
    places: Places,
    place: Place,
    /// Slots read where a binder has their name.
    hidden: Vec<(Place, String)>,
}

impl<'e> Walk<'e> {
    fn new(env: &'e mut dyn Env) -> Walk<'e> {
        let (locals, places, hidden) = (Vec::new(), Places::default(), Vec::new());
        Walk { env, locals, binders: 0, places, place: Place::Unit(1), hidden }
    }
}

impl Walk<'_> {
    fn number(&mut self) -> u32 {
        self.places.push(self.place)
    }

    fn bind(&mut self, name: &str) {
        self.locals.push((name.to_owned(), self.binders));
        self.binders += 1;
    }

    fn global(&mut self, reference: &mut Ref, layers: &[Layer]) {
        reference.node = self.number();
        self.env.lookup(reference, layers, self.place);
    }

    /// Returns the binder a bare name means. A name once found to be global stays so, whatever it is called by now.
    fn local(&self, name: &Ref) -> Option<u32> {
        if name.bound.is_some() && name.to != To::Unset {
            return None;
        }
        self.locals.iter().rev().find(|(local, _)| *local == name.name).map(|(_, index)| *index)
    }

    fn builtin(&mut self, reference: &mut Ref) {
        reference.node = self.number();
        reference.to = To::Builtin;
    }

    fn ty(&mut self, ty: &mut Type) {
        if builtin_type(&ty.head.name).is_some() {
            self.builtin(&mut ty.head);
        } else {
            self.global(&mut ty.head, &[Layer::Type]);
        }
        for arg in &mut ty.args {
            self.ty(arg);
        }
    }

    fn params(&mut self, fields: &mut [Field]) {
        for field in fields {
            self.ty(&mut field.ty);
            self.bind(&field.name);
        }
    }

    fn body(&mut self, body: &mut Body) {
        match body {
            Body::Type(body) => self.type_body(body),
            Body::Slot { ty, init } => {
                self.ty(ty);
                self.expr(init);
            }
            Body::Effect { params, returns, err, prim, .. } => {
                self.params(params);
                self.ty(returns);
                if let Some(err) = err {
                    self.ty(err);
                }
                self.prim(prim);
            }
            Body::Reducer { on, input, stmts } => self.reducer(on, input, stmts),
            Body::Tile { params, root } => {
                self.place = Place::Header("params");
                self.params(params);
                let mut unit = 0;
                self.element(root, &mut unit);
            }
            Body::Fn { params, returns, expr } => {
                self.params(params);
                self.ty(returns);
                self.expr(expr);
            }
        }
    }

    fn type_body(&mut self, body: &mut TypeBody) {
        match body {
            TypeBody::Plain { base, pred, .. } => {
                self.ty(base);
                if let Some(pred) = pred {
                    self.expr(pred);
                }
            }
            TypeBody::Record(fields) => {
                for (index, field) in fields.iter_mut().enumerate() {
                    self.place = Place::Unit(index as u32 + 1);
                    self.ty(&mut field.ty);
                }
            }
            TypeBody::Union(variants) => {
                for (index, variant) in variants.iter_mut().enumerate() {
                    self.place = Place::Unit(index as u32 + 1);
                    for field in &mut variant.fields {
                        self.ty(&mut field.ty);
                    }
                }
            }
        }
    }

    fn prim(&mut self, prim: &mut Prim) {
        prim.node = self.number();
        self.args(&mut prim.args);
    }

    fn reducer(&mut self, on: &mut Option<Selector>, input: &mut Option<Field>, stmts: &mut [Stmt]) {
        if let Some(on) = on {
            self.place = Place::Header("on");
            self.global(&mut on.tile, &SELECTOR_LAYERS);
        }
        if let Some(input) = input {
            self.place = Place::Header("in");
            self.params(std::slice::from_mut(input));
        }
        for (index, stmt) in stmts.iter_mut().enumerate() {
            self.place = Place::Unit(index as u32 + 1);
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        stmt.node = self.number();
        let depth = self.locals.len();
        match &mut stmt.guard {
            Some(Guard::If(expr)) => self.expr(expr),
            Some(Guard::Some(name, expr)) => {
                self.expr(expr);
                self.bind(name);
            }
            None => {}
        }
        match &mut stmt.action {
            Action::Write(target, value) => {
                self.global(target, &[Layer::Slot]);
                self.expr(value);
            }
            Action::Emit { effect, args, ok, err } => {
                self.global(effect, &[Layer::Effect]);
                self.args(args);
                for reducer in [ok, err].into_iter().flatten() {
                    self.global(reducer, &[Layer::Reducer]);
                }
            }
            Action::Call(callee, args) => self.call(callee, args),
        }
        self.locals.truncate(depth);
    }

    fn element(&mut self, element: &mut Element, unit: &mut u32) {
        *unit += 1;
        self.place = Place::Unit(*unit);
        element.node = self.number();
        let builtin = element_args(&element.head.name).is_some();
        if builtin {
            self.builtin(&mut element.head);
        } else {
            self.global(&mut element.head, &[Layer::Tile]);
        }
        let mut item = None;
        for (name, value) in &mut element.args {
            match (&mut value.kind, name.as_str()) {
                (ExprKind::Name(label), "event") if builtin => label.node = self.number(),
                (ExprKind::Name(label), "item") if builtin => {
                    label.node = self.number();
                    item = Some(label.name.clone());
                }
                (ExprKind::Name(slot), "bind") if builtin => {
                    value.node = self.number();
                    self.global(slot, &[Layer::Slot]);
                }
                _ => self.expr(value),
            }
        }
        let depth = self.locals.len();
        if let Some(item) = item {
            self.bind(&item);
        }
        for child in &mut element.children {
            self.element(child, unit);
        }
        self.locals.truncate(depth);
    }

    fn args(&mut self, args: &mut [Arg]) {
        for arg in args {
            self.expr(&mut arg.value);
        }
    }

    fn call(&mut self, callee: &mut Ref, args: &mut [Arg]) {
        if is_builtin_fn(&callee.name) {
            self.builtin(callee);
        } else {
            self.global(callee, &[Layer::Fn, Layer::Effect]);
        }
        self.args(args);
    }

    /// Resolves a bare name: of a binder in scope, else of a slot.
    fn name(&mut self, name: &mut Ref) {
        if let Some(index) = self.local(name) {
            name.to = To::Local(index);
            name.bound = None;
            name.node = self.number();
            return;
        }
        self.global(name, &[Layer::Slot]);
        if self.locals.iter().any(|(local, _)| *local == name.name) {
            self.hidden.push((self.place, name.name.clone()));
        }
    }

    /// Resolves one arm of a match: its binders are in scope in its value.
    fn arm(&mut self, pattern: &Pattern, value: &mut Expr) {
        let depth = self.locals.len();
        match pattern {
            Pattern::Some(name) => self.bind(name),
            Pattern::Variant(_, binders) => binders.iter().for_each(|name| self.bind(name)),
            _ => {}
        }
        self.expr(value);
        self.locals.truncate(depth);
    }

    fn expr(&mut self, expr: &mut Expr) {
        expr.node = self.number();
        match &mut expr.kind {
            ExprKind::Name(name) if name.layer == Layer::Fn => self.global(name, &[Layer::Fn]),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Call(callee, args) => self.call(callee, args),
            ExprKind::Make(head, _, args) => {
                if builtin_type(&head.name).is_some() {
                    self.builtin(head);
                } else {
                    self.global(head, &[Layer::Type]);
                }
                self.args(args.as_deref_mut().unwrap_or(&mut []));
            }
            ExprKind::Emit(effect, args) => {
                self.global(effect, &[Layer::Effect]);
                self.args(args);
            }
            ExprKind::Assign(slot, value) => {
                self.global(slot, &[Layer::Slot]);
                self.expr(value);
            }
            // A lambda is one fault; its names are not looked up.
            ExprKind::Lambda(..) | ExprKind::LambdaList(..) => {}
            ExprKind::Some(inner) | ExprKind::Neg(inner) | ExprKind::Not(inner) | ExprKind::Field(inner, _) => {
                self.expr(inner);
            }
            ExprKind::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::If(condition, yes, no) => {
                self.expr(condition);
                self.expr(yes);
                self.expr(no);
            }
            ExprKind::Match(subject, arms) => {
                self.expr(subject);
                arms.iter_mut().for_each(|(pattern, value)| self.arm(pattern, value));
            }
            ExprKind::List(items) => items.iter_mut().for_each(|item| self.expr(item)),
            ExprKind::Map(pairs) => {
                for (key, value) in pairs {
                    self.expr(key);
                    self.expr(value);
                }
            }
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Null
            | ExprKind::It => {}
        }
    }
}

/// Calls `each` on every name of a register that could be a reference, whatever its scope.
pub fn each_ref(reg: &mut Reg, each: &mut dyn FnMut(&mut Ref)) {
    match reg {
        Reg::Type(ty) => type_refs(ty, each),
        Reg::Expr(expr) => expr_refs(expr, each),
        Reg::Params(fields) => fields.iter_mut().for_each(|field| type_refs(&mut field.ty, each)),
        Reg::Input(field) => type_refs(&mut field.ty, each),
        Reg::Selector(selector) => each(&mut selector.tile),
        Reg::Prim(Prim { args, .. }) | Reg::Args(args) => {
            args.iter_mut().for_each(|arg| expr_refs(&mut arg.value, each))
        }
        Reg::Guard(Guard::If(expr) | Guard::Some(_, expr)) => expr_refs(expr, each),
        Reg::Ref(reference) => each(reference),
        Reg::Caps(_) | Reg::Word(_) => {}
    }
}

/// Calls `each` on every name of a body that could be a reference, whatever its scope.
pub fn each_body_ref(body: &mut Body, each: &mut dyn FnMut(&mut Ref)) {
    match body {
        Body::Type(TypeBody::Plain { base, pred, .. }) => {
            type_refs(base, each);
            pred.iter_mut().for_each(|pred| expr_refs(pred, each));
        }
        Body::Type(TypeBody::Record(fields)) => field_refs(fields, each),
        Body::Type(TypeBody::Union(variants)) => {
            variants.iter_mut().for_each(|variant| field_refs(&mut variant.fields, each));
        }
        Body::Slot { ty, init } => {
            type_refs(ty, each);
            expr_refs(init, each);
        }
        Body::Effect { params, returns, err, prim, .. } => {
            field_refs(params, each);
            type_refs(returns, each);
            err.iter_mut().for_each(|err| type_refs(err, each));
            prim.args.iter_mut().for_each(|arg| expr_refs(&mut arg.value, each));
        }
        Body::Reducer { on, input, stmts } => {
            on.iter_mut().for_each(|on| each(&mut on.tile));
            input.iter_mut().for_each(|input| type_refs(&mut input.ty, each));
            stmts.iter_mut().for_each(|stmt| stmt_refs(stmt, each));
        }
        Body::Tile { params, root } => {
            field_refs(params, each);
            element_refs(root, each);
        }
        Body::Fn { params, returns, expr } => {
            field_refs(params, each);
            type_refs(returns, each);
            expr_refs(expr, each);
        }
    }
}

fn field_refs(fields: &mut [Field], each: &mut dyn FnMut(&mut Ref)) {
    fields.iter_mut().for_each(|field| type_refs(&mut field.ty, each));
}

fn stmt_refs(stmt: &mut Stmt, each: &mut dyn FnMut(&mut Ref)) {
    match &mut stmt.action {
        Action::Write(target, value) => {
            each(target);
            expr_refs(value, each);
        }
        Action::Emit { effect, args, ok, err } => {
            each(effect);
            args.iter_mut().for_each(|arg| expr_refs(&mut arg.value, each));
            [ok, err].into_iter().flatten().for_each(&mut *each);
        }
        Action::Call(callee, args) => {
            each(callee);
            args.iter_mut().for_each(|arg| expr_refs(&mut arg.value, each));
        }
    }
    if let Some(Guard::If(expr) | Guard::Some(_, expr)) = &mut stmt.guard {
        expr_refs(expr, each);
    }
}

fn element_refs(element: &mut Element, each: &mut dyn FnMut(&mut Ref)) {
    each(&mut element.head);
    element.args.iter_mut().for_each(|(_, value)| expr_refs(value, each));
    element.children.iter_mut().for_each(|child| element_refs(child, each));
}

fn type_refs(ty: &mut Type, each: &mut dyn FnMut(&mut Ref)) {
    each(&mut ty.head);
    ty.args.iter_mut().for_each(|arg| type_refs(arg, each));
}

fn expr_refs(expr: &mut Expr, each: &mut dyn FnMut(&mut Ref)) {
    match &mut expr.kind {
        ExprKind::Name(name) => each(name),
        ExprKind::Call(head, args) | ExprKind::Emit(head, args) => {
            each(head);
            args.iter_mut().for_each(|arg| expr_refs(&mut arg.value, each));
        }
        ExprKind::Make(head, _, args) => {
            each(head);
            args.iter_mut().flatten().for_each(|arg| expr_refs(&mut arg.value, each));
        }
        ExprKind::Assign(head, value) => {
            each(head);
            expr_refs(value, each);
        }
        ExprKind::Some(inner) | ExprKind::Neg(inner) | ExprKind::Not(inner) | ExprKind::Field(inner, _) => {
            expr_refs(inner, each);
        }
        ExprKind::Binary(_, left, right) => {
            expr_refs(left, each);
            expr_refs(right, each);
        }
        ExprKind::If(condition, yes, no) => {
            for part in [condition, yes, no] {
                expr_refs(part, each);
            }
        }
        ExprKind::Match(subject, arms) => {
            expr_refs(subject, each);
            arms.iter_mut().for_each(|(_, value)| expr_refs(value, each));
        }
        ExprKind::List(items) => items.iter_mut().for_each(|item| expr_refs(item, each)),
        ExprKind::Map(pairs) => {
            for (key, value) in pairs {
                expr_refs(key, each);
                expr_refs(value, each);
            }
        }
        ExprKind::Lambda(..)
        | ExprKind::LambdaList(..)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Text(_)
        | ExprKind::Bool(_)
        | ExprKind::None
        | ExprKind::Null
        | ExprKind::It => {}
    }
}
