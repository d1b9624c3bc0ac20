//! Where the lines of a text end.
//!
//! A search for one byte costs more to begin than a line is long, and a project has millions of lines: so 64 bytes are looked at
//! together, and what is found in them is a mask of bits.

use std::ops::ControlFlow;

use nacre_core::platform::equal_in_64;

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
        let mut mask = equal_in_64(block, b'\n');
        while mask != 0 {
            take(number * BLOCK + mask.trailing_zeros() as usize)?;
            mask &= mask - 1;
        }
    }
    ControlFlow::Continue(())
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
}
