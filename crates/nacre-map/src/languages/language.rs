//! The supported languages and their file extensions.

use std::fmt;
use std::str::FromStr;

use ast_grep_language::SupportLang;
use serde::{Deserialize, Serialize};

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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a supported language")]
pub struct UnknownLanguage {
    name: String,
}

/// Each language's grammar, name and file extensions, in the order of the enum.
const LANGUAGES: &[(Language, SupportLang, &str, &[&str])] = &[
    (Language::Bash, SupportLang::Bash, "bash", &["sh", "bash"]),
    (Language::C, SupportLang::C, "c", &["c", "h"]),
    (Language::Cpp, SupportLang::Cpp, "cpp", &["cc", "cpp", "cxx", "hh", "hpp", "hxx"]),
    (Language::CSharp, SupportLang::CSharp, "csharp", &["cs"]),
    (Language::Elixir, SupportLang::Elixir, "elixir", &["ex", "exs"]),
    (Language::Go, SupportLang::Go, "go", &["go"]),
    (Language::Java, SupportLang::Java, "java", &["java"]),
    (Language::JavaScript, SupportLang::JavaScript, "javascript", &["js", "jsx", "mjs", "cjs"]),
    (Language::Kotlin, SupportLang::Kotlin, "kotlin", &["kt", "kts"]),
    (Language::Lua, SupportLang::Lua, "lua", &["lua"]),
    (Language::Php, SupportLang::Php, "php", &["php"]),
    (Language::Python, SupportLang::Python, "python", &["py", "pyi"]),
    (Language::Ruby, SupportLang::Ruby, "ruby", &["rb", "rake"]),
    (Language::Rust, SupportLang::Rust, "rust", &["rs"]),
    (Language::Scala, SupportLang::Scala, "scala", &["scala", "sc"]),
    (Language::Swift, SupportLang::Swift, "swift", &["swift"]),
    (Language::Tsx, SupportLang::Tsx, "tsx", &["tsx"]),
    (Language::TypeScript, SupportLang::TypeScript, "typescript", &["ts", "mts", "cts"]),
];

impl Language {
    pub fn all() -> impl Iterator<Item = Self> {
        LANGUAGES.iter().map(|(language, ..)| *language)
    }

    pub fn of_path(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        let has = |own: &&str| own.eq_ignore_ascii_case(extension);
        LANGUAGES.iter().find(|(.., own)| own.iter().any(has)).map(|(language, ..)| *language)
    }

    pub fn name(self) -> &'static str {
        LANGUAGES[self as usize].2
    }

    pub fn separator(self) -> &'static str {
        let has_colons = matches!(self, Self::Cpp | Self::Php | Self::Ruby | Self::Rust);
        if has_colons { "::" } else { "." }
    }

    /// Returns whether the language uses JavaScript's import and export syntax.
    pub(crate) fn is_script(self) -> bool {
        matches!(self, Self::JavaScript | Self::Tsx | Self::TypeScript)
    }

    pub(crate) fn is_jvm(self) -> bool {
        matches!(self, Self::Java | Self::Kotlin | Self::Scala)
    }

    /// Returns whether resolving imports requires symbol names, either from other files or, for
    /// Rust, from the file itself.
    pub(crate) fn resolves_by_names(self) -> bool {
        self.is_jvm() || matches!(self, Self::CSharp | Self::Elixir | Self::Php | Self::Rust)
    }

    pub fn has_grammar(self) -> bool {
        let is_optional = matches!(
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
        !is_optional || cfg!(feature = "more-languages")
    }

    pub(super) fn grammar(self) -> SupportLang {
        LANGUAGES[self as usize].1
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
            .find(|(_, _, name, _)| name.eq_ignore_ascii_case(text))
            .map(|(language, ..)| *language)
            .ok_or_else(|| UnknownLanguage { name: text.chars().take(40).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (idx, (language, ..)) in LANGUAGES.iter().enumerate() {
            assert_eq!(*language as usize, idx);
        }
    }
}
