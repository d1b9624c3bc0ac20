//! Extracts the paths that a Rust file uses, from code and from `use` declarations in every form.

/// A path as written in the source.
#[derive(Debug)]
pub(crate) struct NamedPath {
    pub(crate) segments: Vec<String>,
    /// The inline modules that contain the path.
    pub(crate) inside: Vec<String>,
    /// The name under which a `use` imports the path; `None` for a path in code.
    pub(crate) imported_as: Option<String>,
    /// Whether the path is in a test module.
    pub(crate) is_test: bool,
}

/// Returns all paths in a text. Groups are expanded, so `use a::{b, c::*}` gives `a::b` and
/// `a::c::*`.
pub(crate) fn list_paths(text: &str) -> Vec<NamedPath> {
    let tokens = tokens(text);
    let mut paths = Vec::new();
    let mut modules: Vec<Module> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while at < tokens.len() {
        let mut found = Vec::new();
        let next = match (&tokens[at], tokens.get(at + 1), tokens.get(at + 2)) {
            (Token::Word(word), Some(Token::Word(name)), Some(Token::Open)) if word == "mod" => {
                depth += 1;
                let is_test = is_for_tests(&tokens[..at]);
                modules.push(Module { name: name.clone(), depth, is_test });
                at + 3
            }
            (Token::Word(word), Some(Token::Word(_) | Token::Colons), _) if word == "use" => {
                use_tree(&tokens, at + 1, &[], &mut found)
            }
            (Token::Word(_), Some(Token::Colons), _) => {
                let (segments, next) = code_path(&tokens, at);
                // A path that begins with `::` names another crate.
                if at == 0 || tokens[at - 1] != Token::Colons {
                    found.push((segments, None));
                }
                next
            }
            (Token::Open, ..) => {
                depth += 1;
                at + 1
            }
            (Token::Close, ..) => {
                modules.pop_if(|module| module.depth == depth);
                depth -= 1;
                at + 1
            }
            (Token::Word(_) | Token::Colons | Token::Other(_), ..) => at + 1,
        };
        paths.extend(found.into_iter().map(|(segments, imported_as)| NamedPath {
            segments,
            inside: modules.iter().map(|module| module.name.clone()).collect(),
            imported_as,
            is_test: modules.iter().any(|module| module.is_test),
        }));
        at = next;
    }
    paths
}

/// An inline module.
struct Module {
    name: String,
    /// How many braces are open in the module.
    depth: i32,
    is_test: bool,
}

/// Returns whether the preceding tokens end with `#[cfg(test)]`.
fn is_for_tests(before: &[Token]) -> bool {
    let word = |name: &str| Token::Word(name.to_owned());
    let other = Token::Other;
    let mark =
        [other('#'), other('['), word("cfg"), other('('), word("test"), other(')'), other(']')];
    before.ends_with(&mark)
}

/// Reads a path inside code. Returns the path and its end position.
fn code_path(tokens: &[Token], mut at: usize) -> (Vec<String>, usize) {
    let mut segments = Vec::new();
    while let Some(Token::Word(word)) = tokens.get(at) {
        segments.push(word.clone());
        at += 1;
        if tokens.get(at) != Some(&Token::Colons) {
            break;
        }
        at += 1;
    }
    (segments, at)
}

/// Reads the tokens after `use`, or one branch of a group. Returns the end position.
fn use_tree(
    tokens: &[Token],
    mut at: usize,
    prefix: &[String],
    found: &mut Vec<(Vec<String>, Option<String>)>,
) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at) {
            Some(Token::Colons) => {
                if path.is_empty() {
                    // `use ::name` names another crate.
                    path.push(String::new());
                }
                at += 1;
            }
            Some(Token::Word(word)) => {
                at += 1;
                if word != "self" || path.is_empty() {
                    path.push(word.clone());
                }
                if tokens.get(at) == Some(&Token::Colons) {
                    continue;
                }
                let mut name = path.last().cloned();
                if tokens.get(at) == Some(&Token::Word("as".to_owned())) {
                    if let Some(Token::Word(alias)) = tokens.get(at + 1) {
                        name = Some(alias.clone());
                    }
                    at += 2;
                }
                found.push((path, name));
                return at;
            }
            Some(Token::Open) => {
                at += 1;
                loop {
                    match tokens.get(at) {
                        Some(Token::Close) | None => return at + 1,
                        Some(Token::Other(',')) => at += 1,
                        Some(_) => at = use_tree(tokens, at, &path, found),
                    }
                }
            }
            Some(Token::Other('*')) => {
                path.push("*".to_owned());
                found.push((path, Some("*".to_owned())));
                return at + 1;
            }
            // Anything else is not a path. Advancing avoids an endless loop.
            Some(Token::Close | Token::Other(_)) | None => return at + 1,
        }
    }
}

