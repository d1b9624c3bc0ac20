//! A maintenance of a synthetic store, the short form of the example `maintain_store`.

use std::time::Duration;

use nacre_core::memory::{Rules, Store};
use nacre_core::safefs::{Access, Owner, WriteScope};
use nacre_core::search::Builtin;
use nacre_engine::flows::maintain::{MaintainOptions, MaintainOutcome, maintain};
use nacre_engine::flows::sync::FlowContext;

use corpus::{Sizes, plant};
use score::Score;

#[path = "../../examples/maintain_store/checkout.rs"]
mod checkout;
#[path = "../../examples/maintain_store/corpus.rs"]
mod corpus;
#[path = "../../examples/maintain_store/frames.rs"]
mod frames;
#[path = "../../examples/maintain_store/score.rs"]
mod score;

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
    let builtin = Builtin::shipped().unwrap();
    let ctx = FlowContext {
        store: &store,
        embedder: &builtin,
        builtin: &builtin,
        owner: &owner,
        patience: Duration::ZERO,
        now: "2026-11-15T08:30:00Z".parse().unwrap(),
        clock: &|| Duration::ZERO,
        lead: None,
        reader: nacre_engine::flows::strategy::Reader::offline(),
    };
    let order = MaintainOptions { checkout: Some(checkout::opened(dir.path())), force: false };
    let report = maintain(&ctx, &order, None, |_| {}).unwrap();
    let score = Score::of(&corpus, &report);
    assert!(score.precision() >= 0.98, "{:.3}: {:#?}", score.precision(), score.wrong);
    assert!(score.recall() >= 0.85, "{:.3}: {:?} {:#?}", score.recall(), score.found, score.missed);
    let again = maintain(&ctx, &MaintainOptions { force: true, ..order }, None, |_| {}).unwrap();
    assert_eq!(again.outcome, MaintainOutcome::Clean, "{:#?}", again.actions);
}
