//! Timestamps as agents write them.
//!
//! Nearly all are `2026-01-31T12:34:56.789Z`; that form is read by hand, since every line has one.

use jiff::Timestamp;

/// Reads a timestamp; `None` where it is none.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    parse_plain(text.as_bytes()).or_else(|| text.parse().ok())
}

fn parse_plain(bytes: &[u8]) -> Option<Timestamp> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', rest @ ..] = bytes else { return None };
    let [h1, h2, b':', i1, i2, b':', s1, s2, b'.', f1, f2, f3, b'Z'] = rest else { return None };
    let year = number(&[*y1, *y2, *y3, *y4])?;
    let (month, day) = (number(&[*m1, *m2])?, number(&[*d1, *d2])?);
    let (hour, minute) = (number(&[*h1, *h2])?, number(&[*i1, *i2])?);
    let (second, millisecond) = (number(&[*s1, *s2])?, number(&[*f1, *f2, *f3])?);
    let is_valid = (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_valid {
        return None;
    }
    let seconds = ((days_since_epoch(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Timestamp::from_millisecond(seconds * 1000 + millisecond).ok()
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |value, digit| {
        digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0'))
    })
}

fn days_in(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01, by counting years from March so that the leap day comes last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_forms_are_left_to_the_library() {
        for text in ["2026-02-28T10:00:00Z", "2026-02-28T10:00:00.123456+02:00"] {
            assert_eq!(parse_plain(text.as_bytes()), None);
            assert_eq!(parse_time(text), text.parse().ok());
            assert!(parse_time(text).is_some());
        }
        assert_eq!(parse_time("2026-02-30T10:00:00.000Z"), None);
        assert_eq!(parse_time("[trimmed for fixture]"), None);
    }

    proptest! {
        #[test]
        fn the_plain_form_is_read_as_the_library_reads_it(ms in -62_000_000_000_000_i64..250_000_000_000_000) {
            let timestamp = Timestamp::from_millisecond(ms).unwrap();
            let text = format!("{timestamp:.3}");
            prop_assert_eq!(parse_plain(text.as_bytes()), Some(timestamp));
        }
    }
}
