//! The engine: one pass over all anchors, a look around each hit, one merged list.
//!
//! The automaton is case-sensitive and key words are listed in the three cases people write, which
//! keeps the prefixes of tokens rare in ordinary text.

use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::automaton::{Automaton, Hit};
use super::finding::{FoundSecret, PLACEHOLDER, Weight, merge, placeholder_end};
use super::fold::{self, Folded};
use super::names::{self, Role};
use super::programs::{self, Program};
use super::rules::{self, Rule};
use super::text::Text;
use super::{
    aws, base64, calls, cluster, commands, context, headers, inserts, judge, jwk, pem, prefix,
    prose, seeds, shape, surroundings, url,
};

/// Looks around an anchor at `start..end` and appends what it finds.
type Look = fn(&mut Text<'_>, usize, usize, &mut Vec<FoundSecret>);

/// Returns where the secret is that an anchor at `start..end` announces.
type Locate = fn(&mut Text<'_>, usize, usize) -> Option<Range<usize>>;

/// What to do where an anchor was seen.
#[derive(Clone, Copy)]
enum Target {
    Shape(&'static Rule),
    /// A prefix as base64 writes it, behind this many characters of its first group.
    Base64(usize),
    /// A character that is written as an escape: the text has to be folded.
    Escape,
    Word(Role),
    /// The beginning of a command that takes a secret.
    Program(&'static Program),
    /// A call whose arguments have a password among them.
    Call(calls::Position),
    Structure(Look),
    /// One secret whose kind its place says.
    Place(Locate, &'static str, Weight),
    /// What an earlier pass put there; nothing inside it is looked at.
    Placeholder,
}

/// Every anchor as it is looked for, with what it leads to.
static ANCHORS: LazyLock<Vec<(String, Target)>> = LazyLock::new(anchors);

static AUTOMATON: LazyLock<Automaton> =
    LazyLock::new(|| Automaton::new(&words().collect::<Vec<_>>()));

/// The same words for a process that shows a few lines: quick to build and slow to use.
static SMALL: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let builder =
        AhoCorasick::builder().kind(Some(AhoCorasickKind::NoncontiguousNFA)).build(words());
    builder.expect("the list of anchors is a constant and far below every limit")
});

/// From this many bytes on the automaton is worth its table.
const WORTH_A_TABLE: usize = 64 << 10;

/// How many bytes this process has looked at.
static N_LOOKED_AT: AtomicUsize = AtomicUsize::new(0);

/// Hands every place of `part` where anchors end to `each`, in order. Returns whether all of it is ASCII.
fn each_hit(bytes: &[u8], part: &Range<usize>, each: impl FnMut(Hit<'_>)) -> bool {
    let n_before = N_LOOKED_AT.fetch_add(part.len(), Ordering::Relaxed);
    match n_before.saturating_add(part.len()) < WORTH_A_TABLE {
        true => each_hit_small(bytes, part, each),
        false => AUTOMATON.each_hit(bytes, part, each),
    }
}

/// As `each_hit`, without the table.
pub(super) fn each_hit_small(
    bytes: &[u8],
    part: &Range<usize>,
    mut each: impl FnMut(Hit<'_>),
) -> bool {
    let bytes = bytes.get(part.start..part.end.min(bytes.len())).unwrap_or_default();
    let hits: Vec<(usize, u16)> = SMALL
        .find_overlapping_iter(bytes)
        .map(|hit| (part.start + hit.end(), hit.pattern().as_usize() as u16))
        .collect();
    for same in hits.chunk_by(|a, b| a.0 == b.0) {
        let words: Vec<u16> = same.iter().map(|(_, word)| *word).collect();
        each(Hit { end: same[0].0, words: &words });
    }
    bytes.is_ascii()
}

pub(super) fn words() -> impl Iterator<Item = &'static str> {
    ANCHORS.iter().map(|(anchor, _)| anchor.as_str())
}

fn anchors() -> Vec<(String, Target)> {
    let mut list: Vec<(String, Target)> = Vec::new();
    list.extend(rules::anchors().map(|(anchor, rule)| (anchor, Target::Shape(rule))));
    list.extend(base64::anchors().into_iter().map(|(anchor, skip)| (anchor, Target::Base64(skip))));
    let words = names::words().filter(|(word, _)| word.is_ascii());
    let words = words.map(|(word, role)| (word, Target::Word(role)));
    let structures = STRUCTURES
        .iter()
        .flat_map(|(anchors, target)| anchors.split('|').map(|one| (one, *target)));
    for (word, target) in words.chain(structures) {
        list.extend(in_three_cases(word).map(|word| (word, target)));
    }
    for program in programs::PROGRAMS {
        let words = program.words.split('|');
        list.extend(words.map(|word| (word.to_owned(), Target::Program(program))));
    }
    for (calls, position) in calls::CALLS {
        list.extend(calls.split('|').map(|call| (call.to_owned(), Target::Call(*position))));
    }
    list.extend(fold::TRIGGERS.map(|mark| (mark.to_owned(), Target::Escape)));
    list.sort_by(|a, b| a.0.cmp(&b.0));
    list
}

/// Anchors separated by `|`, and what they lead to.
const STRUCTURES: &[(&str, Target)] = &[
    ("-----BEGIN ", Target::Structure(pem::find)),
    ("-----END ", Target::Structure(pem::find_rest)),
    ("Private-Lines: ", Target::Structure(pem::find_putty)),
    (jwk::ANCHOR, Target::Structure(jwk::find)),
    (seeds::LABELS, Target::Structure(seeds::find)),
    // Where the rows of an insertion begin. In other cases the word is one of code.
    ("VALUES|values (|values(|Values (", Target::Structure(inserts::find)),
    (cluster::ANCHORS, Target::Structure(cluster::find)),
    ("://|:\\/\\/", Target::Place(url::find, "url-password", Weight::Place)),
    ("authorization", Target::Place(headers::authorization, "authorization", Weight::Place)),
    ("bearer ", Target::Place(headers::bearer, "authorization", Weight::Place)),
    ("cookie", Target::Place(headers::cookie, "cookie", Weight::Place)),
    ("set-cookie", Target::Place(headers::set_cookie, "cookie", Weight::Place)),
    (prose::ACCOUNTS, Target::Place(prose::account, "password", Weight::Name)),
    ("login |login\n|login\r|login\\n", Target::Place(commands::note_login, "", Weight::Name)),
    (
        "password |password\n|password\r|password\\n",
        Target::Place(commands::netrc, "netrc-password", Weight::Shape),
    ),
    ("password '|identified by ", Target::Place(commands::sql, "password", Weight::Name)),
    (":5432:|:6432:|:*:*:", Target::Place(commands::pgpass, "password", Weight::Place)),
    (PLACEHOLDER, Target::Placeholder),
];

/// Returns `word`, `Word` and `WORD`, each once.
fn in_three_cases(word: &str) -> impl Iterator<Item = String> {
    let mut cases = vec![word.to_owned(), word.to_uppercase(), capitalized(word)];
    if word.contains('-') {
        cases.push(word.split('-').map(capitalized).collect::<Vec<_>>().join("-"));
    }
    if !word
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b' ' | b'\''))
        || word.starts_with([' ', '-'])
    {
        cases.truncate(1);
    }
    cases.sort();
    cases.dedup();
    cases.into_iter()
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns every secret of `text`, in order and without overlaps.
pub(super) fn scan(text: &str) -> Vec<FoundSecret> {
    let whole = 0..text.len();
    let mut found = scan_parts(text, &[whole]);
    found.extend(find_repeats(text, &found));
    merge(found)
}

/// Values that are repeated are looked for up to this number and length.
const MAX_REPEATED: usize = 256;

/// Returns where the generated values of `found` are written again without the name that gave them away.
fn find_repeats(text: &str, found: &[FoundSecret]) -> Vec<FoundSecret> {
    let value = |one: &FoundSecret| text.get(one.start..one.end).unwrap_or_default();
    let is_generated = |one: &&FoundSecret| {
        let value = value(one);
        value.len() <= MAX_REPEATED && judge::is_random(value.as_bytes())
    };
    let known: Vec<&FoundSecret> = found.iter().filter(is_generated).take(MAX_REPEATED).collect();
    if known.is_empty() {
        return Vec::new();
    }
    let builder = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(known.iter().map(|one| value(one)));
    let Ok(repeats) = builder else { return Vec::new() };
    let bytes = text.as_bytes();
    let is_part = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let is_whole = |start: usize, end: usize| {
        !is_part(start.checked_sub(1).and_then(|at| bytes.get(at))) && !is_part(bytes.get(end))
    };
    repeats
        .find_iter(text)
        .filter(|hit| is_whole(hit.start(), hit.end()))
        .map(|hit| {
            FoundSecret::new(
                hit.start()..hit.end(),
                known[hit.pattern().as_usize()].kind,
                Weight::Name,
            )
        })
        .collect()
}

/// Returns every secret of `text` whose anchor stands in one of `parts`.
pub(super) fn scan_parts(text: &str, parts: &[Range<usize>]) -> Vec<FoundSecret> {
    let seen = scan_as_it_is(Text::new(text), parts);
    let mut found = seen.found;
    if let Some(folded) = seen.has_escapes.then(|| Folded::new(text)).flatten() {
        let around = surroundings(&folded.spots(parts), folded.text.len());
        let seen = scan_as_it_is(Text::new(&folded.text), &around);
        found.extend(seen.found.into_iter().map(|one| {
            let origin = folded.origin(one.start..one.end);
            FoundSecret { start: origin.start, end: origin.end, ..one }
        }));
    }
    merge(found)
}

/// Returns every secret of a text that came out of base64.
pub(super) fn scan_decoded(text: &str, depth: u8) -> Vec<FoundSecret> {
    let whole = 0..text.len();
    merge(scan_as_it_is(Text::decoded(text, depth), &[whole]).found)
}

/// What one pass over a text has seen.
struct Seen {
    found: Vec<FoundSecret>,
    /// Whether there is something that a reader does not see as it is written.
    has_escapes: bool,
}

/// Looks for the secrets whose anchors stand in `parts`.
fn scan_as_it_is(text: Text<'_>, parts: &[Range<usize>]) -> Seen {
    let mut found = Vec::new();
    let bytes = text.bytes;
    let mut search = Search::new(text);
    let mut is_ascii = true;
    for part in parts {
        is_ascii &= each_hit(bytes, part, |hit| search.take(hit, &mut found));
    }
    if !is_ascii {
        find_foreign(&mut search.text, parts, &mut found);
    }
    prefix::find(&mut search.text, parts, &mut found);
    Seen { found, has_escapes: search.has_escapes }
}

/// Key words that are not ASCII. They are in a search of their own, which a text of ASCII does not pay for.
static FOREIGN: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words = names::words().map(|(word, _)| word).filter(|word| !word.is_ascii());
    let cases = |word: &str| [word.to_owned(), word.to_uppercase(), capitalized(word)];
    AhoCorasick::new(words.flat_map(cases))
        .expect("the list of words is a constant and far below every limit")
});

/// Appends the passwords behind key words that are not ASCII.
pub(super) fn find_foreign(
    text: &mut Text<'_>,
    parts: &[Range<usize>],
    found: &mut Vec<FoundSecret>,
) {
    // Dashes, quotes, arrows and pictures, which most texts have alone, begin with other bytes.
    let is_letter = |byte: &u8| *byte >= 0xc3 && !matches!(byte, 0xe2 | 0xf0);
    for part in parts {
        if !text.slice(part.start, part.end).iter().any(is_letter) {
            continue;
        }
        for hit in FOREIGN.find_iter(text.slice(part.start, part.end)) {
            let (start, end) = (part.start + hit.start(), part.start + hit.end());
            found.extend(context::find(text, Role::Password, start, end));
        }
    }
}

/// A look at hits in the order of the text.
pub(super) struct Search<'t> {
    pub(super) text: Text<'t>,
    /// Where the last placeholder ended; anchors that began before it are part of it.
    floor: usize,
    has_escapes: bool,
}

