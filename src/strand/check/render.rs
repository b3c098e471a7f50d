//! Renders faults: message, suggestion and auto-patch, with the present names.

use serde_json::{Map, Value, json};

use super::fault::{Fault, LocatedFault};
use super::types::{Shape, Ty, Types};
use crate::strand::id::Layer;
use crate::strand::issue::find_tokens;
use crate::strand::lang::ast::{Body, TypeBody};
use crate::strand::lang::names::{ELEMENTS, FUNCTIONS, TYPES};
use crate::strand::lang::parse::{
    category, parse_body, parse_elements, parse_members, parse_register, parse_statements,
};
use crate::strand::lang::place::Place;
use crate::strand::lang::print::{self, Printed};
use crate::strand::lang::similar;
use crate::strand::lang::token::escape;
use crate::strand::lang::unit::{is_multi, split};
use crate::strand::state::{State, View};

/// A fault ready for output.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// `E0103`.
    pub code: &'static str,
    /// `undef-ref`.
    pub kind: &'static str,
    /// `tile.TodoRow.body:2`, or `layer.Name.<header>`.
    pub location: String,
    /// One sentence.
    pub message: String,
    /// A suggestion; null if there is none.
    pub suggestion: Value,
    /// A draft op that fixes it; null if there is none.
    pub auto_patch: Value,
    /// True if it is only a warning.
    pub warning: bool,
    /// `<code>@<location>`, with `#2` and so on for later ones at one place.
    pub id: String,
    /// The text of the unit or header, and the bytes at fault in it.
    pub source: Option<(String, usize, usize)>,
}

impl Diagnostic {
    /// Returns the JSON object with its keys in their fixed order.
    pub fn to_json(&self) -> Value {
        json!({
            "code": self.code,
            "kind": self.kind,
            "location": self.location,
            "message": self.message,
            "suggestion": self.suggestion,
            "auto-patch": self.auto_patch,
            "severity": if self.warning { "warning" } else { "error" },
            "id": self.id,
        })
    }
}

