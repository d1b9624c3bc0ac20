//! C and C++: an include is a path, seen from the file, from the root, or from a folder that the build names.

use super::files::{joined, name_of};
use super::{Asking, Resolution, file};
use crate::languages::ImportKind;

/// Folders that builds usually name.
const ROOTS: &[&str] = &["include", "inc", "src", "lib", "source"];

pub(super) fn resolve(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    let is_quoted = asking.import.kind == ImportKind::Path;
    let beside = joined(asking.folder(), text).and_then(|path| asking.files().at(&path));
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
