//! Embeddings: the trait for models, and the built-in model.
//!
//! Vectors from different models cannot be compared, so vectors are stored with a [`ModelId`],
//! which includes a hash of the model. The built-in model is a table of word vectors that is used
//! in place; opening it reads only the header.

#[cfg(test)]
mod tests;
mod vocabulary;
mod words;

use std::fmt;

use nacre_base::fs::FsError;

use vocabulary::{Vocabulary, VocabularyPlace, number};
use words::{each_chunk, fold, parts};

pub trait Embedder: Send + Sync {
    fn model(&self) -> &ModelId;

    fn dims(&self) -> usize;

    /// Returns one vector per text, in the same order. Each vector has length 1, or is zero if the
    /// model has no vector for any word in the text.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// A model's name and a hash of its content, such as `builtin-0f3a5c7e9b1d2468`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelId(String);

impl ModelId {
    pub fn new(name: &str, content: u64) -> Self {
        Self(format!("{name}-{content:016x}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("Cannot read the `{model}` model: {what}")]
    Damaged { model: &'static str, what: &'static str },
    #[error(transparent)]
    Fs(#[from] FsError),
}

/// Scales a vector to length 1. A vector that is zero or contains NaN becomes zero.
fn normalize(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let factor = if norm.is_normal() { norm.recip() } else { 0.0 };
    for x in vector {
        *x = if factor == 0.0 { 0.0 } else { *x * factor };
    }
}

static SHIPPED: &[u8] = include_bytes!("../../../assets/embedding.bin");

const NAME: &str = "builtin";
const MAGIC: &[u8] = b"NACREMB1";
const HEADER_BYTES: usize = 40;
const HASH_BYTES: usize = 8;

/// Maximum number of words per text. Any others are ignored.
const MAX_WORDS: usize = 512;

#[derive(Clone, Debug)]
pub struct Builtin {
    model: ModelId,
    bytes: &'static [u8],
    dims: usize,
    vocabulary: VocabularyPlace,
    scales: std::ops::Range<usize>,
    rows: std::ops::Range<usize>,
}

impl Builtin {
    pub fn load_shipped() -> Result<Self, EmbedError> {
        Self::open(SHIPPED)
    }

    /// Opens a model, checking only its section sizes. See [`Builtin::verify`] for a full check.
    pub fn open(bytes: &'static [u8]) -> Result<Self, EmbedError> {
        let header = bytes.strip_prefix(MAGIC).ok_or(damage_error("it is not a model file"))?;
        let field = |idx| {
            let value = number(header.get(..HEADER_BYTES - MAGIC.len())?, idx)?;
            usize::try_from(value).ok()
        };
        let fields = (field(0), field(1), field(2), field(3), number(header, 5));
        let (Some(dims), Some(n_tokens), Some(n_slots), Some(n_text), Some(flags)) = fields else {
            return Err(damage_error("its header is truncated"));
        };
        if flags != 0 {
            return Err(damage_error("its version is not supported"));
        }
        if dims == 0 || !n_slots.is_power_of_two() || n_slots <= n_tokens {
            return Err(damage_error("its section sizes are invalid"));
        }
        let mut end = HEADER_BYTES;
        let mut section = |n_bytes: Option<usize>| {
            let first = end;
            end = end.checked_add(n_bytes?)?;
            Some(first..end)
        };
        let sections = (
            section(n_tokens.checked_add(1).and_then(|n| n.checked_mul(4))),
            section(n_slots.checked_mul(4)),
            section(n_tokens.checked_mul(4)),
            section(Some(n_text)),
            section(n_tokens.checked_mul(dims)),
        );
        let (Some(offsets), Some(slots), Some(scales), Some(text), Some(rows)) = sections else {
            return Err(damage_error("its section sizes are invalid"));
        };
        let Some(hash) = bytes.get(end..).and_then(|hash| <[u8; HASH_BYTES]>::try_from(hash).ok())
        else {
            return Err(damage_error("its length does not match its header"));
        };
        let model = ModelId::new(NAME, u64::from_le_bytes(hash));
        let vocabulary = VocabularyPlace { offsets, slots, text };
        Ok(Self { model, bytes, dims, vocabulary, scales, rows })
    }

    /// Verifies the hash at the end of the model, which requires reading all of it.
    pub fn verify(&self) -> Result<(), EmbedError> {
        let content = &self.bytes[..self.rows.end];
        match ModelId::new(NAME, xxhash_rust::xxh3::xxh3_64(content)) == self.model {
            true => Ok(()),
            false => Err(damage_error("its checksum does not match")),
        }
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

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut sum = self.sum(text);
        normalize(&mut sum);
        sum
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

impl Embedder for Builtin {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dims(&self) -> usize {
        self.dims
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

fn damage_error(what: &'static str) -> EmbedError {
    EmbedError::Damaged { model: NAME, what }
}
