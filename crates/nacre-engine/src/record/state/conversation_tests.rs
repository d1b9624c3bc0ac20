//! Tests for conversations shared by several processes.

use std::collections::BTreeMap;

use nacre_base::redact::ExtraWords;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::record::state::support_tests::{Home, at, id, me, task};
use crate::record::{
    CancelledBy, Failure, NewTask, Runner, SessionId, Signal, Start, TaskId, TaskState,
};

const DONE: TaskState = TaskState::Completed { signal: Signal::Done };

fn session(number: u64) -> SessionId {
    SessionId::from_random(number)
}

fn new(number: u64) -> NewSession {
    NewSession {
        id: session(number),
        title: String::new(),
        workspace: Some("/work".to_owned()),
        project: Some("/work".to_owned()),
        model: None,
        approval: Some("ask".to_owned()),
    }
}

fn said(text: &str) -> NewItem {
    NewItem { kind: "user".to_owned(), json: json!({ "text": text }) }
}

fn texts(state: &State, number: u64) -> Vec<String> {
    let items = state.items(&session(number), 0, 1000).unwrap();
    let numbers: Vec<u64> = items.iter().map(|item| item.sequence).collect();
    assert_eq!(numbers, (1..=items.len() as u64).collect::<Vec<_>>(), "numbers have no gaps");
    items.iter().map(|item| item.json["text"].as_str().unwrap().to_owned()).collect()
}

fn running() -> (Home, State) {
    let home = Home::new();
    let mut state = home.open();
    state.create_session(&new(1), at(0)).unwrap();
    home.accept(&mut state, 1, at(0));
    assert_eq!(state.start(&id(1), &me(), at(1)).unwrap(), Start::Now);
    (home, state)
}

fn append(state: &mut State, number: u64, items: &[NewItem]) -> Result<u64, StateError> {
    let (session, task, runner) = (session(1), id(number), me());
    state.append_items(&session, &task, &runner, items, at(2)).map(|range| range.start)
}

#[test]
fn a_conversation_takes_the_first_words_as_its_title_and_keeps_a_given_one() {
    let (_home, mut state) = running();
    assert_eq!(state.session(&session(1)).unwrap().title, "Question 1");
    let change = SessionChange {
        title: Some("  Flaky test\nand more".to_owned()),
        model: Some("anthropic/x".to_owned()),
        ..SessionChange::default()
    };
    let changed = state.change_session(&session(1), &change).unwrap();
    assert_eq!((changed.title.as_str(), changed.approval.as_deref()), ("Flaky test", Some("ask")));
    state.accept(&task(2), &me(), at(4)).unwrap();
    let kept = state.session(&session(1)).unwrap();
    assert_eq!((kept.title.as_str(), kept.updated), ("Flaky test", at(4)));
    assert_eq!(kept.model.as_deref(), Some("anthropic/x"));
    let missing = state.change_session(&session(9), &change);
    assert!(matches!(missing, Err(StateError::UnknownSession { .. })));
}

#[test]
fn sessions_that_nobody_talks_to_are_no_conversations() {
    let home = Home::new();
    let mut state = home.open();
    home.accept(&mut state, 1, at(0));
    assert_eq!(state.conversations(None, 9).unwrap(), []);
    assert_eq!(state.session_titles().len(), 1);
    assert_eq!(state.find_session(session(1).as_str()).unwrap(), SessionMatch::Nothing);
    let again = state.create_session(&new(1), at(1));
    assert!(matches!(again, Err(StateError::SessionExists { .. })));
}

