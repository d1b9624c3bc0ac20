//! Tests which sessions a redaction list applies to, and what happens when it changes.

use super::*;
use nacre_base::redact::ExtraWords;
use std::ops::ControlFlow;

fn make_words(words: &[&str]) -> ProjectWords {
    ProjectWords::Known(list(words))
}

fn list(words: &[&str]) -> ExtraWords {
    ExtraWords::new(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
}

impl World {
    fn refresh_under(&mut self, lists: &[(&str, ProjectWords)]) -> RefreshReport {
        let projects = lists.iter().map(|(root, words)| (PathBuf::from(root), words.clone()));
        let words = WordLists { own: ExtraWords::default(), projects: projects.collect() };
        let options = RefreshOptions { words, ..self.options() };
        self.catalog.refresh(&options, |_| ControlFlow::Continue(())).unwrap()
    }

    fn texts(&self) -> Vec<String> {
        let mut statement =
            self.catalog.connection.prepare("SELECT text FROM message ORDER BY text").unwrap();
        let texts = statement.query_map([], |row| row.get(0)).unwrap();
        texts.collect::<Result<_, _>>().unwrap()
    }
}

fn two_projects() -> World {
    let mut world = World::new();
    world.projects.push(PathBuf::from("/work/bank"));
    world.write("one", "/work/shop", &["ship it to Quillhaven"]);
    world.write("two", "/work/bank", &["send it to Quillhaven"]);
    world
}

#[test]
fn a_list_holds_for_its_project_alone() {
    let mut world = two_projects();
    world.refresh_under(&[
        ("/work/shop", make_words(&["Quillhaven"])),
        ("/work/bank", make_words(&[])),
    ]);
    assert_eq!(world.texts(), ["send it to Quillhaven", "ship it to [redacted:extra]"]);
    let again = world.refresh_under(&[
        ("/work/shop", make_words(&["Quillhaven"])),
        ("/work/bank", make_words(&[])),
    ]);
    assert_eq!((again.read, again.reworded, again.unchanged), (0, 0, 2));
}

#[test]
fn a_changed_list_is_applied_at_once_and_its_sessions_are_read_again() {
    let mut world = two_projects();
    world.refresh_under(&[]);
    let before = world.states();
    let report = world.refresh_under(&[("/work/shop", make_words(&["Quillhaven"]))]);
    assert_eq!((report.read, report.reworded, report.unchanged), (1, 1, 1));
    assert_eq!(world.texts(), ["send it to Quillhaven", "ship it to [redacted:extra]"]);
    assert_eq!(world.search("quillhaven", None), ["send it to Quillhaven"]);
    assert_eq!(world.states(), before);
    let back = world.refresh_under(&[("/work/shop", make_words(&[]))]);
    assert_eq!((back.read, back.reworded), (1, 0));
    assert_eq!(world.texts(), ["send it to Quillhaven", "ship it to Quillhaven"]);
}

#[test]
fn a_done_session_that_is_read_again_for_its_words_stays_done() {
    let mut world = two_projects();
    world.refresh_under(&[]);
    while let Some(claim) =
        world.catalog.claim("t", world.now, LEASE, ClaimOrder::OldestFirst).unwrap()
    {
        let done = Outcome::Done { run: "r".to_owned() };
        world.catalog.finish(&claim, &done, world.now).unwrap();
    }
    let report = world.refresh_under(&[("/work/shop", make_words(&["Quillhaven"]))]);
    assert_eq!(report.read, 1);
    assert!(world.states().iter().all(|(_, state, _)| *state == "done"), "{:?}", world.states());
    // Later messages still count as new content.
    world.append("one", &line("and to Quillhaven again"));
    world.refresh_under(&[("/work/shop", make_words(&["Quillhaven"]))]);
    assert_eq!(world.states()[0].1, "pending");
}

#[test]
fn nothing_is_kept_of_a_project_whose_list_is_not_known() {
    let mut world = two_projects();
    let unreadable = ProjectWords::Unreadable("line 3 is wrong".to_owned());
    let report = world.refresh_under(&[("/work/shop", unreadable)]);
    assert_eq!(report.problems[0].reason, "line 3 is wrong");
    assert_eq!(world.texts(), ["send it to Quillhaven"]);
    world.check_conservation();
    world.refresh_under(&[("/work/shop", make_words(&["Quillhaven"]))]);
    assert_eq!(world.texts(), ["send it to Quillhaven", "ship it to [redacted:extra]"]);
    assert!(world.states().iter().all(|(_, state, _)| *state == "pending"));
}
