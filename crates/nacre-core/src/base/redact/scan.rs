//! The engine: one pass over all anchors, a look around each hit, one merged list.
//!
//! The automaton is case-sensitive and key words are listed in the three cases people write, which
//! keeps the prefixes of tokens rare in ordinary text.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::automaton::{Automaton, Hit};
use super::fold::{self, Folded};
use super::names::{self, Role};
use super::rules::{self, Cover, Rule};
use super::text::Text;
use super::{
    aws, base64, cluster, commands, context, headers, lines, pem, shape, surroundings, url,
};

/// How sure a finding is of its kind: a shape says more than its place, a place more than a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    Name,
    Place,
    Shape,
}

/// A secret in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    pub(super) weight: Weight,
}

/// What to do where an anchor was seen.
#[derive(Clone, Copy)]
enum Target {
    Shape(&'static Rule),
    /// A prefix as base64 writes it, behind so many characters of its first group.
    Base64(usize),
    /// The beginning of a prefix, and the first byte of a line break.
    Stump,
    /// A control character, or a character that is written as an escape: the text has to be folded.
    Escape,
    Word(Role),
    Pem,
    PemEnd,
    Putty,
    Cluster,
    Pgpass,
    Url,
    Authorization,
    Bearer,
    Cookie,
    SetCookie,
    UserFlag,
    PasswordFlag,
    Login,
    Netrc,
    Sql,
    /// What an earlier pass put there; nothing inside it is looked at.
    Placeholder,
}

/// How every placeholder begins.
pub(super) const PLACEHOLDER: &str = "[redacted:";

/// Longer names than this are no kinds of ours.
pub(super) const MAX_KIND: usize = 40;

/// Every anchor as it is looked for, with what it leads to.
static ANCHORS: LazyLock<Vec<(String, Target)>> = LazyLock::new(anchors);

static AUTOMATON: LazyLock<Automaton> =
    LazyLock::new(|| Automaton::new(&words().collect::<Vec<_>>()));

pub(super) fn words() -> impl Iterator<Item = &'static str> {
    ANCHORS.iter().map(|(anchor, _)| anchor.as_str())
}

fn anchors() -> Vec<(String, Target)> {
    let mut list: Vec<(String, Target)> = Vec::new();
    for rule in rules::RULES {
        list.extend(rule.anchors.iter().map(|anchor| ((*anchor).to_owned(), Target::Shape(rule))));
    }
    list.extend(rules::discord_anchors().map(|anchor| (anchor, Target::Shape(&rules::DISCORD))));
    list.extend(base64::anchors().into_iter().map(|(anchor, skip)| (anchor, Target::Base64(skip))));
    for (word, role) in names::WORDS {
        list.extend(in_three_cases(word).map(|word| (word, Target::Word(*role))));
    }
    for (word, target) in STRUCTURES {
        list.extend(in_three_cases(word).map(|word| (word, *target)));
    }
    list.extend(cluster::ANCHORS.map(|anchor| (anchor.to_owned(), Target::Cluster)));
    list.extend(commands::PGPASS.map(|anchor| (anchor.to_owned(), Target::Pgpass)));
    list.extend(lines::stumps().into_iter().map(|stump| (stump, Target::Stump)));
    list.extend(fold::triggers().into_iter().map(|mark| (mark, Target::Escape)));
    list.sort_by(|a, b| a.0.cmp(&b.0));
    list
}

