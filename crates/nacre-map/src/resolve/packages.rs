//! Resolves imports in languages that import packages or modules by name: Go, Java, Kotlin, Scala,
//! C#, Elixir, PHP and Swift.

use super::files::{below, join_path};
use super::{Asking, Resolution, Target, file};
use crate::languages::{ImportKind, Language, SymbolKind};

/// Resolves a Go import, which names a package: a directory inside a Go module.
pub(super) fn go(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    let mut is_ours = false;
    // Modules can be nested, so try the longest module path first.
    for (module, folder) in &asking.manifests().go_modules {
        let Some(rest) = text.strip_prefix(module.as_str()) else { continue };
        if !rest.is_empty() && !rest.starts_with('/') {
            continue;
        }
        is_ours = true;
        let package = below(folder, rest.trim_start_matches('/'));
        if let Some(idx) = asking.files().in_folder(&package, Language::Go) {
            return Resolution::Inside(vec![Target::Folder(idx)]);
        }
    }
    let vendored = format!("vendor/{text}");
    match asking.files().in_folder(&vendored, Language::Go) {
        Some(idx) => Resolution::Inside(vec![Target::Folder(idx)]),
        None if is_ours => Resolution::Missing,
        None => Resolution::Outside,
    }
}

const JVM_EXTENSIONS: &[&str] = &["java", "kt", "scala"];

/// Languages that can import each other's packages.
const JVM_LANGUAGES: &[Language] = &[Language::Java, Language::Kotlin, Language::Scala];

/// Resolves a qualified name in Java, Kotlin or Scala. The name corresponds to a file path or to
/// something inside that file.
pub(super) fn jvm(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    if let Some(package) = text.strip_suffix(".*") {
        return member(asking, package)
            .or_else(|| package_of(asking, package))
            .unwrap_or_else(|| resolve_unknown(asking, package));
    }
    member(asking, text)
        .or_else(|| in_package(asking, text))
        .or_else(|| package_of(asking, text))
        .unwrap_or_else(|| resolve_unknown(asking, text))
}

/// Returns the file that matches the start of a qualified name: `a.b.C` and `a.b.C.d` are both in
/// `a/b/C.java`.
fn member(asking: &Asking<'_, '_>, name: &str) -> Option<Resolution> {
    let parts: Vec<&str> = name.split('.').collect();
    (2..=parts.len()).rev().find_map(|n_parts| {
        let path = parts[..n_parts].join("/");
        let found = JVM_EXTENSIONS.iter().find_map(|end| {
            asking.files().nearest(&format!("{path}.{end}"), asking.path, |_| true)
        });
        found.map(file)
    })
}

/// Returns the file in the package's directory that defines the name. In Kotlin and Scala, any file
/// in the directory may define it.
fn in_package(asking: &Asking<'_, '_>, name: &str) -> Option<Resolution> {
    let parts: Vec<&str> = name.split('.').collect();
    (1..parts.len()).rev().find_map(|n_parts| {
        let package = parts[..n_parts].join("/");
        let defines = |idx: &usize| {
            let symbols = asking.files().source(*idx).map(|source| &source.outline.symbols);
            symbols.is_some_and(|symbols| {
                asking.affords(symbols.len())
                    && symbols.iter().any(|(name, _)| name == parts[n_parts])
            })
        };
        let folders = asking.files().folders_ending(&package);
        let mut files = folders.iter().flat_map(|folder| asking.files().all_in_folder(folder));
        let is_akin =
            |idx: &usize| JVM_LANGUAGES.iter().any(|one| asking.files().is_of(*idx, *one));
        files.find(|idx| is_akin(idx) && defines(idx)).map(|idx| file(*idx))
    })
}

fn package_of(asking: &Asking<'_, '_>, package: &str) -> Option<Resolution> {
    let folders = asking.files().folders_ending(&package.replace('.', "/"));
    let targets: Vec<Target> = folders
        .iter()
        .filter_map(|folder| {
            JVM_LANGUAGES.iter().find_map(|language| asking.files().in_folder(folder, *language))
        })
        .map(Target::Folder)
        .collect();
    (!targets.is_empty()).then_some(Resolution::Inside(targets))
}

