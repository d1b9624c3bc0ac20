//! Tests which of a model's texts are accepted and which are rejected.

use nacre_engine::model::Amount;
use nacre_engine::record::state::SpentOn;
use serde_json::json;

use nacre_types::{MaintainVerb, StoreMaintenance};

use super::*;
use crate::host::SpendingLimits;
use crate::test::{flow, no_limits, plenty};

const LONGER: (&str, &str) =
    ("Packages are installed with pnpm", "A second lock file is written by npm.");

/// Runs maintenance with a model that returns these texts in order.
fn with_model(world: &World, says: &[(&str, &str)]) -> StoreMaintenance {
    with_limits(world, says, no_limits())
}

fn with_limits(world: &World, says: &[(&str, &str)], spending: SpendingLimits) -> StoreMaintenance {
    let turn = |(title, body): &(&str, &str)| {
        let said = json!({ "title": title, "body": body });
        format!("[[turns]]\nsay = '''{said}'''\nusage = {{ input = 100, output = 20 }}\n")
    };
    let home = tempfile::tempdir().unwrap();
    let script = says.iter().map(turn).reduce(|all, turn| all + &turn);
    let models = flow(&home, script.as_deref().unwrap_or("turns = []"), spending);
    let on = SpentOn { project: None, session: "maintain".to_owned() };
    let asker = models.asker(on, day(20)).unwrap();
    let owner = owner();
    let ctx = FlowContext {
        store: &world.store,
        owner: &owner,
        patience: Duration::ZERO,
        now: day(20),
        clock: &|| Duration::ZERO,
        lead: None,
        reader: crate::sync::strategy::ReadingStrategy::offline(),
        remarks: &crate::sync::RemarkIndex::default(),
    };
    maintain_store(&ctx, &MaintainOptions::default(), Some(&asker), |_| {}).unwrap()
}

fn twins(speaker: Speaker) -> World {
    let world = World::new();
    world.say(0, PNPM.0, PNPM.1, speaker);
    world.say(9, LONGER.0, LONGER.1, speaker);
    world
}

#[test]
fn what_is_merged_is_written_anew_where_nothing_is_lost_and_nothing_invented() {
    let world = twins(Speaker::Assistant);
    let written = ("Install packages with pnpm, never with npm", "npm writes a second lock file.");
    let report = with_model(&world, &[written]);
    assert_eq!((report.model_calls, report.tokens), (1, 120));
    assert_eq!(report.counts[&MaintainVerb::Merge], 1, "{report:#?}");
    let kept = report.actions[0].with.clone().unwrap();
    assert_eq!(world.store.get(kept.as_str()).unwrap().title, written.0);
}

#[test]
fn the_users_words_are_never_written_by_a_model() {
    for speaker in [Speaker::User, Speaker::Human] {
        let world = twins(speaker);
        let written = ("Install packages with pnpm, never npm", "npm writes a second lock file.");
        let report = with_model(&world, &[written]);
        assert_eq!((report.model_calls, report.counts[&MaintainVerb::Merge]), (0, 1));
        let kept = report.actions[0].with.clone().unwrap();
        let title = world.store.get(kept.as_str()).unwrap().title;
        assert!([PNPM.0, LONGER.0].contains(&title.as_str()), "{title}");
    }
}

#[test]
fn a_text_that_invents_or_forgets_is_dropped_and_the_rule_merges() {
    for written in [
        ("Install packages with pnpm", "npm writes a second lock file, says the RFC 4711."),
        ("Install packages", "There is a second lock file."),
        ("", "npm writes a second lock file."),
        (
            "Do not install packages with pnpm any more",
            "From now on npm is used, pnpm is gone: a second lock file.",
        ),
    ] {
        let world = twins(Speaker::Assistant);
        let report = with_model(&world, &[written]);
        assert_eq!(report.counts[&MaintainVerb::Merge], 1, "{written:?}");
        let kept = report.actions[0].with.clone().unwrap();
        let title = world.store.get(kept.as_str()).unwrap().title;
        assert!([PNPM.0, LONGER.0].contains(&title.as_str()), "{title} of {written:?}");
    }
    // If a model does not respond, memories are still merged.
    assert_eq!(with_model(&twins(Speaker::Assistant), &[]).counts[&MaintainVerb::Merge], 1);
}

#[test]
fn a_limit_keeps_the_model_away_and_the_rule_merges() {
    let none_left = SpendingLimits { day: Amount { tokens: 1, ..plenty() }, ..no_limits() };
    let written = ("Install packages with pnpm, never with npm", "npm writes a second lock file.");
    let report = with_limits(&twins(Speaker::Assistant), &[written], none_left);
    assert_eq!((report.model_calls, report.tokens, report.counts[&MaintainVerb::Merge]), (0, 0, 1));
}

#[test]
fn short_memories_on_one_point_become_one() {
    let world = World::new();
    let parts = [
        ("The staging database has no backups", "Ask before dropping tables."),
        ("The staging database is behind the VPN", "It cannot be reached from CI."),
        ("The staging database runs Postgres 14", "Production is on 16."),
    ];
    for (on, (title, body)) in parts.iter().enumerate() {
        world.say(i64::try_from(on).unwrap(), title, body, Speaker::Assistant);
    }
    let body: Vec<String> = parts.iter().map(|(title, body)| format!("{title}. {body}")).collect();
    let report = with_model(&world, &[("The staging database", &body.join(" "))]);
    assert_eq!(report.counts[&MaintainVerb::Consolidate], 2, "{report:#?}");
    let active = world.store.list(|at| at.area == StoreArea::Active).unwrap().memories;
    let [one] = active.as_slice() else { panic!("{active:#?}") };
    assert!(parts.iter().all(|(_, body)| one.document.body().contains(body)));
    assert_eq!(world.store.evidence(&one.at.id).unwrap().unwrap().quotes.len(), 3);
    // Without a model, the memories remain unchanged.
    let world = World::new();
    for (on, (title, body)) in parts.iter().enumerate() {
        world.say(i64::try_from(on).unwrap(), title, body, Speaker::Assistant);
    }
    assert_eq!(World::told(&world.maintain(20)), Vec::<String>::new());
}
