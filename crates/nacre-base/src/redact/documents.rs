//! Finds secrets in structured documents: private keys (PEM, PuTTY, JWK), Kubernetes manifests and
//! seed phrases.

use std::ops::Range;

use super::text::{FoundSecret, PLACEHOLDER, Pattern, Secrets, Set, Text, Weight};
use super::value::Writing;
use super::{base64, judge, value};

pub(super) const KEY_KIND: &str = "private-key";

const MAX_LABEL: usize = 48;

/// Maximum length of the headers between an encrypted key's first line and its body.
const MAX_FIRST_GAP: usize = 256;

/// Maximum length of the text between two lines of a key, such as `\n" +`, indentation or a line
/// number.
const MAX_GAP: usize = 48;

/// Maximum combined length of omitted text and the closing line.
const MAX_FOOTER_GAP: usize = 256;

const MIN_RUN: usize = 16;

/// PuTTY writes lines of 64 characters.
const MAX_PUTTY_LINE: usize = 80;

pub(super) fn find_pem(text: &mut Text<'_>, start: usize, end: usize, found: &mut Secrets) {
    let Some(body) = armor_end(text, end) else { return };
    let (limit, footer) = next_armor(text, body);
    let runs = body_runs(text, body, limit, MAX_FIRST_GAP);
    if runs.is_empty() {
        return;
    }
    push(found, text, start, body, &runs, footer);
}

/// Appends the end of a private key that lost its beginning because the text was truncated.
/// `start..end` is the position of `-----END `.
pub(super) fn find_rest(text: &mut Text<'_>, start: usize, end: usize, found: &mut Secrets) {
    let Some(footer) = armor_end(text, end) else { return };
    let Some(from) = rest_start(text, start) else { return };
    let runs = rest_runs(text, from, start);
    let Some(first) = runs.last() else { return };
    if memchr::memchr(b'"', text.slice(first.start, footer)).is_none() {
        found.push(private_key(first.start..footer));
    } else {
        found.extend(runs.into_iter().map(private_key));
    }
}

fn rest_start(text: &Text<'_>, end: usize) -> Option<usize> {
    let before = text.slice(0, end);
    let Some(dashes) = memchr::memmem::rfind(before, b"-----") else { return Some(0) };
    let label = &before[dashes.saturating_sub(MAX_LABEL)..dashes];
    let is_open = memchr::memmem::find(label, b"-----BEGIN ").is_some();
    (!is_open).then_some(dashes + 5)
}

fn rest_runs(text: &Text<'_>, from: usize, end: usize) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut pos, mut edge) = (end, end);
    while from < pos && edge - pos <= MAX_GAP {
        let n_run = text.slice(from, pos).iter().rev().take_while(is_base64).count();
        let mut start = pos - n_run;
        if from < start && text.at(start - 1) == Some(b'\\') {
            // Skip the letter of an escape sequence.
            start = (start + 1).min(pos);
        }
        let run = text.slice(start, pos);
        if run.len() >= MIN_RUN && (run.len() >= 40 || judge::is_random(run)) {
            runs.push(start..pos);
            edge = start;
        }
        pos = start.min(pos - 1);
    }
    runs
}

pub(super) fn find_putty(text: &mut Text<'_>, _start: usize, end: usize, found: &mut Secrets) {
    let n_digits = text.rest(end).iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    let digits = std::str::from_utf8(text.slice(end, end + n_digits)).unwrap_or_default();
    let n_lines: usize = digits.parse().unwrap_or(0);
    let mut body: Option<Range<usize>> = None;
    let mut pos = end + n_digits;
    for _ in 0..n_lines {
        let Some(next) = value::break_end(text, pos) else { break };
        let start = value::skip_blanks(text, next);
        let run_end = run_end(text, start, text.bytes.len().min(start + MAX_PUTTY_LINE));
        if start == run_end || text.at(run_end) == Some(b':') {
            break;
        }
        body = Some(body.map_or(start, |body| body.start)..run_end);
        pos = run_end;
    }
    let is_key = |body: &Range<usize>| judge::is_random(text.slice(body.start, body.end));
    found.extend(body.filter(is_key).map(private_key));
}

/// Appends a key's parts as findings. Adjacent parts are joined unless there is a quote between
/// them.
fn push(
    found: &mut Secrets,
    text: &Text<'_>,
    start: usize,
    body: usize,
    runs: &[Range<usize>],
    footer: Option<usize>,
) {
    let is_joined = |from: usize, to: usize| memchr::memchr(b'"', text.slice(from, to)).is_none();
    let mut open = start..body;
    let mut has_body = false;
    for run in runs {
        if is_joined(open.end, run.start) {
            open.end = run.end;
        } else {
            if has_body {
                found.push(private_key(open));
            }
            open = run.clone();
        }
        has_body = true;
    }
    let is_near = |end: usize| end - open.end <= MAX_FOOTER_GAP;
    if let Some(end) = footer.filter(|end| is_near(*end) && is_joined(open.end, *end)) {
        open.end = end;
    }
    found.push(private_key(open));
}

