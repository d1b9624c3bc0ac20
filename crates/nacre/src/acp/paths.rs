//! Paths of a workspace as the protocol wants them: absolute, and addresses that name files.

use std::path::{Component, Path, PathBuf};

/// A path below `root` as an absolute one; `None` for one that leaves it.
pub(super) fn inside(root: &Path, path: &str) -> Option<String> {
    let path = Path::new(path);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    (path.components().all(is_plain) && path.components().next().is_some())
        .then(|| root.join(path).display().to_string())
}

/// What a `file:` address names: the file, and the part behind `#`.
pub(super) fn file_of(uri: &str) -> Option<(PathBuf, Option<&str>)> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let (rest, fragment) = match rest.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (rest, None),
    };
    let path = rest.split('?').next().unwrap_or_default();
    let decoded = percent_decoded(path)?;
    let is_drive =
        decoded.len() > 3 && decoded.as_bytes()[0] == b'/' && decoded.as_bytes()[2] == b':';
    let path = if is_drive { &decoded[1..] } else { decoded.as_str() };
    let path = PathBuf::from(path);
    (path.is_absolute() || is_drive).then_some((path, fragment))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_root_become_absolute() {
        let root = Path::new("/w");
        for (path, expected) in [
            ("a/b.rs", Some("/w/a/b.rs")),
            ("../b", None),
            ("a/../../b", None),
            ("/etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(inside(root, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn addresses_of_files_are_read() {
        for (uri, expected) in [
            ("file:///w/a%20b.rs", Some(("/w/a b.rs", None))),
            ("file://localhost/w/a#L3:5", Some(("/w/a", Some("L3:5")))),
            ("file:///w/a?symbol=x", Some(("/w/a", None))),
            ("file:///w/%zz", None),
            ("file:///w/%f", None),
            ("file:///w/%ff", None),
            ("file://w/a", None),
            ("https://example.com/a", None),
            ("zed:///agent/x", None),
        ] {
            let found = file_of(uri);
            let found = found.as_ref().map(|(path, part)| (path.to_str().unwrap(), *part));
            assert_eq!(found, expected, "{uri}");
        }
    }
}
