//! A question with alternatives and the person's answer: topic, what was chosen, and what was not.
//!
//! The one thing that rules understand well, because whoever asked has done the understanding. Answers are compared by
//! their questions, so that the last one counts.

use std::collections::BTreeSet;

use super::cues::{Cue, Cues, fold};
use super::reading::content_words;
use super::words::{MAX_TITLE, capitalised, shortened, uncut};

/// The longest topic and name of an option in a title.
const MAX_TOPIC: usize = 56;
const MAX_NAME: usize = 44;
/// The longest text of an option that is told in a body.
const MAX_TOLD: usize = 240;
/// The share of words from which on two questions are the same.
const SAME_QUESTION: f64 = 0.6;

/// An alternative, as it was offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alternative {
    /// A few words.
    pub(super) name: String,
    /// What it means, where that was said.
    pub(super) meaning: Option<String>,
}

/// A choice that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// What was asked.
    pub(super) question: String,
    /// A heading of the question, where there is one.
    pub(super) header: Option<String>,
    pub(super) chosen: Alternative,
    pub(super) others: Vec<Alternative>,
    /// The person answered in words of their own.
    pub(super) is_free: bool,
    /// It was asked through a tool for questions, not in a text that may be a mere thought.
    pub(super) is_asked: bool,
}

impl Choice {
    /// "topic: chosen, not other".
    pub(super) fn title(&self) -> String {
        let topic = uncut(self.topic(), MAX_TOPIC);
        let chosen = uncut(&self.chosen.name, MAX_NAME);
        let title = format!("{}: {chosen}", capitalised(&topic));
        let others: Vec<String> =
            self.others.iter().map(|other| uncut(&other.name, MAX_NAME)).collect();
        let with_others = match others.as_slice() {
            [] => title.clone(),
            [other] => format!("{title}, not {other}"),
            [first, ..] => format!("{title}, not {first} or others"),
        };
        let is_short = with_others.chars().count() <= MAX_TITLE;
        if is_short { with_others } else { uncut(&title, MAX_TITLE) }
    }

    pub(super) fn body(&self, said: &str) -> String {
        let told = |of: &Alternative| match &of.meaning {
            Some(meaning) => format!("{} ({})", of.name, shortened(meaning, MAX_TOLD)),
            None => of.name.clone(),
        };
        let mut body = format!(
            "Asked \"{}\", the person chose {}.",
            shortened(&self.question, MAX_TOLD),
            told(&self.chosen)
        );
        if !self.others.is_empty() {
            let others: Vec<String> = self.others.iter().map(told).collect();
            body += &format!("\n\nNot taken: {}.", others.join("; "));
        }
        if said.split_whitespace().count() > 3 && fold(said) != fold(&self.chosen.name) {
            body += &format!("\n\nThe person's words: \"{}\"", shortened(said, MAX_TOLD));
        }
        body.replace("..", ".")
    }

    /// Words of the offer that an evidence may quote, the most telling first.
    pub(super) fn offered_words(&self) -> impl Iterator<Item = &str> {
        let meaning = self.chosen.meaning.as_deref();
        [meaning, Some(self.question.as_str()), Some(self.chosen.name.as_str())]
            .into_iter()
            .flatten()
            .filter(|words| words.split_whitespace().count() > 1)
    }

    /// Whether it says enough to stand alone, and is about more than the next step. Letters in answer to a list are often
    /// thoughts on the way to something else: those wait for a person.
    pub(super) fn is_sure(&self) -> bool {
        let header = self.header.as_deref().unwrap_or_default();
        self.is_asked
            && !self.is_free
            && !self.others.is_empty()
            && !is_sequencing(&self.question)
            && !is_of_the_moment(header)
            && self.names_a_thing()
    }

    /// "Yes" to "shall I?" names nothing.
    fn names_a_thing(&self) -> bool {
        let name = fold(&self.chosen.name);
        content_words(&name).next().is_some()
            && !matches!(name.trim(), "yes" | "no" | "ok" | "both" | "all")
    }

