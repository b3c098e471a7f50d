//! Evaluates expressions: deterministic, without side effects, every trap an error.

use std::collections::BTreeMap;

use super::value::{Trap, Value};
use crate::strand::check::types::{Shape, Ty, Types};
use crate::strand::id::DefId;
use crate::strand::lang::ast::{Arg, Binary, Body, Expr, ExprKind, Pattern, Ref, To};

/// The source of slot values.
pub type SlotSource<'a> = &'a dyn Fn(DefId) -> Option<Value>;

/// An evaluator with its binders.
pub struct Eval<'a> {
    types: &'a Types<'a>,
    slots: SlotSource<'a>,
    locals: Vec<(String, Value)>,
    it: Option<Value>,
    depth: u32,
}

/// Deeper calls than this can only come from a recursion the checker refuses.
const MAX_DEPTH: u32 = 64;

fn trap<T>(message: impl Into<String>) -> Result<T, Trap> {
    Err(message.into())
}

impl<'a> Eval<'a> {
    /// Creates an evaluator over a state's types and some slot values.
    pub fn new(types: &'a Types<'a>, slots: SlotSource<'a>) -> Eval<'a> {
        Eval { types, slots, locals: Vec::new(), it: None, depth: 0 }
    }

    /// Adds a binder.
    pub fn bind(&mut self, name: &str, value: Value) {
        self.locals.push((name.to_owned(), value));
    }

    /// Forgets binders beyond the first `depth`.
    pub fn forget(&mut self, depth: usize) {
        self.locals.truncate(depth);
    }

    /// Returns how many binders there are.
    pub fn bound(&self) -> usize {
        self.locals.len()
    }

    /// Returns whether a value satisfies a predicate.
    pub fn holds(types: &Types, predicate: &Expr, value: &Value) -> Result<bool, Trap> {
        let mut eval = Eval::new(types, &|_| None);
        eval.it = Some(value.clone());
        eval.truth(predicate)
    }

    fn truth(&mut self, expr: &Expr) -> Result<bool, Trap> {
        match self.eval(expr)? {
            Value::Bool(value) => Ok(value),
            _ => trap("a condition is no Bool"),
        }
    }

    /// Returns the value of an expression.
    pub fn eval(&mut self, expr: &Expr) -> Result<Value, Trap> {
        self.depth += 1;
        if self.depth > MAX_DEPTH * 8 {
            return trap("nested too deeply");
        }
        let value = self.kind(&expr.kind);
        self.depth -= 1;
        value
    }

    fn kind(&mut self, kind: &ExprKind) -> Result<Value, Trap> {
        Ok(match kind {
            ExprKind::Int(digits) => Value::Int(digits.parse().map_err(|_| "overflow".to_owned())?),
            ExprKind::Float(digits) => Value::Float(digits.parse().map_err(|_| "no finite Float".to_owned())?),
            ExprKind::Text(text) => Value::Text(text.clone()),
            ExprKind::Bool(value) => Value::Bool(*value),
            ExprKind::None => Value::Option(None),
            ExprKind::Some(inner) => Value::Option(Some(Box::new(self.eval(inner)?))),
            ExprKind::It => self.it.clone().ok_or("'it' outside a predicate")?,
            ExprKind::Name(name) => self.name(name)?,
            ExprKind::Call(callee, args) => self.call(callee, args)?,
            ExprKind::Make(head, variant, args) => {
                self.make(head, variant.as_deref(), args.as_deref().unwrap_or(&[]))?
            }
            ExprKind::Neg(inner) => self.negate(inner)?,
            ExprKind::Not(inner) => Value::Bool(!self.truth(inner)?),
            ExprKind::Binary(Binary::And, left, right) => Value::Bool(self.truth(left)? && self.truth(right)?),
            ExprKind::Binary(Binary::Or, left, right) => Value::Bool(self.truth(left)? || self.truth(right)?),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                binary(*op, left, right)?
            }
            ExprKind::Field(inner, name) => match self.eval(inner)? {
                Value::Record(mut fields) => fields.remove(name).ok_or("no such field")?,
                _ => return trap("no record"),
            },
            ExprKind::If(condition, yes, no) => {
                if self.truth(condition)? {
                    self.eval(yes)?
                } else {
                    self.eval(no)?
                }
            }
            ExprKind::Match(subject, arms) => self.matching(subject, arms)?,
            ExprKind::List(items) => Value::List(items.iter().map(|item| self.eval(item)).collect::<Result<_, _>>()?),
            ExprKind::Map(pairs) => {
                let mut map = BTreeMap::new();
                for (key, value) in pairs {
                    map.insert(self.eval(key)?, self.eval(value)?);
                }
                Value::Map(map)
            }
            ExprKind::Null
            | ExprKind::Emit(..)
            | ExprKind::Assign(..)
            | ExprKind::Lambda(..)
            | ExprKind::LambdaList(..) => {
                return trap("this cannot be evaluated");
            }
        })
    }

