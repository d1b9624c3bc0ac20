//! The conversation in an editor.

use std::path::PathBuf;

use nacre_ops::OpError;

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::ChatArgs;
use super::link::Conversations;
use crate::acp::{self, Backend, SessionDefaults};

/// Serves one editor until it closes the input.
pub(super) fn serve(
    ui: &mut Ui,
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
    };
    let served = conversations.runtime.block_on(acp::serve(backend, defaults, &cancel));
    conversations.close();
    served.map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed("Cannot serve the editor")
    })?;
    Ok(Exit::Done)
}
