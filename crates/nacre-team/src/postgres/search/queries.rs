//! Builds PostgreSQL queries: the access filter, and the terms that matching records must contain.

use jiff::Timestamp;
use nacre_memory::search::{Corpus, Query, QuestionTerm, facet_term};

use super::corpus::Stock;
use super::terms::{any_of, lexeme};

/// Maximum number of matches that a query reads. Reading a match costs one page read.
pub(super) const MAX_MATCHES: usize = 600;

/// Maximum number of index entries that a query reads. If the caller may read only a few projects,
/// most of these entries are then discarded.
const MAX_PLACES: f32 = 10_000.0;

/// A term that occurs in a larger fraction of records is not looked up in the index, because
/// PostgreSQL would first list all of its entries.
const FREQUENT: f32 = 0.04;

/// Very common terms are searched for in this many of the newest records.
pub(super) const N_NEWEST: usize = 5_000;

/// Reading this many project index entries costs as much as reading one record.
const PLACES_A_RECORD: f32 = 16.0;

/// A facet filter counts as selective only if it accepts less than this fraction of all records.
const COMMON: f32 = 0.5;

/// If the caller may read less than this fraction of all records, searching one project at a time
/// is faster.
const FEW: f32 = 0.3;

/// Weight of a term's variants, relative to the term itself.
const VARIANT_SHARE: f32 = 0.5;

#[derive(Clone, Debug)]
pub(super) struct Filter {
    pub(super) terms: Option<String>,
    /// Database IDs of the audiences (sets of projects) that may be read; `None` means all.
    pub(super) audiences: Option<Vec<i32>>,
    pub(super) after_ms: i64,
    pub(super) before_ms: i64,
    /// Estimated fraction of all records that match the facets, and the fraction that the caller
    /// may read.
    share_of_terms: f32,
    share_of_audiences: f32,
}

impl Filter {
    /// Creates a filter. `projects` and `audiences` describe the same access rights, by name and by
    /// ID.
    pub(super) fn new(
        query: &Query,
        projects: Option<&[String]>,
        audiences: Option<Vec<i32>>,
        stock: &Stock,
    ) -> Self {
        let mut groups: Vec<Vec<String>> = Vec::new();
        let mut names: Vec<&str> = query.facets.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let values = query.facets.iter().filter(|(of, _)| of == name);
            groups.push(values.map(|(name, value)| facet_term(name, value)).collect());
        }
        let share_of_projects = |projects: &[String]| {
            let terms: Vec<String> =
                projects.iter().map(|name| facet_term("project", name)).collect();
            share_of_any(&terms, stock)
        };
        // Every group requires at least one of its terms.
        let terms: Vec<String> =
            groups.iter().map(|group| any_of(group.iter().map(String::as_str))).collect();
        Self {
            terms: (!terms.is_empty()).then(|| terms.join(" & ")),
            audiences,
            after_ms: query.after.map_or(i64::MIN, Timestamp::as_millisecond),
            before_ms: query.before.map_or(i64::MAX, Timestamp::as_millisecond),
            share_of_terms: groups.iter().map(|group| share_of_any(group, stock)).product(),
            share_of_audiences: projects.map_or(1.0, share_of_projects),
        }
    }

    pub(super) fn share(&self) -> f32 {
        self.share_of_terms * self.share_of_audiences
    }

    pub(super) fn is_empty(&self) -> bool {
        self.audiences.as_ref().is_some_and(Vec::is_empty)
    }
}

