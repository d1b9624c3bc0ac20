//! What the wording of a prompt tells, whatever the project: whether it is about text and tidiness, about what surrounds the
//! code, or describes a change or a case of its own.
//!
//! The two lists were written by hand. The weights of [`STEMS`] were fitted by `tools/fit-prompts.py` on labelled prompts of
//! eighteen projects; only stems that occur in nine of them were taken, so that none is about one project's topic.

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
    ("a", 0.59),
    ("about", -0.09),
    ("add", 0.35),
    ("after", 0.55),
    ("again", -0.08),
    ("all", 0.27),
    ("and", 0.50),
    ("are", 0.26),
    ("as", 0.24),
    ("at", 0.23),
    ("but", 0.14),
    ("by", 0.22),
    ("call", 0.12),
    ("can", 0.28),
    ("chang", -0.09),
    ("code", -0.23),
    ("commit", -0.35),
    ("day", 0.28),
    ("doc", -0.67),
    ("doe", -0.18),
    ("don", -0.16),
    ("drop", 0.10),
    ("everi", 0.09),
    ("file", -0.23),
    ("first", -0.13),
    ("for", 0.14),
    ("from", 0.22),
    ("get", 0.38),
    ("give", 0.14),
    ("have", -0.09),
    ("i", 0.31),
    ("if", 0.11),
    ("in", 0.25),
    ("is", 0.10),
    ("it", 0.26),
    ("just", 0.14),
    ("keep", -0.27),
    ("last", 0.12),
    ("let", 0.19),
    ("like", 0.21),
    ("list", -0.16),
    ("make", 0.09),
    ("me", -0.18),
    ("minut", 0.13),
    ("my", 0.22),
    ("name", -0.13),
    ("need", 0.16),
    ("new", 0.45),
    ("next", 0.15),
    ("no", -0.25),
    ("not", -0.15),
    ("now", 0.21),
    ("number", -0.11),
    ("on", 0.52),
    ("one", 0.17),
    ("open", 0.10),
    ("option", -0.11),
    ("or", -0.19),
    ("other", 0.14),
    ("our", 0.25),
    ("over", 0.09),
    ("per", 0.12),
    ("put", 0.08),
    ("renam", -0.19),
    ("run", 0.12),
    ("save", 0.10),
    ("say", 0.13),
    ("second", 0.14),
    ("see", 0.18),
    ("set", 0.15),
    ("show", 0.10),
    ("sinc", 0.17),
    ("so", 0.38),
    ("some", 0.23),
    ("start", -0.10),
    ("step", 0.12),
    ("still", -0.08),
    ("test", 0.08),
    ("text", 0.16),
    ("that", 0.40),
    ("the", 0.27),
    ("then", 0.21),
    ("this", 0.14),
    ("time", 0.30),
    ("to", 0.39),
    ("two", -0.10),
    ("unit", -0.09),
    ("updat", 0.16),
    ("user", 0.33),
    ("version", -0.13),
    ("want", 0.23),
    ("we", 0.51),
    ("what", -0.46),
    ("when", 0.09),
    ("where", 0.14),
    ("whi", -0.14),
    ("which", -0.16),
    ("with", 0.42),
    ("would", 0.11),
    ("write", 0.13),
    ("you", -0.12),
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
        for word in ["changing", "users", "every", "does", "why", "updated", "a", "we"] {
            assert!(weight_of(&words::stem(word)).is_some(), "{word}");
        }
        assert_eq!(weight_of(&words::stem("payment")), None);
    }

    #[test]
    fn a_word_counts_once_and_in_any_form() {
        let once = Wording::of("Rename it");
        assert_eq!(once, Wording::of("it: rename, RENAME; rename_it"));
        assert!(once.tidying > 0.0 && once.surroundings == 0.0);
        assert_eq!(Wording::of("updates").phrasing, Wording::of("updated").phrasing);
        assert!(Wording::of("updated").phrasing > 0.0);
        assert_eq!(Wording::of("ﷺ \u{0} ###"), Wording::default());
    }

    #[test]
    fn a_case_says_more_than_talk() {
        let case = Wording::of("after the release a user gets it twice");
        let talk = Wording::of("what do you have again");
        assert!(case.phrasing > 1.0 && talk.phrasing < -0.5, "{case:?} {talk:?}");
    }
}
