//! Resolves imports that are file paths or path-like names: C, C++, Bash, Lua and Ruby.

use super::files::{join_path, name_of};
use super::{Asking, Resolution, file};
use crate::languages::ImportKind;

const ROOTS: &[&str] = &["include", "inc", "src", "lib", "source"];

pub(super) fn c(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    let is_quoted = asking.import.kind == ImportKind::Path;
    let beside = join_path(asking.folder(), text).and_then(|path| asking.files().at(&path));
    if let Some(idx) = beside.filter(|_| is_quoted) {
        return file(idx);
    }
    let end = text.trim_start_matches("../").trim_start_matches("./");
    let is_root = |idx: usize| {
        let root = asking.files().path(idx).strip_suffix(end).unwrap_or_default();
        root.is_empty() || ROOTS.contains(&name_of(root.trim_end_matches('/')))
    };
    let nearest = || asking.files().nearest(end, asking.path, |_| is_quoted);
    match asking.files().nearest(end, asking.path, is_root).or_else(nearest) {
        Some(idx) => file(idx),
        None if is_quoted => Resolution::Missing,
        None => Resolution::Outside,
    }
}

pub(super) fn bash(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    if text.starts_with('/') || text.starts_with('~') {
        return Resolution::Outside;
    }
    let beside = join_path(asking.folder(), text).and_then(|path| asking.files().at(&path));
    let found = beside.or_else(|| asking.files().at(text));
    let end = text.trim_start_matches("../").trim_start_matches("./");
    let found = found.or_else(|| asking.files().nearest(end, asking.path, |_| true));
    found.map_or(Resolution::Missing, file)
}

pub(super) fn lua(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    if asking.import.kind == ImportKind::Path {
        let beside = join_path(asking.folder(), text).and_then(|path| asking.files().at(&path));
        return beside.map_or(Resolution::Missing, file);
    }
    let path = text.replace('.', "/");
    let ends = [format!("{path}.lua"), format!("{path}/init.lua")];
    let found = ends.iter().find_map(|end| asking.files().nearest(end, asking.path, |_| true));
    found.map_or(Resolution::Outside, file)
}

pub(super) fn ruby(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text().trim_end_matches(".rb");
    if asking.import.kind == ImportKind::Path || text.starts_with('.') {
        let path = join_path(asking.folder(), text).map(|path| format!("{path}.rb"));
        let beside = path.and_then(|path| asking.files().at(&path));
        return beside.map_or(Resolution::Missing, file);
    }
    let end = format!("{text}.rb");
    let is_root = |idx: usize| {
        let root = asking.files().path(idx).strip_suffix(&end).unwrap_or_default();
        matches!(name_of(root.trim_end_matches('/')), "" | "lib" | "app" | "spec" | "test")
    };
    asking.files().nearest(&end, asking.path, is_root).map_or(Resolution::Outside, file)
}
