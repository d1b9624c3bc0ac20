//! Tokens in pieces: broken over lines, or over strings that are concatenated.
//!
//! Pieces are joined only where the first reaches the end of its line or literal, and only if the whole has a known shape
//! that the first piece alone has not. What follows must look generated, so that no ordinary word is taken along.

use std::collections::BTreeSet;
use std::ops::Range;

use super::breaks::{
    MAX_MARGIN, break_end, line_start, skip_blanks, skip_number, skip_quotes, soft_break_end,
};
use super::finding::{FoundSecret, Weight};
use super::judge;
use super::rules::{self, Cover, Rule};
use super::shape;
use super::text::{Set, Text};
use super::value;

/// More pieces than this are not joined.
const MAX_PIECES: usize = 12;

/// A longer piece is no part of a token.
const MAX_PIECE: usize = 512;

/// What stands before the first piece and decides whether a token may begin there.
const N_BEFORE: usize = 48;

/// A shorter anchor is the end of an ordinary word too often.
const MIN_ANCHOR: usize = 3;

/// Beginnings of longer anchors would only make the table of anchors larger.
const MAX_ANCHOR: usize = 12;

/// Fewer letters of an anchor end too many ordinary lines: `ts`, `nt`.
const MIN_STUMP: usize = 3;

/// What quotes, comments and diffs begin their lines with.
const MARKS: &[u8] = b">|+-#*/;% ";

/// What must follow a beginning of an anchor on the next line.
const MIN_BODY: usize = 16;

/// Appends the pieces of the token of `rule` whose anchor stands at `anchor`.
pub(super) fn find(
    text: &mut Text<'_>,
    rule: &'static Rule,
    anchor: Range<usize>,
    found: &mut Vec<FoundSecret>,
) {
    let letters = text.slice(anchor.start, anchor.end);
    // `pat` stands in every path, and no line of prose should be measured for it.
    let is_word = letters.iter().all(u8::is_ascii_lowercase);
    let is_start = rule.lead.is_some() || text.is_edge(rule.edge, anchor.start);
    // What stands in a token that was joined is gone with it.
    let is_gone = text.joined.start < anchor.start && anchor.start < text.joined.end;
    if letters.len() < MIN_ANCHOR || is_word || !is_start || is_gone {
        return;
    }
    let run_end = text.run_end(Set::Token, anchor.end);
    let first_end = anchor.end + without_soft_break(text, anchor.end, run_end);
    let can_go_on = first_end < run_end
        || matches!(text.at(first_end), Some(b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'`'));
    if can_go_on && first_end - anchor.start <= MAX_PIECE {
        let n_anchor = anchor.len();
        let n_found = found.len();
        join(text, rule, anchor.start..first_end, n_anchor, found);
        if let Some(last) = found[n_found..].last() {
            text.joined = anchor.start..last.end;
        }
    }
}

/// Returns every beginning of a prefix of the table with what a line break begins with.
///
/// The engine looks for them with its other anchors: going over all line breaks would cost every text.
pub(super) fn stumps() -> BTreeSet<String> {
    let is_whole = |rule: &&Rule| rule.cover == Cover::Whole && rule.lead.is_none();
    let anchors = rules::RULES.iter().filter(is_whole).flat_map(|rule| rule.anchors);
    let mut stumps = BTreeSet::new();
    for anchor in anchors.filter(|anchor| (MIN_ANCHOR..=MAX_ANCHOR).contains(&anchor.len())) {
        for n_left in MIN_STUMP..anchor.len() {
            // The automaton takes one end of a line for the other.
            stumps.extend(["\n", "\\"].map(|mark| format!("{}{mark}", &anchor[..n_left])));
        }
    }
    stumps
}

/// Appends the pieces of the token of whose prefix only `stump` stands before a line break.
pub(super) fn find_broken(text: &Text<'_>, stump: Range<usize>, found: &mut Vec<FoundSecret>) {
    let Some(next) = break_end(text, stump.end) else { return };
    let line = text.rest(skip_blanks(text, next));
    let n_mark = line.iter().take(MAX_MARGIN).take_while(|byte| MARKS.contains(byte)).count();
    let is_numbered = line.first().is_some_and(u8::is_ascii_digit);
    if !is_numbered && !is_body(line) && !is_body(&line[n_mark..]) {
        return;
    }
    let body = text.rest(skip_margin(text, stump.start, next));
    if is_numbered && !is_body(body) {
        return;
    }
    let left = text.slice(stump.start, stump.end);
    for (anchor, rule) in shape::that_begin_with(left) {
        let rest = &anchor.as_bytes()[left.len()..];
        if !rest.is_empty() && body.starts_with(rest) {
            join(text, rule, stump.clone(), anchor.len(), found);
        }
    }
}

