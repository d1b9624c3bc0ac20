//! Bytes as text, by the usual alphabet.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |idx: usize| u32::from(group.get(idx).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for place in 0..4 {
            let digit = ((bits >> (18 - 6 * place)) & 63) as usize;
            text.push(if place <= group.len() { ALPHABET[digit].into() } else { '=' });
        }
    }
    text
}

/// `None` if the text is not base64; white space in it and a missing end are taken.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut n_bits) = (0_u32, 0);
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let digits: Vec<u8> = digits.collect();
    let end = digits.iter().rposition(|byte| *byte != b'=').map_or(0, |at| at + 1);
    if 2 < digits.len() - end {
        return None;
    }
    for digit in &digits[..end] {
        let value = ALPHABET.iter().position(|known| known == digit)?;
        bits = (bits << 6) | u32::try_from(value).ok()?;
        n_bits += 6;
        if 8 <= n_bits {
            n_bits -= 8;
            bytes.push(u8::try_from((bits >> n_bits) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(decode("Zm9v\nYmFy").as_deref(), Some(b"foobar".as_slice()));
        for wrong in ["Zm9v!", "Z===", "Zg==Zg==", "\u{e9}"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}
