//! The requests that are sent again, and the time to wait before each: trouble before the first token is met with
//! pauses that grow, trouble after it ends the answer.

use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use super::async_stream::async_stream;
use crate::messages::provider as say;
use crate::provider::{Backoff, Delta, Deltas, Error, ErrorKind, SkipBackoff};
use crate::text::time;

/// Requests of one step, in all.
pub(super) const TRIES: u32 = 5;
/// Requests of one step whose new files may be why the server dies.
const TRIES_OF_FILES: u32 = 2;
/// A server may ask to wait so long; for longer the person is asked.
const LONGEST: Duration = Duration::from_secs(5 * 60);
/// The first pause that grows; jitter takes up to half of it away.
const FIRST: Duration = Duration::from_secs(1);

/// One request that failed.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::provider) struct Failure {
    /// The error for the person if no further attempt succeeds. Its message also stands beside the pause.
    pub error: Error,
    /// True if another request may help.
    pub again: Again,
}

impl Failure {
    /// Returns what a closed connection means: the first of a step is made anew at once, others after a pause.
    fn after(self, was_closed: &mut bool) -> Self {
        if self.again != Again::AtOnce {
            return self;
        }
        let again = if std::mem::replace(was_closed, true) { Again::Later } else { Again::Now };
        Failure { again, ..self }
    }
}

/// Tells whether another request may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::provider) enum Again {
    /// No other request helps.
    Never,
    /// The request is sent again at once, as another one.
    Now,
    /// The request is sent again at once and without a word, the first time; then after a pause.
    AtOnce,
    /// The request is sent again after a pause.
    Later,
    /// The request is sent again after the pause that the server asks for.
    After(Duration),
}

/// One request's answer.
pub(in crate::provider) type Attempt = BoxStream<'static, Result<Delta, Failure>>;

/// Asks through `attempt` until an answer begins, at most [`TRIES`] times. `new_files`: see [`Request::new_files`].
///
/// [`Request::new_files`]: crate::provider::Request::new_files
pub(in crate::provider) fn retry(
    skip: SkipBackoff,
    new_files: bool,
    attempt: impl Fn() -> Attempt + Send + Sync + 'static,
) -> Deltas {
    async_stream(move |out| async move {
        let mut was_closed = false;
        for number in 1.. {
            let mut answer = attempt();
            let mut begun = false;
            // What is sealed before the first word goes with its answer, or not at all where another try follows.
            let mut held = Vec::new();
            let failure = loop {
                match answer.next().await {
                    Some(Ok(delta @ (Delta::Part | Delta::Commentary | Delta::Seal { .. }))) if !begun => {
                        held.push(delta)
                    }
                    Some(Ok(delta)) => {
                        // A thought without a word is none that a person could miss.
                        begun |= match &delta {
                            Delta::Thinking(text) => !text.is_empty(),
                            other => matches!(other, Delta::Text(_) | Delta::Call { .. }),
                        };
                        let is_ready = begun || matches!(delta, Delta::End(_));
                        let ready = if is_ready { std::mem::take(&mut held) } else { Vec::new() };
                        for delta in ready.into_iter().chain([delta]) {
                            if out.send(Ok(delta)).await.is_err() {
                                return;
                            }
                        }
                    }
                    Some(Err(failure)) => break failure.after(&mut was_closed),
                    None => return,
                }
            };
            // The request is over before the pause begins.
            drop(answer);
            let most = if new_files && may_have_died(&failure.error) { TRIES_OF_FILES } else { TRIES };
            let pause = match pause(&failure, begun, (number, most)) {
                Ok(pause) => pause,
                Err(error) => {
                    let _ = out.send(Err(error)).await;
                    return;
                }
            };
            if !pause.is_zero() {
                let mut hurried = pin!(skip.0.notified());
                // From here on a skip counts, also one that answers the message below.
                hurried.as_mut().enable();
                let Error { kind, status, request_id, message: why, .. } = failure.error;
                let wait =
                    Backoff { attempt: number + 1, of: most, until: until(pause), why, kind, status, request_id };
                if out.send(Ok(Delta::Retrying(wait))).await.is_err() {
                    return;
                }
                let _ = tokio::time::timeout(pause, hurried).await;
            }
        }
    })
}

/// Returns whether what runs the model may have died of the request.
fn may_have_died(error: &Error) -> bool {
    error.status == Some(500) || matches!(error.kind, ErrorKind::Broken { .. })
}

/// Returns how long to wait after the request of this number, of at `most` so many, or the error to give up with.
fn pause(failure: &Failure, begun: bool, (number, most): (u32, u32)) -> Result<Duration, Error> {
    let error = &failure.error;
    if begun {
        return Err(broken_off(error));
    }
    if number >= most && failure.again != Again::Never {
        let message = say::after_tries(&error.message, &most);
        return Err(Error { message, ..error.clone() });
    }
    match failure.again {
        Again::Never => Err(error.clone()),
        Again::Now | Again::AtOnce => Ok(Duration::ZERO),
        Again::After(pause) if pause > LONGEST => {
            let message = say::in_minutes(&error.message, &pause.as_secs().div_ceil(60));
            Err(Error { message, hint: say::ask_then().into(), ..error.clone() })
        }
        Again::After(pause) => Ok(pause.max(Duration::from_millis(100))),
        Again::Later => Ok(jitter(FIRST * 2u32.pow(number - 1))),
    }
}

