//! Finds secrets by the name they are assigned to.
//!
//! The grammar for the text between the name and the value covers env files, YAML, JSON, TOML,
//! code, headers, flags, tags and table cells. The grammar is permissive; a check of the value
//! rules out false positives in code.

use super::names::{Name, Role};
use super::places::{CHANGED, IS_CHANGED};
use super::text::{FoundSecret, Pattern, Secrets, Set, Text, Weight};
use super::value::{Value, Writing};
use super::{base64, judge, names, tables, value};

/// A longer run of spaces separates columns of text.
const MAX_BLANKS: usize = 40;

/// Longer unquoted words that do not look random are usually identifiers such as test names.
const MAX_BARE: usize = 24;

/// Longer quoted strings that do not look random are usually messages or paths.
const MAX_QUOTED: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// `name=value`.
    Tight,
    /// `name = value`, `name: value`, `--name value`, `<name>value`.
    Loose,
    /// `"name", "value"` or `name = wrap("value")`. Only random values are accepted.
    Distant,
    /// `setPassword("value")`.
    Call,
    /// `name:` with the value on the next line.
    NextLine,
    /// `NAME value`, separated only by spaces. Only random values are accepted, and weak names are
    /// ignored.
    Apart,
    /// `name` alone on a line, with the value on the next line. The same restrictions apply as for
    /// `Apart`.
    Below,
    /// `the name for this is value`. Only random values are accepted.
    Spoken,
}

pub(super) fn find(text: &mut Text<'_>, role: Role, start: usize, end: usize) -> Secrets {
    // The longer keyword, such as `password` for `pass`, is found as a separate match.
    if end - start == 4 && matches!(text.at(end), Some(b'w' | b'W')) {
        return Vec::new();
    }
    if role == Role::Password
        && let Some(n_link) = measure_typed_text(text, start, end)
    {
        let name = Name { start, end, role };
        return find_value(text, &name, Link::Loose, end + n_link).into_iter().collect();
    }
    let Some(name) = names::read(text, role, start, end) else { return Vec::new() };
    let found = find_named(text, &name, start, end);
    if found.is_empty() && role == Role::Password { find_spoken(text, &name) } else { found }
}

const MAX_BACK: usize = 64;

/// A form field that a test types into: `getByLabel('Password').fill(`.
static TYPED: Pattern = Pattern::new(concat!(
    r"\A[\w -]{0,24}(?:<q>|\])(?:<q>|[\]} )]){0,10}(?:<s>\.\w{1,24}\(\)){0,2}<s>\.",
    r"(?:fill|type|send_?[kK]eys|set_?[vV]alue|addValue|press_?[sS]equentially|type_?[tT]ext|",
    r"enter_?[tT]ext|set)\("
));

/// A JSON pair that names a form field, followed by the pair with the text typed into it:
/// `"selector":"#password","text":`.
static PAIRED: Pattern = Pattern::new(concat!(
    r"(?i)\A[\w -]{0,24}(?:<q>|\])(?:<q>|[\]} ]){0,10},<s>(?:<pair>,<s>){0,2}",
    r"<q>?(?:text|value|keys|with|content)<q>?<_>[:=]<_>",
));

static FIELD: Pattern = Pattern::new("selector|locator|element|field|target|fill_in");

fn measure_typed_text(text: &Text<'_>, start: usize, end: usize) -> Option<usize> {
    let rest = text.ahead(end, 256);
    if !rest
        .first()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_- \"'`]\\".contains(byte))
    {
        return None;
    }
    let is_quote = |at: &usize| value::quote_at(text, end + at).is_some();
    let is_field = || FIELD.is_match(text.behind(start, MAX_BACK));
    let typed = TYPED.len(rest).filter(is_quote);
    typed.or_else(|| PAIRED.len(rest).filter(|_| is_field()))
}

static CHANGES: Pattern = Pattern::new("[sS]et|[cC]hang|[uU]pdat|[rR]otat|switch");

