//! From a conversation to the text a model was trained on. The layout is recognised by the marks in the file's own
//! template; the template is not run: a file from elsewhere is no program of ours.

use std::fmt::Write as _;

use super::vocabulary::Vocabulary;
use crate::provider::{Body, Message, Request, Role, ToolSpec};

/// A layout of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `<|im_start|>ROLE … <|im_end|>`; whether its models think unless they are told not to.
    ChatMl {
        /// The template knows a switch for thinking.
        thinks: bool,
    },
    /// `<|start_header_id|>ROLE<|end_header_id|> … <|eot_id|>`.
    Headers,
    /// `[INST] … [/INST] … </s>`.
    Instructions,
    /// `<|ROLE|> … </s>`.
    Roles,
}

/// A piece of a prompt.
enum PromptPiece<'a> {
    /// A token of its own.
    Mark(&'a str),
    /// Text, in which no mark counts.
    Text(String),
}

impl Layout {
    /// Creates the layout of a file's template.
    ///
    /// # Errors
    /// Which it is not.
    pub fn of(template: Option<&str>) -> Result<Self, String> {
        let template = template.ok_or("has no chat template: a model that was trained for conversations is needed")?;
        let has = |mark: &str| template.contains(mark);
        Ok(match () {
            () if has("<|im_start|>") => Layout::ChatMl { thinks: has("enable_thinking") },
            () if has("<|start_header_id|>") => Layout::Headers,
            () if has("[INST]") => Layout::Instructions,
            () if has("<|user|>") => Layout::Roles,
            () => return Err("has a chat template of an unknown layout".into()),
        })
    }

    /// Returns the tokens of a request; the answer follows them. What is longer than `most` tokens is not read to its
    /// end.
    pub fn tokens(self, request: &Request, vocabulary: &Vocabulary, thinks: bool, most: usize) -> Vec<u32> {
        let mut tokens: Vec<u32> = vocabulary.first.into_iter().collect();
        let mut text = String::new();
        for piece in self.pieces(&turns(request), thinks) {
            match piece {
                PromptPiece::Text(more) => text.push_str(&more),
                PromptPiece::Mark(mark) => match vocabulary.mark(mark) {
                    Some(token) => {
                        vocabulary.encode(&std::mem::take(&mut text), most, &mut tokens);
                        tokens.push(token);
                    }
                    None => text.push_str(mark),
                },
            }
        }
        vocabulary.encode(&text, most, &mut tokens);
        tokens
    }

    fn pieces<'a>(self, turns: &[(&'static str, String)], thinks: bool) -> Vec<PromptPiece<'a>> {
        use PromptPiece::{Mark, Text};
        let mut pieces = Vec::new();
        match self {
            Layout::ChatMl { thinks: can } => {
                for (role, text) in turns {
                    pieces.extend([Mark("<|im_start|>"), Text(format!("{role}\n{text}")), Mark("<|im_end|>")]);
                    pieces.push(Text("\n".into()));
                }
                pieces.extend([Mark("<|im_start|>"), Text("assistant\n".into())]);
                if can && !thinks {
                    pieces.extend([Mark("<think>"), Text("\n\n".into()), Mark("</think>"), Text("\n\n".into())]);
                }
            }
            Layout::Headers => {
                let head = |role: &str| {
                    [Mark("<|start_header_id|>"), Text(role.into()), Mark("<|end_header_id|>"), Text("\n\n".into())]
                };
                for (role, text) in turns {
                    pieces.extend(head(role));
                    pieces.extend([Text(text.clone()), Mark("<|eot_id|>")]);
                }
                pieces.extend(head("assistant"));
            }
            Layout::Instructions => {
                let mut system = String::new();
                for (role, text) in turns {
                    match *role {
                        "system" => system = format!("<<SYS>>\n{text}\n<</SYS>>\n\n"),
                        "user" => pieces.push(Text(format!("[INST] {}{text} [/INST]", std::mem::take(&mut system)))),
                        _ => pieces.extend([Text(format!(" {text} ")), Mark("</s>"), Mark("<s>")]),
                    }
                }
            }
            Layout::Roles => {
                for (role, text) in turns {
                    pieces.extend([Text(format!("<|{role}|>\n{text}")), Mark("</s>"), Text("\n".into())]);
                }
                pieces.push(Text("<|assistant|>\n".into()));
            }
        }
        pieces
    }
}

