//! Java, Kotlin and Scala: a qualified name follows the folders, down to a file or to something in one.

use super::{Asking, Resolution, Target, file};
use crate::languages::Language;

const ENDS: &[&str] = &["java", "kt", "scala"];

/// They see each other's packages, and nobody else's.
const LANGUAGES: &[Language] = &[Language::Java, Language::Kotlin, Language::Scala];

pub(super) fn resolve(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    if let Some(package) = text.strip_suffix(".*") {
        return member(asking, package)
            .or_else(|| package_of(asking, package))
            .unwrap_or_else(|| unknown(asking, package));
    }
    member(asking, text)
        .or_else(|| in_package(asking, text))
        .or_else(|| package_of(asking, text))
        .unwrap_or_else(|| unknown(asking, text))
}

/// The file whose path ends as the name begins: `a.b.C` and `a.b.C.d` are both in `a/b/C.java`.
fn member(asking: &Asking<'_, '_>, name: &str) -> Option<Resolution> {
    let parts: Vec<&str> = name.split('.').collect();
    (2..=parts.len()).rev().find_map(|n_parts| {
        let path = parts[..n_parts].join("/");
        let found = ENDS.iter().find_map(|end| {
            asking.files().nearest(&format!("{path}.{end}"), asking.path, |_| true)
        });
        found.map(file)
    })
}

/// Kotlin and Scala put what they like into a file: whoever defines the name in the package's folder is meant.
fn in_package(asking: &Asking<'_, '_>, name: &str) -> Option<Resolution> {
    let parts: Vec<&str> = name.split('.').collect();
    (1..parts.len()).rev().find_map(|n_parts| {
        let package = parts[..n_parts].join("/");
        let defines = |idx: &usize| {
            let symbols = asking.files().source(*idx).map(|source| &source.outline.symbols);
            symbols.is_some_and(|symbols| {
                asking.affords(symbols.len())
                    && symbols.iter().any(|symbol| symbol.name == parts[n_parts])
            })
        };
        let folders = asking.files().folders_ending(&package);
        let mut files = folders.iter().flat_map(|folder| asking.files().all_in_folder(folder));
        let is_akin = |idx: &usize| LANGUAGES.iter().any(|one| asking.files().is_of(*idx, *one));
        files.find(|idx| is_akin(idx) && defines(idx)).map(|idx| file(*idx))
    })
}

/// All of a package.
fn package_of(asking: &Asking<'_, '_>, package: &str) -> Option<Resolution> {
    let folders = asking.files().folders_ending(&package.replace('.', "/"));
    let targets: Vec<Target> = folders
        .iter()
        .filter_map(|folder| {
            LANGUAGES.iter().find_map(|language| asking.files().in_folder(folder, *language))
        })
        .map(Target::Folder)
        .collect();
    (!targets.is_empty()).then_some(Resolution::Inside(targets))
}

/// A name that begins as our packages do should have been found.
fn unknown(asking: &Asking<'_, '_>, name: &str) -> Resolution {
    let parts: Vec<&str> = name.split('.').collect();
    let is_ours = (2..parts.len())
        .any(|n_parts| !asking.files().folders_ending(&parts[..n_parts].join("/")).is_empty());
    if is_ours { Resolution::Missing } else { Resolution::Outside }
}
