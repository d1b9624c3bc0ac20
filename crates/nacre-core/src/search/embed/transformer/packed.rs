//! The transformer's own file: its vocabulary and weights, packed to be read in one go.
//!
//! Weights are 8-bit numbers with a scale for 32 of them, which costs less than a thousandth of a
//! vector's direction and makes the file a quarter of the original: it is read in milliseconds.
//! Matrices lie in panels of 16 columns, the order in which they are multiplied.
//!
//! Magic, 12 numbers, vocabulary (as in the built-in model), all 32-bit floats, all 8-bit weights,
//! and the xxh3 hash of everything before.

use std::ops::Range;

use serde::Deserialize;

use super::kernel::{GROUP, LANES};
use super::tensors::Tensors;
use super::tokens::Special;
use super::{MAX_TOKENS, damaged};
use crate::search::embed::EmbedError;
use crate::search::embed::pieces::{self, VocabularyPlace, number};

pub(super) const MAGIC: &[u8; 8] = b"NACRETF1";
const N_FIELDS: usize = 12;
const HASH_BYTES: usize = 8;

/// The sizes of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search::embed) struct Shape {
    /// Numbers of a token, and of the vector.
    pub(in crate::search::embed) hidden: usize,
    pub(in crate::search::embed) layers: usize,
    pub(in crate::search::embed) heads: usize,
    /// Numbers of a token in the middle of a layer.
    pub(in crate::search::embed) inner: usize,
}

impl Shape {
    /// all-MiniLM-L6-v2.
    pub(in crate::search::embed) const MINILM: Self =
        Self { hidden: 384, layers: 6, heads: 12, inner: 1536 };

    /// Whether every part is whole panels, and of a size that is no attack.
    fn is_sound(self) -> bool {
        let is_whole = |n: usize, part: usize| n > 0 && n <= 8192 && n.is_multiple_of(part);
        let is_split = self.heads > 0 && self.hidden.is_multiple_of(self.heads);
        // A group is whole panels, too.
        is_whole(self.hidden, GROUP)
            && is_whole(self.inner, GROUP)
            && is_split
            && is_whole(self.hidden / self.heads, LANES)
            && (1..=64).contains(&self.layers)
    }

    /// The matrices of a layer, as rows and columns.
    fn matrices(self) -> [(usize, usize); 4] {
        let Self { hidden, inner, .. } = self;
        [(hidden, 3 * hidden), (hidden, hidden), (hidden, inner), (inner, hidden)]
    }
}

/// A packed model: where everything lies in its bytes.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) bytes: Vec<u8>,
    pub(super) shape: Shape,
    pub(super) special: Special,
    pub(super) vocabulary: VocabularyPlace,
    n_tokens: usize,
    floats: Vec<f32>,
    weights: Range<usize>,
    pub(super) hash: u64,
}

/// The floats and weights of one step: a matrix, its scales and its biases.
#[derive(Clone, Debug)]
pub(super) struct MatrixPlace {
    pub(super) panels: Range<usize>,
    pub(super) scales: Range<usize>,
    pub(super) biases: Range<usize>,
}

/// Where the parts of a layer lie.
#[derive(Clone, Debug)]
pub(super) struct LayerPlace {
    pub(super) attention: MatrixPlace,
    pub(super) output: MatrixPlace,
    pub(super) up: MatrixPlace,
    pub(super) down: MatrixPlace,
    pub(super) norms: [[Range<usize>; 2]; 2],
}

/// Hands out ranges one after the other.
struct Cursor(usize);

impl Cursor {
    fn take(&mut self, n: usize) -> Range<usize> {
        let first = self.0;
        self.0 += n;
        first..self.0
    }
}

impl Packed {
    /// Takes the bytes of a packed file after looking at its sizes.
    pub(super) fn open(bytes: Vec<u8>) -> Result<Self, EmbedError> {
        let header = bytes.strip_prefix(MAGIC).ok_or(damaged("it does not begin as one"))?;
        let mut fields = [0_usize; N_FIELDS];
        for (idx, field) in fields.iter_mut().enumerate() {
            let value = number(header, idx).ok_or(damaged("its header is cut off"))?;
            *field = usize::try_from(value).map_err(|_| damaged("its sizes make no sense"))?;
        }
        let [hidden, layers, heads, inner, n_positions, n_tokens, n_slots, n_text, ..] = fields;
        let [.., begin, end, unknown, _] = fields.map(|field| u32::try_from(field).unwrap_or(0));
        let shape = Shape { hidden, layers, heads, inner };
        let is_sound = shape.is_sound()
            && n_positions == MAX_TOKENS
            && n_tokens < 1 << 20
            && n_slots.is_power_of_two()
            && (n_tokens + 1..1 << 22).contains(&n_slots)
            && n_text < 1 << 26
            && fields[11] == 0;
        if !is_sound {
            return Err(damaged("its sizes make no sense"));
        }
        let mut cursor = Cursor(MAGIC.len() + 4 * N_FIELDS);
        let vocabulary = VocabularyPlace {
            offsets: cursor.take(4 * (n_tokens + 1)),
            slots: cursor.take(4 * n_slots),
            text: cursor.take(n_text),
        };
        let floats = cursor.take(4 * n_floats(shape, n_tokens));
        let weights = cursor.take(n_weights(shape, n_tokens));
        let hash = cursor.take(HASH_BYTES);
        if hash.end != bytes.len() {
            return Err(damaged("it is not as long as its header says"));
        }
        let hash = bytes[hash].iter().rev().fold(0, |hash, byte| (hash << 8) | u64::from(*byte));
        let numbers = bytes[floats].as_chunks::<4>().0.iter();
        let floats = numbers.map(|number| f32::from_le_bytes(*number)).collect();
        let special = Special { begin, end, unknown };
        Ok(Self { shape, special, vocabulary, n_tokens, floats, weights, hash, bytes })
    }

