//! Determines whether files and symbols are entry points or tests, and whether they are public.

use super::analysis::Visibility;
use super::language::Language;
use super::{holds, place};

const MAIN_GUARDS: [&str; 2] = ["__name__ == \"__main__\"", "__name__ == '__main__'"];

pub(super) type HasFunction<'f> = dyn Fn(&dyn Fn(&str) -> bool) -> bool + 'f;

pub(super) fn is_entry_text(
    language: Language,
    text: &str,
    has_function: &HasFunction<'_>,
) -> bool {
    let has_main = || has_function(&|name| name == "main");
    let has = |all: &[&str]| all.iter().any(|words| holds(text, words));
    match language {
        Language::Rust | Language::C | Language::Cpp | Language::Kotlin => has_main(),
        Language::Go => has_main() && has(&["package main"]),
        Language::Python => {
            let is_asked = place(text, "__name__ == ").is_some_and(|at| {
                let rest = &text[at..];
                MAIN_GUARDS.iter().any(|guard| holds(rest, guard))
            });
            is_asked || text.starts_with("#!")
        }
        Language::Java => has(&["static void main("]),
        Language::CSharp => {
            has(&["static void Main(", "static int Main(", "static async Task Main("])
        }
        Language::Swift => has(&["\n@main"]),
        Language::Scala => has(&["\n@main", "extends App", "def main(args"]),
        Language::Bash
        | Language::Elixir
        | Language::JavaScript
        | Language::Lua
        | Language::Php
        | Language::Ruby
        | Language::Tsx
        | Language::TypeScript => text.starts_with("#!"),
    }
}

/// Returns whether the file consists mainly of tests. Tests next to other code do not count.
pub(super) fn has_tests(language: Language, text: &str, has_function: &HasFunction<'_>) -> bool {
    let starts = |prefix: &str| has_function(&|name| name.starts_with(prefix));
    match language {
        Language::Rust => {
            let marks = ["\n#[test]", "\n#[tokio::test"];
            marks.iter().any(|mark| holds(text, mark) || text.starts_with(&mark[1..]))
        }
        Language::Python => starts("test_"),
        Language::Go => starts("Test") || starts("Benchmark"),
        Language::Java | Language::Kotlin | Language::CSharp | Language::Scala => {
            ["@Test", "[Test]", "[Fact]", "[TestMethod]"].iter().any(|mark| holds(text, mark))
        }
        Language::JavaScript | Language::Tsx | Language::TypeScript => {
            let marks = ["\ndescribe(", "\ntest(", "\nit("];
            marks.iter().any(|mark| holds(text, mark) || text.starts_with(&mark[1..]))
        }
        Language::Swift => holds(text, "import XCTest"),
        Language::Elixir => holds(text, "use ExUnit.Case"),
        Language::Ruby => holds(text, "RSpec.describe") || holds(text, "Minitest::Test"),
        Language::Php => holds(text, "extends TestCase"),
        Language::Bash | Language::C | Language::Cpp | Language::Lua => false,
    }
}

/// The scope that encloses a symbol. The scope affects the symbol's visibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    Module,
    /// A type whose members declare their own visibility.
    Type,
    /// An interface or an implementation of one. Its members share its visibility.
    Contract,
}

pub(super) fn visibility(
    language: Language,
    before: &str,
    name: &str,
    around: Around,
) -> Visibility {
    let has = |word: &str| {
        before.split(|c: char| !c.is_alphanumeric() && c != '_').any(|one| one == word)
    };
    let or = |is: bool, visibility, otherwise| if is { visibility } else { otherwise };
    match language {
        Language::Rust => rust(before, around),
        Language::Python => python(name),
        Language::Go => {
            let last = name.rsplit('.').next().unwrap_or(name);
            let is_upper = last.starts_with(char::is_uppercase);
            or(is_upper, Visibility::Public, Visibility::Internal)
        }
        Language::JavaScript | Language::Tsx | Language::TypeScript => match around {
            Around::Module => or(has("export"), Visibility::Public, Visibility::Private),
            Around::Type => {
                let is_private = name.starts_with('#') || has("private") || has("protected");
                or(is_private, Visibility::Private, Visibility::Public)
            }
            Around::Contract => Visibility::Public,
        },
        Language::Java | Language::CSharp => by_modifiers(&has, around, Visibility::Internal),
        Language::Swift => match has("open") {
            true => Visibility::Public,
            false => by_modifiers(&has, around, Visibility::Internal),
        },
        Language::Kotlin | Language::Scala | Language::Php => {
            by_modifiers(&has, around, Visibility::Public)
        }
        Language::C | Language::Cpp => or(has("static"), Visibility::Private, Visibility::Public),
        Language::Lua => or(has("local"), Visibility::Private, Visibility::Public),
        Language::Elixir => {
            let is_private = has("defp") || has("defmacrop") || has("defguardp");
            or(is_private, Visibility::Private, Visibility::Public)
        }
        Language::Bash | Language::Ruby => {
            or(name.starts_with('_'), Visibility::Private, Visibility::Public)
        }
    }
}

fn rust(before: &str, around: Around) -> Visibility {
    let after = before.find("pub").map(|at| before[at + 3..].trim_start());
    match after {
        Some(rest) if rest.starts_with("(self") => Visibility::Private,
        Some(rest) if rest.starts_with('(') => Visibility::Internal,
        Some(_) => Visibility::Public,
        None if around == Around::Contract => Visibility::Public,
        None => Visibility::Private,
    }
}

fn python(name: &str) -> Visibility {
    let is_dunder = name.starts_with("__") && name.ends_with("__");
    if name.starts_with('_') && !is_dunder { Visibility::Private } else { Visibility::Public }
}

fn by_modifiers(has: &dyn Fn(&str) -> bool, around: Around, otherwise: Visibility) -> Visibility {
    if has("public") || around == Around::Contract {
        Visibility::Public
    } else if has("private") || has("fileprivate") {
        Visibility::Private
    } else if has("protected") || has("internal") {
        Visibility::Internal
    } else {
        otherwise
    }
}