    /// What the choice is about. A heading of one word, such as "Format", does not tell of what; the question does.
    fn topic(&self) -> &str {
        let question = self.question.trim().trim_end_matches(['?', '？', ':', ' ']);
        let question = first_clause(without_lead(question));
        let header = self.header.as_deref().map(str::trim).filter(|header| !header.is_empty());
        let is_short = question.chars().count() <= MAX_TOPIC;
        match header {
            Some(header) if !is_short || header.contains(' ') => header,
            Some(_) | None => question,
        }
    }

    /// Whether both answer one question.
    pub(super) fn asks_the_same(&self, other: &Self) -> bool {
        let (own, others) = (self.subject(), other.subject());
        let n_shared = own.intersection(&others).count();
        let n_all = own.len() + others.len() - n_shared;
        let options = self.options().intersection(&other.options()).count();
        let is_alike = share(n_shared, n_all) >= SAME_QUESTION;
        // Two questions of the same words over other things, such as "Which one?", are two questions.
        is_alike && (options > 0 || own.len() > 3)
    }

    fn subject(&self) -> BTreeSet<String> {
        let folded =
            fold(&format!("{} {}", self.header.as_deref().unwrap_or_default(), self.question));
        content_words(&folded).map(str::to_owned).collect()
    }

    fn options(&self) -> BTreeSet<String> {
        self.others.iter().chain([&self.chosen]).map(|option| fold(&option.name)).collect()
    }

    /// The choice as a later message turns it: to the option that the message names.
    pub(super) fn reconsidered(&self, message: &str) -> Option<Self> {
        let folded = fold(message);
        let cues = Cues::of(&folded);
        if !cues.has(Cue::Revoke) && !cues.has(Cue::Switch) {
            return None;
        }
        let at = |option: &Alternative| mention(&folded, &option.name);
        let (number, _) = self
            .others
            .iter()
            .enumerate()
            .find(|(_, other)| at(other).is_some_and(|at| !is_denied(&folded, at)))?;
        let mut others = self.others.clone();
        let chosen = std::mem::replace(&mut others[number], self.chosen.clone());
        Some(Self { chosen, others, is_free: false, ..self.clone() })
    }
}

/// Where a message names an option: all its words, close together.
fn mention(folded: &str, name: &str) -> Option<usize> {
    let name = fold(name);
    let words: Vec<&str> = content_words(&name).take(4).collect();
    let first = words.first()?;
    let places: Option<Vec<usize>> = words.iter().map(|word| folded.find(word)).collect();
    places.map(|_| folded.find(first).unwrap_or(0))
}

/// Whether the words before say "not this".
fn is_denied(folded: &str, at: usize) -> bool {
    let before = folded[..at].trim_end();
    ["not", "no", "instead of", "rather than", "drop", "without"]
        .iter()
        .any(|word| before.ends_with(word))
}

/// "Who reads it" of "Who reads it, and where should it live".
fn first_clause(question: &str) -> &str {
    match question.split_once(", and ") {
        Some((clause, _)) if clause.split_whitespace().count() > 2 => clause,
        _ => question,
    }
}

/// A question without what only leads to it.
fn without_lead(question: &str) -> &str {
    const LEADS: &[&str] = &["next question: ", "one more question: ", "last question: "];
    let question = without_number(question);
    let folded = fold(question);
    let lead = LEADS.iter().find(|lead| folded.starts_with(**lead));
    lead.and_then(|lead| question.get(lead.len()..)).unwrap_or(question)
}

/// A question without "Question 2 of 4:".
fn without_number(question: &str) -> &str {
    let is_number = |head: &str| {
        let head = fold(head);
        (head.starts_with("question") || head.starts_with('q'))
            && head.contains(|c: char| c.is_ascii_digit())
    };
    match question.split_once(':') {
        Some((head, rest)) if head.len() < 24 && is_number(head) => rest.trim_start(),
        _ => question,
    }
}

