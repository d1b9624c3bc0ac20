//! Recognizes names that denote secrets, and settings that contain a password.
//!
//! Only the end of a name matters: `DB_PASSWORD_2` names a secret, but `max_tokens` and
//! `token_count` do not. Any value after the name of a password is treated as a password, unless it
//! is a placeholder or the line is code.

use std::sync::LazyLock;

use super::text::{Pattern, Text};
use super::value::{Value, Writing, ends_line};
use super::{judge, value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Password,
    Secret,
    Token,
    /// A key that counts only with the right qualifier: `api_key`, but not `cache_key`.
    Key,
    /// A key without a qualifier, or a salt. Values that could be names are ignored.
    Weak,
    /// Names such as `auth` and `credentials`. Only random values are accepted.
    Credential,
}

const PASSWORDS: &str = "password|passwd|passphrase|passwort|kennwort|wachtwoord|senha|contrasena|contraseña|\
    mot de passe|mot_de_passe|motdepasse|haslo|hasło|heslo|sifre|şifre|jelszo|jelszó|salasana|adgangskode|passord|\
    losenord|lösenord|lozinka|geslo|slaptažodis|kata sandi|mat khau|mật khẩu|пароль|κωδικός|كلمة المرور|\
    كلمة السر|סיסמה|पासवर्ड|รหัสผ่าน|密码|密碼|パスワード|비밀번호|pass|pwd|pw|psk";

const WORDS: &[(&str, Role)] = &[
    ("secret", Role::Secret),
    ("token", Role::Token),
    ("key", Role::Key),
    ("salt", Role::Weak),
    ("pat", Role::Token),
    ("auth", Role::Credential),
    ("credential", Role::Credential),
    ("credentials", Role::Credential),
    ("session", Role::Credential),
    ("sessionid", Role::Credential),
    ("jsessionid", Role::Credential),
    ("phpsessid", Role::Credential),
    ("dockerconfigjson", Role::Secret),
    ("dockercfg", Role::Secret),
];

/// Returns all keywords. The engine also searches for each keyword as `Word` and `WORD`.
pub(super) fn words() -> impl Iterator<Item = (&'static str, Role)> {
    PASSWORDS.split('|').map(|word| (word, Role::Password)).chain(WORDS.iter().copied())
}

static KEY_QUALIFIERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "api access secret private auth signing encryption master account service admin app \
    application subscription shared webhook deploy write read rest server sdk jwt hmac aes \
    cipher crypto client license ingest integration consumer role storage functions host token \
    session apim fastly algolia datadog cloudflare openai anthropic mistral cohere paypal vercel \
    zai zhipu dd global decryption cookie rsa preshared pre_shared pre-shared"
        .split(' ')
        .collect()
});

/// Qualifiers that mark a key as public or as a database key.
static OPEN_QUALIFIERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "cache sort primary foreign partition public pub publishable site idempotency dedup dedupe \
    unique composite index row column group search hash object blob asset content file item \
    entry node map range state event message build commit lock s3 host"
        .split(' ')
        .collect()
});

const SPOKEN_QUALIFIERS: [&str; 9] =
    ["api", "secret", "access", "private", "encryption", "signing", "master", "license", "service"];

/// Prefixes that may be joined to a keyword without a separator, as in `dbpassword`.
static GLUE: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "db user pg my mysql admin root auth access refresh bot api id client secret private bearer \
    session smtp redis ftp ssh sudo keystore truststore key store proxy http app identity \
    registry github gitlab"
        .split(' ')
        .collect()
});

const SUFFIXES: &str = "value string str raw text plain plaintext base64 b64 hex header prod production dev test \
    staging live new old default backup primary secondary base s";

/// Words in a name that identify the secret's issuer, each with the kind to report. The first match
/// wins.
const VENDORS: &str = include_str!("vendors.txt");

const MAX_NAME: usize = 64;

const MAX_TAIL: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) role: Role,
}

