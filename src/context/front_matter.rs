//! Front matter: the few lines of `key: value` between `---` that may head a Markdown file. Supports the part of YAML
//! that rules and prompts use: strings, bare or quoted, and lists in either form.

/// A text and what stood above it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FrontMatter<'a> {
    /// Keys with their values; a list has its key several times.
    pub(super) fields: Vec<(&'a str, String)>,
    /// The text after the front matter.
    pub(super) body: &'a str,
    /// The error in it, with the line, if there is one.
    pub(super) broken: Option<String>,
}

/// Takes the front matter off a text. A text without any, or whose front matter never ends, is all body.
pub(super) fn split(text: &str) -> FrontMatter<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut whole = FrontMatter { fields: Vec::new(), body: text, broken: None };
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else { return whole };
    let mut fields = Vec::new();
    let mut key = "";
    let mut at = text.len() - rest.len();
    let mut broken = None;
    for (i, line) in rest.split_inclusive('\n').enumerate() {
        at += line.len();
        let line = line.trim_end();
        if line == "---" {
            return FrontMatter { fields, body: text[at..].trim_start_matches(['\r', '\n']), broken };
        }
        let said = line.trim_start();
        if let Some(item) = said.strip_prefix("- ").filter(|_| !key.is_empty()) {
            fields.push((key, unquoted(item)));
        } else if let Some((name, value)) = line.split_once(':').filter(|_| !said.starts_with('#')) {
            key = name.trim();
            let value = value.trim();
            if value.starts_with('[') && !value.ends_with(']') {
                broken.get_or_insert(format!("line {}: the list is not closed with ]", i + 2));
            }
            fields.extend(values(value).into_iter().map(|v| (key, v)));
        } else if !said.is_empty() && !said.starts_with('#') {
            broken.get_or_insert(format!("line {}: `{said}` is neither `key: value` nor an item of a list", i + 2));
        }
    }
    // A rule across the page may begin a plain text: only with a field below it is it front matter.
    if rest.lines().next().is_some_and(|line| line.split_once(':').is_some_and(|(name, _)| is_word(name))) {
        whole.broken = Some("its front matter never ends; close it with a line of `---`".into());
    }
    whole
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Returns all values of a key. A single string with commas outside of braces counts as several.
pub(super) fn list(fields: &[(&str, String)], key: &str) -> Vec<String> {
    let of_key = fields.iter().filter(|(k, _)| *k == key);
    of_key.flat_map(|(_, v)| commas(v)).map(|s| unquoted(&s)).filter(|s| !s.is_empty()).collect()
}

/// Returns the first value of a key.
pub(super) fn one<'a>(fields: &'a [(&str, String)], key: &str) -> Option<&'a str> {
    fields.iter().find(|(k, _)| *k == key).map(|(_, v)| v.as_str())
}

/// Parses `[a, "b"]` or one value; nothing for an empty one, whose list may follow on its own lines.
fn values(value: &str) -> Vec<String> {
    match value.strip_prefix('[').and_then(|v| v.strip_suffix(']')) {
        Some(inner) => commas(inner).iter().map(|s| unquoted(s)).filter(|s| !s.is_empty()).collect(),
        None if value.is_empty() => Vec::new(),
        None => vec![unquoted(value)],
    }
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    let inner = ['"', '\''].iter().find_map(|q| value.strip_prefix(*q)?.strip_suffix(*q));
    inner.unwrap_or(value).to_string()
}

/// Splits at commas that stand neither in braces nor in quotes.
fn commas(value: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut quote) = (0usize, None);
    for c in value.chars() {
        match (c, quote) {
            (',', None) if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            ('{', None) => depth += 1,
            ('}', None) => depth = depth.saturating_sub(1),
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.into_iter().map(|p| p.trim().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_body() {
        let front = split("---\na: x\nb: [\"*.rs\", c]\nlist:\n  - 'one'\n  - two\n# no: field\n---\n\nbody\n---\n");
        assert_eq!(front.body, "body\n---\n");
        assert_eq!(one(&front.fields, "a"), Some("x"));
        assert_eq!(list(&front.fields, "b"), ["*.rs", "c"]);
        assert_eq!(list(&front.fields, "list"), ["one", "two"]);
        assert_eq!(list(&[("g", "a/{b,c}, d".into())], "g"), ["a/{b,c}", "d"]);
    }

    #[test]
    fn text_without_front_matter_is_body() {
        for text in ["plain", "---\nnever closed\n", "--- \n"] {
            assert_eq!(split(text), FrontMatter { fields: vec![], body: text, broken: None });
        }
        assert_eq!(split("---\r\na: b\r\n---\r\nx").body, "x");
    }

    #[test]
    fn broken_front_matter_is_reported() {
        for (text, said) in [
            ("---\nglobs: *.rs\nno end", "never ends"),
            ("---\nglobs: [a, b\n---\nx", "line 2: the list is not closed"),
            ("---\na: b\nwords alone\n---\nx", "line 3: `words alone`"),
            ("---\n- item of nothing\n---\nx", "line 2"),
        ] {
            let broken = split(text).broken.unwrap_or_default();
            assert!(broken.contains(said), "{text}: {broken}");
        }
        assert_eq!(split("---\n# a comment\n\na: b\n---\nx").broken, None);
    }
}
