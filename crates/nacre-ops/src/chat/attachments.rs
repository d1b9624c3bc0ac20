//! Files and images attached to a message.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use nacre_engine::agents::AgentDeps;
use nacre_engine::lifecycle::{self, Conversation, Item, Picture};
use nacre_engine::model::Role;
use nacre_engine::record::SessionId;
use nacre_engine::record::state::State;
use nacre_engine::tools::ToolError;
use nacre_types::{Attachment, ChatStartRequest};

use crate::prelude::*;

/// Larger text files are rejected. The agent can read them in parts instead.
const MAX_TEXT_BYTES: usize = 256 << 10;

const MAX_ATTACHMENTS: usize = 32;

/// Reads a request's attachments. Fails before the model is called if any of them cannot be sent.
pub(super) fn read_all(
    host: &Host,
    deps: &AgentDeps,
    request: &ChatStartRequest,
) -> Result<Vec<lifecycle::Attachment>> {
    if MAX_ATTACHMENTS < request.attachments.len() {
        let message = format!("A message can have at most {MAX_ATTACHMENTS} attachments");
        return Err(OpError::usage(message));
    }
    let all = request.attachments.iter().map(|attachment| read(host, deps, attachment));
    let all: Vec<_> = all.collect::<Result<_, _>>()?;
    let n_pictures = all.iter().filter(|attached| attached.picture.is_some()).count();
    if MAX_IN_MESSAGE < n_pictures {
        let message = format!("A message can have at most {MAX_IN_MESSAGE} images");
        return Err(OpError::usage(message));
    }
    Ok(all)
}

fn read(host: &Host, deps: &AgentDeps, attachment: &Attachment) -> Result<lifecycle::Attachment> {
    match attachment {
        Attachment::File { path } => {
            let refused = |error: ToolError| cannot(path).because(error.what);
            let place = deps.workspace.place(path).map_err(refused)?;
            let bytes = deps.workspace.read(&place).map_err(refused)?;
            if media_type(&bytes).is_some() {
                return picture(host, deps, place.as_str(), &bytes);
            }
            text_of(path, deps.workspace.read_text(&place).map_err(refused)?)
        }
        Attachment::Text { name, text } => text_of(name, text.clone()),
        Attachment::Image { media_type, data } => {
            let kind = media_type.rsplit('/').next().unwrap_or_default();
            let kind: String = kind.chars().filter(char::is_ascii_alphanumeric).collect();
            let Some(bytes) = from_base64(data) else {
                return Err(OpError::usage("The image is not valid base64"));
            };
            picture(host, deps, &format!("pasted.{kind}"), &bytes)
        }
    }
}

fn picture(
    host: &Host,
    deps: &AgentDeps,
    name: &str,
    bytes: &[u8],
) -> Result<lifecycle::Attachment> {
    if MAX_PICTURE_BYTES < bytes.len() {
        return Err(too_large(name, bytes.len(), MAX_PICTURE_BYTES)
            .hint("Make the file smaller, or attach only the relevant part"));
    }
    let route = deps.models.route(Role::Chat)?;
    if !route.takes_images() {
        let model = route.models().first().map(ToString::to_string).unwrap_or_default();
        let message = format!("{model} does not support images");
        return Err(OpError::new(ErrorCode::Refused, message)
            .hint("Describe the image, paste its text, or choose another model"));
    }
    keep(host, name, bytes)
}

fn text_of(name: &str, text: String) -> Result<lifecycle::Attachment> {
    if MAX_TEXT_BYTES < text.len() {
        return Err(too_large(name, text.len(), MAX_TEXT_BYTES).hint(
            "Mention the file name in your message; the agent then reads the file in parts",
        ));
    }
    Ok(lifecycle::Attachment::text(name, text))
}

fn too_large(name: &str, n_bytes: usize, most: usize) -> OpError {
    OpError::new(ErrorCode::TooLarge, cannot(name).message)
        .because(format!("it is {n_bytes} bytes, which exceeds the limit of {most}"))
}

