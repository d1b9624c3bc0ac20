//! Resolves JavaScript and TypeScript imports: relative paths, path aliases in `tsconfig.json`, and
//! packages in the same workspace.

use super::external::script_package;
use super::files::{around, below, folder_of, join_path};
use super::manifests::Package;
use super::{Asking, Resolution, file};

/// Suffixes that an import may omit, in the order in which bundlers try them.
const ENDS: &[&str] = &[
    ".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue",
    ".svelte", ".d.mts", ".d.cts",
];

pub(super) fn resolve(asking: &Asking<'_, '_>) -> Resolution {
    // Bundlers allow a query string after the path.
    let text = asking.text().split(['?', '!']).next().unwrap_or_default();
    if text.starts_with("./") || text.starts_with("../") || matches!(text, "." | "..") {
        let path = join_path(asking.folder(), text);
        let found = path.and_then(|path| at(asking, &path));
        return found.map_or(Resolution::Missing, file);
    }
    if text.is_empty() || text.starts_with("node:") || text.contains("://") {
        return Resolution::Outside;
    }
    by_alias(asking, text)
        .or_else(|| by_package(asking, text))
        .or_else(|| below_package(asking, text))
        .unwrap_or(Resolution::Outside)
}

/// Resolves a path relative to the nearest package or its `src` directory, where bundlers and test
/// runners are often configured to search.
fn below_package(asking: &Asking<'_, '_>, text: &str) -> Option<Resolution> {
    if text.starts_with(['@', '#']) || !text.contains('/') {
        return None;
    }
    let packages = &asking.manifests().packages;
    let folder = around(asking.path).find(|folder| packages.contains_key(*folder))?;
    let found = at(asking, &below(folder, text));
    found.or_else(|| at(asking, &below(folder, &format!("src/{text}")))).map(file)
}

/// Returns the file at a path that may omit its suffix.
fn at(asking: &Asking<'_, '_>, path: &str) -> Option<usize> {
    let files = asking.files();
    let with_end = |path: &str| files.with_end(path, ENDS);
    let exact = || files.at(path);
    // TypeScript imports may refer to the compiled file.
    let compiled = || {
        let stem = [".js", ".jsx", ".mjs", ".cjs"].iter().find_map(|end| path.strip_suffix(end))?;
        with_end(stem)
    };
    let folder = || {
        let package = asking.manifests().packages.get(path);
        let main = package.and_then(|package| entry(asking, path, package));
        main.or_else(|| with_end(&below(path, "index")))
    };
    exact().or_else(|| with_end(path)).or_else(compiled).or_else(folder)
}

/// Applies `paths` and `baseUrl` from the nearest configuration that sets them.
fn by_alias(asking: &Asking<'_, '_>, text: &str) -> Option<Resolution> {
    for folder in around(asking.path) {
        let Some(config) = asking.manifests().script_configs.get(folder) else { continue };
        for (pattern, replacements) in &config.paths {
            let Some(star) = match_pattern(pattern, text) else { continue };
            let found = replacements.iter().find_map(|replacement| {
                let path = join_path(&config.base, &replacement.replace('*', star))?;
                at(asking, &path)
            });
            // The pattern `*` also matches external packages.
            let is_ours = pattern != "*";
            match found {
                Some(idx) => return Some(file(idx)),
                None if is_ours => return by_package(asking, text).or(Some(Resolution::Missing)),
                None => {}
            }
        }
        if config.has_base_url {
            let found = join_path(&config.base, text).and_then(|path| at(asking, &path));
            if let Some(idx) = found {
                return Some(file(idx));
            }
        }
    }
    None
}

fn match_pattern<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    match pattern.split_once('*') {
        None => (pattern == text).then_some(""),
        Some((before, after)) => text.strip_prefix(before)?.strip_suffix(after),
    }
}

fn by_package(asking: &Asking<'_, '_>, text: &str) -> Option<Resolution> {
    if text.starts_with('#') {
        return by_private_import(asking, text);
    }
    let (name, rest) = script_package(text);
    let rest = rest.trim_start_matches('/');
    let folder = asking.manifests().package_folders.get(name)?;
    let package = asking.manifests().packages.get(folder)?;
    let found = if rest.is_empty() {
        entry(asking, folder, package)
    } else {
        inside(asking, folder, package, rest)
    };
    Some(found.map_or(Resolution::Missing, file))
}

/// Resolves a `#name` import, mapped by the nearest `package.json`.
fn by_private_import(asking: &Asking<'_, '_>, text: &str) -> Option<Resolution> {
    for folder in around(asking.path) {
        let Some(package) = asking.manifests().packages.get(folder) else { continue };
        for (pattern, target) in &package.imports {
            let Some(star) = match_pattern(pattern, text) else { continue };
            let found = join_path(folder, &target.replace('*', star))
                .and_then(|path| source_at(asking, &path));
            return Some(found.map_or(Resolution::Missing, file));
        }
        return None;
    }
    None
}

/// Returns the file that is imported when only the package name is given.
fn entry(asking: &Asking<'_, '_>, folder: &str, package: &Package) -> Option<usize> {
    let named = package.entries.iter().find_map(|entry| {
        let path = join_path(folder, entry)?;
        // An entry point that refers to its own directory would cause infinite recursion.
        if path == folder { None } else { source_at(asking, &path) }
    });
    let usual = ["index", "src/index", "lib/index", "src/main"];
    named.or_else(|| usual.iter().find_map(|usual| plain(asking, &below(folder, usual))))
}

fn inside(asking: &Asking<'_, '_>, folder: &str, package: &Package, rest: &str) -> Option<usize> {
    let asked = format!("./{rest}");
    let exported = package.exports.iter().find_map(|(pattern, target)| {
        let star = match_pattern(pattern, &asked)?;
        source_at(asking, &join_path(folder, &target.replace('*', star))?)
    });
    exported
        .or_else(|| at(asking, &below(folder, rest)))
        .or_else(|| at(asking, &below(folder, &format!("src/{rest}"))))
}

/// Returns the source file for a file named in a manifest. Manifests often name build output, such
/// as files in `dist`, while the repository contains only the sources.
fn source_at(asking: &Asking<'_, '_>, path: &str) -> Option<usize> {
    plain(asking, path).or_else(|| {
        let built = ["dist/", "lib/", "build/", "out/", "esm/", "cjs/"];
        built.iter().find_map(|folder| {
            let at = path.rfind(folder)?;
            let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
            let stem = stem.strip_suffix(".d").unwrap_or(stem);
            let rest = stem.get(at + folder.len()..)?;
            plain(asking, &format!("{}src/{rest}", &path[..at]))
        })
    })
}

/// Returns the file at a path, without applying `package.json` again.
fn plain(asking: &Asking<'_, '_>, path: &str) -> Option<usize> {
    let files = asking.files();
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let stem = if folder_of(stem) == folder_of(path) { stem } else { path };
    let ends = |path: &str| files.with_end(path, ENDS);
    files
        .at(path)
        .or_else(|| ends(path))
        .or_else(|| ends(stem))
        .or_else(|| ends(&below(path, "index")))
}
