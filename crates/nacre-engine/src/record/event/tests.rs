//! Tests for the properties shared by all events, and for the order of events.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::record::Failure;

pub(crate) fn task(number: u64) -> TaskId {
    TaskId::from_random(number)
}

pub(crate) fn samples() -> Vec<Event> {
    let model = ModelRef::for_script;
    let done = TaskState::Completed { signal: Signal::Done };
    let why = || BoundedText::new("because");
    vec![
        Event::RunPrepare { agent: "explorer".into(), model: model(), n_tools: 4 },
        Event::ContextPlan { kept: 3, shortened: 1, dropped: 0, tokens: 900, limit: 8000 },
        Event::ContextSummary {
            n_turns: 4,
            n_steps: 2,
            tokens_before: 9000,
            tokens_after: 3000,
            duration_us: 8,
        },
        Event::StepStart { step: 1 },
        Event::ModelCall { step: 1, model: model() },
        Event::ModelDelta { kind: DeltaKind::Text, text: "Hello".to_owned() },
        Event::ToolPatches {
            call: "call_1".into(),
            patches: vec![FilePatch {
                path: "src/a.rs".to_owned(),
                diff: "--- src/a.rs\n+++ src/a.rs\n@@ -1,1 +1,1 @@\n-a\n+b\n".to_owned(),
                added: 1,
                removed: 1,
            }],
        },
        Event::ModelRetry { step: 1, why: why(), wait_ms: 500 },
        Event::ModelFallback { step: 1, why: why(), to: model() },
        Event::ModelFinish(Box::new(model_facts(1))),
        Event::ModelError { step: 1, model: model(), why: why(), duration_us: 7 },
        Event::ToolCall {
            step: 1,
            call: "c1".into(),
            tool: "file_read".into(),
            arguments: "{}".into(),
        },
        Event::ToolResult(Box::new(tool_facts("c1", "file_read", 250))),
        Event::ToolDenied { call: "c1".into(), tool: "file_edit".into(), why: why() },
        Event::ApprovalRequest {
            call: "c1".into(),
            tool: "shell_run".into(),
            summary: "Run cargo test".into(),
        },
        Event::ApprovalDecision {
            call: "c1".into(),
            tool: "shell_run".into(),
            decision: ApprovalDecision::Denied,
            why: Some(why()),
        },
        Event::BudgetNotice { used: 27, limit: 30 },
        Event::BudgetBlock { limit: 30 },
        Event::EffectEnd {
            call: "c1".into(),
            effect: "format".into(),
            outcome: EffectOutcome::Clean,
            duration_us: 9,
        },
        Event::AgentSpawn { child: task(2), agent: "explorer".into() },
        Event::AgentEnd { child: task(2), state: done },
        Event::SkillOn { skill: "commit".into() },
        Event::SignalVerdict { said: Signal::NoOp, taken_as: Signal::Done, why: Some(why()) },
        Event::CompletionReopen { attempt: 1, why: why() },
        Event::RunCancel { by: CancelledBy::Person },
        Event::RunSteer { step: 1, text: "Use the other file.".into() },
        Event::Notice { text: why() },
        Event::Error { what: why(), hint: None },
        Event::StepEnd { step: 1, n_calls: 1, duration_us: 400 },
        Event::RunSummary(Box::default()),
        Event::TaskState(done),
    ]
}

pub(crate) fn model_facts(step: u32) -> ModelFacts {
    ModelFacts {
        step,
        model: ModelRef::for_script(),
        stop: StopReason::ToolUse,
        usage: Usage { input: 100, output: 20, ..Usage::default() },
        cost: Some(Cost::from_nano_dollars(1500)),
        first_token_us: Some(900),
        duration_us: 2000,
    }
}

