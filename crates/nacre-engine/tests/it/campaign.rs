//! The short form of `examples/campaign`: hostile tool calls, and nothing that they could break is broken.

#![expect(clippy::disallowed_methods, reason = "the campaign owns its clock and its folders")]

#[path = "../../examples/campaign/calls.rs"]
mod calls;
#[path = "../../examples/campaign/drive.rs"]
mod drive;
#[path = "../../examples/campaign/rng.rs"]
mod rng;
#[path = "../../examples/campaign/site.rs"]
mod site;

use drive::{Agent, campaign};

#[test]
fn hostile_calls_change_nothing_outside_the_scope_of_the_lead() {
    let report = campaign(Agent::Lead, 400, 7);
    assert!(report.broken.is_empty(), "{report}");
}

#[test]
fn hostile_calls_change_nothing_under_an_explorer() {
    let report = campaign(Agent::Explorer, 400, 8);
    assert!(report.broken.is_empty(), "{report}");
}
