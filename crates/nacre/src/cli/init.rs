//! `nacre init`: a repository gets its store.

use clap::Args;
use nacre_api::wire::{InitReport, InitRequest};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, project as ops};

use super::exit::Exit;
use super::intake::{agents_text, sessions_text, switched_off_text};
use super::memory::counted;
use super::reader::{ReaderArgs, settle_reader};
use super::ui::{Role, Ui};

/// Prepare this repository for memory
///
/// Makes `.nacre/` at the root of the git repository around the current folder (or in the folder
/// itself), with a `.gitignore` that shares decisions, learnings and their evidence, and registers the
/// project. Summaries of sessions are shared with the setting share.summaries. Running it again
/// changes nothing but that. It then looks for sessions of the repository, for a moment, and says
/// how many there are; `nacre sync` reads them.
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
    settle_reader(ui, host, reader, Some(report.new_sessions))?;
    ui.report(&report, print)
}

pub(crate) fn print(ui: &mut Ui, report: &InitReport) -> Result<(), OpError> {
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
    if report.foreign > 0 {
        let came = if report.foreign == 1 { "came" } else { "come" };
        let memories = counted(report.foreign);
        ui.status(format!(
            "{memories} {came} from elsewhere; briefs use them once you trust them."
        ))?;
    }
    let off = switched_off_text(&report.switched_off);
    if report.has_agents || off.is_none() {
        ui.status(sessions_found(report))?;
    }
    if let Some(off) = off {
        ui.status(off)?;
    }
    let next = ui.paint(Role::Title, &report.next);
    ui.status(format!("\nNext: {next}"))
}

/// The sessions of the repository that were found, or why there are none.
fn sessions_found(report: &InitReport) -> String {
    let InitReport { sessions, new_sessions, is_partial, has_agents, .. } = report;
    let n_found: u64 = sessions.iter().map(|agent| agent.sessions).sum();
    if n_found == 0 {
        return match (has_agents, is_partial) {
            (true, true) => "Found no session of this repository among the latest ones.",
            (true, false) => "Found no session of this repository.",
            (false, _) => "Found no sessions of any coding agent.",
        }
        .to_owned();
    }
    let least = if *is_partial { "at least " } else { "" };
    let (found, agents) = (sessions_text(n_found), agents_text(sessions));
    let new = match *new_sessions {
        0 => ", all read before".to_owned(),
        n if n < n_found => format!(", {n} of them new"),
        _ => String::new(),
    };
    format!("Found {least}{found} of this repository ({agents}){new}.")
}
