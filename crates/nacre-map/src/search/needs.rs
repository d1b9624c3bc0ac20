//! Computes the trigrams that every match of a pattern must contain.
//!
//! Optional parts of a pattern add no requirements, so they cause more files to be read. All
//! comparisons use lower case, as the stored trigrams do.

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use crate::words::{Trigram, Trigrams};

const MAX_TEXTS: usize = 16;

const MAX_TEXT_BYTES: usize = 256;

/// Which trigrams a file must contain to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    One(Trigram),
    All(Vec<Self>),
    Any(Vec<Self>),
}

impl Need {
    pub(super) fn of(pattern: &Hir) -> Self {
        Piece::of(pattern).need()
    }

    /// Returns false if a file with these trigrams cannot match.
    pub(super) fn fits(&self, trigrams: &Trigrams<'_>) -> bool {
        match self {
            Self::Nothing => true,
            Self::One(trigram) => trigrams.may_have(*trigram),
            Self::All(needs) => needs.iter().all(|need| need.fits(trigrams)),
            Self::Any(needs) => needs.iter().any(|need| need.fits(trigrams)),
        }
    }

    fn all(needs: Vec<Self>) -> Self {
        let needs: Vec<Self> = needs.into_iter().filter(|need| *need != Self::Nothing).collect();
        if needs.is_empty() { Self::Nothing } else { Self::All(needs) }
    }

    fn any(needs: Vec<Self>) -> Self {
        if needs.contains(&Self::Nothing) { Self::Nothing } else { Self::Any(needs) }
    }
}

enum Piece {
    /// Matches exactly one of these lower-case strings.
    Exactly(Vec<Vec<u8>>),
    /// Matches only content that satisfies the requirement.
    Having(Need),
}

impl Piece {
    fn of(pattern: &Hir) -> Self {
        match pattern.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::Exactly(vec![Vec::new()]),
            HirKind::Literal(literal) => Self::exactly(vec![literal.0.to_ascii_lowercase()]),
            HirKind::Class(class) => texts_of(class).map_or_else(Self::unknown, Self::exactly),
            HirKind::Repetition(repetition) => Self::from_repetition(repetition),
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Concat(parts) => Self::from_parts(parts),
            HirKind::Alternation(parts) => Self::one_of(parts),
        }
    }

    fn unknown() -> Self {
        Self::Having(Need::Nothing)
    }

    /// Returns `Exactly`, or a weaker requirement if there are too many strings or they are too
    /// long.
    fn exactly(mut texts: Vec<Vec<u8>>) -> Self {
        texts.sort_unstable();
        texts.dedup();
        let is_small =
            texts.len() <= MAX_TEXTS && texts.iter().all(|text| text.len() <= MAX_TEXT_BYTES);
        if is_small { Self::Exactly(texts) } else { Self::Having(need_of(&texts)) }
    }

    fn from_repetition(repetition: &Repetition) -> Self {
        let Repetition { min, max, sub, .. } = repetition;
        match (min, max, Self::of(sub)) {
            (0, Some(1), Self::Exactly(mut texts)) => {
                texts.push(Vec::new());
                Self::exactly(texts)
            }
            (0, ..) => Self::unknown(),
            (1, Some(1), once) => once,
            // A repeated part occurs at least once.
            (_, _, once) => Self::Having(once.need()),
        }
    }

    fn from_parts(parts: &[Hir]) -> Self {
        let (mut needs, mut before) = (Vec::new(), vec![Vec::new()]);
        let mut is_exact = true;
        for part in parts {
            match Self::of(part) {
                Self::Exactly(texts) => match product(&before, &texts) {
                    Some(joined) => before = joined,
                    None => {
                        is_exact = false;
                        needs.push(need_of(&std::mem::replace(&mut before, texts)));
                    }
                },
                Self::Having(need) => {
                    is_exact = false;
                    needs.push(need_of(&std::mem::replace(&mut before, vec![Vec::new()])));
                    needs.push(need);
                }
            }
        }
        if is_exact {
            return Self::exactly(before);
        }
        needs.push(need_of(&before));
        Self::Having(Need::all(needs))
    }

    fn one_of(parts: &[Hir]) -> Self {
        let pieces: Vec<Self> = parts.iter().map(Self::of).collect();
        let texts = |piece: &Self| match piece {
            Self::Exactly(texts) => Some(texts.clone()),
            Self::Having(_) => None,
        };
        match pieces.iter().map(texts).collect::<Option<Vec<_>>>() {
            Some(texts) => Self::exactly(texts.concat()),
            None => Self::Having(Need::any(pieces.iter().map(Self::need).collect())),
        }
    }

    fn need(&self) -> Need {
        match self {
            Self::Exactly(texts) => need_of(texts),
            Self::Having(need) => need.clone(),
        }
    }
}

/// Requires a match to contain the trigrams of at least one of the strings.
fn need_of(texts: &[Vec<u8>]) -> Need {
    let all = |text: &Vec<u8>| Need::all(Trigram::all(text).map(Need::One).collect());
    Need::any(texts.iter().map(all).collect())
}

/// Concatenates each string in `before` with each string in `behind`. Returns `None` if there are
/// too many results or they are too long.
fn product(before: &[Vec<u8>], behind: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let longest = |texts: &[Vec<u8>]| texts.iter().map(Vec::len).max().unwrap_or(0);
    let is_large = MAX_TEXTS < before.len() * behind.len()
        || MAX_TEXT_BYTES < longest(before) + longest(behind);
    if is_large {
        return None;
    }
    let joined =
        before.iter().flat_map(|one| behind.iter().map(move |other| [&one[..], other].concat()));
    Some(joined.collect())
}

/// Returns the lower-case characters in a class, or `None` if there are too many. Under Unicode
/// case folding, `k` and `s` also match the Kelvin sign and the long s. These two characters are
/// omitted here, because files that contain them are stored as having every trigram.
fn texts_of(class: &Class) -> Option<Vec<Vec<u8>>> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    match class {
        Class::Unicode(class) => {
            let count = |range: &regex_syntax::hir::ClassUnicodeRange| range.len();
            if MAX_TEXTS < class.iter().map(count).sum() {
                return None;
            }
            for character in class.iter().flat_map(|range| range.start()..=range.end()) {
                let is_twin = matches!(character, '\u{212a}' | '\u{17f}');
                let text = character.to_ascii_lowercase().to_string().into_bytes();
                texts.extend((!is_twin).then_some(text));
            }
        }
        Class::Bytes(class) => {
            if MAX_TEXTS < class.iter().map(regex_syntax::hir::ClassBytesRange::len).sum() {
                return None;
            }
            let bytes = class.iter().flat_map(|range| range.start()..=range.end());
            texts.extend(bytes.map(|byte| vec![byte.to_ascii_lowercase()]));
        }
    }
    (!texts.is_empty()).then_some(texts)
}
