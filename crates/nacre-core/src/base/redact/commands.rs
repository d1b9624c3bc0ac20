//! Passwords that stand on a command line or in a `.netrc`, told by the command around them.

use super::finding::{Found, Weight};
use super::judge;
use super::text::Text;
use super::url;
use super::value::{self, Writing};

/// How far before a flag its command may stand.
const MAX_LINE: usize = 240;

/// The longest host, database or user.
const MAX_HOST: usize = 64;

/// Returns the password of `curl -u user:password`, where the flag ends at `end`.
pub(super) fn user_flag(text: &mut Text<'_>, end: usize) -> Option<Found> {
    let value = value::read(text, end)?;
    let pair = text.slice(value.start, value.end);
    let colon = memchr::memchr(b':', pair)?;
    let is_secret =
        is_password(&pair[colon + 1..]) && line_has(text, end, &["curl", "wget", "http", "login"]);
    let start = value.start + colon + 1;
    is_secret.then_some(Found { start, end: value.end, kind: "password", weight: Weight::Name })
}

/// Returns the password of `mysql -psecret` or `sshpass -p secret`, where ` -p` ends at `end`.
pub(super) fn password_flag(text: &mut Text<'_>, end: usize) -> Option<Found> {
    let has_blank = text.at(end)? == b' ';
    let is_glued = !has_blank && text.before(end) != Some(b' ');
    let value = value::read(text, end + usize::from(has_blank))?;
    let commands: &[&str] = if is_glued {
        &["mysql", "mariadb", "sshpass"]
    } else {
        &["sshpass", "docker login", "podman login", "helm registry", "redis-cli"]
    };
    let word = text.slice(value.start, value.end);
    let is_secret = (is_password(word) && line_has(text, end, commands))
        || (is_no_reference(word) && is_argument_of(text, end, b"sshpass"));
    is_secret.then_some(Found {
        start: value.start,
        end: value.end,
        kind: "password",
        weight: Weight::Name,
    })
}

/// Returns the password of a `.netrc` entry, where `password ` stands at `start..end`.
pub(super) fn netrc(text: &mut Text<'_>, start: usize, end: usize) -> Option<Found> {
    if text.login? + MAX_LINE < start {
        return None;
    }
    let head = text.slice(start.saturating_sub(MAX_LINE), start);
    let has = |word: &[u8]| memchr::memmem::rfind(head, word);
    let login = has(b"login ")?;
    let is_entry = login > has(b"machine ").or_else(|| has(b"default"))?;
    let value = value::read(text, end)?;
    let word = text.slice(value.start, value.end);
    let is_secret =
        is_entry && word.len() >= 6 && !judge::is_reference(word) && !judge::has_placeholder(word);
    is_secret.then_some(Found {
        start: value.start,
        end: value.end,
        kind: "netrc-password",
        weight: Weight::Shape,
    })
}

/// Where the port of a line of `.pgpass` is looked for.
pub(super) const PGPASS: [&str; 3] = [":5432:", ":6432:", ":*:*:"];

/// Returns the password of `host:port:database:user:password`, where `:port:` begins at `start`.
pub(super) fn pgpass(text: &mut Text<'_>, start: usize) -> Option<Found> {
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
    is_secret.then_some(Found {
        start: value.start,
        end: value.end,
        kind: "password",
        weight: Weight::Place,
    })
}

/// Returns the password of `IDENTIFIED BY 'secret'` or `PASSWORD 'secret'`; the words end at `end`.
pub(super) fn sql(text: &mut Text<'_>, end: usize) -> Option<Found> {
    let pos = end - usize::from(text.before(end) == Some(b'\''));
    let value = value::read(text, pos)?;
    let is_secret =
        value.writing == Writing::Quoted && is_password(text.slice(value.start, value.end));
    is_secret.then_some(Found {
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
