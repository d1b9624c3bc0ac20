//! Where a string of JSON ends.
//!
//! Half of the strings are a few bytes long; the long ones are programs and JSON inside of JSON, full of escaped quotes.
//! To look at each quote costs a wrong guess of the processor, so which quotes are escaped is worked out for many at once.

use super::{Malformed, Parsed};
use crate::platform::{equal_in_16, equal_in_64};

/// As many bytes as a mask has bits.
const STRIDE: usize = 64;

/// Where the string whose content starts at `start` is closed.
#[inline]
pub(super) fn string_end(bytes: &[u8], start: usize) -> Parsed<usize> {
    let rest = bytes.get(start..).ok_or(Malformed)?;
    // Keys and words end here.
    if let Some(block) = rest.first_chunk() {
        let quotes = equal_in_16(block, b'"');
        // Everything below the first quote.
        let before = quotes.wrapping_sub(1) & !quotes;
        if quotes != 0 && equal_in_16(block, b'\\') & before == 0 {
            return Ok(start + quotes.trailing_zeros() as usize);
        }
    }
    Ok(start + far_end(rest).ok_or(Malformed)?)
}

/// Where a string is closed that is long or has escapes.
fn far_end(string: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    let (strides, rest) = string.as_chunks::<STRIDE>();
    for (n_before, stride) in strides.iter().enumerate() {
        if let Some(found) = end_in(stride, &mut is_escaped) {
            return Some(n_before * STRIDE + found);
        }
    }
    let mut last = [0; STRIDE];
    last[..rest.len()].copy_from_slice(rest);
    end_in(&last, &mut is_escaped).map(|found| strides.len() * STRIDE + found)
}

/// Where a string is closed within a stride; `is_escaped` is carried from each to the next.
#[inline]
fn end_in(stride: &[u8; STRIDE], is_escaped: &mut bool) -> Option<usize> {
    let quotes = equal_in_64(stride, b'"');
    if quotes == 0 && stride[STRIDE - 1] != b'\\' {
        *is_escaped = false;
        return None;
    }
    let closing = quotes & !escaped(equal_in_64(stride, b'\\'), is_escaped);
    (closing != 0).then(|| closing.trailing_zeros() as usize)
}

/// Which bytes are escaped, told by where the backslashes are. `carried` is whether the first byte is, and becomes whether
/// the byte after the last one is.
///
/// A run of backslashes escapes what follows it where its length is odd. Adding the first bit of a run to the run moves
/// that bit past its end; whether it then stands on an even place tells, beside where the run began, how long it was.
#[inline]
fn escaped(backslashes: u64, carried: &mut bool) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let first = u64::from(*carried);
    // An escaped backslash begins no escape.
    let backslashes = backslashes & !first;
    let after = backslashes << 1 | first;
    let odd_starts = backslashes & !EVEN & !after;
    let (ends, overflows) = odd_starts.overflowing_add(backslashes);
    *carried = overflows;
    (EVEN ^ (ends << 1)) & after
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One byte after the other.
    fn plain_end(bytes: &[u8], start: usize) -> Parsed<usize> {
        let mut at = start;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => return Ok(at),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        Err(Malformed)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn a_string_ends_where_it_ends_byte_by_byte(
            parts in prop::collection::vec(
                prop_oneof![
                    3 => Just(b"\\".to_vec()), 3 => Just(b"\\\"".to_vec()), 1 => Just(b"\"".to_vec()),
                    2 => prop::collection::vec(b'a'..b'f', 0..40), 1 => (1..140_usize).prop_map(|n| vec![b'\\'; n]),
                ],
                0..40,
            ),
            start in 0..4_usize,
        ) {
            let bytes = parts.concat();
            if start <= bytes.len() {
                prop_assert_eq!(string_end(&bytes, start), plain_end(&bytes, start));
            }
        }
    }
}
