//! Prints bodies and their parts in canonical form.

use super::printed::Printed;
use crate::strand::lang::ast::{
    Action, Arg, Body, Element, Field, Guard, Prim, Ref, Selector, Stmt, Type, TypeBody, Variant,
};
use crate::strand::lang::names::is_upper;

impl Printed {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn close(&mut self, node: u32, start: usize) {
        if node != 0 {
            self.spans.push((node, start, self.text.len()));
        }
    }

    pub(super) fn separated<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            each(self, item);
        }
    }

    pub(super) fn reference(&mut self, reference: &Ref) {
        let start = self.text.len();
        self.push(&reference.name);
        self.close(reference.node, start);
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        self.reference(&ty.head);
        if !ty.args.is_empty() {
            self.push("(");
            self.separated(&ty.args, Printed::ty);
            self.push(")");
        }
    }

    pub(super) fn field(&mut self, field: &Field) {
        self.push(&field.name);
        self.push(": ");
        self.ty(&field.ty);
    }

    pub(super) fn fields(&mut self, fields: &[Field]) {
        self.separated(fields, Printed::field);
    }

    pub(super) fn input(&mut self, field: &Field) {
        self.push("(");
        self.field(field);
        self.push(")");
    }

    pub(super) fn variant(&mut self, variant: &Variant) {
        self.push(&variant.name);
        if !variant.fields.is_empty() {
            self.push("(");
            self.fields(&variant.fields);
            self.push(")");
        }
    }

    pub(super) fn caps(&mut self, caps: &[String]) {
        self.push("[");
        self.separated(caps, |p, cap| p.push(cap));
        self.push("]");
    }

    pub(super) fn prim(&mut self, prim: &Prim) {
        let start = self.text.len();
        self.push(&prim.name);
        self.args(&prim.args);
        self.close(prim.node, start);
    }

    pub(super) fn selector(&mut self, selector: &Selector) {
        let start = self.text.len();
        self.push(&selector.tile.name);
        self.push(".");
        self.push(&selector.event);
        self.close(selector.tile.node, start);
    }

    pub(super) fn args(&mut self, args: &[Arg]) {
        self.push("(");
        self.separated(args, |p, arg| {
            if let Some(name) = &arg.name {
                p.push(name);
                p.push("=");
            }
            p.expr(&arg.value, 0);
        });
        self.push(")");
    }

    pub(super) fn guard(&mut self, guard: &Guard) {
        match guard {
            Guard::If(expr) => self.expr(expr, 0),
            Guard::Some(name, expr) => {
                self.push("some(");
                self.push(name);
                self.push(") = ");
                self.expr(expr, 0);
            }
        }
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        let start = self.text.len();
        match &stmt.action {
            Action::Write(target, value) => {
                self.reference(target);
                self.push(" := ");
                self.expr(value, 0);
            }
            Action::Emit { effect, args, ok, err } => {
                self.push("emit ");
                self.reference(effect);
                self.args(args);
                for (label, reducer) in [(" ok=", ok), (" err=", err)] {
                    if let Some(reducer) = reducer {
                        self.push(label);
                        self.reference(reducer);
                    }
                }
            }
            Action::Call(callee, args) => {
                self.reference(callee);
                self.args(args);
            }
        }
        if let Some(guard) = &stmt.guard {
            self.push(" when ");
            self.guard(guard);
        }
        self.close(stmt.node, start);
    }

    pub(super) fn element_head(&mut self, element: &Element) {
        let start = self.text.len();
        self.reference(&element.head);
        if !element.args.is_empty() {
            self.push("(");
            self.separated(&element.args, |p, (name, value)| {
                p.push(name);
                p.push("=");
                p.expr(value, 0);
            });
            self.push(")");
        } else if is_upper(&element.head.name) && element.children.is_empty() {
            self.push("()");
        }
        self.close(element.node, start);
    }

    pub(super) fn element(&mut self, element: &Element, indent: usize) {
        self.push(&"  ".repeat(indent));
        self.element_head(element);
        if element.children.is_empty() {
            return;
        }
        self.push(" {\n");
        for child in &element.children {
            self.element(child, indent + 1);
            self.push("\n");
        }
        self.push(&"  ".repeat(indent));
        self.push("}");
    }

    pub(super) fn body(&mut self, body: &Body) {
        match body {
            Body::Type(body) => self.type_body(body),
            Body::Slot { ty, init } => {
                self.ty(ty);
                self.push(" = ");
                self.expr(init, 0);
            }
            Body::Effect { params, returns, err, needs, prim } => {
                self.push("(");
                self.fields(params);
                self.push(") -> ");
                self.ty(returns);
                if let Some(err) = err {
                    self.push(" err=");
                    self.ty(err);
                }
                self.push(" needs=");
                self.caps(needs);
                self.push(" do=");
                self.prim(prim);
            }
            Body::Reducer { on, input, stmts } => {
                if let Some(on) = on {
                    self.push("on=");
                    self.selector(on);
                    self.push("\n");
                }
                if let Some(input) = input {
                    self.push("in=");
                    self.input(input);
                    self.push("\n");
                }
                self.push("do=");
                for stmt in stmts {
                    self.push("\n  ");
                    self.stmt(stmt);
                }
            }
            Body::Tile { params, root } => {
                if !params.is_empty() {
                    self.push("(");
                    self.fields(params);
                    self.push(")\n");
                }
                self.element(root, 0);
            }
            Body::Fn { params, returns, expr } => {
                self.push("(");
                self.fields(params);
                self.push(") -> ");
                self.ty(returns);
                self.push(" = ");
                self.expr(expr, 0);
            }
        }
    }

    pub(super) fn type_body(&mut self, body: &TypeBody) {
        match body {
            TypeBody::Plain { nominal, base, pred } => {
                if *nominal {
                    self.push("nominal ");
                }
                self.ty(base);
                if let Some(pred) = pred {
                    self.push(" where ");
                    self.expr(pred, 0);
                }
            }
            TypeBody::Record(fields) if fields.is_empty() => self.push("{}"),
            TypeBody::Record(fields) => {
                self.push("{\n");
                for field in fields {
                    self.push("  ");
                    self.field(field);
                    self.push(",\n");
                }
                self.push("}");
            }
            TypeBody::Union(variants) if variants.is_empty() => self.push("never"),
            TypeBody::Union(variants) => {
                for (index, variant) in variants.iter().enumerate() {
                    self.push(if index == 0 { "| " } else { "\n| " });
                    self.variant(variant);
                }
            }
        }
    }
}