impl Name {
    pub(super) fn kind(&self, text: &Text<'_>) -> &'static str {
        vendor(text.slice(self.start, self.end)).unwrap_or_else(|| kind_of(self.role))
    }
}

pub(super) fn read(text: &Text<'_>, role: Role, start: usize, end: usize) -> Option<Name> {
    let name_end = tail_end(text, role, end)?;
    let name_start = name_start(text, start);
    let head = text.slice(name_start, start);
    let word = text.slice(start, end);
    let is_promise = match role {
        Role::Password | Role::Secret | Role::Token | Role::Credential => {
            stands_alone(text, word, start) || ends_with_any(head, &GLUE)
        }
        Role::Key => is_qualified(text, head, name_start),
        Role::Weak => stands_alone(text, word, start),
    };
    let is_weak = || role == Role::Key && is_weak(head) && stands_alone(text, word, start);
    let role = if is_promise {
        role
    } else if is_weak() {
        Role::Weak
    } else {
        return None;
    };
    Some(Name { start: name_start, end: name_end, role })
}

/// Returns whether `key` after `head` may be a secret despite having no qualifier.
fn is_weak(head: &[u8]) -> bool {
    let head = match head {
        [head @ .., b'_' | b'-' | b'.'] => head,
        _ => head,
    };
    !ends_with_any(head, &OPEN_QUALIFIERS)
}

pub(super) fn role_of_column(title: &[u8]) -> Option<Role> {
    let title = str::from_utf8(title).ok()?.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let (text, end) = (Text::new(title), title.len());
    let roles = words().filter(|(_, role)| !matches!(role, Role::Credential | Role::Weak));
    roles
        .filter(|(word, _)| ends_with(title.as_bytes(), word.as_bytes()))
        .find_map(|(word, role)| read(&text, role, end - word.len(), end).map(|name| name.role))
        .filter(|role| *role != Role::Weak)
}

pub(super) fn kind_of(role: Role) -> &'static str {
    match role {
        Role::Password => "password",
        Role::Secret => "secret",
        Role::Token => "token",
        Role::Key => "api-key",
        Role::Weak => "secret",
        Role::Credential => "credential",
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn name_start(text: &Text<'_>, word_start: usize) -> usize {
    let head = text.behind(word_start, MAX_NAME);
    let n_head = head.iter().rev().position(|byte| !is_name_byte(*byte)).unwrap_or(head.len());
    let start = word_start - n_head;
    let is_escape = text.before(start) == Some(b'\\') && n_head > 0;
    start + usize::from(is_escape)
}

fn tail_end(text: &Text<'_>, role: Role, word_end: usize) -> Option<usize> {
    let is_tail = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let rest = text.rest(word_end);
    let n_tail = rest.iter().take(MAX_TAIL).take_while(|byte| is_tail(byte)).count();
    if n_tail == MAX_TAIL {
        return None;
    }
    if n_tail == 0 {
        return Some(word_end);
    }
    let tail = match &rest[..n_tail] {
        [b'_' | b'-', tail @ ..] => tail,
        tail => tail,
    };
    let is_number = !tail.is_empty() && tail.iter().all(u8::is_ascii_digit);
    // Inline keys in a Kubernetes configuration, such as `client-key-data`.
    let is_inlined = role == Role::Key && tail.eq_ignore_ascii_case(b"data");
    let is_known = is_number
        || is_inlined
        || SUFFIXES.split(' ').any(|one| tail.eq_ignore_ascii_case(one.as_bytes()));
    is_known.then_some(word_end + n_tail)
}

fn stands_alone(text: &Text<'_>, word: &[u8], start: usize) -> bool {
    let Some(before) = text.before(start) else { return true };
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    let is_hump = before.is_ascii_lowercase() && word[0].is_ascii_uppercase();
    let is_escape = start.checked_sub(2).and_then(|pos| text.at(pos)) == Some(b'\\');
    is_hump || before.is_ascii_digit() || is_escape
}

fn ends_with_any(head: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| ends_with(head, word.as_bytes()))
}

fn ends_with(head: &[u8], word: &[u8]) -> bool {
    head.len() >= word.len() && head[head.len() - word.len()..].eq_ignore_ascii_case(word)
}

fn is_qualified(text: &Text<'_>, head: &[u8], name_start: usize) -> bool {
    if head.is_empty() {
        let words = text.behind(name_start, 12);
        return words
            .strip_suffix(b" ")
            .is_some_and(|words| ends_with_any(words, &SPOKEN_QUALIFIERS));
    }
    let head = match head {
        [head @ .., b'_' | b'-' | b'.'] => head,
        _ => head,
    };
    ends_with_any(head, &KEY_QUALIFIERS)
}

fn vendor(name: &[u8]) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let mut rows = VENDORS.split_whitespace().filter_map(|row| row.split_once('='));
    rows.find(|(word, _)| memchr::memmem::find(&name, word.as_bytes()).is_some())
        .map(|(_, kind)| kind)
}

/// Shorter values are numbers or flags.
const MIN_VALUE: usize = 5;

/// Longer values are prose.
const MAX_VALUE: usize = 64;

/// Strings that may precede the name in a settings line.
const LEADS: [&[u8]; 9] = [b"", b"-", b"#", b"//", b"export", b"set", b"ENV", b"ARG", b"-e"];

