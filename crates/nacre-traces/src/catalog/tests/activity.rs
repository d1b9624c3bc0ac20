//! Tests the daily activity statistics.

use super::*;

/// Writes a session that used `input` tokens and whose last message was sent at `time`.
fn write(world: &World, name: &str, cwd: &str, time: &str, input: u64) {
    let text = format!(
        "{{\"type\":\"session\",\"version\":1,\"id\":\"{name}\",\"cwd\":\"{cwd}\"}}\n\
         {{\"type\":\"user\",\"text\":\"use sqlite in {name}\",\"time\":\"{time}\"}}\n\
         {{\"type\":\"end\",\"tokens\":{{\"input\":{input},\"output\":2,\"cached\":3,\"cache_write\":4,\"reasoning\":0}}}}\n"
    );
    fs::write(world.trace(name), text).unwrap();
}

#[test]
fn sessions_and_tokens_are_added_up_by_day() {
    let mut world = World::new();
    world.projects.push(PathBuf::from("/work/other"));
    write(&world, "one", "/work/shop", "2026-11-01T00:00:00Z", 10);
    write(&world, "two", "/work/shop", "2026-11-01T23:59:59Z", 20);
    write(&world, "three", "/work/shop", "2026-11-02T00:00:00Z", u64::MAX);
    write(&world, "four", "/work/other", "2026-11-02T10:00:00Z", 1);
    write(&world, "old", "/work/shop", "2026-10-31T23:59:59Z", 1);
    world.refresh();
    let since: Timestamp = "2026-11-01T00:00:00Z".parse().unwrap();
    let days = |project: Option<&str>| {
        let found = world.catalog.activity(project, since).unwrap();
        assert!(found.iter().all(|day| day.agent == "generic"));
        found.into_iter().map(|day| (day.day, day.sessions, day.output_tokens)).collect::<Vec<_>>()
    };
    let day = |day: &str, sessions: u64, output: u64| (day.to_owned(), sessions, output);
    assert_eq!(days(Some("/work/shop")), [day("2026-11-01", 2, 4), day("2026-11-02", 1, 2)]);
    assert_eq!(days(None), [day("2026-11-01", 2, 4), day("2026-11-02", 2, 4)]);
    assert_eq!(days(Some("/work/none")), []);
    let first = &world.catalog.activity(Some("/work/shop"), since).unwrap()[0];
    assert_eq!((first.input_tokens, first.cached_tokens), (30, 14));
    assert_eq!(first.last.to_string(), "2026-11-01T23:59:59Z");
}
