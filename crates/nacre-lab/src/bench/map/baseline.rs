//! Simulates an agent that has no map and reads the file list, search results and entire files.
//!
//! Each step has the same limits as real agent tools, so that the comparison is fair.

use nacre_map::indexer::Current;

use super::report::BenchQuestion;

const MAX_LINES: usize = 100;
const MAX_LINE_BYTES: usize = 200;

/// After opening this many files, a real agent would try another search.
const MAX_OPENED: usize = 5;

const MAX_FILE_LINES: usize = 2_000;

pub(super) struct Texts {
    files: Vec<(String, String)>,
}

pub(super) struct Reading {
    pub(super) text: String,
    pub(super) has_answer: bool,
}

impl Texts {
    pub(super) fn read(current: &Current) -> Self {
        let files = current.artifact.files();
        let text = |path: &str| current.text(path).map(|text| (path.to_owned(), text));
        Self { files: files.iter().filter_map(|(path, _)| text(path)).collect() }
    }

    pub(super) fn listing(&self) -> String {
        self.files.iter().flat_map(|(path, _)| [path.as_str(), "\n"]).collect()
    }

    /// Searches for the words of the question, and opens the files with the most matching lines
    /// until one of them contains the answer.
    pub(super) fn answer(&self, question: &BenchQuestion) -> Reading {
        let mut found = String::new();
        let mut counts: Vec<(usize, &str, &str)> = Vec::new();
        let mut n_shown = 0;
        for (path, text) in &self.files {
            let is_hit =
                |line: &&str| question.find.iter().any(|word| line.contains(word.as_str()));
            let lines: Vec<(usize, &str)> =
                text.lines().enumerate().filter(|(_, line)| is_hit(line)).collect();
            for (number, line) in lines.iter().take(MAX_LINES.saturating_sub(n_shown)) {
                let end = line.floor_char_boundary(MAX_LINE_BYTES);
                found.push_str(&format!("{path}:{}:{}\n", number + 1, &line[..end]));
                n_shown += 1;
            }
            if !lines.is_empty() {
                counts.push((lines.len(), path, text));
            }
        }
        counts.sort_by(|one, other| (other.0, one.1).cmp(&(one.0, other.1)));
        let mut reading = Reading { text: found, has_answer: false };
        for (_, path, text) in counts.into_iter().take(MAX_OPENED) {
            for line in text.lines().take(MAX_FILE_LINES) {
                reading.text.push_str(line);
                reading.text.push('\n');
            }
            reading.has_answer = path == question.path;
            if reading.has_answer {
                break;
            }
        }
        reading
    }
}
