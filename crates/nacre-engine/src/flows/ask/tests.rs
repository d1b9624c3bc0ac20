//! Tests that users see only valid answers, whatever a model writes.

#![expect(clippy::disallowed_methods, reason = "the tests play the person who writes files")]

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_memory::{Claim, Draft, LearningKind, MemoryId, Rules, Store, Trust};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::tools::{MemoryHandle, Seen};

mod cheats;

struct World {
    _folder: TempDir,
    stores: Vec<MemoryHandle>,
    seen: Seen,
}

const QUEUE: &str = "20261115-the-queue-is-a-sqlite-table";
const REDIS: &str = "20261115-the-queue-is-in-redis";
const ZONE: &str = "20261115-tests-run-with-tz-utc";
const OLD: &str = "20261115-deploy-by-hand";
const UNSHOWN: &str = "20261115-cookies-are-signed";
const PLACE: &str = "ab12cd34:7";

fn now() -> Timestamp {
    "2026-11-15T08:30:00Z".parse().unwrap()
}

fn draft(title: &str, body: &str) -> Draft {
    Draft {
        claim: Claim::Learning(LearningKind::Insight),
        title: title.to_owned(),
        body: body.to_owned(),
        tags: Vec::new(),
        applies: Vec::new(),
        related: Vec::new(),
        source: "human".to_owned(),
        confidence: 0.8,
        basis: None,
        importance: None,
        quotes: Vec::new(),
        limit: Trust::Human,
    }
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    let scope = WriteScope::open(folder.path(), Access::Private).unwrap();
    nacre_memory::init(&scope.lock(&owner, Duration::ZERO).unwrap(), "", false).unwrap();
    let store = Store::new(scope, Rules::default());
    let now = now();
    let mut batch = store.begin(&owner, Duration::ZERO).unwrap();
    for (title, body) in [
        ("The queue is in Redis", "It is fast."),
        ("Tests run with TZ=UTC", "Or the report fails late in the evening."),
        ("Deploy by hand", "With the script."),
        ("Cookies are signed", "No state on the server."),
    ] {
        batch.add(&draft(title, body), now).unwrap();
    }
    batch.commit().unwrap();
    let mut batch = store.begin(&owner, Duration::ZERO).unwrap();
    let newer = draft("The queue is a SQLite table", "One file to back up.");
    batch.supersede(&REDIS.parse().unwrap(), &newer, now).unwrap();
    batch.archive(OLD, now).unwrap();
    batch.commit().unwrap();
    let memories = MemoryHandle {
        store: Arc::new(store),
        owner,
        patience: Duration::ZERO,
        source: "ask".to_owned(),
        is_claims_only: false,
    };
    let seen = Seen::default();
    for id in [QUEUE, REDIS, ZONE, OLD, "20261115-the-queue", "20200101-gone"] {
        seen.note(id, "what was shown");
    }
    seen.note(PLACE, "let us keep the queue in one file");
    World { _folder: folder, stores: vec![memories], seen }
}

impl World {
    fn answer(&self, text: &str) -> Answer {
        Answer::check(text, &Verifier { stores: &self.stores, seen: &self.seen, now: now() })
    }

    fn doubt(&self, text: &str) -> Option<Doubt> {
        let answer = self.answer(text);
        assert!(answer.said.len() + answer.n_left_out() == 1, "{text}: {answer:?}");
        answer.doubts.into_keys().next()
    }
}

