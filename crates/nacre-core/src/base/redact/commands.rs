//! Passwords that stand on a command line or in a `.netrc`, told by the command around them.

use super::arguments;
use super::breaks;
use super::finding::{FoundSecret, Weight};
use super::judge;
use super::text::{Edge, Text};
use super::url;
use super::value::{self, Writing};

/// How far before a flag its command may stand.
const MAX_LINE: usize = 240;

/// The longest host, database or user.
const MAX_HOST: usize = 64;

/// Returns the password of `curl -u user:password`, where the flag ends at `end`.
pub(super) fn user_flag(text: &mut Text<'_>, end: usize) -> Option<FoundSecret> {
    let value = value::read(text, end)?;
    let pair = text.slice(value.start, value.end);
    let colon = memchr::memchr(b':', pair)?;
    let is_secret =
        is_password(&pair[colon + 1..]) && line_has(text, end, &["curl", "wget", "http", "login"]);
    let start = value.start + colon + 1;
    is_secret.then_some(FoundSecret {
        start,
        end: value.end,
        kind: "password",
        weight: Weight::Name,
    })
}

/// Returns the password of `mysql -psecret` or `sshpass -p secret`, where ` -p` ends at `end`.
pub(super) fn password_flag(text: &mut Text<'_>, end: usize) -> Option<FoundSecret> {
    let has_blank = text.at(end)? == b' ';
    let is_glued = !has_blank && text.before(end) != Some(b' ');
    let value = value::read(text, end + usize::from(has_blank))?;
    let commands: &[&str] = if is_glued {
        &["mysql", "mariadb", "sshpass", "7z", "rar "]
    } else {
        &["sshpass", "docker login", "podman login", "helm registry", "redis-cli"]
    };
    let word = text.slice(value.start, value.end);
    let is_secret = (is_password(word) && line_has(text, end, commands))
        || (is_no_reference(word) && is_argument_of(text, end, b"sshpass"));
    is_secret.then_some(FoundSecret {
        start: value.start,
        end: value.end,
        kind: "password",
        weight: Weight::Name,
    })
}

/// The flags of commands that a password stands behind.
const FLAGS: &[(&[u8], &[&str])] = &[
    (b"-w", &["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldappasswd", "ldapwhoami"]),
    (b"-P", &["zip "]),
    (b"-k", &["openssl enc", "openssl aes", "openssl des"]),
    (b"-K", &["openssl enc", "openssl aes", "openssl des"]),
];

/// Returns the password of `ldapsearch -w secret`, where ` -w ` stands at `start..end`.
pub(super) fn command_flag(text: &mut Text<'_>, start: usize, end: usize) -> Option<FoundSecret> {
    let flag = text.slice(start + 1, end - 1);
    let commands = FLAGS.iter().find(|(one, _)| *one == flag)?.1;
    let value = value::read(text, end)?;
    let is_secret =
        is_password(text.slice(value.start, value.end)) && line_has(text, end, commands);
    is_secret.then_some(password(value.start, value.end))
}

/// Returns the password of `requirepass secret` or `AUTH user secret`, where the word stands at `start..end`.
pub(super) fn directive(text: &mut Text<'_>, start: usize, end: usize) -> Option<FoundSecret> {
    let is_auth = text.before(end - 1) == Some(b'H');
    if !text.is_edge(Edge::Word, start) || (is_auth && !begins_command(text, start)) {
        return None;
    }
    let first = value::read(text, end)?;
    // `AUTH user secret`
    let second = Some(first.end + 1).filter(|_| is_auth && text.at(first.end) == Some(b' '));
    let second = second.and_then(|pos| value::read(text, pos));
    let is_secret = |value: &value::Value| {
        let word = text.slice(value.start, value.end);
        let sample = &word[..word.len().min(judge::SAMPLE)];
        is_password(word) && (!is_auth || judge::is_random(sample) || judge::is_mixed(sample))
    };
    let value = second.filter(is_secret).or_else(|| Some(first).filter(is_secret))?;
    Some(password(value.start, value.end))
}

/// Says whether a command begins at `pos`: a line, behind a prompt, or as the argument of a client.
fn begins_command(text: &Text<'_>, pos: usize) -> bool {
    let head = text.slice(breaks::line_start(text, pos), pos).trim_ascii();
    head.is_empty()
        || head.ends_with(b">")
        || head.ends_with(b"\"")
        || line_has(text, pos, &["redis-cli"])
}

/// Returns the password of `echo secret | docker login --password-stdin`, where `password-stdin` begins at `start`.
pub(super) fn stdin(text: &mut Text<'_>, start: usize) -> Option<FoundSecret> {
    arguments::piped(text, start, None).map(|one| password(one.start, one.end))
}

