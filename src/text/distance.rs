//! The edit distance of two words, and the nearest word to a mistyped one.

/// Returns the word nearest to `word`, if one is near enough to be what was meant.
pub fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let small = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let meant = small(word);
    words
        .map(|candidate| (distance(&meant, &small(candidate)), candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= 2.max(candidate.chars().count() / 3))
        .map(|(_, candidate)| candidate)
}

/// Returns the name that a mistyped one was probably meant as: a letter apart, in a long word two.
pub fn misspelt<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = 1 + usize::from(word.chars().count() > 6);
    let near = names.map(|name| (distance(word, name), name)).min()?;
    (1..=most).contains(&near.0).then_some(near.1)
}

/// Returns the words nearest to `word`, nearest first, at most this many. A word that holds it is nearer than all others.
pub fn nearest_few<'a>(word: &str, words: impl Iterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let meant = word.to_lowercase();
    let far = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let holds = candidate.contains(&meant);
        (!holds, distance(&meant, &candidate))
    };
    let mut found: Vec<_> = words.map(|candidate| (far(candidate), candidate)).collect();
    found.sort();
    found.into_iter().take(most).map(|(_, candidate)| candidate).collect()
}

/// Returns how many letters must be added, removed or changed to make one word of the other.
pub fn distance(a: &str, b: &str) -> usize {
    // Nobody means a known word by one this long, and the table below is quadratic.
    if a.len() > 64 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_few_begin_with_those_that_hold_the_word() {
        let words = ["gpt-4.1-mini", "o3", "gpt-4o", "gpt-4.1", "claude-haiku-4-5"];
        assert_eq!(nearest_few("gpt-4.1-mni", words.into_iter(), 2), ["gpt-4.1-mini", "gpt-4.1"]);
        assert_eq!(nearest_few("haiku", words.into_iter(), 1), ["claude-haiku-4-5"]);
        assert!(nearest_few("x", std::iter::empty(), 3).is_empty());
    }

    #[test]
    fn the_nearest_word_is_the_one_meant() {
        let words = ["baseUrl", "maxSteps", "model", "models", "mouse", "language"];
        let near = |word| nearest(word, words.into_iter());
        assert_eq!(near("baseURL"), Some("baseUrl"));
        assert_eq!(near("max_steps"), Some("maxSteps"));
        assert_eq!(near("modle"), Some("model"));
        assert_eq!(near("colour"), None);
        assert_eq!(near(&"x".repeat(100_000)), None);
        assert_eq!((distance("kitten", "sitting"), distance("", "ab"), distance("é", "e")), (3, 2, 1));
    }
}
