//! Names of versions and changesets: UUIDv7, each greater than the one before, whatever the clock says.

use std::fmt;

use uuid::Uuid;

use crate::text::id;

/// A UUIDv7 in lower-case hyphenated form. Greater means later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(Uuid);

/// Random bits of a UUIDv7 that follow its time: 12 and 62 of them, used as one counter.
const COUNTER_BITS: u32 = 74;

impl Id {
    /// The smallest of all, older than any that is made.
    pub const MIN: Id = Id(Uuid::nil());

    /// Reads the form it is written in; nothing else counts.
    pub fn parse(text: &str) -> Option<Self> {
        let id = Uuid::try_parse(text).ok().filter(|u| u.get_version_num() == 7).map(Id)?;
        (text.len() == 36 && id.to_string() == text).then_some(id)
    }

    /// Returns when the id was made, in unix milliseconds.
    pub fn at(self) -> i64 {
        // 48 bits always fit.
        (self.0.as_u128() >> 80) as i64
    }

    /// Creates an id greater than `last`.
    pub fn after(last: Id) -> Self {
        let now = Id(id::now());
        if now > last { now } else { last.next() }
    }

    /// Returns the next id by counting: for clocks that stand still or go backwards.
    fn next(self) -> Self {
        let bits = self.0.as_u128();
        let (time, high, low) = (bits >> 80, (bits >> 64) & 0xfff, bits & ((1 << 62) - 1));
        let counted = ((time << COUNTER_BITS) | (high << 62) | low) + 1;
        let (time, high, low) = (counted >> COUNTER_BITS, (counted >> 62) & 0xfff, counted & ((1 << 62) - 1));
        Id(Uuid::from_u128((time << 80) | (0x7 << 76) | (high << 64) | (0b10 << 62) | low))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_whatever_the_clock_says() {
        let future = Id::parse("ffffffff-fff0-7fff-bfff-ffffffffffff").expect("an id");
        let next = Id::after(future);
        assert!(next > future);
        assert_eq!(next.to_string(), "ffffffff-fff1-7000-8000-000000000000");
        assert_eq!(Id::parse(&next.to_string()), Some(next));
        let mut last = Id::after(Id::MIN);
        for _ in 0..10_000 {
            let new = Id::after(last);
            assert!(new > last && Id::parse(&new.to_string()) == Some(new));
            last = new;
        }
    }

    #[test]
    fn an_id_is_read_in_its_written_form_alone() {
        assert!(Id::parse("0198A2B3-0000-7000-8000-000000000000").is_none());
        assert!(Id::parse("0198a2b300007000800000000000000a").is_none());
        assert!(Id::parse("0198a2b3-0000-4000-8000-000000000000").is_none());
        assert_eq!(Id::parse("0198a2b3-0000-7000-8000-000000000000").expect("an id").at(), 0x0198_a2b3_0000);
    }
}
