//! The command line has no logic of its own: a verb parses, calls an operation and renders its report.

use std::collections::BTreeSet;

use super::paths::named_paths;
use super::{check_known, read};
use crate::home::{repository, walk};

/// The crates of ours that the command line may name.
const MAY_NAME: &[&str] = &["nacre_api", "nacre_ops"];

/// Verbs that are not operations yet and name other crates. This list only gets shorter.
const NAMES_OTHER_CRATES: &[&str] = &[
    "ask.rs",
    "ask/model.rs",
    "ask/output.rs",
    "bench/baseline.rs",
    "bench/map.rs",
    "bench/questions.rs",
    "brief.rs",
    "changes.rs",
    "connect.rs",
    "context.rs",
    "doctor.rs",
    "eval/extraction.rs",
    "eval/retrieval.rs",
    "events/mod.rs",
    "events/models.rs",
    "events/show.rs",
    "events/tasks.rs",
    "events/tools.rs",
    "explain.rs",
    "explore.rs",
    "extract.rs",
    "feedback.rs",
    "index/rebuild.rs",
    "index/status.rs",
    "maintain.rs",
    "map.rs",
    "memory/add.rs",
    "memory/edit.rs",
    "memory/mod.rs",
    "memory/output.rs",
    "memory/related.rs",
    "memory/reset.rs",
    "memory/search.rs",
    "payload.rs",
    "queue.rs",
    "refresh.rs",
    "report.rs",
    "retry.rs",
    "run/agent.rs",
    "run/list.rs",
    "run/show.rs",
    "skip.rs",
    "strategy.rs",
    "summarize.rs",
    "survey.rs",
    "sync.rs",
    "sync/lead.rs",
    "sync/output.rs",
    "sync/preview.rs",
    "sync/rehearsal.rs",
    "sync/work.rs",
    "trace/import.rs",
    "trace/list.rs",
    "trace/search.rs",
    "trace/show.rs",
    "traces.rs",
    "undo.rs",
    "watch.rs",
    "watch/turns.rs",
];

/// A verb that is longer does something that belongs into its operation.
const MAX_VERB_LINES: usize = 150;

/// What all verbs share.
const NOT_VERBS: &[&str] = &["mod.rs", "screen.rs", "ui.rs"];

/// Verbs that are not operations yet and are longer. This list only gets shorter.
const LONG_VERBS: &[&str] = &[
    "ask.rs",
    "ask/model.rs",
    "ask/output.rs",
    "bench/map.rs",
    "context.rs",
    "doctor.rs",
    "explore.rs",
    "maintain.rs",
    "map.rs",
    "memory/edit.rs",
    "memory/mod.rs",
    "memory/output.rs",
    "memory/search.rs",
    "run/agent.rs",
    "sync.rs",
    "sync/lead.rs",
    "sync/preview.rs",
    "sync/work.rs",
    "watch.rs",
    "watch/question.rs",
];

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
