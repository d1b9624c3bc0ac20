//! `nacre explain`

use clap::Args;
use nacre_api::wire::{ExplainReport, ExplainRequest, MapVerdict};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, map as ops};

use super::exit::Exit;
use super::ui::Ui;

/// Tell why a file is in the map of the code, or is not
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The file, seen from the current folder
    #[arg(value_name = "PATH")]
    path: String,
}

pub(crate) fn cmd_explain(ui: &mut Ui, host: &Host, args: &ExplainArgs) -> Result<Exit, OpError> {
    let ExplainArgs { path } = args;
    let report = ops::explain(host, &ExplainRequest { path: path.clone() }, &ui.events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ExplainReport) -> Result<(), OpError> {
    ui.line(format!("{}: {}", ShownLine(&report.path), sentence(&report.verdict)))
}

fn sentence(verdict: &MapVerdict) -> String {
    let named = |folder: &str| {
        if folder.is_empty() { "the root".to_owned() } else { format!("`{folder}`") }
    };
    match verdict {
        MapVerdict::Mapped { is_unread: true, .. } => {
            "mapped by name and size; it is too large, or may not be read".to_owned()
        }
        MapVerdict::Mapped { is_tracked: true, .. } => "mapped; git tracks it".to_owned(),
        MapVerdict::Mapped { is_tracked: false, .. } => "mapped; git does not track it".to_owned(),
        MapVerdict::Denied { rule } => format!("not mapped: `{rule}` keeps secrets out"),
        MapVerdict::Ignored { rule, folder } => {
            format!("not mapped: the rule `{rule}` of {} leaves it out", named(folder))
        }
        MapVerdict::Noise { folder } => {
            format!("not mapped: programs fill `{folder}`, and git tracks nothing in it")
        }
        MapVerdict::RulesUnread { folder } => {
            format!("not mapped: the `.gitignore` of {} is beyond what is read", named(folder))
        }
        MapVerdict::Nested { folder } => {
            format!("not mapped: `{folder}` is a repository of its own")
        }
        MapVerdict::Link { path } => {
            format!("not mapped: `{path}` is a link, and links are not followed")
        }
        MapVerdict::Special => "not mapped: it is not a plain file".to_owned(),
        MapVerdict::Folder => "a folder; what is mapped are files".to_owned(),
        MapVerdict::Missing => "not mapped: there is nothing of that name".to_owned(),
        MapVerdict::Unseen => {
            "not mapped: it lies too deep, or came after the last look".to_owned()
        }
    }
}
