//! Parses a query into words, exact phrases and filters, and extracts snippets around matches.
//!
//! Every string is a valid query. A word with a colon that is not a known filter is treated as
//! plain text, so users can paste error messages.

use std::cmp::Reverse;

use jiff::Timestamp;

use nacre_base::parse_time;
use nacre_base::text::{each_term, shorten, terms};

use super::record::{DESCRIBED, UNPROVEN};

/// Longer queries are truncated.
const MAX_QUERY_BYTES: usize = 8192;

const MAX_CLAUSES: usize = 16;

const FACETS: &[&str] = &[
    "type", "tag", "agent", "file", "symbol", "status", "kind", "project", "session", "speaker",
    "id",
];

pub fn facet_name(name: &str) -> Option<&'static str> {
    FACETS.iter().copied().chain([UNPROVEN, DESCRIBED, "supersedes"]).find(|known| *known == name)
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The query without its filters, but including the words in phrases.
    pub text: String,
    /// Phrases that must occur exactly, except for case.
    pub phrases: Vec<String>,
    /// Required facets. If a name occurs several times, matching any one of its values is enough.
    pub facets: Vec<(String, String)>,
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
}

impl Query {
    /// Parses words, `"exact phrases"` and `name:value` filters. Relative times such as `after:7d`
    /// are relative to `now`.
    pub fn parse(text: &str, now: Timestamp) -> Self {
        let mut query = Self::default();
        for (part, is_phrase) in tokens(cut(text)) {
            if is_phrase {
                query.add_phrase(part);
            } else if !query.add_filter(part, now) {
                query.add_text(part);
            }
        }
        query
    }

    pub fn plain(text: &str) -> Self {
        Self { text: cut(text).to_owned(), ..Self::default() }
    }

    pub fn with_facet(mut self, name: &str, value: &str) -> Self {
        self.facets.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
            && self.facets.is_empty()
            && self.after.is_none()
            && self.before.is_none()
    }

    pub fn is_filter_only(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns whether a text contains every phrase, ignoring case and line breaks.
    pub fn holds_phrases(&self, text: &str) -> bool {
        let words =
            |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let text = if self.phrases.is_empty() { String::new() } else { words(text) };
        self.phrases.iter().all(|phrase| holds_whole(&text, &words(phrase)))
    }

    fn add_text(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }

    fn add_phrase(&mut self, phrase: &str) {
        let phrase = phrase.trim();
        if phrase.is_empty() {
            return;
        }
        self.add_text(phrase);
        if self.phrases.len() < MAX_CLAUSES {
            self.phrases.push(phrase.to_lowercase());
        }
    }

    /// Adds `word` as a filter. Returns `false` if it is not a valid filter.
    fn add_filter(&mut self, word: &str, now: Timestamp) -> bool {
        let Some((name, value)) = word.split_once(':') else { return false };
        let value = value.trim_matches('"');
        if value.is_empty() || self.facets.len() >= MAX_CLAUSES {
            return false;
        }
        match name {
            "after" | "since" => set_time(&mut self.after, value, now),
            "before" | "until" => set_time(&mut self.before, value, now),
            name if FACETS.contains(&name) => {
                self.facets.push((name.to_owned(), value.to_lowercase()));
                true
            }
            _ => false,
        }
    }
}

fn holds_whole(text: &str, phrase: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let cuts_first =
        |before: &str| is_word(before.chars().next_back()) && is_word(phrase.chars().next());
    let cuts_last =
        |after: &str| is_word(after.chars().next()) && is_word(phrase.chars().next_back());
    text.match_indices(phrase)
        .any(|(at, _)| !cuts_first(&text[..at]) && !cuts_last(&text[at + phrase.len()..]))
}

fn set_time(slot: &mut Option<Timestamp>, value: &str, now: Timestamp) -> bool {
    let time = parse_time(value, now);
    if time.is_some() {
        *slot = time;
    }
    time.is_some()
}

/// Splits at whitespace and quotes. Each part has a flag that marks exact phrases. A quoted filter
/// value stays with its filter.
fn tokens(text: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let inner = &rest[1..];
            let end = inner.find('"').unwrap_or(inner.len());
            found.push((&inner[..end], true));
            rest = inner.get(end + 1..).unwrap_or_default().trim_start();
            continue;
        }
        let end = word_end(rest);
        found.push((&rest[..end], false));
        rest = rest[end..].trim_start();
    }
    found
}

fn word_end(text: &str) -> usize {
    let end = text.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len());
    let is_filter = text[..end].ends_with(':') && text[end..].starts_with('"');
    match text[end..].get(1..).and_then(|value| value.find('"')) {
        Some(len) if is_filter => end + len + 2,
        _ => end,
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_QUERY_BYTES)]
}

/// Most sentences are shorter, so that a rule is shown with its values.
const MAX_SNIPPET_CHARS: usize = 240;

const MAX_SNIPPET_LINES: usize = 400;

