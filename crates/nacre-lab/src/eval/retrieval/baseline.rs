//! The baseline: plain BM25 over single messages, with a higher weight for the user's words.
//!
//! It uses the same tokenizer as the product's ranking, but no windows, sessions, embeddings or
//! dates.

use std::collections::HashMap;

use nacre_memory::search::{Record, Voice, terms_of_record};

use super::DEPTH;
use crate::eval::datasets::Haystack;

const K1: f32 = 1.2;
const B: f32 = 0.75;

const USER: f32 = 1.6;

pub(super) struct Baseline<'h> {
    records: Vec<&'h Record>,
    lengths: Vec<f32>,
    mean: f32,
    found: HashMap<String, Vec<(usize, f32)>>,
}

impl<'h> Baseline<'h> {
    pub(super) fn new(haystack: &'h Haystack) -> Self {
        let records: Vec<&Record> = haystack.units.iter().flat_map(|unit| &unit.records).collect();
        let mut lengths = Vec::new();
        let mut found: HashMap<String, Vec<(usize, f32)>> = HashMap::new();
        for (idx, record) in records.iter().enumerate() {
            let terms = terms_of_record(record);
            lengths.push(terms.length);
            for (word, _) in terms.words {
                let found = found.entry(word).or_default();
                match found.last_mut() {
                    Some((last, count)) if *last == idx => *count += 1.0,
                    _ => found.push((idx, 1.0)),
                }
            }
        }
        let sum: f64 = lengths.iter().map(|length| f64::from(*length)).sum();
        let mean = ((sum / lengths.len().max(1) as f64) as f32).max(1.0);
        Self { records, lengths, mean, found }
    }

    pub(super) fn rank(&self, question: &str) -> Vec<&'h str> {
        let n_records = self.records.len();
        let mut scores = vec![0.0_f32; n_records];
        for word in words_of(question) {
            let found = self.found.get(&word).map_or(&[][..], Vec::as_slice);
            let n_found = found.len() as f32;
            let rarity = (1.0 + (n_records as f32 - n_found + 0.5).max(0.0) / (n_found + 0.5)).ln();
            for (idx, n) in found {
                let norm = 1.0 - B + B * self.lengths[*idx] / self.mean;
                scores[*idx] += rarity * n * (K1 + 1.0) / (n + K1 * norm);
            }
        }
        for (score, record) in scores.iter_mut().zip(&self.records) {
            if record.voice == Voice::User {
                *score *= USER;
            }
        }
        let mut best: Vec<usize> = (0..n_records).filter(|idx| scores[*idx] > 0.0).collect();
        best.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        best.truncate(DEPTH);
        best.into_iter().map(|idx| self.records[idx].key.as_str()).collect()
    }
}

fn words_of(question: &str) -> Vec<String> {
    let record = Record { body: question.to_owned(), ..Record::default() };
    let mut words: Vec<String> = Vec::new();
    for (word, _) in terms_of_record(&record).words {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}
