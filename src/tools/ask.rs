//! `askUser`: a question with choices on the screen.

use serde_json::{Value, json};

use super::base::Run;
use super::{Args, Builtin, MainArgument, RunResult, ToolAliases, ToolKind};

/// The tool.
pub const TOOL: Builtin = Builtin {
    name: "askUser",
    description: include_str!("askUser.md"),
    kind: ToolKind::Ask,
    of_code: false,
    optional: false,
    verb: ["ask", "asking", "asked"],
    object: "question",
    main: MainArgument::Plain("question"),
    aliases: ToolAliases::NONE,
    parameters,
    edits: None,
    run,
};

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "choices": {"type": "array", "items": {"type": "string"}, "description": "Short answers; each may explain itself after ' - '."}
        },
        "required": ["question"]
    })
}

fn run(args: &Args, _: &Run) -> Result<RunResult, String> {
    let text = args.text("question")?.trim();
    if text.is_empty() {
        return Err("`question` is empty: ask something".into());
    }
    let choices = args.texts("choices")?;
    let choices = choices.iter().map(|c| match c.split_once(" - ") {
        Some((short, meaning)) => (short.trim().to_string(), meaning.trim().to_string()),
        None => (c.trim().to_string(), String::new()),
    });
    Ok(RunResult::Question { text: text.to_string(), choices: choices.collect() })
}
