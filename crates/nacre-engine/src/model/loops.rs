//! Notices an answer that says the same thing over and over: small models do, until their last token.
//!
//! Only text that a person would read is looked at. What a model writes into a file may repeat itself.

/// So often in a row the same words are no answer any more.
const TIMES: usize = 6;

/// As many sentences may follow each other before they come again.
const MAX_PERIOD: usize = 3;

/// Words that come again have so many letters together: rows of marks are no words.
const MIN_LETTERS: usize = 20;

/// Only so much of the end is looked at.
const LOOKED_AT: usize = 8_000;

/// Where the first repetition begins, if the text ends with words that are said again and again.
pub(super) fn repeats_from(text: &str) -> Option<usize> {
    let mut start = text.len().saturating_sub(LOOKED_AT);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let sentences = sentences(&text[start..]);
    (1..=MAX_PERIOD).find_map(|period| {
        let needed = period * TIMES;
        let from = sentences.len().checked_sub(needed)?;
        let last = &sentences[from..];
        let n_letters: usize = last[..period]
            .iter()
            .map(|(_, words)| words.chars().filter(|c| c.is_alphabetic()).count())
            .sum();
        let is_same = last.iter().zip(&last[period..]).all(|((_, one), (_, other))| one == other);
        if n_letters < MIN_LETTERS || !is_same {
            return None;
        }
        // They may have begun long before.
        let earlier = (0..from).rev().take_while(|at| sentences[*at].1 == sentences[at + period].1);
        let first = earlier.last().unwrap_or(from);
        Some(start + sentences[first + period].0)
    })
}

/// The sentences that are whole, with where each begins.
fn sentences(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, c) in text.char_indices() {
        if matches!(c, '.' | '!' | '?' | '\n') {
            let words = text[from..at].trim();
            if !words.is_empty() {
                found.push((from, words));
            }
            from = at + c.len_utf8();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_come_again_and_again_are_noticed() {
        let lock = "The lock is held until the job is claimed. ";
        for (text, expected) in [
            (
                format!("It waits. {}", lock.repeat(6)),
                Some(format!("It waits. {}", lock.trim_end())),
            ),
            (
                format!("It waits. {}", lock.repeat(30)),
                Some(format!("It waits. {}", lock.trim_end())),
            ),
            (format!("It waits. {}", lock.repeat(5)), None),
            (format!("{}Then it ends.", lock.repeat(6)), None),
            (
                "Read the file.\nThen answer it.\n".repeat(6),
                Some("Read the file.\nThen answer it.".to_owned()),
            ),
            ("---\n".repeat(50), None),
            ("ok.\n".repeat(50), None),
            ((1..40).map(|n| format!("Step {n} of the plan is done.\n")).collect(), None),
            (format!("{}ü", "ä".repeat(9_000)), None),
        ] {
            let kept = repeats_from(&text).map(|from| text[..from].trim_end().to_owned());
            assert_eq!(kept, expected, "{}", &text[..20]);
        }
    }
}
