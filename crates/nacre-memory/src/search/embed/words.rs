//! Splits text into words to look up in the built-in model. Each identifier is looked up both as a
//! whole and part by part.
//!
//! Characters are classified in one pass with fixed tables, so the time is linear even for
//! malicious text, and the result does not depend on the Unicode version. `docs/embedding.md`
//! specifies the behavior.

/// Longer words are truncated, because no vocabulary contains them.
const MAX_WORD_BYTES: usize = 64;

/// Calls `visit` with each run of letters and digits, and with each other visible character. Stops
/// if `visit` returns `false`.
pub(super) fn each_chunk(text: &str, mut visit: impl FnMut(&str) -> bool) {
    let mut run = String::new();
    for c in text.chars() {
        if is_dropped(c) {
            continue;
        }
        if c.is_alphanumeric() && !is_ideograph(c) {
            run.push(c);
            continue;
        }
        if !run.is_empty() && !visit(&run) {
            return;
        }
        run.clear();
        if !c.is_whitespace() && !visit(c.encode_utf8(&mut [0; 4])) {
            return;
        }
    }
    if !run.is_empty() {
        visit(&run);
    }
}

/// Splits an identifier: `getHTTPResponse2` becomes `get`, `HTTP`, `Response`, `2`.
pub(super) fn parts(chunk: &str) -> impl Iterator<Item = &str> {
    let mut rest = chunk;
    std::iter::from_fn(move || {
        let end = part_end(rest)?;
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

fn part_end(chunk: &str) -> Option<usize> {
    let mut chars = chunk.char_indices().peekable();
    let (_, mut before) = chars.next()?;
    while let Some((at, c)) = chars.next() {
        let begins_hump = c.is_uppercase() && !before.is_uppercase();
        let ends_acronym = c.is_uppercase()
            && before.is_uppercase()
            && chars.peek().is_some_and(|(_, next)| !next.is_uppercase() && !next.is_ascii_digit());
        if begins_hump || ends_acronym || c.is_ascii_digit() != before.is_ascii_digit() {
            return Some(at);
        }
        before = c;
    }
    Some(chunk.len())
}

/// Writes `chunk` to `folded` in lower case with accents removed, truncating it if necessary.
pub(super) fn fold(chunk: &str, folded: &mut String) {
    folded.clear();
    for c in chunk.chars().flat_map(char::to_lowercase) {
        let c = match c {
            '\u{300}'..='\u{36f}' => continue,
            _ => plain_latin(c),
        };
        if folded.len() + c.len_utf8() > MAX_WORD_BYTES {
            return;
        }
        folded.push(c);
    }
}

fn plain_latin(c: char) -> char {
    if !matches!(u32::from(c), 0xC0..=0x24F | 0x1E00..=0x1EFF) {
        return c;
    }
    ACCENTED.iter().find(|(_, accented)| accented.contains(c)).map_or(c, |(plain, _)| *plain)
}

/// Accented lowercase Latin letters in Unicode 14. The model was trained with this table, so it
/// must not be updated for later versions.
const ACCENTED: &[(char, &str)] = &[
    ('a', "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"),
    ('b', "ḃḅḇ"),
    ('c', "çćĉċčḉ"),
    ('d', "ďḋḍḏḑḓ"),
    ('e', "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"),
    ('f', "ḟ"),
    ('g', "ĝğġģǧǵḡ"),
    ('h', "ĥȟḣḥḧḩḫẖ"),
    ('i', "ìíîïĩīĭįǐȉȋḭḯỉị"),
    ('j', "ĵǰ"),
    ('k', "ķǩḱḳḵ"),
    ('l', "ĺļľḷḹḻḽ"),
    ('m', "ḿṁṃ"),
    ('n', "ñńņňǹṅṇṉṋ"),
    ('o', "òóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"),
    ('p', "ṕṗ"),
    ('r', "ŕŗřȑȓṙṛṝṟ"),
    ('s', "śŝşšșṡṣṥṧṩ"),
    ('t', "ţťțṫṭṯṱẗ"),
    ('u', "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"),
    ('v', "ṽṿ"),
    ('w', "ŵẁẃẅẇẉẘ"),
    ('x', "ẋẍ"),
    ('y', "ýÿŷȳẏẙỳỵỷỹ"),
    ('z', "źżžẑẓẕ"),
];

fn is_ideograph(c: char) -> bool {
    matches!(
        u32::from(c),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x2_0000..=0x2_A6DF
            | 0x2_A700..=0x2_CEAF
            | 0xF900..=0xFAFF
            | 0x2_F800..=0x2_FA1F
    )
}

/// Returns whether a character is skipped without ending a word, such as a control character or a
/// combining accent.
fn is_dropped(c: char) -> bool {
    let is_unseen = matches!(
        c,
        '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{feff}' | '\u{200b}'..='\u{200f}'
    );
    is_unseen || (c.is_control() && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        each_chunk(text, |chunk| {
            seen.push(chunk.to_owned());
            true
        });
        seen
    }

    #[test]
    fn text_is_cut_between_words_and_signs() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            (" \t\n", &[]),
            ("Use SQLite.", &["Use", "SQLite", "."]),
            ("snake_case-x", &["snake", "_", "case", "-", "x"]),
            ("co\u{ad}op\u{0}s", &["coops"]),
            ("記憶ab", &["記", "憶", "ab"]),
            ("a→b", &["a", "→", "b"]),
        ];
        for (text, expected) in cases {
            assert_eq!(chunks(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn identifiers_have_parts() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("plain", &["plain"]),
            ("getUserById", &["get", "User", "By", "Id"]),
            ("HTTPServer", &["HTTP", "Server"]),
            ("utf8", &["utf", "8"]),
            ("AB2c", &["AB", "2", "c"]),
            ("ÉcoleÀParis", &["École", "À", "Paris"]),
        ];
        for (chunk, expected) in cases {
            assert_eq!(parts(chunk).collect::<Vec<_>>(), *expected, "{chunk:?}");
        }
    }

    #[test]
    fn words_are_folded_and_cut() {
        let mut folded = String::new();
        for (word, expected) in [("Élan", "elan"), ("İ", "i"), ("ØRE", "øre"), ("Й", "й")] {
            fold(word, &mut folded);
            assert_eq!(folded, expected);
        }
        fold(&"é".repeat(100), &mut folded);
        assert_eq!(folded, "e".repeat(64));
        fold(&"й".repeat(100), &mut folded);
        assert_eq!(folded, "й".repeat(32));
    }
}
