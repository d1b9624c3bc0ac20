//! What a sentence cites: the groups in square brackets, and everything that looks like an id wherever it stands.
//!
//! A model that makes an id up may write it without brackets, with a dash that only looks like one, or with a character in
//! it that nobody sees. So the shape is looked for in the text as a reader sees it, and whatever has it must hold.

use nacre_core::base::is_hidden_char;

use super::words::says_something;

/// The digits of the day that an id begins with.
const DAY_DIGITS: usize = 8;

/// What a sentence cites.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Everything that is named as a source, each once.
    pub named: Vec<String>,
    /// The sentence without it.
    pub words: String,
    /// The same piece by piece: a source supports what stands before it, and nothing behind it.
    pub clauses: Vec<Clause>,
}

/// A piece of a sentence with the sources that stand behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clause {
    /// Its words, with the marks of code.
    pub words: String,
    pub named: Vec<String>,
}

/// Takes the citations out of a sentence.
pub fn marks(sentence: &str) -> Marks {
    let plain = plain(sentence);
    let mut found = Marks::default();
    let mut rest = plain.as_str();
    let mut is_code = false;
    let mut clauses = Clauses::default();
    while let Some(at) = rest.find(['[', '`']) {
        found.words.push_str(&rest[..at]);
        clauses.push(&rest[..at]);
        let is_tick = rest[at..].starts_with('`');
        let inside = &rest[at + 1..];
        if is_tick {
            is_code = !is_code;
            clauses.push("`");
            rest = inside;
            continue;
        }
        let end = inside.find(']').unwrap_or(inside.len());
        let group = &inside[..end];
        // Brackets in code are code, unless a source is named there.
        if is_code || group.starts_with("redacted:") {
            found.words.push_str(group);
            clauses.push(&format!("[{group}]"));
        } else {
            clauses.cite(named_in(group));
        }
        rest = inside.get(end + 1..).unwrap_or_default();
    }
    found.words.push_str(rest);
    clauses.push(rest);
    found.clauses = clauses.finish();
    for name in found.clauses.iter().flat_map(|clause| &clause.named) {
        if !found.named.contains(name) {
            found.named.push(name.clone());
        }
    }
    found
}

/// The sources that a group in brackets names.
fn named_in(group: &str) -> Vec<String> {
    let bare = |part: &str| part.trim_matches(['`', '*', '"', '\'', '.']).to_owned();
    let parts = group.split([',', ';', '[', ' ']).map(bare).filter(|part| !part.is_empty());
    let named: Vec<String> = parts.collect();
    // An empty group cites nothing, and is no citation either.
    if named.is_empty() { vec![String::new()] } else { named }
}

/// Collects clauses.
#[derive(Default)]
struct Clauses {
    whole: Vec<Clause>,
    open: Clause,
}

impl Clauses {
    /// Takes words. Those that claim something behind a citation begin a clause.
    fn push(&mut self, words: &str) {
        if !self.open.named.is_empty() && says_something(words) {
            self.whole.push(std::mem::take(&mut self.open));
        }
        self.open.words.push_str(words);
    }

    fn cite(&mut self, named: Vec<String>) {
        let new = named.into_iter().filter(|name| !self.open.named.contains(name));
        let new: Vec<String> = new.collect();
        self.open.named.extend(new);
    }

    /// The clauses, with the ids that stand in them without brackets.
    fn finish(mut self) -> Vec<Clause> {
        self.whole.push(self.open);
        for clause in &mut self.whole {
            for id in id_shapes(&clause.words) {
                clause.words = clause.words.replace(&id, " ");
                if !clause.named.contains(&id) {
                    clause.named.push(id);
                }
            }
        }
        self.whole
    }
}

/// The text as a reader sees it: no hidden characters, one kind of dash, one kind of digit, one kind of bracket.
fn plain(text: &str) -> String {
    let seen = text.chars().filter(|c| !is_hidden_char(*c));
    seen.map(|c| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{ff10}'..='\u{ff19}' => char::from_digit(u32::from(c) - 0xff10, 10).unwrap_or(c),
        '［' | '【' | '〔' | '⟦' => '[',
        '］' | '】' | '〕' | '⟧' => ']',
        c => c,
    })
    .collect()
}

/// Everything that looks like the id of a memory: eight digits or more, a dash, and a slug, whatever stands before.
fn id_shapes(text: &str) -> Vec<String> {
    let mut shapes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let from = &rest[at..];
        let n_digits = from.bytes().take_while(u8::is_ascii_digit).count();
        let slug = &from[n_digits..];
        let is_shape = DAY_DIGITS <= n_digits
            && slug.starts_with('-')
            && slug[1..].starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
        let n_inside = if is_shape { from.bytes().take_while(is_inside).count() } else { n_digits };
        if is_shape {
            shapes.push(from[..n_inside].trim_end_matches(['-', '_']).to_owned());
        }
        rest = &from[n_inside..];
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_named_as_a_source_is_found() {
        for (sentence, expected) in [
            ("It is so [20260101-a].", vec!["20260101-a"]),
            ("So [20260101-a, 20260102-b] [k1:7].", vec!["20260101-a", "20260102-b", "k1:7"]),
            ("So [`20260101-a`].", vec!["20260101-a"]),
            ("See 20260101-a.", vec!["20260101-a"]),
            ("See `20260101-a` [20260102-b].", vec!["20260102-b", "20260101-a"]),
            ("See 20260101\u{2011}a\u{200b}b.", vec!["20260101-ab"]),
            ("See ２０２６０１０１-a.", vec!["20260101-a"]),
            ("So 【20260101-a】.", vec!["20260101-a"]),
            ("So [1].", vec!["1"]),
            ("So [].", vec![""]),
            ("So [20260101-a", vec!["20260101-a"]),
            ("Use `list[0]` and [redacted:token] here.", vec![]),
            ("See x20260101-a and -20260102-b-.", vec!["20260101-a", "20260102-b"]),
            ("See 1120260101-a.", vec!["1120260101-a"]),
            ("On 2026-01-01 and 20260101 it was 1234567-x, 20260101- or 20260101-é.", vec![]),
        ] {
            assert_eq!(marks(sentence).named, expected, "{sentence}");
        }
        assert_eq!(marks("The queue is `a[0]` [20260101-a].").words, "The queue is a0 .");
    }

    #[test]
    fn a_source_supports_what_stands_before_it() {
        for (sentence, expected) in [
            ("It is so [a].", vec![("It is so .", vec!["a"])]),
            (
                "Hooks run [a] [b], and files [c].",
                vec![("Hooks run  ", vec!["a", "b"]), (", and files .", vec!["c"])],
            ),
            (
                "Hooks run [a] and delete.",
                vec![("Hooks run ", vec!["a"]), (" and delete.", vec![])],
            ),
            ("Run `x[0]` [a].", vec![("Run `x[0]` .", vec!["a"])]),
            ("See 20260101-a, it runs.", vec![("See  , it runs.", vec!["20260101-a"])]),
        ] {
            let clauses = marks(sentence).clauses;
            let found: Vec<(&str, Vec<&str>)> = clauses
                .iter()
                .map(|one| (one.words.as_str(), one.named.iter().map(String::as_str).collect()))
                .collect();
            assert_eq!(found, expected, "{sentence}");
        }
    }
}
