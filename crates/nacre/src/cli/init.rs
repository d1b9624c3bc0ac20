//! `nacre init`: a repository gets its store.

use clap::Args;
use nacre_api::wire::{InitReport, InitRequest};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, project as ops};

use super::exit::Exit;
use super::memory::counted;
use super::reader::{ReaderArgs, settle_reader};
use super::ui::{Role, Ui};

/// Prepare this repository for memory
///
/// Makes `.nacre/` at the root of the git repository around the current folder (or in the folder
/// itself), with a `.gitignore` that shares decisions, learnings and their evidence, and registers the
/// project. Summaries of sessions are shared with the setting share.summaries. Running it again
/// changes nothing but that.
///
/// Where an agent is installed that can answer one question, such as Claude Code, it asks once whether
/// that agent may read your sessions; without a terminal nothing is asked and no agent reads.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Name of the project [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    reader: ReaderArgs,
}

pub(crate) fn cmd_init(ui: &mut Ui, host: &Host, args: &InitArgs) -> Result<Exit, OpError> {
    let InitArgs { name, reader } = args;
    let report = ops::init(host, &InitRequest { name: name.clone() }, &ui.events())?;
    settle_reader(ui, host, reader)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &InitReport) -> Result<(), OpError> {
    let place = if report.is_git {
        "git repository"
    } else {
        "folder (no git: history is kept by runs only)"
    };
    ui.status(format!("Found {place} {}", ShownLine(&report.root)))?;
    match report.created.as_slice() {
        [] => ui.status("The store was there already; nothing changed.")?,
        created => ui.status(format!("Made {}", created.join(", ")))?,
    }
    let name = report.project.as_deref().unwrap_or("not registered");
    ui.status(format!("Project `{}`, {}.", ShownLine(name), counted(report.memories)))?;
    let shared = match report.shares_summaries {
        true => "Git shares decisions, learnings and summaries of sessions.",
        false => {
            "Git shares decisions and learnings; summaries of sessions are local (share.summaries)."
        }
    };
    ui.status(shared)?;
    let next = ui.paint(Role::Title, &report.next);
    ui.status(format!("\nNext: {next}"))
}
