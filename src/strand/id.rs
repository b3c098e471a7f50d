//! Identities: op-ids (ULIDs), the layers, and qualified names.

use std::fmt;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use ulid::Ulid;

pub use crate::text::time::now as now_ms;

/// The six kinds of definition, in their fixed order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Describes values.
    Type,
    /// A piece of application state.
    Slot,
    /// A request to the outside world.
    Effect,
    /// The only thing that writes slots.
    Reducer,
    /// A piece of user interface.
    Tile,
    /// A pure function.
    Fn,
}

impl Layer {
    /// All layers, in the order of listings.
    pub const ALL: [Layer; 6] = [Layer::Type, Layer::Slot, Layer::Effect, Layer::Reducer, Layer::Tile, Layer::Fn];

    /// Returns the word that names the layer in text and on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Layer::Type => "type",
            Layer::Slot => "slot",
            Layer::Effect => "effect",
            Layer::Reducer => "reducer",
            Layer::Tile => "tile",
            Layer::Fn => "fn",
        }
    }

    /// Returns the layer of a word, if it is one.
    pub fn parse(word: &str) -> Option<Layer> {
        Layer::ALL.into_iter().find(|layer| layer.word() == word)
    }

    /// Returns the layer of a word, or what to tell whoever wrote another.
    pub fn named(word: &str) -> Result<Layer, String> {
        let all = || Layer::ALL.map(Layer::word).join(", ");
        Layer::parse(word).ok_or_else(|| format!("there is no layer '{word}'; there are {}", all()))
    }

    /// Returns the folder that holds the layer's files in a projection.
    pub fn folder(self) -> &'static str {
        match self {
            Layer::Type => "types",
            Layer::Slot => "slots",
            Layer::Effect => "effects",
            Layer::Reducer => "reducers",
            Layer::Tile => "tiles",
            Layer::Fn => "fns",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The identity of an op: `op_` and a ULID. Ordered as its text is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpId {
    // Two halves instead of one whole, which would want more room around it.
    high: u64,
    low: u64,
}

/// The characters of a ULID, by what they stand for.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The value of each character of a ULID; 255 for all others.
const DIGITS_BACK: [u8; 256] = {
    let mut back = [255; 256];
    let mut digit = 0;
    while digit < 32 {
        back[DIGITS[digit] as usize] = digit as u8;
        digit += 1;
    }
    back
};

/// The identity of a definition: the op-id of the `add` that made it.
pub type DefId = OpId;

impl OpId {
    fn new(value: u128) -> OpId {
        OpId { high: (value >> 64) as u64, low: value as u64 }
    }

    #[inline]
    fn value(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// Reads `op_` and 26 upper-case Crockford characters; nothing else is an op-id.
    pub fn parse(text: &str) -> Option<OpId> {
        let ulid: &[u8; 26] = text.strip_prefix("op_")?.as_bytes().try_into().ok()?;
        // The first character holds three bits, or it would be more than 128.
        let start = if ulid[0] <= b'7' { 0u128 } else { return None };
        let digit = |value: u128, byte: &u8| match DIGITS_BACK[usize::from(*byte)] {
            32.. => None,
            digit => Some(value << 5 | u128::from(digit)),
        };
        ulid.iter().try_fold(start, digit).map(OpId::new)
    }

    /// Returns the 26 characters of its ULID.
    fn digits(self) -> [u8; 26] {
        let value = self.value();
        std::array::from_fn(|at| DIGITS[(value >> (5 * (25 - at))) as usize & 31])
    }

    /// Returns an op-id of the given time (unix milliseconds) and random part.
    pub fn from_parts(ms: i64, random: u128) -> OpId {
        OpId::new(Ulid::from_parts(ms.max(0) as u64, random).0)
    }

    /// Returns the identity as sixteen bytes that sort as its text does.
    pub fn to_bytes(self) -> [u8; 16] {
        self.value().to_be_bytes()
    }

    /// Returns the identity of sixteen bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> OpId {
        OpId::new(u128::from_be_bytes(bytes))
    }

    /// Returns the last `n` characters in lower case, for labels and file names.
    pub fn tail(self, n: usize) -> String {
        let text = Ulid(self.value()).to_string().to_lowercase();
        text[text.len() - n.min(26)..].to_owned()
    }
}

impl std::hash::Hash for OpId {
    #[inline]
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u128(self.value());
    }
}

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits();
        f.write_str("op_")?;
        f.write_str(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl fmt::Debug for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for OpId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OpId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<OpId, D::Error> {
        deserializer.deserialize_str(ReadsId)
    }
}

