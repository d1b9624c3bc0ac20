//! Parses times given by users in flags and search filters.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Units for ages, with their lengths in seconds. A month has 30 days, and a year has 365.
const UNITS: &[(&str, u64)] = &[
    ("m", 60),
    ("min", 60),
    ("h", 3600),
    ("d", 86_400),
    ("w", 604_800),
    ("mo", 2_592_000),
    ("y", 31_536_000),
];

/// Parses `2026`, `2026-01`, `2026-01-31`, a full timestamp, or an age such as `30min`, `36h`,
/// `7d`, `2w`, `3mo`, `1y`.
pub fn parse_time(text: &str, now: Timestamp) -> Option<Timestamp> {
    let moment = text.parse::<Timestamp>().ok();
    moment.or_else(|| parse_age(text, now)).or_else(|| parse_day(text))
}

fn parse_age(text: &str, now: Timestamp) -> Option<Timestamp> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let age = number.parse::<u64>().ok()?.checked_mul(*seconds)?;
    now.checked_sub(Duration::from_secs(age)).ok()
}

fn parse_day(text: &str) -> Option<Timestamp> {
    let mut parts = text.split('-');
    let year = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
    let mut number = || parts.next().map_or(Some(1), |part| part.parse::<i8>().ok());
    let (month, day) = (number()?, number()?);
    if parts.next().is_some() {
        return None;
    }
    let date = Date::new(year, month, day).ok()?;
    date.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        parse_time(text, now).map(|time| time.to_string())
    }

    #[test]
    fn times_are_days_months_years_or_moments() {
        for (text, time) in [
            ("2026", "2026-01-01T00:00:00Z"),
            ("2026-02", "2026-02-01T00:00:00Z"),
            ("2026-02-03", "2026-02-03T00:00:00Z"),
            ("2026-02-03T04:05:06Z", "2026-02-03T04:05:06Z"),
        ] {
            assert_eq!(read(text).as_deref(), Some(time), "{text}");
        }
    }

    #[test]
    fn m_is_minutes_and_mo_is_months() {
        for (age, time) in [
            ("30m", "2026-11-15T11:30:00Z"),
            ("30min", "2026-11-15T11:30:00Z"),
            ("36h", "2026-11-14T00:00:00Z"),
            ("7d", "2026-11-08T12:00:00Z"),
            ("2w", "2026-11-01T12:00:00Z"),
            ("3mo", "2026-08-17T12:00:00Z"),
            ("1y", "2025-11-15T12:00:00Z"),
        ] {
            assert_eq!(read(age).as_deref(), Some(time), "{age}");
        }
    }

    #[test]
    fn anything_else_is_not_a_time() {
        for text in
            ["2026-13", "26", "", "d", "-3d", "+3d", "3D", "2026-1-1-1", "999999999y", "é", "7 d"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&format!("{}y", u64::MAX)), None);
    }
}
