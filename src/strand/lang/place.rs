//! Places in a definition: header or unit, and the place of each node of a body.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::strand::one_or_many::OneOrMany;

/// A place in a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A header register of a body with several units, or an effect's `needs`.
    Header(&'static str),
    /// A unit by its number from 1.
    Unit(u32),
}

impl std::fmt::Display for Place {
    /// Writes the place as in `tile.NewForm:1` and `reducer.add:on`, after the colon.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Header(name) => f.write_str(name),
            Place::Unit(n) => write!(f, "{n}"),
        }
    }
}

/// Header registers that hold references or may be wrong on their own.
pub const HEADERS: [&str; 4] = ["params", "on", "in", "needs"];

impl Serialize for Place {
    /// Serialises a number for a unit, a name for a header.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Place, D::Error> {
        let text = String::deserialize(deserializer)?;
        if let Ok(unit) = text.parse() {
            return Ok(Place::Unit(unit));
        }
        let header = HEADERS.iter().find(|header| **header == text);
        header.map(|header| Place::Header(header)).ok_or_else(|| D::Error::custom(format!("{text} is no place")))
    }
}

impl Place {
    /// Returns the order of output: headers as unit 0.
    pub fn rank(self) -> u32 {
        match self {
            Place::Header(_) => 0,
            Place::Unit(n) => n,
        }
    }
}

/// The place of every node of a resolved body.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The beginning of each place: the number before that of its first node. Neighbours mostly share theirs.
    starts: OneOrMany<(u32, Place)>,
    nodes: u32,
}

impl Places {
    /// Gives the next node its number.
    pub(super) fn push(&mut self, place: Place) -> u32 {
        if self.starts.last().is_none_or(|(_, last)| *last != place) {
            self.starts.push((self.nodes, place));
        }
        self.nodes += 1;
        self.nodes
    }

    /// Returns where a node stands, by its number from 1.
    pub fn get(&self, node: u32) -> Option<Place> {
        if node == 0 || node > self.nodes {
            return None;
        }
        let after = self.starts.partition_point(|(before, _)| *before < node);
        self.starts.get(after.checked_sub(1)?).map(|(_, place)| *place)
    }
}
