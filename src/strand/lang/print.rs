//! Canonical text. Printing can also note where each numbered node came to stand.

use super::ast::{
    Action, Arg, Binary, Body, Definition, Element, Expr, ExprKind, Field, Guard, Pattern, Prim, Ref, Selector, Stmt,
    Type, TypeBody, Variant,
};
use super::names::is_upper;
use super::token::escape;
use super::unit::Reg;
use crate::strand::id::Layer;

/// A text with the byte ranges of the nodes in it.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// Node number, start, end; only nodes that have a number.
    pub spans: Vec<(u32, usize, usize)>,
}

impl Printed {
    /// The byte range of a node.
    pub fn span(&self, node: u32) -> Option<(usize, usize)> {
        self.spans.iter().find(|(found, _, _)| *found == node).map(|(_, start, end)| (*start, *end))
    }
}

/// The text of a body without `layer name =`, not indented.
pub fn body(body: &Body) -> String {
    let mut p = Printed::default();
    p.body(body);
    p.text
}

/// The text of a whole definition with its doc lines, ending in a newline.
pub fn definition(definition: &Definition) -> String {
    whole(definition.layer, &definition.name, &definition.doc, &definition.body)
}

/// The text of a definition given in parts.
pub fn whole(layer: Layer, name: &str, doc: &str, body: &Body) -> String {
    let mut out = String::new();
    if !doc.is_empty() {
        for line in doc.split('\n') {
            out.push_str(if line.is_empty() { "##" } else { "## " });
            out.push_str(line);
            out.push('\n');
        }
    }
    let text = self::body(body);
    out.push_str(&format!("{layer} {name} ="));
    let (first, rest) = match body {
        Body::Reducer { .. } => ("", text.as_str()),
        Body::Type(TypeBody::Union(variants)) if !variants.is_empty() => ("", text.as_str()),
        Body::Tile { params, .. } if params.is_empty() => ("", text.as_str()),
        Body::Tile { .. } => text.split_once('\n').unwrap_or((&text, "")),
        _ => (text.as_str(), ""),
    };
    if !first.is_empty() {
        out.push(' ');
        out.push_str(first);
    }
    for line in rest.lines() {
        out.push_str("\n  ");
        out.push_str(line);
    }
    out.push('\n');
    out
}

/// One unit by its number from 1, with spans. Elements are printed without their children.
pub fn unit(body: &Body, number: usize) -> Option<Printed> {
    let mut p = Printed::default();
    let index = number.checked_sub(1)?;
    match body {
        Body::Type(TypeBody::Record(fields)) => p.field(fields.get(index)?),
        Body::Type(TypeBody::Union(variants)) => p.variant(variants.get(index)?),
        Body::Reducer { stmts, .. } => p.stmt(stmts.get(index)?),
        Body::Tile { root, .. } => p.element_head(element(root, &mut number.clone())?),
        _ if index == 0 => p.body(body),
        _ => return None,
    }
    Some(p)
}

/// The n-th element in preorder, `n` counted down to 0.
pub fn element<'b>(root: &'b Element, n: &mut usize) -> Option<&'b Element> {
    *n -= 1;
    if *n == 0 {
        return Some(root);
    }
    root.children.iter().find_map(|child| element(child, n))
}

/// A header register of a body, with spans; `None` if it is not set.
pub fn header(body: &Body, register: &str) -> Option<Printed> {
    let mut p = Printed::default();
    match (body, register) {
        (Body::Type(TypeBody::Plain { base, .. }), "base") => p.ty(base),
        (Body::Type(TypeBody::Plain { pred: Some(pred), .. }), "where") => p.expr(pred, 0),
        (Body::Slot { ty, .. }, "type") => p.ty(ty),
        (Body::Slot { init, .. }, "init") => p.expr(init, 0),
        (Body::Effect { params, .. } | Body::Fn { params, .. } | Body::Tile { params, .. }, "params") => {
            p.fields(params);
        }
        (Body::Effect { returns, .. } | Body::Fn { returns, .. }, "returns") => p.ty(returns),
        (Body::Effect { err: Some(err), .. }, "err") => p.ty(err),
        (Body::Effect { needs, .. }, "needs") => p.caps(needs),
        (Body::Effect { prim, .. }, "do") => p.prim(prim),
        (Body::Reducer { on: Some(on), .. }, "on") => p.selector(on),
        (Body::Reducer { input: Some(input), .. }, "in") => p.input(input),
        (Body::Fn { expr, .. }, "expr") => p.expr(expr, 0),
        _ => return None,
    }
    Some(p)
}

