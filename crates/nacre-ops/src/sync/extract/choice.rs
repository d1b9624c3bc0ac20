//! Recognizes multiple-choice questions and the user's answers. The options are either arguments of
//! a question tool or lettered or numbered lines below a question.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use nacre_base::text::shorten as shortened;
use regex::Regex;
use serde::Deserialize;

use super::cues::{REVOKE, SWITCH, content_words, fold, n_content, overlap, pattern, plain_words};
use super::requests::{MAX_TITLE, capitalize, cut_at_clause};

const MAX_TOPIC: usize = 56;
const MAX_NAME: usize = 44;
const MAX_TOLD: usize = 240;
const SAME_QUESTION: f64 = 0.6;
/// Minimum number of content words in an answer that is understood without its question.
const MIN_ALONE: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Alternative {
    #[serde(alias = "label", alias = "title")]
    pub(super) name: String,
    #[serde(default, alias = "description")]
    meaning: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) question: String,
    header: Option<String>,
    chosen: Alternative,
    pub(super) others: Vec<Alternative>,
    /// Whether the user answered in their own words.
    pub(super) is_free: bool,
    /// Whether the agent used a question tool. A question in an ordinary message may be rhetorical.
    pub(super) is_asked: bool,
}

impl Choice {
    /// Returns a title in the form "topic: chosen, not other".
    pub(super) fn title(&self) -> String {
        let topic = cut_at_clause(self.topic(), MAX_TOPIC);
        let chosen = cut_at_clause(&self.chosen.name, MAX_NAME);
        let title = match self.has_subject() {
            true => format!("{}: {chosen}", capitalize(&topic)),
            false => capitalize(&chosen),
        };
        let others: Vec<String> =
            self.others.iter().map(|other| cut_at_clause(&other.name, MAX_NAME)).collect();
        let with_others = match others.as_slice() {
            [] => title.clone(),
            [other] => format!("{title}, not {other}"),
            [first, ..] => format!("{title}, not {first} or others"),
        };
        let is_short = with_others.chars().count() <= MAX_TITLE;
        if is_short { with_others } else { cut_at_clause(&title, MAX_TITLE) }
    }

