//! Checks predicates, the conditions after `where`, which must have a decidable form.

use super::checker::{Checker, ExprContext};
use super::fault::Fault;
use super::types::Ty;
use crate::strand::lang::ast::{Binary, Expr, ExprKind};

impl Checker<'_> {
    /// Checks a predicate: of the decidable shape, and well typed.
    pub(super) fn predicate(&mut self, pred: &Expr) {
        self.context = ExprContext::Pure;
        if is_predicate(pred) {
            self.expect(pred, &Ty::Bool);
            return;
        }
        // A construct that is never allowed has a fault of its own; anything else is only out of form.
        let depth = self.found.len();
        self.infer(pred, Some(&Ty::Bool));
        let own = |fault: &Fault| {
            matches!(fault, Fault::WriteOutside { .. } | Fault::Impure { .. } | Fault::Lambda | Fault::Null { .. })
        };
        let keep: Vec<_> = self.found.drain(depth..).filter(|found| own(&found.fault)).collect();
        if keep.is_empty() {
            self.report(pred.node, Fault::Predicate);
        }
        self.found.extend(keep);
    }
}

/// Returns whether an expression is of the decidable shape of predicates.
fn is_predicate(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(Binary::And | Binary::Or, a, b) => is_predicate(a) && is_predicate(b),
        ExprKind::Not(inner) => is_predicate(inner),
        ExprKind::Binary(Binary::In, term, list) => match &list.kind {
            ExprKind::List(items) => is_term(term) && !items.is_empty() && items.iter().all(is_literal),
            _ => false,
        },
        ExprKind::Binary(
            Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge,
            term,
            literal,
        ) => is_term(term) && is_literal(literal),
        ExprKind::Call(callee, args) if callee.name == "matches" => {
            args.len() == 2 && is_term(&args[0].value) && matches!(args[1].value.kind, ExprKind::Text(_))
        }
        _ => false,
    }
}

fn is_term(expr: &Expr) -> bool {
    fn path(expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::It => true,
            ExprKind::Field(inner, _) => path(inner),
            _ => false,
        }
    }
    match &expr.kind {
        ExprKind::Call(callee, args) => callee.name == "len" && args.len() == 1 && path(&args[0].value),
        _ => path(expr),
    }
}

fn is_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Text(_) | ExprKind::Bool(_) => true,
        ExprKind::Neg(inner) => matches!(inner.kind, ExprKind::Int(_) | ExprKind::Float(_)),
        _ => false,
    }
}
