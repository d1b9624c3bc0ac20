//! Takes a project out of the register. Its files stay.

use nacre_api::wire::{ProjectRemoveReport, ProjectRemoveRequest};

use super::record::{record, registered};
use crate::error::OpError;
use crate::host::Host;

pub fn remove(host: &Host, request: &ProjectRemoveRequest) -> Result<ProjectRemoveReport, OpError> {
    let ProjectRemoveRequest { name } = request;
    let before = registered(&host.projects);
    host.unregister(name)?;
    let after: Vec<_> = before.iter().filter(|project| project.name != *name).cloned().collect();
    let change = record(host, &format!("project remove {name}"), &before, &after)?;
    Ok(ProjectRemoveReport { removed: name.clone(), change })
}