#[test]
fn a_sentence_is_shown_only_if_all_it_cites_holds() {
    let world = world();
    for (sentence, expected) in [
        (format!("The queue is a table [{QUEUE}]."), None),
        (format!("The queue is a table. [{QUEUE}]"), None),
        (format!("The queue, not the tests, is a table [{QUEUE}][{ZONE}]."), None),
        (format!("The queue is a table [{QUEUE}] and tests run with UTC [{ZONE}]."), None),
        (format!("The queue is a table [{QUEUE}] and it is fast."), None),
        (format!("The queue is a slow table [{QUEUE}]."), None),
        (format!("The queue is in Redis [{REDIS}][{QUEUE}]."), None),
        (format!("The queue is one file [{PLACE}]."), None),
        (format!("The queue moved from Redis to SQLite [{REDIS}][{QUEUE}]."), None),
        ("The queue is a table.".to_owned(), Some(Doubt::NoSource)),
        ("The queue is a table [1].".to_owned(), Some(Doubt::NotShown)),
        ("The queue is a table [].".to_owned(), Some(Doubt::NotShown)),
        ("The queue is a table [20260101-made-up].".to_owned(), Some(Doubt::NotShown)),
        (format!("The queue is a table [{QUEUE}-2]."), Some(Doubt::NotShown)),
        (format!("The queue is a table [{QUEUE}][mem-42]."), Some(Doubt::NotShown)),
        (format!("The queue is a table [{QUEUE}], see 20260101-made-up."), Some(Doubt::NotShown)),
        (format!("The cookies of the queue are signed [{UNSHOWN}]."), Some(Doubt::NotShown)),
        (format!("The queue [file]({QUEUE}) is a table."), Some(Doubt::NotShown)),
        ("The queue is a table [20261115-the-queue].".to_owned(), Some(Doubt::Gone)),
        ("It is gone [20200101-gone].".to_owned(), Some(Doubt::Gone)),
        (format!("Deploy by hand [{OLD}]."), Some(Doubt::Archived)),
        (format!("The queue is in Redis [{REDIS}]."), Some(Doubt::Overturned)),
        (format!("Tests want the queue in Redis [{REDIS}][{ZONE}]."), Some(Doubt::Overturned)),
        (format!("Zebras eat grass [{ZONE}]."), Some(Doubt::Unrelated)),
        (format!("The queue has 17 tables of Oracle [{QUEUE}]."), None),
    ] {
        assert_eq!(world.doubt(&sentence), expected, "{sentence}");
    }
}

#[test]
fn a_memory_that_only_a_newer_file_overturns_is_not_shown_alone() {
    let world = world();
    let id = "20261116-deploys-run-in-utc";
    let text = format!(
        "---\nid: {id}\ntitle: Tests run in CET\nsupersedes: [{ZONE}]\n---\n\nSince May.\n"
    );
    let path = world.stores[0].store.path().join(format!("memory/learnings/{id}.md"));
    std::fs::write(path, text).unwrap();
    world.seen.note(id, "what was shown");
    let alone = format!("Tests run with UTC [{ZONE}].");
    assert_eq!(world.doubt(&alone), Some(Doubt::Overturned));
    let both = format!("Tests ran with UTC [{ZONE}], and now in CET [{id}].");
    assert_eq!(world.doubt(&both), None);
    let nacre_memory::recall::Recalled { passages, .. } =
        crate::tools::recall(&world.stores, "time zone of tests", 5, now()).unwrap();
    let newer = passages.iter().find(|passage| passage.id.as_str() == id).unwrap();
    assert_eq!(newer.find_unverified(), [&ZONE.parse::<MemoryId>().unwrap()]);
    let quoted = format!("| superseded [{ZONE}] (not verified): ");
    assert!(crate::tools::quote_passage(newer).contains(&quoted));
}

#[test]
fn what_is_left_out_is_left_out_whole_and_counted() {
    let world = world();
    let text = format!(
        "Here is what I found.\n\n- The queue is a SQLite table [{QUEUE}].\n- It has a dashboard \
         [20260101-invented]. Tests run in UTC [{ZONE}].\n"
    );
    let answer = world.answer(&text);
    assert_eq!(
        answer.text(),
        format!("- The queue is a SQLite table [{QUEUE}].\nTests run in UTC [{ZONE}].")
    );
    let ids: Vec<String> = answer.ids().iter().map(ToString::to_string).collect();
    assert_eq!(ids, [QUEUE, ZONE]);
    let doubts: Vec<(Doubt, usize)> = answer.doubts.into_iter().collect();
    assert_eq!(doubts, [(Doubt::NoSource, 1), (Doubt::NotShown, 1)]);
}

