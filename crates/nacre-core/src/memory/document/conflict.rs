//! Recognizes merge conflicts that git left in a file.

use memchr::memmem;

use super::fault::{Broken, Fault};

/// Whether a line of the frontmatter is one that git writes into a conflict.
pub(super) fn is_marker(line: &str) -> bool {
    ["<<<<<<< ", "||||||| ", "=======", ">>>>>>> "].iter().any(|marker| line.starts_with(marker))
}

/// Refuses a body with an unresolved conflict.
///
/// A memory may well quote one, or underline a heading with `=======`; so only the three markers
/// in their order, outside of code blocks, count.
pub(super) fn check(body: &str, first_line: usize) -> Result<(), Broken> {
    if memmem::find(body.as_bytes(), b"<<<<<<< ").is_none() {
        return Ok(());
    }
    let mut code = None;
    let mut ours = None;
    let mut theirs = None;
    for (line_idx, line) in body.lines().enumerate() {
        code = match (code, code_fence(line)) {
            (None, fence) => fence,
            (Some(open), Some(fence)) if fence.closes(open) => None,
            (open @ Some(_), _) => open,
        };
        if code.is_some() {
            continue;
        }
        if line.starts_with("<<<<<<< ") {
            ours = ours.or(Some(first_line + line_idx));
        } else if line.trim_end() == "=======" {
            theirs = ours;
        } else if let Some(line_of_conflict) = theirs
            && line.starts_with(">>>>>>> ")
        {
            return Err(Fault::ConflictMarker.on_line(line_of_conflict));
        }
    }
    Ok(())
}

/// The run of backticks or tildes that starts or ends a code block.
#[derive(Clone, Copy)]
struct CodeFence {
    mark: char,
    length: usize,
    /// Without a language behind it; only such a fence ends a block.
    is_bare: bool,
}

impl CodeFence {
    fn closes(self, open: Self) -> bool {
        self.is_bare && self.mark == open.mark && open.length <= self.length
    }
}

fn code_fence(line: &str) -> Option<CodeFence> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    let is_inline_code = mark == '`' && rest.contains('`');
    let is_fence = 3 <= length && line.len() - text.len() <= 3 && !is_inline_code;
    is_fence.then_some(CodeFence { mark, length, is_bare: rest.trim().is_empty() })
}
