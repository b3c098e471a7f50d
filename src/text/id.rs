//! Ids that name when they were made, and short names of ids.

use std::sync::Mutex;

use uuid::{ContextV7, Timestamp, Uuid};

use super::time;

/// Returns a UUIDv7 of this moment, greater than those that this process made before while the clock goes on.
pub fn now() -> Uuid {
    static COUNTER: Mutex<ContextV7> = Mutex::new(ContextV7::new());
    let at = time::now().unsigned_abs();
    // The milliseconds of a second always fit.
    let nanos = (at % 1000) as u32 * 1_000_000;
    Uuid::new_v7(Timestamp::from_unix(&COUNTER, at / 1000, nanos))
}

/// Returns the beginning of a changeset's id that names it and by which commands find it: the whole milliseconds of its
/// time, since those of one turn begin alike.
pub fn short_changeset(id: &str) -> &str {
    id.get(..13).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_moment_ascend_and_have_its_time() {
        let before = time::now();
        let ids: Vec<Uuid> = (0..1000).map(|_| now()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        let at = |id: &Uuid| (id.as_u128() >> 80) as i64;
        assert!(ids.iter().all(|id| (before..=time::now()).contains(&at(id))));
    }

    #[test]
    fn changesets_of_one_minute_differ() {
        let (first, second) = ("01a2060e-39e7-7476-8b99-ab4c31744eb3", "01a2060e-4a10-7001-8b99-ab4c31744eb3");
        assert_ne!(short_changeset(first), short_changeset(second));
        assert_eq!(short_changeset("short"), "short");
    }
}
