//! Prints canonical text. Printing can also record the range of each numbered node.

mod body;
mod expr;
mod printed;

pub use printed::Printed;

use super::ast::{Body, Definition, Element, Expr, TypeBody};
use super::unit::Reg;
use crate::strand::id::Layer;

/// Returns the text of a body without `layer name =`, not indented.
pub fn body(body: &Body) -> String {
    let mut p = Printed::default();
    p.body(body);
    p.text
}

/// Returns the text of a whole definition with its doc lines, ending in a newline.
pub fn definition(definition: &Definition) -> String {
    whole(definition.layer, &definition.name, &definition.doc, &definition.body)
}

/// Returns the text of a definition given in parts.
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

/// Returns one unit by its number from 1, with spans. Elements are printed without their children.
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

/// Returns the n-th element in preorder, `n` counted down to 0.
pub fn element<'b>(root: &'b Element, n: &mut usize) -> Option<&'b Element> {
    *n -= 1;
    if *n == 0 {
        return Some(root);
    }
    root.children.iter().find_map(|child| element(child, n))
}

/// Returns a header register of a body, with spans; `None` if it is not set.
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

impl Reg {
    /// Returns the canonical text.
    pub fn text(&self) -> String {
        let mut p = Printed::default();
        match self {
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
}

/// Returns the text of an expression.
pub fn expr(value: &Expr) -> String {
    let mut p = Printed::default();
    p.expr(value, 0);
    p.text
}
