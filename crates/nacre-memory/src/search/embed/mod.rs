//! Embeddings: vectors that represent the meaning of a text.
//!
//! The model is a table of word vectors that is part of the program. It is used in place; opening
//! it reads only the header. Vectors from different models cannot be compared, so vectors are
//! stored with the model's ID.

#[cfg(test)]
mod tests;
mod vocabulary;
mod words;

use std::sync::LazyLock;

use vocabulary::{Vocabulary, VocabularyPlace, number};
use words::{each_chunk, fold, parts};

/// Scales a vector to length 1. A vector that is zero or contains NaN becomes zero.
fn normalize(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let factor = if norm.is_normal() { norm.recip() } else { 0.0 };
    for x in vector {
        *x = if factor == 0.0 { 0.0 } else { *x * factor };
    }
}

/// Returns the cosine similarity of two embeddings, from 0 to 1.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>().clamp(0.0, 1.0)
}

static SHIPPED: &[u8] = include_bytes!("../../../assets/embedding.bin");

const MAGIC: &[u8] = b"NACREMB1";
const HEADER_BYTES: usize = 40;

/// Maximum number of words per text. Any others are ignored.
const MAX_WORDS: usize = 512;

#[derive(Clone, Debug, Default)]
pub struct Builtin {
    /// The model's name and a hash of its content, such as `builtin-0f3a5c7e9b1d2468`.
    id: String,
    bytes: &'static [u8],
    dims: usize,
    vocabulary: VocabularyPlace,
    scales: std::ops::Range<usize>,
    rows: std::ops::Range<usize>,
}

impl Builtin {
    /// Returns the model that is part of the program.
    pub fn shipped() -> &'static Self {
        // A test opens the shipped model, so the default is never used.
        static MODEL: LazyLock<Builtin> =
            LazyLock::new(|| Builtin::open(SHIPPED).unwrap_or_default());
        &MODEL
    }

    /// Opens a model. Only its section sizes are checked.
    fn open(bytes: &'static [u8]) -> Option<Self> {
        let header = bytes.strip_prefix(MAGIC)?;
        let field = |idx| {
            let value = number(header.get(..HEADER_BYTES - MAGIC.len())?, idx)?;
            usize::try_from(value).ok()
        };
        let (dims, n_tokens, n_slots, n_text) = (field(0)?, field(1)?, field(2)?, field(3)?);
        let has_flags = number(header, 5)? != 0;
        if has_flags || dims == 0 || !n_slots.is_power_of_two() || n_slots <= n_tokens {
            return None;
        }
        let mut end = HEADER_BYTES;
        let mut section = |n_bytes: Option<usize>| {
            let first = end;
            end = end.checked_add(n_bytes?)?;
            Some(first..end)
        };
        let offsets = section(n_tokens.checked_add(1).and_then(|n| n.checked_mul(4)))?;
        let slots = section(n_slots.checked_mul(4))?;
        let scales = section(n_tokens.checked_mul(4))?;
        let text = section(Some(n_text))?;
        let rows = section(n_tokens.checked_mul(dims))?;
        let hash = u64::from_le_bytes(bytes.get(end..)?.try_into().ok()?);
        let vocabulary = VocabularyPlace { offsets, slots, text };
        Some(Self { id: model_id(hash), bytes, dims, vocabulary, scales, rows })
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Returns a text's vector. It has length 1, or is zero if the model has no vector for any word
    /// in the text.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let mut sum = self.sum(text);
        normalize(&mut sum);
        sum
    }

    fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary::new(self.bytes, &self.vocabulary)
    }

    fn tokens(&self, text: &str) -> Vec<u32> {
        let vocabulary = self.vocabulary();
        let (mut tokens, mut folded, mut n_words) = (Vec::new(), String::new(), 0);
        each_chunk(text, |chunk| {
            fold(chunk, &mut folded);
            if let Some(whole) = vocabulary.find(&folded) {
                tokens.push(whole);
                n_words += 1;
            } else {
                for part in parts(chunk).take(MAX_WORDS - n_words) {
                    fold(part, &mut folded);
                    vocabulary.cut(&folded, &mut tokens);
                    n_words += 1;
                }
            }
            n_words < MAX_WORDS
        });
        tokens
    }

    /// Returns how informative the model considers a text. Rare words have more weight than
    /// frequent ones. The result is 0 if no word is in the vocabulary.
    pub fn weight(&self, text: &str) -> f32 {
        self.sum(text).iter().map(|x| x * x).sum::<f32>().sqrt()
    }

    /// Returns whether the vocabulary contains a lowercase word in full. The weight of a word made
    /// of several pieces is unreliable.
    pub fn knows(&self, word: &str) -> bool {
        self.vocabulary().find(word).is_some()
    }

    fn sum(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.dims];
        let (scales, rows) = (&self.bytes[self.scales.clone()], &self.bytes[self.rows.clone()]);
        for token in self.tokens(text) {
            let token = token as usize;
            let row = token.checked_mul(self.dims).and_then(|at| rows.get(at..at + self.dims));
            let (Some(scale), Some(row)) = (number(scales, token).map(f32::from_bits), row) else {
                continue;
            };
            for (sum, byte) in sum.iter_mut().zip(row) {
                *sum += scale * f32::from(byte.cast_signed());
            }
        }
        sum
    }
}

fn model_id(hash: u64) -> String {
    format!("builtin-{hash:016x}")
}