static BEFORE: Pattern = Pattern::new(concat!(
    r"(?:\A|[^0-9A-Za-z!#$%*+./:=?@^_~-])([0-9A-Za-z!#$%*+./:=?@^_~-]{6,})<q>? (?:as|is|was)",
    r"(?: (?:the|my|a|your|our|its|new|old|admin|root|temporary|current|db|database|default|user|",
    r"test|staging|production|prod)){0,3} \z"
));

/// Words that may follow the name in `… is the password for staging`. Before any other word, the
/// name is part of a longer term and is ignored.
static FOLLOWED: Pattern = Pattern::new(
    r"\A(?: (?:for|of|on|in|to|and|but|now|here|there|when)\b| [^a-z]| ?\z|[^ \w=:(\x22'`/-])",
);

fn find_spoken(text: &mut Text<'_>, name: &Name) -> Secrets {
    let head = text.behind(name.start, MAX_BACK);
    let rest = text.ahead(name.end, MAX_BACK);
    if CHANGES.is_match(head) || IS_CHANGED.is_match(rest) {
        let found = CHANGED.find(text, name.start, name.end);
        if !found.is_empty() {
            return found;
        }
    }
    let value = BEFORE.group(head).filter(|_| FOLLOWED.is_match(rest));
    let value = value.filter(|value| judge::is_no_word(&head[value.clone()]));
    let offset = name.start - head.len();
    let found = value.map(|value| {
        let end = offset + value.end;
        secret_of_assignment(text.run_start(Set::Bare, end, MAX_BACK), end, "password")
    });
    found.into_iter().collect()
}

fn find_named(text: &mut Text<'_>, name: &Name, start: usize, end: usize) -> Secrets {
    let role = name.role;
    let cells = if role == Role::Weak { Vec::new() } else { tables::cells(text, name, role) };
    if !cells.is_empty() {
        let kind = name.kind(text);
        return cells
            .into_iter()
            .map(|cell| secret_of_assignment(cell.start, cell.end, kind))
            .collect();
    }
    let words = tables::tag_words(text, name);
    if !words.is_empty() {
        let kind = name.kind(text);
        return words
            .into_iter()
            .map(|word| secret_of_assignment(word.start, word.end, kind))
            .collect();
    }
    let Some((link, pos)) = link(text, name) else { return Vec::new() };
    // The argument of `should_pass("…")` is not a password.
    if link == Link::Call && text.slice(start, end).eq_ignore_ascii_case(b"pass") {
        return Vec::new();
    }
    find_value(text, name, link, pos).into_iter().collect()
}

fn secret_of_assignment(start: usize, end: usize, kind: &'static str) -> FoundSecret {
    FoundSecret::new(start..end, kind, Weight::Name)
}

fn find_value(text: &mut Text<'_>, name: &Name, link: Link, pos: usize) -> Option<FoundSecret> {
    let is_variable = link == Link::Tight && is_variable(text.slice(name.start, name.end));
    let value = read_value(text, pos, is_variable).filter(|value| {
        !matches!(link, Link::NextLine | Link::Below) || stands_alone(text, value)
    })?;
    let is_json_number = value.writing != Writing::Quoted
        && is_number(text.slice(value.start, value.end))
        && value::quote_at(text, name.end).is_some_and(|quote| quote.mark == b'"');
    let is_secret_to = |end: usize| {
        let bytes = text.slice(value.start, end.min(value.start + judge::SAMPLE));
        is_secret_of(bytes, text.slice(name.start, name.end), name.role, link, value.writing)
    };
    // A value that continues after `&` is checked both as a whole and up to the `&`.
    let is_secret = is_secret_to(value.end)
        || (value.core_end != value.end && is_secret_to(value.core_end))
        || (matches!(link, Link::Tight | Link::Loose)
            && names::is_password_setting(text, name, &value));
    if !is_secret || is_json_number {
        return None;
    }
    Some(secret_of_assignment(value.start, value.end, name.kind(text)))
}

fn read_value(text: &mut Text<'_>, pos: usize, is_variable: bool) -> Option<Value> {
    let value = value::read_phrase(text, pos);
    let is_bare = value.is_none_or(|value| value.writing == Writing::Bare);
    let next = text.run_end(Set::Bare, pos);
    let has_bracket = text.at(next).is_some_and(|byte| b"([{<)]}>".contains(&byte));
    if is_bare && has_bracket { parse_bracketed(text, pos, is_variable).or(value) } else { value }
}

