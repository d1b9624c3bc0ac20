//! What PostgreSQL is asked: the filter that every question carries, and which words narrow it down.

use jiff::Timestamp;
use nacre_core::search::{Corpus, Query, QuestionTerm, Readable, facet_term};

use super::apply::projects_of;
use super::corpus::Stock;
use super::vectors::{any_of, lexeme};

/// Matches that are looked at for one question at most: each is a page of the table, wherever it lies.
pub(super) const MAX_MATCHES: usize = 1_200;

/// What a word of nearly the same meaning is worth.
const VARIANT_SHARE: f32 = 0.5;

/// Which records may be found at all.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    /// As a question for terms; `None` where nothing is asked for.
    pub(super) terms: Option<String>,
    pub(super) projects: Option<Vec<String>>,
    pub(super) after_ms: i64,
    pub(super) before_ms: i64,
    /// About which share of all records passes.
    pub(super) share: f32,
}

impl Filter {
    pub(super) fn new(query: &Query, readable: &Readable, stock: &Stock) -> Self {
        let projects = projects_of(readable);
        let mut groups: Vec<Vec<String>> = Vec::new();
        let mut names: Vec<&str> = query.facets.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let values = query.facets.iter().filter(|(of, _)| of == name);
            groups.push(values.map(|(name, value)| facet_term(name, value)).collect());
        }
        if let Some(projects) = &projects {
            groups.push(projects.iter().map(|name| facet_term("project", name)).collect());
        }
        let share = groups.iter().map(|group| share(group, stock)).product();
        let terms = groups.iter().map(|group| any_of(group.iter().map(String::as_str)));
        let terms: Vec<String> = terms.collect();
        Self {
            terms: (!terms.is_empty()).then(|| terms.join(" & ")),
            projects,
            after_ms: query.after.map_or(i64::MIN, Timestamp::as_millisecond),
            before_ms: query.before.map_or(i64::MAX, Timestamp::as_millisecond),
            share,
        }
    }

    /// Whether nothing can pass.
    pub(super) fn is_empty(&self) -> bool {
        self.projects.as_ref().is_some_and(Vec::is_empty)
    }
}

/// The share of all records that holds any of these terms.
fn share(terms: &[String], stock: &Stock) -> f32 {
    // One that is not frequent enough to be known stands in few.
    const UNKNOWN: f32 = 0.001;
    terms.iter().map(|term| stock.share(term).unwrap_or(UNKNOWN)).sum::<f32>().min(1.0)
}

/// A question by words.
#[derive(Clone, Debug)]
pub(super) struct WordsQuestion {
    /// What a record must hold to be looked at.
    pub(super) needed: String,
    /// Every word of the question, and what it is worth.
    pub(super) terms: Vec<String>,
    pub(super) worths: Vec<f32>,
}

impl WordsQuestion {
    /// `None` where the question has no words. Of many words the rarest must occur: the others would only cost time.
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
        let mut rarest: Vec<&str> = all.iter().map(|(term, _)| *term).collect();
        rarest.retain(|term| n_holding(term) > 0);
        rarest.sort_by_key(|term| n_holding(term));
        let needed = needed(&rarest, |term| n_holding(term) as f32 * filter.share)?;
        let needed = match &filter.terms {
            Some(filter) => format!("{needed} & {filter}"),
            None => needed,
        };
        Some(Self {
            needed,
            terms: all.iter().map(|(term, _)| lexeme(term)).collect(),
            worths: all.into_iter().map(|(_, worth)| worth).collect(),
        })
    }
}

/// What a record must hold: any of the rarest words, as many of them as there is time to look at.
fn needed(rarest: &[&str], expected: impl Fn(&str) -> f32) -> Option<String> {
    let (first, others) = rarest.split_first()?;
    let most = MAX_MATCHES as f32;
    if expected(first) > most && !others.is_empty() {
        // Even the rarest word is everywhere: two together.
        return Some(format!("({} & {})", lexeme(first), any_of(others.iter().copied())));
    }
    let mut sum = 0.0;
    let chosen = rarest.iter().take_while(|term| {
        sum += expected(term);
        sum <= most
    });
    let n_chosen = chosen.count().max(1);
    Some(any_of(rarest[..n_chosen].iter().copied()))
}

/// What a word is worth that stands in so many of the records: the rarer, the more.
fn rarity(n_records: usize, n_holding: usize) -> f32 {
    let (n_records, n_holding) = (n_records as f32, n_holding as f32);
    (1.0 + (n_records - n_holding + 0.5).max(0.0) / (n_holding + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_narrow_a_question_down() {
        let holding = |term: &str| match term {
            "rare" => 10.0,
            "usual" => 900.0,
            _ => 90_000.0,
        };
        let needed = |terms: &[&str]| needed(terms, holding);
        assert_eq!(needed(&["rare", "usual", "the"]).as_deref(), Some("('rare' | 'usual')"));
        assert_eq!(needed(&["of", "the"]).as_deref(), Some("('of' & ('the'))"));
        assert_eq!(needed(&["the"]).as_deref(), Some("('the')"));
        assert_eq!(needed(&[]), None);
    }
}
