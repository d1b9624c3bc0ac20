//! Tests streamed text: no secret is stored or sent, and a replay returns the same bytes.

use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_engine::record::state::{NewSession, TaskStore as _};
use nacre_engine::record::{NewTask, Runner, TaskClass};

use super::*;

/// A task whose messages are recorded.
struct Stage {
    home: tempfile::TempDir,
    log: TaskLog,
}

impl Stage {
    fn new(words: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut state = open(home.path());
        let (task, session) = (TaskId::from_random(1), SessionId::from_random(2));
        let now = Timestamp::UNIX_EPOCH;
        let new = NewSession {
            id: session.clone(),
            title: String::new(),
            workspace: None,
            project: None,
            model: None,
            approval: None,
        };
        state.create_session(&new, now).unwrap();
        let new = NewTask {
            id: task.clone(),
            session: session.clone(),
            parent: None,
            project: None,
            agent: "chat".to_owned(),
            class: TaskClass::Interactive,
            title: "test".to_owned(),
        };
        state.accept(&new, &Runner::here(1), now).unwrap();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
        let log = TaskLog::new(task, session, state, ExtraWords::new(&words), clock);
        Self { home, log }
    }

    /// Returns the lines that clients receive, which are also the lines that are stored.
    fn lines(&self) -> Vec<String> {
        let Backlog::Lines(sent) = self.log.behind(0) else { return Vec::new() };
        let sent: Vec<String> = sent.iter().map(ToString::to_string).collect();
        let stored = open(self.home.path()).messages_after(&self.log.task, 0, 10_000).unwrap();
        let stored: Vec<String> = stored.into_iter().map(|message| message.text).collect();
        assert_eq!(sent, stored);
        sent
    }

    /// Returns the text that a client sees after receiving all messages.
    fn said(&self) -> String {
        let mut said = String::new();
        for line in self.lines() {
            let message: TaskMessage = serde_json::from_str(&line).unwrap();
            if let TaskUpdate::Text { text } = &message.update {
                said.push_str(text);
            } else if let TaskUpdate::TextReplaced { text } = message.update {
                said = text;
            }
        }
        said
    }
}

fn open(home: &std::path::Path) -> State {
    let scope = WriteScope::open(home, Access::Private).unwrap();
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    State::open(&scope, &owner, Duration::from_secs(5)).unwrap()
}

#[test]
fn a_secret_that_comes_in_two_pieces_is_stored_and_sent_in_none() {
    let key = ["ghp_", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
    let text = format!("The key is {key} and it is in the file.\nSay hush to nobody.\n");
    let expected = ExtraWords::new(&["hush".to_owned()]).redact(&text).into_owned();
    assert!(expected.contains("[redacted:github-token]") && expected.contains("[redacted:extra]"));
    for cut in (1..text.len()).step_by(3) {
        let stage = Stage::new(&["hush"]);
        stage.log.tell(TaskUpdate::Step { step: 1 });
        for piece in [&text[..cut], &text[cut..]] {
            stage.log.say(piece);
            stage.log.flush();
        }
        stage.log.tell(TaskUpdate::Step { step: 2 });
        let lines = stage.lines().concat();
        for secret in [&key[4..24], &key[20..], "hush"] {
            assert!(!lines.contains(secret), "cut at {cut}: {lines}");
        }
        assert_eq!(stage.said(), expected, "cut at {cut}");
    }
}

#[test]
fn words_wait_for_nothing_but_their_end() {
    let stage = Stage::new(&[]);
    stage.log.think("I should look at the tests ");
    stage.log.flush();
    stage.log.say("Let me look at the tes");
    stage.log.flush();
    assert_eq!(stage.said(), "Let me look at the ");
    stage.log.say("ts.");
    stage.log.tell(TaskUpdate::Step { step: 2 });
    assert_eq!(stage.said(), "Let me look at the tests.");
    let kinds: Vec<String> = stage
        .lines()
        .iter()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            value["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds, ["reasoning", "text", "text", "step"]);
}
