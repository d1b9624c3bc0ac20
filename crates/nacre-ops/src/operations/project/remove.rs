//! Takes a project out of the register. Its files stay.

use nacre_api::wire::{ProjectRemoveReport, ProjectRemoveRequest};

use super::register::unregister;
use crate::error::OpError;
use crate::host::Host;

pub fn remove(host: &Host, request: &ProjectRemoveRequest) -> Result<ProjectRemoveReport, OpError> {
    let ProjectRemoveRequest { name } = request;
    unregister(host, name)?;
    Ok(ProjectRemoveReport { removed: name.clone() })
}
