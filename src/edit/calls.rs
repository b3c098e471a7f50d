//! Tool calls as values: which tool a JSON object means. The tools are handed in as a [`CallTable`].

use serde_json::{Map, Value};

use super::json::bare_name;
use super::names::TOOL as NAMES;

/// A tool whose calls may be written in a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallShape {
    /// Its own name.
    pub name: String,
    /// Names that other programs give to such a tool.
    pub aliases: Vec<String>,
    /// Names of it that are plain words, which code may hold in another meaning.
    pub words: Vec<String>,
    /// Its required parameters, each with other names that models give it.
    pub parameters: Vec<(String, Vec<String>)>,
    /// The `command` values of other programs' editor tools that do the same.
    pub commands: Vec<String>,
    /// The tool that is meant by a call whose arguments fit that one instead.
    pub instead: Option<String>,
    /// True if it takes a patch, which other programs hand to a command in a shell.
    pub takes_patch: bool,
}

impl CallShape {
    fn own_parameter(&self, name: &str) -> Option<&str> {
        let names = |(own, others): &&(String, Vec<String>)| own == name || others.iter().any(|o| o == name);
        self.parameters.iter().find(names).map(|(own, _)| own.as_str())
    }

    /// Returns whether none of its required parameters is missing among these.
    fn is_filled(&self, given: &Map<String, Value>) -> bool {
        self.parameters.iter().all(|(own, _)| given.contains_key(own))
    }
}

/// The tools whose calls are read in a text; without any, none is.
#[derive(Debug, Default)]
pub struct CallTable {
    tools: Vec<CallShape>,
    /// All names of tools, as [`bare`] has them, and the tool of each: those of `words` last.
    names: Vec<(String, usize)>,
    /// The number of names that are no plain words.
    plain_from: usize,
}

impl CallTable {
    /// Creates the table of these tools. Of two tools with one name the first has it.
    pub fn new(tools: Vec<CallShape>) -> Self {
        let own = tools.iter().enumerate().map(|(at, tool)| (bare(&tool.name), at));
        let others = tools.iter().enumerate().flat_map(|(at, tool)| tool.aliases.iter().map(move |a| (bare(a), at)));
        let mut names: Vec<(String, usize)> = own.chain(others).collect();
        let plain_from = names.len();
        names.extend(tools.iter().enumerate().flat_map(|(at, tool)| tool.words.iter().map(move |w| (bare(w), at))));
        CallTable { tools, names, plain_from }
    }

    /// Returns the tool call a JSON value is, with the tool's own names for itself and its parameters: an object that
    /// names a tool and holds fitting arguments.
    pub fn read(&self, value: &Value) -> Option<(String, Value)> {
        let object = value.as_object()?;
        if let Some(inner) = object.get("function").filter(|f| f.is_object()) {
            return self.read(inner);
        }
        let Some(name) = NAMES.iter().find_map(|k| object.get(*k)?.as_str()) else { return self.keyed(object) };
        let arguments = ARGUMENTS.iter().find_map(|k| object.get(*k));
        let arguments = match arguments {
            Some(Value::String(text)) => super::json::repair(text).ok()?,
            Some(value) => value.clone(),
            None => return self.flat(name, object),
        };
        let given = arguments.as_object()?;
        if is_shell(name) {
            return self.handed_over(given);
        }
        let mut tool = match is_editor(name) {
            true => self.commanded(given)?,
            false => self.tool(name)?,
        };
        let mut fitted = fit(given, tool);
        if let Some(other) = tool.instead.as_deref().and_then(|name| self.tool(name))
            && !tool.is_filled(&fitted)
        {
            // The file alone is not enough: all of the other tool's parameters must be there.
            let others = fit(given, other);
            if other.is_filled(&others) {
                (tool, fitted) = (other, others);
            }
        }
        let fits = tool.parameters.is_empty() || tool.parameters.iter().any(|(name, _)| fitted.contains_key(name));
        fits.then(|| (tool.name.clone(), Value::Object(fitted)))
    }

    /// Returns a call whose arguments stand beside its name: `{"tool": "readFile", "path": "a.py"}`. None that is
    /// needed may be missing.
    fn flat(&self, name: &str, object: &Map<String, Value>) -> Option<(String, Value)> {
        let beside =
            |(key, _): &(&String, &Value)| !NAMES.contains(&key.as_str()) && !["type", "id"].contains(&key.as_str());
        let given: Map<String, Value> =
            object.iter().filter(beside).map(|(key, value)| (key.clone(), value.clone())).collect();
        self.called(name, given)
    }

