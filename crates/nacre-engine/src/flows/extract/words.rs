//! Titles and bodies: the person's own words, cut and put in order, with nothing added that was not said.

use super::cues::fold;
use super::said::Sentence;

/// The longest title, in characters.
pub(crate) const MAX_TITLE: usize = 90;
const MAX_EXCERPT: usize = 600;
const MAX_CONTEXT: usize = 180;
/// No reminder is longer.
const MAX_REMINDER: usize = 64;

/// What people say before they say it.
const LEADS: &[&str] = &[
    "ok", "okay", "yes", "yeah", "yep", "no", "nope", "nein", "well", "so", "and", "but", "also",
    "please", "pls", "hmm", "hm", "ah", "oh", "right", "actually", "sorry", "hey", "wait", "again",
    "bitte",
];

const REMINDERS: &[&str] = &[
    "remember that",
    "remember to",
    "remember",
    "keep in mind that",
    "keep in mind",
    "bear in mind that",
    "bear in mind",
    "don't forget that",
    "make a note that",
    "for the record",
];

/// A title from a sentence.
pub(super) fn title(sentence: &str) -> String {
    let plain = without_leads(sentence);
    capitalised(&uncut(
        plain.trim_end_matches(['.', '!', ',', ';', ':', ' ', '。', '！']),
        MAX_TITLE,
    ))
}

/// A sentence without what people say before they say it.
pub(super) fn without_leads(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    while let Some(shorter) = without_lead(rest) {
        rest = shorter;
    }
    if rest.chars().count() < 10 { sentence.trim() } else { rest }
}

/// What a sentence tells before it asks for something: "the backend is in ../db, so please look there".
pub(super) fn without_request(sentence: &str) -> &str {
    const ASKS: &[&str] =
        &["yeah", "let's", "lets", "please", "maybe", "can", "could", "just", "you"];
    let asks = |rest: &str| {
        rest.split_whitespace().next().is_some_and(|word| ASKS.contains(&fold(word).as_str()))
    };
    match sentence.split_once(", so ") {
        Some((told, rest)) if asks(rest) => told,
        _ => sentence,
    }
}

fn without_lead(text: &str) -> Option<&str> {
    let word = text.split_whitespace().next()?;
    let bare = word.trim_end_matches([',', '.', '!', ':', ';', '…']);
    // "No emojis" keeps its no; "no, use tabs" does not.
    let is_lead =
        LEADS.contains(&fold(bare).as_str()) && !(fold(bare).starts_with("no") && bare == word);
    if is_lead {
        return Some(text[word.len()..].trim_start());
    }
    let folded = fold(&text[..text.floor_char_boundary(MAX_REMINDER)]);
    let reminder = REMINDERS.iter().find(|lead| folded.starts_with(**lead))?;
    // Folding keeps the length of what these phrases are made of, but for curly apostrophes.
    let rest = text.get(reminder.len()..)?.trim_start_matches([',', ':', ' ']);
    (text.is_char_boundary(reminder.len()) && !rest.is_empty()).then_some(rest)
}

pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// The text in at most `max` bytes, cut between words.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // What follows is cut off anyway.
        if max < line.len() {
            break;
        }
    }
    if line.len() <= max {
        return line;
    }
    let head = &line[..line.floor_char_boundary(max)];
    let end = head
        .rfind([',', ';', ':'])
        .filter(|end| *end > max / 2)
        .or_else(|| head.rfind(' '))
        .unwrap_or(head.len());
    format!("{}…", head[..end].trim_end_matches([',', ';', ':', ' ', '-']))
}

/// Marks that a clause ends at.
const CLAUSE_MARKS: &[&str] = &[", ", "; ", ": ", " (", " — ", " – "];
/// Words that a clause begins with.
const CLAUSE_WORDS: &[&str] = &[" because ", " since ", " so that ", " which ", " but "];
/// Words that no text ends with.
const OPEN_WORDS: &[&str] = &[
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "is", "its", "no", "not",
    "of", "on", "or", "our", "that", "the", "their", "to", "we", "with", "your",
];

