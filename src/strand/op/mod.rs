//! Ops: immutable edits, and their wire form field for field.

mod change;
mod line;

use std::fmt::{self, Write};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::id::{Layer, OpId};
use super::one_or_many::OneOrMany;
pub(super) use change::shared;
pub use change::{Change, Insert};

/// The kind of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Add,
    Replace,
    Edit,
    Rename,
    Remove,
    Link,
    Unlink,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 7] =
        [Kind::Add, Kind::Replace, Kind::Edit, Kind::Rename, Kind::Remove, Kind::Link, Kind::Unlink];

    /// Returns the word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Add => "add",
            Kind::Replace => "replace",
            Kind::Edit => "edit",
            Kind::Rename => "rename",
            Kind::Remove => "remove",
            Kind::Link => "link",
            Kind::Unlink => "unlink",
        }
    }

    /// Returns the kind of a word, or what to tell whoever wrote another.
    pub fn named(word: &str) -> Result<Kind, String> {
        let all = || Kind::ALL.map(Kind::word).join(", ");
        let found = Kind::ALL.into_iter().find(|kind| kind.word() == word);
        found.ok_or_else(|| format!("there is no op '{word}'; there are {}", all()))
    }
}

/// The last moment an op may name, 9999-12-31T23:59:59.999Z in unix milliseconds. A later one has no effect.
pub const LAST_TS: i64 = 253_402_300_799_999;

/// The author of ops that bring a removed definition back for those that refer to it.
pub const HEALER: &str = "strand:heal";

/// One entry of `depends-on`: `layer:Name@h:<hex>#<def-id>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dep {
    /// The layer of what is referred to.
    pub layer: Layer,
    /// Its name, as the op's text has it.
    pub name: String,
    /// The hash its issuer saw, in hexadecimal.
    pub hash: String,
    /// Its identity; without it the reference is bound late, by name.
    pub def: Option<OpId>,
}

impl Dep {
    fn parse(text: &str) -> Option<Dep> {
        let (layer, rest) = text.split_once(':')?;
        let (rest, def) = match rest.split_once('#') {
            Some((rest, def)) => (rest, Some(OpId::parse(def)?)),
            None => (rest, None),
        };
        let (name, hash) = rest.split_once("@h:")?;
        Some(Dep { layer: Layer::parse(layer)?, name: name.to_owned(), hash: hash.to_owned(), def })
    }
}

impl fmt::Display for Dep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}@h:{}", self.layer, self.name, self.hash)?;
        self.def.map_or(Ok(()), |def| write!(f, "#{def}"))
    }
}

/// A sealed op.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// The operation.
    pub kind: Kind,
    /// The target's layer.
    pub layer: Layer,
    /// The target's name as its issuer saw it; for `add` the claimed name.
    pub name: Arc<str>,
    /// The new body's canonical text (add, replace).
    pub body: Option<Box<str>>,
    /// Its author.
    pub author: Arc<str>,
    /// Its time in unix milliseconds; grows along `parents`.
    pub ts: i64,
    /// Its identity.
    pub id: OpId,
    /// The ops it follows, sorted.
    pub parents: OneOrMany<OpId>,
    /// The definitions its text refers to, sorted.
    pub depends: Vec<Dep>,
    /// The target definition; none for a fresh `add`.
    pub def: Option<OpId>,
    /// The body it was made on (edit).
    pub base: Option<OpId>,
    /// The change (edit).
    pub changes: Vec<Change>,
    /// The bundle it belongs to.
    pub bundle: Option<Arc<str>>,
    /// Fields that few ops have, never empty: see [`Op::set_rare`].
    pub rare: Option<Box<Rare>>,
}

/// Fields that few ops have: they take room in those alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rare {
    /// The new name (rename).
    pub name_new: Option<String>,
    /// The other end (link, unlink, settling remove), as a qualified name.
    pub to: Option<String>,
    /// The reason why it was generated.
    pub cause: Option<String>,
    /// Doc lines without `## ` (add, replace).
    pub doc: Option<String>,
    /// Fields this version does not know, kept as they came. The `patch` of an edit is not kept: `changes` say it all.
    pub extra: Map<String, Value>,
}

const KNOWN: [&str; 18] = [
    "op",
    "layer",
    "name",
    "body",
    "author",
    "ts",
    "op-id",
    "parent-ops",
    "depends-on",
    "def",
    "name-new",
    "patch",
    "base",
    "changes",
    "to",
    "bundle",
    "cause",
    "doc",
];

