//! `nacre trace`: lists, shows, searches and imports agent sessions.

use nacre_ops::trace::{self as ops, NameSource};
use nacre_types::{
    SearchMode, SessionEntry, SessionFacts, TraceEvent, TraceEventKind, TraceHit,
    TraceImportReport, TraceLane, TraceListReport, TraceListRequest, TraceSearchRequest,
    TraceShowRequest,
};

use super::args::{agent_parser, mode_parser};
use super::prelude::*;
use super::render::print_more;

/// Without `--full`, tool output is cut to this many lines.
const TOOL_LINES: usize = 6;

/// List your agents' sessions, latest first; show and search them
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    command: Option<TraceCommand>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum TraceCommand {
    #[command(hide = true)]
    List(ListArgs),
    /// Show a session's messages and tool calls
    Show {
        /// The session's id or a prefix of it, the path of its trace, or the id of a memory or run
        /// created from it; `ID:SEQUENCE` shows 20 events from that one on
        id: String,
        /// Also show reasoning, injected text, full tool output and unknown records
        #[arg(long)]
        full: bool,
        /// Show at most this many events
        #[arg(long, short = 'n', value_name = "N")]
        limit: Option<usize>,
    },
    Search(SearchArgs),
    /// Read a session from a file: in Nacre's own transcript format, or exported by OpenCode
    ///
    /// Nacre's format is one JSON object per line in a `.jsonl` file; see
    /// docs/transcript-format.md. OpenCode's format is the output of `opencode export`. The file is
    /// read in place, so keep it. For instruction files such as CLAUDE.md, use `nacre import`.
    Import {
        /// The transcript
        file: String,
    },
}

