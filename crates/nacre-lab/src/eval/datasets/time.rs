//! Parses dates in the formats that the data sets use.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

const FORMATS: &[&str] = &["%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y/%m/%d %H:%M"];

/// Returns milliseconds since 1970, or 0 if the text is not a date.
pub(crate) fn milliseconds(text: &str) -> i64 {
    parse(text).map_or(0, Timestamp::as_millisecond)
}

pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    let whole = FORMATS.iter().find_map(|format| DateTime::strptime(format, text).ok());
    let civil = whole.or_else(|| Some(text.parse::<jiff::civil::Date>().ok()?.at(0, 0, 0, 0)))?;
    Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_sets_are_read() {
        let read = |text| parse(text).map(|time| time.to_string());
        assert_eq!(read("1:56 pm on 8 May, 2023").as_deref(), Some("2023-05-08T13:56:00Z"));
        assert_eq!(read("2023/05/30 (Tue) 08:00").as_deref(), Some("2023-05-30T08:00:00Z"));
        assert_eq!(read("2025-01-15").as_deref(), Some("2025-01-15T00:00:00Z"));
        assert_eq!(read("soon"), None);
    }
}
