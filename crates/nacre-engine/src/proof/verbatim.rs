//! Whether what is written as code stands letter for letter in the source, where it belongs.

use super::source::Source;

/// What stands between backticks.
pub(super) fn code_spans(text: &str) -> Vec<&str> {
    let mut pieces = text.split('`');
    let mut spans = Vec::new();
    // Every second piece is code; an open mark makes code of the rest.
    while pieces.next().is_some() {
        spans.extend(pieces.next().map(str::trim).filter(|span| !span.is_empty()));
    }
    spans
}

/// Words that can be nothing but a path or a dotted name.
pub(super) fn dotted_names(text: &str) -> Vec<&str> {
    let bare = |piece: &'_ str| -> bool {
        let inner = piece.char_indices().any(|(at, c)| {
            matches!(c, '/' | '.' | '_' | ':' | '\\')
                && piece[..at].ends_with(char::is_alphanumeric)
                && piece[at + c.len_utf8()..].starts_with(char::is_alphanumeric)
        });
        inner && piece.chars().any(char::is_alphabetic)
    };
    let pieces = text.split(|c: char| c.is_whitespace() || "`,;()\"“”".contains(c));
    let trimmed = pieces.map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric()));
    trimmed.filter(|piece| bare(piece)).collect()
}

/// Whether a span of code stands in the source. A command of several words is the whole command there.
pub(super) fn is_written(span: &str, source: &Source) -> bool {
    stands_in(&source.text, &folded(span))
}

/// Whether a text has these words at borders of words; where they are the beginning of a longer command, they are another
/// one.
fn stands_in(text: &str, span: &str) -> bool {
    let text = folded(text);
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let spans: Vec<String> = code_spans(&text).into_iter().map(folded).collect();
    let is_command = span.contains(' ');
    if is_command && spans.iter().any(|known| known.contains(span)) {
        return spans.iter().any(|known| known == span);
    }
    text.match_indices(span).any(|(at, found)| {
        !text[..at].ends_with(is_inside) && !text[at + found.len()..].starts_with(is_inside)
    })
}

/// Whether a path or dotted name stands in the source.
pub(super) fn is_named(name: &str, source: &Source) -> bool {
    stands_in(&source.text.to_lowercase(), &name.to_lowercase())
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_and_must_be_whole() {
        assert_eq!(code_spans("Run `a b` and `c` or `d"), ["a b", "c", "d"]);
        assert_eq!(
            dotted_names("In src/money.rs, hooks.deadline_ms and (docs/a.md:12). At 23:00."),
            ["src/money.rs", "hooks.deadline_ms", "docs/a.md:12"]
        );
        let text = "Look first: `tide jobs dead --reasons`. The type is Cents.";
        for (span, expected) in [
            ("tide jobs dead --reasons", true),
            ("tide jobs dead", false),
            ("Cents", true),
            ("Cent", false),
            ("tide", true),
            ("rm -rf", false),
        ] {
            assert_eq!(stands_in(text, span), expected, "{span}");
        }
    }
}
