//! Formats terms and vectors as PostgreSQL literals.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use nacre_memory::search::{Field, IndexedTerms};

/// The maximum position in a PostgreSQL `tsvector`.
const MAX_POSITION: usize = 16_383;

/// The maximum number of positions that PostgreSQL stores for one term.
const MAX_PLACES: usize = 255;

const MAX_TERM_BYTES: usize = 1000;

/// Formats a record's terms as a `tsvector`: each term with its positions and its field's weight.
/// Facet terms have no positions.
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

pub(super) fn lexeme(term: &str) -> String {
    let mut text = String::new();
    push_lexeme(&mut text, term);
    text
}

pub(super) fn any_of<'a>(terms: impl IntoIterator<Item = &'a str>) -> String {
    let terms: Vec<String> = terms.into_iter().map(lexeme).collect();
    format!("({})", terms.join(" | "))
}

/// Formats a vector for `pgvector`. Returns `None` for a zero vector, because it has no direction.
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
