//! Prepares output for the model and the user: redacts it, removes control characters, and limits
//! its size.
//!
//! The model gets only the first and last lines of long output. The full text is stored in a spill
//! file for `file_read`. Users see file changes as diffs.

use std::path::Path;

use nacre_base::fs::{Access, FsError, RelPath, WriteScope};
use nacre_base::redact::ExtraWords;
use nacre_base::{ContentHash, Shown, format_unified_diff};
use nacre_types::FilePatch;

use crate::tools::pipeline::undo::{ChangedFile, Image};
use crate::tools::tool::{SPILL_PREFIX, ToolError, ToolSpec};
use crate::tools::workspace::is_binary;

/// Limit for errors, and for the output of unknown tools.
const DEFAULT_SHOWN_BYTES: usize = 12_000;

const MAX_SPILL_BYTES: usize = 8 << 20;

/// Space reserved for the notice at the end of truncated output.
const HOW_BYTES: usize = 200;

/// Maximum total size of a run's spill files. Beyond this, long output is truncated but not stored.
const MAX_SPILLED_BYTES: usize = 256 << 20;

#[derive(Debug)]
pub(super) struct Shaped {
    pub(super) text: String,
    pub(super) said_bytes: usize,
    pub(super) spill: Option<String>,
}

#[derive(Debug)]
pub(super) struct SpillFolder {
    scope: WriteScope,
    n_bytes: usize,
}

impl SpillFolder {
    pub(super) fn open(path: &Path) -> Result<Self, FsError> {
        WriteScope::open(path, Access::Private).map(|scope| Self { scope, n_bytes: 0 })
    }

    /// Stores the text and returns its name for `file_read`. Identical text is stored only once.
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
    let ToolError { fault, what, hint } = error;
    format!("Error ({}): {}. {hint}", fault.as_str(), what.trim_end_matches('.'))
}

pub(super) fn shape(
    text: &str,
    spec: Option<&ToolSpec>,
    spill: &mut SpillFolder,
    words: &ExtraWords,
) -> Shaped {
    let limit = spec.map_or(DEFAULT_SHOWN_BYTES, |spec| spec.shown_bytes);
    let said_bytes = text.len();
    let kept = head(text, MAX_SPILL_BYTES);
    let unix = words.redact(kept).replace("\r\n", "\n");
    let clean = Shown(&without_sequences(&unix)).to_string();
    if clean.len() <= limit {
        return Shaped { text: clean, said_bytes, spill: None };
    }
    let name = spill.keep(&clean);
    let text = shorten(&clean, limit, name.as_deref());
    Shaped { text, said_bytes, spill: name }
}

/// Removes terminal escape sequences of the form `ESC [ … letter`.
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

/// Fills up to 60 % of the limit from the beginning of the text and the remaining 40 % from the
/// end, using whole lines where possible.
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
            "[Read on with file_read `{name}` from line {next}, or search all of it with \
             file_search and `under` `{name}`.]"
        ),
        None => "[The omitted text was not stored; request less at once.]".to_owned(),
    };
    let (gap, end) = (break_after(first), break_after(last));
    format!("{first}{gap}[… {n_lines} lines, {n_bytes} bytes omitted …]\n{last}{end}{how}")
}

fn whole_lines_at_start(text: &str, limit: usize) -> &str {
    let cut = head(text, limit);
    match cut.rfind('\n') {
        Some(at) if limit / 2 < at => &cut[..=at],
        Some(_) | None => cut,
    }
}

fn whole_lines_at_end(text: &str, limit: usize) -> &str {
    let cut = &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..];
    match cut.find('\n') {
        Some(at) if at < limit / 2 => &cut[at + 1..],
        Some(_) | None => cut,
    }
}

pub(crate) fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

const MAX_PATCHES: usize = 20;

const MAX_PATCH_BYTES: usize = 32 << 10;
const MAX_PATCHES_BYTES: usize = 128 << 10;

pub(super) fn patches(changed: &[ChangedFile], words: &ExtraWords) -> Vec<FilePatch> {
    let mut left = MAX_PATCHES_BYTES;
    let mut patches = Vec::new();
    for file in changed.iter().take(MAX_PATCHES) {
        let patch = patch(file, words, left.min(MAX_PATCH_BYTES));
        left -= patch.diff.len().min(left);
        patches.push(patch);
    }
    patches
}