    pub(super) fn body(&self, said: &str) -> String {
        let told = |of: &Alternative| match &of.meaning {
            Some(meaning) if of.name.contains('(') || meaning.starts_with('(') => {
                format!("{}: {}", of.name, shortened(meaning, MAX_TOLD))
            }
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

    pub(super) fn list_offered_words(&self) -> impl Iterator<Item = &str> {
        let meaning = self.chosen.meaning.as_deref();
        [meaning, Some(self.question.as_str()), Some(self.chosen.name.as_str())]
            .into_iter()
            .flatten()
            .filter(|words| words.split_whitespace().count() > 1)
    }

    /// Returns whether the choice is complete and concerns more than the next step. In a list in a
    /// message, an option without an explanation is often only the next step.
    pub(super) fn is_sure(&self) -> bool {
        let header = self.header.as_deref().unwrap_or_default();
        let name = fold(&self.chosen.name);
        (self.is_asked || self.chosen.meaning.is_some())
            && !self.is_free
            && !self.others.is_empty()
            && !self.is_of_the_moment()
            && !ACTION.is_match(&name)
            && !plain_words(&fold(header)).any(|word| OF_THE_MOMENT.is_match(word))
            && content_words(&name).next().is_some()
            && !matches!(name.trim(), "both" | "all")
    }

    /// Returns whether the question is about the next step, or the answer alone does not state a
    /// decision. Such a choice is not kept.
    pub(super) fn is_of_the_moment(&self) -> bool {
        SEQUENCING.is_match(&fold(&self.question))
            || STEP.is_match(&fold(self.chosen.name.trim()))
            || (!self.has_subject() && n_content(&fold(&self.chosen.name)) < MIN_ALONE)
    }

    /// Returns the topic of the question. Prefers the question to a one-word heading such as
    /// "Format".
    fn topic(&self) -> &str {
        let question = LEAD.find(&self.question).map_or(0, |lead| lead.end());
        let question = self.question[question..].trim().trim_end_matches(['?', '？', ':', ' ']);
        let header = self.header.as_deref().map(str::trim).filter(|header| !header.is_empty());
        let is_short = question.chars().count() <= MAX_TOPIC;
        match header {
            Some(header) if !is_short || header.contains(' ') => header,
            Some(_) | None => question,
        }
    }

    pub(super) fn asks_the_same(&self, other: &Self) -> bool {
        let (own, others) = (self.subject(), other.subject());
        let shares_options = !self.options().is_disjoint(&other.options());
        // Generic questions such as "Which one?" are considered equal only if their options are
        // equal.
        overlap(&own, &others) >= SAME_QUESTION && (shares_options || own.len() > 3)
    }

    fn has_subject(&self) -> bool {
        !self.subject().iter().all(|word| SUBJECTLESS.is_match(word))
    }

    fn subject(&self) -> BTreeSet<String> {
        let folded =
            fold(&format!("{} {}", self.header.as_deref().unwrap_or_default(), self.question));
        content_words(&folded).map(str::to_owned).collect()
    }

    fn options(&self) -> BTreeSet<String> {
        self.others.iter().chain([&self.chosen]).map(|option| fold(&option.name)).collect()
    }

    pub(super) fn reconsider(&self, message: &str) -> Option<Self> {
        let folded = fold(message);
        if !REVOKE.is_in(&folded) && !SWITCH.is_in(&folded) {
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

fn mention(folded: &str, name: &str) -> Option<usize> {
    let name = fold(name);
    let words: Vec<&str> = content_words(&name).take(4).collect();
    let first = words.first()?;
    let places: Option<Vec<usize>> = words.iter().map(|word| folded.find(word)).collect();
    places.map(|_| folded.find(first).unwrap_or(0))
}

fn is_denied(folded: &str, at: usize) -> bool {
    let before = folded[..at].trim_end();
    ["not", "no", "instead of", "rather than", "drop", "without"]
        .iter()
        .any(|word| before.ends_with(word))
}

/// Matches prefixes of a question, such as "Question 2 of 4: ".
static LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^(?:(?:next|last|one more) question|q(?:uestion)? ?\d[^:]{0,16}): ")
});

static OF_THE_MOMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "^(?:timing|scope|push|next|commit|pr|plan|execution|order|when|reply|action|proceed|merge|\
         cleanup|tests|mode)$",
    )
});

static SEQUENCING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "proceed|continue|go ahead|go on|next step|(?:do|work on) next|tackle|looks? (?:good|right)|\
         ready (?:to|for)|approve|start (?:with|now)|first\\?|commit|push|(?:open|create) a pr|merge|\
         run it|right now|this session|this time|what (?:would you like|do you want to do)|\
         how autonomous|which (?:issue|task|file|claims|phase|skill)|review|resume|retry|paste|\
         confirm|wait|want me|would you like me|shall i|do you have|did you",
    )
});

/// Verbs that start an instruction.
const ACTIONS: &str = "add|close|commit|continue|create|do|finish|fix|go|leave|let|merge|open|paste|\
                       proceed|push|reply|rerun|retry|revert|run|ship|show|skip|start|stop|try|\
                       update|wait";

static ACTION: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"^(?:{ACTIONS})\b")));

/// Words of questions that do not say what is decided, such as "Which approach do you prefer?"
static SUBJECTLESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "^(?:approach|best|choice|ideas?|keep|options?|opinion|prefer.*|simple|think|thoughts?)$",
    )
});

/// Answers that mean nothing without their question, or that concern only the next step.
static STEP: LazyLock<Regex> = LazyLock::new(|| {
    let now = "now|later|first|follow-up|it|them|both|all|this|these|running|commit|push|merge";
    let bare = r"[(…]|(?:yes|no|ok)(?: ?[,.;:!—–-]|$)";
    pattern(&format!(r"^(?:{bare}|(?:{ACTIONS})\b.*\b(?:{now})\b)"))
});

#[cfg(test)]
mod option_tests;

