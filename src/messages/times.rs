//! Days and times, as each language writes them.

use chrono::{Datelike, NaiveDate, Weekday};

use super::{Language, language};
use crate::text::time::Clock;

messages! {
    now: "now", "現在";
    today: "today", "今日";
    yesterday: "yesterday", "昨日";
    monday: "Mon", "月";
    tuesday: "Tue", "火";
    wednesday: "Wed", "水";
    thursday: "Thu", "木";
    friday: "Fri", "金";
    saturday: "Sat", "土";
    sunday: "Sun", "日";
    seconds(n): "{n} s", "{n}秒";
    minutes(n): "{n} min", "{n}分";
    hours(n): "{n} h", "{n}時間";
    days(n): "{n} d", "{n}日";
    milliseconds(n): "{n} ms", "{n}ミリ秒";
    under_a_minute: "under 1 min", "1分未満";
    under_a_second: "under 1 s", "1秒未満";
}

/// Returns the heading of a day: `today`, `Mon 3 Nov`; `11/3(月)`.
pub fn day_name(clock: &Clock, day: NaiveDate) -> String {
    match (language(), clock.day(clock.now).signed_duration_since(day).num_days()) {
        (Language::English, _) => clock.day_name(day),
        (Language::Japanese, 0) => today().to_string(),
        (Language::Japanese, 1) => yesterday().to_string(),
        (Language::Japanese, _) if day.year() == clock.day(clock.now).year() => {
            format!("{}/{}({})", day.month(), day.day(), weekday(day))
        }
        (Language::Japanese, _) => format!("{}/{}/{}", day.year(), day.month(), day.day()),
    }
}

/// Returns a point in time, short enough for the time axis.
pub fn point(clock: &Clock, at: i64) -> String {
    let day = clock.day(at);
    match (language(), clock.day(clock.now).signed_duration_since(day).num_days()) {
        (Language::English, _) | (Language::Japanese, 0) => clock.point(at),
        (Language::Japanese, 1..7) => format!("({}) {}", weekday(day), clock.minute(at)),
        (Language::Japanese, _) if day.year() == clock.day(clock.now).year() => {
            format!("{}/{} {}", day.month(), day.day(), clock.minute(at))
        }
        (Language::Japanese, _) => format!("{}/{}/{}", day.year(), day.month(), day.day()),
    }
}

/// Returns a point in time to the second.
pub fn exact(clock: &Clock, at: i64) -> String {
    let day = clock.day(at);
    match (language(), clock.day(clock.now).signed_duration_since(day).num_days()) {
        (Language::English, _) | (Language::Japanese, 0) => clock.exact(at),
        (Language::Japanese, 1..7) => format!("({}) {}", weekday(day), clock.second(at)),
        (Language::Japanese, _) => {
            format!("{}/{}/{} {}", day.year(), day.month(), day.day(), clock.second(at))
        }
    }
}

/// Formats how many milliseconds ago something was: `now`, `9 min`, `2 h`, `1 d`.
pub fn age(ms: i64) -> String {
    let minutes = (ms / 60_000).max(0);
    match minutes {
        0 => now().into(),
        1..60 => self::minutes(&minutes),
        60..1440 => hours(&(minutes / 60)),
        _ => days(&(minutes / 1440)),
    }
}

/// Formats a duration as short as it can be said: `2 ms`, `0.4 s`, `14 s`, `3 min`.
pub fn duration(took: std::time::Duration) -> String {
    match took.as_millis() {
        ms @ 0..100 => milliseconds(&ms),
        ms @ 100..10_000 => seconds(&format!("{}.{}", ms / 1000, ms % 1000 / 100)),
        ms @ 10_000..120_000 => seconds(&(ms / 1000)),
        ms @ 120_000..7_200_000 => minutes(&(ms / 60_000)),
        ms => hours(&(ms / 3_600_000)),
    }
}

fn weekday(day: NaiveDate) -> &'static str {
    match day.weekday() {
        Weekday::Mon => monday(),
        Weekday::Tue => tuesday(),
        Weekday::Wed => wednesday(),
        Weekday::Thu => thursday(),
        Weekday::Fri => friday(),
        Weekday::Sat => saturday(),
        Weekday::Sun => sunday(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::messages::with;

    #[test]
    fn times_are_written_as_in_japanese() {
        let hour = 3_600_000;
        // Wednesday, 5 November 2025, 12:07 UTC; the person is nine hours east.
        let clock = Clock { now: 1_762_344_420_000, zone: 9 * 3600 };
        let name = |hours: i64| day_name(&clock, clock.day(clock.now - hours * hour));
        with(Language::Japanese, || {
            assert_eq!((name(0), name(24), name(48)), ("今日".into(), "昨日".into(), "11/3(月)".into()));
            assert_eq!(name(24 * 400), "2024/10/1");
            assert_eq!(point(&clock, clock.now - hour), "20:07:00");
            assert_eq!(point(&clock, clock.now - 48 * hour), "(月) 21:07");
            assert_eq!(point(&clock, clock.now - 480 * hour), "10/16 21:07");
            assert_eq!(exact(&clock, clock.now - 480 * hour), "2025/10/16 21:07:00");
            assert_eq!(duration(Duration::from_millis(400)), "0.4秒");
        });
        assert_eq!(point(&clock, clock.now - 480 * hour), clock.point(clock.now - 480 * hour));
        assert_eq!([0, 9 * 60_000, 7_200_000, 90_000_000].map(age), ["now", "9 min", "2 h", "1 d"]);
        for (ms, words) in [
            (0, "0 ms"),
            (99, "99 ms"),
            (100, "0.1 s"),
            (9_999, "9.9 s"),
            (10_000, "10 s"),
            (119_999, "119 s"),
            (120_000, "2 min"),
            (7_199_999, "119 min"),
            (7_200_000, "2 h"),
        ] {
            assert_eq!(duration(Duration::from_millis(ms)), words);
        }
    }
}
