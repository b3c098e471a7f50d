//! The present moment, and times in words: exact ones for records and listings, and short ones for the screen
//! (`12:04:31` today, `Mon 18:20` this week, `3 Nov 18:20` before).

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Datelike, Local, NaiveDate, NaiveDateTime, Offset, SecondsFormat, TimeZone, Timelike};

/// Returns the time now in unix milliseconds; 0 for a clock before 1970.
pub fn now() -> i64 {
    now_exactly().0
}

/// Returns the time now as unix milliseconds, and the microseconds since then.
pub fn now_exactly() -> (i64, u32) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (i64::try_from(since.as_millis()).unwrap_or(i64::MAX), since.subsec_micros() % 1_000)
}

/// Seconds that local time is ahead of UTC, now.
pub fn zone() -> i32 {
    Local.timestamp_millis_opt(now()).earliest().map_or(0, |time| time.offset().fix().local_minus_utc())
}

/// Returns today's date, with the weekday and the offset from UTC. A clock before 1970 counts as standing at its
/// beginning: the crate would end the program.
pub fn date() -> String {
    let now = Local.timestamp_opt(now() / 1000, 0).earliest();
    now.map_or(String::new(), |now| now.format("%Y-%m-%d, %A, UTC%:z").to_string())
}

/// Formats as RFC 3339 in UTC, to the second: `2025-11-05T12:07:00Z`. A time outside of the calendar is its beginning.
pub fn utc(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms).unwrap_or_default().to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Formats as RFC 3339 in UTC, to the millisecond.
pub fn utc_millis(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms).unwrap_or_default().to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Formats local time to the second: `2025-11-05 12:07:00`; empty outside of the calendar.
pub fn local(ms: i64) -> String {
    let Some(t) = Local.timestamp_millis_opt(ms).single() else { return String::new() };
    // By hand: chrono's patterns take longer than all else in a long listing.
    let (hour, minute, second) = (t.hour(), t.minute(), t.second());
    format!("{:04}-{:02}-{:02} {hour:02}:{minute:02}:{second:02}", t.year(), t.month(), t.day())
}

/// Reads a time: `-2h` (also `s`, `m`, `d`, `w`) before `now`, `14:05` or `14:05:10` of the last 24 hours, `2026-11-21`, or
/// `2026-11-21T14:05`, in a zone `zone` seconds east of UTC, or `2026-11-21T12:05:00.123Z`, which says its own. None: it is
/// none of these.
pub fn parse(text: &str, now: i64, zone: i32) -> Option<i64> {
    const DAY: i64 = 24 * 3600 * 1000;
    if let Some(ago) = text.strip_prefix('-') {
        let unit = ago.chars().next_back()?;
        let each = match unit {
            's' => 1_000,
            'm' => 60_000,
            'h' => 3_600_000,
            'd' => DAY,
            'w' => 7 * DAY,
            _ => return None,
        };
        let number: i64 = ago.strip_suffix(unit)?.parse().ok()?;
        return now.checked_sub(number.checked_mul(each)?);
    }
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.timestamp_millis());
    }
    let zone = i64::from(zone) * 1000;
    let of_day = |text: &str| {
        let formats = ["%H:%M:%S", "%H:%M"];
        formats.iter().find_map(|format| chrono::NaiveTime::parse_from_str(text, format).ok())
    };
    let utc = |date: NaiveDate, of_day| Some(date.and_time(of_day).and_utc().timestamp_millis() - zone);
    if let Some(of_day) = of_day(text) {
        let today = DateTime::from_timestamp_millis(now.checked_add(zone)?)?.date_naive();
        let at = utc(today, of_day)?;
        return Some(if at > now { at - DAY } else { at });
    }
    let (date, rest) = match text.split_once(['T', ' ']) {
        Some((date, rest)) => (date, of_day(rest)?),
        None => (text, chrono::NaiveTime::MIN),
    };
    utc(NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?, rest)
}

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

    /// Returns the day of `at`.
    pub fn day(&self, at: i64) -> NaiveDate {
        self.local(at).date()
    }

    /// Returns the heading of a day: `today`, `yesterday`, `Mon 3 Nov`, `3 Nov 2024`.
    pub fn day_name(&self, day: NaiveDate) -> String {
        let today = self.day(self.now);
        match today.signed_duration_since(day).num_days() {
            0 => "today".into(),
            1 => "yesterday".into(),
            _ if day.year() == today.year() => day.format("%a %-d %b").to_string(),
            _ => day.format("%-d %b %Y").to_string(),
        }
    }

    /// Formats as `12:04`.
    pub fn minute(&self, at: i64) -> String {
        let t = self.local(at);
        format!("{:02}:{:02}", t.hour(), t.minute())
    }

    /// Formats as `12:04:31`.
    pub fn second(&self, at: i64) -> String {
        self.local(at).format("%H:%M:%S").to_string()
    }

    /// Formats a point in time, short enough for the time axis.
    pub fn point(&self, at: i64) -> String {
        let (t, today) = (self.local(at), self.day(self.now));
        match today.signed_duration_since(t.date()).num_days() {
            0 => self.second(at),
            1..7 => t.format("%a %H:%M").to_string(),
            _ if t.year() == today.year() => t.format("%-d %b %H:%M").to_string(),
            _ => t.format("%-d %b %Y").to_string(),
        }
    }

    /// Formats a point in time to the second.
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
    fn times_are_read_as_they_are_written() {
        // 2026-11-21T12:00:00Z, seen two hours east of it.
        let (now, zone) = (1_795_262_400_000, 7200);
        let at = |text: &str| parse(text, now, zone).map(utc);
        assert_eq!(at("-2h").as_deref(), Some("2026-11-21T10:00:00Z"));
        assert_eq!(at("-90s").as_deref(), Some("2026-11-21T11:58:30Z"));
        assert_eq!(at("-3d").as_deref(), Some("2026-11-18T12:00:00Z"));
        assert_eq!(at("13:30").as_deref(), Some("2026-11-21T11:30:00Z"));
        assert_eq!(at("14:30").as_deref(), Some("2026-11-20T12:30:00Z"), "it is not half past two yet");
        assert_eq!(at("2026-11-20").as_deref(), Some("2026-11-19T22:00:00Z"));
        assert_eq!(at("2026-11-20T08:15:30").as_deref(), Some("2026-11-20T06:15:30Z"));
        assert_eq!(at("2026-11-20T08:15:30.462Z").as_deref(), Some("2026-11-20T08:15:30Z"));
        assert_eq!(at(&utc(now)).as_deref(), Some("2026-11-21T12:00:00Z"));
        for text in ["", "-", "-h", "-5y", "25:00", "2026-13-01", "now", "0198c2aa", "-99999999999999999w"] {
            assert_eq!(at(text), None, "{text}");
        }
    }

    #[test]
    fn records_have_exact_times() {
        assert_eq!(utc(1_762_344_420_005), "2025-11-05T12:07:00Z");
        assert_eq!(utc_millis(1_762_344_420_005), "2025-11-05T12:07:00.005Z");
        assert_eq!(utc(i64::MAX), "1970-01-01T00:00:00Z");
        assert_eq!(local(1_762_344_420_005).len(), "2025-11-05 12:07:00".len());
    }

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
