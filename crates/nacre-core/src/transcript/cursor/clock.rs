//! The time that Cursor writes into a user message as text, since its transcripts have no other.

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::super::time::parse_time;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The time in the `<timestamp>` block of a message.
pub(super) fn time_tag(text: &str) -> Option<Timestamp> {
    let (_, after) = text.split_once("<timestamp>")?;
    let (inside, _) = after.split_once("</timestamp>")?;
    let inside = inside.trim();
    parse_time(inside).or_else(|| parse_words(inside))
}

/// Reads `Tuesday, Sep 16, 2025, 10:01 AM (UTC+2)`; without a zone it is taken as UTC.
fn parse_words(text: &str) -> Option<Timestamp> {
    let (date, zone) = text.split_once('(').unwrap_or((text, ""));
    let words: Vec<&str> =
        date.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|word| month_of(word).is_some())?;
    let month = month_of(words[at])?;
    let day: i8 = words.get(at + 1)?.parse().ok()?;
    let year: i16 = words.get(at + 2)?.parse().ok()?;
    let mut clock = words.get(at + 3)?.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute) = (clock.next()??, clock.next()??);
    let second = clock.next().flatten().unwrap_or(0);
    let hour = match words.get(at + 4).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("pm") if hour < 12 => hour + 12,
        Some("am") if hour == 12 => 0,
        _ => hour,
    };
    let local = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    let utc = local.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let offset = jiff::SignedDuration::from_mins(zone_minutes(zone));
    utc.checked_sub(offset).ok()
}

fn month_of(word: &str) -> Option<i8> {
    let word = word.get(..3)?.to_ascii_lowercase();
    let at = MONTHS.iter().position(|month| *month == word)?;
    i8::try_from(at + 1).ok()
}

/// The minutes of `UTC+5:30)` east of Greenwich.
fn zone_minutes(zone: &str) -> i64 {
    let zone = zone.trim_end_matches(')').trim_start_matches("UTC").trim_start_matches("GMT");
    let (sign, digits) = match zone.split_at_checked(1) {
        Some(("+", digits)) => (1, digits),
        Some(("-" | "\u{2212}", digits)) => (-1, digits),
        _ => return 0,
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let part = |text: &str| text.trim().parse::<i64>().unwrap_or(0).clamp(0, 59);
    sign * (part(hours) * 60 + part(minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read() {
        let cases = [
            ("Tuesday, Sep 16, 2025, 10:01 AM (UTC+2)", Some("2025-09-16T08:01:00Z")),
            ("Friday, January 2, 2026, 12:30 AM (UTC-5:30)", Some("2026-01-02T06:00:00Z")),
            ("Monday, Mar 3, 2025, 11:59 PM", Some("2025-03-03T23:59:00Z")),
            ("2026-01-31T12:34:56.789Z", Some("2026-01-31T12:34:56.789Z")),
            ("Tuesday, Feb 31, 2025, 10:01 AM", None),
            ("yesterday", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let message = format!("<timestamp>{text}</timestamp>\nhello");
            assert_eq!(time_tag(&message).map(|time| time.to_string()).as_deref(), expected);
        }
    }
}
