//! `nacre init`: creates the store of a repository.

use nacre_ops::host::short;
use nacre_ops::{model as models, project as ops};
use nacre_types::{FolderSessions, InitReport};

use super::prelude::*;
use super::render::{count, memories_text, print_undo};
use super::sessions::{
    READ_BY_RULES, ReaderArgs, agents_text, describe_disconnected, sessions_text, settle_reader,
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
///
/// With `--all`, sets up every directory that has sessions, as one change: lists them and asks
/// once, or not at all with `--yes`. `nacre sync` then asks about the agent.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Set up every existing directory that has sessions
    #[arg(long, conflicts_with_all = ["name", "no"])]
    all: bool,

    /// Name of the project [default: the directory's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    reader: ReaderArgs,
}

pub(crate) fn cmd_init(ui: &mut Ui, host: &Host, args: InitArgs) -> CommandResult {
    if args.all {
        return init_all(ui, host, args.reader.yes);
    }
    let report = ops::init(host, args.name.as_deref(), &ui.events())?;
    settle_reader(ui, host, args.reader, Some(report.new_sessions))?;
    ui.report(&report, |ui, report| print(ui, host, report))
}

fn init_all(ui: &mut Ui, host: &Host, is_confirmed: bool) -> CommandResult {
    let mut report = ops::list_not_set_up(host)?;
    let directories = count(report.folders.len(), "directory");
    if !report.folders.is_empty() && !ui.is_json() {
        ui.status(format!("{directories} with sessions:"));
        ui.table(report.folders.iter().map(|FolderSessions { path, sessions, .. }| {
            [cell(Role::Title, format!("  {}", short(host, path.as_ref()))), faint(sessions)]
        }));
        if !is_confirmed && !ui.can_ask() {
            let error = OpError::usage("Nothing was changed");
            return Err(error.hint("To set them up: nacre init --all --yes"));
        }
    }
    let question = format!("Create a store in each of {directories}?");
    if is_confirmed || (!ui.is_json() && !report.folders.is_empty() && ui.confirm(&question)?) {
        report = ops::init_all(host, report, &ui.events())?;
    }
    ui.report(&report, |ui, report| match (report.folders.len(), report.projects.len()) {
        (0, _) => ui.status("All directories with sessions are set up."),
        (_, 0) => ui.status("Nothing was changed."),
        (_, n_projects) => {
            ui.status(format!("Set up {}.", count(n_projects, "project")));
            print_undo(ui, report.change.as_deref());
            ui.status(format!("Next: {}", ui.paint(Role::Title, "nacre sync")));
        }
    })
}

pub(crate) fn print(ui: &mut Ui, host: &Host, report: &InitReport) {
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
        let memories = memories_text(report.foreign);
        ui.status(format!("{memories} from elsewhere; briefs use them once you trust them."));
    }
    let off = describe_disconnected(&report.switched_off);
    if report.has_agents || off.is_none() {
        ui.status(sessions_found(report));
    }
    // The question about the reader says this, too.
    let was_asked = models::reader_question(host).is_some();
    if report.new_sessions > 0 && !was_asked && models::reads_by_rules(host) {
        ui.status(format!("They are read by rules, on this computer. {READ_BY_RULES}"));
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