fn private_key(range: Range<usize>) -> FoundSecret {
    FoundSecret::new(range, KEY_KIND, Weight::Shape)
}

static LABEL: Pattern = Pattern::new(r"\A[A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----");

fn armor_end(text: &Text<'_>, pos: usize) -> Option<usize> {
    LABEL.len(text.ahead(pos, MAX_LABEL)).map(|n_label| pos + n_label)
}

fn next_armor(text: &Text<'_>, from: usize) -> (usize, Option<usize>) {
    let mut pos = from;
    while let Some(n) = memchr::memmem::find(text.rest(pos), b"-----") {
        let dashes = pos + n;
        let word = text.rest(dashes + 5);
        if word.starts_with(b"END ") {
            return (dashes, armor_end(text, dashes + 9));
        }
        if word.starts_with(b"BEGIN ") {
            return (dashes, None);
        }
        pos = dashes + 5 + word.iter().take_while(|byte| **byte == b'-').count();
    }
    (text.bytes.len(), None)
}

fn body_runs(text: &Text<'_>, mut pos: usize, limit: usize, first_gap: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut gap_start = pos;
    while pos < limit {
        let max_gap = if runs.is_empty() { first_gap } else { MAX_GAP };
        if pos - gap_start > max_gap || text.rest(pos).starts_with(PLACEHOLDER.as_bytes()) {
            break;
        }
        let Some(byte) = text.at(pos) else { break };
        if byte == b'\\' {
            pos = escape_end(text, pos);
            continue;
        }
        let run_end = run_end(text, pos, limit);
        if is_body(text, pos, run_end, runs.last()) {
            runs.push(pos..run_end);
            gap_start = run_end;
        }
        pos = run_end.max(pos + 1);
    }
    runs
}

fn is_base64(byte: &&u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(byte)
}

fn escape_end(text: &Text<'_>, pos: usize) -> usize {
    let n_slashes = text.rest(pos).iter().take_while(|byte| **byte == b'\\').count();
    let is_letter = matches!(text.at(pos + n_slashes), Some(b'n' | b'r' | b't'));
    pos + n_slashes + usize::from(is_letter)
}

fn run_end(text: &Text<'_>, pos: usize, limit: usize) -> usize {
    pos + text.slice(pos, limit).iter().take_while(is_base64).count()
}

fn is_body(text: &Text<'_>, start: usize, end: usize, last: Option<&Range<usize>>) -> bool {
    let run = text.slice(start, end);
    if run.len() >= MIN_RUN {
        return judge::is_random(run) || (run.len() >= 40 && last.is_some());
    }
    let is_next_line = last.is_some_and(|last| {
        start - last.end <= MAX_GAP
            && text.slice(last.end, start).iter().all(|byte| {
                matches!(byte, b'\\' | b'n' | b'r' | b't') || byte.is_ascii_whitespace()
            })
    });
    let ends_line =
        text.at(end).is_none_or(|byte| matches!(byte, b'\\' | b'\n' | b'\r' | b'-' | b'"'));
    is_next_line && ends_line && !run.is_empty()
}

pub(super) const JWK_ANCHOR: &str = "\"kty";

/// JSON members that occur only in private and symmetric keys.
const JWK_PARTS: [&[u8]; 8] = [b"\"d", b"\"p", b"\"q", b"\"dp", b"\"dq", b"\"qi", b"\"k", b"\"r"];

const MAX_JWK_DISTANCE: usize = 8192;

const MIN_PART: usize = 22;

pub(super) fn find_jwk(text: &mut Text<'_>, start: usize, _end: usize, found: &mut Secrets) {
    if start < text.jwk {
        return;
    }
    let object = object_around(text, start);
    text.jwk = object.end;
    for name in JWK_PARTS {
        let mut pos = object.start;
        while let Some(at) = memchr::memmem::find(text.slice(pos, object.end), name) {
            let name_end = pos + at + name.len();
            pos = name_end;
            found.extend(part_at(text, name_end));
        }
    }
}

fn object_around(text: &Text<'_>, pos: usize) -> Range<usize> {
    let floor = pos.saturating_sub(MAX_JWK_DISTANCE).max(text.jwk).min(pos);
    let from = memchr::memrchr(b'{', text.slice(floor, pos)).map_or(floor, |at| floor + at);
    let limit = text.bytes.len().min(pos + MAX_JWK_DISTANCE);
    let to = memchr::memchr(b'}', text.slice(pos, limit)).map_or(limit, |at| pos + at);
    from..to
}

