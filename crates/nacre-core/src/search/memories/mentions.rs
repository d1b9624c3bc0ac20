//! The files and symbols that a text names.
//!
//! Two memories that name the same file are kin, and `file:src/db.rs` finds both. What is named is
//! guessed from its shape alone: nothing is looked up, so a memory of a deleted file is found too.

/// More than this of one text is a listing, not a mention.
const MAX_MENTIONS: usize = 48;

/// Endings that no host or abbreviation has.
const EXTENSIONS: &[&str] = &[
    "bash", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "ex", "exs", "go", "gradle", "h",
    "hpp", "html", "ini", "java", "js", "json", "jsx", "kt", "lock", "lua", "md", "mjs", "php",
    "pl", "proto", "py", "rb", "rs", "scala", "sh", "sql", "svelte", "swift", "tf", "toml", "ts",
    "tsx", "txt", "vue", "xml", "yaml", "yml", "zig",
];

/// Paths of files, each once, as they are written.
pub fn files(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let is_path = |c: char| c.is_alphanumeric() || "_-./@+~".contains(c);
    for word in text.split(|c: char| !is_path(c)) {
        let word = word.trim_start_matches("./").trim_end_matches(['.', '/']);
        if found.len() < MAX_MENTIONS
            && names_file(word)
            && !found.iter().any(|known| known == word)
        {
            found.push(word.to_owned());
        }
    }
    found
}

/// Names of functions, types and settings that stand in backticks, each once.
pub fn symbols(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // Every second piece stands between two backticks.
    for quoted in text.split('`').skip(1).step_by(2) {
        let name = quoted.trim_end_matches("()").rsplit(['.', ':']).next().unwrap_or_default();
        if found.len() < MAX_MENTIONS && is_symbol(name) && !found.iter().any(|known| known == name)
        {
            found.push(name.to_owned());
        }
    }
    found
}

/// The last component of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn names_file(word: &str) -> bool {
    let Some((stem, extension)) = file_name(word).rsplit_once('.') else { return false };
    (3..=200).contains(&word.len())
        && !word.contains("//")
        && EXTENSIONS.binary_search(&extension.to_ascii_lowercase().as_str()).is_ok()
        && stem.chars().any(char::is_alphanumeric)
}

fn is_symbol(name: &str) -> bool {
    let mut chars = name.chars();
    (3..=80).contains(&name.len())
        && chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_sorted() {
        assert!(EXTENSIONS.is_sorted());
    }

    #[test]
    fn files_are_told_from_prose() {
        let text =
            "See `./src/db.rs`, (docs/a-b.md) and Cargo.toml. Not e.g. this, 1.5, x.com or src/.";
        assert_eq!(files(text), ["src/db.rs", "docs/a-b.md", "Cargo.toml"]);
    }

    #[test]
    fn symbols_stand_in_backticks() {
        assert_eq!(
            symbols("call `Store::open()` or `read_config`, not `a b` or open"),
            ["open", "read_config"]
        );
    }
}
