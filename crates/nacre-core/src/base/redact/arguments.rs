//! Reads the arguments of a command as a shell does, and finds the one that is a secret.
//!
//! A command ends with its line, at a pipe, a semicolon or a redirection, and after a bounded number of bytes.

use std::ops::Range;

use super::breaks;
use super::judge;
use super::text::Text;
use super::value;

/// The longest command.
const MAX_COMMAND: usize = 400;

/// The most arguments of a command that are looked at.
const MAX_ARGUMENTS: usize = 32;

/// How far behind a command `<<<` is looked for.
const MAX_BEHIND: usize = 128;

/// The longest mark of a here-document.
const MAX_MARK: usize = 16;

/// Where the secret of a command stands.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    /// Behind one of these flags: `-p secret`, `--body=secret`, `/p:secret`.
    Flag(&'static [&'static str]),
    /// Right behind one of these flags: `-psecret`.
    Glued(&'static [&'static str]),
    /// Behind a flag, a user and a sign: `-a user:secret`.
    Pair(&'static [&'static str], u8),
    /// The argument with this number; flags are not counted.
    Argument(usize),
    /// The first argument that looks like one.
    Any,
    /// Every `NAME=secret`.
    Assignments,
    /// What the command before prints, or what stands behind `<<<`.
    Stdin,
    /// As `Stdin`, behind a user: `user:secret`.
    StdinPair,
}

/// Returns the secrets of a command that begins at `start` and whose arguments begin at `first`.
pub(super) fn secrets(
    text: &mut Text<'_>,
    slot: &Slot,
    start: usize,
    first: usize,
) -> Vec<Range<usize>> {
    match *slot {
        Slot::Stdin => piped(text, start, None).into_iter().collect(),
        Slot::StdinPair => piped(text, start, Some(b':')).into_iter().collect(),
        Slot::Flag(_) | Slot::Glued(_) | Slot::Pair(..) => {
            behind_flag(text, first, slot).into_iter().collect()
        }
        Slot::Argument(number) => positional(text, first, number).into_iter().collect(),
        Slot::Any => first_chosen(text, first).into_iter().collect(),
        Slot::Assignments => assignments(text, first),
    }
}

/// The arguments of one command, as they are written.
struct Arguments {
    pos: usize,
    limit: usize,
    n_left: usize,
}

impl Arguments {
    fn new(first: usize) -> Self {
        Self { pos: first, limit: first + MAX_COMMAND, n_left: MAX_ARGUMENTS }
    }

    /// Returns the next argument with its quotes.
    fn next(&mut self, text: &mut Text<'_>) -> Option<Range<usize>> {
        self.n_left = self.n_left.checked_sub(1)?;
        let start = skip_blanks(text, self.pos);
        let mut end = start;
        while end < self.limit && !ends_argument(text, end) {
            end = match value::quote_at(text, end) {
                Some(_) => {
                    let inside = value::read_phrase(text, end)?;
                    value::quote_at(text, inside.end)?.end
                }
                None => end + 1,
            };
        }
        self.pos = end;
        (start < end && end < self.limit).then_some(start..end)
    }
}

fn ends_argument(text: &Text<'_>, pos: usize) -> bool {
    match text.at(pos) {
        None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'|' | b';' | b'<' | b'>' | b'(' | b')') => true,
        Some(b'&') => matches!(text.at(pos + 1), None | Some(b'&' | b' ' | b'\n')),
        Some(b'\\') => breaks::break_end(text, pos).is_some(),
        Some(_) => false,
    }
}

/// Skips blanks and continued lines between two arguments.
fn skip_blanks(text: &Text<'_>, pos: usize) -> usize {
    let pos = breaks::skip_blanks(text, pos);
    match breaks::continued_end(text, pos) {
        Some(next) => breaks::skip_blanks(text, next),
        None => pos,
    }
}

/// Returns what an argument means behind `at`: what stands in its quotes, or all of it.
fn meant(text: &mut Text<'_>, at: usize, end: usize) -> Option<Range<usize>> {
    if value::quote_at(text, at).is_some() {
        let value = value::read(text, at)?;
        return (value.end <= end).then_some(value.start..value.end);
    }
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\');
    let n_bare = text.slice(at, end).iter().position(is_end).unwrap_or(end - at);
    Some(at..at + n_bare)
}