/// Tells faults: sorts them within each definition and numbers those at one place.
pub fn render<'f>(state: &State, found: impl IntoIterator<Item = &'f LocatedFault>) -> Vec<Diagnostic> {
    let types = Types::new(state);
    let mut rendered: Vec<(super::DefId, (u32, &'static str, usize), Diagnostic)> = Vec::new();
    for found in found {
        let Some(view) = state.reading(found.def) else { continue };
        let telling = Telling::new(&types, view, found);
        let rank = (found.place.rank(), found.fault.code().0, telling.span.map_or(0, |(start, _)| start));
        rendered.push((found.def, rank, telling.diagnostic()));
    }
    let order = |id: super::DefId| state.reading(id).map(|view| (view.layer, view.label.clone()));
    rendered.sort_by(|(a, x, _), (b, y, _)| order(*a).cmp(&order(*b)).then_with(|| x.cmp(y)));
    let mut out: Vec<Diagnostic> = Vec::with_capacity(rendered.len());
    for (_, _, mut diagnostic) in rendered {
        let same = out.iter().rev().take_while(|other| other.location == diagnostic.location);
        let before = same.filter(|other| other.code == diagnostic.code).count();
        if before > 0 {
            diagnostic.id = format!("{}#{}", diagnostic.id, before + 1);
        }
        out.push(diagnostic);
    }
    out
}

struct Telling<'t> {
    types: &'t Types<'t>,
    view: &'t View,
    found: &'t LocatedFault,
    printed: Option<Printed>,
    span: Option<(usize, usize)>,
}

/// A suggestion, and the op that carries it out.
type Help = (Value, Value);

const NOTHING: Help = (Value::Null, Value::Null);

impl<'t> Telling<'t> {
    fn new(types: &'t Types<'t>, view: &'t View, found: &'t LocatedFault) -> Telling<'t> {
        let printed = match found.place {
            Place::Unit(n) => print::unit(&view.body, n as usize),
            Place::Header(name) => print::header(&view.body, name),
        };
        let span = printed.as_ref().and_then(|printed| printed.span(found.node));
        Telling { types, view, found, printed, span }
    }

    fn diagnostic(&self) -> Diagnostic {
        let (code, kind) = self.found.fault.code();
        let location = match self.found.place {
            Place::Unit(n) => format!("{}.body:{n}", self.view.qname()),
            Place::Header(name) => format!("{}.{name}", self.view.qname()),
        };
        let (suggestion, patch) = self.help();
        let auto_patch = match patch {
            Value::Object(patch) if patch.contains_key("op") => Value::Object(patch),
            Value::Object(patch) => {
                let (layer, name) = (self.view.layer.word(), &self.view.label);
                json!({"op": "edit", "layer": layer, "name": name, "patch": patch})
            }
            _ => Value::Null,
        };
        let source = self.printed.as_ref().map(|printed| {
            let (start, end) = self.span.unwrap_or((0, printed.text.len()));
            (printed.text.clone(), start, end)
        });
        Diagnostic {
            code,
            kind,
            id: format!("{code}@{location}"),
            location,
            message: self.message(),
            suggestion,
            auto_patch,
            warning: self.found.fault.is_warning(),
            source,
        }
    }

    fn message(&self) -> String {
        let show = |ty: &Ty| self.types.show(ty);
        match &self.found.fault {
            Fault::Undefined { layer, name, .. } => format!("Reference to undefined {layer} '{name}'"),
            Fault::Mismatch { expected, found } => {
                format!("Type mismatch: expected {}, found {}", show(expected), show(found))
            }
            Fault::Misfit(message) => format!("Type mismatch: {message}"),
            Fault::Violation { value, ty } => format!("Value {value} violates {}: {}", show(ty), self.predicate(ty)),
            Fault::NotCovered { on, missing, .. } => {
                let names: Vec<&str> = missing.iter().map(|(_, name)| name.as_str()).collect();
                format!("Match on {on} does not cover {}", names.join(", "))
            }
            Fault::NominalMix { expected, found } => {
                format!("Nominal type mismatch: expected {}, found {}", show(expected), show(found))
            }
            Fault::NeedsCapability { effect, prim, cap } => {
                format!("Effect {effect} uses {prim} without capability '{cap}'")
            }
            Fault::NotGranted { cap } => format!("Capability '{cap}' is not granted"),
            Fault::DirectCall { effect, .. } => format!("Effect '{effect}' must be emitted, not called"),
            Fault::WriteOutside { slot } => format!("Slot '{slot}' is written outside a reducer statement"),
            Fault::EmitInTile { tile, effect } => format!("Tile {tile} emits effect '{effect}'"),
            Fault::Impure { who, verb, layer, name } => format!("{who} {verb} {layer} '{name}'"),
            Fault::BadSelector { head, event, tile: None } => {
                format!("Event selector '{head}.{event}' does not name a tile")
            }
            Fault::BadSelector { event, tile: Some((tile, _)), .. } => format!("Tile {tile} raises no event '{event}'"),
            Fault::Recursion { who } => format!("{who} refers to itself"),
            Fault::Lambda => "Lambdas are not allowed; name a fn".to_owned(),
            Fault::Null { .. } => "null is not a value".to_owned(),
            Fault::Predicate => "Predicate is outside the decidable subset".to_owned(),
            Fault::Dangling { layer, name, .. } => format!("Dangling reference to removed {layer} '{name}'"),
            Fault::Cycle { path } => format!("Cyclic dependency: {}", path.join(" -> ")),
            Fault::WrittenTwice { slot, reducer, first } => {
                format!("Slot '{slot}' is written more than once in reducer {reducer} (first at body:{first})")
            }
            Fault::NoLabel { element, arg, .. } => format!("{element} has no {arg}"),
            Fault::Duplicate { what, name } => format!("The {what} '{name}' is given twice"),
        }
    }

    fn predicate(&self, ty: &Ty) -> String {
        match self.types.plain(ty) {
            Ty::Named(id) => match self.types.shape(id) {
                Shape::Refined(_, predicate) | Shape::Nominal(_, Some(predicate)) => print::expr(&predicate),
                _ => String::new(),
            },
            _ => String::new(),
        }
    }

    fn help(&self) -> Help {
        match &self.found.fault {
            Fault::Undefined { layer, name, locals } => self.did_you_mean(*layer, name, locals),
            Fault::Mismatch { expected, found } => self.conversion(expected, found),
            Fault::Violation { ty, .. } => (json!({"kind": "satisfy", "predicate": self.predicate(ty)}), Value::Null),
            Fault::NotCovered { missing, result, .. } => self.add_arms(missing, result.as_ref()),
            Fault::NominalMix { expected, found } => self.nominal(expected, found),
            Fault::NeedsCapability { cap, .. } => {
                let mut needs = match &self.view.body {
                    Body::Effect { needs, .. } => needs.clone(),
                    _ => Vec::new(),
                };
                needs.push(cap.clone());
                let patch = json!({"needs": format!("set [{}]", needs.join(", "))});
                (json!({"kind": "add-capability", "name": cap}), patch)
            }
            Fault::DirectCall { statement, .. } => {
                let patch = match (&self.printed, statement) {
                    (Some(printed), true) => json!({self.unit_address(): format!("set emit {}", printed.text)}),
                    _ => Value::Null,
                };
                (json!({"kind": "use-emit"}), patch)
            }
            Fault::WriteOutside { .. } | Fault::EmitInTile { .. } => (json!({"kind": "move-to-reducer"}), Value::Null),
            Fault::Impure { name, .. } => (json!({"kind": "pass-as-param", "name": name}), Value::Null),
            Fault::BadSelector { head, event, tile } => self.selector(head, event, tile.as_ref()),
            Fault::Lambda => (json!({"kind": "extract-fn"}), Value::Null),
            Fault::Null { option } => {
                let patch = if *option { self.substitute("none") } else { Value::Null };
                (json!({"kind": "use-option"}), patch)
            }
            Fault::Dangling { name, def, .. } => {
                let stub = crate::strand::integrity::stub(self.types.state(), *def);
                let draft = stub.map_or(Value::Null, |(qname, body)| {
                    json!({"op": "add", "layer": qname.layer.word(), "name": qname.name, "body": body, "def": def.to_string()})
                });
                (json!({"kind": "restore", "name": name}), draft)
            }
            Fault::NoLabel { arg, proposal, .. } => {
                let patch = json!({self.unit_address(): format!("add {arg}={}", escape(proposal))});
                (json!({"kind": "add-arg", "name": arg}), patch)
            }
            Fault::Misfit(_)
            | Fault::NotGranted { .. }
            | Fault::Recursion { .. }
            | Fault::Predicate
            | Fault::Cycle { .. }
            | Fault::WrittenTwice { .. }
            | Fault::Duplicate { .. } => NOTHING,
        }
    }

    /// Returns the most similar name that is valid here.
    fn did_you_mean(&self, layer: Layer, name: &str, locals: &[String]) -> Help {
        let state = self.types.state();
        let builtins: Vec<&str> = match layer {
            Layer::Type => TYPES.iter().map(|(name, _)| *name).collect(),
            Layer::Fn => FUNCTIONS.to_vec(),
            Layer::Tile if matches!(self.found.place, Place::Unit(_)) => {
                ELEMENTS.iter().map(|(name, _)| *name).collect()
            }
            _ => Vec::new(),
        };
        let names = state.labels(layer);
        let candidates = names.iter().map(String::as_str).chain(builtins).chain(locals.iter().map(String::as_str));
        match similar::best(name, candidates) {
            None => NOTHING,
            Some((near, score, only)) => {
                let patch = if score >= 0.85 && only { self.substitute_name(name, near) } else { Value::Null };
                (json!({"kind": "did-you-mean", "name": near, "similarity": score}), patch)
            }
        }
    }

    fn selector(&self, head: &str, event: &str, tile: Option<&(String, Vec<String>)>) -> Help {
        let state = self.types.state();
        let tiles = state.labels(Layer::Tile);
        let near = match tile {
            None => similar::best(head, tiles.iter().map(String::as_str))
                .map(|(near, score, only)| (near, score, only, format!("{near}.{event}"))),
            Some((tile, events)) => similar::best(event, events.iter().map(String::as_str))
                .map(|(near, score, only)| (near, score, only, format!("{tile}.{near}"))),
        };
        let Some((near, score, only, selector)) = near else { return NOTHING };
        let patch = if score >= 0.85 && only { json!({"on": format!("set {selector}")}) } else { Value::Null };
        (json!({"kind": "did-you-mean", "name": near, "similarity": score}), patch)
    }

    fn conversion(&self, expected: &Ty, found: &Ty) -> Help {
        let with = |word: &str| json!({"kind": "convert", "with": word});
        let wanted = self.types.plain(expected);
        if let Ty::Named(id) = wanted
            && let Shape::Refined(base, _) | Shape::Nominal(base, Some(_)) = self.types.shape(id)
            && self.types.equal(&self.types.base(&base), &self.types.base(found))
        {
            return (with("refine"), Value::Null);
        }
        match (self.types.base(&wanted), self.types.base(found), self.types.raw(found)) {
            (Ty::Float, Ty::Int, _) if wanted == Ty::Float => (with("float"), self.wrap("float")),
            (Ty::Text, _, Ty::Int | Ty::Float | Ty::Bool) if wanted == Ty::Text => (with("text"), self.wrap("text")),
            _ => NOTHING,
        }
    }

    fn nominal(&self, expected: &Ty, found: &Ty) -> Help {
        let shape = |ty: &Ty| match self.types.base(ty) {
            Ty::Named(id) => Some(self.types.shape(id)),
            _ => None,
        };
        let word = match (shape(expected), shape(found)) {
            (Some(Shape::Nominal(..)), Some(Shape::Nominal(..))) => return NOTHING,
            (Some(Shape::Nominal(base, None)), _)
                if self.types.equal(&self.types.base(&base), &self.types.base(found)) =>
            {
                self.types.show(expected)
            }
            (_, Some(Shape::Nominal(base, _)))
                if self.types.equal(&self.types.base(&base), &self.types.base(expected)) =>
            {
                "raw".to_owned()
            }
            _ => return NOTHING,
        };
        let patch = self.wrap(&word);
        (json!({"kind": "convert", "with": word}), patch)
    }

    fn add_arms(&self, missing: &[(String, String)], result: Option<&Ty>) -> Help {
        let names: Vec<&str> = missing.iter().map(|(_, name)| name.as_str()).collect();
        let suggestion = json!({"kind": "add-arms", "variants": names});
        let default = result.and_then(|ty| self.types.default_text(ty));
        let (Some(default), Some(printed), Some((_, end))) = (default, &self.printed, self.span) else {
            return (suggestion, Value::Null);
        };
        let arms: String = missing.iter().map(|(pattern, _)| format!("; {pattern} -> {default}")).collect();
        // A match ends in " }".
        let at = end.saturating_sub(2);
        let text = format!("{}{arms}{}", &printed.text[..at], &printed.text[at..]);
        (suggestion, self.set_unit(&text))
    }

    /// Returns a patch that wraps the faulty expression in a call.
    fn wrap(&self, word: &str) -> Value {
        let (Some(printed), Some((start, end))) = (&self.printed, self.span) else { return Value::Null };
        let text = &printed.text;
        self.set_unit(&format!("{}{word}({}){}", &text[..start], &text[start..end], &text[end..]))
    }

    /// Returns a patch that puts another name in place of the faulty one.
    fn substitute_name(&self, name: &str, near: &str) -> Value {
        let (Some(printed), Some((start, _))) = (&self.printed, self.span) else { return Value::Null };
        let end = start + name.len();
        self.substitute_at(printed, start, end, near)
    }

    fn substitute(&self, by: &str) -> Value {
        let (Some(printed), Some((start, end))) = (&self.printed, self.span) else { return Value::Null };
        self.substitute_at(printed, start, end, by)
    }

    fn substitute_at(&self, printed: &Printed, start: usize, end: usize, by: &str) -> Value {
        let old = &printed.text[start..end];
        if find_tokens(&printed.text, old).is_ok_and(|places| places.len() == 1) {
            return json!({self.unit_address(): format!("replace '{old}' -> '{by}'")});
        }
        self.set_unit(&format!("{}{by}{}", &printed.text[..start], &printed.text[end..]))
    }

    fn unit_address(&self) -> String {
        match self.found.place {
            Place::Unit(n) => format!("body:{n}"),
            Place::Header(name) => name.to_owned(),
        }
    }

    /// Returns a patch that sets the whole unit; of a body that is one unit, only the register that differs.
    fn set_unit(&self, text: &str) -> Value {
        if let Place::Header(name) = self.found.place {
            let text = canonical_register(self.view, name, text).unwrap_or_else(|| text.to_owned());
            return json!({name: format!("set {text}")});
        }
        if is_multi(&self.view.body) {
            let text = canonical_unit(&self.view.body, text).unwrap_or_else(|| text.to_owned());
            return json!({self.unit_address(): format!("set {text}")});
        }
        let Ok(body) = parse_body(self.view.layer, text) else { return Value::Null };
        let (old, new) = (split(&self.view.body), split(&body));
        let mut patch = Map::new();
        for (name, reg) in &new.header {
            let text = reg.text();
            if old.header.get(name).map(|old| old.text()).as_ref() != Some(&text) {
                patch.insert(name.to_string(), json!(format!("set {text}")));
            }
        }
        Value::Object(patch)
    }
}

fn canonical_register(view: &View, name: &str, text: &str) -> Option<String> {
    parse_register(category(view.layer, false, name)?, text).ok().map(|reg| reg.text())
}

fn canonical_unit(body: &Body, text: &str) -> Option<String> {
    let one = match body {
        Body::Reducer { .. } => Body::Reducer { on: None, input: None, stmts: parse_statements(text).ok()? },
        Body::Tile { .. } => Body::Tile { params: Vec::new(), root: parse_elements(text).ok()?.into_iter().next()? },
        Body::Type(TypeBody::Union(_)) => Body::Type(TypeBody::Union(parse_members(text, true).ok()?.1)),
        _ => Body::Type(TypeBody::Record(parse_members(text, false).ok()?.0)),
    };
    print::unit(&one, 1).map(|printed| printed.text)
}
