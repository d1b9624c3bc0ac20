//! Memories through operations alone: no process, no terminal.

use std::sync::Arc;
use std::time::Duration;

use nacre_api::wire::{
    ErrorCode, MemoryAddRequest, MemoryIdsRequest, MemorySearchRequest, Outcome, Report as _, Scope,
};
use tempfile::TempDir;

use super::*;
use crate::events::Events;
use crate::host::{Environment, Host, OpenOptions};

/// A host of its own: its time stands still, and it has a home and no project.
fn host(place: &TempDir) -> Host {
    let now = "2026-11-15T08:30:00Z".parse().unwrap();
    let environment = Environment {
        vars: Vec::new(),
        garbled_vars: Vec::new(),
        folder: place.path().to_owned(),
        is_folder_gone: false,
        home: Some(place.path().to_owned()),
        host: None,
        pid: 1,
        program: None,
        clock: Arc::new(move || now),
        uptime: Arc::new(|| Duration::ZERO),
        random: |_| Ok(()),
    };
    Host::open(environment, &OpenOptions::default()).host.unwrap()
}

fn added(host: &Host, title: &str) -> String {
    let request = MemoryAddRequest {
        title: title.to_owned(),
        scope: Some(Scope::GlobalOnly),
        ..MemoryAddRequest::default()
    };
    add(host, &request, &Events::ignored()).unwrap().id
}

fn found(host: &Host, query: &str) -> Vec<String> {
    let request = MemorySearchRequest { query: query.to_owned(), ..Default::default() };
    search(host, &request).unwrap().hits.into_iter().map(|hit| hit.memory.id).collect()
}

#[test]
fn what_was_added_is_found_until_it_is_archived() {
    let place = TempDir::new().unwrap();
    let host = host(&place);
    let sqlite = added(&host, "Use SQLite for the queue");
    let other = added(&host, "Tests run in UTC");
    assert_eq!(found(&host, "sqlite queue").first(), Some(&sqlite));
    let request = MemoryIdsRequest { ids: vec![sqlite.clone()], scope: None };
    let report = archive(&host, &request, &Events::ignored()).unwrap();
    assert_eq!((report.outcome(), &report.ids), (Outcome::Done, &request.ids));
    assert!(!found(&host, "sqlite queue").contains(&sqlite));
    assert_eq!(found(&host, "tests utc"), [other]);
}

#[test]
fn of_several_memories_those_that_can_be_changed_are() {
    let place = TempDir::new().unwrap();
    let host = host(&place);
    let id = added(&host, "Use SQLite for the queue");
    let request =
        MemoryIdsRequest { ids: vec!["20200101-gone".to_owned(), id.clone()], scope: None };
    let report = forget(&host, &request, &Events::ignored()).unwrap();
    assert_eq!((report.outcome(), &report.ids), (Outcome::Partial, &vec![id]));
    assert_eq!(report.failed[0].failure.code, ErrorCode::NotFound);
    let request = MemoryIdsRequest { ids: vec!["20200101-gone".to_owned()], scope: None };
    let error = forget(&host, &request, &Events::ignored()).unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
}

#[test]
fn a_request_says_only_what_an_operation_knows() {
    let parsed: MemorySearchRequest = serde_json::from_str(r#"{"query":"sqlite"}"#).unwrap();
    assert_eq!(parsed, MemorySearchRequest { query: "sqlite".to_owned(), ..Default::default() });
    let unknown = serde_json::from_str::<MemorySearchRequest>(r#"{"query":"x","limits":3}"#);
    assert!(unknown.is_err());
}
