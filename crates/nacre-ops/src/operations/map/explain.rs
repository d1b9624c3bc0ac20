//! Explains why a file is in the map of the code, or is not.

use std::path::{Component, Path, PathBuf};

use nacre_api::wire::{ExplainReport, ExplainRequest, MapCommand, MapVerdict};
use nacre_map::artifact::RelativePath;
use nacre_map::indexer;

use super::code_map::{CodeMap, MapAccess};
use super::wire;
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

pub fn explain(
    host: &Host,
    request: &ExplainRequest,
    events: &Events,
) -> Result<ExplainReport, OpError> {
    let asked = Path::new(&request.path);
    let full = plain(&host.environment.folder, asked);
    let (map, full) = match CodeMap::open(host, MapAccess::usual(None), "explain") {
        Ok(map) if below(&map, &full).is_some() => (map, full),
        Ok(_) | Err(_) => elsewhere(host, asked)?,
    };
    let path = below(&map, &full).ok_or_else(|| not_in_a_project(asked))?;
    map.warn_of_postponed(events);
    let verdict = wire::verdict(indexer::explain(&map.current, &map.options, &path));
    Ok(ExplainReport {
        map: map.header(MapCommand::Explain),
        path: path.to_string(),
        is_mapped: matches!(verdict, MapVerdict::Mapped { .. }),
        verdict,
    })
}

/// The map of the project that a file lies in, and the file's path.
fn elsewhere(host: &Host, asked: &Path) -> Result<(CodeMap, PathBuf), OpError> {
    let full = host.environment.folder.join(asked);
    let folder = full.parent().and_then(|folder| folder.canonicalize().ok());
    let (Some(folder), Some(name)) = (folder, full.file_name()) else {
        return Err(not_in_a_project(asked));
    };
    let place = folder.to_string_lossy();
    Ok((CodeMap::open(host, MapAccess::usual(Some(&place)), "explain")?, folder.join(name)))
}

fn not_in_a_project(asked: &Path) -> OpError {
    OpError::usage(format!("`{}` is not a file of a project", asked.display()))
}

/// The path seen from the project's root.
fn below(map: &CodeMap, full: &Path) -> Option<RelativePath> {
    RelativePath::new(full.strip_prefix(&map.current.project.root).ok()?.to_str()?)
}

/// The path without `.` and `..`. No link is followed: the question may be about it.
fn plain(folder: &Path, path: &Path) -> PathBuf {
    let mut full = folder.to_owned();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                full.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => full.push(part),
        }
    }
    full
}
