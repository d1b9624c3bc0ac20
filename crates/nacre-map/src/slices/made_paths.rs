//! Finds files that the project marks as generated with `linguist-generated` in `.gitattributes`.
//!
//! Rules apply as in git: the last matching rule takes precedence, and rules in inner directories
//! come after those in outer directories. A pattern without `/` applies to the directory of its
//! `.gitattributes` file and everything below it. A pattern that ends with `/` never matches a
//! file.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::text_facts::ReadText;

const RULES_FILE: &str = ".gitattributes";

const ATTRIBUTE: &str = "linguist-generated";

const MAX_RULE_FILES: usize = 64;
const MAX_RULES: usize = 400;

const MAX_PATTERN_BYTES: usize = 500;

#[derive(Debug, Default)]
pub struct MadePaths {
    rules: GlobSet,
    is_made: Vec<bool>,
}

impl MadePaths {
    pub fn read<'p>(paths: impl Iterator<Item = &'p str>, text: &ReadText<'_>) -> Self {
        let mut files: Vec<&str> = paths.filter(|path| Self::are_in(path)).collect();
        files.sort_by_key(|path| (path.matches('/').count(), *path));
        let (mut set, mut is_made) = (GlobSetBuilder::new(), Vec::new());
        for path in files.iter().take(MAX_RULE_FILES) {
            let folder = path.strip_suffix(RULES_FILE).unwrap_or_default();
            let text = text(path).unwrap_or_default();
            for (pattern, value) in text.lines().filter_map(rule) {
                let glob = glob_in(folder, pattern);
                let built = glob
                    .and_then(|glob| GlobBuilder::new(&glob).literal_separator(true).build().ok());
                let Some(glob) = built.filter(|_| is_made.len() < MAX_RULES) else { continue };
                set.add(glob);
                is_made.push(value);
            }
        }
        // If the rules' total size is too large, none of them are applied.
        set.build().map(|rules| Self { rules, is_made }).unwrap_or_default()
    }

    pub fn are_in(path: &str) -> bool {
        let folder = path.strip_suffix(RULES_FILE);
        folder.is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
    }

    pub fn has(&self, path: &str) -> bool {
        if self.is_made.is_empty() {
            return false;
        }
        // Rules are in order, and the last matching one takes precedence.
        let last = self.rules.matches(path).into_iter().max();
        last.and_then(|last| self.is_made.get(last)).copied().unwrap_or_default()
    }
}

fn rule(line: &str) -> Option<(&str, bool)> {
    let line = line.trim();
    let (pattern, attributes) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_once([' ', '\t'])?,
    };
    let is_macro = pattern.starts_with("[attr]");
    let is_pattern =
        !is_macro && !pattern.starts_with(['#', '!']) && pattern.len() <= MAX_PATTERN_BYTES;
    let value = |word: &str| {
        let (name, value) = word.split_once('=').unwrap_or((word, "true"));
        let is_unset = name.strip_prefix(['-', '!']) == Some(ATTRIBUTE);
        let is_named = is_unset || name == ATTRIBUTE;
        is_named.then_some(!is_unset && value != "false")
    };
    // If a line sets the attribute several times, the last value counts.
    let value = attributes.split_whitespace().filter_map(value).next_back()?;
    is_pattern.then_some((pattern, value))
}

/// Converts a pattern in a directory's rules file to a glob relative to the root. Returns `None` if
/// the pattern cannot match a file.
fn glob_in(folder: &str, pattern: &str) -> Option<String> {
    if pattern.is_empty() || pattern.ends_with('/') {
        return None;
    }
    let folder = globset::escape(folder);
    Some(match pattern.strip_prefix('/') {
        Some(here) => format!("{folder}{here}"),
        None if pattern.contains('/') => format!("{folder}{pattern}"),
        None => format!("{folder}**/{pattern}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rule_that_speaks_of_a_file_decides() {
        let rules = [
            (
                ".gitattributes",
                "# lock files\n*.lock linguist-generated\ndist/** -diff linguist-generated=true\n\
                 /api.ts linguist-generated text\n\"with space.js\" linguist-generated\nsrc/ linguist-generated\n\
                 *.txt text eol=lf\n",
            ),
            (
                "dist/.gitattributes",
                "hand.js -linguist-generated\nother.js linguist-generated=false\n",
            ),
            ("pkg/[a]/.gitattributes", "*.go linguist-generated\n"),
        ];
        let text = |path: &str| {
            rules.iter().find(|(file, _)| *file == path).map(|(_, text)| (*text).to_owned())
        };
        let made = MadePaths::read(rules.iter().map(|(path, _)| *path), &text);
        let cases = [
            ("Cargo.lock", true),
            ("deep/er/some.lock", true),
            ("dist/a.js", true),
            ("dist/deep/a.js", true),
            ("dist/hand.js", false),
            ("dist/deep/hand.js", false),
            ("dist/other.js", false),
            ("api.ts", true),
            ("src/api.ts", false),
            ("with space.js", true),
            ("src/main.rs", false),
            ("notes.txt", false),
            ("pkg/[a]/deep/x.go", true),
            ("pkg/a/x.go", false),
        ];
        for (path, expected) in cases {
            assert_eq!(made.has(path), expected, "{path}");
        }
        assert!(!MadePaths::default().has("a.lock"));
    }

    #[test]
    fn rules_that_make_no_sense_or_are_too_many_do_not_hold() {
        let many = "a*b*c*d.ts linguist-generated\n".repeat(MAX_RULES * 2);
        let long = format!("{}.ts linguist-generated\n", "x".repeat(MAX_PATTERN_BYTES + 1));
        for rules in [
            "[ linguist-generated\n",
            "linguist-generated\n",
            "\"a linguist-generated\n",
            "[attr]x linguist-generated",
            &long,
        ] {
            let made = MadePaths::read([".gitattributes"].into_iter(), &|_| Some(rules.to_owned()));
            assert!(!made.has("a.ts") && made.is_made.is_empty(), "{rules}");
        }
        let made = MadePaths::read([".gitattributes"].into_iter(), &|_| Some(many.clone()));
        assert_eq!(made.is_made.len(), MAX_RULES);
    }
}
