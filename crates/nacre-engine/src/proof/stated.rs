//! Checks that one clause of the sources makes each clause of a statement.
//!
//! A false statement often has only words of its source, but in other roles: "times are stored in
//! the depot's zone", where they are stored in UTC and shown in the depot's zone. Words alone do
//! not show this, so a clause is compared with single clauses of the source.

use std::collections::BTreeSet;

use super::words::{ABOUT_CODE, BE, ProofWord, WordKind, denials, words};
use super::{Sentences, code_spans, parts};

/// Maximum number of clauses of the sources to compare.
const MAX_CLAUSES: usize = 4_000;

/// Number of content words at the start of a text that name its subject. Later clauses refer to
/// the subject with a pronoun or leave it out.
const N_SUBJECT: usize = 2;

/// Pairs of words that reverse a clause if one replaces the other.
const OPPOSITES: &[(&str, &str)] = &[
    ("before", "after"),
    ("until", "since"),
    ("more", "less"),
    ("more", "fewer"),
    ("most", "least"),
    ("above", "below"),
    ("all", "some"),
    ("first", "last"),
];

/// Words between two nouns that can change places, as in "the zone of the depot" and "the depot's
/// zone".
const LINKS: &[&str] = &["of", "to", "for", "with", "on", "in", "at", "by"];

/// A clause of a source, and what its sentence and its memory add to it.
struct SourceClause {
    words: Vec<ProofWord>,
    /// The words that name the memory's subject.
    subject: Vec<String>,
    sentence: Vec<ProofWord>,
    /// The groups of words that the sentence denies.
    denied: Vec<Vec<String>>,
}

/// Returns whether the sources make each clause of a statement. The first line of a source is its
/// title.
pub fn is_stated(statement: &str, sources: &[&str]) -> bool {
    let mut known: Vec<SourceClause> = sources.iter().flat_map(|one| clauses_of(one)).collect();
    known.truncate(MAX_CLAUSES);
    let code: BTreeSet<String> =
        code_spans(statement).into_iter().flat_map(words).map(|word| word.key).collect();
    let clauses = Sentences::of(statement).into_iter().flat_map(|sentence| parts(&sentence.text));
    clauses.into_iter().all(|clause| {
        // The most similar clause decides, because a longer one can deny what it makes.
        let covering = || known.iter().filter(|known| known.covers(&clause, &code));
        let least = covering().map(|known| known.difference(&clause)).min();
        covering()
            .filter(|known| Some(known.difference(&clause)) == least)
            .any(|known| known.agrees(&clause))
    })
}

fn clauses_of(source: &str) -> Vec<SourceClause> {
    let title = parts(source.lines().next().unwrap_or_default()).into_iter().next();
    let subject = title.iter().flatten().take_while(|word| !BE.contains(&word.text.as_str()));
    let subject = subject.filter(|word| word.is_content()).take(N_SUBJECT);
    let subject: Vec<String> = subject.map(|word| word.key.clone()).collect();
    let mut found = Vec::new();
    for sentence in Sentences::of(source) {
        let clauses = parts(&sentence.text);
        let (sentence, denied) = (clauses.concat(), clauses.iter().flat_map(|one| denials(one)));
        let denied: Vec<Vec<String>> = denied.collect();
        found.extend(clauses.into_iter().map(|words| SourceClause {
            words,
            subject: subject.clone(),
            sentence: sentence.clone(),
            denied: denied.clone(),
        }));
    }
    found
}

impl SourceClause {
    /// Returns the number of words that only one of the clauses has.
    fn difference(&self, clause: &[ProofWord]) -> usize {
        let alone = |one: &[ProofWord], other: &[ProofWord]| {
            telling(one).iter().filter(|word| place(other, word).is_none()).count()
        };
        alone(&self.words, clause) + alone(clause, &self.words)
    }

