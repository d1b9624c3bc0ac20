//! Which three bytes stand behind one another in the lines of a text: what a search for a pattern skips files by.
//!
//! A set of bits, not a list: a trigram is hashed to a bit, and the set is as small as keeps most bits free. So it may say that a text
//! has what it has not, and never the other way round. Letters are kept in lower case, so that one set answers for both cases.

/// The most and the fewest bits of a set; each a power of two.
const MAX_BITS: usize = 1 << 16;
const MIN_BITS: usize = 1 << 6;

/// So many bits there are at least for each that is set.
const BITS_PER_TRIGRAM: usize = 4;

/// The two characters outside of ASCII that are a letter of ASCII in the other case: the signs for kelvin and the long s.
const FOLDED: [&str; 2] = ["\u{212a}", "\u{17f}"];

/// Three bytes behind one another, in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Trigram(u32);

impl Trigram {
    /// All of some bytes, without a line break.
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

/// The lines of a text, without their ends.
fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text).chain([text.len()]);
    ends.map(move |end| &text[std::mem::replace(&mut start, end + 1)..end])
}

/// Collects the trigrams of texts, one after the other, in memory that is used again.
#[derive(Debug)]
pub(super) struct TrigramMaker {
    bits: Vec<u64>,
}

impl Default for TrigramMaker {
    fn default() -> Self {
        Self { bits: vec![0; MAX_BITS / 64] }
    }
}

impl TrigramMaker {
    /// The trigrams of a text as they are kept.
    pub(super) fn make(&mut self, text: &[u8]) -> Vec<u8> {
        let is_folded =
            |character: &str| memchr::memmem::find(text, character.as_bytes()).is_some();
        if FOLDED.into_iter().any(is_folded) {
            // It has letters that it does not spell: it may have everything.
            return vec![0xff; MIN_BITS / 8];
        }
        self.bits.fill(0);
        let Ok(bits) = <&mut [u64; MAX_BITS / 64]>::try_from(self.bits.as_mut_slice()) else {
            return Vec::new();
        };
        for line in lines_of(text) {
            let Some((first, rest)) = line.split_first_chunk::<2>() else { continue };
            let mut three = lower(first[0]) << 8 | lower(first[1]);
            for byte in rest {
                three = (three << 8 | lower(*byte)) & 0xff_ffff;
                let bit = Trigram(three).bit();
                bits[bit / 64 % bits.len()] |= 1 << (bit % 64);
            }
        }
        self.encode()
    }

    /// Lays the set over itself until it is as small as it may be.
    fn encode(&self) -> Vec<u8> {
        let n_set: usize = self.bits.iter().map(|bits| bits.count_ones() as usize).sum();
        let n_bits = (n_set * BITS_PER_TRIGRAM).next_power_of_two().clamp(MIN_BITS, MAX_BITS);
        let mut small = vec![0_u64; n_bits / 64];
        for (idx, bits) in self.bits.iter().enumerate() {
            small[idx % (n_bits / 64)] |= bits;
        }
        small.iter().flat_map(|bits| bits.to_le_bytes()).collect()
    }
}

/// The trigrams of a text, looked at where they lie. Bytes that are no text have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigrams<'b>(&'b [u8]);

impl<'b> Trigrams<'b> {
    /// Reads what a maker made; `None` for anything else.
    pub(super) fn read(bytes: &'b [u8]) -> Option<Self> {
        let n_bits = bytes.len() * 8;
        let is_set = n_bits.is_power_of_two() && (MIN_BITS..=MAX_BITS).contains(&n_bits);
        (is_set || bytes.is_empty()).then_some(Self(bytes))
    }

    /// Whether the text may have a trigram; `false` is certain.
    pub fn may_have(&self, trigram: Trigram) -> bool {
        let Some(last) = (self.0.len() * 8).checked_sub(1) else { return false };
        let bit = trigram.bit() & last;
        self.0.get(bit / 8).is_some_and(|byte| byte & 1 << (bit % 8) != 0)
    }

    /// Whether there is a text at all.
    pub fn is_text(&self) -> bool {
        !self.0.is_empty()
    }
}