/// Returns `Missing` for an unresolved name that starts like one of the project's package names,
/// and `Outside` for other names.
fn resolve_unknown(asking: &Asking<'_, '_>, name: &str) -> Resolution {
    let parts: Vec<&str> = name.split('.').collect();
    let is_ours = (2..parts.len())
        .any(|n_parts| !asking.files().folders_ending(&parts[..n_parts].join("/")).is_empty());
    if is_ours { Resolution::Missing } else { Resolution::Outside }
}

/// Resolves a C# import, which names a namespace and refers to all files that contribute to it.
pub(super) fn c_sharp(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text().trim_start_matches("global::");
    let files = asking.files().defining(Language::CSharp, text);
    if !files.is_empty() {
        return Resolution::Inside(files.iter().copied().map(Target::File).collect());
    }
    // In `using static Sea.Depth` and `using P = Sea.Pearl`, the last part is a type.
    let Some((namespace, name)) = text.rsplit_once('.') else { return Resolution::Outside };
    let files = asking.files().defining(Language::CSharp, namespace);
    let defines = |idx: &usize| {
        let symbols = asking.files().source(*idx).map(|source| &source.outline.symbols);
        symbols.is_some_and(|symbols| {
            asking.affords(symbols.len())
                && symbols.iter().any(|(symbol, _)| symbol.rsplit('.').next() == Some(name))
        })
    };
    match files.iter().copied().find(defines) {
        Some(idx) => file(idx),
        None if files.is_empty() => Resolution::Outside,
        None => Resolution::Missing,
    }
}

pub(super) fn elixir(asking: &Asking<'_, '_>) -> Resolution {
    let files = asking.files().defining(Language::Elixir, asking.text());
    files.first().map_or(Resolution::Outside, |idx| file(*idx))
}

/// Resolves a Swift module. A module is a target: a directory below `Sources`, or any directory
/// with the module's name.
pub(super) fn swift(asking: &Asking<'_, '_>) -> Resolution {
    let module = asking.text().split('.').next().unwrap_or_default();
    let mut folders = asking.files().folders_ending(&format!("Sources/{module}"));
    folders.extend(asking.files().folders_ending(module));
    let found = folders.iter().find_map(|folder| asking.files().in_folder(folder, Language::Swift));
    found.map_or(Resolution::Outside, |idx| Resolution::Inside(vec![Target::Folder(idx)]))
}

pub(super) fn php(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    if asking.import.kind == ImportKind::Path {
        let beside = join_path(asking.folder(), text);
        let found = asking.files().first(beside.iter().map(String::as_str).chain([text]));
        return found.map_or(Resolution::Missing, file);
    }
    let mut is_ours = false;
    for (prefix, folder) in &asking.manifests().php_prefixes {
        let Some(rest) = text.strip_prefix(prefix.as_str()) else { continue };
        is_ours = true;
        let path = below(folder, &format!("{}.php", rest.replace('\\', "/")));
        if let Some(idx) = asking.files().at(&path) {
            return file(idx);
        }
    }
    match find_in_namespace(asking, text) {
        Some(idx) => file(idx),
        None if is_ours => Resolution::Missing,
        None => Resolution::Outside,
    }
}

/// For `A\B\C`, returns the file that declares `namespace A\B` and defines `C`.
fn find_in_namespace(asking: &Asking<'_, '_>, text: &str) -> Option<usize> {
    let (namespace, name) = text.rsplit_once('\\')?;
    let files = asking.files().defining(Language::Php, namespace);
    files.iter().copied().find(|idx| {
        let symbols = asking.files().source(*idx).map(|source| &source.outline.symbols);
        symbols.is_some_and(|symbols| {
            asking.affords(symbols.len())
                && symbols
                    .iter()
                    .any(|(symbol, kind)| symbol == name && *kind != SymbolKind::Module)
        })
    })
}
