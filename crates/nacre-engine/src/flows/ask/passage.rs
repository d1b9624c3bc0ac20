//! Selects the part of a source to show next to a sentence.
//!
//! A sentence out of context can mean the opposite: it may be an item in a list of things to avoid,
//! or advice that the next sentence rejects. A short source is therefore shown in full. Otherwise,
//! the matching part is shown from its beginning, with the line that introduces a list, and
//! omissions are marked.

use nacre_base::text::{collapse_whitespace, n_shared_terms};

const MAX_CHARS: usize = 800;

const CUT: &str = "…";

pub(super) fn passage(text: &str, said: &str) -> String {
    let whole = collapse_whitespace(text);
    if whole.chars().count() <= MAX_CHARS {
        return whole;
    }
    let parts = parts(text);
    let n_shared = |part: &&String| n_shared_terms(part, said);
    // If several parts share the most terms, use the first.
    let best = parts.iter().rev().max_by_key(n_shared).cloned().unwrap_or(whole);
    let is_first = parts.first() == Some(&best);
    let mut shown: String = best.chars().take(MAX_CHARS).collect();
    if shown.len() < best.len() || parts.last() != Some(&best) {
        shown.push(' ');
        shown.push_str(CUT);
    }
    if is_first { shown } else { format!("{CUT} {shown}") }
}

/// Splits a text into paragraphs, each with its heading or introductory line. A list or code block
/// is part of the paragraph before it.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for block in text.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let depends = block.trim_start().starts_with(['-', '*', '+', '>', '`', '|', '#'])
            || block.trim_start().starts_with(|c: char| c.is_ascii_digit())
            || block.starts_with([' ', '\t']);
        let is_announced = parts.last().is_some_and(|last| {
            last.ends_with(':')
                || last.lines().next_back().is_some_and(|line| line.starts_with('#'))
        });
        match parts.last_mut() {
            Some(last) if depends || is_announced => {
                last.push(' ');
                last.push_str(&collapse_whitespace(block));
            }
            Some(_) | None => parts.push(collapse_whitespace(block)),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_shown_whole() {
        let text = "Do not do these:\n\n- Restart the daemon\n- Delete the folder\n\nStop the queue. That was wrong.";
        let shown = "Do not do these: - Restart the daemon - Delete the folder Stop the queue. That was wrong.";
        assert_eq!(passage(text, "Delete the folder"), shown);
    }

    #[test]
    fn a_long_one_is_shown_with_what_the_part_depends_on() {
        let filler = "All work and no play makes a dull day. ".repeat(30);
        let text = format!(
            "{filler}\n\nNever do these:\n\n- Delete the folder\n\n1. Restart it\n\n{filler}"
        );
        assert_eq!(
            passage(&text, "Delete the folder"),
            "… Never do these: - Delete the folder 1. Restart it …"
        );
        let first = passage(&text, "work and play");
        assert!(
            first.starts_with("All work") && first.ends_with('…') && first.chars().count() < 820
        );
    }
}
