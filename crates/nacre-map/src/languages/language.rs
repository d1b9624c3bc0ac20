//! The languages that have a grammar here, and how they are told apart.

use std::fmt;
use std::str::FromStr;

use ast_grep_language::SupportLang;
use serde::{Deserialize, Serialize};

/// A language that can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Bash,
    C,
    Cpp,
    CSharp,
    Elixir,
    Go,
    Java,
    JavaScript,
    Kotlin,
    Lua,
    Php,
    Python,
    Ruby,
    Rust,
    Scala,
    Swift,
    Tsx,
    TypeScript,
}

/// A word that names no language of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no language that can be parsed")]
pub struct UnknownLanguage {
    name: String,
}

/// No end of a file name that is one of a language is longer.
const MAX_END_BYTES: usize = 5;

/// No language has a longer name.
pub(crate) const MAX_NAME_BYTES: usize = 16;

/// Each language with its name and the ends of its file names, in the order of the enum.
const LANGUAGES: &[(Language, &str, &[&str])] = &[
    (Language::Bash, "bash", &["sh", "bash"]),
    (Language::C, "c", &["c", "h"]),
    (Language::Cpp, "cpp", &["cc", "cpp", "cxx", "hh", "hpp", "hxx"]),
    (Language::CSharp, "csharp", &["cs"]),
    (Language::Elixir, "elixir", &["ex", "exs"]),
    (Language::Go, "go", &["go"]),
    (Language::Java, "java", &["java"]),
    (Language::JavaScript, "javascript", &["js", "jsx", "mjs", "cjs"]),
    (Language::Kotlin, "kotlin", &["kt", "kts"]),
    (Language::Lua, "lua", &["lua"]),
    (Language::Php, "php", &["php"]),
    (Language::Python, "python", &["py", "pyi"]),
    (Language::Ruby, "ruby", &["rb", "rake"]),
    (Language::Rust, "rust", &["rs"]),
    (Language::Scala, "scala", &["scala", "sc"]),
    (Language::Swift, "swift", &["swift"]),
    (Language::Tsx, "tsx", &["tsx"]),
    (Language::TypeScript, "typescript", &["ts", "mts", "cts"]),
];

const N_ENDS: usize = {
    let (mut count, mut at) = (0, 0);
    while at < LANGUAGES.len() {
        count += LANGUAGES[at].2.len();
        at += 1;
    }
    count
};

/// The ends of file names as numbers, each with its language: every path is looked up here, more than once.
const ENDS: [(u64, Language); N_ENDS] = {
    let mut ends = [(0, Language::Bash); N_ENDS];
    let (mut count, mut at) = (0, 0);
    while at < LANGUAGES.len() {
        let (language, _, own) = LANGUAGES[at];
        let mut of_own = 0;
        while of_own < own.len() {
            ends[count] = (end_key(own[of_own].as_bytes()), language);
            (count, of_own) = (count + 1, of_own + 1);
        }
        at += 1;
    }
    ends
};

/// A few bytes as a number, letters in lower case.
const fn end_key(end: &[u8]) -> u64 {
    let (mut key, mut at) = (0, 0);
    while at < end.len() {
        key = key << 8 | end[at].to_ascii_lowercase() as u64;
        at += 1;
    }
    key
}

impl Language {
    /// All of them, by name.
    pub fn all() -> impl Iterator<Item = Self> {
        LANGUAGES.iter().map(|(language, _, _)| *language)
    }

    /// The language of a file, by the end of its name.
    pub fn of_path(path: &str) -> Option<Self> {
        let dot = memchr::memrchr(b'.', path.as_bytes())?;
        let end = path.as_bytes().get(dot + 1..).filter(|end| end.len() <= MAX_END_BYTES)?;
        let end = end_key(end);
        ENDS.iter().find(|(known, _)| *known == end).map(|(_, language)| *language)
    }

    pub fn name(self) -> &'static str {
        LANGUAGES[self as usize].1
    }

    /// What stands between the parts of a qualified name.
    pub fn separator(self) -> &'static str {
        match self {
            Self::Cpp | Self::Php | Self::Ruby | Self::Rust => "::",
            Self::Bash
            | Self::C
            | Self::CSharp
            | Self::Elixir
            | Self::Go
            | Self::Java
            | Self::JavaScript
            | Self::Kotlin
            | Self::Lua
            | Self::Python
            | Self::Scala
            | Self::Swift
            | Self::Tsx
            | Self::TypeScript => ".",
        }
    }

    /// Whether it takes names to know where imports lead: those that other files define, or in Rust those of the file itself.
    pub(crate) fn is_found_by_names(self) -> bool {
        match self {
            Self::CSharp
            | Self::Elixir
            | Self::Java
            | Self::Kotlin
            | Self::Php
            | Self::Rust
            | Self::Scala => true,
            Self::Bash
            | Self::C
            | Self::Cpp
            | Self::Go
            | Self::JavaScript
            | Self::Lua
            | Self::Python
            | Self::Ruby
            | Self::Swift
            | Self::Tsx
            | Self::TypeScript => false,
        }
    }

    /// Whether its grammar is part of this build.
    pub fn has_grammar(self) -> bool {
        let is_rare = matches!(
            self,
            Self::CSharp
                | Self::Elixir
                | Self::Kotlin
                | Self::Lua
                | Self::Php
                | Self::Ruby
                | Self::Scala
                | Self::Swift
        );
        !is_rare || cfg!(feature = "more-languages")
    }

    pub(super) fn grammar(self) -> SupportLang {
        match self {
            Self::CSharp => SupportLang::CSharp,
            Self::Elixir => SupportLang::Elixir,
            Self::Kotlin => SupportLang::Kotlin,
            Self::Lua => SupportLang::Lua,
            Self::Php => SupportLang::Php,
            Self::Ruby => SupportLang::Ruby,
            Self::Scala => SupportLang::Scala,
            Self::Swift => SupportLang::Swift,
            Self::Bash => SupportLang::Bash,
            Self::C => SupportLang::C,
            Self::Cpp => SupportLang::Cpp,
            Self::Go => SupportLang::Go,
            Self::Java => SupportLang::Java,
            Self::JavaScript => SupportLang::JavaScript,
            Self::Python => SupportLang::Python,
            Self::Rust => SupportLang::Rust,
            Self::Tsx => SupportLang::Tsx,
            Self::TypeScript => SupportLang::TypeScript,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        LANGUAGES
            .iter()
            .find(|(_, name, _)| name.eq_ignore_ascii_case(text))
            .map(|(language, _, _)| *language)
            .ok_or_else(|| UnknownLanguage { name: text.chars().take(40).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_stand_in_their_order_with_names_and_ends_that_are_short() {
        for (idx, (language, name, ends)) in LANGUAGES.iter().enumerate() {
            assert_eq!(*language as usize, idx);
            assert!(name.len() <= MAX_NAME_BYTES, "{name}");
            assert!(ends.iter().all(|end| end.len() <= MAX_END_BYTES), "{name}");
        }
    }
}