/// The text of one register.
pub fn register(reg: &Reg) -> String {
    let mut p = Printed::default();
    match reg {
        Reg::Type(ty) => p.ty(ty),
        Reg::Expr(expr) => p.expr(expr, 0),
        Reg::Params(fields) => p.fields(fields),
        Reg::Input(field) => p.input(field),
        Reg::Selector(selector) => p.selector(selector),
        Reg::Caps(caps) => p.caps(caps),
        Reg::Prim(prim) => p.prim(prim),
        Reg::Args(args) => p.args(args),
        Reg::Guard(guard) => p.guard(guard),
        Reg::Word(word) => p.text.push_str(word),
        Reg::Ref(reference) => p.text.push_str(&reference.name),
    }
    p.text
}

/// The text of an expression.
pub fn expr(value: &Expr) -> String {
    let mut p = Printed::default();
    p.expr(value, 0);
    p.text
}

/// How tightly a form binds; an operand of a looser form needs parentheses.
fn level(kind: &ExprKind) -> u8 {
    match kind {
        ExprKind::If(..) | ExprKind::Match(..) | ExprKind::Lambda(..) | ExprKind::LambdaList(..) => 0,
        ExprKind::Binary(op, _, _) => binary_level(*op),
        ExprKind::Not(_) => 3,
        ExprKind::Neg(_) => 7,
        _ => 9,
    }
}

fn binary_level(op: Binary) -> u8 {
    match op {
        Binary::Or => 1,
        Binary::And => 2,
        Binary::Add | Binary::Sub => 5,
        Binary::Mul | Binary::Div | Binary::Rem => 6,
        _ => 4,
    }
}

impl Printed {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn close(&mut self, node: u32, start: usize) {
        if node != 0 {
            self.spans.push((node, start, self.text.len()));
        }
    }

