//! Words without their endings: `parses`, `parsing` and `parser` are about parsing.
//!
//! A list of endings and no dictionary: it is applied to all words of all files, and names are not English only.

const ENDINGS: &[&[u8]] = &[b"ingly", b"ings", b"ing", b"ers", b"er", b"ies", b"ed", b"es", b"s"];

/// What is left of a shorter word would stand for too many others.
const MIN_STEM_BYTES: usize = 4;

/// The stem of a word in lower case.
pub fn stem(word: &[u8]) -> &[u8] {
    let may_end = matches!(word.last(), Some(b'y' | b's' | b'g' | b'r' | b'd' | b'e'));
    if !may_end {
        return word;
    }
    let stems = ENDINGS.iter().filter_map(|ending| word.strip_suffix(*ending));
    let stem = stems.into_iter().find(|stem| MIN_STEM_BYTES <= stem.len()).unwrap_or(word);
    let n_silent = stem.iter().rev().take_while(|byte| **byte == b'e').count();
    if n_silent < stem.len() { &stem[..stem.len() - n_silent] } else { word }
}