/// Returns an excerpt from the line with the most query terms, or from the first line if no line
/// has any. Headings are skipped.
pub fn snippet(text: &str, question: &str) -> String {
    let wanted = terms(question);
    let is_content = |line: &&str| !line.is_empty() && !is_markup(line);
    let lines = text.lines().map(str::trim).filter(is_content).take(MAX_SNIPPET_LINES);
    let mut best: Option<(usize, &str)> = None;
    for line in lines {
        let n_found = n_found(line, &wanted);
        if best.is_none_or(|(most, _)| n_found > most) {
            best = Some((n_found, line));
        }
        if n_found == wanted.len() {
            break;
        }
    }
    best.map_or_else(String::new, |(_, line)| cut_line(line, &wanted))
}

fn is_markup(line: &str) -> bool {
    let bare = line.trim_start_matches('#');
    let is_heading = bare.len() < line.len() && (bare.is_empty() || bare.starts_with(' '));
    is_heading || line.starts_with("```") || line.chars().all(|c| "-=*_".contains(c))
}

fn n_found(line: &str, wanted: &[String]) -> usize {
    let mut held = vec![false; wanted.len()];
    each_term(line, |term| {
        if let Some(idx) = wanted.iter().position(|wanted| wanted == term) {
            held[idx] = true;
        }
    });
    held.into_iter().filter(|is_held| *is_held).count()
}

/// Returns the part of a line that starts with the sentence with the most terms, or shortly before
/// the first term if no sentence has any near its start.
fn cut_line(line: &str, wanted: &[String]) -> String {
    if line.chars().count() <= MAX_SNIPPET_CHARS {
        return line.to_owned();
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let starts_sentence = |idx: &usize| {
        idx.checked_sub(1).is_none_or(|before| words[before].ends_with(['.', '!', '?', ':']))
    };
    let sentences = (0..words.len()).filter(starts_sentence).take(MAX_SNIPPET_LINES);
    let best = sentences.map(|start| (n_found(&excerpt(&words[start..]), wanted), Reverse(start)));
    let start = match best.max() {
        Some((1.., Reverse(start))) => start,
        _ => words.iter().position(|word| n_found(word, wanted) > 0).unwrap_or(4).saturating_sub(4),
    };
    let dots = if start > 0 { "…" } else { "" };
    format!("{dots}{}", excerpt(&words[start..]))
}

fn excerpt(words: &[&str]) -> String {
    let whole = words.join(" ");
    let cut = shorten(&whole, MAX_SNIPPET_CHARS);
    if cut.len() < whole.len() { format!("{cut}…") } else { cut }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> Timestamp {
        "2026-11-15T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn words_phrases_and_filters_are_told_apart() {
        let query =
            Query::parse(r#"why "one file" type:decision tag:"Two Words" after:2026-01"#, now());
        assert_eq!(query.text, "why one file");
        assert_eq!(query.phrases, ["one file"]);
        let facet = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(query.facets, [facet("type", "decision"), facet("tag", "two words")]);
        assert_eq!(query.after.unwrap().to_string(), "2026-01-01T00:00:00Z");
    }

    #[test]
    fn what_only_looks_like_a_filter_is_text() {
        for text in
            ["error: cannot open", "http://localhost:80", "tag:", "std::fs::read", "after:noon"]
        {
            let query = Query::parse(text, now());
            assert_eq!((query.text.as_str(), query.facets.len()), (text, 0));
        }
    }

    #[test]
    fn a_phrase_is_whole_words_however_lines_break() {
        let holds = |phrase: &str, text: &str| {
            Query::parse(&format!("\"{phrase}\""), now()).holds_phrases(text)
        };
        assert!(holds("one File", "Only one\n file."));
        assert!(!holds("one file", "one files"));
        assert!(holds("(x", "f(x)") && holds("c++", "in c++20"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(text in r#"(\PC|["\n: ]|type:|after:){0,60}"#) {
            let query = Query::parse(&text, now());
            prop_assert!(query.phrases.len() <= MAX_CLAUSES && query.facets.len() <= MAX_CLAUSES);
        }
    }

    #[test]
    fn the_line_with_most_terms_is_shown() {
        let text = "# Why\n\nOne file is simple.\nThe queue is a SQLite table.\n";
        assert_eq!(snippet(text, "sqlite queues"), "The queue is a SQLite table.");
        assert_eq!(snippet(text, "nothing"), "One file is simple.");
        assert_eq!(snippet("## Intent\n\nMend it.\n\n## Outcome", "intent"), "Mend it.");
        assert_eq!(snippet("#1 is open\n---\n", "x"), "#1 is open");
        assert_eq!(snippet("", "x"), "");
    }

    #[test]
    fn a_long_line_is_cut_around_its_term() {
        let line = format!("{}needle {}", "lorem ".repeat(100), "ipsum ".repeat(100));
        let snippet = snippet(&line, "needles");
        assert!(snippet.starts_with("…lorem lorem lorem lorem needle"), "{snippet}");
        assert!(snippet.chars().count() <= MAX_SNIPPET_CHARS + 1);
        let words = "lorem ".repeat(60);
        let line = format!("A needle {words}. Always name a needle with `n_`, please. {words}");
        let snippet = super::snippet(&line, "needle name");
        assert!(snippet.starts_with("…Always name a needle with `n_`, please."), "{snippet}");
    }
}