/// A token of Rust code. Comments, string literals and lifetimes are skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Colons,
    Open,
    Close,
    Other(char),
}

fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let peek = |at: usize| chars.get(at).copied().unwrap_or('\0');
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let (c, next) = (chars[at], peek(at + 1));
        match (c, next) {
            ('/', '/') => at = find(&chars, at, |c| c == '\n'),
            ('/', '*') => at = comment_end(&chars, at),
            ('"', _) => at = text_end(&chars, at),
            ('\'', _) => at = quote_end(&chars, at),
            (':', ':') => {
                tokens.push(Token::Colons);
                at += 2;
            }
            ('{', _) => {
                tokens.push(Token::Open);
                at += 1;
            }
            ('}', _) => {
                tokens.push(Token::Close);
                at += 1;
            }
            _ if is_word(c) => {
                let end = find(&chars, at, |c| !is_word(c));
                let word: String = chars[at..end].iter().collect();
                let is_raw = matches!(word.as_str(), "r" | "br" | "cr");
                at = match (peek(end), peek(end + 1)) {
                    ('"', _) if is_raw => raw_text_end(&chars, end),
                    ('#', '"' | '#') if is_raw => raw_text_end(&chars, end),
                    // `r#type` is the raw identifier `type`.
                    ('#', after) if is_raw && is_word(after) => end + 1,
                    _ => {
                        tokens.push(Token::Word(word));
                        end
                    }
                };
            }
            _ => {
                if !c.is_whitespace() {
                    tokens.push(Token::Other(c));
                }
                at += 1;
            }
        }
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn find(chars: &[char], from: usize, is_end: impl Fn(char) -> bool) -> usize {
    chars[from..].iter().position(|c| is_end(*c)).map_or(chars.len(), |offset| from + offset)
}

/// Returns the end position of a comment, which may contain nested comments.
fn comment_end(chars: &[char], from: usize) -> usize {
    let mut depth = 0;
    let mut at = from;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn text_end(chars: &[char], from: usize) -> usize {
    let mut at = from + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Returns the end position of a raw string. `from` is the `#` or quote after the `r`.
fn raw_text_end(chars: &[char], from: usize) -> usize {
    let quote = find(chars, from, |c| c == '"');
    let end: Vec<char> =
        std::iter::once('"').chain(std::iter::repeat_n('#', quote - from)).collect();
    let rest = chars.get(quote + 1..).unwrap_or_default();
    let offset = rest.windows(end.len()).position(|window| window == end);
    offset.map_or(chars.len(), |offset| quote + 1 + offset + end.len())
}

/// Returns the end position of a character literal or lifetime.
fn quote_end(chars: &[char], from: usize) -> usize {
    match (chars.get(from + 1), chars.get(from + 2)) {
        (Some('\\'), _) => find(chars, from + 3, |c| c == '\'') + 1,
        (Some(_), Some('\'')) => from + 3,
        _ => find(chars, from + 1, |c| !is_word(c)),
    }
}

#[test]
fn every_form_of_a_path_is_seen() {
    let text = r##"
//! use crate::in_a_comment;
use crate::{plain, group::{self, deep::{A, B as C}, star::*}};
pub(crate) use super::super::above;
use ::outside::thing;
use std::io::{self as input, Read as _};
fn f<'a>(x: &'a str) -> impl Fn() + use<'a> {
    let c = '{'; let s = "crate::in_a_text {"; let r = r#"crate::raw "{"#;
    crate::code::call::<u8>(self::child::X);
    || (c, '\'', s, r, x.len())
}
#[cfg(test)]
mod tests { use super::*; }
/* crate::block /* nested */ { */ mod open { fn g() { super::after(); } }
"##;
    let seen: Vec<String> = list_paths(text)
        .iter()
        .map(|path| {
            let inside = path.inside.iter().map(|name| format!("{name}: ")).collect::<String>();
            let alias = path.imported_as.as_deref().unwrap_or("-");
            let test = if path.is_test { " (test)" } else { "" };
            format!("{inside}{} as {alias}{test}", path.segments.join("::"))
        })
        .collect();
    let expected = [
        "crate::plain as plain",
        "crate::group as group",
        "crate::group::deep::A as A",
        "crate::group::deep::B as C",
        "crate::group::star::* as *",
        "super::super::above as above",
        "::outside::thing as thing",
        "std::io as input",
        "std::io::Read as _",
        "crate::code::call as -",
        "self::child::X as -",
        "tests: super::* as * (test)",
        "open: super::after as -",
    ];
    assert_eq!(seen, expected);
}
