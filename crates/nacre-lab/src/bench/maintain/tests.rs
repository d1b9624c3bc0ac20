//! A short version of the maintenance benchmark on a synthetic store.

use std::time::Duration;

use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_memory::{Rules, Store};
use nacre_ops::maintain::{MaintainOptions, maintain_store};
use nacre_ops::sync::pipeline::FlowContext;
use nacre_types::MaintainState;

use super::checkout;
use super::corpus::{Sizes, plant};
use super::score::Score;

#[test]
fn what_was_planted_is_found_and_the_rest_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let sizes = Sizes { stay: 240, copies: 18, paraphrases: 18, contradictions: 12, stale: 12 };
    checkout::make(dir.path(), sizes.stale).unwrap();
    let scope = WriteScope::create_inside(dir.path(), ".nacre", Access::Shared).unwrap();
    let store = Store::new(scope, Rules::default());
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    let mut batch = store.begin(&owner, Duration::ZERO).unwrap();
    let start = "2026-06-01T00:00:00Z".parse().unwrap();
    let corpus = plant(&mut batch, sizes, 1, start).unwrap();
    batch.commit().unwrap();
    let ctx = FlowContext {
        store: &store,
        owner: &owner,
        patience: Duration::ZERO,
        now: "2026-11-15T08:30:00Z".parse().unwrap(),
        clock: &|| Duration::ZERO,
        lead: None,
        reader: nacre_ops::sync::strategy::ReadingStrategy::offline(),
        remarks: &nacre_ops::sync::RemarkIndex::default(),
    };
    let order = MaintainOptions { checkout: Some(checkout::open(dir.path())), force: false };
    let report = maintain_store(&ctx, &order, None, |_| {}).unwrap();
    let score = Score::of(&corpus, &report);
    assert!(score.precision() >= 0.98, "{:.3}: {:#?}", score.precision(), score.wrong);
    assert!(score.recall() >= 0.85, "{:.3}: {:?} {:#?}", score.recall(), score.found, score.missed);
    let again =
        maintain_store(&ctx, &MaintainOptions { force: true, ..order }, None, |_| {}).unwrap();
    assert_eq!(again.outcome, MaintainState::Clean, "{:#?}", again.actions);
}
