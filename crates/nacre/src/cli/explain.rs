//! `nacre explain`

use std::path::Path;

use clap::Args;
use nacre_map::artifact::RelativePath;
use nacre_map::indexer::{Keeping, Trust, Verdict, explain};
use serde::Serialize;

use super::error::{CommandError, Exit};
use super::map::Map;
use super::runtime::Runtime;
use super::ui::Ui;

/// Tell why a file is in the map of the code, or is not
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The file, seen from the current folder
    #[arg(value_name = "PATH")]
    path: String,
}

#[derive(Serialize)]
struct ExplainOutput {
    path: String,
    is_mapped: bool,
    #[serde(flatten)]
    verdict: Verdict,
}

pub(crate) fn cmd_explain(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &ExplainArgs,
) -> Result<Exit, CommandError> {
    let ExplainArgs { path } = args;
    let full = lexical(&runtime.environment.folder, Path::new(path));
    let folder = full.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(&full);
    let place = folder.to_string_lossy();
    let map = Map::open_with(runtime, Some(&place), (Trust::Stamps, Keeping::Kept), "explain")?;
    let below = full.strip_prefix(&map.current.project.root).ok().and_then(Path::to_str);
    let Some(path) = below.and_then(RelativePath::new) else {
        return Err(CommandError::usage(format!("`{path}` is no file of a project")));
    };
    let verdict = explain(&map.current, &map.options.sensitive, &path);
    let is_mapped = matches!(verdict, Verdict::Mapped { .. });
    if ui.is_json() {
        let path = path.to_string();
        ui.json(&map.envelope("explain", None, Some(ExplainOutput { path, is_mapped, verdict })))?;
    } else {
        let path = nacre_core::base::ShownLine(path.as_str()).to_string();
        ui.line(format!("{path}: {}", sentence(&verdict)))?;
    }
    Ok(Exit::Done)
}

/// The path without `.` and `..`. The last name is not followed if it is a link: the question is about it.
fn lexical(folder: &Path, path: &Path) -> std::path::PathBuf {
    let mut full = folder.to_owned();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                full.pop();
            }
            part => full.push(part),
        }
    }
    match (full.parent().and_then(|parent| parent.canonicalize().ok()), full.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => full,
    }
}

fn sentence(verdict: &Verdict) -> String {
    let named = |folder: &str| {
        if folder.is_empty() { "the root".to_owned() } else { format!("`{folder}`") }
    };
    match verdict {
        Verdict::Mapped { is_unread: true, .. } => {
            "mapped by name and size; it is too large, or may not be read".to_owned()
        }
        Verdict::Mapped { is_tracked: true, .. } => "mapped; git tracks it".to_owned(),
        Verdict::Mapped { is_tracked: false, .. } => "mapped; git does not track it".to_owned(),
        Verdict::Denied { rule } => format!("not mapped: `{rule}` keeps secrets out"),
        Verdict::Ignored { rule, folder } => {
            format!("not mapped: the rule `{rule}` of {} leaves it out", named(folder))
        }
        Verdict::Noise { folder } => {
            format!("not mapped: programs fill `{folder}`, and git tracks nothing in it")
        }
        Verdict::Nested { folder } => format!("not mapped: `{folder}` is a repository of its own"),
        Verdict::Link { path } => {
            format!("not mapped: `{path}` is a link, and links are not followed")
        }
        Verdict::Special => "not mapped: it is no plain file".to_owned(),
        Verdict::Folder => "a folder; what is mapped are files".to_owned(),
        Verdict::Missing => "not mapped: there is nothing of that name".to_owned(),
        Verdict::Unseen => "not mapped: it lies too deep, or came after the last look".to_owned(),
    }
}
