//! The paths that a command of a shell names, as far as its words tell.

use super::Touch;

/// Programs that change the files they are given.
const WRITERS: &[&str] = &[
    "chmod", "chown", "cp", "dd", "install", "ln", "mkdir", "mv", "rm", "rmdir", "rsync", "shred",
    "tee", "touch", "truncate", "unlink",
];

/// Of these only the last file is changed.
const COPIERS: &[&str] = &["cp", "install", "rsync"];

/// Where output may go without being a file.
const SINKS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// More words than this are a program, not a command.
const MAX_WORDS: usize = 4096;

/// What a command is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// Output goes to the next word.
    Into,
    /// Another command begins.
    End,
}

/// The paths of a command with what becomes of them. Words with variables, globs or commands inside are not known.
pub(super) fn paths(command: &str) -> Vec<(String, Touch)> {
    let mut found = Vec::new();
    for part in tokens(command).split(|token| *token == Token::End) {
        let mut words: Vec<&str> = Vec::new();
        let mut is_target = false;
        for token in part {
            match token {
                Token::Into => is_target = true,
                Token::Word(word) if is_target => {
                    found.push((word.clone(), Touch::Write));
                    is_target = false;
                }
                Token::Word(word) => words.push(word),
                Token::End => {}
            }
        }
        found.extend(of_words(&words));
    }
    found.retain(|(path, _)| is_known(path) && !SINKS.contains(&path.as_str()));
    found
}

/// The paths among the words of one command.
fn of_words(words: &[&str]) -> Vec<(String, Touch)> {
    let is_assigned = |word: &&&str| word.contains('=') && !word.starts_with(['-', '/', '.']);
    let mut words =
        words.iter().skip_while(is_assigned).copied().skip_while(|word| *word == "sudo");
    let Some(program) = words.next() else { return Vec::new() };
    let program = program.rsplit('/').next().unwrap_or(program);
    let arguments: Vec<&str> = words.collect();
    let edits_in_place = ["sed", "perl"].contains(&program)
        && arguments.iter().any(|word| word.starts_with("-i") || word.starts_with("--in-place"));
    let is_writer = WRITERS.contains(&program) || edits_in_place;
    let files: Vec<&str> = arguments
        .iter()
        .map(|word| word.strip_prefix("of=").unwrap_or(word))
        .filter(|word| !word.starts_with('-'))
        .collect();
    let last = files.len().saturating_sub(1);
    let touch = |number: usize| match is_writer && (!COPIERS.contains(&program) || number == last) {
        true => Touch::Write,
        false => Touch::Read,
    };
    let looks_like_path = |word: &str| word.contains('/') || word.starts_with(['.', '~']);
    let paths = files.iter().enumerate().map(|(number, word)| (*word, touch(number)));
    // Whatever a writer is given is a file; of others, what looks like one.
    let paths = paths.filter(|(word, touch)| {
        (*touch == Touch::Write && !edits_in_place) || looks_like_path(word)
    });
    paths.map(|(word, touch)| (word.to_owned(), touch)).collect()
}

fn is_known(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['$', '`', '*', '?', '{', '(', '\n'])
        && !path.starts_with("s/")
}

/// Cuts a command into words and what joins them.
fn tokens(command: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut quote: Option<char> = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        if tokens.len() > MAX_WORDS {
            break;
        }
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.push(c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '\\') => word.extend(chars.next()),
            (None, '>') => {
                // `2>` and `&>`: what stands before is a number, not a word.
                if word.chars().any(|c| !c.is_ascii_digit() && c != '&') {
                    flush(&mut word, &mut tokens);
                }
                word.clear();
                while chars.next_if(|next| ['>', '|'].contains(next)).is_some() {}
                // `>&2` names a stream.
                if chars.next_if_eq(&'&').is_none() {
                    tokens.push(Token::Into);
                }
            }
            (None, ';' | '|' | '&' | '\n' | '(' | ')') => {
                flush(&mut word, &mut tokens);
                tokens.push(Token::End);
            }
            (None, c) if c.is_whitespace() => flush(&mut word, &mut tokens),
            (None, c) => word.push(c),
        }
    }
    flush(&mut word, &mut tokens);
    tokens
}

fn flush(word: &mut String, tokens: &mut Vec<Token>) {
    if !word.is_empty() {
        tokens.push(Token::Word(std::mem::take(word)));
    }
}
