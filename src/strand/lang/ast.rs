//! The syntax tree of bodies. Nodes carry the data of later passes: a number, and the target of a name.

use crate::strand::id::{DefId, Layer, OpId, UnitId};

/// The target of a resolved name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// The name was not looked up yet, or is a label that is no reference.
    Unset,
    /// The n-th binder of this definition, from 0.
    Local(u32),
    /// A built-in type, function or element.
    Builtin,
    /// A visible definition.
    Def(DefId),
    /// Bound once, but its definition was removed.
    Dangling(DefId),
    /// No definition of that name.
    Missing,
}

/// A name that may refer to a definition.
#[derive(Clone, Debug)]
pub struct Ref {
    /// The name as written; after resolving, the current name of what it leads to.
    pub name: String,
    /// The layer that was looked in last.
    pub layer: Layer,
    /// The definition the writing op bound it to.
    pub bound: Option<DefId>,
    /// The op that wrote it.
    pub writer: Option<OpId>,
    /// Its target.
    pub to: To,
    /// Its number within the definition, for places in printed text.
    pub node: u32,
}

impl Ref {
    /// Returns a name not yet looked up, expected in a layer.
    pub fn new(layer: Layer, name: impl Into<String>) -> Ref {
        Ref { name: name.into(), layer, bound: None, writer: None, to: To::Unset, node: 0 }
    }

    /// Returns the definition it leads to, if it is visible.
    pub fn def(&self) -> Option<DefId> {
        match self.to {
            To::Def(id) => Some(id),
            _ => None,
        }
    }
}

/// A type: a name and its arguments.
#[derive(Clone, Debug)]
pub struct Type {
    /// The name.
    pub head: Ref,
    /// Arguments, as of `List(Int)`.
    pub args: Vec<Type>,
}

/// A named type: a record field, a parameter, a variant's field, a reducer's input.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The unit it is, for a record field.
    pub unit: Option<UnitId>,
}

/// One variant of a union.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Its fields, in order.
    pub fields: Vec<Field>,
    /// The unit it is.
    pub unit: Option<UnitId>,
}

/// Two-sided operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Or,
    And,
    Eq,
    Ne,
    Le,
    Ge,
    Lt,
    Gt,
    In,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Binary {
    /// Returns the operator as written.
    pub fn word(self) -> &'static str {
        match self {
            Binary::Or => "or",
            Binary::And => "and",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::Le => "<=",
            Binary::Ge => ">=",
            Binary::Lt => "<",
            Binary::Gt => ">",
            Binary::In => "in",
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::Rem => "%",
        }
    }
}

/// One argument of a call.
#[derive(Clone, Debug)]
pub struct Arg {
    /// Its name, if given.
    pub name: Option<String>,
    /// Its value.
    pub value: Expr,
}

/// The pattern of an arm of a match.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `_`.
    Any,
    /// `none`.
    None,
    /// `some(x)`.
    Some(String),
    /// `true` or `false`.
    Bool(bool),
    /// A whole number, without leading zeros.
    Int(String),
    /// A text.
    Text(String),
    /// A variant with its binders.
    Variant(String, Vec<String>),
}

