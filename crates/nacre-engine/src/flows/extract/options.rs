//! What the agent offered to choose from, and which of it the person took.
//!
//! A bare "B" says nothing; the option behind it does. Only alternatives count: a list of next steps looks the same,
//! and taking a step from it is no decision.

use super::super::steps::{member, string};
use super::cues::fold;
use super::words::shortened;

/// Options are looked for in the last part of what the agent said.
const MAX_OFFER: usize = 4 * 1024;
const MAX_OPTION: usize = 300;

/// An option that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// What was asked, where that is known.
    pub(super) question: Option<String>,
    pub(super) option: String,
    /// What else there was.
    pub(super) others: Vec<String>,
    /// What the option means, as it was offered.
    pub(super) meaning: Option<String>,
}

/// Words of those who weigh one thing against another.
const WEIGHING: &[&str] = &[
    "but", "because", "simple", "simpler", "simplest", "slower", "faster", "costs", "cost",
    "needs", "without", "requires", "risk", "pros", "cons", "only", "safe", "safer", "durable",
    "memory", "complex", "however", "breaks", "keeps", "less", "more", "no",
];
/// Words of those who ask for a choice.
const CHOOSING: &[&str] = &[
    "option",
    "options",
    "approach",
    "approaches",
    "which",
    "prefer",
    "alternatively",
    "alternative",
    "ways",
    "either",
    "trade-off",
    "tradeoff",
];
/// What is asked about the work at hand and settles nothing beyond it.
const PROCEDURAL: &[&str] = &[
    "commit",
    "push",
    "proceed",
    "continue",
    "wait",
    "background",
    "pr",
    "next",
    "start",
    "ready",
    "resume",
    "confirm",
    "scope",
    "error",
    "paste",
    "log",
    "when",
    "run",
    "believe",
    "triggers",
    "surface",
    "estimated",
    "autonomous",
    "happen",
    "audience",
    "first",
    "now",
    "cover",
];

/// Whether the agent's words leave something to choose; its end, folded.
pub(super) fn offer(said: &str) -> Option<String> {
    const MARKS: &[&str] = &[
        "option",
        " or ",
        "alternativ",
        "prefer",
        "which ",
        "either",
        "two ways",
        "i could",
        "i would",
        "should i",
        "shall i",
        "no rule",
        " oder ",
    ];
    let start = said.ceil_char_boundary(said.len().saturating_sub(900));
    let tail = fold(&said[start..]);
    MARKS.iter().any(|mark| tail.contains(mark)).then_some(tail)
}

/// The option that a message like "B" or "2, because …" takes from what the agent said.
pub(super) fn taken(said: &str, message: &str) -> Option<Taken> {
    let label = label(message)?;
    let start = said.ceil_char_boundary(said.len().saturating_sub(MAX_OFFER));
    let tail = &said[start..];
    let options: Vec<(char, &str)> = tail.lines().filter_map(option_line).collect();
    let is_offer = has_word(&fold(tail), CHOOSING);
    let (_, option) = options.iter().find(|(name, _)| *name == label)?;
    let is_weighed = options.iter().any(|(_, option)| has_word(&fold(option), WEIGHING));
    let is_whole = option.split_whitespace().count() >= 4 && option.len() <= MAX_OPTION;
    if !is_offer || !is_weighed || !is_whole || options.len() < 2 || options.len() > 6 {
        return None;
    }
    let others = options.iter().filter(|(name, _)| *name != label);
    Some(Taken {
        question: None,
        option: (*option).to_owned(),
        others: others.map(|(_, option)| shortened(option, 120)).collect(),
        meaning: None,
    })
}

/// `a`, `2`, from "A", "option B", "2, we pay for it", "let's do B".
fn label(message: &str) -> Option<char> {
    let folded = fold(message.trim());
    if folded.split_whitespace().count() > 25 {
        return None;
    }
    let leads = [
        "let's go with ",
        "let's do ",
        "i'd go with ",
        "go with ",
        "do ",
        "option ",
        "yes, ",
        "ok, ",
        "i choose ",
    ];
    let mut rest = folded.as_str();
    while let Some(shorter) = leads.iter().find_map(|lead| rest.strip_prefix(lead)) {
        rest = shorter;
    }
    let mut chars = rest.chars();
    let label = chars.next().filter(|c| matches!(c, 'a'..='f' | '1'..='6'))?;
    let after = chars.next();
    let is_alone = after.is_none_or(|c| matches!(c, ',' | '.' | ')' | ':' | ';' | '!'));
    let is_word = after == Some(' ')
        && label != 'a'
        && !rest[1..].trim_start().starts_with(|c: char| c.is_ascii_digit());
    (is_alone
        || (is_word
            && chars
                .as_str()
                .split_whitespace()
                .next()
                .is_some_and(|word| matches!(word, "because" | "since" | "please" | "-"))))
    .then_some(label)
}

