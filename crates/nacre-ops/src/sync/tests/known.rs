//! Tests syncing with a model that says which memory a claim replaces or confirms.

use std::time::Duration;

use nacre_base::config::StrategyChoice;
use nacre_base::fs::Owner;
use nacre_memory::{Claim, Draft, LearningKind, Quote, Speaker, Status, Trust};
use serde_json::json;

use super::edits::Place;
use crate::sync::strategy::ReadingStrategy;
use crate::sync::strategy::tests::{nothing_doubted, script, summary, turn};
use crate::test::{flow, no_limits};

/// Adds the user's rule about UTC on this day.
fn add_rule(place: &Place, day: &str) -> String {
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    let mut batch = place.store.begin(&owner, Duration::ZERO).unwrap();
    let draft = Draft {
        claim: Claim::Learning(LearningKind::Convention),
        title: "Store all times in UTC".to_owned(),
        body: "Local times broke the report in Auckland twice.".to_owned(),
        tags: Vec::new(),
        applies: Vec::new(),
        related: Vec::new(),
        source: "human".to_owned(),
        confidence: 0.9,
        basis: None,
        importance: None,
        quotes: vec![Quote {
            text: "Store all times in UTC".to_owned(),
            speaker: Speaker::Human,
            place: String::new(),
            at: String::new(),
        }],
        limit: Trust::Human,
    };
    let id = batch.add(&draft, format!("{day}T08:00:00Z").parse().unwrap()).unwrap();
    batch.commit().unwrap();
    id.to_string()
}

#[test]
fn a_model_may_replace_a_persons_rule_only_with_the_persons_words() {
    let restated = "From now on store all times in UTC please.";
    let reversed = "We no longer store all times in UTC, use local times instead.";
    let silent = "Show the local times of the report in the header please.";
    let utc = "All times are stored in UTC";
    let local = "Times are stored as local times, not in UTC";
    for (said, field, title, day, is_confirmed, status) in [
        (restated, "replaces", utc, "2026-10-01", true, Status::Active),
        (restated, "confirms", utc, "2026-10-01", true, Status::Active),
        (reversed, "replaces", local, "2026-10-01", false, Status::Superseded),
        (silent, "replaces", local, "2026-10-01", false, Status::Active),
        (reversed, "replaces", local, "2026-11-20", false, Status::Active),
    ] {
        let (place, home) = (Place::new(), tempfile::tempdir().unwrap());
        let id = add_rule(&place, day);
        let mut claim = json!({ "type": "decision", "kind": "none", "title": title,
            "body": "The person wants this in all tables and in the export.", "basis": "stated",
            "found_in": "nowhere", "importance": 3, "quotes": [{ "event": 2, "text": said }] });
        claim[field] = json!("m1");
        let answer = json!({ "candidates": [claim], "summary": summary("Times") });
        let asked = ["m1 (learning, ", "Store all times in UTC"];
        let turns = [turn(&asked, "session_reading", &answer), nothing_doubted()];
        let models = flow(&home, &script(&turns), no_limits());
        let reader =
            ReadingStrategy { choice: StrategyChoice::Auto, models: Some(models.project()) };
        let trace = place.talk("one", 5, &["Add the times to the export of the report", said]);
        let report = place.sync_by(&trace, reader, None, |_| {}).unwrap();
        let case = format!("{said} {field} {day}: {:#?}", report.actions);
        assert_eq!(place.store.get(&id).unwrap().status, status, "{case}");
        let state = place.store.state(&id.parse().unwrap()).unwrap();
        let n_confirmed = state.map_or(0, |state| state.confirmations);
        assert_eq!(n_confirmed > 0, is_confirmed, "{case}");
        for path in report.written_paths.iter().filter(|path| path.contains("decisions/")) {
            let id = path.rsplit_once('/').unwrap().1.trim_end_matches(".md");
            assert_eq!(place.store.get(id).unwrap().importance(), Some(3), "{path}");
        }
    }
}
