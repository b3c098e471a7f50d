//! Types as the checker sees them: the target of a name, equality, and defaults.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::strand::id::{DefId, Layer};
use crate::strand::lang::ast::{Body, Expr, To, Type, TypeBody};
use crate::strand::lang::print;
use crate::strand::state::State;

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Ty {
    /// The type of anything already reported.
    Err,
    Text,
    Int,
    Float,
    Bool,
    Unit,
    List(Rc<Ty>),
    Set(Rc<Ty>),
    Option(Rc<Ty>),
    Map(Rc<Ty>, Rc<Ty>),
    /// A definition of the type layer.
    Named(DefId),
}

/// The meaning of a definition of the type layer.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Another name of a type.
    Alias(Ty),
    /// The values of a type that satisfy a predicate.
    Refined(Ty, Rc<Expr>),
    /// A type of its own, perhaps with a predicate.
    Nominal(Ty, Option<Rc<Expr>>),
    /// A record's fields, in written order.
    Record(Vec<(String, Ty)>),
    /// A union's variants with their fields.
    Union(Vec<(String, Vec<(String, Ty)>)>),
    /// An unknown type, or a removed one.
    Unknown,
}

/// The text that identifies a type; none for the error type and cyclic ones.
type TypeKey = Option<Rc<str>>;

/// The types of a state.
pub struct Types<'s> {
    state: &'s State,
    shapes: RefCell<HashMap<DefId, Rc<Shape>>>,
    keys: RefCell<HashMap<(DefId, bool), TypeKey>>,
}

impl<'s> Types<'s> {
    /// Returns the types of a state.
    pub fn new(state: &'s State) -> Types<'s> {
        Types { state, shapes: RefCell::default(), keys: RefCell::default() }
    }

    /// Returns the state they belong to.
    pub fn state(&self) -> &'s State {
        self.state
    }

    /// Returns the type a written type stands for; faults in it make it the error type.
    pub fn lower(&self, ty: &Type) -> Ty {
        match ty.head.to {
            To::Def(id) if ty.args.is_empty() && ty.head.layer == Layer::Type => Ty::Named(id),
            To::Builtin => {
                let mut args = ty.args.iter().map(|arg| Rc::new(self.lower(arg)));
                match (ty.head.name.as_str(), args.next(), args.next(), ty.args.len()) {
                    ("Text", None, _, 0) => Ty::Text,
                    ("Int", None, _, 0) => Ty::Int,
                    ("Float", None, _, 0) => Ty::Float,
                    ("Bool", None, _, 0) => Ty::Bool,
                    ("Unit", None, _, 0) => Ty::Unit,
                    ("List", Some(item), _, 1) => Ty::List(item),
                    ("Set", Some(item), _, 1) => Ty::Set(item),
                    ("Option", Some(item), _, 1) => Ty::Option(item),
                    ("Map", Some(key), Some(value), 2) => Ty::Map(key, value),
                    _ => Ty::Err,
                }
            }
            _ => Ty::Err,
        }
    }

    /// Returns what a definition of the type layer stands for.
    pub fn shape(&self, id: DefId) -> Shape {
        if let Some(shape) = self.shapes.borrow().get(&id) {
            return Shape::clone(shape);
        }
        let body = self.state.reading(id).filter(|view| view.visible()).map(|view| &view.body);
        let shape = match body {
            Some(Body::Type(TypeBody::Plain { nominal: true, base, pred })) => {
                Shape::Nominal(self.lower(base), pred.clone().map(Rc::new))
            }
            Some(Body::Type(TypeBody::Plain { base, pred: Some(pred), .. })) => {
                Shape::Refined(self.lower(base), Rc::new(pred.clone()))
            }
            Some(Body::Type(TypeBody::Plain { base, .. })) => Shape::Alias(self.lower(base)),
            Some(Body::Type(TypeBody::Record(fields))) => {
                Shape::Record(fields.iter().map(|field| (field.name.clone(), self.lower(&field.ty))).collect())
            }
            Some(Body::Type(TypeBody::Union(variants))) => {
                let fields = |fields: &[crate::strand::lang::ast::Field]| {
                    fields.iter().map(|field| (field.name.clone(), self.lower(&field.ty))).collect()
                };
                Shape::Union(variants.iter().map(|variant| (variant.name.clone(), fields(&variant.fields))).collect())
            }
            _ => Shape::Unknown,
        };
        self.shapes.borrow_mut().insert(id, Rc::new(shape.clone()));
        shape
    }

    /// Returns the type behind aliases.
    pub fn plain(&self, ty: &Ty) -> Ty {
        self.behind(ty, |shape| match shape {
            Shape::Alias(base) => Some(base),
            _ => None,
        })
    }

    /// Returns the type behind aliases and refinements: a refined value is a value of its base.
    pub fn base(&self, ty: &Ty) -> Ty {
        self.behind(ty, |shape| match shape {
            Shape::Alias(base) | Shape::Refined(base, _) => Some(base),
            _ => None,
        })
    }