    fn name(&self, name: &Ref) -> Result<Value, Trap> {
        match name.to {
            To::Def(slot) => (self.slots)(slot).ok_or_else(|| format!("slot '{}' has no value", name.name)),
            _ => {
                let local = self.locals.iter().rev().find(|(local, _)| *local == name.name);
                local.map(|(_, value)| value.clone()).ok_or_else(|| format!("'{}' has no value", name.name))
            }
        }
    }

    fn negate(&mut self, inner: &Expr) -> Result<Value, Trap> {
        // The smallest Int has no positive counterpart.
        if let ExprKind::Int(digits) = &inner.kind {
            return format!("-{digits}").parse().map(Value::Int).map_err(|_| "overflow".to_owned());
        }
        match self.eval(inner)? {
            Value::Int(value) => value.checked_neg().map(Value::Int).ok_or_else(|| "overflow".to_owned()),
            Value::Float(value) => Ok(Value::Float(-value)),
            _ => trap("no number"),
        }
    }

    fn matching(&mut self, subject: &Expr, arms: &[(Pattern, Expr)]) -> Result<Value, Trap> {
        let subject = self.eval(subject)?;
        for (pattern, value) in arms {
            let depth = self.locals.len();
            let fits = match (pattern, &subject) {
                (Pattern::Any, _) | (Pattern::None, Value::Option(None)) => true,
                (Pattern::Some(name), Value::Option(Some(inner))) => {
                    self.bind(name, inner.as_ref().clone());
                    true
                }
                (Pattern::Bool(a), Value::Bool(b)) => a == b,
                (Pattern::Int(digits), Value::Int(b)) => digits.parse() == Ok(*b),
                (Pattern::Text(a), Value::Text(b)) => a == b,
                (Pattern::Variant(a, binders), Value::Variant(_, b, fields)) if a == b => {
                    for (binder, (_, value)) in binders.iter().zip(fields) {
                        self.bind(binder, value.clone());
                    }
                    true
                }
                _ => false,
            };
            if fits {
                let result = self.eval(value);
                self.forget(depth);
                return result;
            }
        }
        trap("no arm of the match fits")
    }

    fn make(&mut self, head: &Ref, variant: Option<&str>, args: &[Arg]) -> Result<Value, Trap> {
        let To::Def(def) = head.to else {
            return if head.name == "Unit" { Ok(Value::Unit) } else { trap("this type is not known") };
        };
        let shape = self.types.shape(def);
        match (shape, variant) {
            (Shape::Alias(Ty::Named(def)), _) => {
                let aliased = Ref { to: To::Def(def), ..head.clone() };
                self.make(&aliased, variant, args)
            }
            (Shape::Record(_), None) => {
                let mut fields = BTreeMap::new();
                for arg in args {
                    fields.insert(arg.name.clone().unwrap_or_default(), self.eval(&arg.value)?);
                }
                Ok(Value::Record(fields))
            }
            (Shape::Union(variants), Some(name)) => {
                let at = variants.iter().position(|(variant, _)| variant == name).ok_or("no such variant")?;
                let mut fields = Vec::new();
                for (index, (field, _)) in variants[at].1.iter().enumerate() {
                    let named = args.iter().find(|arg| arg.name.as_ref() == Some(field));
                    let arg = named.or_else(|| args.get(index)).ok_or("a field is missing")?;
                    fields.push((field.clone(), self.eval(&arg.value)?));
                }
                Ok(Value::Variant(at, name.to_owned(), fields))
            }
            (Shape::Nominal(..) | Shape::Refined(..) | Shape::Alias(_), None) => {
                let value = self.eval(&args.first().ok_or("a value is missing")?.value)?;
                self.fits(&Ty::Named(def), &value)?;
                Ok(value)
            }
            _ => trap("this type cannot be constructed so"),
        }
    }

