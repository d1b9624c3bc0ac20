//! Which package of somebody else an import names.

use crate::languages::{Import, Language};

/// The package of an import that leads outside; empty for what comes with the language and says nothing.
pub(super) fn package(language: Option<Language>, import: &Import) -> String {
    let text = import.text.as_str();
    let first_of =
        |separators: &[char]| text.split(separators).next().unwrap_or_default().to_owned();
    match language {
        Some(Language::Rust) => {
            let first = first_of(&[':']);
            let is_own =
                matches!(first.as_str(), "std" | "core" | "alloc" | "self" | "super" | "crate");
            if is_own { String::new() } else { first }
        }
        Some(Language::Python | Language::Elixir | Language::Swift | Language::Lua) => {
            first_of(&['.'])
        }
        Some(Language::JavaScript | Language::Tsx | Language::TypeScript) => {
            let n_parts = if text.starts_with('@') { 2 } else { 1 };
            let end = text.match_indices('/').nth(n_parts - 1).map_or(text.len(), |(at, _)| at);
            text[..end].to_owned()
        }
        Some(Language::Java | Language::Kotlin | Language::Scala | Language::CSharp) => {
            let parts: Vec<&str> = text.split('.').filter(|part| *part != "*").collect();
            parts[..parts.len().min(2)].join(".")
        }
        Some(Language::Php) => first_of(&['\\']),
        Some(Language::Bash | Language::C | Language::Cpp | Language::Go | Language::Ruby)
        | None => text.to_owned(),
    }
}
