//! Who may use a symbol, by the words before its name.

use super::analysis::Visibility;
use super::language::Language;

/// What a symbol lies in, as far as that decides who may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// A file or a module.
    Module,
    /// A type whose members say themselves who may use them.
    Type,
    /// An interface, or the implementation of one: its members are as public as itself.
    Contract,
}

/// Reads the words between a declaration's start and its name.
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
    match name.starts_with('_') && !is_dunder {
        true => Visibility::Private,
        false => Visibility::Public,
    }
}

fn by_modifiers(has: &dyn Fn(&str) -> bool, around: Around, otherwise: Visibility) -> Visibility {
    match () {
        () if has("public") || around == Around::Contract => Visibility::Public,
        () if has("private") || has("fileprivate") => Visibility::Private,
        () if has("protected") || has("internal") => Visibility::Internal,
        () => otherwise,
    }
}
