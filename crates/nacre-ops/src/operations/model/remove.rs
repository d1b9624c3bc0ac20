//! Removes an installed model.

use nacre_api::wire::{ErrorCode, ModelRemoveReport, ModelRemoveRequest};
use nacre_core::search::minilm;

use crate::error::OpError;
use crate::host::Host;

pub fn remove(host: &Host, request: &ModelRemoveRequest) -> Result<ModelRemoveReport, OpError> {
    let ModelRemoveRequest { model } = *request;
    let scope = host.home_scope()?;
    let writer = scope.lock(&host.owner("model remove"), host.settings().lock.wait)?;
    if !minilm::remove(&writer)? {
        let error = OpError::failed(format!("Model `{}` is not installed", model.as_str()));
        return Err(
            OpError { code: ErrorCode::NotFound, ..error }.hint("`nacre model list` shows what is")
        );
    }
    Ok(ModelRemoveReport { removed: model })
}
