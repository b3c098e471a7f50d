//! The beginnings of calls in a text.

use crate::edit::calls::CallTable;
use crate::edit::json::bare_name;

/// The mark that some models write before a list of calls.
pub(in crate::edit::stream) const CALLS_MARK: &str = "[TOOL_CALLS]";

/// Tells whether a text begins with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::edit::stream) enum Calls {
    No,
    /// The text does not decide yet.
    Wait,
    Yes,
}

/// Returns whether a text begins with calls: JSON objects, a call as Python writes it, or one with its arguments in tags or
/// in an object.
pub(in crate::edit::stream) fn calls(text: &str, table: &CallTable) -> Calls {
    let python = python(text, table).map_or_else(|calls| calls, |_| Calls::Yes);
    let keyed = keyed(text, table).map_or_else(|calls| calls, |_| Calls::Yes);
    let named = named_object(text, table).map_or_else(|calls| calls, |_| Calls::Yes);
    let all = [objects(text, table), python, keyed, named];
    let has = |one| all.contains(&one);
    if has(Calls::Yes) {
        Calls::Yes
    } else if has(Calls::Wait) {
        Calls::Wait
    } else {
        Calls::No
    }
}

/// The tag before the name of an argument.
pub(in crate::edit::stream) const ARGUMENT: &str = "<arg_key>";

/// Returns a tool, and how long what stands before its arguments is, where a text begins with its name and the tag of an
/// argument.
pub(in crate::edit::stream) fn keyed(text: &str, calls: &CallTable) -> Result<(usize, String), Calls> {
    let bare = text.trim_start();
    let behind = bare.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let name = &bare[..bare.len() - behind.len()];
    let argument = behind.trim_start();
    let short = text.len() - argument.len() < SPACE;
    if behind.is_empty() {
        let may = !name.is_empty() && calls.may_be_tool(name);
        return Err(if may && short { Calls::Wait } else { Calls::No });
    }
    match calls.is_tool(name) {
        true if argument.starts_with(ARGUMENT) => Ok((text.len() - argument.len(), name.to_string())),
        true if ARGUMENT.starts_with(argument) && short => Err(Calls::Wait),
        _ => Err(Calls::No),
    }
}

/// A tool that stands before the object of its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::edit::stream) struct NamedObject {
    /// The length of what stands before the object.
    pub length: usize,
    pub tool: String,
    /// The object is in brackets.
    pub is_bracketed: bool,
}

/// Returns a tool where a text begins with its name and the object of its arguments: `functions.replaceInFile({"path": …})`,
/// `to=functions.replaceInFile {…}`, or `Action: replaceInFile` with `Action Input: {…}` below.
pub(in crate::edit::stream) fn named_object(text: &str, calls: &CallTable) -> Result<NamedObject, Calls> {
    const ACTION: &str = "Action:";
    const INPUT: &str = "Action Input:";
    const TO: &str = "to=";
    let bare = text.trim_start();
    if bare.is_empty() || text.len() - bare.len() > SPACE {
        return Err(Calls::No);
    }
    if [ACTION, TO].iter().any(|mark| mark.starts_with(bare)) {
        return Err(Calls::Wait);
    }
    let (is_action, is_to) = (bare.starts_with(ACTION), bare.starts_with(TO));
    let rest = bare.strip_prefix(ACTION).map(str::trim_start).or_else(|| bare.strip_prefix(TO)).unwrap_or(bare);
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let name = &rest[..rest.len() - behind.len()];
    let (qualifier, tool) = name.rsplit_once('.').unwrap_or(("", name));
    let is_qualified = qualifier.is_empty() || QUALIFIERS.contains(&qualifier);
    let wait = |may: bool| Err(if may && bare.len() < SPACE { Calls::Wait } else { Calls::No });
    if behind.is_empty() {
        return wait(name.is_empty() || calls.may_be_tool(tool) || QUALIFIERS.iter().any(|q| q.starts_with(name)));
    }
    if !is_qualified || !calls.is_tool_in_code(tool) {
        return Err(Calls::No);
    }
    let mark = if is_action { INPUT } else { "(" };
    let behind = behind.trim_start();
    let object = match behind.strip_prefix(mark).or(Some(behind).filter(|_| is_to)) {
        Some(object) => object.trim_start(),
        None => return wait(mark.starts_with(behind)),
    };
    let Some(inner) = object.strip_prefix('{').map(str::trim_start) else { return wait(object.is_empty()) };
    match quoted(inner) {
        Some((key, _)) if inner.starts_with('"') && calls.is_parameter(tool, key) => Ok(NamedObject {
            length: text.len() - object.len(),
            tool: tool.to_string(),
            is_bracketed: !is_action && behind.starts_with('('),
        }),
        Some(_) => Err(Calls::No),
        None => wait(inner.is_empty() || inner.starts_with('"')),
    }
}

