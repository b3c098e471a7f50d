//! Content hashes of definitions, independent of their names.

use std::fmt;

use super::id::DefId;
use super::lang::ast::{
    Action, Arg, Body, Element, Expr, ExprKind, Field, Guard, Pattern, Prim, Ref, Selector, Stmt, To, Type, TypeBody,
};

/// A content hash, written `h:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Stands for a definition of the same cycle before the first round.
    pub const ZERO: Hash = Hash([0; 32]);

    /// Returns the 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "h:{}", self.hex())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A body in normal form, and the definitions it refers to in order of first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    bytes: Box<[u8]>,
    /// The dependency table.
    pub deps: Vec<DefId>,
}

/// Encodes a resolved body. `id` salts a nominal type.
pub fn encode(id: DefId, body: &Body) -> Encoded {
    let mut e = Encoder { out: Vec::with_capacity(256), deps: Vec::new() };
    let nominal = matches!(body, Body::Type(TypeBody::Plain { nominal: true, .. }));
    e.out.extend_from_slice(b"strand/1\0");
    e.str(body.layer().word());
    e.str(&if nominal { id.to_string() } else { String::new() });
    e.body(body);
    Encoded { bytes: e.out.as_slice().into(), deps: e.deps }
}

impl Encoded {
    /// Creates the encoding of a definition of which only the dependencies are known. It has no hash of its own.
    pub fn of_deps(deps: Vec<DefId>) -> Encoded {
        Encoded { deps, ..Encoded::default() }
    }

    /// Returns the hash, given that of each dependency in the order of `deps`.
    pub fn hash(&self, of: impl Fn(DefId) -> Hash) -> Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.bytes);
        hasher.update(&(self.deps.len() as u32).to_le_bytes());
        for dep in &self.deps {
            hasher.update(&of(*dep).0);
        }
        Hash(*hasher.finalize().as_bytes())
    }
}

/// Returns the hashes of a cycle's members after its last round: own value, then all values sorted.
pub fn cycle_hash(own: Hash, all: &[Hash]) -> Hash {
    let mut sorted = all.to_vec();
    sorted.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"scc\0");
    hasher.update(&own.0);
    for hash in &sorted {
        hasher.update(&hash.0);
    }
    Hash(*hasher.finalize().as_bytes())
}

const LEAF: u32 = u32::MAX;

struct Encoder {
    out: Vec<u8>,
    deps: Vec<DefId>,
}

