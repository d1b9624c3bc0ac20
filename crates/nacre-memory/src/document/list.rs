//! Decodes the two common kinds of list without the YAML parser: `[a, b]` on one line, and one
//! `- a` per line.

use std::borrow::Cow;
use std::ops::Range;

use super::index::{KeyEntry, is_blank, without_break};
use super::scalar;

pub(super) struct Flow {
    pub(super) span: Range<usize>,
    pub(super) items: Vec<String>,
}

pub(super) struct ListBlock {
    pub(super) indent: usize,
    pub(super) items: Vec<Item>,
    /// Where the last item ends. The rest of the entry consists of comments.
    pub(super) end: usize,
}

pub(super) struct Item {
    pub(super) place: Range<usize>,
    pub(super) value: Option<String>,
}

/// Parses the flow list after a colon. Returns `None` if the list is not simple enough.
pub(super) fn flow(rest: &str) -> Option<Flow> {
    let node = rest.trim_start_matches(' ');
    let start = rest.len() - node.len();
    let mut items = Vec::new();
    let mut left = node.strip_prefix('[')?.trim_start_matches(' ');
    while !left.starts_with(']') {
        let (text, length) = scalar::in_flow(left)?;
        items.extend(text.map(Cow::into_owned));
        left = left[length..].trim_start_matches(' ');
        match left.strip_prefix(',') {
            Some(next) => left = next.trim_start_matches(' '),
            None if left.starts_with(']') => {}
            None => return None,
        }
    }
    let length = node.len() - left.len() + 1;
    scalar::is_rest(&left[1..]).then_some(Flow { span: start..start + length, items })
}

/// Parses an entry's lines as a block list. Returns `None` if it is not simple enough.
pub(super) fn block(entry: &KeyEntry, text: &str) -> Option<ListBlock> {
    let head = scalar::in_block(entry.head(text))?;
    if head.text.is_some() || !head.span.is_empty() {
        return None;
    }
    let mut indent = None;
    let mut items = Vec::new();
    let mut item_start = entry.head_end;
    let mut line_start = entry.head_end;
    for line in text[entry.head_end..entry.end].split_inclusive('\n') {
        let line_end = line_start + line.len();
        let line = without_break(line);
        let node = line.trim_start_matches(' ');
        if !is_blank(line) && !node.starts_with('#') {
            let spaces = line.len() - node.len();
            if *indent.get_or_insert(spaces) != spaces {
                return None;
            }
            let rest = node.strip_prefix('-').filter(|it| it.is_empty() || it.starts_with(' '))?;
            let value = scalar::in_block(rest)?.text.map(Cow::into_owned);
            items.push(Item { place: item_start..line_end, value });
            item_start = line_end;
        }
        line_start = line_end;
    }
    Some(ListBlock { indent: indent?, items, end: item_start })
}