/// Returns whether a text begins with a JSON object (or a list of them) that names a tool. Its first member tells.
pub(in crate::edit::stream) fn objects(text: &str, table: &CallTable) -> Calls {
    let text = text.trim_start();
    let inner = text.strip_prefix('[').unwrap_or(text).trim_start();
    let Some(inner) = inner.strip_prefix('{').map(str::trim_start) else {
        return if inner.is_empty() && text.len() < HELD { Calls::Wait } else { Calls::No };
    };
    let Some((name, rest)) = quoted(inner) else { return begins(inner) };
    let Some(value) = rest.trim_start().strip_prefix(':') else {
        return if rest.trim().is_empty() { Calls::Wait } else { Calls::No };
    };
    let value = value.trim_start();
    match name {
        "arguments" | "args" | "parameters" | "input" | "params" | "tool_calls" if value.is_empty() => Calls::Wait,
        "arguments" | "args" | "parameters" | "input" | "params" | "tool_calls" => {
            says(value.starts_with('{') || value.starts_with('['))
        }
        "name" | "tool" | "tool_name" | "action" | "function" | "type" => match quoted(value) {
            Some((kind, _)) if name == "type" => says(matches!(kind, "function" | "tool_call" | "tool_use")),
            Some((tool, _)) => says(table.is_tool(tool)),
            None if name == "function" && value.starts_with('{') => Calls::Yes,
            None => named(value, table),
        },
        tool if table.is_tool(tool) => match value.is_empty() {
            true => Calls::Wait,
            false => says(value.starts_with('{')),
        },
        _ => Calls::No,
    }
}

fn says(yes: bool) -> Calls {
    if yes { Calls::Yes } else { Calls::No }
}

/// Parses a short string in quotes; returns what follows it too.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote)
}

/// Returns whether a value is the name of a tool without quotes, or a string that may yet come.
fn named(value: &str, table: &CallTable) -> Calls {
    let rest = value.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let word = &value[..value.len() - rest.len()];
    let short = value.len() < 60 && !value.contains('\n');
    match bare_name(value) {
        Some(tool) => says(table.own_name(tool).is_some() && table.is_tool_in_code(tool)),
        None if !word.is_empty() && rest.trim().is_empty() && short && table.may_be_tool(word) => Calls::Wait,
        None => begins(value),
    }
}

/// Returns whether a string may yet come.
fn begins(text: &str) -> Calls {
    let short = text.len() < 60 && !text.contains('\n');
    if text.is_empty() || (text.starts_with(['"', '\'']) && short) { Calls::Wait } else { Calls::No }
}

/// The most white space that is waited through, in bytes.
const HELD: usize = 400;

/// Words that may stand before a tool's name and a dot.
const QUALIFIERS: [&str; 3] = ["default_api", "functions", "tools"];

/// The prefixes of a call's name.
const BEFORE: [&str; 3] = ["[", "print(", "await "];
/// The most white space inside the beginning of a call that is waited through, in bytes.
pub(super) const SPACE: usize = 300;

/// The beginning of a call: how long it is up to its first argument, the tool, and the brackets around the call.
#[derive(Debug)]
pub(in crate::edit::stream) struct Head {
    pub(super) length: usize,
    pub(super) tool: String,
    pub(super) around: usize,
}

