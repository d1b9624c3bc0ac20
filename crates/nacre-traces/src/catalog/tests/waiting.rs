//! Tests why sessions wait, and how sessions are counted without a catalog.

use super::*;
use crate::agents::ADAPTERS;
use crate::agents::trace_at;
use crate::transcript::Sink;

#[test]
fn a_look_counts_the_sessions_of_one_repository_from_their_beginnings() {
    let world = World::new();
    world.write("one", "/work/shop", &["use sqlite", "and more", "and more"]);
    world.write("two", "/work/shop/src", &["use redis"]);
    world.write("silent", "/work/shop", &[]);
    world.write("inner", "/work/shop/inner/src", &["of another project"]);
    world.write("other", "/work/other", &["use mysql"]);
    let options = world.options();
    let inner = [PathBuf::from("/work/shop/inner")];
    let root = PathBuf::from("/work/shop");
    let found = look(&options.connections, || true);
    assert_eq!((found.folders.len(), found.sources, found.is_partial), (4, 5, false));
    assert_eq!(found.sessions_of(&root, &inner), [(Agent::Generic, 2)].into());
    let stopped = look(&options.connections, || false);
    assert_eq!((stopped.folders.len(), stopped.is_partial), (0, true));
    let trace = trace_at(&world.trace("one")).unwrap();
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == Agent::Generic).unwrap();
    let read = adapter.read(&trace, None, Sink::opening(&mut |_| {})).unwrap();
    assert_eq!(read.facts.counts.user, 1, "the rest of the file is not read");
}

#[test]
fn what_waits_is_counted_by_its_reason() {
    let mut world = World::new();
    world.write("old", "/work/shop", &["use sqlite"]);
    world.write("a", "/elsewhere/a", &["one"]);
    world.write("b", "/elsewhere/a", &["two"]);
    world.write("c", "/elsewhere/c", &["three"]);
    world.refresh();
    let waiting = world.catalog.waiting(world.now).unwrap();
    assert_eq!((waiting.ready, waiting.active, waiting.retried), (1, None, None));
    let folders = world.catalog.list_unregistered().unwrap();
    let folders = folders.iter().map(|folder| (folder.path.as_str(), folder.sessions));
    assert_eq!(folders.collect::<Vec<_>>(), [("/elsewhere/a", 2), ("/elsewhere/c", 1)]);
    let claim =
        world.catalog.claim("w", world.now, LEASE, ClaimOrder::OldestFirst).unwrap().unwrap();
    let failed = Outcome::Failed { reason: "no".to_owned() };
    world.catalog.finish(&claim, &failed, world.now).unwrap();
    let waiting = world.catalog.waiting(world.now).unwrap();
    let retried = waiting.retried.unwrap();
    assert_eq!((waiting.ready, retried.sessions, retried.example), (0, 1, claim.key));
}

#[test]
fn a_session_in_use_is_active_also_when_its_project_comes_later() {
    let mut world = World::new();
    world.projects.clear();
    world.now = Timestamp::now();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.append("one", &line("and now").replace("2026-11-01T00:00:00Z", &world.now.to_string()));
    world.refresh();
    assert_eq!(world.catalog.list_unregistered().unwrap().len(), 1);
    world.projects.push(PathBuf::from("/work/shop"));
    assert_eq!(world.refresh().readmitted, 1);
    let waiting = world.catalog.waiting(world.now).unwrap();
    let active = waiting.active.unwrap();
    assert_eq!((waiting.ready, active.sessions), (0, 1));
    assert!(active.ready_in > 0);
}

#[test]
fn a_session_copied_just_now_is_not_active() {
    let mut world = World::new();
    world.now = Timestamp::now();
    world.write("copied", "/work/shop", &["use sqlite"]);
    world.refresh();
    let waiting = world.catalog.waiting(world.now).unwrap();
    assert_eq!((waiting.ready, waiting.active), (1, None));
}

#[test]
fn a_session_without_a_directory_stays_in_the_project_it_was_assigned_to() {
    let mut world = World::new();
    world.write("chat", "", &["use sqlite"]);
    let text = fs::read_to_string(world.trace("chat")).unwrap();
    fs::write(world.trace("chat"), text.replace(",\"cwd\":\"\"", "")).unwrap();
    world.refresh();
    let without_folder = world.catalog.count_without_folder().unwrap();
    assert_eq!(without_folder, [("generic".to_owned(), 1)]);
    let key = world.catalog.session("chat").unwrap().key;
    world.catalog.assign(&key, "/work/shop", "run", world.now).unwrap();
    assert_eq!(world.catalog.count_without_folder().unwrap(), []);
    assert_eq!(world.search("sqlite", Some("/work/shop")), ["use sqlite"]);
    world.append("chat", &line("use sqlite everywhere"));
    world.refresh();
    assert_eq!(world.catalog.waiting(world.now).unwrap().ready, 1);
    assert_eq!(world.search("everywhere", Some("/work/shop")), ["use sqlite everywhere"]);
    world.check_conservation();
}

#[test]
fn the_sessions_of_an_adopted_directory_belong_to_its_project() {
    let mut world = World::new();
    world.write("before", "/old/shop/src", &["use sqlite"]);
    world.write("other", "/old/shopping", &["use mysql"]);
    let config = world.dir.path().join("clone/.git/config");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "[remote \"origin\"]\nurl = git@example.com:shop.git\n").unwrap();
    world.write("clone", &world.dir.path().join("clone").display().to_string(), &["one"]);
    world.refresh();
    let recorded = world.catalog.list_unregistered().unwrap();
    let recorded: Vec<_> = recorded.into_iter().filter_map(|folder| folder.repository).collect();
    assert_eq!(recorded, ["git@example.com:shop.git"]);
    let [folder, project] = ["/old/shop", "/work/shop"].map(PathBuf::from);
    world.adopted.insert(folder, project);
    assert_eq!(world.refresh().readmitted, 1);
    assert_eq!(world.search("use", Some("/work/shop")), ["use sqlite"]);
    // A project that has moved takes its sessions along.
    world.adopted = BTreeMap::from([(PathBuf::from("/work/shop"), PathBuf::from("/new/shop"))]);
    world.projects = vec!["/new/shop".into()];
    world.refresh();
    assert_eq!(world.search("use", Some("/new/shop")), ["use sqlite"]);
    world.check_conservation();
}

#[test]
fn what_was_said_before_a_project_was_registered_is_found_in_it() {
    let mut world = World::new();
    world.projects.clear();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    assert_eq!(world.search("sqlite", Some("/work/shop")), Vec::<String>::new());
    assert_eq!(world.search("sqlite", None), ["use sqlite"]);
    world.projects.push(PathBuf::from("/work/shop"));
    world.refresh();
    assert_eq!(world.search("sqlite", Some("/work/shop")), ["use sqlite"]);
}