pub(crate) fn tool_facts(call: &str, tool: &str, duration_us: u64) -> ToolFacts {
    ToolFacts {
        step: 1,
        call: call.into(),
        tool: tool.into(),
        category: Some(Category::Read),
        fault: None,
        duration_us,
        bytes_in: 20,
        bytes_out: 4000,
        shown_bytes: 1000,
        changed: Vec::new(),
        n_changed: 0,
    }
}

fn heard() -> (Events, Arc<Heard>) {
    let heard = Arc::new(Heard::default());
    let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
    (Events::new(task(1), clock, vec![Arc::clone(&heard) as Arc<dyn Listener>]), heard)
}

// Regression test: events that are never emitted, and calls that cannot be matched to results.
#[test]
fn the_name_of_an_event_is_the_tag_of_its_json_and_it_comes_back_as_it_was() {
    let names: BTreeSet<String> = samples().iter().map(|event| event.name().to_owned()).collect();
    assert_eq!(names.len(), samples().len(), "one sample a kind");
    for event in samples() {
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(json["event"], event.name());
        assert_eq!(serde_json::from_value::<Event>(json).unwrap(), event);
    }
}

#[test]
fn a_record_is_one_flat_object() {
    let (events, heard) = heard();
    events.emit(Event::TaskState(TaskState::Failed { why: Failure::Model }));
    let json = serde_json::to_string(&*heard.records()[0]).unwrap();
    assert_eq!(
        json,
        r#"{"task":"task_0000000000001","sequence":1,"at":"1970-01-01T00:00:00Z","event":"task.state","state":"failed","why":"model"}"#
    );
    assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), *heard.records()[0]);
}

#[test]
fn what_is_stored_is_numbered_without_gaps_and_the_rest_is_not() {
    let (events, heard) = heard();
    for event in samples() {
        events.emit(event);
    }
    let stored: Vec<u64> = heard
        .records()
        .iter()
        .filter(|record| record.event.is_stored())
        .map(|record| record.sequence)
        .collect();
    assert_eq!(stored, (1..=stored.len() as u64).collect::<Vec<_>>());
    assert_eq!(stored.len() + 2, samples().len());
}

// Regression test: an aborted run has exactly one end, and no events follow it.
#[test]
fn nothing_is_told_after_the_end() {
    let (events, heard) = heard();
    let end = || Event::TaskState(TaskState::Cancelled { by: CancelledBy::Person });
    events.emit(end());
    events.clone().emit(end());
    events.emit(Event::StepStart { step: 9 });
    assert_eq!((heard.records().len(), events.is_over()), (1, true));
    let child = events.of_task(task(2));
    child.emit(Event::StepStart { step: 1 });
    assert_eq!(
        heard.records().last().map(|record| (record.task.clone(), record.sequence)),
        Some((task(2), 1))
    );
}

#[test]
fn clones_on_many_threads_share_the_numbers_and_are_heard_in_their_order() {
    let (events, heard) = heard();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let events = events.clone();
            scope.spawn(move || (0..100).for_each(|step| events.emit(Event::StepStart { step })));
        }
    });
    let numbers: Vec<u64> = heard.records().iter().map(|record| record.sequence).collect();
    assert_eq!(numbers, (1..=400).collect::<Vec<_>>());
}

#[test]
fn where_nobody_listens_nothing_is_made() {
    let events = Events::silent(task(1));
    events.emit_with(|| panic!("nobody wanted it"));
    events.emit(Event::TaskState(TaskState::Failed { why: Failure::Internal }));
    assert!(events.is_over());
}

proptest! {
    #[test]
    fn a_brief_text_is_the_text_or_its_beginning(text in "\\PC{0,700}") {
        let brief = BoundedText::new(&text);
        prop_assert!(brief.as_str().len() <= BoundedText::MAX_BYTES);
        prop_assert_eq!(BoundedText::from(text.clone()), brief.clone());
        match brief.as_str().strip_suffix('…') {
            Some(start) if brief.as_str() != text => prop_assert!(text.starts_with(start)),
            _ => prop_assert_eq!(brief.as_str(), text),
        }
    }
}
