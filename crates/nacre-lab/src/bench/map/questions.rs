//! Questions with known answers, read from a file or generated from a project's symbols.

use std::path::Path;

use nacre_map::artifact::FileFacts;
use nacre_map::languages::{SymbolFacts, SymbolKind, Visibility};
use xxhash_rust::xxh3::xxh3_64;

use super::report::BenchQuestion;
use crate::AnyError;

pub(super) fn read(path: &Path) -> Result<Vec<BenchQuestion>, AnyError> {
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Generates questions about public symbols. The same code always produces the same questions.
pub(super) fn make(files: &[FileFacts], n_questions: usize) -> Vec<BenchQuestion> {
    let mut all: Vec<(u64, BenchQuestion)> = Vec::new();
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

/// Builds a question that does not spell the name exactly as the code does.
fn about(file: &FileFacts, symbol: &SymbolFacts) -> BenchQuestion {
    let folder = file.path.folder().rsplit('/').next().unwrap_or_default();
    let stem = file.path.name().split('.').next().unwrap_or_default();
    let words = split_words(last(symbol));
    BenchQuestion {
        question: format!("how does {words} work in {} {}", split_words(folder), split_words(stem)),
        find: vec![last(symbol).to_owned()],
        path: file.path.to_string(),
        contains: symbol.signature.clone(),
    }
}

/// Converts `readConfig_file` to `read config file`.
fn split_words(name: &str) -> String {
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
        assert_eq!(split_words("readConfig_file"), "read config file");
        assert_eq!(split_words("HTTPServer"), "httpserver");
    }
}
