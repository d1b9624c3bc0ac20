//! Parses dates in a question: days, months, years, and relative dates such as "two weeks ago".
//!
//! People often mention an event some time after it happened, so records made shortly after the
//! date also match.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Number of days after a date in the question during which records still match.
const TAIL: f32 = 21.0;

/// Like `TAIL`, but for relative dates such as "last week", which people typically use soon after
/// the event.
const RELATIVE_TAIL: f32 = 7.0;

/// The weight of a date that is only a year.
const YEAR_ALONE: f32 = 0.5;

/// The weight of a record dated just before the date in question, and the number of days over which
/// it falls to zero.
const EARLY: (f32, f32) = (0.5, 3.0);

#[rustfmt::skip]
const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
];

const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

/// A date or time range mentioned in a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Range {
    /// A day, month or year. If the year is missing, any year matches.
    Named { year: Option<i16>, month: Option<i8>, day: Option<i8> },
    /// Inclusive, in days since 1970.
    Relative { first: f32, last: f32 },
}

/// Returns the ranges mentioned in `text`. Relative dates are resolved against `now_ms`.
pub(super) fn ranges(text: &str, now_ms: i64) -> Vec<Range> {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .take(200)
        .collect();
    let mut found = Vec::new();
    for at in 0..words.len() {
        found.extend(parse_date(&words, at));
        found.extend(relative(&words, at, now_ms));
    }
    found
}

/// Returns a score from 0 to 1 for how well a time matches its best-matching range.
pub(super) fn fit(ranges: &[Range], time_ms: i64) -> f32 {
    let day = day_of(time_ms);
    let fits = ranges.iter().map(|range| match range {
        Range::Relative { first, last } => nearness(*first, *last, day, RELATIVE_TAIL),
        Range::Named { year, month, day: in_month } => {
            fit_named_date(*year, *month, *in_month, day)
        }
    });
    fits.fold(0.0, f32::max)
}

fn fit_named_date(year: Option<i16>, month: Option<i8>, in_month: Option<i8>, day: f32) -> f32 {
    let this_year = Timestamp::from_second(day as i64 * 86_400)
        .map_or(1970, |time| time.to_zoned(TimeZone::UTC).year());
    let years = match year {
        Some(year) => [Some(year), None],
        None => [Some(this_year), Some(this_year - 1)],
    };
    let fit = |year: i16| {
        let (first, last) = bounds(year, month, in_month)?;
        let worth = if month.is_none() { YEAR_ALONE } else { 1.0 };
        Some(worth * nearness(first, last, day, TAIL))
    };
    years.into_iter().flatten().filter_map(fit).fold(0.0, f32::max)
}

fn bounds(year: i16, month: Option<i8>, in_month: Option<i8>) -> Option<(f32, f32)> {
    let (first, last) = match (month, in_month) {
        (Some(month), Some(day)) => {
            let date = Date::new(year, month, day).ok()?;
            (date, date)
        }
        (Some(month), None) => {
            let first = Date::new(year, month, 1).ok()?;
            (first, first.last_of_month())
        }
        (None, _) => (Date::new(year, 1, 1).ok()?, Date::new(year, 12, 31).ok()?),
    };
    Some((day_number(first), day_number(last)))
}

fn nearness(first: f32, last: f32, day: f32, tail: f32) -> f32 {
    if day < first {
        let (worth, days) = EARLY;
        return worth * (1.0 - (first - day) / days).max(0.0);
    }
    if day <= last { 1.0 } else { (1.0 - (day - last) / tail).max(0.0) }
}

/// Parses a date that starts at the word with index `at`.
fn parse_date(words: &[&str], at: usize) -> Option<Range> {
    let word = words[at];
    if let Some(range) = iso(word) {
        return Some(range);
    }
    if let Some(month) = month_of(word) {
        let before = at.checked_sub(1).and_then(|at| day_of_month(words[at]));
        let after = words.get(at + 1).and_then(|word| day_of_month(word));
        let day = before.or(after);
        let year = words.iter().skip(at + 1).take(2).find_map(|word| year_of(word));
        return Some(Range::Named { year, month: Some(month), day });
    }
    // The year was already parsed as part of the month's date.
    let is_after_month = (1..=2)
        .any(|back| at.checked_sub(back).is_some_and(|before| month_of(words[before]).is_some()));
    let year = year_of(word).filter(|_| !is_after_month)?;
    Some(Range::Named { year: Some(year), month: None, day: None })
}

fn iso(word: &str) -> Option<Range> {
    let mut parts = word.split('-');
    let year = year_of(parts.next()?)?;
    let month = parts.next()?.parse().ok().filter(|month| (1..=12).contains(month))?;
    let day = parts.next().and_then(|day| day.parse().ok());
    Some(Range::Named { year: Some(year), month: Some(month), day })
}

