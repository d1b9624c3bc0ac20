//! The files and symbols that a text names.
//!
//! Two memories that name the same file are kin, and `file:src/db.rs` finds both. What is named is
//! guessed from its shape alone: nothing is looked up, so a memory of a deleted file is found too.

/// More than this of one text is a listing, not a mention.
const MAX_MENTIONS: usize = 48;

/// What stands later in a text is not looked at.
const MAX_SCANNED_BYTES: usize = 16 << 10;

/// Endings that no host or abbreviation has.
const EXTENSIONS: &[&str] = &[
    "bash", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "ex", "exs", "go", "gradle", "h",
    "hpp", "html", "ini", "java", "js", "json", "jsx", "kt", "lock", "lua", "md", "mjs", "php",
    "pl", "proto", "py", "rb", "rs", "scala", "sh", "sql", "svelte", "swift", "tf", "toml", "ts",
    "tsx", "txt", "vue", "xml", "yaml", "yml", "zig",
];

/// Paths of files, each once, as they are written.
pub fn files(text: &str) -> Vec<String> {
    let is_path = |c: char| c.is_alphanumeric() || "_-./@+~".contains(c);
    let words = start_of(text).split(|c: char| !is_path(c));
    let words = words.map(|word| word.trim_start_matches("./").trim_end_matches(['.', '/']));
    first_mentions(words, names_file)
}

/// Names of functions, types and settings that stand in backticks, each once.
pub fn symbols(text: &str) -> Vec<String> {
    // Every second piece stands between two backticks.
    let quoted = start_of(text).split('`').skip(1).step_by(2);
    let names = quoted.filter_map(|quoted| quoted.trim_end_matches("()").rsplit(['.', ':']).next());
    first_mentions(names, is_symbol)
}

/// The part of a text that is looked at.
fn start_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_SCANNED_BYTES)]
}

/// The first words that are what is asked for, each once. What follows is not looked at.
fn first_mentions<'t>(
    words: impl Iterator<Item = &'t str>,
    is_mention: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words {
        if is_mention(word) && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
        if found.len() == MAX_MENTIONS {
            break;
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
    fn no_word_is_looked_at_after_the_last_mention_that_counts() {
        let words: Vec<String> = (0..1_000).map(|number| format!("src/f{number}.rs")).collect();
        let n_seen = std::cell::Cell::new(0);
        let seen = words.iter().map(String::as_str).inspect(|_| n_seen.set(n_seen.get() + 1));
        assert_eq!(first_mentions(seen, names_file).len(), MAX_MENTIONS);
        assert_eq!(n_seen.get(), MAX_MENTIONS);
    }

    #[test]
    fn only_the_start_of_a_long_text_is_looked_at() {
        let long =
            format!("src/a.rs `open_it` {} src/b.rs `close_it`", "ä ".repeat(MAX_SCANNED_BYTES));
        assert_eq!(files(&long), ["src/a.rs"]);
        assert_eq!(symbols(&long), ["open_it"]);
    }

    #[test]
    fn symbols_stand_in_backticks() {
        assert_eq!(
            symbols("call `Store::open()` or `read_config`, not `a b` or open"),
            ["open", "read_config"]
        );
    }
}
