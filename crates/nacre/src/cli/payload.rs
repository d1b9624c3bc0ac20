//! A slice as it is printed, so that a budget can be counted on the very bytes.

use std::path::Path;

use clap::ValueEnum;
use nacre_core::base::Shown;
use nacre_map::indexer::{Current, Keeping};
use nacre_map::slices::{Detail, tokens};
use serde::Serialize;

use super::map::Map;
use super::ui::{Ui, ascii_json};
use nacre_ops::OpError;

/// How much an answer tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DetailName {
    #[default]
    Compact,
    Normal,
    Verbose,
}

impl From<DetailName> for Detail {
    fn from(name: DetailName) -> Self {
        match name {
            DetailName::Compact => Self::Compact,
            DetailName::Normal => Self::Normal,
            DetailName::Verbose => Self::Verbose,
        }
    }
}

/// What is printed of a slice: its text under a line that says of what it is, or one object in one line.
pub(crate) fn payload<S: Serialize>(
    map: &Map,
    command: &'static str,
    is_json: bool,
    slice: &S,
    text: impl FnOnce(&S) -> String,
) -> String {
    if is_json {
        return json_line(&map.envelope(command, None, Some(slice))) + "\n";
    }
    let Current { project, status, stats, .. } = &map.current;
    let text = format!(
        "{command} {} revision {} cache {} files {}{}\n{}",
        project.root.display(),
        map.revision(),
        status.as_str(),
        stats.file_count,
        postponed(stats.postponed_files),
        text(slice)
    );
    Shown(&text).to_string()
}

/// What a line says of files that there was no time for.
fn postponed(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" not read yet {count}") }
}

/// One object in one line.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    ascii_json(&serde_json::to_string(value).unwrap_or_default())
}

/// What a payload costs.
pub(crate) fn cost(payload: &str) -> usize {
    tokens(payload)
}

pub(crate) fn print(ui: &mut Ui, payload: &str) -> Result<(), OpError> {
    ui.line(payload.trim_end_matches('\n'))
}

/// Looks at files by their grammars that were only glanced at; tells whether there were any.
pub(crate) fn deepened(map: &mut Map, paths: &[&str]) -> bool {
    let is_kept = map.options.keeping == Keeping::Kept;
    is_kept && 0 < map.current.deepen(&map.cache, paths, &map.options)
}

/// Keeps an answer for who asks the same again; nobody needs it, so a failure is none.
pub(crate) fn keep(map: &Map, key: u64, answer: &impl Serialize) {
    let bytes = serde_json::to_vec(answer).ok().filter(|_| map.keeping() == Keeping::Kept);
    if let Some(bytes) = bytes {
        let _ = map.cache.keep_slice(&map.current.project, key, &bytes);
    }
}

/// A path of the project, from what a person typed where they stand.
pub(crate) fn relative(root: &Path, folder: &Path, typed: &str) -> String {
    let full = folder.join(typed);
    let inside = full.strip_prefix(root).ok().and_then(Path::to_str);
    inside.unwrap_or(typed).trim_start_matches("./").to_owned()
}
