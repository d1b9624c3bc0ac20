//! Which package of somebody else an import names.

use std::borrow::Cow;

use super::standard::is_standard;
use crate::languages::{ImportRef, Language};

/// Under these names of Java's world lie many packages, each with a third part of its own.
const SHARED_NAMES: &[&str] = &[
    "com.amazonaws",
    "com.fasterxml",
    "com.google",
    "com.microsoft",
    "org.apache",
    "org.codehaus",
    "org.eclipse",
    "org.jetbrains",
];

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
            // `use Poll::Ready`: a type that is in scope.
            first if first.starts_with(|c: char| c.is_uppercase()) => "",
            first => first,
        },
        Some(Language::Python | Language::Elixir | Language::Swift | Language::Lua) => {
            first_of('.')
        }
        // A package names parts of itself so (`imports` of its `package.json`).
        Some(Language::JavaScript | Language::Tsx | Language::TypeScript)
            if text.starts_with('#') =>
        {
            ""
        }
        Some(Language::JavaScript | Language::Tsx | Language::TypeScript) => {
            let n_parts = if text.starts_with('@') { 2 } else { 1 };
            let end = text.match_indices('/').nth(n_parts - 1).map_or(text.len(), |(at, _)| at);
            &text[..end]
        }
        Some(Language::Java | Language::Kotlin | Language::Scala | Language::CSharp) => {
            let parts: Vec<&str> = text.split('.').filter(|part| *part != "*").collect();
            let short = parts[..parts.len().min(2)].join(".");
            return Cow::Owned(match SHARED_NAMES.contains(&short.as_str()) {
                true => parts[..parts.len().min(3)].join("."),
                false => short,
            });
        }
        Some(Language::Php) => first_of('\\'),
        Some(Language::Bash | Language::C | Language::Cpp | Language::Go | Language::Ruby)
        | None => text,
    };
    Cow::Borrowed(package)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::ImportKind;

    #[test]
    fn a_package_is_what_somebody_else_publishes() {
        let cases = [
            (Language::Rust, "serde::Serialize", "serde"),
            (Language::Rust, "Poll::Ready", ""),
            (Language::Rust, "std::fs", ""),
            (Language::Java, "org.junit.jupiter.api.Test", "org.junit"),
            (Language::Java, "org.apache.commons.logging.Log", "org.apache.commons"),
            (Language::Java, "com.fasterxml.jackson.databind.*", "com.fasterxml.jackson"),
            (Language::Java, "org.w3c.dom.Node", ""),
            (Language::Java, "org.xml.sax.*", ""),
            (Language::TypeScript, "@babel/core/lib", "@babel/core"),
            (Language::TypeScript, "#types/alias", ""),
        ];
        for (language, text, expected) in cases {
            let import = ImportRef { text, line: 1, kind: ImportKind::Module };
            assert_eq!(package(Some(language), &import), expected, "{text}");
        }
    }
}
