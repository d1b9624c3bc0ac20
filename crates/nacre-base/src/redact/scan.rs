//! The search engine: searches for all anchors in a single pass, checks the text around each match,
//! and merges the findings.
//!
//! The automaton is case-sensitive, so token prefixes rarely match ordinary text. Keywords are
//! listed in the three common letter cases.

use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::fold::Folded;
use super::names::Role;
use super::places::{PLACES, PlaceRule};
use super::rules::Rule;
use super::text::{FoundSecret, PLACEHOLDER, Secrets, Text, Weight, merge, placeholder_end};
use super::{base64, context, documents, fold, http, judge, names, rules, surroundings, tables};

type Look = fn(&mut Text<'_>, usize, usize, &mut Secrets);

type Locate = fn(&mut Text<'_>, usize, usize) -> Option<Range<usize>>;

#[derive(Clone, Copy)]
enum Target {
    Shape(&'static Rule),
    /// A token prefix in base64, with the number of base64 characters that precede it in its first
    /// group.
    Base64(usize),
    Escape,
    Word(Role),
    Place(&'static PlaceRule),
    Structure(Look),
    Located(Locate, &'static str),
    Placeholder,
}

static ANCHORS: LazyLock<Vec<(String, Target)>> = LazyLock::new(anchors);

/// Used for large inputs: slow to build, fast to run.
static LARGE: LazyLock<AhoCorasick> = LazyLock::new(|| automaton(AhoCorasickKind::DFA));

/// Used for small inputs: fast to build, slow to run.
static SMALL: LazyLock<AhoCorasick> =
    LazyLock::new(|| automaton(AhoCorasickKind::NoncontiguousNFA));

/// Total input size in bytes above which building `LARGE` is worthwhile.
const WORTH_A_TABLE: usize = 64 << 10;

static N_LOOKED_AT: AtomicUsize = AtomicUsize::new(0);

fn automaton(kind: AhoCorasickKind) -> AhoCorasick {
    let builder = AhoCorasick::builder().kind(Some(kind)).build(words());
    builder.expect("the list of anchors is a constant far below the automaton's maximum")
}

pub(super) fn words() -> impl Iterator<Item = &'static str> {
    ANCHORS.iter().map(|(anchor, _)| anchor.as_str())
}

fn anchors() -> Vec<(String, Target)> {
    let mut list: Vec<(String, Target)> = Vec::new();
    list.extend(rules::anchors().map(|(anchor, rule)| (anchor, Target::Shape(rule))));
    list.extend(base64::anchors().into_iter().map(|(anchor, skip)| (anchor, Target::Base64(skip))));
    let words = names::words().map(|(word, role)| (word, Target::Word(role)));
    let structures = STRUCTURES
        .iter()
        .flat_map(|(anchors, target)| anchors.split('|').map(|one| (one, *target)));
    for (word, target) in words.chain(structures) {
        list.extend(in_three_cases(word).map(|word| (word, target)));
    }
    for place in PLACES.iter() {
        list.extend(place.words.split('|').map(|word| (word.to_owned(), Target::Place(place))));
    }
    list.extend(fold::TRIGGERS.map(|mark| (mark.to_owned(), Target::Escape)));
    list
}

/// Anchors separated by `|`, with the action for each list.
const STRUCTURES: &[(&str, Target)] = &[
    ("-----BEGIN ", Target::Structure(documents::find_pem)),
    ("-----END ", Target::Structure(documents::find_rest)),
    ("Private-Lines: ", Target::Structure(documents::find_putty)),
    (documents::JWK_ANCHOR, Target::Structure(documents::find_jwk)),
    (documents::SEED_LABELS, Target::Structure(documents::find_seed)),
    // The keyword before the rows in an SQL `INSERT`. With any other capitalization, the word is
    // usually code.
    ("VALUES|values (|values(|Values (", Target::Structure(tables::find_inserted)),
    (documents::MANIFEST_ANCHORS, Target::Structure(documents::find_manifest)),
    ("://|:\\/\\/", Target::Located(http::url_password, "url-password")),
    ("authorization", Target::Located(http::authorization, "authorization")),
    ("bearer ", Target::Located(http::bearer, "authorization")),
    ("cookie", Target::Located(http::cookie, "cookie")),
    ("set-cookie", Target::Located(http::set_cookie, "cookie")),
    (PLACEHOLDER, Target::Placeholder),
];

pub(super) fn in_three_cases(word: &str) -> impl Iterator<Item = String> {
    let mut cases = vec![word.to_owned(), word.to_uppercase(), capitalize(word)];
    if word.contains('-') {
        cases.push(word.split('-').map(capitalize).collect::<Vec<_>>().join("-"));
    }
    let is_plain = |c: char| c.is_alphabetic() && !c.is_uppercase() || "-_ '".contains(c);
    if !word.chars().all(is_plain) || word.starts_with([' ', '-']) {
        cases.truncate(1);
    }
    cases.sort();
    cases.dedup();
    cases.into_iter()
}

fn capitalize(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

pub(super) fn scan(text: &str) -> Secrets {
    let whole = 0..text.len();
    let mut found = scan_parts(text, &[whole]);
    found.extend(find_repeats(text, &found));
    merge(found)
}

/// Maximum number of secret values to search for elsewhere in the text.
const MAX_REPEATED: usize = 256;

/// Finds other occurrences of those values in `found` that look generated. Without a name before
/// them, these occurrences would not be recognized.
fn find_repeats(text: &str, found: &[FoundSecret]) -> Secrets {
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
    let hits = repeats.find_iter(text).filter(|hit| is_whole(hit.start(), hit.end()));
    hits.map(|hit| {
        FoundSecret::new(hit.range(), known[hit.pattern().as_usize()].kind, Weight::Name)
    })
    .collect()
}

pub(super) fn scan_parts(text: &str, parts: &[Range<usize>]) -> Secrets {
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

fn scan_decoded(text: &str, depth: u8) -> Secrets {
    let whole = 0..text.len();
    merge(scan_as_it_is(Text::from_decoded(text, depth), &[whole]).found)
}

struct Seen {
    found: Secrets,
    has_escapes: bool,
}

fn scan_as_it_is(mut text: Text<'_>, parts: &[Range<usize>]) -> Seen {
    let mut seen = Seen { found: Vec::new(), has_escapes: false };
    let len = text.bytes.len();
    // The end of the last placeholder. An anchor that begins before this offset is part of a
    // placeholder.
    let mut floor = 0;
    for part in parts {
        let n_before = N_LOOKED_AT.fetch_add(part.len(), Ordering::Relaxed);
        let is_large = WORTH_A_TABLE <= n_before.saturating_add(part.len());
        let automaton = if is_large { &LARGE } else { &SMALL };
        let input = Input::new(text.bytes).range(part.start..part.end.min(len));
        for hit in automaton.find_overlapping_iter(input) {
            if hit.start() < floor {
                continue;
            }
            let target = ANCHORS[hit.pattern().as_usize()].1;
            if matches!(target, Target::Placeholder) {
                floor = placeholder_end(&text, hit.end());
            }
            seen.has_escapes |= matches!(target, Target::Escape);
            let n_found = seen.found.len();
            look(&mut text, target, hit.range(), &mut seen.found);
            if let Some(one) = seen.found[n_found..].last() {
                text.note_end(one.end);
            }
        }
    }
    rules::find_prefixed(&mut text, parts, &mut seen.found);
    seen
}

fn find_encoded(text: &mut Text<'_>, start: usize, skip: usize) -> Option<FoundSecret> {
    let blob = base64::read(text, start, skip)?;
    let inside = scan_decoded(&blob.decoded, text.depth + 1);
    base64::cover(text, &blob, &inside)
}

fn look(text: &mut Text<'_>, target: Target, hit: Range<usize>, found: &mut Secrets) {
    let Range { start, end } = hit;
    match target {
        Target::Shape(rule) => {
            if let Some(one) = rules::find_shape(text, rule, start, end) {
                found.push(one);
                if one.kind == rules::AWS_ID_KIND {
                    found.extend(rules::find_aws_secret(text, one.start, one.end));
                }
            }
        }
        Target::Base64(skip) => found.extend(find_encoded(text, start, skip)),
        Target::Word(role) => found.extend(context::find(text, role, start, end)),
        Target::Place(place) => found.extend(place.find(text, start, end)),
        Target::Structure(look) => look(text, start, end, found),
        Target::Located(locate, kind) => {
            let range = locate(text, start, end);
            found.extend(range.map(|range| FoundSecret::new(range, kind, Weight::Place)));
        }
        Target::Placeholder | Target::Escape => {}
    }
}