impl Op {
    /// Creates an op of which nothing is known but what it does, to what, who did it, and when.
    pub fn new(kind: Kind, (layer, name): (Layer, &str), author: &str, ts: i64, id: OpId) -> Op {
        Op {
            kind,
            layer,
            name: name.into(),
            body: None,
            author: shared(author),
            ts,
            id,
            parents: OneOrMany::None,
            depends: Vec::new(),
            def: None,
            base: None,
            changes: Vec::new(),
            bundle: None,
            rare: None,
        }
    }

    /// Returns the new name (rename).
    pub fn name_new(&self) -> Option<&str> {
        self.rare.as_ref()?.name_new.as_deref()
    }

    /// Returns the other end (link, unlink, settling remove), as a qualified name.
    pub fn to(&self) -> Option<&str> {
        self.rare.as_ref()?.to.as_deref()
    }

    /// Returns why it was generated.
    pub fn cause(&self) -> Option<&str> {
        self.rare.as_ref()?.cause.as_deref()
    }

    /// Returns the doc lines without `## ` (add, replace).
    pub fn doc(&self) -> Option<&str> {
        self.rare.as_ref()?.doc.as_deref()
    }

    /// Returns the fields this version does not know.
    fn extra(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.rare.iter().flat_map(|rare| &rare.extra)
    }

    /// Changes the fields that few ops have.
    pub fn set_rare(&mut self, change: impl FnOnce(&mut Rare)) {
        let mut rare = self.rare.take().map_or_else(Rare::default, |rare| *rare);
        change(&mut rare);
        self.rare = (rare != Rare::default()).then(|| Box::new(rare));
    }

    /// Returns the definition it is about.
    pub fn target(&self) -> OpId {
        self.def.unwrap_or(self.id)
    }

    /// Returns the key of last-writer-wins registers.
    pub fn key(&self) -> (i64, OpId) {
        (self.ts, self.id)
    }

    /// Returns the bundle it is accepted with: its own when it names none.
    pub fn bundle_key(&self) -> String {
        self.bundle.as_deref().map_or_else(|| self.id.to_string(), str::to_owned)
    }

    /// Returns the definition named by the first bound entry of depends-on, for links and settling removes.
    pub fn to_def(&self) -> Option<OpId> {
        let to = self.to()?;
        let named = self.depends.iter().find(|dep| format!("{}.{}", dep.layer, dep.name) == to);
        named.or_else(|| self.depends.first()).and_then(|dep| dep.def)
    }

