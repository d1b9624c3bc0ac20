//! The conversation in an editor.

use std::path::PathBuf;

use nacre_api::wire::ModelListRequest;
use nacre_ops::{Host, OpError, model};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::ChatArgs;
use super::link::Conversations;
use crate::acp::{self, Backend, SessionDefaults};

/// Serves one editor until it closes the input.
pub(super) fn serve(
    ui: &mut Ui,
    host: &Host,
    conversations: Conversations,
    args: &ChatArgs,
) -> Result<Exit, OpError> {
    let cancel = ui.cancellable_events().cancel().clone();
    let backend = Backend {
        connect: Box::new(conversations.connector()),
        cancel_all: Box::new(conversations.stopper()),
    };
    let defaults = SessionDefaults {
        folder: PathBuf::from(conversations.folder()),
        policy: args.policy.map(Into::into),
        model: args.model.clone(),
        models: models(host),
    };
    let served = conversations.runtime.block_on(acp::serve(backend, defaults, &cancel));
    conversations.close();
    served.map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed("Cannot serve the editor")
    })?;
    Ok(Exit::Done)
}

/// The models that are set for any role, each once. Best effort: without settings that can be read there is nothing to choose.
fn models(host: &Host) -> Vec<String> {
    let listed = model::list(host, &ModelListRequest {});
    let roles = listed.map(|report| report.roles).unwrap_or_default();
    let mut models: Vec<String> = roles.into_iter().flat_map(|role| role.models).collect();
    // Words such as `auto` stand for no model of their own.
    models.retain(|model| model.contains('/'));
    models.sort_unstable();
    models.dedup();
    models
}
