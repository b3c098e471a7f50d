//! Short names of ids.

/// Returns the beginning of a changeset's id that names it and by which commands find it: the whole milliseconds of its
/// time, since those of one turn begin alike.
pub fn short_changeset(id: &str) -> &str {
    id.get(..13).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changesets_of_one_minute_differ() {
        let (first, second) = ("01a2060e-39e7-7476-8b99-ab4c31744eb3", "01a2060e-4a10-7001-8b99-ab4c31744eb3");
        assert_ne!(short_changeset(first), short_changeset(second));
        assert_eq!(short_changeset("short"), "short");
    }
}