#[test]
fn conversations_are_listed_by_folder_newest_first() {
    let home = Home::new();
    let mut state = home.open();
    for (number, workspace, seconds) in [(1, "/a", 5), (2, "/b", 6), (3, "/a", 7)] {
        let new = NewSession { workspace: Some(workspace.to_owned()), ..new(number) };
        state.create_session(&new, at(seconds)).unwrap();
    }
    let listed = |workspace, limit| {
        let found = state.conversations(workspace, limit).unwrap();
        found.into_iter().map(|found| found.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(Some("/a"), 9), [session(3), session(1)]);
    assert_eq!(listed(None, 2), [session(3), session(2)]);
}

// Regression test: a short prefix must not match everything.
#[test]
fn a_conversation_is_found_by_three_characters_of_its_id_and_never_by_fewer() {
    let home = Home::new();
    let mut state = home.open();
    for text in ["sess_abcd1", "sess_abcd12", "sess_abxx"] {
        let new = NewSession { id: text.parse().unwrap(), ..new(0) };
        state.create_session(&new, at(0)).unwrap();
    }
    let found = |start: &str| match state.find_session(start).unwrap() {
        SessionMatch::One(session) => session.id.to_string(),
        SessionMatch::Nothing => "nothing".to_owned(),
        SessionMatch::Many(many) => format!("{} fit", many.len()),
    };
    for (start, expected) in [
        ("sess_abx", "sess_abxx"),
        ("abx", "sess_abxx"),
        ("abcd1", "sess_abcd1"),
        ("abcd12", "sess_abcd12"),
        ("abc", "2 fit"),
        ("sess_ab", "nothing"),
        ("ab", "nothing"),
        ("", "nothing"),
        ("sess_", "nothing"),
        ("s", "nothing"),
        ("ABX", "nothing"),
        ("ab%", "nothing"),
        ("abx'; --", "nothing"),
        ("zzz", "nothing"),
    ] {
        assert_eq!(found(start), expected, "{start:?}");
    }
}

#[test]
fn a_folder_has_one_active_conversation_which_goes_with_it() {
    let home = Home::new();
    let mut state = home.open();
    for number in [1, 2] {
        state.create_session(&new(number), at(0)).unwrap();
    }
    let active = |state: &State, folder: &str| {
        state.active_session(folder).unwrap().map(|session| session.id)
    };
    assert_eq!(active(&state, "/work"), None);
    state.set_active_session("/work", &session(1)).unwrap();
    state.set_active_session("/other", &session(1)).unwrap();
    state.set_active_session("/work", &session(2)).unwrap();
    assert_eq!(
        (active(&state, "/work"), active(&state, "/other")),
        (Some(session(2)), Some(session(1)))
    );
    state.remove_session(&session(2)).unwrap();
    assert_eq!((active(&state, "/work"), active(&state, "/other")), (None, Some(session(1))));
    let missing = state.set_active_session("/work", &session(2));
    assert!(matches!(missing, Err(StateError::UnknownSession { .. })));
}

// Regression test: two clients in one session must not overwrite each other's updates.
#[test]
fn only_who_runs_the_task_of_a_session_appends_to_it() {
    let (home, mut state) = running();
    assert_eq!(append(&mut state, 1, &[said("a"), said("b")]).unwrap(), 1);
    assert_eq!(append(&mut state, 1, &[said("c")]).unwrap(), 3);
    state.accept(&task(2), &me(), at(2)).unwrap();
    state.accept(&NewTask { parent: Some(id(1)), ..task(3) }, &me(), at(2)).unwrap();
    state.start(&id(3), &me(), at(2)).unwrap();
    state.create_session(&new(5), at(2)).unwrap();
    state.accept(&NewTask { session: session(5), ..task(4) }, &me(), at(2)).unwrap();
    state.start(&id(4), &me(), at(2)).unwrap();
    for number in [2, 3, 4, 99] {
        let refused = append(&mut state, number, &[said("no")]);
        assert!(matches!(refused, Err(StateError::NotHeld { .. })), "task {number}");
    }
    let (first, mine) = (session(1), id(1));
    let other = Runner { pid: 2, ..me() };
    let refused = home.open().append_items(&first, &mine, &other, &[said("no")], at(2));
    assert!(matches!(refused, Err(StateError::NotHeld { .. })));
    state.go(&id(1), DONE, at(3)).unwrap();
    assert!(matches!(append(&mut state, 1, &[said("late")]), Err(StateError::NotHeld { .. })));
    assert_eq!(texts(&state, 1), ["a", "b", "c"]);
    assert_eq!(state.items(&session(1), 1, 1).unwrap()[0].json["text"], "b");
    assert_eq!(state.session(&session(1)).unwrap().last_item, 3);
}

#[test]
fn a_fork_begins_with_the_items_of_the_other_and_goes_its_own_way() {
    let (_home, mut state) = running();
    append(&mut state, 1, &[said("a"), said("b"), said("c")]).unwrap();
    let forked = state.fork_session(&session(1), Some(2), &session(2), at(5)).unwrap();
    assert_eq!(
        (forked.parent, forked.last_item, forked.approval.as_deref(), forked.title.as_str()),
        (Some(session(1)), 2, Some("ask"), "Question 1")
    );
    append(&mut state, 1, &[said("d")]).unwrap();
    state.fork_session(&session(1), None, &session(3), at(5)).unwrap();
    assert_eq!(texts(&state, 2), ["a", "b"]);
    assert_eq!(texts(&state, 3), ["a", "b", "c", "d"]);
    let twice = state.fork_session(&session(1), None, &session(2), at(5));
    assert!(matches!(twice, Err(StateError::SessionExists { .. })));
    let missing = state.fork_session(&session(9), None, &session(8), at(5));
    assert!(matches!(missing, Err(StateError::UnknownSession { .. })));
}

#[test]
fn what_is_removed_is_gone_and_what_runs_cannot_be_removed() {
    let (_home, mut state) = running();
    append(&mut state, 1, &[said("a secret plan")]).unwrap();
    send(&mut state, 1, 1, &["{}"], true).unwrap();
    state.fork_session(&session(1), None, &session(2), at(5)).unwrap();
    let busy = state.remove_session(&session(1));
    assert!(matches!(busy, Err(StateError::SessionInUse { .. })));
    state.go(&id(1), DONE, at(3)).unwrap();
    state.remove_session(&session(1)).unwrap();
    assert!(matches!(state.session(&session(1)), Err(StateError::UnknownSession { .. })));
    assert_eq!(state.items(&session(1), 0, 9).unwrap(), []);
    assert_eq!(state.messages_after(&id(1), 0, 9).unwrap(), []);
    assert!(state.tasks(9).unwrap().is_empty());
    assert_eq!(texts(&state, 2), ["a secret plan"], "a fork stands by itself");
}

#[test]
fn items_are_found_by_all_words_of_a_query() {
    let (_home, mut state) = running();
    let call = NewItem { kind: "tool_call".to_owned(), json: json!({ "arguments": "flaky" }) };
    let items = ["The FLAKY test hangs", "it waits 100% of a lock_file", "a flaky lock"].map(said);
    append(&mut state, 1, &items).unwrap();
    append(&mut state, 1, &[call]).unwrap();
    state.fork_session(&session(1), Some(1), &session(2), at(9)).unwrap();
    let found = |session: Option<&SessionId>, query: &str| {
        let found = state.search_items(session, query, 9).unwrap();
        found.iter().map(|item| format!("{} {}", item.sequence, item.excerpt)).collect::<Vec<_>>()
    };
    assert_eq!(found(Some(&session(1)), "flaky"), ["3 a flaky lock", "1 The FLAKY test hangs"]);
    assert_eq!(found(None, "flaky test"), ["1 The FLAKY test hangs", "1 The FLAKY test hangs"]);
    assert_eq!(found(None, "100%"), ["2 it waits 100% of a lock_file"]);
    assert_eq!(found(None, "lock_file").len(), 1);
    assert_eq!((found(None, "  ").len(), found(None, "text").len()), (0, 0));
}

#[test]
fn secrets_and_words_of_a_project_reach_neither_items_nor_messages() {
    let (home, _state) = running();
    let mut state = home.open().without_words(ExtraWords::new(&["Acme Corp".to_owned()]));
    let key =
        "sk-ant-api03-AAAAbbbbCCCCddddEEEEffffGGGGhhhhIIIIjjjjKKKKllllMMMMnnnnOOOOpppp-QQQQrrrrAA";
    let text = format!("ANTHROPIC_API_KEY={key} of Acme Corp");
    append(&mut state, 1, &[said(&text)]).unwrap();
    let message = json!({ "text": text }).to_string();
    let sent = send(&mut state, 1, 1, &[&message, r#"{"a": 1}"#], false).unwrap();
    let kept = state.messages_after(&id(1), 0, 9).unwrap();
    assert_eq!(kept.iter().map(|message| message.text.clone()).collect::<Vec<_>>(), sent);
    assert_eq!(sent[1], r#"{"a": 1}"#, "what holds nothing secret is sent byte for byte");
    let all = format!("{kept:?} {:?}", state.items(&session(1), 0, 9).unwrap());
    assert!(!all.contains("bbbbCCCC") && !all.contains("Acme"), "{all}");
}

fn send(
    state: &mut State,
    number: u64,
    first: u64,
    texts: &[&str],
    is_last: bool,
) -> Result<Vec<String>, StateError> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    state.append_messages(&id(number), first, &texts, is_last)
}

#[test]
fn messages_have_no_gaps_and_one_last() {
    let (_home, mut state) = running();
    let refused = |result| matches!(result, Err(StateError::MessageOrder { .. }));
    assert!(refused(send(&mut state, 1, 2, &["{}"], false)));
    send(&mut state, 1, 1, &["{\"n\":1}", "{\"n\":2}"], false).unwrap();
    assert!(refused(send(&mut state, 1, 2, &["{}"], false)));
    assert!(refused(send(&mut state, 1, 4, &["{}"], false)));
    send(&mut state, 1, 3, &["{\"n\":3}", "{\"n\":4}"], true).unwrap();
    assert!(refused(send(&mut state, 1, 5, &["{}"], true)));
    let broken = send(&mut state, 1, 5, &["{"], true);
    assert!(matches!(broken, Err(StateError::NotJson(_))));
    let unknown = send(&mut state, 9, 1, &["{}"], true);
    assert!(matches!(unknown, Err(StateError::UnknownTask { .. })));
    let kept = state.messages_after(&id(1), 1, 2).unwrap();
    let shown: Vec<_> =
        kept.iter().map(|message| (message.sequence, message.text.as_str())).collect();
    assert_eq!(shown, [(2, "{\"n\":2}"), (3, "{\"n\":3}")]);
    let ends = state.messages_after(&id(1), 0, 9).unwrap();
    assert_eq!(ends.iter().filter(|message| message.is_last).count(), 1);
}

fn terminal(task: &TaskRecord, sequence: u64) -> String {
    json!({ "sequence": sequence, "task": task.id, "state": task.state.to_string() }).to_string()
}

// Regression test: tasks that a restart interrupts must still get a final message.
#[test]
fn a_task_whose_process_died_gets_its_terminal_message_once() {
    let home = Home::new();
    let mut state = home.open();
    let here = Runner::here(std::process::id());
    let gone = Runner { birth: "1".to_owned(), ..here.clone() };
    for (number, runner) in [(1, &gone), (2, &gone), (3, &here), (4, &gone)] {
        state.create_session(&new(number), at(0)).unwrap();
        let new = NewTask { session: session(number), ..task(number) };
        state.accept(&new, runner, at(0)).unwrap();
    }
    // The first task was running and had sent messages, the second was queued, the third is still
    // alive, and the fourth had reported its end.
    for (number, runner) in [(1, &gone), (3, &here), (4, &gone)] {
        state.start(&id(number), runner, at(0)).unwrap();
    }
    send(&mut state, 1, 1, &["{}", "{}"], false).unwrap();
    send(&mut state, 4, 1, &["{}"], true).unwrap();
    state.go(&id(4), DONE, at(1)).unwrap();
    // Another process may already have cleared the tasks without adding messages.
    home.open().clear_dead(&here, at(2)).unwrap();
    assert_eq!(state.recover(&here, at(3), terminal).unwrap(), [id(1), id(2)]);
    assert_eq!(state.recover(&here, at(4), terminal).unwrap(), []);
    let last = |number| state.messages_after(&id(number), 0, 9).unwrap().pop();
    let expected = json!({ "sequence": 3, "task": id(1), "state": "failed(restarted)" });
    assert_eq!(last(1).unwrap().text, expected.to_string());
    assert_eq!(last(2).map(|message| (message.sequence, message.is_last)), Some((1, true)));
    assert_eq!(last(3), None);
    let late = send(&mut state, 1, 4, &["{}"], false);
    assert!(matches!(late, Err(StateError::MessageOrder { .. })));
}

#[test]
fn a_conversation_outlives_the_retention_of_its_tasks() {
    let (_home, mut state) = running();
    append(&mut state, 1, &[said("a")]).unwrap();
    send(&mut state, 1, 1, &["{}"], true).unwrap();
    state.go(&id(1), DONE, at(3)).unwrap();
    assert_eq!(state.trim(std::time::Duration::ZERO, at(99_999)).unwrap(), 1);
    assert_eq!(texts(&state, 1), ["a"]);
    assert_eq!(state.messages_after(&id(1), 0, 9).unwrap(), []);
}

/// Actions of two processes on three conversations with two tasks each.
#[derive(Clone, Debug)]
enum Happening {
    Start(u64),
    Append(u64, u8),
    Send(u64, u8, bool),
    Finish(u64),
    Cancel(u64),
    Fork(u64, u64, u64),
    Remove(u64),
    Recover,
}

fn happening() -> impl Strategy<Value = Happening> {
    let (task, session) = (1..=6_u64, 1..=3_u64);
    prop_oneof![
        4 => task.clone().prop_map(Happening::Start),
        6 => (task.clone(), 0..4_u8).prop_map(|(task, n)| Happening::Append(task, n)),
        6 => (task.clone(), 1..4_u8, any::<bool>()).prop_map(|(t, n, l)| Happening::Send(t, n, l)),
        2 => task.clone().prop_map(Happening::Finish),
        1 => task.prop_map(Happening::Cancel),
        1 => (session.clone(), 0..9_u64, 4..=6_u64).prop_map(|(f, n, t)| Happening::Fork(f, n, t)),
        1 => session.prop_map(Happening::Remove),
        1 => Just(Happening::Recover),
    ]
}

#[derive(Default)]
struct Expected {
    items: BTreeMap<u64, Vec<String>>,
    messages: BTreeMap<u64, Vec<String>>,
    n_made: usize,
}

/// Returns a task's runner. Odd tasks belong to a dead process.
fn runner_of(number: u64) -> Runner {
    let here = Runner::here(std::process::id());
    if number.is_multiple_of(2) { here } else { Runner { birth: "1".to_owned(), ..here } }
}

impl Expected {
    fn act(&mut self, state: &mut State, happening: &Happening) {
        match happening {
            Happening::Start(number) => {
                let _ = state.start(&id(*number), &runner_of(*number), at(1));
            }
            Happening::Append(number, n) => self.append(state, *number, *n),
            Happening::Send(number, n, is_last) => self.send(state, *number, *n, *is_last),
            Happening::Finish(number) => {
                let _ = state.go(&id(*number), DONE, at(2));
            }
            Happening::Cancel(number) => {
                let _ = state.cancel(&id(*number), CancelledBy::Person, at(2));
            }
            Happening::Fork(from, up_to, to) => {
                let made = state.fork_session(&session(*from), Some(*up_to), &session(*to), at(2));
                if made.is_ok() {
                    let items = self.items[from].iter().take(*up_to as usize).cloned().collect();
                    assert!(self.items.insert(*to, items).is_none(), "it was there already");
                }
            }
            Happening::Remove(number) => {
                if state.remove_session(&session(*number)).is_ok() {
                    self.items.remove(number);
                    self.messages.retain(|task, _| session_of(*task) != *number);
                }
            }
            Happening::Recover => {
                let here = Runner::here(std::process::id());
                let ended = state.recover(&here, at(3), terminal).unwrap();
                for task in ended {
                    let number = (1..=6).find(|number| id(*number) == task).unwrap();
                    let kept = self.messages.entry(number).or_default();
                    let record = state.task(&task).unwrap();
                    kept.push(terminal(&record, kept.len() as u64 + 1));
                }
            }
        }
    }

    fn append(&mut self, state: &mut State, number: u64, n: u8) {
        let texts: Vec<String> = (0..n).map(|n| format!("{number}.{}.{n}", self.n_made)).collect();
        self.n_made += 1;
        let items: Vec<NewItem> = texts.iter().map(|text| said(text)).collect();
        let (session, task, runner) = (session(session_of(number)), id(number), runner_of(number));
        let is_running = state.task(&task).is_ok_and(|task| task.state == TaskState::Running);
        let appended = state.append_items(&session, &task, &runner, &items, at(2));
        assert_eq!(appended.is_ok(), is_running, "{appended:?}");
        if appended.is_ok() {
            self.items.entry(session_of(number)).or_default().extend(texts);
        }
    }

    fn send(&mut self, state: &mut State, number: u64, n: u8, is_last: bool) {
        let kept = self.messages.entry(number).or_default();
        let first = kept.len() as u64 + 1;
        let texts: Vec<String> =
            (0..u64::from(n)).map(|n| json!({ "n": first + n }).to_string()).collect();
        if state.append_messages(&id(number), first, &texts, is_last).is_ok() {
            kept.extend(texts);
        }
    }

    fn check(&self, state: &State) {
        for (number, items) in &self.items {
            assert_eq!(&texts(state, *number), items);
        }
        for (number, messages) in &self.messages {
            let kept = state.messages_after(&id(*number), 0, 1000).unwrap();
            let texts: Vec<&String> = kept.iter().map(|message| &message.text).collect();
            assert_eq!(texts, messages.iter().collect::<Vec<_>>());
            let n_last = kept.iter().filter(|message| message.is_last).count();
            assert!(n_last <= 1);
            let is_at_the_end = kept.last().is_some_and(|message| message.is_last);
            assert_eq!(n_last == 1, is_at_the_end);
        }
        assert_eq!(state.conversations(None, 99).unwrap().len(), self.items.len());
    }
}

fn session_of(task: u64) -> u64 {
    (task - 1) / 2 + 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// In whatever order two processes write, items and messages are stored exactly once and in the
    /// order in which they were appended. A session's items come only from its running task. No
    /// task has two final messages, and after a recovery, every dead task has exactly one.
    #[test]
    fn conversations_hold_under_any_order(happenings in proptest::collection::vec(happening(), 0..60)) {
        let home = Home::new();
        let mut states = [home.open(), home.open()];
        let mut expected = Expected::default();
        for number in 1..=3 {
            states[0].create_session(&new(number), at(0)).unwrap();
            expected.items.insert(number, Vec::new());
        }
        for number in 1..=6 {
            let new = NewTask { session: session(session_of(number)), ..task(number) };
            states[1].accept(&new, &runner_of(number), at(0)).unwrap();
        }
        for (n, happening) in happenings.iter().enumerate() {
            expected.act(&mut states[n % 2], happening);
            expected.check(&states[(n + 1) % 2]);
        }
        expected.act(&mut states[0], &Happening::Recover);
        expected.check(&states[1]);
        for number in (1..=6_u64).filter(|number| number % 2 == 1) {
            let Ok(record) = states[0].task(&id(number)) else { continue };
            prop_assert!(record.state.is_terminal());
            let last: Option<MessageRecord> = states[0].messages_after(&id(number), 0, 1000).unwrap().pop();
            prop_assert_eq!(last.map(|last| last.is_last), Some(true));
        }
    }
}

#[test]
fn a_task_of_no_conversation_gets_no_message() {
    let home = Home::new();
    let mut state = home.open();
    home.accept(&mut state, 1, at(0));
    let restarted = TaskState::Failed { why: Failure::Restarted };
    assert!(state.go(&id(1), restarted, at(1)).is_ok());
    let untouched: TaskId = id(1);
    let here = Runner::here(std::process::id());
    assert_eq!(state.recover(&here, at(2), terminal).unwrap(), []);
    assert_eq!(state.messages_after(&untouched, 0, 9).unwrap(), [], "no conversation, no message");
}
