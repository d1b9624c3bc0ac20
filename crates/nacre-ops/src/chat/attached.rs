//! What comes with a person's words, as the model is given it.

use nacre_api::wire::{Attachment, ChatStartRequest, ErrorCode};
use nacre_engine::lifecycle;
use nacre_engine::model::{Models, Role};
use nacre_engine::tools::{ToolError, Workspace};

use super::{base64, pictures};
use crate::error::OpError;
use crate::host::Host;

/// Larger texts are left for the agent to read piece by piece.
const MAX_BYTES: usize = 256 << 10;

/// More things do not come with one message.
const MAX_ATTACHMENTS: usize = 32;

/// Where attachments lie, and who is given them.
pub(super) struct Attaching<'a> {
    pub(super) host: &'a Host,
    pub(super) workspace: &'a Workspace,
    pub(super) models: &'a Models,
}

impl Attaching<'_> {
    /// Reads the attachments of a request. What cannot be given to the model is an error before anything is asked.
    pub(super) fn read_all(
        &self,
        request: &ChatStartRequest,
    ) -> Result<Vec<lifecycle::Attachment>, OpError> {
        if MAX_ATTACHMENTS < request.attachments.len() {
            let message = format!("At most {MAX_ATTACHMENTS} things can be attached to a message");
            return Err(OpError::usage(message));
        }
        let read = |attachment| self.read(attachment);
        let all: Vec<_> = request.attachments.iter().map(read).collect::<Result<_, _>>()?;
        let n_pictures = all.iter().filter(|attached| attached.picture.is_some()).count();
        if pictures::MAX_IN_MESSAGE < n_pictures {
            let most = pictures::MAX_IN_MESSAGE;
            return Err(OpError::usage(format!("At most {most} pictures fit into a message")));
        }
        Ok(all)
    }

    fn read(&self, attachment: &Attachment) -> Result<lifecycle::Attachment, OpError> {
        match attachment {
            Attachment::File { path } => self.file(path),
            Attachment::Text { name, text } => text_of(name, text.clone()),
            Attachment::Image { media_type, data } => {
                let kind = media_type.rsplit('/').next().unwrap_or_default();
                let kind: String = kind.chars().filter(char::is_ascii_alphanumeric).collect();
                let name = format!("pasted.{kind}");
                let Some(bytes) = base64::decode(data) else {
                    return Err(OpError::usage("The picture is not valid base64"));
                };
                self.picture(&name, &bytes)
            }
        }
    }

    fn file(&self, path: &str) -> Result<lifecycle::Attachment, OpError> {
        let refused = |error: ToolError| OpError { causes: vec![error.what], ..cannot(path) };
        let place = self.workspace.place(path).map_err(refused)?;
        let bytes = self.workspace.read(&place).map_err(refused)?;
        if pictures::media_type(&bytes).is_some() {
            return self.picture(place.as_str(), &bytes);
        }
        let text = self.workspace.read_text(&place).map_err(refused)?;
        text_of(path, text)
    }

    fn picture(&self, name: &str, bytes: &[u8]) -> Result<lifecycle::Attachment, OpError> {
        if pictures::MAX_BYTES < bytes.len() {
            return Err(too_large(name, bytes.len(), pictures::MAX_BYTES)
                .hint("Make it smaller, or attach the part that matters"));
        }
        let route = self.models.route(Role::Chat)?;
        if !route.takes_images() {
            let model = route.models().first().map(ToString::to_string).unwrap_or_default();
            let refused = OpError::failed(format!("Pictures cannot be given to {model}"));
            return Err(OpError { code: ErrorCode::Refused, ..refused }
                .hint("Describe it in words, paste its text, or choose another model"));
        }
        pictures::keep(self.host, name, bytes)
    }
}

fn text_of(name: &str, text: String) -> Result<lifecycle::Attachment, OpError> {
    if MAX_BYTES < text.len() {
        return Err(too_large(name, text.len(), MAX_BYTES)
            .hint("Name the file in your message; the agent reads it piece by piece"));
    }
    Ok(lifecycle::Attachment::text(name, text))
}

fn too_large(name: &str, n_bytes: usize, most: usize) -> OpError {
    let causes = vec![format!("it has {n_bytes} bytes, and {most} are the most")];
    OpError { code: ErrorCode::TooLarge, causes, ..cannot(name) }
}

fn cannot(name: &str) -> OpError {
    OpError::failed(format!("`{name}` cannot be attached"))
}
