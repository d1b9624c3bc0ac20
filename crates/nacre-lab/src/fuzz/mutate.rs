//! Seeded mutations of JSON and of bytes, shared by both fuzzers.
//!
//! Half of the mutations respect JSON syntax, because random bytes would fail early in the parser
//! and never test fields with unexpected types.

use std::ops::Range;

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn of(seed: u64, number: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number;
        // Adjacent seeds must not produce similar inputs.
        for factor in [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] {
            state = (state ^ state >> 30).wrapping_mul(factor);
        }
        Self(state ^ state >> 31 | 1)
    }

    /// Returns a number below `limit`, or 0 if `limit` is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let mixed = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        ((mixed * limit as u64) >> 32) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }

    pub(crate) fn range(&mut self, length: usize, max: usize) -> Range<usize> {
        let start = self.below(length + 1);
        start..start + self.below(max + 1).min(length - start)
    }
}

/// Fragments that are more likely to cause errors than random bytes.
const PIECES: [&[u8]; 24] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b":",
    b",",
    b"null",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xEF\xBB\xBF",
    b"\xE2\x80\xA8",
    b"}{\"type\":\"user\"",
    b"<system-reminder>",
    b"</system-reminder>",
    b"<user_query>",
    b"<timestamp>Tuesday, Sep 99, 2025, 10:01 AM (UTC+99)</timestamp>",
    b"\",\"",
    b"\nuser:\n",
    b"\nassistant:\n[Thinking] so\n\n[Tool call] Shell\n  command: ls\n\n",
    b"\n[Tool result] Shell\n",
    b"\x28\xB5\x2F\xFD",
];
const EXTREMES: [&[u8]; 40] = [
    b"0",
    b"-0",
    b"-1",
    b"1e309",
    b"-1e999",
    b"1e-400",
    b"0.1e",
    b"1.",
    b"+1",
    b"0x10",
    b"007",
    b"NaN",
    b"255",
    b"65536",
    b"4294967296",
    b"9007199254740993",
    b"9223372036854775807",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"18446744073709551615",
    b"18446744073709551616",
    b"253402300800000",
    b"-62135596800001",
    b"8640000000000001",
    b"null",
    b"true",
    b"false",
    b"{}",
    b"[]",
    b"[[]]",
    b"{\"\":{}}",
    b"\"\"",
    b"\" \"",
    b"\"9999-12-31T23:59:60Z\"",
    b"\"-009999-01-01T00:00:00Z\"",
    b"\"2026-02-30T25:61:61+99:99\"",
    b"\"../../../../etc/passwd\"",
    b"\"file:///%ff%00/%zz/c%3A/\"",
    b"\"vscode-remote://ssh-remote%2Bhost/a\"",
    b"\"\\u0000\\u001b[31m\"",
];
/// Number of entries in `EXTREMES` that are valid numbers.
const N_NUMBERS: usize = 24;
const ESCAPES: [&[u8]; 10] = [
    b"\\ud800",
    b"\\udc00\\ud800",
    b"\\ud83d\\ude00",
    b"\\u12",
    b"\\u",
    b"\\x41",
    b"\\",
    b"\\u0000",
    b"\\uFFFF",
    b"\\\\\\",
];
const NOT_UTF8: [&[u8]; 8] = [
    b"\xFF",
    b"\xC0\x80",
    b"\xED\xA0\x80",
    b"\xF4\x90\x80\x80",
    b"\xE2\x82",
    b"\xF0\x9F\x98",
    b"\x80",
    b"\xFE\xFF",
];
/// Nesting depths. The last depth exceeds what any parser should accept.
const DEPTHS: [usize; 8] = [2, 5, 20, 63, 65, 127, 130, 600];
const DEEPEST: usize = 6000;
const REACH: usize = 600;

/// Mutates an input, possibly using parts of another one.
type Change = fn(&mut Vec<u8>, &[u8], &mut Random);

