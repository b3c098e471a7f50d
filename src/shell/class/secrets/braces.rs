//! Words that the shell makes of one with braces.

/// The most words that are made of one.
pub const MOST: usize = 256;

/// Returns the words that a text with braces becomes, as far as they are not too many: `{a,b}c` and `{a..c}`.
pub fn expansions(text: &str) -> Vec<String> {
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        let inside = &text[open + 1..];
        if let Some((parts, rest)) = alternatives(inside)
            && let Some(parts) = if parts.len() > 1 { Some(parts) } else { range(&parts[0]) }
        {
            let rest = expansions(rest);
            let first = parts.iter().flat_map(|part| expansions(part));
            let words = first.flat_map(|part| rest.iter().map(move |rest| format!("{part}{rest}")).collect::<Vec<_>>());
            return words.map(|word| format!("{}{word}", &text[..open])).take(MOST).collect();
        }
        from = open + 1;
    }
    vec![text.to_string()]
}

/// Returns what stands between the signs of a brace that was opened, and what follows it; none: it is not closed.
fn alternatives(inside: &str) -> Option<(Vec<String>, &str)> {
    let (mut depth, mut begun, mut parts) = (0, 0, Vec::new());
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                parts.push(inside[begun..at].to_string());
                begun = at + 1;
                if c == '}' {
                    return Some((parts, &inside[begun..]));
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the letters of a range: `m..o`.
fn range(text: &str) -> Option<Vec<String>> {
    let (first, last) = text.split_once("..")?;
    let one = |text: &str| text.chars().next().filter(|c| text.len() == 1 && c.is_ascii());
    let (first, last) = (one(first)?, one(last)?);
    Some((first.min(last)..=first.max(last)).map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_braces_becomes_several() {
        for (text, words) in [
            ("a", "a"),
            ("{.,conf/.}env", ".env conf/.env"),
            ("a{b,{c,d}e}f", "abf acef adef"),
            (".e{m..o}v", ".emv .env .eov"),
            ("{a}{b,c}", "{a}b {a}c"),
            ("{a,b", "{a,b"),
            ("a{,b}", "a ab"),
        ] {
            assert_eq!(expansions(text).join(" "), words, "{text}");
        }
        assert_eq!(expansions(&"{a,b}".repeat(40)).len(), MOST);
    }
}