/// Returns the month number for a month name. The name must be capitalized, because "may" and
/// "march" are also ordinary words.
fn month_of(word: &str) -> Option<i8> {
    let is_capital = word.starts_with(char::is_uppercase);
    let word = word.to_lowercase();
    let is_short = (3..=4).contains(&word.len());
    let is_month = |month: &str| *month == *word || (is_short && month.starts_with(&word));
    let idx = MONTHS.iter().position(|month| is_month(month)).filter(|_| is_capital)?;
    i8::try_from(idx + 1).ok()
}

fn day_of_month(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let tail = &word[digits.len()..];
    let is_ordinal = ["", "st", "nd", "rd", "th"].contains(&tail);
    digits.parse().ok().filter(|day| is_ordinal && (1..=31).contains(day))
}

fn year_of(word: &str) -> Option<i16> {
    let year = word.parse().ok().filter(|_| word.len() == 4)?;
    (1990..2100).contains(&year).then_some(year)
}

/// Parses a relative date, such as "yesterday", "two weeks ago", "last month" or "past three days".
fn relative(words: &[&str], at: usize, now_ms: i64) -> Option<Range> {
    let lower = |at: usize| words.get(at).map(|word| word.to_lowercase()).unwrap_or_default();
    let today = day_of(now_ms);
    let range = |first: f32, last: f32| Some(Range::Relative { first, last });
    match lower(at).as_str() {
        "yesterday" => range(today - 1.0, today - 1.0),
        "today" => range(today, today),
        "ago" => {
            let unit = days_of(&lower(at.checked_sub(1)?))?;
            let count = number_of(&lower(at.checked_sub(2)?));
            let middle = today - count.unwrap_or(1.0) * unit;
            let slack = (unit * 0.5).max(1.0);
            range(middle - slack, middle + slack)
        }
        "last" | "past" | "previous" => {
            let (count, unit) = match days_of(&lower(at + 1)) {
                Some(unit) => (1.0, unit),
                None => (number_of(&lower(at + 1))?, days_of(&lower(at + 2))?),
            };
            // "Last week" can mean either the previous seven days or the calendar week before this
            // one.
            let more = if unit == 7.0 && count == 1.0 { 7.0 } else { 0.0 };
            range(today - count * unit - more, today)
        }
        "this" => range(today - days_of(&lower(at + 1))?, today),
        _ => None,
    }
}

fn days_of(unit: &str) -> Option<f32> {
    match unit.trim_end_matches('s') {
        "day" => Some(1.0),
        "week" | "weekend" => Some(7.0),
        "month" => Some(30.5),
        "year" => Some(365.0),
        _ => None,
    }
}

fn number_of(word: &str) -> Option<f32> {
    match word {
        "a" | "an" => Some(1.0),
        "couple" | "of" => Some(2.0),
        "few" => Some(3.0),
        word => match NUMBERS.iter().position(|number| *number == word) {
            Some(number) => Some(number as f32),
            None => word.parse::<u16>().ok().map(f32::from),
        },
    }
}

fn day_of(time_ms: i64) -> f32 {
    time_ms.div_euclid(86_400_000) as f32
}

fn day_number(date: Date) -> f32 {
    date.to_zoned(TimeZone::UTC).map_or(0.0, |zoned| day_of(zoned.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: &str) -> i64 {
        format!("{day}T12:00:00Z").parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[track_caller]
    fn check(question: &str, day: &str, expected: f32) {
        let fit = fit(&ranges(question, at("2026-11-15")), at(day));
        assert!((fit - expected).abs() < 0.05, "{question} on {day}: {fit}");
    }

    #[test]
    fn named_dates_fit_their_days_and_a_while_after() {
        check("What did we decide on 3 March 2026?", "2026-03-03", 1.0);
        check("What did we decide on March 3rd, 2026?", "2026-03-10", 0.67);
        check("What happened in May 2026?", "2026-05-20", 1.0);
        check("What happened in May 2026?", "2025-05-20", 0.0);
        check("What happened in May?", "2025-05-20", 1.0);
        check("changes of 2026-03", "2026-03-31", 1.0);
        check("the plan for 2025", "2025-07-01", 0.5);
        check("may we march on?", "2026-05-01", 0.0);
    }

    #[test]
    fn relative_dates_count_from_now() {
        check("what broke two weeks ago?", "2026-11-01", 1.0);
        check("what broke yesterday?", "2026-11-14", 1.0);
        check("what broke last week?", "2026-11-05", 1.0);
        check("what broke in the past three months?", "2026-09-01", 1.0);
        check("what broke last week?", "2026-01-05", 0.0);
        check("ago", "2026-11-15", 0.0);
    }
}
