//! Classifies a value on its own as random, a chosen password, or a placeholder.
//!
//! Entropy alone cannot distinguish `utf8_to_base64_converter` from a key. The number of switches
//! between letters, digits and cases is a better indicator, because most names have few.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// A longer sample would not change the result.
pub(super) const SAMPLE: usize = 256;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stats {
    pub(super) len: usize,
    pub(super) n_lower: usize,
    pub(super) n_upper: usize,
    pub(super) n_digits: usize,
    pub(super) n_marks: usize,
    pub(super) n_distinct: usize,
    /// Number of character class changes that are rare in names: `a1`, `1a` and `ABc`, but not `aB`
    /// or `Ab`.
    pub(super) n_jumps: usize,
    pub(super) is_hex: bool,
    /// Shannon entropy in bits per byte.
    pub(super) entropy: f32,
}

impl Stats {
    pub(super) fn of(value: &[u8]) -> Self {
        let value = &value[..value.len().min(SAMPLE)];
        let mut stats = Self { len: value.len(), is_hex: true, ..Self::default() };
        let mut counts = [0_u16; 256];
        let mut last = Class::Mark;
        let mut n_upper_run = 0;
        for byte in value {
            counts[usize::from(*byte)] += 1;
            let class = Class::of(*byte);
            match class {
                Class::Lower => stats.n_lower += 1,
                Class::Upper => stats.n_upper += 1,
                Class::Digit => stats.n_digits += 1,
                Class::Mark => stats.n_marks += 1,
            }
            stats.is_hex &= byte.is_ascii_hexdigit();
            stats.n_jumps += usize::from(is_jump(last, class, n_upper_run));
            n_upper_run = if class == Class::Upper { n_upper_run + 1 } else { 0 };
            last = class;
        }
        stats.measure(value, &mut counts);
        stats
    }

    /// Visits each distinct byte of the value once. Iterating over the whole table would be slower,
    /// because most of it is zero.
    fn measure(&mut self, value: &[u8], counts: &mut [u16; 256]) {
        let total = f32::from(u16::try_from(self.len).unwrap_or(u16::MAX)).max(1.0);
        for byte in value {
            let count = std::mem::take(&mut counts[usize::from(*byte)]);
            if count > 0 {
                let share = f32::from(count) / total;
                self.entropy -= share * share.log2();
                self.n_distinct += 1;
            }
        }
    }

    fn n_letters(&self) -> usize {
        self.n_lower + self.n_upper
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Mark,
}

impl Class {
    fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' => Self::Lower,
            b'A'..=b'Z' => Self::Upper,
            b'0'..=b'9' => Self::Digit,
            _ => Self::Mark,
        }
    }
}

fn is_jump(last: Class, class: Class, n_upper_run: usize) -> bool {
    match (last, class) {
        (Class::Lower | Class::Upper, Class::Digit)
        | (Class::Digit, Class::Lower | Class::Upper) => true,
        (Class::Upper, Class::Lower) => n_upper_run > 1,
        (Class::Lower, Class::Upper | Class::Lower | Class::Mark)
        | (Class::Upper, Class::Upper | Class::Mark)
        | (Class::Digit, Class::Digit | Class::Mark)
        | (Class::Mark, Class::Lower | Class::Upper | Class::Digit | Class::Mark) => false,
    }
}

/// Returns whether the text after a known prefix could be part of a real secret, unlike `xxxx…` or
/// plain words.
pub(super) fn is_plausible(body: &[u8]) -> bool {
    let stats = Stats::of(body);
    stats.n_distinct >= 6.min(stats.len / 2) && !has_placeholder(body)
}

/// Returns whether a value of at least 16 bytes looks generated.
pub(super) fn is_random(value: &[u8]) -> bool {
    if value.len() < 16 {
        return false;
    }
    let stats = Stats::of(value);
    if stats.n_distinct < 8 || stats.entropy < 2.8 {
        return false;
    }
    if stats.is_hex {
        return stats.n_digits >= 3 && stats.n_letters() >= 3;
    }
    let jumps_enough = stats.n_jumps * 7 >= stats.len;
    stats.n_letters() >= 4 && (jumps_enough || is_mixed_blob(value, &stats)) && !is_dated(value)
}

