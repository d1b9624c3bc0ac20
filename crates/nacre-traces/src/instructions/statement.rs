//! Builds a statement from a part of an instruction file: a title that makes a claim, and a body
//! that can be understood on its own.

const MAX_TITLE: usize = 90;

/// Maximum length of a body or quote in bytes. Anything longer is a document rather than a
/// statement.
const MAX_BODY: usize = 2000;

/// Sentences with fewer words are unclear without their topic.
const FEW_WORDS: usize = 6;

const ABBREVIATIONS: &[&str] = &["cf", "e.g", "etc", "i.e", "incl", "no", "resp", "vs"];

/// Headings that are too general to serve as a topic.
const GENERAL: &str = "\
    agents.md|basics|claude.md|conventions|gemini.md|general|guidelines|important|\
    instructions|key points|misc|miscellaneous|note|notes|overview|principles|\
    project guidelines|repository guidelines|rules|summary";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Counted from 1.
    pub line: usize,
    /// The enclosing headings, outermost first, followed by the line that introduces the list.
    pub topics: Vec<String>,
    /// At most 90 characters, truncated between words.
    pub title: String,
    pub body: String,
    pub quote: String,
    pub is_commands: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTaken {
    TooLong,
    NotAStatement,
}

#[derive(Clone, Debug, Default)]
pub(super) struct FoundStatement {
    pub(super) line: usize,
    pub(super) topics: Vec<String>,
    /// The statement's own text. Empty if it consists only of code.
    pub(super) text: String,
    pub(super) details: Vec<String>,
    pub(super) quote: String,
}

pub(super) fn statement(found: FoundStatement) -> Result<Statement, NotTaken> {
    let FoundStatement { line, topics, text, details, quote } = found;
    // A line that ends with a colon but introduces nothing is not a statement.
    let is_label = plain(&text).ends_with(':') && details.is_empty();
    if is_label || is_reference(&text) {
        return Err(NotTaken::NotAStatement);
    }
    let text = plain(&text);
    let is_commands = text.is_empty();
    let code = details.first().map(String::as_str).unwrap_or_default();
    let claim = match is_commands {
        true => first_command(code).map(|command| format!("`{command}`")).unwrap_or_default(),
        false => first_sentence(&text).to_owned(),
    };
    let topic = topics.iter().rev().find(|topic| !is_general(topic)).map(|topic| plain(topic));
    if claim.is_empty()
        || !(is_commands || says_something(&text))
        || (is_commands && topic.is_none())
    {
        return Err(NotTaken::NotAStatement);
    }
    let title = match &topic {
        Some(topic) if is_commands || needs_topic(&claim, topic) => format!("{topic}: {claim}"),
        Some(_) | None => claim,
    };
    let context: Vec<String> =
        topics.iter().filter(|topic| !is_general(topic)).map(|topic| plain(topic)).collect();
    let context = context.join(" > ");
    let first = match (context.is_empty(), is_commands) {
        (true, _) => text,
        (false, true) => format!("{context}:"),
        (false, false) => format!("{context}: {text}"),
    };
    let body = join_details(&first, &details);
    if body.len() > MAX_BODY || quote.len() > MAX_BODY {
        return Err(NotTaken::TooLong);
    }
    let title = cut(title.trim().trim_end_matches(['.', ':', ';', ',']), MAX_TITLE);
    Ok(Statement { line, topics, title, body, quote, is_commands })
}

/// Makes a statement of a whole file. If the file's description is only a topic, such as "how to
/// deploy", the title continues with the first sentence of the text.
pub(super) fn whole_file(topic: &str, text: &str, line: usize) -> Result<Statement, NotTaken> {
    let (topic, text) = (plain(topic), text.trim());
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '`', '|']));
    let mut lines = lines.map(|line| plain(line.trim_start_matches(['-', '*', '>', ' '])));
    let claim = lines.find(|line| says_something(line) && !line.ends_with(':'));
    let title = match claim.as_deref().map(first_sentence) {
        Some(claim) if topic.split_whitespace().count() < FEW_WORDS => format!("{topic}: {claim}"),
        _ => topic,
    };
    if !says_something(&title) || text.is_empty() {
        return Err(NotTaken::NotAStatement);
    }
    if text.len() > MAX_BODY {
        return Err(NotTaken::TooLong);
    }
    Ok(Statement {
        line,
        topics: Vec::new(),
        title: cut(title.trim_end_matches('.'), MAX_TITLE),
        body: text.to_owned(),
        quote: text.to_owned(),
        is_commands: false,
    })
}

