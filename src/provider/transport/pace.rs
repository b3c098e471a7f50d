//! The interval at which a streamed answer is read: what floods in is taken in batches, so that its cost goes by its
//! length and not by the number of pieces the server cut it into.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The pause between two looks at a flood. Shorter than a frame of the screen.
const PAUSE: Duration = Duration::from_millis(8);
/// The number of reads in a row that come without a pause, however fast: a short answer is never held up.
const FREE: u32 = 32;
/// The number of turns that other tasks on the thread get.
const TURNS: u32 = 2;

/// The pace of looks at one answer.
#[derive(Debug, Default)]
pub(super) struct Pace {
    last: Option<Instant>,
    /// The time by which the looks are ahead of one in each [`PAUSE`].
    ahead: Duration,
}

impl Pace {
    /// Counts a look, and pauses where a flood comes in.
    pub async fn rest(&mut self) {
        let now = Instant::now();
        let since = self.last.replace(now).map_or(Duration::MAX, |last| now - last);
        self.ahead = self.ahead.saturating_sub(since) + PAUSE;
        if self.ahead > PAUSE * FREE {
            sleep(PAUSE).await;
        }
    }
}

/// Returns what `future` gives if that is there by now, or once whatever runs beside it had its turn.
pub(super) async fn soon<T>(future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut turns) = (pin!(future), TURNS);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(item) => Poll::Ready(Some(item)),
        Poll::Pending if turns == 0 => Poll::Ready(None),
        Poll::Pending => {
            turns -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_looked_at_in_each_pause_and_a_slow_answer_at_once() {
        let looks = async |count: u32, every: Duration| {
            let (mut pace, begun) = (Pace::default(), Instant::now());
            for _ in 0..count {
                sleep(every).await;
                pace.rest().await;
            }
            begun.elapsed() - every * count
        };
        assert_eq!(looks(FREE, Duration::ZERO).await, Duration::ZERO);
        assert_eq!(looks(FREE + 10, Duration::ZERO).await, PAUSE * 10);
        assert_eq!(looks(1_000, PAUSE).await, Duration::ZERO);
    }

    #[tokio::test]
    async fn what_comes_in_the_next_turn_is_taken_and_nothing_else_is_waited_for() {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
        let sending = tokio::spawn(async move { sender.send(1).await.map(|()| sender) });
        assert_eq!(soon(receiver.recv()).await, Some(Some(1)));
        let _sender = sending.await.expect("sent").expect("received");
        assert_eq!(soon(receiver.recv()).await, None);
    }
}
