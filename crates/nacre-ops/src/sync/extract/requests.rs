//! Recognizes requests to remember something, and rules. A keyword alone is not enough: "the
//! callback never fires" is a bug report.

use std::sync::LazyLock;

use nacre_base::text::shorten as shortened;
use nacre_memory::{Claim, LearningKind};
use nacre_types::DropReason;
use regex::Regex;

use super::cues::{
    FORMS, MOMENT, NOT_REMEMBER, OURS, PASSING, QUESTION, REMEMBER, REVOKE, fold, n_content, named,
    pattern, words,
};
use super::said::Sentence;

/// Minimum number of content words in a request, including "use".
const MIN_CONTENT: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Request {
    pub(super) claim: Claim,
    /// Whether the user explicitly asked for the rule to be remembered.
    pub(super) is_outright: bool,
    /// Whether the rule clearly outlives the task. Other rules are reviewed.
    pub(super) is_sure: bool,
    /// The number of characters before the clause that states the claim.
    pub(super) n_before: usize,
}

/// Parses a request. Returns `None` if the sentence is not a request, and an error if the request
/// is not worth keeping. `is_own` is false if the sentence is part of the description of a task.
pub(super) fn request(sentence: &str, is_own: bool) -> Option<Result<Request, DropReason>> {
    // Words in quotation marks are someone else's.
    let folded = fold(sentence).split('"').step_by(2).collect::<Vec<&str>>().join("\"");
    if folded.trim_end_matches(['"', ')', '\'', ' ']).ends_with(['?', '？']) {
        return None;
    }
    // A sentence that announces a list does not state the claim.
    if PLEASANTRY.is_match(&folded) || folded.trim_end().ends_with(':') {
        return None;
    }
    let is_outright = REMEMBER.is_in(&folded) && !NOT_REMEMBER.is_in(&folded);
    // Excludes phrases such as "never mind".
    if !is_outright && (REVOKE.is_in(&folded) || QUESTION.opens(without_leads(&folded))) {
        return None;
    }
    let request = match statement(&folded) {
        Some(stated) if is_outright => {
            Request { is_outright, is_sure: true, n_before: 0, ..stated }
        }
        Some(stated) => Request { is_sure: stated.is_sure && is_own, ..stated },
        None if is_outright => {
            let claim = Claim::Learning(LearningKind::Context);
            Request { claim, is_outright, is_sure: true, n_before: 0 }
        }
        None => return None,
    };
    let n_uses = usize::from(words(&folded).any(|word| word == "use"));
    // A rule in the first message is usually part of a task, such as "Always return 429".
    let is_task = !is_own && !OURS.is_in(&folded) && !is_lasting(&folded);
    Some(if n_content(&folded) + n_uses < MIN_CONTENT {
        Err(DropReason::TooShort)
    } else if !is_outright && is_task {
        Err(DropReason::Weak)
    } else if !is_outright && (PASSING.is_in(&folded) || MOMENT.is_in(&folded)) {
        Err(DropReason::NotDurable)
    } else {
        Ok(request)
    })
}

/// Maximum length of a title, in characters.
pub(crate) const MAX_TITLE: usize = 90;
const MAX_EXCERPT: usize = 600;
const MAX_CONTEXT: usize = 180;
const MIN_REASON_WORDS: usize = 4;
/// Maximum length of an introductory phrase such as "please remember that", in bytes.
const MAX_REMINDER: usize = 64;

const LEADS: &[&str] = &[
    "ok", "okay", "yes", "yeah", "yep", "no", "nope", "nein", "well", "so", "and", "but", "also",
    "please", "pls", "hmm", "hm", "ah", "oh", "right", "actually", "sorry", "hey", "wait", "again",
    "just", "then", "man", "thanks", "bitte", "fyi", "btw",
];

/// First words of replies to the agent.
const REPLIES: &[&str] = &["yes", "ok", "okay", "no", "then", "please"];

const REMINDERS: &[&str] = &[
    "remember that",
    "remember to",
    "remember",
    "keep in mind that",
    "keep in mind",
    "bear in mind that",
    "bear in mind",
    "have in mind that",
    "don't forget that",
    "make a note that",
    "for the record",
    "from now on",
    "from here on",
    "that's wrong",
    "that's not right",
];

/// Trailing words of a sentence that are not part of its claim.
static TAIL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)(?:[\s,]+(?:from now on|please|thanks|ok))*[\s.,!;:。！]*$"));

pub(super) fn title(sentence: &str) -> String {
    capitalize(&cut_at_clause(bare_claim(sentence), MAX_TITLE))
}