fn part_at(text: &mut Text<'_>, name_end: usize) -> Option<FoundSecret> {
    let quote = value::quote_at(text, name_end)?;
    let blanks = |text: &Text<'_>, pos: usize| {
        pos + text.rest(pos).iter().take(8).take_while(|byte| **byte == b' ').count()
    };
    let colon = blanks(text, quote.end);
    let at = (text.at(colon) == Some(b':')).then(|| blanks(text, colon + 1))?;
    let value = value::read(text, at).filter(|value| value.writing == Writing::Quoted)?;
    let bytes = text.slice(value.start, value.end);
    let is_part = bytes.len() >= MIN_PART
        && bytes.iter().all(|byte| Set::Base64.has(*byte))
        && judge::is_generated(bytes)
        && judge::is_plausible(bytes);
    is_part.then_some(FoundSecret::new(value.start..value.end, KEY_KIND, Weight::Place))
}

/// Patterns for the kind `Secret` in YAML, in JSON, and in JSON inside a string.
pub(super) const MANIFEST_ANCHORS: &str =
    "kind: Secret|kind\":\"Secret|kind\": \"Secret|kind\\\":\\\"Secret|kind\\\": \\\"Secret";

const MAX_MANIFEST_DISTANCE: usize = 4096;

const MAX_KEY: usize = 96;

const MAX_LIST_GAP: usize = 48;

const MIN_VALUE: usize = 8;

pub(super) fn find_manifest(text: &mut Text<'_>, start: usize, end: usize, found: &mut Secrets) {
    if text.at(end).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return;
    }
    let region = manifest(text, start, end);
    text.manifest = text.manifest.max(region.end);
    let mut pos = region.start;
    while let Some(at) = memchr::memmem::find(text.slice(pos, region.end), b"ata") {
        let word_end = pos + at + 3;
        pos = word_end;
        let Some(block) = block_at(text, word_end) else { continue };
        pos = block.start;
        while pos < region.end {
            let Some(key) = entry_start(text, &block, pos) else { break };
            let Some(at) = key_end(text, key) else { break };
            let Some(value) = value::read(text, at) else { break };
            let bytes = text.slice(value.start, value.end);
            if is_secret(bytes, block.is_plain) {
                let (start, end) = (value.start, value.end);
                found.push(FoundSecret::new(start..end, "secret", Weight::Place));
            }
            let end = value::quote_at(text, value.end).map_or(value.end, |quote| quote.end);
            pos = end + usize::from(block.is_json && text.at(end) == Some(b','));
            if !block.is_json {
                let Some(next) = value::break_end(text, value::skip_blanks(text, pos)) else {
                    break;
                };
                pos = next;
            }
        }
        pos = pos.max(word_end);
    }
}

/// Returns the part of the manifest around `start..end` that has not been scanned yet.
fn manifest(text: &Text<'_>, start: usize, end: usize) -> Range<usize> {
    let floor = start.saturating_sub(MAX_MANIFEST_DISTANCE).max(text.manifest).min(start);
    let head = text.slice(floor, start);
    let limit = text.bytes.len().min(end + MAX_MANIFEST_DISTANCE);
    let tail = text.slice(end, limit);
    let from = memchr::memmem::rfind(head, b"\n---\n").map_or(floor, |at| floor + at);
    let to = memchr::memmem::find(tail, b"\n---\n").map_or(limit, |at| end + at);
    from.max(text.manifest)..to
}

struct ManifestBlock {
    start: usize,
    /// Indentation of the word `data`.
    indent: usize,
    is_json: bool,
    is_plain: bool,
}

fn block_at(text: &Text<'_>, pos: usize) -> Option<ManifestBlock> {
    let is_plain = text.behind(pos, 10) == b"stringData";
    let start = pos.checked_sub(if is_plain { 10 } else { 4 })?;
    let is_word = is_plain || text.slice(start, pos) == b"data";
    let is_edge = text.is_edge(super::text::Edge::Word, start) && text.before(start) != Some(b'-');
    if !is_word || !is_edge {
        return None;
    }
    let at = value::quote_at(text, pos).map_or(pos, |quote| quote.end);
    let colon = value::skip_blanks(text, at);
    let after = (text.at(colon) == Some(b':')).then(|| value::skip_blanks(text, colon + 1))?;
    let is_json = text.at(after) == Some(b'{');
    let first = if is_json { after + 1 } else { value::break_end(text, after)? };
    let head = text.behind(start, MAX_LIST_GAP);
    let indent = head.iter().rev().take_while(|byte| **byte == b' ').count();
    Some(ManifestBlock { start: first, indent, is_json, is_plain })
}

