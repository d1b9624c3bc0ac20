//! Whether a statement has the very words of its source.
//!
//! The other checks let a paraphrase pass, and with it a sentence whose words have changed their roles: "the image waits for
//! the tag". Only a sentence that stands in the source as it is cannot be wrong about it. So whoever shows a statement that
//! passes and does not repeat its source shows the words of the source in its place.

use super::source::Source;

/// Words that change nothing.
const ARTICLES: &[&str] = &["a", "an", "the"];

/// A sentence still says what it says if it ends before this word.
const GIVES_REASON: &str = "because";

/// More words are not looked at.
const MAX_WORDS: usize = 400;

/// Whether a statement is made of whole sentences of the source, word for word, one after the other or joined by "and". A
/// sentence may be left before its "because".
pub fn repeats(statement: &str, source: &Source) -> bool {
    let said = plain_words(statement);
    if said.is_empty() || MAX_WORDS < said.len() {
        return false;
    }
    let known: Vec<Vec<PlainWord>> =
        source.units.iter().map(|unit| plain_words(&unit.text)).collect();
    // Where a sentence of the source may begin in the statement.
    let mut begins = vec![false; said.len() + 1];
    begins[0] = true;
    // What stands before the first citation was looked at already.
    begins[1] = said[0].text == "and";
    for at in 0..said.len() {
        if !begins[at] {
            continue;
        }
        for end in known.iter().flat_map(|unit| ends(&said[at..], unit)) {
            if at + end == said.len() || said[at + end - 1].ends_piece {
                begins[at + end] = true;
            }
            if said.get(at + end).is_some_and(|word| word.text == "and") {
                begins[at + end + 1] = true;
            }
        }
    }
    // An "and" behind which nothing stands joins nothing.
    begins[said.len()] && said.last().is_some_and(|word| word.text != "and")
}

/// How many words of the statement are those of this sentence, whole or up to its reason.
fn ends(said: &[PlainWord], unit: &[PlainWord]) -> Vec<usize> {
    let alike = said.iter().zip(unit).take_while(|(one, other)| one.text == other.text).count();
    let reason = unit.iter().position(|word| word.text == GIVES_REASON);
    let whole = Some(unit.len()).into_iter().chain(reason);
    whole.filter(|end| 0 < *end && *end <= alike).collect()
}

struct PlainWord {
    /// In lower case, without the marks around it.
    text: String,
    /// Whether a mark stands behind it.
    ends_piece: bool,
}

/// The words between blanks, articles left out.
fn plain_words(text: &str) -> Vec<PlainWord> {
    let is_mark = |c: char| !c.is_alphanumeric() && c != '_' && c != '$' && c != '%' && c != '#';
    let mut found: Vec<PlainWord> = Vec::new();
    for token in text.split_whitespace() {
        // `--force` and `-1` begin with what belongs to them.
        let behind = token.trim_end_matches(is_mark);
        let bare =
            behind.trim_start_matches(|c: char| is_mark(c) && c != '-' && c != '/' && c != '.');
        let ends_piece =
            token[behind.len()..].contains([',', ';', ':', '.', '!', '?', ')', '—', '–']);
        let text = bare.to_lowercase();
        if text.is_empty() {
            let ends = token.contains(['—', '–', ';', ':']);
            found.iter_mut().next_back().into_iter().for_each(|last| last.ends_piece |= ends);
        } else if !ARTICLES.contains(&text.as_str()) {
            found.push(PlainWord { text, ends_piece });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        let mut source = Source::default();
        source.add_prose(
            "Labels are printed as ZPL, PDF only on request",
            "The thermal printers render PDF wrongly at 203 dpi. Tag, then wait for the image.\n\
             500 ms was refused because users noticed the delay. Use `npm ci --force`, -1 is an error.",
        );
        source
    }

    #[test]
    fn only_whole_sentences_of_the_source_are_repeated() {
        for (statement, expected) in [
            ("Labels are printed as ZPL, PDF only on request", true),
            ("The labels are printed as ZPL, PDF only on request.", true),
            ("500 ms was refused", true),
            ("500 ms was refused because the users noticed a delay", true),
            ("Thermal printers render PDF wrongly at 203 dpi and 500 ms was refused", true),
            ("Thermal printers render PDF wrongly at 203 dpi; tag, then wait for the image", true),
            ("Use `npm ci --force`, -1 is an error", true),
            ("- and 500 ms was refused.", true),
            ("Labels are printed as ZPL", false),
            ("Labels are printed as PDF, ZPL only on request", false),
            ("Labels are printed as PDF", false),
            ("PDF only on request", false),
            ("The image waits for the tag", false),
            ("Tag, then wait for the image because 500 ms was refused", false),
            ("500 ms was refused because", false),
            ("500 ms was refused and", false),
            ("500 ms is refused", false),
            ("Users noticed the delay", false),
            ("Use `npm ci force`, -1 is an error", false),
            ("Use `npm ci --force`, 1 is an error", false),
            ("", false),
        ] {
            assert_eq!(repeats(statement, &source()), expected, "{statement}");
        }
    }
}
