//! The engine: one pass over all anchors, a look around each hit, one merged list.
//!
//! The automaton is case-sensitive and key words are listed in the three cases people write, which
//! keeps the prefixes of tokens rare in ordinary text.

use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::AhoCorasick;

use super::automaton::{Automaton, Hit};
use super::few::FewWords;
use super::finding::{FoundSecret, PLACEHOLDER, merge, placeholder_end};
use super::fold::{self, Folded};
use super::names::{self, Role};
use super::programs::{self, Program};
use super::rules::{self, Rule};
use super::text::Text;
use super::{
    aws, base64, calls, cluster, commands, context, headers, inserts, jwk, lines, pem, prose,
    seeds, shape, surroundings, url,
};

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
    /// The beginning of a command that takes a secret.
    Program(&'static Program),
    Pem,
    PemEnd,
    /// Armor whose dashes are others, or not five.
    Armor,
    Putty,
    Jwk,
    Cluster,
    Pgpass,
    Url,
    /// The label of a seed phrase.
    Seed,
    /// A call whose arguments have a password among them.
    Call(calls::Position),
    /// The rows of an insertion into a table of a database.
    Insert,
    /// What announces a user and a password in a sentence.
    Account,
    Authorization,
    Bearer,
    Cookie,
    SetCookie,
    UserFlag,
    PasswordFlag,
    /// The flag of a few commands that a password stands behind.
    CommandFlag,
    /// A directive or a command that a password stands behind.
    Directive,
    /// A command that takes its password from the one before.
    Stdin,
    Login,
    Netrc,
    Sql,
    /// What an earlier pass put there; nothing inside it is looked at.
    Placeholder,
}

/// Every anchor as it is looked for, with what it leads to.
static ANCHORS: LazyLock<Vec<(String, Target)>> = LazyLock::new(anchors);

static AUTOMATON: LazyLock<Automaton> =
    LazyLock::new(|| Automaton::new(&words().collect::<Vec<_>>()));

/// The same words for a process that shows a few lines.
static FEW_WORDS: LazyLock<FewWords> =
    LazyLock::new(|| FewWords::new(&words().collect::<Vec<_>>()));

/// From so many bytes on the automaton is worth its table.
const WORTH_A_TABLE: usize = 64 << 10;

/// How many bytes were looked at by this process.
static N_LOOKED_AT: AtomicUsize = AtomicUsize::new(0);

/// Hands every place of `part` where anchors end to `each`, in order. Returns whether all of it is ASCII.
fn each_hit(bytes: &[u8], part: &Range<usize>, each: impl FnMut(Hit<'_>)) -> bool {
    let n_before = N_LOOKED_AT.fetch_add(part.len(), Ordering::Relaxed);
    match n_before.saturating_add(part.len()) < WORTH_A_TABLE {
        true => FEW_WORDS.each_hit(bytes, part, each),
        false => AUTOMATON.each_hit(bytes, part, each),
    }
}

pub(super) fn words() -> impl Iterator<Item = &'static str> {
    ANCHORS.iter().map(|(anchor, _)| anchor.as_str())
}

