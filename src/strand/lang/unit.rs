//! Bodies taken apart into registers and units, and put together again.
//!
//! A register is what two authors may write at once: a header field, or a part of a unit.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::ast::{Action, Arg, Body, Element, Expr, Field, Guard, Prim, Ref, Selector, Stmt, Type, TypeBody, Variant};
use crate::strand::id::{Layer, UnitId};

/// The value of a register.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Reg {
    Type(Type),
    Expr(Expr),
    Params(Vec<Field>),
    Input(Field),
    Selector(Selector),
    Caps(Vec<String>),
    Prim(Prim),
    Args(Vec<Arg>),
    Guard(Guard),
    /// A name that refers to nothing, a word of a fixed set, or doc text.
    Word(String),
    Ref(Ref),
}

/// The name of a register within its unit or header.
pub type RegName = Cow<'static, str>;

/// The registers of one unit.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Its identity, once it has one.
    pub id: Option<UnitId>,
    /// The position of its parent element, in a tile.
    pub parent: Option<usize>,
    /// Its registers.
    pub regs: BTreeMap<RegName, Reg>,
}

/// A body as registers.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The header's registers.
    pub header: BTreeMap<RegName, Reg>,
    /// Units in order; of a tile, in preorder. Empty where the whole body is one unit.
    pub units: Vec<Unit>,
}

/// Registers that a unit of the kind must have.
pub fn mandatory(layer: Layer, unit: bool, register: &str) -> bool {
    match (layer, unit) {
        (Layer::Type, false) => matches!(register, "form" | "base"),
        (Layer::Reducer, false) => false,
        (Layer::Effect, false) => matches!(register, "params" | "returns" | "needs" | "do"),
        (Layer::Reducer, true) => matches!(register, "kind" | "target" | "value" | "args"),
        (Layer::Tile, true) => register == "elem",
        (_, false) => register != "doc",
        (_, true) => true,
    }
}

/// Returns whether the registers are the kind of body that has units of its own.
pub fn has_units(layer: Layer, parts: &Parts) -> bool {
    match layer {
        Layer::Reducer | Layer::Tile => true,
        Layer::Type => !matches!(form(parts), "alias" | "nominal"),
        _ => false,
    }
}

/// Returns the form of a type's body.
pub fn form(parts: &Parts) -> &str {
    match parts.header.get("form") {
        Some(Reg::Word(word)) => word,
        _ => "alias",
    }
}

/// Returns how many units a body has.
pub fn count(body: &Body) -> usize {
    fn elements(element: &Element) -> usize {
        1 + element.children.iter().map(elements).sum::<usize>()
    }
    match body {
        Body::Type(TypeBody::Record(fields)) => fields.len(),
        Body::Type(TypeBody::Union(variants)) => variants.len(),
        Body::Reducer { stmts, .. } => stmts.len(),
        Body::Tile { root, .. } => elements(root),
        _ => 1,
    }
}

/// Returns whether a body has several units with headers apart from them.
pub fn is_multi(body: &Body) -> bool {
    matches!(body, Body::Type(TypeBody::Record(_) | TypeBody::Union(_)) | Body::Reducer { .. } | Body::Tile { .. })
}

/// Takes a body apart.
pub fn split(body: &Body) -> Parts {
    let mut parts = Parts::default();
    let header = &mut parts.header;
    let mut put = |name: &'static str, reg: Reg| {
        header.insert(Cow::Borrowed(name), reg);
    };
    match body {
        Body::Type(TypeBody::Plain { nominal, base, pred }) => {
            put("form", Reg::Word(if *nominal { "nominal" } else { "alias" }.to_owned()));
            put("base", Reg::Type(base.clone()));
            if let Some(pred) = pred {
                put("where", Reg::Expr(pred.clone()));
            }
        }
        Body::Type(TypeBody::Record(fields)) => {
            put("form", Reg::Word("record".to_owned()));
            parts.units = fields.iter().map(field_unit).collect();
        }
        Body::Type(TypeBody::Union(variants)) => {
            put("form", Reg::Word("union".to_owned()));
            parts.units = variants.iter().map(variant_unit).collect();
        }
        Body::Slot { ty, init } => {
            put("type", Reg::Type(ty.clone()));
            put("init", Reg::Expr(init.clone()));
        }
        Body::Effect { params, returns, err, needs, prim } => {
            put("params", Reg::Params(params.clone()));
            put("returns", Reg::Type(returns.clone()));
            if let Some(err) = err {
                put("err", Reg::Type(err.clone()));
            }
            put("needs", Reg::Caps(needs.clone()));
            put("do", Reg::Prim(prim.clone()));
        }
        Body::Reducer { on, input, stmts } => {
            if let Some(on) = on {
                put("on", Reg::Selector(on.clone()));
            }
            if let Some(input) = input {
                put("in", Reg::Input(input.clone()));
            }
            parts.units = stmts.iter().map(stmt_unit).collect();
        }
        Body::Tile { params, root } => {
            put("params", Reg::Params(params.clone()));
            push_element(root, None, &mut parts.units);
        }
        Body::Fn { params, returns, expr } => {
            put("params", Reg::Params(params.clone()));
            put("returns", Reg::Type(returns.clone()));
            put("expr", Reg::Expr(expr.clone()));
        }
    }
    parts
}

