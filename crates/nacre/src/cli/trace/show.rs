//! `nacre trace show`

use clap::Args;
use nacre_core::base::Shown;
use nacre_core::base::redact::ExtraWords;
use nacre_core::catalog::SessionRow;
use nacre_core::transcript::{ADAPTERS, Event, EventKind, Lane, Origin, SessionFacts, Sink};
use serde_json::json;

use super::super::exit::Exit;
use super::super::traces;
use super::super::ui::{Role, Ui};
use super::list::session_json;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Lines of tool output that are shown without `--full`.
const TOOL_LINES: usize = 6;

/// Show a session: what was said and done, in order
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session's id, or the start of it; `ID:SEQUENCE` starts at one event
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
    let (id, from) = match id.rsplit_once(':') {
        Some((id, sequence)) => (id, sequence.parse::<u64>().unwrap_or(0)),
        None => (id.as_str(), 0),
    };
    let session = traces::open_catalog(host)?.session(id)?;
    let words = host.words_of(session.project.as_deref())?;
    let events = read((&session, &words), from, *limit, |event| *full || is_shown(event))?;
    if ui.is_json() {
        let events: Vec<_> = events.iter().map(event_json).collect();
        ui.json(&json!({ "session": session_json(&session), "events": events }))?;
        return Ok(Exit::Done);
    }
    print_facts(ui, &session)?;
    for event in &events {
        print_event(ui, event, *full)?;
    }
    Ok(Exit::Done)
}

/// Reads the events that are wanted; the rest passes by without being kept.
fn read(
    (session, words): (&SessionRow, &ExtraWords),
    from: u64,
    limit: Option<usize>,
    wanted: impl Fn(&Event) -> bool,
) -> Result<Vec<Event>, OpError> {
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == session.trace.source.agent);
    let Some(adapter) = adapter else {
        return Err(OpError::failed("This session's agent is not known here"));
    };
    let mut events = Vec::new();
    let mut sink = |event: Event| {
        let has_room = limit.is_none_or(|limit| events.len() < limit);
        if event.sequence >= from && has_room && wanted(&event) {
            events.push(event.without_words(words));
        }
    };
    adapter
        .read(&session.trace, None, Sink::everything(&mut sink))
        .map_err(nacre_core::catalog::CatalogError::from)?;
    Ok(events)
}

fn is_shown(event: &Event) -> bool {
    let is_talk = match event.kind {
        EventKind::User => matches!(event.origin, Origin::Person(_)),
        EventKind::Assistant | EventKind::ToolCall | EventKind::ToolResult => true,
        EventKind::Summary | EventKind::Compaction => true,
        EventKind::Reasoning | EventKind::Meta => false,
    };
    is_talk && event.lane != Lane::Inherited
}

fn print_facts(ui: &mut Ui, session: &SessionRow) -> Result<(), OpError> {
    let SessionFacts {
        agent, title, cwd, git_branch, models, started, last_activity, counts, ..
    } = &session.facts;
    ui.line(ui.paint(Role::Title, Shown(title.as_deref().unwrap_or("A session")).one_line()))?;
    let mut facts = vec![session.key.clone(), agent.as_str().to_owned()];
    facts.extend(cwd.clone());
    facts.extend(git_branch.clone());
    facts.extend(models.first().cloned());
    facts.extend(started.map(|time| format!("from {time}")));
    facts.extend(last_activity.map(|time| format!("to {time}")));
    ui.line(ui.paint(Role::Faint, Shown(&facts.join(" · ")).one_line()))?;
    ui.line(ui.paint(
        Role::Faint,
        format!(
            "{} said, {} answers, {} tool calls",
            counts.user, counts.assistant, counts.tool_calls
        ),
    ))
}

fn print_event(ui: &mut Ui, event: &Event, is_full: bool) -> Result<(), OpError> {
    let who = match (event.kind, event.origin) {
        (EventKind::User, Origin::Person(_)) => "you".to_owned(),
        (EventKind::User, _) => "injected".to_owned(),
        (EventKind::ToolCall, _) => {
            let tool = event.call.as_ref().and_then(|call| call.tool.clone());
            format!("call {}", tool.unwrap_or_default())
        }
        (kind, _) => kind.as_str().to_owned(),
    };
    let lane = if event.lane == Lane::Sidechain { " (sub-agent)" } else { "" };
    let error = if event.is_error { " (failed)" } else { "" };
    let role = if who == "you" { Role::Good } else { Role::Faint };
    let head = ui.paint(role, Shown(&format!("{who}{lane}{error}")).one_line());
    ui.line(format!("\n{} {head}", ui.paint(Role::Id, format!("[{}]", event.sequence))))?;
    let is_tool = matches!(event.kind, EventKind::ToolCall | EventKind::ToolResult);
    if is_tool && !is_full {
        let lines: Vec<&str> = event.text.head().lines().take(TOOL_LINES).collect();
        return ui.text(&lines.join("\n"));
    }
    ui.text(event.text.head())?;
    if event.text.is_cut() {
        ui.line(ui.paint(Role::Faint, format!("… {} bytes in all …", event.text.full_bytes())))?;
        ui.text(event.text.tail())?;
    }
    Ok(())
}

fn event_json(event: &Event) -> serde_json::Value {
    json!({
        "sequence": event.sequence, "kind": event.kind.as_str(), "at": event.timestamp.map(|at| at.to_string()),
        "place": event.place, "key": event.key, "call": event.call.as_ref().map(|call| &call.id),
        "tool": event.call.as_ref().and_then(|call| call.tool.as_ref()), "lane": event.lane.as_str(),
        "injected": event.injected().map(nacre_core::transcript::InjectedReason::as_str),
        "person": event.person().map(nacre_core::transcript::WordSource::as_str),
        "error": event.is_error, "text": event.text.head(), "text_end": event.text.tail(),
        "full_bytes": event.text.full_bytes(),
    })
}
