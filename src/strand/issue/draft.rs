//! Drafts of ops, and their issuers.

use serde_json::Value;

use super::refusal::Refusal;
use crate::strand::id::{DefId, Layer, OpClock, OpId, QName};
use crate::strand::op::Kind;

/// The handling of references to a removed definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Nothing is removed if there are dependents.
    Refuse,
    /// Dependents are removed as well.
    Cascade,
    /// Dependents are left dangling.
    Force,
}

/// An op that is not sealed yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Draft {
    /// A new definition, or the return of one (`def`).
    Add {
        /// Layer and name.
        qname: QName,
        /// Its body.
        body: String,
        /// Its doc lines.
        doc: Option<String>,
        /// The definition to bring back.
        def: Option<DefId>,
    },
    /// Another body.
    Replace {
        /// The definition.
        qname: QName,
        /// Its new body.
        body: String,
        /// Its doc lines; `None` keeps them.
        doc: Option<String>,
    },
    /// A patch of a body.
    Edit {
        /// The definition.
        qname: QName,
        /// Addresses and instructions.
        patch: Value,
    },
    /// Another name.
    Rename {
        /// The definition.
        qname: QName,
        /// The new name.
        to: String,
    },
    /// Removes the definition.
    Remove {
        /// The definition.
        qname: QName,
        /// The handling of references to it.
        how: Removal,
    },
    /// An explicit edge.
    Link(QName, QName),
    /// No explicit edge any more.
    Unlink(QName, QName),
}

impl Draft {
    /// Reads a draft op: an op without op-id.
    pub fn from_json(value: &Value) -> Result<Draft, Refusal> {
        Draft::read(value).map_err(Refusal::Malformed)
    }

    fn read(value: &Value) -> Result<Draft, String> {
        let object = value.as_object().ok_or("an op is a JSON object")?;
        let text = |name: &str| match object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("'{name}' is not a string")),
        };
        let need = |name: &str| text(name)?.ok_or_else(|| format!("'{name}' is missing"));
        let to = || {
            let to = need("to")?;
            QName::parse(&to).ok_or_else(|| format!("'{to}' is not layer.Name"))
        };
        let kind = Kind::named(&need("op")?)?;
        let qname = QName::new(Layer::named(&need("layer")?)?, need("name")?);
        Ok(match kind {
            Kind::Add => {
                let def = text("def")?;
                let def = def.map(|def| OpId::parse(&def).ok_or_else(|| format!("'{def}' is not a def-id")));
                Draft::Add { qname, body: need("body")?, doc: text("doc")?, def: def.transpose()? }
            }
            Kind::Replace => Draft::Replace { qname, body: need("body")?, doc: text("doc")? },
            Kind::Edit => Draft::Edit { qname, patch: object.get("patch").cloned().ok_or("'patch' is missing")? },
            Kind::Rename => Draft::Rename { qname, to: need("name-new")? },
            Kind::Remove => Draft::Remove { qname, how: Removal::Refuse },
            Kind::Link => Draft::Link(qname, to()?),
            Kind::Unlink => Draft::Unlink(qname, to()?),
        })
    }
}

/// The author of ops, and the reason.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// The author of the ops.
    pub author: String,
    /// The bundle they join.
    pub bundle: Option<String>,
    /// The reason why they were generated.
    pub cause: Option<String>,
    /// The source of their times and ids.
    pub clock: OpClock,
}

impl Issuer {
    /// Creates an issuer for an author who issues single ops by hand.
    pub fn new(author: impl Into<String>) -> Issuer {
        Issuer { author: author.into(), bundle: None, cause: None, clock: OpClock::default() }
    }

    /// Creates an issuer of ops that stand or fall together.
    pub fn bundled(&self) -> Issuer {
        let id = self.clock.op_id().to_string();
        Issuer { bundle: Some(format!("bnd_{}", id.trim_start_matches("op_"))), ..self.clone() }
    }

    /// Returns the issuer with a reason.
    pub fn because(&self, cause: &str) -> Issuer {
        Issuer { cause: Some(cause.to_owned()), ..self.clone() }
    }
}
