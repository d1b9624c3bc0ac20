//! Other forms of a word: `delete` is also in `deletion` and `deletable`.
//!
//! The words of a project are kept as hashes, so forms are made and not looked for: one that nobody uses finds nothing.

use super::stem::stem;

/// Endings that make another word of the same root, beside those that [`stem`] takes off; the most usual first.
const ENDINGS: &[&str] = &[
    "ion", "ation", "or", "ment", "able", "ence", "y", "al", "ance", "ency", "ent", "ant", "ible",
    "ive", "ity", "ness", "ly", "tion", "ization", "izer", "ize", "ic", "ical",
];

/// So many of them are usual.
const N_USUAL: usize = 7;

/// A shorter root belongs to too many words.
const MIN_ROOT_BYTES: usize = 4;

/// The usual other forms of a word.
pub(super) fn forms(word: &str) -> impl Iterator<Item = String> {
    let root = root(word);
    let endings = if MIN_ROOT_BYTES <= root.len() { &ENDINGS[..N_USUAL] } else { &[] };
    endings.iter().map(move |ending| format!("{root}{ending}"))
}

/// All other forms of a word, also of the word that it is made from: of `deletion` those of `delete`.
pub(super) fn all_forms(word: &str) -> Vec<String> {
    let root = root(word);
    let shorter = ENDINGS.iter().filter_map(|ending| root.strip_suffix(ending));
    let roots = std::iter::once(root.as_str()).chain(shorter);
    let mut forms: Vec<String> = Vec::new();
    for root in roots.filter(|root| MIN_ROOT_BYTES <= root.len()) {
        forms.push(root.to_owned());
        forms.extend(ENDINGS.iter().map(|ending| format!("{root}{ending}")));
    }
    forms
}

fn root(word: &str) -> String {
    String::from_utf8_lossy(stem(word.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_share_a_root() {
        let cases = [
            ("delete", "deletion"),
            ("deletion", "delet"),
            ("validators", "validation"),
            ("configuration", "configur"),
            ("depend", "dependent"),
            ("serialize", "serialization"),
        ];
        for (word, expected) in cases {
            assert!(all_forms(word).iter().any(|form| form == expected), "{word}");
        }
        assert!(all_forms("io").is_empty());
    }
}
