//! The roles in which a server's template takes messages: some want the person and the model in turns, some know no system
//! prompt.

use std::sync::Arc;

use crate::provider::transport::{IN_TURNS, NO_SYSTEM, has_words};
use crate::provider::{Body, Message, Part, Request, Role};

/// The lessons of refusals about a model's template.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Roles {
    /// The person and the model must take turns.
    in_turns: bool,
    /// The system prompt stands in the first message.
    no_system: bool,
}

impl Roles {
    /// Returns what a refusal, in lower case, teaches beside what is known already.
    pub fn after(self, says: &str) -> Option<Self> {
        let (no_system, in_turns) = (has_words(says, &NO_SYSTEM), has_words(says, &IN_TURNS));
        let next = match self {
            _ if no_system => Roles { no_system, ..self },
            // Templates that know no system prompt may only say that the turns are wrong.
            Roles { in_turns: true, .. } if in_turns => Roles { no_system: true, ..self },
            _ if in_turns => Roles { in_turns, ..self },
            _ => return None,
        };
        (next != self).then_some(next)
    }

    /// Returns a request in these roles; `None`: as it is.
    pub fn shaped(self, request: &Request) -> Option<Request> {
        if self == Roles::default() {
            return None;
        }
        let mut request = request.clone();
        if self.no_system && !request.system.is_empty() {
            let prompt = std::mem::take(&mut request.system);
            let first = request.messages.first().filter(|message| message.role == Role::User).cloned();
            let said = first.as_ref().map_or(&[] as &[Arc<Message>], std::slice::from_ref);
            let opening = joined(std::iter::once(&Arc::new(Message::user(&*prompt))).chain(said));
            request.messages.splice(..said.len(), [Arc::new(opening)]);
        }
        if self.in_turns {
            request.messages = in_turns(&request.messages);
        }
        Some(request)
    }
}

/// Returns the messages with what the person says one after another in one message, and a word of the model between a
/// result and the person.
fn in_turns(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let said: Vec<&Arc<Message>> = messages.iter().filter(|message| !message.is_blank()).collect();
    let mut out: Vec<Arc<Message>> = Vec::with_capacity(said.len());
    for run in said.chunk_by(|one, next| one.role == Role::User && next.role == Role::User) {
        if run[0].role == Role::User && out.last().is_some_and(|last| last.role == Role::Tool) {
            out.push(Arc::new(Message::assistant("(interrupted)", vec![])));
        }
        match run {
            [one] => out.push(Arc::clone(one)),
            several => out.push(Arc::new(joined(several.iter().copied()))),
        }
    }
    out
}

/// Returns one message of the person with the parts of several.
fn joined<'m>(messages: impl Iterator<Item = &'m Arc<Message>>) -> Message {
    let mut parts: Vec<Part> = Vec::new();
    for message in messages {
        for part in &message.parts {
            match (parts.last_mut(), &part.body) {
                (Some(Part { body: Body::Text(before), .. }), Body::Text(text)) => {
                    before.push_str("\n\n");
                    before.push_str(text);
                }
                _ => parts.push(part.clone()),
            }
        }
    }
    Message { role: Role::User, parts, origin: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::ToolCall;

    fn shown(roles: Roles, messages: Vec<Message>) -> Vec<(Role, String)> {
        let messages = messages.into_iter().map(Arc::new).collect();
        let request = Request { system: "be brief".into(), messages, ..Request::default() };
        let shaped = roles.shaped(&request).expect("another one");
        shaped.messages.iter().map(|message| (message.role, message.text().into_owned())).collect()
    }

    #[test]
    fn refusals_teach_one_thing_after_another() {
        let turns = "conversation roles must alternate user/assistant/user/assistant/...";
        let first = Roles::default().after(turns).expect("a lesson");
        let second = first.after(turns).expect("another lesson");
        assert_eq!(second, Roles { in_turns: true, no_system: true });
        assert_eq!(second.after(turns), None);
        let system =
            Roles::default().after("developer instruction is not enabled for models/gemma-3").expect("a lesson");
        assert_eq!(system, Roles { in_turns: false, no_system: true });
        assert_eq!(Roles::default().after("bad request"), None);
        assert!(Roles::default().shaped(&Request::default()).is_none());
    }

    #[test]
    fn the_person_and_the_model_take_turns() {
        let call = ToolCall { id: "c".into(), name: "list".into(), arguments: "{}".into() };
        let messages = vec![
            Message::user("a"),
            Message::assistant("", vec![]),
            Message::user("b"),
            Message::assistant("", vec![call]),
            Message::tool("c", "r"),
            Message::user("d"),
        ];
        let roles = Roles { in_turns: true, no_system: true };
        assert_eq!(
            shown(roles, messages),
            [
                (Role::User, "be brief\n\na\n\nb".to_string()),
                (Role::Assistant, String::new()),
                (Role::Tool, "r".to_string()),
                (Role::Assistant, "(interrupted)".to_string()),
                (Role::User, "d".to_string()),
            ]
        );
        assert_eq!(shown(Roles { in_turns: false, no_system: true }, vec![]), [(Role::User, "be brief".to_string())]);
    }
}