/// Returns the error of an answer that broke off after its first token, whatever the reason; only the reason is told.
fn broken_off(error: &Error) -> Error {
    let message = match error.kind {
        ErrorKind::Broken { .. } => say::broke_off(&error.message),
        _ => say::broke_off_by(&error.message),
    };
    // The words of the server stand at the end of the hint, in whichever language.
    let said = error.hint.find(say::it_says(&"").trim_end()).map_or("", |at| &error.hint[at..]);
    let hint = say::kept_above(&said).trim_end().to_string();
    Error { kind: ErrorKind::Broken { after_first_token: true }, message, hint, ..error.clone() }
}

/// Returns a pause between a half of `pause` and all of it, so that many clients do not come back at one time.
fn jitter(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(0u8) % 1000;
    pause.mul_f64(0.5 + random as f64 / 2000.0)
}

/// Returns the Unix milliseconds at the end of a pause that begins now.
fn until(pause: Duration) -> i64 {
    time::now().saturating_add(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX))
}

/// Returns the pause that a `retry-after-ms` header asks for.
pub(super) fn retry_after_ms(value: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(value.trim().parse::<f64>().ok()? / 1_000.0).ok()
}

/// Returns the pause that a `Retry-After` header asks for at `now`, in unix milliseconds: seconds, or a date. A date that
/// is past is no pause.
pub(super) fn retry_after(value: &str, now: i64) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(date.saturating_sub(Duration::from_millis(now.unsigned_abs())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{EndReason, PartKind};
    use futures_util::stream;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tokio::time::Instant;

    fn failure(again: Again) -> Failure {
        Failure { error: Error::new(ErrorKind::Server, "example.com failed (503)", ""), again }
    }

    /// A stream whose n-th attempt gives what `script` says.
    fn run(
        skip: SkipBackoff,
        script: impl Fn(u32) -> Vec<Result<Delta, Failure>> + Send + Sync + 'static,
    ) -> (Deltas, Arc<AtomicU32>) {
        let count = Arc::new(AtomicU32::new(0));
        let counter = count.clone();
        let deltas =
            retry(skip, false, move || stream::iter(script(counter.fetch_add(1, Ordering::SeqCst) + 1)).boxed());
        (deltas, count)
    }

    fn good() -> Vec<Result<Delta, Failure>> {
        vec![Ok(Delta::Text("a".into())), Ok(Delta::End(EndReason::Stop))]
    }

    #[test]
    fn an_error_keeps_the_status_and_the_id_of_its_request() {
        for (again, begun) in [(Again::Later, true), (Again::After(LONGEST * 2), false)] {
            let mut failed = failure(again);
            (failed.error.status, failed.error.request_id) = (Some(429), Some("req_1".into()));
            let error = pause(&failed, begun, (1, TRIES)).expect_err("it is given up");
            assert_eq!((error.status, error.request_id.as_deref()), (Some(429), Some("req_1")), "{error:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn five_requests_at_most_with_growing_pauses() {
        let begin = Instant::now();
        let (deltas, count) = run(SkipBackoff::default(), |_| vec![Err(failure(Again::Later))]);
        let got: Vec<_> = deltas.collect().await;
        assert_eq!(count.load(Ordering::SeqCst), 5);
        assert_eq!(got.len(), 5);
        let numbers: Vec<_> = got[..4]
            .iter()
            .map(|item| match item {
                Ok(Delta::Retrying(wait)) => (wait.attempt, wait.of),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(numbers, [(2, 5), (3, 5), (4, 5), (5, 5)]);
        assert_eq!(got[4].as_ref().unwrap_err().message, "example.com failed (503), after 5 tries");
        // 1 + 2 + 4 + 8 seconds, less at most half.
        assert!((7.5..15.1).contains(&begin.elapsed().as_secs_f64()), "{:?}", begin.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_dies_of_new_files_is_tried_twice_and_a_busy_one_as_often_as_ever() {
        for (status, tries) in [(500, 2), (503, 5)] {
            let count = Arc::new(AtomicU32::new(0));
            let counter = Arc::clone(&count);
            let deltas = retry(SkipBackoff::default(), true, move || {
                counter.fetch_add(1, Ordering::SeqCst);
                let mut failed = failure(Again::Later);
                failed.error.status = Some(status);
                stream::iter([Err(failed)]).boxed()
            });
            let got: Vec<_> = deltas.collect().await;
            assert_eq!(count.load(Ordering::SeqCst), tries, "{status}: {got:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_server_says_how_long_up_to_five_minutes() {
        let begin = Instant::now();
        let script = |n| if n == 1 { vec![Err(failure(Again::After(Duration::from_secs(77))))] } else { good() };
        let got: Vec<_> = run(SkipBackoff::default(), script).0.collect().await;
        assert_eq!(got.len(), 3);
        assert_eq!(begin.elapsed().as_secs(), 77);
        let script = |_| vec![Err(failure(Again::After(Duration::from_secs(301))))];
        let got: Vec<_> = run(SkipBackoff::default(), script).0.collect().await;
        assert_eq!(got.len(), 1);
        assert!(got[0].as_ref().unwrap_err().message.ends_with("6 min"));
    }

    #[tokio::test(start_paused = true)]
    async fn the_person_ends_the_pause() {
        let skip = SkipBackoff::default();
        skip.now();
        let begin = Instant::now();
        let script = |n| if n == 1 { vec![Err(failure(Again::After(Duration::from_secs(100))))] } else { good() };
        let (mut deltas, _) = run(skip.clone(), script);
        assert!(matches!(deltas.next().await, Some(Ok(Delta::Retrying(_)))));
        skip.now();
        assert_eq!(deltas.next().await, Some(Ok(Delta::Text("a".into()))));
        assert_eq!(begin.elapsed().as_secs(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_tried_again_after_the_first_token() {
        let script = |_| vec![Ok(Delta::Text("a".into())), Err(failure(Again::Later))];
        let (deltas, count) = run(SkipBackoff::default(), script);
        let got: Vec<_> = deltas.collect().await;
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert_eq!(got[1].as_ref().unwrap_err().kind, ErrorKind::Broken { after_first_token: true });
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_was_closed_is_made_anew_without_a_word_once() {
        let begin = Instant::now();
        let script = |n| if n == 1 { vec![Err(failure(Again::AtOnce))] } else { good() };
        let got: Vec<_> = run(SkipBackoff::default(), script).0.collect().await;
        assert_eq!((got.len(), begin.elapsed().as_secs()), (2, 0), "{got:?}");
        let script = |n| if n <= 2 { vec![Err(failure(Again::AtOnce))] } else { good() };
        let got: Vec<_> = run(SkipBackoff::default(), script).0.collect().await;
        assert!(matches!(got[0], Ok(Delta::Retrying(_))) && got.len() == 3, "{got:?}");
    }

    /// A seal of a try that failed would go back to the server beside those of the answer that followed.
    #[tokio::test(start_paused = true)]
    async fn what_a_failed_try_sealed_is_dropped_and_that_of_an_answer_preserved() {
        let seal = |json: &str| Delta::Seal { kind: PartKind::Thinking, index: 0, json: json.into() };
        let script = move |n| match n {
            1 => vec![Ok(Delta::Part), Ok(seal("first")), Err(failure(Again::Later))],
            2 => vec![Ok(Delta::Part), Ok(seal("again")), Err(failure(Again::Now))],
            _ => [vec![Ok(Delta::Part), Ok(seal("third"))], good()].concat(),
        };
        let got: Vec<_> =
            run(SkipBackoff::default(), script).0.filter_map(|delta| async { delta.ok() }).collect().await;
        assert!(matches!(got[0], Delta::Retrying(_)), "{got:?}");
        let answer = [Delta::Part, seal("third"), Delta::Text("a".into()), Delta::End(EndReason::Stop)];
        assert_eq!(got[1..], answer);
        // An answer of nothing but what is sealed is one.
        let script = move |_| vec![Ok(seal("alone")), Ok(Delta::End(EndReason::Stop))];
        let got: Vec<_> =
            run(SkipBackoff::default(), script).0.filter_map(|delta| async { delta.ok() }).collect().await;
        assert_eq!(got, [seal("alone"), Delta::End(EndReason::Stop)]);
    }

    #[test]
    fn an_answer_that_broke_off_keeps_the_words_of_the_server() {
        let hint = say::it_says(&"the cluster is full");
        let error = broken_off(&Error::new(ErrorKind::Server, "h is overloaded (529)", hint));
        assert_eq!(error.message, "the answer broke off; h is overloaded (529)");
        assert_eq!(error.hint, "What arrived is kept above. It says: the cluster is full");
        let silent = Error::new(ErrorKind::Server, "h is overloaded (529)", say::unsaid());
        assert_eq!(broken_off(&silent).hint, "What arrived is kept above.");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_would_fail_again_is_not_repeated() {
        let (deltas, count) = run(SkipBackoff::default(), |_| vec![Err(failure(Again::Never))]);
        assert_eq!(deltas.count().await, 1);
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn seconds_dates_and_nonsense() {
        let now = 784_111_777_000;
        assert_eq!(retry_after("120", now), Some(Duration::from_secs(120)));
        assert_eq!(retry_after(" 0.5 ", now), Some(Duration::from_millis(500)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:50:37 GMT", now), Some(Duration::from_secs(60)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:40:37 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
        assert_eq!(retry_after("-3", now), None);
        assert_eq!(retry_after("1e300", now), None);
    }
}
