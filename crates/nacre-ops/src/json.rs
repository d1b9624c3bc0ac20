//! JSON output, shared by all front ends.

use serde::Serialize;

/// Escapes everything except visible ASCII characters, so that control characters cannot reach a
/// terminal or a log.
pub fn ascii_json(json: String) -> String {
    if json.is_ascii() {
        return json;
    }
    let mut ascii = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            ascii.push(c);
            continue;
        }
        let mut units = [0_u16; 2];
        for unit in c.encode_utf16(&mut units) {
            ascii.push_str(&format!("\\u{unit:04x}"));
        }
    }
    ascii
}

/// Serializes a value to one line, without a trailing newline.
pub fn json_line(value: &impl Serialize) -> String {
    ascii_json(serde_json::to_string(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ascii_is_escaped_and_reads_back_as_it_was() {
        for text in ["plain", "späť", "\u{202e}tfel", "🦪 in two units", "\u{7}\n"] {
            let line = json_line(&text);
            assert!(line.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{line}");
            assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
    }
}
