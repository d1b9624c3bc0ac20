//! The engine: one pass of an automaton over all anchors, a look around each hit, one merged list.
//!
//! The automaton is case-sensitive and key words are listed in the three cases people write, which
//! keeps the prefixes of tokens rare in ordinary text.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind};

use super::names::{self, Role};
use super::rules::{self, Rule};
use super::text::Text;
use super::{commands, context, headers, pem, shape, url};

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
    Word(Role),
    Pem,
    Url,
    Authorization,
    Bearer,
    Cookie,
    SetCookie,
    UserFlag,
    PasswordFlag,
    Netrc,
    Sql,
    /// What an earlier pass put there; nothing inside it is looked at.
    Placeholder,
}

/// How every placeholder begins.
pub(super) const PLACEHOLDER: &str = "[redacted:";

/// Longer names than this are no kinds of ours.
const MAX_KIND: usize = 40;

struct Anchors {
    dfa: DFA,
    targets: Vec<(usize, Target)>,
}

static ANCHORS: LazyLock<Anchors> = LazyLock::new(anchors);

fn anchors() -> Anchors {
    let mut list: Vec<(String, Target)> = Vec::new();
    for rule in rules::RULES {
        list.extend(rule.anchors.iter().map(|anchor| ((*anchor).to_owned(), Target::Shape(rule))));
    }
    list.extend(rules::discord_anchors().map(|anchor| (anchor, Target::Shape(&rules::DISCORD))));
    for (word, role) in names::WORDS {
        list.extend(in_three_cases(word).map(|word| (word, Target::Word(*role))));
    }
    for (word, target) in STRUCTURES {
        list.extend(in_three_cases(word).map(|word| (word, *target)));
    }
    list.sort_by(|a, b| a.0.cmp(&b.0));
    let targets = list.iter().map(|(anchor, target)| (anchor.len(), *target)).collect();
    let dfa = DFA::builder()
        .match_kind(MatchKind::Standard)
        .prefilter(false)
        .build(list.iter().map(|(anchor, _)| anchor))
        .expect("the table of anchors is a constant and far below every limit");
    Anchors { dfa, targets }
}

const STRUCTURES: &[(&str, Target)] = &[
    ("-----BEGIN ", Target::Pem),
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
    if !word.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b' ' | b'\''))
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
pub(super) fn scan(text: &str) -> Vec<Found> {
    let whole = 0..text.len();
    scan_parts(text, &[whole])
}

/// Returns every secret of `text` whose anchor stands in one of `parts`.
pub(super) fn scan_parts(text: &str, parts: &[Range<usize>]) -> Vec<Found> {
    let mut text = Text::new(text);
    let mut found = Vec::new();
    for part in parts {
        scan_part(&mut text, part, &mut found);
    }
    merge(found)
}

fn scan_part(text: &mut Text<'_>, part: &Range<usize>, found: &mut Vec<Found>) {
    let anchors = &*ANCHORS;
    let Ok(start) = anchors.dfa.start_state(Anchored::No) else { return };
    let bytes = text.slice(0, part.end);
    let (mut state, mut pos) = (start, part.start);
    while let Some(byte) = bytes.get(pos) {
        state = anchors.dfa.next_state(Anchored::No, state, *byte);
        pos += 1;
        if !anchors.dfa.is_special(state) || !anchors.dfa.is_match(state) {
            continue;
        }
        for idx in 0..anchors.dfa.match_len(state) {
            let (len, target) = anchors.targets[anchors.dfa.match_pattern(state, idx).as_usize()];
            if matches!(target, Target::Placeholder) {
                (state, pos) = (start, placeholder_end(text, pos));
                break;
            }
            let n_found = found.len();
            look(text, target, pos - len, pos, found);
            if let Some(one) = found[n_found..].last() {
                text.note_end(one.end);
            }
        }
    }
}

fn look(text: &mut Text<'_>, target: Target, start: usize, end: usize, found: &mut Vec<Found>) {
    match target {
        Target::Shape(rule) => found.extend(shape::find(text, rule, start, end)),
        Target::Word(role) => found.extend(context::find(text, role, start, end)),
        Target::Pem => pem::find(text, start, end, found),
        Target::Url => found.extend(url::find(text, end)),
        Target::Authorization => found.extend(headers::authorization(text, start, end)),
        Target::Bearer => found.extend(headers::bearer(text, start, end)),
        Target::Cookie => found.extend(headers::cookie(text, start, end)),
        Target::SetCookie => found.extend(headers::set_cookie(text, end)),
        Target::UserFlag => found.extend(commands::user_flag(text, end)),
        Target::PasswordFlag => found.extend(commands::password_flag(text, end)),
        Target::Netrc => found.extend(commands::netrc(text, start, end)),
        Target::Sql => found.extend(commands::sql(text, end)),
        Target::Placeholder => {}
    }
}

/// Returns where the placeholder ends whose beginning ends at `pos`, or `pos` if it is none of ours.
fn placeholder_end(text: &Text<'_>, pos: usize) -> usize {
    let rest = text.rest(pos);
    let is_kind = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-';
    let n_kind = rest.iter().take(MAX_KIND).take_while(is_kind).count();
    if rest.get(n_kind) == Some(&b']') { pos + n_kind + 1 } else { pos }
}

/// Joins overlapping findings; the surer one names the kind.
fn merge(mut found: Vec<Found>) -> Vec<Found> {
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
