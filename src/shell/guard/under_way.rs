//! The calls that went on and may not be over yet.
//!
//! The kernel looks at the names on the way to a file again after the guard did. A call that lets such a name lead
//! elsewhere waits until the calls of other threads that depend on it are over, and a call that depends on a name waits
//! for those that may be changing it; then its own path is looked for anew. What waits is answered in the order in which
//! it came, so that nothing waits for ever.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::call::{Notification, has_returned};
use super::change::{CallNames, PathChange};
use crate::shell::places::below;

/// The time after which a call counts as over, whatever its thread does: no call waits longer for another one.
const LONGEST: Duration = Duration::from_secs(1);
/// The time on a processor, in nanoseconds, within which the kernel has looked at all names of a call.
const LOOKING: u64 = 10_000_000;
/// The number of calls from which those that are old are looked for.
const MANY: usize = 64;

/// The last call of each thread that went on, or waits for another one.
#[derive(Default)]
pub struct CallsUnderWay {
    /// By thread.
    calls: HashMap<i32, UnderWay>,
    /// The calls that waited so far.
    waited: u64,
    /// The number of calls that were left when old ones were last removed.
    left: usize,
}

struct UnderWay {
    call: Notification,
    change: Option<PathChange>,
    names: CallNames,
    state: CallStage,
}

enum CallStage {
    /// It went on then.
    GoesOn {
        since: Instant,
        /// The time on a processor that its thread had when it was first looked at.
        ran: Option<u64>,
    },
    /// It waits as the `place`th for these calls: thread and number.
    Waits { place: u64, others: Vec<(i32, u64)> },
}

impl UnderWay {
    fn is_old(&self) -> bool {
        matches!(self.state, CallStage::GoesOn { since, .. } if since.elapsed() > LONGEST)
    }

    /// Returns whether one that waits as the `place`th waits for this one, where their names meet.
    fn is_before(&self, place: u64) -> bool {
        match self.state {
            CallStage::GoesOn { .. } => !self.is_old(),
            CallStage::Waits { place: own, .. } => own < place,
        }
    }
}

impl CallsUnderWay {
    /// Enters a call. Returns false where it has to wait for others: it is looked at again from its beginning once
    /// [`CallsUnderWay::may_go_on`] says so.
    pub fn enter(&mut self, call: &Notification, change: Option<PathChange>, names: CallNames) -> bool {
        let place = match self.calls.remove(&call.process) {
            Some(UnderWay { call: same, state: CallStage::Waits { place, .. }, .. }) if same.id == call.id => place,
            // One after it: a thread makes one call at a time.
            _ => self.waited + 1,
        };
        if self.calls.len() >= MANY.max(2 * self.left) {
            self.calls.retain(|_, other| !other.is_old());
            self.left = self.calls.len();
        }
        let meets = |other: &&UnderWay| names.meet(&other.names) && other.is_before(place);
        let others: Vec<_> =
            self.calls.values().filter(meets).map(|other| (other.call.process, other.call.id)).collect();
        let goes_on = others.is_empty();
        let state = match goes_on {
            true => CallStage::GoesOn { since: Instant::now(), ran: None },
            false => CallStage::Waits { place, others },
        };
        self.waited = self.waited.max(place);
        self.calls.insert(call.process, UnderWay { call: *call, change, names, state });
        goes_on
    }

    /// Notes that a call which was entered goes on from here.
    pub fn go_on(&mut self, call: &Notification) {
        if let Some(entered) = self.calls.get_mut(&call.process).filter(|entered| entered.call.id == call.id) {
            entered.state = CallStage::GoesOn { since: Instant::now(), ran: None };
        }
    }

    /// Takes out a call that does not go on, or not yet.
    pub fn leave(&mut self, call: &Notification) {
        if self.calls.get(&call.process).is_some_and(|entered| entered.call.id == call.id) {
            self.calls.remove(&call.process);
        }
    }

