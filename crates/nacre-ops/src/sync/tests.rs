//! Tests sync operations: reports, events, and previews that predict the same results.

mod edits;
mod extraction;
mod known;
mod lead;
mod repeats;

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use nacre_types::{
    ErrorCode, Event, Outcome, QueueChangeRequest, Report as _, SyncRequest, SyncTraceRequest,
    TraceListRequest,
};

use super::{preview, sync, sync_trace};
use crate::events::Events;
use crate::host::agent_names;
use crate::test::Place;
use crate::{queue, trace};

/// Returns an event recorder, and the list to which it appends events.
fn kept_events() -> (Events, Arc<Mutex<Vec<Event>>>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&kept);
    (Events::new(move |event| listener.lock().unwrap().push(event)), kept)
}

#[test]
fn a_preview_promises_what_a_sync_then_does() {
    let place = Place::new();
    place.talk("one", "Remember that the deploy script needs AWS_PROFILE=prod.");
    place.talk("two", "Always use pnpm here, never npm.");
    place.talk("three", "Rename the server to gateway");
    let host = place.host();
    let request = SyncRequest { max_sessions: Some(2), ..SyncRequest::default() };
    let promised = preview(&host, &request, &Events::discard()).unwrap();
    assert_eq!((promised.would_read.len(), promised.sources), (2, 3));
    let done = sync(&host, &request, &Events::discard()).unwrap();
    assert_eq!((done.read, done.left, done.outcome()), (2, 1, Outcome::Done));
    let traces = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let promised = promised.sessions.iter().map(|one| one.report.trace_path.as_str()).collect();
    let ran = done.sessions.iter().map(|one| match &one.result {
        nacre_types::SyncResult::Done { report, .. } => report.trace_path.as_str(),
        nacre_types::SyncResult::Failed { reason } => panic!("{reason}"),
    });
    assert_eq!(traces(ran.collect()), traces(promised));
    assert_eq!(done.sessions.len(), 2);
}

#[test]
fn a_preview_leaves_out_what_a_person_skipped() {
    let place = Place::new();
    let path = place.talk("one", "Always use pnpm here, never npm.");
    place.talk("two", "Rename the server to gateway");
    let host = place.host();
    let only_read = SyncRequest { no_extract: true, ..SyncRequest::default() };
    sync(&host, &only_read, &Events::discard()).unwrap();
    let sessions = trace::list(&host, &TraceListRequest::default()).unwrap().sessions;
    let one = sessions.iter().find(|session| session.path == path).unwrap();
    let which = QueueChangeRequest { id: Some(one.id.clone()), all: false };
    assert_eq!(queue::skip(&host, &which).unwrap().ids, std::slice::from_ref(&one.id));
    // Reading the session again must not restore what the user skipped.
    place.talk("one", "Always use pnpm here, never npm, please.");
    let promised = preview(&host, &SyncRequest::default(), &Events::discard()).unwrap();
    assert_eq!((promised.would_read.len(), promised.sessions.len()), (1, 1));
    assert!(promised.sessions[0].report.trace_path.ends_with("two.jsonl"));
}

#[test]
fn a_sync_emits_its_progress_and_steps() {
    let place = Place::new();
    place.talk("one", "Always use pnpm here, never npm.");
    let (events, kept) = kept_events();
    let report = sync(&place.host(), &SyncRequest::default(), &events).unwrap();
    let kept = kept.lock().unwrap();
    assert!(matches!(&kept[0], Event::Started { agent, .. } if agent == "sync"), "{:?}", kept[0]);
    assert_eq!(kept[1], Event::Progress { done: 0, total: 1, bytes: 0 });
    let steps = kept.iter().filter_map(|event| {
        if let Event::Step { text } = event { Some(text.clone()) } else { None }
    });
    let id = &report.sessions[0].id;
    let expected = ["extract", "decide", "commit", "index"];
    let expected = expected.map(|step| format!("{id} generic: {step}"));
    assert_eq!(steps.collect::<Vec<_>>(), expected);
}

#[test]
fn two_syncs_in_one_second_have_two_ids() {
    static N_ASKED: AtomicU8 = AtomicU8::new(0);
    let place = Place::new();
    let mut host = place.host();
    host.environment.random = |bytes| {
        bytes.fill(N_ASKED.fetch_add(1, Ordering::Relaxed));
        Ok(())
    };
    let run = || sync(&host, &SyncRequest::default(), &Events::discard()).unwrap().run;
    assert_ne!(run(), run());
}

#[test]
fn one_trace_is_synced_once() {
    let place = Place::new();
    let trace = place.talk("one", "Always use pnpm here, never npm.");
    let request = SyncTraceRequest { trace, ..SyncTraceRequest::default() };
    let first = sync_trace(&place.host(), &request, &Events::discard()).unwrap();
    let text = |report| serde_json::to_value(&report).unwrap();
    let first = text(first);
    assert_eq!(first["sessions"][0]["state"], "done", "{first:#}");
    assert_eq!(first["sessions"][0]["report"]["outcome"], "done");
    let second = text(sync_trace(&place.host(), &request, &Events::discard()).unwrap());
    assert_eq!(second["sessions"][0]["report"]["outcome"], "unchanged");
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let place = Place::new();
    let host = place.host();
    let unknown = SyncRequest { agents: vec!["emacs".to_owned()], ..SyncRequest::default() };
    let error = sync(&host, &unknown, &Events::discard()).unwrap_err();
    assert_eq!(error.code, ErrorCode::Usage);
    let names: Vec<&str> = agent_names().collect();
    assert_eq!(error.hints, [format!("The agents are {}", names.join(", "))]);
    let error = queue::retry(&host, &QueueChangeRequest::default()).unwrap_err();
    assert_eq!(error.code, ErrorCode::Usage);
    let which = QueueChangeRequest { id: Some("nothing".to_owned()), all: false };
    assert_eq!(queue::retry(&host, &which).unwrap_err().code, ErrorCode::NotFound);
}