fn cannot(name: &str) -> OpError {
    OpError::failed(format!("`{name}` cannot be attached"))
}

const FOLDER: &str = "pictures";

/// Providers reject larger images.
const MAX_PICTURE_BYTES: usize = 4 << 20;

/// Limits both the images in a message and the recent images that are sent again in a conversation.
const MAX_IN_MESSAGE: usize = 4;
const MAX_SENT: usize = 8;

const KINDS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
];

fn from_base64(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    LENIENT.decode(digits).ok()
}

pub(super) fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let known = KINDS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| *kind);
    known.or(is_webp.then_some("image/webp"))
}

pub(super) fn keep(host: &Host, name: &str, bytes: &[u8]) -> Result<lifecycle::Attachment> {
    let Some(media_type) = media_type(bytes) else {
        let message = format!("`{name}` is not a PNG, JPEG, GIF or WebP image");
        return Err(OpError::usage(message).hint("Convert the image to one of these formats"));
    };
    let file = ContentHash::of(bytes).to_string();
    let folder = host.home_folder(FOLDER)?;
    let path = RelPath::new(&file)?;
    if !folder.has(&path)? {
        let writer = folder.lock(&host.owner("chat"), host.settings().lock.wait)?;
        writer.write_atomic(&path, bytes)?;
    }
    let picture = Picture {
        media_type: media_type.to_owned(),
        file,
        n_bytes: bytes.len() as u64,
        data: Some(BASE64_STANDARD.encode(bytes).into()),
    };
    Ok(lifecycle::Attachment { name: name.to_owned(), text: String::new(), picture: Some(picture) })
}

/// Loads a conversation's latest images so that they can be sent again. A missing image has empty
/// data.
pub(super) fn look_up(host: &Host, conversation: &mut Conversation) {
    let Ok(folder) = host.home_folder(FOLDER) else { return };
    let attached = conversation.turns.iter_mut().rev().flat_map(|turn| turn.attachments.iter_mut());
    let pictures = attached.filter_map(|attachment| attachment.picture.as_mut());
    for picture in pictures.take(MAX_SENT) {
        let bytes = RelPath::new(&picture.file)
            .and_then(|path| folder.read(&path, MAX_PICTURE_BYTES as u64));
        picture.data = bytes.ok().map(|bytes| BASE64_STANDARD.encode(&bytes).into());
    }
}

pub(super) fn of_session(state: &State, session: &SessionId) -> Result<Vec<String>> {
    let records = state.items(session, 0, usize::MAX)?;
    let conversation =
        Conversation::from_items(records.iter().map(|one| Item::from_json(&one.json)));
    let attached = conversation.turns.into_iter().flat_map(|turn| turn.attachments);
    Ok(attached.filter_map(|attachment| attachment.picture).map(|picture| picture.file).collect())
}

/// Removes images that are no longer used by any conversation. Errors are ignored so that the
/// session can still be removed.
pub(super) fn drop_unused(host: &Host, state: &State, files: &[String]) -> Result<()> {
    let folder = host.home_folder(FOLDER)?;
    for file in files {
        if state.has_item_with(file)? {
            continue;
        }
        let path = RelPath::new(file)?;
        let writer = folder.lock(&host.owner("chat"), host.settings().lock.wait)?;
        writer.remove_derived(&path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_clients_write_it() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8", "fo"), ("Zm9v\nYmFy", "foobar")] {
            assert_eq!(from_base64(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        for wrong in ["Zm9v!", "Z===", "Zg==Zg==", "\u{e9}"] {
            assert_eq!(from_base64(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_picture_is_known_by_its_first_bytes() {
        for (bytes, expected) in [
            (b"\x89PNG\r\n\x1a\nrest".as_slice(), Some("image/png")),
            (b"\xff\xd8\xff\xe0rest", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\0\0\0\0WAVE", None),
            (b"<svg>", None),
            (b"", None),
        ] {
            assert_eq!(media_type(bytes), expected, "{bytes:?}");
        }
    }
}
