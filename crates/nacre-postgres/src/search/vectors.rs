//! Terms and vectors as PostgreSQL reads them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use nacre_core::search::{Field, IndexedTerms};

/// PostgreSQL counts no further.
const MAX_POSITION: usize = 16_383;

/// More places of one term are not kept.
const MAX_PLACES: usize = 255;

/// A longer term is not one.
const MAX_TERM_BYTES: usize = 1000;

/// The terms of a record as a `tsvector`: each with its places and the weight of their field, properties without.
pub(super) fn tsvector(terms: &IndexedTerms) -> String {
    let mut places: BTreeMap<&str, Vec<(usize, char)>> = BTreeMap::new();
    for (at, (term, field)) in terms.words.iter().enumerate() {
        let places = places.entry(term).or_default();
        if places.len() < MAX_PLACES {
            places.push(((at + 1).min(MAX_POSITION), weight(*field)));
        }
    }
    let mut text = String::new();
    for (term, places) in places.iter().filter(|(term, _)| term.len() <= MAX_TERM_BYTES) {
        push_lexeme(&mut text, term);
        for (nth, (at, weight)) in places.iter().enumerate() {
            let sign = if nth == 0 { ':' } else { ',' };
            let _ = write!(text, "{sign}{at}{weight}");
        }
        text.push(' ');
    }
    for facet in terms.facets.iter().filter(|facet| facet.len() <= MAX_TERM_BYTES) {
        push_lexeme(&mut text, facet);
        text.push(' ');
    }
    text
}

fn weight(field: Field) -> char {
    match field {
        Field::Title => 'A',
        Field::Tags => 'B',
        Field::Body => 'C',
        Field::Quotes => 'D',
    }
}

/// A term in the quotes of PostgreSQL's text search.
fn push_lexeme(text: &mut String, term: &str) {
    text.push('\'');
    for character in term.chars() {
        match character {
            '\'' => text.push_str("''"),
            '\\' => text.push_str("\\\\"),
            '\0' => text.push('\u{fffd}'),
            other => text.push(other),
        }
    }
    text.push('\'');
}

/// A question for one term.
pub(super) fn lexeme(term: &str) -> String {
    let mut text = String::new();
    push_lexeme(&mut text, term);
    text
}

/// A question that any of these terms answers.
pub(super) fn any_of<'a>(terms: impl IntoIterator<Item = &'a str>) -> String {
    let terms: Vec<String> = terms.into_iter().map(lexeme).collect();
    format!("({})", terms.join(" | "))
}

/// A vector as `pgvector` reads it; `None` for one that is zero, which is near to nothing.
pub(super) fn vector(numbers: &[f32]) -> Option<String> {
    if numbers.iter().all(|number| *number == 0.0) {
        return None;
    }
    let mut text = String::from("[");
    for (nth, number) in numbers.iter().enumerate() {
        let comma = if nth == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{number}");
    }
    text.push(']');
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_carry_their_places_and_fields() {
        let words = [("queue", Field::Title), ("it's", Field::Body), ("queue", Field::Quotes)];
        let terms = IndexedTerms {
            words: words.into_iter().map(|(term, field)| (term.to_owned(), field)).collect(),
            facets: vec!["\u{1}project=a\\b".to_owned()],
            length: 3.0,
        };
        assert_eq!(tsvector(&terms), "'it''s':2C 'queue':1A,3D '\u{1}project=a\\\\b' ");
        assert_eq!(any_of(["a", "b'"]), "('a' | 'b''')");
    }

    #[test]
    fn a_vector_of_zeros_is_none() {
        assert_eq!(vector(&[0.5, -1.0]).as_deref(), Some("[0.5,-1]"));
        assert_eq!(vector(&[0.0, 0.0]), None);
    }
}
