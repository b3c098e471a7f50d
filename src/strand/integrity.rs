//! Referential integrity where ops of several authors meet: new danglings, and what is done.

use super::id::{DefId, QName};
use super::lang::ast::{Body, Element, Expr, ExprKind, Prim, Ref, To};
use super::lang::print;
use super::state::State;

/// The name and the stub body that bring a removed definition back: its interface kept, its
/// content the default.
pub fn stub(state: &State, def: DefId) -> Option<(QName, String)> {
    use super::check::types::{Ty, Types};
    let view = state.view(def)?;
    let types = Types::new(state);
    let mut body = view.body.clone();
    state.resolve_body(&mut body);
    let expr = |text: &str| match super::lang::parse::parse_register(super::lang::parse::Category::Expr, text) {
        Ok(super::lang::unit::Reg::Expr(expr)) => Some(expr),
        _ => None,
    };
    let default = |ty: &Ty| types.default_text(ty).and_then(|text| expr(&text));
    match &mut body {
        Body::Type(_) => {}
        Body::Slot { ty, init } => {
            if let Some(value) = default(&types.lower(ty)) {
                *init = value;
            }
        }
        Body::Effect { needs, prim, .. } => {
            *needs = vec!["log".to_owned()];
            let text = Expr::new(ExprKind::Text("healed".to_owned()));
            let args = vec![super::lang::ast::Arg { name: None, value: text }];
            *prim = Prim { name: "log.print".to_owned(), args, node: 0 };
        }
        Body::Reducer { stmts, .. } => stmts.clear(),
        Body::Tile { root, .. } => *root = stub_tile(state, &types, def),
        Body::Fn { returns, expr, .. } => {
            if let Some(value) = default(&types.lower(returns)) {
                *expr = value;
            }
        }
    }
    Some((QName::new(view.layer, view.name.clone()), print::body(&body)))
}

/// An empty column, with a button for each event some reducer selects.
fn stub_tile(state: &State, types: &super::check::types::Types, def: DefId) -> Element {
    let element = |name: &str| Element {
        head: Ref { to: To::Builtin, ..Ref::new(super::id::Layer::Tile, name) },
        args: Vec::new(),
        children: Vec::new(),
        unit: None,
        node: 0,
    };
    let mut root = element("column");
    let mut events: std::collections::BTreeMap<String, Option<String>> = std::collections::BTreeMap::new();
    for view in state.visible() {
        let Body::Reducer { on: Some(on), input, .. } = &view.body else { continue };
        if on.tile.to == To::Dangling(def) || on.tile.to == To::Def(def) {
            let sent = input.as_ref().and_then(|input| types.default_text(&types.lower(&input.ty)));
            events.insert(on.event.clone(), sent);
        }
    }
    for (event, sent) in events {
        let mut button = element("button");
        button.args.push(("label".to_owned(), Expr::new(ExprKind::Text("healed".to_owned()))));
        button.args.push(("event".to_owned(), Expr::new(ExprKind::Name(Ref::new(super::id::Layer::Slot, event)))));
        let sent =
            sent.and_then(|text| match super::lang::parse::parse_register(super::lang::parse::Category::Expr, &text) {
                Ok(super::lang::unit::Reg::Expr(expr)) => Some(expr),
                _ => None,
            });
        if let Some(sent) = sent {
            button.args.push(("send".to_owned(), sent));
        }
        root.children.push(button);
    }
    root
}