/// Whether a heading says that it is about this work only.
fn is_of_the_moment(header: &str) -> bool {
    const HEADERS: &[&str] = &[
        "timing",
        "scope",
        "push",
        "next",
        "commit",
        "pr",
        "plan",
        "execution",
        "order",
        "when",
        "reply",
        "action",
        "proceed",
        "merge",
        "cleanup",
        "tests",
        "mode",
    ];
    let folded = fold(header);
    folded.split(|c: char| !c.is_alphanumeric()).any(|word| HEADERS.contains(&word))
}

/// Whether a question is about what to do next, and settles nothing beyond it.
pub(super) fn is_sequencing(question: &str) -> bool {
    const MARKS: &[&str] = &[
        "proceed",
        "continue",
        "go ahead",
        "go on",
        "next step",
        "do next",
        "work on next",
        "tackle",
        "look good",
        "looks good",
        "look right",
        "ready to",
        "ready for",
        "approve",
        "start with",
        "start now",
        "first?",
        "commit",
        "push",
        "open a pr",
        "create a pr",
        "merge",
        "run it",
        "right now",
        "this session",
        "this time",
        "what would you like",
        "what do you want to do",
        "how autonomous",
        "which issue",
        "which task",
        "which file",
        "which claims",
        "which phase",
        "which skill",
        "review",
        "resume",
        "retry",
        "paste",
        "confirm",
        "wait",
    ];
    let folded = fold(question);
    MARKS.iter().any(|mark| folded.contains(mark))
}

fn share(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
    let share = part as f64 / whole.max(1) as f64;
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(name: &str) -> Alternative {
        Alternative { name: name.to_owned(), meaning: None }
    }

    fn choice(question: &str, chosen: &str, other: &str) -> Choice {
        Choice {
            question: question.to_owned(),
            header: None,
            chosen: option(chosen),
            others: vec![option(other)],
            is_free: false,
            is_asked: true,
        }
    }

    #[test]
    fn a_title_names_topic_choice_and_what_was_not_chosen() {
        let made = choice("Which database should the queue use?", "SQLite", "Redis");
        assert_eq!(made.title(), "Which database should the queue use: SQLite, not Redis");
        let short = Choice { header: Some("Store".to_owned()), ..made.clone() };
        assert_eq!(short.title(), made.title(), "one word does not tell of what");
        let headed = Choice { header: Some("Queue store".to_owned()), ..made };
        assert_eq!(headed.title(), "Queue store: SQLite, not Redis");
        assert!(headed.is_sure());
        assert!(!Choice { is_asked: false, ..headed.clone() }.is_sure(), "a letter after a list");
        assert!(!Choice { header: Some("Timing".to_owned()), ..headed }.is_sure());
        let numbered = choice("Question 2 of ~4: Where should the logs go?", "stderr", "a file");
        assert_eq!(numbered.title(), "Where should the logs go: stderr, not a file");
        let double = choice("Who reads the report, and where should it live?", "The team", "Me");
        assert_eq!(double.title(), "Who reads the report: The team, not Me");
        assert!(!choice("Shall I proceed with the merge?", "Yes", "No").is_sure());
    }

    #[test]
    fn a_later_word_turns_a_choice() {
        let made = choice("Which database should the queue use?", "SQLite", "Redis");
        let turned = made.reconsidered("actually, let's use Redis instead").unwrap();
        assert_eq!(
            (turned.chosen.name.as_str(), turned.others[0].name.as_str()),
            ("Redis", "SQLite")
        );
        assert!(turned.asks_the_same(&made));
        for kept in ["Redis is slow today", "actually not Redis, we stay", "use tabs instead"] {
            assert_eq!(made.reconsidered(kept), None, "{kept}");
        }
    }

    #[test]
    fn the_same_question_is_known_in_other_words() {
        let one = choice("Which database should the queue use?", "SQLite", "Redis");
        let two = choice("Which database shall the queue use now?", "Redis", "SQLite");
        let other = choice("Which formatter should the docs use?", "prettier", "dprint");
        assert!(one.asks_the_same(&two) && !one.asks_the_same(&other));
    }
}
