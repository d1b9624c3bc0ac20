//! Describes pending sessions, and asks whether an agent may read them.

use std::path::Path;

use nacre_ops::host::short;
use nacre_ops::model as ops;
use nacre_types::{
    AgentSessions, FolderSessions, LaterSessions, ModelReaderReport, WaitingSessions,
};

use super::prelude::*;
use super::render::{count, first_few};

/// Estimated thousands of tokens that an agent uses to read one session.
const KILOTOKENS_PER_SESSION: u64 = 12;

pub(crate) fn sessions_text(n: u64) -> String {
    count(n as usize, "session")
}

/// Lists each agent with its number of sessions, such as `Claude Code 20, Codex 4`.
pub(crate) fn agents_text(agents: &[AgentSessions]) -> String {
    let texts = agents.iter().map(|agent| format!("{} {}", agent.title, agent.sessions));
    texts.collect::<Vec<_>>().join(", ")
}

/// Lists the disconnected agents that have sessions on this machine. Returns `None` if there are
/// none.
pub(crate) fn describe_disconnected(agents: &[String]) -> Option<String> {
    let named = agents.join(", ");
    let text = format!(
        "Disconnected agents, whose sessions are not read: {named}. To connect them again: nacre \
         connect auto"
    );
    (!agents.is_empty()).then_some(text)
}

pub(crate) fn print_waiting(ui: &mut Ui, host: &Host, waiting: &WaitingSessions) {
    let WaitingSessions { ready, active, retried, not_set_up, without_folder } = waiting;
    if *ready > 0 {
        ui.status(format!("Queued for `nacre sync`: {}.", sessions_text(*ready)));
    }
    if let Some(LaterSessions { sessions, ready_in, example, .. }) = active {
        let (sessions, when) = (sessions_text(*sessions), duration_text(*ready_in));
        ui.status(format!(
            "Still active: {sessions}; the next sync after {when} extracts memories (now: nacre sync \
             --trace {example})."
        ));
    }
    if let Some(LaterSessions { sessions, ready_in, .. }) = retried {
        let (sessions, when) = (sessions_text(*sessions), duration_text(*ready_in));
        ui.status(format!("{sessions} failed, retrying in {when}; `nacre queue` shows why."));
    }
    if !not_set_up.is_empty() {
        ui.status(not_set_up_text(host, not_set_up));
    }
    for folder in not_set_up {
        let Some(project) = &folder.clone_of else { continue };
        let [path, project] =
            [&folder.path, project].map(|path| Shown(&short(host, path.as_ref())).one_line());
        ui.status(format!(
            "{path} is of the same repository as {project}. To read its sessions there: nacre \
             project add {project} --also {path}"
        ));
    }
    let n_sessions: u64 = without_folder.iter().map(|agent| agent.sessions).sum();
    if n_sessions > 0 {
        ui.status(format!(
            "{} without a directory ({}). To read one into this project: nacre sync --trace ID \
             (nacre trace --all).",
            sessions_text(n_sessions),
            agents_text(without_folder)
        ));
    }
}

fn not_set_up_text(host: &Host, folders: &[FolderSessions]) -> String {
    let n_sessions: u64 = folders.iter().map(|folder| folder.sessions).sum();
    let name = |folder: &FolderSessions| {
        let path = Shown(&short(host, Path::new(&folder.path))).one_line();
        format!("{path} {}", folder.sessions)
    };
    let named: Vec<String> = folders.iter().map(name).collect();
    let (sessions, named) = (sessions_text(n_sessions), first_few(&named).unwrap_or_default());
    let run = if folders.len() == 1 { "run `nacre init` there" } else { "run `nacre init --all`" };
    format!("{sessions} outside of all projects: {named}; {run}.")
}

fn duration_text(seconds: u64) -> String {
    match seconds {
        0..=90 => format!("{} s", seconds.max(1)),
        91..=5400 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

/// What the user can expect without a model.
pub(crate) const READ_BY_RULES: &str = "Rules find what people state plainly, such as \"never push \
    to main\", and summarize every session; they miss what only follows from a discussion.";

/// Flags that answer the question without a prompt.
#[derive(Debug, Args)]
pub(crate) struct ReaderArgs {
    /// Let the installed agent read your sessions without asking
    #[arg(long, short, conflicts_with = "no")]
    pub(super) yes: bool,

    /// Let no agent read your sessions, and do not ask
    #[arg(long)]
    no: bool,
}

/// Asks once which agent may read sessions, unless the user has already decided. Without a
/// terminal, nothing is asked or changed. `n_now` is the number of pending sessions, if known.
pub(crate) fn settle_reader(
    ui: &mut Ui,
    host: &Host,
    ReaderArgs { yes, no }: ReaderArgs,
    n_now: Option<u64>,
) -> Result<()> {
    let Some(question) = ops::reader_question(host) else { return Ok(()) };
    let allowed = if yes || no {
        yes
    } else if ui.can_ask() && !ui.is_json() {
        ui.confirm(&reader_text(&question, n_now))?
    } else {
        return Ok(());
    };
    let ModelReaderReport { label, model, allowed, .. } = ops::answer_reader(host, allowed)?;
    if allowed {
        ui.status(format!("{label} reads your sessions with {model}."));
        ui.status("To stop this: nacre config set reading.agent none");
    } else {
        ui.status("Sessions are read by rules only.");
        ui.status(format!("To change this: nacre config set roles.default.model {model}"));
    }
    Ok(())
}

fn reader_text(question: &ops::ReaderQuestion, n_now: Option<u64>) -> String {
    let ops::ReaderQuestion { label, sessions_per_day } = question;
    let now = match n_now.filter(|n_now| *n_now > 0) {
        Some(n_now) => {
            let tokens = n_now.min(*sessions_per_day) * KILOTOKENS_PER_SESSION;
            format!(" {} now, about {tokens},000 tokens today.", sessions_text(n_now))
        }
        None => String::new(),
    };
    format!(
        "{label} is installed. Let it read your sessions?\nTheir text is sent to {label}'s \
         provider and counts against your plan: about {KILOTOKENS_PER_SESSION},000 tokens per \
         session, at most {sessions_per_day} sessions per day.{now}\nOtherwise, they are read by \
         rules, on this computer. {READ_BY_RULES}\n`nacre sync --dry-run` shows what the rules find."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_says_where_the_text_goes_and_how_much_it_is_now() {
        let question = ops::ReaderQuestion { label: "Claude Code", sessions_per_day: 20 };
        let text = reader_text(&question, Some(30));
        for sign in [
            "is sent to Claude Code's provider and counts against your plan",
            "30 sessions now, about 240,000 tokens today",
            "nacre sync --dry-run",
        ] {
            assert!(text.contains(sign), "{sign} is not in {text}");
        }
        assert!(!reader_text(&question, None).contains("now,"));
    }
}
