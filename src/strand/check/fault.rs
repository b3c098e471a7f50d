//! Faults as data. Their messages are made on output.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::strand::id::{DefId, Layer};
use crate::strand::lang::place::Place;

use super::types::Ty;

/// A fault at some place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Fault {
    /// E0101–E0106: no such name in the layer. Locals in scope are candidates too.
    Undefined { layer: Layer, name: String, locals: Vec<String> },
    /// E0201: a value of another type.
    Mismatch { expected: Ty, found: Ty },
    /// E0201: any other mismatch, in words.
    Misfit(String),
    /// E0202.
    Violation { value: String, ty: Ty },
    /// E0203: pattern texts and the words for them.
    NotCovered { on: String, missing: Vec<(String, String)>, result: Option<Ty> },
    /// E0204.
    NominalMix { expected: Ty, found: Ty },
    /// E0301: the primitive needs a capability the effect does not name.
    NeedsCapability { effect: String, prim: String, cap: String },
    /// E0301: a capability is not granted.
    NotGranted { cap: String },
    /// E0302. A statement can be fixed.
    DirectCall { effect: String, statement: bool },
    /// E0303.
    WriteOutside { slot: String },
    /// E0304.
    EmitInTile { tile: String, effect: String },
    /// E0305: who does what to what.
    Impure { who: String, verb: Cow<'static, str>, layer: Layer, name: String },
    /// E0306: the head names no tile, or the tile raises no such event.
    BadSelector { head: String, event: String, tile: Option<(String, Vec<String>)> },
    /// E0401.
    Recursion { who: String },
    /// E0402.
    Lambda,
    /// E0403.
    Null { option: bool },
    /// E0404.
    Predicate,
    /// E0501.
    Dangling { layer: Layer, name: String, def: DefId },
    /// E0502: the cycle, its first member last again.
    Cycle { path: Vec<String> },
    /// E0601.
    WrittenTwice { slot: String, reducer: String, first: u32 },
    /// E0701: an element without a label.
    NoLabel { element: String, arg: Cow<'static, str>, proposal: String },
    /// E0002.
    Duplicate { what: Cow<'static, str>, name: String },
}

impl Fault {
    /// Returns its code and kind.
    pub fn code(&self) -> (&'static str, &'static str) {
        match self {
            Fault::Undefined { layer: Layer::Type, .. } => ("E0101", "undef-ref"),
            Fault::Undefined { layer: Layer::Reducer, .. } => ("E0102", "undef-ref"),
            Fault::Undefined { layer: Layer::Slot, .. } => ("E0103", "undef-ref"),
            Fault::Undefined { layer: Layer::Effect, .. } => ("E0104", "undef-ref"),
            Fault::Undefined { layer: Layer::Tile, .. } => ("E0105", "undef-ref"),
            Fault::Undefined { layer: Layer::Fn, .. } => ("E0106", "undef-ref"),
            Fault::Mismatch { .. } | Fault::Misfit(_) => ("E0201", "type-mismatch"),
            Fault::Violation { .. } => ("E0202", "refinement-violation"),
            Fault::NotCovered { .. } => ("E0203", "non-exhaustive"),
            Fault::NominalMix { .. } => ("E0204", "nominal-mix"),
            Fault::NeedsCapability { .. } | Fault::NotGranted { .. } => ("E0301", "missing-capability"),
            Fault::DirectCall { .. } => ("E0302", "direct-effect-call"),
            Fault::WriteOutside { .. } => ("E0303", "slot-write-outside-reducer"),
            Fault::EmitInTile { .. } => ("E0304", "emit-in-tile"),
            Fault::Impure { .. } => ("E0305", "impure-fn"),
            Fault::BadSelector { .. } => ("E0306", "bad-selector"),
            Fault::Recursion { .. } => ("E0401", "direct-recursion"),
            Fault::Lambda => ("E0402", "lambda"),
            Fault::Null { .. } => ("E0403", "null"),
            Fault::Predicate => ("E0404", "arbitrary-predicate"),
            Fault::Dangling { .. } => ("E0501", "dangling-ref"),
            Fault::Cycle { .. } => ("E0502", "cycle"),
            Fault::WrittenTwice { .. } => ("E0601", "multiple-writes"),
            Fault::NoLabel { .. } => ("E0701", "a11y"),
            Fault::Duplicate { .. } => ("E0002", "duplicate-member"),
        }
    }

    /// Returns whether it is only a warning.
    pub fn is_warning(&self) -> bool {
        matches!(self, Fault::NoLabel { .. })
    }
}

/// A fault with its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocatedFault {
    /// The definition.
    pub def: DefId,
    /// The unit or header.
    pub place: Place,
    /// The node within the definition; 0 for the place as a whole.
    pub node: u32,
    /// The problem.
    pub fault: Fault,
}
