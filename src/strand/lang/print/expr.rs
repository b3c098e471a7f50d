//! Prints expressions, with brackets only where their structure needs them.

use super::printed::Printed;
use crate::strand::lang::ast::{Arg, Binary, Expr, ExprKind, Pattern, Ref};
use crate::strand::lang::token::escape;

/// Returns how tightly a form binds; an operand of a looser form needs parentheses.
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
    pub(super) fn expr(&mut self, expr: &Expr, least: u8) {
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
            ExprKind::Make(head, variant, args) => self.construction(head, variant.as_deref(), args.as_deref()),
            ExprKind::Emit(effect, args) => {
                self.push("emit ");
                self.reference(effect);
                self.args(args);
            }
            ExprKind::Assign(slot, value) => self.assignment(slot, value),
            ExprKind::Lambda(head, body) => {
                self.expr(head, 1);
                self.lambda_body(body);
            }
            ExprKind::LambdaList(names, body) => {
                self.push("(");
                self.separated(names, |p, name| p.push(name));
                self.push(")");
                self.lambda_body(body);
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
            ExprKind::If(condition, yes, no) => self.choice(condition, yes, no),
            ExprKind::Match(subject, arms) => self.matching(subject, arms),
            ExprKind::List(items) => {
                self.push("[");
                self.separated(items, |p, item| p.expr(item, 0));
                self.push("]");
            }
            ExprKind::Map(pairs) => self.map(pairs),
        }
    }

    fn assignment(&mut self, slot: &Ref, value: &Expr) {
        self.push("(");
        self.reference(slot);
        self.push(" := ");
        self.expr(value, 0);
        self.push(")");
    }

    fn lambda_body(&mut self, body: &Expr) {
        self.push(" => ");
        self.expr(body, 0);
    }

    fn map(&mut self, pairs: &[(Expr, Expr)]) {
        self.push("{");
        self.separated(pairs, |p, (key, value)| {
            p.expr(key, 0);
            p.push(": ");
            p.expr(value, 0);
        });
        self.push("}");
    }

    /// Prints `Todo(id=1)`, `Filter.All`, `Status.Failed(reason="..")`.
    fn construction(&mut self, head: &Ref, variant: Option<&str>, args: Option<&[Arg]>) {
        self.reference(head);
        if let Some(variant) = variant {
            self.push(".");
            self.push(variant);
        }
        if let Some(args) = args {
            self.args(args);
        }
    }

    fn choice(&mut self, condition: &Expr, yes: &Expr, no: &Expr) {
        self.push("if ");
        self.expr(condition, 0);
        self.push(" then ");
        self.expr(yes, 0);
        self.push(" else ");
        self.expr(no, 0);
    }

    fn matching(&mut self, subject: &Expr, arms: &[(Pattern, Expr)]) {
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

    pub(super) fn binary(&mut self, op: Binary, left: &Expr, right: &Expr) {
        let own = binary_level(op);
        // Comparison does not chain; the others lean left.
        let (left_least, right_least) = if own == 4 { (5, 5) } else { (own, own + 1) };
        self.expr(left, left_least);
        self.push(" ");
        self.push(op.word());
        self.push(" ");
        self.expr(right, right_least);
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern) {
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
