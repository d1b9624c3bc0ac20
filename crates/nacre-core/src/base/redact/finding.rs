//! A secret in a text, and the placeholder that takes its place.

use std::ops::Range;

use super::text::Text;

/// How sure a finding is of its kind: a shape says more than its place, a place more than a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    Name,
    Place,
    Shape,
}

/// A secret in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundSecret {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    pub(super) weight: Weight,
}

impl FoundSecret {
    pub(super) fn new(range: Range<usize>, kind: &'static str, weight: Weight) -> Self {
        Self { start: range.start, end: range.end, kind, weight }
    }
}

/// How every placeholder begins.
pub(super) const PLACEHOLDER: &str = "[redacted:";

/// Longer names than this are no kinds of ours.
pub(super) const MAX_KIND: usize = 40;

/// Returns where the placeholder ends whose beginning ends at `pos`, or `pos` if it is none of ours.
pub(super) fn placeholder_end(text: &Text<'_>, pos: usize) -> usize {
    let rest = text.rest(pos);
    let is_kind = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-';
    let n_kind = rest.iter().take(MAX_KIND).take_while(is_kind).count();
    if rest.get(n_kind) == Some(&b']') { pos + n_kind + 1 } else { pos }
}

/// Joins overlapping findings; the surer one names the kind.
pub(super) fn merge(mut found: Vec<FoundSecret>) -> Vec<FoundSecret> {
    found.sort_by_key(|one| (one.start, std::cmp::Reverse(one.end)));
    let mut merged: Vec<FoundSecret> = Vec::with_capacity(found.len());
    for one in found {
        match merged.last_mut() {
            Some(last) if one.start < last.end => {
                last.end = last.end.max(one.end);
                if last.weight < one.weight {
                    (last.kind, last.weight) = (one.kind, one.weight);
                }
            }
            Some(_) | None => merged.push(one),
        }
    }
    merged
}
