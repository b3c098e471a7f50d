//! Tool calls as values: which tool a JSON object means, and the edits that the changing tools ask for.

use serde_json::{Map, Value};

use super::stream::{End, Parser, Piece};
use super::{Edit, Format, Op, Shape};

/// A tool's name, and its required parameters with other names that models give them.
type Tool = (&'static str, &'static [(&'static str, &'static [&'static str])]);

const PATH: (&str, &[&str]) = ("path", &["file", "filepath", "file_path", "filename", "filePath"]);

const TOOLS: [Tool; 12] = [
    ("list", &[("path", &["directory", "dir"])]),
    ("readFile", &[PATH]),
    ("searchInDirectory", &[("directory", &["path", "dir"]), ("keyword", &["query", "pattern"])]),
    ("writeFile", &[PATH, ("content", &["contents", "text", "new_content", "file_text"])]),
    ("editFile", &[PATH, ("new_content", &["content", "contents", "text", "newContent"])]),
    (
        "replaceInFile",
        &[
            PATH,
            ("search", &["old_string", "old_str", "old", "find"]),
            ("replace", &["new_string", "new_str", "new", "replacement"]),
        ],
    ),
    ("applyPatch", &[("patch", &["diff", "input"])]),
    ("deleteFile", &[PATH]),
    ("moveFile", &[PATH, ("to", &["destination", "new_path", "newPath"])]),
    ("undo", &[]),
    ("runCommand", &[("command", &["cmd"])]),
    ("askUser", &[("question", &[])]),
];

/// The tool call a JSON value is, with the tool's own names for itself and its parameters: an object that names a tool
/// and holds fitting arguments. `editFile` with a search and a replacement is `replaceInFile`.
pub fn read(value: &Value) -> Option<(String, Value)> {
    let object = value.as_object()?;
    if let Some(inner) = object.get("function").filter(|f| f.is_object()) {
        return read(inner);
    }
    let Some(name) = NAMES.iter().find_map(|k| object.get(*k)?.as_str()) else { return keyed(object) };
    let arguments = ARGUMENTS.iter().find_map(|k| object.get(*k));
    let arguments = match arguments {
        Some(Value::String(text)) => super::json::repair(text).ok()?,
        Some(value) => value.clone(),
        None => return flat(name, object),
    };
    let given = arguments.as_object()?;
    if is_shell(name) {
        return handed_over(given);
    }
    let name = commanded(name, given).unwrap_or(name);
    let &(mut tool, parameters) = tool_of(name)?;
    let mut fitted = fit(given, parameters);
    let replace = &TOOLS[5];
    if tool == "editFile" && !fitted.contains_key("new_content") {
        let other = fit(given, replace.1);
        if other.contains_key("search") && other.contains_key("replace") {
            (tool, fitted) = (replace.0, other);
        }
    }
    let fits = parameters.is_empty() || parameters.iter().any(|(name, _)| fitted.contains_key(*name));
    fits.then(|| (tool.to_string(), Value::Object(fitted)))
}

/// A call whose arguments stand beside its name: `{"tool": "readFile", "path": "a.py"}`. None that is needed may be missing.
fn flat(name: &str, object: &Map<String, Value>) -> Option<(String, Value)> {
    let beside =
        |(key, _): &(&String, &Value)| !NAMES.contains(&key.as_str()) && !["type", "id"].contains(&key.as_str());
    let given: Map<String, Value> =
        object.iter().filter(beside).map(|(key, value)| (key.clone(), value.clone())).collect();
    called(name, given)
}

/// A call under the name of its tool: `{"readFile": {"path": "a.py"}}`.
fn keyed(object: &Map<String, Value>) -> Option<(String, Value)> {
    let (name, given) = object.iter().next().filter(|_| object.len() == 1)?;
    called(name, given.as_object()?.clone())
}

/// The call of that tool with these arguments, where none that is needed is missing.
fn called(name: &str, given: Map<String, Value>) -> Option<(String, Value)> {
    let arguments =
        Map::from_iter([("name".to_string(), name.into()), ("arguments".to_string(), Value::Object(given))]);
    let (tool, fitted) = read(&Value::Object(arguments))?;
    let parameters = TOOLS.iter().find(|(own, _)| *own == tool)?.1;
    parameters.iter().all(|(name, _)| fitted.get(name).is_some()).then_some((tool, fitted))
}

/// Whether this is a parameter of that tool, under its own name or another.
pub(super) fn is_parameter(tool: &str, name: &str) -> bool {
    let names = |(own, others): &(&str, &[&str])| *own == name || others.contains(&name);
    tool_of(tool).is_some_and(|(_, parameters)| parameters.iter().any(names))
}

/// Whether a tool's name, or one that means it, begins so.
pub(super) fn may_be_tool(beginning: &str) -> bool {
    let beginning = bare(beginning);
    let others = OTHER.iter().map(|(other, _)| other.to_string());
    TOOLS.iter().map(|(tool, _)| bare(tool)).chain(others).any(|name| name.starts_with(&beginning))
}

/// A tool's name without what models change in it.
fn bare(name: &str) -> String {
    let name = ["functions.", "default_api.", "tools."].iter().find_map(|p| name.strip_prefix(p)).unwrap_or(name);
    name.replace(['_', '-'], "").to_lowercase()
}

/// Whether this is a tool's name, or one that other programs give to such a tool.
pub(super) fn is_tool(name: &str) -> bool {
    tool_of(name).is_some() || is_shell(name) || EDITORS.contains(&bare(name).as_str())
}

/// The tool's own name for itself.
pub(super) fn own_name(name: &str) -> Option<&'static str> {
    tool_of(name).map(|(own, _)| *own)
}

/// Names that other programs give to our tools, as [`bare`] has them.
const OTHER: [(&str, &str); 7] = [
    ("createfile", "writeFile"),
    ("writetofile", "writeFile"),
    ("strreplace", "replaceInFile"),
    ("searchreplace", "replaceInFile"),
    ("viewfile", "readFile"),
    ("listfiles", "list"),
    ("listdirectory", "list"),
];

fn tool_of(name: &str) -> Option<&'static Tool> {
    let bare_name = bare(name);
    let own = OTHER.iter().find(|(other, _)| *other == bare_name).map_or(bare_name, |(_, own)| bare(own));
    TOOLS.iter().find(|(tool, _)| bare(tool) == own)
}

/// Tools of other programs that edit by a `command`, as [`bare`] has them.
const EDITORS: [&str; 3] = ["strreplaceeditor", "strreplacebasededittool", "texteditor"];

/// The tool that such an editor's command is.
fn commanded(name: &str, given: &Map<String, Value>) -> Option<&'static str> {
    if !EDITORS.contains(&bare(name).as_str()) {
        return None;
    }
    Some(match given.get("command")?.as_str()? {
        "str_replace" => "replaceInFile",
        "create" => "writeFile",
        "view" => "readFile",
        _ => return None,
    })
}

fn is_shell(name: &str) -> bool {
    ["shell", "bash", "localshell", "exec"].contains(&bare(name).as_str())
}

/// A patch that is handed to `apply_patch` in a shell. Nothing else that a shell does is a tool of ours.
fn handed_over(given: &Map<String, Value>) -> Option<(String, Value)> {
    let command = match given.get("command").or_else(|| given.get("cmd"))? {
        Value::String(text) => text.clone(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
        _ => return None,
    };
    let patch = command.trim_start().starts_with("apply_patch") || command.contains("\napply_patch");
    let from = command.find("*** Begin Patch").filter(|_| patch)?;
    let end = command.rfind("*** End Patch").map_or(command.len(), |at| at + "*** End Patch".len());
    let mut arguments = Map::new();
    arguments.insert("patch".into(), command.get(from..end)?.into());
    Some(("applyPatch".to_string(), Value::Object(arguments)))
}

/// The arguments under the tool's own names.
fn fit(given: &Map<String, Value>, parameters: &[(&str, &[&str])]) -> Map<String, Value> {
    let mut fitted = Map::new();
    for (name, value) in given {
        let own = parameters
            .iter()
            .find(|(own, others)| own == name || (!given.contains_key(*own) && others.contains(&name.as_str())));
        fitted.insert(own.map_or(name.clone(), |(own, _)| own.to_string()), value.clone());
    }
    fitted
}

/// The names that a call's arguments are given under.
const ARGUMENTS: [&str; 5] = ["arguments", "args", "parameters", "input", "params"];
/// The names that a call's tool is given under.
const NAMES: [&str; 5] = ["name", "tool", "tool_name", "function", "action"];
/// A call says what it is within so many bytes.
pub(super) const HEAD: usize = 4 << 10;

/// What the beginning of a JSON object says of its being a call: the tool, and where its arguments begin. Only once a
/// parameter of the tool is among them, so that nothing else is taken for a call; more text changes nothing of it.
pub(super) fn begun(text: &str) -> Option<(&'static str, usize)> {
    let head = &text[..text.floor_char_boundary(HEAD)];
    let mut at = head.find('{')?;
    let (mut tool, mut arguments): (Option<&Tool>, Option<usize>) = (None, None);
    while let Some((key, value)) = member(&head[at..]) {
        let value_at = at + value;
        let rest = head[value_at..].trim_start();
        let found = arguments.zip(tool);
        if let Some((start, &(name, parameters))) = found
            && parameters.iter().any(|(own, others)| *own == key || others.contains(&key))
        {
            return Some((name, start));
        }
        if tool.is_none() && NAMES.contains(&key) && rest.starts_with('"') {
            let named = rest[1..].split_once('"')?.0;
            tool = Some(tool_of(named)?);
        } else if ARGUMENTS.contains(&key) && rest.starts_with('{') {
            arguments = Some(head.len() - rest.len());
        }
        at = value_at;
    }
    None
}

/// The next `"key":` of a text: the key, and where its value begins.
fn member(text: &str) -> Option<(&str, usize)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find('"')?;
        let close = open + 1 + text[open + 1..].find('"')?;
        let after = text[close + 1..].trim_start();
        if after.starts_with(':') {
            return Some((&text[open + 1..close], text.len() - after.len() + 1));
        }
        if after.is_empty() {
            return None;
        }
        from = close + 1;
    }
}

