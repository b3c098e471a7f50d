//! A stream written as straight code: an async block that sends what it has.
//!
//! The block runs only while the stream is polled and is dropped with it, so that dropping an answer drops its
//! request; no task is spawned.

use std::future::Future;
use std::task::Poll;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::sync::mpsc;

/// The channel to which the block sends its items. Sending fails only when nobody will receive any more.
pub(in crate::provider) type Sender<T> = mpsc::Sender<T>;

/// Runs `work` as a stream of what it sends.
pub(in crate::provider) fn async_stream<T, F>(work: impl FnOnce(Sender<T>) -> F) -> BoxStream<'static, T>
where
    T: Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, mut receiver) = mpsc::channel(64);
    let mut work = Some(Box::pin(work(sender)));
    stream::poll_fn(move |context| {
        if let Poll::Ready(item) = receiver.poll_recv(context) {
            return Poll::Ready(item);
        }
        if let Some(running) = &mut work
            && running.as_mut().poll(context).is_ready()
        {
            // Drops the sender: once the channel is empty, the stream ends.
            work = None;
        }
        receiver.poll_recv(context)
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn items_come_in_order_and_all_of_them() {
        let stream = async_stream(|out| async move {
            for n in 0..1000 {
                if n % 100 == 0 {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                let _ = out.send(n).await;
            }
        });
        assert_eq!(stream.collect::<Vec<_>>().await, (0..1000).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn dropping_the_stream_drops_the_work() {
        struct Flag(std::sync::Arc<std::sync::atomic::AtomicBool>);
        impl Drop for Flag {
            fn drop(&mut self) {
                self.0.store(true, std::sync::atomic::Ordering::SeqCst);
            }
        }
        let dropped = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let flag = Flag(dropped.clone());
        let mut stream = async_stream(|out| async move {
            let _flag = flag;
            let _ = out.send(1).await;
            std::future::pending::<()>().await;
        });
        assert_eq!(stream.next().await, Some(1));
        drop(stream);
        assert!(dropped.load(std::sync::atomic::Ordering::SeqCst));
    }
}