/// Says whether a line begins with as much of a token as must follow a beginning of its anchor.
fn is_body(line: &[u8]) -> bool {
    line.get(..MIN_BODY).is_some_and(|body| body.iter().all(|byte| Set::Token.has(*byte)))
}

/// What stands between two pieces.
pub(super) struct Gap {
    pub(super) end: usize,
    /// Where the quote of the next piece begins.
    pub(super) quote: Option<usize>,
    /// Whether a sign between them says that they are one text.
    pub(super) has_sign: bool,
    pub(super) has_comma: bool,
}

/// The pieces side by side, with what stands before them.
struct Joined {
    bytes: String,
    /// Where each piece stands in the text, the first with what stands before it.
    pieces: Vec<Range<usize>>,
    has_quote: bool,
    has_comma: bool,
}

/// Joins pieces to `first` until they have the shape of `rule`, and goes on while what follows is generated.
fn join(
    text: &Text<'_>,
    rule: &'static Rule,
    first: Range<usize>,
    n_anchor: usize,
    found: &mut Vec<FoundSecret>,
) {
    // Nearly always the text does not go on, or with an ordinary word.
    let has_next =
        gap(text, first.start, first.end).is_some_and(|gap| is_generated(piece_at(text, gap.end)));
    if !has_next {
        return;
    }
    let before = text.slice(first.start.saturating_sub(N_BEFORE), first.start);
    let n_before = before.iter().rev().take_while(|byte| byte.is_ascii()).count();
    let mut joined =
        Joined { bytes: String::new(), pieces: Vec::new(), has_quote: false, has_comma: false };
    joined.push(text, first.start - n_before..first.end);
    let anchor = n_before..n_before + n_anchor;
    let mut token: Option<FoundSecret> = None;
    while joined.pieces.len() < MAX_PIECES {
        let Some(last) = joined.pieces.last() else { break };
        let Some(gap) = gap(text, first.start, last.end) else { break };
        let bytes = piece_at(text, gap.end);
        let is_generated = is_generated(bytes);
        if bytes.is_empty() || (token.is_some() && !is_generated) {
            break;
        }
        joined.push(text, gap.end..gap.end + bytes.len());
        let longer = joined.shape(rule, &anchor).filter(|_| is_generated);
        if token.is_some() && longer.is_none() {
            break;
        }
        joined.has_quote |= gap.quote.is_some();
        joined.has_comma |= gap.has_comma;
        token = longer;
    }
    let is_one = !joined.has_comma || joined.is_joined_list(text, first.start);
    if let Some(token) = token.filter(|_| is_one) {
        joined.give_back(token, found);
    }
}

/// Returns what could be a piece of a token at `pos`.
fn piece_at<'t>(text: &Text<'t>, pos: usize) -> &'t [u8] {
    let rest = text.rest(pos);
    let n_piece = rest.iter().take(MAX_PIECE).take_while(|byte| Set::Token.has(**byte)).count();
    &rest[..without_soft_break(text, pos, pos + n_piece)]
}

/// Returns the length of the piece at `start..end` without the mark of quoted-printable that a line break follows.
fn without_soft_break(text: &Text<'_>, start: usize, end: usize) -> usize {
    let is_marked = start < end
        && text.before(end) == Some(b'=')
        && text.before(end - 1) != Some(b'=')
        && soft_break_end(text, end - 1).is_some();
    end - start - usize::from(is_marked)
}