    /// Reads all of the model and compares it with the hash at its end.
    pub(super) fn verify(&self) -> Result<(), EmbedError> {
        match xxhash_rust::xxh3::xxh3_64(&self.bytes[..self.weights.end]) == self.hash {
            true => Ok(()),
            false => Err(damaged("its bytes are not those it was made with")),
        }
    }

    pub(super) fn floats(&self, place: &Range<usize>) -> &[f32] {
        &self.floats[place.clone()]
    }

    pub(super) fn weights(&self, place: &Range<usize>) -> &[u8] {
        &self.bytes[self.weights.clone()][place.clone()]
    }

    /// A token's row of weights and its scale; the first one's for a token that is not there.
    pub(super) fn word(&self, token: u32) -> (&[u8], f32) {
        let token = token as usize;
        let token = if token < self.n_tokens { token } else { 0 };
        let row = token * self.shape.hidden..(token + 1) * self.shape.hidden;
        (self.weights(&row), self.floats[token])
    }

    /// The rows that are added to the tokens by their place in the text.
    pub(super) fn position(&self, idx: usize) -> &[f32] {
        let first = self.n_tokens + idx * self.shape.hidden;
        &self.floats[first..first + self.shape.hidden]
    }

    /// Gain and bias of the tokens before the first layer.
    pub(super) fn first_norm(&self) -> [&[f32]; 2] {
        let hidden = self.shape.hidden;
        let mut cursor = Cursor(self.n_tokens + MAX_TOKENS * hidden);
        [cursor.take(hidden), cursor.take(hidden)].map(|place| &self.floats[place])
    }

    /// The places of each layer, in order.
    pub(super) fn layers(&self) -> Vec<LayerPlace> {
        let Shape { hidden, layers, .. } = self.shape;
        let mut floats = Cursor(self.n_tokens + (MAX_TOKENS + 2) * hidden);
        let mut weights = Cursor(self.n_tokens * hidden);
        let mut matrix = |floats: &mut Cursor, (rows, columns): (usize, usize)| MatrixPlace {
            panels: weights.take(rows * columns),
            scales: floats.take(rows / GROUP * columns),
            biases: floats.take(columns),
        };
        let layer = |_| {
            let [attention, output, up, down] =
                self.shape.matrices().map(|size| matrix(&mut floats, size));
            let mut norm = || [floats.take(hidden), floats.take(hidden)];
            LayerPlace { attention, output, up, down, norms: [norm(), norm()] }
        };
        (0..layers).map(layer).collect()
    }
}

fn n_floats(shape: Shape, n_tokens: usize) -> usize {
    let matrices = shape.matrices();
    let matrices: usize = matrices.iter().map(|(rows, columns)| (rows / GROUP + 1) * columns).sum();
    n_tokens + (MAX_TOKENS + 2) * shape.hidden + shape.layers * (matrices + 4 * shape.hidden)
}

fn n_weights(shape: Shape, n_tokens: usize) -> usize {
    let matrices: usize = shape.matrices().iter().map(|(rows, columns)| rows * columns).sum();
    n_tokens * shape.hidden + shape.layers * matrices
}

/// What is read of a `tokenizer.json`.
#[derive(Deserialize)]
struct Tokenizer {
    model: TokenizerModel,
}

#[derive(Deserialize)]
struct TokenizerModel {
    vocab: std::collections::BTreeMap<String, u32>,
}

