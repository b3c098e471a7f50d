//! A node of the graph: an op with its derived facts.

use std::cell::{OnceCell, RefCell};

use crate::strand::lang::ast::{Body, TypeBody};
use crate::strand::lang::parse::parse_body;
use crate::strand::lang::unit::{count, is_multi};
use crate::strand::lazy::At;
use crate::strand::op::{Kind, Op};

/// An admitted op with what was found out about it once.
#[derive(Debug)]
pub struct Node {
    /// The op.
    pub op: Op,
    /// The reason why it has no effect, if it has none.
    pub void: Option<Box<str>>,
    /// The greatest `ts` among it and its ancestors.
    pub max_ts: i64,
    /// True if the `add` of its target is among its ancestors (or it is that `add`).
    pub anchored: bool,
    /// The place of its text, if that was moved out of the log and is not here.
    pub archived: Option<Box<At>>,
    outline: OnceCell<Outline>,
    /// Its body as it was parsed to see whether it is void, for the first who wants it.
    pub(super) body: RefCell<Option<Box<Body>>>,
}

impl Node {
    /// Creates an op of which nothing was found out yet.
    pub(super) fn new(op: Op) -> Node {
        let (outline, body) = (OnceCell::new(), RefCell::default());
        Node { op, void: None, max_ts: 0, anchored: false, archived: None, outline, body }
    }

    /// Creates an op about which everything was found out before. With `archived`, it comes without its text.
    pub fn known(op: Op, void: Option<Box<str>>, max_ts: i64, anchored: bool, archived: Option<At>) -> Node {
        Node { void, max_ts, anchored, archived: archived.map(Box::new), ..Node::new(op) }
    }

    /// Returns the name it gives its definition, if it has an effect.
    pub(super) fn names(&self) -> Option<&str> {
        match self.op.kind {
            _ if self.void.is_some() => None,
            Kind::Add => Some(&*self.op.name),
            Kind::Rename => self.op.name_new(),
            _ => None,
        }
    }

    /// Returns what edits of its body must know about it; none if it brings no body.
    pub(super) fn outline(&self) -> Option<Outline> {
        if let Some(outline) = self.outline.get() {
            return Some(*outline);
        }
        let held = self.body.borrow().as_deref().map(Outline::of);
        let found = match held {
            Some(outline) => outline,
            None => Outline::of(&self.body()?),
        };
        Some(*self.outline.get_or_init(|| found))
    }

    /// Returns the body it brings, for the caller to keep. It is parsed again but for the first time: most are asked for
    /// once.
    pub fn body(&self) -> Option<Body> {
        if let Some(body) = self.body.take() {
            return Some(*body);
        }
        let text = self.op.body.as_deref().filter(|_| self.void.is_none())?;
        parse_body(self.op.layer, text).ok()
    }
}

/// The outline of a body, as edits of it need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outline {
    /// The number of its own units.
    pub units: u32,
    pub form: Form,
}

/// The form of a body, which decides its possible changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A type without parts.
    Plain,
    /// A type with fields.
    Record,
    /// A type with variants.
    Union,
    /// No type.
    Other,
}

impl Outline {
    fn of(body: &Body) -> Outline {
        Outline { units: if is_multi(body) { count(body) as u32 } else { 0 }, form: form(body) }
    }
}

fn form(body: &Body) -> Form {
    match body {
        Body::Type(TypeBody::Plain { .. }) => Form::Plain,
        Body::Type(TypeBody::Record(_)) => Form::Record,
        Body::Type(TypeBody::Union(_)) => Form::Union,
        _ => Form::Other,
    }
}
