//! Which package of somebody else an import names.

use std::borrow::Cow;

use super::standard::is_standard;
use crate::languages::{ImportRef, Language};

/// The package of an import that leads outside; empty for what comes with the language and says nothing.
pub(super) fn package<'a>(language: Option<Language>, import: &ImportRef<'a>) -> Cow<'a, str> {
    if is_standard(language, import) {
        return Cow::Borrowed("");
    }
    let text = import.text;
    let first_of = |separator: char| text.split(separator).next().unwrap_or_default();
    let package = match language {
        Some(Language::Rust) => match first_of(':') {
            "self" | "super" | "crate" => "",
            first => first,
        },
        Some(Language::Python | Language::Elixir | Language::Swift | Language::Lua) => {
            first_of('.')
        }
        Some(Language::JavaScript | Language::Tsx | Language::TypeScript) => {
            let n_parts = if text.starts_with('@') { 2 } else { 1 };
            let end = text.match_indices('/').nth(n_parts - 1).map_or(text.len(), |(at, _)| at);
            &text[..end]
        }
        Some(Language::Java | Language::Kotlin | Language::Scala | Language::CSharp) => {
            let parts: Vec<&str> = text.split('.').filter(|part| *part != "*").collect();
            return Cow::Owned(parts[..parts.len().min(2)].join("."));
        }
        Some(Language::Php) => first_of('\\'),
        Some(Language::Bash | Language::C | Language::Cpp | Language::Go | Language::Ruby)
        | None => text,
    };
    Cow::Borrowed(package)
}