/// Returns whether the text after a distinctive prefix looks generated. The threshold is lower than
/// for a value that follows a name.
pub(super) fn is_generated(body: &[u8]) -> bool {
    let stats = Stats::of(body);
    let is_mixed_case = stats.n_upper * 5 >= stats.len && stats.n_lower * 5 >= stats.len;
    stats.n_distinct >= 8 && (stats.n_jumps * 14 >= stats.len || is_mixed_case) || is_random(body)
}

fn is_mixed_blob(value: &[u8], stats: &Stats) -> bool {
    let n_turns = value
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() != pair[1].is_ascii_lowercase())
        .count();
    stats.n_upper * 4 >= stats.len
        && stats.n_lower * 4 >= stats.len
        && stats.n_jumps * 20 >= stats.len
        && n_turns * 3 >= stats.len
}

fn is_dated(value: &[u8]) -> bool {
    value.len() < 40
        && value.iter().all(|byte| {
            byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b'.' | b'T' | b'Z' | b'+' | b'/')
        })
}

/// Returns whether a value of at least 8 bytes mixes character classes the way human-chosen secrets
/// do.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    if value.len() < 8 {
        return false;
    }
    let stats = Stats::of(value);
    let n_signs = value.iter().filter(|byte| is_password_sign(**byte)).count();
    stats.n_distinct >= 5
        && stats.n_letters() >= 2
        && (stats.n_jumps >= 3 || (stats.n_jumps >= 1 && n_signs >= 1))
        && !is_dated(value)
}

/// Returns whether a value is random, or mixes character classes in a way that identifiers do not.
pub(super) fn is_chosen(value: &[u8]) -> bool {
    is_random(value) || (is_mixed(value) && !is_identifier(value))
}

/// Returns whether an alphanumeric value switches character classes so often that it cannot be a
/// name or hash.
pub(super) fn is_certain(value: &[u8]) -> bool {
    let stats = Stats::of(value);
    stats.n_marks == 0
        && !stats.is_hex
        && stats.n_digits >= 3
        && stats.n_jumps * 5 >= stats.len
        && is_random(value)
}

/// Returns whether a value is a single base64 word with mixed case and digits throughout, unlike
/// names, paths and hexadecimal hashes.
pub(super) fn is_dense(value: &[u8]) -> bool {
    let stats = Stats::of(value);
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte);
    stats.len >= 20
        && value.iter().all(is_base64)
        && stats.n_upper >= 3
        && stats.n_lower >= 3
        && stats.n_digits >= 2
        && stats.n_marks * 8 <= stats.len
        && stats.n_jumps * 5 >= stats.len
}

/// Returns whether a value is an identifier or a dotted path of identifiers, optionally with a
/// number at the end.
pub(super) fn is_identifier(value: &[u8]) -> bool {
    let is_name = |part: &[u8]| {
        let n_digits = part.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let stem = &part[..part.len() - n_digits];
        n_digits <= 2 && stem.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
    };
    value.split(|byte| matches!(byte, b'.' | b'-' | b'/' | b':')).all(is_name)
}

/// Returns whether a value has upper-case and lower-case letters and digits, or contains a
/// character that is not allowed in names.
pub(super) fn has_all_classes(value: &[u8]) -> bool {
    let has = |is_one: fn(&u8) -> bool| value.iter().any(is_one);
    has(|byte| is_password_sign(*byte))
        || (has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit))
}

/// Returns whether a value could be a chosen password: letters with digits or symbols.
pub(super) fn is_password(value: &[u8]) -> bool {
    if value.len() < 8 {
        return false;
    }
    let stats = Stats::of(value);
    if stats.n_distinct < 4 || stats.n_letters() < 2 {
        return false;
    }
    let n_signs = value.iter().filter(|byte| is_password_sign(**byte)).count();
    let is_name_with_number =
        stats.n_jumps <= 1 && n_signs == 0 && stats.n_digits <= 2 && stats.n_marks == 0;
    (stats.n_digits > 0 && !is_name_with_number) || n_signs > 0 || is_passphrase(value)
}

