//! Drafts and who issues them.

use serde_json::Value;

use super::{Refusal, Removal};
use crate::strand::id::{Clock, DefId, Layer, OpId, QName};

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
    /// Away with it.
    Remove {
        /// The definition.
        qname: QName,
        /// What becomes of those that refer to it.
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
        let wrong = |message: String| Refusal::Malformed(message);
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let need = |name: &str| text(name).ok_or_else(|| wrong(format!("'{name}' is missing in a draft op")));
        let layer = need("layer")?;
        let layer = Layer::parse(&layer).ok_or_else(|| wrong(format!("unknown layer '{layer}'")))?;
        let qname = QName::new(layer, need("name")?);
        let to = || {
            let to = need("to")?;
            QName::parse(&to).ok_or_else(|| wrong(format!("'{to}' is not layer.Name")))
        };
        let def = text("def").map(|def| OpId::parse(&def).ok_or_else(|| wrong(format!("'{def}' is not a def-id"))));
        Ok(match need("op")?.as_str() {
            "add" => Draft::Add { qname, body: need("body")?, doc: text("doc"), def: def.transpose()? },
            "replace" => Draft::Replace { qname, body: need("body")?, doc: text("doc") },
            "edit" => {
                let patch = value.get("patch").cloned();
                Draft::Edit { qname, patch: patch.ok_or_else(|| wrong("'patch' is missing in an edit".to_owned()))? }
            }
            "rename" => Draft::Rename { qname, to: need("name-new")? },
            "remove" => Draft::Remove { qname, how: Removal::Refuse },
            "link" => Draft::Link(qname, to()?),
            "unlink" => Draft::Unlink(qname, to()?),
            other => return Err(wrong(format!("unknown op '{other}'"))),
        })
    }
}

/// Who issues, and why.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// The author of the ops.
    pub author: String,
    /// The bundle they join.
    pub bundle: Option<String>,
    /// Why they were generated.
    pub cause: Option<String>,
    /// Where their times and ids come from.
    pub clock: Clock,
}

impl Issuer {
    /// An author who issues single ops by hand.
    pub fn new(author: impl Into<String>) -> Issuer {
        Issuer { author: author.into(), bundle: None, cause: None, clock: Clock::default() }
    }

    /// The same for ops that stand or fall together.
    pub fn bundled(&self) -> Issuer {
        let id = self.clock.op_id().to_string();
        Issuer { bundle: Some(format!("bnd_{}", id.trim_start_matches("op_"))), ..self.clone() }
    }

    /// The same for a reason.
    pub fn because(&self, cause: &str) -> Issuer {
        Issuer { cause: Some(cause.to_owned()), ..self.clone() }
    }
}