    /// Returns a call under the name of its tool: `{"readFile": {"path": "a.py"}}`.
    fn keyed(&self, object: &Map<String, Value>) -> Option<(String, Value)> {
        let (name, given) = object.iter().next().filter(|_| object.len() == 1)?;
        self.called(name, given.as_object()?.clone())
    }

    /// Returns the call of that tool with these arguments, where none that is needed is missing.
    fn called(&self, name: &str, given: Map<String, Value>) -> Option<(String, Value)> {
        let arguments =
            Map::from_iter([("name".to_string(), name.into()), ("arguments".to_string(), Value::Object(given))]);
        let (tool, fitted) = self.read(&Value::Object(arguments))?;
        let shape = self.tool(&tool)?;
        shape.parameters.iter().all(|(name, _)| fitted.get(name).is_some()).then_some((tool, fitted))
    }

    /// Returns whether this is a parameter of that tool, under its own name or another.
    pub(super) fn is_parameter(&self, tool: &str, name: &str) -> bool {
        self.tool(tool).is_some_and(|tool| tool.own_parameter(name).is_some())
    }

    /// Returns whether a tool's name, or one that means it, begins so.
    pub(super) fn may_be_tool(&self, beginning: &str) -> bool {
        let beginning = bare(beginning);
        self.names.iter().any(|(name, _)| name.starts_with(&beginning))
    }

    /// Returns whether this is a tool's name, or one that other programs give to such a tool.
    pub(super) fn is_tool(&self, name: &str) -> bool {
        self.tool(name).is_some() || (!self.tools.is_empty() && (is_shell(name) || is_editor(name)))
    }

    /// Returns whether this is a tool's name that is no plain word.
    pub(super) fn is_tool_in_code(&self, name: &str) -> bool {
        let name = bare(name);
        self.names[..self.plain_from].iter().any(|(own, _)| *own == name)
            || (!self.tools.is_empty() && (is_shell(&name) || is_editor(&name)))
    }

    /// Returns the tool's own name for itself.
    pub(super) fn own_name(&self, name: &str) -> Option<&str> {
        self.tool(name).map(|tool| tool.name.as_str())
    }

    fn tool(&self, name: &str) -> Option<&CallShape> {
        let name = bare(name);
        let (_, at) = self.names.iter().find(|(own, _)| *own == name)?;
        self.tools.get(*at)
    }

    /// Returns the tool that the command of another program's editor is.
    fn commanded(&self, given: &Map<String, Value>) -> Option<&CallShape> {
        let command = given.get("command")?.as_str()?;
        self.tools.iter().find(|tool| tool.commands.iter().any(|c| c == command))
    }

    /// Returns a patch that is handed to `apply_patch` in a shell. Nothing else that a shell does is a tool of ours.
    fn handed_over(&self, given: &Map<String, Value>) -> Option<(String, Value)> {
        let tool = self.tools.iter().find(|tool| tool.takes_patch)?;
        let (parameter, _) = tool.parameters.first()?;
        let command = match given.get("command").or_else(|| given.get("cmd"))? {
            Value::String(text) => text.clone(),
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
            _ => return None,
        };
        let patch = command.trim_start().starts_with("apply_patch") || command.contains("\napply_patch");
        let from = command.find("*** Begin Patch").filter(|_| patch)?;
        let end = command.rfind("*** End Patch").map_or(command.len(), |at| at + "*** End Patch".len());
        let mut arguments = Map::new();
        arguments.insert(parameter.clone(), command.get(from..end)?.into());
        Some((tool.name.clone(), Value::Object(arguments)))
    }

