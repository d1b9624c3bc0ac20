//! Files of our own sources that are written from types, for the tests that hold them to be
//! current.

use std::path::Path;

/// Set to write what is stored instead of checking it.
const WRITE: &str = "NACRE_WRITE_DOCS";

/// Holds that a file of the repository has this text.
#[expect(
    clippy::disallowed_methods,
    reason = "`make docs` asks by a variable for these files of our own sources, and writes all of them again"
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
