//! Tests decisions about several candidates in one request.

use nacre_memory::{Claim, Draft, Trust};
use nacre_types::{
    ErrorCode, MemoryChange, MemoryChangesReport, ReviewDecideRequest, ReviewDecision,
    ReviewListRequest, Scope,
};
use tempfile::TempDir;

use super::*;
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;
use crate::test::host;

fn candidate(host: &Host, title: &str) -> String {
    let store = host.store_to_write(Some(Scope::GlobalOnly)).unwrap().store;
    let mut batch = store.begin(&host.owner("test"), host.settings().lock.wait).unwrap();
    let draft = Draft {
        claim: Claim::Decision,
        title: title.to_owned(),
        body: "Because it was said so.".to_owned(),
        tags: Vec::new(),
        applies: Vec::new(),
        related: Vec::new(),
        source: "test".to_owned(),
        confidence: 0.7,
        basis: None,
        importance: None,
        quotes: Vec::new(),
        limit: Trust::Human,
    };
    let id = batch.add_candidate(&draft, host.now()).unwrap();
    batch.commit().unwrap();
    id.to_string()
}

fn decided(
    host: &Host,
    id: &str,
    decision: ReviewDecision,
    supersedes: Option<&str>,
) -> Result<MemoryChangesReport, OpError> {
    let supersedes = supersedes.map(str::to_owned);
    let request =
        ReviewDecideRequest { ids: vec![id.to_owned()], decision, supersedes, scope: None };
    decide(host, &request, &Events::discard())
}

#[test]
fn what_is_decided_waits_no_more() {
    let place = TempDir::new().unwrap();
    let host = host(&place);
    let [kept, dropped] = ["Use SQLite", "Use Redis"].map(|title| candidate(&host, title));
    let waiting = || list(&host, &ReviewListRequest::default()).unwrap().total;
    assert_eq!(waiting(), 2);
    let accepted = decided(&host, &kept, ReviewDecision::Accept, None).unwrap();
    assert_eq!((accepted.done, &accepted.ids), (MemoryChange::Accepted, &vec![kept.clone()]));
    let error = decided(&host, &dropped, ReviewDecision::Reject, Some(&kept)).unwrap_err();
    assert_eq!((error.code, waiting()), (ErrorCode::Usage, 1));
    let rejected = decided(&host, &dropped, ReviewDecision::Reject, None).unwrap();
    assert_eq!((rejected.done, &rejected.ids), (MemoryChange::Rejected, &vec![dropped]));
    assert_eq!(waiting(), 0);
    let error = decided(&host, &kept, ReviewDecision::Reject, None).unwrap_err();
    assert_eq!(error.code, ErrorCode::Conflict, "it is not a candidate any more");
}
