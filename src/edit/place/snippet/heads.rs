//! Heads of passages: what a line says that begins one.

use crate::edit::lines::Lines;

/// Returns the head of a rule whose block opens at a line, from the first line of its selectors, or that of a declaration.
pub(super) fn of_css(lines: &Lines, at: usize) -> Option<(usize, String)> {
    let line = lines.content(at).trim();
    let Some(open) = line.find('{') else {
        let (property, _) = line.strip_suffix(';').filter(|line| !line.contains(';'))?.split_once(':')?;
        let is_property = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '$' | '@');
        let property = property.trim();
        return (!property.is_empty() && property.chars().all(is_property)).then(|| (at, format!("{property}:")));
    };
    let is_selector = |at: usize| {
        let line = lines.content(at).trim();
        !line.is_empty() && !line.contains(['{', '}', ';']) && !line.starts_with(['/', '*'])
    };
    let (mut head, mut selectors) = (at, line[..open].trim().to_string());
    if selectors.is_empty() {
        head = at.checked_sub(1).filter(|above| is_selector(*above))?;
        selectors = lines.content(head).trim().to_string();
    }
    while let Some(above) = head.checked_sub(1).filter(|above| is_selector(*above)) {
        let line = lines.content(above).trim();
        if !line.ends_with(',') {
            break;
        }
        selectors = format!("{line} {selectors}");
        head = above;
    }
    let words: Vec<&str> = selectors.split_whitespace().collect();
    (!words.is_empty() && !selectors.ends_with('#')).then(|| (head, format!("{} {{", words.join(" "))))
}

/// Returns what a statement creates: `table orders`.
pub(super) fn of_sql(line: &str) -> Option<String> {
    const BETWEEN: [&str; 13] = [
        "or",
        "replace",
        "temp",
        "temporary",
        "unique",
        "materialized",
        "unlogged",
        "external",
        "global",
        "local",
        "recursive",
        "virtual",
        "concurrently",
    ];
    let spaced = line.replace('(', " ( ");
    let mut words = spaced.split_whitespace().map(str::to_lowercase);
    words.next().filter(|word| word == "create")?;
    let mut words =
        words.filter(|word| !BETWEEN.contains(&word.as_str()) && !matches!(&**word, "if" | "not" | "exists"));
    let (kind, name) = (words.next()?, words.next()?);
    let name = name.replace(['"', '`', '\'', '[', ']', ';'], "");
    let is_named = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    is_named.then(|| format!("{kind} {name}"))
}

/// Returns a line of SQL without a comment at its end.
pub(super) fn without_comment(line: &str) -> &str {
    line.split("--").next().unwrap_or_default().trim_end()
}

/// Returns whether a line begins a statement of SQL.
pub(super) fn begins_statement(line: &str) -> bool {
    const STATEMENTS: [&str; 16] = [
        "create", "alter", "drop", "insert", "update", "delete", "select", "with", "grant", "revoke", "comment", "set",
        "use", "begin", "commit", "truncate",
    ];
    let word = line.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    STATEMENTS.iter().any(|statement| word.eq_ignore_ascii_case(statement))
}

/// Returns the key of a mapping that a line begins, or the item of a list.
pub(super) fn of_yaml(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with("- ") {
        return Some(line.to_string());
    }
    let at = line
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| matches!(line.as_bytes().get(at + 1), None | Some(b' ')))?;
    let name = line[..at].trim().trim_matches(['"', '\'']);
    let is_name = !name.is_empty() && !name.starts_with(['#', '{', '[', '|', '>', '&', '*', '-', '%']);
    is_name.then(|| format!("{name}:"))
}

/// Returns the name of the one member of an object that a line begins.
pub(super) fn of_json(line: &str) -> Option<String> {
    let (name, rest) = line.trim().strip_prefix('"')?.split_once('"')?;
    let members = format!("{{{}}}", line.trim().trim_end_matches(','));
    if serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&members).is_ok_and(|all| all.len() > 1) {
        return None;
    }
    rest.trim_start().starts_with(':').then(|| format!("\"{name}\":"))
}

/// Returns the name of a section, in its brackets.
pub(super) fn of_section(line: &str) -> Option<String> {
    let bare = line.split_once(" #").map_or(line, |(bare, _)| bare).trim_end();
    (bare.len() > 2 && bare.starts_with('[') && bare.ends_with(']')).then(|| bare.to_string())
}

/// Returns the name that a line of settings gives a value.
pub(super) fn of_setting(line: &str) -> Option<String> {
    let (name, _) = line.split_once('=')?;
    let name = name.strip_prefix("export ").unwrap_or(name).trim_end();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '"' | '\'');
    (!name.is_empty() && name.chars().all(is_name)).then(|| format!("{name}="))
}

/// Returns the targets of a rule, or the name of a variable.
pub(super) fn of_make(line: &str) -> Option<String> {
    if line.starts_with([' ', '\t', '#', '@']) {
        return None;
    }
    let is_name = |name: &str| !name.is_empty() && !name.contains(['(', ')', '"', '\'']);
    if let Some((name, _)) = line.split_once('=')
        && name.find(':').is_none_or(|at| name[at..].trim_end().trim_end_matches(':').is_empty())
    {
        let name = name.trim_end_matches([':', '?', '+', '!', ' ', '\t']);
        return is_name(name).then(|| format!("{name}="));
    }
    let (targets, _) = line.split_once(':')?;
    let targets: Vec<&str> = targets.split_whitespace().collect();
    (!targets.is_empty()).then(|| format!("{}:", targets.join(" ")))
}

/// Returns the name that a line of code gives a value: `LIMIT =`, with or without its type.
pub(super) fn of_assignment(line: &str) -> Option<String> {
    const BEFORE: [&str; 12] = [
        "export",
        "const",
        "let",
        "var",
        "static",
        "pub",
        "final",
        "public",
        "private",
        "protected",
        "readonly",
        "mut",
    ];
    let (head, value) = line.trim().split_once('=')?;
    if value.starts_with(['=', '>', '~'])
        || head.ends_with(['=', '!', '<', '>', '+', '-', '*', '/', '%', '|', '&', '^', ':', '?', '.'])
    {
        return None;
    }
    let mut words = head.split(':').next()?.split_whitespace().filter(|word| !BEFORE.contains(word));
    let name = words.next().filter(|_| words.next().is_none())?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    let begins = name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'));
    (begins && name.chars().all(is_name)).then(|| format!("{name} ="))
}

/// Returns the heading at a line, marked with its level, and how many lines it has.
pub(super) fn of_markdown(lines: &Lines, at: usize) -> Option<(usize, String)> {
    let line = lines.content(at).trim_end();
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    if (1..=6).contains(&level) && text.starts_with([' ', '\t']) {
        let text = text.trim().trim_end_matches('#').trim_end();
        return Some((1, format!("{} {text}", &line[..level])));
    }
    let below = lines.spans.get(at + 1).map(|_| lines.content(at + 1).trim())?;
    let is_line = |mark: char| below.len() >= 2 && below.chars().all(|c| c == mark);
    let is_text = !line.is_empty() && !line.starts_with([' ', '\t', '|', '>', '-', '*', '+', '=', '`', '~', '#']);
    let mark = if is_line('=') { "#" } else { "##" };
    (is_text && (is_line('=') || is_line('-'))).then(|| (2, format!("{mark} {}", line.trim())))
}
