//! How large the archive is: measured in the background, reckoned on from there, and told once it is nearly full.
//! Nothing is ever deleted here.

use std::sync::Arc;

use crate::agent::services::{Env, lock};
use crate::agent::session::request;
use crate::config::size;
use crate::proposal::{Decided, State};
use crate::protocol::Level;

/// What is known of the archive's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Bytes, as measured last; `None`: not known yet.
    bytes: Option<u64>,
    /// Bytes that joined, at most, since that measure was begun.
    joined: u64,
    /// It is being measured.
    measuring: bool,
    /// It was told that it is nearly full.
    told: bool,
}

/// A measure is good for so long, in milliseconds: measuring a huge archive takes a while.
const GOOD_FOR: i64 = 60 * 60 * 1000;

/// At the start: the archive is measured, unless that was done a short while ago. Waits for nothing.
pub fn look(env: &Arc<Env>) {
    let known = env.memory.archive_size(&env.project()).ok().flatten();
    match known.filter(|size| request::now() - size.at < GOOD_FOR) {
        Some(known) => {
            judge(env, known.bytes);
            let max = max(env);
            let again = {
                let mut size = lock(&env.size);
                size.bytes = Some(known.bytes);
                size.must_be_measured(max)
            };
            if again {
                measure(env);
            }
        }
        None => measure(env),
    }
}

/// These changes were archived and written: the archive has grown by what was there before them, at most.
pub fn grew(env: &Arc<Env>, decided: &Decided) {
    let bytes = |state: &State| state.bytes().map_or(0, |b| b.len() as u64);
    let more: u64 = decided.files().iter().map(|f| bytes(f.before())).sum();
    let max = max(env);
    let again = {
        let mut size = lock(&env.size);
        size.joined += more;
        size.must_be_measured(max)
    };
    if again {
        measure(env);
    }
}

impl Size {
    /// Whether it may be nearly full by now. Equal states share storage, so that only a measure is believed.
    fn must_be_measured(&self, max: u64) -> bool {
        let reckoned = self.bytes.map(|bytes| bytes + self.joined);
        !self.told && reckoned.is_some_and(|bytes| size::nearly_full(bytes, max).is_some())
    }
}

/// Measures, one at a time, and again where so much joins meanwhile that it matters.
fn measure(env: &Arc<Env>) {
    let env = Arc::clone(env);
    if std::mem::replace(&mut lock(&env.size).measuring, true) {
        return;
    }
    tokio::runtime::Handle::current().spawn_blocking(move || {
        let max = max(&env);
        loop {
            lock(&env.size).joined = 0;
            // An archive that cannot be read is told of by whoever needs it.
            let measured = env.archive.size().ok();
            if let Some(bytes) = measured {
                env.kept(env.memory.set_archive_size(&env.project(), bytes));
                judge(&env, bytes);
            }
            let mut size = lock(&env.size);
            size.bytes = measured.or(size.bytes);
            size.measuring = measured.is_some() && size.must_be_measured(max);
            if !size.measuring {
                return;
            }
        }
    });
}

/// Tells, once, that the archive is nearly full.
fn judge(env: &Arc<Env>, bytes: u64) {
    let Some(full) = size::nearly_full(bytes, max(env)) else { return };
    if std::mem::replace(&mut lock(&env.size).told, true) {
        return;
    }
    let env = Arc::clone(env);
    tokio::runtime::Handle::current().spawn(async move {
        let what = "Nothing is deleted by itself: nebula prune deletes the oldest states, after asking.";
        env.tell(Level::Warning, full, what).await;
    });
}

fn max(env: &Env) -> u64 {
    lock(&env.config).archive_max_size
}
