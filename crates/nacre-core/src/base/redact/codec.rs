//! Base64 in both directions, as far as it is needed to see what it hides.

/// More characters of a login are not decoded.
const MAX_LOGIN: usize = 640;

/// Encodes a group of three bytes.
pub(super) fn encode_group(bytes: &[u8]) -> [char; 4] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = bytes.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
    [18, 12, 6, 0].map(|shift| char::from(ALPHABET[bits >> shift & 63]))
}

/// Decodes whole groups up to the first character that is no base64. Bytes that are not ASCII become blanks, so that
/// every byte has its place.
pub(super) fn decode(chars: &[u8]) -> String {
    let to_char = |byte: u8| if byte.is_ascii() { char::from(byte) } else { ' ' };
    decode_bytes(chars).into_iter().map(to_char).collect()
}

fn decode_bytes(chars: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(chars.len() / 4 * 3 + 3);
    for group in chars.chunks(4) {
        let n_chars = group.iter().take_while(|byte| value(**byte).is_some()).count();
        let bits =
            group[..n_chars].iter().fold(0, |bits, byte| bits << 6 | value(*byte).unwrap_or(0));
        let bits = bits << (6 * (4 - n_chars));
        for shift in [16, 8, 0].into_iter().take((n_chars * 6) / 8) {
            decoded.push((bits >> shift & 255) as u8);
        }
        if n_chars < 4 {
            break;
        }
    }
    decoded
}

fn value(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// Says whether `chars` decode to text, to the last character.
pub(super) fn is_text(chars: &[u8]) -> bool {
    let decoded = decode(chars);
    let n_encoded = chars.iter().filter(|byte| **byte != b'=').count();
    decoded.len() == n_encoded * 3 / 4 && decoded.bytes().all(is_text_byte)
}

/// Says whether a byte is one of readable text.
pub(super) fn is_text_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() || b" \n\r\t".contains(&byte)
}

/// Says whether `value` is base64 of `user:password`, as registries keep it.
pub(super) fn is_login(value: &[u8]) -> bool {
    let decoded = decode(&value[..value.len().min(MAX_LOGIN)]);
    let n_encoded = value.iter().filter(|byte| **byte != b'=').count();
    let is_whole = decoded.len() == n_encoded.min(MAX_LOGIN) * 3 / 4;
    let is_graphic = decoded.bytes().all(|byte| byte.is_ascii_graphic());
    let parts = decoded.split_once(':');
    is_whole
        && is_graphic
        && parts.is_some_and(|(user, password)| !user.is_empty() && password.len() >= 4)
}