const MAX_OFFER: usize = 6000;
/// Maximum number of options. Longer lists rarely present alternatives.
const MAX_OPTIONS: usize = 6;
/// Maximum length of an option. Longer lines are explanations.
const MAX_OPTION: usize = 600;
/// Maximum number of words in an answer that selects an option by label or name.
const MAX_ANSWER_WORDS: usize = 25;
const MAX_NAME_WORDS: usize = 8;

#[derive(Debug, Deserialize)]
struct AskedQuestion {
    #[serde(default)]
    question: String,
    #[serde(default)]
    header: Option<String>,
    #[serde(default)]
    options: Vec<Alternative>,
}

/// Returns the choice made in an answer. `nth` is the index of the answer among all answers to this
/// tool call.
pub(super) fn choice_of_answer(arguments: &str, answer: &str, nth: usize) -> Option<Choice> {
    let arguments: serde_json::Value = serde_json::from_str(arguments).ok()?;
    let asked = Vec::<AskedQuestion>::deserialize(&arguments["questions"]).ok()?;
    let plain = fold(without_recommended(answer).trim());
    let names =
        |question: &&AskedQuestion| question.options.iter().any(|option| is_named(option, &plain));
    let named = asked.iter().find(names);
    let question = named.or_else(|| asked.get(nth)).or(asked.first())?;
    let (taken, left): (Vec<&Alternative>, Vec<&Alternative>) =
        question.options.iter().partition(|option| is_named(option, &plain));
    let is_free = taken.is_empty();
    let chosen = match taken.as_slice() {
        [] => Alternative { name: cut_at_clause(answer.trim(), MAX_OPTION), meaning: None },
        [option] => clean_option(option),
        // A question tool can allow the user to select several options.
        several => {
            let names: Vec<&str> = several.iter().map(|option| option.name.as_str()).collect();
            Alternative { name: names.join(" and "), meaning: None }
        }
    };
    let others = left.into_iter().take(MAX_OPTIONS).map(clean_option).collect();
    let header = question.header.clone();
    let question = question.question.clone();
    Some(Choice { question, header, chosen, others, is_free, is_asked: true })
}

fn is_named(option: &Alternative, plain: &str) -> bool {
    let label = fold(without_recommended(&option.name).trim());
    !label.is_empty()
        && (plain == label
            || plain.split(", ").any(|part| part == label)
            || plain.starts_with(&format!("{label}:")))
}

fn clean_option(option: &Alternative) -> Alternative {
    let name = without_recommended(&option.name).trim().to_owned();
    Alternative { name, meaning: option.meaning.clone().filter(|text| !text.trim().is_empty()) }
}

fn without_recommended(name: &str) -> &str {
    let end = name.to_ascii_lowercase().find("(recommended");
    end.map_or(name, |end| &name[..end])
}

/// Returns the choice made in a message. `message` is a reply such as "B" or "2, because we run it
/// anyway".
pub(super) fn choice_of_message(said: &str, message: &str) -> Option<Choice> {
    let start = said.ceil_char_boundary(said.len().saturating_sub(MAX_OFFER));
    let options = list_options(&said[start..]);
    let question = question_of(&said[start..])?;
    if !(2..=MAX_OPTIONS).contains(&options.len()) {
        return None;
    }
    let at = match label(message) {
        Some(label) => options.iter().position(|(name, _)| *name == label)?,
        None => by_name(&options, message)?,
    };
    let mut others: Vec<Alternative> =
        options.into_iter().map(|(_, alternative)| alternative).collect();
    let chosen = others.remove(at);
    Some(Choice { question, header: None, chosen, others, is_free: false, is_asked: false })
}

/// Matches the label and text of an option, such as `A) …`, `2. …`, `- (b) …` or `**Option A: …**`.
static OPTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^[-*#•\s]*(?:option\s+)?\(?([a-f1-6])(?:[).:]|\*\*|\s*[—–-]\s)\s*(.+)$")
});

/// Matches an answer that contains a label: "b.", "option 2", "let's go with A, because …".
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    let leads = "(?:(?:let's|i'd|i|go|with|do|say|choose|prefer|think|option|yes,|ok,) )*";
    pattern(&format!(r"^{leads}([a-f1-6])(?:$|[,.):;!]| (?:because|since|please|-))"))
});