    /// Traps unless a value satisfies every predicate of its type.
    pub fn fits(&self, ty: &Ty, value: &Value) -> Result<(), Trap> {
        let Ty::Named(def) = ty else { return Ok(()) };
        match self.types.shape(*def) {
            Shape::Alias(base) | Shape::Nominal(base, None) => self.fits(&base, value),
            Shape::Refined(base, predicate) | Shape::Nominal(base, Some(predicate)) => {
                self.fits(&base, value)?;
                if Eval::holds(self.types, &predicate, value)? {
                    Ok(())
                } else {
                    trap(format!("a value violates {}", self.types.show(ty)))
                }
            }
            _ => Ok(()),
        }
    }

    fn call(&mut self, callee: &Ref, args: &[Arg]) -> Result<Value, Trap> {
        if let To::Def(def) = callee.to {
            let view = self.types.state().view(def);
            let Some(Body::Fn { params, .. }) = view.map(|view| &view.body) else { return trap("no fn") };
            let mut values = Vec::new();
            for (index, param) in params.iter().enumerate() {
                let named = args.iter().find(|arg| arg.name.as_ref() == Some(&param.name));
                let arg = named.or_else(|| args.get(index)).ok_or("an argument is missing")?;
                values.push(self.eval(&arg.value)?);
            }
            return self.apply(def, values);
        }
        if callee.name == "refine" {
            return self.refine(args);
        }
        if callee.name == "with" {
            let Value::Record(mut fields) = self.arg(args, 0)? else { return trap("no record") };
            for arg in &args[1..] {
                fields.insert(arg.name.clone().unwrap_or_default(), self.eval(&arg.value)?);
            }
            return Ok(Value::Record(fields));
        }
        if let Some(at) = crate::strand::lang::names::fn_argument(&callee.name) {
            return self.call_with_fn(&callee.name, args, at);
        }
        let values = args.iter().map(|arg| self.eval(&arg.value)).collect::<Result<Vec<_>, _>>()?;
        super::builtin::call(&callee.name, values)
    }

    fn arg(&mut self, args: &[Arg], at: usize) -> Result<Value, Trap> {
        self.eval(&args.get(at).ok_or("an argument is missing")?.value)
    }

    /// Runs a fn on values.
    fn apply(&mut self, def: DefId, values: Vec<Value>) -> Result<Value, Trap> {
        let view = self.types.state().view(def);
        let Some(Body::Fn { params, returns, expr }) = view.map(|view| &view.body) else { return trap("no fn") };
        if self.depth > MAX_DEPTH * 6 {
            return trap("calls are nested too deeply");
        }
        let mut inner = Eval { types: self.types, slots: self.slots, locals: Vec::new(), it: None, depth: self.depth };
        for (param, value) in params.iter().zip(values) {
            inner.fits(&self.types.lower(&param.ty), &value)?;
            inner.bind(&param.name, value);
        }
        let value = inner.eval(expr)?;
        inner.fits(&self.types.lower(returns), &value)?;
        Ok(value)
    }

    fn refine(&mut self, args: &[Arg]) -> Result<Value, Trap> {
        let value = self.arg(args, 1)?;
        let Some(ExprKind::Make(Ref { to: To::Def(def), .. }, _, _)) = args.first().map(|arg| &arg.value.kind) else {
            return trap("refine needs a type");
        };
        let fits = self.fits(&Ty::Named(*def), &value).is_ok();
        Ok(Value::Option(fits.then(|| Box::new(value))))
    }

