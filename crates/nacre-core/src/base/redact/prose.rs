//! Passwords in sentences that no label announces: `set the password to …`, `… is the password`, `log in as bob with …`.
//!
//! Sentences about passwords are common, so only what no word of a sentence looks like is taken out.

use std::ops::Range;

use super::breaks;
use super::finding::{FoundSecret, Weight};
use super::judge;
use super::names::Name;
use super::text::{Set, Text};
use super::value;

/// What announces an account: a user and a password. The engine also looks for `Word` and `WORD`.
pub(super) const ACCOUNTS: &str = "credentials|creds|login:|log in as |login as |logged in as |\
    logging in as |sign in as |signed in as |log in with |login with |sign in with ";

/// The words between a name and the new value of it.
const FILLERS: &str =
    "was is has been now changed reset set updated rotated still just to from temporarily";

/// What says before a name that it gets a value.
const CHANGES: &str = "set Set chang Chang updat Updat rotat Rotat switch";

/// How far before a name that stands, or the value.
const MAX_BACK: usize = 48;

/// The most words between a name and a value.
const MAX_FILLERS: usize = 5;

/// The longest user.
const MAX_USER: usize = 64;

/// Words between `is` or `as` and the name.
const DETERMINERS: &str = "the my a your our its new old admin root temporary current db database default user test \
    staging production prod";

/// What may follow the name in `… is the password for staging`; before other words it is another thing.
const FOLLOWERS: &str = "for of on in to and but now here there when";

/// Returns the passwords that the sentence around `name` contains.
pub(super) fn find(text: &mut Text<'_>, name: &Name) -> Vec<FoundSecret> {
    let mut found = values_behind(text, name);
    if found.is_empty() {
        found.extend(value_before(text, name));
    }
    let password = |range| FoundSecret::new(range, "password", Weight::Name);
    found.into_iter().map(password).collect()
}

/// Returns the values of `password to …`, `password was changed to …`, `password from … to …`.
fn values_behind(text: &mut Text<'_>, name: &Name) -> Vec<Range<usize>> {
    let mut pos = name.end;
    let mut last: &[u8] = b"";
    let mut is_changed = false;
    for _ in 0..MAX_FILLERS {
        let word = word_behind(text, pos);
        if !FILLERS.split(' ').any(|one| word == one.as_bytes()) {
            break;
        }
        is_changed |= !matches!(word, b"to" | b"from");
        last = word;
        pos += 1 + word.len();
    }
    if last.is_empty() || text.at(pos) != Some(b' ') {
        return Vec::new();
    }
    let head = text.slice(name.start.saturating_sub(MAX_BACK), name.start);
    let is_change = |word: &str| memchr::memmem::find(head, word.as_bytes()).is_some();
    if !is_changed && !CHANGES.split(' ').any(is_change) {
        return Vec::new();
    }
    let first = told_at(text, pos + 1);
    let mut found: Vec<Range<usize>> = first.clone().into_iter().collect();
    if let Some(first) = first.filter(|_| last == b"from") {
        let end = value::quote_at(text, first.end).map_or(first.end, |quote| quote.end);
        let is_pair = text.rest(end).starts_with(b" to ");
        found.extend(is_pair.then(|| told_at(text, end + b" to ".len())).flatten());
    }
    found
}

/// Returns the lower-case word behind the blank at `pos`.
fn word_behind<'t>(text: &Text<'t>, pos: usize) -> &'t [u8] {
    let Some(rest) = text.rest(pos).strip_prefix(b" ") else { return b"" };
    &rest[..rest.iter().take(16).take_while(|byte| byte.is_ascii_lowercase()).count()]
}

/// Returns the value at `pos`, if no word of a sentence looks like it.
fn told_at(text: &mut Text<'_>, pos: usize) -> Option<Range<usize>> {
    let value = value::read(text, pos)?;
    let is_quoted = value.writing == value::Writing::Quoted;
    let range = value.start..value.end;
    let range = if is_quoted { range } else { without_stop(text, range) };
    is_secret(text.slice(range.start, range.end)).then_some(range)
}

