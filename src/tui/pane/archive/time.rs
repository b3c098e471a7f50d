//! Times as a person says them: `12:04:31` today, `Mon 18:20` this week, `3 Nov 18:20` before.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Timelike};

/// A clock: now, and how far the person's zone is from UTC.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    /// Unix milliseconds.
    pub now: i64,
    /// Seconds east of UTC.
    pub zone: i32,
}

impl Clock {
    fn local(&self, at: i64) -> NaiveDateTime {
        let at = at.saturating_add(i64::from(self.zone) * 1000);
        // Times outside of the calendar come from damaged ids: they show as its beginning.
        DateTime::from_timestamp_millis(at).unwrap_or_default().naive_utc()
    }

    /// The day of `at`.
    pub fn day(&self, at: i64) -> NaiveDate {
        self.local(at).date()
    }

    /// The heading of a day: `today`, `yesterday`, `Mon 3 Nov`, `3 Nov 2024`.
    pub fn day_name(&self, day: NaiveDate) -> String {
        let today = self.day(self.now);
        match today.signed_duration_since(day).num_days() {
            0 => "today".into(),
            1 => "yesterday".into(),
            _ if day.year() == today.year() => day.format("%a %-d %b").to_string(),
            _ => day.format("%-d %b %Y").to_string(),
        }
    }

    /// `12:04`.
    pub fn minute(&self, at: i64) -> String {
        let t = self.local(at);
        format!("{:02}:{:02}", t.hour(), t.minute())
    }

    /// `12:04:31`.
    pub fn second(&self, at: i64) -> String {
        self.local(at).format("%H:%M:%S").to_string()
    }

    /// A point in time, short enough for the time axis.
    pub fn point(&self, at: i64) -> String {
        let (t, today) = (self.local(at), self.day(self.now));
        match today.signed_duration_since(t.date()).num_days() {
            0 => self.second(at),
            1..7 => t.format("%a %H:%M").to_string(),
            _ if t.year() == today.year() => t.format("%-d %b %H:%M").to_string(),
            _ => t.format("%-d %b %Y").to_string(),
        }
    }

    /// A point in time to the second.
    pub fn exact(&self, at: i64) -> String {
        let (t, today) = (self.local(at), self.day(self.now));
        match today.signed_duration_since(t.date()).num_days() {
            0 => self.second(at),
            1..7 => t.format("%a %H:%M:%S").to_string(),
            _ => t.format("%-d %b %Y %H:%M:%S").to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_a_person_says_them() {
        let hour = 3_600_000;
        // Wednesday, 5 November 2025, 12:07 UTC; the person is an hour east.
        let clock = Clock { now: 1_762_344_420_000, zone: 3600 };
        assert_eq!(clock.second(clock.now), "13:07:00");
        assert_eq!(clock.point(clock.now - hour), "12:07:00");
        assert_eq!(clock.point(clock.now - 48 * hour), "Mon 13:07");
        assert_eq!(clock.point(clock.now - 480 * hour), "16 Oct 13:07");
        assert_eq!(clock.exact(clock.now - 48 * hour), "Mon 13:07:00");
        let name = |hours| clock.day_name(clock.day(clock.now - hours * hour));
        assert_eq!((name(0), name(14), name(48)), ("today".into(), "yesterday".into(), "Mon 3 Nov".into()));
        assert_eq!(name(24 * 400), "1 Oct 2024");
        assert_eq!(clock.point(i64::MAX), "1 Jan 1970");
    }
}