fn is_password_sign(byte: u8) -> bool {
    b"!@#$%^&*+=~?".contains(&byte)
}

/// Returns whether a value consists only of letters and does not contain "pass".
pub(super) fn is_word(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_alphabetic)
        && !value.windows(4).any(|run| run.eq_ignore_ascii_case(b"pass"))
        && Stats::of(value).n_distinct >= 4
}

/// Returns whether a value is longer than most words in a form or message.
pub(super) fn is_joined_words(value: &[u8]) -> bool {
    value.len() >= 12 && is_word(value)
}

fn is_passphrase(value: &[u8]) -> bool {
    let mut n_words = 0;
    for word in value.split(|byte| *byte == b'-') {
        if word.len() < 3 || !word.iter().all(u8::is_ascii_lowercase) {
            return false;
        }
        n_words += 1;
    }
    n_words >= 4
}

/// Returns whether several words form a passphrase: four or more plain words, or fewer with digits
/// or symbols. None of the words may be common in labels and messages.
pub(super) fn is_phrase(value: &[u8]) -> bool {
    let words: Vec<&[u8]> = value.split(|byte| *byte == b' ').collect();
    let is_text = |byte: &u8| byte.is_ascii_graphic() && !b"()[]{}<>|;,:=\\\"`".contains(byte);
    let can_be = |word: &&[u8]| !word.is_empty() && word.iter().all(is_text);
    if !(2..=10).contains(&words.len()) || !words.iter().all(can_be) || value.len() < 8 {
        return false;
    }
    let is_plain = |word: &&[u8]| word.len() >= 3 && word.iter().all(u8::is_ascii_lowercase);
    let is_chosen = (words.len() >= 4 && words.iter().all(is_plain)) || is_mixed(value);
    is_chosen && !words.iter().any(|word| is_message_word(word))
}

pub(super) fn is_message_word(word: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
    let n_word = word.iter().take_while(|byte| is_letter(byte)).count();
    let mut others = MESSAGE_WORDS.split_ascii_whitespace();
    others.any(|other| word[..n_word].eq_ignore_ascii_case(other.as_bytes()))
}

const MESSAGE_WORDS: &str = include_str!("message_words.txt");

const STAND_INS: &str = "example changeme change-me change_me placeholder your- your_ yourkey yourtoken yoursecret \
    yourpass yourapi dummy redacted xxxx **** .... insert replace process.env os.environ getenv \
    import.meta notreal not-real not_real fake foobar undefined my-secret my_secret mysecret \
    my-token my_token my-api my_api secret_key secret-key api_key api-key apikey access_token \
    _here -here 00000000";

/// The placeholders in the three common letter cases. Matches in any other mix of cases are
/// coincidences in random text.
static STAND_IN_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let cases = STAND_INS.split(' ').flat_map(|word| {
        let (first, rest) = word.split_at(1);
        [word.to_owned(), word.to_uppercase(), first.to_uppercase() + rest]
    });
    AhoCorasick::new(cases)
        .expect("the list of placeholders is a constant far below the automaton's maximum")
});

pub(super) fn has_placeholder(value: &[u8]) -> bool {
    STAND_IN_WORDS.is_match(&value[..value.len().min(SAMPLE)])
}

const NON_VALUES: &str = " password passwd passphrase pass passcode secret pwd pw user username token postgres root guest \
    admin mysql redis test string str bytes bytea int integer bool boolean any text varchar char object number float \
    null none nil undefined true false optional required hidden masked yes no on off empty blank value public ";

pub(super) fn is_stand_in(value: &[u8]) -> bool {
    NON_VALUES.split(' ').any(|one| value.eq_ignore_ascii_case(one.as_bytes()))
}

pub(super) fn is_literal(word: &[u8]) -> bool {
    let word = &word[..word.len().min(SAMPLE)];
    word.len() >= 6
        && !is_stand_in(word)
        && !is_reference(word)
        && !has_placeholder(word)
        && (!word.contains(&b'/') || is_dense(word))
}