/// Leaves out the sign at the end of a sentence.
fn without_stop(text: &Text<'_>, range: Range<usize>) -> Range<usize> {
    let ends_sentence = matches!(text.before(range.end), Some(b'.' | b':'))
        && !text.at(range.end).is_some_and(|byte| byte.is_ascii_graphic());
    range.start..range.end - usize::from(ends_sentence && !range.is_empty())
}

fn is_secret(word: &[u8]) -> bool {
    judge::is_chosen_literal(word) && judge::has_all_classes(&word[..word.len().min(judge::SAMPLE)])
}

/// Returns the value of `… is the password` and of `use … as the password`.
fn value_before(text: &Text<'_>, name: &Name) -> Option<Range<usize>> {
    let next = word_behind(text, name.end);
    let is_other = !next.is_empty() && !FOLLOWERS.split(' ').any(|one| next == one.as_bytes());
    let is_glued = text.at(name.end).is_some_and(|byte| b"-_=:(\"'`/".contains(&byte));
    if is_other || is_glued {
        return None;
    }
    let mut pos = name.start;
    for _ in 0..4 {
        let word = word_before(text, pos)?;
        pos -= word.len() + 1;
        if matches!(word, b"as" | b"is" | b"was") {
            return told_before(text, pos.checked_sub(1).filter(|at| text.at(*at) == Some(b' '))?);
        }
        if !DETERMINERS.split(' ').any(|one| word == one.as_bytes()) {
            return None;
        }
    }
    None
}

/// Returns the lower-case word before the blank that ends at `pos`.
fn word_before<'t>(text: &Text<'t>, pos: usize) -> Option<&'t [u8]> {
    let head = text.slice(pos.saturating_sub(16), pos).strip_suffix(b" ")?;
    let n_word = head.iter().rev().take_while(|byte| byte.is_ascii_lowercase()).count();
    (n_word > 0).then(|| &head[head.len() - n_word..])
}

/// Returns the value that ends at `end`, perhaps with a quote behind it.
fn told_before(text: &Text<'_>, end: usize) -> Option<Range<usize>> {
    let is_quoted = matches!(text.before(end)?, b'"' | b'\'' | b'`');
    let close = end - usize::from(is_quoted);
    let head = text.slice(close.saturating_sub(MAX_BACK), close);
    let n_slashes = head.iter().rev().take_while(|byte| **byte == b'\\').count();
    let close = if is_quoted { close - n_slashes } else { close };
    let start = text.run_start(Set::Bare, close, MAX_BACK);
    let opens = !is_quoted || text.before(start).is_some_and(|byte| b"\"'`".contains(&byte));
    (opens && start < close && is_secret(text.slice(start, close))).then_some(start..close)
}

/// Returns the password of an account: `credentials: bob / …`, `log in as bob with …`. The word for it ends at `end`.
pub(super) fn account(text: &mut Text<'_>, _start: usize, end: usize) -> Option<Range<usize>> {
    let is_linked = matches!(text.before(end), Some(b' ' | b':'));
    let pos = if is_linked { end } else { link_end(text, end)? };
    let pos = breaks::skip_blanks(text, pos);
    let user = value::quote_at(text, pos).map_or(pos, |quote| quote.end);
    let is_user = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._@+-".contains(byte);
    let n_user = text.rest(user).iter().take(MAX_USER).take_while(is_user).count();
    if n_user == 0 {
        return None;
    }
    let after = user + n_user;
    let after = value::quote_at(text, after).map_or(after, |quote| quote.end);
    let rest = text.rest(after);
    let sign = SIGNS.split('|').find(|sign| rest.starts_with(sign.as_bytes()))?;
    told_at(text, after + sign.len())
}

/// What stands between a user and a password, the longest first.
const SIGNS: &str = " with the password | with password | and password | with pw | with | using | and | / | : |: |, |/|:";

/// Returns where the sign or the verb behind the word ends that ends at `end`.
fn link_end(text: &Text<'_>, end: usize) -> Option<usize> {
    let pos = end + if text.rest(end).starts_with(b"**") { 2 } else { 0 };
    let rest = text.rest(pos);
    let links = [":**", ":", " are ", " is ", " = ", "="];
    let link = links.into_iter().find(|link| rest.starts_with(link.as_bytes()))?;
    Some(pos + link.len())
}