const STRUCTURES: &[(&str, Target)] = &[
    ("-----BEGIN ", Target::Pem),
    ("-----END ", Target::PemEnd),
    ("Private-Lines: ", Target::Putty),
    ("://", Target::Url),
    (":\\/\\/", Target::Url),
    ("authorization", Target::Authorization),
    ("bearer ", Target::Bearer),
    ("cookie", Target::Cookie),
    ("set-cookie", Target::SetCookie),
    (" -u ", Target::UserFlag),
    (" --user ", Target::UserFlag),
    (" -p", Target::PasswordFlag),
    (" -a ", Target::PasswordFlag),
    ("login ", Target::Login),
    ("password ", Target::Netrc),
    ("password '", Target::Sql),
    ("identified by ", Target::Sql),
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

/// Returns the anchors that begin tokens and begin with `stump`, and their rules.
pub(super) fn shapes_that_begin_with(
    stump: &[u8],
) -> impl Iterator<Item = (&'static str, &'static Rule)> {
    let from = ANCHORS.partition_point(|(anchor, _)| anchor.as_bytes() < stump);
    let begins = |anchor: &str| anchor.as_bytes().starts_with(stump);
    ANCHORS[from..].iter().take_while(move |(anchor, _)| begins(anchor)).filter_map(
        |(anchor, target)| {
            let Target::Shape(rule) = target else { return None };
            (rule.cover == Cover::Whole).then_some((anchor.as_str(), *rule))
        },
    )
}

/// Returns every secret of `text`, in order and without overlaps.
pub(super) fn scan(text: &str) -> Vec<Found> {
    let whole = 0..text.len();
    scan_parts(text, &[whole])
}

/// Returns every secret of `text` whose anchor stands in one of `parts`.
pub(super) fn scan_parts(text: &str, parts: &[Range<usize>]) -> Vec<Found> {
    let seen = scan_as_it_is(Text::new(text), parts);
    let mut found = seen.found;
    let folded = if seen.has_marks { Folded::new(text) } else { None };
    if let Some(folded) = folded {
        let around = surroundings(&folded.spots(parts), folded.text.len());
        let seen = scan_as_it_is(Text::new(&folded.text), &around);
        found.extend(seen.found.into_iter().map(|one| {
            let origin = folded.origin(one.start..one.end);
            Found { start: origin.start, end: origin.end, ..one }
        }));
    }
    merge(found)
}

/// Returns every secret of a text that came out of base64.
pub(super) fn scan_decoded(text: &str, depth: u8) -> Vec<Found> {
    let whole = 0..text.len();
    merge(scan_as_it_is(Text::decoded(text, depth), &[whole]).found)
}

/// What one pass over a text has seen.
struct Seen {
    found: Vec<Found>,
    /// Whether there is something that a reader does not see as it is written.
    has_marks: bool,
}

/// Looks for the secrets whose anchors stand in `parts`.
fn scan_as_it_is(text: Text<'_>, parts: &[Range<usize>]) -> Seen {
    let mut found = Vec::new();
    let bytes = text.bytes;
    let mut search = Search::new(text);
    let mut is_ascii = true;
    for part in parts {
        is_ascii &= AUTOMATON.each_hit(bytes, part, |hit| search.take(hit, &mut found));
    }
    if !is_ascii {
        find_foreign(&mut search.text, parts, &mut found);
    }
    Seen { found, has_marks: search.has_escapes || !is_ascii }
}

/// Key words that are not ASCII. They stand in an automaton of their own, which a text of ASCII does not pay for.
static FOREIGN: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let cases = names::FOREIGN_WORDS
        .iter()
        .flat_map(|word| [(*word).to_owned(), word.to_uppercase(), capitalized(word)]);
    AhoCorasick::new(cases).expect("the list of words is a constant and far below every limit")
});

/// Appends the passwords behind key words that are not ASCII.
pub(super) fn find_foreign(text: &mut Text<'_>, parts: &[Range<usize>], found: &mut Vec<Found>) {
    for part in parts {
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
    pub(super) fn take(&mut self, hit: Hit<'_>, found: &mut Vec<Found>) {
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

fn look(text: &mut Text<'_>, target: Target, start: usize, end: usize, found: &mut Vec<Found>) {
    match target {
        Target::Shape(rule) => match shape::find(text, rule, start, end) {
            Some(one) => {
                found.push(one);
                if one.kind == aws::ID_KIND {
                    found.extend(aws::find_secret(text, one.start, one.end));
                }
            }
            None => lines::find(text, rule, start..end, found),
        },
        Target::Stump => lines::find_broken(text, start..end - 1, found),
        Target::Base64(skip) => base64::find(text, start, skip, found),
        Target::Word(role) => found.extend(context::find(text, role, start, end)),
        Target::Pem => pem::find(text, start, end, found),
        Target::PemEnd => pem::find_rest(text, start, end, found),
        Target::Putty => pem::find_putty(text, end, found),
        Target::Cluster => cluster::find(text, start, end, found),
        Target::Pgpass => found.extend(commands::pgpass(text, start)),
        Target::Url => found.extend(url::find(text, end)),
        Target::Authorization => found.extend(headers::authorization(text, start, end)),
        Target::Bearer => found.extend(headers::bearer(text, start, end)),
        Target::Cookie => found.extend(headers::cookie(text, start, end)),
        Target::SetCookie => found.extend(headers::set_cookie(text, end)),
        Target::UserFlag => found.extend(commands::user_flag(text, end)),
        Target::PasswordFlag => found.extend(commands::password_flag(text, end)),
        Target::Login => text.login = Some(end),
        Target::Netrc => found.extend(commands::netrc(text, start, end)),
        Target::Sql => found.extend(commands::sql(text, end)),
        Target::Placeholder | Target::Escape => {}
    }
}

/// Returns where the placeholder ends whose beginning ends at `pos`, or `pos` if it is none of ours.
pub(super) fn placeholder_end(text: &Text<'_>, pos: usize) -> usize {
    let rest = text.rest(pos);
    let is_kind = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-';
    let n_kind = rest.iter().take(MAX_KIND).take_while(is_kind).count();
    if rest.get(n_kind) == Some(&b']') { pos + n_kind + 1 } else { pos }
}

/// Joins overlapping findings; the surer one names the kind.
pub(super) fn merge(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|one| (one.start, std::cmp::Reverse(one.end)));
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for one in found {
        match merged.last_mut() {
            Some(last) if one.start < last.end => {
                last.end = last.end.max(one.end);
                if last.weight < one.weight {
                    (last.kind, last.weight) = (one.kind, one.weight);
                }
            }
            Some(_) | None => merged.push(one),
        }
    }
    merged
}
