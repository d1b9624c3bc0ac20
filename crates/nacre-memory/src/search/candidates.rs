//! Ranks candidates from a shared database in memory.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use nacre_base::text::each_term;

use super::draft::{AnalyzedRecord, Draft};
use super::query::Query;
use super::rank::{self, terms_of_question};
use super::record::{Field, Record, Unit, Voice, facet_term, weigh_length};
use super::records::{LibraryOptions, RecordHit, search_snapshot};
use super::snapshot::{Corpus, Snapshot};

#[derive(Clone, Debug, PartialEq)]
pub struct IndexedTerms {
    pub words: Vec<(String, Field)>,
    /// Facets, encoded as terms that cannot occur in ordinary text.
    pub facets: Vec<String>,
    pub length: f32,
}

/// Candidate units, with one vector per record. The vector is empty for a record that has none.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    pub units: Vec<Unit>,
    pub vectors: Vec<Vec<Vec<f32>>>,
    pub corpus: Corpus,
}

pub fn terms_of_record(record: &Record) -> IndexedTerms {
    let mut words = Vec::new();
    for field in Field::ALL {
        each_term(record.field(field), |term| words.push((term.to_owned(), field)));
    }
    let facets = record.all_facets().map(|(name, value)| facet_term(name, value));
    let length = weigh_length(&AnalyzedRecord::new(record, &[], |_| false).row.lengths);
    IndexedTerms { words, facets: facets.collect(), length }
}

/// Ranks candidates in the same way as the local index, best first, and removes those excluded by
/// the filters. Term rarity and mean length come from the complete corpus, because the candidates
/// are not a representative sample.
pub fn rank_candidates(
    candidates: Candidates,
    query: &Query,
    options: LibraryOptions,
) -> Vec<RecordHit> {
    let Candidates { units, vectors, corpus } = candidates;
    let texts: HashMap<(&str, &str), &str> = units
        .iter()
        .flat_map(|unit| unit.records.iter().map(move |record| (unit, record)))
        .map(|(unit, record)| ((unit.key.as_str(), record.key.as_str()), record.body.as_str()))
        .collect();
    // Messages are also compared with each other, so all of their words are needed. For other
    // records, the query's words are enough.
    let has_voices =
        units.iter().flat_map(|unit| &unit.records).any(|record| record.voice != Voice::None);
    let terms = terms_of_question(query);
    let asked: HashSet<&str, RandomState> = terms
        .iter()
        .flat_map(|term| term.variants.iter().chain([&term.term]))
        .map(String::as_str)
        .collect();
    let is_wanted = |term: &str| has_voices || asked.contains(term);
    let mut draft = Draft::of_shipped_model(0);
    for (idx, unit) in units.iter().enumerate() {
        let vector = |at: usize| vectors.get(idx).and_then(|vectors| vectors.get(at));
        let analyze = |(at, record)| {
            AnalyzedRecord::new(record, vector(at).map_or(&[], Vec::as_slice), is_wanted)
        };
        draft.push_unit(unit, unit.records.iter().enumerate().map(analyze).collect());
    }
    let snapshot = Snapshot::new(draft.finish()).with_corpus(corpus);
    let allowed = rank::filter_rows(&snapshot, query, true);
    let text_of =
        |unit: &str, record: &str| texts.get(&(unit, record)).map(|text| (*text).to_owned());
    search_snapshot(&snapshot, query, &allowed, options, &text_of)
}
