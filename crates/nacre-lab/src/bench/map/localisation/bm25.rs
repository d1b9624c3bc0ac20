//! A simple baseline: BM25 over paths and contents.
//!
//! Only words that occur in the given tasks are counted. Identifiers are split into their parts, a
//! word in a path counts four times, and tests, examples, copies and generated files have half the
//! weight.

use std::collections::HashMap;

use nacre_map::indexer::Current;
use nacre_map::slices::is_own_source;

/// A typical value for this BM25 constant.
const K1: f64 = 1.2;
const B: f64 = 0.75;

const PATH_WEIGHT: f64 = 4.0;

/// Weight of files outside the project's own code.
const ASIDE: f64 = 0.5;

/// Minimum IDF, so that words in nearly all files still have a small positive weight.
const MIN_IDF: f64 = 1e-6;

const MIN_WORD_CHARS: usize = 3;

const STOP_WORDS: &[&str] = &[
    "add", "and", "are", "fix", "for", "from", "make", "not", "remove", "that", "the", "this",
    "use", "when", "with",
];

#[derive(Debug, Default)]
pub(super) struct WordSearch {
    words: HashMap<String, Vec<(usize, f64)>>,
    files: Vec<SearchedFile>,
}

#[derive(Debug)]
struct SearchedFile {
    path: String,
    n_words: f64,
}

impl WordSearch {
    pub(super) fn read<'t>(current: &Current, tasks: impl Iterator<Item = &'t str>) -> Self {
        let mut search = Self::default();
        search.words.extend(tasks.flat_map(task_words).map(|word| (word, Vec::new())));
        for (path, _) in current.artifact.files() {
            search.add(path, &current.text(path).unwrap_or_default());
        }
        search
    }

    fn add(&mut self, path: &str, text: &str) {
        let file = self.files.len();
        let mut n_words = 0.0;
        for (text, weight) in [(path, PATH_WEIGHT), (text, 1.0)] {
            each_word(text, |word| {
                n_words += 1.0;
                if let Some(found) = self.words.get_mut(word) {
                    match found.last_mut() {
                        Some((last, count)) if *last == file => *count += weight,
                        _ => found.push((file, weight)),
                    }
                }
            });
        }
        self.files.push(SearchedFile { path: path.to_owned(), n_words });
    }

    pub(super) fn rank(&self, task: &str) -> Vec<&str> {
        let n_files = number(self.files.len());
        let all_words: f64 = self.files.iter().map(|file| file.n_words).sum();
        let average = all_words / n_files.max(1.0);
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for word in task_words(task) {
            let found = self.words.get(&word).map(Vec::as_slice).unwrap_or_default();
            let n_found = number(found.len());
            let idf = ((n_files - n_found + 0.5) / (n_found + 0.5)).ln().max(MIN_IDF);
            for (file, count) in found {
                let length = self.files[*file].n_words / average.max(1.0);
                let share = count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
                *scores.entry(*file).or_default() += idf * share;
            }
        }
        let weighed = |(file, score): (usize, f64)| {
            let path = self.files[file].path.as_str();
            (if is_own_source(path) { score } else { score * ASIDE }, path)
        };
        let mut ranked: Vec<(f64, &str)> = scores.into_iter().map(weighed).collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
        ranked.into_iter().map(|(_, path)| path).collect()
    }
}

fn task_words(task: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    each_word(task, |word| {
        let says_something = MIN_WORD_CHARS <= word.chars().count() && !STOP_WORDS.contains(&word);
        if says_something && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    });
    words
}

/// Calls `visit` for each word of the text, in lower case. For example, `readHTTPFile_2` contains
/// `read`, `http`, `file` and `2`.
fn each_word(text: &str, mut visit: impl FnMut(&str)) {
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        let is_next_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let begins = c.is_numeric() != before.is_numeric()
            || c.is_uppercase() && (!before.is_uppercase() || is_next_lower);
        if (begins || !c.is_alphanumeric()) && !word.is_empty() {
            visit(&word);
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    if !word.is_empty() {
        visit(&word);
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_in_their_parts() {
        for (text, expected) in [
            ("readHTTPFile_2 x", "read http file 2 x"),
            ("snake_case CONST_NAME", "snake case const name"),
            ("Größe, v1.2", "größe v 1 2"),
            ("", ""),
        ] {
            let mut words = Vec::new();
            each_word(text, |word| words.push(word.to_owned()));
            assert_eq!(words.join(" "), expected);
        }
        assert_eq!(task_words("add the tide to the Tide of pearls"), ["tide", "pearls"]);
    }

    #[test]
    fn rare_words_and_short_files_come_first_and_tests_behind() {
        let mut search = WordSearch::default();
        let task = "measure the tide of pearls";
        search.words.extend(task_words(task).into_iter().map(|word| (word, Vec::new())));
        for (path, text) in [
            ("src/long.rs", format!("tide {}", "other ".repeat(200))),
            ("src/short.rs", "tide and nothing else".to_owned()),
            ("src/common.rs", "measure".to_owned()),
            ("src/measure.rs", "measure".to_owned()),
            ("src/none.rs", "nothing".to_owned()),
            ("tests/short.rs", "tide and nothing else".to_owned()),
        ] {
            search.add(path, &text);
        }
        let ranked = search.rank(task);
        let place = |path: &str| ranked.iter().position(|ranked| *ranked == path);
        assert!(place("src/short.rs") < place("src/long.rs"), "{ranked:?}");
        assert!(place("src/measure.rs") < place("src/common.rs"), "{ranked:?}");
        assert!(place("src/short.rs") < place("tests/short.rs"), "{ranked:?}");
        assert_eq!(place("src/none.rs"), None);
    }
}