/// The text in at most `max` characters: whole words, ended at a clause where that leaves enough of it.
pub(crate) fn uncut(text: &str, max: usize) -> String {
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
        return closed(&head[..clause]).to_owned();
    }
    let is_whole = line[end..].starts_with(' ');
    let mut cut = closed(if is_whole { head } else { &head[..head.rfind(' ').unwrap_or(end)] });
    while let Some((rest, word)) = cut.rsplit_once(' ')
        && OPEN_WORDS.contains(&fold(word).as_str())
    {
        cut = closed(rest);
    }
    cut.to_owned()
}

fn closed(text: &str) -> &str {
    text.trim_end_matches([',', ';', ':', ' ', '-', '('])
}

/// The sentence at `idx` with those around it, as they stand in the message.
pub(super) fn excerpt(sentences: &[Sentence<'_>], idx: usize) -> String {
    let whole = sentences.iter().try_fold(0, |whole, sentence| {
        let whole = whole + sentence.text.len() + 1;
        (whole <= MAX_EXCERPT).then_some(whole)
    });
    let own = sentences[idx].paragraph;
    let near = match whole {
        Some(_) => 0..sentences.len(),
        None => idx.saturating_sub(1)..sentences.len().min(idx + 2),
    };
    let near = sentences[near].iter();
    let near = near.filter(|sentence| whole.is_some() || sentence.paragraph == own);
    let told: Vec<String> = near.map(|sentence| ended(sentence.text)).collect();
    shortened(&told.join(" "), MAX_EXCERPT)
}

fn ended(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?', ':', '。', '！', '？', '…']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// The body: what was said, then after what.
pub(super) fn body(excerpt: &str, context: &str) -> String {
    format!("{}\n\n{context}", capitalised(excerpt))
}

/// What the agent had done or said just before.
#[derive(Clone, Debug, Default)]
pub(super) struct Before {
    /// The last command, where it came after the last words.
    pub(super) command: Option<String>,
    /// The last words.
    pub(super) words: Option<String>,
}

impl Before {
    pub(super) fn context(&self) -> String {
        match (&self.command, &self.words) {
            (Some(command), _) => {
                format!(
                    "The person said this after the agent had run `{}`.",
                    shortened(command, MAX_CONTEXT)
                )
            }
            (None, Some(words)) => {
                format!(
                    "The person said this after the agent had written: \"{}\"",
                    shortened(words, MAX_CONTEXT)
                )
            }
            (None, None) => "The person said this when the session began.".to_owned(),
        }
    }
}

/// Tags by what a text speaks of.
pub(crate) fn tags(text: &str) -> Vec<String> {
    const TOPICS: &[(&str, &[&str])] = &[
        ("testing", &["test", "tests", "testing", "pytest", "mock", "mocks", "suite"]),
        (
            "git",
            &[
                "commit",
                "commits",
                "push",
                "branch",
                "branches",
                "rebase",
                "merge",
                "pr",
                "prs",
                "changelog",
            ],
        ),
        (
            "dependencies",
            &["npm", "pnpm", "yarn", "pip", "cargo", "install", "dependency", "dependencies"],
        ),
        ("database", &["sql", "sqlite", "postgres", "database", "orm", "query"]),
        ("deployment", &["deploy", "staging", "production", "docker", "release", "ci"]),
        ("style", &["comments", "refactor", "naming", "format", "tabs", "emojis", "style"]),
        ("docs", &["docs", "readme", "documentation"]),
        ("security", &["secret", "secrets", "token", "password", "permission", "auth"]),
    ];
    let folded = fold(text);
    let words: Vec<&str> = folded.split(|c: char| !c.is_alphanumeric()).collect();
    let is_spoken_of = |names: &[&str]| names.iter().any(|name| words.contains(name));
    let topics = TOPICS.iter().filter(|(_, names)| is_spoken_of(names));
    topics.map(|(tag, _)| (*tag).to_owned()).take(3).collect()
}

#[cfg(test)]
mod tests {
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
    fn a_fact_is_told_without_the_request_behind_it() {
        let cases = [
            ("../db is the backend, so yeah maybe just open a PR", "../db is the backend"),
            (
                "we maintain it, so it's fine that it's alpha",
                "we maintain it, so it's fine that it's alpha",
            ),
        ];
        for (sentence, expected) in cases {
            assert_eq!(without_request(sentence), expected);
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
