//! Tests question answering with a scripted model: emitted sentences and cancellation.
#![expect(clippy::disallowed_methods, reason = "the tests create their own project")]

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nacre_types::{Event, ModelAnswer};

use super::*;
use crate::host::{Environment, OpenOptions};
use nacre_engine::model::Cancel;

const QUEUE: &str = "20261115-the-queue-is-a-sqlite-table";

/// Creates a project with one memory and a model script.
fn project(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let memories = folder.path().join("work/.nacre/memory/decisions");
    fs::create_dir_all(&memories).unwrap();
    fs::create_dir(folder.path().join("home")).unwrap();
    let memory = format!(
        "---\nid: {QUEUE}\ntitle: The queue is a SQLite table\ncreated: 2026-11-15T08:00:00Z\n\
         updated: 2026-11-15T08:00:00Z\nsource: test\nconfidence: 0.9\ntags: []\nrelated: []\n\
         status: active\n---\n\nOne file to back up.\n"
    );
    fs::write(memories.join(format!("{QUEUE}.md")), memory).unwrap();
    fs::write(folder.path().join("work/script.toml"), script).unwrap();
    folder
}

fn host(folder: &Path) -> Host {
    let folder = folder.canonicalize().unwrap();
    let now = "2026-11-15T08:30:00Z";
    let environment = Environment {
        vars: vec![("NACRE_NOW".to_owned(), now.to_owned())],
        garbled_vars: Vec::new(),
        folder: folder.join("work"),
        is_folder_gone: false,
        home: Some(folder.join("home")),
        host: None,
        pid: std::process::id(),
        program: None,
        clock: Arc::new(move || now.parse().unwrap()),
        uptime: Arc::new(|| Duration::ZERO),
        random: |_| Ok(()),
    };
    Host::open(environment, &OpenOptions::default()).host.unwrap()
}

fn request() -> AskRequest {
    AskRequest {
        question: "Where is the queue kept?".to_owned(),
        scripted: Some("script.toml".to_owned()),
        ..AskRequest::default()
    }
}

#[test]
fn the_sentences_one_after_the_other_are_the_answer() {
    let say = format!(
        "The queue is a table [{QUEUE}]. It is in Redis [20260101-made-up].\\n- It is one file [{QUEUE}]."
    );
    let folder = project(&format!("[[turns]]\nsay = \"{say}\"\n"));
    let emitted = Arc::new(Mutex::new(String::new()));
    let text = Arc::clone(&emitted);
    let events = Events::new(move |event| {
        if let Event::Sentence { text: sentence, .. } = event {
            text.lock().unwrap().push_str(&sentence);
        }
    });
    let report = ask(&host(folder.path()), &request(), &events).unwrap();
    let AskReport::Model(ModelAnswer { answer, sentences, left_out, .. }) = report else {
        panic!("a model was asked: {report:?}");
    };
    // The second sentence cites a memory that does not exist.
    assert_eq!((sentences.len(), left_out.len()), (2, 1));
    assert_eq!(answer.as_deref(), Some(emitted.lock().unwrap().as_str()));
}

#[test]
fn a_question_is_cancelled_before_and_while_a_model_is_asked() {
    let script = "[[turns]]\ncalls = [{ name = 'memory_recall', arguments = { question = 'queue' } }]\n\
                  [[turns]]\nhang = true\n";
    let folder = project(script);
    let host = host(folder.path());
    let cancel = Cancel::new();
    let on_note = cancel.clone();
    let events = Events::new(move |event| {
        if matches!(event, Event::Note { .. }) {
            on_note.cancel();
        }
    });
    let events = events.with_cancel(cancel.clone());
    let error = ask(&host, &request(), &events).unwrap_err();
    assert_eq!((error.code, cancel.is_cancelled()), (ErrorCode::Cancelled, true));
    let again = ask(&host, &request(), &Events::discard().with_cancel(cancel)).unwrap_err();
    assert_eq!(again.message, "The question was cancelled");
}
