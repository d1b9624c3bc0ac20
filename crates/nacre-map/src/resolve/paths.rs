//! Bash, Lua and Ruby: an import is a path, or nearly one.

use super::files::joined;
use super::{Asking, Resolution, file};
use crate::languages::ImportKind;

pub(super) fn bash(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    if text.starts_with('/') || text.starts_with('~') {
        return Resolution::Outside;
    }
    let beside = joined(asking.folder(), text).and_then(|path| asking.files().at(&path));
    let found = beside.or_else(|| asking.files().at(text));
    let end = text.trim_start_matches("../").trim_start_matches("./");
    let found = found.or_else(|| asking.files().ending(end, asking.path).first().copied());
    found.map_or(Resolution::Missing, file)
}

pub(super) fn lua(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    if asking.import.kind == ImportKind::Path {
        let beside = joined(asking.folder(), text).and_then(|path| asking.files().at(&path));
        return beside.map_or(Resolution::Missing, file);
    }
    let path = text.replace('.', "/");
    let ends = [format!("{path}.lua"), format!("{path}/init.lua")];
    let found =
        ends.iter().find_map(|end| asking.files().ending(end, asking.path).first().copied());
    found.map_or(Resolution::Outside, file)
}

pub(super) fn ruby(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text().trim_end_matches(".rb");
    if asking.import.kind == ImportKind::Path || text.starts_with('.') {
        let path = joined(asking.folder(), text).map(|path| format!("{path}.rb"));
        let beside = path.and_then(|path| asking.files().at(&path));
        return beside.map_or(Resolution::Missing, file);
    }
    let end = format!("{text}.rb");
    let found = asking.files().ending(&end, asking.path);
    let is_root = |idx: &usize| {
        let root = asking.files().path(*idx).strip_suffix(&end).unwrap_or_default();
        let name = root.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        matches!(name, "" | "lib" | "app" | "spec" | "test")
    };
    found.into_iter().find(is_root).map_or(Resolution::Outside, file)
}
