//! The numbers of all records, for a ranking that has only candidates at hand: a shared store hands out a few hundred, and
//! how rare a word is must not be measured by them.

use std::collections::HashMap;

/// What is known of all records where only some are at hand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    pub n_records: usize,
    /// How many units they stand in.
    pub n_units: usize,
    /// How long a record is on average, the better fields counted more.
    pub mean_length: f32,
    /// In how many records a term stands; a term that is missing stands in none.
    pub holding: HashMap<String, usize>,
}
