//! What the wording of a prompt tells, whatever the project: whether it is about text and tidiness, about what surrounds the
//! code, or describes a change or a case of its own.
//!
//! The two lists were written by hand. The weights of [`STEMS`] were fitted by `tools/fit-prompts.py` on labelled prompts of
//! 34 projects; only stems that occur in nine of them were taken, so that none is about one project's topic.

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
/// "we", "new", "user") touches on what was decided or learned; somebody who asks about code ("what", "how", "explain", "function") does
/// so less often. Sorted.
const STEMS: &[(&str, f32)] = &[
    ("a", 0.26),
    ("add", 0.45),
    ("after", 0.46),
    ("all", 0.48),
    ("alreadi", -0.24),
    ("an", 0.29),
    ("and", 0.14),
    ("around", 0.17),
    ("as", 0.36),
    ("ask", 0.17),
    ("at", 0.33),
    ("be", 0.32),
    ("between", -0.35),
    ("branch", -0.15),
    ("bug", 0.15),
    ("but", 0.31),
    ("call", 0.14),
    ("can", 0.21),
    ("case", -0.15),
    ("class", 0.17),
    ("client", 0.16),
    ("close", -0.12),
    ("code", 0.18),
    ("commit", -0.28),
    ("contain", 0.21),
    ("convert", -0.15),
    ("could", 0.21),
    ("count", 0.20),
    ("creat", 0.37),
    ("custom", 0.39),
    ("day", 0.17),
    ("delet", 0.32),
    ("direct", 0.27),
    ("doc", -0.17),
    ("doe", -0.24),
    ("don", 0.13),
    ("drop", 0.34),
    ("everi", 0.29),
    ("everyth", 0.32),
    ("explain", -0.25),
    ("file", -0.32),
    ("fix", -0.22),
    ("for", 0.14),
    ("format", -0.15),
    ("found", 0.16),
    ("from", 0.74),
    ("full", 0.21),
    ("function", -0.37),
    ("get", 0.18),
    ("git", -0.22),
    ("got", 0.14),
    ("group", 0.14),
    ("happen", 0.12),
    ("has", 0.14),
    ("have", 0.17),
    ("hour", 0.17),
    ("how", -0.31),
    ("i", 0.59),
    ("implement", 0.13),
    ("in", 0.33),
    ("integr", 0.20),
    ("it", 0.44),
    ("job", 0.13),
    ("just", 0.17),
    ("let", 0.54),
    ("like", 0.14),
    ("match", 0.14),
    ("merg", 0.16),
    ("modul", -0.19),
    ("more", 0.15),
    ("my", 0.36),
    ("name", 0.15),
    ("need", 0.37),
    ("new", 0.91),
    ("next", 0.16),
    ("no", -0.14),
    ("not", -0.22),
    ("note", 0.16),
    ("noth", 0.20),
    ("on", 0.40),
    ("onc", 0.25),
    ("one", 0.28),
    ("onli", -0.34),
    ("option", 0.25),
    ("or", -0.17),
    ("page", -0.29),
    ("pass", 0.17),
    ("path", 0.14),
    ("peopl", 0.31),
    ("plan", 0.23),
    ("print", -0.22),
    ("put", 0.37),
    ("replac", 0.27),
    ("request", 0.17),
    ("s", 0.13),
    ("same", -0.20),
    ("save", 0.23),
    ("say", 0.16),
    ("second", -0.25),
    ("section", -0.22),
    ("see", 0.19),
    ("servic", 0.17),
    ("set", 0.36),
    ("sinc", 0.16),
    ("so", 0.68),
    ("some", 0.18),
    ("split", -0.15),
    ("start", 0.27),
    ("support", 0.20),
    ("tell", -0.13),
    ("test", -0.33),
    ("the", 0.24),
    ("their", 0.13),
    ("them", -0.18),
    ("then", 0.40),
    ("there", 0.18),
    ("they", 0.23),
    ("think", -0.13),
    ("to", 0.45),
    ("tool", -0.34),
    ("total", 0.28),
    ("tri", 0.21),
    ("true", 0.22),
    ("twice", -0.15),
    ("two", -0.19),
    ("ui", -0.20),
    ("unit", -0.16),
    ("until", 0.17),
    ("us", 0.14),
    ("user", 0.33),
    ("want", 0.50),
    ("warn", -0.13),
    ("was", 0.19),
    ("we", 0.30),
    ("week", 0.19),
    ("what", -0.41),
    ("which", -0.12),
    ("with", 0.44),
    ("without", -0.13),
    ("write", 0.15),
    ("wrong", -0.12),
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
        for word in ["users", "every", "does", "creating", "needed", "a", "we"] {
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
        assert!(case.phrasing > talk.phrasing + 1.0, "{case:?} {talk:?}");
    }
}