    /// Returns the type behind aliases, refinements and nominal layers.
    pub fn raw(&self, ty: &Ty) -> Ty {
        self.behind(ty, |shape| match shape {
            Shape::Alias(base) | Shape::Refined(base, _) | Shape::Nominal(base, _) => Some(base),
            _ => None,
        })
    }

    fn behind(&self, ty: &Ty, step: impl Fn(Shape) -> Option<Ty>) -> Ty {
        let (mut ty, mut steps) = (ty.clone(), 0);
        while let Ty::Named(id) = ty {
            match step(self.shape(id)) {
                Some(next) => ty = next,
                None => return ty,
            }
            steps += 1;
            if steps > 64 {
                return Ty::Err;
            }
        }
        ty
    }

    /// Returns whether two types are equal. Cyclic types equal everything: they are reported elsewhere.
    pub fn equal(&self, a: &Ty, b: &Ty) -> bool {
        match (self.key(a, false, &mut Vec::new()), self.key(b, false, &mut Vec::new())) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        }
    }

    /// Returns whether two types have equal representations, nominal layers and refinements aside.
    pub fn same_representation(&self, a: &Ty, b: &Ty) -> bool {
        match (self.key(a, true, &mut Vec::new()), self.key(b, true, &mut Vec::new())) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        }
    }

    /// Returns a text that is equal exactly when the type is; `None` for the error type and cyclic types.
    fn key(&self, ty: &Ty, raw: bool, path: &mut Vec<DefId>) -> Option<Rc<str>> {
        let one = |word: &str, inner: &Ty, path: &mut Vec<DefId>| {
            self.key(inner, raw, path).map(|inner| Rc::from(format!("{word}({inner})")))
        };
        match ty {
            Ty::Err => None,
            Ty::Text => Some("Text".into()),
            Ty::Int => Some("Int".into()),
            Ty::Float => Some("Float".into()),
            Ty::Bool => Some("Bool".into()),
            Ty::Unit => Some("Unit".into()),
            Ty::List(item) => one("List", item, path),
            Ty::Set(item) => one("Set", item, path),
            Ty::Option(item) => one("Option", item, path),
            Ty::Map(key, value) => {
                let (key, value) = (self.key(key, raw, path)?, self.key(value, raw, path)?);
                Some(format!("Map({key},{value})").into())
            }
            Ty::Named(id) => {
                if let Some(key) = self.keys.borrow().get(&(*id, raw)) {
                    return key.clone();
                }
                if path.contains(id) {
                    return None;
                }
                path.push(*id);
                let key = self.named_key(*id, raw, path);
                path.pop();
                self.keys.borrow_mut().insert((*id, raw), key.clone());
                key
            }
        }
    }

    fn named_key(&self, id: DefId, raw: bool, path: &mut Vec<DefId>) -> Option<Rc<str>> {
        let fields = |fields: &[(String, Ty)], path: &mut Vec<DefId>| -> Option<Vec<String>> {
            fields.iter().map(|(name, ty)| self.key(ty, raw, path).map(|key| format!("{name}:{key}"))).collect()
        };
        Some(match self.shape(id) {
            Shape::Unknown => return None,
            Shape::Alias(base) => self.key(&base, raw, path)?,
            Shape::Refined(base, _) | Shape::Nominal(base, _) if raw => self.key(&base, raw, path)?,
            Shape::Refined(base, predicate) => {
                format!("({} where {})", self.key(&base, raw, path)?, print::expr(&predicate)).into()
            }
            Shape::Nominal(..) => id.to_string().into(),
            Shape::Record(list) => {
                let mut keys = fields(&list, path)?;
                keys.sort();
                format!("{{{}}}", keys.join(",")).into()
            }
            Shape::Union(variants) => {
                let mut out = String::new();
                for (name, list) in variants {
                    out.push_str(&format!("|{name}({})", fields(&list, path)?.join(",")));
                }
                if out.is_empty() { "never".into() } else { out.into() }
            }
        })
    }

    /// Returns the type as a person writes it.
    pub fn show(&self, ty: &Ty) -> String {
        match ty {
            Ty::Err => "?".to_owned(),
            Ty::Text => "Text".to_owned(),
            Ty::Int => "Int".to_owned(),
            Ty::Float => "Float".to_owned(),
            Ty::Bool => "Bool".to_owned(),
            Ty::Unit => "Unit".to_owned(),
            Ty::List(item) => format!("List({})", self.show(item)),
            Ty::Set(item) => format!("Set({})", self.show(item)),
            Ty::Option(item) => format!("Option({})", self.show(item)),
            Ty::Map(key, value) => format!("Map({}, {})", self.show(key), self.show(value)),
            Ty::Named(id) => self.state.reading(*id).map_or_else(|| "?".to_owned(), |view| view.label.clone()),
        }
    }

    /// Returns whether values of the type can be map keys and set members.
    pub fn is_key(&self, ty: &Ty) -> bool {
        match self.raw(ty) {
            Ty::Err | Ty::Text | Ty::Int | Ty::Bool => true,
            Ty::Named(id) => match self.shape(id) {
                Shape::Union(variants) => variants.iter().all(|(_, fields)| fields.is_empty()),
                Shape::Unknown => true,
                _ => false,
            },
            _ => false,
        }
    }
}