fn password(start: usize, end: usize) -> FoundSecret {
    FoundSecret { start, end, kind: "password", weight: Weight::Name }
}

/// Returns the password of a `.netrc` entry, where `password ` stands at `start..end`.
pub(super) fn netrc(text: &mut Text<'_>, start: usize, end: usize) -> Option<FoundSecret> {
    if text.login? + MAX_LINE < start {
        return None;
    }
    let head = text.slice(start.saturating_sub(MAX_LINE), start);
    let has = |word: &[u8]| memchr::memmem::rfind(head, word);
    let is_below = text.before(end) != Some(b' ');
    let login = has(b"login")?;
    let is_entry = login > has(b"machine").or_else(|| has(b"default"))?
        && (!(is_below || has(b"login ") != Some(login)) || is_one_word(&head[login + 5..]));
    let is_pair = text.before(end) == Some(b'\r') && text.at(end) == Some(b'\n');
    let value = value::read(text, breaks::skip_blanks(text, end + usize::from(is_pair)))?;
    let word = text.slice(value.start, value.end);
    let is_secret =
        is_entry && word.len() >= 6 && !judge::is_reference(word) && !judge::has_placeholder(word);
    is_secret.then_some(FoundSecret {
        start: value.start,
        end: value.end,
        kind: "netrc-password",
        weight: Weight::Shape,
    })
}

/// Says whether nothing but one word stands between two line breaks or blanks.
fn is_one_word(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).replace("\\n", " ");
    text.split_whitespace().count() == 1
}

/// Where the port of a line of `.pgpass` is looked for.
pub(super) const PGPASS: [&str; 3] = [":5432:", ":6432:", ":*:*:"];

/// Returns the password of `host:port:database:user:password`, where `:port:` begins at `start`.
pub(super) fn pgpass(text: &mut Text<'_>, start: usize) -> Option<FoundSecret> {
    let is_host = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._-*".contains(byte);
    let head = text.slice(start.saturating_sub(MAX_HOST), start);
    let host = start - head.iter().rev().take_while(is_host).count();
    let is_start = host < start && text.before(host).is_none_or(|byte| !b":/@%".contains(&byte));
    let mut pos = start + 1;
    for _ in 0..3 {
        let n_field = text.rest(pos).iter().take(MAX_HOST).take_while(is_host).count();
        pos = (n_field > 0 && text.at(pos + n_field) == Some(b':')).then_some(pos + n_field + 1)?;
    }
    let value = value::read(text, pos).filter(|value| value.writing == Writing::Bare)?;
    let word = text.slice(value.start, value.end);
    let is_secret = is_start && is_no_reference(word) && !word.contains(&b':');
    is_secret.then_some(FoundSecret {
        start: value.start,
        end: value.end,
        kind: "password",
        weight: Weight::Place,
    })
}

/// Returns the password of `IDENTIFIED BY 'secret'` or `PASSWORD 'secret'`; the words end at `end`.
pub(super) fn sql(text: &mut Text<'_>, end: usize) -> Option<FoundSecret> {
    let pos = end - usize::from(text.before(end) == Some(b'\''));
    let value = value::read(text, pos)?;
    let is_secret =
        value.writing == Writing::Quoted && is_password(text.slice(value.start, value.end));
    is_secret.then_some(FoundSecret {
        start: value.start,
        end: value.end,
        kind: "password",
        weight: Weight::Name,
    })
}

fn is_password(word: &[u8]) -> bool {
    let word = &word[..word.len().min(judge::SAMPLE)];
    is_no_reference(word) && judge::is_password(word)
}

/// Says whether a word is what it is, and no path, no variable and no stand-in.
fn is_no_reference(word: &[u8]) -> bool {
    let word = &word[..word.len().min(judge::SAMPLE)];
    word.len() >= 6
        && !url::STAND_INS.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
        && !judge::is_reference(word)
        && !judge::has_placeholder(word)
        && !word.contains(&b'/')
}

/// Says whether the flag that ends at `pos`, with a blank before it, stands right behind `command`.
fn is_argument_of(text: &Text<'_>, pos: usize, command: &[u8]) -> bool {
    let head = text.slice(pos.saturating_sub(3 + command.len()), pos);
    head.starts_with(command) && head[command.len()..].starts_with(b" -p")
}

/// Says whether one of `words` stands before `pos` on the same line.
fn line_has(text: &Text<'_>, pos: usize, words: &[&str]) -> bool {
    let head = text.slice(pos.saturating_sub(MAX_LINE), pos);
    let line = memchr::memrchr(b'\n', head).map_or(head, |at| &head[at..]);
    words.iter().any(|word| memchr::memmem::find(line, word.as_bytes()).is_some())
}
