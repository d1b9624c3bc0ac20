//! A sentence transformer (all-MiniLM-L6-v2): slower than the built-in model, and better.
//!
//! Texts are told in tokens, the tokens of several texts lie one after the other in one table
//! without padding, and every layer goes over that table once; only attention looks at each text
//! by itself. Two threads at most: a memory tool must not take over the machine it helps on.

mod kernel;
mod packed;
mod tensors;
#[cfg(test)]
mod tests;
mod tokens;

use std::ops::Range;

use fearless_simd::Level;

use self::kernel::{Head, Rows, Scratch, Weights};
use self::packed::{LayerPlace, MatrixPlace, Packed};
use super::pieces::Vocabulary;
use super::{EmbedError, Embedder, ModelId, normalize};

pub(super) use self::packed::{Shape, pack};

const NAME: &str = "minilm";

/// Tokens of a text that count, the special ones included.
const MAX_TOKENS: usize = 256;

/// Tokens that go through the layers together: enough to use each weight often, and few enough
/// to stay in the cache.
const MAX_BATCH_TOKENS: usize = 512;

/// Fewer tokens are not worth a thread.
const MIN_THREAD_TOKENS: usize = 64;

/// A transformer whose file was packed by `pack`.
#[derive(Debug)]
pub struct Transformer {
    model: ModelId,
    packed: Packed,
    layers: Vec<LayerPlace>,
    level: Level,
}

impl Transformer {
    /// Takes the bytes of a packed model after looking at its sizes.
    pub fn open(bytes: Vec<u8>) -> Result<Self, EmbedError> {
        let packed = Packed::open(bytes)?;
        let (model, layers) = (ModelId::new(NAME, packed.hash), packed.layers());
        Ok(Self { model, packed, layers, level: Level::new() })
    }

    /// Reads all of the model and compares it with the hash at its end.
    pub fn verify(&self) -> Result<(), EmbedError> {
        self.packed.verify()
    }

    fn tokens(&self, text: &str) -> Vec<u32> {
        let vocabulary = Vocabulary::new(&self.packed.bytes, &self.packed.vocabulary);
        tokens::tokens(vocabulary, self.packed.special, text, MAX_TOKENS)
    }

    /// The vectors of texts, some at a time.
    fn vectors(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut rest = texts;
        while !rest.is_empty() {
            let mut n_tokens = 0;
            let is_room = |text: &&Vec<u32>| {
                n_tokens += text.len();
                n_tokens <= MAX_BATCH_TOKENS
            };
            let n_texts = rest.iter().take_while(is_room).count().max(1);
            let (batch, later) = rest.split_at(n_texts);
            vectors.extend(self.forward(batch));
            rest = later;
        }
        vectors
    }

    /// The vectors of texts that go through the layers together.
    fn forward(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let hidden = self.packed.shape.hidden;
        let mut rows = self.first_rows(texts);
        let mut buffers = Buffers::default();
        for layer in &self.layers {
            self.layer(layer, texts, &mut rows, &mut buffers);
        }
        let pool = |span: Range<usize>| {
            let mut mean = vec![0.0; hidden];
            for row in rows[span.start * hidden..span.end * hidden].chunks_exact(hidden) {
                mean.iter_mut().zip(row).for_each(|(mean, number)| *mean += number);
            }
            // The length is made 1 anyway, so the sum is as good as the mean.
            normalize(&mut mean);
            mean
        };
        spans(texts).map(pool).collect()
    }

    /// Each token's row before the first layer: its word and its place.
    fn first_rows(&self, texts: &[Vec<u32>]) -> Vec<f32> {
        let (mut rows, mut places) = (Vec::new(), Vec::new());
        for (idx, token) in texts.iter().flat_map(|text| text.iter().enumerate()) {
            let (word, scale) = self.packed.word(*token);
            rows.extend(word.iter().map(|byte| scale * f32::from(byte.cast_signed())));
            places.extend_from_slice(self.packed.position(idx));
        }
        let [gain, bias] = self.packed.first_norm();
        kernel::add_and_normalize(self.level, &mut rows, &places, gain, bias);
        rows
    }