/// Appends the details to the first line: nested items as lines, code and tables as paragraphs.
fn join_details(first: &str, details: &[String]) -> String {
    let mut body = first.to_owned();
    let mut was_item = false;
    for detail in details {
        let is_item = detail.starts_with("- ");
        body.push_str(if is_item && was_item { "\n" } else { "\n\n" });
        body.push_str(detail);
        was_item = is_item;
    }
    body
}

pub(super) fn plain(text: &str) -> String {
    let text = without_links(text).replace("**", "").replace("__", "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces `[text](address)` with its text, except inside code.
fn without_links(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let link = rest[open..].find("](").and_then(|middle| {
            let address = open + middle + 2;
            let end = address + rest[address..].find(')')?;
            let label = &rest[open + 1..open + middle];
            (!label.contains(['[', '\n'])).then_some((label, end))
        });
        let is_code = rest[..open].matches('`').count() % 2 == 1;
        match link.filter(|_| !is_code) {
            Some((label, end)) => {
                clean.push_str(&rest[..open]);
                clean.push_str(label);
                rest = &rest[end + 1..];
            }
            None => {
                clean.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
            }
        }
    }
    clean + rest
}

/// Returns `false` if the text is nothing but a path, a link, a question or a task.
fn says_something(text: &str) -> bool {
    let is_word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let n_words = text.split(|c: char| c.is_whitespace()).filter(is_word).count();
    let is_task = text.starts_with("[ ]") || text.starts_with("[x]") || text.starts_with("[X]");
    let is_include = text.starts_with('@') && !text.contains(' ');
    n_words >= 2 && text.chars().count() >= 8 && !text.ends_with('?') && !is_task && !is_include
}

/// Returns `true` if the text is nothing but a link or an index entry for a link.
fn is_reference(text: &str) -> bool {
    let text = text.trim();
    let link = text.strip_prefix('[').and_then(|rest| rest.split_once("](")?.1.split_once(')'));
    link.is_some_and(|(address, after)| {
        after.trim_matches(['.', ' ']).is_empty() || address.ends_with(".md")
    })
}

pub(super) fn is_general(topic: &str) -> bool {
    let folded = plain(topic).to_lowercase();
    let folded = folded.trim_matches(|c: char| !c.is_alphanumeric());
    folded.is_empty() || GENERAL.split('|').any(|general| general == folded)
}

fn needs_topic(claim: &str, topic: &str) -> bool {
    let n_words = claim.split_whitespace().count();
    n_words < FEW_WORDS && !claim.to_lowercase().contains(&topic.to_lowercase())
}

fn first_sentence(text: &str) -> &str {
    let mut from = 0;
    while let Some(found) = text[from..].find(". ") {
        let end = from + found;
        let word = text[..end].rsplit([' ', '(']).next().unwrap_or_default();
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        if !is_number && !ABBREVIATIONS.contains(&word.to_lowercase().as_str()) {
            return &text[..end];
        }
        from = end + 2;
    }
    text
}

fn first_command(code: &str) -> Option<&str> {
    let lines = code.lines().skip(1).map(str::trim);
    let mut commands = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '`', '~']));
    commands.next().map(|line| line.trim_start_matches("$ ").trim_matches('`').trim())
}

fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut line = String::new();
    for word in text.split_whitespace() {
        // Leave room for a space and an ellipsis.
        if line.chars().count() + word.chars().count() + 2 > max {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.is_empty() {
        line = text.chars().take(max - 1).collect();
    }
    format!("{}…", line.trim_end_matches([',', ';', ':', ' ', '-', '—']))
}