/// Returns the conversation as turns of three roles; neighbours of one role are one turn.
fn turns(request: &Request) -> Vec<(&'static str, String)> {
    let mut turns: Vec<(&'static str, String)> = Vec::new();
    let system = match request.tools.is_empty() {
        true => request.system.to_string(),
        false => format!("{}\n\n{}", request.system, described(&request.tools)),
    };
    if !system.trim().is_empty() {
        turns.push(("system", system));
    }
    for message in &request.messages {
        let (role, text) = match message.role {
            Role::User => ("user", message.text().into_owned()),
            Role::Tool => ("user", format!("<tool_response>\n{}\n</tool_response>", message.text())),
            Role::Assistant => ("assistant", said(message)),
        };
        match turns.last_mut().filter(|(last, _)| *last == role) {
            Some((_, last)) => drop(write!(last, "\n\n{text}")),
            None => turns.push((role, text)),
        }
    }
    turns
}

/// Returns what the model said: its text, and its calls as it is asked to write them.
fn said(message: &Message) -> String {
    let mut text = message.text().into_owned();
    for part in &message.parts {
        if let Body::Call(call) = &part.body {
            let arguments = serde_json::from_str(&call.arguments).unwrap_or(serde_json::Value::Null);
            let call = serde_json::json!({"name": call.name, "arguments": arguments});
            let _ = write!(text, "\n<tool_call>\n{call}\n</tool_call>");
        }
    }
    text
}

/// Returns the tools, in words that small models were trained on.
fn described(tools: &[ToolSpec]) -> String {
    let mut text = String::from("# Tools\n\nYou may call these functions:\n<tools>\n");
    for tool in tools {
        let function = serde_json::json!({
            "name": tool.name, "description": tool.description, "parameters": tool.parameters,
        });
        let _ = writeln!(text, "{}", serde_json::json!({"type": "function", "function": function}));
    }
    text.push_str(
        "</tools>\n\nFor a call, write its name and arguments as JSON within tags, and nothing after it:\n\
         <tool_call>\n{\"name\": NAME, \"arguments\": {…}}\n</tool_call>",
    );
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn written(layout: Layout, thinks: bool) -> String {
        let messages = [Message::user("hi"), Message::assistant("yes", Vec::new()), Message::user("on <|im_end|>")];
        let messages = messages.into_iter().map(Arc::new).collect();
        let request = Request { system: "be brief".into(), messages, ..Request::default() };
        let pieces = layout.pieces(&turns(&request), thinks);
        let text = |piece: PromptPiece<'_>| match piece {
            PromptPiece::Mark(mark) => format!("«{mark}»"),
            PromptPiece::Text(text) => text,
        };
        pieces.into_iter().map(text).collect()
    }

    #[test]
    fn each_layout_is_written_as_its_models_were_trained() {
        assert_eq!(
            written(Layout::of(Some("{{ '<|im_start|>' }}")).expect("a layout"), true),
            "«<|im_start|>»system\nbe brief«<|im_end|>»\n«<|im_start|>»user\nhi«<|im_end|>»\n\
             «<|im_start|>»assistant\nyes«<|im_end|>»\n«<|im_start|>»user\non <|im_end|>«<|im_end|>»\n\
             «<|im_start|>»assistant\n"
        );
        let thinks = Layout::of(Some("<|im_start|> enable_thinking")).expect("a layout");
        assert!(written(thinks, false).ends_with("assistant\n«<think>»\n\n«</think>»\n\n"));
        assert!(written(thinks, true).ends_with("assistant\n"));
        assert!(written(Layout::Headers, true).starts_with(
            "«<|start_header_id|>»system«<|end_header_id|>»\n\nbe brief«<|eot_id|>»«<|start_header_id|>»user"
        ));
        assert_eq!(
            written(Layout::of(Some("[INST]")).expect("a layout"), true),
            "[INST] <<SYS>>\nbe brief\n<</SYS>>\n\nhi [/INST] yes «</s>»«<s>»[INST] on <|im_end|> [/INST]"
        );
        assert!(written(Layout::Roles, true).ends_with("<|user|>\non <|im_end|>«</s>»\n<|assistant|>\n"));
        assert!(Layout::of(None).is_err() && Layout::of(Some("### Human")).is_err());
    }

    #[test]
    fn tools_and_results_are_sent_as_text() {
        let tool = ToolSpec { name: "list".into(), description: "d".into(), parameters: serde_json::json!({}) };
        let call = crate::provider::ToolCall { id: "a".into(), name: "list".into(), arguments: "{\"x\":1}".into() };
        let messages = [Message::user("q"), Message::assistant("", vec![call]), Message::tool("a", "r")];
        let request = Request {
            tools: vec![tool].into(),
            messages: messages.into_iter().map(Arc::new).collect(),
            ..Request::default()
        };
        let turns = turns(&request);
        assert!(turns[0].1.contains("\"name\":\"list\""), "{turns:?}");
        assert_eq!(turns[2].1, "\n<tool_call>\n{\"name\":\"list\",\"arguments\":{\"x\":1}}\n</tool_call>");
        assert_eq!(turns[3], ("user", "<tool_response>\nr\n</tool_response>".to_string()));
    }
}
