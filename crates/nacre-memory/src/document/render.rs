//! Writes values as YAML that means the same in versions 1.1 and 1.2.

use std::fmt::Write;

pub(super) fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quote(text) }
}

pub(super) fn flow_list<S: AsRef<str>>(items: &[S]) -> String {
    let items = items.iter().map(AsRef::as_ref).map(|item| {
        let is_plain = is_plain(item) && !item.contains([',', '[', ']', '{', '}']);
        if is_plain { item.to_owned() } else { quote(item) }
    });
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// Renders a number in its shortest form. NaN and infinity are written in YAML notation.
pub(super) fn number(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else if value.is_nan() {
        ".nan".to_owned()
    } else if value < 0.0 {
        "-.inf".to_owned()
    } else {
        ".inf".to_owned()
    }
}

fn is_plain(text: &str) -> bool {
    let starts_well =
        text.chars().next().is_some_and(|first| first.is_alphanumeric() || "_/($".contains(first));
    starts_well
        && !text.ends_with(char::is_whitespace)
        && !text.ends_with(':')
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains(must_be_escaped)
        && !is_word_of_yaml(text)
        && !is_number_like(text)
        && (!starts_with_date(text) || is_timestamp(text))
}

fn is_word_of_yaml(text: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn is_number_like(text: &str) -> bool {
    let prefixed = ["0x", "0X", "0o", "0O", "0b", "0B"];
    if prefixed.iter().any(|prefix| text.starts_with(prefix)) {
        return text[2..].chars().all(|digit| digit.is_ascii_hexdigit() || digit == '_');
    }
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(|part| part.is_ascii_digit() || "_.,:eE+-".contains(part))
}

/// Returns whether the string begins like `2026-1-31`, which YAML 1.1 parses as a date.
fn starts_with_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let is_digits = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_digit())
    };
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let day_len = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (day, after) = rest.split_at(day_len);
    is_digits(year, 4..=4)
        && is_digits(month, 1..=2)
        && is_digits(day, 1..=2)
        && (after.is_empty() || after.starts_with(['T', 't', ' ']))
}

/// Returns whether the string is an RFC 3339 timestamp, which needs no quotes.
fn is_timestamp(text: &str) -> bool {
    let fits = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(byte, want)| match want {
                b'0' => byte.is_ascii_digit(),
                _ => byte == want,
            })
    };
    let Some((moment, rest)) = text.split_at_checked("0000-00-00T00:00:00".len()) else {
        return false;
    };
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|part: char| part.is_ascii_digit()),
        None => rest,
    };
    let has_fraction = zone.len() + 1 < rest.len();
    fits(moment, "0000-00-00T00:00:00")
        && (has_fraction || zone.len() == rest.len())
        && (zone == "Z" || fits(zone, "+00:00") || fits(zone, "-00:00"))
}

/// Renders a string as a JSON string, which is also valid YAML. Invisible characters are escaped.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other if must_be_escaped(other) => push_escape(&mut quoted, other),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn push_escape(quoted: &mut String, character: char) {
    let code = u32::from(character);
    // JSON represents characters outside the basic plane as surrogate pairs, which YAML does not
    // support.
    let written = if code <= 0xffff {
        write!(quoted, "\\u{code:04x}")
    } else {
        write!(quoted, "\\U{code:08x}")
    };
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

/// Returns whether a character is invisible, breaks or reorders lines, or is a noncharacter.
fn must_be_escaped(character: char) -> bool {
    let code = u32::from(character);
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fdd0}'..='\u{fdef}'
            | '\u{e0000}'..='\u{e007f}')
        || code & 0xfffe == 0xfffe
}
