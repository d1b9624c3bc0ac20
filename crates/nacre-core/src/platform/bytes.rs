//! Sixteen bytes compared at once, by the processor's own means where every one of its kind has them.

/// How many bytes are compared at once.
pub const BLOCK: usize = 16;

/// Which bytes of a block are `byte`: one bit for each, the first one lowest.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn equal_bytes(block: &[u8; BLOCK], byte: u8) -> u64 {
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

/// Which bytes of a block are `byte`: one bit for each, the first one lowest.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn equal_bytes(block: &[u8; BLOCK], byte: u8) -> u64 {
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
        fn every_equal_byte_is_one_bit(mut block: [u8; BLOCK], byte: u8, places: [bool; BLOCK]) {
            for (at, is_byte) in places.into_iter().enumerate() {
                block[at] = if is_byte { byte } else { block[at] };
            }
            let equal = (0..BLOCK).filter(|at| block[*at] == byte);
            let wanted = equal.fold(0, |bits, at| bits | 1 << at);
            prop_assert_eq!(equal_bytes(&block, byte), wanted);
            prop_assert_eq!(by_arithmetic(&block, byte), wanted);
        }
    }
}