/// Returns the bracketed word at `pos`. The word is treated as a literal in environment variables
/// and wherever it cannot be code.
fn parse_bracketed(text: &Text<'_>, pos: usize, is_variable: bool) -> Option<Value> {
    let rest = text.rest(pos);
    let is_part = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`\\,;".contains(byte);
    let word = &rest[..rest.iter().take(MAX_QUOTED + 1).take_while(is_part).count()];
    let count = |set: &[u8]| word.iter().filter(|byte| set.contains(byte)).count();
    let goes_on =
        word.windows(2).any(|pair| b")]}>".contains(&pair[0]) && pair[1].is_ascii_alphanumeric());
    let (n_open, n_close) = (count(b"([{<"), count(b")]}>"));
    let end = pos + word.len();
    let is_open = n_open > n_close && value::ends_line(text, end);
    let is_literal = goes_on || is_open || is_variable && n_open == n_close;
    (is_literal && word.len() <= MAX_QUOTED && !b"([{<)".contains(word.first()?)).then_some(Value {
        start: pos,
        end,
        core_end: end,
        writing: Writing::Bracketed,
    })
}

fn is_secret_of(bytes: &[u8], written: &[u8], role: Role, link: Link, writing: Writing) -> bool {
    let is_path = role == Role::Password && bytes.starts_with(b"/");
    let is_plain = bytes.iter().all(u8::is_ascii_lowercase);
    // Test runners print `PASS: name`.
    let is_verdict = match link {
        Link::Loose => written == b"PASS",
        Link::NextLine => written.eq_ignore_ascii_case(b"pass"),
        Link::Tight | Link::Distant | Link::Call | Link::Apart | Link::Below | Link::Spoken => {
            false
        }
    };
    // Plain words are accepted only in quotes and in variables, so skip all others early.
    let is_prose = is_plain && writing == Writing::Bare && link != Link::Tight;
    if is_path || is_verdict || is_prose || is_excused(bytes, writing) {
        return false;
    }
    let is_variable = link == Link::Tight && is_variable(written) && writing != Writing::Bracketed;
    let is_login = role == Role::Credential
        && link != Link::Apart
        && written.ends_with(b"auth")
        && base64::is_login(bytes);
    (is_variable && role == Role::Password && judge::is_word(bytes))
        || is_login
        || is_secret(bytes, role, link, writing)
}

fn is_variable(name: &[u8]) -> bool {
    name.iter().all(|byte| !byte.is_ascii_lowercase())
}

fn is_number(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
}

fn link(text: &mut Text<'_>, name: &Name) -> Option<(Link, usize)> {
    let role = name.role;
    let mut pos = value::quote_at(text, name.end).map_or(name.end, |quote| quote.end);
    if role == Role::Weak {
        return weak_link(text, pos);
    }
    if let Some(pair) = tables::value_of(text, name, pos) {
        return Some((if pair.is_cell { Link::Distant } else { Link::Loose }, pair.at));
    }
    if let Some(at) = skip(text, &FALLBACK, pos).filter(|at| value::quote_at(text, *at).is_some()) {
        let is_variable = is_variable(text.slice(name.start, name.end));
        return Some((if is_variable { Link::Loose } else { Link::Distant }, at));
    }
    pos += usize::from(pos > name.end && text.at(pos) == Some(b']'));
    pos = skip_stars(text, pos);
    let before_blanks = pos;
    pos = skip_blanks(text, pos);
    let is_flag = text.slice(name.start, name.end).starts_with(b"--")
        && pos > before_blanks
        && text.at(pos) != Some(b'=');
    if is_flag {
        return Some((Link::Loose, skip_continued(text, pos)));
    }
    if let Some(at) = value_below(text, name, role, pos) {
        return Some((Link::Below, at));
    }
    // `variable "db_password" {`
    if before_blanks > name.end
        && text.at(pos) == Some(b'{')
        && let Some(at) = tables::block_value(text, pos + 1)
    {
        return Some((Link::Loose, at));
    }
    if let Some(after) = find_spoken_end(text, name, pos) {
        return Some((Link::Spoken, skip_blanks(text, after)));
    }
    let (link, after) = operator(text, name, role, pos)?;
    let value_pos = skip_blanks(text, skip_stars(text, after));
    let properties = skip(text, &PROPERTIES, value_pos).filter(|at| text.at(*at) != Some(b'='));
    let value_pos = properties.unwrap_or(value_pos);
    let continued = skip_continued(text, value_pos);
    if continued > value_pos {
        return Some((Link::Loose, continued));
    }
    if text.at(value_pos) == Some(b'{')
        && let Some(at) = tables::block_value(text, value_pos + 1)
    {
        return Some((Link::Loose, at));
    }
    let link = if link == Link::Tight && (value_pos > after || pos > before_blanks) {
        Link::Loose
    } else {
        link
    };
    if let Some((link, below)) = next_line(text, link, value_pos) {
        let nested = if link == Link::NextLine { tables::block_value(text, below) } else { None };
        return Some(nested.map_or((link, below), |at| (Link::Loose, at)));
    }
    let has_type = text.at(pos) == Some(b':');
    let typed = skip(text, &TYPE, value_pos)
        .filter(|at| has_type && matches!(text.at(*at), Some(b' ' | b'"')));
    let value_pos = typed.map_or(value_pos, |at| skip_blanks(text, at));
    let is_quote = |at: &usize| value::quote_at(text, *at).is_some();
    if let Some(at) = skip(text, &PREFIX, value_pos).filter(is_quote) {
        return Some((link, at));
    }
    let call = skip(text, &CALL, value_pos).filter(is_quote);
    Some(call.map_or((link, value_pos), |at| (Link::Distant, at)))
}

fn skip(text: &Text<'_>, pattern: &Pattern, pos: usize) -> Option<usize> {
    pattern.len(text.ahead(pos, MAX_LINK)).map(|len| pos + len)
}

const MAX_LINK: usize = 96;

/// The operator between a variable that may be unset and its default value.
static FALLBACK: Pattern = Pattern::new(r"\A[\])!]{0,3}<s>(?:\|\|=?|\?\?=?|\?:|or )<s>");

/// A YAML anchor or tag before a value: `&name value`, `!!str value`. `&str = ` is a Rust type
/// instead.
static PROPERTIES: Pattern = Pattern::new(r"\A[&!][\w!-]{1,40} ");

/// The type annotation in `NAME: &str = value`.
static TYPE: Pattern = Pattern::new(r"\A[A-Za-z&\[*][\w&'<>: \[\]|.*?!]{0,62} =");

/// A string prefix as in `b"…"` or `r#"…"#`, or a call around a string: `String::from("…")`.
static PREFIX: Pattern = Pattern::new(r"\A[\w:.!@$]{0,2}#{0,3}");
static CALL: Pattern = Pattern::new(r"\A(?:new )?[\w:.!@$]{1,40}\(");

/// The start of a YAML block scalar or a here-document: `|-`, `<<EOT`.
static OPENER: Pattern = Pattern::new(r"\A(?:[|>][+1-9-]{0,2}|<<[\w~'-]*)");

static FENCE: Pattern = Pattern::new(r"\A(?:```|~~~)\w{0,40}<br><_>");

static SPOKEN: Pattern = Pattern::new(concat!(
    r"\A(?:(?:\([\w ./-]{0,30}\)|<preposition>(?: [\w.@/][\w.@/-]*){1,4}?)",
    r" {0,2}(?::|=>?|->|→|<verb>[ :])|->|→|—|–|- |は|是|为|為|는|은|<verb>[ :])"
));

fn find_spoken_end(text: &Text<'_>, name: &Name, pos: usize) -> Option<usize> {
    let rest = text.rest(pos);
    // `password->field` and `password(…)` are code. `find_spoken` handles `is` after a password,
    // with weaker conditions for the value.
    let is_link = match rest.first()? {
        0x80.. => true,
        b'-' | b'(' | b'a'..=b'z' => pos > name.end,
        _ => false,
    };
    let is_read = name.role == Role::Password && matches!(rest, [b'i', b's', b' ' | b':', ..]);
    let is_said = is_link && !is_read && !matches!(name.role, Role::Credential | Role::Weak);
    if is_said { skip(text, &SPOKEN, pos) } else { None }
}

/// Returns the link for a weak name, if an assignment or a separator directly follows the name.
fn weak_link(text: &Text<'_>, pos: usize) -> Option<(Link, usize)> {
    let at = skip_blanks(text, pos);
    match text.rest(at) {
        [b'=', b'=' | b'>', ..] | [b':', b':', ..] => None,
        [b'=' | b':', ..] => Some((Link::Loose, skip_blanks(text, at + 1))),
        _ => None,
    }
}

fn operator(text: &Text<'_>, name: &Name, role: Role, pos: usize) -> Option<(Link, usize)> {
    let rest = text.rest(pos);
    let (link, len) = match rest {
        [b'=', b'=', b'=', ..] => (Link::Distant, 3),
        [b'=' | b'!', b'=', ..] => (Link::Distant, 2),
        [b':', b':', b':', b'=', ..] => (Link::Loose, 4),
        [b':', b':', b'=', ..] => (Link::Loose, 3),
        [b'=', b'>', ..] | [b':' | b'.' | b'+', b'=', ..] | [b'?', b'=' | b':', ..] => {
            (Link::Loose, 2)
        }
        // `var token string = "…"`
        [b's', b't', b'r', b'i', b'n', b'g', b' ', b'=', ..] => (Link::Loose, 8),
        // The full-width colon used in Chinese and Japanese text.
        [0xef, 0xbc, 0x9a, ..] => (Link::Loose, 3),
        [b'=', ..] => (Link::Tight, 1),
        [b':', b':', ..] => return None,
        [b':', ..] => (Link::Loose, 1),
        [b'i', b's', b' ' | b':', ..] if role == Role::Password && pos > name.end => {
            (Link::Loose, 3)
        }
        [b'(', ..] if value::quote_at(text, pos + 1).is_some() => (Link::Call, 1),
        [b',' | b'|', ..] => (Link::Distant, 1),
        [b'"' | b'\'' | b'`', ..] if pos > name.end => (Link::Apart, 0),
        [first, ..] if pos > name.end && first.is_ascii_alphanumeric() => (Link::Apart, 0),
        _ => return None,
    };
    Some((link, pos + len))
}

fn next_line(text: &Text<'_>, link: Link, pos: usize) -> Option<(Link, usize)> {
    if !matches!(link, Link::Tight | Link::Loose) {
        return None;
    }
    let n_opener = OPENER.len(text.ahead(pos, MAX_LINK)).unwrap_or(0);
    let start = value::break_end(text, pos + n_opener)?;
    let value_pos = value::skip_blanks(text, start);
    if let Some(fenced) = skip(text, &FENCE, value_pos) {
        return Some((Link::NextLine, fenced));
    }
    if text.at(pos) == Some(b'<') {
        return Some((Link::NextLine, value_pos));
    }
    let is_below = n_opener > 0 || value::quote_at(text, value_pos).is_some();
    // A variable is empty if its line ends after the operator.
    if link == Link::Tight && value_pos == start && !is_below {
        return None;
    }
    Some((if is_below { Link::Loose } else { Link::NextLine }, value_pos))
}

fn stands_alone(text: &Text<'_>, value: &Value) -> bool {
    let close = value::quote_at(text, value.end).filter(|_| value.writing == Writing::Quoted);
    let end = close.map_or(value.end, |quote| quote.end);
    let end = end + usize::from(matches!(text.at(end), Some(b',' | b';')));
    let bytes = text.slice(value.start, value.end);
    let is_assignment = bytes.contains(&b':')
        || memchr::memchr(b'=', bytes)
            .is_some_and(|at| bytes[at..].iter().any(|byte| *byte != b'='));
    let is_path = bytes.contains(&b'/') && bytes.contains(&b'.');
    !is_assignment && !is_path && value::ends_line(text, end)
}

fn value_below(text: &Text<'_>, name: &Name, role: Role, pos: usize) -> Option<usize> {
    let next = value::break_end(text, pos).filter(|_| role == Role::Password)?;
    let before = text.slice(value::line_start(text, name.start), name.start);
    let is_alone = before.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    is_alone.then(|| value::skip_blanks(text, next))
}

fn skip_continued(text: &Text<'_>, pos: usize) -> usize {
    let next = value::find_continued_end(text, pos);
    next.map_or(pos, |next| value::skip_blanks(text, next))
}

fn skip_blanks(text: &Text<'_>, pos: usize) -> usize {
    let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'\t');
    pos + text.rest(pos).iter().take(MAX_BLANKS).take_while(is_blank).count()
}

fn skip_stars(text: &Text<'_>, pos: usize) -> usize {
    if text.rest(pos).starts_with(b"**") { pos + 2 } else { pos }
}

fn is_excused(bytes: &[u8], writing: Writing) -> bool {
    let is_reference = match writing {
        Writing::Bracketed => judge::has_interpolation(bytes),
        Writing::Quoted | Writing::Phrase | Writing::Bare => judge::is_reference(bytes),
    };
    bytes.len() < 8 || is_reference || judge::has_placeholder(bytes) || judge::is_code(bytes)
}

fn is_secret(bytes: &[u8], role: Role, link: Link, writing: Writing) -> bool {
    if writing == Writing::Phrase {
        let is_assigned = matches!(link, Link::Tight | Link::Loose | Link::Call);
        return role == Role::Password && is_assigned && judge::is_phrase(bytes);
    }
    if role == Role::Weak {
        return matches!(link, Link::Tight | Link::Loose)
            && (judge::is_dense(bytes) || bytes.len() >= 24 && judge::is_certain(bytes));
    }
    if judge::is_random(bytes) || is_uuid(bytes) {
        return match role {
            // In test output, a `PASS` line may be followed by a record that starts with a UUID.
            Role::Password => link != Link::Below || !is_uuid(bytes),
            Role::Secret | Role::Token | Role::Key => true,
            Role::Credential | Role::Weak => {
                matches!(link, Link::Tight | Link::Loose | Link::Distant) && !is_uuid(bytes)
            }
        };
    }
    let is_chosen = judge::is_mixed(bytes) && !judge::is_identifier(bytes);
    match (role, link) {
        (Role::Credential | Role::Weak, _) | (_, Link::Apart | Link::Below) => false,
        (
            Role::Secret | Role::Token | Role::Key,
            Link::Distant | Link::Call | Link::NextLine | Link::Spoken,
        ) => false,
        (Role::Password, Link::Distant | Link::NextLine) => is_chosen,
        (Role::Password, Link::Spoken) => is_chosen && judge::has_all_classes(bytes),
        (Role::Password, Link::Call) => {
            bytes.len() <= MAX_BARE && judge::is_password(bytes) && !judge::is_identifier(bytes)
        }
        (Role::Password, Link::Tight | Link::Loose) => match writing {
            Writing::Quoted => judge::is_password(bytes) || judge::is_joined_words(bytes),
            Writing::Bracketed => bytes.len() <= MAX_BARE && is_chosen,
            Writing::Bare | Writing::Phrase => {
                bytes.len() <= MAX_BARE && judge::is_password(bytes) && !judge::is_identifier(bytes)
            }
        },
        (Role::Secret | Role::Key, Link::Tight | Link::Loose) if writing == Writing::Quoted => {
            bytes.len() <= MAX_QUOTED && judge::is_password(bytes) && !judge::is_identifier(bytes)
        }
        (Role::Secret | Role::Token | Role::Key, Link::Tight | Link::Loose) => {
            matches!(writing, Writing::Bare | Writing::Quoted)
                && bytes.len() <= MAX_BARE
                && is_chosen
        }
    }
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36 && value.iter().filter(|byte| **byte == b'-').count() == 4
}
