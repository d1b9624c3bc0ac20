//! Where the lines of a text end.
//!
//! A search for one byte costs more to begin than a line is long, and a project has millions of lines: so 64 bytes are looked at
//! together, eight in a word, and what is found in them is a mask of bits.

use std::ops::ControlFlow;

const BLOCK: usize = 64;

/// Hands out the places of all line breaks of a text, in order, until it is told to stop.
pub(super) fn each_break(
    text: &str,
    mut take: impl FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let mut mask = breaks_in(block);
        while mask != 0 {
            take(number * BLOCK + mask.trailing_zeros() as usize)?;
            mask &= mask - 1;
        }
    }
    ControlFlow::Continue(())
}

/// One bit a byte: whether it is a line break.
fn breaks_in(block: &[u8; BLOCK]) -> u64 {
    let (words, _) = block.as_chunks::<8>();
    let mut found = [0; BLOCK / 8];
    for (found, word) in found.iter_mut().zip(words) {
        *found = breaks_in_word(*word);
    }
    // Brings the highest bits of eight bytes together in one.
    let bits = |found: u64| (found >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    found.iter().rev().fold(0, |mask, found| mask << 8 | bits(*found))
}

/// The highest bit of each byte that is a line break.
fn breaks_in_word(bytes: [u8; 8]) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // What is a line break becomes zero; and of a byte that is zero, only the highest bit is then missing in the sum.
    let word = u64::from_le_bytes(bytes) ^ 0x0a0a_0a0a_0a0a_0a0a;
    !(((word & LOW) + LOW) | word | LOW)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_breaks_are_found_wherever_they_are(text in "(?s)(\n|\r|.|a{1,70}|ü){0,200}") {
            let mut found = Vec::new();
            let ended = each_break(&text, |at| {
                found.push(at);
                ControlFlow::Continue(())
            });
            prop_assert!(ended.is_continue());
            let all: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
            prop_assert_eq!(found, all);
        }
    }

    #[test]
    fn each_byte_of_a_block_has_its_bit() {
        for byte in 0..=u8::MAX {
            for at in 0..BLOCK {
                let mut block = [byte; BLOCK];
                block[at] = b'\n';
                let expected = if byte == b'\n' { u64::MAX } else { 1 << at };
                assert_eq!(breaks_in(&block), expected, "byte {byte} at {at}");
            }
        }
    }
}