/// Returns the estimated fraction of records that contain at least one of the terms, or 1.0 if
/// there are no statistics.
fn share_of_any(terms: &[String], stock: &Stock) -> f32 {
    if stock.frequent.is_empty() {
        return 1.0;
    }
    // The fraction assumed for terms that are too rare to be in the statistics.
    const UNKNOWN: f32 = 0.001;
    terms.iter().map(|term| stock.share(term).unwrap_or(UNKNOWN)).sum::<f32>().min(1.0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// Searches the term index, then filters by access rights.
    Index,
    /// Combines the term index and the project index, because few records match both.
    BothIndexes,
    Newest,
    NewestOfEach,
}

#[derive(Clone, Debug)]
pub(super) struct WordsQuestion {
    pub(super) needed: String,
    pub(super) places: Places,
    pub(super) terms: Vec<String>,
    pub(super) worths: Vec<f32>,
}

impl WordsQuestion {
    /// Returns `None` if no record contains any of the terms. Only the rarest terms are required,
    /// because looking up common terms is slow and adds few good matches.
    pub(super) fn new(terms: &[QuestionTerm], corpus: &Corpus, filter: &Filter) -> Option<Self> {
        let n_holding = |term: &str| corpus.holding.get(term).copied().unwrap_or(0);
        let mut all: Vec<(&str, f32)> = Vec::new();
        for QuestionTerm { term, variants } in terms {
            let worth = rarity(corpus.n_records, n_holding(term));
            all.push((term, worth));
            all.extend(variants.iter().map(|variant| {
                let own = rarity(corpus.n_records, n_holding(variant)).min(worth);
                (variant.as_str(), VARIANT_SHARE * own)
            }));
        }
        let mut rarest: Vec<(&str, f32)> =
            all.iter().map(|(term, _)| (*term, n_holding(term) as f32)).collect();
        rarest.retain(|(_, n_holding)| *n_holding > 0.0);
        rarest.sort_by(|(_, one), (_, other)| one.total_cmp(other));
        let places = places(&rarest, corpus.n_records as f32, filter);
        let needed = match places {
            Places::Index | Places::BothIndexes => require_rarest(&rarest, filter.share())?,
            Places::Newest | Places::NewestOfEach => {
                require_rarest_of_newest(&rarest, corpus.n_records as f32)?
            }
        };
        let needed = match &filter.terms {
            Some(filter) => format!("{needed} & {filter}"),
            None => needed,
        };
        Some(Self {
            needed,
            places,
            terms: all.iter().map(|(term, _)| lexeme(term)).collect(),
            worths: all.into_iter().map(|(_, worth)| worth).collect(),
        })
    }
}

/// Decides where to search. Very common terms are searched for only in the newest records, because
/// an index scan would list all of their entries.
fn places(rarest: &[(&str, f32)], n_records: f32, filter: &Filter) -> Places {
    let n_holding = rarest.first().map_or(0.0, |(_, n_holding)| *n_holding);
    let is_frequent = n_holding > (FREQUENT * n_records).max(MAX_PLACES);
    // With a selective facet filter, the index is fast even for common terms.
    if is_frequent && filter.share_of_terms > COMMON {
        let is_each = filter.audiences.is_some() && filter.share_of_audiences < FEW;
        return if is_each { Places::NewestOfEach } else { Places::Newest };
    }
    let n_of_audiences = filter.share_of_audiences * n_records;
    let is_less = n_of_audiences < PLACES_A_RECORD * n_holding.min(MAX_PLACES);
    if filter.share_of_audiences < FEW && is_less { Places::BothIndexes } else { Places::Index }
}

/// Returns a `tsquery` with as many of the rarest terms as the read limits allow.
fn require_rarest(rarest: &[(&str, f32)], share: f32) -> Option<String> {
    let cost = |(_, n_holding): &(&str, f32)| {
        (n_holding * share / MAX_MATCHES as f32).max(n_holding / MAX_PLACES)
    };
    let (first, others) = rarest.split_first()?;
    if cost(first) > 1.0 && !others.is_empty() {
        // Even the rarest term is common, so require a second term too.
        return Some(both(rarest));
    }
    let mut sum = 0.0;
    let chosen = rarest.iter().take_while(|term| {
        sum += cost(term);
        sum <= 1.0
    });
    let n_chosen = chosen.count().max(1);
    Some(any_of(rarest[..n_chosen].iter().map(|(term, _)| *term)))
}

/// Like `require_rarest`, but for very common terms. Requires two terms if enough of the newest
/// records contain both.
fn require_rarest_of_newest(rarest: &[(&str, f32)], n_records: f32) -> Option<String> {
    let (first, others) = rarest.split_first()?;
    let share = |(_, n_holding): &(&str, f32)| n_holding / n_records;
    let share_of_others = others.iter().map(share).sum::<f32>().min(1.0);
    if share(first) * share_of_others * N_NEWEST as f32 > MAX_MATCHES as f32 {
        return Some(both(rarest));
    }
    Some(any_of([first.0]))
}

fn both(rarest: &[(&str, f32)]) -> String {
    let [(first, _), others @ ..] = rarest else { return String::new() };
    format!("({} & {})", lexeme(first), any_of(others.iter().map(|(term, _)| *term)))
}

/// Computes the inverse document frequency as in BM25.
fn rarity(n_records: usize, n_holding: usize) -> f32 {
    let (n_records, n_holding) = (n_records as f32, n_holding as f32);
    (1.0 + (n_records - n_holding + 0.5).max(0.0) / (n_holding + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_narrow_a_question_down() {
        let n_holding = |term: &str| match term {
            "rare" => 10.0,
            "usual" => 400.0,
            _ => 90_000.0,
        };
        let needed = |terms: &[&str]| {
            let rarest: Vec<(&str, f32)> =
                terms.iter().map(|term| (*term, n_holding(term))).collect();
            require_rarest(&rarest, 1.0)
        };
        assert_eq!(needed(&["rare", "usual", "the"]).as_deref(), Some("('rare' | 'usual')"));
        assert_eq!(needed(&["of", "the"]).as_deref(), Some("('of' & ('the'))"));
        assert_eq!(needed(&["the"]).as_deref(), Some("('the')"));
        assert_eq!(needed(&[]), None);
    }

    #[test]
    fn of_words_that_are_everywhere_two_must_occur_where_enough_records_hold_both() {
        let needed = |terms: &[(&str, f32)]| require_rarest_of_newest(terms, 1000.0);
        assert_eq!(needed(&[("of", 300.0), ("the", 600.0)]).as_deref(), Some("('of' & ('the'))"));
        assert_eq!(needed(&[("of", 50.0), ("the", 60.0)]).as_deref(), Some("('of')"));
        assert_eq!(needed(&[]), None);
    }

    #[test]
    fn where_nobody_took_stock_everything_may_pass() {
        assert_eq!(share_of_any(&["a".to_owned()], &Stock::default()), 1.0);
    }

    #[test]
    fn words_that_are_everywhere_are_looked_for_among_the_newest() {
        let filter = |share_of_terms: f32, share_of_audiences: f32| Filter {
            terms: None,
            audiences: (share_of_audiences < 1.0).then(Vec::new),
            after_ms: i64::MIN,
            before_ms: i64::MAX,
            share_of_terms,
            share_of_audiences,
        };
        let places =
            |n_holding: f32, filter: &Filter| places(&[("word", n_holding)], 1_000_000.0, filter);
        assert_eq!(places(9_000.0, &filter(1.0, 1.0)), Places::Index);
        assert_eq!(places(9_000.0, &filter(1.0, 0.1)), Places::BothIndexes);
        assert_eq!(places(900.0, &filter(1.0, 0.1)), Places::Index);
        assert_eq!(places(90_000.0, &filter(1.0, 1.0)), Places::Newest);
        assert_eq!(places(90_000.0, &filter(1.0, 0.5)), Places::Newest);
        assert_eq!(places(90_000.0, &filter(1.0, 0.1)), Places::NewestOfEach);
        assert_eq!(places(90_000.0, &filter(0.01, 0.9)), Places::Index);
    }
}
