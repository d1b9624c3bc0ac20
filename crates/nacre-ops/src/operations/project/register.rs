//! The register of projects, changed under its lock.

use std::path::Path;

use nacre_core::config::projects;

use crate::error::OpError;
use crate::host::Host;

/// The register's file in the global folder.
const REGISTER: &str = "projects.toml";

/// Registers the repository at `root` and returns its name. One that is registered keeps its entry.
pub(super) fn register(host: &Host, root: &Path, name: Option<&str>) -> Result<String, OpError> {
    let known = host.projects.iter().find(|project| project.path == root);
    let name = match (name, known) {
        (Some(name), _) => name.to_owned(),
        (None, Some(known)) => known.name.clone(),
        (None, None) => projects::name_for(root, &host.projects),
    };
    if known.is_none_or(|known| known.name != name) {
        edit(host, |text, origin| Ok(projects::add(text, origin, &name, root)?))?;
    }
    Ok(name)
}

/// Takes a project out of the register.
pub(super) fn unregister(host: &Host, name: &str) -> Result<(), OpError> {
    edit(host, |text, origin| Ok(projects::remove(text, origin, name)?))
}

fn edit(
    host: &Host,
    change: impl FnOnce(&str, &Path) -> Result<String, OpError>,
) -> Result<(), OpError> {
    host.edit_home_text(REGISTER, "project", change)
}