/// Returns the value behind a flag of `slot`: in the same argument or in the next.
fn behind_flag(text: &mut Text<'_>, first: usize, slot: &Slot) -> Option<Range<usize>> {
    let (flags, sign) = match *slot {
        Slot::Flag(flags) | Slot::Glued(flags) => (flags, None),
        Slot::Pair(flags, sign) => (flags, Some(sign)),
        Slot::Argument(_) | Slot::Any | Slot::Assignments | Slot::Stdin | Slot::StdinPair => {
            return None;
        }
    };
    let mut arguments = Arguments::new(first);
    while let Some(one) = arguments.next(text) {
        let written = text.slice(one.start, one.end);
        let is_flag = |flag: &&&str| written.starts_with(flag.as_bytes());
        let Some(flag) = flags.iter().filter(is_flag).max_by_key(|flag| flag.len()) else {
            continue;
        };
        let (at, end) = match &written[flag.len()..] {
            [] if flag.ends_with(':') || matches!(slot, Slot::Glued(_)) => continue,
            [] => {
                let next = arguments.next(text)?;
                (next.start, next.end)
            }
            [b'=', ..] => (one.start + flag.len() + 1, one.end),
            // `-psecret`, `/p:secret`; a longer name is another flag.
            _ if flag.len() == 2 || flag.ends_with(':') => (one.start + flag.len(), one.end),
            _ => continue,
        };
        let found = match sign {
            Some(sign) => behind_sign(text, at, end, sign),
            None => meant(text, at, end).filter(|one| is_literal(text, one)),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns the secret of `user:secret`, in quotes or with quotes around the secret.
fn behind_sign(text: &mut Text<'_>, at: usize, end: usize, sign: u8) -> Option<Range<usize>> {
    let n_user = memchr::memchr(sign, text.slice(at, end))?;
    let at = at + n_user + 1;
    let found = meant(text, at, end).filter(|one| one.start < one.end)?;
    is_literal(text, &found).then_some(found)
}

/// Returns the argument with the given number, if it is a secret.
fn positional(text: &mut Text<'_>, first: usize, number: usize) -> Option<Range<usize>> {
    let mut arguments = Arguments::new(first);
    let mut n_seen = 0;
    loop {
        let one = arguments.next(text)?;
        if text.at(one.start) == Some(b'-') {
            continue;
        }
        if n_seen == number {
            return meant(text, one.start, one.end).filter(|one| is_chosen(text, one));
        }
        n_seen += 1;
    }
}

/// Returns the first argument that is chosen or generated.
fn first_chosen(text: &mut Text<'_>, first: usize) -> Option<Range<usize>> {
    let mut arguments = Arguments::new(first);
    while let Some(one) = arguments.next(text) {
        let is_flag = text.at(one.start) == Some(b'-');
        let found = meant(text, one.start, one.end).filter(|one| !is_flag && is_chosen(text, one));
        if found.is_some() {
            return found;
        }
    }
    None
}

fn assignments(text: &mut Text<'_>, first: usize) -> Vec<Range<usize>> {
    let mut arguments = Arguments::new(first);
    let mut found = Vec::new();
    while let Some(one) = arguments.next(text) {
        let inside = value::quote_at(text, one.start).map_or(one.start, |quote| quote.end);
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(byte);
        let n_name = text.slice(inside, one.end).iter().take_while(is_name).count();
        let sign = inside + n_name;
        if n_name == 0 || text.at(sign) != Some(b'=') {
            continue;
        }
        let value = meant(text, sign + 1, one.end).filter(|one| is_chosen(text, one));
        found.extend(value);
    }
    found
}

/// Returns what a command reads that stands at `start`: `echo secret | command`, `command <<< secret`, or the first line
/// of `command <<EOF`. With a `sign` the secret stands behind it.
pub(super) fn piped(text: &mut Text<'_>, start: usize, sign: Option<u8>) -> Option<Range<usize>> {
    let at = printed(text, start).or_else(|| redirected(text, start, sign.is_some()))?;
    if let Some(sign) = sign {
        let end = at + text.rest(at).iter().take(MAX_BEHIND).take_while(|b| **b != b'\n').count();
        let end = text.slice(at, end).iter().position(|byte| *byte == b' ').map_or(end, |n| at + n);
        let n_user = memchr::memchr(sign, text.slice(at, end))?;
        return meant(text, at + n_user + 1, end).filter(|one| is_literal(text, one));
    }
    let value = value::read(text, at)?;
    Some(value.start..value.end).filter(|one| is_literal(text, one))
}

/// Returns where the text begins that is printed into the command at `start`.
fn printed(text: &Text<'_>, start: usize) -> Option<usize> {
    let from = breaks::line_start(text, start);
    let head = text.slice(from, start);
    let pipe = memchr::memrchr(b'|', head)?;
    let last = |word: &&str| {
        memchr::memmem::rfind(&head[..pipe], word.as_bytes()).map(|at| at + word.len())
    };
    let mut pos = from + ["echo ", "printf "].iter().filter_map(last).max()?;
    for skipped in [&b"-n "[..], b"-e ", b"%s ", b"'%s' ", b"\"%s\" ", b"\\\"%s\\\" ", b"'%s\\n' "]
    {
        pos += if text.rest(pos).starts_with(skipped) { skipped.len() } else { 0 };
    }
    Some(pos)
}

/// Returns where the text begins that is handed to the command at `start` behind it. A here-document is a list of
/// accounts; elsewhere it is a script.
fn redirected(text: &Text<'_>, start: usize, has_accounts: bool) -> Option<usize> {
    let behind = text.slice(start, text.bytes.len().min(start + MAX_BEHIND));
    let line = memchr::memchr(b'\n', behind).map_or(behind, |at| &behind[..at]);
    let at = start + memchr::memmem::find(line, b"<<")? + 2;
    if text.at(at) == Some(b'<') {
        return Some(at + 1 + usize::from(text.at(at + 1) == Some(b' ')));
    }
    if !has_accounts {
        return None;
    }
    let is_mark = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-~'\" ".contains(byte);
    let n_mark = text.rest(at).iter().take(MAX_MARK).take_while(is_mark).count();
    breaks::break_end(text, at + n_mark)
}

fn sample<'t>(text: &Text<'t>, range: &Range<usize>) -> &'t [u8] {
    text.slice(range.start, range.end.min(range.start + judge::SAMPLE))
}

/// Says whether a value is written as it is, and is not a stand-in.
fn is_literal(text: &Text<'_>, range: &Range<usize>) -> bool {
    judge::is_literal(sample(text, range))
}

/// Says whether a value is more than a word with a number.
fn is_chosen(text: &Text<'_>, range: &Range<usize>) -> bool {
    judge::is_chosen_literal(sample(text, range))
}