/// List sessions, latest first
#[derive(Debug, Args)]
struct ListArgs {
    /// Only this agent
    #[arg(long, value_name = "AGENT", value_parser = agent_parser())]
    agent: Option<String>,
    /// Include sessions from all projects
    #[arg(long)]
    all: bool,
    /// Only sessions active since this date, time or age (30min, 36h, 7d, 2w, 3mo, 1y)
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Skip this many
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    offset: usize,
    /// Show at most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

/// Search the messages of all sessions
///
/// Searches user and agent messages by words and meaning. "Quoted phrases" must occur verbatim. The
/// query may contain filters: agent:codex after:2026-01 before:7d project:NAME. An age is in
/// minutes (30min), hours (36h), days (7d), weeks (2w), months of 30 days (3mo) or years (1y).
#[derive(Debug, Args)]
struct SearchArgs {
    /// Words, "quoted phrases" and filters
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this agent
    #[arg(long, value_name = "AGENT", value_parser = agent_parser())]
    agent: Option<String>,
    /// Search sessions from all projects
    #[arg(long)]
    all: bool,
    /// Only messages since this date, time or age
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Search by words, by meaning, or by both
    #[arg(long, default_value = "hybrid", value_parser = mode_parser())]
    mode: SearchMode,
    /// Show why each message matches
    #[arg(long)]
    explain: bool,
    /// Show at most this many [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn cmd_trace(ui: &mut Ui, host: &Host, args: TraceArgs) -> CommandResult {
    match args.command {
        None => list(ui, host, args.list),
        Some(TraceCommand::List(args)) => list(ui, host, args),
        Some(TraceCommand::Show { id, full, limit }) => {
            let page = limit.or(id.contains(':').then_some(ops::EVENTS_AROUND));
            let request = TraceShowRequest { id, full, limit };
            ui.report(&ops::show(host, &request, NameSource::Terminal)?, |ui, report| {
                print_facts(ui, &report.session);
                for event in &report.events {
                    print_event(ui, event, full);
                }
                let has_more = page.is_some_and(|page| report.events.len() >= page);
                if let Some(last) = report.events.last().filter(|_| has_more) {
                    let next = last.sequence + 1;
                    ui.hint(&format!("Read on: nacre trace show {}:{next}", report.session.id));
                }
            })
        }
        Some(TraceCommand::Search(args)) => search(ui, host, args),
        Some(TraceCommand::Import { file }) => {
            let report = ops::import(host, &file)?;
            ui.report(&report, |ui, TraceImportReport { id, state, reason }| {
                let reason = reason.as_ref().map(|reason| format!(" ({reason})"));
                let (id, state) = (ui.paint(Role::Id, id), state.as_str());
                ui.status(format!("Read {id}, {state}{}", reason.unwrap_or_default()));
            })
        }
    }
}

fn list(ui: &mut Ui, host: &Host, args: ListArgs) -> CommandResult {
    let ListArgs { agent, all, since, offset, limit } = args;
    let request = TraceListRequest { agent, all, since, offset, limit };
    ui.report(&ops::list(host, &request)?, |ui, report| print_list(ui, report, &request))
}

fn print_list(ui: &mut Ui, report: &TraceListReport, request: &TraceListRequest) {
    let rows = report.sessions.iter().map(|session| row(ui, session)).collect();
    let n_shown = ui.print_titled_table(rows);
    print_more(ui, report.total.saturating_sub(request.offset + n_shown));
    if report.total == 0 && (request.agent.is_some() || request.since.is_some()) {
        ui.status("No session matches.");
    } else if report.total == 0 {
        ui.status("No sessions.");
        ui.hint("Run `nacre sync --no-extract` to read them");
    }
}

/// Formats a table row. The first column is the title on a terminal, and the id elsewhere.
fn row(ui: &Ui, session: &SessionEntry) -> Row {
    let facts = &session.facts;
    let title = title(facts.title.as_deref().or(facts.cwd.as_deref()).unwrap_or_default());
    let when = facts.last_activity.map(|time| ui.when_to_minute(&time.to_string()));
    let (id, when) = (id(&session.id), faint(when.unwrap_or_default()));
    let said = faint(format!("{} said", facts.counts.user));
    let (agent, state) = (faint(facts.agent.as_str()), faint(session.state.as_str()));
    if ui.is_watched() {
        return vec![title, when, agent, said, state, id];
    }
    vec![id, when, agent, said, state, title]
}

fn search(ui: &mut Ui, host: &Host, args: SearchArgs) -> CommandResult {
    let SearchArgs { query, agent, all, since, mode, explain, limit } = args;
    let query = query.join(" ");
    let request = TraceSearchRequest { query, agent, all, since, mode, limit };
    ui.report(&ops::search(host, &request)?, |ui, report| {
        // Sessions are in the order of their best hit.
        let mut sessions: Vec<&str> = Vec::new();
        for hit in &report.hits {
            if sessions.contains(&hit.id.as_str()) {
                continue;
            }
            sessions.push(&hit.id);
            print_heading(ui, hit);
            for hit in report.hits.iter().filter(|other| other.id == hit.id) {
                let place = format!("[{}] {}  ", hit.sequence, hit.kind);
                let snippet = ui.fit(4 + place.len(), &Shown(&hit.snippet).one_line());
                ui.line(format!("    {}{snippet}", ui.paint(Role::Faint, place)));
                if explain {
                    let (score, words, similarity) =
                        (hit.score, hit.why.terms.join(" "), hit.why.similarity);
                    let why = format!("score {score:.2}, words {words}, meaning {similarity:.2}");
                    ui.note(8, Role::Faint, why);
                }
            }
        }
        match report.hits.first() {
            None => ui.status("Nothing found."),
            Some(hit) => {
                ui.hint(&format!("Read on: nacre trace show {}:{}", hit.id, hit.sequence));
            }
        }
    })
}

fn print_heading(ui: &mut Ui, hit: &TraceHit) {
    let when = hit.at.as_deref().map(|time| ui.when_to_minute(time)).unwrap_or_default();
    ui.table([[
        id(&hit.id),
        faint(when),
        faint(&hit.agent),
        title(hit.title.as_deref().unwrap_or_default()),
    ]]);
}

fn print_facts(ui: &mut Ui, session: &SessionEntry) {
    let SessionFacts {
        agent, title, cwd, git_branch, models, started, last_activity, counts, ..
    } = &session.facts;
    ui.note(0, Role::Title, title.as_deref().unwrap_or("A session"));
    let mut facts = vec![session.id.clone(), agent.to_string()];
    facts.extend(cwd.clone());
    facts.extend(git_branch.clone());
    facts.extend(models.first().cloned());
    facts.extend(started.map(|time| format!("from {}", ui.when(&time.to_string()))));
    facts.extend(last_activity.map(|time| format!("to {}", ui.when(&time.to_string()))));
    ui.note(0, Role::Faint, facts.join(" · "));
    let (user, answers, calls) = (counts.user, counts.assistant, counts.tool_calls);
    ui.note(0, Role::Faint, format!("{user} user messages, {answers} answers, {calls} tool calls"));
}

fn print_event(ui: &mut Ui, event: &TraceEvent, is_full: bool) {
    let speaker = speaker(event);
    let lane = if event.lane == TraceLane::Sidechain { " (sub-agent)" } else { "" };
    let error = if event.error { " (failed)" } else { "" };
    let role = if speaker == "you" { Role::Good } else { Role::Faint };
    let head = ui.paint(role, Shown(&format!("{speaker}{lane}{error}")).one_line());
    ui.line(format!("\n{} {head}", ui.paint(Role::Id, format!("[{}]", event.sequence))));
    let is_tool = matches!(event.kind, TraceEventKind::ToolCall | TraceEventKind::ToolResult);
    if is_tool && !is_full {
        let lines: Vec<&str> = event.text.lines().take(TOOL_LINES).collect();
        ui.text(&lines.join("\n"));
        let n_more = event.text.lines().count().saturating_sub(TOOL_LINES);
        if n_more > 0 || !event.text_end.is_empty() {
            ui.note(0, Role::Faint, format!("… {n_more} more lines; `--full` shows all"));
        }
        return;
    }
    ui.text(&event.text);
    if !event.text_end.is_empty() {
        ui.note(0, Role::Faint, format!("… {} bytes in total …", event.full_bytes));
        ui.text(&event.text_end);
    }
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
