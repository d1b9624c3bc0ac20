//! `nacre init`: creates the store of a repository.

use nacre_ops::project as ops;
use nacre_types::InitReport;

use super::prelude::*;
use super::render::memories_text;
use super::sessions::{
    ReaderArgs, agents_text, describe_disconnected, sessions_text, settle_reader,
};

/// Prepare this repository for memory
///
/// Creates `.nacre/` at the root of the current Git repository (or in the current directory) with a
/// `.gitignore` that shares decisions, learnings and their evidence, and registers the project.
/// With the setting share.summaries, session summaries are shared too; run the command again after
/// changing it. Then briefly looks for the repository's sessions and prints how many it found;
/// `nacre sync` reads them.
///
/// If an agent that can read sessions is installed, such as Claude Code, the command asks once
/// whether to let it read yours. Without a terminal, the command does not ask, and no agent reads
/// sessions.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Name of the project [default: the directory's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    reader: ReaderArgs,
}

pub(crate) fn cmd_init(ui: &mut Ui, host: &Host, args: InitArgs) -> CommandResult {
    let report = ops::init(host, args.name.as_deref(), &ui.events())?;
    settle_reader(ui, host, args.reader, Some(report.new_sessions))?;
    ui.report(&report, print)
}

pub(crate) fn print(ui: &mut Ui, report: &InitReport) {
    let place = if report.is_git {
        "git repository"
    } else {
        "directory (no Git: history comes only from runs)"
    };
    ui.status(format!("Found {place} {}", ShownLine(&report.root)));
    match report.created.as_slice() {
        [] => ui.status("The store already exists; nothing changed."),
        created => ui.status(format!("Created {}", created.join(", "))),
    }
    let name = report.project.as_deref().unwrap_or("not registered");
    ui.status(format!("Project `{}`, {}.", ShownLine(name), memories_text(report.memories)));
    ui.status(if report.shares_summaries {
        "Git shares decisions, learnings and session summaries."
    } else {
        "Git shares decisions and learnings; session summaries stay local (share.summaries)."
    });
    if report.foreign > 0 {
        let came = if report.foreign == 1 { "came" } else { "come" };
        let memories = memories_text(report.foreign);
        ui.status(format!(
            "{memories} {came} from elsewhere; briefs use them once you trust them."
        ));
    }
    let off = describe_disconnected(&report.switched_off);
    if report.has_agents || off.is_none() {
        ui.status(sessions_found(report));
    }
    if let Some(off) = off {
        ui.status(off);
    }
    ui.status(format!("\nNext: {}", ui.paint(Role::Title, &report.next)));
}

fn sessions_found(report: &InitReport) -> String {
    let InitReport { sessions, new_sessions, is_partial, has_agents, .. } = report;
    let n_found: u64 = sessions.iter().map(|agent| agent.sessions).sum();
    if n_found == 0 {
        return match (has_agents, is_partial) {
            (true, true) => "Found no recent sessions of this repository.",
            (true, false) => "Found no sessions of this repository.",
            (false, _) => "Found no sessions of any coding agent.",
        }
        .to_owned();
    }
    let least = if *is_partial { "at least " } else { "" };
    let (found, agents) = (sessions_text(n_found), agents_text(sessions));
    let new = match *new_sessions {
        0 => ", all already read".to_owned(),
        n if n < n_found => format!(", {n} of them new"),
        _ => String::new(),
    };
    format!("Found {least}{found} of this repository ({agents}){new}.")
}
