//! A person's message as sentences, without what they pasted into it.
//!
//! People paste logs, plans and reviews between their own words, and a rule in a pasted text is not theirs. Lines
//! that no one types are left out; a message that reads like a document counts as one.

/// What a message is as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A person talking.
    Talk,
    /// A plan, a template, a review: long, or with headings and lists.
    Document,
}

/// A sentence and where it stands in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sentence<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    /// Sentences of one paragraph belong together.
    pub(super) paragraph: usize,
    /// It stands in a list.
    pub(super) is_item: bool,
}

impl Sentence<'_> {
    pub(super) fn is_question(&self) -> bool {
        self.text.trim_end_matches(['"', ')', '\'', ' ']).ends_with(['?', '？'])
    }
}

/// A message, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said<'a> {
    pub(super) shape: Shape,
    pub(super) sentences: Vec<Sentence<'a>>,
}

/// Longer than this nobody types into a prompt.
const MAX_TALK_BYTES: usize = 2000;
const MAX_TALK_SENTENCES: usize = 20;
const MAX_TALK_ITEMS: usize = 5;
/// Of a longer message only the beginning is looked at: the rest would be dropped.
const MAX_SEEN: usize = 8 * 1024;

/// Takes a message apart.
pub(super) fn said(message: &str) -> Said<'_> {
    let seen = &message[..message.floor_char_boundary(MAX_SEEN)];
    let mut sentences = Vec::new();
    let mut marks = Marks { is_cut: seen.len() < message.len(), ..Marks::default() };
    let mut at = 0;
    let mut place = MessagePlace::default();
    for line in seen.split_inclusive('\n') {
        let (start, trimmed) = (at, line.trim());
        at += line.len();
        let is_prose = place.is_prose(line);
        if !place.is_code && !place.is_output {
            marks.note(line);
        }
        if !is_prose {
            continue;
        }
        marks.prose += trimmed.len();
        place.is_item = is_item(trimmed);
        split(line, start, &place, &mut sentences);
    }
    let is_document = marks.is_document() || sentences.len() > MAX_TALK_SENTENCES;
    let shape = if is_document { Shape::Document } else { Shape::Talk };
    Said { shape, sentences }
}

/// Where the reader of a message is.
#[derive(Default)]
struct MessagePlace {
    paragraph: usize,
    is_code: bool,
    /// A prompt was met: what follows in its paragraph is output.
    is_output: bool,
    is_item: bool,
}

impl MessagePlace {
    /// Takes the next line; whether a person wrote it.
    fn is_prose(&mut self, line: &str) -> bool {
        let trimmed = line.trim();
        let n_fences = trimmed.matches("```").count();
        if n_fences > 0 {
            self.is_code ^= n_fences % 2 == 1;
            return false;
        }
        if trimmed.is_empty() {
            self.paragraph += 1;
            self.is_output = false;
            return false;
        }
        self.is_output |= is_prompt(trimmed);
        !self.is_code && !self.is_output && !is_pasted(line)
    }
}

/// Whether a line was typed into a shell: `❯ make`, `$ make`, `(env) ana@host:~$ make`.
fn is_prompt(line: &str) -> bool {
    let names_host = line
        .split_whitespace()
        .take(2)
        .any(|word| word.contains('@') && word.contains(['~', '$', ':', '>']));
    line.starts_with(['❯', '➜', '$']) || (names_host && line.contains(['$', '>', '#']))
}

/// What tells a document from talk.
#[derive(Default)]
struct Marks {
    is_cut: bool,
    headings: usize,
    items: usize,
    bold: usize,
    findings: usize,
    /// Lines that end in the middle of a sentence: nobody wraps what they type.
    wrapped: usize,
    /// Lines that go on indented, as terminals show them.
    hanging: usize,
    /// The last line ended so.
    is_open: bool,
    chat: usize,
    prose: usize,
}