    /// Returns whether the clause contains the other clause's words, except for some that name its
    /// subject or occur in the same sentence. `code` are words of commands, which must not be
    /// missing.
    fn covers(&self, clause: &[ProofWord], code: &BTreeSet<String>) -> bool {
        let told = telling(clause);
        let is_subject = |word: &ProofWord| self.subject.contains(&word.key);
        let (mut n_missing, mut n_near) = (0, 0);
        for word in &told {
            if place(&self.words, word).is_some() || ABOUT_CODE.contains(word.text.as_str()) {
                continue;
            }
            n_missing += 1;
            if !is_subject(word) {
                n_near += 1;
                let is_near = word.is_content() && place(&self.sentence, word).is_some();
                if !is_near || code.contains(&word.key) {
                    return false;
                }
            }
        }
        // A clause that begins with another subject has its own.
        let begins = told.first().is_none_or(|first| {
            let own = telling(&self.words);
            let is_left_out = own.first().is_none_or(|own| place(clause, own).is_some());
            place(&self.words, first).is_some() || (is_subject(first) && is_left_out)
        });
        begins && n_missing * 5 <= told.len() * 2 && n_near * 4 <= told.len()
    }

    fn agrees(&self, clause: &[ProofWord]) -> bool {
        self.denies_alike(clause) && !self.is_reversed(clause) && !self.is_opposite(clause)
    }

    /// Returns whether neither clause denies what the other one says.
    fn denies_alike(&self, clause: &[ProofWord]) -> bool {
        let denied = denials(clause);
        let is_number = |key: &&String| key.starts_with(|c: char| c.is_ascii_digit());
        let is_denied_once = |denying: &[Vec<String>],
                              saying: &[ProofWord],
                              denied: &[Vec<String>]| {
            denying.iter().any(|group| {
                let main = group.iter().find(is_number).or(group.first());
                let is_said = |key: &String| saying.iter().any(|word| word.key == *key);
                group.iter().all(is_said) && !denied.iter().flatten().any(|key| Some(key) == main)
            })
        };
        !is_denied_once(&self.denied, clause, &denied)
            && !is_denied_once(&denied, &self.sentence, &self.denied)
    }

    /// Returns whether numbers, or two words that are next to each other in both clauses, have
    /// changed places.
    fn is_reversed(&self, clause: &[ProofWord]) -> bool {
        let told = telling(clause);
        let numbers = told.iter().filter(|word| word.kind == WordKind::Number);
        let is_swapped = |pair: &[&ProofWord]| {
            let (Some(one), Some(other)) =
                (place(&self.words, pair[0]), place(&self.words, pair[1]))
            else {
                return false;
            };
            other < one
                && are_adjacent(&self.words[other + 1..one])
                && between(clause, pair).is_none_or(are_adjacent)
        };
        !numbers.filter_map(|word| place(&self.words, word)).is_sorted()
            || told.windows(2).any(is_swapped)
    }

    fn is_opposite(&self, clause: &[ProofWord]) -> bool {
        let has = |words: &[ProofWord], text: &str| words.iter().any(|word| word.text == text);
        let turns = |own: &str, other: &str| {
            has(&self.words, own)
                && !has(&self.words, other)
                && has(clause, other)
                && !has(clause, own)
        };
        OPPOSITES.iter().any(|(one, other)| turns(one, other) || turns(other, one))
    }
}

fn place(words: &[ProofWord], word: &ProofWord) -> Option<usize> {
    words.iter().position(|own| own.key == word.key)
}

fn between<'w>(words: &'w [ProofWord], pair: &[&ProofWord]) -> Option<&'w [ProofWord]> {
    words.get(place(words, pair[0])? + 1..place(words, pair[1])?)
}

/// Returns whether the words between two others leave their order significant.
fn are_adjacent(between: &[ProofWord]) -> bool {
    let is_link =
        |word: &ProofWord| LINKS.contains(&word.text.as_str()) || BE.contains(&word.text.as_str());
    telling(between).is_empty() && !between.iter().any(is_link)
}

fn telling(words: &[ProofWord]) -> Vec<&ProofWord> {
    let tells = |word: &&ProofWord| matches!(word.kind, WordKind::Content | WordKind::Number);
    words.iter().filter(tells).collect()
}
