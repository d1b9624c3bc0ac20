//! Whether a clause tells of an overturned memory as of the past.

use crate::proof::{Source, says_something};

/// Words that say that something has ended, also beside what holds now.
const ENDED: &[&str] = &[
    "changed",
    "instead",
    "longer",
    "moved",
    "overturned",
    "replaced",
    "replaces",
    "superseded",
    "supersedes",
    "switched",
];

/// Words that say that something was so.
const PAST: &[&str] = &[
    "before",
    "did",
    "earlier",
    "former",
    "formerly",
    "had",
    "initially",
    "kept",
    "lay",
    "old",
    "older",
    "once",
    "originally",
    "previously",
    "ran",
    "stood",
    "until",
    "used",
    "was",
    "were",
];

/// Words that say that something is so.
const PRESENT: &[&str] =
    &["are", "currently", "is", "must", "now", "remains", "still", "today", "will"];

/// How a clause tells of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    Past,
    /// As if it held.
    Present,
}

/// How a clause tells of a memory that `newer` overturned. What it tells to have come after must be what `newer` says.
pub(super) fn telling_of(clause: &str, newer: &Source) -> Telling {
    let lower = clause.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let is_past = match (has(ENDED), has(PAST)) {
        (true, _) => comes_to(&words, newer),
        (false, true) => !has(PRESENT),
        (false, false) => false,
    };
    if is_past { Telling::Past } else { Telling::Present }
}

/// Whether what stands behind "to" and "by" is of the newer memory.
fn comes_to(words: &[&str], newer: &Source) -> bool {
    let behind = |word: &str| {
        let at = words.iter().position(|other| *other == word)?;
        words[at + 1..].iter().find(|word| says_something(word)).copied()
    };
    ["to", "by"].into_iter().filter_map(behind).all(|word| newer.mentions(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_overturned_is_told_as_of_the_past() {
        let mut newer = Source::default();
        newer.add_prose("The dashboard is embedded in the binary", "One file to install.");
        for (clause, expected) in [
            ("The dashboard was served by a Node process", Telling::Past),
            ("The dashboard moved from Node to the binary", Telling::Past),
            ("The binary replaces the Node process", Telling::Past),
            ("The dashboard is served by a Node process on port 7420", Telling::Present),
            ("The dashboard was, is and will be served by Node", Telling::Present),
            ("The dashboard moved to a Node process", Telling::Present),
            ("The dashboard uses a Node process", Telling::Present),
        ] {
            assert_eq!(telling_of(clause, &newer), expected, "{clause}");
        }
    }
}