impl Encoder {
    fn u32(&mut self, value: u32) {
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    fn str(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.out.extend_from_slice(text.as_bytes());
    }

    fn node(&mut self, production: &str, children: usize) {
        self.str(production);
        self.u32(children as u32);
    }

    fn leaf(&mut self, kind: &str, text: &str) {
        self.str(kind);
        self.u32(LEAF);
        self.str(text);
    }

    /// Encodes a leaf of a number, mostly a small one.
    fn numbered(&mut self, kind: &str, number: u32) {
        match u8::try_from(number) {
            Ok(digit @ 0..=9) => self.leaf(kind, &"0123456789"[usize::from(digit)..=usize::from(digit)]),
            _ => self.leaf(kind, &number.to_string()),
        }
    }

    fn absent(&mut self) {
        self.leaf("absent", "");
    }

    fn reference(&mut self, reference: &Ref) {
        match reference.to {
            To::Local(index) => self.numbered("local", index),
            To::Builtin => self.leaf("built-in", &reference.name),
            To::Unset => self.leaf("name", &reference.name),
            To::Missing => self.leaf("unresolved", &format!("{}.{}", reference.layer, reference.name)),
            To::Dangling(def) => self.leaf("dangling", &format!("{}.{}#{def}", reference.layer, reference.name)),
            To::Def(def) => {
                let known = self.deps.iter().position(|dep| *dep == def);
                let index = known.unwrap_or_else(|| {
                    if self.deps.is_empty() {
                        // Most have one at most.
                        self.deps.reserve_exact(1);
                    }
                    self.deps.push(def);
                    self.deps.len() - 1
                });
                self.numbered("global", index as u32);
            }
        }
    }

    fn ty(&mut self, ty: &Type) {
        if ty.args.is_empty() {
            return self.reference(&ty.head);
        }
        self.node("type", 1 + ty.args.len());
        self.reference(&ty.head);
        ty.args.iter().for_each(|arg| self.ty(arg));
    }

    /// Encodes a field whose name is meaning.
    fn field(&mut self, field: &Field) {
        self.node("field", 2);
        self.leaf("name", &field.name);
        self.ty(&field.ty);
    }

    fn fields(&mut self, production: &str, fields: &[Field]) {
        self.node(production, fields.len());
        fields.iter().for_each(|field| self.field(field));
    }

    fn body(&mut self, body: &Body) {
        match body {
            Body::Type(body) => self.type_body(body),
            Body::Slot { ty, init } => {
                self.node("slot-body", 2);
                self.ty(ty);
                self.expr(init);
            }
            Body::Effect { params, returns, err, needs, prim } => {
                self.node("effect-body", 5);
                self.fields("params", params);
                self.ty(returns);
                match err {
                    Some(err) => self.ty(err),
                    None => self.absent(),
                }
                let mut needs = needs.clone();
                needs.sort();
                self.node("needs", needs.len());
                needs.iter().for_each(|cap| self.leaf("cap", cap));
                self.prim(prim);
            }
            Body::Reducer { on, input, stmts } => {
                self.node("reducer-body", 2 + stmts.len());
                match on {
                    Some(on) => self.selector(on),
                    None => self.absent(),
                }
                match input {
                    // The binder's name is a local name, its type is interface.
                    Some(input) => self.ty(&input.ty),
                    None => self.absent(),
                }
                stmts.iter().for_each(|stmt| self.stmt(stmt));
            }
            Body::Tile { params, root } => {
                self.node("tile-body", 2);
                self.fields("params", params);
                self.element(root);
            }
            Body::Fn { params, returns, expr } => {
                self.node("fn-body", 3);
                self.fields("params", params);
                self.ty(returns);
                self.expr(expr);
            }
        }
    }

    fn type_body(&mut self, body: &TypeBody) {
        match body {
            TypeBody::Plain { nominal, base, pred } => {
                let production = if *nominal { "nominal" } else { "alias" };
                self.node(production, 1 + usize::from(pred.is_some()));
                self.ty(base);
                if let Some(pred) = pred {
                    self.expr(pred);
                }
            }
            TypeBody::Record(fields) => {
                let mut sorted: Vec<&Field> = fields.iter().collect();
                sorted.sort_by(|a, b| a.name.cmp(&b.name));
                self.node("record", sorted.len());
                sorted.into_iter().for_each(|field| self.field(field));
            }
            TypeBody::Union(variants) => {
                self.node("union", variants.len());
                for variant in variants {
                    self.node("variant", 1 + variant.fields.len());
                    self.leaf("name", &variant.name);
                    variant.fields.iter().for_each(|field| self.field(field));
                }
            }
        }
    }

    fn prim(&mut self, prim: &Prim) {
        self.node("prim", 1 + prim.args.len());
        self.leaf("name", &prim.name);
        self.args(&prim.args);
    }

    fn selector(&mut self, selector: &Selector) {
        self.node("selector", 2);
        self.reference(&selector.tile);
        self.leaf("event", &selector.event);
    }

    /// Encodes arguments in place, then named ones by name; each is a child of the node begun before.
    fn args(&mut self, args: &[Arg]) {
        let mut sorted: Vec<&Arg> = args.iter().collect();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        for arg in sorted {
            if let Some(name) = &arg.name {
                self.node("arg", 2);
                self.leaf("name", name);
            }
            self.expr(&arg.value);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.action {
            Action::Write(target, value) => {
                self.node("write", 3);
                self.reference(target);
                self.expr(value);
            }
            Action::Emit { effect, args, ok, err } => {
                self.node("emit-stmt", 4 + args.len());
                self.reference(effect);
                self.args(args);
                for reducer in [ok, err] {
                    match reducer {
                        Some(reducer) => self.reference(reducer),
                        None => self.absent(),
                    }
                }
            }
            Action::Call(callee, args) => {
                self.node("call-stmt", 2 + args.len());
                self.reference(callee);
                self.args(args);
            }
        }
        match &stmt.guard {
            None => self.absent(),
            Some(Guard::If(expr)) => self.expr(expr),
            Some(Guard::Some(_, expr)) => {
                self.node("guard", 1);
                self.expr(expr);
            }
        }
    }

    fn element(&mut self, element: &Element) {
        self.node("element", 1 + element.args.len() + element.children.len());
        self.reference(&element.head);
        let mut args: Vec<&(String, Expr)> = element.args.iter().collect();
        args.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, value) in args {
            self.node("named", 2);
            self.leaf("name", name);
            // The name of an `each` item is a binder: its position identifies it.
            if name == "item" && element.head.to == To::Builtin { self.absent() } else { self.expr(value) }
        }
        element.children.iter().for_each(|child| self.element(child));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(digits) => self.leaf("int", digits),
            ExprKind::Float(digits) => self.leaf("float", digits),
            ExprKind::Text(text) => self.leaf("string", text),
            ExprKind::Bool(value) => self.leaf("bool", if *value { "true" } else { "false" }),
            ExprKind::None => self.leaf("none", ""),
            ExprKind::Null => self.leaf("null", ""),
            ExprKind::It => self.leaf("it", ""),
            ExprKind::Name(name) => self.reference(name),
            ExprKind::Some(inner) => self.one("some", inner),
            ExprKind::Neg(inner) => self.one("neg", inner),
            ExprKind::Not(inner) => self.one("not", inner),
            ExprKind::Call(callee, args) => self.applied("call", callee, args),
            ExprKind::Emit(effect, args) => self.applied("emit", effect, args),
            ExprKind::Make(head, variant, args) => {
                self.construction(head, variant.as_deref(), args.as_deref().unwrap_or(&[]));
            }
            ExprKind::Assign(slot, value) => {
                self.node("assign", 2);
                self.reference(slot);
                self.expr(value);
            }
            // A lambda is never legal; its text is all there is to say.
            ExprKind::Lambda(..) | ExprKind::LambdaList(..) => {
                self.leaf("lambda", &super::lang::print::expr(expr));
            }
            ExprKind::Binary(op, left, right) => {
                self.node(op.word(), 2);
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Field(inner, name) => {
                self.node("post", 2);
                self.expr(inner);
                self.leaf("name", name);
            }
            ExprKind::If(condition, yes, no) => {
                self.node("if", 3);
                [condition, yes, no].into_iter().for_each(|part| self.expr(part));
            }
            ExprKind::Match(subject, arms) => self.matching(subject, arms),
            ExprKind::List(items) => {
                self.node("list", items.len());
                items.iter().for_each(|item| self.expr(item));
            }
            ExprKind::Map(pairs) => {
                self.node("map", pairs.len() * 2);
                for (key, value) in pairs {
                    self.expr(key);
                    self.expr(value);
                }
            }
        }
    }

    fn applied(&mut self, word: &str, head: &Ref, args: &[Arg]) {
        self.node(word, 1 + args.len());
        self.reference(head);
        self.args(args);
    }

    fn construction(&mut self, head: &Ref, variant: Option<&str>, args: &[Arg]) {
        self.node("construction", 2 + args.len());
        self.reference(head);
        match variant {
            Some(variant) => self.leaf("variant", variant),
            None => self.absent(),
        }
        self.args(args);
    }

    fn matching(&mut self, subject: &Expr, arms: &[(Pattern, Expr)]) {
        self.node("match", 1 + arms.len());
        self.expr(subject);
        for (pattern, value) in arms {
            self.node("arm", 2);
            self.pattern(pattern);
            self.expr(value);
        }
    }

    fn one(&mut self, production: &str, inner: &Expr) {
        self.node(production, 1);
        self.expr(inner);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Any => self.leaf("pattern", "_"),
            Pattern::None => self.leaf("pattern", "none"),
            Pattern::Some(_) => self.leaf("pattern", "some"),
            Pattern::Bool(value) => self.leaf("pattern", if *value { "true" } else { "false" }),
            Pattern::Int(digits) => self.leaf("int", digits),
            Pattern::Text(text) => self.leaf("string", text),
            Pattern::Variant(name, binders) => self.leaf("variant", &format!("{name}/{}", binders.len())),
        }
    }
}