    fn layer(
        &self,
        layer: &LayerPlace,
        texts: &[Vec<u32>],
        rows: &mut [f32],
        buffers: &mut Buffers,
    ) {
        let Buffers { wide, narrow, mixed, scratch } = buffers;
        let hidden = self.packed.shape.hidden;
        let level = self.level;
        kernel::linear(level, Rows::dense(rows, hidden), self.matrix(&layer.attention), wide);
        mixed.clear();
        mixed.resize(rows.len(), 0.0);
        for span in spans(texts) {
            let text = &wide[span.start * 3 * hidden..span.end * 3 * hidden];
            self.attend(text, scratch, &mut mixed[span.start * hidden..span.end * hidden]);
        }
        kernel::linear(level, Rows::dense(mixed, hidden), self.matrix(&layer.output), narrow);
        let [first, second] = &layer.norms;
        self.add_and_normalize(rows, narrow, first);
        kernel::linear(level, Rows::dense(rows, hidden), self.matrix(&layer.up), wide);
        kernel::gelu(level, wide);
        let inner = Rows::dense(wide, self.packed.shape.inner);
        kernel::linear(level, inner, self.matrix(&layer.down), narrow);
        self.add_and_normalize(rows, narrow, second);
    }

    /// One text's attention, head by head: `text` has each token's query, key and value.
    fn attend(&self, text: &[f32], scratch: &mut Scratch, mixed: &mut [f32]) {
        let Shape { hidden, heads, .. } = self.packed.shape;
        let width = hidden / heads;
        let rows = Rows::dense(text, 3 * hidden);
        for first in (0..hidden).step_by(width) {
            let head = Head {
                query: rows.columns(first, width),
                key: rows.columns(hidden + first, width),
                value: rows.columns(2 * hidden + first, width),
            };
            kernel::attend(self.level, head, scratch, &mut mixed[first..], hidden);
        }
    }

    fn add_and_normalize(&self, rows: &mut [f32], more: &[f32], norm: &[Range<usize>; 2]) {
        let [gain, bias] = norm.each_ref().map(|place| self.packed.floats(place));
        kernel::add_and_normalize(self.level, rows, more, gain, bias);
    }

    fn matrix(&self, place: &MatrixPlace) -> Weights<'_> {
        Weights {
            panels: self.packed.weights(&place.panels),
            scales: self.packed.floats(&place.scales),
            biases: self.packed.floats(&place.biases),
        }
    }
}

impl Embedder for Transformer {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dims(&self) -> usize {
        self.packed.shape.hidden
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let tokens: Vec<Vec<u32>> = texts.iter().map(|text| self.tokens(text)).collect();
        let n_tokens: usize = tokens.iter().map(Vec::len).sum();
        let mut n_seen = 0;
        let is_first_half = |text: &&Vec<u32>| {
            n_seen += text.len();
            n_seen * 2 <= n_tokens + text.len()
        };
        let (first, second) = tokens.split_at(tokens.iter().take_while(is_first_half).count());
        if n_tokens < 2 * MIN_THREAD_TOKENS || second.is_empty() {
            return Ok(self.vectors(&tokens));
        }
        std::thread::scope(|scope| {
            // Where no thread can be had, this one does all of it.
            let helper =
                std::thread::Builder::new().spawn_scoped(scope, || self.vectors(second)).ok();
            let mut vectors = self.vectors(first);
            let others = helper.and_then(|helper| helper.join().ok());
            vectors.extend(others.unwrap_or_else(|| self.vectors(second)));
            Ok(vectors)
        })
    }
}

/// Tables that every layer needs, made once.
#[derive(Default)]
struct Buffers {
    wide: Vec<f32>,
    narrow: Vec<f32>,
    mixed: Vec<f32>,
    scratch: Scratch,
}

/// Which rows are whose.
fn spans(texts: &[Vec<u32>]) -> impl Iterator<Item = Range<usize>> {
    texts.iter().scan(0, |end, text| {
        let first = *end;
        *end += text.len();
        Some(first..*end)
    })
}

fn damaged(what: &'static str) -> EmbedError {
    EmbedError::Damaged { model: NAME, what }
}
