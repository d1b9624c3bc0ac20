//! Sessions, events and hits as they go over the wire.

use jiff::Timestamp;
use nacre_api::wire::{
    EventCounts, ReadReport, SearchMode, SessionEnding, SessionEntry, SessionFacts, SessionLink,
    SessionLinkKind, SessionRole, SessionTokens, TraceEvent, TraceEventKind, TraceHit,
    TraceHitReason, TraceLane, TracePlace, UndoneEvents,
};
use nacre_core::catalog::{SessionRow, TextHit};
use nacre_core::search::Mode;
use nacre_core::transcript::{
    self, Ending, Event, EventKind, InjectedReason, Lane, LinkKind, Place, WordSource,
};

use crate::operations::queue::job_state;

pub(super) fn session_entry(row: SessionRow) -> SessionEntry {
    let SessionRow { key, trace, project, facts: of_session, report, state, reason } = row;
    SessionEntry {
        id: key,
        path: trace.source.path.display().to_string(),
        inner_id: trace.session,
        project,
        state: job_state(state),
        reason,
        facts: facts(of_session),
        report: read_report(report),
    }
}

fn facts(of: transcript::SessionFacts) -> SessionFacts {
    let text = |time: Timestamp| time.to_string();
    let undone = of.undone.iter().map(|undone| UndoneEvents { from: undone.from, to: undone.to });
    SessionFacts {
        agent: of.agent.as_str().to_owned(),
        role: role(of.role),
        started: of.started.map(text),
        last_activity: of.last_activity.map(text),
        counts: counts(&of.counts),
        tokens: tokens(of.tokens),
        undone: undone.collect(),
        links: of.links.into_iter().map(link).collect(),
        ending: ending(of.ending),
        id: of.id,
        agent_version: of.agent_version,
        title: of.title,
        cwd: of.cwd,
        other_cwds: of.other_cwds,
        git_branch: of.git_branch,
        other_branches: of.other_branches,
        repository: of.repository,
        models: of.models,
    }
}

fn role(of: transcript::SessionRole) -> SessionRole {
    match of {
        transcript::SessionRole::Main => SessionRole::Main,
        transcript::SessionRole::SubAgent => SessionRole::SubAgent,
        transcript::SessionRole::Helper => SessionRole::Helper,
    }
}

fn ending(of: Ending) -> SessionEnding {
    match of {
        Ending::Finished => SessionEnding::Finished,
        Ending::Active => SessionEnding::Active,
        Ending::Unknown => SessionEnding::Unknown,
    }
}

fn link(of: transcript::SessionLink) -> SessionLink {
    let kind = match of.kind {
        LinkKind::Parent => SessionLinkKind::Parent,
        LinkKind::ForkOf => SessionLinkKind::ForkOf,
        LinkKind::Continues => SessionLinkKind::Continues,
    };
    SessionLink { kind, session: of.session, call: of.call }
}

fn counts(of: &transcript::Counts) -> EventCounts {
    EventCounts {
        user: of.user,
        assistant: of.assistant,
        reasoning: of.reasoning,
        tool_calls: of.tool_calls,
        tool_results: of.tool_results,
        summaries: of.summaries,
        compactions: of.compactions,
        meta: of.meta,
        injected: of.injected,
        sidechain: of.sidechain,
        inherited: of.inherited,
        errors: of.errors,
    }
}

fn tokens(of: transcript::Tokens) -> SessionTokens {
    let transcript::Tokens { input, output, cached, cache_write, reasoning } = of;
    SessionTokens { input, output, cached, cache_write, reasoning }
}

fn read_report(of: transcript::ReadReport) -> ReadReport {
    let transcript::ReadReport {
        lines,
        bad_lines,
        mended_lines,
        invalid_utf8,
        long_lines,
        unknown_records,
        unknown_types,
        torn_tail,
        cut_texts,
        repeated,
        left_out,
    } = of;
    ReadReport {
        lines,
        bad_lines,
        mended_lines,
        invalid_utf8,
        long_lines,
        unknown_records,
        unknown_types,
        torn_tail,
        cut_texts,
        repeated,
        left_out,
    }
}

pub(super) fn trace_event(event: Event) -> TraceEvent {
    let injected = event.injected().map(InjectedReason::as_str).map(str::to_owned);
    let person = event.person().map(WordSource::as_str).map(str::to_owned);
    let (call, tool) = event.call.map(|call| (call.id, call.tool)).unzip();
    TraceEvent {
        sequence: event.sequence,
        kind: event_kind(event.kind),
        at: event.timestamp.map(|at| at.to_string()),
        place: place(event.place),
        key: event.key,
        call,
        tool: tool.flatten(),
        lane: lane(event.lane),
        injected,
        person,
        error: event.is_error,
        text: event.text.head().to_owned(),
        text_end: event.text.tail().to_owned(),
        full_bytes: event.text.full_bytes(),
    }
}

fn event_kind(of: EventKind) -> TraceEventKind {
    match of {
        EventKind::User => TraceEventKind::User,
        EventKind::Assistant => TraceEventKind::Assistant,
        EventKind::Reasoning => TraceEventKind::Reasoning,
        EventKind::ToolCall => TraceEventKind::ToolCall,
        EventKind::ToolResult => TraceEventKind::ToolResult,
        EventKind::Summary => TraceEventKind::Summary,
        EventKind::Compaction => TraceEventKind::Compaction,
        EventKind::Meta => TraceEventKind::Meta,
    }
}

fn lane(of: Lane) -> TraceLane {
    match of {
        Lane::Main => TraceLane::Main,
        Lane::Sidechain => TraceLane::Sidechain,
        Lane::Inherited => TraceLane::Inherited,
    }
}

fn place(of: Place) -> TracePlace {
    match of {
        Place::Line { line, offset } => TracePlace::Line { line, offset },
        Place::Row { key } => TracePlace::Row { key },
    }
}

pub(super) fn hit(of: TextHit) -> TraceHit {
    TraceHit {
        id: of.key,
        agent: of.agent,
        title: of.title,
        project: of.project,
        sequence: of.sequence,
        kind: of.kind,
        at: of.at.map(|at| at.to_string()),
        snippet: of.snippet,
        score: of.score,
        why: TraceHitReason { terms: of.terms, similarity: of.similarity },
    }
}

pub(super) fn core_mode(mode: SearchMode) -> Mode {
    match mode {
        SearchMode::Hybrid => Mode::Hybrid,
        SearchMode::Lexical => Mode::Lexical,
        SearchMode::Semantic => Mode::Semantic,
    }
}
