//! The command line has no logic of its own: a verb parses, calls an operation and renders its report.

use std::collections::BTreeSet;

use super::paths::named_paths;
use super::{check_known, read};
use crate::home::{repository, walk};

/// The crates of ours that the command line may name.
const MAY_NAME: &[&str] = &["nacre_api", "nacre_ops", "nacre_server"];

/// Files that may name other crates. There is none, and this list only gets shorter.
const NAMES_OTHER_CRATES: &[&str] = &[];

/// A verb that is longer does something that belongs into its operation.
const MAX_VERB_LINES: usize = 150;

/// What all verbs share.
const NOT_VERBS: &[&str] =
    &["layout.rs", "mod.rs", "progress.rs", "screen.rs", "ui.rs", "usage.rs"];

/// Verbs that may be longer. There is none, and this list only gets shorter.
const LONG_VERBS: &[&str] = &[];

#[test]
fn the_command_line_names_operations_and_wire_types_only() {
    let is_ours = |name: &String| name.starts_with("nacre_") && !MAY_NAME.contains(&name.as_str());
    let names_others =
        |text: &str| named_paths(text).iter().any(|path| path.segments.iter().any(is_ours));
    let found = files_where(names_others);
    check_known(&found, NAMES_OTHER_CRATES, "Call an operation instead", "NAMES_OTHER_CRATES");
}

#[test]
fn no_verb_is_long() {
    let mut found = files_where(|text| text.lines().count() > MAX_VERB_LINES);
    found.retain(|name| !NOT_VERBS.contains(&name.as_str()));
    check_known(&found, LONG_VERBS, "Move logic into the operation", "LONG_VERBS");
}

/// The files of the command line that something is true of, by their path.
fn files_where(is_so: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let folder = repository().join("crates/nacre/src/cli");
    let mut files = Vec::new();
    walk(&folder, &mut files);
    assert!(files.len() > 50, "the command line was not found");
    let found = files.iter().filter(|file| is_so(&read(file)));
    found.map(|file| file.strip_prefix(&folder).unwrap().display().to_string()).collect()
}