/// Returns the beginning of such a call, if a text begins with it, perhaps indented: a tool's name, a bracket and one
/// of its parameters.
pub(in crate::edit::stream) fn python(text: &str, calls: &CallTable) -> Result<Head, Calls> {
    let bare = text.trim_start();
    let begun = python_head(bare, calls)?;
    Ok(Head { length: text.len() - bare.len() + begun.length, ..begun })
}

/// Parses the same without indentation.
pub(super) fn python_head(text: &str, calls: &CallTable) -> Result<Head, Calls> {
    let (mut rest, mut around) = (text, 0);
    while let Some(before) = BEFORE.iter().find(|b| rest.starts_with(**b)) {
        around += usize::from(before.ends_with(['[', '(']));
        rest = rest[before.len()..].trim_start();
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let name = &rest[..rest.len() - rest.trim_start_matches(is_name).len()];
    // No other word is waited for, so none is taken: an answer is read the same however it is cut.
    let tool = match name.rsplit_once('.') {
        Some((qualifier, tool)) if QUALIFIERS.contains(&qualifier) => tool,
        Some(_) => return Err(Calls::No),
        None => name,
    };
    let after = &rest[name.len()..];
    if after.is_empty() {
        let may = calls.may_be_tool(tool) || QUALIFIERS.iter().chain(&BEFORE).any(|q| q.starts_with(name));
        return Err(if may && text.len() < SPACE { Calls::Wait } else { Calls::No });
    }
    let Some(inside) = after.strip_prefix('(').filter(|_| calls.is_tool_in_code(tool)) else { return Err(Calls::No) };
    let argument = inside.trim_start();
    let key = &argument[..argument.len() - argument.trim_start_matches(is_name).len()];
    let equals = argument[key.len()..].trim_start();
    if (equals.is_empty() || equals == "=") && inside.len() < SPACE {
        return Err(Calls::Wait);
    }
    if !equals.starts_with('=') || equals.starts_with("==") || !calls.is_parameter(tool, key) {
        return Err(Calls::No);
    }
    Ok(Head { length: text.len() - argument.len(), tool: tool.to_string(), around })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_known_by_its_tool_and_the_object_behind_it() {
        let calls = crate::tools::ToolSet::builtin().calls();
        for (text, is_bracketed) in [
            ("functions.replaceInFile({\"path\"", true),
            ("replace_in_file( {\"path\"", true),
            ("to=functions.replaceInFile {\"path\"", false),
            ("Action: replaceInFile\nAction Input: {\"path\"", false),
        ] {
            for (at, _) in text.char_indices().skip(1) {
                assert_eq!(named_object(&text[..at], &calls).err(), Some(Calls::Wait), "{text} up to {at}");
            }
            let named = named_object(text, &calls).expect(text);
            assert_eq!((named.is_bracketed, text[named.length..].starts_with('{')), (is_bracketed, true), "{text}");
        }
        for text in [
            "replaceInFile({path: 'a'})",
            "writeFile({\"colour\": 1})",
            "other.replaceInFile({\"path\": 1})",
            "Action: think\n",
            "Action: replaceInFile\nObservation: {}",
            "to=user {\"path\"",
            "replaceInFile {\"path\"",
            "Actions:",
        ] {
            assert_eq!(named_object(text, &calls).err(), Some(Calls::No), "{text}");
        }
    }

    #[test]
    fn a_call_is_known_by_its_tool_and_a_parameter() {
        let calls = crate::tools::ToolSet::builtin().calls();
        for text in
            ["replaceInFile(path=", "[read_file(path=", "print(default_api.list(\n    path=", "await writeFile(file="]
        {
            for (at, _) in text.char_indices().skip(1) {
                assert_eq!(python(&text[..at], &calls).err(), Some(Calls::Wait), "{text} up to {at}");
            }
            let begun = python(&format!("  {text}'a'"), &calls).expect(text);
            assert!(begun.length > 2 && begun.length <= text.len(), "{text}");
        }
        for text in [
            "list(x)",
            "my_api.list(path=",
            "list(path==",
            "replaceInFile(\"a\"",
            "read it",
            "printf(",
            "writes = 3",
            "[1, 2]",
        ] {
            assert_eq!(python(text, &calls).err(), Some(Calls::No), "{text}");
        }
    }
}
