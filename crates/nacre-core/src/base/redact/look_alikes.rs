//! What a reader sees in a character that is not ASCII: nothing, a blank, or a letter that it looks like.
//!
//! No table of transliteration: there `р` is an `r`, and here it is the `p` that it looks like.

use crate::base::is_hidden_char;

/// How a character is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Itself,
    Nothing,
    As(u8),
    /// As this, but only inside a word that is not one of its own script.
    InWord(Option<u8>),
}

pub(super) fn seen(c: char) -> Seen {
    match c {
        '\n' | '\r' | '\t' => Seen::Itself,
        '\u{fe0e}' | '\u{fe0f}' => Seen::Nothing,
        _ if is_hidden_char(c) => Seen::Nothing,
        _ if c.is_ascii() => Seen::Itself,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            Seen::As(b' ')
        }
        '\u{300}'..='\u{36f}' => Seen::InWord(None),
        _ => styled(c).map_or_else(|| foreign(c), Seen::As),
    }
}

/// Returns the character of ASCII that a tag character repeats. Tag characters are invisible.
pub(super) fn tag_letter(c: char) -> Option<u8> {
    ('\u{e0020}'..='\u{e007e}').contains(&c).then(|| (u32::from(c) - 0xe0000) as u8)
}

fn foreign(c: char) -> Seen {
    let letter = cyrillic(c).or_else(|| greek(c)).or_else(|| other(c));
    letter.map_or(Seen::Itself, |letter| Seen::InWord(Some(letter)))
}

/// ASCII in another dress: full width, mathematical, circled.
fn styled(c: char) -> Option<u8> {
    let code = u32::from(c);
    let letter = |n: u32| if n < 26 { b'A' + n as u8 } else { b'a' + (n - 26) as u8 };
    match c {
        '\u{ff01}'..='\u{ff5e}' => {
            let byte = (code - 0xfee0) as u8;
            (byte.is_ascii_alphanumeric() || b"=:_-./+@%#$".contains(&byte)).then_some(byte)
        }
        '\u{1d400}'..='\u{1d6a3}' => Some(letter((code - 0x1d400) % 52)),
        '\u{1d7ce}'..='\u{1d7ff}' => Some(b'0' + ((code - 0x1d7ce) % 10) as u8),
        '\u{24b6}'..='\u{24e9}' => Some(letter(code - 0x24b6)),
        '\u{1f130}'..='\u{1f149}' => Some(letter(code - 0x1f130)),
        '\u{1fbf0}'..='\u{1fbf9}' => Some(b'0' + (code - 0x1fbf0) as u8),
        _ => letterlike(c),
    }
}

/// The mathematical letters that were there before the others.
fn letterlike(c: char) -> Option<u8> {
    let byte = match c {
        'ℂ' | 'ℭ' => b'C',
        'ℊ' => b'g',
        'ℋ' | 'ℌ' | 'ℍ' => b'H',
        'ℎ' | 'ℏ' => b'h',
        'ℐ' | 'ℑ' => b'I',
        'ℒ' => b'L',
        'ℓ' => b'l',
        'ℕ' => b'N',
        'ℙ' | '℘' => b'P',
        'ℚ' => b'Q',
        'ℛ' | 'ℜ' | 'ℝ' => b'R',
        'ℤ' | 'ℨ' => b'Z',
        'ℬ' => b'B',
        'ℯ' | 'ⅇ' => b'e',
        'ℰ' => b'E',
        'ℱ' => b'F',
        'ℳ' => b'M',
        'ℴ' => b'o',
        'ℹ' | 'ⅈ' => b'i',
        'ⅅ' => b'D',
        'ⅆ' => b'd',
        'ⅉ' => b'j',
        _ => return None,
    };
    Some(byte)
}

fn cyrillic(c: char) -> Option<u8> {
    let byte = match c {
        'а' => b'a',
        'ь' => b'b',
        'с' => b'c',
        'ԁ' => b'd',
        'е' => b'e',
        'һ' => b'h',
        'і' => b'i',
        'ј' => b'j',
        'к' => b'k',
        'ӏ' => b'l',
        'п' => b'n',
        'о' => b'o',
        'р' => b'p',
        'ԛ' => b'q',
        'г' => b'r',
        'ѕ' => b's',
        'т' => b't',
        'ѵ' => b'v',
        'ԝ' => b'w',
        'х' => b'x',
        'у' | 'ү' => b'y',
        'А' => b'A',
        'В' => b'B',
        'С' => b'C',
        'Е' => b'E',
        'Ғ' => b'F',
        'Ԍ' => b'G',
        'Н' => b'H',
        'І' | 'Ӏ' => b'I',
        'Ј' => b'J',
        'К' => b'K',
        'М' => b'M',
        'О' => b'O',
        'Р' => b'P',
        'Ԛ' => b'Q',
        'Ѕ' => b'S',
        'Т' => b'T',
        'Ѵ' => b'V',
        'Ԝ' => b'W',
        'Х' => b'X',
        'У' | 'Ү' => b'Y',
        'З' => b'3',
        'б' => b'6',
        _ => return None,
    };
    Some(byte)
}

fn greek(c: char) -> Option<u8> {
    let byte = match c {
        'α' => b'a',
        'β' => b'b',
        'ϲ' => b'c',
        'ε' => b'e',
        'ι' => b'i',
        'ϳ' => b'j',
        'κ' => b'k',
        'η' => b'n',
        'ο' | 'σ' => b'o',
        'ρ' => b'p',
        'τ' => b't',
        'υ' | 'μ' => b'u',
        'ν' => b'v',
        'ω' => b'w',
        'χ' => b'x',
        'γ' => b'y',
        'Α' => b'A',
        'Β' => b'B',
        'Ϲ' => b'C',
        'Ε' => b'E',
        'Η' => b'H',
        'Ι' => b'I',
        'Ϳ' => b'J',
        'Κ' => b'K',
        'Μ' => b'M',
        'Ν' => b'N',
        'Ο' => b'O',
        'Ρ' => b'P',
        'Τ' => b'T',
        'Υ' => b'Y',
        'Χ' => b'X',
        'Ζ' => b'Z',
        _ => return None,
    };
    Some(byte)
}

/// Letters of other scripts, Roman numerals, and marks that look like those of tokens.
fn other(c: char) -> Option<u8> {
    let byte = match c {
        'ɑ' => b'a',
        'ⅽ' => b'c',
        'ⅾ' => b'd',
        'ɡ' | 'ց' => b'g',
        'հ' => b'h',
        'ı' | 'ɩ' | 'ⅰ' => b'i',
        'ȷ' | 'յ' => b'j',
        'ⅼ' | 'ǀ' => b'l',
        'ⅿ' => b'm',
        'ո' => b'n',
        'օ' => b'o',
        'զ' => b'q',
        'ꜱ' | 'ſ' => b's',
        'ս' | 'ʋ' => b'u',
        'ⅴ' => b'v',
        'ⅹ' => b'x',
        'Ⅽ' => b'C',
        'Ⅾ' => b'D',
        'Ⅰ' => b'I',
        'Ⅼ' => b'L',
        'Ⅿ' => b'M',
        'Օ' => b'O',
        'Տ' => b'S',
        'Ս' => b'U',
        'Ⅴ' => b'V',
        'Ⅹ' => b'X',
        '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => b'-',
        '\u{203f}' | '\u{fe33}' | '\u{fe4d}'..='\u{fe4f}' => b'_',
        '\u{2024}' => b'.',
        '\u{2044}' | '\u{2215}' => b'/',
        '\u{2236}' | '\u{a789}' => b':',
        _ => return None,
    };
    Some(byte)
}
