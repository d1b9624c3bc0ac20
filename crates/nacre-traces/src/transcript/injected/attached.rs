//! Finds the ranges in a user message that may belong to a block added by a program, such as files
//! and selections that the agent inserted.

use std::collections::HashMap;
use std::ops::Range;

use super::{EndTags, OWN_TAGS, Rule, opening_tag, tag_name};
use crate::transcript::event::InjectedReason;

/// Names of tags around attached files. Users also write tags with these names, so each name must
/// be followed by the given text.
pub(crate) const FILE_TAGS: [(&str, &str); 6] = [
    ("file", " name="),
    ("file_content", " path="),
    ("folder_content", " path="),
    ("url_content", " url="),
    ("explicit_instructions", " type="),
    ("code_selection", " path="),
];

/// Gemini CLI and Qwen Code put these lines before and after files that they insert into a prompt.
const FILES_BEGIN: &str = "--- Content from referenced files ---";
const FILES_END: &str = "--- End of content ---";

const FENCE: &str = "```";

/// A range that may belong to a block added by a program.
pub(crate) struct Doubtful {
    pub(crate) range: Range<usize>,
    pub(crate) reason: InjectedReason,
}

pub(crate) fn is_name(name: &str) -> bool {
    FILE_TAGS.iter().any(|(known, _)| *known == name)
}

pub(crate) fn rule_of(name: &str, attributes: &str) -> Option<Rule> {
    let is_file = |tag: &&(&str, &str)| tag.0 == name && attributes.starts_with(tag.1);
    FILE_TAGS.iter().find(is_file).map(|_| Rule::Inject(InjectedReason::EditorContext))
}

/// Returns the ranges that may belong to blocks added by a program, in ascending order and without
/// overlaps. Each range extends from where one kind of block is first opened to where it is last
/// closed.
pub(crate) fn doubtful(text: &str, ends: &EndTags<'_>) -> Vec<Doubtful> {
    let mut found = find_tagged(text, ends);
    found.extend([find_referenced(text), find_selected(text)].into_iter().flatten().map(|range| {
        let reason = InjectedReason::EditorContext;
        Doubtful { range, reason }
    }));
    found.sort_by_key(|one| one.range.start);
    let mut merged: Vec<Doubtful> = Vec::new();
    for one in found {
        match merged.last_mut() {
            Some(last) if one.range.start < last.range.end => {
                last.range.end = last.range.end.max(one.range.end);
            }
            Some(_) | None => merged.push(one),
        }
    }
    merged
}

fn find_tagged(text: &str, ends: &EndTags<'_>) -> Vec<Doubtful> {
    let mut first: HashMap<&str, Doubtful> = HashMap::new();
    for (at, _) in text.match_indices('<') {
        let name = tag_name(&text[at + 1..]);
        // Nacre's own blocks always end where they seem to, because tags inside them are escaped.
        if name.is_empty() || name.starts_with(OWN_TAGS) || first.contains_key(name) {
            continue;
        }
        let Some(end) = ends.last(name).filter(|end| at < *end && may_open(text, at)) else {
            continue;
        };
        if let Some((Rule::Inject(reason), _)) = opening_tag(text, at) {
            let end = text[end..].find('>').map_or(text.len(), |close| end + close + 1);
            first.insert(name, Doubtful { range: at..end, reason });
        }
    }
    first.into_values().collect()
}

/// Programs open blocks only at the start of a line or after another tag.
fn may_open(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']).as_bytes();
    before.last().is_none_or(|last| matches!(last, b'\n' | b'>'))
}

fn find_referenced(text: &str) -> Option<Range<usize>> {
    let (start, _) = lines(text).find(|(_, line)| line.trim() == FILES_BEGIN)?;
    let end = text.rfind(FILES_END).map(|at| at + FILES_END.len());
    Some(start..end.filter(|end| start < *end).unwrap_or(text.len()))
}

/// Finds an editor selection, which is a code fence with a file name and line numbers.
fn find_selected(text: &str) -> Option<Range<usize>> {
    let (start, opening) = lines(text).find(|(_, line)| names_lines(line))?;
    let inside = start + opening.len();
    let last = lines(&text[inside..]).filter(|(_, line)| line.starts_with(FENCE)).last();
    let end = last.map_or(text.len(), |(at, line)| inside + at + line.trim_end().len());
    Some(start..end)
}

fn names_lines(line: &str) -> bool {
    let Some(info) = line.strip_prefix(FENCE) else { return false };
    let Some((_, range)) = info.trim_end().rsplit_once(" (") else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let range = range.strip_suffix(')').and_then(|range| range.split_once('-'));
    range.is_some_and(|(from, to)| is_number(from) && is_number(to))
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}