    /// Returns whether a call that waited does so no more; none: it is gone.
    pub fn may_go_on(&self, call: &Notification) -> Option<bool> {
        let entered = self.calls.get(&call.process).filter(|entered| entered.call.id == call.id)?;
        let CallStage::Waits { others, place } = &entered.state else { return None };
        // One that was left out meanwhile, and came again, waits behind this one.
        let is_there = |(thread, id): &(i32, u64)| {
            self.calls.get(thread).is_some_and(|other| other.call.id == *id && other.is_before(*place))
        };
        Some(!others.iter().any(is_there))
    }

    /// Looks which of the calls that others wait for are over.
    pub fn look(&mut self) {
        let others = |waits: &UnderWay| match &waits.state {
            CallStage::Waits { others, .. } => others.clone(),
            CallStage::GoesOn { .. } => Vec::new(),
        };
        let mut waited_for: Vec<(i32, u64)> = self.calls.values().flat_map(others).collect();
        waited_for.sort_unstable();
        waited_for.dedup();
        for (thread, id) in waited_for {
            let other = self.calls.get_mut(&thread).filter(|other| other.call.id == id);
            if let Some(UnderWay { call, state: CallStage::GoesOn { ran, .. }, .. }) = other
                && (has_returned(call) || has_run_on(thread, ran))
            {
                self.calls.remove(&thread);
            }
        }
    }

    /// Returns the changes of the calls that went on and may still be to come.
    pub fn changes(&self) -> Vec<PathChange> {
        let goes_on = |call: &&UnderWay| {
            matches!(call.state, CallStage::GoesOn { .. }) && !call.is_old() && !has_returned(&call.call)
        };
        self.calls.values().filter(goes_on).filter_map(|call| call.change.clone()).collect()
    }
}

impl CallNames {
    /// Returns whether one of two calls lets a name lead elsewhere that the other one depends on.
    fn meet(&self, other: &CallNames) -> bool {
        let depends = |names: &[PathBuf], on: &Path| names.iter().any(|name| below(name, on).is_some());
        self.moved.iter().any(|name| depends(&other.passed, name))
            || other.moved.iter().any(|name| depends(&self.passed, name))
    }
}

