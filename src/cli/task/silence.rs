//! A line where nothing comes for a while, such as from a local model that still reads a long prompt.

use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::time::sleep;

use crate::protocol::Event;

/// The time after which it is said that the turn goes on.
const SILENCE: Duration = Duration::from_secs(10);

/// Receives the next event; none: the agent has ended. `say` is called with a number of seconds where none comes for so
/// long.
pub async fn next(events: &mut Receiver<Event>, say: impl FnOnce(u64)) -> Option<Event> {
    tokio::select! {
        biased;
        event = events.recv() => event,
        () = sleep(SILENCE) => {
            say(SILENCE.as_secs());
            events.recv().await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::EventBody;

    #[tokio::test(start_paused = true)]
    async fn a_long_silence_is_told_once_and_a_short_one_is_not() {
        let (sender, mut events) = tokio::sync::mpsc::channel(4);
        let pauses = [SILENCE / 2, SILENCE * 5];
        tokio::spawn(async move {
            for pause in pauses {
                sleep(pause).await;
                let _ = sender.send(Event { session: None, body: EventBody::Retrying(None) }).await;
            }
        });
        for told in [0, 1] {
            let mut said = 0;
            assert!(next(&mut events, |_| said += 1).await.is_some());
            assert_eq!(said, told);
        }
        assert!(next(&mut events, |_| {}).await.is_none(), "the end is not waited for");
    }
}
