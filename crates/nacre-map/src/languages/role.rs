//! What a text is for: whether a program starts in it, and whether it is made of tests.

use super::find::{holds, place};
use super::language::Language;

/// What a program of Python asks itself before it starts.
const MAIN_GUARDS: [&str; 2] = ["__name__ == \"__main__\"", "__name__ == '__main__'"];

/// Whether a text defines a function with a name that is asked for.
pub(super) type HasFunction<'f> = dyn Fn(&dyn Fn(&str) -> bool) -> bool + 'f;

/// Whether a program starts in a text.
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

/// Whether a text is made of tests rather than holding some beside its code.
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