    /// Reads a sealed op. The error says which field is missing or ill-typed.
    pub fn from_json(value: &Value) -> Result<Op, String> {
        let object = value.as_object().ok_or("an op is a JSON object")?;
        let text = |name: &str| match object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("'{name}' is not a string")),
        };
        let needed = |name: &str| text(name)?.ok_or_else(|| format!("'{name}' is missing"));
        let id = |name: &str| -> Result<Option<OpId>, String> {
            let found = text(name)?;
            found.map(|text| OpId::parse(&text).ok_or_else(|| format!("'{name}' is not an op-id: {text}"))).transpose()
        };
        let list = |name: &str| match object.get(name) {
            Some(Value::Array(items)) => Ok(items.as_slice()),
            _ => Err(format!("'{name}' is missing or not a list")),
        };
        let kind = Kind::named(&needed("op")?)?;
        let layer = Layer::named(&needed("layer")?)?;
        let ts = object.get("ts").and_then(Value::as_i64).ok_or("'ts' is missing or no whole number")?;
        let own = id("op-id")?.ok_or("'op-id' is missing")?;
        let mut op = Op::new(kind, (layer, &needed("name")?), &needed("author")?, ts, own);
        op.body = text("body")?.map(Into::into);
        (op.def, op.base) = (id("def")?, id("base")?);
        op.bundle = text("bundle")?.as_deref().map(shared);
        let (name_new, to, cause, doc) = (text("name-new")?, text("to")?, text("cause")?, text("doc")?);
        let unknown =
            |(key, value): (&String, &Value)| (!KNOWN.contains(&key.as_str())).then(|| (key.clone(), value.clone()));
        let extra = object.iter().filter_map(unknown).collect();
        op.set_rare(|rare| *rare = Rare { name_new, to, cause, doc, extra });
        if !author_is_valid(&op.author) {
            return Err(format!("'{}' is not an author: use agent:<id> or user:<id>", op.author));
        }
        let parent = |parent: &Value| parent.as_str().and_then(OpId::parse);
        let parents = list("parent-ops")?.iter().map(parent).collect::<Option<OneOrMany<OpId>>>();
        op.parents = parents.ok_or("'parent-ops' holds something else than op-ids")?;
        for dep in list("depends-on")? {
            let dep = dep.as_str().and_then(Dep::parse).ok_or(format!("'depends-on' holds {dep}"))?;
            op.depends.push(dep);
        }
        op.require_fields(object)?;
        op.depends.shrink_to_fit();
        op.changes.shrink_to_fit();
        Ok(op)
    }

    /// Checks that the op has the fields its kind needs.
    fn require_fields(&mut self, object: &Map<String, Value>) -> Result<(), String> {
        let word = self.kind.word();
        let need = |there: bool, name: &str| if there { Ok(()) } else { Err(format!("this {word} has no '{name}'")) };
        need(self.kind == Kind::Add || self.def.is_some(), "def")?;
        match self.kind {
            Kind::Add | Kind::Replace => need(self.body.is_some(), "body"),
            Kind::Rename => need(self.name_new().is_some(), "name-new"),
            Kind::Link | Kind::Unlink => need(self.to().is_some(), "to"),
            Kind::Edit => {
                need(self.base.is_some(), "base")?;
                let changes =
                    object.get("changes").and_then(Value::as_array).ok_or("'changes' is missing in an edit")?;
                for change in changes {
                    self.changes.push(Change::parse(change).ok_or(format!("'changes' holds {change}"))?);
                }
                Ok(())
            }
            Kind::Remove => Ok(()),
        }
    }

    /// Returns the op with its fields in the order of the wire format.
    pub fn to_json(&self) -> Value {
        self.json_with_id(true)
    }

    /// Returns the op without its op-id, from which a heal's op-id is made.
    pub fn json_without_id(&self) -> Value {
        self.json_with_id(false)
    }

    fn json_with_id(&self, with_id: bool) -> Value {
        let mut out = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                out.insert(name.to_owned(), value);
            }
        };
        let text = |text: Option<&str>| text.map(Value::from);
        put("op", Some(self.kind.word().into()));
        put("layer", Some(self.layer.word().into()));
        put("name", Some(Value::from(&*self.name)));
        put("body", text(self.body.as_deref()));
        put("author", Some(Value::from(&*self.author)));
        put("ts", Some(self.ts.into()));
        put("op-id", with_id.then(|| self.id.to_string().into()));
        put("parent-ops", Some(self.parents.iter().map(OpId::to_string).collect()));
        put("depends-on", Some(self.depends.iter().map(Dep::to_string).collect()));
        put("def", self.def.map(|def| def.to_string().into()));
        put("name-new", text(self.name_new()));
        put("base", self.base.map(|base| base.to_string().into()));
        put("changes", (self.kind == Kind::Edit).then(|| self.changes.iter().map(Change::to_json).collect()));
        put("to", text(self.to()));
        put("bundle", self.bundle.as_deref().map(Value::from));
        put("cause", text(self.cause()));
        put("doc", text(self.doc()));
        for (name, value) in self.extra() {
            put(name, Some(value.clone()));
        }
        Value::Object(out)
    }

    /// Returns the op as one line of a log, without its newline: the text of [`Op::to_json`], written at once.
    pub fn to_line(&self) -> String {
        let mut out = JsonLine(String::with_capacity(256 + self.body.as_ref().map_or(0, |body| body.len())));
        out.text("{\"op\":", self.kind.word());
        out.text(",\"layer\":", self.layer.word());
        out.text(",\"name\":", &self.name);
        out.optional(",\"body\":", self.body.as_deref());
        out.text(",\"author\":", &self.author);
        out.raw(",\"ts\":", self.ts);
        out.raw(",\"op-id\":\"", self.id);
        out.raw("\",\"parent-ops\":", "[");
        out.list(&self.parents);
        out.raw("],\"depends-on\":", "[");
        for (at, dep) in self.depends.iter().enumerate() {
            out.text(if at > 0 { "," } else { "" }, &dep.to_string());
        }
        out.raw("]", "");
        if let Some(def) = self.def {
            out.raw(",\"def\":\"", format_args!("{def}\""));
        }
        out.optional(",\"name-new\":", self.name_new());
        if let Some(base) = self.base {
            out.raw(",\"base\":\"", format_args!("{base}\""));
        }
        if self.kind == Kind::Edit {
            let changes: Value = self.changes.iter().map(Change::to_json).collect();
            out.raw(",\"changes\":", changes);
        }
        out.optional(",\"to\":", self.to());
        out.optional(",\"bundle\":", self.bundle.as_deref());
        out.optional(",\"cause\":", self.cause());
        out.optional(",\"doc\":", self.doc());
        for (name, value) in self.extra() {
            out.text(",", name);
            out.raw(":", value);
        }
        out.0.push('}');
        out.0
    }
}

