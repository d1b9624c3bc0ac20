//! Reasoning that a model writes into its text between `<think>` tags.
//!
//! Only a block at the very beginning counts: later on the tag is something the model talks about.

use super::super::response::Event;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// More white space does not stand before the tag.
const MAX_UNDECIDED: usize = 1024;

/// Takes text in pieces and tells reasoning from the rest.
#[derive(Debug, Default)]
pub(super) enum ThinkSplitter {
    /// Nothing but white space or a part of the tag came yet.
    #[default]
    Start,
    Undecided(String),
    /// Inside, with what may be the beginning of the closing tag.
    Inside(String),
    /// The block is over; the white space after it is no part of the answer.
    After,
    Plain,
}

impl ThinkSplitter {
    pub(super) fn push(&mut self, piece: &str, out: &mut Vec<Event>) {
        let state = std::mem::replace(self, Self::Plain);
        *self = match state {
            Self::Start => Self::begin(piece.to_owned(), out),
            Self::Undecided(held) => Self::begin(held + piece, out),
            Self::Inside(held) => Self::inside(&(held + piece), out),
            Self::After => Self::after(piece, out),
            Self::Plain => {
                push_text(piece, out);
                Self::Plain
            }
        };
    }

    /// Gives out what is held when the answer ends.
    pub(super) fn finish(&mut self, out: &mut Vec<Event>) {
        match std::mem::replace(self, Self::Plain) {
            Self::Undecided(held) => push_text(&held, out),
            Self::Inside(held) => {
                push_reasoning(&held, out);
                out.push(Event::ReasoningDone { signature: None });
            }
            Self::Start | Self::After | Self::Plain => {}
        }
    }

    fn begin(text: String, out: &mut Vec<Event>) -> Self {
        let trimmed = text.trim_start();
        if let Some(rest) = trimmed.strip_prefix(OPEN) {
            return Self::inside(rest, out);
        }
        if OPEN.starts_with(trimmed) && text.len() <= MAX_UNDECIDED {
            return Self::Undecided(text);
        }
        push_text(&text, out);
        Self::Plain
    }

    fn inside(text: &str, out: &mut Vec<Event>) -> Self {
        if let Some((thought, rest)) = text.split_once(CLOSE) {
            push_reasoning(thought, out);
            out.push(Event::ReasoningDone { signature: None });
            return Self::after(rest, out);
        }
        let held =
            (1..CLOSE.len()).rev().find(|n| text.ends_with(CLOSE.get(..*n).unwrap_or(CLOSE)));
        let (thought, held) = text.split_at(text.len() - held.unwrap_or(0));
        push_reasoning(thought, out);
        Self::Inside(held.to_owned())
    }

    fn after(piece: &str, out: &mut Vec<Event>) -> Self {
        let piece = piece.trim_start();
        if piece.is_empty() {
            return Self::After;
        }
        push_text(piece, out);
        Self::Plain
    }
}

fn push_text(text: &str, out: &mut Vec<Event>) {
    if !text.is_empty() {
        out.push(Event::Text(text.to_owned()));
    }
}

fn push_reasoning(text: &str, out: &mut Vec<Event>) {
    if !text.is_empty() {
        out.push(Event::Reasoning(text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let mut splitter = ThinkSplitter::default();
        let mut out = Vec::new();
        for piece in pieces {
            splitter.push(piece, &mut out);
        }
        splitter.finish(&mut out);
        let (mut reasoning, mut text) = (String::new(), String::new());
        for event in out {
            if let Event::Reasoning(piece) = &event {
                reasoning.push_str(piece);
            }
            if let Event::Text(piece) = &event {
                text.push_str(piece);
            }
        }
        (reasoning, text)
    }

    #[test]
    fn only_a_leading_block_is_reasoning() {
        for (text, reasoning, answer) in [
            ("hi", "", "hi"),
            ("<think>a</think>\n\nhi", "a", "hi"),
            ("\n<think>a < b</think>hi", "a < b", "hi"),
            ("<think>never closed", "never closed", ""),
            ("say <think>x</think>", "", "say <think>x</think>"),
            ("<thing>", "", "<thing>"),
            ("<thi", "", "<thi"),
        ] {
            assert_eq!(split(&[text]), (reasoning.to_owned(), answer.to_owned()), "{text}");
        }
    }

    #[test]
    fn blanks_are_held_back_for_a_while() {
        let mut splitter = ThinkSplitter::default();
        let mut out = Vec::new();
        (0..=MAX_UNDECIDED).for_each(|_| splitter.push(" ", &mut out));
        assert!(matches!(splitter, ThinkSplitter::Plain));
        assert_eq!(out.len(), 1);
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(text in "( |\n|<think>|</think>|<th|ink>|ö|a|</){0,20}") {
            let whole = split(&[&text]);
            let pieces: Vec<String> = text.chars().map(String::from).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(split(&pieces), whole);
        }
    }
}
