//! The similarity of two names, for "did you mean".

/// Returns the Jaro-Winkler similarity (prefix of 4, scale 0.1), rounded to two places.
pub fn similarity(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let jaro = jaro(&a, &b);
    let prefix = a.iter().zip(&b).take(4).take_while(|(x, y)| x == y).count();
    let score = jaro + prefix as f64 * 0.1 * (1.0 - jaro);
    // An exact half goes down.
    (score * 100.0 - 1e-9).round() / 100.0
}

fn jaro(a: &[char], b: &[char]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return if a.len() == b.len() { 1.0 } else { 0.0 };
    }
    let window = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut taken = vec![false; b.len()];
    let mut matched_a = Vec::new();
    for (at, x) in a.iter().enumerate() {
        let from = at.saturating_sub(window);
        let to = (at + window + 1).min(b.len());
        if let Some(found) = (from..to).find(|&j| !taken[j] && b[j] == *x) {
            taken[found] = true;
            matched_a.push(*x);
        }
    }
    if matched_a.is_empty() {
        return 0.0;
    }
    let matched_b = b.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(y, _)| *y);
    let swaps = matched_a.iter().zip(matched_b).filter(|(x, y)| **x != *y).count() as f64 / 2.0;
    let m = matched_a.len() as f64;
    (m / a.len() as f64 + m / b.len() as f64 + (m - swaps) / m) / 3.0
}

/// Returns the best of some candidates: name, score, and whether no other scores the same. Ties go to the smaller name;
/// below 0.70 there is none.
pub fn best<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<(&'c str, f64, bool)> {
    let mut best: Option<(&str, f64, bool)> = None;
    for candidate in candidates {
        let score = similarity(name, candidate);
        best = match best {
            Some((held, top, _)) if held == candidate && score >= top => best,
            Some((_, top, _)) if score < top => best,
            Some((held, top, _)) if score == top => Some((held.min(candidate), top, false)),
            _ => Some((candidate, score, true)),
        };
    }
    best.filter(|(_, score, _)| *score >= 0.70)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_table() {
        for (a, b, score) in [
            ("usres", "users", 0.95),
            ("Usr", "User", 0.93),
            ("saevd", "saved", 0.95),
            ("snd", "send", 0.92),
            ("NewFrom", "NewForm", 0.97),
            ("doubl", "double", 0.97),
        ] {
            assert_eq!(similarity(a, b), score, "{a} {b}");
        }
    }

    #[test]
    fn two_best_candidates_are_not_unique() {
        assert_eq!(best("abcd", ["abce", "abcf"]).map(|(name, _, only)| (name, only)), Some(("abce", false)));
        assert_eq!(best("abcd", ["zzzz"]), None);
    }
}
