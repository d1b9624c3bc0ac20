//! Identifies the targets of imports that lead outside the project: external packages and standard
//! libraries.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::languages::{Import, ImportKind, Language};
use nacre_base::text::is_listed;

/// Java package prefixes shared by many projects. Only the third component identifies the project.
const SHARED_NAMES: &str = "com.amazonaws com.fasterxml com.google com.microsoft org.apache \
    org.codehaus org.eclipse org.jetbrains";

/// Java platform packages that begin with another organization's name.
const JAVA_BY_OTHERS: &[&str] = &["com.sun.", "org.ietf.jgss.", "org.w3c.dom.", "org.xml.sax."];

static STANDARD: LazyLock<HashSet<(&str, &str)>> = LazyLock::new(|| {
    let lines = include_str!("standard_modules.txt").lines();
    let lines = lines.filter_map(|line| line.split_once(':'));
    lines.flat_map(|(of, names)| names.split_whitespace().map(move |name| (of, name))).collect()
});

/// Returns an external import's package name, which is empty for the standard library.
pub(super) fn package(language: Option<Language>, import: &Import) -> String {
    let text = import.text.as_str();
    let first_of = |separator: char| text.split(separator).next().unwrap_or_default();
    let Some(language) = language.filter(|language| !is_standard(*language, import)) else {
        return if language.is_none() { text.to_owned() } else { String::new() };
    };
    let package = match language {
        Language::Rust => match first_of(':') {
            "self" | "super" | "crate" => "",
            // In `use Poll::Ready`, the first part is a type that is already in scope.
            first if first.starts_with(|c: char| c.is_uppercase()) => "",
            first => first,
        },
        Language::Python | Language::Elixir | Language::Swift | Language::Lua => first_of('.'),
        // A private import, mapped by `imports` in the package's own `package.json`.
        Language::JavaScript | Language::Tsx | Language::TypeScript if text.starts_with('#') => "",
        Language::JavaScript | Language::Tsx | Language::TypeScript => script_package(text).0,
        Language::Java | Language::Kotlin | Language::Scala | Language::CSharp => {
            let parts: Vec<&str> = text.split('.').filter(|part| *part != "*").collect();
            let short = parts[..parts.len().min(2)].join(".");
            let is_shared = is_listed(SHARED_NAMES, &short);
            return if is_shared { parts[..parts.len().min(3)].join(".") } else { short };
        }
        Language::Php => first_of('\\'),
        Language::Bash | Language::C | Language::Cpp | Language::Go | Language::Ruby => text,
    };
    package.to_owned()
}

/// Splits a script's import, such as `@scope/name/path`, into package and path.
pub(super) fn script_package(text: &str) -> (&str, &str) {
    let n_parts = if text.starts_with('@') { 2 } else { 1 };
    let end = text.match_indices('/').nth(n_parts - 1).map_or(text.len(), |(at, _)| at);
    text.split_at(end)
}

pub(super) fn is_standard(language: Language, import: &Import) -> bool {
    let text = import.text.as_str();
    let first = |separator: char| text.split(separator).next().unwrap_or_default();
    let is_in = |list: &str, name: &str| STANDARD.contains(&(list, name));
    match language {
        Language::Rust => matches!(first(':'), "std" | "core" | "alloc" | "proc_macro" | "test"),
        Language::Python => is_in("python", first('.')),
        Language::JavaScript | Language::Tsx | Language::TypeScript => {
            text.starts_with("node:") || is_in("node", first('/'))
        }
        // Standard library paths in Go do not begin with a host name.
        Language::Go => !first('/').contains('.'),
        Language::Java | Language::Kotlin | Language::Scala => {
            matches!(first('.'), "java" | "javax" | "kotlin" | "scala" | "sun" | "jdk")
                || JAVA_BY_OTHERS.iter().any(|package| text.starts_with(package))
        }
        Language::CSharp => first('.') == "System",
        // `<vector>`, `<stdio.h>` and `<sys/types.h>` are in the standard library. Other libraries
        // keep their headers in their own directories.
        Language::C | Language::Cpp => {
            import.kind == ImportKind::System
                && (!text.contains('/')
                    || matches!(first('/'), "sys" | "netinet" | "arpa" | "bits" | "linux"))
        }
        Language::Ruby => is_in("ruby", text),
        Language::Elixir => is_in("elixir", first('.')),
        Language::Swift => is_in("swift", first('.')),
        Language::Bash | Language::Lua | Language::Php => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(text: &str) -> Import {
        Import { text: text.to_owned(), line: 1, kind: ImportKind::Module }
    }

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
            let import = import(text);
            assert_eq!(package(Some(language), &import), expected, "{text}");
        }
    }

    #[test]
    fn what_comes_with_a_language_is_told_from_packages() {
        let cases = [
            (Language::Python, "os.path", true),
            (Language::Python, "requests", false),
            (Language::Go, "net/http", true),
            (Language::Go, "github.com/spf13/cobra", false),
            (Language::TypeScript, "node:fs", true),
            (Language::TypeScript, "fs/promises", true),
            (Language::TypeScript, "rollup", false),
            (Language::Java, "java.util.List", true),
            (Language::Java, "org.junit.Test", false),
            (Language::Rust, "std::fs", true),
            (Language::Rust, "serde::Serialize", false),
        ];
        for (language, text, expected) in cases {
            let import = import(text);
            assert_eq!(is_standard(language, &import), expected, "{text}");
        }
    }
}
