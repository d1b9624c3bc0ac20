//! What can be told of a text without knowing the question: whether it asks, dates or counts.

/// Words that date a text.
const TIME_WORDS: &[&str] = &[
    "ago",
    "april",
    "august",
    "december",
    "february",
    "friday",
    "january",
    "july",
    "june",
    "last",
    "march",
    "monday",
    "month",
    "next",
    "november",
    "october",
    "recently",
    "saturday",
    "september",
    "since",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "wednesday",
    "week",
    "weekend",
    "year",
    "years",
    "yesterday",
];

/// Words that count.
const NUMBER_WORDS: &[&str] = &[
    "couple", "eight", "few", "five", "four", "nine", "once", "one", "seven", "several", "six",
    "ten", "three", "twice", "two",
];

/// Words of one text that are looked at.
const MAX_WORDS: usize = 2000;

const ASKS: u8 = 1;
const HAS_TIME: u8 = 2;
const HAS_NUMBER: u8 = 4;

/// A text's traits, as one byte of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits(u8);

impl Traits {
    pub(super) fn of(text: &str) -> Self {
        let mut bits = if text.trim_end().ends_with('?') { ASKS } else { 0 };
        let mut lower = String::new();
        for word in text.split(|c: char| !c.is_alphanumeric()).take(MAX_WORDS) {
            lower.clear();
            lower.push_str(word);
            lower.make_ascii_lowercase();
            if TIME_WORDS.binary_search(&lower.as_str()).is_ok() || is_dated(&lower) {
                bits |= HAS_TIME;
            }
            if NUMBER_WORDS.binary_search(&lower.as_str()).is_ok() || is_number(&lower) {
                bits |= HAS_NUMBER;
            }
        }
        Self(bits)
    }

    pub(super) fn from_code(code: u8) -> Self {
        Self(code)
    }

    pub(super) fn code(self) -> u8 {
        self.0
    }

    /// It ends with a question.
    pub(super) fn asks(self) -> bool {
        self.0 & ASKS != 0
    }

    pub(super) fn has_time(self) -> bool {
        self.0 & HAS_TIME != 0
    }

    pub(super) fn has_number(self) -> bool {
        self.0 & HAS_NUMBER != 0
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// A year, or a day such as `3rd`.
fn is_dated(word: &str) -> bool {
    let is_year = is_number(word) && word.len() == 4 && word.starts_with("20");
    let ordinal = ["st", "nd", "rd", "th"].iter().find_map(|tail| word.strip_suffix(tail));
    is_year || ordinal.is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_lists_are_sorted() {
        assert!(TIME_WORDS.is_sorted() && NUMBER_WORDS.is_sorted());
    }

    #[test]
    fn texts_show_their_traits() {
        let traits = |text| {
            let traits = Traits::of(text);
            (traits.asks(), traits.has_time(), traits.has_number())
        };
        assert_eq!(traits("How long? "), (true, false, false));
        assert_eq!(traits("We moved last week."), (false, true, false));
        assert_eq!(traits("on the 3rd, in 2026"), (false, true, true));
        assert_eq!(traits("Two retries"), (false, false, true));
        assert_eq!(traits(""), (false, false, false));
    }
}
