//! Checks tiles: elements, the events they raise, and the requirements of each.

use std::collections::BTreeMap;

use super::checker::Checker;
use super::fault::Fault;
use super::types::Ty;
use crate::strand::id::DefId;
use crate::strand::lang::ast::{Body, Element, Expr, ExprKind, To};
use crate::strand::lang::names::element_args;
use crate::strand::lang::place::Place;

impl Checker<'_> {
    /// Returns the events a tile raises, with the type each sends.
    pub(super) fn events_of(&self, tile: DefId) -> BTreeMap<String, Option<Ty>> {
        let Some(view) = self.types.state().reading(tile) else { return BTreeMap::new() };
        let mut inner = Checker::new(self.types, view, self.granted);
        inner.body(&view.body);
        inner.events
    }

    pub(super) fn element(&mut self, element: &Element, unit: &mut u32) {
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
        let params: Vec<(String, Ty)> = match self.types.state().reading(tile).map(|view| &view.body) {
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
                let rendered = self.types.show(&found);
                self.misfits(of.node, format!("expected List, found {rendered}"))
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

    /// Checks an event of this tile: a label, and the same payload wherever it is raised.
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
        self.report(element.node, Fault::NoLabel { element: name.to_owned(), arg: missing.into(), proposal });
    }
}