/// Whether a text that cannot be read as JSON was meant to be a call: it names a tool where a call does.
pub(super) fn was_meant(text: &str) -> bool {
    if begun(text).is_some() {
        return true;
    }
    let head: String = text.chars().take(200).filter(|c| !c.is_whitespace()).collect();
    TOOLS.iter().any(|(tool, _)| head.contains(&format!("\"{tool}\"")))
}

/// The edits that a call asks for: `None` if its tool changes no file (or is `undo`), an error for the model if
/// an argument is missing or of the wrong type.
pub fn edits(name: &str, arguments: &Value) -> Option<Result<Vec<Edit>, String>> {
    let tool = ["replaceInFile", "writeFile", "editFile", "applyPatch", "deleteFile", "moveFile"]
        .into_iter()
        .find(|tool| *tool == name)?;
    Some(asked(tool, arguments))
}

fn asked(tool: &str, arguments: &Value) -> Result<Vec<Edit>, String> {
    let text = |key: &str| match arguments.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("`{key}` must be a string")),
        None => Err(format!("`{key}` is missing")),
    };
    let all = match arguments.get("replaceAll") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(all)) => *all,
        Some(Value::String(word)) if word == "true" || word == "false" => word == "true",
        Some(_) => return Err("`replaceAll` must be true or false".to_string()),
    };
    let op = match tool {
        "replaceInFile" => {
            Op::Replace { search: text("search")?, replace: text("replace")?, shape: Shape::Literal, all }
        }
        "writeFile" => Op::Write { content: text("content")? },
        "editFile" => Op::Overwrite { content: text("new_content")? },
        "deleteFile" => Op::Delete,
        "moveFile" => Op::Move { to: text("to")? },
        _ => return patch(&text("patch")?),
    };
    Ok(vec![Edit::new(text("path")?, op, Format::Tools, tool)])
}

