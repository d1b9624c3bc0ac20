//! Writes transcripts in Nacre's own format, to archive the input of each run. Reading the output
//! with [`Generic`](super::Generic) returns the same events.

use std::io::{self, Write};

use jiff::Timestamp;
use serde::Serialize;

use super::FORMAT_VERSION;
use crate::transcript::toolkit::*;

#[derive(Serialize)]
struct SessionLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    version: u64,
    id: &'a str,
    agent: &'static str,
    role: SessionRole,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_version: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_branch: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_activity: Option<Timestamp>,
    models: &'a [String],
    links: &'a [SessionLink],
}

#[derive(Serialize)]
struct EventLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Timestamp>,
    text: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    tail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    origin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lane: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    error: bool,
    place: &'a Position,
}

#[derive(Serialize)]
struct EndLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    ending: Ending,
    tokens: &'a Tokens,
    undone: &'a [Undone],
}

pub fn write_session(facts: &SessionFacts, out: &mut dyn Write) -> io::Result<()> {
    let line = SessionLine {
        kind: "session",
        version: FORMAT_VERSION,
        id: &facts.id,
        agent: facts.agent.as_str(),
        role: facts.role,
        agent_version: &facts.agent_version,
        title: &facts.title,
        cwd: &facts.cwd,
        git_branch: &facts.git_branch,
        repository: &facts.repository,
        started: facts.started,
        last_activity: facts.last_activity,
        models: &facts.models,
        links: &facts.links,
    };
    write_line(&line, out)
}

pub fn write_event(event: &TranscriptEvent, out: &mut dyn Write) -> io::Result<()> {
    let (origin, source, reason) = match event.origin {
        TextOrigin::Person(source) => ("person", Some(source.as_str()), None),
        TextOrigin::Agent => ("agent", None, None),
        TextOrigin::Tool => ("tool", None, None),
        TextOrigin::Injected(reason) => ("injected", None, Some(reason.as_str())),
        TextOrigin::Host => ("host", None, None),
    };
    let text = &event.text;
    let is_whole = text.full_bytes() == text.head().len() as u64 && text.tail().is_empty();
    let line = EventLine {
        kind: event.kind.as_str(),
        time: event.timestamp,
        text: text.head(),
        tail: text.tail(),
        bytes: (!is_whole).then_some(text.full_bytes()),
        origin,
        source,
        reason,
        lane: (event.lane != Lane::Main).then_some(event.lane.as_str()),
        call: event.call.as_ref().map(|call| call.id.as_str()),
        tool: event.call.as_ref().and_then(|call| call.tool.as_deref()),
        key: event.key.as_deref(),
        error: event.is_error,
        place: &event.place,
    };
    write_line(&line, out)
}

pub fn write_end(facts: &SessionFacts, out: &mut dyn Write) -> io::Result<()> {
    let line =
        EndLine { kind: "end", ending: facts.ending, tokens: &facts.tokens, undone: &facts.undone };
    write_line(&line, out)
}

fn write_line<T: Serialize>(line: &T, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agents::claude::Claude;
    use crate::agents::codex::Codex;
    use crate::agents::generic::Generic;
    use crate::transcript::tests::{TestTrace, read};

    fn render(events: &[TranscriptEvent], facts: &SessionFacts) -> Vec<u8> {
        let mut out = Vec::new();
        write_session(facts, &mut out).unwrap();
        for event in events {
            write_event(event, &mut out).unwrap();
        }
        write_end(facts, &mut out).unwrap();
        out
    }

    #[track_caller]
    fn check_round_trip(events: &[TranscriptEvent], facts: &SessionFacts) {
        let archive = TestTrace::new("archive.jsonl", render(events, facts));
        let (again, outcome) = archive.read(&Generic, None);
        assert_eq!(again, events);
        let mut read_facts = outcome.facts;
        // Only the first directory and branch are archived.
        read_facts.other_cwds.clone_from(&facts.other_cwds);
        read_facts.other_branches.clone_from(&facts.other_branches);
        assert_eq!(&read_facts, facts);
    }

    #[test]
    fn real_formats_survive_the_archive() {
        let claude = r#"{"type":"user","uuid":"u","sessionId":"s","cwd":"/p","gitBranch":"b","version":"2","timestamp":"2026-01-01T00:00:00.5Z","message":{"content":[{"type":"text","text":"<system-reminder>x</system-reminder>hi"},{"type":"tool_result","tool_use_id":"t","content":"LONG","is_error":true}]}}
"#;
        let claude = claude.replace("LONG", &"é\\n".repeat(20_000));
        let codex = r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"c","cwd":"/p","forked_from_id":"d","git":{"repository_url":"https://h/r"}}}
{"timestamp":"2026-01-01T00:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"hi"}}
{"timestamp":"2026-01-01T00:00:02.000Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}
"#;
        let cases: [(&dyn Adapter, &str, &str); 2] =
            [(&Claude, "s.jsonl", &claude), (&Codex, "rollout-c.jsonl", codex)];
        for (adapter, name, content) in cases {
            let (events, outcome) = read(adapter, name, content);
            assert!(!events.is_empty());
            check_round_trip(&events, &outcome.facts);
        }
    }

    fn origin() -> impl Strategy<Value = TextOrigin> {
        prop_oneof![
            prop::sample::select(WordSource::ALL.to_vec()).prop_map(TextOrigin::Person),
            prop::sample::select(InjectedReason::ALL.to_vec()).prop_map(TextOrigin::Injected),
            Just(TextOrigin::Agent),
            Just(TextOrigin::Tool),
            Just(TextOrigin::Host),
        ]
    }

    fn place() -> impl Strategy<Value = Position> {
        prop_oneof![
            (any::<u64>(), any::<u64>()).prop_map(|(line, offset)| Position::Line { line, offset }),
            ".{0,20}".prop_map(|key| Position::Row { key }),
        ]
    }

    proptest! {
        #[test]
        fn any_event_survives_the_archive(
            parts in prop::collection::vec((
                prop::sample::select(EventKind::ALL.to_vec()), origin(), ".{0,40}", 1_usize..400, place(),
                prop::option::of(-1_000_000_i64..4_000_000_000_000), prop::option::of(".{0,9}"),
                prop::sample::select(Lane::ALL.to_vec()), any::<bool>(),
            ), 0..8),
        ) {
            let mut events = Vec::new();
            let mut sink = |event| events.push(event);
            let mut emitter = Emitter::new(SessionFacts::new(Agent::Cursor, "s"), 0, Sink::everything(&mut sink));
            for (kind, origin, text, times, place, ms, key, lane, is_error) in &parts {
                let call = key.as_ref().map(|id| CallLink { id: id.clone(), tool: Some(id.clone()) });
                let text = text.repeat(*times);
                emitter.push(Draft {
                    timestamp: ms.and_then(|ms| Timestamp::from_millisecond(ms).ok()),
                    key: key.as_deref(), call, lane: *lane, is_error: *is_error,
                    ..Draft::new(*kind, *origin, text, place.clone())
                });
            }
            let facts = emitter.facts;
            check_round_trip(&events, &facts);
        }
    }
}