/// Returns the part of a sentence that states the claim, which follows the first `n_before`
/// characters. What comes before is often about the task.
pub(super) fn clause_of(sentence: &str, n_before: usize) -> &str {
    let at = sentence.char_indices().nth(n_before).map_or(0, |(at, _)| at);
    if sentence.contains('"') { sentence } else { &sentence[at..] }
}

/// Returns a sentence without the words around its claim: "use tabs" for "ok, use tabs from now on,
/// please".
pub(super) fn bare_claim(sentence: &str) -> &str {
    let rest = without_leads(sentence);
    TAIL.find(rest).map_or(rest, |tail| &rest[..tail.start()])
}

fn without_leads(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    while let Some(shorter) = without_lead(rest) {
        rest = shorter;
    }
    if rest.chars().count() < 10 { sentence.trim() } else { rest }
}

fn without_lead(text: &str) -> Option<&str> {
    let word = text.split_whitespace().next()?;
    let bare = word.trim_end_matches([',', '.', '!', ':', ';', '…']);
    // Strips the "no" from "no, use tabs", but not from "No emojis".
    let is_lead =
        LEADS.contains(&fold(bare).as_str()) && !(fold(bare).starts_with("no") && bare == word);
    if is_lead {
        return Some(text[word.len()..].trim_start());
    }
    let folded = fold(&text[..text.floor_char_boundary(MAX_REMINDER)]);
    let reminder = REMINDERS.iter().find(|lead| folded.starts_with(**lead))?;
    // Folding changes the byte length of these phrases only if they contain curly apostrophes.
    let rest = text.get(reminder.len()..)?.trim_start_matches([',', ':', ' ']);
    (text.is_char_boundary(reminder.len()) && !rest.is_empty()).then_some(rest)
}