/// Returns the options of the last list in the text that has consecutive labels starting with the
/// first letter or number.
fn list_options(text: &str) -> Vec<(char, Alternative)> {
    let mut options: Vec<(char, Alternative)> = Vec::new();
    for (label, option) in text.lines().filter_map(option_line) {
        let follows =
            options.last().is_some_and(|(last, _)| u32::from(*last) + 1 == u32::from(label));
        if matches!(label, 'a' | '1') {
            options.clear();
        } else if !follows {
            continue;
        }
        options.push((label, option));
    }
    options
}

fn option_line(line: &str) -> Option<(char, Alternative)> {
    if MAX_OPTION < line.len() {
        return None;
    }
    let found = OPTION.captures(line.trim())?;
    let label = found.get(1)?.as_str().chars().next()?.to_ascii_lowercase();
    let text = found.get(2)?.as_str().replace("**", "").replace('`', "");
    let text = text.trim_start_matches([':', '-', '—', '–', ' ']);
    let cut =
        [": ", " — ", " – ", " - ", ". ", " ("].iter().filter_map(|mark| text.find(mark)).min();
    let (name, meaning) = text.split_at(cut.unwrap_or(text.len()));
    let meaning = meaning.trim_start_matches([':', '—', '–', '-', '.', ' ']);
    let name = without_recommended(name).trim().to_owned();
    Some((label, Alternative { name, meaning: (!meaning.is_empty()).then(|| meaning.to_owned()) }))
}

fn question_of(text: &str) -> Option<String> {
    let bare = |line: &'_ str| line.trim_end_matches(['*', '_', ' ', ')']).ends_with(['?', '？']);
    let line = text.lines().rfind(|line| bare(line) && option_line(line).is_none())?;
    let sentence = line.rsplit(['.', '!']).next().unwrap_or(line);
    let sentence = sentence.trim_matches(['*', '_', '#', '-', ' ']);
    (!sentence.is_empty()).then(|| shortened(sentence, 200))
}

fn label(message: &str) -> Option<char> {
    if MAX_ANSWER_WORDS < message.split_whitespace().count() {
        return None;
    }
    let folded = fold(message.trim());
    LABEL.captures(&folded)?.get(1)?.as_str().chars().next()
}

fn by_name(options: &[(char, Alternative)], message: &str) -> Option<usize> {
    let folded = fold(message);
    if MAX_NAME_WORDS < folded.split_whitespace().count() || folded.contains('?') {
        return None;
    }
    let said: Vec<&str> = content_words(&folded).collect();
    let is_said = |option: &Alternative| {
        let name = fold(&option.name);
        let mut words = content_words(&name).peekable();
        words.peek().is_some() && words.all(|word| said.contains(&word))
    };
    let mut named = options.iter().enumerate().filter(|(_, (_, option))| is_said(option));
    let (at, _) = named.next()?;
    named.next().is_none().then_some(at)
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
        assert_eq!(short.title(), made.title(), "a one-word heading is not used as the topic");
        let headed = Choice { header: Some("Queue store".to_owned()), ..made };
        assert_eq!(headed.title(), "Queue store: SQLite, not Redis");
        assert!(headed.is_sure());
        assert!(!Choice { is_asked: false, ..headed.clone() }.is_sure(), "a letter after a list");
        assert!(!Choice { header: Some("Timing".to_owned()), ..headed }.is_sure());
        let numbered = choice("Question 2 of ~4: Where should the logs go?", "stderr", "a file");
        assert_eq!(numbered.title(), "Where should the logs go: stderr, not a file");
        assert!(!choice("Shall I proceed with the merge?", "Yes", "No").is_sure());
    }

    #[test]
    fn a_later_word_turns_a_choice() {
        let made = choice("Which database should the queue use?", "SQLite", "Redis");
        let turned = made.reconsider("actually, let's use Redis instead").unwrap();
        assert_eq!(
            (turned.chosen.name.as_str(), turned.others[0].name.as_str()),
            ("Redis", "SQLite")
        );
        assert!(turned.asks_the_same(&made));
        for kept in ["Redis is slow today", "actually not Redis, we stay", "use tabs instead"] {
            assert_eq!(made.reconsider(kept), None, "{kept}");
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