fn entry_start(text: &Text<'_>, block: &ManifestBlock, pos: usize) -> Option<usize> {
    let mut start = value::skip_blanks(text, pos);
    if !block.is_json {
        return (start - pos > block.indent).then_some(start);
    }
    while let Some(next) = value::break_end(text, start).filter(|next| next - pos < MAX_LIST_GAP) {
        start = value::skip_blanks(text, next);
    }
    value::quote_at(text, start).map(|_| start)
}

fn key_end(text: &Text<'_>, pos: usize) -> Option<usize> {
    let start = value::quote_at(text, pos).map_or(pos, |quote| quote.end);
    let is_key = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let n_key = text.rest(start).iter().take(MAX_KEY).take_while(is_key).count();
    let end = start + n_key;
    let end = value::quote_at(text, end).map_or(end, |quote| quote.end);
    (n_key > 0 && text.at(end) == Some(b':')).then(|| value::skip_blanks(text, end + 1))
}

fn is_secret(bytes: &[u8], is_plain: bool) -> bool {
    let sample = &bytes[..bytes.len().min(judge::SAMPLE)];
    let is_hidden =
        bytes.len() >= MIN_VALUE && !judge::is_reference(sample) && !judge::has_placeholder(sample);
    let is_base64 =
        || bytes.len().is_multiple_of(4) && bytes.iter().all(|byte| Set::Base64.has(*byte));
    is_hidden
        && if is_plain {
            judge::is_password(sample)
        } else {
            is_base64() && (base64::is_text(sample) || judge::is_random(sample))
        }
}

/// Labels in lower case. The engine also searches for `Label` and `LABEL`.
pub(super) const SEED_LABELS: &str = "mnemonic|seed phrase|seed_phrase|seedphrase|seed words|\
    recovery phrase|recovery_phrase|backup phrase|wallet phrase";

const MAX_SEED_LENGTH: usize = 512;

static SEED_LINK: Pattern = Pattern::new(concat!(
    r"\A(?:[\w *.>-]|<q>){0,48}?(?: is | are |[:=(\[|`]|<br>)",
    r"(?:(?:[\d :=*()\[\]|`>.\t-]|<q>|<br>|\\+t)|is |are ){0,48}"
));

static SEED_WORD: Pattern = Pattern::new(r"\A[a-z]{3,8}");
static SEED_GAP: Pattern = Pattern::new(r"\A(?:[ ,\t]|\d+[.)]?|<q>|<br>|\\+t){1,16}");

/// The end of a line, string or sentence. If more text follows, the words are part of a sentence.
static SEED_END: Pattern = Pattern::new(r"\A(?:\z|[.)\]<]|<q>|<br>)");

/// Common words that are not in the BIP-39 list and therefore indicate a sentence.
const NOT_SEED_WORDS: &str = "the and for with from are was were has had not you your our his her its \
    but all may into which their there here than been also each any how who why does did per via \
    out now new see set use used uses";

pub(super) fn find_seed(text: &mut Text<'_>, _start: usize, end: usize, found: &mut Secrets) {
    let rest = text.ahead(end, MAX_SEED_LENGTH);
    let Some(first) = SEED_LINK.len(rest) else { return };
    let words = read_words(rest, first);
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
    let whole = first.start..last.end;
    // A finding must not cross a quote.
    let has_quote = rest[whole.clone()].iter().any(|byte| b"\"'`".contains(byte));
    let ranges = if has_quote { words } else { vec![whole] };
    let secret = |range: Range<usize>| {
        FoundSecret::new(end + range.start..end + range.end, "seed-phrase", Weight::Name)
    };
    found.extend(ranges.into_iter().map(secret));
}

/// Returns the longest phrase that begins at `first`, or an empty list if the words form an
/// ordinary sentence.
fn read_words(rest: &[u8], first: usize) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut n_phrase = 0;
    let mut pos = first;
    while let Some(n_word) = SEED_WORD.len(&rest[pos..]) {
        let end = pos + n_word;
        let is_other = |other: &str| other.as_bytes() == &rest[pos..end];
        if words.len() == 24 || NOT_SEED_WORDS.split(' ').any(is_other) {
            break;
        }
        words.push(pos..end);
        if SEED_END.is_match(&rest[end..]) && matches!(words.len(), 12 | 15 | 18 | 21 | 24) {
            n_phrase = words.len();
        }
        let Some(n_gap) = SEED_GAP.len(&rest[end..]) else { break };
        pos = end + n_gap;
    }
    words.truncate(n_phrase);
    words
}