/// Says whether a piece is no ordinary word.
pub(super) fn is_generated(piece: &[u8]) -> bool {
    // Most words have neither, and need not be measured.
    let n_signs = piece.iter().filter(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    // Fewer bytes than eight are generated only if they jump.
    n_signs.count() > 1
        && (judge::has_jump(piece) || (piece.len() >= 8 && judge::is_generated(piece)))
}

impl Joined {
    fn push(&mut self, text: &Text<'_>, piece: Range<usize>) {
        let bytes = text.slice(piece.start, piece.end);
        self.bytes.extend(bytes.iter().map(|byte| char::from(*byte)));
        self.pieces.push(piece);
    }

    /// Returns the token of `rule` that reaches into the last piece.
    fn shape(&self, rule: &'static Rule, anchor: &Range<usize>) -> Option<FoundSecret> {
        let last = self.bytes.len() - self.pieces.last()?.len();
        let mut text = Text::new(&self.bytes);
        let found = shape::find(&mut text, rule, anchor.start, anchor.end)?;
        let body = text.slice(anchor.end.min(found.end), found.end);
        (found.end > last && judge::is_generated(body)).then_some(found)
    }

    /// Says whether the pieces are a list whose parts are put together: `[…].join("")`, `"".join([…])`, `concat(…)`.
    fn is_joined_list(&self, text: &Text<'_>, start: usize) -> bool {
        let end = self.pieces.last().map_or(start, |piece| piece.end);
        is_joined_list(text, start, end)
    }

    /// Appends `token` as ranges of the text: one, or one a piece where quotes stand between.
    fn give_back(&self, token: FoundSecret, found: &mut Vec<FoundSecret>) {
        let mut at = 0;
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for piece in &self.pieces {
            let start = token.start.clamp(at, at + piece.len()) - at;
            let end = token.end.clamp(at, at + piece.len()) - at;
            at += piece.len();
            if start < end {
                ranges.push(piece.start + start..piece.start + end);
            }
        }
        if let (false, Some(first), Some(last)) = (self.has_quote, ranges.first(), ranges.last()) {
            let whole = first.start..last.end;
            ranges.clear();
            ranges.push(whole);
        }
        found.extend(ranges.into_iter().map(|range| FoundSecret {
            start: range.start,
            end: range.end,
            kind: token.kind,
            weight: Weight::Shape,
        }));
    }
}

/// Says whether the list whose parts stand at `start..end` is put together to one text.
pub(super) fn is_joined_list(text: &Text<'_>, start: usize, end: usize) -> bool {
    let head = text.slice(start.saturating_sub(MAX_MARGIN), start);
    let is_call = |word: &&str| memchr::memmem::find(head, word.as_bytes()).is_some();
    let tail = text.rest(end);
    let tail = &tail[..tail.len().min(MAX_MARGIN)];
    ["join([", "join((", "concat(", "concat!(", "CONCAT("].iter().any(is_call)
        || memchr::memmem::find(tail, b"].join(").is_some()
}

/// Returns the gap at `pos`, if the text that began at `start` goes on behind it.
pub(super) fn gap(text: &Text<'_>, start: usize, pos: usize) -> Option<Gap> {
    if let Some(end) = break_end(text, pos).or_else(|| soft_break_end(text, pos)) {
        return Some(Gap {
            end: skip_margin(text, start, end),
            quote: None,
            has_sign: false,
            has_comma: false,
        });
    }
    let close = value::quote_at(text, pos)?;
    let (mut end, mut n_signs, mut has_comma) = (close.end, 0, false);
    while end - close.end < MAX_MARGIN {
        let open = value::quote_at(text, end);
        if let Some(open) = open.filter(|_| end > close.end) {
            let has_sign = n_signs > 0;
            let gap = Gap { end: open.end, quote: Some(end), has_sign, has_comma };
            return open.is_as_deep(close).then_some(gap);
        }
        end = match text.at(end)? {
            b' ' | b'\t' | b'\n' | b'\r' => end + 1,
            b'+' | b'.' | b'&' if n_signs < 2 => {
                n_signs += 1;
                end + 1
            }
            b',' if n_signs == 0 && !has_comma => {
                has_comma = true;
                end + 1
            }
            _ => break_end(text, end)?,
        };
    }
    None
}

/// Skips what stands before the text of a line: indentation, and the mark of a quote, a comment or a diff that the line
/// of `start` begins with as well.
fn skip_margin(text: &Text<'_>, start: usize, pos: usize) -> usize {
    let numbered = skip_number(text, start, pos);
    if numbered > pos {
        return numbered;
    }
    let pos = skip_blanks(text, pos);
    if text.at(pos).is_none_or(|byte| byte.is_ascii_alphanumeric()) {
        return pos;
    }
    let line = text.slice(line_start(text, start), start);
    let line = &line[line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()..];
    let n_mark = line.iter().take_while(|byte| MARKS.contains(byte)).count();
    let mark = line[..n_mark].trim_ascii_end();
    if !mark.is_empty() && text.rest(pos).starts_with(mark) {
        skip_blanks(text, pos + mark.len())
    } else {
        skip_quotes(text, pos)
    }
}
