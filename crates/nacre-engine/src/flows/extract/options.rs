//! What the agent left to choose, and which of it a short answer takes.
//!
//! Options come through a question tool, as lines with letters or numbers, or as rows of a table; answers as a letter, a
//! name, or "yes" to what the agent recommends. Lists of next steps look alike, so a list counts only where the agent
//! asks for a choice.

use serde::Deserialize;

use super::choice::{Alternative, Choice};
use super::cues::fold;
use super::reading::content_words;
use super::words::{shortened, uncut};

/// The most of the agent's words that options are looked for in.
const MAX_OFFER: usize = 6000;
/// More options are a menu.
const MAX_OPTIONS: usize = 6;
/// A longer line explains itself; it is no option.
const MAX_OPTION: usize = 600;
/// The most words of an answer that takes an option.
const MAX_ANSWER_WORDS: usize = 40;

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
    "alternatives",
    "ways",
    "either",
    "trade-off",
    "tradeoff",
    "choose",
    "choice",
    "pick",
    "or",
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

/// The arguments of a question tool.
#[derive(Debug, Deserialize)]
struct Asked {
    questions: Vec<Question>,
}

#[derive(Debug, Deserialize)]
struct Question {
    #[serde(default)]
    question: String,
    #[serde(default)]
    header: Option<String>,
    #[serde(default)]
    options: Vec<Offered>,
}

#[derive(Debug, Deserialize)]
struct Offered {
    #[serde(alias = "name", alias = "title")]
    label: String,
    #[serde(default)]
    description: Option<String>,
}

/// The choice that an answer makes; the question comes as the tool's arguments. `nth` is the number of the answer
/// among those to this call.
pub(super) fn answered(arguments: &str, answer: &str, nth: usize) -> Option<Choice> {
    let asked: Asked = serde_json::from_str(arguments).ok()?;
    let plain = fold(without_recommended(answer).trim());
    let names =
        |question: &&Question| question.options.iter().any(|option| is_named(option, &plain));
    let named = asked.questions.iter().find(names);
    let question = named.or_else(|| asked.questions.get(nth)).or(asked.questions.first())?;
    let (taken, left): (Vec<&Offered>, Vec<&Offered>) =
        question.options.iter().partition(|option| is_named(option, &plain));
    let is_free = taken.is_empty();
    let chosen = match taken.as_slice() {
        [] => Alternative { name: uncut(answer.trim(), MAX_OPTION), meaning: None },
        [option] => alternative(option),
        // Several may be ticked.
        several => {
            let names: Vec<&str> = several.iter().map(|option| option.label.as_str()).collect();
            Alternative { name: names.join(" and "), meaning: None }
        }
    };
    let others = left.into_iter().take(MAX_OPTIONS).map(alternative).collect();
    let header = question.header.clone();
    let question = question.question.clone();
    Some(Choice { question, header, chosen, others, is_free, is_asked: true })
}

fn is_named(option: &Offered, plain: &str) -> bool {
    let label = fold(without_recommended(&option.label).trim());
    !label.is_empty()
        && (plain == label
            || plain.split(", ").any(|part| part == label)
            || plain.starts_with(&format!("{label}:")))
}

fn alternative(option: &Offered) -> Alternative {
    let name = without_recommended(&option.label).trim().to_owned();
    Alternative { name, meaning: option.description.clone().filter(|text| !text.trim().is_empty()) }
}

/// A name without "(Recommended)".
fn without_recommended(name: &str) -> &str {
    let end = name.to_ascii_lowercase().find("(recommended");
    end.map_or(name, |end| &name[..end])
}