/// Prefixes that tools add to lines: line numbers from `cat -n`, file names and line numbers from
/// `grep -n`, diff markers, quotation marks, and log timestamps or container names.
static MARGIN: Pattern = Pattern::new(concat!(
    r"\A(?:(?:[\w./-]{1,80}[:-])?\d{1,6}(?:[:|-]|→|\t|\z)|[+<>|]|(?:[\w./-]{1,40} *\|)",
    r"|\d{4}-\d\d-\d\d[T ][\d:.,]{5,18}(?:Z|[+-][\d:]{4,5})?|\[[\w :.,+-]{1,40}\])[ \t]*",
));

fn without_margin(mut lead: &[u8]) -> &[u8] {
    for _ in 0..3 {
        let Some(len) = MARGIN.len(lead) else { break };
        lead = &lead[len..];
    }
    lead.trim_ascii()
}

pub(super) fn is_password_setting(text: &Text<'_>, name: &Name, value: &Value) -> bool {
    let bytes = text.slice(value.start, value.end);
    let written = text.slice(name.start, name.end);
    name.role == Role::Password
        && means_password(written)
        && (MIN_VALUE..=MAX_VALUE).contains(&bytes.len())
        && is_any_value(bytes)
        && match value.writing {
            Writing::Quoted => true,
            Writing::Bare => is_setting(text, name, value),
            Writing::Phrase | Writing::Bracketed => false,
        }
}

/// Returns whether a name can only mean a password. `pass` alone can also be a test result.
fn means_password(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let is_pass = |name: &[u8]| name.ends_with(b"pass") || name.ends_with(b"pw");
    !is_pass(&name) || (name.len() > 6 && name.contains(&b'_') && !name.starts_with(b"test"))
}

fn is_any_value(value: &[u8]) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(&value.to_ascii_lowercase(), word).is_some();
    let is_mark = |byte: &u8| !byte.is_ascii_alphanumeric();
    !judge::is_stand_in(value)
        && !judge::is_reference(value)
        && !judge::has_placeholder(value)
        && !judge::is_message_word(value)
        && !judge::is_code(value)
        && !value.iter().all(is_mark)
        && !value.contains(&b'/')
        && !value.contains(&b',')
        && !(value.iter().all(|byte| byte.is_ascii_alphabetic() || is_mark(byte))
            && (has(b"pass") || has(b"pwd")))
}

/// Returns whether a line that contains an unquoted value is a setting: `name: value`,
/// `name=value`, a flag, a tag, or a part of a connection string.
fn is_setting(text: &Text<'_>, name: &Name, value: &Value) -> bool {
    let rest = text.rest(value.end);
    let line = value::line_start(text, name.start);
    let before = text.slice(line, name.start);
    if before.ends_with(b"<") {
        return text.rest(value::skip_lines(text, value.end)).starts_with(b"</");
    }
    let bytes = text.slice(value.start, value.end);
    let is_word = bytes.iter().all(u8::is_ascii_alphabetic);
    let ends_word = ends_line(text, value.end) || matches!(rest.first(), Some(b' ' | b'&'));
    // `--password TEXT` is help text.
    if text.slice(name.start, name.end).starts_with(b"--") {
        return ends_word && !(is_word && bytes.iter().all(u8::is_ascii_uppercase));
    }
    let sign = text.slice(name.end, value.start);
    if sign == b"=" {
        let is_part = before.ends_with(b";") && rest.first() == Some(&b';');
        return is_part || ends_word && !is_in_code(text, line, value.end);
    }
    let lead = without_margin(before.trim_ascii());
    let lead =
        lead.strip_suffix(b"\"").or_else(|| lead.strip_suffix(b"'")).unwrap_or(lead).trim_ascii();
    let is_line = LEADS.contains(&lead) && ends_line(text, value.end);
    let is_name = judge::is_identifier(bytes)
        && !bytes.iter().any(u8::is_ascii_digit)
        && (sign.contains(&b'=')
            || bytes.iter().any(|byte| byte.is_ascii_uppercase() || b"_.".contains(byte)));
    is_line && !is_name && !is_in_code(text, line, value.end)
}

/// Returns whether the lines around `line..end` are code. Settings lines do not end with a comma,
/// bracket or semicolon.
fn is_in_code(text: &Text<'_>, line: usize, end: usize) -> bool {
    let head = text.slice(value::line_start(text, line.saturating_sub(1)), line);
    let above = head.trim_ascii_end();
    let above = above.strip_suffix(b"\\n").unwrap_or(above).trim_ascii_end();
    let below = value::skip_lines(text, value::quote_at(text, end).map_or(end, |quote| quote.end));
    matches!(above.last(), Some(b',' | b'{' | b'(' | b'[' | b';'))
        || matches!(text.at(below), Some(b')' | b'}' | b']' | b',' | b';'))
}
