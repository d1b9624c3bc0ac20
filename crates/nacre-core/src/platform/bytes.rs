//! Bytes compared many at once, by the processor's own means where every one of its kind has them.

const BLOCK: usize = 16;

/// Which of 64 bytes are `byte`: one bit for each, the first one lowest.
#[inline]
pub fn equal_in_64(bytes: &[u8; 64], byte: u8) -> u64 {
    let (blocks, _) = bytes.as_chunks();
    blocks.iter().rev().fold(0, |bits, block| bits << BLOCK | equal_in_16(block, byte))
}

/// Which of 16 bytes are `byte`: one bit for each, the first one lowest.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn equal_in_16(block: &[u8; BLOCK], byte: u8) -> u64 {
    #[expect(unsafe_code, reason = "there is no x86_64 without SSE2")]
    // SAFETY: SSE2 belongs to x86_64.
    unsafe {
        by_sse2(block, byte)
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn by_sse2(block: &[u8; BLOCK], byte: u8) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};

    let halves = u128::from_le_bytes(*block);
    let block = _mm_set_epi64x((halves >> 64) as i64, halves as i64);
    let equal = _mm_cmpeq_epi8(block, _mm_set1_epi8(byte.cast_signed()));
    u64::from(_mm_movemask_epi8(equal).cast_unsigned())
}

/// Which of 16 bytes are `byte`: one bit for each, the first one lowest.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn equal_in_16(block: &[u8; BLOCK], byte: u8) -> u64 {
    by_arithmetic(block, byte)
}

/// The same on any processor: in both halves, bytes that the comparison makes zero leave their highest bit.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline]
fn by_arithmetic(block: &[u8; BLOCK], byte: u8) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const REST: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    /// Brings the lowest bits of eight bytes together in the highest byte.
    const TOGETHER: u64 = 0x0102_0408_1020_4080;
    let halves = u128::from_le_bytes(*block);
    let bits = |half: u64| {
        let other = half ^ (LOW * u64::from(byte));
        let equal = !(((other & REST) + REST) | other | REST);
        (equal >> 7).wrapping_mul(TOGETHER) >> 56
    };
    bits(halves as u64) | bits((halves >> 64) as u64) << 8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_four_blocks_have_their_places(bytes in prop::array::uniform32(0..3_u8), more in prop::array::uniform32(0..3_u8)) {
            let mut all = [0; 64];
            all[..32].copy_from_slice(&bytes);
            all[32..].copy_from_slice(&more);
            let equal = (0..64).filter(|at| all[*at] == 1);
            prop_assert_eq!(equal_in_64(&all, 1), equal.fold(0, |bits, at| bits | 1_u64 << at));
        }

        #[test]
        fn every_equal_byte_is_one_bit(mut block: [u8; BLOCK], byte: u8, places: [bool; BLOCK]) {
            for (at, is_byte) in places.into_iter().enumerate() {
                block[at] = if is_byte { byte } else { block[at] };
            }
            let equal = (0..BLOCK).filter(|at| block[*at] == byte);
            let wanted = equal.fold(0, |bits, at| bits | 1 << at);
            prop_assert_eq!(equal_in_16(&block, byte), wanted);
            prop_assert_eq!(by_arithmetic(&block, byte), wanted);
        }
    }
}