/// A line of JSON in the making.
struct JsonLine(String);

impl JsonLine {
    /// Writes a key and what follows it, as it is.
    fn raw(&mut self, key: &str, value: impl fmt::Display) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "{key}{value}");
    }

    /// Writes a key and a string.
    fn text(&mut self, key: &str, value: &str) {
        self.0.push_str(key);
        let plain = value.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
        if plain {
            self.0.push('"');
            self.0.push_str(value);
            self.0.push('"');
        } else {
            self.raw("", Value::from(value));
        }
    }

    fn optional(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    fn list(&mut self, ids: &[OpId]) {
        for (at, id) in ids.iter().enumerate() {
            self.raw(if at > 0 { "," } else { "" }, format_args!("\"{id}\""));
        }
    }
}

/// Returns whether an author has the form `agent:<id>`, `user:<id>`, `strand:heal` or `strand:sync`.
pub fn author_is_valid(author: &str) -> bool {
    if matches!(author, "strand:heal" | "strand:sync") {
        return true;
    }
    let id = author.strip_prefix("agent:").or_else(|| author.strip_prefix("user:"));
    id.is_some_and(|id| {
        (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::id::UnitId;
    use super::*;

    const LINE: &str = r#"{"op":"add","layer":"slot","name":"todos","body":"Map(TodoId, Todo) = {}","author":"agent:claude-1","ts":1779884546123,"op-id":"op_01JC0000000000000000000001","parent-ops":[],"depends-on":["type:Todo@h:7cde"],"later":{"kept":1}}"#;

    #[test]
    fn the_seeds_op_is_read_and_written_field_for_field() {
        let op = Op::from_json(&serde_json::from_str(LINE).unwrap()).unwrap();
        assert_eq!(op.to_line(), LINE);
    }

    #[test]
    fn a_line_is_the_text_of_the_json() {
        let id = |n: i64| OpId::from_parts(n, 5);
        let change = Change::Set { unit: Some(UnitId { op: id(1), n: 2 }), register: "expr".into(), value: None };
        let dep = Dep { layer: Layer::Type, name: "日".into(), hash: "7c".into(), def: Some(id(1)) };
        for kind in Kind::ALL {
            let mut full = Op {
                body: Some("() -> Text = \"a\\n\"\n".into()),
                parents: [id(1), id(2)].into_iter().collect(),
                depends: vec![dep.clone(), dep.clone()],
                def: Some(id(1)),
                base: Some(id(1)),
                changes: vec![change.clone(), Change::Delete(UnitId { op: id(1), n: 1 })],
                bundle: Some("bnd_1".into()),
                ..Op::new(kind, (Layer::Fn, "f"), "user:me", 17, id(9))
            };
            let extra = Map::from_iter([("later \"x\"".to_owned(), json!({"a": [1, null]}))]);
            full.set_rare(|rare| {
                *rare = Rare {
                    name_new: Some("g".into()),
                    to: Some("fn.h".into()),
                    cause: Some("cascade".into()),
                    doc: Some("tells\tall\u{1}".into()),
                    extra,
                };
            });
            assert_eq!(full.to_line(), full.to_json().to_string());
            let mut known = full.clone();
            known.set_rare(|rare| rare.extra.clear());
            let line = known.to_line();
            let direct = line::read(line.as_bytes());
            let read = Op::from_json(&serde_json::from_str(&line).unwrap()).unwrap();
            // One that clears a register is read by way of its values.
            assert!(direct.is_none_or(|direct| direct == read));
            assert_eq!(Op::from_line(line.as_bytes()).unwrap(), read);
        }
    }

    #[test]
    fn a_missing_or_ill_typed_field_is_named() {
        for (from, to, message) in [
            ("\"ts\":1779884546123", "\"ts\":\"soon\"", "'ts' is missing or no whole number"),
            ("\"op\":\"add\"", "\"op\":\"edit\"", "this edit has no 'def'"),
            ("agent:claude-1", "claude", "'claude' is not an author: use agent:<id> or user:<id>"),
        ] {
            let value = serde_json::from_str(&LINE.replace(from, to)).unwrap();
            assert_eq!(Op::from_json(&value).unwrap_err(), message);
        }
    }
}
