//! Pictures that a person attaches: looked at by their first bytes, kept beside the conversations by their hash, and read
//! again when the conversation goes on.

use nacre_core::base::ContentHash;
use nacre_core::safefs::{Access, RelPath, WriteScope};
use nacre_engine::lifecycle::{Attachment, Conversation, Item, Picture};
use nacre_engine::record::SessionId;
use nacre_engine::record::state::State;

use super::base64;
use crate::error::OpError;
use crate::host::Host;

/// The folder below the global one.
const FOLDER: &str = "pictures";

/// Larger ones are refused by providers.
pub(super) const MAX_BYTES: usize = 4 << 20;

/// Of one message, and of a conversation: older ones are not sent again.
pub(super) const MAX_IN_MESSAGE: usize = 4;
const MAX_SENT: usize = 8;

/// The kinds that providers take, by their first bytes.
const KINDS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
];

/// What kind of picture the bytes are; `None` if they are no picture that can be sent.
pub(super) fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let known = KINDS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| *kind);
    known.or(is_webp.then_some("image/webp"))
}

/// Keeps a picture; returns it as the conversation holds it, with what is sent.
pub(super) fn keep(host: &Host, name: &str, bytes: &[u8]) -> Result<Attachment, OpError> {
    let Some(media_type) = media_type(bytes) else {
        let message = format!("`{name}` is not a PNG, JPEG, GIF or WebP picture");
        return Err(OpError::usage(message).hint("Attach it in one of these formats"));
    };
    let file = ContentHash::of(bytes).to_string();
    let folder = folder(host)?;
    let path = RelPath::new(&file)?;
    if !folder.has(&path)? {
        let writer = folder.lock(&host.owner("chat"), host.settings().lock.wait)?;
        writer.write_atomic(&path, bytes)?;
    }
    let picture = Picture {
        media_type: media_type.to_owned(),
        file,
        n_bytes: bytes.len() as u64,
        data: Some(base64::encode(bytes).into()),
    };
    Ok(Attachment { name: name.to_owned(), text: String::new(), picture: Some(picture) })
}

/// Looks up the latest pictures of a conversation, so that they are sent again. One that is gone is named.
pub(super) fn look_up(host: &Host, conversation: &mut Conversation) {
    let Ok(folder) = folder(host) else { return };
    let attached = conversation.turns.iter_mut().rev().flat_map(|turn| turn.attachments.iter_mut());
    let pictures = attached.filter_map(|attachment| attachment.picture.as_mut());
    for picture in pictures.take(MAX_SENT) {
        let bytes =
            RelPath::new(&picture.file).and_then(|path| folder.read(&path, MAX_BYTES as u64));
        picture.data = bytes.ok().map(|bytes| base64::encode(&bytes).into());
    }
}

/// The pictures of a session, by their files.
pub(super) fn of_session(state: &State, session: &SessionId) -> Result<Vec<String>, OpError> {
    let records = state.items(session, 0, usize::MAX)?;
    let conversation =
        Conversation::from_items(records.iter().map(|one| Item::from_json(&one.json)));
    let attached = conversation.turns.into_iter().flat_map(|turn| turn.attachments);
    Ok(attached.filter_map(|attachment| attachment.picture).map(|picture| picture.file).collect())
}

/// Removes pictures that no conversation has any more. What cannot be removed now is no reason to keep the session.
pub(super) fn drop_unused(host: &Host, state: &State, files: &[String]) -> Result<(), OpError> {
    let folder = folder(host)?;
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

fn folder(host: &Host) -> Result<WriteScope, OpError> {
    Ok(WriteScope::create_inside(host.home_scope()?.path(), FOLDER, Access::Private)?)
}

#[cfg(test)]
mod tests {
    use super::*;

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
