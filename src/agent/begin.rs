//! Begins a turn and ends it: what the person said joins the conversation, what the system prompt tells of the machine is
//! read, and the model is asked.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::{message, prompt_parts};
use crate::agent::turn;
use crate::protocol::{Continuation, EventBody, Prompt, TurnEnd, TurnId};

/// The beginning of a turn.
pub enum Begin {
    /// A message of the person.
    Prompt(Prompt),
    /// The last turn goes on from where it stopped, or sends its last request again.
    Continue(Continuation),
    /// A summary of the conversation.
    Compact,
}

/// The end of a turn. `Err`: nothing was sent, the prompt goes back and why.
pub type TurnOutcome = Result<(TurnId, TurnEnd), (Prompt, String)>;

/// Runs a turn. The session is returned however it ends; the end is sent only once the session is back, so that the
/// next message can follow it.
pub async fn begin(
    context: Arc<SessionContext>,
    mut session: Conversation,
    begin: Begin,
    stop: CancellationToken,
) -> (Conversation, TurnOutcome) {
    let compact = matches!(begin, Begin::Compact);
    match begin {
        Begin::Prompt(prompt) => {
            if let Err(why) = message::say(&context, &mut session, &prompt, &stop).await {
                return (session, Err((prompt, why)));
            }
        }
        Begin::Continue(Continuation::Resume) => message::go_on(&mut session),
        Begin::Continue(Continuation::Retry) => message::ask_again(&mut session),
        Begin::Compact => {}
    }
    let turn = context.events.turn();
    context.events.send(EventBody::TurnStarted(turn)).await;
    prompt_parts::look_if_asked(&context.services, &mut session.prompt, &stop).await;
    let end = match compact {
        true => turn::compact(&context, &mut session, &stop).await,
        false => turn::run(&context, &mut session, &stop).await,
    };
    session.post(|memory, id| memory.end_turn(id));
    context.services.flushed().await;
    context.services.news.flushed().await;
    (session, Ok((turn, end)))
}