/// The choice that a message like "B", "2, because …" or "yes" makes of what the agent said last.
pub(super) fn taken(said: &str, message: &str) -> Option<Choice> {
    if message.split_whitespace().count() > MAX_ANSWER_WORDS {
        return None;
    }
    let start = said.ceil_char_boundary(said.len().saturating_sub(MAX_OFFER));
    let tail = &said[start..];
    let options = listed(tail);
    let question = question_of(tail)?;
    if !(2..=MAX_OPTIONS).contains(&options.len()) || !has_word(&fold(tail), CHOOSING) {
        return None;
    }
    let at = match label(message) {
        Some(label) => options.iter().position(|(name, _)| *name == label)?,
        None => recommended(tail, &options, message).or_else(|| by_name(&options, message))?,
    };
    let mut others: Vec<Alternative> =
        options.into_iter().map(|(_, line)| alternative_of(line)).collect();
    let chosen = others.remove(at);
    Some(Choice { question, header: None, chosen, others, is_free: false, is_asked: false })
}

/// The options of a text: the last run of lines or table rows whose labels follow one another.
fn listed(text: &str) -> Vec<(char, &str)> {
    let mut runs: Vec<Vec<(char, &str)>> = Vec::new();
    for (label, line) in text.lines().filter_map(option_line) {
        let follows = |run: &Vec<(char, &str)>| {
            run.last().is_some_and(|(last, _)| u32::from(*last) + 1 == u32::from(label))
        };
        match runs.last_mut() {
            Some(run) if follows(run) => run.push((label, line)),
            _ if matches!(label, 'a' | '1') => runs.push(vec![(label, line)]),
            _ => {}
        }
    }
    runs.pop().unwrap_or_default()
}

/// The last question of a text, or the sentence that asks for a choice.
fn question_of(text: &str) -> Option<String> {
    let is_option = |line: &str| option_line(line).is_some();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_option(line));
    let asks = |line: &&str| {
        let bare = line.trim_end_matches(['*', '_', ' ', ')']);
        bare.ends_with(['?', '？'])
    };
    let line = lines.rfind(asks)?;
    let sentence = line.rsplit(['.', '!']).next().unwrap_or(line).trim();
    let sentence = sentence.trim_matches(['*', '_', '#', '-', ' ']);
    (!sentence.is_empty()).then(|| shortened(sentence, 200))
}

/// The option that the agent recommends, where the message agrees.
fn recommended(said: &str, options: &[(char, &str)], message: &str) -> Option<usize> {
    const AGREED: &[&str] = &[
        "yes",
        "yep",
        "yeah",
        "ok",
        "okay",
        "sure",
        "sounds good",
        "agreed",
        "agree",
        "i agree",
        "do it",
        "go with your recommendation",
        "your recommendation",
        "as you recommend",
        "as recommended",
        "go with that",
        "ja",
        "passt",
        "好",
        "好的",
        "可以",
    ];
    let folded = fold(message.trim());
    let plain = folded.trim_end_matches(['.', '!', ' ', '。']);
    if !AGREED.contains(&plain) {
        return None;
    }
    let is_praised = |text: &str| {
        let folded = fold(text);
        folded.contains("recommend")
            || folded.contains("my pick")
            || folded.contains("my preference")
    };
    let praised: Vec<usize> = options
        .iter()
        .enumerate()
        .filter(|(_, (_, line))| is_praised(line))
        .map(|(at, _)| at)
        .collect();
    if let [at] = praised.as_slice() {
        return Some(*at);
    }
    // "I'd go with B", "My recommendation: option 2".
    let mut lines = said.lines().filter(|line| option_line(line).is_none());
    let line = lines.rfind(|line| is_praised(line) || fold(line).contains("i'd go with"))?;
    let named: Vec<char> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() == 1)
        .filter_map(|word| word.chars().next())
        .filter(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    options.iter().position(|(name, _)| named.contains(name))
}

/// The one option whose name a short message says.
fn by_name(options: &[(char, &str)], message: &str) -> Option<usize> {
    let folded = fold(message);
    if folded.split_whitespace().count() > 8 || folded.contains('?') {
        return None;
    }
    let said: Vec<&str> = content_words(&folded).collect();
    let is_said = |line: &str| {
        let name = fold(&alternative_of(line).name);
        let words: Vec<&str> = content_words(&name).collect();
        !words.is_empty() && words.iter().all(|word| said.contains(word))
    };
    let mut named = options.iter().enumerate().filter(|(_, (_, line))| is_said(line));
    let (at, _) = named.next()?;
    named.next().is_none().then_some(at)
}