/// Returns whether a thread has run for so long since it was first looked at that its call is behind it. What sleeps in
/// its call takes no such time.
fn has_run_on(thread: i32, first: &mut Option<u64>) -> bool {
    let line = fs::read_to_string(format!("/proc/{thread}/schedstat")).unwrap_or_default();
    let ran = line.split_whitespace().next().and_then(|field| field.parse::<u64>().ok());
    ran.is_some_and(|ran| ran.saturating_sub(*first.get_or_insert(ran)) >= LOOKING)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread that no machine has.
    const NOBODY: i32 = i32::MAX;

    fn call(thread: i32, id: u64) -> Notification {
        Notification { id, process: thread, number: libc::SYS_openat, arguments: [0; 6] }
    }

    fn names(passed: &[&str], moved: &[&str]) -> CallNames {
        let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
        CallNames { passed: [paths(passed), paths(moved)].concat(), moved: paths(moved) }
    }

    #[test]
    fn a_call_waits_for_one_that_depends_on_what_it_moves_and_the_other_way_round() {
        let reads = || names(&["/w/sw", "/w/one"], &[]);
        for (first, second, waits) in [
            (reads(), names(&[], &["/w/sw"]), true),
            (names(&[], &["/w/sw"]), reads(), true),
            (reads(), reads(), false),
            (names(&["/w/d/e/x"], &[]), names(&[], &["/w/d"]), true),
            (names(&["/w/de"], &[]), names(&[], &["/w/d"]), false),
            (names(&["/w/d"], &[]), names(&[], &["/w/d/e"]), false),
            (names(&[], &["/w/a", "/w/b"]), names(&[], &["/w/b", "/w/c"]), true),
        ] {
            let mut calls = CallsUnderWay::default();
            assert!(calls.enter(&call(1, 1), None, first.clone()));
            assert_eq!(calls.enter(&call(2, 2), None, second.clone()), !waits, "{first:?} {second:?}");
            // Of one thread one call is over before the next one begins.
            let mut calls = CallsUnderWay::default();
            assert!(calls.enter(&call(1, 1), None, first) && calls.enter(&call(1, 2), None, second));
        }
    }

    #[test]
    fn what_waits_goes_on_in_the_order_in_which_it_came() {
        let mut calls = CallsUnderWay::default();
        let (reads, moves) = (|| names(&["/w/sw"], &[]), || names(&[], &["/w/sw"]));
        assert!(calls.enter(&call(1, 1), None, reads()));
        assert!(!calls.enter(&call(2, 2), None, moves()));
        assert_eq!(calls.may_go_on(&call(2, 2)), Some(false));
        // The next call of the first thread shows that the last one is over; it waits for the one that came before it.
        assert!(!calls.enter(&call(1, 3), None, reads()));
        assert_eq!((calls.may_go_on(&call(2, 2)), calls.may_go_on(&call(1, 3))), (Some(true), Some(false)));
        assert!(calls.enter(&call(2, 2), None, moves()));
        calls.go_on(&call(2, 2));
        assert_eq!((calls.may_go_on(&call(2, 2)), calls.may_go_on(&call(1, 3))), (None, Some(false)));
        // What does not go on holds nobody up.
        calls.leave(&call(2, 2));
        assert_eq!(calls.may_go_on(&call(1, 3)), Some(true));
        assert!(calls.enter(&call(1, 3), None, reads()));
    }

    #[test]
    fn a_call_that_was_asked_about_waits_behind_those_that_waited_for_it() {
        let mut calls = CallsUnderWay::default();
        let (reads, moves) = (|| names(&["/w/sw"], &[]), || names(&[], &["/w/sw"]));
        assert!(calls.enter(&call(1, 1), None, reads()));
        assert!(!calls.enter(&call(2, 2), None, moves()));
        assert!(!calls.enter(&call(1, 3), None, reads()));
        // It is left out while the person is asked, and comes again with their answer.
        assert!(calls.enter(&call(2, 2), None, moves()));
        calls.leave(&call(2, 2));
        assert!(!calls.enter(&call(2, 2), None, moves()));
        assert_eq!((calls.may_go_on(&call(1, 3)), calls.may_go_on(&call(2, 2))), (Some(true), Some(false)));
    }

    /// Does something while a thread runs, whose number it gets.
    fn beside_a_running_thread(does: impl FnOnce(i32)) {
        let (to, from) = std::sync::mpsc::channel();
        let is_done = std::sync::atomic::AtomicBool::new(false);
        let done = || is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                to.send(rustix::thread::gettid().as_raw_nonzero().get()).expect("sent");
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let runs = from.recv().expect("its number");
            let did = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| does(runs)));
            done();
            assert!(did.is_ok());
        });
    }

    #[test]
    fn a_call_is_over_once_its_thread_is_gone() {
        beside_a_running_thread(|runs| {
            let mut calls = CallsUnderWay::default();
            let file = PathChange::Lose("/w/one".into());
            assert!(calls.enter(&call(NOBODY, 1), Some(file.clone()), names(&["/w/sw"], &[])));
            assert!(calls.enter(&call(runs, 2), Some(file.clone()), names(&["/w/sd"], &[])));
            assert!(!calls.enter(&call(1, 3), None, names(&[], &["/w/sw"])));
            assert!(!calls.enter(&call(2, 4), None, names(&[], &["/w/sd"])));
            calls.look();
            assert_eq!(calls.may_go_on(&call(1, 3)), Some(true));
            // Of one that runs nothing is known yet.
            assert_eq!(calls.may_go_on(&call(2, 4)), Some(false));
            assert_eq!(calls.changes(), [file]);
        });
    }

    #[test]
    fn a_call_is_over_once_its_thread_has_run_on() {
        if fs::read("/proc/self/schedstat").is_err() {
            return;
        }
        beside_a_running_thread(|runs| {
            let (mut first, begun) = (None, Instant::now());
            assert!(!has_run_on(runs, &mut first));
            while !has_run_on(runs, &mut first) {
                assert!(begun.elapsed() < Duration::from_secs(60), "it runs all the time");
            }
            assert!(!has_run_on(NOBODY, &mut None));
        });
    }
}
