//! `nacre trace show`

use clap::Args;
use nacre_api::wire::{
    SessionEntry, SessionFacts, TraceEvent, TraceEventKind, TraceLane, TraceShowRequest,
};
use nacre_ops::text::Shown;
use nacre_ops::trace::{self as ops, NameSource};
use nacre_ops::{Host, OpError};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Lines of tool output that are shown without `--full`.
const TOOL_LINES: usize = 6;

/// Show a session: what was said and done, in order
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session's id, or the start of it, the path of its trace, or the id of a memory or run that was made from it;
    /// `ID:SEQUENCE` starts at one event
    id: String,
    /// Also reasoning, injected text, tool output in full and records of no kind we know
    #[arg(long)]
    full: bool,
    /// At most this many events
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn cmd_show(ui: &mut Ui, host: &Host, args: &ShowArgs) -> Result<Exit, OpError> {
    let ShowArgs { id, full, limit } = args;
    let request = TraceShowRequest { id: id.clone(), full: *full, limit: *limit };
    ui.report(&ops::show(host, &request, NameSource::Terminal)?, |ui, report| {
        print_facts(ui, &report.session)?;
        report.events.iter().try_for_each(|event| print_event(ui, event, *full))
    })
}

fn print_facts(ui: &mut Ui, session: &SessionEntry) -> Result<(), OpError> {
    let SessionFacts {
        agent, title, cwd, git_branch, models, started, last_activity, counts, ..
    } = &session.facts;
    ui.line(ui.paint(Role::Title, Shown(title.as_deref().unwrap_or("A session")).one_line()))?;
    let mut facts = vec![session.id.clone(), agent.clone()];
    facts.extend(cwd.clone());
    facts.extend(git_branch.clone());
    facts.extend(models.first().cloned());
    facts.extend(started.as_ref().map(|time| format!("from {}", ui.when(time))));
    facts.extend(last_activity.as_ref().map(|time| format!("to {}", ui.when(time))));
    ui.line(ui.paint(Role::Faint, Shown(&facts.join(" · ")).one_line()))?;
    ui.line(ui.paint(
        Role::Faint,
        format!(
            "{} said, {} answers, {} tool calls",
            counts.user, counts.assistant, counts.tool_calls
        ),
    ))
}

fn print_event(ui: &mut Ui, event: &TraceEvent, is_full: bool) -> Result<(), OpError> {
    let who = speaker(event);
    let lane = if event.lane == TraceLane::Sidechain { " (sub-agent)" } else { "" };
    let error = if event.error { " (failed)" } else { "" };
    let role = if who == "you" { Role::Good } else { Role::Faint };
    let head = ui.paint(role, Shown(&format!("{who}{lane}{error}")).one_line());
    ui.line(format!("\n{} {head}", ui.paint(Role::Id, format!("[{}]", event.sequence))))?;
    let is_tool = matches!(event.kind, TraceEventKind::ToolCall | TraceEventKind::ToolResult);
    if is_tool && !is_full {
        let lines: Vec<&str> = event.text.lines().take(TOOL_LINES).collect();
        ui.text(&lines.join("\n"))?;
        let n_more = event.text.lines().count().saturating_sub(TOOL_LINES);
        if n_more > 0 || !event.text_end.is_empty() {
            let more = format!("… {n_more} more lines; `--full` shows all");
            ui.line(ui.paint(Role::Faint, more))?;
        }
        return Ok(());
    }
    ui.text(&event.text)?;
    if !event.text_end.is_empty() {
        ui.line(ui.paint(Role::Faint, format!("… {} bytes in all …", event.full_bytes)))?;
        ui.text(&event.text_end)?;
    }
    Ok(())
}

fn speaker(event: &TraceEvent) -> String {
    match event.kind {
        TraceEventKind::User if event.person.is_some() => "you".to_owned(),
        TraceEventKind::User => "injected".to_owned(),
        TraceEventKind::ToolCall => {
            format!("call {}", event.tool.as_deref().unwrap_or_default())
        }
        kind @ (TraceEventKind::Assistant
        | TraceEventKind::Reasoning
        | TraceEventKind::ToolResult
        | TraceEventKind::Summary
        | TraceEventKind::Compaction
        | TraceEventKind::Meta) => kind.as_str().to_owned(),
    }
}