/// Returns whether a word is a literal that does not look like a name, word or email address.
pub(super) fn is_chosen_literal(word: &[u8]) -> bool {
    let word = &word[..word.len().min(SAMPLE)];
    let is_address = memchr::memchr(b'@', word).is_some_and(|at| word[at..].contains(&b'.'));
    !is_address && is_literal(word) && is_chosen(word)
}

pub(super) fn is_no_word(word: &[u8]) -> bool {
    is_chosen_literal(word) && has_all_classes(word)
}

pub(super) fn is_password_literal(word: &[u8]) -> bool {
    is_password(word) && is_literal(word)
}

pub(super) fn is_last_field(word: &[u8]) -> bool {
    is_literal(word) && !word.contains(&b':')
}

/// Returns whether a value is a reference to a secret: `${VAR}`, `<key>`, `%s`.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let is_name = |byte: &u8| {
        byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'=' | b'.' | b':' | b'>')
    };
    let is_variable =
        |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    if is_own_id(value) || is_place_in_source(value) {
        return true;
    }
    match value.first() {
        Some(b'$' | b'@' | b'#' | b'%' | b'*') if value[1..].iter().all(is_name) => true,
        Some(b'$') if value[1..].iter().all(is_variable) => true,
        Some(b'$' | b'<' | b'%' | b'{' | b'[' | b'(' | b'*') if !is_password(value) => true,
        Some(b'<' | b'{' | b'[' | b'(') => true,
        Some(_) | None => {
            has_interpolation(value)
                || value.contains(&b'<')
                || value.ends_with(b"...")
                || is_bare_assignment(value)
        }
    }
}

/// Returns whether a value is a Nacre session or task ID, which is not a secret.
fn is_own_id(value: &[u8]) -> bool {
    let rest = value.strip_prefix(b"sess_").or_else(|| value.strip_prefix(b"task_"));
    rest.is_some_and(|rest| {
        rest.len() == 13
            && rest.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    })
}

/// Returns whether a value is a source location such as `auth/login.ts:12` or `hashers.py:54-59`,
/// which often occurs in answers about code that handles passwords.
fn is_place_in_source(value: &[u8]) -> bool {
    let Ok(value) = std::str::from_utf8(value) else { return false };
    let Some((path, lines)) = value.split_once(':') else { return false };
    let is_number = |number: &str| {
        (1..=6).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let Some((stem, end)) = path.rsplit_once('.') else { return false };
    let is_path = |byte: u8| byte.is_ascii_alphabetic() || b"_-./".contains(&byte);
    lines.split('-').count() <= 2
        && lines.split('-').all(is_number)
        && SOURCE_ENDS.split(' ').any(|one| one == end)
        && stem.bytes().all(is_path)
}

const SOURCE_ENDS: &str = "c cc cfg conf cpp cs css ex go h hpp html ini java js json jsx kt lua m md mjs php pl proto \
    py rb rs scala sh sql svelte swift toml ts tsx vue xml yaml yml";

/// Returns whether a value is the start of another assignment: `user=`.
fn is_bare_assignment(value: &[u8]) -> bool {
    let name = value.strip_suffix(b"=").unwrap_or_default();
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_')
}

pub(super) fn has_interpolation(value: &[u8]) -> bool {
    OPENER_WORDS.is_match(value)
}

static OPENER_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::new(OPENERS)
        .expect("the list of openers is a constant far below the automaton's maximum")
});

const OPENERS: &[&str] = &["${", "{{", "#{", "$(", "%(", "(?", "[redacted:", "\u{2026}"];

/// Returns whether a value is an expression, a path or an address.
pub(super) fn is_code(value: &[u8]) -> bool {
    let is_path = value.starts_with(b"./") || value.starts_with(b"../") || value.starts_with(b"~/");
    let is_sign = |pair: &[u8]| matches!(pair, b"::" | b"()" | b"->" | b"=>");
    value.windows(2).any(is_sign)
        || memchr::memmem::find(value, b"://").is_some()
        || is_path
        || value.starts_with(b"--")
        || (value.starts_with(b"+") && !is_random(value))
}