fn anchors() -> Vec<(String, Target)> {
    let mut list: Vec<(String, Target)> = Vec::new();
    list.extend(rules::anchors().map(|(anchor, rule)| (anchor, Target::Shape(rule))));
    list.extend(base64::anchors().into_iter().map(|(anchor, skip)| (anchor, Target::Base64(skip))));
    for (word, role) in names::WORDS {
        list.extend(in_three_cases(word).map(|word| (word, Target::Word(*role))));
    }
    for (word, target) in STRUCTURES {
        list.extend(in_three_cases(word).map(|word| (word, *target)));
    }
    list.extend(programs::PROGRAMS.iter().map(|one| (one.words.to_owned(), Target::Program(one))));
    for label in seeds::LABELS {
        list.extend(in_three_cases(label).map(|label| (label, Target::Seed)));
    }
    for word in prose::ACCOUNTS {
        list.extend(in_three_cases(word).map(|word| (word, Target::Account)));
    }
    list.extend(calls::CALLS.iter().map(|(call, at)| ((*call).to_owned(), Target::Call(*at))));
    list.extend(inserts::ANCHORS.map(|anchor| (anchor.to_owned(), Target::Insert)));
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
    ("PRIVATE KEY", Target::Armor),
    ("Private-Lines: ", Target::Putty),
    (jwk::ANCHOR, Target::Jwk),
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
    (" -w ", Target::CommandFlag),
    (" -P ", Target::CommandFlag),
    (" -k ", Target::CommandFlag),
    (" -K ", Target::CommandFlag),
    ("requirepass ", Target::Directive),
    ("masterauth ", Target::Directive),
    ("AUTH ", Target::Directive),
    ("password-stdin", Target::Stdin),
    ("login ", Target::Login),
    ("login\n", Target::Login),
    ("login\\n", Target::Login),
    ("password ", Target::Netrc),
    ("password\n", Target::Netrc),
    ("password\\n", Target::Netrc),
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

/// Returns every secret of `text`, in order and without overlaps.
pub(super) fn scan(text: &str) -> Vec<FoundSecret> {
    let whole = 0..text.len();
    scan_parts(text, &[whole])
}

/// Returns every secret of `text` whose anchor stands in one of `parts`.
pub(super) fn scan_parts(text: &str, parts: &[Range<usize>]) -> Vec<FoundSecret> {
    let seen = scan_as_it_is(Text::new(text), parts);
    let mut found = seen.found;
    let readings = if seen.has_marks { Folded::readings(text) } else { Vec::new() };
    for folded in readings {
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
    has_marks: bool,
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
    Seen { found, has_marks: search.has_escapes || !is_ascii }
}

pub(super) fn foreign_words() -> impl Iterator<Item = String> {
    let cases = |word: &&str| [(*word).to_owned(), word.to_uppercase(), capitalized(word)];
    names::FOREIGN_WORDS.iter().flat_map(cases)
}

/// Key words that are not ASCII. They stand in an automaton of their own, which a text of ASCII does not pay for.
static FOREIGN: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::new(foreign_words())
        .expect("the list of words is a constant and far below every limit")
});

/// The first bytes of the characters that the words of `FOREIGN` have. Dashes, arrows, frames and pictures, which most
/// texts that are not ASCII have alone, begin with others.
pub(super) const FOREIGN_LEADS: [u8; 6] = [0xc3, 0xc5, 0xd0, 0xe3, 0xe5, 0xeb];

fn can_have_foreign(part: &[u8]) -> bool {
    let [a, b, c, d, e, f] = FOREIGN_LEADS;
    memchr::memchr3(a, b, c, part).is_some() || memchr::memchr3(d, e, f, part).is_some()
}

/// Appends the passwords behind key words that are not ASCII.
pub(super) fn find_foreign(
    text: &mut Text<'_>,
    parts: &[Range<usize>],
    found: &mut Vec<FoundSecret>,
) {
    for part in parts {
        if !can_have_foreign(text.slice(part.start, part.end)) {
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
        Target::Base64(skip) => found.extend(find_encoded(text, start, skip)),
        Target::Word(role) => found.extend(context::find(text, role, start, end)),
        Target::Program(program) => found.extend(programs::find(text, program, start, end)),
        Target::Pem => pem::find(text, start, end, found),
        Target::PemEnd => pem::find_rest(text, start, end, found),
        Target::Armor => pem::find_worn(text, start, end, found),
        Target::Putty => pem::find_putty(text, end, found),
        Target::Jwk => jwk::find(text, start, found),
        Target::Cluster => cluster::find(text, start, end, found),
        Target::Pgpass => found.extend(commands::pgpass(text, start)),
        Target::Seed => seeds::find(text, end, found),
        Target::Call(position) => found.extend(calls::find(text, position, end)),
        Target::Insert => inserts::find(text, start, end, found),
        Target::Account => found.extend(prose::account(text, end)),
        Target::Url => found.extend(url::find(text, end)),
        Target::Authorization => found.extend(headers::authorization(text, start, end)),
        Target::Bearer => found.extend(headers::bearer(text, start, end)),
        Target::Cookie => found.extend(headers::cookie(text, start, end)),
        Target::SetCookie => found.extend(headers::set_cookie(text, end)),
        Target::UserFlag => found.extend(commands::user_flag(text, end)),
        Target::PasswordFlag => found.extend(commands::password_flag(text, end)),
        Target::CommandFlag => found.extend(commands::command_flag(text, start, end)),
        Target::Directive => found.extend(commands::directive(text, start, end)),
        Target::Stdin => found.extend(commands::stdin(text, start)),
        Target::Login => text.login = Some(end),
        Target::Netrc => found.extend(commands::netrc(text, start, end)),
        Target::Sql => found.extend(commands::sql(text, end)),
        Target::Placeholder | Target::Escape => {}
    }
}