/// The edits of a patch given as one text.
fn patch(text: &str) -> Result<Vec<Edit>, String> {
    let mut parser = Parser::new(Some(Format::Patch), Vec::new());
    let mut pieces = parser.push(text);
    pieces.extend(parser.finish(End::Ordinary));
    let mut edits = Vec::new();
    for piece in pieces {
        match piece {
            Piece::EditDone { edit, .. } => edits.push(Edit { by: "applyPatch".to_string(), ..edit }),
            Piece::EditDropped { why, .. } => return Err(why),
            _ => {}
        }
    }
    if edits.is_empty() {
        return Err(
            "there is no patch in `patch`. Write `*** Begin Patch`, `*** Update File: PATH`, lines that begin \
                    with a space, `-` or `+`, and `*** End Patch`; or a unified diff with `---`, `+++` and `@@` lines."
                .to_string(),
        );
    }
    Ok(edits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_read_under_any_of_its_names() {
        let call = json!({"name": "edit_file", "arguments": {"file": "a", "search": "x", "replace": "y"}});
        assert_eq!(read(&call), Some(("replaceInFile".into(), json!({"path": "a", "search": "x", "replace": "y"}))));
        let call = json!({"function": {"name": "writeFile", "arguments": "{\"path\": \"a\", \"content\": \"b\"}"}});
        assert_eq!(read(&call), Some(("writeFile".into(), json!({"path": "a", "content": "b"}))));
        assert_eq!(read(&json!({"name": "nebula", "arguments": {"path": "a"}})), None);
        assert_eq!(read(&json!({"name": "readFile", "arguments": {"colour": "red"}})), None);
    }

    #[test]
    fn a_call_is_known_from_its_first_parameter() {
        let text = r#"{"name": "replace_in_file", "arguments": {"path": "a", "search": "x\"y"}}"#;
        let at = text.find("{\"path").unwrap();
        let known = text.find("path\":").unwrap() + 6;
        for end in 0..text.len() {
            assert_eq!(begun(&text[..end]), (end >= known).then_some(("replaceInFile", at)), "{}", &text[..end]);
        }
        for no in
            [r#"{"name": "nebula", "arguments": {"path": "#, r#"{"name": "list", "arguments": {"colour": 1}}"#, "[1, 2"]
        {
            assert_eq!(begun(no), None, "{no}");
        }
    }

    #[test]
    fn wrong_arguments_are_named() {
        let told = edits("replaceInFile", &json!({"path": "a", "search": 5, "replace": ""})).unwrap();
        assert_eq!(told.unwrap_err(), "`search` must be a string");
        assert!(edits("readFile", &json!({})).is_none());
        assert!(edits("applyPatch", &json!({"patch": "hello"})).unwrap().is_err());
    }
}