pub(crate) const CHANGES: [(&str, Change); 19] = [
    ("bit", flip_bit),
    ("byte", set_byte),
    ("delete", delete),
    ("repeat", repeat),
    ("move", move_range),
    ("piece", put_piece),
    ("pieces", put_pieces),
    ("splice", splice),
    ("extreme", put_extreme),
    ("extremes", put_extremes),
    ("swap values", swap_values),
    ("drop value", drop_value),
    ("copy value", copy_value),
    ("foreign value", put_foreign),
    ("nest", nest),
    ("escape", put_escape),
    ("not utf-8", put_not_utf8),
    ("torn", tear),
    ("lines", mix_lines),
];

/// Applies one or more mutations to an input, and counts each in `counts`.
pub(crate) fn mutate(
    input: &mut Vec<u8>,
    other: &[u8],
    random: &mut Random,
    counts: &mut [u64; CHANGES.len()],
) {
    let n_changes = 1 + random.below(4).min(random.below(4));
    for _ in 0..n_changes {
        let class = random.below(CHANGES.len());
        counts[class] += 1;
        CHANGES[class].1(input, other, random);
    }
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    input.splice(at..at, bytes.iter().copied());
}

fn flip_bit(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    if !input.is_empty() {
        let at = random.below(input.len());
        let flipped = input[at] ^ 1 << random.below(8);
        input.splice(at..=at, [flipped]);
    }
}

fn set_byte(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    if !input.is_empty() {
        let at = random.below(input.len());
        input.splice(at..=at, [random.byte()]);
    }
}

fn delete(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let range = random.range(input.len(), 200);
    input.drain(range);
}

fn repeat(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let range = random.range(input.len(), 100);
    let bytes = input[range.clone()].repeat(1 + random.below(4));
    insert(input, range.end, &bytes);
}

fn move_range(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let range = random.range(input.len(), 100);
    let bytes: Vec<u8> = input.drain(range).collect();
    insert(input, random.below(input.len() + 1), &bytes);
}

fn put_piece(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    insert(input, random.below(input.len() + 1), random.pick(&PIECES));
}

fn put_pieces(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let bytes = random.pick(&PIECES).repeat(random.below(60));
    insert(input, random.below(input.len() + 1), &bytes);
}

fn splice(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let range = random.range(other.len(), 400);
    insert(input, random.below(input.len() + 1), &other[range]);
}

fn put_extreme(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    if let Some(range) = value(input, random) {
        input.splice(range, random.pick(&EXTREMES).iter().copied());
    }
}

