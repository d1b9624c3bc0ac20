//! What comes with a person's words, as the model is given it.

use nacre_api::wire::{Attachment, ChatStartRequest, ErrorCode};
use nacre_core::safefs::RelPath;
use nacre_engine::lifecycle;
use nacre_engine::tools::Workspace;

use crate::error::OpError;

/// Larger texts are left for the agent to read piece by piece.
const MAX_BYTES: usize = 256 << 10;

/// So many things come with one message.
const MAX_ATTACHMENTS: usize = 32;

/// Reads the attachments of a request. What cannot be given to the model is an error before anything is asked.
pub(super) fn attachments(
    workspace: &Workspace,
    request: &ChatStartRequest,
) -> Result<Vec<lifecycle::Attachment>, OpError> {
    if MAX_ATTACHMENTS < request.attachments.len() {
        let message = format!("At most {MAX_ATTACHMENTS} things can be attached to a message");
        return Err(OpError::usage(message));
    }
    request.attachments.iter().map(|attachment| read(workspace, attachment)).collect()
}

fn read(workspace: &Workspace, attachment: &Attachment) -> Result<lifecycle::Attachment, OpError> {
    match attachment {
        Attachment::File { path } => {
            let place = RelPath::new(path)?;
            let text = workspace
                .read_text(&place)
                .map_err(|error| OpError { causes: vec![error.what], ..cannot(path) })?;
            text_of(path, text)
        }
        Attachment::Text { name, text } => text_of(name, text.clone()),
        Attachment::Image { .. } => Err(OpError {
            code: ErrorCode::Refused,
            ..OpError::failed("Pictures cannot be given to a model yet")
        }
        .hint("Describe it in words, or paste its text")),
    }
}

fn text_of(name: &str, text: String) -> Result<lifecycle::Attachment, OpError> {
    if MAX_BYTES < text.len() {
        let causes = vec![format!("it has {} bytes, and {MAX_BYTES} are the most", text.len())];
        return Err(OpError { code: ErrorCode::TooLarge, causes, ..cannot(name) }
            .hint("Name the file in your message; the agent reads it piece by piece"));
    }
    Ok(lifecycle::Attachment { name: name.to_owned(), text })
}

fn cannot(name: &str) -> OpError {
    OpError::failed(format!("`{name}` cannot be attached"))
}
