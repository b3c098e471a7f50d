//! The default value of each type.

use super::types::{Shape, Ty, Types};
use crate::strand::lang::ast::Expr;
use crate::strand::runtime::builtin;
use crate::strand::runtime::eval::Eval;
use crate::strand::runtime::value::Value;

impl Types<'_> {
    /// Returns the default value of a type as an expression; `None` where it has none.
    pub fn default_text(&self, ty: &Ty) -> Option<String> {
        self.default_within(ty, 0)
    }

    fn default_within(&self, ty: &Ty, depth: u32) -> Option<String> {
        if depth > 32 {
            return None;
        }
        Some(match ty {
            Ty::Err => return None,
            Ty::Text => "\"\"".to_owned(),
            Ty::Int => "0".to_owned(),
            Ty::Float => "0.0".to_owned(),
            Ty::Bool => "false".to_owned(),
            Ty::Unit => "Unit".to_owned(),
            Ty::List(_) => "[]".to_owned(),
            Ty::Set(_) => "set([])".to_owned(),
            Ty::Option(_) => "none".to_owned(),
            Ty::Map(..) => "{}".to_owned(),
            Ty::Named(id) => {
                let fields = |fields: &[(String, Ty)]| -> Option<String> {
                    let field =
                        |(name, ty): &(String, Ty)| Some(format!("{name}={}", self.default_within(ty, depth + 1)?));
                    Some(fields.iter().map(field).collect::<Option<Vec<_>>>()?.join(", "))
                };
                match self.shape(*id) {
                    Shape::Alias(base) => self.default_within(&base, depth + 1)?,
                    Shape::Refined(base, predicate) => self.satisfying(&base, &predicate, depth)?,
                    Shape::Nominal(base, predicate) => {
                        let inner = match predicate {
                            Some(predicate) => self.satisfying(&base, &predicate, depth)?,
                            None => self.default_within(&base, depth + 1)?,
                        };
                        format!("{}({inner})", self.show(ty))
                    }
                    Shape::Record(list) => format!("{}({})", self.show(ty), fields(&list)?),
                    Shape::Union(variants) => {
                        let (name, list) = variants.first()?;
                        let inner = fields(list)?;
                        let inner = if inner.is_empty() { inner } else { format!("({inner})") };
                        format!("{}.{name}{inner}", self.show(ty))
                    }
                    Shape::Unknown => return None,
                }
            }
        })
    }

    /// Returns the default of a base, if it satisfies a predicate.
    fn satisfying(&self, base: &Ty, predicate: &Expr, depth: u32) -> Option<String> {
        let text = self.default_within(base, depth + 1)?;
        let value = match self.raw(base) {
            Ty::Text => Value::Text(String::new()),
            Ty::Int => Value::Int(0),
            Ty::Float => Value::Float(0.0),
            Ty::Bool => Value::Bool(false),
            Ty::Unit => Value::Unit,
            Ty::List(_) => Value::List(Vec::new()),
            Ty::Set(_) => builtin::call("set", vec![Value::List(Vec::new())]).ok()?,
            Ty::Option(_) => Value::Option(None),
            Ty::Map(..) => Value::Map(Default::default()),
            _ => return None,
        };
        Eval::holds(self, predicate, &value).ok()?.then_some(text)
    }
}
