//! The input of the terminal, read only when there is some: asking takes the lock that the reading thread holds, so
//! a loop that polled at every turn would spin for it each time.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;
use futures_util::task::AtomicWaker;

/// Keys, pastes, sizes and the mouse, as they come. Dropping it lets the reading thread go.
pub struct Typed {
    stream: EventStream,
    bell: Arc<Bell>,
    waker: Waker,
}

/// The waker of the reading thread: it records that input arrived, and wakes the task that polled last.
#[derive(Default)]
struct Bell {
    rung: AtomicBool,
    who: AtomicWaker,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.who.wake();
    }
}

/// Tells the reading thread of new bytes. It is told once, and where they come together with a new size it leaves them
/// unread until the next key. Setting the terminal's attributes to what they are wakes whoever waits for its bytes.
#[cfg(unix)]
fn tell_of_keys() {
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
    let terminal = io::stdin();
    if let Ok(as_is) = tcgetattr(&terminal) {
        // A terminal that is gone is noticed by reading it.
        let _ = tcsetattr(&terminal, OptionalActions::Now, &as_is);
    }
}

#[cfg(not(unix))]
fn tell_of_keys() {}

impl Typed {
    /// Begins to listen.
    pub fn new() -> Self {
        let bell = Arc::new(Bell::default());
        // The first question starts the reading thread.
        bell.rung.store(true, Ordering::Release);
        let waker = Arc::clone(&bell).into();
        Typed { stream: EventStream::new(), bell, waker }
    }

    /// Returns the next input that arrived; `None` once the terminal is closed.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Event>>> {
        self.bell.who.register(context.waker());
        if !self.bell.rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let polled = self.stream.poll_next_unpin(&mut Context::from_waker(&self.waker));
        if matches!(polled, Poll::Ready(Some(Ok(Event::Resize(..))))) {
            tell_of_keys();
        }
        if polled.is_ready() {
            // There may be more, and the thread rings for the first only.
            self.bell.rung.store(true, Ordering::Release);
        }
        polled
    }

    /// Waits for the next input.
    pub async fn next(&mut self) -> Option<io::Result<Event>> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    /// Returns the next input, if it has arrived already.
    pub async fn ready(&mut self) -> Option<io::Result<Event>> {
        let polled = std::future::poll_fn(|context| Poll::Ready(self.poll(context))).await;
        if let Poll::Ready(event) = polled { event } else { None }
    }
}
