//! The generated pages of `docs/` say what the program says.

use std::fs;

use crate::home::{TestHome, repository};

#[test]
fn the_reference_is_current() {
    let home = TestHome::empty();
    for page in ["cli", "config"] {
        let file = repository().join(format!("docs/{page}.md"));
        let stored = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            home.ok(&["reference", page]) == stored,
            "docs/{page}.md is out of date; run `make docs`"
        );
    }
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(readme.lines().count() <= 150);
}
