//! C#, Elixir, PHP and Swift: an import names a module, and files say which module they are of.

use super::files::below;
use super::{Asking, Resolution, Target, file};
use crate::languages::{ImportKind, Language, SymbolKind};

/// A namespace is asked for; all files that add to it are meant.
pub(super) fn c_sharp(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text().trim_start_matches("global::");
    let files = asking.files().defining(Language::CSharp, text);
    if !files.is_empty() {
        return Resolution::Inside(files.iter().copied().map(Target::File).collect());
    }
    // `using static Sea.Depth`, `using P = Sea.Pearl`: the last part is a type.
    let Some((namespace, name)) = text.rsplit_once('.') else { return Resolution::Outside };
    let files = asking.files().defining(Language::CSharp, namespace);
    let defines = |idx: &usize| {
        let symbols = asking.files().source(*idx).map(|source| &source.outline.symbols);
        symbols.is_some_and(|symbols| {
            asking.affords(symbols.len())
                && symbols.iter().any(|symbol| symbol.name.rsplit('.').next() == Some(name))
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

/// A module of Swift is a target, and a target is a folder below `Sources` or of its own name.
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
        let beside = super::files::joined(asking.folder(), text);
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
    match defined_in_namespace(asking, text) {
        Some(idx) => file(idx),
        None if is_ours => Resolution::Missing,
        None => Resolution::Outside,
    }
}

/// The file that says `namespace A\B` and defines `C`.
fn defined_in_namespace(asking: &Asking<'_, '_>, text: &str) -> Option<usize> {
    let (namespace, name) = text.rsplit_once('\\')?;
    let files = asking.files().defining(Language::Php, namespace);
    files.iter().copied().find(|idx| {
        let symbols = asking.files().source(*idx).map(|source| &source.outline.symbols);
        symbols.is_some_and(|symbols| {
            asking.affords(symbols.len())
                && symbols
                    .iter()
                    .any(|symbol| symbol.name == name && symbol.kind != SymbolKind::Module)
        })
    })
}
