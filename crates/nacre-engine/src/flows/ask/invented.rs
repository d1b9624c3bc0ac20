//! Whether a sentence names something, or a number, that what it cites does not name.
//!
//! A model that makes something up makes up a name or a number. Plain words may differ from those of the source; these may
//! not.

/// Words with a capital letter that name nothing of a project.
const CALENDAR: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "i",
];

const NUMBERS: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

/// Whether `words` name something that `source` does not.
pub(super) fn has_invented(words: &str, source: &str) -> bool {
    let source = source.to_lowercase();
    let mut starts_sentence = true;
    words.split_whitespace().any(|piece| {
        let core = piece.trim_matches(|c: char| !c.is_alphanumeric());
        if core.is_empty() {
            return false;
        }
        let is_first =
            std::mem::replace(&mut starts_sentence, piece.ends_with(['.', ':', '!', '?']));
        let parts = core.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
        let mut is_first_part = is_first;
        parts.filter(|part| !part.is_empty()).any(|part| {
            let is_first = std::mem::replace(&mut is_first_part, false);
            is_missing(part, is_first, &source)
        })
    })
}

/// Whether a word is a name or a number, and `source` lacks it.
fn is_missing(word: &str, starts_sentence: bool, source: &str) -> bool {
    let lower = word.to_lowercase();
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return !has_number(source, word);
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

/// Whether a text holds a number, as digits of its own or as a word.
fn has_number(source: &str, number: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let as_digits = source.match_indices(number).any(|(at, found)| {
        !source[..at].ends_with(is_digit) && !source[at + found.len()..].starts_with(is_digit)
    });
    let name = number.parse::<usize>().ok().and_then(|number| NUMBERS.get(number));
    as_digits || name.is_some_and(|name| source.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_must_stand_in_the_source() {
        let source = "The queue is a SQLite table\nOne file to back up; at most 30 jobs in src/queue.rs, TZ=UTC, three retries. 2026-11-15";
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
        ] {
            assert_eq!(has_invented(words, source), expected, "{words}");
        }
    }
}
