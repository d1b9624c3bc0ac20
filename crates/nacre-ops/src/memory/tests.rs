//! Tests memory operations without a process or a terminal.

use nacre_types::{
    EdgeKind, ErrorCode, GraphReport, GraphRequest, MemoryAddRequest, MemoryChange,
    MemoryIdsRequest, MemoryListRequest, MemorySearchRequest, MemoryShowReport, MemoryShowRequest,
    MemorySort, MemoryWriteRequest, Outcome, Report as _, Scope,
};
use tempfile::TempDir;

use super::*;
use crate::events::Events;
use crate::host::Host;
use crate::test::host;

fn added(host: &Host, title: &str) -> String {
    let request = MemoryAddRequest {
        title: title.to_owned(),
        scope: Some(Scope::GlobalOnly),
        ..MemoryAddRequest::default()
    };
    add(host, &request, &Events::discard()).unwrap().id
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
    let report = archive(&host, &request, &Events::discard()).unwrap();
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
    let report = forget(&host, &request, &Events::discard()).unwrap();
    assert_eq!((report.outcome(), &report.ids), (Outcome::Partial, &vec![id]));
    assert_eq!(report.failed[0].failure.code, ErrorCode::NotFound);
    let request = MemoryIdsRequest { ids: vec!["20200101-gone".to_owned()], scope: None };
    let error = forget(&host, &request, &Events::discard()).unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
}

fn shown(host: &Host, id: &str) -> MemoryShowReport {
    let request = MemoryShowRequest { id: id.to_owned(), text: true, ..Default::default() };
    show(host, &request, &Events::discard()).unwrap()
}

#[test]
fn a_text_is_written_only_over_the_version_that_was_read() {
    let place = TempDir::new().unwrap();
    let host = host(&place);
    let id = added(&host, "Use SQLite for the queue");
    let read = shown(&host, &id);
    let write_text = |text: String, version: &str| {
        let version = Some(version.to_owned());
        let request = MemoryWriteRequest { id: id.clone(), text, version, scope: None };
        write(&host, &request, &Events::discard())
    };
    let before = read.text.unwrap();
    let after = format!("{before}\nOne file, key sk-ant-api03-{}.\n", "Zk9".repeat(30));
    let report = write_text(after, &read.version).unwrap();
    assert_eq!((report.done, report.id.as_str()), (MemoryChange::Edited, id.as_str()));
    assert!(report.change.is_some(), "it can be undone");
    let now = shown(&host, &id);
    assert!(now.body.contains("One file, key [redacted:"), "{}", now.body);
    assert_ne!(now.version, read.version);

    let error = write_text(before, &read.version).unwrap_err();
    assert_eq!(error.code, ErrorCode::Conflict);
    let text = now.text.unwrap();
    assert_eq!(shown(&host, &id).text.as_deref(), Some(text.as_str()), "it is as it was");
    let same = write_text(text, &now.version).unwrap();
    assert_eq!((same.done, same.change), (MemoryChange::LeftUnchanged, None));
    let error = write_text("no frontmatter".to_owned(), &now.version).unwrap_err();
    assert_eq!(error.code, ErrorCode::Invalid);
}

#[test]
fn a_graph_shows_the_memories_with_most_edges() {
    let place = TempDir::new().unwrap();
    let host = host(&place);
    let alone = added(&host, "Tests run in UTC");
    let old = added(&host, "Use Redis for the queue");
    let add_tagged = |title: &str, supersedes: Option<&String>| {
        let request = MemoryAddRequest {
            title: title.to_owned(),
            tags: vec!["Queue".to_owned()],
            supersedes: supersedes.cloned(),
            scope: Some(Scope::GlobalOnly),
            ..MemoryAddRequest::default()
        };
        add(&host, &request, &Events::discard()).unwrap().id
    };
    let new = add_tagged("Use SQLite for the queue", Some(&old));
    let tagged = add_tagged("Jobs are retried three times", None);
    let graph_of =
        |limit: Option<usize>| graph(&host, &GraphRequest { limit, ..GraphRequest::default() });
    let GraphReport { nodes, edges, left_out, left_out_edges } = graph_of(None).unwrap();
    let degrees: Vec<(&str, usize)> =
        nodes.iter().map(|node| (node.memory.id.as_str(), node.degree)).collect();
    assert_eq!((degrees[0], degrees[3]), ((new.as_str(), 2), (alone.as_str(), 0)));
    assert_eq!((left_out, left_out_edges), (0, 0));
    let edges: Vec<_> = edges.iter().map(|edge| (edge.kind, edge.shared.as_deref())).collect();
    assert_eq!(edges, [(EdgeKind::Supersedes, None), (EdgeKind::SharedTag, Some("Queue"))]);

    let two = graph_of(Some(2)).unwrap();
    assert_eq!((two.nodes.len(), two.edges.len(), two.left_out), (2, 1, 2));
    assert!(two.edges[0].to == old || two.edges.iter().any(|edge| edge.shared.is_some()));
    assert!([&old, &tagged].contains(&&two.nodes[1].memory.id));
    assert_eq!(graph_of(Some(5001)).unwrap_err().code, ErrorCode::Usage);
}

#[test]
fn a_list_is_sorted_and_read_page_by_page() {
    let place = TempDir::new().unwrap();
    let host = host(&place);
    for title in ["b Use SQLite", "C Tests run in UTC", "a Keep logs"] {
        added(&host, title);
    }
    let page = |sort: MemorySort, offset: usize| {
        let request = MemoryListRequest {
            sort: Some(sort),
            offset,
            limit: Some(2),
            ..MemoryListRequest::default()
        };
        let report = list(&host, &request).unwrap();
        assert_eq!(report.total, 3);
        let titles = report.memories.into_iter().map(|memory| memory.title[..1].to_owned());
        titles.collect::<String>()
    };
    assert_eq!([0, 2, 9].map(|offset| page(MemorySort::Title, offset)), ["ab", "C", ""]);
    assert_eq!(page(MemorySort::TitleDescending, 0), "Cb");
    for sort in MemorySort::ALL {
        let written = serde_json::to_string(&sort).unwrap();
        assert_eq!(written, format!("\"{}\"", sort.as_str()));
    }
}

#[test]
fn a_request_says_only_what_an_operation_knows() {
    let parsed: MemorySearchRequest = serde_json::from_str(r#"{"query":"sqlite"}"#).unwrap();
    assert_eq!(parsed, MemorySearchRequest { query: "sqlite".to_owned(), ..Default::default() });
    let unknown = serde_json::from_str::<MemorySearchRequest>(r#"{"query":"x","limits":3}"#);
    assert!(unknown.is_err());
}