/// Deserialises an op-id without a copy.
struct ReadsId;

impl serde::de::Visitor<'_> for ReadsId {
    type Value = OpId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an op-id")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<OpId, E> {
        OpId::parse(text).ok_or_else(|| E::custom(format!("'{text}' is not an op-id")))
    }
}

/// The identity of one unit of a body: the op that brought it, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitId {
    /// The add, replace or edit that brought the unit.
    pub op: OpId,
    /// The unit's number within that op, from 1.
    pub n: u32,
}

impl UnitId {
    /// Reads `<op-id>.<n>`.
    pub fn parse(text: &str) -> Option<UnitId> {
        let (op, n) = text.split_once('.')?;
        let number: u32 = n.parse().ok()?;
        (number > 0 && number.to_string() == n).then_some(UnitId { op: OpId::parse(op)?, n: number })
    }
}

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.op, self.n)
    }
}

/// A qualified name: `layer.Name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QName {
    /// The layer.
    pub layer: Layer,
    /// The name within the layer.
    pub name: String,
}

impl QName {
    /// Puts a layer and a name together.
    pub fn new(layer: Layer, name: impl Into<String>) -> QName {
        QName { layer, name: name.into() }
    }

    /// Reads `layer.Name`.
    pub fn parse(text: &str) -> Option<QName> {
        let (layer, name) = text.split_once('.')?;
        (!name.is_empty()).then(|| Layer::parse(layer).map(|layer| QName::new(layer, name)))?
    }
}

impl fmt::Display for QName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.layer, self.name)
    }
}

/// The last ULID this process made: the next one is always greater.
static LAST: Mutex<u128> = Mutex::new(0);

/// Creates a new ULID, greater than every one this process made before.
fn new_ulid() -> u128 {
    let random = uuid::Uuid::new_v4().as_u128() >> 48;
    let fresh = Ulid::from_parts(now_ms().max(0) as u64, random).0;
    // A poisoned lock still holds a valid number.
    let mut last = LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    *last = if fresh > *last { fresh } else { *last + 1 };
    *last
}

/// Creates a new op-id, greater than every one this process made before.
pub fn new_op_id() -> OpId {
    OpId::new(new_ulid())
}

/// The source of times and op-ids: the system, or a source that gives the same every time.
#[derive(Clone, Debug, Default)]
pub struct OpClock(Option<std::sync::Arc<Mutex<(i64, u64)>>>);

impl OpClock {
    /// Creates a clock that starts at a time (unix milliseconds), goes on by one at each reading, and makes its op-ids
    /// from a seed.
    pub fn fixed(ms: i64, seed: u64) -> OpClock {
        OpClock(Some(std::sync::Arc::new(Mutex::new((ms, seed)))))
    }

    /// Returns the present moment in unix milliseconds.
    pub fn now(&self) -> i64 {
        match &self.0 {
            None => now_ms(),
            Some(held) => {
                let mut held = held.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                held.0 += 1;
                held.0
            }
        }
    }

    /// Creates a new op-id.
    pub fn op_id(&self) -> OpId {
        let Some(held) = &self.0 else { return new_op_id() };
        let mut held = held.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        held.0 += 1;
        held.1 = held.1.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        OpId::from_parts(held.0, u128::from(held.1))
    }
}

/// Creates a new identity of another kind: its prefix and a ULID, as `bnd_01J…`.
pub fn new_id(prefix: &str) -> String {
    format!("{prefix}{}", Ulid(new_ulid()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn op_ids_sort_as_their_text_and_only_the_exact_form_is_read() {
        let first = new_op_id();
        let second = new_op_id();
        assert!(first < second && first.to_string() < second.to_string());
        assert_eq!(OpId::parse(&first.to_string()), Some(first));
        assert_eq!(OpId::parse(&first.to_string().to_lowercase()), None);
        assert_eq!(OpId::parse("op_81ARZ3NDEKTSV4RRFFQ69G5FAV"), None);
    }
}