fn unit<const N: usize>(id: Option<UnitId>, regs: [(&'static str, Reg); N]) -> Unit {
    Unit { id, parent: None, regs: regs.into_iter().map(|(name, reg)| (Cow::Borrowed(name), reg)).collect() }
}

/// Returns a record field as a unit.
pub fn field_unit(field: &Field) -> Unit {
    unit(field.unit, [("name", Reg::Word(field.name.clone())), ("type", Reg::Type(field.ty.clone()))])
}

/// Returns a variant as a unit.
pub fn variant_unit(variant: &Variant) -> Unit {
    unit(variant.unit, [("name", Reg::Word(variant.name.clone())), ("fields", Reg::Params(variant.fields.clone()))])
}

/// Returns a statement as a unit.
pub fn stmt_unit(stmt: &Stmt) -> Unit {
    let word = |word: &str| Reg::Word(word.to_owned());
    let mut made = match &stmt.action {
        Action::Write(target, value) => unit(
            stmt.unit,
            [("kind", word("write")), ("target", Reg::Ref(target.clone())), ("value", Reg::Expr(value.clone()))],
        ),
        Action::Emit { effect, args, ok, err } => {
            let mut made = unit(
                stmt.unit,
                [("kind", word("emit")), ("target", Reg::Ref(effect.clone())), ("args", Reg::Args(args.clone()))],
            );
            for (name, reducer) in [("ok", ok), ("err", err)] {
                if let Some(reducer) = reducer {
                    made.regs.insert(Cow::Borrowed(name), Reg::Ref(reducer.clone()));
                }
            }
            made
        }
        Action::Call(callee, args) => unit(
            stmt.unit,
            [("kind", word("call")), ("target", Reg::Ref(callee.clone())), ("args", Reg::Args(args.clone()))],
        ),
    };
    if let Some(guard) = &stmt.guard {
        made.regs.insert(Cow::Borrowed("guard"), Reg::Guard(guard.clone()));
    }
    made
}

/// Returns an element as a unit, without its children.
fn element_unit(element: &Element) -> Unit {
    let mut made = unit(element.unit, [("elem", Reg::Ref(element.head.clone()))]);
    for (name, value) in &element.args {
        made.regs.insert(Cow::Owned(format!("arg.{name}")), Reg::Expr(value.clone()));
    }
    made
}

/// Appends an element and its children in preorder.
pub fn push_element(element: &Element, parent: Option<usize>, units: &mut Vec<Unit>) {
    let at = units.len();
    let mut made = element_unit(element);
    made.parent = parent;
    units.push(made);
    for child in &element.children {
        push_element(child, Some(at), units);
    }
}

/// Puts a body together. `None` when a register that the layer needs is not there, which no
/// sequence of accepted ops can bring about.
pub fn join(layer: Layer, mut parts: Parts) -> Option<Body> {
    let whole_form = form(&parts).to_owned();
    let units = std::mem::take(&mut parts.units);
    let header = &mut parts.header;
    Some(match layer {
        Layer::Type => Body::Type(match whole_form.as_str() {
            "record" => TypeBody::Record(units.into_iter().map(join_field).collect::<Option<_>>()?),
            "union" => TypeBody::Union(units.into_iter().map(join_variant).collect::<Option<_>>()?),
            form => {
                TypeBody::Plain { nominal: form == "nominal", base: ty(header, "base")?, pred: expr(header, "where") }
            }
        }),
        Layer::Slot => Body::Slot { ty: ty(header, "type")?, init: expr(header, "init")? },
        Layer::Effect => Body::Effect {
            params: params(header)?,
            returns: ty(header, "returns")?,
            err: ty(header, "err"),
            needs: match header.remove("needs") {
                Some(Reg::Caps(caps)) => caps,
                _ => return None,
            },
            prim: match header.remove("do") {
                Some(Reg::Prim(prim)) => prim,
                _ => return None,
            },
        },
        Layer::Reducer => Body::Reducer {
            on: match header.remove("on") {
                Some(Reg::Selector(on)) => Some(on),
                _ => None,
            },
            input: match header.remove("in") {
                Some(Reg::Input(input)) => Some(input),
                _ => None,
            },
            stmts: units.into_iter().map(join_stmt).collect::<Option<_>>()?,
        },
        Layer::Tile => Body::Tile { params: params(header)?, root: join_elements(units)? },
        Layer::Fn => Body::Fn { params: params(header)?, returns: ty(header, "returns")?, expr: expr(header, "expr")? },
    })
}

type Regs = BTreeMap<RegName, Reg>;

fn ty(regs: &mut Regs, name: &str) -> Option<Type> {
    match regs.remove(name) {
        Some(Reg::Type(ty)) => Some(ty),
        _ => None,
    }
}

fn expr(regs: &mut Regs, name: &str) -> Option<Expr> {
    match regs.remove(name) {
        Some(Reg::Expr(expr)) => Some(expr),
        _ => None,
    }
}

fn params(regs: &mut Regs) -> Option<Vec<Field>> {
    match regs.remove("params") {
        Some(Reg::Params(params)) => Some(params),
        _ => None,
    }
}

fn word(regs: &mut Regs, name: &str) -> Option<String> {
    match regs.remove(name) {
        Some(Reg::Word(word)) => Some(word),
        _ => None,
    }
}

fn reference(regs: &mut Regs, name: &str) -> Option<Ref> {
    match regs.remove(name) {
        Some(Reg::Ref(reference)) => Some(reference),
        _ => None,
    }
}

fn join_field(mut unit: Unit) -> Option<Field> {
    Some(Field { name: word(&mut unit.regs, "name")?, ty: ty(&mut unit.regs, "type")?, unit: unit.id })
}

fn join_variant(mut unit: Unit) -> Option<Variant> {
    let fields = match unit.regs.remove("fields") {
        Some(Reg::Params(fields)) => fields,
        _ => return None,
    };
    Some(Variant { name: word(&mut unit.regs, "name")?, fields, unit: unit.id })
}

/// Builds a statement from its registers.
pub fn join_stmt(mut unit: Unit) -> Option<Stmt> {
    let regs = &mut unit.regs;
    let kind = word(regs, "kind")?;
    let mut target = reference(regs, "target")?;
    let guard = match regs.remove("guard") {
        Some(Reg::Guard(guard)) => Some(guard),
        _ => None,
    };
    target.layer = target_layer(&kind);
    let action = if kind == "write" {
        Action::Write(target, expr(regs, "value")?)
    } else {
        let args = match regs.remove("args") {
            Some(Reg::Args(args)) => args,
            _ => return None,
        };
        if kind == "emit" {
            Action::Emit { effect: target, args, ok: reference(regs, "ok"), err: reference(regs, "err") }
        } else {
            Action::Call(target, args)
        }
    };
    Some(Stmt { action, guard, unit: unit.id, node: 0 })
}

/// Returns the layer the target of a statement of the kind is looked up in.
pub fn target_layer(kind: &str) -> Layer {
    match kind {
        "write" => Layer::Slot,
        "emit" => Layer::Effect,
        _ => Layer::Fn,
    }
}

/// Builds one element from its registers, without children.
pub fn join_element(mut unit: Unit) -> Option<Element> {
    let head = reference(&mut unit.regs, "elem")?;
    let mut args = Vec::with_capacity(unit.regs.len());
    for (name, reg) in unit.regs {
        if let (Some(name), Reg::Expr(value)) = (name.strip_prefix("arg."), reg) {
            args.push((name.to_owned(), value));
        }
    }
    let mut element = Element { head, args, children: Vec::new(), unit: unit.id, node: 0 };
    super::parse::sort_args(&mut element);
    Some(element)
}

/// Builds a tree of a preorder with parents: from the end, each element joins its parent.
fn join_elements(units: Vec<Unit>) -> Option<Element> {
    let parents: Vec<Option<usize>> = units.iter().map(|unit| unit.parent).collect();
    let mut elements: Vec<Option<Element>> = units.into_iter().map(join_element).collect();
    for at in (1..elements.len()).rev() {
        let mut child = elements[at].take()?;
        child.children.reverse();
        elements[parents[at]?].as_mut()?.children.push(child);
    }
    let mut root = elements.into_iter().next()??;
    root.children.reverse();
    Some(root)
}
