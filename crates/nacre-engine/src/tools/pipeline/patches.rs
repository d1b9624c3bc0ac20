//! What a call did to files, as diffs for the people who watch it; the model is not shown them.

use nacre_core::base::redact::ExtraWords;
use nacre_core::base::unified_diff;

use super::super::workspace::is_binary;
use super::undo::{ChangedFile, Image};
use crate::record::FilePatch;

/// Of a program that changes more files, the first ones are shown.
const MAX_FILES: usize = 20;

/// Longer diffs are cut, in whole lines: of one file, and of all files of a call.
const MAX_FILE_BYTES: usize = 32 << 10;
const MAX_TOTAL_BYTES: usize = 128 << 10;

/// One patch for each file that is different after a call, without secrets.
pub(super) fn patches(changed: &[ChangedFile], words: &ExtraWords) -> Vec<FilePatch> {
    let mut left = MAX_TOTAL_BYTES;
    let mut patches = Vec::new();
    for file in changed.iter().take(MAX_FILES) {
        let patch = patch(file, words, left.min(MAX_FILE_BYTES));
        left -= patch.diff.len().min(left);
        patches.push(patch);
    }
    patches
}

fn patch(file: &ChangedFile, words: &ExtraWords, limit: usize) -> FilePatch {
    let path = words.redact(file.path.as_str()).into_owned();
    let (Ok(before), Ok(after)) = (text(&file.before), text(&file.after)) else {
        let diff = "\\ This file is binary or too large to be shown.\n".to_owned();
        return FilePatch { path, diff, added: 0, removed: 0 };
    };
    if before == after {
        let bits = |image: &Image| image.mode().unwrap_or_default() & 0o7777;
        let diff =
            format!("\\ Permissions: {:o} became {:o}\n", bits(&file.before), bits(&file.after));
        return FilePatch { path, diff, added: 0, removed: 0 };
    }
    let whole = unified_diff(file.path.as_str(), before.as_deref(), after.as_deref());
    let whole = words.redact(&whole);
    // The first two lines name the file.
    let count = |sign: char| whole.lines().skip(2).filter(|line| line.starts_with(sign)).count();
    let (added, removed) = (number(count('+')), number(count('-')));
    FilePatch { path, diff: cut(&whole, limit), added, removed }
}

/// The text of a file; `None` where there is none, and an error where it cannot be shown.
fn text(image: &Image) -> Result<Option<String>, NotShown> {
    match image {
        Image::Absent => Ok(None),
        Image::File { bytes, .. } if is_binary(bytes) => Err(NotShown),
        Image::File { bytes, .. } => Ok(Some(String::from_utf8_lossy(bytes).into_owned())),
        Image::TooLarge => Err(NotShown),
    }
}

struct NotShown;

fn cut(diff: &str, limit: usize) -> String {
    if diff.len() <= limit {
        return diff.to_owned();
    }
    let end = diff[..diff.floor_char_boundary(limit)].rfind('\n').map_or(0, |at| at + 1);
    format!("{}\\ {} more lines\n", &diff[..end], diff[end..].lines().count())
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use nacre_core::safefs::RelPath;

    use super::*;

    fn bytes(text: &str) -> Image {
        Image::File { bytes: text.as_bytes().into(), mode: Some(0o644) }
    }

    fn changed(path: &str, before: Image, after: Image) -> ChangedFile {
        ChangedFile { path: RelPath::new(path).unwrap(), before, after }
    }

    #[test]
    fn each_file_has_a_patch_of_its_own() {
        let files = [
            changed("a.rs", bytes("one\ntwo\n"), bytes("one\n2\n")),
            changed("new.rs", Image::Absent, bytes("x\n")),
            changed("old.rs", bytes("y\n"), Image::Absent),
            changed("pic.png", bytes("\0\x01"), bytes("\0\x02")),
            changed("big", Image::TooLarge, bytes("")),
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
            (0..50).map(|n| changed(&format!("f{n}"), Image::Absent, bytes(&long))).collect();
        let made = patches(&many, &ExtraWords::default());
        assert_eq!(made.len(), MAX_FILES);
        assert_eq!(made[0].added, 20_000, "counted before it is cut");
        assert!(made[0].diff.ends_with("more lines\n"), "{}", made[0].diff.len());
        let n_bytes: usize = made.iter().map(|patch| patch.diff.len()).sum();
        assert!(n_bytes < MAX_TOTAL_BYTES + MAX_FILES * 64, "{n_bytes}");
        let secret = format!("KEY={}{}\nFalcon\n", "ghp_", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
        let words = ExtraWords::new(&["Falcon".to_owned()]);
        let made = patches(&[changed("Falcon.env", Image::Absent, bytes(&secret))], &words);
        let shown = format!("{made:?}");
        assert!(!shown.contains("aB3dE5") && !shown.contains("Falcon"), "{shown}");
    }
}