    fn separated<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            each(self, item);
        }
    }

    fn reference(&mut self, reference: &Ref) {
        let start = self.text.len();
        self.push(&reference.name);
        self.close(reference.node, start);
    }

    fn ty(&mut self, ty: &Type) {
        self.reference(&ty.head);
        if !ty.args.is_empty() {
            self.push("(");
            self.separated(&ty.args, Printed::ty);
            self.push(")");
        }
    }

    fn field(&mut self, field: &Field) {
        self.push(&field.name);
        self.push(": ");
        self.ty(&field.ty);
    }

    fn fields(&mut self, fields: &[Field]) {
        self.separated(fields, Printed::field);
    }

    fn input(&mut self, field: &Field) {
        self.push("(");
        self.field(field);
        self.push(")");
    }

    fn variant(&mut self, variant: &Variant) {
        self.push(&variant.name);
        if !variant.fields.is_empty() {
            self.push("(");
            self.fields(&variant.fields);
            self.push(")");
        }
    }

    fn caps(&mut self, caps: &[String]) {
        self.push("[");
        self.separated(caps, |p, cap| p.push(cap));
        self.push("]");
    }

    fn prim(&mut self, prim: &Prim) {
        let start = self.text.len();
        self.push(&prim.name);
        self.args(&prim.args);
        self.close(prim.node, start);
    }

    fn selector(&mut self, selector: &Selector) {
        let start = self.text.len();
        self.push(&selector.tile.name);
        self.push(".");
        self.push(&selector.event);
        self.close(selector.tile.node, start);
    }

    fn args(&mut self, args: &[Arg]) {
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

    fn guard(&mut self, guard: &Guard) {
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

    fn stmt(&mut self, stmt: &Stmt) {
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

    fn element_head(&mut self, element: &Element) {
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

    fn element(&mut self, element: &Element, indent: usize) {
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

    fn body(&mut self, body: &Body) {
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

    fn type_body(&mut self, body: &TypeBody) {
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

    fn expr(&mut self, expr: &Expr, least: u8) {
        let bracketed = level(&expr.kind) < least;
        if bracketed {
            self.push("(");
        }
        let start = self.text.len();
        self.expr_kind(expr);
        self.close(expr.node, start);
        if bracketed {
            self.push(")");
        }
    }

    fn expr_kind(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(digits) | ExprKind::Float(digits) => self.push(digits),
            ExprKind::Text(value) => self.push(&escape(value)),
            ExprKind::Bool(value) => self.push(if *value { "true" } else { "false" }),
            ExprKind::None => self.push("none"),
            ExprKind::Null => self.push("null"),
            ExprKind::It => self.push("it"),
            ExprKind::Some(inner) => {
                self.push("some(");
                self.expr(inner, 0);
                self.push(")");
            }
            ExprKind::Name(name) => self.reference(name),
            ExprKind::Call(callee, args) => {
                self.reference(callee);
                self.args(args);
            }
            ExprKind::Make(head, variant, args) => {
                self.reference(head);
                if let Some(variant) = variant {
                    self.push(".");
                    self.push(variant);
                }
                if let Some(args) = args {
                    self.args(args);
                }
            }
            ExprKind::Emit(effect, args) => {
                self.push("emit ");
                self.reference(effect);
                self.args(args);
            }
            ExprKind::Assign(slot, value) => {
                self.push("(");
                self.reference(slot);
                self.push(" := ");
                self.expr(value, 0);
                self.push(")");
            }
            ExprKind::Lambda(head, body) => {
                self.expr(head, 1);
                self.push(" => ");
                self.expr(body, 0);
            }
            ExprKind::LambdaList(names, body) => {
                self.push("(");
                self.separated(names, |p, name| p.push(name));
                self.push(") => ");
                self.expr(body, 0);
            }
            ExprKind::Neg(inner) => {
                self.push("-");
                self.expr(inner, 7);
            }
            ExprKind::Not(inner) => {
                self.push("not ");
                self.expr(inner, 3);
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Field(inner, name) => {
                self.expr(inner, 8);
                self.push(".");
                self.push(name);
            }
            ExprKind::If(condition, yes, no) => {
                self.push("if ");
                self.expr(condition, 0);
                self.push(" then ");
                self.expr(yes, 0);
                self.push(" else ");
                self.expr(no, 0);
            }
            ExprKind::Match(subject, arms) => {
                self.push("match ");
                self.expr(subject, 0);
                self.push(" { ");
                for (index, (pattern, value)) in arms.iter().enumerate() {
                    if index > 0 {
                        self.push("; ");
                    }
                    self.pattern(pattern);
                    self.push(" -> ");
                    self.expr(value, 0);
                }
                self.push(" }");
            }
            ExprKind::List(items) => {
                self.push("[");
                self.separated(items, |p, item| p.expr(item, 0));
                self.push("]");
            }
            ExprKind::Map(pairs) => {
                self.push("{");
                self.separated(pairs, |p, (key, value)| {
                    p.expr(key, 0);
                    p.push(": ");
                    p.expr(value, 0);
                });
                self.push("}");
            }
        }
    }

    fn binary(&mut self, op: Binary, left: &Expr, right: &Expr) {
        let own = binary_level(op);
        // Comparison does not chain; the others lean left.
        let (left_least, right_least) = if own == 4 { (5, 5) } else { (own, own + 1) };
        self.expr(left, left_least);
        self.push(" ");
        self.push(op.word());
        self.push(" ");
        self.expr(right, right_least);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Any => self.push("_"),
            Pattern::None => self.push("none"),
            Pattern::Some(name) => {
                self.push("some(");
                self.push(name);
                self.push(")");
            }
            Pattern::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Pattern::Int(digits) => self.push(digits),
            Pattern::Text(value) => self.push(&escape(value)),
            Pattern::Variant(name, binders) => {
                self.push(name);
                if !binders.is_empty() {
                    self.push("(");
                    self.separated(binders, |p, binder| p.push(binder));
                    self.push(")");
                }
            }
        }
    }
}
