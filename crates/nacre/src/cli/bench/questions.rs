//! Questions with known answers, read from a file or made from a project's own symbols.

use std::path::Path;

use nacre_map::artifact::FileFacts;
use nacre_map::languages::{SymbolFacts, SymbolKind, Visibility};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use nacre_ops::OpError;

/// A question about code, and how to tell that it is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Question {
    pub(super) question: String,
    /// Words that somebody without a map would look for.
    pub(super) find: Vec<String>,
    /// The file that has the answer.
    pub(super) path: String,
    /// What an answer must contain, spacing aside.
    pub(super) contains: String,
}

/// Reads one question a line.
pub(super) fn read(path: &Path) -> Result<Vec<Question>, OpError> {
    let text = std::fs::read_to_string(path).map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed(format!("Cannot read `{}`", path.display()))
    })?;
    let mut questions = Vec::new();
    for (idx, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let question = serde_json::from_str(line).map_err(|error| OpError {
            causes: vec![error.to_string()],
            ..OpError::failed(format!("Line {} of `{}` is no question", idx + 1, path.display()))
        })?;
        questions.push(question);
    }
    Ok(questions)
}

/// Makes questions about public symbols, always the same ones for the same code.
pub(super) fn made(files: &[FileFacts], n_questions: usize) -> Vec<Question> {
    let mut all: Vec<(u64, Question)> = Vec::new();
    for file in files {
        let is_test = file.analysis.is_test || file.path.as_str().contains("test");
        for symbol in file.analysis.symbols.iter().filter(|symbol| !is_test && is_askable(symbol)) {
            let question = about(file, symbol);
            let order = xxh3_64(format!("{} {}", file.path, symbol.name).as_bytes());
            all.push((order, question));
        }
    }
    all.sort_by(|one, other| (one.0, &one.1.path).cmp(&(other.0, &other.1.path)));
    all.into_iter().take(n_questions).map(|(_, question)| question).collect()
}

/// Something with a name that says what it does.
fn is_askable(symbol: &SymbolFacts) -> bool {
    let is_kind = matches!(
        symbol.kind,
        SymbolKind::Function
            | SymbolKind::Method
            | SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Interface
    );
    let name = last(symbol);
    let is_named = 8 <= name.len()
        && !name.starts_with('_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_kind
        && is_named
        && symbol.visibility == Visibility::Public
        && symbol.first_line < symbol.last_line
}

fn last(symbol: &SymbolFacts) -> &str {
    symbol.name.rsplit([':', '.']).next().unwrap_or(&symbol.name)
}

/// A question in words, without the name as the code spells it.
fn about(file: &FileFacts, symbol: &SymbolFacts) -> Question {
    let folder = file.path.folder().rsplit('/').next().unwrap_or_default();
    let stem = file.path.name().split('.').next().unwrap_or_default();
    let words = spaced(last(symbol));
    Question {
        question: format!("how does {words} work in {} {}", spaced(folder), spaced(stem)),
        find: vec![last(symbol).to_owned()],
        path: file.path.to_string(),
        contains: symbol.signature.clone(),
    }
}

/// `readConfig_file` as `read config file`.
fn spaced(name: &str) -> String {
    let mut words = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && was_lower {
            words.push(' ');
        }
        was_lower = c.is_lowercase();
        words.extend(if c.is_alphanumeric() {
            c.to_lowercase().collect::<Vec<_>>()
        } else {
            vec![' ']
        });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words() {
        assert_eq!(spaced("readConfig_file"), "read config file");
        assert_eq!(spaced("HTTPServer"), "httpserver");
    }
}
