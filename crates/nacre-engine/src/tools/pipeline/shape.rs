//! What the model reads of an output: without secrets and control characters, and not too long.
//!
//! A long text keeps its head and its tail in whole lines; all of it lies in a spill file, and the last line says how to read
//! on in it with `file_read` and `file_search`.
//! Secrets are taken out before anything is cut or kept.

use std::path::Path;

use nacre_core::base::redact::ExtraWords;
use nacre_core::base::{ContentHash, Shown};
use nacre_core::safefs::{Access, FsError, RelPath, WriteScope};

use super::super::tool::{SPILL_PREFIX, ToolError, ToolSpec};

/// What an error text may have, and an output of a tool that is not known.
const DEFAULT_SHOWN_BYTES: usize = 12_000;

/// Larger outputs are kept only in part.
const MAX_SPILL_BYTES: usize = 8 << 20;

/// What the last line of a cut output takes.
const HOW_BYTES: usize = 200;

/// All spill files of one run together; what comes later is only cut.
const MAX_SPILLED_BYTES: usize = 256 << 20;

/// An output as the model reads it.
#[derive(Debug)]
pub(super) struct Shaped {
    pub(super) text: String,
    pub(super) said_bytes: usize,
    pub(super) spill: Option<String>,
    pub(super) n_redacted: usize,
}

/// Where long outputs are kept.
#[derive(Debug)]
pub(super) struct SpillFolder {
    scope: WriteScope,
    n_bytes: usize,
}

impl SpillFolder {
    pub(super) fn open(path: &Path) -> Result<Self, FsError> {
        WriteScope::open(path, Access::Private).map(|scope| Self { scope, n_bytes: 0 })
    }

    /// Keeps a text; returns the name that `file_read` takes. The same text is kept once.
    fn keep(&mut self, text: &str) -> Option<String> {
        self.n_bytes += text.len();
        if MAX_SPILLED_BYTES < self.n_bytes {
            return None;
        }
        let name = format!("{}.txt", ContentHash::of(text.as_bytes()).short());
        let path = RelPath::new(&name).ok()?;
        let is_kept = self.scope.has(&path).unwrap_or(false)
            || self.scope.create_file(&path, text.as_bytes()).is_ok();
        is_kept.then(|| format!("{SPILL_PREFIX}{name}"))
    }
}

pub(super) fn error_text(error: &ToolError) -> String {
    format!(
        "Error ({}): {}. {}",
        error.fault.as_str(),
        error.what.trim_end_matches('.'),
        error.hint
    )
}

/// Makes an output fit to be read by a model.
pub(super) fn shape(
    text: &str,
    spec: Option<&ToolSpec>,
    spill: &mut SpillFolder,
    words: &ExtraWords,
) -> Shaped {
    let limit = spec.map_or(DEFAULT_SHOWN_BYTES, |spec| spec.shown_bytes);
    let said_bytes = text.len();
    let kept = head(text, MAX_SPILL_BYTES);
    let redacted = words.redact_counted(kept);
    let n_redacted = redacted.hits.values().sum();
    let clean = scrub(&redacted.text);
    if clean.len() <= limit {
        return Shaped { text: clean, said_bytes, spill: None, n_redacted };
    }
    let name = spill.keep(&clean);
    let text = shorten(&clean, limit, name.as_deref());
    Shaped { text, said_bytes, spill: name, n_redacted }
}

/// Takes colours out and makes other control characters visible.
fn scrub(text: &str) -> String {
    let unix = text.replace("\r\n", "\n");
    Shown(&without_sequences(&unix)).to_string()
}

/// Drops terminal sequences that programs colour and move with: `ESC [ … letter`.
fn without_sequences(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        clean.push_str(&rest[..at]);
        let tail = &rest[at + 2..];
        let is_inside = |c: char| c.is_ascii_digit() || matches!(c, ';' | '?' | ':' | ' ');
        let end = tail.find(|c: char| !is_inside(c)).unwrap_or(tail.len());
        let is_whole = tail[end..].starts_with(|c: char| c.is_ascii_alphabetic());
        rest = if is_whole { &tail[end + 1..] } else { tail };
    }
    clean.push_str(rest);
    clean
}

/// Keeps six tenths of the limit from the start and the rest from the end, in whole lines where it can.
fn shorten(text: &str, limit: usize, spill: Option<&str>) -> String {
    let limit = limit.saturating_sub(HOW_BYTES);
    let first = whole_lines_at_start(text, limit / 10 * 6);
    let last = whole_lines_at_end(&text[first.len()..], limit - first.len().min(limit));
    let left_out = &text[first.len()..text.len() - last.len()];
    let (n_lines, n_bytes) = (left_out.lines().count(), left_out.len());
    let break_after = |text: &str| if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let next = first.lines().count() + usize::from(first.ends_with('\n') || first.is_empty());
    let how = match spill {
        Some(name) => format!(
            "[Read on with file_read `{name}` from line {next}, or search all of it with file_search and `under` `{name}`.]"
        ),
        None => "[What was left out is not kept; ask for less at once.]".to_owned(),
    };
    let (gap, end) = (break_after(first), break_after(last));
    format!("{first}{gap}[… {n_lines} lines, {n_bytes} bytes left out …]\n{last}{end}{how}")
}

fn whole_lines_at_start(text: &str, limit: usize) -> &str {
    let cut = head(text, limit);
    match cut.rfind('\n') {
        Some(at) if limit / 2 < at => &cut[..=at],
        Some(_) | None => cut,
    }
}

fn whole_lines_at_end(text: &str, limit: usize) -> &str {
    let mut start = text.len().saturating_sub(limit);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let cut = &text[start..];
    match cut.find('\n') {
        Some(at) if at < limit / 2 => &cut[at + 1..],
        Some(_) | None => cut,
    }
}

/// The longest start of `text` of at most `limit` bytes.
pub(crate) fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
