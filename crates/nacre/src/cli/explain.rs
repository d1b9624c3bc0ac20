//! `nacre explain`

use std::path::{Component, Path, PathBuf};

use clap::Args;
use nacre_map::artifact::RelativePath;
use nacre_map::indexer::{Keeping, Trust, Verdict, explain};
use serde::Serialize;

use super::exit::Exit;
use super::map::Map;
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Tell why a file is in the map of the code, or is not
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The file, seen from the current folder
    #[arg(value_name = "PATH")]
    path: String,
}

/// How the map is looked at for an explanation.
const LOOK: (Trust, Keeping) = (Trust::Stamps, Keeping::Kept);

#[derive(Serialize)]
struct ExplainOutput {
    path: String,
    is_mapped: bool,
    #[serde(flatten)]
    verdict: Verdict,
}

pub(crate) fn cmd_explain(ui: &mut Ui, host: &Host, args: &ExplainArgs) -> Result<Exit, OpError> {
    let ExplainArgs { path } = args;
    let asked = Path::new(path);
    let (map, full) = match Map::open_with(host, None, LOOK, "explain") {
        Ok(map) if below(&map, &plain(&host.environment.folder, asked)).is_some() => {
            (map, plain(&host.environment.folder, asked))
        }
        _ => elsewhere(host, asked)?,
    };
    let Some(path) = below(&map, &full) else {
        return Err(OpError::usage(format!("`{path}` is no file of a project")));
    };
    map.warn_of_postponed(ui);
    let verdict = explain(&map.current, &map.options, &path);
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

/// The path of a file that lies in another project, and the map of that.
fn elsewhere(host: &Host, asked: &Path) -> Result<(Map, PathBuf), OpError> {
    let full = host.environment.folder.join(asked);
    let folder = full.parent().and_then(|folder| folder.canonicalize().ok());
    let (Some(folder), Some(name)) = (folder, full.file_name()) else {
        return Err(OpError::usage(format!("`{}` is no file of a project", asked.display())));
    };
    let map = Map::open_with(host, Some(&folder.to_string_lossy()), LOOK, "explain")?;
    Ok((map, folder.join(name)))
}

/// The path seen from the project's root.
fn below(map: &Map, full: &Path) -> Option<RelativePath> {
    RelativePath::new(full.strip_prefix(&map.current.project.root).ok()?.to_str()?)
}

/// The path without `.` and `..`. No link is followed: the question may be about it.
fn plain(folder: &Path, path: &Path) -> PathBuf {
    let mut full = folder.to_owned();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                full.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => full.push(part),
        }
    }
    full
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
        Verdict::RulesUnread { folder } => {
            format!("not mapped: the `.gitignore` of {} is beyond what is read", named(folder))
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
