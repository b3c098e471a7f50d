//! `askUser`: a question with choices on the screen.

use serde_json::{Value, json};

use super::{Args, Context, Kind, Prepared, Tool};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "askUser",
    description: include_str!("askUser.md"),
    kind: Kind::Ask,
    main: "question",
    parameters,
    prepare,
};

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "question": {"type": "string", "description": "One question, ending in a question mark."},
            "choices": {"type": "array", "items": {"type": "string"}, "description": "Short answers to choose from; each may explain itself after ' - '."}
        },
        "required": ["question"]
    })
}

fn prepare(args: &Args, _: &Context<'_>) -> Result<Prepared, String> {
    let text = args.text("question")?.trim();
    if text.is_empty() {
        return Err("`question` is empty: ask something".into());
    }
    let choices = args.texts("choices")?;
    let choices = choices.iter().map(|c| match c.split_once(" - ") {
        Some((short, meaning)) => (short.trim().to_string(), meaning.trim().to_string()),
        None => (c.trim().to_string(), String::new()),
    });
    Ok(Prepared::Question { text: text.to_string(), choices: choices.collect() })
}
