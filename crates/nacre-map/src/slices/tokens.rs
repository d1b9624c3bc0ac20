//! How many tokens a text has at most, without any model's vocabulary.
//!
//! Budgets are promises, so the count errs upwards. It was fitted to two tokenizers of OpenAI and one of Anthropic on two
//! thousand pieces of code and prose: never below the largest of the three, 36 % above it in the middle (`docs/map.md`).

/// What a run of characters of one kind costs.
fn cost(kind: Kind, n_bytes: usize) -> usize {
    match kind {
        Kind::Lower => match n_bytes {
            0..=4 => 1,
            5..=8 => 2,
            n_bytes => n_bytes.div_ceil(3),
        },
        Kind::Upper => n_bytes.div_ceil(2),
        Kind::Digit if n_bytes < 3 => n_bytes,
        Kind::Digit | Kind::Mark if 1 < n_bytes => (2 * n_bytes).div_ceil(3),
        Kind::Digit | Kind::Mark => 1,
        // A space before a word is part of it.
        Kind::Space if n_bytes == 1 => 0,
        Kind::Space | Kind::Line => 1,
        Kind::Other => n_bytes,
    }
}

/// What characters are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Lower,
    Upper,
    Digit,
    Mark,
    Space,
    /// A line break and the indentation behind it.
    Line,
    Other,
}

fn kind_of(byte: u8) -> Kind {
    match byte {
        b'a'..=b'z' => Kind::Lower,
        b'A'..=b'Z' => Kind::Upper,
        b'0'..=b'9' => Kind::Digit,
        b' ' | b'\t' | b'\r' => Kind::Space,
        b'\n' => Kind::Line,
        0x80.. => Kind::Other,
        _ => Kind::Mark,
    }
}

/// Counts the tokens of a text, rather too many than too few.
pub fn tokens(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut n_tokens) = (0, 0);
    while at < bytes.len() {
        let kind = kind_of(bytes[at]);
        let mut end = at + 1;
        while end < bytes.len() && continues(kind, bytes, end) {
            end += 1;
        }
        // `Pearl` is one word, `PEARL` is not, and of `XMLFile` the last capital belongs to the word.
        let is_capital = kind == Kind::Upper && bytes.get(end).is_some_and(u8::is_ascii_lowercase);
        if is_capital {
            let word = end - 1;
            n_tokens += if at < word { cost(Kind::Upper, word - at) } else { 0 };
            end = word + 1;
            while bytes.get(end).is_some_and(u8::is_ascii_lowercase) {
                end += 1;
            }
            n_tokens += cost(Kind::Lower, end - word);
        } else {
            n_tokens += cost(kind, end - at);
        }
        at = end;
    }
    n_tokens
}

fn continues(kind: Kind, bytes: &[u8], at: usize) -> bool {
    // An underscore stands for itself: it joins words that are counted one by one.
    if bytes[at] == b'_' || bytes[at - 1] == b'_' {
        return false;
    }
    match (kind, kind_of(bytes[at])) {
        (Kind::Line, next) => next == Kind::Space,
        (kind, next) => kind == next,
    }
}
