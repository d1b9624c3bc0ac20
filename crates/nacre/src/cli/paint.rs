//! Colors: a piece of text has a role, and each role has a color.

use std::fmt::Display;

/// What a piece of text is; its color follows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    Id,
    Title,
    Faint,
    Good,
    Warning,
    Bad,
}

impl Role {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Id => "36",
            Self::Title => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Warning => "33",
            Self::Bad => "31",
        }
    }
}

/// Text in the color of its role.
pub(super) fn paint(is_on: bool, role: Role, text: impl Display) -> String {
    if is_on { format!("\x1b[{}m{text}\x1b[0m", role.code()) } else { text.to_string() }
}
