//! Finds the words of a quote in a text that writes them a little otherwise: curly quotes, dashes, bold marks, blanks.
//!
//! What is returned is always a piece of the text itself.

/// Where the words of `quote` stand in `text`, one after the other.
pub(in crate::flows) fn words_in<'t>(text: &'t str, quote: &str) -> Option<&'t str> {
    let quote = quote.trim();
    if quote.is_empty() {
        return None;
    }
    if let Some(at) = text.find(quote) {
        return Some(&text[at..at + quote.len()]);
    }
    let (wanted, _) = plain(quote);
    let wanted = wanted.trim();
    if wanted.is_empty() {
        return None;
    }
    let (plain, places) = plain(text);
    let start = plain.find(wanted)?;
    let (from, _) = *places.get(start)?;
    let (_, to) = *places.get(start + wanted.len() - 1)?;
    Some(&text[from..to])
}

/// A text in plain characters, and for each byte of it the piece of the original that it stands for.
fn plain(text: &str) -> (String, Vec<(usize, usize)>) {
    let mut plain = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len());
    let mut push = |c: char, from: usize, to: usize| {
        if c == ' ' && (plain.is_empty() || plain.ends_with(' ')) {
            return;
        }
        plain.push(c);
        places.extend(std::iter::repeat_n((from, to), c.len_utf8()));
    };
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        match c {
            '*' | '`' => {}
            '‘' | '’' | 'ʼ' => push('\'', at, end),
            '“' | '”' | '„' => push('"', at, end),
            '–' | '—' | '‐' | '‑' | '−' => push('-', at, end),
            '…' => "...".chars().for_each(|c| push(c, at, end)),
            c if c.is_whitespace() => push(' ', at, end),
            c => push(c, at, end),
        }
    }
    (plain, places)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    #[test]
    fn small_differences_of_writing_do_not_matter() {
        let text = "We’ll **never** ship `zod` — not\n  in the browser… ok";
        for (quote, found) in [
            ("We'll never ship zod", Some("We’ll **never** ship `zod")),
            ("zod - not in the browser...", Some("zod` — not\n  in the browser…")),
            ("never", Some("never")),
            ("not in the server", None),
            ("", None),
            ("**", Some("**")),
        ] {
            assert_eq!(words_in(text, quote), found, "{quote}");
        }
    }

    proptest! {
        #[test]
        fn what_is_found_is_a_piece_of_the_text(text in "[a-c*`’“ –…\n]{0,40}", quote in "[a-c'\" *.-]{0,8}") {
            if let Some(found) = words_in(&text, &quote) {
                prop_assert!(text.contains(found) && !found.is_empty());
            }
        }
    }
}
