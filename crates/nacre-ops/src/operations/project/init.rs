//! Prepares the repository around the current folder.

use nacre_api::wire::{InitReport, InitRequest};

use super::prepare::NewProject;
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// Makes the store of the git repository around the current folder, or of the folder itself, registers it and looks for its
/// sessions. A project that is named takes the place of the current folder.
pub fn init(host: &Host, request: &InitRequest, events: &Events) -> Result<InitReport, OpError> {
    let InitRequest { name } = request;
    let folder = host.named_folder.as_ref().unwrap_or(&host.environment.folder);
    let new = NewProject::around(host, folder)?;
    let registered = host.register(&new.root, name.as_deref());
    if let Err(error) = &registered {
        let message = format!("The project could not be registered: {}", error.message);
        events.warning(message, None);
    }
    new.prepare(host, registered.ok())
}
