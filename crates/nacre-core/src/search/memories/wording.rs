//! What the wording of a prompt tells, whatever the project: whether it is about text and tidiness, about what surrounds the
//! code, or describes a change or a case of its own.
//!
//! The two lists were written by hand. The weights of [`STEMS`] were fitted by `tools/fit-prompts.py` on labelled prompts of ten
//! projects; only stems that occur in six of them were taken, so that none is about one project's topic.

use std::collections::BTreeSet;

use crate::search::words;

/// Words about text for people and about tidying, which need no memory more often than others. Sorted.
#[rustfmt::skip]
const TIDYING: &[&str] = &[
    "adr", "alias", "alphabetical", "alphabetically", "announcement", "blog", "bullet", "bullets",
    "caption", "changelog", "chapter", "cleanup", "comment", "comments", "copyright",
    "deprecated", "doc", "docs", "docstring", "docstrings", "documentation", "email", "faq",
    "fixme", "formatter", "formatting", "getter", "glossary", "guide", "heading", "headings",
    "headline", "helper", "imports", "includes", "indent", "indentation", "javadoc", "lint",
    "linter", "mail", "manual", "markdown", "md", "meeting", "paragraph", "pdf", "presentation",
    "prettier", "readme", "rename", "reorder", "screenshot", "screenshots", "section", "shorter",
    "slides", "sort", "sorted", "spelling", "summarise", "summarize", "summary", "tidy", "todo",
    "todos", "translate", "translation", "tutorial", "typo", "typos", "unused", "whitespace",
    "wording",
];

/// Words about what surrounds the code: how it looks, version control, tools, throwaway programs. Sorted.
#[rustfmt::skip]
const SURROUNDINGS: &[&str] = &[
    "align", "aligned", "amend", "animation", "apt", "avatar", "banner", "blame", "blurry",
    "branch", "brew", "bump", "button", "buttons", "cherry", "color", "colors", "colour",
    "colours", "commit", "conflict", "conflicts", "corners", "csv", "dependencies", "dependency",
    "diff", "docker", "dropdown", "editor", "emoji", "example", "examples", "favicon", "font",
    "footer", "git", "homebrew", "icon", "icons", "ide", "install", "intellij", "layout",
    "legend", "logo", "matplotlib", "merge", "npm", "nvm", "package", "packages", "padding",
    "pip", "placeholder", "plot", "plugin", "pr", "pull", "push", "pyenv", "rebase", "regex",
    "regexp", "revert", "sample", "script", "sidebar", "snippet", "spinner", "squash", "stash",
    "submodule", "theme", "toolchain", "tooltip", "undo", "upgrade", "venv", "vim", "vscode",
];

/// Stems of words and what each says for a fitting memory. Somebody who describes a case or a change in whole sentences ("after",
/// "we", "new", "user") touches on what was decided or learned; somebody who talks to the agent ("what", "you", "again") does
/// so less often. Sorted.
const STEMS: &[(&str, f32)] = &[
    ("a", 0.37),
    ("add", 0.36),
    ("after", 0.76),
    ("again", -0.12),
    ("all", 0.19),
    ("and", 0.28),
    ("are", 0.15),
    ("as", 0.12),
    ("at", 0.30),
    ("but", 0.17),
    ("by", 0.32),
    ("call", 0.15),
    ("can", 0.33),
    ("code", -0.36),
    ("commit", -0.26),
    ("creat", 0.27),
    ("day", 0.17),
    ("doc", -0.73),
    ("doe", -0.19),
    ("don", -0.15),
    ("drop", 0.15),
    ("everi", 0.14),
    ("file", -0.19),
    ("first", -0.14),
    ("fix", -0.18),
    ("for", 0.26),
    ("get", 0.30),
    ("have", -0.29),
    ("i", 0.35),
    ("in", 0.13),
    ("instal", -0.18),
    ("is", 0.11),
    ("it", 0.52),
    ("keep", -0.28),
    ("let", 0.18),
    ("like", 0.13),
    ("me", -0.29),
    ("my", 0.19),
    ("name", -0.17),
    ("new", 0.35),
    ("no", -0.35),
    ("not", -0.18),
    ("now", 0.21),
    ("on", 0.48),
    ("one", 0.26),
    ("onli", 0.26),
    ("option", -0.11),
    ("other", 0.12),
    ("page", -0.23),
    ("renam", -0.23),
    ("script", 0.16),
    ("set", 0.22),
    ("sinc", 0.18),
    ("so", 0.34),
    ("some", 0.23),
    ("start", -0.11),
    ("take", -0.12),
    ("test", 0.22),
    ("that", 0.33),
    ("the", 0.26),
    ("then", 0.19),
    ("this", 0.16),
    ("time", 0.48),
    ("to", 0.31),
    ("user", 0.39),
    ("version", -0.23),
    ("want", 0.16),
    ("we", 0.53),
    ("what", -0.46),
    ("when", 0.27),
    ("where", 0.27),
    ("whi", -0.12),
    ("which", -0.19),
    ("with", 0.40),
    ("you", -0.31),
];

/// What the wording of a prompt tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wording {
    /// The logarithm of 1 and the number of words about text and tidying.
    pub tidying: f32,
    /// The same for what surrounds the code.
    pub surroundings: f32,
    /// The weights of its stems, added up.
    pub phrasing: f32,
}

impl Wording {
    pub(super) fn of(prompt: &str) -> Self {
        let prompt = prompt.to_lowercase();
        let found: BTreeSet<&str> = words_of(&prompt).collect();
        let n_of = |list: &[&str]| {
            let n_listed = found.iter().filter(|word| list.binary_search(word).is_ok()).count();
            (n_listed as f32).ln_1p()
        };
        let stems: BTreeSet<String> = found.iter().map(|word| words::stem(word)).collect();
        Self {
            tidying: n_of(TIDYING),
            surroundings: n_of(SURROUNDINGS),
            phrasing: stems.iter().filter_map(|stem| weight_of(stem)).sum(),
        }
    }
}

fn words_of(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

fn weight_of(stem: &str) -> Option<f32> {
    let place = STEMS.binary_search_by_key(&stem, |(known, _)| known).ok()?;
    Some(STEMS[place].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_apart() {
        assert!(TIDYING.is_sorted() && SURROUNDINGS.is_sorted());
        assert!(STEMS.is_sorted_by_key(|(stem, _)| stem));
        assert!(TIDYING.iter().all(|word| SURROUNDINGS.binary_search(word).is_err()));
    }

    #[test]
    fn words_meet_their_stems() {
        for word in ["creating", "users", "only", "every", "does", "why", "installed", "a", "we"] {
            assert!(weight_of(&words::stem(word)).is_some(), "{word}");
        }
        assert_eq!(weight_of(&words::stem("payment")), None);
    }

    #[test]
    fn a_word_counts_once_and_in_any_form() {
        let once = Wording::of("Rename it");
        assert_eq!(once, Wording::of("it: rename, RENAME; rename_it"));
        assert!(once.tidying > 0.0 && once.surroundings == 0.0);
        assert_eq!(Wording::of("creates").phrasing, Wording::of("created").phrasing);
        assert!(Wording::of("created").phrasing > 0.0);
        assert_eq!(Wording::of("ﷺ \u{0} ###"), Wording::default());
    }

    #[test]
    fn a_case_says_more_than_talk() {
        let case = Wording::of("after the release a user gets it twice");
        let talk = Wording::of("what do you have again");
        assert!(case.phrasing > 1.0 && talk.phrasing < -0.5, "{case:?} {talk:?}");
    }
}
