//! Ownership locks: the names that only certain authors may change.

use serde::{Deserialize, Serialize};

use crate::strand::id::{Layer, QName};

/// One pattern that belongs to an owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// The id of an author, without `agent:` or `user:`.
    pub owner: String,
    /// `slot.todos*`; the layer may be `*`.
    pub pattern: String,
    /// The time when it was taken, in unix milliseconds.
    pub since: i64,
}

/// Returns whether a pattern is a layer (or `*`), a point, and a name of which `*` and `?` are wild.
pub fn is_pattern(pattern: &str) -> bool {
    pattern
        .split_once('.')
        .is_some_and(|(layer, name)| (layer == "*" || Layer::parse(layer).is_some()) && !name.is_empty())
}

/// Returns whether a pattern covers a name.
pub fn covers(pattern: &str, qname: &QName) -> bool {
    let Some((layer, name)) = pattern.split_once('.') else { return false };
    (layer == "*" || layer == qname.layer.word()) && glob(name, &qname.name)
}

/// Returns whether text matches a pattern of `*` and `?`.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == text[t]) {
            p += 1;
            t += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            p = at + 1;
            t = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Returns whether some name could match both patterns: a walk over both at once.
pub fn overlap(a: &str, b: &str) -> bool {
    let (Some((layer_a, a)), Some((layer_b, b))) = (a.split_once('.'), b.split_once('.')) else { return false };
    if layer_a != "*" && layer_b != "*" && layer_a != layer_b {
        return false;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // can[i][j]: the rests from i and j share a text.
    let mut can = vec![vec![false; b.len() + 1]; a.len() + 1];
    for i in (0..=a.len()).rev() {
        for j in (0..=b.len()).rev() {
            can[i][j] = match (a.get(i), b.get(j)) {
                (None, None) => true,
                (Some('*'), Some(_)) => can[i + 1][j] || can[i][j + 1],
                (Some(_), Some('*')) => can[i][j + 1] || can[i + 1][j],
                (Some('*'), None) => can[i + 1][j],
                (None, Some('*')) => can[i][j + 1],
                (Some(x), Some(y)) => (*x == '?' || *y == '?' || x == y) && can[i + 1][j + 1],
                _ => false,
            };
        }
    }
    can[0][0]
}

/// Returns the lock that forbids an author to touch a name.
pub fn forbids<'l>(locks: &'l [Lock], author: &str, qname: &QName) -> Option<&'l Lock> {
    let id = author.split_once(':').map_or(author, |(_, id)| id);
    locks.iter().find(|lock| lock.owner != id && covers(&lock.pattern, qname))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_and_overlap() {
        let todos = QName::parse("slot.todos").unwrap();
        assert!(covers("slot.todos*", &todos) && covers("*.t?dos", &todos) && !covers("slot.todo", &todos));
        assert!(overlap("slot.a*", "*.*b") && overlap("slot.a?c", "slot.abc") && overlap("slot.*a*", "slot.b*"));
        assert!(!overlap("slot.a*", "slot.b*") && !overlap("slot.a", "tile.a") && !overlap("slot.ab", "slot.a"));
    }
}
