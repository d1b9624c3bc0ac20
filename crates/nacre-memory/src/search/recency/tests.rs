//! Tests each rule individually on a few messages.

use super::*;
use crate::search::index::index_units;
use crate::search::rank::{self, Level, Mode, RankOptions};
use crate::search::record::{Record, Unit};

/// A message's speaker, time and text.
type Line = (Voice, i64, &'static str);

/// Unrelated messages, added so that words differ in rarity and scores vary.
const NOISE: [Line; 6] = [
    (Voice::User, 1, "Please rename the changelog heading."),
    (Voice::Assistant, 2, "The heading of the changelog is renamed."),
    (Voice::User, 3, "Now add an icon to the settings page."),
    (Voice::Assistant, 4, "The settings page has an icon in its header."),
    (Voice::User, 5, "Thanks, commit it."),
    (Voice::Assistant, 6, "Committed with a short message."),
];

fn session(key: &str, lines: &[Line]) -> Unit {
    let record = |(idx, (voice, time_ms, text)): (usize, &Line)| Record {
        key: format!("{key}{idx}"),
        voice: *voice,
        time_ms: *time_ms,
        body: (*text).to_owned(),
        ..Record::default()
    };
    let records = lines.iter().enumerate().map(record).collect();
    Unit { key: key.to_owned(), records, ..Unit::default() }
}

fn found(sessions: &[&[Line]], question: &str) -> Vec<String> {
    let names = ["a", "b", "c"];
    let mut units: Vec<Unit> =
        sessions.iter().zip(names).map(|(lines, name)| session(name, lines)).collect();
    units.push(session("noise", &NOISE));
    let snapshot = index_units(&units);
    let query = Query::plain(question);
    let allowed = rank::filter_rows(&snapshot, &query, true);
    let options =
        RankOptions { mode: Mode::Lexical, level: Level::Records, limit: MAX_MESSAGES, now_ms: 0 };
    let ranked = rank::rank(&snapshot, &query, &allowed, &options);
    let text_of = |row: usize| {
        let mut records = units.iter().flat_map(|unit| &unit.records);
        records.find(|record| record.key == snapshot.key(row)).map(|record| record.body.clone())
    };
    let settled = order_messages(&snapshot, &query, ranked, &text_of);
    settled.iter().map(|hit| snapshot.key(hit.row).to_owned()).collect()
}

fn place(found: &[String], key: &str) -> usize {
    found.iter().position(|one| one == key).unwrap_or(usize::MAX)
}

#[test]
fn the_person_stands_above_the_agent_and_the_agent_above_a_tool() {
    let text = "The cache lives in Redis.";
    let found = found(
        &[&[(Voice::Tool, 30, text)], &[(Voice::Assistant, 20, text)], &[(Voice::User, 10, text)]],
        "cache Redis",
    );
    assert_eq!(found[..3], ["c0", "b0", "a0"]);
}

#[test]
fn a_long_message_does_not_win_by_its_length() {
    let long = "The queue has many parts. Workers pull jobs, workers report progress, the queue \
        keeps a table of leases and the timeout of a lease is shown on the dashboard, beside the \
        number of jobs, the age of the oldest job, the names of the workers, the hosts they run \
        on, the versions they were built from and the links to their logs and their traces.";
    let short = "The queue timeout is 30 seconds.";
    let found = found(
        &[&[(Voice::Assistant, 20, long)], &[(Voice::Assistant, 10, short)]],
        "what timeout does the queue have",
    );
    assert!(place(&found, "b0") < place(&found, "a0"), "{found:?}");
}

const CHANGED: [Line; 3] = [
    (Voice::Assistant, 10, "The upload batch size is 5000 rows by default."),
    (Voice::User, 11, "Fine, go on with the tests of the parser."),
    (Voice::Assistant, 20, "The upload batch size is now 10000 rows, set in config."),
];

#[test]
fn in_a_session_the_later_word_goes_first() {
    let found = found(&[&CHANGED], "what upload batch size of rows is the default");
    assert_eq!(found[..2], ["a2", "a0"]);
}

#[test]
fn a_question_about_the_past_leaves_the_order() {
    let found = found(&[&CHANGED], "what upload batch size of rows was the default");
    assert_eq!(found[..2], ["a0", "a2"]);
}

#[test]
fn the_agent_does_not_change_what_the_person_said() {
    let mut lines = CHANGED;
    lines[0].0 = Voice::User;
    let found = found(&[&lines], "what upload batch size of rows is the default");
    assert_eq!(found[..2], ["a0", "a2"]);
}

#[test]
fn in_another_session_it_takes_more_likeness() {
    let other = [(Voice::Assistant, 20, "Batch jobs upload their logs; rows of size zero fail.")];
    let question = "what upload batch size of rows is the default";
    let apart = found(&[&CHANGED[..2], &other], question);
    assert!(place(&apart, "a0") < place(&apart, "b0"), "{apart:?}");
    let again = [(Voice::Assistant, 20, "The upload batch size is 10000 rows by default.")];
    let again = found(&[&CHANGED[..2], &again], question);
    assert!(place(&again, "b0") < place(&again, "a0"), "{again:?}");
}

#[test]
fn what_was_said_twice_is_shown_once_and_as_the_newer() {
    let text = "Deploy with the blue green script from the ops folder.";
    let mut lines = vec![(Voice::User, 10, text), (Voice::User, 20, text)];
    lines.push((Voice::User, 15, "The deploy script needs a token."));
    let found = found(&[&lines], "which blue green deploy script was in the ops folder");
    assert_eq!(found[0], "a1");
    assert!(place(&found, "a2") < place(&found, "a0"), "{found:?}");
}

#[test]
fn turns_without_roles_and_lists_of_filters_keep_their_order() {
    let lines = CHANGED.map(|(_, time_ms, text)| (Voice::None, time_ms, text));
    let mut units = vec![session("a", &lines)];
    units.push(session("b", &NOISE.map(|(_, time_ms, text)| (Voice::None, time_ms, text))));
    let snapshot = index_units(&units);
    let hit = |row: usize| Ranked { row, score: 1.0, ..Ranked::default() };
    let rows = |query: &Query| -> Vec<usize> {
        let settled = order_messages(&snapshot, query, vec![hit(0), hit(2)], &|_| None);
        settled.iter().map(|hit| hit.row).collect()
    };
    assert_eq!(rows(&Query::plain("upload batch size")), [0, 2]);
    assert_eq!(rows(&Query::default()), [0, 2]);
}