    fn call_with_fn(&mut self, name: &str, args: &[Arg], at: usize) -> Result<Value, Trap> {
        let Some(ExprKind::Name(Ref { to: To::Def(def), .. })) = args.get(at).map(|arg| &arg.value.kind) else {
            return trap("the fn is not known");
        };
        let subject = self.arg(args, 0)?;
        let key = if at == 2 { Some(self.arg(args, 1)?) } else { None };
        let extra = args[at + 1..].iter().map(|arg| self.eval(&arg.value)).collect::<Result<Vec<_>, _>>()?;
        let mut run = |item: &Value| {
            let mut values = vec![item.clone()];
            values.extend(extra.iter().cloned());
            self.apply(*def, values)
        };
        match (name, subject, key) {
            ("update", Value::Map(mut map), Some(key)) => {
                if let Some(value) = map.get(&key) {
                    let value = run(value)?;
                    map.insert(key, value);
                }
                Ok(Value::Map(map))
            }
            ("map", Value::List(items), _) => Ok(Value::List(items.iter().map(run).collect::<Result<_, _>>()?)),
            ("filter" | "count", Value::List(items), _) => {
                let mut matches = Vec::new();
                for item in items {
                    if run(&item)? == Value::Bool(true) {
                        matches.push(item);
                    }
                }
                Ok(if name == "count" { Value::Int(matches.len() as i64) } else { Value::List(matches) })
            }
            ("sort_by", Value::List(items), _) => {
                let mut keyed =
                    items.into_iter().map(|item| Ok((run(&item)?, item))).collect::<Result<Vec<_>, Trap>>()?;
                keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
                Ok(Value::List(keyed.into_iter().map(|(_, item)| item).collect()))
            }
            _ => trap(format!("{name} does not take this")),
        }
    }
}

fn binary(op: Binary, left: Value, right: Value) -> Result<Value, Trap> {
    let overflow = || "overflow".to_owned();
    let finite = |value: f64| if value.is_finite() { Ok(Value::Float(value)) } else { trap("no finite Float") };
    Ok(match (op, left, right) {
        (Binary::Eq, a, b) => Value::Bool(a == b),
        (Binary::Ne, a, b) => Value::Bool(a != b),
        (Binary::Lt, a, b) => Value::Bool(a < b),
        (Binary::Le, a, b) => Value::Bool(a <= b),
        (Binary::Gt, a, b) => Value::Bool(a > b),
        (Binary::Ge, a, b) => Value::Bool(a >= b),
        (Binary::In, a, Value::List(items)) => Value::Bool(items.contains(&a)),
        (Binary::In, a, Value::Set(items)) => Value::Bool(items.contains(&a)),
        (Binary::In, a, Value::Map(map)) => Value::Bool(map.contains_key(&a)),
        (Binary::Add, Value::Text(a), Value::Text(b)) => Value::Text(a + &b),
        (Binary::Add, Value::List(mut a), Value::List(b)) => {
            a.extend(b);
            Value::List(a)
        }
        (Binary::Div | Binary::Rem, _, Value::Int(0)) => return trap("division by zero"),
        (Binary::Add, Value::Int(a), Value::Int(b)) => Value::Int(a.checked_add(b).ok_or_else(overflow)?),
        (Binary::Sub, Value::Int(a), Value::Int(b)) => Value::Int(a.checked_sub(b).ok_or_else(overflow)?),
        (Binary::Mul, Value::Int(a), Value::Int(b)) => Value::Int(a.checked_mul(b).ok_or_else(overflow)?),
        (Binary::Div, Value::Int(a), Value::Int(b)) => Value::Int(a.checked_div(b).ok_or_else(overflow)?),
        (Binary::Rem, Value::Int(a), Value::Int(b)) => Value::Int(a.checked_rem(b).ok_or_else(overflow)?),
        (Binary::Add, Value::Float(a), Value::Float(b)) => finite(a + b)?,
        (Binary::Sub, Value::Float(a), Value::Float(b)) => finite(a - b)?,
        (Binary::Mul, Value::Float(a), Value::Float(b)) => finite(a * b)?,
        (Binary::Div, Value::Float(a), Value::Float(b)) => finite(a / b)?,
        _ => return trap("these values do not go together"),
    })
}