#[test]
fn words_that_no_source_contains_are_marked_and_the_source_is_quoted() {
    let world = world();
    for (words, source, expected) in [
        ("The queue is a SQLite table", QUEUE, true),
        ("The queue is a table, so there is one file to back up", QUEUE, true),
        ("The queue is in one file", PLACE, true),
        ("Tests run in UTC since 2026-11-15", ZONE, true),
        ("The queue is no SQLite table", QUEUE, false),
        ("The queue is a table in Postgres", QUEUE, false),
        ("The queue has 17 tables", QUEUE, false),
        ("The queue scales horizontally across many regional clusters", QUEUE, false),
    ] {
        let answer = world.answer(&format!("{words} [{source}]."));
        assert_eq!(answer.said[0].is_verified, expected, "{words}");
        let mark = if expected { "" } else { " [not verified]" };
        assert_eq!(answer.text(), format!("{words} [{source}].{mark}"));
    }
    let said = &world.answer(&format!("The queue is in Redis [{QUEUE}].")).said[0];
    let quote = "The queue is a SQLite table: One file to back up.";
    assert_eq!((said.quotes[0].source.as_str(), said.quotes[0].text.as_str()), (QUEUE, quote));
}

#[test]
fn a_model_that_does_not_know_is_believed() {
    let world = world();
    for text in ["NOT KNOWN", "Not known.", " **NOT KNOWN** \n", "[NOT KNOWN]"] {
        assert_eq!(world.answer(text), Answer::default(), "{text}");
    }
    assert_eq!(world.answer("NOT KNOWN, but I guess Redis.").n_left_out(), 1);
}

#[test]
fn a_question_about_nothing_is_not_answered() {
    let world = world();
    let now = now();
    let told = |question: &str| {
        let nacre_memory::recall::Recalled { passages, .. } =
            crate::tools::recall(&world.stores, question, 5, now).unwrap();
        let told = nacre_memory::recall::tell(question, passages);
        told.into_iter().map(|told| told.passage.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(told("Where is the queue kept?"), [QUEUE]);
    assert_eq!(told("Is the queue in Redis?"), [QUEUE], "never what was overturned");
    assert_eq!(told("Who won the chess championship in 1972?"), [""; 0]);
}

/// Shared by all cases, because none of them changes the store.
static WORLD: OnceLock<World> = OnceLock::new();

proptest! {
    /// Every displayed ID is one that the answer is allowed to cite.
    #[test]
    fn no_made_up_id_reaches_the_reader(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "The queue is a table ", "[20261115-the-queue-is-a-sqlite-table]", "[20261115-made-up]",
                "20261115-made-up", "[", "]", "`", ". ", "\n", "Tests ", "[20261115-tests-run-with-tz-utc]",
                ", ", "[20261115-deploy-by-hand]", "\u{200b}", "\u{2011}", "e.g. ", "(", ")", "[[", "2026",
            ]),
            0..24,
        ),
    ) {
        let world = WORLD.get_or_init(world);
        let answer = world.answer(&parts.concat());
        let allowed = [QUEUE, ZONE];
        for said in &answer.said {
            prop_assert!(!said.ids.is_empty());
            prop_assert!(said.ids.iter().all(|id| allowed.contains(&id.as_str())));
            prop_assert!(!said.text.contains("made-up") && !said.text.contains("deploy-by-hand"), "{}", said.text);
        }
    }
}

#[test]
fn ids_are_cited_in_the_order_of_the_text() {
    let said = |id: &str| Said {
        ids: vec![id.parse::<MemoryId>().unwrap()],
        places: vec![PLACE.to_owned()],
        ..Said::default()
    };
    let answer = Answer { said: vec![said(ZONE), said(QUEUE), said(ZONE)], ..Answer::default() };
    assert_eq!(answer.ids().iter().map(MemoryId::as_str).collect::<Vec<_>>(), [ZONE, QUEUE]);
    assert_eq!(answer.places(), [PLACE]);
}