/// An expression with its number.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind of the expression.
    pub kind: ExprKind,
    /// Its number within the definition.
    pub node: u32,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Digits without leading zeros.
    Int(String),
    /// Digits, point, digits, in shortest form.
    Float(String),
    /// A text.
    Text(String),
    /// `true`, `false`.
    Bool(bool),
    /// `none`.
    None,
    /// `some(e)`.
    Some(Box<Expr>),
    /// `null`, which is never allowed.
    Null,
    /// `it`.
    It,
    /// A bare name: local, slot, or the fn-name argument of a built-in.
    Name(Ref),
    /// A call of a fn or a built-in function.
    Call(Ref, Vec<Arg>),
    /// A construction: a type, perhaps a variant, perhaps arguments.
    Make(Ref, Option<String>, Option<Vec<Arg>>),
    /// `emit e(..)` inside an expression, which is never allowed.
    Emit(Ref, Vec<Arg>),
    /// `(s := e)`, which is never allowed.
    Assign(Ref, Box<Expr>),
    /// `x => e`, which is never allowed.
    Lambda(Box<Expr>, Box<Expr>),
    /// `(a, b) => e`, which is never allowed.
    LambdaList(Vec<String>, Box<Expr>),
    /// `-e`.
    Neg(Box<Expr>),
    /// `not e`.
    Not(Box<Expr>),
    /// `a op b`.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `e.f`.
    Field(Box<Expr>, String),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `match e { p -> a; .. }`.
    Match(Box<Expr>, Vec<(Pattern, Expr)>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{k: v}`.
    Map(Vec<(Expr, Expr)>),
}

impl Expr {
    /// Returns an expression without a number yet.
    pub fn new(kind: ExprKind) -> Expr {
        Expr { kind, node: 0 }
    }
}

/// A tile's event: `Tile.event`.
#[derive(Clone, Debug)]
pub struct Selector {
    /// The tile.
    pub tile: Ref,
    /// The event's label.
    pub event: String,
}

/// A primitive of an effect: `http.get(..)`.
#[derive(Clone, Debug)]
pub struct Prim {
    /// `http.get`.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// Its number within the definition.
    pub node: u32,
}

/// The action of a statement.
#[derive(Clone, Debug)]
pub enum Action {
    /// `slot := value`.
    Write(Ref, Expr),
    /// `emit effect(args) ok=.. err=..`.
    Emit {
        /// The effect.
        effect: Ref,
        /// Its arguments.
        args: Vec<Arg>,
        /// The reducer that receives the result.
        ok: Option<Ref>,
        /// The reducer that receives the error.
        err: Option<Ref>,
    },
    /// `name(args)`, which is never allowed.
    Call(Ref, Vec<Arg>),
}

/// The condition under which a statement runs.
#[derive(Clone, Debug)]
pub enum Guard {
    /// `when e`.
    If(Expr),
    /// `when some(x) = e`.
    Some(String, Expr),
}

/// One statement of a reducer.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Its action.
    pub action: Action,
    /// The condition.
    pub guard: Option<Guard>,
    /// The unit it is.
    pub unit: Option<UnitId>,
    /// Its number within the definition.
    pub node: u32,
}

/// One element of a tile with its children.
#[derive(Clone, Debug)]
pub struct Element {
    /// The built-in element or tile.
    pub head: Ref,
    /// Arguments by name, in printed order.
    pub args: Vec<(String, Expr)>,
    /// Children, in order.
    pub children: Vec<Element>,
    /// The unit it is.
    pub unit: Option<UnitId>,
    /// Its number within the definition.
    pub node: u32,
}

/// The body of a type.
#[expect(clippy::large_enum_variant, reason = "most types are small, and there are few of them at a time")]
#[derive(Clone, Debug)]
pub enum TypeBody {
    /// An alias, a refinement, or a nominal type.
    Plain {
        /// True if it is a type of its own.
        nominal: bool,
        /// The base type.
        base: Type,
        /// The condition that its values must satisfy.
        pred: Option<Expr>,
    },
    /// A record.
    Record(Vec<Field>),
    /// A union; without variants it is `never`.
    Union(Vec<Variant>),
}

/// The body of a definition.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Body {
    Type(TypeBody),
    Slot { ty: Type, init: Expr },
    Effect { params: Vec<Field>, returns: Type, err: Option<Type>, needs: Vec<String>, prim: Prim },
    Reducer { on: Option<Selector>, input: Option<Field>, stmts: Vec<Stmt> },
    Tile { params: Vec<Field>, root: Element },
    Fn { params: Vec<Field>, returns: Type, expr: Expr },
}

impl Body {
    /// Returns the layer such a body belongs to.
    pub fn layer(&self) -> Layer {
        match self {
            Body::Type(_) => Layer::Type,
            Body::Slot { .. } => Layer::Slot,
            Body::Effect { .. } => Layer::Effect,
            Body::Reducer { .. } => Layer::Reducer,
            Body::Tile { .. } => Layer::Tile,
            Body::Fn { .. } => Layer::Fn,
        }
    }
}

/// A definition as a text gives it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its layer.
    pub layer: Layer,
    /// Its name.
    pub name: String,
    /// Its doc lines without `## `, joined by newlines.
    pub doc: String,
    /// Its body.
    pub body: Body,
}