/// Sets all numbers to the same extreme value, to test sums for overflow.
fn put_extremes(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let extreme = random.pick(&EXTREMES[..N_NUMBERS]);
    let mut changed = Vec::with_capacity(input.len() * 2);
    let mut at = 0;
    while let Some(byte) = input.get(at) {
        changed.push(*byte);
        at += 1;
        if *byte == b':' && input.get(at).is_some_and(u8::is_ascii_digit) {
            at += input[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            changed.extend_from_slice(extreme);
        }
    }
    *input = changed;
}

fn swap_values(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let (Some(a), Some(b)) = (value(input, random), value(input, random)) else { return };
    let (first, second) = if a.start < b.start { (a, b) } else { (b, a) };
    if first.end <= second.start {
        let bytes = input[first.clone()].to_vec();
        let after: Vec<u8> = input.splice(second, bytes).collect();
        input.splice(first, after);
    }
}

fn drop_value(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    if let Some(mut range) = value(input, random) {
        // Removing the comma too may keep the remaining text valid.
        range.end += usize::from(input.get(range.end) == Some(&b',') && random.one_in(2));
        input.drain(range);
    }
}

fn copy_value(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let (Some(from), Some(to)) = (value(input, random), value(input, random)) else { return };
    let bytes = input[from].to_vec();
    input.splice(to, bytes);
}

fn put_foreign(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let (Some(from), Some(to)) = (value(other, random), value(input, random)) else { return };
    input.splice(to, other[from].iter().copied());
}

fn nest(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let Some(range) = value(input, random) else { return };
    let depth = if random.one_in(64) { DEEPEST } else { random.pick(&DEPTHS) };
    let (open, close): (&[u8], &[u8]) = match random.below(4) {
        0 | 1 => (b"[", b"]"),
        2 => (b"{\"content\":", b"}"),
        _ => (b"[{\"a\":", b"}]"),
    };
    let mut bytes = open.repeat(depth);
    bytes.extend_from_slice(&input[range.clone()]);
    if !random.one_in(4) {
        bytes.extend_from_slice(&close.repeat(depth));
    }
    input.splice(range, bytes);
}

fn put_escape(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    insert(input, text_place(input, random), random.pick(&ESCAPES));
}

fn put_not_utf8(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    insert(input, text_place(input, random), random.pick(&NOT_UTF8));
}

fn tear(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let length = random.below(input.len() + 1);
    if random.one_in(4) {
        input.drain(..length);
    } else {
        input.truncate(length);
    }
}

fn mix_lines(input: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let from = random.below(input.len());
    let Some(end) = input[from..].iter().position(|byte| *byte == b'\n').map(|at| from + at) else {
        input.push(b'\n');
        return;
    };
    let start = input[..from].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    match random.below(4) {
        0 => {
            input.remove(end);
        }
        1 => {
            let line = input[start..=end].to_vec();
            insert(input, start, &line);
        }
        2 => {
            let line: Vec<u8> = input.drain(start..=end).collect();
            input.extend_from_slice(&line);
        }
        _ => input[start..end].fill(random.pick(b"\0 {")),
    }
}

/// Returns the range of a JSON value near a random position. In rare cases, the range does not
/// contain an actual value.
fn value(bytes: &[u8], random: &mut Random) -> Option<Range<usize>> {
    let from = random.below(bytes.len());
    let near = &bytes[from..bytes.len().min(from + REACH)];
    let found = near.iter().position(|byte| matches!(byte, b':' | b',' | b'[' | b'{'))?;
    let start = from + found + 1;
    let end = value_end(bytes, start)?;
    (start < end).then_some(start..end)
}

fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => string_end(bytes, start),
        b'{' | b'[' => {
            let (mut at, mut depth) = (start, 0_usize);
            loop {
                match bytes.get(at)? {
                    b'"' => {
                        at = string_end(bytes, at)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        _ => {
            let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b'\n' | b'"');
            bytes[start..].iter().position(is_end).map(|at| start + at)
        }
    }
}

fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn text_place(bytes: &[u8], random: &mut Random) -> usize {
    match value(bytes, random) {
        Some(range) if bytes[range.start] == b'"' => {
            range.start + 1 + random.below(range.len() - 1)
        }
        _ => random.below(bytes.len() + 1),
    }
}

/// Truncates the strings in a JSON text to `max` bytes, so that a small input keeps many fields.
pub(crate) fn shorten(text: &[u8], max: usize, into: &mut Vec<u8>) {
    let (mut at, mut string_start, mut is_cut) = (0, None::<usize>, false);
    while let Some(byte) = text.get(at) {
        let unit = match (byte, text.get(at + 1)) {
            (b'\\', Some(b'u')) => 6,
            (b'\\', _) => 2,
            _ => 1,
        };
        let unit = &text[at..text.len().min(at + unit)];
        at += unit.len();
        match (string_start, *byte) {
            (None, b'"') => string_start = Some(into.len() + 1),
            (Some(_), b'"') => (string_start, is_cut) = (None, false),
            // Keep the remaining bytes of a multi-byte character.
            (Some(start), byte) => {
                is_cut |= max <= into.len() - start && !(0x80..0xC0).contains(&byte);
            }
            (None, _) => {}
        }
        if !is_cut {
            into.extend_from_slice(unit);
        }
    }
}
