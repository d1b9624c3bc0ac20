//! Splits a user's message into sentences. Pasted text is removed, because any rules in it may not
//! be the user's own.

use std::sync::LazyLock;

use regex::Regex;

use super::cues::{named, pattern};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sentence<'a> {
    pub(crate) text: &'a str,
    pub(super) is_item: bool,
}

impl Sentence<'_> {
    pub(super) fn is_question(&self) -> bool {
        self.text.trim_end_matches(['"', ')', '\'', ' ']).ends_with(['?', '？'])
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    /// Whether the message is a plan, template or review, as indicated by its length or by headings
    /// and lists.
    pub(super) is_document: bool,
    pub(crate) sentences: Vec<Sentence<'a>>,
}

/// Maximum length of a typed message. Longer messages are rarely typed.
const MAX_TALK_BYTES: usize = 2000;
const MAX_TALK_SENTENCES: usize = 20;
const MAX_TALK_ITEMS: usize = 5;
/// Maximum number of bytes to read from a message. Longer messages are treated as documents.
const MAX_SEEN: usize = 8 * 1024;

pub(crate) fn split_message(message: &str) -> Message<'_> {
    // A prompt sent by a program does not speak for the user.
    let n_seen = if is_template(message) { 0 } else { MAX_SEEN };
    let seen = &message[..message.floor_char_boundary(n_seen)];
    let mut sentences = Vec::new();
    let mut marks =
        DocumentFeatures { is_cut: seen.len() < message.len(), ..DocumentFeatures::default() };
    let mut place = LineReader::default();
    for line in seen.split_inclusive('\n') {
        let trimmed = line.trim();
        let is_prose = place.is_prose(line);
        if !place.is_code && !place.is_output {
            marks.note(line);
        }
        if !is_prose {
            continue;
        }
        marks.prose += trimmed.len();
        place.is_item = is_item(trimmed);
        split(line, &place, &mut sentences);
    }
    let is_document = marks.is_document() || sentences.len() > MAX_TALK_SENTENCES;
    Message { is_document, sentences }
}

/// Returns whether a message assigns a role, or has unfilled placeholders.
fn is_template(message: &str) -> bool {
    static TEMPLATE: LazyLock<Regex> = LazyLock::new(|| named("template"));
    TEMPLATE.is_match(&message[..message.floor_char_boundary(MAX_SEEN)])
}

#[derive(Default)]
struct LineReader {
    is_code: bool,
    /// Whether a shell prompt was found. If so, the rest of the paragraph is treated as output.
    is_output: bool,
    is_item: bool,
}

impl LineReader {
    fn is_prose(&mut self, line: &str) -> bool {
        let trimmed = line.trim();
        let n_fences = trimmed.matches("```").count();
        if n_fences > 0 {
            self.is_code ^= n_fences % 2 == 1;
            return false;
        }
        if trimmed.is_empty() {
            self.is_output = false;
            return false;
        }
        self.is_output |= is_prompt(trimmed);
        !self.is_code && !self.is_output && !is_pasted(line)
    }
}

/// Matches prompts such as `❯ make`, `$ make` and `(env) ana@host:~$ make`.
fn is_prompt(line: &str) -> bool {
    let names_host = line
        .split_whitespace()
        .take(2)
        .any(|word| word.contains('@') && word.contains(['~', '$', ':', '>']));
    line.starts_with(['❯', '➜', '$']) || (names_host && line.contains(['$', '>', '#']))
}

#[derive(Default)]
struct DocumentFeatures {
    is_cut: bool,
    is_formatted: bool,
    items: usize,
    /// Number of lines that end in the middle of a sentence. Typed text is usually not wrapped.
    wrapped: usize,
    is_open: bool,
    prose: usize,
}

impl DocumentFeatures {
    fn note(&mut self, line: &str) {
        // Labels that occur in review findings, or that precede messages in chat exports.
        const FORMATS: &[&str] = &[
            "severity", "high:", "medium:", "low:", "(high)", "(medium)", "(low)", "[p1]", "[p2]",
            "am]", "pm]",
        ];
        let is_hanging = self.is_open && line.starts_with("  ") && !line.trim().is_empty();
        let line = line.trim();
        let lower = line.to_lowercase();
        let is_heading = line.trim_start_matches('#').starts_with(' ') && line.starts_with('#');
        self.is_formatted |= is_heading
            || is_hanging
            || line.matches("**").count() > 1
            || FORMATS.iter().any(|format| lower.contains(format));
        self.items += usize::from(is_item(line));
        self.is_open = is_open(line);
        let is_full = (60..100).contains(&line.len()) && self.is_open && !is_item(line);
        self.wrapped += usize::from(is_full);
    }

    fn is_document(&self) -> bool {
        self.is_cut
            || self.is_formatted
            || self.wrapped > 2
            || self.items > MAX_TALK_ITEMS
            || self.prose > MAX_TALK_BYTES
    }
}

