//! The parts of a transcript: what was said, what was called, how it ended.
//!
//! Every text in a cell is clean (`text.rs`) and bounded, so that neither a stranger's text nor a long one reaches the screen.

use nacre_api::wire::{FilePatch, ToolOutcome};

use super::super::text::{clean, clean_line, clean_output, grouped};

/// More lines of a text are cut out of its middle.
pub(crate) const MAX_LINES: usize = 2_000;

/// More bytes of a text are cut out of its middle.
pub(crate) const MAX_BYTES: usize = 128 * 1024;

/// Names a cell. Cells that come before others have smaller ids.
pub(crate) type CellId = i64;

/// One part of the transcript.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) id: CellId,
    pub(crate) kind: CellKind,
    /// Whether all of it is shown.
    pub(crate) is_open: bool,
    /// Grows with every change, so that old lines of it are not shown.
    pub(crate) revision: u32,
    /// The number of its first item, where it was read from a session.
    pub(crate) sequence: Option<u64>,
}

/// What a cell shows.
#[derive(Clone, Debug)]
pub(crate) enum CellKind {
    User { text: String, attachments: Vec<String>, is_steering: bool },
    Assistant { text: String, is_interrupted: bool },
    Reasoning { text: String },
    Tool(ToolCell),
    Notice { text: String, tone: Tone },
}

/// How a notice looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Faint,
    Good,
    Warning,
    Bad,
}

/// A call of a tool, with its result when there is one.
#[derive(Clone, Debug)]
pub(crate) struct ToolCell {
    pub(crate) call: String,
    pub(crate) tool: String,
    pub(crate) summary: String,
    /// `None` while it runs.
    pub(crate) outcome: Option<ToolOutcome>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) text: String,
    pub(crate) patches: Vec<FilePatch>,
}

impl ToolCell {
    pub(crate) fn new(call: &str, tool: &str, summary: &str) -> Self {
        Self {
            call: call.to_owned(),
            tool: clean_line(tool),
            summary: clean_line(&bounded(summary)),
            outcome: None,
            duration_ms: None,
            text: String::new(),
            patches: Vec::new(),
        }
    }

    pub(crate) fn finish(
        &mut self,
        outcome: ToolOutcome,
        text: &str,
        patches: &[FilePatch],
        duration_ms: Option<u64>,
    ) {
        self.outcome = Some(outcome);
        self.duration_ms = duration_ms;
        self.text = bounded(&clean_output(&bounded(text)));
        self.patches = patches.iter().map(clean_patch).collect();
    }
}

/// A patch that can be shown.
pub(crate) fn clean_patch(patch: &FilePatch) -> FilePatch {
    FilePatch {
        path: clean_line(&patch.path),
        diff: bounded(&clean_output(&bounded(&patch.diff))),
        added: patch.added,
        removed: patch.removed,
    }
}

impl CellKind {
    pub(crate) fn notice(tone: Tone, text: &str) -> Self {
        Self::Notice { text: bounded(&clean(text)), tone }
    }

    pub(crate) fn is_tool(&self) -> bool {
        matches!(self, Self::Tool(_))
    }

    /// Whether it has more to show than its first line.
    pub(crate) fn can_fold(&self) -> bool {
        matches!(self, Self::Tool(_) | Self::Reasoning { .. })
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        const EMPTY: usize = 256;
        EMPTY
            + match self {
                Self::User { text, attachments, .. } => {
                    text.len() + attachments.iter().map(String::len).sum::<usize>()
                }
                Self::Assistant { text, .. }
                | Self::Reasoning { text }
                | Self::Notice { text, .. } => text.len(),
                Self::Tool(tool) => {
                    let patches = tool.patches.iter().map(|patch| patch.diff.len() + 128);
                    tool.summary.len() + tool.text.len() + patches.sum::<usize>()
                }
            }
    }
}

/// A text with its middle cut out where it is long; a line says how much is missing.
pub(crate) fn bounded(text: &str) -> String {
    let n_lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    if n_lines <= MAX_LINES && text.len() <= MAX_BYTES {
        return text.to_owned();
    }
    let head = take(text.split_inclusive('\n'));
    let rest = &text[head..];
    let tail = rest.len() - take(lines_from_behind(rest));
    let cut = rest[..tail].bytes().filter(|byte| *byte == b'\n').count();
    let what = match cut {
        0 => format!("{} bytes", grouped(tail as u64)),
        cut => format!("{} lines", grouped(cut as u64)),
    };
    format!("{}… {what} cut …\n{}", &text[..head], &rest[tail..])
}

/// How many bytes of lines fit into half of the bounds.
fn take<'t>(lines: impl Iterator<Item = &'t str>) -> usize {
    let mut taken = 0;
    for line in lines.take(MAX_LINES / 2) {
        if taken + line.len() > MAX_BYTES / 2 {
            break;
        }
        taken += line.len();
    }
    taken
}

/// Lines from the last to the first, each with its line break.
fn lines_from_behind(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let body = rest.strip_suffix('\n').unwrap_or(rest);
        let begin = body.rfind('\n').map_or(0, |at| at + 1);
        let line = &rest[begin..];
        rest = &rest[..begin];
        (!line.is_empty()).then_some(line)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_middle_of_a_long_text_is_cut_and_counted() {
        let text: String = (0..10_000).map(|idx| format!("line {idx}\n")).collect();
        let kept = bounded(&text);
        assert!(kept.starts_with("line 0\n"));
        assert!(kept.ends_with("line 9999\n"));
        assert!(kept.contains("\n… 8,000 lines cut …\n"), "{}", kept.lines().count());
        assert_eq!(kept.lines().count(), MAX_LINES + 1);
        assert_eq!(bounded("short\n"), "short\n");
    }

    #[test]
    fn one_line_without_end_is_cut() {
        let kept = bounded(&"é".repeat(MAX_BYTES));
        assert!(kept.len() <= MAX_BYTES && kept.contains("bytes cut"), "{}", kept.len());
    }

    proptest! {
        #[test]
        fn any_text_is_bounded(lines in prop::collection::vec("[a-zé\n]{0,300}", 0..40), repeat in 1usize..200) {
            let text = lines.join("\n").repeat(repeat);
            let kept = bounded(&text);
            prop_assert!(kept.len() <= MAX_BYTES + 64);
            prop_assert!(kept.lines().count() <= MAX_LINES + 2);
        }
    }
}
