//! The position of an entry in a person's TOML file, for complaints about it.

use toml::de::{DeTable, DeValue};

/// Returns line and column of a byte of `text`, both from 1, the column in characters.
pub fn at(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.rfind('\n').map_or(0, |n| n + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// Returns line and column of the key at `path`, or of the nearest table around it.
pub fn of(text: &str, path: &[&str]) -> (usize, usize) {
    let Ok(table) = DeTable::parse(text) else { return (1, 1) };
    let (mut table, mut place) = (table.get_ref(), 0);
    for name in path {
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else { break };
        place = key.span().start;
        let DeValue::Table(inner) = value.get_ref() else { break };
        table = inner;
    }
    at(text, place)
}

/// Returns what is wrong with a text that is no TOML, in one line, and where.
pub fn syntax(text: &str, error: &toml::de::Error) -> ((usize, usize), String) {
    let place = at(text, error.span().map_or(0, |s| s.start));
    let what = error.message().split('\n').map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(", ");
    (place, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_their_path() {
        let text = "# é\n[diff]\n  \"y\" = \"accept\"\n[roles]\ntext = \"#fff\"\n";
        assert_eq!(of(text, &["diff", "y"]), (3, 3));
        assert_eq!(of(text, &["roles", "text"]), (5, 1));
        assert_eq!(of(text, &["roles", "dim"]), (4, 2));
        assert_eq!(at("é = 1", 3), (1, 3));
    }

    #[test]
    fn mistakes_are_one_line() {
        let text = "[diff]\n\"y\" = acc\n";
        let error = toml::from_str::<toml::Table>(text).unwrap_err();
        let (place, what) = syntax(text, &error);
        assert_eq!(place.0, 2);
        assert!(!what.is_empty() && !what.contains('\n'), "{what}");
    }
}
