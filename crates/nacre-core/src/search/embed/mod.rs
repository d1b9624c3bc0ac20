//! Texts as vectors: one contract, and the models that keep it.
//!
//! Vectors of different models cannot be compared, so a model's identity includes the bytes it was
//! read from: who stores vectors stores the [`ModelId`] beside them.

mod builtin;
mod chars;
mod pieces;
mod tokens;
mod words;

use std::error::Error;
use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

use crate::safefs::FsError;

pub use builtin::Builtin;
pub use tokens::TokenCounter;

/// Turns texts into vectors that lie close together when the texts mean the same.
pub trait Embedder: Send + Sync {
    /// Which model this is; vectors of another one cannot be compared with its own.
    fn model(&self) -> &ModelId;

    /// How many numbers a vector has.
    fn dims(&self) -> usize;

    /// One vector a text, in the same order: of length 1, or zero where nothing in the text is known.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// A model's name and what it was made of, such as `builtin-0f3a5c7e9b1d2468`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelId(String);

impl ModelId {
    /// The model `name` whose content has this hash.
    pub fn new(name: &str, content: u64) -> Self {
        Self(format!("{name}-{content:016x}"))
    }

    /// A model that lives elsewhere, known by what is said of it.
    pub fn described(name: &str, description: &str) -> Self {
        Self::new(name, xxh3_64(description.as_bytes()))
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

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The bytes are not what the format says.
    #[error("Cannot read the `{model}` model: {what}")]
    Damaged { model: &'static str, what: &'static str },
    /// A service that makes vectors gave none.
    #[error("Cannot search by the embedding service")]
    Service(#[source] Box<dyn Error + Send + Sync>),
    #[error(transparent)]
    Fs(#[from] FsError),
}

/// Scales a vector to length 1; one that is zero, or not a number, becomes zero.
pub fn normalize(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let factor = if norm.is_normal() { norm.recip() } else { 0.0 };
    for x in vector {
        *x = if factor == 0.0 { 0.0 } else { *x * factor };
    }
}
