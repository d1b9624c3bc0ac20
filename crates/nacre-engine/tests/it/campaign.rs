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

use std::path::Path;

use drive::{Agent, campaign};

#[test]
fn hostile_calls_change_nothing_outside_the_scope_of_an_agent() {
    let helper = Path::new(env!("CARGO_BIN_EXE_nacre-test-helper"));
    for agent in Agent::ALL {
        let report = campaign(agent, 300, 7, helper);
        assert!(report.broken.is_empty(), "{report}");
    }
}
