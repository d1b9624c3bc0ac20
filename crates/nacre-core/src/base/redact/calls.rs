//! Passwords that stand without a name among the arguments of a call that logs in or makes an account.

use std::ops::Range;

use super::breaks;
use super::finding::{FoundSecret, Weight};
use super::judge;
use super::text::Text;
use super::value::{self, Writing};

/// Where the password of a call stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    Last,
    At(usize),
}

/// The calls, with the bracket that opens their arguments, separated by `|`. A longer name may end with one of them.
pub(super) const CALLS: &[(&str, Position)] = &[
    (
        "login(|Login(|create_superuser(|create_user(|createUser(|CreateUser(|BasicAuth(|basicAuth(|basic_auth(|\
         authenticate(|signIn(|sign_in(|EmailAndPassword(|PasswordCredentials(",
        Position::Last,
    ),
    ("NetworkCredential(", Position::At(1)),
    ("PlainAuth(", Position::At(2)),
];

/// The most arguments of such a call.
const MAX_ARGUMENTS: usize = 6;

/// The longest argument that is an expression.
const MAX_EXPRESSION: usize = 48;

/// Returns the password of a call whose arguments begin at `pos`.
pub(super) fn find(text: &mut Text<'_>, position: Position, pos: usize) -> Option<FoundSecret> {
    let list = read_list(text, pos)?;
    let idx = match position {
        Position::Last => list.len().checked_sub(1)?,
        Position::At(idx) => idx,
    };
    let password = list.into_iter().nth(idx).flatten().filter(|_| idx > 0)?;
    is_secret(text, &password).then_some(FoundSecret::new(
        password.start..password.end,
        "password",
        Weight::Name,
    ))
}

/// Returns the password of `('user', 'password')`, which begins at `pos`.
pub(super) fn tuple(text: &mut Text<'_>, pos: usize) -> Option<Range<usize>> {
    if !matches!(text.at(pos)?, b'(' | b'[') {
        return None;
    }
    let list = read_list(text, pos + 1).filter(|list| list.len() == 2)?;
    list.into_iter().nth(1).flatten().filter(|password| is_secret(text, password))
}

/// Returns the arguments at `pos` up to the bracket that closes them; `None` stands for one that is no literal.
fn read_list(text: &mut Text<'_>, mut pos: usize) -> Option<Vec<Option<Range<usize>>>> {
    let mut list = Vec::new();
    while list.len() < MAX_ARGUMENTS {
        pos = breaks::skip_lines(text, pos);
        let end = if value::quote_at(text, pos).is_some() {
            let value = value::read_phrase(text, pos)?;
            list.push((value.writing == Writing::Quoted).then_some(value.start..value.end));
            value::quote_at(text, value.end)?.end
        } else {
            let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.$&*=:@".contains(byte);
            let rest = text.rest(pos).iter().take(MAX_EXPRESSION);
            list.push(None);
            pos + rest.take_while(is_part).count()
        };
        let end = breaks::skip_lines(text, end);
        match text.at(end)? {
            b',' => pos = end + 1,
            b')' | b']' => return Some(list),
            _ => return None,
        }
    }
    None
}

fn is_secret(text: &Text<'_>, range: &Range<usize>) -> bool {
    judge::is_chosen_literal(text.slice(range.start, range.end))
}
