//! Reads the name that a value is assigned to: does it promise a secret, and whose?
//!
//! Only the end of a name counts: `max_tokens` and `token_count` promise nothing, `DB_PASSWORD_2` does.

use std::sync::LazyLock;

use super::text::Text;

/// What the key word of a name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Password,
    Secret,
    Token,
    /// Needs a qualifier before it: `api_key`, not `cache_key`.
    Key,
    /// A key that no qualifier makes a secret one, or a salt: believed only when no name could look like its value.
    Weak,
    /// Believed only when the value is random: `auth`, `credentials`.
    Credential,
}

/// The words for a password, in the languages people write settings and notes in; separated by `|`.
const PASSWORDS: &str = "password|passwd|passphrase|passwort|kennwort|wachtwoord|senha|contrasena|contraseña|\
    mot de passe|mot_de_passe|motdepasse|haslo|hasło|heslo|sifre|şifre|jelszo|jelszó|salasana|adgangskode|passord|\
    losenord|lösenord|lozinka|geslo|slaptažodis|kata sandi|mat khau|mật khẩu|пароль|κωδικός|كلمة المرور|\
    كلمة السر|סיסמה|पासवर्ड|รหัสผ่าน|密码|密碼|パスワード|비밀번호|pass|pwd|pw|psk";

/// The other key words.
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
    // The registry logins of a cluster.
    ("dockerconfigjson", Role::Secret),
    ("dockercfg", Role::Secret),
];

/// Returns every key word; the engine also looks for `Word` and `WORD`.
pub(super) fn words() -> impl Iterator<Item = (&'static str, Role)> {
    PASSWORDS.split('|').map(|word| (word, Role::Password)).chain(WORDS.iter().copied())
}

/// What makes a `key` a secret one, without separators.
static KEY_QUALIFIERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "api access secret private auth signing encryption master account service admin app \
    application subscription shared webhook deploy write read rest server sdk jwt hmac aes \
    cipher crypto client license ingest integration consumer role storage functions host token \
    session apim fastly algolia datadog cloudflare openai anthropic mistral cohere paypal vercel \
    zai zhipu dd global decryption cookie rsa preshared pre_shared pre-shared"
        .split(' ')
        .collect()
});

/// What makes a `key` one that everybody may see, or one of a table.
static OPEN_QUALIFIERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "cache sort primary foreign partition public pub publishable site idempotency dedup dedupe \
    unique composite index row column group search hash object blob asset content file item \
    entry node map range state event message build commit lock s3 host"
        .split(' ')
        .collect()
});

/// What makes a `key` a secret one in prose, with a space between.
const SPOKEN_QUALIFIERS: [&str; 9] =
    ["api", "secret", "access", "private", "encryption", "signing", "master", "license", "service"];

/// Letters that may be glued before a word without a separator, as in `dbpassword`.
static GLUE: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "db user pg my mysql admin root auth access refresh bot api id client secret private bearer \
    session smtp redis ftp ssh sudo keystore truststore key store proxy http app identity \
    registry github gitlab"
        .split(' ')
        .collect()
});

/// What may follow the key word in a name.
const SUFFIXES: &str = "value string str raw text plain plaintext base64 b64 hex header prod production dev test \
    staging live new old default backup primary secondary base s";

/// Who issued the secret, by a word of the name; the first hit counts.
const VENDORS: &str = "cohere=cohere-key mistral=mistral-key zhipu=zai-key bigmodel=zai-key zai=zai-key \
    z_ai=zai-key paypal=paypal-secret cloudflare=cloudflare-token fastly=fastly-token \
    vercel=vercel-token datadog=datadog-key dd_a=datadog-key algolia=algolia-key \
    aws=aws-secret-key secret_access_key=aws-secret-key secretaccesskey=aws-secret-key \
    deepseek=deepseek-key together=together-key fireworks=fireworks-key azure=azure-key \
    twilio=twilio-key okta=okta-token auth0=auth0-secret circle=circleci-token \
    travis=travis-token codecov=codecov-token snyk=snyk-token sonar=sonar-token \
    elastic=elastic-key facebook=facebook-secret twitter=twitter-secret dropbox=dropbox-token \
    zendesk=zendesk-token intercom=intercom-token segment=segment-key mapbox=mapbox-token \
    bitbucket=bitbucket-token heroku=heroku-key railway=railway-token";

/// Longer names are not read.
const MAX_NAME: usize = 64;

/// What follows the key word is not longer.
const MAX_TAIL: usize = 16;

/// A name that promises a secret.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) role: Role,
}

impl Name {
    /// Returns what a secret of this name is called: by its issuer if the name says so.
    pub(super) fn kind(&self, text: &Text<'_>) -> &'static str {
        vendor(text.slice(self.start, self.end)).unwrap_or_else(|| kind_of(self.role))
    }
}

/// Returns the name around the key word at `start..end`, if its end promises a secret.
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

/// Says whether `key` behind `head` may be a secret one, though nothing says so.
fn is_weak(head: &[u8]) -> bool {
    let head = match head {
        [head @ .., b'_' | b'-' | b'.'] => head,
        _ => head,
    };
    !ends_with_any(head, &OPEN_QUALIFIERS)
}

fn kind_of(role: Role) -> &'static str {
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
    let head = text.slice(word_start.saturating_sub(MAX_NAME), word_start);
    let n_head = head.iter().rev().position(|byte| !is_name_byte(*byte)).unwrap_or(head.len());
    let start = word_start - n_head;
    let is_escape = text.before(start) == Some(b'\\') && n_head > 0;
    start + usize::from(is_escape)
}

/// Returns where the name ends, if nothing but a number or a known suffix follows the key word.
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
    // The inlined keys of a cluster's configuration.
    let is_inlined = role == Role::Key && tail.eq_ignore_ascii_case(b"data");
    let is_known = is_number
        || is_inlined
        || SUFFIXES.split(' ').any(|one| tail.eq_ignore_ascii_case(one.as_bytes()));
    is_known.then_some(word_end + n_tail)
}

/// Says whether a word of the name begins where the key word does.
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

/// Says whether the word before `key` makes it a secret one.
fn is_qualified(text: &Text<'_>, head: &[u8], name_start: usize) -> bool {
    if head.is_empty() {
        let words = text.slice(name_start.saturating_sub(12), name_start);
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
    let mut rows = VENDORS.split(' ').filter_map(|row| row.split_once('='));
    rows.find(|(word, _)| memchr::memmem::find(&name, word.as_bytes()).is_some())
        .map(|(_, kind)| kind)
}