/// Capitalizes the first letter, unless the text starts with a path or an identifier.
pub(crate) fn capitalize(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.trim_end_matches(['.', ':']).contains(['/', '.', '_', ':']) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

const CLAUSE_MARKS: &[&str] = &[", ", "; ", ": ", " (", " — ", " – "];
const CLAUSE_WORDS: &[&str] = &[" because ", " since ", " so that ", " which ", " but "];
/// Words that cannot end a sentence.
const OPEN_WORDS: &[&str] = &[
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "is", "its", "no", "not",
    "of", "on", "or", "our", "that", "the", "their", "to", "we", "with", "your",
];

/// Cuts the text at the end of a clause if this leaves enough text, and otherwise between words.
pub(crate) fn cut_at_clause(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    if line.chars().count() <= max {
        return line;
    }
    let end = line.char_indices().nth(max).map_or(line.len(), |(at, _)| at);
    let head = &line[..end];
    let last = |marks: &[&str], least: usize| {
        marks.iter().filter_map(|mark| head.rfind(mark)).max().filter(|at| least < *at)
    };
    if let Some(clause) = last(CLAUSE_MARKS, max / 2).or_else(|| last(CLAUSE_WORDS, max / 3)) {
        return trim_open_end(&head[..clause]).to_owned();
    }
    let is_whole = line[end..].starts_with(' ');
    let mut cut =
        trim_open_end(if is_whole { head } else { &head[..head.rfind(' ').unwrap_or(end)] });
    while let Some((rest, word)) = cut.rsplit_once(' ')
        && OPEN_WORDS.contains(&fold(word).as_str())
    {
        cut = trim_open_end(rest);
    }
    cut.to_owned()
}

fn trim_open_end(text: &str) -> &str {
    text.trim_end_matches([',', ';', ':', ' ', '-', '('])
}

/// Returns the claim that a sentence states, followed by its neighbors, which often give the reason
/// for it.
pub(super) fn excerpt(sentences: &[Sentence<'_>], idx: usize) -> String {
    let claim = capitalize(bare_claim(sentences[idx].text));
    let near = idx.checked_sub(1).into_iter().chain([idx + 1]);
    let near = near.filter_map(|idx| sentences.get(idx)).filter(|near| may_be_reason(near));
    let told = std::iter::once(claim.as_str()).chain(near.map(|sentence| sentence.text.trim()));
    let ended = |text: &str| {
        let is_ended = text.ends_with(['.', '!', '?', ':', '。', '！', '？', '…']);
        if is_ended { text.to_owned() } else { format!("{text}.") }
    };
    shortened(&told.map(ended).collect::<Vec<String>>().join(" "), MAX_EXCERPT)
}

/// Returns whether a sentence may give a reason. Replies and requests about the task do not.
fn may_be_reason(sentence: &Sentence<'_>) -> bool {
    let folded = fold(sentence.text);
    let first = folded.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    !sentence.is_question()
        && MIN_REASON_WORDS <= folded.split_whitespace().count()
        && !REPLIES.contains(&first)
        && !MOMENTARY.is_match(&folded)
}

/// Returns the context of a request: the agent's last command if it followed the agent's last
/// message, and otherwise the end of that message.
pub(super) fn context(command: Option<&str>, words: Option<&str>) -> String {
    let what = match (command, words) {
        (Some(command), _) => {
            format!("after the agent had run `{}`.", shortened(command, MAX_CONTEXT))
        }
        (None, Some(words)) => {
            format!("after the agent had written: \"{}\"", shortened(words, MAX_CONTEXT))
        }
        (None, None) => "when the session began.".to_owned(),
    };
    format!("The person said this {what}")
}

pub(crate) fn tags(text: &str) -> Vec<String> {
    const TOPICS: &[(&str, &str)] = &[
        ("testing", "test tests testing pytest mock mocks fixtures suite"),
        ("git", "commit commits committed push branch branches rebase merge pr prs changelog"),
        ("dependencies", "npm pnpm yarn pip cargo install dependency dependencies"),
        ("database", "sql sqlite postgres database orm query migration migrations"),
        ("deployment", "deploy deployments staging production docker release releases ci"),
        ("style", "comments refactor naming names format imports lint logs tabs emojis style"),
        ("docs", "docs readme documentation docstring docstrings"),
        ("security", "secret secrets token password permission auth"),
    ];
    let folded = fold(text);
    let words: Vec<&str> = folded.split(|c: char| !c.is_alphanumeric()).collect();
    let is_spoken_of = |names: &str| names.split(' ').any(|name| words.contains(&name));
    let topics = TOPICS.iter().filter(|(_, names)| is_spoken_of(names));
    topics.map(|(tag, _)| (*tag).to_owned()).take(3).collect()
}

/// A form of statement that outlives the task, such as a practice ("we use slog"), a ban, a norm
/// about things in general, an owner, a new name or a corrected fact.
struct Form {
    kind: LearningKind,
    /// Whether the form is always sure (`sure`), or for the topics of the work (`topic`).
    sure: &'static str,
    pattern: Regex,
}

static COMPILED: LazyLock<Vec<Form>> = LazyLock::new(|| FORMS.lines().filter_map(form).collect());

fn form(line: &'static str) -> Option<Form> {
    let (kind, rest) = line.split_once(' ')?;
    let (sure, text) = rest.split_once(' ')?;
    // People often type "dont" and "its".
    let typed = text.replace("n't", "n'?t").replace("'re", "'?re").replace("it's", "it'?s");
    Some(Form { kind: LearningKind::from_name(kind)?, sure, pattern: pattern(&typed) })
}

impl Form {
    fn matches(&self, clause: &str) -> bool {
        let Some(found) = self.pattern.captures(clause) else { return false };
        let excluded = FORMS.lines().filter_map(|line| line.split_once(" not "));
        excluded.filter_map(|(name, words)| Some((found.name(name)?.as_str(), words))).all(
            |(group, words)| {
                let first = group.split([' ', ',', '.', ';', ':']).next().unwrap_or_default();
                first.is_empty() || !words.split(' ').any(|word| word == first)
            },
        )
    }
}

pub(super) static MOMENTARY: LazyLock<Regex> = LazyLock::new(|| named("momentary"));
static LASTING: LazyLock<Regex> = LazyLock::new(|| named("lasting"));
static HEDGED: LazyLock<Regex> = LazyLock::new(|| named("hedged"));
static PLEASANTRY: LazyLock<Regex> = LazyLock::new(|| named("pleasantry"));
static FAULT: LazyLock<Regex> = LazyLock::new(|| named("fault"));
static CLAUSE_MARK: LazyLock<Regex> = LazyLock::new(|| named("clause"));

/// Returns the statement that a sentence makes. The sentence must not be a question.
fn statement(folded: &str) -> Option<Request> {
    let is_on_topic = !tags(folded).is_empty();
    let of_clause = |at: usize| {
        let clause = without_leads(&folded[at..]).trim_end_matches(['.', '!', ' ']);
        let Form { kind, sure, .. } = COMPILED.iter().find(|form| form.matches(clause))?;
        let is_report = *kind == LearningKind::Context && is_fault(folded);
        let is_open = [" it", " that", " this"].iter().any(|end| clause.ends_with(end));
        let is_sure = !is_open && (*sure == "sure" || (*sure == "topic" && is_on_topic));
        let claim = Claim::Learning(*kind);
        let n_before = folded[..at].chars().count();
        (!is_report).then_some(Request { claim, is_outright: false, is_sure, n_before })
    };
    // "so we don't break things" is a purpose.
    let is_purpose =
        |at: &usize| folded[..*at].trim_end().ends_with(" so") && folded[*at..].starts_with("we ");
    let starts = CLAUSE_MARK.find_iter(folded).map(|mark| mark.end());
    let starts = starts.filter(|at| !is_purpose(at));
    let found: Vec<Request> = std::iter::once(0).chain(starts).filter_map(of_clause).collect();
    let best = found.iter().find(|one| one.is_sure).or(found.first())?;
    Some(Request {
        is_sure: (best.is_sure || is_lasting(folded)) && !HEDGED.is_match(folded),
        ..*best
    })
}

/// Returns whether a sentence reports a fault: how things are, not how they should be.
pub(super) fn is_fault(folded: &str) -> bool {
    FAULT.is_match(folded)
}

fn is_lasting(folded: &str) -> bool {
    LASTING.is_match(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_request(sentence: &str, is_reply: bool) -> Option<Request> {
        request(sentence, is_reply).and_then(Result::ok)
    }

    #[test]
    fn requests_and_rules_are_kept() {
        use LearningKind::{Context, Convention};
        for (sentence, is_outright, kind) in [
            ("keep in mind that the tablets run Chrome 88", true, Context),
            ("from now on update the changelog in the same change", true, Context),
            ("remember that you must not squash the branches of others", true, Context),
            ("remember: we don't squash merge commits", true, Convention),
            ("from now on use pnpm", true, Context),
            ("remember that we use tabs", true, Convention),
            ("always use tabs", false, Convention),
            ("never force-push to main", false, Convention),
            ("Always run `make check` before you commit", false, Convention),
            ("no, never delete fixtures/, they are recorded from production", false, Convention),
            ("ok, so please never push on Fridays", false, Convention),
            ("you should always ask before you push", false, Convention),
            ("the DBA reads every query, so never write raw SQL", false, Convention),
            ("Nein, bitte immer auf Deutsch und mit Sie", false, Convention),
            ("我们项目统一用 pytest", false, Convention),
        ] {
            let request = parse_request(sentence, true).unwrap();
            let expected = (Claim::Learning(kind), is_outright);
            assert_eq!((request.claim, request.is_outright), expected, "{sentence}");
        }
    }

    #[test]
    fn other_sentences_are_not() {
        for sentence in [
            "The save button always stays disabled and the callback never fires",
            "I never saw the window open",
            "it shows 44MB/s but never gets past 27",
            "say that users should always back up before they upgrade",
            "don't worry about the tests",
            "can you always use tabs?",
            "do you remember that bug?",
            "Please remember my build command.",
            "from now on.",
            "never merge this PR for now",
            "always.",
            "never mind, use the other branch",
        ] {
            assert_eq!(parse_request(sentence, true), None, "{sentence}");
        }
    }

    #[test]
    fn a_first_message_is_a_task_unless_it_says_otherwise() {
        assert_eq!(request("Always return 429", false), Some(Err(DropReason::Weak)));
        for rule in ["we never deploy on Fridays", "never edit vendor/, it is generated"] {
            assert!(parse_request(rule, false).is_some(), "{rule}");
        }
        assert!(parse_request("from now on write the tests first", false).is_some());
    }
}

#[cfg(test)]
mod words_tests {
    use super::*;

    #[test]
    fn a_title_drops_what_leads_up_to_it() {
        let cases = [
            (
                "no, we use pnpm here, npm breaks the links",
                "We use pnpm here, npm breaks the links",
            ),
            ("ok, please don't refactor.", "Don't refactor"),
            ("Remember that staging is behind the VPN.", "Staging is behind the VPN"),
            ("no emojis in release notes", "No emojis in release notes"),
            ("remember: tabs, always", "Tabs, always"),
        ];
        for (sentence, expected) in cases {
            assert_eq!(title(sentence), expected);
        }
    }

    #[test]
    fn a_long_title_ends_where_a_clause_or_a_word_ends() {
        let cases = [
            (
                "We decided to use SQLite for the queue because it is one file to back up and needs no server",
                "We decided to use SQLite for the queue",
            ),
            (
                "Run the whole suite of integration tests against a fresh database on every change of the schema",
                "Run the whole suite of integration tests against a fresh database on every change",
            ),
        ];
        for (sentence, expected) in cases {
            assert_eq!(title(sentence), expected);
        }
    }

    #[test]
    fn a_long_text_is_cut_between_words() {
        assert_eq!(shortened("one two three", 9), "one two…");
        assert_eq!(shortened("one   two\nthree", 99), "one two three");
        assert_eq!(shortened("äöüäöü", 5), "äö…");
    }
}