fn is_open(line: &str) -> bool {
    line.len() >= 60 && !line.ends_with(['.', '!', '?', ':', ';'])
}

fn is_item(line: &str) -> bool {
    let number = line.bytes().take_while(u8::is_ascii_digit).count();
    line.starts_with("- ")
        || line.starts_with("* ")
        || line.starts_with("• ")
        || (number > 0 && line[number..].starts_with(['.', ')']))
}

static PASTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x)
        ^(?: [❯│|✓✗\[{}<\#] | [$>%+]\s | \+\+\+ | --- | @@ | // | ::   # prompts, tables, diffs, code
           | at\s | File\s" | Traceback | Caused\sby | panicked           # backtraces
           | [Ee]rror: | ERROR | fatal: | FATAL | warning: | WARN          # logs
           | (?:Username|Password)\sfor | import\s | from\s" )
        | level= | \sERROR\s | \sFATAL\s | [Ee]rror:\s | http://localhost | => | \(\); | \)\s\{"#,
    )
});

fn is_pasted(line: &str) -> bool {
    let trimmed = line.trim();
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    // Shell prompts have symbols of their own.
    let has_symbol = trimmed.contains(|c| matches!(c, '\u{e000}'..='\u{f8ff}'));
    is_indented
        || has_symbol
        || PASTED.is_match(trimmed)
        || starts_with_stamp(trimmed)
        || is_mostly_signs(trimmed)
}

/// Returns whether a line starts with a time or with `file:line:`.
fn starts_with_stamp(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let digits = first.bytes().filter(u8::is_ascii_digit).count();
    let is_time = first.len() >= 8 && digits * 2 >= first.len();
    let mut parts = first.split(':');
    let is_place = parts.next().is_some_and(|path| path.contains('.'))
        && parts
            .next()
            .is_some_and(|line| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()));
    is_time || is_place
}

fn is_mostly_signs(line: &str) -> bool {
    let is_sign = |c: &char| {
        c.is_ascii_punctuation() && !matches!(c, '.' | ',' | '\'' | '!' | '?' | '"' | '`' | '-')
    };
    let (n_signs, n_chars) = (line.chars().filter(is_sign).count(), line.chars().count());
    n_chars > 20 && (n_signs * 5 > n_chars || (line.is_ascii() && !line.contains(' ')))
}

/// Splits a line into sentences. Punctuation ends a sentence only if a space follows, so `v1.2` and
/// `a.b` are not split.
fn split<'a>(line: &'a str, place: &LineReader, sentences: &mut Vec<Sentence<'a>>) {
    let mut push = |text: &'a str| {
        let text = text.trim();
        if text.chars().any(char::is_alphanumeric) {
            sentences.push(Sentence { text, is_item: place.is_item });
        }
    };
    let (mut from, mut is_code) = (0, false);
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        is_code ^= c == '`';
        let is_end = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace) && !ends_short(&line[from..at]),
            _ => false,
        };
        if is_end && !is_code {
            let end = at + c.len_utf8();
            push(&line[from..end]);
            from = end;
        }
    }
    push(&line[from..]);
}

fn ends_short(text: &str) -> bool {
    const SHORT: &[&str] = &["e.g", "i.e", "etc", "vs", "cf", "approx", "z.B", "bzw"];
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    SHORT.contains(&word) || (word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(message: &str) -> Vec<&str> {
        split_message(message).sentences.iter().map(|sentence| sentence.text).collect()
    }

    #[test]
    fn sentences_end_where_a_reader_would_end_them() {
        assert_eq!(
            sentences("No. Use v1.2 of a.b, e.g. like this! Is it ok?\nyes"),
            ["No.", "Use v1.2 of a.b, e.g. like this!", "Is it ok?", "yes"]
        );
        assert_eq!(sentences("不要用 npm。我们用 pnpm"), ["不要用 npm。", "我们用 pnpm"]);
    }

    #[test]
    fn what_was_pasted_is_left_out() {
        let terminal = "still no\n(llm) jim@DESK:/mnt/c$ claude -c\nNo conversation found to continue\n\nany idea";
        assert_eq!(sentences(terminal), ["still no", "any idea"]);
        let message = "ci is red:\n2026-03-02T10:11:12Z ERROR worker: always retry\n```\nnever()\n```\n    indented code\n\
                       src/a.rs:10:4: error\n❯ cargo test\n\nplease look";
        assert_eq!(sentences(message), ["ci is red:", "please look"]);
    }

    #[test]
    fn a_plan_is_a_document() {
        for text in [
            "# Plan\n\nAlways do it",
            "Fix this:\n**Medium**: never trust it",
            "1. Medium: x is stale",
        ] {
            assert!(split_message(text).is_document, "{text}");
        }
        assert!(!split_message("1. yes\n2. no, use the other one").is_document);
        assert!(split_message(&"I think this is fine. ".repeat(30)).is_document);
    }
}
