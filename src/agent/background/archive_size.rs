//! The size of the archive: measured in the background, estimated from there on, and reported once it is nearly full.
//! Nothing is ever deleted here.

use std::sync::{Arc, Mutex};

use crate::agent::services::{Services, lock};
use crate::config::size;
use crate::messages::agent as say;
use crate::protocol::Level;
use crate::text::time;

/// The known size of the archive.
#[derive(Clone)]
pub struct ArchiveSize {
    services: Arc<Services>,
    size: Arc<Mutex<Size>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Size {
    /// Bytes, as measured last; `None`: not known yet.
    bytes: Option<u64>,
    /// Bytes that joined, at most, since that measure was begun.
    joined: u64,
    /// It is being measured.
    measuring: bool,
    /// True if it was reported to be nearly full.
    reported: bool,
}

/// A measure is good for so long, in milliseconds: measuring a huge archive takes a while.
const GOOD_FOR: i64 = 60 * 60 * 1000;

impl ArchiveSize {
    /// Creates the state in which nothing is known yet.
    pub fn new(services: &Arc<Services>) -> Self {
        ArchiveSize { services: Arc::clone(services), size: Arc::default() }
    }

    /// Measures the archive at the start, unless that was done a short while ago. Waits for memory, not for the
    /// measure.
    pub fn look(&self) {
        let services = &self.services;
        let known = {
            let project = services.project();
            services.record_error(services.memory.ask_blocking(move |memory| memory.archive_size(&project))).flatten()
        };
        match known.filter(|size| time::now() - size.at < GOOD_FOR) {
            Some(known) => {
                self.judge(known.bytes);
                let max = self.max();
                let again = {
                    let mut size = lock(&self.size);
                    size.bytes = Some(known.bytes);
                    size.must_be_measured(max)
                };
                if again {
                    self.measure();
                }
            }
            None => self.measure(),
        }
    }

    /// Records that the archive has grown by at most `bytes` bytes.
    pub fn grew(&self, bytes: u64) {
        let max = self.max();
        let again = {
            let mut size = lock(&self.size);
            size.joined += bytes;
            size.must_be_measured(max)
        };
        if again {
            self.measure();
        }
    }

    /// Measures, one measurement at a time, and again where enough joined meanwhile to matter.
    fn measure(&self) {
        if std::mem::replace(&mut lock(&self.size).measuring, true) {
            return;
        }
        let this = self.clone();
        tokio::task::spawn_blocking(move || {
            let (services, max) = (&this.services, this.max());
            loop {
                lock(&this.size).joined = 0;
                // An archive that cannot be read is reported where it is needed.
                let measured = services.archive.size().ok();
                if let Some(bytes) = measured {
                    let project = services.project();
                    services.memory.post(move |memory| memory.set_archive_size(&project, bytes));
                    this.judge(bytes);
                }
                let mut size = lock(&this.size);
                size.bytes = measured.or(size.bytes);
                size.measuring = measured.is_some() && size.must_be_measured(max);
                if !size.measuring {
                    return;
                }
            }
        });
    }

    /// Reports, once, that the archive is nearly full.
    fn judge(&self, bytes: u64) {
        let Some(full) = size::nearly_full(bytes, self.max()) else { return };
        if std::mem::replace(&mut lock(&self.size).reported, true) {
            return;
        }
        let what = say::prune();
        self.services.tell(Level::Warning, full, what);
    }

    fn max(&self) -> u64 {
        self.services.config.read().archive_max_size
    }
}

impl Size {
    /// Returns whether it may be nearly full by now. Equal states share storage, so that only a measure is believed.
    fn must_be_measured(&self, max: u64) -> bool {
        let reckoned = self.bytes.map(|bytes| bytes + self.joined);
        !self.reported && reckoned.is_some_and(|bytes| size::nearly_full(bytes, max).is_some())
    }
}