impl<'t> Search<'t> {
    pub(super) fn new(text: Text<'t>) -> Self {
        Self { text, floor: 0, has_escapes: false }
    }
}

impl Search<'_> {
    /// Looks around every anchor that ends at one place.
    pub(super) fn take(&mut self, hit: Hit<'_>, found: &mut Vec<FoundSecret>) {
        for anchor in hit.words {
            let (word, target) = &ANCHORS[usize::from(*anchor)];
            let start = hit.end - word.len();
            if start < self.floor {
                continue;
            }
            if matches!(target, Target::Placeholder) {
                self.floor = placeholder_end(&self.text, hit.end);
                break;
            }
            self.has_escapes |= matches!(target, Target::Escape);
            let n_found = found.len();
            look(&mut self.text, *target, start, hit.end, found);
            if let Some(one) = found[n_found..].last() {
                self.text.note_end(one.end);
            }
        }
    }
}

/// Returns the blob of base64 around the anchor at `start`, if it decodes to a text with a secret.
fn find_encoded(text: &mut Text<'_>, start: usize, skip: usize) -> Option<FoundSecret> {
    let blob = base64::read(text, start, skip)?;
    let inside = scan_decoded(&blob.decoded, text.depth + 1);
    base64::cover(text, &blob, &inside)
}

fn look(
    text: &mut Text<'_>,
    target: Target,
    start: usize,
    end: usize,
    found: &mut Vec<FoundSecret>,
) {
    match target {
        Target::Shape(rule) => {
            if let Some(one) = shape::find(text, rule, start, end) {
                found.push(one);
                if one.kind == aws::ID_KIND {
                    found.extend(aws::find_secret(text, one.start, one.end));
                }
            }
        }
        Target::Base64(skip) => found.extend(find_encoded(text, start, skip)),
        Target::Word(role) => found.extend(context::find(text, role, start, end)),
        Target::Program(program) => found.extend(programs::find(text, program, start, end)),
        Target::Call(position) => found.extend(calls::find(text, position, end)),
        Target::Structure(look) => look(text, start, end, found),
        Target::Place(locate, kind, weight) => {
            let range = locate(text, start, end);
            found.extend(range.map(|range| FoundSecret::new(range, kind, weight)));
        }
        Target::Placeholder | Target::Escape => {}
    }
}