impl Marks {
    fn note(&mut self, line: &str) {
        let is_hanging = line.starts_with("  ") && !line.trim().is_empty();
        let line = line.trim();
        let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
        self.headings += usize::from(hashes > 0 && line[hashes..].starts_with(' '));
        self.items += usize::from(is_item(line));
        self.bold += line.matches("**").count() / 2;
        let lower = line.to_lowercase();
        // What reviewers, people and programs, put above their findings.
        let grades =
            ["severity", "high:", "medium:", "low:", "(high)", "(medium)", "(low)", "[p1]", "[p2]"];
        let was_open = std::mem::replace(&mut self.is_open, is_open(line));
        let is_full = (60..100).contains(&line.len()) && self.is_open && !is_item(line);
        self.wrapped += usize::from(is_full);
        self.hanging += usize::from(was_open && is_hanging);
        self.chat += usize::from(["am]", "pm]"].iter().any(|stamp| lower.contains(stamp)));
        self.findings += usize::from(grades.iter().any(|grade| lower.contains(grade)));
    }

    fn is_document(&self) -> bool {
        self.is_cut
            || self.headings > 0
            || self.findings > 0
            || self.bold > 0
            || self.chat > 0
            || self.wrapped > 2
            || self.hanging > 0
            || self.items > MAX_TALK_ITEMS
            || self.prose > MAX_TALK_BYTES
    }
}

/// Whether a line ends in the middle of a sentence.
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

/// Whether a line was copied from a terminal, a log, a diff or a file.
fn is_pasted(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "❯",
        "$ ",
        "> ",
        "% ",
        "+++",
        "---",
        "@@",
        "|",
        "│",
        "at ",
        "File \"",
        "Traceback",
        "[",
        "{",
        "}",
        "<",
        "//",
        "#",
        "error:",
        "Error:",
        "ERROR",
        "fatal:",
        "FATAL",
        "warning:",
        "WARN",
        "Username for",
        "Password for",
        "✓",
        "✗",
        "Caused by",
        "panicked",
        "+ ",
        "import ",
        "from \"",
    ];
    const PARTS: &[&str] = &[
        "level=",
        " ERROR ",
        " FATAL ",
        "http://localhost",
        "Error: ",
        "error: ",
        "=>",
        "();",
        ") {",
    ];
    let trimmed = line.trim();
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    is_indented
        || STARTS.iter().any(|start| trimmed.starts_with(start))
        || PARTS.iter().any(|part| trimmed.contains(part))
        || starts_with_stamp(trimmed)
        || is_mostly_signs(trimmed)
}

/// A time or `file:line:` at the start.
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

/// Splits a line into sentences; a break needs a space after it, so that `v1.2` and `a.b` stay whole.
fn split<'a>(line: &'a str, start: usize, place: &MessagePlace, sentences: &mut Vec<Sentence<'a>>) {
    let (mut from, mut is_code) = (0, false);
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let next = chars.peek().map(|(_, next)| *next);
        let is_end = match c {
            '`' => {
                is_code = !is_code;
                false
            }
            _ if is_code => false,
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace) && !ends_short(&line[from..at]),
            _ => false,
        };
        if is_end {
            push(line, from..end, start, place, sentences);
            from = end;
        }
    }
    push(line, from..line.len(), start, place, sentences);
}

/// Whether a dot after this ends an abbreviation and not a sentence.
fn ends_short(text: &str) -> bool {
    const SHORT: &[&str] = &["e.g", "i.e", "etc", "vs", "cf", "approx", "z.B", "bzw"];
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    SHORT.contains(&word) || (word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_digit()))
}

fn push<'a>(
    line: &'a str,
    range: std::ops::Range<usize>,
    start: usize,
    place: &MessagePlace,
    sentences: &mut Vec<Sentence<'a>>,
) {
    let text = &line[range.clone()];
    let lead = text.len() - text.trim_start().len();
    let trimmed = text.trim();
    if trimmed.chars().any(char::is_alphanumeric) {
        let MessagePlace { paragraph, is_item, .. } = *place;
        let start = start + range.start + lead;
        sentences.push(Sentence { text: trimmed, start, paragraph, is_item });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(message: &str) -> Vec<&str> {
        said(message).sentences.iter().map(|sentence| sentence.text).collect()
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
            assert_eq!(said(text).shape, Shape::Document, "{text}");
        }
        assert_eq!(said("1. yes\n2. no, use the other one").shape, Shape::Talk);
        assert_eq!(said(&"I think this is fine. ".repeat(30)).shape, Shape::Document);
    }

    #[test]
    fn a_sentence_knows_its_place() {
        let message = "one.\n\n  two three. four";
        for sentence in said(message).sentences {
            let end = sentence.start + sentence.text.len();
            assert_eq!(&message[sentence.start..end], sentence.text);
        }
    }
}
