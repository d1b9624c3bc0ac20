//! The model that is part of the program: a table of word vectors, summed.
//!
//! The table lies in the program file and is used where it lies: opening it looks at the header
//! alone, and the system reads the pages of the words that are asked for. What is in it and how a
//! text is told in words is the contract in `docs/embedding.md`.

use super::pieces::{Vocabulary, VocabularyPlace, number};
use super::words::{Visit, each_chunk, fold, parts};
use super::{EmbedError, Embedder, ModelId, normalize};

/// The model, as it was distilled.
static SHIPPED: &[u8] = include_bytes!("../../../assets/embedding.bin");

const NAME: &str = "builtin";
const MAGIC: &[u8] = b"NACREMB1";
const HEADER_BYTES: usize = 40;
const HASH_BYTES: usize = 8;

/// Later words of a text do not count: what it is about was said by then.
const MAX_WORDS: usize = 512;

/// Word vectors of 8-bit numbers, each row with its scale.
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
    /// The model that came with the program.
    pub fn shipped() -> Result<Self, EmbedError> {
        Self::open(SHIPPED)
    }

    /// Takes `bytes` as a model after looking at its sizes, and at nothing else.
    pub fn open(bytes: &'static [u8]) -> Result<Self, EmbedError> {
        let header = bytes.strip_prefix(MAGIC).ok_or(damaged("it does not begin as one"))?;
        let field = |idx| {
            let value = number(header.get(..HEADER_BYTES - MAGIC.len())?, idx)?;
            usize::try_from(value).ok()
        };
        let fields = (field(0), field(1), field(2), field(3), number(header, 5));
        let (Some(dims), Some(n_tokens), Some(n_slots), Some(n_text), Some(flags)) = fields else {
            return Err(damaged("its header is cut off"));
        };
        if flags != 0 {
            return Err(damaged("it is of a later version"));
        }
        if dims == 0 || !n_slots.is_power_of_two() || n_slots <= n_tokens {
            return Err(damaged("its sizes make no sense"));
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
            return Err(damaged("its sizes make no sense"));
        };
        let Some(hash) = bytes.get(end..).and_then(|hash| <[u8; HASH_BYTES]>::try_from(hash).ok())
        else {
            return Err(damaged("it is not as long as its header says"));
        };
        let model = ModelId::new(NAME, u64::from_le_bytes(hash));
        let vocabulary = VocabularyPlace { offsets, slots, text };
        Ok(Self { model, bytes, dims, vocabulary, scales, rows })
    }

    /// Reads all of the model and compares it with the hash at its end.
    pub fn verify(&self) -> Result<(), EmbedError> {
        let content = &self.bytes[..self.rows.end];
        match ModelId::new(NAME, xxhash_rust::xxh3::xxh3_64(content)) == self.model {
            true => Ok(()),
            false => Err(damaged("its bytes are not those it was made with")),
        }
    }

    /// The words that it knows.
    pub(super) fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary::new(self.bytes, &self.vocabulary)
    }

    /// The tokens of a text, as the model sees it.
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
            if n_words == MAX_WORDS { Visit::Enough } else { Visit::More }
        });
        tokens
    }

    /// How much a text says, by the model: a word that stands everywhere weighs little, a rare one much; 0 where no word of it
    /// is known.
    pub fn weight(&self, text: &str) -> f32 {
        self.sum(text).iter().map(|x| x * x).sum::<f32>().sqrt()
    }

    /// Whether it knows a word in lower case as a whole. The weight of another one, made of its pieces, says little.
    pub fn knows(&self, word: &str) -> bool {
        self.vocabulary().find(word).is_some()
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut sum = self.sum(text);
        normalize(&mut sum);
        sum
    }

    /// The rows of a text's tokens, added up.
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

fn damaged(what: &'static str) -> EmbedError {
    EmbedError::Damaged { model: NAME, what }
}

#[cfg(test)]
mod tests;
