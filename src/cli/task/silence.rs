//! A line where nothing comes for a while, such as from a local model that still reads a long prompt.

use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::time::sleep;

use super::EventPrinter;
use crate::cli::out;
use crate::protocol::Event;

/// The time after which it is said that the turn goes on.
const SILENCE: Duration = Duration::from_secs(10);

/// Receives the next event; none: the agent has ended. `say` is called where none comes for a while.
pub async fn next(events: &mut Receiver<Event>, say: impl FnOnce()) -> Option<Event> {
    tokio::select! {
        biased;
        event = events.recv() => event,
        () = sleep(SILENCE) => {
            say();
            events.recv().await
        }
    }
}

impl EventPrinter {
    /// Says at a terminal that the turn goes on. A line that is not whole yet shows that itself.
    pub(super) fn say_at_work(&self) {
        if self.terminal && !self.json && self.column == 0 {
            out::complain(format_args!("nothing for {} s: still at work. Ctrl+C stops it", SILENCE.as_secs()));
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
            assert!(next(&mut events, || said += 1).await.is_some());
            assert_eq!(said, told);
        }
        assert!(next(&mut events, || {}).await.is_none(), "the end is not waited for");
    }
}
