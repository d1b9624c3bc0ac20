//! Checks that the command line contains no logic: a command only parses arguments, calls an
//! operation and renders its report.

use std::collections::BTreeSet;

use super::paths::list_paths;
use super::{check_known, read};
use crate::home::{repository, walk};

/// The workspace crates that the command line may import.
const MAY_NAME: &[&str] = &["nacre_ops", "nacre_server", "nacre_types"];

/// Files that may import other crates. The list must stay empty.
const NAMES_OTHER_CRATES: &[&str] = &[];

/// Maximum length of a command file. Longer files contain logic that belongs in the operation.
const MAX_COMMAND_LINES: usize = 450;

/// Files shared by all commands.
const SHARED_FILES: &[&str] = &["mod.rs", "ui.rs"];

#[test]
fn the_command_line_names_operations_and_wire_types_only() {
    let is_ours = |name: &String| name.starts_with("nacre_") && !MAY_NAME.contains(&name.as_str());
    let names_others =
        |text: &str| list_paths(text).iter().any(|path| path.segments.iter().any(is_ours));
    let found = files_where(names_others);
    check_known(&found, NAMES_OTHER_CRATES, "Call an operation instead", "NAMES_OTHER_CRATES");
}

#[test]
fn no_command_is_long() {
    let mut found = files_where(|text| text.lines().count() > MAX_COMMAND_LINES);
    found.retain(|name| !SHARED_FILES.contains(&name.as_str()));
    assert!(found.is_empty(), "Move logic into the operation: {found:?}");
}

/// Returns the paths of the command line's files that match a condition.
fn files_where(is_so: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let folder = repository().join("crates/nacre/src/cli");
    let mut files = Vec::new();
    walk(&folder, &mut files);
    assert!(files.len() > 30, "the command line was not found");
    let found = files.iter().filter(|file| is_so(&read(file)));
    found.map(|file| file.strip_prefix(&folder).unwrap().display().to_string()).collect()
}
