//! Tests that every line of a trace is read exactly once, even while its agent is writing to it.

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::Owner;
use nacre_memory::messages::{TextIndexAccess, TextQuery, search_messages};
use nacre_memory::search::{Mode, Query};
use nacre_traces::agents::ADAPTERS;
use nacre_traces::catalog::{Catalog, Connection, RefreshOptions, SessionFilter};
use nacre_traces::transcript::{
    Adapter, Agent, EventKind, Sink, Trace, TranscriptEvent, Watermark,
};
use serde_json::{Value, json};

use crate::agents::{self, Talk};

const N_LINES: usize = 1000;

/// How a trace format stores a user message.
struct Format {
    agent: Agent,
    file: &'static str,
    head: fn(&Talk) -> String,
    said: fn(usize) -> Value,
}

const FORMATS: [Format; 3] = [
    Format {
        agent: Agent::Claude,
        file: "0a1b2c3d-0000-4000-8000-000000000001.jsonl",
        head: agents::claude,
        said: |n| {
            json!({ "type": "user", "uuid": format!("n{n}"), "parentUuid": null, "isSidechain": false,
                "cwd": "/work/shop", "sessionId": "0a1b2c3d-0000-4000-8000-000000000001",
                "timestamp": "2026-11-01T10:00:00.000Z",
                "message": { "role": "user", "content": format!("said{n} ünd more") } })
        },
    },
    Format {
        agent: Agent::Codex,
        file: "rollout-2026-11-01T10-00-00-0a1b2c3d-0000-4000-8000-000000000001.jsonl",
        head: agents::codex,
        said: |n| {
            json!({ "timestamp": "2026-11-01T10:00:00.000Z", "type": "event_msg",
                "payload": { "type": "user_message", "message": format!("said{n} ünd more"), "images": [] } })
        },
    },
    Format {
        agent: Agent::Generic,
        file: "own.jsonl",
        head: agents::generic,
        said: |n| json!({ "type": "user", "text": format!("said{n} ünd more") }),
    },
];

fn adapter(agent: Agent) -> &'static dyn Adapter {
    ADAPTERS.iter().copied().find(|adapter| adapter.agent() == agent).unwrap()
}

/// Appends complete and partial lines as fast as possible, and the rest of each partial line later.
fn write_lines(path: &Path, format: &Format) {
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    for n in 0..N_LINES {
        let line = format!("{}\n", (format.said)(n));
        let bytes = line.as_bytes();
        match n % 3 {
            0 => file.write_all(bytes).unwrap(),
            // Splits the line in the middle, in the middle of a character, or just before its end.
            1 => {
                let at = memchr::memchr(0xc3, bytes).unwrap() + 1;
                file.write_all(&bytes[..at]).unwrap();
                std::thread::yield_now();
                file.write_all(&bytes[at..]).unwrap();
            }
            _ => {
                file.write_all(&bytes[..bytes.len() - 1]).unwrap();
                std::thread::yield_now();
                file.write_all(b"\n").unwrap();
            }
        }
    }
}

fn begin(folder: &Path, format: &Format) -> std::path::PathBuf {
    let path = folder.join(format.file);
    let talk = Talk {
        id: "0a1b2c3d-0000-4000-8000-000000000001".to_owned(),
        cwd: "/work/shop".to_owned(),
        ..Talk::default()
    };
    agents::write(&path, &(format.head)(&talk));
    path
}

#[test]
fn every_line_is_read_once_from_watermark_to_watermark() {
    for format in &FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let path = begin(folder.path(), format);
        let adapter = adapter(format.agent);
        let is_done = AtomicBool::new(false);
        let mut events = Vec::new();
        let mut n_reads = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                write_lines(&path, format);
                is_done.store(true, Ordering::Release);
            });
            let mut mark: Option<Watermark> = None;
            loop {
                let is_last = is_done.load(Ordering::Acquire);
                let source = adapter.discover(std::slice::from_ref(&path)).sources.remove(0);
                let mut sink = |event| events.push(event);
                let read =
                    adapter.read(&Trace::whole(source), mark.as_ref(), Sink::everything(&mut sink));
                n_reads += 1;
                mark = read.unwrap().watermark;
                if is_last {
                    break;
                }
            }
        });
        let expected: Vec<String> = (0..N_LINES).map(|n| format!("said{n} ünd more")).collect();
        let said = events.iter().filter(|event: &&TranscriptEvent| event.kind == EventKind::User);
        let said: Vec<&str> = said.map(|event| event.text.head()).collect();
        assert_eq!(said, expected, "{:?} in {n_reads} reads", format.agent);
        let is_ordered = |pair: &[TranscriptEvent]| pair[0].sequence < pair[1].sequence;
        assert!(events.windows(2).all(is_ordered), "{:?}", format.agent);
    }
}

#[test]
fn every_line_reaches_the_catalog_once() {
    for format in &FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let path = begin(&folder.path().join("traces"), format);
        let mut catalog = Catalog::open(&folder.path().join("catalog.sqlite3")).unwrap();
        let options = RefreshOptions {
            words: nacre_traces::catalog::WordLists::default(),
            connections: vec![Connection {
                agent: format.agent,
                roots: vec![folder.path().join("traces")],
            }],
            projects: vec!["/work/shop".into()],
            adopted: std::collections::BTreeMap::new(),
            allowed: nacre_traces::catalog::AllowedProjects::ByPlace,
            since: None,
            until: None,
            max_sessions: None,
            force: false,
            quiet: Duration::from_secs(120),
            now: Timestamp::from_second(4_000_000_000).unwrap(),
        };
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                write_lines(&path, format);
                is_done.store(true, Ordering::Release);
            });
            loop {
                let is_last = is_done.load(Ordering::Acquire);
                let report = catalog.refresh(&options, |_| ControlFlow::Continue(())).unwrap();
                assert!(report.problems.is_empty(), "{:?}", report.problems);
                if is_last {
                    break;
                }
            }
        });
        let sessions = catalog.sessions(&SessionFilter::default()).unwrap();
        assert_eq!(sessions.len(), 1);
        assert_eq!(sessions[0].facts.counts.user, N_LINES as u64, "{:?}", format.agent);
        for n in [0, 1, 2, N_LINES / 2, N_LINES - 2, N_LINES - 1] {
            assert_eq!(n_found(&catalog, &format!("\"said{n}\"")), 1, "{n} of {:?}", format.agent);
        }
        assert_eq!(n_found(&catalog, "said"), N_LINES, "{:?}", format.agent);
    }
}

/// Returns the number of messages that contain the given words.
fn n_found(catalog: &Catalog, words: &str) -> usize {
    let now = "2026-11-15T00:00:00Z".parse().unwrap();
    let query = TextQuery {
        query: Query::parse(words, now),
        mode: Mode::Lexical,
        limit: N_LINES * 2,
        ..TextQuery::default()
    };
    let owner = Owner { pid: 1, command: String::new(), since: String::new() };
    let access = TextIndexAccess { owner: &owner, now };
    search_messages(catalog, &query, None, access).unwrap().len()
}
