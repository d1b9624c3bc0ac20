//! What a model may write, and what is dropped of it.

use super::*;

const LONGER: (&str, &str) =
    ("Packages are installed with pnpm", "A second lock file is written by npm.");

fn with_scribe(world: &World, scribe: Scribe<'_>) -> MaintainReport {
    let owner = owner();
    let desk = Desk {
        store: &world.store,
        embedder: &world.builtin,
        builtin: &world.builtin,
        owner: &owner,
        patience: Duration::ZERO,
        now: day(20),
        clock: &|| Duration::ZERO,
        lead: None,
        reader: crate::flows::strategy::Reader::offline(),
    };
    maintain(&desk, &MaintainOrder::default(), Some(scribe), |_| {}).unwrap()
}

fn text(title: &str, body: &str) -> Text {
    Text { title: title.to_owned(), body: body.to_owned() }
}

fn twins() -> World {
    let world = World::new();
    world.say(0, PNPM.0, PNPM.1, Speaker::User);
    world.say(9, LONGER.0, LONGER.1, Speaker::User);
    world
}

#[test]
fn what_is_merged_is_written_anew_where_nothing_is_lost_and_nothing_invented() {
    let world = twins();
    let written =
        text("Install packages with pnpm, never with npm", "npm writes a second lock file.");
    let report = with_scribe(&world, &|_| Ok(written.clone()));
    assert_eq!((report.model_calls, report.counts["merge"]), (1, 1), "{report:#?}");
    let kept = report.actions[0].with.clone().unwrap();
    assert_eq!(world.store.get(kept.as_str()).unwrap().title, written.title);
}

#[test]
fn a_text_that_invents_or_forgets_is_dropped_and_the_rule_merges() {
    for written in [
        text("Install packages with pnpm", "npm writes a second lock file, says the RFC 4711."),
        text("Install packages", "There is a second lock file."),
        text("", "npm writes a second lock file."),
        text(
            "Do not install packages with pnpm any more",
            "From now on npm is used, pnpm is gone: a second lock file.",
        ),
    ] {
        let world = twins();
        let report = with_scribe(&world, &|_| Ok(written.clone()));
        assert_eq!(report.counts["merge"], 1, "{written:?}");
        let kept = report.actions[0].with.clone().unwrap();
        let title = world.store.get(kept.as_str()).unwrap().title;
        assert!([PNPM.0, LONGER.0].contains(&title.as_str()), "{title} of {written:?}");
    }
    let report = with_scribe(&twins(), &|_| Err("no answer".to_owned()));
    assert_eq!(report.counts["merge"], 1);
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
        world.say(i64::try_from(on).unwrap(), title, body, Speaker::User);
    }
    let joined = |sources: &[Text]| {
        let body: Vec<String> =
            sources.iter().map(|text| format!("{}. {}", text.title, text.body)).collect();
        Ok(text("The staging database", &body.join("\n\n")))
    };
    let report = with_scribe(&world, &joined);
    assert_eq!(report.counts["consolidate"], 2, "{report:#?}");
    let active = world.store.list(|at| at.shelf == Shelf::Active).unwrap().memories;
    let [one] = active.as_slice() else { panic!("{active:#?}") };
    assert!(parts.iter().all(|(_, body)| one.document.body().contains(body)));
    assert_eq!(world.store.evidence(&one.at.id).unwrap().unwrap().quotes.len(), 3);
    // Without a model they stay as they are.
    let world = World::new();
    for (on, (title, body)) in parts.iter().enumerate() {
        world.say(i64::try_from(on).unwrap(), title, body, Speaker::User);
    }
    assert_eq!(World::told(&world.maintain(20)), Vec::<String>::new());
}
