//! Test helpers for generated files that are checked in. Tests check that these files are up to
//! date.

use std::path::Path;

/// If set, the files are written instead of checked.
const WRITE: &str = "NACRE_WRITE_DOCS";

/// Asserts that a repository file has the given content.
#[expect(
    clippy::disallowed_methods,
    reason = "`make docs` sets a variable so that the tests write these checked-in files again"
)]
pub(crate) fn check(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(path, text).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(stored == text, "{file} is out of date; run `make docs`");
}