    /// Returns what the beginning of a JSON object says of its being a call: the tool, and where its arguments begin.
    /// Only once a parameter of the tool is among them, so that nothing else is taken for a call; more text changes
    /// nothing of it.
    pub(super) fn begun(&self, text: &str) -> Option<(&str, usize)> {
        let head = &text[..text.floor_char_boundary(HEAD)];
        let mut at = head.find('{')?;
        let (mut tool, mut arguments): (Option<&CallShape>, Option<usize>) = (None, None);
        while let Some((key, value)) = member(&head[at..]) {
            let value_at = at + value;
            let rest = head[value_at..].trim_start();
            if let Some((start, tool)) = arguments.zip(tool)
                && tool.own_parameter(key).is_some()
            {
                return Some((&tool.name, start));
            }
            if tool.is_none() && NAMES.contains(&key) && rest.starts_with('"') {
                let named = rest[1..].split_once('"')?.0;
                tool = Some(self.tool(named)?);
            } else if tool.is_none() && NAMES.contains(&key) && rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
                let named = bare_name(rest)?;
                tool = Some(self.tool(named).filter(|_| self.is_tool_in_code(named))?);
            } else if ARGUMENTS.contains(&key) && rest.starts_with('{') {
                arguments = Some(head.len() - rest.len());
            }
            at = value_at;
        }
        None
    }

    /// Returns whether a text that cannot be read as JSON was meant to be a call: it names a tool where a call does.
    pub(super) fn was_meant(&self, text: &str) -> bool {
        if self.begun(text).is_some() {
            return true;
        }
        let head: String = text.chars().take(200).filter(|c| !c.is_whitespace()).collect();
        let names = |tool: &CallShape| {
            [format!("\"{}\"", tool.name), format!("\"name\":{},", tool.name)].map(|n| head.contains(&n))
        };
        self.tools.iter().any(|tool| names(tool).contains(&true))
    }
}

/// Returns a tool's name without what models change in it.
fn bare(name: &str) -> String {
    let name = ["functions.", "default_api.", "tools."].iter().find_map(|p| name.strip_prefix(p)).unwrap_or(name);
    name.replace(['_', '-'], "").to_lowercase()
}

/// Returns whether this is a tool of other programs that edits by a `command`.
fn is_editor(name: &str) -> bool {
    ["strreplaceeditor", "strreplacebasededittool", "texteditor"].contains(&bare(name).as_str())
}

fn is_shell(name: &str) -> bool {
    ["shell", "bash", "localshell", "exec"].contains(&bare(name).as_str())
}

/// Returns the arguments under the tool's own names.
fn fit(given: &Map<String, Value>, tool: &CallShape) -> Map<String, Value> {
    let mut fitted = Map::new();
    for (name, value) in given {
        let own = tool.own_parameter(name).filter(|own| own == name || !given.contains_key(*own));
        fitted.insert(own.unwrap_or(name).to_string(), value.clone());
    }
    fitted
}

/// The names that a call's arguments are given under.
const ARGUMENTS: [&str; 5] = ["arguments", "args", "parameters", "input", "params"];
/// A call can be recognised within this many bytes.
pub(super) const HEAD: usize = 4 << 10;

/// Returns the next `"key":` of a text: the key, and where its value begins.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn a_call_is_read_under_any_of_its_names() {
        let calls = crate::tools::ToolSet::builtin().calls();
        let call = json!({"name": "edit_file", "arguments": {"file": "a", "search": "x", "replace": "y"}});
        assert_eq!(
            calls.read(&call),
            Some(("replaceInFile".into(), json!({"path": "a", "search": "x", "replace": "y"})))
        );
        let call = json!({"function": {"name": "writeFile", "arguments": "{\"path\": \"a\", \"content\": \"b\"}"}});
        assert_eq!(calls.read(&call), Some(("writeFile".into(), json!({"path": "a", "content": "b"}))));
        assert_eq!(calls.read(&json!({"name": "nebula", "arguments": {"path": "a"}})), None);
        assert_eq!(calls.read(&json!({"name": "readFile", "arguments": {"colour": "red"}})), None);
    }

    #[test]
    fn a_call_is_known_from_its_first_parameter() {
        let calls = crate::tools::ToolSet::builtin().calls();
        let text = r#"{"name": "replace_in_file", "arguments": {"path": "a", "search": "x\"y"}}"#;
        let at = text.find("{\"path").unwrap();
        let known = text.find("path\":").unwrap() + 6;
        for end in 0..text.len() {
            assert_eq!(calls.begun(&text[..end]), (end >= known).then_some(("replaceInFile", at)), "{}", &text[..end]);
        }
        for no in
            [r#"{"name": "nebula", "arguments": {"path": "#, r#"{"name": "list", "arguments": {"colour": 1}}"#, "[1, 2"]
        {
            assert_eq!(calls.begun(no), None, "{no}");
        }
    }
}