/// Makes a packed file of a model's tensors and tokenizer, as they are published.
pub(in crate::search::embed) fn pack(
    shape: Shape,
    tensors: &[u8],
    tokenizer: &[u8],
) -> Result<Vec<u8>, EmbedError> {
    let tokenizer: Tokenizer =
        serde_json::from_slice(tokenizer).map_err(|_| damaged("its tokenizer is not one"))?;
    let mut tokens: Vec<(&str, u32)> =
        tokenizer.model.vocab.iter().map(|(token, idx)| (token.as_str(), *idx)).collect();
    tokens.sort_by_key(|(_, idx)| *idx);
    if !tokens.iter().zip(0..).all(|((_, idx), expected)| *idx == expected) || !shape.is_sound() {
        return Err(damaged("its vocabulary has holes"));
    }
    let special = |name: &str| {
        let found = tokenizer.model.vocab.get(name).copied();
        found.ok_or(damaged("its vocabulary lacks a special token"))
    };
    let special = [special("[CLS]")?, special("[SEP]")?, special("[UNK]")?, 0];
    let written = pieces::write(tokens.iter().map(|(token, _)| *token));
    let Shape { hidden, layers, heads, inner } = shape;
    let sizes = [hidden, layers, heads, inner, MAX_TOKENS, tokens.len(), written.slots.len()];
    let sizes = sizes.into_iter().chain([written.text.len()]);
    let mut out = MAGIC.to_vec();
    let sizes = sizes.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    let numbers = sizes.chain(special).chain(written.offsets).chain(written.slots);
    out.extend(numbers.flat_map(u32::to_le_bytes));
    out.extend(written.text);
    let parts = Parts::read(shape, tokens.len(), &Tensors::read(tensors)?)?;
    out.extend(parts.floats.iter().flat_map(|float| float.to_le_bytes()));
    out.extend(parts.weights);
    out.extend(xxhash_rust::xxh3::xxh3_64(&out).to_le_bytes());
    Ok(out)
}

/// The floats and weights of a packed file, in the order that `Packed` finds them.
#[derive(Default)]
struct Parts {
    floats: Vec<f32>,
    weights: Vec<u8>,
}

impl Parts {
    fn read(shape: Shape, n_tokens: usize, tensors: &Tensors<'_>) -> Result<Self, EmbedError> {
        let hidden = shape.hidden;
        let mut parts = Self::default();
        let words = tensors.get("embeddings.word_embeddings.weight", &[n_tokens, hidden])?;
        for row in words.chunks_exact(hidden) {
            let scale = scale_of(row);
            parts.floats.push(scale);
            parts.weights.extend(row.iter().map(|number| steps_of(*number, scale)));
        }
        let positions = tensors.get("embeddings.position_embeddings.weight", &[512, hidden])?;
        // All texts are of the first type: its row is added here once.
        let types = tensors.get("embeddings.token_type_embeddings.weight", &[2, hidden])?;
        let rows = positions.chunks_exact(hidden).take(MAX_TOKENS);
        parts.floats.extend(rows.flat_map(|row| row.iter().zip(&types).map(|(a, b)| a + b)));
        parts.norm(tensors, "embeddings", hidden)?;
        for layer in 0..shape.layers {
            let prefix = format!("encoder.layer.{layer}");
            let own =
                ["query", "key", "value"].map(|name| format!("{prefix}.attention.self.{name}"));
            let [_, output, up, down] = shape.matrices();
            parts.matrix(tensors, &own, (hidden, hidden))?;
            parts.matrix(tensors, &[format!("{prefix}.attention.output.dense")], output)?;
            parts.matrix(tensors, &[format!("{prefix}.intermediate.dense")], up)?;
            parts.matrix(tensors, &[format!("{prefix}.output.dense")], down)?;
            parts.norm(tensors, &format!("{prefix}.attention.output"), hidden)?;
            parts.norm(tensors, &format!("{prefix}.output"), hidden)?;
        }
        Ok(parts)
    }

    fn norm(&mut self, tensors: &Tensors<'_>, of: &str, width: usize) -> Result<(), EmbedError> {
        for name in ["weight", "bias"] {
            self.floats.extend(tensors.get(&format!("{of}.LayerNorm.{name}"), &[width])?);
        }
        Ok(())
    }

    /// Adds matrices of this size, side by side, as panels.
    fn matrix(
        &mut self,
        tensors: &Tensors<'_>,
        names: &[String],
        (rows, columns): (usize, usize),
    ) -> Result<(), EmbedError> {
        let mut biases = Vec::new();
        for name in names {
            // They are published with one line a column.
            let numbers = tensors.get(&format!("{name}.weight"), &[columns, rows])?;
            biases.extend(tensors.get(&format!("{name}.bias"), &[columns])?);
            for first in (0..columns).step_by(LANES) {
                self.panel(&numbers[first * rows..(first + LANES) * rows], rows);
            }
        }
        self.floats.extend(biases);
        Ok(())
    }

    /// Adds one panel, whose columns lie one after the other in `numbers`.
    fn panel(&mut self, numbers: &[f32], rows: usize) {
        for first in (0..rows).step_by(GROUP) {
            let group = first..first + GROUP;
            let column = |lane: usize| &numbers[lane * rows..][group.clone()];
            let scales: [f32; LANES] = std::array::from_fn(|lane| scale_of(column(lane)));
            for row in 0..GROUP {
                let steps = (0..LANES).map(|lane| steps_of(column(lane)[row], scales[lane]));
                self.weights.extend(steps);
            }
            self.floats.extend(scales);
        }
    }
}

/// What one step of an 8-bit number is worth.
fn scale_of(numbers: &[f32]) -> f32 {
    numbers.iter().fold(0.0_f32, |peak, number| peak.max(number.abs())) / 127.0
}

/// The number in whole steps.
fn steps_of(number: f32, scale: f32) -> u8 {
    let steps = if scale > 0.0 { (number / scale).round() } else { 0.0 };
    (steps as i8).cast_unsigned()
}
