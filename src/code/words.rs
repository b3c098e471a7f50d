//! Names in texts, by their characters alone.

/// Returns whether a character may stand in a name.
pub fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Returns where a text has a name that is no part of another.
pub fn whole_places<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(name).map(|(at, _)| at).filter(|at| is_whole(text, *at, name))
}

/// Returns whether a name that stands at a byte of a text is no part of another.
pub fn is_whole(text: &str, at: usize, name: &str) -> bool {
    !text[..at].ends_with(is_of_name) && !text[at + name.len()..].starts_with(is_of_name)
}
