//! Ranking where only candidates are at hand: another program chose them from more records than are read here.
//!
//! They are ranked as in an index of one machine. How rare a word is, and how long a record usually is, is taken from the whole corpus,
//! since the candidates are no fair sample of it.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::corpus::Corpus;
use super::embed::{EmbedError, Embedder};
use super::index::of_vectors;
use super::library::{LibraryOptions, RecordHit, search_snapshot};
use super::query::Query;
use super::rank::{self, question_terms};
use super::record::{Field, Record, Unit, Voice};
use super::segment::Analysed;
use super::thesaurus::Thesaurus;
use super::words;

/// A word of a question as records are indexed by it, and words that mean nearly the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionTerm {
    pub term: String,
    pub variants: Vec<String>,
}

/// What a record is indexed by.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedTerms {
    /// The terms of its texts, in their order, each with the field that it stands in.
    pub words: Vec<(String, Field)>,
    /// Its properties, as terms that no text has.
    pub facets: Vec<String>,
    /// How many words it has, the better fields counted more.
    pub length: f32,
}

/// Units of which some records are candidates, with the vectors of their records; an empty one where there is none.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    pub units: Vec<Unit>,
    pub vectors: Vec<Vec<Vec<f32>>>,
    pub corpus: Corpus,
}

/// The words of a question.
pub fn terms_of_question(query: &Query) -> Vec<QuestionTerm> {
    let terms = question_terms(&query.text, Thesaurus::shipped());
    let term = |(term, variants): (String, Vec<(String, f32)>)| QuestionTerm {
        term,
        variants: variants.into_iter().map(|(variant, _)| variant).collect(),
    };
    terms.into_iter().map(term).collect()
}

/// The terms of a record.
pub fn terms_of_record(record: &Record) -> IndexedTerms {
    let mut found = Vec::new();
    for field in Field::ALL {
        words::each_term(record.field(field), |term| found.push((term.to_owned(), field)));
    }
    let speaker = (!record.speaker.is_empty()).then_some(("speaker", &record.speaker));
    let facets = record.facets.iter().map(|(name, value)| (*name, value)).chain(speaker);
    IndexedTerms {
        words: found,
        facets: facets.map(|(name, value)| facet_term(name, value)).collect(),
        length: Analysed::new(record, &[]).length(),
    }
}

/// The term of a property.
pub fn facet_term(name: &str, value: &str) -> String {
    String::from_utf8_lossy(&words::facet(name, value)).into_owned()
}

/// The text that a record's vector is made of.
pub fn embedded_text(record: &Record) -> String {
    record.embedded_text()
}

/// The best of the candidates, best first; what the filters of the question leave out is not among them.
pub fn rank_candidates(
    candidates: Candidates,
    query: &Query,
    embedder: &dyn Embedder,
    options: LibraryOptions,
) -> Result<Vec<RecordHit>, EmbedError> {
    let Candidates { units, vectors, corpus } = candidates;
    let texts: HashMap<(&str, &str), &str> = units
        .iter()
        .flat_map(|unit| unit.records.iter().map(move |record| (unit, record)))
        .map(|(unit, record)| ((unit.key.as_str(), record.key.as_str()), record.body.as_str()))
        .collect();
    // Messages are compared with one another by all of their words, other records with the question alone.
    let has_voices =
        units.iter().flat_map(|unit| &unit.records).any(|record| record.voice != Voice::None);
    let terms = terms_of_question(query);
    let asked: HashSet<&str, RandomState> = terms
        .iter()
        .flat_map(|term| term.variants.iter().chain([&term.term]))
        .map(String::as_str)
        .collect();
    let is_wanted = |term: &str| has_voices || asked.contains(term);
    let snapshot = of_vectors(&units, &vectors, embedder, is_wanted).with_corpus(corpus);
    let allowed = rank::allowed(&snapshot, query, true);
    let text_of =
        |unit: &str, record: &str| texts.get(&(unit, record)).map(|text| (*text).to_owned());
    search_snapshot(&snapshot, embedder, query, &allowed, options, &text_of)
}
