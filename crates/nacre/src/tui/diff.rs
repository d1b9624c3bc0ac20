//! Unified diffs, colored by line.

use ratatui_core::text::{Line, Span};

use super::theme::{Role, Theme};
use super::wrap::{Break, Indent, wrap};

/// What a line of a unified diff is.
pub(super) fn role(line: &str) -> Role {
    if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") {
        return Role::Heading;
    }
    match line.bytes().next() {
        Some(b'+') => Role::Added,
        Some(b'-') => Role::Removed,
        Some(b'@') => Role::Hunk,
        _ => Role::Text,
    }
}

/// The lines of a diff, fit for a width.
pub(super) fn lines(
    diff: &str,
    columns: usize,
    indent: &Indent,
    theme: Theme,
) -> Vec<Line<'static>> {
    let line = |line: &str| {
        let span = Span::styled(line.to_owned(), theme.style(role(line)));
        wrap(&[span], columns, indent, Break::Anywhere)
    };
    diff.lines().flat_map(line).collect()
}

/// How many lines a change adds and removes.
pub(super) fn counts(added: u32, removed: u32, theme: Theme) -> [Span<'static>; 3] {
    [
        Span::styled(format!("+{added}"), theme.style(Role::Good)),
        Span::raw(" "),
        Span::styled(format!("-{removed}"), theme.style(Role::Bad)),
    ]
}