/// A line as an alternative: its name up to the first colon or dash, then what it means.
fn alternative_of(line: &str) -> Alternative {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let text = if line.starts_with('|') {
        // The first cell is the label, or holds it.
        let rest = cells.iter().skip(1).copied().filter(|cell| !cell.is_empty());
        let own = without_label(cells.first().copied().unwrap_or_default());
        let rest: Vec<&str> =
            std::iter::once(own).chain(rest).filter(|cell| cell.chars().count() > 1).collect();
        rest.join(": ")
    } else {
        without_label(line.trim_start_matches(['-', '*', '#', '•', ' '])).to_owned()
    };
    let text = text.replace("**", "").replace('`', "");
    let text = text.trim().trim_start_matches([':', '-', '—', '–', ' ']);
    let cut =
        [": ", " — ", " – ", " - ", ". ", " ("].iter().filter_map(|mark| text.find(mark)).min();
    let (name, meaning) = cut.map_or((text, ""), |at| {
        (&text[..at], text[at..].trim_start_matches([':', '—', '–', '-', '.', ' ']))
    });
    let meaning = (!meaning.trim().is_empty()).then(|| meaning.trim().to_owned());
    Alternative { name: without_recommended(name).trim().to_owned(), meaning }
}

/// An option's text without its letter or number.
fn without_label(option: &str) -> &str {
    let bare = option.trim_start_matches(['*', '(', ' ']);
    let bare =
        bare.strip_prefix("Option ").or_else(|| bare.strip_prefix("option ")).unwrap_or(bare);
    let mut chars = bare.chars();
    let is_label = chars.next().is_some_and(|c| c.is_ascii_alphanumeric());
    let rest = chars.as_str();
    let cut = rest.trim_start_matches([')', '.', ':', '*', ' ', '-', '—', '–']);
    if is_label && (cut.len() < rest.len() || rest.is_empty()) { cut } else { option }
}

/// `a`, `2`, from "A", "option B", "2, we pay for it", "let's do B".
fn label(message: &str) -> Option<char> {
    let folded = fold(message.trim());
    if folded.split_whitespace().count() > 25 {
        return None;
    }
    let leads = [
        "let's go with ",
        "i think ",
        "i'd say ",
        "prefer ",
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

/// The label and text of a line or table row that is an option.
fn option_line(line: &str) -> Option<(char, &str)> {
    let line = line.trim();
    if MAX_OPTION < line.len() {
        return None;
    }
    if let Some(row) = line.strip_prefix('|') {
        let cell = row.split('|').next()?.trim().trim_matches('*').trim();
        let cell = cell.strip_prefix("Option ").unwrap_or(cell);
        let mut chars = cell.chars();
        let label = chars.next()?.to_ascii_lowercase();
        let rest = chars.as_str();
        let is_label = matches!(label, 'a'..='f' | '1'..='6')
            && (rest.is_empty() || rest.starts_with([')', '.', ':', ' ']) && rest.len() < 60);
        return (is_label && !(rest.starts_with(' ') && label == 'a')).then_some((label, line));
    }
    let text = line.trim_start_matches(['-', '*', '#', '•', ' ']);
    let bare =
        text.strip_prefix("Option ").or_else(|| text.strip_prefix("option ")).unwrap_or(text);
    let bare = bare.strip_prefix('(').unwrap_or(bare);
    let mut chars = bare.chars();
    let label = chars.next()?.to_ascii_lowercase();
    let is_label = matches!(label, 'a'..='f' | '1'..='6');
    let rest = chars.as_str();
    let ends = rest.starts_with([')', '.', ':'])
        || rest.starts_with("**")
        || (bare.len() < text.len() && rest.starts_with([' ', '*', '—', '–', '-']));
    (is_label && ends).then_some((label, line))
}

fn has_word(folded: &str, wanted: &[&str]) -> bool {
    folded.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| wanted.contains(&word))
}

#[cfg(test)]
mod tests;