fn patch(file: &ChangedFile, words: &ExtraWords, limit: usize) -> FilePatch {
    let path = words.redact(file.path.as_str()).into_owned();
    let (Ok(before), Ok(after)) = (text(&file.before), text(&file.after)) else {
        let diff = "\\ This file is binary or too large to show.\n".to_owned();
        return FilePatch { path, diff, added: 0, removed: 0 };
    };
    if before == after {
        let bits = |image: &Image| image.mode().unwrap_or_default() & 0o7777;
        let diff =
            format!("\\ Permissions: {:o} became {:o}\n", bits(&file.before), bits(&file.after));
        return FilePatch { path, diff, added: 0, removed: 0 };
    }
    let whole = format_unified_diff(file.path.as_str(), before.as_deref(), after.as_deref());
    let whole = words.redact(&whole);
    // The first two lines are the diff header.
    let lines = |sign: char| whole.lines().skip(2).filter(move |line| line.starts_with(sign));
    let count = |sign: char| u32::try_from(lines(sign).count()).unwrap_or(u32::MAX);
    let (added, removed) = (count('+'), count('-'));
    FilePatch { path, diff: cut(&whole, limit), added, removed }
}

/// Returns the text of a file, or `None` if the file does not exist. Fails if the content cannot be
/// displayed.
fn text(image: &Image) -> Result<Option<String>, ()> {
    match image {
        Image::Absent => Ok(None),
        Image::File { bytes, .. } if !is_binary(bytes) => {
            Ok(Some(String::from_utf8_lossy(bytes).into_owned()))
        }
        Image::File { .. } | Image::TooLarge => Err(()),
    }
}

fn cut(diff: &str, limit: usize) -> String {
    if diff.len() <= limit {
        return diff.to_owned();
    }
    let end = diff[..diff.floor_char_boundary(limit)].rfind('\n').map_or(0, |at| at + 1);
    format!("{}\\ {} more lines\n", &diff[..end], diff[end..].lines().count())
}

#[cfg(test)]
mod tests {
    use nacre_base::fs::RelPath;

    use super::*;

    fn bytes(text: &str) -> Image {
        Image::File { bytes: text.as_bytes().into(), mode: Some(0o644) }
    }

    fn make_change(path: &str, before: Image, after: Image) -> ChangedFile {
        ChangedFile { path: RelPath::new(path).unwrap(), before, after }
    }

    #[test]
    fn each_file_has_a_patch_of_its_own() {
        let files = [
            make_change("a.rs", bytes("one\ntwo\n"), bytes("one\n2\n")),
            make_change("new.rs", Image::Absent, bytes("x\n")),
            make_change("old.rs", bytes("y\n"), Image::Absent),
            make_change("pic.png", bytes("\0\x01"), bytes("\0\x02")),
            make_change("big", Image::TooLarge, bytes("")),
        ];
        let made = patches(&files, &ExtraWords::default());
        let counts: Vec<_> =
            made.iter().map(|patch| (patch.path.as_str(), patch.added, patch.removed)).collect();
        let expected =
            [("a.rs", 1, 1), ("new.rs", 1, 0), ("old.rs", 0, 1), ("pic.png", 0, 0), ("big", 0, 0)];
        assert_eq!(counts, expected);
        insta::assert_snapshot!(made[0].diff, @r"
        --- a.rs
        +++ a.rs
        @@ -1,2 +1,2 @@
         one
        -two
        +2
        ");
    }

    #[test]
    fn patches_are_bounded_and_hold_no_secrets() {
        let long: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        let many: Vec<ChangedFile> =
            (0..50).map(|n| make_change(&format!("f{n}"), Image::Absent, bytes(&long))).collect();
        let made = patches(&many, &ExtraWords::default());
        assert_eq!(made.len(), MAX_PATCHES);
        assert_eq!(made[0].added, 20_000, "the text is counted before it is truncated");
        assert!(made[0].diff.ends_with("more lines\n"), "{}", made[0].diff.len());
        let n_bytes: usize = made.iter().map(|patch| patch.diff.len()).sum();
        assert!(n_bytes < MAX_PATCHES_BYTES + MAX_PATCHES * 64, "{n_bytes}");
        let secret = format!("KEY={}{}\nFalcon\n", "ghp_", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
        let words = ExtraWords::new(&["Falcon".to_owned()]);
        let made = patches(&[make_change("Falcon.env", Image::Absent, bytes(&secret))], &words);
        let shown = format!("{made:?}");
        assert!(!shown.contains("aB3dE5") && !shown.contains("Falcon"), "{shown}");
    }
}
