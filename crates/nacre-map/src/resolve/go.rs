//! Go: an import names a package, which is a folder below its module.

use super::files::below;
use super::{Asking, Resolution, Target};
use crate::languages::Language;

pub(super) fn resolve(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    let mut is_ours = false;
    // The longest module path first: modules nest.
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