/// The label and text of a line that is an option.
fn option_line(line: &str) -> Option<(char, &str)> {
    let text = line.trim().trim_start_matches(['-', '*', '#', '•', ' ']);
    let bare =
        text.strip_prefix("Option ").or_else(|| text.strip_prefix("option ")).unwrap_or(text);
    let mut chars = bare.chars();
    let label = chars.next()?.to_ascii_lowercase();
    let is_label = matches!(label, 'a'..='f' | '1'..='6');
    let rest = chars.as_str();
    let ends = rest.starts_with([')', '.', ':'])
        || rest.starts_with("**")
        || (bare.len() < text.len() && rest.starts_with([' ', '*']));
    (is_label && ends).then(|| (label, line.trim()))
}

/// The option that an answer to a question of the agent names; the question comes as the tool's arguments.
pub(super) fn answered(arguments: &str, answer: &str) -> Option<Taken> {
    let quoted = serde_json::to_string(answer).ok()?;
    let label = quoted.trim_matches('"');
    let at = arguments
        .find(&format!("\"label\":\"{label}\""))
        .or_else(|| arguments.find(&format!("\"label\": \"{label}\"")))?;
    let asked = arguments[..at].rfind("\"question\"")?;
    let question = member(&arguments[asked..], "question")?.into_owned();
    if has_word(&fold(&question), PROCEDURAL) || answer.split_whitespace().count() < 2 {
        return None;
    }
    let end = arguments[at..].find("]").map_or(arguments.len(), |end| at + end);
    let others =
        labels(&arguments[asked..end]).into_iter().filter(|other| other != answer).collect();
    let meaning = member(&arguments[at..end], "description").map(std::borrow::Cow::into_owned);
    let taken = Taken { question: Some(question), option: answer.to_owned(), others, meaning };
    taken.is_weighed().then_some(taken)
}

impl Taken {
    /// Whether something was said for or against it; a name alone is no decision.
    fn is_weighed(&self) -> bool {
        let weighs = |meaning: &str| has_word(&fold(meaning), WEIGHING);
        self.meaning.as_deref().is_some_and(weighs) && !self.others.is_empty()
    }
}

fn labels(arguments: &str) -> Vec<String> {
    let values = arguments.split("\"label\"").skip(1);
    let value =
        |rest: &str| string(rest.trim_start_matches([':', ' '])).map(std::borrow::Cow::into_owned);
    values.filter_map(value).take(6).collect()
}

fn has_word(folded: &str, wanted: &[&str]) -> bool {
    folded.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| wanted.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: &str = "I see two ways:\n\nA) Stream it: constant memory, but late errors.\nB) Load it whole: simple, needs memory.\n\nWhich do you prefer?";

    #[test]
    fn a_letter_stands_for_its_option() {
        let taken = |message: &str| taken(OFFER, message).map(|taken| taken.option);
        let a = Some("A) Stream it: constant memory, but late errors.".to_owned());
        assert_eq!(taken("A"), a);
        assert_eq!(taken("a, because files are huge"), a);
        assert_eq!(taken("let's do B").as_deref(), Some("B) Load it whole: simple, needs memory."));
        assert_eq!(taken("a file"), None);
        assert_eq!(taken("both"), None);
    }

    #[test]
    fn a_step_from_a_list_is_no_choice() {
        let steps =
            "Done. Next steps:\n1. Add the tests for the parser\n2. Update the docs and examples";
        assert_eq!(taken(steps, "1"), None);
    }

    #[test]
    fn an_answer_is_kept_with_what_it_was_weighed_against() {
        let asked = r#"{"questions":[{"question":"How are versions injected?","options":[{"label":"By ldflags","description":"No file, but go install shows dev"},{"label":"A VERSION file","description":"Works everywhere, but bumped by hand"}]}]}"#;
        let found = answered(asked, "A VERSION file").unwrap();
        assert_eq!(found.question.as_deref(), Some("How are versions injected?"));
        assert_eq!(found.others, ["By ldflags"]);
        assert_eq!(found.meaning.as_deref(), Some("Works everywhere, but bumped by hand"));
        assert_eq!(answered(asked, "Something else"), None);
        let push = asked.replace("How are versions injected", "Shall I push now");
        assert_eq!(answered(&push, "A VERSION file"), None);
    }
}
