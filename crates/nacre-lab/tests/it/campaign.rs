//! A short version of the campaign: hostile tool calls must not violate any guarantee.

use crate::lab::Lab;

#[test]
fn hostile_calls_change_nothing_outside_the_scope_of_an_agent() {
    let shown = Lab::new().ok(&["campaign", "300", "7"]);
    assert!(shown.contains("Worker"), "{shown}");
}
