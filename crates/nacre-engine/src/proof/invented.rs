//! Detects names and numbers in a sentence that do not appear in its sources.
//!
//! A sentence may use ordinary words that do not appear in its sources, but every name and number
//! must come from them.

use jiff::civil::Date;

use crate::proof::words::NUMBERS;

/// Capitalized words that are not names.
#[rustfmt::skip]
const CALENDAR: &[&str] = &[
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday",
    "saturday", "sunday", "i",
];

const MONTHS: std::ops::Range<usize> = 0..12;

/// Returns whether `words` contains a name or number that is missing from `source`. References to
/// `days` are always allowed.
pub fn has_invented(words: &str, source: &str, days: &[Date]) -> bool {
    let whole = source.to_lowercase();
    let source = without_days(&whole);
    let pieces: Vec<&str> = words.split_whitespace().collect();
    let mut starts_sentence = true;
    (0..pieces.len()).any(|idx| {
        let piece = pieces[idx];
        let core = bare(piece);
        if core.is_empty() {
            return false;
        }
        let is_first =
            std::mem::replace(&mut starts_sentence, piece.ends_with(['.', ':', '!', '?']));
        let is_told_day = is_day(bare(core).as_bytes()) && whole.contains(&core.to_lowercase());
        if is_told_day || tells_a_day(&pieces, idx, days) {
            return false;
        }
        let parts = core.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
        let mut is_first_part = is_first;
        parts.filter(|part| !part.is_empty()).any(|part| {
            let is_first = std::mem::replace(&mut is_first_part, false);
            is_missing(part, is_first, &source)
        })
    })
}

/// Returns whether `words` contains a name that is missing from `source`. Only unambiguous names
/// count: words with a capital letter inside, or with both letters and digits. Other capitalized
/// words are ignored, because some languages capitalize every noun.
pub fn names_another(words: &str, source: &str) -> bool {
    let source = source.to_lowercase();
    let is_name = |word: &&str| {
        let has_lower = word.chars().any(char::is_lowercase);
        let has_inner_capital = word.chars().skip(1).any(char::is_uppercase);
        let has_digit = word.chars().any(|c| c.is_ascii_digit());
        word.len() > 3 && has_lower && (has_inner_capital || has_digit)
    };
    let words = words.split(|c: char| !c.is_alphanumeric()).filter(is_name);
    words.map(str::to_lowercase).any(|word| !source.contains(&word))
}

fn bare(piece: &str) -> &str {
    piece.trim_matches(|c: char| !c.is_alphanumeric())
}

fn without_days(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let follows_digit = kept.ends_with(|c: char| c.is_ascii_digit());
        if !follows_digit && is_day(rest.as_bytes()) {
            let is_of_time =
                |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | 't' | 'z');
            rest = rest.trim_start_matches(is_of_time);
            kept.push(' ');
        } else {
            kept.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    kept
}

fn is_day(text: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() >= 10 && text[..10].iter().enumerate().all(fits)
}

fn tells_a_day(pieces: &[&str], idx: usize, days: &[Date]) -> bool {
    let core = bare(pieces[idx]);
    let is_month = |at: Option<usize>| {
        let word = at.and_then(|at| pieces.get(at)).map(|piece| bare(piece).to_lowercase());
        word.is_some_and(|word| CALENDAR[MONTHS].contains(&word.as_str()))
    };
    let has_month = is_month(idx.checked_sub(1)) || is_month(idx.checked_add(1));
    days.iter().any(|day| {
        let is_day = core.trim_end_matches(char::is_alphabetic) == day.day().to_string();
        core == day.to_string() || core == day.year().to_string() || (has_month && is_day)
    })
}

fn is_missing(word: &str, starts_sentence: bool, source: &str) -> bool {
    let lower = word.to_lowercase();
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return !has_number(source, word);
    }
    // Non-ASCII digits are compared literally.
    if word.chars().any(|c| c.is_numeric() && !c.is_ascii()) {
        return !source.contains(&lower);
    }
    let single = lower.strip_suffix('s').unwrap_or(&lower);
    if let Some((_, digits)) = NUMBERS.iter().find(|(name, _)| *name == lower || *name == single) {
        return !has_number(source, digits);
    }
    let has_digit = word.chars().any(|c| c.is_ascii_digit());
    let has_inner_capital = word.chars().skip(1).any(char::is_uppercase);
    let is_capital = !starts_sentence && word.starts_with(char::is_uppercase);
    if !(has_digit || has_inner_capital || is_capital) || CALENDAR.contains(&lower.as_str()) {
        return false;
    }
    let bare = lower.trim_end_matches("'s").trim_end_matches("’s");
    let single = bare.strip_suffix('s').filter(|single| single.len() > 2).unwrap_or(bare);
    !source.contains(bare) && !source.contains(single)
}

fn has_number(source: &str, number: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let as_digits = source.match_indices(number).any(|(at, found)| {
        !source[..at].ends_with(is_digit) && !source[at + found.len()..].starts_with(is_digit)
    });
    let is_name = |word: &str| {
        let single = word.strip_suffix('s').unwrap_or(word);
        let counts = |name: &str| name == word || name == single;
        (number == "1" && word == "one")
            || NUMBERS.iter().any(|(name, digits)| *digits == number && counts(name))
    };
    as_digits || source.split(|c: char| !c.is_alphanumeric()).any(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_must_stand_in_the_source() {
        let source = "The queue is a SQLite table\nOne file to back up; at most 30 jobs in src/queue.rs, TZ=UTC, three retries, often six thousand lines; {\"at\":\"2026-10-02T12:00:00Z\"}, due 2027-01-09";
        let days = ["2026-11-15".parse().unwrap(), "2026-10-02".parse().unwrap()];
        for (words, expected) in [
            ("The queue is a SQLite table.", false),
            ("Jobs are kept in one file, SQLite's own.", false),
            ("It runs in UTC since November 2026.", false),
            ("It holds 30 jobs and tries 3 times, see src/queue.rs.", false),
            ("Backups are easy: The file is copied.", false),
            ("It holds 300 jobs.", true),
            ("It holds 3000 jobs in 0 files.", true),
            ("The queue is a table in Postgres.", true),
            ("See src/Redis.rs.", true),
            ("It uses gpt4o.", true),
            ("Kafka is a queue.", false),
            ("It was said on 2026-11-15, and on November 15th.", false),
            ("Since 2 October 2026 it is so.", false),
            ("It is kept for 10 years.", true),
            ("It is due on 2027-01-09.", false),
            ("It is due on 2027-01-10.", true),
            ("It is kept for 9 years.", true),
            ("It is kept for 12 hours.", true),
            ("It is kept for 15 days.", true),
            ("It holds six thousand lines.", false),
            ("It holds five thousand lines.", true),
            ("Ten jobs at most.", true),
            ("Twenty jobs at most.", true),
            ("Thirty jobs at most, and one file.", false),
            ("Hundreds of jobs.", true),
            ("It holds ٣٠ jobs.", true),
            ("It holds ³0 jobs.", true),
        ] {
            assert_eq!(has_invented(words, source, &days), expected, "{words}");
        }
    }
}
