//! A file's trigrams, which allow a pattern search to skip files.
//!
//! Each trigram is hashed to one bit of a small, mostly empty set, so there may be false positives
//! but no false negatives. Letters are stored in lower case, so the same set works for
//! case-sensitive and case-insensitive searches.

/// Limits on the number of bits. Both are powers of two.
const MAX_BITS: usize = 1 << 16;
const MIN_BITS: usize = 1 << 6;

/// Minimum number of bits to allocate for each bit that is set.
const BITS_PER_TRIGRAM: usize = 4;

/// The two non-ASCII characters that case-fold to ASCII letters: the Kelvin sign and the long s.
const FOLDED: [&str; 2] = ["\u{212a}", "\u{17f}"];

/// Three consecutive bytes, in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Trigram(u32);

impl Trigram {
    /// Returns all trigrams in a byte string, except those that contain a line break.
    pub fn all(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.windows(3).map(|three| {
            let [first, second, third] = [0, 1, 2].map(|at| lower(three[at]));
            Self(first << 16 | second << 8 | third)
        })
    }

    fn bit(self) -> usize {
        (self.0.wrapping_mul(0x9e37_79b1) >> 16) as usize
    }
}

fn lower(byte: u8) -> u32 {
    u32::from(byte.to_ascii_lowercase())
}

pub(super) fn render_trigrams(text: &[u8]) -> Vec<u8> {
    let has = |character: &str| memchr::memmem::find(text, character.as_bytes()).is_some();
    if FOLDED.into_iter().any(has) {
        // A folded character can match an ASCII letter that does not occur in the file, so any
        // trigram may match.
        return vec![0xff; MIN_BITS / 8];
    }
    let mut bits = vec![0_u64; MAX_BITS / 64];
    for trigram in text.split(|byte| *byte == b'\n').flat_map(Trigram::all) {
        let bit = trigram.bit();
        bits[bit / 64] |= 1 << (bit % 64);
    }
    // The set is folded in half until it has the smallest allowed size.
    let n_set: usize = bits.iter().map(|bits| bits.count_ones() as usize).sum();
    let n_bits = (n_set * BITS_PER_TRIGRAM).next_power_of_two().clamp(MIN_BITS, MAX_BITS);
    let mut small = vec![0_u64; n_bits / 64];
    for (idx, bits) in bits.iter().enumerate() {
        small[idx % (n_bits / 64)] |= bits;
    }
    small.iter().flat_map(|bits| bits.to_le_bytes()).collect()
}

/// A file's trigrams, read from the storage format. Binary files have no trigrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigrams<'b>(&'b [u8]);

impl<'b> Trigrams<'b> {
    /// Parses the output of [`render_trigrams`]. Returns `None` for other input.
    pub(super) fn read(bytes: &'b [u8]) -> Option<Self> {
        let n_bits = bytes.len() * 8;
        let is_set = n_bits.is_power_of_two() && (MIN_BITS..=MAX_BITS).contains(&n_bits);
        (is_set || bytes.is_empty()).then_some(Self(bytes))
    }

    /// Returns false only if the file cannot contain the trigram.
    pub fn may_have(&self, trigram: Trigram) -> bool {
        let Some(last) = (self.0.len() * 8).checked_sub(1) else { return false };
        let bit = trigram.bit() & last;
        self.0.get(bit / 8).is_some_and(|byte| byte & 1 << (bit % 8) != 0)
    }

    /// Binary files have no trigrams.
    pub fn is_text(&self) -> bool {
        !self.0.is_empty()
    }
}
