//! What a word is worth by the field that it stands in.

use super::record::N_FIELDS;

/// What a word in each field is worth beside one in the body.
pub(super) const FIELD_WEIGHTS: [f32; N_FIELDS] = [2.0, 1.5, 1.0, 0.6];

/// How many words a record has, the better fields counted more.
pub(super) fn length(lengths: &[u16; N_FIELDS]) -> f32 {
    lengths.iter().zip(FIELD_WEIGHTS).map(|(length, weight)| f32::from(*length) * weight).sum()
}
